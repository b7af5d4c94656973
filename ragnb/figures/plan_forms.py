"""The figures of costs, plans, ranges and counts: from a result to axes and the numbers that they show."""

# Tested in tests/figures/test_choose.py.

from dataclasses import replace
from typing import Any

import pandas as pd

from ragnb.columns import require_columns
from ragnb.errors import InputError
from ragnb.figures.costs import (
    as_points,
    draw_gain_and_cost,
    draw_net_benefit,
    fieller_rows,
    names_of_shapes,
    note_on_gain_and_cost,
)
from ragnb.figures.counts import draw_counts, write_counts
from ragnb.figures.forms import Drawn, means_figure
from ragnb.figures.lines import height_of_names, name_lines
from ragnb.figures.means import draw_references, name_above, row_names, varying
from ragnb.figures.page import REFERENCE, Page, looks_of, new_page, set_header
from ragnb.figures.plane import name_points
from ragnb.figures.power import draw_half_widths, draw_power
from ragnb.figures.ranges import ROW_NAME, draw_ranges
from ragnb.figures.styles import interval_note, level_of, plain, span
from ragnb.figures.words import words_for
from ragnb.numbers import distinct


def efficiency_figure(result: pd.DataFrame, page: Page) -> Drawn:
    """The gain of each system against its cost."""
    rows = fieller_rows(result)
    figure, ax = new_page(page.width, 2.4)
    draw_gain_and_cost(ax, rows, page.reference)
    over = f" over {words_for(rows['baseline'].iloc[0], page.names, column='system')}"
    # A table of `efficiency` is about F1 and translated tokens, and has no columns with these names.
    metric, column = (
        words_for(rows[name].iloc[0], page.names, column=name) if name in rows else ""
        for name in ("metric", "cost_column")
    )
    gain = page.names.get("gain", f"gain in {metric or 'token F1'}{over}")
    cost = f"additional {column} per response" if column else "translated tokens per response"
    cost = page.names.get("cost", cost)
    ax.set(xlabel=plain(cost), ylabel=gain)
    set_header(figure, page.title, note_on_gain_and_cost(rows))
    name_points(ax, as_points(rows), "system", names_of_shapes(rows, page.names))
    return ax, result


def net_benefit_figure(result: pd.DataFrame, page: Page) -> Drawn:
    """The net benefit along the price of a unit of cost."""
    require_columns(result, ["low", "high", "ratio_low", "ratio_high"], "plot")
    figure, ax = new_page(page.width, 2.0)
    draw_net_benefit(ax, result)
    ax.set_xlabel(words_for("price", page.names))
    ax.set_ylabel(words_for("net benefit", page.names))
    draw_references(ax, page.reference)
    note = f"band: {interval_note(result)}"
    if result[["ratio_low", "ratio_high"]].notna().any(axis=None):
        note += f"\ndotted: limits of the {level_of(result)} Fieller set of the ratio"
    set_header(figure, page.title, note)
    return ax, result


def half_widths_figure(result: pd.DataFrame, page: Page) -> Drawn:
    """The expected half-width of an interval against the number of labels, with and without a judge."""
    needed = ["labels", "n_pilot", "n_judged", "confidence_level"]
    require_columns(result, needed, "plot")
    if result.empty:
        raise InputError("plot needs half-widths with at least one row, got none")
    figure, ax = new_page(page.width, 2.1)
    ends = draw_half_widths(ax, result, page.names)
    for name, value in page.reference.items():
        ax.axhline(value, color=REFERENCE, ls="--", lw=0.9)
        ax.annotate(name, (1, value), (-3, 2), xycoords=("axes fraction", "data"),
                    textcoords="offset points", ha="right", fontsize="small", color=REFERENCE)  # fmt: skip
    figure.set_figheight(figure.get_figheight() + height_of_names(figure, ends))
    first = result.iloc[0]
    note = (
        f"{level_of(result)} intervals, planned from {first['n_pilot']:,} labels;\n"
        f"the judge has {first['n_judged']:,} verdicts"
    )
    set_header(figure, page.title, note)
    name_lines(ax, ends)
    return ax, result


def worth_figure(result: pd.DataFrame, page: Page) -> Drawn:
    """How many labels alone the labels with the judge are worth, for each group and judge."""
    n_labels = span(result["n_labels"])
    names = {"mean": f"worth of {n_labels} labels with the judge", **page.names}
    table = result.rename(columns={"worth": "mean"})
    # What the correlation is belongs to the numbers of the figure, and not to its rows.
    table = table.drop(columns=["correlation", "correlation_low", "correlation_high"])
    # The interval is that of the worth, and not that of Pearson's r.
    table["interval"] = table["interval"].str.removeprefix("Pearson, ")
    ax, _ = means_figure(table, replace(page, names=names))
    return ax, result


