import math

import pandas as pd
import pytest
from hostile import Reader, any_text, visible
from hypothesis import given

from ragnb.errors import InputError
from ragnb.reports import judge_report
from ragnb.widgets import JudgeView

ELEMENTS = {"div", "p", "b", "i", "mark", "span", "small"}


def row(**changes):
    return {
        "example_id": "q1", "language": "zh", "system": "cross", "question": "首都？", "references": [["北京", "Beijing"], "中国"],
        "response": "It is Beijing.", "judged_by": "judged_correct", "judge_score": 0.0, "judge_verdict": 0.0,
        "human_label": 1.0, "annotations": {"label_a": 1.0, "label_b": math.nan}, "disagreement": 1.0,
        "judge_explanation": "The city is missing.",
    } | changes  # fmt: skip


def page(*rows, n=10):
    return Reader(JudgeView(pd.DataFrame(list(rows) or [row()]), n=n)._repr_html_())


def test_a_whole_card():
    assert page().text == (
        "1 of 1 disagreements, the worst first · ✓ 1 · ✗ 0"
        "1. q1 · zh · cross首都？references: 北京 or Beijing; and 中国response: It is Beijing."
        "label: ✓ · annotators: label_a ✓, label_b –judge judged_correct: ✗ score 0The city is missing."
    )
    assert page().marked == ["Beijing"]


def test_the_cards_come_in_the_order_of_the_frame_and_no_more_than_asked_for():
    rows = [row(question=f"question {k}") for k in range(12)]
    text = page(*rows).text
    assert text.startswith("10 of 12 disagreements")
    assert [f"question {k}" in text for k in range(12)] == [True] * 10 + [False] * 2
    assert text.index("question 2") < text.index("question 3")
    assert page(*rows, n=1).text.startswith("1 of 12")
    assert repr(JudgeView(pd.DataFrame(rows), n=3)) == "JudgeView(3 of 12 disagreements)"


def test_only_what_a_judge_said_is_needed():
    bare = {name: row()[name] for name in ("judged_by", "judge_score", "judge_verdict", "human_label", "annotations",
                                           "disagreement")}  # fmt: skip
    assert page(bare).text.endswith(
        "1. not asked yetlabel: ✓ · annotators: label_a ✓, label_b –judge judged_correct: ✗ score 0"
    )
    empty = row(
        question=None,
        references=None,
        language=math.nan,
        judge_explanation=None,
        annotations={},
        system=pd.NA,
    )
    assert page(empty).text.endswith(
        "1. q1response: It is Beijing.label: ✓judge judged_correct: ✗ score 0"
    )


def test_silence_and_emptiness_are_said():
    assert "? unscored (timeout)" in page(row(response=None, reason="timeout")).text
    assert "response: empty" in page(row(response="")).text


def test_confidence_and_score_stand_beside_the_verdict():
    text = page(
        row(judge_score=0.9137, judge_verdict=1.0, human_label=0.0, judge_confidence=0.75)
    ).text
    assert "label: ✗" in text
    assert "judge judged_correct: ✓ score 0.914, confidence 0.75" in text
    assert "confidence" not in page(row(judge_confidence=math.nan)).text


@given(any_text)
def test_any_response_can_be_shown(text):
    shown = page(row(response=text, references=text or None, judge_explanation=text))
    assert set(shown.elements) <= ELEMENTS
    assert visible(text) in shown.text


def test_the_page_of_a_report_is_the_same_each_time():
    frame = pd.DataFrame({"example_id": range(6), "label": [1, 0] * 3, "judged_correct": [0, 0, 1, 1, 0, 0],
                          "response": ["Oslo"] * 6, "question": ["Where?"] * 6, "references": [[["Oslo"]]] * 6})  # fmt: skip
    pages = {JudgeView(judge_report(frame).worst)._repr_html_() for _ in range(2)}
    assert len(pages) == 1
    assert Reader(pages.pop()).text.startswith("3 of 3 disagreements")


def test_a_judge_without_disagreement_has_an_empty_page():
    frame = pd.DataFrame(
        {"example_id": range(4), "label": [1, 0] * 2, "judged_correct": [1, 0] * 2}
    )
    view = JudgeView(judge_report(frame).worst)
    assert "no disagreement" in Reader(view._repr_html_()).text
    assert repr(view) == "JudgeView(0 of 0 disagreements)"


def test_bad_input_says_what_is_needed():
    with pytest.raises(InputError, match="without judge_verdict"):
        JudgeView(pd.DataFrame([row()]).drop(columns="judge_verdict"))
    with pytest.raises(InputError, match="one response at least; got n=0"):
        JudgeView(pd.DataFrame([row()]), n=0)
