"""Judges compared with each other: which of two agrees better with people on the same responses."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from ragnb.arguments import Floats, Integers, accepts
from ragnb.columns import column_names, require_columns
from ragnb.display import shown
from ragnb.errors import InputError
from ragnb.reports.grades import scale_problem
from ragnb.reports.judge_columns import unit_numbers, verdict_numbers, warn_of_different_items
from ragnb.results import Interval, undefined_interval
from ragnb.scoring.comparisons import compare
from ragnb.stats.agreement import agreement_sums, as_codes, quadratic_kappa
from ragnb.stats.intervals import jackknife_interval, spread_problem
from ragnb.stats.multiplicity import ADJUSTED, adjusted_columns
from ragnb.stats.power import t_mde
from ragnb.stats.prediction import correlation_of_sums, correlation_sums
from ragnb.version import __version__

# Measure of agreement with labels of 0 and 1 -> the labels on which it is computed.
_MEASURES = {"percent agreement": (0, 1), "sensitivity": (1,), "specificity": (0,)}
# Power of the minimum detectable effect, as in `ragnb.compare`.
_POWER = 0.8


@accepts(threshold="share", confidence_level="level")
def compare_judges(
    frame: pd.DataFrame,
    *,
    judge: Sequence[str],
    label: str,
    baseline: str | None = None,
    clusters: str | None = "example_id",
    threshold: float = 0.5,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Compare judges in pairs: differences of their agreement with people on the same responses.

    Two judges are compared on the responses that both judged and that have a label. The intervals of
    each judge alone, as `ragnb.judge_report` and `ragnb.graded_report` give them, do not show whether
    two judges differ, because both depend on the same responses.

    Parameters
    ----------
    frame
        One row per response.
    judge
        Columns of two or more judges. With labels of 0 and 1: verdicts or scores in [0, 1]. With
        grades: scores on any scale. ``nan`` means unscored. Two versions of a prompt, or of a model,
        are two judges.
    label
        Column of people's labels (0 and 1, or ``"correct"`` and ``"incorrect"``) or grades.
    baseline
        The judge that all others are compared with. By default every pair is compared.
    clusters
        Column that names the independent units, such as the question or the conversation. If no
        value occurs twice, and with None, the responses are taken as independent.
    threshold
        Scores of at least this value count as a verdict of 1, if the labels are 0 and 1.
    confidence_level
        Nominal coverage of the intervals, in (0, 1).

    Returns
    -------
    DataFrame
        One row for each metric and pair of judges, with the columns of `ragnb.compare`, without the
        effect size if the labels are grades. The judges are in ``system`` and ``baseline``. A positive
        ``difference`` means that ``system`` agrees better. ``n_dropped`` counts the responses with a
        label that only one of the two judged. `ragnb.plot` and `ragnb.sentences` take the table.

        With labels of 0 and 1, the metrics are *percent agreement*, *sensitivity* (share of the
        correct responses that the judge accepts) and *specificity* (share of the incorrect ones that
        it rejects), with the tests and intervals of `ragnb.compare`. With grades, they are *Spearman*
        and, if all judges use the scale of the people, *quadratic kappa*. Their difference has a
        jackknife t interval over the independent units, and the test is dual to it.

    Raises
    ------
    InputError
        A column is missing, there are fewer than two judges, or no response has a label.

    Warns
    -----
    UserWarning
        The judges did not judge the same responses.

    Examples
    --------
    >>> strict, lenient = [1, 0, 0, 0], [1, 1, 1, 0]
    >>> frame = pd.DataFrame({"label": [1, 1, 0, 0], "strict": strict, "lenient": lenient})
    >>> table = compare_judges(frame, judge=["strict", "lenient"], label="label", clusters=None)
    >>> table[["metric", "system", "baseline", "difference"]].values.tolist()[1:]
    [['sensitivity', 'lenient', 'strict', 0.5], ['specificity', 'lenient', 'strict', -0.5]]
    """
    judges = column_names(judge)
    require_columns(frame, [*judges, label, *column_names(clusters)], "compare_judges")
    if len(set(judges)) < 2 or label in judges:
        raise InputError(
            "compare_judges needs two or more judges, not counting the label, "
            f"got {', '.join(judges) or 'none'}"
        )
    if baseline is not None and baseline not in judges:
        raise InputError(f"baseline must be one of {', '.join(judges)}, got {baseline!r}")
    is_labelled = ~np.isnan(verdict_numbers(frame, label, "compare_judges"))
    if not is_labelled.any():
        raise InputError(f"compare_judges needs labels, got none in {label}")
    # Responses without a label must not decide whether the others share a cluster.
    frame = frame[is_labelled]
    labels = verdict_numbers(frame, label, "compare_judges")
    scores = {name: verdict_numbers(frame, name, "compare_judges") for name in judges}
    warn_of_different_items(scores, labels, "each pair is compared on those that both judged")
    units = unit_numbers(frame, clusters, "compare_judges")
    if np.isin(labels, (0, 1)).all():
        return _of_verdicts(scores, labels, units, label, baseline, threshold, confidence_level)
    return _of_grades(scores, labels, units, label, baseline, confidence_level)


