"""Estimates of means and rates from a few human labels and many verdicts of an automatic judge.

The mean of a judge's verdicts is biased if the judge makes systematic errors. `ppi_mean`
(prediction-powered inference) and `rogan_gladen` (only for rates) correct this bias with the help
of labels. `labels_needed` and `expected_half_width` help you plan how many labels to collect.

All functions raise InputError for arguments outside the stated range.
"""

from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import partial
from math import inf, nan, sqrt
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtrit

from ragnb.arguments import (
    Booleans,
    Bounds,
    Floats,
    Integers,
    accepts,
    as_clusters,
    as_labels,
    as_scores,
)
from ragnb.errors import InputError
from ragnb.numbers import percent
from ragnb.results import Interval, Sentence, undefined_interval
from ragnb.stats.intervals import mean_interval, too_few

# ---- results -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False)
class PpiInterval(Interval):
    """Prediction-powered estimate, together with the labels-only and judge-only estimates.

    In addition to the attributes below, it has those of `ragnb.results.Interval`. The attribute `n`
    is the number of labelled items, or of labelled clusters if clusters are given.

    Attributes
    ----------
    n_labels : int
        Number of items with a label and a verdict.
    n_unlabelled : int
        Number of items with a verdict only.
    lam : float
        Weight λ of the judge. If it is 0, the estimate is the mean of the labels.
    effective_sample_size : float
        Estimated number of labels that would give the same standard error without the judge; NaN if
        undefined.
    classical : Interval
        Mean of the labels with its interval (λ = 0).
    judge_only : Interval
        Mean of the judge's verdicts on all items, labelled or not, with its t interval. It is not
        corrected for the bias of the judge.
    standard_error : float
        Standard error of the estimate; NaN if undefined.
    df : int
        Degrees of freedom of its t distribution.
    """

    n_labels: int
    n_unlabelled: int
    lam: float
    effective_sample_size: float
    classical: Interval
    judge_only: Interval
    standard_error: float
    df: int

    def __str__(self) -> str:
        alone = self.classical
        return (
            f"{Interval.__str__(self)}; worth {self.effective_sample_size:.0f} labels; "
            f"labels alone {alone.estimate:z.3f} [{alone.low:z.3f}, {alone.high:z.3f}], "
            f"judge alone {self.judge_only.estimate:z.3f}"
        )


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate with its interval, the squared standard error (NaN if undefined), and its df."""

    interval: Interval
    squared_error: float
    df: int


def ppi_result(
    corrected: Estimate,
    labels_alone: Estimate,
    judge_alone: Interval,
    *,
    lam: float,
    n_labels: int,
    n_unlabelled: int,
) -> PpiInterval:
    """Put the three estimates together: corrected, from the labels alone, and from the judge alone."""
    interval = corrected.interval
    return PpiInterval(
        interval.estimate,
        interval.low,
        interval.high,
        interval.confidence_level,
        interval.method,
        interval.n,
        problem=interval.problem,
        n_labels=n_labels,
        n_unlabelled=n_unlabelled,
        lam=lam,
        effective_sample_size=n_labels * labels_alone.squared_error / corrected.squared_error,
        classical=labels_alone.interval,
        judge_only=replace(
            judge_alone, method=f"judge alone, {judge_alone.method}; its bias ignored"
        ),
        standard_error=sqrt(corrected.squared_error),
        df=corrected.df,
    )


def require_within(labels: Floats, bounds: Bounds) -> None:
    """Raise InputError if a label lies outside of the bounds."""
    if labels.min() < bounds[0] or labels.max() > bounds[1]:
        raise InputError(
            f"labels must be within bounds {bounds}, got {labels.min():g} to {labels.max():g}"
        )


@dataclass(frozen=True, slots=True, repr=False)
class LabelPlan(Sentence):
    """Number of labels and expected half-width of the interval, with and without a judge.

    Attributes
    ----------
    n_labels : float
        Number of labels if the judge is used; NaN if even labelling all `n_judged` items is not
        enough.
    n_labels_alone : float
        Number of labels if the judge is not used.
    half_width, half_width_alone : float
        Expected half-widths of the intervals with and without the judge, in the units of the
        labels; NaN if the number of labels is NaN.
    correlation : float
        Pearson correlation of labels and verdicts in the pilot data; NaN if the verdicts do not
        vary.
    n_judged : int
        Number of items with a verdict, including those to be labelled.
    confidence_level : float
        Nominal coverage of the intervals.
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
        level = f"{percent(self.confidence_level)}, pilot correlation {self.correlation:z.2f}"
        return f"{judged}; {alone} ({level})"


