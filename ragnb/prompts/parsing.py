"""Parse a model's reply as a validated record, or give the reason why it cannot be parsed in one line.

A judgement is never guessed. A text that a reader could take in two ways stays unread.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from ragnb.text import strip_reasoning, well_formed

Record = TypeVar("Record", bound=BaseModel)

LONGEST_REASON = 200  # characters
LONGEST_REPAIR = 20_000
# Characters of all objects of a reply that json-repair may work on; its time grows fast.

_START = re.compile(r"""\{(?=\s*+(?:["'“}/\#]|[^\W\d]\w*+\s*+:))""")
_STRING = re.compile(r""""(?:[^"\\]|\\.?)*+("?)|(?<=[{\[(,:\s])'(?:[^'\\]|\\.?)*+('?)""", re.DOTALL)
_TOKEN = re.compile(rf"{_STRING.pattern}|[{{}}\[\]]", re.DOTALL)
_COMMENT = re.compile(
    rf"({_STRING.pattern})|//[^\n]*+|#[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?", re.DOTALL
)
_STEP = {"{": 1, "[": 1, "}": -1, "]": -1}
_COMPLETE = ('"', "'", "}", "]", "true", "false", "null", "True", "False", "None")
_GOES_ON = re.compile(r"\s*+[^\s,:}\])]")
_PUNCTUATION = re.compile(r"""\\[bfnrt]|[\s\x00-\x1f"'“”‘’{}\[\](),:\\]+""")
# Kind of a validation error -> our words. They are part of the repair turns in recorded stores.
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


@dataclass(frozen=True, slots=True)
class Parsed(Generic[Record]):
    """The content of a reply: a validated record, or one line that says why there is none.

    ``found`` says how the JSON was found: ``plain`` (the reply is one object), ``embedded`` (in a
    code fence or in prose), ``closed`` (only the last brace was missing) or ``repaired`` (by
    json-repair). It is None without a record.
    """

    record: Record | None = None
    reason: str | None = None
    found: str | None = None


def parse_reply(text: str | None, schema: type[Record]) -> Parsed[Record]:
    """Read the record in a model's reply, or give the reason why there is none.

    The last outermost object that mentions a field of the schema decides.

    Parameters
    ----------
    text
        The reply; None if there is none.
    schema
        A pydantic model with fields. It is applied in strict mode.

    Returns
    -------
    Parsed
        ``record``, an instance of ``schema``, or ``reason``, one line of at most 200 characters.

    Notes
    -----
    ==============================  ===========================================================
    Reply                           Decision
    ==============================  ===========================================================
    reasoning, fences, prose        left out; brackets inside strings are text
    object inside another           not looked at, because it may be a quotation
    several objects                 the last one that mentions a field must be valid; earlier
                                    valid ones must agree with it; earlier invalid ones, such as
                                    drafts or an echo of the requested form, are passed over
    single quotes, trailing         repaired by json-repair, and accepted only if all words,
    commas, comments, True, None    numbers and signs are the same before and after; ``4 or 5``,
                                    ``<3`` and quotes inside a string stay unread
    cut off                         accepted if only the last brace is missing, behind a
                                    finished string, list, object, true, false or null
    wrong types                     a reason: "4" is not 4; but 4.0 is 4, because JSON has one
                                    kind of number
    out of range, NaN, 1e999        a reason, never clipped
    a key twice                     accepted if the values are equal, else a reason
    none of the fields              a reason, even if every field has a default
    empty, none, refusal            a reason, which begins with the words of a refusal
    ==============================  ===========================================================

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
    if not isinstance(text, str):
        return Parsed(reason="there is no reply")
    answer = _answer(text)
    objects = list(_objects(answer))
    if not objects:
        reason = "the reply is reasoning only" if text.strip() else "the reply is empty"
        if answer:
            reason = one_line(f"no JSON object in the reply: {answer}")
        return Parsed(reason=reason)
    repair = sum(len(source) for source, _ in objects) <= LONGEST_REPAIR
    names = [field.alias or name for name, field in schema.model_fields.items()]
    speaking = [item for item in objects if any(name in item[0] for name in names)]
    *earlier, last = [_read(*item, schema, repair) for item in speaking or objects[-1:]]
    for other in earlier:
        if last.record and other.record and other.record != last.record:
            one, two = (each.model_dump(mode="json") for each in (other.record, last.record))
            name = next((name for name in one if one[name] != two.get(name)), "")
            values = f"{_shown(one.get(name))} and {_shown(two.get(name))}"
            words = f"several JSON objects contradict each other: {name}: {values}"
            return Parsed(reason=one_line(words))
    return last


def repair_message(reason: str, schema: type[BaseModel]) -> str:
    """Text of a repair turn: why the reply cannot be used, and the form that is requested."""
    form = json.dumps(strict_schema(schema), ensure_ascii=False)
    return (
        f"Your reply cannot be used. {reason}\nReply again with one JSON object and nothing else. "
        f"It has to fit this JSON schema:\n{form}"
    )


def strict_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """JSON schema of a model in the form that structured outputs require.

    Every field is required, no other fields are allowed, and there are no titles or defaults.
    """
    return _tightened(schema.model_json_schema())


def _tightened(node: Any, names: bool = False) -> Any:
    """A part of a JSON schema without annotations; ``names`` if its keys are names, not keywords."""
    if isinstance(node, list):
        return [_tightened(item) for item in node]
    if isinstance(node, float) and node.is_integer():
        return int(node)  # Versions of pydantic differ, and stored replies are keyed by the schema.
    if not isinstance(node, dict):
        return node
    kept = {
        name: part if name in ("enum", "const") and not names
        else _tightened(part, names=not names and name in ("properties", "$defs"))
        for name, part in node.items()
        if names or name not in ("title", "default", "examples")
    }  # fmt: skip
    if "properties" in kept and not names:
        kept |= {"required": list(kept["properties"]), "additionalProperties": False}
    return kept


# ---- finding objects -----------------------------------------------------------------------------


def _answer(text: str) -> str:
    """The reply without reasoning; a reply that is one object may have any text in its strings."""
    text = text.strip()
    if _START.match(text) and next(_objects(text))[1] != "embedded":
        return text
    return strip_reasoning(text).strip()


def _objects(text: str) -> Iterator[tuple[str, str]]:
    """Outermost objects in order, each with the way in which it was found."""
    start = _START.search(text)
    while start:
        depth, torn, end = 0, False, len(text)
        for token in _TOKEN.finditer(text, start.start()):
            depth += _STEP.get(token.group(), 0)
            if not depth:
                end = token.end()
                break
            torn = token.lastindex is not None and not token.group(token.lastindex)
        source = text[start.start() : end]
        if not depth:
            yield source, "plain" if len(source) == len(text) else "embedded"
        elif depth == 1 and not torn and text.endswith(_COMPLETE):
            yield source + "}", "closed"
        else:
            yield source, "cut"
        start = _START.search(text, end)


# ---- reading one object --------------------------------------------------------------------------


def _read(source: str, way: str, schema: type[Record], repair: bool) -> Parsed[Record]:
    if way == "cut":
        return Parsed(reason="the JSON object is cut off before its end")
    try:
        try:
            value = _loaded(source)
        except json.JSONDecodeError as error:
            if not repair:
                raise ValueError(f"not JSON, and too long to repair ({error})") from error
            value, way = _repaired(source, error), "repaired"
        text = well_formed(json.dumps(value, ensure_ascii=False, allow_nan=False))
        record = schema.model_validate_json(text, strict=True)
    except ValidationError as error:
        return Parsed(reason=_complaint(error))
    except (ValueError, RecursionError) as error:
        return Parsed(reason=one_line(str(error)))
    if not record.model_fields_set:
        fields = ", ".join(schema.model_fields)
        return Parsed(reason=one_line(f"the JSON object names none of the fields {fields}"))
    return Parsed(record=record, found=way)


def _loaded(source: str) -> Any:
    return json.loads(source, strict=False, object_pairs_hook=_pairs, parse_float=_number)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for name, part in pairs:
        if name in value and repr(value[name]) != repr(part):
            raise ValueError(f"{name}: given twice, as {_shown(value[name])} and {_shown(part)}")
        value[name] = part
    return value


def _number(text: str) -> float | int:
    value = float(text)
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _repaired(source: str, complaint: Exception) -> Any:
    """The value that json-repair makes of an object, if only punctuation had to change.

    On its own, json-repair guesses: it makes 4 of ``4 or 5`` and 3 of ``<3``.
    """
    import json_repair

    bare = _COMMENT.sub(lambda match: match.group(1) or " ", source)
    # A string that goes on behind its end has quotes inside, which might be a quoted verdict.
    quoted = any(_GOES_ON.match(bare, string.end()) for string in _STRING.finditer(bare))
    try:
        value = json_repair.repair_json(
            source, return_objects=True, skip_json_loads=True, strict=True
        )
        written = json.dumps(value, ensure_ascii=False)
    except Exception:  # The library may fail in any way on a text that was made to break it.
        value, written = None, ""
    before, after = (
        _PUNCTUATION.sub("", text).casefold().replace("none", "null") for text in (bare, written)
    )
    if not isinstance(value, dict) or quoted or before != after:
        raise ValueError(f"not JSON, and cannot be repaired without guessing ({complaint})")
    return _loaded(written)


# ---- reasons -------------------------------------------------------------------------------------


def one_line(text: str) -> str:
    """A text on one line of at most 200 printable characters."""
    start = text[: 5 * LONGEST_REASON]
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in start).split())
    return line if len(line) <= LONGEST_REASON else line[: LONGEST_REASON - 1] + "…"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else text[:39] + "…"


def _complaint(error: ValidationError) -> str:
    """The first of pydantic's errors in a line: ``score: 7 is above 5 (less_than_equal)``."""
    first, *others = error.errors(include_url=False)
    words = first["msg"]
    if first["type"] in _WORDS:
        shown = _shown(first["input"])
        words = _WORDS[first["type"]].format(shown=shown, **first.get("ctx", {}))
    more = f"; and {len(others)} more" if others else ""
    place = ".".join(map(str, first["loc"])) or "the record"
    return one_line(f"{place[:60]}: {words[:100]} ({first['type']}){more}")
