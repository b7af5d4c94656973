"""Two systems scored 0/1 on the same items: McNemar tests and intervals for the difference of the two rates.

Everything starts from `paired_table`. Tests and intervals that invert each other: `score_test` and `tango_interval`
(at a difference of 0 the test is `mcnemar_test` with ``method="asymptotic"``); the exact and mid-p McNemar tests are
the duals of `ragnb.stats.effects.discordant_odds_ratio` with the method of the same name. `bonett_price_interval`,
`newcombe_interval`, `agresti_min_interval` and `wald_difference_interval` are dual of no test.
"""

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from ragnb.errors import InputError, as_real, check_choice
from ragnb.results import Interval, PairedTable, SignificanceResult
from ragnb.stats.checks import (
    check_alternative,
    check_binary,
    check_count,
    check_level,
    check_table,
    undefined_interval,
    undefined_test,
)
from ragnb.stats.intervals import rate_interval
from ragnb.stats.numerics import binomial_cdf, bisect, normal_cdf, normal_quantile, two_sided

MCNEMAR_METHODS = ("mid-p", "exact", "asymptotic", "asymptotic-cc")


def paired_table(first: ArrayLike, second: ArrayLike) -> PairedTable:
    """Count on how many items both, one or neither of two systems succeed.

    Parameters
    ----------
    first, second : array_like of shape (n,)
        0/1 (or boolean) scores of two systems on the same items.

    Raises
    ------
    InputError
        If a value is neither 0 nor 1, or the lengths differ.

    Examples
    --------
    >>> paired_table([1, 1, 0, 1], [1, 0, 0, 0])
    PairedTable(both=1, first_only=2, second_only=0, neither=1)
    """
    left, right = check_binary(first, "first"), check_binary(second, "second")
    if left.size != right.size:
        raise InputError(
            f"A paired table needs one score of each system per item; it got {left.size} and {right.size}; "
            "align them by item id first."
        )
    both = int(np.count_nonzero(left & right))
    first_only, second_only = int(np.count_nonzero(left)) - both, int(np.count_nonzero(right)) - both
    return PairedTable(both, first_only, second_only, left.size - both - first_only - second_only)


def mcnemar_test(table: PairedTable, *, method: str = "mid-p", alternative: str = "two-sided") -> SignificanceResult:
    """McNemar test that two systems succeed equally often on the same items.

    p in (0, 1]; 1 when no item tells the systems apart; ``nan`` without items. Only the discordant items count.

    Parameters
    ----------
    table : PairedTable
        From `paired_table`.
    method : {"mid-p", "exact", "asymptotic", "asymptotic-cc"}
        ``"mid-p"`` halves the probability of the table seen, keeps its level in practice and has more power than
        ``"exact"``, which guarantees it; ``"asymptotic-cc"`` has Edwards' continuity correction. The statistic is the
        number of items that only the first system gets right for the first two, chi-squared (1 df) for the others.
    alternative : {"two-sided", "greater", "less"}
        Direction of first - second.

    Raises
    ------
    InputError
        If an option is unknown or a count is negative.

    Notes
    -----
    With b and c the discordant counts, b is Binomial(b + c, 1/2) under the null; asymptotically (b - c)^2 / (b + c),
    with correction (abs(b - c) - 1)^2 / (b + c).

    References
    ----------
    McNemar, Q. (1947). Psychometrika 12, 153-157. Fagerland, M. W., Lydersen, S. & Laake, P. (2013). The McNemar test
    for binary matched-pairs data: mid-p and asymptotic are better than exact conditional. BMC Med. Res. Methodol.
    13, 91.

    Examples
    --------
    >>> print(mcnemar_test(PairedTable(1, 1, 7, 12), method="exact"))  # 2 * (1 + 8) / 2 ** 8
    statistic 1, p = 0.0703 (McNemar exact, two-sided, n = 21)
    """
    check_choice(method, MCNEMAR_METHODS, "method")
    check_alternative(alternative)
    b, c, n = _discordant(table)
    name = f"McNemar {method}"
    if n == 0:
        return undefined_test(alternative, name, 0, "no items")
    if b + c == 0:
        return SignificanceResult(0.0, 1.0, alternative, name, n, "no discordant item")
    if method in ("mid-p", "exact"):
        lower, upper = binomial_cdf(b, b + c), binomial_cdf(c, b + c)
        half_mass = (lower - binomial_cdf(b - 1, b + c)) / 2 if method == "mid-p" else 0.0
        p = two_sided(lower - half_mass, upper - half_mass, alternative)
        return SignificanceResult(float(b), p, alternative, name, n)
    distance = max(abs(b - c) - (method == "asymptotic-cc"), 0)
    z = float(np.copysign(distance / sqrt(b + c), b - c))
    return SignificanceResult(z * z, two_sided(normal_cdf(z), normal_cdf(-z), alternative), alternative, name, n)


