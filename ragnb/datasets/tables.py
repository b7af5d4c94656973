"""Frames on disk: JSON Lines (read by everything) and Parquet (small and typed), which are read back as they were written.

CSV is for spreadsheets, and is not read back as a table; `load_responses` reads the responses of one.
"""

import csv
import gzip
import io
import json
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pandas as pd

from ragnb.datasets.files import json_object
from ragnb.errors import InputError
from ragnb.records import require_columns
from ragnb.text import well_formed

KINDS = ("jsonl", "jsonl.gz", "parquet")
"""What is read back; the ends of the names."""
FORMULA = re.compile(
    r"""[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"'‘’“”]*[=+\-@＝＋－＠]|'*[\t\r\n]"""
)
"""How a text begins that a spreadsheet may take for a formula; blanks, quotes and what is not seen may stand before it."""


def write_table(frame: pd.DataFrame, path: str | Path) -> Path:
    """Write a frame as ``.jsonl``, ``.jsonl.gz``, ``.parquet`` or ``.csv``, chosen by the name; missing values become null.

    In CSV lists, mappings and truth values are JSON, missing values empty. A text that a spreadsheet would take for a
    formula (one that begins with =, +, -, @ or their wide forms, also behind blanks and quotes, with a tab or the end of a
    line) gets an apostrophe before it: what a model wrote is not to be run. Half a surrogate pair, which UTF-8 has not,
    becomes U+FFFD. A file that is there already is replaced once the new one is whole, and stays when writing fails.

    Raises
    ------
    InputError
        Another ending, a frame of Dask or Spark or none at all, a column twice, or a value that the kind of file has not: an
        infinite number in JSON, several types or a mapping without keys within a column of Parquet.
    """
    require_columns(frame, (), "write_table")
    if not isinstance(path, str | Path) or not frame.columns.is_unique:
        raise InputError(
            f"write_table needs a path and columns of different names; got {path!r:.60} and {list(frame)!r:.60}"
        )
    path = Path(os.path.expanduser(path))
    kind = _kind(path, (*KINDS, "csv"))
    path.parent.mkdir(parents=True, exist_ok=True)
    with _replacing(path) as partial:
        if kind == "parquet":
            _write_parquet(frame, partial, path.name)
        else:
            partial.write_bytes(
                _csv(frame) if kind == "csv" else _json_lines(frame, packed=kind == "jsonl.gz")
            )
    return path


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A file beside the target to write to; it takes the target's place at the end, or goes when writing fails."""
    target = path.resolve()  # where a link leads, so that the link stays
    partial = target.with_name(f"{uuid4().hex}.part")
    try:
        yield partial
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def _json_lines(frame: pd.DataFrame, *, packed: bool) -> bytes:
    columns = {name: [_plain(value) for value in frame[name]] for name in frame.columns}
    rows = (
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    )
    content = well_formed(
        "".join(_line(row, number) for number, row in enumerate(rows, start=1))
    ).encode("utf-8")
    return gzip.compress(content, 9, mtime=0) if packed else content


def read_table(path: str | Path) -> pd.DataFrame:
    """Read a table as a frame; lists and mappings come back as Python's own.

    In Parquet all mappings of a column share their keys, so what a row did not set comes back as None.

    Raises
    ------
    InputError
        Another ending, a file that does not exist, or a line that is no JSON object.
    """
    path = Path(os.path.expanduser(path))
    kind = _kind(path, KINDS)
    if not os.path.isfile(path):
        raise InputError(
            f"read_table needs a file that exists; got {str(path)!r}, which does not; check the path"
        )
    try:
        return (
            _read_parquet(path)
            if kind == "parquet"
            else _read_json_lines(path, packed=kind == "jsonl.gz")
        )
    except (OSError, EOFError, zlib.error) as error:
        raise _damaged(path, error) from error


def renamed(frame: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """A frame with columns under new names, old to new; a column that had such a name already becomes ``other_...``.

    >>> list(renamed(pd.DataFrame({"response": ["a"], "output": ["b"]}), {"output": "response"}))
    ['other_response', 'response']
    """
    taken = [
        new for old, new in names.items() if old in frame and new in frame and new not in names
    ]
    return frame.rename(columns={**names, **{name: f"other_{name}" for name in taken}})


def _kind(path: Path, kinds: tuple[str, ...]) -> str:
    for kind in kinds:
        if path.name.lower().endswith(f".{kind}"):
            return kind
    endings = f"{', '.join(f'.{kind}' for kind in kinds[:-1])} or .{kinds[-1]}"
    raise InputError(f"a table needs a name that ends in {endings}; got {path.name!r}; rename it")


def _line(row: dict[Any, Any], number: int) -> str:
    try:
        return json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"row {number} needs values that JSON has; got one that it has not ({error}); mend it"
        ) from error


