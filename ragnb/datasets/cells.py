"""What the cells of a table mean: numbers, verdicts, ids, dates, lists and missing values.

In CSV and Excel every cell is a text. The meaning of a text depends on its column: ``NA`` is missing
in a column of numbers or ids, and a text in a column of responses or references.
"""

# Tested in tests/datasets/test_spreadsheets.py.

import re
from collections import Counter
from collections.abc import Iterable
from datetime import date
from functools import lru_cache
from typing import Any

import pandas as pd

from ragnb.cells import is_missing, present, truth_of
from ragnb.columns import CONDITION, PAYLOAD, PLAIN_TEXT
from ragnb.datasets.frames import present_cells
from ragnb.datasets.literals import parsed
from ragnb.datasets.sheets import date_text, trimmed
from ragnb.errors import InputError
from ragnb.metrics.judged import VERDICT_WORDS
from ragnb.text import fold, well_formed

# Columns that contain numbers.
NUMBERS = (
    "noise_rate correct_rate passage_num repeat turn judged_refusal judged_detection judged_correct "
    "judged_similarity label label_a label_b released_em released_f1 released_rlc released_rlc_ok "
    "released_translate_tokens released_semantic_score token_count".split()
)
# Columns of yes and no.
VERDICTS = ("answerable", "error_detected", "refusal", "verdict")
# Columns that may contain lists, which are written as JSON or as Python prints them.
LISTS = (PAYLOAD - PLAIN_TEXT) | {"released_labels"}
# Columns of texts in which a word such as NA is a text like any other.
ANSWERS = ("question", "response", "references")
# Columns whose texts are names or codes, also if they consist of digits.
NAMES = {
    *("system benchmark task language order split metric tool version annotator item key".split()),
    *("language_from references_as signature request_key judge template topic group".split()),
}
# Columns of names and ids whose cells lose the blanks around them. So do other columns of ids; see `is_id_column`.
_TRIMMED = (
    "example_id",
    "question_id",
    "conversation_id",
    "system",
    "language",
    "benchmark",
    "task",
)
# Texts that mean "no value" in a column of numbers, verdicts or ids, in lower case.
MISSING_WORDS = frozenset("na n/a #n/a #na nan -nan null none nil <na> missing".split())
# What spreadsheets write for a number that is missing or that cannot be computed.
_NO_NUMBER = MISSING_WORDS | frozenset(
    "- -- – — . ? #div/0! #value! #ref! #name? #num! #null!".split()
)
# Longer texts are not looked up among the words, which would take time.
_LONGEST_WORD = 12
# Signs that often separate several spellings of a reference in one cell.
SPELLING_SIGNS = ("/", "|", ";")
# Smallest share of the references with such a sign that gives a warning. A bar is rare in texts, so
# that one is enough.
_SHARE_WITH_SIGN = 0.1

_NUMBER = re.compile(
    r"""(?x) (?=\D?[.]?\d)               # at least one digit, perhaps after a sign and a point
    (?P<sign>[-+−]?)
    # groups of three digits with the same mark between them, or digits without a mark
    (?P<whole>[1-9]\d{0,2}(?:(?P<mark>[,\ '’\u00a0\u2009\u202f])\d{3})(?:(?P=mark)\d{3})*|\d*)
    # decimals and an exponent
    (?P<decimals>(?:[.]\d*)?(?:[eE][-+]?\d+)?)
    (?P<percent>[\ \u00a0\u202f]?%)?"""
)
# Turns a number with a decimal comma into one with a decimal point, and the other way round.
_SWAPPED = str.maketrans(",.", ".,")
# Digits that are a code rather than a number: they begin with 0, or there are at least 16 of them.
_CODE = re.compile(r"[-+]?(0\d+|\d{16,})")
# A date with the time 00:00:00, as pandas and spreadsheets write a date without a time.
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)[ T]00:00:00(?:\.0+)?")
# A line break as Excel writes it in XML.
_ESCAPED_LINE_BREAK = re.compile(r"_x000D_\r?\n?")
# Beginning of a text that is a list: with a quoted item, an inner list, or a call of ``array``; or a text
# in brackets as a whole.
_LIKE_A_LIST = re.compile(r"""\s*(\[(\s*["'\[{(]|[^\[\]]*\]\s*\Z)|(\w+\.)?array\()""")
# Beginning of a list, a mapping or a collection as Python prints it.
_PRINTED = re.compile(r"\s*([\[{(]|(?:\w+\.)?(?:array|set|frozenset|tuple|list)\()")


