"""Minimum detectable effect of paired comparisons.

The minimum detectable effect (MDE) of a comparison is the smallest true difference that its test
detects with a given power. Each design has one definition, which `ragnb.compare`,
`ragnb.mixed_model` and `ragnb.figures.plot_power` share:

==============================  ====================================================================
design                          minimum detectable effect
==============================  ====================================================================
pairs of 0/1 scores             `mcnemar_mde`, from the exact power of the McNemar test
graded scores, clusters of      `t_mde`, from the noncentral t distribution and the standard error
items, mixed model              of the t interval
==============================  ====================================================================

The MDE of the t-test is also used for the sign-flip test, because their powers are similar.

All functions raise InputError for arguments outside the stated range.
"""

from functools import lru_cache
from math import ceil, floor, nan, sqrt

import numpy as np
from scipy.special import nctdtr, ndtri, stdtrit

from ragnb.arguments import Integers, accepts
from ragnb.stats.binary import MCNEMAR_METHODS, mcnemar_p_value


@accepts(
    n="size", discordance="share", method=MCNEMAR_METHODS, confidence_level="level", power="level"
)
def mcnemar_mde(
    n: int,
    *,
    discordance: float,
    method: str = "mid-p",
    confidence_level: float = 0.95,
    power: float = 0.8,
) -> float:
    """Minimum detectable effect of the two-sided McNemar test, as a difference of two rates.

    The result is in [0, 1]. It is NaN if n is so small that the test does not reject even
    if one system is correct on every item and the other on none (n < 5 for mid-p at 95 %).

    Parameters
    ----------
    n : int
        Number of items.
    discordance : float
        Proportion of items on which exactly one system is correct, in [0, 1], for example the
        observed proportion.
    method : {"mid-p", "exact", "asymptotic"}
        Variant of the test; see `ragnb.stats.binary.mcnemar_test`.
    confidence_level : float, default 0.95
        One minus the level of the test.
    power : float, default 0.8
        Desired probability of detecting the difference, above 1 - confidence_level.

    Notes
    -----
    For a difference d, the expected proportion of discordant items is taken to be psi(d) =
    max(`discordance`, d), because it cannot be less than d. Only the better system is correct on a
    proportion (psi(d) + d) / 2 of the items, and only the other system on (psi(d) - d) / 2. The
    result is the d at which the test has the desired power. If the result is larger than
    `discordance`, the true MDE may be larger still, because the calculation assumes that every
    discordant item favours the better system.

    It is usual in formulas for the sample size that psi does not depend on d [1]_. If the two rates
    move apart by d while their mean and the covariance of the scores stay the same, psi increases
    only by d^2 / 2.

    The power is exact [2]_. The number of discordant items m is Binomial(n, psi). Given m, the
    number of items that favour the better system is Binomial(m, (psi + d) / (2 psi)). The power is
    the total probability of all pairs of counts for which the test rejects.

    References
    ----------
    .. [1] Connor, R. J. (1987). Sample size for testing differences in proportions for the
       paired-sample design. Biometrics 43, 207-211.
    .. [2] Suissa, S. & Shuster, J. J. (1991). The 2 x 2 matched-pairs trial: exact unconditional
       design and analysis. Biometrics 47, 361-372.

    Examples
    --------
    >>> round(mcnemar_mde(68, discordance=11 / 68), 3), round(mcnemar_mde(30, discordance=0), 3)
    (0.128, 0.214)
    """
    from scipy.optimize import brentq

    def spare(effect: float) -> float:
        psi = max(discordance, effect)
        shares = (psi + effect) / 2, (psi - effect) / 2
        return mcnemar_power(n, *shares, method, confidence_level) - power

    if spare(1.0) < 0:
        return nan
    return brentq(spare, 1e-9, 1.0, xtol=1e-9) if spare(1e-9) < 0 else 0.0


def mcnemar_power(
    n: int, first_only: float, second_only: float, method: str, confidence_level: float
) -> float:
    """Power of the two-sided McNemar test for given true proportions of discordant items.

    `first_only` and `second_only` are the proportions of the `n` items that only one of the systems
    answers correctly; `method` is one of `MCNEMAR_METHODS`.
    """
    from scipy.stats import binom

    psi = min(first_only + second_only, 1.0)
    reach = 8 * sqrt(n * psi * (1 - psi)) + 20  # Counts beyond have a probability below 1e-13.
    first, last = max(0, floor(n * psi - reach)), min(n, ceil(n * psi + reach))
    discordant = np.arange(first, last + 1)
    critical = critical_counts(first, last, method, confidence_level)
    share = first_only / psi
    rejected = binom.cdf(critical, discordant, share) + binom.cdf(critical, discordant, 1 - share)
    return float(binom.pmf(discordant, n, psi) @ rejected)


@lru_cache(maxsize=128)  # The search for a minimum detectable effect needs most ranges many times.
def critical_counts(first: int, last: int, method: str, confidence_level: float) -> Integers:
    """Critical values of the two-sided McNemar test for `first` to `last` discordant items.

    The test rejects if the smaller of the two discordant counts is at most the critical value. The
    critical value is -1 if the test never rejects. Both ends are included; `method` is one of
    `MCNEMAR_METHODS`.

    Examples
    --------
    >>> critical_counts(4, 6, "mid-p", 0.95)
    array([-1,  0,  0])
    """
    discordant = np.arange(first, last + 1)
    spread = ndtri((1 + confidence_level) / 2) * np.sqrt(discordant)
    normal = ((discordant - spread) / 2).astype(np.int64)  # at most 3 off
    counts = np.minimum(normal[:, None] + np.arange(-3, 4), discordant[:, None] // 2)
    p = mcnemar_p_value(discordant[:, None] - counts, counts, method)
    rejected = (counts >= 0) & (discordant[:, None] > 0) & (p <= 1 - confidence_level)
    return np.where(rejected, counts, -1).max(axis=1)


@accepts(confidence_level="level", power="level")
def t_mde(
    standard_error: float, *, df: float, confidence_level: float = 0.95, power: float = 0.8
) -> float:
    """Minimum detectable effect of a two-sided t-test, from a standard error.

    The test may be that of a cluster-robust mean or of a mixed model. The effect is in the units of
    the standard error. It is NaN unless the standard error is positive and finite and `df` is at
    least 1.

    Parameters
    ----------
    standard_error : float
        Standard error of the estimated difference.
    df : float
        Degrees of freedom of the test, such as the number of clusters minus 1.
    confidence_level : float, default 0.95
        One minus the level of the test.
    power : float, default 0.8
        Desired probability of detecting the difference, above 1 - confidence_level.

    Notes
    -----
    The t statistic is taken to have the noncentral t distribution with `df` degrees of freedom and
    noncentrality parameter effect / `standard_error`.

    Examples
    --------
    >>> round(t_mde(1 / 34**0.5, df=33), 3)  # 34 pairs, whose differences have the SD 1
    0.495
    >>> round(t_mde(0.02, df=39), 4)  # 40 clusters; with normal quantiles 2.802 * 0.02 = 0.0560
    0.0575
    """
    from scipy.optimize import brentq

    if not (0 < standard_error < np.inf and df >= 1):
        return nan
    critical = float(stdtrit(df, (1 + confidence_level) / 2))

    def spare(shift: float) -> float:
        below = nctdtr(df, shift, np.array([-critical, critical]))  # NaN where it is 0 within 1e-9
        lower, upper = np.nan_to_num(below)
        return float(1 - upper + lower) - power

    high = 4.0
    while spare(high) < 0:
        high *= 2
    return brentq(spare, 0.0, high) * standard_error if spare(0.0) < 0 else 0.0
