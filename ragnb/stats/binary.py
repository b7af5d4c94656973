"""McNemar's test, and Tango's score test and interval, for two systems with paired 0/1 scores.

Both systems must be scored on the same items. Start with `paired_table`, which counts the items on
which both, only one or neither of them is correct.

`tango_interval` inverts `tango_test`. With a null difference of 0, `tango_test` is equivalent to
`mcnemar_test` with ``method="asymptotic"``. For intervals that match the exact and the mid-p
McNemar test, use `ragnb.stats.effects.discordant_odds_ratio`.

All functions except `mid_p_cdf` raise InputError for invalid arguments.
"""

from dataclasses import dataclass
from math import copysign, inf, nan, sqrt
from typing import Any

import numpy as np
from scipy.special import bdtr, ndtr, ndtri

from ragnb.arguments import ALTERNATIVES, Booleans, accepts
from ragnb.errors import InputError
from ragnb.results import (
    Interval,
    SignificanceResult,
    two_sided,
    undefined_interval,
    undefined_test,
)

MCNEMAR_METHODS = ("mid-p", "exact", "asymptotic")


@dataclass(frozen=True, slots=True)
class PairedTable:
    """Counts of the items on which both, only one or neither of two systems is correct.

    Attributes
    ----------
    both : int
        Number of items on which both systems are correct.
    first_only, second_only : int
        Numbers of items on which only the first or only the second system is correct. These are the
        discordant items.
    neither : int
        Number of items on which neither system is correct.
    """

    both: int
    first_only: int
    second_only: int
    neither: int

    @property
    def n(self) -> int:
        """Total number of items."""
        return self.both + self.first_only + self.second_only + self.neither


@accepts(first="labels", second="labels")
def paired_table(first: Booleans, second: Booleans) -> PairedTable:
    """Count the items on which both, only one or neither of two systems is correct.

    Parameters
    ----------
    first, second : array-like of shape (n,)
        Scores of two systems on the same items: 0 or 1, where 1 means correct.

    Returns
    -------
    PairedTable
        The four counts.

    Examples
    --------
    >>> paired_table([1, 1, 0, 1], [1, 0, 0, 0])
    PairedTable(both=1, first_only=2, second_only=0, neither=1)
    """
    cells = first & second, first & ~second, ~first & second, ~first & ~second
    return PairedTable(*map(int, map(np.count_nonzero, cells)))


# ---- McNemar tests -------------------------------------------------------------------------------


@accepts(method=MCNEMAR_METHODS, alternative=ALTERNATIVES)
def mcnemar_test(
    table: PairedTable, *, method: str = "mid-p", alternative: str = "two-sided"
) -> SignificanceResult:
    """McNemar's test of the null hypothesis that two systems have the same success rate.

    Parameters
    ----------
    table : PairedTable
        Output of `paired_table`. The p-value depends only on the two discordant counts.
    method : {'mid-p', 'exact', 'asymptotic'}, default='mid-p'
        Variant of the test. The type I error rate of the exact test never exceeds the nominal
        level, which makes it conservative. The mid-p test is more powerful, and its type I error
        rate rarely exceeds the nominal level [2]_. The asymptotic test is McNemar's original [1]_.
    alternative : {'two-sided', 'greater', 'less'}, default='two-sided'
        Alternative hypothesis: the difference in success rates (first - second) is nonzero, above 0
        or below 0, respectively.

    Returns
    -------
    SignificanceResult
        Statistic and p-value. The p-value is 1 if there are no discordant items. Both are NaN if
        there are no items.

    Notes
    -----
    Let b and c be the numbers of items on which only the first or only the second system is
    correct. Under the null hypothesis, the distribution of b given b + c is Binomial(b + c, 1/2).
    The exact and the mid-p test use this distribution, and their statistic is b. The mid-p test
    counts only half of the probability of the observed b. The two-sided exact and asymptotic tests are
    those of ``statsmodels.stats.contingency_tables.mcnemar``. The two-sided p-value is twice the
    smaller one-sided p-value, but at most 1. For b = c, the mid-p value is therefore 1; in [2]_, it
    is 1 - P(b) / 2. The asymptotic test compares (b - c) / sqrt(b + c) with the standard normal
    distribution, without continuity correction. Its statistic is the square of this ratio.

    References
    ----------
    .. [1] McNemar, Q. (1947). Note on the sampling error of the difference between correlated
       proportions or percentages. Psychometrika 12, 153-157.
    .. [2] Fagerland, M. W., Lydersen, S. & Laake, P. (2013). The McNemar test for binary
       matched-pairs data: mid-p and asymptotic are better than exact conditional. BMC Med. Res.
       Methodol. 13, 91.

    Examples
    --------
    >>> print(mcnemar_test(PairedTable(1, 1, 7, 12), method="exact"))  # 2 * (1 + 8) / 2 ** 8
    statistic 1, p = 0.0703 (McNemar exact, two-sided, n = 21)
    """
    b, c, name = table.first_only, table.second_only, f"McNemar {method}"
    if not table.n:
        return undefined_test(alternative, name, 0, "no items")
    if not b + c:
        return SignificanceResult(0.0, 1.0, alternative, name, table.n, "no discordant items")
    if alternative == "two-sided" and method != "mid-p":
        from statsmodels.stats.contingency_tables import mcnemar

        counts = [[table.both, b], [c, table.neither]]
        result = mcnemar(counts, exact=method == "exact", correction=False)
        # The statistic of statsmodels' exact test is the smaller one of b and c.
        statistic = b if method == "exact" else result.statistic
        return SignificanceResult(float(statistic), result.pvalue, alternative, name, table.n)
    # statsmodels has neither the mid-p test nor one-sided alternatives.
    p = float(mcnemar_p_value(b, c, method, alternative))
    statistic = (b - c) ** 2 / (b + c) if method == "asymptotic" else b
    return SignificanceResult(float(statistic), p, alternative, name, table.n)


