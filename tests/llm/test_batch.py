"""The Batch API against a real server: nothing lost, nothing paid twice, and in the end what `complete` gives."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections import Counter
from contextlib import contextmanager

import pandas as pd
import pytest

from ragnb.errors import EndpointError, InputError, StoreError
from ragnb.llm import batch
from ragnb.llm.batch import Ledger, cancel, collect, status, submit
from ragnb.llm.batch_provider import Provider
from ragnb.llm.client import complete
from ragnb.llm.store import Store

CANARY, PASSWORD = "sk-canary-0123456789abcdef", "sk-password-0123456789"
CREATE, UPLOAD = "POST /v1/batches", "POST /v1/files"


@pytest.fixture(scope="module")
def servers(faults):
    """The module batch_server: BatchServer, Fault, answered, refused, expired."""
    import importlib.util
    from pathlib import Path

    spec = importlib.util.spec_from_file_location(
        "batch_server", Path(__file__).with_name("batch_server.py")
    )
    sys.modules["batch_server"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(batch, "FIRST_WAIT", 0.001)
    monkeypatch.setattr(batch, "LOOKS", (0.0, 0.01))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "s.sqlite"


def failures(path):
    """Reasons of requests without a reply, which a replay reports."""
    with Store(path) as store:
        return pd.Series(list(store.failures().values()), dtype=object)


def send(requests, server, path, **options):
    return submit(requests, model="m", store=path, base_url=server.base_url, **options)


def bring(server, path):
    return collect(path, base_url=server.base_url)


def replay(requests, path, **options):
    return complete(requests, model="m", store=path, offline=True, **options)


def expected(faults, requests):
    return [faults.expected_text({"messages": messages}) for messages in requests["messages"]]


def paid(server) -> Counter:
    """How often each request would be paid for."""
    return Counter(line["custom_id"] for line in server.lines())


def third(line) -> bool:
    return "question 2 " in json.dumps(line["body"])


def only(kind, fault, times=1):
    """A behaviour with one fault, the first so many times that a path is called."""
    return lambda call: fault if call.path == kind and call.repeat < times else None


# ---- the whole way -----------------------------------------------------------------------------------------------------


def test_a_batch_ends_in_the_frame_that_complete_gives(servers, faults, chat, path, tmp_path):
    requests = chat(12)
    with servers.BatchServer() as server:
        sent = send(requests, server, path)
        done = bring(server, path)
    with faults.FaultServer() as direct:
        online = complete(
            requests,
            model="m",
            base_url=direct.base_url,
            store=tmp_path / "direct.sqlite",
            progress=False,
        )
    pd.testing.assert_frame_equal(replay(requests, path), online)
    assert sent[["state", "n_requests", "n_pending"]].values.tolist() == [["validating", 12, 12]]
    assert done[["state", "completed", "n_stored", "n_failed"]].values.tolist() == [
        ["completed", 12, 12, 0]
    ]
    assert list(server.batches) == sent["batch_id"].tolist()


def test_the_body_of_a_line_is_the_body_that_complete_sends(servers, faults, path):
    frame = pd.DataFrame(
        {
            "messages": [[{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]],
            "parameters": [{"temperature": 0.5, "max_tokens": 3, "seed": 1, "logprobs": None}],
        }
    )
    with servers.BatchServer() as server, faults.FaultServer() as direct:
        send(frame, server, path)
        complete(frame, model="m", base_url=direct.base_url, store=":memory:", progress=False)
    (line,) = server.lines()
    assert line["body"] == direct.calls[0].body
    assert (line["method"], line["url"]) == ("POST", "/v1/chat/completions")


def test_prompts_go_to_the_completions_endpoint(servers, faults, path):
    requests = pd.DataFrame({"prompt": ["Once upon", "从前"]})
    with servers.BatchServer() as server:
        send(requests, server, path)
        bring(server, path)
    assert {line["url"] for line in server.lines()} == {"/v1/completions"}
    assert server.batches["batch-0"]["endpoint"] == "/v1/completions"
    assert replay(requests, path)["response"].tolist() == [
        faults.expected_text({"prompt": p}) for p in requests["prompt"]
    ]


TEXTS = [
    "你好,世界",
    "नमस्ते",
    "مرحبا",
    "🧪👩‍🔬",
    "line\u2028separator\u2029 and \x85",
    "lone \ud800 surrogate",
    'quo"te\\ \r\n\t\x00',
    "é" * 500,
]


def test_every_script_and_every_separator_survives(servers, path):
    def parrot(line):
        done = servers.answered(line)
        said = line["body"]["messages"][0]["content"].replace("\ud800", "?")
        done["response"]["body"]["choices"][0]["message"]["content"] = said
        return done

    requests = pd.DataFrame({"messages": [[{"role": "user", "content": text}] for text in TEXTS]})
    with servers.BatchServer(result=parrot) as server:
        send(requests, server, path)
        done = bring(server, path)
    assert done["malformed"].item() == 0
    assert [line["body"]["messages"][0]["content"] for line in server.lines()] == TEXTS
    assert replay(requests, path)["response"].tolist() == [
        text.replace("\ud800", "?") for text in TEXTS
    ]


def test_repeats_and_equal_rows(servers, chat, path):
    requests = pd.concat([chat(3), chat(3)], ignore_index=True)
    with servers.BatchServer() as server:
        send(requests, server, path, repeats=2)
        bring(server, path)
    assert len(server.lines()) == 6
    assert len(replay(requests, path, repeats=2)) == 12


def test_states_pass_by_and_nothing_is_collected_before_the_end(servers, chat, path):
    states = ("validating", "in_progress", "finalizing", "completed")
    with servers.BatchServer(states=states) as server:
        send(chat(3), server, path)
        seen = [status(path, base_url=server.base_url)["state"].item() for _ in range(2)]
        early = bring(server, path)
        late = bring(server, path)
    assert seen == ["validating", "in_progress"]
    assert early[["state", "n_stored"]].values.tolist() == [["finalizing", 0]]
    assert late[["state", "n_stored"]].values.tolist() == [["completed", 3]]


def test_status_keeps_its_types_without_batches(path):
    Store(path).close()
    frame = status(path)
    assert frame.empty
    assert str(frame["n_requests"].dtype) == "Int64"


def test_collecting_again_changes_and_asks_nothing(servers, chat, path):
    with servers.BatchServer() as server:
        send(chat(4), server, path)
        first = bring(server, path)
        replies, asked = list(Store(path)), len(server.calls)
        second = bring(server, path)
    pd.testing.assert_frame_equal(first, second)
    assert list(Store(path)) == replies
    assert len(server.calls) == asked
    pd.testing.assert_frame_equal(
        status(path), second
    )  # nothing open: needs neither network nor address


# ---- what is sent ------------------------------------------------------------------------------------------------------


def test_only_what_is_neither_stored_nor_pending_is_sent(servers, faults, chat, path):
    with faults.FaultServer() as direct:
        complete(chat(3), model="m", base_url=direct.base_url, store=path, progress=False)
    with servers.BatchServer() as server:
        first = send(chat(5), server, path)
        again = send(chat(5), server, path)
        more = send(chat(8), server, path)
        bring(server, path)
        none = send(chat(8), server, path)
    assert first["n_requests"].tolist() == [2]
    assert again["batch_id"].tolist() == first["batch_id"].tolist()
    assert more["n_requests"].tolist() == [2, 3]
    assert none.empty
    assert len(server.lines()) == 5
    assert set(paid(server).values()) == {1}


def test_files_are_split_by_number_and_by_size(servers, chat, path, tmp_path):
    with servers.BatchServer() as server:
        by_number = send(chat(10), server, path, max_requests=4)
        size = max(map(len, server.files.values()))
        by_size = send(chat(10), server, tmp_path / "2.sqlite", max_bytes=size - 1)
        done = bring(server, path)
    assert by_number["n_requests"].tolist() == [4, 4, 2]
    assert by_size["n_requests"].tolist() == [3, 3, 3, 1]
    assert done["n_stored"].tolist() == [4, 4, 2]
    assert (
        max(len(content) for name, content in server.files.items() if int(name[5:]) in range(3, 7))
        < size
    )
    assert (batch.MAX_REQUESTS, batch.MAX_BYTES) == (50_000, 200_000_000)


def test_a_request_longer_than_a_file_is_refused_before_anything_is_sent(servers, chat, path):
    requests = chat(3)
    requests.at[1, "messages"] = [{"role": "user", "content": "x" * 2000}]
    with servers.BatchServer() as server:
        with pytest.raises(
            InputError, match=r"at most 1000 bytes; got one of 2\d\d\d bytes .*; shorten it"
        ):
            send(requests, server, path, max_bytes=1000)
        assert not server.calls
        assert send(chat(3), server, path)["n_requests"].tolist() == [3]


@pytest.mark.parametrize("limits", [{"max_requests": 0}, {"max_bytes": 0}], ids=str)
def test_limits_below_one_are_refused(chat, path, limits):
    with pytest.raises(InputError, match="limits of at least 1; got"):
        submit(chat(1), model="m", store=path, **limits)


# ---- what comes back ---------------------------------------------------------------------------------------------------


def test_a_partial_failure_keeps_its_reason_and_can_be_submitted_again(servers, faults, chat, path):
    requests = chat(5)
    with servers.BatchServer(
        result=lambda line: servers.refused(line) if third(line) else servers.answered(line)
    ) as server:
        send(requests, server, path)
        done = bring(server, path)
        left = failures(path)
        server.result = servers.answered
        again = send(requests, server, path)
        bring(server, path)
    assert failures(path).empty
    assert done[["n_stored", "n_failed", "failed"]].values.tolist() == [[4, 1, 1]]
    assert left.tolist() == ["HTTP 400: context length exceeded"]
    assert again["n_requests"].tolist() == [1]
    assert replay(requests, path)["response"].tolist() == expected(faults, requests)


REFUSALS = {  # as OpenAI's reasoning models say it
    "max_tokens": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    "temperature": "Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) value is "
    "supported.",
}


def test_parameters_that_the_model_refused_are_adapted_when_the_requests_are_submitted_again(
    servers, faults, chat, path
):
    def result(line):
        refused = next((name for name in REFUSALS if name in line["body"]), None)
        return servers.refused(line, REFUSALS[refused]) if refused else servers.answered(line)

    warned = []
    with servers.BatchServer(result=result) as server:
        for _ in range(3):  # a model refuses one parameter at a time
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("default")
                send(chat(4), server, path)
            warned.append([str(each.message) for each in caught])
            done = bring(server, path)
        submit(chat(1), model="other", store=path, base_url=server.base_url)
    renamed = "m refuses the parameter max_tokens; in this run it is sent as max_completion_tokens"
    left_out = "m refuses the parameter temperature; in this run it is not sent, so that the model uses its default"
    assert warned == [[], [renamed], [renamed, left_out]]
    assert done["n_stored"].tolist() == [0, 0, 4]
    sent = [
        [set(line["body"]) - {"model", "messages"} for line in server.input(b)]
        for b in server.batches.values()
    ]
    assert sent == [
        [{"max_tokens", "temperature"}] * 4,
        [{"max_completion_tokens", "temperature"}] * 4,
        [{"max_completion_tokens"}] * 4,
        [{"max_tokens", "temperature"}],
    ]
    assert replay(chat(4), path)["response"].tolist() == expected(faults, chat(4))
    with Store(path) as store:
        assert {reply.extra for reply in store} == {
            '{"sent_parameters": {"max_completion_tokens": 8}}'
        }


def test_a_proxy_is_not_asked_for_a_batch_on_this_machine(servers, chat, path, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with servers.BatchServer() as server:
        assert send(chat(1), server, path, max_retries=0)["state"].tolist() == ["validating"]


def test_a_batch_in_which_everything_fails_has_no_output_file(servers, chat, path):
    with servers.BatchServer(result=servers.refused) as server:
        send(chat(3), server, path)
        done = bring(server, path)
    assert server.batches["batch-0"]["output_file_id"] is None
    assert done["n_failed"].tolist() == [3]
    assert len(failures(path)) == 3


@pytest.mark.parametrize("told", [True, False], ids=["with lines", "without lines"])
def test_an_expired_batch_gives_what_it_has(servers, faults, chat, path, told):
    def half(line):
        return (
            servers.answered(line)
            if int(line["custom_id"], 16) % 2
            else servers.expired(line)
            if told
            else None
        )

    with servers.BatchServer(result=half, states=("in_progress", "expired")) as server:
        send(chat(20), server, path)
        bring(server, path)
        done = bring(server, path)
        left = failures(path)
        server.result, server.states = servers.answered, ("completed",)
        again = send(chat(20), server, path)
        bring(server, path)
    assert 0 < done["n_stored"].item() < 20
    assert done["n_stored"].item() + len(left) == 20
    assert left.str.contains(
        r"window expired\. \(batch_expired\)" if told else "the batch expired without"
    ).all()
    assert again["n_requests"].item() == len(left)
    assert replay(chat(20), path)["response"].tolist() == expected(faults, chat(20))


def test_a_failed_batch_says_why_and_releases_its_requests(servers, chat, path):
    with servers.BatchServer(states=("failed",)) as server:
        server.errors = [
            {"code": "invalid_json_line", "line": 2, "message": "not JSON"},
            {"code": "token_limit_exceeded"},
        ]
        send(chat(3), server, path)
        done = bring(server, path)
        left = failures(path)
        server.states = ("completed",)
        again = send(chat(3), server, path)
    assert done["reason"].item() == "line 2: not JSON; token_limit_exceeded"
    assert set(left) == {"the batch failed: line 2: not JSON; token_limit_exceeded"}
    assert again["n_requests"].item() == 3


def test_malformed_lines_and_unknown_requests_are_counted_and_harm_nobody(
    servers, faults, chat, path
):
    requests = chat(8)

    def spoilt(line):
        whole = servers.answered(line)
        number = json.dumps(line["body"])
        if "question 1 " in number:
            return json.dumps(whole).encode()[:50]
        if "question 3 " in number:
            return b'{"custom_id": "\xff"}'
        if "question 5 " in number:
            return json.dumps({**whole, "custom_id": "somebody else's"}).encode()
        if "question 6 " in number:
            return {**whole, "response": {"status_code": 200, "body": {"choices": []}}}
        if "question 7 " in number:
            return {**whole, "response": None}
        return whole

    def with_junk(lines):
        return [b"", b"[" * 100_000, b"[1, 2]", b"null", b'{"custom_id": ["x"]}', *lines]

    with servers.BatchServer(result=spoilt, arrange=with_junk) as server:
        send(requests, server, path)
        done = bring(server, path)
        left = failures(path)
        server.result, server.arrange = servers.answered, lambda lines: lines
        assert send(requests, server, path)["n_requests"].item() == 5
        bring(server, path)
    assert done[["n_stored", "n_failed", "malformed", "unknown"]].values.tolist() == [[3, 5, 5, 2]]
    assert left.str.contains("5 lines of its output could not be read").sum() == 3
    assert left.str.contains("a reply that is no completion").sum() == 1
    assert "neither a response nor an error" in left.tolist()
    assert replay(requests, path)["response"].tolist() == expected(faults, requests)


def test_a_reply_without_text_is_stored_with_its_reason(servers, chat, path):
    def silent(line):
        done = servers.answered(line)
        done["response"]["body"]["choices"][0].update(
            finish_reason="content_filter", message={"role": "assistant", "refusal": "no"}
        )
        return done

    with servers.BatchServer(result=silent) as server:
        send(chat(1), server, path)
        bring(server, path)
    assert replay(chat(1), path)["reason"].item() == "the model refused: no"
    (reply,) = Store(path)
    assert json.loads(reply.extra) == {"refusal": "no"}
    assert reply.seconds is None, "how long a batched request took is not known"


def test_the_first_reply_stands_and_replies_beat_errors(servers, faults, chat, path):
    def twice(lines):
        later = json.loads(json.dumps(lines))
        for line in later:
            line["response"]["body"]["choices"][0]["message"]["content"] = "another"
        return [*lines, *later, servers.expired({"custom_id": lines[0]["custom_id"]})]

    with servers.BatchServer(arrange=twice) as server:
        send(chat(3), server, path)
        done = bring(server, path)
    assert done["n_stored"].item() == 3
    assert replay(chat(3), path)["response"].tolist() == expected(faults, chat(3))


def test_an_output_that_cannot_be_fetched_is_not_given_up(servers, chat, path):
    gone = {"on": True}

    def missing(call):
        return (
            servers.Fault(404, "no such file")
            if gone["on"] and call.path.endswith("/content")
            else None
        )

    with servers.BatchServer(missing) as server:
        send(chat(2), server, path)
        without = bring(server, path)
        gone["on"] = False
        found = bring(server, path)
    assert "HTTP 404: no such file" in without["reason"].item()
    assert without["n_pending"].item() == 2
    assert found[["n_stored", "reason"]].values.tolist() == [[2, None]]


def test_completed_requests_without_an_output_file_are_waited_for(servers, chat, path):
    with servers.BatchServer() as server:
        send(chat(2), server, path)
        status(path, base_url=server.base_url)
        output = server.batches["batch-0"]["output_file_id"]
        server.batches["batch-0"]["output_file_id"] = None
        without = bring(server, path)
        server.batches["batch-0"]["output_file_id"] = output
        found = bring(server, path)
    assert "2 requests completed, but no output file is named" in without["reason"].item()
    assert found["n_stored"].item() == 2


# ---- faults on the way -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status_code", [429, 500, 503])
@pytest.mark.parametrize("kind", [UPLOAD, "GET /v1/batches/ID", "GET /v1/files/ID/content"])
def test_a_fault_that_passes_is_retried(servers, chat, path, kind, status_code):
    with servers.BatchServer(only(kind, servers.Fault(status_code), times=2)) as server:
        send(chat(2), server, path)
        done = bring(server, path)
    assert done["n_stored"].item() == 2
    assert server.counts[kind] == 3
    assert set(paid(server).values()) == {1}


def test_a_busy_provider_is_asked_again_to_create_the_batch(servers, chat, path):
    with servers.BatchServer(only(CREATE, servers.Fault(429), times=3)) as server:
        assert send(chat(2), server, path)["state"].item() == "validating"
    assert server.counts[CREATE] == 4
    assert len(server.batches) == 1


@pytest.mark.parametrize(
    ("kind", "fault", "words"),
    [
        (
            UPLOAD,
            {"status": 404, "message": "File Not Found"},
            r"endpoint with the Batch API .*got HTTP 404: File Not Found.*use complete",
        ),
        (CREATE, {"status": 404}, r"endpoint with the Batch API .*got HTTP 404.*use complete"),
        (
            CREATE,
            {"status": 400, "message": "model not batchable"},
            "accepts the request; got HTTP 400: model not batchable.*call again",
        ),
        (
            CREATE,
            {"status": 429, "message": "slow down"},
            "accepts the request; got HTTP 429: slow down",
        ),
        (
            CREATE,
            {"status": 429, "message": "insufficient_quota"},
            "accepts the request; got HTTP 429: insufficient_quota",
        ),
        (
            UPLOAD,
            {"status": 401, "message": "bad key"},
            "needs a key that .* accepts; got HTTP 401: bad key.*OPENAI_API_KEY",
        ),
        (UPLOAD, {"status": 500, "message": "boom"}, "accepts the request; got HTTP 500: boom"),
        (
            UPLOAD,
            {"raw": b"<html>It works!</html>"},
            "endpoint with the Batch API; got an answer of another kind",
        ),
        (UPLOAD, {"raw": b"{}"}, "endpoint with the Batch API; got an answer of another kind"),
        (UPLOAD, {"drop": True}, "endpoint that answers; got .* check the address"),
    ],
    ids=str,
)
def test_a_refusal_is_one_clear_error_and_leaves_the_requests_free(
    servers, chat, path, kind, fault, words
):
    with servers.BatchServer(only(kind, servers.Fault(**fault), times=99)) as server:
        with pytest.raises(EndpointError, match=words):
            send(chat(3), server, path, max_retries=1)
        assert status(path).empty
        server.behave = lambda call: None
        assert send(chat(3), server, path)["n_requests"].tolist() == [3]
    assert set(paid(server).values()) == {1}


def test_batches_made_before_a_refusal_are_kept(servers, chat, path):
    def third_upload_fails(call):
        return servers.Fault(400, "disk full") if call.path == UPLOAD and call.repeat == 2 else None

    with servers.BatchServer(third_upload_fails) as server:
        with pytest.raises(EndpointError, match="disk full"):
            send(chat(8), server, path, max_requests=2)
        assert status(path, base_url=server.base_url)["n_requests"].tolist() == [2, 2]
        assert send(chat(8), server, path, max_requests=2)["n_requests"].tolist() == [2, 2, 2, 2]
    assert set(paid(server).values()) == {1}


LOST_ANSWERS = [
    {"drop": True},
    {"status": 500},
    {"status": 504},
    {"status": 409},
    {"raw": b"<html></html>"},
    {"raw": b"{}"},
]


@pytest.mark.parametrize("fault", LOST_ANSWERS, ids=str)
def test_a_batch_whose_creation_got_no_answer_is_found(servers, chat, path, fault):
    with servers.BatchServer(only(CREATE, servers.Fault(**fault, after=True)), page=2) as server:
        for _ in range(5):  # the list has several pages, and batches of others
            server.files["theirs"] = b""
            server._create(
                {
                    "input_file_id": "theirs",
                    "completion_window": "24h",
                    "endpoint": "e",
                    "metadata": None,
                }
            )
        sent = send(chat(3), server, path)
        done = bring(server, path)
    assert sent["batch_id"].tolist() == ["batch-5"]
    assert done["n_stored"].tolist() == [3]
    assert server.counts[CREATE] == 1


@pytest.mark.parametrize("fault", LOST_ANSWERS, ids=str)
def test_a_batch_that_was_not_created_is_created_again_but_not_at_once(
    servers, chat, path, fault, monkeypatch
):
    with servers.BatchServer(only(CREATE, servers.Fault(**fault))) as server:
        with pytest.raises(
            EndpointError,
            match=r"needs an answer to its creation; got .* submit again in 300 seconds",
        ):
            send(chat(3), server, path)
        assert send(chat(3), server, path)["state"].item() == "creating"
        assert server.counts[CREATE] == 1
        monkeypatch.setattr(batch, "SETTLE", 0.0)
        assert send(chat(3), server, path)["state"].item() == "validating"
        assert bring(server, path)["n_stored"].tolist() == [3]
    assert set(paid(server).values()) == {1}
    assert server.counts[UPLOAD] == 1, "the file is there already"


def test_a_batch_is_found_by_its_file_where_metadata_is_not_kept(servers, chat, path):
    with servers.BatchServer(only(CREATE, servers.Fault(drop=True, after=True))) as server:
        create = server._create
        server._create = lambda body: create({**body, "metadata": None})
        assert send(chat(2), server, path)["batch_id"].item() == "batch-0"


def test_a_batch_that_appears_late_is_seen_just_before_it_would_be_made_again(
    servers, chat, path, monkeypatch
):
    first: list[dict] = []

    def late(call):
        if call.path == CREATE and call.repeat == 0:
            first.append(call.body)
            return servers.Fault(drop=True)
        if call.path == "GET /v1/batches" and call.repeat == 3:
            server._create(first[0])
        return None

    with servers.BatchServer(late) as server:
        with pytest.raises(EndpointError):
            send(chat(2), server, path)
        monkeypatch.setattr(batch, "SETTLE", 0.0)
        assert send(chat(2), server, path)["batch_id"].tolist() == ["batch-0"]
    assert list(server.batches) == ["batch-0"]


def test_a_list_without_end_ends(servers, chat, path):
    with servers.BatchServer(only(CREATE, servers.Fault(drop=True))) as server:
        server.files["theirs"] = b""
        server._create(
            {"input_file_id": "theirs", "completion_window": "24h", "endpoint": "e", "metadata": {}}
        )
        page = server._list("")
        server._list = lambda query: {**page, "has_more": True}
        with pytest.raises(EndpointError, match="no such batch in its list"):
            send(chat(2), server, path)


# ---- killed at every step ----------------------------------------------------------------------------------------------


class Killed(BaseException):
    """What a kill looks like from inside: nothing after it runs (see `die`)."""


STEPS = [
    "claim",
    "upload before",
    "upload after",
    "announce before",
    "announce after",
    "create before",
    "create after",
    "remember before",
]


@contextmanager
def dying(monkeypatch, step):
    """Stop at a step, with no cleaning up."""
    name, _, when = step.partition(" ")
    home = Provider if name in ("upload", "create") else Ledger
    real = getattr(home, name)

    def fatal(*arguments, **options):
        if when != "before":
            real(*arguments, **options)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(home, name, fatal)
        patch.setattr(Ledger, "release", lambda *_: None)
        with pytest.raises(Killed):
            yield


@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_any_step_loses_no_batch_and_makes_none_twice(
    servers, faults, chat, path, step, monkeypatch
):
    with servers.BatchServer() as server:
        with dying(monkeypatch, step):
            send(chat(6), server, path, max_requests=3)
        monkeypatch.setattr(batch, "SETTLE", 0.0)
        send(chat(6), server, path, max_requests=3)
        send(chat(6), server, path, max_requests=3)
        done = bring(server, path)
    assert done["n_stored"].tolist() == [3, 3]
    assert len(server.batches) == 2
    assert set(paid(server).values()) == {1}
    assert replay(chat(6), path)["response"].tolist() == expected(faults, chat(6))


def stopping(error):
    def stop(*_):
        raise error

    return stop


def test_status_and_collect_find_a_batch_that_was_never_remembered(
    servers, chat, path, monkeypatch
):
    with servers.BatchServer() as server:
        with dying(monkeypatch, "remember before"):
            send(chat(2), server, path)
        assert status(path, base_url=server.base_url)["batch_id"].item() == "batch-0"
        assert bring(server, path)["n_stored"].item() == 2


def test_other_requests_do_not_send_what_a_killed_call_left(servers, chat, path, monkeypatch):
    with servers.BatchServer() as server:
        with dying(monkeypatch, "claim"):
            send(chat(2), server, path)
        other = chat(4).iloc[2:]
        assert send(other, server, path)["n_requests"].tolist() == [2]
        assert len(server.batches) == 1
        assert status(path, base_url=server.base_url)["state"].tolist() == ["claimed", "completed"]
        assert len(cancel(path, base_url=server.base_url)) == 1
        assert send(chat(2), server, path)["n_requests"].tolist() == [2]


@pytest.mark.parametrize("where", ["content", "add", "finish"])
def test_a_collect_that_is_killed_is_done_again(servers, chat, path, where, monkeypatch):
    with servers.BatchServer() as server:
        send(chat(5), server, path)
        home = {"content": Provider, "add": Store, "finish": Ledger}[where]
        with monkeypatch.context() as patch:
            patch.setattr(home, where, stopping(Killed))
            with pytest.raises(Killed):
                bring(server, path)
        assert status(path, base_url=server.base_url)["n_pending"].item() == 5
        assert bring(server, path)["n_stored"].item() == 5


def test_an_interrupt_while_uploading_frees_the_requests(servers, chat, path, monkeypatch):
    with servers.BatchServer() as server:
        with monkeypatch.context() as patch:
            patch.setattr(Provider, "upload", stopping(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                send(chat(3), server, path)
        assert status(path).empty


NURSERY = """
import json, os, sys, traceback
import openai.resources.batches, openai.resources.files, pandas as pd
from ragnb.llm import batch
batch.SETTLE = 0.5
def work(n, base_url, store):
    requests = pd.DataFrame({"messages": [[{"role": "user", "content": f"question {i} 你好 🧪"}] for i in range(n)],
                             "parameters": [{"temperature": 0.0, "max_tokens": 8}] * n})
    try:
        batch.submit(requests, model="m", store=store, base_url=base_url, max_requests=3)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
