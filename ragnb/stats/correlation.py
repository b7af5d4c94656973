"""Correlation of a metric with human ratings, each with its interval."""

from dataclasses import replace
from math import atanh, sqrt, tanh

import numpy as np
from numpy.typing import ArrayLike

from ragnb.results import Interval
from ragnb.stats.checks import Floats, check_aligned, check_clusters, check_level, spread_problem, undefined_interval
from ragnb.stats.intervals import jackknife_interval
from ragnb.stats.numerics import midranks, normal_quantile


def pearson(first: ArrayLike, second: ArrayLike, *, confidence_level: float = 0.95) -> Interval:
    """Pearson's linear correlation with Fisher's z interval.

    In [-1, 1]; ``nan`` when either side does not vary; limits ``nan`` for fewer than 4 items or a perfect correlation.
    Dual of the z test of Fisher's transformation, not of the t-test of zero correlation.

    Parameters
    ----------
    first, second : array_like of shape (n,)
        Finite scores of the same items.
    confidence_level : float, default 0.95
        Coverage, nominal for normal data; too low for heavy tails or mass at 0 and 1.

    Raises
    ------
    InputError
        If a score is not finite, the lengths differ, or the level is not in (0, 1).

    Notes
    -----
    tanh(atanh r -+ z / sqrt(n - 3)).

    References
    ----------
    Fisher, R. A. (1921). On the "probable error" of a coefficient of correlation. Metron 1, 3-32.

    Examples
    --------
    >>> print(pearson([1, 2, 3, 4, 5], [1, 3, 2, 5, 4]))
    0.800 [-0.280, 0.986] (95% Pearson, Fisher z, n = 5)
    """
    left, right = check_aligned(first, second)
    r = _correlation(left, right)
    return _fisher_interval(r, 1.0, 3, left, right, confidence_level, "Pearson, Fisher z")


def clustered_pearson(
    first: ArrayLike, second: ArrayLike, clusters: ArrayLike, *, confidence_level: float = 0.95
) -> Interval:
    """Pearson's correlation over items with a jackknife interval over clusters, on Fisher's scale.

    In [-1, 1]; ``nan`` when either side does not vary; limits ``nan`` for fewer than two clusters, or where the correlation
    is perfect with or without one of them. Dual of no test.

    Parameters
    ----------
    first, second : array_like of shape (n,)
        Finite scores of the same items.
    clusters : array_like of shape (n,)
        Key of the cluster (the question) of each item.
    confidence_level : float, default 0.95
        Nominal coverage; also where the pairs are not normal, given many clusters.

    Raises
    ------
    InputError
        If a score is not finite, the lengths differ, or the level is not in (0, 1).

    Examples
    --------
    >>> found = clustered_pearson([1, 2, 3, 4, 5, 6], [1, 3, 2, 5, 4, 6], ["a", "a", "b", "b", "c", "c"])
    >>> round(found.estimate, 4), found.low < found.estimate < found.high
    (0.8857, True)
    """
    left, right = check_aligned(first, second)
    codes, n_clusters = check_clusters(clusters, left.size)
    level = check_level(confidence_level)
    if problem := spread_problem(left) or spread_problem(right):
        return undefined_interval(float("nan"), level, "Pearson, jackknife", n_clusters, problem)
    x, y = ((side - side.mean()) / side.std() for side in (left, right))
    items = (np.ones_like(x), x, y, x * x, y * y, x * y)
    totals = np.column_stack([np.bincount(codes, values, n_clusters) for values in items])
    with np.errstate(divide="ignore"):  # of a perfect correlation, which has no limits
        on_z = jackknife_interval(lambda sums: np.arctanh(_from_sums(sums)), totals, confidence_level=level)
    estimate = float(_from_sums(totals.sum(axis=0)))
    return replace(on_z, estimate=estimate, low=tanh(on_z.low), high=tanh(on_z.high), method=f"Pearson, {on_z.method}")


