"""Effect sizes for paired comparisons, with confidence intervals.

All functions raise InputError for invalid arguments.
"""

from math import inf, nan, sqrt

import numpy as np
from scipy.special import gammaincc, nctdtr

from ragnb.arguments import Floats, accepts
from ragnb.results import Interval, undefined_interval
from ragnb.stats.binary import PairedTable, mid_p_cdf
from ragnb.stats.intervals import rate_interval, spread_problem
from ragnb.stats.paired import paired_differences


@accepts(first="scores", second="scores", confidence_level="level")
def cohen_d_z(
    first: Floats, second: Floats | None = None, *, confidence_level: float = 0.95
) -> Interval:
    """Cohen's d_z: mean paired difference divided by the standard deviation of the differences.

    Parameters
    ----------
    first : array-like of shape (n,)
        Scores of the first system, or the paired differences (first - second) if `second` is None.
    second : array-like of shape (n,), default=None
        Scores of the second system on the same items.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, in (0, 1). The coverage is exact if the differences are
        independent and normally distributed.

    Returns
    -------
    Interval
        The effect size with its limits. It is positive if the first system has the higher mean.
        Estimate and limits are NaN if there are fewer than two pairs or if all differences are
        equal.

    Notes
    -----
    d_z = m / s, where m is the mean and s the standard deviation (with divisor n - 1) of the n
    differences. The limits are the noncentrality parameters, divided by sqrt(n), for which the
    observed t = d_z sqrt(n) is the (1 + `confidence_level`) / 2 quantile (lower limit) or the (1 -
    `confidence_level`) / 2 quantile (upper limit) of the noncentral t distribution with n - 1
    degrees of freedom. The interval excludes 0 if and only if the two-sided
    `ragnb.stats.paired.paired_t_test` rejects at level 1 - `confidence_level`.

    References
    ----------
    .. [1] Cohen, J. (1988). Statistical Power Analysis for the Behavioral Sciences, 2nd edition,
       section 2.3.5.
    .. [2] Steiger, J. H. & Fouladi, R. T. (1997). Noncentrality interval estimation and the
       evaluation of statistical models. In: Harlow, L. L., Mulaik, S. A. & Steiger, J. H. (eds.),
       What If There Were No Significance Tests? Erlbaum.

    Examples
    --------
    >>> round(cohen_d_z([1, 2, 3]).estimate, 6)  # mean 2, standard deviation 1
    2.0
    """
    from scipy.optimize import brentq

    differences = paired_differences(first, second)
    n, name = differences.size, "noncentral t"
    if problem := spread_problem(differences):
        return undefined_interval(nan, confidence_level, name, n, problem)
    estimate = float(differences.mean() / differences.std(ddof=1))
    t, tail = abs(estimate) * sqrt(n), (1 - confidence_level) / 2

    def excess(noncentrality: float, probability: float) -> float:
        """How far the probability of a smaller t is above the wanted one."""
        return noncentral_t_cdf(t, n - 1, noncentrality) - probability

    near, far = t - (10 + 5 * t), t + (10 + 5 * t)
    shifts = [brentq(excess, near, far, args=(p,)) / sqrt(n) for p in (tail, 1 - tail)]
    low, high = sorted(shift if estimate >= 0 else -shift for shift in shifts)
    return Interval(estimate, low, high, confidence_level, name, n)


# Nodes and weights of the Gauss-Hermite quadrature for the standard normal distribution.
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(40)
_WEIGHTS /= _WEIGHTS.sum()


def noncentral_t_cdf(t: float, df: int, noncentrality: float) -> float:
    """Distribution function of the noncentral t distribution at t >= 0, with an absolute error of about 1e-9.

    The variable is (Z + noncentrality) / V, where Z is standard normal and V^2 is chi-squared divided by
    its degrees of freedom.

    >>> round(noncentral_t_cdf(2.0, 5, 1.0), 6)
    0.778075
    """
    if t <= 300 or t <= 5 * sqrt(2 * df):
        below = float(nctdtr(df, noncentrality, t))  # NaN where it is 0 or 1 to within 1e-9
        return float(t > noncentrality) if np.isnan(below) else below
    # The time of nctdtr is proportional to t. For large t, the probability is therefore the expected
    # value of P(V >= (Z + noncentrality) / t) over Z, by quadrature. This integrand is smooth, because
    # its width in units of Z is proportional to t.
    least = np.maximum((_NODES + noncentrality) / t, 0.0)
    return float(_WEIGHTS @ gammaincc(df / 2, df * least**2 / 2))


@accepts(method=("mid-p", "exact"), confidence_level="level")
def discordant_odds_ratio(
    table: PairedTable, *, confidence_level: float = 0.95, method: str = "mid-p"
) -> Interval:
    """Conditional odds ratio of two systems with paired 0/1 scores, with a confidence interval.

    The ratio is b / c, where b is the number of items on which only the first system is correct,
    and c is the number of items on which only the second system is correct.

    Parameters
    ----------
    table : PairedTable
        Output of `ragnb.stats.binary.paired_table`.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, in (0, 1). Only ``method="exact"`` guarantees this
        coverage.
    method : {'mid-p', 'exact'}, default='mid-p'
        The interval inverts this variant of the two-sided `ragnb.stats.binary.mcnemar_test`.

    Returns
    -------
    Interval
        The odds ratio in [0, inf] with its limits. A ratio above 1 favours the first system.
        Estimate and limits are NaN if there are no discordant items.

    Notes
    -----
    The limits are p / (1 - p), where p is a mid-p or Clopper-Pearson confidence limit for the
    probability that only the first system is correct on a discordant item.

    References
    ----------
    .. [1] Fagerland, M. W., Lydersen, S. & Laake, P. (2014). Recommended tests and confidence
       intervals for paired binomial proportions. Stat. Med. 33, 2850-2875.

    Examples
    --------
    >>> interval = discordant_odds_ratio(PairedTable(1, 1, 7, 12), method="exact")
    >>> round(interval.estimate, 4), round(interval.low, 4), round(interval.high, 4)
    (0.1429, 0.0032, 1.112)
    """
    b, c, name = table.first_only, table.second_only, f"conditional {method}"
    if not b + c:
        return undefined_interval(nan, confidence_level, name, table.n, "no discordant items")
    if method == "exact":
        rate = rate_interval(b, b + c, method="clopper-pearson", confidence_level=confidence_level)
        low, high = rate.low, rate.high
    else:
        tail = (1 - confidence_level) / 2
        low, high = _mid_p_limit(b, c, tail), 1 - _mid_p_limit(c, b, tail)
    odds = [p / (1 - p) if p < 1 else inf for p in (b / (b + c), low, high)]
    return Interval(odds[0], odds[1], odds[2], confidence_level, name, table.n)


def _mid_p_limit(b: int, c: int, tail: float) -> float:
    """Rate at which the mid-p probability of b or more successes among b + c is `tail`."""
    from scipy.optimize import brentq

    if not b:
        return 0.0
    return brentq(lambda p: 1 - mid_p_cdf(b, b + c, p) - tail, 0.0, 1.0, xtol=1e-15)
