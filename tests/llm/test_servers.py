"""Twelve servers with their real answers: every request is scored or has a reason, and the page says what works."""

import re
import time
import warnings

import pandas as pd
import pytest
from support import servers
from support.asking import chat, number, replay, run
from support.fault_server import Answer, FaultServer
from support.servers import COMMON, PARAMETERS, SERVERS, STOP, TEXT

import ragnb
from ragnb.llm import Store
from ragnb.llm.bodies import MAX_REPLY_BYTES
from ragnb.llm.refusals import refused_parameters

pytestmark = pytest.mark.usefixtures("quick_retries")

# A reason is a sentence or a phrase. It does not begin with the name of a Python exception.
RAW = re.compile(
    r"\b[A-Za-z]+(Error|Exception|Timeout)\b: |\bobject has no attribute|object is not"
)


def test_the_page_about_models_has_the_table_of_what_works():
    text = servers.PAGE.read_text(encoding="utf-8")
    assert servers.written(text) == servers.table(), "run PYTHONPATH=tests python -m tools.servers"


@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.name)
def test_two_hundred_requests_end_with_a_score_or_a_reason(server, tmp_path):
    ways = [*COMMON.values()]
    ways += [way for situation, way in server.situations.items() if situation != STOP]
    requests = chat(200).assign(question="Who?", references=[[[TEXT]]] * 200, system=server.name)
    requests["parameters"] = [PARAMETERS] * 200

    with FaultServer(lambda call: ways[number(call) % len(ways)](call)) as playing:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            replies = run(requests, playing, tmp_path / "s.sqlite", max_retries=1)
        n_calls = len(playing.calls)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            again = run(requests, playing, tmp_path / "s.sqlite", max_retries=1)
        asked_again = {number(call) for call in playing.calls[n_calls:]}
    scores = ragnb.score(replies, "answer.contains")
    has_value, has_reason = scores["value"].notna(), scores["reason"].notna()
    assert (has_value ^ has_reason).all()
    assert len(scores) == 200
    # What was answered is right. Half a sentence and a lone thought are not answers.
    assert (scores["value"].dropna() == 1.0).all()
    assert set(replies["response"].dropna()) - {"", " \n"} == {TEXT}
    reasons = replies["reason"].dropna().tolist()
    # The words of the server may contain anything, so only the beginning is ours.
    assert not [reason for reason in reasons if re.match(r"\w*(Error|Exception)\b", reason)]
    # The next run asks only for what has no stored reply.
    with Store(tmp_path / "s.sqlite") as store:
        stored = store.stored_keys(replies["request_key"])
    n_stored = replies["request_key"].isin(stored)
    assert asked_again == set(replies.index[~n_stored])
    pd.testing.assert_series_equal(again["response"], replies["response"])
    refusals = [
        str(each.message) for each in warned if "refuses the parameter" in str(each.message)
    ]
    assert len(refusals) == len(set(refusals)), "one warning for each parameter"


# ---- parameters that are refused -------------------------------------------------------------------------------------

