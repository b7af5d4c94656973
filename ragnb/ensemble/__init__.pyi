"""What `ragnb.ensemble` contains. Written by ``python -m tools.stubs``."""

from typing import Any, Literal

import pandas as pd
from numpy.typing import ArrayLike

from ragnb.arguments import Rate
from ragnb.ensemble.data import DataSplit, SplitRatios, XYData, feature_frame
from ragnb.ensemble.deferral import compare_deferral, deferral_point, deferral_report
from ragnb.ensemble.ensemble import BatchJudicator, EnsembleMetric, MetricEnsemble
from ragnb.ensemble.report import eval_prediction, feature_report
from ragnb.ensemble.resampling import coverage_over_splits

def deferral_curve(
    y: ArrayLike,
    probability: ArrayLike,
    judged: ArrayLike,
    *,
    y_hat: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    shares: ArrayLike = ...,
    confidence_level: float = 0.95,
) -> pd.DataFrame: ...
def cross_decide(
    data: XYData,
    alpha: Rate = 0.1,
    random_state: int | None = None,
    *,
    n_folds: int = 5,
    classifier: Any = None,
    guarantee: Literal["marginal", "class", "selective"] = "marginal",
    delta: Rate = 0.1,
) -> pd.DataFrame: ...

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
