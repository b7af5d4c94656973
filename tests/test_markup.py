import html
import unicodedata

import pytest
import regex
from hostile import HOSTILE, Reader, any_text, joined_text, shown, visible
from hypothesis import example, given
from hypothesis import strategies as st

from ragnb.markup import (
    Markup,
    Sign,
    Span,
    annotated,
    boxed,
    escape,
    hidden,
    join,
    marked,
    occurrences,
    spelled,
    superscript,
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


@given(any_text | joined_text)
def test_text_for_titles_is_spelled_out_but_not_escaped(text):
    assert spelled(text) == visible(text)
    assert escape(text) == html.escape(spelled(text))


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


def test_hidden_characters_are_listed_in_order():
    assert hidden("a\u202e\u200b b\x00\u202e\U000e0041") == [
        "\u202e",
        "\u200b",
        "\x00",
        "\u202e",
        "\U000e0041",
    ]
    assert hidden("") == []


@given(any_text | joined_text)
def test_what_is_hidden_is_what_is_spelled_out(text):
    assert hidden(text) == [c for c, seen in zip(text, shown(text), strict=True) if c != seen]
    assert escape(text) == html.escape(visible(text), quote=True)


@given(any_text | joined_text, st.lists(st.integers(0, 20)))
@example("".join(HOSTILE), [3, 8])
def test_what_is_spelled_out_can_stand_in_boxes_wherever_the_text_is_cut(text, cuts):
    pieces = boxed(text, [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)])
    page = Reader(join(pieces))
    assert page.text == visible(text)
    assert page.elements == ["small"] * len(hidden(text))
    assert regex.sub("<small [^>]*>(.*?)</small>", r"\1", join(pieces)) == escape(text)
    assert [set(Reader(piece).elements) for piece in pieces] == [
        {"small"} if "<small" in piece else set() for piece in pieces
    ]


def test_markup_is_escaped_once():
    assert escape(escape("<")) == "&lt;"
    assert tag("p", tag("b", "<")) == "<p><b>&lt;</b></p>"
    assert tag("p", str(tag("b", "<")) + "") == "<p>&lt;b&gt;&amp;lt;&lt;/b&gt;</p>", (
        "a plain string is not markup"
    )


@given(any_text)
@example("".join(HOSTILE))
def test_whatever_a_text_holds_only_text_comes_out(text):
    page = Reader(escape(text))
    assert page.elements == []
    assert page.text == visible(text)


@given(any_text, any_text)
@example(*HOSTILE[3:5])
def test_neither_children_nor_attributes_can_leave_their_place(text, value):
    page = Reader(tag("p", text, tag("b", text), title=value))
    assert page.elements == ["p", "b"]
    assert page.attributes == [("title", visible(value))]
    assert page.text == visible(text) * 2


@given(any_text | joined_text, st.lists(any_text | joined_text, max_size=3))
@example("".join(HOSTILE), ["<script>", "alert", "\u202e"])
@example("می\u200cروم 👩\u200d🔬", ["می", "👩"])
@example("Straße İstanbul ﬁ", ["STRASSE", "i", "FI"])
@example("&lt;&", ["&", "lt"])
def test_marking_adds_marks_and_changes_no_text(text, phrases):
    page = Reader(marked(text, phrases))
    assert set(page.elements) <= {"mark"}
    assert {name for name, _ in page.attributes} <= {"style"}
    assert page.text == visible(text)


caseless = st.characters(categories=["Lo", "Nd", "Po", "Zs", "Cf"], include_characters="<>&+$")


@given(any_text, st.text(caseless, min_size=1), any_text)
def test_a_phrase_that_is_there_is_marked_where_it_first_stands(before, phrase, after):
    text = before + phrase + after
    page, seen, start = marked(text, [phrase]), shown(text), text.index(phrase)
    assert Reader(page).marked[0] == "".join(seen[start : start + len(phrase)])
    assert page.startswith(html.escape("".join(seen[:start])) + "<mark ")


