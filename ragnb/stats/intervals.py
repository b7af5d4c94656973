"""Confidence intervals for rates, for means and for smooth functions of sums.

Use `rate_interval` for a rate (successes out of n), and `mean_interval` or `bca_interval` for a
mean. If several items share a question, use `mean_interval` with the questions as clusters. Use
`jackknife_interval` for other statistics that can be computed from sums, such as a ratio or an
agreement coefficient.

If only a mean and a standard deviation are published, use `mean_interval_from_stats`.

The public functions raise InputError for invalid arguments.
"""

from collections.abc import Callable
from math import inf, nan, sqrt
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from ragnb.arguments import Floats, Integers, accepts
from ragnb.errors import InputError
from ragnb.results import Interval, undefined_interval
from ragnb.rounding import ROUNDING
from ragnb.stats.exact import bootstrap_distribution

# Methods of `rate_interval`, each with its name in statsmodels and its name in results.
RATE_METHODS = {
    "wilson": ("wilson", "Wilson"),
    "clopper-pearson": ("beta", "Clopper-Pearson"),
    "jeffreys": ("jeffreys", "Jeffreys"),
    "wald": ("normal", "Wald (for comparison only)"),
}

# Number of units below which results warn that the robust standard error is too small.
FEW_CLUSTERS = 30


@accepts(successes="count", n="count", method=tuple(RATE_METHODS), confidence_level="level")
def rate_interval(
    successes: int, n: int, *, method: str = "wilson", confidence_level: float = 0.95
) -> Interval:
    """Confidence interval for a rate (a binomial proportion).

    Parameters
    ----------
    successes : int
        Number of successes, from 0 to `n`.
    n : int
        Number of independent items.
    method : {'wilson', 'clopper-pearson', 'jeffreys', 'wald'}, default='wilson'
        ``'wilson'`` inverts the score test; its coverage is close to nominal on average.
        ``'clopper-pearson'`` inverts the equal-tailed exact binomial test; its coverage is never
        below nominal, which makes it conservative. ``'jeffreys'`` is the equal-tailed Bayesian
        credible interval under the Beta(1/2, 1/2) prior. ``'wald'`` is the normal approximation;
        its coverage is far below nominal for rates near 0 or 1.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, in (0, 1).

    Returns
    -------
    Interval
        The observed rate with its limits, which are in [0, 1]. Estimate and limits are NaN if `n`
        is 0.

    Notes
    -----
    The lower limit is 0 if there are no successes, and the upper limit is 1 if there are no
    failures. Otherwise, the limits are those of
    ``statsmodels.stats.proportion.proportion_confint``.

    References
    ----------
    .. [1] Wilson, E. B. (1927). Probable inference, the law of succession, and statistical
       inference. JASA 22, 209-212.
    .. [2] Clopper, C. J. & Pearson, E. S. (1934). The use of confidence or fiducial limits
       illustrated in the case of the binomial. Biometrika 26, 404-413.
    .. [3] Brown, L. D., Cai, T. T. & DasGupta, A. (2001). Interval estimation for a binomial
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
    values: Floats,
    clusters: Integers | None = None,
    *,
    bounds: tuple[float, float] | None = None,
    confidence_level: float = 0.95,
) -> Interval:
    """Student's t interval for a mean, cluster-robust if clusters are given.

    Parameters
    ----------
    values : array-like of shape (n,)
        Scores or paired differences.
    clusters : array-like of shape (n,), default=None
        Cluster of each item, such as its question. If None, items are treated as independent. If
        there are fewer than 30 clusters, the `method` attribute notes that the interval is too
        narrow.
    bounds : tuple of (float, float) or None, default=None
        Smallest and largest possible value, such as 0 and 1 for a score, or -1 and 1 for a
        difference of two such scores. The limits are truncated to this range.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, in (0, 1).

    Returns
    -------
    Interval
        The mean with its limits. If there are fewer than two items (or clusters) or if the
        estimated standard error is 0, no t interval exists. The limits are then those of
        `equal_values_interval`, or NaN if there are no finite bounds. The mean is NaN if there are
        no items.

    Notes
    -----
    The limits are mean +/- t s / sqrt(n), where s is the standard deviation of the values and t is
    the (1 + `confidence_level`) / 2 quantile of the t distribution with n - 1 degrees of freedom.
    With G clusters, the standard error s / sqrt(n) is replaced by sqrt(G / (G - 1) sum_g S_g^2) /
    n, where S_g is the sum of the deviations from the mean in cluster g. The t distribution then
    has G - 1 degrees of freedom.

    References
    ----------
    .. [1] Student (1908). The probable error of a mean. Biometrika 6, 1-25.
    .. [2] Liang, K.-Y. & Zeger, S. L. (1986). Longitudinal data analysis using generalized linear
       models. Biometrika 73, 13-22.
    .. [3] Cameron, A. C. & Miller, D. L. (2015). A practitioner's guide to cluster-robust
       inference. J. Human Resources 50, 317-372.

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
        undefined = undefined_interval(mean, confidence_level, method, units.size, problem)
        return equal_values_interval(
            undefined, bounds, " over clusters" if clusters is not None else ""
        )
    half = t_half_width(units, confidence_level)
    interval = Interval(mean, mean - half, mean + half, confidence_level, method, units.size)
    return interval.clipped(*bounds) if bounds else interval