def _csv(frame: pd.DataFrame) -> bytes:
    """The frame as a spreadsheet opens it: UTF-8 with a mark that says so."""
    written = io.StringIO(newline="")
    rows = csv.writer(written)
    rows.writerow([_cell(str(name)) for name in frame.columns])
    rows.writerows(
        zip(
            *([_cell(_plain(value)) for value in frame[name]] for name in frame.columns),
            strict=True,
        )
    )
    return written.getvalue().encode("utf-8-sig", "replace")


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return f"'{value}" if FORMULA.match(value) else value
    return (
        json.dumps(value, ensure_ascii=False, default=_inner)
        if isinstance(value, bool | list | dict)
        else value
    )


def _inner(value: Any) -> Any:
    """What JSON lacks, inside a list or mapping: numpy's arrays and numbers as Python's, anything else as a text."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)


def unguarded(cell: Any) -> Any:
    """A cell of CSV without the apostrophe that `write_table` puts before what looks like a formula.

    >>> unguarded("'=1+1"), unguarded("'tis so")
    ('=1+1', "'tis so")
    """
    return (
        cell[1:] if isinstance(cell, str) and cell[:1] == "'" and FORMULA.match(cell, 1) else cell
    )


def _plain(value: Any) -> Any:
    """A value that JSON knows: numpy scalars as Python's, missing ones as None."""
    if isinstance(value, list | dict | str):
        return value
    value = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    if isinstance(value, list):
        return value
    return None if value is None or value is pd.NA or value is pd.NaT or value != value else value


def _read_json_lines(path: Path, *, packed: bool) -> pd.DataFrame:
    content = path.read_bytes()
    content = gzip.decompress(content) if packed else content
    rows = []
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.strip():
            rows.append(json_object(line, f"{path.name} line {number}"))
    return pd.DataFrame(
        {name: _column([row.get(name) for row in rows]) for name in dict.fromkeys(_names(rows))}
    )


def _names(rows: list[dict[str, Any]]) -> list[str]:
    return [name for row in rows for name in row]


def _column(values: list[Any]) -> pd.Series:
    kinds = {type(value) for value in values if value is not None}
    if int in kinds and any(isinstance(value, int) and abs(value) >= 2**63 for value in values):
        return pd.Series(values, dtype=object)
    if kinds == {int} and None in values:
        return pd.Series(values, dtype="Int64")
    if kinds and kinds <= {int, float}:
        return pd.Series(values, dtype=float if float in kinds else "int64")
    return pd.Series(values, dtype=bool if kinds == {bool} and None not in values else object)


def _damaged(path: Path, error: Exception) -> InputError:
    return InputError(
        f"{path.name} needs to be a whole file of its kind; got {error}; write or fetch it again"
    )


def _write_parquet(frame: pd.DataFrame, path: Path, name: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        pq.write_table(_arrow_table(frame), path)
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        got = " ".join(map(str, error.args))
        raise InputError(
            f"{name} needs columns that Parquet has, of one type each; got {got:.80}; mend it, or write .jsonl"
        ) from error


def _arrow_table(frame: pd.DataFrame) -> Any:
    import pyarrow as pa

    table = pa.Table.from_pandas(frame, preserve_index=False)
    for place, field in enumerate(table.schema):
        if (
            pa.types.is_struct(field.type) and field.type.num_fields == 0
        ):  # Parquet has no mapping without keys
            empty = pa.array(
                [None if value is None else [] for value in frame[field.name]],
                pa.map_(pa.string(), pa.string()),
            )
            table = table.set_column(place, field.name, empty)
    return table


def _read_parquet(path: Path) -> pd.DataFrame:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
        table.validate(full=True)
        frame = table.to_pandas()
    except (
        pa.ArrowException,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
    ) as error:  # pandas keeps notes of its own
        raise _damaged(path, error) from error
    for field in table.schema:
        if pa.types.is_map(field.type):
            frame[field.name] = pd.Series(
                [v if v is None else dict(v) for v in table[field.name].to_pylist()], dtype=object
            )
        elif pa.types.is_nested(field.type):
            frame[field.name] = pd.Series(table[field.name].to_pylist(), dtype=object)
    return frame
