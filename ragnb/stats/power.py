"""Sample size and minimum detectable effect of paired comparisons.

The minimum detectable effect (MDE) of a comparison is the true difference that its test detects
with a given power. It has one definition per design, which `ragnb.compare`, `ragnb.mixed_model` and
`ragnb.figures.plot_power` share:

==============================  ================================================================
design                          minimum detectable effect
==============================  ================================================================
pairs of 0/1 scores             `mcnemar_mde`, from the exact power of the McNemar test
pairs of graded scores          `paired_t_mde`, from noncentral t with n - 1 degrees of freedom
clusters of items, mixed model  `t_mde`, the same with the standard error of the t interval
==============================  ================================================================

The t distribution also serves for the sign-flip test, whose power is close to that of the t-test.
`sample_size` is the formula of Miller (2024), which uses normal quantiles.

All functions raise InputError for arguments outside the stated range.
"""

from math import ceil, floor, nan, sqrt

import numpy as np
from scipy.special import nctdtr, ndtri, stdtrit

from ragnb.arguments import Integers, accepts
from ragnb.errors import InputError
from ragnb.stats.binary import MCNEMAR_METHODS, mcnemar_p_value


@accepts(effect="number", confidence_level="level", power="level")
def sample_size(
    effect: float,
    *,
    between_variance: float,
    within_variances: tuple[float, float] = (0.0, 0.0),
    n_answers: tuple[float, float] = (1, 1),
    confidence_level: float = 0.95,
    power: float = 0.8,
) -> float:
    """Number of questions needed to detect a mean difference of two systems (Miller's formula).

    The result is not rounded; take the next whole number.

    Parameters
    ----------
    effect : float
        True difference of the two systems' means, in the unit of the scores.
    between_variance : float
        Miller's omega^2: variance over questions of the difference of the two systems' expected
        scores.
    within_variances : (float, float)
        sigma^2 of each system: mean variance of its score if it answers the same question again; 0
        if it always gives the same answer. For unpaired systems, put the total variances here and
        use a `between_variance` of 0.
    n_answers : (float, float)
        K of each system: answers averaged per question; ``inf`` removes the within-question
        variance.
    confidence_level : float, default 0.95
        One minus the level of the two-sided test.
    power : float, default 0.8
        Desired probability of detecting the difference.

    Notes
    -----
    n = (z_{alpha/2} + z_beta)^2 (omega^2 + sigma_A^2 / K_A + sigma_B^2 / K_B) / effect^2.

    References
    ----------
    Miller, E. (2024). Adding error bars to evals. arXiv:2411.00640, section 5.

    Examples
    --------
    >>> round(sample_size(0.03, between_variance=1 / 9))  # K = inf in the paper's example
    969
    """
    if effect == 0:
        raise InputError("effect must not be 0: no number of questions shows a difference of 0")
    within = (variance / k for variance, k in zip(within_variances, n_answers, strict=True))
    critical = float(ndtri((1 + confidence_level) / 2) + ndtri(power))
    return (critical / effect) ** 2 * (between_variance + sum(within))


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
    """Minimum detectable effect of the McNemar test, a difference of two rates.

    The result is in [0, 1]. It is ``nan`` if n is so small that the test does not reject even if
    one system is correct on every item and the other on none (n < 5 for mid-p at 95 %).

    Parameters
    ----------
    n : int
        Number of items.
    discordance : float
        Proportion of items on which exactly one system is correct, in [0, 1], such as the observed
        one.
    method : {"mid-p", "exact", "asymptotic", "asymptotic-cc"}
        The test, see `ragnb.stats.binary.mcnemar_test`.
    confidence_level : float, default 0.95
        One minus the level of the two-sided test.
    power : float, default 0.8
        Desired probability of detecting the difference, above 1 - confidence_level.

    Notes
    -----
    For a difference d, the proportion of discordant items is psi(d) = max(discordance, d), because
    it cannot be less than d. Only the better system is correct on a proportion (psi(d) + d) / 2 of
    the items, and only the other on (psi(d) - d) / 2. The result is the d at which the test has the
    desired power. Keeping psi constant is usual in sample size formulas (Connor 1987). If two rates
    move apart by d while their mean and the covariance of the scores stay the same, psi grows by
    d^2 / 2 only. An effect above `discordance` is a lower limit: it assumes that every discordant
    item favours the better system.

    The power is exact (Suissa & Shuster 1991). The number of discordant items m is Binomial(n,
    psi); given m, the number that favours the better system is Binomial(m, (psi + d) / (2 psi));
    the power is the probability of all pairs of counts that the test rejects.

    References
    ----------
    Connor, R. J. (1987). Sample size for testing differences in proportions for the paired-sample
    design. Biometrics 43, 207-211. Suissa, S. & Shuster, J. J. (1991). The 2 x 2 matched-pairs
    trial: exact unconditional design and analysis. Biometrics 47, 361-372.

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
    """Power of the two-sided McNemar test given the true discordant proportions."""
    from scipy.stats import binom

    psi = min(first_only + second_only, 1.0)
    reach = 8 * sqrt(n * psi * (1 - psi)) + 20  # Counts beyond have a probability below 1e-13.
    discordant = np.arange(max(0, floor(n * psi - reach)), min(n, ceil(n * psi + reach)) + 1)
    critical = critical_counts(discordant, method, confidence_level)
    share = first_only / psi
    rejected = binom.cdf(critical, discordant, share) + binom.cdf(critical, discordant, 1 - share)
    return float(binom.pmf(discordant, n, psi) @ rejected)


def critical_counts(discordant: Integers, method: str, confidence_level: float) -> Integers:
    """Largest value of the smaller discordant count at which the test rejects; -1 if none.

    Examples
    --------
    >>> critical_counts(np.array([4, 5, 20]), "mid-p", 0.95)
    array([-1,  0,  5])
    """
    spread = ndtri((1 + confidence_level) / 2) * np.sqrt(discordant)
    normal = ((discordant - spread) / 2).astype(np.int64)  # at most 3 off
    counts = np.minimum(normal[:, None] + np.arange(-3, 4), discordant[:, None] // 2)
    p = mcnemar_p_value(discordant[:, None] - counts, counts, method)
    rejected = (counts >= 0) & (discordant[:, None] > 0) & (p <= 1 - confidence_level)
    return np.where(rejected, counts, -1).max(axis=1)


@accepts(n="size", sd="positive")
def paired_t_mde(n: int, *, sd: float, confidence_level: float = 0.95, power: float = 0.8) -> float:
    """Minimum detectable effect of the two-sided paired t-test, in the unit of the scores.

    It is `t_mde` with the standard error sd / sqrt(n) and n - 1 degrees of freedom, and ``nan`` for
    a single pair.

    Parameters
    ----------
    n : int
        Number of pairs.
    sd : float
        Standard deviation of the differences.
    confidence_level, power : float
        As in `t_mde`.

    Examples
    --------
    >>> round(paired_t_mde(34, sd=1.0), 3)
    0.495
    """
    return t_mde(sd / sqrt(n), df=n - 1, confidence_level=confidence_level, power=power)


@accepts(confidence_level="level", power="level")
def t_mde(
    standard_error: float, *, df: float, confidence_level: float = 0.95, power: float = 0.8
) -> float:
    """Minimum detectable effect of a two-sided t-test, from a standard error.

    The test may be that of a cluster-robust mean or of a mixed model. The effect is in the unit of
    the standard error, and ``nan`` unless the standard error is positive and `df` is at least 1.

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
    The t statistic has the noncentral t distribution with noncentrality effect / standard error.

    Examples
    --------
    >>> round(t_mde(0.02, df=39), 4)  # 40 clusters; with normal quantiles 2.802 * 0.02 = 0.0560
    0.0575
    """
    from scipy.optimize import brentq

    if not (0 < standard_error < np.inf and df >= 1):
        return nan
    critical = float(stdtrit(df, (1 + confidence_level) / 2))

    def spare(shift: float) -> float:
        below = nctdtr(df, shift, np.array([-critical, critical]))  # nan where it is 0 within 1e-9
        lower, upper = np.nan_to_num(below)
        return float(1 - upper + lower) - power

    high = 4.0
    while spare(high) < 0:
        high *= 2
    return brentq(spare, 0.0, high) * standard_error if spare(0.0) < 0 else 0.0
