import asyncio
import json
import math
import random
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest
from support.asking import chat, expected, number, replay, run
from support.fault_server import Answer, FaultServer, echo, expected_text

from ragnb.errors import EndpointError, InputError
from ragnb.llm import Budget, Store, complete

pytestmark = pytest.mark.usefixtures("quick_retries")


def test_never_more_requests_under_way_than_allowed():
    with FaultServer(lambda call: Answer(text="x", delay=0.02)) as server:
        run(chat(30), server, max_concurrency=4)
    assert server.most_open == 4


def test_retry_after_holds_back_every_worker():
    def busy_at_first(call):
        call.time = time.monotonic()
        return (
            Answer(status=429, headers={"retry-after": "0.5"}) if call.number == 0 else echo(call)
        )

    with FaultServer(busy_at_first) as server:
        run(chat(3), server, max_concurrency=1)
    assert server.calls[1].time - server.calls[0].time >= 0.45


NOT_FOUND = "model m not found"
FATAL = [
    (Answer(401, message="bad key"), "cannot be used: HTTP 401: bad key; .*OPENAI_API_KEY"),
    (Answer(404, message=NOT_FOUND), "404: model m not found; check base_url .*/v1.* model name"),
    (Answer(429, message="pay (insufficient_quota)"), "insufficient_quota.*top up"),
    (Answer(raw=b"<html>It works!</html>"), "a reply that is not a completion.*It works!"),
]


@pytest.mark.parametrize(("answer", "words"), FATAL)
def test_an_endpoint_that_cannot_be_used_ends_the_run_with_one_clear_error(answer, words):
    with (
        FaultServer(lambda call: answer) as server,
        pytest.raises(EndpointError, match=words),
    ):
        run(chat(30), server, max_retries=2, max_concurrency=4)
    assert len(server.calls) <= 30


def test_a_refused_connection_is_said_soon():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with pytest.raises(EndpointError, match=r"cannot be used: no connection .* check the address"):
        complete(chat(3), model="m", base_url=address, store=":memory:", progress=False)


def test_an_endpoint_that_dies_midway_keeps_what_it_gave(tmp_path):
    def dies(call):
        return echo(call) if call.number < 10 else Answer(status=500)

    with (
        FaultServer(dies) as server,
        pytest.raises(EndpointError, match=r"Replies received: 10, all kept"),
    ):
        run(chat(100), server, tmp_path / "s.sqlite", max_retries=0, max_concurrency=1)
    with Store(tmp_path / "s.sqlite") as store:
        assert len(store) == 10


def test_offline_needs_every_reply_and_no_key(tmp_path):
    with FaultServer() as server:
        online = run(chat(4), server, tmp_path / "s.sqlite")
    pd.testing.assert_frame_equal(online, replay(chat(4), tmp_path / "s.sqlite"))
    with pytest.raises(
        InputError, match=r"offline run needs every reply.*1 of 5 requests have none"
    ):
        replay(chat(5), tmp_path / "s.sqlite")


def test_complete_works_inside_a_running_loop():
    async def in_a_loop(server):
        return run(chat(3), server)  # as in Jupyter: a loop runs already in this thread

    # A thread of its own, because the browser of other tests leaves its loop running in this one.
    with FaultServer() as server, ThreadPoolExecutor(1) as thread:
        frame = thread.submit(asyncio.run, in_a_loop(server)).result()
    assert frame["reason"].isna().all()
    assert frame["example_id"].tolist() == chat(3)["example_id"].tolist()
    assert set(frame["system_fingerprint"]) == {"fp_fault"}
    assert frame["prompt_tokens"].sum() == 30
    assert len(server.calls) == 3


