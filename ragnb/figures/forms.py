"""The figures of scores, summaries and comparisons: from a result to axes and the numbers that they show."""

# Tested in tests/figures/test_choose.py.

from collections.abc import Mapping
from typing import Any, TypeAlias

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties

from ragnb.cells import records_of
from ragnb.columns import require_columns
from ragnb.errors import InputError
from ragnb.experiments.before_after import Changes
from ragnb.figures.forest import differences_height, draw_differences, is_corrected
from ragnb.figures.lines import draw_bounds, draw_lines, height_of_names, name_lines
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
from ragnb.figures.page import (
    SMALL_PRINT,
    Page,
    look,
    new_page,
    set_header,
    text_width,
    width_in_inches,
    wrapped,
)
from ragnb.figures.plane import draw_plane, name_points
from ragnb.figures.ranks import draw_ranks, height_of_rank, mean_ranks
from ragnb.figures.rates import are_shares
from ragnb.figures.spread import (
    draw_distribution,
    draw_reliability,
    is_skewed,
    name_values,
    shares_of_classes,
)
from ragnb.figures.styles import interval_note, span
from ragnb.figures.words import words_for
from ragnb.metrics.record import METRICS
from ragnb.reports.definitions import DefinitionComparison
from ragnb.reports.multilingual import MultilingualReport
from ragnb.reports.trace import TraceReport
from ragnb.scoring.summaries import summarize

# Axes, and the numbers that they show.
Drawn: TypeAlias = "tuple[Axes | np.ndarray, pd.DataFrame]"
# The table of a report that is drawn.
_TABLES: dict[type, str] = {
    DefinitionComparison: "rates",
    MultilingualReport: "table",
    TraceReport: "results",
}
# Options of a signature that are not part of a definition.
_NOT_A_DEFINITION = ("metric", "lang", "ragnb")
# Options that the small print states, because they choose one of several definitions of a metric.
_STATED_OPTIONS = ("variant", "protocol", "rule")
# Heights in inches of a panel of means: its axis, a row without its series, each series of a row, a row
# without its name, and each line of the name. A row has the larger of the two heights.
_AXIS, _ROW, _SERIES, _ROW_OF_NAME, _LINE = 0.34, 0.13, 0.12, 0.05, 0.15
# Height in inches of each further line of the name of a panel.
_LINE_OF_TITLE = 0.12
# Points that the names of panels leave free: for the vertical axis, and before the numbers beside them.
_BESIDE_TITLE = 60.0


def means_of(result: Any) -> pd.DataFrame:
    """The table of means in a result; scores are summarized."""
    table = getattr(result, _TABLES[type(result)]) if type(result) in _TABLES else result
    if isinstance(result, MultilingualReport):
        # A metric that was not requested, or that has no value in any system, has no row in the figure.
        is_scored = table.groupby("metric")["n_scored"].transform("max") > 0
        table = table[is_scored & (table["n"] > 0)]
    if {"accuracy", "point"} <= {*table.columns}:
        # Rows of ensemble.deferral_curve and ensemble.deferral_point.
        table = table.rename(columns={"accuracy": "mean", "point": "system"})
        table = table if "metric" in table else table.assign(metric="accuracy")
    # Means that somebody computed in another way need no metric.
    if "mean" not in table:
        require_columns(table, ["metric"], "plot")
    if "value" in table and "mean" not in table:
        table = summarize(table)
    if "mean" not in table or table.empty:
        raise InputError(
            "plot needs scores, summaries or comparisons with at least one row, got a frame with "
            f"{len(table)} rows and the columns {', '.join(map(str, table))}"
        )
    missing = [name for name in ("low", "high") if name not in table]
    return pd.DataFrame(table).assign(**dict.fromkeys(missing, np.nan)).reset_index(drop=True)


def scores_of(result: Any, kind: str) -> pd.DataFrame:
    """The scores in a result, for figures that need every score."""
    scores = getattr(result, "scores", result)
    if not isinstance(scores, pd.DataFrame) or "value" not in scores:
        raise InputError(f"a figure of the kind {kind!r} needs the scores of ragnb.score")
    return scores


