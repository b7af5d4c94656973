"""One call from a result to its figure."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg

from ragnb.arguments import accepts
from ragnb.columns import CONDITION, require_columns
from ragnb.errors import InputError
from ragnb.figures.abilities import TITLES as ABILITIES
from ragnb.figures.abilities import plot_abilities
from ragnb.figures.curves import plot_noise_curve, plot_risk_coverage
from ragnb.figures.differences import plot_differences, plot_judge_bias
from ragnb.figures.rates import are_shares, plot_grades, plot_rates
from ragnb.figures.styles import FORMATS, WIDTHS, plain, style
from ragnb.numbers import distinct
from ragnb.reports.abstention import RiskCoverageReport
from ragnb.reports.definitions import DefinitionComparison
from ragnb.reports.judge import JudgeReport
from ragnb.reports.multilingual import MultilingualReport
from ragnb.reports.rgb import RgbReport
from ragnb.reports.trace import TraceReport
from ragnb.scoring.summaries import summarize

Result: TypeAlias = (
    "pd.DataFrame | DefinitionComparison | JudgeReport | MultilingualReport | RgbReport | "
    "RiskCoverageReport | TraceReport"
)
_TABLES: dict[type, str] = {
    DefinitionComparison: "rates",
    MultilingualReport: "table",
    TraceReport: "results",
}
"""The table of a report that is drawn."""
_DIMENSIONS = ("metric", "definition", "protocol", "judge", "field", "pair", *CONDITION)
"""Columns that may distinguish the rows of a frame of summaries."""


@accepts()
def plot(result: Result) -> Axes | np.ndarray:
    """Draw a result with the figure that fits it.

    Parameters
    ----------
    result
        Scores of `ragnb.score` or `ragnb.load_scores`, which are summarized first; summaries of
        `ragnb.summarize`; comparisons of `ragnb.compare`; or the result of `ragnb.rgb_report`,
        `ragnb.trace_report`, `ragnb.multilingual_report`, `ragnb.judge_report`,
        `ragnb.reports.risk_coverage_report`, `ragnb.graded_report`, `ragnb.reports.scores_by_grade`,
        `ragnb.agreement` or `ragnb.compare_definitions`.

    Returns
    -------
    Axes or ndarray of Axes
        A report on several of RGB's abilities becomes one figure of all four, with the published models
        in grey. Comparisons become a forest plot of differences, with one panel for each metric. A report on
        judges becomes a forest plot of the bias of each judge, and a report on risk and coverage its
        curves.
        Agreement becomes coefficients with their intervals. For three or more annotators, they
        are the coefficients of all annotators together.
        Summaries at several noise rates become curves. All other summaries become means with their
        intervals, by metric or condition and with one colour for each system. A metric that is not a share,
        such as a cost or CNBE, has a panel of its own. The functions of `ragnb.figures` draw the same
        figures with more options, and `ragnb.figures.save_figure` saves a figure with its numbers.

    Raises
    ------
    InputError
        The frame is of another kind or empty, or `ragnb.summarize` refuses the scores.

    >>> rows = {"system": ["a", "b"], "example_id": "q1", "metric": "m", "signature": "s"}
    >>> plot(pd.DataFrame(rows | {"value": [0.25, 0.5]})).get_xlabel()
    'mean of m'
    """
    if isinstance(result, JudgeReport):
        return _panels(
            [rows for _, rows in result.bias.groupby("judge", sort=False)], plot_judge_bias
        )
    if isinstance(result, RiskCoverageReport):
        frame, line = _joined(result.curve, result.groups)
        return plot_risk_coverage(frame, line=line)
    if isinstance(result, RgbReport):
        abilities = [name for name in ABILITIES if not getattr(result, name).empty]
        if len(abilities) > 1:
            return plot_abilities(result)
        table = getattr(result, abilities[0]) if abilities else result.closed_book
    else:
        name = _TABLES.get(type(result))
        table = getattr(result, name) if name else result
    if isinstance(result, MultilingualReport):
        # A metric that was not requested, or that has no value in any system, has no row in the figure.
        is_scored = table.groupby("metric")["n_scored"].transform("max") > 0
        table = table[is_scored & (table["n"] > 0)]
    if "spearman" in table:
        return plot_grades(table)
    require_columns(table, ["metric"], "plot")
    if {"pair", "field"} <= {*table} or {"judge", "n_systems"} <= {*table}:
        return _draw_agreement(table)
    if {"difference", "baseline"} <= {*table} and len(table):
        return _panels([rows for _, rows in table.groupby("metric", sort=False)], plot_differences)
    if "value" in table and "mean" not in table:
        table = summarize(table)
    if "mean" not in table or table.empty:
        raise InputError(
            "plot needs scores, summaries or comparisons with at least one row, got a frame with "
            f"{len(table)} rows and the columns {', '.join(map(str, table))}"
        )
    panels: list[pd.DataFrame] = []
    shares: list[pd.DataFrame] = []
    for _, rows in table.groupby("metric", sort=False):
        (shares if are_shares(rows) else panels).append(rows)
    return _panels([*([pd.concat(shares)] if shares else []), *panels], _draw_summaries)


def save_plot(result: Result, path: str | Path) -> Path:
    """Draw a result and save the figure as ``.pdf``, ``.svg`` or ``.png``; return the path."""
    path = Path(path)
    if path.suffix.lower()[1:] not in FORMATS:
        raise InputError(f"a figure must end in .{', .'.join(FORMATS)}, got {str(path)!r}")
    drawn: Any = plot(result)
    figure = np.ravel(drawn)[0].figure
    path.parent.mkdir(parents=True, exist_ok=True)
    with style():
        figure.savefig(path, dpi=200, bbox_inches="tight")
    plt.close(figure)
    return path


@style()
def plot_png(result: Result) -> bytes:
    """Draw a result and return the figure as PNG."""
    figure = np.ravel(np.asarray(plot(result), dtype=object))[0].figure
    figure.set_dpi(130)
    # savefig would arrange the figure twice.
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    content = BytesIO()
    plt.imsave(content, np.asarray(canvas.buffer_rgba()), format="png", dpi=130)
    plt.close(figure)
    return content.getvalue()


@style()
def _panels(frames: list[pd.DataFrame], draw: Callable[..., Axes]) -> Axes | np.ndarray:
    """Draw frames below each other; a single one has the size of its own figure."""
    if len(frames) == 1:
        return draw(frames[0])
    heights = [1.1 + 0.24 * len(frame) for frame in frames]
    size = (WIDTHS["text"], sum(heights))
    axes = plt.subplots(len(frames), figsize=size, height_ratios=heights)[1]
    for frame, ax in zip(frames, axes, strict=True):
        draw(frame, ax=ax)
    above = axes[0].get_title(loc="left").split("\n")
    for ax in axes[1:]:  # what the first panel explains is not repeated
        first, *others = ax.get_title(loc="left").split("\n")
        lines = [first, *(line for line in others if line not in above)]
        ax.set_title("\n".join(lines), loc="left", fontsize="small", color="0.35", x=0)
    return axes


def _draw_summaries(summaries: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw means along noise rates, or row by row."""
    metrics = summaries["metric"].unique()
    found = [name for name in _DIMENSIONS if name in summaries]
    dimensions = [name for name in found if summaries[name].nunique(dropna=False) > 1]
    named = f"mean of {metrics[0]}" if len(metrics) == 1 else "mean"
    if "noise_rate" in dimensions and summaries["noise_rate"].notna().all():
        others = [name for name in dimensions if name != "noise_rate"] or found[:1]
        frame, line = _joined(summaries, others)
        ax = plot_noise_curve(frame, line=line, ax=ax)
        ax.set_ylabel(plain(named))
        return ax
    several = len(dimensions) > 1
    series = ("system" if "system" in dimensions else dimensions[-1]) if several else None
    frame, label = _joined(summaries, [name for name in dimensions if name != series] or found[-1:])
    return plot_rates(frame, label=label, series=series, xlabel=named, ax=ax)


