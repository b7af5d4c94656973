"""Tables of texts: the rows of a CSV file or of a sheet of a workbook, as one kind of frame."""

# Tested in tests/datasets/test_spreadsheets.py.

import csv
import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time
from itertools import chain, count, zip_longest
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.cells import is_empty_cell
from ragnb.errors import InputError
from ragnb.text import lines_of, well_formed

# The separators that ragnb recognises. Spreadsheets write semicolons where the comma is the decimal
# mark. The first one wins if several divide the header into the same number of names.
SEPARATORS = (",", ";", "\t", "|")
# Most bytes that a compressed file may unpack to.
MOST_UNPACKED = 2**30
# Most rows above the header, such as the title of an export.
_MOST_TITLES = 10
# Most rows that a sheet of a workbook can have.
MOST_ROWS = 2**20
# The csv module refuses cells with more characters than this; its default is 131,072.
_LONGEST_CELL = 2**31 - 1
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
# White space and characters without width. Unicode has no white space above U+3000.
_BLANKS = "".join(filter(str.isspace, map(chr, range(0x3001)))) + "\u200b\u2060\ufeff"
# The line with which Excel and some exports name the separator.
_SEPARATOR_LINE = re.compile(r"\s*\"?sep=(.)\"?[;,\t|]*\r?\n", re.IGNORECASE)
# A last row that is added to the text of a file. If it is not the last row that is read, a quotation
# mark is not closed, and the cell that it begins has taken up the rest of the file.
_END = "\x00end of the file"
# Workbooks write characters that XML lacks as ``_x000D_``, and the mark itself as ``_x005F_``.
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
# First bytes of an old Excel file, and of a workbook with a password.
_OLD_EXCEL = b"\xd0\xcf\x11\xe0"


def trimmed(text: str) -> str:
    """Return a text without the blanks around it, also those that have no width.

    >>> trimmed("\\u00a0ChatGPT \\u200b")
    'ChatGPT'
    """
    return text.strip(_BLANKS)


# ---- CSV -----------------------------------------------------------------------------------------


def csv_rows(text: str) -> list[tuple[str, ...]]:
    """Return the rows of a CSV text, whose separator may be a comma, a semicolon, a tab or a bar.

    Raises
    ------
    ValueError
        A quotation mark is never closed, or the last row is cut off.
    """
    line = _SEPARATOR_LINE.match(text)
    content = text[line.end() :] if line else text
    separator = line[1] if line else separator_of(content)
    lines = chain(io.StringIO(content, newline=""), [_END])
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        # Tuples of texts, unlike lists, need no look by Python's garbage collector, which saves time.
        rows = [*map(tuple, csv.reader(lines, delimiter=separator))]
    finally:
        csv.field_size_limit(before)
    if rows.pop() != (_END,):
        raise ValueError(
            f"a quotation mark is not closed: EOF inside string starting at row {len(rows)}"
        )
    full = [row for row in rows if row]
    # A last line that does not end, and has fewer cells than the header, was probably cut off.
    has_open_line = not content.endswith(("\n", "\r"))
    if len(full) > 1 and has_open_line and len(full[-1]) < len(full[0]):
        raise ValueError(f"the last row has {len(full[-1])} of {len(full[0])} cells")
    return rows


def separator_of(text: str) -> str:
    """Return the separator that divides the header of a CSV text into most names.

    >>> separator_of('question;"gold, or references";response')
    ';'
    """
    lines = lines_of(_QUOTED.sub("", text.lstrip()[:100_000]))
    for line in lines[: _MOST_TITLES + 1]:  # a title above the header has no separators
        if any(separator in line for separator in SEPARATORS):
            return max(SEPARATORS, key=line.count)
    return SEPARATORS[0]


# ---- workbooks -----------------------------------------------------------------------------------


def workbook_rows(path: Path, sheet: str | int | None) -> tuple[list[list[str]], str]:
    """Return the rows of a sheet as a CSV file would have them, and a note if there was a choice.

    By default this is the first visible sheet with a table.

    Raises
    ------
    InputError
        The file is encrypted, too large or of another kind, or there is no such sheet.
    """
    with path.open("rb") as file:
        if file.read(4) == _OLD_EXCEL:
            raise InputError(
                "it has a password, or is an old .xls file; save it as .xlsx without one"
            )
    with zipfile.ZipFile(path) as archive:
        refuse_large(sum(member.file_size for member in archive.infolist()))
    with pd.ExcelFile(path, engine="openpyxl") as workbook:
        worksheets = {worksheet.title: worksheet for worksheet in workbook.book.worksheets}
        if sheet is not None:
            return _sheet_rows(worksheets, sheet), ""
        visible = {
            title: worksheet
            for title, worksheet in worksheets.items()
            if worksheet.sheet_state == "visible"
        }
        # If all sheets are hidden, they are read nevertheless.
        readable = visible or worksheets
        rows_by_sheet = {title: _rows(worksheet) for title, worksheet in readable.items()}
    filled = [title for title, rows in rows_by_sheet.items() if any(map(any, rows))]
    # Notes on a sheet of their own are no table.
    tables = [title for title in filled if _is_table(rows_by_sheet[title])] or filled
    if not tables:
        return [], ""
    other_sheets = ", ".join(repr(title) for title in filled if title != tables[0])
    note = f"read from the sheet {tables[0]!r}; to read another one ({other_sheets}), pass sheet="
    return rows_by_sheet[tables[0]], note if other_sheets else ""


