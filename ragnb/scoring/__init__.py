"""From responses to numbers, frame in, frame out: `score`, `summarize`, `compare`, `definitions`.

Per-example values come first and are kept. Every aggregate is computed from them.
"""

from ragnb.metrics.record import METRICS, Metric
from ragnb.scoring.bridges import bridging
from ragnb.scoring.comparisons import compare
from ragnb.scoring.experiments import experiment_signature
from ragnb.scoring.glossary import definitions, edge_cases
from ragnb.scoring.scores import score
from ragnb.scoring.summaries import summarize

__all__ = [
    "METRICS",
    "Metric",
    "bridging",
    "compare",
    "definitions",
    "edge_cases",
    "experiment_signature",
    "score",
    "summarize",
]
