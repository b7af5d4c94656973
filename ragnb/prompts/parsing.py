"""A model's reply read as a validated record, or one line that says why it cannot be.

A judgement is never guessed: what a reader could take in two ways is left unread, with the reason.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, RootModel, ValidationError

from ragnb.errors import InputError
from ragnb.prompts.complaints import LONGEST_REASON, complaint, one_line, shown_value
from ragnb.prompts.punctuation import Unfaithful, repaired
from ragnb.text import strip_reasoning, well_formed

Record = TypeVar("Record", bound=BaseModel)

DEEPEST = 64
"""Levels of brackets in an object; deeper ones are not read."""
MOST_OBJECTS = 100
"""Objects side by side in a reply; a reply with more is no judgement."""
LONGEST_REPAIR = 20_000
"""Characters of a reply's objects together; longer ones have to be JSON as they stand."""
LONGEST_INTEGER = 300
"""Digits of an integer; longer ones may be out of a float's range."""

_START = re.compile(r"""\{(?=\s*+(?:["'“}/\#]|[^\W\d]\w*+\s*+:))""")
_TOKEN = re.compile(
    r""""(?:[^"\\]|\\.?)*+("?)|(?<=[{\[(,:\s])'(?:[^'\\]|\\.?)*+('?)|[{}\[\]]""", re.DOTALL
)
_STEP = {"{": 1, "[": 1, "}": -1, "]": -1}
_COMPLETE = ('"', "'", "}", "]", "true", "false", "null", "True", "False", "None")
_FENCE = re.compile(r"(?:```|~~~)[\w.+-]*\s*\Z")


@dataclass(frozen=True, slots=True)
class Parsed(Generic[Record]):
    """What a reply says: a validated record, or one line that says why there is none; never both, never neither.

    ``found`` is the way to the JSON: ``plain`` (the reply is one object), ``fence`` (in a code fence), ``embedded`` (inside
    prose), ``closed`` (only the last brace was missing), ``repaired`` (by json-repair); None when no record was read.
    """

    record: Record | None = None
    reason: str | None = None
    found: str | None = None

    def __post_init__(self) -> None:
        if (self.record is None) == (self.reason is None):
            raise InputError(
                "a Parsed needs a record or a reason; got both or neither; give one of them"
            )


@dataclass(frozen=True, slots=True)
class _Object:
    """An outermost object in a reply; ``fault`` says why it is not read at all."""

    source: str
    way: str
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class _Reading(Generic[Record]):
    """What one object says, and whether it speaks for the reply: it names a field of the schema."""

    parsed: Parsed[Record]
    speaks: bool


class _Unreadable(ValueError):
    """An object cannot be read; the message is the reason."""


