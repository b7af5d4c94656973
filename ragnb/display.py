"""Display of results: HTML tables in a notebook, and aligned text everywhere else."""

import math
import re
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ragnb.markup import Markup, escape, spelled, tag
from ragnb.records import count_reasons, is_missing
from ragnb.results import format_p_value

DECIMALS = {"cost.translation_tokens": 1, "cost.cnbe": 5}
"""Decimals of the metrics for which two are too many or too few."""
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
_SAID = ("warning", "problem")
"""Columns whose texts are repeated below the table, each once."""
_SAME = (
    "interval confidence_level test correction family_size effect_name power n_clusters n_dropped"
).split()
"""Columns that become a line below the table if they have one value."""
_WIDE = 8
"""Number of columns from which all that have one value become a line below the table."""
_LIKE = "mean baseline_mean std mde random".split()
"""Columns with the same number of decimals as the limits beside them."""
_KEYS = "metric measure system definition judge pair group baseline unscored value reason p_adjusted".split()
_COUNTS = "n n_pairs".split()
"""Columns that are left out last if a line of text is too long: keys, then estimates, then these."""
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
            alone = len(given) == 1 and not options and type(given[0]) is pd.DataFrame
            frame = given[0] if alone else pd.DataFrame(*given, **options)
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


# ---- numbers -------------------------------------------------------------------------------------


def number(value: float, digits: int = 3, signed: bool = False) -> str:
    """Format a number, without a sign if it is printed as zero."""
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    text = f"{value:{'+' if signed else ''}.{digits}f}"
    return text.lstrip("+-") if float(text) == 0 else text


def limits(low: float, high: float, digits: int = 3, signed: bool = False) -> str:
    """Format an interval: ``[0.10, 0.30]``."""
    return f"[{number(low, digits, signed)}, {number(high, digits, signed)}]"


def short_p(p_value: float) -> str:
    """Format a p-value without its name: ``0.0347`` or ``< 1e-12``."""
    return format_p_value(p_value).removeprefix("p ").removeprefix("= ")


def distinct(values: Iterable[Any], between: str = " / ") -> str:
    """Join values in the order of their first appearance, each once."""
    return between.join(dict.fromkeys(map(str, values)))


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


# ---- what a table shows --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of a table: names in the frame, heading in words, texts, and bars of intervals."""

    names: str
    heading: str
    cells: list[str]
    numeric: bool = True
    bars: list[str] | None = None
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class _Drawing:
    """Columns with a line above them and lines below, and what is folded."""

    columns: list[_Column]
    above: str
    below: list[str]
    folded: list[str]


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


def _drawing(frame: pd.DataFrame) -> _Drawing:
    """Choose what a table shows of a frame."""
    if not pd.api.types.is_integer_dtype(frame.index):
        frame = frame.reset_index(names=[name or "" for name in frame.index.names])
    folds = list(_FOLDED)
    if {"n", "n_scored"} <= set(frame) and frame["n_scored"].equals(frame["n"]):
        folds += ["n_scored", "worst_low", "worst_high"]  # they repeat n and the mean
    empty = [name for name in frame if len(frame) and frame[name].isna().all()]
    hidden = [name for name in frame if name in (*folds, *empty)]
    names = [name for name in frame if name not in (*hidden, *_SAID)]
    long = len(names) > _WIDE and not {"metric", "measure"}.isdisjoint(names)
    same = [name for name in names if name in _SAME or (long and len(frame) > 1)]
    pair = {"n", "n_scored"}  # shown together, as "9 of 10"
    same = [name for name in same if not (name in pair <= set(names))]
    same = [name for name in same if frame[name].astype(str).nunique() == 1]
    most, few = pd.get_option("display.max_rows"), pd.get_option("display.min_rows")
    n_rows = few or 10 if most and len(frame) > most else len(frame)
    below = [f"First {n_rows} of {len(frame):,} rows."] if n_rows < len(frame) else []
    repeated = [f"{name} = {_once(name, frame[name].iloc[0])}" for name in same]
    below += [f"In every row: {', '.join(repeated)}."] if repeated else []
    for name in [name for name in _SAID if name in frame]:
        said = [text for text in frame[name].dropna().unique() if text]
        below += [f"{name.capitalize()}: {text}." for text in said]
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
    columns = _columns(frame, drawn, n_rows)
    return _Drawing(list(columns), above, below, folded)


def _once(name: str, value: Any) -> str:
    return f"{value:.0%}" if name in ("confidence_level", "power") else _text(value)


