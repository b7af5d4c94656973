"""What has been said of each item so far: the state that follows from a log's actions, undone ones left out."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ragnb.annotation.log import Event
from ragnb.annotation.tasks import Task

Place = tuple[str, str | None]
"""A field, and the key of the response's sentence where it is asked of each."""

CHANGES = ("label", "note", "flag", "skip")
"""Actions that change an item and can be undone."""

IDLE = 120.0
"""Seconds after which nobody is thought to be at work any more."""


@dataclass
class ItemLabels:
    """One item's labels. A place that is not in ``values`` is untouched; ``[]`` is deliberately empty.

    Attributes
    ----------
    values : dict
        Place to value: an option's value, a list of keys, or a text.
    said : dict
        Place to what else the log holds of that label: ``source`` and, where there is one, ``suggested``.
    seconds : float
        Time spent, gaps of more than two minutes cut.
    id : dict
        The columns behind the item's id, and their values.
    time : str
        Of the last change by this annotator; empty where there is none.
    """

    values: dict[Place, Any] = field(default_factory=dict)
    said: dict[Place, dict[str, Any]] = field(default_factory=dict)
    flag: bool = False
    skipped: bool = False
    note: str = ""
    seconds: float = 0.0
    id: dict[str, Any] = field(default_factory=dict)
    fingerprint: str = ""
    sentences: dict[str, list[str]] = field(default_factory=dict)
    time: str = ""

    @property
    def touched(self) -> bool:
        """Whether anything was said of it."""
        return bool(self.values or self.flag or self.skipped or self.note)

    @property
    def changed(self) -> bool:
        """Whether this annotator said anything of it, beyond what others agree on."""
        return self.touched and bool(self.time)

    def nested(self) -> dict[str, Any]:
        """Values by field: ``{"relevant": ["0a"], "support": {"a": "full"}}``; untouched ones are not there."""
        return nested(self.values)

    def missing(self, task: Task, sentences: Iterable[str]) -> list[Place]:
        """Required places that are untouched; ``sentences`` are the keys of the response."""
        return [place for place in places(task, sentences, required=True) if place not in self.values]

    def status(self, task: Task, sentences: Iterable[str]) -> str:
        """``"labelled"`` when nothing is missing, else ``"skipped"``, ``"started"`` or ``"untouched"``."""
        if not self.missing(task, sentences):
            return "labelled"
        return "skipped" if self.skipped else "started" if self.values else "untouched"


def places(task: Task, sentences: Iterable[str], *, required: bool = False) -> Iterator[Place]:
    """Every place of a task, for a response of these sentences."""
    keys = list(sentences)
    for asked in task.fields:
        if asked.required or not required:
            yield from ((asked.name, key) for key in keys) if asked.each else [(asked.name, None)]


def nested(values: Mapping[Place, Any]) -> dict[str, Any]:
    """Values by field, those of each sentence in a mapping of their own.

    >>> nested({("overall", None): True, ("support", "a"): "full"})
    {'overall': True, 'support': {'a': 'full'}}
    """
    found: dict[str, Any] = {}
    for (name, sentence), value in values.items():
        if sentence is None:
            found[name] = value
        else:
            found.setdefault(name, {})[sentence] = value
    return found


def flat(values: Mapping[str, Any], task: Task) -> dict[Place, Any]:
    """The other way round; fields of the task only."""
    found: dict[Place, Any] = {}
    for asked in task.fields:
        value = values.get(asked.name)
        if isinstance(value, Mapping):
            found |= {(asked.name, str(key)): one for key, one in value.items() if one is not None}
        elif value is not None:
            found[asked.name, None] = value
    return found


class LabelState:
    """The labels of all items after some actions, and what can be undone and done again."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.items: dict[str, ItemLabels] = {}
        self.done: list[Event] = []
        self.undone: list[Event] = []
        self._before: dict[int, Any] = {}
        self._last: tuple[str, datetime] | None = None
        for event in events:
            self.apply(event)

    def of(self, item: str) -> ItemLabels:
        """Labels of an item; empty ones where nothing was said."""
        return self.items.setdefault(item, ItemLabels())

    def apply(self, event: Event) -> None:
        """Follow one action of the log."""
        action = event["action"]
        self._spend(event)
        if action == "open":
            self._pin(event)
        elif action == "undo":
            undone = self.done.pop()
            self._restore(undone["item"], self._before.pop(undone["n"]))
            self.undone.append(undone)
        elif action == "redo":
            self._change(self.undone.pop())
        elif action == "agreed":
            self._pin(event)
            self._set(self.of(event["item"]), event["set"])
        elif action in CHANGES:
            self.undone.clear()
            self._change(event)

    def _pin(self, event: Event) -> None:
        """Keep what the labels are of: the columns behind the id, the hash of the text, the keys of its sentences."""
        labels = self.of(event["item"])
        labels.id = event.get("id", labels.id)
        labels.fingerprint = event.get("fingerprint", labels.fingerprint)
        labels.sentences = event.get("sentences", labels.sentences)

    def _change(self, event: Event) -> None:
        labels = self.of(event["item"])
        self._before[event["n"]] = (dict(labels.values), dict(labels.said), labels.flag, labels.skipped, labels.note)
        self.done.append(event)
        if event["action"] == "label":
            self._set(labels, event["set"])
            labels.skipped = False
        elif event["action"] == "note":
            labels.note = event["value"]
        elif event["action"] == "flag":
            labels.flag = event["value"]
        else:
            labels.skipped = event["value"]
        labels.time = event["time"]

    def _set(self, labels: ItemLabels, given: Iterable[Mapping[str, Any]]) -> None:
        for one in given:
            place = (one["field"], one.get("sentence"))
            if one["value"] is None:
                labels.values.pop(place, None)
                labels.said.pop(place, None)
            else:
                labels.values[place] = one["value"]
                labels.said[place] = {key: one[key] for key in one if key not in ("field", "sentence", "value")}

    def _restore(self, item: str, before: Any) -> None:
        labels = self.of(item)
        labels.values, labels.said, labels.flag, labels.skipped, labels.note = before

    def _spend(self, event: Event) -> None:
        """Count the time since the last action for the item that was on the screen."""
        item, time = event.get("item"), datetime.fromisoformat(event["time"])
        if self._last is not None:
            shown, before = self._last
            self.of(shown).seconds += min(max((time - before).total_seconds(), 0.0), IDLE)
        if item is not None and event["action"] != "agreed":
            self._last = (item, time)
