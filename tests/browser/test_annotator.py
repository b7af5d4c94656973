"""The annotator in a real JupyterLab: every way to label, and what of it is on the disk."""

import re

import pytest
from browser.screen import annotate

pytestmark = pytest.mark.browser


def trace(book, who, items="trace_items()", more=""):
    return annotate(book, f"Annotator({items}, 'trace', {who!r}, '.'{more})", f"{who}.trace.jsonl")


def test_the_mouse_clicks_drags_and_takes_a_range(book):
    screen = trace(book, "mouse")
    screen.click("Fact 1 of document 0")
    assert screen.labels("q/1") == {"relevant": ["01"]}
    screen.drag("Fact 0 of document 1", "Fact 2 of document 1")
    assert screen.labels("q/1") == {"relevant": ["01", "10", "11", "12"]}
    screen.click("Fact 0 of document 0")
    screen.click("Fact 2 of document 0", modifiers=["Shift"])
    assert screen.labels("q/1") == {"relevant": ["00", "01", "02", "10", "11", "12"]}
    assert screen.marked() == ["00", "01", "02", "10", "11", "12"]
    screen.click("Fact 1 of document 0")
    assert screen.labels("q/1") == {"relevant": ["00", "02", "10", "11", "12"]}
    assert book.locator(".jp-Cell.jp-mod-selected").count() == 1, (
        "a shift-click selects sentences, not cells"
    )


def test_a_whole_trace_item_by_keys_alone(book):
    screen = trace(book, "keys")
    screen.press("x", "ArrowDown", "j", " ", "u", "Shift+ArrowUp", "Shift+k", "x")
    assert screen.labels("q/1") == {"relevant": ["00", "02"], "utilized": ["00", "01", "02"]}
    assert screen.badges("Fact 0 of document 0") == "R U"
    screen.press("Enter")
    assert (
        screen.message == "still missing: supports the sentence [a] (e for none); press . to skip"
    )
    screen.press("x", "v", "1", "]", "s", "e", "v", "3")
    screen.press("Enter")
    assert "the whole response" in screen.message
    screen.press("w", "2")
    assert screen.labels("q/1") == {
        "relevant": ["00", "02"], "utilized": ["00", "01", "02"], "supportinga": ["00"], "supporta": "full",
        "supportingb": [], "supportb": "none", "overall": False,
    }  # fmt: skip
    screen.press("Enter")
    assert "Question 2" in screen.question
    assert "1 of 3 labelled" in screen.root.locator(".count").first.inner_text()
    screen.press("x")
    assert screen.labels("q/2") == {"relevant": ["00"]}, "the keys go on on the next item"


def test_empty_is_not_untouched_and_undo_crosses_items(book):
    screen = trace(book, "undo")
    screen.press("e", "r", "Backspace", "r", "e")
    assert [one["value"] for event in screen.events() for one in event.get("set", ())] == [
        [],
        None,
        [],
    ]
    screen.press("n", "x")
    assert screen.labels("q/2") == {"relevant": ["00"]}
    screen.press("z", "z")
    assert "Question 1" in screen.question
    assert screen.actions()[-2:] == ["undo", "undo"]
    assert screen.message == "undone: relevant"
    assert "…" in screen.root.locator("[data-field=relevant] .value").inner_text()
    screen.press("Control+y")
    assert "∅ none" in screen.root.locator("[data-field=relevant] .value").inner_text()
    screen.press("Z")
    assert "Question 2" in screen.question
    assert screen.badges("Fact 0 of document 0") == "R"
    screen.press("Control+z", "Control+z", "Control+z", "Control+z", "Control+z")
    assert screen.message == "nothing to be undone"


def test_note_flag_skip_and_search(book):
    screen = trace(book, "rest")
    screen.press("f", "m")
    screen.type("a b dd m y: 0 ?")
    screen.press("Escape", "f", "f")
    assert [event["value"] for event in screen.events() if event["action"] == "note"] == [
        "a b dd m y: 0 ?"
    ]
    assert [event["value"] for event in screen.events() if event["action"] == "flag"] == [
        True,
        False,
        True,
    ]
    screen.press("/")
    screen.type("DOCUMENT 1. fact")
    assert screen.root.locator(".sentence.hit").count() == 3
    screen.press("Enter", "Escape", "x")
    assert screen.labels("q/1") == {"relevant": ["11"]}, "the place that was found is where one is"
    screen.press(".")
    assert "Question 2" in screen.question
    assert screen.actions()[-1] == "skip"


