"""Area under the ROC curve with intervals, over items or over clusters, and the paired comparison of two scores."""

from dataclasses import replace
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from ragnb.errors import InputError
from ragnb.results import Interval, SignificanceResult
from ragnb.stats.checks import (
    Floats,
    check_alternative,
    check_binary,
    check_clusters,
    check_level,
    check_scores,
    undefined_interval,
    undefined_test,
)
from ragnb.stats.clusters import clustered_mean
from ragnb.stats.intervals import FEW_CLUSTERS
from ragnb.stats.numerics import midranks, normal_cdf, normal_quantile, t_quantile, two_sided

#: Variances up to this are rounding error.
NO_VARIANCE = 1e-24


def auroc(labels: ArrayLike, scores: ArrayLike, *, confidence_level: float = 0.95) -> Interval:
    """Area under the ROC curve: the probability that a positive item outscores a negative one, ties counting half.

    In [0, 1], 0.5 for a score that says nothing; ``nan`` without both classes; limits ``nan`` with fewer than two
    items of a class or perfect separation. Interval: DeLong, normal, clipped.

    Parameters
    ----------
    labels : array_like of shape (n,)
        0/1, 1 for the class that should score high.
    scores : array_like of shape (n,)
        Finite scores.
    confidence_level : float, default 0.95
        Nominal coverage; falls short for areas near 1.

    Raises
    ------
    InputError
        If a label is neither 0 nor 1, a score not finite, or the lengths differ.

    Notes
    -----
    Variance: that of the positives' placements over their number plus that of the negatives' over theirs, computed
    from mid-ranks in O(n log n).

    References
    ----------
    DeLong, E. R., DeLong, D. M. & Clarke-Pearson, D. L. (1988). Biometrics 44, 837-845. Sun, X. & Xu, W. (2014). Fast
    implementation of DeLong's algorithm. IEEE Signal Process. Lett. 21, 1389-1393.

    Examples
    --------
    >>> print(auroc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    0.750 [0.057, 1.000] (95% DeLong, n = 4)
    """
    positive, level = check_binary(labels), check_level(confidence_level)
    (above, below), n = _placements(positive, scores), positive.size
    if min(above.size, below.size) == 0:
        return undefined_interval(float("nan"), level, "DeLong", n, "needs items of both classes")
    estimate = float(above.mean())
    return _normal_interval(estimate, _variance(above, below), (0.0, 1.0), level, n)


