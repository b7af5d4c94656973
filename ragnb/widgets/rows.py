"""The rows of a frame as a list that can be searched, filtered and sorted.

A *place* is the position of a row in the frame.
"""

# Tested in tests/widgets/test_frame_view.py.

import operator
from array import array
from collections.abc import Iterator, Mapping, Sequence
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

# Longest text of a line, in characters.
LINE = 160

# Largest number of values of a filter, and length of the longest value, in characters.
MOST_VALUES, LONGEST_VALUE = 30, 60

# Columns from which a title takes its sign; the first that exists counts.
VERDICT = tuple(
    "label human_label judged_correct judge_verdict verdict value adherence_score overall_supported "
    "judged_refusal judged_detection".split()
)

# Columns that distinguish the rows of one question. A title shows those that have different values in the frame.
ABOUT = tuple(
    "system language noise_rate correct_rate task metric annotator status flag turn answerability "
    "example_id".split()
)

# Columns of verdicts of people, and of judges. The combinations of the first that a frame has of each are a filter.
HUMAN, JUDGE = ("label", "human_label"), ("judged_correct", "judge_verdict")

# Name of the filter by the verdicts on one question, and of the order by whether they differ.
DIFFER = "verdicts of the systems"

# Largest number of responses next to one, and of systems whose verdicts are a filter.
MOST_OTHERS, MOST_COMPARED = 5, 4

# A comparison in a search: a column, a sign, and a number.
COMPARISON = r"\s*(<=|>=|==|[<>=≤≥])\s*(-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?!\S)"
# Sign of a comparison -> its function.
COMPARE = {
    "<": operator.lt, "<=": operator.le, "≤": operator.le, ">": operator.gt, ">=": operator.ge, "≥": operator.ge,
    "=": operator.eq, "==": operator.eq,
}  # fmt: skip

# Columns whose text is the title of a row; the first that exists counts.
TITLE = ("question", "title", "response", "text")
# Verdict, as a text -> the sign of a title.
SIGNS = dict.fromkeys(["True", "1", "1.0", "correct"], "✓") | dict.fromkeys(
    ["False", "0", "0.0", "incorrect"], "✗"
)


class Choices(NamedTuple):
    """The names of the distinct values of a column, and the position of each row's value."""

    names: list[str]
    codes: np.ndarray


class Title(NamedTuple):
    """A row's line in the list: the sign of its verdict, its text, and what distinguishes it.

    ``tools/js/src/rows.mjs`` and ``templates/view.html`` draw the parts in this order.
    """

    sign: str
    text: str
    about: list[str]


