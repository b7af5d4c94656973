"""Sentence labels of RAGBench: find supported sentences, and problems in the labels.

All functions raise InputError for a field of the wrong type.
"""

# Tested in tests/metrics/test_trace.py.

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ragnb.arguments import accepts
from ragnb.cells import flag_of, present
from ragnb.errors import InputError, check_choice

# The fields from which TRACe is computed.
FIELDS = (
    "documents_sentences",
    "response_sentences",
    "all_relevant_sentence_keys",
    "all_utilized_sentence_keys",
    "sentence_support_information",
    "unsupported_response_sentence_keys",
)

# Supporting keys that do not refer to a sentence.
SPECIAL_KEYS = {
    "supported_without_sentence": "supported by the context as a whole, or by the absence of something in it",
    "general": "a general statement, such as a transition between sentences",
    "well_known_fact": "a fact that needs no source",
    "numerical_reasoning": "a calculation from numbers in the context",
}

# ``[{"response_sentence_key", "supporting_sentence_keys", "fully_supported"}, ...]``.
Support = Sequence[Mapping[str, Any]]

VARIANTS = ("ragbench", "guide")
# What happens to keys of unknown sentences -> the word for it in an issue.
UNKNOWN_KEYS = {"count": "counted", "drop": "dropped"}


@accepts()
def supported_sentences(
    support: Support | None,
    unsupported_keys: Sequence[str] | None = None,
    *,
    variant: str = "ragbench",
) -> list[tuple[str, bool | None]]:
    """Return the key of each labelled sentence in a response, and whether it is supported.

    The function uses the first rule that applies:

    1. If `unsupported_keys` is given and the variant is ``'ragbench'``, the sentences with these
       keys are not supported. The result contains only these sentences.
    2. If the label has ``supporting_sentence_keys``, the sentence is supported under ``'ragbench'``
       if this list is not empty, and under ``'guide'`` if ``fully_supported`` is true.
    3. If ``fully_supported`` is true or false, it states whether the sentence is supported.
    4. Otherwise, it is unknown whether the sentence is supported.

    Parameters
    ----------
    support : sequence of mappings or None
        RAGBench's ``sentence_support_information``: one mapping per sentence of the response, with
        the fields ``response_sentence_key`` (or ``key``), ``supporting_sentence_keys`` and
        ``fully_supported``, which `ragnb.cells.flag_of` reads.
    unsupported_keys : sequence of str or None, default=None
        RAGBench's ``unsupported_response_sentence_keys``, or None if there is no such list. Only
        ``'ragbench'`` uses them.
    variant : {'ragbench', 'guide'}, default='ragbench'
        Definition to use: that of RAGBench, or that of the *Visual Guide* cited in
        `ragnb.metrics.trace`.

    Returns
    -------
    list of (str, bool or None)
        Key of each sentence, with True if the sentence is supported, False if it is not, and None
        if this is unknown. If `support` is None and the first rule does not apply, the result is
        ``[('', None)]``.

    Examples
    --------
    >>> supported_sentences([{"response_sentence_key": "a", "supporting_sentence_keys": []},
    ...                      {"response_sentence_key": "b", "fully_supported": True},
    ...                      {"response_sentence_key": "c"}])
    [('a', False), ('b', True), ('c', None)]
    """
    check_choice(variant, VARIANTS, "variant")
    if variant == "ragbench" and unsupported_keys is not None:
        return [(key, False) for key in as_keys(unsupported_keys)]
    if support is None:
        # One sentence whose support is unknown makes the scores undefined. An empty list would mean that
        # there is no unsupported sentence.
        return [("", None)]
    sentences: list[tuple[str, bool | None]] = []
    for key, supporting, fully_supported in _labels(support):
        if supporting is None:
            # Rules 3 and 4: None means that it is unknown.
            is_supported = fully_supported
        elif variant == "guide":
            # Rule 2. Next to supporting keys, null means not supported.
            is_supported = fully_supported is True
        else:
            is_supported = bool(supporting)
        sentences.append((key, is_supported))
    return sentences


