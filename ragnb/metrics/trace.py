"""TRACe scores of RAGBench: relevance, utilization, completeness and adherence.

The scores are computed from labels of sentences, and there are two definitions of them.
``variant='ragbench'`` is the definition of the benchmark (Friel et al. 2024, arXiv 2407.11005). With
the default options, it reproduces the published scores of all 50 test records that we checked.
``variant='guide'`` is the definition in *TRACE Metrics Calculation - Visual Guide*
(docs/GPT_METRICS_VISUAL_GUIDE.md in the Hugging Face Space gopikrishnait/CapStoneRAG10), which only
counts labels. Its relevance is the number of relevant sentences divided by 20. Its utilization is
the number of utilized sentences divided by the number of relevant sentences.

``length`` is the unit in which lengths are measured: sentences, tokens (`ragnb.text.tokens`) or
characters (`ragnb.text.graphemes`).

Some published records contain keys that do not match any sentence of the context. With
``unknown_keys='count'``, these keys are counted, as in the benchmark; their length in tokens or
characters is 0. With ``'drop'``, they are left out.

Sources disagree on the completeness of a response if no sentence of the context is relevant. By
default, it is 1 under ``'ragbench'``. Under ``'guide'``, it is 1 if no sentence is utilized either,
and 0 otherwise. ``when_none_relevant`` sets it to 1 (``'one'``), 0 (``'zero'``) or NaN
(``'undefined'``).

All functions raise InputError for an unknown option and for a field of the wrong type.

Some metrics pass all of their arguments on with ``**locals()``. As this is their only statement, the
local variables are then exactly the parameters.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from ragnb.arguments import accepts
from ragnb.cells import present
from ragnb.errors import InputError
from ragnb.metrics.declaration import Argument, Column, Option, declared
from ragnb.metrics.record import metric
from ragnb.metrics.trace_labels import (
    FIELDS,
    UNKNOWN_KEYS,
    Support,
    as_keys,
    label_issues,
    listed,
    require_one_record,
    sentence_pairs,
    supported_sentences,
)
from ragnb.text import graphemes, tokens

Keys = Sequence[str]
# ``[[key, text], ...]``.
Sentences = Sequence[Sequence[str]]

LENGTHS: dict[str, Callable[[str], int]] = {
    "sentence": lambda text: 1,
    "token": lambda text: len(tokens(text)),
    "character": lambda text: len(graphemes(text)),
}
# Value of ``when_none_relevant`` -> completeness if no sentence is relevant.
NONE_RELEVANT = {"one": 1.0, "zero": 0.0, "undefined": math.nan}
# Number of relevant sentences at which the guide's relevance reaches 1.
GUIDE_SENTENCES = 20


# ---- arguments of the metrics ------------------------------------------------------------------


class RelevantKeys(Column):
    """Keys of the relevant sentences of the context."""

    column = "all_relevant_sentence_keys"
    type_name = "sequence of str or None"


class UtilizedKeys(Column):
    """Keys of the sentences of the context that the response uses."""

    column = "all_utilized_sentence_keys"
    type_name = "sequence of str or None"


class Documents(Column):
    """Context: a list of documents, each a list of ``[key, text]`` sentences.

    It is not required with ``variant='guide'`` and ``unknown_keys='count'``.
    """

    column = "documents_sentences"
    type_name = "list or None"
    optional_under = {"variant": "guide", "unknown_keys": "count"}


class ResponseSentences(Column):
    """Sentences of the response, as ``[key, text]`` pairs. Only ``'ragbench'`` uses them.

    If they are None, the sentences with a label in `support` count as the sentences of the response.
    """

    column = "response_sentences"
    type_name = "sequence or None"
    # No option must have a certain value, so the sentences are optional under all options.
    optional_under = {}


class SupportLabels(Column):
    """RAGBench's ``sentence_support_information``: one mapping per sentence of the response.

    The mappings have the fields ``supporting_sentence_keys`` and ``fully_supported``.
    """

    column = "sentence_support_information"
    type_name = "sequence of mappings or None"


class UnsupportedKeys(Column):
    """RAGBench's ``unsupported_response_sentence_keys``, or None if there is no such list.

    Only ``'ragbench'`` uses them.
    """

    column = "unsupported_response_sentence_keys"
    type_name = "sequence of str or None"


class Variant(Option):
    """Definition to use: that of RAGBench, or that of the *Visual Guide*.

    `ragnb.metrics.trace` cites the guide.
    """

    values = {
        "ragbench": "Based on the four scores of the benchmark.",
        "guide": "Based on the four scores of the visual guide, which require only the labels.",
    }


class Length(Option):
    """Unit in which lengths are measured: sentences, tokens or characters.

    Tokens are those of `ragnb.text.tokens`, and characters those of `ragnb.text.graphemes`.
    """

    values = {
        "sentence": "Each sentence has length 1, as in the published dataset.",
        "token": "The length of a sentence is its number of tokens; not available with the variant "
        "guide.",
        "character": "The length of a sentence is its number of characters (grapheme clusters); not "
        "available with the variant guide.",
    }


class UnknownKeys(Option):
    """Whether to count keys that do not match any sentence of the context."""

    values = {
        "count": "Keys that do not match any sentence are counted, as in the dataset; in tokens or "
        "characters, their length is 0.",
        "drop": "Keys that do not match any sentence are left out.",
    }


class WhenNoneRelevant(Option):
    """Completeness if no sentence is relevant."""

    values = {
        None: "Depends on the variant: 1 with ragbench; with guide 1 if no sentence is utilized "
        "either, else 0.",
        "one": "Completeness is 1 if no sentence is relevant: no necessary sentence is left out.",
        "zero": "Completeness is 0 if no sentence is relevant: no necessary sentence is used.",
        "undefined": "Completeness is undefined if no sentence is relevant, because the denominator "
        "is 0.",
    }


class VariantOfRelevance(Variant):
    """Definition of relevance: that of RAGBench, or that of the *Visual Guide*."""

    values = {
        "ragbench": "The benchmark: length of the relevant sentences / length of the context.",
        "guide": "The visual guide: number of relevant sentences / 20, at most 1, regardless of "
        "the length of the context. It requires only the labels.",
    }


class VariantOfUtilization(Variant):
    """Definition of utilization: that of RAGBench, or that of the *Visual Guide*."""

    values = {
        "ragbench": "The benchmark: length of the utilized sentences / length of the context.",
        "guide": "The visual guide: number of utilized / number of relevant sentences, at most "
        "1, or 0 if no sentence is relevant. It requires only the labels.",
    }


class VariantOfCompleteness(Variant):
    """Definition of completeness. The two differ only if no sentence is relevant."""

    values = {
        "ragbench": "The benchmark: proportion of the relevant sentences that are utilized; by "
        "default 1 if no sentence is relevant.",
        "guide": "The visual guide: the same proportion. If no sentence is relevant, the default is 1 "
        "if no sentence is utilized either, and 0 otherwise. It requires only the labels.",
    }


class VariantOfAdherence(Variant):
    """Definition of adherence: that of RAGBench, or that of the *Visual Guide*."""

    values = {
        "ragbench": "The benchmark: no sentence of the response is listed as unsupported. "
        "If no such list is given, every sentence must have a supporting key; where the keys are "
        "not given, it must be marked fully_supported.",
        "guide": "The visual guide: every sentence is marked fully_supported. If supporting keys "
        "are given, null means not supported.",
    }


class VariantOfSupportedFraction(Variant):
    """Definition of a supported sentence: that of RAGBench, or that of the *Visual Guide*."""

    values = {
        "ragbench": "Proportion of the response's sentences that are not listed as unsupported. "
        "If no such list is given, a sentence is supported if it has a supporting key; where the "
        "keys are not given, it is supported if it is marked fully_supported. Without "
        "response_sentences, the labelled sentences are those of the response.",
        "guide": "Proportion of the labelled sentences that are marked fully_supported.",
    }


_FRIEL = (
    "Friel et al. 2024, arXiv 2407.11005; with the default options equal to the published columns in "
    "50 of 50 records"
)
_GUIDE = "TRACE Metrics Calculation - Visual Guide (Hugging Face Space gopikrishnait/CapStoneRAG10)"
_DISTANCE = f"{_GUIDE}; root mean square distance from the ideal value 1"
_NO_CONTEXT = "If the context has no sentences or a total length of 0."
_MORE = "more if keys are repeated or unknown"
_ONE_UNDEFINED = "If relevance, utilization, completeness or adherence is undefined."


# ---- the four scores ---------------------------------------------------------------------------


@metric(
    "trace.relevance",
    source=_FRIEL,
    undefined=_NO_CONTEXT,
    beyond=_MORE,
)
def relevance(
    relevant_keys: Annotated[Keys | None, RelevantKeys],
    documents_sentences: Annotated[Sequence[Sentences] | None, Documents] = None,
    *,
    variant: Annotated[str, VariantOfRelevance] = "ragbench",
    length: Annotated[str, Length] = "sentence",
    unknown_keys: Annotated[str, UnknownKeys] = "count",
) -> float:
    """Context relevance: how much of the context is relevant to the question.

    Under ``'ragbench'``, relevance = (length of the relevant sentences) / (length of the context).
    Under ``'guide'``, relevance = min(1, (number of relevant sentences) / 20). A repeated key counts
    each time.

    Notes
    -----
    Source: Friel et al. (2024), arXiv 2407.11005, "Context Relevance". With the default options,
    the value equals the published ``relevance_score`` in all 50 test records that we checked.

    Examples
    --------
    >>> documents = [[["0a", "Oslo is a city."], ["0b", "It rains."]]]
    >>> relevance(["0a"], documents), relevance(["0a"], variant="guide")
    (0.5, 0.05)
    """
    context = _measured_context(documents_sentences, variant, length, unknown_keys)
    if relevant_keys is None or context is None:
        return math.nan
    lengths_of, total = context
    relevant = lengths_of(as_keys(relevant_keys))
    if variant == "guide":
        return min(1.0, len(relevant) / GUIDE_SENTENCES)
    return _ratio(sum(relevant), total)


@metric(
    "trace.utilization",
    source=_FRIEL,
    undefined=_NO_CONTEXT,
    beyond=_MORE,
)
def utilization(
    relevant_keys: Annotated[Keys | None, RelevantKeys],
    utilized_keys: Annotated[Keys | None, UtilizedKeys],
    documents_sentences: Annotated[Sequence[Sentences] | None, Documents] = None,
    *,
    variant: Annotated[str, VariantOfUtilization] = "ragbench",
    length: Annotated[str, Length] = "sentence",
    unknown_keys: Annotated[str, UnknownKeys] = "count",
) -> float:
    """Context utilization: how much of the context the response uses.

    Under ``'ragbench'``, utilization = (length of the utilized sentences) / (length of the
    context). Under ``'guide'``, utilization = min(1, (number of utilized sentences) / (number of
    relevant sentences)), or 0 if no sentence is relevant. A repeated key counts each time.

    Notes
    -----
    Source: Friel et al. (2024), arXiv 2407.11005, "Context Utilization". With the default options,
    the value equals the published ``utilization_score`` in all 50 test records that we
    checked.

    Examples
    --------
    >>> documents = [[["0a", "Oslo is a city."], ["0b", "It rains."]]]
    >>> utilization(["0a"], ["0a"], documents), utilization(["0a"], ["0a"], variant="guide")
    (0.5, 1.0)
    """
    context = _measured_context(documents_sentences, variant, length, unknown_keys)
    if relevant_keys is None or utilized_keys is None or context is None:
        return math.nan
    lengths_of, total = context
    relevant, utilized = lengths_of(as_keys(relevant_keys)), lengths_of(as_keys(utilized_keys))
    if variant == "guide":
        return min(1.0, len(utilized) / len(relevant)) if relevant else 0.0
    return _ratio(sum(utilized), total)


@metric(
    "trace.completeness",
    source=_FRIEL,
    undefined="If the context has no sentences, if the relevant sentences have a total length of 0, "
    "or if no sentence is relevant and when_none_relevant is undefined.",
)
def completeness(
    relevant_keys: Annotated[Keys | None, RelevantKeys],
    utilized_keys: Annotated[Keys | None, UtilizedKeys],
    documents_sentences: Annotated[Sequence[Sentences] | None, Documents] = None,
    *,
    variant: Annotated[str, VariantOfCompleteness] = "ragbench",
    length: Annotated[str, Length] = "sentence",
    unknown_keys: Annotated[str, UnknownKeys] = "count",
    when_none_relevant: Annotated[str | None, WhenNoneRelevant] = None,
) -> float:
    """Completeness: proportion of the relevant sentences that the response uses.

    completeness = (length of the relevant sentences that are utilized) / (length of the relevant
    sentences), counting each key once.

    Notes
    -----
    Source: Friel et al. (2024), arXiv 2407.11005, "Completeness". With the default options, the
    value equals the published ``completeness_score`` in all 50 test records that we checked.

    Examples
    --------
    >>> documents = [[["0a", "Oslo is a city."], ["0b", "It rains."]]]
    >>> completeness(["0a", "0b"], ["0a"], documents), completeness([], ["0a"], documents)
    (0.5, 1.0)
    >>> completeness([], ["0a"], documents, when_none_relevant="zero")
    0.0
    """
    context = _measured_context(documents_sentences, variant, length, unknown_keys)
    if relevant_keys is None or utilized_keys is None or context is None:
        return math.nan
    relevant, utilized = set(as_keys(relevant_keys)), set(as_keys(utilized_keys))
    lengths_of, _ = context
    lengths_of_relevant = lengths_of(relevant)
    if lengths_of_relevant:
        return _ratio(sum(lengths_of(relevant & utilized)), sum(lengths_of_relevant))
    if when_none_relevant:
        return NONE_RELEVANT[when_none_relevant]
    is_none_utilized = not lengths_of(utilized)
    return 1.0 if variant == "ragbench" or is_none_utilized else 0.0


@metric(
    "trace.adherence",
    source=_FRIEL,
    binary=True,
    undefined="If there are no labels, or if it is unknown whether a labelled sentence is supported and "
    "no other sentence is unsupported. The value is 1 if the list of labels is empty.",
)
def adherence(
    support: Annotated[Support | None, SupportLabels],
    unsupported_keys: Annotated[Keys | None, UnsupportedKeys] = None,
    *,
    variant: Annotated[str, VariantOfAdherence] = "ragbench",
) -> float:
    """Adherence: 1.0 if the context supports every sentence of the response, else 0.0.

    Under ``'ragbench'``, the unsupported sentences are those in `unsupported_keys`. Under
    ``'guide'``, or if `unsupported_keys` is None, the labels in `support` determine which sentences
    are supported; see `ragnb.metrics.trace_labels.supported_sentences`. For the proportion of
    supported sentences, use `supported_fraction`.

    Notes
    -----
    Source: Friel et al. (2024), arXiv 2407.11005, "Adherence". With the default variant and
    `unsupported_keys`, the value equals the published ``adherence_score`` in all 50 test
    records that we checked.

    Examples
    --------
    >>> labels = [{"response_sentence_key": "a", "supporting_sentence_keys": ["0a"],
    ...            "fully_supported": None}]
    >>> adherence(labels, []), adherence(labels, [], variant="guide"), adherence(labels, ["a"])
    (1.0, 0.0, 0.0)
    """
    # True, False or, if it is unknown whether a sentence is supported, None.
    values = [value for _, value in supported_sentences(support, unsupported_keys, variant=variant)]
    # One unsupported sentence is enough, whatever the unknown ones are.
    if False in values:
        return 0.0
    return math.nan if None in values else 1.0


# ---- scores derived from these -----------------------------------------------------------------


@metric(
    "trace.supported_fraction",
    source="ours: the proportion that is sometimes mistaken for adherence",
    undefined="If there are no labels, if it is unknown whether a labelled sentence is supported, or if "
    "there are no sentences (under guide, no labelled sentences).",
)
def supported_fraction(
    response_sentences: Annotated[Sentences | None, ResponseSentences],
    support: Annotated[Support | None, SupportLabels],
    unsupported_keys: Annotated[Keys | None, UnsupportedKeys] = None,
    *,
    variant: Annotated[str, VariantOfSupportedFraction] = "ragbench",
) -> float:
    """Supported fraction: proportion of the response's sentences that the context supports.

    Under ``'ragbench'``, supported_fraction = max(0, 1 - (number of distinct unsupported sentences) /
    (number of sentences in the response)). Sentences without a label count as supported. If
    `response_sentences` is None, the number of labelled sentences is the denominator. Under
    ``'guide'``, supported_fraction = (number of supported sentences) / (number of labelled
    sentences). `ragnb.metrics.trace_labels.supported_sentences` describes when a labelled sentence
    is supported.

    Notes
    -----
    Source: this package; neither the benchmark nor the *Visual Guide* contains this score.

    Examples
    --------
    >>> supported_fraction([["a", "Yes."], ["b", "No."]], [], ["b"])
    0.5
    >>> supported_fraction(None, [{"key": "a", "fully_supported": True},
    ...                           {"key": "b", "fully_supported": False}])
    0.5
    """
    labels = supported_sentences(support, unsupported_keys, variant=variant)
    values = [value for _, value in labels]
    if None in values:
        return math.nan
    if variant == "guide":
        return _ratio(values.count(True), len(values))
    if response_sentences is not None:
        n = len(listed(response_sentences, "response_sentences"))
    elif support is not None:
        # With `unsupported_keys`, `labels` contains only the unsupported sentences. All labelled
        # sentences are needed here.
        n = len(supported_sentences(support))
    else:
        return math.nan
    unsupported = {key for key, value in labels if not value}
    return _ratio(max(0, n - len(unsupported)), n)


@metric(
    "trace.average",
    source=_GUIDE,
    undefined=_ONE_UNDEFINED,
    beyond=_MORE,
)
def average(
    relevant_keys: Annotated[Keys | None, RelevantKeys],
    utilized_keys: Annotated[Keys | None, UtilizedKeys],
    documents_sentences: Annotated[Sequence[Sentences] | None, Documents],
    support: Annotated[Support | None, SupportLabels],
    unsupported_keys: Annotated[Keys | None, UnsupportedKeys] = None,
    *,
    variant: Annotated[str, Variant] = "ragbench",
    length: Annotated[str, Length] = "sentence",
    unknown_keys: Annotated[str, UnknownKeys] = "count",
    when_none_relevant: Annotated[str | None, WhenNoneRelevant] = None,
) -> float:
    """Mean of relevance, utilization, completeness and adherence.

    Notes
    -----
    Source: *TRACE Metrics Calculation - Visual Guide*, Hugging Face Space
    gopikrishnait/CapStoneRAG10, "Average".

    Examples
    --------
    >>> documents = [[["0a", "Oslo is a city."], ["0b", "It rains."]]]
    >>> average(["0a", "0b"], ["0a", "0b"], documents, [], ["a"])
    0.75
    """
    return sum(_four(**locals())) / 4


@metric(
    "trace.rmse_to_ideal",
    source=_DISTANCE,
    higher_is_better=False,
    undefined=_ONE_UNDEFINED,
    beyond=_MORE,
)
def rmse_to_ideal(
    relevant_keys: Annotated[Keys | None, RelevantKeys],
    utilized_keys: Annotated[Keys | None, UtilizedKeys],
    documents_sentences: Annotated[Sequence[Sentences] | None, Documents],
    support: Annotated[Support | None, SupportLabels],
    unsupported_keys: Annotated[Keys | None, UnsupportedKeys] = None,
    *,
    variant: Annotated[str, Variant] = "ragbench",
    length: Annotated[str, Length] = "sentence",
    unknown_keys: Annotated[str, UnknownKeys] = "count",
    when_none_relevant: Annotated[str | None, WhenNoneRelevant] = None,
) -> float:
    """Root mean square distance of relevance, utilization, completeness and adherence from 1.

    rmse_to_ideal = sqrt(mean of (1 - score)^2 over the four scores).

    Notes
    -----
    Source: *TRACE Metrics Calculation - Visual Guide*, Hugging Face Space
    gopikrishnait/CapStoneRAG10, "RMSE Aggregation". The guide gives no formula; the one above
    is inferred from its example. The example has an adherence of 0, for which the formula gives
    0.664, but the guide prints 0.437, which corresponds to an adherence of 1.

    Examples
    --------
    >>> documents = [[["0a", "Oslo is a city."], ["0b", "It rains."]]]
    >>> rmse_to_ideal(["0a", "0b"], ["0a", "0b"], documents, [], ["a"])
    0.5
    """
    return distance_from_ideal(*_four(**locals()))


@metric(
    "trace.consistency",
    source=_DISTANCE,
    undefined=_ONE_UNDEFINED,
    beyond=_MORE.replace("more", "less"),
)
def consistency(
    relevant_keys: Annotated[Keys | None, RelevantKeys],
    utilized_keys: Annotated[Keys | None, UtilizedKeys],
    documents_sentences: Annotated[Sequence[Sentences] | None, Documents],
    support: Annotated[Support | None, SupportLabels],
    unsupported_keys: Annotated[Keys | None, UnsupportedKeys] = None,
    *,
    variant: Annotated[str, Variant] = "ragbench",
    length: Annotated[str, Length] = "sentence",
    unknown_keys: Annotated[str, UnknownKeys] = "count",
    when_none_relevant: Annotated[str | None, WhenNoneRelevant] = None,
) -> float:
    """Consistency: 1 minus the root mean square distance of the four TRACe scores from 1.

    consistency = 1 - rmse_to_ideal. The four scores are relevance, utilization, completeness and
    adherence.

    Notes
    -----
    Source: *TRACE Metrics Calculation - Visual Guide*, Hugging Face Space
    gopikrishnait/CapStoneRAG10, "Consistency Score". The guide gives no formula; the one
    above is inferred from its example. The example has an adherence of 0, for which the formula
    gives 0.336, but the guide prints 0.563, which corresponds to an adherence of 1.

    Examples
    --------
    >>> consistency(["0a"], ["0a"], [[["0a", "Oslo is a city."]]], [], [])
    1.0
    """
    return 1 - rmse_to_ideal(**locals())


def _four(
    relevant_keys: Keys | None,
    utilized_keys: Keys | None,
    documents_sentences: Sequence[Sentences] | None,
    support: Support | None,
    unsupported_keys: Keys | None,
    *,
    variant: str,
    length: str,
    unknown_keys: str,
    when_none_relevant: str | None,
) -> tuple[float, float, float, float]:
    """Compute relevance, utilization, completeness and adherence."""
    options: dict[str, Any] = {"variant": variant, "length": length, "unknown_keys": unknown_keys}
    keys_and_context = relevant_keys, utilized_keys, documents_sentences
    return (
        relevance(relevant_keys, documents_sentences, **options),
        utilization(*keys_and_context, **options),
        completeness(*keys_and_context, when_none_relevant=when_none_relevant, **options),
        adherence(support, unsupported_keys, variant=variant),
    )


@accepts()
def distance_from_ideal(*scores: float) -> float:
    """Root mean square distance of scores from 1.

    Parameters
    ----------
    *scores : float
        One or more scores.

    Returns
    -------
    float
        The distance; lower is better. NaN if a score is NaN.

    Raises
    ------
    InputError
        If there is no score.

    Examples
    --------
    >>> round(distance_from_ideal(0.2, 0.75, 0.75, 0.0), 3)
    0.664
    """
    if not scores:
        raise InputError("distance_from_ideal needs at least one score")
    return math.sqrt(sum((1 - score) ** 2 for score in scores) / len(scores))


# ---- all scores of a record --------------------------------------------------------------------


class TraceScores(NamedTuple):
    """TRACe scores of one response, and problems in its labels.

    The functions of the same names define the scores. An undefined score is NaN.

    Attributes
    ----------
    relevance : float
        Context relevance.
    utilization : float
        Context utilization.
    completeness : float
        Completeness.
    adherence : float
        Adherence, 1.0 or 0.0.
    supported_fraction : float
        Proportion of the response's sentences that are supported.
    average : float
        Mean of relevance, utilization, completeness and adherence.
    rmse_to_ideal : float
        Root mean square distance of these four scores from 1.
    consistency : float
        1 minus `rmse_to_ideal`.
    issues : tuple of str
        One line of text per problem; see `ragnb.metrics.trace_labels.label_issues`.
    """

    relevance: float
    utilization: float
    completeness: float
    adherence: float
    supported_fraction: float
    average: float
    rmse_to_ideal: float
    consistency: float
    issues: tuple[str, ...]


class Record(Argument):
    """A record, or a row of a DataFrame, with RAGBench's fields.

    They are ``documents_sentences``, ``response_sentences``, ``all_relevant_sentence_keys``,
    ``all_utilized_sentence_keys``, ``sentence_support_information`` and, optionally,
    ``unsupported_response_sentence_keys`` and ``overall_supported``. A score is NaN if a field that
    it requires is missing.
    """

    type_name = "mapping"


@declared
def trace_scores(
    record: Annotated[Mapping[str, Any], Record],
    *,
    variant: Annotated[str, Variant] = "ragbench",
    length: Annotated[str, Length] = "sentence",
    unknown_keys: Annotated[str, UnknownKeys] = "count",
    when_none_relevant: Annotated[str | None, WhenNoneRelevant] = None,
) -> TraceScores:
    """Compute all TRACe scores for one labelled response, and list problems in its labels.

    Returns
    -------
    TraceScores
        The scores, and the problems found in the labels.

    Examples
    --------
    >>> scores = trace_scores({
    ...     "documents_sentences": [[["0a", "Oslo is a city."], ["0b", "It rains."]]],
    ...     "response_sentences": [["a", "Oslo is rainy."]],
    ...     "all_relevant_sentence_keys": ["0a", "0b"],
    ...     "all_utilized_sentence_keys": ["0b"],
    ...     "sentence_support_information": [{"response_sentence_key": "a",
    ...         "supporting_sentence_keys": ["0b"], "fully_supported": True}],
    ...     "unsupported_response_sentence_keys": []})
    >>> scores.relevance, scores.utilization, scores.completeness, scores.adherence, scores.issues
    (1.0, 0.5, 0.5, 1.0, ())
    """
    require_one_record(record)
    documents, response, relevant, utilized, support, unsupported = (
        present(record.get(name)) for name in FIELDS
    )
    four = _four(
        relevant,
        utilized,
        documents,
        support,
        unsupported,
        variant=variant,
        length=length,
        unknown_keys=unknown_keys,
        when_none_relevant=when_none_relevant,
    )
    fraction = supported_fraction(response, support, unsupported, variant=variant)
    distance = distance_from_ideal(*four)
    # A key without a sentence has no tokens and no characters, even if it is counted.
    is_counted_without_length = length != "sentence" and unknown_keys == "count"
    unknown = "length 0" if is_counted_without_length else UNKNOWN_KEYS[unknown_keys]
    issues = label_issues(record, variant=variant, unknown=unknown)
    return TraceScores(*four, fraction, sum(four) / 4, distance, 1 - distance, issues)


# ---- lengths -----------------------------------------------------------------------------------


def _measured_context(
    documents_sentences: Sequence[Sentences] | None, variant: str, length: str, unknown_keys: str
) -> tuple[Callable[[Iterable[str]], list[int]], int] | None:
    """Measure the sentences of the context.

    The result has two parts. The first is a function that returns the lengths of the sentences with
    given keys, without those of keys that are to be dropped. The second is the total length of the
    context. The result is None if the context is required and missing, or if it has no sentences.
    """
    if variant == "guide" and length != "sentence":
        raise InputError(
            f"length must be 'sentence' with variant 'guide', which counts sentences, got {length!r}"
        )
    # A list of documents is not tested for truth, because it may be a NumPy array.
    documents = [] if documents_sentences is None else documents_sentences
    sizes = [(key, LENGTHS[length](text)) for key, text in sentence_pairs(documents)]
    # The guide only counts labels. It needs the context only to find the keys that it drops.
    needs_context = variant == "ragbench" or unknown_keys == "drop"
    has_no_sentences = documents_sentences is not None and not sizes
    if has_no_sentences or (documents_sentences is None and needs_context):
        return None
    # A label names a sentence by its key. If two sentences have the same key, which is a fault of the
    # record that `label_issues` reports, the label means the last one, and both belong to the context.
    lengths = dict(sizes)
    # A key without a sentence has no text to measure, but it counts as one sentence.
    length_of_unknown_key = 1 if length == "sentence" else 0

    def lengths_of(keys: Iterable[str]) -> list[int]:
        """The lengths of the sentences with these keys."""
        counted = [key for key in keys if key in lengths or unknown_keys == "count"]
        return [lengths.get(key, length_of_unknown_key) for key in counted]

    return lengths_of, sum(size for _, size in sizes)


def _ratio(part: int, whole: int) -> float:
    """The ratio of two numbers; NaN if the second is 0."""
    return part / whole if whole else math.nan
