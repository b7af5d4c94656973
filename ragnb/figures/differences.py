"""Figures of comparisons: paired differences with their intervals, and power before a study."""

from collections.abc import Callable, Sequence
from functools import partial
from math import sqrt
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import ScalarFormatter

from ragnb.display import distinct
from ragnb.errors import InputError
from ragnb.figures.style import COLOURS, MARKERS, WIDTHS, caption, level_of, percent, plain, style
from ragnb.records import require_columns
from ragnb.results import format_p_value
from ragnb.stats.power import mcnemar_mde, paired_t_mde

NEEDED = (
    "metric", "system", "baseline", "difference", "low", "high", "interval", "confidence_level", "n_pairs", "p_adjusted",
    "correction", "family_size", "mde", "power", "duality", "test",
)  # fmt: skip


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
    require_columns(comparisons, NEEDED, "plot_differences")
    if comparisons["metric"].nunique() != 1:
        found = ", ".join(dict.fromkeys(comparisons["metric"])) or "none"
        raise InputError(
            f"plot_differences needs comparisons of one metric, got {found}; choose one of them"
        )
    require_columns(comparisons, [group] if group else [], "plot_differences(group=...)")
    rows = comparisons.reset_index(drop=True)
    named = list(zip(_labels(rows, label, group), rows.itertuples(), strict=True))
    lines: list[tuple[str, Any]] = [] if group else named
    for value, block in rows.groupby(group, sort=False, dropna=False) if group else ():
        lines += [(f"{group} {value}", None), *(named[place] for place in block.index)]
    lines = lines[::-1]  # from the bottom up
    colour = COLOURS[0]
    size = shared_size(rows)
    with style():
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
                look: dict[str, Any] = {"color": colour, "capsize": 2, "marker": "none"}
                ax.errorbar(row.difference, height, xerr=bars, **look)
            filled = colour if row.p_adjusted < 1 - row.confidence_level else "white"
            ax.plot(row.difference, height, MARKERS[0], color=colour, mfc=filled, zorder=3)
            note = format_p_value(row.p_adjusted) + ("" if size else f"  n = {row.n_pairs}")
            ax.annotate(note, (1, height), xycoords=("axes fraction", "data"), xytext=(4, 0), textcoords="offset points",
                        va="center", fontsize=6, color="0.3", annotation_clip=False)  # fmt: skip
        ax.use_sticky_edges = False
        ax.margins(x=0.04)
        ax.set_ylim(-0.7, len(lines) - 0.3)
        ax.grid(axis="y", visible=False)
        ax.set_xlabel(plain(f"difference in {rows['metric'].iloc[0]}: first - second"))
        both = zip(rows["interval"], rows["duality"], strict=True)
        kinds = distinct(f"{kind} ({duality})" for kind, duality in both)
        pairs = _pairs(rows)
        whose = f"{pairs[0]}; " if pairs.nunique() == 1 else ""
        family = f"over {rows['family_size'].max()}"
        intervals = f"{whose}{level_of(rows)} {kinds} intervals{size}"
        caption(ax, f"{intervals}\n{correction_note(rows, family)}", x=0)
    return ax


def plot_power(
    sizes: Sequence[int],
    discordance: dict[str, float] | None = None,
    *,
    variances: dict[str, float] | None = None,
    observed: dict[str, int] | None = None,
    confidence_level: float = 0.95,
    power: float = 0.8,
    ax: Axes | None = None,
) -> Axes:
    """Draw the minimum detectable effect against the number of questions, one line per variance, named at its end.

    Parameters
    ----------
    sizes
        Numbers of questions.
    discordance
        For 0/1 scores: the share of questions that exactly one system gets right, by the name of the line.
    variances
        For graded scores: the variance of the paired differences, by the name of the line.
    observed
        Numbers of questions to mark, by name.
    confidence_level, power
        Of the two-sided test, and the wanted probability of showing the difference.
    ax
        Axes to draw on; a new figure of column width by default.

    Notes
    -----
    The lines are `ragnb.stats.power.mcnemar_mde` (mid-p) and `ragnb.stats.power.paired_t_mde`, the definitions behind the
    column ``mde`` of `ragnb.compare`.
    """
    lines: dict[str, Callable[..., float]] = {}
    for name, share in (discordance or {}).items():
        lines[name] = partial(mcnemar_mde, discordance=share)
    for name, variance in (variances or {}).items():
        lines[name] = partial(paired_t_mde, sd=sqrt(variance))
    if not len(sizes) or not lines:
        raise InputError("plot_power needs sizes, and discordance or variances, got none")
    with style():
        ax = ax or plt.subplots(figsize=(WIDTHS["column"], 2.5))[1]
        for number, (name, effect) in enumerate(lines.items()):
            shown = [effect(n, confidence_level=confidence_level, power=power) for n in sizes]
            (line,) = ax.plot(sizes, shown, ls=("-", "--", "-.", ":")[number % 4])
            ax.annotate(plain(name), (sizes[-1], shown[-1]), xytext=(4, 0), textcoords="offset points",
                        va="center", fontsize="small", color=line.get_color(), annotation_clip=False)  # fmt: skip
        for name, n in (observed or {}).items():
            ax.axvline(n, color="0.5", lw=0.8)
            ax.annotate(plain(f"{name}, n = {n}"), (n, 1), xycoords=("data", "axes fraction"), xytext=(-2, -2), rotation=90,
                        textcoords="offset points", ha="right", va="top", fontsize=6, color="0.35")  # fmt: skip
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(ScalarFormatter())
        ax.set(xlabel="questions", ylabel="minimum detectable effect", ylim=(0, None))
        caption(ax, f"{percent(power)} power, {percent(1 - confidence_level)} level, two-sided")
    return ax


def _pairs(rows: pd.DataFrame) -> pd.Series:
    return rows["system"].astype(str) + " - " + rows["baseline"].astype(str)


def _labels(rows: pd.DataFrame, label: Sequence[str] | None, group: str | None) -> list[str]:
    before = [name for name in rows.columns[: rows.columns.get_loc("metric")] if name != group]
    columns = list(before if label is None else label)
    require_columns(rows, columns, "plot_differences(label=...)")
    if label is not None and len(columns) == 1:
        return [str(value) for value in rows[columns[0]]]
    records = rows.to_dict("records")
    named = [", ".join(f"{name} {row[name]}" for name in columns) for row in records]
    pairs = _pairs(rows)
    if label is not None or (pairs.nunique() == 1 and columns):
        return named
    return [", ".join(filter(None, both)) for both in zip(pairs, named, strict=True)]


def shared_size(rows: pd.DataFrame) -> str:
    """The number of pairs if it is the same in all rows, which then do not repeat it."""
    sizes = rows["n_pairs"].unique()
    return f", n = {sizes[0]}" if len(sizes) == 1 else ""


def correction_note(rows: pd.DataFrame, family: str) -> str:
    """Name the tests, the correction and its family, and explain filled points and grey bands."""
    level = f"{1 - rows['confidence_level'].iloc[0]:.2g}"
    return (
        f"p: {distinct(rows['test'])}, {rows['correction'].iloc[0].capitalize()} {family}; filled: below {level}\n"
        f"grey band: differences that this sample would\n"
        f"miss more than 1 time in {1 / (1 - rows['power'].iloc[0]):.3g}"
    )
