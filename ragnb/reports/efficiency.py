"""What translation buys: gain in token F1 over the baseline beside cost in tokens, in several readings of one ratio.

CNBE, the mean of per-item ratios, is ruled by cheap items. The ratio of means, the net benefit at a price and the frontier
of the systems' means are not.
"""

from collections.abc import Sequence
from itertools import combinations
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import convert
from ragnb.errors import InputError
from ragnb.records import is_missing
from ragnb.reports.frames import as_frame
from ragnb.results import Interval
from ragnb.scoring.bridges import COST, F1, known_metric, paired_f1
from ragnb.stats.cost_effectiveness import (
    acceptability_curve,
    compare_ratios,
    fieller_interval,
    incremental_table,
    mean_of_ratios,
    net_benefit,
    ratio_of_means_bca,
)
from ragnb.stats.intervals import mean_interval
from ragnb.stats.multiplicity import ADJUSTED, adjusted_columns
from ragnb.stats.several import friedman_test, rank_intervals

READINGS = {
    "mean of ratios": "mean of gain / cost over the responses that cost something",
    "mean of ratios, zeros counted": "mean of gain / cost over all responses, 0 where nothing is spent (published CNBE)",
    "ratio of means, Fieller": "mean gain / mean cost, with Fieller's confidence set",
    "ratio of means, BCa": "mean gain / mean cost, with the analytic BCa interval",
}
"""The readings of F1 per translated token, and what each is."""


def gains_and_costs(scores: pd.DataFrame, *, baseline: str = "direct") -> pd.DataFrame:
    """Gain in token F1 over the baseline and cost of every response that has both, one row a response.

    Parameters
    ----------
    scores
        As `ragnb.multilingual_report(...).scores`.
    baseline
        The system without passages.

    Returns
    -------
    DataFrame
        ``system, example_id, unit`` (the question, where several languages share it), ``gain, cost``. How many responses
        of each system were left out for want of an F1 or a cost is in ``attrs["left_out"]``, which names every system.

    Raises
    ------
    InputError
        As `ragnb.scoring.bridging`, and where there is no system beside the baseline.
    """
    pairs = paired_f1(scores, baseline=baseline)
    pairs = pairs[pairs["system"] != baseline]
    if pairs.empty:
        raise InputError(
            f"a gain over {baseline!r} needs a system beside it; got {baseline!r} alone; score another"
        )
    gain = pairs["f1_system"] - pairs["f1_direct"]
    pairs = pairs.assign(unit=questions(pairs), gain=gain, cost=pairs["tokens_spent"])
    whole = pairs[["gain", "cost"]].notna().all(axis=1)
    kept = pairs.loc[whole, ["system", "example_id", "unit", "gain", "cost"]].reset_index(drop=True)
    kept.attrs["left_out"] = (~whole).groupby(pairs["system"], sort=False).sum().to_dict()
    return kept


def questions(frame: pd.DataFrame) -> pd.Series:
    """The question of each row, as text: its ``question_id``; a row without one is a question of its own."""
    examples = frame["example_id"].tolist()
    named = frame["question_id"].tolist() if "question_id" in frame else examples
    texts = [
        str(example if is_missing(name) else name)
        for name, example in zip(named, examples, strict=True)
    ]
    return pd.Series(texts, frame.index, dtype=object)


def _by_system(pairs: pd.DataFrame) -> dict[Any, pd.DataFrame]:
    """The rows of each system, none where all of them were left out."""
    return {system: pairs[pairs["system"] == system] for system in pairs.attrs["left_out"]}


