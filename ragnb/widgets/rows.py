"""The rows of a frame as a list that can be searched, filtered and sorted."""

import operator
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, reduce
from inspect import getdoc
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import regex
from pyarrow.compute import match_substring

from ragnb.cells import is_missing
from ragnb.columns import COLUMNS, CONDITION, PAYLOAD, require_columns
from ragnb.errors import InputError
from ragnb.markup import spelled
from ragnb.metrics.record import METRICS
from ragnb.suggestions import did_you_mean
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
    "system language noise_rate correct_rate task metric annotator status flag turn answerability "
    "example_id".split()
)
"""Columns that distinguish the rows of one question; a title shows those that differ."""

HUMAN_AND_JUDGE = ("label", "human_label", "judged_correct", "judge_verdict")
"""Columns of verdicts of people and of judges; the combinations of the first two are a filter."""

DIFFER = "verdicts of the systems"
"""Name of the filter by the verdicts on one question, and of the order by whether they differ."""

MOST_OTHERS, MOST_COMPARED = 5, 4
"""Largest number of responses next to one, and of systems whose verdicts are a filter."""

COMPARISON = regex.compile(r"(.+?)([<>]=?|=)(-?(?:\d+\.?\d*|\.\d+))")
COMPARE = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq
}  # fmt: skip
"""Comparisons of a column with a number, as in the search ``answer.f1<0.5``."""

TITLE = ("question", "title", "response", "text")
SIGNS = dict.fromkeys(["True", "1", "1.0", "correct"], "✓") | dict.fromkeys(
    ["False", "0", "0.0", "incorrect"], "✗"
)
"""Verdict, as a text -> the sign of a title."""


class Choices(NamedTuple):
    """The names of the distinct values of a column, and the position of each row's value."""

    names: list[str]
    codes: np.ndarray


