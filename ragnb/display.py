"""Display of results: HTML tables in a notebook, and aligned text everywhere else."""

import math
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ragnb.cells import is_missing
from ragnb.markup import Markup, tag
from ragnb.numbers import limits, number, one_line, percent, short_p, text_width
from ragnb.replies import count_reasons

MISSING = "–"
LONGEST = 300
"""Number of characters of a text that a cell of HTML shows; text shows pandas' ``max_colwidth``."""
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
"""Words for names of columns that are more than their underscores replaced."""
_FOLDED = ("signature", "statistic", "duality", "why")
_SAID = {"warning": "Warning", "problem": "No interval", "not_reported": "Not reported"}
"""Columns whose texts are repeated below the table, each once, and what they begin with."""
_SAME = (
    "interval confidence_level test correction family_size effect_name power n_clusters n_dropped"
).split()
"""Columns that become a line below the table if they have one value."""
_WIDE = 8
"""Number of columns from which all that have one value become a line below the table."""
_ALWAYS = "count mean estimate value difference low high n n_scored n_pairs".split()
"""Columns that are never in that line, because a table without its numbers is not one."""
_LIKE = "mean baseline_mean std mde random".split()
"""Columns with the same number of decimals as the limits beside them."""
_KEYS = "metric measure system definition judge pair group baseline unscored value reason p_adjusted".split()
_COUNTS = "n n_pairs".split()
"""Columns that are left out late if a line of text is too long: these counts, then the keys, and the
estimates with their intervals last."""
_WIDTHS_OF_TEXT = (24, 12)
"""Lengths to which texts are cut if a line is too long."""
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

        def made(*given: Any, **options: Any) -> pd.DataFrame:
            frame = pd.DataFrame(*given, **options)
            return Results(frame) if columns.issuperset(frame.columns) else frame

        return made

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


def signature_note(frame: pd.DataFrame) -> str:
    """Signatures of a frame, with their languages together and their prompts without hashes.

    >>> parts = [f"metric:m|lang:{language}|prompt:ask:1:0123abcd" for language in ("de", "en")]
    >>> signature_note(pd.DataFrame({"signature": parts}))
    'Signatures: metric:m|lang:de,en. Prompts: ask:1.'
    """
    languages: dict[str, set[str]] = {}
    prompts = set()
    joined = frame["signature"].dropna().unique()
    for signature in {part for text in joined for part in str(text).split(" & ")}:
        definition = re.sub(r"\|(lang|prompt):[^|]*", "", signature)
        languages.setdefault(definition, set()).update(re.findall(r"\|lang:([^|]*)", signature))
        prompts.update(re.findall(r"\|prompt:([^|]*?)(?=:[0-9a-f]{8}|\||$)", signature))
    listed = "; ".join(
        f"{definition}|lang:{','.join(sorted(found))}" if found else definition
        for definition, found in sorted(languages.items())
        if definition
    )
    return f"Signatures: {listed}." + (
        f" Prompts: {', '.join(sorted(prompts))}." if prompts else ""
    )


def drawing(frame: pd.DataFrame) -> tuple[list[Column], str, list[str], list[str]]:
    """Choose the columns that a table shows of a frame, a line above them, and lines below and folded."""
    if not pd.api.types.is_integer_dtype(frame.index):
        frame = frame.reset_index(names=[name or "" for name in frame.index.names])
    folds = [*_FOLDED]
    if {"n", "n_scored"} <= set(frame) and frame["n_scored"].equals(frame["n"]):
        folds += ["n_scored", "worst_low", "worst_high"]  # they repeat n and the mean
    empty = [name for name in frame if len(frame) and frame[name].isna().all()]
    hidden = [name for name in frame if name in (*folds, *empty)]
    names = [name for name in frame if name not in (*hidden, *_SAID)]
    is_long = len(names) > _WIDE and len(frame) > 1 and {"metric", "measure"} & {*names}
    repeated = {*(names if is_long else _SAME)} - {*_ALWAYS}
    same = [name for name in names if name in repeated and frame[name].astype(str).nunique() == 1]
    most, few = pd.get_option("display.max_rows"), pd.get_option("display.min_rows")
    n_rows = few or 10 if most and len(frame) > most else len(frame)
    below = [f"First {n_rows} of {len(frame):,} rows."] if n_rows < len(frame) else []
    if same:
        values = ", ".join(f"{name} = {_once(name, frame[name].iloc[0])}" for name in same)
        below.append(f"In every row: {values}.")
    for name in [name for name in _SAID if name in frame]:
        said = [text for text in frame[name].dropna().unique() if text]
        below += [f"{_SAID[name]}: {text}." for text in said]
        hidden += [] if said else [name]
    folded = [signature_note(frame)] if "signature" in frame else []
    others = [str(name) for name in hidden if name != "signature"]
    folded += [f"Other columns: {', '.join(others)}."] if others else []
    above = ""
    if {"value", "reason"} <= set(frame) and frame["value"].isna().any():
        lost = frame.loc[frame["value"].isna(), "reason"]
        above = f"{len(lost):,} of {len(frame):,} values are missing: {count_reasons(lost)}."
    drawn = [name for name in names if name not in same]
    drawn.sort(key=lambda name: name in _SAME)  # how it was computed comes last
    return _columns(frame, drawn, n_rows), above, below, folded