# ---- numbers -------------------------------------------------------------------------------------


@lru_cache(maxsize=10_000)
def number_of(text: str) -> float | None:
    """Return the number that a text writes with a decimal point; None if it writes none.

    >>> number_of("1,234.5"), number_of("85 %"), number_of("0,75")
    (1234.5, 0.85, None)
    """
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    whole = match["whole"].replace(match["mark"] or ",", "")
    sign = match["sign"].replace("−", "-")
    decimals = match["decimals"]
    if decimals or match["percent"]:
        number = float(f"{sign}{whole or 0}{decimals}")
        return number / 100 if match["percent"] else number
    # Other numbers are whole. `float` would round those with many digits, and `int` keeps all digits.
    return int(f"{sign}{whole}")


def read_numbers(cells: Iterable[Any], decimal: str | None = None) -> list[Any]:
    """Return the cells of a column with numbers and truth values in place of the texts that write them.

    A column has one decimal mark. ``1,234`` may be 1234 or 1.234, which another cell of the column
    decides, or else `decimal`; if neither does, this is an error. A text that is no number is returned
    unchanged, and None replaces a word such as ``NA``.

    There is no such error if the column contains other texts as well, because it is then no column of
    numbers. Its ``1,234`` is returned as 1234.

    >>> read_numbers(["0,75", "1,234", "NA"]), read_numbers(["0.75", "1,234"])
    ([0.75, 1.234, None], [0.75, 1234])
    """
    values = list(cells)
    # Many cells have equal texts, so each distinct text is read once. The place is for messages.
    first_places: dict[str, int] = {}
    for place, cell in enumerate(values):
        if isinstance(cell, str):
            first_places.setdefault(cell, place)
    # The meaning of each text; for numbers, first the two numbers that it may mean.
    meanings: dict[str, Any] = {}
    numbers: dict[str, tuple[float | None, float | None]] = {}
    # Loaders also pass columns that they do not know, such as questions with 1,234 among them. An error
    # about a decimal mark would be beside the point there.
    has_other_text = False
    for cell in first_places:
        text = trimmed(cell)
        # The number with a decimal point, and the number with a decimal comma.
        readings = number_of(text), number_of(text.translate(_SWAPPED))
        if readings != (None, None):
            numbers[cell] = readings
            continue
        truth = truth_of(text)
        if not text or fold(text) in _NO_NUMBER:
            meanings[cell] = None
        elif truth is not None:
            meanings[cell] = int(truth)
        else:
            meanings[cell] = cell
            has_other_text = True
    # A cell such as 0.75 can only have a decimal point, and 0,75 only a decimal comma.
    needs_point = any(comma is None for _, comma in numbers.values())
    needs_comma = any(point is None for point, _ in numbers.values())
    # Such cells decide about the column if they need the same mark.
    is_decided = needs_comma != needs_point
    # 1.234 and 1,234 are different numbers with a decimal point and with a decimal comma.
    ambiguous = [
        cell
        for cell, (point, comma) in numbers.items()
        if point is not None and comma is not None and point != comma
    ]
    ambiguous_with_comma = [cell for cell in ambiguous if "," in cell]
    if needs_comma and needs_point:
        # The cells contradict each other, so no ambiguous cell has a meaning.
        open_cells = [*ambiguous_with_comma, *ambiguous]
    else:
        # Programs write a decimal point, so 1.234 is taken for 1.234. In 1,234, the comma is as often
        # the mark between thousands.
        open_cells = ambiguous_with_comma
    is_column_of_numbers = not has_other_text
    if decimal is None and not is_decided and open_cells and is_column_of_numbers:
        cell = open_cells[0]
        # Without a comma, the cell is one such as 1.234.
        mark = "comma" if "," in cell else "point"
        raise InputError(
            f"can be read with a decimal {mark} or with a {mark} between thousands, such as "
            f"{trimmed(cell)!r} in row {first_places[cell]}; pass decimal=',' or decimal='.' "
            "(--decimal on the command line)"
        )
    # A column that is not decided has a decimal point, unless the user says otherwise.
    prefers_comma = (is_decided and needs_comma) if decimal is None else decimal == ","
    for cell, (point, comma) in numbers.items():
        # A cell that can only be read with the other mark, such as 0.75 with decimal=",", is read with
        # that mark.
        preferred, other = (comma, point) if prefers_comma else (point, comma)
        meanings[cell] = other if preferred is None else preferred
    return [meanings[cell] if isinstance(cell, str) else cell for cell in values]


