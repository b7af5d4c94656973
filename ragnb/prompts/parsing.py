"""Parse a model's reply as a validated record, or give the reason why it cannot be parsed in one line.

A judgement is never guessed. A text that a reader could take in two ways stays unread.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from ragnb.arguments import accepts
from ragnb.prompts.template import texts_between_tags
from ragnb.text import read_reasoning, well_formed

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
# What may differ between a text and its quotation.
_LOOSE = re.compile(r"""[\s"'`“”‘’\\]+""")
_WORD = re.compile(r"\w")
# Signs that open and close a quotation, and signs of Markdown that may be around an object.
_OPENING_QUOTES, _CLOSING_QUOTES = "\"'“„‘«「『", "\"'”“’»」』"
_MARKUP = " \t*_`([{-.#)]}>"
_SHORTEST_MARK, _SEAM = 8, 12  # characters before and behind the place where reasoning ends
_TOO_DEEP = "the JSON object is nested too deeply"
_MARK_IN_SENTENCE = re.compile(r"\w[^\S\n]*[<\[◁]/\w+[>\]▷][^\S\n]*\{")
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


class _Object(NamedTuple):
    """An outermost object of a reply: its source, how it was found, and where it starts and ends."""

    source: str
    way: str
    start: int
    end: int


@accepts()
def parse_reply(
    text: str | None, schema: type[Record], prompt_texts: Sequence[str] = ()
) -> Parsed[Record]:
    """Read the record in a model's reply, or give the reason why there is none.

    The last outermost object that mentions a field of the schema and is no quotation decides.

    Parameters
    ----------
    text
        The reply; None if there is none.
    schema
        A pydantic model with fields. It is applied in strict mode.
    prompt_texts
        The texts from outside that the prompt shows, such as the response that is judged. An object
        that occurs in one of them is a quotation. `quotable_texts` finds them in a prompt.

    Returns
    -------
    Parsed
        ``record``, an instance of ``schema``, or ``reason``, one line of at most 200 characters.

    Notes
    -----
    What each kind of reply becomes:

    reasoning, fences, prose
        Left out. Brackets inside strings are text.
    object inside another
        Not looked at, because it may be a quotation.
    object that occurs in a text of the prompt
        A quotation, which is passed over. A reply that is nothing but a verdict, without any free text, is
        no quotation.
    object inside a sentence, in quotation marks or behind ``>``
        A reason, because it may be a quotation.
    several objects
        The last one that mentions a field must be valid. Earlier valid ones must agree with it. Earlier
        invalid ones, such as drafts or an echo of the requested form, are passed over.
    lone brace behind the object
        A reason, because the object may be a part of another.
    single quotes, trailing commas, comments, True, None
        Repaired by json-repair, and accepted only if all words, numbers and signs are the same before and
        after. ``4 or 5``, ``<3`` and quotes inside a string stay unread.
    cut off
        Accepted if only the last brace is missing, behind a finished string, list, object, true, false or null.
    wrong types
        A reason: "4" is not 4. But 4.0 is 4, because JSON has one kind of number.
    out of range, NaN, 1e999
        A reason, never clipped.
    a key twice
        Accepted if the values are equal, else a reason.
    none of the fields
        A reason, even if every field has a default.
    empty, none, refusal
        A reason, which begins with the words of a refusal.

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
    quotable = [_LOOSE.sub("", prompt_text) for prompt_text in prompt_texts]
    answer = _answer(text, quotable)
    objects = list(_objects(answer))
    if not objects:
        reason = "the reply is reasoning only" if text.strip() else "the reply is empty"
        if answer:
            reason = one_line(f"no JSON object in the reply: {answer}")
        return Parsed(reason=reason)
    names = [field.alias or name for name, field in schema.model_fields.items()]
    speaking = [item for item in objects if any(name in item.source for name in names)]
    candidates = speaking or objects[-1:]
    if prompt_texts:
        quotations = _Quotations(prompt_texts, quotable, is_free=has_free_text(schema))
        candidates = quotations.apart(candidates)
        if not candidates:
            return Parsed(reason="the JSON object in the reply only quotes a text of the prompt")
    doubt = _doubt(answer, candidates[-1], objects)
    if doubt:
        return Parsed(reason=doubt)
    repair = sum(len(item.source) for item in objects) <= LONGEST_REPAIR
    *earlier, last = [_read(item.source, item.way, schema, repair) for item in candidates]
    for other in earlier:
        if last.record and other.record and other.record != last.record:
            first, second = (
                other.record.model_dump(mode="json"),
                last.record.model_dump(mode="json"),
            )
            name = next((name for name in first if first[name] != second.get(name)), "")
            values = f"{_shown(first.get(name))} and {_shown(second.get(name))}"
            words = f"several JSON objects contradict each other: {name}: {values}"
            return Parsed(reason=one_line(words))
    return last


def has_free_text(schema: type[BaseModel]) -> bool:
    """Return whether a record contains a text in the model's own words, such as an explanation."""
    return _has_free_text(strict_schema(schema))


