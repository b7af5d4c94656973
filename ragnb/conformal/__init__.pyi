"""What `ragnb.conformal` contains. Written by ``python -m tools.stubs``."""

from typing import Any

from numpy.typing import ArrayLike

from ragnb.arguments import Rate
from ragnb.conformal.control import SelectiveClassifier
from ragnb.conformal.sets import ConformalClassifier

def calibrate_selective_risk(
    probability: ArrayLike, labels: ArrayLike, alpha: Rate, delta: Rate
) -> SelectiveClassifier: ...
def conformal_rank(n: int, alpha: Rate) -> int: ...
def coverage_distribution(n: int, alpha: Rate) -> Any: ...
def labels_for_coverage(alpha: Rate, *, tolerance: float = 0.05, delta: float = 0.1) -> int: ...

__all__ = [
    "ConformalClassifier",
    "SelectiveClassifier",
    "calibrate_selective_risk",
    "conformal_rank",
    "coverage_distribution",
    "labels_for_coverage",
]
