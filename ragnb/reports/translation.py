"""What translation buys: gain in token F1 over the baseline and cost in tokens.

CNBE is the mean of one ratio per response, so responses with a low cost dominate it. The ratio of
means and the net benefit at a price do not have this problem. The functions take the ``scores`` of a
`ragnb.multilingual_report`.
"""

from math import nan
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.columns import questions
from ragnb.errors import InputError
from ragnb.reports.frames import as_frame
from ragnb.scoring.bridges import COST, F1, paired_f1
from ragnb.stats.cost_effectiveness import fieller_interval, mean_of_ratios
from ragnb.stats.intervals import mean_interval

# Estimators of F1 per translated token, and their definitions.
ESTIMATORS = {
    "mean of ratios": "mean of gain / cost over the responses with a cost",
    "mean of ratios, zeros counted": "mean of gain / cost over all responses, 0 without a cost "
    "(published CNBE)",
    "ratio of means, Fieller": "mean gain / mean cost, with Fieller's confidence set",
}


@accepts()
def gains_and_costs(scores: pd.DataFrame, *, baseline: str = "direct") -> pd.DataFrame:
    """Gain in token F1 over the baseline, and cost in translated tokens, of each response.

    Parameters
    ----------
    scores
        ``ragnb.multilingual_report(...).scores``.
    baseline
        Name of the system without passages.

    Returns
    -------
    DataFrame
        One row per response that has both values, with the columns ``system, example_id, unit, gain,
        cost``. ``unit`` is the question if several languages share it, and the example otherwise.
        ``attrs["left_out"]`` is a mapping from each system to the number of its responses that were
        left out because the F1 or the cost is missing.

    Raises
    ------
    InputError
        In the cases described in `ragnb.scoring.bridging`, or if the baseline is the only system.
    """
    pairs, _ = paired_f1(scores, baseline=baseline)
    pairs = pairs[pairs["system"] != baseline]
    if pairs.empty:
        raise InputError(f"a gain over {baseline!r} needs another system, got {baseline!r} alone")
    # `paired_f1` calls the F1 of the baseline "direct", whatever the name of the baseline is.
    gain = pairs["f1_system"] - pairs["f1_direct"]
    pairs = pairs.assign(unit=questions(pairs), gain=gain, cost=pairs["tokens_spent"])
    is_complete = pairs[["gain", "cost"]].notna().all(axis=1)
    complete = pairs.loc[is_complete, ["system", "example_id", "unit", "gain", "cost"]]
    complete = complete.reset_index(drop=True)
    n_incomplete = (~is_complete).groupby(pairs["system"], sort=False).sum()
    complete.attrs["left_out"] = n_incomplete.to_dict()
    return complete


@accepts(confidence_level="level")
def efficiency(
    scores: pd.DataFrame, *, baseline: str = "direct", confidence_level: float = 0.95
) -> pd.DataFrame:
    """F1 gained per translated token by three estimators, one row for each system and estimator.

    Parameters
    ----------
    scores, baseline
        As for `gains_and_costs`.
    confidence_level
        Confidence level of the intervals, in (0, 1).

    Returns
    -------
    DataFrame
        ``system, baseline, estimator`` (one of `ESTIMATORS`), ``estimate, low, high, interval,
        confidence_level, kind`` (of Fieller's set: ``bounded``; ``two rays``: all but the values
        between ``low`` and ``high``; ``whole line``; ``undefined``), ``gain, gain_low, gain_high,
        cost, cost_low, cost_high`` (means and their intervals), ``zero_cost_share, n, n_units,
        left_out, signature``. If several languages share a question, the questions are clusters. A
        system without a response that has both gain and cost has n 0 and no estimate.
    """
    pairs = gains_and_costs(scores, baseline=baseline)
    rows = []
    # `left_out` names all systems, also those without a response that has both values.
    for system, n_left_out in pairs.attrs["left_out"].items():
        group = pairs[pairs["system"] == system]
        gain, cost = group["gain"].to_numpy(float), group["cost"].to_numpy(float)
        # With one response per question, the responses are independent.
        units = group["unit"].to_numpy() if group["unit"].duplicated().any() else None
        options: dict[str, Any] = {"clusters": units, "confidence_level": confidence_level}
        intervals: list[Any] = [
            mean_of_ratios(gain, cost, **options),
            mean_of_ratios(gain, cost, zero="zero", **options),
            fieller_interval(gain, cost, **options),
        ]
        # The signatures of the scores from which gain and cost were computed.
        is_metric = scores["metric"].isin([F1, COST])
        is_system = scores["system"].isin([system, baseline])
        signatures = scores.loc[is_metric & is_system, "signature"]
        # F1 is in [0, 1], so a difference of two is in [-1, 1].
        gains = mean_interval(gain, bounds=(-1.0, 1.0), **options)
        costs = mean_interval(cost, **options)
        means = {
            "gain": gains.estimate,
            "gain_low": gains.low,
            "gain_high": gains.high,
            "cost": costs.estimate,
            "cost_low": costs.low,
            "cost_high": costs.high,
            "zero_cost_share": 1 - float((cost > 0).mean()) if cost.size else nan,
            "n": len(group),
            "n_units": group["unit"].nunique(),
            "left_out": n_left_out,
            "signature": " & ".join(sorted(set(signatures))),
        }
        for estimator, interval in zip(ESTIMATORS, intervals, strict=True):
            row = {"system": system, "baseline": baseline, "estimator": estimator}
            row |= interval.columns("estimate")
            # Only Fieller's set has a kind. The others are ordinary intervals.
            row["kind"] = getattr(interval, "kind", "")
            if row["kind"] == "two rays":
                # Fieller's set is everything outside these two limits, so it is no interval.
                row["low"], row["high"] = interval.limits
            rows.append(row | means)
    return as_frame(rows)
