"""Parameters that a model or a server refuses.

Each server says so in its own words, so a parameter is recognised by its name in the body of the error.
An error about the *value* of a parameter, such as ``max_tokens is too large``, is no refusal.
"""

# Tested in tests/llm/test_servers.py.

import ast
import json
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from typing import Any

# Parameter -> the other name under which it is sent if a model refuses the first.
OTHER_NAMES = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}

# Other words for a parameter, by which servers name it.
_ALIASES = {
    "response_format": r"response_?format|json_?schema|structured[ _.-]outputs?|guided[ _](?:json|decoding)",
    "max_tokens": r"max_?tokens|max_?output_?tokens",
    "seed": r"seed|random_?seed",
}
# Names that are also words of a message; they count only if they are quoted or in brackets.
_ALSO_WORDS = frozenset(
    "n stop user tools store metadata stream functions suffix echo audio".split()
)

# Words that say that a parameter is refused as such, also if its value is mentioned.
_REFUSED = re.compile(
    r"unsupported (?:parameter|param|argument|field|option)|UnsupportedParams|support(?:s|ed)? param"
    r"|unknown (?:parameter|param|name|field|argument|key|property|option)|unrecogni[sz]ed"
    r"|unexpected (?:keyword|field|parameter|argument|property|key)|was unexpected|extra[_ ](?:forbidden|inputs|fields)"
    r"|additional propert|deprecated|cannot find field|no such (?:parameter|field)|only the default"
    r"|only (?:the value )?['\"]?-?[\d.]+['\"]? (?:is|are) (?:allowed|supported|accepted)|use '?max_(?:completion_)?tokens"
    r"|fixed (?:at|to)|(?:is|are|does|do) not (?:support|accept|recogni[sz]e|allow)(?:ed|ing)?\b(?! (?:values|more|less))",
    re.IGNORECASE,
)
# Words that say that the value of a parameter is wrong. They outweigh weak words of a refusal, such as "not allowed".
_VALUE = re.compile(
    r"too (?:large|long|small|short|big|high|low|many|few|great)|at (?:most|least)"
    r"|(?:less|greater|more|larger|smaller|lower|higher) (?:than|or equal)"
    r"|exceed|maximum|minimum|out of (?:range|bounds)|outside|between|within (?:the )?(?:range|bounds|limits)"
    r"|[<>]|above|below|\bcap\b|values? (?:of|for)|(?:valid|legal|acceptable|permitted) value"
    r"|to be (?:an? )?(?:int|float|number|string|positive|less|greater)|context (?:length|window|size)"
    r"|(?:must|should|has to|needs to|expected to) be "
    r"(?!removed|omitted|unset|left|absent|empty|null|none|default|dropped|excluded)"
    r"|valid (?:number|integer|string|float|boolean|list|dictionary|type)|(?:invalid|wrong|bad|illegal) (?:value|type)"
    r"|(?:cannot|can't|can not|may not|must not) be "
    r"(?:negative|zero|greater|less|larger|smaller|more|above|below|empty|null|none)"
    r"|not (?:of type|a number|an integer)|expected (?:an? |one of|type|int|float|number|string)"
    r"|supported values|allowed values|valid values|non-?negative|positive|reduce|lower|decrease|increase|shorten"
    r"|limit|超过|过大|过长|过小|范围|最大|最小|大于|小于|必须",
    re.IGNORECASE,
)
# Words of a refusal that count even if the sentence also says something about the value.
_PLAINLY = re.compile(
    r"only the default|only (?:the value )?['\"]?-?[\d.]+['\"]? (?:is|are)|unsupported param|supports? param"
    r"|unknown|deprecat|unrecogni|unexpected|extra",
    re.IGNORECASE,
)
# Clauses that name parameters which are not refused.
_OTHERS = re.compile(
    r"did you mean [^.;\n]*|(?:use|try|set|pass|send)\s+['\"`]?\w+['\"`]?\s+instead"
    r"|(?<!not )(?<!un)\b(?:supported|valid|allowed|accepted|available|permitted|known) "
    r"(?:param|parameter|argument|field|option|key|propertie|input)s?\b(?: (?:are|is|include))?\s*:?[^.;\n]*",
    re.IGNORECASE,
)
# Fields of an error that repeat the request, or contain nothing about its parameters.
_NO_WORDS = frozenset("input ctx url id request_id model messages failed_generation trace".split())
# Depth to which texts that contain JSON are read, and depth of objects. Errors that gateways pass on are nested three
# or four deep, and hostile ones could be nested without end.
MOST_NESTED_TEXTS, MOST_NESTED_OBJECTS = 6, 12
# Statuses of errors that are not about the request: key, time, limit.
_OTHER_STATUSES = frozenset({401, 402, 403, 407, 408, 409, 429})