@accepts()
def unsupported_sentences(
    support: Support, unsupported_keys: Sequence[str] | None = None, *, variant: str = "ragbench"
) -> list[str]:
    """Return the keys of the unsupported sentences in a response.

    `supported_sentences` describes when a sentence is supported.

    Parameters
    ----------
    support, unsupported_keys, variant
        See `supported_sentences`.

    Returns
    -------
    list of str
        Keys of the unsupported sentences. Sentences whose support is unknown are not included.

    Examples
    --------
    >>> unsupported_sentences([{"response_sentence_key": "a", "supporting_sentence_keys": ["0a"]},
    ...                        {"response_sentence_key": "b", "supporting_sentence_keys": []}])
    ['b']
    """
    labels = supported_sentences(support, unsupported_keys, variant=variant)
    return [key for key, value in labels if value is False]


# ---- types of fields ---------------------------------------------------------------------------


def require_one_record(record: Any) -> None:
    """Raise InputError for a frame of records, whose columns would otherwise be taken for fields."""
    is_frame = getattr(record, "ndim", 1) == 2
    if is_frame:
        raise InputError(
            f"record must be one labelled response, got a frame with {len(record)} rows; pass one of its "
            "rows, such as records.iloc[0]"
        )


def listed(value: Any, what: str) -> list[Any]:
    """Convert a list, tuple or array to a list; other types raise an error that calls it `what`."""
    if not isinstance(value, list | tuple | np.ndarray):
        raise InputError(
            f"{what} must be a list, got {type(value).__name__}; load_ragbench parses lists in text"
        )
    return list(value)


def as_keys(keys: Any) -> list[str]:
    """Convert a list, tuple or array of sentence keys to a list, and check that they are text."""
    checked = listed(keys, "a field of sentence keys")
    if not all(isinstance(key, str) for key in checked):
        raise InputError(f"a sentence key must be a string such as '0a', got {checked!r:.80}")
    return checked


def sentence_pairs(documents_sentences: Any) -> list[tuple[str, str]]:
    """Return the sentences of all documents, each a list of pairs, as (key, text) pairs in order.

    >>> sentence_pairs([[["0a", "Oslo is a city."], ["0b", "It rains."]], [["1a", "Yes."]]])
    [('0a', 'Oslo is a city.'), ('0b', 'It rains.'), ('1a', 'Yes.')]
    """
    pairs = []
    for document in listed(documents_sentences, "documents_sentences"):
        for sentence in listed(document, "a document"):
            pair = listed(sentence, "a sentence")
            if len(pair) != 2 or not all(isinstance(part, str) for part in pair):
                raise InputError(f"a sentence must be a [key, text] pair, got {pair!r:.80}")
            pairs.append((pair[0], pair[1]))
    return pairs


# Response key, supporting keys and ``fully_supported`` of a sentence; None if absent.
_Label = tuple[str, list[str] | None, bool | None]


def _labels(support: Any) -> Iterator[_Label]:
    """Yield the label of each sentence of the response.

    In the *Visual Guide*, the key of the response sentence is in the field ``key``.
    """
    labels = [] if support is None else listed(support, "sentence_support_information")
    for label in labels:
        if not isinstance(label, Mapping):
            raise InputError(
                f"support information must be one mapping per sentence, got {label!r:.80}"
            )
        supporting = present(label.get("supporting_sentence_keys"))
        yield (
            str(label.get("response_sentence_key", label.get("key"))),
            None if supporting is None else as_keys(supporting),
            flag_of(label.get("fully_supported")),
        )


# ---- issues ------------------------------------------------------------------------------------


