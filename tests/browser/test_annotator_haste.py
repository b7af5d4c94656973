"""The annotator in a hurry: double clicks, keys held down, items in haste, two views of one annotator."""

import pytest
from browser.lab import show
from browser.screen import Annotating, annotate

pytestmark = pytest.mark.browser


def trace(book, who, items="trace_items()"):
    return annotate(book, f"Annotator({items}, 'trace', {who!r}, '.')", f"{who}.trace.jsonl")


def verdict(book, who):
    return annotate(
        book,
        f"Annotator(verdict_items(), 'verdict', {who!r}, '.')",
        f"{who.replace(' ', '_')}.verdict.jsonl",
    )


FAR = """lag => { window.ragnbLag = lag; if (window.ragnbSend) return;
  window.ragnbSend = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) {
    if (window.ragnbLag) setTimeout(() => window.ragnbSend.call(this, data), window.ragnbLag);
    else window.ragnbSend.call(this, data); } }"""
"""Whatever the page sends comes to the kernel some milliseconds later."""

VERDICTS = ("correct", "incorrect", "refuse")


def in_haste(book, lag, pace, then, n):
    """Label items with key 1, 2, 3, 1, ... and go on with another key, one key every `pace` ms; returns the annotator."""
    who = f"haste{lag}-{pace}-{then}"
    screen = annotate(
        book, f"Annotator(verdict_items({n}), 'verdict', {who!r}, '.')", f"{who}.verdict.jsonl"
    )
    book.evaluate(FAR, lag)
    try:
        for k in range(n):
            for key in (str(k % 3 + 1), then):
                book.keyboard.press(key)
                book.wait_for_timeout(pace)
        screen.settle()
    finally:
        book.evaluate(FAR, 0)
    return screen


def verdicts(screen, n):
    return [screen.labels(f"v/{k}").get("verdict") for k in range(1, n + 1)]


def two_views(book, who):
    """One annotator in its cell, and once more in a tab of its own."""
    first = trace(book, who)
    book.evaluate("() => window.jupyterapp.commands.execute('notebook:create-output-view')")
    return first, Annotating(book, f"{who}.trace.jsonl", 1)


@pytest.fixture
def one_tab(book):
    """Closes what is beside the notebook."""
    yield
    book.evaluate(
        "() => [...window.jupyterapp.shell.widgets('main')].forEach(one => one.content.model || one.close())"
    )


@pytest.mark.parametrize(("lag", "pace", "then"), [(0, 60, "n"), (0.3, 60, "Enter")])
def test_every_key_labels_the_item_that_it_was_typed_for(book, lag, pace, then):
    screen = in_haste(book, round(1000 * lag), pace, then, 6)
    assert verdicts(screen, 6) == [*VERDICTS, *VERDICTS]
    assert screen.message == (
        "all items are labelled or skipped" if then == "Enter" else "no further item"
    )


@pytest.fixture
def far(book):
    """The kernel is 0.3 s away."""
    book.evaluate(FAR, 300)
    yield
    book.evaluate(FAR, 0)


def typed(book, *keys):
    for key in keys:
        book.keyboard.press(key)


def test_a_label_leads_to_the_next_item_and_keys_typed_ahead_follow(book, far):
    book.evaluate("() => localStorage.removeItem('ragnb-annotator')")
    screen = verdict(book, "leads on")
    typed(book, "1", "2", "f", "3")
    screen.settle()
    assert verdicts(screen, 3) == ["correct", "incorrect", "refuse"]
    assert [one["item"] for one in screen.events() if one["action"] == "flag"] == ["v/3"]
    assert screen.message == "all items are labelled or skipped"
    screen.press("A")
    assert (
        book.evaluate("() => JSON.parse(localStorage.getItem('ragnb-annotator')).goesOn") is False
    )


def test_a_note_that_is_typed_ahead_is_on_its_item(book, far):
    screen = verdict(book, "note ahead")
    typed(book, "1", "n", "m", *"1 n fe", "Backspace", "Enter", "z", "Escape", "2", "n")
    screen.settle()
    assert [(one["item"], one["value"]) for one in screen.events() if one["action"] == "note"] == [
        ("v/2", "1 n f\nz")
    ]
    assert verdicts(screen, 3) == ["correct", "incorrect", None]


def test_keys_for_an_item_that_does_not_come_are_refused_and_that_stays(book, far):
    screen = verdict(book, "ahead")
    typed(book, "Enter", "2", "Enter", "3")
    screen.settle()
    assert verdicts(screen, 3) == [None, None, None]
    refused = (
        "item 1 (keys typed ahead, not used: 2 Enter 3): still missing: verdict; press . to skip"
    )
    assert refused in screen.message
    book.wait_for_timeout(1600)
    screen.press("n", "1", "p")
    assert refused in screen.message
    screen.press("1")
    assert screen.message == "", "what was said of this item is answered"
    assert verdicts(screen, 3) == ["correct", "correct", None]


FULL = """
log = shown.session.log
log._db.execute("PRAGMA max_page_count = 3")
"""


def test_what_a_full_disk_refuses_stays_on_the_screen_until_it_is_seen(book):
    call = "Annotator(verdict_items(), 'verdict', 'full', '.')"
    show(
        book,
        f"from browser.items import *\nfrom ragnb.widgets import Annotator\nshown = {call}\nshown",
        FULL,
    )
    screen = Annotating(book, "full.verdict.jsonl")
    screen.focus()
    for _ in range(40):
        book.keyboard.press("f")
    screen.settle()
    saved = screen.actions()
    assert 0 < len(saved) < 40
    assert set(saved) == {"flag"}
    assert (
        f"item 1 (flag) × {40 - len(saved)}: full.verdict.sqlite cannot be written"
        in screen.message
    )
    assert "the disk is full" in screen.message
    screen.root.get_by_role("button", name="seen").click()
    assert screen.message == ""
    assert screen.root.locator(".part.documents").evaluate("box => box === document.activeElement")


def test_two_views_of_one_annotator_show_the_same_and_both_are_answered(book, one_tab):
    first, second = two_views(book, "views")
    first.focus()
    first.press("x", "n", "a")
    second.focus()
    second.press("a", "u", "x", "g")
    assert [first.badges("Fact 0 of document 0"), second.badges("Fact 0 of document 0")] == [
        "U",
        "U",
    ]
    first.focus()
    first.press("n")
    assert ["Question 3" in screen.question for screen in (first, second)] == [True, True]
    assert "Question 3" in second.root.locator(".row[aria-selected=true]").inner_text()
    assert [first.labels(item) for item in ("q/1", "q/2")] == [
        {"relevant": ["00"]},
        {"utilized": ["00"]},
    ]


def test_a_note_is_never_written_to_another_item(book, one_tab):
    first, second = two_views(book, "noted")
    second.focus()
    second.press("m")
    second.type("of the first")
    second.settle()
    book.wait_for_timeout(900)
    first.root.locator("[title='next item']").evaluate("button => button.click()")
    first.settle()
    second.settle()
    assert second.root.get_by_label("note on this item").input_value() == ""
    assert [(one["item"], one["value"]) for one in first.events() if one["action"] == "note"] == [
        ("q/1", "of the first")
    ]


def test_a_double_click_chooses_one_option_of_one_label(book):
    screen = trace(book, "double")
    screen.root.locator("[data-field=support] .option").nth(1).dblclick()
    screen.settle()
    assert screen.labels("q/1") == {"supporta": "partial"}
