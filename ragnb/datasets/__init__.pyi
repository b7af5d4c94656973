"""What `ragnb.datasets` contains. Written by ``python -m tools.stubs``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from ragnb.datasets.annotations import load_annotations
from ragnb.datasets.evouna import load_evouna
from ragnb.datasets.examples import load_examples
from ragnb.datasets.languages import identify_languages
from ragnb.datasets.multilingual import load_multilingual
from ragnb.datasets.packaged_studies import studies, study_files
from ragnb.datasets.published_tables import PUBLISHED
from ragnb.datasets.ragbench import load_ragbench
from ragnb.datasets.rgb import load_rgb, load_rgb_instructions
from ragnb.datasets.rgb_contexts import ISSUES, audit
from ragnb.datasets.runs import load_run, write_qrels, write_run
from ragnb.datasets.sources import CATALOGUE, Source, catalogue
from ragnb.datasets.tables import read_table, write_table

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
def one_row_per_part(
    responses: pd.DataFrame,
    kind: Literal[None, "parts", "sentences", "nuggets", "statements", "citations", "spans"] = None,
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

__all__ = [
    "CATALOGUE",
    "ISSUES",
    "PUBLISHED",
    "Source",
    "audit",
    "build_contexts",
    "catalogue",
    "export_responses",
    "identify_languages",
    "load_annotations",
    "load_evouna",
    "load_examples",
    "load_multilingual",
    "load_ragbench",
    "load_responses",
    "load_rgb",
    "load_rgb_instructions",
    "load_run",
    "load_scores",
    "load_study",
    "one_row_per_part",
    "published",
    "read_table",
    "studies",
    "study_files",
    "write_qrels",
    "write_run",
    "write_table",
]