def refused_parameters(body: Any, sent: Collection[str], status: int = 400) -> set[str]:
    """The parameters among those that were sent that an error refuses.

    `body` is the JSON of the error, or its text. Errors about the key or about limits refuse no parameter. An error of the
    server (5xx) does only if it says so in clear words.

    >>> sent = ["temperature", "max_tokens", "seed"]
    >>> sorted(refused_parameters("Unsupported parameter: 'max_tokens' is not supported with this model.", sent))
    ['max_tokens']
    >>> refused_parameters("max_tokens is too large: 100000", sent)
    set()
    >>> refused_parameters({"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "input": 0}]}, sent)
    {'seed'}
    """
    if status in _OTHER_STATUSES:
        return set()
    refused = set()
    for statement in _statements(body):
        # Without the clauses that name parameters which are not refused.
        words = _OTHERS.sub(" ", statement)
        for name in sent:
            if _named(name, words) and _refuses(name, words, is_server_error=status >= 500):
                refused.add(name)
    return refused


def _refuses(name: str, words: str, *, is_server_error: bool) -> bool:
    """Whether a statement (``words``) that names a parameter refuses it."""
    # ragnb chose the value of response_format, so any complaint about it is a refusal.
    if name == "response_format" or _clearly_refused(name, words):
        return True
    # Other errors of the server, and errors about a value, are no refusals.
    return not is_server_error and not _about_value(name, words)


def _about_value(name: str, words: str) -> bool:
    """Whether a statement that refuses nothing in clear words may be about the value of a parameter."""
    if _VALUE.search(words):
        return True
    # A limit of tokens is a number that may be wrong, which few words say clearly.
    return name in OTHER_NAMES and re.search(r"invalid|\d", words, re.IGNORECASE) is not None


def _clearly_refused(name: str, words: str) -> bool:
    """Whether one sentence names the parameter and says that it is refused as such."""
    for sentence in re.split(r"(?<=[.!?;])\s+|\n", words):
        if not (_named(name, sentence) and _REFUSED.search(sentence)):
            continue
        if _PLAINLY.search(sentence):
            return True
        mentions_value = re.search(rf"{re.escape(name)}\W{{0,3}}(?:of )?-?\d", sentence)
        # A limit of tokens with a number may be about the number, which few words say clearly.
        if mentions_value and name in OTHER_NAMES:
            continue
        # If the value is mentioned, words about values count in any sentence, as in "temperature: 3 is not
        # supported; must be between 0 and 2".
        context = words if mentions_value else sentence
        if not _VALUE.search(context):
            return True
    return False


def _named(name: str, words: str) -> bool:
    """Whether a text names a parameter, also as ``maxTokens`` or ``generationConfig.seed``."""
    spelling = _ALIASES.get(name) or re.escape(name).replace("_", "_?")
    if name in _ALSO_WORDS:
        # In quotation marks or brackets, after a dot or a colon, or before a colon at the start of a field.
        marked = rf"(?:[\"'`\[(]|\.|: ?)(?:{spelling})(?:[\"'`\])]|$)|(?:^|\| ){spelling} ?:"
        return re.search(marked, words, re.IGNORECASE) is not None
    alone = rf"(?<![A-Za-z0-9_])(?:{spelling})(?![A-Za-z0-9_])"
    return re.search(alone, words, re.IGNORECASE) is not None


