"""Comparisons of several systems on the same items: Friedman test and simultaneous intervals.

Scores are an array with one row per item and one column per system. Higher scores are better;
negate scores for which lower is better. All functions raise InputError for arguments outside the
stated range.

=======================================  ========================
question                                 function
=======================================  ========================
Do the systems differ at all?            `friedman_test`
How large are all differences at once?   `simultaneous_intervals`
=======================================  ========================
"""

from math import factorial, inf, nan, prod, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import fdtrc, ndtr, stdtrit

from ragnb.arguments import Floats, Integers, accepts, as_scores
from ragnb.errors import InputError
from ragnb.results import (
    SMALLEST_P,
    Interval,
    SignificanceResult,
    undefined_interval,
    undefined_test,
)
from ragnb.stats.intervals import unit_values

FEW_ITEMS = 10
"""With fewer items, the F test does not hold its level.

For 3 systems on 3 items, it rejects a true null hypothesis in 19 % of cases at a nominal 5 %."""


def as_systems(scores: ArrayLike) -> Floats:
    """Convert scores to a finite array of shape (n_items, n_systems), with two or more systems."""
    values = as_scores(scores, 2)
    if values.shape[1] < 2:
        raise InputError(f"must have one column per system, at least two, got shape {values.shape}")
    return values


# ---- tests -------------------------------------------------------------------------------------


@accepts(scores=as_systems)
def item_ranks(scores: Floats) -> Floats:
    """Rank the systems within each item: 1 for the highest score, mean ranks for ties.

    Scores count as tied if they differ by less than about 1e-12 times the largest absolute score of
    the item.

    >>> item_ranks([[0.9, 0.5, 0.9], [0.2, 0.1, 0.4]])
    array([[1.5, 3. , 1.5],
           [2. , 3. , 1. ]])
    """
    from scipy.stats import rankdata

    largest = np.abs(scores).max(axis=1, keepdims=True)
    return rankdata(-np.round(scores / np.where(largest > 0, largest, 1.0), 12), axis=1)


@accepts(scores=as_systems)
def friedman_test(scores: Floats) -> SignificanceResult:
    """Friedman test of whether several systems differ, based on their ranks within each item.

    The null hypothesis is that, within each item, all rankings of the systems are equally likely.
    The test is corrected for ties and requires independent items. It is an omnibus test without a
    direction. The p-value is 1 if all systems are tied on every item, and NaN if there are fewer
    than two items. The statistic is the F of Iman and Davenport, not Friedman's chi-squared. Their
    test holds its nominal level with about ten or more items.

    Parameters
    ----------
    scores : array_like of shape (n_items, n_systems)
        Score of each system on each item.

    Notes
    -----
    Let n be the number of items and k the number of systems. Kendall's W is the proportion of the
    total within-item sum of squares of the ranks that is explained by the systems. Under the null
    hypothesis, F = (n - 1) W / (1 - W) has approximately an F distribution with k - 1 and (k - 1)(n
    - 1) degrees of freedom. If all items rank the systems in the same way, W is 1 and F is
    infinite. The p-value is then the exact probability of such agreement, m^(1 - n), where m is the
    number of distinct permutations of an item's ranks (k! without ties). Friedman's original
    statistic is n (k - 1) W. It is conservative for few items and many systems.

    References
    ----------
    .. [1] Iman, R. L. & Davenport, J. M. (1980). Approximations of the critical region of the
       Friedman statistic. Commun. Statist. A9, 571-595.
    .. [2] Conover, W. J. (1999). Practical Nonparametric Statistics, 3rd edition, section 5.8.

    Examples
    --------
    >>> scores = [[0.9, 0.5, 0.1], [0.8, 0.9, 0.3], [0.7, 0.6, 0.2], [1.0, 0.4, 0.6],
    ...           [0.8, 0.5, 0.3], [0.5, 0.7, 0.2], [0.9, 0.8, 0.4], [0.6, 0.3, 0.4],
    ...           [0.7, 0.4, 0.1], [0.9, 0.6, 0.5]]
    >>> print(friedman_test(scores))
    statistic 16, p = 0.0001 (Friedman F(2, 18), corrected for ties, two-sided, n = 10)
    """
    n, df = len(scores), scores.shape[1] - 1
    if n < 2:
        return undefined_test("two-sided", "Friedman", n, f"at least 2 items are needed, got {n}")
    method = f"Friedman F({df}, {df * (n - 1)}), corrected for ties"
    deviations = item_ranks(scores) - (df + 2) / 2
    means, total = deviations.mean(axis=0), float((deviations**2).sum())
    if total == 0:
        warning = "all systems are tied on every item"
        return SignificanceResult(0.0, 1.0, "two-sided", method, n, warning)
    w = min(n * float(means @ means) / total, 1.0)
    if w < 1 - 1e-12:
        few = f"p is only approximate for {n} items, fewer than {FEW_ITEMS}"
        statistic, warning = (n - 1) * w / (1 - w), few if n < FEW_ITEMS else ""
        p = float(fdtrc(df, df * (n - 1), statistic))
    else:
        ties = np.unique(means, return_counts=True)[1].tolist()
        arrangements = factorial(df + 1) / prod(map(factorial, ties))
        statistic, p, warning = inf, arrangements ** (1 - n), ""
    return SignificanceResult(statistic, max(p, SMALLEST_P), "two-sided", method, n, warning)