def _once(name: str, value: Any) -> str:
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
        places = dict.fromkeys(_LIKE, places["low"]) | places
    joined = [high for high, _ in intervals.values()] + ["n_scored"] * ("n" in names)
    estimates = {estimate for _, estimate in intervals.values()}
    main = intervals["low"][1] if "low" in intervals else None
    head = frame.head(n_rows)
    columns = []
    for name in [name for name in names if name not in joined]:
        values = head[name]
        heading = _HEADINGS.get(str(name), str(name).replace("_", " "))
        rank = 3 if name == main else 2 if name in _KEYS else int(name in {*_COUNTS, *estimates})
        if name in intervals:
            high, estimate = intervals[name]
            ends = zip(values, head[high], places[name], strict=False)
            signed = estimate == "difference"
            texts = [MISSING if a != a and b != b else limits(a, b, k, signed) for a, b, k in ends]
            level = next(iter(frame.get("confidence_level", ())), 0)
            heading = f"{percent(level)} interval" if level else "interval"
            heading = "worst case" if name == "worst_low" else heading
            bars = _bars(frame[[name, high, estimate]], units)[:n_rows] if estimate else None
            rank = 3 if estimate == main else int(bool(estimate))
            columns.append(Column(f"{name}, {high}", heading, texts, False, rank, bars))
            continue
        if name == "n" and "n_scored" in names:
            texts = [f"{k} of {n}" for k, n in zip(head["n_scored"], values, strict=True)]
            columns.append(Column("n_scored, n", "scored", texts, True, 0))
            continue
        is_number = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
        is_float = pd.api.types.is_float_dtype(values)
        if is_float and str(name).startswith("p_"):
            texts = [MISSING if is_missing(value) else short_p(value) for value in values]
        else:
            digits = [_digits(frame[name]) if is_float else 3] * len(values)
            signed = name == "difference" and name in places
            pairs = zip(values, places.get(name, digits), strict=False)
            texts = [_text(value, k, signed) for value, k in pairs]
        columns.append(Column(str(name), heading, texts, is_number, rank))
    return columns


def _intervals(frame: pd.DataFrame, names: list[Any]) -> dict[str, tuple[str, str]]:
    """Upper limits and estimates by lower limits; an estimate is empty if there is none."""
    floats = [name for name in names if pd.api.types.is_float_dtype(frame[name])]
    found = {}
    for low in floats:
        high = re.sub(r"(^|_)low$", r"\1high", str(low))
        if high != low and high in floats:
            known = [low.removesuffix("_low")]
            if low == "low":
                known = ["difference", "mean", names[names.index(low) - 1]]
            found[low] = high, next((name for name in known if name in floats), "")
    return found