@accepts(method=MCNEMAR_METHODS, alternative=ALTERNATIVES)
def mcnemar_p_value(b: Any, c: Any, method: str, alternative: str = "two-sided") -> Any:
    """Compute p-values of McNemar's test from the two discordant counts.

    Parameters
    ----------
    b, c : int or ndarray of int
        Numbers of items on which only the first or only the second system is correct. Arrays must
        be broadcastable to a common shape.
    method : {'mid-p', 'exact', 'asymptotic'}
        Variant of the test; see `mcnemar_test`.
    alternative : {'two-sided', 'greater', 'less'}, default='two-sided'
        Alternative hypothesis: the difference in success rates (first - second) is nonzero, above 0
        or below 0, respectively.

    Returns
    -------
    float or ndarray
        The p-values, in the broadcast shape of `b` and `c`. A p-value is 1 if both counts are 0.

    Examples
    --------
    >>> mcnemar_p_value(np.array([5, 4]), 0, "mid-p").tolist()  # 1 / 2 ** 5 and 1 / 2 ** 4
    [0.03125, 0.0625]
    """
    # Power and bounds need p-values of many counts at once; statsmodels' mcnemar takes one table.
    if method == "exact":
        lower, upper = bdtr(b, b + c, 0.5), bdtr(c, b + c, 0.5)
    elif method == "mid-p":
        lower, upper = mid_p_cdf(b, b + c), mid_p_cdf(c, b + c)
    else:
        z = (b - c) / np.sqrt(np.maximum(b + c, 1))
        lower, upper = ndtr(z), ndtr(-z)
    return np.where(b + c == 0, 1.0, two_sided(lower, upper, alternative))[()]


def mid_p_cdf(successes: Any, n: Any, probability: float = 0.5) -> Any:
    """Mid-p version of the binomial distribution function: P(X < k) + P(X = k) / 2 for k successes.

    >>> float(mid_p_cdf(1, 2))  # 1 / 4 + (1 / 2) / 2
    0.5
    """
    below = np.where(successes > 0, bdtr(successes - 1, n, probability), 0.0)
    return (below + bdtr(successes, n, probability)) / 2


@accepts(first="count", second="count", n="size", method=MCNEMAR_METHODS)
def mcnemar_bounds(
    first: int, second: int, n: int, *, method: str = "exact"
) -> tuple[float, float, str]:
    """Smallest and largest McNemar p-values that are compatible with two success counts.

    Publications often report the success counts of two systems on the same items, but not the
    number of items on which both are correct. This function computes the two-sided p-value for
    every possible number of such items, and returns the smallest and the largest p-value.

    Parameters
    ----------
    first, second : int
        Numbers of successes of the two systems, from 0 to `n`.
    n : int
        Number of items, at least 1.
    method : {'exact', 'mid-p', 'asymptotic'}, default='exact'
        Variant of the test; see `mcnemar_test`.

    Returns
    -------
    low, high : float
        Smallest and largest p-value.
    test : str
        Name of the test, such as ``'McNemar exact'``.

    Examples
    --------
    >>> low, high, test = mcnemar_bounds(289, 282, 300)  # 96.33 % and 94.00 % of 300 items
    >>> round(low, 3), round(high, 2), test
    (0.016, 0.26, 'McNemar exact')
    """
    if max(first, second) > n:
        raise InputError(f"first and second must be at most n = {n}, got {first} and {second}")
    c = np.arange(max(0, second - first), min(second, n - first) + 1)
    p = mcnemar_p_value(c + first - second, c, method)
    return float(p.min()), float(p.max()), f"McNemar {method}"