def efficiency(
    scores: pd.DataFrame, *, baseline: str = "direct", confidence_level: float = 0.95
) -> pd.DataFrame:
    """F1 gained per translated token in four readings, one row a system and reading.

    Parameters
    ----------
    scores, baseline
        As for `gains_and_costs`.
    confidence_level
        Of the intervals, in (0, 1).

    Returns
    -------
    DataFrame
        ``system, baseline, reading`` (one of `READINGS`), ``estimate, low, high, interval, kind`` (of Fieller's set:
        ``bounded``, ``two rays``: all but the values between ``low`` and ``high``, ``whole line``, ``undefined``),
        ``confidence_level, gain, gain_low, gain_high, cost, cost_low, cost_high`` (means and their intervals),
        ``zero_cost_share, n, n_units, left_out, signature``. Where several languages share a question, the questions are
        clusters. A system without a response that has both gain and cost has n 0 and no estimate.
    """
    pairs = gains_and_costs(scores, baseline=baseline)
    rows = []
    for system, group in _by_system(pairs).items():
        told = {
            "system": system,
            "baseline": baseline,
            "signature": _signature(scores, [system, baseline]),
        }
        told |= _mean("gain", group, confidence_level) | _mean("cost", group, confidence_level)
        told |= _counts(group) | {"left_out": pairs.attrs["left_out"][system]}
        rows += [told | row for row in _readings(group, confidence_level)]
    first = [
        "system",
        "baseline",
        "reading",
        "estimate",
        "low",
        "high",
        "interval",
        "kind",
        "confidence_level",
    ]
    means = [f"{name}{limit}" for name in ("gain", "cost") for limit in ("", "_low", "_high")]
    counts = ["zero_cost_share", "n", "n_units", "left_out"]
    return as_frame(rows, [*first, *means, *counts, "signature"])


def _signature(scores: pd.DataFrame, systems: list[Any]) -> str:
    used = scores["metric"].isin([F1, COST]) & scores["system"].isin(systems)
    return " & ".join(sorted(set(scores.loc[used, "signature"])))


def _counts(group: pd.DataFrame) -> dict[str, int]:
    return {"n": len(group), "n_units": group["unit"].nunique()}


def _mean(name: str, group: pd.DataFrame, level: float) -> dict[str, float]:
    values, units = group[name].to_numpy(float), _arrays(group)[2]
    return _named(name, mean_interval(values, units, confidence_level=level))


def _readings(group: pd.DataFrame, level: float) -> list[dict[str, Any]]:
    gain, cost, units = _arrays(group)
    options: dict[str, Any] = {"clusters": units, "confidence_level": level}
    rules = [mean_of_ratios(gain, cost, zero=zero, **options) for zero in ("nan", "zero")]
    fieller = fieller_interval(gain, cost, **options)
    found = [*rules, fieller, ratio_of_means_bca(gain, cost, **options)]
    share = 1 - float((cost > 0).mean()) if cost.size else nan
    rows = [
        _limits(interval) | {"reading": reading, "kind": "", "zero_cost_share": share}
        for reading, interval in zip(READINGS, found, strict=True)
    ]
    rows[2]["kind"] = fieller.kind
    if fieller.kind == "two rays":
        rows[2]["low"], rows[2]["high"] = fieller.limits
    return rows


def _limits(found: Interval) -> dict[str, Any]:
    return found.columns("estimate")


def ratio_differences(
    scores: pd.DataFrame, *, baseline: str = "direct", confidence_level: float = 0.95
) -> pd.DataFrame:
    """Differences between the systems' ratios of means on the examples that both have, one row a pair that spends.

    Returns
    -------
    DataFrame
        ``system, other, ratio, other_ratio, difference, low, high, interval, confidence_level, p_value, p_adjusted,
        correction, family_size`` (Holm's over all rows), ``cost_ratio`` (mean cost of ``other`` by that of ``system``: the
        factor between the ratios if the gains were equal), ``n, warning``.
    """
    pairs = gains_and_costs(scores, baseline=baseline)
    tables = {name: rows.set_index("example_id") for name, rows in _by_system(pairs).items()}
    spending = [name for name, rows in tables.items() if (rows["cost"] > 0).any()]
    rows = [
        _ratio_difference(one, other, tables, confidence_level)
        for one, other in combinations(spending, 2)
    ]
    first = [
        "system",
        "other",
        "ratio",
        "other_ratio",
        "difference",
        "low",
        "high",
        "interval",
        "confidence_level",
    ]
    table = as_frame(rows, [*first, "p_value", *ADJUSTED, "cost_ratio", "n", "warning"])
    return table.assign(**adjusted_columns(table["p_value"]))