def means_figure(result: Any, page: Page) -> Drawn:
    """A dot with its interval for each mean, and linked dots for two systems."""
    table = means_of(result)
    columns_of_user = [*(page.rows or ())]
    if page.series:
        columns_of_user.append(page.series)
    require_columns(table, columns_of_user, "plot")
    rows, series = arranged(table, page.rows, page.series)
    keys = [*rows, series] if series else rows
    if table.duplicated(keys).any():
        raise InputError(
            f"plot needs one mean for each {' and '.join(keys)}, got several; select rows, or name "
            "the columns that distinguish them with rows= and series="
        )
    if series and _is_nested(table, series, page):
        # A panel has one metric, which its axis names. The rows name it only if nothing else varies.
        panels = [panel for _, panel in table.groupby("metric", sort=False)]
        rows = [name for name in rows if name != "metric"] or rows
    else:
        panels = _of_one_scale(table)
    return rows_figure(table, rows, series, panels, page)


def _is_nested(table: pd.DataFrame, series: str, page: Page) -> bool:
    """Whether each metric has series of its own, such as the definitions of each of several metrics."""
    if page.rows is not None and "metric" not in page.rows:
        return False  # All metrics are asked for in the same rows.
    if series == "metric" or "metric" not in table or table["metric"].nunique() == 1:
        return False
    return bool(table.groupby(series)["metric"].nunique().eq(1).all())


def rows_figure(
    table: pd.DataFrame,
    rows: list[str],
    series: str | None,
    panels: list[pd.DataFrame],
    page: Page,
    axis_name: str = "",
    small_print: str = "",
) -> Drawn:
    """Draw means row by row, in one panel or several; ``axis_name`` is what they are, if not means.

    ``small_print`` is appended to the small print about the intervals.
    """
    heights = []
    for panel in panels:
        n_series = panel[series].nunique() if series else 1
        labels = set(row_names(panel, rows, page.names))
        n_lines = max(label.count("\n") + 1 for label in labels)
        row_height = max(_ROW + _SERIES * n_series, _ROW_OF_NAME + _LINE * n_lines)
        heights.append(_AXIS + len(labels) * row_height)
    figure, axes = stacked(page, heights)
    means_with_places = []
    has_own_series = series is not None and _is_nested(table, series, page)
    for ax, panel in zip(axes, panels, strict=True):
        means_with_places.append(draw_means(ax, panel, rows, series, page.names))
        if are_shares(panel):
            # Panels with series of their own are compared with each other, so they have one scale.
            show_shares(ax, *_ends(table if has_own_series else panel, page.reference))
        words = _mean_of(panel, page, is_named="metric" in rows, is_only=len(panels) == 1)
        ax.set_xlabel(axis_name or words)
        # References are marked in the first panel. Other panels have other metrics or scales.
        draw_references(ax, page.reference if ax is axes[0] else {})
    set_header(figure, page.title, "; ".join(filter(None, [small_print_of(table), small_print])))
    if series:
        # If all panels have the same series, the first panel names them.
        for number, ax in enumerate(axes if has_own_series else axes[:1]):
            # References and their names are in the first panel.
            references = page.reference if number == 0 else {}
            name_series(
                ax,
                means_with_places[number],
                series,
                page.names,
                lines_above=1 if references else 0,
                references=references.values(),
            )
    return single(axes), table


def _of_one_scale(table: pd.DataFrame) -> list[pd.DataFrame]:
    """The shares together, and a separate table for each metric of another scale."""
    if "metric" not in table:
        return [table]
    shares: list[pd.DataFrame] = []
    others: list[pd.DataFrame] = []
    for _, rows in table.groupby("metric", sort=False):
        (shares if are_shares(rows) else others).append(rows)
    panel_of_shares = [pd.concat(shares)] if shares else []
    return [*panel_of_shares, *others]


def _ends(table: pd.DataFrame, reference: Mapping[str, float]) -> tuple[float, float]:
    """The smallest and the largest number that a panel shows; 0 and 1 if it shows none."""
    values = pd.concat([table["low"], table["high"], table["mean"]])
    marked = pd.Series(list(reference.values()), dtype=float)
    all_values = pd.concat([values, marked]).dropna()
    if all_values.empty:
        return 0.0, 1.0
    return float(all_values.min()), float(all_values.max())


