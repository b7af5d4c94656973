"""Ensembles of metrics that predict a human label, with conformal guarantees.

`feature_frame` turns scores into features, and `DataSplit` splits the responses into a training, a
test and a calibration set. A `MetricEnsemble` is trained on the training set and calibrated on the
calibration set. The test set is used to evaluate it.
"""

from typing import TYPE_CHECKING

from ragnb.faces import face

if TYPE_CHECKING:
    from ragnb.ensemble.data import DataSplit, SplitRatios, XYData, feature_frame
    from ragnb.ensemble.deferral import (
        compare_deferral,
        deferral_curve,
        deferral_point,
        deferral_report,
    )
    from ragnb.ensemble.ensemble import BatchJudicator, EnsembleMetric, MetricEnsemble
    from ragnb.ensemble.report import eval_prediction, feature_report
    from ragnb.ensemble.resampling import coverage_over_splits, cross_decide
else:
    __getattr__, __dir__ = face(__name__)

__all__ = [
    "BatchJudicator",
    "DataSplit",
    "EnsembleMetric",
    "MetricEnsemble",
    "SplitRatios",
    "XYData",
    "compare_deferral",
    "coverage_over_splits",
    "cross_decide",
    "deferral_curve",
    "deferral_point",
    "deferral_report",
    "eval_prediction",
    "feature_frame",
    "feature_report",
]
