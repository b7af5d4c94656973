"""What `ragnb.scoring` contains. Written by ``python -m tools.stubs``."""

from collections.abc import Sequence
from typing import Any, Literal

import pandas as pd

from ragnb.metrics.record import METRICS, Metric
from ragnb.scoring.comparisons import Names
from ragnb.scoring.experiments import experiment_signature
from ragnb.scoring.glossary import definitions, edge_cases
from ragnb.scoring.joined import with_scores
from ragnb.scoring.models import LogisticResult
from ragnb.scoring.repeats import noise_report, pass_report

def bridging(
    scores: pd.DataFrame, *, baseline: str = "direct", variant: Literal["ratio", "lbrag"] = "ratio"
) -> pd.DataFrame: ...
def compare(
    scores: pd.DataFrame,
    *,
    baseline: str | None = None,
    metrics: Names = None,
    by: Names = None,
    cluster: str | None = None,
    family: Names = None,
    method: Literal[
        "auto",
        "sign-flip",
        "t",
        "bca",
        "tango",
        "mcnemar",
        "mcnemar-exact",
        "cluster-t",
        "cluster-sign-flip",
    ] = "auto",
    unpaired: Literal["error", "drop"] = "error",
    correction: Literal["holm", "benjamini-hochberg", "bonferroni"] = "holm",
    confidence_level: float = 0.95,
    power: float = 0.8,
    questions: Literal["such", "these"] = "such",
    labels: pd.DataFrame | None = None,
    label: str = "label",
) -> pd.DataFrame: ...
def logistic_model(
    scores: pd.DataFrame,
    *,
    model: Literal["gee", "mixed"] = "gee",
    metric: str | None = None,
    baseline: str | None = None,
    by: Any = None,
    group: str | None = None,
    confidence_level: float = 0.95,
) -> LogisticResult: ...
def score(
    responses: pd.DataFrame,
    metrics: str | Metric | Sequence[str | Metric],
    *,
    explain: bool = False,
    **options: Any,
) -> pd.DataFrame: ...
def summarize(
    scores: pd.DataFrame,
    *,
    by: str | Sequence[str] | None = None,
    cluster: str | None = None,
    interval: Literal["auto", "wilson", "clopper-pearson", "jeffreys", "wald", "t", "bca"] = "auto",
    questions: Literal["such", "these"] = "such",
    confidence_level: float = 0.95,
) -> pd.DataFrame: ...

__all__ = [
    "METRICS",
    "LogisticResult",
    "Metric",
    "bridging",
    "compare",
    "definitions",
    "edge_cases",
    "experiment_signature",
    "logistic_model",
    "noise_report",
    "pass_report",
    "score",
    "summarize",
    "with_scores",
]
