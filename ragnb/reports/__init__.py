"""A benchmark's own tables in one call, with the intervals and denominators that are usually left out; and a judge's."""

from ragnb.reports.judge import JudgeReport, judge_report
from ragnb.reports.multilingual import MultilingualReport, multilingual_report
from ragnb.reports.rgb import RgbReport, rgb_report
from ragnb.reports.trace import TraceReport, trace_report

__all__ = [
    "JudgeReport",
    "MultilingualReport",
    "RgbReport",
    "TraceReport",
    "judge_report",
    "multilingual_report",
    "rgb_report",
    "trace_report",
]
