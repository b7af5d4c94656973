"""Comparisons of several systems on the same items: Friedman test and simultaneous intervals.

`friedman_test` tests whether the systems differ at all. `simultaneous_intervals` estimates all
differences at once. `inseparable_groups` finds the groups in which no pair is separated.

All functions raise InputError for arguments outside the stated range.
"""

from collections.abc import Hashable, Iterable, Sequence
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
from ragnb.rounding import ROUNDING, largest_magnitude, tied_levels
from ragnb.stats.intervals import unit_values

# Number of items below which `friedman_test` warns that its p-value is only approximate.
FEW_ITEMS = 10


def as_systems(scores: ArrayLike) -> Floats:
    """Convert finite scores with one column per system, at least two, to an array of floats."""
    values = as_scores(scores, 2)
    if values.shape[1] < 2:
        raise InputError(f"must have one column per system, at least two, got shape {values.shape}")
    return values


# ---- tests -------------------------------------------------------------------------------------


@accepts(scores=as_systems)
def item_ranks(scores: Floats) -> Floats:
    """Rank the systems within each item, from 1 for the highest score.

    Parameters
    ----------
    scores : array-like of shape (n_items, n_systems)
        Score of each system on each item.

    Returns
    -------
    ndarray of shape (n_items, n_systems)
        The ranks. Tied systems each get the mean of their ranks. Scores that differ only by
        rounding error are tied.

    Examples
    --------
    >>> item_ranks([[0.9, 0.5, 0.9], [0.2, 0.1, 0.4]])
    array([[1.5, 3. , 1.5],
           [2. , 3. , 1. ]])
    """
    from scipy.stats import rankdata

    return rankdata(-tied_levels(scores, largest_magnitude(scores)), axis=1)


@accepts(scores=as_systems)
def friedman_test(scores: Floats) -> SignificanceResult:
    """Friedman test for differences between several systems, with the Iman-Davenport F statistic.

    The null hypothesis is that, within each item, all rankings of the systems are equally likely.
    The items must be independent.

    Parameters
    ----------
    scores : array-like of shape (n_items, n_systems)
        Score of each of two or more systems on each item.

    Returns
    -------
    SignificanceResult
        The F statistic and its p-value. Both are NaN if there are fewer than two items. The p-value
        is 1 if all systems are tied on every item. If there are fewer than 10 items and F is
        finite, the attribute `warning` states that the p-value is only approximate.

    Notes
    -----
    Let n be the number of items, k the number of systems and W Kendall's coefficient of
    concordance, corrected for ties. Under the null hypothesis, F = (n - 1) W / (1 - W) has
    approximately an F distribution with k - 1 and (k - 1)(n - 1) degrees of freedom. If all items
    rank the systems in the same way, F is infinite, and the p-value is the exact probability of
    this outcome.

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
        ties = np.bincount(tied_levels(means, df + 1)).tolist()
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

    The probability that all intervals contain their true means is about `confidence_level`.

    Parameters
    ----------
    values : array-like of shape (n, m)
        Scores or paired differences, with one row per item and one column per mean. There must be
        at least one item.
    rng : numpy.random.Generator
        Random number generator for the bootstrap resamples.
    clusters : array-like of shape (n,), default=None
        Cluster of each item, such as its question. If None, items are treated as independent.
        Otherwise, whole clusters are resampled.
    confidence_level : float, default=0.95
        Nominal simultaneous coverage of the intervals, in (0, 1).
    n_resamples : int, default=10_000
        Number of bootstrap resamples.

    Returns
    -------
    tuple of Interval
        The mean of each column with its limits. The limits are NaN if there are fewer than two
        items (or clusters) or if the estimated standard error is 0.

    Notes
    -----
    Let d_ij be the deviation of item i from the mean of column j. With clusters, d_ij is the sum of
    these deviations in cluster i, divided by the mean number of items per cluster. The standard
    error of the mean of column j is sqrt(sum_i d_ij^2 / (n (n - 1))), where n is the number of
    items (or clusters).

    Let S*_j be the sum of d_ij over a bootstrap resample. The critical value c is the
    `confidence_level` quantile of max_j (abs(S*_j) / sqrt(sum_i d_ij^2)) over the resamples. The
    limits are the mean minus and plus t times its standard error, where t = F^-1(Phi(c)). Phi and F
    are the distribution functions of the standard normal distribution and of the t distribution
    with n - 1 degrees of freedom. Using t instead of c accounts for the estimation of the standard
    error.

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
    varies = root > ROUNDING * np.abs(values).sum(axis=0)
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


# ---- groups ------------------------------------------------------------------------------------


@accepts(aligned=False)
def inseparable_groups(
    items: Sequence[Hashable], separated: Iterable[tuple[Hashable, Hashable]]
) -> list[tuple[Hashable, ...]]:
    """Largest groups of items in which no pair is separated, for a compact letter display.

    Parameters
    ----------
    items : sequence of hashable
        The items, such as systems from the best to the worst.
    separated : iterable of pairs
        Pairs of items whose difference is significant. The order within a pair does not matter.

    Returns
    -------
    list of tuple
        The groups, each in the order of the items, sorted by their first items. Each item is in at
        least one group. Two items are in a common group if and only if they are not separated.

    Raises
    ------
    InputError
        An item occurs twice, or a pair is not two different items.

    Notes
    -----
    The insert-and-absorb algorithm [1]_ begins with one group of all items. For each separated pair,
    it replaces every group with both items by two groups, each without one of the two. Groups within
    another one are dropped. The result is the set of all maximal cliques of the graph of pairs that are
    not separated. The paper's further step, which removes letters that are not needed, is not made.
    The relation is not transitive: a and c may be separated although neither is separated from b.

    References
    ----------
    .. [1] Piepho, H.-P. (2004). An algorithm for a letter-based representation of all-pairwise
       comparisons. Journal of Computational and Graphical Statistics 13, 456-466.

    Examples
    --------
    >>> inseparable_groups("abc", [("a", "c")])
    [('a', 'b'), ('b', 'c')]
    """
    places = {item: place for place, item in enumerate(items)}
    if len(places) < len(items):
        raise InputError("items must be different, got one of them twice")
    groups = [frozenset(places)] if places else []
    for first, second in separated:
        if first not in places or second not in places or first == second:
            raise InputError(f"separated must be pairs of two items, got {(first, second)!r:.80}")
        inserted = []
        for group in groups:
            if {first, second} <= group:
                inserted += [group - {first}, group - {second}]
            else:
                inserted.append(group)
        distinct = list(dict.fromkeys(inserted))
        groups = [group for group in distinct if not any(group < other for other in distinct)]
    ordered = [tuple(sorted(group, key=places.__getitem__)) for group in groups]
    return sorted(ordered, key=lambda group: [places[item] for item in group])
