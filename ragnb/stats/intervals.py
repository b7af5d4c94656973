"""Confidence intervals of rates, of means, and of smooth functions of sums.

Use `rate_interval` for a rate (successes out of n), and `mean_interval` or `bca_interval` for a
mean. If several items share a question, pass the questions to `mean_interval` as clusters.
Use `jackknife_interval` for all other statistics that can be computed from sums, such as a ratio or
an agreement coefficient.

All functions raise InputError for arguments outside the stated range.
"""

from collections.abc import Callable
from math import inf, nan, sqrt
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from ragnb.arguments import Floats, Integers, accepts
from ragnb.errors import InputError
from ragnb.results import Interval, undefined_interval
from ragnb.stats.exact import bootstrap_distribution

RATE_METHODS = {
    "wilson": ("wilson", "Wilson"),
    "clopper-pearson": ("beta", "Clopper-Pearson"),
    "jeffreys": ("jeffreys", "Jeffreys"),
    "wald": ("normal", "Wald (for comparison only)"),
}
"""Method of `rate_interval` -> its name in statsmodels, and its printed name."""

FEW_CLUSTERS = 30
"""With fewer clusters, the cluster-robust standard error is itself too uncertain."""


@accepts(successes="count", n="count", method=tuple(RATE_METHODS), confidence_level="level")
def rate_interval(
    successes: int, n: int, *, method: str = "wilson", confidence_level: float = 0.95
) -> Interval:
    """Confidence interval of a rate.

    The limits are in [0, 1], and ``nan`` if there are no items.

    Parameters
    ----------
    successes, n : int
        Number of successes and of independent items.
    method : {"wilson", "clopper-pearson", "jeffreys", "wald"}
        The Wilson interval inverts the score test. Its coverage is near nominal on average from n =
        10 on. The coverage of Clopper-Pearson is never below nominal, so it is wider than needed.
        Jeffreys uses the equal tails of the Beta(x + 1/2, n - x + 1/2) posterior. The coverage of
        Wald is far below nominal near rates of 0 and 1; use it for comparison only.
    confidence_level : float, default 0.95
        Nominal coverage.

    Notes
    -----
    The limits are those of ``statsmodels.stats.proportion.proportion_confint``, except that the
    lower limit without any success is 0 and the upper limit without any failure is 1 (Brown, Cai &
    DasGupta 2001, for Jeffreys).

    References
    ----------
    Wilson, E. B. (1927). JASA 22, 209-212. Clopper, C. J. & Pearson, E. S. (1934). Biometrika 26,
    404-413. Brown, L. D., Cai, T. T. & DasGupta, A. (2001). Interval estimation for a binomial
    proportion. Stat. Sci. 16, 101-133.

    Examples
    --------
    >>> print(rate_interval(5, 10))
    0.500 [0.237, 0.763] (95% Wilson, n = 10)
    >>> print(rate_interval(0, 20, method="clopper-pearson"))  # 1 - 0.025 ** (1 / 20)
    0.000 [0.000, 0.168] (95% Clopper-Pearson, n = 20)
    """
    from statsmodels.stats.proportion import proportion_confint

    theirs, name = RATE_METHODS[method]
    if successes > n:
        raise InputError(f"successes must be at most n, got {successes} of {n}")
    if n == 0:
        return undefined_interval(nan, confidence_level, name, 0, "no items")
    low, high = proportion_confint(successes, n, alpha=1 - confidence_level, method=theirs)
    low, high = float(low) if successes else 0.0, float(high) if successes < n else 1.0
    return Interval(successes / n, low, high, confidence_level, name, n)


