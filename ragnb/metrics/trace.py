"""RAGBench's TRACe: relevance, utilization, completeness and adherence, counted from sentence labels.

Two definitions go by these names. ``variant="ragbench"`` is that of the benchmark (Friel et al. 2024, arXiv 2407.11005) as
its data publish it; ``variant="guide"`` is that of a much-read visual guide, where relevance is the number of relevant
sentences over 20 and utilization is relative to them. R are the relevant, U the utilized, D all sentences of the context.

Keys that name no sentence of the context occur in published records. ``unknown_keys="count"`` counts them as the benchmark
does, ``"drop"`` leaves them out. Len is the number of sentences; with ``length="token"`` the number of their
`ragnb.text.tokens`, with ``"character"`` of their `ragnb.text.graphemes`, and an unknown key has length 0.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ragnb.errors import InputError, check_choice
from ragnb.metrics.trace_labels import (
    FIELDS,
    check_keys,
    check_record,
    is_fully_supported,
    label_issues,
    listed,
    sentence_pairs,
    unsupported_sentences,
)
from ragnb.records import present
from ragnb.results import TraceScores
from ragnb.text import graphemes, tokens

Keys = Sequence[str]
Sentences = Sequence[Sequence[str]]
"""``[[key, text], ...]``."""
Support = Sequence[Mapping[str, Any]]
"""``[{"response_sentence_key", "supporting_sentence_keys", "fully_supported", "explanation"}, ...]``."""

VARIANTS = ("ragbench", "guide")
LENGTHS: dict[str, Callable[[str], int]] = {
    "sentence": lambda text: 1,
    "token": lambda text: len(tokens(text)),
    "character": lambda text: len(graphemes(text)),
}
UNKNOWN_KEYS = {"count": "counted", "drop": "dropped"}
GUIDE_SENTENCES = 20
"""Number of relevant sentences that the guide takes for a relevance of 1."""


def relevance(
    relevant_keys: Keys,
    documents_sentences: Sequence[Sentences],
    *,
    variant: str = "ragbench",
    length: str = "sentence",
    unknown_keys: str = "count",
) -> float:
    """Context relevance: the share of the context that is relevant to the question.

    Higher is better; from 0, at most 1 unless keys are repeated or unknown; nan when the context has no sentence (or
    none of any length).

    Parameters
    ----------
    relevant_keys
        Keys of the relevant sentences; one given twice counts twice, as in the benchmark.
    documents_sentences
        Sentences of each document as ``[key, text]`` pairs.
    variant, length, unknown_keys
        See the module; under ``"guide"`` only sentences are counted.

    Raises
    ------
    InputError
        Unknown option, or a column of another shape.

    Notes
    -----
    ``ragbench``: Len(R) / Len(D). ``guide``: min(1, number of R / 20).

    Source: Friel et al. (2024), arXiv 2407.11005, "Context Relevance"; checked against the published ``relevance_score``.

    >>> documents = [[["0a", "Oslo is a city."], ["0b", "It rains."]]]
    >>> relevance(["0a"], documents), relevance(["0a"], documents, variant="guide")
    (0.5, 0.05)
    """
    context = _context(documents_sentences, variant, length, unknown_keys)
    relevant = context.kept(relevant_keys)
    if not context.sizes:
        return math.nan
    if variant == "guide":
        return min(1.0, len(relevant) / GUIDE_SENTENCES)
    return _ratio(context.measure(relevant), context.total)


def utilization(
    relevant_keys: Keys,
    utilized_keys: Keys,
    documents_sentences: Sequence[Sentences],
    *,
    variant: str = "ragbench",
    length: str = "sentence",
    unknown_keys: str = "count",
) -> float:
    """Context utilization: the share of the context that the response uses.

    Higher means that more is used; range, nan, parameters and errors as for `relevance`; ``utilized_keys`` are those of the
    sentences that the response rests on.

    Notes
    -----
    ``ragbench``: Len(U) / Len(D). ``guide``: min(1, number of U / number of R), and 0 when R is empty.

    Source: Friel et al. (2024), "Context Utilization"; checked against the published ``utilization_score``.

    >>> documents = [[["0a", "Oslo is a city."], ["0b", "It rains."]]]
    >>> utilization(["0a"], ["0a"], documents), utilization(["0a"], ["0a"], documents, variant="guide")
    (0.5, 1.0)
    """
    context = _context(documents_sentences, variant, length, unknown_keys)
    relevant, utilized = context.kept(relevant_keys), context.kept(utilized_keys)
    if not context.sizes:
        return math.nan
    if variant == "guide":
        return min(1.0, len(utilized) / len(relevant)) if relevant else 0.0
    return _ratio(context.measure(utilized), context.total)


def completeness(
    relevant_keys: Keys,
    utilized_keys: Keys,
    documents_sentences: Sequence[Sentences],
    *,
    variant: str = "ragbench",
    length: str = "sentence",
    unknown_keys: str = "count",
) -> float:
    """Completeness: the share of the relevant sentences that the response uses.

    Higher is better; in [0, 1]; nan when the context has no sentence, or the relevant keys have no length (all of them
    unknown, with a length in tokens or characters).

    Parameters and errors as for `utilization`.

    Notes
    -----
    Len(R and U) / Len(R), each key once. R empty: 1 under ``ragbench``, as the benchmark publishes it; under ``guide`` 1 if
    U is empty too, else 0.

    Source: Friel et al. (2024), "Completeness"; checked against the published ``completeness_score``.

    >>> documents = [[["0a", "Oslo is a city."], ["0b", "It rains."]]]
    >>> completeness(["0a", "0b"], ["0a"], documents), completeness([], ["0a"], documents)
    (0.5, 1.0)
    """
    context = _context(documents_sentences, variant, length, unknown_keys)
    relevant, utilized = set(context.kept(relevant_keys)), set(context.kept(utilized_keys))
    if not context.sizes:
        return math.nan
    if not relevant:
        return float(variant == "ragbench" or not utilized)
    return _ratio(context.measure(relevant & utilized), context.measure(relevant))


def adherence(support: Support | None, unsupported_keys: Keys | None = None, *, variant: str = "ragbench") -> float:
    """Adherence: 1.0 when every sentence of the response is supported by the context, else 0.0.

    Higher is better; 0.0 or 1.0, never a fraction (see `supported_fraction`); 1.0 for a response without sentences; nan
    when the labels that the variant needs are None.

    Parameters
    ----------
    support
        Support information, one mapping a response sentence.
    unsupported_keys
        Keys of the response's unsupported sentences; None where the labels do not list them, as a judge's raw reply.
    variant
        ``"ragbench"``: there is no unsupported key; without a list of them, a sentence counts as unsupported when its
        ``supporting_sentence_keys`` are empty (see `unsupported_sentences`). ``"guide"``: every sentence is
        ``fully_supported``, where null means no.

    Raises
    ------
    InputError
        Unknown variant, or a column of another shape.

    Source: Friel et al. (2024), "Adherence"; checked against the published ``adherence_score``.

    >>> labels = [{"response_sentence_key": "a", "supporting_sentence_keys": ["0a"], "fully_supported": None}]
    >>> adherence(labels, []), adherence(labels, [], variant="guide"), adherence(labels, ["a"])
    (1.0, 0.0, 0.0)
    """
    check_choice(variant, VARIANTS, "variant")
    if variant == "guide":
        return math.nan if support is None else float(all(map(is_fully_supported, listed(support, "support"))))
    unsupported = _unsupported(support, unsupported_keys)
    return math.nan if unsupported is None else float(not unsupported)


def supported_fraction(
    response_sentences: Sentences,
    support: Support | None,
    unsupported_keys: Keys | None = None,
    *,
    variant: str = "ragbench",
) -> float:
    """Share of the response's sentences that are supported: the fraction that is sometimes mistaken for adherence.

    Higher is better; in [0, 1]; 1 exactly where adherence is 1; nan for a response without sentences, or without the labels
    that the variant needs.

    Parameters and errors as for `adherence`; ``response_sentences`` are ``[key, text]`` pairs.

    Notes
    -----
    ``ragbench``: 1 - (number of unsupported keys, each once) / (number of response sentences), at least 0.
    ``guide``: (number of sentences ``fully_supported``) / (number of sentences with support information).

    Source: none; neither the benchmark nor the guide publishes it.

    >>> supported_fraction([["a", "Yes."], ["b", "No."]], [], ["b"])
    0.5
    """
    check_choice(variant, VARIANTS, "variant")
    if variant == "guide":
        labels = [] if support is None else listed(support, "support")
        return _ratio(sum(map(is_fully_supported, labels)), len(labels))
    unsupported, n = _unsupported(support, unsupported_keys), len(listed(response_sentences, "response_sentences"))
    return math.nan if unsupported is None else _ratio(n - min(n, len(set(unsupported))), n)


def rmse_to_ideal(
    relevant_keys: Keys,
    utilized_keys: Keys,
    documents_sentences: Sequence[Sentences],
    support: Support | None,
    unsupported_keys: Keys | None = None,
    *,
    variant: str = "ragbench",
    length: str = "sentence",
    unknown_keys: str = "count",
) -> float:
    """Root mean square distance of relevance, utilization, completeness and adherence from 1.

    Lower is better; in [0, 1] where the scores are; nan when one of them is. Parameters and errors as for `completeness`.

    sqrt(((1 - relevance)^2 + (1 - utilization)^2 + (1 - completeness)^2 + (1 - adherence)^2) / 4). The guide prints 0.437
    for its own example: that is the distance with an adherence of 1, where the example's is 0 and the distance 0.664.

    Source: the visual guide to TRACe, there "RMSE aggregation".

    >>> documents = [[["0a", "Oslo is a city."], ["0b", "It rains."]]]
    >>> rmse_to_ideal(["0a", "0b"], ["0a", "0b"], documents, [], ["a"])
    0.5
    """
    options = {"variant": variant, "length": length, "unknown_keys": unknown_keys}
    return distance_from_ideal(
        relevance(relevant_keys, documents_sentences, **options),
        utilization(relevant_keys, utilized_keys, documents_sentences, **options),
        completeness(relevant_keys, utilized_keys, documents_sentences, **options),
        adherence(support, unsupported_keys, variant=variant),
    )


def consistency(
    relevant_keys: Keys,
    utilized_keys: Keys,
    documents_sentences: Sequence[Sentences],
    support: Support | None,
    unsupported_keys: Keys | None = None,
    *,
    variant: str = "ragbench",
    length: str = "sentence",
    unknown_keys: str = "count",
) -> float:
    """Closeness of the four scores to 1: one minus `rmse_to_ideal`.

    Higher is better; in [0, 1] where the scores are; nan when one of them is. Parameters and errors as there.

    Source: the visual guide to TRACe.

    >>> consistency(["0a"], ["0a"], [[["0a", "Oslo is a city."]]], [], [])
    1.0
    """
    options = {"variant": variant, "length": length, "unknown_keys": unknown_keys}
    return 1 - rmse_to_ideal(relevant_keys, utilized_keys, documents_sentences, support, unsupported_keys, **options)


def trace_scores(
    record: Mapping[str, Any], *, variant: str = "ragbench", length: str = "sentence", unknown_keys: str = "count"
) -> TraceScores:
    """All TRACe scores of one labelled response, and what in its labels is to be doubted.

    Parameters
    ----------
    record
        Mapping with RAGBench's field names: ``documents_sentences, response_sentences, all_relevant_sentence_keys,
        all_utilized_sentence_keys, sentence_support_information, unsupported_response_sentence_keys`` and, if there is one,
        ``overall_supported``. A field that is missing or None leaves the scores that need it nan, and is an issue.
    variant, length, unknown_keys
        See `relevance` and `adherence`.

    Raises
    ------
    InputError
        Unknown option, or a field of another shape.

    >>> scores = trace_scores({
    ...     "documents_sentences": [[["0a", "Oslo is a city."], ["0b", "It rains."]]],
    ...     "response_sentences": [["a", "Oslo is rainy."]],
    ...     "all_relevant_sentence_keys": ["0a", "0b"],
    ...     "all_utilized_sentence_keys": ["0b"],
    ...     "sentence_support_information": [
    ...         {"response_sentence_key": "a", "supporting_sentence_keys": ["0b"], "fully_supported": True}],
    ...     "unsupported_response_sentence_keys": []})
    >>> scores.relevance, scores.utilization, scores.completeness, scores.adherence, scores.issues
    (1.0, 0.5, 0.5, 1.0, ())
    """
    check_record(record)
    values = trace_values(record, variant=variant, length=length, unknown_keys=unknown_keys)
    unknown = "length 0" if length != "sentence" and unknown_keys == "count" else UNKNOWN_KEYS[unknown_keys]
    return TraceScores(*values, label_issues(record, unknown=unknown))


def trace_values(record: Mapping[str, Any], **options: str) -> tuple[float, float, float, float, float, float, float]:
    """The seven numbers of `trace_scores` in their order, without the issues."""
    check_options(**options)
    variant = options["variant"]
    documents, response, relevant, utilized, support, unsupported = (present(record.get(name)) for name in FIELDS)
    scores = (
        _unless_missing(relevance, relevant, documents, **options),
        _unless_missing(utilization, relevant, utilized, documents, **options),
        _unless_missing(completeness, relevant, utilized, documents, **options),
        adherence(support, unsupported, variant=variant),
    )
    fraction = math.nan if response is None else supported_fraction(response, support, unsupported, variant=variant)
    distance = distance_from_ideal(*scores)
    return (*scores, fraction, distance, 1 - distance)


def distance_from_ideal(relevance: Any, utilization: Any, completeness: Any, adherence: Any) -> Any:
    """Root mean square distance from 1 of four scores, or of four arrays of them.

    >>> round(distance_from_ideal(0.2, 0.75, 0.75, 0.0), 3)
    0.664
    """
    gaps = [1 - score for score in (relevance, utilization, completeness, adherence)]
    mean_square = (gaps[0] * gaps[0] + gaps[1] * gaps[1] + gaps[2] * gaps[2] + gaps[3] * gaps[3]) / 4
    return np.sqrt(mean_square) if isinstance(mean_square, np.ndarray) else math.sqrt(mean_square)


# ---- lengths and keys --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Context:
    """Length of every sentence by its key, of all together, and what happens to a key that is not among them."""

    sizes: Mapping[str, int]
    total: int
    unknown_size: int
    drops_unknown: bool

    def kept(self, keys: Keys) -> list[str]:
        checked = check_keys(keys)
        return [key for key in checked if key in self.sizes] if self.drops_unknown else checked

    def measure(self, keys: Keys | set[str]) -> int:
        return sum(self.sizes.get(key, self.unknown_size) for key in keys)


def _context(documents_sentences: Sequence[Sentences], variant: str, length: str, unknown_keys: str) -> _Context:
    check_options(variant=variant, length=length, unknown_keys=unknown_keys)
    size_of = LENGTHS[length]
    sizes = [(key, size_of(text)) for key, text in sentence_pairs(documents_sentences)]
    return _Context(dict(sizes), sum(size for _, size in sizes), int(length == "sentence"), unknown_keys == "drop")


def _unsupported(support: Support | None, unsupported_keys: Keys | None) -> list[str] | None:
    if unsupported_keys is not None:
        return check_keys(unsupported_keys)
    return None if support is None else unsupported_sentences(support)


def _unless_missing(metric: Callable[..., float], *columns: Any, **options: str) -> float:
    return math.nan if any(column is None for column in columns) else metric(*columns, **options)


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


def check_options(*, variant: str, length: str, unknown_keys: str) -> None:
    """Raise InputError unless the options are known and go together."""
    check_choice(variant, VARIANTS, "variant")
    check_choice(length, tuple(LENGTHS), "length")
    check_choice(unknown_keys, tuple(UNKNOWN_KEYS), "unknown_keys")
    if variant == "guide" and length != "sentence":
        raise InputError(f"variant 'guide' needs length 'sentence', all that it defines; got {length!r}; leave length out")
