"""McNemar tests and intervals for the difference of two systems with 0/1 scores.

The systems must have been scored on the same items. Count these items with `paired_table` first.
`tango_interval` inverts `tango_test`, which at a difference of 0 is `mcnemar_test` with
``method="asymptotic"``. The interval that inverts the exact or the mid-p McNemar test is
`ragnb.stats.effects.discordant_odds_ratio` with the method of the same name.

All functions raise InputError for arguments outside the stated range.
"""

from dataclasses import dataclass
from math import copysign, inf, nan, sqrt
from typing import Any

import numpy as np
from scipy.special import bdtr, ndtr, ndtri

from ragnb.arguments import ALTERNATIVES, Booleans, accepts
from ragnb.errors import InputError, check_choice
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
    """Numbers of items on which both, exactly one or neither of two systems is correct.

    Attributes
    ----------
    both, first_only, second_only, neither : int
        Number of items. `first_only` and `second_only` count the discordant items.
    """

    both: int
    first_only: int
    second_only: int
    neither: int

    @property
    def n(self) -> int:
        """Number of items."""
        return self.both + self.first_only + self.second_only + self.neither


@accepts(first="labels", second="labels")
def paired_table(first: Booleans, second: Booleans) -> PairedTable:
    """Count the items on which both, exactly one or neither of two systems is correct.

    Parameters
    ----------
    first, second : array_like of shape (n,)
        0/1 (or boolean) scores of two systems on the same items.

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
    """McNemar test of the null hypothesis that two systems have the same success rate.

    The p-value is in (0, 1]. It is 1 if there are no discordant items, and NaN if there are no
    items.

    Parameters
    ----------
    table : PairedTable
        From `paired_table`. Only the discordant items affect the p-value.
    method : {"mid-p", "exact", "asymptotic"}
        ``"exact"`` guarantees the level of the test but is conservative. ``"mid-p"`` counts half of
        the probability of the observed counts. It has more power and, although this is not
        guaranteed, holds its level in practice [2]_. The statistic of both is the number of items
        on which only the first system is correct. ``"asymptotic"`` has a statistic that is
        approximately chi-squared with 1 degree of freedom.
    alternative : {"two-sided", "greater", "less"}
        Direction of first - second.

    Notes
    -----
    Let b and c be the numbers of items on which only the first and only the second system is
    correct. Given b + c, b is Binomial(b + c, 1/2) under the null hypothesis. The asymptotic
    statistic is (b - c)^2 / (b + c).

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
    p = float(mcnemar_p_value(b, c, method, alternative))
    statistic = (b - c) ** 2 / (b + c) if method == "asymptotic" else b
    return SignificanceResult(float(statistic), p, alternative, name, table.n)


def mcnemar_p_value(b: Any, c: Any, method: str, alternative: str = "two-sided") -> Any:
    """Compute p-values of McNemar tests from the two discordant counts.

    Parameters
    ----------
    b, c : int or array_like
        Numbers of items on which only the first and only the second system is correct. Arrays
        broadcast.
    method, alternative
        See `mcnemar_test`. ``"greater"`` tests whether the first system is better.

    Returns
    -------
    float or ndarray
        The p-values, in the shape to which `b` and `c` broadcast.

    Examples
    --------
    >>> mcnemar_p_value(np.array([5, 4]), 0, "mid-p").tolist()
    [0.03125, 0.0625]
    """
    check_choice(method, MCNEMAR_METHODS, "method")
    if method == "exact":
        lower, upper = bdtr(b, b + c, 0.5), bdtr(c, b + c, 0.5)
    elif method == "mid-p":
        lower, upper = mid_p_cdf(b, b + c), mid_p_cdf(c, b + c)
    else:
        z = (b - c) / np.sqrt(np.maximum(b + c, 1))
        lower, upper = ndtr(z), ndtr(-z)
    return two_sided(lower, upper, alternative)


