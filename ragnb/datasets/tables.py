"""Files of frames and of responses.

JSON, JSON Lines and Parquet are read back as they were written, CSV is for spreadsheets, and responses
can be exported in the formats of other tools.
"""

import csv
import gzip
import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pandas as pd

from ragnb.arguments import accepts
from ragnb.cells import is_missing
from ragnb.columns import require_columns
from ragnb.datasets.files import CELLS, existing_file, kind_of
from ragnb.datasets.frames import frame_of
from ragnb.datasets.reading import FORMULA, read_frame
from ragnb.errors import InputError
from ragnb.text import well_formed


@accepts()
def write_table(frame: pd.DataFrame | Mapping[str, Any], path: str | Path) -> Path:
    """Write a frame as JSON, JSON Lines, Parquet or CSV, according to the suffix of the file name.

    A ``.json`` file contains a list with one object per row. Missing values become null. In CSV they
    are empty, and lists, mappings and truth values are JSON. A text that a spreadsheet would take for
    a formula gets an apostrophe before it, so that nothing that a model wrote is run. Half a surrogate
    pair, which UTF-8 cannot encode, becomes U+FFFD. An existing file is replaced once the new one is
    whole, and stays if writing fails.

    Parameters
    ----------
    frame
        The table. A mapping, such as the result of `ragnb.ensemble.eval_prediction`, is written as a
        single JSON object in a ``.json`` file, and as a table with one row in the others.
    path
        The file. Its name ends in .json, .jsonl, .csv or .parquet. After the first three, ``.gz`` may
        follow. Parquet is compressed already.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        Another ending, two columns of one name, or a value that the kind of file cannot hold: an
        infinite number in JSON, several types or a mapping without keys in a column of Parquet.

    Examples
    --------
    >>> import tempfile
    >>> results = {"precision": 0.75, "recall": float("nan"), "confusion_matrix": np.array([[1, 2], [3, 4]])}
    >>> file = write_table(results, f"{tempfile.mkdtemp()}/metrics_results.json")
    >>> print(file.read_text().rstrip())
    {
      "precision": 0.75,
      "recall": null,
      "confusion_matrix": [[1, 2], [3, 4]]
    }
    >>> read_table(file)["confusion_matrix"].item()
    [[1, 2], [3, 4]]
    """
    is_record = isinstance(frame, Mapping)
    # A mapping is a table with one row.
    table = frame_of([_json_value(frame)]) if isinstance(frame, Mapping) else frame
    require_columns(table, (), "write_table")
    path = Path(os.path.expanduser(path))
    kind = kind_of(path)
    if not table.columns.is_unique or kind not in _CONTENT:
        raise InputError(
            "write_table needs different column names and a path that ends in .json, .jsonl, .csv "
            f"(or one of these and .gz) or .parquet, got {path.name!r} and the columns "
            f"{', '.join(map(str, table))}"
        )
    is_compressed = path.suffix.lower() == ".gz"
    if is_compressed and kind == "parquet":
        raise InputError(
            f"write_table compresses Parquet already; leave .gz out of the name {path.name!r}"
        )
    write = _json_object if is_record and kind == "json" else _CONTENT[kind]
    content = write(table, path)
    if is_compressed:
        # Without a time of modification, the same frame always has the same bytes.
        content = gzip.compress(content, mtime=0)
    path.parent.mkdir(parents=True, exist_ok=True)
    # If the path is a link, the file to which it leads is replaced, and the link stays.
    target = path.resolve()
    partial = target.with_name(f"{uuid4().hex}.part")
    try:
        partial.write_bytes(content)
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)
    return path


@accepts(path="path")
def read_table(path: str | Path) -> pd.DataFrame:
    """Read a frame from JSON, JSON Lines, Parquet or Arrow, with lists and mappings as Python objects.

    A JSON object that is alone in its file is one row. In Parquet and Arrow all mappings of a column
    share their keys, so a key that a row lacks is None.

    Parameters
    ----------
    path
        The file. Its ending names the format.

    Raises
    ------
    InputError
        Another ending, a file that does not exist, or a row that is not a JSON object.
    """
    file = existing_file(path)
    # The cells of a spreadsheet are texts, in which lists and mappings would first have to be found.
    if kind_of(file) in CELLS:
        raise InputError(
            f"read_table needs a file whose name ends in .json, .jsonl, .jsonl.gz or .parquet, got "
            f"{file.name!r}; load_responses reads responses in CSV and Excel"
        )
    return read_frame(file)


