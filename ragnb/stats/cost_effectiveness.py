"""Cost-effectiveness of systems: ratios of mean gain to mean cost, and net benefit.

`fieller_interval` computes a confidence set for a ratio of means. It is valid even if the mean
denominator is close to 0, where the interval of `compare_ratios` is too narrow.

A negative ratio is ambiguous, because it can mean a gain at a negative cost or a loss at a positive
cost. The net benefit (gain - price * cost) avoids this ambiguity; see `net_benefit`.

All functions raise InputError for invalid arguments.
"""

from dataclasses import dataclass
from math import copysign, inf, nan, sqrt
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from ragnb.arguments import Floats, Integers, accepts
from ragnb.errors import InputError
from ragnb.results import (
    Interval,
    SignificanceResult,
    two_sided,
    undefined_interval,
    undefined_test,
)
from ragnb.stats.intervals import mean_interval, too_few, unit_values

# ---- ratios of means ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False)
class FiellerSet(Interval):
    """A ratio of means with Fieller's confidence set.

    The set need not be an interval. `low` and `high` are its limits if it is bounded, -inf and inf
    if it is unbounded, and NaN if it is undefined. The other attributes are the same as in
    `ragnb.results.Interval`.

    Attributes
    ----------
    kind : {'bounded', 'two rays', 'whole line', 'undefined'}
        Shape of the set. ``'two rays'`` means all ratios <= ``limits[0]`` and all ratios >=
        ``limits[1]``.
    limits : tuple of (float, float)
        End points of the interval or of the two rays, in ascending order. One of them may be
        infinite. Both are NaN if the set is the whole line or undefined.
    """

    kind: str
    limits: tuple[float, float]

    def contains(self, ratio: float) -> bool:
        """Return whether a ratio is in the confidence set.

        Parameters
        ----------
        ratio : float
            Ratio to test.

        Returns
        -------
        bool
            True if the set contains `ratio`. An undefined set contains no ratio.
        """
        if self.kind == "two rays":
            return ratio <= self.limits[0] or ratio >= self.limits[1]
        return self.low <= ratio <= self.high

    def __str__(self) -> str:
        # The letter z removes the sign of a number that is printed as zero.
        limits = f"[{self.low:z.4g}, {self.high:z.4g}]"
        if self.kind == "two rays":
            limits = f"(-inf, {self.limits[0]:z.4g}] or [{self.limits[1]:z.4g}, inf)"
        return f"{self.estimate:z.4g} {limits} ({self.basis})"


@dataclass(frozen=True, slots=True)
class RatioComparison:
    """Ratios of means of two systems on the same items, and the difference between them.

    Attributes
    ----------
    first, second : float
        Ratio of means of each system; NaN if the mean denominator is 0.
    interval : Interval
        The difference between the ratios (first - second) with its confidence interval.
    test : SignificanceResult
        Two-sided test of the null hypothesis that the ratios are equal. It rejects at level 1 -
        ``interval.confidence_level`` if and only if the interval excludes 0.
    """

    first: float
    second: float
    interval: Interval
    test: SignificanceResult