def test_repeats_are_kept_apart_and_stand_below_each_other():
    def counting(call):
        return Answer(text=f"{expected_text(call.body)} #{call.repeat}")

    with FaultServer(counting) as server, Store(":memory:") as store:
        replies = run(chat(3), server, store, repeats=3, max_concurrency=1)
        again = run(chat(3), server, store, repeats=4, max_concurrency=1)
    assert replies["example_id"].tolist() == ["e/0"] * 3 + ["e/1"] * 3 + ["e/2"] * 3
    assert replies["repeat"].tolist() == [0, 1, 2] * 3
    assert replies["response"].str[-2:].tolist() == ["#0", "#1", "#2"] * 3
    assert len(server.calls) == 12, "a fourth repeat asks once more each, the first three are kept"
    assert again["repeat"].tolist() == [0, 1, 2, 3] * 3


def test_requests_a_minute_are_kept():
    started = time.monotonic()
    with FaultServer() as server:
        run(chat(24), server, requests_per_minute=960, max_concurrency=8)
    assert time.monotonic() - started >= 0.4, "24 requests at 16 a second, a second's worth at once"


def test_an_abort_waits_for_what_is_under_way_and_keeps_it(tmp_path):
    def key_is_revoked(call):
        return Answer(status=401) if number(call) == 7 else Answer(text="paid", delay=0.3)

    with FaultServer(key_is_revoked) as server, pytest.raises(EndpointError):
        run(chat(8), server, tmp_path / "s.sqlite", max_concurrency=8)
    with Store(tmp_path / "s.sqlite") as store:
        assert len(store) == 7


def test_odd_replies_are_read_for_what_they_hold():
    raw = (
        b'{"choices": [{"message": {"content": [{"type": "text", "text": "in "}, {"type": "text", "text": "parts"}]},'
        b' "logprobs": {"content": []}, "finish_reason": ["odd"]}], "usage": {"prompt_tokens": "10", "completion_tokens": 1e30},'
        b' "system_fingerprint": "\\ud800"}'
    )
    with (
        FaultServer(lambda call: Answer(raw=raw)) as server,
        Store(":memory:") as store,
    ):
        replies = run(chat(1), server, store)
        (kept,) = list(store)
    assert replies["response"][0] == "in parts"
    assert kept.prompt_tokens is None
    assert "logprobs" in kept.extra


@pytest.mark.filterwarnings("ignore:Many requests")
def test_a_body_that_drips_runs_into_the_timeout_and_is_retried():
    """About 300 bytes, one every 0.1 s: each comes in time for the client's own timeout, the body as a whole takes 30 s."""

    def dripping(call):
        return Answer(text="late", drip=0.1) if call.repeat == 0 else echo(call)

    started = time.monotonic()
    with FaultServer(dripping) as server:
        replies = run(chat(2), server, timeout=0.5, max_concurrency=2)
        assert replies["response"].tolist() == expected(chat(2))
        given_up = run(
            chat(3), server, timeout=0.5, max_retries=0, max_concurrency=1, store=":memory:"
        )
    assert given_up["response"].notna().tolist() == [True, True, False]
    assert given_up["reason"][2] == "timeout"
    assert time.monotonic() - started < 10


REFUSALS = {  # OpenAI's own answers to parameters that GPT-5 and the o-series do not have
    "max_tokens": "Unsupported parameter: 'max_tokens' is not supported with this model. "
    "Use 'max_completion_tokens' instead.",
    "temperature": "Unsupported value: 'temperature' does not support 0.0 with this model. "
    "Only the default (1) value is supported.",
}


