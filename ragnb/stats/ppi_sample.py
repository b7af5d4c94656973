"""A few items with a label and many with a judge's verdict alone: what PPI++ computes from them.

The public functions are in `ragnb.stats.ppi` and `ragnb.stats.ppi_planning`.
"""

from contextlib import suppress
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragnb.errors import InputError
from ragnb.records import as_keys
from ragnb.stats.checks import Floats, Integers, check_clusters, check_scores

Bounds = tuple[float, float]
#: The ends of a scale of rates.
RATE: Bounds = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Spread:
    """Squared standard error of an estimate, its units, degrees of freedom, and the variance of a label (for Wilson)."""

    squared_error: float
    units: int
    degrees: int
    label_variance: float


@dataclass(frozen=True, slots=True)
class PpiSample:
    """Labels and verdicts, with the cluster of each item (labelled ones first) or None."""

    labels: Floats
    judged: Floats
    unlabelled: Floats
    codes: Integers | None

    def tuning(self) -> float:
        """Return the fitted lambda."""
        judge_variance = float(np.concatenate([self.judged, self.unlabelled]).var(ddof=1))
        return fitted_tuning(self.covariance(), judge_variance, self.labels.size / self.unlabelled.size)

    def covariance(self) -> float:
        """Return the covariance of label and verdict, divisor n."""
        return float(np.mean((self.labels - self.labels.mean()) * (self.judged - self.judged.mean())))

    def rest(self, tuning: float) -> Floats:
        """Return the labels less what the judge says of the same items."""
        return self.labels - tuning * self.judged

    def estimate(self, tuning: float) -> float:
        """Return the labels' mean, moved by the judge."""
        return float(self.labels.mean() + tuning * (self.unlabelled.mean() - self.judged.mean()))

    def contributions(self, tuning: float) -> tuple[Floats, Floats]:
        """Return what each unit adds to the estimate's error: units that hold a label, and units that hold none."""
        rest = self.rest(tuning)
        own = (rest - rest.mean()) / rest.size
        others = tuning * (self.unlabelled - self.unlabelled.mean()) / self.unlabelled.size
        if self.codes is None:
            return own, others
        sums = np.bincount(self.codes, np.concatenate([own, others])).astype(np.float64)
        labelled = np.bincount(self.codes[: own.size], minlength=sums.size) > 0
        return sums[labelled], sums[~labelled]

    def unlabelled_units(self) -> int:
        """Return the number of items, or clusters, that hold a verdict without a label."""
        return self.unlabelled.size if self.codes is None else np.unique(self.codes[self.labels.size :]).size

    def spread(self, tuning: float, fitted: bool, ends: Bounds | None) -> Spread:
        """Return the error of the estimate with this tuning; with `ends`, that of one more label."""
        own, others = self.contributions(tuning)
        degrees = own.size - 1 - fitted
        labelled = own.size / max(degrees, 1) * float(own @ own)
        squared = labelled + others.size / max(others.size - 1, 1) * float(others @ others)
        variance = float(self.labels.var())
        if ends:
            mean, covariance = float(self.labels.mean()), self.covariance()
            added, variance = one_more_label(mean, variance, tuning * covariance, own.size, ends)
            squared += added
        return Spread(squared, own.size, degrees, variance)


# ---- three formulas, shared with the planning of labels ----------------------------------------------------------------


def fitted_tuning(covariance: float, judge_variance: float, ratio: float) -> float:
    """Return the lambda of least variance in [0, 1]; `ratio` is labelled over unlabelled items; 0 for a constant judge."""
    return min(max(covariance / ((1 + ratio) * judge_variance), 0.0), 1.0) if judge_variance > 0 else 0.0


