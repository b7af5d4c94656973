"""Refusals under several rules, and the shares of the 2 × 2 table."""

import pandas as pd
import pytest

import ragnb
from ragnb.metrics.abstention import is_risk, refusal_phrase

RATES = ("hallucination", "over_refusal", "alignment", "coverage")


def by_hand(rows):
    """The four shares from pairs of answerable and refused."""
    pairs = [(bool(answerable), bool(refused)) for answerable, refused in rows]
    unanswerable = [refused for answerable, refused in pairs if not answerable]
    answerable = [refused for known, refused in pairs if known]
    return (
        1 - sum(unanswerable) / len(unanswerable),
        sum(answerable) / len(answerable),
        sum(known != refused for known, refused in pairs) / len(pairs),
        1 - sum(refused for _, refused in pairs) / len(pairs),
    )


@pytest.mark.parametrize(
    ("rule", "refused"),
    [
        ("start", lambda text: text.lower().replace("’", "'").startswith("i don't know")),
        ("anywhere", lambda text: "i don't know" in text.lower().replace("’", "'")),
    ],
)
def test_shares_of_nomiracl_equal_plain_counting(rule, refused):
    study = ragnb.load_study("nomiracl")
    for language in ("en", "hi"):
        frame = study[study["language"] == language]
        report = ragnb.abstention_report(frame, rule=rule).set_index("system")
        for system, group in frame.groupby("system"):
            pairs = zip(group["answerable"], map(refused, group["response"]), strict=True)
            assert report.loc[system, list(RATES)].tolist() == pytest.approx(by_hand(pairs))


def test_macro_means_of_nomiracl_over_the_languages_of_the_extract():
    """Near the printed .344/.137 and .507/.086, which are means over other (13) languages."""
    report = ragnb.abstention_report(ragnb.load_study("nomiracl"), by=["system", "language"])
    macro = report.groupby("system")[["hallucination", "over_refusal"]].mean()
    expected = {
        "gpt-4-azure": [0.354, 0.106],
        "gpt-3.5-turbo-azure": [0.551, 0.0605],
        "Mistral-7B-Instruct-v0.2": [0.116, 0.6435],
        "llama-2-70b-chat": [1.0, 0.0],
    }
    for system, rates in expected.items():
        assert macro.loc[system].tolist() == pytest.approx(rates, abs=0.0005)


def test_the_four_counts_and_shares_of_one_table():
    rows = {
        "example_id": list("abcdef"),
        "system": "one",
        "answerable": [1, 1, 1, 0, 0, None],
        "response": ["Oslo.", "I don't know", "Rome", "I don’t know.", "Bonn", "I don't know"],
    }
    report = ragnb.abstention_report(pd.DataFrame(rows)).iloc[0]
    assert report[
        [
            "answerable_answered",
            "answerable_refused",
            "unanswerable_answered",
            "unanswerable_refused",
        ]
    ].tolist() == [2, 1, 1, 1]
    assert report["hallucination"] == 0.5
    assert report["over_refusal"] == pytest.approx(1 / 3)
    assert report["alignment"] == pytest.approx(3 / 5)


def test_people_say_what_is_a_refusal_and_a_list_nearly_agrees():
    """DelucionQA's people marked 226 of 317 answers to unanswerable questions as refusals."""
    frame = ragnb.load_study("delucionqa")
    report = ragnb.abstention_report(frame, rule="label").iloc[0]
    assert report["unanswerable_refused"] == 226
    assert report["answerable_refused"] == 21
    by_list = ragnb.score(frame, "abstention.coverage", rule="list")["value"].eq(0)
    refused = frame["refusal"].astype(bool)
    assert (by_list & refused).sum() / refused.sum() > 0.85
    assert (by_list & ~refused).sum() / (~refused).sum() < 0.03


@pytest.mark.parametrize(
    ("text", "language", "rule", "phrase"),
    [
        ("The answer is: I don't know", "en", "start", None),
        ("The answer is: I don't know", "en", "anywhere", "i don't know"),
        ("Leider: Ich weiß es nicht.", "de", "list", "ich weiss es nicht"),
        ("我不知道。", "zh-CN", "list", "我不知道"),
        ("I do not know", "ja", "list", "i do not know"),
    ],
)
def test_rules_find_their_phrases(text, language, rule, phrase):
    assert refusal_phrase(text, language=language, rule=rule) == phrase


def test_custom_phrases_replace_the_agreed_one():
    phrases = {"en": "no answer", "fr": ["sans réponse"]}
    assert refusal_phrase("Sans réponse.", language="fr", phrases=phrases) == "sans réponse"
    assert refusal_phrase("I don't know", phrases=phrases) is None


def test_risk_counts_answers_to_unanswerable_questions_as_wrong():
    assert [is_risk("Oslo", known, right) for known, right in ((1, 1), (1, 0), (0, 1))] == [0, 1, 1]


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
