"""Adjudication on the screen: what others said stands where it was said, under their names or under letters."""

import pytest
from browser.screen import annotate

pytestmark = pytest.mark.browser

CELL = """Annotator(adjudicate(trace_items(1), two_logs({name!r}), 'chief', '{name}.gold.jsonl', blind={blind}))"""


def adjudicating(book, name, blind):
    imports = "from ragnb.annotation.adjudication import adjudicate\n"
    return annotate(book, imports + CELL.format(name=name, blind=blind), f"{name}.gold.jsonl")


def said_of(screen, option):
    return (
        screen.root.locator("[data-field=overall] .option", has_text=option)
        .locator("sup")
        .inner_text()
    )


def test_votes_stand_at_sentences_and_options_and_the_decision_is_written(book):
    screen = adjudicating(book, "open", blind=False)
    assert screen.badges("Fact 0 of document 0") == "R? r:Zoe+Yan", "what both chose is suggested"
    assert screen.badges("Fact 1 of document 0") == "r:Yan"
    assert screen.badges("Fact 2 of document 0") == ""
    assert (said_of(screen, "yes"), said_of(screen, "no")) == ("Zoe", "Yan")
    screen.press("r", "j", "x", "w", "2")
    said = {
        one["field"]: one
        for event in screen.events()
        if event["action"] == "label"
        for one in event["set"]
    }
    assert (said["relevant"]["value"], said["overall"]["value"]) == (["00", "01"], False)
    assert said["overall"]["source"] == "adjudicated"
    assert said["overall"]["of"] == {"Zoe": True, "Yan": False}
    assert screen.badges("Fact 0 of document 0") == "R r:Zoe+Yan"


def test_who_decides_blindly_sees_letters_and_gets_no_name(book):
    book.received.clear()
    screen = adjudicating(book, "blindly", blind=True)
    assert screen.badges("Fact 0 of document 0") == "R? r:A+B"
    assert {said_of(screen, "yes"), said_of(screen, "no")} == {"A", "B"}
    screen.press("w", "1")
    assert not [
        name
        for name in ("Zoe", "Yan")
        if name in book.content() or any(name in frame for frame in book.received)
    ]
    said = [one for event in screen.events() if event["action"] == "label" for one in event["set"]]
    assert said[-1]["of"] == {"Zoe": True, "Yan": False}, "the log keeps the names"
