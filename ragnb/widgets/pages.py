"""Templates of the viewers, and marks inside texts.

Templates are in the folder ``templates``. Jinja escapes every value with `ragnb.markup.escape`.
Line breaks and indentation of a template are not part of the page.
"""

import re
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import regex
from jinja2 import Environment, FunctionLoader

from ragnb.cells import is_missing
from ragnb.markup import Markup, characters, escape, join, page, tag
from ragnb.metrics.rgb import NO_RESPONSE
from ragnb.printing import in_kernel
from ragnb.text import join_reasoning, split_reasoning

STATIC = Path(__file__).parent / "static"
TEMPLATES = STATIC.parent / "templates"
_LINKS = [f".r-{letter}{n}" for letter in "kc" for n in range(20)]
_OUTLINED = ",".join(f".ragnb-card:has({link}:is(:hover,:focus-within)) {link}" for link in _LINKS)
# Style of a card. A response and the first 20 passages or claims that it links to light up together,
# under the mouse and with the keyboard's focus.
CSS = (STATIC / "card.css").read_text("utf-8") + _OUTLINED + "{outline:2px solid #2b8fd0}"

# MIME type of a live widget.
WIDGET = "application/vnd.jupyter.widget-view+json"

OUTPUTS = ":is(.jp-OutputArea,.cell_container,#output-area)"
LIVE = ":has(.ragnb-view,.ragnb-annotator,.widget-box)"
# Hide the static form among the outputs of a cell that show the widget, and a widget that was not found.
STATIC_RULES = (
    f"{OUTPUTS}{LIVE} :is(.ragnb-static,.jp-OutputArea-child:has(.ragnb-static)){{display:none}}"
    ".jp-OutputArea:has(.ragnb-static) .jp-OutputArea-output.jupyter-widgets:not(:has(*)){display:none}"
)

MISSING = "–"
# Number of characters beyond which a text is folded.
LONG = 600


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


def with_static(bundle: Any, static: Mapping[str, str]) -> Any:
    """Add the static form of a widget to its MIME bundle, for pages where no kernel runs.

    In a notebook, the widget is displayed at once as an output of its own, and the bundle has only the static form. Viewers
    that prefer the widget of an output would show an error, or nothing, where they do not find it. The static form hides
    itself while the widget is there.

    A bundle is a mapping, a tuple of a mapping and more, or None: widget libraries differ.

    >>> with_static(({"view": 1}, {}), {"text/plain": "text"})
    ({'view': 1, 'text/plain': 'text'}, {})
    """
    data, more = (bundle[0], bundle[1:]) if isinstance(bundle, tuple) else (bundle, ())
    data = data or {}
    if WIDGET in data and in_kernel():
        from IPython.display import display

        display({WIDGET: data[WIDGET]}, raw=True)
        data = {}
        hiding = f"<style>{STATIC_RULES}</style>"
        html = Markup(f'<div class="ragnb-static">{hiding}{static["text/html"]}</div>')
        static = {**static, "text/html": html}
    data = {**data, **static}
    return (data, *more) if more else data


def render(template: str, **values: Any) -> Markup:
    """Return the HTML of a template, in which all values are escaped."""
    return Markup(_TEMPLATES.get_template(template).render(values))


def sign(value: Any) -> str:
    """Return the sign of a verdict: ✓ for 1, ✗ for 0, and a dash for anything else.

    >>> sign(True), sign(0.0), sign(None)
    ('✓', '✗', '–')
    """
    if is_missing(value):
        return MISSING
    return {1.0: "✓", 0.0: "✗"}.get(float(value), MISSING)


