"""RAGBench's TRACe: relevance, utilization, completeness and adherence, counted from sentence labels.

Two definitions go by these names. ``variant="ragbench"`` is that of the benchmark (Friel et al. 2024, arXiv 2407.11005) as
its data publish it; ``variant="guide"`` is that of a much-read visual guide, where relevance is the number of relevant
sentences over 20 and utilization is relative to them. R are the relevant, U the utilized, D all sentences of the context.
The guide counts labels alone, so under ``"guide"`` the context may be None, except that ``unknown_keys="drop"`` needs it.

Keys that name no sentence of the context occur in published records. ``unknown_keys="count"`` counts them as the benchmark
does, ``"drop"`` leaves them out. Len is the number of sentences; with ``length="token"`` the number of their
`ragnb.text.tokens`, with ``"character"`` of their `ragnb.text.graphemes`, and an unknown key has length 0.

Sources disagree on the completeness of a response to a context without a relevant sentence. By default the variant decides:
1 under ``"ragbench"``, and under ``"guide"`` 1 if nothing is utilized either, else 0. ``when_none_relevant="one"``,
``"zero"`` or ``"undefined"`` (nan) chooses the value under either variant.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ragnb.errors import InputError, check_choice
from ragnb.metrics.trace_labels import (
    FIELDS,
    UNKNOWN_KEYS,
    VARIANTS,
    check_keys,
    check_record,
    label_issues,
    listed,
    needed_fields,
    sentence_pairs,
    supported_sentences,
)
from ragnb.records import present
from ragnb.results import TraceScores
from ragnb.text import graphemes, tokens

Keys = Sequence[str]
Sentences = Sequence[Sequence[str]]
"""``[[key, text], ...]``."""
Support = Sequence[Mapping[str, Any]]
"""``[{"response_sentence_key", "supporting_sentence_keys", "fully_supported", "explanation"}, ...]``."""

LENGTHS: dict[str, Callable[[str], int]] = {
    "sentence": lambda text: 1,
    "token": lambda text: len(tokens(text)),
    "character": lambda text: len(graphemes(text)),
}
NONE_RELEVANT = {"one": 1.0, "zero": 0.0, "undefined": math.nan}
"""Completeness where no sentence is relevant, by ``when_none_relevant``."""
GUIDE_SENTENCES = 20
"""Number of relevant sentences that the guide takes for a relevance of 1."""


def relevance(
    relevant_keys: Keys,
    documents_sentences: Sequence[Sentences] | None = None,
    *,
    variant: str = "ragbench",
    length: str = "sentence",
    unknown_keys: str = "count",
) -> float:
    """Context relevance: the share of the context that is relevant to the question.

    Higher is better; from 0, at most 1 unless keys are repeated or unknown; nan when the context has no sentence (or
    none of any length), or is None although it is needed.

    Parameters
    ----------
    relevant_keys
        Keys of the relevant sentences; one given twice counts twice, as in the benchmark.
    documents_sentences
        Sentences of each document as ``[key, text]`` pairs; None if there are only labels, see the module.
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
    >>> relevance(["0a"], documents), relevance(["0a"], variant="guide")
    (0.5, 0.05)
    """
    context = _context(documents_sentences, variant, length, unknown_keys)
    relevant = context.kept(relevant_keys)
    if not context.is_countable:
        return math.nan
    if variant == "guide":
        return min(1.0, len(relevant) / GUIDE_SENTENCES)
    return _ratio(context.measure(relevant), context.total)


def utilization(
    relevant_keys: Keys,
    utilized_keys: Keys,
    documents_sentences: Sequence[Sentences] | None = None,
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
    if not context.is_countable:
        return math.nan
    if variant == "guide":
        return min(1.0, len(utilized) / len(relevant)) if relevant else 0.0
    return _ratio(context.measure(utilized), context.total)


def completeness(
    relevant_keys: Keys,
    utilized_keys: Keys,
    documents_sentences: Sequence[Sentences] | None = None,
    *,
    variant: str = "ragbench",
    length: str = "sentence",
    unknown_keys: str = "count",
    when_none_relevant: str | None = None,
) -> float:
    """Completeness: the share of the relevant sentences that the response uses.

    Higher is better; in [0, 1]; nan when the context has no sentence or is None although it is needed, when the relevant
    keys have no length (all of them unknown, with a length in tokens or characters), and, if ``when_none_relevant`` says so,
    when no sentence is relevant.

    Parameters and errors as for `utilization`; ``when_none_relevant`` is explained in the module.

    Notes
    -----
    Len(R and U) / Len(R), each key once. By default, if R is empty: 1 under ``ragbench``, as the benchmark publishes it;
    under ``guide`` 1 if U is empty too, else 0.

    Source: Friel et al. (2024), "Completeness"; checked against the published ``completeness_score``.

    >>> documents = [[["0a", "Oslo is a city."], ["0b", "It rains."]]]
    >>> completeness(["0a", "0b"], ["0a"], documents), completeness([], ["0a"], documents)
    (0.5, 1.0)
    >>> completeness([], ["0a"], documents, when_none_relevant="zero")
    0.0
    """
    check_options(variant=variant, length=length, unknown_keys=unknown_keys, when_none_relevant=when_none_relevant)
    context = _context(documents_sentences, variant, length, unknown_keys)
    relevant, utilized = set(context.kept(relevant_keys)), set(context.kept(utilized_keys))
    if not context.is_countable:
        return math.nan
    if not relevant:
        return NONE_RELEVANT[when_none_relevant] if when_none_relevant else float(variant == "ragbench" or not utilized)
    return _ratio(context.measure(relevant & utilized), context.measure(relevant))


def adherence(support: Support | None, unsupported_keys: Keys | None = None, *, variant: str = "ragbench") -> float:
    """Adherence: 1.0 when every sentence of the response is supported by the context, else 0.0.

    Higher is better; 0.0 or 1.0, never a fraction (see `supported_fraction`); 1.0 for a response without sentences; nan
    when the labels that the variant needs are None, or say nothing about a sentence while no other is unsupported.

    Parameters
    ----------
    support
        Support information, one mapping a response sentence.
    unsupported_keys
        Keys of the response's unsupported sentences; None if the labels do not list them, as in a judge's raw reply.
    variant
        ``"ragbench"``: no key is listed as unsupported. If there is no such list, every sentence has a supporting key; a
        sentence without a list of ``supporting_sentence_keys`` needs to be ``fully_supported``.
        ``"guide"``: every sentence is ``fully_supported``, where null means no.
        A sentence with neither ``supporting_sentence_keys`` nor ``fully_supported`` is unknown under both, see
        `ragnb.metrics.trace_labels.supported_sentences`.

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
    if variant == "ragbench" and unsupported_keys is not None:
        return float(not check_keys(unsupported_keys))
    if support is None:
        return math.nan
    supported = [value for _, value in supported_sentences(support, variant=variant)]
    if False in supported:
        return 0.0
    return math.nan if None in supported else 1.0