SENT = ["temperature", "max_tokens", "seed", "top_p", "stop", "frequency_penalty", "n"]
REFUSED = [  # the body of an error, and the parameters that it refuses
    # openai: quelmap-inc/quelmap issue 4; appatalks/eva-agent issue 83
    ("Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.", "temperature"),
    ("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "max_tokens"),
    ({"message": "Unsupported value", "param": "temperature", "code": "unsupported_value"}, "temperature"),
    # arcsin1/oh-my-ppt issue 45
    ("invalid temperature: only 0.6 is allowed for this model", "temperature"),
    # danielmiessler/Fabric issue 2109
    ({"type": "error", "error": {"message": "`temperature` is deprecated for this model."}}, "temperature"),
    # mistralai/platform-docs-public issue 7: JSON in a text
    ({"message": '{"detail":[{"type":"extra_forbidden","loc":["body","frequency_penalty"],"msg":"Extra inputs are not permitted"}]}'}, "frequency_penalty"),
    # Gitlawb/openclaude issue 739
    ({"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"},
                 {"type": "extra_forbidden", "loc": ["body", "top_p"], "msg": "Extra inputs are not permitted"}]}, "seed top_p"),
    # a list with objects and texts
    ({"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}, "see the documentation"]}, "seed"),
    # BerriAI/litellm issue 14056: another spelling
    ({"code": "Client specified an invalid argument", "error": "Argument not supported on this model: frequencyPenalty"}, "frequency_penalty"),
    # BerriAI/litellm issue 3923
    ("ollama does not support parameters: {'seed': 1}, for model=llama3:latest. To drop these, set `litellm.drop_params=True`", "seed"),
    # BerriAI/litellm issue 10791
    ("Unrecognized request argument supplied: seed", "seed"),
    ("create() got an unexpected keyword argument 'seed'", "seed"),
    ("Additional properties are not allowed ('seed' was unexpected)", "seed"),
    ("#: extraneous key [stop] is not permitted, please reformat your input and try again.", "stop"),
    ("Unknown parameter 'seed'. Supported parameters are temperature, top_p, max_tokens.", "seed"),
    ("temperature, top_p and n are fixed at 1", "temperature top_p"),
    ("reasoning models don't take a temperature", "temperature"),
    ("Der Parameter seed ist nicht erlaubt", "seed"),
    ("参数 seed 不支持", "seed"),
    ('json: unknown field "seed"', "seed"),
    ("Parameter 'seed' is invalid for this model", "seed"),
    ("stop: not supported", "stop"),
    ("max_tokens is not a recognized parameter", "max_tokens"),
]  # fmt: skip
ABOUT_VALUES = [
    # davila7/code-gpt-docs issue 284, vllm-project/vllm issues 4667 and 20409, anthropics/claude-code issue 11302
    "max_tokens is too large: 6000. This model supports at most 4096 completion tokens, whereas you provided 6000.",
    "max_tokens must be at least 1, got -186.",
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (3000 in the messages, 2000 in the completion).",
    "max_tokens: 21333 > 4096, which is the maximum allowed number of output tokens",
    "Invalid 'max_tokens'. The value must be at most 4096.",
    {"error": {"message": "temperature must be between 0 and 2", "param": "temperature"}},
    {"detail": [{"type": "less_than_equal", "loc": ["body", "temperature"], "msg": "Input should be less than or equal to 2"}]},
    {"detail": [{"type": "missing", "loc": ["body", "model"], "msg": "Field required", "input": {"seed": 0, "temperature": 0}}]},
    "temperature: 3.0 is not supported; must be between 0 and 2",
    "参数 max_tokens 超出范围",
    "The requested max_tokens 100000 is above the model's cap of 4096",
    "max_tokens 100000 is not supported by this model (4096 is the most)",
    "Value for temperature is invalid",
    "temperature=3: not a legal value",
    "Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens.",
    "The server had to stop.",
    "model not found",
]  # fmt: skip


@pytest.mark.parametrize(("body", "names"), REFUSED, ids=str)
def test_a_refused_parameter_is_recognised_by_its_name(body, names):
    assert refused_parameters(body, SENT) == set(names.split())


@pytest.mark.parametrize("body", ABOUT_VALUES, ids=str)
def test_a_wrong_value_is_no_refusal_of_the_parameter(body):
    assert refused_parameters(body, SENT) == set()


def test_a_wrong_value_is_the_reason_and_the_parameter_is_still_sent():
    def behave(call):
        if number(call) == 1:
            return Answer(
                status=400,
                message="max_tokens is too large: 8. This model supports at most 4 tokens.",
            )
        return Answer(text="yes")

    with FaultServer(behave) as server, warnings.catch_warnings():
        warnings.simplefilter("error")
        replies = run(chat(3), server)
    assert replies["response"].tolist() == ["yes", None, "yes"]
    assert replies["reason"][1].startswith("HTTP 400: max_tokens is too large")
    assert all(call.body["max_tokens"] == 8 for call in server.calls)


def test_a_parameter_is_left_out_for_the_run_only_if_the_request_is_then_answered():
    """An error that repeats the whole request names every parameter, and none of them is the cause."""

    def behave(call):
        if number(call) == 0:
            return Answer(
                status=400, message=f"bad request: temperature, seed, {sorted(call.body)}"
            )
        return Answer(text="yes")

    with FaultServer(behave) as server, warnings.catch_warnings():
        warnings.simplefilter("error")
        replies = run(chat(3), server, max_concurrency=1)
    assert replies["response"].tolist() == [None, "yes", "yes"]
    assert all(call.body["temperature"] == 0.0 for call in server.calls if number(call))


def test_both_names_of_max_tokens_may_be_refused_but_not_in_a_run_with_a_budget():
    def behave(call):
        for name in ("max_tokens", "max_completion_tokens"):
            if name in call.body:
                return Answer(status=400, message=f"property '{name}' is unsupported")
        return Answer(text="yes")

    with FaultServer(behave) as server:
        with pytest.warns(
            UserWarning, match="refuses the parameter max_tokens; in this run it is not sent"
        ):
            free = run(chat(2), server)
        limited = run(chat(2), server, budget_usd=1.0, prices={"m": (1.0, 1.0)}, store=":memory:")
    assert free["response"].tolist() == ["yes", "yes"]
    assert limited["response"].tolist() == [None, None]
    assert set(limited["reason"]) == {
        "not sent: the model refuses max_tokens, without which a budget cannot be kept"
    }


# ---- answers that are not what they seem -----------------------------------------------------------------------------


def body(content="x", finish="stop", **more):
    return {"choices": [{"message": {"content": content}, "finish_reason": finish, **more}]}


def test_half_a_sentence_of_a_provider_that_failed_is_asked_again_and_never_stored():
    half = body(
        "Alexander Fl", "error", error={"code": 502, "message": "Upstream idle timeout exceeded"}
    )
    with FaultServer(lambda call: Answer(body=half)) as server, Store(":memory:") as store:
        replies = run(chat(2), server, store, max_retries=2)
        assert len(store) == 0
        assert len(server.calls) == 2 * 3
        server.behave = lambda call: Answer(text="Alexander Fleming")
        assert run(chat(2), server, store)["response"].tolist() == ["Alexander Fleming"] * 2
    assert replies["response"].tolist() == [None, None]
    said = "the provider failed in the middle of the reply: Upstream idle timeout exceeded (502)"
    assert replies["reason"].tolist() == [said, said]


@pytest.mark.parametrize(
    "finish", ["error", "network_error", "insufficient_system_resource", "abort", "cancelled"]
)
def test_ends_of_replies_that_mean_a_failure(finish):
    with (
        FaultServer(lambda call: Answer(body=body("half", finish))) as server,
        Store(":memory:") as store,
    ):
        replies = run(chat(1), server, store, max_retries=0)
        assert len(store) == 0
    assert (
        replies["reason"][0]
        == f"the provider failed in the middle of the reply: finish_reason '{finish}'"
    )


USAGE = {"completion_tokens": 0, "prompt_tokens": 1396, "total_tokens": 1396}
NO_CHOICE = [
    ({"choices": []}, "[]"),
    ({"object": "chat.completion", "choices": None, "usage": USAGE}, "null"),
    ({"object": "chat.completion", "usage": USAGE}, "null"),
]


@pytest.mark.parametrize(("body", "shown"), NO_CHOICE)
def test_no_choice_for_the_first_prompts_ends_no_run(body, shown):
    def behave(call):
        return Answer(body=body) if number(call) < 25 else Answer(text="yes")

    with FaultServer(behave) as server:
        replies = run(chat(30), server, max_retries=0, max_concurrency=1)
    assert replies["response"].tolist() == [None] * 25 + ["yes"] * 5
    assert set(replies["reason"].dropna()) == {
        f"a reply that is not a completion, because it has no choice (choices: {shown})"
    }


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        ({"finish_reason": "content_filter", "message": None}, "the provider blocked the reply"),
        ({"finish_reason": "PROHIBITED_CONTENT"}, "the provider blocked the reply"),
        ({"finish_reason": "length", "message": {"role": "assistant"}}, "the model sent no text"),
        ({"finish_reason": "stop", "message": None}, "the model sent no text"),
    ],
)
def test_a_choice_without_a_message_is_unscored_and_ends_no_run(choice, reason):
    body = {"object": "chat.completion", "choices": [{"index": 0, **choice}], "usage": USAGE}
    with FaultServer(lambda call: Answer(body=body)) as server:
        replies = run(chat(3), server, max_retries=0, max_concurrency=1)
    assert replies["response"].isna().all()
    assert replies["reason"].str.startswith(reason).all()


