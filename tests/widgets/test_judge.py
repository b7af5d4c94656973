import math

import pandas as pd
import pytest
from hostile import Reader

from ragnb.errors import InputError
from ragnb.widgets import JudgeView

ROW = {
    "example_id": "q1", "language": "zh", "system": "cross", "question": "首都？", "references": [["北京", "Beijing"], "中国"],
    "response": "It is Beijing.", "judged_by": "judged_correct", "judge_score": 0.0, "judge_verdict": 0.0,
    "human_label": 1.0, "annotations": {"label_a": 1.0, "label_b": math.nan}, "disagreement": 1.0,
    "judge_explanation": "The city is missing.",
}  # fmt: skip
NEEDED = "judged_by judge_score judge_verdict human_label annotations disagreement".split()
BARE = {name: ROW[name] for name in NEEDED}


def page(*rows, n=10):
    return Reader(JudgeView(pd.DataFrame(rows), n=n)._repr_html_())


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (
            ROW,
            "q1 · zh · cross首都？references: 北京 or Beijing; and 中国response: It is Beijing."
            "label: ✓ · annotators: label_a ✓, label_b –judge judged_correct: ✗ score 0The city is missing.",
        ),
        (BARE, "not asked yetlabel: ✓ · annotators: label_a ✓, label_b –judge judged_correct: ✗ score 0"),
        (
            BARE | {"response": None, "reason": "timeout", "annotations": {}, "judge_score": 0.9137,
                    "judge_verdict": 1.0, "human_label": 0.0, "judge_confidence": 0.75, "system": pd.NA},
            "? unscored (timeout)label: ✗judge judged_correct: ✓ score 0.914, confidence 0.75",
        ),
    ],
)  # fmt: skip
def test_a_whole_card(row, expected):
    shown = page(row)
    assert shown.text == f"1 of 1 disagreements, the worst first · ✓ 1 · ✗ 01. {expected}"
    assert shown.marked == (["Beijing"] if row is ROW else [])


def test_the_cards_come_in_the_order_of_the_frame_and_no_more_than_asked_for():
    rows = [ROW | {"question": f"question {k}"} for k in range(12)]
    text = page(*rows).text
    assert text.startswith("10 of 12 disagreements")
    assert [text.find(f"question {k}") > 0 for k in range(12)] == [True] * 10 + [False] * 2
    assert text.index("question 2") < text.index("question 3")
    assert repr(JudgeView(pd.DataFrame(rows), n=3)) == "JudgeView(3 of 12 disagreements)"


def test_bad_input_says_what_is_needed():
    with pytest.raises(InputError, match="without judge_verdict"):
        JudgeView(pd.DataFrame([ROW]).drop(columns="judge_verdict"))
    with pytest.raises(InputError, match="n must be a whole number of at least 1, got 0"):
        JudgeView(pd.DataFrame([ROW]), n=0)
