"""A whole frame in a live viewer: a list to search, filter and sort beside the page of the row that is chosen."""

from collections.abc import Callable, Mapping
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import traitlets
from anywidget import AnyWidget
from ipywidgets import HTML, HBox

from ragnb.errors import InputError, check_choice
from ragnb.markup import Markup, join, page, tag
from ragnb.records import require_columns
from ragnb.widgets import contexts, judge, language, rgb, trace
from ragnb.widgets.browser import script, style, with_static
from ragnb.widgets.looks import CELL
from ragnb.widgets.plain import columns_table, plain_page
from ragnb.widgets.rows import Rows, short

AHEAD, SENT_AT_ONCE, TRIED, STATIC_ROWS = 40, 400, 10, 10
"""Rows sent around the chosen one; rows sent at most; rows tried before an error is raised; rows where no kernel runs."""

UP_AND_DOWN = (("", "↑"), ("-", "↓"))


class Kind(NamedTuple):
    """A way to show a row: what makes its page, the columns that it needs, and its options."""

    page: Callable[..., str]
    needed: tuple[str, ...]
    options: tuple[str, ...] = ()


KINDS = {
    "trace": Kind(
        lambda row, **given: trace.TraceView(row, **given)._repr_html_(),
        trace.NEEDED,
        ("variant", "length"),
    ),
    "judge": Kind(lambda row: page(judge.card(row)), judge.NEEDED),
    "rgb": Kind(
        lambda row, **given: rgb.RgbView(row, **given)._repr_html_(),
        contexts.NEEDED,
        ("protocols",),
    ),
    "context": Kind(
        lambda row, **given: contexts.ContextView(row, **given)._repr_html_(),
        contexts.NEEDED,
        ("protocol",),
    ),
    "language": Kind(
        lambda row, **given: language.LanguageView(row, **given)._repr_html_(),
        language.NEEDED,
        ("threshold", "identify"),
    ),
    "plain": Kind(plain_page, ()),
}
"""Ways to show a row, in the order in which they are tried on a frame."""


class RowList(AnyWidget):
    """The list beside the page: it draws what Python says and says what was typed, chosen and scrolled to."""

    _esm = script("dom", "lists", "rows")
    _css = style("rows")
    choices: Any = traitlets.List().tag(sync=True)
    sorts: Any = traitlets.List().tag(sync=True)
    sign_meaning = traitlets.Unicode().tag(sync=True)
    total = traitlets.Int().tag(sync=True)
    search = traitlets.Unicode().tag(sync=True)
    chosen = traitlets.List(traitlets.Int()).tag(sync=True)
    sort = traitlets.Unicode().tag(sync=True)
    position = traitlets.Int(-1).tag(sync=True)
    found = traitlets.Dict().tag(sync=True)


def view(frame: pd.DataFrame, kind: str | None = None, **options: Any) -> "FrameView":
    """A live viewer of a whole frame, see `FrameView`.

    Parameters
    ----------
    frame
        Any frame: of `ragnb.load_ragbench`, of contexts, of responses, the ``worst`` of a judge's report, your own.
    kind
        How a row is shown; chosen from the columns unless given, see `FrameView`.
    options
        Of the static viewer of that kind.

    Raises
    ------
    InputError
        No frame, columns of one name, an unknown kind, its columns missing, an unknown option or value.

    >>> view(pd.DataFrame({"question": ["Who?", "Where?"], "response": ["Ann", "Oslo"]}))
    FrameView('plain', 2 rows)
    """
    return FrameView(frame, kind, **options)


