"""Power, sample size and minimum detectable effect of paired comparisons.

The minimum detectable effect (MDE) of a comparison is the true difference that its test detects with a given power. It
has one definition per design, which `ragnb.compare`, `ragnb.mixed_model` and `ragnb.figures.plot_power` share:

==============================  ==========================================================================================
design                          minimum detectable effect
==============================  ==========================================================================================
pairs of 0/1 scores             `mcnemar_mde`, from the exact power of the McNemar test that was chosen
pairs of graded scores          `paired_t_mde`, from the noncentral t distribution with n - 1 degrees of freedom
clusters of items, mixed model  `t_mde`, the same with the standard error and the degrees of freedom of the t interval
==============================  ==========================================================================================

The t distribution also serves for the sign-flip test, whose power is close to that of the t-test.

`sample_size` and `minimum_detectable_effect` are the formulas of Miller (2024), which use normal quantiles. Use them to
plan how many questions and how many answers per question a run needs.
"""

from collections.abc import Callable
from functools import cache
from math import ceil, floor, sqrt
from typing import Any

import numpy as np

from ragnb.errors import InputError, as_real, check_choice
from ragnb.results import Interval, PairedTable
from ragnb.stats.binary import MCNEMAR_METHODS, mcnemar_test
from ragnb.stats.checks import LARGEST, check_count, check_generator, check_level, check_number
from ragnb.stats.intervals import rate_interval
from ragnb.stats.numerics import bisect, noncentral_t_cdf, normal_quantile, t_quantile

#: Most items for which the power of the McNemar test is computed exactly: about a third of a second.
MANY = 100_000


