"""Formats of files with responses: how each is recognised, and what their readers have in common.

The modules `ragnb.datasets.tools` and `ragnb.datasets.releases` fill the table `FORMATS`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.datasets.files import frame_of
from ragnb.errors import InputError
from ragnb.records import is_missing

Row = dict[str, Any]
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
        What a content must have, one of them: keys, separated by commas, or a function of the
        content. The key ``a.0.b`` must be in the first record. A content is a frame with one row
        per record. A JSON object that is alone in its file is one row, with a column for each of
        its keys.
    reader
        The content and the path of its file (None for a frame of the user) -> the records, or a
        frame with ragnb's names.
    columns
        Name in ragnb -> keys in a record, as for `found`. ``scores`` and ``reasons`` are mappings
        from metrics. What a reader adds under the key ``ragnb`` has ragnb's names already.
    alternatives
        Meaning of a list of texts as a reference, as in `load_responses`; None if the format does
        not define it.
    """

    name: str
    about: str
    signs: tuple[str | Recognises, ...]
    reader: Reads
    columns: Mapping[str, str]
    alternatives: bool | None

    def recognises(self, content: pd.DataFrame) -> bool:
        """Return whether a content has this format."""
        return any(
            sign(content) if callable(sign) else all(_has(content, key) for key in sign.split(", "))
            for sign in self.signs
        )

    def read(self, content: pd.DataFrame, path: Path | None) -> pd.DataFrame:
        """Read a content as a frame with ragnb's names.

        Columns that are empty are left out, except responses and scores.
        """
        records = self.reader(content, path)
        if isinstance(records, pd.DataFrame):
            return records
        items = enumerate(records, start=1)
        frame = frame_of([self._row(record, f"{called(path)} item {n}") for n, record in items])
        if "repeat" in frame:  # The tools count from 1.
            frame["repeat"] = frame["repeat"] - 1 if frame["repeat"].nunique() > 1 else None
        kept = [name for name in frame if "." in name or name == "response"]
        return frame.drop(columns=frame.columns[frame.isna().all()].difference(kept))

    def _row(self, record: Row, where: str) -> Row:
        row = {name: found(record, keys) for name, keys in self.columns.items()}
        row |= record.get("ragnb", {})
        if row["question"] is None:
            raise InputError(
                f"{where}: must have the key {self.columns['question']}, got {', '.join(record)}"
            )
        if isinstance(row["question"], list):
            row |= conversation(row["question"])
        row |= {name: cell(row[name]) for name, cell in _CELLS.items() if name in row}
        if row["response"] is not None:
            row["reason"] = None
        for name, score in (row.pop("scores", None) or {}).items():
            if isinstance(score, str):
                raise InputError(f"{where}, score {name}: must be a number, got {score!r:.60}")
            if isinstance(score, int | float | None):
                row[f"{self.name}.{name}"] = score
        for name, reason in (row.pop("reasons", None) or {}).items():
            row[f"{self.name}.{name}.reason"] = reason
        return row


# Column that is wanted -> names that it often has in other files, most likely first.
LIKELY = {
    "question": "question query prompt input user_input instruction problem",
    "response": "response responses output answer prediction pred predicted_answer completion "
    "generation generated_answer actual_output model_output reply result text",
    "passages": "passages contexts context documents retrieved_contexts retrieval_context",
    "references": "references reference gold golds gold_answer gold_answers golden_answers target "
    "targets ground_truth ground_truths expected expected_output expected_answer label answers "
    "answer",
}
# Name -> format. If the content of a file matches several formats, the first one is used.
FORMATS: dict[str, Format] = {}


def file_format(
    name: str,
    about: str,
    *signs: str | Recognises,
    columns: Mapping[str, str] | None = None,
    alternatives: bool | None = None,
) -> Callable[[Reads], Reads]:
    """Return a decorator that adds a format to `FORMATS`, with the function that reads it."""

    def register(reader: Reads) -> Reads:
        FORMATS[name] = Format(name, about, signs, reader, columns or {}, alternatives)
        return reader

    return register


