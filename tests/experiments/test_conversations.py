"""Turns of conversations: sent in order, shown to judges, and clustered, on MTRAG's study."""

import pandas as pd
import pytest
from support.fault_server import FaultServer

import ragnb
from ragnb.errors import InputError
from ragnb.experiments import judgement_requests, question_requests
from ragnb.prompts import texts_between_tags
from ragnb.prompts.questions import TEMPLATES


@pytest.fixture(scope="module")
def turns():
    return ragnb.load_study("mtrag")


def test_the_history_is_sent_in_order_between_instruction_and_question(turns):
    third = turns.query("turn == 3 and system == 'reference'").head(1)
    shown = third.assign(passages=[["The court is in Sacramento."]]).drop(columns="response")
    with FaultServer() as server:
        replies = ragnb.complete(question_requests(shown), model="m", **server.options)
    (call,) = server.calls
    system, *before, last = call.body["messages"]
    assert [turn["role"] for turn in before] == ["user", "assistant"] * 2
    assert [turn["content"] for turn in before] == [
        turn["content"] for turn in third["history"].iloc[0]
    ]
    assert system["role"] == "system"
    assert last["content"].endswith(f"Question: {third['question'].iloc[0]}")
    assert "The court is in Sacramento." in last["content"]
    assert replies[["conversation_id", "turn"]].equals(third[["conversation_id", "turn"]])


def test_a_judge_reads_the_turns_above_the_question(turns):
    second = turns.query("turn == 2").head(1)
    asked = judgement_requests(second, "answer_relevancy")["messages"].iloc[0]
    (before, reply), question = second["history"].iloc[0], second["question"].iloc[0]
    lines = [("user", before["content"]), ("assistant", reply["content"]), ("user", question)]
    assert texts_between_tags(asked)[0] == "\n".join(
        f"[{role}] " + "\n    ".join(text.split("\n")) for role, text in lines
    )


def test_a_completion_prompt_with_earlier_turns_is_refused(turns):
    few_shot = TEMPLATES["few_shot_closed_book"]["en"]
    question_requests(turns.query("turn == 1"), prompt=few_shot)
    with pytest.raises(InputError, match="no place for the earlier turns in history"):
        question_requests(turns, prompt=few_shot)


def test_the_conversation_is_the_cluster_if_it_has_several_turns(turns):
    scores = ragnb.score(turns, "answer.f1")
    options = {"by": ["system"]}
    summaries = ragnb.summarize(scores, **options)
    pd.testing.assert_frame_equal(
        summaries, ragnb.summarize(scores, cluster="conversation_id", **options)
    )
    # All values of the reference answers are 1.
    varied = summaries[summaries["mean"] < 1]
    assert varied["interval"].str.contains("20 clusters").all()
    compared = ragnb.compare(scores, baseline="reference", by=[])
    assert compared["n_clusters"].tolist() == [20, 20]
    assert compared["why"].str.endswith("clusters: conversation_id").all()
    alone = ragnb.compare(scores, baseline="reference", by=[], cluster="example_id")
    assert alone["n_clusters"].tolist() == alone["n_pairs"].tolist() == [159, 159]
    first = scores[scores["turn"] == scores.groupby("conversation_id")["turn"].transform("min")]
    assert "cluster" not in ragnb.summarize(first, **options)["interval"].iloc[0]
