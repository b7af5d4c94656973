"""Control of the error among the decided: Learn then Test for a classifier that may leave a label open.

Prediction sets promise coverage over all items. Who acts on the decided items alone needs another promise: of those, at most
a share `alpha` is wrong. It holds for all but a share `delta` of calibration sets, whatever the classifier.
"""

import warnings
from dataclasses import dataclass
from math import ceil, log, log1p

import numpy as np
from numpy.typing import ArrayLike

from ragnb.conformal.checks import (
    Booleans,
    Floats,
    Integers,
    Rate,
    check_labels,
    check_probabilities,
    check_rate,
    check_scores,
)
from ragnb.errors import InputError

# Even steps in log-odds, from 1:1 to 150:1.
THRESHOLDS: Floats = 1 / (1 + np.exp(-np.arange(51) / 10))
N_STARTS = 5


@dataclass(frozen=True, slots=True)
class DecidedControl:
    """A confidence from which on labels are decided; made by `control_decided_error`.

    Attributes
    ----------
    threshold : float
        Least confidence (probability of the more probable label) of a decided item; ``inf`` where nothing is decided.
    alpha, delta : float
        Share of the decided that may be wrong; share of calibration sets for which it may be more.
    n, n_decided, n_errors : int
        Calibration items, those that the threshold decides, and those of them decided wrongly.
    p_value : float
        Of the hypothesis that more than `alpha` of the decided are wrong, at the threshold; ``nan`` where there is none.
    start_level : float
        Level at which each start of the sequence was tested, a share of `delta`.
    """

    threshold: float
    alpha: float
    delta: float
    n: int
    n_decided: int
    n_errors: int
    p_value: float
    start_level: float

    @property
    def share_decided(self) -> float:
        """Share of the calibration items that are decided."""
        return self.n_decided / self.n

    @property
    def error(self) -> float:
        """Share of wrong labels among the decided calibration items; ``nan`` where nothing is decided."""
        return self.n_errors / self.n_decided if self.n_decided else float("nan")

    @property
    def warning(self) -> str:
        """Why nothing is decided; empty when there is a threshold."""
        if self.threshold <= 1:
            return ""
        fewest = ceil(log(self.start_level) / log1p(-self.alpha))
        return (
            f"Nothing is decided: no confidence keeps the error to alpha = {self.alpha:g} with delta = {self.delta:g}; "
            f"it takes {fewest} items decided without a fault, or more; it got {self.n} items; label more."
        )

    def sets(self, probabilities: ArrayLike) -> Booleans:
        """Labels left open, shape (n, 2): one label where decided, both elsewhere.

        Parameters
        ----------
        probabilities : array_like of shape (n, 2) or (n,)
            Of classes 0 and 1, or of class 1.

        Raises
        ------
        InputError
            If the probabilities have another shape, are outside [0, 1] or do not sum to one.

        Warns
        -----
        RuntimeWarning
            Where no threshold was found.
        """
        known = check_probabilities(probabilities)
        if self.warning:
            warnings.warn(self.warning, RuntimeWarning, stacklevel=2)
        positive, confidence = _decisions(known)
        unsure = confidence < self.threshold
        return np.column_stack([~positive | unsure, positive | unsure])

    def __str__(self) -> str:
        if self.warning:
            return self.warning
        return (
            f"decided from confidence {self.threshold:.3f}: {self.share_decided:.1%} of {self.n} calibration items, "
            f"{self.error:.1%} of them wrong; at most {self.alpha:.1%} with probability {1 - self.delta:.1%}"
        )