@accepts(numerator="scores", denominator="scores", clusters="clusters", confidence_level="level")
def fieller_interval(
    numerator: Floats,
    denominator: Floats,
    *,
    clusters: Integers | None = None,
    confidence_level: float = 0.95,
) -> FiellerSet:
    """Compute Fieller's confidence set for a ratio of means.

    The set contains each ratio for which a two-sided t-test does not reject the null hypothesis
    that the mean of numerator - ratio * denominator is 0. It is bounded if and only if the mean
    denominator differs significantly from 0 at level 1 - `confidence_level`.

    Parameters
    ----------
    numerator, denominator : array-like of shape (n,)
        Numerator and denominator of each item, such as its gain and its cost.
    clusters : array-like of shape (n,), default=None
        Cluster of each item, such as its question. If None, items are treated as independent.
        Otherwise, the t-test is cluster-robust.
    confidence_level : float, default=0.95
        Nominal coverage of the set, in (0, 1). The coverage is exact if the pairs (numerator,
        denominator) are independent and bivariate normal.

    Returns
    -------
    FiellerSet
        The ratio of the two means with its confidence set. The ratio is NaN if the mean denominator
        is 0. The set is undefined if there are fewer than two items (or clusters), if all
        denominators (or their sums over each cluster) are 0, or if all items (or clusters) have the
        same ratio.

    Notes
    -----
    Let y and z be the means of numerator and denominator, s_yy, s_yz and s_zz the estimated
    variances and covariance of these means, and t the (1 + `confidence_level`) / 2 quantile of the
    t distribution with n - 1 degrees of freedom. The set contains each ratio r for which

    (y - r z)^2 <= t^2 (s_yy - 2 r s_yz + r^2 s_zz).

    With G clusters, the variances and the covariance are cluster-robust, and t has G - 1 degrees of
    freedom.

    References
    ----------
    .. [1] Fieller, E. C. (1954). Some problems in interval estimation. J. R. Stat. Soc. B 16,
       175-185.
    .. [2] von Luxburg, U. & Franz, V. H. (2009). A geometric approach to confidence sets for
       ratios: Fieller's theorem, generalizations and bootstrap. Stat. Sin. 19, 1095-1117.

    Examples
    --------
    >>> print(fieller_interval([0.5, 0.0, 0.25, 0.5], [20, 10, 10, 30]))  # ratio 1.25 / 70
    0.01786 [-0.01736, 0.03682] (95% Fieller, n = 4)
    >>> print(fieller_interval([2, 1, 2, 3], [-1, 3, 1, -2]))
    8 (-inf, -0.9571] or [0.195, inf) (95% Fieller, two rays, n = 4)
    """
    y, z = unit_values(numerator, clusters), unit_values(denominator, clusters)
    n, unit, level = y.size, "item" if clusters is None else "cluster", confidence_level
    method = _named("Fieller", n, clusters)
    estimate = float(_ratio(numerator.sum(), denominator.sum(), np.abs(denominator).sum()))
    residuals = y - (y @ z) / (z @ z) * z if z.any() else y
    problem = ""
    if n < 2:
        problem = f"at least 2 {unit}s are needed, got {n}"
    elif not z.any():
        problem = "all denominators are 0"
    elif np.abs(residuals).max() <= 1e-12 * np.abs(y).max():
        problem = f"every {unit} has the same ratio"
    if problem:
        return FiellerSet(
            estimate, nan, nan, level, method, n, "undefined", (nan, nan), problem=problem
        )
    scale = stdtrit(n - 1, (1 + level) / 2) / sqrt(n * (n - 1))
    dy, dz = scale * (y - y.mean()), scale * (z - z.mean())
    kind, *limits = _fieller_limits(float(y.mean()), float(z.mean()), dy, dz)
    low, high = limits if kind == "bounded" else (-inf, inf)
    method += "" if kind == "bounded" else f", {kind}"
    return FiellerSet(estimate, low, high, level, method, n, kind, (limits[0], limits[1]))


@accepts(
    mean_numerator="number",
    sd_numerator="number",
    mean_denominator="number",
    sd_denominator="number",
    correlation="number",
    n="size",
    confidence_level="level",
)
def fieller_interval_from_stats(
    mean_numerator: float,
    sd_numerator: float,
    mean_denominator: float,
    sd_denominator: float,
    correlation: float,
    n: int,
    *,
    confidence_level: float = 0.95,
) -> FiellerSet:
    """Compute Fieller's confidence set for a ratio of means, from means and standard deviations.

    This is `fieller_interval` for independent items whose values are not available, as in a publication.

    Parameters
    ----------
    mean_numerator, sd_numerator : float
        Mean and standard deviation of the numerators, such as the gains. Standard deviations have the
        divisor n - 1 and are at least 0.
    mean_denominator, sd_denominator : float
        Mean and standard deviation of the denominators, such as the costs.
    correlation : float
        Correlation between numerator and denominator over the items, in [-1, 1].
    n : int
        Number of independent items, at least 1.
    confidence_level : float, default=0.95
        Nominal coverage of the set, in (0, 1).

    Returns
    -------
    FiellerSet
        The ratio of the two means with its confidence set. The ratio is NaN if the mean denominator is
        0. The set is undefined if there are fewer than two items, if all denominators are 0, or if all
        items have the same ratio.

    Examples
    --------
    >>> print(fieller_interval_from_stats(0.05, 0.3, 120, 40, 0.1, 200))
    0.0004167 [6.837e-05, 0.0007635] (95% Fieller, n = 200)
    """
    if min(sd_numerator, sd_denominator) < 0:
        raise InputError(
            f"standard deviations must not be negative, got {sd_numerator:g} and {sd_denominator:g}"
        )
    if not -1 <= correlation <= 1:
        raise InputError(f"correlation must be between -1 and 1, got {correlation:g}")
    y, z, level = mean_numerator, mean_denominator, confidence_level
    estimate = y / z if z else nan
    problem = ""
    if n < 2:
        problem = f"at least 2 items are needed, got {n}"
    elif not z and not sd_denominator:
        problem = "all denominators are 0"
    elif _is_one_ratio(y, z, sd_numerator, sd_denominator, correlation):
        problem = "every item has the same ratio"
    if problem:
        return FiellerSet(
            estimate, nan, nan, level, "Fieller", n, "undefined", (nan, nan), problem=problem
        )
    # Two vectors with the lengths of the deviations and the angle that gives their correlation.
    scale = float(stdtrit(n - 1, (1 + level) / 2)) / sqrt(n)
    dz = scale * sd_denominator * np.array([1.0, 0.0])
    dy = scale * sd_numerator * np.array([correlation, sqrt(1 - correlation**2)])
    kind, *limits = _fieller_limits(y, z, dy, dz)
    low, high = limits if kind == "bounded" else (-inf, inf)
    method = "Fieller" if kind == "bounded" else f"Fieller, {kind}"
    return FiellerSet(estimate, low, high, level, method, n, kind, (limits[0], limits[1]))


