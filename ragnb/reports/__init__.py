"""A benchmark's own tables in one call, with the intervals and denominators that are usually left out."""

from ragnb.reports.multilingual import MultilingualReport, multilingual_report
from ragnb.reports.rgb import RgbReport, rgb_report
from ragnb.reports.trace import TraceReport, trace_report

__all__ = ["MultilingualReport", "RgbReport", "TraceReport", "multilingual_report", "rgb_report", "trace_report"]
