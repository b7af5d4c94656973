"""Frames of rows and of cells, without blank rows and columns."""

# Tested in tests/datasets/test_responses.py.

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from types import NoneType
from typing import Any

import pandas as pd

from ragnb.cells import is_empty_cell
from ragnb.datasets.sheets import dropped


def frame_of(rows: Sequence[Mapping[str, Any]], first: Iterable[str] = ()) -> pd.DataFrame:
    """Convert rows to a frame. Its columns are `first`, followed by all other keys of the rows.

    A value that a row lacks is None. `column_of` describes the types of the columns.
    """
    # The keys of a dict are names without duplicates, in the order of their first use.
    names = dict.fromkeys(chain(first, *rows))
    columns = {}
    for name in names:
        columns[name] = column_of([row.get(name) for row in rows])
    return pd.DataFrame(columns)


def column_of(values: list[Any]) -> pd.Series:
    """Convert values to a column of numbers or truth values, if they are, or else of objects.

    A column of numbers can have missing values; a column of truth values cannot.
    """
    kinds = {*map(type, values)}
    has_gaps = NoneType in kinds
    kinds.discard(NoneType)
    dtype: Any = object
    if kinds == {int}:
        largest = max(abs(value) for value in values if value is not None)
        # Larger whole numbers do not fit into 64 bits, so they stay Python's own.
        if largest < 2**63:
            # The type with a capital letter is that of pandas, which can have gaps.
            dtype = "Int64" if has_gaps else "int64"
    elif kinds in ({float}, {int, float}):
        # A gap is nan.
        dtype = float
    elif kinds == {bool} and not has_gaps:
        dtype = bool
    return pd.Series(values, dtype=dtype)


def present_cells(column: pd.Series) -> list[Any]:
    """The cells of a column, with None for each that is missing."""
    return column.astype(object).where(column.notna(), None).tolist()


def each_cell(column: pd.Series, function: Callable[[Any], Any]) -> pd.Series:
    """A column of objects with a function applied to each cell, missing ones included."""
    return pd.Series([function(cell) for cell in column], column.index, dtype=object)


def without_blanks(frame: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return a frame without blank rows and blank columns that have no name, and a note about them.

    The note counts them; it is empty if there are none. A frame with two columns of one name is
    returned as it is, because other functions refuse it.
    """
    if frame.empty or not frame.columns.is_unique:
        return frame, ""
    # Only a row whose first cell is empty can be blank, so most rows need no further look.
    may_be_blank = [row for row, cell in enumerate(frame.iloc[:, 0]) if is_empty_cell(cell)]
    blank_rows = [row for row in may_be_blank if all(map(is_empty_cell, frame.iloc[row]))]
    # pandas calls a column without a name "Unnamed: 3".
    nameless = [
        name for name in frame if str(name).startswith("Unnamed: ") or not str(name).strip()
    ]
    blank_columns = [name for name in nameless if all(map(is_empty_cell, frame[name]))]
    if not blank_rows and not blank_columns:
        return frame, ""
    smaller = frame.drop(index=frame.index[blank_rows], columns=blank_columns)
    return smaller, dropped(len(blank_rows), len(blank_columns))
