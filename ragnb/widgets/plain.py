"""Any row of any frame on a page: what was asked and said first, then its other columns."""

from collections.abc import Iterable, Mapping
from typing import Any

from ragnb.markup import Markup, escape, join, page, tag
from ragnb.records import is_missing
from ragnb.widgets.judge import asked, reference_parts, said
from ragnb.widgets.looks import APART, CELL, LONG

BEGINNING = 80
"""Characters that the summary of a folded text shows."""

_LINES = "white-space:pre-wrap;overflow-wrap:anywhere"


def plain_page(row: Mapping[str, Any]) -> Markup:
    """Question, references and response, where there are such, above a table of all other columns."""
    reply = list(said(row)) if isinstance(row.get("response"), str) else []
    shown = {
        "question": isinstance(row.get("question"), str),
        "references": reference_parts(row),
        "response": reply,
    }
    rest = columns_table(row, without=[name for name in shown if shown[name]])
    return page(*asked(row), *reply, rest)


def columns_table(row: Mapping[str, Any], without: Iterable[str] = ()) -> Markup:
    """The columns of a row as a table, a line each, long texts folded."""
    lines = [tag("tr", tag("th", name, style=f"{CELL};white-space:nowrap"), tag("td", _value(cell), style=CELL))
             for name, cell in row.items() if name not in without]  # fmt: skip
    return tag("table", *lines, style=APART) if lines else escape("")


def _value(cell: Any) -> Markup:
    if is_missing(cell):
        return escape("–")
    if isinstance(cell, (list, tuple)) and cell and not isinstance(cell[0], (int, float)):
        return join(
            [
                _value(inner) if isinstance(inner, str) else tag("div", _text(inner))
                for inner in cell
            ]
        )
    return _text(cell)


def _text(cell: Any) -> Markup:
    text = f"{cell:.6g}" if isinstance(cell, float) else str(cell)
    whole = tag("div", text, dir="auto", style=_LINES)
    if len(text) <= LONG:
        return whole
    return tag("details", tag("summary", tag("span", f"{text[:BEGINNING]}…", dir="auto")), whole)
