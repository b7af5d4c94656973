"""Agreement, correlation and ROC area where items come in clusters, as several systems' answers to one question do.

What is a function of sums has an interval by leaving out one cluster at a time; means are in `ragnb.stats.clusters`.
"""

from collections.abc import Callable
from dataclasses import replace
from math import inf, sqrt, tanh
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ragnb.results import Interval
from ragnb.stats.auroc import auroc
from ragnb.stats.checks import (
    Floats,
    check_aligned,
    check_binary,
    check_clusters,
    check_level,
    spread_problem,
    undefined_interval,
)
from ragnb.stats.clusters import FEW_CLUSTERS, clustered_mean
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
    pseudo = n * estimate - (n - 1) * np.asarray(statistic(whole - sums), dtype=np.float64)
    if not np.isfinite(pseudo).all():
        return undefined_interval(estimate, level, method, n, "no such value without one of the units")
    if np.ptp(pseudo) <= 1e-9:
        return undefined_interval(estimate, level, method, n, "no unit changes it")
    half = t_quantile((1 + level) / 2, n - 1) * float(pseudo.std(ddof=1)) / sqrt(n)
    return Interval(estimate, max(estimate - half, bounds[0]), min(estimate + half, bounds[1]), level, method, n)


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
        on_z = jackknife_interval(lambda sums: np.arctanh(_correlation(sums)), totals, confidence_level=level)
    estimate = float(_correlation(totals.sum(axis=0)))
    return replace(on_z, estimate=estimate, low=tanh(on_z.low), high=tanh(on_z.high), method=f"Pearson, {on_z.method}")


def clustered_auroc(
    labels: ArrayLike, scores: ArrayLike, clusters: ArrayLike, *, confidence_level: float = 0.95
) -> Interval:
    """Area under the ROC curve over items, with an interval that is robust to clusters.

    In [0, 1]; ``nan`` without both classes; limits ``nan`` for fewer than two clusters and perfect separation. With one item
    a cluster it is near `ragnb.stats.auroc.auroc`.

    Parameters
    ----------
    labels : array_like of shape (n,)
        0/1, 1 for the class that should score high.
    scores : array_like of shape (n,)
        Finite scores.
    clusters : array_like of shape (n,)
        Key of the cluster (the question) of each item.
    confidence_level : float, default 0.95
        Nominal coverage.

    Raises
    ------
    InputError
        If a label is neither 0 nor 1, a score not finite, or the lengths differ.

    Notes
    -----
    An item's influence is its placement (the share of the other class on the right side of it) minus the area, over the size
    of its class; influences are summed within clusters and their sums enter the cluster-robust variance with t(G - 1).

    References
    ----------
    Obuchowski, N. A. (1997). Nonparametric analysis of clustered ROC curve data. Biometrics 53, 567-578.

    Examples
    --------
    >>> clustered_auroc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], ["a", "b", "a", "b"]).estimate
    0.75
    """
    found = auroc(labels, scores, confidence_level=confidence_level)
    positive, values = check_binary(labels), np.asarray(scores, dtype=np.float64)
    _, n_clusters = check_clusters(clusters, positive.size)
    if np.isnan(found.estimate):
        return replace(found, n=n_clusters)
    influence = np.empty(positive.size)
    influence[positive] = _placements(values[positive], values[~positive]) / positive.sum()
    influence[~positive] = (1 - _placements(values[~positive], values[positive])) / (~positive).sum()
    influence -= found.estimate / np.where(positive, positive.sum(), (~positive).sum())
    _, error, _ = clustered_mean(influence * positive.size, clusters)
    method = "AUROC, cluster-robust t" + (f" (fewer than {FEW_CLUSTERS}: too narrow)" if n_clusters < FEW_CLUSTERS else "")
    if not error > 0:
        return undefined_interval(found.estimate, found.confidence_level, method, n_clusters, "no spread between clusters")
    half = t_quantile((1 + found.confidence_level) / 2, n_clusters - 1) * error
    low, high = max(found.estimate - half, 0.0), min(found.estimate + half, 1.0)
    return Interval(found.estimate, low, high, found.confidence_level, method, n_clusters)


def _placements(values: Floats, others: Floats) -> Floats:
    """Share of the others below each value, ties counting half."""
    ordered = np.sort(others)
    return (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")) / (2 * others.size)


def _correlation(sums: Floats) -> Floats:
    """Pearson's r from n and the sums of x, y, x^2, y^2 and xy."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    spread = np.sqrt((n * xx - x * x) * (n * yy - y * y))
    return np.clip(np.divide(n * xy - x * y, np.where(spread > 1e-12, spread, np.nan)), -1.0, 1.0)
