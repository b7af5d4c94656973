"""Files: where they are, one way to open them, and records that are checked against a model."""

import ast
import gzip
import io
import json
import os
import re
import sys
import tokenize
import zipfile
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from glob import glob, has_magic
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, TypeVar

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, StrictInt, ValidationError

from ragnb.datasets.catalogue import find, git_blob_sha1, sources_of
from ragnb.datasets.sheets import (
    MOST_UNPACKED,
    csv_rows,
    frame_of_cells,
    refuse_large,
    workbook_rows,
)
from ragnb.errors import InputError
from ragnb.markup import spelled
from ragnb.records import present
from ragnb.text import well_formed

DATA = Path(str(resources.files("ragnb.datasets") / "data"))
# Represents JSON Lines from standard input, which a user calls ``-``.
STANDARD_INPUT = Path("stdin.jsonl")
# Method of compression in archives that Python reads from 3.14 on.
ZSTANDARD = 93
# Benchmark -> name of a sample that the authors of ragnb wrote -> its file. RGB has base,
# integration and counterfactual files, in English and Chinese.
SAMPLES = {
    "rgb": {
        "sample-en": "rgb_sample_en.jsonl",
        "sample-en-int": "rgb_sample_en_int.jsonl",
        "sample-en-fact": "rgb_sample_en_fact.jsonl",
        "sample-zh": "rgb_sample_zh.jsonl",
        "sample-zh-int": "rgb_sample_zh_int.jsonl",
        "sample-zh-fact": "rgb_sample_zh_fact.jsonl",
    },
    "ragbench": {"sample-ragbench": "ragbench_sample.jsonl"},
    "multilingual": {"sample-multilingual": "multilingual_sample.jsonl"},
}
# The file by which a folder of ``save_to_disk`` is recognised; it names the others.
SAVED_TO_DISK = "state.json"
# How a text begins that a spreadsheet may take for a formula, also behind blanks and quotes.
FORMULA = re.compile(
    r"""[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"'‘’“”]*[=+\-@＝＋－＠]|'*[\t\r\n]"""
)
_BOM = "\ufeff"
# Kinds of tables whose cells are texts, and kinds that are read as text.
WORKBOOKS = ("xlsx", "xlsm")
_TEXTS = ("jsonl", "json", "ndjson", "csv", "tsv")
CELLS = (*WORKBOOKS, "csv", "tsv")
_OTHER_SPREADSHEETS = ("xls", "xlsb", "ods", "numbers", "gsheet")
# Number of bytes by which the content of a file is recognised.
_HEAD = 4096
# Number of rows of Parquet that are read at once.
_BATCH_ROWS = 4096
# Most levels of lists and objects in JSON.
MOST_NESTED = 100
_TITLE = re.compile(rb"(?is)<title[^>]*>\s*(.*?)\s*</title>")
_JSON_VALUE = re.compile(r"[\s,]*(?=\S)")
_MARKED = rb"\A(?:\xef\xbb\xbf)?\s*"
# How a content begins -> the kinds of tables that begin so -> what it is.
_CONTENTS: tuple[tuple[re.Pattern[bytes], tuple[str, ...], str], ...] = (
    (
        re.compile(rb"\Aversion https://git-lfs"),
        (),
        "a pointer of Git LFS and not the data; run `git lfs pull` in the repository, or download the "
        "file itself",
    ),
    (
        re.compile(rb"\A(?:\.\./)*(?:\.git/annex|/annex)/objects/"),
        (),
        "a pointer of git-annex and not the data; run `git annex get` in the repository",
    ),
    (
        re.compile(
            _MARKED + rb"(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body|script|meta|title)\b",
            re.IGNORECASE | re.DOTALL,
        ),
        (),
        "a web page{title} and not the data; perhaps the address needs a login or leads to a page "
        "about the file. Download the file itself",
    ),
    (
        re.compile(_MARKED + rb"<(?:\?xml|error>)", re.IGNORECASE),
        (),
        "an XML document and not the data; perhaps it is the error message of a server",
    ),
    (re.compile(rb"\APAR1"), ("parquet",), "a Parquet file; its name must end in .parquet"),
    (re.compile(rb"\AARROW1"), ("arrow",), "an Arrow file; its name must end in .arrow"),
    (
        re.compile(rb"\APK\x03\x04"),
        (*WORKBOOKS, "eval"),
        "an archive; unpack it, or if it is an Excel file, its name must end in .xlsx",
    ),
    (re.compile(rb"\A%PDF-"), (), "a PDF document and not a table"),
    (
        re.compile(rb"\ASQLite format 3\x00"),
        (),
        "a database, such as a store of replies (ragnb.Store) or a log of labels, and not a table",
    ),
)
# An address on the internet; Path makes one slash of two.
_ADDRESS = re.compile(r"(?:https?|ftp|s3|gs|hf):/", re.IGNORECASE)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

