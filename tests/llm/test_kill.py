"""A run that is killed at any moment and started again: nothing is lost, nothing that was stored is asked or changed."""

import asyncio
import json
import os
import random
import signal
import sqlite3
import time
from pathlib import Path
from unittest.mock import Mock

import pytest
from support.asking import chat, expected
from support.fault_server import Answer, FaultServer, expected_text
from support.processes import finish, kill, run, start

from ragnb.llm import Store, complete
from ragnb.llm.store import LEASE_SECONDS


def stored(folder):
    """What is stored, by key; nothing if the process was killed before the table was made."""
    if not Path(folder / "s.sqlite").exists():
        return {}
    with sqlite3.connect(folder / "s.sqlite") as db:
        try:
            return dict(db.execute("SELECT key, response FROM replies"))
        except sqlite3.OperationalError:
            return {}


def n_claims(folder):
    with sqlite3.connect(folder / "s.sqlite") as db:
        return db.execute("SELECT count(*) FROM claims").fetchone()[0]


def wait_for_more(process, folder, n):
    """Wait until so many replies are stored: on a busy machine it may take seconds until the first one is."""
    while process.is_alive() and len(stored(folder)) < n:
        time.sleep(0.005)


def slow(seconds):
    return FaultServer(lambda call: Answer(text=expected_text(call.body), delay=seconds))


def kill_and_resume(folder, requests, kills, concurrency, delay):
    rng, before = random.Random(7), {}
    with slow(delay) as server:
        arguments = [run, requests, server.base_url, folder, concurrency]
        for number in range(kills):
            process = start(*arguments)
            if number % 2:
                time.sleep(rng.uniform(0.0, 1.2))
            else:
                wait_for_more(process, folder, len(before) + rng.randint(1, 30))
            kill(process)
            now = stored(folder)
            assert before.items() <= now.items(), "a stored reply changed or disappeared"
            before = now
        finish(*arguments)
    assert json.loads((folder / "out.json").read_text()) == expected(chat(requests))
    assert before.items() <= stored(folder).items()
    assert len(stored(folder)) == requests
    assert len(server.calls) <= requests + kills * concurrency
    return before


def test_a_killed_run_is_resumed_without_paying_twice(tmp_path):
    before = kill_and_resume(tmp_path, requests=300, kills=4, concurrency=8, delay=0.05)
    assert 0 < len(before) < 300, "the kills fell outside the run, so they tested nothing"


@pytest.mark.slow
def test_fifty_kills_during_two_thousand_requests(tmp_path):
    assert kill_and_resume(tmp_path, requests=2000, kills=50, concurrency=16, delay=0.25)


def test_an_interrupted_run_stops_at_once_and_keeps_what_came(tmp_path):
    """Ctrl-C, or the stop button of a notebook."""
    with slow(0.1) as server:
        process = start(run, 500, server.base_url, tmp_path, 4)
        wait_for_more(process, tmp_path, 8)
        os.kill(process.pid, signal.SIGINT)
        process.join()
        assert process.exitcode != 0
        sent = len(server.calls)
    assert not (tmp_path / "out.json").exists()
    kept = len(stored(tmp_path))
    assert 8 <= kept <= sent <= kept + 8


def test_a_run_that_is_stopped_before_it_has_begun_sends_nothing(monkeypatch):
    run_loop = asyncio.run
    monkeypatch.setattr("ragnb.llm.progress.wait", Mock(side_effect=KeyboardInterrupt))

    def late(work):  # as while the client is imported
        time.sleep(0.3)
        return run_loop(work)

    monkeypatch.setattr("asyncio.run", late)
    with FaultServer() as server, Store(":memory:") as store:
        with pytest.raises(KeyboardInterrupt):
            complete(chat(100), model="m", **server.options | {"store": store})
        time.sleep(0.5)  # a thread that went on would send by now
        assert not server.calls


def test_two_processes_with_one_store_pay_for_every_request_once(tmp_path):
    outs = ["a.json", "b.json"]
    with slow(0.05) as server:
        runs = [start(run, 400, server.base_url, tmp_path, 16, out) for out in outs]
        for process in runs:
            process.join()
    assert [process.exitcode for process in runs] == [0, 0]
    assert [json.loads((tmp_path / out).read_text()) for out in outs] == [expected(chat(400))] * 2
    assert (len(server.counts), len(server.calls)) == (400, 400)


def test_the_claims_of_a_killed_process_hold_nobody_up(tmp_path):
    with slow(1.0) as server:
        arguments = [run, 24, server.base_url, tmp_path, 8]
        killed = start(*arguments)
        wait_for_more(killed, tmp_path, 8)
        kill(killed)
        assert n_claims(tmp_path) > 0, "it was killed between two requests"
        began = time.monotonic()
        finish(*arguments)
        assert time.monotonic() - began < LEASE_SECONDS - 5
    assert n_claims(tmp_path) == 0
