"""Means with their intervals, row by row: dots, or pairs of dots that are linked."""

# Tested in tests/figures/test_rates.py.

import math
import textwrap
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import seaborn.objects as so
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.transforms import Bbox, blended_transform_factory

from ragnb.columns import CONDITION
from ragnb.figures.page import REFERENCE, looks_of, text_colour, text_width
from ragnb.figures.styles import plain
from ragnb.figures.words import words_for

# Columns that may distinguish the rows of a table of means, in the order of their importance.
DIMENSIONS = ("metric", "definition", "protocol", "judge", "field", "pair", *CONDITION)
# Columns of text that describe a mean and do not distinguish it.
NO_DIMENSIONS = ("interval", "signature", "unscored", "reason", "warning", "why", "language_from")
# More series than this are named by their rows, because so many colours cannot be distinguished.
MOST_SERIES = 5
# Points for the marker beside the name of a series, and for the space between two names.
_BESIDE_NAME = 26.0
# Characters of a row's name in one line.
_ROW_NAME = 20
# Distance between the series of a row, as a share of the distance between rows: of two series, whose dots
# are linked, and of more series together.
_BETWEEN_TWO, _BETWEEN_ALL = 0.36, 0.7
# Shares of a difference of more than this are drawn from 0 to 1.
_WIDE_SHARES = 0.5
# Inches between two lines of text above the axes.
_LINE_ABOVE = 0.16


def varying(table: pd.DataFrame) -> list[str]:
    """The dimensions in which the rows of a table differ; without any, the system or another dimension.

    Other columns of text are dimensions if the known ones do not distinguish all rows.
    """
    present = [name for name in DIMENSIONS if name in table]
    different = [name for name in present if table[name].nunique(dropna=False) > 1]
    for name in table.select_dtypes(exclude="number").columns:
        if len(table) == 1 or (different and not table.duplicated(different).any()):
            break
        is_new = name not in present and name not in NO_DIMENSIONS
        if is_new and table[name].astype(str).nunique() > 1:
            different.append(name)
    if not different and "system" in present:
        return ["system"]
    return different or present[-1:]


def arranged(
    table: pd.DataFrame, rows: Sequence[str] | None = None, series: str | None = None
) -> tuple[list[str], str | None]:
    """The columns that name the rows of the figure, and the column of the series within a row.

    What is not asked for is chosen: systems are the series, so that they are next to each other;
    with many systems, a dimension of few values is, and each system has a row.
    """
    dimensions = varying(table)
    if rows is not None:
        return list(rows), series
    if series is not None:
        return [name for name in dimensions if name != series] or dimensions, series
    if len(dimensions) < 2:
        return dimensions, None
    few = [name for name in dimensions if table[name].nunique(dropna=False) <= MOST_SERIES]
    if not few:
        return dimensions, None
    series = "system" if "system" in few else few[-1]
    return [name for name in dimensions if name != series], series


def draw_means(
    ax: Axes,
    table: pd.DataFrame,
    rows: Sequence[str],
    series: str | None,
    names: Mapping[Any, str] | None = None,
) -> pd.DataFrame:
    """Draw one row for each combination of values in ``rows``, from the top in the order of the table.

    The result is the table with the height of each mean in the column ``place``.
    """
    labels = row_names(table, rows, names)
    order = list(dict.fromkeys(labels))
    height = {label: len(order) - 1 - place for place, label in enumerate(order)}
    groups = list(dict.fromkeys(table[series])) if series else [None]
    looks = looks_of(groups, series or "")
    # Series of a row are beside each other, so that their intervals can be distinguished.
    gap = _BETWEEN_TWO if len(groups) == 2 else _BETWEEN_ALL / len(groups)
    # The first series is the uppermost, and the middle of all is at the height of the row.
    shift = {group: ((len(groups) - 1) / 2 - place) * gap for place, group in enumerate(groups)}
    group_of_row = table[series] if series else pd.Series([None] * len(table), table.index)
    heights = [
        height[label] + shift[group] for label, group in zip(labels, group_of_row, strict=True)
    ]
    placed = table.assign(place=heights, row=labels)
    if len(groups) == 2:
        _link_pairs(ax, placed)
    for group in groups:
        of_group = placed[group_of_row == group] if series else placed
        colour, marker = looks[group]["color"], looks[group]["marker"]
        with_interval = complete(of_group)
        intervals = so.Plot(with_interval, x="mean", y="place", xmin="low", xmax="high")
        intervals = intervals.add(so.Range(color=colour, linewidth=1.1), orient="y")
        draw_on(ax, intervals, with_interval)
        # In a plot of their own, because a mean may have no interval.
        defined = of_group.dropna(subset="mean")
        dots = so.Plot(defined, x="mean", y="place")
        draw_on(ax, dots.add(so.Dot(color=colour, marker=marker, pointsize=4)), defined)
    ax.set_yticks([height[label] for label in order], order)
    ax.set(ylim=(-0.55, len(order) - 0.45), xlabel="", ylabel="")
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", visible=False)
    if len(groups) > 1:
        # A line between two rows shows which series belong to the same row.
        for label in order[1:]:
            ax.axhline(height[label] + 0.5, color="0.9", lw=0.6, zorder=0)
    return placed


