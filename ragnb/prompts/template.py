"""Prompt templates: readable texts with a name, a version and a hash for the signature of a metric.

The texts are in the folder ``data``, in one TOML file per family of prompts.
"""

import hashlib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from string import Formatter
from typing import Any

from ragnb.errors import InputError
from ragnb.text import well_formed

Message = dict[str, str]


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt: a system message, which may be empty, and a user message with ``{fields}``.

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
                text.format_map(dict.fromkeys(self.fields, ""))
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
        """Names of the fields, in order of appearance."""
        named = [name for _, name, _, _ in Formatter().parse(self.system + self.user) if name]
        return tuple(dict.fromkeys(named))

    def messages(self, values: Mapping[str, str]) -> list[Message]:
        """Fill in the fields of both messages. Braces inside values are left as they are.

        A field without a value raises InputError.
        """
        texts = [("system", self.system), ("user", self.user)]
        try:
            return [
                {"role": role, "content": text.format_map(values)} for role, text in texts if text
            ]
        except KeyError as error:
            raise InputError(f"the template {self.name} has no value for {error}") from None

    def render(self, values: Mapping[str, str]) -> list[Message] | str:
        """Fill in the fields: chat messages, or the text to continue of a completion template."""
        messages = self.messages(values)
        return messages[-1]["content"] if self.kind == "completion" else messages


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
