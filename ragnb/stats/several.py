"""Tests that several systems score alike on the same items, all of them at once.

Scores are an array of n items by k systems. The tests work on the ranks of the systems within each item and are dual of no
interval here. Items have to be independent: where several share a question, average their scores within it first.

=================================  ================================================================
question                           answer
=================================  ================================================================
any difference, graded scores?     `friedman_test`; from published ranks `friedman_from_ranks`
any difference, scores of 0 or 1?  `cochran_q_test`
which pairs, which groups?         `ragnb.stats.posthoc`
who is best, how surely?           `ragnb.stats.ranks.rank_intervals`
=================================  ================================================================
"""

from math import exp, lgamma

import numpy as np
from numpy.typing import ArrayLike

from ragnb.errors import check_choice
from ragnb.results import SignificanceResult
from ragnb.stats.checks import Floats, check_binary, check_count, undefined_test
from ragnb.stats.numerics import SMALLEST_P
from ragnb.stats.ranks import check_average_ranks, check_systems, item_ranks

FRIEDMAN_METHODS = ("F", "chi2")
FEW_ITEMS = 10
"""Below this number of items the laws of F and chi-squared fit the ranks badly: F of 3 systems on 3 items errs in 20 %."""


def friedman_test(scores: ArrayLike, *, method: str = "F") -> SignificanceResult:
    """Friedman test that several systems score alike on the same items, corrected for ties.

    p in (0, 1]; 1 when no item tells the systems apart; ``nan`` for fewer than two items.

    Parameters
    ----------
    scores : array_like of shape (n, k)
        Finite scores of independent items: one row an item, one column a system.
    method : {"F", "chi2"}
        ``"F"`` refers Iman and Davenport's F to its law and keeps its level from about ten items on; ``"chi2"``, Friedman's
        own, is conservative for few items and many systems. The warning says when there are fewer than ten.

    Raises
    ------
    InputError
        If there are fewer than two systems, the shape is wrong, a score is not finite, or the method is unknown.

    Notes
    -----
    With W (Kendall's) the share of the ranks' variance within items that lies between systems, chi2 = n (k - 1) W with k - 1
    degrees of freedom, and F = (n - 1) W / (1 - W) with k - 1 and (k - 1)(n - 1). Where all items rank the systems alike F
    is infinite and p the exact probability of that, m^(1-n) for m arrangements of an item's ranks. With two systems chi2 is
    the sign test's z^2. Without the correction for ties: `friedman_from_ranks` of the average ranks.

    References
    ----------
    Friedman, M. (1937). The use of ranks to avoid the assumption of normality implicit in the analysis of variance. JASA
    32, 675-701. Iman, R. L. & Davenport, J. M. (1980). Approximations of the critical region of the Friedman statistic.
    Commun. Statist. A9, 571-595. Conover, W. J. (1999). Practical Nonparametric Statistics, section 5.8.

    Examples
    --------
    >>> scores = 3 * [[0.9, 0.5, 0.1], [0.8, 0.9, 0.3], [0.7, 0.6, 0.2], [1.0, 0.4, 0.6]]
    >>> print(friedman_test(scores, method="chi2"))
    statistic 13.5, p = 0.0012 (Friedman chi-squared(2), corrected for ties, two-sided, n = 12)
    >>> print(friedman_test(scores))
    statistic 14.14, p = 0.00011 (Friedman F(2, 22), corrected for ties, two-sided, n = 12)
    """
    check_choice(method, FRIEDMAN_METHODS, "method")
    return _rank_test(item_ranks(scores), method, "Friedman", ", corrected for ties")