# ---- the difference of the two rates -------------------------------------------------------------


@accepts(null="number", alternative=ALTERNATIVES)
def tango_test(
    table: PairedTable, *, null: float = 0.0, alternative: str = "two-sided"
) -> SignificanceResult:
    """Tango's score test of the null hypothesis that two paired success rates differ by `null`.

    Parameters
    ----------
    table : PairedTable
        Output of `paired_table`.
    null : float, default=0.0
        Difference in success rates (first - second) under the null hypothesis, in (-1, 1). For a
        test of non-inferiority, use ``null=-margin`` and ``alternative="greater"``.
    alternative : {'two-sided', 'greater', 'less'}, default='two-sided'
        Alternative hypothesis: the difference in success rates (first - second) differs from `null`,
        is above `null` or is below `null`, respectively.

    Returns
    -------
    SignificanceResult
        The statistic z and its asymptotic p-value. Both are NaN if there are no items.

    Notes
    -----
    Let b and c be the numbers of items on which only the first or only the second system is
    correct, and n the total number of items. The statistic

    z = (b - c - n null) / sqrt(n (2 q + null (1 - null)))

    is approximately standard normal under the null hypothesis. Here q is the probability that only
    the second system is correct, estimated by maximum likelihood under the null hypothesis.

    References
    ----------
    .. [1] Tango, T. (1998). Equivalence test and confidence interval for the difference in
       proportions for the paired-sample design. Stat. Med. 17, 891-908.

    Examples
    --------
    >>> print(tango_test(PairedTable(59, 6, 16, 80)))  # (6 - 16) / sqrt(6 + 16)
    statistic -2.132, p = 0.0330 (Tango score test, two-sided, n = 161)
    """
    if not -1 < null < 1:
        raise InputError(f"null must be between -1 and 1, got {null}")
    if not table.n:
        return undefined_test(alternative, "Tango score test", 0, "no items")
    z = _tango_z(table.first_only, table.second_only, table.n, null)
    p = float(two_sided(ndtr(z), ndtr(-z), alternative))
    return SignificanceResult(z, p, alternative, "Tango score test", table.n)


@accepts(confidence_level="level")
def tango_interval(table: PairedTable, *, confidence_level: float = 0.95) -> Interval:
    """Tango's score interval for the difference between two paired success rates (first - second).

    The interval contains the differences that the two-sided `tango_test` does not reject at level
    1 - `confidence_level`.

    Parameters
    ----------
    table : PairedTable
        Output of `paired_table`.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, in (0, 1).

    Returns
    -------
    Interval
        The difference in success rates with its limits, which are in [-1, 1]. Estimate and limits
        are NaN if there are no items.

    References
    ----------
    .. [1] Tango, T. (1998). Equivalence test and confidence interval for the difference in
       proportions for the paired-sample design. Stat. Med. 17, 891-908.

    Examples
    --------
    >>> print(tango_interval(PairedTable(59, 6, 16, 80)))  # estimate (6 - 16) / 161
    -0.062 [-0.124, -0.005] (95% Tango, n = 161)
    """
    b, c, n = table.first_only, table.second_only, table.n
    if not n:
        return undefined_interval(nan, confidence_level, "Tango", 0, "no items")
    z = float(ndtri((1 + confidence_level) / 2))
    low, high = _tango_limit(b, c, n, z), -_tango_limit(c, b, n, z)
    return Interval((b - c) / n, low, high, confidence_level, "Tango", n)


def _tango_limit(b: int, c: int, n: int, z: float) -> float:
    """Lower limit of the interval: the difference at which the score statistic equals z."""
    from scipy.optimize import bisect

    if c == n:
        return -1.0
    return bisect(lambda delta: z - _tango_z(b, c, n, delta), -1.0, (b - c) / n, xtol=1e-15)


def _tango_z(b: int, c: int, n: int, delta: float) -> float:
    """Tango's score statistic, which decreases in `delta`."""
    linear = -b - c + (2 * n - b + c) * delta
    root = sqrt(max(linear * linear + 8 * n * c * delta * (1 - delta), 0.0))
    q = (root - linear) / (4 * n)
    variance = n * (2 * q + delta * (1 - delta))
    distance = b - c - n * delta
    if variance <= 0:
        return copysign(inf, distance) if distance else 0.0
    return distance / sqrt(variance)