def _is_one_ratio(y: float, z: float, sd_y: float, sd_z: float, correlation: float) -> bool:
    """Whether all numerators are the same multiple of their denominators, up to rounding error."""
    if not z:
        return not y and (not sd_y or abs(correlation) == 1)
    ratio = y / z
    variance = sd_y**2 - 2 * ratio * correlation * sd_y * sd_z + (ratio * sd_z) ** 2
    return variance <= 1e-12 * max(sd_y**2, (ratio * sd_z) ** 2)


def _fieller_limits(y: float, z: float, dy: Floats, dz: Floats) -> tuple[str, float, float]:
    """Kind of the set (y - r z)^2 <= |dy - r dz|^2, that is a r^2 - 2 b r + c <= 0, and its limits.

    The discriminant b^2 - a c is computed as a difference of two sums of squares to avoid
    cancellation.
    """
    a, b, c = z * z - dz @ dz, y * z - dy @ dz, y * y - dy @ dy
    across = z * dy - y * dz
    unexplained = dy - (dy @ dz) / (dz @ dz) * dz if dz.any() else dz
    discriminant = across @ across - (dz @ dz) * (unexplained @ unexplained)
    if a <= 0 and discriminant <= 0:
        return "whole line", nan, nan
    both = b + copysign(sqrt(max(float(discriminant), 0.0)), b)
    roots = (float(both / a) if a else copysign(inf, -b), float(c / both))
    return "bounded" if a > 0 else "two rays", min(roots), max(roots)