def stacked(page: Page, heights: list[float], **options: Any) -> tuple[Figure, list[Axes]]:
    """A page with panels below each other."""
    layout = {"nrows": len(heights), "height_ratios": heights, "squeeze": False}
    figure, axes = new_page(page.width, sum(heights), **layout, **options)
    return figure, list(axes[:, 0])


def single(axes: list[Axes]) -> Axes | np.ndarray:
    """The only axes, or an array of several."""
    return axes[0] if len(axes) == 1 else np.array(axes, dtype=object)


def _mean_of(
    table: pd.DataFrame, page: Page, *, is_named: bool = False, is_only: bool = True
) -> str:
    """What the axis of means shows.

    ``is_named`` if the rows name the metric; ``is_only`` if there is no other panel. The user's name for
    the mean would not distinguish panels.
    """
    metrics = list(dict.fromkeys(table["metric"])) if "metric" in table else []
    has_name_of_user = is_only and "mean" in page.names
    if has_name_of_user or len(metrics) != 1:
        return words_for("mean", page.names)
    words = words_for(metrics[0], page.names, column="metric")
    is_lower_better = metrics[0] in METRICS and METRICS[metrics[0]].higher_is_better is False
    mean = "mean, lower is better" if is_lower_better else "mean"
    return mean if is_named else f"{words} ({mean})"


def small_print_of(table: pd.DataFrame) -> str:
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
    definitions = []
    for option in _STATED_OPTIONS:
        values_of_option = values.get(option, set())
        if len(values_of_option) == 1:
            definitions.append(f"{option} {min(values_of_option)}")
    return ", ".join(definitions)


def curves_figure(result: Any, page: Page, *, is_close: bool = False) -> Drawn:
    """Means along a condition, with published ones in grey behind.

    The axis of shares goes from 0 to 1. With `is_close`, it is shorter if the shares lie close together.
    """
    table = means_of(result)
    along = _along(table, page)
    # The columns that distinguish the curves. A single curve is named by its system or its metric.
    columns = [name for name in varying(table) if name != along]
    columns = columns or [name for name in ("system", "metric") if name in table][:1]
    if page.series:
        columns = [page.series]
    require_columns(table, columns, "plot")
    table, series = joined(table, columns, page.names)
    if table.duplicated([series, along]).any():
        raise InputError(
            f"a figure of curves needs one mean for each {series} and {along}, got several; select "
            "rows, or name the column that distinguishes the curves with series="
        )
    behind = page.published
    if behind is not None:
        require_columns(behind, ["system", along, "mean"], "plot(published=...)")
    figure, ax = new_page(page.width, 2.0)
    has_bounds = _some_are_unscored(table)
    if has_bounds:
        draw_bounds(ax, table, along, series)
    ends = draw_lines(ax, table, along, series, page.names, behind)
    if len(ends) == 1:
        ends = []  # A line that is alone needs no name.
    if "metric" in table and are_shares(table):
        ends_of_axis = _ends(table, page.reference) if is_close else (0.0, 1.0)
        show_shares(ax, *ends_of_axis, axis="y")
    ax.set_ylabel(_mean_of(table, page))
    for name, value in page.reference.items():
        ax.axhline(value, color="0.35", ls="--", lw=0.9)
        ax.annotate(name, (0, value), (3, 2), xycoords=("axes fraction", "data"),
                    textcoords="offset points", fontsize="small", color="0.35")  # fmt: skip
    figure.set_figheight(figure.get_figheight() + height_of_names(figure, ends))
    small_print = small_print_of(table)
    if behind is not None:
        n = f", n = {span(behind['n'])}" if "n" in behind else ""
        # Printed results in colour are published as well.
        other = "other " if "printed" in table else ""
        small_print += f"\ngrey: {other}published results{n}"
    if has_bounds:
        small_print += "\nband: bounds if all unscored were wrong, or all right"
    set_header(figure, page.title, small_print)
    name_lines(ax, ends)
    # The grey curves are numbers of the figure, too.
    return ax, table if behind is None else pd.concat([table, behind], ignore_index=True)


