"""Few human labels, many verdicts of a judge: the mean that people would give, with an interval valid whatever the judge.

The judge's mean over all items is wrong by its bias, and the labels tell how much: `ppi_mean` (PPI++) takes the bias off and
is never much wider than the labels alone. `ragnb.stats.rogan_gladen` corrects 0/1 verdicts by the judge's sensitivity and
specificity, and is wider. How many labels to buy: `ragnb.stats.ppi_planning`.
"""

from dataclasses import dataclass, replace
from math import inf, nan, sqrt
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from ragnb.errors import InputError, as_real
from ragnb.results import Interval
from ragnb.stats.checks import Floats, check_differences, check_level, undefined_interval
from ragnb.stats.intervals import FEW_CLUSTERS, mean_interval
from ragnb.stats.numerics import t_quantile
from ragnb.stats.ppi_sample import RATE, Bounds, PpiSample, Spread, check_labels, check_verdicts, ppi_sample, wilson_limits

MOST_TUNING = 1e6
"""Largest weight of the judge, either way, whose square no variance is lost in."""


@dataclass(frozen=True, slots=True)
class PpiInterval(Interval):
    """A mean from few labels and many verdicts, beside what the labels alone and the judge alone say.

    ``n`` counts the independent units that hold a label: labels, or clusters.

    Attributes
    ----------
    n_labels, n_unlabelled : int
        Number of items with a label and a verdict, and with a verdict alone.
    tuning : float
        Weight of the judge (lambda): 0 the labels alone, 1 the full correction.
    effective_sample_size : float
        Number of labels that alone would give this standard error; ``nan`` where undefined.
    classical : Interval
        The same interval from the labels alone (tuning 0).
    judge_only : Interval
        Mean and t interval of the judge's verdicts on all items, its bias ignored: for comparison only.
    """

    n_labels: int
    n_unlabelled: int
    tuning: float
    effective_sample_size: float
    classical: Interval
    judge_only: Interval

    @property
    def labels_saved(self) -> float:
        """Number of labels that the judge stands for: effective sample size less `n_labels`; negative when it cost some."""
        return self.effective_sample_size - self.n_labels

    def __str__(self) -> str:
        return (
            f"{Interval.__str__(self)}; worth {self.effective_sample_size:.0f} labels; "
            f"labels alone {self.classical.estimate:.3f} [{self.classical.low:.3f}, {self.classical.high:.3f}], "
            f"judge alone {self.judge_only.estimate:.3f}"
        )


def ppi_mean(
    labels: ArrayLike,
    judged: ArrayLike,
    judged_unlabelled: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    clusters_unlabelled: ArrayLike | None = None,
    tuning: float | None = None,
    bounds: Bounds | None = None,
    confidence_level: float = 0.95,
) -> PpiInterval:
    """Prediction-powered mean (PPI++): the labels' mean, moved by what the judge says of the items without a label.

    In the unit of the labels; limits are ``nan`` for fewer than three labels (two where `tuning` is given) or clusters, and
    when labels less verdicts have no spread. Dual of no test in this package.

    Parameters
    ----------
    labels, judged : array_like of shape (n,)
        The person's label and the judge's verdict on the same items, **drawn at random** from all of them: labels of the
        items that looked doubtful give a wrong mean. The judge must not have been made with these labels.
    judged_unlabelled : array_like of shape (N,)
        The judge's verdicts on the other items; a labelled item is not to be here a second time.
    clusters, clusters_unlabelled : array_like of shape (n,) and (N,), optional
        Key of the question that several responses share, for both lists. Labels may be drawn question by question (then no
        question is in both lists) or response by response; what both lists hold of one question is one unit. Not valid where
        the label was given to a chosen response of each question, such as the first.
    tuning : float, optional
        Weight of the judge; by default the one that fits these labels best, in [0, 1]. A weight chosen beforehand keeps one
        degree of freedom.
    bounds : (float, float), optional
        Least and greatest possible label; estimate and limits beyond are cut, and the method says so. Labels that are all
        0 or 1 are taken as rates in (0, 1) unless other bounds are given.
    confidence_level : float, default 0.95
        Nominal coverage. In simulation with 20, 50, 100 and 300 labels: .93 to .97 for 0/1 labels with rates of .1 to .95
        and 0/1 judges of accuracy .5 to .95, but up to .99 (too wide) where one or two of 20 or 50 labels contradict the
        judge, and down to .92 for one of EVOUNA's systems with 20 labels and a judge that errs to one side; .93 to .97 for
        normal, Beta(2, 2) and F1-like scores. **Too low where scores pile up at one end** without being 0/1: Beta(5, 1) .93
        and Beta(9, .5) .90 with 20 labels, as any t interval (labels alone: .94 and .90).

    Raises
    ------
    InputError
        If a value is not finite, lengths differ, there are fewer than two labels or unlabelled items, only one list has
        clusters, a label lies outside its bounds, or an option is out of range.

    Notes
    -----
    mean(Y) + lambda (mean(F') - mean(F)), with standard error sqrt(s^2 / n + lambda^2 s'^2 / N), s^2 the variance of
    Y - lambda F over the labelled and s'^2 that of F' over the unlabelled items. lambda = cov(Y, F) / ((1 + n / N) v), v the
    variance of all verdicts, with divisors n and n + N - 1; clipped to [0, 1]. Interval: t with n - 1 degrees of freedom and
    the same divisor in s^2; n - 2 where lambda is fitted, which makes up for fitting it to the same labels. (ppi_py takes
    the normal quantile and the divisor n.) The fit also moves the estimate a little: on people's verdicts by .007 with 20
    labels, .001 with 200. With clusters the terms of each are summed before they are squared, and G stands for n.

    Rates: 20 labels may all agree with the judge, which shows no perfect judge. So the variance is that with one more label,
    half a success and half a failure, that knows nothing of the judge, and the interval is Wilson's (with the t quantile) at
    the number of independent labels that gives this variance. It is wider than needed when labels are few and the judge
    near perfect.

    References
    ----------
    Angelopoulos, A. N., Bates, S., Fannjiang, C., Jordan, M. I. & Zrnic, T. (2023). Prediction-powered inference. Science
    382, 669-674. Angelopoulos, A. N., Duchi, J. C. & Zrnic, T. (2023). PPI++: Efficient prediction-powered inference.
    arXiv:2311.01453.

    Examples
    --------
    >>> labels, judged = [0.5, 1.0, 0.0, 0.5], [1.0, 1.0, 0.0, 1.0]
    >>> result = ppi_mean(labels, judged, [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0], tuning=0.5)
    >>> result.estimate, result.judge_only.estimate  # 0.5 + 0.5 (0.5 - 0.75)
    (0.375, 0.5833333333333334)
    >>> print(ppi_mean([1, 1, 0, 1] * 25, [1, 1, 0, 0] * 25, [1, 0] * 500))
    0.750 [0.671, 0.815] (95% PPI++, Wilson, n = 100); worth 141 labels; labels alone 0.750 [0.655, 0.826], judge alone 0.500
    """
    level, bounds = check_level(confidence_level), _check_bounds(bounds)
    sample = ppi_sample(labels, judged, judged_unlabelled, clusters, clusters_unlabelled)
    ends = RATE if bounds in (None, RATE) and np.isin(sample.labels, RATE).all() else None
    bounds = bounds or ends
    _check_within(bounds, sample.labels, "labels")
    return _ppi(sample, tuning, bounds, ends, level)


