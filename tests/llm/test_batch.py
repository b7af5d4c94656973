"""Files for the Batch API: nothing lost, nothing paid twice, and in the end what `complete` gives."""

import json
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import pandas as pd
import pytest
from support.asking import chat, expected, replay, run
from support.batch_output import answered, expired, refused, requests_in, write
from support.fault_server import FaultServer

from ragnb.errors import InputError
from ragnb.llm import Store, add_batch_output, batch, write_batch


@pytest.fixture
def path(tmp_path):
    return tmp_path / "s.sqlite"


def written(requests, path, name="batch.jsonl", **options):
    return write_batch(requests, path.with_name(name), model="m", store=path, **options)


def added(lines, requests, path, **options):
    output = write(path.with_name("output.jsonl"), lines)
    return add_batch_output(output, requests, model="m", store=path, **options)


def failures(path):
    """Reasons of requests without a reply, which a replay reports."""
    with Store(path) as store:
        return pd.Series(list(store.failures().values()), dtype=object)


# ---- the whole way -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["chat", "completion"])
def test_a_batch_ends_in_the_frame_that_complete_gives(path, kind):
    requests = chat(12)
    if kind == "completion":
        requests["prompt"] = [messages[0]["content"] for messages in requests.pop("messages")]
    lines = [answered(line) for line in requests_in(written(requests, path))]
    assert added(lines[::-1], requests, path) == 12
    with FaultServer() as direct:
        online = run(requests, direct)
    # Another server is another endpoint, and so are its requests. A batch has no latency of a
    # single request.
    batched = replay(requests, path)
    assert batched["seconds"].isna().all()
    apart = ["request_key", "seconds"]
    pd.testing.assert_frame_equal(batched.drop(columns=apart), online.drop(columns=apart))


def test_a_line_is_the_request_that_complete_sends(path):
    with FaultServer() as server:
        run(chat(2), server)
        sent = [call.body for call in server.calls]
    assert [line["body"] for line in requests_in(written(chat(2), path))] == sent
    (first, _) = requests_in([path.with_name("batch.jsonl")])
    assert (first["method"], first["url"]) == ("POST", "/v1/chat/completions")


def test_the_same_endpoint_finds_the_replies_online_too(path):
    with FaultServer() as server:
        address = {"base_url": server.base_url}
        lines = [answered(line) for line in requests_in(written(chat(3), path, **address))]
        added(lines, chat(3), path, **address)
        assert run(chat(3), server, path)["response"].tolist() == expected(chat(3))
        assert not server.calls


# ---- what is written ---------------------------------------------------------------------------------------------------


def test_only_requests_without_a_reply_that_are_in_no_other_file_are_written(path):
    with FaultServer() as direct:
        address = {"base_url": direct.base_url}
        run(chat(3), direct, path)
    first = written(chat(5), path, **address)
    assert written(chat(5), path, "same.jsonl", **address) == []
    more = written(chat(8), path, "more.jsonl", **address)
    assert [len(requests_in(files)) for files in (first, more)] == [2, 3]
    repeated = written(chat(8), path, "repeated.jsonl", repeats=2, **address)
    assert len(requests_in(repeated)) == 8  # the second repeat of each


@pytest.mark.parametrize(("limit", "value"), [("MAX_REQUESTS", 4), ("MAX_BYTES", 4 * 310)])
def test_files_are_split_by_number_and_by_size(path, monkeypatch, limit, value):
    monkeypatch.setattr(batch, limit, value)
    files = written(chat(10), path)
    assert [file.name for file in files] == ["batch.jsonl", "batch.2.jsonl", "batch.3.jsonl"]
    assert [len(requests_in([file])) for file in files] == [4, 4, 2]


def test_requests_that_are_repeated_are_written_once(path):
    twice = pd.concat([chat(2), chat(2)])
    lines = [answered(line) for line in requests_in(written(twice, path))]
    assert len(lines) == 2
    assert added(lines, twice, path) == 2
    assert replay(twice, path)["response"].tolist() == expected(chat(2)) * 2


def test_a_file_is_not_overwritten_and_a_lost_one_can_be_written_again(path):
    (file,) = written(chat(2), path)
    with pytest.raises(InputError, match=r"batch\.jsonl exists already; add its output"):
        written(chat(3), path)
    assert len(requests_in([file])) == 2
    file.unlink()
    assert len(requests_in(written(chat(2), path, again=True))) == 2


def test_several_callers_that_write_the_same_at_once_share_the_work(path):
    Store(path).close()
    with ThreadPoolExecutor(4) as pool:
        files = pool.map(lambda number: written(chat(30), path, f"{number}.jsonl"), range(4))
    ids = Counter(line["custom_id"] for group in files for line in requests_in(group))
    assert len(ids) == 30
    assert set(ids.values()) == {1}


