"""Coefficients of agreement between annotators, or between a judge and annotators.

`agreement_interval` computes a coefficient and its confidence interval from a table of ratings.
Each coefficient also has a function of its own, such as `cohen_kappa`, which takes the output of
`agreement_sums`.

`as_codes` and `agreement_interval` raise InputError for invalid arguments.

Cohen's kappa and Fleiss' kappa equal those of ``statsmodels.stats.inter_rater`` for complete ratings.
They are computed here because the jackknife needs the coefficient without each item or cluster, which
takes one call for all of them, and because statsmodels does not take missing ratings.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from ragnb.arguments import Floats, Integers, accepts, convert
from ragnb.errors import InputError
from ragnb.results import Interval
from ragnb.stats.intervals import jackknife_interval


def agreement_sums(codes: Integers, n_categories: int, clusters: Integers | None = None) -> Floats:
    """Sum the coincidence and confusion matrices of each cluster, from which the coefficients follow.

    `codes` has one row per item and one column per rater: categories from 0 to `n_categories` - 1 (q - 1),
    in ascending order if they are ordinal, or -1 if the rater did not rate the item. Categories that no
    rater chose affect only Gwet's AC1. If `clusters` is None, each item is its own cluster.
    The result has the shape (n_clusters, 3 q + 1, q), with the clusters in sorted order.

    >>> agreement_sums(np.array([[0, 1]]), 2).tolist()[0]
    [[0.0, 1.0], [1.0, 0.0], [0.0, 0.5], [0.5, 0.0], [0.0, 1.0], [0.0, 0.0], [0.5, 0.5]]
    """
    chosen = (codes[:, :, None] == np.arange(n_categories)).astype(np.float64)
    counts = chosen.sum(axis=1)
    raters = counts.sum(axis=1)[:, None, None]
    # Coincidence matrix: element (c, k) is the number of ordered pairs of raters of whom the first chose
    # category c and the second chose category k, divided by r - 1, where r is the number of ratings of
    # the item. It is 0 if r is 0 or 1.
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(n_categories)
    coincidences = pairs / np.maximum(raters - 1, 1)
    mean = coincidences / np.maximum(raters, 1)
    # Confusion matrix: the first rater is in the rows and the second in the columns.
    confusions = chosen[:, 0, :, None] * chosen[:, 1, None, :]
    # A single row: the proportion of the item's ratings that are in each category.
    shares = counts[:, None, :] / np.maximum(raters, 1)
    sums = np.concatenate([coincidences, mean, confusions, shares], axis=1)
    if clusters is None:
        return sums
    names, unit = np.unique(clusters, return_inverse=True)
    added = np.zeros((names.size, *sums.shape[1:]))
    np.add.at(added, unit, sums)
    return added


# ---- coefficients -------------------------------------------------------------------------------
# Each takes the output of `agreement_sums`, summed over clusters.


def as_sums(sums: ArrayLike) -> Floats:
    """Check that an array has the shape of the output of `agreement_sums`."""
    try:
        array = np.asarray(sums, dtype=np.float64)
    except (TypeError, ValueError):  # labels instead of sums
        array = np.empty(len(sums) if isinstance(sums, Sequence) else 0)
    if array.ndim < 2 or array.shape[-2] != 3 * array.shape[-1] + 1:
        raise InputError(
            "must be the output of agreement_sums, summed over clusters, got an array of shape "
            f"{array.shape}; for a table of ratings, use agreement_interval"
        )
    return array


@accepts(sums=as_sums)
def percent_agreement(sums: Floats) -> Floats:
    """Compute percent agreement: the proportion of rater pairs that agree, averaged over items.

    Items with fewer than two ratings are ignored. The coefficient is not corrected for chance.

    Parameters
    ----------
    sums : ndarray of shape (..., 3 * q + 1, q)
        Output of `agreement_sums` for q categories, summed over clusters.

    Returns
    -------
    float or ndarray of shape (...)
        The percent agreement, as a proportion in [0, 1]; higher is better. It is NaN if no item has
        two or more ratings.

    Examples
    --------
    >>> codes = np.array([[0, 0], [0, 1], [1, 1], [1, 1]])
    >>> float(percent_agreement(agreement_sums(codes, 2).sum(axis=0)))
    0.75
    """
    mean = _parts(sums)[1]
    return _ratio(np.trace(mean, axis1=-2, axis2=-1), mean.sum(axis=(-2, -1)))


@accepts(sums=as_sums)
def cohen_kappa(sums: Floats) -> Floats:
    """Compute Cohen's kappa, a chance-corrected agreement coefficient for two raters.

    kappa = (p_o - p_e) / (1 - p_e)

    Here p_o is the proportion of items on which the raters agree, p_e = sum_k p_1k p_2k is the
    agreement expected by chance, and p_rk is the proportion of items that rater r assigned to
    category k. Items that only one of the raters has rated are ignored.

    Parameters
    ----------
    sums : ndarray of shape (..., 3 * q + 1, q)
        Output of `agreement_sums` for q categories, summed over clusters. Only the first two raters
        are compared.

    Returns
    -------
    float or ndarray of shape (...)
        Kappa in [-1, 1]; higher is better, and 0 means agreement at chance level. It is NaN if no
        item has been rated by both raters or if all ratings are in the same category.

    References
    ----------
    .. [1] Cohen, J. (1960). A coefficient of agreement for nominal scales. Educ. Psychol. Meas. 20,
       37-46.

    Examples
    --------
    >>> codes = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], [20, 5, 10, 15], axis=0)
    >>> value = cohen_kappa(agreement_sums(codes, 2).sum(axis=0))  # (0.7 - 0.5) / (1 - 0.5)
    >>> round(float(value), 6)
    0.4
    """
    return _weighted(_parts(sums)[2], 1 - np.eye(sums.shape[-1]))


@accepts(sums=as_sums)
def quadratic_kappa(sums: Floats, grades: Floats | None = None) -> Floats:
    """Compute Cohen's kappa with quadratic weights for two raters.

    kappa = 1 - sum_ck f_ck (g_c - g_k)^2 / sum_ck e_ck (g_c - g_k)^2

    Here f_ck is the number of items that the first rater assigned to category c and the second
    rater to category k, and g_c is the grade of category c. The number expected by chance, e_ck, is
    computed from the row and column sums of f. Items that only one of the raters has rated are
    ignored. Categories that nobody chose have no effect.

    Parameters
    ----------
    sums : ndarray of shape (..., 3 * q + 1, q)
        Output of `agreement_sums` for q categories, summed over clusters. Only the first two raters
        are compared.
    grades : ndarray of shape (q,) or None, default=None
        Grade of each category. If None, the grades are 0, 1, ..., q - 1.

    Returns
    -------
    float or ndarray of shape (...)
        Kappa in [-1, 1]; higher is better, and 0 means agreement at chance level. It is NaN if no
        item has been rated by both raters or if all ratings are the same.

    References
    ----------
    .. [1] Cohen, J. (1968). Weighted kappa: Nominal scale agreement provision for scaled
       disagreement or partial credit. Psychol. Bull. 70, 213-220.

    Examples
    --------
    >>> codes = np.array([[0, 0], [1, 1], [2, 1], [3, 3]])
    >>> round(float(quadratic_kappa(agreement_sums(codes, 4).sum(axis=0))), 6)  # 1 - 1 / 10
    0.9
    """
    if grades is None:
        grades = np.arange(sums.shape[-1], dtype=np.float64)
    return _weighted(_parts(sums)[2], (grades[:, None] - grades) ** 2)


@accepts(sums=as_sums)
def fleiss_kappa(sums: Floats) -> Floats:
    """Compute Fleiss' kappa, a chance-corrected agreement coefficient for two or more raters.

    kappa = (p_o - p_e) / (1 - p_e)

    Here p_o is the percent agreement, p_e = sum_k pi_k^2 is the agreement expected by chance, and
    pi_k is the proportion of an item's ratings that are in category k, averaged over items. Items
    with a single rating affect pi_k but not p_o.

    Parameters
    ----------
    sums : ndarray of shape (..., 3 * q + 1, q)
        Output of `agreement_sums` for q categories, summed over clusters.

    Returns
    -------
    float or ndarray of shape (...)
        Kappa; higher is better, 1 means perfect agreement, and 0 means agreement at chance level.
        It is at least -1 unless some items have a single rating. It is NaN if all ratings are the
        same or if no item has two or more ratings.

    References
    ----------
    .. [1] Fleiss, J. L. (1971). Measuring nominal scale agreement among many raters. Psychol. Bull.
       76, 378-382.
    .. [2] Gwet, K. L. (2014). Handbook of Inter-Rater Reliability, 4th edition. Advanced Analytics.
       (Extension to missing ratings.)

    Examples
    --------
    >>> codes = np.array([[0, 0], [0, 1], [1, 1], [0, 1]])
    >>> float(fleiss_kappa(agreement_sums(codes, 2).sum(axis=0)))  # p_o = 0.5, p_e = 0.5
    0.0
    """
    return _beyond_chance(sums, lambda pi: pi**2)


@accepts(sums=as_sums)
def gwet_ac1(sums: Floats) -> Floats:
    """Compute Gwet's AC1, a chance-corrected agreement coefficient for two or more raters.

    AC1 = (p_o - p_e) / (1 - p_e)

    Here p_o is the percent agreement, p_e = sum_k pi_k (1 - pi_k) / (q - 1) is the agreement
    expected by chance, and q is the number of categories. As in `fleiss_kappa`, pi_k is the
    proportion of an item's ratings that are in category k, averaged over items. Items with a single
    rating affect pi_k but not p_o. AC1 is less sensitive than kappa to unequal category
    frequencies.

    Parameters
    ----------
    sums : ndarray of shape (..., 3 * q + 1, q)
        Output of `agreement_sums` for q >= 2 categories, summed over clusters.

    Returns
    -------
    float or ndarray of shape (...)
        AC1 in [-1, 1]; higher is better, and 0 means agreement at chance level. It is NaN if no
        item has two or more ratings.

    References
    ----------
    .. [1] Gwet, K. L. (2008). Computing inter-rater reliability and its variance in the presence of
       high agreement. Br. J. Math. Stat. Psychol. 61, 29-48.

    Examples
    --------
    >>> codes = np.array([[0, 0], [0, 1], [1, 1], [1, 1]])
    >>> value = gwet_ac1(agreement_sums(codes, 2).sum(axis=0))  # p_e = 2 * 0.375 * 0.625
    >>> round(float(value), 3)
    0.529
    """
    return _beyond_chance(sums, lambda pi: pi * (1 - pi) / (pi.shape[-1] - 1))


@accepts(sums=as_sums)
def krippendorff_alpha(sums: Floats) -> Floats:
    """Compute Krippendorff's alpha for nominal categories and any number of raters.

    alpha = 1 - (N - 1) (N - sum_k o_kk) / (N^2 - sum_k n_k^2)

    Here n_k is the number of ratings in category k, N is the total number of ratings, and o_kk is
    element (k, k) of the coincidence matrix (see `agreement_sums`). Items with fewer than two
    ratings are ignored.

    Parameters
    ----------
    sums : ndarray of shape (..., 3 * q + 1, q)
        Output of `agreement_sums` for q categories, summed over clusters.

    Returns
    -------
    float or ndarray of shape (...)
        Alpha in (-1, 1]; higher is better, 1 means perfect agreement, and 0 means agreement at
        chance level. It is NaN if all ratings are the same or if no item has two or more ratings.

    References
    ----------
    .. [1] Krippendorff, K. (2011). Computing Krippendorff's alpha-reliability. University of
       Pennsylvania.

    Examples
    --------
    >>> codes = np.array([[0, 0], [0, 1], [1, 1], [1, 1]])
    >>> value = krippendorff_alpha(agreement_sums(codes, 2).sum(axis=0))  # 1 - 7 * 2 / (64 - 34)
    >>> round(float(value), 3)
    0.533
    """
    return _weighted(_parts(sums)[0], 1 - np.eye(sums.shape[-1]), correction=1)


@accepts(sums=as_sums)
def ordinal_alpha(sums: Floats) -> Floats:
    """Compute Krippendorff's alpha for ordinal categories and any number of raters.

    alpha = 1 - (N - 1) sum_ck o_ck d_ck / sum_ck n_c n_k d_ck

    Here o_ck is element (c, k) of the coincidence matrix (see `agreement_sums`), n_c is the number
    of ratings in category c, and N is the total number of ratings. The ordinal difference function
    is d_cc = 0 and, for c < k, d_ck = d_kc = (n_c / 2 + n_(c+1) + ... + n_(k-1) + n_k / 2)^2. Items
    with fewer than two ratings are ignored.

    Parameters
    ----------
    sums : ndarray of shape (..., 3 * q + 1, q)
        Output of `agreement_sums` for q categories, summed over clusters.

    Returns
    -------
    float or ndarray of shape (...)
        Alpha in (-1, 1]; higher is better, 1 means perfect agreement, and 0 means agreement at
        chance level. It is NaN if all ratings are the same or if no item has two or more ratings.

    References
    ----------
    .. [1] Krippendorff, K. (2011). Computing Krippendorff's alpha-reliability. University of
       Pennsylvania.

    Examples
    --------
    >>> codes = np.array([[0, 0], [1, 1], [2, 1], [2, 2]])
    >>> value = ordinal_alpha(agreement_sums(codes, 3).sum(axis=0))  # n = 2, 3, 3
    >>> round(float(value), 3)  # 1 - 7 * 2 * 3**2 / (2 * (6 * 2.5**2 + 6 * 5.5**2 + 9 * 3**2))
    0.79
    """
    n = _parts(sums)[0].sum(axis=-1)
    middle = np.cumsum(n, axis=-1) - n / 2
    apart = (middle[..., :, None] - middle[..., None, :]) ** 2
    return _weighted(_parts(sums)[0], apart, correction=1)


def _parts(sums: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Coincidence matrix, coincidence matrix divided by r, confusion matrix and proportions."""
    q = sums.shape[-1]
    return sums[..., :q, :], sums[..., q : 2 * q, :], sums[..., 2 * q : -1, :], sums[..., -1, :]


