"""What has been said of each item so far: the state that follows from a log's actions, undone ones left out."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby, product
from typing import Any

from ragnb.annotation.log import Event
from ragnb.annotation.tasks import Task
from ragnb.errors import InputError

Place = tuple[str, str | None]
"""A field, and the key of the response's sentence where it is asked of each."""

CHANGES = ("label", "note", "flag", "skip")
"""Actions that change an item and can be undone."""

SHAPES: dict[str, type | tuple[type, ...]] = {
    "action": str,
    "time": str,
    "item": (str, type(None)),
    "id": Mapping,
    "fingerprint": str,
    "sentences": Mapping,
    "set": list,
}
"""What an action can hold, and of which type it then is."""

VALUES = {"note": str, "flag": bool, "skip": bool}
"""Type of the value of an action that has one."""

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

    def put(self, place: Place, value: Any, said: dict[str, Any] | None) -> None:
        """Give a place a value, and what is said of it; None makes it untouched."""
        if value is None:
            self.values.pop(place, None)
            self.said.pop(place, None)
        else:
            self.values[place], self.said[place] = value, said or {}

    def nested(self) -> dict[str, Any]:
        """Values by field: ``{"relevant": ["0a"], "support": {"a": "full"}}``; untouched ones are not there."""
        return nested(self.values)

    def missing(self, task: Task, sentences: Iterable[str]) -> list[Place]:
        """Required places that are untouched; ``sentences`` are the keys of the response."""
        return [
            place for place in places(task, sentences, required=True) if place not in self.values
        ]

    def status(self, task: Task, sentences: Iterable[str]) -> str:
        """``"labelled"`` when nothing is missing, else ``"skipped"``, ``"started"`` or ``"untouched"``."""
        if not self.missing(task, sentences):
            return "labelled"
        return "skipped" if self.skipped else "started" if self.values else "untouched"


def places(task: Task, sentences: Iterable[str], *, required: bool = False) -> Iterator[Place]:
    """Every place of a task in the order of asking: what is asked of each sentence, one sentence after the other."""
    keys = list(sentences)
    asked = [field for field in task.fields if field.required or not required]
    for each, group in groupby(asked, key=lambda field: field.each):
        names = [field.name for field in group]
        yield from (
            product(names, [None]) if not each else ((name, key) for key in keys for name in names)
        )


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
    """The labels of all items after some actions, and what can be undone and done again.

    Raises
    ------
    InputError
        Actions that cannot be followed; the message has the number of the first one.
    """

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.items: dict[str, ItemLabels] = {}
        self.done: list[Event] = []
        self.undone: list[Event] = []
        self._before: list[Any] = []
        self._last: tuple[str, datetime] | None = None
        events = list(events)
        self._mixed = len({event.get("n") for event in events}) < len(
            events
        )  # two threads wrote at the same time
        for event in events:
            try:
                self.apply(event)
            except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
                raise InputError(
                    f"action n={event.get('n')} of the log needs to be one that can be followed; got {error!r}; "
                    "mend or remove its line"
                ) from error

    def of(self, item: str) -> ItemLabels:
        """Labels of an item; empty ones where nothing was said."""
        if item not in self.items:
            self.items[item] = ItemLabels()
        return self.items[item]

    def apply(self, event: Event) -> None:
        """Follow one action of the log."""
        _check(event)
        action = event["action"]
        self._spend(event)
        if action == "open":
            self._pin(event)
        elif action == "undo":
            place = self._place(self.done, event)
            if place is not None:
                undone = self.done.pop(place)
                self._restore(undone["item"], self._before.pop(place))
                self.undone.append(undone)
        elif action == "redo":
            place = self._place(self.undone, event)
            if place is not None:
                self._change(self.undone.pop(place))
        elif action == "agreed":
            if "fingerprint" in event:
                self._pin(event)
            self._set(self.of(event["item"]), event["set"])
        elif action in CHANGES:
            self.undone.clear()
            self._change(event)

    def _pin(self, event: Event) -> None:
        """Keep what the labels are of: the columns behind the id, the hash of the text, the keys of its sentences."""
        labels = self.of(event["item"])
        labels.fingerprint, labels.sentences = event["fingerprint"], event["sentences"]
        labels.id = event.get("id", labels.id)

    def _place(self, stack: list[Event], event: Event) -> int | None:
        """Place in its stack of the action that this one undoes or redoes; None where two threads interfered.

        It is the last action of the stack, or lines are missing. In the log of two threads it can be an earlier one, or one
        that the other thread undid before.
        """
        reach = len(stack) if self._mixed else 1
        place = next(
            (n for n, one in reversed(list(enumerate(stack))[-reach:]) if one["n"] == event["of"]),
            None,
        )
        if place is None and not self._mixed:
            raise ValueError(f"no action n={event['of']} to {event['action']}")
        return place

    def _change(self, event: Event) -> None:
        labels = self.of(event["item"])
        touched = [(one["field"], one.get("sentence")) for one in event.get("set", ())]
        places = {place: (labels.values.get(place), labels.said.get(place)) for place in touched}
        self._before.append((places, labels.flag, labels.skipped, labels.note))
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
            said = {key: one[key] for key in one if key not in ("field", "sentence", "value")}
            labels.put((one["field"], one.get("sentence")), one["value"], said)

    def _restore(self, item: str, before: Any) -> None:
        labels = self.of(item)
        places, labels.flag, labels.skipped, labels.note = before
        for place, (value, said) in places.items():
            labels.put(place, value, said)

    def _spend(self, event: Event) -> None:
        """Count the time since the last action for the item that was on the screen."""
        item, time = event.get("item"), datetime.fromisoformat(event["time"])
        if self._last is not None:
            shown, before = self._last
            self.of(shown).seconds += min(max((time - before).total_seconds(), 0.0), IDLE)
        if item is not None and event["action"] != "agreed":
            self._last = (item, time)


def _check(event: Event) -> None:
    """Raise TypeError for a part of an action that is of another type than annotators write."""
    wanted = {**SHAPES, "value": VALUES.get(event["action"], object)}
    odd = [
        name for name, kind in wanted.items() if name in event and not isinstance(event[name], kind)
    ]
    if event["action"] in ("open", "agreed", *CHANGES) and not isinstance(event["item"], str):
        odd.append("item")
    lists = (keys for keys in event.get("sentences", {}).values()) if "sentences" not in odd else ()
    if odd or not all(
        isinstance(keys, list) and all(isinstance(key, str) for key in keys) for keys in lists
    ):
        raise TypeError(f"{', '.join(odd) or 'sentences'} of another type")
    for one in event.get("set", ()):
        if not isinstance(one["field"], str) or not isinstance(one.get("sentence"), str | None):
            raise TypeError("a label without the name of its field")
        if not isinstance(one.get("source"), str | None):
            raise TypeError("a label whose source is no text")
