"""Labels to begin with, from a judge or another annotator, in whatever form they come."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ragnb.annotation.items import Item, item_ids, plain
from ragnb.annotation.label_state import Place, flat
from ragnb.annotation.ragbench import KEYS, trace_values
from ragnb.annotation.tasks import Task
from ragnb.annotation.values import check_value
from ragnb.errors import InputError
from ragnb.records import is_missing


def read_suggestions(
    suggestions: Any, items: Sequence[Item], task: Task, *, id: str | Sequence[str] = "example_id"
) -> dict[str, dict[Place, Any]]:
    """Suggested values of each item.

    Parameters
    ----------
    suggestions
        - a mapping from an item's id to its values by field, ``{"q/1": {"verdict": "correct"}}``; of a field that is asked
          of each sentence, a mapping from its key: ``{"q/1": {"support": {"a": "full"}}}``
        - a frame with the columns of `id` and one a field; task ``"trace"`` takes RAGBench's own columns, too, and task
          ``"verdict"`` the ``judged_correct`` of a judge
        - None for none
    items
        The items; suggestions for others are left out.

    Raises
    ------
    InputError
        Another shape, or a value that its field does not allow.
    """
    known = {item.id: item for item in items}
    if suggestions is None:
        return {}
    if isinstance(suggestions, pd.DataFrame):
        rows = zip(item_ids(suggestions, id), suggestions.to_dict("records"), strict=True)
        found = {name: _from_row(row, known[name], task) for name, row in rows if name in known}
    elif isinstance(suggestions, Mapping):
        found = {
            name: flat(_values(values, task), task)
            for name, values in suggestions.items()
            if name in known
        }
    else:
        raise InputError(
            f"suggestions need a frame or a mapping by id; got {type(suggestions).__name__}; make one of them"
        )
    return {name: _checked(values, known[name], task) for name, values in found.items()}


def _from_row(row: Mapping[str, Any], item: Item, task: Task) -> dict[Place, Any]:
    if task.name == "trace" and set(KEYS.values()) & set(row):
        return trace_values(row, item)
    given = {name: value for name, value in row.items() if not is_missing(value)}
    if task.name == "verdict" and "verdict" not in row and "judged_correct" in given:
        given["verdict"] = "correct" if given["judged_correct"] == 1 else "incorrect"
    return flat(given, task)


def _values(values: Any, task: Task) -> Mapping[str, Any]:
    if not isinstance(values, Mapping):
        raise InputError(
            f"the suggestion of an item needs a mapping by field; got {values!r}; name the fields"
        )
    for name in values:
        task.field(name)
    return values


def _checked(values: Mapping[Place, Any], item: Item, task: Task) -> dict[Place, Any]:
    sentences = item.keys("response")
    for name, key in values:
        allowed = sentences if task.field(name).each else [None]
        if key not in allowed:
            raise InputError(
                f"the suggestion of {name!r} for item {item.id!r} needs sentences among {allowed}; got {key!r}; leave it out"
            )
    return {
        place: check_value(task.field(place[0]), item, plain(value))
        for place, value in values.items()
    }