for line in sys.stdin:
    pid = os.fork() or work(*json.loads(line))
    print(pid, flush=True)
    print(os.waitpid(pid, 0)[1], flush=True)
"""


class Nursery:
    """Processes that submit: real ones, but forked from one that has done its imports."""

    def __init__(self):
        self.parent = subprocess.Popen(
            [sys.executable, "-c", NURSERY],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def start(self, n, server, path) -> int:
        print(json.dumps([n, server.base_url, str(path)]), file=self.parent.stdin, flush=True)
        self.child = int(self.parent.stdout.readline())
        return self.child

    def wait(self) -> int:
        """Exit code of the last process; a signal's is negative."""
        return os.waitstatus_to_exitcode(int(self.parent.stdout.readline()))


@pytest.fixture(scope="module")
def nursery():
    nursery = Nursery()
    yield nursery
    nursery.parent.kill()
    nursery.parent.communicate()


@pytest.mark.parametrize("kind", [UPLOAD, CREATE])
@pytest.mark.parametrize("after", [True, False], ids=["after", "before"])
def test_a_process_killed_while_the_provider_answers(
    servers, faults, chat, path, nursery, kind, after
):
    def kill(call):
        if call.path != kind or call.repeat != 1:
            return None
        if after:
            server.act(
                *call.path.split(" "), "", call
            )  # it takes effect, and then nobody is there to hear of it
        os.kill(nursery.child, signal.SIGKILL)
        return servers.Fault(drop=True)

    with servers.BatchServer(kill) as server:
        nursery.start(8, server, path)
        assert nursery.wait() == -signal.SIGKILL
        time.sleep(0.5)
        nursery.start(8, server, path)
        assert nursery.wait() == 0
        done = bring(server, path)
    assert done["n_stored"].tolist() == [3, 3, 2]
    assert set(paid(server).values()) == {1}
    assert replay(chat(8), path)["response"].tolist() == expected(faults, chat(8))


