"""Which of several systems differ: all pairs compared, and the groups that cannot be told apart.

Scores are an array of n items by k systems, higher is better; where lower is better, negate them. Items have to be
independent (for clusters see `pairwise_tests`).

================  ======================  ==========================================================================
test              takes                   errs in at least one pair (nominal 5 %: none differs / only some differ)
================  ======================  ==========================================================================
`pairwise_tests`  scores                  3 % / 2-3 %: keeps its level, the one to use where scores are known
`nemenyi`         average ranks           4 %, under 1 % with many ties / under 1 %: cautious; has a critical difference
`conover`         scores                  4-5 % / 10-26 %: too ready to tell two equal systems apart once others differ
================  ======================  ==========================================================================

What `nemenyi` and `conover` say of a pair depends on the other systems in the array (Benavoli, Corani & Mangili 2016, JMLR
17). `not_separated` turns the p-values of any of them into the bars of a critical-difference diagram.
"""

from collections.abc import Callable
from itertools import combinations
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from ragnb.errors import InputError
from ragnb.results import RankComparison, SignificanceResult
from ragnb.stats.checks import Floats, check_array, check_count, check_level, check_scores
from ragnb.stats.multiplicity import holm
from ragnb.stats.numerics import SMALLEST_P
from ragnb.stats.paired import sign_flip_test
from ragnb.stats.ranks import average_ranks as ranks_of
from ragnb.stats.ranks import check_average_ranks, check_systems, item_ranks


def pairwise_tests(
    scores: ArrayLike,
    *,
    test: Callable[[Floats, Floats], SignificanceResult] = sign_flip_test,
    confidence_level: float = 0.95,
) -> RankComparison:
    """Paired test of every pair of systems, p-values adjusted by Holm.

    p in (0, 1], but for the adjustment the same whatever the other systems; ``nan`` where the test is undefined.

    Parameters
    ----------
    scores : array_like of shape (n, k)
        Finite scores, one row an item, one column a system.
    test : callable, default `ragnb.stats.paired.sign_flip_test`
        Two columns in, `SignificanceResult` out. For clustered items
        ``functools.partial(ragnb.stats.clusters.cluster_sign_flip_test, clusters=questions)``.
    confidence_level : float, default 0.95
        One minus the family-wise level at which systems are told apart.

    Raises
    ------
    InputError
        If there are fewer than two systems, the shape is wrong, a score is not finite, or the level is not in (0, 1).

    References
    ----------
    Benavoli, A., Corani, G. & Mangili, F. (2016). Should we really use post-hoc tests based on mean-ranks? JMLR 17(5), 1-10.

    Examples
    --------
    >>> result = pairwise_tests([[1, 0, 0], [1, 1, 0], [0.8, 0, 0.1], [1, 0.1, 0], [1, 0, 0.2], [0.9, 0.2, 0], [1, 0, 0]])
    >>> [round(p, 4) for p in result.p_values[0]], result.method
    ([1.0, 0.0625, 0.0469], 'exact sign-flip test, Holm')
    """
    values, level = check_systems(scores), check_level(confidence_level)
    results = [test(values[:, i], values[:, j]) for i, j in combinations(range(values.shape[1]), 2)]
    adjusted = np.array(holm([result.p_value for result in results]).adjusted)
    method = " / ".join(dict.fromkeys(result.method for result in results))
    warning = "; ".join(dict.fromkeys(result.warning for result in results if result.warning))
    average, square = tuple(ranks_of(values).tolist()), _square(adjusted, values.shape[1])
    return RankComparison(average, square, np.nan, level, f"{method}, Holm", results[0].n, warning)


