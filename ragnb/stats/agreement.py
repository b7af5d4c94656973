"""Agreement of annotators with each other, or of a judge with annotators.

Every coefficient is a function of sums over items, which `agreement_sums` computes. The sums of any
set of items can be added up. One jackknife interval, which leaves out one item or one cluster of
items at a time, therefore serves all coefficients.

All functions raise InputError for arguments outside the stated range.
"""

from collections.abc import Callable
from dataclasses import replace
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from ragnb.arguments import Floats, Integers, accepts
from ragnb.errors import InputError
from ragnb.results import Interval
from ragnb.stats.intervals import jackknife_interval


def agreement_sums(codes: Integers, n_categories: int, clusters: Integers | None = None) -> Floats:
    """Compute per-cluster sums that are sufficient for all agreement coefficients.

    Parameters
    ----------
    codes : array of int, shape (n_items, n_raters)
        Categories as numbers 0, 1, ..., n_categories - 1, and -1 where a rater did not rate an
        item. Grades are numbered in their order.
    n_categories : int
        Number q of categories, which may include categories that nobody chose.
    clusters : array of shape (n_items,), optional
        Cluster of each item. By default each item is its own cluster.

    Returns
    -------
    ndarray of shape (n_clusters, 3 q + 1, q)
        Sums over the items of a cluster. An item has r ratings, n_k of them in category k. The
        first q rows are its coincidence matrix, the ordered pairs of ratings by different raters
        divided by r - 1; the next q rows are this matrix divided by r; then follows the confusion
        matrix of the first two raters. The last row has the shares n_k / r.

    Examples
    --------
    >>> agreement_sums(np.array([[0, 1]]), 2).tolist()[0]
    [[0.0, 1.0], [1.0, 0.0], [0.0, 0.5], [0.5, 0.0], [0.0, 1.0], [0.0, 0.0], [0.5, 0.5]]
    """
    chosen = (codes[:, :, None] == np.arange(n_categories)).astype(np.float64)
    counts = chosen.sum(axis=1)
    raters = counts.sum(axis=1)[:, None, None]
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(n_categories)
    coincidences = pairs / np.maximum(raters - 1, 1)
    mean = coincidences / np.maximum(raters, 1)
    confusions = chosen[:, 0, :, None] * chosen[:, 1, None, :]
    shares = counts[:, None, :] / np.maximum(raters, 1)
    sums = np.concatenate([coincidences, mean, confusions, shares], axis=1)
    if clusters is None:
        return sums
    names, unit = np.unique(clusters, return_inverse=True)
    added = np.zeros((names.size, *sums.shape[1:]))
    np.add.at(added, unit, sums)
    return added


# ---- coefficients -------------------------------------------------------------------------------
# Each takes the result of `agreement_sums`, added up over clusters.


def percent_agreement(sums: Floats) -> Floats:
    """Proportion of rater pairs that agree on an item, averaged over items.

    It is in [0, 1] and is not corrected for chance. It is NaN if no item has two ratings.
    """
    mean = _parts(sums)[1]
    return _ratio(np.trace(mean, axis1=-2, axis2=-1), mean.sum(axis=(-2, -1)))


def cohen_kappa(sums: Floats) -> Floats:
    """Cohen's kappa: agreement of two raters beyond chance, given their marginal distributions.

    kappa = (p_o - p_e) / (1 - p_e), where p_o is the observed agreement, p_e = sum_k p_1k p_2k the
    agreement expected by chance, and p_rk the proportion of category k among the ratings of rater
    r. It is in [-1, 1]. It is 0 if the agreement is as expected by chance, and NaN if both raters
    put every item into the same category.

    References
    ----------
    .. [1] Cohen, J. (1960). A coefficient of agreement for nominal scales. Educ. Psychol. Meas. 20,
       37-46.

    Examples
    --------
    >>> codes = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], [20, 5, 10, 15], axis=0)
    >>> round(float(cohen_kappa(agreement_sums(codes, 2).sum(axis=0))), 6)
    0.4
    """
    return _weighted(_parts(sums)[2], 1 - np.eye(sums.shape[-1]))


def quadratic_kappa(sums: Floats) -> Floats:
    """Cohen's kappa of two raters with quadratic weights, for equally spaced grades.

    kappa = 1 - sum_ck f_ck (c - k)^2 / sum_ck e_ck (c - k)^2, where f is the confusion matrix and e
    the one expected from its margins. It is in [-1, 1], 0 if the agreement is as expected by
    chance, and NaN if both raters use one grade, the same one.

    References
    ----------
    .. [1] Cohen, J. (1968). Weighted kappa. Psychol. Bull. 70, 213-220.
    """
    grades = np.arange(sums.shape[-1], dtype=np.float64)
    return _weighted(_parts(sums)[2], (grades[:, None] - grades) ** 2)


