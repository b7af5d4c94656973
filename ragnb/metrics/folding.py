"""The folded form of many texts at once: ``fold(visible(text))`` of `ragnb.text`, but for its spaces.

Most characters fold to one character whatever stands beside them: their rows are folded by a table. Characters that vanish,
fold to several or may join the one before, and marks out of their canonical order, send their row through the whole
normalisation.
"""

from functools import lru_cache
from unicodedata import combining, normalize

import numpy as np
import regex

from ragnb.metrics.code_points import Points, PointTable, flagged_rows, points
from ragnb.text import visible

_VANISHES, _UNSETTLED = 254, 255  # above every combining class
_CODE_BITS = np.uint32(21)
_MAY_JOIN = regex.compile(r"\p{NFC_QC=Maybe}")


def folded_points(rows: list[str]) -> Points:
    """Code points of the folded rows.

    >>> folded_points(["ＡB", "e\u0301"]).tolist() == points(["ab", "é"]).tolist()
    True
    """
    codes = points(rows)
    folds = _folds()(codes)
    orders = (folds >> _CODE_BITS).astype(np.uint8)
    unsettled = orders >= _VANISHES
    unsettled[1:] |= (orders[1:] > 0) & (orders[:-1] > orders[1:])
    if unsettled.any():
        folds = _folds()(points(_refolded(rows, flagged_rows(codes, unsettled), flagged_rows(codes, orders == _VANISHES))))
    return folds & ((np.uint32(1) << _CODE_BITS) - np.uint32(1))


def _refolded(rows: list[str], unsettled: set[int], hiding: set[int]) -> list[str]:
    """Rows, the unsettled ones folded as a whole, those that hide something invisible first made visible."""
    folded = rows.copy()
    for number in unsettled:
        folded[number] = _folded(visible(rows[number]) if number in hiding else rows[number])
    return folded


def _folded(text: str) -> str:
    return normalize("NFKC", normalize("NFKC", text).casefold())


@lru_cache
def _folds() -> PointTable:
    return PointTable(_fold, np.uint32)


def _fold(character: str) -> int:
    """What a character folds to (itself where that is none or several), and above it its combining class.

    In place of the class stands `_VANISHES` for what is invisible, and `_UNSETTLED` where the fold depends on the
    neighbours, changes the class or is not one character.
    """
    folded, order = _folded(character), combining(character)
    moves = (order or any(map(combining, folded))) and folded != character
    if not visible(character):
        order = _VANISHES
    elif len(folded) != 1 or moves or _MAY_JOIN.search(character + folded):
        order = _UNSETTLED
    return order << int(_CODE_BITS) | ord(folded if len(folded) == 1 else character)
