"""Paired tests of two systems on the same items, and the intervals that are their duals.

Each takes two aligned arrays of scores, or one array of differences (first - second). Two scores within 1e-12 of the
larger one are equal, so that rounding error makes no difference. For graded scores such as token F1 use `sign_flip_test`,
which needs no normal distribution; for 0/1 scores `ragnb.stats.binary`; where items share questions `ragnb.stats.clusters`.

=====================  ==============================================
test                   interval that inverts it
=====================  ==============================================
`sign_flip_test`       `sign_flip_interval`
`paired_t_test`        `ragnb.stats.intervals.mean_interval`
`tost`                 the same at level 2 * confidence_level - 1
`wilcoxon_test`        none here
`sign_test`            Clopper-Pearson, of the share of positive differences
=====================  ==============================================
"""

from collections.abc import Callable
from functools import cache, partial
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from ragnb.errors import InputError, as_real
from ragnb.results import EquivalenceResult, Interval, SignificanceResult
from ragnb.stats.checks import (
    Floats,
    check_alternative,
    check_differences,
    check_level,
    check_number,
    paired_differences,
    spread_problem,
    undefined_interval,
    undefined_test,
)
from ragnb.stats.intervals import mean_interval
from ragnb.stats.lattice import (
    MAX_LISTED,
    MAX_POINTS,
    find_lattice,
    listed_tail,
    sign_flip_lattice,
    sign_flip_tail,
)
from ragnb.stats.numerics import (
    binomial_cdf,
    midranks,
    normal_cdf,
    normal_quantile,
    scaled_to_largest,
    t_cdf,
    t_quantile,
    two_sided,
)


def sign_flip_test(
    first: ArrayLike,
    second: ArrayLike | None = None,
    *,
    null: float = 0.0,
    alternative: str = "two-sided",
    resolution: float | None = None,
) -> SignificanceResult:
    """Exact sign-flip permutation test of a mean paired difference (Fisher's randomisation test).

    p in (0, 1], at least 2^(1-m) two-sided with m non-zero differences; 1 when all are zero; ``nan`` without items.
    Dual of `sign_flip_interval`.

    Parameters
    ----------
    first, second : array_like of shape (n,)
        Scores of two systems on the same items; without `second`, `first` holds the differences.
    null : float, default 0.0
        Shift subtracted from every difference before the test.
    alternative : {"two-sided", "greater", "less"}
        Direction of first - second - null.
    resolution : float, optional
        Grid to which the differences are rounded. By default they are rounded only if more than 30 of them differ from
        0 and they share no lattice, that is, they are not all multiples of one step such as 0.01. The grid is then a
        thousandth of the power of ten at or above the largest of them. The method of the result names the grid.

    Raises
    ------
    InputError
        If a score is not finite, the lengths differ, or an option is out of range.

    Notes
    -----
    If the systems are exchangeable on each item, every difference is as likely with either sign, and p is the share of
    all 2^n sign patterns with a sum at least as extreme as the one seen. No pattern is drawn at random. Differences on a
    lattice go to `ragnb.stats.lattice.sign_flip_tail`, which is accurate down to the smallest p; up to 30 differences
    without a lattice go to `ragnb.stats.lattice.listed_tail`, which counts all patterns. A test of rounded differences
    keeps its level, but its p can differ from that of the unrounded differences by about 0.01.

    References
    ----------
    Fisher, R. A. (1935). The Design of Experiments, section 21. Pagano, M. & Tritchler, D. (1983). On obtaining
    permutation distributions in polynomial time. JASA 78, 435-440.

    Examples
    --------
    >>> print(sign_flip_test([1, 1, 0.5, 1], [0, 0.5, 0, 0]))  # 2 of 16 sign patterns
    statistic 0.75, p = 0.1250 (exact sign-flip test, two-sided, n = 4)
    """
    differences = paired_differences(check_differences(first, second), np.asarray(check_number(null, "null")))
    check_alternative(alternative)
    if resolution is not None and not 0 < as_real(resolution) < np.inf:
        raise InputError(f"resolution needs a positive number; it got {resolution!r}; pass a grid such as 0.001.")
    n = differences.size
    if n == 0:
        return undefined_test(alternative, "exact sign-flip test", 0, "no items")
    method, mean = "exact sign-flip test", float(differences.mean())
    lattice = sign_flip_lattice(differences, resolution)
    if lattice.rounded_to and resolution is None and np.count_nonzero(differences) <= MAX_LISTED:
        tail = partial(listed_tail, np.abs(differences[differences != 0]))
        p = _sign_flip_p(tail, float(differences.sum()), alternative)
        return SignificanceResult(mean, p, alternative, method, n)
    rounded = f", scores rounded to {lattice.rounded_to:g}" if lattice.rounded_to else ""
    p = _sign_flip_p(partial(sign_flip_tail, lattice.magnitudes, lattice.counts), lattice.observed, alternative)
    return SignificanceResult(mean, p, alternative, f"{method}{rounded}", n)


