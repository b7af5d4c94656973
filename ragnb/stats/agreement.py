"""Agreement of annotators, or of a judge with annotators: percent agreement and chance-corrected coefficients.

`ratings` is always items x raters: numbers or labels, with ``nan`` or None where a rater left an item out.
"""

from collections.abc import Sequence
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from ragnb.errors import InputError, check_choice
from ragnb.results import Interval
from ragnb.stats.checks import Floats, check_count, check_level, undefined_interval
from ragnb.stats.numerics import normal_quantile, t_quantile
from ragnb.stats.ratings import count_ratings, encode_ratings

WEIGHTS = ("identity", "linear", "quadratic")
LEVELS = ("nominal", "ordinal", "interval", "ratio")


def percent_agreement(ratings: ArrayLike, *, confidence_level: float = 0.95) -> Interval:
    """Share of rater pairs that agree on an item, averaged over items.

    In [0, 1]; not corrected for chance; ``nan`` when no item has two ratings. Interval: t over items, clipped.

    Parameters
    ----------
    ratings : array_like of shape (n_items, n_raters)
        Numbers or labels; ``nan`` or None where missing. Items with one rating are left out.
    confidence_level : float, default 0.95
        Nominal coverage.

    Raises
    ------
    InputError
        If the shape is wrong or the level is not in (0, 1).

    References
    ----------
    Gwet, K. L. (2014). Handbook of Inter-Rater Reliability, 4th edition, chapter 2.

    Examples
    --------
    >>> percent_agreement([[1, 1], [0, 1], [0, 0], [1, 1]]).estimate
    0.75
    """
    level = check_level(confidence_level)
    counts, _ = count_ratings(ratings, None)
    agreement = _item_agreement(counts[counts.sum(axis=1) >= 2], np.eye(counts.shape[1]))
    estimate = float(agreement.mean()) if agreement.size else float("nan")
    return _interval_over_items(agreement, estimate, level, "percent agreement, t over items", (0.0, 1.0))


def cohen_kappa(
    first: ArrayLike,
    second: ArrayLike,
    *,
    weights: str = "identity",
    categories: Sequence[object] | None = None,
    confidence_level: float = 0.95,
) -> Interval:
    """Cohen's kappa, plain or weighted: agreement of two raters beyond that of their two marginals.

    In [-1, 1], 0 at chance; ``nan`` when both raters use one and the same category throughout. Interval: asymptotic
    normal with the large-sample variance, clipped.

    Parameters
    ----------
    first, second : array_like of shape (n,)
        The two raters' labels on the same items; items that either left out (``nan`` or None) are dropped.
    weights : {"identity", "linear", "quadratic"}
        Partial credit by distance in the order of the categories.
    categories : sequence, optional
        The categories in their order; by default those seen, sorted.
    confidence_level : float, default 0.95
        Nominal coverage.

    Raises
    ------
    InputError
        If the lengths differ, a label is not among `categories`, or an option is unknown.

    Notes
    -----
    (p_o - p_e) / (1 - p_e) with weighted observed and expected agreement. A high rate of agreement with lopsided
    marginals can give a kappa near or below 0; see `gwet_ac`.

    References
    ----------
    Cohen, J. (1960). A coefficient of agreement for nominal scales. Educ. Psychol. Meas. 20, 37-46. Fleiss, J. L.,
    Cohen, J. & Everitt, B. S. (1969). Large sample standard errors of kappa and weighted kappa. Psychol. Bull. 72,
    323-327.

    Examples
    --------
    >>> print(cohen_kappa([1] * 25 + [0] * 25, [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15))
    0.400 [0.151, 0.649] (95% Cohen's kappa (identity weights), asymptotic normal, n = 50)
    """
    level = check_level(confidence_level)
    left, right = np.asarray(first, dtype=object), np.asarray(second, dtype=object)
    if left.shape != right.shape or left.ndim != 1:
        raise InputError(
            f"Cohen's kappa needs one label of each rater per item; it got shapes {left.shape} and {right.shape}; "
            "align them by item id first."
        )
    codes, names = encode_ratings(np.column_stack([left, right]), categories)
    codes = codes[(codes >= 0).all(axis=1)]
    method, n = f"Cohen's kappa ({weights} weights), asymptotic normal", len(codes)
    credit = agreement_weights(len(names), weights)
    shares = np.zeros((len(names), len(names)))
    np.add.at(shares, (codes[:, 0], codes[:, 1]), 1 / max(n, 1))
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    expected = float(rows @ credit @ columns)
    if n == 0 or expected >= 1 - 1e-12:
        reason = "no item rated by both" if n == 0 else "both raters use a single category"
        return undefined_interval(float("nan"), level, method, n, reason)
    kappa = (float((shares * credit).sum()) - expected) / (1 - expected)
    margins = (credit @ columns)[:, None] + (rows @ credit)[None, :]
    spread = float((shares * (credit - margins * (1 - kappa)) ** 2).sum()) - (kappa - expected * (1 - kappa)) ** 2
    half = normal_quantile((1 + level) / 2) * sqrt(max(spread, 0.0) / n) / (1 - expected)
    if half <= 1e-12:
        return undefined_interval(kappa, level, method, n, "the estimated variance is 0")
    return Interval(kappa, max(kappa - half, -1.0), min(kappa + half, 1.0), level, method, n)