def parse_reply(text: str | None, schema: type[Record]) -> Parsed[Record]:
    """The record in a model's reply, or the reason why there is none.

    The last outermost object that names a field of the schema speaks for the reply. Time grows with the length of the
    reply, whatever it holds; no text makes it raise.

    Parameters
    ----------
    text
        The reply; None when there is none.
    schema
        A pydantic model with fields; what it forbids is left unread, never bent.

    Returns
    -------
    Parsed
        ``record``, an instance of ``schema``, or ``reason``, one printable line of at most 200 characters.

    Raises
    ------
    InputError
        ``schema`` is no pydantic model with named fields.

    Notes
    -----
    ==============================  ====================================================================================
    Reply                           Decision
    ==============================  ====================================================================================
    ``<think>`` passages            left out, also when only ``</think>`` is there; not looked for when the whole reply is
                                    one object; an unclosed one reaches to the end: "reasoning only"
    fences, prose before, after     left out; objects anywhere in the text are found, brackets inside strings are text
    object inside another           not looked at: a quotation inside a broken object is never its verdict
    list, wrapper around a record   objects in a list are read as several objects; a wrapper object is not opened
    several objects                 the last one that names a field decides, and must be valid; earlier ones that are valid
                                    must say the same, or there is a reason; earlier invalid ones (drafts, an echo of the
                                    asked form) and objects that name no field are passed over
    line breaks in strings          accepted
    single quotes, trailing         repaired by json-repair, and accepted only when words, numbers and signs are the same
    commas, comments, True, None,   before and after, in the same order: ``4 or 5``, ``<3``, ``4%`` and keys given twice stay
    bare words                      unread, ``4/5`` and ``4,5`` become texts, which no number field takes
    quotes inside a string          unread, like a missing comma: what is inside may be a quotation that looks like a verdict
    cut off                         accepted when only the last brace is missing, behind a finished string, list, object,
                                    true, false or null; a number may have gone on, a comma or an open list announces more
    wrong types                     pydantic's strict mode for JSON: "4" is not 4, true is not 1, 1 is not true, 4 is no
                                    text; 4 is 4.0 and 4.0 is 4, for JSON has one kind of number. A schema that wants more
                                    says so with a ``BeforeValidator``
    out of range                    a reason, never clipped
    extra keys                      the schema's ``extra`` decides (pydantic ignores them unless told otherwise)
    keys given twice                accepted when the values are the same, else a reason
    NaN, Infinity, 1e999            a reason; so are integers of more than 300 digits
    none of the fields, ``{}``      a reason, even if every field has a default: nothing was said
    empty, none, refusal            a reason; a refusal's own words begin it
    lone surrogates                 U+FFFD, as any decoder does: a record can be saved as UTF-8
    nested deeper than 64           a reason
    more than 100 objects           a reason
    broken, and very long           a reason: objects of more than 20,000 characters together are not repaired
    ==============================  ====================================================================================

    Examples
    --------
    >>> from typing import Literal
    >>> from pydantic import BaseModel, Field
    >>> class Judgement(BaseModel):
    ...     verdict: Literal["yes", "no"]
    ...     score: int = Field(ge=1, le=5)
    >>> parse_reply('<think>Hm.</think>Sure: {"verdict": "yes", "score": 4}', Judgement)
    Parsed(record=Judgement(verdict='yes', score=4), reason=None, found='embedded')
    >>> parse_reply("{'verdict': 'no', 'score': 7,}", Judgement).reason
    'score: 7 is above 5 (less_than_equal)'
    """
    _check(schema)
    if not isinstance(text, str):
        return Parsed(reason="there is no reply")
    answer = _answer(text)
    objects = list(islice(_objects(answer), MOST_OBJECTS + 1))
    if not objects:
        return Parsed(reason=one_line(_nothing(text, answer)))
    if len(objects) > MOST_OBJECTS:
        return Parsed(reason=f"more than {MOST_OBJECTS} JSON objects in the reply")
    repair = sum(len(item.source) for item in objects) <= LONGEST_REPAIR
    return _decision([_read(item, schema, repair=repair) for item in objects])


def repair_message(reason: str, schema: type[BaseModel]) -> str:
    """What a repair turn says to the model: why its reply cannot be used, and the form that is asked for."""
    form = json.dumps(strict_schema(schema), ensure_ascii=False)
    return (
        f"Your reply cannot be used. {reason}\nReply again with one JSON object and nothing else. It has to fit this JSON "
        f"schema:\n{form}"
    )


def strict_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """JSON schema of a model as structured outputs want it: every field required, no others, no titles, no defaults.

    Raises
    ------
    InputError
        ``schema`` is no pydantic model with named fields.
    """
    _check(schema)
    tightened: dict[str, Any] = _tightened(schema.model_json_schema())
    return tightened


def _check(schema: type[BaseModel]) -> None:
    fits = (
        isinstance(schema, type)
        and issubclass(schema, BaseModel)
        and not issubclass(schema, RootModel)
    )
    if not fits or not schema.model_fields:
        raise InputError(f"a reply is read with a pydantic model that has fields; got {schema!r:.80}; write a subclass of "
                         "pydantic.BaseModel with the fields of the record")  # fmt: skip