def mid_p_cdf(successes: Any, n: Any, probability: float = 0.5) -> Any:
    """Mid-p version of the binomial distribution function: P(X < k) + P(X = k) / 2.

    X is the number of successes in `n` trials with the given probability, and k is `successes`. The
    arguments are numbers or arrays that broadcast.
    """
    below = np.where(successes > 0, bdtr(successes - 1, n, probability), 0.0)
    return (below + bdtr(successes, n, probability)) / 2


@accepts(first="count", second="count", n="size", method=MCNEMAR_METHODS)
def mcnemar_bounds(
    first: int, second: int, n: int, *, method: str = "exact"
) -> tuple[float, float, str]:
    """Smallest and largest McNemar p-values that are compatible with two published success counts.

    The two systems answered the same items, but it was not published on which of them each system
    was correct. The function therefore computes the two-sided p-value of every table that has the
    two totals.

    Parameters
    ----------
    first, second : int
        Numbers of successes of the two systems, each from 0 to `n`.
    n : int
        Number of items, at least 1.
    method : {"exact", "mid-p", "asymptotic"}
        Variant of the test; see `mcnemar_test`. Unless `first` equals `second`, the bounds of the
        exact test are higher than those of the mid-p test, which `ragnb.compare` uses. The result
        therefore names the test.

    Returns
    -------
    (low, high, test)
        The smallest and the largest p-value, and the name of the test.

    Notes
    -----
    Let c be the number of items on which only the second system is correct. Then only the first is
    correct on b = c + first - second items. The possible values of c are max(0, second - first) to
    min(second, n - first). For the same difference of the totals, the evidence is weaker if there are more discordant items.

    Examples
    --------
    >>> low, high, test = mcnemar_bounds(289, 282, 300)  # 96.33 % and 94.00 % of 300
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
    """Tango's score test of the null hypothesis that two paired rates differ by `null`.

    The test is asymptotic. The p-value is in (0, 1], and NaN if there are no items.

    Parameters
    ----------
    table : PairedTable
        From `paired_table`.
    null : float, default 0.0
        Difference of rates, first - second, under the null hypothesis; in (-1, 1). For a
        non-inferiority test, use ``null=-margin`` with ``alternative="greater"``.
    alternative : {"two-sided", "greater", "less"}
        Direction of first - second - null.

    Notes
    -----
    With the numbers b and c of items on which only the first and only the second system is correct,
    z = (b - c - n null) / sqrt(n (2 q + null (1 - null))). Here q is the maximum likelihood
    estimate, under the null hypothesis, of the probability that only the second system is correct.

    References
    ----------
    .. [1] Tango, T. (1998). Equivalence test and confidence interval for the difference in
       proportions for the paired-sample design. Stat. Med. 17, 891-908.

    Examples
    --------
    >>> print(tango_test(PairedTable(59, 6, 16, 80)))
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
    """Tango's score interval for the difference of two paired rates, first - second.

    The interval inverts the two-sided `tango_test`. The limits are in [-1, 1] and never equal. They
    are NaN if there are no items.

    Parameters
    ----------
    table : PairedTable
        From `paired_table`.
    confidence_level : float, default 0.95
        Nominal coverage. The actual coverage is close to it if n is at least about 20.

    References
    ----------
    .. [1] Tango, T. (1998). Equivalence test and confidence interval for the difference in
       proportions for the paired-sample design. Stat. Med. 17, 891-908.

    Examples
    --------
    >>> print(tango_interval(PairedTable(59, 6, 16, 80)))
    -0.062 [-0.124, -0.005] (95% Tango, n = 161)
    """
    b, c, n = table.first_only, table.second_only, table.n
    if not n:
        return undefined_interval(nan, confidence_level, "Tango", 0, "no items")
    z = float(ndtri((1 + confidence_level) / 2))
    low, high = _tango_limit(b, c, n, z), -_tango_limit(c, b, n, z)
    return Interval((b - c) / n, low, high, confidence_level, "Tango", n)


def _tango_limit(b: int, c: int, n: int, z: float) -> float:
    """Lower limit: the difference at which the score statistic is z."""
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
