"""Refusals under several rules, and the shares of the 2 × 2 table."""

import math

import pandas as pd
import pytest

import ragnb
from ragnb.metrics import is_aligned, is_hallucination, is_over_refusal, is_risk
from ragnb.metrics.recognition import outcome_and_why, refused_and_why

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


@pytest.mark.parametrize("answerable", [False, True])
def test_every_printed_accuracy_of_nomiracl_is_recomputed_under_its_own_rule(nomiracl, answerable):
    """An accuracy is the share of right decisions, and an invalid reply is not right."""
    study = nomiracl.query("answerable == @answerable")
    scores = ragnb.score(study, "abstention.alignment", rule="nomiracl")
    found = ragnb.summarize(scores, by=["language", "system"]).set_index(["language", "system"])
    cells = 0
    for line in PRINTED[answerable].strip().splitlines():
        language, *numbers = line.split()
        for model, number in zip(MODELS, numbers, strict=True):
            accuracy = 100 * found.loc[(language, model), "mean"]
            digits = len(number.partition(".")[2])
            assert round(accuracy, digits) == pytest.approx(float(number)), (language, model)
            cells += 1
    assert cells == 88


def test_hallucination_rates_of_nomiracl_count_invalid_replies_in_the_denominator(nomiracl):
    """The values of the benchmark's own code; the macro averages are over eight languages."""
    report = ragnb.abstention_report(nomiracl, by=["system", "language"], rule="nomiracl")
    macro = report.groupby("system")["hallucination"].mean().round(3)
    assert macro["gpt-4-azure"] == 0.344
    assert macro["Mistral-7B-Instruct-v0.2"] == 0.076
    assert macro["llama-2-70b-chat"] == 0.898
    assert macro["gpt-3.5-turbo-azure"] == 0.542
    llama = report[report["language"].eq("en") & report["system"].eq("llama-2-13b-chat")].iloc[0]
    assert llama["hallucination"] == 0.348
    outcomes = ["unanswerable_answered", "unanswerable_refused", "unanswerable_invalid"]
    assert llama[outcomes].tolist() == [87, 2, 161]
    assert llama["unanswerable_invalid"] / 250 == pytest.approx(0.64, abs=0.005)
    assert llama["carefulness"] == 2 / 250
    assert llama["n_scored"] == llama["n"] == 500
    assert (
        report.filter(regex="_(answered|refused|invalid)$").sum(axis=1).tolist()
        == report["n"].tolist()
    )


@pytest.mark.parametrize(
    ("response", "outcome"),
    [
        ("Yes, answer is present in [3].", "answered"),
        ("I don't know.", "refused"),
        ("I don’t know.", "refused"),
        ("No, the answer is not present.", "refused"),
        ('Respond "Yes, answer is present" or "I don\'t know".', "invalid"),
        ("Yes, answer is present. Yes, answer is present. I don't know", "invalid"),
        ("The capital is Oslo.", "invalid"),
        ("[3]", "answered"),
        ("", "invalid"),
    ],
)
def test_nomiracl_has_three_outcomes(response, outcome):
    assert outcome_and_why(response, rule="nomiracl")[0] == outcome
    share = {"answered": 1.0, "refused": 0.0, "invalid": 0.0}[outcome]
    assert is_hallucination(response, 0, rule="nomiracl") == share
    assert is_over_refusal(response, 1, rule="nomiracl") == (outcome == "refused")
    assert is_aligned(response, 1, rule="nomiracl") == (outcome == "answered")
    assert is_aligned(response, 0, rule="nomiracl") == (outcome == "refused")


REFUSAL_SIGNS = [
    "I don‘t know", "I don’t know", "I donʼt know", "I don`t know", "I don´t know", "I don＇t know",
    "I don′t know", '"I don\'t know"', "“I don’t know.”", "«I don't know»", "'I don't know'",
    "**I don't know**", "__I don't know.__", "*I don't know*", "`I don't know`", "> I don't know",
    "- I don't know", "# I don't know", "\n\n**\"I don’t know\"**", "<b>I don't know</b>",
    "I **don't** know", "(I don't know)", "… I don't know", "I DON'T KNOW", "1. I don't know",
    "Answer: I don't know", "**Final answer:** I don’t know", "答案：I don't know",
    "\ufeffI don't know", "I don't\u200b know", "I don't kn\u200bow",
]  # fmt: skip


@pytest.mark.parametrize("response", REFUSAL_SIGNS)
@pytest.mark.parametrize("rule", ["start", "anywhere", "list"])
def test_apostrophes_quotation_marks_and_markdown_do_not_hide_a_refusal(response, rule):
    assert refused_and_why(response, rule=rule)[0] == 1


