"""Minimum detectable effect of paired comparisons.

The minimum detectable effect (MDE) is the smallest true difference that a test detects with a given
power. `mcnemar_mde` is for pairs of 0/1 scores. `t_mde` is for graded scores, for clusters of items
and for mixed models. It also serves for the sign-flip test, which has a similar power to the
t-test.

All functions except `critical_counts` raise InputError for arguments outside the stated range.
"""

from functools import lru_cache
from math import ceil, floor, nan, sqrt
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import bdtr, gammaln, nctdtr, ndtri, stdtrit, xlog1py, xlogy

from ragnb.arguments import Floats, Integers, accepts
from ragnb.errors import InputError
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
    reach = 8 * sqrt(n * psi * (1 - psi)) + 20  # Counts beyond have a probability below 1e-13.
    first, last = max(0, floor(n * psi - reach)), min(n, ceil(n * psi + reach))
    discordant = np.arange(first, last + 1)
    critical = critical_counts(first, last, method, confidence_level)
    share = first_only / psi if psi else 0.5  # Any value will do: no item is discordant.
    can_reject = critical >= 0
    discordant, critical = discordant[can_reject], critical[can_reject]
    rejected = bdtr(critical, discordant, share) + bdtr(critical, discordant, 1 - share)
    return float(_binomial_probabilities(discordant, n, psi) @ rejected)


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


@lru_cache(maxsize=128)  # Comparisons of the same number of items have the same shift.
def _detectable_shift(df: float, confidence_level: float, power: float) -> float:
    """Minimum detectable effect of a two-sided t-test in units of the standard error."""
    from scipy.optimize import brentq

    critical = float(stdtrit(df, (1 + confidence_level) / 2))

    def spare(shift: float) -> float:
        """How far the power is above the wanted one."""
        below = nctdtr(df, shift, np.array([-critical, critical]))  # NaN where it is 0 within 1e-9
        lower, upper = np.nan_to_num(below)
        return float(1 - upper + lower) - power

    high = 4.0
    while spare(high) < 0:
        high *= 2
    return brentq(spare, 0.0, high) if spare(0.0) < 0 else 0.0
