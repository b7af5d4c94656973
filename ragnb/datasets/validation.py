"""Records of files, checked against a pydantic model."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictInt, ValidationError

from ragnb.errors import InputError

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