def _weighted(matrix: Floats, weights: Floats, correction: int = 0) -> Floats:
    """One minus observed over expected disagreement, given weights for pairs of categories."""
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


# Name of each coefficient, as printed in tables, and the function that computes it.
COEFFICIENTS: dict[str, Callable[[Floats], Floats]] = {
    "percent agreement": percent_agreement,
    "Cohen's kappa": cohen_kappa,
    "Fleiss' kappa": fleiss_kappa,
    "Gwet's AC1": gwet_ac1,
    "Krippendorff's alpha": krippendorff_alpha,
    "ordinal alpha": ordinal_alpha,
    "quadratic kappa": quadratic_kappa,
}

# Names of the coefficients for ordinal ratings.
GRADED = ("ordinal alpha", "quadratic kappa")

# Names of the coefficients for exactly two raters.
OF_TWO = ("Cohen's kappa", "quadratic kappa")

# Smallest and largest possible value of each coefficient.
BOUNDS = dict.fromkeys(COEFFICIENTS, (-1.0, 1.0)) | {
    "percent agreement": (0.0, 1.0),
    "Fleiss' kappa": (-inf, 1.0),
}


# ---- intervals ----------------------------------------------------------------------------------


def as_codes(ratings: ArrayLike) -> Integers:
    """Number the distinct ratings 0, 1, ... in sorted order; the code of a missing rating is -1.

    `ratings` has one row per item and one column per rater, of whom there must be at least two.

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
    coefficient=tuple(COEFFICIENTS),
    ratings=partial(np.asarray, dtype=object),
    clusters="clusters",
    confidence_level="level",
)
def agreement_interval(
    coefficient: str,
    ratings: ArrayLike,
    clusters: Integers | None = None,
    *,
    confidence_level: float = 0.95,
) -> Interval:
    """Compute an agreement coefficient with a jackknife confidence interval.

    The jackknife leaves out one item at a time, or one cluster of items if `clusters` is given.
    Items without any rating are ignored. All coefficients except Fleiss' kappa and Gwet's AC1 also
    ignore items with a single rating.

    Parameters
    ----------
    coefficient : str
        One of {"percent agreement", "Cohen's kappa", "Fleiss' kappa", "Gwet's AC1",
        "Krippendorff's alpha", "ordinal alpha", "quadratic kappa"}. ``"ordinal alpha"`` is
        Krippendorff's alpha for ordinal data, and ``"quadratic kappa"`` is the quadratically
        weighted kappa. Cohen's kappa and the weighted kappa require exactly two raters.
    ratings : array-like of shape (n_items, n_raters)
        Numbers or labels, with None, NaN or NA for a missing rating. The categories are the
        distinct ratings. Ordinal alpha and quadratic kappa require numbers. Ordinal alpha uses only
        their order. Quadratic kappa uses their differences, so 2 and 4 are two grades apart even if
        nobody chose 3.
    clusters : array-like of shape (n_items,), default=None
        Cluster of each item, such as its question. If None, items are treated as independent.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, in (0, 1).

    Returns
    -------
    Interval
        The coefficient with its confidence limits, which are truncated to the range of the
        coefficient. Estimate and limits are NaN if the coefficient is undefined.
        See `ragnb.stats.intervals.jackknife_interval` for the cases in which only the limits are
        undefined. With fewer than 30 items (or clusters), the `method` attribute notes that the
        interval is too narrow.

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
    codes = convert(ratings, as_codes, "ratings")
    if coefficient in OF_TWO and codes.shape[1] != 2:
        raise InputError(f"{coefficient} is for two raters, got {codes.shape[1]}")
    labels = [rating for rating in np.ravel(ratings) if isinstance(rating, str)]
    if coefficient in GRADED and labels:
        raise InputError(
            f"{coefficient} needs ratings that are numbers, got {labels[0]!r}; "
            "replace the labels by numbers in the order of the grades"
        )
    needed = 1 if coefficient in ("Fleiss' kappa", "Gwet's AC1") else 2
    rated = (codes >= 0).sum(axis=1) >= needed
    n_categories = max(codes.max(initial=0) + 1, 2)  # AC1 divides by n_categories - 1
    units = None if clusters is None else clusters[rated]
    interval = jackknife_interval(
        _statistic(coefficient, ratings, n_categories),
        agreement_sums(codes[rated], n_categories, units),
        bounds=BOUNDS[coefficient],
        confidence_level=confidence_level,
    )
    return replace(interval, method=f"{coefficient}, {interval.method}")


