"""The figures of ensembles: values over random splits, and the accuracy with deferral."""

# Tested in tests/figures/test_ensembles.py.

import textwrap
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import seaborn.objects as so
from matplotlib.axes import Axes

from ragnb.columns import require_columns
from ragnb.errors import InputError
from ragnb.figures.forms import Drawn, curves_figure, means_figure, means_of
from ragnb.figures.means import (
    arranged,
    draw_means,
    draw_on,
    draw_references,
    name_series,
    row_names,
)
from ragnb.figures.page import RANGE, Page, looks_of, new_page, set_header
from ragnb.figures.styles import plain, span
from ragnb.figures.words import words_for

# Heights at which the dots of splits lie, so that they hide each other less.
_HEIGHTS = (0.0, 0.09, -0.09)
# Characters of the name of a range in one line.
_ROW_NAME = 24
# The dots of splits are drawn below those of means, and above the lines of the grid.
_BEHIND_MEANS = 0.9
# Heights in inches: the axis, a row without its series, each series of a row, a row without its name, and each
# line of the name. A row has the larger of the two heights.
_AXIS, _ROW, _SERIES, _ROW_OF_NAME, _LINE = 0.4, 0.13, 0.15, 0.08, 0.15


def splits_figure(result: Any, page: Page) -> Drawn:
    """A small dot for each split, and a large one for the mean of all splits, row by row."""
    require_columns(result, ["split", "value"], "plot(kind='splits')")
    table = pd.DataFrame(result).dropna(subset="value").reset_index(drop=True)
    if table.empty:
        raise InputError("a figure of the kind 'splits' needs at least one value, got none")
    if "metric" not in table:
        table["metric"] = "value"
    rows, series = arranged(table.drop(columns=["split", "value"]), page.rows, page.series)
    keys = [*rows, series] if series else rows
    if table.duplicated([*keys, "split"]).any():
        raise InputError(
            f"plot needs one value for each split and {' and '.join(keys)}, got several; select "
            "rows, or name the columns that distinguish them with rows= and series="
        )
    # The limits of a row are those of its dots: names of series are written beside them.
    by_row = table.groupby(keys, sort=False, dropna=False)["value"]
    means = by_row.agg(mean="mean", low="min", high="max").reset_index()
    labels = set(row_names(means, rows, page.names))
    n_series = table[series].nunique() if series else 1
    range_names = [textwrap.fill(plain(name), _ROW_NAME) for name in page.ranges]
    n_lines = max(name.count("\n") + 1 for name in [*labels, *range_names])
    height_of_row = max(_ROW + _SERIES * n_series, _ROW_OF_NAME + _LINE * n_lines)
    height = _AXIS + height_of_row * (len(labels) + len(page.ranges))
    figure, ax = new_page(page.width, height)
    # The means of splits have no intervals.
    without_intervals = means.assign(low=np.nan, high=np.nan)
    placed = draw_means(ax, without_intervals, rows, series, page.names)
    # A white edge separates a mean from the many dots of its colour below it.
    for drawn in ax.collections:
        drawn.set(edgecolor="white", linewidth=0.8)
    row_labels = [text.get_text() for text in ax.get_yticklabels()]
    ticks = dict(zip(ax.get_yticks(), row_labels, strict=True))
    _draw_values(ax, table.merge(placed[[*keys, "place"]], on=keys), series)
    for number, (name, limits) in enumerate(zip(range_names, page.ranges.values(), strict=True)):
        # Ranges are in rows below the last row, whose height is 0.
        place = -1.0 - number
        ax.plot(limits, [place, place], color=RANGE, lw=5, solid_capstyle="butt", zorder=1)
        ticks[place] = name
    # Each plot of seaborn sets ticks and names of its own.
    ax.set_yticks([*ticks], [*ticks.values()])
    ax.set(ylim=(min(ticks) - 0.55, max(ticks) + 0.55), ylabel="")
    metrics = list(dict.fromkeys(table["metric"]))
    has_one_metric = len(metrics) == 1
    quantity = words_for(metrics[0], page.names, column="metric") if has_one_metric else "value"
    ax.set_xlabel(quantity)
    draw_references(ax, page.reference)
    n = f", n = {span(table['n'])}" if "n" in table else ""
    small_print = f"{table['split'].nunique()} splits{n}; large dots: means; no intervals"
    if page.ranges:
        small_print += "\ngrey: expected ranges"
    set_header(figure, page.title, small_print)
    if series:
        # The names of references are above the axes.
        lines_above = 1 if page.reference else 0
        # Names are written beside the dots of all splits, and not only beside their mean.
        placed = placed.assign(low=means["low"], high=means["high"])
        name_series(
            ax,
            placed,
            series,
            page.names,
            lines_above=lines_above,
            references=page.reference.values(),
        )
    return ax, table


def _draw_values(ax: Axes, table: pd.DataFrame, series: str | None) -> None:
    """Draw the value of each split around the height of its row."""
    looks = looks_of(list(dict.fromkeys(table[series])), series) if series else {}
    for place, dots in table.groupby("place"):
        # Dots next to each other by value get different heights.
        order = dots["value"].rank(method="first").astype(int)
        heights = float(place) + np.take(_HEIGHTS, order % len(_HEIGHTS))
        # Without a series, all dots look like those of the first one.
        look = looks_of([0], "")[0] if series is None else looks[dots[series].iloc[0]]
        dot = so.Dot(color=look["color"], pointsize=2.6, alpha=0.45, stroke=0)
        dots = dots.assign(place=heights)
        n_before = len(ax.collections)
        draw_on(ax, so.Plot(dots, x="value", y="place").add(dot), dots)
        # Many dots would hide the mean, which was drawn before them.
        for drawn in ax.collections[n_before:]:
            drawn.set_zorder(_BEHIND_MEANS)


def deferral_figure(result: Any, page: Page) -> Drawn:
    """Accuracy against the share of deferred items, or one row for each selection of items."""
    if result["point"].eq("").any():
        table = means_of(result).drop(columns="system")
        page = replace(page, along=page.along or "share")
        # Curves of deciders lie close together, far above 0.
        return curves_figure(table, page, is_close=True)
    return means_figure(result, page)
