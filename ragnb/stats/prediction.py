"""Measures of how well scores or probabilities predict a label or another score, with intervals.

The functions compute areas under ROC and risk-coverage curves, correlations, prediction errors and
calibration.

All functions except `expected_calibration_error` raise InputError for arguments outside the stated
range.
"""

from dataclasses import replace
from math import inf, nan, sqrt

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from ragnb.arguments import Booleans, Floats, Integers, accepts
from ragnb.results import (
    Interval,
    SignificanceResult,
    two_sided,
    undefined_interval,
    undefined_test,
)
from ragnb.rounding import ROUNDING, tied_levels
from ragnb.stats.intervals import (
    bca_interval,
    jackknife_interval,
    left_out_interval,
    mean_interval,
    spread_problem,
)

# ---- area under the ROC curve -------------------------------------------------------------------


@accepts(labels="labels", scores="scores", clusters="clusters", confidence_level="level")
def auroc(
    labels: Booleans,
    scores: Floats,
    clusters: Integers | None = None,
    *,
    confidence_level: float = 0.95,
) -> Interval:
    """Area under the ROC curve with DeLong's or a cluster-robust confidence interval.

    The area is the probability that a randomly chosen positive item has a higher score than a
    randomly chosen negative item. Ties count as one half.

    Parameters
    ----------
    labels : array-like of shape (n,)
        True labels, 0 or 1. Label 1 is the positive class.
    scores : array-like of shape (n,)
        Score of each item. Higher scores should indicate label 1.
    clusters : array-like of shape (n,), default=None
        Cluster of each item, such as its question. If None, items are treated as independent, and
        the interval is DeLong's. Otherwise, it is a cluster-robust t interval.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, in (0, 1). The actual coverage of DeLong's interval is
        lower for areas near 1.

    Returns
    -------
    Interval
        The area with its limits, in [0, 1]; higher is better, and 0.5 corresponds to random scores.
        The area is NaN unless both labels occur. Without clusters, the limits are NaN if a class
        has fewer than two items. With clusters, they are NaN if there are fewer than two clusters.
        In both cases, they are NaN if the estimated variance is 0, for example because the scores
        separate the classes perfectly.

    Notes
    -----
    The placement of a positive item is the proportion of negative items with a lower score. The
    placement of a negative item is the proportion of positive items with a higher score. Ties count
    as one half. To obtain DeLong's variance [1]_, the variance of the placements in each class is
    divided by the number of items in the class, and the two quotients are added. The computation
    follows [2]_.

    With clusters, the deviation of each placement from the area is divided by the number of items
    in its class, and these values are summed within each of the G clusters. The variance is G /
    (G - 1) times the sum of the squares of these G sums. It differs from the variance of Obuchowski
    [3]_ only in the small-sample correction.

    References
    ----------
    .. [1] DeLong, E. R., DeLong, D. M. & Clarke-Pearson, D. L. (1988). Comparing the areas under
       two or more correlated receiver operating characteristic curves. Biometrics 44, 837-845.
    .. [2] Sun, X. & Xu, W. (2014). Fast implementation of DeLong's algorithm. IEEE Signal Process.
       Lett. 21, 1389-1393.
    .. [3] Obuchowski, N. A. (1997). Nonparametric analysis of clustered ROC curve data. Biometrics
       53, 567-578.

    Examples
    --------
    >>> print(auroc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))  # 3 of 4 pairs in the right order
    0.750 [0.057, 1.000] (95% DeLong, n = 4)
    """
    placements = _placements(labels, scores)
    if clusters is None or np.isnan(placements).any():
        interval = _delong(labels, placements, 0.0, confidence_level)[0]
        return interval if clusters is None else replace(interval, n=np.unique(clusters).size)
    area = float(placements[labels].mean())
    class_size = np.where(labels, labels.sum(), (~labels).sum())
    values = area + (placements - area) * labels.size / class_size
    interval = mean_interval(values, clusters, confidence_level=confidence_level)
    return replace(interval, estimate=area, method=f"AUROC, {interval.method}").clipped(0.0, 1.0)