def clustered_auroc(
    labels: ArrayLike, scores: ArrayLike, clusters: ArrayLike, *, confidence_level: float = 0.95
) -> Interval:
    """Area under the ROC curve over items, with an interval that is robust to clusters.

    In [0, 1]; ``nan`` without both classes; limits ``nan`` for fewer than two clusters and perfect separation. With one item
    a cluster it is near `auroc`.

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
    positive = check_binary(labels)
    _, n_clusters = check_clusters(clusters, positive.size)
    if np.isnan(found.estimate):
        return replace(found, n=n_clusters)
    above, below = _placements(positive, scores)
    influence = np.empty(positive.size)
    influence[positive], influence[~positive] = (above - found.estimate) / above.size, (below - found.estimate) / below.size
    _, error, _ = clustered_mean(influence * positive.size, clusters)
    method = "AUROC, cluster-robust t" + (f" (fewer than {FEW_CLUSTERS}: too narrow)" if n_clusters < FEW_CLUSTERS else "")
    if not error > 0:
        return undefined_interval(found.estimate, found.confidence_level, method, n_clusters, "no spread between clusters")
    half = t_quantile((1 + found.confidence_level) / 2, n_clusters - 1) * error
    low, high = max(found.estimate - half, 0.0), min(found.estimate + half, 1.0)
    return Interval(found.estimate, low, high, found.confidence_level, method, n_clusters)


def delong_test(
    labels: ArrayLike, first: ArrayLike, second: ArrayLike, *, alternative: str = "two-sided"
) -> SignificanceResult:
    """DeLong test that two scores of the same items have the same area under the ROC curve.

    p in (0, 1]; ``nan`` with fewer than two items of a class or no variance between the scores. Dual of
    `auroc_difference_interval`.

    Parameters
    ----------
    labels : array_like of shape (n,)
        0/1, 1 for the class that should score high.
    first, second : array_like of shape (n,)
        Finite scores of two metrics or judges on the same items.
    alternative : {"two-sided", "greater", "less"}
        Direction of first - second.

    Raises
    ------
    InputError
        If a label is neither 0 nor 1, a score not finite, the lengths differ, or the alternative is unknown.

    Notes
    -----
    z = (AUROC_1 - AUROC_2) / se, se from the differences of the two scores' placements item by item.

    References
    ----------
    DeLong, E. R., DeLong, D. M. & Clarke-Pearson, D. L. (1988). Biometrics 44, 837-845.

    Examples
    --------
    >>> labels = [0, 0, 0, 1, 1, 1]
    >>> print(delong_test(labels, [1, 2, 4, 3, 5, 6], [2, 4, 5, 1, 3, 6]))
    statistic 1.789, p = 0.0736 (DeLong test, two-sided, n = 6)
    """
    check_alternative(alternative)
    estimate, variance, n = _difference(labels, first, second)
    if not variance > NO_VARIANCE:
        return undefined_test(alternative, "DeLong test", n, _problem(variance))
    z = estimate / sqrt(variance)
    p = two_sided(normal_cdf(z), normal_cdf(-z), alternative)
    return SignificanceResult(z, p, alternative, "DeLong test", n)


def auroc_difference_interval(
    labels: ArrayLike, first: ArrayLike, second: ArrayLike, *, confidence_level: float = 0.95
) -> Interval:
    """DeLong interval for the difference of two areas under the ROC curve on the same items.

    In [-1, 1], first - second; limits ``nan`` where the test is undefined. Dual of `delong_test`.

    Parameters
    ----------
    labels : array_like of shape (n,)
        0/1, 1 for the class that should score high.
    first, second : array_like of shape (n,)
        Finite scores of two metrics or judges on the same items.
    confidence_level : float, default 0.95
        Nominal coverage.

    Raises
    ------
    InputError
        If a label is neither 0 nor 1, a score not finite, the lengths differ, or the level is not in (0, 1).

    References
    ----------
    DeLong, E. R., DeLong, D. M. & Clarke-Pearson, D. L. (1988). Biometrics 44, 837-845.

    Examples
    --------
    >>> print(auroc_difference_interval([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6], [2, 4, 5, 1, 3, 6]))
    0.444 [-0.043, 0.931] (95% DeLong, n = 6)
    """
    level = check_level(confidence_level)
    estimate, variance, n = _difference(labels, first, second)
    return _normal_interval(estimate, variance, (-1.0, 1.0), level, n)


def _placements(positive: np.ndarray, scores: ArrayLike) -> tuple[Floats, Floats]:
    """Return for each positive the share of negatives below it, and for each negative the share of positives above."""
    values = check_scores(scores, "scores")
    if values.size != positive.size:
        raise InputError(
            f"The ROC curve needs one score per label; it got {values.size} scores and {positive.size} labels; "
            "align them by item id first."
        )
    if positive.all() or not positive.any():
        return np.empty(int(positive.sum())), np.empty(int((~positive).sum()))
    ranks = midranks(values)
    n_above, n_below = int(positive.sum()), int((~positive).sum())
    above = (ranks[positive] - midranks(values[positive])) / n_below
    below = 1 - (ranks[~positive] - midranks(values[~positive])) / n_above
    return above, below


def _variance(above: Floats, below: Floats) -> float:
    """Return DeLong's variance, nan with fewer than two items of a class."""
    if min(above.size, below.size) < 2:
        return float("nan")
    return float(above.var(ddof=1) / above.size + below.var(ddof=1) / below.size)


def _difference(labels: ArrayLike, first: ArrayLike, second: ArrayLike) -> tuple[float, float, int]:
    """Return the difference of the two areas, its variance, and the number of items."""
    positive = check_binary(labels)
    (above, below), (other_above, other_below) = _placements(positive, first), _placements(positive, second)
    if min(above.size, below.size) == 0:
        return float("nan"), float("nan"), positive.size
    estimate = float(above.mean() - other_above.mean())
    return estimate, _variance(above - other_above, below - other_below), positive.size


def _normal_interval(estimate: float, variance: float, bounds: tuple[float, float], level: float, n: int) -> Interval:
    if not variance > NO_VARIANCE:
        return undefined_interval(estimate, level, "DeLong", n, _problem(variance))
    half = normal_quantile((1 + level) / 2) * sqrt(variance)
    return Interval(estimate, max(estimate - half, bounds[0]), min(estimate + half, bounds[1]), level, "DeLong", n)


def _problem(variance: float) -> str:
    return "needs 2 items of each class" if np.isnan(variance) else "the placements do not vary"
