"""Where an answer went wrong, as far as the columns say."""

import pandas as pd
import pytest

import ragnb
from ragnb.errors import InputError
from ragnb.figures import plot

IDS = {"retrieved": ["p1", "p2"], "relevant": ["p1"]}
MISSED = {"retrieved": ["p2"], "relevant": ["p1"]}


@pytest.mark.parametrize(
    ("columns", "outcome"),
    [
        ({"response": "Oslo", "references": "Oslo"}, "right"),
        ({"response": "Rome", "references": "Oslo"}, "wrong, unknown why"),
        ({"response": "Oslo", "references": "Oslo", "verdict": False}, "contains the reference, called wrong"),
        ({"response": "Rome", "references": "Oslo", **MISSED}, "passage not retrieved"),
        ({"response": "I don't know.", "references": "Oslo", **MISSED}, "passage not retrieved"),
        ({"response": "I don't know.", "references": "Oslo", **IDS}, "wrong refusal"),
        ({"response": "I don't know.", "references": "Oslo", "answerable": True}, "wrong refusal"),
        ({"response": "I don't know.", "references": "Oslo"}, "unknown"),
        ({"response": "I don't know.", "answerable": False}, "right refusal"),
        ({"response": "I don't know, perhaps Oslo?", "verdict": True, "answerable": True}, "right"),
        ({"response": "I don't know.", "verdict": True, "answerable": False}, "right refusal"),
        ({"response": "Rome", "answerable": False}, "answered an unanswerable question"),
        ({"response": "Oslo", "references": "Oslo", **MISSED}, "right, not from the passages"),
        ({"response": "Rome", "references": "Oslo", "parts": [{"text": "Rome", "label": "not supported"}]}, "not supported by the passages"),
        ({"response": "Rome", "references": "Oslo", "parts": [{"text": "Rome", "label": "supported"}]}, "wrong, although supported"),
        ({"response": "Rome", "verdict": True}, "right"),
        ({"response": "It is.", "references": "a long reference that no short answer can be expected to contain word by word"}, "unknown"),
        ({"response": "It is.", "parts": [{"text": "It is.", "label": "supported"}]}, "supported, unknown whether right"),
    ],
)  # fmt: skip
def test_the_first_failure_in_the_order_of_a_pipeline_counts(columns, outcome):
    frame = pd.DataFrame([{"example_id": "q", "system": "s", "language": "en", **columns}])
    report = ragnb.failure_report(frame)
    assert report.outcomes["outcome"].tolist() == [outcome]
    assert report.counts["outcome"].tolist() == [outcome]


@pytest.mark.parametrize(
    ("relevant", "utilized", "outcome"),
    [
        ([], [], "passage not retrieved"),
        (["0a"], [], "passage retrieved and ignored"),
        (["0a"], ["0a"], "wrong, unknown why"),
    ],
)
def test_labels_of_sentences_say_whether_the_passages_were_used(relevant, utilized, outcome):
    row = {
        "example_id": "q",
        "response": "Rome",
        "references": "Oslo",
        "documents_sentences": [[["0a", "The capital is Oslo."], ["0b", "It is old."]]],
        "all_relevant_sentence_keys": relevant,
        "all_utilized_sentence_keys": utilized,
    }
    report = ragnb.failure_report(pd.DataFrame([row]))
    assert report.outcomes["outcome"].tolist() == [outcome]
    assert report.sources["used"] == (
        "labels of used sentences" if relevant else report.sources["used"]
    )


def test_the_counts_of_delucionqa_are_those_of_its_labels():
    study = ragnb.load_study("delucionqa")
    counts = ragnb.failure_report(study).counts.set_index("outcome")["count"]
    is_refused = study["refusal"].astype(bool)
    assert counts["right refusal"] == (is_refused & ~study["answerable"]).sum()
    assert counts["wrong refusal"] == (is_refused & study["answerable"]).sum()
    assert counts["answered an unanswerable question"] == (~is_refused & ~study["answerable"]).sum()
    answered = study[~is_refused & study["answerable"]]
    assert counts["not supported by the passages"] == answered["hallucinated"].astype(bool).sum()
    assert counts.sum() == len(study)


def test_the_report_prints_its_sources_and_is_drawn():
    report = ragnb.failure_report(ragnb.load_study("delucionqa"))
    assert "right: unknown, no column says whether the answer is right." in repr(report)
    assert "supported: labels of parts." in repr(report)
    ax = plot(report)
    assert ax.get_xlabel() == "responses"


def test_what_cannot_be_sorted_is_refused():
    with pytest.raises(InputError, match="at least one response"):
        ragnb.failure_report(pd.DataFrame({"response": []}))
    with pytest.raises(InputError, match="failure_report needs a frame"):
        ragnb.failure_report("answers.csv")
    with pytest.raises(InputError, match="response"):
        ragnb.failure_report(pd.DataFrame({"example_id": ["q"]}))
