"""Templates of the viewers, and marks inside texts.

Templates are in the folder ``templates``. Jinja escapes every value with `ragnb.markup.escape`.
The line breaks and the indentation of a template do not appear in the page.
"""

import re
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import regex
from jinja2 import Environment, FunctionLoader

from ragnb.cells import is_missing
from ragnb.errors import InputError
from ragnb.markup import Markup, characters, escape, join, page, tag
from ragnb.metrics.judged import is_accepted
from ragnb.metrics.rgb import NO_RESPONSE
from ragnb.printing import in_kernel
from ragnb.text import join_reasoning, split_reasoning

STATIC = Path(__file__).parent / "static"
TEMPLATES = STATIC.parent / "templates"
# Classes that link a place in a response to a passage or statement (k) or to a claim (c). Each number needs a rule of CSS,
# and there are rules for the first 20 of each.
_LINKS = [f".r-{letter}{n}" for letter in "kc" for n in range(20)]
# If the mouse or the keyboard's focus is on one element of a link, all elements of this link in the card are outlined.
_OUTLINED = ",".join(f".ragnb-card:has({link}:is(:hover,:focus-within)) {link}" for link in _LINKS)
# Style of a card.
CSS = (STATIC / "card.css").read_text("utf-8") + _OUTLINED + "{outline:2px solid #2b8fd0}"

# MIME type of a live widget.
WIDGET = "application/vnd.jupyter.widget-view+json"

# The outputs of a cell, in the pages of different notebook programs.
OUTPUTS = ":is(.jp-OutputArea,.cell_container,#output-area)"
# Outputs in which a widget is alive.
LIVE = ":has(.ragnb-view,.ragnb-annotator,.widget-box)"
# The first rule hides the static form where the widget is alive. The second hides the empty output of a widget that was not
# found, next to its static form.
STATIC_RULES = (
    f"{OUTPUTS}{LIVE} :is(.ragnb-static,.jp-OutputArea-child:has(.ragnb-static)){{display:none}}"
    ".jp-OutputArea:has(.ragnb-static) .jp-OutputArea-output.jupyter-widgets:not(:has(*)){display:none}"
)

# What is shown instead of a missing value.
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

    In a notebook, this function displays the widget as a separate output, and the bundle then contains only the static form.
    The reason is that some viewers prefer the widget of an output, and show an error or nothing if they do not find it. The
    static form is hidden while the widget is alive.

    A bundle is a mapping, a tuple of a mapping and metadata, or None, depending on the widget library.

    >>> with_static(({"view": 1}, {}), {"text/plain": "text"})
    ({'view': 1, 'text/plain': 'text'}, {})
    """
    data, metadata = (bundle[0], bundle[1:]) if isinstance(bundle, tuple) else (bundle, ())
    data = data or {}
    if WIDGET in data and in_kernel():
        from IPython.display import display

        display({WIDGET: data[WIDGET]}, raw=True)
        data = {}
        hiding = f"<style>{STATIC_RULES}</style>"
        html = Markup(f'<div class="ragnb-static">{hiding}{static["text/html"]}</div>')
        static = {**static, "text/html": html}
    data = {**data, **static}
    return (data, *metadata) if metadata else data


def render(template: str, **values: Any) -> Markup:
    """Return the HTML of a template, in which all values are escaped."""
    return Markup(_TEMPLATES.get_template(template).render(values))


def sign(value: Any) -> str:
    """Return the sign of a verdict: ✓ if it accepts, ✗ if it does not, and a dash for anything else.

    A verdict is a truth value, 1 or 0, or a word such as *correct* or *no*.

    >>> sign(True), sign(0.0), sign("yes"), sign(None), sign("perhaps")
    ('✓', '✗', '✓', '–', '–')
    """
    try:
        verdict = is_accepted(value)
    except InputError:  # It is not a verdict.
        return MISSING
    if is_missing(verdict):
        return MISSING
    return "✓" if verdict == 1 else "✗"


def reply_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the reasoning of a reply and its answer.

    The reasoning may be in the column ``reasoning``, in the text of the response, or in both.
    """
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
    """Return the texts that show a cell: one for each element of a list, a dash if it is missing.

    A list of numbers is a single text.
    """
    if is_missing(cell):
        return [MISSING]
    if isinstance(cell, list) and cell and not isinstance(cell[0], int | float):
        return [str(inner) for inner in cell]
    return [f"{cell:.6g}" if isinstance(cell, float) else str(cell)]


# ---- marks inside a text -------------------------------------------------------------------------


class Mark(NamedTuple):
    """How one kind of span is marked.

    Attributes
    ----------
    element : str
        Name of the HTML element around the span.
    superscript : str
        Text behind the span.
    css_class : str
        Class of the element.
    described_by : str
        Id of another element of the page that describes the span. The span can then get the keyboard's focus.
    """

    element: str
    superscript: str = ""
    css_class: str = ""
    described_by: str = ""


# The mark of a false answer.
FALSE = Mark("del", "≠")


def annotated(text: str, spans: Iterable[tuple[int, int, Mark]]) -> Markup:
    """Mark spans of a text, each given as its start, its end and its mark.

    Spans may overlap. The text is then cut, so that the elements never overlap. Spans with the same
    mark that overlap or touch become one.

    >>> answer, false = Mark("mark", "1"), Mark("del", "2")
    >>> annotated("New York City", [(0, 8, answer), (4, 13, false)])
    '<mark>New </mark><del><mark>York</mark></del><sup>1</sup><del> City</del><sup>2</sup>'
    """
    # The marks of each character. The last set stays empty: it is the place before the first character (index -1) and after
    # the last one.
    marks_at = [set[Mark]() for _ in range(len(text) + 1)]
    for start, end, mark in spans:
        for marks in marks_at[start:end]:
            marks.add(mark)
    escaped = characters(text)
    pieces: list[Markup] = []
    # Each run of characters with the same marks is one piece.
    for marks, run in groupby(range(len(text)), key=marks_at.__getitem__):
        places = list(run)
        first, last = places[0], places[-1]
        piece = Markup("".join(escaped[first : last + 1]))
        # Of several marks with the same element, the first one counts, because it is the last to be entered.
        by_element = {mark.element: mark for mark in sorted(marks, reverse=True)}
        for element, mark in by_element.items():
            attributes = {"class": mark.css_class} if mark.css_class else {}
            # A span that was cut into several pieces gets the focus once.
            is_start = mark not in marks_at[first - 1]
            if mark.described_by and is_start:
                attributes |= {
                    "tabindex": "0",
                    "role": "mark",
                    "aria-describedby": mark.described_by,
                }
            piece = tag(element, piece, **attributes)
        pieces.append(piece)
        ended = sorted(marks - marks_at[last + 1])
        superscript = " ".join(mark.superscript for mark in ended if mark.superscript)
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
    """Return the text of a template without its line breaks and indentation."""
    return re.sub(r"\s*\n\s*", "", (TEMPLATES / name).read_text("utf-8"))


_TEMPLATES = Environment(loader=FunctionLoader(_source), autoescape=True, finalize=escape)
_TEMPLATES.tests["missing"] = is_missing
_TEMPLATES.filters |= {"sign": sign, "texts": texts_of}
_TEMPLATES.globals |= {
    "LONG": LONG,
    "NO_RESPONSE": NO_RESPONSE,
    "CSS": Markup(re.sub(r"/\*.*?\*/|\s*\n\s*", "", CSS)),
}