# ---- arguments ---------------------------------------------------------------------------------


def as_verdicts(values: ArrayLike) -> Floats:
    """Convert the verdicts of a judge to an array of floats, and check that none is missing."""
    verdicts = np.asarray(values, dtype=np.float64)
    missing = int(np.isnan(verdicts).sum())
    if missing:
        raise InputError(
            f"must have a verdict for every item, got {missing} missing; replace missing verdicts by "
            "one value, such as 0, wherever they occur, because leaving these items out would bias the result"
        )
    return as_scores(verdicts)


def as_binary_verdicts(values: ArrayLike) -> Booleans:
    """Convert 0/1 verdicts of a judge to a Boolean array, and check that none is missing."""
    return as_labels(as_verdicts(values))


as_keys = partial(np.asarray, dtype=object)


# ---- prediction-powered inference --------------------------------------------------------------


@accepts(
    labels="scores", judged=as_verdicts, clusters=as_keys, lam="number", confidence_level="level"
)
@accepts(judged_unlabelled=as_verdicts, clusters_unlabelled=as_keys)
def ppi_mean(
    labels: Floats,
    judged: Floats,
    judged_unlabelled: Floats,
    *,
    clusters: ArrayLike | None = None,
    clusters_unlabelled: ArrayLike | None = None,
    lam: float | None = None,
    bounds: Bounds | None = None,
    confidence_level: float = 0.95,
) -> PpiInterval:
    """Prediction-powered estimate (PPI++) of a mean from a few labels and many verdicts of a judge.

    Parameters
    ----------
    labels, judged : array-like of shape (n,)
        Human labels, and verdicts of the judge on the same n >= 2 items. The labelled items must be
        a random sample of all items, and the judge must not have been tuned on these labels.
    judged_unlabelled : array-like of shape (N,)
        Verdicts of the judge on N >= 2 other items, in at least two clusters if clusters are given.
        All verdicts should be on the same scale as the labels.
    clusters : array-like of shape (n,), default=None
        Cluster of each labelled item, such as its question. If None, items are treated as
        independent.
    clusters_unlabelled : array-like of shape (N,), default=None
        Cluster of each unlabelled item. Required if `clusters` is given.
    lam : float, default=None
        Weight λ of the judge; 0 ignores the judge, and 1 gives the original PPI estimate [1]_. If
        None, the weight in [0, 1] that minimises the estimated variance is used. This weight is
        computed as if all items were independent.
    bounds : tuple of (float, float), default=None
        Smallest and largest possible label. The estimate and its limits are clipped to this range.
        If None, the bounds are (0, 1) if all labels are 0 or 1, and infinite otherwise. For
        differences of 0/1 labels, pass (-1, 1).
    confidence_level : float, default=0.95
        Nominal coverage of the interval, in (0, 1). The actual coverage is lower if there are few
        labels and most of them lie at one end of their range. The Notes describe how this is
        avoided for whole-number labels.

    Returns
    -------
    PpiInterval
        The estimate with its limits. The limits are NaN if there are fewer than three labels or
        labelled clusters (two if `lam` is given). Unless the labels are whole numbers with finite
        bounds, the limits are also NaN if label - λ * verdict does not vary.

    Notes
    -----
    Let Y and F be the labels and verdicts of the labelled items, and F' the verdicts on the other
    items. The estimate [2]_ is mean(Y) + λ (mean(F') - mean(F)). Its standard error is sqrt(s^2 / n
    + λ^2 s'^2 / N), where s^2 is the variance of Y - λ F and s'^2 is the variance of F'. By
    default, λ = cov(Y, F) / ((1 + n / N) v), clipped to [0, 1], where v is the variance of all
    verdicts. The interval is a t interval with n - 1 degrees of freedom, or n - 2 if λ is
    estimated. The degrees of freedom are also the divisor of s^2. With clusters, the errors are
    summed within each cluster before they are squared, and n in the degrees of freedom is the
    number of labelled clusters.

    If the labels are whole numbers with finite bounds, the variance is computed as if there were
    one more label, half of it at each bound and uncorrelated with the verdicts. This keeps the
    variance above 0 even if all labels agree with the judge. If the bounds are (0, 1), the interval
    is a Wilson interval with a t quantile instead of the normal quantile. Its sample size is the
    number of independent labels that would give this variance.

    References
    ----------
    .. [1] Angelopoulos, A. N., Bates, S., Fannjiang, C., Jordan, M. I. & Zrnic, T. (2023).
       Prediction-powered inference. Science 382, 669-674.
    .. [2] Angelopoulos, A. N., Duchi, J. C. & Zrnic, T. (2023). PPI++: Efficient prediction-powered
       inference. arXiv:2311.01453.

    Examples
    --------
    >>> result = ppi_mean([1, 1, 0, 1] * 25, [1, 1, 0, 0] * 25, [1, 0] * 500)
    >>> print(result)
    0.750 [0.671, 0.815] (95% PPI++, Wilson with a t quantile, n = 100); worth 141 labels; labels alone ...

    To compare two systems on the same questions, pass the differences of their labels and verdicts:

    >>> first, second = np.array([1, 1, 0, 1, 1, 0] * 5), np.array([1, 0, 0, 0, 1, 1] * 5)
    >>> others = np.array([1, 1, 0] * 100) - np.array([1, 0, 0] * 100)
    >>> ppi_mean(first - second, first - second, others, bounds=(-1, 1)).method
    'PPI++, t'
    """
    if (clusters is None) != (clusters_unlabelled is None):
        raise InputError("clusters and clusters_unlabelled must be given together, got one of them")
    codes, n_others = None, judged_unlabelled.size
    if clusters is not None:
        codes = as_clusters(np.concatenate([clusters, clusters_unlabelled]))
        n_others = np.unique(codes[labels.size :]).size
    if min(labels.size, n_others) < 2:
        raise InputError(
            f"ppi_mean needs at least 2 labels and 2 unlabelled items or clusters, got {labels.size} "
            f"and {n_others}"
        )
    bounds = bounds or ((0, 1) if np.isin(labels, (0, 1)).all() else (-inf, inf))
    require_within(labels, bounds)
    verdicts = np.concatenate([judged, judged_unlabelled])
    weight = lam
    if weight is None:
        covariance = float(np.cov(labels, judged, ddof=0)[0, 1])
        weight = _fitted_lam(covariance, verdicts.var(ddof=1), labels.size / judged_unlabelled.size)
    sample = labels, judged, judged_unlabelled, codes, bounds, confidence_level
    return ppi_result(
        _estimate("PPI++", weight, lam is None, *sample),
        _estimate("labels alone", 0.0, False, *sample),
        mean_interval(verdicts, codes, confidence_level=confidence_level),
        lam=weight,
        n_labels=labels.size,
        n_unlabelled=judged_unlabelled.size,
    )


