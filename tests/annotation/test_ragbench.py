import math

import numpy as np
import pytest
from annotation.annotation_frames import keyed_frame
from hypothesis import given
from hypothesis import strategies as st

import ragnb
from ragnb.annotation.items import build_items
from ragnb.annotation.ragbench import ragbench_labels, trace_values, trace_warnings
from ragnb.annotation.tasks import TASKS
from ragnb.metrics.trace import trace_scores
from ragnb.metrics.trace_labels import FIELDS

TRACE = TASKS["trace"]
SAMPLE = ragnb.load_ragbench("sample-ragbench")
RECORDS = SAMPLE.to_dict("records")
ITEMS = build_items(SAMPLE, TRACE, id=["example_id", "system"])
PAIRS = pytest.mark.parametrize(
    ("record", "item"), list(zip(RECORDS, ITEMS, strict=True)), ids=[item.id for item in ITEMS]
)
ITEM = build_items(keyed_frame(1), TRACE)[0]
RECORD = keyed_frame(1).to_dict("records")[0]
DOCUMENT_KEYS = ["0a", "0b", "1a", "1b"]

WHOLE = {
    ("relevant", None): ["0a", "1a"],
    ("utilized", None): ["0a"],
    ("supporting", "a"): ["0a"],
    ("support", "a"): "full",
    ("supporting", "b"): [],
    ("support", "b"): "none",
    ("overall", None): False,
}


def without(*places, **changes):
    values = {place: value for place, value in WHOLE.items() if place not in places}
    return values | {
        tuple(key.split("_")) if "_" in key else (key, None): value
        for key, value in changes.items()
    }


# ---- there and back ----------------------------------------------------------------------------------------------------


@PAIRS
def test_every_record_of_the_sample_comes_back(record, item):
    values = trace_values(record, item)
    back = ragbench_labels(values, item)
    assert trace_values(back, item) == values
    documents = set(item.keys("documents"))
    for column in ("all_relevant_sentence_keys", "all_utilized_sentence_keys"):
        assert back[column] == list(
            dict.fromkeys(key for key in record[column] if key in documents)
        )
    if None not in fully(record):
        assert (
            back["unsupported_response_sentence_keys"]
            == record["unsupported_response_sentence_keys"]
        )
    assert back["overall_supported"] == record["overall_supported"]


@PAIRS
def test_every_record_of_the_sample_has_its_scores_after_the_round_trip(record, item):
    back = {**record, **ragbench_labels(trace_values(record, item), item)}
    columns = ("all_relevant_sentence_keys", "all_utilized_sentence_keys")
    once = record | {column: list(dict.fromkeys(record[column])) for column in columns}
    for variant in ("ragbench", "guide"):
        before, after = (
            trace_scores(one, variant=variant, unknown_keys="drop") for one in (once, back)
        )
        assert np.array_equal(numbers(before), numbers(after), equal_nan=True)


def fully(record):
    return [one["fully_supported"] for one in record["sentence_support_information"]]


def numbers(scores):
    return [
        getattr(scores, name)
        for name in ("relevance", "utilization", "completeness", "adherence", "supported_fraction")
    ]


def test_the_sample_holds_what_makes_the_way_back_hard():
    assert any(None in fully(record) for record in RECORDS)
    keys = [
        (record["all_utilized_sentence_keys"], item.keys("documents"))
        for record, item in zip(RECORDS, ITEMS, strict=True)
    ]
    assert any(len(set(used)) < len(used) for used, _ in keys)
    assert any(set(used) - set(known) for used, known in keys)


keys = st.lists(st.sampled_from(DOCUMENT_KEYS), unique=True).map(sorted)


@given(
    keys,
    keys,
    st.tuples(keys, keys),
    st.tuples(*[st.sampled_from(["full", "partial"])] * 2),
    st.booleans(),
)
def test_whatever_does_not_contradict_itself_comes_back(
    relevant, utilized, supporting, support, overall
):
    values = {
        ("relevant", None): relevant,
        ("utilized", None): utilized,
        ("overall", None): overall,
    }
    for sentence, rests_on, verdict in zip("ab", supporting, support, strict=True):
        values |= {
            ("supporting", sentence): rests_on,
            ("support", sentence): verdict if rests_on else "none",
        }
    assert trace_values(ragbench_labels(values, ITEM), ITEM) == values


