"""How the annotator reads: scripts from right to left, the ways of the focus, and what a screen reader is told."""

import pytest
from support.items import BIDI
from support.looks import CONTROLS, FOCUSED, TEXT_EDGES
from support.screen import annotate

pytestmark = pytest.mark.browser


def test_sentences_run_as_their_script_does(book):
    screen = annotate(book, "bidi", "verdict", "bidi_items()")
    line, question = map(screen.root.locator, (".part.response .sentence", ".question"))
    for code, (asked, _) in BIDI.items():
        assert asked in question.inner_text()
        direction, left, right = line.evaluate(TEXT_EDGES)
        if code == "en":
            assert (direction, left < 20) == ("ltr", True)
            assert "read a⟨U+202E⟩gpj.exe⟨U+202C⟩ twice" in line.inner_text()
        else:
            assert (direction, right < 20) == ("rtl", True)
            assert question.evaluate("node => getComputedStyle(node).direction") == "rtl"
        screen.press("n")


def test_tab_reaches_every_control_and_each_has_a_name_and_a_ring(book):
    screen = annotate(book, "tab", items="trace_items(3, 50)", more=", **judged()")
    screen.press("x", "?", "g", "Escape", "m")
    screen.type("note")
    screen.press("Escape", "/")
    expected = screen.root.evaluate(CONTROLS)
    screen.root.focus()
    reached = []
    for _ in range(expected + 5):
        book.keyboard.press("Tab")
        reached.append(book.evaluate(FOCUSED))
        if not reached[-1]["inside"]:
            break
    inside = reached[:-1]
    assert not reached[-1]["inside"], "Tab leaves the annotator at its end"
    assert len(inside) == expected
    assert not [one for one in inside if not one["name"].strip()]
    assert not [one for one in inside if not one["ring"]]


ACTIVE = """() => { const box = document.activeElement, at = box.getAttribute('aria-activedescendant');
  const option = at && document.getElementById(at);
  return [box.getAttribute('role'), option && option.getAttribute('role'), Boolean(option) && box.contains(option)] }"""
"""Roles of what has the focus and of its active option, and whether this is inside."""
OUTSIDE = """root => [...root.querySelectorAll('*')].filter(node => node.checkVisibility() &&
  node.getBoundingClientRect().right > root.getBoundingClientRect().right + 1).map(node => node.className)"""
"""What runs out of the annotator."""


def test_a_screen_reader_is_told_where_one_is_and_what_is_chosen(book):
    screen = annotate(book, "reader", items="trace_items(3, 50)")
    for key in "ArrowDown j PageDown End Home x Shift+j x v ] s n z Escape".split():
        screen.press(key)
        assert book.evaluate(ACTIVE) == ["listbox", "option", True], key
    screen.press("r")
    chosen = screen.root.locator(".sentence[aria-selected=true]").all_inner_texts()
    assert [line.split("]")[0] for line in chosen] == ["[00"]
    screen.press("g", "j", "j")
    assert book.evaluate(ACTIVE) == ["listbox", "option", True]
    live = screen.root.locator("[role=status][aria-live=polite]").first
    screen.press("Escape", "Enter")
    assert live.inner_text().startswith("still missing")


def test_nothing_runs_out_of_a_narrow_page(book):
    book.set_viewport_size({"width": 760, "height": 900})
    screen = annotate(book, "narrow", "verdict", "long_items()")
    assert screen.root.evaluate(OUTSIDE) == []
