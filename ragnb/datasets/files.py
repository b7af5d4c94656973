"""Files: where they are, one way to open them, and records that are checked against a model."""

import ast
import csv
import gzip
import io
import json
import os
import re
import sys
import tokenize
import warnings
import zipfile
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from glob import glob, has_magic
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, TypeVar

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, StrictInt, ValidationError

from ragnb.datasets.catalogue import find, git_blob_sha1, sources_of
from ragnb.errors import InputError
from ragnb.markup import spelled
from ragnb.records import present
from ragnb.text import well_formed

DATA = Path(str(resources.files("ragnb.datasets") / "data"))
# Represents JSON Lines from standard input, which a user calls ``-``.
STANDARD_INPUT = Path("stdin.jsonl")
# Most bytes that a compressed file may unpack to.
MOST_UNPACKED = 2**30
# Method of compression in archives that Python reads from 3.14 on.
ZSTANDARD = 93
# Spreadsheets write semicolons where the comma is the decimal mark. The first wins among equals.
SEPARATORS = (",", ";", "\t")
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
    path = Path(os.path.expanduser(source))
    if path.is_dir() and not (path / SAVED_TO_DISK).is_file():
        inside = ", ".join(sorted(one.name for one in path.iterdir())[:5])
        raise InputError(
            f"{str(path)!r} is a folder; name a file inside it: {inside or 'it is empty'}"
        )
    if not path.exists():
        raise InputError(f"the file {str(path)!r} does not exist")
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
    path = os.path.expanduser(source)
    if os.path.exists(path):  # a name that contains brackets
        return None
    files = sorted(glob(path))
    if not files:
        raise InputError(f"no file matches the pattern {str(source)!r}")
    return [Path(file) for file in files]


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
    kind = "arrow" if path.is_dir() else Path(path.name.lower().removesuffix(".gz")).suffix[1:]
    if kind not in _READERS:
        raise InputError(
            f"the name of a table must end in .{', .'.join(_READERS)} (or one of these and .gz), got "
            f"{path.name!r}; ragnb.load_run reads the files of TREC"
        )
    return kind


