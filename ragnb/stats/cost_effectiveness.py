"""Cost-effectiveness: ratios of means, and net benefit.

`fieller_interval` is a confidence set for a ratio of means, such as mean gain / mean cost. It is
valid even if the mean of the denominator is near 0. `compare_ratios` is not valid in this case, and
warns if a t-test does not reject a mean denominator of 0.

A negative ratio has two meanings: a gain at a negative cost, or a loss at a positive cost. At a
mean cost of 0, the ratio does not exist. The net benefit, gain - price * cost, has neither problem,
because it is an ordinary mean. The prices at which a limit of its t interval is 0 are the limits of
`fieller_interval`.

All functions raise InputError for arguments outside the stated range.
"""

from dataclasses import dataclass
from math import copysign, inf, nan, sqrt
from typing import Any

import numpy as np
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

    The attributes `low` and `high` are the limits of the set if it is bounded. They are -inf and
    inf if it is unbounded, and NaN if it is undefined.

    Attributes
    ----------
    kind : str
        ``"bounded"``; ``"two rays"``, which means all values except those between the limits;
        ``"whole line"``; or ``"undefined"``.
    limits : tuple of float
        The two ratios, in ascending order, at which the p-value of the two-sided t-test equals 1 -
        `confidence_level`. One of them may be infinite. Both are NaN if there are no such ratios.
    """

    kind: str
    limits: tuple[float, float]

    def contains(self, ratio: float) -> bool:
        """Return whether the set contains `ratio`; False if the set is undefined."""
        if self.kind == "two rays":
            return ratio <= self.limits[0] or ratio >= self.limits[1]
        return self.low <= ratio <= self.high

    def __str__(self) -> str:
        shown = f"[{self.low:.4g}, {self.high:.4g}]"
        if self.kind == "two rays":
            shown = f"(-inf, {self.limits[0]:.4g}] or [{self.limits[1]:.4g}, inf)"
        return f"{self.estimate:.4g} {shown} ({self.basis})"


@dataclass(frozen=True, slots=True)
class RatioComparison:
    """Two ratios of means on the same items, and their difference.

    Attributes
    ----------
    first, second : float
        The ratio of means of each system.
    interval : Interval
        The difference first - second with its interval.
    test : SignificanceResult
        The two-sided test of the null hypothesis of no difference. It rejects at level 1 -
        `confidence_level` if and only if the interval excludes 0.
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
    """Fieller's confidence set for a ratio of means: all ratios that a t-test does not reject.

    The null hypothesis of the two-sided t-test is that the mean of numerator - ratio * denominator
    is 0; see `ragnb.stats.paired.paired_t_test`. The set is bounded if and only if the mean
    denominator differs significantly from 0 at level 1 - `confidence_level`. It is undefined if
    there are fewer than two items, if all denominators are 0, or if all items have the same ratio.
    With clusters, the same holds for clusters instead of items.

    Parameters
    ----------
    numerator, denominator : array_like of shape (n,)
        Two values of each item, such as gain and cost.
    clusters : array_like of shape (n,), optional
        Key of the cluster of each item, such as its question. The variance is then cluster-robust,
        and t has G - 1 degrees of freedom for G clusters.
    confidence_level : float, default 0.95
        Nominal coverage. It is exact for jointly normal pairs, even if the mean denominator is near
        0. For log-normal costs, the actual coverage of a 95 % set is about 93 %.

    Notes
    -----
    Let y and z be the means of numerator and denominator, s_yy, s_yz and s_zz the estimated
    variances and covariance of these means, and t the (1 + `confidence_level`) / 2 quantile of the
    t distribution with n - 1 degrees of freedom. The set contains each ratio r for which (y - r
    z)^2 <= t^2 (s_yy - 2 r s_yz + r^2 s_zz).

    References
    ----------
    .. [1] Fieller, E. C. (1954). Some problems in interval estimation. J. R. Stat. Soc. B 16,
       175-185.
    .. [2] von Luxburg, U. & Franz, V. H. (2009). A geometric approach to confidence sets for
       ratios. Stat. Sin. 19, 1095-1117 (for the three kinds of set).

    Examples
    --------
    >>> print(fieller_interval([0.5, 0.0, 0.25, 0.5], [20, 10, 10, 30]))
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
    """Compare two systems' ratios of means on the same items, by a jackknife t interval and test.

    The two-sided test agrees with the interval. Both are NaN if there are fewer than two items (or
    clusters), if a mean denominator is 0, or if the difference does not vary when one item (or
    cluster) is left out. If a mean denominator is 0, compare the systems by `net_benefit` instead.

    Parameters
    ----------
    first_numerator, first_denominator, second_numerator, second_denominator : array_like, shape (n,)
        Two values of each item for each system, such as gains and costs.
    clusters : array_like of shape (n,), optional
        Key of the cluster of each item, such as its question. The jackknife then leaves out whole
        clusters, and t has G - 1 degrees of freedom for G clusters.
    confidence_level : float, default 0.95
        Nominal coverage. The actual coverage is close to it for n >= 20, even for log-normal costs.
        (For these, that of the delta method is 92 % at a nominal 95 %.) It is lower if a mean
        denominator is near 0: 90 % at a distance of 2.5 standard errors and 93 % at 4. The method
        and the warning of the result point this out only if a t-test does not reject a mean
        denominator of 0.

    Notes
    -----
    With the difference D of the ratios and the difference D_(i) without item i, the limits are D -+
    t sqrt((n - 1) / n sum_i (D_(i) - mean D_(.))^2), where t is the (1 + `confidence_level`) / 2
    quantile of the t distribution with n - 1 degrees of freedom.

    References
    ----------
    .. [1] Efron, B. & Tibshirani, R. J. (1993). An Introduction to the Bootstrap, chapter 11.

    Examples
    --------
    >>> result = compare_ratios([4, 1, 3, 4], [2, 1, 1, 2], [1, 1, 2, 1], [3, 2, 4, 3])
    >>> round(result.first, 3), round(result.second, 3), round(result.test.p_value, 4)
    (2.0, 0.417, 0.0067)
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
    shown = f"{method}; {doubt}" if doubt else method
    interval = Interval(difference, difference - half, difference + half, level, shown, n)
    t = difference / error
    p = float(two_sided(stdtr(n - 1, t), stdtr(n - 1, -t), "two-sided"))
    test = SignificanceResult(t, p, "two-sided", method, n, doubt)
    return RatioComparison(ratios[0], ratios[1], interval, test)


