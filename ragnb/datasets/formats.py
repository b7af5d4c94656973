"""Formats of files with responses: how each is recognised and read.

The modules `ragnb.datasets.tools` and `ragnb.datasets.releases` fill the table `FORMATS`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from ragnb.errors import InputError

Recognises = Callable[[pd.DataFrame], bool]
Reads = Callable[[pd.DataFrame, Path | None], pd.DataFrame]


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
    recognises
        Whether a content has this format. A content is a frame with one row per record. A JSON
        object that is alone in its file is one row, with a column for each of its keys.
    read
        The content and the path of its file (None for a frame of the user) -> a frame with ragnb's
        names.
    alternatives
        Meaning of a list of texts as a reference, as in `load_responses`; None if the format does
        not define it.
    """

    name: str
    about: str
    recognises: Recognises
    read: Reads
    alternatives: bool | None = None


LIKELY = {
    "question": "question query prompt input user_input instruction problem",
    "response": "response responses output answer prediction pred predicted_answer completion "
    "generation generated_answer actual_output model_output reply result text",
    "passages": "passages contexts context documents retrieved_contexts retrieval_context",
    "references": "references reference gold golds gold_answer gold_answers golden_answers target "
    "targets ground_truth ground_truths expected expected_output expected_answer label answers "
    "answer",
}
"""Column that is wanted -> names that it often has in other files, most likely first."""
FORMATS: dict[str, Format] = {}
"""Name -> format. If the content of a file matches several formats, the first one is used."""


def file_format(
    name: str, about: str, recognises: Recognises, *, alternatives: bool | None = None
) -> Callable[[Reads], Reads]:
    """Return a decorator that adds a format to `FORMATS`, with the function that reads it."""

    def register(read: Reads) -> Reads:
        FORMATS[name] = Format(name, about, recognises, read, alternatives)
        return read

    return register


def has(*names: str) -> Recognises:
    """Return a function that checks whether the content of a file has all of the given columns.

    >>> has("query", "ans")(pd.DataFrame({"query": ["Who?"], "ans": ["Ann"], "docs": [[]]}))
    True
    """
    return lambda content: {*names} <= {*content.columns}


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


def renamed(content: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
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
    names = {ours: theirs for ours, theirs in names.items() if theirs in frame}
    ids = names.get("example_id")
    others = [theirs for ours, theirs in names.items() if ours != "example_id"]
    if ids in others or (ids in ("question", "references", "response") and ids not in names):
        # The ids share the column of something else, such as the question, which keeps it.
        frame = frame.assign(**{f"{ids} as id": frame[ids]})
        names = {**names, "example_id": f"{ids} as id"}
    new = {theirs: ours for ours, theirs in names.items()}
    taken = {name: f"other_{name}" for name in names if name in frame and name not in new}
    frame = frame.rename(columns=taken | new)
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise InputError(f"all columns must have different names, got {twice!r} twice")
    return frame
