"""Frames on disk: JSON Lines and Parquet are read back as they were written; CSV is for spreadsheets."""

import csv
import gzip
import io
import json
import os
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pandas as pd

from ragnb.datasets.files import FORMULA, existing_file, kind_of, read_frame
from ragnb.errors import InputError
from ragnb.records import is_missing, require_columns
from ragnb.text import well_formed


def write_table(frame: pd.DataFrame, path: str | Path) -> Path:
    """Write a frame as JSON Lines, Parquet or CSV, according to the suffix of the file name.

    Missing values become null. In CSV they are empty, and lists, mappings and truth values are
    JSON. A text that a spreadsheet would take for a formula gets an apostrophe before it, so that
    nothing that a model wrote is run. Half a surrogate pair, which UTF-8 cannot encode, becomes
    U+FFFD. An existing file is replaced once the new one is whole, and stays if writing fails.

    Raises
    ------
    InputError
        Another ending, two columns of one name, or a value that the kind of file cannot hold: an
        infinite number in JSON, several types or a mapping without keys in a column of Parquet.
    """
    require_columns(frame, (), "write_table")
    path = Path(os.path.expanduser(path))
    kind = kind_of(path)
    if not frame.columns.is_unique or kind not in _CONTENT:
        raise InputError(
            "write_table needs different column names and a path that ends in .jsonl, .jsonl.gz, "
            f".parquet or .csv, got {path.name!r} and the columns {', '.join(map(str, frame))}"
        )
    content = _CONTENT[kind](frame, path)
    if path.suffix.lower() == ".gz" and kind != "parquet":
        content = gzip.compress(content, mtime=0)
    path.parent.mkdir(parents=True, exist_ok=True)
    target = path.resolve()  # where a link leads, so that the link stays
    partial = target.with_name(f"{uuid4().hex}.part")
    try:
        partial.write_bytes(content)
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)
    return path


def read_table(path: str | Path) -> pd.DataFrame:
    """Read a frame from JSON Lines or Parquet, with lists and mappings as Python objects.

    In Parquet all mappings of a column share their keys, so a key that a row lacks is None.

    Raises
    ------
    InputError
        Another ending, a file that does not exist, or a line that is not a JSON object.
    """
    file = existing_file(path)
    if kind_of(file) in ("csv", "tsv"):
        raise InputError(
            f"read_table needs a file whose name ends in .jsonl, .jsonl.gz or .parquet, got "
            f"{file.name!r}; load_responses reads responses in CSV"
        )
    return read_frame(file)


def _json_lines(frame: pd.DataFrame, path: Path) -> bytes:
    lines = []
    for number, row in enumerate(_plain(frame).to_dict("records"), start=1):
        try:
            lines.append(json.dumps(row, ensure_ascii=False, allow_nan=False, default=_listed))
        except (TypeError, ValueError) as error:
            raise InputError(
                f"row {number} of {path.name} must have values that JSON can hold ({error})"
            ) from error
    return well_formed("".join(f"{line}\n" for line in lines)).encode()


def _csv(frame: pd.DataFrame, path: Path) -> bytes:
    """The frame as a spreadsheet opens it: UTF-8 with a mark that says so."""
    cells = _plain(frame).map(_cell).rename(columns=lambda name: _cell(str(name)))
    # The csv module quotes a carriage return only if it can be a part of the line end.
    text = cells.to_csv(index=False, lineterminator="\r\n", quoting=csv.QUOTE_MINIMAL)
    return well_formed(text).encode("utf-8-sig")


def _parquet(frame: pd.DataFrame, path: Path) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    content = io.BytesIO()
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False)
        for place, field in enumerate(table.schema):
            # Parquet has no mappings without keys.
            if pa.types.is_struct(field.type) and field.type.num_fields == 0:
                pairs: list[Any] = [
                    None if is_missing(value) else [] for value in frame[field.name]
                ]
                empty = pa.array(pairs, pa.map_(pa.string(), pa.string()))
                table = table.set_column(place, field.name, empty)
        pq.write_table(table, content)
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
        got = " ".join(map(str, error.args))
        raise InputError(
            f"{path.name} cannot be written, because Parquet needs values of one type in each "
            f"column ({got:.80}); write .jsonl instead"
        ) from error
    return content.getvalue()


_CONTENT = {"jsonl": _json_lines, "csv": _csv, "parquet": _parquet}


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with Python's own values, and None where one is missing."""
    return frame.astype(object).where(frame.notna(), None)


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return f"'{value}" if FORMULA.match(value) else value
    is_json = isinstance(value, bool | list | dict | np.ndarray)
    return json.dumps(value, ensure_ascii=False, default=_listed) if is_json else value


def _listed(value: Any) -> Any:
    """A value of numpy, which JSON lacks, as Python's own."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} is not a value of JSON")
