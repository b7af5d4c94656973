"""Files of benchmarks: where one lies, what it is, and its records one by one, each with its place for messages."""

import json
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from ragnb.datasets.catalogue import CATALOGUE, find, git_blob_sha1
from ragnb.errors import InputError
from ragnb.text import scripts

TITLES = {"rgb": "an RGB", "ragbench": "a RAGBench", "evouna": "an EVOUNA"}


def locate(source: str | Path, *, benchmark: str, samples: Mapping[str, str]) -> tuple[Path, str]:
    """Path and name of a benchmark file given as a path, a catalogue name or the name of an embedded sample.

    Raises
    ------
    InputError
        Neither a path of a file nor a known name.
    """
    what = f"{TITLES[benchmark]} source"
    if not isinstance(source, str | Path):
        raise InputError(f"{what} needs a path or a name; got {type(source).__name__}; see ragnb.catalogue()")
    if source in samples:
        return Path(str(resources.files("ragnb.datasets") / "data" / samples[str(source)])), str(source)
    path = Path(source).expanduser()
    if path.is_file():
        return path, path.stem
    if path.is_dir():
        raise InputError(f"{what} needs a file; got the folder {str(path)!r}; name a file inside it")
    if isinstance(source, Path) or path.suffix or len(path.parts) > 1:
        raise InputError(f"{what} needs a file that exists; got {str(path)!r}, which does not; check the path")
    return find(str(source), benchmark=benchmark), str(source)


def provenance(path: Path, name: str, *, benchmark: str, samples: Mapping[str, str]) -> dict[str, Any]:
    """What is known of a file: its name, licence and citation, and whether its checksum is that of the catalogue."""
    if name in samples:
        return {"name": name, "licence": "CC BY 4.0", "citation": "written by the authors of ragnb", "verified": True}
    sha1 = git_blob_sha1(path.read_bytes())
    ours = [source for source in CATALOGUE.values() if source.benchmark == benchmark]
    pinned = next((source for source in ours if source.git_sha1 == sha1), None)
    named = pinned or next((source for source in ours if source.name == name and source.git_sha1 is None), None)
    licence, citation = (named.licence, named.citation) if named else ("unknown", "unknown")
    return {"name": name, "licence": licence, "citation": citation, "verified": pinned is not None, "git_sha1": sha1}


def json_records(path: Path) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Each JSON object of a JSON Lines file, with file and line.

    Raises
    ------
    InputError
        An empty or binary file, or a line that is no JSON object.
    """
    content = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    if not content.strip():
        raise InputError(f"{path.name} needs one JSON object a line; got an empty file; check the download")
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.strip():
            where = f"{path.name} line {number}"
            yield _object(line, where), where


def _object(line: bytes, where: str) -> Mapping[str, Any]:
    try:
        record = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InputError(
            f"{where} needs UTF-8 text; got byte 0x{line[error.start]:02x} at column {error.start + 1}; "
            "is this a binary or compressed file?"
        ) from error
    except json.JSONDecodeError as error:
        raise InputError(
            f"{where} needs one JSON object; got {error.msg} at column {error.colno}; mend or remove the line"
        ) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} needs one JSON object; got {error}; mend or remove the line") from error
    if not isinstance(record, dict):
        raise InputError(f"{where} needs one JSON object; got a {type(record).__name__}; write one object a line")
    return record


def texts(value: Any, where: str) -> list[str]:
    """A list of texts, or an InputError that says where it is not one."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        got = type(value).__name__ if not isinstance(value, list) else "a list with other things in it"
        raise InputError(f"{where} needs a list of texts; got {got}; write a JSON list of strings")
    return list(value)


def text(value: Any, where: str) -> str:
    """A text that is not empty, or an InputError that says where it is not one."""
    if not isinstance(value, str) or not value.strip():
        got = repr(value) if isinstance(value, str) else type(value).__name__
        raise InputError(f"{where} needs a text that is not empty; got {got}; write a JSON string")
    return value


def guess_language(questions: Iterable[str]) -> str:
    """``"zh"`` when most questions hold Han characters, else ``"en"``."""
    han = [scripts(question)["Han"] > 0 for question in questions]
    return "zh" if sum(han) > len(han) / 2 else "en"
