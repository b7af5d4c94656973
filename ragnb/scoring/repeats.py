"""Repeated runs in frames of scores: components of variance, pass^k, and comparisons over fixed questions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import accepts
from ragnb.columns import CONDITION, require_columns
from ragnb.display import shown
from ragnb.errors import InputError
from ragnb.scoring.columns import bounds_of, numbers, signatures
from ragnb.stats.intervals import mean_interval
from ragnb.stats.multiplicity import ADJUSTED, adjusted_columns
from ragnb.stats.repeats import (
    FixedQuestions,
    fixed_questions,
    pass_at_k,
    pass_k,
    repeats_test,
    variance_components,
)

_READ = ("system", "metric", "value")


def question_codes(frame: pd.DataFrame, question: str | None, what: str) -> pd.Series:
    """Number the questions of the rows: a question under one condition, such as one noise rate.

    `question` is the column of the questions, by default ``example_id``. Rows of a question under
    different conditions are no runs of each other.
    """
    name = question or "example_id"
    require_columns(frame, [name], what)
    conditions = [condition for condition in CONDITION if condition in frame]
    keys = list(dict.fromkeys([name, *conditions]))
    return frame.groupby(keys, sort=False, dropna=False).ngroup()


@accepts()
def noise_report(scores: pd.DataFrame, *, question: str | None = None) -> pd.DataFrame:
    """Take the noise of scores apart: how much questions, judges and runs vary.

    Parameters
    ----------
    scores
        As `ragnb.score` or `ragnb.load_scores` return them, with several rows per system and
        question: repeats, or the verdicts of several judges in the column ``judge``.
    question
        Column of the questions; by default ``example_id``. A question under two conditions, such as
        two noise rates, counts as two.

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
    frame = pd.DataFrame(scores).assign(value=numbers(scores, "value", "noise_report"))
    frame = frame.assign(question=question_codes(frame, question, "noise_report"))
    frame = frame.dropna(subset="value")
    rows = []
    for (metric, system), group in frame.groupby(["metric", "system"], sort=False):
        judges = None
        if "judge" in group and group["judge"].nunique() > 1:
            judges = group["judge"].to_numpy()
        values = group["value"].to_numpy(float)
        components = variance_components(values, group["question"].to_numpy(), judges)
        n_questions, n = group["question"].nunique(), len(group)
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
        Column of the questions; by default ``example_id``. A question under two conditions, such as
        two noise rates, counts as two.
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
    frame = pd.DataFrame(scores).assign(value=numbers(scores, "value", "pass_report"))
    frame = frame.assign(question=question_codes(frame, question, "pass_report"))
    frame = frame.dropna(subset="value")
    if not frame["value"].isin((0, 1)).all():
        raise InputError("pass_report needs scores of 0 and 1")
    rows = []
    for (metric, system), group in frame.groupby(["metric", "system"], sort=False):
        runs = group.groupby("question", sort=False)["value"].agg(["sum", "size"])
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
    # Without the systems, so that the same question has the same number in all of them.
    questions = question_codes(frame.drop(columns="system"), cluster, "compare(questions='these')")
    numbered = frame.assign(question=questions)
    rows = []
    for metric, group in numbered.groupby("metric", sort=False):
        values = group.dropna(subset="value")
        bounds = bounds_of(metric, str(group["signature"].iloc[0]), values["value"].to_numpy(float))
        limits = (bounds[0] - bounds[1], bounds[1] - bounds[0]) if bounds else None
        for system, baseline in pairs:
            of_system = values[values["system"] == system]
            of_baseline = values[values["system"] == baseline]
            shared = set(of_system["question"]) & set(of_baseline["question"])
            first = _on_questions(of_system, shared)
            second = _on_questions(of_baseline, shared)
            interval, test = repeats_test(first, second, limits, confidence_level)
            both = group[group["system"].isin([system, baseline])]
            rows.append(
                {
                    "metric": metric,
                    "system": system,
                    "baseline": baseline,
                    "n_pairs": len(shared),
                    "n_dropped": both["question"].nunique() - len(shared),
                    "mean": first.mean,
                    "baseline_mean": second.mean,
                    **interval.columns("difference"),
                    "test": test.method,
                    "statistic": test.statistic,
                    "p_value": test.p_value,
                    **dict.fromkeys(ADJUSTED),
                    "questions": "these",
                    "signature": " & ".join(signatures(both)),
                }
            )
    table = pd.DataFrame(rows)
    return shown(table.assign(**adjusted_columns(table["p_value"], correction, None)))


def _on_questions(scores: pd.DataFrame, questions: set[int]) -> FixedQuestions:
    """The mean of a system over some questions, and its error."""
    chosen = scores[scores["question"].isin(questions)]
    return fixed_questions(chosen["value"].to_numpy(float), chosen["question"].to_numpy())
