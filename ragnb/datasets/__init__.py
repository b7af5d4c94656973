"""Benchmarks as validated frames, audits, published tables, embedded samples, and files of frames."""

from ragnb.datasets.annotations import load_annotations
from ragnb.datasets.benchmarks import (
    load_evouna,
    load_ragbench,
    load_rgb,
    load_rgb_instructions,
)
from ragnb.datasets.catalogue import CATALOGUE, Source, catalogue
from ragnb.datasets.contexts import ISSUES, audit, build_contexts
from ragnb.datasets.foreign import load_scores
from ragnb.datasets.multilingual import load_multilingual
from ragnb.datasets.predictions import load_responses
from ragnb.datasets.runs import load_run, write_qrels, write_run
from ragnb.datasets.studies import PUBLISHED, load_study, published, studies, study_files
from ragnb.datasets.tables import export_responses, read_table, write_table

__all__ = [
    "CATALOGUE",
    "ISSUES",
    "PUBLISHED",
    "Source",
    "audit",
    "build_contexts",
    "catalogue",
    "export_responses",
    "load_annotations",
    "load_evouna",
    "load_multilingual",
    "load_ragbench",
    "load_responses",
    "load_rgb",
    "load_rgb_instructions",
    "load_run",
    "load_scores",
    "load_study",
    "published",
    "read_table",
    "studies",
    "study_files",
    "write_qrels",
    "write_run",
    "write_table",
]