WRONG_ADDRESSES = [
    (Answer(body={"error": "Unexpected endpoint or method. (POST /chat/completions)"}), "Unexpected endpoint.*check base_url"),
    (Answer(raw=b"<!DOCTYPE html><html>LM Studio</html>"), "but a web page.*check base_url"),
    (Answer(raw=b""), "but empty.*check base_url"),
    (Answer(status=405, raw=b"Method Not Allowed"), "HTTP 405.*check base_url"),
    (Answer(body={"error": {"message": "no such key", "code": 401}}), "no such key.*OPENAI_API_KEY|an error with status 200: no such key"),
    (Answer(body={"error": {"message": "Insufficient Balance", "code": 402}}), "Insufficient Balance.*top up"),
    (Answer(status=429, message="slow down", headers={"retry-after": "432"}), "asks to wait 7 min 12 s.*wait as long as the server asks"),
    (Answer(status=429, headers={"retry-after": "Fri, 31 Dec 2100 23:59:59 GMT"}), "the server asks to wait .* h"),
    (Answer(status=429, message="Please retry after 86400 seconds."), "asks to wait 24 h.*wait as long"),
    (Answer(body={"error": {"message": "CUDA out of memory"}}), "an error with status 200: CUDA out of memory; the server runs but fails"),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "words"), WRONG_ADDRESSES, ids=lambda value: str(value)[:60])