def _is_table(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a sheet has a row with several cells, such as a header, and at least one more row."""
    filled_rows = [row for row in rows if not _is_blank(row)]
    has_several_cells = any(sum(map(bool, row)) > 1 for row in filled_rows)
    return len(filled_rows) > 1 and has_several_cells


def _sheet_rows(sheets: dict[str, Any], sheet: str | int) -> list[list[str]]:
    """The rows of the sheet with a name, or with a number from 1.

    A name is first looked up as it is, and then without regard to letter case and blanks around it.
    """
    titles = list(sheets)
    # A sheet may be called "2", so a number is a place only if no sheet has it as its name.
    is_place = str(sheet).isdecimal() and 0 < int(sheet) <= len(titles)
    if sheet not in sheets and is_place:
        sheet = titles[int(sheet) - 1]
    folded_name = trimmed(str(sheet)).casefold()
    exact_matches = [title for title in titles if title == sheet]
    folded_matches = [title for title in titles if trimmed(title).casefold() == folded_name]
    matches = exact_matches or folded_matches
    if not matches:
        raise InputError(
            f"there is no sheet {sheet!r}; its sheets are {', '.join(map(repr, titles))}"
        )
    return _rows(sheets[matches[0]])


def _rows(sheet: Any) -> list[list[str]]:
    """The rows of a sheet, with each cell as a text."""
    # The size that a workbook states may be wrong, so all rows are read.
    sheet.reset_dimensions()
    rows = []
    for number, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
        if number > MOST_ROWS:
            raise InputError(f"a sheet must have at most {MOST_ROWS:,} rows")
        rows.append([cell_text(cell) for cell in cells])
    return rows


def cell_text(value: Any) -> str:
    """Return a value of a workbook as a spreadsheet writes it to CSV; an empty cell is ``""``.

    >>> cell_text(1990.0), cell_text(True), cell_text(datetime(1990, 5, 1))
    ('1990', 'TRUE', '1990-05-01')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    # Up to this size, a float has all digits of a whole number.
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, datetime | date | time):
        return date_text(value)
    if not isinstance(value, str):
        return str(value)
    text = _ESCAPED.sub(lambda escaped: chr(int(escaped[1], 16)), value)
    return well_formed(text.replace("\r\n", "\n").replace("\r", "\n"))


def date_text(value: date | time) -> str:
    """Return a date, with its time only if it has one.

    >>> date_text(datetime(1990, 5, 1)), date_text(datetime(1990, 5, 1, 12, 30))
    ('1990-05-01', '1990-05-01 12:30:00')
    """
    if isinstance(value, datetime):
        has_time = value.time() != time() or value.tzinfo is not None
        return value.isoformat(sep=" ") if has_time else value.date().isoformat()
    return value.isoformat()


def refuse_large(size: int) -> None:
    """Raise InputError if a file unpacks to more than the stated limit."""
    if size > MOST_UNPACKED:
        raise InputError(
            f"it unpacks to more than {MOST_UNPACKED:,} bytes; unpack it yourself if this size is right"
        )


# ---- one kind of frame -----------------------------------------------------------------------------


