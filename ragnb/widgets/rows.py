"""The rows of a frame as a list: what they can be searched, filtered and sorted by, and the title of each."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ragnb.errors import InputError
from ragnb.markup import spelled
from ragnb.records import PAYLOAD, is_missing, refuse_partitioned
from ragnb.text import fold
from ragnb.widgets.rgb import VERDICTS

FEWEST, FEW, MOST, LONGEST, DIGITS = 2, 3, 30, 60, 2
"""Different values that a column can be filtered by: how many at least, at most where they hardly come twice, and at most;
how long each is at most, and how many digits a fraction has."""

VERDICT = tuple(
    "label human_label judged_correct judge_verdict verdict value adherence_score overall_supported judged_refusal "
    "judged_detection".split()
)
"""Columns that give a title its sign, the first that there is."""

ABOUT = (
    "system",
    "language",
    "noise_rate",
    "correct_rate",
    "task",
    "metric",
    "annotator",
    "status",
    "flag",
    "example_id",
)
"""Columns that tell rows of one question apart; a title has those that differ."""

TITLE = ("question", "title", "response", "text")
WORDS = {"correct": "✓", "incorrect": "✗"}
MISSING, LINE = "–", 160


class Choices(NamedTuple):
    """Different values of a column, what they are called, and for each row the place of its own among them."""

    values: list[Any]
    names: list[str]
    codes: np.ndarray


class Title(NamedTuple):
    """What stands for a row in a list: a sign, a line of text, and what tells it from others."""

    sign: str
    text: str
    about: list[str]


class Rows:
    """A frame that can be searched, filtered and sorted.

    Named levels of the index count as columns; levels of column names are joined by ``/``.

    Parameters
    ----------
    frame
        Any frame.

    Raises
    ------
    InputError
        Anything but a DataFrame, or two columns of one name.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = _flat(frame)
        self.choices = dict(_told_apart(self.frame))
        numbers = {name: _numbers(self.frame[name]) for name in self.frame}
        self.numbers = {name: values for name, values in numbers.items() if values is not None}
        self._verdict = next((name for name in VERDICT if name in self.frame), None)
        self._title = self._title_column()
        self._about = self._about_columns()

    def __len__(self) -> int:
        return len(self.frame)

    def row(self, place: int) -> dict[str, Any]:
        """A row as a mapping, arrays in its cells as lists."""
        return {name: listed(self.frame[name].iloc[place]) for name in self.frame}

    def prepare(self) -> None:
        """Make the first search as fast as those that follow."""
        len(self._texts)

    # ---- search, filters, sort -----------------------------------------------------------------------------------------

    def found(self, search: str, filters: Mapping[Any, int], sort: str) -> np.ndarray:
        """Places of the rows that hold all words of a search and pass all filters, sorted."""
        passing = np.ones(len(self), dtype=bool)
        for name, code in filters.items():
            passing &= self.choices[name].codes == code
        order = self._order(sort)
        places = order[passing[order]]
        words = fold(search).split()
        return np.array(self._holding(words, places.tolist()), dtype=int) if words else places

    def _holding(self, words: list[str], places: list[int]) -> list[int]:
        texts = self._texts
        for word in words:
            places = [place for place in places if word in texts[place]]
        return places

    @cached_property
    def _texts(self) -> list[str]:
        """All texts of each row, folded; one that many rows share is folded once."""
        known: dict[str, str] = {}
        rows: list[dict[str, None]] = [{} for _ in range(len(self))]
        for name in self.frame:
            if not self._may_hold_text(name):
                continue
            for texts, cell in zip(rows, self.frame[name], strict=True):
                texts.update(dict.fromkeys(texts_in(cell)))
        for texts in rows:
            known.update((text, fold(text)) for text in texts if text not in known)
        return ["\n".join(known[text] for text in texts) for texts in rows]

    def _may_hold_text(self, name: Any) -> bool:
        return not (
            pd.api.types.is_numeric_dtype(self.frame[name])
            or pd.api.types.is_datetime64_any_dtype(self.frame[name])
        )

    def code(self, name: Any, value: Any) -> int:
        """Place of a value among those that a column can be filtered by."""
        if name not in self.choices:
            known = ", ".join(map(repr, self.choices)) or "no column of this frame"
            raise InputError(
                f"a filter needs one of {known}; got {name!r}; filter the frame itself by other columns"
            )
        values = self.choices[name].values
        wanted = None if is_missing(value) else listed(value)
        if wanted in values:
            return values.index(wanted)
        raise InputError(
            f"a filter by {name!r} needs one of {', '.join(map(repr, values))}; got {value!r}; choose one of them"
        )

    def _order(self, sort: str) -> np.ndarray:
        if not sort:
            return np.arange(len(self))
        name, down = self.sorted_by(sort)
        values = self._alphabet if name == "question" else self.numbers[name]
        return np.argsort(-values if down else values, kind="stable")

    def sorted_by(self, sort: str) -> tuple[Any, bool]:
        """The column that a sort goes by, and whether down: its name, with a minus before it for the greatest first."""
        names = {str(name): name for name in self.sortable}
        if sort in names:
            return names[sort], False
        if isinstance(sort, str) and sort[:1] == "-" and sort[1:] in names:
            return names[sort[1:]], True
        known = ", ".join(["''", *map(repr, names)])
        raise InputError(
            f"a sort needs one of {known}, with - before it for down; got {sort!r}; choose one of them"
        )

    @property
    def sortable(self) -> list[Any]:
        """Columns that rows can be sorted by: the question and every number."""
        return [
            *(["question"] if "question" in self.frame else []),
            *(name for name in self.numbers if name != "question"),
        ]

    def differs(self, name: Any) -> bool:
        """Whether a column has different values, as a title shows them."""
        texts = map(short, self.frame[name].array)
        first = next(texts, "")
        return name in self.choices or any(text != first for text in texts)

    @cached_property
    def _alphabet(self) -> np.ndarray:
        """Rank of each question among all; nan without one."""
        questions = [
            fold(cell) if isinstance(cell, str) else None for cell in self.frame["question"]
        ]
        ranks = {
            text: rank
            for rank, text in enumerate(sorted({text for text in questions if text is not None}))
        }
        return np.array(
            [ranks.get(text, np.nan) if text is not None else np.nan for text in questions],
            dtype=float,
        )

    # ---- titles --------------------------------------------------------------------------------------------------------

    def title(self, place: int) -> Title:
        """What stands for a row; characters that hide are spelled out."""
        text = self._cells[self._title][place] if self._title is not None else ""
        about = [_about(name, self._cells[name][place]) for name in self._about]
        return Title(
            self._sign(place), short(text) or f"row {place + 1}", list(filter(None, about))
        )

    @cached_property
    def _cells(self) -> dict[Any, np.ndarray]:
        """Columns of which titles are made, in a form that is fast to look into."""
        names = [name for name in (self._verdict, self._title, *self._about) if name is not None]
        return {name: self.frame[name].to_numpy(dtype=object) for name in names}

    @property
    def sign_meaning(self) -> str:
        """What the sign of a title says."""
        return f"✓ ✗ = {spelled(self._verdict)}" if self._verdict else ""

    def _sign(self, place: int) -> str:
        if self._verdict is None:
            return ""
        value = listed(self._cells[self._verdict][place])
        if isinstance(value, (bool, int, float)) and value == value:
            return VERDICTS.get(float(value), "")
        return MISSING if is_missing(value) else WORDS.get(str(value), "")

    def _title_column(self) -> Any:
        known = (name for name in TITLE if name in self.frame)
        texts = (
            name for name in self.frame if name not in self.choices and _is_text(self.frame[name])
        )
        return next(known, next(texts, next(iter(self.frame), None)))

    def _about_columns(self) -> list[Any]:
        differ = [name for name in ABOUT if name in self.frame and self.differs(name)]
        return differ or [name for name in self.choices if name != self._title][:3]