def kill_often(servers, nursery, path, requests, kills):
    """Kill submitting processes at random moments; what reached the provider in the end is right."""
    rng, codes = random.Random(3), []

    def slow(call):
        time.sleep(0.02)

    with servers.BatchServer(slow) as server:
        for _ in range(kills):
            pid = nursery.start(requests, server, path)
            time.sleep(rng.uniform(0.0, 0.8))
            os.kill(pid, signal.SIGKILL)
            codes.append(nursery.wait())
        time.sleep(0.6)
        nursery.start(requests, server, path)
        assert nursery.wait() == 0
        done = bring(server, path)
    assert done["n_stored"].sum() == requests
    assert len(paid(server)) == requests
    assert set(paid(server).values()) == {1}
    assert codes.count(-signal.SIGKILL) > kills // 2, (
        "the kills fell outside the runs, so they tested nothing"
    )


def test_processes_killed_at_random_moments(servers, nursery, path):
    kill_often(servers, nursery, path, requests=60, kills=2)


@pytest.mark.slow
def test_processes_killed_more_often(servers, nursery, path):
    kill_often(servers, nursery, path, requests=120, kills=4)


@pytest.mark.slow
def test_processes_killed_fifty_times(servers, nursery, path):
    kill_often(servers, nursery, path, requests=1500, kills=50)