def supported_fraction(
    response_sentences: Sentences | None,
    support: Support | None,
    unsupported_keys: Keys | None = None,
    *,
    variant: str = "ragbench",
) -> float:
    """Share of the response's sentences that are supported: the fraction that is sometimes mistaken for adherence.

    Higher is better; in [0, 1]; 1 exactly where adherence is 1; nan for a response without sentences, without the labels
    that the variant needs, or with a sentence about which they say nothing.

    Parameters and errors as for `adherence`; ``response_sentences`` are ``[key, text]`` pairs, which ``"guide"`` ignores.

    Notes
    -----
    ``ragbench``: 1 - (number of unsupported keys, each once) / (number of response sentences), at least 0.
    ``guide``: (number of supported sentences) / (number of sentences with support information).

    Source: none; neither the benchmark nor the guide publishes it.

    >>> supported_fraction([["a", "Yes."], ["b", "No."]], [], ["b"])
    0.5
    """
    check_choice(variant, VARIANTS, "variant")
    if variant == "ragbench" and unsupported_keys is not None:
        unsupported = set(check_keys(unsupported_keys))
    elif support is None:
        return math.nan
    else:
        supported = supported_sentences(support, variant=variant)
        values = [value for _, value in supported]
        if None in values:
            return math.nan
        if variant == "guide":
            return _ratio(values.count(True), len(values))
        unsupported = {key for key, value in supported if value is False}
    if response_sentences is None:
        return math.nan
    n = len(listed(response_sentences, "response_sentences"))
    return _ratio(n - min(n, len(unsupported)), n)