def spearman(first: ArrayLike, second: ArrayLike, *, confidence_level: float = 0.95) -> Interval:
    """Spearman's rank correlation (mid-ranks) with Bonett and Wright's interval.

    In [-1, 1]; ``nan`` when either side does not vary; limits ``nan`` for fewer than 4 items or a perfect correlation.
    Dual of no test here.

    Parameters
    ----------
    first, second : array_like of shape (n,)
        Finite scores of the same items.
    confidence_level : float, default 0.95
        Nominal coverage; holds for correlations up to about .9 and few ties.

    Raises
    ------
    InputError
        If a score is not finite, the lengths differ, or the level is not in (0, 1).

    Notes
    -----
    tanh(atanh r -+ z sqrt((1 + r^2 / 2) / (n - 3))).

    References
    ----------
    Bonett, D. G. & Wright, T. A. (2000). Sample size requirements for estimating Pearson, Kendall and Spearman
    correlations. Psychometrika 65, 23-28.

    Examples
    --------
    >>> print(spearman([1, 2, 3, 4, 5], [1, 3, 2, 5, 4]))
    0.800 [-0.457, 0.991] (95% Spearman, Bonett-Wright, n = 5)
    """
    left, right = check_aligned(first, second)
    r = _correlation(midranks(left), midranks(right))
    return _fisher_interval(r, 1 + r * r / 2, 3, left, right, confidence_level, "Spearman, Bonett-Wright")


def kendall(first: ArrayLike, second: ArrayLike, *, confidence_level: float = 0.95) -> Interval:
    """Kendall's tau-b with Fieller's interval.

    In [-1, 1]; ``nan`` when either side does not vary; limits ``nan`` for fewer than 5 items or a perfect correlation.
    Dual of no test here.

    Parameters
    ----------
    first, second : array_like of shape (n,)
        Finite scores of the same items.
    confidence_level : float, default 0.95
        Nominal coverage; holds for correlations up to about .8 and few ties.

    Raises
    ------
    InputError
        If a score is not finite, the lengths differ, or the level is not in (0, 1).

    Notes
    -----
    tanh(atanh tau -+ z sqrt(0.437 / (n - 4))).

    References
    ----------
    Fieller, E. C., Hartley, H. O. & Pearson, E. S. (1957). Tests for rank correlation coefficients I. Biometrika 44,
    470-481.

    Examples
    --------
    >>> print(kendall([1, 2, 3, 4, 5, 6], [1, 3, 2, 5, 4, 6]))
    0.733 [0.020, 0.952] (95% Kendall tau-b, Fieller, n = 6)
    """
    from scipy.stats import kendalltau

    left, right = check_aligned(first, second)
    varies = not (spread_problem(left) or spread_problem(right))
    tau = float(kendalltau(left, right).statistic) if varies else float("nan")
    return _fisher_interval(tau, 0.437, 4, left, right, confidence_level, "Kendall tau-b, Fieller")


def _correlation(left: Floats, right: Floats) -> float:
    """Return Pearson's r, nan when either side does not vary."""
    if spread_problem(left) or spread_problem(right):
        return float("nan")
    x, y = left - left.mean(), right - right.mean()
    return float(np.clip((x @ y) / sqrt((x @ x) * (y @ y)), -1.0, 1.0))


def _from_sums(sums: Floats) -> Floats:
    """Pearson's r from n and the sums of x, y, x^2, y^2 and xy."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    spread = np.sqrt(np.maximum(n * xx - x * x, 0.0) * np.maximum(n * yy - y * y, 0.0))
    return np.clip(np.divide(n * xy - x * y, np.where(spread > 1e-12, spread, np.nan)), -1.0, 1.0)


def _fisher_interval(
    r: float, variance: float, lost: int, left: Floats, right: Floats, confidence_level: float, method: str
) -> Interval:
    """Return the interval that is normal on Fisher's scale with the given variance over n - `lost`."""
    level, n = check_level(confidence_level), left.size
    if problem := spread_problem(left) or spread_problem(right):
        return undefined_interval(r, level, method, n, problem)
    if n <= lost or abs(r) >= 1 - 1e-12:
        reason = f"needs {lost + 1} items, got {n}" if n <= lost else "the correlation is perfect"
        return undefined_interval(r, level, method, n, reason)
    half = normal_quantile((1 + level) / 2) * sqrt(variance / (n - lost))
    return Interval(r, tanh(atanh(r) - half), tanh(atanh(r) + half), level, method, n)
