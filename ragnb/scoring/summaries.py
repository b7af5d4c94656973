"""From per-example values to means, with their intervals and what is missing."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import convert
from ragnb.errors import InputError, check_choice
from ragnb.metrics.record import METRICS
from ragnb.records import CONDITION, column_names, count_reasons, one_column, require_columns
from ragnb.results import Interval
from ragnb.scoring.columns import check_names, numbers, signatures
from ragnb.scoring.definitions import is_binary
from ragnb.stats.intervals import RATE_METHODS, bca_interval, mean_interval, rate_interval

MEANS: dict[str, Callable[..., Interval]] = {"t": mean_interval, "bca": bca_interval}


def summarize(
    scores: pd.DataFrame,
    *,
    by: str | Sequence[str] | None = None,
    cluster: str | None = None,
    interval: str = "auto",
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Mean of each metric in each cell of the experiment, with its interval and what is missing.

    Parameters
    ----------
    scores
        As `score` returns them.
    by
        Columns that tell the cells apart; by default those of `ragnb.records.CONDITION` that the frame has.
    cluster
        Column whose values are the independent units, such as the question that several languages, noise rates or repeats
        share; intervals are then cluster-robust.
    interval
        ``"auto"``: Wilson where the only values are 0 and 1, t otherwise. Or one by name: ``"wilson"``,
        ``"clopper-pearson"``, ``"jeffreys"``, ``"wald"`` for rates; ``"t"``, ``"bca"`` (a bootstrap computed exactly,
        without a seed) for means.
    confidence_level
        Nominal coverage, in (0, 1).

    Returns
    -------
    DataFrame
        One row a cell and metric: ``mean, low, high, interval, confidence_level, n, n_scored, worst_low, worst_high,
        signature``. If any response is unscored, the column ``unscored`` before ``mean`` says how many and why, such as
        "10 of 20: HTTP 400 (10)".

        Without ``cluster`` responses count as independent, so a cell must then hold one response a question.
        Limits are cut at the metric's bounds, unless values of the cell lie beyond them (see `Metric.beyond`).
        Responses that a metric leaves out by definition (`Metric.condition`) are no part of its ``n``. ``worst_low`` and
        ``worst_high`` bound the mean when responses are unscored: all of them at the metric's lowest, or all at its highest
        value; where values can lie beyond (see `Metric.beyond`), at the lowest and the highest seen, if these do. Of a
        metric that is not in `METRICS` only the values are known: it is taken for binary when all of them are 0 or 1, and
        has no worst case otherwise.

    Raises
    ------
    InputError
        Missing columns or no rows; columns named twice or ``"metric"`` in ``by``; a cell that holds a question twice without
        ``cluster``; an interval for rates asked for values that are none.
    """
    require_columns(scores, ("metric", "value", "signature"), "summarize")
    keys = (
        [name for name in CONDITION if name in scores]
        if by is None
        else column_names(by, "summarize(by=...)")
    )
    require_columns(
        scores,
        [*keys, *one_column(cluster, "summarize(cluster=...)")],
        "summarize(by=..., cluster=...)",
    )
    if scores.empty:
        raise InputError(
            "summarize needs scores, at least one row; got an empty frame; score some responses first"
        )
    if wrong := [name for name in keys if name == "metric" or keys.count(name) > 1]:
        raise InputError(
            f"summarize(by=...) needs columns of conditions, each once and none of them metric; got {', '.join(wrong)}; "
            "leave out what is too much"
        )
    convert(confidence_level, "level", "confidence_level")
    check_names(scores, dict.fromkeys([*keys, "metric", "signature"]), "summarize")
    scores = scores.assign(value=numbers(scores, "value", "summarize")).reset_index(drop=True)
    check_choice(interval, ("auto", *RATE_METHODS, *MEANS), "interval")
    cells = scores.groupby([*keys, "metric"], sort=False, dropna=False)
    rows = [
        dict(zip([*keys, "metric"], cell, strict=True))
        | _summary(group, cluster, interval, confidence_level)
        for cell, group in cells
    ]
    summaries = pd.DataFrame(rows)
    return summaries if summaries["unscored"].any() else summaries.drop(columns="unscored")


def _summary(
    group: pd.DataFrame, cluster: str | None, kind: str, confidence_level: float
) -> dict[str, Any]:
    if cluster is None:
        _refuse_repeats(group)
    name = group["metric"].iloc[0]
    group = _that_could_score(group, name)
    scored = group[group["value"].notna()]
    binary = is_binary(name, scored["value"])
    bounds = (
        METRICS[name].bounds if name in METRICS else (0.0, 1.0) if binary else (math.nan, math.nan)
    )
    seen = scored["value"].min(), scored["value"].max()
    lowest, highest = (
        min(bounds[0], seen[0]),
        max(bounds[1], seen[1]),
    )  # the first of two if either is nan
    found = _interval(scored, binary, cluster, kind, confidence_level)
    if not (seen[0] < bounds[0] or seen[1] > bounds[1]):
        found = replace(
            found, low=max(found.low, lowest), high=min(found.high, highest)
        )  # of a nan the first stays
    missing, total = len(group) - len(scored), float(scored["value"].sum())
    return {
        "unscored": _unscored(group),
        **found.columns(),
        "n": len(group),
        "n_scored": len(scored),
        "worst_low": (total + missing * lowest) / len(group) if missing else found.estimate,
        "worst_high": (total + missing * highest) / len(group) if missing else found.estimate,
        "signature": " & ".join(signatures(group)),
    }


def _unscored(group: pd.DataFrame) -> str:
    """How many responses of a cell have no value, and why; empty if all have one."""
    lost = group[group["value"].isna()]
    reasons = f": {count_reasons(lost['reason'])}" if "reason" in group else ""
    return f"{len(lost):,} of {len(group):,}{reasons}" if len(lost) else ""


def _that_could_score(group: pd.DataFrame, name: str) -> pd.DataFrame:
    """A cell without the responses that the metric leaves out by definition, which are no part of its n."""
    condition = METRICS[name].condition if name in METRICS else ""
    return (
        group[group["value"].notna() | (group["reason"] != condition)]
        if condition and "reason" in group
        else group
    )


def _refuse_repeats(group: pd.DataFrame) -> None:
    if "example_id" in group and group["example_id"].duplicated().any():
        twice = group.loc[group["example_id"].duplicated(), "example_id"]
        raise InputError(
            f"summarize needs one response a question in each cell; got {len(twice)} more (such as {str(twice.iloc[0])!r}); "
            "name the columns that tell them apart in by=, or the shared question in cluster="
        )


def _interval(
    scored: pd.DataFrame, binary: bool, cluster: str | None, kind: str, confidence_level: float
) -> Interval:
    values = scored["value"].to_numpy(float)
    if cluster is not None:
        keys = convert(scored[cluster].to_numpy(), "clusters", f"the cluster column {cluster!r}")
        return mean_interval(values, keys, confidence_level=confidence_level)
    if kind in RATE_METHODS and not np.isin(values, (0.0, 1.0)).all():
        raise InputError(
            f"the interval {kind!r} needs values of 0 and 1; got {scored['metric'].iloc[0]} with others; use 't' or 'bca'"
        )
    chosen = ("wilson" if binary else "t") if kind == "auto" else kind
    if chosen in RATE_METHODS:
        return rate_interval(
            int(values.sum()), len(values), method=chosen, confidence_level=confidence_level
        )
    return MEANS[chosen](values, confidence_level=confidence_level)