def number_column(column: pd.Series, decimal: str | None = None) -> pd.Series:
    """Return a column of numbers, in which some or all are written as texts.

    Raises
    ------
    InputError
        A cell is no number, or the decimal mark of the column is not clear.
    """
    cells = numbers_in(column, decimal)
    texts = [place for place, cell in enumerate(cells) if isinstance(cell, str)]
    if texts:
        raise InputError(
            f"column {column.name!r} must contain numbers, got {cells[texts[0]]!r} in row {texts[0]}"
        )
    return pd.to_numeric(pd.Series(cells, index=column.index, dtype=object), errors="coerce")


def numbers_in(column: pd.Series, decimal: str | None = None) -> list[Any]:
    """Return what `read_numbers` does; its error names the column."""
    try:
        return read_numbers(present_cells(column), decimal)
    except InputError as error:
        raise InputError(f"column {column.name!r} {error}") from error


def is_number_column(name: str, column: pd.Series, *, from_file: bool) -> bool:
    """Return whether all cells of a column of texts write numbers, and its name is not that of ids.

    In a frame, texts that pandas itself would have read as numbers are texts on purpose.
    """
    if is_text_column(name):
        return False
    has_number = False
    are_all_plain = True
    # The first cell that is no number decides. In most columns of texts this is the first cell of all, so the cells are
    # read one after the other, and equal cells only once.
    checked: set[str] = set()
    for cell in column:
        if not isinstance(cell, str) or cell in checked:
            continue
        checked.add(cell)
        text = trimmed(cell)
        if not text or (len(text) < _LONGEST_WORD and fold(text) in _NO_NUMBER):
            continue
        with_point = number_of(text)
        with_comma = number_of(text.translate(_SWAPPED))
        is_number = with_point is not None or with_comma is not None
        if not is_number or _CODE.fullmatch(text):
            return False
        has_number = True
        if with_point is None or not _is_plain(text):
            are_all_plain = False
    are_texts_on_purpose = are_all_plain and not from_file
    return has_number and not are_texts_on_purpose


def is_text_column(name: str) -> bool:
    """Return whether a column contains texts, names, codes or ids, also if they consist of digits."""
    names = {*PAYLOAD, *PLAIN_TEXT, *LISTS, *VERDICTS, *NAMES, *ANSWERS, "id", "qid", "uuid"}
    # Conditions such as the noise rate are numbers, and others such as the language are names.
    names |= {condition for condition in CONDITION if condition not in NUMBERS}
    # `renamed` writes "other_" before the name of a column whose name another column gets.
    base = name.removeprefix("other_").casefold()
    return base in names or is_id_column(name)


def is_id_column(name: str) -> bool:
    """Return whether the name of a column says that it contains ids."""
    words = re.split(r"[\s_.-]+", name.casefold())
    return words[-1] in ("id", "ids", "qid", "uuid", "key", "docid") or name.endswith("Id")