def fleiss_kappa(
    ratings: ArrayLike,
    *,
    weights: str = "identity",
    categories: Sequence[object] | None = None,
    confidence_level: float = 0.95,
) -> Interval:
    """Fleiss' kappa: agreement of any number of raters beyond that of their pooled marginal.

    In [-1, 1], 0 at chance; ``nan`` when all ratings are the same category or no item has two. Interval: linearised
    over items, t(n - 1), clipped.

    Parameters
    ----------
    ratings : array_like of shape (n_items, n_raters)
        Numbers or labels; ``nan`` or None where missing.
    weights : {"identity", "linear", "quadratic"}
        Partial credit by distance in the order of the categories.
    categories : sequence, optional
        The categories in their order; by default those seen, sorted.
    confidence_level : float, default 0.95
        Nominal coverage.

    Raises
    ------
    InputError
        If the shape is wrong, a label is not among `categories`, or an option is unknown.

    Notes
    -----
    (p_a - p_e) / (1 - p_e), p_e = sum_kl w_kl pi_k pi_l with pi the mean share of each category. Items with a single
    rating count for pi only; Gwet's variance, used here, makes the interval a little wider for them.

    References
    ----------
    Fleiss, J. L. (1971). Measuring nominal scale agreement among many raters. Psychol. Bull. 76, 378-382. Variance and
    missing ratings: Gwet, K. L. (2014). Handbook of Inter-Rater Reliability.

    Examples
    --------
    >>> round(fleiss_kappa([[1, 1, 1], [0, 0, 1], [0, 0, 0], [1, 1, 0]]).estimate, 6)
    0.333333
    """
    counts, credit, level = _prepare(ratings, weights, categories, confidence_level)
    shares = counts / counts.sum(axis=1, keepdims=True)
    chance = shares @ credit @ shares.mean(axis=0) if len(shares) else np.empty(0)
    return _chance_corrected(counts, credit, chance, level, f"Fleiss' kappa ({weights} weights), linearised t")


def gwet_ac(
    ratings: ArrayLike,
    *,
    weights: str = "identity",
    categories: Sequence[object] | None = None,
    confidence_level: float = 0.95,
) -> Interval:
    """Gwet's AC1 (identity weights) or AC2 (other weights): agreement beyond chance, stable when one category prevails.

    In [-1, 1]; ``nan`` with fewer than two categories or when no item has two ratings. The interval is linearised over
    items with t(n - 1) quantiles, and is clipped.

    Parameters
    ----------
    ratings : array_like of shape (n_items, n_raters)
        Numbers or labels; ``nan`` or None where missing.
    weights : {"identity", "linear", "quadratic"}
        Partial credit by distance in the order of the categories.
    categories : sequence, optional
        The categories in their order. By default they are those that occur in the ratings, sorted. A category that you name
        here counts even if nobody used it, which raises AC1.
    confidence_level : float, default 0.95
        Nominal coverage.

    Raises
    ------
    InputError
        If the shape is wrong, a label is not among `categories`, or an option is unknown.

    Notes
    -----
    (p_a - p_e) / (1 - p_e), p_e = sum(w) / (q (q - 1)) * sum_k pi_k (1 - pi_k), where q is the number of categories.

    References
    ----------
    Gwet, K. L. (2008). Computing inter-rater reliability and its variance in the presence of high agreement. Br. J.
    Math. Stat. Psychol. 61, 29-48.

    Examples
    --------
    >>> ratings = [["yes", "yes"]] * 118 + [["yes", "no"]] * 5 + [["no", "yes"]] * 2
    >>> round(gwet_ac(ratings).estimate, 6), round(cohen_kappa(*zip(*ratings)).estimate, 6)
    (0.940776, -0.023392)
    """
    counts, credit, level = _prepare(ratings, weights, categories, confidence_level)
    q = counts.shape[1]
    method = f"Gwet's {'AC1' if weights == 'identity' else f'AC2 ({weights} weights)'}, linearised t"
    if q < 2:
        return undefined_interval(float("nan"), level, method, len(counts), "needs 2 categories; name them all")
    shares = counts / counts.sum(axis=1, keepdims=True)
    chance = credit.sum() / (q * (q - 1)) * (shares @ (1 - shares.mean(axis=0)))
    return _chance_corrected(counts, credit, chance, level, method)


