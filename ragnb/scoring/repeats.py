"""Repeated runs in frames of scores: components of variance, pass^k, and comparisons over fixed questions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import accepts
from ragnb.columns import require_columns
from ragnb.display import shown
from ragnb.errors import InputError
from ragnb.scoring.columns import bounds_of, numbers, signatures
from ragnb.stats.intervals import mean_interval
from ragnb.stats.multiplicity import ADJUSTED, adjusted_columns
from ragnb.stats.repeats import (
    fixed_questions,
    pass_at_k,
    pass_k,
    repeats_test,
    variance_components,
)

_READ = ("system", "metric", "value")


def question_column(scores: pd.DataFrame, cluster: str | None = None) -> str:
    """The column of questions: the cluster that was named, or else ``example_id``."""
    name = cluster or "example_id"
    require_columns(scores, [name], "repeated runs")
    return name


@accepts()
def noise_report(scores: pd.DataFrame, *, question: str | None = None) -> pd.DataFrame:
    """Take the noise of scores apart: how much questions, judges and runs vary.

    Parameters
    ----------
    scores
        As `ragnb.score` or `ragnb.load_scores` return them, with several rows per system and
        question: repeats, or the verdicts of several judges in the column ``judge``.
    question
        Column of the questions; by default ``example_id``.

    Returns
    -------
    DataFrame
        One row per metric, system and component: ``metric, system, component, variance, share``
        (of the sum of the components), ``n_questions, n`` and ``error_of_mean``, the standard error
        that this component alone gives the mean. The error of *question* becomes smaller only with
        more questions, that of *run* also with more runs, and that of *judge* only with more judges.

    Raises
    ------
    InputError
        A column is missing, no question has several rows, or judges did not judge all questions
        equally often.

    Notes
    -----
    See `ragnb.stats.variance_components`.

    Examples
    --------
    >>> import ragnb
    >>> noise = noise_report(ragnb.load_study("gpqa-epochs"))
    >>> noise[["component", "variance", "share"]].round(2).values.tolist()[:2]
    [['question', 0.13, 0.61], ['run', 0.09, 0.39]]
    """
    require_columns(scores, _READ, "noise_report")
    name = question_column(scores, question)
    frame = pd.DataFrame(scores).assign(value=numbers(scores, "value", "noise_report"))
    frame = frame.dropna(subset="value")
    rows = []
    for (metric, system), group in frame.groupby(["metric", "system"], sort=False):
        judges = None
        if "judge" in group and group["judge"].nunique() > 1:
            judges = group["judge"].to_numpy()
        values = group["value"].to_numpy(float)
        components = variance_components(values, group[name].to_numpy(), judges)
        n_questions, n = group[name].nunique(), len(group)
        n_judges = group["judge"].nunique() if judges is not None else 1
        # The variance of the mean that a component gives is its variance divided by how many of it there are.
        divisors = {
            "question": n_questions,
            "judge": n_judges,
            "question × judge": n_questions * n_judges,
            "run": n,
        }
        total = sum(components.values())
        for component, variance in components.items():
            rows.append(
                {
                    "metric": metric,
                    "system": system,
                    "component": component,
                    "variance": variance,
                    "share": variance / total if total else np.nan,
                    "n_questions": n_questions,
                    "n": n,
                    "error_of_mean": np.sqrt(variance / divisors[component]),
                }
            )
    return shown(pd.DataFrame(rows))


@accepts(k="size", confidence_level="level")
def pass_report(
    scores: pd.DataFrame,
    k: int,
    *,
    question: str | None = None,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Share of questions that are right in all of k runs (pass^k), and in at least one (pass@k).

    Parameters
    ----------
    scores
        Scores of 0 and 1, with at least k runs per system and question.
    k
        Number of runs.
    question
        Column of the questions; by default ``example_id``.
    confidence_level
        Nominal coverage of the intervals, in (0, 1).

    Returns
    -------
    DataFrame
        One row per system and metric: ``metric, system, k, measure, mean, low, high, interval,
        confidence_level, n`` (questions). The intervals are t intervals over questions.

    Raises
    ------
    InputError
        A score is neither 0 nor 1, or a question has fewer than k runs.

    Examples
    --------
    >>> import ragnb
    >>> table = pass_report(ragnb.load_study("gpqa-epochs"), 5)
    >>> table[["measure", "mean"]].round(2).values.tolist()[:2]
    [['pass^5', 0.49], ['pass@5', 0.84]]
    """
    require_columns(scores, _READ, "pass_report")
    name = question_column(scores, question)
    frame = pd.DataFrame(scores).assign(value=numbers(scores, "value", "pass_report"))
    frame = frame.dropna(subset="value")
    if not frame["value"].isin((0, 1)).all():
        raise InputError("pass_report needs scores of 0 and 1")
    rows = []
    for (metric, system), group in frame.groupby(["metric", "system"], sort=False):
        runs = group.groupby(name, sort=False)["value"].agg(["sum", "size"])
        for measure, function in ((f"pass^{k}", pass_k), (f"pass@{k}", pass_at_k)):
            values = function(runs["sum"], runs["size"], k)
            interval = mean_interval(values, bounds=(0.0, 1.0), confidence_level=confidence_level)
            rows.append(
                {
                    "metric": metric,
                    "system": system,
                    "k": k,
                    "measure": measure,
                    **interval.columns(),
                    "n": len(values),
                }
            )
    return shown(pd.DataFrame(rows))


def compare_over_runs(
    frame: pd.DataFrame,
    pairs: Sequence[tuple[Any, Any]],
    *,
    cluster: str | None,
    correction: str,
    confidence_level: float,
) -> pd.DataFrame:
    """Compare systems over these questions: only the runs of each question vary."""
    name = question_column(frame, cluster)
    rows = []
    for metric, group in frame.dropna(subset="value").groupby("metric", sort=False):
        for system, baseline in pairs:
            first, second = (group[group["system"] == one] for one in (system, baseline))
            shared = set(first[name]) & set(second[name])
            both = [rows_of[rows_of[name].isin(shared)] for rows_of in (first, second)]
            results = [
                fixed_questions(side["value"].to_numpy(float), pd.factorize(side[name])[0])
                for side in both
            ]
            signature = str(group["signature"].iloc[0])
            bounds = bounds_of(metric, signature, group["value"].to_numpy(float))
            limits = (bounds[0] - bounds[1], bounds[1] - bounds[0]) if bounds else None
            interval, test = repeats_test(results[0], results[1], limits, confidence_level)
            n_questions = frame.loc[frame["metric"] == metric, name].nunique()
            rows.append(
                {
                    "metric": metric,
                    "system": system,
                    "baseline": baseline,
                    "n_pairs": len(shared),
                    "n_dropped": n_questions - len(shared),
                    "mean": results[0].mean,
                    "baseline_mean": results[1].mean,
                    **interval.columns("difference"),
                    "test": test.method,
                    "statistic": test.statistic,
                    "p_value": test.p_value,
                    **dict.fromkeys(ADJUSTED),
                    "questions": "these",
                    "signature": " & ".join(signatures(pd.concat(both))),
                }
            )
    table = pd.DataFrame(rows)
    return shown(table.assign(**adjusted_columns(table["p_value"], correction, None)))
