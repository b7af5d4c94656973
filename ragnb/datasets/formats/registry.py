"""The record of a format of files with responses, and the registry of all formats.

Each format gives questions, responses, references, passages, systems and ids under ragnb's names,
and the tool's own scores, as the tool wrote them, in columns such as ``ragas.faithfulness``. What a
judge gave as its reason is in ``deepeval.Faithfulness.reason``. A list of texts as a reference means
that any one of them is enough.
"""

# Tested in tests/datasets/test_formats_of_tools.py.

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.datasets.frames import frame_of
from ragnb.datasets.messages import called
from ragnb.datasets.records import (
    alternatives_of,
    conversation,
    first_value,
    is_empty,
    text_of,
    texts_of,
)
from ragnb.datasets.validation import Row
from ragnb.errors import InputError

Recognises = Callable[[pd.DataFrame], bool]
Reads = Callable[[pd.DataFrame, Path | None], "pd.DataFrame | Iterable[Row]"]


@dataclass(frozen=True)
class Format:
    """One format of files with responses.

    Attributes
    ----------
    name
        The name for ``load_responses(..., format=name)``. It is also the prefix of the columns that
        contain the tool's own scores: ``ragas.faithfulness``.
    about
        What the files are, to follow "was read as".
    signs
        Signs of the format; a content must have at least one. Each is a list of keys, separated by
        commas, or a function of the content. The key ``a.0.b`` must be in the first record. A
        content is a frame with one row per record. A JSON object that is alone in its file is one
        row, with a column for each of its keys.
    reader
        The content and the path of its file (None for a frame of the user) -> the records, or a
        frame with ragnb's names.
    columns
        Name in ragnb -> keys in a record, as for `first_value`. ``scores`` is a mapping from metrics to
        scores, and ``reasons`` one from metrics to the reasons that a judge gave for its scores. In
        contrast, ``reason`` says why a response is missing, which is usually the tool's error. What a
        reader adds under the key ``ragnb`` has ragnb's names already.
    alternatives
        Meaning of a list of texts as a reference, as in `load_responses`; None if the format does
        not define it.
    is_table
        Whether a table, such as CSV, can have the format.
    names_systems
        Whether the reader infers which columns are systems, so that people should see their names.
    """

    name: str
    about: str
    signs: tuple[str | Recognises, ...]
    reader: Reads
    columns: Mapping[str, str]
    alternatives: bool | None
    is_table: bool = True
    names_systems: bool = False

    def recognises(self, content: pd.DataFrame) -> bool:
        """Return whether a content has this format."""
        return any(_has_sign(content, sign) for sign in self.signs)

    def read(self, content: pd.DataFrame, path: Path | None) -> pd.DataFrame:
        """Read a content as a frame with ragnb's names.

        Columns that are empty are left out, except responses and scores.
        """
        records = self.reader(content, path)
        if isinstance(records, pd.DataFrame):
            return records
        items = enumerate(records, start=1)
        frame = frame_of([self._row(record, f"{called(path)} item {n}") for n, record in items])
        if "repeat" in frame:
            # The tools count from 1, and ragnb counts from 0. A single repeat needs no number.
            has_repeats = frame["repeat"].nunique() > 1
            frame["repeat"] = frame["repeat"] - 1 if has_repeats else None
        # Scores, whose names contain a dot, and responses stay even if all are missing.
        always_needed = [name for name in frame if "." in name or name == "response"]
        empty_columns = frame.columns[frame.isna().all()]
        return frame.drop(columns=empty_columns.difference(always_needed))

    def _row(self, record: Row, where: str) -> Row:
        """The row of one record, under ragnb's names."""
        row = {name: first_value(record, keys) for name, keys in self.columns.items()}
        row |= record.get("ragnb", {})
        if row["question"] is None:
            raise InputError(
                f"{where}: must have the key {self.columns['question']}, got {', '.join(record)}"
            )
        if isinstance(row["question"], list):
            row |= conversation(row["question"])
        row |= {name: cell(row[name]) for name, cell in _CELLS.items() if name in row}
        for name in _NAMES & row.keys():
            row[name] = None if is_empty(row[name]) else row[name]
        # An empty text next to the reason of an error is no answer. An answer needs no reason.
        # Some tools write False or 0 if there is no error.
        has_reason = not is_empty(row.get("reason") or "")
        if row["response"] == "" and has_reason:
            row["response"] = None
        if row["response"] is not None:
            row["reason"] = None
        for name, score in (row.pop("scores", None) or {}).items():
            if isinstance(score, str):
                raise InputError(f"{where}, score {name}: must be a number, got {score!r:.60}")
            # Anything else, such as a list, is no score and is left out.
            if isinstance(score, int | float | None):
                row[f"{self.name}.{name}"] = score
        for name, reason in (row.pop("reasons", None) or {}).items():
            row[f"{self.name}.{name}.reason"] = reason
        return row


# Name -> format. If the content of a file matches several formats, the first one is used.
FORMATS: dict[str, Format] = {}


def file_format(
    name: str,
    about: str,
    *signs: str | Recognises,
    columns: Mapping[str, str] | None = None,
    alternatives: bool | None = None,
    is_table: bool = True,
    names_systems: bool = False,
) -> Callable[[Reads], Reads]:
    """Return a decorator that adds a format to `FORMATS`, with the function that reads it."""

    def register(reader: Reads) -> Reads:
        """Add the format, and return the function that reads it unchanged."""
        FORMATS[name] = Format(
            name, about, signs, reader, columns or {}, alternatives, is_table, names_systems
        )
        return reader

    return register


def _has_sign(content: pd.DataFrame, sign: str | Recognises) -> bool:
    """Whether a content has a sign of a format; see `Format`."""
    if callable(sign):
        return sign(content)
    return all(_has_key(content, key) for key in sign.split(", "))


def _has_key(content: pd.DataFrame, key: str) -> bool:
    """Whether a content has a column or, if the key is a path, a value under it in the first record."""
    name, _, inner = key.partition(".")
    if not inner or name not in content:
        return name in content
    return any(first_value(cell, inner) is not None for cell in content[name].head(1))


def records(content: pd.DataFrame, path: Path | None = None) -> list[Row]:
    """Return the rows of a content as records."""
    return content.to_dict("records")


# Columns of names, in which a blank text is missing.
_NAMES = {"example_id", "system", "task", "language", "conversation_id"}
# Column -> the function that converts a value of a file to a cell of this column.
_CELLS: dict[str, Callable[[Any], Any]] = {
    "question": text_of,
    "response": text_of,
    "references": alternatives_of,
    "passages": texts_of,
}