def panel_intervals(
    coefficient: str, ratings: Floats, clusters: Integers | None, *, confidence_level: float
) -> dict[str, Interval]:
    """Mean agreement of the first rater with the others, and of the others with each other.

    A mean is one over pairs of raters. The result has the jackknife intervals of both means (``"with"`` and
    ``"between"``) and of the second minus the first (``"difference"``). They leave out one item or one cluster
    at a time. The arguments are those of `agreement_interval`, with three or more raters. Gwet's AC1 and Fleiss'
    kappa are not available, because their categories or their raters would be those of all pairs.

    >>> grades = np.array([[0, 1, 1], [1, 2, 2], [2, 2, 2], [0, 0, 1]])
    >>> found = panel_intervals("percent agreement", grades, None, confidence_level=0.95)
    >>> {name: interval.estimate for name, interval in found.items()}
    {'with': 0.375, 'between': 0.75, 'difference': 0.375}
    """
    codes = as_codes(ratings)
    rated = (codes >= 0).sum(axis=1) >= 2
    n_categories = max(codes.max(initial=0) + 1, 2)
    statistic = _statistic(coefficient, ratings, n_categories)
    units = None if clusters is None else clusters[rated]
    pairs = list(combinations(range(codes.shape[1]), 2))
    sums_of_pairs = [agreement_sums(codes[rated][:, pair], n_categories, units) for pair in pairs]
    # The second axis has the pairs. The statistic of each pair needs all of its sums.
    totals = np.stack(sums_of_pairs, axis=1)
    has_first = np.array([0 in pair for pair in pairs])

    def mean_with(sums: Floats) -> Floats:
        """Mean agreement of the pairs with the annotator."""
        return statistic(sums)[..., has_first].mean(axis=-1)

    def mean_between(sums: Floats) -> Floats:
        """Mean agreement of the pairs within the panel."""
        return statistic(sums)[..., ~has_first].mean(axis=-1)

    low, high = BOUNDS[coefficient]
    means = {"with": mean_with, "between": mean_between}
    intervals = {
        name: jackknife_interval(
            mean, totals, bounds=(low, high), confidence_level=confidence_level
        )
        for name, mean in means.items()
    }
    intervals["difference"] = jackknife_interval(
        lambda sums: mean_between(sums) - mean_with(sums),
        totals,
        bounds=(low - high, high - low),
        confidence_level=confidence_level,
    )
    return {
        name: replace(interval, method=f"{coefficient}, {interval.method}")
        for name, interval in intervals.items()
    }


def _statistic(
    coefficient: str, ratings: ArrayLike, n_categories: int
) -> Callable[[Floats], Floats]:
    """The function that computes a coefficient from sums of these ratings."""
    if coefficient == "quadratic kappa":
        return partial(quadratic_kappa, grades=_grades(ratings, n_categories))
    return COEFFICIENTS[coefficient]


def _grades(ratings: ArrayLike, n_categories: int) -> Floats:
    """Grade of each category, in the order of the codes; another one if there is only one."""
    import pandas as pd

    present_ratings = [float(rating) for rating in np.ravel(ratings) if not pd.isna(rating)]
    grades = np.unique(present_ratings)
    missing = n_categories - grades.size
    return np.append(grades, grades.max(initial=0.0) + 1 + np.arange(missing))