@accepts(values="scores", clusters="clusters", confidence_level="level")
def mean_interval(
    values: Floats, clusters: Integers | None = None, *, confidence_level: float = 0.95
) -> Interval:
    """Student t interval of a mean, which is cluster-robust if clusters are given.

    The limits are ``nan`` for fewer than two items (clusters) or if all are equal. The interval
    inverts `ragnb.stats.paired.paired_t_test`.

    Parameters
    ----------
    values : array_like of shape (n,)
        Scores or paired differences.
    clusters : array_like of shape (n,), optional
        Key of the cluster (such as the question) of each item. The clusters are then the
        independent units. The method of the result states if there are fewer than 30 of them.
    confidence_level : float, default 0.95
        Nominal coverage. The actual coverage is close to it for n >= 50, and for fewer scores if
        they are not concentrated at one end of the range.

    Notes
    -----
    mean -+ t(n - 1) s / sqrt(n). With G clusters, the standard error is sqrt(G / (G - 1) sum_g
    S_g^2) / n, where S_g is the sum of the deviations from the mean in cluster g, and t has G - 1
    degrees of freedom.

    References
    ----------
    Student (1908). Biometrika 6, 1-25. Liang, K.-Y. & Zeger, S. L. (1986). Biometrika 73, 13-22.
    Cameron, A. C. & Miller, D. L. (2015). A practitioner's guide to cluster-robust inference. J.
    Human Resources 50, 317-372.

    Examples
    --------
    >>> print(mean_interval([1, 2, 3, 4, 5]))
    3.000 [1.037, 4.963] (95% t, n = 5)
    >>> print(mean_interval([1, 1, 0, 0, 1, 0], ["a", "a", "b", "b", "c", "c"]))
    0.500 [-0.742, 1.742] (95% cluster-robust t, 3 clusters (fewer than 30: too narrow), n = 3)
    """
    mean = float(values.mean()) if values.size else nan
    units = unit_values(values, clusters)
    method, unit = "t", "values"
    if clusters is not None:
        method, unit = f"cluster-robust t, {units.size} clusters{too_few(units.size)}", "clusters"
    if problem := spread_problem(units, unit):
        return undefined_interval(mean, confidence_level, method, units.size, problem)
    half = t_half_width(units, confidence_level)
    return Interval(mean, mean - half, mean + half, confidence_level, method, units.size)


@accepts(values="scores", confidence_level="level")
def bca_interval(values: Floats, *, confidence_level: float = 0.95) -> Interval:
    """BCa bootstrap interval of a mean, computed from the exact bootstrap distribution.

    BCa means bias-corrected and accelerated. Nothing is resampled. The limits are ``nan`` for fewer
    than two values or if all are equal. No test inverts this interval.

    Parameters
    ----------
    values : array_like of shape (n,)
        Scores or paired differences of independent items.
    confidence_level : float, default 0.95
        Nominal coverage. It holds for scores in [0, 1] from n = 20 on. It falls short for skewed
        scores such as costs (0.92 at n = 20 for an exponential distribution, 0.87 for a log-normal
        one).

    Notes
    -----
    The limits are the quantiles Phi(z0 + (z0 + z) / (1 - a (z0 + z))) of the bootstrap distribution
    of the mean m*, where z0 = Phi^-1(P(m* < m) + P(m* = m) / 2) for the observed mean m and a =
    sum(d^3) / (6 sum(d^2)^1.5) with the deviations d from the mean. The bootstrap distribution is
    that of infinitely many resamples. It is exact if the scores lie on a lattice. Otherwise the
    scores are binned at 1/64 of their standard deviation, which moves the limits by less than 1e-4
    of the width.

    References
    ----------
    Efron, B. (1987). Better bootstrap confidence intervals. JASA 82, 171-185.

    Examples
    --------
    >>> print(bca_interval([0, 0, 1, 0.5, 1, 1, 0.5, 1, 0, 1]))
    0.600 [0.300, 0.850] (95% BCa, exact lattice bootstrap, n = 10)
    """
    n, mean = values.size, float(values.mean()) if values.size else nan
    if problem := spread_problem(values):
        return undefined_interval(mean, confidence_level, "BCa", n, problem)
    start, width, cdf, below, bins = bootstrap_distribution(values)
    deviations = values - mean
    acceleration = float((deviations**3).sum() / (6 * (deviations**2).sum() ** 1.5))
    places = np.searchsorted(cdf, _bca_levels(below, acceleration, confidence_level))
    low, high = (start + width * np.minimum(places, cdf.size - 1)).tolist()
    how = f"lattice bootstrap, scores binned at {bins:.1g}" if bins else "exact lattice bootstrap"
    return Interval(mean, low, high, confidence_level, f"BCa, {how}", n)


def bca_from_resamples(
    resamples: Floats,
    estimate: float,
    acceleration: float,
    confidence_level: float,
    method: str,
    n: int,
) -> Interval:
    """BCa interval of a statistic, from its bootstrap replicates and acceleration constant.

    Replicates that equal the estimate count half in the bias correction.
    """
    tolerance = 1e-12 * max(1.0, abs(estimate))
    distance = resamples - estimate
    below = np.mean(distance < -tolerance) + np.mean(np.abs(distance) <= tolerance) / 2
    limits = np.quantile(resamples, _bca_levels(float(below), acceleration, confidence_level))
    low, high = limits.tolist()
    return Interval(estimate, low, high, confidence_level, method, n)


def _bca_levels(below: float, acceleration: float, confidence_level: float) -> Floats:
    """Probabilities of the two quantiles of the bootstrap distribution that are the BCa limits."""
    z0 = ndtri(np.clip(below, 1e-12, 1 - 1e-12))
    z = z0 + ndtri((1 + confidence_level) / 2) * np.array([-1, 1])
    return ndtr(z0 + z / (1 - acceleration * z))


