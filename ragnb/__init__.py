"""ragnb: evaluating retrieval-augmented generation in the notebook.

Every score names its definition, every mean has an interval, and every response can be read.

    examples -> requests -> replies -> responses -> scores -> summaries -> figures

Names are loaded when they are first used, so that ``import ragnb`` takes no time.
"""

from typing import TYPE_CHECKING

from ragnb.faces import face
from ragnb.version import __version__

if TYPE_CHECKING:
    # Packages and modules that ``import ragnb`` makes available without loading them.
    from ragnb import annotation as annotation
    from ragnb import conformal as conformal
    from ragnb import datasets as datasets
    from ragnb import ensemble as ensemble
    from ragnb import errors as errors
    from ragnb import experiments as experiments
    from ragnb import figures as figures
    from ragnb import llm as llm
    from ragnb import metrics as metrics
    from ragnb import prompts as prompts
    from ragnb import reports as reports
    from ragnb import scoring as scoring
    from ragnb import stats as stats
    from ragnb import tables as tables
    from ragnb import text as text
    from ragnb import widgets as widgets
    from ragnb.annotation.agreement_report import agreement
    from ragnb.annotation.class_report import annotation_report
    from ragnb.annotation.sampling import next_to_label
    from ragnb.annotation.tag_report import error_report
    from ragnb.dashboards import dashboard
    from ragnb.datasets.evouna import load_evouna
    from ragnb.datasets.exports import export_responses
    from ragnb.datasets.multilingual import load_multilingual
    from ragnb.datasets.packaged_studies import load_study, studies
    from ragnb.datasets.published_tables import published
    from ragnb.datasets.ragbench import load_ragbench
    from ragnb.datasets.responses import load_responses
    from ragnb.datasets.rgb import load_rgb
    from ragnb.datasets.rgb_contexts import audit, build_contexts
    from ragnb.datasets.runs import load_run
    from ragnb.datasets.scores import load_scores
    from ragnb.datasets.sources import catalogue
    from ragnb.datasets.tables import read_table, write_table
    from ragnb.ensemble.data import DataSplit
    from ragnb.ensemble.ensemble import MetricEnsemble
    from ragnb.errors import (
        CallError,
        EndpointError,
        InputError,
        MissingPartError,
        RagnbError,
        StoreError,
        UnknownNameError,
        full_tracebacks,
    )
    from ragnb.experiments.before_after import changes
    from ragnb.experiments.judges import apply_codebook, judge_responses
    from ragnb.experiments.multilingual import run_multilingual
    from ragnb.experiments.parts import label_parts
    from ragnb.experiments.pipeline import run
    from ragnb.experiments.recorded import recorded_responses as recorded
    from ragnb.experiments.rgb import (
        run_counterfactual_robustness,
        run_information_integration,
        run_negative_rejection,
        run_noise_robustness,
        run_rgb,
    )
    from ragnb.experiments.trace import label_trace
    from ragnb.explorables.page import explore
    from ragnb.figures.choose import plot
    from ragnb.figures.styles import save_figure
    from ragnb.llm.budget import estimate
    from ragnb.llm.client import complete
    from ragnb.llm.local import serve
    from ragnb.llm.store import Store
    from ragnb.llm.structured import complete_structured
    from ragnb.metrics.record import METRICS, Metric
    from ragnb.reports.abstention import abstention_report
    from ragnb.reports.definitions import compare_definitions
    from ragnb.reports.failures import failure_report
    from ragnb.reports.findings import sentences
    from ragnb.reports.grades import graded_report
    from ragnb.reports.judge import judge_report
    from ragnb.reports.judge_pairs import compare_judges
    from ragnb.reports.lbrag import load_metrics_json
    from ragnb.reports.methods import methods_paragraph
    from ragnb.reports.multilingual import multilingual_report
    from ragnb.reports.origins import provenance
    from ragnb.reports.reviewing.report import review
    from ragnb.reports.rgb import rgb_report
    from ragnb.reports.trace import trace_report
    from ragnb.scoring.comparisons import compare
    from ragnb.scoring.glossary import definitions
    from ragnb.scoring.joined import with_scores
    from ragnb.scoring.scores import score
    from ragnb.scoring.summaries import summarize
    from ragnb.stats.ppi import ppi_mean
    from ragnb.tables import save_latex, to_html, to_latex, to_markdown
    from ragnb.widgets.annotator import Annotator
    from ragnb.widgets.frame_view import view
    from ragnb.widgets.handout import export_annotator
else:
    __getattr__, __dir__ = face(__name__)

__all__ = [
    "METRICS",
    "Annotator",
    "CallError",
    "DataSplit",
    "EndpointError",
    "InputError",
    "Metric",
    "MetricEnsemble",
    "MissingPartError",
    "RagnbError",
    "Store",
    "StoreError",
    "UnknownNameError",
    "__version__",
    "abstention_report",
    "agreement",
    "annotation_report",
    "apply_codebook",
    "audit",
    "build_contexts",
    "catalogue",
    "changes",
    "compare",
    "compare_definitions",
    "compare_judges",
    "complete",
    "complete_structured",
    "dashboard",
    "definitions",
    "error_report",
    "estimate",
    "explore",
    "export_annotator",
    "export_responses",
    "failure_report",
    "full_tracebacks",
    "graded_report",
    "judge_report",
    "judge_responses",
    "label_parts",
    "label_trace",
    "load_evouna",
    "load_metrics_json",
    "load_multilingual",
    "load_ragbench",
    "load_responses",
    "load_rgb",
    "load_run",
    "load_scores",
    "load_study",
    "methods_paragraph",
    "multilingual_report",
    "next_to_label",
    "plot",
    "ppi_mean",
    "provenance",
    "published",
    "read_table",
    "recorded",
    "review",
    "rgb_report",
    "run",
    "run_counterfactual_robustness",
    "run_information_integration",
    "run_multilingual",
    "run_negative_rejection",
    "run_noise_robustness",
    "run_rgb",
    "save_figure",
    "save_latex",
    "score",
    "sentences",
    "serve",
    "studies",
    "summarize",
    "to_html",
    "to_latex",
    "to_markdown",
    "trace_report",
    "view",
    "with_scores",
    "write_table",
]
