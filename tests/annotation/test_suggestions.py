import io
import math

import numpy as np
import pandas as pd
import pytest
from annotation.annotation_frames import keyed_frame, plain_frame

import ragnb
from ragnb.annotation.items import build_items
from ragnb.annotation.ragbench import trace_values
from ragnb.annotation.suggestions import read_suggestions
from ragnb.annotation.tasks import TASKS, read_task
from ragnb.errors import InputError

TRACE, VERDICT, RGB = TASKS["trace"], TASKS["verdict"], TASKS["rgb"]
KEYED, PLAIN = build_items(keyed_frame(), TRACE), build_items(plain_frame(), VERDICT)
IDS = ["example_id", "system"]


def frame(**columns):
    n = len(next(iter(columns.values())))
    return pd.DataFrame({"example_id": [f"q/{i}" for i in range(n)], **columns})


# ---- mappings ----------------------------------------------------------------------------------------------------------


def test_a_mapping_by_id_and_field():
    given = {"q/0": {"verdict": "correct"}, "q/2": {"verdict": "refuse"}}
    assert read_suggestions(given, PLAIN, VERDICT) == {
        "q/0": {("verdict", None): "correct"},
        "q/2": {("verdict", None): "refuse"},
    }


def test_a_mapping_of_a_mapping_where_each_sentence_is_asked():
    given = {
        "q/1": {
            "relevant": ["1a", "0a"],
            "support": {"a": "full", "b": None},
            "supporting": {"b": []},
            "overall": None,
        }
    }
    assert read_suggestions(given, KEYED, TRACE) == {
        "q/1": {("relevant", None): ["0a", "1a"], ("supporting", "b"): [], ("support", "a"): "full"}
    }


def test_suggestions_for_other_items_are_left_out():
    assert read_suggestions({"elsewhere": {"verdict": "nonsense"}}, PLAIN, VERDICT) == {}
    assert read_suggestions(frame(verdict=["correct"] * 9), PLAIN, VERDICT).keys() == {
        "q/0",
        "q/1",
        "q/2",
    }


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], r"suggestions need a frame or a mapping by id; got list; make one of them"),
        (
            {"q/0": "correct"},
            r"the suggestion of an item needs a mapping by field; got 'correct'; name the fields",
        ),
        (
            {"q/0": {"relevance": ["0a"]}},
            r"a field of task 'trace' must be one of 'relevant', .*got 'relevance'",
        ),
        (
            {"q/0": {"relevant": ["9z"]}},
            r"'relevant' of item 'q/0' needs keys among .*; got '9z'; leave it out",
        ),
        (
            {"q/0": {"support": {"z": "full"}}},
            r"'support' for item 'q/0' needs sentences among \['a', 'b'\]; got 'z'; leave",
        ),
    ],
)
def test_what_cannot_be_suggested(given, message):
    with pytest.raises(InputError, match=message):
        read_suggestions(given, KEYED, TRACE)


# ---- frames ------------------------------------------------------------------------------------------------------------


def test_a_frame_with_a_column_a_field():
    found = read_suggestions(
        frame(verdict=["correct", None, math.nan], other=[1, 2, 3]), PLAIN, VERDICT
    )
    assert found == {"q/0": {("verdict", None): "correct"}, "q/1": {}, "q/2": {}}


def test_a_judge_who_only_says_correct_or_not():
    assert read_suggestions(frame(judged_correct=[1.0, 0.0, math.nan]), PLAIN, VERDICT) == {
        "q/0": {("verdict", None): "correct"},
        "q/1": {("verdict", None): "incorrect"},
        "q/2": {},
    }


def test_a_verdict_goes_before_what_a_judge_says():
    given = frame(judged_correct=[1.0, 1.0], verdict=["refuse", None])
    assert read_suggestions(given, PLAIN, VERDICT) == {
        "q/0": {("verdict", None): "refuse"},
        "q/1": {},
    }


@pytest.mark.parametrize("values", [[True, False], np.array([True, False])])
def test_truth_values_of_every_make_are_pythons_own(values):
    found = read_suggestions(frame(refusal=values), PLAIN, RGB)
    assert found["q/0"][("refusal", None)] is True
    assert found["q/1"][("refusal", None)] is False


@pytest.mark.parametrize("gap", [None, pd.NA])
def test_gaps_suggest_nothing(gap):
    given = frame(refusal=pd.Series([True, gap], dtype=object))
    assert read_suggestions(given, PLAIN, RGB) == {"q/0": {("refusal", None): True}, "q/1": {}}


def test_numbers_of_every_make_are_pythons_own():
    task = read_task({"name": "stars", "fields": [{"name": "stars", "options": [1, 2, 3]}]})
    found = read_suggestions(frame(stars=np.array([1, 3])), PLAIN, task)
    assert found == {"q/0": {("stars", None): 1}, "q/1": {("stars", None): 3}}
    assert type(found["q/0"]["stars", None]) is int


def test_a_frame_is_told_apart_by_the_same_columns():
    with pytest.raises(
        InputError,
        match=r"the id of an item needs the columns example_id, system; got a frame without system",
    ):
        read_suggestions(frame(verdict=["correct"]), PLAIN, VERDICT, id=IDS)
    with pytest.raises(InputError, match=r"ids of items need to be unique; got 1 that are not"):
        read_suggestions(frame(verdict=["correct"] * 2).assign(example_id="q/0"), PLAIN, VERDICT)


# ---- task trace --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("through_parquet", [False, True])
def test_ragbenchs_own_columns_are_suggestions(through_parquet):
    sample = ragnb.load_ragbench("sample-ragbench")
    items = build_items(sample, TRACE, id=IDS)
    given = sample
    if through_parquet:
        file = io.BytesIO()
        sample.to_parquet(file)
        given = pd.read_parquet(file)
    found = read_suggestions(given, items, TRACE, id=IDS)
    assert list(found) == [item.id for item in items]
    for record, item in zip(sample.to_dict("records"), items, strict=True):
        wanted = trace_values(record, item)
        assert found[item.id].keys() == wanted.keys()
        assert all(
            sorted(map(str, [found[item.id][place]]))
            == sorted(map(str, [ordered(wanted[place], item)]))
            for place in wanted
        )


def ordered(value, item):
    """Keys of documents in the order of the text, special ones after them."""
    places = {key: n for n, key in enumerate(item.keys("documents"))}
    return (
        sorted(value, key=lambda key: places.get(key, len(places)))
        if isinstance(value, list)
        else value
    )


def test_the_tasks_own_columns_do_as_well():
    given = frame(
        relevant=[["0a"], np.array(["1a", "0b"], dtype=object)], support=[{"a": "full"}, None]
    )
    assert read_suggestions(given, KEYED, TRACE) == {
        "q/0": {("relevant", None): ["0a"], ("support", "a"): "full"},
        "q/1": {("relevant", None): ["0b", "1a"]},
    }
