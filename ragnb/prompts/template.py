"""Prompt templates: readable text with a name, a version and a hash that becomes part of a metric's signature."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter

from ragnb.errors import InputError

Message = dict[str, str]


@dataclass(frozen=True, slots=True)
class Template:
    """What is asked of a model: a system message (may be empty) and a user message with ``{fields}``.

    Raises
    ------
    InputError
        A lone brace, or braces around something else than a name; ``{{`` and ``}}`` are braces of the text.
    """

    name: str
    version: int
    system: str
    user: str
    kind: str = "chat"
    """``"chat"``, or ``"completion"``: ``user`` is then a text to continue."""

    def __post_init__(self) -> None:
        try:
            for text in (self.system, self.user):
                text.format(**dict.fromkeys(self.fields, ""))
        except (AttributeError, LookupError, ValueError) as error:
            raise InputError(
                f"the template {self.name} needs a field's name between braces; got a text that cannot be filled in "
                f"({error!s:.60}); write {{{{ for a brace, and }}}} for one that closes"
            ) from error

    @property
    def id(self) -> str:
        """Name, version and the first eight hex digits of the text's SHA-256: ``rgb.answer.en:1:0a1b2c3d``."""
        digest = hashlib.sha256(f"{self.system}\0{self.user}".encode()).hexdigest()
        return f"{self.name}:{self.version}:{digest[:8]}"

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields, in order of appearance."""
        named = [name for _, name, _, _ in Formatter().parse(self.system + self.user) if name]
        return tuple(dict.fromkeys(named))

    def messages(self, values: Mapping[str, str]) -> list[Message]:
        """Chat messages with the fields filled in; braces inside values are left as they are.

        Raises
        ------
        InputError
            A field without a value.
        """
        self._require(values)
        texts = [("system", self.system), ("user", self.user)]
        return [{"role": role, "content": text.format(**values)} for role, text in texts if text]

    def text(self, values: Mapping[str, str]) -> str:
        """Text to continue, with the fields filled in; see `messages`."""
        self._require(values)
        return self.user.format(**values)

    def _require(self, values: Mapping[str, str]) -> None:
        missing = [name for name in self.fields if name not in values]
        if missing:
            raise InputError(f"the template {self.name} needs values for {', '.join(self.fields)}; got none for "
                             f"{', '.join(missing)}; add them")  # fmt: skip
