import json
import re
import threading
import time
import warnings
from types import SimpleNamespace

import pytest
from support.hostile import Reader
from support.labelling import plain_frame

import ragnb
from ragnb.annotation import read_labels
from ragnb.annotation.log import read_log
from ragnb.errors import InputError
from ragnb.widgets import Annotator

BY = {"id": ["example_id", "system"]}
SIDES = {"a": "left", "b": "right"}


@pytest.fixture
def records():
    return ragnb.load_ragbench("sample-ragbench").head(4)


@pytest.fixture
def annotator(records, tmp_path):
    return Annotator(records, "trace", "ana", tmp_path / "ana.jsonl", **BY)


def send(widget, act, **more):
    """What the browser would send about the item on its screen."""
    content = {"act": act, "number": widget.page["number"], "id": widget.state["ack"] + 1, **more}
    widget._handle_custom_msg(json.loads(json.dumps(content)), [])
    return widget.state


def actions(widget):
    return [event["action"] for event in read_log(widget.session.log.path)[1]]


# ---- what is sent to the browser ---------------------------------------------------------------------------------------


def test_the_page_holds_the_texts_and_the_places_in_the_order_of_asking(annotator, records):
    page = annotator.page
    assert page["question"] == "How does a heat pump differ from a gas boiler?"
    assert [part["name"] for part in page["parts"]] == ["documents", "documents", "response"]
    first = page["parts"][0]["sentences"][0]
    assert first == ["0a", "A heat pump is one kind of heating system."]
    assert page["each"] == ["a", "b", "c"]
    asked = [["relevant", None], ["utilized", None], ["supporting", "a"], ["support", "a"]]
    assert page["places"][:5] == [*asked, ["supporting", "b"]]
    assert page["places"][-1] == ["overall", None]
    assert annotator.state["missing"] == page["places"]
    sent = json.dumps([annotator.task, annotator.page, annotator.state, annotator.jump])
    for hidden in (*records["system"], *records["example_id"]):
        assert hidden not in sent


# ---- what the browser sends --------------------------------------------------------------------------------------------


def test_a_click_is_in_the_log_before_it_is_shown(annotator):
    state = send(annotator, "toggle", field="relevant", sentence=None, keys=["0b", "0c"], on=True)
    assert state["values"] == {"relevant": ["0b", "0c"]}
    last = read_log(annotator.session.log.path)[1][-1]
    assert last["set"] == [{"field": "relevant", "value": ["0b", "0c"], "source": "human"}]
    assert (state["ack"], state["failed"], state["status"]) == (1, False, "started")
    assert re.fullmatch(r"saved \d\d:\d\d:\d\d UTC in ana.sqlite", state["saved"])


