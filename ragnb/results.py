"""Result classes of the statistical functions, and helpers to create and format results."""

# Tested in tests/test_display.py.

from dataclasses import dataclass, field, replace
from math import nan
from typing import Any

import numpy as np

from ragnb.markup import escape_markdown
from ragnb.numbers import format_p_value, percent

# The smallest normal double, which replaces p-values that underflow to 0.
SMALLEST_P = 2.0**-1022


class Sentence:
    """Base class for results whose ``repr`` is the same as their ``str``."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_markdown_(self) -> str:
        return escape_markdown(self)


@dataclass(frozen=True, slots=True, repr=False)
class Interval(Sentence):
    """Estimate with a two-sided confidence interval.

    Attributes
    ----------
    estimate : float
        Point estimate; NaN if undefined.
    low, high : float
        Confidence limits, which may be infinite; NaN if undefined.
    confidence_level : float
        Nominal coverage, in (0, 1).
    method : str
        Name of the interval method, such as ``'Wilson'``, as printed under tables and figures.
    n : int
        Number of independent units (items or clusters).
    problem : str, default=""
        Reason why the limits are undefined; empty if they are defined.
    """

    estimate: float
    low: float
    high: float
    confidence_level: float
    method: str
    n: int
    problem: str = field(default="", kw_only=True)

    def __str__(self) -> str:
        # The letter z removes the sign of a number that is printed as zero.
        return f"{self.estimate:z.3f} [{self.low:z.3f}, {self.high:z.3f}] ({self.basis})"

    @property
    def basis(self) -> str:
        """Confidence level, method and n as text, such as ``95% t, n = 12``.

        If the limits are undefined, the text also states why.
        """
        problem = f"; undefined: {self.problem}" if self.problem else ""
        return f"{percent(self.confidence_level)} {self.method}{problem}, n = {self.n}"

    def clipped(self, lowest: float, highest: float) -> "Interval":
        """Return a copy whose limits are truncated to the range of possible values.

        Parameters
        ----------
        lowest, highest : float
            Ends of the range, such as 0 and 1 for a proportion. It must contain the estimate.

        Returns
        -------
        Interval
            The copy. The estimate is unchanged, and limits that are NaN remain NaN.
        """
        return replace(self, low=max(self.low, lowest), high=min(self.high, highest))

    def columns(self, estimate: str = "mean") -> dict[str, Any]:
        """Return the interval as a dict, for use as a row of a data frame.

        Parameters
        ----------
        estimate : str, default="mean"
            Key under which the estimate is returned.

        Returns
        -------
        dict
            The estimate, ``low``, ``high``, ``interval`` (the method) and ``confidence_level``. If
            the limits are undefined, ``problem`` states why; otherwise this key is absent.
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
    """Result of a hypothesis test.

    Attributes
    ----------
    statistic : float
        Observed value of the test statistic, which may be infinite; NaN if undefined.
    p_value : float
        p-value, in (0, 1]; NaN if undefined. Values below 2 ** -1022 are replaced by 2 ** -1022.
    alternative : {"two-sided", "greater", "less"}
        Alternative hypothesis. It is ``"two-sided"`` for omnibus tests, which have no direction.
    method : str
        Name of the test, as printed under tables and figures.
    n : int
        Number of independent units (items, pairs or clusters).
    warning : str, default=""
        Reason why the result is undefined or questionable; empty otherwise.
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
    """Create an `Interval` with NaN as both limits, and the reason as its `problem`."""
    return Interval(estimate, nan, nan, confidence_level, method, n, problem=reason)


def undefined_test(alternative: str, method: str, n: int, reason: str) -> SignificanceResult:
    """Create a test result with NaN as statistic and p-value, and the reason as its `warning`."""
    return SignificanceResult(nan, nan, alternative, method, n, f"undefined: {reason}")


def two_sided(lower_tail: float, upper_tail: float, alternative: str) -> float:
    """Compute the p-value for a given alternative from the p-values for ``"less"`` and ``"greater"``.

    The two-sided p-value is twice the smaller one-sided p-value, but at most 1. Values below 2 ** -1022
    are replaced by 2 ** -1022; NaN remains NaN.

    >>> float(two_sided(0.99, 0.02, "two-sided")), float(two_sided(0.99, 0.02, "greater"))
    (0.04, 0.02)
    """
    both = 2 * np.minimum(lower_tail, upper_tail)
    tails = {"less": lower_tail, "greater": upper_tail, "two-sided": both}
    return np.clip(tails[alternative], SMALLEST_P, 1.0)