# A text that is not blank.
Text = Annotated[str, Field(pattern=r"\S")]
# An id as a file writes it: a whole number or a text.
Identifier = StrictInt | Annotated[str, Field(min_length=1)]


class Record(BaseModel):
    """Base class of the records of a file format."""

    model_config = ConfigDict(strict=True)


Row = dict[str, Any]
R = TypeVar("R", bound=BaseModel)
# Type of a pydantic error -> what is allowed.
_ALLOWED = {
    "string_type": "a text",
    "string_pattern_mismatch": "a text that is not blank",
    "string_too_short": "a text that is not empty",
    "int_type": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "too_short": "a list with {min_length} or more items",
    "too_long": "a list with {max_length} or fewer items",
    "dict_type": "an object",
    "model_type": "an object",
}


# ---- where a file is -----------------------------------------------------------------------------


def existing_file(source: str | Path) -> Path:
    """Path of a file that exists; ``~`` is the home folder, and ``-`` is standard input.

    A folder that ``save_to_disk`` of Hugging Face datasets wrote counts as a file.
    """
    if source == "-":
        return STANDARD_INPUT
    if _ADDRESS.match(str(source)):
        raise InputError(
            f"{str(source)!r:.200} is an address on the internet; download the file, and name the "
            "downloaded file"
        )
    path = Path(os.path.expanduser(source))
    try:
        exists = path.exists()
    except OSError as error:  # A name that is too long, or a folder that cannot be read.
        raise InputError(
            f"the file {str(path)!r:.80} cannot be opened ({error.strerror})"
        ) from error
    if path.is_dir() and not (path / SAVED_TO_DISK).is_file():
        inside = ", ".join(sorted(one.name for one in path.iterdir())[:5])
        raise InputError(
            f"{str(path)!r} is a folder; name a file inside it: {inside or 'it is empty'}"
        )
    if not exists:
        raise InputError(f"the file {str(path)!r} does not exist{_nearby(path)}")
    return path


def several_files(source: Any) -> list[Any] | None:
    """Members of a list, and files that match a pattern such as ``"runs/*.jsonl"``.

    Patterns inside a list are replaced by their files. The result is None if the source is neither
    a list nor a pattern.

    Raises
    ------
    InputError
        The list is empty, or no file matches the pattern.
    """
    if isinstance(source, list | tuple):
        if not source:
            raise InputError("a list of files must contain at least one file, got an empty list")
        members = [several_files(member) or [member] for member in source]
        return [file for files in members for file in files]
    if not isinstance(source, str | Path) or not has_magic(str(source)):
        return None
    if _ADDRESS.match(str(source)):  # a question mark in an address is no pattern
        return None
    path = os.path.expanduser(source)
    if os.path.exists(path):  # a name that contains brackets
        return None
    files = sorted(glob(path))
    if not files:
        raise InputError(f"no file matches the pattern {str(source)!r}")
    return [Path(file) for file in files]


