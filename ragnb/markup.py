"""HTML, LaTeX and Markdown out of untrusted text: the one place where ragnb escapes.

Passages and responses come from the web and from models, so every text goes through `escape`. Meaning is carried by tags and
glyphs that survive every sanitiser; colours are decoration.
"""

import html
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import regex

_HIDDEN = regex.compile(r"[\p{Cc}\p{Cf}--[\t\n\r\u200C\u200D\uFE0F]]", flags=regex.V1)
_ALLOWED = frozenset("div p b i mark del span sup table tr td th details summary ol li small".split())


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
    pieces: list[Markup] = []
    done = 0
    for start, end in occurrences(text, phrases):
        pieces += [escape(text[done:start]), _tinted("mark", text[start:end], "#ffe0a3")]
        done = end
    return join([*pieces, escape(text[done:])])


def occurrences(text: str, phrases: Iterable[str]) -> list[tuple[int, int]]:
    """Where the phrases stand in a text, whatever their letter case: start and end, the longest first where two begin.

    >>> occurrences("Tampa Bay, TAMPA", ["Tampa", "Tampa Bay"])
    [(0, 9), (11, 16)]
    """
    wanted = sorted({phrase for phrase in phrases if phrase}, key=len, reverse=True)
    pattern = "|".join(map(regex.escape, wanted))
    return [found.span() for found in regex.finditer(pattern, text, flags=regex.IGNORECASE)] if wanted else []


class Sign(NamedTuple):
    """What tells one kind of span from another: its element, what follows it in superscript, and a tint as decoration."""

    element: str
    superscript: str
    tint: str


class Span(NamedTuple):
    """A stretch of a text and its sign."""

    start: int
    end: int
    sign: Sign


def annotated(text: str, spans: Iterable[Span]) -> Markup:
    """Text with every span inside its sign's element, and its superscript behind; spans may overlap.

    Where they do, the text is cut, so that elements never do. Spans of one sign that overlap or touch are one.

    >>> answer, false = Sign("mark", "1", "#fff"), Sign("del", "2", "#fff")
    >>> regex.sub(" style=[^>]*", "", annotated("New York City", [Span(0, 8, answer), Span(4, 13, false)]))
    '<mark>New </mark><mark><del>York</del></mark><sup>1</sup><del> City</del><sup>2</sup>'
    """
    opening, closing = defaultdict[int, list[Sign]](list), defaultdict[int, list[Sign]](list)
    for start, end, sign in _united(spans):
        opening[start].append(sign)
        closing[end].append(sign)
    pieces: list[Markup] = []
    over: list[Sign] = []
    for start, end in pairwise(sorted({0, len(text), *opening, *closing})):
        over += opening[start]
        pieces.append(_signed(text[start:end], over))
        if closing[end]:
            pieces.append(superscript(*(sign.superscript for sign in closing[end])))
            over = [sign for sign in over if sign not in closing[end]]
    return join(pieces)


def superscript(*signs: str) -> Markup:
    """Signs in superscript that leaves the lines as far apart as they are."""
    return tag("sup", " ".join(signs), style="line-height:0")


def _united(spans: Iterable[Span]) -> Iterator[Span]:
    """Spans in the order of their signs, each one as long as those of its sign that overlap or touch."""
    last: Span | None = None
    for span in sorted(spans, key=lambda span: (span.sign, span)):
        if last and last.sign == span.sign and span.start <= last.end:
            last = Span(last.start, max(last.end, span.end), last.sign)
            continue
        if last:
            yield last
        last = span
    if last:
        yield last


def _signed(text: str, signs: Sequence[Sign]) -> Markup:
    """Text inside the elements of its signs, each element once, the first one outside."""
    piece = escape(text)
    for element, tint in {sign.element: sign.tint for sign in reversed(signs)}.items():
        piece = _tinted(element, piece, tint)
    return piece


def join(pieces: Sequence[Markup], between: str = "") -> Markup:
    """Markup pieces as one, with escaped text between them."""
    return Markup(escape(between).join(pieces))


def _tinted(element: str, text: str, tint: str) -> Markup:
    return tag(element, text, style=f"background:{tint};color:#111")
