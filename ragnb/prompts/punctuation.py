"""Broken JSON mended where only its punctuation is wrong: quotes, commas, comments, Python's True and None."""

import re
from collections.abc import Iterator
from typing import Any

from ragnb.text import well_formed

_STRING = re.compile(r""""(?:[^"\\]|\\.?)*+"?|(?<=[{\[(,:\s])'(?:[^'\\]|\\.?)*+'?""", re.DOTALL)
_STRING_OR_COMMENT = re.compile(
    rf"({_STRING.pattern})|//[^\n]*+|#[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?", re.DOTALL
)
_GOES_ON = re.compile(r"\s*+[^\s,:}\])]")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_PUNCTUATION = re.compile(r"""[\s\x00-\x1f"'“”‘’{}\[\](),:\\]+""")


class Unfaithful(ValueError):
    """An object cannot be repaired without guessing."""


def repaired(source: str) -> dict[str, Any]:
    """The value that json-repair makes of a broken object, if only its punctuation had to change.

    Left to itself json-repair guesses: it makes 4 of ``4 or 5`` and 3 of ``<3``.

    Raises
    ------
    Unfaithful
        More than punctuation would have to change, or the text is beyond repair.
    """
    import json_repair

    try:
        value = json_repair.repair_json(
            source, return_objects=True, skip_json_loads=True, strict=True
        )
    except Exception as error:  # a guesser may fail in any way on a text that was made to break it
        raise Unfaithful from error
    if not isinstance(value, dict) or not _is_faithful(source, value):
        raise Unfaithful
    return value


def _is_faithful(source: str, value: dict[str, Any]) -> bool:
    """Whether a repair changed punctuation only, and no string has quotes inside, which might be a quoted verdict."""
    bare = _STRING_OR_COMMENT.sub(lambda match: match.group(1) or " ", source)
    if any(_GOES_ON.match(bare, string.end()) for string in _STRING.finditer(bare)):
        return False
    return _content(_ESCAPE.sub(_unescaped, bare)) == _content("".join(_scalars(value)))


def _scalars(value: Any) -> Iterator[str]:
    """Keys and values in order, as text."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield str(name)
            yield from _scalars(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _scalars(part)
    else:
        yield str(value)


def _unescaped(match: re.Match[str]) -> str:
    code, sign = match.groups()
    return chr(int(code, 16)) if code else " " if sign in "bfnrt" else sign


def _content(text: str) -> str:
    """Words, numbers and signs of an object, in order: what a repair must leave as it is."""
    return _PUNCTUATION.sub("", well_formed(text)).casefold().replace("none", "null")
