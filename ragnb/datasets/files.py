"""Files of benchmarks: where one lies, what it is, and its records one by one, each with its place for messages."""

import ast
import gzip
import io
import json
import os
import re
import tokenize
import warnings
import zlib
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictInt, ValidationError

from ragnb.datasets.catalogue import find, git_blob_sha1, sources_of
from ragnb.errors import InputError
from ragnb.metrics.language import letters_by_script, most_likely_language
from ragnb.text import well_formed

TITLES = {
    "rgb": "an RGB",
    "ragbench": "a RAGBench",
    "evouna": "an EVOUNA",
    "multilingual": "a multilingual",
}
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

Text = Annotated[str, Field(pattern=r"\S")]
"""A text that is not blank."""
Identifier = StrictInt | Annotated[str, Field(min_length=1)]
"""An id as a file writes it: a whole number or a text."""


class Record(BaseModel):
    """Base class of the records of a file format."""

    model_config = ConfigDict(strict=True)


R = TypeVar("R", bound=Record)
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
"""Type of a pydantic error -> what is allowed."""


def locate(source: str | Path, *, benchmark: str, samples: Mapping[str, str]) -> tuple[Path, str]:
    """Path and name of a benchmark file given as a path, a catalogue name or the name of an embedded sample.

    Raises
    ------
    InputError
        Neither a path of a file nor a known name.
    """
    what = f"{TITLES[benchmark]} source"
    if not isinstance(source, str | Path):
        raise InputError(
            f"{what} needs a path or a name; got {type(source).__name__}; see ragnb.catalogue()"
        )
    if source in samples:
        return _packaged(samples[str(source)]), str(source)
    path = Path(os.path.expanduser(source))
    if os.path.isfile(path):
        return path, Path(path.name.removesuffix(".gz")).stem
    if os.path.isdir(path):
        raise InputError(
            f"{what} needs a file; got the folder {str(path)!r}; name a file inside it"
        )
    if isinstance(source, Path) or path.suffix or len(path.parts) > 1:
        raise InputError(
            f"{what} needs a file that exists; got {str(path)!r}, which does not; check the path"
        )
    return find(str(source), benchmark=benchmark), str(source)


def _packaged(file: str) -> Path:
    return Path(str(resources.files("ragnb.datasets") / "data" / file))


def existing_file(source: str | Path, what: str) -> Path:
    """Path of a file that exists; ``what`` says who needs it."""
    path = Path(os.path.expanduser(source))
    if not os.path.isfile(path):
        raise InputError(
            f"{what} needs a file that exists; got {str(path)!r}, which does not; check the path"
        )
    return path


def provenance(
    path: Path, name: str, *, benchmark: str, samples: Mapping[str, str]
) -> dict[str, Any]:
    """What is known of a file: its name, licence and citation, and whether its checksum is that of the catalogue."""
    if name in samples and path == _packaged(
        samples[name]
    ):  # a file of one's own may have the name of a sample
        return {
            "name": name,
            "licence": "CC BY 4.0",
            "citation": "written by the authors of ragnb",
            "verified": True,
        }
    sha1 = git_blob_sha1(path.read_bytes())
    ours = sources_of(benchmark)
    pinned = next((source for source in ours if source.git_sha1 == sha1), None)
    loose = (
        source
        for source in ours
        if source.git_sha1 is None and (source.name == name or source.file == path.name)
    )
    named = pinned or next(loose, None)
    licence, citation = (named.licence, named.citation) if named else ("unknown", "unknown")
    return {
        "name": name,
        "licence": licence,
        "citation": citation,
        "verified": pinned is not None,
        "git_sha1": sha1,
    }


def json_records(path: Path) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Each JSON object of a JSON Lines file, with file and line.

    Raises
    ------
    InputError
        An empty or binary file, or a line that is no JSON object.
    """
    for number, line in enumerate(_content(path).split(b"\n"), start=1):
        if line.strip():
            where = f"{path.name} line {number}"
            yield json_object(line, where), where


def json_items(path: Path) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Each JSON object of a file that holds a list of them, a single one, or one a line, with its place.

    Raises
    ------
    InputError
        An empty, binary or damaged file, or an item that is no JSON object.
    """
    value, rest = _first_value(_content(path), path.name)
    if rest:
        yield from json_records(path)
        return
    for number, item in enumerate(value if isinstance(value, list) else [value], start=1):
        where = f"{path.name} item {number}"
        if not isinstance(item, dict):
            raise InputError(
                f"{where} needs to be a JSON object; got a {type(item).__name__}; mend it"
            )
        yield item, where


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
        raise InputError(_complaint(error.errors(include_url=False), record, where)) from None