def fleiss_kappa(sums: Floats) -> Floats:
    """Fleiss' kappa: agreement of several raters beyond chance, given the pooled distribution.

    kappa = (p_o - p_e) / (1 - p_e), where p_o is the observed agreement, p_e = sum_k pi_k^2 the
    agreement expected by chance, and pi_k the proportion of ratings in category k, averaged over
    items. Items with a single rating contribute to pi_k only. Kappa is in [-1, 1]. It is 0 if the
    agreement is as expected by chance, and NaN if all ratings are the same.

    References
    ----------
    .. [1] Fleiss, J. L. (1971). Measuring nominal scale agreement among many raters. Psychol. Bull.
       76, 378-382.
    .. [2] Gwet, K. L. (2014). Handbook of Inter-Rater Reliability, 4th edition (for missing
       ratings).
    """
    return _beyond_chance(sums, lambda pi: pi**2)


def gwet_ac1(sums: Floats) -> Floats:
    """Gwet's AC1: agreement beyond chance that is less affected by skewed categories than kappa.

    AC1 = (p_o - p_e) / (1 - p_e), where p_o is the observed agreement, p_e = sum_k pi_k (1 - pi_k)
    / (q - 1) the agreement expected by chance, pi_k the proportion of ratings in category k,
    averaged over items, and q the number of categories, at least 2. It is in [-1, 1]. It is 0 if
    the agreement is as expected by chance, and NaN if no item has two ratings. Items with a single
    rating contribute to pi_k only.

    References
    ----------
    .. [1] Gwet, K. L. (2008). Computing inter-rater reliability and its variance in the presence of
       high agreement. Br. J. Math. Stat. Psychol. 61, 29-48.
    """
    return _beyond_chance(sums, lambda pi: pi * (1 - pi) / (pi.shape[-1] - 1))


def krippendorff_alpha(sums: Floats) -> Floats:
    """Krippendorff's alpha for nominal data: 1 - observed disagreement / expected disagreement.

    alpha = 1 - (N - 1) (N - sum_k o_kk) / (N^2 - sum_k n_k^2), where n_k is the number of ratings
    in category k, N is the sum of the n_k, and o_kk are the diagonal elements of the coincidence
    matrix. Only items with at least two ratings count. Alpha is at most 1. It is 0 if the agreement
    is as expected by chance, and NaN if all ratings are the same.

    References
    ----------
    .. [1] Krippendorff, K. (2011). Computing Krippendorff's alpha-reliability. University of
       Pennsylvania.
    """
    return _weighted(_parts(sums)[0], 1 - np.eye(sums.shape[-1]), correction=1)


def ordinal_alpha(sums: Floats) -> Floats:
    """Krippendorff's alpha for ordinal data; a disagreement is weighted by the ratings in between.

    alpha = 1 - (N - 1) sum_ck o_ck d_ck / sum_ck n_c n_k d_ck, where o is the coincidence matrix,
    n_c its row sums, N their sum, and d_ck = (n_c / 2 + n_c+1 + ... + n_k-1 + n_k / 2)^2. Alpha is
    at most 1. It is 0 if the agreement is as expected by chance, and NaN if all ratings are the
    same.

    References
    ----------
    .. [1] Krippendorff, K. (2011). Computing Krippendorff's alpha-reliability. University of
       Pennsylvania.
    """
    n = _parts(sums)[0].sum(axis=-1)
    middle = np.cumsum(n, axis=-1) - n / 2
    apart = (middle[..., :, None] - middle[..., None, :]) ** 2
    return _weighted(_parts(sums)[0], apart, correction=1)


