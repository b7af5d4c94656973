"""Intervals and tests for items that come in clusters: several languages, noise rates or repeats of one question.

The clusters, not the items, are the independent units. Every test takes paired differences (or two aligned arrays)
with one cluster key per item.
"""

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from ragnb.results import SignificanceResult
from ragnb.stats.checks import (
    Floats,
    check_alternative,
    check_clusters,
    check_differences,
    check_number,
    undefined_test,
)
from ragnb.stats.intervals import FEW_CLUSTERS
from ragnb.stats.numerics import t_cdf, two_sided
from ragnb.stats.paired import sign_flip_test


def cluster_t_test(
    first: ArrayLike,
    second: ArrayLike | None = None,
    *,
    clusters: ArrayLike,
    null: float = 0.0,
    alternative: str = "two-sided",
) -> SignificanceResult:
    """Cluster-robust t-test of a mean paired difference.

    p in (0, 1]; ``nan`` for fewer than two clusters or no spread between them; the warning says when there are fewer
    than 30. Dual of `ragnb.stats.intervals.mean_interval`.

    Parameters
    ----------
    first, second : array_like of shape (n,)
        Scores of two systems on the same items; without `second`, `first` holds the differences.
    clusters : array_like of shape (n,)
        Key of the cluster (the question) of each item.
    null : float, default 0.0
        Mean difference under the null hypothesis.
    alternative : {"two-sided", "greater", "less"}
        Direction of first - second - null.

    Raises
    ------
    InputError
        If a value is not finite, the lengths differ, or an option is unknown.

    Notes
    -----
    (mean - null) / (cluster-robust standard error) against t with G - 1 degrees of freedom.

    References
    ----------
    Cameron, A. C. & Miller, D. L. (2015). J. Human Resources 50, 317-372, section VI.

    Examples
    --------
    >>> result = cluster_t_test([1, 1, 0, 0, 1, 0], clusters=["a", "a", "b", "b", "c", "c"])
    >>> round(result.statistic, 4), result.warning
    (1.7321, '3 clusters, fewer than 30: p is too small')
    """
    check_alternative(alternative)
    mean, error, n_clusters = clustered_mean(check_differences(first, second), clusters)
    method = "cluster-robust t-test"
    if problem := _cluster_problem(error, n_clusters):
        return undefined_test(alternative, method, n_clusters, problem)
    t = (mean - check_number(null, "null")) / error
    p = two_sided(t_cdf(t, n_clusters - 1), t_cdf(-t, n_clusters - 1), alternative)
    warning = f"{n_clusters} clusters, fewer than {FEW_CLUSTERS}: p is too small" if n_clusters < FEW_CLUSTERS else ""
    return SignificanceResult(t, p, alternative, method, n_clusters, warning)


def cluster_sign_flip_test(
    first: ArrayLike,
    second: ArrayLike | None = None,
    *,
    clusters: ArrayLike,
    alternative: str = "two-sided",
) -> SignificanceResult:
    """Exact sign-flip permutation test that flips whole clusters.

    p in (0, 1], at least 2^(1-G) two-sided; 1 when every cluster sums to 0; valid for any number of clusters, few ones
    included. The statistic is the mean difference over items.

    Parameters
    ----------
    first, second : array_like of shape (n,)
        Scores of two systems on the same items; without `second`, `first` holds the differences.
    clusters : array_like of shape (n,)
        Key of the cluster (the question) of each item.
    alternative : {"two-sided", "greater", "less"}
        Direction of first - second.

    Raises
    ------
    InputError
        If a value is not finite, the lengths differ, or an option is unknown.

    Notes
    -----
    Under the null the two systems can be exchanged within a question, all its items together, so the cluster sums have
    exchangeable signs; the law of their signed total is `ragnb.stats.paired.sign_flip_test`'s.

    References
    ----------
    Canay, I. A., Romano, J. P. & Shaikh, A. M. (2017). Randomization tests under an approximate symmetry assumption.
    Econometrica 85, 1013-1030.

    Examples
    --------
    >>> cluster_sign_flip_test([1, 1, 1, 0, 1, 0], clusters=["a", "a", "b", "b", "c", "c"]).p_value
    0.25
    """
    differences = check_differences(first, second)
    codes, n_clusters = check_clusters(clusters, differences.size)
    sums, sizes = (np.bincount(codes, values, n_clusters) for values in (differences, np.abs(differences)))
    sums[np.abs(sums) <= 1e-12 * sizes] = 0.0  # what is left of scores that cancel is rounding error
    result = sign_flip_test(sums, alternative=alternative)
    mean = float(differences.mean()) if differences.size else float("nan")
    method = result.method.replace("sign-flip", "cluster sign-flip")
    return SignificanceResult(mean, result.p_value, alternative, method, n_clusters, result.warning)


def clustered_mean(scores: Floats, clusters: ArrayLike) -> tuple[float, float, int]:
    """Return the mean over items, its cluster-robust standard error, and the number of clusters."""
    codes, n_clusters = check_clusters(clusters, scores.size)
    if scores.size == 0:
        return float("nan"), float("nan"), 0
    mean = float(scores.mean())
    sums = np.bincount(codes, scores - mean, n_clusters)
    if n_clusters < 2 or np.abs(sums).max() <= 1e-12 * np.abs(scores).sum():
        return mean, 0.0, n_clusters
    return mean, sqrt(n_clusters / (n_clusters - 1) * float(sums @ sums)) / scores.size, n_clusters


def _cluster_problem(error: float, n_clusters: int) -> str:
    """Return why the spread between clusters is unknown, or an empty string."""
    if n_clusters < 2:
        return f"needs 2 clusters, got {n_clusters}"
    return "no spread between clusters" if error == 0 else ""
