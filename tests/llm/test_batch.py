"""The Batch API against a real server: nothing lost, nothing paid twice, and in the end what `complete` gives."""

import gzip
import json
import random
import signal
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import pandas as pd
import processes
import pytest
from asking import chat, expected, replay, run
from batch_server import DROP, BatchServer, answered, expired, fault
from fault_server import FaultServer

from ragnb.errors import EndpointError, InputError
from ragnb.llm import batch
from ragnb.llm.batch import collect, forget, status, submit
from ragnb.llm.store import Store

CREATE, UPLOAD = "POST /v1/batches", "POST /v1/files"


pytestmark = pytest.mark.usefixtures("quick_retries")


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


def paid(server) -> Counter:
    """How often each request would be paid for."""
    return Counter(line["custom_id"] for line in server.lines())


def only(kind, failing, times=1):
    """A behaviour with one fault, the first so many times that a path is called."""
    return lambda call: failing if call.path == kind and call.repeat < times else None


# ---- the whole way -----------------------------------------------------------------------------------------------------


def test_a_batch_ends_in_the_frame_that_complete_gives(path):
    requests = chat(12)
    with BatchServer() as server:
        sent = send(requests, server, path)
        done = bring(server, path)
    with FaultServer() as direct:
        online = run(requests, direct)
    # Another server is another endpoint, and so are its requests. A batch has no latency of a
    # single request.
    batched = replay(requests, path)
    assert batched["seconds"].isna().all()
    assert online["seconds"].notna().all()
    apart = ["request_key", "seconds"]
    pd.testing.assert_frame_equal(batched.drop(columns=apart), online.drop(columns=apart))
    assert sent[["state", "n_requests"]].values.tolist() == [["validating", 12]]
    assert done[["state", "completed", "n_stored"]].values.tolist() == [["completed", 12, 12]]
    assert list(server.batches) == sent["batch_id"].tolist()


def test_counts_that_a_provider_writes_as_texts_are_read(path):
    with BatchServer() as server:
        send(chat(2), server, path)
        counts = {"total": "2", "completed": "2", "failed": "0"}
        server.batches["batch-0"].update(status="expired", request_counts=counts)
        done = bring(server, path)
    assert done[["completed", "failed"]].values.tolist() == [[2, 0]]


# ---- what is sent ------------------------------------------------------------------------------------------------------


def test_only_what_is_neither_stored_nor_pending_is_sent(path):
    with FaultServer() as direct:
        run(chat(3), direct, path)
    with BatchServer(port=direct.port) as server:  # the same endpoint
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


@pytest.mark.parametrize(
    ("limit", "sizes"), [("MAX_REQUESTS", [4, 4, 2]), ("MAX_BYTES", [4, 4, 2])]
)
def test_files_are_split_by_number_and_by_size(path, monkeypatch, limit, sizes):
    line = 310  # bytes of a request and a bit
    monkeypatch.setattr(batch, limit, 4 if limit == "MAX_REQUESTS" else 4 * line)
    with BatchServer() as server:
        sent = send(chat(10), server, path)
        done = bring(server, path)
    assert sent["n_requests"].tolist() == done["n_stored"].tolist() == sizes


# ---- what comes back ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("told", [True, False], ids=["with lines", "without lines"])
def test_an_expired_batch_gives_what_it_has(path, told):
    def half(line):
        return answered(line) if int(line["custom_id"], 16) % 2 else expired(line) if told else None

    with BatchServer(result=half, states=("in_progress", "expired")) as server:
        send(chat(20), server, path)
        bring(server, path)
        done = bring(server, path)
        left = failures(path)
        server.result, server.states = answered, ("completed",)
        again = send(chat(20), server, path)
        bring(server, path)
    assert 0 < done["n_stored"].item() == 20 - len(left)
    words = r"window expired\. \(batch_expired\)" if told else "the batch is expired without"
    assert left.str.contains(words).all()
    assert again["n_requests"].item() == len(left)
    assert replay(chat(20), path)["response"].tolist() == expected(chat(20))