def test_several_callers_that_submit_the_same_at_once_share_the_work(servers, chat, path):
    def slow(call):
        time.sleep(0.01)

    Store(path).close()
    with servers.BatchServer(slow) as server:
        problems: list[BaseException] = []

        def work():
            try:
                send(chat(30), server, path, max_requests=3)
            except BaseException as problem:
                problems.append(problem)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        done = bring(server, path)
    assert not problems
    assert done["n_stored"].sum() == 30
    assert set(paid(server).values()) == {1}


def test_days_later_in_another_process(servers, faults, chat, path):
    script = (
        "import sys; from ragnb.llm.batch import status, collect; a = dict(base_url=sys.argv[2]); "
        "print(status(sys.argv[1], **a)['state'].item(), collect(sys.argv[1], **a)['n_stored'].item())"
    )
    with servers.BatchServer(states=("in_progress", "completed")) as server:
        send(chat(3), server, path)
        arguments = [sys.executable, "-c", script, str(path), server.base_url]
        assert subprocess.run(
            arguments, capture_output=True, text=True, check=True
        ).stdout.split() == ["in_progress", "3"]
    assert replay(chat(3), path)["response"].tolist() == expected(faults, chat(3))


# ---- other stores, other providers -------------------------------------------------------------------------------------


def test_a_store_made_before_gets_the_tables_and_stays_a_store(servers, faults, chat, path):
    with faults.FaultServer() as direct, Store(path) as store:
        complete(chat(2), model="m", base_url=direct.base_url, store=store, progress=False)
        before = list(store)
        with servers.BatchServer() as server:
            submit(chat(4), model="m", store=store, base_url=server.base_url)
            collect(store, base_url=server.base_url)
        assert len(store) == 4
        assert set(before) <= set(store)
    with sqlite3.connect(path) as db:
        assert db.execute(
            "SELECT count(*) FROM batch_requests WHERE request IS NULL"
        ).fetchone() == (2,)


