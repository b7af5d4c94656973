"""What a gain costs: the mean of per-item ratios, the net benefit at a price, and the frontier of several systems.

A ratio does not tell a gain that saves from a loss that costs, both being negative, and at a cost of 0 there is none. The
net benefit, gain - price cost, has neither trouble: it is a mean like any other, and the prices at which its t band touches
0 are the limits of `ragnb.stats.ratio.fieller_interval`.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import ArrayLike

from ragnb.errors import InputError, check_choice
from ragnb.results import Interval
from ragnb.stats.checks import Floats, check_clusters, check_scores
from ragnb.stats.clusters import cluster_t_test
from ragnb.stats.intervals import mean_interval
from ragnb.stats.paired import paired_t_test

ZERO_RULES = ("nan", "zero")


@dataclass(frozen=True, slots=True)
class MeanOfRatios:
    """A mean of per-item ratios beside the share of items that have none.

    Attributes
    ----------
    interval : Interval
        The mean with its interval; ``n`` counts the items, or clusters, that entered.
    zero_cost_share : float
        Share of the items that cost nothing, in [0, 1]; ``nan`` without items.
    zero : str
        What became of those: ``"nan"`` left out, ``"zero"`` counted as 0.
    """

    interval: Interval
    zero_cost_share: float
    zero: str


def mean_of_ratios(
    gains: ArrayLike,
    costs: ArrayLike,
    *,
    zero: str = "nan",
    clusters: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> MeanOfRatios:
    """Mean of the per-item ratios gain / cost, with t interval: CNBE, for gains in token F1 and costs in translated tokens.

    Unbounded; ``nan`` without an item to average; limits as `ragnb.stats.intervals.mean_interval`. The cheap items rule
    it, and it is not the ratio of means unless cost and ratio are unrelated.

    Parameters
    ----------
    gains, costs : array_like of shape (n,)
        Finite gain and cost of each item.
    zero : {"nan", "zero"}
        An item that costs nothing has no ratio. ``"nan"`` leaves it out; ``"zero"`` counts it as 0.0, the published rule,
        which pulls the mean toward 0 by the share of such items: a system that never spends scores 0 whatever it gains.
    clusters : array_like of shape (n,), optional
        Key of the question that several items share: cluster-robust interval.
    confidence_level : float, default 0.95
        Nominal coverage of the mean of ratios.

    Raises
    ------
    InputError
        If a value is not finite, the lengths differ, a cost is negative (under ``"nan"``), or an option is unknown.

    References
    ----------
    The zero rule: kanoes/LBRAG-NEW, experiments/scripts/experiment.py.

    Examples
    --------
    >>> result = mean_of_ratios([0.5, 0.2, 0.3], [10, 10, 0], zero="zero")
    >>> round(result.interval.estimate, 6), round(result.zero_cost_share, 3)
    (0.023333, 0.333)
    """
    gain, cost = _check_items(gains, costs)
    if check_choice(zero, ZERO_RULES, "zero") == "nan" and (cost < 0).any():
        raise InputError(f'costs needs values of 0 or more; it got {cost.min():g}; correct it, or pass zero="zero".')
    paid = cost > 0
    ratios = np.divide(gain, cost, out=np.zeros(gain.size), where=paid)
    kept = paid if zero == "nan" else np.ones(gain.size, dtype=bool)
    keys = None if clusters is None else check_clusters(clusters, gain.size)[0][kept]
    share = 1 - float(paid.mean()) if gain.size else nan
    return MeanOfRatios(_mean_interval(ratios[kept], keys, confidence_level), share, zero)


def net_benefit(
    gains: ArrayLike,
    costs: ArrayLike,
    prices: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> tuple[Interval, ...]:
    """Mean net benefit, gain - price cost, with its t interval at each price: a band over the prices.

    In the unit of the gain; limits ``nan`` at a price where every item has the same net benefit. 0 lies inside exactly where
    `ragnb.stats.ratio.fieller_interval` contains the price. Dual of `ragnb.stats.paired.paired_t_test` at each price; the
    band is pointwise, not simultaneous.

    Parameters
    ----------
    gains, costs : array_like of shape (n,)
        Finite gain over the baseline and cost, or extra cost, of each item.
    prices : array_like of shape (m,)
        Gain that one unit of cost has to buy, such as token F1 per token.
    clusters : array_like of shape (n,), optional
        Key of the question that several items share: cluster-robust intervals.
    confidence_level : float, default 0.95
        Nominal coverage at each price.

    Raises
    ------
    InputError
        If a value is not finite, the lengths differ, or the level is not in (0, 1).

    References
    ----------
    Stinnett, A. A. & Mullahy, J. (1998). Net health benefits: a new framework for the analysis of uncertainty in
    cost-effectiveness analysis. Med. Decis. Making 18, S68-S80.

    Examples
    --------
    >>> for interval in net_benefit([0.5, 0.0, 0.25, 0.5], [20, 10, 10, 30], [0, 0.01]):
    ...     print(interval)
    0.312 [-0.068, 0.693] (95% t, n = 4)
    0.138 [-0.133, 0.408] (95% t, n = 4)
    """
    benefits = _benefits(gains, costs, prices)
    return tuple(_mean_interval(benefit, clusters, confidence_level) for benefit in benefits)


def acceptability_curve(
    gains: ArrayLike, costs: ArrayLike, prices: ArrayLike, *, clusters: ArrayLike | None = None
) -> tuple[float, ...]:
    """Cost-effectiveness acceptability: at each price, one minus the one-sided p-value that the net benefit is above 0.

    In [0, 1], higher where the system pays; ``nan`` at a price where every item has the same net benefit. A statement about
    data, not the probability that the system pays: that takes a prior.

    Parameters
    ----------
    gains, costs, prices, clusters
        As in `net_benefit`.

    Raises
    ------
    InputError
        If a value is not finite or the lengths differ.

    Notes
    -----
    1 - p of the t-test of mean(gain - price cost) against "greater". It is 1/2 where the price is the ratio of means, and
    (1 -+ confidence_level) / 2 at the limits of Fieller's set.

    References
    ----------
    The p-value reading: Lothgren, M. & Zethraeus, N. (2000). Definition, interpretation and calculation of
    cost-effectiveness acceptability curves. Health Econ. 9, 623-630.

    Examples
    --------
    >>> [round(share, 3) for share in acceptability_curve([0.5, 0.0, 0.25, 0.5], [20, 10, 10, 30], [0, 0.01, 0.0125 / 0.7])]
    [0.96, 0.898, 0.5]
    """
    p_values = (_loses(benefit, clusters) for benefit in _benefits(gains, costs, prices))
    return tuple(1 - p for p in p_values)


def _mean_interval(values: Floats, clusters: ArrayLike | None, confidence_level: float) -> Interval:
    if clusters is None:
        return mean_interval(values, confidence_level=confidence_level)
    return mean_interval(values, clusters, confidence_level=confidence_level)


def _loses(benefit: Floats, clusters: ArrayLike | None) -> float:
    """Return the one-sided p-value against a mean of 0 or less."""
    if clusters is None:
        return paired_t_test(benefit, alternative="greater").p_value
    return cluster_t_test(benefit, clusters=clusters, alternative="greater").p_value


def _benefits(gains: ArrayLike, costs: ArrayLike, prices: ArrayLike) -> list[Floats]:
    gain, cost = _check_items(gains, costs)
    return [gain - price * cost for price in check_scores(prices, "prices")]


def _check_items(gains: ArrayLike, costs: ArrayLike) -> tuple[Floats, Floats]:
    gain, cost = check_scores(gains, "gains"), check_scores(costs, "costs")
    if gain.size != cost.size:
        raise InputError(f"Every item needs a gain and a cost; it got {gain.size} and {cost.size}; align them by item id.")
    return gain, cost


# ---- several systems ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IncrementalOption:
    """One system's row of an incremental cost-effectiveness table.

    Attributes
    ----------
    name : str
        Name of the system.
    cost, gain : float
        Its means.
    status : str
        ``"frontier"``; ``"dominated"``: another gains at least as much at no higher cost, and is better in one of the two;
        ``"extendedly dominated"``: a mixture of its two neighbours on the frontier does so.
    against : tuple of str
        On the frontier the next cheaper system there (none for the cheapest); else the system or the pair that dominates.
    incremental_cost, incremental_gain, icer : float
        On the frontier, what is paid and gained beyond the next cheaper system there, and cost by gain (the incremental
        cost-effectiveness ratio); ``nan`` for the cheapest and off the frontier.
    """

    name: str
    cost: float
    gain: float
    status: str
    against: tuple[str, ...] = ()
    incremental_cost: float = nan
    incremental_gain: float = nan
    icer: float = nan


_Point = tuple[float, float]
"""Mean cost and mean gain."""


def incremental_table(mean_gains: ArrayLike, mean_costs: ArrayLike, names: Sequence[str]) -> tuple[IncrementalOption, ...]:
    """Incremental cost-effectiveness of several systems, cheapest first: who is on the frontier, and at what extra cost.

    A description of means; whether a step is more than noise is for `net_benefit` or `ragnb.stats.ratio.compare_ratios` to
    say. Systems with the same mean cost and gain share their status.

    Parameters
    ----------
    mean_gains, mean_costs : array_like of shape (k,)
        Mean gain and mean cost of each system on the same items.
    names : sequence of str
        A different name for each.

    Raises
    ------
    InputError
        If a mean is not finite, the lengths differ, or a name comes twice.

    Notes
    -----
    The frontier is the upper concave hull of gain against cost, from the cheapest system to the one that gains most. Along
    it the ICER, extra cost / extra gain, never falls (up to 1e-9 of itself). A step pays while one unit of cost has to buy
    less than 1 / ICER.

    References
    ----------
    Drummond, M. F. et al. (2015). Methods for the Economic Evaluation of Health Care Programmes, 4th edition.

    Examples
    --------
    >>> for option in incremental_table([0.6, 0.5, 0.6], [0, 30, 180], ["multi", "lbrag", "cross"]):
    ...     print(option.name, option.status, option.against)
    multi frontier ()
    lbrag dominated ('multi',)
    cross dominated ('multi',)
    """
    gain, cost = _check_items(mean_gains, mean_costs)
    if not isinstance(names, list | tuple) or not all(isinstance(name, Hashable) for name in names):
        raise InputError(f"incremental_table needs a list of names; it got {names!r:.60}; name each system.")
    if not gain.size == len(names) == len(set(names)):
        raise InputError(
            f"incremental_table needs a name of its own for each of {gain.size} systems; it got {len(names)}, "
            f"{len(set(names))} of them different; name each system once."
        )
    order = np.lexsort((-gain, cost))
    options = {names[i]: (float(cost[i]), float(gain[i])) for i in order}
    name_of = {point: name for name, point in reversed(options.items())}
    undominated = _undominated(list(options.values()))
    frontier = _frontier(undominated)
    return tuple(_row(name, point, undominated, frontier, name_of) for name, point in options.items())


def _undominated(points: list[_Point]) -> list[_Point]:
    """Return the points, given cheapest first, that gain more than every one before."""
    kept: list[_Point] = []
    for point in points:
        if not kept or point[1] > kept[-1][1]:
            kept.append(point)
    return kept


def _frontier(points: list[_Point]) -> list[_Point]:
    """Return the vertices of the upper concave hull of undominated points."""
    hull: list[_Point] = []
    for point in points:
        while len(hull) > 1 and _icer(hull[-1], point) < _icer(hull[-2], hull[-1]) * (1 - 1e-9):
            hull.pop()
        hull.append(point)
    return hull


def _icer(cheaper: _Point, dearer: _Point) -> float:
    return (dearer[0] - cheaper[0]) / (dearer[1] - cheaper[1])


def _row(
    name: str, point: _Point, undominated: list[_Point], frontier: list[_Point], name_of: dict[_Point, str]
) -> IncrementalOption:
    if point not in undominated:
        better = [other for other in undominated if other[0] <= point[0]][-1]
        return IncrementalOption(name, *point, "dominated", (name_of[better],))
    if point not in frontier:
        below = [other for other in frontier if other < point][-1]
        above = next(other for other in frontier if other > point)
        return IncrementalOption(name, *point, "extendedly dominated", (name_of[below], name_of[above]))
    place = frontier.index(point)
    if place == 0:
        return IncrementalOption(name, *point, "frontier")
    cost, gain = frontier[place - 1]
    step = point[0] - cost, point[1] - gain
    return IncrementalOption(name, *point, "frontier", (name_of[cost, gain],), *step, step[0] / step[1])
