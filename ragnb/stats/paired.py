"""Tests and a sign-flip interval for the mean difference between two systems on the same items.

Every function takes the scores of both systems, with the items in the same order, or one array of
paired differences (first - second). Scores that differ only by rounding error are treated as equal.
For graded scores such as token F1, use `sign_flip_test`, which does not assume a normal
distribution. For 0/1 scores, see `ragnb.stats.binary`.

=====================  =========================================================
test                   interval obtained by inverting the test
=====================  =========================================================
`sign_flip_test`       `sign_flip_interval`
`paired_t_test`        `ragnb.stats.intervals.mean_interval`
`tost`                 `mean_interval` at level ``2 * confidence_level - 1``
=====================  =========================================================

All functions except `paired_differences` raise InputError for invalid arguments.
"""

from dataclasses import dataclass
from functools import cache
from math import ceil, floor, inf, nan, sqrt

import numpy as np
from scipy.special import ndtri

from ragnb.arguments import ALTERNATIVES, Floats, Integers, accepts
from ragnb.errors import InputError
from ragnb.results import (
    SMALLEST_P,
    Interval,
    SignificanceResult,
    undefined_interval,
    undefined_test,
)
from ragnb.rounding import ROUNDING
from ragnb.stats.exact import (
    MAX_LISTED,
    MAX_POINTS,
    find_lattice,
    listed_tail,
    sign_flip_tail,
    to_lattice,
)
from ragnb.stats.intervals import (
    FEW_CLUSTERS,
    equal_values_interval,
    mean_interval,
    spread_problem,
    t_half_width,
    unit_values,
)


@accepts()
def paired_differences(first: Floats, second: Floats | None = None) -> Floats:
    """Compute paired differences (first - second), with differences within rounding error as 0.

    Parameters
    ----------
    first : ndarray of shape (n,)
        Scores of the first system, or the paired differences (first - second) if `second` is None.
    second : ndarray of shape (n,), default=None
        Scores of the second system on the same items.

    Returns
    -------
    ndarray of shape (n,)
        The differences. A difference is set to 0 if it is at most 1e-12 times the larger of the two
        scores, in absolute value.

    Examples
    --------
    >>> paired_differences(np.array([0.1 + 0.2, 0.5]), np.array([0.3, 0.25]))
    array([0.  , 0.25])
    """
    if second is None:
        return first
    differences = first - second
    equal = np.abs(differences) <= ROUNDING * np.maximum(np.abs(first), np.abs(second))
    return np.where(equal, 0.0, differences)


# ---- the sign-flip test and its interval ---------------------------------------------------------


