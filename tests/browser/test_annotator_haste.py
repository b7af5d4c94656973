"""The annotator in a hurry: keys typed ahead, items in haste, a full disk, two views of one annotator."""

import pytest
from support.lab import show
from support.screen import IMPORTS, Annotating, annotate

pytestmark = pytest.mark.browser

FAR = """lag => { window.ragnbLag = lag; if (window.ragnbSend) return;
  window.ragnbSend = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) {
    if (window.ragnbLag) setTimeout(() => window.ragnbSend.call(this, data), window.ragnbLag);
    else window.ragnbSend.call(this, data); } }"""
"""Whatever the page sends comes to the kernel some milliseconds later."""


@pytest.fixture
def delay(book):
    """Lets the kernel be some milliseconds away."""
    yield lambda lag: book.evaluate(FAR, lag)
    book.evaluate(FAR, 0)


def annotate_verdicts(book, who, n=3):
    return annotate(book, who, "verdict", f"verdict_items({n})")


def verdicts(screen, n):
    return [screen.labels(f"v/{k}").get("verdict") for k in range(1, n + 1)]


@pytest.mark.parametrize(
    ("lag", "then", "end"),
    [(0, "n", "no further item"), (300, "Enter", "all items are labelled or skipped")],
)
def test_every_key_labels_the_item_that_it_was_typed_for(book, delay, lag, then, end):
    screen = annotate_verdicts(book, f"haste{lag}", 6)
    delay(lag)
    for verdict in "123123":
        for key in (verdict, then):
            book.keyboard.press(key)
            book.wait_for_timeout(60)
    screen.settle()
    assert verdicts(screen, 6) == ["correct", "incorrect", "refuse"] * 2
    assert screen.message == end


def test_a_label_leads_to_the_next_item_and_keys_typed_ahead_follow(book, delay):
    book.evaluate("() => localStorage.removeItem('ragnb-annotator')")
    delay(300)
    screen = annotate_verdicts(book, "leads-on")
    screen.press_ahead("1", "2", "f", "3")
    screen.settle()
    assert verdicts(screen, 3) == ["correct", "incorrect", "refuse"]
    assert screen.values("flag") == [("v/3", True)]
    assert screen.message == "all items are labelled or skipped"
    screen.press("A")
    kept = book.evaluate("() => JSON.parse(localStorage.getItem('ragnb-annotator'))")
    assert kept["goesOn"] is False


def test_a_note_that_is_typed_ahead_is_on_its_item(book, delay):
    delay(300)
    screen = annotate_verdicts(book, "note-ahead")
    keys = ["1", "n", "m", *"1 n fe", "Backspace", "Enter", "z", "Escape", "2", "n"]
    screen.press_ahead(*keys)
    screen.settle()
    assert screen.values("note") == [("v/2", "1 n f\nz")]
    assert verdicts(screen, 3) == ["correct", "incorrect", None]


def test_keys_for_an_item_that_does_not_come_are_refused_and_that_stays(book, delay):
    delay(300)
    screen = annotate_verdicts(book, "ahead")
    screen.press_ahead("Enter", "2", "Enter", "3")
    screen.settle()
    assert verdicts(screen, 3) == [None, None, None]
    why = "still missing: verdict; press . to skip"
    refused = f"item 1 (keys typed ahead, not used: 2 Enter 3): {why}"
    assert refused in screen.message
    book.wait_for_timeout(1600)
    screen.press("n", "1", "p")
    assert refused in screen.message
    screen.press("1")
    assert screen.message == "", "what was said of this item is answered"
    assert verdicts(screen, 3) == ["correct", "correct", None]


def test_what_a_full_disk_refuses_stays_on_the_screen_until_it_is_seen(book):
    call = "shown = Annotator(verdict_items(), 'verdict', 'full', '.')\nshown"
    show(book, IMPORTS + call, "shown.session.log._db.execute('PRAGMA max_page_count = 3')")
    screen = Annotating(book, "full.verdict.jsonl")
    screen.focus()
    screen.press_ahead(*["f"] * 40)
    screen.settle()
    saved = screen.actions()
    assert 0 < len(saved) < 40
    assert set(saved) == {"flag"}
    refused = f"item 1 (flag) × {40 - len(saved)}: full.verdict.sqlite cannot be written"
    assert refused in screen.message
    assert "the disk is full" in screen.message
    screen.root.get_by_role("button", name="seen").click()
    assert screen.message == ""
    assert screen.root.locator(".part.documents").evaluate("box => box === document.activeElement")


WOULD_ASK = """() => { const leaving = new Event("beforeunload", { cancelable: true });
  window.dispatchEvent(leaving);
  return leaving.defaultPrevented }"""
"""Whether the browser would ask before it leaves the page."""


def test_the_page_is_not_left_unasked_while_something_is_on_its_way(book, delay):
    book.evaluate("() => localStorage.removeItem('ragnb-annotator')")
    screen = annotate_verdicts(book, "leaving", 6)
    assert not book.evaluate(WOULD_ASK)
    delay(1000)
    screen.press_ahead("1", "2", "3")
    assert book.evaluate(WOULD_ASK)
    screen.settle()
    assert not book.evaluate(WOULD_ASK)
    assert verdicts(screen, 3) == ["correct", "incorrect", "refuse"]


@pytest.fixture
def two_views(book):
    """One annotator in its cell, and once more in a tab of its own."""
    first = annotate(book, "views")
    book.evaluate("() => window.jupyterapp.commands.execute('notebook:create-output-view')")
    yield first, Annotating(book, "views.trace.jsonl", 1)
    book.evaluate(
        "() => [...window.jupyterapp.shell.widgets('main')].forEach(one => one.content.model || one.close())"
    )


def test_two_views_of_one_annotator_show_the_same_and_both_are_answered(book, two_views):
    first, second = two_views
    first.focus()
    first.press("x", "n", "a")
    second.focus()
    second.press("a", "u", "x", "g")
    assert [screen.badges("Fact 0 of document 0") for screen in two_views] == ["U", "U"]
    first.focus()
    first.press("n")
    assert ["Question 3" in screen.question for screen in two_views] == [True, True]
    assert "Question 3" in second.root.locator(".row[aria-selected=true]").inner_text()
    assert first.labels("q/1") == {"relevant": ["00"]}
    assert first.labels("q/2") == {"utilized": ["00"]}
    second.focus()
    second.press("m")
    second.type("of the third")
    second.settle()
    book.wait_for_timeout(900)
    first.root.locator("[title='previous item']").evaluate("button => button.click()")
    first.settle()
    second.settle()
    assert second.root.get_by_label("note on this item").input_value() == ""
    assert first.values("note") == [("q/3", "of the third")], "it is written to no other item"
