"""Display of results: HTML tables in a notebook, and aligned text everywhere else."""

import math
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ragnb.cells import is_missing
from ragnb.columns import CONDITION
from ragnb.markup import Markup, tag
from ragnb.numbers import limits, number, one_line, percent, short_p, text_width
from ragnb.replies import count_reasons

MISSING = "–"
# Number of characters of a text that a cell of HTML shows; text shows pandas' ``max_colwidth``.
LONGEST = 300
# Words for names of columns that are more than their underscores replaced.
_HEADINGS = {
    "n_pairs": "pairs",
    "n_scored": "scored",
    "n_units": "units",
    "p_value": "p",
    "p_adjusted": "adjusted p",
    "mde": "detectable",
    "effect_name": "kind of effect",
    "interval": "kind of interval",
}
_FOLDED = ("signature", "statistic", "duality", "why")
# Columns whose texts are repeated below the table, each once, and how these lines begin.
_REMARKS = {"warning": "Warning", "problem": "No interval", "not_reported": "Not reported"}
# Columns that become a line below the table if they have one value.
_METHOD = (
    "interval confidence_level test correction family_size effect_name power n_clusters n_dropped"
).split()
# Number of columns from which all that have one value become a line below the table.
_WIDE = 8
# Columns that are never in that line, because a table without its numbers is not one.
_ALWAYS = "count mean estimate value difference low high n n_scored n_pairs".split()
# Columns with the same number of decimals as the limits beside them.
_LIKE_LIMITS = "mean baseline_mean std mde random".split()
# Columns that are left out late if a line of text is too long: first these counts, then the keys, and
# the estimates with their intervals last.
_COUNTS = "n n_pairs".split()
_KEYS = "metric measure system definition judge pair group baseline unscored value reason p_adjusted".split()
# Lengths to which texts are cut if a line is too long.
_WIDTHS_OF_TEXT = (24, 12)
# Decimals of the metrics for which two are too many or too few.
DECIMALS = {"cost.translation_tokens": 1, "cost.cnbe": 5}
_STYLE = Markup("""<style>
.ragnb-table{overflow-x:auto;max-width:100%;font-size:13px;line-height:1.45;overflow-wrap:break-word}
.ragnb-table p{margin:.4em 0}
.ragnb-table p b{display:inline-block;margin-top:.6em}
.ragnb-table table{margin:.4em 0;border:0;border-collapse:collapse;width:max-content;font-size:1em;
font-variant-numeric:tabular-nums}
.ragnb-table.ragnb-table tr :is(th,td){text-align:start;vertical-align:top;padding:.3em .8em;border:0;
max-width:28em;white-space:normal}
.ragnb-table.ragnb-table tr .n{text-align:end;white-space:nowrap}
.ragnb-table.ragnb-table tr .i{white-space:nowrap}
.ragnb-table thead tr th{vertical-align:bottom;border-bottom:1px solid}
.ragnb-table .i span{display:inline-block;width:7em;height:1em;margin-inline-end:.7em;vertical-align:-.15em;background:
linear-gradient(90deg,transparent calc(var(--m) - 1px),currentColor 0 calc(var(--m) + 1px),transparent 0),
linear-gradient(90deg,transparent var(--a),#2b8fd0 0 var(--b),transparent 0) 0/100% 50% no-repeat,
linear-gradient(90deg,transparent var(--z),#888 0 calc(var(--z) + 1px),transparent 0),
linear-gradient(#888,#888) 0/100% 1px no-repeat}
</style>""")


# ---- a frame that shows itself -------------------------------------------------------------------


