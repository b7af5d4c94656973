"""Means of per-example values, with their intervals and the numbers of missing values."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import accepts
from ragnb.columns import CONDITION, column_names, require_columns
from ragnb.display import shown
from ragnb.errors import InputError
from ragnb.replies import count_reasons
from ragnb.results import Interval
from ragnb.scoring.columns import (
    bounds_of,
    conversations,
    numbers,
    record_of,
    require_metric_names,
    signatures,
)
from ragnb.scoring.repeats import question_codes
from ragnb.stats.intervals import RATE_METHODS, bca_interval, mean_interval, rate_interval
from ragnb.stats.repeats import repeats_interval

MEANS: dict[str, Callable[..., Interval]] = {"t": mean_interval, "bca": bca_interval}


@accepts(
    by=column_names,
    interval=("auto", *RATE_METHODS, *MEANS),
    questions=("such", "these"),
    confidence_level="level",
)
def summarize(
    scores: pd.DataFrame,
    *,
    by: str | Sequence[str] | None = None,
    cluster: str | None = None,
    interval: str = "auto",
    questions: str = "such",
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Compute the mean of each metric per system and condition, with interval and missing values.

    Parameters
    ----------
    scores
        As `score` returns them.
    by
        Columns that distinguish the cells; by default those of `ragnb.columns.CONDITION` that the
        frame has.
    cluster
        Column whose values are the independent units, such as the question that several languages,
        noise rates or repeats share. Intervals are then cluster-robust. By default, a cell must
        contain one response per question, and responses count as independent, except that the turns
        of one conversation (``conversation_id``) are a cluster. ``cluster="example_id"`` treats them
        as independent.
    interval
        ``"auto"``: Wilson for metrics whose only values are 0 and 1, t otherwise. A cell of such a
        metric that has another value, such as a mean of several responses, gets t. Or one by name:
        ``"wilson"``, ``"clopper-pearson"``, ``"jeffreys"``, ``"wald"`` for rates; ``"t"``,
        ``"bca"`` (a bootstrap computed exactly, without a seed) for means.
    questions
        What the interval is about: ``"such"`` questions, whose sample may have been harder by chance
        (default), or ``"these"`` questions, whose answers vary only from run to run. The second needs
        several runs of each question (see `ragnb.stats.repeats_interval`). Each question then counts
        alike, whatever its number of runs, and ``cluster`` names the column of the questions, by
        default ``example_id``.
    confidence_level
        Nominal coverage, in (0, 1).

    Returns
    -------
    DataFrame
        One row per cell and metric: ``mean, low, high, interval, confidence_level, n, n_scored,
        worst_low, worst_high, signature``. If any response is unscored, the column ``unscored``
        before ``mean`` says how many and why, such as "10 of 20: HTTP 400 (10)". If the limits of
        any interval are undefined, the column ``problem`` says why.

        If all values of a cell, or the means of all its clusters, are equal, no t or bootstrap
        interval exists. The limits then follow from Wilson's limit for the share of values that
        differ, if the metric is bounded (see `ragnb.stats.intervals.equal_values_interval`).

        Limits are cut at the bounds of the metric, unless values of the cell lie beyond them (see
        `Metric.beyond`). Responses that a metric leaves out by definition (`Metric.condition`) do
        not count in ``n``. ``worst_low`` and ``worst_high`` bound the mean if responses are
        unscored: all of them at the lowest, or all at the highest value of the metric or of the
        cell. They are nan for a metric without bounds. A metric that is not in `METRICS` is treated
        as binary if all of its values are 0 or 1. Otherwise its worst case is nan.

    Raises
    ------
    InputError
        If columns or rows are missing, if a cell contains a question twice without ``cluster``, or
        if an interval for rates is requested for other values.
    """
    if questions == "these" and cluster is None:
        cluster = "example_id"
    needed = [*(by or ()), *column_names(cluster), "metric", "value", "signature"]
    require_columns(scores, needed, "summarize")
    require_metric_names(scores, "summarize")
    conditions = [name for name in CONDITION if name in scores] if by is None else by
    keys = list(dict.fromkeys([*conditions, "metric"]))
    if cluster is None and "example_id" in scores:
        require_columns(scores, (), "summarize without cluster=", unique=[*keys, "example_id"])
    if scores.empty:
        raise InputError("summarize needs at least one row of scores, got an empty frame")
    cluster = cluster or conversations(scores)
    scores = (
        pd.DataFrame(scores)
        .reset_index(drop=True)
        .assign(value=numbers(scores, "value", "summarize"))
    )
    rows = []
    for cell, group in scores.groupby(keys, sort=False, dropna=False):
        row = dict(zip(keys, cell, strict=True))
        row |= _summary(group, cell[-1], cluster, interval, questions, confidence_level)
        rows.append(row)
    summaries = pd.DataFrame(rows)
    if not summaries["unscored"].any():
        summaries = summaries.drop(columns="unscored")
    return shown(summaries)


