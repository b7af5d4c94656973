"""One annotator at work on a list of items: every action goes to the log first, then it counts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from statistics import median
from typing import Any, Concatenate, ParamSpec, TypeVar

import pandas as pd

from ragnb.annotation.items import Item, build_items, item_columns
from ragnb.annotation.label_state import CHANGES, ItemLabels, LabelState, Place
from ragnb.annotation.log import AnnotationLog, Event, log_file, uninterrupted
from ragnb.annotation.suggestions import read_suggestions
from ragnb.annotation.tasks import Field, Task, read_task
from ragnb.annotation.values import check_value
from ragnb.errors import InputError
from ragnb.version import __version__

P = ParamSpec("P")
R = TypeVar("R")


def _alone(
    method: Callable[Concatenate["AnnotationSession", P], R],
) -> Callable[Concatenate["AnnotationSession", P], R]:
    """Let one thread act at a time: JupyterLab handles clicks in a different thread from the one that runs cells."""

    @wraps(method)
    def act(session: "AnnotationSession", *args: P.args, **options: P.kwargs) -> R:
        with session.log.lock:
            return method(session, *args, **options)

    return act


class AnnotationSession:
    """One annotator's work on some examples: labels, undo, queue and progress, without any screen.

    Parameters
    ----------
    examples
        A row an item; see `ragnb.annotation.items.build_items`.
    task
        A name (``"trace", "verdict", "rgb", "language", "preference"``), a `Task`, or a mapping that declares one.
    annotator
        Who labels.
    path
        The log (``"ana.jsonl"``), or a folder (``"labels"``) in which it becomes ``{annotator}.{task}.jsonl``.
    suggestions
        Labels to begin with; see `ragnb.annotation.suggestions.read_suggestions`.
    suggested_by
        Whose they are: the name of a judge.
    blind
        Keep the suggestions to yourself: nothing of them reaches the screen, and labels do not mention them.
    id
        Column, or columns, that tell the rows apart.
    others
        What others said of each item, by item and name, where their labels are adjudicated.
    named
        The same under their real names, for the log, where `others` hides these from the screen.
    header
        What else the first line of a new log is to hold.

    Raises
    ------
    InputError
        What `build_items`, `read_task` and `AnnotationLog` refuse, and a log of examples that have changed since.
    StoreError
        The log is open elsewhere.
    """

    def __init__(
        self,
        examples: pd.DataFrame,
        task: Task | str | Mapping[str, Any],
        annotator: str,
        path: str | Path,
        *,
        suggestions: Any = None,
        suggested_by: str = "suggestion",
        blind: bool = False,
        id: str | Sequence[str] = "example_id",
        others: Mapping[str, Mapping[str, Mapping[Place, Any]]] | None = None,
        named: Mapping[str, Mapping[str, Mapping[Place, Any]]] | None = None,
        header: Mapping[str, Any] | None = None,
    ) -> None:
        self.task, self.annotator = read_task(task), _name(annotator)
        self.items = build_items(examples, self.task, id=id)
        self.suggested = read_suggestions(suggestions, self.items, self.task, id=id)
        self.suggested_by, self.blind = suggested_by, blind
        self.others = others or {}
        self._named = named or self.others
        self._columns = item_columns(examples, id)
        first = {
            "task": self.task.schema(),
            "annotator": self.annotator,
            "id": id if isinstance(id, str) else list(id),
        }
        self.log = AnnotationLog(
            log_file(path, self.annotator, self.task.name),
            {**first, **(header or {}), "ragnb": __version__},
        )
        self._numbers = {item.id: number for number, item in enumerate(self.items)}
        try:
            self.state = LabelState(self.log.events)
            self._check_unchanged()
        except InputError:
            self.log.close()
            raise
        self.statuses = [self.status(item) for item in self.items]
        self.number = self._where_it_was_left()

    # ---- where we are ----------------------------------------------------------------------------------------------------

    @property
    def item(self) -> Item:
        """The item on the screen."""
        return self.items[self.number]

    @property
    def labels(self) -> ItemLabels:
        """What has been said of the item on the screen."""
        return self.state.of(self.item.id)

    def status(self, item: Item) -> str:
        """``"labelled"``, ``"started"``, ``"skipped"`` or ``"untouched"``."""
        return self.state.of(item.id).status(self.task, item.keys("response"))

    def missing(self) -> list[Place]:
        """What the item on the screen still needs."""
        return self.labels.missing(self.task, self.item.keys("response"))

    def suggestion(self) -> dict[Place, Any]:
        """Suggested values of the places that are untouched; none where the annotator is blind to them."""
        if self.blind:
            return {}
        given = self.suggested.get(self.item.id, {})
        return {place: value for place, value in given.items() if place not in self.labels.values}

    def progress(self) -> dict[str, Any]:
        """How many items, how many of each status and flagged, and the seconds left at the pace so far (None at first)."""
        counts = {
            status: self.statuses.count(status)
            for status in ("labelled", "started", "skipped", "untouched")
        }
        said = [(self._numbers.get(item), labels) for item, labels in self.state.items.items()]
        spent = [
            labels.seconds
            for number, labels in said
            if number is not None and self.statuses[number] == "labelled"
        ]
        left = counts["untouched"] + counts["started"]
        return {
            "items": len(self.items),
            **counts,
            "flagged": sum(labels.flag for number, labels in said if number is not None),
            "elsewhere": sum(labels.changed for number, labels in said if number is None),
            "seconds_left": round(median(spent) * left) if spent else None,
        }

    # ---- where to go -----------------------------------------------------------------------------------------------------

    @_alone
    def show(self) -> None:
        """Note in the log that the item is on the screen: its time begins, and its text is pinned."""
        self._show(self.item)

    @_alone
    def go(self, target: int | str) -> None:
        """Show the item of that number (from 0) or id."""
        number = self._numbers.get(target) if isinstance(target, str) else target
        if not isinstance(number, int) or not 0 <= number < len(self.items):
            raise InputError(
                f"go needs an item's id or a number below {len(self.items)}; got {target!r}; choose another"
            )
        self._show(self.items[number])
        self.number = number

    @contextmanager
    def at(self, number: int) -> Iterator[None]:
        """Act on the item of that number, while the one on the screen stays there."""
        if not 0 <= number < len(self.items):
            raise InputError(f"at needs a number below {len(self.items)}, got {number!r}")
        with self.log.lock:
            shown, self.number = self.number, number
            try:
                yield
            finally:
                self.number = shown

    @_alone
    def move(self, step: int) -> bool:
        """Go some items on or back; False where there is none."""
        number = self.number + step
        if not 0 <= number < len(self.items):
            return False
        self.go(number)
        return True

    @_alone
    def next_unlabelled(self) -> bool:
        """Go to the next item that is neither labelled nor skipped, from here on and then from the start; False if none."""
        n = len(self.items)
        for number in (place % n for place in range(self.number + 1, self.number + n + 1)):
            if self.statuses[number] in ("untouched", "started"):
                self.go(number)
                return True
        return False

    # ---- what is said ----------------------------------------------------------------------------------------------------

    @_alone
    def label(self, field: str, value: Any, sentence: str | None = None) -> None:
        """Give a place of the item on the screen a value; None makes it untouched again.

        Raises
        ------
        InputError
            A value, field or sentence that the task and item do not have.
        """
        place = self._place(field, sentence)
        checked = check_value(self.task.field(field), self.item, value)
        implied = self._implied(self.task.field(field), checked, sentence)
        self._label({place: checked, **implied})

    @_alone
    def toggle(
        self,
        field: str,
        keys: Sequence[str],
        sentence: str | None = None,
        *,
        on: bool | None = None,
    ) -> None:
        """Put keys into a field of sentences, or take them out where all of them are in it; `on` says which.

        No keys say nothing: an untouched field stays so.
        """
        place, asked = self._place(field, sentence), self.task.field(field)
        if asked.kind != "sentences":
            raise InputError(
                f"toggle needs a field of sentences; got {field!r}, a {asked.kind}; use label"
            )
        keys, chosen = check_value(asked, self.item, keys) or [], set(self._base(place))
        adding = not set(keys) <= chosen if on is None else on
        after = chosen | set(keys) if adding else chosen - set(keys)
        if keys:
            self._label({place: check_value(asked, self.item, list(after))})

    @_alone
    def accept(self, field: str | None = None, sentence: str | None = None) -> bool:
        """Take the suggestions of the item, or of one place, as they are; False where there are none."""
        given = self.suggestion()
        if field is not None:
            here = self._place(field, sentence)
            given = {place: value for place, value in given.items() if place == here}
        if given:
            self._label(given)
        return bool(given)

    @_alone
    def flag(self) -> None:
        """Flag the item, or take the flag away."""
        self.record({"action": "flag", "item": self.item.id, "value": not self.labels.flag})

    @_alone
    def skip(self) -> None:
        """Leave the item out for now, or take it in again."""
        self.record({"action": "skip", "item": self.item.id, "value": not self.labels.skipped})

    @_alone
    def note(self, text: str) -> None:
        """A note on the item; an empty one removes it."""
        if not isinstance(text, str):
            raise InputError(f"a note needs to be a text; got {type(text).__name__}; write one")
        if text != self.labels.note:
            self.record({"action": "note", "item": self.item.id, "value": text})

    @_alone
    def undo(self) -> Event | None:
        """Undo the last action that is not undone, wherever it was, and show its item; None where there is none."""
        return self._step_back("undo", self.state.done)

    @_alone
    def redo(self) -> Event | None:
        """Do the action again that was undone last, and show its item; None where there is none."""
        return self._step_back("redo", self.state.undone)

    def close(self) -> None:
        """Let others write to the log."""
        self.log.close()

    # ---- inside ----------------------------------------------------------------------------------------------------------

    @_alone
    def record(self, event: Event) -> None:
        """To the log, then into the state; the first change pins the text that it is about."""
        if event["action"] in CHANGES and self.labels.fingerprint != self.item.fingerprint:
            self.show()
        with uninterrupted():
            self.state.apply(self.log.append(event))
            number = self._numbers.get(event["item"])
            if number is not None:
                self.statuses[number] = self.status(self.items[number])

    def _show(self, item: Item) -> None:
        keys = {name: item.keys(name) for name in ("documents", "response")}
        pinned = {
            "id": self._columns[self._numbers[item.id]],
            "fingerprint": item.fingerprint,
            "sentences": keys,
        }
        self.record({"action": "open", "item": item.id, **pinned})

    def _step_back(self, action: str, stack: list[Event]) -> Event | None:
        if not stack or stack[-1]["item"] not in self._numbers:
            return None
        target = stack[-1]
        self.record({"action": action, "item": target["item"], "of": target["n"]})
        self.number = self._numbers[target["item"]]
        return target

    def _label(self, values: Mapping[Place, Any]) -> None:
        given = [self._said(place, value) for place, value in values.items()]
        self.record({"action": "label", "item": self.item.id, "set": given})

    def _said(self, place: Place, value: Any) -> dict[str, Any]:
        """One value as the log holds it, with where it comes from."""
        name, sentence = place
        said: dict[str, Any] = {
            "field": name,
            **({} if sentence is None else {"sentence": sentence}),
            "value": value,
        }
        if self.item.id in self.others:
            votes = {
                who: given[place]
                for who, given in self._named[self.item.id].items()
                if place in given
            }
            return {**said, "source": "adjudicated", "of": votes}
        suggested = None if self.blind else self.suggested.get(self.item.id, {}).get(place)
        if suggested is None:
            return {**said, "source": "human"}
        source = "suggestion accepted" if suggested == value else "suggestion changed"
        return {**said, "source": source, "suggested": suggested, "suggested_by": self.suggested_by}

    def _implied(self, asked: Field, value: Any, sentence: str | None) -> dict[Place, Any]:
        """What an option settles besides, where that is untouched."""
        option = next(
            (
                option
                for option in asked.options
                if asked.kind == "choice" and option.value == value
            ),
            None,
        )
        implied: dict[Place, Any] = {}
        for name, one in ((option.implies or {}) if option else {}).items():
            settled = self.task.field(name)
            checked, everywhere = check_value(settled, self.item, one), self.item.keys("response")
            keys = [None] if not settled.each else everywhere if sentence is None else [sentence]
            implied |= {(name, key): checked for key in keys}
        return {place: one for place, one in implied.items() if place not in self.labels.values}

    def _base(self, place: Place) -> list[str]:
        """The keys that a toggle starts from: those chosen, or else those suggested."""
        return self.labels.values.get(place, self.suggestion().get(place, []))

    def _place(self, field: str, sentence: str | None) -> Place:
        asked, keys = self.task.field(field), self.item.keys("response")
        if asked.each and sentence not in keys:
            raise InputError(
                f"{field!r} needs a sentence of the response ({', '.join(keys)}); got {sentence!r}; choose one"
            )
        if not asked.each and sentence is not None:
            raise InputError(
                f"{field!r} needs no sentence, for it is asked of the item; got {sentence!r}; leave it out"
            )
        return field, sentence

    def _where_it_was_left(self) -> int:
        """The item shown last if it is there and not done, else the first one that is not."""
        shown = next(
            (
                e["item"]
                for e in reversed(self.log.events)
                if e["action"] != "agreed" and "item" in e
            ),
            None,
        )
        open_numbers = [
            number
            for number, status in enumerate(self.statuses)
            if status in ("untouched", "started")
        ]
        last = self._numbers.get(shown) if shown is not None else None
        return last if last in open_numbers else next(iter(open_numbers), last or 0)

    def _check_unchanged(self) -> None:
        """Refuse a log whose labels were given to other texts."""
        stale = [
            item.id
            for item in self.items
            if item.id in self.state.items and (labels := self.state.of(item.id)).touched
            and labels.fingerprint and labels.fingerprint != item.fingerprint
        ]  # fmt: skip
        if stale:
            raise InputError(
                f"{self.log.path.name} needs the examples that its labels were given to; {len(stale)} of them have other "
                f"texts now, such as {stale[0]!r}; load the old examples, or choose another path"
            )


def _name(annotator: Any) -> str:
    if not isinstance(annotator, str) or not annotator.strip():
        raise InputError(f"annotator needs a name; got {annotator!r}; say who labels")
    return annotator.strip()
