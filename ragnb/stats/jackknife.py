"""The interval of what is a function of sums, by leaving out one independent unit (an item, a cluster) at a time."""

from collections.abc import Callable
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ragnb.results import Interval
from ragnb.stats.checks import Floats, check_level, undefined_interval
from ragnb.stats.clusters import FEW_CLUSTERS
from ragnb.stats.numerics import t_quantile


def jackknife_interval(
    statistic: Callable[[Floats], Any],
    totals: ArrayLike,
    *,
    bounds: tuple[float, float] = (-inf, inf),
    confidence_level: float = 0.95,
) -> Interval:
    """Jackknife t interval of a smooth function of sums, each independent unit left out in turn.

    In the unit of the statistic; limits are ``nan`` for fewer than two units, where the statistic is undefined with or
    without one of them, and where none of them changes it. The method says when there are fewer than 30 units. Dual of no
    test.

    Parameters
    ----------
    statistic : callable
        Takes sums of shape (..., k) and gives values of shape (...), such as `ragnb.stats.verdicts.kappa_of`.
    totals : array_like of shape (n_units, ..., k)
        Sums of each unit: an item, or a cluster of items.
    bounds : tuple of float, optional
        The interval is clipped to these.
    confidence_level : float, default 0.95
        Nominal coverage.

    Raises
    ------
    InputError
        If the level is not in (0, 1).

    Notes
    -----
    estimate -+ t(n - 1) s / sqrt(n), s the standard deviation of the pseudo-values n estimate - (n - 1) (estimate without
    the unit).

    References
    ----------
    Efron, B. & Tibshirani, R. (1993). An Introduction to the Bootstrap, chapter 11.

    Examples
    --------
    >>> print(jackknife_interval(lambda sums: sums[..., 0] / sums[..., 1], [[1, 1], [2, 1], [3, 1], [4, 1], [5, 1]]))
    3.000 [1.037, 4.963] (95% jackknife t (fewer than 30 units: too narrow), n = 5)
    """
    sums, level = np.asarray(totals, dtype=np.float64), check_level(confidence_level)
    n, whole = len(sums), sums.sum(axis=0)
    estimate = float(statistic(whole)) if n else float("nan")
    method = "jackknife t" + (f" (fewer than {FEW_CLUSTERS} units: too narrow)" if n < FEW_CLUSTERS else "")
    if n < 2 or np.isnan(estimate):
        reason = f"needs 2 units, got {n}" if n < 2 else "no such value"
        return undefined_interval(estimate, level, method, n, reason)
    with np.errstate(invalid="ignore"):  # of infinite values, which have no limits
        pseudo = n * estimate - (n - 1) * np.asarray(statistic(whole - sums), dtype=np.float64)
    if not np.isfinite(pseudo).all():
        return undefined_interval(estimate, level, method, n, "no such value without one of the units")
    if np.ptp(pseudo) <= 1e-9:
        return undefined_interval(estimate, level, method, n, "no unit changes it")
    half = t_quantile((1 + level) / 2, n - 1) * float(pseudo.std(ddof=1)) / sqrt(n)
    return Interval(estimate, max(estimate - half, bounds[0]), min(estimate + half, bounds[1]), level, method, n)