@accepts(
    first="scores", second="scores", clusters="clusters", null="number", alternative=ALTERNATIVES
)
def sign_flip_test(
    first: Floats,
    second: Floats | None = None,
    *,
    clusters: Integers | None = None,
    null: float = 0.0,
    alternative: str = "two-sided",
) -> SignificanceResult:
    """Exact sign-flip test of whether paired differences are symmetric about `null`.

    The test is also known as Fisher's randomisation test for paired data [1]_.

    Parameters
    ----------
    first : array-like of shape (n,)
        Scores of the first system, or the paired differences (first - second) if `second` is None.
    second : array-like of shape (n,), default=None
        Scores of the second system on the same items.
    clusters : array-like of shape (n,), default=None
        Cluster of each item, such as its question. If None, items are treated as independent.
        Otherwise, the signs of all differences in a cluster are flipped together [3]_.
    null : float, default=0.0
        Centre of symmetry, and thus the mean difference, under the null hypothesis.
    alternative : {'two-sided', 'greater', 'less'}, default='two-sided'
        Alternative hypothesis: the mean difference (first - second) differs from `null`, is above
        `null` or is below `null`, respectively.

    Returns
    -------
    SignificanceResult
        The statistic is the mean difference minus `null`. The p-value is 1 if all differences equal
        `null`. Both are NaN if there are no items.

    Notes
    -----
    Under the null hypothesis, each difference minus `null` (or the sum of these values over a
    cluster) is equally likely to be positive or negative, independently of the others. The
    one-sided p-value is the proportion of all sign patterns for which the sum is at least as
    extreme as the observed sum. The two-sided p-value is twice the smaller one-sided p-value, but
    at most 1. The proportions are computed without random sampling: by enumeration for up to 30
    nonzero differences (or cluster sums), and by Fourier inversion [2]_ for more. Fourier inversion
    requires multiples of a common step, such as 0.01. If no suitable step is found, the differences
    are rounded to a grid, and the `method` attribute of the result states its step. The test of the rounded differences
    still controls the type I error rate.

    References
    ----------
    .. [1] Fisher, R. A. (1935). The Design of Experiments, section 21.
    .. [2] Pagano, M. & Tritchler, D. (1983). On obtaining permutation distributions in polynomial
       time. JASA 78, 435-440.
    .. [3] Canay, I. A., Romano, J. P. & Shaikh, A. M. (2017). Randomization tests under an
       approximate symmetry assumption. Econometrica 85, 1013-1030.

    Examples
    --------
    >>> print(sign_flip_test([1, 1, 0.5, 1], [0, 0.5, 0, 0]))  # 2 of 16 sign patterns
    statistic 0.75, p = 0.1250 (exact sign-flip test, two-sided, n = 4)
    >>> sign_flip_test([1, 1, 1, 0, 1, 0], clusters=["a", "a", "b", "b", "c", "c"]).p_value
    0.25
    """
    differences = paired_differences(paired_differences(first, second), np.asarray(null))
    flipped, method = differences, "exact sign-flip test"
    if clusters is not None:
        sums, sizes = (np.bincount(clusters, x) for x in (differences, np.abs(differences)))
        flipped = np.where(np.abs(sums) <= ROUNDING * sizes, 0.0, sums)  # without rounding error
        method = "exact cluster sign-flip test"
    if not flipped.size:
        return undefined_test(alternative, method, 0, "no items")
    upward = flipped.sum() >= 0 if alternative == "two-sided" else alternative == "greater"
    signed = flipped if upward else -flipped  # The distribution of the sum is symmetric.
    signed = signed[signed != 0]
    if signed.size <= MAX_LISTED:
        p = listed_tail(signed)
    else:
        steps, grid = to_lattice(signed)
        p = sign_flip_tail(steps)
        method += f", scores rounded to {grid:.3g}" if grid else ""
    p = min(1.0, 2 * p) if alternative == "two-sided" else p
    return SignificanceResult(float(differences.mean()), p, alternative, method, flipped.size)


@accepts(first="scores", second="scores", confidence_level="level")
def sign_flip_interval(
    first: Floats,
    second: Floats | None = None,
    *,
    bounds: tuple[float, float] | None = None,
    confidence_level: float = 0.95,
) -> Interval:
    """Sign-flip confidence interval for a mean paired difference.

    The interval inverts the two-sided `sign_flip_test`. It is exact for up to 20 items and
    approximate for more.

    Parameters
    ----------
    first : array-like of shape (n,)
        Scores of the first system, or the paired differences (first - second) if `second` is None.
    second : array-like of shape (n,), default=None
        Scores of the second system on the same items.
    bounds : tuple of (float, float) or None, default=None
        Smallest and largest possible difference, such as -1 and 1 for scores between 0 and 1. The
        limits are truncated to this range.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, in (0, 1). For up to 20 items, the actual coverage is
        never below this level if the differences are independent and symmetrically distributed
        about a common mean.

    Returns
    -------
    Interval
        The mean difference with its limits. If there are fewer than two items or if all differences
        are equal, the limits are those of `ragnb.stats.intervals.equal_values_interval`, or NaN if
        there are no finite bounds. Otherwise, if there are too few items for the test to reject any
        mean difference, the limits are the bounds, or infinite without bounds; a narrower 95 %
        interval requires at least 6 items. The mean difference is NaN if there are no items.

    Notes
    -----
    Let d be the differences. Flipping the signs of d - delta for a subset of the items lowers the
    sum of all d - delta if and only if the mean of d over the subset exceeds delta. The limits are
    therefore quantiles of the subset means [1]_. For more than 20 items, the limits are found by
    evaluating `sign_flip_test` on a grid of null values and interpolating between them.

    References
    ----------
    .. [1] Hartigan, J. A. (1969). Using subsample values as typical values. JASA 64, 1303-1317.

    Examples
    --------
    >>> print(sign_flip_interval([1, 2, 3, 4, 5, 6]))
    3.500 [1.000, 6.000] (95% sign-flip, n = 6)
    """
    differences = paired_differences(first, second)
    n, mean = differences.size, float(differences.mean()) if differences.size else nan
    if problem := spread_problem(differences):
        undefined = undefined_interval(mean, confidence_level, "sign-flip", n, problem)
        return equal_values_interval(undefined, bounds)
    tail = (1 - confidence_level) / 2
    low, high = -inf, inf
    if 0.5**n <= tail:
        limit = _listed_limit if n <= 20 else _searched_limit
        low, high = limit(differences, tail), -limit(-differences, tail)
    interval = Interval(mean, low, high, confidence_level, "sign-flip", n)
    return interval.clipped(*bounds) if bounds else interval