def _sign_flip_p(tail: Callable[..., float], observed: float, alternative: str) -> float:
    """Return the p-value of a signed sum. Its distribution is symmetric, so the lower tail is an upper tail mirrored."""
    if alternative == "two-sided":
        return min(1.0, 2 * tail(abs(observed)))
    return tail(observed if alternative == "greater" else -observed)


def sign_flip_interval(first: ArrayLike, second: ArrayLike | None = None, *, confidence_level: float = 0.95) -> Interval:
    """Sign-flip interval of a mean paired difference: the shifts that the sign-flip test does not reject.

    In the unit of the scores; infinite where so few items cannot reject anything (n < 6 at 95 %), ``nan`` when all are
    equal. Dual of `sign_flip_test`: exactly up to 20 items, to within 1/32 of the half-width beyond.

    Parameters
    ----------
    first, second : array_like of shape (n,)
        Scores of two systems on the same items; without `second`, `first` holds the differences.
    confidence_level : float, default 0.95
        Coverage, guaranteed where the differences are symmetric about their mean.

    Raises
    ------
    InputError
        If a score is not finite, the lengths differ, or the level is not in (0, 1).

    Notes
    -----
    Flipping the signs of a subset A of d - delta lowers the sum exactly when the mean of d over A exceeds delta, so the
    one-sided p-value at delta is the share of random subsets with a mean of at most delta, and the limits are quantiles
    of subset means. Few items: all subsets are listed. Many: the test is evaluated on a lattice of shifts, and its
    p-value interpolated on the normal-quantile scale.

    References
    ----------
    Hartigan, J. A. (1969). Using subsample values as typical values. JASA 64, 1303-1317.

    Examples
    --------
    >>> print(sign_flip_interval([1, 2, 3, 4, 5, 6]))
    3.500 [1.000, 6.000] (95% sign-flip, n = 6)
    """
    differences, level = check_differences(first, second), check_level(confidence_level)
    n = differences.size
    mean = float(differences.mean()) if n else float("nan")
    if problem := spread_problem(differences):
        return undefined_interval(mean, level, "sign-flip", n, problem)
    tail = (1 - level) / 2
    if n <= 20:
        low, high = _subset_limits(differences, tail)
    else:
        low, high = _shift_limit(differences, tail), -_shift_limit(-differences, tail)
    return Interval(mean, low, high, level, "sign-flip", n)


def _subset_limits(differences: Floats, tail: float) -> tuple[float, float]:
    """Return the subset means beyond which, to either side, at most a share `tail` of all subset means lies."""
    sums, sizes = np.zeros(1), np.zeros(1)
    for difference in differences:
        sums, sizes = np.concatenate([sums, sums + difference]), np.concatenate([sizes, sizes + 1])
    skipped = int(np.floor(tail * sums.size + 1e-9)) - 1
    if skipped < 0:
        return float("-inf"), float("inf")
    means = np.partition(sums[1:] / sizes[1:], [skipped, -1 - skipped])
    return float(means[skipped]), float(means[-1 - skipped])


def _shift_limit(differences: Floats, tail: float) -> float:
    """Return the shift at which the upper-tail p-value crosses `tail`, searched on a lattice around the t limit."""
    n = differences.size
    if 0.5**n > tail:
        return float("-inf")
    half = -t_quantile(tail, n - 1) * float(differences.std(ddof=1)) / sqrt(n)
    grid = _shift_grid(differences, half / 32)
    steps = np.rint(differences / grid).astype(np.int64)

    @cache
    def tail_at(shift: int) -> float:
        counts = np.bincount(np.abs(steps - shift))
        magnitudes = np.flatnonzero(counts[1:]) + 1
        return sign_flip_tail(magnitudes, counts[magnitudes], int((steps - shift).sum()))

    low, stride = int(np.floor((float(differences.mean()) - half) / grid)), 1
    while tail_at(low) > tail:
        low, stride = low - stride, 2 * stride
    high, stride = low + 1, 1
    while tail_at(high) <= tail:
        low, high, stride = high, high + stride, 2 * stride
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if tail_at(middle) > tail else (middle, high)
    below, above = normal_quantile(tail_at(low)), normal_quantile(min(tail_at(high), 1 - 1e-12))
    return grid * (low + (normal_quantile(tail) - below) / (above - below))