def friedman_from_ranks(average_ranks: ArrayLike, n: int, *, method: str = "F") -> SignificanceResult:
    """Friedman test from average ranks alone, as papers print them; without a correction for ties.

    p in (0, 1]; ``nan`` for fewer than two items. Where items hold ties it is conservative beside `friedman_test`.

    Parameters
    ----------
    average_ranks : array_like of shape (k,)
        Mean over items of each system's rank within the item; they add up to k (k + 1) / 2 but for rounding.
    n : int
        Number of items.
    method : {"F", "chi2"}
        As in `friedman_test`.

    Raises
    ------
    InputError
        If there are fewer than two ranks, they cannot be average ranks, `n` is no count, or the method is unknown.

    Notes
    -----
    chi2 = 12 n / (k (k + 1)) (sum of R_j^2 - k (k + 1)^2 / 4); F = (n - 1) chi2 / (n (k - 1) - chi2).

    References
    ----------
    Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7, 1-30, section 3.2.2.

    Examples
    --------
    >>> print(friedman_from_ranks([3.143, 2.000, 2.893, 1.964], 14))  # Demsar's example
    statistic 3.689, p = 0.0198 (Friedman F(3, 39), two-sided, n = 14)
    """
    check_choice(method, FRIEDMAN_METHODS, "method")
    average, n = check_average_ranks(average_ranks), check_count(n, "n")
    k = average.size
    return _omnibus(average, n * k * (k * k - 1) / 12, n, method, "Friedman", "")


def cochran_q_test(scores: ArrayLike) -> SignificanceResult:
    """Cochran's Q test that several systems succeed equally often on the same items.

    p in (0, 1]; 1 when no item tells the systems apart; ``nan`` for fewer than two items. Items that all systems or none get
    right do not count.

    Parameters
    ----------
    scores : array_like of shape (n, k)
        0/1 (or boolean) scores of independent items: one row an item, one column a system.

    Raises
    ------
    InputError
        If there are fewer than two systems, the shape is wrong, or a value is neither 0 nor 1.

    Notes
    -----
    Q = k (k - 1) sum_j (C_j - C)^2 / sum_i L_i (k - L_i), C_j the successes of a system, C their mean and L_i those on an
    item, against chi-squared with k - 1 degrees of freedom. It equals Friedman's chi2 corrected for ties, and with two
    systems the asymptotic McNemar test without continuity correction.

    References
    ----------
    Cochran, W. G. (1950). The comparison of percentages in matched samples. Biometrika 37, 256-266.

    Examples
    --------
    >>> print(cochran_q_test(2 * [[1, 1, 0], [1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 0, 0], [1, 1, 1]]))
    statistic 10.4, p = 0.0055 (Cochran Q chi-squared(2), two-sided, n = 12)
    """
    values = check_systems(scores)
    check_binary(values.ravel(), "Cochran's Q")
    return _rank_test(item_ranks(values), "chi2", "Cochran Q", "")


def _rank_test(ranks: Floats, method: str, name: str, suffix: str) -> SignificanceResult:
    """Return the test of the ranks of n items by k systems."""
    n, k = ranks.shape
    average = ranks.mean(axis=0) if n else np.full(k, np.nan)
    return _omnibus(average, float(((ranks - (k + 1) / 2) ** 2).sum()), n, method, name, suffix)


def _omnibus(average: Floats, total: float, n: int, method: str, name: str, suffix: str) -> SignificanceResult:
    """Return the test from average ranks and the total of squared deviations of all ranks from their mean."""
    from scipy.special import chdtrc, fdtrc

    k = average.size
    if n < 2:
        return undefined_test("two-sided", name, n, f"needs 2 items, got {n}")
    law = f"F({k - 1}, {(k - 1) * (n - 1)})" if method == "F" else f"chi-squared({k - 1})"
    name = f"{name} {law}{suffix}"
    if total == 0:
        return SignificanceResult(0.0, 1.0, "two-sided", name, n, "no item tells the systems apart")
    w = min(n * float(((average - (k + 1) / 2) ** 2).sum()) / total, 1.0)
    if method == "chi2":
        statistic = n * (k - 1) * w
        p = float(chdtrc(k - 1, statistic))
    elif w > 1 - 1e-12:
        statistic, p = float("inf"), _agreement_p(average, n)
    else:
        statistic = (n - 1) * w / (1 - w)
        p = float(fdtrc(k - 1, (k - 1) * (n - 1), statistic))
    warning = "" if n >= FEW_ITEMS or statistic == float("inf") else f"{n} items, fewer than {FEW_ITEMS}: p is a rough one"
    return SignificanceResult(statistic, max(p, SMALLEST_P), "two-sided", name, n, warning)


def _agreement_p(average: Floats, n: int) -> float:
    """Return the probability that n items rank the systems all alike by chance; `average` holds the ranks of each."""
    _, ties = np.unique(average, return_counts=True)
    return exp((1 - n) * (lgamma(average.size + 1) - sum(lgamma(t + 1) for t in ties)))
