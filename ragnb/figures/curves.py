"""Curves and distributions."""

from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from ragnb.figures.style import MARKERS, WIDTHS, interval_note, plain, require_one_each, style
from ragnb.records import require_columns


def plot_noise_curve(
    summaries: pd.DataFrame,
    *,
    line: str = "system",
    published: pd.DataFrame | None = None,
    legend_title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Accuracy against noise rate, one line a system, each estimate with its interval.

    Parameters
    ----------
    summaries
        As `ragnb.summarize` returns them, of one metric: ``noise_rate, mean, low, high, n_scored, interval`` and ``line``.
    line
        Column that tells the lines apart.
    published
        Published curves in grey behind: ``system, noise_rate, mean, low, high, n`` (see
        `ragnb.datasets.published`).
    legend_title
        What the lines are.
    ax
        Axes to draw on; a new figure of column width by default.

    Returns
    -------
    Axes
        Labelled with the kind of interval and n.

    Raises
    ------
    InputError
        Missing columns, no row, or two estimates at one noise rate of a line, such as those of two languages or metrics.
    """
    needed = ("noise_rate", "mean", "low", "high", "n_scored", "interval", "confidence_level", line)
    require_columns(summaries, needed, "plot_noise_curve")
    require_one_each(
        summaries, [line, "noise_rate"], "plot_noise_curve", "choose rows, or name line="
    )
    with style():
        ax = ax or plt.subplots(figsize=(WIDTHS["column"], 2.6))[1]
        if published is not None:
            _draw_published(ax, published)
        groups = list(summaries.groupby(line, sort=False))
        for number, (name, curve) in enumerate(groups):
            _draw_curve(ax, curve.sort_values("noise_rate"), plain(name), number, len(groups))
        ax.set(
            xlabel="noise rate",
            ylabel="accuracy",
            ylim=(-0.02, 1.02),
            xlim=(-0.05, max(summaries["noise_rate"]) + 0.05),
        )
        ax.set_xticks(sorted(summaries["noise_rate"].unique()))
        behind = "" if published is None else f"; grey: published, n = {published['n'].iloc[0]}"
        ax.set_title(
            plain(interval_note(summaries) + behind), loc="left", fontsize="small", color="0.35"
        )
        title = None if legend_title is None else plain(legend_title)
        ax.legend(
            loc="lower left",
            fontsize="small",
            title=title,
            title_fontsize="small",
            alignment="left",
        )
    return ax


def plot_distribution(values: pd.DataFrame, column: str, *, ax: Axes | None = None) -> Axes:
    """Histogram of one column, with its n, its median and its range named; for looking at data, not for estimates.

    Parameters
    ----------
    values
        One row an item.
    column
        The numeric column to draw.
    ax
        Axes to draw on; a new figure of column width by default.
    """
    require_columns(values, (column,), "plot_distribution")
    numbers = values[column].dropna()
    with style():
        ax = ax or plt.subplots(figsize=(WIDTHS["column"], 2.0))[1]
        sns.histplot(
            x=numbers,
            ax=ax,
            color=sns.color_palette("colorblind")[0],
            edgecolor="white",
            linewidth=0.5,
        )
        ax.axvline(numbers.median(), color="0.2", ls="--", lw=0.9)
        told = f"n = {len(numbers)}, median {numbers.median():g} (dashed), range {numbers.min():g} to {numbers.max():g}"
        ax.set_title(told, loc="left", fontsize="small", color="0.35")
        ax.set(xlabel=plain(column), ylabel="count")
    return ax


def _draw_curve(ax: Axes, curve: pd.DataFrame, name: str, number: int, of: int) -> None:
    shift = (number - (of - 1) / 2) * 0.012  # so that bars do not hide each other
    bars = [curve["mean"] - curve["low"], curve["high"] - curve["mean"]]
    dashes: Any = ("-", "--", "-.", ":")[number % 4]
    marker = MARKERS[number % len(MARKERS)]
    ax.errorbar(
        curve["noise_rate"] + shift,
        curve["mean"],
        yerr=bars,
        label=name,
        marker=marker,
        ls=dashes,
        capsize=2,
    )


def _draw_published(ax: Axes, published: pd.DataFrame) -> None:
    """Grey curves with thin intervals, named at their right end."""
    what = "plot_noise_curve(published=...)"
    require_columns(published, ("system", "noise_rate", "mean", "low", "high", "n"), what)
    require_one_each(published, ["system", "noise_rate"], what, "choose rows")
    ends: dict[str, float] = {}
    for system, curve in published.groupby("system", sort=False):
        values = curve.sort_values("noise_rate")
        bars = [values["mean"] - values["low"], values["high"] - values["mean"]]
        thin: Any = {"lw": 0.8, "elinewidth": 0.6, "capsize": 1.2, "capthick": 0.6}
        ax.errorbar(values["noise_rate"], values["mean"], yerr=bars, color="0.72", zorder=1, **thin)
        ends[plain(system)] = float(values["mean"].iloc[-1])
    for name, height in _spread(ends, gap=0.045).items():
        ax.annotate(name, (published["noise_rate"].max(), height), xytext=(5, 0), textcoords="offset points",
                    color="0.4", fontsize=6, va="center", annotation_clip=False)  # fmt: skip


def _spread(heights: dict[str, float], gap: float) -> dict[str, float]:
    """Heights moved up just so far that no two are closer than ``gap``, in their order."""
    placed: dict[str, float] = {}
    below = -1.0
    for name, height in sorted(heights.items(), key=lambda pair: pair[1]):
        below = placed[name] = max(height, below + gap)
    return placed
