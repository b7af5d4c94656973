"""The annotator in a real JupyterLab: every way to label, and what of it is on the disk."""

import re

import pytest
from support.screen import annotate, shown

from ragnb.annotation import read_labels

pytestmark = pytest.mark.browser


def test_the_mouse_clicks_drags_takes_a_range_and_clicks_twice(book):
    screen = annotate(book, "mouse")
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
    selected = book.locator(".jp-Cell.jp-mod-selected").count()
    assert selected == 1, "a shift-click selects sentences, not cells"
    screen.press("n")
    screen.drag("Fact 1 of document 0", "Fact 2 of document 0", aside=5)
    assert screen.labels("q/2") == {"relevant": ["01", "02"]}, "it may end beside the sentences"
    screen.press("n")
    screen.root.locator("[data-field=support] .option").nth(1).dblclick()
    screen.settle()
    assert screen.labels("q/3") == {"supporta": "partial"}, "it is one option of one label"


def test_a_whole_trace_item_by_keys_alone(book):
    screen = annotate(book, "keys")
    screen.press("x", "ArrowDown", "j", " ", "u", "Shift+ArrowUp", "Shift+k", "x")
    assert screen.labels("q/1") == {"relevant": ["00", "02"], "utilized": ["00", "01", "02"]}
    assert screen.badges("Fact 0 of document 0") == "R U"
    screen.press("Enter")
    missing = "still missing: supports the sentence [a] (e for none); press . to skip"
    assert screen.message == missing
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
    screen = annotate(book, "undo")
    screen.press("e", "r", "Backspace", "r", "e")
    assert [one["value"] for one in screen.said()] == [[], None, []]
    screen.press("n", "x")
    assert screen.labels("q/2") == {"relevant": ["00"]}
    screen.press("z", "z")
    assert "Question 1" in screen.question
    assert screen.actions()[-2:] == ["undo", "undo"]
    assert screen.message == "undone: relevant"
    assert "…" in screen.value("relevant")
    screen.press("Control+y")
    assert "∅ none" in screen.value("relevant")
    screen.press("Z")
    assert "Question 2" in screen.question
    assert screen.badges("Fact 0 of document 0") == "R"
    screen.press(*["Control+z"] * 5)
    assert screen.message == "nothing to be undone"


def test_note_flag_skip_and_search(book):
    screen = annotate(book, "rest")
    screen.press("f", "m")
    screen.type("a b dd m y: 0 ?")
    screen.press("Escape", "f", "f")
    assert screen.values("note") == [("q/1", "a b dd m y: 0 ?")]
    assert screen.values("flag") == [("q/1", True), ("q/1", False), ("q/1", True)]
    screen.press("/")
    screen.type("DOCUMENT 1. fact")
    assert screen.root.locator(".sentence.hit").count() == 3
    screen.press("Enter", "Escape", "x")
    assert screen.labels("q/1") == {"relevant": ["11"]}, "the place that was found is where one is"
    screen.press(".")
    assert "Question 2" in screen.question
    assert screen.actions()[-1] == "skip"


def test_texts_are_saved_while_they_are_typed_and_keep_the_focus(book):
    fields = [{"name": "why", "kind": "text"}, {"name": "kind", "options": ["a", "b"]}]
    screen = annotate(book, "words", {"name": "texts", "fields": fields}, "verdict_items()")
    box = screen.root.locator("[data-field=why] textarea")
    box.focus()
    screen.type("because ")
    book.wait_for_timeout(900)
    screen.settle()
    assert screen.labels("v/1") == {"why": "because "}
    screen.type("of it\n")
    assert box.input_value() == "because of it\n"
    screen.press("Control+Enter")
    assert screen.labels("v/1") == {"why": "because of it\n"}
    screen.press("m")
    screen.type("half a tho")
    book.wait_for_timeout(900)
    screen.settle()
    screen.type("ught")
    assert screen.root.get_by_label("note on this item").input_value() == "half a thought"
    # Another tab is shown; headless pages stay visible.
    book.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
    screen.settle()
    assert screen.values("note") == [("v/1", "half a tho"), ("v/1", "half a thought")]


def test_the_list_is_filtered_searched_and_gone_through(book):
    screen = annotate(book, "list", items="trace_items(30)")
    screen.press("x", "n", "f", "g")
    rows = screen.root.locator(".row")
    count = screen.root.locator(".panel.jump .count")
    which = screen.root.get_by_label("which items")
    assert count.inner_text() == "30 of 30"
    which.select_option("flagged")
    assert rows.all_inner_texts() == ["2 · ⚑\nQuestion 2: what is told of river 2?"]
    which.select_option("not labelled")
    screen.root.get_by_label("words of an item").fill("river 2")
    assert count.inner_text() == "12 of 30"
    screen.press("Enter", "ArrowDown", "Enter")
    assert "Question 12" in screen.question
    screen.press("g")
    rows.filter(has_text="Question 21").click()
    screen.settle()
    assert "Question 21" in screen.question


def test_long_documents_are_folded_and_unfolded(book):
    screen = annotate(book, "fold", items="trace_items(2, sentences=60)")
    lines = screen.root.locator(".sentence:visible")
    assert lines.count() == 8 + 8 + 2
    assert screen.root.locator("button.more").first.inner_text().startswith("… 52 more sentences")
    screen.press("o")
    assert lines.count() == 60 + 8 + 2
    screen.press("End", "x")
    assert screen.labels("q/1") == {"relevant": ["17"]}, "the end is the last that is shown"
    screen.press("/")
    screen.type("fact 59 document 1")
    screen.press("Escape", "x")
    assert screen.labels("q/1") == {"relevant": ["17", "159"]}
    screen.click("Fact 8 of document 0")
    screen.click("Fact 10 of document 0", modifiers=["Shift"])
    assert screen.labels("q/1")["relevant"] == ["08", "09", "010", "17", "159"]


