"""Comparison of judges with people who give grades or scores."""

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
from ragnb.results import Interval
from ragnb.scoring.columns import conversations, numbers
from ragnb.stats.agreement import GRADED, agreement_interval
from ragnb.stats.intervals import mean_interval
from ragnb.stats.prediction import pearson
from ragnb.stats.rankings import ranking_interval

# Columns of `scores_by_grade` that describe the distribution of the scores.
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

    Examples
    --------
    >>> import ragnb
    >>> turns = ragnb.load_study("mtrag")
    >>> report = graded_report(turns, judge="mtrag.rb_llm", label="human_faithfulness")
    >>> dict(zip(report["metric"], report["mean"].round(2).tolist()))
    {'Spearman': 0.33, 'tau-b': 0.33, 'tau-AP': 0.5}
    """
    rows: list[dict[str, Any]] = []
    for name in column_names(judge):
        both, units = _both(responses, name, label, clusters, "graded_report")
        shared = {"n": len(both), "n_systems": both["system"].nunique()}
        shared["not_reported"] = "; ".join(_not_reported(both, name, label))
        for metric, found in _graded_measures(both, units, confidence_level).items():
            rows.append({"judge": name, "metric": metric, **found.columns(), **shared})
    report = pd.DataFrame(rows)
    return shown(report if report["not_reported"].any() else report.drop(columns="not_reported"))


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

    `ragnb.figures.plot_grades` draws it. The parameters are those of `graded_report`, with one
    judge.

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
    >>> found = scores_by_grade(turns, judge="mtrag.rb_llm", label="human_faithfulness")
    >>> found[["grade", "n", "mean"]].round(2).values.tolist()
    [[1.0, 23.0, 0.37], [2.0, 53.0, 0.77], [3.0, 104.0, 0.81], [4.0, 297.0, 0.88]]
    """
    both, units = _both(responses, judge, label, clusters, "scores_by_grade")
    spearman = _spearman(both, units, confidence_level)
    overall = {"spearman": spearman.estimate, "spearman_low": spearman.low}
    overall |= {"spearman_high": spearman.high}
    rows: list[dict[str, Any]] = []
    for grade, group in both.groupby(np.floor(both["given"] + 0.5)):
        keys = pd.factorize(group[units])[0]
        clustered = keys if group[units].duplicated().any() else None
        found = mean_interval(group["judged"], clustered, confidence_level=confidence_level)
        spread = {name: group["judged"].quantile(share) for name, share in QUANTILES.items()}
        named = {"judge": judge, "label": label, "grade": int(grade), "n": len(group)}
        rows.append({**named, **interval_columns(found), **spread, **overall})
    return pd.DataFrame(rows)


def _both(
    responses: pd.DataFrame, judge: str, label: str, clusters: str | None, what: str
) -> tuple[pd.DataFrame, str]:
    """Responses with the scores ``judged`` and the grades ``given``, and the column of clusters."""
    require_columns(responses, ["example_id", "system", label, judge], what)
    units = clusters or conversations(responses) or "example_id"
    require_columns(responses, [units], what)
    both = responses.assign(
        judged=numbers(responses, judge, what), given=numbers(responses, label, what)
    ).dropna(subset=["judged", "given"])
    if both.empty:
        raise InputError(f"no response has both {judge} and {label}")
    return both, units


def _spearman(both: pd.DataFrame, clusters: str, level: float) -> Interval:
    ranks = both[["judged", "given"]].rank()
    units = pd.factorize(both[clusters])[0]
    found = pearson(ranks["judged"], ranks["given"], units, confidence_level=level)
    return replace(found, method=found.method.replace("Pearson", "Spearman"))


def _scale_problem(both: pd.DataFrame) -> str:
    """Say why the judge's scores are not grades on the people's scale; an empty text if they are."""
    judged, given = both["judged"], both["given"]
    for whose, values in (("scores", judged), ("grades", given)):
        if fractions := values[values % 1 != 0].tolist():
            return f"the {whose} are not all whole numbers, such as {fractions[0]:g}"
    inside = judged.between(given.min(), given.max())
    # A judge may give a grade that no person gave. If most of its scores are such, or if it gives
    # only the verdicts 0 and 1, it uses another scale.
    is_verdict = judged.isin((0, 1)).all() and not given.isin((0, 1)).all()
    if inside.mean() < 0.5 or is_verdict:
        return (
            f"the scores from {judged.min():g} to {judged.max():g} and the grades from "
            f"{given.min():g} to {given.max():g} are on different scales"
        )
    return ""


def _not_reported(both: pd.DataFrame, judge: str, label: str) -> list[str]:
    """Sentences on the measures that cannot be reported for a judge."""
    sentences = []
    if problem := _scale_problem(both):
        sentences.append(
            f"ordinal alpha and quadratic kappa of {judge} and {label}, because {problem}"
        )
    if both["system"].nunique() < 2:
        sentences.append(
            f"tau-b and tau-AP of {judge} and {label}, because there is only one system"
        )
    return sentences


def _graded_measures(both: pd.DataFrame, clusters: str, level: float) -> dict[str, Interval]:
    found = {"Spearman": _spearman(both, clusters, level)}
    if not _scale_problem(both):
        ratings, units = both[["judged", "given"]].to_numpy(), pd.factorize(both[clusters])[0]
        for name in GRADED:
            found[name] = agreement_interval(name, ratings, units, confidence_level=level)
    if both["system"].nunique() > 1:
        means = both.pivot_table(["given", "judged"], clusters, "system").dropna()
        unit = {"example_id": "questions", "conversation_id": "conversations"}.get(
            clusters, clusters
        )
        for name in ("tau-b", "tau-AP"):
            ranks = ranking_interval(name, means["given"], means["judged"], confidence_level=level)
            found[name] = replace(ranks, method=ranks.method.replace("questions", unit))
    return found
