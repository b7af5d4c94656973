"""One figure of RGB's four abilities, with the published models behind."""

import warnings
from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
import seaborn.objects as so
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from ragnb.arguments import accepts
from ragnb.datasets.published_tables import published
from ragnb.datasets.sources import sources_of
from ragnb.errors import InputError
from ragnb.figures.styles import (
    COLOURS,
    MARKERS,
    WIDTHS,
    caption,
    interval_note,
    plain,
    style,
)
from ragnb.reports.rgb import RgbReport

TITLES = {
    "noise_robustness": "Noise robustness",
    "negative_rejection": "Negative rejection",
    "information_integration": "Information integration",
    "counterfactual_robustness": "Counterfactual robustness",
}
# Abilities whose accuracy is drawn against the noise rate.
CURVES = ("noise_robustness", "information_integration")
# Words for the metrics of the other two abilities.
WORDS = {
    "rgb.accuracy": "accuracy over\nfalse passages",
    "rgb.rejection": "rejection",
    "rgb.judged_rejection": "rejection\n(judge)",
    "rgb.error_detection": "error\ndetection",
    "rgb.judged_error_detection": "error detection\n(judge)",
    "rgb.error_correction": "error\ncorrection",
    "rgb.judged_error_correction": "error correction\n(judge)",
}
# Names of the same metrics in the published tables. Their correction rate is over the judge's detections.
PUBLISHED_METRICS = {
    "accuracy": "rgb.accuracy",
    "rejection": "rgb.rejection",
    "judged_rejection": "rgb.judged_rejection",
    "accuracy_with_passages": "rgb.accuracy",
    "error_detection": "rgb.error_detection",
    "judged_error_detection": "rgb.judged_error_detection",
    "error_correction": "rgb.judged_error_correction",
}
# Colour of the published models.
GREY = "0.6"
# Distance between the points of two series at the same noise rate.
_SHIFT = 0.008
_SERIES = ("system", "language", "protocol")


@style()
@accepts()
def plot_abilities(report: RgbReport, *, published_models: bool = True) -> Any:
    """Draw RGB's four abilities in one figure: curves against the noise rate, and rates with intervals.

    Parameters
    ----------
    report
        Result of `ragnb.rgb_report`. An ability without responses leaves its panel empty.
    published_models
        Draw the models of Chen et al. (2024) in grey behind, in the languages of the report.

    Returns
    -------
    ndarray of Axes
        Two rows of two panels. Each combination of system, language and protocol has one colour and
        marker in all panels, named at the bottom of the figure. The small print states the kind of
        interval and n.

    Raises
    ------
    InputError
        The report has no responses to any of the four abilities.
    """
    tables = {name: getattr(report, name) for name in TITLES}
    if all(table.empty for table in tables.values()):
        raise InputError("plot needs responses to at least one of RGB's four abilities, got none")
    tables = {name: _named(table, tables) for name, table in tables.items()}
    all_rates = pd.concat(tables.values(), ignore_index=True)
    names = list(dict.fromkeys(all_rates["series"]))
    looks = {
        name: (COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)])
        for place, name in enumerate(names)
    }
    languages = set(all_rates["language"].dropna())
    figure, axes = plt.subplots(2, 2, figsize=(WIDTHS["text"], 5.2))
    for ax, (ability, table) in zip(axes.flat, tables.items(), strict=True):
        behind = _published(ability, languages) if published_models else pd.DataFrame()
        if ability in CURVES:
            _draw_curves(ax, table, behind, looks)
        else:
            _draw_rates(ax, table, behind, looks)
        scored = table[table["mean"].notna()] if len(table) else table
        caption(ax, interval_note(scored) if len(scored) else "no responses")
        _write_ability(ax, TITLES[ability])
    _name_series(figure, looks, published_models)
    return axes


def note_on_published_models(report: RgbReport) -> str:
    """What the grey models answered, if it is not what the models of the report answered; otherwise empty."""
    of_benchmark = {source.name for source in sources_of("rgb")}
    others = [name for name in report.questions if name not in of_benchmark]
    if report.questions and not others:
        return ""
    questions = f"those of {', '.join(others)}" if others else "other questions"
    return (
        "grey: published models on the questions of RGB itself; in colour: "
        + questions
        + ", so the "
        "two cannot be compared"
    )


def _write_ability(ax: Axes, title: str) -> None:
    """Write the name of an ability above its panel in bold; the small print moves below it."""
    note = ax.get_title(loc="left")
    lines = note.count("\n") + 1
    ax.set_title(title, loc="left", fontweight="bold", color="black", pad=6 + 11 * lines)
    ax.annotate(note, (0, 1), (0, 5), xycoords="axes fraction", textcoords="offset points",
                va="bottom", fontsize="small", color="0.35")  # fmt: skip