def one_more_label(mean: float, variance: float, tuned_covariance: float, units: int, ends: Bounds) -> tuple[float, float]:
    """Return what one more label adds to the squared error, half of it at each end and unrelated to the judge.

    Beside it the variance of a label, that one included.

    Examples
    --------
    >>> added, variance = one_more_label(1.0, 0.0, 0.0, 9, (0, 1))  # nine and a half successes of ten
    >>> round(variance, 6), round(added, 6)  # .95 (1 - .95), and that over 9
    (0.0475, 0.005278)
    """
    share = 1 / (units + 1)
    moved = (1 - share) * mean + share * (ends[0] + ends[1]) / 2
    square = (1 - share) * (variance + mean**2) + share * (ends[0] ** 2 + ends[1] ** 2) / 2
    wider = square - moved**2
    return max(wider - variance + 2 * share * tuned_covariance, 0.0) / units, wider


def wilson_limits(rate: float, n: float, quantile: float) -> Bounds:
    """Return Wilson's limits of a rate from `n` independent labels, which need not be a whole number."""
    q = quantile * quantile / n
    centre, half = (rate + q / 2) / (1 + q), sqrt(rate * (1 - rate) * q + q * q / 4) / (1 + q)
    return max(centre - half, 0.0), min(centre + half, 1.0)


# ---- input -------------------------------------------------------------------------------------------------------------


def ppi_sample(
    labels: ArrayLike, judged: ArrayLike, unlabelled: ArrayLike, clusters: ArrayLike | None, others: ArrayLike | None
) -> PpiSample:
    """Return the clean sample, or raise `InputError`."""
    truth, said = check_labels(labels, "labels"), check_verdicts(judged, "judged")
    rest = check_verdicts(unlabelled, "judged_unlabelled")
    check_sizes(truth.size, said.size, rest.size)
    if (clusters is None) != (others is None):
        raise InputError(
            "A clustered PPI++ interval needs clusters of labelled and of unlabelled items; it got one of the two; "
            "pass both clusters= and clusters_unlabelled=."
        )
    if clusters is None or others is None:
        return PpiSample(truth, said, rest, None)
    keys = np.concatenate([_keys(clusters, truth.size, "clusters"), _keys(others, rest.size, "clusters_unlabelled")])
    return PpiSample(truth, said, rest, check_clusters(keys, keys.size)[0])


def _keys(clusters: ArrayLike, n: int, what: str) -> NDArray[Any]:
    keys = as_keys(clusters, what)
    if keys.shape != (n,):
        raise InputError(f"{what} needs one key per item ({n}); it got shape {keys.shape}; pass the question id of each.")
    return keys


def check_labels(labels: ArrayLike, what: str) -> Floats:
    """Return labels as floats, or say what to do with the missing ones."""
    advice = "move the verdicts on items that were left out by chance to judged_unlabelled"
    return _check_known(labels, f"{what} needs a label of every item", advice, what)


def check_verdicts(verdicts: ArrayLike, what: str) -> Floats:
    """Return a judge's verdicts as floats, or say what to do with the missing ones."""
    advice = "give each the same stand-in, such as 0 or the mean, in both lists: leaving the items out would not be valid"
    return _check_known(verdicts, f"{what} needs a verdict on every item", advice, what)


def _check_known(values: ArrayLike, need: str, advice: str, what: str) -> Floats:
    bad = np.array([])
    with suppress(TypeError, ValueError):
        bad = np.flatnonzero(~np.isfinite(np.asarray(values, dtype=np.float64)))
    if bad.size:
        raise InputError(f"{need}; it got {bad.size} nan or infinite, the first at position {bad[0]}; {advice}.")
    return check_scores(values, what)


def check_sizes(n_labels: int, n_judged: int, n_unlabelled: int) -> None:
    """Raise `InputError` unless each label has its verdict and both lists hold two items."""
    if n_labels != n_judged:
        raise InputError(
            f"A label needs the judge's verdict on the same item; it got {n_labels} labels and {n_judged} verdicts; "
            "align them by item id first."
        )
    for n, what in ((n_labels, "labels"), (n_unlabelled, "judged_unlabelled")):
        if n < 2:
            raise InputError(f"{what} needs at least two items; it got {n}; add some.")