class Results(pd.DataFrame):
    """A data frame that is displayed as a table for reading.

    It is an ordinary DataFrame in every other respect. A choice of its rows or columns, or a copy
    with more columns, is displayed in the same way. What is computed from it, such as a pivot
    table, is displayed by pandas, and so is ``pd.DataFrame(results)``.
    """

    @property
    def _constructor(self) -> Callable[..., pd.DataFrame]:
        columns = set(self.columns)

        def choice_or_plain(*arguments: Any, **options: Any) -> pd.DataFrame:
            """Return a frame with no other columns as `Results`, and any other frame as it is."""
            frame = pd.DataFrame(*arguments, **options)
            return Results(frame) if columns.issuperset(frame.columns) else frame

        return choice_or_plain

    def __repr__(self) -> str:
        if not self.columns.is_unique:
            return super().__repr__()
        return text_table(self, pd.get_option("display.width") or 80)

    def _repr_html_(self) -> str | None:
        if not self.columns.is_unique or not pd.get_option("display.notebook_repr_html"):
            return super()._repr_html_()
        return framed(*html_parts(self))


def shown(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame, with its ``attrs``, that is displayed as a table for reading."""
    return Results(frame).__finalize__(frame)


def framed(*parts: Markup) -> Markup:
    """Return tables and texts with the style of tables; a dollar sign starts no formula."""
    return tag("div", _STYLE, *parts, **{"class": "ragnb-table mathjax_ignore"})


# ---- what a table shows --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: names in the frame, heading in words, texts, and bars of intervals.

    If a line of text is too long, columns of a low rank are left out first.
    """

    names: str
    heading: str
    cells: list[str]
    numeric: bool
    rank: int
    bars: list[str] | None = None


class Drawing(NamedTuple):
    """What a table shows of a frame: columns, a line above them, lines below, and folded lines."""

    columns: list[Column]
    above: str
    below: list[str]
    folded: list[str]


def signature_note(frame: pd.DataFrame) -> str:
    """Signatures of a frame, with their languages together and their prompts without hashes.

    >>> parts = [f"metric:m|lang:{language}|prompt:ask:1:0123abcd" for language in ("de", "en")]
    >>> signature_note(pd.DataFrame({"signature": parts}))
    'Signatures: metric:m|lang:de,en. Prompts: ask:1.'
    """
    languages_by_definition: dict[str, set[str]] = {}
    prompts = set()
    # A cell contains several signatures if its value was computed from several metrics.
    signatures = {
        signature
        for cell in frame["signature"].dropna().unique()
        for signature in str(cell).split(" & ")
    }
    for signature in signatures:
        definition = re.sub(r"\|(lang|prompt):[^|]*", "", signature)
        languages = re.findall(r"\|lang:([^|]*)", signature)
        languages_by_definition.setdefault(definition, set()).update(languages)
        # The hash at the end of a prompt is of no use to a reader.
        prompts.update(re.findall(r"\|prompt:([^|]*?)(?=:[0-9a-f]{8}|\||$)", signature))
    listed = []
    for definition, known_languages in sorted(languages_by_definition.items()):
        if not definition:
            continue
        suffix = f"|lang:{','.join(sorted(known_languages))}" if known_languages else ""
        listed.append(definition + suffix)
    note = f"Signatures: {'; '.join(listed)}."
    if prompts:
        note += f" Prompts: {', '.join(sorted(prompts))}."
    return note


def drawing(frame: pd.DataFrame) -> Drawing:
    """Choose what a table shows of a frame."""
    # Each choice of a column would otherwise look whether the result is displayed as a table.
    frame = pd.DataFrame(frame)
    if not pd.api.types.is_integer_dtype(frame.index):
        frame = frame.reset_index(names=[name or "" for name in frame.index.names])
    hidden = _hidden_columns(frame)
    names = [name for name in frame if name not in (*hidden, *_REMARKS)]
    constant = _constant_columns(frame, names)
    n_rows = _number_of_rows(frame)
    below = []
    if n_rows < len(frame):
        below.append(f"First {n_rows} of {len(frame):,} rows.")
    if constant:
        values = [f"{name} = {_constant_text(name, frame[name].iloc[0])}" for name in constant]
        below.append(f"In every row: {', '.join(values)}.")
    for name, beginning in _REMARKS.items():
        if name not in frame:
            continue
        remarks = [text for text in frame[name].dropna().unique() if text]
        below += [f"{beginning}: {text}." for text in remarks]
        if not remarks:
            hidden.append(name)
    columns = [name for name in names if name not in constant]
    columns.sort(key=lambda name: name in _METHOD)  # how a value was computed comes last
    return Drawing(
        _columns(frame, columns, n_rows), _missing_values(frame), below, _folded(frame, hidden)
    )


def _hidden_columns(frame: pd.DataFrame) -> list[Any]:
    """The columns that are empty, or that only repeat others, or that few readers need."""
    hidden = [*_FOLDED]
    if {"n", "n_scored"} <= set(frame) and frame["n_scored"].equals(frame["n"]):
        hidden += ["n_scored", "worst_low", "worst_high"]  # they repeat n and the mean
    if len(frame):
        hidden += [name for name in frame if frame[name].isna().all()]
    return [name for name in frame if name in hidden]


def _constant_columns(frame: pd.DataFrame, names: list[Any]) -> list[Any]:
    """The columns that a line below the table replaces, because all of their values are equal."""
    is_long = len(frame) > 1 and not {"metric", "measure"}.isdisjoint(names)
    candidates = names if is_long and len(names) > _WIDE else _METHOD
    constant = []
    for name in names:
        if name in candidates and name not in _ALWAYS and frame[name].astype(str).nunique() == 1:
            constant.append(name)
    return constant


def _number_of_rows(frame: pd.DataFrame) -> int:
    """The number of rows that pandas' options allow."""
    most, few = pd.get_option("display.max_rows"), pd.get_option("display.min_rows")
    if most and len(frame) > most:
        return few or 10
    return len(frame)


def _missing_values(frame: pd.DataFrame) -> str:
    """A line that counts the values that are missing, with their reasons."""
    if not {"value", "reason"} <= set(frame) or not frame["value"].isna().any():
        return ""
    reasons = frame.loc[frame["value"].isna(), "reason"]
    return f"{len(reasons):,} of {len(frame):,} values are missing: {count_reasons(reasons)}."


def _folded(frame: pd.DataFrame, hidden: list[Any]) -> list[str]:
    """The lines that a reader may unfold: signatures, and the names of the hidden columns."""
    lines = []
    if "signature" in frame:
        lines.append(signature_note(frame))
    others = [str(name) for name in hidden if name != "signature"]
    if others:
        lines.append(f"Other columns: {', '.join(others)}.")
    return lines


def _constant_text(name: str, value: Any) -> str:
    return percent(value) if name in ("confidence_level", "power") else _text(value)


def _columns(frame: pd.DataFrame, names: list[Any], n_rows: int) -> list[Column]:
    """Columns of a table; limits and numbers of responses become one column each."""
    intervals = _intervals(frame, names)
    # Intervals of different metrics or measures have different units.
    unit = next((name for name in ("metric", "measure") if name in frame), None)
    units = frame[unit].astype(str) if unit else pd.Series("", frame.index)
    places: dict[str, pd.Series] = {}
    for low, (high, estimate) in intervals.items():
        places[low] = places[estimate] = units.map(decimals(frame[low], frame[high], units))
    if "low" in places:
        places = dict.fromkeys(_LIKE_LIMITS, places["low"]) | places
    main_estimate = intervals["low"][1] if "low" in intervals else None
    has_scored = "n" in names and "n_scored" in names
    # These become part of the column of the lower limit, or of n.
    joined = {high for high, _ in intervals.values()}
    if "n" in names:
        joined.add("n_scored")
    columns = []
    for name in names:
        if name in joined:
            continue
        if name in intervals:
            high, estimate = intervals[name]
            column = _interval_column(frame, n_rows, (name, high, estimate), units, places[name])
            rank = 3 if estimate == main_estimate else int(bool(estimate))
            columns.append(replace(column, rank=rank))
            continue
        if name == "n" and has_scored:
            counts = zip(frame["n_scored"].head(n_rows), frame["n"].head(n_rows), strict=True)
            texts = [f"{n_scored} of {n}" for n_scored, n in counts]
            columns.append(Column("n_scored, n", "scored", texts, True, 0))
            continue
        column = _plain_column(frame, n_rows, name, places.get(name))
        estimates = {estimate for _, estimate in intervals.values()}
        rank = int(name in _COUNTS or name in estimates)
        if name in _KEYS:
            rank = 2
        if name == main_estimate:
            rank = 3
        columns.append(replace(column, rank=rank))
    return columns


def _interval_column(
    frame: pd.DataFrame,
    n_rows: int,
    names: tuple[str, str, str],
    units: pd.Series,
    places: pd.Series,
) -> Column:
    """One column for both limits of an interval, with bars if the estimate is in the frame."""
    low, high, estimate = names
    level = next(iter(frame.get("confidence_level", ())), 0)
    heading = f"{percent(level)} interval" if level else "interval"
    if low == "worst_low":
        heading = "worst case"
    texts = []
    limits_and_places = zip(frame[low].head(n_rows), frame[high], places, strict=False)
    for low_value, high_value, digits in limits_and_places:
        if np.isnan(low_value) and np.isnan(high_value):
            texts.append(MISSING)
        else:
            texts.append(limits(low_value, high_value, digits, signed=estimate == "difference"))
    # The axis of the bars belongs to the whole frame, and not only to the rows that are shown.
    bars = _bars(frame[[low, high, estimate]], units)[:n_rows] if estimate else None
    return Column(f"{low}, {high}", heading, texts, False, 0, bars)


def _plain_column(frame: pd.DataFrame, n_rows: int, name: Any, places: pd.Series | None) -> Column:
    """A column of numbers or texts."""
    values = frame[name].head(n_rows)
    heading = _HEADINGS.get(str(name), str(name).replace("_", " "))
    is_number = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
    is_float = pd.api.types.is_float_dtype(values)
    if is_float and str(name).startswith("p_"):
        texts = [MISSING if is_missing(value) else short_p(value) for value in values]
    elif name == "effect" and "effect_name" in frame:
        texts = [
            MISSING if is_missing(value) else f"{effect_kind(kind)} {number(value, 2)}"
            for value, kind in zip(values, frame["effect_name"], strict=False)
        ]
    elif places is not None:
        # A difference has a sign if its interval is in the frame.
        is_signed = name == "difference"
        pairs = zip(values, places, strict=False)
        texts = [_text(value, digits, is_signed) for value, digits in pairs]
    else:
        digits = _digits(frame[name]) if is_float else 3
        texts = [_text(value, digits) for value in values]
    return Column(str(name), heading, texts, is_number, 0)


def effect_kind(name: str) -> str:
    """The kind of an effect size in one or two words, as it stands before the number.

    >>> effect_kind("odds ratio of discordant items"), effect_kind("d_z of cluster means")
    ('odds ratio', 'd_z')
    """
    return name.partition(" of ")[0]


def _intervals(frame: pd.DataFrame, names: list[Any]) -> dict[str, tuple[str, str]]:
    """Upper limits and estimates by lower limits; an estimate is empty if there is none."""
    floats = [name for name in names if pd.api.types.is_float_dtype(frame[name])]
    intervals = {}
    for low in floats:
        high = re.sub(r"(^|_)low$", r"\1high", str(low))
        if high == low or high not in floats:
            continue
        candidates = [low.removesuffix("_low")]
        if low == "low":
            candidates = ["difference", "mean", names[names.index(low) - 1]]
        estimate = next((name for name in candidates if name in floats), "")
        intervals[low] = high, estimate
    return intervals


# Values below this share of an axis from 0 to 1 would be drawn as bars of no visible length.
SMALL = 0.1


def _bars(ends: pd.DataFrame, units: pd.Series) -> list[str]:
    """Style of the bar of each interval, in per cent of an axis that contains 0.

    The columns are low, high and estimate. Shares have the axis from 0 to 1. If there are values
    beyond 1, each metric has an axis. An axis ends at the largest value if all are small, because
    the bars would otherwise be too short to be seen.
    """
    values = ends.to_numpy(float, na_value=np.nan)
    are_shares = not (np.abs(values[np.isfinite(values)]) > 1).any()
    groups = np.zeros(len(values), int) if are_shares else pd.factorize(units)[0]
    # Low, high, estimate and zero of each interval, as positions on the axis from 0 to 1.
    shares = np.full((len(values), 4), np.nan)
    for group in np.unique(groups):
        is_member = groups == group
        members = values[is_member]
        finite = members[np.isfinite(members)]
        if not finite.size:
            continue
        start, stop = min(finite.min(), 0), max(finite.max(), 0)
        if start == 0 and SMALL < stop <= 1:
            stop = 1
        marks = np.column_stack([members, np.zeros(len(members))])
        # If all values are 0, the axis has no length, and there are no bars.
        with np.errstate(divide="ignore", invalid="ignore"):
            shares[is_member] = (marks - start) / (stop - start)
    # The mark of 0 stays inside the cell also if it is at the end of the axis.
    positions = (100 * shares.clip(0, [1, 1, 1, 0.99])).round()
    styles = []
    for row in positions:
        if np.isnan(row).any():
            styles.append("")
            continue
        # The variables of the style sheet: low (a), high (b), estimate (m) and zero (z).
        variables = [f"--{name}:{value:.0f}%" for name, value in zip("abmz", row, strict=True)]
        styles.append(";".join(variables))
    return styles


def _text(value: Any, digits: int = 3, signed: bool = False) -> str:
    if is_missing(value):
        return MISSING
    return number(value, digits, signed) if isinstance(value, float) else str(value)


def _digits(values: pd.Series) -> int:
    """Number of decimals that numbers need, at most 3, or more if all are small."""
    finite = values[np.isfinite(values)].astype(float)
    for digits in range(3):
        if np.allclose(finite, finite.round(digits), rtol=0, atol=1e-9):
            return digits
    largest = finite.abs().max()
    return 3 if largest >= 0.01 else 2 - math.floor(math.log10(largest))


# ---- HTML and text -------------------------------------------------------------------------------


def html_parts(frame: pd.DataFrame) -> list[Markup]:
    """HTML of a frame: the table, a line above it, notes below, and signatures folded."""
    columns, above, below, folded = drawing(frame)
    heads, cells_by_column = [], []
    for column in columns:
        attributes = {"dir": "auto"}
        if column.numeric:
            attributes = {"class": "n"}
        elif column.bars:
            attributes = {"class": "i"}
        heads.append(tag("th", column.heading, title=column.names, **attributes))
        cells = []
        bars = column.bars or [""] * len(column.cells)
        for text, bar in zip(column.cells, bars, strict=True):
            content: list[Any] = [tag("span", style=bar)] if bar else []
            content.append(text if len(text) <= LONGEST else f"{text[:LONGEST]} …")
            cells.append(tag("td", *content, **attributes))
        cells_by_column.append(cells)
    lines = [tag("tr", *line) for line in zip(*cells_by_column, strict=True)]
    table = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *lines))
    parts = [tag("p", above), table] if above else [table]
    if below:
        parts.append(tag("p", tag("small", " ".join(below))))
    if folded:
        summary = tag("summary", tag("small", "Definitions"))
        parts.append(tag("details", summary, tag("small", " ".join(folded))))
    return parts


