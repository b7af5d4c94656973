"""Columns of a frame as they are computed with: numbers that are numbers, names that can be told apart and printed."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ragnb.errors import InputError
from ragnb.records import is_missing, present
from ragnb.text import well_formed


def numbers(frame: pd.DataFrame, column: str, what: str) -> NDArray[np.float64]:
    """A column as floats, nan where nothing stands.

    Raises
    ------
    InputError
        A value that is no number; ``what`` says who needs one.

    >>> numbers(pd.DataFrame({"value": [1, None, True]}, dtype=object), "value", "a mean").tolist()
    [1.0, nan, 1.0]
    """
    try:
        given = frame[column]
        if given.dtype.kind in "cmM":  # of times pandas would make numbers
            raise TypeError(f"values of type {given.dtype}")
        found = pd.to_numeric(given)
        if found.dtype.kind == "c":
            raise TypeError("complex numbers")
        if not all(
            map(pd.api.types.is_scalar, given[found.isna()])
        ):  # pandas takes what is empty for nothing
            raise TypeError("a list or a mapping")
        return found.to_numpy(float, na_value=np.nan)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{what} needs numbers in {column}; got {error!s:.60}; use nan where there is none"
        ) from error


def check_names(frame: pd.DataFrame, columns: Iterable[str], what: str) -> None:
    """Raise InputError unless the values of some columns are plain names: texts, numbers, truth values or nothing.

    Names that are lists cannot be told apart, and half a surrogate pair cannot be printed.
    """
    for column in columns:
        numeric = frame[column].dtype.kind in "biuf"
        odd = [] if numeric else _odd_names(_different(frame[column]))
        if odd:
            raise InputError(
                f"{what} needs plain names in {column}; got {odd[0]!r:.60}; write each as a text or a number"
            )


def signatures(scores: pd.DataFrame) -> list[str]:
    """The different signatures of some scores, in order; a missing one is called None.

    >>> signatures(pd.DataFrame({"signature": ["v:1", None, "v:1", float("nan")]}))
    ['None', 'v:1']
    """
    return sorted({str(present(signature)) for signature in scores["signature"].unique()})


def _different(values: pd.Series) -> list[Any]:
    try:
        return pd.unique(values).tolist()
    except (TypeError, ValueError):  # lists and arrays, which cannot be told apart
        return values.tolist()


def _odd_names(values: list[Any]) -> list[object]:
    try:
        "".join(values).encode()
        return []
    except (TypeError, UnicodeEncodeError):  # not texts alone, or half a surrogate pair somewhere
        return [value for value in values if not _is_name(value)]


def _is_name(value: object) -> bool:
    if isinstance(value, str):
        return well_formed(value) == value
    plain = np.isscalar(value) and not isinstance(value, bytes | complex)
    return value is None or value is pd.NA or value is pd.NaT or plain


def refuse_other_questions(responses: pd.DataFrame, what: str) -> None:
    """Raise InputError where one ``example_id`` stands for several questions: systems are paired by it.

    Where a file has no ids they are the numbers of its rows, which mean one question as long as all files have one order.
    """
    if (
        not {"example_id", "question", "system"} <= set(responses)
        or len(set(map(str, responses["system"].tolist()))) < 2
    ):
        return
    names = [
        name
        for name in ("example_id", "benchmark", "task", "language", "question")
        if name in responses
    ]
    first: dict[tuple[str, ...], str] = {}
    second: dict[tuple[str, ...], str] = {}
    for *item, asked in zip(*(responses[name].tolist() for name in names), strict=True):
        key, question = tuple(map(str, item)), "" if is_missing(asked) else _spaced_once(asked)
        if question and first.setdefault(key, question) != question:
            second.setdefault(key, question)
    if second:
        key, question = min(second.items())
        raise InputError(
            f"{what} pairs systems by example_id, but example_id {key[0]} belongs to {first[key]!r:.60} and to "
            f"{question!r:.60} (ids with several questions: {len(second)}). If the files have a column of ids, name it, as "
            "in --columns example_id=id or columns={'example_id': 'id'}. If not, sort the files alike or use the questions "
            "as ids: --columns example_id=user_input question=user_input or columns={'example_id': 'user_input', "
            "'question': 'user_input'}, where user_input is the column of questions."
        )


def _spaced_once(question: object) -> str:
    return " ".join(str(question).split())


def with_numbers(frame: pd.DataFrame, columns: Iterable[str], what: str) -> pd.DataFrame:
    """A frame whose columns of numbers have the types of numpy.

    Columns of whole numbers stay whole numbers. All others become floats; see `numbers`.
    """
    whole = [
        name
        for name in columns
        if pd.api.types.is_integer_dtype(frame[name]) and frame[name].notna().all()
    ]
    frame = frame.astype(dict.fromkeys(whole, "int64"))
    plain = [
        name
        for name in columns
        if isinstance(frame[name].dtype, np.dtype) and frame[name].dtype.kind in "iuf"
    ]
    return frame.assign(
        **{name: numbers(frame, name, what) for name in columns if name not in plain}
    )


def check_texts(frame: pd.DataFrame, columns: Iterable[str], what: str) -> None:
    """Raise InputError unless some columns hold texts alone."""
    for column in columns:
        odd = [value for value in _different(frame[column]) if not isinstance(value, str)]
        if odd:
            raise InputError(
                f"{what} needs a text in each row of {column}; got {odd[0]!r:.60}; mend it"
            )