def _has_free_text(node: Any) -> bool:
    if isinstance(node, list):
        return any(map(_has_free_text, node))
    if not isinstance(node, dict):
        return False
    is_text = node.get("type") == "string" and not {"enum", "const"} & node.keys()
    return is_text or any(map(_has_free_text, node.values()))


def quotable_texts(messages: Iterable[Mapping[str, Any]], schema: type[BaseModel]) -> list[str]:
    """Return the texts of a prompt that a reply may quote, for `parse_reply`.

    They are the texts between tags with a mark (see `ragnb.prompts.template.Template`). A prompt
    without such tags is quotable as a whole if the record contains free text. Otherwise the
    prompt's own example of a verdict would make every such verdict a quotation.
    """
    questions = [message for message in messages if message.get("role") != "assistant"]
    tagged = texts_between_tags(questions)
    if tagged or not has_free_text(schema):
        return tagged
    contents = [message.get("content") for message in questions]
    return [content for content in contents if isinstance(content, str)]


def repair_message(reason: str, schema: type[BaseModel]) -> str:
    """Text of a repair turn: why the reply cannot be used, and the form that is requested."""
    form = json.dumps(strict_schema(schema), ensure_ascii=False)
    return (
        f"Your reply cannot be used. {reason}\nReply again with one JSON object and nothing else. "
        f"It has to fit this JSON schema:\n{form}"
    )