def _named(method: str, n: int, clusters: Integers | None) -> str:
    return method if clusters is None else f"{method}, {n} clusters{too_few(n)}"


def _ratio(y: Any, z: Any, size: float) -> Any:
    """Divide y by z, with NaN where z is 0 up to rounding error; `size` is sum(abs(z))."""
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
    """Mean over items of the ratio gain / cost, with its t interval.

    With gains in token F1 and costs in translated tokens, this is the mean of the cost-normalised
    bridging efficiency (CNBE). Cheap items dominate it. It differs from the ratio of means unless
    cost and ratio are uncorrelated. The limits are NaN if fewer than two ratios remain or all of
    them are equal.

    Parameters
    ----------
    gains, costs : array_like of shape (n,)
        Gain and cost of each item.
    zero : {"nan", "zero"}
        How to treat items with a cost of 0, which have no ratio. ``"nan"`` leaves them out, and
        raises InputError for negative costs. ``"zero"`` counts items with a cost of 0 or less as 0,
        which is the published rule (kanoes/LBRAG-NEW, experiments/scripts/experiment.py). It
        multiplies the mean by the proportion of items with a positive cost, so a system without any
        cost scores 0 regardless of its gain.
    clusters : array_like of shape (n,), optional
        Key of the cluster of each item, such as its question. The interval is then cluster-robust.
    confidence_level : float, default 0.95
        Nominal coverage of the mean of ratios.

    Examples
    --------
    >>> round(mean_of_ratios([0.5, 0.2, 0.3], [10, 10, 0], zero="zero").estimate, 6)
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
    """Mean net benefit, gain - price * cost, with its t interval at each price.

    The interval at a price contains 0 if and only if `fieller_interval` contains the price. The
    intervals are pointwise, not simultaneous over the prices. The limits are NaN at a price at
    which all net benefits are equal, and for fewer than two items (or clusters).

    Parameters
    ----------
    gains, costs : array_like of shape (n,)
        Gain over the baseline and (extra) cost of each item.
    prices : array_like of shape (m,)
        Values of one unit of cost in units of gain, such as token F1 per token. This is the
        reciprocal of the usual willingness-to-pay threshold.
    clusters : array_like of shape (n,), optional
        Key of the cluster of each item, such as its question. The intervals are then
        cluster-robust.
    confidence_level : float, default 0.95
        Nominal coverage at each price.

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
