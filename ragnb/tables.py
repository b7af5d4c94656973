"""Tables for papers, web pages and terminals: LaTeX (booktabs), HTML, Markdown, text and JSON.

A frame of `ragnb.summarize` becomes systems by conditions, with the best mean of each column in
bold. A frame of `ragnb.compare` becomes a list of differences. Any other frame, such as some columns
of a report, is listed as it is displayed. Intervals, n, tests, corrections and signatures are in the
cells or in the note below.
"""

import json
import math
import re
import shutil
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ragnb.arguments import accepts
from ragnb.columns import CONDITION, column_names, require_columns, require_frame
from ragnb.display import (
    decimals,
    drawing,
    effect_kind,
    framed,
    is_interval,
    signature_note,
    text_table,
)
from ragnb.errors import InputError
from ragnb.forwarding import passes_options_to
from ragnb.markup import Markup, escape, escape_latex, escape_markdown, tag
from ragnb.numbers import (
    distinct,
    interval_words,
    limits,
    number,
    one_line,
    percent,
    short_p,
    text_width,
)
from ragnb.scoring.columns import numbers, record_of

_SUMMARY = "metric mean low high interval confidence_level n n_scored signature".split()
_COMPARISON = (
    "metric system baseline n_pairs difference low high interval confidence_level test p_value "
    "p_adjusted correction family_size effect effect_name mde power duality signature"
).split()
# Columns of numbers that need not be whole; nullable types and None become floats and nan.
_DECIMAL = (
    "mean low high worst_low worst_high difference confidence_level p_value p_adjusted effect mde "
    "power"
).split()


@dataclass(frozen=True, slots=True)
class _Cell:
    """A text that may be bold, small print after it, and a mark of significance."""

    text: str
    small: str = ""
    bold: bool = False
    mark: str = ""


class _Table(NamedTuple):
    """Texts and cells, whose columns may have levels under spanners, with the notes and signatures below.

    Columns of numbers are aligned right, and columns of texts left.
    """

    body: pd.DataFrame
    notes: str
    signatures: str
    numeric: list[bool]


# ---- printing ------------------------------------------------------------------------------------


@accepts(digits="count", caption=escape_latex)
def to_latex(
    frame: pd.DataFrame,
    *,
    columns: Sequence[str] | None = None,
    comparisons: pd.DataFrame | None = None,
    digits: int | None = None,
    names: Mapping[str, str] | None = None,
    caption: str = "",
    label: str = "",
) -> str:
    """Convert a table to LaTeX: a ``table`` environment that needs only the package booktabs.

    The table spans both columns of a paper (``table*``) if its estimated width is more than a
    column of the ACL style. The text is as small as it must be, but not smaller than
    ``\\footnotesize``. The signatures of the numbers are in comments above it.

    Parameters
    ----------
    frame
        Result of `ragnb.summarize`, with one row per system, or of `ragnb.compare`, or any other
        frame, which is printed row by row. Summaries without a column ``system`` have one row for
        each value of their first column.
    columns
        For summaries, the columns whose values become columns. By default these are ``metric`` and
        the conditions that vary. The values of all but the last become spanners.
    comparisons
        For summaries, comparisons of the same systems and cells with one baseline. A mean is
        marked with an asterisk if the adjusted p-value of its difference from the baseline is below
        1 - confidence level.
    digits
        Decimals of means, differences and limits. By default 2, or those of the metric
        (`ragnb.display.DECIMALS`), or more if all intervals of the metric are so narrow that these
        would hide them.
    names
        Words for metrics, systems, conditions and columns, by the name that they replace.
    caption, label
        Caption below the table, before the notes, and label. The caption is escaped like all other
        text.

    Raises
    ------
    InputError
        The frame is empty or not a DataFrame, a column is missing, or two summaries belong in one cell.
    """
    body, notes, signatures, numeric = _table(frame, columns, comparisons, digits, names)
    styler = body.style.hide(axis="index").format(_latex_cell)
    tabular = styler.format_index(_latex_name, axis=1).to_latex(
        hrules=True,
        column_format="".join("r" if is_numeric else "l" for is_numeric in numeric),
        multicol_align="c",
    )
    # A table that is wider than a column of the paper spans both columns.
    environment, room = "table", COLUMN
    if _points(body) > COLUMN:
        environment, room = "table*", TEXT
    # The largest size in which the table fits, or else the smallest one.
    fitting_sizes = [command for command, size in _SIZES.items() if _points(body, size) < room]
    text_size, *_ = [*fitting_sizes, r"\footnotesize"]
    # Notes follow the caption, so that it needs a full stop.
    needs_full_stop = caption and not caption.endswith((".", "?", "!"))
    sentence = f"{caption}." if needs_full_stop else caption
    text = " ".join(filter(None, [sentence, _latex_text(notes)]))
    parts = [
        *(f"% {one_line(line)}" for line in signatures.split("; ") if line),
        rf"\begin{{{environment}}}",
        rf"\centering{text_size}",
        *_ruled(tabular.rstrip().split("\n"), body.columns),
        rf"\caption{{{text}}}" if text else "",
        rf"\label{{{label}}}" if label else "",
        rf"\end{{{environment}}}",
    ]
    return "\n".join(filter(None, parts)) + "\n"


