"""Selective classification with a guarantee for the selective risk, by Learn then Test.

The coverage guarantee of conformal prediction sets applies to all items together. It does not limit
the *selective risk*, which is the error rate among the accepted labels. `calibrate_selective_risk`
chooses a confidence threshold such that the selective risk is at most `alpha` with probability at
least 1 - `delta` over calibration sets. This holds for any classifier if the items are independent
and identically distributed.

All functions raise InputError for arguments outside the stated range.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, log, log1p, nan

import numpy as np
from numpy.typing import ArrayLike

from ragnb.arguments import Booleans, Floats, Integers, accepts
from ragnb.errors import InputError
from ragnb.printing import warn
from ragnb.rounding import ROUNDING

# Confidences from 0.5 to 0.982, in equal steps of the log-odds.
THRESHOLDS: Floats = 1 / (1 + np.exp(-np.arange(41) / 10))

# Places of the thresholds among which the fallback procedure divides delta.
STARTS = (0, 10, 20, 30, 40)


@dataclass(frozen=True, slots=True)
class SelectiveClassifier:
    """Binary classifier that abstains on items with low confidence.

    The *confidence* is the predicted probability of the more probable label. If it is at least
    `threshold`, the classifier accepts this label, or label 0 if both are equally probable.
    Otherwise, the classifier abstains. It is created by `calibrate_selective_risk`.

    Attributes
    ----------
    threshold : float
        Lowest confidence at which a label is accepted; ``inf`` if no label is accepted.
    alpha : float
        Tolerated error rate among the accepted labels.
    delta : float
        Tolerated probability, over calibration sets, that the error rate exceeds `alpha`.
    n : int
        Number of calibration items.
    n_accepted : int
        Number of calibration items whose label is accepted.
    n_errors : int
        Number of calibration items whose accepted label is wrong.
    p_value : float
        Unadjusted p-value of the null hypothesis that the error rate among the accepted labels is
        above `alpha`; NaN if the threshold is infinite.
    """

    threshold: float
    alpha: float
    delta: float
    n: int
    n_accepted: int
    n_errors: int
    p_value: float

    @property
    def warning(self) -> str:
        """Explanation of why no label is accepted; empty if a threshold was found."""
        if self.threshold <= 1:
            return ""
        fewest = ceil(log(self.delta / len(STARTS)) / log1p(-self.alpha))
        return (
            "No label is accepted, because no confidence threshold was found to control the "
            f"selective risk at alpha = {self.alpha:g} with delta = {self.delta:g}. This needs at "
            f"least {fewest} accepted labels without an error; there are {self.n} calibration items."
        )

    @accepts(probability="probabilities")
    def sets(self, probability: ArrayLike) -> Booleans:
        """Compute the prediction set of each item.

        The set contains the accepted label or, if the classifier abstains, both labels.

        Parameters
        ----------
        probability : array-like of shape (n,)
            Predicted probability of label 1.

        Returns
        -------
        ndarray of bool of shape (n, 2)
            Whether labels 0 and 1 are in the set.

        Warns
        -----
        RuntimeWarning
            No threshold was found, so no label is accepted.
        """
        if self.warning:
            warn(self.warning, RuntimeWarning)
        probability_of_1 = np.asarray(probability)
        likelier = probability_of_1 > 0.5
        abstains = np.maximum(probability_of_1, 1 - probability_of_1) + ROUNDING < self.threshold
        return np.column_stack([~likelier | abstains, likelier | abstains])


@accepts(probability="probabilities", labels="labels", alpha="rate", delta="rate")
def calibrate_selective_risk(
    probability: Floats, labels: Booleans, alpha: Fraction, delta: Fraction
) -> SelectiveClassifier:
    """Choose a confidence threshold that controls the selective risk, by Learn then Test.

    With probability at least 1 - `delta` over calibration sets, the error rate among the accepted
    labels of new items is at most `alpha`, or no label is accepted. The calibration items and the
    new items must be independent and identically distributed.

    Parameters
    ----------
    probability : array-like of shape (n,)
        Predicted probability of label 1 for each calibration item. The calibration items must not
        have been used to train the classifier.
    labels : array-like of shape (n,)
        True labels, 0 or 1.
    alpha : float, str, Fraction or Decimal
        Tolerated error rate among the accepted labels, in (0, 1).
    delta : float, str, Fraction or Decimal
        Tolerated probability, over calibration sets, that the error rate exceeds `alpha`, in
        (0, 1).

    Returns
    -------
    SelectiveClassifier
        Classifier with the chosen threshold. If no null hypothesis is rejected, it accepts no
        label.

    Notes
    -----
    The candidate thresholds are 41 confidences from 0.5 to 0.982 in equal steps of the log-odds.
    For a threshold t, the null hypothesis is r(t) > `alpha`, where r(t) is the error rate among
    items with a confidence of at least t. Given the number m of such calibration items, the number
    of errors among them has a Binomial(m, r(t)) distribution. A valid p-value [1]_ is therefore
    P(Binomial(m, `alpha`) <= observed number of errors).

    The fallback procedure [2]_ tests the thresholds in descending order. Five of them (0.982,
    0.953, 0.881, 0.731 and 0.5) start with the level `delta` / 5, and the others with the level 0.
    A null hypothesis is rejected if its p-value is at most its level. The level of a rejected
    hypothesis is then added to that of the next lower threshold. The probability of rejecting any
    true null hypothesis is at most `delta`, whatever the dependence between the p-values. Among the
    thresholds whose null hypothesis is rejected, the lowest is chosen, because it accepts the most
    labels.

    References
    ----------
    .. [1] Angelopoulos, A. N., Bates, S., Candès, E. J., Jordan, M. I. & Lei, L. (2021). Learn then
       Test: Calibrating predictive algorithms to achieve risk control. arXiv:2110.01052.
    .. [2] Wiens, B. L. & Dmitrienko, A. (2005). The fallback procedure for evaluating a single
       family of hypotheses. J. Biopharm. Stat. 15, 929-942.

    Examples
    --------
    >>> classifier = calibrate_selective_risk(
    ...     [0.97] * 60 + [0.6] * 40, [1] * 60 + [0, 1] * 20, alpha=0.1, delta=0.1
    ... )
    >>> classifier.n_accepted, classifier.n_errors, f"{classifier.p_value:.4f}"  # p = 0.9 ** 60
    (60, 0, '0.0018')
    """
    from scipy.special import bdtr

    if not labels.size:
        raise InputError("calibrate_selective_risk needs at least one labelled item")
    # A confidence that equals a threshold except for rounding error reaches it.
    confidence = np.maximum(probability, 1 - probability) + ROUNDING
    confidence_of_errors = confidence[(probability > 0.5) != labels]
    n_accepted = _n_at_least(THRESHOLDS, confidence)
    n_errors = _n_at_least(THRESHOLDS, confidence_of_errors)
    p_values = bdtr(n_errors, n_accepted, float(alpha))

    # The fallback procedure, from the highest threshold down. The level of a rejected hypothesis is
    # added to that of the next one.
    lowest_rejected = None
    level = 0.0
    for number in reversed(range(THRESHOLDS.size)):
        if number in STARTS:
            level += float(delta) / len(STARTS)
        if p_values[number] <= level:
            lowest_rejected = number
        else:
            level = 0.0
    settings = float(alpha), float(delta), labels.size
    if lowest_rejected is None:
        return SelectiveClassifier(inf, *settings, 0, 0, nan)
    return SelectiveClassifier(
        float(THRESHOLDS[lowest_rejected]),
        *settings,
        int(n_accepted[lowest_rejected]),
        int(n_errors[lowest_rejected]),
        float(p_values[lowest_rejected]),
    )


def _n_at_least(thresholds: Floats, values: Floats) -> Integers:
    """The number of values that reach each threshold."""
    return values.size - np.searchsorted(np.sort(values), thresholds)
