"""How many human labels to buy beside a judge's verdicts: planning `ragnb.stats.ppi.ppi_mean` from a pilot."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, nan, sqrt

import numpy as np
from numpy.typing import ArrayLike

from ragnb.errors import InputError, as_real
from ragnb.stats.checks import check_count, check_level, spread_problem
from ragnb.stats.numerics import t_quantile
from ragnb.stats.ppi_sample import (
    RATE,
    Bounds,
    check_labels,
    check_sizes,
    check_verdicts,
    fitted_tuning,
    one_more_label,
    wilson_limits,
)


@dataclass(frozen=True, slots=True)
class LabelPlan:
    """What a number of labels gives, with the judge and alone.

    Attributes
    ----------
    n_labels, n_labels_alone : float
        Whole number of labels with the judge, and of labels alone; ``nan`` where no number would do.
    half_width, half_width_alone : float
        Half the width of the two intervals at these numbers of labels; ``nan`` where undefined.
    correlation : float
        Correlation of label and verdict in the pilot; ``nan`` for a constant judge, which is worth nothing.
    n_judged : int
        Number of items with a verdict, those to be labelled included.
    confidence_level : float
        Level of the intervals.
    """

    n_labels: float
    n_labels_alone: float
    half_width: float
    half_width_alone: float
    correlation: float
    n_judged: int
    confidence_level: float

    def __str__(self) -> str:
        judged = f"{self.n_labels:g} labels and {self.n_judged} verdicts: +-{self.half_width:.3f}"
        alone = f"{self.n_labels_alone:g} labels alone: +-{self.half_width_alone:.3f}"
        return f"{judged}; {alone} ({self.confidence_level:.0%}, pilot correlation {self.correlation:.2f})"


def labels_needed(
    pilot_labels: ArrayLike, pilot_judged: ArrayLike, n_judged: int, half_width: float, *, confidence_level: float = 0.95
) -> LabelPlan:
    """Number of human labels at which the PPI++ interval has the wished half-width, beside that of labels alone.

    In 3 .. `n_judged` and 2 .. 2^60; ``nan`` with the judge when not even a label on every judged item would do, and alone
    when not even 2^60 labels would. A plan is only as good as its pilot: one of 30 labels knows a correlation of .7 to about
    +-.2.

    Parameters
    ----------
    pilot_labels, pilot_judged : array_like of shape (m,)
        Labels and verdicts on a few items drawn at random. Labels that are all 0 or 1 are planned as rates.
    n_judged : int
        Number of items that the judge judges, those to be labelled included.
    half_width : float
        Wished half-width of the interval, in the unit of the labels.
    confidence_level : float, default 0.95
        Level of the interval.

    Raises
    ------
    InputError
        If the pilot is not finite, too small, of different lengths or without spread, or a number is out of range.

    Notes
    -----
    The smallest n whose interval, as `ragnb.stats.ppi.ppi_mean` computes it from the pilot's mean, variances and covariance
    with N = n_judged - n unlabelled items, is no wider; t with n - 2 degrees of freedom (alone n - 1) for that very n. Where
    Wilson's interval is not involved, the half-width is t s sqrt((1 - r^2 N / n_judged) / n) while r s / s' is at most 1.

    References
    ----------
    Angelopoulos, A. N., Duchi, J. C. & Zrnic, T. (2023). PPI++: Efficient prediction-powered inference. arXiv:2311.01453.

    Examples
    --------
    >>> labels, judged = [0.1, 0.4, 0.5, 0.9, 1.0, 0.3], [0.2, 0.3, 0.5, 0.8, 0.9, 0.5]
    >>> print(labels_needed(labels, judged, 2000, 0.05))
    29 labels and 2000 verdicts: +-0.050; 191 labels alone: +-0.050 (95%, pilot correlation 0.95)
    """
    pilot, level = _pilot(pilot_labels, pilot_judged), check_level(confidence_level)
    n_judged = check_count(n_judged, "n_judged", minimum=3)
    if not 0 < as_real(half_width) < inf:
        raise InputError(f"half_width needs a positive number; it got {half_width!r}; pass half the wished width.")
    n = _smallest(lambda n: pilot.half_width(n, n_judged - n, level) <= half_width, 3, n_judged)
    alone = _smallest(lambda n: pilot.half_width(n, 0, level) <= half_width, 2, 2**60)
    return _plan(pilot, n, alone, n_judged, level)


def expected_half_width(
    pilot_labels: ArrayLike, pilot_judged: ArrayLike, n_judged: int, n_labels: int, *, confidence_level: float = 0.95
) -> LabelPlan:
    """Half-width that a number of labels gives with the judge and alone: the inverse of `labels_needed`.

    In (0, inf), in the unit of the labels.

    Parameters
    ----------
    pilot_labels, pilot_judged, n_judged, confidence_level
        As in `labels_needed`.
    n_labels : int
        Number of labels, in 3 .. `n_judged`.

    Raises
    ------
    InputError
        As `labels_needed`, and if there are more labels than judged items.

    Examples
    --------
    >>> labels, judged = [1, 1, 0, 1, 0, 1, 1, 1, 1, 0], [1, 1, 0, 1, 1, 1, 0, 1, 1, 0]
    >>> print(expected_half_width(labels, judged, 3000, 200))
    200 labels and 3000 verdicts: +-0.055; 200 labels alone: +-0.063 (95%, pilot correlation 0.52)
    """
    pilot, level = _pilot(pilot_labels, pilot_judged), check_level(confidence_level)
    n, n_judged = check_count(n_labels, "n_labels", minimum=3), check_count(n_judged, "n_judged", minimum=3)
    if n > n_judged:
        raise InputError(
            f"n_labels needs at most one label per judged item; it got {n} for {n_judged}; "
            "count those to be labelled in n_judged as well."
        )
    return _plan(pilot, n, n, n_judged, level)


@dataclass(frozen=True, slots=True)
class _Pilot:
    """Moments of label and verdict, and the ends of the scale where labels are rates."""

    mean: float
    variance: float
    covariance: float
    judge_variance: float
    ends: Bounds | None

    @property
    def correlation(self) -> float:
        return self.covariance / sqrt(self.variance * self.judge_variance) if self.judge_variance else nan

    def half_width(self, n: int, n_unlabelled: int, level: float) -> float:
        """Return half the width of the interval from n labels; from these alone when nothing is unlabelled."""
        tuning = fitted_tuning(self.covariance, self.judge_variance, n / n_unlabelled) if n_unlabelled else 0.0
        quantile = t_quantile((1 + level) / 2, n - 1 - (n_unlabelled > 0))
        rest = self.variance - 2 * tuning * self.covariance + tuning**2 * self.judge_variance
        squared = rest / n + tuning**2 * self.judge_variance / max(n_unlabelled, 1)
        if self.ends is None:
            return quantile * sqrt(squared)
        added, variance = one_more_label(self.mean, self.variance, tuning * self.covariance, n, self.ends)
        low, high = wilson_limits(self.mean, variance / (squared + added), quantile)
        return (high - low) / 2


def _pilot(labels: ArrayLike, judged: ArrayLike) -> _Pilot:
    truth, said = check_labels(labels, "pilot_labels"), check_verdicts(judged, "pilot_judged")
    check_sizes(truth.size, said.size, said.size)
    if problem := spread_problem(truth):
        raise InputError(f"A plan needs pilot labels that differ; it got labels of which {problem}; label a few more items.")
    (variance, covariance), (_, judge_variance) = np.cov(truth, said).tolist()
    ends = RATE if np.isin(truth, RATE).all() else None
    return _Pilot(float(truth.mean()), variance, covariance, judge_variance, ends)


def _smallest(enough: Callable[[int], bool], low: int, high: int) -> float:
    """Return the smallest whole number in low .. high that is enough, or nan; more is never less."""
    if not enough(high):
        return nan
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return low


def _plan(pilot: _Pilot, n: float, alone: float, n_judged: int, level: float) -> LabelPlan:
    with_judge = pilot.half_width(int(n), n_judged - int(n), level) if n == n else nan
    by_labels = pilot.half_width(int(alone), 0, level) if alone == alone else nan
    return LabelPlan(n, alone, with_judge, by_labels, pilot.correlation, n_judged, level)