@accepts(labels="labels", first="scores", second="scores", confidence_level="level")
def compare_auroc(
    labels: Booleans, first: Floats, second: Floats, *, confidence_level: float = 0.95
) -> tuple[Interval, SignificanceResult]:
    """Difference between two areas under the ROC curve, with DeLong's interval and test.

    Items are treated as independent.

    Parameters
    ----------
    labels : array-like of shape (n,)
        True labels, 0 or 1. Label 1 is the positive class.
    first, second : array-like of shape (n,)
        Two scores of the same items. Higher scores should indicate label 1.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, in (0, 1).

    Returns
    -------
    interval : Interval
        The area for `first` minus the area for `second`, with DeLong's interval, in [-1, 1].
    test : SignificanceResult
        Two-sided test of the null hypothesis that the areas are equal. Under this hypothesis, the
        statistic is approximately standard normal.

    Notes
    -----
    The difference is NaN unless both labels occur. Limits, statistic and p-value are NaN if a class
    has fewer than two items or if the estimated variance is 0, for example because both scores rank
    the items identically.

    References
    ----------
    .. [1] DeLong, E. R., DeLong, D. M. & Clarke-Pearson, D. L. (1988). Comparing the areas under
       two or more correlated receiver operating characteristic curves. Biometrics 44, 837-845.

    Examples
    --------
    >>> for result in compare_auroc([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6], [2, 4, 5, 1, 3, 6]):
    ...     print(result)  # 8 / 9 - 4 / 9
    0.444 [-0.043, 0.931] (95% DeLong, n = 6)
    statistic 1.789, p = 0.0736 (DeLong test, two-sided, n = 6)
    """
    differences = _placements(labels, first) - _placements(labels, second)
    interval, z = _delong(labels, differences, -1.0, confidence_level)
    if interval.problem:
        return interval, undefined_test("two-sided", "DeLong test", interval.n, interval.problem)
    p = float(two_sided(ndtr(z), ndtr(-z), "two-sided"))
    return interval, SignificanceResult(z, p, "two-sided", "DeLong test", interval.n)


def _placements(labels: Booleans, scores: Floats) -> Floats:
    """Proportion of the other class with which each item is in the right order."""
    from scipy.stats import rankdata

    n_positive, n_negative = labels.sum(), (~labels).sum()
    if not n_positive or not n_negative:
        return np.full(labels.size, nan)
    # Rank among all items minus rank in its own class = number of lower items of the other class.
    levels = tied_levels(scores)
    lower = rankdata(levels)
    for own_class in (labels, ~labels):
        lower[own_class] -= rankdata(levels[own_class])
    return np.where(labels, lower / n_negative, 1 - lower / n_positive)


def _delong(
    labels: Booleans, placements: Floats, lowest: float, confidence_level: float
) -> tuple[Interval, float]:
    """DeLong's interval for an area or a difference of areas, and the z statistic."""
    positive, negative = placements[labels], placements[~labels]
    smallest, about = min(positive.size, negative.size), (confidence_level, "DeLong", labels.size)
    if not smallest:
        return undefined_interval(nan, *about, "items of both classes are needed"), nan
    estimate = float(positive.mean())
    if smallest == 1:
        few = "at least 2 items of each class are needed"
        return undefined_interval(estimate, *about, few), nan
    error = sqrt(positive.var(ddof=1) / positive.size + negative.var(ddof=1) / negative.size)
    if error <= 1e-12:  # rounding error
        return undefined_interval(estimate, *about, "DeLong's estimate of the variance is 0"), nan
    half = float(ndtri((1 + confidence_level) / 2)) * error
    interval = Interval(estimate, estimate - half, estimate + half, *about)
    return interval.clipped(lowest, 1.0), estimate / error


# ---- correlation and errors ---------------------------------------------------------------------


@accepts(first="scores", second="scores", clusters="clusters", confidence_level="level")
def pearson(
    first: Floats,
    second: Floats,
    clusters: Integers | None = None,
    *,
    confidence_level: float = 0.95,
) -> Interval:
    """Pearson correlation with Fisher's z interval or a cluster jackknife interval.

    Parameters
    ----------
    first, second : array-like of shape (n,)
        The two variables.
    clusters : array-like of shape (n,), default=None
        Cluster of each item, such as its question. If None, items are treated as independent, and
        the interval is Fisher's. Otherwise, it is a jackknife t interval for arctanh(r),
        transformed back.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, in (0, 1). Fisher's z interval assumes bivariate normal
        data.

    Returns
    -------
    Interval
        The correlation r in [-1, 1] with its limits. The correlation is NaN if there are fewer than
        two items or if one of the variables does not vary. The limits are NaN if there are fewer
        than four items or if the correlation is perfect. With clusters, the conditions of
        `ragnb.stats.intervals.jackknife_interval` apply instead, and a perfect correlation counts
        as undefined.

    References
    ----------
    .. [1] Fisher, R. A. (1921). On the "probable error" of a coefficient of correlation deduced
       from a small sample. Metron 1, 3-32.

    Examples
    --------
    >>> print(pearson([1, 2, 3, 4, 5], [1, 3, 2, 5, 4]))
    0.800 [-0.280, 0.986] (95% Pearson, Fisher z, n = 5)
    """
    from scipy.stats import pearsonr

    n = first.size if clusters is None else np.unique(clusters).size
    method = "Pearson, Fisher z" if clusters is None else "Pearson, jackknife"
    if problem := spread_problem(first) or spread_problem(second):
        return undefined_interval(nan, confidence_level, method, n, problem)
    if clusters is not None:
        sums = correlation_sums(first, second, clusters)
        with np.errstate(divide="ignore", invalid="ignore"):  # arctanh of a perfect r is infinite
            z = jackknife_interval(_fisher_z, sums, confidence_level=confidence_level)
        estimate, low, high = np.tanh([z.estimate, z.low, z.high]).tolist()
        return replace(z, estimate=estimate, low=low, high=high, method=f"Pearson, {z.method}")
    correlation = pearsonr(first, second)
    r = float(correlation.statistic)
    if n < 4 or abs(r) >= 1 - 1e-12:
        problem = f"at least 4 items are needed, got {n}" if n < 4 else "the correlation is perfect"
        return undefined_interval(r, confidence_level, method, n, problem)
    low, high = map(float, correlation.confidence_interval(confidence_level))
    return Interval(r, low, high, confidence_level, method, n)


