"""The figures of reports."""

# Tested in tests/figures/test_choose.py.

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ragnb.annotation.class_report import AnnotationReport
from ragnb.annotation.tag_report import ErrorReport
from ragnb.columns import require_columns
from ragnb.errors import InputError
from ragnb.figures.abilities import TITLES as ABILITIES
from ragnb.figures.abilities import note_on_published_models, plot_abilities
from ragnb.figures.curves import plot_risk_coverage
from ragnb.figures.forest import draw_differences
from ragnb.figures.forms import (
    Drawn,
    curves_figure,
    joined,
    means_figure,
    rows_figure,
    single,
    stacked,
)
from ragnb.figures.means import varying
from ragnb.figures.page import SMALL_PRINT, Page, new_page, set_header
from ragnb.figures.plan_forms import counts_figure
from ragnb.figures.ranks import draw_ranks
from ragnb.figures.spread import draw_grades
from ragnb.figures.styles import plain
from ragnb.figures.words import words_for
from ragnb.metrics.record import EXTRA_WORDS
from ragnb.numbers import distinct
from ragnb.reports.abstention import RiskCoverageReport
from ragnb.reports.failures import OUTCOMES, FailureReport
from ragnb.reports.grades import QUANTILES
from ragnb.reports.judge import JudgeReport
from ragnb.reports.rgb import RgbReport
from ragnb.reports.sensitivity import Sensitivity

# Columns with the judge and the label, whose difference is the bias.
_BIAS_OF = ("system", "baseline")


def figure_of(axes: Axes | np.ndarray) -> Figure:
    """The figure of axes, or of an array of them."""
    figure: Any = np.ravel(np.asarray(axes, dtype=object))[0].figure
    return figure


def rgb_figure(result: RgbReport, page: Page) -> Drawn:
    """RGB's four abilities, or the only one in a report."""
    abilities = [name for name in ABILITIES if not getattr(result, name).empty]
    if len(abilities) > 1:
        axes = plot_abilities(result)
        set_header(figure_of(axes), page.title, note_on_published_models(result))
        return axes, pd.concat(result.tables, names=["ability"]).reset_index("ability")
    table = getattr(result, abilities[0]) if abilities else result.closed_book
    has_noise = "noise_rate" in varying(table)
    return curves_figure(table, page) if has_noise else means_figure(table, page)


def judge_bias_figure(result: Any, page: Page) -> Drawn:
    """The bias of each judge, overall and by group."""
    bias = result.bias if isinstance(result, JudgeReport) else result
    require_columns(bias, ["judge", "by", "group", "difference", "p_adjusted"], "plot")
    judges = [rows for _, rows in bias.groupby("judge", sort=False)]
    heights = [0.5 + 0.2 * (len(rows) + rows["by"].nunique()) for rows in judges]
    figure, axes = stacked(page, heights)
    lines: list[str] = []
    for ax, rows in zip(axes, judges, strict=True):
        small_print = draw_differences(ax, rows, page.names, headings="by")
        # A line that is true of several judges is written once.
        lines += [line for line in small_print.split("\n") if line not in lines]
        judge, label = (
            words_for(rows[name].iloc[0], page.names, column="system") for name in _BIAS_OF
        )
        ax.set_xlabel(f"← strict {judge} − {label} lenient →")
    set_header(figure, page.title, "\n".join(lines))
    return single(axes), bias


def sensitivity_figure(result: Sensitivity, page: Page) -> Drawn:
    """The rank of each system under each metric, with the metrics grouped by what they punish."""
    ranks = result.ranks
    figure, ax = new_page(page.width, 1.0 + 0.26 * len(ranks))
    draw_ranks(ax, ranks, "definition", page.names)
    punished = result.definitions.set_index("definition")["punishes"].reindex(ranks.columns)
    groups = punished.map(_group_of_metric)
    for place in range(1, len(groups)):
        if groups.iloc[place] != groups.iloc[place - 1]:
            ax.axvline(place - 0.5, color=SMALL_PRINT, lw=0.6)
    # Rank 1 is at the top, with room for the names of the groups above it.
    ax.set_ylim(len(ranks) + 0.5, 0.0)
    for group in dict.fromkeys(groups):
        places = np.flatnonzero(groups == group)
        # A name above a single metric would reach into the next group.
        if len(places) > 1:
            ax.text(places.mean(), 0.35, plain(group), ha="center", color=SMALL_PRINT, fontsize=6.5)
    n = int(result.rates["n_scored"].max())
    note = f"ranks of the means over up to {n:,} questions; no intervals"
    set_header(figure, page.title, note)
    return ax, result.rates


def errors_figure(result: ErrorReport, page: Page) -> Drawn:
    """The share of the responses with each tag, for each system, with intervals."""
    rates = result.rates
    series = "system" if rates["system"].nunique() > 1 else None
    table = rates.assign(n=rates["n_scored"])
    # A tag is one person's opinion, so the figure names the person.
    reader = f"tags by {result.reader}"
    return rows_figure(table, ["tag"], series, [table], page, "share of the responses read", reader)