class Rows:
    """A frame that can be searched, filtered and sorted.

    Named levels of the index count as columns. Levels of column names are joined by ``/``.

    Parameters
    ----------
    frame
        The frame.
    changed
        Two systems. Only questions on which their verdicts differ are then in the list.
    verdict
        Column of the verdicts, if it is not one of `VERDICT`.

    Raises
    ------
    InputError
        If it is not a DataFrame, two columns have the same name, or ``changed`` needs columns or systems that are not there.
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        changed: Sequence[str] | None = None,
        verdict: str | None = None,
    ) -> None:
        self.frame = _flat(frame)
        # Pandas copies the attributes with each column that is taken from the frame, which takes time.
        self.frame.attrs = {}
        self._factorized = _factorized(self.frame)
        self.choices = _choices(self._factorized)
        numbers = {name: _numbers(self.frame[name]) for name in self.frame}
        self.numbers = {name: values for name, values in numbers.items() if values is not None}
        # Orders in which the rows can be sorted: the column, and whether it is descending. The key of a descending order
        # has a minus.
        self.sorts = {
            f"{minus}{name}": (name, bool(minus))
            for name in self.frame
            if name in self.numbers and self._differs(name)
            for minus in ("", "-")
        }
        self._title = self._title_column()
        self._verdict = verdict or self._verdict_column()
        # Where no column distinguishes the rows of a question, titles show the first three columns with few values.
        distinguishing = [name for name in ABOUT if name in self.frame and self._differs(name)]
        self._about = distinguishing or [name for name in self.choices if name != self._title][:3]
        self._in_titles = {self._title, self._verdict, *self._about}
        self._in_titles.discard(None)  # A frame may have no verdict, or no column at all.
        self.sign_meaning = f"✓ ✗ = {spelled(self._verdict)}" if self._verdict else ""
        self._scores = self._score_columns()
        # Whether each row is in the list at all.
        self.within = np.ones(len(self.frame), dtype=bool)
        if self._questions is not None and self._verdict is not None:
            self._compare_systems(self._questions, changed)
        elif changed:
            raise InputError(
                "view with changed=... needs the columns example_id, system and a verdict "
                f"({', '.join(VERDICT[:4])}, …), and at least two systems"
            )
        human = [name for name in HUMAN if name in self.frame]
        judge = [name for name in JUDGE if name in self.frame]
        if human and judge:
            raters = [human[0], judge[0]]
            signs = self.frame[raters].apply(lambda column: column.map(str).map(SIGNS))
            self.choices[" / ".join(raters)] = _patterns(signs)

    def _title_column(self) -> Any:
        """The column whose text is the title: the question, else another text, else any column."""
        usual = [name for name in TITLE if name in self.frame]
        texts = [name for name in self.frame if name not in {*self.choices, *self.numbers}]
        candidates = [*usual, *texts, *self.frame]
        return candidates[0] if candidates else None

    def _verdict_column(self) -> str | None:
        """The column whose value is the sign of a title."""
        for name in VERDICT:
            if name in self.frame and self.frame[name].notna().any():
                return name
        return None

    def _score_columns(self) -> list[Any]:
        """The columns of floats that are neither conditions nor verdicts, and whose values differ."""
        no_scores = {*ABOUT, *CONDITION, *VERDICT, "effective_noise_rate"}
        # `VERDICT` has this column, but in a long frame of scores it contains the scores.
        no_scores.remove("value")
        floats = self.frame.select_dtypes("floating").columns
        return [name for name in floats if name not in no_scores and self._differs(name)]

    def row(self, place: int) -> dict[str, Any]:
        """Return a row as a mapping, with lists instead of arrays."""
        return {name: plain(self.frame[name].iloc[place]) for name in self.frame}

    def _differs(self, name: Any) -> bool:
        """Return whether a column has different values, as a title shows them."""
        _, values = self._factorized.get(name, ([], []))
        return any(short(value) != short(values[0]) for value in values)

    # ---- search, filters, sort -------------------------------------------------------------------

    def found(self, search: str, filters: Mapping[Any, Sequence[int]], sort: str) -> np.ndarray:
        """Return the places of the rows that have all words of a search and pass all filters, in the order of a sort.

        A part such as ``answer.f1<0.5`` or ``answer.f1 < 0.5`` compares a column of numbers. A row passes a filter if its
        value in that column is one of those that were chosen.
        """
        passing = self.within.copy()
        for name, codes in filters.items():
            passing &= np.isin(self.choices[name].codes, codes)
        order = np.arange(len(self.frame))
        if sort:
            name, is_descending = self.sorts[sort]
            values = self.numbers[name].sort_values(ascending=not is_descending, kind="stable")
            order = values.index.to_numpy()
        places = order[passing[order]]
        comparisons, words = self._parts(search)
        for values, symbol, number in comparisons:
            places = places[COMPARE[symbol](values, number)[places]]
        for word in words:
            places = places[self._has_word(word)[places]]
        return places

    def _parts(self, search: str) -> tuple[list[tuple[np.ndarray, str, float]], list[str]]:
        """The comparisons of a search with columns of numbers, and its other words, folded."""
        columns = {fold(str(name)): values.to_numpy() for name, values in self.numbers.items()}
        if not columns:
            return [], fold(search).split()
        # A name may contain spaces, and may begin with another name.
        names = "|".join(regex.escape(name) for name in sorted(columns, key=len, reverse=True))
        pattern = regex.compile(rf"(?<!\S)({names}){COMPARISON}")
        folded = fold(search)
        comparisons = [
            (columns[name], symbol, float(number))
            for name, symbol, number in pattern.findall(folded)
        ]
        return comparisons, pattern.sub(" ", folded).split()

    def _has_word(self, word: str) -> np.ndarray:
        """Whether a text of each row contains a folded word."""
        texts, numbers, rows = self.texts
        pattern = word.encode("utf-8", "surrogatepass")
        text_has_word = match_substring(texts, pattern).to_numpy(False)
        row_has_word = np.zeros(len(self.frame), dtype=bool)
        row_has_word[rows[text_has_word[numbers]]] = True
        return row_has_word

    @cached_property
    def texts(self) -> tuple[pa.Array, np.ndarray, np.ndarray]:
        """The distinct texts of the frame, folded for a search, and the number of the text and the row of each occurrence.

        A text that is in several rows, such as a passage, is then searched once.
        """
        number_of_text: dict[str, int] = {}
        rows, numbers = array("q"), array("q")
        columns = self.frame.select_dtypes(exclude=["number", "datetime", "datetimetz"])
        for _, column in columns.items():
            for row, cell in enumerate(column.to_numpy(dtype=object)):
                for text in texts_in(cell):
                    numbers.append(number_of_text.setdefault(text, len(number_of_text)))
                    rows.append(row)
        folded = (fold(text).encode("utf-8", "surrogatepass") for text in number_of_text)
        return pa.array(folded, pa.large_binary()), np.asarray(numbers), np.asarray(rows)

    # ---- scores, and other systems ---------------------------------------------------------------

    def scores(self, place: int) -> Iterator[dict[str, Any]]:
        """Yield the scores of a row: name, value, meaning, the bars of a histogram over all rows, and a note.

        The note is the evidence for the score if the frame has it, else the share of rows with a lower score.
        """
        for name in self._scores:
            metric = name
            values = self.numbers[name]
            value = values[place]
            if not np.isfinite(value):
                continue
            if name == "value" and "metric" in self.frame:
                # This column of long frames has values of several metrics, which cannot be compared.
                metric = self.frame["metric"][place]
                values = values[self.frame["metric"] == metric]
            values = values[np.isfinite(values)]
            counts, edges = np.histogram(values, bins=12)
            # The last bin also contains its upper edge.
            bin_of_value = min(int(np.searchsorted(edges, value, "right")), len(counts)) - 1
            heights = np.ceil(100 * counts / counts.max()).astype(int).tolist()
            evidence = self.frame.get(f"{name}: evidence")
            if evidence is None:
                note = f"above {(values < value).mean():.0%} of the rows"
            else:
                note = evidence[place]
            yield {
                "name": words(name),
                "value": f"{value:.3g}",
                "meaning": _meaning(metric),
                "bars": [(height, number == bin_of_value) for number, height in enumerate(heights)],
                "note": note,
            }

    def others(self, place: int) -> list[tuple[str, dict[str, Any]]]:
        """Return the responses of other systems to the same question, each with its system."""
        if self._questions is None:
            return []
        systems = self.frame["system"]
        same_question = self._questions == self._questions[place]
        one_per_system = self.frame[same_question].drop_duplicates("system")
        places = one_per_system.index[one_per_system["system"] != systems[place]]
        return [(short(systems[other]), self.row(other)) for other in places[:MOST_OTHERS]]

    @cached_property
    def _questions(self) -> np.ndarray | None:
        """Number of the question and condition of each row; None if none has several responses."""
        keys = [name for name in ("example_id", "question_id", "question") if name in self.frame]
        _, systems = self._factorized.get("system", ([], []))
        if not keys or len(systems) < 2:
            return None
        question = keys[0]
        # Responses under different conditions, such as noise rates, cannot be compared.
        conditions = set(self._about) & set(self.choices)
        conditions -= {"system", question}
        groups = self.frame.groupby([question, *conditions], dropna=False, sort=False)
        has_repeated_question = groups.ngroups < len(self.frame)
        return groups.ngroup().to_numpy() if has_repeated_question else None

    def _compare_systems(self, questions: np.ndarray, changed: Sequence[str] | None) -> None:
        """Add a filter and an order by the verdicts that the systems got for the same question.

        ``questions`` has the number of the question and condition of each row.
        """
        signs = self._sign_table(questions)
        if changed:
            self._keep_changed(questions, signs, changed)
        some_right = signs.isin(["✓"]).any(axis=1)
        some_wrong = signs.isin(["✗"]).any(axis=1)
        differ = (some_right & some_wrong).astype(float)
        # From one value per question to one per row.
        self.numbers[DIFFER] = differ.loc[questions].reset_index(drop=True)
        self.sorts[f"-{DIFFER}"] = (DIFFER, True)
        if len(signs.columns) <= MOST_COMPARED:
            _, values = self._factorized["system"]
            signs_by_name = signs.set_axis([short(value) for value in values], axis="columns")
            self.choices[DIFFER] = _patterns(signs_by_name.loc[questions])

    def _sign_table(self, questions: np.ndarray) -> pd.DataFrame:
        """The signs of the verdicts: one row per question, and one column per system with its code in `_factorized`.

        Codes differ even if the names of two systems are the same in short.
        """
        codes, _ = self._factorized["system"]
        signs = self.frame[self._verdict].map(str).map(SIGNS)
        verdicts = pd.DataFrame({"question": questions, "system": codes, "sign": signs})
        # A system may have several responses to one question. The first one with a verdict counts.
        first_signs = verdicts.groupby(["question", "system"])["sign"].first()
        return first_signs.unstack("system")

    def _keep_changed(
        self, questions: np.ndarray, signs: pd.DataFrame, changed: Sequence[str]
    ) -> None:
        """Keep only the questions on which the verdicts of two systems differ.

        Of these, the rows of the first system stay in the list. Their cards show the responses of the second next to them.
        """
        codes, values = self._factorized["system"]
        names = [short(value) for value in values]
        # A system can be named in short, as on the screen, or as it is in the frame, which is clear in any case.
        code_of = {name: code for code, name in enumerate(names)}
        code_of |= {value: code for code, value in enumerate(values)}
        systems = [name if name in code_of else short(name) for name in changed]
        unknown = set(systems) - code_of.keys()
        if unknown or len(systems) != 2:
            suggestion = did_you_mean(min(unknown), names) if unknown else ""
            raise InputError(
                f"changed must be two of the systems {', '.join(names)}, got {changed!r}{suggestion}"
            )
        first, second = (code_of[name] for name in systems)
        both_judged = signs[[first, second]].dropna()
        has_changed = both_judged[first] != both_judged[second]
        changed_questions = both_judged.index[has_changed]
        self.within &= np.isin(questions, changed_questions) & (codes == first)

    # ---- titles ----------------------------------------------------------------------------------

    def title(self, place: int) -> Title:
        """Return a row's line in the list."""
        cells = {name: self.frame[name].iloc[place] for name in self._in_titles}
        text = short(cells[self._title]) if self._title is not None else ""
        about = []
        for name in self._about:
            cell = cells[name]
            if is_missing(cell):
                continue
            # A number says nothing without the name of its column.
            detail = short(cell) if isinstance(cell, str) else f"{words(name)} {short(cell)}"
            if detail:
                about.append(detail)
        verdict = cells.get(self._verdict, "")
        sign = MISSING if is_missing(verdict) else SIGNS.get(str(verdict), "")
        return Title(sign, text or f"row {place + 1}", about)


