"""Agreement of judges' grades or scores with the grades of people."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.errors import InputError
from ragnb.records import column_names, require_columns
from ragnb.results import Interval
from ragnb.scoring.columns import conversations, numbers
from ragnb.stats.prediction import pearson
from ragnb.stats.rankings import STATISTICS, ranking_interval


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

    Use `ragnb.judge_report` for labels of 0 and 1, and
    `ragnb.stats.agreement.graded_agreement_interval` for the agreement of the people.

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
        correlation over responses, with a jackknife interval over clusters. *tau-b* and *tau-AP*
        compare the rankings of the systems, over the clusters in which every system has both
        scores.

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
    judges = column_names(judge)
    require_columns(responses, ["example_id", "system", label, *judges], "graded_report")
    units = clusters or conversations(responses) or "example_id"
    require_columns(responses, [units], "graded_report")
    rows: list[dict[str, Any]] = []
    for name in judges:
        both = responses.assign(
            judged=numbers(responses, name, "graded_report"),
            given=numbers(responses, label, "graded_report"),
        ).dropna(subset=["judged", "given"])
        if both.empty:
            raise InputError(f"no response has both {name} and {label}")
        shared = {"n": len(both), "n_systems": both["system"].nunique()}
        for metric, found in _measures(both, units, confidence_level).items():
            rows.append({"judge": name, "metric": metric, **found.columns(), **shared})
    return pd.DataFrame(rows)


def _measures(both: pd.DataFrame, clusters: str, level: float) -> dict[str, Interval]:
    ranks = both[["judged", "given"]].rank()
    units = pd.factorize(both[clusters])[0]
    spearman = pearson(ranks["judged"], ranks["given"], units, confidence_level=level)
    method = spearman.method.replace("Pearson", "Spearman")
    found = {"Spearman": replace(spearman, method=method)}
    if both["system"].nunique() > 1:
        means = both.pivot_table(["given", "judged"], clusters, "system").dropna()
        for name in STATISTICS:
            found[name] = ranking_interval(
                name, means["given"], means["judged"], confidence_level=level
            )
    return found
