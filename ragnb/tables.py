"""Tables for papers, web pages and terminals: LaTeX (booktabs), HTML, Markdown, text and JSON.

A frame of `ragnb.summarize` becomes systems by conditions, with the best mean of each column in
bold. A frame of `ragnb.compare` becomes a list of differences. Any other frame, such as some columns
of a report, is listed as it is. Intervals, n, tests, corrections and signatures are in the cells or
in the note below.
"""

import json
import math
import re
import shutil
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import accepts
from ragnb.display import (
    decimals,
    distinct,
    html_table,
    limits,
    number,
    one_line,
    short_p,
    signature_note,
    text_table,
    text_width,
)
from ragnb.errors import InputError
from ragnb.markup import Markup, escape, escape_latex, escape_markdown, page, tag
from ragnb.records import CONDITION, column_names, is_missing, require_columns
from ragnb.scoring.bridges import known_metric
from ragnb.scoring.columns import numbers

_UNLISTED = ["confidence_level", "problem", "statistic", "warning", "signature"]
"""Columns that are not listed when a frame is printed."""

_SUMMARY = "metric mean low high interval confidence_level n n_scored signature".split()
_COMPARISON = (
    "metric system baseline n_pairs difference low high interval confidence_level test p_value "
    "p_adjusted correction family_size effect effect_name mde power duality signature"
).split()


_DECIMAL = {
    *("mean", "low", "high", "worst_low", "worst_high", "difference"),
    *("confidence_level", "p_value", "p_adjusted", "effect", "mde", "power"),
}
"""Columns of numbers that need not be whole; nullable types and None become floats and nan."""


@dataclass(frozen=True, slots=True)
class _Cell:
    """A text that may be bold, small print after it, and a mark of significance."""

    text: str
    small: str = ""
    bold: bool = False
    mark: str = ""


@dataclass(frozen=True, slots=True)
class _Table:
    """Texts and cells, and the notes below. The columns have several levels under spanners."""

    body: pd.DataFrame
    notes: list[str]
    signatures: str = ""

    @property
    def small_print(self) -> str:
        """The notes and the signatures."""
        return " ".join(filter(None, [*self.notes, self.signatures]))


# ---- printing ------------------------------------------------------------------------------------


def as_label(label: str) -> str:
    """Check the characters of a LaTeX label."""
    if not re.fullmatch(r"[\w:.-]*", label, re.ASCII):
        raise InputError(f"must consist of letters, digits and : . _ -, got {label!r}")
    return label


@accepts(digits="count", caption=escape_latex, label=as_label)
def to_latex(
    frame: pd.DataFrame,
    *,
    rows: str = "system",
    columns: Sequence[str] | None = None,
    comparisons: pd.DataFrame | None = None,
    digits: int | None = None,
    names: Mapping[str, str] | None = None,
    caption: str = "",
    label: str = "",
    wide: bool | None = None,
) -> str:
    """Convert a table to LaTeX: a ``table`` environment that needs only the package booktabs.

    The signatures of the numbers are in comments above it.

    Parameters
    ----------
    frame
        Result of `ragnb.summarize` or `ragnb.compare`, or any other frame, which is printed row by
        row.
    rows
        For summaries, the column whose values become rows.
    columns
        For summaries, the columns whose values become columns. By default these are ``metric`` and
        the conditions that vary. The values of all but the last become spanners.
    comparisons
        For summaries, comparisons of the same systems and cells with one baseline. A mean is
        marked with an asterisk if the adjusted p-value of its difference to the baseline is below
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
    wide
        Whether the table spans both columns of a paper (``table*``). By default it does if its
        estimated width is more than a column of the ACL style. The text is as small as it must be,
        but not smaller than ``\\footnotesize``.

    Raises
    ------
    InputError
        The frame is empty, a column is missing, or two summaries belong in one cell.
    """
    table = _table(frame, rows, columns, comparisons, digits, names, spanned=True)
    styler = table.body.style.hide(axis="index").format(_latex_cell)
    alignment = "l" + "r" * (table.body.shape[1] - 1)
    tabular = styler.format_index(_latex_name, axis=1).to_latex(
        hrules=True, column_format=alignment, multicol_align="c"
    )
    if wide is None:
        wide = _points(table.body) > COLUMN
    room = TEXT if wide else COLUMN
    fitting = (name for name, size in _SIZES.items() if _points(table.body, size) < room)
    text_size = next(fitting, r"\footnotesize")
    environment = "table*" if wide else "table"
    sentence = f"{caption}{'' if not caption or caption.endswith(tuple('.?!')) else '.'}"
    text = " ".join(filter(None, [sentence, _latex_text(" ".join(table.notes))]))
    parts = [
        *(f"% {one_line(line)}" for line in table.signatures.split("; ") if line),
        rf"\begin{{{environment}}}",
        rf"\centering{text_size}",
        *_ruled(tabular.rstrip().splitlines(), table.body.columns),
        rf"\caption{{{text}}}" if text else "",
        rf"\label{{{label}}}" if label else "",
        rf"\end{{{environment}}}",
    ]
    return "\n".join(filter(None, parts)) + "\n"


