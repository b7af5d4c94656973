"""HTML, LaTeX and Markdown out of untrusted text: the one place where ragnb escapes.

Passages and responses come from the web and from models, so every text goes through `escape`. Meaning is carried by tags and
glyphs that survive every sanitiser; colours are decoration.
"""

import html
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

import regex

_JOINING = (
    r"\p{Arabic}\u0640\p{Syriac}\p{Mongolian}\p{Nko}\p{Mandaic}\p{Devanagari}\p{Bengali}\p{Gurmukhi}\p{Gujarati}\p{Oriya}"
    r"\p{Tamil}\p{Telugu}\p{Kannada}\p{Malayalam}\p{Sinhala}\p{Khmer}\p{Myanmar}\p{Tibetan}"
)
_HIDDEN = regex.compile(
    rf"""[[\p{{Cc}}\p{{Cf}}\p{{Cs}}\p{{Default_Ignorable_Code_Point}}\p{{Noncharacter_Code_Point}}]--[\p{{Prepended_Concatenation_Mark}}\t\n\r]]
    (?<! [[{_JOINING}]&&\p{{L}}] \p{{M}}* [\u200C\u200D])             # but a joiner after a letter that can join,
    (?! (?<= \p{{ExtPict}} \p{{GCB=Extend}}* \u200D) \p{{ExtPict}})   # one between the parts of an emoji,
    (?<! [\p{{Emoji}}\p{{Han}}] [\uFE00-\uFE0F])                      # and what selects a variant of the one before
    (?<! \p{{Han}} [\U000E0100-\U000E01EF])
    (?<! \p{{Mongolian}} [\u180B-\u180F])
    """,
    flags=regex.V1 | regex.VERBOSE,
)
_ALLOWED = frozenset(
    "div p b i mark del ins span sup table tr td th details summary ol li small".split()
)

_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    "\n": " ", "\r": " ", "\t": " ",
}  # fmt: skip
_LIGATURE = regex.compile(r"-(?=-)|`(?=`)|'(?=')|,(?=,)|[?!](?=`)")
"""Where LaTeX would make one sign of two, such as a dash of two hyphens."""
_MARKDOWN = regex.compile(r"([\\`*_{}\[\]()#+!|~$<>&-])")


class Markup(str):
    """Text that is HTML already; made by `tag` and `escape` only."""

    __slots__ = ()


def escape(text: Any) -> Markup:
    """Text as HTML that shows it and does nothing else.

    What `hidden` finds is spelled out as ``⟨U+202E⟩``, so that text cannot disguise itself.

    >>> escape('<b onclick="x">&')
    '&lt;b onclick=&quot;x&quot;&gt;&amp;'
    """
    if isinstance(text, Markup):
        return text
    return Markup(html.escape(spelled(text), quote=True))


def spelled(text: Any) -> str:
    """Plain text in which what `hidden` finds is spelled out: for titles that are drawn as text, not as HTML.

    >>> spelled("pay\\u202epal <b>")
    'pay⟨U+202E⟩pal <b>'
    """
    return _HIDDEN.sub(_code_point, str(text))


def escape_latex(text: Any) -> str:
    """Text as LaTeX that prints it and does nothing else; line breaks become spaces, and hyphens do not become dashes.

    >>> escape_latex("50% of R&D_1 \\\\input{x}")
    '50\\\\% of R\\\\&D\\\\_1 \\\\textbackslash{}input\\\\{x\\\\}'
    """
    escaped = "".join(_LATEX.get(character, character) for character in spelled(text))
    return _LIGATURE.sub(r"\g<0>{}", escaped)


def escape_markdown(text: Any) -> str:
    """Text as Markdown that shows it and does nothing else, inside a table cell too; line breaks become spaces.

    >>> escape_markdown("a|b <img> *c*") == r"a\\|b \\<img\\> \\*c\\*"
    True
    """
    return _MARKDOWN.sub(r"\\\1", " ".join(spelled(text).split()))


def hidden(text: str) -> list[str]:
    """Characters that cannot be seen where they stand, in order: controls, direction overrides, fillers, lone surrogates.

    Not among them is what gives its neighbours their shape: a zero-width (non-)joiner after a letter of a script that joins
    letters (``می\\u200cروم``), a joiner between the parts of an emoji, a variation selector after an emoji or a Han or
    Mongolian letter. Anywhere else these are hidden too, and so are the tags that spell the flags of regions.

    >>> hidden("pay\\u200cpal \\u202eexe"), hidden("می\\u200cروم")
    (['\\u200c', '\\u202e'], [])
    """
    return _HIDDEN.findall(text)