@pytest.mark.parametrize("rule", ["start", "anywhere"])
def test_a_zero_width_space_does_not_hide_a_refusal_in_a_script_without_spaces(rule):
    """Thai text may have it between words, where a list of phrases has none, and the other way round."""
    forms = ["ผมไม่ทราบ", "ผม\u200bไม่\u200bทราบ"]
    for response in forms:
        for phrase in forms:
            assert refused_and_why(response, rule=rule, phrases=phrase)[0] == 1


@pytest.mark.parametrize(
    "response",
    [
        "Oslo. I don't know more.",
        "He replied: I don't know",
        "1.5 I don't know",
        "(Oslo) I don't know",
        "don't know",
    ],
)
def test_a_refusal_at_the_start_begins_with_its_phrase(response):
    assert refused_and_why(response)[0] == 0


def test_a_language_without_a_list_of_refusals_has_no_value_and_a_reason():
    frame = pd.DataFrame(
        {"response": ["모르겠습니다.", "I don't know"], "answerable": 0, "language": "ko"}
    )
    scores = ragnb.score(frame, "abstention.hallucination", rule="list")
    assert scores["value"].isna().tolist() == [True, False]
    assert scores["reason"].tolist()[0] == "no list of refusals in the language 'ko'"
    own = ragnb.score(frame, "abstention.hallucination", rule="list", phrases={"ko": "모르겠"})
    assert own["value"].tolist() == [0, 1]


@pytest.mark.parametrize("language", ["de", "DE", "de-AT", "de_CH"])
@pytest.mark.parametrize("phrases", [None, {"DE": "ich weiß nicht"}])
def test_the_case_and_the_region_of_a_language_code_do_not_matter(language, phrases):
    options = {"language": language, "rule": "list", "phrases": phrases}
    assert refused_and_why("Ich weiß nicht.", **options)[0] == 1
    assert refused_and_why("Oslo.", **options)[0] == 0


NOTHING = pd.DataFrame(
    {
        "example_id": list("abcdef"),
        "system": "one",
        "answerable": [0, 1, 0, 1, 0, 1],
        "response": ["", " ", "<think>Oslo or", "<think>Oslo?</think>", "Oslo", "Oslo"],
    }
)


@pytest.mark.filterwarnings("ignore:.*without a closing mark")
@pytest.mark.parametrize("rule", ["start", "anywhere", "list"])
def test_a_reply_that_answers_nothing_is_neither_an_answer_nor_a_refusal(rule):
    report = ragnb.abstention_report(NOTHING, rule=rule).iloc[0]
    assert report["answerable_answered"] == report["unanswerable_answered"] == 1
    assert report["answerable_refused"] == report["unanswerable_refused"] == 0
    assert (report["n_scored"], report["n"]) == (2, 6)
    reasons = "empty reply (2), cut off inside the reasoning (1), only reasoning and no answer (1)"
    assert report["unscored"] == f"4 of 6: {reasons}"
    scores = ragnb.score(NOTHING, [f"abstention.{name}" for name in RATES], rule=rule)
    missing = scores[scores["example_id"].isin(list("abcd"))]
    assert missing["value"].isna().all()
    assert set(missing["reason"]) == {
        "empty reply", "cut off inside the reasoning", "only reasoning and no answer",
        "the question is answerable", "the question is not answerable",
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*without a closing mark")
def test_an_empty_text_is_a_refusal_if_the_caller_says_so():
    report = ragnb.abstention_report(NOTHING, empty="refusal").iloc[0]
    assert report["answerable_refused"] == report["unanswerable_refused"] == 1
    assert "empty:refusal" in report["signature"]
    labelled = NOTHING.assign(refusal=[1, 0, None, None, 0, 1])
    by_label = ragnb.score(labelled, "abstention.coverage", rule="label")["value"]
    assert by_label.fillna(-1).tolist() == [0, -1, -1, -1, 1, 0]


def test_a_system_without_any_reply_and_rows_without_a_group_keep_their_rows():
    frame = pd.DataFrame(
        {
            "example_id": list("abcd"),
            "system": ["one", "silent", None, None],
            "answerable": [1, 1, 0, 1],
            "response": ["Oslo", None, "I don't know", "Oslo"],
        }
    )
    report = ragnb.abstention_report(frame)
    assert report["system"].fillna("-").tolist() == ["one", "silent", "-"]
    assert report["n_scored"].tolist() == [1, 0, 2]
    assert report["n"].tolist() == [1, 1, 2]
    assert report["coverage"].isna().tolist() == [False, True, False]
    assert report["alignment"].tolist()[2] == 1


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
