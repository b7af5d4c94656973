"""Figures of means: one point with its interval per row."""

from typing import Any, Literal

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ragnb.arguments import accepts
from ragnb.figures.styles import (
    WIDTHS,
    caption,
    interval_note,
    look_of,
    plain,
    reach,
    require_rates,
    style,
)
from ragnb.scoring.columns import record_of


@accepts(width=tuple(WIDTHS))
@style()
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
    require_rates(rates, ["mean"], keys, "plot_rates")
    rows = list(dict.fromkeys(rates[label]))[::-1]
    groups = [("", rates)] if series is None else list(rates.groupby(series, sort=False))
    narrow, marks = width == "column", marks or {}
    height = 0.8 + (0.22 if narrow else 0.2) * len(rows) * max(len(groups), 1.5)
    ax = ax or plt.subplots(figsize=(WIDTHS[width], height))[1]
    for name, value in marks.items():
        ax.axvline(value, color="0.4", ls=":", label=plain(name))
    drawn = []
    for number, (name, group) in enumerate(groups):
        shift = ((len(groups) - 1) / 2 - number) * 0.5 / len(groups)
        placed = group.assign(height=[rows.index(row) + shift for row in group[label]])
        look = look_of(number, name)
        ax.errorbar(placed["mean"], placed["height"], xerr=reach(placed), ls="none", **look)
        drawn.append((placed, look))
    ax.set(ylim=(-0.6, len(rows) - 0.4), xlabel=plain(xlabel))
    if are_shares(rates):
        ax.set_xlim(-0.02, 1.02)
    ax.set_yticks(range(len(rows)), [plain(row) for row in rows])
    ax.grid(axis="y", visible=False)
    caption(ax, interval_note(rates))
    if not narrow and (series is not None or marks):
        ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    if narrow:
        _name_series(ax, drawn if series is not None else [])
        top = len(rows) - 0.4
        ax.set_ylim(-0.6, top + 0.4 * bool(marks))
        for name, value in marks.items():
            _write(ax, plain(name), (value, top + 0.1), value < sum(ax.get_xlim()) / 2, "0.35")
    return ax


def are_shares(rates: pd.DataFrame) -> bool:
    """Whether rates have the axis from 0 to 1: by the bounds of their metric, or else by their values."""
    for metric in rates["metric"].unique() if "metric" in rates else ():
        record = record_of(str(metric), " ".join(map(str, rates.get("signature", ()))))
        if record is not None and record.bounds != (0, 1):
            return False
    return bool(rates["mean"].dropna().between(0, 1).all())


def _name_series(ax: Axes, drawn: list[tuple[pd.DataFrame, dict[str, Any]]]) -> None:
    """Write the name of each series next to its first interval with enough room, or with the most.

    Rows that contain another name come last.
    """
    left, right = ax.get_xlim()
    used: list[float] = []
    for group, look in drawn:
        low, high = (group[end].fillna(group["mean"]) for end in ("low", "high"))
        before, after = low - left, right - high
        if before.notna().any():
            room = (np.fmax(before, after) / (right - left)).clip(upper=0.4)
            row = group["height"].round()
            place = int(room.where(~row.isin(used), room - 1).argmax())
            used.append(row.iloc[place])
            is_after = bool(after.iloc[place] >= before.iloc[place])
            end = (high if is_after else low).iloc[place]
            where = (end, group["height"].iloc[place])
            _write(ax, look["label"], where, is_after, look["color"])


def _write(ax: Axes, text: str, where: tuple[float, float], after: bool, color: str) -> None:
    """Write a text that begins right after a point, or ends right before it."""
    gap, align = (5, "left") if after else (-5, "right")
    ax.annotate(text, where, (gap, 0), textcoords="offset points", ha=align, va="center", color=color,
                annotation_clip=False)  # fmt: skip