def _ratio_difference(
    one: Any, other: Any, tables: dict[Any, pd.DataFrame], level: float
) -> dict[str, Any]:
    common = tables[one].index.intersection(tables[other].index)
    first, second = tables[one].loc[common], tables[other].loc[common]
    (gain, cost, units), (other_gain, other_cost, _) = _arrays(first), _arrays(second)
    found = compare_ratios(
        gain, cost, other_gain, other_cost, clusters=units, confidence_level=level
    )
    told = {"system": one, "other": other, "ratio": found.first, "other_ratio": found.second}
    limits = _limits(found.interval)
    return (
        told
        | {"difference": limits.pop("estimate")}
        | limits
        | {
            "p_value": found.test.p_value,
            "cost_ratio": other_cost.sum() / cost.sum() if cost.any() else nan,
        }
        | {"n": len(common), "warning": found.test.warning}
    )


def benefits(
    scores: pd.DataFrame,
    prices: Sequence[float],
    *,
    baseline: str = "direct",
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Net benefit over the baseline (gain - price x cost) and its acceptability, one row a system and price.

    Parameters
    ----------
    scores, baseline
        As for `gains_and_costs`.
    prices
        What one token is worth, in F1.
    confidence_level
        Of the band, at each price by itself.

    Returns
    -------
    DataFrame
        ``system, price, net_benefit, low, high, interval, confidence_level, acceptability, n, n_units``; see
        `ragnb.stats.cost_effectiveness` for both.
    """
    grid = convert(prices, "scores", "prices")
    rows = []
    for system, group in _by_system(gains_and_costs(scores, baseline=baseline)).items():
        gain, cost, units = _arrays(group)
        band = net_benefit(gain, cost, grid, clusters=units, confidence_level=confidence_level)
        curve = acceptability_curve(gain, cost, grid, clusters=units)
        for price, found, share in zip(grid, band, curve, strict=True):
            limits = _limits(found)
            told = {"system": system, "price": price, "net_benefit": limits.pop("estimate")}
            rows.append(told | limits | {"acceptability": share} | _counts(group))
    first = ["system", "price", "net_benefit", "low", "high", "interval", "confidence_level"]
    return as_frame(rows, [*first, "acceptability", "n", "n_units"])


def incremental(scores: pd.DataFrame, *, baseline: str = "direct") -> pd.DataFrame:
    """The systems from the cheapest up: on the frontier, dominated or extendedly dominated, with ICER.

    Means are over the examples of which every system has F1 and cost; the baseline, which gains and costs nothing, is one of
    them. A description of means: whether a step is more than noise, `ratio_differences` and `benefits` say.

    Returns
    -------
    DataFrame
        ``system, mean_cost, mean_gain, status, against, incremental_cost, incremental_gain, icer`` (tokens per F1), ``n``.

    Raises
    ------
    InputError
        As `gains_and_costs`, and where there is no example of which every system has both.
    """
    pairs = gains_and_costs(scores, baseline=baseline)
    names = list(pairs.attrs["left_out"])
    gains, costs = (
        pairs.pivot(index="example_id", columns="system", values=kind) for kind in ("gain", "cost")
    )
    gains, costs = (table.reindex(columns=names).dropna() for table in (gains, costs))
    if gains.empty:
        raise InputError(
            f"an incremental table needs an example with F1 and cost of all of {', '.join(map(str, names))}; got none; "
            "score them on the same, or leave systems out"
        )
    options = incremental_table([0.0, *gains.mean()], [0.0, *costs.mean()], [baseline, *names])
    rows = [
        {"system": o.name, "mean_cost": o.cost, "mean_gain": o.gain, "status": o.status}
        | {"against": " and ".join(map(str, o.against))}
        | {
            "incremental_cost": o.incremental_cost,
            "incremental_gain": o.incremental_gain,
            "icer": o.icer,
            "n": len(gains),
        }
        for o in options
    ]
    return pd.DataFrame(rows)


def ranks(
    scores: pd.DataFrame,
    *,
    rng: np.random.Generator,
    metric: str = F1,
    higher_is_better: bool | None = None,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Where each system stands under a metric, and how sure that is; items are the questions that all of them answered.

    A question in several languages is one item, its scores averaged. Rank 1 is the best: the highest mean, or the lowest
    under a metric of which less is better; `higher_is_better` says so of a metric of your own.

    Returns
    -------
    DataFrame
        ``system, mean, average_rank, average_rank_low, average_rank_high, rank, rank_low, rank_high`` (of all systems at
        once), ``probability_best, confidence_level, n``, and, the same in every row, ``test, statistic, p_value, warning``
        of the Friedman test that all systems are alike.

    Raises
    ------
    InputError
        Fewer than two systems, an unknown metric without `higher_is_better`, an example scored twice, or none that all
        systems answered.
    """
    table = _items_by_system(scores, metric)
    if higher_is_better is None:
        higher_is_better = _direction(metric)
    higher = table if higher_is_better else -table
    found = rank_intervals(higher.to_numpy(float), rng=rng, confidence_level=confidence_level)
    alike = friedman_test(higher.to_numpy(float))
    rows = [
        {"system": system, "mean": table[system].mean()}
        | _named("average_rank", each.average_rank)
        | _named("rank", each.rank)
        | {
            "probability_best": each.probability_best,
            "confidence_level": confidence_level,
            "n": len(table),
        }
        | {
            "test": alike.method,
            "statistic": alike.statistic,
            "p_value": alike.p_value,
            "warning": alike.warning,
        }
        for system, each in zip(table.columns, found, strict=True)
    ]
    return pd.DataFrame(rows)


def _direction(metric: str) -> bool:
    known = known_metric(metric)
    if known is None:
        raise InputError(
            f"ranks need to know which way {metric} is better; got no higher_is_better; give True or False"
        )
    return known.higher_is_better


def _items_by_system(scores: pd.DataFrame, metric: str) -> pd.DataFrame:
    rows = scores[scores["metric"] == metric]
    systems = list(rows["system"].unique())
    if len(systems) < 2:
        got = ", ".join(map(str, systems)) or "none"
        raise InputError(
            f"ranks need scores of {metric} of two systems or more; got {got}; score more, or name another metric"
        )
    if (twice := rows.duplicated(["system", "example_id"])).any():
        raise InputError(
            f"ranks need one score of {metric} for a system and example; got {twice.sum()} doubled; drop them, or give "
            "repeats and conditions systems of their own"
        )
    wide = rows.pivot(index="example_id", columns="system", values="value")[systems].dropna()
    if wide.empty:
        raise InputError(
            f"ranks need an example with {metric} of every system; got none; score all systems on the same"
        )
    unit = questions(rows.drop_duplicates("example_id")).set_axis(rows["example_id"].unique())
    return wide.groupby(unit.reindex(wide.index).to_numpy(), sort=False).mean()


def _named(name: str, found: Interval) -> dict[str, float]:
    return {name: found.estimate, f"{name}_low": found.low, f"{name}_high": found.high}


def _arrays(group: pd.DataFrame) -> tuple[Any, Any, Any]:
    """Gain, cost and, where a unit holds several responses, the units."""
    units = group["unit"].to_numpy(dtype=object)
    shared = len(set(units)) < len(units)
    return group["gain"].to_numpy(float), group["cost"].to_numpy(float), units if shared else None
