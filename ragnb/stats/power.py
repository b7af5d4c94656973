"""Minimum detectable effect of paired comparisons, and the number of items that an effect needs.

The minimum detectable effect (MDE) is the smallest true difference that a test detects with a given
power. `mcnemar_mde` is for pairs of 0/1 scores. `t_mde` is for graded scores, for clusters of items
and for mixed models. It also serves for the sign-flip test, which has a similar power to the
t-test. `mcnemar_size` and `t_size` compute the number of items with which a given effect is detected.

All functions except `critical_counts` raise InputError for arguments outside the stated range.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, floor, nan, sqrt
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import bdtr, gammaln, nctdtr, ndtri, stdtrit, xlog1py, xlogy

from ragnb.arguments import Floats, Integers, accepts
from ragnb.errors import InputError
from ragnb.numbers import percent
from ragnb.results import Sentence
from ragnb.stats.binary import MCNEMAR_METHODS, mcnemar_p_value

# Largest numbers of items that are planned.
MOST_MCNEMAR_ITEMS = 10**5
MOST_UNITS = 10**6


@dataclass(frozen=True, slots=True, repr=False)
class SizePlan(Sentence):
    """Number of items with which a test detects a difference with the wanted power.

    Attributes
    ----------
    n_items : int
        Number of items on which both systems are scored.
    n_units : int
        Number of independent units: clusters, or items if there are no clusters.
    power : float
        Power of the test with these items.
    effect : float
        The true difference that is assumed.
    method : str
        Name of the test.
    confidence_level : float
        One minus the significance level of the test.
    """

    n_items: int
    n_units: int
    power: float
    effect: float
    method: str
    confidence_level: float

    def __str__(self) -> str:
        items = f"{self.n_items} item{'s' * (self.n_items > 1)}"
        if self.n_units != self.n_items:
            items += f" in {self.n_units} clusters"
        return (
            f"{items} for power {self.power:.3f} at a difference of {self.effect:g} "
            f"({percent(self.confidence_level)} {self.method})"
        )


# ---- pairs of 0/1 scores -------------------------------------------------------------------------


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
    """Minimum detectable effect of McNemar's two-sided test.

    The minimum detectable effect is the smallest true difference between the success rates of two
    systems that the test detects with the given power.

    Parameters
    ----------
    n : int
        Number of items, at least 1.
    discordance : float
        Expected proportion of items on which exactly one system is correct, in [0, 1], for example
        as observed in a pilot study.
    method : {'mid-p', 'exact', 'asymptotic'}, default='mid-p'
        Variant of the test; see `ragnb.stats.binary.mcnemar_test`.
    confidence_level : float, default=0.95
        One minus the significance level of the test, in (0, 1).
    power : float, default=0.8
        Desired power of the test, in (0, 1).

    Returns
    -------
    float
        The minimum detectable difference in [0, 1]. It is NaN if `n` is so small that the test
        cannot reject even if one system is correct on all items and the other on none. It is 0 if
        the test rejects with probability `power` or more even without a difference.

    Notes
    -----
    An item is discordant if exactly one system is correct on it. If the success rates differ by d,
    the proportion of discordant items is at least d, so it is assumed to be psi =
    max(`discordance`, d). The better system alone is then correct on a proportion (psi + d) / 2 of
    the items, and the other system alone on (psi - d) / 2. The result is the d for which the exact
    unconditional power [1]_ equals `power`; see `mcnemar_power`.

    References
    ----------
    .. [1] Suissa, S. & Shuster, J. J. (1991). The 2 x 2 matched-pairs trial: exact unconditional
       design and analysis. Biometrics 47, 361-372.

    Examples
    --------
    >>> round(mcnemar_mde(68, discordance=11 / 68), 3), round(mcnemar_mde(30, discordance=0), 3)
    (0.128, 0.214)
    """
    from scipy.optimize import brentq

    def spare(effect: float) -> float:
        """How far the power is above the wanted one."""
        psi = max(discordance, effect)
        shares = (psi + effect) / 2, (psi - effect) / 2
        return mcnemar_power(n, *shares, method, confidence_level) - power

    if spare(1.0) < 0:
        return nan
    return brentq(spare, 1e-9, 1.0, xtol=1e-9) if spare(1e-9) < 0 else 0.0


@accepts(method=MCNEMAR_METHODS, confidence_level="level", power="level")
def detectable_effects(
    sizes: Integers,
    discordance: Floats,
    *,
    method: str = "mid-p",
    confidence_level: float = 0.95,
    power: float = 0.8,
) -> pd.DataFrame:
    """Minimum detectable effects of McNemar's test for several numbers of items, for `ragnb.plot`.

    Parameters
    ----------
    sizes : array-like of shape (m,)
        Numbers of items, such as questions.
    discordance : array-like of shape (k,)
        Expected proportions of items on which exactly one system is correct.
    method, confidence_level, power
        The same as for `mcnemar_mde`.

    Returns
    -------
    pandas.DataFrame
        One row for each proportion and number, with the columns ``discordance``, ``n_pairs``,
        ``mde`` (the result of `mcnemar_mde`), ``power``, ``test`` and ``confidence_level``.

    Examples
    --------
    >>> effects = detectable_effects([100, 400], [0.2])
    >>> effects[["discordance", "n_pairs", "mde"]].round(3).to_dict("split")["data"]
    [[0.2, 100, 0.121], [0.2, 400, 0.062]]
    """
    options: dict[str, Any] = {"confidence_level": confidence_level, "power": power}
    rows = []
    for share in discordance:
        for n in sizes:
            mde = mcnemar_mde(int(n), discordance=float(share), method=method, **options)
            rows.append({"discordance": float(share), "n_pairs": int(n), "mde": mde})
    return pd.DataFrame(rows, columns=["discordance", "n_pairs", "mde"]).assign(
        power=power, test=f"McNemar {method}", confidence_level=confidence_level
    )


@accepts(
    n="size",
    first_only="share",
    second_only="share",
    method=MCNEMAR_METHODS,
    confidence_level="level",
)
def mcnemar_power(
    n: int, first_only: float, second_only: float, method: str, confidence_level: float
) -> float:
    """Exact unconditional power of McNemar's two-sided test.

    The power is unconditional: the number of items on which exactly one system is correct is
    treated as random, not as fixed.

    Parameters
    ----------
    n : int
        Number of items, at least 1.
    first_only, second_only : float
        True proportions of items on which only the first system or only the second system is
        correct, in [0, 1]. Their sum must be at most 1.
    method : {'mid-p', 'exact', 'asymptotic'}
        Variant of the test; see `ragnb.stats.binary.mcnemar_test`.
    confidence_level : float
        One minus the significance level of the test, in (0, 1).

    Returns
    -------
    float
        Probability of rejecting the null hypothesis that the two success rates are equal.

    References
    ----------
    .. [1] Suissa, S. & Shuster, J. J. (1991). The 2 x 2 matched-pairs trial: exact unconditional
       design and analysis. Biometrics 47, 361-372.

    Examples
    --------
    >>> round(mcnemar_power(5, 1.0, 0.0, "mid-p", 0.95), 6)  # p is 0.03125 with certainty
    1.0
    """
    if first_only + second_only > 1 + 1e-9:
        raise InputError(
            f"first_only + second_only must be at most 1, got {first_only} + {second_only}"
        )
    psi = min(first_only + second_only, 1.0)
    first, last = _likely_discordant(n, psi)
    share = first_only / psi if psi else 0.5  # Any value will do: no item is discordant.
    rejected = _rejection_probabilities(first, last, share, method, confidence_level)
    return float(_binomial_probabilities(np.arange(first, last + 1), n, psi) @ rejected)


@accepts(
    effect="positive",
    discordance="share",
    method=MCNEMAR_METHODS,
    confidence_level="level",
    power="level",
)
def mcnemar_size(
    effect: float,
    *,
    discordance: float,
    method: str = "mid-p",
    confidence_level: float = 0.95,
    power: float = 0.8,
) -> SizePlan:
    """Smallest number of items with which McNemar's two-sided test has the wanted power.

    Parameters
    ----------
    effect : float
        True difference between the success rates of the two systems, in (0, 1].
    discordance : float
        Expected proportion of items on which exactly one system is correct, in [0, 1]. If it is below
        `effect`, which is impossible, `effect` replaces it.
    method : {'mid-p', 'exact', 'asymptotic'}, default='mid-p'
        Variant of the test; see `ragnb.stats.binary.mcnemar_test`.
    confidence_level : float, default=0.95
        One minus the significance level of the test, in (0, 1).
    power : float, default=0.8
        Wanted power of the test, in (0, 1).

    Returns
    -------
    SizePlan
        The number of items, and the exact unconditional power with them; see `mcnemar_power`.

    Raises
    ------
    InputError
        More than 100,000 items are needed.

    Notes
    -----
    The power does not increase with each item, because the counts are whole numbers. A number of items
    with enough power is found by bisection. The result is the smallest number with enough power among
    this one and those that are up to 10 % and 50 items below it.

    Examples
    --------
    >>> print(mcnemar_size(0.1, discordance=0.2))
    152 items for power 0.800 at a difference of 0.1 (95% McNemar mid-p)
    >>> mcnemar_size(1.0, discordance=1.0).n_items  # p = 1 / 2 ** 5 for 5 of 5
    5
    """
    if effect > 1:
        raise InputError(f"effect must be at most 1, got {effect:g}")
    psi = max(discordance, effect)
    shares = (psi + effect) / 2, (psi - effect) / 2

    def power_with(n: int) -> float:
        """Power with n items."""
        return mcnemar_power(n, *shares, method, confidence_level)

    enough = _first_with(lambda n: power_with(n) >= power, 1, MOST_MCNEMAR_ITEMS)
    start = max(1, floor(0.9 * enough) - 50)
    # The probability of rejection given the number of discordant items is the same for all sizes.
    first, last = _likely_discordant(start, psi)[0], _likely_discordant(enough, psi)[1]
    rejected = _rejection_probabilities(first, last, shares[0] / psi, method, confidence_level)
    for n in range(start, enough + 1):
        low, high = _likely_discordant(n, psi)
        probabilities = _binomial_probabilities(np.arange(low, high + 1), n, psi)
        reached = float(probabilities @ rejected[low - first : high + 1 - first])
        if reached >= power:
            break
    return SizePlan(n, n, reached, effect, f"McNemar {method}", confidence_level)


def _first_with(is_enough: Callable[[int], bool], least: int, most: int) -> int:
    """A number that is enough although the one before it is not, by doubling and bisection."""
    low, high = least - 1, least
    while not is_enough(high):
        if high == most:
            raise InputError(f"more than {most:,} items are needed; a larger effect needs fewer")
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        if is_enough(middle):
            high = middle
        else:
            low = middle
    return high


def _likely_discordant(n: int, psi: float) -> tuple[int, int]:
    """Range of the number of discordant items; counts beyond have a probability below 1e-13."""
    reach = 8 * sqrt(n * psi * (1 - psi)) + 20
    return max(0, floor(n * psi - reach)), min(n, ceil(n * psi + reach))


def _rejection_probabilities(
    first: int, last: int, share: float, method: str, confidence_level: float
) -> Floats:
    """Probability of rejection given `first` to `last` discordant items.

    `share` is the probability that the first system is the correct one on a discordant item.
    """
    critical = critical_counts(first, last, method, confidence_level)
    can_reject = critical >= 0
    discordant = np.arange(first, last + 1)[can_reject]
    critical = critical[can_reject]
    rejected = np.zeros(can_reject.size)
    rejected[can_reject] = bdtr(critical, discordant, share) + bdtr(critical, discordant, 1 - share)
    return rejected


def _binomial_probabilities(counts: Integers, n: int, probability: float) -> Floats:
    """Probabilities of numbers of successes in n trials; scipy.stats takes long to import.

    >>> _binomial_probabilities(np.array([0, 1, 2]), 2, 0.5).round(12).tolist()
    [0.25, 0.5, 0.25]
    """
    log_choices = gammaln(n + 1) - gammaln(counts + 1) - gammaln(n - counts + 1)
    log_powers = xlogy(counts, probability) + xlog1py(n - counts, -probability)
    return np.exp(log_choices + log_powers)


@lru_cache(maxsize=128)  # The search for a minimum detectable effect needs most ranges many times.
def critical_counts(first: int, last: int, method: str, confidence_level: float) -> Integers:
    """Critical values of McNemar's two-sided test for `first` to `last` discordant items.

    An item is discordant if exactly one system is correct on it. The test rejects if the smaller of the
    two discordant counts is at most the critical value, which is -1 if the test cannot reject.

    >>> critical_counts(4, 6, "mid-p", 0.95)
    array([-1,  0,  0])
    """
    discordant = np.arange(first, last + 1)
    spread = ndtri((1 + confidence_level) / 2) * np.sqrt(discordant)
    # The normal approximation is at most 3 off, so only the counts near it are tested.
    normal = ((discordant - spread) / 2).astype(np.int64)
    counts = np.minimum(normal[:, None] + np.arange(-3, 4), discordant[:, None] // 2)
    p = mcnemar_p_value(discordant[:, None] - counts, counts, method)
    rejected = (counts >= 0) & (discordant[:, None] > 0) & (p <= 1 - confidence_level)
    return np.where(rejected, counts, -1).max(axis=1)


# ---- graded scores -------------------------------------------------------------------------------


@accepts(confidence_level="level", power="level")
def t_mde(
    standard_error: float, *, df: float, confidence_level: float = 0.95, power: float = 0.8
) -> float:
    """Minimum detectable effect of a two-sided t-test with a given standard error.

    The minimum detectable effect is the smallest true difference that the test detects with the
    given power.

    Parameters
    ----------
    standard_error : float
        Standard error of the estimated difference at the planned sample size, for example from a
        cluster-robust t-test or from a mixed model. If it was estimated from m pilot items (or
        clusters) and n are planned, multiply it by sqrt(m / n).
    df : float
        Degrees of freedom of the test at the planned sample size, such as the number of clusters
        minus 1.
    confidence_level : float, default=0.95
        One minus the significance level of the test, in (0, 1).
    power : float, default=0.8
        Desired power of the test, in (0, 1).

    Returns
    -------
    float
        The minimum detectable difference, in the units of `standard_error`. It is NaN if
        `standard_error` is not positive and finite or if `df` is below 1. It is 0 if `power` is at
        most 1 - `confidence_level`.

    Notes
    -----
    If the true difference is d, the t statistic is assumed to follow a noncentral t distribution
    with `df` degrees of freedom and noncentrality parameter d / `standard_error`.

    Examples
    --------
    >>> round(t_mde(1 / 34**0.5, df=33), 3)  # 34 pairs whose differences have standard deviation 1
    0.495
    >>> round(t_mde(0.02, df=39), 4)  # 40 clusters; the normal approximation gives 2.802 * 0.02
    0.0575
    """
    # statsmodels' TTestPower takes a number of pairs instead of a standard error and degrees of
    # freedom, which clusters and mixed models need. Its solver fails or stops early if there are few
    # degrees of freedom.
    if not (0 < standard_error < np.inf and df >= 1):
        return nan
    return _detectable_shift(df, confidence_level, power) * standard_error


@accepts(
    effect="positive",
    sd="positive",
    cluster_size="size",
    icc="share",
    confidence_level="level",
    power="level",
)
def t_size(
    effect: float,
    *,
    sd: float,
    cluster_size: int = 1,
    icc: float = 0.0,
    confidence_level: float = 0.95,
    power: float = 0.8,
) -> SizePlan:
    """Smallest number of items, or clusters, with which a two-sided paired t-test has the wanted power.

    Parameters
    ----------
    effect : float
        True mean difference between the two systems, above 0, in the units of the scores.
    sd : float
        Standard deviation of the paired differences, above 0, for example from a pilot study.
    cluster_size : int, default=1
        Number of items per cluster, such as the answers per question. If it is above 1, the test is the
        cluster-robust t-test.
    icc : float, default=0.0
        Intraclass correlation of the differences within a cluster, in [0, 1]. It has no effect if
        `cluster_size` is 1.
    confidence_level : float, default=0.95
        One minus the significance level of the test, in (0, 1).
    power : float, default=0.8
        Wanted power of the test, in (0, 1).

    Returns
    -------
    SizePlan
        The number of items and of clusters, and the power with them.

    Raises
    ------
    InputError
        More than a million items or clusters are needed.

    Notes
    -----
    With m items per cluster, the variance of a cluster mean is sd^2 (1 + (m - 1) icc) / m, where
    1 + (m - 1) icc is the design effect [1]_. With G clusters, the t statistic is assumed to follow a
    noncentral t distribution with G - 1 degrees of freedom.

    References
    ----------
    .. [1] Kish, L. (1965). Survey Sampling. Wiley, section 5.4.

    Examples
    --------
    >>> print(t_size(0.5, sd=1))
    34 items for power 0.808 at a difference of 0.5 (95% paired t-test)
    >>> print(t_size(0.5, sd=1, cluster_size=4, icc=0.5))  # cluster means with variance 0.625
    88 items in 22 clusters for power 0.807 at a difference of 0.5 (95% cluster-robust t-test)
    """
    unit_sd = sd * sqrt((1 + (cluster_size - 1) * icc) / cluster_size)

    def power_with(n: int) -> float:
        """Power with n independent units."""
        return _t_power(effect * sqrt(n) / unit_sd, n - 1, confidence_level)

    n_units = _first_with(lambda n: power_with(n) >= power, 2, MOST_UNITS)
    method = "paired t-test" if cluster_size == 1 else "cluster-robust t-test"
    n_items = n_units * cluster_size
    return SizePlan(n_items, n_units, power_with(n_units), effect, method, confidence_level)


def _t_power(shift: float, df: float, confidence_level: float) -> float:
    """Power of a two-sided t-test for a difference of `shift` standard errors."""
    critical = float(stdtrit(df, (1 + confidence_level) / 2))
    below = nctdtr(df, shift, np.array([-critical, critical]))  # NaN where it is 0 within 1e-9
    lower, upper = np.nan_to_num(below)
    return float(1 - upper + lower)


@lru_cache(maxsize=128)  # Comparisons of the same number of items have the same shift.
def _detectable_shift(df: float, confidence_level: float, power: float) -> float:
    """Minimum detectable effect of a two-sided t-test in units of the standard error."""
    from scipy.optimize import brentq

    def spare(shift: float) -> float:
        """How far the power is above the wanted one."""
        return _t_power(shift, df, confidence_level) - power

    high = 4.0
    while spare(high) < 0:
        high *= 2
    return brentq(spare, 0.0, high) if spare(0.0) < 0 else 0.0
