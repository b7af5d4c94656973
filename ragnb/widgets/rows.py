"""The rows of a frame as a list that can be searched, filtered and sorted."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ragnb.errors import InputError
from ragnb.markup import spelled
from ragnb.records import PAYLOAD, is_missing, require_columns
from ragnb.text import fold
from ragnb.widgets.pages import MISSING

LINE = 160
"""Longest text of a line, in characters."""

VERDICT = tuple(
    "label human_label judged_correct judge_verdict verdict value adherence_score overall_supported "
    "judged_refusal judged_detection".split()
)
"""Columns from which a title takes its sign; the first that exists counts."""

ABOUT = tuple(
    "system language noise_rate correct_rate task metric annotator status flag example_id".split()
)
"""Columns that distinguish the rows of one question; a title shows those that differ."""

TITLE = ("question", "title", "response", "text")
SIGNS = dict.fromkeys(["True", "1", "1.0", "correct"], "✓") | dict.fromkeys(
    ["False", "0", "0.0", "incorrect"], "✗"
)
"""Verdict, as a text -> the sign of a title."""


class Choices(NamedTuple):
    """The distinct values of a column, their names, and the position of each row's value."""

    values: list[Any]
    names: list[str]
    codes: np.ndarray


class Rows:
    """A frame that can be searched, filtered and sorted.

    Named levels of the index count as columns. Levels of column names are joined by ``/``.

    Raises
    ------
    InputError
        If it is not a DataFrame, or two columns have the same name.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = _flat(frame)
        self.choices = _choices(self.frame)
        numbers = {name: _numbers(self.frame[name]) for name in self.frame}
        self.numbers = {name: values for name, values in numbers.items() if values is not None}
        self.sorts = {
            f"{minus}{name}": (name, bool(minus))
            for name in self.frame
            if name in self.numbers and self._differs(name)
            for minus in ("", "-")
        }
        named = [name for name in TITLE if name in self.frame]
        others = [name for name in self.frame if name not in self.choices]
        texts = [name for name in others if any(isinstance(c, str) for c in self.frame[name][:50])]
        self._title = next(iter([*named, *texts, *self.frame]), None)
        self._verdict = next((name for name in VERDICT if name in self.frame), None)
        about = [name for name in ABOUT if name in self.frame and self._differs(name)]
        self._about = about or [name for name in self.choices if name != self._title][:3]
        self.sign_meaning = f"✓ ✗ = {spelled(self._verdict)}" if self._verdict else ""

    def row(self, place: int) -> dict[str, Any]:
        """Return a row as a mapping, with lists instead of arrays."""
        return {name: listed(self.frame[name].iloc[place]) for name in self.frame}

    def _differs(self, name: Any) -> bool:
        """Return whether a column has different values, as a title shows them."""
        texts = map(short, self.frame[name].array)
        first = next(texts, "")
        return name in self.choices or any(text != first for text in texts)

    # ---- search, filters, sort -------------------------------------------------------------------

    def found(self, search: str, filters: Mapping[Any, int], sort: str) -> np.ndarray:
        """Return the sorted positions of the rows with all words of a search that pass all filters."""
        passing = np.ones(len(self.frame), dtype=bool)
        for name, code in filters.items():
            passing &= self.choices[name].codes == code
        order = np.arange(len(self.frame))
        if sort:
            name, down = self.sorts[sort]
            keys = self.numbers[name]
            order = keys.sort_values(ascending=not down, kind="stable").index.to_numpy()
        places = order[passing[order]]
        for word in fold(search).split():
            places = np.array([place for place in places if word in self.texts[place]], dtype=int)
        return places

    @cached_property
    def texts(self) -> list[str]:
        """All texts of each row, folded for a search; a text that many rows share is folded once."""
        known: dict[str, str] = {}
        rows: list[dict[str, None]] = [{} for _ in range(len(self.frame))]
        for column in self.frame.select_dtypes(
            exclude=["number", "datetime", "datetimetz"]
        ).items():
            for texts, cell in zip(rows, column[1], strict=True):
                texts.update(dict.fromkeys(texts_in(cell)))
        for texts in rows:
            known.update((text, fold(text)) for text in texts if text not in known)
        return ["\n".join(known[text] for text in texts) for texts in rows]

    # ---- titles ----------------------------------------------------------------------------------

    def title(self, place: int) -> tuple[str, str, list[str]]:
        """Return a row's line in the list: its sign, its text, and what distinguishes it."""
        text = short(self._cells[self._title][place]) if self._title is not None else ""
        about = [_named(name, self._cells[name][place]) for name in self._about]
        verdict = self._cells[self._verdict][place] if self._verdict is not None else ""
        sign = MISSING if is_missing(verdict) else SIGNS.get(str(verdict), "")
        return sign, text or f"row {place + 1}", [one for one in about if one]

    @cached_property
    def _cells(self) -> dict[Any, np.ndarray]:
        """Columns that appear in titles, as arrays for fast access."""
        names = {self._verdict, self._title, *self._about} - {None}
        return {name: self.frame[name].to_numpy(dtype=object) for name in names}