def rmse_to_ideal(
    relevant_keys: Keys,
    utilized_keys: Keys,
    documents_sentences: Sequence[Sentences] | None,
    support: Support | None,
    unsupported_keys: Keys | None = None,
    *,
    variant: str = "ragbench",
    length: str = "sentence",
    unknown_keys: str = "count",
    when_none_relevant: str | None = None,
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
    used = relevant_keys, utilized_keys, documents_sentences
    return distance_from_ideal(
        relevance(relevant_keys, documents_sentences, **options),
        utilization(*used, **options),
        completeness(*used, when_none_relevant=when_none_relevant, **options),
        adherence(support, unsupported_keys, variant=variant),
    )


def consistency(
    relevant_keys: Keys,
    utilized_keys: Keys,
    documents_sentences: Sequence[Sentences] | None,
    support: Support | None,
    unsupported_keys: Keys | None = None,
    *,
    variant: str = "ragbench",
    length: str = "sentence",
    unknown_keys: str = "count",
    when_none_relevant: str | None = None,
) -> float:
    """Closeness of the four scores to 1: one minus `rmse_to_ideal`.

    Higher is better; in [0, 1] where the scores are; nan when one of them is. Parameters and errors as there.

    Source: the visual guide to TRACe.

    >>> consistency(["0a"], ["0a"], [[["0a", "Oslo is a city."]]], [], [])
    1.0
    """
    return 1 - rmse_to_ideal(
        relevant_keys,
        utilized_keys,
        documents_sentences,
        support,
        unsupported_keys,
        variant=variant,
        length=length,
        unknown_keys=unknown_keys,
        when_none_relevant=when_none_relevant,
    )


def trace_scores(
    record: Mapping[str, Any],
    *,
    variant: str = "ragbench",
    length: str = "sentence",
    unknown_keys: str = "count",
    when_none_relevant: str | None = None,
) -> TraceScores:
    """All TRACe scores of one labelled response, and what is doubtful in its labels.

    Parameters
    ----------
    record
        Mapping with RAGBench's field names: ``documents_sentences, response_sentences, all_relevant_sentence_keys,
        all_utilized_sentence_keys, sentence_support_information, unsupported_response_sentence_keys`` and, if there is one,
        ``overall_supported``. A field that is missing or None although a score needs it leaves that score nan, and is an
        issue. Under ``"guide"`` the scores need the relevant keys, the utilized keys and the support information only.
    variant, length, unknown_keys, when_none_relevant
        See `relevance`, `adherence` and `completeness`.

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
    options = {"variant": variant, "length": length, "unknown_keys": unknown_keys}
    values = trace_values(record, when_none_relevant=when_none_relevant, **options)
    unknown = "length 0" if length != "sentence" and unknown_keys == "count" else UNKNOWN_KEYS[unknown_keys]
    return TraceScores(*values, label_issues(record, variant=variant, unknown_keys=unknown_keys, unknown=unknown))


def trace_values(
    record: Mapping[str, Any], *, variant: str, length: str, unknown_keys: str, when_none_relevant: str | None
) -> tuple[float, float, float, float, float, float, float]:
    """The seven numbers of `trace_scores` in their order, without the issues."""
    options = {"variant": variant, "length": length, "unknown_keys": unknown_keys}
    check_options(when_none_relevant=when_none_relevant, **options)
    documents, response, relevant, utilized, support, unsupported = (present(record.get(name)) for name in FIELDS)
    no_overlap = relevant is None or utilized is None
    scores = (
        math.nan if relevant is None else relevance(relevant, documents, **options),
        math.nan if no_overlap else utilization(relevant, utilized, documents, **options),
        math.nan
        if no_overlap
        else completeness(relevant, utilized, documents, when_none_relevant=when_none_relevant, **options),
        adherence(support, unsupported, variant=variant),
    )
    fraction = supported_fraction(response, support, unsupported, variant=variant)
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
    """Length of every sentence by its key, of all together, and what happens to a key that is not among them.

    ``is_countable`` says whether the scores are defined: there is a sentence, or no context is needed.
    """

    sizes: Mapping[str, int]
    total: int
    unknown_size: int
    drops_unknown: bool
    is_countable: bool

    def kept(self, keys: Keys) -> list[str]:
        checked = check_keys(keys)
        return [key for key in checked if key in self.sizes] if self.drops_unknown else checked

    def measure(self, keys: Keys | set[str]) -> int:
        return sum(self.sizes.get(key, self.unknown_size) for key in keys)


def _context(documents_sentences: Sequence[Sentences] | None, variant: str, length: str, unknown_keys: str) -> _Context:
    check_options(variant=variant, length=length, unknown_keys=unknown_keys)
    if documents_sentences is None:
        is_needed = FIELDS[0] in needed_fields(variant=variant, unknown_keys=unknown_keys)
        return _Context({}, 0, 1, drops_unknown=False, is_countable=not is_needed)
    size_of = LENGTHS[length]
    sizes = [(key, size_of(text)) for key, text in sentence_pairs(documents_sentences)]
    total, unknown_size = sum(size for _, size in sizes), int(length == "sentence")
    return _Context(dict(sizes), total, unknown_size, unknown_keys == "drop", is_countable=bool(sizes))


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


def check_options(*, variant: str, length: str, unknown_keys: str, when_none_relevant: str | None = None) -> None:
    """Raise InputError unless the options are known and go together."""
    check_choice(variant, VARIANTS, "variant")
    check_choice(length, tuple(LENGTHS), "length")
    check_choice(unknown_keys, tuple(UNKNOWN_KEYS), "unknown_keys")
    if when_none_relevant is not None:
        check_choice(when_none_relevant, tuple(NONE_RELEVANT), "when_none_relevant")
    if variant == "guide" and length != "sentence":
        raise InputError(f"variant 'guide' needs length 'sentence', all that it defines; got {length!r}; leave length out")
