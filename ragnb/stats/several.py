"""Comparisons of several systems on the same items: omnibus test, all pairs, and ranks.

Scores are an array with one row per item and one column per system. Higher scores are better;
negate scores for which lower is better. All functions raise InputError for arguments outside the
stated range.

=======================================  ========================
question                                 function
=======================================  ========================
Do the systems differ at all?            `friedman_test`
Which pairs differ?                      `pairwise_tests`
Which do not differ significantly?       `not_separated`
Which rank does each system have?        `rank_intervals`
How large are all differences at once?   `simultaneous_intervals`
=======================================  ========================
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from math import factorial, inf, nan, prod, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, fdtrc, ndtr, stdtrit

from ragnb.arguments import Floats, Integers, accepts, as_matrix
from ragnb.errors import InputError
from ragnb.results import (
    SMALLEST_P,
    Interval,
    SignificanceResult,
    undefined_interval,
    undefined_test,
)
from ragnb.stats.intervals import bca_from_resamples, unit_values
from ragnb.stats.multiplicity import holm
from ragnb.stats.paired import sign_flip_test

FEW_ITEMS = 10
"""With fewer items, the F test does not hold its level.

For 3 systems on 3 items, it rejects a true null hypothesis in 19 % of cases at a nominal 5 %."""


@dataclass(frozen=True, slots=True)
class RankComparison:
    """Pairwise comparisons of all systems, with average ranks.

    Attributes
    ----------
    average_ranks : tuple of float
        Rank of each system within an item, averaged over items; 1 is the best.
    p_values : tuple of tuple of float
        Symmetric table of p-values with one row and one column per system, corrected for the number
        of pairs. It is 1 on the diagonal, and NaN where the test is undefined.
    confidence_level : float
        One minus the significance level. Two systems differ significantly if their p-value is below
        1 - `confidence_level`.
    method : str
        Name of the test and of the correction.
    n : int
        Number of items or of clusters.
    warning : str
        Why the result is undefined or questionable; otherwise empty.
    """

    average_ranks: tuple[float, ...]
    p_values: tuple[tuple[float, ...], ...]
    confidence_level: float
    method: str
    n: int
    warning: str = ""


@dataclass(frozen=True, slots=True)
class SystemRank:
    """The rank of one of several systems, with its uncertainty.

    Attributes
    ----------
    average_rank : Interval
        Rank of the system within an item, averaged over items; 1 is the best. The interval is
        pointwise.
    rank : Interval
        Rank of the system by mean score; 1 is the best. The limits are whole numbers. The intervals
        are simultaneous over all systems.
    probability_best : float
        Proportion of bootstrap resamples in which the system has the highest mean score; tied
        systems share a resample equally.
    """

    average_rank: Interval
    rank: Interval
    probability_best: float


def as_systems(scores: ArrayLike) -> Floats:
    """Convert scores to a finite array of shape (n_items, n_systems), with two or more systems."""
    values = as_matrix(scores)
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


def average_ranks(scores: ArrayLike) -> Floats:
    """Rank of each system within an item, averaged over items; NaN if there are no items.

    >>> average_ranks([[0.9, 0.5, 0.9], [0.2, 0.1, 0.4]])
    array([1.75, 3.  , 1.25])
    """
    ranks = item_ranks(scores)
    return ranks.mean(axis=0) if len(ranks) else np.full(ranks.shape[1], nan)


@accepts(scores=as_systems, method=("F", "chi2"))
def friedman_test(scores: Floats, *, method: str = "F") -> SignificanceResult:
    """Friedman test of whether several systems differ, based on their ranks within each item.

    The null hypothesis is that, within each item, all rankings of the systems are equally likely.
    The test is corrected for ties and requires independent items. It is an omnibus test without a
    direction. The p-value is 1 if all systems are tied on every item, and NaN if there are fewer
    than two items. With ``method="F"``, it is Iman and Davenport's test, which holds its nominal
    level with about ten or more items. With ``"chi2"``, it is Friedman's original test, which is
    conservative for few items and many systems. For 0/1 scores, the latter is Cochran's Q test.

    Notes
    -----
    Let n be the number of items and k the number of systems. Kendall's W is the proportion of the
    total within-item sum of squares of the ranks that is explained by the systems. Under the null
    hypothesis, chi2 = n (k - 1) W has approximately a chi-squared distribution with k - 1 degrees
    of freedom, and F = (n - 1) W / (1 - W) approximately an F distribution with k - 1 and (k - 1)(n
    - 1) degrees of freedom. If all items rank the systems in the same way, W is 1 and F is
    infinite. The p-value of the F test is then the exact probability of such agreement, m^(1 - n),
    where m is the number of distinct permutations of an item's ranks (k! without ties).

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
        return undefined_test("two-sided", "Friedman", n, f"needs 2 items, got {n}")
    distribution = f"F({df}, {df * (n - 1)})" if method == "F" else f"chi-squared({df})"
    name = f"Friedman {distribution}, corrected for ties"
    deviations = item_ranks(scores) - (df + 2) / 2
    means, total = deviations.mean(axis=0), float((deviations**2).sum())
    if total == 0:
        return SignificanceResult(
            0.0, 1.0, "two-sided", name, n, "all systems are tied on every item"
        )
    w = min(n * float(means @ means) / total, 1.0)
    warning = (
        f"p is only approximate for {n} items, fewer than {FEW_ITEMS}" if n < FEW_ITEMS else ""
    )
    if method == "chi2":
        statistic = n * df * w
        p = float(chdtrc(df, statistic))
    elif w < 1 - 1e-12:
        statistic = (n - 1) * w / (1 - w)
        p = float(fdtrc(df, df * (n - 1), statistic))
    else:
        ties = np.unique(means, return_counts=True)[1].tolist()
        arrangements = factorial(df + 1) / prod(map(factorial, ties))
        statistic, p, warning = inf, arrangements ** (1 - n), ""
    return SignificanceResult(statistic, max(p, SMALLEST_P), "two-sided", name, n, warning)