def test_an_endpoint_that_cannot_be_used_says_the_cause(answer, words):
    started = time.monotonic()
    with (
        FaultServer(lambda call: answer) as server,
        pytest.raises(ragnb.EndpointError, match=words),
    ):
        run(chat(30), server, max_retries=1)
    assert time.monotonic() - started < 30


def test_a_long_limit_in_the_middle_of_a_run_is_the_reason_of_its_requests():
    def behave(call):
        if number(call) % 2:
            return Answer(status=429, message="daily limit", headers={"retry-after": "432"})
        return Answer(text="yes")

    with FaultServer(behave) as server:
        replies = run(chat(6), server)
        assert len(server.calls) == 6, "waiting for minutes is not tried"
    assert replies["response"].tolist() == ["yes", None] * 3
    assert replies["reason"][1] == "HTTP 429: the server asks to wait 7 min 12 s (daily limit)"


def test_a_short_wait_that_only_the_message_states_is_kept():
    sent = []

    def behave(call):
        sent.append(time.monotonic())
        return (
            Answer(text="yes")
            if call.repeat
            else Answer(status=429, message="Please try again in 400ms.")
        )

    with FaultServer(behave) as server:
        assert run(chat(1), server)["response"].tolist() == ["yes"]
    assert sent[1] - sent[0] >= 0.4


def test_a_refusal_in_a_stream_is_no_answer():
    event = 'data: {"choices": [{"delta": {"refusal": "%s"}, "finish_reason": %s}]}\n\n'
    stream = event % ("I cannot ", "null") + event % ("help.", '"stop"') + "data: [DONE]\n\n"
    with FaultServer(lambda call: Answer(raw=stream.encode())) as server:
        replies = run(chat(1), server)
    assert replies["response"].tolist() == [None]
    assert replies["reason"].tolist() == ["the model refused: I cannot help."]


def test_a_server_that_only_streams_is_read_and_a_cut_stream_is_no_reply():
    event = 'data: {"choices": [{"delta": {"content": "%s", "reasoning_content": "%s"}, "finish_reason": %s}]}\n\n'
    whole = (
        event % ("", "Who?", "null")
        + event % ("Fle", "", "null")
        + event % ("ming", "", '"stop"')
        + "data: [DONE]\n\n"
    )
    broken = event % ("Fle", "", "null")
    failed = event % ("Fle", "", "null") + 'data: {"error": {"message": "out of memory"}}\n\n'
    texts = [whole, broken, failed]
    with FaultServer(lambda call: Answer(raw=texts[number(call)].encode())) as server:
        replies = run(chat(3), server, max_retries=0, max_concurrency=1)
    assert replies["response"].tolist() == ["Fleming", None, None]
    assert replies["reasoning"].tolist() == ["Who?", None, None]
    assert "the stream ended before the reply was complete" in replies["reason"][1]
    assert replies["reason"][2] == "an error with status 200: out of memory"


