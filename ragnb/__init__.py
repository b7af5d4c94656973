"""ragnb: evaluating retrieval-augmented generation in the notebook.

Every score names its definition, every mean has an interval, and every response can be read.

    examples -> requests -> replies -> responses -> scores -> summaries -> figures

Names are loaded when they are first used, so that ``import ragnb`` takes no time.
"""

from importlib import import_module
from typing import Any

from ragnb.version import __version__

_HOMES = {
    "ragnb.annotation.agreement": "agreement",
    "ragnb.errors": "EndpointError InputError MissingPartError RagnbError StoreError",
    "ragnb.datasets.catalogue": "catalogue",
    "ragnb.datasets.evouna": "load_evouna",
    "ragnb.datasets.exports": "export_responses",
    "ragnb.datasets.multilingual": "load_multilingual",
    "ragnb.datasets.published": "published",
    "ragnb.datasets.ragbench": "load_ragbench",
    "ragnb.datasets.responses": "load_responses",
    "ragnb.datasets.rgb": "load_rgb",
    "ragnb.datasets.rgb_contexts": "audit build_contexts",
    "ragnb.datasets.runs": "load_run",
    "ragnb.datasets.scores": "load_scores",
    "ragnb.datasets.studies": "load_study studies",
    "ragnb.datasets.tables": "read_table write_table",
    "ragnb.dashboards": "dashboard",
    "ragnb.explorables": "explore",
    "ragnb.ensemble": "DataSplit MetricEnsemble",
    "ragnb.experiments.parts": "label_parts",
    "ragnb.experiments.pipeline": "run",
    "ragnb.figures.choose": "plot",
    "ragnb.llm.budget": "estimate",
    "ragnb.llm.client": "complete",
    "ragnb.llm.local": "serve",
    "ragnb.llm.store": "Store",
    "ragnb.llm.structured": "complete_structured",
    "ragnb.reports": "abstention_report compare_definitions graded_report judge_report "
    "load_metrics_json multilingual_report rgb_report trace_report",
    "ragnb.scoring": "METRICS Metric compare definitions score summarize with_scores",
    "ragnb.tables": "save_latex to_html to_latex to_markdown",
    "ragnb.widgets": "export_annotator view",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}
_MODULES = (
    "annotation datasets ensemble errors experiments.judges experiments.trace figures llm.batch "
    "llm.embed llm.store metrics reports scoring stats tables text widgets"
).split()
"""Modules that the README names, which ``import ragnb`` makes available without loading them."""

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = globals()[name] = getattr(import_module(_HOME[name]), name)
        return value
    modules = [module for module in _MODULES if module.split(".")[0] == name]
    if not modules:
        raise AttributeError(f"module 'ragnb' has no attribute {name!r}")
    for module in modules:
        import_module(f"ragnb.{module}")
    return import_module(f"ragnb.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *(module.split(".")[0] for module in _MODULES)})