def test_a_free_text_keeps_focus_and_words_while_the_rest_is_painted(book):
    task = "{'name': 'why', 'fields': [{'name': 'why', 'kind': 'text'}, {'name': 'kind', 'options': ['a', 'b']}]}"
    screen = annotate(book, f"Annotator(verdict_items(), {task}, 'words', '.')", "words.why.jsonl")
    box = screen.root.locator("[data-field=why] textarea")
    box.focus()
    screen.type("because ")
    book.wait_for_timeout(900)
    screen.settle()
    screen.type("of it\n")
    assert box.input_value() == "because of it\n"
    screen.press("Control+Enter")
    assert screen.labels("v/1") == {"why": "because of it\n"}


def test_the_list_is_filtered_searched_and_gone_through(book):
    screen = trace(book, "list", "trace_items(30)")
    screen.press("x", "n", "f", "g")
    shown = screen.root.locator(".row")
    assert screen.root.locator(".panel.jump .count").inner_text() == "30 of 30"
    screen.root.get_by_label("which items").select_option("flagged")
    assert shown.all_inner_texts() == ["2 · ⚑\nQuestion 2: what is told of river 2?"]
    screen.root.get_by_label("which items").select_option("not labelled")
    screen.root.get_by_label("words of an item").fill("river 2")
    assert screen.root.locator(".panel.jump .count").inner_text() == "12 of 30"
    screen.press("Enter", "ArrowDown", "Enter")
    assert "Question 12" in screen.question
    screen.press("g")
    shown.filter(has_text="Question 21").click()
    screen.settle()
    assert "Question 21" in screen.question


def test_long_documents_are_folded_and_unfolded(book):
    screen = trace(book, "fold", "trace_items(2, sentences=60)")
    lines = screen.root.locator(".sentence:visible")
    assert lines.count() == 8 + 8 + 2
    assert screen.root.locator("button.more").first.inner_text().startswith("… 52 more sentences")
    screen.press("o")
    assert lines.count() == 60 + 8 + 2
    screen.press("End", "x")
    assert screen.labels("q/1") == {"relevant": ["17"]}, (
        "the end is the last sentence that is shown"
    )
    screen.press("/")
    screen.type("fact 59 document 1")
    screen.press("Escape", "x")
    assert screen.labels("q/1") == {"relevant": ["17", "159"]}
    screen.click("Fact 8 of document 0")
    screen.click("Fact 10 of document 0", modifiers=["Shift"])
    assert screen.labels("q/1")["relevant"] == ["08", "09", "010", "17", "159"]


def test_suggestions_are_dashed_and_counted_only_when_accepted(book):
    screen = trace(book, "helped", more=", **judged()")
    line = screen.sentence("Fact 1 of document 0")
    assert screen.badges("Fact 1 of document 0") == "R?"
    assert line.evaluate("node => getComputedStyle(node).borderInlineStartStyle") == "dashed"
    assert "suggested by Judge Judy" in screen.root.inner_text()
    assert screen.labels("q/1") == {}
    screen.press("a")
    said = [one for event in screen.events() if event["action"] == "label" for one in event["set"]]
    assert {one["field"]: (one["value"], one["source"]) for one in said} == {
        "relevant": (["01"], "suggestion accepted"), "overall": (True, "suggestion accepted")
    }  # fmt: skip
    assert screen.badges("Fact 1 of document 0") == "R"
    assert line.evaluate("node => getComputedStyle(node).borderInlineStartStyle") == "solid"


def test_who_is_blind_gets_nothing_of_the_suggestions_in_the_page(book):
    book.received.clear()
    screen = trace(book, "blind", more=", **judged(), blind=True")
    sent = [frame for frame in book.received if "Judge Judy" in frame or '"suggested"' in frame]
    assert [re.search(r'"suggested": (.*?\})', frame)[1] for frame in sent] == ["{}"]
    assert not [frame for frame in sent if "Judy" in frame]
    assert "Judy" not in book.content()
    screen.press("a")
    assert screen.message == "nothing is suggested here"
    assert screen.labels("q/1") == {}


def test_a_drag_that_ends_beside_the_sentences_counts(book):
    screen = trace(book, "beside")
    box = screen.sentence("Fact 1 of document 0").bounding_box()
    book.mouse.move(box["x"] + 40, box["y"] + 5)
    book.mouse.down()
    book.mouse.move(box["x"] + 40, box["y"] + box["height"] + 5, steps=4)
    book.mouse.move(5, box["y"] + box["height"] + 5, steps=4)
    book.mouse.up()
    screen.settle()
    assert screen.labels("q/1") == {"relevant": ["01", "02"]}


def test_a_note_is_saved_while_it_is_typed(book):
    screen = trace(book, "typing")
    screen.press("m")
    screen.type("half a tho")
    book.wait_for_timeout(900)
    screen.settle()
    screen.type("ught")
    assert screen.root.get_by_label("note on this item").input_value() == "half a thought"
    assert [event["value"] for event in screen.events() if event["action"] == "note"] == [
        "half a tho"
    ]
