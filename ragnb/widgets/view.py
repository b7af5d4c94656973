"""A whole frame in a live viewer: a searchable list of rows, and the page of the selected row."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import traitlets
from anywidget import AnyWidget
from ipywidgets import HTML, HBox

from ragnb.arguments import accepts
from ragnb.markup import Markup, tag
from ragnb.records import require_columns
from ragnb.reports.definitions import DefinitionComparison
from ragnb.widgets import judge, language, rgb, trace
from ragnb.widgets.browser import STATIC, with_static
from ragnb.widgets.pages import Page, reference_parts, render
from ragnb.widgets.rows import Rows, short

AHEAD, SENT_AT_ONCE = 40, 400
"""Number of rows sent around the selected one, and largest number of rows sent at once."""


def _judge_page(row: Mapping[str, Any]) -> Page:
    return Page("", "judge.html", rows=[row], total=None)


def _plain_page(row: Mapping[str, Any]) -> Page:
    """Return a page with question, references and response, above a table of all other columns."""
    shown = [name for name in ("question", "response") if isinstance(row.get(name), str)]
    shown += ["references"] if reference_parts(row) else []
    rest = {name: cell for name, cell in row.items() if name not in shown}
    return Page("", "plain.html", row=row, rest=rest)


KINDS: dict[str, tuple[Callable[..., Page], tuple[str, ...]]] = {
    "trace": (trace.TraceView, trace.NEEDED),
    "judge": (_judge_page, judge.NEEDED),
    "rgb": (rgb.RgbView, rgb.NEEDED),
    "language": (language.LanguageView, language.NEEDED),
    "plain": (_plain_page, ()),
}
"""Kind -> what makes the page of a row, and the columns that it needs; the first that fits is used."""


class RowList(AnyWidget):
    """The list next to the page. It draws what Python sends, and reports actions of the user."""

    _esm = (STATIC / "rows.js").read_text("utf-8")
    _css = (STATIC / "rows.css").read_text("utf-8")
    choices: Any = traitlets.List().tag(sync=True)
    sorts: Any = traitlets.List().tag(sync=True)
    sign_meaning = traitlets.Unicode().tag(sync=True)
    total = traitlets.Int().tag(sync=True)
    search = traitlets.Unicode().tag(sync=True)
    chosen = traitlets.List(traitlets.Int()).tag(sync=True)
    sort = traitlets.Unicode().tag(sync=True)
    position = traitlets.Int(-1).tag(sync=True)
    found = traitlets.Dict().tag(sync=True)


def view(
    frame: pd.DataFrame | DefinitionComparison, kind: str | None = None, **options: Any
) -> "FrameView":
    """Show a whole frame in a live viewer; the parameters are those of `FrameView`.

    Of a result of `ragnb.compare_definitions`, the responses are shown on which definitions differ.

    >>> view(pd.DataFrame({"question": ["Who?", "Where?"], "response": ["Ann", "Oslo"]}))
    FrameView('plain', 2 rows)
    """
    if isinstance(frame, DefinitionComparison):
        frame = frame.differing
    return FrameView(frame, kind, **options)


class FrameView(HBox):
    """A list of the rows of a frame, next to the page of the selected row.

    The list can be searched, filtered and sorted. A search finds the rows whose texts contain all
    its words, in any letter case and width, and highlights them on the page. Columns with few
    values become filters. Keys: ``j`` ``k`` and the arrows for the next and the previous row, Home
    and End, ``/`` for the search, Escape to leave it. Where no kernel runs, a table of the first
    rows and the page of the selected row are shown.

    Parameters
    ----------
    frame
        Any frame, such as those of `ragnb.load_ragbench` or `ragnb.load_responses`. Named levels
        of the index count as columns. Levels of column names are joined by ``/``.
    kind
        How a row is shown: ``"trace"`` (`TraceView`), ``"judge"`` (`JudgeView`), ``"rgb"``
        (`RgbView`), ``"language"`` (`LanguageView`) or ``"plain"`` (question, references, response,
        and a table of all other columns). By default the first of these whose columns exist;
        ``"language"`` only if there are several languages.
    options
        Options of that viewer: ``variant, length`` of trace, ``protocols`` of rgb,
        ``threshold, identify`` of language.

    Attributes
    ----------
    rows, number, selected
        The rows that were found, the number of the selected one, and this row.

    Raises
    ------
    InputError
        If two columns have the same name, the kind is unknown, its columns are missing, or an
        option is unknown or has an invalid value.

    >>> shown = FrameView(pd.DataFrame({"question": ["Who?", "Where?", "Why?"], "hits": [1, 3, 2]}))
    >>> shown.number, shown.selected["question"]
    (1, 'Who?')
    """

    @accepts(kind=tuple(KINDS))
    def __init__(self, frame: pd.DataFrame, kind: str | None = None, **options: Any) -> None:
        self._rows, self._frame = Rows(frame), frame
        self.kind = kind or _kind_of(self._rows.frame)
        page, needed = KINDS[self.kind]
        require_columns(self._rows.frame, needed, f"view of kind {self.kind!r}")
        self._page_of = partial(page, **options)
        if options and len(frame):
            self._page_of(self._rows.row(0))  # raises now if an option is wrong
        self._places, self._shown = np.arange(0), -1
        choices = self._rows.choices
        self._list = RowList(
            total=len(frame),
            sign_meaning=self._rows.sign_meaning,
            choices=[{"name": short(name), "values": choices[name].names} for name in choices],
            chosen=[0] * len(choices),
            sorts=[
                [key, f"{short(name)} {'↓' if down else '↑'}"]
                for key, (name, down) in self._rows.sorts.items()
            ],
        )
        self._page = HTML(tabbable=True)
        self._page.add_class("ragnb-view-page")
        self._find()
        self._list.observe(self._find, ["search", "chosen", "sort"])
        self._list.observe(self._draw, "position")
        self._list.on_msg(self._answer)
        super().__init__([self._list, self._page])
        self.add_class("ragnb-view")

    def __repr__(self) -> str:
        found, total = len(self._places), len(self._frame)
        rows = f"{total}" if found == total else f"{found} of {total}"
        return f"FrameView({self.kind!r}, {rows} rows)"

    def _repr_mimebundle_(self, **options: Any) -> Any:
        first = [self._rows.title(place) for place in self._places[:10].tolist()]
        static = render(
            "view.html",
            line=repr(self),
            number=self.number,
            titles=first,
            more=len(self._places) - len(first),
            page=self._drawn(self._shown, whole=False),
        )
        bundle = super()._repr_mimebundle_(**options)
        return with_static(bundle, {"text/plain": repr(self), "text/html": static})

    @property
    def rows(self) -> pd.DataFrame:
        """The rows that were found, in their order."""
        return self._frame.iloc[self._places]

    @property
    def number(self) -> int:
        """Number of the selected row among those found, from 1; 0 if none was found."""
        return self._list.position + 1

    @property
    def selected(self) -> pd.Series | None:
        """The selected row; None if none was found."""
        return self.rows.iloc[self.number - 1] if self.number else None

    def _find(self, change: Mapping[str, Any] | None = None) -> None:
        """Find the rows again. The selected row stays so if it is found, except in a new order."""
        if change and change["name"] == "sort" and change["new"]:
            self._shown = -1
        chosen = zip(self._rows.choices, self._list.chosen, strict=True)
        filters = {name: code - 1 for name, code in chosen if code}
        self._places = self._rows.found(self._list.search, filters, self._list.sort)
        same = np.flatnonzero(self._places == self._shown)
        position = int(same[0]) if len(same) else min(0, len(self._places) - 1)
        with self._list.hold_sync():
            self._list.found = {
                "version": self._list.found.get("version", 0) + 1,
                "count": len(self._places),
                **self._titles(position - AHEAD, position + AHEAD),
            }
            self._list.position = position
        self._draw()

    def _titles(self, first: int, last: int) -> dict[str, Any]:
        first = max(0, first)
        places = self._places[first : min(last, first + SENT_AT_ONCE)].tolist()
        return {"first": first, "rows": [list(self._rows.title(place)) for place in places]}

    def _answer(self, _: object, message: Mapping[str, Any], __: object) -> None:
        """Reply to the list: prepare the first search, or send the titles of some rows."""
        if message.get("kind") == "prepare":
            len(self._rows.texts)
        elif message.get("kind") == "rows":
            titles = self._titles(int(message["first"]), int(message["last"]))
            self._list.send({"kind": "rows", "version": self._list.found["version"], **titles})

    def _draw(self, _: object = None) -> None:
        position = min(self._list.position, len(self._places) - 1)
        place = int(self._places[position]) if position >= 0 else -1
        if place != self._shown or not self._page.value:
            self._page.value = self._drawn(place)
            self._shown = place

    def _drawn(self, place: int, *, whole: bool = True) -> Markup:
        """Return the page of a row, with all its columns below."""
        if place < 0:
            return tag("p", tag("i", "no row matches" if len(self._frame) else "no rows"))
        row = self._rows.row(place)
        try:
            page = self._page_of(row)._repr_html_()
        except Exception as error:  # one odd row must not hide the others
            problem = f"{type(error).__name__}: {error}"
            return render("row.html", error=problem, row=row)
        if self.kind == "plain" or not whole:
            return page
        return render("row.html", page=page, row=row)


def _kind_of(frame: pd.DataFrame) -> str:
    """Return the first kind whose columns exist; for a single language, the plain one."""
    fitting = [name for name, (_, needed) in KINDS.items() if set(needed) <= set(frame)]
    if fitting[0] == "language" and frame["language"].nunique() < 2:
        return "plain"
    return fitting[0]
