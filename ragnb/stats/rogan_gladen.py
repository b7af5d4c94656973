"""The rate of success behind a judge's 0/1 verdicts, corrected by its sensitivity and specificity (Rogan and Gladen)."""

from dataclasses import dataclass
from math import nan, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragnb.results import Interval
from ragnb.stats.checks import check_binary, check_level
from ragnb.stats.intervals import rate_interval
from ragnb.stats.numerics import normal_quantile
from ragnb.stats.ppi_sample import check_labels, check_sizes, check_verdicts


@dataclass(frozen=True, slots=True)
class RoganGladenInterval(Interval):
    """A rate corrected by the sensitivity and specificity of the judge.

    Attributes
    ----------
    sensitivity, specificity : Interval
        Share of the successes that the judge calls so, and of the failures, with Wilson intervals.
    """

    sensitivity: Interval
    specificity: Interval


def rogan_gladen(
    labels: ArrayLike, judged: ArrayLike, judged_unlabelled: ArrayLike, *, confidence_level: float = 0.95
) -> RoganGladenInterval:
    """Rate of success, from the judge's rate on unlabelled items and its sensitivity and specificity on labelled ones.

    In [0, 1]; ``nan`` when the labels hold no success or no failure, and when the judge's Youden index (sensitivity +
    specificity - 1) is not above 0: a judge no better than a coin says nothing. Estimate clipped to [0, 1].

    Parameters
    ----------
    labels, judged : array_like of shape (n,)
        0/1 labels and verdicts on the same items. They need not be drawn at random from all items, only from the successes
        and from the failures; if they were, `ppi_mean` is narrower, because it learns from the labels' own rate as well.
    judged_unlabelled : array_like of shape (N,)
        The judge's 0/1 verdicts on items drawn at random from all.
    confidence_level : float, default 0.95
        Nominal coverage; not to be trusted while the Youden index is within its own error of 0.

    Raises
    ------
    InputError
        If a value is neither 0 nor 1, lengths differ, or a list is empty.

    Notes
    -----
    (q + specificity - 1) / (sensitivity + specificity - 1), q the judge's rate. Interval of Lang and Reiczigel: z^2 / 2
    successes and failures are added to q, one of each to sensitivity and specificity; with these the delta-method standard
    error, and a shift of 2 z^2 (p Se (1 - Se) / (n1 + 2) - (1 - p) Sp (1 - Sp) / (n0 + 2)).

    References
    ----------
    Rogan, W. J. & Gladen, B. (1978). Estimating prevalence from the results of a screening test. Am. J. Epidemiol. 107,
    71-76. Lang, Z. & Reiczigel, J. (2014). Confidence limits for prevalence of disease adjusted for estimated sensitivity
    and specificity. Prev. Vet. Med. 113, 13-22.

    Examples
    --------
    >>> labels, judged = [1] * 50 + [0] * 50, [1] * 45 + [0] * 5 + [1] * 10 + [0] * 40
    >>> print(rogan_gladen(labels, judged, [1] * 550 + [0] * 450))  # (.55 + .8 - 1) / (.9 + .8 - 1)
    0.500 [0.384, 0.612] (95% Rogan-Gladen, Lang-Reiczigel, n = 100)
    """
    level = check_level(confidence_level)
    truth, said = check_binary(check_labels(labels, "labels")), _verdicts(judged, "judged")
    unlabelled = _verdicts(judged_unlabelled, "judged_unlabelled")
    check_sizes(truth.size, said.size, unlabelled.size)
    sensitivity = rate_interval(int((truth & said).sum()), int(truth.sum()), confidence_level=level)
    specificity = rate_interval(int((~truth & ~said).sum()), int((~truth).sum()), confidence_level=level)
    estimate, low, high, method = nan, nan, nan, "Rogan-Gladen, Lang-Reiczigel"
    if problem := _problem(sensitivity, specificity):
        method += f"; undefined: {problem}"
    else:
        called, z = int(unlabelled.sum()), normal_quantile((1 + level) / 2)
        estimate = _corrected(called / unlabelled.size, sensitivity.estimate, specificity.estimate)
        low, high = _lang_reiczigel(called, unlabelled.size, sensitivity, specificity, z)
        estimate = min(max(estimate, 0.0), 1.0)
    return RoganGladenInterval(estimate, low, high, level, method, truth.size, sensitivity, specificity)


def _verdicts(verdicts: ArrayLike, what: str) -> NDArray[np.bool_]:
    return check_binary(check_verdicts(verdicts, what), what)


def _problem(sensitivity: Interval, specificity: Interval) -> str:
    if not sensitivity.n or not specificity.n:
        return f"no label is a {'success' if not sensitivity.n else 'failure'}"
    for se, sp in ((sensitivity.estimate, specificity.estimate), (_add_two(sensitivity), _add_two(specificity))):
        if se + sp <= 1 + 1e-12:
            return "the judge is no better than a coin"
    return ""


def _corrected(rate: float, sensitivity: float, specificity: float) -> float:
    return (rate + specificity - 1) / (sensitivity + specificity - 1)


def _add_two(share: Interval) -> float:
    return (share.estimate * share.n + 1) / (share.n + 2)


def _lang_reiczigel(called: int, n: int, sensitivity: Interval, specificity: Interval, z: float) -> tuple[float, float]:
    more, z2 = n + z * z, z * z
    q, se, sp = (called + z2 / 2) / more, _add_two(sensitivity), _add_two(specificity)
    p = _corrected(q, se, sp)
    se_variance, sp_variance = se * (1 - se) / (sensitivity.n + 2), sp * (1 - sp) / (specificity.n + 2)
    variance = q * (1 - q) / more + p**2 * se_variance + (1 - p) ** 2 * sp_variance
    centre = p + 2 * z2 * (p * se_variance - (1 - p) * sp_variance)
    half = z * sqrt(variance) / (se + sp - 1)
    return min(max(centre - half, 0.0), 1.0), max(min(centre + half, 1.0), 0.0)