@accepts(
    first_numerator="scores",
    first_denominator="scores",
    second_numerator="scores",
    second_denominator="scores",
    clusters="clusters",
    confidence_level="level",
)
def compare_ratios(
    first_numerator: Floats,
    first_denominator: Floats,
    second_numerator: Floats,
    second_denominator: Floats,
    *,
    clusters: Integers | None = None,
    confidence_level: float = 0.95,
) -> RatioComparison:
    """Compare two ratios of means on the same items with a jackknife t interval and t-test.

    Parameters
    ----------
    first_numerator, first_denominator : array-like of shape (n,)
        Numerator and denominator of each item for the first system, such as its gain and its cost.
    second_numerator, second_denominator : array-like of shape (n,)
        The same values for the second system.
    clusters : array-like of shape (n,), default=None
        Cluster of each item, such as its question. If None, items are treated as independent.
        Otherwise, the jackknife leaves out whole clusters.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, in (0, 1). The actual coverage is lower if a mean
        denominator is close to 0. If a t-test at level 1 - `confidence_level` does not reject
        a mean denominator of 0, the attributes `interval.method` and `test.warning` say so.

    Returns
    -------
    RatioComparison
        The two ratios and their difference with its interval and test. The limits and the test are
        NaN if there are fewer than two items (or clusters), if a mean denominator is 0, if a
        leave-one-out difference is undefined, or if all of them are equal.

    Notes
    -----
    Let D be the difference between the ratios, and D_(i) the difference without item i. The
    jackknife standard error is s = sqrt((n - 1) / n sum_i (D_(i) - mean_j D_(j))^2). The limits are
    D +/- t s, where t is the (1 + `confidence_level`) / 2 quantile of the t distribution with n - 1
    degrees of freedom. The statistic of the test is D / s. If clusters are given, n is the number
    of clusters, and one cluster at a time is left out.

    References
    ----------
    .. [1] Efron, B. & Tibshirani, R. J. (1993). An Introduction to the Bootstrap, chapter 11.

    Examples
    --------
    >>> result = compare_ratios([4, 1, 3, 4], [2, 1, 1, 2], [1, 1, 2, 1], [3, 2, 4, 3])
    >>> round(result.first, 3), round(result.second, 3)  # 12 / 6 and 5 / 12
    (2.0, 0.417)
    >>> round(result.test.p_value, 4)
    0.0067
    """
    ratios, without, doubt = [], [], ""
    for numerator, denominator in (
        (first_numerator, first_denominator),
        (second_numerator, second_denominator),
    ):
        items = np.arange(numerator.size) if clusters is None else clusters
        y, z = np.bincount(items, numerator), np.bincount(items, denominator)
        size = np.abs(z).sum()
        ratios.append(float(_ratio(y.sum(), z.sum(), size)))
        without.append(_ratio(y.sum() - y, z.sum() - z, size))
        mean = mean_interval(denominator, clusters, confidence_level=confidence_level)
        if mean.low <= 0 <= mean.high:
            doubt = "the mean denominator may be 0: see Fieller's set"
    n, unit, level = y.size, "item" if clusters is None else "cluster", confidence_level
    difference, left_out = ratios[0] - ratios[1], without[0] - without[1]
    method = _named("jackknife t", n, clusters)
    problem = ""
    if n < 2:
        problem = f"at least 2 {unit}s are needed, got {n}"
    elif np.isnan(difference):
        problem = "the mean denominator is 0"
    elif not np.ptp(left_out) > 1e-12 * max(map(abs, ratios)):
        problem = f"if one {unit} is left out, the difference is undefined or always the same"
    if problem:
        interval = undefined_interval(difference, level, method, n, problem)
        return RatioComparison(
            ratios[0], ratios[1], interval, undefined_test("two-sided", method, n, problem)
        )
    error = (n - 1) / sqrt(n) * float(left_out.std(ddof=1))
    half = float(stdtrit(n - 1, (1 + level) / 2)) * error
    described_method = f"{method}; {doubt}" if doubt else method
    interval = Interval(
        difference, difference - half, difference + half, level, described_method, n
    )
    t = difference / error
    p = float(two_sided(stdtr(n - 1, t), stdtr(n - 1, -t), "two-sided"))
    test = SignificanceResult(t, p, "two-sided", method, n, doubt)
    return RatioComparison(ratios[0], ratios[1], interval, test)


def _named(method: str, n: int, clusters: Integers | None) -> str:
    return method if clusters is None else f"{method}, {n} clusters{too_few(n)}"


def _ratio(y: Any, z: Any, size: float) -> Any:
    """Divide y by z, with NaN where z is 0 up to rounding error; `size` is the sum of abs(z)."""
    return y / np.where(np.abs(z) > 1e-12 * size, z, nan)


# ---- mean of ratios and net benefit ------------------------------------------------------------


@accepts(
    gains="scores",
    costs="scores",
    zero=("nan", "zero"),
    clusters="clusters",
    confidence_level="level",
)
def mean_of_ratios(
    gains: Floats,
    costs: Floats,
    *,
    zero: str = "nan",
    clusters: Integers | None = None,
    confidence_level: float = 0.95,
) -> Interval:
    """Compute the mean of gain / cost over items, with a t interval.

    If the gain is the improvement in token F1 over a baseline, and the cost is the number of
    translated tokens, this is the mean cost-normalised bridging efficiency (CNBE). Items with a low
    cost can dominate the mean.

    Parameters
    ----------
    gains, costs : array-like of shape (n,)
        Gain and cost of each item. Costs must not be negative unless `zero` is ``'zero'``.
    zero : {'nan', 'zero'}, default='nan'
        Treatment of items without a positive cost. ``'nan'`` leaves them out. ``'zero'`` sets their
        ratio to 0, as in the published CNBE [1]_.
    clusters : array-like of shape (n,), default=None
        Cluster of each item, such as its question. If None, items are treated as independent.
        Otherwise, the interval is cluster-robust.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, in (0, 1).

    Returns
    -------
    Interval
        The mean ratio with its limits. The mean is NaN if there are no ratios. The limits are NaN
        if there are fewer than two ratios (or clusters) or if the estimated standard error is 0.

    References
    ----------
    .. [1] https://github.com/kanoes/LBRAG-NEW, experiments/scripts/experiment.py.

    Examples
    --------
    >>> round(mean_of_ratios([0.5, 0.2, 0.3], [10, 10, 0]).estimate, 6)  # (0.05 + 0.02) / 2
    0.035
    >>> round(mean_of_ratios([0.5, 0.2, 0.3], [10, 10, 0], zero="zero").estimate, 6)  # 0.07 / 3
    0.023333
    """
    if zero == "nan" and (costs < 0).any():
        raise InputError(
            f'costs must not be negative, got {costs.min():g}; zero="zero" sets the ratio of such items to 0'
        )
    paid = costs > 0
    ratios = np.divide(gains, costs, out=np.zeros(gains.size), where=paid)
    if zero == "zero":
        return mean_interval(ratios, clusters, confidence_level=confidence_level)
    keys = None if clusters is None else clusters[paid]
    return mean_interval(ratios[paid], keys, confidence_level=confidence_level)


