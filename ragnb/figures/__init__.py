"""Figures for papers from tidy frames. Every estimate has an interval, and the caption states n and its kind."""

from typing import TYPE_CHECKING

from ragnb.faces import face

if TYPE_CHECKING:
    from ragnb.figures.abilities import plot_abilities
    from ragnb.figures.choose import plot, save_plot
    from ragnb.figures.curves import plot_risk_coverage
    from ragnb.figures.styles import (
        FORMATS,
        MARKERS,
        PAPERS,
        WIDTHS,
        interval_note,
        paper_size,
        save_figure,
        style,
    )
else:
    __getattr__, __dir__ = face(__name__)

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