def test_malformed_lines_and_unknown_requests_are_counted_and_harm_nobody(path):
    requests = chat(8)
    spoilt = {
        1: lambda whole: json.dumps(whole).encode()[:50],
        3: lambda whole: b'{"custom_id": "\xff"}',
        5: lambda whole: whole | {"custom_id": "somebody else's"},
        6: lambda whole: whole | {"response": {"status_code": 200, "body": {"choices": []}}},
        7: lambda whole: whole | {"response": None},
    }

    def result(line):
        n = int(line["body"]["messages"][0]["content"].split()[1])
        return spoilt.get(n, lambda whole: whole)(answered(line))

    def with_junk(lines):
        return [b"", b"[" * 100_000, b"[1, 2]", b"null", b'{"custom_id": ["x"]}', *lines]

    with BatchServer(result=result, arrange=with_junk) as server:
        send(requests, server, path)
        done = bring(server, path)
        left = failures(path)
        server.result, server.arrange = answered, lambda lines: lines
        assert send(requests, server, path)["n_requests"].item() == 5
        bring(server, path)
    assert done["n_stored"].tolist() == [3]
    assert left.str.contains("7 lines of its output could not be read").sum() == 3
    assert left.str.contains("a reply that is not a completion").sum() == 1
    assert "neither a response nor an error" in left.tolist()
    assert replay(requests, path)["response"].tolist() == expected(requests)


# ---- faults on the way -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "failing", "words"),
    [
        (UPLOAD, fault(404, "File Not Found"), "404: File Not Found; check base_url"),
        (CREATE, fault(400, "not batchable"), "HTTP 400: not batchable; .*run again"),
        (UPLOAD, fault(raw=b"<html>It works!</html>"), "an answer of another kind.*check base_url"),
    ],
    ids=str,
)
def test_a_refusal_is_one_clear_error_and_leaves_the_requests_free(path, kind, failing, words):
    with BatchServer(only(kind, failing, times=99)) as server:
        with pytest.raises(EndpointError, match=words):
            send(chat(3), server, path)
        assert status(path)["collected"].notna().all()
        server.behave = lambda call: None
        assert send(chat(3), server, path)["n_requests"].tolist() == [3]
    assert set(paid(server).values()) == {1}


LOST_ANSWERS = [DROP, {"status": 500}, {"raw": b"{}"}]


@pytest.mark.parametrize("options", LOST_ANSWERS, ids=str)
def test_a_batch_whose_creation_got_no_answer_is_found(path, options):
    with BatchServer(only(CREATE, fault(**options, after=True)), page=2) as server:
        server.files["theirs"] = b""
        for _ in range(5):  # the list has several pages, and batches of others
            server._create({"input_file_id": "theirs", "completion_window": "24h"})
        sent = send(chat(3), server, path)
        done = bring(server, path)
    assert sent["batch_id"].tolist() == ["batch-5"]
    assert done["n_stored"].tolist() == [3]
    assert server.counts[CREATE] == 1


@pytest.mark.parametrize("options", LOST_ANSWERS, ids=str)
def test_a_batch_that_was_not_created_is_created_again_but_not_at_once(path, options, monkeypatch):
    with BatchServer(only(CREATE, fault(**options))) as server:
        with pytest.raises(
            EndpointError,
            match=r"provider did not confirm the new batch.* Submit again in 300 seconds",
        ):
            send(chat(3), server, path)
        assert send(chat(3), server, path)["state"].item() == "creating"
        assert server.counts[CREATE] == 1
        monkeypatch.setattr(batch, "SETTLE", 0.0)
        assert send(chat(3), server, path)["state"].item() == "validating"
        assert bring(server, path)["n_stored"].tolist() == [0, 3]
    assert set(paid(server).values()) == {1}


# ---- killed at every step ----------------------------------------------------------------------------------------------


class Killed(BaseException):
    """What a kill looks like from inside: nothing after it runs."""


@pytest.mark.parametrize(
    "step", ["_announce before", "_announce after", "_note before", "_note after"]
)
def test_a_kill_at_any_step_loses_no_batch_and_makes_none_twice(path, step, monkeypatch):
    name, when = step.split()
    real = getattr(batch, name)
    monkeypatch.setattr(batch, "MAX_REQUESTS", 3)

    def fatal(*arguments, **options):
        if when == "after":
            real(*arguments, **options)
        raise Killed

    with BatchServer() as server:
        with monkeypatch.context() as patch, pytest.raises(Killed):
            patch.setattr(batch, name, fatal)
            send(chat(6), server, path)
        monkeypatch.setattr(batch, "SETTLE", 0.0)
        send(chat(6), server, path)
        done = bring(server, path)
    assert done["n_stored"].sum() == 6
    assert len(server.batches) == 2
    assert set(paid(server).values()) == {1}
    assert replay(chat(6), path)["response"].tolist() == expected(chat(6))


def test_status_and_collect_find_a_batch_that_was_never_remembered(path, monkeypatch):
    with BatchServer() as server:
        with monkeypatch.context() as patch, pytest.raises(Killed):
            patch.setattr(batch, "_note", Mock(side_effect=Killed))
            send(chat(2), server, path)
        assert status(path, base_url=server.base_url)["batch_id"].item() == "batch-0"
        assert bring(server, path)["n_stored"].item() == 2


