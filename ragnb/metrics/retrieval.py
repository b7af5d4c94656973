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

The metrics pass all of their arguments on with ``**locals()``. As this is their only statement, the
local variables are then exactly the parameters.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from ragnb.cells import is_missing
from ragnb.errors import InputError
from ragnb.metrics.declaration import Column, Function, Option
from ragnb.metrics.record import Calls, metric

Ids = Sequence[str | int]
Judgements = Iterable[str | int] | Mapping[str | int, int]

# ---- arguments of the metrics ------------------------------------------------------------------


class Retrieved(Column):
    """Ids of the retrieved passages, best first. Duplicate ids raise InputError."""

    column = "retrieved"
    type_name = "list of str or int, or None"


class Relevant(Column):
    """Ids of the relevant passages, or a mapping from the ids of the judged passages to their grades.

    In a list, all passages have grade 1.
    """

    column = "relevant"
    type_name = "list, mapping or None"


class Cutoff(Option):
    """Rank cutoff. It is applied after passages without a grade were removed."""

    values = {None: "The whole list counts.", ...: "Only the first k passages count."}
    must_be = "a whole number of at least 1, or None"

    @classmethod
    def allows(cls, value: Any) -> bool:
        """Whether the value is None or a rank."""
        return value is None or (isinstance(value, int) and value >= 1)


class CutoffOfPrecision(Cutoff):
    """Rank cutoff. It is applied after passages without a grade were removed."""

    values = {
        None: "The whole list counts.",
        ...: "Only the first k passages count, and the value is divided by k even if the list is "
        "shorter.",
    }


class MinGrade(Option):
    """Grade from which a passage is relevant."""

    values = {
        1: "A passage is relevant if its grade is at least 1.",
        ...: "A passage is relevant if its grade is at least this number (trec_eval -l).",
    }
    must_be = "a whole number of at least 1"

    @classmethod
    def allows(cls, value: Any) -> bool:
        """Whether the value is a positive grade."""
        return isinstance(value, int) and value >= 1


class Gain(Option):
    """Gain of a passage. The two gains are equal if all grades are 0 or 1."""

    values = {
        "linear": "The gain of a passage is its grade, as in trec_eval.",
        "exponential": "The gain of a passage is 2^grade - 1, as in many papers on learning to rank.",
    }


class Unjudged(Option):
    """Treatment of retrieved passages without a grade.

    To remove them, the relevant passages must be a mapping from ids to grades. A passage with a
    negative grade counts as unjudged, as in trec_eval.
    """

    values = {
        "nonrelevant": "A passage without a grade counts as not relevant.",
        "removed": "Passages without a grade are removed from the list first (trec_eval -J).",
    }


class WhenNoneRelevant(Option):
    """Value to return if no passage is relevant: NaN or 0."""

    values = {
        "undefined": "The value is undefined if no passage is relevant to the question.",
        "zero": "The value is 0 if no passage is relevant to the question, as in trec_eval.",
    }


def _declared(name: str, *, binary: bool = False) -> Callable[[Function], Function]:
    """Declare a metric of this module; see `ragnb.metrics.record.metric`."""
    return metric(
        f"retrieval.{name}",
        source="trec_eval 9, github.com/usnistgov/trec_eval, through ir_measures (MacAvaney et al. 2022)",
        binary=binary,
        undefined="If no passage is relevant to the question, unless when_none_relevant is zero. An "
        "empty list of retrieved passages scores 0.",
        reason=lambda **_: "no relevant passage",
        of_many=partial(_values, name),
    )


# ---- all questions at once ---------------------------------------------------------------------