def _estimate(
    name: str,
    lam: float,
    fitted: bool,
    labels: Floats,
    judged: Floats,
    unlabelled: Floats,
    codes: Integers | None,
    bounds: Bounds,
    level: float,
) -> Estimate:
    """The estimate with weight λ of the judge."""
    rest = labels - lam * judged
    raw = float(labels.mean() + lam * (unlabelled.mean() - judged.mean()))
    estimate = min(max(raw, bounds[0]), bounds[1])

    # Contribution of each unit to the error of the estimate: labelled and unlabelled units.
    of_labelled = (rest - rest.mean()) / rest.size
    of_unlabelled = lam * (unlabelled - unlabelled.mean()) / unlabelled.size
    if codes is not None:
        sums = np.bincount(codes, np.concatenate([of_labelled, of_unlabelled]))
        is_labelled = np.isin(np.arange(sums.size), codes[: labels.size])
        of_labelled, of_unlabelled = sums[is_labelled], sums[~is_labelled]
    n = of_labelled.size
    n_unlabelled = of_unlabelled.size
    df = n - 1 - fitted  # a weight that is fitted to the labels costs one more
    error = n / max(df, 1) * float(of_labelled @ of_labelled)
    error += n_unlabelled / max(n_unlabelled - 1, 1) * float(of_unlabelled @ of_unlabelled)
    variance = float(labels.var())
    counts = bool(np.isfinite(bounds).all() and (labels == np.round(labels)).all())
    if counts:
        tuned = lam * float(np.cov(labels, judged, ddof=0)[0, 1])
        added, variance = _one_more_label(float(labels.mean()), variance, tuned, n, bounds)
        error += added
    spread = sqrt(error) if counts else min(sqrt(error), float(np.ptp(rest)))

    wilson = counts and tuple(bounds) == (0, 1)
    kind, unit = "Wilson with a t quantile" if wilson else "t", "labels"
    if codes is not None:
        kind, unit = f"cluster-robust {kind}, {n} clusters{too_few(n)}", "clusters"
    method = f"{name}, {kind}"
    if df < 1 or spread <= 1e-12 * max(np.abs(labels).max(), np.abs(judged).max()):
        few = f"at least {n - df + 1} {unit} are needed, got {n}"
        problem = few if df < 1 else "label - weight * verdict does not vary"
        return Estimate(undefined_interval(estimate, level, method, n, problem), nan, df)
    quantile = float(stdtrit(df, (1 + level) / 2))
    low, high = raw - quantile * sqrt(error), raw + quantile * sqrt(error)
    if wilson:
        low, high = _wilson(estimate, variance / error, quantile)
    if raw != estimate or low < bounds[0] or high > bounds[1]:
        low, high = np.clip([low, high], *bounds).tolist()
        method += f", clipped to [{bounds[0]:g}, {bounds[1]:g}]"
    return Estimate(Interval(estimate, low, high, level, method, n), error, df)


