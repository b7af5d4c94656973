"""Ratio of means of paired items: what was gained over what was spent, with its interval, and two of them compared.

`fieller_interval` holds wherever the denominator lies; `ratio_of_means_bca` and `compare_ratios` only where it is clear of
0, and they warn where a t-test does not rule 0 out. The mean of per-item ratios, and what a gain is worth at a price, are in
`ragnb.stats.cost_effectiveness`.
"""

from dataclasses import dataclass
from math import copysign, inf, isnan, nan, sqrt

import numpy as np
from numpy.typing import ArrayLike

from ragnb.errors import InputError
from ragnb.results import Interval, SignificanceResult
from ragnb.stats.checks import (
    LARGEST,
    Floats,
    check_clusters,
    check_level,
    check_scores,
    undefined_interval,
    undefined_test,
)
from ragnb.stats.intervals import FEW_CLUSTERS
from ragnb.stats.numerics import normal_quantile, t_cdf, t_quantile, two_sided


@dataclass(frozen=True, slots=True)
class FiellerSet(Interval):
    """A ratio with Fieller's confidence set; as an interval, the smallest that holds the set.

    ``low`` and ``high`` are its limits where the set is bounded and infinite where it is not.

    Attributes
    ----------
    kind : str
        ``"bounded"``; ``"two rays"``: everything but the values between the limits; ``"whole line"``; ``"undefined"``.
    limits : tuple of float
        The two ratios, ascending, at which the dual test has p = 1 - `confidence_level`; ``nan`` where there are none.
    """

    kind: str
    limits: tuple[float, float]

    def contains(self, ratio: float) -> bool:
        """Whether `ratio` lies in the set; False where the set is undefined."""
        if self.kind == "two rays":
            return ratio <= self.limits[0] or ratio >= self.limits[1]
        return self.low <= ratio <= self.high

    def __str__(self) -> str:
        first, second = self.limits
        two_rays = f"(-inf, {first:.4g}] or [{second:.4g}, inf)"
        shown = two_rays if self.kind == "two rays" else f"[{self.low:.4g}, {self.high:.4g}]"
        return f"{self.estimate:.4g} {shown} ({self.confidence_level:.0%} {self.method}, n = {self.n})"


@dataclass(frozen=True, slots=True)
class RatioComparison:
    """Two ratios of means on the same items, and their difference.

    Attributes
    ----------
    first, second : float
        The ratio of means of each system.
    interval : Interval
        first - second with its interval.
    test : SignificanceResult
        The two-sided test of no difference, dual of the interval.
    """

    first: float
    second: float
    interval: Interval
    test: SignificanceResult


def fieller_interval(
    numerator: ArrayLike, denominator: ArrayLike, *, clusters: ArrayLike | None = None, confidence_level: float = 0.95
) -> FiellerSet:
    """Fieller's confidence set of a ratio of means: every ratio r at which numerator - r denominator may have mean 0.

    Over the real line, never empty; bounded exactly where the mean denominator differs significantly from 0. The estimate is
    ``nan`` where the mean denominator is 0; the set is undefined for fewer than two items, where the denominator is 0
    throughout, and where every item has the same ratio. Dual of `ragnb.stats.paired.paired_t_test` of
    numerator - r denominator; with clusters, of `ragnb.stats.clusters.cluster_t_test`.

    Parameters
    ----------
    numerator, denominator : array_like of shape (n,)
        Two finite values of each item, such as gain and cost.
    clusters : array_like of shape (n,), optional
        Key of the question that several items share: cluster-robust variance, t with G - 1 degrees of freedom.
    confidence_level : float, default 0.95
        Coverage, exact for jointly normal pairs, also where the denominator is near 0; about .93 for log-normal costs.

    Raises
    ------
    InputError
        If a value is not finite, the lengths differ, or the level is not in (0, 1).

    Notes
    -----
    With means y, z, their estimated covariances s, and t the quantile with n - 1 degrees of freedom, the set is
    (y - r z)^2 <= t^2 (s_yy - 2 r s_yz + r^2 s_zz). Values beyond the largest double come out infinite.

    References
    ----------
    Fieller, E. C. (1954). Some problems in interval estimation. J. R. Stat. Soc. B 16, 175-185. Its three kinds: von
    Luxburg, U. & Franz, V. H. (2009). A geometric approach to confidence sets for ratios. Stat. Sin. 19, 1095-1117.

    Examples
    --------
    >>> print(fieller_interval([0.5, 0.0, 0.25, 0.5], [20, 10, 10, 30]))
    0.01786 [-0.01736, 0.03682] (95% Fieller, n = 4)
    >>> print(fieller_interval([2, 1, 2, 3], [-1, 3, 1, -2]))
    8 (-inf, -0.9571] or [0.195, inf) (95% Fieller, two rays, n = 4)
    """
    pairs, level = _pairs(numerator, denominator, clusters), check_level(confidence_level)
    method = pairs.named("Fieller")
    if problem := pairs.problem():
        method = f"{method}; undefined: {problem}"
        return FiellerSet(pairs.estimate, nan, nan, level, method, pairs.count, "undefined", (nan, nan))
    dy, dz = pairs.margin(pairs.numerator, level), pairs.margin(pairs.denominator, level)
    kind, *roots = _fieller_roots(*pairs.means, dy, dz)
    limits = pairs.unscaled(roots[0]), pairs.unscaled(roots[1])
    if kind == "bounded":
        return FiellerSet(pairs.estimate, *limits, level, method, pairs.count, kind, limits)
    return FiellerSet(pairs.estimate, -inf, inf, level, f"{method}, {kind}", pairs.count, kind, limits)


