"""How well predicted probabilities or ratings match outcomes: Brier score, calibration error, RMSE."""

from dataclasses import replace
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragnb.errors import InputError, check_choice
from ragnb.results import CalibrationError, Interval, ReliabilityBin
from ragnb.stats.checks import (
    Floats,
    Integers,
    check_aligned,
    check_binary,
    check_count,
    check_level,
    check_scores,
)
from ragnb.stats.intervals import bca_interval, rate_interval


def rmse(predictions: ArrayLike, targets: ArrayLike, *, confidence_level: float = 0.95) -> Interval:
    """Root mean squared error with the BCa interval of the mean squared error, carried through the root.

    In [0, inf), 0 for perfect predictions, in the unit of the targets; limits ``nan`` for fewer than two items or when
    all errors are equal. Interval: BCa (which a monotone transformation does not change). Dual of no test.

    Parameters
    ----------
    predictions, targets : array_like of shape (n,)
        Finite values of the same items.
    confidence_level : float, default 0.95
        Nominal coverage.

    Raises
    ------
    InputError
        If a value is not finite, the lengths differ, or the level is not in (0, 1).

    Notes
    -----
    sqrt(mean((prediction - target)^2)).

    References
    ----------
    Efron, B. (1987). Better bootstrap confidence intervals. JASA 82, 171-185.

    Examples
    --------
    >>> rmse([1, 2, 3], [1, 2, 5]).estimate == (4 / 3) ** 0.5
    True
    """
    predicted, wanted = check_aligned(predictions, targets)
    mse = bca_interval((predicted - wanted) ** 2, confidence_level=confidence_level)
    return Interval(sqrt(mse.estimate), sqrt(mse.low), sqrt(mse.high), mse.confidence_level, f"RMSE, {mse.method}", mse.n)


def brier_score(labels: ArrayLike, probabilities: ArrayLike, *, confidence_level: float = 0.95) -> Interval:
    """Brier score: mean squared distance of predicted probability and outcome.

    In [0, 1], lower is better, 0.25 for always saying one half; limits ``nan`` for fewer than two items or when all
    distances are equal. Interval: BCa.

    Parameters
    ----------
    labels : array_like of shape (n,)
        0/1 outcomes.
    probabilities : array_like of shape (n,)
        Predicted probabilities of outcome 1.
    confidence_level : float, default 0.95
        Nominal coverage.

    Raises
    ------
    InputError
        If a label is neither 0 nor 1, a probability outside [0, 1], or the lengths differ.

    Notes
    -----
    mean((p - y)^2); it measures calibration and discrimination together.

    References
    ----------
    Brier, G. W. (1950). Verification of forecasts expressed in terms of probability. Mon. Weather Rev. 78, 1-3.

    Examples
    --------
    >>> round(brier_score([1, 0, 1], [0.9, 0.2, 0.6]).estimate, 6)
    0.07
    """
    outcomes, predicted = _check_predictions(labels, probabilities)
    interval = bca_interval((predicted - outcomes) ** 2, confidence_level=confidence_level)
    return replace(interval, method=f"Brier, {interval.method}")


def expected_calibration_error(
    labels: ArrayLike, probabilities: ArrayLike, *, n_bins: int = 10, strategy: str = "uniform"
) -> CalibrationError:
    """Calibration error (ECE): mean gap of predicted probability and outcome over bins, weighted by their size.

    In [0, 1], 0 for perfect calibration, ``nan`` without items. Biased upwards: a perfectly calibrated model does not
    score 0 but about ``expected_if_calibrated``, which grows with bins and shrinks with items; only what exceeds it is
    evidence of miscalibration.

    Parameters
    ----------
    labels : array_like of shape (n,)
        0/1 outcomes.
    probabilities : array_like of shape (n,)
        Predicted probabilities of outcome 1.
    n_bins : int, default 10
        Number of bins.
    strategy : {"uniform", "quantile"}
        Bins of equal width, or of about equal numbers of items.

    Raises
    ------
    InputError
        If a label is neither 0 nor 1, a probability outside [0, 1], the lengths differ, or an option is out of range.

    Notes
    -----
    sum_b n_b / n abs(mean y - mean p). ``expected_if_calibrated`` replaces each gap by sqrt(2 / pi) times the standard
    deviation of mean y if the p were true: sqrt(sum p (1 - p)) / n_b (the mean of a half-normal).

    References
    ----------
    Naeini, M. P., Cooper, G. & Hauskrecht, M. (2015). Obtaining well calibrated probabilities using Bayesian binning.
    AAAI. Bias: Broecker, J. (2012). Clim. Dyn. 39, 655-667; Roelofs, R. et al. (2022). AISTATS.

    Examples
    --------
    >>> error = expected_calibration_error([1, 0, 1, 1], [0.9, 0.9, 0.2, 0.2])
    >>> round(error.estimate, 6)  # (|0.5 - 0.9| + |1 - 0.2|) / 2
    0.6
    """
    outcomes, predicted = _check_predictions(labels, probabilities)
    n = outcomes.size
    if n == 0:
        return CalibrationError(float("nan"), float("nan"), 0, 0)
    _, codes = _bins(predicted, n_bins, strategy)
    gaps = np.abs(np.bincount(codes, outcomes - predicted))
    noise = np.sqrt(2 / np.pi * np.bincount(codes, predicted * (1 - predicted)))
    used = int(np.count_nonzero(np.bincount(codes)))
    return CalibrationError(float(gaps.sum() / n), float(noise.sum() / n), used, n)