def _nearby(path: Path) -> str:
    """The file with the most similar name, or the files in the folder, for a message."""
    folder = path.parent
    if not folder.is_dir():
        return f", because there is no folder {str(folder)!r}"
    try:
        names = sorted(one.name for one in folder.iterdir() if not one.name.startswith("."))
    except OSError:
        return ""
    if near := near_name(path.name, names):
        return f"; did you mean {str(folder / near)!r}?"
    tables = [name for name in names if _kind(Path(name)) in _READERS]
    return f"; tables in {str(folder.resolve())!r}: {', '.join(tables[:5]) or 'none'}"


def near_name(name: str, names: Iterable[Any]) -> Any:
    """Return the most similar of the names, without regard to letter case; None if none is similar.

    >>> near_name("model ouput", ["Question text", "Model output"])
    'Model output'
    """
    folded = {" ".join(str(one).casefold().split()): one for one in names}
    near = get_close_matches(" ".join(name.casefold().split()), folded, n=1, cutoff=0.7)
    return folded[near[0]] if near else None


def locate(source: str | Path, *, benchmark: str) -> tuple[Path, str]:
    """Path and name of a benchmark file given as a path, a catalogue name or the name of a sample.

    Raises
    ------
    InputError
        Neither the path of a file nor a known name.
    """
    samples = SAMPLES.get(benchmark, {})
    if source in samples:
        return DATA / samples[str(source)], str(source)
    path = Path(os.path.expanduser(source))
    is_name = isinstance(source, str) and not path.suffix and len(path.parts) == 1
    if is_name and not os.path.exists(path):
        return find(str(source), benchmark=benchmark), str(source)
    return existing_file(path), stem(path)


def stem(path: Path) -> str:
    """Name of a file without its ending.

    >>> stem(Path("runs/gpt.v2.csv.gz"))
    'gpt.v2'
    """
    return Path(path.name.removesuffix(".gz")).stem


def provenance(path: Path, name: str, *, benchmark: str) -> dict[str, Any]:
    """Describe a file: source, checksum, and whether the checksum matches the catalogue."""
    if path.parent == DATA:
        licence, citation = "CC BY 4.0", "written by the authors of ragnb"
        return {"name": name, "licence": licence, "citation": citation, "verified": True}
    sha1 = git_blob_sha1(path.read_bytes())
    sources = sources_of(benchmark)
    known = [source for source in sources if source.git_sha1 == sha1]
    named = [
        source
        for source in sources
        if not source.git_sha1 and (source.name == name or source.file == path.name)
    ]
    source = next(iter(known + named), None)
    return {
        "name": name,
        "licence": source.licence if source else "unknown",
        "citation": source.citation if source else "unknown",
        "verified": bool(known),
        "git_sha1": sha1,
    }


def benchmark_frame(
    rows: Sequence[Mapping[str, Any]], first: Iterable[str], path: Path, name: str, benchmark: str
) -> pd.DataFrame:
    """The rows of a benchmark file as a frame, with what is known of the file in its attributes."""
    if not rows:
        raise InputError(f"{path.name} must contain at least one record, got none")
    frame = frame_of(rows, first)
    frame.attrs["source"] = provenance(path, name, benchmark=benchmark)
    return frame


# ---- reading -------------------------------------------------------------------------------------


def kind_of(path: Path) -> str:
    """Kind of a table by its name."""
    kind = "arrow" if path.is_dir() else _kind(path)
    if kind in _READERS:
        return kind
    advice = "ragnb.load_run reads the files of TREC"
    if kind in _OTHER_SPREADSHEETS:
        advice = 'save this spreadsheet as .xlsx or as "CSV UTF-8"'
    raise InputError(
        f"the name of a table must end in .{', .'.join(_READERS)} (or one of these and .gz), got "
        f"{path.name!r}; {advice}"
    )


def _kind(path: Path) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix[1:]


