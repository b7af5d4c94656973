"""Agreement of annotators with each other, or of a judge with annotators.

Every coefficient is a function of sums over items, which `agreement_sums` computes. The sums of any
set of items can be added up. One jackknife interval, which leaves out one item or one cluster of
items at a time, therefore serves all coefficients.

All functions raise InputError for arguments outside the stated range.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from ragnb.arguments import Floats, Integers, accepts
from ragnb.errors import InputError
from ragnb.results import Interval
from ragnb.stats.intervals import jackknife_interval

# ---- sums over items ----------------------------------------------------------------------------


def agreement_sums(codes: Integers, n_categories: int, clusters: Integers | None = None) -> Floats:
    """Compute per-cluster sums that are sufficient for all agreement coefficients.

    Parameters
    ----------
    codes : array of int, shape (n_items, n_raters)
        Categories as numbers 0, 1, ..., n_categories - 1, and -1 where a rater did not rate an
        item.
    n_categories : int
        Number of categories, which may include categories that nobody chose.
    clusters : array of shape (n_items,), optional
        Cluster of each item. By default each item is its own cluster.

    Returns
    -------
    ndarray of shape (n_clusters, 4 + 4 * n_categories)
        Sums over the items i of a cluster. Item i has r_i ratings; n_ik of them are in category k.
        Let a_i = sum_k n_ik (n_ik - 1) / (r_i - 1). The first four columns are the number of items
        with r_i >= 1, the number of items with r_i >= 2, the sum of a_i / r_i and the sum of a_i.
        Four blocks with one column per category k follow: the sum of n_ik / r_i, the sum of n_ik
        over items with r_i >= 2, and the numbers of items rated by both of the first two raters on
        which the first rater, and on which the second rater, chose k.

    Examples
    --------
    >>> agreement_sums(np.array([[0, 0], [0, 1], [1, -1]]), 2)
    array([[1. , 1. , 1. , 2. , 1. , 0. , 2. , 0. , 1. , 0. , 1. , 0. ],
           [1. , 1. , 0. , 0. , 0.5, 0.5, 1. , 1. , 1. , 0. , 0. , 1. ],
           [1. , 0. , 0. , 0. , 0. , 1. , 0. , 0. , 0. , 0. , 0. , 0. ]])
    """
    chosen = codes[:, :, None] == np.arange(n_categories)
    counts = chosen.sum(axis=1)
    raters = counts.sum(axis=1, keepdims=True)
    paired, both = raters >= 2, (codes[:, :2] >= 0).all(axis=1, keepdims=True)
    agreeing = (counts * (counts - 1)).sum(axis=1, keepdims=True) / np.maximum(raters - 1, 1)
    columns = [
        raters >= 1,
        paired,
        agreeing / np.maximum(raters, 1),
        agreeing,
        counts / np.maximum(raters, 1),
        counts * paired,
        chosen[:, 0] & both,
        chosen[:, 1] & both,
    ]
    sums = np.hstack(columns).astype(np.float64)
    if clusters is None:
        return sums
    units = np.unique(clusters, return_inverse=True)[1]
    return np.stack([np.bincount(units, column) for column in sums.T], axis=1)


# ---- coefficients -------------------------------------------------------------------------------


def percent_agreement(sums: Floats) -> Floats:
    """Proportion of rater pairs that agree on an item, averaged over items.

    It is in [0, 1] and is not corrected for chance. It is NaN if no item has two ratings. `sums` is
    the result of `agreement_sums`, added up over clusters.
    """
    return _ratio(sums[..., 2], sums[..., 1])


def cohen_kappa(sums: Floats) -> Floats:
    """Cohen's kappa: agreement of two raters beyond chance, given their marginal distributions.

    kappa = (p_o - p_e) / (1 - p_e), where p_o is the observed agreement, p_e = sum_k p_1k p_2k the
    agreement expected by chance, and p_rk the proportion of category k among the ratings of rater
    r. It is in [-1, 1]. It is 0 if the agreement is as expected by chance, and NaN if both raters
    use a single category, the same one.

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
    _, _, first, second = _blocks(sums)
    n = sums[..., 1]
    return _beyond_chance(sums, _ratio((first * second).sum(axis=-1), n * n))


