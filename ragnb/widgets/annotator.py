"""The annotator: a widget that labels items, and forgets nothing."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anywidget
import pandas as pd
import traitlets

from ragnb.annotation.session import AnnotationSession
from ragnb.annotation.tasks import Task
from ragnb.errors import InputError, RagnbError
from ragnb.markup import Markup, join, spelled, tag
from ragnb.widgets.annotation_page import entry_of, page_of, state_of, static_page, task_of
from ragnb.widgets.browser import script, style, with_static

OF_NO_ITEM = ("go", "undo", "redo")
"""What does not depend on the item on the screen."""

JUST_NOW = 10.0
"""Seconds after which an annotator that a cell has shown does not take the focus any more."""

LEAVING = ("move", "next", "done", "skip")
"""What goes on to another item, as seen from the one on the screen."""


class Annotator(anywidget.AnyWidget):
    """Labels items by mouse and keyboard; every action is on the disk before it is shown as done.

    Every key labels the item that it was typed for, however slowly the kernel answers. An action that is refused stays on
    the screen until it is dismissed, or until something is said of the same item again. The annotator takes the focus when
    its cell has run. Where no kernel runs, the item on the screen is shown with its labels.

    Parameters
    ----------
    examples
        A row an item: see `ragnb.annotation.items.build_items`. An `AnnotationSession` instead of them, and nothing else,
        is shown as it is.
    task
        ``"trace"``, ``"verdict"``, ``"rgb"``, ``"language"``, ``"preference"``, or a task of your own: a
        `ragnb.annotation.tasks.Task`, or a mapping that declares one.
    annotator
        Who labels.
    path
        Log to which every action is appended (``"ana.jsonl"``), or a folder for it (``"labels"``); what it holds already is
        there again.
    suggestions, suggested_by, blind, id
        See `ragnb.annotation.session.AnnotationSession`.

    Attributes
    ----------
    session : AnnotationSession
        The same work from Python: ``annotator.session.label("verdict", "correct")`` and `refresh` show it, too.

    Raises
    ------
    InputError
        Examples, task, suggestions or log that cannot be used.
    StoreError
        The log is open in another kernel or program.
    """

    _esm = script(
        "dom",
        "lists",
        "logic",
        "work",
        "saving",
        "item_list",
        "sentences",
        "panels",
        "fields",
        "annotator",
    )
    _css = style("annotator")
    task = traitlets.Dict().tag(sync=True)
    page = traitlets.Dict().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)
    jump: Any = traitlets.List().tag(sync=True)

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
    ) -> None:
        if not isinstance(examples, AnnotationSession):
            if not str(path):
                raise InputError(
                    "Annotator needs a path for its log; got none; name a file or a folder"
                )
            examples = AnnotationSession(
                examples,
                task,
                annotator,
                path,
                suggestions=suggestions,
                suggested_by=suggested_by,
                blind=blind,
                id=id,
            )
        self.session = examples
        self.session.show()
        self._displayed = -math.inf
        super().__init__(
            task=task_of(self.session.task), page=page_of(self.session), jump=self._entries()
        )
        self.refresh(message=self.session.log.mended)
        self.on_msg(self._receive)

    def refresh(self, *, ack: int = 0, message: str = "", failed: bool = False) -> None:
        """Show what the session holds now, after it was used from Python."""
        with self.session.log.lock:
            self._update_entry(self.session.number)
            with self.hold_sync():  # an item never stands beside the labels of another
                if self.page["number"] != self.session.number:
                    self.page = page_of(self.session)
                self.state = {
                    **state_of(self.session),
                    "message": message,
                    "failed": failed,
                    "ack": ack,
                }

    # ---- what the browser sends ------------------------------------------------------------------------------------------

    def _receive(self, _widget: Any, content: Any, _buffers: Any) -> None:
        """Do what a message asks for, to the item that it was meant for; errors are shown on the screen."""
        if content.get("act") == "shown":
            self._offer_focus()
            return
        with self.session.log.lock:
            before, ack = self.session.number, content.get("id", 0)
            message, failed = "the kernel was interrupted; look whether this is saved", True
            try:
                message, failed = self._act(content) or "", False
            except RagnbError as error:
                message, failed = str(error), True
            except (
                Exception
            ) as error:  # whatever it is, whoever labels has to know that this was not saved
                message, failed = f"not saved: {type(error).__name__}: {error}", True
            finally:  # the browser keeps further keys until it is answered
                for number in {before, content.get("number", before)} & set(range(len(self.jump))):
                    self._update_entry(number)
                self.refresh(ack=ack, message=message, failed=failed)

    def _offer_focus(self) -> None:
        """Let the first view take the focus after the cell has run; not a view of a notebook that is opened later."""
        if time.monotonic() - self._displayed < JUST_NOW:
            self.send({"kind": "focus"})
        self._displayed = -math.inf

    def _act(self, content: dict[str, Any]) -> str | None:
        act, number = self._acts()[content["act"]], content.get("number", self.session.number)
        if content["act"] in OF_NO_ITEM or number == self.session.number:
            return act(content)
        if content["act"] in LEAVING:
            self.session.go(number)
            return act(content)
        with self.session.at(number):
            return act(content)

    def _acts(self) -> dict[str, Callable[[dict[str, Any]], str | None]]:
        session = self.session
        return {
            "label": lambda said: session.label(said["field"], said["value"], said.get("sentence")),
            "toggle": lambda said: session.toggle(
                said["field"], said["keys"], said.get("sentence"), on=said.get("on")
            ),
            "accept": lambda said: None if session.accept() else "nothing is suggested here",
            "flag": lambda said: session.flag(),
            "skip": lambda said: self._skip(),
            "note": lambda said: session.note(said["text"]),
            "undo": lambda said: self._told("undone", session.undo()),
            "redo": lambda said: self._told("done again", session.redo()),
            "move": lambda said: None if session.move(said["step"]) else "no further item",
            "go": lambda said: session.go(said["to"]),
            "next": lambda said: self._next(),
            "done": lambda said: self._missing() or self._next(),
        }

    def _next(self) -> str | None:
        return None if self.session.next_unlabelled() else "all items are labelled or skipped"

    def _missing(self) -> str | None:
        """What is to be labelled before the next item, in words."""
        if not self.session.missing():
            return None
        name, sentence = self.session.missing()[0]
        field = self.session.task.field(name)
        where = f" [{sentence}]" if sentence else ""
        none = " (e for none)" if field.kind == "sentences" else ""
        return f"still missing: {spelled(field.label)}{where}{none}; skip with ."

    def _skip(self) -> str | None:
        self.session.skip()
        return self._next() if self.session.labels.skipped else None

    def _told(self, what: str, event: Mapping[str, Any] | None) -> str:
        if event is None:
            return f"nothing to be {what}"
        names = (
            ", ".join(dict.fromkeys(one["field"] for one in event.get("set", ())))
            or event["action"]
        )
        return f"{what}: {names}"

    def _entries(self) -> list[Any]:
        return [entry_of(self.session, number) for number in range(len(self.session.items))]

    def _update_entry(self, number: int) -> None:
        """Tell the browser of one line of the list; the list itself stays as long as it was."""
        entry = entry_of(self.session, number)
        if self.jump[number] != entry:
            self.jump[number] = entry
            self.send({"kind": "entry", "number": number, "entry": entry})

    # ---- without a kernel ------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        progress = self.session.progress()
        return f"Annotator({self.session.task.name}, {progress['labelled']} of {progress['items']} labelled)"

    def _repr_html_(self) -> Markup:
        note = tag(
            "p", tag("i", "labelling needs a running kernel; this is the item on the screen")
        )
        return join([note, static_page(self.session)])

    def _repr_mimebundle_(self, **options: Any) -> Any:
        self._displayed = time.monotonic()
        self._show_session()
        static = {"text/plain": repr(self), "text/html": self._repr_html_()}
        return with_static(super()._repr_mimebundle_(**options), static)

    def _show_session(self) -> None:
        """Send all that the session holds now: it may have been used from Python since the widget was made.

        The list is sent as a whole, because a line of it that is sent before the list is on the screen is lost.
        """
        self.refresh(message=self.state["message"], failed=self.state["failed"])
        self.jump[:] = self._entries()
        self.send_state("jump")