def _tightened(node: Any) -> Any:
    if isinstance(node, list):
        return [_tightened(item) for item in node]
    if isinstance(node, float) and node.is_integer():
        return int(
            node
        )  # versions of pydantic write 1 or 1.0, and the schema is part of what a stored reply is known by
    if not isinstance(node, dict):
        return node
    kept = {
        name: _part(name, part)
        for name, part in node.items()
        if name not in ("title", "default", "examples")
    }
    if "properties" in kept:
        kept |= {"required": list(kept["properties"]), "additionalProperties": False}
    return kept


def _part(keyword: str, part: Any) -> Any:
    """One keyword's value; the names under ``properties`` and ``$defs`` are no keywords, values of ``enum`` no schemas."""
    if keyword in ("properties", "$defs"):
        return {name: _tightened(node) for name, node in part.items()}
    return part if keyword in ("enum", "const") else _tightened(part)


# ---- finding objects -------------------------------------------------------------------------------------------------


def _answer(text: str) -> str:
    """The reply without reasoning; a reply that is one object is left alone, whatever its strings hold."""
    text = text.strip()
    if _START.match(text) and _extent(text, 0)[0] == len(text):
        return text
    return re.split("</think>", strip_reasoning(text), flags=re.IGNORECASE)[-1].strip()


def _objects(text: str) -> Iterator[_Object]:
    """Outermost objects in order; one that never closes reaches to the end, so that the text is walked through once."""
    start = _START.search(text)
    while start:
        end, deepest, missing = _extent(text, start.start())
        source = text[start.start() : end] + (missing or "")
        fault = f"nested deeper than {DEEPEST} levels" if deepest > DEEPEST else None
        if missing is None:
            fault = fault or "the JSON object is cut off before its end"
        yield _Object(source, "closed" if missing else _way(text, start.start(), end), fault)
        start = _START.search(text, end)


def _extent(text: str, start: int) -> tuple[int, int, str | None]:
    """End of an object, levels of its brackets, and what its end lacks: nothing, a brace, or (None) more than a brace."""
    depth = deepest = 0
    torn = False
    for token in _TOKEN.finditer(text, start):
        depth += _STEP.get(token.group(), 0)
        deepest = max(deepest, depth)
        if not depth:
            return token.end(), deepest, ""
        torn = token.lastindex is not None and not token.group(token.lastindex)
    only_a_brace = depth == 1 and not torn and text.endswith(_COMPLETE)
    return len(text), deepest, "}" if only_a_brace else None


def _way(text: str, start: int, end: int) -> str:
    if end - start == len(text):
        return "plain"
    return "fence" if _FENCE.search(text[max(0, start - 40) : start]) else "embedded"


def _nothing(text: str, answer: str) -> str:
    if not text.strip():
        return "the reply is empty"
    return (
        f"no JSON object in the reply: {answer[:LONGEST_REASON]}"
        if answer
        else "the reply is reasoning only"
    )


# ---- reading one object ----------------------------------------------------------------------------------------------


def _read(item: _Object, schema: type[Record], *, repair: bool) -> _Reading[Record]:
    try:
        value, repaired = _decoded(item, repair=repair)
    except _Unreadable as error:
        speaks = any(name in item.source for name in _names(schema))
        return _Reading(Parsed(reason=one_line(str(error))), speaks)
    parsed = _validated(value, schema, "repaired" if repaired else item.way)
    return _Reading(parsed, parsed.record is not None or not _names(schema).isdisjoint(value))


def _decoded(item: _Object, *, repair: bool) -> tuple[dict[str, Any], bool]:
    """The object's value, and whether it took a repair."""
    if item.fault:
        raise _Unreadable(item.fault)
    try:
        return _loaded(item.source), False
    except _Unreadable:
        raise
    except ValueError as error:
        if not repair:
            raise _Unreadable(
                f"not JSON, and more than {LONGEST_REPAIR} characters, too many to repair ({error})"
            ) from error
        return _mended(item.source, str(error)), True