class Rows:
    """A frame that can be searched, filtered and sorted.

    Named levels of the index count as columns. Levels of column names are joined by ``/``.

    Raises
    ------
    InputError
        If it is not a DataFrame, two columns have the same name, or what changed cannot be found.
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        changed: Sequence[str] | None = None,
        verdict: str | None = None,
    ) -> None:
        self.frame = _flat(frame)
        self.frame.attrs = {}  # pandas would copy them with each column
        self._factorized = _factorized(self.frame)
        self.choices = _choices(self._factorized)
        numbers = {name: _numbers(self.frame[name]) for name in self.frame}
        self.numbers = {name: values for name, values in numbers.items() if values is not None}
        self.sorts = {
            f"{minus}{name}": (name, bool(minus))
            for name in self.frame
            if name in self.numbers and self._differs(name)
            for minus in ("", "-")
        }
        named = [name for name in TITLE if name in self.frame]
        texts = [name for name in self.frame if name not in {*self.choices, *self.numbers}]
        self._title = next(iter([*named, *texts, *self.frame]), None)
        verdicts = (name for name in VERDICT if name in self.frame)
        available = (name for name in verdicts if self.frame[name].notna().any())
        self._verdict = verdict or next(available, None)
        about = [name for name in ABOUT if name in self.frame and self._differs(name)]
        self._about = about or [name for name in self.choices if name != self._title][:3]
        self._in_titles = {self._title, self._verdict, *self._about} - {None}
        self.sign_meaning = f"✓ ✗ = {spelled(self._verdict)}" if self._verdict else ""
        fractions = self.frame.select_dtypes("floating").columns
        known = {*ABOUT, *CONDITION, *VERDICT, "effective_noise_rate"} - {"value"}
        self._scores = [name for name in fractions if name not in known and self._differs(name)]
        self.within = np.ones(len(self.frame), dtype=bool)
        if self._questions is not None and self._verdict is not None:
            self._compare_systems(self._questions, changed)
        elif changed:
            raise InputError(
                "view with changed=... needs the columns example_id, system and a verdict "
                f"({', '.join(VERDICT[:4])}, …), and at least two systems"
            )
        if len(both := [name for name in HUMAN_AND_JUDGE if name in self.frame]) > 1:
            self.choices[" / ".join(both)] = _patterns(
                self.frame[both[:2]].apply(lambda column: column.map(str).map(SIGNS))
            )

    def row(self, place: int) -> dict[str, Any]:
        """Return a row as a mapping, with lists instead of arrays."""
        return {name: plain(self.frame[name].iloc[place]) for name in self.frame}

    def _differs(self, name: Any) -> bool:
        """Return whether a column has different values, as a title shows them."""
        _, values = self._factorized.get(name, ([], []))
        return any(short(value) != short(values[0]) for value in values)

    # ---- search, filters, sort -------------------------------------------------------------------

    def found(self, search: str, filters: Mapping[Any, Sequence[int]], sort: str) -> np.ndarray:
        """Return the sorted positions of the rows with all words of a search that pass all filters.

        A row passes a filter if its value in that column is one of those that were chosen.

        A word such as ``answer.f1<0.5`` compares a column of numbers.
        """
        columns = {fold(str(name)): values for name, values in self.numbers.items()}
        passing = self.within.copy()
        for name, codes in filters.items():
            passing &= np.isin(self.choices[name].codes, codes)
        order = np.arange(len(self.frame))
        if sort:
            name, down = self.sorts[sort]
            ordered = self.numbers[name].sort_values(ascending=not down, kind="stable")
            order = ordered.index.to_numpy()
        places = order[passing[order]]
        for word in fold(search).split():
            asked = COMPARISON.fullmatch(word)
            if asked and asked[1] in columns:
                passes = COMPARE[asked[2]](columns[asked[1]].to_numpy(), float(asked[3]))
                places = places[passes[places]]
                continue
            texts, numbers, rows = self.texts
            has_word = match_substring(texts, word.encode("utf-8", "surrogatepass")).to_numpy(False)
            passing[:] = False
            passing[rows[has_word[numbers]]] = True
            places = places[passing[places]]
        return places

    @cached_property
    def texts(self) -> tuple[pa.Array, np.ndarray, np.ndarray]:
        """The distinct texts, folded for a search, and number and row of all their occurrences."""
        known: dict[str, int] = {}
        rows, numbers = array("q"), array("q")
        for _, column in self.frame.select_dtypes(
            exclude=["number", "datetime", "datetimetz"]
        ).items():
            for row, cell in enumerate(column.to_numpy(dtype=object)):
                for text in (cell,) if isinstance(cell, str) else texts_in(cell):
                    numbers.append(known.setdefault(text, len(known)))
                    rows.append(row)
        folded = (fold(text).encode("utf-8", "surrogatepass") for text in known)
        return pa.array(folded, pa.large_binary()), np.asarray(numbers), np.asarray(rows)

    # ---- scores, and other systems ---------------------------------------------------------------

    def scores(self, place: int) -> Iterator[dict[str, Any]]:
        """Yield the scores of a row: name, value, meaning, the bars of a histogram, and a note.

        The column ``value`` of long frames has values of several metrics; those of one are counted.
        """
        for name in self._scores:
            values, value, metric = self.numbers[name], self.numbers[name][place], name
            if not np.isfinite(value):
                continue
            if name == "value" and "metric" in self.frame:
                metric = self.frame["metric"][place]
                values = values[self.frame["metric"] == metric]
            values = values[np.isfinite(values)]
            counts, edges = np.histogram(values, bins=12)
            here = min(int(np.searchsorted(edges, value, "right")), len(counts)) - 1
            heights = np.ceil(100 * counts / counts.max()).astype(int).tolist()
            evidence = self.frame.get(f"{name}: evidence")
            yield {
                "name": words(name),
                "value": f"{value:.3g}",
                "meaning": _meaning(metric),
                "bars": [(height, bar == here) for bar, height in enumerate(heights)],
                "note": f"above {(values < value).mean():.0%}"
                if evidence is None
                else evidence[place],
            }

    def others(self, place: int) -> list[tuple[str, dict[str, Any]]]:
        """Return the responses of other systems to the same question, each with its system."""
        if self._questions is None:
            return []
        same = self.frame[self._questions == self._questions[place]].drop_duplicates("system")
        others = same.index[same["system"] != self.frame["system"][place]]
        return [(short(self.frame["system"][n]), self.row(n)) for n in others[:MOST_OTHERS]]

    @cached_property
    def _questions(self) -> np.ndarray | None:
        """Number of the question and condition of each row; None if none has several responses."""
        keys = [name for name in ("example_id", "question_id", "question") if name in self.frame]
        if not keys or "system" not in self.frame or not self._differs("system"):
            return None
        keys = [keys[0], *({*self._about} & {*self.choices} - {"system", keys[0]})]
        numbers = self.frame.groupby(keys, dropna=False, sort=False).ngroup().to_numpy()
        return numbers if numbers.max() + 1 < len(numbers) else None

    def _compare_systems(self, questions: np.ndarray, changed: Sequence[str] | None) -> None:
        """Add a filter and an order by the verdicts that the systems got for the same question."""
        marks = self.frame[self._verdict].map(str).map(SIGNS)
        codes, values = self._factorized["system"]
        names = [short(value) for value in values]
        systems = np.array(names, dtype=object)[codes]
        verdicts = pd.DataFrame({"at": questions, "system": systems, "sign": marks})
        table = verdicts.groupby(["at", "system"], sort=True)["sign"].first().unstack("system")
        table = table.reindex(columns=names)
        differ = (table.isin(["✓"]).any(axis=1) & table.isin(["✗"]).any(axis=1)).astype(float)
        if changed:
            first, second = map(short, changed)
            if {first, second} - {*table}:
                raise InputError(
                    f"changed must be two of the systems {', '.join(table)}, got {changed!r}"
                    f"{did_you_mean(min({first, second} - {*table}), table)}"
                )
            known = table[[first, second]].dropna()
            moved = known.index[known[first] != known[second]]
            self.within &= np.isin(questions, moved) & (systems == first)
        self.numbers[DIFFER] = differ.loc[questions].reset_index(drop=True)
        self.sorts[f"-{DIFFER}"] = (DIFFER, True)
        if len(table.columns) <= MOST_COMPARED:
            self.choices[DIFFER] = _patterns(table.loc[questions])

    # ---- titles ----------------------------------------------------------------------------------

    def title(self, place: int) -> tuple[str, str, list[str]]:
        """Return a row's line in the list: its sign, its text, and what distinguishes it."""
        cell = {name: self.frame[name].iloc[place] for name in self._in_titles}
        text = short(cell[self._title]) if self._title is not None else ""
        about = [
            # A number is shown with its column.
            short(cell[name])
            if isinstance(cell[name], str)
            else f"{words(name)} {short(cell[name])}"
            for name in self._about
            if not is_missing(cell[name])
        ]
        verdict = cell.get(self._verdict, "")
        sign = MISSING if is_missing(verdict) else SIGNS.get(str(verdict), "")
        return sign, text or f"row {place + 1}", [one for one in about if one]