def read_records(path: Path) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Each record of a table of any kind, with its place for messages."""
    if kind_of(path).startswith("json"):
        yield from json_records(path)
        return
    for number, row in enumerate(read_frame(path).to_dict("records"), start=1):
        yield {str(name): present(cell) for name, cell in row.items()}, f"{path.name} row {number}"


def read_frame(path: Path) -> pd.DataFrame:
    """Read a table of any kind as a frame.

    A cell of a CSV or Excel file is a text, or missing if it is empty.
    """
    kind = kind_of(path)
    try:
        return _READERS[kind](path)
    except InputError:
        raise
    except ImportError as error:
        raise InputError(
            f"{path.name} is an Excel file; to read it, run `pip install openpyxl`, or save it as "
            '"CSV UTF-8"'
        ) from error
    except _DAMAGES as error:
        raise InputError(
            f"{path.name} is not a complete .{kind} file ({str(error).strip():.200}); if it "
            "is cut off, copy or write it again. In CSV, all rows have the same number of cells, and "
            "texts that contain the separator are in quotes"
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


def _read_text(path: Path) -> str:
    """Text of a file in UTF-8, with its byte order mark if it has one, or in UTF-16."""
    if path == STANDARD_INPUT:
        content = sys.stdin.buffer.read()
    elif path.suffix.lower() != ".gz":
        content = path.read_bytes()
    else:
        try:
            with gzip.open(path) as file:
                content = file.read(MOST_UNPACKED + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{path.name} must be a complete compressed file ({error})") from error
        if len(content) > MOST_UNPACKED:
            raise InputError(
                f"{path.name} unpacks to more than {MOST_UNPACKED:,} bytes; unpack it yourself if "
                "this size is right"
            )
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


def json_records(path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """Each JSON object of a file with a list of them, with a single one, or with one per line.

    Raises
    ------
    InputError
        The file is empty, binary or damaged, or a value is not an object.
    """
    text = _read_text(path).removeprefix(_BOM)
    try:
        whole = json.loads(text)
        kind, parts = ("item", whole) if isinstance(whole, list) else ("line", [whole])
        values: Iterable[tuple[int, Any]] = enumerate(parts, start=1)
    except (ValueError, RecursionError):  # one object per line, or a damaged file
        kind, values = "line", _parsed_lines(text, path)
    has_halves = _SURROGATE.search(text) is not None
    for n, value in values:
        where = f"{path.name} {kind} {n}"
        if not isinstance(value, dict):
            raise InputError(f"{where}: must be a JSON object, got {value!r:.60}")
        if has_halves:  # Half a surrogate pair cannot be encoded in UTF-8.
            value = json.loads(well_formed(json.dumps(value, ensure_ascii=False)))
        yield value, where


def _parsed_lines(text: str, path: Path) -> Iterator[tuple[int, Any]]:
    for n, line in enumerate(text.split("\n"), start=1):
        try:
            if line.strip():
                yield n, json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"{path.name} line {n}: must be JSON ({error}); if the file is cut off, copy or "
                "write it again"
            ) from error


def _read_separated(path: Path) -> pd.DataFrame:
    text = _read_text(path)
    content = text.removeprefix(_BOM)
    start = content.lstrip("\r\n")[:100_000]
    # The separator that divides the header into most names.
    separator = max(SEPARATORS, key=lambda mark: len(next(_cells(start, mark), [])))
    options: dict[str, Any] = {"dtype": object, "keep_default_na": False, "na_values": [""]}
    with warnings.catch_warnings():
        # Without this, cells beyond the last name would be dropped.
        warnings.simplefilter("error", pd.errors.ParserWarning)
        frame = pd.read_csv(io.StringIO(content), sep=separator, index_col=False, **options)
    if not text.endswith(("\n", "\r")):  # pandas would fill up the last row
        *_, last = _cells(text, separator)
        if len(last) < len(frame.columns):
            raise ValueError(f"the last row has {len(last)} of {len(frame.columns)} cells")
    # Only files with this mark are from `write_table`. Others keep their apostrophes.
    return frame.map(unguarded).rename(columns=unguarded) if text.startswith(_BOM) else frame


def _cells(text: str, separator: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator)


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
        table = pq.read_table(path, partitioning=None)
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
    read = pa.ipc.open_file if content.startswith(b"ARROW1") else pa.ipc.open_stream
    return read(content).read_all()


def _read_eval(path: Path) -> pd.DataFrame:
    """A packed log of inspect_ai as the one JSON object that it is in a JSON file."""
    with zipfile.ZipFile(path) as file:
        members = {info.filename: info for info in file.infolist()}
        if sum(info.file_size for info in members.values()) > MOST_UNPACKED:
            raise ValueError(f"it unpacks to more than {MOST_UNPACKED:,} bytes")
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


# Kind of a table -> what reads it. Of an Excel file, the first sheet is read, with every cell as a text.
_READERS: dict[str, Callable[[Path], pd.DataFrame]] = {
    "jsonl": _read_json,
    "json": _read_json,
    "parquet": _read_arrow,
    "arrow": _read_arrow,
    "xlsx": lambda path: pd.read_excel(path, dtype=str).astype(object),
    "csv": _read_separated,
    "tsv": _read_separated,
    "eval": _read_eval,
}
# What the libraries raise for a file that is damaged or of another kind.
_DAMAGES = (
    *(OSError, EOFError, ValueError, KeyError, TypeError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error, pd.errors.ParserWarning),
)


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

    Other values are returned unchanged.
    """
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):  # perhaps as Python prints it
        text = value.strip()
    try:
        literal = ast.literal_eval(text)
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


def tell(line: str) -> None:
    """Print a line about what was read where warnings appear, in place of a progress line."""
    start = "\r\x1b[K" if sys.stderr.isatty() else ""
    print(f"{start}ragnb: {spelled(line)}", file=sys.stderr)


def json_object(line: bytes, where: str) -> dict[str, Any]:
    """The JSON object of a line."""
    try:
        record = json.loads(line.removeprefix(b"\xef\xbb\xbf").decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} must be a JSON object ({error})") from error
    if not isinstance(record, dict):
        raise InputError(f"{where} must be a JSON object, got {record!r:.60}")
    return record