def reliability_curve(
    labels: ArrayLike,
    probabilities: ArrayLike,
    *,
    n_bins: int = 10,
    strategy: str = "uniform",
    confidence_level: float = 0.95,
) -> tuple[ReliabilityBin, ...]:
    """Reliability curve: per bin the mean predicted probability and the observed share with its Wilson interval.

    On the diagonal when calibrated; empty bins are left out, so the result is empty without items.

    Parameters
    ----------
    labels : array_like of shape (n,)
        0/1 outcomes.
    probabilities : array_like of shape (n,)
        Predicted probabilities of outcome 1.
    n_bins : int, default 10
        Number of bins.
    strategy : {"uniform", "quantile"}
        Bins of equal width, or of about equal numbers of items.
    confidence_level : float, default 0.95
        Nominal coverage in each bin by itself, not of the whole curve.

    Raises
    ------
    InputError
        If a label is neither 0 nor 1, a probability outside [0, 1], the lengths differ, or an option is out of range.

    References
    ----------
    Niculescu-Mizil, A. & Caruana, R. (2005). Predicting good probabilities with supervised learning. ICML.

    Examples
    --------
    >>> for bin in reliability_curve([1, 0, 1, 1], [0.9, 0.9, 0.2, 0.2], n_bins=2):
    ...     print(f"{bin.low:.1f} {bin.high:.1f} {bin.mean_predicted:.1f} {bin.observed}")
    0.0 0.5 0.2 1.000 [0.342, 1.000] (95% Wilson, n = 2)
    0.5 1.0 0.9 0.500 [0.095, 0.905] (95% Wilson, n = 2)
    """
    outcomes, predicted = _check_predictions(labels, probabilities)
    level = check_level(confidence_level)
    edges, codes = _bins(predicted, n_bins, strategy)
    sizes = np.bincount(codes, minlength=edges.size - 1)
    means = np.bincount(codes, predicted, edges.size - 1) / np.maximum(sizes, 1)
    successes = np.bincount(codes, outcomes, edges.size - 1)
    return tuple(
        ReliabilityBin(
            float(edges[b]),
            float(edges[b + 1]),
            float(means[b]),
            rate_interval(int(successes[b]), int(sizes[b]), confidence_level=level),
        )
        for b in np.flatnonzero(sizes)
    )


def _check_predictions(labels: ArrayLike, probabilities: ArrayLike) -> tuple[Floats, Floats]:
    outcomes, predicted = check_binary(labels), check_scores(probabilities, "probabilities")
    if outcomes.size != predicted.size:
        raise InputError(
            f"Calibration needs one probability per label; it got {predicted.size} and {outcomes.size}; "
            "align them by item id first."
        )
    if ((predicted < 0) | (predicted > 1)).any():
        raise InputError(
            f"Calibration needs probabilities in [0, 1]; it got {predicted.min():g} to {predicted.max():g}; "
            "pass probabilities, not logits or percent."
        )
    return outcomes.astype(np.float64), predicted


def _bins(predicted: Floats, n_bins: int, strategy: str) -> tuple[NDArray[np.float64], Integers]:
    """Return the bin edges and the bin of each prediction; a bin holds its lower edge, the last one both."""
    check_choice(strategy, ("uniform", "quantile"), "strategy")
    edges = np.linspace(0, 1, check_count(n_bins, "n_bins", minimum=1) + 1)
    if strategy == "quantile" and predicted.size:
        edges = np.unique(np.quantile(predicted, edges))
        edges = edges if edges.size > 1 else np.array([edges[0], edges[0]])
    return edges, np.clip(np.searchsorted(edges, predicted, "right") - 1, 0, edges.size - 2)