def fleiss_kappa(sums: Floats) -> Floats:
    """Fleiss' kappa: agreement of several raters beyond chance, given the pooled distribution.

    kappa = (p_o - p_e) / (1 - p_e), where p_o is the observed agreement, p_e = sum_k pi_k^2 the
    agreement expected by chance, and pi_k the proportion of ratings in category k, averaged over
    items. Items with a single rating contribute to pi_k only. Kappa is in [-1, 1]. It is 0 if the
    agreement is as expected by chance, and NaN if all ratings are the same. `sums` is the result of
    `agreement_sums`, added up over clusters.

    References
    ----------
    .. [1] Fleiss, J. L. (1971). Measuring nominal scale agreement among many raters. Psychol. Bull.
       76, 378-382.
    .. [2] Gwet, K. L. (2014). Handbook of Inter-Rater Reliability, 4th edition (for missing
       ratings).
    """
    return _beyond_chance(sums, (_mean_shares(sums) ** 2).sum(axis=-1))


def gwet_ac1(sums: Floats) -> Floats:
    """Gwet's AC1: agreement beyond chance that is less affected by skewed categories than kappa.

    AC1 = (p_o - p_e) / (1 - p_e), where p_o is the observed agreement, p_e = sum_k pi_k (1 - pi_k)
    / (q - 1) the agreement expected by chance, pi_k the proportion of ratings in category k,
    averaged over items, and q the number of categories, at least 2. It is in [-1, 1]. It is 0 if
    the agreement is as expected by chance, and NaN if no item has two ratings. Items with a single
    rating contribute to pi_k only. `sums` is the result of `agreement_sums`, added up over clusters.

    References
    ----------
    .. [1] Gwet, K. L. (2008). Computing inter-rater reliability and its variance in the presence of
       high agreement. Br. J. Math. Stat. Psychol. 61, 29-48.
    """
    pi = _mean_shares(sums)
    return _beyond_chance(sums, (pi * (1 - pi)).sum(axis=-1) / (pi.shape[-1] - 1))


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
    _, ratings, _, _ = _blocks(sums)
    n = ratings.sum(axis=-1)
    return 1 - _ratio((n - 1) * (n - sums[..., 3]), n**2 - (ratings**2).sum(axis=-1))


def graded_sums(codes: Integers, n_grades: int, clusters: Integers | None = None) -> Floats:
    """Compute per-cluster sums that are sufficient for the coefficients of graded ratings.

    Parameters
    ----------
    codes, clusters
        As in `agreement_sums`; the codes 0, 1, ... are in the order of the grades.
    n_grades : int
        Number of grades.

    Returns
    -------
    ndarray of shape (n_clusters, 2 * n_grades ** 2)
        The coincidence matrix of all raters, then the confusion matrix of the first two, each
        summed over the items of a cluster and written row by row.

    Examples
    --------
    >>> graded_sums(np.array([[0, 1], [1, 1]]), 2)
    array([[0., 1., 1., 0., 0., 1., 0., 0.],
           [0., 0., 0., 2., 0., 0., 0., 1.]])
    """
    chosen = (codes[:, :, None] == np.arange(n_grades)).astype(np.float64)
    counts = chosen.sum(axis=1)
    raters = counts.sum(axis=1)[:, None, None]
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(n_grades)
    coincidences = np.where(raters > 1, pairs / np.maximum(raters - 1, 1), 0.0)
    confusions = chosen[:, 0, :, None] * chosen[:, 1, None, :]
    sums = np.stack([coincidences, confusions], axis=1).reshape(len(codes), 2 * n_grades**2)
    if clusters is None:
        return sums
    units = np.unique(clusters, return_inverse=True)[1]
    return np.stack([np.bincount(units, column) for column in sums.T], axis=1)