@accepts()
def label_issues(
    record: Mapping[str, Any], *, variant: str = "ragbench", unknown: str = "counted"
) -> tuple[str, ...]:
    """List the problems in the labels of one record.

    The function reports:

    - required fields that are missing,
    - a context or a response without sentences,
    - repeated keys, and keys that do not match any sentence,
    - supporting keys with a special meaning (`SPECIAL_KEYS`),
    - sentences without support information,
    - null values of ``fully_supported``, and
    - labels that contradict each other.

    Parameters
    ----------
    record : mapping
        A record with the fields that `ragnb.metrics.trace.trace_scores` lists.
    variant : {'ragbench', 'guide'}, default='ragbench'
        Definition of the scores (see `ragnb.metrics.trace`). It determines which fields are
        required and which sentences are supported.
    unknown : str, default='counted'
        Word for how the scores treat keys that do not match any sentence, such as ``'dropped'``. It
        appears in the messages about these keys.

    Returns
    -------
    tuple of str
        One line of text per problem.

    Examples
    --------
    >>> label_issues({"documents_sentences": [[["0a", "One."]]],  # doctest: +NORMALIZE_WHITESPACE
    ...               "all_relevant_sentence_keys": ["0b", "0a", "0a"]})[-2:]
    ("all_relevant_sentence_keys: '0b' names no sentence (counted)",
     "all_relevant_sentence_keys: '0a' is repeated")
    """
    check_choice(variant, VARIANTS, "variant")
    require_one_record(record)
    fields = {name: present(record.get(name)) for name in FIELDS}
    documents, response, *_, support, unsupported = fields.values()
    context_keys = None if documents is None else [key for key, _ in sentence_pairs(documents)]
    response_keys = None if response is None else [key for key, _ in sentence_pairs([response])]
    unsupported_keys = None if unsupported is None else as_keys(unsupported)
    labels = list(_labels(support))
    return (
        *_missing_fields(fields, variant, unknown),
        *_context_issues(fields, context_keys, unknown),
        *_support_issues(labels, context_keys),
        *_response_issues(support, labels, response_keys, unsupported_keys),
        *_null_issues(support, labels, variant),
        *_contradictions(labels, unsupported_keys),
        *_overall_issues(record, support, unsupported_keys, variant),
    )


def _missing_fields(fields: Mapping[str, Any], variant: str, unknown: str) -> Iterator[str]:
    """The required fields that are missing."""
    # The list of unsupported sentences is never required, and the guide requires only labels.
    context, response, *labels, _ = FIELDS
    required = [context, response, *labels] if variant == "ragbench" else labels
    if variant == "guide" and unknown == "dropped":
        # Only the context tells which keys are to be dropped.
        required = [context, *labels]
    for name in required:
        if fields[name] is None:
            yield f"{name} is missing"


def _context_issues(
    fields: Mapping[str, Any], context_keys: list[str] | None, unknown: str
) -> Iterator[str]:
    """Problems of the keys of the context, and of the lists of relevant and utilized sentences."""
    if context_keys == []:
        yield "documents_sentences: the context has no sentence"
    yield from _key_issues("documents_sentences", context_keys)
    for name in ("all_relevant_sentence_keys", "all_utilized_sentence_keys"):
        yield from _key_issues(name, fields[name], context_keys, f" ({unknown})")


def _support_issues(labels: list[_Label], context_keys: list[str] | None) -> Iterator[str]:
    """Supporting keys with a special meaning, and supporting keys that match no sentence."""
    for special in SPECIAL_KEYS:
        sentences = [key for key, supporting, _ in labels if special in (supporting or ())]
        if sentences:
            yield f"sentence_support_information: special key {special!r} supports {_quoted(sentences)}"
    for key, supporting, _ in labels:
        for name in _missing(supporting or (), context_keys):
            if name not in SPECIAL_KEYS:
                yield (
                    f"sentence_support_information: {name!r}, which supports {key!r}, names no "
                    "sentence"
                )


