"""The figures of reports."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ragnb.figures.abilities import TITLES as ABILITIES
from ragnb.figures.abilities import plot_abilities
from ragnb.figures.curves import plot_risk_coverage
from ragnb.figures.differences import plot_cost_effectiveness_plane, plot_judge_bias
from ragnb.figures.forms import (
    Drawn,
    curves_figure,
    joined,
    means_figure,
    rows_figure,
    single,
    stacked,
)
from ragnb.figures.means import varying
from ragnb.figures.page import Page, new_page, set_header
from ragnb.figures.rates import plot_grades
from ragnb.numbers import distinct
from ragnb.reports.abstention import RiskCoverageReport
from ragnb.reports.judge import JudgeReport
from ragnb.reports.rgb import RgbReport


def figure_of(axes: Axes | np.ndarray) -> Figure:
    """The figure of axes, or of an array of them."""
    figure: Any = np.ravel(np.asarray(axes, dtype=object))[0].figure
    return figure


def rgb_figure(result: RgbReport, page: Page) -> Drawn:
    """RGB's four abilities, or the only one in a report."""
    abilities = [name for name in ABILITIES if not getattr(result, name).empty]
    if len(abilities) > 1:
        axes = plot_abilities(result)
        set_header(figure_of(axes), page.title, "")
        return axes, pd.concat(result.tables, names=["ability"]).reset_index("ability")
    table = getattr(result, abilities[0]) if abilities else result.closed_book
    has_noise = "noise_rate" in varying(table)
    return curves_figure(table, page) if has_noise else means_figure(table, page)


def judge_bias_figure(result: JudgeReport, page: Page) -> Drawn:
    """The bias of each judge, overall and by group."""
    bias = result.bias.assign(group=result.bias["group"].replace(page.names))
    judges = [rows for _, rows in bias.groupby("judge", sort=False)]
    return _with_header(judges, plot_judge_bias, page, 0.24), result.bias


def risk_coverage_figure(result: RiskCoverageReport, page: Page) -> Drawn:
    """The risk of the accepted answers against their coverage."""
    curve, line = joined(result.curve, list(result.groups), page.names)
    figure, ax = new_page(page.width, 2.2)
    plot_risk_coverage(curve, line=line, ax=ax)
    set_header(figure, page.title, _taken_note(ax))
    return ax, curve


def grades_figure(result: pd.DataFrame, page: Page) -> Drawn:
    """A judge's scores for each grade of people."""
    figure, ax = new_page(page.width, 2.4)
    plot_grades(result, ax=ax)
    finding, note = ax.get_title(loc="left"), "\n".join(text.get_text() for text in ax.texts)
    ax.set_title("", loc="left")
    for text in list(ax.texts):
        text.remove()
    set_header(figure, page.title or finding, note.replace("\n", " "))
    return ax, result


def agreement_figure(table: pd.DataFrame, page: Page) -> Drawn:
    """Coefficients of agreement, of all annotators together where there are several pairs."""
    if "pair" in table and table["pair"].eq("all").any():
        table = table[table["pair"].eq("all")]
    # The measure is a series, so the small print names only the kinds of intervals.
    kinds = distinct(table["interval"].str.replace(r"^[^(]*, | \(fewer than.*", "", regex=True))
    few = table["interval"].str.contains("fewer than").any()
    table = table.assign(interval=f"{kinds}{' (some: fewer than 30 units)' if few else ''}")
    names = [name for name in ("judge", "field", "pair") if name in table]
    rows = [name for name in names if table[name].nunique() > 1] or names[:1]
    return rows_figure(table, rows, "metric", [table], page, "agreement")


def efficiency_figure(result: pd.DataFrame, page: Page) -> Drawn:
    """The gain of each system against its cost."""
    price = next(iter(page.reference.values()), None)
    figure, ax = new_page(page.width, 2.6)
    plot_cost_effectiveness_plane(result, price=price, ax=ax)
    legend = ax.get_legend()
    if legend is not None:
        legend.set_loc("lower left")
        legend.set_bbox_to_anchor((0, 1), transform=ax.transAxes)
        legend.set_ncols(2)
    set_header(figure, page.title, _taken_note(ax))
    return ax, result


def _with_header(
    frames: list[pd.DataFrame], draw: Callable[..., Axes], page: Page, height_per_row: float
) -> Axes | np.ndarray:
    """Draw frames below each other by a function with small print of its own, which moves above all."""
    figure, axes = stacked(page, [0.6 + height_per_row * (len(rows) + 3) for rows in frames])
    notes: list[str] = []
    for ax, rows in zip(axes, frames, strict=True):
        draw(rows, ax=ax)
        notes += [line for line in _taken_note(ax).split("\n") if line not in notes]
    set_header(figure, page.title, "\n".join(notes))
    return single(axes)


def _taken_note(ax: Axes) -> str:
    """The small print of axes, which is removed from them."""
    note = str(ax.get_title(loc="left"))
    ax.set_title("", loc="left")
    return note