# ---- intervals by resampling -------------------------------------------------------------------


@accepts(values="matrix", clusters="clusters", confidence_level="level", n_resamples="size")
def simultaneous_intervals(
    values: Floats,
    *,
    rng: np.random.Generator,
    clusters: Integers | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
) -> tuple[Interval, ...]:
    """Simultaneous max-T bootstrap confidence intervals for several means.

    The confidence level is the nominal probability that all intervals contain their means at the
    same time. The intervals are wider than pointwise intervals. If the columns are correlated, they
    are narrower than Bonferroni intervals. A constant column has NaN limits and is left out of the
    maximum. For a single column, the interval is approximately the t interval.

    Parameters
    ----------
    values : array_like of shape (n, m)
        Scores or paired differences, with one row per item and one column per comparison.
    rng : numpy.random.Generator
        Source of randomness for the resamples, which all columns share.
    clusters : array_like of shape (n,), optional
        Key of the cluster of each item, such as its question. Whole clusters are then resampled.
    confidence_level : float, default 0.95
        Nominal simultaneous coverage.
    n_resamples : int, default 10_000
        Number of resamples.

    Notes
    -----
    The units are the n items or, if given, the n clusters. Let d_ij be the deviation of unit i from
    the mean of column j, and let S*_j be the sum of these deviations over a bootstrap resample of
    the units. Then c is the `confidence_level` quantile, over resamples, of max_j abs(S*_j) /
    sqrt(sum_i d_ij^2). The limits are mean -+ t se with se = sqrt(sum_i d_ij^2 / (n (n - 1))) and t
    = F^-1(Phi(c)), where F is the distribution function of t with n - 1 degrees of freedom and Phi
    that of the standard normal distribution. Using t instead of c accounts for the estimated
    standard error in small samples.

    References
    ----------
    .. [1] Westfall, P. H. & Young, S. S. (1993). Resampling-Based Multiple Testing, chapter 2.

    Examples
    --------
    >>> scores = np.array([[0.1, 0.2], [0.4, 0.1], [-0.2, 0.3], [0.3, 0.6], [0.2, -0.1]])
    >>> first, second = simultaneous_intervals(scores, rng=np.random.default_rng(0))
    >>> round(first.estimate, 3), first.method
    (0.16, 'max-T over 2 means, 10000 resamples')
    """
    units = np.column_stack([unit_values(column, clusters) for column in values.T])
    n, means = len(units), values.mean(axis=0)
    deviations = units - units.mean(axis=0)
    root = np.sqrt((deviations**2).sum(axis=0))
    varies = root > 1e-12 * np.abs(values).sum(axis=0)
    half = np.full(means.size, nan)
    if varies.any():
        columns, largest = deviations[:, varies] / root[varies], []
        block = max(1, 2**20 // n)  # resamples in blocks of about a million numbers
        for start in range(0, n_resamples, block):
            rows = min(block, n_resamples - start)
            picks = rng.integers(n, size=(rows, n)) + n * np.arange(rows)[:, None]
            times = np.bincount(picks.ravel(), minlength=rows * n).reshape(rows, n)
            largest.append(np.abs(times @ columns).max(axis=1))
        critical = np.quantile(np.concatenate(largest), confidence_level)
        half[varies] = stdtrit(n - 1, ndtr(critical)) * root[varies] / sqrt(n * (n - 1))
    method = f"max-T over {varies.sum()} means, {n_resamples} resamples"
    reason = (
        "all values are equal" if n > 1 else f"at least 2 independent units are needed, got {n}"
    )
    return tuple(
        undefined_interval(mean, confidence_level, method, n, reason)
        if np.isnan(h)
        else Interval(mean, mean - h, mean + h, confidence_level, method, n)
        for mean, h in zip(means.tolist(), half.tolist(), strict=True)
    )
