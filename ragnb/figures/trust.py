"""Figures on how far metrics and judges can replace people."""

from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.ticker import PercentFormatter
from matplotlib.transforms import ScaledTranslation

from ragnb.errors import InputError
from ragnb.figures.style import (
    MARKERS,
    WIDTHS,
    caption,
    level_of,
    percent,
    plain,
    require_one_each,
    span,
    style,
)
from ragnb.records import require_columns

_NAME_WIDTH = 0.3
"""Share of the axis that the name of an end may take."""

_CURVE = (
    "share",
    "accuracy",
    "low",
    "high",
    "n",
    "n_clusters",
    "interval",
    "confidence_level",
    "point",
)


def plot_deferral(
    curve: pd.DataFrame, *, points: pd.DataFrame | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the accuracy of ensemble and judge together against the share of deferred items.

    Parameters
    ----------
    curve
        The result of `ragnb.ensemble.deferral_curve`.
    points
        Rows of `ragnb.ensemble.deferral_point`, which are marked. An example is the set of items on which a conformal
        ensemble abstains.
    ax
        Axes to draw on; a new figure of column width by default.

    Returns
    -------
    Axes
        The curve with its band, and both ends with their names. A dashed line joins the ends: it shows the average accuracy
        if the same number of items is chosen at random. The height of the curve above this line shows the gain from
        choosing the items. The title states n and the kind of the intervals, which are pointwise.

    Raises
    ------
    InputError
        A column is missing, there are several curves, or a curve lacks one of its ends.
    """
    require_columns(curve, _CURVE, "plot_deferral")
    rows = curve.sort_values("share", kind="stable")
    ends = rows[rows["share"].isin((0, 1))]
    if rows["share"].duplicated().any() or ends["share"].tolist() != [0, 1]:
        raise InputError(
            f"plot_deferral needs one complete curve, with one row per share and the shares 0 and 1, "
            f"got {len(rows)} rows, {len(ends)} of them with share 0 or 1"
        )
    with style():
        ax = ax or plt.subplots(figsize=(WIDTHS["column"], 3.0))[1]
        colour, grey = to_hex("C0"), "0.35"
        ax.fill_between(rows["share"], rows["low"], rows["high"], color=colour, alpha=0.18, lw=0)
        ax.plot(rows["share"], rows["accuracy"], color=colour, label="least certain first")
        ax.plot(
            ends["share"], ends["accuracy"], color=grey, ls="--", lw=0.9, label="as many at random"
        )
        ax.plot(ends["share"], ends["accuracy"], MARKERS[0], color=colour)
        rising = ends["accuracy"].iloc[1] >= ends["accuracy"].iloc[0]
        # The names of the ends are outside of the band, on the side from which the curve leads away.
        for place, edge, above in ((0, "left", not rising), (-1, "right", rising)):
            row = rows.iloc[place]
            near = rows[(rows["share"] - row["share"]).abs() <= _NAME_WIDTH]
            highest, lowest = near[["high", "accuracy"]].max(), near[["low", "accuracy"]].min()
            height = highest.max() if above else lowest.min()
            label = plain(f"{row['point']}\n{row['accuracy']:.3f}")
            ax.annotate(label, (row["share"], height), xytext=(0, 3 if above else -3), textcoords="offset points", ha=edge,
                        va="bottom" if above else "top", fontsize=6, color="0.35")  # fmt: skip
        if points is not None:
            require_columns(points, _CURVE, "plot_deferral(points=...)")
            for number, row in enumerate(points.to_dict("records"), start=1):
                accuracy = row["accuracy"]
                bars: Any = [[accuracy - row["low"]], [row["high"] - accuracy]]
                judged = f"{percent(row['share'], 1)} judged"
                label = plain(f"{row['point']}: {judged}, accuracy {accuracy:.3f}")
                marker: Any = MARKERS[number % len(MARKERS)]
                ax.errorbar([row["share"]], [accuracy], yerr=bars, fmt=marker, color=to_hex(f"C{number}"), capsize=2,
                            label=label, zorder=3)  # fmt: skip
        ax.set(xlabel="share of items judged", ylabel="accuracy", xlim=(-0.03, 1.03))
        ax.xaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
        ax.margins(y=0.22)
        kind, _, clusters = str(rows["interval"].iloc[0]).partition(", ")
        note = f"{level_of(rows)} pointwise {kind} intervals"
        n = f"n = {rows['n'].iloc[0]}"
        caption(ax, f"{note},\n{n} in {clusters}" if clusters else f"{note}, {n}")
        # The legend is a fixed distance below the axes, whatever their height.
        below = ax.transAxes + ScaledTranslation(0, -30 / 72, ax.figure.dpi_scale_trans)
        ax.legend(
            fontsize="small",
            loc="upper left",
            bbox_to_anchor=(0, 0),
            bbox_transform=below,
            borderaxespad=0,
        )
    return ax


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
    bounds = ("low", "high", "random", "random_low", "random_high")
    needed = ("coverage", "risk", *bounds, "n", "interval", "confidence_level", line)
    require_columns(curve, needed, "plot_risk_coverage")
    require_one_each(curve, [line, "coverage"], "plot_risk_coverage", "choose rows, or name line=")
    groups = list(curve.groupby(line, sort=False))
    with style():
        ax = ax or plt.subplots(figsize=(WIDTHS["column"], 2.6))[1]
        for number, (name, group) in enumerate(groups):
            rows, colour = group.sort_values("coverage"), to_hex(f"C{number}")
            x = rows["coverage"]
            if len(groups) == 1:
                ax.fill_between(x, rows["random_low"], rows["random_high"], color="0.88", lw=0)
                ax.fill_between(x, rows["low"], rows["high"], color=colour, alpha=0.25, lw=0)
            ax.plot(x, rows["random"], color=colour, ls="--", lw=0.9)
            look: Any = {"marker": MARKERS[number % len(MARKERS)] if len(rows) < 20 else None}
            ax.plot(x, rows["risk"], color=colour, label=plain(name), **look)
        ax.set(xlabel="coverage", ylabel="risk", xlim=(0, 1.02))
        ax.set_ylim(0, None)
        ax.xaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
        kind = str(curve["interval"].iloc[0]).partition(",")[0]
        bands = (
            f"; {level_of(curve)} pointwise {kind} intervals\nand {level_of(curve)} of random orders (grey)"
            if len(groups) == 1
            else ""
        )
        caption(ax, f"dashed: random order; n = {span(curve['n'])}{bands}")
        if len(groups) > 1:
            ax.legend(fontsize="small", loc="best")
    return ax
