"""The static form of every viewer under a corpus of attacks: nothing but its own elements, and every text to be read."""

import pytest
import regex
from support.hostile import ELEMENTS, HOSTILE, PAYLOADS, Reader, visible
from support.hostile_views import annotator, static_views

from ragnb.widgets import view


def assert_harmless(html, text):
    page = Reader(html)
    assert set(page.elements) <= ELEMENTS
    links = {"id", "aria-describedby"}
    allowed = {"class", "style", "dir", "open", "title", "role", "tabindex"} | links
    assert {name for name, _ in page.attributes} <= allowed
    ids = {one for name, value in page.attributes if name in links for one in value.split()}
    assert all(regex.fullmatch(r"r[0-9a-f]+-r-[cks]\d+", one) for one in ids)
    roles = {value for name, value in page.attributes if name in ("role", "tabindex")}
    assert roles <= {"mark", "0"}
    classes = {one for name, value in page.attributes if name == "class" for one in value.split()}
    assert all(
        regex.fullmatch("mathjax_ignore|ragnb-[a-z-]+|r-[A-Za-z0-9]+", one) for one in classes
    )
    assert visible(text).split("\n")[0] in page.text


@pytest.mark.parametrize("text", [*PAYLOADS, *HOSTILE])
def test_static_viewers_show_attacks_as_text(text):
    assert len(set(PAYLOADS)) >= 40
    for shown in static_views(text):
        assert_harmless(view(*shown)._repr_html_(), text)


def test_the_annotators_static_form_shows_attacks_as_text(tmp_path):
    shown = annotator(PAYLOADS, tmp_path)
    for number, item in enumerate(shown.session.items):
        shown.session.go(number)
        assert_harmless(shown._repr_html_(), item.question)
    page = Reader(shown._repr_html_()).text
    assert all(visible(text) in page for text in PAYLOADS), "the guideline is made of them"
    shown.session.close()
