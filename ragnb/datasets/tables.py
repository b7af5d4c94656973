"""Frames on disk: JSON Lines (read by everything) and Parquet (small and typed), which are read back as they were written.

CSV is for spreadsheets, and is not read back.
"""

import csv
import gzip
import io
import json
import zlib
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.datasets.files import json_object
from ragnb.errors import InputError
from ragnb.records import refuse_partitioned

KINDS = ("jsonl", "jsonl.gz", "parquet")
"""What is read back; the ends of the names."""
FORMULA = tuple("=+-@＝＋－＠\t\r\n")


def write_table(frame: pd.DataFrame, path: str | Path) -> Path:
    """Write a frame as ``.jsonl``, ``.jsonl.gz``, ``.parquet`` or ``.csv``, chosen by the name; missing values become null.

    In CSV lists, mappings and truth values are JSON, missing values empty. A text that a spreadsheet would take for a
    formula (one that begins with =, +, -, @, their wide forms, a tab or the end of a line) gets an apostrophe before it:
    what a model wrote is not to be run.

    Raises
    ------
    InputError
        Another ending, or a frame of Dask or Spark.
    """
    refuse_partitioned(frame, "write_table")
    path = Path(path)
    kind = _kind(path, (*KINDS, "csv"))
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "csv":
        path.write_bytes(_csv(frame))
        return path
    if kind == "parquet":
        _write_parquet(frame, path)
        return path
    columns = {name: [_plain(value) for value in frame[name]] for name in frame.columns}
    rows = (dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))
    content = "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows).encode("utf-8")
    path.write_bytes(gzip.compress(content, 9, mtime=0) if kind == "jsonl.gz" else content)
    return path


def read_table(path: str | Path) -> pd.DataFrame:
    """Read a table as a frame; lists and mappings come back as Python's own.

    In Parquet all mappings of a column share their keys, so what a row did not set comes back as None.

    Raises
    ------
    InputError
        Another ending, a file that does not exist, or a line that is no JSON object.
    """
    path = Path(path)
    kind = _kind(path, KINDS)
    if not path.is_file():
        raise InputError(f"read_table needs a file that exists; got {str(path)!r}, which does not; check the path")
    try:
        return _read_parquet(path) if kind == "parquet" else _read_json_lines(path, packed=kind == "jsonl.gz")
    except (OSError, EOFError, zlib.error) as error:
        raise _damaged(path, error) from error


def _kind(path: Path, kinds: tuple[str, ...]) -> str:
    for kind in kinds:
        if path.name.lower().endswith(f".{kind}"):
            return kind
    endings = f"{', '.join(f'.{kind}' for kind in kinds[:-1])} or .{kinds[-1]}"
    raise InputError(f"a table needs a name that ends in {endings}; got {path.name!r}; rename it")


def _csv(frame: pd.DataFrame) -> bytes:
    """The frame as a spreadsheet opens it: UTF-8 with a mark that says so."""
    written = io.StringIO(newline="")
    rows = csv.writer(written)
    rows.writerow([_cell(str(name)) for name in frame.columns])
    rows.writerows(zip(*([_cell(_plain(value)) for value in frame[name]] for name in frame.columns), strict=True))
    return written.getvalue().encode("utf-8-sig", "replace")


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(FORMULA) else value
    return json.dumps(value, ensure_ascii=False) if isinstance(value, bool | list | dict) else value


def _plain(value: Any) -> Any:
    """A value that JSON knows: numpy scalars as Python's, missing ones as None."""
    if isinstance(value, list | dict | str):
        return value
    value = value.item() if hasattr(value, "item") else value
    return None if value is None or value is pd.NA or value is pd.NaT or value != value else value


def _read_json_lines(path: Path, *, packed: bool) -> pd.DataFrame:
    content = path.read_bytes()
    content = gzip.decompress(content) if packed else content
    rows = []
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.strip():
            rows.append(json_object(line, f"{path.name} line {number}"))
    return pd.DataFrame({name: _column([row.get(name) for row in rows]) for name in dict.fromkeys(_names(rows))})


def _names(rows: list[dict[str, Any]]) -> list[str]:
    return [name for row in rows for name in row]


def _column(values: list[Any]) -> pd.Series:
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int} and None in values:
        return pd.Series(values, dtype="Int64")
    if kinds and kinds <= {int, float}:
        return pd.Series(values, dtype=float if float in kinds else "int64")
    return pd.Series(values, dtype=bool if kinds == {bool} and None not in values else object)


def _damaged(path: Path, error: Exception) -> InputError:
    return InputError(f"{path.name} needs to be a whole file of its kind; got {error}; write or fetch it again")


def _write_parquet(frame: pd.DataFrame, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pandas(frame, preserve_index=False)
    for place, field in enumerate(table.schema):
        if pa.types.is_struct(field.type) and field.type.num_fields == 0:  # Parquet has no mapping without keys
            empty = pa.array(
                [None if value is None else [] for value in frame[field.name]], pa.map_(pa.string(), pa.string())
            )
            table = table.set_column(place, field.name, empty)
    pq.write_table(table, path)


def _read_parquet(path: Path) -> pd.DataFrame:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except pa.ArrowInvalid as error:
        raise _damaged(path, error) from error
    frame = table.to_pandas()
    for field in table.schema:
        if pa.types.is_map(field.type):
            frame[field.name] = pd.Series([v if v is None else dict(v) for v in table[field.name].to_pylist()], dtype=object)
        elif pa.types.is_nested(field.type):
            frame[field.name] = pd.Series(table[field.name].to_pylist(), dtype=object)
    return frame