def ppi_difference(
    first_labels: ArrayLike,
    second_labels: ArrayLike,
    first_judged: ArrayLike,
    second_judged: ArrayLike,
    first_unlabelled: ArrayLike,
    second_unlabelled: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    clusters_unlabelled: ArrayLike | None = None,
    tuning: float | None = None,
    bounds: Bounds | None = None,
    confidence_level: float = 0.95,
) -> PpiInterval:
    """Prediction-powered mean difference (PPI++) of two systems on the same questions: `ppi_mean` of first - second.

    In the unit of the labels, positive when the first is better; ``nan`` limits as `ppi_mean`. Dual of no test in this
    package.

    Parameters
    ----------
    first_labels, second_labels : array_like of shape (n,)
        Labels of the two systems' responses to the same questions, drawn at random.
    first_judged, second_judged : array_like of shape (n,)
        The judge's verdicts on these responses.
    first_unlabelled, second_unlabelled : array_like of shape (N,)
        The judge's verdicts on both systems' responses to the other questions.
    clusters, clusters_unlabelled, tuning
        As in `ppi_mean`.
    bounds : (float, float), optional
        Least and greatest possible difference; (-1, 1) where all labels are 0 or 1.
    confidence_level : float, default 0.95
        Nominal coverage; above it for 0/1 labels when few questions tell the systems apart.

    Raises
    ------
    InputError
        If two lists differ in length, a difference of labels lies outside its bounds, or as `ppi_mean`.

    Notes
    -----
    What the judge gives both systems too much cancels; what it gives one of them is taken off. For 0/1 labels the variance
    is that with one more label, half of it 1 and half -1.

    Examples
    --------
    >>> first, second = [1, 1, 0, 1, 1, 0] * 5, [1, 0, 0, 0, 1, 1] * 5
    >>> result = ppi_difference(first, second, first, second, [1, 1, 0] * 100, [1, 0, 0] * 100)
    >>> round(result.estimate, 3), round(result.classical.estimate, 3)
    (0.333, 0.167)
    """
    level, bounds = check_level(confidence_level), _check_bounds(bounds)
    labels = _difference(first_labels, second_labels, "labels")
    judged = _difference(first_judged, second_judged, "judged")
    unlabelled = _difference(first_unlabelled, second_unlabelled, "judged_unlabelled")
    sample = ppi_sample(labels, judged, unlabelled, clusters, clusters_unlabelled)
    ends = (-1.0, 1.0) if np.isin(first_labels, RATE).all() and np.isin(second_labels, RATE).all() else None
    _check_within(bounds, labels, "A difference of labels")
    return _ppi(sample, tuning, bounds or ends, ends, level)