# Options on which the ranked lists and the grades depend that ir_measures gets, with their defaults.
_LISTS = {"k": None, "min_grade": 1, "gain": "linear", "unjudged": "nonrelevant"}
# Name of each metric -> its name in ir_measures, for which `_measure` fills in k and the smallest grade.
_MEASURES = {
    "recall": "SetR(rel={min_grade})",
    "precision": "P(rel={min_grade})@{k}",
    "ndcg": "nDCG@{k}",
    "average_precision": "AP(rel={min_grade})",
    "reciprocal_rank": "RR(rel={min_grade})",
    "success": "Success(rel={min_grade})@1000000",
    "r_precision": "Rprec(rel={min_grade})",
}
# The same without k.
_MEASURES_OF_WHOLE_LISTS = {"precision": "SetP(rel={min_grade})", "ndcg": "nDCG"}


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
    """Compute a metric for many questions in one call of ir_measures, which takes less time.

    The options are those of the metrics of this module.
    """
    if not isinstance(calls, Calls):
        calls = Calls(calls)
    # All metrics of one call of `score` that read the same ranked lists are computed together.
    key = (k, min_grade, gain, unjudged)
    if key not in calls.shared:
        names = {name}
        for full_name, options in calls.requested:
            family, _, other = full_name.partition(".")
            # R-precision has no cutoff, for example, and nDCG has no smallest grade.
            key_of_other = tuple(options.get(option, _LISTS[option]) for option in _LISTS)
            if family == "retrieval" and other in _MEASURES and key_of_other == key:
                names.add(other)
        calls.shared[key] = _computed(sorted(names), calls, *key)
    values_by_name, without_relevant = calls.shared[key]
    values = list(values_by_name[name])
    if when_none_relevant == "zero":
        for place in without_relevant:
            values[place] = 0.0
    return values


def _computed(
    names: Sequence[str],
    calls: Calls,
    k: int | None,
    min_grade: int,
    gain: str,
    unjudged: str,
) -> tuple[dict[str, list[float]], list[int]]:
    """The values of metrics that read the same lists, and the places of questions without a relevant passage.

    The value is NaN for these questions, and for those that ir_measures gives no result for.
    """
    import ir_measures

    qrels, runs, without_relevant = _judged_runs(calls, k, min_grade, gain, unjudged)
    values_by_name = {name: [math.nan] * len(calls) for name in names}
    values_by_measure = {}
    for name in names:
        measure = ir_measures.parse_measure(_measure(name, k, min_grade))
        values_by_measure[measure] = values_by_name[name]
    for result in ir_measures.iter_calc([*values_by_measure], qrels, runs):
        values_by_measure[result.measure][int(result.query_id)] = result.value
    return values_by_name, without_relevant


def _judged_runs(
    calls: Calls,
    k: int | None,
    min_grade: int,
    gain: str,
    unjudged: str,
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]], list[int]]:
    """The judgements and the ranked lists as ir_measures takes them, for questions with relevant passages.

    These are mappings from the question to the grade and to the score of each passage. The third result
    are the places of the questions without a relevant passage. ``calls.shared`` contains the ids and grades, if
    they have been read for another cutoff.
    """
    if "read" not in calls.shared:
        calls.shared["read"] = [_grades_and_ids(call) for call in calls]
    qrels: dict[str, dict[str, int]] = {}
    runs: dict[str, dict[str, float]] = {}
    without_relevant = []
    # The measures sort the passages by decreasing score, so the negative rank keeps their order.
    longest = max((len(read[1]) for read in calls.shared["read"] if read), default=0)
    scores = [-float(rank) for rank in range(longest)]
    for place, (call, read) in enumerate(zip(calls, calls.shared["read"], strict=True)):
        if read is None:
            continue
        grades, ids = read
        if unjudged == "removed":
            ids = _judged_ids(ids, call["relevant"], grades)
        is_none_relevant = max(grades.values(), default=0) < min_grade
        if is_none_relevant:
            without_relevant.append(place)
            continue
        if gain == "exponential":
            # A negative grade is that of an unjudged passage, which has no gain.
            grades = {passage: 2 ** max(grade, 0) - 1 for passage, grade in grades.items()}
        qrels[str(place)] = grades
        runs[str(place)] = dict(zip(ids[:k], scores, strict=False))
    return qrels, runs, without_relevant


def _grades_and_ids(call: Mapping[str, Any]) -> tuple[dict[str, int], list[str]] | None:
    """The grades and the retrieved ids of a question; None if one of the two lists is missing."""
    if call["retrieved"] is None or call["relevant"] is None:
        return None
    return _grades(call["relevant"]), _ids(call["retrieved"])


def _measure(name: str, k: int | None, min_grade: int) -> str:
    """The name that ir_measures has for a metric.

    The list is already cut off at rank k. Only for precision and nDCG does k also change the
    denominator. "Success" requires a cutoff, and no list is longer than the one given here.
    """
    measures = _MEASURES if k else {**_MEASURES, **_MEASURES_OF_WHOLE_LISTS}
    return measures[name].format(k=k, min_grade=min_grade)


