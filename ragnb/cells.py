"""Cells of data frames: missing values, words for true and false, and lists."""

import re
from typing import Any

import numpy as np

from ragnb.text import fold


def is_missing(value: Any) -> bool:
    """Return whether a cell of a data frame is None, a float NaN, or pandas' NA or NaT.

    A list is never missing, whereas `pandas.isna` checks each of its items.

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), 0, "", [])]
    [True, True, False, False, False]
    """
    if value is None or isinstance(value, (float, np.floating)):
        return value is None or bool(value != value)
    return type(value).__name__ in ("NAType", "NaTType")  # without importing pandas


def present(value: Any) -> Any:
    """Return the value of a cell of a data frame, or None if it is missing (see `is_missing`)."""
    return None if is_missing(value) else value


def is_empty_cell(value: Any) -> bool:
    """Return whether a cell is missing or a text of white space.

    A list is never empty. In replies, characters without width do not count either: see
    `ragnb.text.is_blank`.

    Examples
    --------
    >>> [is_empty_cell(value) for value in (None, " \\n", "-", 0, [])]
    [True, True, False, False, False]
    """
    return is_missing(value) or (isinstance(value, str) and not value.strip())


# Words for true and false in spreadsheets and forms, in lower case.
_YES = frozenset(
    "1 1.0 1,0 yes y true t right ok pass passed ✓ ✔ ✔️ ✅ 👍 ja j wahr richtig korrekt oui o vrai sí si sì s sim vero "
    "verdadero verdadeiro certo tak да д верно правда evet kyllä はい 是 对 對 正确 正確 예 네 نعم हाँ".split()
)


_NO = frozenset(
    "0 0.0 0,0 no n false f wrong fail failed ✗ ✘ ✖ ✖️ ❌ 👎 nein falsch non faux falso não nao nee nej nie нет н неверно "
    "hayır ei いいえ 否 不 错 錯 错误 錯誤 아니요 아니오 لا नहीं".split()
)


# Words of judges for whether a sentence is fully supported, with ``_`` between words.
_SUPPORTED = frozenset(["supported", "fully_supported"])


_NOT_FULLY_SUPPORTED = frozenset(
    ["unsupported", "not_supported", "partially", "partially_supported"]
)


# Punctuation that judges write around a word.
WRAPPING = " \t\n.:;,'\"`“”‘’«»()[]{}<>*。、「」『』【】"


def plain_word(text: str) -> str:
    """Return a text in lower case, without punctuation around it and with ``_`` between its words.

    Examples
    --------
    >>> plain_word(" 'Fully-supported'. ")
    'fully_supported'
    """
    return "_".join(re.split(r"[\s_-]+", fold(text).strip(WRAPPING)))


def truth_of(text: str) -> float | None:
    """Convert a word for yes or no in any letter case to 1.0 or 0.0; None if it is another text.

    Examples
    --------
    >>> truth_of("Yes"), truth_of(" FALSE "), truth_of("nein"), truth_of("perhaps")
    (1.0, 0.0, 0.0, None)
    """
    word = fold(text)
    if word in _YES:
        return 1.0
    return 0.0 if word in _NO else None


def flag_of(value: Any) -> bool | None:
    """Return the truth value that a label states, or None if it states none.

    A label is a Python or NumPy bool, the number 1 or 0, or a word for true or false: see `truth_of`. A
    word such as ``"partially supported"`` is false, because it does not mean *fully*.

    >>> [flag_of(value) for value in (True, 1, 0.0, "TRUE", "No.", None, 2, "perhaps")]
    [True, True, False, True, False, None, None, None]
    """
    if isinstance(value, str):
        word = plain_word(value)
        if word in _SUPPORTED or word in _NOT_FULLY_SUPPORTED:
            return word in _SUPPORTED
        truth = truth_of(word)
        return None if truth is None else bool(truth)
    if isinstance(value, bool | int | float | np.bool_ | np.number) and value in (0, 1):
        return bool(value)
    return None


def as_lists(value: Any) -> Any:
    """Return arrays of lists or texts, as Arrow and Parquet have them, as lists."""
    if isinstance(value, np.ndarray) and (value.dtype == object or not value.size):
        return [as_lists(part) for part in value]
    if type(value) is dict and {np.ndarray, dict} & set(map(type, value.values())):
        return {name: as_lists(part) for name, part in value.items()}
    return value


def records_of(frame: Any) -> list[dict[str, Any]]:
    """Return the rows as mappings, which are empty if the frame has no columns.

    ``to_dict("records")`` returns no rows then, before pandas 3.1.

    >>> import pandas as pd
    >>> records_of(pd.DataFrame(index=[0, 1]))
    [{}, {}]
    """
    if frame.columns.empty:
        return [{} for _ in range(len(frame))]
    records: list[dict[str, Any]] = frame.to_dict("records")
    return records