def test_a_batch_of_another_provider_is_a_clear_error_and_is_left_alone(servers, chat, path):
    with servers.BatchServer() as here, servers.BatchServer() as there:
        send(chat(3), there, path)
        for call in (status, collect, cancel):
            words = rf"needs the address .*; got {here.base_url}, while .* at {there.base_url}; pass base_url='{there.base_url}'"
            with pytest.raises(InputError, match=words):
                call(path, base_url=here.base_url)
        assert send(chat(3), here, path)["base_url"].tolist() == [there.base_url], (
            "pending is pending, wherever"
        )
        assert send(chat(5), here, path)["base_url"].tolist() == [there.base_url, here.base_url]
        both = bring(here, path)
    assert both["state"].tolist() == ["validating", "completed"]
    assert not here.counts["GET /v1/batches"]


def test_a_batch_that_the_provider_does_not_know_stops_nobody(servers, chat, path):
    with servers.BatchServer() as server:
        send(chat(4), server, path, max_requests=2)
        del server.batches["batch-0"]
        done = bring(server, path)
        assert "does not know it with this key (HTTP 404" in done["reason"][0]
        assert done["n_stored"].tolist() == [0, 2]
        assert "does not know it" in cancel(path, base_url=server.base_url)["reason"].item()
        cancel(path, batches=["batch-0"], forget=True)
        assert failures(path).tolist() == ["the batch was given up"] * 2
        assert send(chat(4), server, path)["n_requests"].tolist() == [2]


