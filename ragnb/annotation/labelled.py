"""What each annotator said, read back from logs, open sessions or frames of labels."""

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ragnb.annotation.items import plain
from ragnb.annotation.label_state import ItemLabels, LabelState, Place, flat, places
from ragnb.annotation.log import Event, read_log
from ragnb.annotation.session import AnnotationSession
from ragnb.annotation.tasks import TASKS, Task, read_task
from ragnb.errors import InputError
from ragnb.records import is_missing, require_columns
from ragnb.scoring.columns import check_names

Log = str | Path | AnnotationSession
"""A log that is read: its path, or a session that writes to it."""


@dataclass(frozen=True)
class Labelled:
    """One annotator's labels in one task.

    Attributes
    ----------
    items : dict
        Labels of each item that was touched.
    header : mapping
        The first line of the log; of a frame, what is known of it.
    path : Path or None
        The log; None where the labels come from a frame.
    """

    annotator: str
    task: Task
    items: dict[str, ItemLabels]
    header: Mapping[str, Any]
    path: Path | None = None

    @property
    def id(self) -> str | list[str]:
        """The columns behind the items' ids."""
        return self.header.get("id") or "example_id"


def read_labelled(log: Log) -> Labelled:
    """What the annotator of one log said.

    Raises
    ------
    InputError
        Something else than a path or a session, or a file that is no annotation log.
    """
    if isinstance(log, AnnotationSession):
        return _labelled(log.log.header, log.log.events, log.log.path)
    if not isinstance(log, str | Path):
        raise InputError(
            f"labels need the path of a log, or a session; got {type(log).__name__}; name the file"
        )
    header, events = read_log(log)
    return _labelled(header, events, Path(os.path.expanduser(log)))


def read_everyone(logs: Any) -> list[Labelled]:
    """What two annotators or more said in one task, each once.

    Parameters
    ----------
    logs
        Paths of logs, open sessions, or frames as `ragnb.annotation.export.read_labels` and
        `ragnb.datasets.annotations.load_annotations` return; a frame may hold several annotators.

    Raises
    ------
    InputError
        Fewer than two annotators, one of them twice, several tasks, or different texts under one id.
    """
    one = isinstance(logs, str | Path | AnnotationSession | pd.DataFrame) or not np.iterable(logs)
    given = [logs] if one else list(logs)
    people = [
        one
        for log in given
        for one in (read_frame(log) if isinstance(log, pd.DataFrame) else [read_labelled(log)])
    ]
    names = [one.annotator for one in people]
    doubled = [name for name, n in Counter(names).items() if n > 1]
    if len(people) < 2 or doubled:
        got = f"{doubled[0]!r} twice" if doubled else f"{len(people)}: {', '.join(names)}"
        raise InputError(
            f"agreement needs two annotators or more, each once; got {got}; add or drop a log"
        )
    if len({one.task.fingerprint for one in people}) > 1:
        tasks = ", ".join(f"{one.task.name!r} ({one.annotator})" for one in people)
        raise InputError(
            f"annotators need the same task, in the same words; got {tasks}; compare logs of one task"
        )
    _check_same_texts(people)
    return people


def read_frame(frame: pd.DataFrame) -> list[Labelled]:
    """The annotators of a frame of labels.

    Raises
    ------
    InputError
        Missing columns, items or annotators, an unknown task, or an item twice for one annotator.
    """
    require_columns(frame, ["item", "annotator", "task"], "a frame of labels")
    check_names(frame, ("item", "annotator", "task"), "a frame of labels")
    if frame[["item", "annotator"]].isna().any(axis=None):
        raise InputError(
            "a frame of labels needs an item and an annotator in every row; got a gap; fill or drop it"
        )
    header = frame.attrs.get("header", {})
    task = _task(frame, header)
    require_columns(frame, [asked.name for asked in task.fields], f"labels of task {task.name!r}")
    columns = header.get("id") or "example_id"
    return [
        Labelled(
            str(name),
            task,
            _items(rows, task, columns, str(name)),
            {**header, "annotator": str(name)},
        )
        for name, rows in frame.groupby("annotator", sort=False)
    ]


# ---- several annotators ------------------------------------------------------------------------------------------------


def items_of(people: Iterable[Labelled]) -> list[str]:
    """All items, in the order in which they first occur."""
    return list(dict.fromkeys(item for one in people for item in one.items))


def sentences_of(item: str, people: Iterable[Labelled]) -> dict[str, list[str]]:
    """The keys of an item's sentences, from whoever has them."""
    found = (one.items[item].sentences for one in people if item in one.items)
    return next((sentences for sentences in found if sentences), {})


