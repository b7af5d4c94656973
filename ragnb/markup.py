"""HTML, LaTeX and Markdown from untrusted text: the only place where ragnb escapes.

Passages and responses come from the web and from models, so every text passes through `escape`.
HTML templates call it for every value (see `ragnb.widgets.pages`). Tags and glyphs carry the
meaning, because they survive every sanitiser. Colours are decoration.
"""

import html
from collections.abc import Iterable
from typing import Any

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

_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    "\n": " ", "\r": " ", "\t": " ", "\u2028": " ", "\u2029": " ", "\u00a0": "~", "−": r"\ensuremath{-}",
}  # fmt: skip
_LIGATURE = regex.compile(r"-(?=-)|`(?=`)|'(?=')|,(?=,)|[?!](?=`)")
"""Where LaTeX would merge two characters, as it turns two hyphens into a dash."""
_RELATION = r"(?:=|\\textless\{\}|\\textgreater\{\})"
_TIED = regex.compile(
    rf"(?<=\b\p{{L}}) (?={_RELATION} \d)|(?<=\b\p{{L}} {_RELATION}) (?=\d)|(?<=\d) (?=\\%)"
)
"""Spaces at which LaTeX must not break a line, as in ``n = 68`` and ``5 %``."""
_MARKDOWN = regex.compile(r"([\\`*_{}\[\]()#+!|~$<>&-])")


class Markup(str):
    """Text that is already HTML."""

    __slots__ = ()

    def __html__(self) -> "Markup":
        """Return the text itself, so that templates do not escape it again."""
        return self


def escape(text: Any) -> Markup:
    """Convert a value to HTML that displays it as text; `Markup` is returned unchanged.

    Hidden characters (see `hidden`) are spelled out, such as ``⟨U+202E⟩``, so that a text cannot
    disguise itself.

    >>> escape('<b onclick="x">&')
    '&lt;b onclick=&quot;x&quot;&gt;&amp;'
    """
    if hasattr(text, "__html__"):
        return Markup(text)
    return Markup(html.escape(spelled(text)))


def spelled(text: Any) -> str:
    """Spell out the hidden characters of a text that is displayed as plain text, such as a title.

    >>> spelled("pay\\u202epal <b>")
    'pay⟨U+202E⟩pal <b>'
    """
    return _HIDDEN.sub(_code_point, str(text))


def escape_latex(text: Any) -> str:
    """Convert a value to LaTeX that prints it as text.

    Line breaks become spaces, and hyphens do not become dashes. Lines do not break inside of
    ``n = 68`` and ``5 %``.

    >>> escape_latex("50 % of R&D_1 \\\\input{x}, n = 68")
    '50~\\\\% of R\\\\&D\\\\_1 \\\\textbackslash{}input\\\\{x\\\\}, n~=~68'
    """
    escaped = "".join(_LATEX.get(character, character) for character in spelled(text))
    return _TIED.sub("~", _LIGATURE.sub(r"\g<0>{}", escaped))


def escape_markdown(text: Any) -> str:
    """Convert a value to Markdown that displays it as text, also inside a cell of a table.

    Line breaks become spaces.

    >>> escape_markdown("a|b <img> *c*") == r"a\\|b \\<img\\> \\*c\\*"
    True
    """
    return _MARKDOWN.sub(r"\\\1", " ".join(spelled(text).split()))


def hidden(text: str) -> list[str]:
    """List the hidden characters of a text: controls, direction overrides, fillers, lone surrogates.

    A character that shapes its neighbours is not hidden: a zero-width (non-)joiner after a letter
    of a script that joins letters (``می\\u200cروم``), a joiner between the parts of an emoji, and a
    variation selector after an emoji or a Han or Mongolian letter. Anywhere else these are hidden,
    and so are the tags that spell the flags of regions.

    >>> hidden("pay\\u200cpal \\u202eexe"), hidden("می\\u200cروم")
    (['\\u200c', '\\u202e'], [])
    """
    return _HIDDEN.findall(text)


def characters(text: str) -> list[str]:
    """Convert each character of a text to HTML; joined, they display the text.

    The list can be cut anywhere, although the neighbours decide if a character is hidden. A hidden
    character is spelled out in a box of its own direction, which does not affect the order of the
    text around it.

    >>> [regex.sub(" style=[^>]*", "", shown) for shown in characters("a\\u202e<")]
    ['a', '<small dir="ltr">⟨U+202E⟩</small>', '&lt;']
    """
    escaped = [html.escape(character) for character in text]
    for hidden in _HIDDEN.finditer(text):
        box = tag("small", _code_point(hidden), dir="ltr", style="border:1px solid #999")
        escaped[hidden.start()] = box
    return escaped


def _code_point(hidden: regex.Match[str]) -> str:
    return f"⟨U+{ord(hidden.group()):04X}⟩"


def tag(name: str, *children: Any, **attributes: str) -> Markup:
    """Return one element. Its children and the values of its attributes are escaped.

    >>> tag("p", "1 < 2", dir="auto")
    '<p dir="auto">1 &lt; 2</p>'
    """
    attribute_texts = "".join(f' {key}="{escape(str(value))}"' for key, value in attributes.items())
    return Markup(f"<{name}{attribute_texts}>{''.join(map(escape, children))}</{name}>")


def page(*children: Any) -> Markup:
    """Return the outermost element of a viewer. A dollar sign in it does not start a formula.

    >>> page("$1 or $2")
    '<div class="mathjax_ignore" style="max-width:60em;line-height:1.45">$1 or $2</div>'
    """
    return tag(
        "div", *children, **{"class": "mathjax_ignore"}, style="max-width:60em;line-height:1.45"
    )


def join(pieces: Iterable[Markup], between: str = "") -> Markup:
    """Join pieces of HTML, with an escaped text between them."""
    return Markup(escape(between).join(pieces))
