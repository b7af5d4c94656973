"""Quantiles and tails of the standard laws as plain floats, mid-ranks, and a root finder.

scipy is imported on the first call, so that importing a module of `ragnb.stats` stays cheap.
"""

from collections.abc import Callable
from statistics import NormalDist

import numpy as np

from ragnb.stats.checks import Floats

_NORMAL = NormalDist()

#: The smallest positive double of full precision: no p-value is 0.
SMALLEST_P = 2.0**-1022


def normal_quantile(probability: float) -> float:
    """Return the standard normal quantile.

    Over the real line; -inf at 0 and inf at 1.

    Examples
    --------
    >>> round(normal_quantile(0.975), 6)
    1.959964
    """
    if probability <= 0 or probability >= 1:
        return float("-inf") if probability <= 0 else float("inf")
    return _NORMAL.inv_cdf(probability)


def normal_cdf(value: float) -> float:
    """Return the standard normal probability of at most `value`, accurate in both tails."""
    from scipy.special import ndtr

    return float(ndtr(value))


def t_quantile(probability: float, df: float) -> float:
    """Return the quantile of Student's t with `df` degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(df, probability))


def t_cdf(value: float, df: float) -> float:
    """Return the probability that Student's t with `df` degrees of freedom is at most `value`."""
    from scipy.special import stdtr

    return float(stdtr(df, value))


def noncentral_t_cdf(value: float, df: float, shift: float) -> float:
    """Return the probability that noncentral t with noncentrality `shift` is at most `value`.

    Tails below about 1e-9, where scipy's routine may give nan, come out as 0 or 1.
    """
    from scipy.special import nctdtr

    probability = float(nctdtr(df, shift, value))
    return probability if probability == probability else float(value > shift)


def beta_quantile(probability: float, a: float, b: float) -> float:
    """Return the quantile of the beta law with shapes `a` and `b`."""
    from scipy.special import betaincinv

    return float(betaincinv(a, b, probability))


def binomial_cdf(successes: int, n: int, probability: float = 0.5) -> float:
    """Return the binomial probability of at most `successes` in `n`, 0 for negative `successes`."""
    from scipy.special import bdtr

    return float(bdtr(successes, n, probability)) if successes >= 0 else 0.0


def two_sided(lower_tail: float, upper_tail: float, alternative: str) -> float:
    """Return the p-value of `alternative` from the two one-sided ones.

    In (0, 1]: twice the smaller tail for ``"two-sided"``, and never below `SMALLEST_P`.

    Examples
    --------
    >>> two_sided(0.99, 0.02, "two-sided"), two_sided(0.99, 0.02, "greater")
    (0.04, 0.02)
    """
    tails = {"less": lower_tail, "greater": upper_tail, "two-sided": 2 * min(lower_tail, upper_tail)}
    return min(max(tails[alternative], SMALLEST_P), 1.0)


def bisect(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where an increasing `function` crosses zero between `low` and `high`.

    To the last bits of a double; an end of the range when there is no crossing.

    Examples
    --------
    >>> round(bisect(lambda x: x * x - 2, 0, 2), 9)
    1.414213562
    """
    for _ in range(80):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return (low + high) / 2


def midranks(values: Floats) -> Floats:
    """Return the ranks 1 .. n of `values`, tied ones sharing their mean rank.

    Examples
    --------
    >>> midranks(np.array([0.5, 0.1, 0.5]))
    array([2.5, 1. , 2.5])
    """
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[codes]


def scaled_to_largest(values: Floats) -> Floats:
    """Return `values` divided by the largest absolute one, to 12 decimals, so that rounding error breaks no tie.

    Examples
    --------
    >>> scaled_to_largest(np.array([0.3 - 0.1, 0.2, -0.4]))
    array([ 0.5,  0.5, -1. ])
    """
    largest = np.abs(values).max(initial=0.0)
    return np.round(values / largest, 12) if largest else values


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Return the quotients, nan where the denominator is 0 or rounding error.

    Examples
    --------
    >>> ratio(np.array([1.0, 1.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    return np.divide(numerator, np.where(np.abs(denominator) > 1e-12, denominator, np.nan))