def _json_lines(frame: pd.DataFrame, path: Path) -> bytes:
    """Each row of the frame as a JSON object in a line of its own."""
    return _utf8("".join(f"{row}\n" for row in _json_rows(frame, path)))


def _json_list(frame: pd.DataFrame, path: Path) -> bytes:
    """A list with one row of the frame per line."""
    rows = ",\n".join(_json_rows(frame, path))
    return _utf8(f"[\n{rows}\n]\n" if rows else "[]\n")


def _json_object(frame: pd.DataFrame, path: Path) -> bytes:
    """The only row of a frame as an object with one key per line."""
    members = [
        f"  {row.removeprefix('{').removesuffix('}')}"
        for name in frame
        for row in _json_rows(frame[[name]], path)
    ]
    text = ",\n".join(members)
    return _utf8(f"{{\n{text}\n}}\n")


def _json_rows(frame: pd.DataFrame, path: Path) -> list[str]:
    """Each row of a frame as a JSON object in one line."""
    rows = []
    for number, row in enumerate(_plain(frame).to_dict("records"), start=1):
        try:
            rows.append(_json_text(row))
        except (TypeError, ValueError) as error:
            raise InputError(
                f"row {number} of {path.name} must have values that JSON can hold ({error})"
            ) from error
    return rows


def _json_text(row: dict[Any, Any]) -> str:
    """A row as JSON. Most rows have no missing value at an inner level, which saves a look inside."""
    options: dict[str, Any] = {"ensure_ascii": False, "allow_nan": False, "default": _python_value}
    try:
        return json.dumps(row, **options)
    except (TypeError, ValueError):
        # A value inside a list or a mapping may be missing.
        return json.dumps(_json_value(row), **options)


def _json_value(value: Any) -> Any:
    """A value with None in place of each missing value, and lists in place of arrays, at every level."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {name: _json_value(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(inner) for inner in value]
    return None if is_missing(value) else value


def _utf8(text: str) -> bytes:
    """A text in UTF-8, without half surrogate pairs, which UTF-8 cannot encode."""
    return well_formed(text).encode()


def _csv(frame: pd.DataFrame, path: Path) -> bytes:
    """The frame as CSV for spreadsheets, in UTF-8 with a byte order mark, by which they recognise it."""
    cells = _plain(frame).map(_cell).rename(columns=lambda name: _cell(str(name)))
    # The csv module quotes a carriage return only if it can be a part of the line end.
    text = cells.to_csv(index=False, lineterminator="\r\n", quoting=csv.QUOTE_MINIMAL)
    return well_formed(text).encode("utf-8-sig")


def _parquet(frame: pd.DataFrame, path: Path) -> bytes:
    """The frame as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    content = io.BytesIO()
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False)
        for place, field in enumerate(table.schema):
            # Parquet has no structures without fields. A column in which all mappings are empty is
            # therefore written as a column of maps.
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


# Kind of a file -> the function that makes its content.
_CONTENT = {"json": _json_list, "jsonl": _json_lines, "csv": _csv, "parquet": _parquet}


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with Python's own values, and None where one is missing."""
    return frame.astype(object).where(frame.notna(), None)


def _cell(value: Any) -> Any:
    """A value as a cell of CSV: lists and truth values as JSON, texts without the risk of formulas."""
    if isinstance(value, str):
        return f"'{value}" if FORMULA.match(value) else value
    is_json = isinstance(value, bool | list | dict | np.ndarray)
    return json.dumps(value, ensure_ascii=False, default=_python_value) if is_json else value


def _python_value(value: Any) -> Any:
    """Convert an array or a number of numpy, which JSON lacks, to Python's own values."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"a value of type {type(value).__name__} cannot be written as JSON")