def _link_pairs(ax: Axes, placed: pd.DataFrame) -> None:
    """Link the two dots of a row, so that the eye sees their difference."""
    for _, pair in placed.groupby("row", sort=False):
        if len(pair) == 2 and pair["mean"].notna().all():
            ax.plot(pair["mean"], pair["place"], color="0.82", lw=2.2, zorder=0.5)


def row_names(
    table: pd.DataFrame,
    columns: Sequence[str],
    names: Mapping[Any, str] | None,
    *,
    width: int = _ROW_NAME,
) -> list[str]:
    """The name of each row: the words for its values, joined by commas, in lines of some characters."""
    labels = []
    for row in table[list(columns)].to_dict("records"):
        words = []
        for column, value in row.items():
            word = words_for(value, names, column=str(column))
            # A number alone would not say what it is.
            is_number = not isinstance(value, str)
            words.append(f"{words_for(column)} {word}" if is_number else word)
        labels.append(textwrap.fill(", ".join(words), width))
    return labels


def complete(means: pd.DataFrame) -> pd.DataFrame:
    """The means that have an interval."""
    return means.dropna(subset=["mean", "low", "high"])


def draw_on(ax: Axes, plot: so.Plot, rows: pd.DataFrame) -> None:
    """Draw a plot of some rows with seaborn on axes; nothing if there are none, which seaborn refuses."""
    if rows.empty:
        return
    with warnings.catch_warnings():
        # seaborn passes the argument `copy` to pandas. pandas 3 ignores it and warns about it.
        warnings.filterwarnings("ignore", "The copy keyword is deprecated", DeprecationWarning)
        plot.on(ax).plot()


def show_shares(ax: Axes, lowest: float, highest: float, *, axis: str = "x") -> None:
    """Set the limits of an axis of shares: from 0 to 1, or closer if the values lie close together."""
    set_limits = ax.set_xlim if axis == "x" else ax.set_ylim
    # A dot at 0 or 1 is not cut by the edge.
    if highest - lowest > _WIDE_SHARES:
        set_limits(-0.02, 1.02)
        return
    # Values that are almost equal still have some room around them.
    margin = 0.15 * max(highest - lowest, 0.05)
    set_limits(max(lowest - margin, -0.02), min(highest + margin, 1.02))


def draw_references(ax: Axes, references: Mapping[str, float], *, is_named: bool = True) -> None:
    """Mark values by dashed lines, each with its name above the axes."""
    for name, value in references.items():
        ax.axvline(value, color=REFERENCE, ls="--", lw=0.9, zorder=0.8)
        if not is_named:
            continue
        left, right = ax.get_xlim()
        side = "left" if value < (left + right) / 2 else "right"
        ax.annotate(
            plain(name),
            (value, 1),
            (0, 2),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha=side,
            va="bottom",
            fontsize="small",
            color=REFERENCE,
        )


def name_series(
    ax: Axes,
    placed: pd.DataFrame,
    series: str,
    names: Mapping[Any, str] | None,
    *,
    lines_above: int = 0,
    references: Iterable[float] = (),
) -> None:
    """Name each series next to one of its intervals, or all in a line above the axes if there is no room.

    ``placed`` is the result of `draw_means`, and ``lines_above`` the number of lines of text that
    are above the axes already. No name crosses the lines of ``references``. The page must be complete,
    because room is measured on it.
    """
    groups = list(dict.fromkeys(placed[series]))
    looks = looks_of(groups, series)
    words = {group: words_for(group, names, column=series) for group in groups}
    figure: Any = ax.figure
    figure.draw_without_rendering()
    intervals = {row.Index: _interval_box(ax, row) for row in placed.itertuples()}
    links = _link_boxes(ax, placed) if len(groups) == 2 else []
    lines = [_line_box(ax, value) for value in references]
    box_of_name: dict[Any, Bbox] = {}
    for group in groups:
        means_of_group = placed[placed[series] == group].dropna(subset="mean")
        intervals_of_group = [intervals[row] for row in means_of_group.index]
        obstacles = [*intervals.values(), *links, *lines, *box_of_name.values()]
        box = _free_place(ax, intervals_of_group, words[group], obstacles)
        if box is None:
            named_looks = [(words[group], looks[group]) for group in groups]
            name_above(ax, named_looks, lines_above)
            return
        box_of_name[group] = box
    to_data = ax.transData.inverted()
    for group, box in box_of_name.items():
        x, y = to_data.transform((box.x0, (box.y0 + box.y1) / 2))
        colour = text_colour(looks[group]["color"])
        ax.text(x, y, words[group], ha="left", va="center_baseline", color=colour, fontsize="small")