@accepts(scores=as_systems, confidence_level="level")
def pairwise_tests(
    scores: Floats,
    *,
    test: Callable[[Floats, Floats], SignificanceResult] = sign_flip_test,
    confidence_level: float = 0.95,
) -> RankComparison:
    """Paired test of every pair of systems, with Holm's correction over all pairs.

    `test` takes two columns of scores. If several items share a question, pass
    ``functools.partial(sign_flip_test, clusters=questions)``. In simulations at a nominal level of
    5 %, 3 % of samples had at least one false positive, both when all systems are equal and when
    only some are. Tests that use ranks pooled over all systems do not control this error if only
    some systems are equal [1]_.

    References
    ----------
    .. [1] Benavoli, A., Corani, G. & Mangili, F. (2016). Should we really use post-hoc tests based
       on mean-ranks? JMLR 17(5), 1-10.

    Examples
    --------
    >>> result = pairwise_tests(4 * [[1, 0, 0], [0.8, 0, 0.1]])
    >>> result.p_values[0], result.method
    ((1.0, 0.0234375, 0.0234375), 'exact sign-flip test, Holm')
    """
    results = [test(first, second) for first, second in combinations(scores.T, 2)]
    table = np.eye(scores.shape[1])
    table[np.triu_indices_from(table, 1)] = holm([result.p_value for result in results]).adjusted
    table = table + np.triu(table, 1).T
    method = " / ".join(dict.fromkeys(result.method for result in results))
    warning = "; ".join(dict.fromkeys(result.warning for result in results if result.warning))
    ranks, p_values = tuple(average_ranks(scores).tolist()), tuple(map(tuple, table.tolist()))
    return RankComparison(
        ranks, p_values, confidence_level, f"{method}, Holm", results[0].n, warning
    )