def score_test(table: PairedTable, *, null: float = 0.0, alternative: str = "two-sided") -> SignificanceResult:
    """Tango's score test that the difference of two paired rates has a given value.

    p in (0, 1]; ``nan`` without items. Dual of `tango_interval`; at ``null=0`` it is the asymptotic McNemar test.

    Parameters
    ----------
    table : PairedTable
        From `paired_table`.
    null : float, default 0.0
        Difference of rates, first - second, under the null; in (-1, 1). ``null=-margin`` with
        ``alternative="greater"`` tests non-inferiority.
    alternative : {"two-sided", "greater", "less"}
        Direction of first - second - null.

    Raises
    ------
    InputError
        If `null` is outside (-1, 1), an option is unknown, or a count is negative.

    Notes
    -----
    z = (b - c - n null) / sqrt(n (2 q + null (1 - null))), q the maximum likelihood estimate of the probability of the
    second kind of discordant item under the null.

    References
    ----------
    Tango, T. (1998). Equivalence test and confidence interval for the difference in proportions for the paired-sample
    design. Stat. Med. 17, 891-908.

    Examples
    --------
    >>> print(score_test(PairedTable(59, 6, 16, 80)))
    statistic -2.132, p = 0.0330 (Tango score test, two-sided, n = 161)
    """
    check_alternative(alternative)
    b, c, n = _discordant(table)
    if not -1 < as_real(null) < 1:
        raise InputError(f"null needs a difference of rates in (-1, 1); it got {null!r}; pass a share, not percent.")
    if n == 0:
        return undefined_test(alternative, "Tango score test", 0, "no items")
    z = _score(b, c, n, null)
    p = two_sided(normal_cdf(z), normal_cdf(-z), alternative)
    return SignificanceResult(z, p, alternative, "Tango score test", n)


def tango_interval(table: PairedTable, *, confidence_level: float = 0.95) -> Interval:
    """Tango's score interval for the difference of two paired rates.

    In [-1, 1], first - second; ``nan`` without items; never of no width. Dual of `score_test`.

    Parameters
    ----------
    table : PairedTable
        From `paired_table`.
    confidence_level : float, default 0.95
        Nominal coverage; near nominal from about n = 20.

    Raises
    ------
    InputError
        If a count is negative or the level is not in (0, 1).

    References
    ----------
    Tango, T. (1998). Stat. Med. 17, 891-908.

    Examples
    --------
    >>> print(tango_interval(PairedTable(59, 6, 16, 80)))
    -0.062 [-0.124, -0.005] (95% Tango, n = 161)
    """
    level = check_level(confidence_level)
    b, c, n = _discordant(table)
    if n == 0:
        return undefined_interval(float("nan"), level, "Tango", 0, "no items")
    z = normal_quantile((1 + level) / 2)
    low = -1.0 if c == n else bisect(lambda delta: z - _score(b, c, n, delta), -1.0, (b - c) / n)
    high = 1.0 if b == n else bisect(lambda delta: -z - _score(b, c, n, delta), (b - c) / n, 1.0)
    return Interval((b - c) / n, low, high, level, "Tango", n)


def bonett_price_interval(table: PairedTable, *, confidence_level: float = 0.95) -> Interval:
    """Bonett and Price's adjusted Wald interval for the difference of two paired rates.

    In [-1, 1], first - second; ``nan`` without items. Dual of no test. Closed form with good coverage.

    Parameters
    ----------
    table : PairedTable
        From `paired_table`.
    confidence_level : float, default 0.95
        Nominal coverage.

    Raises
    ------
    InputError
        If a count is negative or the level is not in (0, 1).

    Notes
    -----
    Wald with (b + 1) / (n + 2) and (c + 1) / (n + 2) for the discordant shares. The estimate printed is (b - c) / n.

    References
    ----------
    Bonett, D. G. & Price, R. M. (2012). Adjusted Wald confidence interval for a difference of binomial proportions
    based on paired data. J. Educ. Behav. Stat. 37, 479-488.

    Examples
    --------
    >>> print(bonett_price_interval(PairedTable(59, 6, 16, 80)))
    -0.062 [-0.119, -0.003] (95% Bonett-Price, n = 161)
    """
    b, c, n = _discordant(table)
    return _wald(b + 1, c + 1, n + 2, (b, c, n), confidence_level, "Bonett-Price")


def agresti_min_interval(table: PairedTable, *, confidence_level: float = 0.95) -> Interval:
    """Agresti and Min's adjusted Wald interval for the difference of two paired rates.

    In [-1, 1], first - second; ``nan`` without items. Dual of no test.

    Parameters
    ----------
    table : PairedTable
        From `paired_table`.
    confidence_level : float, default 0.95
        Nominal coverage.

    Raises
    ------
    InputError
        If a count is negative or the level is not in (0, 1).

    Notes
    -----
    Wald after adding 1/2 to each of the four cells.

    References
    ----------
    Agresti, A. & Min, Y. (2005). Simple improved confidence intervals for comparing matched proportions. Stat. Med. 24,
    729-740.

    Examples
    --------
    >>> print(agresti_min_interval(PairedTable(59, 6, 16, 80)))
    -0.062 [-0.118, -0.004] (95% Agresti-Min, n = 161)
    """
    b, c, n = _discordant(table)
    return _wald(b + 0.5, c + 0.5, n + 2, (b, c, n), confidence_level, "Agresti-Min")