def _fitted_lam(covariance: float, judge_variance: float, ratio: float) -> float:
    """Weight λ in [0, 1] with the smallest variance; `ratio` is labelled / unlabelled items."""
    if judge_variance <= 0:
        return 0.0
    return min(max(covariance / ((1 + ratio) * judge_variance), 0.0), 1.0)


def _one_more_label(
    mean: float, variance: float, tuned_covariance: float, units: int, bounds: Bounds
) -> tuple[float, float]:
    """Increase of the squared error by one more label, and the variance of the labels with it.

    Half of the label is at each bound, and it is uncorrelated with the judge.

    >>> added, variance = _one_more_label(1.0, 0.0, 0.0, 9, (0, 1))  # 9.5 successes of 10
    >>> round(variance, 6), round(added, 6)  # 0.95 (1 - 0.95), and this divided by 9
    (0.0475, 0.005278)
    """
    share, (low, high) = 1 / (units + 1), bounds
    moved = (1 - share) * mean + share * (low + high) / 2
    square = (1 - share) * (variance + mean**2) + share * (low**2 + high**2) / 2
    wider = square - moved**2
    return max(wider - variance + 2 * share * tuned_covariance, 0.0) / units, wider


def _wilson(rate: float, n: float, quantile: float) -> Bounds:
    """Wilson limits for a rate from `n` independent labels, where n need not be an integer."""
    q = quantile * quantile / n
    centre, half = (rate + q / 2) / (1 + q), sqrt(rate * (1 - rate) * q + q * q / 4) / (1 + q)
    return max(centre - half, 0.0), min(centre + half, 1.0)


# ---- planning ----------------------------------------------------------------------------------