@accepts(name="file name")
@passes_options_to(to_latex)
def save_latex(
    frame: pd.DataFrame, name: str, *, folder: str | Path = "figures", **options: Any
) -> Path:
    """Save a table as LaTeX, with the parameters of `to_latex`, and return the path.

    Parameters
    ----------
    frame
        See `to_latex`.
    name
        Name of the file, without an ending.
    folder
        Folder of the file. It is created if it does not exist.
    **options
        Arguments for `to_latex`.

    Raises
    ------
    InputError
        The name contains a slash or a dot, or `to_latex` raises the error.
    """
    path = Path(folder) / f"{name}.tex"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(to_latex(frame, **options), encoding="utf-8")
    return path


@accepts(digits="count")
def to_html(
    frame: pd.DataFrame,
    *,
    columns: Sequence[str] | None = None,
    comparisons: pd.DataFrame | None = None,
    digits: int | None = None,
    names: Mapping[str, str] | None = None,
) -> Markup:
    """Convert a table to HTML, with the parameters of `to_latex`. All text is escaped.

    Parameters
    ----------
    frame, columns, comparisons, digits, names
        See `to_latex`.
    """
    body, notes, signatures, numeric = _table(frame, columns, comparisons, digits, names)
    classes = [{"class": "n"} if is_numeric else {"dir": "auto"} for is_numeric in numeric]
    rows = []
    for line in body.to_numpy().tolist():
        cells = [Markup(_printed(_HTML, cell)) for cell in line]
        pairs = zip(cells, classes, strict=True)
        rows.append(tag("tr", *(tag("td", cell, **attributes) for cell, attributes in pairs)))
    table = tag("table", tag("thead", *_html_heads(body.columns, classes)), tag("tbody", *rows))
    return framed(table, tag("p", tag("small", f"{notes} {signatures}".strip())))


@accepts(digits="count")
def to_markdown(
    frame: pd.DataFrame,
    *,
    columns: Sequence[str] | None = None,
    comparisons: pd.DataFrame | None = None,
    digits: int | None = None,
    names: Mapping[str, str] | None = None,
) -> str:
    """Convert a table to Markdown, with the parameters of `to_latex`. All text is escaped.

    Parameters
    ----------
    frame, columns, comparisons, digits, names
        See `to_latex`.
    """
    body, notes, signatures, numeric = _table(frame, columns, comparisons, digits, names)
    heads = [" ".join(head) if isinstance(head, tuple) else head for head in body]
    rows = [
        [escape_markdown(head) for head in heads],
        # A colon at one end aligns a column at this side.
        ["---:" if is_numeric else ":---" for is_numeric in numeric],
        *body.map(partial(_printed, _MARKDOWN)).to_numpy().tolist(),
    ]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    below = escape_markdown(f"{notes} {signatures}")
    # An empty line ends the table.
    return "\n".join([*lines, "", below, ""])


