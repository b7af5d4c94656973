"""Reference answers in the shapes in which files write them, as texts and lists of texts."""

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from ragnb.cells import is_missing
from ragnb.errors import InputError
from ragnb.text import is_blank

# The reference of a question to which the right answer is no answer, as in SQuAD 2.0.
NO_ANSWER = [[""]]
# Keys of an answer that is an object. The first group with a key in the object has the answer:
# SQuAD, DROP, and then other names.
_KEYS = (
    ("text", "texts"),
    ("spans", "number"),
    ("value",),
    ("answer", "answers", "content"),
)
# Keys of other texts that are accepted.
_ALIASES = ("aliases", "humananswers", "human_answers")
# Only answers of TriviaQA have these keys. Its script accepts the aliases, which contain the answer.
_TRIVIAQA = ("normalizedaliases", "normalized_aliases")


def answer_of(value: Any) -> Any:
    """Convert the reference of a file to a text, to a list of parts, or to None if it is missing.

    Arrays and tuples become lists, and numbers become texts. An object, such as SQuAD's
    ``{"text": ["Oslo"], "answer_start": [3]}``, becomes one part with its aliases, and so does a
    list of objects. An object without any alias, and a list that contains only empty texts, mean
    that the right answer is no answer.

    Raises
    ------
    InputError
        An object has none of the keys that contain an answer.

    >>> answer_of({"text": ["Oslo", "Oslo"], "answer_start": [3, 90]}), answer_of({"text": []})
    ([['Oslo']], [['']])
    >>> answer_of(1905), answer_of([1905.0, 1.5]), answer_of([""]), answer_of([None])
    ('1905', ['1905', '1.5'], [['']], None)
    """
    if isinstance(value, str):
        return value
    if isinstance(value, np.ndarray | tuple | set | frozenset):
        value = list(value)
    if isinstance(value, list):
        return _parts_of(value)
    if is_missing(value):
        return None
    if isinstance(value, bool | np.bool_):
        # As in JSON: true or false.
        return str(value).lower()
    if isinstance(value, Real):
        return _text_of_number(float(value)) if isinstance(value, float) else str(value)
    if isinstance(value, Mapping):
        return [_aliases(value)]
    # Any other value is refused by the caller, which can name its row.
    return value


def _parts_of(answer: list[Any]) -> list[Any] | None:
    """The parts of an answer that is a list, or None if all of its values are missing."""
    if {*map(type, answer)} == {str}:
        return NO_ANSWER if all(map(is_blank, answer)) else list(answer)
    if answer and all(isinstance(part, Mapping) for part in answer):
        aliases = [alias for part in answer for alias in _aliases(part)]
        return [list(dict.fromkeys(aliases))]
    parts = [part for part in map(answer_of, answer) if part is not None]
    # A list of missing values is missing. An empty list is returned, and the caller refuses it.
    if answer and not parts:
        return None
    are_blank = bool(parts) and all(_is_blank_part(part) for part in parts)
    return NO_ANSWER if are_blank else parts


def _aliases(answer: Mapping[str, Any]) -> list[str]:
    """The texts of an answer that is an object, without duplicates; one empty text if it has none."""
    values = {str(key).casefold(): value for key, value in answer.items()}
    aliases = _texts_of(values, _ALIASES)
    if aliases and any(key in values for key in _TRIVIAQA):
        return list(dict.fromkeys(aliases))
    for keys in _KEYS:
        if not any(key in values for key in keys):
            continue
        texts = _texts_of(values, keys)
        # In SQuAD's form, an empty list of texts states that there is no answer. Keys of the other groups
        # may be empty because another group has the answer.
        is_form_of_squad = keys == _KEYS[0]
        if texts or is_form_of_squad:
            return list(dict.fromkeys([*texts, *aliases])) or [""]
    all_keys = [key for keys in (*_KEYS, _ALIASES) for key in keys]
    if any(key in values for key in all_keys):
        return list(dict.fromkeys(aliases)) or [""]
    allowed = ", ".join(all_keys)
    raise InputError(
        f"a reference that is an object must have one of the keys {allowed}, got "
        f"{', '.join(map(str, answer)) or 'none'}"
    )


def _texts_of(values: Mapping[str, Any], keys: tuple[str, ...]) -> list[str]:
    """The texts under some keys of an object, without blank ones."""
    texts: list[str] = []
    for key in keys:
        converted = answer_of(values.get(key))
        values_of_key = converted if isinstance(converted, list) else [converted]
        texts += [text for text in values_of_key if isinstance(text, str) and not is_blank(text)]
    return texts


def _is_blank_part(part: Any) -> bool:
    """Whether a part of a reference is a blank text, or has only blank aliases."""
    if isinstance(part, list):
        return bool(part) and all(_is_blank_part(alias) for alias in part)
    return isinstance(part, str) and is_blank(part)


def _text_of_number(number: float) -> str:
    """Write a whole number without a decimal point; pandas reads 1905 as 1905.0 if a cell is empty."""
    return str(int(number)) if number.is_integer() else repr(number)