@accepts(name="file name")
def save_latex(
    frame: pd.DataFrame, name: str, *, folder: str | Path = "figures", **options: Any
) -> Path:
    """Save a table as LaTeX, with the parameters of `to_latex`, and return the path.

    Raises
    ------
    InputError
        The name contains a folder or a suffix, or `to_latex` raises it.
    """
    path = Path(folder) / f"{name}.tex"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(to_latex(frame, **options), encoding="utf-8")
    return path


@accepts(digits="count")
def to_html(
    frame: pd.DataFrame,
    *,
    rows: str = "system",
    columns: Sequence[str] | None = None,
    comparisons: pd.DataFrame | None = None,
    digits: int | None = None,
    names: Mapping[str, str] | None = None,
) -> Markup:
    """Convert a table to HTML, with the parameters of `to_latex`. All text is escaped."""
    table = _table(frame, rows, columns, comparisons, digits, names, spanned=True)
    body = html_table(table.body, _HTML.printed)
    return page(body, tag("p", tag("small", table.small_print)))


@accepts(digits="count")
def to_markdown(
    frame: pd.DataFrame,
    *,
    rows: str = "system",
    columns: Sequence[str] | None = None,
    comparisons: pd.DataFrame | None = None,
    digits: int | None = None,
    names: Mapping[str, str] | None = None,
) -> str:
    """Convert a table to Markdown, with the parameters of `to_latex`. All text is escaped."""
    table = _table(frame, rows, columns, comparisons, digits, names)
    lines = [
        list(map(escape_markdown, _header(table.body))),
        [":---", *["---:"] * (table.body.shape[1] - 1)],
        *table.body.map(_MARKDOWN.printed).to_numpy().tolist(),
    ]
    notes = escape_markdown(table.small_print)
    return "\n".join([*("| " + " | ".join(line) + " |" for line in lines), "", notes, ""])


def to_text(frame: pd.DataFrame) -> str:
    """Plain text of a frame as it is displayed outside of a notebook, with its signatures.

    Lines are as wide as the terminal, if there is one: texts are cut, and then columns are left out
    and named. Hidden characters are spelled out.

    Raises
    ------
    InputError
        The frame has no rows.

    >>> print(to_text(pd.DataFrame({"name": ["東京", "Oslo"], "value": [0.5, 1.0]})))
    name  value
    東京    0.5
    Oslo    1.0
    """
    _require_rows(frame)
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
    return json.dumps(_plain(content), indent=2, default=str).replace("\x7f", "\\u007f")


# ---- cells ---------------------------------------------------------------------------------------


def _latex_text(text: Any) -> str:
    """Escape a text, and make a hyphen before a number a minus sign."""
    return re.sub(r"(?<![^\s\[])-(?=\d|infinite)", "$-$", escape_latex(text).strip())


def _latex_cell(cell: Any) -> str:
    text = _LATEX.printed(cell)
    # After a line break, LaTeX would read [ and * as options of the break.
    return "{}" * text.startswith(("[", "*")) + text


@dataclass(frozen=True, slots=True)
class _Format:
    """How the text of a cell is escaped, and what is around its parts."""

    text: Callable[[Any], str]
    bold: str
    mark: str
    small: str

    def printed(self, cell: Any) -> str:
        if not isinstance(cell, _Cell):
            return self.text(cell)
        pieces = [
            (self.bold if cell.bold else "%s", cell.text),
            (self.mark, cell.mark),
            (self.small, cell.small),
        ]
        return "".join(around % self.text(text) for around, text in pieces if text)


_LATEX = _Format(_latex_text, r"\textbf{%s}", r"\textsuperscript{%s}", r" {\scriptsize %s}")
_HTML = _Format(escape, "<b>%s</b>", "<sup>%s</sup>", " <small>%s</small>")
_MARKDOWN = _Format(escape_markdown, "**%s**", "<sup>%s</sup>", " %s")


