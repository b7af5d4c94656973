"""Why a reply is no record, in a line."""

import json
from typing import Any

from pydantic import ValidationError

LONGEST_REASON = 200
"""Characters of a reason."""

_WORDS = {
    "missing": "required but missing",
    "greater_than_equal": "{shown} is below {ge}",
    "less_than_equal": "{shown} is above {le}",
    "greater_than": "{shown} is not above {gt}",
    "less_than": "{shown} is not below {lt}",
    "literal_error": "{shown} is not {expected}",
    "enum": "{shown} is not {expected}",
    "int_type": "{shown} is not an integer",
    "float_type": "{shown} is not a number",
    "bool_type": "{shown} is not true or false",
    "string_type": "{shown} is not a string",
    "list_type": "{shown} is not a list",
    "extra_forbidden": "not a field of the schema",
}


def complaint(error: ValidationError) -> str:
    """The first of pydantic's errors, in a line: ``score: 7 is above 5 (less_than_equal)``."""
    first, *others = error.errors(include_url=False)
    words = _WORDS.get(first["type"])
    said = (
        words.format(shown=shown_value(first["input"]), **first.get("ctx", {}))
        if words
        else first["msg"]
    )
    more = f"; and {len(others)} more" if others else ""
    place = ".".join(map(str, first["loc"])) or "the record"
    return f"{place[:60]}: {said[:100]} ({first['type']}){more}"


def shown_value(value: Any) -> str:
    """A value as JSON, shortened."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else text[:39] + "…"


def one_line(text: str) -> str:
    """Text on one line, printable signs only, at most 200 characters."""
    printable = "".join(sign if sign.isprintable() else " " for sign in text[: 5 * LONGEST_REASON])
    line = " ".join(printable.split())
    return line if len(line) <= LONGEST_REASON else line[: LONGEST_REASON - 1] + "…"