# ---- cells ---------------------------------------------------------------------------------------


def plain(cell: Any) -> Any:
    """Convert arrays to lists, at any depth of lists, and NumPy's numbers to Python's.

    >>> plain(np.array([np.array(["a"], dtype=object), None], dtype=object))
    [['a'], None]
    """
    value = cell.tolist() if isinstance(cell, np.ndarray | np.generic) else cell
    return [plain(inner) for inner in value] if isinstance(value, list) else value


def texts_in(cell: Any) -> Iterator[str]:
    """Yield all texts in a cell, at any depth of lists and mappings.

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

    >>> short("one\\n two"), short(0.40000000000000002), short(1.0), short(None), short(1234567.0)
    ('one two', '0.4', '1', '–', '1234567')
    """
    if is_missing(cell):
        return MISSING
    if isinstance(cell, float | np.floating):
        # Six digits are enough for a score. A larger number, such as an id or a time, keeps its whole part,
        # as long as a float has all of its digits.
        is_large = 1e6 <= abs(float(cell)) < 1e15
        return f"{cell:.0f}" if is_large else f"{cell:g}"
    text = cell if isinstance(cell, str) else " · ".join(texts_in(cell)) or str(cell)
    # Only the start of a long text is read. Twice the length leaves enough when white space is removed.
    line = spelled(" ".join(text[: 2 * LINE].split()))
    return line if len(line) <= LINE else f"{line[:LINE].rstrip()}…"


