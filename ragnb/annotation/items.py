"""What an annotator sees: the rows of a frame as items with keyed sentences, and a fingerprint of each."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd

from ragnb.annotation.tasks import Task, hashed
from ragnb.errors import InputError
from ragnb.metrics.references import listed
from ragnb.metrics.trace_labels import sentence_pairs
from ragnb.records import is_missing, require_columns

Sentence = tuple[str, str]
"""Key and text."""


@dataclass(frozen=True)
class Part:
    """A text of an item, in sentences: one document, a response, another column.

    ``name`` is ``"documents"`` for each document, else the name of its column.
    """

    name: str
    heading: str
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True)
class Item:
    """One row, as it is shown; ``order`` says which of two responses stands first, where there are two."""

    id: str
    question: str
    references: tuple[str, ...]
    parts: tuple[Part, ...]
    order: tuple[str, ...] = field(default=())

    @cached_property
    def fingerprint(self) -> str:
        """Hash of all that the annotator sees."""
        shown = [[part.name, part.sentences] for part in self.parts]
        return hashed([self.question, self.references, shown, self.order])

    def keys(self, name: str) -> list[str]:
        """Keys of all sentences of ``"documents"``, of the ``"response"``, or of another part."""
        return [key for part in self.parts if part.name == name for key, _ in part.sentences]


def build_items(
    examples: pd.DataFrame, task: Task, *, id: str | Sequence[str] = "example_id"
) -> list[Item]:
    """The rows of a frame as items of a task, in the frame's order.

    Parameters
    ----------
    examples
        Rows with the columns of `id` and those that the task shows; of ``references`` and ``documents`` none is needed.
    id
        Column that tells the rows apart, or several of them together.

    Raises
    ------
    InputError
        Missing columns, ids that are missing or doubled, documents without sentence keys where the task chooses among their
        sentences, or keys that are doubled.
    """
    columns = [id] if isinstance(id, str) else list(id)
    require_columns(examples, columns, f"annotation of task {task.name!r}")
    if examples.empty:
        raise InputError(
            f"annotation of task {task.name!r} needs one example at least; got none; load or select some"
        )
    ids = item_ids(examples, columns)
    return [
        _item(name, row, task) for name, row in zip(ids, examples.to_dict("records"), strict=True)
    ]


def item_ids(frame: pd.DataFrame, id: str | Sequence[str] = "example_id") -> list[str]:
    """The id of each row's item: the column's value, or those of several columns with a bar between them.

    >>> item_ids(pd.DataFrame({"example_id": ["a/1"], "system": ["plain"]}), ["example_id", "system"])
    ['a/1 | plain']
    """
    columns = [id] if isinstance(id, str) else list(id)
    require_columns(frame, columns, "the id of an item")
    if not columns or frame[columns].isna().any(axis=None):
        raise InputError(
            f"the columns {columns} need a value in every row to be an item's id; got a gap; fill or drop it"
        )
    ids = [
        " | ".join(map(str, values))
        for values in zip(*(frame[name] for name in columns), strict=True)
    ]
    doubled = [name for name, n in Counter(ids).items() if n > 1]
    if doubled:
        raise InputError(
            f"ids of items need to be unique; got {len(doubled)} that are not, such as {doubled[0]!r}; "
            'name the columns that tell rows apart, as in id=["example_id", "system"]'
        )
    return ids


def item_columns(
    frame: pd.DataFrame, id: str | Sequence[str] = "example_id"
) -> list[dict[str, Any]]:
    """The columns behind each item's id, and their values as JSON knows them."""
    columns = [id] if isinstance(id, str) else list(id)
    return [
        {name: _plain(value) for name, value in row.items()}
        for row in frame[columns].to_dict("records")
    ]


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return value if isinstance(value, str | int | float) else str(value)


def _item(name: str, row: Mapping[str, Any], task: Task) -> Item:
    order = _order(name, task)
    shown = [
        _swapped(column, order) for column in task.shows if column not in ("question", "references")
    ]
    parts = tuple(part for column in shown for part in _parts(column, row, task, f"item {name!r}"))
    doubled = [
        key
        for key, n in Counter(key for part in parts for key, _ in part.sentences).items()
        if n > 1
    ]
    if doubled:
        raise InputError(
            f"item {name!r} needs keys that tell its sentences apart; got {doubled[0]!r} twice; rename one"
        )
    question = _text(row, "question", f"item {name!r}") if "question" in task.shows else ""
    return Item(
        name, question, _references(row) if "references" in task.shows else (), parts, order
    )


def _order(name: str, task: Task) -> tuple[str, ...]:
    """Which of two responses stands first: drawn from the id, so that it is the same each time and the system hidden."""
    if not {"response_a", "response_b"} <= set(task.shows):
        return ()
    return ("b", "a") if int(hashed([task.name, name]), 16) % 2 else ("a", "b")


def _swapped(column: str, order: tuple[str, ...]) -> str:
    if column not in ("response_a", "response_b") or not order:
        return column
    return f"response_{order[column == 'response_b']}"


def _parts(column: str, row: Mapping[str, Any], task: Task, what: str) -> Iterator[Part]:
    if column == "documents":
        yield from _documents(row, task, what)
    elif column == "response":
        yield Part("response", "response", _response(row, task, what))
    elif column in ("response_a", "response_b"):
        yield Part(column, "", ((column, _text(row, column, what)),))
    else:
        yield Part(column, column.replace("_", " "), ((column, _text(row, column, what)),))


def _documents(row: Mapping[str, Any], task: Task, what: str) -> Iterator[Part]:
    if not is_missing(row.get("documents_sentences")):
        documents = [tuple(sentence_pairs([sentences])) for sentences in row["documents_sentences"]]
    elif task.name == "trace":
        raise _unkeyed(what, "documents_sentences", "keyed_sentences(passages)")
    else:
        documents = [((f"{n}", str(text)),) for n, text in enumerate(_list(row.get("passages")), 1)]
    yield from (
        Part("documents", f"document {n}", sentences) for n, sentences in enumerate(documents, 1)
    )


def _response(row: Mapping[str, Any], task: Task, what: str) -> tuple[Sentence, ...]:
    if not is_missing(row.get("response_sentences")):
        return tuple(sentence_pairs([row["response_sentences"]]))
    if task.name == "trace":
        raise _unkeyed(what, "response_sentences", "keyed_response(response)")
    return (("response", _text(row, "response", what)),)


def _unkeyed(what: str, column: str, function: str) -> InputError:
    return InputError(
        f"{what} needs sentences with keys in {column!r}, for they are what is labelled; got none; "
        f"use ragnb.load_ragbench, or make them with ragnb.text.{function}"
    )


def _text(row: Mapping[str, Any], column: str, what: str) -> str:
    value = row.get(column)
    if column not in row:
        raise InputError(
            f"{what} needs the column {column!r}; got none; add it, or name in the task's shows what there is"
        )
    return "" if is_missing(value) else str(value)


def _references(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Each part of the answer as one line, its aliases apart from one another."""
    return tuple(" / ".join(map(str, listed(part))) for part in _list(row.get("references")))


def _list(value: Any) -> list[Any]:
    """A text or a list of them as a list; arrays, as Parquet gives them, too; empty where there is none."""
    return [] if is_missing(value) else listed(plain(value))


def plain(value: Any) -> Any:
    """Numpy's values and arrays as Python's own."""
    return value.tolist() if hasattr(value, "tolist") else value