def test_suggestions_are_dashed_and_counted_only_when_accepted(book):
    screen = annotate(book, "helped", more=", **judged()")
    line = screen.sentence("Fact 1 of document 0")
    border = "node => getComputedStyle(node).borderInlineStartStyle"
    assert screen.badges("Fact 1 of document 0") == "R?"
    assert line.evaluate(border) == "dashed"
    assert "suggested by Judge Judy" in screen.root.inner_text()
    assert screen.labels("q/1") == {}
    screen.press("a")
    assert screen.labels("q/1") == {"relevant": ["01"], "overall": True}
    assert {one["source"] for one in screen.said()} == {"suggestion accepted"}
    assert screen.badges("Fact 1 of document 0") == "R"
    assert line.evaluate(border) == "solid"


def test_who_is_blind_gets_nothing_of_the_suggestions_in_the_page(book):
    book.received.clear()
    screen = annotate(book, "blind", more=", **judged(), blind=True")
    sent = [frame for frame in book.received if "Judge Judy" in frame or '"suggested"' in frame]
    assert [re.search(r'"suggested": (.*?\})', frame)[1] for frame in sent] == ["{}"]
    assert not [frame for frame in sent if "Judy" in frame]
    assert "Judy" not in book.content()
    screen.press("a")
    assert screen.message == "nothing is suggested here"
    assert screen.labels("q/1") == {}


def test_an_item_without_documents_and_without_a_question_can_be_labelled(book):
    frame = "pd.DataFrame({'example_id': ['bare'], 'question': [None], 'response': ['Oslo.']})"
    screen = annotate(book, "bare", "verdict", frame)
    screen.press("2")
    assert screen.labels("bare") == {"verdict": "incorrect"}


# ---- adjudication: what others said stands where it was said ------------------------------------------------------------


def adjudicating(book, name, blind):
    """Somebody decides where Zoe and Yan differ."""
    log = f"{name}.gold.jsonl"
    call = f"adjudicate(trace_items(1), two_logs({name!r}), 'chief', {log!r}, blind={blind})"
    return shown(book, f"from ragnb.annotation import adjudicate\nAnnotator({call})", log)


def votes(screen):
    """Who chose yes, and who chose no."""
    options = screen.root.locator("[data-field=overall] .option")
    return [options.filter(has_text=one).locator("sup").inner_text() for one in ("yes", "no")]


def test_votes_stand_at_sentences_and_options_and_the_decision_is_written(book):
    screen = adjudicating(book, "open", blind=False)
    badges = [screen.badges(f"Fact {n} of document 0") for n in range(3)]
    assert badges == ["R? r:Zoe+Yan", "r:Yan", ""], "what both chose is suggested"
    assert votes(screen) == ["Zoe", "Yan"]
    screen.press("r", "j", "x", "w", "2")
    assert screen.labels("q/1") == {"relevant": ["00", "01"], "overall": False}
    last = screen.said()[-1]
    assert last["source"] == "adjudicated"
    assert last["of"] == {"Zoe": True, "Yan": False}
    assert screen.badges("Fact 0 of document 0") == "R r:Zoe+Yan"


def test_who_decides_blindly_sees_letters_and_gets_no_name(book):
    book.received.clear()
    screen = adjudicating(book, "blindly", blind=True)
    assert screen.badges("Fact 0 of document 0") == "R? r:A+B"
    assert {*votes(screen)} == {"A", "B"}
    screen.press("w", "1")
    for name in ("Zoe", "Yan"):
        assert name not in book.content()
        assert not [frame for frame in book.received if name in frame]
    assert screen.said()[-1]["of"] == {"Zoe": True, "Yan": False}, "the log keeps the names"


def test_tags_of_a_codebook_in_the_notebook(book):
    screen = annotate(
        book, "tags", "error_analysis", "verdict_items()", ", codebook={'refusal': 'No answer.'}"
    )
    screen.press("1", "+")
    screen.type("Echo <b>")
    screen.press("Enter")
    screen.type("refusal")
    screen.press("Enter", "Escape", "Enter")
    assert "book 2" in screen.question
    screen.press("2", "w")
    screen.type("repeats the question")
    screen.press("Escape", "n", "e")
    assert "3 of 3 labelled" in screen.root.locator(".count").first.inner_text()
    book.get_by_text("codebook: 2 tags").click()
    name = screen.root.get_by_label("name of the tag").nth(1)
    name.fill("REFUSAL")
    name.press("Tab")
    screen.wait_for_message("the codebook already has the tag 'refusal'; merge the two tags")
    assert name.input_value() == "Echo <b>"
    name.fill("echoed")
    name.press("Tab")
    screen.settle()
    labels = read_labels(screen.log)
    assert labels["tags"].tolist() == [["refusal", "echoed"], ["echoed"], []]
    assert labels["open_note"].tolist() == [None, "repeats the question", None]
    screen.button("undo").click()
    screen.settle()
    assert read_labels(screen.log)["tags"].tolist()[1] == ["Echo <b>"]
