"""Comparison of judges with people who give grades or scores."""

# Tested in tests/stats/test_graded.py.

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import accepts
from ragnb.columns import column_names, require_columns
from ragnb.display import shown
from ragnb.errors import InputError
from ragnb.reports.frames import interval_columns
from ragnb.reports.judge_columns import warn_of_different_items
from ragnb.results import Interval
from ragnb.scoring.columns import conversations, numbers
from ragnb.stats.agreement import GRADED, agreement_interval
from ragnb.stats.intervals import mean_interval
from ragnb.stats.prediction import pearson
from ragnb.stats.rankings import ranking_interval

# Columns of `scores_by_grade` that describe the distribution of the scores -> share of the quantile.
QUANTILES = {"p5": 0.05, "p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95}


@accepts(confidence_level="level")
def graded_report(
    responses: pd.DataFrame,
    *,
    judge: str | Sequence[str],
    label: str,
    clusters: str | None = None,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Correlation of judges' scores with people's grades, by response and by system.

    Use `ragnb.judge_report` for labels of 0 and 1, and `ragnb.agreement` for the agreement of the
    people.

    Parameters
    ----------
    responses
        One row per response, with ``example_id``, ``system``, and the columns that are named.
    judge
        Columns of the judges' scores, on any scale.
    label
        Column of the people's grades, on any scale, such as the mean over raters.
    clusters
        Column whose values are the independent units. By default, it is the conversation if one has
        several turns, or else the question.
    confidence_level
        Nominal coverage of the intervals, in (0, 1).

    Returns
    -------
    DataFrame
        One row per judge and metric: ``judge``, ``metric``, ``mean, low, high, interval,
        confidence_level``, ``n`` (responses that have both) and ``n_systems``. *Spearman* is the
        correlation over responses, with a jackknife interval over clusters. *Ordinal alpha* and
        *quadratic kappa* are reported if judge and people use the same scale of whole numbers, such
        as 1 to 4: the scores are whole numbers, and at least half of the judge's scores are in the
        range of the people's grades. *tau-b* and *tau-AP* compare the rankings of the systems, over
        the clusters in which every system has both scores. If a measure cannot be reported, the
        column ``not_reported`` says why in the rows of this judge.

    Raises
    ------
    InputError
        A column is missing, or contains no number.

    Warns
    -----
    UserWarning
        The judges did not grade the same responses; compare them with `ragnb.compare_judges`.

    Examples
    --------
    >>> import ragnb
    >>> turns = ragnb.load_study("mtrag")
    >>> report = graded_report(turns, judge="mtrag.rb_llm", label="human_faithfulness")
    >>> dict(zip(report["metric"], report["mean"].round(2).tolist()))
    {'Spearman': 0.33, 'tau-b': 0.33, 'tau-AP': 0.5}
    """
    rows: list[dict[str, Any]] = []
    judges = column_names(judge)
    require_columns(responses, ["example_id", "system", label, *judges], "graded_report")
    scores = {name: numbers(responses, name, "graded_report") for name in judges}
    grades = numbers(responses, label, "graded_report")
    if scores:
        warn_of_different_items(scores, grades, "compare them with ragnb.compare_judges")
    for name in judges:
        graded, cluster_column = _graded(responses, name, label, clusters, "graded_report")
        shared = {
            "n": len(graded),
            "n_systems": graded["system"].nunique(),
            "not_reported": "; ".join(_not_reported(graded, name, label)),
        }
        measures = _graded_measures(graded, cluster_column, confidence_level)
        for metric, interval in measures.items():
            rows.append({"judge": name, "metric": metric, **interval.columns(), **shared})
    report = pd.DataFrame(rows)
    if not report["not_reported"].any():
        report = report.drop(columns="not_reported")
    return shown(report)


@accepts(confidence_level="level")
def scores_by_grade(
    responses: pd.DataFrame,
    *,
    judge: str,
    label: str,
    clusters: str | None = None,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Distribution of a judge's scores for each grade that people gave.

    `ragnb.plot` draws it. The parameters are those of `graded_report`, with one
    judge.

    Parameters
    ----------
    responses
        One row per response.
    judge
        Column with the scores of the judge.
    label
        Column with the grades of people.
    clusters
        Column of the independent units, such as questions; see `graded_report`.
    confidence_level
        Level of the intervals.

    Returns
    -------
    DataFrame
        One row per grade: ``judge, label, grade``; the judge's ``mean`` with ``low, high, interval,
        confidence_level``; ``n`` (responses) and ``n_units`` (independent units); the quantiles
        ``p5, p25, median, p75, p95``; and Spearman's correlation over all responses with its
        limits, ``spearman, spearman_low, spearman_high``, the same in all rows. Means over several
        people count for the nearest whole grade, and halves for the higher one.

    Raises
    ------
    InputError
        A column is missing, or contains no number.

    Examples
    --------
    >>> import ragnb
    >>> turns = ragnb.load_study("mtrag")
    >>> table = scores_by_grade(turns, judge="mtrag.rb_llm", label="human_faithfulness")
    >>> table[["grade", "n", "mean"]].round(2).values.tolist()
    [[1.0, 23.0, 0.37], [2.0, 53.0, 0.77], [3.0, 104.0, 0.81], [4.0, 297.0, 0.88]]
    """
    graded, cluster_column = _graded(responses, judge, label, clusters, "scores_by_grade")
    spearman = _spearman(graded, cluster_column, confidence_level)
    overall = {
        "spearman": spearman.estimate,
        "spearman_low": spearman.low,
        "spearman_high": spearman.high,
    }
    rows: list[dict[str, Any]] = []
    # The nearest whole grade. Halves go to the higher one; `round` would take the even one.
    nearest_grade = np.floor(graded["grade"] + 0.5)
    for grade, group in graded.groupby(nearest_grade):
        # With one response per unit, the responses are independent, and the interval is not cluster-robust.
        clusters_of_group = None
        if group[cluster_column].duplicated().any():
            clusters_of_group = pd.factorize(group[cluster_column])[0]
        mean = mean_interval(group["judged"], clusters_of_group, confidence_level=confidence_level)
        row = {"judge": judge, "label": label, "grade": int(grade), "n": len(group)}
        row |= interval_columns(mean)
        for name, share in QUANTILES.items():
            row[name] = group["judged"].quantile(share)
        rows.append(row | overall)
    return pd.DataFrame(rows)


def _graded(
    responses: pd.DataFrame, judge: str, label: str, clusters: str | None, caller: str
) -> tuple[pd.DataFrame, str]:
    """The responses that have a score and a grade, and the name of the column of their clusters.

    The scores are in the column ``judged``, and the grades in ``grade``. `caller` is the name of the public
    function, for messages.
    """
    require_columns(responses, ["example_id", "system", label, judge], caller)
    # Without a choice of the user, the turns of a conversation are a cluster or, if no conversation has several
    # turns, the answers to a question.
    cluster_column = clusters or conversations(responses) or "example_id"
    require_columns(responses, [cluster_column], caller)
    scores, grades = numbers(responses, judge, caller), numbers(responses, label, caller)
    graded = responses.assign(judged=scores, grade=grades).dropna(subset=["judged", "grade"])
    if graded.empty:
        raise InputError(f"no response has both {judge} and {label}")
    return graded, cluster_column


def _spearman(graded: pd.DataFrame, clusters: str, level: float) -> Interval:
    """Spearman's correlation of scores and grades, which is Pearson's correlation of their ranks.

    `clusters` is the name of a column of `graded`, and `level` the confidence level.
    """
    ranks = graded[["judged", "grade"]].rank()
    units = pd.factorize(graded[clusters])[0]
    correlation = pearson(ranks["judged"], ranks["grade"], units, confidence_level=level)
    return replace(correlation, method=correlation.method.replace("Pearson", "Spearman"))


def scale_problem(scores: pd.Series, grades: pd.Series) -> str:
    """Say why a judge's scores are not grades on the people's scale; an empty text if they are."""
    for name, values in (("scores", scores), ("grades", grades)):
        fractions = values[values % 1 != 0].tolist()
        if fractions:
            return f"the {name} are not all whole numbers, such as {fractions[0]:g}"
    is_in_range = scores.between(grades.min(), grades.max())
    # A judge may give a grade that no person gave. If most of its scores are such, or if it gives
    # only the verdicts 0 and 1, and people give other grades as well, it uses another scale.
    is_verdict = scores.isin((0, 1)).all() and not grades.isin((0, 1)).all()
    if is_in_range.mean() < 0.5 or is_verdict:
        return (
            f"the scores from {scores.min():g} to {scores.max():g} and the grades from "
            f"{grades.min():g} to {grades.max():g} are on different scales"
        )
    return ""


def _not_reported(graded: pd.DataFrame, judge: str, label: str) -> list[str]:
    """Sentences on the measures that cannot be reported for a judge."""
    sentences = []
    problem = scale_problem(graded["judged"], graded["grade"])
    if problem:
        sentences.append(
            f"ordinal alpha and quadratic kappa of {judge} and {label}, because {problem}"
        )
    if graded["system"].nunique() < 2:
        sentences.append(
            f"tau-b and tau-AP of {judge} and {label}, because there is only one system"
        )
    return sentences


def _graded_measures(graded: pd.DataFrame, clusters: str, level: float) -> dict[str, Interval]:
    """The measures of a judge that can be reported, by name. `clusters` is the name of a column of `graded`."""
    measures = {"Spearman": _spearman(graded, clusters, level)}
    if not scale_problem(graded["judged"], graded["grade"]):
        ratings = graded[["judged", "grade"]].to_numpy()
        units = pd.factorize(graded[clusters])[0]
        for name in GRADED:
            measures[name] = agreement_interval(name, ratings, units, confidence_level=level)
    if graded["system"].nunique() > 1:
        # Mean grade and mean score of each system in each cluster. A cluster in which a system lacks
        # one of them is left out.
        means = graded.pivot_table(
            values=["grade", "judged"], index=clusters, columns="system"
        ).dropna()
        words_for_units = {"example_id": "questions", "conversation_id": "conversations"}
        units = words_for_units.get(clusters, clusters)
        for name in ("tau-b", "tau-AP"):
            ranks = ranking_interval(name, means["grade"], means["judged"], confidence_level=level)
            # The name of the method says that questions are resampled. Here, clusters are.
            measures[name] = replace(ranks, method=ranks.method.replace("questions", units))
    return measures
