"""Frozen results that the statistics return: plain values, printed with their method."""

from dataclasses import dataclass
from math import nan


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with a two-sided interval.

    Attributes
    ----------
    estimate, low, high : float
        In the unit of the scores; ``nan`` where undefined.
    confidence_level : float
        Nominal coverage, in (0, 1).
    method : str
        Name of the interval, as printed under tables and figures.
    n : int
        Number of independent units behind the estimate.
    """

    estimate: float
    low: float
    high: float
    confidence_level: float
    method: str
    n: int

    def __str__(self) -> str:
        return (
            f"{self.estimate:.3f} [{self.low:.3f}, {self.high:.3f}] ("
            f"{self.confidence_level:.0%} {self.method}, n = {self.n})"
        )


@dataclass(frozen=True, slots=True)
class SignificanceResult:
    """The outcome of a hypothesis test.

    Attributes
    ----------
    statistic : float
        The observed statistic named in ``method``; ``nan`` where undefined.
    p_value : float
        In (0, 1], never 0; ``nan`` where undefined.
    alternative : str
        ``"two-sided"``, ``"greater"`` or ``"less"``.
    method : str
        Name of the test, as printed under tables and figures.
    n : int
        Number of independent units (pairs, or clusters) behind the test.
    warning : str
        Why the result is undefined or to be doubted; empty when there is nothing to say.
    """

    statistic: float
    p_value: float
    alternative: str
    method: str
    n: int
    warning: str = ""

    def __str__(self) -> str:
        note = f"; {self.warning}" if self.warning else ""
        return (
            f"statistic {self.statistic:.4g}, {format_p_value(self.p_value)} "
            f"({self.method}, {self.alternative}, n = {self.n}{note})"
        )


def undefined_interval(
    estimate: float, confidence_level: float, method: str, n: int, reason: str
) -> Interval:
    """Interval with limits ``nan`` whose method states the reason."""
    return Interval(estimate, nan, nan, confidence_level, f"{method}; undefined: {reason}", n)


def undefined_test(alternative: str, method: str, n: int, reason: str) -> SignificanceResult:
    """Test result of ``nan`` whose warning states the reason."""
    return SignificanceResult(nan, nan, alternative, method, n, f"undefined: {reason}")


@dataclass(frozen=True, slots=True)
class PairedTable:
    """Counts of the items on which both, one or neither of two systems succeed.

    Attributes
    ----------
    both, first_only, second_only, neither : int
        Number of items; `first_only` and `second_only` are the discordant ones.
    """

    both: int
    first_only: int
    second_only: int
    neither: int


def format_p_value(p_value: float) -> str:
    """Return a p-value as text with a printed floor.

    From ``"p < 1e-12"`` to ``"p = 1.0000"``; ``"p undefined"`` for ``nan``.

    Examples
    --------
    >>> [format_p_value(p) for p in (0.0347, 2e-5, 1e-40)]
    ['p = 0.0347', 'p = 2e-05', 'p < 1e-12']
    """
    if p_value != p_value:
        return "p undefined"
    if p_value < 1e-12:
        return "p < 1e-12"
    return f"p = {p_value:.4f}" if p_value >= 1e-3 else f"p = {p_value:.2g}"


@dataclass(frozen=True, slots=True)
class AdjustedPValues:
    """P-values corrected over one declared family.

    Attributes
    ----------
    p_values, adjusted : tuple of float
        As given and corrected, in the order given; ``nan`` stays ``nan``.
    method : str
        Name of the correction.
    family_size : int
        Number of p-values corrected together.
    left_out : tuple of int
        Positions of the undefined (``nan``) p-values, which are no part of the family.
    """

    p_values: tuple[float, ...]
    adjusted: tuple[float, ...]
    method: str
    family_size: int
    left_out: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class EquivalenceResult:
    """The outcome of two one-sided tests against a margin, with the interval that decides it.

    Attributes
    ----------
    p_value : float
        The larger of the two one-sided p-values; equivalence is shown when it is at most ``1 - confidence_level``.
    margin : float
        Largest difference in either direction that counts as no difference, in the unit of the scores.
    interval : Interval
        The mean difference with its interval at level ``2 * confidence_level - 1``, the dual of the test.
    equivalent : bool
        Whether the interval lies strictly inside (-margin, margin); ``False`` where undefined.
    """

    p_value: float
    margin: float
    interval: Interval
    equivalent: bool


@dataclass(frozen=True, slots=True)
class RankComparison:
    """Several systems compared pair by pair on their average ranks.

    Attributes
    ----------
    average_ranks : tuple of float
        Mean over items of each system's rank within the item, 1 the best.
    p_values : tuple of tuple of float
        Symmetric, one row and one column a system, adjusted over all pairs; 1 on the diagonal, ``nan`` where undefined.
    critical_difference : float
        Difference of average ranks beyond which p is below 1 - `confidence_level`; ``nan`` where the test has no such one.
    confidence_level : float
        One minus the level at which systems are told apart.
    method : str
        Name of the test and its correction, as printed under figures.
    n : int
        Number of items.
    warning : str
        Why the result is undefined or to be doubted; empty when there is nothing to say.
    """

    average_ranks: tuple[float, ...]
    p_values: tuple[tuple[float, ...], ...]
    critical_difference: float
    confidence_level: float
    method: str
    n: int
    warning: str = ""


@dataclass(frozen=True, slots=True)
class SystemRank:
    """Where one of several systems stands, and how sure that is.

    Attributes
    ----------
    average_rank : Interval
        Mean over items of its rank within the item, 1 the best.
    rank : Interval
        Its rank by mean score, 1 the best; the limits are whole numbers and hold for all systems at once.
    probability_best : float
        Share of resamples in which its mean score is the highest, ties shared equally; ``nan`` where undefined.
    """

    average_rank: Interval
    rank: Interval
    probability_best: float


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """One bin of a reliability curve.

    Attributes
    ----------
    low, high : float
        Edges of the bin of predicted probabilities.
    mean_predicted : float
        Mean predicted probability inside the bin.
    observed : Interval
        Share of positives inside the bin with its Wilson interval.
    """

    low: float
    high: float
    mean_predicted: float
    observed: Interval


@dataclass(frozen=True, slots=True)
class CalibrationError:
    """An expected calibration error beside the value that a perfectly calibrated model would show.

    Attributes
    ----------
    estimate : float
        Binned expected calibration error, in [0, 1]; biased upwards.
    expected_if_calibrated : float
        What ``estimate`` would be on average if every prediction were calibrated: noise, not error.
    n_bins, n : int
        Number of non-empty bins and of predictions.
    """

    estimate: float
    expected_if_calibrated: float
    n_bins: int
    n: int