def _columns(frame: pd.DataFrame, names: list[Any], n_rows: int) -> Iterator[_Column]:
    """Columns of a table; limits and numbers of responses become one column each."""
    head = frame.head(n_rows)
    ends = {low: high for low in names if (high := _high_of(low, names, frame))}
    estimates = {_estimate_of(low, names, frame): low for low in ends}
    for name in names:
        cells = head[name]
        if name in ends.values() or (name == "n_scored" and "n" in names):
            continue
        if name in ends:
            estimate = next((one for one, low in estimates.items() if low == name), None)
            yield _interval(frame, name, ends[name], estimate, n_rows)
        elif name in estimates or ("low" in ends and name in _LIKE):
            low = estimates.get(name, "low")
            places = _places(frame, low, ends[low])
            signed = name == "difference"
            texts = [_text(v, k, signed) for v, k in zip(cells, places, strict=False)]
            yield _Column(name, _heading(name), texts, estimated=name in estimates)
        elif name == "n" and "n_scored" in names:
            pairs = zip(head["n_scored"], cells, strict=True)
            yield _Column("n_scored, n", "scored", [f"{k} of {n}" for k, n in pairs])
        elif str(name).startswith("p_") and pd.api.types.is_float_dtype(cells):
            texts = [MISSING if is_missing(value) else short_p(value) for value in cells]
            yield _Column(name, _heading(name), texts)
        else:
            kind = frame[name].dtype
            digits = _digits(frame[name]) if pd.api.types.is_float_dtype(kind) else 3
            numeric = pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind)
            texts = [_text(value, digits) for value in cells]
            yield _Column(str(name), _heading(name), texts, numeric)


def _high_of(low: Any, names: list[Any], frame: pd.DataFrame) -> str:
    """Name of the upper limits that belong to lower limits; empty if a column has no limits."""
    high = re.sub(r"(^|_)low$", r"\1high", str(low))
    if high == low or high not in names:
        return ""
    return high if all(pd.api.types.is_float_dtype(frame[end]) for end in (low, high)) else ""


def _estimate_of(low: str, names: list[Any], frame: pd.DataFrame) -> str:
    """Name of the estimates with these lower limits; empty if there are none."""
    if low != "low":
        found = low.removesuffix("_low")
    else:
        known = [name for name in ("difference", "mean") if name in names]
        found = known[0] if known else names[names.index(low) - 1]
    return found if found in names and pd.api.types.is_float_dtype(frame[found]) else ""


def _interval(frame: pd.DataFrame, low: str, high: str, estimate: Any, n_rows: int) -> _Column:
    places, signed = _places(frame, low, high), estimate == "difference"
    ends = zip(frame[low], frame[high], places, strict=True)
    texts = [MISSING if a != a and b != b else limits(a, b, k, signed) for a, b, k in ends]
    level = frame["confidence_level"].iloc[0] if len(frame.get("confidence_level", [])) else 0
    heading = f"{level:.0%} interval" if level else "interval"
    heading = "worst case" if low == "worst_low" else heading
    bars = _bars(frame, low, high, estimate)[:n_rows] if estimate else None
    return _Column(f"{low}, {high}", heading, texts[:n_rows], False, bars, bool(estimate))


def _grouped(frame: pd.DataFrame) -> pd.Series:
    """The metric or measure of each row: intervals of different ones have different units."""
    name = next((name for name in ("metric", "measure") if name in frame), None)
    return frame[name] if name else pd.Series("", index=frame.index)


def _places(frame: pd.DataFrame, low: str, high: str) -> list[int]:
    """Number of decimals of the interval of each row."""
    groups = _grouped(frame).astype(str)
    places = decimals(frame[low], frame[high], groups)
    return [places[name] for name in groups]


def _bars(frame: pd.DataFrame, low: str, high: str, estimate: str) -> list[str]:
    """Style of the bar of each interval, in per cent of an axis that contains 0.

    Shares have the axis from 0 to 1. Values beyond 1 have an axis for each metric.
    """
    values = frame[[low, high, estimate]].to_numpy(float)
    finite = np.where(np.isfinite(values), values, math.nan)
    alike = np.fmax.reduce(np.abs(finite), axis=None, initial=0) <= 1
    groups = np.zeros(len(frame)) if alike else pd.factorize(_grouped(frame))[0]
    bars = [""] * len(frame)
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        start, stop = (end.reduce(finite[rows], axis=None, initial=0) for end in (np.fmin, np.fmax))
        stop = 1 if start == 0 and stop <= 1 else stop
        for row in rows[~np.isnan(values[rows]).any(axis=1)]:
            shares = (np.append(values[row], 0) - start) / (stop - start)
            places = np.round(100 * np.clip(shares, 0, [1, 1, 1, 0.99])).astype(int)
            bars[row] = ";".join(f"--{k}:{v}%" for k, v in zip("abmz", places, strict=True))
    return bars


def _heading(name: Any) -> str:
    return _HEADINGS.get(str(name), str(name).replace("_", " "))


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