def test_cancel_stops_a_batch_and_keeps_what_it_answered(servers, faults, chat, path):
    def half(line):
        return servers.answered(line) if int(line["custom_id"], 16) % 2 else None

    with servers.BatchServer(result=half, states=("in_progress",)) as server:
        send(chat(20), server, path)
        stopped = cancel(path, base_url=server.base_url)
        done = bring(server, path)
        assert failures(path).eq("the batch was cancelled without a line about this request").all()
        server.result, server.states = servers.answered, ("completed",)
        send(chat(20), server, path)
        status(path, base_url=server.base_url)
        assert cancel(path, base_url=server.base_url)["state"].item() == "completed", "too late"
        bring(server, path)
    assert stopped["state"].item() == "cancelling"
    assert 0 < done["n_stored"].item() < 20
    assert done["n_stored"].item() + done["n_failed"].item() == 20
    assert replay(chat(20), path)["response"].tolist() == expected(faults, chat(20))


@pytest.mark.parametrize(
    "names", [{"batches": ["other"]}, {"batches": "batch-0"}, {"forget": True}], ids=str
)
def test_cancel_needs_names_of_open_batches(servers, chat, path, names):
    with servers.BatchServer() as server:
        send(chat(1), server, path)
        with pytest.raises(
            InputError, match=r"cancel needs a list of open batches of this store; got"
        ):
            cancel(path, base_url=server.base_url, **names)


