"""Score responses, summarise the scores and compare systems: `score`, `summarize`, `compare`.

These functions take and return data frames. `score` returns one value per response and metric, and
all aggregates are computed from these values. `definitions` describes the metrics.
"""

from typing import TYPE_CHECKING

from ragnb.faces import face

if TYPE_CHECKING:
    from ragnb.metrics.record import METRICS, Metric
    from ragnb.scoring.bridges import bridging
    from ragnb.scoring.comparisons import compare
    from ragnb.scoring.experiments import experiment_signature
    from ragnb.scoring.glossary import definitions, edge_cases
    from ragnb.scoring.joined import with_scores
    from ragnb.scoring.models import LogisticResult, logistic_model
    from ragnb.scoring.repeats import noise_report, pass_report
    from ragnb.scoring.scores import score
    from ragnb.scoring.summaries import summarize
else:
    __getattr__, __dir__ = face(__name__)

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
