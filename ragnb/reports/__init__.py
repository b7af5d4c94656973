"""Reports: the tables of a benchmark or of a judge in one call, with intervals and denominators."""

from ragnb.reports.abstention import (
    RiskCoverageReport,
    abstention_report,
    risk_coverage_report,
)
from ragnb.reports.definitions import DefinitionComparison, compare_definitions
from ragnb.reports.judge import JudgeReport, graded_report, judge_report, scores_by_grade
from ragnb.reports.methods import bibliography, methods_paragraph
from ragnb.reports.multilingual import MultilingualReport, multilingual_report
from ragnb.reports.rgb import RgbReport, rgb_report
from ragnb.reports.trace import TraceReport, trace_report

__all__ = [
    "DefinitionComparison",
    "JudgeReport",
    "MultilingualReport",
    "RgbReport",
    "RiskCoverageReport",
    "TraceReport",
    "abstention_report",
    "bibliography",
    "compare_definitions",
    "graded_report",
    "judge_report",
    "methods_paragraph",
    "multilingual_report",
    "rgb_report",
    "risk_coverage_report",
    "scores_by_grade",
    "trace_report",
]