def frame_of_cells(rows: Sequence[Sequence[str]]) -> tuple[pd.DataFrame, str]:
    """Return the rows below the header as a frame, and a note if blank rows or columns were dropped.

    A cell is a text, or None if it is empty. The header is the first row that is not blank, except
    titles. A column is dropped if it has neither a name nor a cell that is not blank. The note also
    says which rows are titles and which names the header has twice.

    Raises
    ------
    InputError
        All cells are empty.
    ValueError
        A row has more cells than the header.
    """
    # Numbers of the rows that are blank, and of those that are not.
    blank_rows = {n for n, row in enumerate(rows) if not any(map(str.strip, row))}
    places = [n for n in range(len(rows)) if n not in blank_rows]
    if not places:
        raise InputError("all cells are empty")
    n_titles = _number_of_titles([rows[place] for place in places[: _MOST_TITLES + 1]])
    titles = [rows[place] for place in places[:n_titles]]
    places = places[n_titles:]
    header, *body = [rows[place] for place in places]
    names = [" ".join(trimmed(name).split()) for name in header]
    # All rows get the width of the longest one.
    width = max(len(header), *map(len, body)) if body else len(header)
    names += [""] * (width - len(names))
    # From rows to columns: each of these tuples has the name of a column, and then its cells.
    columns: dict[int, list[str | None]] = {}
    for place, (_, *cells) in enumerate(zip_longest(names, *body, fillvalue="")):
        columns[place] = [cell or None for cell in cells]
    # Spreadsheets often have blank columns next to a table.
    used_columns = [place for place in columns if names[place] or not _is_blank(columns[place])]
    beyond_header = [place for place in used_columns if place >= len(header)]
    if beyond_header:
        # The first row of the body with such a cell.
        number = next(n for n in places[1:] if not _is_blank(rows[n][len(header) :]))
        raise ValueError(
            f"row {number + 1} has more cells than the header in row {places[0] + 1}, which has "
            f"{len(header)}: {', '.join(header)}"
        )
    frame = pd.DataFrame({place: columns[place] for place in used_columns}, dtype=object)
    used_names = _different([names[place] for place in used_columns], used_columns)
    frame.columns = pd.Index(used_names, dtype=object)
    # Empty lines at the end of a file are no rows, so they are not counted.
    n_blank_rows = sum(1 for n in blank_rows if n < places[-1] or len(rows[n]) > 0)
    notes = [dropped(n_blank_rows, width - len(used_columns)), _titles(titles), _repeated(names)]
    return frame, "; ".join(filter(None, notes))


def _number_of_titles(rows: Sequence[Sequence[str]]) -> int:
    """How many of the first rows are titles above the header, such as the name of an export.

    The header is the first row that fills at least half as many cells as the fullest of these rows. It
    fills several cells, unless no row does.
    """
    n_filled = []
    for row in rows:
        n_filled.append(sum(1 for cell in row if not is_empty_cell(cell)))
    most_filled = max(n_filled)
    for number, filled in enumerate(n_filled):
        fills_half = 2 * filled >= most_filled
        if fills_half and (filled > 1 or most_filled == 1):
            return number
    return 0


def _titles(rows: Sequence[Sequence[str]]) -> str:
    """A note that names the rows above the header."""
    if not rows:
        return ""
    title = " ".join(filter(None, rows[0]))
    if len(rows) == 1:
        return f"the row {title!r:.60} above the header was left out"
    return f"{len(rows)} rows above the header, such as {title!r:.60}, were left out"


def _repeated(names: Sequence[str]) -> str:
    """A note that names the columns that the header has more than once."""
    repeated = [name for name, number in Counter(filter(None, names)).items() if number > 1]
    if not repeated:
        return ""
    examples = ", ".join(map(repr, repeated[:3]))
    return (
        f"the header has {examples} more than once; the first column keeps the name, and the next one is "
        f"called {repeated[0] + '.1'!r}"
    )


def _is_blank(cells: Iterable[str | None]) -> bool:
    """Whether all cells of a row or a column are empty."""
    return all(map(is_empty_cell, cells))


def dropped(rows: int, columns: int) -> str:
    """Return a note that counts the blank rows and columns that were dropped, if there are any.

    >>> dropped(3, 1)
    '3 blank rows and 1 blank column were dropped'
    """
    counts = [(rows, "row"), (columns, "column")]
    parts = [f"{n} blank {noun}{'s' if n > 1 else ''}" for n, noun in counts if n]
    verb = "was" if rows + columns == 1 else "were"
    return f"{' and '.join(parts)} {verb} dropped" if parts else ""


def _different(names: Sequence[str], places: Sequence[int]) -> Iterator[str]:
    """Yield names that are all different, made in the way of pandas.

    A column without a name is called ``Unnamed: 2``, with its place. A name that is repeated gets a
    number, as in ``Score.1``.
    """
    n_uses: Counter[str] = Counter()
    taken = set(names)
    for place, name in zip(places, names, strict=True):
        base = name or f"Unnamed: {place}"
        number = n_uses[base]
        n_uses[base] += 1
        if not number:
            yield base
            continue
        # A name such as ``Score.1`` may be in the header itself.
        free = next(f"{base}.{n}" for n in count(number) if f"{base}.{n}" not in taken)
        taken.add(free)
        yield free