def test_a_model_that_refuses_max_tokens_and_temperature_is_asked_without_them(tmp_path):
    def reasoning_model(call):
        for name, message in REFUSALS.items():
            if name in call.body:
                return Answer(status=400, message=message)
        return echo(call)

    with FaultServer(reasoning_model) as server, Store(tmp_path / "s.sqlite") as store:
        with pytest.warns(UserWarning, match="m refuses the parameter") as told:
            replies = run(chat(40), server, store, max_concurrency=4)
        kept = list(store)
        again = run(chat(40), server, store)
    assert replies["response"].tolist() == expected(chat(40))
    assert sorted(str(each.message) for each in told) == [
        "m refuses the parameter max_tokens; in this run it is sent as max_completion_tokens",
        "m refuses the parameter temperature; in this run it is not sent",
    ]
    answered = [call.body for call in server.calls if not REFUSALS.keys() & call.body.keys()]
    assert [body["max_completion_tokens"] for body in answered] == [8] * 40
    assert len(server.calls) <= 48, "only requests under way at the first refusals are repeated"
    assert {json.dumps(json.loads(each.request)["parameters"]) for each in kept} == {
        '{"max_tokens": 8, "temperature": 0.0}'
    }
    assert {each.extra for each in kept} == {'{"sent_parameters": {"max_completion_tokens": 8}}'}
    pd.testing.assert_frame_equal(replies, again)


# ---- reasoning ---------------------------------------------------------------------------------------------------------

THOUGHTS = [  # a reply's reasoning and its answer
    ("<think>Maybe Florey? It was Alexander Fleming? no</think>", "Howard Florey"),
    ("<think>Alexander Fleming, or", ""),
    ("", "Alexander Fleming"),
]


def test_reasoning_is_set_apart_from_the_answer_and_stays_in_the_store(tmp_path):
    path, whole = tmp_path / "s.sqlite", ["".join(parts) for parts in THOUGHTS]
    with FaultServer(lambda call: Answer(text=whole[number(call)])) as server:
        replies = run(chat(3), server, path)
    assert replies["reasoning"].tolist() == [reasoning or None for reasoning, _ in THOUGHTS]
    assert replies["response"].tolist() == [answer or None for _, answer in THOUGHTS]
    assert replies["reason"].tolist() == [None, "cut off inside the reasoning", None]
    with Store(path) as store:
        kept = store.get(replies["request_key"])
    assert [kept[key].response for key in replies["request_key"]] == whole
    pd.testing.assert_frame_equal(replay(chat(3), path), replies)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_in_a_field_of_its_own_has_the_same_column(field):
    messages = [
        {"content": "Fleming"},
        {"content": "Fleming", field: "Florey?"},
        {field: "Florey?"},
    ]

    def behave(call):
        return Answer(body={"choices": [{"message": messages[number(call)]}]})

    with FaultServer(behave) as server:
        replies = run(chat(3), server)
    assert replies["response"].tolist() == ["Fleming", "Fleming", None]
    assert replies["reasoning"].tolist() == [None, "Florey?", "Florey?"]
    assert replies["reason"].tolist() == [None, None, "only reasoning and no answer"]


# ---- what is refused before anything is sent -------------------------------------------------------


def one(content="x", **columns):
    """A frame of one request."""
    messages = content if isinstance(content, list) else [{"role": "user", "content": content}]
    return pd.DataFrame({"messages": [messages], **{name: [columns[name]] for name in columns}})


