"""RAGBench's sentence labels: their fields and shapes, and what in one record is to be doubted."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ragnb.errors import InputError, check_choice
from ragnb.records import present

FIELDS = (
    "documents_sentences",
    "response_sentences",
    "all_relevant_sentence_keys",
    "all_utilized_sentence_keys",
    "sentence_support_information",
    "unsupported_response_sentence_keys",
)
"""The fields that TRACe is counted from."""

SPECIAL_KEYS = {
    "supported_without_sentence": "supported by the context as a whole, or by the lack of something in it",
    "general": "a general statement, such as a link between sentences",
    "well_known_fact": "a fact that needs no source",
    "numerical_reasoning": "a calculation from numbers of the context",
}
"""Supporting keys that stand for no sentence."""


VARIANTS = ("ragbench", "guide")
UNKNOWN_KEYS = {"count": "counted", "drop": "dropped"}
"""What happens to keys that name no sentence, and the word for it in an issue."""


def needed_fields(*, variant: str = "ragbench", unknown_keys: str = "count") -> tuple[str, ...]:
    """The fields without which one of the scores is undefined under these options.

    The guide counts labels alone. It needs the context only to know which keys it should drop.

    >>> needed_fields(variant="guide")
    ('all_relevant_sentence_keys', 'all_utilized_sentence_keys', 'sentence_support_information')
    """
    check_choice(variant, VARIANTS, "variant")
    check_choice(unknown_keys, tuple(UNKNOWN_KEYS), "unknown_keys")
    if variant == "ragbench":
        return FIELDS[:5]
    return FIELDS[2:5] if unknown_keys == "count" else (FIELDS[0], *FIELDS[2:5])


def supported_sentences(support: Sequence[Mapping[str, Any]], *, variant: str = "ragbench") -> list[tuple[str, bool | None]]:
    """Response key of each labelled sentence, and whether the context supports it: True, False, or None if unknown.

    An empty list of ``supporting_sentence_keys`` is an answer: nothing supports the sentence. If that list is absent,
    ``fully_supported`` decides, and if that is absent too, nothing is known. If the list is there, the sentence is supported
    under ``"ragbench"`` when the list has a key, and under ``"guide"`` when ``fully_supported`` is true; null means no.

    >>> supported_sentences([{"response_sentence_key": "a", "supporting_sentence_keys": []},
    ...                      {"response_sentence_key": "b", "fully_supported": True},
    ...                      {"response_sentence_key": "c"}])
    [('a', False), ('b', True), ('c', None)]
    """
    check_choice(variant, VARIANTS, "variant")
    return [(key, _is_supported(supporting, fully, variant)) for key, supporting, fully in _labels(support)]


def _is_supported(supporting: list[str] | None, fully: bool | None, variant: str) -> bool | None:
    if supporting is None:
        return fully
    return fully is True if variant == "guide" else bool(supporting)


def unsupported_sentences(support: Sequence[Mapping[str, Any]], *, variant: str = "ragbench") -> list[str]:
    """Keys of the response's sentences that the context does not support, see `supported_sentences`.

    Under ``"ragbench"`` these are the published ``unsupported_response_sentence_keys`` in 50 of 50 records at hand.

    >>> unsupported_sentences([{"response_sentence_key": "a", "supporting_sentence_keys": ["general"]},
    ...                        {"response_sentence_key": "b", "supporting_sentence_keys": []}])
    ['b']
    """
    return [key for key, supported in supported_sentences(support, variant=variant) if supported is False]


def is_fully_supported(label: Mapping[str, Any]) -> bool:
    """Whether one sentence's support information says ``fully_supported``; null means no."""
    return _truth(_mapping(label).get("fully_supported")) is True