def critical_difference(k: int, n: int, *, confidence_level: float = 0.95) -> float:
    """Nemenyi's critical difference: how far apart two of k average ranks must lie to be told apart.

    Positive, in ranks; smaller for more items.

    Parameters
    ----------
    k, n : int
        Number of systems, at least 2, and of items.
    confidence_level : float, default 0.95
        One minus the family-wise level over all pairs.

    Raises
    ------
    InputError
        If a count is too small, or the level is not in (0, 1).

    Notes
    -----
    q sqrt(k (k + 1) / (6 n)), with q the quantile of the studentized range of k normal variables (infinite degrees of
    freedom) divided by sqrt 2.

    References
    ----------
    Nemenyi, P. B. (1963). Distribution-free multiple comparisons. Thesis, Princeton. Demsar, J. (2006). JMLR 7, 1-30.

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)  # Demsar's example
    1.25
    """
    from scipy.stats import studentized_range

    k, n = check_count(k, "k", minimum=2), check_count(n, "n", minimum=1)
    q = studentized_range.ppf(check_level(confidence_level), k, np.inf) / sqrt(2)
    return float(q) * sqrt(k * (k + 1) / (6 * n))


def nemenyi(average_ranks: ArrayLike, n: int, *, confidence_level: float = 0.95) -> RankComparison:
    """Nemenyi's comparison of all pairs of systems by their average ranks.

    p in (0, 1], adjusted over the pairs. Without a correction for ties: for scores of 0 and 1, or where many items are tied,
    it misses much that `pairwise_tests` finds.

    Parameters
    ----------
    average_ranks : array_like of shape (k,)
        Mean over items of each system's rank within the item, as `ragnb.stats.ranks.average_ranks` gives them.
    n : int
        Number of items.
    confidence_level : float, default 0.95
        One minus the family-wise level of the critical difference.

    Raises
    ------
    InputError
        If there are fewer than two ranks, they cannot be average ranks, `n` is no count, or the level is not in (0, 1).

    Notes
    -----
    sqrt 2 abs(R_i - R_j) / sqrt(k (k + 1) / (6 n)) against the studentized range of k normal variables; p is below 1 -
    `confidence_level` exactly where the average ranks differ by more than `critical_difference`.

    References
    ----------
    Nemenyi, P. B. (1963). Distribution-free multiple comparisons. Thesis, Princeton. Demsar, J. (2006). JMLR 7, 1-30.

    Examples
    --------
    >>> result = nemenyi([3.143, 2.000, 2.893, 1.964], 14, confidence_level=0.9)
    >>> round(result.critical_difference, 2), round(result.p_values[0][3], 4)
    (1.12, 0.074)
    """
    from scipy.stats import studentized_range

    average, n = check_average_ranks(average_ranks), check_count(n, "n", minimum=1)
    k = average.size
    critical = critical_difference(k, n, confidence_level=confidence_level)
    gaps = _gaps(average) * sqrt(2) / sqrt(k * (k + 1) / (6 * n))
    p = np.clip(studentized_range.sf(gaps, k, np.inf), SMALLEST_P, 1.0)
    return RankComparison(tuple(average.tolist()), _square(p, k), critical, confidence_level, "Nemenyi", n)


def conover(scores: ArrayLike, *, confidence_level: float = 0.95) -> RankComparison:
    """Conover's comparison of all pairs of systems by their ranks within items, p-values adjusted by Holm.

    p in (0, 1]; 1 between systems of equal average rank; ``nan`` for fewer than two items. There is no single critical
    difference. Keeps its level only where all systems are alike, see Notes.

    Parameters
    ----------
    scores : array_like of shape (n, k)
        Finite scores of independent items: one row an item, one column a system. Ties need no care.
    confidence_level : float, default 0.95
        One minus the family-wise level at which systems are told apart.

    Raises
    ------
    InputError
        If there are fewer than two systems, the shape is wrong, a score is not finite, or the level is not in (0, 1).

    Notes
    -----
    t = (R_i - R_j) / sqrt(2 s^2 / n) with (n - 1)(k - 1) degrees of freedom, s^2 the variance of the ranks that is left when
    the average ranks are taken off, pooled over systems. Two equal systems between which the ranks keep changing look apart
    as soon as others hold their ranks: beside two that differ clearly they do so in 10 to 26 % of samples. Where all items
    rank the systems alike nothing is left; p is then that of the sign test of each pair, 2^(1-n).

    References
    ----------
    Conover, W. J. & Iman, R. L. (1979). On multiple-comparisons procedures. Los Alamos report LA-7677-MS. Conover, W. J.
    (1999). Practical Nonparametric Statistics, section 5.8.

    Examples
    --------
    >>> result = conover([[4, 7, 6], [6, 8, 9], [3, 6, 7], [5, 7, 8], [4, 9, 8], [5, 6, 9]])
    >>> [round(p, 5) for p in result.p_values[0]]
    [1.0, 0.00239, 0.00069]
    """
    level = check_level(confidence_level)
    ranks = item_ranks(scores)
    n, k = ranks.shape
    average = ranks_of(scores)
    p, warning = _conover_p_values(ranks, average)
    adjusted = _square(np.array(holm(p).adjusted), k)
    return RankComparison(tuple(average.tolist()), adjusted, np.nan, level, "Conover, Holm", n, warning)