def ordinal_alpha(sums: Floats) -> Floats:
    """Krippendorff's alpha for ordinal data, which weights disagreements by the ratings in between.

    alpha = 1 - (N - 1) sum_ck o_ck d_ck / sum_ck n_c n_k d_ck, where o is the coincidence matrix,
    n_c its row sums, N their sum, and d_ck = (n_c / 2 + n_c+1 + ... + n_k-1 + n_k / 2)^2. Alpha is
    at most 1. It is 0 if the agreement is as expected by chance, and NaN if all ratings are the
    same. `sums` is the result of `graded_sums`, added up over clusters.

    References
    ----------
    .. [1] Krippendorff, K. (2011). Computing Krippendorff's alpha-reliability. University of
       Pennsylvania.
    """
    coincidences = _matrices(sums)[0]
    n = coincidences.sum(axis=-1)
    middle = np.cumsum(n, axis=-1) - n / 2
    distance = (middle[..., :, None] - middle[..., None, :]) ** 2
    expected = (n[..., :, None] * n[..., None, :] * distance).sum(axis=(-2, -1))
    observed = (coincidences * distance).sum(axis=(-2, -1))
    return 1 - _ratio((n.sum(axis=-1) - 1) * observed, expected)


def quadratic_kappa(sums: Floats) -> Floats:
    """Cohen's kappa of two raters with quadratic weights, for grades at equal distances.

    kappa = 1 - sum_ck f_ck (c - k)^2 / sum_ck e_ck (c - k)^2, where f is the confusion matrix and e
    the one expected from its margins. It is in [-1, 1], 0 if the agreement is as expected by
    chance, and NaN if both raters use one grade, the same one.

    References
    ----------
    .. [1] Cohen, J. (1968). Weighted kappa. Psychol. Bull. 70, 213-220.
    """
    confusions = _matrices(sums)[1]
    grades = np.arange(confusions.shape[-1])
    weights = (grades[:, None] - grades) ** 2
    first, second = confusions.sum(axis=-1), confusions.sum(axis=-2)
    expected = first[..., :, None] * second[..., None, :]
    n = first.sum(axis=-1)
    return 1 - _ratio(
        n * (confusions * weights).sum(axis=(-2, -1)), (expected * weights).sum(axis=(-2, -1))
    )


GRADED: dict[str, Callable[[Floats], Floats]] = {
    "ordinal alpha": ordinal_alpha,
    "quadratic kappa": quadratic_kappa,
}
"""Coefficients of graded ratings: name -> the function that computes it from `graded_sums`."""

COEFFICIENTS: dict[str, Callable[[Floats], Floats]] = {
    "percent agreement": percent_agreement,
    "Cohen's kappa": cohen_kappa,
    "Fleiss' kappa": fleiss_kappa,
    "Gwet's AC1": gwet_ac1,
    "Krippendorff's alpha": krippendorff_alpha,
}
"""Name of a coefficient, as printed in tables -> the function that computes it."""

BOUNDS = dict.fromkeys(COEFFICIENTS, (-1.0, 1.0)) | {
    "percent agreement": (0.0, 1.0),
    "Krippendorff's alpha": (-inf, 1.0),
    "ordinal alpha": (-inf, 1.0),
    "quadratic kappa": (-1.0, 1.0),
}
"""The smallest and the largest possible value of each coefficient."""


def _blocks(sums: Floats) -> Floats:
    """Return the four blocks of `agreement_sums` that have one number per category."""
    return np.moveaxis(sums[..., 4:].reshape(*sums.shape[:-1], 4, -1), -2, 0)


