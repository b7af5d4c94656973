"""Records of files, checked against a pydantic model."""

# Tested in tests/datasets/test_rgb.py.

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictInt, ValidationError

from ragnb.errors import InputError

# A text that is not blank.
Text = Annotated[str, Field(pattern=r"\S")]


# An id as a file writes it: a whole number or a text.
Identifier = StrictInt | Annotated[str, Field(min_length=1)]


class Record(BaseModel):
    """Base class of the records of a file format. Values are not converted to other types."""

    model_config = ConfigDict(strict=True)


Row = dict[str, Any]


R = TypeVar("R", bound=BaseModel)


# Type of a pydantic error -> what the message says is allowed.
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
        problems: list[Any] = error.errors(include_url=False)
    # If several types are allowed for a key, each of them gives an error. The type that fits best fails
    # at the deepest place inside the value, so its errors are reported.
    paths = [_path(problem["loc"], record) for problem in problems]
    paths_of_first_key = [path for path in paths if path[:1] == paths[0][:1]]
    deepest = max(paths_of_first_key, key=len)
    problems = [problem for problem, path in zip(problems, paths, strict=True) if path == deepest]
    first = problems[0]
    place = f"{where}, {_key_words(deepest)}" if deepest else where
    missing = [str(problem["loc"][-1]) for problem in problems if problem["type"] == "missing"]
    if missing:
        present_keys = ", ".join(map(str, first["input"])) or "none"
        raise InputError(f"{place}: must have the key {' and '.join(missing)}, got {present_keys}")
    if first["type"] == "value_error":
        raise InputError(f"{place}: {first['ctx']['error']}")
    allowed = []
    for problem in problems:
        words = _ALLOWED.get(problem["type"], problem["msg"])
        allowed.append(words.format(**problem.get("ctx", {})))
    alternatives = " or ".join(dict.fromkeys(allowed))
    raise InputError(f"{place}: must be {alternatives}, got {first['input']!r:.60}")


def _key_words(path: tuple[int | str, ...]) -> str:
    """A path as messages write it: ``key answers[0].text``."""
    steps = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in path[1:]]
    return f"key {path[0]}{''.join(steps)}"


def _path(loc: tuple[int | str, ...], value: Any) -> tuple[int | str, ...]:
    """The keys and positions in the location of a pydantic error, without the names of types in it."""
    path: list[int | str] = []
    for part in loc:
        if isinstance(part, int) or (isinstance(value, dict) and part in value):
            path.append(part)
            value = value[part] if isinstance(value, list | dict) else None  # type: ignore[index]
    return tuple(path)
