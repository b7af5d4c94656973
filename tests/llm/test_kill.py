"""A run that is killed at any moment and started again: nothing is lost, nothing that was stored is asked or changed."""

import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from ragnb.llm.store import LEASE_SECONDS

RUN = """
import sys, openai, openai.resources.chat, pandas as pd
from ragnb.llm.client import complete
n, base_url, store, concurrency, out = int(sys.argv[1]), *sys.argv[2:4], int(sys.argv[4]), sys.argv[5]
requests = pd.DataFrame({"messages": [[{"role": "user", "content": f"question {i}"}] for i in range(n)]})
print("started", flush=True)
replies = complete(requests, model="m", base_url=base_url, store=store, max_concurrency=concurrency, progress=False)
replies["response"].to_json(out, orient="values")
"""


def start(arguments):
    return subprocess.Popen(
        [sys.executable, "-c", RUN, *map(str, arguments)], stdout=subprocess.PIPE
    )


def stored(path) -> dict[str, str]:
    if not Path(path).exists():
        return {}
    with sqlite3.connect(path) as db:
        try:
            return dict(db.execute("SELECT key, response FROM replies"))
        except sqlite3.OperationalError:  # killed before the table was made
            return {}


def wait_for_more(run, path, n):
    """Wait until so many replies are stored: on a busy machine it may take seconds until the first one is."""
    while run.poll() is None and len(stored(path)) < n:
        time.sleep(0.005)


def kill_and_resume(tmp_path, faults, *, requests, kills, concurrency, delay):
    script = faults.__spec__.origin
    server = subprocess.Popen(
        [sys.executable, script, str(delay)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    rng = random.Random(7)
    try:
        base_url = server.stdout.readline().strip()
        arguments = [requests, base_url, tmp_path / "s.sqlite", concurrency, tmp_path / "out.json"]
        before: dict[str, str] = {}
        for number in range(kills):
            run = start(arguments)
            run.stdout.readline()
            if number % 2:
                time.sleep(rng.uniform(0.0, 1.2))
            else:
                wait_for_more(run, tmp_path / "s.sqlite", len(before) + rng.randint(1, 30))
            run.send_signal(signal.SIGKILL)
            run.wait()
            now = stored(tmp_path / "s.sqlite")
            assert before.items() <= now.items(), "a stored reply changed or disappeared"
            before = now
        assert start(arguments).wait() == 0
        counts = json.load(urllib.request.urlopen(base_url + "/counts"))
    finally:
        server.kill()
        server.communicate()
    responses = json.loads((tmp_path / "out.json").read_text())
    wanted = [
        faults.expected_text({"messages": [{"role": "user", "content": f"question {i}"}]})
        for i in range(requests)
    ]
    assert responses == wanted
    assert before.items() <= stored(tmp_path / "s.sqlite").items()
    assert len(stored(tmp_path / "s.sqlite")) == requests
    assert sum(counts.values()) <= requests + kills * concurrency
    return before, counts


def test_a_killed_run_is_resumed_without_paying_twice(tmp_path, faults):
    before, _counts = kill_and_resume(
        tmp_path, faults, requests=300, kills=4, concurrency=8, delay=0.05
    )
    assert 0 < len(before) < 300, "the kills fell outside the run, so they tested nothing"


@pytest.mark.slow
def test_fifty_kills_during_two_thousand_requests(tmp_path, faults):
    before, _counts = kill_and_resume(
        tmp_path, faults, requests=2000, kills=50, concurrency=16, delay=0.25
    )
    assert len(before) > 0


def test_an_interrupted_run_stops_at_once_and_keeps_what_came(tmp_path, faults):
    """Ctrl-C, or the stop button of a notebook."""
    with faults.FaultServer(
        lambda call: faults.Answer(text=faults.expected_text(call.body), delay=0.1)
    ) as server:
        run = start([500, server.base_url, tmp_path / "s.sqlite", 4, tmp_path / "out.json"])
        while len(stored(tmp_path / "s.sqlite")) < 8:
            time.sleep(0.02)
        run.send_signal(signal.SIGINT)
        assert run.wait(timeout=20) != 0
        asked = len(server.calls)
    assert not (tmp_path / "out.json").exists()
    kept = len(stored(tmp_path / "s.sqlite"))
    assert 8 <= kept <= asked <= kept + 8


def start_server(faults, delay):
    command = [sys.executable, faults.__spec__.origin, str(delay)]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return server, server.stdout.readline().strip()


def test_two_processes_with_one_store_pay_for_every_request_once(tmp_path, faults):
    server, base_url = start_server(faults, 0.05)
    try:
        outs = [tmp_path / "a.json", tmp_path / "b.json"]
        runs = [start([400, base_url, tmp_path / "s.sqlite", 16, out]) for out in outs]
        assert [run.wait() for run in runs] == [0, 0]
        counts = json.load(urllib.request.urlopen(base_url + "/counts"))
    finally:
        server.kill()
        server.communicate()
    wanted = [
        faults.expected_text({"messages": [{"role": "user", "content": f"question {i}"}]})
        for i in range(400)
    ]
    assert [json.loads(out.read_text()) for out in outs] == [wanted, wanted]
    assert (len(counts), sum(counts.values())) == (400, 400)


def test_the_claims_of_a_killed_process_hold_nobody_up(tmp_path, faults):
    server, base_url = start_server(faults, 1.0)
    try:
        arguments = [24, base_url, tmp_path / "s.sqlite", 8, tmp_path / "out.json"]
        killed = start(arguments)
        wait_for_more(killed, tmp_path / "s.sqlite", 8)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        with sqlite3.connect(tmp_path / "s.sqlite") as db:
            assert db.execute("SELECT count(*) FROM claims").fetchone()[0] > 0, (
                "it was killed between two requests"
            )
        began = time.monotonic()
        assert start(arguments).wait() == 0
        assert time.monotonic() - began < LEASE_SECONDS - 5
    finally:
        server.kill()
        server.communicate()
    with sqlite3.connect(tmp_path / "s.sqlite") as db:
        assert db.execute("SELECT count(*) FROM claims").fetchone()[0] == 0