def places_of(item: str, people: list[Labelled], *, required: bool = False) -> list[Place]:
    """Places of an item that the task asks for."""
    return list(
        places(people[0].task, sentences_of(item, people).get("response", ()), required=required)
    )


def votes(item: str, place: Place, people: Iterable[Labelled]) -> dict[str, Any]:
    """What each annotator said there, by name; those who said nothing are not in it."""
    said = ((one.annotator, one.items[item].values) for one in people if item in one.items)
    return {name: values[place] for name, values in said if place in values}


def alike(values: Iterable[Any]) -> bool:
    """Whether all values are the same, keys of sentences in whatever order; True is not 1.

    >>> alike([["0a", "0b"], ["0b", "0a"]]), alike([True, 1])
    (True, False)
    """
    return len({json.dumps(_in_order(value), sort_keys=True, default=str) for value in values}) <= 1


# ---- inside ------------------------------------------------------------------------------------------------------------


def _in_order(value: Any) -> Any:
    """A set of keys in one order, each once, whoever wrote it down; other values as they are."""
    return (
        sorted({json.dumps(key, sort_keys=True, default=str) for key in value})
        if isinstance(value, list | tuple)
        else value
    )


def _labelled(header: Mapping[str, Any], events: Iterable[Event], path: Path) -> Labelled:
    try:
        items = LabelState(events).items
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise InputError(
            f"{path.name} needs actions as an annotator writes them; got one that is not ({error!r}); mend it"
        ) from error
    touched, task = (
        {item: labels for item, labels in items.items() if labels.touched},
        read_task(header["task"]),
    )
    columns = header.get("id", "example_id")
    if not isinstance(columns, str) and not (
        isinstance(columns, list) and all(isinstance(name, str) for name in columns)
    ):
        raise InputError(
            f"the id of {path.name} needs the name of a column, or a list of names; got {columns!r:.60}; mend it"
        )
    for item, labels in touched.items():
        for place, value in labels.values.items():
            _check_label(task, place, value, f"{path.name}, item {item!r:.60}")
    return Labelled(str(header.get("annotator", "")), task, touched, header, path)


def _check_label(task: Task, place: Place, value: Any, where: str) -> None:
    """Raise InputError unless a label is of a field that the task has, asked as it asks and of the type that it wants."""
    name, sentence = place
    asked = task.field(name)
    if asked.each != (sentence is not None):
        raise InputError(
            f"{where} needs {name!r} {'of each sentence' if asked.each else 'once'}; got it otherwise; mend it"
        )
    keys = isinstance(value, list) and all(isinstance(key, str | bool | int) for key in value)
    if not (keys if asked.kind == "sentences" else isinstance(value, str | bool | int)):
        raise InputError(
            f"{where} needs another type of value in {name!r}; got {value!r:.60}; mend it"
        )


def _check_same_texts(people: list[Labelled]) -> None:
    for item in items_of(people):
        seen = {one.items[item].fingerprint for one in people if item in one.items} - {""}
        if len(seen) > 1:
            raise InputError(
                f"annotators need to have seen the same texts; item {item!r} had {len(seen)} different ones; leave "
                "one log out"
            )


def _task(frame: pd.DataFrame, header: Mapping[str, Any]) -> Task:
    if isinstance(header.get("task"), Mapping):
        return read_task(header["task"])
    names = frame["task"].unique().tolist()
    if len(names) != 1 or names[0] not in TASKS:
        raise InputError(
            f"a frame of labels needs one task that has a name ({', '.join(TASKS)}), or what read_labels puts in its attrs; "
            f"got {', '.join(map(repr, names)) or 'none'}; read the log again"
        )
    return TASKS[names[0]]


def _items(
    rows: pd.DataFrame, task: Task, columns: str | list[str], annotator: str
) -> dict[str, ItemLabels]:
    doubled = rows["item"][rows["item"].duplicated()]
    if len(doubled):
        raise InputError(
            f"a frame of labels needs each item once; {annotator!r} has {doubled.iloc[0]!r} twice; keep one"
        )
    return {
        str(row["item"]): _labels(row, task, [columns] if isinstance(columns, str) else columns)
        for row in rows.to_dict("records")
    }


def _labels(row: Mapping[str, Any], task: Task, columns: list[str]) -> ItemLabels:
    given = {str(name): plain(value) for name, value in row.items() if not is_missing(value)}
    told = {
        name: given[name]
        for name in ("note", "flag", "seconds", "time", "sentences")
        if name in given
    }
    values, named = flat(given, task), {name: given[name] for name in columns if name in given}
    said = {place: {"source": given.get("source", "human")} for place in values}
    return ItemLabels(
        values=values, said=said, skipped=given.get("status") == "skipped", id=named, **told
    )