@accepts(gains="scores", costs="scores", clusters="clusters", confidence_level="level")
@accepts(prices="scores")
def net_benefit(
    gains: Floats,
    costs: Floats,
    prices: Floats,
    *,
    clusters: Integers | None = None,
    confidence_level: float = 0.95,
) -> tuple[Interval, ...]:
    """Compute the mean net benefit, gain - price * cost, with a t interval at each price.

    The interval contains 0 at exactly those prices that are in the set of `fieller_interval` with
    the same confidence level, if this set is defined.

    Parameters
    ----------
    gains, costs : array-like of shape (n,)
        Gain and cost of each item, relative to a baseline.
    prices : array-like of shape (m,)
        Prices of one unit of cost, in units of the gain. The reciprocal of a price is known as the
        willingness-to-pay threshold.
    clusters : array-like of shape (n,), default=None
        Cluster of each item, such as its question. If None, items are treated as independent.
        Otherwise, the intervals are cluster-robust.
    confidence_level : float, default=0.95
        Nominal coverage of each interval, in (0, 1). The intervals are not simultaneous over
        prices.

    Returns
    -------
    tuple of Interval
        The mean net benefit with its limits at each price, in the order of `prices`. The limits are
        NaN if there are fewer than two items (or clusters) or if the estimated standard error is 0.

    References
    ----------
    .. [1] Stinnett, A. A. & Mullahy, J. (1998). Net health benefits: a new framework for the
       analysis of uncertainty in cost-effectiveness analysis. Med. Decis. Making 18, S68-S80.

    Examples
    --------
    >>> for interval in net_benefit([0.5, 0.0, 0.25, 0.5], [20, 10, 10, 30], [0, 0.01]):
    ...     print(interval)
    0.312 [-0.068, 0.693] (95% t, n = 4)
    0.138 [-0.133, 0.408] (95% t, n = 4)
    """
    return tuple(
        mean_interval(gains - price * costs, clusters, confidence_level=confidence_level)
        for price in prices
    )


@accepts(confidence_level="level")
def net_benefit_curve(
    gains: Floats,
    costs: Floats,
    prices: Floats,
    *,
    clusters: Integers | None = None,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Compute the mean net benefit along prices as a table, for `ragnb.plot`.

    Parameters
    ----------
    gains, costs, prices, clusters, confidence_level
        The same as for `net_benefit`.

    Returns
    -------
    pandas.DataFrame
        One row per price, with the columns

        - ``price``, ``net_benefit``, ``low``, ``high``, ``interval``, ``confidence_level``: the mean
          net benefit with its t interval;
        - ``n``: number of items;
        - ``ratio_low``, ``ratio_high``: limits of the set of `fieller_interval`, the prices at which
          the interval begins or ends to contain 0.

    Examples
    --------
    >>> curve = net_benefit_curve([0.5, 0.0, 0.25, 0.5], [20, 10, 10, 30], [0, 0.01])
    >>> curve[["price", "net_benefit", "low", "high"]].round(3).to_dict("split")["data"]
    [[0.0, 0.312, -0.068, 0.693], [0.01, 0.138, -0.133, 0.408]]
    """
    options: dict[str, Any] = {"clusters": clusters, "confidence_level": confidence_level}
    intervals = net_benefit(gains, costs, prices, **options)
    curve = pd.DataFrame([interval.columns("net_benefit") for interval in intervals])
    curve.insert(0, "price", prices)
    ratio_low, ratio_high = fieller_interval(gains, costs, **options).limits
    return curve.assign(n=len(gains), ratio_low=ratio_low, ratio_high=ratio_high)