def correlation_sums(first: Floats, second: Floats, clusters: Integers) -> Floats:
    """The sums of each cluster from which `correlation_of_sums` computes Pearson's correlation.

    The clusters are numbered from 0. The variables are standardised, which does not change the correlation.
    """
    x, y = ((side - side.mean()) / side.std() for side in (first, second))
    items = (np.ones_like(x), x, y, x * x, y * y, x * y)
    return np.stack([np.bincount(clusters, values) for values in items], axis=1)


def correlation_of_sums(sums: Floats) -> Floats:
    """Compute Pearson's correlation from n and the sums of x, y, x^2, y^2 and x y, on the last axis.

    >>> sums = correlation_sums(np.array([1, 2, 3]), np.array([1, 3, 2]), np.arange(3))
    >>> round(float(correlation_of_sums(sums.sum(axis=0))), 6)
    0.5
    """
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    spread = np.sqrt(np.maximum(n * xx - x * x, 0.0) * np.maximum(n * yy - y * y, 0.0))
    r = (n * xy - x * y) / np.where(spread > 1e-12, spread, nan)
    return np.clip(r, -1.0, 1.0)


def _fisher_z(sums: Floats) -> Floats:
    """Compute arctanh(r) from the sums of `correlation_sums`."""
    return np.arctanh(correlation_of_sums(sums))


@accepts(predictions="scores", targets="scores", clusters="clusters", confidence_level="level")
def rmse(
    predictions: Floats,
    targets: Floats,
    clusters: Integers | None = None,
    *,
    confidence_level: float = 0.95,
) -> Interval:
    """Root mean squared error with a BCa bootstrap interval or a cluster jackknife interval.

    The error is sqrt(mean((prediction - target)^2)).

    Parameters
    ----------
    predictions, targets : array-like of shape (n,)
        Predicted and true values.
    clusters : array-like of shape (n,), default=None
        Cluster of each item, such as its question. If None, items are treated as independent, and
        the interval is a BCa bootstrap interval. Otherwise, it is a jackknife t interval over
        clusters.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, in (0, 1).

    Returns
    -------
    Interval
        The error with its limits, in [0, inf) and in the units of the targets; lower is better. The
        error is NaN if there are no items. The limits are NaN if there are fewer than two items (or
        clusters) or if the estimated standard error is 0.

    Examples
    --------
    >>> round(rmse([1, 2, 3], [1, 2, 5]).estimate, 4)  # sqrt(4 / 3)
    1.1547
    """
    errors = (predictions - targets) ** 2
    if clusters is None:
        mse = bca_interval(errors, confidence_level=confidence_level)
        estimate, low, high = np.sqrt([mse.estimate, mse.low, mse.high]).tolist()
        return replace(mse, estimate=estimate, low=low, high=high, method=f"RMSE, {mse.method}")
    interval = jackknife_interval(
        lambda sums: np.sqrt(np.maximum(sums[..., 0], 0) / sums[..., 1]),
        np.stack([np.bincount(clusters, errors), np.bincount(clusters)], axis=1),
        bounds=(0.0, inf),
        confidence_level=confidence_level,
    )
    return replace(interval, method=f"RMSE, {interval.method}")