@accepts()
def strict_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """JSON schema of a model in the form that structured outputs require.

    Every field is required, no other fields are allowed, and there are no titles or defaults.

    Parameters
    ----------
    schema
        A pydantic model.
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
    tightened = {
        name: part if name in ("enum", "const") and not names
        else _tightened(part, names=not names and name in ("properties", "$defs"))
        for name, part in node.items()
        if names or name not in ("title", "default", "examples")
    }  # fmt: skip
    if "properties" in tightened and not names:
        tightened |= {"required": list(tightened["properties"]), "additionalProperties": False}
    return tightened


# ---- finding objects -----------------------------------------------------------------------------


def _answer(text: str, quotable: Sequence[str]) -> str:
    """The reply without reasoning; a reply that is one object may have any text in its strings."""
    text = text.strip()
    if _START.match(text) and next(_objects(text)).way != "embedded":
        return text
    reasoning, answer, _ = read_reasoning(text)
    # The mark that ends the reasoning may be part of a quotation: 'It says </think>{"score": 1}'.
    seam = _LOOSE.sub("", reasoning[-_SHORTEST_MARK:] + answer[:_SEAM])
    is_quoted = bool(reasoning) and any(seam in quotation for quotation in quotable)
    is_in_sentence = _MARK_IN_SENTENCE.search(text) and _START.search(reasoning)
    return text if is_quoted or (is_in_sentence and text[0] not in "<[◁") else answer.strip()


def _objects(text: str) -> Iterator[_Object]:
    """Outermost objects in order."""
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
            way = "plain" if len(source) == len(text) else "embedded"
            yield _Object(source, way, start.start(), end)
        elif depth == 1 and not torn and text.endswith(_COMPLETE):
            yield _Object(source + "}", "closed", start.start(), end)
        else:
            yield _Object(source, "cut", start.start(), end)
        start = _START.search(text, end)


# ---- quotations ----------------------------------------------------------------------------------


class _Quotations:
    """What a reply may quote: the texts of the prompt, and the fields of the objects in them."""

    def __init__(self, texts: Sequence[str], quotable: Sequence[str], *, is_free: bool) -> None:
        self.quotable, self.is_free = quotable, is_free
        objects = [item.source for text in texts for item in _objects(text)]
        self.fields = [fields for fields in map(_fields, objects) if fields]

    def apart(self, objects: Sequence[_Object]) -> list[_Object]:
        """The objects that are no quotations."""
        return [item for item in objects if not self._contain(item)]

    def _contain(self, item: _Object) -> bool:
        # A bare verdict alone is a verdict, although the judged text may contain the same one.
        if item.way == "plain" and not self.is_free:
            return False
        bare = _LOOSE.sub("", item.source)
        if any(bare in quotation for quotation in self.quotable):
            return True
        fields_of_item = _fields(item.source)
        return bool(fields_of_item) and any(fields_of_item <= fields for fields in self.fields)


def _fields(source: str) -> frozenset[tuple[str, str]]:
    """Names and values of an object; empty if it is not JSON."""
    try:
        return frozenset((name, repr(value)) for name, value in _loaded(source).items())
    except (ValueError, RecursionError):
        return frozenset()


def _doubt(answer: str, item: _Object, objects: Sequence[_Object]) -> str | None:
    """Why an object may not be the verdict, although it can be read; None if there is no doubt."""
    if objects[-1].way == "cut":
        return "the JSON object is cut off before its end"
    following = [other.start for other in objects if other.start >= item.end]
    before = answer[: item.start].rpartition("\n")[2]
    after = answer[item.end : min(following, default=len(answer))].partition("\n")[0]
    if before.lstrip().startswith(">") or _is_in_sentence(before, after):
        return "the JSON object is inside a sentence or a quotation, so it may not be the verdict"
    depth = 0
    for brace in re.findall(r"[{}]", answer[objects[-1].end :]):
        depth += _STEP[brace]
        if depth < 0:
            return "braces behind the JSON object are unbalanced, so it may be a part of another"
    return None


def _is_in_sentence(before: str, after: str) -> bool:
    """Return whether the words of a line go on behind an object, or quotation marks are around it."""
    before, after = before.rstrip(), after.lstrip()
    if not _WORD.search(before):
        return False
    if before.endswith(tuple(_OPENING_QUOTES)) and after.startswith(tuple(_CLOSING_QUOTES)):
        return True
    announced = before.rstrip(_MARKUP).endswith((":", "："))
    ends_sentence = after.lstrip(_MARKUP.replace(".", "")).startswith((".", "!", "?", ";", "。"))
    return bool(_WORD.search(after)) and (not announced or ends_sentence)


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
    except RecursionError:
        return Parsed(reason=_TOO_DEEP)
    except ValueError as error:
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
    if first["type"] == "json_invalid":  # It was valid when it was written, so it is only too deep.
        return _TOO_DEEP
    words = first["msg"]
    if first["type"] in _WORDS:
        value = _shown(first["input"])
        words = _WORDS[first["type"]].format(shown=value, **first.get("ctx", {}))
    more = f"; and {len(others)} more" if others else ""
    place = ".".join(map(str, first["loc"])) or "the record"
    return one_line(f"{place[:60]}: {words[:100]} ({first['type']}){more}")
