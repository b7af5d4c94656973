"""Intervals and tests for items that come in clusters: several languages, noise rates or repeats of one question.

The clusters, not the items, are the independent units. Every test takes paired differences (or two aligned arrays)
with one cluster key per item.
"""

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from ragnb.results import Interval, SignificanceResult
from ragnb.stats.bootstrap import bca_from_resamples
from ragnb.stats.checks import (
    Floats,
    check_alternative,
    check_clusters,
    check_count,
    check_differences,
    check_generator,
    check_level,
    check_number,
    check_scores,
    undefined_interval,
    undefined_test,
)
from ragnb.stats.numerics import t_cdf, t_quantile, two_sided
from ragnb.stats.paired import sign_flip_test

#: Below this number of clusters the cluster-robust standard error is itself too uncertain.
FEW_CLUSTERS = 30


def cluster_robust_interval(values: ArrayLike, clusters: ArrayLike, *, confidence_level: float = 0.95) -> Interval:
    """Cluster-robust t interval of the mean over items.

    In the unit of the values; limits are ``nan`` for fewer than two clusters or no spread between them; the method
    says so when there are fewer than 30 clusters. Dual of `cluster_t_test`.

    Parameters
    ----------
    values : array_like of shape (n,)
        Finite scores or paired differences.
    clusters : array_like of shape (n,)
        Key of the cluster (the question) of each item.
    confidence_level : float, default 0.95
        Nominal coverage.

    Raises
    ------
    InputError
        If a value is not finite, the lengths differ, or the level is not in (0, 1).

    Notes
    -----
    Standard error sqrt(G / (G - 1) sum_g S_g^2) / n with S_g the sum of deviations from the mean in cluster g, and
    t with G - 1 degrees of freedom. With one item a cluster it is the plain t interval.

    References
    ----------
    Liang, K.-Y. & Zeger, S. L. (1986). Biometrika 73, 13-22. Cameron, A. C. & Miller, D. L. (2015). A practitioner's
    guide to cluster-robust inference. J. Human Resources 50, 317-372.

    Examples
    --------
    >>> print(cluster_robust_interval([1, 1, 0, 0, 1, 0], ["a", "a", "b", "b", "c", "c"]))
    0.500 [-0.742, 1.742] (95% cluster-robust t, 3 clusters (fewer than 30: too narrow), n = 3)
    """
    scores, level = check_scores(values), check_level(confidence_level)
    mean, error, n_clusters = clustered_mean(scores, clusters)
    caution = f" (fewer than {FEW_CLUSTERS}: too narrow)" if n_clusters < FEW_CLUSTERS else ""
    method = f"cluster-robust t, {n_clusters} clusters{caution}"
    if problem := _cluster_problem(error, n_clusters):
        return undefined_interval(mean, level, method, n_clusters, problem)
    half = t_quantile((1 + level) / 2, n_clusters - 1) * error
    return Interval(mean, mean - half, mean + half, level, method, n_clusters)


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
    than 30. Dual of `cluster_robust_interval`.

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


def cluster_bootstrap_interval(
    values: ArrayLike,
    clusters: ArrayLike,
    *,
    rng: np.random.Generator,
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
) -> Interval:
    """BCa bootstrap interval of the mean over items, resampling whole clusters.

    In the unit of the values; limits are ``nan`` for fewer than two clusters or no spread between them. Dual of no
    test.

    Parameters
    ----------
    values : array_like of shape (n,)
        Finite scores or paired differences.
    clusters : array_like of shape (n,)
        Key of the cluster (the question) of each item.
    rng : numpy.random.Generator
        Source of the resamples; clusters may differ in size, so there is no lattice to do without.
    confidence_level : float, default 0.95
        Nominal coverage; too low below about 30 clusters.
    n_resamples : int, default 10_000
        Number of resamples.

    Raises
    ------
    InputError
        If a value is not finite, the lengths differ, `rng` is no generator, or an option is out of range.

    Notes
    -----
    A resample is a ratio, sum of the drawn clusters' totals over sum of their sizes; the acceleration comes from the
    linear influence of each cluster on that ratio.

    References
    ----------
    Davison, A. C. & Hinkley, D. V. (1997). Bootstrap Methods and their Application, section 3.8.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> interval = cluster_bootstrap_interval([1, 1, 0, 0, 1, 0, 1, 0], [1, 1, 2, 2, 3, 3, 4, 4], rng=rng)
    >>> interval.estimate, interval.method
    (0.5, 'BCa, 10000 resamples of 4 clusters')
    """
    scores, level = check_scores(values), check_level(confidence_level)
    check_generator(rng, "The cluster bootstrap")
    check_count(n_resamples, "n_resamples", minimum=100)
    mean, error, n_clusters = clustered_mean(scores, clusters)
    method = f"BCa, {n_resamples} resamples of {n_clusters} clusters"
    if problem := _cluster_problem(error, n_clusters):
        return undefined_interval(mean, level, method, n_clusters, problem)
    codes, _ = check_clusters(clusters, scores.size)
    totals, sizes = np.bincount(codes, scores, n_clusters), np.bincount(codes, minlength=n_clusters)
    influence = totals - mean * sizes
    acceleration = float((influence**3).sum() / (6 * (influence**2).sum() ** 1.5))
    even = np.full(n_clusters, 1 / n_clusters)
    block = max(1, 2**20 // n_clusters)
    means = []
    for start in range(0, n_resamples, block):
        draws = rng.multinomial(n_clusters, even, size=min(block, n_resamples - start))
        means.append((draws @ totals) / (draws @ sizes))
    return bca_from_resamples(np.concatenate(means), mean, acceleration, level, method, n_clusters)


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
