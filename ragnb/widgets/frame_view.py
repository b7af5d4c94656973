"""A whole frame in a live viewer: a searchable list of rows, and the page of the selected row."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import traitlets
from anywidget import AnyWidget
from ipywidgets import HTML, HBox

from ragnb.arguments import accepts
from ragnb.errors import InputError
from ragnb.experiments.before_after import Changes
from ragnb.markup import Markup, join, tag
from ragnb.reports.definitions import DefinitionComparison
from ragnb.reports.frames import Report
from ragnb.reports.judge import JudgeReport
from ragnb.scoring.joined import with_scores
from ragnb.widgets.card import SECTIONS, Card, draw, kinds_of
from ragnb.widgets.cells import Displays
from ragnb.widgets.pages import CSS, STATIC, render, with_static
from ragnb.widgets.rows import Rows, words

# Number of rows whose titles are sent around the selected one, and largest number that is sent at once. A frame may have
# a million rows, and the list asks for more when the user scrolls.
AHEAD, SENT_AT_ONCE = 40, 400

# In the static form, which is shown where no kernel runs: largest number of rows, and number of characters of HTML after
# which rows have only their titles. The static form is saved in the notebook, so it must be small.
STATIC_ROWS, STATIC_SIZE = 10, 40_000

# The views of this kernel.
DISPLAYS = Displays()


class RowList(AnyWidget):
    """The list next to the page. It draws what Python sends, and reports actions of the user.

    Attributes
    ----------
    offer : dict
        Number of rows, filters and orders; see `_offer`.
    search, sort : str
        What the user typed, and the chosen order.
    chosen : list
        For each filter, the codes of the chosen values.
    position : int
        Position of the selected row among those that were found; -1 if there is none.
    found : dict
        Number of rows that were found, and the titles of those around the selected one.
    """

    _esm = (STATIC / "rows.js").read_text("utf-8")
    _css = (STATIC / "rows.css").read_text("utf-8") + CSS
    offer: Any = traitlets.Dict().tag(sync=True)
    search = traitlets.Unicode().tag(sync=True)
    chosen = traitlets.List(traitlets.List(traitlets.Int())).tag(sync=True)
    sort = traitlets.Unicode().tag(sync=True)
    position = traitlets.Int(-1).tag(sync=True)
    found = traitlets.Dict().tag(sync=True)


@accepts()
def view(
    frame: Any,
    scores: pd.DataFrame | str | None = None,
    kind: str | None = None,
    *,
    changed: Sequence[str] | None = None,
    **options: Any,
) -> "Card | FrameView":
    """Show responses: a frame of them in a live viewer, or one row of a frame as a card.

    For a result of `ragnb.compare_definitions`, the viewer shows the responses on which the
    definitions differ. For a result of `ragnb.judge_report`, it shows those on which a judge and
    people differ, with the worst first. For a result of `ragnb.changes`, it shows the questions whose
    answers flipped, with both texts.

    Parameters
    ----------
    frame
        Any frame, such as those of `ragnb.load_ragbench` or `ragnb.load_responses`, one row of it,
        or a result of those three functions. Named levels of the index count as columns. Levels of
        column names are joined by ``/``.
    scores
        Scores of these responses, as `ragnb.score` returns them. They become columns, so that the
        list can be sorted, searched and filtered by them; the first metric with scores of 0 and 1
        gives the signs ✓ and ✗. A name in this place is the ``kind``.
    kind
        The only special section that is shown. By default all are shown whose columns exist:
        ``"trace"`` (labelled sentences and TRACe scores), ``"judge"`` (a judge and people),
        ``"rgb"`` (verdicts of the protocols of RGB, with the words that decide them) and
        ``"language"`` (letters by script and RLC; by default only of a frame with several languages,
        or of a row without any other section).
    changed
        Two systems. Only questions on which their verdicts differ are shown, with the responses of
        both.
    options
        Options of the sections. ``protocols`` of rgb: the protocols of `ragnb.metrics.rgb`.
        ``variant`` of trace: as in `ragnb.metrics.trace.relevance`; ``other, named``: a second row
        with the labels of another annotator, and that annotator's name. ``threshold`` of language:
        as in `ragnb.metrics.language.response_in_language`.

    Raises
    ------
    InputError
        If two columns have the same name, the kind is unknown, its columns are missing, or an
        option is unknown or has an invalid value.

    >>> view(pd.DataFrame({"question": ["Who?", "Where?"], "response": ["Ann", "Oslo"]}))
    FrameView(2 rows)
    >>> view({"question": "Who?", "response": "Ann"})
    Card('Who?')
    """
    if isinstance(frame, Changes):
        scores = frame.scores if scores is None else scores
        is_graded = isinstance(scores, pd.DataFrame) and _verdict_among(scores) is None
        if is_graded or not isinstance(scores, pd.DataFrame):
            # Without verdicts, the questions are those whose value changed.
            ids = set(frame.flipped["example_id"])
            frame = frame.responses[frame.responses["example_id"].isin(ids)]
        else:
            changed = frame.sides if changed is None else changed
            frame = frame.responses
    if isinstance(frame, DefinitionComparison):
        frame = frame.differing
    elif isinstance(frame, JudgeReport):
        frame = frame.worst
    if isinstance(scores, str):
        kind, scores = scores, None
    if isinstance(frame, Mapping | pd.Series):
        return Card(frame, kind, **options)
    if isinstance(frame, Report):
        raise InputError(
            f"view shows responses, got a report ({type(frame).__name__}); draw it with ragnb.plot, "
            "or view the responses from which it was made"
        )
    is_scores = isinstance(frame, pd.DataFrame) and {"metric", "value", "signature"} <= set(frame)
    if is_scores and "response" not in frame:
        raise InputError(
            "view shows responses, got scores, which have no texts; show both: "
            "ragnb.view(responses, scores)"
        )
    verdict = None
    if scores is not None:
        frame, verdict = with_scores(frame, scores), _verdict_among(scores)
    return FrameView(frame, kind, changed=changed, verdict=verdict, **options)


def _verdict_among(scores: pd.DataFrame) -> str | None:
    """The first metric whose scores are all 0 or 1; None if there is none."""
    for metric, values in scores.groupby("metric", sort=False)["value"]:
        if values.notna().any() and values.dropna().isin([0, 1]).all():
            return str(metric)
    return None


class FrameView(HBox):
    """A list of the rows of a frame, next to the card of the selected row.

    The list can be searched, filtered and sorted. A search finds the rows whose texts contain all
    its words, in any letter case and width, and highlights them on the card. A word such as
    ``answer.f1<0.5`` compares a column of numbers. Columns with few values become filters, which
    take several values. Responses of other systems to the same question, under the same conditions,
    are on the card; rows can be sorted by whether their verdicts differ. Keys: ``j`` ``k`` and the
    arrows for the next and the previous row, Home and End, ``/`` for the search, Escape to leave
    it. Where no kernel runs, the cards of the first rows are shown.

    The parameters are those of `view`.

    Attributes
    ----------
    rows, number, selected
        The rows that were found, the number of the selected one, and this row.

    >>> shown = FrameView(pd.DataFrame({"question": ["Who?", "Where?", "Why?"], "hits": [1, 3, 2]}))
    >>> shown.number, shown.selected["question"]
    (1, 'Who?')
    """

    @accepts(kind=tuple(SECTIONS))
    def __init__(
        self,
        frame: pd.DataFrame,
        kind: str | None = None,
        *,
        changed: Sequence[str] | None = None,
        verdict: str | None = None,
        **options: Any,
    ) -> None:
        self._rows = Rows(frame, changed, verdict)
        self._frame = frame
        self._options = options
        self.kinds = kinds_of(self._rows.frame, kind)
        if options and len(frame):
            draw(self._rows.row(0), self.kinds, **options)  # raises now if an option is wrong
        # Positions of the rows that were found, and of the row whose card is shown.
        self._places = np.arange(0)
        self._shown = -1
        self._list = RowList(offer=_offer(self._rows), chosen=[[]] * len(self._rows.choices))
        self._page = HTML(tabbable=True)
        self._page.add_class("ragnb-view-page")
        self._find()
        self._list.observe(self._find, ["search", "chosen", "sort"])
        self._list.observe(self._draw, "position")
        self._list.on_msg(self._answer)
        super().__init__([self._list, self._page])
        self.add_class("ragnb-view")
        DISPLAYS.made(self)

    def close(self) -> None:
        """Remove the view from the notebook, and free its copy of the frame."""
        # ipywidgets also closes a view whose constructor has failed. Such a view may lack these attributes.
        if "_list" in self.__dict__:
            self._list.unobserve_all()
            self._list.close()
        if "_page" in self.__dict__:
            self._page.close()
        super().close()
        self.__dict__.pop("_rows", None)
        self.__dict__.pop("_frame", None)

    def __repr__(self) -> str:
        if not hasattr(self, "_rows"):
            return "FrameView(closed)"
        kinds = f": {', '.join(self.kinds)}" if self.kinds else ""
        return f"FrameView({self._count()}{kinds})"

    def _count(self) -> str:
        """How many rows are shown, and of how many."""
        n_found, total = len(self._places), self._list.offer["total"]
        if n_found < total:
            return f"{n_found:,} of {total:,} rows"
        return f"{total:,} row{'' if total == 1 else 's'}"

    def _repr_mimebundle_(self, **options: Any) -> Any:
        DISPLAYS.displayed(self)
        bundle = super()._repr_mimebundle_(**options)
        return with_static(bundle, {"text/plain": repr(self), "text/html": self.static_html()})

    def static_html(self) -> Markup:
        """What pages without a kernel show: the cards of some rows from the selected one on, within `STATIC_SIZE`."""
        first = max(0, self.number - 1)
        rows = []
        size = 0
        places = self._places[first : first + STATIC_ROWS].tolist()
        for number, place in enumerate(places, first + 1):
            card = self._drawn(place, whole=False) if size < STATIC_SIZE else ""
            rows.append((number, *self._rows.title(place), card))
            size += len(card)
        static = render(
            "view.html",
            count=self._count(),
            number=self.number,
            rows=rows,
            more=len(self._places) - first - len(rows),
        )
        return render("page.html", content=static)

    @property
    def rows(self) -> pd.DataFrame:
        """The rows that were found, in their order."""
        if not hasattr(self, "_frame"):
            raise InputError("the view was closed because its cell has run again; use the new one")
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
        """Find the rows again. A selected row that is found stays selected. In a new order, the first row is selected.

        `change` says what the user changed in the list. It is None when the view is created.
        """
        is_new_order = change is not None and change["name"] == "sort" and bool(change["new"])
        if is_new_order:
            self._shown = -1
        codes_by_column = zip(self._rows.choices, self._list.chosen, strict=True)
        # Without a choice, a column does not filter.
        filters = {name: codes for name, codes in codes_by_column if codes}
        self._places = self._rows.found(self._list.search, filters, self._list.sort)
        positions_of_selected = np.flatnonzero(self._places == self._shown)
        if len(positions_of_selected):
            position = int(positions_of_selected[0])
        else:
            position = 0 if len(self._places) else -1
        # The browser gets all changes at once, so that it never draws new titles with the old position.
        with self._list.hold_sync():
            self._list.found = {
                # Titles that the list requested for an earlier search have an earlier version.
                "version": self._list.found.get("version", 0) + 1,
                "count": len(self._places),
                **self._titles(position - AHEAD, position + AHEAD),
            }
            self._list.position = position
        self._draw()

    def _titles(self, first: int, last: int) -> dict[str, Any]:
        """The titles of the rows that were found from position ``first`` to ``last``, at most `SENT_AT_ONCE`."""
        first = max(0, first)
        places = self._places[first : min(last, first + SENT_AT_ONCE)].tolist()
        return {"first": first, "rows": [list(self._rows.title(place)) for place in places]}

    def _answer(self, _: object, message: Mapping[str, Any], __: object) -> None:
        """Reply to the list: prepare the first search, or send the titles of some rows."""
        if message.get("kind") == "prepare":
            # Reading the property collects the texts, so that the first search is fast.
            _ = self._rows.texts
        elif message.get("kind") == "rows":
            titles = self._titles(int(message["first"]), int(message["last"]))
            self._list.send({"kind": "rows", "version": self._list.found["version"], **titles})

    def _draw(self, _: object = None) -> None:
        """Show the card of the selected row, unless it is shown already."""
        position = min(self._list.position, len(self._places) - 1)
        place = int(self._places[position]) if position >= 0 else -1
        if place != self._shown or not self._page.value:
            self._page.value = self._drawn(place)
            self._shown = place

    def _drawn(self, place: int, *, whole: bool = True) -> Markup:
        """Return the card of a row. A ``whole`` card has a table of the columns below."""
        if place < 0:
            return tag("p", tag("i", "no row matches" if len(self._frame) else "no rows"))
        row = self._rows.row(place)
        # A row without question and response has nothing but its columns.
        has_texts = bool({"question", "response"} & set(row))
        columns = row if whole or not has_texts else {}
        try:
            return draw(
                row,
                self.kinds,
                scores=list(self._rows.scores(place)),
                other_responses=self._rows.others(place),
                columns_below=columns,
                **self._options,
            )
        except Exception as error:  # One odd row must not prevent the view of the others.
            note = tag("p", tag("b", f"this row cannot be shown: {error}"))
            return join([note, draw({}, [], columns_below=row)])


def _offer(rows: Rows) -> dict[str, Any]:
    """What the list knows of a frame before anything is searched: counts, filters, orders, and the columns of numbers.

    A search can compare these columns. The page does not tint such comparisons, see ``tools/js/src/rows.mjs``.
    """
    choices = [{"name": words(name), "values": rows.choices[name].names} for name in rows.choices]
    sorts = []
    for key, (name, is_descending) in rows.sorts.items():
        arrow = "↓" if is_descending else "↑"
        sorts.append([key, f"{words(name)} {arrow}"])
    return {
        "total": int(rows.within.sum()),
        "sign_meaning": rows.sign_meaning,
        "choices": choices,
        "sorts": sorts,
        "numbers": [str(name) for name in rows.numbers],
    }
