import json
from typing import Literal

import pandas as pd
import pytest
from pydantic import BaseModel, Field
from support.asking import chat, number
from support.fault_server import Answer, FaultServer

from ragnb.errors import InputError
from ragnb.llm import Store, complete_structured
from ragnb.prompts import strict_schema

pytestmark = pytest.mark.usefixtures("quick_retries")


class Judgement(BaseModel):
    verdict: Literal["yes", "no"]
    score: int = Field(ge=1, le=5)


GOOD = '{"verdict": "yes", "score": 4}'
BAD = '{"verdict": "yes", "score": 7}'
RECORD = {"verdict": "yes", "score": 4}
NO_FORMAT = "Unknown parameter: 'response_format.type'"


def run(requests, server, store=":memory:", **options):
    address = {"base_url": server.base_url, "store": store, "progress": False}
    return complete_structured(requests, Judgement, model="m", **{**address, **options})


def is_turn(call):
    """Whether a call is a repair turn."""
    return len(call.body["messages"]) > 1


def answering(text=GOOD, turn=GOOD, only=None):
    """A server's manner: what it says at first and in a repair turn, to all requests or to ``only``."""

    def behave(call):
        special = only is None or number(call) == only
        return Answer(text=(turn if is_turn(call) else text) if special else GOOD)

    return behave


def test_structured_outputs_are_asked_for_and_read():
    with FaultServer(answering()) as server:
        frame = run(chat(5), server)
    assert frame["record"].tolist() == [RECORD] * 5
    assert frame["example_id"].tolist() == chat(5)["example_id"].tolist()
    assert frame["reason"].isna().all()
    assert set(frame["found"]) == {"plain"}
    assert frame["structured"].all()
    assert len(server.calls) == 5
    form = {"name": "Judgement", "strict": True, "schema": strict_schema(Judgement)}
    for call in server.calls:
        assert call.body["response_format"] == {"type": "json_schema", "json_schema": form}
        assert call.body["temperature"] == 0.0


def test_a_reply_that_cannot_be_read_gets_one_repair_turn_which_is_stored_and_replayed(tmp_path):
    requests, path = chat(4), tmp_path / "s.sqlite"
    with FaultServer(answering(BAD, only=2)) as server, Store(path) as store:
        frame = run(requests, server, store)
        again = run(requests, server, store)
        stored = store.get(frame["repair_request_key"].dropna())
    assert frame["record"].tolist() == [RECORD] * 4
    assert frame["repaired"].tolist() == [False, False, True, False]
    assert frame["response"][2] == BAD
    assert frame["repair_response"].tolist() == [None, None, GOOD, None]
    assert frame["repair_prompt_tokens"].sum() == 10
    assert frame["reason"].isna().all()
    assert len(server.calls) == 5
    assert [reply.response for reply in stored.values()] == [GOOD]
    asked, reply, complaint = server.calls[-1].body["messages"]
    assert asked == requests["messages"][2][0]
    assert reply == {"role": "assistant", "content": BAD}
    assert complaint["role"] == "user"
    assert "score: 7 is above 5 (less_than_equal)" in complaint["content"]
    assert json.dumps(strict_schema(Judgement)) in complaint["content"]
    assert "response_format" in server.calls[-1].body
    pd.testing.assert_frame_equal(frame, again)
    offline = complete_structured(requests, Judgement, model="m", store=path, offline=True)
    pd.testing.assert_frame_equal(frame, offline)


def test_records_are_read_from_the_reply_as_it_came_with_its_reasoning():
    noted = '{"verdict": "yes", "score": 4, "note": "<think>"}'
    texts = [f"<think>Is it 7?</think>{GOOD}", GOOD, f"<think>cut off, {GOOD}", noted]

    def behave(call):
        return Answer(text=GOOD if is_turn(call) else texts[number(call)])

    with FaultServer(behave) as server:
        frame = run(chat(4), server, structured=False)
    assert frame["record"].tolist() == [RECORD] * 4
    assert frame["response"].tolist() == texts
    assert frame["repaired"].tolist() == [False, False, True, False]
    assert server.calls[-1].body["messages"][1]["content"] == texts[2]


def test_a_second_bad_reply_stays_unscored_with_both_reasons():
    with FaultServer(answering(BAD, "I'd rather not.")) as server:
        frame = run(chat(3), server)
    first = "score: 7 is above 5 (less_than_equal)"
    second = "no JSON object in the reply: I'd rather not."
    assert frame["record"].tolist() == [None] * 3
    assert frame["reason"].tolist() == [f"{first}; after a repair turn: {second}"] * 3
    assert frame["found"].tolist() == [None] * 3
    assert not frame["repaired"].any()
    assert frame["repair_response"].tolist() == ["I'd rather not."] * 3
    assert len(server.calls) == 6


def test_an_endpoint_without_structured_outputs_gets_plain_requests(tmp_path):
    def behave(call):
        if "response_format" in call.body:
            return Answer(status=400, message=NO_FORMAT)
        return Answer(text=f"Sure: {GOOD}")

    with FaultServer(behave) as server:
        with pytest.warns(
            UserWarning, match="m refuses the parameter response_format; .* not sent"
        ):
            frame = run(chat(20), server, tmp_path / "s.sqlite", max_concurrency=1)
        plain = run(chat(2), server, structured=False)
    assert frame["record"].tolist() == [RECORD] * 20
    assert set(frame["found"]) == {"embedded"}
    assert len(server.calls) == 21 + 2
    assert plain["record"].tolist() == [RECORD] * 2
    offline = complete_structured(
        chat(20), Judgement, model="m", store=tmp_path / "s.sqlite", offline=True
    )
    pd.testing.assert_frame_equal(frame, offline)


def test_completion_requests_are_refused_before_anything_is_sent():
    frame = pd.DataFrame({"prompt": ["x"]})
    with pytest.raises(InputError, match="needs chat requests.*put the text into 'messages'"):
        complete_structured(frame, Judgement, model="m", store=":memory:")