def _bars(ends: pd.DataFrame, units: pd.Series) -> list[str]:
    """Style of the bar of each interval, in per cent of an axis that contains 0.

    The columns are low, high and estimate. Shares have the axis from 0 to 1. Values beyond 1 have
    an axis for each metric.
    """
    finite = ends.where(np.isfinite(ends))
    alike = not (finite.abs() > 1).any(axis=None)
    groups = pd.Series("", ends.index) if alike else units
    start = finite.min(axis=1).groupby(groups.to_numpy()).transform("min").clip(upper=0)
    stop = finite.max(axis=1).groupby(groups.to_numpy()).transform("max").clip(lower=0)
    stop = stop.mask((start == 0) & (stop <= 1), 1)
    shares = ends.assign(zero=0).sub(start, axis=0).div(stop - start, axis=0)
    places = (100 * shares.clip(0, [1, 1, 1, 0.99], axis=1)).round()
    return [
        ""
        if np.isnan(row).any()
        else ";".join(f"--{k}:{v:.0f}%" for k, v in zip("abmz", row, strict=True))
        for row in places.to_numpy()
    ]


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
    heads, cells = [], []
    for one in columns:
        kind = {"class": "n"} if one.numeric else {"class": "i"} if one.bars else {"dir": "auto"}
        heads.append(tag("th", one.heading, title=one.names, **kind))
        texts = [text if len(text) <= LONGEST else f"{text[:LONGEST]} …" for text in one.cells]
        bars = [[tag("span", style=bar)] if bar else [] for bar in one.bars or [""] * len(texts)]
        pairs = zip(bars, texts, strict=True)
        cells.append([tag("td", *bar, text, **kind) for bar, text in pairs])
    lines = [tag("tr", *line) for line in zip(*cells, strict=True)]
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
    columns, above, notes, _ = drawing(frame)
    room = width or 10**6
    longest = pd.get_option("display.max_colwidth") or 10**6
    lines = {one.names: _lines(one, longest) for one in columns}
    # Names of rows stay whole if they are not sentences, and so do numbers and intervals.
    cut = columns[1:] if columns and len(lines[columns[0].names][0]) <= 40 else columns
    cut = [one for one in cut if not one.numeric and not one.names.endswith("high")]
    for ranks, size in zip(((0, 1), (2, 3)), _WIDTHS_OF_TEXT, strict=True):
        if _total(lines) > room:
            shorter = {one.names: _lines(one, min(longest, size)) for one in cut}
            lines |= {name: shorter[name] for name in lines if name in shorter}
        for one in sorted(columns[:0:-1], key=lambda one: one.rank):
            if one.rank in ranks and _total(lines) > room:
                del lines[one.names]
    missing = [one.names for one in columns if one.names not in lines]
    notes += [f"Not shown: {', '.join(missing)}."] if missing else []
    return "\n".join(
        [
            *([one_line(above)] if above else []),
            *("  ".join(cells).rstrip() for cells in zip(*lines.values(), strict=True)),
            *(textwrap.fill(one_line(note), room) for note in notes),
        ]
    )


def _total(columns: Mapping[str, list[str]]) -> int:
    return sum(text_width(cells[0]) + 2 for cells in columns.values()) - 2


def _lines(column: Column, longest: int) -> list[str]:
    """The name and the cells of a column, all of the same width."""
    name = "[low, high]" if column.names.endswith("high") else column.names
    cells = [one_line(cell) for cell in (name, *column.cells)]
    cut = [cell if len(cell) <= longest else f"{cell[: longest - 1]}…" for cell in cells]
    size = max(map(text_width, cut))
    gaps = [" " * (size - text_width(cell)) for cell in cut]
    pairs = zip(gaps, cut, strict=True)
    return [gap + cell if column.numeric else cell + gap for gap, cell in pairs]


DECIMALS = {"cost.translation_tokens": 1, "cost.cnbe": 5}
"""Decimals of the metrics for which two are too many or too few."""


def decimals(low: pd.Series, high: pd.Series, metrics: pd.Series) -> dict[str, int]:
    """Choose the number of decimals of the intervals of each metric.

    By default it is that of the metric. If half the width of its widest interval is smaller than
    one unit of the last decimal, this half is printed with two significant digits.

    >>> low, high = pd.Series([0.1, 0.2, 0.0373]), pd.Series([0.3, 0.2, 0.0427])
    >>> decimals(low, high, pd.Series(["a", "a", "b"]))
    {'a': 2, 'b': 4}
    """
    halves = ((high - low) / 2).where(lambda half: half < math.inf)
    found = {}
    for metric, widest in halves.groupby(metrics, sort=False).max().items():
        places = DECIMALS.get(str(metric), 2)
        if 0 < widest < 10**-places:
            places = 1 - math.floor(math.log10(widest))
        found[str(metric)] = places
    return found