def to_text(frame: pd.DataFrame) -> str:
    """Plain text of a frame as it is displayed outside of a notebook, with its signatures.

    Lines are as wide as the terminal, if there is one: texts are cut, and then columns are left out
    and named. Hidden characters are spelled out.

    >>> print(to_text(pd.DataFrame({"name": ["東京", "Oslo"], "value": [0.5, 1.0]})))
    name  value
    東京    0.5
    Oslo    1.0
    """
    width = shutil.get_terminal_size(fallback=(0, 0)).columns or None
    signatures = [one_line(signature_note(frame))] if "signature" in frame else []
    return "\n".join([text_table(frame, width), *signatures])


def to_json(content: pd.DataFrame | Mapping[str, pd.DataFrame]) -> str:
    """JSON of a frame, or of several frames by name, with all digits of the numbers.

    Missing values are null, and infinite ones the texts ``"Infinity"`` and ``"-Infinity"``.
    Characters outside of ASCII are escaped, so that none is hidden.

    >>> print(to_json(pd.DataFrame({"system": ["a\\u202eb"], "mean": [float("nan")]})))
    [
      {
        "system": "a\\u202eb",
        "mean": null
      }
    ]
    """
    infinite = {math.inf: "Infinity", -math.inf: "-Infinity"}

    def records(frame: pd.DataFrame) -> list[dict[Any, Any]]:
        """The rows as mappings, with None for missing and texts for infinite values."""
        plain = frame.astype(object).where(frame.notna(), None)
        return plain.replace(infinite).to_dict("records")

    if isinstance(content, pd.DataFrame):
        rows: Any = records(content)
    else:
        rows = {name: records(frame) for name, frame in content.items()}
    # The control character DELETE is the only hidden one in ASCII that `json` does not escape.
    return json.dumps(rows, indent=2, default=str).replace("\x7f", "\\u007f")


# ---- cells ---------------------------------------------------------------------------------------


def _latex_text(text: Any) -> str:
    """A text for LaTeX, escaped, with minus signs before numbers."""
    return _with_minus_signs(escape_latex(text).strip(), "$-$")


def _html_text(text: Any) -> Markup:
    """A text for HTML, escaped, with minus signs before numbers."""
    return Markup(_with_minus_signs(escape(text), "\N{MINUS SIGN}"))


def _with_minus_signs(text: str, sign: str) -> str:
    """Make a hyphen before a number a minus sign, if it is at the start of a word or after a bracket."""
    return re.sub(r"(?<![^\s\[])-(?=\d|infinite)", sign, text)


# How the text of a cell is escaped, and what is around bold text, marks and small print.
_Format = tuple[Callable[[Any], str], str, str, str]
_LATEX: _Format = _latex_text, r"\textbf{%s}", r"\textsuperscript{%s}", r" {\scriptsize %s}"
_HTML: _Format = _html_text, "<b>%s</b>", "<sup>%s</sup>", " <small>%s</small>"
_MARKDOWN: _Format = escape_markdown, "**%s**", "<sup>%s</sup>", " %s"


def _printed(form: _Format, cell: Any) -> str:
    """A cell in a format. Anything but a `_Cell` is an ordinary text."""
    escape_text, bold, mark, small = form
    if not isinstance(cell, _Cell):
        return escape_text(cell)
    text = escape_text(cell.text)
    if cell.bold:
        text = bold % text
    if cell.mark:
        text += mark % escape_text(cell.mark)
    if cell.small:
        text += small % escape_text(cell.small)
    return text


def _latex_cell(cell: Any) -> str:
    """A cell in LaTeX."""
    text = _printed(_LATEX, cell)
    # After a line break, LaTeX would read [ and * as options of the break.
    return "{}" + text if text.startswith(("[", "*")) else text