@accepts(mean="number", sd="number", n="size", confidence_level="level")
def mean_interval_from_stats(
    mean: float,
    sd: float,
    n: int,
    *,
    bounds: tuple[float, float] | None = None,
    confidence_level: float = 0.95,
) -> Interval:
    """Student's t interval for a mean, from the mean and the standard deviation.

    This is `mean_interval` for independent items whose scores are not available, as in a publication.

    Parameters
    ----------
    mean : float
        Mean of the scores. It must be between the bounds.
    sd : float
        Standard deviation of the scores, at least 0, with the divisor n - 1. It is not the standard
        error of the mean.
    n : int
        Number of independent items, at least 1.
    bounds : tuple of (float, float) or None, default=None
        Smallest and largest possible score. The limits are truncated to this range.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, in (0, 1).

    Returns
    -------
    Interval
        The mean with its limits. With one item or an `sd` of 0, no t interval exists. The limits are
        then those of `equal_values_interval`, or NaN if there are no finite bounds.

    Examples
    --------
    >>> print(mean_interval_from_stats(3.0, 2.5**0.5, 5))  # as for the values 1, 2, 3, 4, 5
    3.000 [1.037, 4.963] (95% t, n = 5)
    """
    if sd < 0:
        raise InputError(f"sd must not be negative, got {sd:g}")
    if bounds is not None and not bounds[0] <= mean <= bounds[1]:
        raise InputError(
            f"mean must be between the bounds {bounds[0]:g} and {bounds[1]:g}, got {mean:g}"
        )
    if n < 2 or sd == 0:
        problem = f"at least 2 values are needed, got {n}" if n < 2 else f"all {n} values are equal"
        undefined = undefined_interval(mean, confidence_level, "t", n, problem)
        return equal_values_interval(undefined, bounds)
    half = _half_width(sd, n, confidence_level)
    interval = Interval(mean, mean - half, mean + half, confidence_level, "t", n)
    return interval.clipped(*bounds) if bounds else interval


@accepts(values="scores", confidence_level="level")
def bca_interval(
    values: Floats,
    *,
    bounds: tuple[float, float] | None = None,
    confidence_level: float = 0.95,
) -> Interval:
    """BCa bootstrap interval for a mean, computed without random resampling.

    BCa means bias-corrected and accelerated. The bootstrap distribution of the mean is
    computed directly, in the limit of infinitely many resamples. The result therefore does not
    depend on a random seed.

    Parameters
    ----------
    values : array-like of shape (n,)
        Scores or paired differences of independent items.
    bounds : tuple of (float, float) or None, default=None
        Smallest and largest possible value.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, in (0, 1). The actual coverage is lower for small samples
        of skewed values.

    Returns
    -------
    Interval
        The mean with its limits. If there are fewer than two values or if all values are equal, no
        bootstrap interval exists. The limits are then those of `equal_values_interval`, or NaN if
        there are no finite bounds. The mean is NaN if there are no values.

    Notes
    -----
    Let m be the observed mean, m* the bootstrap mean and Phi the standard normal CDF. The limits
    are the quantiles of m* at the probabilities

    Phi(z0 + (z0 + z) / (1 - a (z0 + z)))  with z = Phi^-1((1 +/- `confidence_level`) / 2).

    The bias correction is z0 = Phi^-1(P(m* < m) + P(m* = m) / 2). The acceleration is a = sum(d^3)
    / (6 sum(d^2)^1.5), where d are the deviations from m. If
    `ragnb.stats.exact.bootstrap_distribution` is not exact for the values, they are binned on a
    grid with a spacing of 1/64 of their standard deviation, as the `method` attribute then says.

    References
    ----------
    .. [1] Efron, B. (1987). Better bootstrap confidence intervals. JASA 82, 171-185.

    Examples
    --------
    >>> print(bca_interval([0, 0, 1, 0.5, 1, 1, 0.5, 1, 0, 1]))
    0.600 [0.300, 0.850] (95% BCa, exact lattice bootstrap, n = 10)
    """
    n, mean = values.size, float(values.mean()) if values.size else nan
    if problem := spread_problem(values):
        undefined = undefined_interval(mean, confidence_level, "BCa", n, problem)
        return equal_values_interval(undefined, bounds)
    start, width, cdf, below, bins = bootstrap_distribution(values)
    squares = (values - mean) ** 2
    acceleration = float(squares @ (values - mean) / (6 * squares.sum() ** 1.5))
    z0 = ndtri(np.clip(below, 1e-12, 1 - 1e-12))
    z = z0 + ndtri((1 + confidence_level) / 2) * np.array([-1, 1])
    places = np.searchsorted(cdf, ndtr(z0 + z / (1 - acceleration * z)))
    low, high = (start + width * np.minimum(places, cdf.size - 1)).tolist()
    how = f"lattice bootstrap, scores binned at {bins:.1g}" if bins else "exact lattice bootstrap"
    return Interval(mean, low, high, confidence_level, f"BCa, {how}", n)