def _fieller_roots(y: float, z: float, dy: Floats, dz: Floats) -> tuple[str, float, float]:
    """Return the kind of the set (y - r z)^2 <= |dy - r dz|^2, that is a r^2 - 2 b r + c <= 0, and its roots, ascending.

    The discriminant b^2 - a c is written as a difference of two sums of squares, and the roots so that nothing cancels.
    """
    a, b, c = z * z - float(dz @ dz), y * z - float(dy @ dz), y * y - float(dy @ dy)
    across = z * dy - y * dz
    unexplained = dy - float(dy @ dz) / float(dz @ dz) * dz if dz.any() else dz
    discriminant = float(across @ across) - float(dz @ dz) * float(unexplained @ unexplained)
    if a <= 0 and discriminant <= 0:
        return "whole line", nan, nan
    sum_of_both = b + copysign(sqrt(max(discriminant, 0.0)), b)
    far = sum_of_both / a if a else copysign(inf, -b)
    near = c / sum_of_both
    return "bounded" if a > 0 else "two rays", min(far, near), max(far, near)


def ratio_of_means_bca(
    numerator: ArrayLike, denominator: ArrayLike, *, clusters: ArrayLike | None = None, confidence_level: float = 0.95
) -> Interval:
    """ABC interval of a ratio of means: the BCa bootstrap interval in its analytic approximation, without resampling.

    Limits are ``nan`` where Fieller's set is undefined and where the denominator reaches 0 on the way to a limit. The method
    says when the mean denominator does not differ significantly from 0; only `fieller_interval` holds then. Dual of no test.

    Parameters
    ----------
    numerator, denominator : array_like of shape (n,)
        Two finite values of each item, such as gain and cost.
    clusters : array_like of shape (n,), optional
        Key of the question that several items share: approximates the bootstrap that resamples whole clusters.
    confidence_level : float, default 0.95
        Nominal coverage; at n = 20 about .92, as the bootstrap's: its variance has divisor n and its quantiles are normal.
        With log-normal costs .86 there and .92 at n = 300.

    Raises
    ------
    InputError
        If a value is not finite, the lengths differ, or the level is not in (0, 1).

    Notes
    -----
    With r the estimate, e = y - r z, u = e / |e| and the acceleration a = sum(u^3) / 6, the limits are
    (sum(y) + k u.y) / (sum(z) + k u.z) at k = w / (1 - a w)^2, w = a -+ Phi^-1((1 + confidence_level) / 2). These are the
    nonparametric ABC limits with exact derivatives; a ratio of means has no curvature in their sense, so that the bias
    correction z0 equals a.

    References
    ----------
    DiCiccio, T. & Efron, B. (1992). More accurate confidence intervals in exponential families. Biometrika 79, 231-245.
    Efron, B. (1987). Better bootstrap confidence intervals. JASA 82, 171-185.

    Examples
    --------
    >>> print(ratio_of_means_bca([5, 0, 2.5, 5, 4], [2, 1, 1, 3, 2]))
    1.833 [1.139, 2.258] (95% ABC (analytic BCa), n = 5)
    """
    pairs, level = _pairs(numerator, denominator, clusters), check_level(confidence_level)
    method = pairs.named("ABC (analytic BCa)")
    if problem := pairs.problem() or pairs.zero_mean():
        return undefined_interval(pairs.estimate, level, method, pairs.count, problem)
    low, high = map(pairs.unscaled, _abc_limits(pairs.numerator, pairs.denominator, normal_quantile((1 + level) / 2)))
    if isnan(low) or isnan(high):
        return undefined_interval(pairs.estimate, level, method, pairs.count, "the denominator reaches 0 before a limit")
    return Interval(pairs.estimate, low, high, level, method + pairs.doubt(level), pairs.count)