# ---- cells -------------------------------------------------------------------------------------------------------------


def listed(cell: Any) -> Any:
    """A cell with lists in the place of arrays, at any depth, and Python's own numbers.

    >>> listed(np.array([np.array(["a"], dtype=object), None], dtype=object))
    [['a'], None]
    """
    if isinstance(cell, np.ndarray):
        cell = cell.tolist()
    if isinstance(cell, (list, tuple)):
        return [listed(inner) for inner in cell]
    if isinstance(cell, Mapping):
        return {name: listed(inner) for name, inner in cell.items()}
    return cell.item() if isinstance(cell, np.generic) else cell


def texts_in(cell: Any) -> Iterator[str]:
    """All texts in a cell, at any depth.

    >>> list(texts_in([["a", 1], {"key": "b"}, None]))
    ['a', 'b']
    """
    if isinstance(cell, str):
        yield cell
    elif isinstance(cell, Mapping):
        yield from texts_in(list(cell.values()))
    elif isinstance(cell, (list, tuple, set, frozenset, np.ndarray)):
        for inner in cell.tolist() if isinstance(cell, np.ndarray) else cell:
            yield from texts_in(inner)


def short(cell: Any) -> str:
    """A cell in one line, its beginning only where it is long; characters that hide are spelled out.

    >>> short("one\\n two"), short(0.40000000000000002), short(1.0), short(None)
    ('one two', '0.4', '1', '–')
    """
    if not isinstance(cell, (list, tuple, Mapping, np.ndarray)) and is_missing(cell):
        return MISSING
    if isinstance(cell, (float, np.floating)):
        return f"{cell:g}"
    text = cell if isinstance(cell, str) else " · ".join(texts_in(cell)) or str(cell)
    line = spelled(" ".join(text[: 2 * LINE].split()))
    return line if len(line) <= LINE else f"{line[:LINE].rstrip()}…"