@accepts(
    pilot_labels="scores",
    pilot_judged=as_verdicts,
    n_judged="size",
    half_width="positive",
    confidence_level="level",
)
def labels_needed(
    pilot_labels: Floats,
    pilot_judged: Floats,
    n_judged: int,
    half_width: float,
    *,
    confidence_level: float = 0.95,
) -> LabelPlan:
    """Number of labels needed for an interval with a given half-width, with and without the judge.

    Parameters
    ----------
    pilot_labels, pilot_judged : array-like of shape (m,)
        Human labels and verdicts of the judge on a small random sample of items. If all labels are
        0 or 1, the interval is planned for a rate, and otherwise for a mean. The labels must not
        all be equal.
    n_judged : int
        Number of items that will have a verdict, including those to be labelled.
    half_width : float
        Desired half-width of the interval, above 0 and in the units of the labels.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, in (0, 1).

    Returns
    -------
    LabelPlan
        The numbers of labels with and without the judge, and the expected half-widths.

    Notes
    -----
    The expected half-widths are approximately those of `ppi_mean` without clusters and with the
    default λ and bounds. They assume that the mean, variances and covariance are as in the pilot
    data. For a mean, the half-width is t s sqrt((1 - r^2 N / (n + N)) / n) unless λ is clipped.
    Here n is the number of labels, N = n_judged - n, s is the standard deviation of the labels, r
    is their correlation with the verdicts (0 without the judge), and t is the (1 +
    `confidence_level`) / 2 quantile of the t distribution with n - 2 degrees of freedom, or n - 1
    without the judge.

    Examples
    --------
    >>> labels, judged = [0.1, 0.4, 0.5, 0.9, 1.0, 0.3], [0.2, 0.3, 0.5, 0.8, 0.9, 0.5]
    >>> print(labels_needed(labels, judged, 2000, 0.05))
    29 labels and 2000 verdicts: +-0.050; 191 labels alone: +-0.050 (95%, pilot correlation 0.95)
    """
    width = partial(_planned_half_width, pilot_labels, pilot_judged, confidence_level)
    n = bisect_left(range(n_judged + 1), True, 3, key=lambda n: width(n, n_judged) <= half_width)
    alone = bisect_left(range(2**60), True, 2, key=lambda n: width(n, n) <= half_width)
    n_labels = n if n <= n_judged else nan
    return _plan(pilot_labels, pilot_judged, n_labels, alone, n_judged, confidence_level)


@accepts(
    pilot_labels="scores",
    pilot_judged=as_verdicts,
    n_judged="size",
    n_labels="size",
    confidence_level="level",
)
def expected_half_width(
    pilot_labels: Floats,
    pilot_judged: Floats,
    n_judged: int,
    n_labels: int,
    *,
    confidence_level: float = 0.95,
) -> LabelPlan:
    """Expected half-width of the interval for a given number of labels, with and without the judge.

    Parameters
    ----------
    pilot_labels, pilot_judged : array-like of shape (m,)
        Human labels and verdicts of the judge on a small random sample of items. If all labels are
        0 or 1, the interval is planned for a rate, and otherwise for a mean. The labels must not
        all be equal.
    n_judged : int
        Number of items that will have a verdict, including those to be labelled.
    n_labels : int
        Number of labels, from 3 to `n_judged`.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, in (0, 1).

    Returns
    -------
    LabelPlan
        The expected half-widths, computed as in `labels_needed`.

    Examples
    --------
    >>> labels, judged = [1, 1, 0, 1, 0, 1, 1, 1, 1, 0], [1, 1, 0, 1, 1, 1, 0, 1, 1, 0]
    >>> print(expected_half_width(labels, judged, 3000, 200))
    200 labels and 3000 verdicts: +-0.055; 200 labels alone: +-0.063 (95%, pilot correlation 0.52)
    """
    if not 3 <= n_labels <= n_judged:
        raise InputError(f"n_labels must be from 3 to n_judged ({n_judged}), got {n_labels}")
    return _plan(pilot_labels, pilot_judged, n_labels, n_labels, n_judged, confidence_level)


