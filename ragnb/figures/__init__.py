"""Figures for papers from tidy frames. Every estimate has an interval, and the caption states n and its kind."""

from ragnb.figures.choose import plot, save_plot
from ragnb.figures.curves import plot_noise_curve
from ragnb.figures.differences import plot_differences, plot_power
from ragnb.figures.efficiency import (
    plot_acceptability,
    plot_cost_effectiveness_plane,
    plot_fieller_set,
)
from ragnb.figures.judges import plot_grades, plot_judge_bias, plot_reliability
from ragnb.figures.rates import plot_rates
from ragnb.figures.style import (
    FORMATS,
    MARKERS,
    PAPERS,
    WIDTHS,
    headline,
    interval_note,
    paper_size,
    save_figure,
    style,
)
from ragnb.figures.trust import plot_deferral, plot_risk_coverage

__all__ = [
    "FORMATS",
    "MARKERS",
    "PAPERS",
    "WIDTHS",
    "headline",
    "interval_note",
    "paper_size",
    "plot",
    "plot_acceptability",
    "plot_cost_effectiveness_plane",
    "plot_deferral",
    "plot_differences",
    "plot_fieller_set",
    "plot_grades",
    "plot_judge_bias",
    "plot_noise_curve",
    "plot_power",
    "plot_rates",
    "plot_reliability",
    "plot_risk_coverage",
    "save_figure",
    "save_plot",
    "style",
]