@pytest.mark.parametrize("where", ["add", "_finish"])
def test_a_collect_that_is_killed_is_done_again(path, where, monkeypatch):
    with BatchServer() as server:
        send(chat(5), server, path)
        home = {"add": Store, "_finish": batch}[where]
        with monkeypatch.context() as patch, pytest.raises(Killed):
            patch.setattr(home, where, Mock(side_effect=Killed))
            bring(server, path)
        assert status(path, base_url=server.base_url)["collected"].isna().all()
        assert bring(server, path)["n_stored"].item() == 5


@pytest.mark.parametrize("kind", [UPLOAD, CREATE])
@pytest.mark.parametrize("after", [True, False], ids=["after", "before"])
def test_a_process_killed_while_the_provider_answers(path, kind, after):
    def kill(call):
        if call.path != kind or call.repeat != 1:
            return None
        if after:  # it takes effect, and then nobody is there to hear of it
            server.act(call)
        process.kill()
        return fault(**DROP)

    with BatchServer(kill) as server:
        process = processes.start(processes.submit, 8, server.base_url, path)
        process.join()
        assert process.exitcode == -signal.SIGKILL
        time.sleep(processes.SETTLE)
        processes.finish(processes.submit, 8, server.base_url, path)
        done = bring(server, path)
    assert done["n_stored"].sum() == 8
    assert set(paid(server).values()) == {1}
    assert replay(chat(8), path)["response"].tolist() == expected(chat(8))


@pytest.mark.parametrize(("n", "kills"), [(60, 2), pytest.param(1500, 50, marks=pytest.mark.slow)])
def test_processes_killed_at_random_moments(path, n, kills):
    rng, codes = random.Random(3), []
    with BatchServer(lambda call: time.sleep(0.02)) as server:
        arguments = [processes.submit, n, server.base_url, path]
        for _ in range(kills):
            process = processes.start(*arguments)
            time.sleep(rng.uniform(0.0, 0.8))
            processes.kill(process)
            codes.append(process.exitcode)
        time.sleep(processes.SETTLE)
        processes.finish(*arguments)
        done = bring(server, path)
    assert done["n_stored"].sum() == n
    assert list(paid(server).values()) == [1] * n
    assert codes.count(-signal.SIGKILL) > kills // 2, (
        "the kills fell outside the runs, so they tested nothing"
    )


def test_several_callers_that_submit_the_same_at_once_share_the_work(path, monkeypatch):
    monkeypatch.setattr(batch, "MAX_REQUESTS", 3)
    Store(path).close()
    with BatchServer(lambda call: time.sleep(0.01)) as server:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: send(chat(30), server, path), range(4)))
        done = bring(server, path)
    assert done["n_stored"].sum() == 30
    assert set(paid(server).values()) == {1}


# ---- other stores, other providers -------------------------------------------------------------------------------------


def test_a_batch_that_the_provider_does_not_know_stops_nobody(path, monkeypatch):
    monkeypatch.setattr(batch, "MAX_REQUESTS", 2)
    with BatchServer() as server:
        send(chat(4), server, path)
        del server.batches["batch-0"]
        done = bring(server, path)
        assert (
            "the provider does not know this batch; collect again later, or see forget: "
            in done["reason"][0]
        )
        assert done["n_stored"].fillna(-1).tolist() == [-1, 2]
        with pytest.raises(InputError, match=r"of open batches, got \['other'\]"):
            forget(path, ["batch-0", "other"])
        forget(path, ["batch-0"])
        assert failures(path).tolist() == ["the batch was given up"] * 2
        assert send(chat(4), server, path)["n_requests"].tolist() == [2]


def test_an_answer_that_decompresses_beyond_the_limit_is_refused(path, monkeypatch):
    monkeypatch.setattr(batch, "MAX_FILE_BYTES", 2**20)
    packed = gzip.compress(b"0" * 2**24)
    bomb = fault(raw=packed, headers={"content-encoding": "gzip"})
    with (
        BatchServer(lambda call: bomb) as server,
        pytest.raises(EndpointError, match="the reply is larger than 1 MB, the limit of ragnb"),
    ):
        send(chat(1), server, path)


def test_azure_gets_its_query_behind_the_path_and_its_header(path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    with BatchServer() as server:
        submit(chat(1), model="m", store=path, base_url=f"{server.base_url}?api-version=2024-10-21")
    assert {call.path.partition("?")[2] for call in server.calls} == {"api-version=2024-10-21"}
    assert {call.headers["api-key"] for call in server.calls} == {"sk-0123456789abcdef"}