def _pairs(judges: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    """The pairs (judge, baseline) to compare, in the order of `ragnb.compare`."""
    if baseline is None:
        return [(second, first) for first, second in combinations(judges, 2)]
    return [(judge, baseline) for judge in judges if judge != baseline]


# ---- labels of 0 and 1 -----------------------------------------------------------------------------


def _of_verdicts(
    scores: Mapping[str, Floats],
    labels: Floats,
    units: Integers | None,
    label: str,
    baseline: str | None,
    threshold: float,
    level: float,
) -> pd.DataFrame:
    """Compare judges by whether their verdicts are right: each judge is a system of `ragnb.compare`."""
    tables = []
    for metric, labels_of_metric in _MEASURES.items():
        rows = np.flatnonzero(np.isin(labels, labels_of_metric))
        for judge, values in scores.items():
            judged = values[rows]
            is_beyond = (judged < 0) | (judged > 1)
            if is_beyond.any():
                raise InputError(
                    f"compare_judges needs verdicts or scores from 0 to 1 in {judge} for labels of 0 "
                    f"and 1, got {judged[is_beyond][0]:g}"
                )
            is_right = ((judged >= threshold) == labels[rows]).astype(np.float64)
            is_right[np.isnan(judged)] = np.nan
            has_scores = not np.isin(values[~np.isnan(values)], (0, 1)).all()
            # Judges may have scores or verdicts, so the threshold is a mark of all or of none.
            table = pd.DataFrame({"example_id": rows, "system": judge, "metric": metric})
            table["value"] = is_right
            table["unit"] = rows if units is None else units[rows]
            tables.append(table.assign(has_scores=has_scores))
    long = pd.concat(tables, ignore_index=True)
    cut = f"|threshold:{threshold:g}" if long["has_scores"].any() else ""
    long["signature"] = f"ragnb:{__version__}|judges compared|label:{label}{cut}"
    return compare(
        long,
        baseline=baseline,
        cluster=None if units is None else "unit",
        unpaired="drop",
        confidence_level=level,
    )


# ---- grades ----------------------------------------------------------------------------------------


def _of_grades(
    scores: Mapping[str, Floats],
    grades: Floats,
    units: Integers | None,
    label: str,
    baseline: str | None,
    level: float,
) -> pd.DataFrame:
    """Compare judges by the coefficients of their agreement with people's grades."""
    metrics = ["Spearman"]
    problems = [scale_problem(*_scored(values, grades)) for values in scores.values()]
    if not any(problems):
        metrics.append("quadratic kappa")
    rows = []
    for metric in metrics:
        for judge, other in _pairs(list(scores), baseline):
            pair = _compared_grades(metric, scores[judge], scores[other], grades, units, level)
            signature = f"ragnb:{__version__}|judges compared|label:{label}"
            names = {"metric": metric, "system": judge, "baseline": other}
            rows.append(names | pair | {"signature": signature})
    table = pd.DataFrame(rows)
    return shown(table.assign(**adjusted_columns(table["p_value"])))


def _scored(scores: Floats, grades: Floats) -> tuple[pd.Series, pd.Series]:
    """The scores of a judge and the grades of the responses that it scored."""
    has_score = ~np.isnan(scores)
    return pd.Series(scores[has_score]), pd.Series(grades[has_score])


def _compared_grades(
    metric: str,
    first: Floats,
    second: Floats,
    grades: Floats,
    units: Integers | None,
    level: float,
) -> dict[str, Any]:
    """The difference of a coefficient between two judges, with a jackknife interval and its test."""
    is_judged = ~(np.isnan(first) & np.isnan(second))
    rows = np.flatnonzero(~np.isnan(first) & ~np.isnan(second))
    units_of_rows = rows if units is None else units[rows]
    unit_codes = np.unique(units_of_rows, return_inverse=True)[1]
    n_units = np.unique(unit_codes).size
    values = [first[rows], second[rows], grades[rows]]
    problem = next(filter(None, map(spread_problem, values)), "")
    if problem:
        means, interval = (
            (nan, nan),
            undefined_interval(nan, level, "jackknife t", n_units, problem),
        )
    else:
        means, interval = _difference(metric, values, unit_codes, level)
    # The interval is the estimate and a multiple of its standard error on both sides.
    standard_error = (interval.high - interval.low) / 2 / stdtrit(n_units - 1, (1 + level) / 2)
    statistic = interval.estimate / standard_error
    mde = nan
    if standard_error > 0:
        options = {"confidence_level": level, "power": _POWER}
        mde = t_mde(standard_error, df=n_units - 1, **options)
    return {
        "n_pairs": rows.size,
        "n_clusters": n_units,
        "n_dropped": int(is_judged.sum()) - rows.size,
        "mean": means[0],
        "baseline_mean": means[1],
        **interval.clipped(-2.0, 2.0).columns("difference"),
        "test": "jackknife t",
        "statistic": statistic,
        "p_value": 2 * stdtr(n_units - 1, -abs(statistic)),
        # The columns of the correction are filled when all comparisons are known.
        **dict.fromkeys(ADJUSTED),
        "mde": mde,
        "power": _POWER,
        "duality": "dual",
        "warning": "",
    }


def _difference(
    metric: str, values: list[Floats], units: Integers, level: float
) -> tuple[tuple[float, float], Interval]:
    """The coefficients of two judges, and their difference with a jackknife interval.

    `values` are the scores of both judges and the grades of the people, and `units` the number of the
    independent unit of each response, from 0.
    """
    coefficient, sums = _sums(metric, values, units)
    # The sums have the axes unit, judge, and those of one coefficient.
    judge_axis = 1 - sums.ndim

    def of_judge(number: int, totals: Floats) -> Any:
        """The coefficient of one of the two judges."""
        return coefficient(np.take(totals, number, axis=judge_axis))

    def difference(totals: Floats) -> Any:
        """The coefficient of the first judge minus that of the second."""
        return of_judge(0, totals) - of_judge(1, totals)

    totals = sums.sum(axis=0)
    means = float(of_judge(0, totals)), float(of_judge(1, totals))
    return means, jackknife_interval(difference, sums, confidence_level=level)


def _sums(
    metric: str, values: list[Floats], units: Integers
) -> tuple[Callable[[Floats], Any], Floats]:
    """The function that computes a coefficient from sums, and the sums of each unit and judge."""
    if metric == "Spearman":
        # Spearman's correlation is Pearson's correlation of the ranks.
        *of_judges, of_people = [pd.Series(column).rank().to_numpy() for column in values]
        sums = [correlation_sums(ranks, of_people, units) for ranks in of_judges]
        return correlation_of_sums, np.stack(sums, axis=1)
    # All ratings are coded together, so that a grade has the same code for both judges.
    ratings = np.column_stack(values)
    codes = as_codes(ratings)
    n_categories = codes.max() + 1
    sums = [agreement_sums(codes[:, [judge, 2]], n_categories, units) for judge in (0, 1)]
    return partial(quadratic_kappa, grades=np.unique(ratings)), np.stack(sums, axis=1)
