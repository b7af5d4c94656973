"""Figures of rates: one point with its interval per row."""

from typing import Any, Literal

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

from ragnb.arguments import accepts
from ragnb.figures.style import (
    MARKERS,
    WIDTHS,
    caption,
    interval_note,
    plain,
    reach,
    require_one_each,
    style,
)
from ragnb.records import require_columns

NEEDED = ("mean", "low", "high", "interval", "confidence_level")


@accepts(width=tuple(WIDTHS))
def plot_rates(
    rates: pd.DataFrame,
    *,
    label: str = "system",
    series: str | None = None,
    marks: dict[str, float] | None = None,
    xlabel: str = "rate",
    width: Literal["column", "text"] = "text",
    ax: Axes | None = None,
) -> Axes:
    """Draw rates with their intervals, one row per label, from the top in the order of the frame.

    Parameters
    ----------
    rates
        As `ragnb.summarize` or `ragnb.published` returns them, of one metric: ``mean, low, high, interval,
        confidence_level``, and the columns named below. An undefined rate keeps its row, which stays empty.
    label
        Column that names the rows.
    series
        Column whose values share a row. They differ in colour and marker.
    marks
        Rates to mark by a dotted line, by name.
    xlabel
        What the rates are.
    width
        Width of a new figure: ``"text"``, with a legend on the right, or ``"column"``. A figure of one column has no room
        for a legend. There, each series is named next to one of its intervals, and each mark next to its line.
    ax
        Axes to draw on; a new figure by default.

    Raises
    ------
    InputError
        Missing columns, no row, or two rates of one series in one row.
    """
    keys = [label] if series is None else [label, series]
    require_columns(rates, (*NEEDED, *keys), "plot_rates")
    require_one_each(rates, keys, "plot_rates", "choose rows, or name series=")
    rows = list(dict.fromkeys(rates[label]))[::-1]
    groups = [("", rates)] if series is None else list(rates.groupby(series, sort=False))
    narrow = width == "column"
    with style():
        height = 0.8 + (0.22 if narrow else 0.2) * len(rows) * max(len(groups), 1.5)
        ax = ax or plt.subplots(figsize=(WIDTHS[width], height))[1]
        for name, value in (marks or {}).items():
            ax.axvline(value, color="0.4", ls=":", label=plain(name))
        names = []
        for number, (name, group) in enumerate(groups):
            shift = ((len(groups) - 1) / 2 - number) * 0.5 / len(groups)
            heights = [rows.index(row) + shift for row in group[label]]
            # A colour such as "C0" would be looked up when drawn, outside of this style.
            look: dict[str, Any] = {"color": to_hex(f"C{number}"), "label": plain(name)}
            look |= {"fmt": MARKERS[number % len(MARKERS)], "capsize": 2}
            ax.errorbar(group["mean"], heights, xerr=reach(group), **look)
            names.append((group.assign(height=heights), look["label"], look["color"]))
        ax.set(ylim=(-0.6, len(rows) - 0.4), xlabel=plain(xlabel))
        if rates["mean"].dropna().between(0, 1).all():
            ax.set_xlim(-0.02, 1.02)
        ax.set_yticks(range(len(rows)), [plain(row) for row in rows])
        ax.grid(axis="y", visible=False)
        caption(ax, interval_note(rates))
        if narrow:
            used: set[float] = set()
            for group, name, colour in names:
                _name_series(ax, group, name, colour, used)
            _name_marks(ax, marks or {})
        elif series is not None or marks:
            ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    return ax


def _name_series(ax: Axes, group: pd.DataFrame, name: str, colour: str, used: set[float]) -> None:
    """Write the name of a series next to its first interval with enough room, or with the most.

    The rows in ``used`` contain another name and come last.
    """
    left, right = ax.get_xlim()
    low, high = (group[end].fillna(group["mean"]) for end in ("low", "high"))
    before, after = low - left, right - high
    if not name or before.isna().all():
        return
    room = (before.where(before > after, after) / (right - left)).clip(upper=0.4)
    row = group["height"].round()
    place = int(room.where(~row.isin(used), room - 1).argmax())
    used.add(row.iloc[place])
    right_of = bool(after.iloc[place] >= before.iloc[place])
    end = (high if right_of else low).iloc[place]
    _write(ax, name, (end, group["height"].iloc[place]), right_of, colour)


def _name_marks(ax: Axes, marks: dict[str, float]) -> None:
    """Write the name of each mark next to its line, above the rows."""
    bottom, top = ax.get_ylim()
    ax.set_ylim(bottom, top + 0.4 * bool(marks))
    for name, value in marks.items():
        _write(ax, plain(name), (value, top + 0.1), value < sum(ax.get_xlim()) / 2, "0.35")


def _write(ax: Axes, text: str, where: tuple[float, float], after: bool, color: str) -> None:
    """Write a text that begins right after a point, or ends right before it."""
    gap, align = (5, "left") if after else (-5, "right")
    ax.annotate(text, where, (gap, 0), textcoords="offset points", ha=align, va="center", color=color,
                annotation_clip=False)  # fmt: skip