def _statements(body: Any, depth: int = 0) -> Iterator[str]:
    """Yield the statements of an error. Each names the parameters that it is about.

    A text is one statement, or as many as the JSON in it has. In a list, each object has its own statements, and all
    texts together are one.
    """
    if isinstance(body, str):
        literal = _literal_in(body) if depth < MOST_NESTED_TEXTS else None
        if literal is None:
            yield body
        else:
            yield from _statements(literal, depth + 1)
    elif isinstance(body, list | tuple):
        for entry in body:
            if isinstance(entry, Mapping):
                yield from _statements(entry, depth + 1)
        yield " ".join(_quoted(entry) for entry in body if isinstance(entry, str | int))
    elif isinstance(body, Mapping) and depth < MOST_NESTED_OBJECTS:
        yield from _statements_of_object(body, depth)


def _quoted(name: Any) -> str:
    """A name in quotation marks, which show that it is a name and not a word of a sentence, as `_ALSO_WORDS` requires."""
    return f"'{name}'"


def _statements_of_object(body: Mapping[str, Any], depth: int) -> Iterator[str]:
    """Yield the statements of the fields that contain objects, then one of all other fields."""
    words: list[str] = []
    for name, value in body.items():
        if name in _NO_WORDS or value is None:
            continue
        if _contains_object(value):
            yield from _statements(value, depth + 1)
        elif isinstance(value, list | tuple):
            words += [_quoted(entry) for entry in value if isinstance(entry, str)]
        elif name == "param":
            words.append(_quoted(value))
        elif isinstance(value, str):
            words.append(value)
    # The fields of one object belong together: a message, and the parameter that it is about.
    yield " | ".join(words)


def _contains_object(value: Any) -> bool:
    """Whether a value is an object, a list with objects, or a text that contains one."""
    if isinstance(value, list | tuple):
        return any(isinstance(entry, Mapping) for entry in value)
    if isinstance(value, str):
        return _literal_in(value) is not None
    return isinstance(value, Mapping)


def _literal_in(text: str) -> Any:
    """The JSON object, or the Python literal of one, in a text that may begin with words of a gateway; None without one.

    A list of objects counts, too.
    """
    # A bracket before a quotation mark or before another bracket.
    start = re.search(r"[\[{]\s*[\"'{\[]", text)
    if start is None:
        return None
    literal = text[start.start() :].strip()
    # Gateways written in Python repeat an error as Python prints it, which is no JSON.
    for read in (_read_json, ast.literal_eval):
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            value = read(literal)
            is_list_of_objects = isinstance(value, list) and value and isinstance(value[0], Mapping)
            if isinstance(value, Mapping) or is_list_of_objects:
                return value
    return None


def _read_json(text: str) -> Any:
    """The JSON at the start of a text."""
    value, _ = json.JSONDecoder().raw_decode(text)
    return value


def accepted(parameters: Mapping[str, Any], refused: Collection[str]) -> dict[str, Any]:
    """The parameters to send to a model that refuses some: under another name, or without them.

    >>> accepted({"max_tokens": 8, "temperature": 0, "seed": 1}, {"max_tokens", "temperature"})
    {'max_completion_tokens': 8, 'seed': 1}
    >>> accepted({"max_tokens": 8}, {"max_tokens", "max_completion_tokens"})
    {}
    """
    sent: dict[str, Any] = {}
    for name, value in parameters.items():
        # The same name, if there is no other one.
        other = OTHER_NAMES.get(name, name)
        if name not in refused:
            sent[name] = value
        elif other not in refused:
            # If the request has both names, each keeps its value.
            sent.setdefault(other, value)
    return sent
