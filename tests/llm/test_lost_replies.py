"""What is lost is reported: the line at the end of a run, reasons of replies without text, slow servers."""

import re
import time
from functools import partial

import pytest
from support.asking import chat, number
from support.asking import run as run_quietly
from support.fault_server import Answer, FaultServer, echo

import ragnb
from ragnb.llm import Store, complete

run = partial(run_quietly, progress=True)

pytestmark = pytest.mark.usefixtures("quick_retries")


@pytest.fixture(autouse=True)
def shown(monkeypatch):
    monkeypatch.delenv("TQDM_DISABLE", raising=False)


@pytest.fixture
def lines(capfd):
    """The lines about whole runs that were printed to stderr since the last call; nothing may go to stdout."""

    def read() -> list[str]:
        out, err = capfd.readouterr()
        assert not out
        return [line for line in re.split(r"[\r\n]", err) if "answered" in line]  # without the bar

    return read


def refusing(*numbers):
    return lambda call: (
        Answer(status=400, message="context length exceeded")
        if number(call) in numbers
        else echo(call)
    )


# ---- the line at the end of a run ------------------------------------------------------------------------------------


def test_a_run_ends_with_one_line_that_counts_what_was_answered_stored_and_lost(tmp_path, lines):
    with FaultServer(refusing(20, 21, 22, 23)) as server:
        run(chat(10), server, tmp_path / "s.sqlite", progress=False)
        assert lines() == []
        run(chat(40), server, tmp_path / "s.sqlite", prices={"m": (10.0, 100.0)})
    (line,) = lines()
    cost = "0.0156"  # 26 new replies, each of 10 prompt tokens at $10 and 5 completion tokens at $100 a million
    assert re.fullmatch(
        rf"36 of 40 requests answered \(10 from the store\), 4 failed: HTTP 400 \(4\)\. \${cost}, \d+ s\.",
        line,
    )
    complete(chat(40), model="m", store=tmp_path / "s.sqlite", offline=True)
    assert lines() == [
        "36 of 40 requests answered (36 from the store), 4 failed: HTTP 400 (4). $0.00, 0 s."
    ]


# ---- replies without text --------------------------------------------------------------------------------------------


def said(finish="stop", **message):
    return {"choices": [{"message": message, "finish_reason": finish}]}


BLOCKED = "the provider blocked the reply (content_filter)"
WITHOUT_TEXT = [  # the reply, the reason, and the response with keep_empty=True
    (said("content_filter", content=""), BLOCKED, None),
    (said(refusal="I cannot help."), "the model refused: I cannot help.", None),
    (
        said(content=[{"type": "refusal", "refusal": "I cannot help."}]),
        "the model refused: I cannot help.",
        None,
    ),
    (said("length", content=" "), "empty reply", " "),
    (said("tool_calls"), "the model sent no text (finish_reason 'tool_calls')", None),
]


def test_a_reply_without_text_is_unscored_and_says_why(lines):
    requests = chat(6).assign(references=[[["Oslo"]]] * 6, question="?", system="m")
    bodies = [*(body for body, *_ in WITHOUT_TEXT), said(content="Bergen")]
    answer = lambda call: Answer(body=bodies[number(call)])  # noqa: E731
    with FaultServer(answer) as server, Store(":memory:") as store:
        replies = run(requests, server, store)
        kept = {reply.response for reply in store}
        (line,) = lines()
        with_empty = run(requests, server, store, keep_empty=True)
    assert replies["response"].tolist() == [None] * 5 + ["Bergen"]
    assert replies["reason"].tolist() == [*(reason for _, reason, _ in WITHOUT_TEXT), None]
    assert kept == {"", None, " ", "Bergen"}, "the store keeps what came"
    assert with_empty["response"].tolist() == [*(text for *_, text in WITHOUT_TEXT), "Bergen"]
    scores = ragnb.score(replies, "answer.contains")
    assert scores["value"].isna().tolist() == [True] * 5 + [False]
    assert scores["reason"].tolist()[:5] == replies["reason"].tolist()[:5]
    assert ragnb.score(with_empty, "answer.contains")["value"].isna().sum() == 4
    assert line.startswith(
        "1 of 6 requests answered, 5 failed: the model refused (2), "
        "the provider blocked the reply (1), empty reply (1), the model sent no text (1). "
    )


