"""Pictures from tidy frames, ready for a paper: intervals on every estimate, n and the kind of interval in the caption."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ragnb.errors import InputError
from ragnb.records import require_columns
from ragnb.stats.intervals import wilson_interval

WIDTHS = {"column": 3.3, "text": 6.3}
"""Widths in inches of one column and of a full text block."""

MARKERS = "osD^vP"
FORMATS = ("pdf", "svg", "png")
_STYLE: dict[Any, Any] = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    "figure.constrained_layout.use": True,
    "figure.dpi": 100,
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "grid.alpha": 0.35,
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "ragnb",
}


@contextmanager
def style() -> Iterator[None]:
    """The look of ragnb's figures inside a ``with`` block: TrueType fonts, colour-blind safe, nothing changed outside."""
    with mpl.rc_context({**_STYLE, "axes.prop_cycle": cycler(color=sns.color_palette("colorblind"))}):
        yield


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
        Published curves in grey behind, with Wilson intervals: ``model, noise_rate, accuracy_percent, n`` (see
        `ragnb.datasets.load_published`).
    legend_title
        What the lines are.
    ax
        Axes to draw on; a new figure of column width by default.

    Returns
    -------
    Axes
        Labelled with the kind of interval and n.
    """
    needed = ("noise_rate", "mean", "low", "high", "n_scored", "interval", "confidence_level", line)
    require_columns(summaries, needed, "plot_noise_curve")
    with style():
        ax = ax or plt.subplots(figsize=(WIDTHS["column"], 2.6))[1]
        if published is not None:
            _draw_published(ax, published)
        groups = list(summaries.groupby(line, sort=False))
        for number, (name, curve) in enumerate(groups):
            _draw_curve(ax, curve.sort_values("noise_rate"), str(name), number, len(groups))
        ax.set(
            xlabel="noise rate",
            ylabel="accuracy",
            ylim=(-0.02, 1.02),
            xlim=(-0.05, max(summaries["noise_rate"]) + 0.05),
        )
        ax.set_xticks(sorted(summaries["noise_rate"].unique()))
        behind = "" if published is None else f"; grey: published, n = {published['n'].iloc[0]}"
        ax.set_title(interval_note(summaries) + behind, loc="left", fontsize="small", color="0.35")
        ax.legend(loc="lower left", fontsize="small", title=legend_title, title_fontsize="small", alignment="left")
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
        sns.histplot(x=numbers, ax=ax, color=sns.color_palette("colorblind")[0], edgecolor="white", linewidth=0.5)
        ax.axvline(numbers.median(), color="0.2", ls="--", lw=0.9)
        told = f"n = {len(numbers)}, median {numbers.median():g} (dashed), range {numbers.min():g} to {numbers.max():g}"
        ax.set_title(told, loc="left", fontsize="small", color="0.35")
        ax.set(xlabel=column, ylabel="count")
    return ax


def interval_note(summaries: pd.DataFrame) -> str:
    """What the error bars are and how many answers each estimate rests on: ``95% Wilson intervals, n = 64``."""
    sizes = sorted({int(n) for n in summaries["n_scored"]})
    n = str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]}-{sizes[-1]}"
    kinds = " / ".join(dict.fromkeys(summaries["interval"]))
    return f"{summaries['confidence_level'].iloc[0]:.0%} {kinds} intervals, n = {n}"


def save_figure(
    figure: Figure, name: str, numbers: pd.DataFrame, *, folder: str | Path = "figures", note: str = ""
) -> list[Path]:
    """Save a figure as PDF, SVG and PNG, and the numbers behind it as JSON; return the paths.

    The same figure gives the same bytes on the same machine. The JSON holds ``note``, the signatures and one record a row.

    Raises
    ------
    InputError
        A name with a folder or an ending in it.
    """
    if Path(name).name != name or Path(name).suffix:
        raise InputError(f"save_figure needs a plain name such as '01_noise'; got {name!r}; give the folder apart")
    target = Path(folder) / name
    target.parent.mkdir(parents=True, exist_ok=True)
    with style():
        for ending in FORMATS:
            blank = {"pdf": {"CreationDate": None, "Producer": None, "Creator": None}, "svg": {"Date": None}, "png": {}}
            figure.savefig(target.with_suffix(f".{ending}"), dpi=200, metadata=blank[ending], bbox_inches="tight")
    _write_numbers(target.with_suffix(".json"), numbers, note)
    return [target.with_suffix(f".{ending}") for ending in (*FORMATS, "json")]


def _draw_curve(ax: Axes, curve: pd.DataFrame, name: str, number: int, of: int) -> None:
    shift = (number - (of - 1) / 2) * 0.012  # so that bars do not hide each other
    bars = [curve["mean"] - curve["low"], curve["high"] - curve["mean"]]
    dashes: Any = ("-", "--", "-.", ":")[number % 4]
    marker = MARKERS[number % len(MARKERS)]
    ax.errorbar(curve["noise_rate"] + shift, curve["mean"], yerr=bars, label=name, marker=marker, ls=dashes, capsize=2)


def _draw_published(ax: Axes, published: pd.DataFrame) -> None:
    """Grey curves with thin Wilson intervals of the nearest whole counts, named at their right end."""
    require_columns(published, ("model", "noise_rate", "accuracy_percent", "n"), "plot_noise_curve(published=...)")
    ends: dict[str, float] = {}
    for model, curve in published.groupby("model", sort=False):
        values = curve.sort_values("noise_rate")
        rates = values["accuracy_percent"] / 100
        limits = [wilson_interval(round(rate * n), n) for rate, n in zip(rates, values["n"], strict=True)]
        bars = [[rate - lim.low for rate, lim in zip(rates, limits, strict=True)],
                [lim.high - rate for rate, lim in zip(rates, limits, strict=True)]]  # fmt: skip
        ax.errorbar(
            values["noise_rate"], rates, yerr=bars, color="0.72", lw=0.8, elinewidth=0.6, capsize=1.2, capthick=0.6, zorder=1
        )
        ends[str(model)] = float(rates.iloc[-1])
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


def _write_numbers(path: Path, numbers: pd.DataFrame, note: str) -> None:
    columns: Sequence[str] = [name for name in numbers.columns if name != "signature"]
    signatures = sorted(set(numbers["signature"])) if "signature" in numbers else []
    records = json.loads(numbers[columns].to_json(orient="records", double_precision=6))
    content = {"note": note, "signatures": signatures, "numbers": records}
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