def text_table(frame: pd.DataFrame, width: int | None = None) -> str:
    """Aligned text of a frame, with the notes below; the header consists of names of columns.

    If the lines are wider than the width, texts are cut (but not short ones in the first column), and
    then columns are left out and named. Before a column that names the rows is left out, texts are
    cut once more.
    """
    columns, above, below, _ = drawing(frame)
    room = width or 10**6
    longest = pd.get_option("display.max_colwidth") or 10**6
    lines = {column.names: _lines(column, longest) for column in columns}
    # Names of rows stay whole if they are not sentences, and so do numbers and intervals.
    first_is_short = bool(columns) and len(lines[columns[0].names][0]) <= 40
    texts = columns[1:] if first_is_short else columns
    texts = [column for column in texts if not column.numeric and not is_interval(column)]
    # The first column is never left out. Of the others, the last ones of the lowest rank go first.
    columns = _with_ranks_of_names(columns)
    removable = sorted(columns[:0:-1], key=lambda column: column.rank)
    for ranks, size in zip(((0, 1), (2, 3)), _WIDTHS_OF_TEXT, strict=True):
        if _total(lines) > room:
            for column in texts:
                if column.names in lines:
                    lines[column.names] = _lines(column, min(longest, size))
        for column in removable:
            if column.rank in ranks and _total(lines) > room:
                del lines[column.names]
    missing = [column.names for column in columns if column.names not in lines]
    if missing:
        below.append(f"Not shown: {', '.join(missing)}.")
    printed = [one_line(above)] if above else []
    printed += ["  ".join(cells).rstrip() for cells in zip(*lines.values(), strict=True)]
    printed += [textwrap.fill(one_line(note), room) for note in below]
    return "\n".join(printed)