def label_issues(
    record: Mapping[str, Any], *, variant: str = "ragbench", unknown_keys: str = "count", unknown: str = "counted"
) -> tuple[str, ...]:
    """What is doubtful in the labels of one record, one readable line each.

    The lines name fields that are missing although a score needs them under these options, a context without sentences, keys
    that name no sentence (``unknown`` says what happens to them), repeated and special keys, sentences whose support is
    unknown, null ``fully_supported``, and labels that contradict each other. Labels that were not given contradict nothing.

    >>> label_issues({"documents_sentences": [[["0a", "One."]]], "all_relevant_sentence_keys": ["0b", "0a", "0a"]})[-2:]
    ("all_relevant_sentence_keys: '0b' names no sentence (counted)", "all_relevant_sentence_keys: '0a' is repeated")
    """
    check_record(record)
    fields = {name: present(record.get(name)) for name in FIELDS}
    needed = needed_fields(variant=variant, unknown_keys=unknown_keys)
    return (
        *(f"{name} is missing" for name in needed if fields[name] is None),
        *_context_issues(fields, unknown),
        *_response_issues(fields, _truth(record.get("overall_supported")), variant),
    )


# ---- shapes ------------------------------------------------------------------------------------------------------------


def check_record(record: Any) -> None:
    """Raise InputError unless a labelled response is a mapping, or a row of a frame, which can be read like one."""
    if not isinstance(record, Mapping) and not (hasattr(record, "keys") and hasattr(record, "get")):
        raise InputError(f"a labelled response needs to be a mapping; got {type(record).__name__}; pass one row as a dict")


def listed(value: Any, what: str) -> list[Any]:
    """A field as a list; arrays, as Parquet gives them, become lists."""
    if not isinstance(value, list | tuple | np.ndarray) or (isinstance(value, np.ndarray) and not value.ndim):
        raise InputError(f"{what} needs a list; got {type(value).__name__}; parse the field first (see load_ragbench)")
    return list(value)


def check_keys(keys: Any) -> list[str]:
    """A field of sentence keys as a list of texts."""
    checked = listed(keys, "a field of sentence keys")
    if not all(isinstance(key, str) for key in checked):
        raise InputError(f"a sentence key needs to be a text such as '0a'; got {checked!r}; write keys as texts")
    return checked


def sentence_pairs(documents_sentences: Any) -> list[tuple[str, str]]:
    """All sentences of all documents as (key, text), in order."""
    documents = listed(documents_sentences, "documents_sentences")
    return [pair for document in documents for pair in _pairs(document, "documents_sentences")]


def _pairs(sentences: Any, what: str) -> list[tuple[str, str]]:
    pairs = [tuple(listed(pair, f"a sentence of {what}")) for pair in listed(sentences, what)]
    odd = [pair for pair in pairs if len(pair) != 2 or not all(isinstance(part, str) for part in pair)]
    if odd:
        raise InputError(f"a sentence of {what} needs to be a [key, text] pair; got {list(odd[0])!r}; key it first")
    return pairs


def _labels(support: Any) -> Iterator[tuple[str, list[str] | None, bool | None]]:
    """Response key, supporting keys and fully_supported of each sentence's support information; None if absent."""
    for label in listed(support, "sentence_support_information"):
        supporting = present(_mapping(label).get("supporting_sentence_keys"))
        yield (
            str(label.get("response_sentence_key")),
            None if supporting is None else check_keys(supporting),
            _truth(label.get("fully_supported")),
        )


def _mapping(label: Any) -> Mapping[str, Any]:
    if not isinstance(label, Mapping):
        raise InputError(f"support information needs a mapping a sentence; got {type(label).__name__}; see RAGBench")
    return label


def _truth(value: Any) -> bool | None:
    return bool(value) if isinstance(value, bool | np.bool_) else None


# ---- issues ------------------------------------------------------------------------------------------------------------


def _context_issues(fields: Mapping[str, Any], unknown: str) -> Iterator[str]:
    documents = fields["documents_sentences"]
    known = None if documents is None else [key for key, _ in sentence_pairs(documents)]
    if known is not None:
        yield from ([] if known else ["documents_sentences: the context has no sentence"])
        yield from _repeats(known, "documents_sentences")
    for name in ("all_relevant_sentence_keys", "all_utilized_sentence_keys"):
        keys = [] if fields[name] is None else check_keys(fields[name])
        if known is not None:
            yield from (f"{name}: {key!r} {_stranger(key)} ({unknown})" for key in _missing(keys, known))
        yield from _repeats(keys, name)
    if fields["sentence_support_information"] is not None:
        yield from _supporting_issues(fields["sentence_support_information"], known)


