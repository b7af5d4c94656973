"""One call from a result to its figure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ragnb.arguments import accepts
from ragnb.columns import require_columns
from ragnb.errors import InputError
from ragnb.figures.abilities import TITLES as ABILITIES
from ragnb.figures.abilities import plot_abilities
from ragnb.figures.curves import plot_risk_coverage
from ragnb.figures.differences import plot_cost_effectiveness_plane, plot_judge_bias
from ragnb.figures.forest import draw_differences
from ragnb.figures.lines import draw_lines, has_long_names, name_lines
from ragnb.figures.matrix import draw_matrix, square
from ragnb.figures.means import (
    arranged,
    draw_means,
    draw_references,
    name_series,
    row_names,
    show_shares,
    varying,
)
from ragnb.figures.outcomes import draw_outcomes, paired_outcomes
from ragnb.figures.page import look, new_page, set_header, width_in_inches
from ragnb.figures.plane import draw_plane, name_points
from ragnb.figures.ranks import draw_ranks, mean_ranks
from ragnb.figures.rates import are_shares, plot_grades
from ragnb.figures.spread import draw_distribution, draw_reliability
from ragnb.figures.styles import FORMATS, interval_note, save_figure, span, style
from ragnb.figures.words import words_for
from ragnb.metrics.record import METRICS
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
# The table of a report that is drawn.
_TABLES: dict[type, str] = {
    DefinitionComparison: "rates",
    MultilingualReport: "table",
    TraceReport: "results",
}
# Options of a signature that are not part of a definition.
_NOT_A_DEFINITION = ("metric", "lang", "ragnb")


@dataclass(frozen=True)
class Page:
    """What a figure is asked for, and the numbers that it shows once it is drawn."""

    title: str = ""
    names: Mapping[Any, str] = field(default_factory=dict)
    width: str | float = "column"
    reference: Mapping[str, float] = field(default_factory=dict)
    published: pd.DataFrame | None = None
    rows: Sequence[str] | None = None
    series: str | None = None


# Axes, and the numbers that they show.
Drawn: TypeAlias = "tuple[Axes | np.ndarray, pd.DataFrame]"


@accepts()
def plot(
    result: Result,
    *,
    kind: str | None = None,
    title: str = "",
    names: Mapping[Any, str] | None = None,
    width: str | float = "column",
    save: str | Path | None = None,
    reference: float | Mapping[str, float] | None = None,
    published: pd.DataFrame | None = None,
    rows: str | Sequence[str] | None = None,
    series: str | None = None,
    note: str = "",
) -> Axes | np.ndarray:
    """Draw a result with the figure that fits it.

    Parameters
    ----------
    result
        Scores of `ragnb.score` or `ragnb.load_scores`, which are summarized first; summaries of
        `ragnb.summarize`; comparisons of `ragnb.compare`; or the result of `ragnb.rgb_report`,
        `ragnb.trace_report`, `ragnb.multilingual_report`, `ragnb.judge_report`,
        `ragnb.abstention_report`, `ragnb.reports.risk_coverage_report`, `ragnb.graded_report`,
        `ragnb.reports.scores_by_grade`, `ragnb.agreement`, `ragnb.compare_definitions`,
        `ragnb.reports.efficiency.efficiency` or `ragnb.stats.reliability_curve`.
    kind
        The figure, if the result allows several. By default, the one that fits:

        - ``"means"``: a dot with its interval for each mean, and linked dots for two systems;
        - ``"curves"``: means along a condition such as the noise rate;
        - ``"differences"``: paired differences with their intervals, of comparisons;
        - ``"ranks"``: the rank of each system along metrics or definitions;
        - ``"plane"``: two metrics against each other;
        - ``"distribution"``: the scores of each system, of one metric;
        - ``"outcomes"``: the questions that both, one or none of two systems have right, as areas;
        - ``"matrix"``: the agreement of each pair of annotators, of one field and measure.
    title
        What the figure shows, in bold above it.
    names
        How systems, metrics and other values are written, such as ``{"fid": "FiD"}``. The words for
        metrics are those of the field by default.
    width
        ``"column"`` (3.03 inches, one column of ACL's style), ``"text"`` (6.3 inches), the name of a
        paper of `ragnb.figures.PAPERS` for one of its columns, or a number of inches.
    save
        Path without an ending: the figure is saved as PDF, SVG and PNG, and its numbers as JSON.
        With one of these endings, only that file is saved.
    reference
        Value to mark by a dashed line, or several by their names, such as ``{"gate": 0.7}``.
    published
        Published means that are drawn in grey behind curves; see `ragnb.published`.
    rows, series
        Columns of the table of means: those that name the rows, and the one whose values share a row
        in different colours. By default, they are chosen from what varies.
    note
        Remark on the data. It is saved with the numbers.

    Returns
    -------
    Axes or ndarray of Axes
        The axes, on which matplotlib can go on. The small print above them states the kind of the
        intervals, n, and the definition of the metric. A report on several of RGB's abilities
        becomes one figure of all four, with the published models in grey.

    Raises
    ------
    InputError
        The frame is empty or of another kind, the kind of figure does not fit it, or
        `ragnb.summarize` refuses the scores.

    Examples
    --------
    >>> rows = {"system": ["a", "b"], "example_id": "q1", "metric": "m", "signature": "s"}
    >>> ax = plot(pd.DataFrame(rows | {"value": [0.25, 0.5]}), title="B is better")
    >>> ax.get_xlabel(), ax.figure.texts[0].get_text()
    ('m (mean)', 'B is better')
    """
    if isinstance(reference, int | float):
        reference = {f"{reference:g}": reference}
    row_columns = [rows] if isinstance(rows, str) else rows
    page = Page(
        title, dict(names or {}), width, dict(reference or {}), published, row_columns, series
    )
    width_in_inches(width)
    axes, numbers = _draw(result, kind, page)
    if save is not None:
        _save(_figure_of(axes), Path(save), numbers, note)
    return axes


def _figure_of(axes: Axes | np.ndarray) -> Figure:
    figure: Any = np.ravel(np.asarray(axes, dtype=object))[0].figure
    return figure


@style()
def _draw(result: Result, kind: str | None, page: Page) -> Drawn:
    """Draw a result as a kind of figure, or as the kind that fits it."""
    if kind is None:
        return _fitting(result)(result, page)
    if kind not in KINDS:
        raise InputError(f"kind must be one of {', '.join(map(repr, KINDS))}, got {kind!r}")
    return KINDS[kind](result, page)


def _fitting(result: Any) -> Callable[[Any, Page], Drawn]:
    """The function that draws a result if no kind of figure is asked for."""
    if isinstance(result, JudgeReport):
        return _judge_bias
    if isinstance(result, RiskCoverageReport):
        return _risk_coverage
    if isinstance(result, RgbReport):
        return _rgb
    columns = {*getattr(result, "columns", ())}
    for needed, draw in _FORMS:
        if needed <= columns:
            return draw
    table = _means_of(result)
    return _curves if "noise_rate" in varying(table) else _means


# ---- means, curves, ranks and planes of summaries ------------------------------------------------


def _means_of(result: Any) -> pd.DataFrame:
    """The table of means in a result; scores are summarized."""
    table = getattr(result, _TABLES[type(result)]) if type(result) in _TABLES else result
    if isinstance(result, MultilingualReport):
        # A metric that was not requested, or that has no value in any system, has no row in the figure.
        is_scored = table.groupby("metric")["n_scored"].transform("max") > 0
        table = table[is_scored & (table["n"] > 0)]
    require_columns(table, ["metric"], "plot")
    if "value" in table and "mean" not in table:
        table = summarize(table)
    if "mean" not in table or table.empty:
        raise InputError(
            "plot needs scores, summaries or comparisons with at least one row, got a frame with "
            f"{len(table)} rows and the columns {', '.join(map(str, table))}"
        )
    return pd.DataFrame(table).reset_index(drop=True)


def _scores_of(result: Any, kind: str) -> pd.DataFrame:
    """The scores in a result, for figures that need every score."""
    scores = getattr(result, "scores", result)
    if not isinstance(scores, pd.DataFrame) or "value" not in scores:
        raise InputError(f"a figure of the kind {kind!r} needs the scores of ragnb.score")
    return scores


def _means(result: Any, page: Page) -> Drawn:
    table = _means_of(result)
    for column in [*(page.rows or ()), *([page.series] if page.series else ())]:
        require_columns(table, [column], "plot")
    rows, series = arranged(table, page.rows, page.series)
    if table.duplicated([*rows, *([series] if series else [])]).any():
        raise InputError(
            f"plot needs one mean for each {' and '.join([*rows, *([series] if series else [])])}, "
            "got several; select rows, or name the columns that distinguish them with rows= and series="
        )
    return _rows(table, rows, series, _of_one_scale(table), page)


def _rows(
    table: pd.DataFrame,
    rows: list[str],
    series: str | None,
    panels: list[pd.DataFrame],
    page: Page,
) -> Drawn:
    """Draw means row by row, in one panel or several."""
    n_series = table[series].nunique() if series else 1
    heights = []
    for panel in panels:
        labels = set(row_names(panel, rows, page.names))
        n_lines = max(label.count("\n") + 1 for label in labels)
        heights.append(0.34 + len(labels) * max(0.13 + 0.12 * n_series, 0.05 + 0.15 * n_lines))
    figure, axes = _stacked(page, heights)
    placed = []
    for ax, panel in zip(axes, panels, strict=True):
        placed.append(draw_means(ax, panel, rows, series, page.names))
        if are_shares(panel):
            show_shares(ax, *_ends(panel, page.reference))
        ax.set_xlabel(_mean_of(panel, page, is_named="metric" in rows))
        draw_references(ax, page.reference if ax is axes[0] else {})
    set_header(figure, page.title, _small_print(table))
    if series:
        lines_above = 1 if page.reference else 0
        name_series(axes[0], placed[0], series, page.names, lines_above=lines_above)
    return _single(axes), table


def _of_one_scale(table: pd.DataFrame) -> list[pd.DataFrame]:
    """The shares together, and a separate table for each metric of another scale."""
    shares: list[pd.DataFrame] = []
    others: list[pd.DataFrame] = []
    for _, rows in table.groupby("metric", sort=False):
        (shares if are_shares(rows) else others).append(rows)
    return [*([pd.concat(shares)] if shares else []), *others]


def _ends(table: pd.DataFrame, reference: Mapping[str, float]) -> tuple[float, float]:
    values = pd.concat([table["low"], table["high"], table["mean"]])
    marked = pd.Series(list(reference.values()), dtype=float)
    together = pd.concat([values, marked]).dropna()
    if together.empty:
        return 0.0, 1.0
    return float(together.min()), float(together.max())


def _stacked(page: Page, heights: list[float], **options: Any) -> tuple[Figure, list[Axes]]:
    """A page with panels below each other."""
    layout = {"nrows": len(heights), "height_ratios": heights, "squeeze": False}
    figure, axes = new_page(page.width, sum(heights), **layout, **options)
    return figure, list(axes[:, 0])


def _single(axes: list[Axes]) -> Axes | np.ndarray:
    return axes[0] if len(axes) == 1 else np.array(axes, dtype=object)


def _mean_of(table: pd.DataFrame, page: Page, *, is_named: bool = False) -> str:
    """What the axis of means shows; ``is_named`` if the rows name the metric."""
    metrics = list(dict.fromkeys(table["metric"]))
    if len(metrics) > 1:
        return "mean"
    words = words_for(metrics[0], page.names, column="metric")
    is_lower_better = metrics[0] in METRICS and METRICS[metrics[0]].higher_is_better is False
    mean = "mean, lower is better" if is_lower_better else "mean"
    return mean if is_named else f"{words} ({mean})"


def _small_print(table: pd.DataFrame) -> str:
    """Kind of the intervals, n, and the definition if it is the same in all rows."""
    definitions = _definitions(table)
    return interval_note(table) + (f"; {definitions}" if definitions else "")


def _definitions(table: pd.DataFrame) -> str:
    """The options of all metrics that have the same value wherever they occur: ``variant squad``."""
    values: dict[str, set[str]] = {}
    for signature in table["signature"].unique() if "signature" in table else ():
        for part in str(signature).split("|"):
            option, _, value = part.partition(":")
            if value and option not in _NOT_A_DEFINITION:
                values.setdefault(option, set()).add(value)
    shared = {option: min(found) for option, found in values.items() if len(found) == 1}
    shown = ("variant", "protocol", "rule")
    return ", ".join(f"{option} {shared[option]}" for option in shown if option in shared)


def _curves(result: Any, page: Page) -> Drawn:
    table = _means_of(result)
    numeric = [name for name in varying(table) if pd.api.types.is_numeric_dtype(table[name])]
    if not numeric:
        raise InputError(
            "a figure of curves needs means along a column of numbers such as noise_rate, got one "
            f"mean for each of {', '.join(varying(table))}"
        )
    along = "noise_rate" if "noise_rate" in numeric else numeric[0]
    others = [name for name in varying(table) if name != along] or ["system"]
    others = [page.series] if page.series else others
    table, series = _joined(table, others, page.names)
    behind = page.published
    if behind is not None:
        require_columns(behind, ["system", along, "mean"], "plot(published=...)")
    figure, ax = new_page(page.width, 2.0)
    ends = draw_lines(ax, table, along, series, page.names, behind)
    if are_shares(table):
        ax.set_ylim(-0.02, 1.02)
    ax.set_ylabel(_mean_of(table, page))
    for name, value in page.reference.items():
        ax.axhline(value, color="0.35", ls="--", lw=0.9)
        ax.annotate(name, (0, value), (3, 2), xycoords=("axes fraction", "data"),
                    textcoords="offset points", fontsize="small", color="0.35")  # fmt: skip
    if has_long_names(figure, ends):
        figure.set_figheight(figure.get_figheight() + 0.14 * len(ends))
    small_print = _small_print(table)
    if behind is not None:
        n = f", n = {span(behind['n'])}" if "n" in behind else ""
        small_print += f"\ngrey: published results{n}"
    set_header(figure, page.title, small_print)
    name_lines(ax, ends)
    return ax, table


def _joined(
    table: pd.DataFrame, columns: list[str], names: Mapping[Any, str]
) -> tuple[pd.DataFrame, str]:
    """A table with a column that joins the words for some columns, and its name."""
    if len(columns) == 1:
        return table, columns[0]
    words = [
        ", ".join(words_for(value, names, column=str(column)) for column, value in row.items())
        for row in table[columns].to_dict("records")
    ]
    return table.assign(series=words), "series"


def _ranks(result: Any, page: Page) -> Drawn:
    table = _means_of(result)
    across = [name for name in varying(table) if name != "system"]
    table, across_name = _joined(table, across or ["metric"], page.names)
    directions = {
        row[across_name]: METRICS[row["metric"]].higher_is_better is not False
        for row in table.to_dict("records")
        if row["metric"] in METRICS
    }
    ranks = mean_ranks(table, across_name, directions)
    figure, ax = new_page(page.width, 0.75 + 0.26 * len(ranks))
    draw_ranks(ax, ranks, across_name, page.names)
    n = span(table["n_scored"]) if "n_scored" in table else span(table["n"])
    set_header(figure, page.title, f"rank of the mean (1 is best), n = {n}; no intervals")
    return ax, table


def _plane(result: Any, page: Page) -> Drawn:
    if isinstance(result, pd.DataFrame) and {"hallucination", "over_refusal"} <= {*result.columns}:
        return _abstention(result, page)
    table = _means_of(result)
    metrics = list(dict.fromkeys(table["metric"]))
    others = [name for name in varying(table) if name != "metric"] or ["system"]
    table, series = _joined(table, others, page.names)
    if len(metrics) != 2 or table.duplicated([series, "metric"]).any():
        raise InputError(
            "a figure of the kind 'plane' needs the means of 2 metrics, one of each system, got "
            f"{len(metrics)} metrics and {len(table)} means"
        )
    wide = table.pivot(index=series, columns="metric", values=["mean", "low", "high"])
    columns = {
        f"{axis}{ending}": wide[value, metric]
        for axis, metric in zip("xy", metrics, strict=True)
        for ending, value in (("", "mean"), ("_low", "low"), ("_high", "high"))
    }
    points = pd.DataFrame(columns).loc[list(dict.fromkeys(table[series]))].reset_index()
    better = [METRICS[m].higher_is_better is not False if m in METRICS else True for m in metrics]
    words = [words_for(metric, page.names, column="metric") for metric in metrics]
    ax = _drawn_plane(points, series, (better[0], better[1]), words, _small_print(table), page)
    return ax, table


def _abstention(report: pd.DataFrame, page: Page) -> Drawn:
    """Hallucination against over-refusal."""
    ends = {"": "", "_low": "_low", "_high": "_high"}
    columns = {f"x{end}": report[f"over_refusal{end}"] for end in ends}
    columns |= {f"y{end}": report[f"hallucination{end}"] for end in ends}
    by = [name for name in varying(report) if name in report]
    joined, series = _joined(report, by or ["system"], page.names)
    points = pd.DataFrame(columns).assign(**{series: joined[series]})
    small_print = f"95 % Wilson intervals, n = {span(report['n_scored'])}"
    words = ["over-refusal", "hallucination rate"]
    return _drawn_plane(points, series, (False, False), words, small_print, page), report


def _drawn_plane(
    points: pd.DataFrame,
    series: str,
    better: tuple[bool, bool],
    words: list[str],
    small_print: str,
    page: Page,
) -> Axes:
    figure, ax = new_page(page.width, 2.3)
    draw_plane(ax, points, series, better)
    ax.set(xlabel=words[0], ylabel=words[1])
    set_header(figure, page.title, small_print)
    name_points(ax, points, series, page.names)
    return ax


# ---- differences, outcomes, distributions and agreement ------------------------------------------


def _differences(result: Any, page: Page) -> Drawn:
    require_columns(result, ["system", "baseline", "difference", "p_adjusted"], "plot")
    if result.empty:
        raise InputError("plot needs comparisons with at least one row, got none")
    table = pd.DataFrame(result).reset_index(drop=True)
    panels = [rows for _, rows in table.groupby("metric", sort=False)]
    if all(are_shares(rows) for rows in panels):
        panels = [table]
    figure, axes = _stacked(page, [0.4 + 0.22 * len(panel) for panel in panels])
    prints = [
        draw_differences(ax, panel, page.names) for ax, panel in zip(axes, panels, strict=True)
    ]
    set_header(figure, page.title, "\n".join(dict.fromkeys("\n".join(prints).split("\n"))))
    return _single(axes), table


def _outcomes(result: Any, page: Page) -> Drawn:
    outcomes = paired_outcomes(_scores_of(result, "outcomes"))
    figure, ax = new_page(page.width, 0.85 * width_in_inches(page.width))
    draw_outcomes(ax, outcomes, page.names)
    set_header(figure, page.title, f"areas: numbers of questions, n = {len(outcomes)}")
    counts = outcomes.value_counts().rename("count").reset_index()
    return ax, counts


def _distribution(result: Any, page: Page) -> Drawn:
    scores = _scores_of(result, "distribution").dropna(subset="value")
    metrics = list(dict.fromkeys(scores["metric"])) if "metric" in scores else []
    if len(metrics) > 1 or scores.empty:
        raise InputError(
            "a figure of a distribution needs scores of one metric, got "
            f"{len(metrics)} metrics; choose one of them"
        )
    series = "system" if "system" in scores else None
    groups = list(scores.groupby(series, sort=False)) if series else [("", scores)]
    metric = METRICS.get(metrics[0]) if metrics else None
    bounds = metric.bounds if metric is not None and np.isfinite(metric.bounds).all() else None
    if bounds is None and not scores.empty:
        bounds = (float(scores["value"].min()), float(scores["value"].max()))
    figure, axes = _stacked(page, [0.95] * len(groups), sharex=True, sharey=True)
    for place, (ax, (group, rows)) in enumerate(zip(axes, groups, strict=True)):
        draw_distribution(ax, rows["value"], look(place)["color"], bounds)
        draw_references(ax, page.reference if place == 0 else {})
        name = words_for(group, page.names, column="system")
        about = f"{name}, mean {rows['value'].mean():.3g}, n = {len(rows)}"
        ax.set_title(about, loc="left", fontsize="small")
    words = words_for(metrics[0], page.names, column="metric") if metrics else "value"
    axes[-1].set_xlabel(words)
    set_header(figure, page.title, "share of the scores in each of 20 classes; line: mean")
    return _single(axes), scores


def _matrix(result: Any, page: Page) -> Drawn:
    require_columns(result, ["rater", "against", "mean"], "plot(kind='matrix')")
    pairs = result[(result["against"] != "all") & result["rater"].notna()]
    for column in ("field", "metric"):
        if column in pairs and pairs[column].nunique() > 1:
            choices = ", ".join(map(repr, pairs[column].unique()))
            raise InputError(
                f"a figure of the kind 'matrix' needs one {column}, got {choices}; choose one of them"
            )
    if len(pairs) < 2:
        raise InputError("a figure of the kind 'matrix' needs three annotators or more")
    pairs = pairs.rename(columns={"rater": "first", "against": "second"})
    values = square(pairs, page.names)
    side = width_in_inches(page.width)
    figure, ax = new_page(page.width, min(0.8 * side, 0.6 + 0.3 * len(values)))
    draw_matrix(ax, values)
    what = words_for(pairs["metric"].iloc[0], page.names) if "metric" in pairs else "agreement"
    n = f", n = {span(pairs.loc[pairs['n'] > 0, 'n'])}" if "n" in pairs else ""
    set_header(figure, page.title, f"{what} of each pair{n}; no intervals")
    return ax, pairs


def _reliability(result: Any, page: Page) -> Drawn:
    figure, ax = new_page(page.width, 0.8 * width_in_inches(page.width))
    draw_reliability(ax, result, page.names)
    n = int(result["n"].sum())
    set_header(figure, page.title, f"95 % Wilson intervals, n = {n} in {len(result)} bins")
    return ax, result


# ---- reports that have a figure of their own -----------------------------------------------------


def _rgb(result: RgbReport, page: Page) -> Drawn:
    abilities = [name for name in ABILITIES if not getattr(result, name).empty]
    if len(abilities) > 1:
        axes = plot_abilities(result)
        set_header(_figure_of(axes), page.title, "")
        return axes, pd.concat(result.tables, names=["ability"]).reset_index("ability")
    table = getattr(result, abilities[0]) if abilities else result.closed_book
    return _fitting(table)(table, page)


def _judge_bias(result: JudgeReport, page: Page) -> Drawn:
    bias = result.bias.assign(group=result.bias["group"].replace(page.names))
    judges = [rows for _, rows in bias.groupby("judge", sort=False)]
    return _with_header(judges, plot_judge_bias, page, 0.24), result.bias


def _risk_coverage(result: RiskCoverageReport, page: Page) -> Drawn:
    curve, line = _joined(result.curve, list(result.groups), page.names)
    figure, ax = new_page(page.width, 2.2)
    plot_risk_coverage(curve, line=line, ax=ax)
    set_header(figure, page.title, _taken_note(ax))
    return ax, curve


def _grades(result: pd.DataFrame, page: Page) -> Drawn:
    figure, ax = new_page(page.width, 2.4)
    plot_grades(result, ax=ax)
    finding, note = ax.get_title(loc="left"), "\n".join(text.get_text() for text in ax.texts)
    ax.set_title("", loc="left")
    for text in list(ax.texts):
        text.remove()
    set_header(figure, page.title or finding, note.replace("\n", " "))
    return ax, result


def _agreement(table: pd.DataFrame, page: Page) -> Drawn:
    """Coefficients of agreement, of all annotators together where there are several pairs."""
    if "pair" in table and table["pair"].eq("all").any():
        table = table[table["pair"].eq("all")]
    # The measure is a series, so the small print names only the kinds of intervals.
    kinds = distinct(table["interval"].str.replace(r"^[^(]*, | \(fewer than.*", "", regex=True))
    few = table["interval"].str.contains("fewer than").any()
    table = table.assign(interval=f"{kinds}{' (some: fewer than 30 units)' if few else ''}")
    names = [name for name in ("judge", "field", "pair") if name in table]
    rows = [name for name in names if table[name].nunique() > 1] or names[:1]
    return _rows(table, rows, "metric", [table], page)


def _efficiency(result: pd.DataFrame, page: Page) -> Drawn:
    price = next(iter(page.reference.values()), None)
    figure, ax = new_page(page.width, 2.6)
    plot_cost_effectiveness_plane(result, price=price, ax=ax)
    legend = ax.get_legend()
    if legend is not None:
        legend.set_loc("lower left")
        legend.set_bbox_to_anchor((0, 1), transform=ax.transAxes)
        legend.set_ncols(2)
    set_header(figure, page.title, _taken_note(ax))
    return ax, result


def _with_header(
    frames: list[pd.DataFrame], draw: Callable[..., Axes], page: Page, height_per_row: float
) -> Axes | np.ndarray:
    """Draw frames below each other by a function with small print of its own, which moves above all."""
    figure, axes = _stacked(page, [0.6 + height_per_row * (len(rows) + 3) for rows in frames])
    notes: list[str] = []
    for ax, rows in zip(axes, frames, strict=True):
        draw(rows, ax=ax)
        notes += [line for line in _taken_note(ax).split("\n") if line not in notes]
    set_header(figure, page.title, "\n".join(notes))
    return _single(axes)


def _taken_note(ax: Axes) -> str:
    """The small print of axes, which is removed from them."""
    note = str(ax.get_title(loc="left"))
    ax.set_title("", loc="left")
    return note


KINDS: dict[str, Callable[[Any, Page], Drawn]] = {
    "means": _means,
    "curves": _curves,
    "differences": _differences,
    "ranks": _ranks,
    "plane": _plane,
    "distribution": _distribution,
    "outcomes": _outcomes,
    "matrix": _matrix,
}
# Columns by which a frame is recognised, and the function that draws it.
_FORMS: list[tuple[set[str], Callable[[Any, Page], Drawn]]] = [
    ({"spearman", "grade"}, _grades),
    ({"estimator", "gain", "cost"}, _efficiency),
    ({"mean_predicted", "observed"}, _reliability),
    ({"hallucination", "over_refusal"}, _plane),
    ({"pair", "field"}, _agreement),
    ({"judge", "n_systems"}, _agreement),
    ({"difference", "baseline"}, _differences),
]


def save_plot(result: Result, path: str | Path, **options: Any) -> Path:
    """Draw a result and save the figure as ``.pdf``, ``.svg`` or ``.png``; return the path.

    ``options`` are those of `plot`.
    """
    path = Path(path)
    if path.suffix.lower()[1:] not in FORMATS:
        raise InputError(f"a figure must end in .{', .'.join(FORMATS)}, got {str(path)!r}")
    plt.close(_figure_of(plot(result, save=path, **options)))
    return path


def _save(figure: Figure, path: Path, numbers: pd.DataFrame, note: str) -> None:
    """Save a figure under a name in all formats with its numbers, or in the format of its ending."""
    if path.suffix.lower()[1:] in FORMATS:
        path.parent.mkdir(parents=True, exist_ok=True)
        with style():
            figure.savefig(path, dpi=200)
        return
    save_figure(figure, path.name, numbers, folder=path.parent, note=note, trim=False)


@style()
def plot_png(result: Result) -> bytes:
    """Draw a result and return the figure as PNG."""
    figure = _figure_of(plot(result))
    figure.set_dpi(130)
    # savefig would arrange the figure twice.
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    content = BytesIO()
    plt.imsave(content, np.asarray(canvas.buffer_rgba()), format="png", dpi=130)
    plt.close(figure)
    return content.getvalue()
