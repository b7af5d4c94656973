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
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ragnb.cells import present
from ragnb.errors import InputError, check_choice
from ragnb.metrics.record import metric
from ragnb.metrics.trace_labels import (
    FIELDS,
    UNKNOWN_KEYS,
    VARIANTS,
    Support,
    as_keys,
    label_issues,
    listed,
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


# ---- what the records of the metrics say -------------------------------------------------------

_FRIEL = (
    "Friel et al. 2024, arXiv 2407.11005; with the default options equal to the published columns in "
    "50 of 50 records"
)
_GUIDE = "TRACE Metrics Calculation - Visual Guide (Hugging Face Space gopikrishnait/CapStoneRAG10)"
_DISTANCE = f"{_GUIDE}; root mean square distance from the ideal value 1"
_RELEVANT = {
    "relevant_keys": "all_relevant_sentence_keys",
    "documents_sentences": "documents_sentences",
}
_USED = {**_RELEVANT, "utilized_keys": "all_utilized_sentence_keys"}
_SUPPORT = {
    "support": "sentence_support_information",
    "unsupported_keys": "unsupported_response_sentence_keys",
}
_LABELS_ONLY = {"documents_sentences": {"variant": "guide", "unknown_keys": "count"}}
_NO_CONTEXT = "If the context has no sentences or a total length of 0."
_MORE = "more if keys are repeated or unknown"
_ONE_UNDEFINED = "If relevance, utilization, completeness or adherence is undefined."
_COUNTED: Mapping[str, Mapping[Any, str]] = {
    "length": {
        "sentence": "Each sentence has length 1, as in the published dataset.",
        "token": "The length of a sentence is its number of tokens; not available with the variant "
        "guide.",
        "character": "The length of a sentence is its number of characters (grapheme clusters); not "
        "available with the variant guide.",
    },
    "unknown_keys": {
        "count": "Keys that do not match any sentence are counted, as in the dataset; in tokens or "
        "characters, their length is 0.",
        "drop": "Keys that do not match any sentence are left out.",
    },
}
_NONE_RELEVANT: Mapping[str, Mapping[Any, str]] = {
    "when_none_relevant": {
        None: "Depends on the variant: 1 with ragbench; with guide 1 if no sentence is utilized "
        "either, else 0.",
        "one": "Completeness is 1 if no sentence is relevant: no necessary sentence is left out.",
        "zero": "Completeness is 0 if no sentence is relevant: no necessary sentence is used.",
        "undefined": "Completeness is undefined if no sentence is relevant, because the denominator "
        "is 0.",
    },
}
_FOUR_SCORES: Mapping[str, Mapping[Any, str]] = {
    "variant": {
        "ragbench": "Based on the four scores of the benchmark.",
        "guide": "Based on the four scores of the visual guide, which require only the labels.",
    },
    **_COUNTED,
    **_NONE_RELEVANT,
}


# ---- the four scores ---------------------------------------------------------------------------


@metric(
    "trace.relevance",
    _RELEVANT,
    options={
        "variant": {
            "ragbench": "The benchmark: length of the relevant sentences / length of the context.",
            "guide": "The visual guide: number of relevant sentences / 20, at most 1, regardless of "
            "the length of the context. It requires only the labels.",
        },
        **_COUNTED,
    },
    source=_FRIEL,
    undefined=_NO_CONTEXT,
    beyond=_MORE,
    optional_under=_LABELS_ONLY,
)
def relevance(
    relevant_keys: Keys | None,
    documents_sentences: Sequence[Sentences] | None = None,
    *,
    variant: str = "ragbench",
    length: str = "sentence",
    unknown_keys: str = "count",
) -> float:
    """Context relevance: how much of the context is relevant to the question.

    Under ``'ragbench'``, relevance = (length of the relevant sentences) / (length of the context).
    Under ``'guide'``, relevance = min(1, (number of relevant sentences) / 20).

    Parameters
    ----------
    relevant_keys : sequence of str or None
        Keys of the relevant sentences of the context. A repeated key counts each time.
    documents_sentences, length, unknown_keys
        See `completeness`.
    variant : {'ragbench', 'guide'}, default='ragbench'
        Definition to use: that of RAGBench, or that of the *Visual Guide* cited in
        `ragnb.metrics.trace`.

    Returns
    -------
    float
        Value in [0, 1]; higher is better. Under ``'ragbench'``, repeated or unknown keys can raise
        it above 1. NaN if the keys or a required context are None, or if the context has no
        sentences or a total length of 0.

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
    context = _context(documents_sentences, variant, length, unknown_keys)
    if relevant_keys is None or context is None:
        return math.nan
    lengths_of, total = context
    relevant = lengths_of(as_keys(relevant_keys))
    if variant == "guide":
        return min(1.0, len(relevant) / GUIDE_SENTENCES)
    return _ratio(sum(relevant), total)


@metric(
    "trace.utilization",
    _USED,
    options={
        "variant": {
            "ragbench": "The benchmark: length of the utilized sentences / length of the context.",
            "guide": "The visual guide: number of utilized / number of relevant sentences, at most "
            "1, or 0 if no sentence is relevant. It requires only the labels.",
        },
        **_COUNTED,
    },
    source=_FRIEL,
    undefined=_NO_CONTEXT,
    beyond=_MORE,
    optional_under=_LABELS_ONLY,
)
def utilization(
    relevant_keys: Keys | None,
    utilized_keys: Keys | None,
    documents_sentences: Sequence[Sentences] | None = None,
    *,
    variant: str = "ragbench",
    length: str = "sentence",
    unknown_keys: str = "count",
) -> float:
    """Context utilization: how much of the context the response uses.

    Under ``'ragbench'``, utilization = (length of the utilized sentences) / (length of the
    context). Under ``'guide'``, utilization = min(1, (number of utilized sentences) / (number of
    relevant sentences)), or 0 if no sentence is relevant.

    Parameters
    ----------
    relevant_keys : sequence of str or None
        Keys of the relevant sentences of the context. They affect the value only under ``'guide'``,
        where a repeated key counts each time.
    utilized_keys : sequence of str or None
        Keys of the sentences of the context that the response uses. A repeated key counts each
        time.
    documents_sentences, length, unknown_keys
        See `completeness`.
    variant : {'ragbench', 'guide'}, default='ragbench'
        Definition to use: that of RAGBench, or that of the *Visual Guide* cited in
        `ragnb.metrics.trace`.

    Returns
    -------
    float
        Value in [0, 1]; higher means that the response uses more of the context. Under
        ``'ragbench'``, repeated or unknown keys can raise it above 1. NaN if `relevant_keys`,
        `utilized_keys` or a required context is None, or if the context has no sentences or a total
        length of 0.

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
    context = _context(documents_sentences, variant, length, unknown_keys)
    if relevant_keys is None or utilized_keys is None or context is None:
        return math.nan
    lengths_of, total = context
    relevant, utilized = lengths_of(as_keys(relevant_keys)), lengths_of(as_keys(utilized_keys))
    if variant == "guide":
        return min(1.0, len(utilized) / len(relevant)) if relevant else 0.0
    return _ratio(sum(utilized), total)


@metric(
    "trace.completeness",
    _USED,
    options={
        "variant": {
            "ragbench": "The benchmark: proportion of the relevant sentences that are utilized; by "
            "default 1 if no sentence is relevant.",
            "guide": "The visual guide: the same proportion. If no sentence is relevant, the default is 1 "
            "if no sentence is utilized either, and 0 otherwise. It requires only the labels.",
        },
        **_COUNTED,
        **_NONE_RELEVANT,
    },
    source=_FRIEL,
    undefined="If the context has no sentences, if the relevant sentences have a total length of 0, "
    "or if no sentence is relevant and when_none_relevant is undefined.",
    optional_under=_LABELS_ONLY,
)
def completeness(
    relevant_keys: Keys | None,
    utilized_keys: Keys | None,
    documents_sentences: Sequence[Sentences] | None = None,
    *,
    variant: str = "ragbench",
    length: str = "sentence",
    unknown_keys: str = "count",
    when_none_relevant: str | None = None,
) -> float:
    """Completeness: proportion of the relevant sentences that the response uses.

    completeness = (length of the relevant sentences that are utilized) / (length of the relevant
    sentences), counting each key once.

    Parameters
    ----------
    relevant_keys : sequence of str or None
        Keys of the relevant sentences of the context.
    utilized_keys : sequence of str or None
        Keys of the sentences of the context that the response uses.
    documents_sentences : list or None, default=None
        Context: a list of documents, each a list of ``[key, text]`` sentences. It is not required
        with ``variant='guide'`` and ``unknown_keys='count'``.
    variant : {'ragbench', 'guide'}, default='ragbench'
        Definition to use: that of RAGBench, or that of the *Visual Guide* cited in
        `ragnb.metrics.trace`. By default, the two differ only if no sentence is relevant.
    length : {'sentence', 'token', 'character'}, default='sentence'
        Unit in which lengths are measured: sentences, tokens (`ragnb.text.tokens`) or characters
        (`ragnb.text.graphemes`). ``'guide'`` allows only ``'sentence'``.
    unknown_keys : {'count', 'drop'}, default='count'
        Whether to count or to drop keys that do not match any sentence of the context. If counted,
        such a key has a length of 1 sentence, 0 tokens or 0 characters.
    when_none_relevant : {'one', 'zero', 'undefined'} or None, default=None
        Value to return if no sentence is relevant: 1, 0 or NaN. None means 1 under ``'ragbench'``.
        Under ``'guide'``, None means 1 if no sentence is utilized either, and 0 otherwise.

    Returns
    -------
    float
        Value in [0, 1]; higher is better. NaN if either list of keys or a required context is None,
        if the context has no sentences, if the relevant sentences have a total length of 0, or if
        no sentence is relevant and `when_none_relevant` is ``'undefined'``.

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
    check_choice(when_none_relevant, (None, *NONE_RELEVANT), "when_none_relevant")
    context = _context(documents_sentences, variant, length, unknown_keys)
    if relevant_keys is None or utilized_keys is None or context is None:
        return math.nan
    relevant, utilized = set(as_keys(relevant_keys)), set(as_keys(utilized_keys))
    lengths_of, _ = context
    lengths = lengths_of(relevant)
    if lengths:
        return _ratio(sum(lengths_of(relevant & utilized)), sum(lengths))
    if when_none_relevant:
        return NONE_RELEVANT[when_none_relevant]
    return float(variant == "ragbench" or not lengths_of(utilized))


@metric(
    "trace.adherence",
    _SUPPORT,
    options={
        "variant": {
            "ragbench": "The benchmark: no sentence of the response is listed as unsupported. "
            "If no such list is given, every sentence must have a supporting key; where the keys are "
            "not given, it must be marked fully_supported.",
            "guide": "The visual guide: every sentence is marked fully_supported. If supporting keys "
            "are given, null means not supported.",
        }
    },
    source=_FRIEL,
    binary=True,
    undefined="If there are no labels, or if it is unknown whether a labelled sentence is supported and "
    "no other sentence is unsupported. The value is 1 if the list of labels is empty.",
)
def adherence(
    support: Support | None, unsupported_keys: Keys | None = None, *, variant: str = "ragbench"
) -> float:
    """Adherence: 1.0 if the context supports every sentence of the response, else 0.0.

    Under ``'ragbench'``, the unsupported sentences are those in `unsupported_keys`. Under
    ``'guide'``, or if `unsupported_keys` is None, the labels in `support` determine which sentences
    are supported; see `ragnb.metrics.trace_labels.supported_sentences`. For the proportion of
    supported sentences, use `supported_fraction`.

    Parameters
    ----------
    support : sequence of mappings or None
        RAGBench's ``sentence_support_information``: one mapping per sentence of the response, with
        the fields ``supporting_sentence_keys`` and ``fully_supported``.
    unsupported_keys : sequence of str or None, default=None
        RAGBench's ``unsupported_response_sentence_keys``, or None if there is no such list. Only
        ``'ragbench'`` uses them.
    variant : {'ragbench', 'guide'}, default='ragbench'
        Definition to use: that of RAGBench, or that of the *Visual Guide* cited in
        `ragnb.metrics.trace`.

    Returns
    -------
    float
        1.0 or 0.0; higher is better. An empty list of labels gives 1.0. NaN if the labels are None,
        or if no sentence is known to be unsupported but the support of at least one is unknown.

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
    values = [value for _, value in supported_sentences(support, unsupported_keys, variant=variant)]
    if False in values:
        return 0.0
    return math.nan if None in values else 1.0


# ---- scores derived from these -----------------------------------------------------------------


@metric(
    "trace.supported_fraction",
    {"response_sentences": "response_sentences", **_SUPPORT},
    options={
        "variant": {
            "ragbench": "Proportion of the response's sentences that are not listed as unsupported. "
            "If no such list is given, a sentence is supported if it has a supporting key; where the "
            "keys are not given, it is supported if it is marked fully_supported. Without "
            "response_sentences, the labelled sentences are those of the response.",
            "guide": "Proportion of the labelled sentences that are marked fully_supported.",
        }
    },
    source="ours: the proportion that is sometimes mistaken for adherence",
    undefined="If there are no labels, if it is unknown whether a labelled sentence is supported, or if "
    "there are no sentences (under guide, no labelled sentences).",
    optional_under={"response_sentences": {}},
)
def supported_fraction(
    response_sentences: Sentences | None,
    support: Support | None,
    unsupported_keys: Keys | None = None,
    *,
    variant: str = "ragbench",
) -> float:
    """Supported fraction: proportion of the response's sentences that the context supports.

    Under ``'ragbench'``, supported_fraction = max(0, 1 - (number of distinct unsupported sentences) /
    (number of sentences in the response)). Sentences without a label count as supported. Under
    ``'guide'``, supported_fraction = (number of supported sentences) / (number of labelled
    sentences). `ragnb.metrics.trace_labels.supported_sentences` describes when a labelled sentence
    is supported.

    Parameters
    ----------
    response_sentences : sequence or None
        Sentences of the response, as ``[key, text]`` pairs. Only ``'ragbench'`` uses them. If they are
        None, the sentences with a label in `support` count as the sentences of the response.
    support, unsupported_keys, variant
        See `adherence`.

    Returns
    -------
    float
        Value in [0, 1]; higher is better. NaN if the labels are None, if the support of a labelled
        sentence is unknown, or if there are no sentences (under ``'guide'``, no labelled sentences).

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
        n = len(supported_sentences(support))
    else:
        return math.nan
    unsupported = {key for key, value in labels if not value}
    return _ratio(max(0, n - len(unsupported)), n)


@metric(
    "trace.average",
    {**_USED, **_SUPPORT},
    options=_FOUR_SCORES,
    source=_GUIDE,
    undefined=_ONE_UNDEFINED,
    beyond=_MORE,
    optional_under=_LABELS_ONLY,
)
def average(
    relevant_keys: Keys | None,
    utilized_keys: Keys | None,
    documents_sentences: Sequence[Sentences] | None,
    support: Support | None,
    unsupported_keys: Keys | None = None,
    *,
    variant: str = "ragbench",
    length: str = "sentence",
    unknown_keys: str = "count",
    when_none_relevant: str | None = None,
) -> float:
    """Mean of relevance, utilization, completeness and adherence.

    Parameters
    ----------
    relevant_keys, utilized_keys, length, unknown_keys, when_none_relevant
        See `completeness`.
    documents_sentences : list or None
        Context: a list of documents, each a list of ``[key, text]`` sentences. It may be None
        with ``variant='guide'`` and ``unknown_keys='count'``.
    support, unsupported_keys, variant
        See `adherence`.

    Returns
    -------
    float
        Value in [0, 1] if the four scores are, which repeated or unknown keys can prevent; higher is
        better. NaN if one of the scores is NaN.

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
    return (
        sum(
            _four(
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
        )
        / 4
    )


@metric(
    "trace.rmse_to_ideal",
    {**_USED, **_SUPPORT},
    options=_FOUR_SCORES,
    source=_DISTANCE,
    higher_is_better=False,
    undefined=_ONE_UNDEFINED,
    beyond=_MORE,
    optional_under=_LABELS_ONLY,
)
def rmse_to_ideal(
    relevant_keys: Keys | None,
    utilized_keys: Keys | None,
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

    rmse_to_ideal = sqrt(mean of (1 - score)^2 over the four scores).

    Parameters
    ----------
    relevant_keys, utilized_keys, length, unknown_keys, when_none_relevant
        See `completeness`.
    documents_sentences : list or None
        Context: a list of documents, each a list of ``[key, text]`` sentences. It may be None
        with ``variant='guide'`` and ``unknown_keys='count'``.
    support, unsupported_keys, variant
        See `adherence`.

    Returns
    -------
    float
        Value in [0, 1] if the four scores are, which repeated or unknown keys can prevent; lower is
        better. NaN if one of the scores is NaN.

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
    return distance_from_ideal(
        *_four(
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
    )


@metric(
    "trace.consistency",
    {**_USED, **_SUPPORT},
    options=_FOUR_SCORES,
    source=_DISTANCE,
    undefined=_ONE_UNDEFINED,
    beyond=_MORE.replace("more", "less"),
    optional_under=_LABELS_ONLY,
)
def consistency(
    relevant_keys: Keys | None,
    utilized_keys: Keys | None,
    documents_sentences: Sequence[Sentences] | None,
    support: Support | None,
    unsupported_keys: Keys | None = None,
    *,
    variant: str = "ragbench",
    length: str = "sentence",
    unknown_keys: str = "count",
    when_none_relevant: str | None = None,
) -> float:
    """Consistency: 1 minus the root mean square distance of the four TRACe scores from 1.

    consistency = 1 - rmse_to_ideal. The four scores are relevance, utilization, completeness and
    adherence.

    Parameters
    ----------
    relevant_keys, utilized_keys, length, unknown_keys, when_none_relevant
        See `completeness`.
    documents_sentences : list or None
        Context: a list of documents, each a list of ``[key, text]`` sentences. It may be None
        with ``variant='guide'`` and ``unknown_keys='count'``.
    support, unsupported_keys, variant
        See `adherence`.

    Returns
    -------
    float
        Value in [0, 1] if the four scores are, which repeated or unknown keys can prevent; higher is
        better. NaN if one of the scores is NaN.

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


def _four(
    relevant_keys: Keys | None,
    utilized_keys: Keys | None,
    documents_sentences: Sequence[Sentences] | None,
    support: Support | None,
    unsupported_keys: Keys | None,
    *,
    variant: str,
    when_none_relevant: str | None,
    **counted: str,
) -> tuple[float, float, float, float]:
    """Compute relevance, utilization, completeness and adherence."""
    options: dict[str, Any] = {"variant": variant, **counted}
    used = relevant_keys, utilized_keys, documents_sentences
    return (
        relevance(relevant_keys, documents_sentences, **options),
        utilization(*used, **options),
        completeness(*used, when_none_relevant=when_none_relevant, **options),
        adherence(support, unsupported_keys, variant=variant),
    )


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

    Examples
    --------
    >>> round(distance_from_ideal(0.2, 0.75, 0.75, 0.0), 3)
    0.664
    """
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


def trace_scores(
    record: Mapping[str, Any],
    *,
    variant: str = "ragbench",
    length: str = "sentence",
    unknown_keys: str = "count",
    when_none_relevant: str | None = None,
) -> TraceScores:
    """Compute all TRACe scores for one labelled response, and list problems in its labels.

    Parameters
    ----------
    record : mapping
        A record, or a row of a DataFrame, with RAGBench's fields ``documents_sentences``,
        ``response_sentences``, ``all_relevant_sentence_keys``, ``all_utilized_sentence_keys``,
        ``sentence_support_information`` and, optionally, ``unsupported_response_sentence_keys`` and
        ``overall_supported``. A score is NaN if a field that it requires is missing.
    variant : {'ragbench', 'guide'}, default='ragbench'
        Definition to use: that of RAGBench, or that of the *Visual Guide* cited in
        `ragnb.metrics.trace`.
    length, unknown_keys, when_none_relevant
        See `completeness`.

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
    has_length = length == "sentence" or unknown_keys == "drop"
    unknown = UNKNOWN_KEYS[unknown_keys] if has_length else "length 0"
    issues = label_issues(record, variant=variant, unknown=unknown)
    return TraceScores(*four, fraction, sum(four) / 4, distance, 1 - distance, issues)


# ---- lengths -----------------------------------------------------------------------------------


def _context(
    documents_sentences: Sequence[Sentences] | None, variant: str, length: str, unknown_keys: str
) -> tuple[Callable[[Iterable[str]], list[int]], int] | None:
    """Measure the sentences of the context.

    Returns a function that maps keys to their lengths and leaves out dropped keys, and the total
    length of the context. Returns None if the context is required and missing, or if it has no
    sentences.
    """
    check_choice(variant, VARIANTS, "variant")
    check_choice(length, tuple(LENGTHS), "length")
    check_choice(unknown_keys, tuple(UNKNOWN_KEYS), "unknown_keys")
    if variant == "guide" and length != "sentence":
        raise InputError(
            f"length must be 'sentence' with variant 'guide', which counts sentences, got {length!r}"
        )
    sizes = [
        (key, LENGTHS[length](text)) for key, text in sentence_pairs(documents_sentences or ())
    ]
    labels_suffice = variant == "guide" and unknown_keys == "count"
    if not sizes and not (documents_sentences is None and labels_suffice):
        return None
    lengths = dict(sizes)
    unknown = int(length == "sentence")

    def lengths_of(keys: Iterable[str]) -> list[int]:
        counted = [key for key in keys if key in lengths or unknown_keys == "count"]
        return [lengths.get(key, unknown) for key in counted]

    return lengths_of, sum(size for _, size in sizes)


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else math.nan
