"""Suggested labels of items, from a judge or another annotator."""

# Tested in tests/annotation/test_session.py.

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ragnb.annotation.codebook import Codebook
from ragnb.annotation.conversions import conversion_of
from ragnb.annotation.items import Item, check_value, item_ids
from ragnb.annotation.places import Place, places
from ragnb.annotation.tasks import Task
from ragnb.cells import records_of
from ragnb.errors import InputError


def suggested_values(
    suggestions: Any, items: Sequence[Item], task: Task, *, id: str | Sequence[str] = "example_id"
) -> dict[str, dict[Place, Any]]:
    """Return the suggested values of each item, from a judge or another annotator. Those for other items are left out.

    `suggestions` may be a frame with the columns of `id` and one column per field, or a mapping from the id of an item to
    its values by field, ``{"q/1": {"verdict": "correct"}}``. For a field that is asked of each sentence, the value is a
    mapping from the sentence: ``{"q/1": {"support": {"a": "full"}}}``. For a field of tags, it is a list of names of tags in
    the codebook of the task, and their ids are returned.
    """
    conversion = conversion_of(task)
    if suggestions is None:
        return {}
    if isinstance(suggestions, pd.DataFrame):
        # For "trace", RAGBench's own columns also suggest values, and for "verdict" the `judged_correct` of a judge.
        columns = [field.name for field in task.fields] + list(conversion.suggesting)
        rows = records_of(suggestions[[name for name in columns if name in suggestions]])
        suggestions = dict(zip(item_ids(suggestions, id), rows, strict=True))
    elif not isinstance(suggestions, Mapping):
        kind = type(suggestions).__name__
        raise InputError(f"suggestions must be a frame or a mapping from item ids, got a {kind}")
    by_item: dict[str, dict[Place, Any]] = {}
    for item in items:
        record = suggestions.get(item.id)
        if record is None:
            continue
        values = conversion.to_labels(record, item.sentences, task)
        places_of_item = set(places(task, item.sentences))
        for name, sentence in values:
            if (name, sentence) not in places_of_item:
                raise InputError(
                    f"{name!r} is suggested for {sentence!r}, which is not a sentence that this field labels in {item.id!r}"
                )
        by_item[item.id] = {
            place: check_value(task.field(place[0]), item, value) for place, value in values.items()
        }
        for place, value in by_item[item.id].items():
            if task.field(place[0]).kind == "tags":
                by_item[item.id][place] = _ids_of_tags(value, task, item)
    return by_item


def _ids_of_tags(tags: Sequence[str], task: Task, item: Item) -> list[str]:
    """The ids of suggested tags. InputError if the codebook with which the task begins lacks one."""
    try:
        return Codebook(task.codebook).ids(tags)
    except InputError as error:
        raise InputError(
            f"the suggestions for {item.id!r} do not fit: {error}; pass codebook= with their tags"
        ) from None
