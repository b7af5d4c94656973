import json
import math

import pandas as pd
import pytest
from experiments.judge import Judge, asked_about
from hypothesis import given, settings
from hypothesis import strategies as st

import ragnb
from ragnb.errors import InputError
from ragnb.experiments.judges import (
    JUDGEMENTS,
    judge_responses,
    judgement_requests,
)

RESPONSES = pd.DataFrame(
    {
        "question": ["Who?", "Where?", "When?"],
        "references": [[["Scott", "R. F. Scott"]], [["Oslo"]], [["1911"], ["1912"]]],
        "response": pd.Series(["I do not know.", None, "In 1912."], dtype=object),
    }
)
YES = {
    "refusal": {"verdict": "refuses"},
    "detection": {"verdict": "detects"},
    "similarity": {"explanation": "Both say so.", "score": 1},
    "correctness": {"explanation": "Both say so.", "verdict": "correct"},
    "bare_correctness": {"verdict": "same"},
}
NO = {
    "refusal": {"verdict": "answers"},
    "detection": {"verdict": "does not detect"},
    "similarity": {"explanation": "No.", "score": 0.0},
    "correctness": {"explanation": "No.", "verdict": "incorrect"},
    "bare_correctness": {"verdict": "different"},
}
METRIC = {
    "refusal": "rgb.judged_rejection",
    "detection": "rgb.judged_error_detection",
    "similarity": "semantic.judged_similarity",
    "correctness": "semantic.judged_correctness",
    "bare_correctness": "semantic.judged_correctness",
}
every = pytest.mark.parametrize("judgement", JUDGEMENTS)


def judge_with(judge, responses=RESPONSES, judgement="similarity", **options):
    with judge:
        return judge_responses(responses, judgement, model="judge", **{**judge.options, **options})


def of(*responses, **columns):
    """A frame of responses to one question, one system."""
    n = len(responses)
    basis = {"example_id": [f"mini/{k}" for k in range(n)], "system": "tiny", "language": "en"}
    basis |= {
        "question": "Where?",
        "references": [[["Oslo"]]] * n,
        "response": pd.Series(responses, dtype=object),
    }
    return pd.DataFrame({**basis, **columns})


# ---- values ------------------------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize(("replies", "value"), [(YES, 1.0), (NO, 0.0)], ids=["yes", "no"])
def test_a_verdict_becomes_a_value_beside_its_response(judgement, replies, value):
    column = JUDGEMENTS[judgement].column
    judged = judge_with(Judge(replies[judgement]), judgement=judgement)
    assert judged[column].tolist() == pytest.approx([value, math.nan, value], nan_ok=True)
    assert judged["judge_reason"].tolist() == [None, "no response", None]
    assert judged["judge_keys"].str.len().tolist() == [1, 0, 1]
    assert judged[list(RESPONSES.columns)].equals(RESPONSES)
    scores = ragnb.score(judged, METRIC[judgement])
    assert scores["value"].equals(judged[column].rename("value"))
    json.dumps(judged["judge_keys"].tolist())


@every
@pytest.mark.parametrize(
    "reply",
    [
        "Sure! It does.",
        '{"verdict": "maybe", "score": 7}',
    ],
)
def test_what_cannot_be_read_is_nan_with_the_reason_and_never_0(judgement, reply):
    judge = Judge(reply)
    judged = judge_with(judge, judgement=judgement)
    assert judged[JUDGEMENTS[judgement].column].isna().all()
    assert judged["judge_reason"][0]
    assert "after a repair turn" in judged["judge_reason"][2]
    assert judged["judge_keys"].str.len().tolist() == [2, 0, 2]
    assert ragnb.score(judged, METRIC[judgement])["value"].isna().all()
    assert len(judge.calls) == 4


LACKS = {
    "no question": {"question": None},
    "no references": {"references": None},
    "no response": {"response": math.nan},
    "empty response": {"response": " \n\u3000"},
}


@pytest.mark.parametrize("judgement", ["similarity", "correctness", "bare_correctness"])
def test_what_cannot_be_judged_is_not_asked_about_and_says_why(judgement):
    rows = [{**RESPONSES.iloc[0], **changed} for changed in LACKS.values()]
    lacking = pd.DataFrame([*rows, dict(RESPONSES.iloc[0])], index=[5, 5, 6, 7, 7], dtype=object)
    judge = Judge(YES[judgement])
    judged = judge_with(judge, lacking, judgement)
    assert len(judge.calls) == 1
    assert judged["judge_reason"].tolist() == [*LACKS, None]
    assert judged.index.equals(lacking.index)
    assert judged[JUDGEMENTS[judgement].column].notna().tolist() == [False] * 4 + [True]
    assert judgement_requests(lacking, judgement).index.tolist() == [7]


# ---- several judgements ------------------------------------------------------------------------------------------------


def test_a_judged_frame_is_not_judged_again():
    judged = judge_with(Judge(YES["similarity"]))
    with pytest.raises(
        InputError,
        match="got judge_reason, judge_explanation, judge_keys; rename",
    ):
        judge_with(Judge(YES["correctness"]), judged, "correctness")
    with pytest.raises(InputError, match="got judged_similarity, judge_reason"):
        judge_with(Judge(YES["similarity"]), judged)


# ---- endpoint, store, disk ---------------------------------------------------------------------------------------------


@every
def test_stored_replies_are_replayed_without_a_server(judgement, tmp_path):
    frame, store = of("a", "b", None, ""), tmp_path / "replies.sqlite"
    first = judge_with(Judge("Hm.", a=YES[judgement]), frame, judgement, store=store)
    again = judge_responses(frame, judgement, model="judge", store=store, offline=True)
    pd.testing.assert_frame_equal(first, again)
    assert first["judge_reason"].notna().tolist() == [False, True, True, True]


# ---- hostile text ------------------------------------------------------------------------------------------------------

TEXT = st.text(st.characters(codec=None), max_size=30)


@settings(max_examples=10, deadline=None)
@given(
    st.lists(st.tuples(TEXT, TEXT, TEXT.filter(bool)), min_size=1, max_size=3),
    TEXT,
    st.sampled_from(list(JUDGEMENTS)),
)
def test_whatever_is_asked_and_said_every_response_ends_with_a_value_or_a_reason(
    rows, said, judgement
):
    frame = pd.DataFrame(rows, columns=["question", "response", "references"], dtype=object)
    judged = judge_with(Judge(said.encode("utf-8", "replace").decode()), frame, judgement)
    there = judged[JUDGEMENTS[judgement].column].notna()
    assert (there ^ judged["judge_reason"].notna()).all()
    assert len(judged) == len(frame)


# ---- real data and the real model --------------------------------------------------------------------------------------


@pytest.mark.data
def test_the_references_of_real_answers_can_be_asked_about(data_folder):
    real = ragnb.load_evouna(data_folder / "evouna" / "NQ.json")
    requests = judgement_requests(real, "correctness")
    said = real[real["response"].fillna("").str.strip().ne("")]
    assert len(requests) == said["references"].notna().sum() > 15_000
    bare = said.loc[said["references"].isna(), "example_id"]
    assert bare.nunique() == 1, "one question of the file has no answer"
    assert requests["messages"].str[1].str["content"].str.contains("\nReference: ").all()


def test_a_judge_is_shown_the_answer_without_the_reasoning():
    reply = "<think>It was Alexander Fleming?</think>Howard Florey"
    shown = judgement_requests(of(reply, "<think>cut off"), "correctness")
    assert [asked_about(messages) for messages in shown["messages"]] == ["Howard Florey"]
