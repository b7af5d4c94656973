"""HTML, LaTeX and Markdown out of untrusted text: the one place where ragnb escapes.

Passages and responses come from the web and from models, so every text goes through `escape`. Meaning is carried by tags and
glyphs that survive every sanitiser; colours are decoration.
"""

import html
from collections.abc import Iterable, Sequence
from typing import Any

import regex

_HIDDEN = regex.compile(r"[\p{Cc}\p{Cf}--[\t\n\r\u200C\u200D\uFE0F]]", flags=regex.V1)
_ALLOWED = frozenset("div p b i mark span sup table tr td th details summary ol li small".split())


_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    "\n": " ", "\r": " ", "\t": " ",
}  # fmt: skip
_MARKDOWN = regex.compile(r"([\\`*_{}\[\]()#+!|~$<>&-])")


class Markup(str):
    """Text that is HTML already; made by `tag` and `escape` only."""

    __slots__ = ()


def escape(text: Any) -> Markup:
    """Text as HTML that shows it and does nothing else.

    Control characters and direction overrides are made visible as ``⟨U+202E⟩``, so that text cannot disguise itself.

    >>> escape('<b onclick="x">&')
    '&lt;b onclick=&quot;x&quot;&gt;&amp;'
    """
    if isinstance(text, Markup):
        return text
    return Markup(html.escape(_visible(text), quote=True))


def escape_latex(text: Any) -> str:
    """Text as LaTeX that prints it and does nothing else; line breaks become spaces.

    >>> escape_latex("50% of R&D_1 \\\\input{x}")
    '50\\\\% of R\\\\&D\\\\_1 \\\\textbackslash{}input\\\\{x\\\\}'
    """
    return "".join(_LATEX.get(character, character) for character in _visible(text))


def escape_markdown(text: Any) -> str:
    """Text as Markdown that shows it and does nothing else, inside a table cell too; line breaks become spaces.

    >>> escape_markdown("a|b <img> *c*") == r"a\\|b \\<img\\> \\*c\\*"
    True
    """
    return _MARKDOWN.sub(r"\\\1", " ".join(_visible(text).split()))


def _visible(text: Any) -> str:
    return _HIDDEN.sub(lambda found: f"⟨U+{ord(found.group()):04X}⟩", str(text))


def tag(name: str, *children: Any, **attributes: str) -> Markup:
    """One element; children that are not `Markup` are escaped, attribute values always.

    >>> tag("p", "1 < 2", dir="auto")
    '<p dir="auto">1 &lt; 2</p>'
    """
    if name not in _ALLOWED:
        raise ValueError(f"markup needs one of the elements {sorted(_ALLOWED)}; got {name!r}; use one of them")
    given = "".join(f' {key}="{escape(str(value))}"' for key, value in attributes.items())
    return Markup(f"<{name}{given}>{''.join(escape(child) for child in children)}</{name}>")


def marked(text: str, phrases: Iterable[str]) -> Markup:
    """Text with every occurrence of the phrases, whatever their letter case, inside ``<mark>``.

    >>> marked("Oslo & oslo", ["oslo"])
    '<mark style="background:#ffe0a3;color:#111">Oslo</mark> &amp; <mark style="background:#ffe0a3;color:#111">oslo</mark>'
    """
    wanted = sorted({phrase for phrase in phrases if phrase}, key=len, reverse=True)
    if not wanted:
        return escape(text)
    found = regex.compile("|".join(map(regex.escape, wanted)), flags=regex.IGNORECASE)
    pieces: list[Markup] = []
    start = 0
    for match in found.finditer(text):
        pieces += [escape(text[start : match.start()]), _mark(match.group())]
        start = match.end()
    return join([*pieces, escape(text[start:])])


def join(pieces: Sequence[Markup], between: str = "") -> Markup:
    """Markup pieces as one, with escaped text between them."""
    return Markup(escape(between).join(pieces))


def _mark(text: str) -> Markup:
    return tag("mark", text, style="background:#ffe0a3;color:#111")
