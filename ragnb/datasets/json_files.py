"""JSON and JSON Lines: the objects of a file, each with its place for messages."""

# Tested in tests/datasets/test_responses.py.

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ragnb.datasets.contents import BYTE_ORDER_MARK, read_text
from ragnb.datasets.files import WORKBOOKS, ending_of
from ragnb.errors import InputError
from ragnb.text import well_formed

# Most levels of lists and objects in JSON.
MOST_NESTED = 100


# What may be between two JSON values in a file: white space and commas. The next value must follow, so that
# the end of the file does not match.
_GAP = re.compile(r"[\s,]*(?=\S)")


_DECODER = json.JSONDecoder()


# The escape of half a surrogate pair.
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def json_records(path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each JSON object of a file, with its place for messages.

    A file may contain a list of objects, a single object, or several objects one after the other, each
    in one line, as in JSON Lines, or in several lines.

    Raises
    ------
    InputError
        The file is empty, binary or damaged, or a value is not an object.
    """
    if ending_of(path) in (*WORKBOOKS, "csv", "tsv", "parquet", "arrow"):
        raise InputError(
            f"{path.name} is a table, and this function reads JSON or JSON Lines in the format of a "
            "benchmark or tool. To load responses from a table, use ragnb.load_responses"
        )
    text = read_text(path).removeprefix(BYTE_ORDER_MARK)
    try:
        whole = json.loads(text)
        kind, parts = ("item", whole) if isinstance(whole, list) else ("line", [whole])
        may_be_deep = _may_be_deep(text)
        values: Iterable[tuple[int, Any, bool]] = (
            (n, part, may_be_deep) for n, part in enumerate(parts, start=1)
        )
    except (ValueError, RecursionError):
        # There are several objects, or the file is damaged.
        kind, values = "line", _parsed_objects(text, path)
    has_surrogates = _SURROGATE.search(text) is not None
    for n, value, may_be_deep in values:
        where = f"{path.name} {kind} {n}"
        if not isinstance(value, dict):
            raise InputError(f"{where}: must be a JSON object, got {value!r:.60}")
        if may_be_deep:
            _refuse_deep(value, where)
        if has_surrogates:
            # Half a surrogate pair cannot be encoded in UTF-8, so it is replaced.
            value = json.loads(well_formed(json.dumps(value, ensure_ascii=False)))
        yield value, where


def _parsed_objects(text: str, path: Path) -> Iterator[tuple[int, Any, bool]]:
    """The objects of JSON Lines, or of a file in which an object takes several lines.

    With each object are the number of its line and whether it may be nested too deeply.
    """
    lines = text.split("\n")
    first_line = next(line for line in lines if line.strip())
    try:
        json.loads(first_line)
    except (ValueError, RecursionError):
        yield from _parsed_in_turn(text, path)
        return
    for n, line in enumerate(lines, start=1):
        if line.strip():
            try:
                value = _parsed(line)
            except (ValueError, RecursionError) as error:
                raise _not_json(path, n, line, error) from error
            yield n, value, _may_be_deep(line)


def _parsed(line: str) -> Any:
    """The value of a line of JSON, as `json.loads` returns it.

    For short lines, `json.loads` takes as much time to look for blanks around the value as to parse it.
    """
    text = line.strip(" \t\r")
    try:
        value, end = _DECODER.raw_decode(text)
    except ValueError:
        end = None
    # The error for a damaged line names the place in the line as it is in the file.
    return value if end == len(text) else json.loads(line)


def _parsed_in_turn(text: str, path: Path) -> Iterator[tuple[int, Any, bool]]:
    """The values of a file one after the other, each with the number of the line in which it begins."""
    place = 0
    line = 1
    while gap := _GAP.match(text, place):
        line += text.count("\n", place, gap.end())
        place = gap.end()
        try:
            value, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            raise _not_json(path, line, text[place : place + 100], error) from error
        yield line, value, True
        line += text.count("\n", place, end)
        place = end


def _not_json(path: Path, line: int, text: str, error: Exception) -> InputError:
    """The error for a text that is not JSON, with advice that depends on how the text begins."""
    advice = "if the file is cut off, copy or write it again"
    if not text.lstrip().startswith(("{", "[")):
        start = text.strip().partition("\n")[0]
        advice = f"it begins with {start!r:.60}. If it is a table, name it .csv"
    elif text.lstrip().startswith(("{'", "[{'")):
        advice = "it is written as Python prints it; write it with json.dumps or ragnb.write_table"
    return InputError(f"{path.name} line {line}: must be JSON ({error}); {advice}")


def _may_be_deep(text: str) -> bool:
    """Whether a text has more opening brackets than `_refuse_deep` allows levels."""
    return text.count("[") + text.count("{") > MOST_NESTED


def _refuse_deep(value: Any, where: str) -> None:
    """Raise InputError if lists and objects are nested too deeply for the functions that read them."""
    # All lists and objects at one level of nesting, from the outermost level inwards.
    level = [value]
    for _ in range(MOST_NESTED):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) in (dict, list)
        ]
        if not level:
            return
    raise InputError(f"{where}: must have at most {MOST_NESTED} levels of lists and objects")


def json_object(line: bytes, where: str) -> dict[str, Any]:
    """The JSON object of a line. Anything else, and an object that is nested too deeply, raise InputError."""
    try:
        record = json.loads(line.removeprefix(b"\xef\xbb\xbf").decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} must be a JSON object ({error})") from error
    if not isinstance(record, dict):
        raise InputError(f"{where} must be a JSON object, got {record!r:.60}")
    _refuse_deep(record, where)
    return record
