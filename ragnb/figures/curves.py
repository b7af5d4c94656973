"""The curve of risk against coverage."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from ragnb.arguments import accepts
from ragnb.figures.styles import (
    WIDTHS,
    caption,
    level_of,
    look_of,
    require_rates,
    span,
    style,
)


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
