"""Tables of any kind (JSON, CSV, Excel, Parquet, Arrow) as frames of cells."""

# Tested in tests/datasets/test_responses.py.

import json
import os
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ragnb.cells import present
from ragnb.datasets.contents import BYTE_ORDER_MARK, HEAD_BYTES, read_text, refuse_other_content
from ragnb.datasets.files import SAVED_TO_DISK, WORKBOOKS, kind_of
from ragnb.datasets.frames import column_of, frame_of
from ragnb.datasets.json_files import json_records
from ragnb.datasets.messages import tell
from ragnb.datasets.sheets import csv_rows, frame_of_cells, refuse_large, workbook_rows
from ragnb.errors import InputError

# Beginning of a text that a spreadsheet may take for a formula: =, +, - or @, also in full width, after any
# number of blanks, characters that control text or have no width, and quotes. Or a tab or a line break,
# also after apostrophes.
FORMULA = re.compile(
    r"""[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"'‘’“”]*[=+\-@＝＋－＠]|'*[\t\r\n]"""
)


# Kinds of tables that are text. Their content is checked when the text is read.
_TEXTS = ("jsonl", "json", "ndjson", "csv", "tsv")


# Method of compression in archives that Python reads from 3.14 on.
ZSTANDARD = 93


# Number of rows of Parquet that are read at once, so that a file that is too large is refused before all of it is in
# memory.
_BATCH_ROWS = 4096


def read_records(path: Path) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield each record of a table of any kind, with its place for messages."""
    if kind_of(path).startswith("json"):
        yield from json_records(path)
        return
    for number, row in enumerate(read_frame(path).to_dict("records"), start=1):
        yield {str(name): present(cell) for name, cell in row.items()}, f"{path.name} row {number}"


def read_frame(path: Path, *, sheet: str | int | None = None) -> pd.DataFrame:
    """Read a table of any kind as a frame.

    A cell of a CSV or Excel file is a text, or None if it is empty. Blank rows and columns of such a
    file are dropped, and a line is printed that counts them. `sheet` is the name of a sheet of an Excel
    file, or its number from 1. By default it is the first visible sheet with a table.
    """
    kind = kind_of(path)
    if sheet is not None and kind not in WORKBOOKS:
        raise InputError(f"sheet= names a sheet of an Excel file, and {path.name} is none")
    if kind not in _TEXTS and not path.is_dir():
        with path.open("rb") as file:
            refuse_other_content(file.read(HEAD_BYTES), path)
    try:
        if kind in WORKBOOKS:
            return _read_workbook(path, sheet)
        return _READERS[kind](path)
    except InputError as error:
        # The message must name the file.
        if path.name in str(error):
            raise
        raise InputError(f"{path.name}: {error}") from error
    except ImportError as error:
        raise InputError(
            f"{path.name} is an Excel file; to read it, run `pip install openpyxl`, or save it as "
            '"CSV UTF-8"'
        ) from error
    # The libraries raise exceptions of many types for a file that is damaged or of another kind.
    except Exception as error:
        advice = ""
        if kind in ("csv", "tsv"):
            advice = (
                ". In CSV, all rows have the same number of cells, and texts that contain the "
                "separator are in quotes"
            )
        reason = str(error).strip() or type(error).__name__
        raise InputError(
            f"{path.name} is not a complete .{kind} file ({reason:.200}); if it is cut off, copy or "
            f"write it again{advice}"
        ) from error


def _read_separated(path: Path) -> pd.DataFrame:
    """Read a CSV or TSV file as a frame of texts."""
    text = read_text(path)
    content = text.removeprefix(BYTE_ORDER_MARK)
    if content.lstrip().startswith(("{", "[{")):
        _refuse_json(content, path)
    frame = _frame_of_rows(csv_rows(content), path)
    # `write_table` begins its files with this mark, and puts an apostrophe before what looks like a
    # formula. In a file without the mark, an apostrophe is part of the text.
    may_be_guarded = text.startswith(BYTE_ORDER_MARK)
    return frame.map(unguarded).rename(columns=unguarded) if may_be_guarded else frame


def _refuse_json(content: str, path: Path) -> None:
    """Raise InputError if the content of a CSV file is JSON."""
    try:
        json.JSONDecoder().raw_decode(content.lstrip())
    except (ValueError, RecursionError):
        return
    raise InputError(f"{path.name} contains JSON; its name must end in .json or .jsonl")


def _read_workbook(path: Path, sheet: str | int | None) -> pd.DataFrame:
    """Read a sheet of an Excel file as a frame of texts, and print a line if there was a choice."""
    rows, note = workbook_rows(path, sheet)
    frame = _frame_of_rows(rows, path)
    if note:
        tell(f"{path.name}: {note}")
        # If a column is missing, the message of `load_responses` repeats that there are other sheets.
        frame.attrs["sheets"] = note
    return frame


def _frame_of_rows(rows: Sequence[Sequence[str]], path: Path) -> pd.DataFrame:
    """Convert rows of cells to a frame, and print a line if rows or columns are left out."""
    frame, note = frame_of_cells(rows)
    if note:
        tell(f"{path.name}: {note}")
    return frame


def unguarded(cell: Any) -> Any:
    """A cell without the apostrophe that `write_table` puts before what looks like a formula.

    >>> unguarded("'=1+1"), unguarded("'tis so")
    ('=1+1', "'tis so")
    """
    is_guarded = isinstance(cell, str) and cell.startswith("'") and FORMULA.match(cell, 1)
    return cell[1:] if is_guarded else cell


def _read_arrow(path: Path) -> pd.DataFrame:
    """Read a Parquet file, an Arrow file, or a folder of Arrow files that ``save_to_disk`` wrote.

    InputError is raised if two columns have the same name, because a frame would keep only one of them.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.is_dir():
        state = json.loads((path / SAVED_TO_DISK).read_text(encoding="utf-8"))
        # Only the name counts, so that no file outside the folder is read.
        parts = [path / Path(part["filename"]).name for part in state["_data_files"]]
        table = pa.concat_tables(map(_arrow_table, parts))
    elif kind_of(path) == "parquet":
        with pq.ParquetFile(path) as file:
            # The sizes that the file states are checked before it is read. `_table_of` checks the real ones.
            groups = [file.metadata.row_group(n) for n in range(file.metadata.num_row_groups)]
            refuse_large(sum(group.total_byte_size for group in groups))
            table = _table_of(file.iter_batches(_BATCH_ROWS), file.schema_arrow)
    else:
        table = _arrow_table(path)
    columns: dict[str, pd.Series] = {}
    for field, column in zip(table.schema, table.columns, strict=True):
        if field.name in columns:
            raise InputError(
                f"{path.name} has several columns named {field.name!r}; give them different names"
            )
        values = _values_of(column)
        if pa.types.is_map(field.type):
            # pyarrow gives a mapping as a list of pairs.
            values = [None if pairs is None else dict(pairs) for pairs in values]
        columns[field.name] = column_of(values)
    return pd.DataFrame(columns)