def test_stores_that_cannot_hold_batches(chat, path, tmp_path):
    with pytest.raises(InputError, match="outlives the process; got ':memory:'"):
        submit(chat(1), model="m", store=":memory:")
    for call in (status, collect, cancel):
        with pytest.raises(StoreError, match="got no file"):
            call(tmp_path / "mistyped.sqlite")
    assert not (tmp_path / "mistyped.sqlite").exists()
    (tmp_path / "text.sqlite").write_text("not a database, only text")
    with pytest.raises(StoreError, match="needs an SQLite file"):
        status(tmp_path / "text.sqlite")
    Store(path).close()
    with sqlite3.connect(path) as db:
        db.execute("CREATE VIEW batches AS SELECT 1")
    with pytest.raises(
        StoreError, match="a store needs an SQLite file that it can read and write; got"
    ):
        status(path)


def test_another_machine_needs_a_key_and_the_requests_stay_free(chat, path):
    with pytest.raises(EndpointError, match=r"needs a key; got none in .*OPENAI_API_KEY"):
        submit(chat(1), model="m", store=path, base_url="https://models.example.org/v1")
    assert status(path).empty


@pytest.mark.parametrize("options", [{"timeout": 0}, {"max_retries": -1}], ids=str)
def test_waiting_and_retrying_have_limits_too(servers, chat, path, options):
    with (
        servers.BatchServer() as server,
        pytest.raises(InputError, match="needs timeout > 0 and max_retries >= 0; got"),
    ):
        send(chat(1), server, path, **options)
    assert status(path).empty