# Widths of a column (7.7 cm) and of the whole text (16 cm) in the ACL style, in points of TeX, 72.27 to the inch.
COLUMN, TEXT = 7.7 / 2.54 * 72.27, 16 / 2.54 * 72.27
# Widths of a character, of one in small print and of the gap between columns, in points. They are estimates for the
# ACL style, whose text has 10 points.
_CHARACTER, _SMALL_CHARACTER, _GAP = 5.0, 3.6, 12.0
# Sizes of text, as multiples of that of the paper.
_SIZES = {"": 1.0, r"\small": 0.91, r"\footnotesize": 0.82}


def _points(body: pd.DataFrame, size: float = 1) -> float:
    """Estimate the width of a table in points, if the text has ``size`` times the size of that of the paper."""
    total = 0.0
    for name, column in body.items():
        # Under spanners, the last part of a name is the head of the column.
        head = name[-1] if isinstance(name, tuple) else name
        widths = [_CHARACTER * size * text_width(line) for line in _broken(head)]
        for cell in column:
            if not isinstance(cell, _Cell):
                widths.append(_CHARACTER * size * text_width(str(cell)))
                continue
            large = _CHARACTER * size * text_width(cell.text + cell.mark)
            # The small print has the same size in all tables. A space of 3 points precedes it.
            small = _SMALL_CHARACTER * text_width(cell.small) + 3
            widths.append(large + small)
        total += max(widths) + _GAP
    return total


def _broken(name: Any) -> list[str]:
    """The lines of a column's name. One of more than 14 characters is broken between its words."""
    lines = textwrap.wrap(str(name), 14, break_long_words=False, break_on_hyphens=False)
    return lines or [""]


def _latex_name(name: Any) -> str:
    """The name of a column in LaTeX, with its lines one below the other."""
    lines = [escape_latex(line) for line in _broken(name)]
    stacked = r"\\".join(lines)
    return rf"\shortstack[r]{{{stacked}}}" if len(lines) > 1 else stacked


_SPANNER = "text-align:center;border-bottom:1px solid"


def _html_heads(columns: pd.Index, classes: Sequence[Mapping[str, str]]) -> list[Markup]:
    """The lines of the head of a table: spanners over their columns, and the names of the columns."""
    lines = []
    for level in range(columns.nlevels - 1):
        spanners = []
        for start, end, name in _spanners(columns, level):
            # The column of row names has an empty spanner, without a line below it.
            style = {"style": _SPANNER} if name else {}
            spanners.append(tag("th", name, colspan=str(end - start), **style))
        lines.append(tag("tr", *spanners))
    names = columns.get_level_values(-1)
    heads = [tag("th", name, **attributes) for name, attributes in zip(names, classes, strict=True)]
    return [*lines, tag("tr", *heads)]


def _spanners(columns: pd.Index, level: int) -> list[tuple[int, int, str]]:
    """Number of the first column, number of the column after the last, and name of each spanner of a level of heads.

    A spanner is a head above several columns. Level 0 is the upper one.
    """
    heads = [tuple(name[: level + 1]) for name in columns]
    # A spanner begins where the head is another one than in the column before.
    starts = [place for place, head in enumerate(heads) if place == 0 or head != heads[place - 1]]
    ends = [*starts[1:], len(heads)]
    return [(start, end, heads[start][-1]) for start, end in zip(starts, ends, strict=True)]


def _ruled(lines: list[str], columns: pd.Index) -> list[str]:
    """Add a line under each spanner to the lines of a tabular."""
    top = lines.index(r"\toprule") + 1
    for level in range(columns.nlevels - 1):
        # The column of row names has no spanner.
        spanners = [spanner for spanner in _spanners(columns, level) if spanner[2]]
        # LaTeX counts columns from 1, and the last column is part of the rule.
        rules = [rf"\cmidrule(lr){{{start + 1}-{end}}}" for start, end, _ in spanners]
        # Each level above has its line of spanners and a line of rules.
        lines.insert(top + 2 * level + 1, " ".join(rules))
    return lines