def _interval_box(ax: Axes, row: Any) -> Bbox:
    """The place of an interval and its dot, in pixels."""
    # A mean that is undefined is not drawn, and no name is written next to it.
    ends = [value for value in (row.low, row.mean, row.high) if np.isfinite(value)] or [0.0]
    height = row.place
    (left, bottom), (right, _) = ax.transData.transform([(min(ends), height), (max(ends), height)])
    # A dot has a diameter of 4 points, and a little room around it.
    radius = 3 * ax.figure.dpi / 72
    return Bbox.from_extents(left - radius, bottom - radius, right + radius, bottom + radius)


def _line_box(ax: Axes, value: float) -> Bbox:
    """The place of the vertical line of a reference, in pixels."""
    x = ax.transData.transform((value, 0))[0]
    page = ax.get_window_extent()
    return Bbox.from_extents(x - 2, page.y0, x + 2, page.y1)


def _link_boxes(ax: Axes, placed: pd.DataFrame) -> list[Bbox]:
    """The places along the links of pairs, in pixels."""
    boxes = []
    for _, pair in placed.groupby("row", sort=False):
        if len(pair) == 2:
            ends = ax.transData.transform(pair[["mean", "place"]].to_numpy())
            # A link may be aslant, so that one box around it would cover much free room.
            for point in np.linspace(ends[0], ends[1], 25):
                boxes.append(Bbox.from_extents(*(point - 2), *(point + 2)))
    return boxes


def _free_place(
    ax: Axes, intervals: Sequence[Bbox], text: str, obstacles: Sequence[Bbox]
) -> Bbox | None:
    """Room for a text right or left of one of some intervals, in pixels; None if there is none."""
    pixels = ax.figure.dpi / 72
    font = FontProperties(size=FontProperties(size="small").get_size_in_points())
    width, height = text_width(text, font) * pixels, font.get_size_in_points() * pixels
    page = ax.get_window_extent()
    for interval in intervals:
        middle = (interval.y0 + interval.y1) / 2
        for left in (interval.x1 + pixels, interval.x0 - pixels - width):
            box = Bbox.from_bounds(left, middle - height / 2, width, height)
            is_inside = page.x0 <= box.x0 and box.x1 <= page.x1
            if is_inside and not box.count_overlaps(obstacles):
                return box
    return None


def name_above(
    ax: Axes, names_and_looks: Sequence[tuple[str, Mapping[str, Any]]], lines_below: int
) -> None:
    """Write the names of series above the axes, each with its marker, from the left edge of the page.

    ``lines_below`` is the number of lines of text between the axes and these names.
    """
    figure: Any = ax.figure
    font = FontProperties(size="small")
    widths = [text_width(name, font) + _BESIDE_NAME for name, _ in names_and_looks]
    room = 72 * figure.get_figwidth()
    # All columns of a legend are as wide as the longest name.
    n_fitting = int(room // max(widths))
    n_columns = min(max(n_fitting, 1), len(names_and_looks))
    n_lines = math.ceil(len(names_and_looks) / n_columns) + lines_below
    # An empty title keeps the room free, because the legend may be wider than the axes.
    ax.set_title("\n" * (n_lines - 1) + " ", fontsize="small")
    handles = [
        ax.plot([], [], ls="none", color=look["color"], marker=look["marker"], label=name)[0]
        for name, look in names_and_looks
    ]
    # From inches to a share of the height of the axes.
    inches_above = lines_below * _LINE_ABOVE
    above = 1 + inches_above / ax.get_position().height / figure.get_figheight()
    legend = ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0, above),
        bbox_transform=blended_transform_factory(figure.transFigure, ax.transAxes),
        ncols=n_columns,
        labelcolor=[text_colour(look["color"]) for _, look in names_and_looks],
        fontsize="small",
        borderaxespad=0.1,
        borderpad=0.2,
        columnspacing=1,
        handletextpad=0.1,
    )
    legend.set_in_layout(False)
