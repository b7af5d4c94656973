"""Structures as the documents behind the metrics print them: ragnb reads each in one to three lines.

Where a document's own number is wrong, the test shows where its number comes from.
"""

import json
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import pytest

import ragnb
from ragnb.errors import InputError
from ragnb.metrics import (
    answer_labels,
    bridging_efficiency,
    distance_from_ideal,
    exact_match,
    token_f1,
    trace_scores,
    translation_tokens,
)

# ---- the visual guide to TRACe -----------------------------------------------------------------

REPLY = """{
  "all_relevant_sentence_keys": ["0a", "0b"],
  "all_utilized_sentence_keys": ["0a", "0b"],
  "sentence_support_information": [
    {"response_sentence_key": "a", "fully_supported": true},
    {"response_sentence_key": "b", "fully_supported": true},
    {"response_sentence_key": "c", "fully_supported": false}
  ]
}"""

EXTRACTED: dict[str, Any] = {
    "all_relevant_sentence_keys": ["0b", "0c", "1a", "1b"],
    "all_utilized_sentence_keys": ["0b", "0c", "1a"],
    "sentence_support_information": [
        {"key": "a", "fully_supported": True},
        {"key": "b", "fully_supported": True},
        {"key": "c", "fully_supported": False},
    ],
}

INPUT: dict[str, Any] = {
    "question": "What makes machine learning different from traditional programming?",
    "documents": [
        "Machine learning is a subset of AI. It learns patterns from data. "
        "Traditional programming requires explicit instructions.",
        "ML algorithms improve through experience. They adapt to new data. "
        "Rule-based systems are rigid and hard to maintain.",
    ],
    "response": "Machine learning differs because it learns from data rather than requiring "
    "explicit instructions. ML algorithms improve over time. It's the future of all computing.",
}

TRACE = ["trace.relevance", "trace.utilization", "trace.completeness", "trace.adherence"]


def test_the_simplified_reply_of_a_labeller():
    scores = trace_scores(json.loads(REPLY), variant="guide")
    four = scores.relevance, scores.utilization, scores.completeness, scores.adherence
    assert four == (0.10, 1.0, 1.0, 0.0)
    assert scores.issues == ()


def test_the_distance_that_the_guide_prints_is_that_of_another_adherence():
    """The guide prints 0.437 and 0.563. They belong to an adherence of 1; its own example has 0."""
    scores = trace_scores(EXTRACTED, variant="guide")
    assert (round(scores.rmse_to_ideal, 3), round(scores.consistency, 3)) == (0.664, 0.336)
    assert round(distance_from_ideal(0.20, 0.75, 0.75, 1.0), 3) == 0.437
    with pytest.raises(InputError, match="distance_from_ideal needs at least one score"):
        distance_from_ideal()


@pytest.mark.parametrize("columns", ["labels in columns", "reply in one column", "reply as a text"])
def test_question_documents_response_and_a_reply_are_a_file(tmp_path, columns):
    support = [
        {"response_sentence_key": label["key"], "fully_supported": label["fully_supported"]}
        for label in EXTRACTED["sentence_support_information"]
    ]
    labels = EXTRACTED | {"sentence_support_information": support}
    record = {
        "labels in columns": INPUT | labels,
        "reply in one column": INPUT | {"labels": labels},
        "reply as a text": INPUT | {"reply": f"My labels:\n```json\n{json.dumps(labels)}\n```"},
    }[columns]
    (tmp_path / "mine.jsonl").write_text(json.dumps(record), "utf-8")
    records = ragnb.load_ragbench(tmp_path / "mine.jsonl")
    guide = ragnb.score(records, [*TRACE, "trace.average"], variant="guide")
    benchmark = ragnb.score(records, TRACE)
    assert guide["value"].tolist() == [0.20, 0.75, 0.75, 0.0, 0.425]
    assert benchmark["value"].tolist() == [4 / 6, 3 / 6, 3 / 4, 0.0]
    assert records["documents_sentences"][0][1][1] == ["1b", "They adapt to new data."]
    assert records["response_sentences"][0][2] == ["c", "It's the future of all computing."]


