"""Result classes of the statistical functions. They are immutable and displayed with their method."""

from dataclasses import dataclass, field, replace
from math import nan
from typing import Any

import numpy as np

from ragnb.markup import escape_markdown

SMALLEST_P = 2.0**-1022
"""The smallest normal double, which replaces p-values that underflow to 0."""


class Sentence:
    """Base class of results whose repr is a sentence."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_markdown_(self) -> str:
        return escape_markdown(self)


@dataclass(frozen=True, slots=True, repr=False)
class Interval(Sentence):
    """An estimate with a two-sided confidence interval.

    Attributes
    ----------
    estimate, low, high : float
        Estimate and limits, in the units of the scores; NaN if undefined. A limit may be infinite.
    confidence_level : float
        Nominal coverage, in (0, 1).
    method : str
        Name of the interval, as printed under tables and figures.
    n : int
        Number of independent units (items or clusters) from which the estimate was computed.
    problem : str
        Why the limits are undefined; empty if they are defined.
    """

    estimate: float
    low: float
    high: float
    confidence_level: float
    method: str
    n: int
    problem: str = field(default="", kw_only=True)

    def __str__(self) -> str:
        return f"{self.estimate:.3f} [{self.low:.3f}, {self.high:.3f}] ({self.basis})"

    @property
    def basis(self) -> str:
        """Confidence level, method, problem (if any) and n, such as ``95% t, n = 12``."""
        problem = f"; undefined: {self.problem}" if self.problem else ""
        return f"{self.confidence_level:.0%} {self.method}{problem}, n = {self.n}"

    def clipped(self, lowest: float, highest: float) -> "Interval":
        """Return the interval with its limits truncated to a range; NaN is kept."""
        return replace(self, low=max(self.low, lowest), high=min(self.high, highest))

    def columns(self, estimate: str = "mean") -> dict[str, Any]:
        """Return the interval as a row of a data frame, with the estimate under the given name.

        The row contains ``problem`` only if the limits are undefined. A frame in which all limits
        are defined therefore has no such column.
        """
        row = {
            estimate: self.estimate,
            "low": self.low,
            "high": self.high,
            "interval": self.method,
            "confidence_level": self.confidence_level,
        }
        return row | {"problem": self.problem} if self.problem else row


@dataclass(frozen=True, slots=True, repr=False)
class SignificanceResult(Sentence):
    """The outcome of a hypothesis test.

    Attributes
    ----------
    statistic : float
        Observed value of the test statistic; NaN if undefined.
    p_value : float
        In (0, 1], never 0; NaN if undefined.
    alternative : str
        ``"two-sided"``, ``"greater"`` or ``"less"``. Omnibus tests, which have no direction, also
        report ``"two-sided"``.
    method : str
        Name of the test, as printed under tables and figures.
    n : int
        Number of independent units (items, pairs or clusters) in the test.
    warning : str
        Why the result is undefined or questionable; otherwise empty.
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
    """Return an interval with NaN limits and the reason in `problem`."""
    return Interval(estimate, nan, nan, confidence_level, method, n, problem=reason)


def undefined_test(alternative: str, method: str, n: int, reason: str) -> SignificanceResult:
    """Return a test result with a NaN statistic and p-value, and the reason in `warning`."""
    return SignificanceResult(nan, nan, alternative, method, n, f"undefined: {reason}")


def two_sided(lower_tail: float, upper_tail: float, alternative: str) -> float:
    """Compute the p-value for an alternative from the two one-sided p-values.

    The two-sided p-value is twice the smaller one-sided p-value, but at most 1. The result is in
    (0, 1]. If the arguments are arrays, so is the result.

    Parameters
    ----------
    lower_tail, upper_tail : float or ndarray
        p-values for the alternatives ``"less"`` and ``"greater"``.
    alternative : {"two-sided", "greater", "less"}
        The alternative hypothesis.

    Examples
    --------
    >>> float(two_sided(0.99, 0.02, "two-sided")), float(two_sided(0.99, 0.02, "greater"))
    (0.04, 0.02)
    """
    both = 2 * np.minimum(lower_tail, upper_tail)
    tails = {"less": lower_tail, "greater": upper_tail, "two-sided": both}
    return np.clip(tails[alternative], SMALLEST_P, 1.0)


def format_p_value(p_value: float) -> str:
    """Format a p-value as text.

    Values below 1e-12 become ``"p < 1e-12"``, and NaN becomes ``"p undefined"``.

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