THINKING = [  # replies of a reasoning model, and why they answer nothing
    (said("length", content=None, reasoning_content="Oslo or"), "cut off inside the reasoning"),
    (said("max_tokens", content="", reasoning="Oslo or"), "cut off inside the reasoning"),
    (said("length", content="<think>Oslo or"), "cut off inside the reasoning"),
    (
        said("length", content="<|channel|>analysis<|message|>Oslo or"),
        "cut off inside the reasoning",
    ),
    (said("stop", content="[THINK]Oslo?[/THINK]"), "only reasoning and no answer"),
    (said("stop", content=None, reasoning="Oslo?"), "only reasoning and no answer"),
    (said("length", content="<think>Oslo?</think>Berg"), None),
    (said("stop", content="<think>Oslo?</think>Bergen"), None),
]


@pytest.mark.parametrize("keep_empty", [False, True])
def test_a_reply_that_was_cut_off_inside_its_reasoning_is_unscored_and_counted(lines, keep_empty):
    requests = chat(8).assign(references=[[["Oslo"]]] * 8, question="?", system="m")
    answer = lambda call: Answer(body=THINKING[number(call)][0])  # noqa: E731
    with FaultServer(answer) as server:
        replies = run(requests, server, keep_empty=keep_empty)
    (line,) = lines()
    assert replies["response"].tolist() == [None] * 6 + ["Berg", "Bergen"]
    for reason, (_, start) in zip(replies["reason"], THINKING, strict=True):
        assert reason is None if start is None else reason.startswith(start)
    assert all("max_tokens" in reason for reason in replies["reason"][:4])
    scores = ragnb.score(replies, ["answer.contains", "rgb.accuracy", "abstention.coverage"])
    assert scores["value"].isna().tolist() == ([True] * 6 + [False] * 2) * 3
    assert line.startswith(
        "2 of 8 requests answered, 1 of them cut off by max_tokens, 6 failed: "
        "cut off inside the reasoning (4), only reasoning and no answer (2). "
    )


# ---- slow servers ----------------------------------------------------------------------------------------------------


def test_after_timeouts_fewer_requests_are_sent_at_once_and_a_warning_gives_advice():
    started = []

    def never_in_time(call):
        started.append(time.monotonic())
        return Answer(text="late", delay=5.0)

    options = {"timeout": 1.0, "max_retries": 2, "max_concurrency": 8, "progress": False}
    with FaultServer() as server, Store(":memory:") as store:
        run(chat(1), server, store, progress=False)  # a server that has worked is not given up
        server.behave = never_in_time
        with pytest.warns(UserWarning, match="timeout") as told:
            replies = run(chat(9), server, store, **options)
    assert replies["reason"].tolist() == [None, *["timeout"] * 8]
    assert len(started) == 8 * 3, "no request gets fewer attempts"
    assert {str(each.message) for each in told if each.category is UserWarning} == {
        f"Many requests to {server.base_url} got no reply within the timeout of 1 s, so this run sends "
        "fewer at a time. If the server is slow, set a higher timeout or a lower max_concurrency."
    }
    # Half of the timeout: a busy machine may delay a start by the other half.
    most = [sum(begin <= other < begin + 0.5 for other in started) for begin in started]
    assert most[0] == 8
    assert max(most[8:]) <= 4, "within half a timeout"
    assert max(most[-3:]) == 1


def test_an_endpoint_that_never_answers_in_time_is_not_said_to_be_at_a_wrong_address():
    advice = "no reply came in time, so set a higher timeout or a lower max_conc"
    with (
        FaultServer(lambda call: Answer(text="late", delay=5.0)) as server,
        pytest.raises(ragnb.EndpointError, match=advice),
    ):
        run(chat(1), server, timeout=0.2, max_retries=0, progress=False)