COLUMN, TEXT = 7.7 / 2.54 * 72.27, 16 / 2.54 * 72.27
"""Widths of a column and of the whole text in the ACL style, in points."""
_SIZES = {"": 1.0, r"\small": 0.91, r"\footnotesize": 0.82}
"""Sizes of text, as multiples of that of the paper."""


def _points(body: pd.DataFrame, size: float = 1) -> float:
    """Estimate the width of a table in points: 5 per character, 3.6 in small print, 12 per gap."""

    def width(cell: Any) -> float:
        if not isinstance(cell, _Cell):
            return 5 * size * text_width(str(cell))
        return 5 * size * text_width(f"{cell.text}{cell.mark}") + 3.6 * text_width(cell.small) + 3

    names = [name[-1] if isinstance(name, tuple) else name for name in body]
    heads = [5 * size * max(map(text_width, _broken(name))) for name in names]
    widest = [max(column.map(width)) for _, column in body.items()]
    return sum(max(pair) + 12 for pair in zip(heads, widest, strict=True))


def _broken(name: Any) -> list[str]:
    """The lines of a column's name: a long one is broken."""
    return textwrap.wrap(str(name), 14, break_long_words=False, break_on_hyphens=False) or [""]


def _latex_name(name: Any) -> str:
    first, *others = map(escape_latex, _broken(name))
    stacked = r"\\".join([first, *others])
    return rf"\shortstack[r]{{{stacked}}}" if others else first


def _ruled(lines: list[str], columns: pd.Index) -> list[str]:
    """Add a line under each spanner to the lines of a tabular."""
    top = lines.index(r"\toprule") + 1
    for level in range(columns.nlevels - 1):
        heads = [tuple(name[: level + 1]) for name in columns]
        starts = [k for k, head in enumerate(heads) if k == 0 or head != heads[k - 1]]
        spans = zip(starts, [*starts[1:], len(heads)], strict=True)
        rules = [rf"\cmidrule(lr){{{a + 1}-{b}}}" for a, b in spans if heads[a][-1]]
        lines.insert(top + 2 * level + 1, " ".join(rules))
    return lines


def _header(body: pd.DataFrame) -> list[str]:
    """Names of the columns in one line each: without spanners, these come first."""
    names = [name if isinstance(name, tuple) else (name,) for name in body.columns]
    return [", ".join(filter(None, map(str, parts))) for parts in names]


def _plain(value: Any) -> Any:
    """Convert a value of a frame to one that JSON has."""
    if isinstance(value, pd.DataFrame):
        value = value.to_dict("records")
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(part) for part in value]
    if isinstance(value, float) and math.isinf(value):
        return str(value).replace("inf", "Infinity")
    return None if is_missing(value) else value


# ---- numbers and notes ---------------------------------------------------------------------------


def _decimals(frame: pd.DataFrame, digits: int | None) -> dict[str, int]:
    """Number of decimals of each metric in a frame of intervals."""
    if digits is not None:
        return dict.fromkeys(frame["metric"].astype(str), digits)
    return decimals(frame["low"], frame["high"], frame["metric"])


def _listed(frame: pd.DataFrame, digits: int | None = None) -> pd.DataFrame:
    """Return the columns of a frame that are worth printing, with formatted numbers."""
    places = 3 if digits is None else digits

    def printed(column: pd.Series) -> pd.Series:
        p_value = str(column.name).startswith("p_")
        return column.astype(object).map(
            lambda v: (short_p(v) if p_value else number(v, places)) if isinstance(v, float) else v
        )

    return frame.drop(columns=_UNLISTED, errors="ignore").apply(printed)


def _tests(frame: pd.DataFrame) -> str:
    corrected = f"{frame['correction'].iloc[0].capitalize()} over {frame['family_size'].max()}"
    return f"{distinct(frame['test'])}, {corrected}"


# ---- tables --------------------------------------------------------------------------------------


def _require_rows(frame: pd.DataFrame) -> None:
    if frame.empty:
        raise InputError("a table needs at least one row, got an empty frame")


def _is_like(frame: pd.DataFrame, columns: list[str]) -> bool:
    """Whether a frame has all of some columns but one, which is then reported as missing."""
    return len(set(columns) - set(frame)) <= 1