@pytest.mark.parametrize(
    ("text", "phrases", "expected"),
    [
        ("Oslo and OSLO", ["oslo"], ["Oslo", "OSLO"]),
        ("Tampa Bay", ["Tampa", "Tampa Bay"], ["Tampa Bay"]),
        ("a.b axb", ["a.b"], ["a.b"]),
        ("f(x) = $1", ["(x)", "$1"], ["(x)", "$1"]),
        ("是的，他是", ["是"], ["是", "是"]),
        ("ПЁТР", ["пётр"], ["ПЁТР"]),
        ("nothing here", ["absent"], []),
        ("nothing asked", [], []),
        ("nothing asked", [""], []),
        ("<b>x</b>", ["<b>"], ["<b>"]),
        ("a\u202eb", ["a\u202e"], ["a⟨U+202E⟩"]),
    ],
)
def test_phrases_are_marked_whatever_their_case_longest_first(text, phrases, expected):
    assert Reader(marked(text, phrases)).marked == expected


# ---- several kinds of spans at once ------------------------------------------------------------------------------------

ONE, TWO, BAD = Sign("mark", "1", "#fff"), Sign("mark", "2", "#fff"), Sign("del", "≠", "#eee")
UP = superscript("").removesuffix("</sup>")


def plain(markup):
    """Markup without its decoration."""
    return regex.sub(' style="[^"]*"', "", markup)


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([], "abcdef"),
        ([(0, 6, ONE)], "<mark>abcdef</mark><sup>1</sup>"),
        ([(1, 3, ONE), (3, 5, BAD)], "a<mark>bc</mark><sup>1</sup><del>de</del><sup>≠</sup>f"),
        (
            [(0, 4, BAD), (2, 6, ONE)],
            "<del>ab</del><del><mark>cd</mark></del><sup>≠</sup><mark>ef</mark><sup>1</sup>",
        ),
        (
            [(0, 6, BAD), (2, 3, ONE)],
            "<del>ab</del><del><mark>c</mark></del><sup>1</sup><del>def</del><sup>≠</sup>",
        ),
        ([(2, 4, ONE), (2, 4, BAD)], "ab<del><mark>cd</mark></del><sup>≠ 1</sup>ef"),
        (
            [(0, 3, ONE), (1, 4, TWO)],
            "<mark>a</mark><mark>bc</mark><sup>1</sup><mark>d</mark><sup>2</sup>ef",
        ),
        ([(0, 2, ONE), (1, 3, ONE), (3, 4, ONE)], "<mark>abcd</mark><sup>1</sup>ef"),
        ([(0, 5, ONE), (1, 2, ONE)], "<mark>abcde</mark><sup>1</sup>f"),
        ([(0, 1, ONE), (2, 3, ONE)], "<mark>a</mark><sup>1</sup>b<mark>c</mark><sup>1</sup>def"),
    ],
)
def test_spans_may_overlap_and_elements_never_do(spans, expected):
    assert plain(annotated("abcdef", map(Span._make, spans))) == expected


places = st.tuples(st.integers(0, 40), st.integers(1, 40), st.sampled_from([ONE, TWO, BAD]))


@given(any_text | joined_text, st.lists(places, max_size=6))
@example("".join(HOSTILE), [(3, 9, ONE), (5, 30, BAD), (7, 8, TWO)])
def test_annotating_adds_elements_and_superscripts_and_changes_no_text(text, places):
    spans = [
        Span(start, min(start + length, len(text)), sign)
        for start, length, sign in places
        if start < len(text)
    ]
    page = annotated(text, spans)
    view = Reader(page)
    assert set(view.elements) <= {"mark", "del", "sup"}
    assert {name for name, _ in view.attributes} <= {"style"}
    assert Reader(regex.sub(f"{UP}[12≠ ]*</sup>", "", page)).text == visible(text)
    assert annotated(text, reversed(spans)) == page, "the order of the spans does not count"


def test_a_text_of_nothing_but_spans_is_annotated_in_linear_time():
    text = "a " * 20_000
    assert (
        annotated(text, [Span(n, n + 1, ONE) for n in range(0, len(text), 2)]).count("<sup")
        == 20_000
    )


def test_occurrences_are_where_the_marks_are():
    assert occurrences("Tampa Bay or TAMPA", ["tampa", "Tampa Bay", ""]) == [(0, 9), (13, 18)]
    assert occurrences("anything", [""]) == []


def test_pieces_are_joined_with_escaped_text_between():
    assert join([escape("a"), tag("b", "c")], " < ") == "a &lt; <b>c</b>"
    assert join([]) == ""
    assert isinstance(join([]), Markup)


@pytest.mark.parametrize("name", ["script", "img", "p onclick"])
def test_no_element_but_the_harmless_ones_is_made(name):
    with pytest.raises(ValueError, match="elements"):
        tag(name, "x")
