"""Benchmarks as validated frames, audits, published tables, embedded samples, and files of frames."""

from typing import TYPE_CHECKING

from ragnb.faces import face

if TYPE_CHECKING:
    from ragnb.datasets.annotations import load_annotations
    from ragnb.datasets.evouna import load_evouna
    from ragnb.datasets.examples import load_examples
    from ragnb.datasets.exports import export_responses
    from ragnb.datasets.languages import identify_languages
    from ragnb.datasets.multilingual import load_multilingual
    from ragnb.datasets.packaged_studies import load_study, studies, study_files
    from ragnb.datasets.parts import one_row_per_part
    from ragnb.datasets.published_tables import PUBLISHED, published
    from ragnb.datasets.ragbench import load_ragbench
    from ragnb.datasets.responses import load_responses
    from ragnb.datasets.rgb import load_rgb, load_rgb_instructions
    from ragnb.datasets.rgb_contexts import ISSUES, audit, build_contexts
    from ragnb.datasets.runs import load_run, write_qrels, write_run
    from ragnb.datasets.scores import load_scores
    from ragnb.datasets.sources import CATALOGUE, Source, catalogue
    from ragnb.datasets.tables import read_table, write_table
else:
    __getattr__, __dir__ = face(__name__)

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