def reply_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the reasoning of a reply and its answer, whether or not they are in one column."""
    reasoning = row.get("reasoning")
    if not isinstance(reasoning, str):
        reasoning = ""
    return split_reasoning(join_reasoning(reasoning, row["response"]))


def listed(row: Mapping[str, Any], name: str) -> list[Any]:
    """Return a field of a row as a list; a text is one element, and a missing field is empty.

    >>> listed({"references": "Oslo"}, "references"), listed({}, "references")
    (['Oslo'], [])
    """
    value: Any = row.get(name)
    if is_missing(value):
        return []
    return [value] if isinstance(value, str) else list(value)


def texts_of(cell: Any) -> list[str]:
    """Return the texts that show a cell: one for each element of a list, a dash if it is missing."""
    if is_missing(cell):
        return [MISSING]
    if isinstance(cell, list) and cell and not isinstance(cell[0], int | float):
        return [str(inner) for inner in cell]
    return [f"{cell:.6g}" if isinstance(cell, float) else str(cell)]


# ---- marks inside a text -------------------------------------------------------------------------


class Sign(NamedTuple):
    """How one kind of span is marked: its element, the superscript behind it, and its class.

    A span can get the focus if it is described by another element, whose id is ``described_by``.
    """

    element: str
    superscript: str = ""
    kind: str = ""
    described_by: str = ""


FALSE = Sign("del", "≠")


def annotated(text: str, spans: Iterable[tuple[int, int, Sign]]) -> Markup:
    """Mark spans of a text (start, end, sign) with the element and the superscript of their sign.

    Spans may overlap. The text is then cut, so that the elements never overlap. Spans of the same
    sign that overlap or touch become one.

    >>> answer, false = Sign("mark", "1"), Sign("del", "2")
    >>> annotated("New York City", [(0, 8, answer), (4, 13, false)])
    '<mark>New </mark><del><mark>York</mark></del><sup>1</sup><del> City</del><sup>2</sup>'
    """
    # The signs of each character, and none behind the last one.
    signs_at = [set[Sign]() for _ in range(len(text) + 1)]
    for start, end, kind in spans:
        for signs in signs_at[start:end]:
            signs.add(kind)
    escaped = characters(text)
    pieces: list[Markup] = []
    # Each run of characters with the same signs is one piece.
    for signs, run in groupby(range(len(text)), key=signs_at.__getitem__):
        places = list(run)
        first, last = places[0], places[-1]
        piece = Markup("".join(escaped[first : last + 1]))
        # Of several signs with the same element, the first one counts.
        by_element = {sign.element: sign for sign in sorted(signs, reverse=True)}
        for element, sign in by_element.items():
            attributes = {"class": sign.kind} if sign.kind else {}
            is_start = sign not in signs_at[first - 1]
            if sign.described_by and is_start:
                attributes |= {
                    "tabindex": "0",
                    "role": "mark",
                    "aria-describedby": sign.described_by,
                }
            piece = tag(element, piece, **attributes)
        pieces.append(piece)
        ended = sorted(signs - signs_at[last + 1])
        superscript = " ".join(sign.superscript for sign in ended if sign.superscript)
        if superscript:
            pieces.append(tag("sup", superscript))
    return join(pieces)


def occurrences(text: str, phrases: Iterable[str]) -> list[tuple[int, int]]:
    """Return start and end of each occurrence of some phrases in a text, in any letter case.

    Where two phrases start at the same place, the longer one counts.

    >>> occurrences("Tampa Bay, TAMPA", ["Tampa", "Tampa Bay"])
    [(0, 9), (11, 16)]
    """
    longest_first = sorted(filter(None, phrases), key=len, reverse=True)
    if not longest_first:
        return []
    pattern = "|".join(map(regex.escape, longest_first))
    return [match.span() for match in regex.finditer(pattern, text, flags=regex.IGNORECASE)]


# ---- templates -----------------------------------------------------------------------------------


def _source(name: str) -> str:
    """Return a template without its line breaks and indentation."""
    return re.sub(r"\s*\n\s*", "", (TEMPLATES / name).read_text("utf-8"))


_TEMPLATES = Environment(loader=FunctionLoader(_source), autoescape=True, finalize=escape)
_TEMPLATES.tests["missing"] = is_missing
_TEMPLATES.filters |= {"sign": sign, "texts": texts_of}
_TEMPLATES.globals |= {
    "LONG": LONG,
    "NO_RESPONSE": NO_RESPONSE,
    "CSS": Markup(re.sub(r"/\*.*?\*/|\s*\n\s*", "", CSS)),
}
