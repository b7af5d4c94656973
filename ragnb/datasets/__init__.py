"""Benchmarks as validated frames, audits, published tables, embedded samples, and files of frames."""

from ragnb.datasets.annotations import load_annotations
from ragnb.datasets.catalogue import CATALOGUE, Source, catalogue
from ragnb.datasets.evouna import load_evouna
from ragnb.datasets.exports import export_responses
from ragnb.datasets.multilingual import load_multilingual
from ragnb.datasets.published import PUBLISHED, published
from ragnb.datasets.ragbench import load_ragbench
from ragnb.datasets.responses import load_responses
from ragnb.datasets.rgb import load_rgb, load_rgb_instructions
from ragnb.datasets.rgb_contexts import ISSUES, audit, build_contexts
from ragnb.datasets.runs import load_run, write_qrels, write_run
from ragnb.datasets.scores import load_scores
from ragnb.datasets.studies import load_study, studies, study_files
from ragnb.datasets.tables import read_table, write_table

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
