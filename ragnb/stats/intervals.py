"""Intervals for a rate and for a mean.

For a rate (successes of n) use `wilson_interval`; `clopper_pearson_interval` where coverage must never fall below
nominal. For a mean use `mean_interval_t` or `ragnb.stats.bootstrap.bca_interval`; where items share a question,
`ragnb.stats.clusters`.
"""

from math import sqrt

from numpy.typing import ArrayLike

from ragnb.errors import InputError
from ragnb.results import Interval
from ragnb.stats.checks import check_count, check_level, check_scores, spread_problem, undefined_interval
from ragnb.stats.numerics import beta_quantile, normal_quantile, t_quantile


def wilson_interval(successes: int, n: int, *, confidence_level: float = 0.95) -> Interval:
    """Wilson score interval of a rate.

    In [0, 1]; limits are ``nan`` when `n` is 0. Dual of the score test of one proportion.

    Parameters
    ----------
    successes, n : int
        Number of successes and of independent items.
    confidence_level : float, default 0.95
        Nominal coverage; the actual one is near nominal on average from n = 10 on and dips near rates of 0 and 1.

    Raises
    ------
    InputError
        If `successes` is not a whole number in 0 .. `n`, or the level is not in (0, 1).

    Notes
    -----
    (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n).

    References
    ----------
    Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. JASA 22, 209-212.
    Newcombe, R. G. (1998). Two-sided confidence intervals for the single proportion. Stat. Med. 17, 857-872, method 3.

    Examples
    --------
    >>> print(wilson_interval(5, 10))
    0.500 [0.237, 0.763] (95% Wilson, n = 10)
    """
    x, n, level = _check_rate(successes, n, confidence_level)
    if n == 0:
        return undefined_interval(float("nan"), level, "Wilson", 0, "no items")
    z = normal_quantile((1 + level) / 2)
    p = x / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low, high = (0.0 if x == 0 else centre - half), (1.0 if x == n else centre + half)
    return Interval(p, low, high, level, "Wilson", n)


def clopper_pearson_interval(successes: int, n: int, *, confidence_level: float = 0.95) -> Interval:
    """Clopper-Pearson ("exact") interval of a rate.

    In [0, 1]; coverage never below nominal, so wider than needed; ``nan`` when `n` is 0. Dual of the binomial test
    with doubled tails.

    Parameters
    ----------
    successes, n : int
        Number of successes and of independent items.
    confidence_level : float, default 0.95
        Guaranteed coverage.

    Raises
    ------
    InputError
        If `successes` is not a whole number in 0 .. `n`, or the level is not in (0, 1).

    Notes
    -----
    Quantiles of Beta(x, n - x + 1) and Beta(x + 1, n - x).

    References
    ----------
    Clopper, C. J. & Pearson, E. S. (1934). The use of confidence or fiducial limits. Biometrika 26, 404-413.

    Examples
    --------
    >>> print(clopper_pearson_interval(0, 20))  # 1 - 0.025 ** (1 / 20)
    0.000 [0.000, 0.168] (95% Clopper-Pearson, n = 20)
    """
    x, n, level = _check_rate(successes, n, confidence_level)
    if n == 0:
        return undefined_interval(float("nan"), level, "Clopper-Pearson", 0, "no items")
    low = beta_quantile((1 - level) / 2, x, n - x + 1) if x > 0 else 0.0
    high = beta_quantile((1 + level) / 2, x + 1, n - x) if x < n else 1.0
    return Interval(x / n, low, high, level, "Clopper-Pearson", n)


