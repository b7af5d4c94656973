"""Retrieval metrics: evaluation of a ranked list of passages against relevance judgements.

The values are those of trec_eval, computed by `ir_measures` with pytrec_eval, except where the
conventions below differ. The metrics read two columns of the responses: ``retrieved``, the ids of
the retrieved passages in the order of their ranks, and ``relevant``, a list of the ids of the
relevant passages or a mapping from ids to grades. Each metric gives one value per question. The
mean of the average precision over questions is known as MAP, and that of the reciprocal rank as
MRR.

Tools differ in the following conventions.

- *Cutoff.* With ``k``, only the first k passages count; by default, all count.
  ``'retrieval.recall@5'`` is a short form of ``'retrieval.recall'`` with ``k=5``.
- *Grades.* A passage is relevant if its grade is at least ``min_grade``. Only nDCG uses the grades
  themselves.
- *Nothing relevant.* If no passage is relevant to a question, the value is NaN. With
  ``when_none_relevant='zero'`` it is 0, as in trec_eval.
- *Nothing retrieved.* An empty list gives 0, as with ``trec_eval -c``. A missing list (None) gives
  NaN. Without ``-c``, trec_eval leaves out such questions, which raises the mean.
- *Unjudged passages.* A passage without a grade or with a negative grade counts as not relevant.
  With ``unjudged='removed'``, such passages are removed from the list before the metric is
  computed, as with ``trec_eval -J``.
- *Ties.* A ranked list has no ties. trec_eval orders passages with equal scores by id, in
  descending order.

All functions raise InputError for an unknown option, an id that is retrieved twice, and a grade
that is not a whole number.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from ragnb.errors import InputError, check_choice
from ragnb.metrics.record import metric

Retrieved = Sequence[str | int]
Relevant = Iterable[str | int] | Mapping[str | int, int]


_SOURCE = "trec_eval 9, github.com/usnistgov/trec_eval, through ir_measures (MacAvaney et al. 2022)"
_UNDEFINED = (
    "If no passage is relevant to the question, unless when_none_relevant is zero. An empty list of "
    "retrieved passages scores 0."
)
_K: dict[str, Mapping[Any, str]] = {
    "k": {None: "The whole list counts.", ...: "Only the first k passages count."}
}
_K_OF_PRECISION: dict[str, Mapping[Any, str]] = {
    "k": {
        None: "The whole list counts.",
        ...: "Only the first k passages count, and the value is divided by k even if the list is shorter.",
    }
}
_MIN_GRADE: dict[str, Mapping[Any, str]] = {
    "min_grade": {
        1: "A passage is relevant if its grade is at least 1.",
        ...: "A passage is relevant if its grade is at least this number (trec_eval -l).",
    }
}
_EDGES: dict[str, Mapping[Any, str]] = {
    "unjudged": {
        "nonrelevant": "A passage without a grade counts as not relevant.",
        "removed": "Passages without a grade are removed from the list first (trec_eval -J).",
    },
    "when_none_relevant": {
        "undefined": "The value is undefined if no passage is relevant to the question.",
        "zero": "The value is 0 if no passage is relevant to the question, as in trec_eval.",
    },
}

_GAIN: dict[str, Mapping[Any, str]] = {
    "gain": {
        "linear": "The gain of a passage is its grade, as in trec_eval.",
        "exponential": "The gain of a passage is 2^grade - 1, as in many papers on learning to rank.",
    }
}

Declared = TypeVar("Declared", bound=Callable[..., float])


def _declared(
    name: str, options: Mapping[str, Mapping[Any, str]], *, binary: bool = False
) -> Callable[[Declared], Declared]:
    """Declare a metric of this module; see `ragnb.metrics.record.metric`."""
    return metric(
        f"retrieval.{name}",
        {"retrieved": "retrieved", "relevant": "relevant"},
        source=_SOURCE,
        options={**options, **_EDGES},
        binary=binary,
        undefined=_UNDEFINED,
        reason=lambda **_: "no relevant passage",
        of_many=partial(_values, name),
    )


# ---- all questions at once ---------------------------------------------------------------------


def _values(
    name: str,
    calls: Sequence[Mapping[str, Any]],
    *,
    k: int | None = None,
    min_grade: int = 1,
    gain: str = "linear",
    unjudged: str = "nonrelevant",
    when_none_relevant: str = "undefined",
) -> list[float]:
    """Compute a metric for many questions in one call of ir_measures."""
    import ir_measures

    check_choice(gain, tuple(_GAIN["gain"]), "gain")
    check_choice(unjudged, tuple(_EDGES["unjudged"]), "unjudged")
    check_choice(when_none_relevant, tuple(_EDGES["when_none_relevant"]), "when_none_relevant")
    if k is not None and not (isinstance(k, int) and k >= 1):
        raise InputError(f"k must be a whole number of at least 1, or None, got {k!r}")
    if not (isinstance(min_grade, int) and min_grade >= 1):
        raise InputError(f"min_grade must be a whole number of at least 1, got {min_grade!r}")
    values, judged, runs = [math.nan] * len(calls), {}, {}
    for place, call in enumerate(calls):
        if call["retrieved"] is None or call["relevant"] is None:
            continue
        grades = _grades(call["relevant"])
        ids = _ids(call["retrieved"])
        if unjudged == "removed":
            if not isinstance(call["relevant"], Mapping):
                raise InputError(
                    "unjudged='removed' needs a mapping from ids to grades in relevant, with 0 for "
                    "passages that were judged as not relevant, got a list of relevant passages"
                )
            ids = [passage for passage in ids if grades.get(passage, -1) >= 0]
        if max(grades.values(), default=0) < min_grade:
            values[place] = 0.0 if when_none_relevant == "zero" else math.nan
            continue
        if gain == "exponential":
            grades = {passage: 2 ** max(grade, 0) - 1 for passage, grade in grades.items()}
        judged[str(place)] = grades
        runs[str(place)] = {passage: -float(rank) for rank, passage in enumerate(ids[:k])}
    measures = {
        "recall": f"SetR(rel={min_grade})",
        "precision": f"P(rel={min_grade})@{k}" if k else f"SetP(rel={min_grade})",
        "ndcg": f"nDCG@{k}" if k else "nDCG",
        "average_precision": f"AP(rel={min_grade})",
        "reciprocal_rank": f"RR(rel={min_grade})",
        "success": f"Success(rel={min_grade})@1000000",
        "r_precision": f"Rprec(rel={min_grade})",
    }
    measure = ir_measures.parse_measure(measures[name])
    for found in ir_measures.iter_calc([measure], judged, runs):
        values[int(found.query_id)] = found.value
    return values


def _one(
    name: str, retrieved: Retrieved | None, relevant: Relevant | None, **options: Any
) -> float:
    """Compute a measure of one ranked list with ir_measures."""
    return _values(name, [{"retrieved": retrieved, "relevant": relevant}], **options)[0]


def _ids(retrieved: Any) -> list[str]:
    """Return the retrieved ids as strings."""
    if isinstance(retrieved, str | Mapping):
        raise InputError(f"retrieved must be a list of ids, best first, got {retrieved!r:.80}")
    ids = list(map(str, retrieved))
    if len(set(ids)) < len(ids):
        twice = next(passage for passage in ids if ids.count(passage) > 1)
        raise InputError(f"retrieved must contain each id once, got {twice!r} more than once")
    return ids


def _grades(relevant: Any) -> dict[str, int]:
    """Return the grade of each judged passage. The passages of a list have grade 1."""
    if isinstance(relevant, str):
        raise InputError(
            f"relevant must be a list of ids, or a mapping from ids to grades, got {relevant!r:.80}"
        )
    if not isinstance(relevant, Mapping):
        return dict.fromkeys(map(str, relevant), 1)
    if set(map(type, relevant)) == {str} and set(map(type, relevant.values())) == {int}:
        return dict(relevant)
    # Parquet gives every mapping the keys of all mappings, and makes floats of the grades.
    given = {str(passage): grade for passage, grade in relevant.items() if grade is not None}
    grades = {passage: int(grade) for passage, grade in given.items() if grade == grade}
    for passage, grade in grades.items():
        if grade != given[passage]:
            raise InputError(
                f"a grade must be a whole number, got {given[passage]!r} for {passage!r}"
            )
    return grades


# ---- the metrics -------------------------------------------------------------------------------


@_declared("recall", _K | _MIN_GRADE)
def recall(
    retrieved: Retrieved | None,
    relevant: Relevant | None,
    *,
    k: int | None = None,
    min_grade: int = 1,
    unjudged: str = "nonrelevant",
    when_none_relevant: str = "undefined",
) -> float:
    """Recall: proportion of the relevant passages that were retrieved.

    recall@k = (number of relevant passages among the first k) / (number of relevant passages).

    Parameters
    ----------
    retrieved : list of str or int, or None
        Ids of the retrieved passages, best first. Duplicate ids raise InputError.
    relevant : list, mapping or None
        Ids of the relevant passages, or a mapping from the ids of the judged passages to their
        grades. In a list, all passages have grade 1.
    k : int or None, default=None
        Rank cutoff: only the first k passages count. If None, all retrieved passages count.
    min_grade : int, default=1
        A passage is relevant if its grade is at least this number, which must be 1 or higher.
    unjudged : {'nonrelevant', 'removed'}, default='nonrelevant'
        Whether retrieved passages without a grade count as not relevant, or are removed before the
        cutoff is applied. With ``'removed'``, `relevant` must be a mapping from ids to grades. A
        passage with a negative grade counts as unjudged, as in trec_eval.
    when_none_relevant : {'undefined', 'zero'}, default='undefined'
        Value to return if no passage is relevant: NaN or 0.

    Returns
    -------
    float
        Value in [0, 1]; higher is better. An empty list of retrieved passages gives 0. NaN if no
        passage is relevant (see `when_none_relevant`), or if `retrieved` or `relevant` is None.

    Notes
    -----
    Source: ``recall_k`` and ``set_recall`` of trec_eval.

    Examples
    --------
    >>> recall(["p3", "p1", "p7"], ["p1", "p2"]), recall(["p3", "p1", "p7"], ["p1", "p2"], k=1)
    (0.5, 0.0)
    """
    return _one(
        "recall",
        retrieved,
        relevant,
        k=k,
        min_grade=min_grade,
        unjudged=unjudged,
        when_none_relevant=when_none_relevant,
    )


@_declared("precision", _K_OF_PRECISION | _MIN_GRADE)
def precision(
    retrieved: Retrieved | None,
    relevant: Relevant | None,
    *,
    k: int | None = None,
    min_grade: int = 1,
    unjudged: str = "nonrelevant",
    when_none_relevant: str = "undefined",
) -> float:
    """Precision: proportion of the retrieved passages that are relevant.

    precision@k = (number of relevant passages among the first k) / k, even if fewer than k passages
    were retrieved. Without `k`, the denominator is the number of retrieved passages.

    Parameters
    ----------
    retrieved, relevant, k, min_grade, unjudged, when_none_relevant
        See `recall`.

    Returns
    -------
    float
        Value in [0, 1]; higher is better. An empty list of retrieved passages gives 0. NaN if no
        passage is relevant (see `when_none_relevant`), or if `retrieved` or `relevant` is None.

    Notes
    -----
    Source: ``P_k`` and ``set_P`` of trec_eval.

    Examples
    --------
    >>> precision(["p3", "p1"], ["p1", "p2"]), precision(["p3", "p1"], ["p1", "p2"], k=4)
    (0.5, 0.25)
    """
    return _one(
        "precision",
        retrieved,
        relevant,
        k=k,
        min_grade=min_grade,
        unjudged=unjudged,
        when_none_relevant=when_none_relevant,
    )


@_declared("ndcg", _K | _GAIN)
def ndcg(
    retrieved: Retrieved | None,
    relevant: Relevant | None,
    *,
    k: int | None = None,
    gain: str = "linear",
    unjudged: str = "nonrelevant",
    when_none_relevant: str = "undefined",
) -> float:
    """Normalised discounted cumulative gain (nDCG) of the ranked list.

    nDCG@k = DCG@k / IDCG@k. DCG@k = sum of gain(i) / log2(i + 1) over the ranks i from 1 to k,
    where gain(i) is the gain of the passage at rank i. IDCG@k = DCG@k of the ideal ranking, which
    lists all judged passages in descending order of grade. Without `k`, both sums include all
    ranks.

    Parameters
    ----------
    retrieved, relevant, k, unjudged, when_none_relevant
        See `recall`.
    gain : {'linear', 'exponential'}, default='linear'
        Gain of a passage: its grade (linear) or 2^grade - 1 (exponential). The two gains are equal
        if all grades are 0 or 1.

    Returns
    -------
    float
        Value in [0, 1]; higher is better. An empty list of retrieved passages gives 0. NaN if no
        passage has a grade of at least 1 (see `when_none_relevant`), or if `retrieved` or
        `relevant` is None.

    Notes
    -----
    Source: ``ndcg`` and ``ndcg_cut_k`` of trec_eval. Järvelin and Kekäläinen (2002) introduced the
    measure with a different discount. The exponential gain is from Burges et al. (2005).

    Examples
    --------
    >>> round(ndcg(["p3", "p1"], {"p1": 2, "p3": 1}), 4)
    0.8597
    >>> round(ndcg(["p3", "p1"], {"p1": 2, "p3": 1}, gain="exponential"), 4)
    0.7967
    """
    return _one(
        "ndcg",
        retrieved,
        relevant,
        k=k,
        gain=gain,
        unjudged=unjudged,
        when_none_relevant=when_none_relevant,
    )


@_declared("average_precision", _K | _MIN_GRADE)
def average_precision(
    retrieved: Retrieved | None,
    relevant: Relevant | None,
    *,
    k: int | None = None,
    min_grade: int = 1,
    unjudged: str = "nonrelevant",
    when_none_relevant: str = "undefined",
) -> float:
    """Average precision (AP): mean precision at the ranks of the relevant passages.

    AP@k = (sum of precision@i over the ranks i <= k at which a relevant passage occurs) / (number
    of relevant passages). A relevant passage that was not retrieved thus contributes 0. The mean
    over questions is the mean average precision (MAP).

    Parameters
    ----------
    retrieved, relevant, k, min_grade, unjudged, when_none_relevant
        See `recall`.

    Returns
    -------
    float
        Value in [0, 1]; higher is better. An empty list of retrieved passages gives 0. NaN if no
        passage is relevant (see `when_none_relevant`), or if `retrieved` or `relevant` is None.

    Notes
    -----
    Source: ``map`` and ``map_cut_k`` of trec_eval.

    Examples
    --------
    >>> average_precision(["p1", "p3", "p2"], ["p1", "p2"])  # (1/1 + 2/3) / 2
    0.8333333333333333
    """
    return _one(
        "average_precision",
        retrieved,
        relevant,
        k=k,
        min_grade=min_grade,
        unjudged=unjudged,
        when_none_relevant=when_none_relevant,
    )


@_declared("reciprocal_rank", _K | _MIN_GRADE)
def reciprocal_rank(
    retrieved: Retrieved | None,
    relevant: Relevant | None,
    *,
    k: int | None = None,
    min_grade: int = 1,
    unjudged: str = "nonrelevant",
    when_none_relevant: str = "undefined",
) -> float:
    """Reciprocal rank (RR) of the first relevant passage; the mean over questions is MRR.

    RR = 1 / (rank of the first relevant passage), or 0 if no relevant passage was retrieved. With
    `k`, only the first k passages count.

    Parameters
    ----------
    retrieved, relevant, k, min_grade, unjudged, when_none_relevant
        See `recall`.

    Returns
    -------
    float
        Value in [0, 1]; higher is better. An empty list of retrieved passages gives 0. NaN if no
        passage is relevant (see `when_none_relevant`), or if `retrieved` or `relevant` is None.

    Notes
    -----
    Source: ``recip_rank`` of trec_eval, with ``-M k`` for the cutoff.

    Examples
    --------
    >>> reciprocal_rank(["p3", "p1"], ["p1"]), reciprocal_rank(["p3", "p1"], ["p1"], k=1)
    (0.5, 0.0)
    """
    return _one(
        "reciprocal_rank",
        retrieved,
        relevant,
        k=k,
        min_grade=min_grade,
        unjudged=unjudged,
        when_none_relevant=when_none_relevant,
    )


@_declared("success", _K | _MIN_GRADE, binary=True)
def success(
    retrieved: Retrieved | None,
    relevant: Relevant | None,
    *,
    k: int | None = None,
    min_grade: int = 1,
    unjudged: str = "nonrelevant",
    when_none_relevant: str = "undefined",
) -> float:
    """Success (hit rate): 1.0 if at least one relevant passage was retrieved, else 0.0.

    With `k`, only the first k passages count.

    Parameters
    ----------
    retrieved, relevant, k, min_grade, unjudged, when_none_relevant
        See `recall`.

    Returns
    -------
    float
        1.0 or 0.0; higher is better. An empty list of retrieved passages gives 0. NaN if no passage
        is relevant (see `when_none_relevant`), or if `retrieved` or `relevant` is None.

    Notes
    -----
    Source: ``success_k`` of trec_eval.

    Examples
    --------
    >>> success(["p3", "p1"], ["p1", "p2"]), success(["p3", "p1"], ["p1", "p2"], k=1)
    (1.0, 0.0)
    """
    return _one(
        "success",
        retrieved,
        relevant,
        k=k,
        min_grade=min_grade,
        unjudged=unjudged,
        when_none_relevant=when_none_relevant,
    )


@_declared("r_precision", _MIN_GRADE)
def r_precision(
    retrieved: Retrieved | None,
    relevant: Relevant | None,
    *,
    min_grade: int = 1,
    unjudged: str = "nonrelevant",
    when_none_relevant: str = "undefined",
) -> float:
    """R-precision: precision at rank R, where R is the number of relevant passages.

    R-precision = (number of relevant passages among the first R) / R, even if fewer than R passages
    were retrieved.

    Parameters
    ----------
    retrieved, relevant, min_grade, when_none_relevant
        See `recall`.
    unjudged : {'nonrelevant', 'removed'}, default='nonrelevant'
        Whether retrieved passages without a grade count as not relevant, or are removed from the
        list. ``'removed'`` requires a mapping to grades in `relevant`. A passage with a negative
        grade counts as unjudged, as in trec_eval.

    Returns
    -------
    float
        Value in [0, 1]; higher is better. An empty list of retrieved passages gives 0. NaN if no
        passage is relevant (see `when_none_relevant`), or if `retrieved` or `relevant` is None.

    Notes
    -----
    Source: ``Rprec`` of trec_eval.

    Examples
    --------
    >>> r_precision(["p3", "p1", "p2"], ["p1", "p2"])
    0.5
    """
    return _one(
        "r_precision",
        retrieved,
        relevant,
        min_grade=min_grade,
        unjudged=unjudged,
        when_none_relevant=when_none_relevant,
    )