def wald_difference_interval(table: PairedTable, *, confidence_level: float = 0.95) -> Interval:
    """Wald interval for the difference of two paired rates, for comparison only.

    In [-1, 1], first - second; of no width when no item is discordant; ``nan`` without items. Dual of no test here.

    Parameters
    ----------
    table : PairedTable
        From `paired_table`.
    confidence_level : float, default 0.95
        Nominal coverage, not reached below about n = 100.

    Raises
    ------
    InputError
        If a count is negative or the level is not in (0, 1).

    Notes
    -----
    (b - c) / n -+ z sqrt(b + c - (b - c)^2 / n) / n.

    References
    ----------
    Fagerland, M. W., Lydersen, S. & Laake, P. (2014). Recommended tests and confidence intervals for paired binomial
    proportions. Stat. Med. 33, 2850-2875.

    Examples
    --------
    >>> print(wald_difference_interval(PairedTable(59, 6, 16, 80)))
    -0.062 [-0.118, -0.006] (95% Wald (for comparison only), n = 161)
    """
    b, c, n = _discordant(table)
    return _wald(b, c, n, (b, c, n), confidence_level, "Wald (for comparison only)")


def newcombe_interval(table: PairedTable, *, confidence_level: float = 0.95) -> Interval:
    """Newcombe's square-and-add interval (method 10) for the difference of two paired rates.

    In [-1, 1], first - second; ``nan`` without items. Dual of no test.

    Parameters
    ----------
    table : PairedTable
        From `paired_table`.
    confidence_level : float, default 0.95
        Nominal coverage.

    Raises
    ------
    InputError
        If a count is negative or the level is not in (0, 1).

    Notes
    -----
    Combines the two Wilson intervals with the correlation phi of the two systems, continuity-corrected where positive.

    References
    ----------
    Newcombe, R. G. (1998). Improved confidence intervals for the difference between binomial proportions based on
    paired data. Stat. Med. 17, 2635-2650, method 10.

    Examples
    --------
    >>> print(newcombe_interval(PairedTable(59, 6, 16, 80)))
    -0.062 [-0.119, -0.005] (95% Newcombe (method 10), n = 161)
    """
    level = check_level(confidence_level)
    b, c, n = _discordant(table)
    if n == 0:
        return undefined_interval(float("nan"), level, "Newcombe (method 10)", 0, "no items")
    one, two = (rate_interval(table.both + only, n, confidence_level=level) for only in (b, c))
    phi = _corrected_phi(table)
    down = (one.estimate - one.low, two.high - two.estimate)
    up = (one.high - one.estimate, two.estimate - two.low)
    low, high = (sqrt(max(x * x - 2 * phi * x * y + y * y, 0.0)) for x, y in (down, up))
    delta = (b - c) / n
    return Interval(delta, delta - low, delta + high, level, "Newcombe (method 10)", n)


def _corrected_phi(table: PairedTable) -> float:
    """Return the correlation of the two systems, moved towards 0 by n / 2 in the numerator where it is positive."""
    both, b, c, neither = table.both, table.first_only, table.second_only, table.neither
    product = (both + b) * (c + neither) * (both + c) * (b + neither)
    if product == 0:
        return 0.0
    numerator = both * neither - b * c
    return (max(numerator - (both + b + c + neither) / 2, 0.0) if numerator > 0 else numerator) / sqrt(product)


def _wald(b: float, c: float, n: int, seen: tuple[int, int, int], confidence_level: float, method: str) -> Interval:
    """Return the Wald interval of adjusted counts, clipped to [-1, 1], around the observed difference."""
    level = check_level(confidence_level)
    if seen[2] == 0:
        return undefined_interval(float("nan"), level, method, 0, "no items")
    delta = (b - c) / n
    half = normal_quantile((1 + level) / 2) * sqrt(((b + c) / n - delta * delta) / n)
    estimate = (seen[0] - seen[1]) / seen[2]
    return Interval(estimate, max(delta - half, -1.0), min(delta + half, 1.0), level, method, seen[2])


def _score(b: int, c: int, n: int, delta: float) -> float:
    """Return Tango's score statistic, decreasing in `delta`."""
    linear = -b - c + (2 * n - b + c) * delta
    q = (sqrt(max(linear * linear + 8 * n * c * delta * (1 - delta), 0.0)) - linear) / (4 * n)
    variance = n * (2 * q + delta * (1 - delta))
    distance = b - c - n * delta
    if variance <= 0:
        return 0.0 if distance == 0 else float(np.copysign(np.inf, distance))
    return distance / sqrt(variance)


def _discordant(table: PairedTable) -> tuple[int, int, int]:
    """Return the two discordant counts and the number of items, all checked."""
    cells = [
        check_count(getattr(check_table(table), cell), cell) for cell in ("both", "first_only", "second_only", "neither")
    ]
    return cells[1], cells[2], sum(cells)
