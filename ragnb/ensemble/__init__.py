"""Ensembles of metrics that predict a human label, with conformal guarantees.

`feature_frame` turns scores into features, and `DataSplit` divides the responses into three parts.
A `MetricEnsemble` is trained on the first, can be tested on the second, and is calibrated on the
third.
"""

from ragnb.ensemble.data import DataSplit, SplitRatios, XYData, feature_frame
from ragnb.ensemble.deferral import compare_deferral, deferral_curve, deferral_point
from ragnb.ensemble.ensemble import BatchJudicator, EnsembleMetric, MetricEnsemble
from ragnb.ensemble.report import eval_prediction, feature_report

__all__ = [
    "BatchJudicator",
    "DataSplit",
    "EnsembleMetric",
    "MetricEnsemble",
    "SplitRatios",
    "XYData",
    "compare_deferral",
    "deferral_curve",
    "deferral_point",
    "eval_prediction",
    "feature_frame",
    "feature_report",
]
