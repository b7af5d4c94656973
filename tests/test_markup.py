import html
import unicodedata

import pytest
from hypothesis import example, given
from support.hostile import HOSTILE, Reader, any_text, joined_text, shown, visible

from ragnb.markup import (
    Markup,
    characters,
    escape,
    escape_latex,
    hidden,
    join,
    spelled,
    tag,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("plain 中文", "plain 中文"),
        ("<b>", "&lt;b&gt;"),
        ("a & b", "a &amp; b"),
        ('"q"', "&quot;q&quot;"),
        ("it's", "it&#x27;s"),
        ("&amp;", "&amp;amp;"),
        ("</script>", "&lt;/script&gt;"),
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("\u2066\u2069\u200f\u061c", "⟨U+2066⟩⟨U+2069⟩⟨U+200F⟩⟨U+061C⟩"),
        ("\x00\x1b\x7f\x85", "⟨U+0000⟩⟨U+001B⟩⟨U+007F⟩⟨U+0085⟩"),
        ("\u200b\u00ad\ufeff", "⟨U+200B⟩⟨U+00AD⟩⟨U+FEFF⟩"),
        ("\U000e0041", "⟨U+E0041⟩"),
        ("a\tb\nc\r", "a\tb\nc\r"),
        ("\u3164\u1160\u034f\ufff9", "⟨U+3164⟩⟨U+1160⟩⟨U+034F⟩⟨U+FFF9⟩"),
        ("\ud800x\udfff", "⟨U+D800⟩x⟨U+DFFF⟩"),
        ("pay\u200cpal \u200d é\u200d", "pay⟨U+200C⟩pal ⟨U+200D⟩ é⟨U+200D⟩"),
        ("می\u200c\u200cروم", "می\u200c⟨U+200C⟩روم"),
        ("👩\u200dx \u200d🔬", "👩⟨U+200D⟩x ⟨U+200D⟩🔬"),
        (
            "a\ufe0f🙂\ufe0f\ufe00 辻\U000e0100\U000e0101",
            "a⟨U+FE0F⟩🙂\ufe0f⟨U+FE00⟩ 辻\U000e0100⟨U+E0101⟩",
        ),
        (3.5, "3.5"),
        (None, "None"),
    ],
)
def test_text_is_shown_and_does_nothing_else(text, expected):
    assert escape(text) == expected
    assert isinstance(escape(text), Markup)


NEEDED = {
    "Persian": "می\u200cروم، خانه\u200cها",
    "Persian with a mark": "مُ\u200cها",
    "Arabic alone": "ه\u200d",
    "Hindi": "क्\u200dष",
    "Bengali": "র\u200d্যাব",
    "Malayalam": "അവന്\u200d",
    "Sinhala": "ශ්\u200dරී ලංකා",
    "Quran": "الرحيم ۝١",
    "family": "👨\u200d👩\u200d👧\u200d👦",
    "skin and hair": "👩🏽\u200d🦰 🏳\ufe0f\u200d🌈 ❤\ufe0f\u200d🔥",
    "keycap": "1\ufe0f\u20e3 ☎\ufe0e",
    "a name": "辻\U000e0100 葛\U000e0101 都\ufe00",
    "Mongolian": "ᠨ\u180eᠠ ᠨ\u180bᠠ",
    "vowelled": "שָׁלוֹם رَحْمَة",
    "stacked": "e\u0301\u0323 ที่",
}


@pytest.mark.parametrize("text", NEEDED.values(), ids=NEEDED)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_what_shapes_its_neighbours_stays_as_it_is(text, form):
    text = unicodedata.normalize(form, text)
    assert escape(text) == text
    assert hidden(text) == []


@given(any_text | joined_text)
@example("".join(HOSTILE))
def test_only_text_comes_out_and_what_is_hidden_is_spelled_out(text):
    page = Reader(escape(text))
    assert page.elements == []
    assert page.text == spelled(text) == visible(text)
    assert escape(text) == html.escape(visible(text))
    seen = shown(text)
    assert hidden(text) == [c for c, new in zip(text, seen, strict=True) if c != new]
    boxed = characters(text)
    assert [Reader(piece).text for piece in boxed] == seen
    assert Reader("".join(boxed)).elements == ["small"] * len(hidden(text))


def test_markup_is_escaped_once():
    assert escape(escape("<")) == "&lt;"
    assert tag("p", tag("b", "<")) == "<p><b>&lt;</b></p>"
    assert tag("p", str(tag("b", "<")) + "") == "<p>&lt;b&gt;&amp;lt;&lt;/b&gt;</p>", (
        "a plain string is not markup"
    )


@given(any_text, any_text)
@example(*HOSTILE[3:5])
def test_neither_children_nor_attributes_can_leave_their_place(text, value):
    page = Reader(tag("p", text, tag("b", text), title=value))
    assert page.elements == ["p", "b"]
    assert page.attributes == [("title", visible(value))]
    assert page.text == visible(text) * 2


def test_pieces_are_joined_with_escaped_text_between():
    assert join([escape("a"), tag("b", "c")], " < ") == "a &lt; <b>c</b>"
    assert isinstance(join([]), Markup)


@pytest.mark.parametrize("line_break", ["\n", "\r", "\u2028", "\u2029"])
def test_latex_has_a_space_for_each_line_break(line_break):
    assert escape_latex(f"one{line_break}two") == "one two"
