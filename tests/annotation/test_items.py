import io
import math

import numpy as np
import pandas as pd
import pytest
from annotation.annotation_frames import TEXTS, keyed_frame, plain_frame
from hypothesis import given
from hypothesis import strategies as st

import ragnb
from ragnb.annotation.items import build_items, item_ids
from ragnb.annotation.tasks import TASKS, read_task
from ragnb.errors import InputError
from ragnb.text import keyed_response, keyed_sentences

TRACE, VERDICT, PREFERENCE = TASKS["trace"], TASKS["verdict"], TASKS["preference"]
BY_MOOD = read_task(
    {
        "name": "mood",
        "fields": [{"name": "mood", "kind": "text"}],
        "shows": ["mood_before", "response"],
    }
)


def only(examples, task=TRACE):
    return build_items(examples, task)[0]


# ---- ids ---------------------------------------------------------------------------------------------------------------


def test_ids_are_one_column_or_several_with_bars():
    frame = pd.DataFrame({"example_id": ["a", "a"], "system": ["x", "y"], "repeat": [0, 1]})
    assert item_ids(frame, "system") == ["x", "y"]
    assert item_ids(frame, ["example_id", "repeat"]) == ["a | 0", "a | 1"]


def test_doubled_ids_are_refused_with_how_to_tell_rows_apart():
    frame = keyed_frame(2, example_id="q/0")
    with pytest.raises(
        InputError,
        match=r"ids of items need to be unique; got 1 that are not, such as .q/0.; name the .*id=",
    ):
        build_items(frame, TRACE)
    assert [
        item.id
        for item in build_items(frame.assign(system=["x", "y"]), TRACE, id=["example_id", "system"])
    ] == [
        "q/0 | x",
        "q/0 | y",
    ]


def test_ids_that_only_become_the_same_as_text_are_doubled_too():
    with pytest.raises(InputError, match=r"need to be unique; got 1 that are not, such as '1'"):
        item_ids(pd.DataFrame({"example_id": [1, "1"]}))
    with pytest.raises(
        InputError, match=r"need to be unique; got 1 that are not, such as 'a | b | c'"
    ):
        item_ids(pd.DataFrame({"x": ["a | b", "a"], "y": ["c", "b | c"]}), ["x", "y"])


@pytest.mark.parametrize("gap", [None, math.nan])
def test_a_gap_in_the_ids_is_refused(gap):
    frame = pd.DataFrame({"example_id": pd.Series(["a", gap], dtype=object), "system": ["x", "y"]})
    with pytest.raises(
        InputError,
        match=r"the columns \[.*\] need a value in every row to be an item's id; got a gap; fill",
    ):
        item_ids(frame, ["example_id", "system"])


# ---- what is missing ---------------------------------------------------------------------------------------------------


def test_a_missing_id_column_is_named_with_what_it_means():
    with pytest.raises(
        InputError,
        match=r"annotation of task 'trace' needs the columns .*without system; add system \(name",
    ):
        build_items(keyed_frame(), TRACE, id=["example_id", "system"])


def test_no_examples_are_refused():
    with pytest.raises(
        InputError,
        match=r"annotation of task 'trace' needs one example at least; got none; load or select",
    ):
        build_items(keyed_frame(0, example_id=[]), TRACE)


@pytest.mark.parametrize(
    ("task", "column"),
    [
        ("verdict", "question"),
        ("language", "language"),
        ("preference", "response_a"),
    ],
)
def test_a_column_that_is_shown_needs_to_be_there(task, column):
    with pytest.raises(
        InputError,
        match=rf"item 'q/0' needs the column '{column}'; got none; add it, or name in the task's",
    ):
        build_items(plain_frame().drop(columns=column), TASKS[task])


@pytest.mark.parametrize("column", ["references", "passages"])
def test_references_and_documents_need_not_be_there(column):
    item = only(plain_frame().drop(columns=column), VERDICT)
    assert (item.references == ()) is (column == "references")
    assert (item.keys("documents") == []) is (column == "passages")


@pytest.mark.parametrize(
    ("column", "function"),
    [
        ("documents_sentences", r"keyed_sentences\(passages\)"),
        ("response_sentences", r"keyed_response\(response\)"),
    ],
)
@pytest.mark.parametrize("gap", ["no column", None])
def test_trace_needs_keyed_sentences_and_says_how_to_make_them(column, function, gap):
    frame = (
        keyed_frame(1).drop(columns=column)
        if isinstance(gap, str)
        else keyed_frame(1, **{column: [gap]})
    )
    with pytest.raises(
        InputError,
        match=rf"item 'q/0' needs sentences with keys in '{column}', .*; got none; .*{function}",
    ):
        build_items(frame, TRACE)