# ---- tables --------------------------------------------------------------------------------------


def _table(
    frame: pd.DataFrame,
    columns: Sequence[str] | None,
    comparisons: pd.DataFrame | None,
    digits: int | None,
    names: Mapping[str, str] | None,
) -> _Table:
    """Return the table of a frame of summaries or comparisons, or list any other frame.

    The arguments are those of `to_latex`.
    """
    require_frame(frame, "a table")
    if frame.empty:
        raise InputError("a table needs at least one row, got an empty frame")
    words = {name: name.replace("_", " ") for name in CONDITION} | dict(names or {})
    # A frame that lacks only one of the columns is refused, with the name of this column.
    kinds = [kind for kind in (_COMPARISON, _SUMMARY) if len({*kind} - {*frame}) <= 1]
    if not kinds:
        return _listed(frame, words)
    require_columns(frame, kinds[0], "a table")
    decimal = [name for name in frame if name in _DECIMAL]
    frame = frame.assign(**{name: numbers(frame, name, "a table") for name in decimal})
    # Metric -> number of decimals.
    places = decimals(frame["low"], frame["high"], frame["metric"])
    if digits is not None:
        places = dict.fromkeys(places, digits)
    if kinds[0] is _COMPARISON:
        return _comparison_list(frame, places, words)
    return _crossed(frame, column_names(columns), comparisons, places, words)


def _listed(frame: pd.DataFrame, words: Mapping[str, str]) -> _Table:
    """List a frame as it is displayed, with all of its rows."""
    with pd.option_context("display.max_rows", None):
        drawn = drawing(frame)
    texts_by_heading = {}
    numeric_by_heading = {}
    for column in drawn.columns:
        heading = words.get(column.names, column.heading)
        texts_by_heading[heading] = [words.get(text, text) for text in column.cells]
        numeric_by_heading[heading] = column.numeric or is_interval(column)
    body = pd.DataFrame(texts_by_heading)
    notes = " ".join(drawn.below)
    return _Table(body, notes, signatures="", numeric=list(numeric_by_heading.values()))


def _crossed(
    frame: pd.DataFrame,
    columns: list[str],
    comparisons: pd.DataFrame | None,
    places: Mapping[str, int],
    words: Mapping[str, str],
) -> _Table:
    """Cross rows with columns: means with their intervals, and the best of each column in bold.

    `columns` are those whose values become columns; empty for those that vary. `places` has the number of decimals of
    each metric, and `words` the words for names.
    """
    rows = "system" if "system" in frame else frame.columns[0]
    columns = columns or _varying_columns(frame, rows)
    require_columns(frame, columns, "a table of summaries")
    marked, comparison_notes = _marked(comparisons, columns, words)
    is_complete = bool((frame["n_scored"] == frame["n"]).all())
    has_one_n = is_complete and frame["n"].nunique() == 1
    # Head of a column -> name of a row -> cell.
    cells: dict[tuple[str, ...], dict[Any, _Cell]] = {}
    # For each column, whether its metric is unknown to ragnb, so that nobody knows which mean is the best.
    are_own_metrics = []
    # Cells under the same spanner are next to each other. `lexsort` takes the last key as the first one.
    order = np.lexsort([pd.factorize(frame[name])[0] for name in reversed(columns)])
    for key, group in frame.iloc[order].groupby(columns, sort=False, dropna=False):
        head = _head(frame, columns, key, words)
        column = cells.setdefault(head, {})
        metric = group["metric"].iloc[0]
        record = record_of(metric, " ".join(map(str, group["signature"])))
        are_own_metrics.append(record is None)
        # The best mean as it is printed, so that means that look equal are all bold. Empty if none is.
        best = ""
        if record and len(group) > 1 and group["mean"].notna().any():
            best_mean = group["mean"].max() if record.higher_is_better else group["mean"].min()
            best = number(best_mean, places[metric])
        for row in group.to_dict("records"):
            if row[rows] in column:
                raise InputError(
                    "each cell of the table must have one row, got several for "
                    f"{', '.join(head)}, {row[rows]}; pass columns that distinguish the rows, such "
                    "as system, leave rows out, or choose names that differ"
                )
            mean = number(row["mean"], places[metric])
            small = _small_print(row, places[metric], with_n=not has_one_n)
            mark = "*" if (*key, row[rows]) in marked else ""
            column[row[rows]] = _Cell(mean, small, bold=mean == best, mark=mark)
    body = _body(frame, rows, cells, words)
    notes = [_interval_note(frame, has_one_n)]
    if not all(are_own_metrics):
        exception = ", except for your own metrics" if any(are_own_metrics) else ""
        notes.append(f"Bold: best of its column{exception}.")
    if not is_complete:
        notes.append("Unscored responses are left out of the mean.")
    # The first column has the names of the rows, and the others have means.
    numeric = [False] + [True] * (body.shape[1] - 1)
    return _Table(body, " ".join([*notes, *comparison_notes]), signature_note(frame), numeric)


