"""Metrics that together predict a person's label, with conformal sets that say how far metrics can replace the person.

The way goes from scores through `feature_frame` and `DataSplit` to a `MetricEnsemble`, which predicts.
"""

from ragnb.ensemble.data import DataSplit, SplitRatios, XYData
from ragnb.ensemble.escalation import compare_escalation, escalation_curve, escalation_point
from ragnb.ensemble.evaluation import eval_prediction
from ragnb.ensemble.features import feature_frame
from ragnb.ensemble.judicator import BatchJudicator
from ragnb.ensemble.metric_ensemble import EnsembleMetric, MetricEnsemble
from ragnb.ensemble.report import feature_report

__all__ = [
    "BatchJudicator",
    "DataSplit",
    "EnsembleMetric",
    "MetricEnsemble",
    "SplitRatios",
    "XYData",
    "compare_escalation",
    "escalation_curve",
    "escalation_point",
    "eval_prediction",
    "feature_frame",
    "feature_report",
]