def test_an_unreachable_provider_says_so(servers, chat, path):
    with servers.BatchServer() as server:
        send(chat(1), server, path)
    with pytest.raises(
        EndpointError, match=r"status needs an endpoint that answers; got .* check the address"
    ):
        status(path, base_url=server.base_url, max_retries=0)


def test_a_frame_without_requests_is_refused(path):
    with pytest.raises(InputError, match="needs the columns messages"):
        submit(pd.DataFrame({"question": ["x"]}), model="m", store=path)
    assert submit(pd.DataFrame({"messages": []}), model="m", store=path).empty


def test_a_key_goes_into_the_header_and_nowhere_else(
    servers, chat, path, tmp_path, monkeypatch, capfd, caplog
):
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    caplog.set_level("DEBUG")
    leak = f"{'x' * 280} key {CANARY}"  # a message cut to length must not keep the start of the key

    def leaky(line):
        return servers.refused(line, leak) if third(line) else servers.answered(line)

    with servers.BatchServer(result=leaky) as server:
        server.errors = [{"message": leak}]
        address = server.base_url.replace("http://", f"http://user:{PASSWORD}@")
        submit(chat(4), model="m", store=path, base_url=address)
        frames = [collect(path, base_url=address), failures(path)]
        server.states = ("failed",)
        submit(chat(6), model="m", store=path, base_url=address)
        frames += [collect(path, base_url=address), failures(path)]
        for code in (400, 401, 404):
            server.behave = lambda call, code=code: servers.Fault(code, leak)
            with pytest.raises(EndpointError) as error:
                submit(chat(7), model="m", store=path, base_url=address)
            frames.append("".join(traceback.format_exception(error.value)))
        assert server.calls[0].headers["authorization"]
    logged = " ".join(record.getMessage() for record in caplog.records)
    seen = (
        "".join(f if isinstance(f, str) else f.to_json() for f in frames)
        + "".join(capfd.readouterr())
        + logged
    )
    files = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert "[key" in seen
    assert "sk-canary" not in seen
    assert b"sk-canary" not in files
    assert "sk-password" not in "".join(f if isinstance(f, str) else f.to_json() for f in frames)
    assert b"sk-password" not in files


def test_many_requests_take_little_time(servers, path):
    """A smoke test of scale: no step is quadratic."""
    n = 5000
    requests = pd.DataFrame(
        {"messages": [[{"role": "user", "content": f"q{i}"}] for i in range(n)]}
    )
    began = time.monotonic()
    with servers.BatchServer() as server:
        send(requests, server, path, max_requests=2000)
        done = bring(server, path)
    assert done["n_stored"].tolist() == [2000, 2000, 1000]
    assert time.monotonic() - began < 20