def _with_ranks_of_names(columns: list[Column]) -> list[Column]:
    """Give columns without which several rows would have the same name the rank of a name."""
    name_of_row = [""] * len(columns[0].cells) if columns else []
    ranked: dict[str, Column] = {}
    # Columns that are names anyway come first, so that no other column is needed where they suffice.
    for column in sorted(columns, key=lambda column: column is not columns[0] and column.rank < 2):
        is_name = not (column.numeric or is_interval(column)) or column.names in CONDITION
        if is_name:
            longer = [
                f"{name}\n{cell}" for name, cell in zip(name_of_row, column.cells, strict=True)
            ]
            if len(set(longer)) > len(set(name_of_row)):
                name_of_row = longer
                column = replace(column, rank=max(column.rank, 2))
        ranked[column.names] = column
    return [ranked[column.names] for column in columns]


def is_interval(column: Column) -> bool:
    """Whether a column contains intervals; its names are then those of both limits."""
    low, _, high = column.names.partition(", ")
    return low.endswith("low") and high.endswith("high")


def _total(columns: Mapping[str, list[str]]) -> int:
    return sum(text_width(cells[0]) + 2 for cells in columns.values()) - 2


def _lines(column: Column, longest: int) -> list[str]:
    """The name and the cells of a column, all of the same width."""
    name = "[low, high]" if is_interval(column) else column.names
    texts = []
    for cell in (name, *column.cells):
        text = one_line(cell)
        texts.append(text if len(text) <= longest else f"{text[: longest - 1]}…")
    width = max(map(text_width, texts))
    lines = []
    for text in texts:
        gap = " " * (width - text_width(text))
        lines.append(gap + text if column.numeric else text + gap)
    return lines


def decimals(low: pd.Series, high: pd.Series, metrics: pd.Series) -> dict[str, int]:
    """Choose the number of decimals of the intervals of each metric.

    By default it is that of the metric. If half the width of its widest interval is smaller than
    one unit of the last decimal, this half is printed with two significant digits.

    >>> low, high = pd.Series([0.1, 0.2, 0.0373]), pd.Series([0.3, 0.2, 0.0427])
    >>> decimals(low, high, pd.Series(["a", "a", "b"]))
    {'a': 2, 'b': 4}
    """
    halves = ((high - low) / 2).where(lambda half: half < math.inf)
    places_by_metric = {}
    for metric, widest in halves.groupby(metrics, sort=False).max().items():
        places = DECIMALS.get(str(metric), 2)
        if 0 < widest < 10**-places:
            places = 1 - math.floor(math.log10(widest))
        places_by_metric[str(metric)] = places
    return places_by_metric