def _varying_columns(frame: pd.DataFrame, rows: str) -> list[str]:
    """The metric and the conditions, as far as the frame has several of them."""
    candidates = [name for name in ("metric", *CONDITION) if name in frame and name != rows]
    varying = [name for name in candidates if frame[name].nunique(dropna=False) > 1]
    return varying or ["metric"]


def _head(
    frame: pd.DataFrame, columns: list[str], values: tuple[Any, ...], words: Mapping[str, str]
) -> tuple[str, ...]:
    """The head of a column of means: a word for each text, and the name before each number."""
    head = []
    for name, value in zip(columns, values, strict=True):
        has_texts = frame[name].map(lambda cell: isinstance(cell, str)).any()
        if not has_texts:
            head.append(words.get(name, name))
        head.append(words.get(str(value), str(value)) if has_texts else str(value))
    return tuple(head)


def _body(
    frame: pd.DataFrame,
    rows: str,
    cells: Mapping[tuple[str, ...], Mapping[Any, _Cell]],
    words: Mapping[str, str],
) -> pd.DataFrame:
    """The cells as a frame, with the names of the rows in its first column."""
    row_names = list(dict.fromkeys(frame[rows]))
    labels = [words.get(name, name) if isinstance(name, str) else name for name in row_names]
    columns = [labels]
    for column in cells.values():
        # A cell without a summary is empty.
        columns.append([column.get(name, "") for name in row_names])
    body = pd.DataFrame(dict(enumerate(columns)))
    # All heads have the same number of levels. Above the names of the rows, the upper levels are empty.
    n_levels = len(next(iter(cells)))
    first_head = ("",) * (n_levels - 1) + (words.get(rows, rows),)
    heads = pd.MultiIndex.from_tuples([first_head, *cells])
    body.columns = heads if n_levels > 1 else heads.get_level_values(0)
    return body


def _interval_note(frame: pd.DataFrame, has_one_n: bool) -> str:
    """What the cells of means contain, with the number of responses if it is the same in all."""
    n = f", n = {frame['n'].iloc[0]:,}" if has_one_n else ""
    level = percent(frame["confidence_level"].iloc[0])
    return f"Mean [{level} {interval_words(frame['interval'], 'interval')}]{n}."


def _small_print(row: Mapping[str, Any], digits: int, with_n: bool) -> str:
    """The interval of a mean, if it is known, and its number of responses."""
    parts = []
    is_unknown = math.isnan(row["low"]) and math.isnan(row["high"])
    if not is_unknown:
        parts.append(limits(row["low"], row["high"], digits))
    if with_n:
        total = f" of {row['n']}" if row["n_scored"] < row["n"] else ""
        parts.append(f"n = {row['n_scored']}{total}")
    return ", ".join(parts)


