"""Frozen results that the statistics return: plain values, printed with their method."""

from dataclasses import dataclass


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
        limits = f"[{self.low:.3f}, {self.high:.3f}]"
        return f"{self.estimate:.3f} {limits} ({self.confidence_level:.0%} {self.method}, n = {self.n})"
