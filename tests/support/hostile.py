"""Hostile text, and a strict reader of the HTML that is made of it: shared by the tests of everything that is shown."""

import unicodedata
from html.parser import HTMLParser

import regex
from hypothesis import strategies as st

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "' onfocus='alert(1)",
    "</div></body><!-- --><![CDATA[ ]]><?php ?>",
    "&lt;b&gt; &amp; &#60;script&#62; &nbsp",
    "<mark>not marked</mark>",
    "a\u202egpj.exe\u202c",
    "\x00\x08\x1b[31m\x7f\x9b",
    "javascript:alert(1)",
    "<<b>>b",
    "a\u202eb\u2066c\u200b\u200d\u2069\u3164",
    "🙂\ufe00\U000e0101\U000e0041\u200d",
]

RUN = "window.__hit=1"
PAYLOADS = [
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"<scr<script>ipt>{RUN}</scr</script>ipt>",
    f'<SCRIPT/XSS SRC="data:text/javascript,{RUN}"></SCRIPT>',
    f"<img src=x onerror={RUN}>",
    f"<img src=x: onerror\x0b={RUN}//",
    f"<svg onload={RUN}>",
    f'<svg><script href="data:,{RUN}" />',
    f"<svg><animate onbegin={RUN} attributeName=x dur=1s>",
    f'<svg><a xlink:href="javascript:{RUN}"><text>x</text></a></svg>',
    f'<svg><foreignObject><iframe srcdoc="<script>parent.{RUN}</script>"></foreignObject></svg>',
    f"<input autofocus onfocus={RUN}>",
    f"<details open ontoggle={RUN}><summary>x</summary></details>",
    f"<video><source onerror={RUN}></video>",
    f"<body onload={RUN}><marquee onstart={RUN}>",
    f'<a href="javascript:{RUN}">x</a>',
    f'<a href="jav&#x09;ascript:{RUN}">x</a>',
    f'[x](javascript:{RUN}) ![x](x" onerror="{RUN})',
    f'<form action="javascript:{RUN}"><button formaction="javascript:{RUN}">x</button></form>',
    f'<iframe src="javascript:parent.{RUN}"></iframe>',
    f'<iframe srcdoc="<img src=x onerror=parent.{RUN}>"></iframe>',
    f'<object data="data:text/html,<script>parent.{RUN}</script>"></object><embed src="https://example.org/x.swf">',
    "<style>@import 'https://example.org/x.css'; * { background: url(https://example.org/x.png) }</style>",
    f'<div style="width: expression({RUN}); background: url(javascript:{RUN})">x</div>',
    "<link rel=stylesheet href=https://example.org/x.css><base href=https://example.org/>",
    f'<meta http-equiv=refresh content="0;url=javascript:{RUN}">',
    f"<template><img src=x onerror={RUN}></template><x-y is=img>",
    f"{{{{constructor.constructor('{RUN}')()}}}} ${{{RUN}}} <%= {RUN} %>",
    f"$\\href{{javascript:{RUN}}}{{x}}$ $$\\unicode{{<img src=x onerror={RUN}>}}$$",
    f'<math href="javascript:{RUN}"><mtext><table><mglyph><style><img src=x onerror={RUN}></style></mglyph></table></mtext></math>',
    f'<noscript><p title="</noscript><img src=x onerror={RUN}>"></noscript>',
    f"<!--><img src=x onerror={RUN}>--> <!-- x --!><img src=x onerror={RUN}>",
    f"<![CDATA[<img src=x onerror={RUN}>]]> <?xml <img src=x onerror={RUN}> ?>",
    f"&lt;img src=x onerror={RUN}&gt; &#60;img src=x onerror={RUN}&#62; &amp;lt;script&amp;gt;",
    f'" autofocus onfocus="{RUN}" x="',
    f"' autofocus onfocus='{RUN}' x='",
    f"` onmouseover=`{RUN}` style=`position:fixed;inset:0`",
    f'"><img src=x onerror={RUN}>',
    f"'/></mark></sup></td></table></div></textarea></title></style><img src=x onerror={RUN}>",
    f"\u202e<img src=x onerror={RUN}>\u2066 \ufeff<\u0000script>{RUN}</script>",
    f"\uff1cimg src=x onerror={RUN}\uff1e \u226e\u0338script>{RUN}</script> \u2028<b\u00a0onclick={RUN}>x",
    f"%3Cscript%3E{RUN}%3C/script%3E \\u003cscript\\u003e{RUN}\\u003c/script\\u003e \\x3cimg src=x onerror={RUN}\\x3e",
]
"""Texts that set a flag in a page, or ask another one for something, wherever one of them is taken for HTML."""