def test_the_functions_named_there_make_what_is_needed():
    frame = plain_frame(1)
    frame["documents_sentences"] = [keyed_sentences(frame["passages"][0])]
    frame["response_sentences"] = [keyed_response(frame["response"][0])]
    item = only(frame)
    assert item.keys("documents") == ["0a", "1a"]
    assert item.keys("response") == ["a"]


@pytest.mark.parametrize("gap", [None, math.nan])
def test_a_response_that_is_missing_is_shown_empty(gap):
    item = only(plain_frame(1, response=[gap]), VERDICT)
    assert item.parts[-1].sentences == (("response", ""),)
    assert item.fingerprint == only(plain_frame(1, response=[""]), VERDICT).fingerprint


@pytest.mark.parametrize("sentences", [["One."], [["0a"]]])
def test_sentences_of_another_shape_are_refused(sentences):
    with pytest.raises(InputError, match=r"documents_sentences|list"):
        build_items(keyed_frame(1, documents_sentences=[[sentences]]), TRACE)


@pytest.mark.parametrize(
    ("documents", "response"),
    [
        ([[["0a", "One."], ["0a", "Two."]]], [["a", "First."]]),
        ([[["0a", "One."]], [["0a", "One."]]], [["a", "First."]]),
        ([[["0a", "One."]]], [["0a", "First."]]),
    ],
)
def test_doubled_keys_are_refused_within_a_part_and_between_parts(documents, response):
    frame = keyed_frame(1, documents_sentences=[documents], response_sentences=[response])
    with pytest.raises(
        InputError,
        match=r"item 'q/0' needs keys that tell its sentences apart; got '0a' twice; rename one",
    ):
        build_items(frame, TRACE)


# ---- what is shown -----------------------------------------------------------------------------------------------------


def test_trace_shows_each_document_and_the_response_in_sentences():
    item = only(keyed_frame())
    assert [(part.name, part.heading, len(part.sentences)) for part in item.parts] == [
        ("documents", "document 1", 2),
        ("documents", "document 2", 2),
        ("response", "response", 2),
    ]
    assert item.question == "Question 0?"
    assert item.parts[0].sentences == (("0a", "One 0."), ("0b", "Two."))
    assert item.keys("documents") == ["0a", "0b", "1a", "1b"]
    assert item.keys("response") == ["a", "b"]
    assert item.keys("references") == []


def test_verdict_shows_passages_and_responses_as_one_sentence_each():
    item = only(plain_frame(), VERDICT)
    assert item.keys("documents") == ["1", "2"]
    assert item.parts[-1].sentences == (("response", "Oslo 0."),)
    assert item.references == ("Oslo / Kristiania", "Norway")


def test_verdict_shows_sentences_where_there_are_some():
    assert only(keyed_frame(), VERDICT).keys("response") == ["a", "b"]


@pytest.mark.parametrize(
    ("references", "shown"),
    [
        ("Oslo", ("Oslo",)),
        (["Oslo", "Bergen"], ("Oslo", "Bergen")),
        ([["Oslo", "Kristiania"]], ("Oslo / Kristiania",)),
        (None, ()),
        ([], ()),
    ],
)
def test_references_are_a_line_a_part(references, shown):
    assert (
        only(
            plain_frame(1).assign(references=pd.Series([references], dtype=object)), VERDICT
        ).references
        == shown
    )


def test_another_column_is_shown_as_one_text():
    item = only(plain_frame(1, mood_before="calm"), BY_MOOD)
    assert [(part.name, part.heading, part.sentences) for part in item.parts] == [
        ("mood_before", "mood before", (("mood_before", "calm"),)),
        ("response", "response", (("response", "Oslo 0."),)),
    ]
    assert item.question == ""


def test_language_shows_the_language_that_is_wanted():
    item = only(plain_frame(), TASKS["language"])
    assert [part.name for part in item.parts] == ["language", "response"]


@pytest.mark.parametrize("task", ["trace", "verdict"])
def test_examples_through_parquet_are_the_same_items(task):
    frame = ragnb.load_ragbench("sample-ragbench")
    file = io.BytesIO()
    frame.to_parquet(file)
    again = pd.read_parquet(file)
    assert isinstance(again["documents_sentences"][0], np.ndarray)
    ids = ["example_id", "system"]
    before, after = build_items(frame, TASKS[task], id=ids), build_items(again, TASKS[task], id=ids)
    assert before == after
    assert [item.fingerprint for item in before] == [item.fingerprint for item in after]


def test_passages_through_parquet_are_the_same_items():
    file = io.BytesIO()
    plain_frame().drop(columns="references").to_parquet(file)
    again = pd.read_parquet(file)
    assert build_items(again, VERDICT) == build_items(
        plain_frame().drop(columns="references"), VERDICT
    )