def _shift_grid(differences: Floats, wanted: float) -> float:
    """Return a grid at most about as wide as `wanted` that holds the differences' lattice and keeps sums tractable."""
    widest = max(wanted, 10 * sqrt(float(differences @ differences)) / MAX_POINTS)
    lattice = find_lattice(differences)
    if lattice is None:
        return widest
    stride = int(np.gcd.reduce(lattice[0])) / lattice[1]
    return stride / max(1, int(np.ceil(stride / widest)))


def paired_t_test(
    first: ArrayLike, second: ArrayLike | None = None, *, null: float = 0.0, alternative: str = "two-sided"
) -> SignificanceResult:
    """Student's t-test of a mean paired difference.

    p in (0, 1]; ``nan`` for fewer than two pairs or when all differences are equal. Dual of `mean_interval`.

    Parameters
    ----------
    first, second : array_like of shape (n,)
        Scores of two systems on the same items; without `second`, `first` holds the differences.
    null : float, default 0.0
        Mean difference under the null; ``null=-margin`` with ``alternative="greater"`` tests non-inferiority.
    alternative : {"two-sided", "greater", "less"}
        Direction of first - second - null.

    Raises
    ------
    InputError
        If a score is not finite, the lengths differ, or the alternative is unknown.

    Notes
    -----
    t = (mean - null) / (s / sqrt(n)) with n - 1 degrees of freedom.

    References
    ----------
    Student (1908). The probable error of a mean. Biometrika 6, 1-25.

    Examples
    --------
    >>> print(paired_t_test([2, 4, 6], [1, 2, 3]))  # differences 1, 2, 3: t = 2 / (1 / sqrt 3)
    statistic 3.464, p = 0.0742 (paired t-test, two-sided, n = 3)
    """
    differences = check_differences(first, second)
    check_alternative(alternative)
    n = differences.size
    if problem := spread_problem(differences):
        return undefined_test(alternative, "paired t-test", n, problem)
    t = (float(differences.mean()) - check_number(null, "null")) / (float(differences.std(ddof=1)) / sqrt(n))
    p = two_sided(t_cdf(t, n - 1), t_cdf(-t, n - 1), alternative)
    return SignificanceResult(t, p, alternative, "paired t-test", n)


def tost(
    first: ArrayLike, second: ArrayLike | None = None, *, margin: float, confidence_level: float = 0.95
) -> EquivalenceResult:
    """Two one-sided t-tests that the mean paired difference lies within a margin of zero ("no loss, no gain").

    p in (0, 1], small when equivalence is shown; ``nan`` (and not equivalent) for fewer than two pairs or when all
    differences are equal. Dual of the t interval at level 2 * `confidence_level` - 1, which the result carries.

    Parameters
    ----------
    first, second : array_like of shape (n,)
        Scores of two systems on the same items; without `second`, `first` holds the differences.
    margin : float
        Largest mean difference that counts as none, in the unit of the scores; to be fixed before seeing the data.
    confidence_level : float, default 0.95
        One minus the level of each one-sided test; above 0.5.

    Raises
    ------
    InputError
        If `margin` is not positive, the level not in (0.5, 1), a score not finite, or the lengths differ.

    References
    ----------
    Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure. J. Pharmacokinet. Biopharm. 15,
    657-680.

    Examples
    --------
    >>> result = tost([0.01, -0.02, 0.0, 0.01, -0.01, 0.02], margin=0.05)
    >>> result.equivalent, round(result.p_value, 5)
    (True, 0.00024)
    """
    if not 0 < as_real(margin) < np.inf:
        raise InputError(f"tost needs a positive margin; it got {margin!r}; pass the largest harmless loss.")
    if not 0.5 < check_level(confidence_level) < 1:
        raise InputError(f"tost needs a confidence_level above 0.5; it got {confidence_level!r}; write 0.95.")
    differences = check_differences(first, second)
    above = paired_t_test(differences, null=-margin, alternative="greater").p_value
    below = paired_t_test(differences, null=margin, alternative="less").p_value
    interval = mean_interval(differences, confidence_level=2 * confidence_level - 1)
    return EquivalenceResult(max(above, below), margin, interval, -margin < interval.low and interval.high < margin)


