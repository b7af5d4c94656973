from datetime import UTC, datetime, timedelta

import pytest

from ragnb.annotation.label_state import IDLE, ItemLabels, LabelState, flat, nested, places
from ragnb.annotation.tasks import TASKS, read_task
from ragnb.errors import InputError

TRACE, VERDICT = TASKS["trace"], TASKS["verdict"]
EMPTY = {place: [] for place in places(TRACE, "a")}
START = datetime(2031, 5, 4, 12, tzinfo=UTC)


def log(*actions):
    """Actions with numbers, and a time a second after another where none is given."""
    return [
        {"n": n, "time": (START + timedelta(seconds=n)).isoformat(), **action}
        for n, action in enumerate(actions, 1)
    ]


def opening(item, after=None, fingerprint="f"):
    event = {
        "action": "open",
        "item": item,
        "fingerprint": fingerprint,
        "sentences": {"documents": [], "response": []},
    }
    return (
        event
        if after is None
        else {**event, "time": (START + timedelta(seconds=after)).isoformat()}
    )


def label(item, value, field="verdict", sentence=None, after=None, **said):
    one = {
        "field": field,
        **({} if sentence is None else {"sentence": sentence}),
        "value": value,
        **said,
    }
    event = {"action": "label", "item": item, "set": [one]}
    return (
        event
        if after is None
        else {**event, "time": (START + timedelta(seconds=after)).isoformat()}
    )


# ---- one item ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "skipped", "status"),
    [
        ({}, False, "untouched"),
        ({}, True, "skipped"),
        ({("relevant", None): []}, False, "started"),
        ({("relevant", None): []}, True, "skipped"),
        (EMPTY, False, "labelled"),
        (EMPTY, True, "labelled"),
    ],
)
def test_the_status_of_an_item(values, skipped, status):
    assert ItemLabels(values=values, skipped=skipped).status(TRACE, ["a"]) == status


def test_a_note_or_a_flag_is_no_start():
    assert ItemLabels(note="later", flag=True).status(VERDICT, []) == "untouched"


def test_what_is_not_required_is_not_missing():
    fields = [{"name": "x", "kind": "text"}, {"name": "y", "kind": "text", "required": False}]
    task = read_task({"name": "two", "fields": fields})
    assert list(places(task, [])) == [("x", None), ("y", None)]
    assert list(places(task, [], required=True)) == [("x", None)]
    assert ItemLabels(values={("x", None): "said"}).status(task, []) == "labelled"


def test_nested_and_flat_are_there_and_back():
    values = {
        ("relevant", None): [],
        ("support", "a"): "full",
        ("support", "b"): "none",
        ("overall", None): False,
    }
    assert nested(values) == {
        "relevant": [],
        "support": {"a": "full", "b": "none"},
        "overall": False,
    }
    assert flat(nested(values), TRACE) == values
    assert flat({"other": 1, "overall": None, "support": {"a": None}}, TRACE) == {}


# ---- following a log ---------------------------------------------------------------------------------------------------


def test_labels_count_in_their_order_with_what_is_said_of_them():
    state = LabelState(
        log(label("a", "correct", source="human"), label("a", "refuse", source="human", why="late"))
    )
    assert state.of("a").values == {("verdict", None): "refuse"}
    assert state.of("a").said == {("verdict", None): {"source": "human", "why": "late"}}
    assert state.of("a").time == (START + timedelta(seconds=2)).isoformat()


def test_actions_of_one_number_are_followed_in_their_order():
    """As two threads once wrote them: the undo means the first thread's action, though the other one's came after it."""
    first, second, other = label("a", "correct"), label("b", "refuse"), label("c", "incorrect")
    events = log(
        first,
        second,
        other,
        {"action": "undo", "item": "b", "of": 2},
        {"action": "undo", "item": "b", "of": 2},
    )
    for event, n in zip(events, (1, 2, 1, 3, 4), strict=True):
        event["n"] = n
    state = LabelState(events)
    verdicts = {item: state.of(item).values.get(("verdict", None)) for item in "abc"}
    assert verdicts == {"a": "correct", "b": None, "c": "incorrect"}


def test_what_all_agreed_on_is_set_but_neither_undone_nor_timed():
    agreed = {
        "action": "agreed",
        "item": "a",
        "set": [{"field": "y", "value": 1, "source": "agreed"}],
    }
    state = LabelState(log(label("a", "correct"), agreed, {"action": "undo", "item": "a", "of": 1}))
    assert state.of("a").values == {("y", None): 1}
    assert state.of("a").said == {("y", None): {"source": "agreed"}}
    assert state.done == []


def test_actions_of_a_later_ragnb_are_passed_over():
    assert LabelState(log({"action": "sing", "item": "a"})).of("a").values == {}


@pytest.mark.parametrize(
    "events",
    [
        log({"action": "undo", "item": "a", "of": 1}),
        log(label("a", "correct"), label("b", "correct"), {"action": "undo", "item": "a", "of": 1}),
        log({"action": "label", "item": "a", "set": [{"field": "x"}]}),
        log({"action": "open", "item": "a"}),
        log({"action": "flag", "item": "a", "value": True, "time": "yesterday"}),
        log(
            opening("a"),
            {"action": "flag", "item": "a", "value": True, "time": "2031-05-04T12:00:00"},
        ),
    ],
)
def test_actions_that_cannot_be_followed_are_refused_by_number(events):
    with pytest.raises(
        InputError,
        match=rf"action n={len(events)} of the log needs to be one that can be followed; got .*mend",
    ):
        LabelState(events)


# ---- time --------------------------------------------------------------------------------------------------------------


def seconds(*events):
    return {name: labels.seconds for name, labels in LabelState(log(*events)).items.items()}


def test_time_is_that_between_actions_for_the_item_on_the_screen():
    assert seconds(
        opening("a", 0),
        label("a", "correct", after=7),
        opening("b", 10),
        label("b", "refuse", after=15),
    ) == {
        "a": 10.0,
        "b": 5.0,
    }


@pytest.mark.parametrize(("gap", "counted"), [(0, 0), (0.25, 0.25), (120, 120), (121, 120)])
def test_gaps_are_cut_at_two_minutes(gap, counted):
    assert IDLE == 120
    assert seconds(opening("a", 0), label("a", "correct", after=gap)) == {"a": counted}


def test_a_clock_that_goes_back_counts_nothing():
    assert seconds(
        opening("a", 100), label("a", "correct", after=40), label("a", "refuse", after=43)
    ) == {"a": 3.0}


def test_the_time_until_an_undo_elsewhere_belongs_to_the_item_that_was_on_the_screen():
    undo = {
        "action": "undo",
        "item": "a",
        "of": 2,
        "time": (START + timedelta(seconds=20)).isoformat(),
    }
    events = [
        opening("a", 0),
        label("a", "correct", after=5),
        opening("b", 5),
        undo,
        opening("c", 21),
    ]
    assert seconds(*events) == {"a": 6.0, "b": 15.0, "c": 0.0}


def test_time_is_the_same_in_every_zone():
    later = {**label("a", "correct"), "time": "2031-05-04T21:00:30+09:00"}
    assert seconds(opening("a", 0), later) == {"a": 30.0}
