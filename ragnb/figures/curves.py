"""Curves and distributions."""

from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

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


def plot_noise_curve(
    summaries: pd.DataFrame,
    *,
    line: str = "system",
    published: pd.DataFrame | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw accuracy against noise rate, with one line per system and an interval for each estimate.

    Parameters
    ----------
    summaries
        As `ragnb.summarize` returns them, of one metric: ``noise_rate, mean, low, high, n_scored, interval`` and ``line``.
    line
        Column that identifies the line.
    published
        Published curves, drawn in grey behind the others: ``system, noise_rate, mean, low, high, n`` (see
        `ragnb.datasets.published`).
    ax
        Axes to draw on; a new figure of column width by default.

    Returns
    -------
    Axes
        The axes; the caption states the kind of interval and n.

    Raises
    ------
    InputError
        A column is missing, there are no rows, or a line has two estimates at one noise rate, such as those of two metrics.
    """
    needed = ("noise_rate", "mean", "low", "high", "n_scored", "interval", "confidence_level", line)
    require_columns(summaries, needed, "plot_noise_curve")
    require_one_each(
        summaries, [line, "noise_rate"], "plot_noise_curve", "choose rows, or name line="
    )
    groups = list(summaries.groupby(line, sort=False))
    with style():
        ax = ax or plt.subplots(figsize=(WIDTHS["column"], 2.6))[1]
        behind, ends = ("", []) if published is None else _draw_published(ax, published)
        for number, (name, group) in enumerate(groups):
            curve = group.sort_values("noise_rate")
            # The bars of different lines do not hide each other.
            shift = (number - (len(groups) - 1) / 2) * 0.012
            look: dict[str, Any] = {
                "marker": MARKERS[number % len(MARKERS)],
                "ls": ("-", "--", "-.", ":")[number % 4],
            }
            x = curve["noise_rate"] + shift
            drawn = ax.errorbar(x, curve["mean"], yerr=reach(curve), capsize=2, **look)
            ends += _end(curve, name, drawn.lines[0].get_color())
        rates = sorted(summaries["noise_rate"].unique())
        ax.set(xlabel="noise rate", ylabel="accuracy")
        ax.set(ylim=(-0.02, 1.02), xlim=(-0.05, max(rates) + 0.05), xticks=rates)
        caption(ax, interval_note(summaries) + behind)
        _name_ends(ax, ends)
    return ax


def _draw_published(ax: Axes, published: pd.DataFrame) -> tuple[str, list[Any]]:
    """Draw grey curves with thin intervals; return a note on them, and the ends of the curves as `_name_ends` takes them."""
    what = "plot_noise_curve(published=...)"
    require_columns(published, ("system", "noise_rate", "mean", "low", "high", "n"), what)
    require_one_each(published, ["system", "noise_rate"], what, "choose rows")
    ends = []
    for system, curve in published.groupby("system", sort=False):
        values = curve.sort_values("noise_rate")
        thin: Any = {"lw": 0.8, "elinewidth": 0.6, "capsize": 1.2, "capthick": 0.6, "zorder": 1}
        ax.errorbar(values["noise_rate"], values["mean"], reach(values), color="0.72", **thin)
        ends += _end(values, system, "0.4")
    return f"\nin grey: published results, n = {published['n'].iloc[0]}", ends


def _end(curve: pd.DataFrame, name: Any, color: Any) -> list[Any]:
    """Return the end of a curve as `_name_ends` takes it: its last scored mean, its name and its color, or nothing."""
    return [(mean, plain(name), color) for mean in curve["mean"].dropna().tail(1)]


def _name_ends(ax: Axes, ends: list[Any]) -> None:
    """Write the name of each curve to the right of the axes at the height of its end: (height, name, color)."""
    height = -1.0
    for end, name, color in sorted(ends, key=lambda curve: curve[0]):
        height = max(end, height + 0.065)  # No two names are closer than this.
        ax.annotate(name, (1, height), xytext=(3, 0), xycoords=("axes fraction", "data"),
                    textcoords="offset points", color=color, fontsize="small", va="center")  # fmt: skip