def _complaint(errors: list[Any], record: Mapping[str, Any], where: str) -> str:
    missing = [error for error in errors if error["type"] == "missing"]
    if missing:
        parent = missing[0]["loc"][:-1]
        names = [str(error["loc"][-1]) for error in missing if error["loc"][:-1] == parent]
        place = _place(where, _path(parent, record))
        got = ", ".join(map(str, missing[0]["input"])) or "none"
        return f"{place}: must have the key{'s'[: len(names) - 1]} {', '.join(names)}, got {got}"
    paths = [_path(error["loc"], record) for error in errors]
    # Of a union we report the value deepest inside that most of its types refuse.
    first = [path for path in paths if path[:1] == paths[0][:1]]
    worst = max(first, key=lambda path: (len(path), first.count(path)))
    here = [error for error, path in zip(errors, paths, strict=True) if path == worst]
    place = _place(where, worst)
    if here[0]["type"] == "value_error":
        return f"{place}: {here[0]['ctx']['error']}"
    allowed = [_ALLOWED.get(one["type"], one["msg"]).format(**one.get("ctx", {})) for one in here]
    return f"{place}: must be {' or '.join(dict.fromkeys(allowed))}, got {here[0]['input']!r:.60}"


def _path(loc: tuple[int | str, ...], value: Any) -> tuple[int | str, ...]:
    """The keys and positions in a location of pydantic, without the names of its types."""
    path: list[int | str] = []
    for part in loc:
        if isinstance(part, int) or (isinstance(value, dict) and part in value):
            path.append(part)
            found = isinstance(value, list | dict)
            value = value[part] if found else None
    return tuple(path)


def _place(where: str, path: tuple[int | str, ...]) -> str:
    if not path:
        return where
    inner = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in path[1:])
    return f"{where}, key {path[0]}{''.join(inner)}"


def _content(path: Path) -> bytes:
    """Bytes of a file that is not empty, unpacked if its name ends in .gz, without byte order mark."""
    content = path.read_bytes()
    try:
        content = gzip.decompress(content) if path.suffix == ".gz" else content
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            f"{path.name} needs to be a whole compressed file; got {error}; fetch it again"
        ) from error
    content = content.removeprefix(BOM_UTF8)
    if not content.strip():
        raise InputError(
            f"{path.name} needs one JSON object a line; got an empty file; check the download"
        )
    return content


def _first_value(content: bytes, name: str) -> tuple[Any, str]:
    """The first JSON value of a file, and what stands behind it."""
    try:
        written = content.decode("utf-8").strip()
        value, end = json.JSONDecoder().raw_decode(written)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} needs UTF-8 text; got byte 0x{content[error.start]:02x} at {error.start}; is this a binary or "
            "compressed file?"
        ) from error
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{name} needs JSON; got {error}; mend the file, or fetch it again"
        ) from error
    return _well_formed(value, written), written[end:].strip()


def json_object(line: bytes, where: str, *, exact: bool = False) -> dict[str, Any]:
    """The JSON object of a line, or an InputError that says where there is none; ``exact`` as in `json_value`."""
    try:
        record = json_value(line.removeprefix(BOM_UTF8).decode("utf-8"), exact=exact)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{where} needs UTF-8 text; got byte 0x{line[error.start]:02x} at column {error.start + 1}; "
            "is this a binary or compressed file?"
        ) from error
    except json.JSONDecodeError as error:
        raise InputError(
            f"{where} needs one JSON object; got {error.msg} at column {error.colno}; mend or remove the line"
        ) from error
    except ValueError as error:
        raise InputError(
            f"{where} needs one JSON object; got {error}; mend or remove the line"
        ) from error
    if not isinstance(record, dict):
        raise InputError(
            f"{where} needs one JSON object; got a {type(record).__name__}; mend or remove the line"
        )
    return record


