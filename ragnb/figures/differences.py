"""Figures of comparisons: differences with their intervals, and a judge's bias."""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ragnb.arguments import accepts
from ragnb.errors import InputError
from ragnb.figures.styles import (
    COLOURS,
    MARKERS,
    WIDTHS,
    caption,
    kinds_of,
    level_of,
    plain,
    require_rates,
    style,
)
from ragnb.numbers import distinct, format_p_value

_COMPARED = (
    "metric system baseline difference n_pairs p_adjusted correction family_size mde power duality test"
).split()


@style()
@accepts()
def plot_differences(
    comparisons: pd.DataFrame,
    *,
    label: Sequence[str] | None = None,
    group: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a forest plot of paired differences with intervals, adjusted p and minimum detectable effects.

    Parameters
    ----------
    comparisons
        As `ragnb.compare` returns them, of one metric.
    label
        Columns that name a row; by default the pair of systems where several are compared, and the columns of conditions.
    group
        Column, such as ``"language"``, whose values gather their rows under a heading, in the order of the frame.
    ax
        Axes to draw on; a new figure of text width by default.

    Returns
    -------
    Axes
        Differences as points with intervals. A point is filled where the adjusted p-value is below 1 - confidence level,
        and hollow elsewhere. The small print states n if it is the same in all rows. The grey band reaches from minus to
        plus the minimum detectable effect: this sample would miss a true difference inside it more than one time in five,
        if the power is 80 %. An undefined difference keeps its row.

    Raises
    ------
    InputError
        Missing columns, no row, or several metrics.
    """
    named = [*(label or []), *([group] if group else [])]
    require_rates(comparisons, [*_COMPARED, *named], [], "plot_differences")
    if comparisons["metric"].nunique() != 1:
        raise InputError(
            "plot_differences needs comparisons of one metric, got "
            f"{distinct(comparisons['metric'], ', ')}; choose one of them"
        )
    rows = comparisons.reset_index(drop=True)
    pairs = rows["system"].astype(str) + " - " + rows["baseline"].astype(str)
    names = _names(rows, pairs, label, group)
    lines: list[tuple[str, Any]] = []
    for value, block in rows.groupby(group or "metric", sort=False, dropna=False):
        lines += [(f"{group} {value}", None)] if group else []
        lines += [(names[row.Index], row) for row in block.itertuples()]
    lines.reverse()  # from the bottom up
    sizes = rows["n_pairs"].unique()
    ax = ax or plt.subplots(figsize=(WIDTHS["text"], 1.0 + 0.24 * len(lines)))[1]
    ax.axvline(0, color="0.3", lw=0.8)
    ax.set_yticks(range(len(lines)), [plain(name) for name, _ in lines])
    for height, (_, row) in reversed(list(enumerate(lines))):
        if row is None:
            heading = ax.yaxis.get_major_ticks()[height]
            heading.label1.set_fontweight("bold")
            heading.tick1line.set_visible(False)
            continue
        if np.isfinite(row.mde):
            ax.barh(height, 2 * row.mde, left=-row.mde, height=0.62, color="0.9", zorder=0)
        if np.isfinite([row.difference, row.low, row.high]).all():
            bars = [[row.difference - row.low], [row.high - row.difference]]
            ax.errorbar(row.difference, height, xerr=bars, color=COLOURS[0], capsize=2)
        filled = COLOURS[0] if row.p_adjusted < 1 - row.confidence_level else "white"
        ax.plot(row.difference, height, MARKERS[0], color=COLOURS[0], mfc=filled, zorder=3)
        note = format_p_value(row.p_adjusted) + (f"  n = {row.n_pairs}" if len(sizes) > 1 else "")
        ax.annotate(note, (1, height), xycoords=("axes fraction", "data"), xytext=(4, 0), textcoords="offset points",
                    va="center", fontsize="small", color="0.3", annotation_clip=False)  # fmt: skip
    ax.use_sticky_edges = False
    ax.margins(x=0.04)
    ax.set_ylim(-0.7, len(lines) - 0.3)
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(plain(f"difference in {rows['metric'].iloc[0]}: first - second"))
    kinds = distinct(rows["interval"].astype(str) + " (" + rows["duality"].astype(str) + ")")
    whose = f"{pairs[0]}; " if pairs.nunique() == 1 else ""
    _note(
        ax, rows, f"{whose}{level_of(rows)} {kinds} intervals", f"over {rows['family_size'].max()}"
    )
    return ax


def _names(
    rows: pd.DataFrame, pairs: pd.Series, label: Sequence[str] | None, group: str | None
) -> list[str]:
    """Name each row after its pair of systems and its conditions, or after some columns."""
    if label and len(label) == 1:
        return [str(value) for value in rows[label[0]]]
    before = [name for name in rows.columns[: rows.columns.get_loc("metric")] if name != group]
    columns = before if label is None else label
    with_pair = label is None and (pairs.nunique() > 1 or not columns)
    return [
        ", ".join([pair] * with_pair + [f"{name} {row[name]}" for name in columns])
        for pair, row in zip(pairs, rows.to_dict("records"), strict=True)
    ]


def _note(ax: Axes, rows: pd.DataFrame, intervals: str, family: str) -> None:
    """Name intervals, n, tests and correction, and explain filled points and grey bands."""
    sizes = rows["n_pairs"].unique()
    size = f", n = {sizes[0]}" if len(sizes) == 1 else ""
    first = rows.iloc[0]
    level = f"{1 - first['confidence_level']:.2g}"
    caption(
        ax,
        f"{intervals}{size}\n"
        f"p: {distinct(rows['test'])}, {first['correction'].capitalize()} {family}; filled: p < {level}\n"
        f"grey band: differences that this sample would\n"
        f"miss more than 1 time in {1 / (1 - first['power']):.3g}",
        x=0,
    )


@style()
@accepts()
def plot_judge_bias(bias: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw a forest plot of the judge's mean minus that of the labels, overall and for each group.

    Parameters
    ----------
    bias
        The ``bias`` of a report of `ragnb.judge_report`, or some of its rows, of one judge.
    ax
        Axes to draw on; a new figure of text width by default.

    Returns
    -------
    Axes
        As `ragnb.figures.plot_differences` draws them: right of 0 the judge is lenient, left of it strict; filled where the
        adjusted p-value is below 1 - confidence level. The grey band reaches from minus to plus the minimum
        detectable effect.

    Raises
    ------
    InputError
        Missing columns, or several judges.
    """
    require_rates(bias, ["judge", "by", "group", *_COMPARED], [], "plot_judge_bias")
    if bias["judge"].nunique() != 1:
        found = distinct(bias["judge"], ", ")
        raise InputError(f"plot_judge_bias needs the rows of one judge, got {found}")
    ax = plot_differences(bias, label=["group"], group="by", ax=ax)
    names = [tick.get_text().removeprefix("by ") for tick in ax.get_yticklabels()]
    ax.set_yticks(ax.get_yticks(), names)
    first = bias.iloc[0]
    pair = f"{first['system']} - {first['baseline']}"
    ax.set_xlabel(plain(f"stricter  ←  {pair}  →  more lenient"))
    _note(ax, bias, kinds_of(bias), "over the groups of each heading")
    return ax