@pytest.mark.parametrize("character", "\u2028\u2029\x85")
def test_a_line_separator_of_unicode_in_a_stream_ends_no_event(character):
    """JSON may contain these characters as they are."""
    event = (
        'data: {"choices": [{"delta": {"content": "one%stwo"}, "finish_reason": "stop"}]}\r\n\r\n'
    )
    stream = event % character + "data: [DONE]\r\n\r\n"
    with FaultServer(lambda call: Answer(raw=stream.encode("utf-8"))) as server:
        replies = run(chat(1), server, max_retries=0)
    assert replies["response"].tolist() == [f"one{character}two"]


def test_a_model_that_must_be_asked_to_stream_is_asked_to():
    """Alibaba's endpoint says so for some of its models."""
    events = 'data: {"choices": [{"delta": {"content": "yes"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'

    def behave(call):
        if call.body.get("stream"):
            return Answer(raw=events.encode())
        message = "This model only support stream mode, please enable the stream parameter to access the model. "
        return Answer(status=400, message=message)

    with FaultServer(behave) as server:
        replies = run(chat(5), server, max_concurrency=1)
        assert len(server.calls) == 6
    assert replies["response"].tolist() == ["yes"] * 5


ODD = [  # a choice's message, the usage, and the text that is read
    ({"content": "x"}, ["a list"], "x"),
    ({"content": "x"}, {"prompt_tokens": [1], "completion_tokens": "5"}, "x"),
    ({"content": "x"}, "many", "x"),
    (
        {"content": [{"type": "text", "text": "in "}, "parts", None, {"type": "image_url"}]},
        None,
        "in parts",
    ),
    ({"content": [{"type": "output_text", "text": {"value": "deep"}}]}, None, "deep"),
    ({"content": {"type": "text", "text": "an object"}}, None, "an object"),
    ({"content": 42}, None, "42"),
    ({"content": [["nested"], 5]}, None, None),
    (
        {"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "yes"}]},
        None,
        "yes",
    ),
]


@pytest.mark.parametrize(("message", "usage", "text"), ODD, ids=str)
def test_odd_parts_of_a_paid_reply_are_missing_and_the_reply_is_kept(message, usage, text):
    whole = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
    with FaultServer(lambda call: Answer(body=whole)) as server, Store(":memory:") as store:
        replies = run(chat(1), server, store)
        (kept,) = list(store)
        run(chat(1), server, store)
        assert len(server.calls) == 1, "it is not paid for twice"
    assert kept.response == text
    assert kept.prompt_tokens is None
    assert kept.completion_tokens is None
    assert replies["response"].tolist() == [text]


# ---- size ------------------------------------------------------------------------------------------------------------


def test_a_small_reply_that_decompresses_to_gigabytes_is_an_error_with_a_reason():
    import gzip
    import resource

    bomb = gzip.compress(
        gzip.compress(b"0" * 2**30, 9), 9
    )  # compressed twice, so that the test needs little memory
    bomb = gzip.decompress(bomb)
    assert len(bomb) < 2**21 * 2
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    headers = {"content-encoding": "gzip"}
    with FaultServer(
        lambda call: Answer(raw=bomb, headers=headers) if number(call) == 1 else Answer(text="yes")
    ) as server:
        replies = run(chat(3), server, max_concurrency=1)
        assert len(server.calls) == 3, "it is not asked for again"
    assert replies["response"].tolist() == ["yes", None, "yes"]
    assert replies["reason"][1] == "the reply is larger than 32 MB, the limit of ragnb"
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert grown < 8 * MAX_REPLY_BYTES


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip"])
def test_a_compression_that_was_not_asked_for_is_not_read(encoding):
    answer = Answer(raw=b"anything", headers={"content-encoding": encoding})
    with FaultServer(lambda call: answer if number(call) else Answer(text="yes")) as server:
        replies = run(chat(2), server, max_concurrency=1)
    assert (
        replies["reason"][1]
        == f"the reply is compressed as {encoding!r}, which ragnb did not ask for"
    )


def test_a_compressed_reply_is_read():
    import gzip
    import json

    packed = gzip.compress(json.dumps(body("yes")).encode())
    with FaultServer(
        lambda call: Answer(raw=packed, headers={"content-encoding": "gzip"})
    ) as server:
        assert run(chat(1), server)["response"].tolist() == ["yes"]
        assert server.calls[0].headers["accept-encoding"] == "gzip, deflate"


# ---- warnings --------------------------------------------------------------------------------------------------------


def said_by(behave, requests):
    with FaultServer(behave) as server, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        run(requests, server)
    return [str(each.message).replace(server.base_url, "ADDRESS") for each in warned]


CUTS = [
    body(None, "length"),
    body("", "length"),
    body("<think>Who discovered", "length"),
    {
        "choices": [
            {"message": {"content": None, "reasoning_content": "Who?"}, "finish_reason": "length"}
        ]
    },
]


@pytest.mark.parametrize("cut", CUTS, ids=str)
def test_replies_that_were_cut_off_before_the_answer_are_said_once(cut):
    sentences = said_by(lambda call: Answer(body=cut), chat(5))
    (sentence,) = [
        each for each in sentences if each.startswith("m reached max_tokens=8 before it answered")
    ]
    assert "Set a larger max_tokens" in sentence


def test_an_answer_that_was_cut_off_needs_no_warning():
    assert said_by(lambda call: Answer(body=body("The answer is", "length")), chat(2)) == []


def test_a_prompt_that_the_server_cut_is_said_once():
    long = "Fleming discovered penicillin in 1928. " * 600  # about 5,000 tokens
    requests = pd.DataFrame(
        {"messages": [[{"role": "user", "content": f"{n} {long}"}] for n in range(4)]}
    )
    usage = {"prompt_tokens": 2048, "completion_tokens": 1}
    (sentence,) = said_by(lambda call: Answer(body=body() | {"usage": usage}), requests)
    assert sentence.startswith("ADDRESS reports 2,048 tokens for a prompt of 23,402 characters")
    assert "num_ctx" in sentence
    whole = {"prompt_tokens": 5400, "completion_tokens": 1}
    assert said_by(lambda call: Answer(body=body() | {"usage": whole}), requests) == []


# ---- reasons ---------------------------------------------------------------------------------------------------------

FAULTS = [
    Answer(drop="before"),
    Answer(drop="inside"),
    Answer(raw=b"\xff\xfe\x00"),
    Answer(raw=b"[" * 100_000),
    Answer(raw=b"null"),
    Answer(raw=b'{"choices": {"0": 1}}'),
    Answer(raw=b'{"choices": [null]}'),
    Answer(raw=b'{"choices": [{"message": "text"}]}'),
    Answer(
        raw=b'{"choices": [{"message": {"content": "x"}}]}', headers={"content-encoding": "gzip"}
    ),
    Answer(raw=b'{"choices": [{"message": {"content": "x"}}]}', headers={"content-length": "abc"}),
    Answer(raw=b'{"choices": [{"message": {"content": "x"}}]}', headers={"bad header": "x"}),
    Answer(status=204, raw=b""),
    Answer(status=299, raw=b"{}"),
    Answer(status=500, raw=b"\xff"),
    Answer(status=418, raw=b""),
    Answer(status=599, raw=b"[]"),
    Answer(status=400, raw=b'{"error": {"message": {"a": [1, {"b": null}]}}}'),
    Answer(status=400, raw=b'{"error": [1, 2]}'),
    Answer(status=429, headers={"retry-after": "-1"}),
    Answer(status=503, headers={"retry-after": "nan"}),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda answer: str(answer)[:90])
def test_reasons_are_words_and_not_exceptions_of_python(fault, tmp_path):
    with FaultServer(lambda call: fault if number(call) == 1 else Answer(text="yes")) as server:
        replies = run(chat(3), server, tmp_path / "s.sqlite", max_retries=1, max_concurrency=1)
    pd.testing.assert_frame_equal(replay(chat(3), tmp_path / "s.sqlite"), replies)
    assert replies["response"].tolist()[::2] == ["yes", "yes"]
    reason = replies["reason"][1]
    assert reason
    assert not RAW.search(reason)
    assert not re.match(r"\w*(Error|Exception)\b", reason)