def _matrices(sums: Floats) -> Floats:
    """Return the two matrices of `graded_sums`."""
    n_grades = math.isqrt(sums.shape[-1] // 2)
    return np.moveaxis(sums.reshape(*sums.shape[:-1], 2, n_grades, n_grades), -3, 0)


def _mean_shares(sums: Floats) -> Floats:
    return _ratio(_blocks(sums)[0], sums[..., :1])


def _beyond_chance(sums: Floats, expected: Floats) -> Floats:
    return _ratio(percent_agreement(sums) - expected, 1 - expected)


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Divide, with NaN where the denominator is 0 up to rounding error."""
    return np.divide(numerator, np.where(np.abs(denominator) > 1e-12, denominator, np.nan))


# ---- intervals ----------------------------------------------------------------------------------


def as_codes(ratings: ArrayLike) -> Integers:
    """Number the categories of ratings from 0, with -1 for a missing rating (None, NaN or NA).

    >>> as_codes([["yes", "no"], [None, "yes"]])
    array([[ 0,  1],
           [-1,  0]])
    """
    import pandas as pd

    table = np.asarray(ratings, dtype=object)
    if table.ndim != 2 or table.shape[1] < 2:
        raise InputError(
            "must have one row per item and a column for each of two or more raters, "
            f"got shape {table.shape}"
        )
    codes, _ = pd.factorize(table.ravel())
    return codes.reshape(table.shape)


def as_grades(ratings: ArrayLike) -> Integers:
    """Number the distinct values of graded ratings in their order, with -1 for a missing rating.

    >>> as_grades([[4, 1], [None, 2]])
    array([[ 2,  0],
           [-1,  1]])
    """
    table = np.asarray(ratings, dtype=np.float64)
    codes = np.unique(table[~np.isnan(table)]).searchsorted(table)
    return np.where(np.isnan(table), -1, codes)


@accepts(
    coefficient=tuple(GRADED), ratings=as_grades, clusters="clusters", confidence_level="level"
)
def graded_agreement_interval(
    coefficient: str,
    ratings: Integers,
    clusters: Integers | None = None,
    *,
    confidence_level: float = 0.95,
) -> Interval:
    """Agreement coefficient of graded ratings, such as 1 to 4, with a jackknife interval.

    Parameters
    ----------
    coefficient : {"ordinal alpha", "quadratic kappa"}
        `ordinal_alpha` takes any number of raters, and items that some of them did not rate.
        `quadratic_kappa` compares the first two.
    ratings : array_like of shape (n_items, n_raters)
        Grades as numbers, with NaN where a rater did not rate an item. Grades that nobody gave do
        not count as grades in between.
    clusters, confidence_level
        As in `agreement_interval`, which explains when the limits are undefined.

    Examples
    --------
    >>> print(graded_agreement_interval("ordinal alpha", [[1, 1], [2, 2], [3, 3], [4, 3]]))
    0.910 [0.359, 1.000] (95% ordinal alpha, jackknife t (fewer than 30 units: too narrow), n = 4)
    """
    rated = (ratings[:, :2] >= 0).all(axis=1)
    if coefficient == "ordinal alpha":
        rated = (ratings >= 0).sum(axis=1) >= 2
    found = jackknife_interval(
        GRADED[coefficient],
        graded_sums(
            ratings[rated],
            ratings.max(initial=0) + 1,
            None if clusters is None else clusters[rated],
        ),
        bounds=BOUNDS[coefficient],
        confidence_level=confidence_level,
    )
    return replace(found, method=f"{coefficient}, {found.method}")


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
        A name in `COEFFICIENTS`. Cohen's kappa requires exactly two raters.
    ratings : array_like of shape (n_items, n_raters)
        Ratings, as numbers or labels, with NaN or None where a rater did not rate an item. The
        categories are the distinct ratings.
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
    if coefficient == "Cohen's kappa" and ratings.shape[1] != 2:
        raise InputError(f"Cohen's kappa is for two raters, got {ratings.shape[1]}")
    needed = 1 if coefficient in ("Fleiss' kappa", "Gwet's AC1") else 2
    rated = (ratings >= 0).sum(axis=1) >= needed
    found = jackknife_interval(
        COEFFICIENTS[coefficient],
        agreement_sums(
            ratings[rated],
            max(ratings.max(initial=0) + 1, 2),  # AC1 divides by the number of categories minus 1
            None if clusters is None else clusters[rated],
        ),
        bounds=BOUNDS[coefficient],
        confidence_level=confidence_level,
    )
    return replace(found, method=f"{coefficient}, {found.method}")