def _values_of(column: Any) -> list[Any]:
    """The values of a column or array of Arrow, as lists, texts and other objects of Python.

    Arrow converts the texts of all rows at once faster than those of one row after the other.
    """
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        return [value for chunk in column.chunks for value in _values_of(chunk)]
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return column.to_numpy(zero_copy_only=False).tolist()
    if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)):
        return column.to_pylist()
    items = _values_of(column.flatten())  # without those of missing lists
    ends = np.cumsum(column.value_lengths().fill_null(0)).tolist()
    starts = [0, *ends[:-1]]
    lists: list[Any] = [items[start:end] for start, end in zip(starts, ends, strict=True)]
    for row in np.flatnonzero(column.is_null()):
        lists[row] = None
    return lists


def _arrow_table(path: Path) -> Any:
    """Read an Arrow file in the streaming format, as Hugging Face writes it, or in the file format."""
    import pyarrow as pa

    content = path.read_bytes()
    if not content.startswith(b"ARROW1"):
        reader = pa.ipc.open_stream(content)
        return _table_of(reader, reader.schema)
    file = pa.ipc.open_file(content)
    batches = (file.get_batch(n) for n in range(file.num_record_batches))
    return _table_of(batches, file.schema)


def _table_of(batches: Iterable[Any], schema: Any) -> Any:
    """A table of batches. It is refused if a batch is damaged, or if all together are too large."""
    import pyarrow as pa

    checked_batches = []
    size = 0
    for batch in batches:
        # Without this check, a damaged file can end the process.
        batch.validate(full=True)
        # A repeated value may take almost no space in a file, so each value counts as 8 bytes or more.
        size += max(batch.nbytes, 8 * batch.num_rows * batch.num_columns)
        refuse_large(size)
        checked_batches.append(batch)
    return pa.Table.from_batches(checked_batches, schema)


def _read_eval(path: Path) -> pd.DataFrame:
    """Read a packed log of inspect_ai as one row, like the JSON object of a log that is not packed."""
    with zipfile.ZipFile(path) as file:
        members = {info.filename: info for info in file.infolist()}
        refuse_large(sum(info.file_size for info in members.values()))
        # A log of a run that was interrupted has no header.
        start = "header.json" if "header.json" in members else "_journal/start.json"
        names = [start, *(name for name in members if name.startswith("samples/"))]
        log, *samples = [_member(path, file, members[name]) for name in names]
        return frame_of([log | {"samples": samples}])


def _member(path: Path, file: zipfile.ZipFile, info: zipfile.ZipInfo) -> Any:
    """The JSON object in one file of an archive."""
    if info.compress_type != ZSTANDARD:
        return json.loads(file.read(info))
    # zipfile cannot unpack this method before Python 3.14, but pyarrow can. In an archive, a header of
    # 30 bytes, the name of the file and extra fields precede the compressed content.
    import pyarrow as pa

    with path.open("rb") as packed:
        packed.seek(info.header_offset)
        header = packed.read(30)
        length_of_name = int.from_bytes(header[26:28], "little")
        length_of_extra_fields = int.from_bytes(header[28:30], "little")
        packed.seek(length_of_name + length_of_extra_fields, os.SEEK_CUR)
        content = packed.read(info.compress_size)
    return json.loads(pa.decompress(content, info.file_size, codec="zstd", asbytes=True))


def _read_json(path: Path) -> pd.DataFrame:
    """Read JSON or JSON Lines, with one row per object."""
    return frame_of([record for record, _ in json_records(path)])


# Kind of a table -> the function that reads it.
_READERS: dict[str, Callable[[Path], pd.DataFrame]] = {
    "jsonl": _read_json,
    "json": _read_json,
    "ndjson": _read_json,
    "parquet": _read_arrow,
    "arrow": _read_arrow,
    "xlsx": lambda path: _read_workbook(path, None),
    "xlsm": lambda path: _read_workbook(path, None),
    "csv": _read_separated,
    "tsv": _read_separated,
    "eval": _read_eval,
}