def _is_plain(text: str) -> bool:
    """Whether Python itself reads a text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


# ---- verdicts, names, dates ------------------------------------------------------------------------


def verdict_of(cell: Any) -> Any:
    """Return a verdict as 0 or 1, as one of ragnb's own words, or as it is.

    >>> [verdict_of(cell) for cell in ("Yes ", "nein", "TRUE", "Refuse", "n/a", "partly")]
    [1, 0, 1, 'refuse', None, 'partly']
    """
    if not isinstance(cell, str):
        return present(cell)
    return _verdict_of_text(cell)


@lru_cache(maxsize=1000)
def _verdict_of_text(cell: str) -> Any:
    """A verdict that is written as a text; see `verdict_of`."""
    word = fold(trimmed(cell))
    if not word or word in _NO_NUMBER:
        return None
    truth = truth_of(word)
    if word in VERDICT_WORDS:
        return word
    return trimmed(cell) if truth is None else int(truth)


def with_trimmed_names(frame: pd.DataFrame, source: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the frame with ids and names without blanks around them, and notes about what changed.

    Half a surrogate pair becomes U+FFFD. ``NA`` is missing in a column of ids, but it is a name in a
    column of names.

    Raises
    ------
    InputError
        Two ids of a system become equal without the blanks around them.
    """
    notes = []
    before = frame
    are_ids_changed = False
    for name in [name for name in frame if name in _TRIMMED or is_id_column(str(name))]:
        is_id = is_id_column(str(name))
        before_trimming = frame[name].tolist()
        if _needs_no_change(before_trimming):
            continue
        cells = [_name_of(cell, is_id=is_id) for cell in before_trimming]
        changed = [
            isinstance(old, str) and isinstance(new, str) and trimmed(old) != old
            for old, new in zip(before_trimming, cells, strict=True)
        ]
        if cells != before_trimming:
            frame = frame.assign(**{name: pd.Series(cells, frame.index, dtype=object)})
        if any(changed):
            cells_phrase = f"{sum(changed)} cell{'s' if sum(changed) > 1 else ''}"
            notes.append(f"the blanks around {cells_phrase} of the column {name} were removed")
            are_ids_changed = are_ids_changed or name == "example_id"
    if are_ids_changed:
        _require_different_ids(before, frame, source)
    return frame, notes


def _needs_no_change(cells: list[Any]) -> bool:
    """Whether it is certain that `_name_of` would return all cells of a column as they are.

    No cell is a date. All texts are ASCII, and none of them is empty, has blanks around it or is a word
    for a missing value. Most columns are of this kind. These few tests of the distinct texts are much
    faster than `_name_of` for each cell.
    """
    # Among the ASCII characters, the blanks are those that `str.strip` removes, and none is half of a
    # surrogate pair. Other texts need the slower `trimmed` and `well_formed`.
    texts = [*dict.fromkeys(_texts(cells))]
    return (
        not _has_dates(cells)
        and all(map(str.isascii, texts))
        and all(texts)
        and texts == [*map(str.strip, texts)]
        and MISSING_WORDS.isdisjoint(map(str.casefold, texts))
    )


def _name_of(cell: Any, *, is_id: bool) -> Any:
    """A cell of a column of names or ids without blanks around it; None if it is empty."""
    if isinstance(cell, date):
        # Excel took an id for a date. NaT, a missing date, counts as a date, too.
        return None if is_missing(cell) else date_text(cell)
    if not isinstance(cell, str):
        return cell
    name = trimmed(cell) if cell.isascii() else well_formed(trimmed(cell))
    return None if not name or (is_id and _is_missing_word(name)) else name


def _require_different_ids(before: pd.DataFrame, after: pd.DataFrame, source: str) -> None:
    """Raise InputError if ids of one condition are equal only without the blanks around them."""
    conditions = [name for name in (*CONDITION, "repeat") if name in after]
    keys = after[["example_id", *conditions]].astype(object).where(after.notna(), None)
    ids = before["example_id"].tolist()
    first_rows: dict[Any, int] = {}
    for row, key in enumerate(keys.itertuples(index=False, name=None)):
        first = first_rows.setdefault(key, row)
        if key[0] is not None and ids[first] != ids[row]:
            raise InputError(
                f"{source}: the ids {ids[first]!r} in row {first} and {ids[row]!r} in row {row} are "
                "equal without the blanks around them; write different ids, or delete one of the rows"
            )