def _draw_agreement(table: pd.DataFrame) -> Axes:
    """Draw coefficients of agreement, of all annotators together where there are several pairs."""
    if "pair" in table and table["pair"].eq("all").any():
        table = table[table["pair"].eq("all")]
    names = [name for name in ("judge", "field", "pair") if name in table]
    varying = [name for name in names if table[name].nunique() > 1] or names[:1]
    frame, label = _joined(table, varying)
    kinds = distinct(frame["interval"].str.replace(r"^[^(]*, | \(fewer than.*", "", regex=True))
    few = frame["interval"].str.contains("fewer than").any()
    frame = frame.assign(interval=f"{kinds}{' (some: fewer than 30 units)' if few else ''}")
    return plot_rates(frame, label=label, series="metric", xlabel="agreement")


def _joined(frame: pd.DataFrame, names: list[str]) -> tuple[pd.DataFrame, str]:
    """The frame with a column that joins the values of some columns, and its name."""
    if len(names) == 1:
        return frame, names[0]

    def shown(row: dict[Any, Any]) -> str:
        values = ((name, row[name]) for name in names)
        return ", ".join(v if isinstance(v, str) else f"{name} {v:g}" for name, v in values)

    return frame.assign(row=[shown(row) for row in frame.to_dict("records")]), "row"