def read_records(path: Path) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Each record of a table of any kind, with its place for messages."""
    if kind_of(path).startswith("json"):
        yield from json_records(path)
        return
    for number, row in enumerate(read_frame(path).to_dict("records"), start=1):
        yield {str(name): present(cell) for name, cell in row.items()}, f"{path.name} row {number}"


def read_frame(path: Path, *, sheet: str | int | None = None) -> pd.DataFrame:
    """Read a table of any kind as a frame.

    A cell of a CSV or Excel file is a text, or None if it is empty. Blank rows and columns of such a
    file are dropped, and a line is printed that counts them.

    Parameters
    ----------
    path
        The file.
    sheet
        Name of a sheet of an Excel file, or its number from 1. By default it is the first visible
        sheet with a table.
    """
    kind = kind_of(path)
    if sheet is not None and kind not in WORKBOOKS:
        raise InputError(f"sheet= names a sheet of an Excel file, and {path.name} is none")
    if kind not in _TEXTS and not path.is_dir():
        with path.open("rb") as file:
            _refuse_other_content(file.read(_HEAD), path)
    try:
        if kind in WORKBOOKS:
            return _read_workbook(path, sheet)
        return _READERS[kind](path)
    except InputError as error:
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


def frame_of(rows: Sequence[Mapping[str, Any]], first: Iterable[str] = ()) -> pd.DataFrame:
    """Convert rows to a frame with the columns `first` and all others. Missing values are None.

    A column holds numbers or truth values if all of its values are such, and objects otherwise.
    """
    names = dict.fromkeys([*first, *(name for row in rows for name in row)])
    return pd.DataFrame({name: _column([row.get(name) for row in rows]) for name in names})


def _column(values: list[Any]) -> pd.Series:
    kinds = {*map(type, values)} - {type(None)}
    dtype: Any = object
    if kinds == {int} and max(map(abs, filter(None, values)), default=0) < 2**63:
        dtype = "Int64" if None in values else "int64"
    elif kinds in ({float}, {int, float}):
        dtype = float
    elif kinds == {bool} and None not in values:
        dtype = bool
    return pd.Series(values, dtype=dtype)


def read_text(path: Path) -> str:
    """Text of a file in UTF-8, with its byte order mark if it has one, or in UTF-16."""
    content = sys.stdin.buffer.read() if path == STANDARD_INPUT else path.read_bytes()
    if path.suffix.lower() == ".gz":
        content = _unpacked(content, path)
    _refuse_other_content(content[:_HEAD], path)
    try:
        is_wide = content.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
        text = content.decode("utf-16" if is_wide else "utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path.name} must be text in UTF-8, got byte 0x{content[error.start]:02x} at position "
            f'{error.start}; save it as UTF-8 (in spreadsheets "CSV UTF-8"), or unpack it'
        ) from error
    if not text.removeprefix(_BOM).strip():
        raise InputError(f"{path.name} is an empty file")
    return text


def _unpacked(content: bytes, path: Path) -> bytes:
    try:
        with gzip.open(io.BytesIO(content)) as file:
            unpacked = file.read(MOST_UNPACKED + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path.name} must be a complete compressed file ({error})") from error
    if len(unpacked) > MOST_UNPACKED:
        raise InputError(
            f"{path.name} unpacks to more than {MOST_UNPACKED:,} bytes; unpack it yourself if "
            "this size is right"
        )
    return unpacked


def _refuse_other_content(head: bytes, path: Path) -> None:
    """Raise InputError if a file begins like something else than its name says."""
    own_kind = "arrow" if path.is_dir() else _kind(path)
    for start, kinds, meaning in _CONTENTS:
        if start.match(head) and own_kind not in kinds:
            title = _TITLE.search(head)
            name = f" ({title[1].decode('utf-8', 'replace').strip()!r:.80})" if title else ""
            raise InputError(f"{path.name} is {meaning.format(title=name)}")


def json_records(path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """Each JSON object of a file with a list of them, with a single one, or with several in turn.

    An object may take one line, as in JSON Lines, or several lines.

    Raises
    ------
    InputError
        The file is empty, binary or damaged, or a value is not an object.
    """
    if _kind(path) in (*WORKBOOKS, "csv", "tsv", "parquet", "arrow"):
        raise InputError(
            f"{path.name} is a table, and this function reads JSON or JSON Lines in the format of a "
            "benchmark or tool. To load responses from a table, use ragnb.load_responses"
        )
    text = read_text(path).removeprefix(_BOM)
    try:
        whole = json.loads(text)
        kind, parts = ("item", whole) if isinstance(whole, list) else ("line", [whole])
        values: Iterable[tuple[int, Any]] = enumerate(parts, start=1)
    except (ValueError, RecursionError):  # several objects, or a damaged file
        kind, values = "line", _parsed_objects(text, path)
    has_halves = _SURROGATE.search(text) is not None
    for n, value in values:
        where = f"{path.name} {kind} {n}"
        if not isinstance(value, dict):
            raise InputError(f"{where}: must be a JSON object, got {value!r:.60}")
        _refuse_deep(value, where)
        if has_halves:  # Half a surrogate pair cannot be encoded in UTF-8.
            value = json.loads(well_formed(json.dumps(value, ensure_ascii=False)))
        yield value, where


def _parsed_objects(text: str, path: Path) -> Iterator[tuple[int, Any]]:
    """The objects of JSON Lines, or of a file in which an object takes several lines."""
    first_line = next(line for line in text.split("\n") if line.strip())
    try:
        json.loads(first_line)
    except (ValueError, RecursionError):
        yield from _parsed_in_turn(text, path)
        return
    for n, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise _not_json(path, n, line, error) from error
            yield n, value


def _parsed_in_turn(text: str, path: Path) -> Iterator[tuple[int, Any]]:
    decoder = json.JSONDecoder()
    place = 0
    line = 1
    while found := _JSON_VALUE.match(text, place):
        line += text.count("\n", place, found.end())
        place = found.end()
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            raise _not_json(path, line, text[place : place + 100], error) from error
        yield line, value
        line += text.count("\n", place, end)
        place = end


def _not_json(path: Path, line: int, text: str, error: Exception) -> InputError:
    advice = "if the file is cut off, copy or write it again"
    if not text.lstrip().startswith(("{", "[")):
        start = text.strip().partition("\n")[0]
        advice = f"it begins with {start!r:.60}. If it is a table, name it .csv"
    elif text.lstrip().startswith(("{'", "[{'")):
        advice = "it is written as Python prints it; write it with json.dumps or ragnb.write_table"
    return InputError(f"{path.name} line {line}: must be JSON ({error}); {advice}")


def _refuse_deep(value: Any, where: str) -> None:
    """Raise InputError if lists and objects are nested too deeply for the functions that read them."""
    level = [value]
    for _ in range(MOST_NESTED):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return
    raise InputError(f"{where}: must have at most {MOST_NESTED} levels of lists and objects")


def _read_separated(path: Path) -> pd.DataFrame:
    text = read_text(path)
    content = text.removeprefix(_BOM)
    if content.lstrip().startswith(("{", "[{")):
        _refuse_json(content, path)
    frame = _told_frame(csv_rows(content), path)
    # Only files with this mark are from `write_table`. Others keep their apostrophes.
    return frame.map(unguarded).rename(columns=unguarded) if text.startswith(_BOM) else frame


def _refuse_json(content: str, path: Path) -> None:
    try:
        json.JSONDecoder().raw_decode(content.lstrip())
    except (ValueError, RecursionError):
        return
    raise InputError(f"{path.name} contains JSON; its name must end in .json or .jsonl")


def _read_workbook(path: Path, sheet: str | int | None) -> pd.DataFrame:
    rows, note = workbook_rows(path, sheet)
    frame = _told_frame(rows, path)
    if note:
        tell(f"{path.name}: {note}")
        frame.attrs["sheets"] = note
    return frame


def _told_frame(rows: Sequence[Sequence[str]], path: Path) -> pd.DataFrame:
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
    """Read a Parquet file, an Arrow file, or a folder of Arrow files that ``save_to_disk`` wrote."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.is_dir():
        state = json.loads((path / SAVED_TO_DISK).read_text(encoding="utf-8"))
        parts = [path / Path(part["filename"]).name for part in state["_data_files"]]
        table = pa.concat_tables(map(_arrow_table, parts))
    elif kind_of(path) == "parquet":
        with pq.ParquetFile(path) as file:
            groups = [file.metadata.row_group(n) for n in range(file.metadata.num_row_groups)]
            refuse_large(sum(group.total_byte_size for group in groups))
            table = _table_of(file.iter_batches(_BATCH_ROWS), file.schema_arrow)
    else:
        table = _arrow_table(path)
    columns = table.to_pydict()
    for field in table.schema:
        if pa.types.is_map(field.type):
            pairs = columns[field.name]
            columns[field.name] = [None if value is None else dict(value) for value in pairs]
    return pd.DataFrame({name: _column(values) for name, values in columns.items()})


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
    """A table of batches that are not damaged, and together not larger than the stated limit."""
    import pyarrow as pa

    checked_batches = []
    size = 0
    for batch in batches:
        # Without this check, a damaged file can end the process.
        batch.validate(full=True)
        # A repeated value may take almost no space in a file.
        size += max(batch.nbytes, 8 * batch.num_rows * batch.num_columns)
        refuse_large(size)
        checked_batches.append(batch)
    return pa.Table.from_batches(checked_batches, schema)


