"""Benchmarks as validated frames, what they hide, published tables, the embedded sample, and frames on disk."""

from ragnb.datasets.auditing import ISSUES, audit
from ragnb.datasets.catalogue import CATALOGUE, Source, catalogue
from ragnb.datasets.contexts import build_contexts
from ragnb.datasets.published import load_published
from ragnb.datasets.ragbench import load_ragbench
from ragnb.datasets.rgb import load_rgb
from ragnb.datasets.tables import read_table, write_table

__all__ = [
    "CATALOGUE",
    "ISSUES",
    "Source",
    "audit",
    "build_contexts",
    "catalogue",
    "load_published",
    "load_ragbench",
    "load_rgb",
    "read_table",
    "write_table",
]
