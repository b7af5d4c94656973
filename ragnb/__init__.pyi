"""What `ragnb` contains. Written by ``python -m tools.stubs``."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from numpy.typing import ArrayLike
from pydantic import BaseModel

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
from ragnb.annotation.tag_report import ErrorReport
from ragnb.arguments import Bounds, Floats
from ragnb.dashboards import dashboard
from ragnb.datasets.evouna import load_evouna
from ragnb.datasets.multilingual import load_multilingual
from ragnb.datasets.packaged_studies import studies
from ragnb.datasets.ragbench import load_ragbench
from ragnb.datasets.rgb import load_rgb
from ragnb.datasets.rgb_contexts import audit
from ragnb.datasets.runs import load_run
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
from ragnb.experiments.pipeline import run
from ragnb.experiments.recorded import recorded_responses as recorded
from ragnb.figures.choose import plot
from ragnb.figures.styles import save_figure
from ragnb.llm.budget import Budget, Price, estimate
from ragnb.llm.client import complete
from ragnb.llm.local import Endpoint
from ragnb.llm.store import Store
from ragnb.metrics.record import METRICS, Metric
from ragnb.prompts.template import Template
from ragnb.reports.abstention import abstention_report
from ragnb.reports.definitions import compare_definitions
from ragnb.reports.failures import failure_report
from ragnb.reports.findings import sentences
from ragnb.reports.grades import graded_report
from ragnb.reports.judge import judge_report
from ragnb.reports.judge_pairs import compare_judges
from ragnb.reports.lbrag import load_metrics_json
from ragnb.reports.multilingual import MultilingualReport
from ragnb.reports.origins import provenance
from ragnb.reports.reviewing.report import review
from ragnb.reports.rgb import rgb_report
from ragnb.reports.trace import TraceReport
from ragnb.scoring.comparisons import Names
from ragnb.scoring.glossary import definitions
from ragnb.scoring.joined import with_scores
from ragnb.stats.ppi import PpiInterval
from ragnb.tables import to_html, to_latex, to_markdown
from ragnb.version import __version__
from ragnb.widgets.annotator import Annotator
from ragnb.widgets.frame_view import view
from ragnb.widgets.handout import export_annotator
from ragnb.widgets.pages import Page

def error_report(
    responses: pd.DataFrame,
    labels: Any,
    *,
    score: str | None = None,
    id: str | Sequence[str] | None = None,
    cluster: str | None = None,
    baseline: str | None = None,
    correction: Literal["holm", "benjamini-hochberg", "bonferroni"] = "holm",
    confidence_level: float = 0.95,
) -> ErrorReport: ...
def export_responses(
    responses: pd.DataFrame,
    path: str | Path,
    *,
    format: Literal["ragas", "inspectorraget"],
    scores: pd.DataFrame | None = None,
) -> Path: ...
def load_study(
    name: Literal[
        "quickstart",
        "evouna-nq",
        "nomiracl",
        "mtrag",
        "delucionqa",
        "factscore",
        "refchecker",
        "ragbench-delucionqa",
        "gpqa-epochs",
        "trec-rag-judges",
        "sample-en",
        "sample-en-int",
        "sample-en-fact",
        "sample-zh",
        "sample-zh-int",
        "sample-zh-fact",
        "sample-ragbench",
        "sample-multilingual",
        "sample-labelled-en",
        "sample-labelled-multilingual",
    ],
    frame: Literal["responses", "labels", "repeats"] = "responses",
    *,
    usable: bool = False,
) -> pd.DataFrame: ...
def published(
    name: Literal[
        "rgb.noise_robustness",
        "rgb.negative_rejection",
        "rgb.information_integration",
        "rgb.counterfactual_robustness",
        "ragbench.table3",
        "lbrag.overview",
        "continuous_eval.ensemble",
    ],
    *,
    confidence_level: float = 0.95,
) -> pd.DataFrame: ...
def load_responses(
    source: str | Path | pd.DataFrame | Sequence[str | Path],
    columns: Mapping[str, str] | None = None,
    *,
    format: Literal[
        "ragas",
        "deepeval",
        "inspect_ai",
        "lm_eval",
        "promptfoo",
        "mtrag",
        "inspectorraget",
        "ragchecker",
        "open_rag_eval",
        "every_eval_ever",
        "flashrag",
        "rgb",
        "lbrag",
        "squad",
        "kilt",
        "wide",
    ]
    | None = None,
    examples: str | Path | pd.DataFrame | None = None,
    systems: Sequence[str] | None = None,
    system: str | None = None,
    language: str | None = None,
    alternatives: bool | None = None,
    keep_empty: bool | None = None,
    separator: str | None = None,
    decimal: Literal[",", "."] | None = None,
    sheet: str | int | None = None,
    **constants: Any,
) -> pd.DataFrame: ...
def build_contexts(
    examples: pd.DataFrame,
    *,
    noise_rate: float | Sequence[float] = ...,
    passage_num: int = 5,
    correct_rate: float = 0.0,
    order: Literal["per_item", "released"] = "per_item",
    seed: int = 0,
) -> pd.DataFrame: ...
def load_scores(
    source: str | Path | pd.DataFrame | Sequence[str | Path | pd.DataFrame],
    columns: Mapping[str, str] | None = None,
    *,
    metrics: str | Sequence[str] | Mapping[str, str] | None = None,
    tool: str | None = None,
    version: str | None = None,
    system: str | None = None,
    decimal: Literal[",", "."] | None = None,
) -> pd.DataFrame: ...
def apply_codebook(
    responses: pd.DataFrame,
    codebook: Mapping[str, str] | Sequence[str] | pd.DataFrame,
    *,
    model: str,
    parameters: Mapping[str, Any] | None = None,
    structured: bool = True,
    repair: bool = True,
    store: Store | str | Path = "ragnb-replies.sqlite",
    budget_usd: float | Budget | None = None,
    repeats: int = 1,
    base_url: str | None = None,
    max_concurrency: int = 16,
    requests_per_minute: float | None = None,
    prices: Mapping[str, Price] | None = None,
    timeout: float = 120.0,
    max_retries: int = 5,
    offline: bool = False,
    progress: bool = True,
    keep_empty: bool = False,
) -> pd.DataFrame: ...
def judge_responses(
    responses: pd.DataFrame,
    judgement: Literal[
        "refusal",
        "detection",
        "similarity",
        "correctness",
        "bare_correctness",
        "faithfulness",
        "answer_relevancy",
        "context_precision",
        "rubric",
    ],
    *,
    model: str,
    rubric: str | None = None,
    prompt_version: Literal[1, 2] = 2,
    parameters: Mapping[str, Any] | None = None,
    structured: bool = True,
    repair: bool = True,
    store: Store | str | Path = "ragnb-replies.sqlite",
    budget_usd: float | Budget | None = None,
    repeats: int = 1,
    base_url: str | None = None,
    max_concurrency: int = 16,
    requests_per_minute: float | None = None,
    prices: Mapping[str, Price] | None = None,
    timeout: float = 120.0,
    max_retries: int = 5,
    offline: bool = False,
    progress: bool = True,
    keep_empty: bool = False,
) -> pd.DataFrame: ...
def run_multilingual(
    contexts: pd.DataFrame,
    system: Literal["direct", "multi", "cross", "lbrag"],
    *,
    model: str,
    prompt: str = "chat",
    budget_tokens: int = 60,
    parameters: Mapping[str, Any] = ...,
    translation_parameters: Mapping[str, Any] = ...,
    base_url: str | None = None,
    store: Store | str | Path = "ragnb-replies.sqlite",
    max_concurrency: int = 16,
    requests_per_minute: float | None = None,
    budget_usd: float | Budget | None = None,
    prices: Mapping[str, Price] | None = None,
    repeats: int = 1,
    timeout: float = 120.0,
    max_retries: int = 5,
    offline: bool = False,
    progress: bool = True,
    keep_empty: bool = False,
) -> pd.DataFrame: ...
def label_parts(
    responses: pd.DataFrame,
    kind: Literal["claims", "sentences", "citations", "nuggets"] = "claims",
    *,
    model: str,
    prompt_version: Literal[1, 2] = 2,
    parameters: Mapping[str, Any] | None = None,
    structured: bool = True,
    repair: bool = True,
    store: Store | str | Path = "ragnb-replies.sqlite",
    budget_usd: float | Budget | None = None,
    repeats: int = 1,
    base_url: str | None = None,
    max_concurrency: int = 16,
    requests_per_minute: float | None = None,
    prices: Mapping[str, Price] | None = None,
    timeout: float = 120.0,
    max_retries: int = 5,
    offline: bool = False,
    progress: bool = True,
    keep_empty: bool = False,
) -> pd.DataFrame: ...
def run_counterfactual_robustness(
    examples: pd.DataFrame,
    *,
    model: str,
    system: str | None = None,
    noise_rates: Sequence[float] | None = None,
    passage_num: int = 5,
    correct_rate: float = 0.0,
    order: str = "per_item",
    seed: int = 0,
    prompt: str | Template = "answer",
    parameters: Mapping[str, Any] = ...,
    base_url: str | None = None,
    store: Store | str | Path = "ragnb-replies.sqlite",
    max_concurrency: int = 16,
    requests_per_minute: float | None = None,
    budget_usd: float | Budget | None = None,
    prices: Mapping[str, Price] | None = None,
    repeats: int = 1,
    timeout: float = 120.0,
    max_retries: int = 5,
    offline: bool = False,
    progress: bool = True,
    keep_empty: bool = False,
) -> pd.DataFrame: ...
def run_information_integration(
    examples: pd.DataFrame,
    *,
    model: str,
    system: str | None = None,
    noise_rates: Sequence[float] | None = None,
    passage_num: int = 5,
    correct_rate: float = 0.0,
    order: str = "per_item",
    seed: int = 0,
    prompt: str | Template = "answer",
    parameters: Mapping[str, Any] = ...,
    base_url: str | None = None,
    store: Store | str | Path = "ragnb-replies.sqlite",
    max_concurrency: int = 16,
    requests_per_minute: float | None = None,
    budget_usd: float | Budget | None = None,
    prices: Mapping[str, Price] | None = None,
    repeats: int = 1,
    timeout: float = 120.0,
    max_retries: int = 5,
    offline: bool = False,
    progress: bool = True,
    keep_empty: bool = False,
) -> pd.DataFrame: ...
def run_negative_rejection(
    examples: pd.DataFrame,
    *,
    model: str,
    system: str | None = None,
    noise_rates: Sequence[float] | None = None,
    passage_num: int = 5,
    correct_rate: float = 0.0,
    order: str = "per_item",
    seed: int = 0,
    prompt: str | Template = "answer",
    parameters: Mapping[str, Any] = ...,
    base_url: str | None = None,
    store: Store | str | Path = "ragnb-replies.sqlite",
    max_concurrency: int = 16,
    requests_per_minute: float | None = None,
    budget_usd: float | Budget | None = None,
    prices: Mapping[str, Price] | None = None,
    repeats: int = 1,
    timeout: float = 120.0,
    max_retries: int = 5,
    offline: bool = False,
    progress: bool = True,
    keep_empty: bool = False,
) -> pd.DataFrame: ...
def run_noise_robustness(
    examples: pd.DataFrame,
    *,
    model: str,
    system: str | None = None,
    noise_rates: Sequence[float] | None = None,
    passage_num: int = 5,
    correct_rate: float = 0.0,
    order: str = "per_item",
    seed: int = 0,
    prompt: str | Template = "answer",
    parameters: Mapping[str, Any] = ...,
    base_url: str | None = None,
    store: Store | str | Path = "ragnb-replies.sqlite",
    max_concurrency: int = 16,
    requests_per_minute: float | None = None,
    budget_usd: float | Budget | None = None,
    prices: Mapping[str, Price] | None = None,
    repeats: int = 1,
    timeout: float = 120.0,
    max_retries: int = 5,
    offline: bool = False,
    progress: bool = True,
    keep_empty: bool = False,
) -> pd.DataFrame: ...
def run_rgb(
    examples: pd.DataFrame,
    ability: str = "noise_robustness",
    *,
    model: str,
    system: str | None = None,
    noise_rates: Sequence[float] | None = None,
    passage_num: int = 5,
    correct_rate: float = 0.0,
    order: str = "per_item",
    seed: int = 0,
    prompt: str | Template = "answer",
    parameters: Mapping[str, Any] = ...,
    base_url: str | None = None,
    store: Store | str | Path = "ragnb-replies.sqlite",
    max_concurrency: int = 16,
    requests_per_minute: float | None = None,
    budget_usd: float | Budget | None = None,
    prices: Mapping[str, Price] | None = None,
    repeats: int = 1,
    timeout: float = 120.0,
    max_retries: int = 5,
    offline: bool = False,
    progress: bool = True,
    keep_empty: bool = False,
) -> pd.DataFrame: ...
def label_trace(
    responses: pd.DataFrame,
    *,
    model: str,
    parameters: Mapping[str, Any] = ...,
    structured: bool = True,
    repair: bool = True,
    store: Store | str | Path = "ragnb-replies.sqlite",
    budget_usd: float | Budget | None = None,
    repeats: int = 1,
    base_url: str | None = None,
    max_concurrency: int = 16,
    requests_per_minute: float | None = None,
    prices: Mapping[str, Price] | None = None,
    timeout: float = 120.0,
    max_retries: int = 5,
    offline: bool = False,
    progress: bool = True,
    keep_empty: bool = False,
) -> pd.DataFrame: ...
def explore(
    name: Literal[
        "conformal",
        "correction",
        "f1",
        "fieller",
        "judge",
        "mcnemar",
        "mix",
        "noise",
        "permutation",
        "power",
        "ranking",
        "resume",
        "slider",
        "threshold",
        "trace",
    ],
    *data: Any,
    variant: Literal["ragbench", "guide"] = "ragbench",
) -> Page: ...
def serve(
    model: Literal["smollm2", "gemma3"] = "smollm2", *, context_tokens: int = 8192, threads: int = 2
) -> Iterator[Endpoint]: ...
def complete_structured(
    requests: pd.DataFrame,
    schema: type[BaseModel],
    *,
    model: str,
    structured: bool = True,
    repair: bool = True,
    store: Store | str | Path = "ragnb-replies.sqlite",
    budget_usd: float | Budget | None = None,
    repeats: int = 1,
    base_url: str | None = None,
    max_concurrency: int = 16,
    requests_per_minute: float | None = None,
    prices: Mapping[str, Price] | None = None,
    timeout: float = 120.0,
    max_retries: int = 5,
    offline: bool = False,
    progress: bool = True,
    keep_empty: bool = False,
) -> pd.DataFrame: ...
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
def compare(
    scores: pd.DataFrame,
    *,
    baseline: str | None = None,
    metrics: Names = None,
    by: Names = None,
    cluster: str | None = None,
    family: Names = None,
    method: Literal[
        "auto",
        "sign-flip",
        "t",
        "bca",
        "tango",
        "mcnemar",
        "mcnemar-exact",
        "cluster-t",
        "cluster-sign-flip",
    ] = "auto",
    unpaired: Literal["error", "drop"] = "error",
    correction: Literal["holm", "benjamini-hochberg", "bonferroni"] = "holm",
    confidence_level: float = 0.95,
    power: float = 0.8,
    questions: Literal["such", "these"] = "such",
    labels: pd.DataFrame | None = None,
    label: str = "label",
) -> pd.DataFrame: ...
def score(
    responses: pd.DataFrame,
    metrics: str | Metric | Sequence[str | Metric],
    *,
    explain: bool = False,
    **options: Any,
) -> pd.DataFrame: ...
def summarize(
    scores: pd.DataFrame,
    *,
    by: str | Sequence[str] | None = None,
    cluster: str | None = None,
    interval: Literal["auto", "wilson", "clopper-pearson", "jeffreys", "wald", "t", "bca"] = "auto",
    questions: Literal["such", "these"] = "such",
    confidence_level: float = 0.95,
) -> pd.DataFrame: ...
def ppi_mean(
    labels: ArrayLike,
    judged: Floats,
    judged_unlabelled: Floats,
    *,
    clusters: ArrayLike | None = None,
    clusters_unlabelled: ArrayLike | None = None,
    lam: float | None = None,
    bounds: Bounds | None = None,
    confidence_level: float = 0.95,
) -> PpiInterval: ...
def save_latex(
    frame: pd.DataFrame,
    name: str,
    *,
    folder: str | Path = "figures",
    columns: Sequence[str] | None = None,
    comparisons: pd.DataFrame | None = None,
    digits: int | None = None,
    names: Mapping[str, str] | None = None,
    caption: str = "",
    label: str = "",
) -> Path: ...

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
