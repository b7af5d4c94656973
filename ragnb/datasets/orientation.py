"""JSON objects that contain a whole table, in the orientations that pandas and other tools write."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.cells import is_missing
from ragnb.datasets.formats.registry import FORMATS
from ragnb.datasets.frames import frame_of
from ragnb.datasets.messages import called
from ragnb.datasets.renaming import LIKELY, likely
from ragnb.errors import InputError

# Names of columns of ids, most likely first.
IDS = "example_id id _id question_id questionid qid query_id query-id"
# Keys of a table in the orientation "split" of pandas.
_SPLIT = {"columns", "data"}


def one_row_per_item(
    content: pd.DataFrame, path: Path | None, columns: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """Convert a JSON object with a whole table to one row per item; other contents stay as they are.

    `content` has the records of a file. A JSON object that is alone in its file is one row. `columns` are
    the names that the user gave, by which rows are recognised that have no question under a usual name.
    """
    if content.empty:
        return content
    columns_of_user = list((columns or {}).values())
    record = content.iloc[0].to_dict()
    # One list per column: ``Dataset.to_dict()`` of Hugging Face, and ``orient="list"`` of pandas.
    if _has_lists(record, columns_of_user):
        tables = [_of_lists(row, path) for row in content.to_dict("records")]
        return frame_of([row for table in tables for row in table])
    # One object per column, with the numbers of the rows as names: ``orient="columns"`` of pandas.
    are_objects = all(isinstance(value, Mapping) for value in record.values())
    if len(content) == 1 and are_objects and all("0" in value for value in record.values()):
        return frame_of(pd.DataFrame(record).to_dict("records"))
    # The formats of tools read their own objects.
    has_format = any(candidate.recognises(content) for candidate in FORMATS.values())
    if len(content) > 1 or has_format:
        return content
    # A list of rows, with the names of the columns in another list: ``orient="split"`` of pandas.
    if record.keys() >= _SPLIT and isinstance(record["columns"], list):
        names = record["columns"]
        return frame_of([dict(zip(names, row, strict=True)) for row in record["data"]])
    # One object per row.
    if are_objects and _are_records(list(record.values()), columns_of_user):
        return _by_id(record)
    # A list of records under one key.
    lists = [
        value
        for value in record.values()
        if isinstance(value, list) and _are_records(value, columns_of_user)
    ]
    if len(lists) == 1:
        # The API of the Hugging Face Hub puts each record under the key "row".
        return frame_of([row.get("row", row) for row in lists[0]])
    return content


def _has_lists(record: Mapping[str, Any], columns_of_user: list[str]) -> bool:
    """Whether a record is a table: its questions, or all of its columns, are lists."""
    questions = likely(LIKELY["question"], record)
    if questions is not None and _is_list_of(record[questions], str):
        return True
    # The lengths of the lists, and None if there is a value that is no list.
    lengths = {len(value) if isinstance(value, list) else None for value in record.values()}
    have_one_length = len(lengths) == 1 and None not in lengths
    # In a table, the ids, the responses or the columns that the user named are texts or numbers.
    ids, responses = likely(IDS, record), likely(LIKELY["response"], record)
    names = [name for name in (ids, responses, *columns_of_user) if name is not None]
    has_texts = any(_is_list_of(record[name], str | int) for name in names if name in record)
    # The question of a single record can be a conversation, which is a list of objects.
    is_conversation = questions is not None and not _is_list_of(record[questions], str | list)
    return have_one_length and has_texts and not is_conversation


def _is_list_of(value: Any, kind: Any) -> bool:
    """Whether a value is a list whose items are of a kind, apart from missing ones; not an empty list."""
    if not isinstance(value, list):
        return False
    items = [item for item in value if not is_missing(item)]
    return bool(items) and all(isinstance(item, kind) for item in items)


def _of_lists(record: Mapping[str, Any], path: Path | None) -> list[dict[str, Any]]:
    """The rows of a record with one list per column; any other value is the same in all rows."""
    lists = {name: value for name, value in record.items() if isinstance(value, list)}
    lengths = {name: len(value) for name, value in lists.items()}
    if len({*lengths.values()}) > 1:
        counts = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise InputError(
            f"{called(path)} has one list per column, and all lists must have the same length, got "
            f"{counts}"
        )
    shared = {name: value for name, value in record.items() if name not in lists}
    rows = zip(*lists.values(), strict=True)
    return [dict(zip(lists, row, strict=True)) | shared for row in rows]


def _by_id(record: Mapping[str, Any]) -> pd.DataFrame:
    """The rows of an object with one record per key, which is the id of the record.

    The keys are not used if they are just the numbers from 0, or if the records contain ids.
    """
    is_numbered = list(record) == [str(number) for number in range(len(record))]
    has_ids = any(likely(IDS, row) for row in record.values())
    if is_numbered or has_ids:
        return frame_of(list(record.values()))
    return frame_of([{"example_id": key, **row} for key, row in record.items()])


def _are_records(values: list[Any], columns_of_user: list[str]) -> bool:
    """Whether values are records, each with a question or with a column that the user named."""
    if not values or not all(isinstance(value, Mapping) for value in values):
        return False
    rows = [value.get("row", value) for value in values]
    return all(
        isinstance(row, Mapping)
        and (likely(LIKELY["question"], row) is not None or not {*columns_of_user}.isdisjoint(row))
        for row in rows
    )