def similar_systems(systems: Iterable[Any]) -> str:
    """Return a note about two systems whose names differ only in letter case or blanks.

    The note is empty if there are none.
    """
    # Name without case and blanks -> the first name of this form.
    names: dict[str, str] = {}
    for system in dict.fromkeys(name for name in systems if isinstance(name, str)):
        first = names.setdefault("".join(fold(system).split()), system)
        if first != system:
            return (
                f"the systems {first!r} and {system!r} differ only in letter case or blanks, and "
                "count as two systems"
            )
    return ""


def plain_texts(column: pd.Series, *, from_workbook: bool = False) -> pd.Series:
    """Return dates without their time, and texts with the line breaks that Excel writes as ``_x000D_``.

    Any other cell is returned unchanged. In texts from a workbook, the line breaks are already there.

    >>> plain_texts(pd.Series(["1990-05-01 00:00:00", date(1990, 5, 1), "a_x000D_b"])).tolist()
    ['1990-05-01', '1990-05-01', 'a\\nb']
    """
    cells = column.tolist()
    places = [place for place, cell in enumerate(cells) if _may_have_time(cell)]
    # Most columns have nothing to change.
    if not places:
        return column
    for place in places:
        cells[place] = _plain_text(cells[place], from_workbook=from_workbook)
    return pd.Series(cells, column.index, dtype=object)


def _may_have_time(cell: Any) -> bool:
    """Whether a quick look shows that `_plain_text` may change a cell."""
    if isinstance(cell, str):
        return "_x000D_" in cell or "00:00:00" in cell
    return isinstance(cell, date)


def _plain_text(cell: Any, *, from_workbook: bool) -> Any:
    """A cell with a date as its text, and with its line breaks; see `plain_texts`."""
    # NaT, a missing date, is an instance of `date`, too.
    if isinstance(cell, date) and not is_missing(cell):
        return date_text(cell)
    if not isinstance(cell, str):
        return cell
    # A date without a time, written with the time 00:00:00.
    midnight = _MIDNIGHT.fullmatch(cell)
    if midnight:
        return midnight[1]
    if from_workbook:
        return cell
    return _ESCAPED_LINE_BREAK.sub("\n", cell)


# ---- lists -----------------------------------------------------------------------------------------


def spelled_lists(column: pd.Series) -> pd.Series:
    """Parse the cells that contain a list or mapping; a text such as "[sic] Oslo" stays a text.

    Arrays, tuples and sets as Python prints them are lists, too.

    Raises
    ------
    InputError
        A cell that looks like a list and is none.
    """
    cells = column.tolist()
    rows = [row for row, cell in enumerate(cells) if isinstance(cell, str) and _PRINTED.match(cell)]
    # Responses of several systems have equal references and passages, so each text is parsed once.
    meanings: dict[str, Any] = {}
    for row in rows:
        text = cells[row]
        if text in meanings:
            # A list of its own, so that a change of one row does not change the others.
            cells[row] = _copied(meanings[text])
        else:
            cells[row] = meanings[text] = _spelled_list(text, row, str(column.name))
    return pd.Series(cells, column.index, dtype=object)


def _copied(value: Any) -> Any:
    """A copy of lists and mappings with all that they contain; other values are the same."""
    if isinstance(value, list):
        return [_copied(item) for item in value]
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return value


def _spelled_list(cell: str, row: int, column: str) -> Any:
    """The list or mapping that a cell spells, or the cell itself if it is more likely a text."""
    try:
        items = parsed(cell)
    except InputError as error:
        if _LIKE_A_LIST.match(cell):
            raise InputError(f"row {row} column {column} {error}") from error
        return cell
    if not isinstance(items, list | dict):
        return cell
    if isinstance(items, dict) or cell.lstrip().startswith(("[", "{")):
        return items
    # "(1990, 1991)" is more often a text than a list.
    has_texts = all(isinstance(item, str | list) for item in items)
    is_array = _LIKE_A_LIST.match(cell) is not None
    return items if has_texts or is_array else cell