def test_the_columns_are_those_of_ragbench():
    assert ragbench_labels(WHOLE, ITEM) == {
        "all_relevant_sentence_keys": ["0a", "1a"],
        "all_utilized_sentence_keys": ["0a"],
        "sentence_support_information": [
            {
                "response_sentence_key": "a",
                "supporting_sentence_keys": ["0a"],
                "fully_supported": True,
                "explanation": "",
            },
            {
                "response_sentence_key": "b",
                "supporting_sentence_keys": [],
                "fully_supported": False,
                "explanation": "",
            },
        ],
        "unsupported_response_sentence_keys": ["b"],
        "overall_supported": False,
    }
    assert set(FIELDS) <= set(ragbench_labels(WHOLE, ITEM)) | {
        "documents_sentences",
        "response_sentences",
    }


def test_the_labels_by_hand_have_scores_by_hand():
    scores = trace_scores({**RECORD, **ragbench_labels(WHOLE, ITEM)})
    assert numbers(scores) == [2 / 4, 1 / 4, 1 / 2, 0.0, 1 / 2]
    assert scores.issues == ()


# ---- untouched is not empty --------------------------------------------------------------------------------------------


def test_what_is_untouched_is_none_and_has_no_scores():
    labels = ragbench_labels({}, ITEM)
    assert set(labels.values()) == {None}
    assert all(math.isnan(number) for number in numbers(trace_scores({**RECORD, **labels})))
    assert trace_values(labels, ITEM) == {}


def test_what_is_empty_is_empty_and_has_scores():
    values = {("relevant", None): [], ("utilized", None): []}
    labels = ragbench_labels(values, ITEM)
    assert labels["all_relevant_sentence_keys"] == labels["all_utilized_sentence_keys"] == []
    assert numbers(trace_scores({**RECORD, **labels}))[:3] == [0.0, 0.0, 1.0]
    assert trace_values(labels, ITEM) == values


@pytest.mark.parametrize("sentence", ["a", "b"])
def test_a_response_labelled_in_part_has_no_adherence(sentence):
    labels = ragbench_labels(without(("support", sentence), ("supporting", sentence)), ITEM)
    assert (
        labels["sentence_support_information"]
        is labels["unsupported_response_sentence_keys"]
        is None
    )
    assert math.isnan(trace_scores({**RECORD, **labels}).adherence)


def test_supporting_keys_of_every_sentence_are_enough_for_adherence():
    values = without(("support", "a"), ("support", "b"))
    labels = ragbench_labels(values, ITEM)
    assert [one["fully_supported"] for one in labels["sentence_support_information"]] == [
        None,
        None,
    ]
    assert labels["unsupported_response_sentence_keys"] is None
    assert trace_scores({**RECORD, **labels}).supported_fraction == 0.5


def test_supporting_keys_that_nobody_was_asked_for_stay_untouched():
    values = without(("supporting", "a"), ("supporting", "b"), support_a="partial")
    labels = ragbench_labels(values, ITEM)
    assert [one["supporting_sentence_keys"] for one in labels["sentence_support_information"]] == [
        None,
        None,
    ]
    assert trace_values(labels, ITEM) == values
    assert trace_scores({**RECORD, **labels}).adherence == 0.0


def test_unsupported_sentences_stand_in_the_order_of_the_text_whoever_was_first():
    values = {("support", "b"): "none", ("support", "a"): "none"}
    assert ragbench_labels(values, ITEM)["unsupported_response_sentence_keys"] == ["a", "b"]


# ---- reading -----------------------------------------------------------------------------------------------------------