def json_value(written: str, *, exact: bool = False) -> Any:
    """The value of a JSON text; half a surrogate pair, which no file in UTF-8 can hold, becomes U+FFFD unless ``exact``.

    Raises
    ------
    ValueError
        No JSON, numbers of thousands of digits, or brackets too deep for Python.

    >>> json_value(r'["\\ud83d\\ude42", "\\ud83d"]') == ["🙂", "\\ufffd"]
    True
    """
    try:
        value = json.loads(written)
        return value if exact else _well_formed(value, written)
    except RecursionError as error:
        raise ValueError("brackets nested too deep") from error


def _well_formed(value: Any, written: str) -> Any:
    halves = _SURROGATE.search(written)
    return json.loads(well_formed(json.dumps(value, ensure_ascii=False))) if halves else value


def parsed(value: Any) -> Any:
    """Parse a list that was stored as a text, as JSON or as Python prints it.

    Other values are returned unchanged.
    """
    if not isinstance(value, str):
        return value
    try:
        return json_value(value)
    except ValueError:
        return _python_literal(value)


def _python_literal(value: str) -> Any:
    try:
        tree = ast.parse(value.strip(), mode="eval")
        literal = ast.literal_eval(tree)
        tokens = list(tokenize.generate_tokens(io.StringIO(value.strip()).readline))
    except (ValueError, SyntaxError, RecursionError, MemoryError, tokenize.TokenError) as error:
        raise InputError(
            f"must be a list written as JSON or Python, got {value[:40]!r}; export it again"
        ) from error
    written = sum(token.type == tokenize.STRING for token in tokens)
    texts = [node for node in ast.walk(tree) if isinstance(getattr(node, "value", None), str)]
    if written != len(texts):  # numpy prints ['0a' '0b'], which Python would read as ['0a0b']
        raise InputError(
            f"must have commas between the items of a list, got {value[:40]!r}; export lists, not "
            "arrays"
        )
    return literal


def texts(value: Any, where: str) -> list[str]:
    """A list of texts, or an InputError that says where it is not one."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        got = (
            type(value).__name__
            if not isinstance(value, list)
            else "a list with other things in it"
        )
        raise InputError(f"{where} needs a list of texts; got {got}; write a JSON list of strings")
    return list(value)


def refuse_duplicates(identifiers: Iterable[str], file: str) -> None:
    """Raise InputError if an id stands twice."""
    doubled = [i for i, count in Counter(identifiers).items() if count > 1]
    if doubled:
        got = ", ".join(doubled[:5])
        raise InputError(
            f"{file} needs a different id for every question; got {got} more than once; number them anew"
        )


def guess_language(questions: Iterable[str]) -> str:
    """Language of most questions, identified from their text; English and Chinese are accepted without a warning.

    A language is identified if its mean probability over the questions is above 0.5. At most 1,000 questions, evenly spaced
    over the file, are read. Where no language is identified, English is assumed with a warning if most letters are Latin,
    and Chinese if most are Han.

    Raises
    ------
    InputError
        No language is identified, and most letters are of another script.
    """
    asked = list(questions)
    asked = asked[:: len(asked) // 1000 + 1]
    code, probability = most_likely_language(asked)
    if probability > 0.5:
        if code not in ("en", "zh"):
            warnings.warn(
                f"no language was given, and the questions look like {code!r}; pass language={code!r} (--language {code} on "
                "the command line) to confirm this, or the code of another language",
                stacklevel=3,
            )
        return code
    script = next((name for name, _ in letters_by_script(" ".join(asked)).most_common(1)), "Latin")
    if script not in ("Latin", "Han"):
        raise InputError(
            f"the language of the questions could not be identified, and most of their letters are {script}; pass language= "
            "(--language on the command line), such as 'hi' or 'ru'"
        )
    assumed = "zh" if script == "Han" else "en"
    warnings.warn(
        f"no language was given, and the questions have too little text to identify one; {assumed!r} is assumed; pass "
        "language= (--language on the command line) to name it",
        stacklevel=3,
    )
    return assumed
