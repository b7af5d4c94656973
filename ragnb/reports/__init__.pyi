"""What `ragnb.reports` contains. Written by ``python -m tools.stubs``."""

from collections.abc import Mapping, Sequence
from typing import Literal

import pandas as pd

from ragnb.reports.abstention import RiskCoverageReport, abstention_report, risk_coverage_report
from ragnb.reports.costs import cost_effectiveness
from ragnb.reports.definitions import DefinitionComparison, compare_definitions
from ragnb.reports.failures import FailureReport, failure_report
from ragnb.reports.findings import Sentences, sentences
from ragnb.reports.grades import graded_report, scores_by_grade
from ragnb.reports.judge import JudgeReport, judge_report
from ragnb.reports.judge_pairs import compare_judges
from ragnb.reports.lbrag import load_metrics_json, overview, summary_lines, write_metrics_json
from ragnb.reports.letters import LetterDisplay, letter_display
from ragnb.reports.methods import bibliography
from ragnb.reports.multilingual import MultilingualReport
from ragnb.reports.origins import Provenance, provenance
from ragnb.reports.ranking import Ranking, rank_systems
from ragnb.reports.reviewing.report import Review, review
from ragnb.reports.rgb import RgbReport, rgb_report
from ragnb.reports.sensitivity import Sensitivity
from ragnb.reports.trace import TraceReport
from ragnb.reports.trace_reading import interpret_trace
from ragnb.reports.translation import efficiency, gains_and_costs
from ragnb.reports.worth import judge_worth

def methods_paragraph(
    scores: pd.DataFrame | None = None,
    summaries: pd.DataFrame | None = None,
    comparisons: pd.DataFrame | None = None,
    *,
    responses: pd.DataFrame | None = None,
    cluster: str | None = None,
    names: Mapping[str, str] | None = None,
    length: Literal["long", "short"] = "long",
    written: Literal["text", "markdown", "latex"] = "text",
) -> str: ...
def multilingual_report(
    responses: pd.DataFrame,
    *,
    variant: Literal["unicode", "lbrag"] = "unicode",
    baseline: str = "direct",
    by: str | Sequence[str] | None = None,
    confidence_level: float = 0.95,
) -> MultilingualReport: ...
def trace_report(
    records: pd.DataFrame,
    judges: Mapping[str, Mapping[str, str]] | None = None,
    *,
    variant: Literal["ragbench", "guide"] = "ragbench",
    cluster: str | None = None,
    confidence_level: float = 0.95,
) -> TraceReport: ...

__all__ = [
    "DefinitionComparison",
    "FailureReport",
    "JudgeReport",
    "LetterDisplay",
    "MultilingualReport",
    "Provenance",
    "Ranking",
    "Review",
    "RgbReport",
    "RiskCoverageReport",
    "Sensitivity",
    "Sentences",
    "TraceReport",
    "abstention_report",
    "bibliography",
    "compare_definitions",
    "compare_judges",
    "cost_effectiveness",
    "efficiency",
    "failure_report",
    "gains_and_costs",
    "graded_report",
    "interpret_trace",
    "judge_report",
    "judge_worth",
    "letter_display",
    "load_metrics_json",
    "methods_paragraph",
    "multilingual_report",
    "overview",
    "provenance",
    "rank_systems",
    "review",
    "rgb_report",
    "risk_coverage_report",
    "scores_by_grade",
    "sentences",
    "summary_lines",
    "trace_report",
    "write_metrics_json",
]