def _along(table: pd.DataFrame, page: Page) -> str:
    """The column of numbers along which curves are drawn."""
    if page.along:
        require_columns(table, [page.along], "plot")
        if not pd.api.types.is_numeric_dtype(table[page.along]):
            raise InputError(f"along= needs a column of numbers, got {page.along!r}")
        return page.along
    numeric = [name for name in varying(table) if pd.api.types.is_numeric_dtype(table[name])]
    if not numeric:
        raise InputError(
            "a figure of curves needs means along a column of numbers such as noise_rate, got one "
            f"mean for each of {', '.join(varying(table))}; name such a column with along="
        )
    return "noise_rate" if "noise_rate" in numeric else numeric[0]


def _some_are_unscored(table: pd.DataFrame) -> bool:
    """Whether means leave out responses, and the table has the bounds that follow."""
    if not {"worst_low", "worst_high", "n_scored", "n"} <= {*table.columns}:
        return False
    has_bounds = table["worst_low"].notna() & table["worst_high"].notna()
    return bool(((table["n_scored"] < table["n"]) & has_bounds).any())


def joined(
    table: pd.DataFrame, columns: list[str], names: Mapping[Any, str]
) -> tuple[pd.DataFrame, str]:
    """A table with a column that joins the words for some columns, and its name."""
    if len(columns) == 1:
        return table, columns[0]
    words = [
        ", ".join(words_for(value, names, column=str(column)) for column, value in row.items())
        for row in records_of(table[columns])
    ]
    return table.assign(series=words), "series"


def ranks_figure(result: Any, page: Page) -> Drawn:
    """The rank of each system along metrics or definitions."""
    table = means_of(result)
    across = [name for name in varying(table) if name != "system"]
    table, across_name = joined(table, across or ["metric"], page.names)
    directions = {
        row[across_name]: METRICS[row["metric"]].higher_is_better is not False
        for row in table.to_dict("records")
        if row["metric"] in METRICS
    }
    ranks = mean_ranks(table, across_name, directions)
    height = 0.75 + height_of_rank(ranks, page.names, page.width) * len(ranks)
    figure, ax = new_page(page.width, height)
    draw_ranks(ax, ranks, across_name, page.names)
    n = span(table["n_scored"]) if "n_scored" in table else span(table["n"])
    set_header(figure, page.title, f"rank of the mean (1 is best), n = {n}; no intervals")
    return ax, table


def plane_figure(result: Any, page: Page) -> Drawn:
    """Two metrics against each other."""
    if isinstance(result, pd.DataFrame) and {"hallucination", "over_refusal"} <= {*result.columns}:
        return _abstention(result, page)
    table = means_of(result)
    metrics = list(dict.fromkeys(table["metric"]))
    others = [name for name in varying(table) if name != "metric"] or ["system"]
    table, series = joined(table, others, page.names)
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
    # For your own metrics, and if neither direction is better, the right and the upper end count as better.
    better = []
    for metric in metrics:
        record = METRICS.get(metric)
        better.append(record is None or record.higher_is_better is not False)
    words = [words_for(metric, page.names, column="metric") for metric in metrics]
    ax = _drawn_plane(points, series, (better[0], better[1]), words, small_print_of(table), page)
    return ax, table


def _abstention(report: pd.DataFrame, page: Page) -> Drawn:
    """Hallucination against over-refusal."""
    endings = ("", "_low", "_high")
    columns = {f"x{ending}": report[f"over_refusal{ending}"] for ending in endings}
    columns |= {f"y{ending}": report[f"hallucination{ending}"] for ending in endings}
    with_series, series = joined(report, varying(report) or ["system"], page.names)
    points = pd.DataFrame(columns).assign(**{series: with_series[series]})
    kind = report.attrs.get("intervals", "intervals")
    small_print = f"{kind}, {_questions_of_axes(report)}"
    words = ["over-refusal", "hallucination rate"]
    return _drawn_plane(points, series, (False, False), words, small_print, page), report