def _mended(source: str, complaint: str) -> dict[str, Any]:
    try:
        return _loaded(json.dumps(repaired(source)))
    except Unfaithful as error:
        raise _Unreadable(
            f"not JSON, and cannot be repaired without guessing ({complaint})"
        ) from error


def _loaded(source: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(
        source,
        strict=False,
        object_pairs_hook=_unambiguous,
        parse_constant=_no_number,
        parse_float=_number,
        parse_int=_integer,
    )
    return value


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for name, part in pairs:
        if name in value and repr(value[name]) != repr(part):
            raise _Unreadable(
                f"{name}: given twice, as {shown_value(value[name])} and {shown_value(part)}"
            )
        value[name] = part
    return value


def _no_number(text: str) -> Any:
    raise _Unreadable(f"{text[:40]} is no number that JSON and a float can hold")


def _number(text: str) -> float | int:
    """A number with a point or exponent; an integer when it is one, for JSON has one kind of number."""
    value = float(text)
    if not math.isfinite(value):
        _no_number(text)
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _integer(text: str) -> int:
    return int(text) if len(text) <= LONGEST_INTEGER else _no_number(text)


def _validated(value: dict[str, Any], schema: type[Record], found: str) -> Parsed[Record]:
    try:
        record = schema.model_validate_json(
            well_formed(json.dumps(value, ensure_ascii=False)), strict=True
        )
    except ValidationError as error:
        return Parsed(reason=one_line(complaint(error)))
    if not record.model_fields_set:
        return Parsed(
            reason=one_line(
                f"the JSON object names none of the fields {', '.join(schema.model_fields)}"
            )
        )
    dumped = record.model_dump(mode="json", by_alias=True)
    for name in value:
        if name in dumped and _bent(value[name], dumped[name]):
            return Parsed(
                reason=one_line(
                    f"{name}: {shown_value(value[name])} is not {shown_value(dumped[name])}"
                )
            )
    return Parsed(record=record, found=found)


def _bent(given: Any, kept: Any) -> bool:
    """Whether somewhere true or false became a number or the other way round, as ``Literal[1, 2]`` takes true for 1."""
    if isinstance(given, dict) and isinstance(kept, dict):
        return any(_bent(given[name], kept[name]) for name in given if name in kept)
    if isinstance(given, list) and isinstance(kept, list):
        return any(map(_bent, given, kept))
    numbers = isinstance(given, int | float) and isinstance(kept, int | float)
    return numbers and isinstance(given, bool) != isinstance(kept, bool)


@lru_cache(maxsize=256)
def _names(schema: type[BaseModel]) -> frozenset[str]:
    """Names of the fields, and their aliases where these are plain names."""
    aliases = {field.validation_alias for field in schema.model_fields.values()}
    return frozenset(schema.model_fields) | frozenset(
        alias for alias in aliases if isinstance(alias, str)
    )


def _decision(readings: list[_Reading[Record]]) -> Parsed[Record]:
    """What the last object that speaks says, unless an earlier valid one says something else."""
    speaking = [reading.parsed for reading in readings if reading.speaks] or [readings[-1].parsed]
    last = speaking[-1].record
    for earlier in speaking[:-1]:
        if (
            last is not None
            and earlier.record is not None
            and (difference := _difference(earlier.record, last))
        ):
            return Parsed(
                reason=one_line(f"several JSON objects contradict each other: {difference}")
            )
    return speaking[-1]


def _difference(one: BaseModel, other: BaseModel) -> str | None:
    """The first field in which two records differ, with both values."""
    ours, theirs = one.model_dump(mode="json"), other.model_dump(mode="json")
    for name in [*ours, *theirs]:
        if repr(ours.get(name)) != repr(theirs.get(name)):
            return f"{name}: {shown_value(ours.get(name))} and {shown_value(theirs.get(name))}"
    return None