def _listed_limit(differences: Floats, tail: float) -> float:
    """Lower limit, from the means of all subsets."""
    sums, sizes = np.zeros(1), np.zeros(1)
    for difference in differences:
        sums, sizes = np.append(sums, sums + difference), np.append(sizes, sizes + 1)
    place = int(tail * sums.size + 1e-9) - 1
    return float(np.partition(sums[1:] / sizes[1:], place)[place])


def _searched_limit(differences: Floats, tail: float) -> float:
    """Lower limit, from a search on a grid that starts at the lower limit of the t interval."""
    from scipy.optimize import brentq

    # Distances from the smallest difference, so that a constant added to all differences is added
    # to the limit.
    origin = float(differences.min())
    distances = differences - origin
    half = t_half_width(differences, 1 - 2 * tail)
    spread = float(differences.std()) * sqrt(differences.size)
    widest = max(half / 32, 10 * spread / MAX_POINTS)
    lattice = find_lattice(distances, float(np.abs(differences).max()))
    # A common step that is much finer than needed would take many seconds.
    step = lattice[1] if lattice and lattice[1] >= min(widest, spread / 3000) else widest
    grid = step / ceil(step / widest)
    steps = np.rint(distances / grid).astype(np.int64)

    @cache
    def quantile(shift: int) -> float:
        """The normal quantile of the p-value of a shift by whole grid steps."""
        return float(ndtri(min(sign_flip_tail(steps - shift), 1 - 1e-12)))

    def excess(shift: float) -> float:
        """How far the interpolated quantile of a shift is above that of the tail."""
        below, above = floor(shift), ceil(shift)
        slope = quantile(above) - quantile(below)
        return quantile(below) + (shift - below) * slope - ndtri(tail)

    low = floor((distances.mean() - half) / grid)
    high = low + 1
    while excess(low) > 0:
        low -= high - low
    while excess(high) < 0:
        high += high - low
    return origin + grid * brentq(excess, low, high)


# ---- other tests ---------------------------------------------------------------------------------


@accepts(
    first="scores", second="scores", clusters="clusters", null="number", alternative=ALTERNATIVES
)
def paired_t_test(
    first: Floats,
    second: Floats | None = None,
    *,
    clusters: Integers | None = None,
    null: float = 0.0,
    alternative: str = "two-sided",
) -> SignificanceResult:
    """Student's t-test of the null hypothesis that the mean paired difference is `null`.

    The corresponding confidence interval is `ragnb.stats.intervals.mean_interval`.

    Parameters
    ----------
    first : array-like of shape (n,)
        Scores of the first system, or the paired differences (first - second) if `second` is None.
    second : array-like of shape (n,), default=None
        Scores of the second system on the same items.
    clusters : array-like of shape (n,), default=None
        Cluster of each item, such as its question. If None, items are treated as independent.
        Otherwise, the test is cluster-robust. If there are fewer than 30 clusters, the result
        includes a warning that the p-value may be too small.
    null : float, default=0.0
        Mean difference under the null hypothesis. For a test of non-inferiority of the first system
        (if higher scores are better), use ``null=-margin`` and ``alternative="greater"``.
    alternative : {'two-sided', 'greater', 'less'}, default='two-sided'
        Alternative hypothesis: the mean difference (first - second) differs from `null`, is above
        `null` or is below `null`, respectively.

    Returns
    -------
    SignificanceResult
        The t statistic and its p-value. Both are NaN if there are fewer than two pairs (or
        clusters) or if the estimated standard error is 0.

    Notes
    -----
    The statistic t = (mean - null) / standard error has n - 1 degrees of freedom. With G clusters,
    the standard error is cluster-robust (see `ragnb.stats.intervals.mean_interval`), and there are
    G - 1 degrees of freedom.

    References
    ----------
    .. [1] Student (1908). The probable error of a mean. Biometrika 6, 1-25.
    .. [2] Cameron, A. C. & Miller, D. L. (2015). A practitioner's guide to cluster-robust
       inference. J. Human Resources 50, 317-372, section VI.

    Examples
    --------
    >>> print(paired_t_test([2, 4, 6], [1, 2, 3]))  # differences 1, 2, 3: t = 2 / (1 / sqrt 3)
    statistic 3.464, p = 0.0742 (paired t-test, two-sided, n = 3)
    """
    from scipy.stats import ttest_1samp

    units = unit_values(paired_differences(first, second), clusters)
    method, unit, warning = "paired t-test", "values", ""
    if clusters is not None:
        method, unit = "cluster-robust t-test", "clusters"
        if units.size < FEW_CLUSTERS:
            warning = f"{units.size} clusters, fewer than {FEW_CLUSTERS}: p may be too small"
    if problem := spread_problem(units, unit):
        return undefined_test(alternative, method, units.size, problem)
    t, p = map(float, ttest_1samp(units, null, alternative=alternative))
    return SignificanceResult(t, max(p, SMALLEST_P), alternative, method, units.size, warning)