@accepts(average_ranks="scores", confidence_level="level")
def not_separated(
    average_ranks: Floats, p_values: ArrayLike, *, confidence_level: float = 0.95
) -> tuple[tuple[int, ...], ...]:
    """Groups of systems that do not differ significantly: bars of a critical-difference diagram.

    A group is a maximal run of systems, ordered by average rank, in which no pair has a p-value
    below 1 - `confidence_level`. Groups are listed from best to worst, and so are the systems in a
    group. Systems that do not differ significantly need not be equal. Where two groups overlap,
    systems at their outer ends may differ significantly.

    Parameters
    ----------
    average_ranks : array_like of shape (k,)
        Average rank of each system, which determines the order.
    p_values : array_like of shape (k, k)
        Corrected p-value of each pair. NaN counts as not significant.
    confidence_level : float, default 0.95
        One minus the significance level.

    Examples
    --------
    >>> p_values = [[1, 0.01, 0.3], [0.01, 1, 0.2], [0.3, 0.2, 1]]
    >>> not_separated([2.7, 1.3, 2.0], p_values)
    ((1, 2), (2, 0))
    """
    k, order = average_ranks.size, np.argsort(average_ranks, kind="stable")
    separated = np.asarray(p_values)[np.ix_(order, order)] < 1 - confidence_level
    ends = [next((e for e in range(s + 1, k) if separated[e, s:e].any()), k) for s in range(k)]
    runs = [
        (start, end)
        for start, end in enumerate(ends)
        if end > start + 1 and end not in ends[:start]
    ]
    return tuple(tuple(order[start:end].tolist()) for start, end in runs)


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
        draws = _resampled_sums(deviations[:, varies] / root[varies], rng, n_resamples)
        critical = np.quantile(np.abs(draws).max(axis=1), confidence_level)
        half[varies] = stdtrit(n - 1, ndtr(critical)) * root[varies] / sqrt(n * (n - 1))
    method = f"max-T over {varies.sum()} means, {n_resamples} resamples"
    reason = "all values are equal" if n > 1 else "needs 2 independent units"
    return tuple(
        undefined_interval(mean, confidence_level, method, n, reason)
        if np.isnan(h)
        else Interval(mean, mean - h, mean + h, confidence_level, method, n)
        for mean, h in zip(means.tolist(), half.tolist(), strict=True)
    )


@accepts(scores=as_systems, clusters="clusters", confidence_level="level", n_resamples="size")
def rank_intervals(
    scores: Floats,
    *,
    rng: np.random.Generator,
    clusters: Integers | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
) -> tuple[SystemRank, ...]:
    """Average rank, rank by mean score and probability of being the best, for each system.

    If there are fewer than two items (or clusters), everything except the average rank is NaN. If
    an average rank does not vary between units, its limits are NaN.

    Parameters
    ----------
    scores : array_like of shape (n, k)
        One row per item, one column per system.
    rng, clusters, n_resamples
        As in `simultaneous_intervals`.
    confidence_level : float, default 0.95
        Nominal coverage. It is pointwise for the average ranks, and simultaneous over the k systems
        for the ranks by mean score.

    Notes
    -----
    Average ranks have BCa bootstrap intervals. The limits of the rank by mean score are 1 + the
    number of systems shown to be better and k - the number of systems shown to be worse, by
    simultaneous intervals for all pairwise differences. They are valid for equal systems, too.
    Percentile intervals of resampled ranks are not: for five nearly equal systems, in simulations,
    such nominal 95 % intervals cover the true rank of the best and of the worst system in 82 % of
    samples each, and all five ranks in 67 %. A pair with the same non-zero difference on every item
    counts as different if the Bonferroni-corrected p-value of the exact two-sided sign test, 2^(1 -
    n) k (k - 1) / 2, is below 1 - `confidence_level`.

    The probability of being the best is a proportion of resamples. Read it together with the
    interval of the rank, because it can be near 0 or 1 by chance even if the systems are equal.

    References
    ----------
    .. [1] Mogstad, M., Romano, J. P., Shaikh, A. M. & Wilhelm, D. (2024). Inference for ranks with
       applications to mobility across neighbourhoods and academic achievement across countries.
       Rev. Econ. Stud. 91, 476-518.

    Examples
    --------
    >>> good, poor = [1, 1, 1, 1, 0.8, 1, 0.9, 1], [0.1, 0, 0, 0.2, 0.1, 0, 0, 0]
    >>> scores = np.column_stack([poor, good, good])
    >>> first, second, third = rank_intervals(scores, rng=np.random.default_rng(0))
    >>> print(second.rank)  # equal to the third, better than the first
    1.500 [1.000, 2.000] (95% rank by mean score, max-T over pairs, n = 8)
    >>> first.probability_best, second.probability_best
    (0.0, 0.5)
    """
    level, ranks = confidence_level, item_ranks(scores)
    codes = np.arange(len(scores)) if clusters is None else clusters
    sizes = np.bincount(codes)
    if sizes.size < 2:
        reason = f"needs 2 {'items' if clusters is None else 'clusters'}, got {sizes.size}"
        rank = undefined_interval(nan, level, "rank", sizes.size, reason)
        return tuple(
            SystemRank(replace(rank, estimate=r), rank, nan) for r in average_ranks(scores)
        )
    values: Floats = np.round(scores / (float(np.abs(scores).max()) or 1.0), 12)
    totals = np.column_stack(
        [*(np.bincount(codes, column) for column in (*values.T, *ranks.T)), sizes]
    )
    draws = _resampled_sums(totals, rng, n_resamples)
    means, mean_ranks = np.hsplit(draws[:, :-1] / draws[:, -1:], 2)
    best = np.round(means, 11) == np.round(means, 11).max(axis=1, keepdims=True)
    averages = [
        _average_rank_interval(float(column.mean()), unit_values(column, clusters), draws, level)
        for column, draws in zip(ranks.T, mean_ranks.T, strict=True)
    ]
    places = _rank_by_mean_intervals(values, codes, rng, level, n_resamples)
    shares = (best / best.sum(axis=1, keepdims=True)).mean(axis=0).tolist()
    return tuple(map(SystemRank, averages, places, shares))


