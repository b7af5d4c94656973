"""Means along a condition: one line per series, and published results in grey behind."""

# Tested in tests/figures/test_curves.py.

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import seaborn.objects as so
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.ticker import MaxNLocator

from ragnb.figures.means import complete, draw_on
from ragnb.figures.page import PUBLISHED, looks_of, spread, text_colour, text_width, wrapped
from ragnb.figures.words import words_for

# The least distance between two names at the end of lines, in points.
_BETWEEN_NAMES = 8.0
# The distance between the intervals of two lines, as a share of the axis.
_SHIFT = 0.012
# With more steps than this, each would be too close to the next, and not all of them are named.
_MOST_NAMED_STEPS = 8
# With more steps than this, intervals are a band.
_MOST_STEPS = 12
# The share of the page's width that the names of lines may take.
MOST_WIDTH = 0.35
# Points for the piece of line beside a name in the legend, and for the margins.
_BESIDE_NAMES = 40.0
# Height in inches of a line of a name in the legend.
_LEGEND_LINE = 0.15
_DASHES = ("-", (0, (4, 1.5)), (0, (5, 1.2, 1, 1.2)), (0, (1, 1)))


def draw_lines(
    ax: Axes,
    table: pd.DataFrame,
    along: str,
    series: str,
    names: Mapping[Any, str] | None = None,
    behind: pd.DataFrame | None = None,
) -> list[tuple[float, str, str]]:
    """Draw means with their intervals along a column of numbers.

    The result has the last mean, the name and the colour of each line, for `name_lines`.
    """
    ends: list[tuple[float, str, str]] = []
    if behind is not None:
        grey = so.Plot(behind, x=along, y="mean", group="system")
        draw_on(ax, grey.add(so.Line(color=PUBLISHED, linewidth=0.8)), behind)
        ends += _ends(behind, along, "system", {}, names)
    groups = list(dict.fromkeys(table[series]))
    looks = looks_of(groups, series)
    steps = sorted(table[along].unique())
    # Lines are shifted a little, so that their intervals do not hide each other.
    step = _SHIFT * (steps[-1] - steps[0])
    for place, group in enumerate(groups):
        shift = (place - (len(groups) - 1) / 2) * step
        line = table[table[series] == group].sort_values(along)
        line = line.assign(_along=line[along] + shift)
        colour, marker = looks[group]["color"], looks[group]["marker"]
        is_dense = len(steps) > _MOST_STEPS
        look = {"color": colour, "alpha": 0.2} if is_dense else {"color": colour, "linewidth": 1}
        with_interval = complete(line)
        intervals = so.Plot(with_interval, x="_along", y="mean", ymin="low", ymax="high")
        mark = so.Band(**look) if is_dense else so.Range(**look)
        draw_on(ax, intervals.add(mark), with_interval)
        # In a plot of their own, because a mean without an interval would be left out.
        defined = line.dropna(subset="mean")
        dots = so.Plot(defined, x="_along", y="mean")
        dot = so.Dot(color=colour, marker=marker, pointsize=2.5 if is_dense else 4.5)
        draw_on(ax, dots.add(dot), defined)
        dashes: Any = _DASHES[place % len(_DASHES)]
        ax.plot(line["_along"], line["mean"], color=colour, ls=dashes, lw=1.3)
    ends += _ends(table, along, series, {group: looks[group]["color"] for group in groups}, names)
    ax.set(xlabel=words_for(along, names), ylabel="")
    if len(steps) <= _MOST_NAMED_STEPS:
        ax.set_xticks(steps, [words_for(step, names) for step in steps])
    elif all(float(step).is_integer() for step in steps):
        # Numbers of questions or passages have no fractions.
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    return ends


def draw_bounds(ax: Axes, table: pd.DataFrame, along: str, series: str) -> None:
    """Draw the band between the bounds of each mean if unscored responses are all wrong or all right."""
    groups = list(dict.fromkeys(table[series]))
    looks = looks_of(groups, series)
    for group in groups:
        bounds = table[table[series] == group].sort_values(along)
        colour = "0.88" if len(groups) == 1 else to_rgba(looks[group]["color"], 0.15)
        ax.fill_between(
            bounds[along], bounds["worst_low"], bounds["worst_high"], color=colour, lw=0, zorder=0.5
        )


def _ends(
    table: pd.DataFrame,
    along: str,
    series: str,
    colours: Mapping[Any, str],
    names: Mapping[Any, str] | None,
) -> list[tuple[float, str, str]]:
    """The last mean, the name and the colour of each line."""
    ends = []
    for group, line in table.groupby(series, sort=False):
        defined = line.dropna(subset="mean").sort_values(along)
        if len(defined):
            name = words_for(group, names, column=series)
            last = float(defined["mean"].iloc[-1])
            ends.append((last, name, text_colour(colours.get(group, "0.45"))))
    return ends


def name_lines(ax: Axes, ends: Sequence[tuple[float, str, str]]) -> None:
    """Write the name of each line at its end, moved up and down where two would overlap.

    Long names are in a legend below the axes.
    """
    figure: Any = ax.figure
    if _has_long_names(figure, ends):
        handles = []
        labels = _legend_labels(figure, ends)
        for label, (_, _, colour) in zip(labels, ends, strict=True):
            handles.append(ax.plot([], [], color=colour, label=label)[0])
        figure.legend(handles=handles, loc="outside lower left", fontsize="small", ncols=1)
        return
    figure.draw_without_rendering()
    pixels = figure.dpi / 72
    ends = sorted(ends, key=lambda end: end[0])
    heights_of_ends = [ax.transData.transform((0, mean))[1] for mean, _, _ in ends]
    box = ax.get_window_extent()
    heights = spread(heights_of_ends, _BETWEEN_NAMES * pixels, box.y0, box.y1)
    for height, (_, name, colour) in zip(heights, ends, strict=True):
        _, in_axes = ax.transAxes.inverted().transform((0, height))
        ax.annotate(
            name,
            (1, in_axes),
            (3, 0),
            xycoords="axes fraction",
            textcoords="offset points",
            va="center",
            color=colour,
            fontsize="small",
        )


def height_of_names(figure: Figure, ends: Sequence[tuple[float, str, str]]) -> float:
    """Inches that the legend of long names needs below the axes; 0 if the names are at the ends of the lines."""
    if not _has_long_names(figure, ends):
        return 0.0
    n_lines = sum(label.count("\n") + 1 for label in _legend_labels(figure, ends))
    return _LEGEND_LINE * n_lines


def _legend_labels(figure: Figure, ends: Sequence[tuple[float, str, str]]) -> list[str]:
    """The names in lines that a legend over the whole page has room for."""
    font = FontProperties(size="small")
    room = 72 * figure.get_figwidth() - _BESIDE_NAMES
    return ["\n".join(wrapped(name, room, font)) for _, name, _ in ends]


def _has_long_names(figure: Figure, ends: Sequence[tuple[float, str, str]]) -> bool:
    """Whether the names of lines would leave too little room for the lines themselves."""
    font = FontProperties(size="small")
    longest = max((text_width(name, font) for _, name, _ in ends), default=0.0)
    return longest > MOST_WIDTH * 72 * figure.get_figwidth()