def _read_eval(path: Path) -> pd.DataFrame:
    """A packed log of inspect_ai as the one JSON object that it is in a JSON file."""
    with zipfile.ZipFile(path) as file:
        members = {info.filename: info for info in file.infolist()}
        refuse_large(sum(info.file_size for info in members.values()))
        # A log of a run that was interrupted has no header.
        start = "header.json" if "header.json" in members else "_journal/start.json"
        names = [start, *(name for name in members if name.startswith("samples/"))]
        log, *samples = [_member(path, file, members[name]) for name in names]
        return frame_of([log | {"samples": samples}])


def _member(path: Path, file: zipfile.ZipFile, info: zipfile.ZipInfo) -> Any:
    """The JSON object that is a file of an archive."""
    if info.compress_type != ZSTANDARD:
        return json.loads(file.read(info))
    import pyarrow as pa

    with path.open("rb") as packed:
        packed.seek(info.header_offset)
        head = packed.read(30)
        lengths = int.from_bytes(head[26:28], "little"), int.from_bytes(head[28:30], "little")
        packed.seek(sum(lengths), 1)  # the file's name, and extra fields
        content = packed.read(info.compress_size)
    return json.loads(pa.decompress(content, info.file_size, codec="zstd", asbytes=True))


def _read_json(path: Path) -> pd.DataFrame:
    return frame_of([record for record, _ in json_records(path)])


