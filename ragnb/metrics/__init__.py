"""Metrics: pure functions of one response, each declared together with a record that describes it.

Importing any module of this package fills `ragnb.metrics.record.METRICS` with all metrics.
"""

from importlib import import_module

from ragnb.metrics.record import METRICS

for _module in (
    "rgb",
    "trace",
    "answer",
    "language",
    "cost",
    "judged",
    "abstention",
    "parts",
    "retrieval",
):
    import_module(f"ragnb.metrics.{_module}")

# Families of metrics (the first part of each name), in the order of the table of all metrics.
FAMILIES = (
    "rgb",
    "trace",
    "answer",
    "retrieval",
    "language",
    "cost",
    "semantic",
    "judged",
    "annotator",
    "abstention",
    "parts",
)

for _name in sorted(METRICS, key=lambda name: FAMILIES.index(name.partition(".")[0])):
    METRICS[_name] = METRICS.pop(_name)