def equal_values_interval(
    undefined: Interval, bounds: tuple[float, float] | None, units: str = ""
) -> Interval:
    """Interval for the mean of bounded values if all independent units have the same value.

    If all values are equal, their spread is 0. This does not mean that the mean is known exactly,
    because units with another value may be missing from the sample by chance. This is the one rule
    for such samples, in `ragnb.summarize`, `ragnb.compare` and the reports.

    Let w be the upper limit of the Wilson interval for 0 of n: the largest plausible share of units
    with another value. In the worst case, all of these have the lowest or the highest possible
    value. The limits are therefore m - w (m - lowest) and m + w (highest - m), where m is the mean.
    For n scores of 0 or of 1, this is the Wilson interval. For n paired differences of 0, 1 or -1
    with the bounds -1 and 1, it is `ragnb.stats.binary.tango_interval`.

    `undefined` is the interval with undefined limits that another method returned, with the mean and n.
    It is the result if there are no units or no finite bounds. Otherwise, the method is ``"Wilson"`` if
    all values are at one end of the range, and ``"Wilson for equal values"`` if not. `units` is added to
    this name after "Wilson".

    >>> undefined = undefined_interval(0.0, 0.95, "t", 10, "all 10 clusters are equal")
    >>> print(equal_values_interval(undefined, (0, 1), " over clusters"))
    0.000 [0.000, 0.278] (95% Wilson over clusters, n = 10)
    """
    mean, n, level = undefined.estimate, undefined.n, undefined.confidence_level
    if not n or bounds is None or not np.isfinite(bounds).all():
        return undefined
    lowest, highest = bounds
    share = rate_interval(0, n, confidence_level=level).high
    method = f"Wilson{units}" if mean in bounds else f"Wilson{units} for equal values"
    low, high = mean - share * (mean - lowest), mean + share * (highest - mean)
    return Interval(mean, low, high, level, method, n).clipped(lowest, highest)