class FrameView(HBox):
    """A list of a frame's rows to search, filter and sort, beside the page of the row that is chosen.

    A search finds the rows whose texts hold all its words, whatever their letter case and width, and tints them on the page.
    Filters stand for the columns of few values. Keys: ``j`` ``k`` and the arrows for the next and the previous row, Home and
    End, ``/`` for the search, Escape out of it.
    Where no kernel runs, a table of the first rows and the chosen page stand in its place.

    Parameters
    ----------
    frame
        Any frame. Named levels of the index count as columns; levels of column names are joined by ``/``.
    kind
        How a row is shown: ``"trace"`` (`TraceView`), ``"judge"`` (`JudgeView`), ``"rgb"`` (`RgbView`), ``"context"``
        (`ContextView`), ``"language"`` (`LanguageView`) or ``"plain"`` (what was asked and said, and a table of the rest).
        By default the first of these whose columns are there; ``"language"`` only for several languages.
    options
        ``variant, length`` of trace, ``protocols`` of rgb, ``protocol`` of context, ``threshold, identify`` of language.

    Raises
    ------
    InputError
        No frame, columns of one name, an unknown kind, its columns missing, an unknown option or value.

    >>> shown = FrameView(pd.DataFrame({"question": ["Who?", "Where?", "Why?"], "hits": [1.0, 3.0, 2.0]}))
    >>> shown.search, shown.sort = "wh", "-hits"
    >>> shown.rows["question"].tolist(), shown.number, shown.selected["question"]
    (['Where?', 'Why?', 'Who?'], 1, 'Where?')
    """

    def __init__(self, frame: pd.DataFrame, kind: str | None = None, **options: Any) -> None:
        self._rows = Rows(frame)
        self._frame = frame
        self.kind = (
            kind_of(self._rows.frame)
            if kind is None
            else check_choice(kind, tuple(KINDS), "the kind of a view")
        )
        self._options = options
        self._check()
        self._list = RowList(
            total=len(frame), sign_meaning=self._rows.sign_meaning, **self._asked_by()
        )
        self._places = np.arange(0)
        self._shown = -1
        self._page = HTML(tabbable=True)
        self._page.add_class("ragnb-view-page")
        self._find()
        self._list.observe(self._find, ["search", "chosen"])
        self._list.observe(self._sort, "sort")
        self._list.observe(self._draw, "position")
        self._list.on_msg(self._answer)
        super().__init__([self._list, self._page])
        self.add_class("ragnb-view")

    def __repr__(self) -> str:
        found, total = len(self._places), len(self._frame)
        return (
            f"FrameView({self.kind!r}, {total if found == total else f'{found} of {total}'} rows)"
        )

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return with_static(
            super()._repr_mimebundle_(**options),
            {"text/plain": repr(self), "text/html": self._static()},
        )

    # ---- what is asked for ---------------------------------------------------------------------------------------------

    @property
    def search(self) -> str:
        """Words that a row's texts are to hold, all of them, whatever their letter case and width."""
        return self._list.search

    @search.setter
    def search(self, words: str) -> None:
        if not isinstance(words, str):
            raise InputError(
                f"a search needs a text; got {type(words).__name__}; write its words with spaces between them"
            )
        self._list.search = words

    @property
    def filters(self) -> dict[Any, Any]:
        """Column → the one value that its rows are to have; None for a missing one."""
        return {name: self._rows.choices[name].values[code] for name, code in self._codes().items()}

    @filters.setter
    def filters(self, wanted: Mapping[Any, Any]) -> None:
        codes = {name: self._rows.code(name, value) for name, value in wanted.items()}
        self._list.chosen = [codes.get(name, -1) + 1 for name in self._rows.choices]

    @property
    def sort(self) -> str:
        """The column that rows are sorted by, ``-`` before it for the greatest first; empty for the frame's own order."""
        return self._list.sort

    @sort.setter
    def sort(self, column: str) -> None:
        if column:
            self._rows.sorted_by(column)
        self._list.sort = column

    # ---- what is found -------------------------------------------------------------------------------------------------

    @property
    def rows(self) -> pd.DataFrame:
        """The rows that are found, in their order."""
        return self._frame.iloc[self._places]

    @property
    def number(self) -> int:
        """Which of the rows found is shown, from 1; 0 where none is found."""
        return self._list.position + 1

    @number.setter
    def number(self, number: int) -> None:
        if not isinstance(number, (int, np.integer)) or not 1 <= number <= len(self._places):
            raise InputError(
                f"view needs a number from 1 to {len(self._places)}; got {number!r}; choose one of these rows"
            )
        self._list.position = int(number) - 1

    @property
    def selected(self) -> pd.Series | None:
        """The row that is shown; None where none is found."""
        return self.rows.iloc[self.number - 1] if self.number else None

    # ---- how it is done ------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        """Raise what is wrong with the call, and what is wrong with every one of the first rows."""
        known = KINDS[self.kind]
        require_columns(self._rows.frame, known.needed, f"view of kind {self.kind!r}")
        unknown = sorted(set(self._options) - set(known.options))
        if unknown:
            names = ", ".join(known.options) or "none"
            raise InputError(
                f"view of kind {self.kind!r} has the options: {names}; got {', '.join(unknown)}; leave it out"
            )
        tried = map(self._row_page, range(min(TRIED, len(self._rows))))
        errors = list(takewhile(lambda page: isinstance(page, InputError), tried))
        if errors and len(errors) == min(TRIED, len(self._rows)):
            raise InputError(str(errors[0]))

    def _row_page(self, place: int) -> Markup | Exception:
        """The page of a row, or why there is none: one odd row is not to hide the others."""
        try:
            return Markup(KINDS[self.kind].page(self._rows.row(place), **self._options))
        except Exception as error:
            return error

    def _asked_by(self) -> dict[str, Any]:
        """What the list offers: filters and sorts, by their names."""
        choices = [
            {"name": short(name), "values": found.names}
            for name, found in self._rows.choices.items()
        ]
        names = [name for name in self._rows.sortable if self._rows.differs(name)]
        sorts = [
            [f"{sign}{name}", f"{short(name)} {arrow}"]
            for name in names
            for sign, arrow in UP_AND_DOWN
        ]
        return {"choices": choices, "chosen": [0] * len(choices), "sorts": sorts}

    def _codes(self) -> dict[Any, int]:
        return {
            name: place - 1
            for name, place in zip(self._rows.choices, self._list.chosen, strict=True)
            if place
        }

    def _sort(self, _: object = None) -> None:
        """The first row of a new order is what was asked for."""
        self._shown = self._shown if not self._list.sort else -1
        self._find()

    def _find(self, _: object = None) -> None:
        """Ask for the rows again; the row that is shown stays so where it is among them."""
        self._places = self._rows.found(self._list.search, self._codes(), self._list.sort)
        same = np.flatnonzero(self._places == self._shown)
        position = int(same[0]) if len(same) else min(0, len(self._places) - 1)
        with self._list.hold_sync():
            version = self._list.found.get("version", 0) + 1
            titles = self._titles(position - AHEAD, position + AHEAD)
            self._list.found = {"version": version, "count": len(self._places), **titles}
            self._list.position = position
        self._draw()

    def _titles(self, first: int, last: int) -> dict[str, Any]:
        first = max(0, first)
        places = self._places[first : min(last, first + SENT_AT_ONCE)].tolist()
        return {"first": first, "rows": [list(self._rows.title(place)) for place in places]}

    def _answer(self, _: object, message: Mapping[str, Any], __: object) -> None:
        if message.get("kind") == "prepare":
            self._rows.prepare()
        elif message.get("kind") == "rows":
            titles = self._titles(int(message["first"]), int(message["last"]))
            self._list.send({"kind": "rows", "version": self._list.found["version"], **titles})

    def _draw(self, _: object = None) -> None:
        position = min(self._list.position, len(self._places) - 1)
        place = int(self._places[position]) if position >= 0 else -1
        if place != self._shown or not self._page.value:
            self._page.value = self._drawn(place)
            self._shown = place

    def _drawn(self, place: int) -> Markup:
        if place < 0:
            return tag("p", tag("i", "no row matches" if len(self._rows) else "no rows"))
        page, table = self._row_page(place), columns_table(self._rows.row(place))
        if isinstance(page, Exception):
            return join(
                [
                    tag(
                        "p",
                        tag("b", "this row cannot be shown: "),
                        f"{type(page).__name__}: {page}",
                    ),
                    table,
                ]
            )
        rest = tag("details", tag("summary", "all columns"), table, style="margin:0.8em 0")
        return page if self.kind == "plain" else join([page, rest])

    def _static(self) -> Markup:
        note = tag(
            "p",
            tag(
                "i",
                f"{self!r}; search, filters and the list need a running kernel, this is row {self.number}",
            ),
        )
        return join([note, self._table(), Markup(self._page.value)])

    def _table(self) -> Markup:
        titles = [self._rows.title(place) for place in self._places[:STATIC_ROWS].tolist()]
        lines = [_line(number, *title) for number, title in enumerate(titles, 1)]
        more = len(self._places) - len(lines)
        rest = [tag("p", tag("small", f"… and {more} more"))] if more else []
        return join([tag("table", *lines, style="margin:0.6em 0"), *rest])


def kind_of(frame: pd.DataFrame) -> str:
    """The kind of the first static viewer whose columns are there; ``"plain"`` where none is.

    >>> kind_of(pd.DataFrame(columns=["question", "response"]))
    'plain'
    """
    fitting = (name for name, kind in KINDS.items() if set(kind.needed) <= set(frame.columns))
    found = next(fitting)
    return "plain" if found == "language" and frame["language"].nunique() < 2 else found


def _line(number: int, sign: str, text: str, about: list[str]) -> Markup:
    cells = [
        tag("td", text, dir="auto", style=CELL),
        *(tag("td", piece, dir="auto", style=CELL) for piece in about),
    ]
    return tag("tr", tag("td", number, style=CELL), tag("td", tag("b", sign), style=CELL), *cells)