def control_decided_error(
    probabilities: ArrayLike, labels: ArrayLike, alpha: Rate, delta: Rate, *, thresholds: ArrayLike | None = None
) -> DecidedControl:
    """Lowest confidence from which on at most a share `alpha` of the decided labels is wrong, at risk `delta`.

    With probability at least 1 - `delta` over calibration sets, the error among all items to come that it decides is at most
    `alpha`; where no confidence passes, nothing is decided.

    Parameters
    ----------
    probabilities : array_like of shape (n, 2) or (n,)
        Of classes 0 and 1, or of class 1, for independent items that the classifier has not been trained on.
    labels : array_like of shape (n,)
        True labels, 0/1.
    alpha : float, str, Fraction or Decimal
        Share of the decided that may be wrong, in (0, 1).
    delta : float, str, Fraction or Decimal
        Probability of a calibration set for which more are wrong, in (0, 1).
    thresholds : array_like, optional
        Confidences to be tried, from 0.5 to 1, increasing and **chosen without these items**; None tries the 51 of even
        steps in log-odds from 0.5 to 0.993.

    Raises
    ------
    InputError
        If there are no items, probabilities or labels are none, `alpha` or `delta` is not strictly between 0 and 1, or the
        thresholds do not increase within 0.5 .. 1.

    Notes
    -----
    A threshold t is tested against "more than `alpha` of the items with confidence of at least t are decided wrongly". Given
    their number m, the errors among them are Binomial(m, that error), so P(Binomial(m, alpha) <= errors) is a p-value,
    whatever the classifier; the law of m does not matter.

    The thresholds are tested from the highest to the lowest by the fallback procedure, which rejects no true hypothesis with
    probability at least 1 - `delta` however the p-values depend on each other: `delta` is shared out among five starts
    spread evenly over the thresholds, and a threshold that passes hands its level on to the next. A single sequence from the
    highest would end where only a few items are that sure; each start is another chance. Of the thresholds that
    pass, the lowest decides most.

    References
    ----------
    Angelopoulos, A. N. et al. (2021). Learn then Test: Calibrating predictive algorithms to achieve risk control.
    arXiv:2110.01052. Wiens, B. L. & Dmitrienko, A. (2005). The fallback procedure for evaluating a single family of
    hypotheses. J. Biopharm. Stat. 15, 929-942.

    Examples
    --------
    >>> control = control_decided_error([0.97] * 60 + [0.6] * 40, [1] * 60 + [0, 1] * 20, alpha=0.1, delta=0.1)
    >>> control.n_decided, control.n_errors, f"{control.p_value:.4f}"
    (60, 0, '0.0018')
    """
    known = check_probabilities(probabilities)
    positive = check_labels(labels, len(known))
    if not len(known):
        raise InputError("control_decided_error needs labelled items; it got none; pass a calibration set.")
    shares = float(check_rate(alpha)), float(check_rate(delta, "delta"))
    grid = THRESHOLDS if thresholds is None else _check_thresholds(thresholds)
    starts = np.unique(np.arange(N_STARTS) * grid.size // N_STARTS)
    n_decided, n_errors = _counts(known, positive, grid)
    tails = _binomial_tails(n_errors, n_decided, shares[0])
    passed = _fallback(tails, starts, shares[1])
    level = shares[1] / starts.size
    best = int(passed.argmax())
    if not passed[best]:
        return DecidedControl(float("inf"), *shares, len(known), 0, 0, float("nan"), level)
    counts = len(known), int(n_decided[best]), int(n_errors[best])
    return DecidedControl(float(grid[best]), *shares, *counts, float(tails[best]), level)


def _decisions(probabilities: Floats) -> tuple[Booleans, Floats]:
    return probabilities[:, 1] > probabilities[:, 0], np.maximum(probabilities[:, 0], probabilities[:, 1])


def _counts(probabilities: Floats, positive: Booleans, thresholds: Floats) -> tuple[Integers, Integers]:
    decided, confidence = _decisions(probabilities)
    reached = np.searchsorted(thresholds, confidence, side="right")
    return _at_least(reached, thresholds.size), _at_least(reached[decided != positive], thresholds.size)


def _at_least(reached: Integers, n: int) -> Integers:
    return np.bincount(reached, minlength=n + 1)[:0:-1].cumsum()[::-1]


def _binomial_tails(errors: Integers, n: Integers, rate: float) -> Floats:
    from scipy.special import bdtr

    return np.asarray(bdtr(errors, n, rate))


def _fallback(p_values: Floats, starts: Integers, delta: float) -> Booleans:
    level = np.zeros(p_values.size)
    level[starts] = delta / starts.size
    passed = np.zeros(p_values.size, dtype=np.bool_)
    handed_on = 0.0
    for i in range(p_values.size - 1, -1, -1):
        level[i] += handed_on
        passed[i] = p_values[i] <= level[i]
        handed_on = level[i] if passed[i] else 0.0
    return passed


def _check_thresholds(thresholds: ArrayLike) -> Floats:
    grid = np.atleast_1d(check_scores(thresholds, "thresholds"))
    if grid.ndim != 1 or not grid.size or grid[0] < 0.5 or grid[-1] > 1 or (np.diff(grid) <= 0).any():
        raise InputError("thresholds needs confidences that increase from 0.5 to 1; it got others; sort them.")
    return grid