def test_a_reply_that_is_not_json_is_refused_with_its_place(tmp_path):
    record = INPUT | {"reply": "all_relevant_sentence_keys: 0a and 0b"}
    (tmp_path / "mine.jsonl").write_text(json.dumps(record), "utf-8")
    with pytest.raises(InputError, match=r"mine\.jsonl line 1, key reply: "):
        ragnb.load_ragbench(tmp_path / "mine.jsonl")


# ---- the seven multilingual metrics ------------------------------------------------------------


@dataclass
class EvidenceBlock:
    """A retrieved passage as the experiments of LBRAG pass it on."""

    text: str = "…"
    metadata: dict[str, Any] = field(default_factory=dict)


def test_the_tokens_of_evidence_blocks_are_counted_wherever_they_are_stored():
    counts = [271, 20, 9]
    nested = [{"text": "…", "metadata": {"token_count": count}} for count in counts]
    objects = [EvidenceBlock(metadata={"token_count": count}) for count in counts]
    direct = [{"text": "…", "token_count": count} for count in counts]
    frame = pd.DataFrame({"translations": [nested, objects, direct]})
    assert ragnb.score(frame, "cost.translation_tokens")["value"].tolist() == [300.0] * 3


def test_a_passage_without_a_count_is_never_free():
    frame = pd.DataFrame({"translations": [[], [EvidenceBlock(text="It rains in Oslo.")]]})
    with pytest.raises(InputError, match=r"row 1: passage 1 of translations has no token_count"):
        ragnb.score(frame, "cost.translation_tokens")
    counted = ragnb.score(frame, "cost.translation_tokens", tokenizer="unicode")
    assert counted["value"].tolist() == [0.0, 4.0]
    assert "tokenizer:unicode" in counted["signature"][0]
    assert translation_tokens(["Es regnet."], tokenizer="unicode") == 2


def test_the_examples_of_exact_match_and_f1():
    """The document prints F1 = 0.4 for the second pair; its own code gives 0.5."""
    assert exact_match("4429m", "4429米", variant="lbrag") == 0
    assert token_f1("4429m", "4429米", language="zh", variant="lbrag") == pytest.approx(0.8)
    assert token_f1("大约11年左右", "11.0 年份", language="zh", variant="lbrag") == pytest.approx(
        0.5
    )


def test_cnbe_of_the_printed_means_is_not_the_printed_mean_of_cnbe():
    """The printed 0.00237 is a mean of ratios of items; the ratio of the printed means is close."""
    assert bridging_efficiency(0.289, 0.218, 29.8) == pytest.approx(0.00238, abs=1e-5)
    assert bridging_efficiency(0.263, 0.218, 0, variant="lbrag") == 0.0


# ---- two implementations of RGB ----------------------------------------------------------------


def printed_rule(labels: list[int], noise_rate: float) -> bool:
    """The rule that the comparison prints for the released code, as it stands."""
    return (noise_rate == 1 and labels[0] == -1) or (0 not in labels and 1 in labels)


def test_labels_of_a_released_prediction_file_give_the_accuracy_of_the_printed_rule(tmp_path):
    """The comparison explains 0 as found and 1 as incorrect. Its own rule has them the other way."""
    refusal = "I can not answer the question because of the insufficient information in documents."
    said = {"It is Oslo.": [1], "Bergen": [0], refusal: [-1]}
    lines = [
        {"id": n, "query": "?", "ans": "Oslo", "prediction": text, "label": label, "noise_rate": 1}
        for n, (text, label) in enumerate(said.items())
    ]
    path = tmp_path / "prediction_en_tiny_temp0.2_noise1_passage5_correct0.0.json"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    responses = ragnb.load_responses(path)
    values = ragnb.score(responses, "rgb.accuracy", protocol="released")["value"]
    assert responses["released_labels"].tolist() == list(said.values())
    assert values.tolist() == [printed_rule(label, 1) for label in said.values()] == [1, 0, 1]
    assert answer_labels("It is Oslo.", "Oslo", protocol="released") == [1]
    compared = ragnb.compare_definitions(responses, "rgb.rejection")
    rates = compared.rates.set_index("definition")["mean"]
    assert rates.round(3).to_dict() == {"paper": 0.333, "released": 0.667, "flexible": 0.333}