def _average_rank_interval(average: float, ranks: Floats, draws: Floats, level: float) -> Interval:
    """BCa interval for an average rank, from one value per unit and the average ranks of resamples."""
    influence, method = ranks - ranks.mean(), "average rank, BCa"
    spread = float(influence @ influence)
    if spread <= 1e-24 * ranks.size:
        return undefined_interval(
            average, level, method, ranks.size, "the ranks do not vary between units"
        )
    acceleration = float((influence**3).sum()) / (6 * spread**1.5)
    return bca_from_resamples(draws, average, acceleration, level, method, ranks.size)


def _rank_by_mean_intervals(
    values: Floats, codes: Integers, rng: np.random.Generator, level: float, n_resamples: int
) -> list[Interval]:
    """Interval for each rank by mean score, from simultaneous intervals for all differences."""
    k, (first, second) = values.shape[1], np.triu_indices(values.shape[1], 1)
    found = simultaneous_intervals(
        values[:, first] - values[:, second],
        rng=rng,
        clusters=codes,
        confidence_level=level,
        n_resamples=n_resamples,
    )
    estimate, low, high = np.array([(pair.estimate, pair.low, pair.high) for pair in found]).T
    constant_is_shown = first.size * 2.0 ** (1 - found[0].n) < 1 - level
    shown = (estimate != 0) & np.where(np.isnan(low), constant_is_shown, (low > 0) | (high < 0))
    better, worse = (np.where((estimate > 0) == up, first, second)[shown] for up in (True, False))
    places = item_ranks(np.round(values.mean(axis=0), 11)[None])[0]
    lowest = 1.0 + np.bincount(worse, minlength=k)
    highest = float(k) - np.bincount(better, minlength=k)
    method = "rank by mean score, max-T over pairs"
    return [
        Interval(place, low, high, level, method, found[0].n)
        for place, low, high in np.column_stack([places, lowest, highest]).tolist()
    ]


def _resampled_sums(columns: Floats, rng: np.random.Generator, n_resamples: int) -> Floats:
    """Column sums of resampled rows, computed in blocks of about a million numbers."""
    n, sums = len(columns), []
    block = max(1, 2**20 // n)
    for start in range(0, n_resamples, block):
        rows = min(block, n_resamples - start)
        picks = rng.integers(n, size=(rows, n)) + n * np.arange(rows)[:, None]
        sums.append(np.bincount(picks.ravel(), minlength=rows * n).reshape(rows, n) @ columns)
    return np.concatenate(sums)
