"""Estimates from labels of items that were drawn with known probabilities, and from several judges.

All functions raise InputError for arguments outside the stated range.
"""

from collections.abc import Sequence
from math import inf, nan, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from ragnb.arguments import Bounds, Floats, Integers, accepts, as_clusters
from ragnb.errors import InputError
from ragnb.results import Interval, undefined_interval
from ragnb.stats.intervals import mean_interval, too_few
from ragnb.stats.ppi import Estimate, PpiInterval, as_keys, ppi_result, require_within


@accepts(clusters=as_keys, lam="number", confidence_level="level")
def ppi_sampled_mean(
    labels: ArrayLike,
    judged: ArrayLike,
    probabilities: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    lam: float | None = None,
    bounds: Bounds | None = None,
    confidence_level: float = 0.95,
) -> PpiInterval:
    """Prediction-powered estimate of a mean if items were drawn for labelling with known probabilities.

    Items about which judges disagree can thus be labelled more often than others without bias, and
    several judges can be used together. If all items had the same probability and there is one
    judge, `ragnb.stats.ppi_mean` estimates the same, with intervals that suit few labels of 0 and 1.

    Parameters
    ----------
    labels : array-like of shape (N,)
        Human labels of all items; NaN for those that were not labelled.
    judged : array-like of shape (N,) or (N, k)
        Verdicts of the judge, or of k judges, on all items.
    probabilities : array-like of shape (N,)
        Probability, in (0, 1], with which each item was drawn. It must have been fixed before the
        label was known, and may depend on the verdicts.
    clusters : array-like of shape (N,), default=None
        Cluster of each item, such as its question. If None, items are treated as independent.
    lam : float, default=None
        Weight of each judge. If None, the weights that minimise the variance are estimated.
    bounds : tuple of (float, float), default=None
        Smallest and largest possible label. The estimate and its limits are clipped to this range.
        If None, the bounds are (0, 1) if all labels are 0 or 1, and infinite otherwise.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, in (0, 1).

    Returns
    -------
    PpiInterval
        The estimate with its limits. ``lam`` is the weight of the only judge, or the correlation of
        the labels with the weighted verdicts of several judges. ``classical`` is the weighted mean
        of the labels, and ``judge_only`` the mean over all judges.

    Notes
    -----
    Let F be the verdicts, Y the labels, and w = 1 / probability for the labelled items. The estimate
    is λ mean(F) + Σ w (Y - λ F) / Σ w [1]_, where mean(F) is over all items. The variance is that of
    the sum over units of λ (F - mean(F)) / N + w (Y - λ F - R) / Σ w, where R is the weighted mean of
    Y - λ F. The weights λ are the coefficients of the weighted regression of Y on F, and for one
    judge they are clipped to [0, 1]. The interval is a t interval, with as many degrees of freedom
    as labelled units, less 1 and less the number of weights that are estimated.

    References
    ----------
    .. [1] Zrnic, T. & Candès, E. J. (2024). Active statistical inference. ICML.

    Examples
    --------
    >>> labels = np.where(np.arange(40) % 3 == 0, [1, 0] * 20, np.nan)
    >>> result = ppi_sampled_mean(labels, [1, 0] * 20, np.full(40, 1 / 3), lam=1)
    >>> result.n_labels, round(result.estimate, 2), round(result.classical.estimate, 2)
    (14, 0.5, 0.5)
    """
    truth = np.asarray(labels, dtype=np.float64)
    verdicts = np.asarray(judged, dtype=np.float64)
    chances = np.asarray(probabilities, dtype=np.float64)
    if verdicts.ndim == 1:
        verdicts = verdicts[:, None]
    _check_sample(truth, verdicts, chances)
    is_labelled = ~np.isnan(truth)
    known = truth[is_labelled]
    bounds = bounds or ((0, 1) if np.isin(known, (0, 1)).all() else (-inf, inf))
    require_within(known, bounds)
    weights = np.where(is_labelled, 1 / chances, 0.0)
    weights /= weights.sum()
    codes = np.arange(truth.size) if clusters is None else as_clusters(clusters)
    if lam is None:
        coefficients = _fitted_weights(known, verdicts[is_labelled], weights[is_labelled])
        n_fitted = coefficients.size
    else:
        coefficients, n_fitted = np.full(verdicts.shape[1], lam), 0
    predicted = verdicts @ coefficients
    sample = truth, weights, codes, bounds, confidence_level
    nothing = np.zeros(truth.size)
    keys = None if clusters is None else codes
    weight = float(coefficients[0])
    if coefficients.size > 1:
        weight = _correlation(known, predicted[is_labelled], weights[is_labelled])
    n_labels = int(is_labelled.sum())
    return ppi_result(
        _estimate("PPI++, weighted", predicted, n_fitted, *sample),
        _estimate("labels alone, weighted", nothing, 0, *sample),
        mean_interval(verdicts.mean(axis=1), keys, confidence_level=confidence_level),
        lam=weight,
        n_labels=n_labels,
        n_unlabelled=truth.size - n_labels,
    )


def _check_sample(truth: Floats, verdicts: Floats, chances: Floats) -> None:
    """Raise InputError if labels, verdicts and probabilities do not belong together."""
    if truth.ndim != 1 or len(verdicts) != truth.size or chances.shape != truth.shape:
        raise InputError(
            "labels, judged and probabilities must have one entry per item, got "
            f"{truth.size}, {len(verdicts)} and {chances.size}"
        )
    n_missing = int((~np.isfinite(verdicts)).any(axis=1).sum())
    if n_missing:
        raise InputError(f"judged must have a verdict for every item, got {n_missing} missing")
    if not ((chances > 0) & (chances <= 1)).all():
        odd = chances[~((chances > 0) & (chances <= 1))][0]
        raise InputError(f"probabilities must be above 0 and at most 1, got {odd:g}")
    n_labels = int((~np.isnan(truth)).sum())
    if n_labels < 2:
        raise InputError(f"ppi_sampled_mean needs at least 2 labels, got {n_labels}")