# ---- cells ---------------------------------------------------------------------------------------


def listed(cell: Any) -> Any:
    """Convert the arrays in a cell to lists, at any depth, and NumPy's numbers to Python's.

    >>> listed(np.array([np.array(["a"], dtype=object), None], dtype=object))
    [['a'], None]
    """
    if isinstance(cell, np.ndarray | np.generic):
        cell = cell.tolist()
    if isinstance(cell, list | tuple):
        return [listed(inner) for inner in cell]
    if isinstance(cell, Mapping):
        return {name: listed(inner) for name, inner in cell.items()}
    return cell


def texts_in(cell: Any) -> Iterator[str]:
    """Yield all texts in a cell, at any depth.

    >>> list(texts_in([["a", 1], {"key": "b"}, None]))
    ['a', 'b']
    """
    if isinstance(cell, str):
        yield cell
    elif isinstance(cell, Mapping):
        yield from texts_in(list(cell.values()))
    elif isinstance(cell, list | tuple | set | frozenset | np.ndarray):
        for inner in cell:
            yield from texts_in(inner)


def short(cell: Any) -> str:
    """Return a cell in one line, cut after `LINE` characters; hidden characters are spelled out.

    >>> short("one\\n two"), short(0.40000000000000002), short(1.0), short(None)
    ('one two', '0.4', '1', '–')
    """
    if is_missing(cell):
        return MISSING
    if isinstance(cell, float | np.floating):
        return f"{cell:g}"
    text = cell if isinstance(cell, str) else " · ".join(texts_in(cell)) or str(cell)
    line = spelled(" ".join(text[: 2 * LINE].split()))
    return line if len(line) <= LINE else f"{line[:LINE].rstrip()}…"


def _named(name: Any, cell: Any) -> str:
    """Return a cell as part of a title: a number with its column, or nothing if it is missing."""
    if is_missing(cell):
        return ""
    named = "" if isinstance(cell, str) else f"{spelled(name).replace('_', ' ')} "
    return named + short(cell)


# ---- columns -------------------------------------------------------------------------------------


def _flat(frame: Any) -> pd.DataFrame:
    """Return a frame with the named levels of its index as columns, and a new index."""
    require_columns(frame, (), "view")
    levels = [name for name in frame.index.names if name is not None and name not in frame]
    flat = (frame.reset_index(level=levels) if levels else frame).reset_index(drop=True)
    flat.columns = [
        " / ".join(str(level) for level in name if level != "") if isinstance(name, tuple) else name
        for name in flat.columns
    ]
    if not flat.columns.is_unique:
        twice = ", ".join(map(str, flat.columns[flat.columns.duplicated()]))
        raise InputError(f"the columns of a view must have different names, got {twice} twice")
    return flat


def _choices(frame: pd.DataFrame) -> dict[Any, Choices]:
    """Return the columns by which rows can be filtered: those with few, short, single values.

    Of several columns that divide the rows alike, only the first is kept, unless its values are
    numbers.
    """
    found: dict[Any, Choices] = {}
    seen = set()
    for name in frame:
        if name in PAYLOAD and name != "reason":
            continue
        try:
            codes, values = pd.factorize(frame[name])
        except (TypeError, NotImplementedError):  # lists and mappings, also those of Arrow
            continue
        kept = [*map(listed, values), *([None] if (codes == -1).any() else [])]
        measured = [one for one in kept if isinstance(one, float) and one != round(one, 2)]
        longest = max((len(str(one)) for one in kept), default=0)
        if not 2 <= len(kept) <= min(30, max(3, len(frame) // 2)) or measured or longest > 60:
            continue
        division = pd.factorize(codes)[0].tobytes()
        if division not in seen or not any(isinstance(value, str) for value in kept):
            order = sorted(range(len(kept)), key=lambda place: _choice_key(kept[place]))
            names = [short(kept[place]) for place in order]
            found[name] = Choices([kept[k] for k in order], names, np.argsort(order)[codes])
        seen.add(division)
    return found


def _choice_key(value: Any) -> tuple[bool, bool, float, str]:
    """Return what sorts choices: numbers first, then texts, and a missing value last."""
    is_number = isinstance(value, bool | int | float)
    return value is None, not is_number, float(value) if is_number else 0.0, fold(str(value))


def _numbers(column: pd.Series) -> pd.Series | None:
    """Return a column of numbers as floats, nan where one is missing; None for any other column."""
    kind = pd.api.types.infer_dtype(column, skipna=True)
    numeric = ("integer", "floating", "mixed-integer-float", "boolean", "decimal")
    if kind not in numeric or column.isna().all():
        return None
    return column.astype(object).where(column.notna(), np.nan).astype(float)