def jeffreys_interval(successes: int, n: int, *, confidence_level: float = 0.95) -> Interval:
    """Jeffreys interval of a rate: equal tails of the Beta(x + 1/2, n - x + 1/2) posterior.

    In [0, 1]; the lower limit is 0 at no success, the upper 1 at no failure; ``nan`` when `n` is 0. Dual of no
    test in this package.

    Parameters
    ----------
    successes, n : int
        Number of successes and of independent items.
    confidence_level : float, default 0.95
        Nominal coverage.

    Raises
    ------
    InputError
        If `successes` is not a whole number in 0 .. `n`, or the level is not in (0, 1).

    References
    ----------
    Brown, L. D., Cai, T. T. & DasGupta, A. (2001). Interval estimation for a binomial proportion. Stat. Sci. 16,
    101-133.

    Examples
    --------
    >>> print(jeffreys_interval(5, 10))
    0.500 [0.224, 0.776] (95% Jeffreys, n = 10)
    """
    x, n, level = _check_rate(successes, n, confidence_level)
    if n == 0:
        return undefined_interval(float("nan"), level, "Jeffreys", 0, "no items")
    low = beta_quantile((1 - level) / 2, x + 0.5, n - x + 0.5) if x > 0 else 0.0
    high = beta_quantile((1 + level) / 2, x + 0.5, n - x + 0.5) if x < n else 1.0
    return Interval(x / n, low, high, level, "Jeffreys", n)


def wald_interval(successes: int, n: int, *, confidence_level: float = 0.95) -> Interval:
    """Wald interval of a rate, for comparison only: its coverage is far below nominal near 0 and 1.

    Not clipped, so it may leave [0, 1], and of no width at 0 and n successes; ``nan`` when `n` is 0.

    Parameters
    ----------
    successes, n : int
        Number of successes and of independent items.
    confidence_level : float, default 0.95
        Nominal coverage, not reached.

    Raises
    ------
    InputError
        If `successes` is not a whole number in 0 .. `n`, or the level is not in (0, 1).

    Notes
    -----
    p -+ z sqrt(p (1 - p) / n).

    References
    ----------
    Brown, L. D., Cai, T. T. & DasGupta, A. (2001). Interval estimation for a binomial proportion. Stat. Sci. 16,
    101-133.

    Examples
    --------
    >>> print(wald_interval(19, 20))
    0.950 [0.854, 1.046] (95% Wald (for comparison only), n = 20)
    """
    x, n, level = _check_rate(successes, n, confidence_level)
    if n == 0:
        return undefined_interval(float("nan"), level, "Wald (for comparison only)", 0, "no items")
    p = x / n
    half = normal_quantile((1 + level) / 2) * sqrt(p * (1 - p) / n)
    return Interval(p, p - half, p + half, level, "Wald (for comparison only)", n)


def mean_interval_t(values: ArrayLike, *, confidence_level: float = 0.95) -> Interval:
    """Student t interval of a mean.

    In the unit of the values; limits are ``nan`` for fewer than two values or when all are equal. Dual of
    `ragnb.stats.paired.paired_t_test`.

    Parameters
    ----------
    values : array_like of shape (n,)
        Finite scores, or paired differences, of independent items.
    confidence_level : float, default 0.95
        Nominal coverage; holds well for n >= 50, and below when scores are not piled up at one end.

    Raises
    ------
    InputError
        If a value is not finite, the shape is wrong, or the level is not in (0, 1).

    Notes
    -----
    mean -+ t(n - 1) s / sqrt(n), s with divisor n - 1.

    References
    ----------
    Student (1908). The probable error of a mean. Biometrika 6, 1-25.

    Examples
    --------
    >>> print(mean_interval_t([1, 2, 3, 4, 5]))
    3.000 [1.037, 4.963] (95% t, n = 5)
    """
    scores, level = check_scores(values), check_level(confidence_level)
    n = scores.size
    mean = float(scores.mean()) if n else float("nan")
    if problem := spread_problem(scores):
        return undefined_interval(mean, level, "t", n, problem)
    half = t_quantile((1 + level) / 2, n - 1) * float(scores.std(ddof=1)) / sqrt(n)
    return Interval(mean, mean - half, mean + half, level, "t", n)


def _check_rate(successes: int, n: int, confidence_level: float) -> tuple[int, int, float]:
    n = check_count(n, "n")
    x = check_count(successes, "successes")
    if x > n:
        raise InputError(f"A rate needs at most as many successes as items; it got {x} of {n}; check the order.")
    return x, n, check_level(confidence_level)
