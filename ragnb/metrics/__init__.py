"""Metrics: pure functions of one response, each declared with its record.

Importing any module of this package fills `ragnb.metrics.record.METRICS` with all metrics.
"""

from importlib import import_module

for _family in ("rgb", "trace", "answer", "readability", "language", "cost", "judged"):
    import_module(f"ragnb.metrics.{_family}")
