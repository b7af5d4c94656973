"""ragnb: evaluating retrieval-augmented generation in the notebook.

Every number names its definition, comes from a real run, carries its uncertainty and can be shown.

    examples -> requests -> replies -> responses -> scores -> summaries -> figures
"""

from ragnb.datasets.auditing import audit
from ragnb.datasets.catalogue import catalogue
from ragnb.datasets.contexts import build_contexts
from ragnb.datasets.published import load_published
from ragnb.datasets.rgb import load_rgb
from ragnb.datasets.tables import read_table, write_table
from ragnb.errors import EndpointError, InputError, MissingPartError, RagnbError, StoreError
from ragnb.llm.client import acomplete, complete
from ragnb.llm.local import serve
from ragnb.llm.store import Store
from ragnb.scoring import METRICS, Metric, score, summarize
from ragnb.version import __version__

__all__ = [
    "METRICS",
    "EndpointError",
    "InputError",
    "Metric",
    "MissingPartError",
    "RagnbError",
    "Store",
    "StoreError",
    "__version__",
    "acomplete",
    "audit",
    "build_contexts",
    "catalogue",
    "complete",
    "load_published",
    "load_rgb",
    "read_table",
    "score",
    "serve",
    "summarize",
    "write_table",
]