@accepts(
    labels="labels", probabilities="probabilities", clusters="clusters", confidence_level="level"
)
def brier_score(
    labels: Booleans,
    probabilities: Floats,
    clusters: Integers | None = None,
    *,
    confidence_level: float = 0.95,
) -> Interval:
    """Brier score: mean squared difference between predicted probabilities and 0/1 labels.

    Parameters
    ----------
    labels : array-like of shape (n,)
        True labels, 0 or 1.
    probabilities : array-like of shape (n,)
        Predicted probabilities of label 1, in [0, 1].
    clusters : array-like of shape (n,), default=None
        Cluster of each item, such as its question. If None, items are treated as independent, and
        the interval is a BCa bootstrap interval. Otherwise, it is a cluster-robust t interval.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, in (0, 1).

    Returns
    -------
    Interval
        The score with its limits, in [0, 1]; lower is better, and predicting 0.5 for every item
        gives 0.25. Score and limits are NaN if there are no items.

    Notes
    -----
    The score is half of the original definition [1]_, which sums over both labels.

    References
    ----------
    .. [1] Brier, G. W. (1950). Verification of forecasts expressed in terms of probability. Mon.
       Weather Rev. 78, 1-3.

    Examples
    --------
    >>> round(brier_score([1, 0, 1], [0.9, 0.2, 0.6]).estimate, 6)  # (0.01 + 0.04 + 0.16) / 3
    0.07
    """
    errors, bounds = (probabilities - labels) ** 2, (0.0, 1.0)
    if clusters is None:
        interval = bca_interval(errors, bounds=bounds, confidence_level=confidence_level)
    else:
        interval = mean_interval(errors, clusters, bounds=bounds, confidence_level=confidence_level)
    return replace(interval, method=f"Brier, {interval.method}").clipped(*bounds)


# ---- calibration --------------------------------------------------------------------------------


@accepts(labels="labels", probabilities="probabilities", n_bins="size")
def reliability_curve(labels: Booleans, probabilities: Floats, *, n_bins: int = 10) -> pd.DataFrame:
    """Reliability curve: mean predicted probability and proportion of label 1 in each bin.

    Parameters
    ----------
    labels : array-like of shape (n,)
        True labels, 0 or 1.
    probabilities : array-like of shape (n,)
        Predicted probabilities of label 1, in [0, 1].
    n_bins : int, default=10
        Number of bins of equal width between 0 and 1. Each bin includes its lower edge, and the
        last bin also includes its upper edge.

    Returns
    -------
    pandas.DataFrame
        One row per non-empty bin, with the columns

        - ``low``, ``high``: edges of the bin;
        - ``n``: number of items in the bin;
        - ``mean_predicted``: mean predicted probability;
        - ``observed``: proportion of items with label 1;
        - ``expected_gap``: approximate expected value of abs(observed - mean_predicted) under
          perfect calibration.

    Notes
    -----
    The expected gap is sqrt(2 / pi) s, where s = sqrt(sum p (1 - p)) / n is the standard deviation
    of ``observed`` under perfect calibration, and p are the predicted probabilities in the bin. It
    is based on the normal approximation.

    References
    ----------
    .. [1] Niculescu-Mizil, A. & Caruana, R. (2005). Predicting good probabilities with supervised
       learning. ICML.

    Examples
    --------
    >>> curve = reliability_curve([1, 0, 1, 1], [0.9, 0.9, 0.2, 0.2], n_bins=2)
    >>> curve[["low", "high", "n", "mean_predicted", "observed"]].to_dict("split")["data"]
    [[0.0, 0.5, 2, 0.2, 1.0], [0.5, 1.0, 2, 0.9, 0.5]]
    """
    edges = np.arange(n_bins + 1) / n_bins
    # A probability such as 1 - 0.9 is the edge 0.1 except for rounding error.
    bins = np.clip(np.searchsorted(edges, probabilities + ROUNDING, "right") - 1, 0, n_bins - 1)
    items = pd.DataFrame({"bin": bins, "p": probabilities, "y": labels.astype(np.float64)})
    items["variance"] = items["p"] * (1 - items["p"])
    grouped = items.groupby("bin")
    n = grouped.size()
    curve = {
        "low": edges[n.index],
        "high": edges[n.index + 1],
        "n": n,
        "mean_predicted": grouped["p"].mean(),
        "observed": grouped["y"].mean(),
        "expected_gap": np.sqrt(2 / np.pi * grouped["variance"].sum()) / n,
    }
    return pd.DataFrame(curve).reset_index(drop=True)