def sample_size(
    effect: float,
    *,
    between_variance: float,
    within_variances: tuple[float, float] = (0.0, 0.0),
    n_answers: tuple[float, float] = (1, 1),
    confidence_level: float = 0.95,
    power: float = 0.8,
) -> float:
    """Sample size in questions at which a paired comparison shows a true mean difference (Miller's formula).

    In (0, inf), not rounded: take the next whole number.

    Parameters
    ----------
    effect : float
        True difference of the two systems' means, in the unit of the scores.
    between_variance : float
        Miller's omega^2: variance over questions of the difference of the two systems' expected scores.
    within_variances : (float, float)
        sigma^2 of each system: mean variance of its score when it answers the same question again; 0 when it answers
        always the same. For unpaired systems put the total variances here and `between_variance` at 0.
    n_answers : (float, float)
        K of each system: answers averaged per question; ``inf`` removes the within-question variance.
    confidence_level : float, default 0.95
        One minus the level of the two-sided test.
    power : float, default 0.8
        Probability with which the test is to detect the difference.

    Raises
    ------
    InputError
        If the effect is 0 or not finite, a variance negative, or a probability not in (0, 1).

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
    if abs(check_number(effect, "effect")) < 1 / LARGEST:
        raise InputError(f"effect needs a finite difference other than 0; it got {effect!r}; pass one worth showing.")
    variance = _item_variance(between_variance, within_variances, n_answers)
    return (_critical_sum(confidence_level, power) / effect) ** 2 * variance


def minimum_detectable_effect(
    n: int,
    *,
    between_variance: float,
    within_variances: tuple[float, float] = (0.0, 0.0),
    n_answers: tuple[float, float] = (1, 1),
    confidence_level: float = 0.95,
    power: float = 0.8,
) -> float:
    """Minimum detectable effect of a planned comparison of n questions (Miller's formula with normal quantiles).

    In [0, inf), in the unit of the scores. After a run, see `paired_t_mde`, `t_mde` and `mcnemar_mde`, which `ragnb.compare`
    reports: they use the distribution of the test that was made.

    Parameters
    ----------
    n : int
        Number of questions.
    between_variance, within_variances, n_answers, confidence_level, power
        As in `sample_size`.

    Raises
    ------
    InputError
        If n is not a positive whole number, a variance negative, or a probability not in (0, 1).

    Notes
    -----
    (z_{alpha/2} + z_beta) sqrt((omega^2 + sigma_A^2 / K_A + sigma_B^2 / K_B) / n).

    References
    ----------
    Miller, E. (2024). arXiv:2411.00640, section 5.

    Examples
    --------
    >>> round(minimum_detectable_effect(198, between_variance=1 / 9, within_variances=(1 / 6, 1 / 6)), 4)
    0.1327
    """
    check_count(n, "n", minimum=1)
    variance = _item_variance(between_variance, within_variances, n_answers)
    return _critical_sum(confidence_level, power) * sqrt(variance / n)


def mcnemar_sample_size(
    first_only: float,
    second_only: float,
    *,
    method: str = "miettinen",
    confidence_level: float = 0.95,
    power: float = 0.8,
) -> float:
    """Sample size in items at which the McNemar test shows a difference of two systems.

    In (0, inf), not rounded: take the next whole number.

    Parameters
    ----------
    first_only, second_only : float
        Expected shares of items that only the first, only the second system gets right.
    method : {"miettinen", "connor"}
        Miettinen's formula allows for the random number of discordant items; Connor's is a little more cautious.
    confidence_level : float, default 0.95
        One minus the level of the two-sided test.
    power : float, default 0.8
        Probability with which the test is to detect the difference.

    Raises
    ------
    InputError
        If the shares are equal, negative or add up to more than 1, or an option is out of range.

    Notes
    -----
    With psi the sum and d the difference of the shares. Connor: (z_a sqrt(psi) + z_b sqrt(psi - d^2))^2 / d^2.
    Miettinen: (z_a psi + z_b sqrt(psi^2 - d^2 (3 + psi) / 4))^2 / (psi d^2).

    References
    ----------
    Connor, R. J. (1987). Sample size for testing differences in proportions for the paired-sample design. Biometrics
    43, 207-211. Miettinen, O. S. (1968). The matched pairs design in the case of all-or-none responses. Biometrics 24,
    339-352.

    Examples
    --------
    >>> [round(mcnemar_sample_size(0.25, 0.1, method=name), 1) for name in ("connor", "miettinen")]
    [119.7, 116.3]
    """
    check_choice(method, ("miettinen", "connor"), "method")
    first, second = as_real(first_only), as_real(second_only)
    if not (min(first, second) >= 0 and first + second <= 1 and abs(first - second) > 1 / LARGEST):
        raise InputError(
            "A McNemar sample size needs two different shares that add up to at most 1; "
            f"it got {first_only!r} and {second_only!r}; pass the shares of items only one system gets right."
        )
    psi, d = first_only + second_only, first_only - second_only
    z_alpha, z_beta = _critical_values(confidence_level, power)
    if method == "connor":
        return (z_alpha * sqrt(psi) + z_beta * sqrt(psi - d * d)) ** 2 / (d * d)
    return (z_alpha * psi + z_beta * sqrt(psi * psi - d * d * (3 + psi) / 4)) ** 2 / (psi * d * d)


def mcnemar_mde(
    n: int, *, discordance: float, method: str = "mid-p", confidence_level: float = 0.95, power: float = 0.8
) -> float:
    """Minimum detectable effect of the McNemar test: the difference of two rates that it detects with this power.

    In [0, 1]; ``nan`` when n is so small that the test does not reject even if one system is right on every item and the
    other on none (n < 5 for mid-p at 95 %).

    Parameters
    ----------
    n : int
        Number of items.
    discordance : float
        Share of items that exactly one system gets right, in [0, 1], such as the observed one.
    method : {"mid-p", "exact", "asymptotic", "asymptotic-cc"}
        The test, see `ragnb.stats.binary.mcnemar_test`.
    confidence_level : float, default 0.95
        One minus the level of the two-sided test.
    power : float, default 0.8
        Probability with which the test is to detect the difference.

    Raises
    ------
    InputError
        If `n` or `discordance` is out of range, or an option is unknown.

    Notes
    -----
    A difference d needs at least a share d of discordant items. The discordant share therefore stays at `discordance` for
    effects up to it, and equals the effect beyond: psi(d) = max(discordance, d). The better system alone is right on
    (psi(d) + d) / 2 of the items and the other alone on (psi(d) - d) / 2. The result is the d at which the test has the
    wanted power. To hold psi is usual for sample sizes (Connor 1987). If two rates move apart by d while their mean and
    the covariance of the scores stay the same, psi grows by d^2 / 2 only. An effect above `discordance` is a lower limit:
    it assumes that every discordant item favours the better system.

    The power is exact (Suissa & Shuster 1991). The number of discordant items m is Binomial(n, psi); given m, the number
    that favours the better system is Binomial(m, (psi + d) / (2 psi)); the power is the probability of all pairs of
    counts that the test rejects. Above 100,000 items the result comes from Connor's formula instead. There it
    differs from the exact result for mid-p by less than 1 % if at least 100 items are discordant.

    References
    ----------
    Connor, R. J. (1987). Sample size for testing differences in proportions for the paired-sample design. Biometrics
    43, 207-211. Suissa, S. & Shuster, J. J. (1991). The 2 x 2 matched-pairs trial: exact unconditional design and
    analysis. Biometrics 47, 361-372.

    Examples
    --------
    >>> round(mcnemar_mde(68, discordance=11 / 68), 3), round(mcnemar_mde(30, discordance=0), 3)
    (0.128, 0.214)
    """
    from scipy.optimize import brentq

    check_choice(method, MCNEMAR_METHODS, "method")
    size, level = check_count(n, "n", minimum=1), check_level(confidence_level)
    if not 0 <= as_real(discordance) <= 1:
        raise InputError(f"discordance must be a share between 0 and 1, got {discordance!r}")
    _check_power(power, level)

    def spare(effect: float) -> float:
        psi = max(discordance, effect)
        shares = (psi + effect) / 2, (psi - effect) / 2
        if size > MANY:
            return size - mcnemar_sample_size(*shares, method="connor", confidence_level=level, power=power)
        return _mcnemar_power(size, *shares, method, level) - power

    if spare(1.0) < 0:
        return float("nan")
    return float(brentq(spare, 1e-9, 1.0, xtol=1e-9)) if spare(1e-9) < 0 else 0.0


def _mcnemar_power(n: int, first_only: float, second_only: float, method: str, level: float) -> float:
    """Return the power of the two-sided McNemar test for these true shares of the two kinds of discordant item."""
    from scipy.stats import binom

    psi = min(first_only + second_only, 1.0)
    if psi == 0:
        return 0.0
    reach = 8 * sqrt(n * psi * (1 - psi)) + 20  # counts beyond have a probability below 1e-13
    discordant = np.arange(max(0, floor(n * psi - reach)), min(n, ceil(n * psi + reach)) + 1)
    critical = np.array([_critical_count(m, method, level) for m in discordant.tolist()])
    share = first_only / psi
    rejected = binom.cdf(critical, discordant, share) + binom.cdf(critical, discordant, 1 - share)
    return float(binom.pmf(discordant, n, psi) @ rejected)


@cache
def _critical_count(discordant: int, method: str, level: float) -> int:
    """Return the largest count of the rarer kind of discordant item that the McNemar test rejects, or -1."""
    z = normal_quantile((1 + level) / 2)
    count = min(discordant // 2, int(max(discordant - z * sqrt(discordant), 0) / 2) + 1)
    while count >= 0:
        table = PairedTable(0, discordant - count, count, 0)
        if discordant and mcnemar_test(table, method=method).p_value <= 1 - level:
            break
        count -= 1
    return count


def paired_t_power(n: int, *, effect: float, sd: float, confidence_level: float = 0.95) -> float:
    """Power of the two-sided paired t-test, from the noncentral t distribution.

    In [1 - confidence_level, 1].

    Parameters
    ----------
    n : int
        Number of pairs, at least 2.
    effect, sd : float
        True mean and standard deviation of the differences, in the unit of the scores.
    confidence_level : float, default 0.95
        One minus the level of the test.

    Raises
    ------
    InputError
        If `n` is below 2 or `sd` not positive.

    References
    ----------
    Cohen, J. (1988). Statistical Power Analysis for the Behavioral Sciences, section 2.3.5.

    Examples
    --------
    >>> round(paired_t_power(34, effect=0.5, sd=1.0), 4)
    0.8078
    """
    _check_pairs(n, sd)
    shift = abs(check_number(effect, "effect")) / sd * sqrt(n)
    return _t_power(shift, t_quantile((1 + check_level(confidence_level)) / 2, n - 1), n - 1)


def paired_t_mde(n: int, *, sd: float, confidence_level: float = 0.95, power: float = 0.8) -> float:
    """Minimum detectable effect of the two-sided paired t-test on n pairs.

    In (0, inf), in the unit of the scores. It is `t_mde` with the standard error sd / sqrt(n) and n - 1 degrees of freedom.

    Parameters
    ----------
    n : int
        Number of pairs, at least 2.
    sd : float
        Standard deviation of the differences.
    confidence_level : float, default 0.95
        One minus the level of the test.
    power : float, default 0.8
        Probability with which the test is to detect the difference, above 1 - confidence_level.

    Raises
    ------
    InputError
        If `n` is below 2, `sd` not positive, or `power` out of range.

    Examples
    --------
    >>> round(paired_t_mde(34, sd=1.0), 3)
    0.495
    """
    _check_pairs(n, sd)
    return t_mde(sd / sqrt(n), df=n - 1, confidence_level=confidence_level, power=power)


def t_mde(standard_error: float, *, df: float, confidence_level: float = 0.95, power: float = 0.8) -> float:
    """Minimum detectable effect of a two-sided t-test, such as that of a cluster-robust mean or of a mixed model.

    In (0, inf), in the unit of the standard error; ``nan`` unless the standard error is positive and `df` at least 1.

    Parameters
    ----------
    standard_error : float
        Standard error of the estimated difference.
    df : float
        Degrees of freedom of the test, such as the number of clusters minus 1.
    confidence_level : float, default 0.95
        One minus the level of the test.
    power : float, default 0.8
        Probability with which the test is to detect the difference, above 1 - confidence_level.

    Raises
    ------
    InputError
        If `power` is out of range.

    Notes
    -----
    The t statistic is taken to have the noncentral t distribution with noncentrality effect / standard error.

    Examples
    --------
    >>> round(t_mde(0.02, df=39), 4)  # 40 clusters; with normal quantiles 2.802 * 0.02 = 0.0560
    0.0575
    """
    _check_power(power, check_level(confidence_level))
    if not (0 < as_real(standard_error) < float("inf") and as_real(df) >= 1):
        return float("nan")
    critical = t_quantile((1 + confidence_level) / 2, df)

    def spare(shift: float) -> float:
        return _t_power(shift, critical, df) - power

    high = _critical_sum(confidence_level, power)
    while spare(high) < 0:
        high *= 2
    return bisect(spare, 0.0, high) * standard_error


def _t_power(shift: float, critical: float, df: float) -> float:
    """Return the probability that noncentral t lies beyond the critical value, on either side."""
    return 1 - noncentral_t_cdf(critical, df, shift) + noncentral_t_cdf(-critical, df, shift)


def power_by_simulation(
    draw: Callable[[np.random.Generator], Any],
    test: Callable[[Any], Any],
    *,
    rng: np.random.Generator,
    n_simulations: int = 1_000,
    significance_level: float = 0.05,
    confidence_level: float = 0.95,
) -> Interval:
    """Power of any test, as the share of simulated data sets that it rejects.

    In [0, 1], with a Wilson interval for the simulation error; an undefined p-value counts as no rejection. When `draw`
    has no effect in it, this is the actual level of the test.

    Parameters
    ----------
    draw : callable
        Takes the generator and returns one data set, such as an array of paired differences.
    test : callable
        Takes a data set and returns a `SignificanceResult` (anything with a ``p_value``).
    rng : numpy.random.Generator
        Source of all simulated data.
    n_simulations : int, default 1_000
        Number of data sets; the standard error of the power is at most 0.5 / sqrt(n_simulations).
    significance_level : float, default 0.05
        A data set counts as rejected when p is at most this; in (0, 1).
    confidence_level : float, default 0.95
        Level of the interval.

    Raises
    ------
    InputError
        If `rng` is no generator, or a number is out of range.

    Examples
    --------
    >>> from ragnb.stats.paired import paired_t_test
    >>> rng = np.random.default_rng(0)
    >>> simulated = power_by_simulation(lambda rng: rng.normal(0.5, 1, 34), paired_t_test, rng=rng)
    >>> simulated.low < paired_t_power(34, effect=0.5, sd=1.0) < simulated.high
    True
    """
    check_generator(rng, "A simulation")
    n = check_count(n_simulations, "n_simulations", minimum=1)
    if not 0 < as_real(significance_level) < 1:
        raise InputError(f"significance_level needs a number between 0 and 1; it got {significance_level!r}; write 0.05.")
    rejections = sum(test(draw(rng)).p_value <= significance_level for _ in range(n))
    return rate_interval(rejections, n, confidence_level=confidence_level)


def _critical_values(confidence_level: float, power: float) -> tuple[float, float]:
    if not 0 < as_real(power) < 1:
        raise InputError(f"power needs a number between 0 and 1; it got {power!r}; write 0.8 for 80 %.")
    return normal_quantile((1 + check_level(confidence_level)) / 2), normal_quantile(power)


def _critical_sum(confidence_level: float, power: float) -> float:
    return sum(_critical_values(confidence_level, power))


def _item_variance(between: float, within: tuple[float, float], n_answers: tuple[float, float]) -> float:
    """Return the variance of one question's paired difference."""
    pairs = all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in (within, n_answers))
    variances = [as_real(value) for value in (between, *within)] if pairs else []
    if not pairs or not all(value >= 0 for value in variances) or not all(as_real(n) > 0 for n in n_answers):
        raise InputError(
            "A sample size needs variances of at least 0 and at least one answer a question; "
            f"it got {between!r}, {within!r} and {n_answers!r}; pass variances, not standard deviations."
        )
    return between + within[0] / n_answers[0] + within[1] / n_answers[1]


def _check_power(power: float, level: float) -> None:
    if not 1 - level < as_real(power) < 1:
        raise InputError(f"power needs a number between the level of the test and 1; it got {power!r}; write 0.8.")


def _check_pairs(n: int, sd: float) -> None:
    check_count(n, "n", minimum=2)
    if not 1 / LARGEST <= as_real(sd) <= LARGEST:
        raise InputError(
            f"sd needs a positive number, from {1 / LARGEST:g} to {LARGEST:g}; it got {sd!r}; pass the standard deviation "
            "of the differences."
        )
