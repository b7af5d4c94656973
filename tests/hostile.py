"""Hostile text, and a strict reader of the HTML that is made of it: shared by the tests of everything that is shown."""

import unicodedata
from html.parser import HTMLParser

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
]


def visible(text):
    """What a reader is to see: control and format characters spelled out, but for those that ordinary text needs."""
    hidden = {c for c in text if unicodedata.category(c) in ("Cc", "Cf") and c not in "\t\n\r\u200c\u200d\ufe0f"}
    return "".join(f"⟨U+{ord(c):04X}⟩" if c in hidden else c for c in text)


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
        self.text += data
        if "mark" in self._open:
            self.marked[-1] += data

    def unknown_decl(self, data):
        raise AssertionError(data)

    handle_comment = handle_decl = handle_pi = unknown_decl


# Characters that this Python's Unicode tables do not know yet may be known as hidden to the newer ones of `regex`.
any_text = st.text(st.characters(exclude_categories=["Cs", "Cn"])) | st.lists(st.sampled_from(HOSTILE)).map("".join)
