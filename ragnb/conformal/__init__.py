"""Conformal prediction and selective classification for two classes, on arrays.

`ConformalClassifier` computes conformal p-values and prediction sets. `calibrate_selective_risk`
controls the selective risk, which is the error rate among accepted labels.
"""

from typing import TYPE_CHECKING

from ragnb.faces import face

if TYPE_CHECKING:
    from ragnb.conformal.control import SelectiveClassifier, calibrate_selective_risk
    from ragnb.conformal.sets import (
        ConformalClassifier,
        conformal_rank,
        coverage_distribution,
        labels_for_coverage,
    )
else:
    __getattr__, __dir__ = face(__name__)

__all__ = [
    "ConformalClassifier",
    "SelectiveClassifier",
    "calibrate_selective_risk",
    "conformal_rank",
    "coverage_distribution",
    "labels_for_coverage",
]
