"""Numbers of notebook 05, computed from the study, the printed table and the recorded replies by hand."""

import re

import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from support.by_hand import mid_p, rate, wilson
from support.printed import printed

import ragnb
from ragnb.experiments import recorded_responses


@pytest.fixture(scope="module")
def replies():
    """The replies of the prompt ``answer``, with what they contain, and with their condition."""
    responses = recorded_responses("rgb_counterfactual")
    said = responses["response"].str.lower()
    responses["true"] = [
        all(any(alias.lower() in text for alias in part) for part in parts)
        and "insufficient information" not in text
        for text, parts in zip(said, responses["references"], strict=True)
    ]
    responses["false"] = [
        any(answer.lower() in text for answer in answers)
        for text, answers in zip(said, responses["false_answers"], strict=True)
    ]
    names = {(0, 0.0): "no passages", (5, 1.0): "true passages", (5, 0.0): "false passages"}
    conditions = zip(responses["passage_num"], responses["correct_rate"], strict=True)
    responses["condition"] = [names[condition] for condition in conditions]
    return responses


@pytest.fixture(scope="module")
def correct(replies):
    of = replies.query("system == 'answer'")
    return of.pivot(index="example_id", columns="condition", values="true").astype(bool)


def test_accuracies_under_three_conditions(correct):
    shown = printed("05", "accuracy")
    for name in correct:
        assert f"{name} {rate(correct[name].sum(), 40, digits=2)} 40" in shown


def test_paired_differences_and_their_adjusted_p_values(correct):
    shown, p = printed("05", "paired"), []
    for name in ("true passages", "no passages"):
        b = int((correct[name] & ~correct["false passages"]).sum())
        c = int((correct["false passages"] & ~correct[name]).sum())
        found = re.search(rf"{name} (\S+) \[.+?\] (\S+) 40", shown)
        assert float(found[1]) == pytest.approx((b - c) / 40, abs=0.0051)
        p.append((mid_p(b, c), float(found[2])))
    adjusted = multipletests([value for value, _ in p], method="holm")[1]
    assert adjusted == pytest.approx([shown_p for _, shown_p in p], rel=0.06)


def test_what_the_replies_to_false_passages_contain(replies, correct):
    of = replies.query("system == 'answer' and condition == 'false passages'")
    knew = of["example_id"].map(correct["no passages"])
    kinds = {
        "both": of["true"] & of["false"],
        "neither": ~of["true"] & ~of["false"],
        "the false answer": ~of["true"] & of["false"],
        "the true answer": of["true"] & ~of["false"],
    }
    order = ["neither", "the false answer", "the true answer", "both"]
    shown = printed("05", "where")
    for name, mask in (("knew it", knew), ("did not know it", ~knew)):
        cells = [int((kinds[kind] & mask).sum()) for kind in order]
        assert f"{name} {' '.join(map(str, cells))} {int(mask.sum())}" in shown


def test_no_detection_in_forty_replies(replies):
    false = replies.query("system == 'answer' and condition == 'false passages'")
    n = len(false)
    detected = false["response"].str.lower().str.contains("factual errors").sum()
    low, high = wilson(detected, n)
    shown = printed("05", "report")
    assert f"rgb.error_detection {detected} {n} 0.00 [{max(low, 0):.2f}, {high:.2f}]" in shown
    z = stats.norm.ppf(0.975)
    upper = z**2 / (n + z**2)
    expected = f"0 detections in {n} responses: the 95 % interval reaches up to {upper:.3f}"
    assert expected in printed("05", "none")


def test_a_judge_that_sees_a_report_where_there_is_none(replies):
    """The first card of the dashboard: the model that replied was the judge."""
    first = replies.query("system == 'answer'").iloc[0]
    assert "factual errors" not in first["response"].lower()
    assert first["judged_detection"] == 1
    assert first["model"] in first["judge_signature"]
    card = printed("05", "dashboard")
    assert re.search(f"{re.escape(first['question'])} .{{0,300}}✓ judged detection", card)


def test_the_same_answers_by_two_rules():
    """Accepted by people, and containment after folding letter case: each side of 0.7."""
    study = ragnb.load_study("evouna-nq").query("not improper").dropna(subset=["verdict"])
    shown = printed("05", "gate")
    for system, name in (("gpt35", "GPT-3.5"), ("chatgpt", "ChatGPT"), ("gpt4", "GPT-4")):
        verdicts = study.loc[study["system"] == system, "verdict"].astype(int)
        interval = rate(verdicts.sum(), len(verdicts), digits=2)
        assert f"{name} annotator.verdict {interval} {len(verdicts)}" in shown
