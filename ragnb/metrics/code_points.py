"""Columns of text as arrays of code points, and tables that say what each code point is."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ragnb.errors import InputError

Points = NDArray[np.uint32]
Integers = NDArray[np.int64]

ROWS = 8192
"""Rows worked on at a time: their arrays stay in the processor's cache, and memory stays small."""

BREAK = 10
"""Code point (line feed) that closes each row."""


class PointTable:
    """What a function says of each code point, a number below the highest of `dtype`; asked once each, then looked up.

    >>> PointTable(str.isdigit)(points(["a1"])).tolist()
    [0, 1, 0]
    """

    def __init__(self, number_of: Callable[[str], int], dtype: DTypeLike = np.uint8) -> None:
        self._number_of = number_of
        self._unknown = np.iinfo(dtype).max
        self._numbers = np.full(0x110000, self._unknown, dtype=dtype)

    def __call__(self, codes: Points) -> NDArray[Any]:
        """Numbers of an array of code points."""
        places = codes.astype(np.intp)
        numbers = self._numbers[places]
        new = numbers == self._unknown
        if not new.any():
            return numbers
        for code in np.unique(places[new]).tolist():
            self._numbers[code] = self._number_of(chr(code))
        return self._numbers[places]


def points(rows: Sequence[str]) -> Points:
    """Code points of all rows, each row closed by a `BREAK`; a line feed within a row counts as a space.

    >>> points(["a", "", "b\\n"]).tolist()
    [97, 10, 10, 98, 32, 10]
    """
    text = "\n".join([*rows, ""])
    if text.count("\n") > len(rows):
        text = "\n".join([*(row.replace("\n", " ") for row in rows), ""])
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def row_lengths(codes: Points) -> Integers:
    """Number of code points in each row, its `BREAK` included.

    >>> row_lengths(points(["a", "", "bc"])).tolist()
    [2, 1, 3]
    """
    return np.diff(np.flatnonzero(codes == BREAK), prepend=-1)


def flagged_rows(codes: Points, flags: NDArray[np.bool_]) -> set[int]:
    """Numbers of the rows that hold a flagged code point.

    >>> flagged_rows(points(["ab", "c"]), np.array([False, True, False, False, False]))
    {0}
    """
    return set(np.searchsorted(np.flatnonzero(codes == BREAK), np.flatnonzero(flags)).tolist())


def column(values: Iterable[Any], what: str) -> list[Any]:
    """Return a column as a list.

    Raises
    ------
    InputError
        If it is one text, or no column at all.
    """
    if isinstance(values, str | bytes) or not np.iterable(values):
        raise InputError(f"{what} needs a column, one value a row; got {type(values).__name__}; pass a list")
    return list(values)


def batches(n: int) -> list[slice]:
    """Slices of at most `ROWS` rows that cover `n` rows.

    >>> batches(10_000)
    [slice(0, 8192, None), slice(8192, 10000, None)]
    """
    return [slice(start, min(start + ROWS, n)) for start in range(0, n, ROWS)]


def text_batch(values: list[Any], rows: slice, what: str) -> tuple[list[str], list[int]]:
    """Return some rows of a column of texts, and which of them have none (None): there, the text is empty.

    Raises
    ------
    InputError
        If a row holds anything else.

    >>> text_batch(["a", None, "b"], slice(1, 3), "responses")
    (['', 'b'], [0])
    """
    texts = values[rows]
    if set(map(type, texts)) <= {str}:
        return texts, []
    for row, text in enumerate(texts, rows.start):
        if text is not None and not isinstance(text, str):
            raise InputError(f"{what} needs a text or None in every row; got {type(text).__name__} in row {row}; mend it")
    return [text or "" for text in texts], [place for place, text in enumerate(texts) if text is None]


def language_column(languages: str | Iterable[str | None] | None, n: int) -> list[str | None]:
    """Return one language a row, from one for all or a column of them.

    Raises
    ------
    InputError
        If their number is not `n`.
    """
    if languages is None or isinstance(languages, str):
        return [languages] * n
    listed = column(languages, "languages")
    if len(listed) != n:
        raise InputError(f"languages needs one code a row ({n}); got {len(listed)}; pass a column or one code for all")
    return listed
