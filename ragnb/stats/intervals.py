"""Intervals for rates and means."""

import math

from ragnb.errors import InputError
from ragnb.results import Interval


def wilson_interval(successes: float, n: int, *, confidence_level: float = 0.95) -> Interval:
    """Wilson score interval of a rate.

    Estimate and limits in [0, 1]; nan when ``n`` is 0.

    Raises
    ------
    InputError
        Negative counts, more successes than ``n``, a confidence level outside (0, 1).

    Formula: the p with (p̂ - p)² <= z² p (1 - p) / n. Source: Wilson (1927); Newcombe (1998), method 3.

    >>> print(wilson_interval(81, 263))
    0.308 [0.255, 0.366] (95% Wilson, n = 263)
    """
    from scipy.special import ndtri

    if not 0 < confidence_level < 1:
        raise InputError(f"confidence_level needs a number between 0 and 1; got {confidence_level!r}; 0.95 is usual")
    if n < 0 or not 0 <= successes <= n:
        raise InputError(f"a rate needs 0 <= successes <= n; got {successes!r} of {n!r}; count again")
    if n == 0:
        return Interval(math.nan, math.nan, math.nan, confidence_level, "Wilson", 0)
    z2 = float(ndtri((1 + confidence_level) / 2)) ** 2
    rate = successes / n
    centre = (successes + z2 / 2) / (n + z2)
    half = math.sqrt(z2 * (rate * (1 - rate) * n + z2 / 4)) / (n + z2)
    return Interval(rate, max(0.0, centre - half), min(1.0, centre + half), confidence_level, "Wilson", n)