def _questions_of_axes(report: pd.DataFrame) -> str:
    """The numbers of questions behind the two rates: those with an answer, and those without."""
    sizes = {}
    for kind in ("answerable", "unanswerable"):
        outcomes = [name for name in report if str(name).startswith(f"{kind}_")]
        if not outcomes:
            # A report of the user's own, which has the rates only.
            return f"n = {span(report['n_scored'])}"
        sizes[kind] = span(report[outcomes].sum(axis=1))
    return f"n = {sizes['answerable']} with and {sizes['unanswerable']} without an answer"


def _drawn_plane(
    points: pd.DataFrame,
    series: str,
    better: tuple[bool, bool],
    words: list[str],
    small_print: str,
    page: Page,
) -> Axes:
    """Axes with points that have two intervals, and with ``words`` for the two axes."""
    figure, ax = new_page(page.width, 2.3)
    draw_plane(ax, points, series, better)
    ax.set(xlabel=words[0], ylabel=words[1])
    set_header(figure, page.title, small_print)
    name_points(ax, points, series, page.names)
    return ax


# ---- differences, outcomes, distributions and agreement ------------------------------------------


def differences_figure(result: Any, page: Page) -> Drawn:
    """Paired differences with their intervals, row by row."""
    require_columns(result, ["system", "baseline", "difference", "p_adjusted"], "plot")
    if result.empty:
        raise InputError("plot needs comparisons with at least one row, got none")
    table = pd.DataFrame(result).reset_index(drop=True)
    panels = [rows for _, rows in table.groupby("metric", sort=False)]
    # Corrected differences are those of people's labels, so all are on one scale.
    if is_corrected(table) or all(are_shares(rows) for rows in panels):
        panels = [table]
    # A single row needs room between the heads of the columns beside it and the axis.
    heights = [max(0.4 + differences_height(panel, page.names), 0.8) for panel in panels]
    figure, axes = stacked(page, heights)
    lines: list[str] = []
    for ax, panel in zip(axes, panels, strict=True):
        small_print = draw_differences(ax, panel, page.names, page.others)
        lines += small_print.split("\n")
    # A line that is true of several panels is written once.
    set_header(figure, page.title, "\n".join(dict.fromkeys(lines)))
    return single(axes), table


def outcomes_figure(result: Any, page: Page) -> Drawn:
    """The questions that both, one or none of two systems have right, as areas."""
    outcomes = paired_outcomes(scores_of(result, "outcomes"))
    figure, ax = new_page(page.width, 0.85 * width_in_inches(page.width))
    draw_outcomes(ax, outcomes, page.names)
    set_header(figure, page.title, f"areas: numbers of questions, n = {len(outcomes):,}")
    counts = outcomes.value_counts().rename("count").reset_index()
    return ax, counts


def changes_figure(result: Changes, page: Page) -> Drawn:
    """The outcomes before and after a change as areas, or the differences if these do not apply."""
    scores = result.scores[result.scores["metric"] == result.metric]
    is_binary = scores["value"].dropna().isin([0, 1]).all()
    is_repeated = scores.duplicated(["example_id", "system"]).any()
    has_pairs = not result.comparisons.empty and result.comparisons["n_pairs"].iloc[0] > 0
    if has_pairs and is_binary and not is_repeated and scores["system"].nunique() == 2:
        return outcomes_figure(scores, page)
    if result.comparisons.empty:
        raise InputError("plot needs changes with scores in both runs, got none to compare")
    return differences_figure(result.comparisons, page)


