"""Refusals under several rules, and the shares of the 2 × 2 table."""

import math

import pandas as pd
import pytest

import ragnb
from ragnb.metrics.abstention import (
    is_aligned,
    is_hallucination,
    is_over_refusal,
    is_risk,
    refused_and_why,
)

RATES = ("hallucination", "over_refusal", "alignment", "coverage")


@pytest.fixture(scope="module")
def nomiracl():
    return ragnb.load_study("nomiracl")


PRINTED = {
    False: """
        ar 61.60 46.40 87.20 89.20 0.0 15.60 0.0 0.80 3.60 10.40 23.20
        de 63.59 53.00 87.56 68.20 0.5 5.07 0.9 3.23 5.07 12.90 29.03
        en 57.20 54.80 90.00 72.40 0.0 0.80 2.8 16.40 12.00 6.80 15.60
        es 87.20 64.80 92.00 90.80 0.8 0.40 11.2 10.80 14.40 10.40 3.20
        hi 78.80 29.60 91.60 95.60 0.0 3.20 0.8 0.00 0.40 9.20 17.60
        ja 56.80 32.40 89.20 82.80 0.0 4.00 0.0 0.80 7.60 24.00 10.40
        ru 58.00 34.80 90.00 78.40 0.8 4.00 0.4 1.60 11.20 9.20 31.60
        zh 56.40 43.60 86.80 78.40 0.0 6.00 0.0 5.20 4.40 10.80 9.20
    """,
    True: """
        ar 88.40 91.20 32.80 59.20 96.40 62.40 62.0 100.0 82.80 51.60 16.40
        de 88.40 93.60 26.80 74.40 88.80 52.80 56.4 99.2 86.00 92.00 25.60
        en 94.80 91.20 35.20 78.80 85.20 46.40 68.0 98.8 81.60 98.00 51.60
        es 77.60 90.00 26.80 67.20 77.20 34.40 48.8 99.2 64.00 95.60 78.00
        hi 78.80 92.80 28.00 38.40 94.80 66.00 74.8 100.0 57.60 57.60 25.20
        ja 95.60 97.20 31.20 69.20 98.40 52.40 69.2 100.0 62.80 64.80 45.60
        ru 93.60 94.40 32.40 77.20 83.20 61.60 96.4 100.0 79.60 85.20 22.80
        zh 95.60 95.60 30.00 74.00 97.20 63.20 83.6 100.0 81.20 90.40 75.20
    """,
}
"""The README of project-miracl/nomiracl: accuracy in % on unanswerable and answerable questions."""
MODELS = (
    "gpt-4-azure gpt-3.5-turbo-azure Mistral-7B-Instruct-v0.2 Mixtral-8x7B-Instruct-v0.1 "
    "llama-2-70b-chat llama-2-13b-chat llama-2-7b-chat flan-t5-xxl Orca-2-7b Orca-2-13b aya-101"
).split()


@pytest.mark.parametrize(
    ("answerable", "metric"),
    [(False, "abstention.hallucination"), (True, "abstention.over_refusal")],
)
def test_every_printed_accuracy_of_nomiracl_is_recomputed_under_its_own_rule(
    nomiracl, answerable, metric
):
    """An accuracy counts a reply that is not scored as wrong: 1 - the upper worst-case bound."""
    study = nomiracl.query("answerable == @answerable")
    scores = ragnb.score(study, metric, rule="nomiracl")
    found = ragnb.summarize(scores, by=["language", "system"]).set_index(["language", "system"])
    cells = 0
    for line in PRINTED[answerable].strip().splitlines():
        language, *numbers = line.split()
        for model, number in zip(MODELS, numbers, strict=True):
            accuracy = 100 * (1 - found.loc[(language, model), "worst_high"])
            digits = len(number.partition(".")[2])
            assert round(accuracy, digits) == pytest.approx(float(number)), (language, model)
            cells += 1
    assert cells == 88


def test_the_four_counts_and_shares_of_one_table():
    rows = {
        "example_id": list("abcdef"),
        "system": "one",
        "answerable": [1, 1, 1, 0, 0, None],
        "response": ["Oslo.", "I don't know", "Rome", "I don’t know.", "Bonn", "I don't know"],
    }
    report = ragnb.abstention_report(pd.DataFrame(rows)).iloc[0]
    counts = [
        f"{asked}_{did}"
        for asked in ("answerable", "unanswerable")
        for did in ("answered", "refused")
    ]
    assert report[counts].tolist() == [2, 1, 1, 1]
    assert report["hallucination"] == 0.5
    assert report["over_refusal"] == pytest.approx(1 / 3)
    assert report["alignment"] == pytest.approx(3 / 5)
    assert report["carefulness"] == 0.5
    assert report["carefulness_low"] == pytest.approx(1 - report["hallucination_high"])
    assert "risk" not in report
    judged = pd.DataFrame(rows).assign(verdict=[True, None, False, None, None, None])
    with_risk = ragnb.abstention_report(judged).iloc[0]
    assert with_risk["risk"] == pytest.approx(2 / 3), "Rome, and Bonn, where nothing can be right"


@pytest.mark.parametrize(
    ("text", "options", "evidence"),
    [
        ("The answer is: I don't know", {}, "no refusal phrase"),
        ("The answer is: I don't know", {"rule": "anywhere"}, "contains 'i don't know'"),
        (
            "Leider: Ich weiß es nicht.",
            {"rule": "list", "language": "de"},
            "contains 'ich weiss es nicht'",
        ),
        ("我不知道。", {"rule": "list", "language": "zh-CN"}, "contains '我不知道'"),
        ("I do not know", {"rule": "list", "language": "ja"}, "contains 'i do not know'"),
        (
            "Sans réponse.",
            {"language": "fr", "phrases": {"en": "no answer", "fr": ["sans réponse"]}},
            "begins with 'sans réponse'",
        ),
        ("I don't know", {"phrases": {"en": "no answer"}}, "no refusal phrase"),
    ],
)
def test_rules_and_custom_phrases_decide(text, options, evidence):
    value, said = refused_and_why(text, **options)
    assert said.endswith(evidence)
    assert value == (evidence != "no refusal phrase")


def test_without_the_verdict_that_a_rule_needs_there_is_no_value_and_a_reason():
    frame = pd.DataFrame({"response": ["Oslo"] * 2, "answerable": [1, 0], "verdict": [None, True]})
    frame = frame.assign(judged_refusal=None)
    metrics = [f"abstention.{name}" for name in (*RATES, "risk")]
    judged = ragnb.score(frame, metrics, rule="judge")
    assert judged["value"].isna().all()
    reasons = judged.set_index("metric")["reason"]
    assert reasons["abstention.over_refusal"].tolist()[0] == "no verdict on the refusal"
    by_phrase = ragnb.score(frame, "abstention.risk")
    assert by_phrase["reason"].tolist()[0] == "no verdict on the answer"
    assert by_phrase["value"].tolist()[1] == 1


@pytest.mark.parametrize("answerable", [None, math.nan])
@pytest.mark.parametrize("response", ["Oslo.", "I don't know."])
@pytest.mark.parametrize("indicator", [is_hallucination, is_over_refusal, is_aligned])
def test_without_knowing_whether_a_question_is_answerable_there_is_no_value(
    indicator, response, answerable
):
    assert math.isnan(indicator(response, answerable))
    assert math.isnan(is_risk(response, answerable, 1))
