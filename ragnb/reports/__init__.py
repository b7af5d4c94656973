"""Reports: the tables of a benchmark or of a judge in one call, with intervals and denominators."""

from typing import TYPE_CHECKING

from ragnb.faces import face

if TYPE_CHECKING:
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
    from ragnb.reports.methods import bibliography, methods_paragraph
    from ragnb.reports.multilingual import MultilingualReport, multilingual_report
    from ragnb.reports.origins import Provenance, provenance
    from ragnb.reports.ranking import Ranking, rank_systems
    from ragnb.reports.reviewing.report import Review, review
    from ragnb.reports.rgb import RgbReport, rgb_report
    from ragnb.reports.sensitivity import Sensitivity
    from ragnb.reports.trace import TraceReport, trace_report
    from ragnb.reports.trace_reading import interpret_trace
    from ragnb.reports.translation import efficiency, gains_and_costs
    from ragnb.reports.worth import judge_worth
else:
    __getattr__, __dir__ = face(__name__)

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