@pytest.mark.parametrize(
    ("frame", "options", "words"),
    [
        (pd.DataFrame({"question": ["x"]}), {}, "a run needs the columns messages"),
        (one([]), {}, "request 0 must have a list of messages"),
        (one(math.nan), {}, "request 0 is not JSON serialisable: Out of range float"),
        (one(parameters={"n": 3}), {}, "use repeats"),
        (one(), {"requests_per_minute": 0}, "requests_per_minute must be above 0, got 0"),
        (one(), {"budget_usd": 1.0}, "which is unknown for 'm'; pass prices="),
        (one(), {"budget_usd": 1.0, "prices": {"m": (1, 1)}}, "request 0 has none"),
        (
            one(),
            {"budget_usd": -1},
            "budget_usd must be a finite number of US dollars of at least 0",
        ),
        (one(), {"base_url": "http://127.0.0.1:99999/v1"}, "base_url must be an address"),
        (one(), {"base_url": "user:pw@example.org/v1?key=k"}, "base_url .*got 'example.org/v1' "),
        (one(), {"model": " "}, "model must be the name of a model"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused_in_one_sentence(frame, options, words):
    with pytest.raises(InputError, match=words):
        complete(frame, **{"model": "m", "store": ":memory:", **options})


def test_another_machine_needs_a_key():
    address = "https://models.example.org/v1"
    with pytest.raises(EndpointError, match=r"needs a key.*OPENAI_API_KEY has none.*offline=True"):
        complete(chat(1), model="m", base_url=address, store=":memory:")


def test_a_redirect_is_not_followed_so_that_prompts_reach_no_other_host():
    with FaultServer() as other:
        moved = {"location": f"{other.base_url}/chat/completions"}
        answer = Answer(status=307, headers=moved)
        with (
            FaultServer(lambda call: answer) as server,
            pytest.raises(EndpointError, match=r"HTTP 307.*redirects are not followed"),
        ):
            run(chat(3), server)
    assert not other.calls


# ---- many at once --------------------------------------------------------------------------------


@pytest.mark.parametrize("usage", [{"prompt_tokens": 10, "completion_tokens": 5}, None])
def test_a_budget_that_two_runs_share_is_never_passed_with_64_at_once(usage):
    def reply(call):
        message = {"role": "assistant", "content": "x"}
        body = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
        return Answer(body=body, delay=0.01)

    budget, cost = Budget(200.0), 5 if usage else 8  # dollars for each reply
    options = {"budget_usd": budget, "prices": {"m": (0.0, 1e6)}, "max_concurrency": 64}
    with FaultServer(reply) as server, Store(":memory:") as store:
        first = run(chat(10), server, store, **options)
        replies = run(chat(400), server, store, **options)
        n_paid = len(store)
    assert first["response"].notna().all()
    assert budget.spent == n_paid * cost <= 200 < n_paid * cost + 8 + 8
    assert len(server.calls) == n_paid
    assert set(replies["reason"].dropna()) == {"not sent: the budget of $200 is spent"}


def test_five_hundred_requests_with_faults_are_all_answered_or_have_a_reason(tmp_path):
    rng = random.Random(5)
    passing = [
        {"status": 429, "headers": {"retry-after-ms": "5"}},
        {"status": 500},
        {"status": 503, "headers": {"retry-after": "soon"}},
        {"drop": "before"},
        {"drop": "inside"},
        {"raw": b"<html>busy</html>"},
        {"raw": b'{"choices": []}'},
        {"body": {"error": "overloaded"}},
    ]
    final = [{"status": 400}, {"status": 413}, {"text": None}, {"text": ""}]
    fate = [rng.choice([*passing, *final]) if rng.random() < 0.45 else None for _ in range(500)]

    def behave(call):
        fault = fate[number(call)]
        return echo(call) if not fault or (fault in passing and call.repeat) else Answer(**fault)

    with FaultServer(behave) as server:
        replies = run(chat(500), server, tmp_path / "s.sqlite", max_concurrency=64)
        asked = len(server.calls)
        again = run(chat(500), server, tmp_path / "s.sqlite", max_concurrency=64)
    pd.testing.assert_frame_equal(replies, replay(chat(500), tmp_path / "s.sqlite"))
    lost = [fault is not None and fault in final for fault in fate]
    assert replies["reason"].notna().tolist() == lost
    right = [None if no else text for no, text in zip(lost, expected(chat(500)), strict=True)]
    assert replies["response"].tolist() == right
    assert set(replies["reason"].dropna().str.split(":").str[0]) == {
        "HTTP 400",
        "HTTP 413",
        "empty reply",
        "the model sent no text (finish_reason 'stop')",
    }
    pd.testing.assert_frame_equal(replies, again)
    refused = sum(bool(fault) and fault.get("status") in (400, 413) for fault in fate)
    assert len(server.calls) == asked + refused, "no stored reply was asked again"