def words(name: Any) -> str:
    """Return the name of a column with spaces between its words."""
    return short(name).replace("_", " ")


# ---- columns -------------------------------------------------------------------------------------


def _flat(frame: Any) -> pd.DataFrame:
    """Return a frame with the named levels of its index as columns, and a new index."""
    require_columns(frame, (), "view")
    levels = [name for name in frame.index.names if name is not None and name not in frame]
    flat = frame.reset_index(level=levels) if levels else frame
    flat = flat.reset_index(drop=True)
    flat.columns = [_joined_levels(name) for name in flat.columns]
    if not flat.columns.is_unique:
        repeated = ", ".join(map(str, flat.columns[flat.columns.duplicated()]))
        raise InputError(f"the columns of a view must have different names, got {repeated} twice")
    return flat


def _joined_levels(name: Any) -> Any:
    """The name of a column, with its levels joined by a slash."""
    if not isinstance(name, tuple):
        return name
    return " / ".join(str(level) for level in name if level != "")


def _factorized(frame: pd.DataFrame) -> dict[Any, tuple[np.ndarray, list[Any]]]:
    """Return the codes and the distinct values of each column, except those of long texts and lists."""
    # A reason why a response is unscored is a text, but many rows share one, so that it can be a filter.
    long_texts = PAYLOAD - {"reason"}
    factorized = {}
    for name in frame.columns:
        if name in long_texts:
            continue
        try:
            codes, values = pd.factorize(frame[name], sort=True)
        except (TypeError, NotImplementedError):  # lists and mappings, also those of Arrow
            continue
        distinct = list(values)
        is_missing_value = codes == -1
        if is_missing_value.any():
            distinct.append(None)
            codes = np.where(is_missing_value, len(distinct) - 1, codes)
        factorized[name] = codes, distinct
    return factorized