def krippendorff_alpha(
    ratings: ArrayLike,
    *,
    level: str = "nominal",
    categories: Sequence[object] | None = None,
    confidence_level: float = 0.95,
) -> Interval:
    """Krippendorff's alpha: one minus observed over expected disagreement, for any number of raters and missing data.

    At most 1, 0 at chance, negative below; ``nan`` when all ratings are the same or no item has two. Interval:
    jackknife over items, t(n - 1), upper limit clipped to 1.

    Parameters
    ----------
    ratings : array_like of shape (n_items, n_raters)
        Numbers or labels; ``nan`` or None where missing. Items with one rating are left out.
    level : {"nominal", "ordinal", "interval", "ratio"}
        Scale of measurement; interval and ratio need numbers (ratio: none negative).
    categories : sequence, optional
        The categories in their order, for ``level="ordinal"`` on labels; by default those seen, sorted.
    confidence_level : float, default 0.95
        Nominal coverage.

    Raises
    ------
    InputError
        If the shape is wrong, an option is unknown, or the scale does not fit the ratings.

    Notes
    -----
    alpha = 1 - (N - 1) sum_ck o_ck d_ck / sum_ck n_c n_k d_ck over the coincidence matrix o with margins n and total
    N, d the squared distance of the scale.

    References
    ----------
    Krippendorff, K. (2011). Computing Krippendorff's alpha-reliability. University of Pennsylvania, sections A to E.

    Examples
    --------
    >>> round(krippendorff_alpha([[1, 1], [0, 1], [0, 0], [1, 1]]).estimate, 6)
    0.533333
    """
    check_choice(level, LEVELS, "level")
    nominal = check_level(confidence_level)
    counts, names = count_ratings(ratings, categories)
    values = _scale(names, level)
    rows, repeats = np.unique(counts[counts.sum(axis=1) >= 2], axis=0, return_counts=True)
    n = int(repeats.sum())
    method = f"Krippendorff's alpha ({level}), jackknife t over items"
    if n == 0:
        return undefined_interval(float("nan"), nominal, method, n, "no item has two ratings")
    total = (rows.T * (repeats / (rows.sum(axis=1) - 1))) @ rows
    total -= np.diag(repeats / (rows.sum(axis=1) - 1) @ rows)
    estimate = _alpha(total, values, level)
    if np.isnan(estimate):
        return undefined_interval(estimate, nominal, method, n, "all ratings are the same")
    without = np.array([_alpha(total - _coincidences(row), values, level) for row in rows])
    pseudo = np.repeat(n * estimate - (n - 1) * without, repeats)
    if np.isnan(pseudo).any():
        return undefined_interval(estimate, nominal, method, n, "all ratings are the same without one item")
    return _interval_over_items(pseudo, estimate, nominal, method, (-np.inf, 1.0))


def agreement_weights(n_categories: int, weights: str) -> Floats:
    """Return the partial credit of each pair of categories: 1 on the diagonal, falling with distance.

    Raises
    ------
    InputError
        If `weights` is not one of ``"identity"``, ``"linear"``, ``"quadratic"``.

    Examples
    --------
    >>> agreement_weights(3, "quadratic")[0]
    array([1.  , 0.75, 0.  ])
    """
    check_choice(weights, WEIGHTS, "weights")
    n_categories = check_count(n_categories, "n_categories")
    if weights == "identity" or n_categories < 2:
        return np.eye(n_categories)
    order = np.arange(n_categories)
    distance = np.abs(order[:, None] - order) / (n_categories - 1)
    return 1 - (distance if weights == "linear" else distance**2)


