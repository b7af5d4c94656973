"""How the annotator looks and reads: contrast, scripts from right to left, and what a screen reader is told."""

import pytest
from browser.items import BIDI
from browser.lab import change_theme
from browser.looks import CONTRASTS, CONTROLS, FOCUSED, TEXT_EDGES
from browser.screen import annotate

pytestmark = pytest.mark.browser


def trace(book, who, more=", **judged()"):
    return annotate(
        book, f"Annotator(trace_items(3, 50), 'trace', {who!r}, '.'{more})", f"{who}.trace.jsonl"
    )


def everything_open(screen):
    """Labels, suggestions, a warning, a note, a search and every panel at once."""
    screen.press("x", "j", "j", "e", "u", "x", "j", "v", "3", "s", "x", "r", "m")
    screen.type("a note")
    screen.press("Escape", "g", "Escape", "?", "/")
    screen.type("Fact 3")
    screen.focus()
    screen.root.locator(".panel").evaluate_all(
        "panels => panels.forEach(panel => { panel.hidden = false })"
    )
    screen.press("g", "g")
    screen.focus()
    screen.press("j", "Shift+ArrowDown")


BRIGHT_LETTERS = "root => Number(getComputedStyle(root).color.match(/\\d+/)[0]) > 127"


def test_every_text_stands_out_from_what_is_behind_it(book):
    screen = trace(book, "contrast")
    everything_open(screen)
    measured = screen.root.evaluate(CONTRASTS)
    screen.press("Enter")
    screen.root.locator(".message .now").evaluate(
        "node => { node.textContent = 'not saved'; node.classList.add('failed') }"
    )
    measured += screen.root.evaluate(CONTRASTS)
    change_theme(book, "dark")
    book.wait_for_function(BRIGHT_LETTERS, arg=screen.root.element_handle())
    dark = screen.root.evaluate(CONTRASTS)
    assert len(measured) > 150
    assert len(dark) > 75
    assert "not saved" in [one[2] for one in measured]
    assert "not saved" in [one[2] for one in dark]
    assert not [one for one in measured + dark if one[0] < 4.5]


def test_sentences_run_as_their_script_does(book):
    screen = annotate(book, "Annotator(bidi_items(), 'verdict', 'bidi', '.')", "bidi.verdict.jsonl")
    line, question = (
        screen.root.locator(".part.response .sentence"),
        screen.root.locator(".question"),
    )
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
    screen = trace(book, "tab")
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


def test_a_screen_reader_is_told_where_one_is_and_what_is_chosen(book):
    screen = trace(book, "reader", more="")
    for key in "ArrowDown j PageDown End Home x Shift+j x v ] s n z Escape".split():
        screen.press(key)
        told = book.evaluate("""() => { const box = document.activeElement, at = box.getAttribute('aria-activedescendant');
          const option = at && document.getElementById(at);
          return [box.getAttribute('role'), option && option.getAttribute('role'), Boolean(option) && box.contains(option)] }""")
        assert told == ["listbox", "option", True], key
    screen.press("r")
    chosen = screen.root.locator(".sentence[aria-selected=true]").all_inner_texts()
    assert [line.split("]")[0] for line in chosen] == ["[00"]
    screen.press("g", "j", "j")
    assert (
        book.evaluate(
            "() => document.getElementById(document.activeElement.getAttribute('aria-activedescendant')).role"
        )
        == "option"
    )
    live = screen.root.locator("[role=status][aria-live=polite]").first
    screen.press("Escape", "Enter")
    assert live.inner_text().startswith("still missing")


def test_nothing_runs_out_of_a_narrow_page(book):
    book.set_viewport_size({"width": 760, "height": 900})
    screen = annotate(
        book, "Annotator(long_items(), 'verdict', 'narrow', '.')", "narrow.verdict.jsonl"
    )
    wider = screen.root.evaluate("root => [...root.querySelectorAll('*')].filter(node => node.checkVisibility() && "
                                 "node.getBoundingClientRect().right > root.getBoundingClientRect().right + 1).map(node => node.className)")  # fmt: skip
    assert wider == []


def test_an_item_without_documents_and_without_a_question_can_be_labelled(book):
    frame = "pd.DataFrame({'example_id': ['bare'], 'question': [None], 'response': ['Oslo.']})"
    screen = annotate(book, f"Annotator({frame}, 'verdict', 'bare', '.')", "bare.verdict.jsonl")
    screen.press("2")
    assert screen.labels("bare") == {"verdict": "incorrect"}
