"""A benchmark's own tables in one call, with the intervals and denominators that are usually left out."""

from ragnb.reports.rgb import RgbReport, rgb_report
from ragnb.reports.trace import TraceReport, trace_report

__all__ = ["RgbReport", "TraceReport", "rgb_report", "trace_report"]