def _complete(frame: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Return a frame with all of some columns, and with floats for those that have decimals."""
    require_columns(frame, columns, "a table")
    decimal = [name for name in frame if name in _DECIMAL]
    return frame.assign(**{name: numbers(frame, name, "a table") for name in decimal})


def _table(
    frame: pd.DataFrame,
    rows: str,
    columns: Sequence[str] | None,
    comparisons: pd.DataFrame | None,
    digits: int | None,
    names: Mapping[str, str] | None = None,
    spanned: bool = False,
) -> _Table:
    """Return the table of a frame of summaries or comparisons, or list any other frame.

    With ``spanned``, the name of a numeric condition is a spanner above its values.
    """
    _require_rows(frame)
    spaced = {name: name.replace("_", " ") for name in CONDITION} if spanned else {}
    words = spaced | dict(names or {})
    if _is_like(frame, _COMPARISON):
        return _comparison_list(_complete(frame, _COMPARISON), digits, words)
    if not _is_like(frame, _SUMMARY):
        return _Table(_listed(frame.rename(columns=words), digits).replace(words), [])
    frame = _complete(frame, _SUMMARY)
    named = column_names(columns)
    require_columns(frame, [rows, *named], "a table of summaries")
    if columns is None:
        known = [name for name in ("metric", *CONDITION) if name in frame and name != rows]
        named = [name for name in known if frame[name].nunique(dropna=False) > 1] or ["metric"]
    marked, explained = _marked(comparisons, named, words)
    pairs = zip(frame["metric"], frame["signature"], strict=True)
    own = [known_metric(name, str(signature)) is None for name, signature in pairs]
    body = _crossed(frame, rows, named, _decimals(frame, digits), marked, words, spanned)
    complete = bool((frame["n_scored"] == frame["n"]).all())
    n = f", n = {frame['n'].iloc[0]:,}" if complete and frame["n"].nunique() == 1 else ""
    level = f"{frame['confidence_level'].iloc[0]:.0%}"
    notes = [f"Mean [{level} {distinct(frame['interval'])} interval]{n}."]
    if not all(own):
        notes.append(f"Bold: best of its column{', except for your own metrics' * any(own)}.")
    if not complete:
        notes.append("Unscored responses are left out of the mean.")
    return _Table(body, [*notes, *explained], signature_note(frame))


def _crossed(
    frame: pd.DataFrame,
    rows: str,
    columns: list[str],
    places: Mapping[str, int],
    marked: set[tuple[Any, Any]],
    words: Mapping[str, str],
    spanned: bool,
) -> pd.DataFrame:
    """Cross rows with columns: means with their intervals, and the best of each column in bold."""
    keys = [rows, *columns]
    if frame.duplicated(keys).any():
        twice = frame.loc[frame.duplicated(keys), keys].iloc[0].to_dict()
        raise InputError(
            f"each cell of the table must have one row, got several for {twice}; pass more columns "
            "that distinguish the rows, or leave rows out"
        )
    names = list(dict.fromkeys(frame[rows]))
    same_n = bool((frame["n_scored"] == frame["n"]).all()) and frame["n"].nunique() == 1
    texts = [name for name in columns if frame[name].map(lambda v: isinstance(v, str)).any()]
    cells: dict[tuple[str, ...], list[Any]] = {}
    # Cells under the same spanner stand together.
    order = np.lexsort([pd.factorize(frame[name])[0] for name in reversed(columns)])
    for key, group in frame.iloc[order].groupby(columns, sort=False, dropna=False):
        records = {record[rows]: record for record in group.to_dict("records")}
        best = _best(group, places)
        head: list[str] = []
        for name, value in zip(columns, key, strict=True):
            word = words.get(name, name)
            if name in texts:
                head.append(words.get(str(value), str(value)))
            elif spanned:
                head += [word, str(value)]
            else:
                head.append(f"{word} {value}")
        if tuple(head) in cells:
            raise InputError(f"names must differ, got {', '.join(head)} for two columns")
        cells[tuple(head)] = [
            _summary_cell(records[name], best, places, same_n, (key, name) in marked)
            if name in records
            else ""
            for name in names
        ]
    first = ("",) * (len(head) - 1) + (words.get(rows, rows),)
    labels = [words.get(name, name) if isinstance(name, str) else name for name in names]
    header = pd.MultiIndex.from_tuples([first, *cells])
    crossed = pd.DataFrame(dict(enumerate([labels, *cells.values()])))
    return crossed.set_axis(header if len(first) > 1 else header.get_level_values(0), axis=1)


def _best(group: pd.DataFrame, places: Mapping[str, int]) -> str:
    """Return the best mean of a column as printed, so that means that look equal are all bold.

    It is empty for a single system, and for your own metrics, whose direction is unknown.
    """
    metric = group["metric"].iloc[0]
    known = known_metric(metric, " ".join(map(str, group["signature"])))
    if known is None or len(group) < 2 or group["mean"].isna().all():
        return ""
    best = group["mean"].max() if known.higher_is_better else group["mean"].min()
    return number(best, places[metric])


def _summary_cell(
    record: Mapping[str, Any], best: str, places: Mapping[str, int], same_n: bool, marked: bool
) -> _Cell:
    digits = places[record["metric"]]
    mean = number(record["mean"], digits)
    known = not (math.isnan(record["low"]) and math.isnan(record["high"]))
    small = limits(record["low"], record["high"], digits) if known else ""
    if not same_n:
        small += f"{', ' * known}n = {record['n_scored']}"
    if record["n_scored"] < record["n"]:
        small += f" of {record['n']}"
    return _Cell(mean, small, mean == best, "*" * marked)


def _marked(
    comparisons: pd.DataFrame | None, columns: list[str], words: Mapping[str, str]
) -> tuple[set[tuple[Any, Any]], list[str]]:
    """Return the columns and systems that differ from the baseline, and a note."""
    if comparisons is None:
        return set(), []
    require_columns(comparisons, [*_COMPARISON, *columns], "the comparisons of a table")
    baselines = list(dict.fromkeys(comparisons["baseline"]))
    if len(baselines) > 1 or comparisons.duplicated([*columns, "system"]).any():
        raise InputError(
            "a table needs one comparison for each cell, all with the same baseline, got "
            f"{len(comparisons)} comparisons with baseline {', '.join(map(str, baselines))}; pass baseline= to compare, "
            "and group the rows alike, for example by=[] in compare and by=['system'] in summarize"
        )
    clear = comparisons[comparisons["p_adjusted"] < 1 - comparisons["confidence_level"]]
    cells = clear[columns].itertuples(index=False, name=None)
    baseline = words.get(str(baselines[0]), baselines[0])
    note = f"*\u00a0differs from {baseline} ({_tests(comparisons)})."
    if clear.empty:
        note = f"No difference from {baseline} is significant ({_tests(comparisons)})."
    return set(zip(cells, clear["system"], strict=True)), [note]


def _comparison_list(frame: pd.DataFrame, digits: int | None, words: Mapping[str, str]) -> _Table:
    """List differences, those with a small adjusted p-value in bold."""
    before = frame.columns[: frame.columns.get_loc("metric") + 1]

    def called(name: Any) -> str:
        return words.get(str(name), str(name))

    def replaced(column: pd.Series) -> pd.Series:
        return column.astype(object).map(lambda v: words.get(v, v) if isinstance(v, str) else v)

    varying = [name for name in before if frame[name].nunique(dropna=False) > 1]
    shown = {called(name): replaced(frame[name]) for name in varying}
    first = frame.iloc[0]
    level = first["confidence_level"]
    places = frame["metric"].map(_decimals(frame, digits))
    clear = frame["p_adjusted"] < 1 - level
    both = zip(frame["difference"], places, clear, strict=True)
    ends = zip(frame["low"], frame["high"], places, strict=True)
    one_effect = frame["effect_name"].nunique() == 1
    columns = {
        "comparison": [
            f"{called(one)} - {called(two)}"
            for one, two in zip(frame["system"], frame["baseline"], strict=True)
        ],
        **shown,
        "n": frame["n_pairs"],
        "difference": [_Cell(number(d, k, signed=True), bold=bold) for d, k, bold in both],
        f"{level:.0%} interval": [limits(low, high, k, signed=True) for low, high, k in ends],
        "p": frame["p_value"].map(short_p),
        "adjusted p": frame["p_adjusted"].map(short_p),
        first["effect_name"] if one_effect else "effect": [number(e, 2) for e in frame["effect"]],
        f"MDE ({first['power']:.0%})": list(map(number, frame["mde"], places)),
    }
    pairs = zip(frame["interval"], frame["duality"], strict=True)
    kinds = distinct(f"{interval} ({duality})" for interval, duality in pairs)
    notes = [
        f"Bold: adjusted p below {1 - level:.2g}. Intervals: {kinds}. Tests: {_tests(frame)}.",
        "MDE: minimum detectable effect at the observed spread.",
    ]
    if "n_dropped" in frame and frame["n_dropped"].any():
        dropped = ", ".join(map(str, frame["n_dropped"]))
        notes.append(f"Items left out because a value is missing, by line: {dropped}.")
    return _Table(pd.DataFrame(columns), notes, signature_note(frame))