def _summary(
    group: pd.DataFrame,
    metric: str,
    cluster: str | None,
    interval: str,
    questions: str,
    level: float,
) -> dict[str, Any]:
    """The columns of one row of `summarize`, from the scores of one cell and metric."""
    signature = str(group["signature"].iloc[0])
    record = record_of(metric, signature)
    if record and record.condition and "reason" in group:
        # Responses to which the metric does not apply do not count as unscored: they are left out.
        group = group[group["value"].notna() | (group["reason"] != record.condition)]
    scored, unscored = group[group["value"].notna()], group[group["value"].isna()]
    values, n_unscored = scored["value"].to_numpy(), len(unscored)
    of_0_and_1 = bool(np.isin(values, (0, 1)).all())
    # A metric of 0 and 1 has other values if each is the mean of several responses. Without any
    # value, only the record says whether the metric is binary.
    binary = of_0_and_1 and (record.binary if record else values.size > 0)
    bounds = bounds_of(metric, signature, values)
    # Lowest and highest value of an unscored response, for the worst case. The bounds of a metric with
    # a record count here even if a value lies beyond them. A metric without bounds has no worst case.
    low, high = bounds or (record.bounds if record else (math.nan, math.nan))
    if math.isinf(low) and math.isinf(high):
        low = high = math.nan
    if values.size:
        # Values can lie beyond the bounds. If there are no bounds, low and high are nan and stay so,
        # because min and max return their first argument if they compare it with nan.
        low, high = min(low, values.min()), max(high, values.max())
    if interval in RATE_METHODS and cluster is None and not of_0_and_1:
        raise InputError(
            f"the interval {interval!r} needs values of 0 and 1, got other values of {metric}; "
            "use 't' or 'bca'"
        )
    if interval == "auto":
        interval = "wilson" if binary else "t"
    if questions == "these":
        keys = question_codes(scored, cluster, "summarize(questions='these')").to_numpy()
        estimate = repeats_interval(values, keys, bounds=bounds, confidence_level=level)
    elif cluster is not None:
        keys = scored[cluster].to_numpy()
        estimate = mean_interval(values, keys, bounds=bounds, confidence_level=level)
    elif interval in MEANS:
        estimate = MEANS[interval](values, bounds=bounds, confidence_level=level)
    else:
        successes = int(values.sum())
        estimate = rate_interval(successes, values.size, method=interval, confidence_level=level)
    unscored_note = ""
    worst_low = worst_high = estimate.estimate
    if n_unscored:
        reasons = f": {count_reasons(unscored['reason'])}" if "reason" in group else ""
        unscored_note = f"{n_unscored:,} of {len(group):,}{reasons}"
        worst_low = (values.sum() + n_unscored * low) / len(group)
        worst_high = (values.sum() + n_unscored * high) / len(group)
    return {
        "unscored": unscored_note,
        **estimate.columns(),
        "n": len(group),
        "n_scored": values.size,
        "worst_low": worst_low,
        "worst_high": worst_high,
        # A cell can contain scores with several signatures, such as those of several languages.
        "signature": " & ".join(signatures(group)),
    }