def _judged_ids(ids: list[str], relevant: Any, grades: Mapping[str, int]) -> list[str]:
    """The ids of the retrieved passages that have a grade.

    `grades` are those that `_grades` read from `relevant`. Only `relevant` itself shows whether the user passed
    a list: its passages have the grade 1, and nobody knows which others were judged as not relevant.
    """
    if not isinstance(relevant, Mapping):
        raise InputError(
            "unjudged='removed' needs a mapping from ids to grades in relevant, with 0 for "
            "passages that were judged as not relevant, got a list of relevant passages"
        )
    # A negative grade says that a passage was not judged, as in trec_eval.
    return [passage for passage in ids if passage in grades and grades[passage] >= 0]


def _one(name: str, retrieved: Ids | None, relevant: Judgements | None, **options: Any) -> float:
    """Compute a metric for one question."""
    return _values(name, [{"retrieved": retrieved, "relevant": relevant}], **options)[0]


def _ids(retrieved: Any) -> list[str]:
    """Return the retrieved ids as strings; InputError if an id occurs twice."""
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
    # Most mappings need no conversion.
    if set(map(type, relevant)) == {str} and set(map(type, relevant.values())) == {int}:
        return dict(relevant)
    # In Parquet, every mapping of a column has the keys of all mappings, with None for those that it
    # lacks, and the grades are then floats.
    grades = {}
    for passage, grade in relevant.items():
        if is_missing(grade):
            continue
        if int(grade) != grade:
            raise InputError(f"a grade must be a whole number, got {grade!r} for {str(passage)!r}")
        grades[str(passage)] = int(grade)
    return grades


# ---- the metrics -------------------------------------------------------------------------------


@_declared("recall")
def recall(
    retrieved: Annotated[Ids | None, Retrieved],
    relevant: Annotated[Judgements | None, Relevant],
    *,
    k: Annotated[int | None, Cutoff] = None,
    min_grade: Annotated[int, MinGrade] = 1,
    unjudged: Annotated[str, Unjudged] = "nonrelevant",
    when_none_relevant: Annotated[str, WhenNoneRelevant] = "undefined",
) -> float:
    """Recall: proportion of the relevant passages that were retrieved.

    recall@k = (number of relevant passages among the first k) / (number of relevant passages).

    Notes
    -----
    Source: ``recall_k`` and ``set_recall`` of trec_eval.

    Examples
    --------
    >>> recall(["p3", "p1", "p7"], ["p1", "p2"]), recall(["p3", "p1", "p7"], ["p1", "p2"], k=1)
    (0.5, 0.0)
    """
    return _one("recall", **locals())


@_declared("precision")
def precision(
    retrieved: Annotated[Ids | None, Retrieved],
    relevant: Annotated[Judgements | None, Relevant],
    *,
    k: Annotated[int | None, CutoffOfPrecision] = None,
    min_grade: Annotated[int, MinGrade] = 1,
    unjudged: Annotated[str, Unjudged] = "nonrelevant",
    when_none_relevant: Annotated[str, WhenNoneRelevant] = "undefined",
) -> float:
    """Precision: proportion of the retrieved passages that are relevant.

    precision@k = (number of relevant passages among the first k) / k, even if fewer than k passages
    were retrieved. Without `k`, the denominator is the number of retrieved passages.

    Notes
    -----
    Source: ``P_k`` and ``set_P`` of trec_eval.

    Examples
    --------
    >>> precision(["p3", "p1"], ["p1", "p2"]), precision(["p3", "p1"], ["p1", "p2"], k=4)
    (0.5, 0.25)
    """
    return _one("precision", **locals())


