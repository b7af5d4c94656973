"""The static form of every viewer under a corpus of attacks: nothing but its own elements, and every text to be read."""

import pytest
from hostile import PAYLOADS, Reader, visible
from hostile_views import annotator, browsers, static_views

from ragnb.markup import _ALLOWED

ATTRIBUTES = {"class", "style", "dir", "lang", "title"}


def assert_harmless(page, text):
    assert set(page.elements) <= _ALLOWED
    assert {name for name, _ in page.attributes} <= ATTRIBUTES
    assert {value for name, value in page.attributes if name == "class"} <= {"mathjax_ignore"}
    assert visible(text).split("\n")[0] in page.text


def test_the_corpus_is_wide():
    assert len(set(PAYLOADS)) >= 40


@pytest.mark.parametrize("text", PAYLOADS)
def test_static_viewers_show_attacks_as_text(text):
    for view in static_views(text).values():
        assert_harmless(Reader(view._repr_html_()), text)


def test_live_browsers_show_attacks_as_text():
    for browser in browsers(PAYLOADS).values():
        slider = browser.children[0]
        for number, text in enumerate(PAYLOADS, 1):
            slider.value = number
            assert_harmless(Reader(browser._page.value), text)
        assert_harmless(Reader(browser._repr_mimebundle_()["text/html"]), PAYLOADS[0])


def test_the_annotators_static_form_shows_attacks_as_text(tmp_path):
    shown = annotator(PAYLOADS, tmp_path)
    for number, text in enumerate(PAYLOADS):
        shown.session.go(number)
        page = Reader(shown._repr_html_())
        assert_harmless(page, text)
        assert all(visible(label) in page.text for label in PAYLOADS), (
            "the guideline is made of them"
        )
    shown.session.close()