def _abc_limits(y: Floats, z: Floats, quantile: float) -> tuple[float, float]:
    """Return the limits of sum(y) / sum(z), ``nan`` where the denominator reaches 0 before one."""
    gained, spent = float(y.sum()), float(z.sum())
    residuals = y - gained / spent * z
    u = residuals / sqrt(float(residuals @ residuals))
    a, toward_y, toward_z = float((u * u) @ u) / 6, float(u @ y), float(u @ z)

    def limit(w: float) -> float:
        k = w / (1 - a * w) ** 2 if a * w < 1 else nan
        left = spent + k * toward_z
        return (gained + k * toward_y) / left if left / spent > 0 else nan

    limits = limit(a - quantile), limit(a + quantile)  # the ratio moves with k in the direction of its denominator's sign
    return limits if spent > 0 else limits[::-1]


def compare_ratios(
    first_numerator: ArrayLike,
    first_denominator: ArrayLike,
    second_numerator: ArrayLike,
    second_denominator: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> RatioComparison:
    """Difference of two systems' ratios of means on the same items, with jackknife t interval and test.

    In the unit of the ratios; ``nan`` for fewer than two items, where a mean denominator is 0 (a system that spends nothing
    has no ratio: compare by `ragnb.stats.cost_effectiveness.net_benefit`), where a ratio is beyond 1e50, and where the
    difference has no spread. Interval and test are duals.

    Parameters
    ----------
    first_numerator, first_denominator, second_numerator, second_denominator : array_like of shape (n,)
        Two finite values of each item for each system, such as gains and costs.
    clusters : array_like of shape (n,), optional
        Key of the question that several items share: whole clusters are left out, t with G - 1 degrees of freedom.
    confidence_level : float, default 0.95
        Nominal coverage; holds from n = 20 on, also for log-normal costs, where the linearised (delta) variance gives .92.
        Not where a mean denominator is near 0: .90 at 2.5 standard errors from it, .93 at 4. Method and warning say so only
        where a t-test of the denominator does not rule out 0.

    Raises
    ------
    InputError
        If a value is not finite, the lengths differ, or the level is not in (0, 1).

    Notes
    -----
    D -+ t(n - 1) sqrt((n - 1) / n sum_i (D_(i) - mean D_(.))^2), D_(i) the difference without item i.

    References
    ----------
    Efron, B. & Tibshirani, R. J. (1993). An Introduction to the Bootstrap, chapter 11. The jackknife variance of a ratio:
    Royall, R. M. & Cumberland, W. G. (1981). An empirical study of the ratio estimator and estimators of its variance. JASA
    76, 66-77.

    Examples
    --------
    >>> result = compare_ratios([4, 1, 3, 4], [2, 1, 1, 2], [1, 1, 2, 1], [3, 2, 4, 3])
    >>> round(result.first, 3), round(result.second, 3), round(result.test.p_value, 4)
    (2.0, 0.417, 0.0067)
    """
    first = _pairs(first_numerator, first_denominator, clusters)
    second, level = _pairs(second_numerator, second_denominator, clusters), check_level(confidence_level)
    if first.count != second.count:
        raise InputError(
            f"compare_ratios needs both systems on the same items; it got {first.count} and {second.count}; "
            "align them by item id first."
        )
    with np.errstate(invalid="ignore"):  # of two infinite ratios
        left_out = first.left_out() - second.left_out()
    problem = first.too_few() or first.zero_mean() or second.zero_mean() or _spread_problem(first, second, left_out)
    difference, method = first.estimate - second.estimate, first.named("jackknife t")
    if problem:
        interval = undefined_interval(difference, level, method, first.count, problem)
        test = undefined_test("two-sided", method, first.count, problem)
    else:
        interval, test = _jackknife_t(difference, left_out, level, method, first.doubt(level) or second.doubt(level))
    return RatioComparison(first.estimate, second.estimate, interval, test)


def _spread_problem(first: "_Pairs", second: "_Pairs", left_out: Floats) -> str:
    largest = max(abs(first.estimate), abs(second.estimate))
    if np.nanmax(np.abs(left_out), initial=largest) > LARGEST:
        return f"a ratio is beyond {LARGEST:g}"
    if np.isnan(left_out).any():
        return f"one {first.unit} holds the whole denominator"
    same = np.ptp(left_out) <= max(1e-12 * largest, 1 / LARGEST)
    return "the difference has no spread" if same else ""


def _jackknife_t(
    difference: float, left_out: Floats, level: float, method: str, doubt: str
) -> tuple[Interval, SignificanceResult]:
    n = left_out.size
    error = sqrt((n - 1) / n * float(np.square(left_out - left_out.mean()).sum()))
    half = t_quantile((1 + level) / 2, n - 1) * error
    interval = Interval(difference, difference - half, difference + half, level, method + doubt, n)
    t = difference / error
    p = two_sided(t_cdf(t, n - 1), t_cdf(-t, n - 1), "two-sided")
    return interval, SignificanceResult(t, p, "two-sided", method, n, doubt.removeprefix("; "))


# ---- the two columns ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Totals of both columns over each unit (an item or a cluster) and its number of items.

    Each column is scaled by a power of two to at most 1 an item; `exponent` takes a ratio back.
    """

    numerator: Floats
    denominator: Floats
    sizes: Floats
    exponent: int
    unit: str

    @property
    def count(self) -> int:
        return self.numerator.size

    @property
    def means(self) -> tuple[float, float]:
        n = self.sizes.sum()
        return float(self.numerator.sum() / n), float(self.denominator.sum() / n)

    @property
    def estimate(self) -> float:
        return nan if self.zero_mean() else self.unscaled(self.numerator.sum() / self.denominator.sum())

    def unscaled(self, ratio: float) -> float:
        with np.errstate(over="ignore"):
            return float(np.ldexp(ratio, self.exponent))

    def margin(self, column: Floats, level: float) -> Floats:
        """Return the deviations of a column, scaled so that their length is t standard errors of its mean.

        So is the length of dy - r dz, of the mean of numerator - r denominator.
        """
        n = self.sizes.sum()
        scale = t_quantile((1 + level) / 2, self.count - 1) * sqrt(self.count / (self.count - 1)) / n
        return scale * (column - column.sum() / n * self.sizes)

    def left_out(self) -> Floats:
        """Return the ratio without each unit in turn, ``nan`` where nothing is left of the denominator."""
        rest = self.denominator.sum() - self.denominator
        rest[np.abs(rest) <= 1e-12 * np.abs(self.denominator).sum()] = nan
        with np.errstate(over="ignore"):
            return np.ldexp((self.numerator.sum() - self.numerator) / rest, self.exponent)

    def too_few(self) -> str:
        return f"needs 2 {self.unit}s, got {self.count}" if self.count < 2 else ""

    def problem(self) -> str:
        """Return why no confidence set of the ratio exists, or an empty string."""
        y, z = self.numerator, self.denominator
        if few := self.too_few():
            return few
        if np.abs(z).max() <= 1e-12:
            return "the denominator is 0 throughout"
        if np.abs(y - float(y @ z) / float(z @ z) * z).max() <= 1e-12 * np.abs(y).max():
            return f"every {self.unit} has the same ratio"
        return ""

    def zero_mean(self) -> str:
        vanishes = abs(self.denominator.sum()) <= 1e-12 * np.abs(self.denominator).sum()
        return "the mean denominator is 0" if vanishes else ""

    def doubt(self, level: float) -> str:
        """Return a warning where a t-test of the denominator does not rule out 0."""
        margin = self.margin(self.denominator, level)
        doubtful = self.means[1] ** 2 <= float(margin @ margin)
        return "; the denominator may be 0: see Fieller's set" if doubtful else ""

    def named(self, method: str) -> str:
        if self.unit == "item":
            return method
        caution = f" (fewer than {FEW_CLUSTERS}: too narrow)" if self.count < FEW_CLUSTERS else ""
        return f"{method}, {self.count} clusters{caution}"


def _pairs(numerator: ArrayLike, denominator: ArrayLike, clusters: ArrayLike | None) -> _Pairs:
    y, z = (
        check_scores(values, what, largest=np.inf)  # units of any size: they are divided out
        for values, what in ((numerator, "numerator"), (denominator, "denominator"))
    )
    if y.size != z.size:
        raise InputError(
            f"A ratio needs one numerator and one denominator per item; it got {y.size} and {z.size}; align them by item id."
        )
    (y, y_exponent), (z, z_exponent) = _scaled(y), _scaled(z)
    if clusters is None:
        return _Pairs(y, z, np.ones(y.size), y_exponent - z_exponent, "item")
    codes, count = check_clusters(clusters, y.size)

    def total(column: Floats) -> Floats:
        return np.bincount(codes, column, count).astype(np.float64)

    return _Pairs(total(y), total(z), total(np.ones(y.size)), y_exponent - z_exponent, "cluster")


def _scaled(values: Floats) -> tuple[Floats, int]:
    exponent = int(np.frexp(np.abs(values).max(initial=0.0))[1])
    return np.ldexp(values, -exponent), exponent