def failures_figure(result: FailureReport, page: Page) -> Drawn:
    """The outcomes of the responses of each system, as bars, in the order of a pipeline."""
    outcomes = result.outcomes
    if "system" not in outcomes:
        outcomes = outcomes.assign(system="responses")
    # A categorical column keeps its order in the figure.
    in_order = pd.Categorical(outcomes["outcome"], OUTCOMES, ordered=True)
    ordered = outcomes.assign(outcome=in_order)
    return counts_figure(ordered, replace(page, rows=["system"], series="outcome"))


def _group_of_metric(punished: str) -> str:
    """The group of metrics in a figure, from what a metric punishes."""
    if not punished:
        return "verdicts"
    return "punish extra words" if EXTRA_WORDS in punished else "do not"


def risk_coverage_figure(result: RiskCoverageReport, page: Page) -> Drawn:
    """The risk of the accepted answers against their coverage."""
    curve, line = joined(result.curve, list(result.groups), page.names)
    figure, ax = new_page(page.width, 2.2)
    plot_risk_coverage(curve, line=line, ax=ax)
    set_header(figure, page.title, _taken_note(ax))
    return ax, curve


def grades_figure(result: pd.DataFrame, page: Page) -> Drawn:
    """A judge's scores for each grade of people; without a title, it states the correlation."""
    spearman = ["spearman", "spearman_low", "spearman_high"]
    require_columns(
        result, ["judge", "label", "n", "mean", *QUANTILES, *spearman], "plot", unique=["grade"]
    )
    figure, ax = new_page(page.width, 2.1)
    small_print = draw_grades(ax, result, page.names)
    # An interval that contains 0, or that is undefined, shows no direction.
    low, high = result[["spearman_low", "spearman_high"]].iloc[0]
    direction = "do not follow"
    if low > 0:
        direction = "rise with"
    elif high < 0:
        direction = "fall with"
    finding = f"The judge's scores {direction} the grades"
    set_header(figure, page.title or finding, small_print)
    return ax, result


def agreement_figure(table: pd.DataFrame, page: Page) -> Drawn:
    """Coefficients of agreement, of all annotators together where there are several pairs."""
    if "pair" in table and table["pair"].eq("all").any():
        table = table[table["pair"].eq("all")]
    table = table.assign(interval=_kinds_of_intervals(table))
    columns = [name for name in ("judge", "field", "pair") if name in table]
    rows = [name for name in columns if table[name].nunique() > 1] or columns[:1]
    measures = list(dict.fromkeys(table["metric"]))
    series = "metric" if len(measures) > 1 else None
    axis_name = "agreement" if series else words_for(measures[0], page.names, column="metric")
    return rows_figure(table, rows, series, [table], page, axis_name)


def _kinds_of_intervals(table: pd.DataFrame) -> str:
    """The kinds of the intervals without the coefficients, which the figure names already."""
    # From "Gwet's AC1, jackknife (fewer than 30 items)" to "jackknife".
    kinds = distinct(table["interval"].str.replace(r"^[^(]*, | \(fewer than.*", "", regex=True))
    has_few = table["interval"].str.contains("fewer than")
    if has_few.all():
        return f"{kinds} (fewer than 30 units)"
    return f"{kinds} (some: fewer than 30 units)" if has_few.any() else kinds


def annotation_figure(result: AnnotationReport, page: Page) -> Drawn:
    """The coefficients of agreement of all people, and the mean agreement of each with the others."""
    if result.agreement.empty:
        raise InputError(
            "the figure of an annotation report needs the labels of two or more people, got those of "
            f"{len(result.people)}"
        )
    has_several_fields = result.agreement["field"].nunique() > 1
    fields = result.agreement["field"] + ": " if has_several_fields else ""
    measures = result.agreement.assign(row=fields + result.agreement["metric"])
    people = result.people.assign(row=result.people["annotator"].replace(page.names))
    # A row of its own for each person and each measure, in two panels.
    panels = [measures, people]
    columns = ["row", "mean", "low", "high", "interval", "confidence_level", "n"]
    tables = [panel[columns] for panel in panels]
    table = pd.concat(tables, ignore_index=True)
    table["interval"] = _kinds_of_intervals(table)
    axes, _ = rows_figure(table, ["row"], None, tables, page, "agreement")
    axes_of_panels: Any = axes
    axis_names = ("agreement of all", "agreement with the others")
    for ax, name in zip(axes_of_panels, axis_names, strict=True):
        ax.set_xlabel(name)
    return axes, table


def _taken_note(ax: Axes) -> str:
    """The small print of axes, which is removed from them."""
    note = str(ax.get_title(loc="left"))
    ax.set_title("", loc="left")
    return note
