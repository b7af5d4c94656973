"""Correlation between two rankings of systems, for example by a judge and by human annotators.

`ranking_interval` raises InputError for arguments outside the stated range.
"""

# Tested in tests/stats/test_graded.py.

from collections.abc import Callable
from math import nan

import numpy as np
from numpy.typing import ArrayLike

from ragnb.arguments import Floats, Integers, accepts
from ragnb.errors import InputError
from ragnb.results import Interval, undefined_interval
from ragnb.rounding import largest_magnitude, tied_levels


@accepts(reference="values", other="values")
def kendall_tau_b(reference: ArrayLike, other: ArrayLike) -> float:
    """Kendall's tau-b rank correlation between two lists of scores of the same systems.

    Parameters
    ----------
    reference, other : array-like of shape (n_systems,)
        One score per system. Scores that differ only by rounding error are tied.

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

    levels = _levels(reference, other)
    return nan if levels is None else float(kendalltau(*levels).statistic)


@accepts(reference="values", other="values")
def tau_ap(reference: ArrayLike, other: ArrayLike) -> float:
    """AP rank correlation, a variant of Kendall's tau that gives more weight to the top ranks.

    With ties, this is the coefficient tau_AP,a of Urbano and Marrero, which measures how accurately
    `other` ranks the systems: the mean over all orders of the tied systems.

    Parameters
    ----------
    reference : array-like of shape (n_systems,)
        Score of each system, for example from human annotators; higher is better. Scores that
        differ only by rounding error are tied.
    other : array-like of shape (n_systems,)
        Score of each system, for example from a judge; higher is better. The top ranks are those in
        this ranking, so the coefficient changes if the two arguments are swapped.

    Returns
    -------
    float
        Correlation in [-1, 1]. It is 1 if both lists rank the systems in the same order without
        ties. It is NaN if there are fewer than two systems, if all systems are tied in one of the
        lists or if a score is NaN.

    Notes
    -----
    tau_AP = 2 mean_i C(i) - 1, where i runs over all systems except the first in `other`. C(i) is
    the proportion of the systems ranked above i in `other` that are also ranked above i in
    `reference` [1]_. If systems are tied in `other`, the coefficient is the mean over all orders of
    these systems [2]_. The authors assume that `reference` has no ties. Here, a pair that is tied
    in `reference` counts as half correct, which is the mean over its two orders.

    See Also
    --------
    tau_ap_b : Agreement between two rankings that may both contain ties.

    References
    ----------
    .. [1] Yilmaz, E., Aslam, J. A. & Robertson, S. (2008). A new rank correlation coefficient for
       information retrieval. SIGIR.
    .. [2] Urbano, J. & Marrero, M. (2017). The treatment of ties in AP correlation. ICTIR.

    Examples
    --------
    Swapping two adjacent systems lowers the coefficient more at the top than at the bottom:

    >>> round(tau_ap([4, 3, 2, 1], [3, 4, 2, 1]), 3), round(tau_ap([4, 3, 2, 1], [4, 3, 1, 2]), 3)
    (0.333, 0.778)

    Ties are broken in all orders. Here they are 1, 0.333, 0.778 and 0.111:

    >>> round(tau_ap([4, 3, 2, 1], [2, 2, 1, 1]), 3)
    0.556
    """
    levels = _levels(reference, other)
    if levels is None:
        return nan
    agrees, above = (_above(scores) for scores in levels)
    higher, tied = above == 1, above == 0.5
    n_higher, n_tied = higher.sum(axis=1), tied.sum(axis=1)
    n_systems, size = n_higher.size, n_tied + 1
    higher_right = (higher * agrees).sum(axis=1)
    share_of_tied_right = (tied * agrees).sum(axis=1) / np.maximum(n_tied, 1)
    # A system is equally likely to be at each place of its group of tied systems. At a place with k
    # systems above it, these are all higher systems and k - n_higher tied ones. The two weights are
    # the means of 1 / k and of (k - n_higher) / k over these places.
    harmonic = np.append(0.0, np.cumsum(1 / np.arange(1, n_systems)))
    sums = harmonic[n_higher + n_tied] - harmonic[np.maximum(n_higher - 1, 0)]
    weight_of_higher = np.where(n_higher > 0, sums / size, 0.0)
    weight_of_tied = np.where(n_higher > 0, 1 - n_higher * weight_of_higher, n_tied / size)
    right = higher_right * weight_of_higher + share_of_tied_right * weight_of_tied
    return float(2 * right.sum() / (n_systems - 1) - 1)


@accepts(first="values", second="values")
def tau_ap_b(first: ArrayLike, second: ArrayLike) -> float:
    """AP rank correlation between two rankings that may both contain ties.

    This is the coefficient tau_AP,b of Urbano and Marrero. It measures how far two
    rankings agree if neither is taken as true.

    Parameters
    ----------
    first, second : array-like of shape (n_systems,)
        Score of each system; higher is better. Scores that differ only by rounding error are tied.
        The coefficient is the same if the two arguments are swapped.

    Returns
    -------
    float
        Correlation in [-1, 1]. It is 1 if both lists rank the systems in the same order with the
        same ties. It is NaN if there are fewer than two systems, if all systems are tied in one of
        the lists or if a score is NaN.

    Notes
    -----
    The coefficient is the mean of two asymmetric ones. Each of them is 2 mean_i C(i) - 1, where i
    runs over the systems that are not in the first group of tied systems of one ranking, and C(i)
    is the proportion of the systems above the group of i in this ranking that are also above i in
    the other ranking.

    References
    ----------
    .. [1] Urbano, J. & Marrero, M. (2017). The treatment of ties in AP correlation. ICTIR.

    Examples
    --------
    >>> round(tau_ap_b([4, 3, 2, 1], [2, 2, 1, 1]), 3)  # (1 + 1 / 9) / 2
    0.556
    """
    levels = _levels(first, second)
    if levels is None:
        return nan
    higher = [_above(scores) == 1 for scores in levels]
    halves = []
    for above, agrees in (higher, higher[::-1]):
        n_above = above.sum(axis=1)
        lower = n_above > 0
        right = (above & agrees).sum(axis=1)[lower] / n_above[lower]
        halves.append(2 * right.mean() - 1)
    return float(np.mean(halves))


def _levels(first: ArrayLike, second: ArrayLike) -> list[Integers] | None:
    """Ranks of two lists of scores with their ties, or None if a correlation is undefined."""
    scores = [np.asarray(values, dtype=np.float64) for values in (first, second)]
    if any(np.isnan(values).any() for values in scores) or scores[0].size < 2:
        return None
    levels = [tied_levels(values, largest_magnitude(values)) for values in scores]
    return None if any(not values.any() for values in levels) else levels


def _above(levels: Integers) -> Floats:
    """Whether each system (column) is above each other (row): 1, or 0.5 if the two are tied.

    The diagonal is 0.
    """
    above = (np.sign(levels[None, :] - levels[:, None]) + 1) / 2
    np.fill_diagonal(above, 0.0)
    return above


STATISTICS: dict[str, Callable[[ArrayLike, ArrayLike], float]] = {
    "tau-b": kendall_tau_b,
    "tau-AP": tau_ap,
    "tau-AP-b": tau_ap_b,
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
    statistic : {'tau-b', 'tau-AP', 'tau-AP-b'}
        Correlation coefficient: `kendall_tau_b`, `tau_ap` or `tau_ap_b`.
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
    correlation, n = STATISTICS[statistic], len(reference)
    method = f"{statistic}, percentile bootstrap over questions"
    if n < 2:
        problem = f"at least 2 questions are needed, got {n}"
        return undefined_interval(nan, confidence_level, method, n, problem)
    weights = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=2000)
    # Few systems have few rankings, so most pairs of rankings occur many times.
    rankings = [_ranked_sums(weights, scores) for scores in (reference, other)]
    pairs, which = np.unique(np.stack(rankings, axis=1), axis=0, return_inverse=True)
    correlations = np.array([correlation(true, judged) for true, judged in pairs])[which]
    tail = (1 - confidence_level) / 2
    whole = np.ones((1, n))
    estimate = correlation(_ranked_sums(whole, reference)[0], _ranked_sums(whole, other)[0])
    if np.isnan(estimate):
        problem = "all systems have the same mean"
        return undefined_interval(nan, confidence_level, method, n, problem)
    low, high = np.nanquantile(correlations, [tail, 1 - tail]).tolist()
    return Interval(estimate, low, high, confidence_level, method, n)


def _ranked_sums(weights: ArrayLike, scores: Floats) -> Integers:
    """Rank the systems by weighted sums of their scores; sums within rounding error are tied."""
    sums = np.asarray(weights) @ scores
    return tied_levels(sums, len(scores) * float(np.abs(scores).max(initial=0.0)))
