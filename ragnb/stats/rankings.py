"""Agreement of two rankings of systems, such as those by a judge and by people.

All functions raise InputError for arguments outside the stated range.
"""

from collections.abc import Callable
from math import nan

import numpy as np
from numpy.typing import ArrayLike

from ragnb.arguments import Floats, accepts
from ragnb.errors import InputError
from ragnb.results import Interval, undefined_interval


def kendall_tau_b(reference: ArrayLike, other: ArrayLike) -> float:
    """Kendall's tau-b of two lists of scores, one score per system.

    It is in [-1, 1]. It is 1 if both rank the systems alike, and NaN if one of them ties all
    systems. Ties in one of the lists lower its absolute value.

    References
    ----------
    .. [1] Kendall, M. G. (1945). The treatment of ties in ranking problems. Biometrika 33, 239-251.

    Examples
    --------
    >>> round(kendall_tau_b([0.9, 0.5, 0.1], [0.8, 0.2, 0.4]), 3)
    0.333
    """
    from scipy.stats import kendalltau

    return float(kendalltau(reference, other).statistic)


def tau_ap(reference: ArrayLike, other: ArrayLike) -> float:
    """AP rank correlation of two lists of scores, one score per system.

    It is a version of Kendall's tau that gives more weight to errors at the top of the ranking by
    `other`. It is in [-1, 1], and 1 if both rank the systems alike without ties. It is not
    symmetric: exchanging `reference` and `other` can change the value. A pair that is tied in
    `reference` counts as half correct. The value is therefore 0 if `reference` ties all systems. It
    is NaN if `other` does.

    Notes
    -----
    tau_AP = 2 mean_i C(i) - 1, where i runs over all systems except the first in the ranking by
    `other`. C(i) is the proportion of the systems that `other` ranks above i for which `reference`
    agrees. A system that `other` ties with i counts as half above i, so systems that are tied for
    first place are included.

    References
    ----------
    .. [1] Yilmaz, E., Aslam, J. A. & Robertson, S. (2008). A new rank correlation coefficient for
       information retrieval. SIGIR.

    Examples
    --------
    Exchanging two neighbours lowers the value more at the top than at the bottom:

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
    """Rank correlation of the systems' means under two scores, with a bootstrap interval.

    Parameters
    ----------
    statistic : {"tau-b", "tau-AP"}
        `kendall_tau_b` or `tau_ap`.
    reference, other : array_like of shape (n_questions, n_systems)
        Scores of the same responses, such as people's and a judge's.
    confidence_level : float, default 0.95
        Nominal coverage.

    Notes
    -----
    The correlation is in [-1, 1]. It is NaN if it is undefined for the means of the systems, for
    example because all systems have the same mean. The interval is the percentile interval over
    2000 resamples of the questions, which always have the same seed. With few systems, the
    correlation has few possible values, and the interval is coarse. The interval applies to these
    systems only, not to other systems.

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
    weights = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=2000) / n
    # Few systems have few rankings, so most pairs of rankings occur many times.
    rankings = [rankdata(weights @ scores, axis=1) for scores in (reference, other)]
    pairs, which = np.unique(np.stack(rankings, axis=1), axis=0, return_inverse=True)
    found = np.array([correlation(true, judged) for true, judged in pairs])[which]
    tail = (1 - confidence_level) / 2
    estimate = correlation(reference.mean(axis=0), other.mean(axis=0))
    method = f"{statistic}, percentile bootstrap over questions"
    if np.isnan(estimate):
        problem = "all systems have the same mean"
        return undefined_interval(nan, confidence_level, method, n, problem)
    low, high = np.nanquantile(found, [tail, 1 - tail]).tolist()
    return Interval(estimate, low, high, confidence_level, method, n)