ELEMENTS = set("div p b i mark del ins span sup table tr td th details summary small style".split())
"""Elements of which static viewers are made."""

SEEN = {
    *"\t\n\r",
    *map(chr, [*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD]),
}
UNSEEN = set("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
UNSEEN |= set(map(chr, [*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)]))
JOINING = set(
    "ARABIC SYRIAC MONGOLIAN NKO MANDAIC DEVANAGARI BENGALI GURMUKHI GUJARATI ORIYA TAMIL TELUGU KANNADA MALAYALAM SINHALA "
    "KHMER MYANMAR TIBETAN".split()
)


def visible(text):
    """What a reader is to see: characters that hide spelled out, but for those that ordinary text needs."""
    return "".join(shown(text))


def shown(text):
    """Each character of a text as a reader is to see it."""
    return [
        f"⟨U+{ord(c):04X}⟩" if hides(c) and not shapes(text, at) else c for at, c in enumerate(text)
    ]


def hides(character):
    return character not in SEEN and (
        unicodedata.category(character) in ("Cc", "Cf", "Cs") or character in UNSEEN
    )


def shapes(text, at):
    """Whether the character there is one that gives its neighbours their shape."""
    before, character = text[:at], text[at]
    if character in "\u200c\u200d":
        while before and unicodedata.category(before[-1])[0] == "M":
            before = before[:-1]
        letter = unicodedata.category(before[-1:] or " ")[0] == "L"
        return (letter and name(before[-1]).split()[0] in JOINING) or joins_emoji(text, at)
    if "\ufe00" <= character <= "\ufe0f":
        return regex.match(r"[\p{Emoji}\p{Han}]", before[-1:]) is not None
    if "\U000e0100" <= character <= "\U000e01ef":
        return regex.match(r"\p{Han}", before[-1:]) is not None
    return (
        "\u180b" <= character <= "\u180f" and regex.match(r"\p{Mongolian}", before[-1:]) is not None
    )


def joins_emoji(text, at):
    whole = any(found.start() < at < found.end() - 1 for found in regex.finditer(r"\X", text))
    return (
        whole and text[at] == "\u200d" and regex.match(r"\p{ExtPict}", text[at + 1 :]) is not None
    )


def name(character):
    return unicodedata.name(character, "?")


class Reader(HTMLParser):
    """Elements, attributes and text of a piece of HTML; anything but these is an error."""

    def __init__(self, markup):
        super().__init__()
        self.elements, self.attributes, self.text, self.marked, self._open = [], [], "", [], []
        self.feed(markup)
        self.close()
        assert self._open == []

    def handle_starttag(self, name, attributes):
        self.elements.append(name)
        self.attributes += attributes
        self._open.append(name)
        if name == "mark":
            self.marked.append("")

    def handle_endtag(self, name):
        assert self._open.pop() == name

    def handle_data(self, data):
        self.text += data if "style" not in self._open else ""
        if "mark" in self._open:
            self.marked[-1] += data

    def unknown_decl(self, data):
        raise AssertionError(data)

    handle_comment = handle_decl = handle_pi = unknown_decl


# Characters that this Python's Unicode tables do not know yet may be known as hidden to the newer ones of `regex`.
any_text = st.text(st.characters(exclude_categories=["Cs", "Cn"])) | st.lists(
    st.sampled_from(HOSTILE)
).map("".join)

joined_text = st.text(
    st.sampled_from(
        "می\u0651न\u094dक്ක්ᠠ辻👩🔬❤1aé\u0301 \u200c\u200d\ufe0e\ufe0f\ufe00\U000e0100\u180b\u180e\u202e\u2060"
    )
)
"""Text in which much rests on the neighbours: joiners and variation selectors among letters and emoji."""