def _supporting_issues(support: Any, known: list[str] | None) -> Iterator[str]:
    rests_on = [(key, sentence) for sentence, supporting, _ in _labels(support) for key in dict.fromkeys(supporting or ())]
    for special in SPECIAL_KEYS:
        sentences = [sentence for key, sentence in rests_on if key == special]
        if sentences:
            yield f"sentence_support_information: special key {special!r} supports {_quoted(sentences)}"
    for key, sentence in rests_on:
        if known is not None and key not in known and key not in SPECIAL_KEYS:
            yield f"sentence_support_information: {key!r}, which supports {sentence!r}, names no sentence"


def _response_issues(fields: Mapping[str, Any], overall: bool | None, variant: str) -> Iterator[str]:
    support, response = fields["sentence_support_information"], fields["response_sentences"]
    labels = [] if support is None else list(_labels(support))
    given = fields["unsupported_response_sentence_keys"]
    unsupported = None if given is None else check_keys(given)
    if response is not None:
        known = [key for key, _ in _pairs(response, "response_sentences")]
        labelled = [key for key, _, _ in labels]
        yield from ([] if known else ["response_sentences: the response has no sentence"])
        yield from _repeats(known, "response_sentences")
        if support is not None:
            yield from (f"response sentence {key!r} has no support information" for key in _missing(known, labelled))
        for name, keys in (
            ("sentence_support_information", labelled),
            ("unsupported_response_sentence_keys", unsupported or []),
        ):
            yield from (f"{name}: {key!r} names no sentence of the response" for key in _missing(keys, known))
    yield from _repeats([key for key, _, _ in labels], "sentence_support_information")
    yield from _repeats(unsupported or [], "unsupported_response_sentence_keys")
    if support is not None:
        yield from _flag_issues(support, variant)
    for key, supporting, fully in labels:
        yield from _contradictions(key, supporting, fully, unsupported)
    yield from _overall_issues(overall, support, unsupported, variant)


def _flag_issues(support: Any, variant: str) -> Iterator[str]:
    labels = list(_labels(support))
    unknown = [key for key, supporting, fully in labels if supporting is None and fully is None]
    if unknown:
        yield f"neither supporting_sentence_keys nor fully_supported is given for {_quoted(unknown)}"
    null = [key for key, supporting, fully in labels if supporting is not None and fully is None]
    if null and (variant == "guide" or any("fully_supported" in label for label in support)):
        yield f"fully_supported is null for {_quoted(null)}"


def _contradictions(
    key: str, supporting: list[str] | None, fully: bool | None, unsupported: list[str] | None
) -> Iterator[str]:
    if unsupported is None:
        if fully and supporting == []:
            yield f"{key!r} is fully_supported, yet has no supporting keys"
    elif key in unsupported:
        if fully or supporting:
            yield f"{key!r} is listed as unsupported, yet {'fully_supported' if fully else 'has supporting keys'}"
    elif fully is False:
        yield f"{key!r} is not fully_supported, yet not listed as unsupported"


def _overall_issues(overall: bool | None, support: Any, unsupported: list[str] | None, variant: str) -> Iterator[str]:
    if overall is None or (unsupported is None and support is None):
        return
    sentences = (
        [(key, False) for key in unsupported] if unsupported is not None else supported_sentences(support, variant=variant)
    )
    found = [key for key, supported in sentences if supported is False]
    is_known = found or all(supported for _, supported in sentences)
    if is_known and overall == bool(found):
        yield f"overall_supported is {str(overall).lower()}, yet unsupported: {_quoted(found) or 'no sentence'}"


def _missing(keys: Iterable[str], known: Iterable[str]) -> list[str]:
    names = set(known)
    return [key for key in dict.fromkeys(keys) if key not in names]


def _repeats(keys: Iterable[str], name: str) -> Iterator[str]:
    yield from (f"{name}: {key!r} is repeated" for key, count in Counter(keys).items() if count > 1)


def _quoted(keys: Iterable[str]) -> str:
    return ", ".join(map(repr, keys))


def _stranger(key: str) -> str:
    return "is a special key and names no sentence" if key in SPECIAL_KEYS else "names no sentence"