def _choices(factorized: Mapping[Any, tuple[np.ndarray, list[Any]]]) -> dict[Any, Choices]:
    """Return the columns by which rows can be filtered: those with few, short values.

    Columns that distinguish the rows of one question come first. A column of texts that divides the
    rows in the same way as an earlier column is left out, because the earlier one is the same filter.
    """
    choices: dict[Any, Choices] = {}
    divisions = set()
    for name in sorted(factorized, key=lambda name: name not in ABOUT):
        codes, distinct = factorized[name]
        # NumPy's and Arrow's values become Python's, whose types are tested below.
        values = pd.Series(distinct, dtype=object).tolist()
        if not _is_filter(values, len(codes)):
            continue
        # Two columns divide the rows in the same way if their codes are equal once they are numbered by first occurrence.
        division = pd.factorize(codes)[0].tobytes()
        has_text = any(isinstance(value, str) for value in values)
        if division not in divisions or not has_text:
            choices[name] = Choices([short(value) for value in values], codes)
        divisions.add(division)
    return choices


def _is_filter(values: Sequence[Any], n_rows: int) -> bool:
    """Whether the distinct values of a column are few and short, and no measurements."""
    # A column in which most values occur only once would be no useful filter.
    most_values = min(MOST_VALUES, max(3, n_rows // 2))
    if not 2 <= len(values) <= most_values:
        return False
    # Conditions such as a noise rate have at most two decimals, and measurements usually have more.
    if any(isinstance(value, float) and value != round(value, 2) for value in values):
        return False
    return max(len(str(value)) for value in values) <= LONGEST_VALUE


def _patterns(signs: pd.DataFrame) -> Choices:
    """Return the combinations of signs in several columns as a filter, such as ``plain ✓ · rag ✗``."""
    # Not by name, because the names of two systems may be the same in short.
    texts = [
        f"{short(name)} " + column.astype(object).fillna(MISSING) for name, column in signs.items()
    ]
    patterns = reduce(lambda left, right: left + " · " + right, texts)
    codes, names = pd.factorize(patterns, sort=True)
    return Choices(list(names), codes)


def _meaning(name: Any) -> str:
    """Return the definition of a score in one sentence, if it is known."""
    if name not in METRICS:
        return COLUMNS.get(name, "")
    metric = METRICS[name]
    better = "higher" if metric.higher_is_better else "lower"
    return f"{str(getdoc(metric.function)).splitlines()[0]} Better if {better}. {metric.source}"


def _numbers(column: pd.Series) -> pd.Series | None:
    """Return a column of numbers as floats, nan where one is missing; None if the column has other values or no number."""
    kind = pd.api.types.infer_dtype(column, skipna=True)
    is_present = column.notna()
    numeric = ("integer", "floating", "mixed-integer-float", "boolean", "decimal")
    if kind not in numeric or not is_present.any():
        return None
    return column.astype(object).where(is_present, np.nan).astype(float)