def _about(name: Any, cell: Any) -> str:
    """A cell as part of a title: a number with its name, nothing where nothing is."""
    if is_missing(cell):
        return ""
    return (
        short(cell) if isinstance(cell, str) else f"{spelled(name).replace('_', ' ')} {short(cell)}"
    )


def _flat(frame: Any) -> pd.DataFrame:
    refuse_partitioned(frame, "view")
    if not isinstance(frame, pd.DataFrame):
        raise InputError(
            f"view needs a pandas DataFrame; got {type(frame).__name__}; load or build a frame first"
        )
    columns = [_one_name(name) for name in frame.columns]
    levels = {name: frame.index.get_level_values(k) for k, name in enumerate(frame.index.names)}
    before = {
        name: values for name, values in levels.items() if name is not None and name not in columns
    }
    names = [*before, *columns]
    twice = sorted({str(name) for name in names if names.count(name) > 1})
    if twice:
        raise InputError(
            f"view needs columns with names of their own; got {', '.join(twice)} twice; rename one of each"
        )
    flat = frame.reset_index(drop=True).set_axis(columns, axis="columns")
    for place, (name, values) in enumerate(before.items()):
        flat.insert(place, name, values)
    return flat


def _one_name(name: Any) -> Any:
    if isinstance(name, tuple):
        return " / ".join(str(level) for level in name if level != "")
    return str(name) if is_missing(name) else name


def _told_apart(frame: pd.DataFrame) -> Iterator[tuple[Any, Choices]]:
    """Columns with their choices; of names that only stand for each other, the first."""
    seen = set()
    for name in frame:
        found = _choices(name, frame[name])
        if found is None:
            continue
        parts = pd.factorize(found.codes)[0].tobytes()
        if not (parts in seen and any(isinstance(value, str) for value in found.values)):
            yield name, found
        seen.add(parts)


def _choices(name: Any, column: pd.Series) -> Choices | None:
    """What a column can be filtered by; None where its values are many, long, or no single values."""
    try:
        codes, values = pd.factorize(column)
    except (
        TypeError,
        NotImplementedError,
    ):  # lists and mappings, the latter error for those of Arrow
        return None
    kept = list(map(listed, values)) + [None] * bool((codes == -1).any())
    if not FEWEST <= len(kept) <= min(MOST, max(FEW, len(column) // 2)) or name in PAYLOAD - {
        "reason"
    }:
        return None
    if not all(map(_is_choice, kept)):
        return None
    order = sorted(range(len(kept)), key=lambda place: _choice_key(kept[place]))
    ranks = np.argsort(order)
    return Choices([kept[k] for k in order], [short(kept[k]) for k in order], ranks[codes])


def _is_choice(value: Any) -> bool:
    """A rate that was set (0.25) is one, a score that was measured (0.2731) is none."""
    measured = isinstance(value, float) and value != round(value, DIGITS)
    return (
        not measured
        and not isinstance(value, (tuple, frozenset, list, dict))
        and len(str(value)) <= LONGEST
    )


def _choice_key(value: Any) -> tuple[int, float, str]:
    if value is None:
        return 2, 0.0, ""
    return (
        (0, float(value), "")
        if isinstance(value, (bool, int, float))
        else (1, 0.0, fold(str(value)))
    )


def _numbers(column: pd.Series) -> np.ndarray | None:
    """A column of numbers as such, nan where one is missing; None for any other."""
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if (
        kind not in ("integer", "floating", "mixed-integer-float", "boolean", "decimal")
        or column.isna().all()
    ):
        return None
    return pd.to_numeric(column.astype(object).where(column.notna(), np.nan)).to_numpy(dtype=float)


def _is_text(column: pd.Series) -> bool:
    return any(isinstance(cell, str) for cell in column.head(50))