def test_keys_that_name_no_sentence_are_left_out_and_special_ones_kept():
    record = {
        "all_relevant_sentence_keys": ["9z", "1a", "0a", "1a", "general"],
        "sentence_support_information": [
            {
                "response_sentence_key": "a",
                "supporting_sentence_keys": ["9z", "general", "0a"],
                "fully_supported": True,
            },
            {
                "response_sentence_key": "z",
                "supporting_sentence_keys": ["0a"],
                "fully_supported": True,
            },
        ],
    }
    assert trace_values(record, ITEM) == {
        ("relevant", None): ["1a", "0a"],
        ("supporting", "a"): ["general", "0a"],
        ("support", "a"): "full",
    }


def test_what_rests_on_unknown_keys_alone_is_not_called_unsupported():
    one = {
        "response_sentence_key": "a",
        "supporting_sentence_keys": ["9z"],
        "fully_supported": True,
    }
    values = trace_values({"sentence_support_information": [one]}, ITEM)
    assert values == {("supporting", "a"): [], ("support", "a"): "full"}
    assert trace_warnings(values, ITEM) == ["[a] is supported, yet by no sentence"]


@pytest.mark.parametrize("fully", [True, False, None, np.False_])
@pytest.mark.parametrize("array", [list, lambda keys: np.array(keys, dtype=object)])
def test_a_verdict_on_a_sentence_that_rests_on_others(fully, array):
    one = {
        "response_sentence_key": "a",
        "supporting_sentence_keys": array(["0a"]),
        "fully_supported": fully,
    }
    found = trace_values({"sentence_support_information": array([one])}, ITEM).get(("support", "a"))
    assert found == (None if fully is None else "full" if fully else "partial")


@pytest.mark.parametrize("fully", [True, False, None])
def test_what_rests_on_nothing_is_not_supported(fully):
    one = {
        "response_sentence_key": "a",
        "supporting_sentence_keys": [],
        "fully_supported": fully,
    }
    assert trace_values({"sentence_support_information": [one]}, ITEM) == {
        ("supporting", "a"): [],
        ("support", "a"): "none",
    }


@pytest.mark.parametrize("gap", [None, math.nan])
def test_gaps_in_a_record_are_untouched(gap):
    assert trace_values(dict.fromkeys([*FIELDS, "overall_supported"], gap), ITEM) == {}


@pytest.mark.parametrize(
    ("given", "value"), [(True, True), (np.False_, False), (1, None), ("yes", None)]
)
def test_the_verdict_on_the_whole_is_a_truth_value_or_none(given, value):
    found = trace_values({"overall_supported": given}, ITEM).get(("overall", None))
    assert found is value


# ---- contradictions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "warnings"),
    [
        (WHOLE, []),
        ({}, []),
        (without(support_a="partial"), []),
        (without(supporting_a=[]), ["[a] is supported, yet by no sentence"]),
        (without(("supporting", "a")), []),
        (without(supporting_b=["1b"]), ["[b] is not supported, yet rests on sentences"]),
        (
            without(utilized=["0b", "0a", "1b"]),
            ["[0b] is utilized, yet not relevant", "[1b] is utilized, yet not relevant"],
        ),
        (without(relevant=[]), ["[0a] is utilized, yet not relevant"]),
        (without(overall=True), ["the whole response and its sentences contradict each other"]),
        (
            without(support_b="full", supporting_b=["0a"]),
            ["the whole response and its sentences contradict each other"],
        ),
        (without(support_b="full", supporting_b=["0a"], overall=True), []),
        (without(("overall", None)), []),
        (without(("support", "b"), overall=True), []),
    ],
)
def test_contradictions_are_said_and_untouched_places_contradict_nothing(values, warnings):
    assert trace_warnings(values, ITEM) == warnings


def test_warnings_come_one_a_line_and_all_of_them():
    values = without(supporting_a=[], supporting_b=["0a"], relevant=[], overall=True)
    assert len(trace_warnings(values, ITEM)) == 4


@PAIRS
def test_the_sample_contradicts_itself_where_its_issues_say_so(record, item):
    warned = "the whole response and its sentences contradict each other" in trace_warnings(
        trace_values(record, item), item
    )
    issues = [
        issue for issue in trace_scores(record).issues if issue.startswith("overall_supported is")
    ]
    in_part = "partial" in trace_values(record, item).values()
    assert warned is (bool(issues) and not in_part)  # in part goes with either verdict on the whole
