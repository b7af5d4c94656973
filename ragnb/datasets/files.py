"""Files: where they are, what kind of table their names indicate, and where their data come from."""

# Tested in tests/datasets/test_sources.py.

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from glob import glob, has_magic
from importlib import resources
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.datasets.frames import frame_of
from ragnb.datasets.sources import find, git_blob_sha1, sources_of
from ragnb.errors import InputError
from ragnb.suggestions import similar_names

# Folder of the data in the package.
PACKAGED_DATA = Path(str(resources.files("ragnb.datasets") / "data"))
# Represents JSON Lines from standard input, which a user calls ``-``.
STANDARD_INPUT = Path("stdin.jsonl")
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
# The file by which a folder that ``save_to_disk`` wrote is recognised. It names the other files.
SAVED_TO_DISK = "state.json"
# Kinds of tables that are Excel files, and all kinds in which every cell is a text.
WORKBOOKS = ("xlsx", "xlsm")
CELLS = (*WORKBOOKS, "csv", "tsv")
# Kinds of tables that can be read.
TABLES = ("jsonl", "json", "ndjson", "parquet", "arrow", *CELLS, "eval")
_OTHER_SPREADSHEETS = ("xls", "xlsb", "ods", "numbers", "gsheet")
# Beginning of an address on the internet. One slash is enough, because Path makes one of two.
_ADDRESS = re.compile(r"(?:https?|ftp|s3|gs|hf):/", re.IGNORECASE)


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
        inside = ", ".join(sorted(member.name for member in path.iterdir())[:5])
        raise InputError(
            f"{str(path)!r} is a folder; name a file inside it: {inside or 'it is empty'}"
        )
    if not exists:
        raise InputError(f"the file {str(path)!r} does not exist{_nearby(path)}")
    return path


def several_files(source: Any) -> list[Any] | None:
    """The files of a list of files, or those that match a pattern such as ``"runs/*.jsonl"``.

    Patterns and lists inside a list are replaced by their files. The result is None if the source is
    neither a list nor a pattern.

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
        names = sorted(member.name for member in folder.iterdir())
    except OSError:
        return ""
    names = [name for name in names if not name.startswith(".")]
    similar = [str(folder / name) for name in similar_names(path.name, names)]
    if similar:
        return f"; did you mean {' or '.join(map(repr, similar))}?"
    tables = [name for name in names if ending_of(Path(name)) in TABLES]
    return f"; tables in {str(folder.resolve())!r}: {', '.join(tables[:5]) or 'none'}"


def locate(source: str | Path, *, benchmark: str) -> tuple[Path, str]:
    """Find a benchmark file by its path, its name in the catalogue, or the name of a sample.

    The result is the path of the file, and its name.

    Raises
    ------
    InputError
        Neither the path of a file nor a known name.
    """
    samples = SAMPLES.get(benchmark, {})
    if source in samples:
        return PACKAGED_DATA / samples[str(source)], str(source)
    path = Path(os.path.expanduser(source))
    # A name in the catalogue has neither an ending nor a folder.
    is_name = isinstance(source, str) and not path.suffix and len(path.parts) == 1
    if is_name and not os.path.exists(path):
        return find(str(source), benchmark=benchmark, samples=samples), str(source)
    return existing_file(path), stem(path)


def stem(path: Path) -> str:
    """Name of a file without its ending.

    >>> stem(Path("runs/gpt.v2.csv.gz"))
    'gpt.v2'
    """
    return Path(path.name.removesuffix(".gz")).stem


def provenance(path: Path, name: str, *, benchmark: str) -> dict[str, Any]:
    """Describe a file: its name, licence and citation, and whether its checksum is in the catalogue.

    A file that is not in the package also has its checksum, as ``git_sha1``.
    """
    if path.parent == PACKAGED_DATA:
        licence, citation = "CC BY 4.0", "written by the authors of ragnb"
        return {"name": name, "licence": licence, "citation": citation, "verified": True}
    if not path.is_file():
        # A folder of Arrow files has no content of its own, so it has no checksum. No published file is a folder.
        return {"name": name, "licence": "unknown", "citation": "unknown", "verified": False}
    sha1 = git_blob_sha1(path.read_bytes())
    sources = sources_of(benchmark)
    same_content = [source for source in sources if source.git_sha1 == sha1]
    # A source without a checksum can be recognised only by its name.
    unchecked = [source for source in sources if not source.git_sha1]
    same_name = [source for source in unchecked if source.name == name or source.file == path.name]
    source = next(iter(same_content + same_name), None)
    return {
        "name": name,
        "licence": source.licence if source else "unknown",
        "citation": source.citation if source else "unknown",
        "verified": bool(same_content),
        "git_sha1": sha1,
    }


def benchmark_frame(
    rows: Sequence[Mapping[str, Any]], first: Iterable[str], path: Path, name: str, benchmark: str
) -> pd.DataFrame:
    """The rows of a benchmark file as a frame, with the provenance of the file in ``attrs["source"]``.

    The columns in `first` come first, also those that no row has.
    """
    if not rows:
        raise InputError(f"{path.name} must contain at least one record, got none")
    frame = frame_of(rows, first)
    frame.attrs["source"] = provenance(path, name, benchmark=benchmark)
    return frame


def kind_of(path: Path) -> str:
    """The kind of a table, which is the ending of its name; a folder contains Arrow files."""
    kind = "arrow" if path.is_dir() else ending_of(path)
    if kind in TABLES:
        return kind
    advice = "ragnb.load_run reads the files of TREC"
    if kind in _OTHER_SPREADSHEETS:
        advice = 'save this spreadsheet as .xlsx or as "CSV UTF-8"'
    raise InputError(
        f"the name of a table must end in .{', .'.join(TABLES)} (or one of these and .gz), got "
        f"{path.name!r}; {advice}"
    )


def ending_of(path: Path) -> str:
    """The ending of a file's name in lower case, without ``.gz`` and without its dot."""
    return Path(path.name.lower().removesuffix(".gz")).suffix[1:]
