"""Figures of rates: one point with its interval per row."""

from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

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


def plot_rates(
    rates: pd.DataFrame,
    *,
    label: str = "system",
    series: str | None = None,
    marks: dict[str, float] | None = None,
    xlabel: str = "rate",
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
        Column whose values share a row. They differ in colour and marker, and the legend names them.
    marks
        Rates to mark by a dotted line, by name.
    xlabel
        What the rates are.
    ax
        Axes to draw on; a new figure of text width by default.

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
    with style():
        height = 0.8 + 0.2 * len(rows) * max(len(groups), 1.5)
        ax = ax or plt.subplots(figsize=(WIDTHS["text"], height))[1]
        for name, value in (marks or {}).items():
            ax.axvline(value, color="0.4", ls=":", label=plain(name))
        for number, (name, group) in enumerate(groups):
            shift = ((len(groups) - 1) / 2 - number) * 0.5 / len(groups)
            heights = [rows.index(row) + shift for row in group[label]]
            # A colour such as "C0" would be looked up when drawn, outside of this style.
            look: dict[str, Any] = {"color": to_hex(f"C{number}"), "label": plain(name)}
            look |= {"fmt": MARKERS[number % len(MARKERS)], "capsize": 2}
            ax.errorbar(group["mean"], heights, xerr=reach(group), **look)
        ax.set(ylim=(-0.6, len(rows) - 0.4), xlabel=plain(xlabel))
        if rates["mean"].dropna().between(0, 1).all():
            ax.set_xlim(-0.02, 1.02)
        ax.set_yticks(range(len(rows)), [plain(row) for row in rows])
        ax.grid(axis="y", visible=False)
        caption(ax, interval_note(rates))
        if series is not None or marks:
            ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    return ax
