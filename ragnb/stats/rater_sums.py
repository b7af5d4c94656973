"""Agreement of any number of raters over any categories, as a function of sums.

Sums may be added up over items, so one call gives the coefficient with each cluster left out in turn, as
`ragnb.stats.intervals.jackknife_interval` needs it. Two yes/no raters have the shorter `ragnb.stats.verdicts`; intervals for
independent items are in `ragnb.stats.agreement`.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ragnb.errors import InputError
from ragnb.stats.checks import Floats, check_clusters
from ragnb.stats.numerics import ratio


def rater_sums(codes: ArrayLike, n_categories: int, clusters: ArrayLike | None = None) -> Floats:
    """What the coefficients are made of, summed over the items of each cluster.

    Parameters
    ----------
    codes : array_like of int, shape (n_items, n_raters)
        Positions of the categories, -1 where a rater left an item out. Items with one rating or none do not count.
    n_categories : int
        Number of categories q, those nobody used included.
    clusters : array_like of shape (n_items,), optional
        Key of the cluster of each item; by default each item stands alone.

    Returns
    -------
    ndarray of shape (n_clusters, 3 + 2 q)
        Number of items; share of rater pairs that agree; pairs that agree over raters - 1; then of each category its share
        of an item's ratings, and its number of ratings.

    Raises
    ------
    InputError
        If a code is no category, or there is not one cluster per item.

    Examples
    --------
    >>> rater_sums([[0, 0], [0, 1], [1, -1]], 2)
    array([[1. , 1. , 2. , 1. , 0. , 2. , 0. ],
           [1. , 0. , 0. , 0.5, 0.5, 1. , 1. ],
           [0. , 0. , 0. , 0. , 0. , 0. , 0. ]])
    """
    table = np.asarray(codes, dtype=np.int64)
    if table.ndim != 2 or (table < -1).any() or (table >= n_categories).any():
        raise InputError(
            f"rater sums need items x raters of -1 to {n_categories - 1}; they got other codes; encode the labels."
        )
    counts = (table[:, :, None] == np.arange(n_categories)).sum(axis=1).astype(np.float64)
    counts[counts.sum(axis=1) < 2] = 0
    raters = counts.sum(axis=1)
    used, others = np.maximum(raters, 1), np.maximum(raters - 1, 1)
    agreeing = (counts * (counts - 1)).sum(axis=1)
    columns = [raters > 0, agreeing / (used * others), agreeing / others, counts / used[:, None], counts]
    return _summed(np.column_stack(columns).astype(np.float64), clusters)


def rater_tables(first: ArrayLike, second: ArrayLike, n_categories: int, clusters: ArrayLike | None = None) -> Floats:
    """How often two raters use each pair of categories, one table a cluster.

    Codes and clusters are those of `rater_sums`; the shape is (n_clusters, q, q).

    >>> rater_tables([0, 0, 1], [0, 1, -1], 2, ["a", "a", "b"])[0]
    array([[1., 1.],
           [0., 0.]])
    """
    left, right = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    cells = np.zeros((left.size, n_categories * n_categories))
    both = np.flatnonzero((left >= 0) & (right >= 0))
    cells[both, left[both] * n_categories + right[both]] = 1
    return _summed(cells, clusters).reshape(-1, n_categories, n_categories)


def percent_of(sums: ArrayLike) -> Floats:
    """Mean share of rater pairs that agree on an item; in [0, 1], ``nan`` without items.

    >>> float(percent_of([4, 3, 6, 2.5, 1.5, 5, 3]))
    0.75
    """
    n, agreement, _, _, _ = _parts(sums)
    return ratio(agreement, n)


def fleiss_of(sums: ArrayLike) -> Floats:
    """Fleiss' kappa; in [-1, 1], ``nan`` where all ratings are the same.

    (p_a - p_e) / (1 - p_e), p_e = sum_k pi_k^2 of the mean shares, see `ragnb.stats.agreement.fleiss_kappa`.
    """
    n, _, _, shares, _ = _parts(sums)
    return _corrected(sums, (ratio(shares, n[..., None]) ** 2).sum(axis=-1))


def ac1_of(sums: ArrayLike) -> Floats:
    """Gwet's AC1; in [-1, 1], ``nan`` without items.

    (p_a - p_e) / (1 - p_e), p_e = sum_k pi_k (1 - pi_k) / (q - 1), see `ragnb.stats.agreement.gwet_ac`.
    """
    n, _, _, shares, _ = _parts(sums)
    pi = ratio(shares, n[..., None])
    return _corrected(sums, (pi * (1 - pi)).sum(axis=-1) / (pi.shape[-1] - 1))


def alpha_of(sums: ArrayLike) -> Floats:
    """Krippendorff's nominal alpha; at most 1, ``nan`` where all ratings are the same.

    1 - (N - 1) (N - sum_k o_kk) / (N^2 - sum_k n_k^2), see `ragnb.stats.agreement.krippendorff_alpha`.
    """
    _, _, coinciding, _, counts = _parts(sums)
    total = counts.sum(axis=-1)
    return 1 - ratio((total - 1) * (total - coinciding), total**2 - (counts**2).sum(axis=-1))


def kappa_of(tables: ArrayLike) -> Floats:
    """Cohen's kappa of tables of shape (..., q, q); in [-1, 1], ``nan`` where both use one and the same category.

    (p_o - p_e) / (1 - p_e), p_e from the two raters' own shares, see `ragnb.stats.agreement.cohen_kappa`.

    >>> round(float(kappa_of([[20, 5], [10, 15]])), 6)
    0.4
    """
    counts = np.asarray(tables, dtype=np.float64)
    n = counts.sum(axis=(-2, -1))
    observed = ratio(np.trace(counts, axis1=-2, axis2=-1), n)
    expected = ratio((counts.sum(axis=-1) * counts.sum(axis=-2)).sum(axis=-1), n * n)
    return ratio(observed - expected, 1 - expected)


RATER_COEFFICIENTS: dict[str, Callable[[ArrayLike], Floats]] = {
    "percent agreement": percent_of,
    "Fleiss' kappa": fleiss_of,
    "Gwet's AC1": ac1_of,
    "Krippendorff's alpha": alpha_of,
}
"""What treats all raters alike, as functions of `rater_sums`."""


def _parts(sums: ArrayLike) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    values = np.asarray(sums, dtype=np.float64)
    q = (values.shape[-1] - 3) // 2
    return values[..., 0], values[..., 1], values[..., 2], values[..., 3 : 3 + q], values[..., 3 + q :]


def _corrected(sums: ArrayLike, expected: Floats) -> Floats:
    return ratio(percent_of(sums) - expected, 1 - expected)


def _summed(values: Floats, clusters: ArrayLike | None) -> Floats:
    if clusters is None:
        return values
    codes, n_clusters = check_clusters(clusters, len(values))
    totals = np.zeros((n_clusters, values.shape[1]))
    np.add.at(totals, codes, values)
    return totals
