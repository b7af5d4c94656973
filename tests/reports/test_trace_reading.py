"""TRACe in sentences, on the example of the visual guide and on authentic records."""

import json

import pandas as pd
import pytest

import ragnb
from ragnb.errors import InputError
from ragnb.metrics.trace import trace_scores
from ragnb.metrics.trace_labels import label_issues
from ragnb.reports import interpret_trace

SENTENCES = [
    "Machine learning differs because it learns from data.",
    "ML improves.",
    "It's the future of all computing.",
]
GUIDE = {
    "question": "What makes machine learning different?",
    "documents_sentences": [[[f"0{k}", "…"] for k in "abc"], [[f"1{k}", "…"] for k in "abc"]],
    "response_sentences": [list(pair) for pair in zip("abc", SENTENCES, strict=True)],
    "all_relevant_sentence_keys": ["0b", "0c", "1a", "1b"],
    "all_utilized_sentence_keys": ["0b", "0c", "1a"],
    "sentence_support_information": [
        {
            "response_sentence_key": "a",
            "supporting_sentence_keys": ["0b", "0c"],
            "fully_supported": True,
        },
        {"response_sentence_key": "b", "supporting_sentence_keys": ["1a"], "fully_supported": True},
        {"response_sentence_key": "c", "supporting_sentence_keys": [], "fully_supported": False},
    ],
}


def test_the_guides_example_is_read_with_its_four_numbers_and_its_action():
    assert interpret_trace(GUIDE, variant="guide") == [
        "Relevance 0.20: 4 sentences are relevant to the question, and 20 or more count as 1.",
        "Utilization 0.75: the response uses 3, and 4 are relevant.",
        "Completeness 0.75: the response uses 3 of the 4 relevant sentences.",
        "Adherence 0: the passages do not support 1 of 3 sentences of the response.",
        "Action: correct or remove sentence [c] “It's the future of all computing.”, or retrieve a passage that "
        "supports it.",
        "Action: the answer may lack what the relevant sentence [1b] says; check whether the question needs it.",
    ]


def test_the_same_labels_under_the_benchmarks_definition():
    sentences = interpret_trace(GUIDE)
    assert sentences[:2] == [
        "Relevance 0.67: 4 of the 6 sentences of the passages are relevant to the question.",
        "Utilization 0.50: the response uses 3 of the 6 sentences of the passages.",
    ]


def test_a_response_without_faults_needs_no_action():
    record = GUIDE | {
        "all_relevant_sentence_keys": ["0b"],
        "all_utilized_sentence_keys": ["0b"],
        "sentence_support_information": GUIDE["sentence_support_information"][:2],
    }
    sentences = interpret_trace(record)
    assert len(sentences) == 4
    assert sentences[3] == "Adherence 1: the passages support every sentence of the response."


def test_missing_labels_are_undefined_and_an_empty_set_is_not():
    empty = GUIDE | {"all_relevant_sentence_keys": [], "all_utilized_sentence_keys": []}
    assert interpret_trace(empty)[0].startswith("Relevance 0.00: none of the 6 sentences")
    assert interpret_trace(empty)[2] == "Completeness 1.00: no sentence is relevant."
    missing = GUIDE | {"all_relevant_sentence_keys": None}
    assert interpret_trace(missing)[0].startswith("Relevance is undefined")


@pytest.mark.parametrize("variant", ["ragbench", "guide"])
def test_every_authentic_record_gets_its_sentences(variant):
    for record in ragnb.load_ragbench("sample-ragbench").to_dict("records"):
        sentences = interpret_trace(record, variant=variant)
        scores = ragnb.metrics.trace.trace_scores(record, variant=variant)
        assert sentences[3].startswith(f"Adherence {scores.adherence:.0f}")
        assert json.dumps(sentences)


@pytest.mark.parametrize("function", [interpret_trace, trace_scores, label_issues])
def test_a_frame_is_no_record_and_its_row_is_one(function):
    records = pd.DataFrame([GUIDE, GUIDE])
    with pytest.raises(InputError, match="one labelled response, got a frame with 2 rows"):
        function(records)
    assert function(records.iloc[0]) == function(GUIDE)