def _has(content: pd.DataFrame, key: str) -> bool:
    name, _, inner = key.partition(".")
    if not inner or name not in content:
        return name in content
    return any(found(cell, inner) is not None for cell in content[name].head(1))


# ---- records -----------------------------------------------------------------------------------


def records(content: pd.DataFrame, path: Path | None = None) -> list[Row]:
    """Return the rows of a content as records."""
    return content.to_dict("records")


def found(record: Any, keys: str) -> Any:
    """Return the first value that a record has under one of the keys; None if there is none.

    >>> found({"output": [{"text": "Oslo"}]}, "response output.0.text")
    'Oslo'
    """
    for key in keys.split():
        value = record
        for step in key.split("."):
            if isinstance(value, list):
                value = value[int(step)] if value else None
            else:
                value = value.get(step) if isinstance(value, Mapping) else None
        if not is_missing(value):
            return value
    return None


def conversation(turns: list[Any]) -> Row:
    """Return the last turn as the question, and the turns before it as the history."""
    said = [
        {"role": found(turn, "role speaker type"), "content": text_of(found(turn, "content text"))}
        for turn in turns
    ]
    return {"question": said[-1]["content"], "history": said[:-1]}


def text_of(content: Any) -> str | None:
    """Return the text of a message or a passage, which may be a list of parts or an object."""
    if isinstance(content, list):
        parts = [
            part for part in content if not isinstance(part, dict) or part.get("type") == "text"
        ]
        return "\n".join(filter(None, map(text_of, parts)))
    if isinstance(content, Mapping):
        return text_of(found(content, "text contents content context value"))
    return None if content is None else str(content)


def texts_of(passages: Any) -> list[str] | None:
    """Return the texts of passages."""
    given = [passages] if isinstance(passages, str) else passages
    return None if given is None else [text_of(passage) or "" for passage in given]


def _either(texts: Any) -> list[list[str]] | None:
    """Combine alternative references into one part with its aliases."""
    given = texts if isinstance(texts, list) else [texts]
    known = [text for text in map(text_of, given) if text and text.strip()]
    return [known] if known else None


# Column -> what makes its cell of the value in a file.
_CELLS: dict[str, Callable[[Any], Any]] = {
    "question": text_of,
    "response": text_of,
    "references": _either,
    "passages": texts_of,
}


# ---- columns -----------------------------------------------------------------------------------


def likely(words: str, names: Iterable[str]) -> str | None:
    """Return the first of the given words that is among the names; None if there is none.

    The words are in lower case, separated by spaces. The letter case of the names is ignored.

    >>> likely(LIKELY["response"], ["id", "Prediction", "gold"])
    'Prediction'
    """
    known = {str(name).casefold(): name for name in names}
    return next((known[word] for word in words.split() if word in known), None)


def called(path: Path | None) -> str:
    """Return how messages refer to the content: by the name of its file, or as "the frame"."""
    return path.name if path else "the frame"


def renamed(content: pd.DataFrame, names: Mapping[str, str | None]) -> pd.DataFrame:
    """Rename columns to ragnb's names; an unrelated column with such a name becomes ``other_...``.

    Parameters
    ----------
    content
        Any frame.
    names
        Name in ragnb -> name in the frame. Only ``example_id`` may share a column with another
        name. Names that the frame lacks are left out.
    """
    frame = content.reset_index(drop=True)
    known = {ours: theirs for ours, theirs in names.items() if theirs in frame}
    ids = known.get("example_id")
    others = [theirs for ours, theirs in known.items() if ours != "example_id"]
    if ids in others or (ids in ("question", "references", "response") and ids not in known):
        # The ids share the column of something else, such as the question, which keeps it.
        frame = frame.assign(**{f"{ids} as id": frame[ids]})
        known["example_id"] = f"{ids} as id"
    new = {theirs: ours for ours, theirs in known.items()}
    taken = {name: f"other_{name}" for name in known if name in frame and name not in new}
    frame = frame.rename(columns=taken | new)
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise InputError(f"all columns must have different names, got {twice!r} twice")
    return frame