# ---- cells ---------------------------------------------------------------------------------------


def plain(cell: Any) -> Any:
    """Convert arrays to lists, at any depth of lists, and NumPy's numbers to Python's.

    >>> plain(np.array([np.array(["a"], dtype=object), None], dtype=object))
    [['a'], None]
    """
    given = cell.tolist() if isinstance(cell, np.ndarray | np.generic) else cell
    return [plain(inner) for inner in given] if isinstance(given, list) else given


def texts_in(cell: Any) -> Iterator[str]:
    """Yield all texts in a cell, at any depth.

    >>> list(texts_in([["a", 1], {"key": "b"}, None]))
    ['a', 'b']
    """
    if isinstance(cell, str):
        yield cell
    elif isinstance(cell, Mapping | list | tuple | set | frozenset | np.ndarray):
        for inner in cell.values() if isinstance(cell, Mapping) else cell:
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


def words(name: Any) -> str:
    """Return the name of a column in words."""
    return short(name).replace("_", " ")


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


def _factorized(frame: pd.DataFrame) -> dict[Any, tuple[np.ndarray, list[Any]]]:
    """Return the codes and the distinct values of each column, except those of long texts and lists."""
    found = {}
    for name in frame.columns.difference([*PAYLOAD - {"reason"}], sort=False):
        with suppress(TypeError, NotImplementedError):  # lists and mappings, also those of Arrow
            codes, values = pd.factorize(frame[name], sort=True)
            kept = [*values, *([None] if (codes == -1).any() else [])]  # what is missing comes last
            found[name] = codes % max(len(kept), 1), kept
    return found


def _choices(factorized: Mapping[Any, tuple[np.ndarray, list[Any]]]) -> dict[Any, Choices]:
    """Return the columns by which rows can be filtered: those with few, short, single values.

    Columns that distinguish the rows of one question come first. Of several columns that divide the
    rows alike, only the first is kept, unless its values are numbers.
    """
    found: dict[Any, Choices] = {}
    seen = set()
    for name in sorted(factorized, key=lambda name: name not in ABOUT):
        codes, values = factorized[name]
        kept = pd.Series(values, dtype=object).tolist()
        measured = any(isinstance(one, float) and one != round(one, 2) for one in kept)
        few = 2 <= len(kept) <= min(30, max(3, len(codes) // 2))
        if not few or measured or max(len(str(one)) for one in kept) > 60:
            continue
        division = pd.factorize(codes)[0].tobytes()
        if division not in seen or not any(isinstance(value, str) for value in kept):
            found[name] = Choices([short(value) for value in kept], codes)
        seen.add(division)
    return found


def _patterns(signs: pd.DataFrame) -> Choices:
    """Return the combinations of signs in several columns, such as ``plain ✓ · rag ✗``."""
    texts = [f"{short(name)} " + signs[name].astype(object).fillna(MISSING) for name in signs]
    codes, names = pd.factorize(reduce(lambda one, other: one + " · " + other, texts), sort=True)
    return Choices(list(names), codes)


def _meaning(name: Any) -> str:
    """Return the definition of a score in one sentence, if it is known."""
    if name not in METRICS:
        return COLUMNS.get(name, "")
    metric = METRICS[name]
    better = "higher" if metric.higher_is_better else "lower"
    return f"{str(getdoc(metric.function)).splitlines()[0]} Better if {better}. {metric.source}"


def _numbers(column: pd.Series) -> pd.Series | None:
    """Return a column of numbers as floats, nan where one is missing; None for any other column."""
    kind = pd.api.types.infer_dtype(column, skipna=True)
    numeric = ("integer", "floating", "mixed-integer-float", "boolean", "decimal")
    known = kind in numeric and column.notna().any()
    return column.astype(object).where(column.notna(), np.nan).astype(float) if known else None