def _parts(sums: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Coincidence matrix, mean coincidence matrix, confusion matrix and shares."""
    q = sums.shape[-1]
    return sums[..., :q, :], sums[..., q : 2 * q, :], sums[..., 2 * q : -1, :], sums[..., -1, :]


def _weighted(matrix: Floats, weights: Floats, correction: int = 0) -> Floats:
    """One minus the observed disagreement divided by that expected from the margins of a matrix."""
    first, second = matrix.sum(axis=-1), matrix.sum(axis=-2)
    expected = (first[..., :, None] * second[..., None, :] * weights).sum(axis=(-2, -1))
    total = first.sum(axis=-1) - correction
    return 1 - total * _ratio((matrix * weights).sum(axis=(-2, -1)), expected)


def _beyond_chance(sums: Floats, chance: Callable[[Floats], Floats]) -> Floats:
    shares = _parts(sums)[3]
    expected = chance(_ratio(shares, shares.sum(axis=-1, keepdims=True))).sum(axis=-1)
    return _ratio(percent_agreement(sums) - expected, 1 - expected)


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Divide, with NaN where the denominator is 0 up to rounding error."""
    return np.divide(numerator, np.where(np.abs(denominator) > 1e-12, denominator, np.nan))


COEFFICIENTS: dict[str, Callable[[Floats], Floats]] = {
    "percent agreement": percent_agreement,
    "Cohen's kappa": cohen_kappa,
    "Fleiss' kappa": fleiss_kappa,
    "Gwet's AC1": gwet_ac1,
    "Krippendorff's alpha": krippendorff_alpha,
    "ordinal alpha": ordinal_alpha,
    "quadratic kappa": quadratic_kappa,
}
"""Name of a coefficient, as printed in tables -> the function that computes it."""

GRADED = ("ordinal alpha", "quadratic kappa")
"""The coefficients of graded ratings."""

OF_TWO = ("Cohen's kappa", "quadratic kappa")
"""The coefficients of two raters."""

BOUNDS = dict.fromkeys(COEFFICIENTS, (-1.0, 1.0)) | {
    "percent agreement": (0.0, 1.0),
    "Krippendorff's alpha": (-inf, 1.0),
    "ordinal alpha": (-inf, 1.0),
}
"""The smallest and the largest possible value of each coefficient."""


# ---- intervals ----------------------------------------------------------------------------------


def as_codes(ratings: ArrayLike) -> Integers:
    """Number the distinct ratings from 0 in sorted order; -1 is a missing one (None, NaN or NA).

    >>> as_codes([["yes", "no"], [None, "yes"]])
    array([[ 1,  0],
           [-1,  1]])
    """
    import pandas as pd

    table = np.asarray(ratings, dtype=object)
    if table.ndim != 2 or table.shape[1] < 2:
        raise InputError(
            "must have one row per item and a column for each of two or more raters, "
            f"got shape {table.shape}"
        )
    codes, _ = pd.factorize(table.ravel(), sort=True)
    return codes.reshape(table.shape)


@accepts(
    coefficient=tuple(COEFFICIENTS), ratings=as_codes, clusters="clusters", confidence_level="level"
)
def agreement_interval(
    coefficient: str,
    ratings: Integers,
    clusters: Integers | None = None,
    *,
    confidence_level: float = 0.95,
) -> Interval:
    """Agreement coefficient with a jackknife confidence interval.

    The jackknife leaves out one unit at a time: an item, or a cluster of items. The estimate is NaN
    if the coefficient is undefined. The limits are NaN if the standard error cannot be estimated.
    This is so if there are fewer than two units, if the coefficient is undefined without one of the
    units, or if leaving out a unit never changes it. Items with too few ratings for the coefficient
    are ignored. They are not counted in n, the number of units.

    Parameters
    ----------
    coefficient : str
        A name in `COEFFICIENTS`. Cohen's kappa and the quadratic kappa require exactly two raters.
    ratings : array_like of shape (n_items, n_raters)
        Ratings, as numbers or labels, with NaN or None where a rater did not rate an item. The
        categories are the distinct ratings. For the ordinal alpha and the quadratic kappa, they are
        ordered by value and replaced by their ranks among the grades that occur. With the grades 1,
        2 and 4, the distance from 2 to 4 is therefore 1.
    clusters : array_like of shape (n_items,), optional
        Cluster of each item, such as its question. By default, items are treated as independent.
    confidence_level : float, default 0.95
        Nominal coverage.

    References
    ----------
    .. [1] Efron, B. & Tibshirani, R. J. (1993). An Introduction to the Bootstrap, chapter 11.

    Examples
    --------
    >>> ratings = [["yes", "yes"]] * 118 + [["yes", "no"]] * 5 + [["no", "yes"]] * 2
    >>> print(agreement_interval("Gwet's AC1", ratings))
    0.941 [0.895, 0.986] (95% Gwet's AC1, jackknife t, n = 125)
    >>> print(agreement_interval("Cohen's kappa", ratings))
    -0.023 [-0.052, 0.005] (95% Cohen's kappa, jackknife t, n = 125)
    """
    if coefficient in OF_TWO and ratings.shape[1] != 2:
        raise InputError(f"{coefficient} is for two raters, got {ratings.shape[1]}")
    needed = 1 if coefficient in ("Fleiss' kappa", "Gwet's AC1") else 2
    rated = (ratings >= 0).sum(axis=1) >= needed
    n_categories = max(ratings.max(initial=0) + 1, 2)  # AC1 divides by the number minus 1
    units = None if clusters is None else clusters[rated]
    found = jackknife_interval(
        COEFFICIENTS[coefficient],
        agreement_sums(ratings[rated], n_categories, units),
        bounds=BOUNDS[coefficient],
        confidence_level=confidence_level,
    )
    return replace(found, method=f"{coefficient}, {found.method}")
