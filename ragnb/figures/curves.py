"""Curves: accuracy against noise, and risk against coverage."""

from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from ragnb.arguments import accepts
from ragnb.columns import require_columns
from ragnb.figures.styles import (
    WIDTHS,
    caption,
    interval_note,
    level_of,
    look_of,
    plain,
    reach,
    require_rates,
    span,
    style,
)

_DASHES = ("-", "--", "-.", ":")
# Characters of the longest name that fits next to a curve.
_LONGEST_NAME = 30


@style()
@accepts()
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
        Published curves, drawn in grey behind the others: ``system, noise_rate, mean, low, high, n``, as from
        `ragnb.published`.
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
    keys = [line, "noise_rate"]
    require_rates(summaries, ["mean", "n_scored"], keys, "plot_noise_curve")
    groups = list(summaries.groupby(line, sort=False))
    # Long names next to the curves would leave no room for the curves, so they go into a legend below.
    has_legend = max(len(plain(name)) for name, _ in groups) > _LONGEST_NAME
    if ax is None:
        size = (WIDTHS["text"], 2.6 + 0.16 * len(groups)) if has_legend else (WIDTHS["column"], 2.6)
        ax = plt.subplots(figsize=size)[1]
    note, ends = interval_note(summaries), []
    if published is not None:
        what, keys = "plot_noise_curve(published=...)", ["system", "noise_rate"]
        require_columns(published, ["mean", "low", "high", "n"], what, unique=keys)
        note += f"\nin grey: published results, n = {published['n'].iloc[0]}"
        thin: Any = {"lw": 0.8, "elinewidth": 0.6, "capsize": 1.2, "capthick": 0.6, "zorder": 1}
        for name, group in published.groupby("system", sort=False):
            curve = group.sort_values("noise_rate")
            ax.errorbar(curve["noise_rate"], curve["mean"], reach(curve), color="0.72", **thin)
            ends += [(mean, plain(name), "0.4") for mean in curve["mean"].dropna().tail(1)]
    for number, (name, group) in enumerate(groups):
        curve, look = group.sort_values("noise_rate"), look_of(number, name)
        # The bars of different lines do not hide each other.
        shift = (number - (len(groups) - 1) / 2) * 0.012
        x = curve["noise_rate"] + shift
        ax.errorbar(x, curve["mean"], yerr=reach(curve), ls=_DASHES[number % 4], **look)
        if not has_legend:
            last = curve["mean"].dropna().tail(1)
            ends += [(mean, look["label"], look["color"]) for mean in last]
    rates = sorted(summaries["noise_rate"].unique())
    ax.set(xlabel="noise rate", ylabel="accuracy")
    ax.set(ylim=(-0.02, 1.02), xlim=(-0.05, max(rates) + 0.05), xticks=rates)
    caption(ax, note)
    height = -1.0
    for end, name, color in sorted(ends, key=lambda curve: curve[0]):
        height = max(end, height + 0.065)  # No two names are closer than this.
        ax.annotate(name, (1, height), xytext=(3, 0), xycoords=("axes fraction", "data"),
                    textcoords="offset points", color=color, fontsize="small", va="center")  # fmt: skip
    if has_legend:
        ax.legend(loc="upper left", bbox_to_anchor=(0, -0.2), fontsize="small", frameon=False)
    return ax


@style()
@accepts()
def plot_risk_coverage(
    curve: pd.DataFrame, *, line: str = "system", ax: Axes | None = None
) -> Axes:
    """Draw the risk of the accepted answers against their coverage, with a random order as control.

    Parameters
    ----------
    curve
        The attribute ``curve`` of `ragnb.reports.risk_coverage_report`.
    line
        Column that identifies the line.
    ax
        Axes to draw on; a new figure of column width by default.

    Returns
    -------
    Axes
        One curve per value of ``line``, named in the legend. The dashed line of the same
        colour is the expected risk of a random order of the same answers, the error rate. A curve
        that is alone also has its intervals as a band, and in grey the band of the random order.

    Raises
    ------
    InputError
        A column is missing, there are no rows, or a line has two rows at one coverage.
    """
    needed = ["risk", "random", "random_low", "random_high", "n"]
    require_rates(curve, needed, [line, "coverage"], "plot_risk_coverage")
    groups = list(curve.groupby(line, sort=False))
    ax = ax or plt.subplots(figsize=(WIDTHS["column"], 2.6))[1]
    note = f"dashed: random order; n = {span(curve['n'])}"
    for number, (name, group) in enumerate(groups):
        rows, look = group.sort_values("coverage"), look_of(number, name)
        x, colour = rows["coverage"], look["color"]
        if len(groups) == 1:
            ax.fill_between(x, rows["random_low"], rows["random_high"], color="0.88", lw=0)
            ax.fill_between(x, rows["low"], rows["high"], color=colour, alpha=0.25, lw=0)
            kind = str(rows["interval"].iloc[0]).partition(",")[0]
            level, n = level_of(curve), span(curve["n"])
            note = f"dashed: random order (grey: {level} range); n = {n}\nband: {level} pointwise {kind} intervals"
        ax.plot(x, rows["random"], color=colour, ls="--", lw=0.9)
        marker = look["marker"] if len(rows) < 20 else None
        ax.plot(x, rows["risk"], color=colour, label=look["label"], marker=marker)
    ax.set(xlabel="coverage", ylabel="risk", xlim=(0, 1.02))
    ax.set_ylim(0, None)
    ax.xaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
    caption(ax, note)
    if len(groups) > 1:
        ax.legend(fontsize="small", loc="best")
    return ax
