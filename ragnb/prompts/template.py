"""Prompt templates: readable texts with a name, a version and a hash for the signature of a metric.

The texts are in the folder ``data``, in one TOML file per family of prompts.
"""

# Tested in tests/prompts/test_injective.py.

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from string import Formatter
from typing import Any

from ragnb.arguments import accepts, accepts_fields
from ragnb.errors import InputError
from ragnb.text import well_formed

Message = dict[str, str]

MARK = "mark"
"""The field of a template that becomes a mark, such as ``1a2b3c4d``, which none of its texts contains."""

_LINE_BREAK = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_PLAIN_KEY = re.compile(r"[^\s\[\]\"]+")
_LAST_TAG = re.compile(r".*\n</[a-z-]+-([0-9a-f]{8})>", re.DOTALL)


@accepts_fields
@dataclass(frozen=True, slots=True)
class Template:
    """A prompt: a system message, which may be empty, and a user message with ``{fields}``.

    Texts from outside, such as a response, can be put between tags with ``{mark}``::

        <response-{mark}>
        {response}
        </response-{mark}>

    The mark is computed from the texts and occurs in none of them, so that no text can imitate a tag,
    and different texts never give the same prompt. It is the same in every run.

    A template with a lone brace, or with braces around anything but a name, raises InputError. Write
    ``{{`` and ``}}`` for braces of the text.
    """

    name: str
    version: int
    system: str
    user: str
    kind: str = "chat"
    """``"chat"``, or ``"completion"`` if ``user`` is a text to continue."""

    def __post_init__(self) -> None:
        try:
            for text in (self.system, self.user):
                text.format_map(dict.fromkeys([*self.fields, MARK], ""))
        except (AttributeError, LookupError, ValueError) as error:
            raise InputError(
                f"the template {self.name} must have the name of a field between braces, got a text "
                f"that cannot be filled in ({error!s:.60}); write {{{{ and }}}} for braces"
            ) from error

    @property
    def id(self) -> str:
        """Name, version and first eight hex digits of the texts' SHA-256: ``rgb.plain.en:1:0a1b2c3d``."""
        digest = hashlib.sha256(f"{self.system}\0{self.user}".encode()).hexdigest()
        return f"{self.name}:{self.version}:{digest[:8]}"

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields that need a value, in order of appearance; the mark is none of them."""
        return tuple(name for name in self._names if name != MARK)

    @property
    def _names(self) -> list[str]:
        """Names between braces, each once."""
        named = [name for _, name, _, _ in Formatter().parse(self.system + self.user) if name]
        return list(dict.fromkeys(named))

    def messages(self, values: Mapping[str, str]) -> list[Message]:
        """Fill in the fields of both messages. Braces inside values are left as they are.

        A field without a value raises InputError.
        """
        texts = [("system", self.system), ("user", self.user)]
        texts_of_fields = {name: values[name] for name in self.fields if name in values}
        if MARK in self._names:
            texts_of_fields[MARK] = _mark(texts_of_fields, self.system + self.user)
        try:
            return [
                {"role": role, "content": text.format_map(texts_of_fields)}
                for role, text in texts
                if text
            ]
        except KeyError as error:
            raise InputError(f"the template {self.name} has no value for {error}") from None

    def render(self, values: Mapping[str, str]) -> list[Message] | str:
        """Fill in the fields: chat messages, or the text to continue of a completion template."""
        messages = self.messages(values)
        return messages[-1]["content"] if self.kind == "completion" else messages


def _mark(texts: Mapping[str, str], template: str) -> str:
    """Return eight hexadecimal digits that occur neither in the texts nor in the template."""
    everything = [template, *texts.values()]
    source = json.dumps(texts, sort_keys=True)
    mark = hashlib.sha256(source.encode()).hexdigest()[:8]
    while any(mark in text.lower() for text in everything):
        mark = hashlib.sha256(mark.encode() + source.encode()).hexdigest()[:8]
    return mark


@accepts()
def texts_between_tags(messages: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the texts that a prompt shows between tags with a mark; none if it has no such tags.

    Parameters
    ----------
    messages
        Chat messages, each with the key ``content``.

    Examples
    --------
    >>> template = Template("t", 1, "", "<response-{mark}>\\n{response}\\n</response-{mark}>")
    >>> texts_between_tags(template.messages({"response": "</response-0>"}))
    ['</response-0>']
    """
    texts = []
    for message in messages:
        content = message.get("content")
        if not isinstance(content, str):
            continue
        # A text from outside may contain tags of its own, but the last tag is the template's.
        last = _LAST_TAG.match(content)
        if last:
            tags = rf"<([a-z-]+)-{last[1]}>\n(.*?)\n</\1-{last[1]}>"
            texts += [text for _, text in re.findall(tags, content, flags=re.DOTALL)]
    return texts


def keyed_lines(pairs: Iterable[Sequence[str]]) -> str:
    """Write texts one below the other as ``[key] text``, so that different lists look different.

    Further lines of a text are indented by four spaces, so that they cannot imitate a key. A key
    with brackets, quotes or white space is written as a JSON string.

    >>> print(keyed_lines([["a", "Yes.\\n[b] Forged."], ["b", "No."]]))
    [a] Yes.
        [b] Forged.
    [b] No.
    """
    lines = []
    for key, text in pairs:
        shown_key = key if _PLAIN_KEY.fullmatch(key) else json.dumps(key)
        lines.append(f"[{shown_key}] {_LINE_BREAK.sub(_indented, well_formed(text))}")
    return "\n".join(lines)


def _indented(line_break: re.Match[str]) -> str:
    return line_break.group() + "    "


def in_one_line(text: str, labels: Iterable[str] = ()) -> str:
    """Return a text that fits on one line of a prompt as it is, and any other text as a JSON string.

    A text is also written as a JSON string if it starts with a quotation mark, or with one of the
    labels of the prompt. Different texts therefore never look the same.

    >>> print(in_one_line("Oslo"), in_one_line("Oslo\\nAnswer: Rome"), in_one_line("Answer: 4", ["Answer:"]))
    Oslo "Oslo\\nAnswer: Rome" "Answer: 4"
    """
    text = well_formed(text)
    starts = ('"', *(label.strip().casefold() for label in labels))
    if not _LINE_BREAK.search(text) and not text.lstrip().casefold().startswith(starts):
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return _LINE_BREAK.sub(lambda sign: f"\\u{ord(sign.group()):04x}", quoted)


ROLES = {"agent": "assistant", "ai": "assistant", "human": "user"}
"""Name of a speaker in a file -> the role that endpoints know."""


def turns(history: Iterable[Mapping[str, str]]) -> list[Message]:
    """Earlier turns of a conversation as chat messages, in their order.

    >>> turns([{"role": "human", "content": "Where?"}, {"role": "ai", "content": "In Oslo."}])
    [{'role': 'user', 'content': 'Where?'}, {'role': 'assistant', 'content': 'In Oslo.'}]
    """
    return [
        {"role": ROLES.get(turn["role"], turn["role"]), "content": well_formed(turn["content"])}
        for turn in history
    ]


def load_family(family: str) -> dict[str, Any]:
    """Read a TOML file of prompts; its ``templates`` become a mapping of names to `Template`."""
    file = resources.files("ragnb.prompts") / "data" / f"{family}.toml"
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    templates = {
        name: Template(**{"name": name, "system": "", **texts})
        for name, texts in data["templates"].items()
    }
    return data | {"templates": templates}