def wilcoxon_test(
    first: ArrayLike, second: ArrayLike | None = None, *, alternative: str = "two-sided"
) -> SignificanceResult:
    """Wilcoxon signed-rank test of paired differences, exact also with ties.

    p in (0, 1]; 1 when all differences are zero; ``nan`` without items. The statistic is the rank sum of the positive
    differences. Dual of no interval here; its effect size is `ragnb.stats.effects.rank_biserial`.

    Parameters
    ----------
    first, second : array_like of shape (n,)
        Scores of two systems on the same items; without `second`, `first` holds the differences.
    alternative : {"two-sided", "greater", "less"}
        Direction of first - second.

    Raises
    ------
    InputError
        If a score is not finite, the lengths differ, or the alternative is unknown.

    Notes
    -----
    Zero differences are dropped, those of scores within 1e-12 of the larger one among them; ties share their mean rank,
    absolute differences within 1e-12 of the largest counting as tied. The permutation law of the signed ranks is exact up
    to about 1,000 pairs; beyond, the normal approximation with variance sum(rank^2) / 4.

    References
    ----------
    Wilcoxon, F. (1945). Individual comparisons by ranking methods. Biometrics Bulletin 1, 80-83.

    Examples
    --------
    >>> print(wilcoxon_test([1, 2, 3, -4, 5, 6], alternative="greater"))
    statistic 17, p = 0.1094 (Wilcoxon signed-rank test, exact, greater, n = 6)
    """
    differences = check_differences(first, second)
    check_alternative(alternative)
    n = differences.size
    if n == 0:
        return undefined_test(alternative, "Wilcoxon signed-rank test", 0, "no items")
    scaled = scaled_to_largest(differences)
    scaled = scaled[scaled != 0]
    ranks = midranks(np.abs(scaled))
    positive = float(ranks[scaled > 0].sum())
    deviation = 2 * positive - float(ranks.sum())
    if 20 * sqrt(float(ranks @ ranks)) <= MAX_POINTS:
        magnitudes, counts = np.unique(np.rint(2 * ranks).astype(np.int64), return_counts=True)
        p = _sign_flip_p(partial(sign_flip_tail, magnitudes, counts), round(2 * deviation), alternative)
        return SignificanceResult(positive, p, alternative, "Wilcoxon signed-rank test, exact", n)
    z = deviation / sqrt(float(ranks @ ranks))
    p = two_sided(normal_cdf(z), normal_cdf(-z), alternative)
    return SignificanceResult(positive, p, alternative, "Wilcoxon signed-rank test, normal approximation", n)


def sign_test(first: ArrayLike, second: ArrayLike | None = None, *, alternative: str = "two-sided") -> SignificanceResult:
    """Exact sign test: whether positive and negative differences are equally likely.

    p in (0, 1]; 1 when all differences are zero; ``nan`` without items. The statistic is the number of positive
    differences. Dual of the Clopper-Pearson interval of their share among the non-zero ones; for 0/1 scores it is the
    exact McNemar test.

    Parameters
    ----------
    first, second : array_like of shape (n,)
        Scores of two systems on the same items; without `second`, `first` holds the differences.
    alternative : {"two-sided", "greater", "less"}
        Direction of first - second.

    Raises
    ------
    InputError
        If a score is not finite, the lengths differ, or the alternative is unknown.

    Notes
    -----
    Zero differences are dropped, those of scores within 1e-12 of the larger one among them; two-sided p is twice the
    smaller binomial tail.

    References
    ----------
    Dixon, W. J. & Mood, A. M. (1946). The statistical sign test. JASA 41, 557-566.

    Examples
    --------
    >>> print(sign_test([1, 2, 3, 4, 5, 6, -1]))  # 2 * (1 + 7) / 2 ** 7
    statistic 6, p = 0.1250 (exact sign test, two-sided, n = 7)
    """
    differences = check_differences(first, second)
    check_alternative(alternative)
    if differences.size == 0:
        return undefined_test(alternative, "exact sign test", 0, "no items")
    positive, negative = int((differences > 0).sum()), int((differences < 0).sum())
    lower, upper = (binomial_cdf(count, positive + negative) for count in (positive, negative))
    p = two_sided(lower, upper, alternative)
    return SignificanceResult(float(positive), p, alternative, "exact sign test", differences.size)
