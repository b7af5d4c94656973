"""Columns of a file under ragnb's names."""

# Tested in tests/datasets/test_responses.py.

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from ragnb.datasets.literals import parsed
from ragnb.datasets.records import inner_value
from ragnb.errors import InputError
from ragnb.suggestions import did_you_mean

# Column of ragnb -> names that this column often has in other files, most likely first.
LIKELY = {
    "question": "question query prompt input user_input instruction problem",
    "response": "response responses output answer prediction pred predicted_answer completion "
    "generation generated_answer actual_output model_output reply result text",
    "passages": "passages contexts context documents retrieved_contexts retrieval_context",
    "references": "references reference gold golds gold_answer gold_answers golden_answers target "
    "targets ground_truth ground_truths expected expected_output expected_answer label answers "
    "answer",
}


def likely(words: str, names: Iterable[str]) -> str | None:
    """Return the name that is first in a list of words; None if no name is in it.

    The words are in lower case, separated by spaces, most likely first. The letter case of the names is
    ignored.

    >>> likely(LIKELY["response"], ["id", "Prediction", "gold"])
    'Prediction'
    """
    names_by_word = {str(name).casefold(): name for name in names}
    for word in words.split():
        if word in names_by_word:
            return names_by_word[word]
    return None


def mapped(frame: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    """Rename the columns of a frame as the user's mapping says (name in ragnb -> name in the file).

    If a column contains objects, a name with dots is a path inside them: ``"outputs.answer"``.

    Raises
    ------
    InputError
        A column is missing, or is used for several names.
    """
    # The ids may share a column with something else, such as the question.
    without_ids = [theirs for ours, theirs in columns.items() if ours != "example_id"]
    for theirs in columns.values():
        if theirs not in frame:
            frame = _with_inner_column(frame, theirs)
        if without_ids.count(theirs) > 1:
            raise InputError(
                f"columns= uses {theirs!r} for several names; only example_id may share a column with "
                "another name"
            )
    return renamed(frame, columns)


def _with_inner_column(frame: pd.DataFrame, path: str) -> pd.DataFrame:
    """Add a column with the values under a path such as ``outputs.answer``."""
    steps = str(path).split(".")
    # The name of a column may itself contain dots, so the longest possible name is tried first.
    for n_steps in range(len(steps) - 1, 0, -1):
        outer, inner = ".".join(steps[:n_steps]), ".".join(steps[n_steps:])
        if outer not in frame:
            continue
        # In CSV, an object is a text that spells it.
        cells = [parsed(cell) if _spells_object(cell) else cell for cell in frame[outer]]
        values = [inner_value(cell, inner) for cell in cells]
        if all(value is None for value in values):
            objects = [cell for cell in cells if isinstance(cell, Mapping)]
            keys = ", ".join(map(str, objects[0])) if objects else "none"
            raise InputError(
                f"columns= names {path!r}, but the column {outer!r} has no {inner!r}; its keys are "
                f"{keys:.200}"
            )
        return frame.assign(**{path: pd.Series(values, frame.index, dtype=object)})
    raise InputError(
        f"columns= names {path!r}, but the columns are {', '.join(map(str, frame))}"
        f"{did_you_mean(path, frame)}"
    )


def _spells_object(cell: Any) -> bool:
    """Whether a cell is a text that begins like an object or a list."""
    return isinstance(cell, str) and cell.lstrip()[:1] in ("{", "[")


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
    columns = {ours: theirs for ours, theirs in names.items() if theirs in frame}
    ids = columns.get("example_id")
    without_ids = [theirs for ours, theirs in columns.items() if ours != "example_id"]
    is_also_renamed = ids in without_ids
    keeps_its_name = ids in ("question", "references", "response") and ids not in columns
    if is_also_renamed or keeps_its_name:
        # The column of the ids is something else as well, such as the question, so the ids are a copy.
        frame = frame.assign(**{f"{ids} as id": frame[ids]})
        columns["example_id"] = f"{ids} as id"
    new_names = {theirs: ours for ours, theirs in columns.items()}
    # Another column, which is not renamed, may already have the new name.
    unrelated = [name for name in columns if name in frame and name not in new_names]
    frame = frame.rename(columns={name: f"other_{name}" for name in unrelated} | new_names)
    if not frame.columns.is_unique:
        repeated = frame.columns[frame.columns.duplicated()][0]
        raise InputError(f"all columns must have different names, got {repeated!r} twice")
    return frame