# ---- two responses -----------------------------------------------------------------------------------------------------


def test_which_of_two_responses_stands_first_is_drawn_from_the_id():
    items = build_items(plain_frame(200), PREFERENCE)
    orders = [item.order for item in items]
    assert set(orders) == {("a", "b"), ("b", "a")}
    assert 70 <= orders.count(("a", "b")) <= 130, "beyond four standard deviations of a fair coin"
    assert orders == [item.order for item in build_items(plain_frame(200), PREFERENCE)]
    assert orders[150:] == [item.order for item in build_items(plain_frame(200)[150:], PREFERENCE)]


def test_the_columns_keep_their_names_in_either_order():
    for item in build_items(plain_frame(20), PREFERENCE):
        n = item.id.removeprefix("q/")
        shown = [part.sentences[0] for part in item.parts if part.name != "documents"]
        both = {"a": ("response_a", f"left {n}"), "b": ("response_b", f"right {n}")}
        assert shown == [both[letter] for letter in item.order]
        assert all(part.heading == "" for part in item.parts if part.name != "documents"), (
            "headings would tell them apart"
        )


def test_the_order_does_not_rest_on_the_texts_but_on_the_task():
    items = build_items(plain_frame(50), PREFERENCE)
    others = build_items(plain_frame(50, response_a="new", question="new"), PREFERENCE)
    assert [item.order for item in items] == [item.order for item in others]
    renamed = read_task({**PREFERENCE.schema(), "name": "again"})
    assert [item.order for item in items] != [
        item.order for item in build_items(plain_frame(50), renamed)
    ]


def test_one_of_the_two_columns_alone_is_an_ordinary_one():
    task = read_task(
        {"name": "one", "fields": [{"name": "x", "kind": "text"}], "shows": ["response_a"]}
    )
    for item in build_items(plain_frame(20), task):
        assert item.order == ()
        assert item.parts[0].sentences == (("response_a", "left " + item.id.removeprefix("q/")),)


# ---- the fingerprint ---------------------------------------------------------------------------------------------------

CHANGES = {
    "question": "Another?",
    "documents_sentences": [
        [["0a", "One 0!"], ["0b", "Two."]],
        [["1a", "Three."], ["1b", "Four."]],
    ],
    "response_sentences": [["a", "First 0."], ["b", "Second!"]],
    "references": ["new"],
}


@pytest.mark.parametrize("column", CHANGES)
def test_the_fingerprint_changes_with_every_text_that_is_seen(column):
    assert (
        only(keyed_frame(1)).fingerprint
        != only(keyed_frame(1, **{column: [CHANGES[column]]})).fingerprint
    )


@pytest.mark.parametrize(
    "documents",
    [
        [[["0b", "Two."], ["0a", "One 0."]], [["1a", "Three."], ["1b", "Four."]]],
        [[["0a", "One 0."]], [["0b", "Two."], ["1a", "Three."], ["1b", "Four."]]],
        [[["0a", "One 0."], ["0c", "Two."]], [["1a", "Three."], ["1b", "Four."]]],
        [[["1a", "Three."], ["1b", "Four."]], [["0a", "One 0."], ["0b", "Two."]]],
        [[["0a", "One 0."], ["0b", "Two."]], [["1a", "Three."]]],
    ],
)
def test_the_fingerprint_changes_with_order_keys_and_documents(documents):
    assert (
        only(keyed_frame(1)).fingerprint
        != only(keyed_frame(1, documents_sentences=[documents])).fingerprint
    )


def test_the_fingerprint_changes_with_nothing_that_is_not_seen():
    more = {
        "example_id": "other",
        "system": "s",
        "response": "unseen",
        "all_relevant_sentence_keys": None,
        "split": "test",
    }
    seen = only(keyed_frame(1)).fingerprint
    assert only(keyed_frame(1, **more)).fingerprint == seen
    assert only(keyed_frame(1)[keyed_frame(1).columns[::-1]]).fingerprint == seen
    assert build_items(keyed_frame(2)[::-1], TRACE)[1].fingerprint == seen


@given(st.lists(st.text() | st.sampled_from(TEXTS), min_size=2, max_size=2))
def test_two_texts_have_two_fingerprints(texts):
    one, other = (only(plain_frame(1, response=text), VERDICT).fingerprint for text in texts)
    assert (one == other) is (texts[0] == texts[1])


def test_the_order_of_two_responses_belongs_to_what_is_seen():
    items = build_items(
        plain_frame(20, question="Q", response_a="same", response_b="same"), PREFERENCE
    )
    assert len({item.order for item in items}) == len({item.fingerprint for item in items}) == 2