def power_figure(result: pd.DataFrame, page: Page) -> Drawn:
    """The minimum detectable effect against the number of questions."""
    require_columns(result, ["n_pairs", "power", "test", "confidence_level"], "plot")
    if result.empty:
        raise InputError("plot needs effects with at least one row, got none")
    figure, ax = new_page(page.width, 2.1)
    ends = draw_power(ax, result, page.names)
    draw_references(ax, page.reference)
    figure.set_figheight(figure.get_figheight() + height_of_names(figure, ends))
    first = result.iloc[0]
    level = f"{1 - first['confidence_level']:.2g}"
    note = f"{100 * first['power']:.3g} % power, {first['test']}, two-sided, level {level}"
    set_header(figure, page.title, note)
    name_lines(ax, ends)
    return ax, result


def ranges_figure(result: pd.DataFrame, page: Page) -> Drawn:
    """What is possible in each row, from the least to the most."""
    require_columns(result, ["least", "most"], "plot(kind='ranges')")
    table = pd.DataFrame(result).dropna(subset=["least", "most"]).reset_index(drop=True)
    if table.empty:
        raise InputError("a figure of ranges needs at least one row, got none")
    rows = list(page.rows or ()) or [name for name in varying(table) if name != "metric"]
    require_columns(table, rows, "plot(kind='ranges')")
    n_lines = _lines_of_names(row_names(table, rows, page.names, width=ROW_NAME))
    figure, ax = new_page(page.width, 0.5 + len(table) * (0.06 + 0.13 * n_lines))
    has_open = draw_ranges(ax, table, rows, page.names, page.reference)
    draw_references(ax, page.reference)
    quantity = distinct(table["metric"]) if "metric" in table else "possible values"
    ax.set_xlabel(words_for(quantity, page.names, column="metric"))
    notes = []
    if "test" in table:
        notes.append(distinct(table["test"]))
    if "correction" in table:
        notes.append(f"{str(table['correction'].iloc[0]).title()} over {len(table)}")
    if "n" in table:
        notes.append(f"n = {span(table['n'])}")
    lines = ["bars: from the least to the most that is possible", ", ".join(notes)]
    if has_open:
        lines.append(f"orange: both sides of {' and '.join(page.reference)} are possible")
    set_header(figure, page.title, "\n".join(line for line in lines if line))
    return ax, table


def counts_figure(result: Any, page: Page) -> Drawn:
    """How many rows of a table have each value of one column, for each value of another."""
    if not page.rows or not page.series or len(page.rows) != 1:
        raise InputError(
            "a figure of the kind 'counts' needs the names of two columns, rows= and series="
        )
    row = page.rows[0]
    series = page.series
    require_columns(result, [row, series], "plot(kind='counts')")
    defined = pd.DataFrame(result)[[row, series]].dropna()
    if defined.empty:
        raise InputError("a figure of counts needs at least one row, got none")
    counts = pd.crosstab(defined[row], defined[series])
    counts = counts.loc[_order(defined[row]), _order(defined[series])]
    looks = looks_of(list(counts.columns), series)
    # Squares name the pieces, because the bars have no markers.
    looks = {group: looks[group] | {"marker": "s"} for group in counts.columns}
    n_lines = _lines_of_names(row_names(counts.index.to_frame(), [row], page.names))
    height = 0.8 + len(counts) * max(0.26, 0.06 + 0.13 * n_lines)
    # With few rows, the names of the pieces above them need most of the height.
    figure, ax = new_page(page.width, max(height, 0.9 + 0.17 * counts.shape[1]))
    draw_counts(ax, counts, looks, page.names)
    ax.set_xlabel(words_for("responses", page.names))
    n = span(counts.sum(axis=1))
    of_rows = " in each row" if len(counts) > 1 else ""
    set_header(figure, page.title, f"numbers of responses, n = {n}{of_rows}; no intervals")
    words = [
        (words_for(group, page.names, column=series), looks[group]) for group in counts.columns
    ]
    name_above(ax, words, 0)
    write_counts(ax, counts, looks)
    return ax, counts.rename_axis(columns=series).stack().rename("count").reset_index()


def _lines_of_names(names: list[str]) -> int:
    """The number of lines of the longest name of a row."""
    return max(name.count("\n") + 1 for name in names)


def _order(values: pd.Series) -> list[Any]:
    """The categories of a column that occur, in their order, or the values as they come."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        return [value for value in values.cat.categories if (values == value).any()]
    return list(dict.fromkeys(values))
