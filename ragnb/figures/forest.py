"""Paired differences with their intervals, p-values and minimum detectable effects, row by row."""

# Tested in tests/figures/test_differences.py.

import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import seaborn.objects as so
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties

from ragnb.columns import require_columns
from ragnb.errors import InputError
from ragnb.figures.means import DIMENSIONS, draw_on
from ragnb.figures.page import REFERENCE, text_width
from ragnb.figures.styles import COLOURS, kinds_of, span
from ragnb.figures.words import words_for
from ragnb.numbers import distinct

# Colours of the differences, and of those of other comparisons.
_COLOUR, _OTHER = COLOURS[0], COLOURS[3]
# Characters of a row's name in one line.
_ROW_NAME = 26
# Inches of a row whose name has one line, and of each further line.
_ROW, _LINE = 0.22, 0.135
# Points between the axes and the columns beside them.
_BETWEEN_COLUMNS = 7


def draw_differences(
    ax: Axes,
    comparisons: pd.DataFrame,
    names: Mapping[Any, str] | None = None,
    others: Mapping[str, pd.DataFrame] | None = None,
    headings: str | None = None,
) -> str:
    """Draw one row for each difference, and return the small print.

    A dot is filled where the adjusted p-value is below 1 minus the confidence level. The grey band
    reaches from minus to plus the minimum detectable effect. ``others`` are further comparisons of
    the same systems by their names; their differences are marked by upright bars. ``headings`` is a
    column whose values are headings above their rows.
    """
    rows, heading_places = _placed(comparisons.reset_index(drop=True), headings)
    is_significant = rows["p_adjusted"] < 1 - rows["confidence_level"]
    if "mde" in rows:
        width = 2 * rows["mde"]
        ax.barh(rows["place"], width, left=-rows["mde"], height=0.7, color="0.92", zorder=0)
    ax.axvline(0, color=REFERENCE, lw=0.8, zorder=0.5)
    with_interval = rows.dropna(subset=["difference", "low", "high"])
    intervals = so.Plot(with_interval, x="difference", y="place", xmin="low", xmax="high")
    intervals = intervals.add(so.Range(color=_COLOUR, linewidth=1.1), orient="y")
    draw_on(ax, intervals, with_interval)
    for significant, dots in rows.groupby(is_significant):
        fill = _COLOUR if significant else "white"
        ax.plot(dots["difference"], dots["place"], "o", color=_COLOUR, mfc=fill, ms=4.5, zorder=3)
    pairs = [_pair(row, names) for row in rows.to_dict("records")]
    row_labels = _row_names(rows, pairs, names, headings)
    titles = [words_for(value, names, column=str(headings)) for value in heading_places.values()]
    ax.set_yticks([*rows["place"], *heading_places], [*row_labels, *titles])
    for label in ax.get_yticklabels()[len(rows) :]:
        label.set_fontweight("bold")
    ax.set(ylim=(-0.6, len(rows) + len(titles) - 0.4), ylabel="")
    ax.set_xlabel(_axis_name(rows, pairs, names))
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", visible=False)
    ax.margins(x=0.05)
    write_beside(ax, rows)
    lines = [_small_print(rows, has_headings=headings is not None)]
    for name, other in (others or {}).items():
        lines.append(_draw_other(ax, rows, name, other))
    return "\n".join(lines)


def _placed(rows: pd.DataFrame, headings: str | None) -> tuple[pd.DataFrame, dict[float, Any]]:
    """The rows with their heights in the column ``place``, and the headings by their heights."""
    if headings is None:
        return rows.assign(place=len(rows) - 1.0 - rows.index), {}
    # The uppermost place: each row and each heading has one.
    height = len(rows) + rows[headings].nunique(dropna=False) - 1.0
    blocks, heading_places = [], {}
    for value, block in rows.groupby(headings, sort=False, dropna=False):
        heading_places[height] = value
        blocks.append(block.assign(place=height - 1 - np.arange(len(block))))
        height -= len(block) + 1
    return pd.concat(blocks), heading_places


def differences_height(comparisons: pd.DataFrame, names: Mapping[Any, str] | None = None) -> float:
    """Height in inches at which the names of the rows do not overlap: all rows have that of the longest."""
    rows = comparisons.reset_index(drop=True)
    pairs = [_pair(row, names) for row in rows.to_dict("records")]
    n_lines = [name.count("\n") + 1 for name in _row_names(rows, pairs, names)]
    # Two names next to each other share the room between their rows.
    n_lines_of_next = [*n_lines[1:], 1]
    most = max((upper + lower) / 2 for upper, lower in zip(n_lines, n_lines_of_next, strict=True))
    return (_ROW + _LINE * (most - 1)) * len(rows)


def write_beside(ax: Axes, rows: pd.DataFrame) -> None:
    """Write the adjusted p-value and n of each row right of the axes, in two columns with heads.

    The column ``place`` has the heights. Without room for words such as "n =", the intervals have
    more. If all rows have the same n, the small print states it.
    """
    columns = {"p": [printed_p(p_value) for p_value in rows["p_adjusted"]]}
    if rows["n_pairs"].nunique() > 1:
        columns["n"] = [str(n) for n in rows["n_pairs"]]
    options: Any = {
        "textcoords": "offset points",
        "ha": "right",
        "fontsize": "small",
        "color": "0.3",
    }
    font = FontProperties(size="small")
    right = 0.0
    for head, texts in columns.items():
        # The right end of the column, in points from the axes.
        right += _BETWEEN_COLUMNS + max(text_width(text, font) for text in (head, *texts))
        for text, place in zip(texts, rows["place"], strict=True):
            # The right edge of the axes, at the height of the row.
            coordinates: Any = ("axes fraction", "data")
            ax.annotate(text, (1, place), (right, 0), xycoords=coordinates, va="center_baseline",
                        annotation_clip=False, **options)  # fmt: skip
        ax.annotate(head, (1, 1), (right, 1), xycoords="axes fraction", va="bottom", style="italic",
                    **options)  # fmt: skip


