"""Static pages: the templates, marks inside texts, and the base class of all static viewers.

Templates are in the folder ``templates``. Jinja escapes every value with `ragnb.markup.escape`.
Line breaks and indentation of a template are not part of the page.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import regex
from jinja2 import Environment, FunctionLoader

from ragnb.errors import InputError
from ragnb.markup import Markup, characters, escape, join, page, tag
from ragnb.metrics.references import listed
from ragnb.metrics.rgb import NO_RESPONSE
from ragnb.records import is_missing, require_columns
from ragnb.text import join_reasoning, split_reasoning

TEMPLATES = Path(__file__).parent / "templates"
MISSING = "–"
LONG = 600
"""Number of characters beyond which a text is folded."""


class Page:
    """A page of HTML in a notebook, and one line of text everywhere else.

    It renders without JavaScript, in JupyterLab, on code-hosting pages and in exported HTML.
    """

    def __init__(self, line: str, template: str, **values: Any) -> None:
        self._line = line
        self._page = page(render(template, **values))

    def __repr__(self) -> str:
        return self._line

    def _repr_html_(self) -> Markup:
        return self._page


def render(template: str, **values: Any) -> Markup:
    """Return the HTML of a template, in which all values are escaped."""
    return Markup(_TEMPLATES.get_template(template).render(values))


def fields_of(row: Any, needed: Sequence[str], viewer: str) -> dict[str, Any]:
    """Return the fields of one row, or raise an InputError that names what a viewer needs."""
    if not isinstance(row, Mapping | pd.Series):
        raise InputError(
            f"{viewer} shows one row of a frame, got {type(row).__name__}; pass frame.iloc[0]"
        )
    fields = dict(row)
    require_columns(pd.DataFrame(columns=list(fields)), needed, viewer)
    return fields


def sign(value: Any) -> str:
    """Return the sign of a verdict: ✓ for 1, ✗ for 0, and a dash for anything else.

    >>> sign(True), sign(0.0), sign(None)
    ('✓', '✗', '–')
    """
    return MISSING if is_missing(value) else {1.0: "✓", 0.0: "✗"}.get(float(value), MISSING)


def reply_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the reasoning of a reply and its answer, whether or not they are in one column."""
    reasoning = row.get("reasoning")
    return split_reasoning(
        join_reasoning(reasoning if isinstance(reasoning, str) else "", row["response"])
    )


def reference_parts(row: Mapping[str, Any]) -> list[list[str]]:
    """Return the parts of the reference answer, each a list of aliases; none without references."""
    given = row.get("references")
    if is_missing(given):
        return []
    return [[str(alias) for alias in listed(part)] for part in listed(given)]


def texts_of(cell: Any) -> list[str]:
    """Return the texts that show a cell: one for each element of a list, a dash if it is missing."""
    if is_missing(cell):
        return [MISSING]
    if isinstance(cell, list) and cell and not isinstance(cell[0], int | float):
        return [str(inner) for inner in cell]
    return [f"{cell:.6g}" if isinstance(cell, float) else str(cell)]


# ---- marks inside a text -------------------------------------------------------------------------


class Sign(NamedTuple):
    """How one kind of span is marked: its element, the superscript behind it, and a tint."""

    element: str
    superscript: str
    tint: str


ANSWER = Sign("mark", "", "#ffe0a3")


def annotated(text: str, spans: Iterable[tuple[int, int, Sign]]) -> Markup:
    """Mark spans of a text (start, end, sign) with the element and the superscript of their sign.

    Spans may overlap. The text is then cut, so that the elements never overlap. Spans of the same
    sign that overlap or touch become one.

    >>> answer, false = Sign("mark", "1", "#fff"), Sign("del", "2", "#fff")
    >>> regex.sub(" style=[^>]*", "", annotated("New York City", [(0, 8, answer), (4, 13, false)]))
    '<mark>New </mark><del><mark>York</mark></del><sup>1</sup><del> City</del><sup>2</sup>'
    """
    over = [set[Sign]() for _ in range(len(text) + 1)]
    for start, end, kind in spans:
        for signs in over[start:end]:
            signs.add(kind)
    shown, pieces = characters(text), list[Markup]()
    for signs, run in groupby(range(len(text)), key=over.__getitem__):
        places = list(run)
        piece = Markup("".join(shown[places[0] : places[-1] + 1]))
        for element, tint in {one.element: one.tint for one in sorted(signs)[::-1]}.items():
            piece = tag(element, piece, style=f"background:{tint};color:#111")
        ending = " ".join(one.superscript for one in sorted(signs - over[places[-1] + 1]))
        pieces += [piece, tag("sup", ending, style="line-height:0")] if ending else [piece]
    return join(pieces)


def marked(text: str, phrases: Iterable[str]) -> Markup:
    """Mark all occurrences of some phrases in a text, in any letter case.

    >>> marked("Oslo & oslo", ["oslo"]).count("</mark>")
    2
    """
    return annotated(text, [(*place, ANSWER) for place in occurrences(text, phrases)])


def occurrences(text: str, phrases: Iterable[str]) -> list[tuple[int, int]]:
    """Return start and end of each occurrence of some phrases in a text, in any letter case.

    Where two phrases start at the same place, the longer one counts.

    >>> occurrences("Tampa Bay, TAMPA", ["Tampa", "Tampa Bay"])
    [(0, 9), (11, 16)]
    """
    wanted = sorted(filter(None, phrases), key=len, reverse=True)
    if not wanted:
        return []
    pattern = "|".join(map(regex.escape, wanted))
    return [found.span() for found in regex.finditer(pattern, text, flags=regex.IGNORECASE)]


# ---- templates -----------------------------------------------------------------------------------


def _source(name: str) -> str:
    """Return a template without its line breaks and indentation."""
    return re.sub(r"\s*\n\s*", "", (TEMPLATES / name).read_text("utf-8"))


_TEMPLATES = Environment(loader=FunctionLoader(_source), autoescape=True, finalize=escape)
_TEMPLATES.tests["missing"] = is_missing
_TEMPLATES.filters |= {"sign": sign, "marked": marked, "parts": reference_parts, "texts": texts_of}
_TEMPLATES.globals |= {"LONG": LONG, "NO_RESPONSE": NO_RESPONSE}
