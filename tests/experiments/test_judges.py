import json
import math

import pandas as pd
import pytest
from fault_server import Answer, FaultServer
from hypothesis import given, settings
from hypothesis import strategies as st

import ragnb
from ragnb.errors import InputError
from ragnb.experiments.judges import (
    EXPLAINED,
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


def asked_about(messages):
    """The response in a request, by the marks of the templates."""
    user = next(message["content"] for message in messages if message["role"] == "user")
    bare = user.rpartition("Student's answer: ")[2].rpartition("\n\nDoes the student's answer")[0]
    return bare or user.rpartition("Response: ")[2]


class Judge:
    """A judge that replies to each response, found by its text, as it is told; to others with ``otherwise``."""

    def __init__(self, otherwise="", **told):
        self.otherwise, self.told = otherwise, told
        self.server = FaultServer(self.behave)

    def behave(self, call):
        asked = asked_about(call.body["messages"])
        reply = self.told.get(asked, self.otherwise)
        text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
        return Answer(status=reply) if isinstance(reply, int) else Answer(text=text)

    def judge(self, responses=RESPONSES, judgement="similarity", **options):
        with self.server as server:
            usual = {
                "base_url": server.base_url,
                "store": ":memory:",
                "progress": False,
                "max_retries": 0,
            }
            return judge_responses(responses, judgement, model="judge", **{**usual, **options})


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
    judged = Judge(replies[judgement]).judge(judgement=judgement)
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
        "",
        '{"verdict": "maybe", "score": 7}',
        '{"verdict": true, "score": true}',
    ],
)
def test_what_cannot_be_read_is_nan_with_the_reason_and_never_0(judgement, reply):
    judge = Judge(reply)
    judged = judge.judge(judgement=judgement)
    assert judged[JUDGEMENTS[judgement].column].isna().all()
    assert judged["judge_reason"][0]
    assert "after a repair turn" in judged["judge_reason"][2]
    assert judged["judge_keys"].str.len().tolist() == [2, 0, 2]
    assert ragnb.score(judged, METRIC[judgement])["value"].isna().all()
    assert len(judge.server.calls) == 4


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
    judged = judge.judge(lacking, judgement)
    assert len(judge.server.calls) == 1
    assert judged["judge_reason"].tolist() == [*LACKS, None]
    assert judged.index.equals(lacking.index)
    assert judged[JUDGEMENTS[judgement].column].notna().tolist() == [False] * 4 + [True]
    assert judgement_requests(lacking, judgement).index.tolist() == [7]


# ---- several judgements ------------------------------------------------------------------------------------------------


def test_a_judged_frame_is_not_judged_again():
    judged = Judge(YES["similarity"]).judge()
    with pytest.raises(
        InputError,
        match="got judge_reason, judge_explanation, judge_keys; rename",
    ):
        Judge(YES["correctness"]).judge(judged, "correctness")
    with pytest.raises(InputError, match="got judged_similarity, judge_reason"):
        Judge(YES["similarity"]).judge(judged)


# ---- endpoint, store, disk ---------------------------------------------------------------------------------------------


def test_a_spent_budget_is_a_reason():
    judge = Judge(YES["similarity"])
    judged = judge.judge(budget_usd=1e-9, prices={"judge": (1.0, 1.0)})
    assert judged["judge_reason"].str.contains("budget").tolist() == [True, False, True]
    assert not judge.server.calls


@every
def test_stored_replies_are_replayed_without_a_server(judgement, tmp_path):
    frame, store = of("a", "b", None, ""), tmp_path / "replies.sqlite"
    first = Judge("Hm.", a=YES[judgement]).judge(frame, judgement, store=store)
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
    judged = Judge(said.encode("utf-8", "replace").decode()).judge(frame, judgement)
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


@pytest.mark.model
def test_the_packaged_model_judges_or_says_why_not(serve):
    with serve(context_tokens=2048) as endpoint:
        judged = judge_responses(
            of("It is Oslo.", None, "世贸"),
            "similarity",
            model=endpoint.model,
            base_url=endpoint.base_url,
            store=":memory:",
            parameters={**EXPLAINED, "max_tokens": 32},
            timeout=300,
            progress=False,
            repair=False,
        )
    there = judged["judged_similarity"].notna()
    assert (there ^ judged["judge_reason"].notna()).all()
    assert judged["judged_similarity"].dropna().between(0, 1).all()
    assert judged["judge_keys"].str.len().gt(0).tolist() == [True, False, True]
    assert (ragnb.score(judged, "semantic.judged_similarity")["value"].notna() == there).all()


def test_a_judge_is_shown_the_answer_without_the_reasoning():
    reply = "<think>It was Alexander Fleming?</think>Howard Florey"
    shown = judgement_requests(of(reply, "<think>cut off"), "correctness")
    assert [asked_about(messages) for messages in shown["messages"]] == ["Howard Florey"]