def _marked(
    comparisons: pd.DataFrame | None, columns: list[str], words: Mapping[str, str]
) -> tuple[set[tuple[Any, ...]], list[str]]:
    """The cells that differ significantly from the baseline, and a note.

    A cell is the values of `columns` and then the system. Without comparisons, both results are empty.
    """
    if comparisons is None:
        return set(), []
    table, keys = "a table with comparisons", [*columns, "system"]
    require_columns(comparisons, _COMPARISON, table, unique=keys)
    baselines = distinct(comparisons["baseline"], ", ")
    if comparisons["baseline"].nunique() > 1:
        raise InputError(f"{table} needs one baseline, got {baselines}; pass baseline= to compare")
    alpha = 1 - comparisons["confidence_level"]
    significant = comparisons[comparisons["p_adjusted"] < alpha]
    baseline = words.get(baselines, baselines)
    note = f"*\u00a0differs from {baseline} ({_tests(comparisons)})."
    if significant.empty:
        note = f"No difference from {baseline} is significant ({_tests(comparisons)})."
    return set(significant[keys].itertuples(index=False, name=None)), [note]


def _tests(frame: pd.DataFrame) -> str:
    """The tests of comparisons and their correction, in words."""
    corrected = f"{frame['correction'].iloc[0].title()} over {frame['family_size'].max()}"
    return f"{distinct(frame['test'])}, {corrected}"


def _effect(row: Mapping[str, Any], has_one_kind: bool) -> dict[str, str]:
    """Heading and text of the effect size of a comparison. If there are several kinds, the kind precedes the number."""
    size = number(row["effect"], 2)
    if has_one_kind:
        return {row["effect_name"]: size}
    return {"effect": f"{effect_kind(row['effect_name'])} {size}"}


def _comparison_list(
    frame: pd.DataFrame, places: Mapping[str, int], words: Mapping[str, str]
) -> _Table:
    """List differences, those with a small adjusted p-value in bold."""
    # The columns that identify a comparison end with the metric. Those with one value are left out.
    identifying = frame.columns[: frame.columns.get_loc("metric") + 1]
    varying = [name for name in identifying if frame[name].nunique(dropna=False) > 1]
    first = frame.iloc[0]
    level = first["confidence_level"]
    has_one_kind = frame["effect_name"].nunique() == 1
    lines = []
    for row in frame.to_dict("records"):
        digits = places[row["metric"]]
        systems = [words.get(str(row[name]), str(row[name])) for name in ("system", "baseline")]
        line: dict[str, Any] = {"comparison": " - ".join(systems)}
        for name in varying:
            value = row[name]
            word = words.get(value, value) if isinstance(value, str) else value
            line[words.get(name, name)] = word
        difference = number(row["difference"], digits, signed=True)
        line |= {
            "n": row["n_pairs"],
            "difference": _Cell(difference, bold=row["p_adjusted"] < 1 - level),
            f"{percent(level)} interval": limits(row["low"], row["high"], digits, signed=True),
            "p": short_p(row["p_value"]),
            "adjusted p": short_p(row["p_adjusted"]),
            **_effect(row, has_one_kind),
            f"MDE ({percent(first['power'])})": number(row["mde"], digits),
        }
        lines.append(line)
    kinds = distinct(frame["interval"].astype(str) + " (" + frame["duality"].astype(str) + ")")
    notes = (
        f"Bold: adjusted p below {1 - level:.2g}. Intervals: {kinds}. Tests: {_tests(frame)}. "
        "MDE: minimum detectable effect at the observed spread."
    )
    if "n_dropped" in frame and frame["n_dropped"].any():
        n_dropped = ", ".join(map(str, frame["n_dropped"]))
        notes += f" Items left out because a value is missing, by line: {n_dropped}."
    body = pd.DataFrame(lines, dtype=object)
    # The columns of texts, which are aligned left.
    columns_of_texts = ["comparison"]
    for name in varying:
        if not pd.api.types.is_numeric_dtype(frame[name]):
            columns_of_texts.append(words.get(name, name))
    numeric = [name not in columns_of_texts for name in body]
    return _Table(body, notes, signature_note(frame), numeric)