def _fitted_weights(known: Floats, verdicts: Floats, weights: Floats) -> Floats:
    """Coefficients of the weighted regression of labels on verdicts; in [0, 1] for one judge."""
    centred = verdicts - weights @ verdicts
    deviations = known - weights @ known
    roots = np.sqrt(weights)
    solution, *_ = np.linalg.lstsq(roots[:, None] * centred, roots * deviations)
    coefficients = np.asarray(solution, dtype=np.float64)
    if coefficients.size == 1:
        coefficients = np.clip(coefficients, 0, 1)
    return coefficients


def _correlation(first: Floats, second: Floats, weights: Floats) -> float:
    """Weighted Pearson correlation; nan if a variable does not vary."""
    first, second = first - weights @ first, second - weights @ second
    product = sqrt(weights @ first**2) * sqrt(weights @ second**2)
    return float(weights @ (first * second)) / product if product > 0 else nan


def _estimate(
    name: str,
    predicted: Floats,
    n_fitted: int,
    truth: Floats,
    weights: Floats,
    codes: Integers,
    bounds: Bounds,
    level: float,
) -> Estimate:
    """The mean of the labels, for given predictions of them."""
    is_labelled = weights > 0
    rest = np.where(is_labelled, truth, 0.0) - np.where(is_labelled, predicted, 0.0)
    bias = float(weights @ rest)
    raw = float(predicted.mean()) + bias
    estimate = min(max(raw, bounds[0]), bounds[1])
    # Contribution of each unit to the error of the estimate.
    of_items = (predicted - predicted.mean()) / truth.size + weights * (rest - bias)
    of_units = np.bincount(codes, of_items)
    n_units = np.unique(codes[is_labelled]).size
    df = n_units - 1 - n_fitted
    error = n_units / max(df, 1) * float(of_units @ of_units)
    scale = max(float(np.abs(truth[is_labelled]).max()), float(np.abs(predicted).max()), 1e-300)
    if df < 1 or sqrt(error) <= 1e-12 * scale:
        few = f"at least {n_units - df + 1} labelled units are needed, got {n_units}"
        problem = few if df < 1 else "label - weight * verdict does not vary"
        return Estimate(undefined_interval(estimate, level, name, n_units, problem), nan, df)
    half = float(stdtrit(df, (1 + level) / 2)) * sqrt(error)
    method = f"{name}, t{too_few(n_units)}"
    low, high = raw - half, raw + half
    if raw != estimate or low < bounds[0] or high > bounds[1]:
        low, high = np.clip([low, high], *bounds).tolist()
        method += f", clipped to [{bounds[0]:g}, {bounds[1]:g}]"
    return Estimate(Interval(estimate, low, high, level, method, n_units), error, df)


@accepts(n="size", uniform_share="share")
def inclusion_probabilities(
    uncertainty: ArrayLike, n: int, *, uniform_share: float = 0.5
) -> Floats:
    """Probability with which each item is drawn, so that uncertain items are drawn more often.

    Parameters
    ----------
    uncertainty : array-like of shape (N,)
        How uncertain the judges are about each item, at least 0.
    n : int
        Number of items to draw, at most N.
    uniform_share : float, default=0.5
        Share of the probability that all items have alike. It keeps every probability above 0, and
        bounds the weight that a single label can get.

    Returns
    -------
    ndarray of shape (N,)
        Probabilities in (0, 1] whose sum is n.

    Examples
    --------
    >>> inclusion_probabilities([0, 0, 1, 1], 2).round(2).tolist()
    [0.25, 0.25, 0.75, 0.75]
    """
    values = np.asarray(uncertainty, dtype=np.float64)
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise InputError("uncertainty must be finite and at least 0")
    if n > values.size:
        raise InputError(f"n must be at most the number of items, {values.size}, got {n}")
    if values.sum() == 0:
        values = np.ones_like(values)
    sizes = uniform_share / values.size + (1 - uniform_share) * values / values.sum()
    probabilities = n * sizes
    # Items whose probability would exceed 1 are drawn for certain, and the others share the rest.
    while (probabilities > 1).any():
        is_certain = probabilities >= 1
        rest = sizes[~is_certain]
        probabilities[is_certain] = 1.0
        probabilities[~is_certain] = (n - is_certain.sum()) * rest / rest.sum()
    return probabilities


def systematic_sample(probabilities: Sequence[float] | Floats, seed: int) -> np.ndarray:
    """Draw items with these probabilities, whose sum is their number (Madow 1949).

    The items are put in a random order first, so that neighbours are not drawn together.

    >>> bool(systematic_sample([0.5] * 10, seed=1).sum() == 5)
    True
    """
    chances = np.asarray(probabilities, dtype=np.float64)
    generator = np.random.default_rng(seed)
    order = generator.permutation(chances.size)
    ends = np.cumsum(chances[order])
    n = round(float(ends[-1]))
    # Rounding error must not move the last end below the last mark.
    ends[-1] = n
    marks = generator.random() + np.arange(n)
    is_drawn = np.zeros(chances.size, dtype=bool)
    is_drawn[order[np.searchsorted(ends, marks)]] = True
    return is_drawn