@accepts(confidence_level="level")
def jackknife_interval(
    statistic: Callable[[Floats], Any],
    totals: Floats,
    *,
    bounds: tuple[float, float] = (-inf, inf),
    confidence_level: float = 0.95,
) -> Interval:
    """Jackknife t interval for a smooth function of sums over independent units.

    Parameters
    ----------
    statistic : callable
        Function that computes the statistic from the k sums. It must be vectorised: it takes an
        array of shape (..., k) and returns an array of shape (...).
    totals : array-like of shape (n_units, k)
        The contribution of each unit to each of the k sums. A unit is an item or a cluster of
        items. More than two axes are allowed, as in `ragnb.stats.agreement.agreement_sums`.
    bounds : tuple of (float, float), default=(-inf, inf)
        Smallest and largest possible value of the statistic. The limits are truncated to this
        range.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, in (0, 1).

    Returns
    -------
    Interval
        The statistic of all units with its limits. The limits are NaN if there are fewer than two
        units, if the statistic or one of its leave-one-out values is undefined (NaN or infinite),
        or if all leave-one-out values are equal. With fewer than 30 units, the `method` attribute
        notes that the interval is too narrow.

    Notes
    -----
    The pseudo-value of a unit is n T - (n - 1) T_(i), where T is the statistic of all n units and
    T_(i) the statistic without unit i. The limits are T +/- t s / sqrt(n), where s is the standard
    deviation of the pseudo-values and t is the (1 + `confidence_level`) / 2 quantile of the t
    distribution with n - 1 degrees of freedom.

    References
    ----------
    .. [1] Efron, B. & Tibshirani, R. J. (1993). An Introduction to the Bootstrap, chapter 11.

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
    return left_out_interval(estimate, left_out, n, bounds, confidence_level)


def left_out_interval(
    estimate: float, left_out: Floats, n: int, bounds: tuple[float, float], confidence_level: float
) -> Interval:
    """Jackknife t interval from the leave-one-out values of a statistic, as in `jackknife_interval`.

    `estimate` is the statistic of all n units. The limits are truncated to `bounds`, its range.

    >>> left_out = np.array([3.5, 3.25, 3.0, 2.75, 2.5])  # means of 1, ..., 5 without one of them
    >>> print(left_out_interval(3.0, left_out, 5, (0, 4.5), 0.95))
    3.000 [1.037, 4.500] (95% jackknife t (fewer than 30 units: too narrow), n = 5)
    """
    pseudo = n * estimate - (n - 1) * left_out
    # Smaller differences are rounding errors. A coefficient with bounds is computed from numbers of
    # the size of its bounds, and another statistic has the size of its values.
    sizes = [abs(bound) for bound in bounds if np.isfinite(bound)]
    smallest = 1e-9 * max(*sizes, abs(estimate), float(np.abs(left_out).max(initial=0.0)), 0.0)
    problem = (
        f"at least 2 units are needed, got {n}" if n < 2
        else "the statistic is undefined" if np.isnan(estimate)
        else "the statistic is undefined without one of the units" if not np.isfinite(pseudo).all()
        else "leaving out a unit never changes the statistic" if np.ptp(pseudo) <= smallest
        else ""
    )  # fmt: skip
    method = f"jackknife t{too_few(n, ' units')}"
    if problem:
        return undefined_interval(estimate, confidence_level, method, n, problem)
    half = t_half_width(pseudo, confidence_level)
    interval = Interval(estimate, estimate - half, estimate + half, confidence_level, method, n)
    return interval.clipped(*bounds)


# ---- shared by the t intervals and t tests -------------------------------------------------------


def unit_values(values: Floats, clusters: Integers | None) -> Floats:
    """Return one value per cluster, so that methods for independent values can be applied.

    The value of a cluster is m + (G / n) S, where m is the mean of all n values, G is the number of
    clusters, and S is the sum of the deviations from m in the cluster. The mean of these values is
    m, and its ordinary standard error is the cluster-robust standard error of m.

    `clusters` are codes from 0 to G - 1. If they are None, the result is `values` itself.

    >>> unit_values(np.array([1.0, 1.0, 0.0, 0.0]), np.array([0, 1, 1, 1]))
    array([0.75, 0.25])
    """
    if clusters is None or not values.size:
        return values
    sums = np.bincount(clusters, values - values.mean())
    # Deviations that cancel leave rounding errors.
    sums[np.abs(sums) <= ROUNDING * np.abs(values).sum()] = 0.0
    return values.mean() + sums * (sums.size / values.size)


def spread_problem(values: Floats, unit: str = "values") -> str:
    """Explain why a standard error is undefined or 0; an empty string if it is positive.

    Examples
    --------
    >>> spread_problem(np.array([0.5, 0.5, 0.5]))
    'all 3 values are equal'
    """
    if values.size < 2:
        return f"at least 2 {unit} are needed, got {values.size}"
    equal = np.ptp(values) <= ROUNDING * np.abs(values).max()
    return f"all {values.size} {unit} are equal" if equal else ""


def t_half_width(values: Floats, confidence_level: float) -> float:
    """Half-width of Student's t interval for the mean of two or more independent values.

    Examples
    --------
    >>> round(t_half_width(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), 0.95), 3)
    1.963
    """
    return _half_width(float(values.std(ddof=1)), values.size, confidence_level)


def _half_width(sd: float, n: int, confidence_level: float) -> float:
    """Half-width of Student's t interval from the standard deviation of n values."""
    return float(stdtrit(n - 1, (1 + confidence_level) / 2) * sd) / sqrt(n)


def too_few(n: int, unit: str = "") -> str:
    """Return a note for a method's name if there are fewer than 30 units, else an empty string.

    Examples
    --------
    >>> too_few(29), too_few(29, " units"), too_few(30)
    (' (fewer than 30: too narrow)', ' (fewer than 30 units: too narrow)', '')
    """
    return f" (fewer than {FEW_CLUSTERS}{unit}: too narrow)" if n < FEW_CLUSTERS else ""