# ---- from a sample to an interval --------------------------------------------------------------------------------------


def _ppi(sample: PpiSample, tuning: float | None, bounds: Bounds | None, ends: Bounds | None, level: float) -> PpiInterval:
    weight = sample.tuning() if tuning is None else _check_tuning(tuning)
    spread, alone = sample.spread(weight, tuning is None, ends), sample.spread(0.0, False, ends)
    found = _interval("PPI++", sample, weight, spread, bounds, ends, level)
    classical = _interval("labels alone", sample, 0.0, alone, bounds, ends, level)
    defined = found.low == found.low and classical.low == classical.low
    return PpiInterval(
        found.estimate,
        found.low,
        found.high,
        level,
        found.method,
        spread.units,
        n_labels=sample.labels.size,
        n_unlabelled=sample.unlabelled.size,
        tuning=weight,
        effective_sample_size=sample.labels.size * alone.squared_error / spread.squared_error if defined else nan,
        classical=classical,
        judge_only=_judge_only(sample, level),
    )


def _interval(
    name: str, sample: PpiSample, tuning: float, spread: Spread, bounds: Bounds | None, ends: Bounds | None, level: float
) -> Interval:
    estimate, low_end, high_end = sample.estimate(tuning), *(bounds or (-inf, inf))
    inside, method = min(max(estimate, low_end), high_end), _named(name, sample, spread, ends)
    if problem := _problem(sample, tuning, spread, ends):
        return undefined_interval(inside, level, method, spread.units, problem)
    quantile = t_quantile((1 + level) / 2, spread.degrees)
    if ends == RATE:
        low, high = wilson_limits(inside, spread.label_variance / spread.squared_error, quantile)
    else:
        half = quantile * sqrt(spread.squared_error)
        low, high = estimate - half, estimate + half
    if inside != estimate or low < low_end or high > high_end:
        low, high = max(min(low, high_end), low_end), min(max(high, low_end), high_end)
        method += f", clipped to [{low_end:g}, {high_end:g}]"
    return Interval(inside, low, high, level, method, spread.units)


def _problem(sample: PpiSample, tuning: float, spread: Spread, ends: Bounds | None) -> str:
    unit = "labels" if sample.codes is None else "clusters"
    if spread.degrees < 1:
        return f"needs {spread.units - spread.degrees + 1} {unit}, got {spread.units}"
    if sample.unlabelled_units() < 2:
        return "needs 2 clusters of unlabelled items, got 1"
    smallest = sqrt(spread.squared_error) if ends else min(sqrt(spread.squared_error), np.ptp(sample.rest(tuning)))
    scale = max(np.abs(sample.labels).max(), np.abs(sample.judged).max())
    return "no spread in labels less verdicts" if smallest <= 1e-12 * scale else ""


def _named(name: str, sample: PpiSample, spread: Spread, ends: Bounds | None) -> str:
    kind = "Wilson" if ends == RATE else "t"
    if sample.codes is None:
        return f"{name}, {kind}"
    caution = f" (fewer than {FEW_CLUSTERS}: too narrow)" if spread.units < FEW_CLUSTERS else ""
    return f"{name}, cluster-robust {kind}, {spread.units} clusters{caution}"


def _judge_only(sample: PpiSample, level: float) -> Interval:
    verdicts = np.concatenate([sample.judged, sample.unlabelled])
    if sample.codes is None:
        found = mean_interval(verdicts, confidence_level=level)
    else:
        found = mean_interval(verdicts, sample.codes, confidence_level=level)
    return replace(found, method=f"judge alone, {found.method}; its bias ignored")


def _difference(first: ArrayLike, second: ArrayLike, what: str) -> Floats:
    check = check_labels if what == "labels" else check_verdicts
    return check_differences(check(first, f"first {what}"), check(second, f"second {what}"))


def _check_tuning(tuning: float) -> float:
    if not isinstance(tuning, Real) or not abs(tuning) <= MOST_TUNING:
        raise InputError(
            f"tuning needs a number between -{MOST_TUNING:g} and {MOST_TUNING:g}, or None; it got {tuning!r}; 0 is the "
            "labels alone, 1 plain PPI."
        )
    return float(tuning)


def _check_bounds(bounds: Bounds | None) -> Bounds | None:
    if bounds is None:
        return None
    pair = isinstance(bounds, tuple | list) and len(bounds) == 2
    if not pair or not as_real(bounds[0]) < as_real(bounds[1]):
        raise InputError(f"bounds needs the least and the greatest possible label; it got {bounds!r}; write (0, 1).")
    return float(bounds[0]), float(bounds[1])


def _check_within(bounds: Bounds | None, labels: Floats, what: str) -> None:
    """Raise `InputError` if a label lies outside its bounds, by more than rounding error."""
    low, high = bounds or (-inf, inf)
    slack = 1e-12 * float(np.abs(labels).max())
    if not low - slack <= labels.min() <= labels.max() <= high + slack:
        raise InputError(
            f"{what} needs values within its bounds {bounds}; it got {labels.min():g} to {labels.max():g}; "
            "pass the least and the greatest that is possible."
        )