@accepts(
    pilot_labels="scores",
    pilot_judged=as_verdicts,
    n_judged="size",
    confidence_level="level",
)
def expected_half_widths(
    pilot_labels: Floats,
    pilot_judged: Floats,
    n_judged: int,
    sizes: Integers,
    *,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """Expected half-widths for several numbers of labels, with and without the judge, for `ragnb.plot`.

    Parameters
    ----------
    pilot_labels, pilot_judged, n_judged, confidence_level
        The same as for `expected_half_width`.
    sizes : array-like of shape (k,)
        Numbers of labels, each from 3 to `n_judged`.

    Returns
    -------
    pandas.DataFrame
        Two rows per number, with the columns ``labels`` (``"with the judge"`` or ``"labels alone"``),
        ``n_labels``, ``half_width``, ``n_judged``, ``n_pilot``, ``correlation`` (in the pilot data)
        and ``confidence_level``.

    Examples
    --------
    >>> labels, judged = [1, 1, 0, 1, 0, 1, 1, 1, 1, 0], [1, 1, 0, 1, 1, 1, 0, 1, 1, 0]
    >>> widths = expected_half_widths(labels, judged, 3000, [200])
    >>> widths[["labels", "n_labels", "half_width"]].round(3).to_dict("split")["data"]
    [['with the judge', 200, 0.055], ['labels alone', 200, 0.063]]
    """
    rows = []
    for name in ("with the judge", "labels alone"):
        for n in sizes:
            plan = expected_half_width(
                pilot_labels, pilot_judged, n_judged, int(n), confidence_level=confidence_level
            )
            is_alone = name == "labels alone"
            row: dict[str, Any] = {"labels": name, "n_labels": int(n)}
            row["half_width"] = plan.half_width_alone if is_alone else plan.half_width
            row |= {"n_judged": n_judged, "n_pilot": pilot_labels.size}
            row |= {"correlation": plan.correlation, "confidence_level": confidence_level}
            rows.append(row)
    return pd.DataFrame(rows)


def _planned_half_width(
    labels: Floats, judged: Floats, level: float, n: float, n_judged: float
) -> float:
    """Expected half-width of the interval from n labels among n_judged items; NaN if n is NaN."""
    if np.isnan(n):
        return nan
    if np.unique(labels).size < 2:
        values = f"only {labels[0]:g}" if labels.size else "none"
        raise InputError(f"pilot_labels must differ, got {values}")
    others = n_judged - n
    (variance, covariance), (_, judge_variance) = np.cov(labels, judged).tolist()
    lam = _fitted_lam(covariance, judge_variance, n / others) if others else 0.0
    quantile = float(stdtrit(n - 1 - (others > 0), (1 + level) / 2))
    rest = variance - 2 * lam * covariance + lam**2 * judge_variance
    error = rest / n + lam**2 * judge_variance / max(others, 1)
    if not np.isin(labels, (0, 1)).all():
        return quantile * sqrt(error)
    mean = float(labels.mean())
    added, variance = _one_more_label(mean, variance, lam * covariance, int(n), (0, 1))
    low, high = _wilson(mean, variance / (error + added), quantile)
    return (high - low) / 2


def _plan(
    labels: Floats, judged: Floats, n: float, alone: float, n_judged: int, level: float
) -> LabelPlan:
    half_width = _planned_half_width(labels, judged, level, n, n_judged)
    half_width_alone = _planned_half_width(labels, judged, level, alone, alone)
    correlation = float(np.corrcoef(labels, judged)[0, 1]) if np.ptp(judged) else nan
    return LabelPlan(n, alone, half_width, half_width_alone, correlation, n_judged, level)


# ---- Rogan and Gladen --------------------------------------------------------------------------


@accepts(labels="labels", judged=as_binary_verdicts, confidence_level="level")
@accepts(judged_unlabelled=as_binary_verdicts)
def rogan_gladen(
    labels: Booleans,
    judged: Booleans,
    judged_unlabelled: Booleans,
    *,
    confidence_level: float = 0.95,
) -> Interval:
    """Rogan-Gladen estimate of a rate from 0/1 verdicts, corrected for the errors of the judge.

    The sensitivity and specificity of the judge are estimated from labelled items.

    Parameters
    ----------
    labels, judged : array-like of shape (n,)
        Human labels and verdicts of the judge on the same items, 0 or 1. The items with label 1 and
        those with label 0 must each be a random sample of their class. The proportions of the two
        classes are arbitrary.
    judged_unlabelled : array-like of shape (N,)
        Verdicts of the judge on a random sample of all items, 0 or 1. There must be at least one.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, in (0, 1).

    Returns
    -------
    Interval
        The estimated rate with its limits, clipped to [0, 1]. Estimate and limits are NaN if one of
        the two labels does not occur. They are also NaN if the judge is no better than chance, that
        is, if sensitivity + specificity is at most 1 before or after the adjustment described in
        the Notes.

    Notes
    -----
    The estimate [1]_ is (q + Sp - 1) / (Se + Sp - 1), where q is the proportion of unlabelled items
    with verdict 1, Se is the sensitivity and Sp the specificity.

    The interval is that of Lang and Reiczigel [2]_. They first adjust the three proportions. For q,
    they add z^2 / 2 verdicts of 0 and z^2 / 2 verdicts of 1, where z is the (1 +
    `confidence_level`) / 2 quantile of the standard normal distribution. For Se and for Sp, they
    add one correct and one wrong verdict. They then apply the delta method and correct the centre
    of the interval for bias.

    References
    ----------
    .. [1] Rogan, W. J. & Gladen, B. (1978). Estimating prevalence from the results of a screening
       test. Am. J. Epidemiol. 107, 71-76.
    .. [2] Lang, Z. & Reiczigel, J. (2014). Confidence limits for prevalence of disease adjusted for
       estimated sensitivity and specificity. Prev. Vet. Med. 113, 13-22.

    Examples
    --------
    >>> labels, judged = [1] * 50 + [0] * 50, [1] * 45 + [0] * 5 + [1] * 10 + [0] * 40
    >>> print(rogan_gladen(labels, judged, [1] * 550 + [0] * 450))  # (.55 + .8 - 1) / (.9 + .8 - 1)
    0.500 [0.384, 0.612] (95% Rogan-Gladen, Lang-Reiczigel, n = 100)
    """
    if not judged_unlabelled.size:
        raise InputError("rogan_gladen needs at least 1 unlabelled item, got 0")
    return rogan_gladen_from_counts(
        int(judged_unlabelled.sum()),
        judged_unlabelled.size,
        true_positives=int((judged & labels).sum()),
        positives=int(labels.sum()),
        true_negatives=int((~judged & ~labels).sum()),
        negatives=int((~labels).sum()),
        confidence_level=confidence_level,
    )


@accepts(
    accepted="count",
    n="size",
    true_positives="count",
    positives="count",
    true_negatives="count",
    negatives="count",
    confidence_level="level",
)
def rogan_gladen_from_counts(
    accepted: int,
    n: int,
    *,
    true_positives: int,
    positives: int,
    true_negatives: int,
    negatives: int,
    confidence_level: float = 0.95,
) -> Interval:
    """Rogan-Gladen estimate of a rate, from counts as they are published.

    Parameters
    ----------
    accepted, n : int
        Number of items that the judge accepted (verdict 1), and the number that it judged, at least 1.
    true_positives, positives : int
        Of the labelled items, the number with label 1 that the judge accepted, and all with label 1.
    true_negatives, negatives : int
        Of the labelled items, the number with label 0 that the judge rejected, and all with label 0.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, in (0, 1).

    Returns
    -------
    Interval
        The estimated rate with its limits, as from `rogan_gladen`, which has the formulas. `n` of the
        result is the number of labelled items.

    Examples
    --------
    >>> counts = dict(true_positives=45, positives=50, true_negatives=40, negatives=50)
    >>> print(rogan_gladen_from_counts(550, 1000, **counts))  # (.55 + .8 - 1) / (.9 + .8 - 1)
    0.500 [0.384, 0.612] (95% Rogan-Gladen, Lang-Reiczigel, n = 100)
    """
    _check_part("accepted", accepted, "n", n)
    _check_part("true_positives", true_positives, "positives", positives)
    _check_part("true_negatives", true_negatives, "negatives", negatives)
    method = "Rogan-Gladen, Lang-Reiczigel"
    n_labelled = positives + negatives
    of = np.array([positives, negatives])
    right = np.array([true_positives, true_negatives])
    if not of.all():
        problem = f"no label is a {'failure' if positives else 'success'}"
        return undefined_interval(nan, confidence_level, method, n_labelled, problem)
    rates, shrunken = right / of, (right + 1) / (of + 2)
    if min(rates.sum(), shrunken.sum()) <= 1 + 1e-12:
        problem = "the judge is no better than chance"
        return undefined_interval(nan, confidence_level, method, n_labelled, problem)
    estimate = (accepted / n + rates[1] - 1) / (rates.sum() - 1)
    se, sp = shrunken
    se_variance, sp_variance = shrunken * (1 - shrunken) / (of + 2)
    z2 = float(ndtri((1 + confidence_level) / 2)) ** 2
    q = (accepted + z2 / 2) / (n + z2)
    p = (q + sp - 1) / (se + sp - 1)
    centre = p + 2 * z2 * (p * se_variance - (1 - p) * sp_variance)
    variance = q * (1 - q) / (n + z2) + p**2 * se_variance + (1 - p) ** 2 * sp_variance
    half = sqrt(z2 * variance) / (se + sp - 1)
    estimate, low, high = np.clip([estimate, centre - half, centre + half], 0, 1).tolist()
    return Interval(estimate, low, high, confidence_level, method, n_labelled)


@accepts(
    true_positives="count",
    positives="count",
    true_negatives="count",
    negatives="count",
    confidence_level="level",
)
def youden_index(
    true_positives: int,
    positives: int,
    true_negatives: int,
    negatives: int,
    *,
    confidence_level: float = 0.95,
) -> Interval:
    """Youden's J of a judge: sensitivity + specificity - 1, with its interval.

    If two systems differ by d in their true shares of correct items, the shares that the judge accepts
    differ by J d. J is 1 for a judge without errors, and 0 for one that decides at random.

    Parameters
    ----------
    true_positives, positives : int
        Number of items with label 1 that the judge accepted, and all items with label 1.
    true_negatives, negatives : int
        Number of items with label 0 that the judge rejected, and all items with label 0.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, in (0, 1).

    Returns
    -------
    Interval
        J with its limits, in [-1, 1]; all NaN if one of the two labels does not occur. `n` is the number
        of labelled items.

    Notes
    -----
    J is the difference between the shares that the judge accepts of items with label 1 and of items with
    label 0. The interval is Newcombe's hybrid score interval for this difference [2]_, as in
    ``statsmodels.stats.proportion.confint_proportions_2indep``.

    References
    ----------
    .. [1] Youden, W. J. (1950). Index for rating diagnostic tests. Cancer 3, 32-35.
    .. [2] Newcombe, R. G. (1998). Interval estimation for the difference between independent proportions:
       comparison of eleven methods. Stat. Med. 17, 873-890, method 10.

    Examples
    --------
    >>> print(youden_index(45, 50, 40, 50))  # 0.9 + 0.8 - 1
    0.700 [0.527, 0.804] (95% Newcombe, n = 100)
    """
    from statsmodels.stats.proportion import confint_proportions_2indep

    _check_part("true_positives", true_positives, "positives", positives)
    _check_part("true_negatives", true_negatives, "negatives", negatives)
    n = positives + negatives
    if not positives or not negatives:
        problem = f"no label is a {'failure' if positives else 'success'}"
        return undefined_interval(nan, confidence_level, "Newcombe", n, problem)
    low, high = confint_proportions_2indep(
        true_positives,
        positives,
        negatives - true_negatives,
        negatives,
        method="newcomb",
        compare="diff",
        alpha=1 - confidence_level,
        correction=False,
    )
    estimate = true_positives / positives + true_negatives / negatives - 1
    return Interval(estimate, float(low), float(high), confidence_level, "Newcombe", n)


def _check_part(part: str, count: int, whole: str, total: int) -> None:
    """Raise InputError if a part is larger than its whole."""
    if count > total:
        raise InputError(f"{part} must be at most {whole}, got {count} of {total}")
