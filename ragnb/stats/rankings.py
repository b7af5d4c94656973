"""Correlation between two rankings of systems, for example by a judge and by human annotators.

`ranking_interval` raises InputError for arguments outside the stated range.
"""

from collections.abc import Callable
from math import nan

import numpy as np
from numpy.typing import ArrayLike

from ragnb.arguments import Floats, accepts
from ragnb.errors import InputError
from ragnb.results import Interval, undefined_interval


def kendall_tau_b(reference: ArrayLike, other: ArrayLike) -> float:
    """Kendall's tau-b rank correlation between two lists of scores of the same systems.

    Parameters
    ----------
    reference, other : array-like of shape (n_systems,)
        One score per system.

    Returns
    -------
    float
        Correlation in [-1, 1]. It is 1 if both lists rank the systems in the same order with the
        same ties. It is NaN if there are fewer than two systems, if all systems are tied in one of
        the lists or if a score is NaN.

    References
    ----------
    .. [1] Kendall, M. G. (1945). The treatment of ties in ranking problems. Biometrika 33, 239-251.

    Examples
    --------
    >>> round(kendall_tau_b([0.9, 0.5, 0.1], [0.8, 0.2, 0.4]), 3)  # (2 - 1) / 3
    0.333
    """
    from scipy.stats import kendalltau

    return float(kendalltau(reference, other).statistic)


def tau_ap(reference: ArrayLike, other: ArrayLike) -> float:
    """AP rank correlation, a variant of Kendall's tau that gives more weight to the top ranks.

    Parameters
    ----------
    reference : array-like of shape (n_systems,)
        Score of each system, for example from human annotators; higher is better.
    other : array-like of shape (n_systems,)
        Score of each system, for example from a judge; higher is better. The top ranks are those in
        this ranking, so the coefficient changes if the two arguments are swapped.

    Returns
    -------
    float
        Correlation in [-1, 1]. It is 1 if both lists rank the systems in the same order without
        ties. It is NaN if there are fewer than two systems, if all of them are tied in `other` or
        if a score is NaN.

    Notes
    -----
    tau_AP = 2 mean_i C(i) - 1, where i runs over all systems except the first in `other`. C(i) is
    the proportion of the systems ranked above i in `other` that are also ranked above i in
    `reference`. The original definition [1]_ assumes that there are no ties. Here, a system that is
    tied with i in `reference` counts as half correct. A system that is tied with i in `other` has
    weight 1/2 in C(i), so systems that are tied for first place are included in the mean.

    References
    ----------
    .. [1] Yilmaz, E., Aslam, J. A. & Robertson, S. (2008). A new rank correlation coefficient for
       information retrieval. SIGIR.

    Examples
    --------
    Swapping two adjacent systems lowers the coefficient more at the top than at the bottom:

    >>> round(tau_ap([4, 3, 2, 1], [3, 4, 2, 1]), 3), round(tau_ap([4, 3, 2, 1], [4, 3, 1, 2]), 3)
    (0.333, 0.778)
    """
    true, ranked = np.asarray(reference, dtype=float), np.asarray(other, dtype=float)
    # Rows are systems; a column counts 1 if its system is above that of the row, and 0.5 if tied.
    agrees, above = (
        (np.sign(scores[None, :] - scores[:, None]) + 1) / 2 for scores in (true, ranked)
    )
    np.fill_diagonal(above, 0.0)
    weights = above.sum(axis=1)
    lower = weights > 0
    if not lower.any() or np.ptp(ranked) == 0:
        return nan
    right = (above * agrees).sum(axis=1)[lower] / weights[lower]
    return float(2 * right.mean() - 1)


STATISTICS: dict[str, Callable[[ArrayLike, ArrayLike], float]] = {
    "tau-b": kendall_tau_b,
    "tau-AP": tau_ap,
}


@accepts(statistic=tuple(STATISTICS), reference="matrix", other="matrix", confidence_level="level")
def ranking_interval(
    statistic: str,
    reference: Floats,
    other: Floats,
    *,
    confidence_level: float = 0.95,
) -> Interval:
    """Rank correlation between two sets of mean system scores, with a bootstrap interval.

    Parameters
    ----------
    statistic : {'tau-b', 'tau-AP'}
        Correlation coefficient: `kendall_tau_b` or `tau_ap`.
    reference, other : array-like of shape (n_questions, n_systems)
        Two scores of each response, for example from human annotators and from a judge. There must
        be at least two systems.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, in (0, 1).

    Returns
    -------
    Interval
        The correlation in [-1, 1] with its limits. Estimate and limits are NaN if there are fewer
        than two questions, or if the coefficient is undefined for the mean scores, for example
        because all systems have the same mean.

    Notes
    -----
    The interval is a percentile bootstrap interval with 2000 resamples of the questions and a fixed
    seed. Resamples for which the coefficient is undefined are ignored. The systems are not
    resampled. With few systems, the coefficient can take only few values, so the interval is
    coarse.

    Examples
    --------
    >>> people = np.tile([1, 1, 0], (20, 1))
    >>> print(ranking_interval("tau-b", people, people))
    1.000 [1.000, 1.000] (95% tau-b, percentile bootstrap over questions, n = 20)
    """
    if reference.shape != other.shape or reference.shape[1] < 2:
        raise InputError(
            "reference and other must have one row per question and one column for each of two or "
            f"more systems, got shapes {reference.shape} and {other.shape}"
        )
    from scipy.stats import rankdata

    correlation, n = STATISTICS[statistic], len(reference)
    method = f"{statistic}, percentile bootstrap over questions"
    if n < 2:
        problem = f"at least 2 questions are needed, got {n}"
        return undefined_interval(nan, confidence_level, method, n, problem)
    # Whole numbers, so that systems with equal sums of 0/1 scores are tied.
    weights = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=2000)
    # Few systems have few rankings, so most pairs of rankings occur many times.
    rankings = [rankdata(weights @ scores, axis=1) for scores in (reference, other)]
    pairs, which = np.unique(np.stack(rankings, axis=1), axis=0, return_inverse=True)
    found = np.array([correlation(true, judged) for true, judged in pairs])[which]
    tail = (1 - confidence_level) / 2
    estimate = correlation(reference.mean(axis=0), other.mean(axis=0))
    if np.isnan(estimate):
        problem = "all systems have the same mean"
        return undefined_interval(nan, confidence_level, method, n, problem)
    low, high = np.nanquantile(found, [tail, 1 - tail]).tolist()
    return Interval(estimate, low, high, confidence_level, method, n)
