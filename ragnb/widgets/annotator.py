"""The annotator: a widget that labels items and saves every action at once."""

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakMethod

import anywidget
import pandas as pd
import traitlets

from ragnb.annotation.session import AnnotationSession
from ragnb.annotation.tasks import LISTS, Task
from ragnb.arguments import accepts
from ragnb.errors import InputError, RagnbError
from ragnb.markup import Markup, join, spelled, tag
from ragnb.printing import warn
from ragnb.widgets.annotation_page import entry_of, page_of, state_of, static_page, task_of
from ragnb.widgets.browser import Browser
from ragnb.widgets.pages import STATIC, with_static

# Actions after which another item may be on the screen. Those of the first group start from the item for which they were
# meant, the others from any.
LEAVING_ITS_ITEM = ("move", "next", "done", "skip")
LEAVING = (*LEAVING_ITS_ITEM, "go", "undo", "redo")

# Seconds after which an annotator that a cell has shown no longer takes the focus.
JUST_NOW = 10.0


class Annotator(anywidget.AnyWidget):
    """Labels items by mouse and keyboard. Every action is on disk before it is shown as done.

    A key labels the item for which it was typed, however slowly the kernel answers. A refused
    action stays on the screen until it is dismissed, or until a later action on the same item
    succeeds. The annotator takes the focus when its cell has run. Where no kernel runs, the item on
    the screen is shown with its labels.

    Parameters
    ----------
    examples
        One row per item, see `ragnb.annotation.items.build_items`; or an `AnnotationSession`
        instead of all parameters.
    task
        ``"trace"``, ``"verdict"``, ``"rgb"``, ``"language"``, ``"preference"``, ``"claims"``,
        ``"spans"``, ``"grades"``, ``"error_analysis"``, a `ragnb.annotation.tasks.Task`, or a
        mapping that declares one.
    annotator
        Name of the person who labels.
    path
        Log to which every action is appended (``"ana.sqlite"``), or a folder (``"labels"``) in which
        it becomes ``{annotator}.{task}.sqlite``. Labels in an existing log are restored.
    suggestions, suggested_by, blind, id, codebook
        See `ragnb.annotation.session.AnnotationSession`.

    Attributes
    ----------
    session : AnnotationSession
        The same work from Python: ``annotator.session.label("verdict", "correct")``, then
        `refresh`.

    Raises
    ------
    InputError
        If the examples, the task, the codebook, the suggestions or the log cannot be used.
    StoreError
        If the log is open in another kernel or program.
    """

    _esm = (STATIC / "annotator.js").read_text("utf-8")
    _css = (STATIC / "annotator.css").read_text("utf-8")
    # What the browser draws: the task, the item on the screen, what may change with an action, and the list of items.
    task = traitlets.Dict().tag(sync=True)
    page = traitlets.Dict().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)
    jump: Any = traitlets.List().tag(sync=True)

    @accepts()
    def __init__(
        self,
        examples: pd.DataFrame | AnnotationSession,
        task: Task | str | Mapping[str, Any] = "verdict",
        annotator: str = "",
        path: str | Path = "",
        *,
        suggestions: Any = None,
        suggested_by: str = "suggestion",
        blind: bool = False,
        id: str | Sequence[str] = "example_id",
        codebook: Any = None,
    ) -> None:
        if not isinstance(examples, AnnotationSession):
            if not str(path):
                raise InputError("Annotator needs a path for its log, got none")
            examples = AnnotationSession(
                examples,
                task,
                annotator,
                path,
                suggestions=suggestions,
                suggested_by=suggested_by,
                blind=blind,
                id=id,
                codebook=codebook,
            )
        self.session = examples
        self.session.go(self.session.number)
        # When a cell displayed the annotator; minus infinity if no view has to take the focus.
        self._displayed = -math.inf
        self._browser = Browser(self.send)
        super().__init__(task=task_of(self.session.task), page=self._page(), jump=self._entries())
        self.refresh(message="; ".join(self.session.notices))
        self.on_msg(self._receive)
        # The log does not keep an annotator alive that nobody uses.
        wait = WeakMethod(self._wait_for_browser)
        self.session.log.before_reading = lambda: _call(wait())

    def refresh(
        self, *, ack: int = 0, message: str = "", failed: bool = False, touched: Iterable[int] = ()
    ) -> None:
        """Show the present state of the session, after it was used from Python.

        The keyword arguments are those of an answer to the browser: the id of its message (`ack`), a sentence for the
        annotator (`message`), whether the action `failed`, and the numbers of the items that it may have `touched`.
        """
        self._browser.answer(self._show, ack, message, failed, touched)

    def _show(self, ack: int, message: str, failed: bool, touched: Iterable[int]) -> None:
        """Send the state of the session, and what was learned of the lines of the list."""
        with self.session.log.lock:
            # The lines of the list that may have changed; the list itself is not sent again.
            entries = {
                number: entry_of(self.session, number)
                for number in {self.session.number, *touched} & {*range(len(self.jump))}
            }
            for number, entry in entries.items():
                self.jump[number] = entry
            with self.hold_sync():  # an item is never shown with the labels of another
                if self.page["number"] != self.session.number:
                    self.page = self._page()
                news = {"message": message, "failed": failed, "ack": ack, "entries": entries}
                self.state = state_of(self.session) | news

    # ---- what the browser sends ------------------------------------------------------------------

    def _receive(self, _widget: Any, content: Any, _buffers: Any) -> None:
        """Handle a message of the page."""
        with self._browser.handling():
            act = content.get("act")
            if act == "shown":
                self._add_view(content["view"])
            elif act == "pending":
                self._browser.keep(content["view"], content["question"], int(content["pending"]))
            elif act == "closed":
                self._browser.close(content["view"], content["lost"])
            else:
                self._do(content)

    def _add_view(self, view: int) -> None:
        """Know a new view, and give it the focus if a cell has just shown it."""
        # The first view takes the focus after the cell has run, not one of a notebook that is opened
        # later.
        if time.monotonic() - self._displayed < JUST_NOW:
            self.send({"kind": "focus"})
        self._displayed = -math.inf
        self._browser.open(view)

    def _do(self, content: dict[str, Any]) -> None:
        """Do what a message requests, to the item for which it was meant; show errors."""
        with self.session.log.lock:
            touched = {self.session.number, content.get("number", self.session.number)}
            message = "the kernel was interrupted; check whether your last action was saved"
            failed = True
            try:
                message = self._act(content) or ""
                failed = False
            except RagnbError as error:
                message = str(error)
            except Exception as error:  # the annotator must know that this was not saved
                message = f"not saved: {type(error).__name__}: {error}"
            finally:  # the browser holds further keys until it gets an answer
                ack = content.get("id", 0)
                self.refresh(ack=ack, message=message, failed=failed, touched=touched)

    def _wait_for_browser(self) -> None:
        """Wait until everything that was done in the browser is in the log, or warn of what is not."""
        for sentence in self._browser.wait(self.session.annotator):
            warn(sentence)

    def _act(self, content: dict[str, Any]) -> str | None:
        """Do one action, and return a sentence for the annotator if there is one."""
        name = content["act"]
        number = content.get("number", self.session.number)
        act = self._acts()[name]
        if name not in LEAVING:
            with self.session.at(number):
                return act(content)
        if name in LEAVING_ITS_ITEM and number != self.session.number:
            self.session.go(number)
        return act(content)

    def _acts(self) -> dict[str, Callable[[dict[str, Any]], str | None]]:
        """Name of each action in a message of the browser -> function of the message, which may return a sentence."""
        session = self.session
        return {
            "label": lambda message: session.label(
                message["field"], message["value"], message.get("sentence")
            ),
            "toggle": lambda message: session.toggle(
                message["field"], message["keys"], message.get("sentence"), on=message.get("on")
            ),
            "accept": lambda message: None if session.accept() else "nothing is suggested here",
            "tag": lambda message: session.tag(message["name"], message["field"]),
            "codebook": self._change_codebook,
            "flag": lambda message: session.flag(),
            "skip": lambda message: self._skip(),
            "note": lambda message: session.note(message["text"]),
            "undo": lambda message: _notice("undone", session.undo()),
            "redo": lambda message: _notice("done again", session.redo()),
            "move": lambda message: None if session.move(message["step"]) else "no further item",
            "go": lambda message: session.go(message["to"]),
            "next": lambda message: self._next(),
            "done": lambda message: self._missing() or self._next(),
        }

    def _change_codebook(self, message: Mapping[str, Any]) -> None:
        """Rename, define or merge a tag."""
        session, tag, change = self.session, message["tag"], message["change"]
        if change == "rename":
            session.rename_tag(tag, message["name"])
        elif change == "define":
            session.define_tag(tag, message["definition"])
        else:
            session.merge_tags(tag, message["into"])

    def _next(self) -> str | None:
        """Go to the next item to be labelled. Return a sentence if there is none."""
        return None if self.session.next_unlabelled() else "all items are labelled or skipped"

    def _missing(self) -> str | None:
        """Return in words what must be labelled before the next item."""
        if not self.session.missing():
            return None
        name, sentence = self.session.missing()[0]
        field = self.session.task.field(name)
        where = f" [{sentence}]" if sentence else ""
        none = " (e for none)" if field.kind in LISTS else ""
        return f"still missing: {spelled(field.label)}{where}{none}; press . to skip"

    def _skip(self) -> str | None:
        """Skip the item and go to the next one, or undo the skip and stay."""
        self.session.skip()
        return self._next() if self.session.labels.skipped else None

    def _page(self) -> dict[str, Any]:
        """The item on the screen, as the browser draws it."""
        return page_of(self.session.task, self.session.item, self.session.number)

    def _entries(self) -> list[Any]:
        """The lines of the list of items."""
        return [entry_of(self.session, number) for number in range(len(self.session.items))]

    # ---- without a kernel ------------------------------------------------------------------------

    def __repr__(self) -> str:
        progress = self.session.progress()
        counts = f"{progress['labelled']} of {progress['items']} labelled"
        return f"Annotator({self.session.task.name}, {counts})"

    def _repr_html_(self) -> Markup:
        note = "labelling needs a running kernel; this is the item on the screen"
        return join([tag("p", tag("i", note)), static_page(self.session)])

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """Send the present state of the session, which Python may have used since, and display it.

        The list is sent as a whole, because a line that is sent before the list is on the screen is
        lost.
        """
        self._displayed = time.monotonic()
        self.refresh(message=self.state["message"], failed=self.state["failed"])
        self.jump[:] = self._entries()
        self._browser.answer(self.send_state, "jump")
        static = {"text/plain": repr(self), "text/html": self._repr_html_()}
        return with_static(super()._repr_mimebundle_(**options), static)


def _notice(what: str, event: Mapping[str, Any] | None) -> str:
    """What was undone or redone, for the annotator."""
    if event is None:
        return f"nothing to be {what}"
    fields = dict.fromkeys(entry["field"] for entry in event.get("set", ()))
    return f"{what}: {', '.join(fields) or event['action']}"


def _call(function: Callable[[], None] | None) -> None:
    """Call a method whose object still exists."""
    if function is not None:
        function()