def test_an_interrupted_kernel_answers_all_the_same(annotator, monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(annotator.session, "flag", interrupted)
    with pytest.raises(KeyboardInterrupt):
        send(annotator, "flag")
    assert (annotator.state["ack"], annotator.state["failed"]) == (1, True)
    assert "interrupted" in annotator.state["message"]


@pytest.mark.parametrize(
    ("act", "more", "said"),
    [
        ("label", {"field": "nothing", "value": 1}, "must be one of"),
        ("dance", {}, "not saved: KeyError"),
    ],
)
def test_what_goes_wrong_is_said_and_nothing_is_written(annotator, act, more, said):
    state = send(annotator, act, **more)
    assert state["failed"]
    assert said in state["message"]
    assert actions(annotator) == ["open"]


# ---- suggestions -------------------------------------------------------------------------------------------------------


def test_suggestions_are_shown_and_not_said(records, tmp_path):
    suggested = {"suggestions": records, "suggested_by": "a judge"}
    widget = Annotator(records, "trace", "ana", tmp_path, **suggested, **BY)
    assert widget.state["suggested"]["relevant"] == ["0b", "0c", "1a", "1b"]
    assert (widget.state["values"], widget.state["status"]) == ({}, "untouched")
    assert "[0b] [0c] [1a] [1b] ? (suggested)" in Reader(widget._repr_html_()).text
    state = send(widget, "toggle", field="relevant", sentence=None, keys=["0b"], on=False)
    assert state["values"]["relevant"] == ["0c", "1a", "1b"]
    assert send(widget, "accept")["status"] == "labelled"
    events = read_log(widget.session.log.path)[1]
    sources = [one["source"] for event in events for one in event.get("set", ())]
    assert sources == ["suggestion changed"] + ["suggestion accepted"] * (len(sources) - 1)
    assert send(widget, "accept")["message"] == "nothing is suggested here"


# ---- two responses -----------------------------------------------------------------------------------------------------


def test_the_first_response_is_sometimes_b_and_has_its_own_option(tmp_path):
    widget = Annotator(plain_frame(40), "preference", "ana", tmp_path)
    first = []
    for number in range(40):
        send(widget, "go", to=number)
        *_, one, two = widget.page["parts"]
        options = widget.page["options"]["preferred"]
        assert one["sentences"][0][1] == f"{SIDES[options[0]['value']]} {number}"
        headings = [one["heading"], two["heading"]]
        assert headings == ["first response", "second response"]
        labels = [option["label"] for option in options]
        assert labels == ["the first", "the second", "both as good", "neither"]
        first.append(options[0]["value"])
    assert 10 <= first.count("b") <= 30


def test_the_end_says_what_comes_next(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    widget = Annotator(plain_frame(2), "verdict", "ana", "labels")
    assert widget.state["end"] is None
    assert send(widget, "label", field="verdict", value="correct")["end"] is None
    send(widget, "next")
    send(widget, "skip")
    end = widget.state["end"]
    assert end["text"].startswith("Done: all items are labelled or skipped.")
    joining, agreeing = end["code"].split("\n")
    assert joining == "ragnb.annotation.join_labels(responses, 'labels/ana.verdict.sqlite')"
    assert agreeing.startswith("ragnb.agreement(['labels/ana.verdict.sqlite', ...])")
    joined = eval(joining, {"ragnb": ragnb, "responses": plain_frame(2)})
    assert joined["label_status"].tolist() == ["labelled", "skipped"]


# ---- again, and refused ------------------------------------------------------------------------------------------------


def test_it_shows_what_its_session_was_used_for_before_it_is_displayed(annotator):
    annotator.session.label("relevant", ["0a"])
    annotator.session.go(2)
    annotator.session.label("utilized", [])
    annotator._repr_mimebundle_()
    assert annotator.page["number"] == 2
    assert annotator.state["values"] == {"utilized": []}
    statuses = [status for _, status, _ in annotator.jump]
    assert statuses == ["started", "untouched", "started", "untouched"]


def test_without_a_path_it_is_refused(records):
    with pytest.raises(InputError, match="needs a path for its log, got none"):
        Annotator(records, "trace", "ana", **BY)


def from_the_browser(widget, **content):
    """Send a message in another thread, as JupyterLab does."""
    thread = threading.Thread(target=widget._handle_custom_msg, args=(content, []))
    thread.start()
    thread.join()


@pytest.mark.parametrize(
    ("message", "waits"),
    [
        (None, False),
        ({}, False),
        ({"header": None}, False),
        ({"header": {"msg_id": "1"}}, False),
        ({"header": {"subshell_id": None}}, False),
        ({"header": {"subshell_id": "a"}}, True),
    ],
)
def test_only_a_page_that_uses_a_subshell_is_waited_for(annotator, monkeypatch, message, waits):
    """Messages that the thread of the cells handles are there already, in whatever kernel."""
    kernel = SimpleNamespace() if message is None else SimpleNamespace(get_parent=lambda: message)
    shell = SimpleNamespace(kernel=kernel)
    monkeypatch.setattr("ragnb.widgets.browser.get_ipython", lambda: shell)
    monkeypatch.setattr("ragnb.widgets.browser.NO_ANSWER", 0.05)
    annotator._handle_custom_msg({"act": "shown", "view": 1}, [])
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        read_labels(annotator)
    sentences = [str(warning.message) for warning in warned]
    assert len(sentences) == waits
    assert all(sentence.startswith("the page of 'ana' does not answer") for sentence in sentences)


def test_a_page_that_does_not_answer_is_named(annotator, monkeypatch):
    """Its last labels may be on their way, so they must not be missing without a word."""
    monkeypatch.setattr("ragnb.widgets.browser.NO_ANSWER", 0.05)
    from_the_browser(annotator, act="shown", view=1)
    with pytest.warns(UserWarning, match="does not answer; if it is still open, its last actions"):
        read_labels(annotator)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_labels(annotator)  # a page that is closed is asked once


def test_a_page_that_was_left_long_ago_is_taken_as_closed(annotator, monkeypatch):
    monkeypatch.setattr("ragnb.widgets.browser.NO_ANSWER", 0.05)
    monkeypatch.setattr("ragnb.widgets.browser.JUST_NOW", 0.0)
    from_the_browser(annotator, act="shown", view=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_labels(annotator)


def test_an_output_that_was_closed_is_not_waited_for(annotator, monkeypatch):
    monkeypatch.setattr("ragnb.widgets.browser.NO_ANSWER", 30.0)
    for view in (1, 2):
        from_the_browser(annotator, act="shown", view=view)
    for view in (1, 2):
        from_the_browser(annotator, act="closed", view=view, lost=0)
    started = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_labels(annotator)
    assert time.monotonic() - started < 15


def test_the_other_view_of_an_output_that_was_closed_is_asked(annotator, monkeypatch):
    monkeypatch.setattr("ragnb.widgets.browser.NO_ANSWER", 0.05)
    for view in (1, 2):
        from_the_browser(annotator, act="shown", view=view)
    from_the_browser(annotator, act="closed", view=1, lost=0)
    with pytest.warns(UserWarning, match="does not answer"):
        read_labels(annotator)


@pytest.mark.parametrize(("lost", "keys"), [(1, "1 key"), (3, "3 keys")])
def test_keys_that_were_lost_with_a_closed_output_are_named_once(annotator, lost, keys):
    from_the_browser(annotator, act="shown", view=1)
    from_the_browser(annotator, act="closed", view=1, lost=lost)
    with pytest.warns(UserWarning, match=f"^{keys} that 'ana' pressed shortly before"):
        read_labels(annotator)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_labels(annotator)


def test_a_page_that_is_busy_may_take_longer_while_it_sends_actions(annotator, monkeypatch):
    monkeypatch.setattr("ragnb.widgets.browser.NO_ANSWER", 0.3)
    from_the_browser(annotator, act="shown", view=1)

    def busy():
        for _ in range(4):
            time.sleep(0.15)
            annotator._handle_custom_msg({"act": "shown", "view": 1}, [])
        answer = {
            "act": "pending",
            "question": annotator._browser._question,
            "view": 1,
            "pending": 0,
        }
        annotator._handle_custom_msg(answer, [])

    thread = threading.Thread(target=busy)
    thread.start()
    started = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_labels(annotator)
    assert time.monotonic() - started > 0.6
    thread.join()