@accepts()
def t_or_sign_flip_test(
    first: Floats, second: Floats | None = None, *, clusters: Integers | None = None
) -> SignificanceResult:
    """Two-sided paired t-test, or the exact sign-flip test if the t-test is undefined.

    The t-test is undefined if the estimated standard error is 0, because all differences (or the
    means of all clusters) are equal. The sign-flip test is exact there as well: if all n
    differences (or cluster sums) have the same sign, its p-value is 2 / 2^n.

    Parameters
    ----------
    first, second, clusters
        As for `paired_t_test`.

    Returns
    -------
    SignificanceResult
        Result of `paired_t_test` or `sign_flip_test`, as the attribute `method` states. Statistic
        and p-value are NaN if there are fewer than two items (or clusters).

    Examples
    --------
    >>> print(t_or_sign_flip_test([0.5] * 8, [1.0] * 8))  # 2 of 256 sign patterns
    statistic -0.5, p = 0.0078 (exact sign-flip test, two-sided, n = 8)
    """
    result = paired_t_test(first, second, clusters=clusters)
    if result.n < 2 or result.p_value == result.p_value:
        return result
    return sign_flip_test(first, second, clusters=clusters)


@dataclass(frozen=True, slots=True)
class EquivalenceResult:
    """Result of an equivalence test, with the corresponding confidence interval.

    Attributes
    ----------
    p_value : float
        The larger of the two one-sided p-values; NaN if undefined.
    margin : float
        Equivalence margin, in the units of the scores. Equivalence means that the mean difference
        is between -margin and margin.
    interval : Interval
        The mean difference with its confidence interval at level ``2 * confidence_level - 1``,
        where `confidence_level` is the argument of `tost`.
    equivalent : bool
        True if both limits of the interval are defined and strictly between -margin and margin.
    """

    p_value: float
    margin: float
    interval: Interval
    equivalent: bool


@accepts(first="scores", second="scores", margin="positive", confidence_level="level")
def tost(
    first: Floats, second: Floats | None = None, *, margin: float, confidence_level: float = 0.95
) -> EquivalenceResult:
    """Equivalence test for a mean paired difference by two one-sided t-tests (TOST).

    The null hypothesis is that the true mean difference is at most -margin or at least margin.
    Rejecting it shows that the systems are equivalent. Items are treated as independent.

    Parameters
    ----------
    first : array-like of shape (n,)
        Scores of the first system, or the paired differences (first - second) if `second` is None.
    second : array-like of shape (n,), default=None
        Scores of the second system on the same items.
    margin : float
        Equivalence margin, above 0 and in the units of the scores: the largest mean difference that
        does not matter in practice. Choose it before you see the data.
    confidence_level : float, default=0.95
        One minus the significance level of each one-sided test, in (0.5, 1).

    Returns
    -------
    EquivalenceResult
        The p-value, the confidence interval and the conclusion. If there are fewer than two pairs
        or if all differences are equal, the p-value is NaN and equivalence is not shown.

    References
    ----------
    .. [1] Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure and the power
       approach for assessing the equivalence of average bioavailability. J. Pharmacokinet.
       Biopharm. 15, 657-680.

    Examples
    --------
    >>> result = tost([0.01, -0.02, 0.0, 0.01, -0.01, 0.02], margin=0.05)
    >>> result.equivalent, round(result.p_value, 5)
    (True, 0.00024)
    """
    if confidence_level <= 0.5:
        raise InputError(f"confidence_level must be above 0.5, got {confidence_level}")
    differences = paired_differences(first, second)
    above = paired_t_test(differences, null=-margin, alternative="greater").p_value
    below = paired_t_test(differences, null=margin, alternative="less").p_value
    interval = mean_interval(differences, confidence_level=2 * confidence_level - 1)
    inside = -margin < interval.low and interval.high < margin
    return EquivalenceResult(max(above, below), margin, interval, inside)