@accepts()
def expected_calibration_error(curve: pd.DataFrame) -> tuple[float, float]:
    """Expected calibration error (ECE), and its expected value under perfect calibration.

    ECE = sum_b (n_b / n) abs(observed_b - mean_predicted_b)

    Here n_b, observed_b and mean_predicted_b are the values of `curve` in bin b, and n is the total
    number of items.

    Parameters
    ----------
    curve : pandas.DataFrame
        Output of `reliability_curve`.

    Returns
    -------
    ece : float
        The calibration error in [0, 1]; lower is better. It is NaN if there are no items.
    expected : float
        Approximate expected ECE of a perfectly calibrated model with the same predicted
        probabilities. This value is above 0 because the ECE is biased upwards [2]_, [3]_. Only an
        ECE clearly above it suggests miscalibration. It is NaN if there are no items.

    References
    ----------
    .. [1] Naeini, M. P., Cooper, G. & Hauskrecht, M. (2015). Obtaining well calibrated
       probabilities using Bayesian binning. AAAI.
    .. [2] Broecker, J. (2012). Estimating reliability and resolution of probability forecasts
       through decomposition of the empirical score. Clim. Dyn. 39, 655-667.
    .. [3] Roelofs, R. et al. (2022). Mitigating bias in calibration error estimation. AISTATS.

    Examples
    --------
    >>> curve = reliability_curve([1, 0, 1, 1], [0.9, 0.9, 0.2, 0.2])
    >>> round(expected_calibration_error(curve)[0], 6)  # (|0.5 - 0.9| + |1 - 0.2|) / 2
    0.6
    """
    if curve.empty:
        return nan, nan
    gaps = (curve["observed"] - curve["mean_predicted"]).abs()
    both = np.average([gaps, curve["expected_gap"]], axis=1, weights=curve["n"])
    return float(both[0]), float(both[1])


# ---- selective prediction ------------------------------------------------------------------------


@accepts(errors="labels", confidence="scores", clusters="clusters", confidence_level="level")
def aurc(
    errors: Booleans,
    confidence: Floats,
    clusters: Integers | None = None,
    *,
    minus_random: bool = False,
    confidence_level: float = 0.95,
) -> Interval:
    """Area under the risk-coverage curve (AURC) with a jackknife confidence interval.

    The area is the error rate among the k most confident predictions, averaged over k = 1, ..., n.
    If predictions have equal confidence, the area is averaged over all orders of these predictions.

    Parameters
    ----------
    errors : array-like of shape (n,)
        1 if the prediction is wrong and 0 if it is correct.
    confidence : array-like of shape (n,)
        Confidence in each prediction. Higher values mean more confidence. Only the order of the
        values matters.
    clusters : array-like of shape (n,), default=None
        Cluster of each item, such as its question. If None, items are treated as independent.
    minus_random : bool, default=False
        Whether to subtract the overall error rate, which is the expected area for a random ranking.
    confidence_level : float, default=0.95
        Nominal coverage of the interval, in (0, 1).

    Returns
    -------
    Interval
        The area with its confidence limits, in [0, 1], or in [-1, 1] if `minus_random` is True; lower is
        better. The area is NaN if there are no items. The limits are NaN under the conditions
        described in `ragnb.stats.intervals.jackknife_interval`.

    References
    ----------
    .. [1] Geifman, Y., Uziel, G. & El-Yaniv, R. (2019). Bias-reduced uncertainty estimation for
       deep neural classifiers. ICLR.

    Examples
    --------
    >>> area = aurc([0, 1, 0, 1], [0.9, 0.6, 0.6, 0.1])
    >>> round(area.estimate, 4)  # (0 + 1/4 + 1/3 + 1/2) / 4
    0.2708
    """
    units = np.arange(errors.size) if clusters is None else clusters
    n = np.unique(units).size
    _, tie, size = np.unique(-confidence, return_inverse=True, return_counts=True)

    def area(left_out: Integers) -> float:
        """The area under the risk-coverage curve without some of the items."""
        wrong = np.bincount(np.delete(tie, left_out), np.delete(errors, left_out), size.size)
        left = size - np.bincount(tie[left_out], minlength=size.size)
        expected = np.repeat(wrong[left > 0] / left[left > 0], left[left > 0])
        if not expected.size:
            return nan
        risks = np.cumsum(expected) / np.arange(1, expected.size + 1)
        return float(risks.mean() - risks[-1] * minus_random)

    of_unit = np.split(np.argsort(units, kind="stable"), np.cumsum(np.bincount(units))[:-1])
    left_out = np.array([area(places) for places in of_unit])
    bounds = (-1.0 if minus_random else 0.0, 1.0)
    everything = area(np.array([], dtype=int))
    return left_out_interval(everything, left_out, n, bounds, confidence_level)