def with_spellings(
    frame: pd.DataFrame, separator: str | None, source: str
) -> tuple[pd.DataFrame, str]:
    """Return the frame with the spellings of each reference as aliases, and the text of a warning.

    `separator` is the sign between the spellings in one text, and an empty text means that there is no
    such sign. If it is None, nothing is separated, and the warning names a sign that many references
    contain. Otherwise, and if there is no such sign, the warning is empty.
    """
    answers = frame["references"].tolist()
    if separator:
        aliases = [_aliases(answer, separator) for answer in answers]
        return frame.assign(references=pd.Series(aliases, frame.index, dtype=object)), ""
    if separator is not None:
        return frame, ""
    texts = [(row, answer) for row, answer in enumerate(answers) if isinstance(answer, str)]
    for sign in SPELLING_SIGNS:
        rows = [row for row, text in texts if sign in text and _has_spellings(text, sign)]
        fewest = 1 if sign == "|" else max(1, _SHARE_WITH_SIGN * len(texts))
        if len(rows) >= fewest:
            return frame, (
                f"{len(rows)} of {len(texts)} references in {source} contain {sign!r}, such as "
                f"{answers[rows[0]]!r:.60} in the column references, row {rows[0]}. Each was read as "
                f"one text. If {sign!r} separates several spellings, pass separator={sign!r} "
                f"(--separator {sign!r} on the command line); if not, pass separator='', and this "
                "warning no longer appears."
            )
    return frame, ""


def _aliases(answer: Any, separator: str) -> Any:
    """A reference as parts with aliases, where each text is separated into its spellings.

    A blank text, and a part that consists of anything else than texts, stay as they are.
    """
    if isinstance(answer, str):
        return [_spellings(answer, separator)] if answer.strip() else answer
    if not isinstance(answer, list):
        return answer
    parts: list[Any] = []
    for part in answer:
        texts = [part] if isinstance(part, str) else part
        if isinstance(texts, list) and all(isinstance(text, str) for text in texts):
            parts.append([spelling for text in texts for spelling in _spellings(text, separator)])
        else:
            parts.append(part)
    return parts


def _spellings(text: str, separator: str) -> list[str]:
    """The different spellings in a text; the text itself if nothing is between its separators."""
    spellings = [trimmed(part) for part in text.split(separator)]
    return list(dict.fromkeys(filter(None, spellings))) or [text]


def _has_spellings(text: str, sign: str) -> bool:
    """Whether a sign may separate spellings: not in an address, a date or a fraction."""
    if "://" in text or _is_missing_word(text):
        return False
    parts = [part for part in text.split(sign) if part.strip()]
    # A date or a fraction has no letters.
    has_letters = any(character.isalpha() for part in parts for character in part)
    return len(parts) > 1 and has_letters


# ---- texts -----------------------------------------------------------------------------------------


def missing_word_note(frame: pd.DataFrame) -> str:
    """Return a note that counts texts such as NA in responses, references and questions."""
    counts = []
    for name in ANSWERS:
        if name not in frame:
            continue
        # Few texts are as short as a word, and many of these are equal.
        texts = _texts(frame[name].tolist())
        n_by_text = Counter(text for text in texts if len(text) < _LONGEST_WORD)
        n_by_word = {text: n for text, n in n_by_text.items() if _is_missing_word(text)}
        if n_by_word:
            examples = ", ".join(map(repr, list(n_by_word)[:3]))
            counts.append(f"{sum(n_by_word.values())} of the column {name} ({examples})")
    if not counts:
        return ""
    return (
        f"cells with a word that may mean that there is no value: {', '.join(counts)}. They were "
        "read as texts; if there is no value, leave the cells empty"
    )


def _is_missing_word(text: str) -> bool:
    """Whether a text is a word such as NA, which means that there is no value."""
    return len(text) < _LONGEST_WORD and fold(trimmed(text)) in MISSING_WORDS


def _texts(cells: list[Any]) -> list[str]:
    """The texts among the cells of a column."""
    if {*map(type, cells)} == {str}:
        return cells
    return [cell for cell in cells if isinstance(cell, str)]


def _has_dates(cells: list[Any]) -> bool:
    """Whether any cell of a column is a date."""
    return any(issubclass(kind, date) for kind in {*map(type, cells)})