def test_a_writer_that_is_killed_before_it_is_noted_writes_nothing_twice(path, monkeypatch):
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(batch, "_note_waiting", Mock(side_effect=KeyboardInterrupt))
        written(chat(3), path)
    with pytest.raises(InputError, match="exists already"):
        written(chat(3), path)
    lines = [answered(line) for line in requests_in([path.with_name("batch.jsonl")])]
    assert added(lines, chat(3), path) == 3


# ---- what comes back ---------------------------------------------------------------------------------------------------


def test_a_replay_says_which_file_is_awaited(path):
    written(chat(2), path)
    reasons = replay(chat(2), path)["reason"].unique()
    assert reasons.tolist() == [
        "in the batch file batch.jsonl, whose output has not been added yet"
    ]


@pytest.mark.parametrize("told", [True, False], ids=["with lines", "without lines"])
def test_an_expired_batch_gives_what_it_has(path, told):
    lines = requests_in(written(chat(20), path))
    output = [answered(line) for line in lines[:12]]
    output += [expired(line) for line in lines[12:] if told]
    assert added(output, chat(20), path) == 12
    assert added(output, chat(20), path) == 0
    words = r"window expired\. \(batch_expired\)" if told else "output has not been added"
    assert failures(path).str.contains(words).tolist() == [True] * 8
    again = written(chat(20), path, "again.jsonl", again=not told)
    assert len(requests_in(again)) == 8
    added([answered(line) for line in requests_in(again)], chat(20), path)
    assert replay(chat(20), path)["response"].tolist() == expected(chat(20))


def test_malformed_lines_and_unknown_requests_are_counted_and_harm_nobody(path):
    requests = chat(8)
    lines = [answered(line) for line in requests_in(written(requests, path))]
    lines[1] = json.dumps(lines[1]).encode()[:50]
    lines[3] = b'{"custom_id": "\xff"}'
    lines[5]["custom_id"] = "somebody else's"
    lines[6]["response"]["body"] = {"choices": []}
    lines[7]["response"] = None
    junk = [b"", b"[" * 100_000, b"[1, 2]", b"null", b'{"custom_id": ["x"]}']
    with pytest.warns(UserWarning, match=r"skipped: 6 unreadable, 1 about other requests$"):
        assert added([*junk, *lines], requests, path) == 3
    left = failures(path)
    assert left.str.contains("output has not been added").sum() == 3
    assert left.str.contains("a reply that is not a completion").sum() == 1
    assert "neither a response nor an error" in left.tolist()
    again = requests_in(written(requests, path, "again.jsonl"))
    assert len(again) == 2  # of the others it is unknown whether they were paid for
    rest = requests_in(written(requests, path, "rest.jsonl", again=True))
    assert len(rest) == 5
    added([answered(line) for line in rest], requests, path)
    assert replay(requests, path)["response"].tolist() == expected(requests)


def test_the_first_line_about_a_request_counts(path):
    (line,) = requests_in(written(chat(1), path))
    other = answered(line)
    other["response"]["body"]["choices"][0]["message"]["content"] = "another reply"
    with pytest.warns(UserWarning, match="skipped: 1 about a request of an earlier line"):
        added([answered(line), other], chat(1), path)
    assert replay(chat(1), path)["response"].tolist() == expected(chat(1))


def test_errors_of_the_provider_are_reasons_and_do_not_hide_a_reply(path):
    first, second = requests_in(written(chat(2), path))
    output = write(path.with_name("o.jsonl"), [answered(first)])
    rest = write(path.with_name("e.jsonl"), [refused(first), refused(second)])
    assert add_batch_output([output, rest], chat(2), model="m", store=path) == 1
    replies = replay(chat(2), path)
    assert replies["response"].tolist() == [*expected(chat(1)), None]
    assert replies["reason"][1] == "HTTP 400: context length exceeded"


def test_a_wrong_file_is_one_clear_error_and_changes_nothing(path):
    lines = [answered(line) for line in requests_in(written(chat(3), path))]
    with pytest.raises(InputError, match=r"batch\.jsonl contains the requests; pass the output"):
        add_batch_output(path.with_name("batch.jsonl"), chat(3), model="m", store=path)
    with pytest.raises(InputError, match="the output of a batch cannot be read: .*No such file"):
        add_batch_output(path.with_name("none.jsonl"), chat(3), model="m", store=path)
    with pytest.raises(InputError, match=r"output\.jsonl is empty"):
        added([], chat(3), path)
    for options in ({"base_url": "http://127.0.0.1:9/v1"}, {"requests": chat(0)}):
        arguments = {"requests": chat(3), **options}
        with pytest.raises(InputError, match="none of the 3 lines of|needs at least one row"):
            added(lines, path=path, **arguments)
    assert len(failures(path)) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert added(lines, chat(3), path) == 3