def _conover_p_values(ranks: Floats, average: Floats) -> tuple[Floats, str]:
    """Return the p-value of each pair before adjustment, and what is to be said of them."""
    from scipy.special import stdtr

    n, k = ranks.shape
    if n < 2:
        return np.full(k * (k - 1) // 2, np.nan), f"undefined: needs 2 items, got {n}"
    gaps, freedom = _gaps(average), (n - 1) * (k - 1)
    residual = float(((ranks - average) ** 2).sum())
    if residual > 1e-12 * n:
        p = 2 * stdtr(freedom, -gaps / sqrt(2 * residual / (freedom * n)))
        return np.clip(p, SMALLEST_P, 1.0), ""
    if not gaps.any():
        return np.ones(gaps.size), "no item tells the systems apart"
    alike = "all items rank the systems alike: p of the sign test of each pair"
    return np.where(gaps > 0, max(2.0 ** (1 - n), SMALLEST_P), 1.0), alike


def not_separated(
    average_ranks: ArrayLike, p_values: ArrayLike, *, confidence_level: float = 0.95
) -> tuple[tuple[int, ...], ...]:
    """Groups of systems that cannot be told apart: the bars of a critical-difference diagram.

    Each is a run of systems adjacent by average rank of which no pair has a p-value below 1 - `confidence_level`, as long as
    it can be; from the best run on, best system first. A system told apart from all others is in none.

    Parameters
    ----------
    average_ranks : array_like of shape (k,)
        What orders the systems, the smallest first.
    p_values : array_like of shape (k, k)
        Adjusted p-value of each pair, of `nemenyi`, `conover` or any other test; an undefined one (``nan``) tells nothing
        apart.
    confidence_level : float, default 0.95
        One minus the level at which two systems are told apart.

    Raises
    ------
    InputError
        If the shapes do not fit, or the level is not in (0, 1).

    Notes
    -----
    Being not told apart is not being equal, and it is not passed on: the ends of two runs that overlap may well differ. A
    pair that is not told apart is in no run when a system ranked between them is told apart from either.

    Examples
    --------
    >>> result = nemenyi([3.143, 2.000, 2.893, 1.964], 14, confidence_level=0.9)
    >>> not_separated(result.average_ranks, result.p_values, confidence_level=0.9)
    ((3, 1, 2), (2, 0))
    """
    average, level = check_scores(average_ranks, "average_ranks"), check_level(confidence_level)
    p = check_array(p_values, "p_values")
    if p.shape != (average.size, average.size):
        raise InputError(
            f"not_separated needs a p-value for each pair of {average.size} systems; it got shape {p.shape}; pass a square."
        )
    order = np.argsort(average, kind="stable")
    apart = p[np.ix_(order, order)] < 1 - level
    groups: list[tuple[int, ...]] = []
    reached = 0
    for start in range(order.size):
        end = start + 1
        while end < order.size and not (apart[end, start:end].any() or apart[start:end, end].any()):
            end += 1
        if end - start > 1 and end > reached:
            groups.append(tuple(order[start:end].tolist()))
            reached = end
    return tuple(groups)


def _gaps(average: Floats) -> Floats:
    """Return the absolute differences of all pairs of average ranks."""
    first, second = np.triu_indices(average.size, 1)
    return np.abs(average[first] - average[second])


def _square(pairs: Floats, k: int) -> tuple[tuple[float, ...], ...]:
    """Return the p-values of all pairs as a symmetric table with 1 on the diagonal."""
    table = np.eye(k)
    table[np.triu_indices(k, 1)] = pairs
    table.T[np.triu_indices(k, 1)] = pairs
    return tuple(map(tuple, table.tolist()))
