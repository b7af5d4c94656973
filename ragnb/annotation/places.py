"""Places: what can be labelled in an item, and labels by place or by field."""

# Tested in tests/annotation/test_labels.py.

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from ragnb.annotation.tasks import Task, plain
from ragnb.cells import is_missing

# A field, and the key of the response's sentence if the field is asked of each sentence.
Place = tuple[str, str | None]


def places(
    task: Task, sentences: Mapping[str, list[str]], *, required: bool = False
) -> Iterator[Place]:
    """Yield the places of a task in the order in which they are labelled, or only those that are ``required``.

    ``sentences`` contains the keys of each part. Consecutive fields that are asked of each sentence are labelled sentence by
    sentence.
    """
    keys = sentences.get(task.unit, [])
    fields = [field for field in task.fields if field.required or not required]
    for of_each_sentence, group in groupby(fields, key=lambda field: field.each):
        names = [field.name for field in group]
        for key in keys if of_each_sentence else [None]:
            for name in names:
                yield name, key


def nested(values: Mapping[Place, Any]) -> dict[str, Any]:
    """Group values by field; a field that is labelled for each sentence becomes a mapping.

    >>> nested({("overall", None): True, ("support", "a"): "full"})
    {'overall': True, 'support': {'a': 'full'}}
    """
    by_field: dict[str, Any] = {}
    for (name, sentence), value in values.items():
        if sentence is None:
            by_field[name] = value
        else:
            by_field.setdefault(name, {})[sentence] = value
    return by_field


def flat(values: Mapping[str, Any], task: Task) -> dict[Place, Any]:
    """Values by place, from values by field as `nested` returns them. Missing values are left out.

    An unknown field raises InputError.
    """
    by_place: dict[Place, Any] = {}
    for name, value in values.items():
        field = task.field(name)
        by_sentence = value if isinstance(value, Mapping) else {None: value}
        for sentence, label in by_sentence.items():
            if not is_missing(label):
                by_place[field.name, sentence] = plain(label)
    return by_place