# Kind of a table -> what reads it.
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


# ---- records and cells ---------------------------------------------------------------------------


def checked(model: type[R], record: Mapping[str, Any], where: str) -> R:
    """Validate one record of a file.

    Raises
    ------
    InputError
        The record does not fit the model. The message names the place, the key, what is allowed
        and what was found.
    """
    try:
        return model.model_validate(record)
    except ValidationError as error:
        errors: list[Any] = error.errors(include_url=False)
    # Of a union, the type that fits best fails deepest inside the value.
    paths = [_path(error["loc"], record) for error in errors]
    path = max((path for path in paths if path[:1] == paths[0][:1]), key=len)
    here = [error for error, found in zip(errors, paths, strict=True) if found == path]
    inner = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path[1:])
    place = f"{where}, key {path[0]}{inner}" if path else where
    missing = [str(error["loc"][-1]) for error in here if error["type"] == "missing"]
    if missing:
        got = ", ".join(map(str, here[0]["input"])) or "none"
        raise InputError(f"{place}: must have the key {' and '.join(missing)}, got {got}")
    if here[0]["type"] == "value_error":
        raise InputError(f"{place}: {here[0]['ctx']['error']}")
    allowed = [_ALLOWED.get(one["type"], one["msg"]).format(**one.get("ctx", {})) for one in here]
    words = " or ".join(dict.fromkeys(allowed))
    raise InputError(f"{place}: must be {words}, got {here[0]['input']!r:.60}")


