"""What a gain costs, for any metric and any column of costs: words, tokens, seconds or euros."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.columns import column_names, questions, require_columns
from ragnb.errors import InputError
from ragnb.reports.frames import as_frame
from ragnb.scoring.columns import numbers
from ragnb.stats.cost_effectiveness import fieller_interval
from ragnb.stats.intervals import mean_interval
from ragnb.suggestions import did_you_mean

# The estimator of a gain per unit of cost; `ragnb.plot` recognises the table by it.
ESTIMATOR = "ratio of means, Fieller"


@accepts(cost=column_names, confidence_level="level")
def cost_effectiveness(
    scores: pd.DataFrame,
    cost: str | Sequence[str],
    *,
    baseline: str,
    metric: str | None = None,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Gain in a metric and additional cost over a baseline, paired by example, and their ratio.

    Parameters
    ----------
    scores
        As `ragnb.score` returns them. They keep the columns of the responses, so that a column of
        costs that you add before scoring is still there.
    cost
        Column with the cost of each response, such as the number of its words, its seconds or its
        price, or several columns. The unit is yours.
    baseline
        The system from which gains and additional costs are computed.
    metric
        The metric of the gain. It may be left out if the scores contain one metric.
    confidence_level
        Confidence level of the intervals, in (0, 1).

    Returns
    -------
    DataFrame
        One row per cost and system: ``cost_column, system, baseline, metric, estimator, estimate`` (mean gain
        divided by mean additional cost), ``low, high, interval, confidence_level, kind`` (of Fieller's set:
        ``bounded``; ``two rays``: all but the values between ``low`` and ``high``; ``whole line``;
        ``undefined``), ``gain, gain_low, gain_high, cost, cost_low, cost_high`` (means of the paired
        differences and their t intervals), ``n, n_units, left_out, signature``. `ragnb.plot` draws the rows
        of one cost. If a question has several responses of a system, as in several languages, the questions
        are clusters. An example without a score or a cost in one of the two systems is left out.

    Raises
    ------
    InputError
        A column of costs is missing or contains other things than numbers, the baseline or the
        metric is not in the scores, or the baseline is the only system.

    See Also
    --------
    efficiency : F1 per translated token, with the published CNBE.

    Examples
    --------
    >>> frame = pd.DataFrame({"system": ["short"] * 3 + ["long"] * 3, "example_id": ["a", "b", "c"] * 2,
    ...                       "words": [2, 3, 1, 12, 23, 31], "metric": "own.right", "signature": "s",
    ...                       "value": [0, 1, 0, 1, 1, 0]})
    >>> table = cost_effectiveness(frame, "words", baseline="short")
    >>> table[["gain", "cost", "estimate"]].round(4).values.tolist()  # 20 = (10 + 20 + 30) / 3
    [[0.3333, 20.0, 0.0167]]
    """
    columns = list(cost)
    what = "cost_effectiveness"
    require_columns(scores, ["metric", "system", "example_id", "value", *columns], what)
    chosen = _scores_of_one_metric(scores, metric)
    systems = list(dict.fromkeys(chosen["system"]))
    if baseline not in systems:
        hint = did_you_mean(baseline, systems)
        raise InputError(
            f"baseline must be one of the systems ({', '.join(map(str, systems))}), got {baseline!r}{hint}"
        )
    if len(systems) == 1:
        raise InputError(f"a gain over {baseline!r} needs another system, got {baseline!r} alone")
    require_columns(chosen, (), what, unique=["system", "example_id"])
    for column in ["value", *columns]:
        chosen[column] = numbers(chosen, column, what)
    chosen["unit"] = questions(chosen)
    reference = chosen[chosen["system"] == baseline].set_index("example_id")
    others = [system for system in systems if system != baseline]
    rows = []
    for column in columns:
        for system in others:
            of_system = chosen[chosen["system"] == system].set_index("example_id")
            pairs = pd.DataFrame(
                {
                    "gain": of_system["value"] - reference["value"],
                    "cost": of_system[column] - reference[column],
                }
            )
            complete = pairs.dropna()
            units = of_system["unit"].reindex(complete.index)
            identity = {
                "cost_column": column,
                "system": system,
                "baseline": baseline,
                "metric": chosen["metric"].iloc[0],
            }
            row = _row(complete, units, confidence_level)
            signatures = of_system.get("signature", pd.Series(dtype=object))
            rows.append(
                identity
                | row
                | {
                    "left_out": len(pairs) - len(complete),
                    "signature": " & ".join(sorted(set(signatures.dropna().astype(str)))),
                }
            )
    return as_frame(rows)


def _scores_of_one_metric(scores: pd.DataFrame, metric: str | None) -> pd.DataFrame:
    """The rows of the metric, or all rows if there is one metric only."""
    metrics = list(dict.fromkeys(scores["metric"]))
    if metric is None:
        if len(metrics) != 1:
            raise InputError(
                f"metric must be named if the scores contain several, got {', '.join(map(str, metrics))}"
            )
        return scores.copy()
    if metric not in metrics:
        hint = did_you_mean(metric, metrics)
        raise InputError(
            f"metric must be in the scores ({', '.join(map(str, metrics))}), got {metric!r}{hint}"
        )
    return scores[scores["metric"] == metric].copy()


def _row(pairs: pd.DataFrame, units: pd.Series, confidence_level: float) -> dict[str, Any]:
    """Mean gain and cost of one system with their intervals, and their ratio with Fieller's set."""
    gain, cost = pairs["gain"].to_numpy(float), pairs["cost"].to_numpy(float)
    # With one response per question, the responses are independent.
    clusters = units.to_numpy() if units.duplicated().any() else None
    options: dict[str, Any] = {"clusters": clusters, "confidence_level": confidence_level}
    ratio = fieller_interval(gain, cost, **options)
    row: dict[str, Any] = {"estimator": ESTIMATOR, **ratio.columns("estimate"), "kind": ratio.kind}
    if ratio.kind == "two rays":
        # The set is everything outside these two limits, so it is no interval.
        row["low"], row["high"] = ratio.limits
    for name, values in (("gain", gain), ("cost", cost)):
        interval = mean_interval(values, **options)
        row |= {name: interval.estimate, f"{name}_low": interval.low, f"{name}_high": interval.high}
    return row | {"n": len(pairs), "n_units": units.nunique()}
