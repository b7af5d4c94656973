"""What `ragnb.figures` contains. Written by ``python -m tools.stubs``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from ragnb.figures.abilities import plot_abilities
from ragnb.figures.choose import Result, plot
from ragnb.figures.curves import plot_risk_coverage
from ragnb.figures.styles import FORMATS, MARKERS, PAPERS, WIDTHS, interval_note, save_figure, style

def save_plot(
    result: Result,
    path: str | Path,
    *,
    kind: str | None = None,
    title: str = "",
    names: Mapping[Any, str] | None = None,
    width: str | float = "column",
    reference: float | Mapping[str, float | tuple[float, float] | pd.DataFrame] | None = None,
    published: pd.DataFrame | None = None,
    rows: str | Sequence[str] | None = None,
    series: str | None = None,
    along: str | None = None,
    note: str = "",
) -> Path: ...
def paper_size(
    paper: Literal["acl", "neurips", "two-column"],
    *,
    columns: Literal[1, 2] = 1,
    aspect: float = 0.62,
) -> tuple[float, float]: ...

__all__ = [
    "FORMATS",
    "MARKERS",
    "PAPERS",
    "WIDTHS",
    "interval_note",
    "paper_size",
    "plot",
    "plot_abilities",
    "plot_risk_coverage",
    "save_figure",
    "save_plot",
    "style",
]