def _path(loc: tuple[int | str, ...], value: Any) -> tuple[int | str, ...]:
    """The keys and positions in a location of pydantic, without the names of its types."""
    path: list[int | str] = []
    for part in loc:
        if isinstance(part, int) or (isinstance(value, dict) and part in value):
            path.append(part)
            value = value[part] if isinstance(value, list | dict) else None  # type: ignore[index]
    return tuple(path)


def parsed(value: Any) -> Any:
    """Parse a list that was stored as a text, as JSON or as Python prints it.

    Arrays, tuples and sets become lists. Other values are returned unchanged.

    >>> parsed("[array(['Oslo', 'Kristiania'], dtype=object), ('Bergen',)]")
    [['Oslo', 'Kristiania'], ['Bergen']]
    """
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):  # perhaps as Python prints it
        text = value.strip()
    try:
        tree = _Lists().visit(ast.parse(text, mode="eval"))
        literal = ast.literal_eval(tree)
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        kinds = [token.type for token in tokens if token.type != tokenize.NL]
    except (ValueError, SyntaxError, RecursionError, MemoryError, tokenize.TokenError) as error:
        raise InputError(
            f"must be a list written as JSON or Python, got {text[:40]!r}; export it again"
        ) from error
    # numpy prints ['0a' '0b'], which Python would read as ['0a0b'].
    if (tokenize.STRING, tokenize.STRING) in pairwise(kinds):
        raise InputError(
            f"must be a list with commas between its items, got {text[:40]!r}; convert arrays to "
            "lists before you export the table"
        )
    return literal


class _Lists(ast.NodeTransformer):
    """Replaces arrays, tuples and sets in a parsed expression by lists, and ``nan`` by None."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func
        name = name.id if isinstance(name, ast.Name) else name
        if name not in ("array", "set", "frozenset", "tuple", "list") or len(node.args) > 1:
            raise ValueError(f"cannot read {name}")
        return self.visit(node.args[0]) if node.args else ast.List(elts=[], ctx=ast.Load())

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        return ast.List(elts=[self.visit(item) for item in node.elts], ctx=ast.Load())

    def visit_Set(self, node: ast.Set) -> ast.AST:
        return ast.List(elts=[self.visit(item) for item in node.elts], ctx=ast.Load())

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if node.value is ...:
            raise ValueError("numpy left out some of the items")
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Constant(None) if node.id in ("nan", "null") else node


def tell(line: str) -> None:
    """Print a line about what was read where warnings appear, in place of a progress line."""
    start = "\r\x1b[K" if sys.stderr.isatty() else ""
    print(f"{start}ragnb: {spelled(line)}", file=sys.stderr)


def tell_size(line: str) -> None:
    """Print how much was read, unless ``TQDM_DISABLE=1`` turns such lines off, as those of `ragnb.complete`."""
    if os.environ.get("TQDM_DISABLE", "0") in ("", "0"):
        tell(line)


def json_object(line: bytes, where: str) -> dict[str, Any]:
    """The JSON object of a line."""
    try:
        record = json.loads(line.removeprefix(b"\xef\xbb\xbf").decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} must be a JSON object ({error})") from error
    if not isinstance(record, dict):
        raise InputError(f"{where} must be a JSON object, got {record!r:.60}")
    return record