def _named(table: pd.DataFrame, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """A table with the column ``series``: the values that vary among system, language and protocol."""
    together = pd.concat(tables.values(), ignore_index=True)
    varying = [name for name in _SERIES if together[name].nunique() > 1] or ["system"]
    if table.empty:
        return table.assign(series="")
    return table.assign(series=table[varying].astype(str).agg(", ".join, axis=1))


def _published(ability: str, languages: set[str]) -> pd.DataFrame:
    """Published rates of an ability in some languages, with ragnb's names of the metrics."""
    rates = published(f"rgb.{ability}")
    rates = rates[rates["language"].isin(languages)]
    rates = rates.assign(metric=rates["metric"].map(PUBLISHED_METRICS))
    rates = rates.dropna(subset="metric")
    return rates.assign(series=rates["system"] + rates["language"])


def _draw_curves(
    ax: Axes, table: pd.DataFrame, behind: pd.DataFrame, looks: Mapping[str, Any]
) -> None:
    """Accuracy against the noise rate: published curves in grey, then one curve for each series."""
    if len(behind):
        grey = so.Plot(behind, x="noise_rate", y="mean", group="series")
        _draw(grey.add(so.Line(color=GREY, linewidth=0.8)), ax)
    if len(table):
        # The intervals of different series do not hide each other.
        places = {name: place - (len(looks) - 1) / 2 for place, name in enumerate(looks)}
        shifted = table.assign(x=table["noise_rate"] + _SHIFT * table["series"].map(places))
        curves = so.Plot(
            shifted, x="x", y="mean", ymin="low", ymax="high", color="series", marker="series"
        )
        curves = curves.add(so.Range(linewidth=0.9), legend=False)
        curves = curves.add(so.Line(pointsize=4, linewidth=1.2), legend=False)
        colours = {name: colour for name, (colour, _) in looks.items()}
        markers = {name: marker for name, (_, marker) in looks.items()}
        _draw(curves.scale(color=colours, marker=markers), ax)
    rates = sorted({*table.get("noise_rate", ()), *behind.get("noise_rate", ())})
    ax.set(xlabel="noise rate", ylabel="accuracy", ylim=(-0.02, 1.02), xticks=rates)
    ax.yaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))


def _draw_rates(
    ax: Axes, table: pd.DataFrame, behind: pd.DataFrame, looks: Mapping[str, Any]
) -> None:
    """Rates in rows, one row per metric: published models as grey lines, then one dot for each series."""
    # Without responses to this ability, the panel shows the published models alone.
    metrics = [name for name in WORDS if name in set(table.get("metric", ()))]
    metrics = metrics or [name for name in WORDS if name in set(behind.get("metric", ()))]
    height = {metric: len(metrics) - 1 - place for place, metric in enumerate(metrics)}
    gap = 0.7 / max(len(looks), 1)
    if len(behind):
        for metric, rates in behind.groupby("metric"):
            if metric in height:
                bottom, top = height[metric] - 0.42, height[metric] + 0.42
                ax.vlines(rates["mean"], bottom, top, color=GREY, lw=0.8)
    for place, (name, (colour, marker)) in enumerate(looks.items()):
        rows = table[table["series"] == name] if len(table) else table
        if rows.empty:
            continue
        shift = ((len(looks) - 1) / 2 - place) * gap
        rows = rows.assign(height=[height[metric] + shift for metric in rows["metric"]])
        dots = so.Plot(rows, x="mean", y="height", xmin="low", xmax="high")
        dots = dots.add(so.Range(color=colour, linewidth=0.9), orient="y")
        _draw(dots.add(so.Dot(color=colour, marker=marker, pointsize=4)), ax)
    defined = set(table.dropna(subset="mean")["metric"]) if len(table) else set(metrics)
    for metric in set(metrics) - defined:
        ax.text(
            0.01, height[metric], "undefined, n = 0", va="center", fontsize="small", color="0.35"
        )
    ax.set_axisbelow(True)
    ax.set(xlabel="share of responses", ylabel="", xlim=(-0.02, 1.02))
    ax.set(ylim=(-0.6, len(metrics) - 0.4))
    ax.set_yticks([height[metric] for metric in metrics], [WORDS[metric] for metric in metrics])
    ax.xaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
    ax.grid(axis="y", visible=False)


def _draw(plot: so.Plot, ax: Axes) -> None:
    """Draw a plot of seaborn on axes."""
    with warnings.catch_warnings():
        # seaborn passes the argument `copy` to pandas. pandas 3 ignores it and warns about it.
        warnings.filterwarnings("ignore", "The copy keyword is deprecated", DeprecationWarning)
        plot.on(ax).plot()


def _name_series(figure: Any, looks: Mapping[str, Any], published_models: bool) -> None:
    """Name the series once, below all panels."""
    handles = [
        Line2D([], [], color=colour, marker=marker, label=plain(name))
        for name, (colour, marker) in looks.items()
    ]
    if published_models:
        grey = Line2D([], [], color=GREY, lw=0.8, label="published models (Chen et al. 2024)")
        handles.append(grey)
    n_columns = min(3, len(handles))
    figure.legend(handles=handles, loc="outside lower center", ncols=n_columns, fontsize="small")