@_declared("ndcg")
def ndcg(
    retrieved: Annotated[Ids | None, Retrieved],
    relevant: Annotated[Judgements | None, Relevant],
    *,
    k: Annotated[int | None, Cutoff] = None,
    gain: Annotated[str, Gain] = "linear",
    unjudged: Annotated[str, Unjudged] = "nonrelevant",
    when_none_relevant: Annotated[str, WhenNoneRelevant] = "undefined",
) -> float:
    """Normalised discounted cumulative gain (nDCG) of the ranked list.

    nDCG@k = DCG@k / IDCG@k. DCG@k = sum of gain(i) / log2(i + 1) over the ranks i from 1 to k,
    where gain(i) is the gain of the passage at rank i. IDCG@k = DCG@k of the ideal ranking, which
    lists all judged passages in descending order of grade. Without `k`, both sums include all
    ranks.

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
    return _one("ndcg", **locals())


@_declared("average_precision")
def average_precision(
    retrieved: Annotated[Ids | None, Retrieved],
    relevant: Annotated[Judgements | None, Relevant],
    *,
    k: Annotated[int | None, Cutoff] = None,
    min_grade: Annotated[int, MinGrade] = 1,
    unjudged: Annotated[str, Unjudged] = "nonrelevant",
    when_none_relevant: Annotated[str, WhenNoneRelevant] = "undefined",
) -> float:
    """Average precision (AP): mean precision at the ranks of the relevant passages.

    AP@k = (sum of precision@i over the ranks i <= k at which a relevant passage occurs) / (number
    of relevant passages). A relevant passage that was not retrieved thus contributes 0. The mean
    over questions is the mean average precision (MAP).

    Notes
    -----
    Source: ``map`` and ``map_cut_k`` of trec_eval.

    Examples
    --------
    >>> average_precision(["p1", "p3", "p2"], ["p1", "p2"])  # (1/1 + 2/3) / 2
    0.8333333333333333
    """
    return _one("average_precision", **locals())


@_declared("reciprocal_rank")
def reciprocal_rank(
    retrieved: Annotated[Ids | None, Retrieved],
    relevant: Annotated[Judgements | None, Relevant],
    *,
    k: Annotated[int | None, Cutoff] = None,
    min_grade: Annotated[int, MinGrade] = 1,
    unjudged: Annotated[str, Unjudged] = "nonrelevant",
    when_none_relevant: Annotated[str, WhenNoneRelevant] = "undefined",
) -> float:
    """Reciprocal rank (RR) of the first relevant passage; the mean over questions is MRR.

    RR = 1 / (rank of the first relevant passage), or 0 if no relevant passage was retrieved. With
    `k`, only the first k passages count.

    Notes
    -----
    Source: ``recip_rank`` of trec_eval, with ``-M k`` for the cutoff.

    Examples
    --------
    >>> reciprocal_rank(["p3", "p1"], ["p1"]), reciprocal_rank(["p3", "p1"], ["p1"], k=1)
    (0.5, 0.0)
    """
    return _one("reciprocal_rank", **locals())


@_declared("success", binary=True)
def success(
    retrieved: Annotated[Ids | None, Retrieved],
    relevant: Annotated[Judgements | None, Relevant],
    *,
    k: Annotated[int | None, Cutoff] = None,
    min_grade: Annotated[int, MinGrade] = 1,
    unjudged: Annotated[str, Unjudged] = "nonrelevant",
    when_none_relevant: Annotated[str, WhenNoneRelevant] = "undefined",
) -> float:
    """Success (hit rate): 1.0 if at least one relevant passage was retrieved, else 0.0.

    With `k`, only the first k passages count.

    Notes
    -----
    Source: ``success_k`` of trec_eval.

    Examples
    --------
    >>> success(["p3", "p1"], ["p1", "p2"]), success(["p3", "p1"], ["p1", "p2"], k=1)
    (1.0, 0.0)
    """
    return _one("success", **locals())


@_declared("r_precision")
def r_precision(
    retrieved: Annotated[Ids | None, Retrieved],
    relevant: Annotated[Judgements | None, Relevant],
    *,
    min_grade: Annotated[int, MinGrade] = 1,
    unjudged: Annotated[str, Unjudged] = "nonrelevant",
    when_none_relevant: Annotated[str, WhenNoneRelevant] = "undefined",
) -> float:
    """R-precision: precision at rank R, where R is the number of relevant passages.

    R-precision = (number of relevant passages among the first R) / R, even if fewer than R passages
    were retrieved.

    Notes
    -----
    Source: ``Rprec`` of trec_eval.

    Examples
    --------
    >>> r_precision(["p3", "p1", "p2"], ["p1", "p2"])
    0.5
    """
    return _one("r_precision", **locals())