def distribution_figure(result: Any, page: Page) -> Drawn:
    """The scores of each system, or of each value of another column, of one metric."""
    scores = scores_of(result, "distribution").dropna(subset="value")
    metrics = list(dict.fromkeys(scores["metric"])) if "metric" in scores else []
    if len(metrics) > 1 or scores.empty:
        raise InputError(
            "a figure of a distribution needs scores of one metric, got "
            f"{len(metrics)} metrics; choose one of them"
        )
    series = page.series or ("system" if "system" in scores else None)
    require_columns(scores, [series] if series else [], "plot")
    groups = list(scores.groupby(series, sort=False)) if series else [("", scores)]
    metric = METRICS.get(metrics[0]) if metrics else None
    bounds = metric.bounds if metric is not None and np.isfinite(metric.bounds).all() else None
    if bounds is None and not scores.empty:
        bounds = (float(scores["value"].min()), float(scores["value"].max()))
    titles = [words_for(group, page.names, column=str(series)) for group, _ in groups]
    numbers_beside = [f"mean {rows['value'].mean():.3g}, n = {len(rows):,}" for _, rows in groups]
    titles = _wrapped_titles(titles, numbers_beside, page)
    # In inches. Each of many panels is lower.
    height = 0.95 if len(groups) <= 3 else 0.75
    heights = [height + _LINE_OF_TITLE * title.count("\n") for title in titles]
    figure, axes = stacked(page, heights, sharex=True, sharey=True)
    is_logarithmic = is_skewed([rows["value"] for _, rows in groups], bounds)
    numbers = []
    for place, (ax, (group, rows)) in enumerate(zip(axes, groups, strict=True)):
        draw_distribution(ax, rows["value"], look(place)["color"], bounds)
        shares = shares_of_classes(rows["value"], bounds)
        numbers.append(shares.assign(**{series: group} if series else {}))
        draw_references(ax, page.reference, is_named=False)
        ax.set_title(titles[place], loc="left", fontsize="small")
        ax.set_title(numbers_beside[place], loc="right", fontsize="small", color=SMALL_PRINT)
    words = words_for(metrics[0] if metrics else "value", page.names, column="metric")
    axes[-1].set_xlabel(words)
    low, high = axes[0].get_ylim()
    for ax in axes:
        ax.set_ylabel("")
    if len(axes) == 1:
        # A single panel is lower than the words in one line.
        axes[0].set_ylabel("share of\nthe scores")
    else:
        figure.supylabel("share of the scores", fontsize=plt.rcParams["axes.labelsize"])
    # The panels share their axes. Names of references need room above the bars.
    if is_logarithmic:
        # The smallest share that is not 0 is that of a single score. It needs a visible bar.
        smallest = 1 / max(len(rows) for _, rows in groups)
        axes[0].set(yscale="log", ylim=(smallest / 2, 4 if page.reference else 1.5))
    elif page.reference:
        axes[0].set_ylim(low, 1.2 * high)
    axes[0].yaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
    name_values(axes[0], page.reference)
    scale = ", logarithmic scale" if is_logarithmic else ""
    lines = "solid line: mean" if page.reference else "line: mean"
    set_header(figure, page.title, f"share of the scores in each of 20 classes{scale}; {lines}")
    return single(axes), pd.concat(numbers, ignore_index=True)


def _wrapped_titles(titles: list[str], numbers_beside: list[str], page: Page) -> list[str]:
    """Names of panels in lines that leave room for the numbers beside them."""
    font = FontProperties(size="small")
    widest_numbers = max(text_width(numbers, font) for numbers in numbers_beside)
    room = 72 * width_in_inches(page.width) - widest_numbers - _BESIDE_TITLE
    return ["\n".join(wrapped(title, room, font)) for title in titles]


def matrix_figure(result: Any, page: Page) -> Drawn:
    """The agreement of each pair of annotators."""
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
    # A coefficient of few items is hardly known, which its colour does not show.
    has_sizes = "n" in pairs and pairs.loc[pairs["n"] > 0, "n"].nunique() > 1
    draw_matrix(ax, values, square(pairs, page.names, "n") if has_sizes else None)
    measure = words_for(pairs["metric"].iloc[0], page.names) if "metric" in pairs else "agreement"
    n = f", n = {span(pairs.loc[pairs['n'] > 0, 'n'])}" if "n" in pairs else ""
    below = " (below each value)" if has_sizes else ""
    set_header(figure, page.title, f"{measure} of each pair{n}{below}; no intervals")
    return ax, pairs


def reliability_figure(result: Any, page: Page) -> Drawn:
    """Observed shares against predicted probabilities."""
    figure, ax = new_page(page.width, 0.8 * width_in_inches(page.width))
    draw_reliability(ax, result, page.names)
    n = int(result["n"].sum())
    set_header(figure, page.title, f"95 % Wilson intervals, n = {n:,} in {len(result)} bins")
    return ax, result