def _response_issues(
    support: Any,
    labels: list[_Label],
    response_keys: list[str] | None,
    unsupported_keys: list[str] | None,
) -> Iterator[str]:
    """Problems of the keys of the response, and sentences without labels."""
    if response_keys == []:
        yield "response_sentences: the response has no sentence"
    yield from _key_issues("response_sentences", response_keys)
    labelled = [key for key, _, _ in labels]
    # Without the field, `_missing_fields` reports it as a whole. None makes `_missing` report no single
    # sentence.
    keys_with_labels = None if support is None else labelled
    for key in _missing(response_keys or (), keys_with_labels):
        yield f"response sentence {key!r} has no support information"
    for name, keys in (
        ("sentence_support_information", labelled),
        ("unsupported_response_sentence_keys", unsupported_keys),
    ):
        yield from _key_issues(name, keys, response_keys, " of the response")


def _null_issues(support: Any, labels: list[_Label], variant: str) -> Iterator[str]:
    """Labels without a truth value in ``fully_supported``, if they need one."""
    unknown = [key for key, supporting, fully in labels if supporting is None and fully is None]
    if unknown:
        yield (
            f"neither supporting_sentence_keys nor fully_supported is given for {_quoted(unknown)}"
        )
    null = [key for key, supporting, fully in labels if supporting is not None and fully is None]
    # Under "ragbench", the supporting keys are sufficient, so the field matters only if it exists.
    if null and (variant == "guide" or any("fully_supported" in label for label in support)):
        yield f"fully_supported is null for {_quoted(null)}"


def _contradictions(labels: list[_Label], unsupported_keys: list[str] | None) -> Iterator[str]:
    """Labels that contradict each other or the list of unsupported sentences."""
    for key, supporting, fully in labels:
        # Without a list of unsupported sentences, a label can only contradict itself.
        if unsupported_keys is None:
            if fully and supporting == []:
                yield f"{key!r} is fully_supported, yet has no supporting keys"
        elif key in unsupported_keys and (fully or supporting):
            label = "fully_supported" if fully else "has supporting keys"
            yield f"{key!r} is listed as unsupported, yet {label}"
        elif key not in unsupported_keys and fully is False:
            yield f"{key!r} is not fully_supported, yet not listed as unsupported"


def _overall_issues(
    record: Mapping[str, Any], support: Any, unsupported_keys: list[str] | None, variant: str
) -> Iterator[str]:
    """A contradiction between ``overall_supported`` and the labels of the sentences."""
    overall = flag_of(record.get("overall_supported"))
    # Without a list of unsupported sentences, the labels alone decide.
    rule = variant if unsupported_keys is None else "ragbench"
    sentences = supported_sentences(support, unsupported_keys, variant=rule)
    unsupported = [key for key, is_supported in sentences if is_supported is False]
    # One unsupported sentence is sufficient. Otherwise, all sentences must be known to be supported.
    is_known = unsupported or all(is_supported for _, is_supported in sentences)
    are_all_supported = not unsupported
    # A missing `overall` is None. It contradicts nothing.
    if is_known and overall is not None and overall != are_all_supported:
        yield (
            f"overall_supported is {str(overall).lower()}, yet unsupported: "
            f"{_quoted(unsupported) or 'no sentence'}"
        )


def _key_issues(
    name: str, keys: Any, valid_keys: list[str] | None = None, remark: str = ""
) -> Iterator[str]:
    """Yield the keys of a field that are not valid, and those that are repeated.

    If `valid_keys` is None, all keys are valid.
    """
    keys = [] if keys is None else as_keys(keys)
    for key in _missing(keys, valid_keys):
        special = "is a special key and " if key in SPECIAL_KEYS else ""
        yield f"{name}: {key!r} {special}names no sentence{remark}"
    for key, count in Counter(keys).items():
        if count > 1:
            yield f"{name}: {key!r} is repeated"


def _missing(keys: Iterable[str], valid_keys: list[str] | None) -> list[str]:
    """Return each key once that is not among the valid keys; none if `valid_keys` is None."""
    if valid_keys is None:
        return []
    return [key for key in dict.fromkeys(keys) if key not in valid_keys]


def _quoted(keys: Iterable[str]) -> str:
    """The keys in quotation marks, separated by commas."""
    return ", ".join(map(repr, keys))