def boxed(text: str, places: Sequence[int]) -> list[Markup]:
    """A text cut at places, its pieces as `escape` would show the whole, each character that is spelled out in a box.

    Boxes have no say in the order of the text around them.

    >>> [regex.sub(" style=[^>]*", "", piece) for piece in boxed("a\\u202e<b>", [0, 2, 5])]
    ['a<small dir="ltr">⟨U+202E⟩</small>', '&lt;b&gt;']
    """
    return _cut(
        text,
        places,
        lambda found: tag("small", _code_point(found), dir="ltr", style="border:1px solid #999"),
    )


def _code_point(found: regex.Match[str]) -> str:
    return f"⟨U+{ord(found.group()):04X}⟩"


def _cut(
    text: str, places: Sequence[int], spell: Callable[[regex.Match[str]], str] = _code_point
) -> list[Markup]:
    """A text cut at places, escaped as a whole: what is hidden rests on the neighbours."""
    shown = [html.escape(character, quote=True) for character in text]
    for found in _HIDDEN.finditer(text):
        shown[found.start()] = spell(found)
    return [Markup("".join(shown[start:end])) for start, end in pairwise(places)]


def tag(name: str, *children: Any, **attributes: str) -> Markup:
    """One element; children that are not `Markup` are escaped, attribute values always.

    >>> tag("p", "1 < 2", dir="auto")
    '<p dir="auto">1 &lt; 2</p>'
    """
    if name not in _ALLOWED:
        raise ValueError(
            f"markup needs one of the elements {sorted(_ALLOWED)}; got {name!r}; use one of them"
        )
    given = "".join(f' {key}="{escape(str(value))}"' for key, value in attributes.items())
    return Markup(f"<{name}{given}>{''.join(escape(child) for child in children)}</{name}>")


def page(*children: Any) -> Markup:
    """What a viewer shows as a whole: as wide as it reads well, and no dollar in it begins a formula.

    >>> page("$1 or $2")
    '<div class="mathjax_ignore" style="max-width:60em;line-height:1.45">$1 or $2</div>'
    """
    return tag(
        "div", *children, **{"class": "mathjax_ignore"}, style="max-width:60em;line-height:1.45"
    )


def marked(text: str, phrases: Iterable[str]) -> Markup:
    """Text with every occurrence of the phrases, whatever their letter case, inside ``<mark>``.

    >>> marked("Oslo & oslo", ["oslo"])
    '<mark style="background:#ffe0a3;color:#111">Oslo</mark> &amp; <mark style="background:#ffe0a3;color:#111">oslo</mark>'
    """
    places = [0, *chain.from_iterable(occurrences(text, phrases)), len(text)]
    pieces = enumerate(_cut(text, places))
    return join(
        [_tinted("mark", piece, "#ffe0a3") if number % 2 else piece for number, piece in pieces]
    )


def occurrences(text: str, phrases: Iterable[str]) -> list[tuple[int, int]]:
    """Where the phrases stand in a text, whatever their letter case: start and end, the longest first where two begin.

    >>> occurrences("Tampa Bay, TAMPA", ["Tampa", "Tampa Bay"])
    [(0, 9), (11, 16)]
    """
    wanted = sorted({phrase for phrase in phrases if phrase}, key=len, reverse=True)
    pattern = "|".join(map(regex.escape, wanted))
    return (
        [found.span() for found in regex.finditer(pattern, text, flags=regex.IGNORECASE)]
        if wanted
        else []
    )


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
    places = sorted({0, len(text), *opening, *closing})
    pieces: list[Markup] = []
    over: list[Sign] = []
    for (start, end), piece in zip(pairwise(places), _cut(text, places), strict=True):
        over += opening[start]
        pieces.append(_signed(piece, over))
        if closing[end]:
            pieces.append(superscript(*(sign.superscript for sign in closing[end])))
            over = [sign for sign in over if sign not in closing[end]]
    return join(pieces)


def superscript(*signs: str, **attributes: str) -> Markup:
    """Signs in superscript that leaves the lines as far apart as they are."""
    return tag("sup", " ".join(signs), **attributes, style="line-height:0")


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


def _signed(piece: Markup, signs: Sequence[Sign]) -> Markup:
    """A piece inside the elements of its signs, each element once, the first one outside."""
    for element, tint in {sign.element: sign.tint for sign in reversed(signs)}.items():
        piece = _tinted(element, piece, tint)
    return piece


def join(pieces: Sequence[Markup], between: str = "") -> Markup:
    """Markup pieces as one, with escaped text between them."""
    return Markup(escape(between).join(pieces))


def _tinted(element: str, piece: Markup, tint: str) -> Markup:
    return tag(element, piece, style=f"background:{tint};color:#111")