def printed_p(p_value: float) -> str:
    """A p-value as journals print it, with up to three decimals.

    >>> [printed_p(p_value) for p_value in (0.0347, 0.00045, 0.9996, float("nan"))]
    ['0.035', '< 0.001', '> 0.999', 'undefined']
    """
    if np.isnan(p_value):
        return "undefined"
    if p_value < 0.001:
        return "< 0.001"
    return "> 0.999" if p_value > 0.999 else f"{p_value:.3f}"


def _draw_other(ax: Axes, rows: pd.DataFrame, name: str, other: pd.DataFrame) -> str:
    """Mark the differences of other comparisons in the rows of the same systems; return a line for the small print."""
    require_columns(other, ["metric", "system", "baseline", "difference", "n_pairs"], "plot")
    conditions = [column for column in DIMENSIONS if column in rows and column in other]
    # The metric and the system are dimensions, too.
    keys = list(dict.fromkeys(["metric", "system", "baseline", *conditions]))
    values = other[[*keys, "difference", "n_pairs"]]
    matches = rows[[*keys, "place"]].merge(values, on=keys, how="left").dropna(subset="difference")
    if matches.empty:
        raise InputError(f"reference={name!r} has no comparison of the same systems")
    ax.plot(matches["difference"], matches["place"], "|", color=_OTHER, ms=9, mew=2, zorder=2.5)
    return f"orange bars: {name}, n = {span(matches['n_pairs'])}"


def _difference(rows: pd.DataFrame, pairs: list[str], names: Mapping[Any, str] | None) -> str:
    """What is subtracted from what, as far as it is the same in all rows."""
    if len(set(pairs)) == 1:
        return f"difference {pairs[0]}"
    if rows["baseline"].nunique() == 1:
        return f"difference from {words_for(rows['baseline'].iloc[0], names, column='system')}"
    return "difference first\N{NO-BREAK SPACE}−\N{NO-BREAK SPACE}second"


def _pair(row: Mapping[Any, Any], names: Mapping[Any, str] | None) -> str:
    """The two systems of a difference, as one is subtracted from the other."""
    system = words_for(row["system"], names, column="system")
    return f"{system} − {words_for(row['baseline'], names, column='system')}"


def _row_names(
    rows: pd.DataFrame,
    pairs: list[str],
    names: Mapping[Any, str] | None,
    headings: str | None = None,
) -> list[str]:
    """Name each row by what differs between the rows: metric, conditions, pair of systems."""
    dimensions = [name for name in DIMENSIONS if name in rows and name != "system"]
    # Columns before the metric are conditions, also those whose names ragnb does not know.
    conditions = rows.columns[: rows.columns.get_loc("metric")]
    columns = [*dimensions, *(name for name in conditions if name not in dimensions)]
    different = [name for name in columns if rows[name].nunique(dropna=False) > 1]
    different = [name for name in different if name != headings]
    has_one_baseline = rows["baseline"].nunique() == 1
    labels = []
    for pair, row in zip(pairs, rows.to_dict("records"), strict=True):
        words = [words_for(row[name], names, column=name) for name in different]
        if has_one_baseline and len(set(pairs)) > 1:
            # The axis names the baseline.
            words.append(words_for(row["system"], names, column="system"))
        elif len(set(pairs)) > 1 or not different:
            words.append(pair)
        labels.append(textwrap.fill(", ".join(words), _ROW_NAME))
    return labels


def is_corrected(comparisons: pd.DataFrame) -> bool:
    """Whether differences are those of people's labels, with the metrics as judges."""
    return "labels_alone" in comparisons


def _axis_name(rows: pd.DataFrame, pairs: list[str], names: Mapping[Any, str] | None) -> str:
    """The quantity, if there is only one, and what is subtracted from what."""
    difference = _difference(rows, pairs, names)
    metrics = list(dict.fromkeys(rows["metric"]))
    quantity = words_for(metrics[0], names, column="metric") if len(metrics) == 1 else ""
    if is_corrected(rows):
        # The metrics are then judges, and not what is compared.
        quantity = "people's labels"
    return f"{quantity} ({difference})" if quantity else difference


def _small_print(rows: pd.DataFrame, *, has_headings: bool = False) -> str:
    """The kinds of intervals, n, the test with its correction, and what the filling and the band mean."""
    first = rows.iloc[0]
    correction = str(first["correction"]).title()
    level = f"{1 - first['confidence_level']:.2g}"
    family = span(rows["family_size"]) + (" of each heading" if has_headings else "")
    lines = [
        f"{kinds_of(rows)}, n = {span(rows['n_pairs'])}",
        f"p: {distinct(rows['test'])}, {correction} over {family}; filled: p < {level}",
    ]
    if is_corrected(rows):
        lines.append(f"estimated with each metric and labels of {span(rows['n_labels'])} questions")
    elif np.isfinite(rows["mde"]).any():
        lines.append(f"grey band: too small to be detected with {100 * first['power']:.3g} % power")
    return "\n".join(lines)