def html_table(frame: pd.DataFrame, cell: Callable[[Any], str] = escape) -> Markup:
    """HTML of a frame without its index, with a function that makes HTML of each value.

    >>> html_table(pd.DataFrame({"a & b": ["<"]})).replace("\\n", "").replace(" ", "")[:55]
    '<table><thead><tr><th>a&amp;b</th></tr></thead><tbody><'
    """
    styler = frame.style.hide(axis="index").format(cell).format_index(escape, axis=1)
    return Markup(styler.to_html(exclude_styles=True))


def html_parts(frame: pd.DataFrame) -> list[Markup]:
    """HTML of a frame: the table, a line above it, notes below, and signatures folded."""
    drawing = _drawing(frame)
    columns = drawing.columns
    heads = [tag("th", one.heading, title=one.names, **_kind(one)) for one in columns]
    lines = zip(
        *(map(partial(_html_cell, one), range(len(one.cells))) for one in columns), strict=True
    )
    table = tag(
        "table",
        tag("thead", tag("tr", *heads)),
        tag("tbody", *(tag("tr", *cells) for cells in lines)),
    )
    parts = [tag("p", drawing.above)] if drawing.above else []
    parts.append(table)
    if drawing.below:
        parts.append(tag("p", tag("small", " ".join(drawing.below))))
    if drawing.folded:
        folded = tag("small", " ".join(drawing.folded))
        parts.append(tag("details", tag("summary", tag("small", "Definitions")), folded))
    return parts


def _kind(column: _Column) -> dict[str, str]:
    """Attributes of a cell."""
    if column.numeric:
        return {"class": "n"}
    return {"class": "i"} if column.bars else {"dir": "auto"}


def _html_cell(column: _Column, row: int) -> Markup:
    text = column.cells[row]
    text = text if len(text) <= LONGEST else f"{text[:LONGEST]} …"
    bar = column.bars and column.bars[row]
    return tag("td", *([tag("span", style=bar)] if bar else []), text, **_kind(column))


def text_table(frame: pd.DataFrame, width: int | None = None) -> str:
    """Aligned text of a frame, with the notes below; the header consists of names of columns.

    If the lines are wider than the width, texts are cut (but not short ones in the first column), and
    then columns are left out and named.
    """
    drawing = _drawing(frame)
    longest = pd.get_option("display.max_colwidth") or 10**6
    columns = {one.names: _lines(one, longest) for one in drawing.columns}
    if width and _total(columns) > width:
        # Names of rows stay whole if they are not sentences.
        first = drawing.columns[0]
        name = max(map(len, _lines(first, longest)))
        columns |= {
            one.names: _lines(one, min(longest, 24))
            for one in drawing.columns
            if one is not first or name > 40
        }
    dropped = drawing.columns[:0:-1]
    dropped.sort(key=_importance)
    left_out: list[str] = []
    while width and dropped and _total(columns) > width:
        left_out.append(dropped.pop(0).names)
        del columns[left_out[-1]]
    lines = ["  ".join(cells).rstrip() for cells in zip(*columns.values(), strict=True)]
    missing = [one.names for one in drawing.columns if one.names in left_out]
    notes = [*drawing.below, *([f"Not shown: {', '.join(missing)}."] if missing else [])]
    wrapped = [textwrap.fill(one_line(note), width or 10**6) for note in notes]
    return "\n".join([*([one_line(drawing.above)] if drawing.above else []), *lines, *wrapped])


def _importance(column: _Column) -> int:
    return 3 if column.names in _KEYS else 2 if column.estimated else int(column.names in _COUNTS)


def _total(columns: Mapping[str, list[str]]) -> int:
    return sum(text_width(cells[0]) + 2 for cells in columns.values()) - 2


def _lines(column: _Column, longest: int) -> list[str]:
    """The name and the cells of a column, all of the same width."""
    name = "[low, high]" if column.names.endswith("high") else column.names
    cells = [one_line(cell) for cell in (name, *column.cells)]
    cut = [cell if len(cell) <= longest else f"{cell[: longest - 1]}…" for cell in cells]
    size = max(map(text_width, cut))
    return [_aligned(cell, size, column.numeric) for cell in cut]


def _aligned(text: str, size: int, right: bool) -> str:
    room = " " * (size - text_width(text))
    return room + text if right else text + room


def one_line(text: Any) -> str:
    """Return a text in one line, with hidden characters spelled out."""
    return " ".join(spelled(text).split())


def text_width(text: str) -> int:
    """Width in a terminal: two for a wide character, none for a mark on the one before."""
    seen = [c for c in text if unicodedata.category(c) not in ("Mn", "Me", "Cf")]
    return len(seen) + sum(unicodedata.east_asian_width(c) in "WF" for c in seen)
