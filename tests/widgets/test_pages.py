"""Marks inside texts, and the one place where templates escape."""

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st
from support.hostile import HOSTILE, Reader, any_text, joined_text, visible

from ragnb.widgets.pages import TEMPLATES, Mark, annotated, occurrences

ONE, TWO, BAD = Mark("mark", "1"), Mark("mark", "2"), Mark("del", "≠")


def marked(text, phrases):
    return annotated(text, [(*at, Mark("mark")) for at in occurrences(text, phrases)])


@given(any_text | joined_text, st.lists(any_text | joined_text, max_size=3))
@example("".join(HOSTILE), ["<script>", "alert", "\u202e"])
@example("می\u200cروم 👩\u200d🔬", ["می", "👩"])
@example("Straße İstanbul ﬁ", ["STRASSE", "i", "FI"])
@example("&lt;&", ["&", "lt"])
def test_marking_adds_marks_and_changes_no_text(text, phrases):
    page = Reader(marked(text, phrases))
    assert set(page.elements) <= {"mark", "small"}
    assert page.text == visible(text)


@pytest.mark.parametrize(
    ("text", "phrases", "expected"),
    [
        ("Oslo and OSLO", ["oslo"], ["Oslo", "OSLO"]),
        ("Tampa Bay", ["Tampa", "Tampa Bay"], ["Tampa Bay"]),
        ("f(x) = $1 axb", ["(x)", "$1", "a.b"], ["(x)", "$1"]),
        ("是的，他是", ["是", ""], ["是", "是"]),
    ],
)
def test_phrases_are_marked_whatever_their_case_longest_first(text, phrases, expected):
    assert Reader(marked(text, phrases)).marked == expected


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        (
            [(0, 4, BAD), (2, 6, ONE)],
            "<del>ab</del><del><mark>cd</mark></del><sup>≠</sup><mark>ef</mark><sup>1</sup>",
        ),
        ([(2, 4, ONE), (2, 4, BAD)], "ab<del><mark>cd</mark></del><sup>≠ 1</sup>ef"),
        (
            [(0, 3, ONE), (1, 4, TWO)],
            "<mark>a</mark><mark>bc</mark><sup>1</sup><mark>d</mark><sup>2</sup>ef",
        ),
        ([(0, 2, ONE), (1, 3, ONE), (3, 4, ONE)], "<mark>abcd</mark><sup>1</sup>ef"),
    ],
)
def test_spans_may_overlap_and_elements_never_do(spans, expected):
    assert annotated("abcdef", spans) == expected


places = st.tuples(st.integers(0, 40), st.integers(1, 40), st.sampled_from([ONE, TWO, BAD]))


@given(any_text | joined_text, st.lists(places, max_size=6))
@example("".join(HOSTILE), [(3, 9, ONE), (5, 30, BAD), (7, 8, TWO)])
def test_annotating_adds_elements_and_superscripts_and_changes_no_text(text, places):
    ends = len(text)
    spans = [(start, min(start + n, ends), sign) for start, n, sign in places if start < ends]
    page = annotated(text, spans)
    assert set(Reader(page).elements) <= {"mark", "del", "sup", "small"}
    assert Reader(regex.sub("<sup>[12≠ ]*</sup>", "", page)).text == visible(text)
    assert annotated(text, reversed(spans)) == page, "the order of the spans does not count"


OURS = set(
    "score.meaning height answer.name card_id id link passage.rank claim.link passage.css entry.letters entry.links entry.link css n name policy picture alt".split()
)
"""What attributes are made of: names of classes, numbers, and definitions of metrics."""


def test_no_template_takes_a_text_for_html():
    """Values are escaped by the environment alone, and attributes hold nothing from outside."""
    for path in TEMPLATES.glob("*.html"):
        source = path.read_text("utf-8")
        assert "safe" not in regex.findall(r"\w+", source), path.name
        assert "autoescape" not in source, path.name
        values = "".join(regex.findall(r'\w+="([^"]*\{\{[^"]*)"', source))
        inside = set(regex.findall(r"\{\{ *([\w.]+)", values))
        assert inside <= OURS, path.name
