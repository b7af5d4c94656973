"""Agreement of two yes/no raters as a function of four counts.

The counts are the last axis of an array: both say yes, only the first, only the second, neither. So one call gives the
coefficient of many tables, as leaving out one cluster at a time needs it. The formulas are those of
`ragnb.stats.rater_sums`; intervals for independent items, weights, more raters and more categories are in
`ragnb.stats.agreement`; over clusters, `ragnb.stats.intervals`.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ragnb.stats import rater_sums
from ragnb.stats.binary import paired_table
from ragnb.stats.checks import Floats, check_binary, check_clusters
from ragnb.stats.numerics import ratio


def verdict_counts(first: ArrayLike, second: ArrayLike, clusters: ArrayLike | None = None) -> Floats:
    """Counts of what two raters say, one row a cluster.

    Parameters
    ----------
    first, second : array_like of shape (n,)
        0/1 (or boolean) verdicts on the same items.
    clusters : array_like of shape (n,), optional
        Key of the cluster of each item; by default each item stands alone.

    Returns
    -------
    ndarray of shape (n_clusters, 4)
        Both yes, only the first, only the second, neither.

    Raises
    ------
    InputError
        If a verdict is neither 0 nor 1, or the lengths differ.

    Examples
    --------
    >>> verdict_counts([1, 1, 0, 0], [1, 0, 0, 0], ["a", "a", "b", "b"])
    array([[1., 1., 0., 0.],
           [0., 0., 0., 2.]])
    """
    paired_table(first, second)  # refuses what is not two aligned columns of 0 and 1
    left, right = check_binary(first), check_binary(second)
    codes, n_clusters = check_clusters(np.arange(left.size) if clusters is None else clusters, left.size)
    cells = 2 * (1 - left.astype(np.int64)) + (1 - right.astype(np.int64))
    return np.bincount(4 * codes + cells, minlength=4 * n_clusters).reshape(n_clusters, 4).astype(np.float64)


def agreement_of(counts: ArrayLike) -> Floats:
    """Share of items on which both say the same; in [0, 1], ``nan`` without items.

    >>> float(agreement_of([20, 5, 10, 15]))
    0.7
    """
    return rater_sums.percent_of(_sums(counts))


def kappa_of(counts: ArrayLike) -> Floats:
    """Cohen's kappa; in [-1, 1], ``nan`` where both raters use one and the same category throughout.

    >>> round(float(kappa_of([20, 5, 10, 15])), 6)
    0.4
    """
    table = np.asarray(counts, dtype=np.float64)
    return rater_sums.kappa_of(table.reshape(*table.shape[:-1], 2, 2))


def ac1_of(counts: ArrayLike) -> Floats:
    """Gwet's AC1; in [-1, 1], ``nan`` without items, stable where one category prevails.

    >>> round(float(ac1_of([118, 5, 2, 0])), 6)
    0.940776
    """
    return rater_sums.ac1_of(_sums(counts))


def alpha_of(counts: ArrayLike) -> Floats:
    """Krippendorff's nominal alpha; at most 1, ``nan`` where all verdicts are the same.

    >>> round(float(alpha_of([2, 0, 1, 1])), 6)
    0.533333
    """
    return rater_sums.alpha_of(_sums(counts))


def sensitivity_of(counts: ArrayLike) -> Floats:
    """Share of the second rater's yes to which the first says yes too; ``nan`` without one.

    >>> round(float(sensitivity_of([20, 5, 10, 15])), 6)
    0.666667
    """
    yes, _, second, _ = _cells(counts)
    return ratio(yes, yes + second)


def specificity_of(counts: ArrayLike) -> Floats:
    """Share of the second rater's no to which the first says no too; ``nan`` without one.

    >>> float(specificity_of([20, 5, 10, 15]))
    0.75
    """
    _, first, _, no = _cells(counts)
    return ratio(no, no + first)


def precision_of(counts: ArrayLike) -> Floats:
    """Share of the first rater's yes to which the second says yes too; ``nan`` without one.

    >>> float(precision_of([20, 5, 10, 15]))
    0.8
    """
    yes, first, _, _ = _cells(counts)
    return ratio(yes, yes + first)


COEFFICIENTS: dict[str, Callable[[ArrayLike], Floats]] = {
    "percent agreement": agreement_of,
    "Cohen's kappa": kappa_of,
    "Gwet's AC1": ac1_of,
    "Krippendorff's alpha": alpha_of,
}
"""What treats both raters alike."""

AGAINST: dict[str, Callable[[ArrayLike], Floats]] = {
    "sensitivity": sensitivity_of,
    "specificity": specificity_of,
    "precision": precision_of,
}
"""What takes the second rater for the truth."""


def _cells(counts: ArrayLike) -> tuple[Floats, Floats, Floats, Floats]:
    yes, first, second, no = np.moveaxis(np.asarray(counts, dtype=np.float64), -1, 0)
    return yes, first, second, no


def _sums(counts: ArrayLike) -> Floats:
    """The counts as `ragnb.stats.rater_sums.rater_sums` has them: two raters, categories yes and no."""
    yes, first, second, no = _cells(counts)
    agreeing, split = yes + no, first + second
    categories = np.stack([2 * yes + split, 2 * no + split], axis=-1)
    sums = np.stack([agreeing + split, agreeing, 2 * agreeing], axis=-1)
    return np.concatenate([sums, categories / 2, categories], axis=-1)