def _chance_corrected(counts: Floats, credit: Floats, chance: Floats, level: float, method: str) -> Interval:
    """Return (p_a - p_e) / (1 - p_e) with Gwet's linearised variance; `chance` is p_e's share of each item."""
    n, pairable = len(counts), counts.sum(axis=1) >= 2
    if not pairable.any():
        return undefined_interval(float("nan"), level, method, n, "no item has two ratings")
    agreement = np.zeros(n)
    agreement[pairable] = _item_agreement(counts[pairable], credit)
    scale = n / int(pairable.sum())
    expected = float(chance.mean())
    if expected >= 1 - 1e-12:
        return undefined_interval(float("nan"), level, method, n, "all ratings are the same")
    estimate = (scale * float(agreement.mean()) - expected) / (1 - expected)
    influence = scale * (agreement - expected * pairable) - 2 * (1 - estimate) * (chance - expected)
    return _interval_over_items(influence / (1 - expected), estimate, level, method, (-1.0, 1.0))


def _interval_over_items(
    influence: Floats, estimate: float, level: float, method: str, bounds: tuple[float, float]
) -> Interval:
    """Return the t interval whose standard error is that of the mean of the per-item influences, clipped."""
    n = influence.size
    if n < 2 or np.ptp(influence) <= 1e-12:
        reason = f"needs 2 items, got {n}" if n < 2 else "every item agrees equally"
        return undefined_interval(estimate, level, method, n, reason)
    half = t_quantile((1 + level) / 2, n - 1) * float(influence.std(ddof=1)) / sqrt(n)
    return Interval(estimate, max(estimate - half, bounds[0]), min(estimate + half, bounds[1]), level, method, n)


def _item_agreement(counts: Floats, credit: Floats) -> Floats:
    """Return the mean credit over the rater pairs of each item."""
    raters = counts.sum(axis=1)
    return (counts * (counts @ credit - 1)).sum(axis=1) / (raters * (raters - 1))


def _coincidences(row: Floats) -> Floats:
    """Return the ordered pairs of ratings within one item, by category, each weighted by 1 / (raters - 1)."""
    return (np.outer(row, row) - np.diag(row)) / (row.sum() - 1)


def _alpha(coincidences: Floats, values: Floats, level: str) -> float:
    """Return Krippendorff's alpha of a coincidence matrix; nan where nothing could disagree."""
    margins = coincidences.sum(axis=1)
    distance = _distance(margins, values, level)
    expected = float(margins @ distance @ margins)
    if expected <= 0:
        return float("nan")
    return 1 - (float(margins.sum()) - 1) * float((coincidences * distance).sum()) / expected


def _distance(margins: Floats, values: Floats, level: str) -> Floats:
    """Return the squared distance of each pair of categories on the scale."""
    if level == "nominal":
        return 1 - np.eye(values.size)
    if level == "ordinal":
        middle = np.cumsum(margins) - margins / 2
        return (middle[:, None] - middle) ** 2
    difference = (values[:, None] - values) ** 2
    if level == "interval":
        return difference
    total = (values[:, None] + values) ** 2
    return np.divide(difference, total, out=np.zeros_like(total), where=total > 0)


def _scale(names: list[object], level: str) -> Floats:
    """Return the categories as numbers for interval and ratio scales, as positions for the others."""
    if level in ("nominal", "ordinal"):
        return np.arange(len(names), dtype=np.float64)
    try:
        values = np.array(names, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f'level="{level}" needs numbers; it got labels such as {names[0]!r}; use "ordinal".') from error
    if level == "ratio" and (values < 0).any():
        raise InputError(f'level="ratio" needs ratings of at least 0; it got {values.min():g}; use "interval".')
    return values


def _prepare(
    ratings: ArrayLike, weights: str, categories: Sequence[object] | None, confidence_level: float
) -> tuple[Floats, Floats, float]:
    """Return counts of the items with any rating, the credit matrix, and the checked level."""
    counts, _ = count_ratings(ratings, categories)
    credit = agreement_weights(counts.shape[1], weights)
    return counts[counts.sum(axis=1) > 0], credit, check_level(confidence_level)