@accepts(confidence_level="level")
def jackknife_interval(
    statistic: Callable[[Floats], Any],
    totals: Floats,
    *,
    bounds: tuple[float, float] = (-inf, inf),
    confidence_level: float = 0.95,
) -> Interval:
    """Jackknife t interval of a smooth function of sums, leaving out one unit at a time.

    The limits are ``nan`` for fewer than two units, if the statistic is undefined with or without
    one of them, or if no unit changes it. The method of the result states if there are fewer than
    30 units.

    Parameters
    ----------
    statistic : callable
        Takes sums of shape (..., k) and returns values of shape (...).
    totals : array_like of shape (n_units, ..., k)
        Sums of each unit, which is an item or a cluster of items.
    bounds : tuple of float, optional
        The limits are truncated at these bounds.
    confidence_level : float, default 0.95
        Nominal coverage.

    Notes
    -----
    estimate -+ t(n - 1) s / sqrt(n), where s is the standard deviation of the pseudo-values
    n estimate - (n - 1) (estimate without the unit).

    References
    ----------
    Efron, B. & Tibshirani, R. (1993). An Introduction to the Bootstrap, chapter 11.

    Examples
    --------
    >>> totals = [[1, 1], [2, 1], [3, 1], [4, 1], [5, 1]]
    >>> print(jackknife_interval(lambda sums: sums[..., 0] / sums[..., 1], totals))
    3.000 [1.037, 4.963] (95% jackknife t (fewer than 30 units: too narrow), n = 5)
    """
    sums = np.asarray(totals, dtype=np.float64)
    n, whole = len(sums), sums.sum(axis=0)
    estimate = float(statistic(whole)) if n else nan
    left_out = np.asarray(statistic(whole - sums), dtype=np.float64) if n > 1 else sums
    pseudo = n * estimate - (n - 1) * left_out
    problem = (
        f"needs 2 units, got {n}" if n < 2
        else "no such value" if np.isnan(estimate)
        else "no such value without one of the units" if not np.isfinite(pseudo).all()
        else "no unit changes it" if np.ptp(pseudo) <= 1e-9
        else ""
    )  # fmt: skip
    method = f"jackknife t{too_few(n, ' units')}"
    if problem:
        return undefined_interval(estimate, confidence_level, method, n, problem)
    half = t_half_width(pseudo, confidence_level)
    low, high = max(estimate - half, bounds[0]), min(estimate + half, bounds[1])
    return Interval(estimate, low, high, confidence_level, method, n)


# ---- shared by the t intervals and t tests -------------------------------------------------------


def unit_values(values: Floats, clusters: Integers | None) -> Floats:
    """Return one value per independent unit; their mean is the mean over all items.

    Without clusters these are the values themselves. With clusters, the ordinary standard error of
    their mean is the cluster-robust standard error, so that every t procedure for independent
    values can be used.

    Examples
    --------
    >>> unit_values(np.array([1.0, 1.0, 0.0, 0.0]), np.array([0, 1, 1, 1]))
    array([0.75, 0.25])
    """
    if clusters is None or not values.size:
        return values
    sums = np.bincount(clusters, values - values.mean())
    sums[np.abs(sums) <= 1e-12 * np.abs(values).sum()] = (
        0.0  # deviations that cancel leave rounding errors
    )
    return values.mean() + sums * (sums.size / values.size)


def spread_problem(values: Floats, unit: str = "values") -> str:
    """Explain why the standard deviation cannot be estimated; an empty string if it can.

    Examples
    --------
    >>> spread_problem(np.array([0.5, 0.5, 0.5]))
    'all 3 values are equal'
    """
    if values.size < 2:
        return f"needs 2 {unit}, got {values.size}"
    equal = np.ptp(values) <= 1e-12 * np.abs(values).max()
    return f"all {values.size} {unit} are equal" if equal else ""


def t_half_width(values: Floats, confidence_level: float) -> float:
    """Half the width of the t interval of the mean of independent values."""
    quantile = stdtrit(values.size - 1, (1 + confidence_level) / 2)
    return float(quantile * values.std(ddof=1)) / sqrt(values.size)


def too_few(n: int, unit: str = "") -> str:
    """Warning suffix for a method name when there are fewer than `FEW_CLUSTERS` units.

    Examples
    --------
    >>> too_few(29), too_few(29, " units"), too_few(30)
    (' (fewer than 30: too narrow)', ' (fewer than 30 units: too narrow)', '')
    """
    return f" (fewer than {FEW_CLUSTERS}{unit}: too narrow)" if n < FEW_CLUSTERS else ""
