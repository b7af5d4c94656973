import gzip
import json
import os
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnb.errors import StoreError
from ragnb.llm.batch_ledger import open_ledger
from ragnb.llm.store import LEASE_SECONDS, Claims, Reply, Store, canonical, describe, request_key


def reply(number: int, response: str | None = "r") -> Reply:
    request = {"model": "m", "prompt": f"p{number} 語", "parameters": {}, "repeat": 0}
    return Reply(key=request_key(request), request=canonical(request), response=response, prompt_tokens=number)


def test_the_first_reply_to_a_request_stands(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        store.add([reply(1, "first")])
        store.add([reply(1, "second"), reply(2)])
        assert store.get([reply(1).key])[reply(1).key].response == "first"
        assert len(store) == 2


def test_what_was_stored_is_there_after_reopening_and_readable_with_plain_sqlite(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        store.add(reply(n) for n in range(1200))
        keys = [reply(n).key for n in range(1300)]
        assert len(store.get(keys)) == len(store.known(keys)) == 1200
    rows = sqlite3.connect(tmp_path / "s.sqlite").execute("SELECT request, response FROM replies").fetchall()
    assert len(rows) == 1200
    assert json.loads(rows[0][0])["model"] == "m"


def test_canonical_does_not_depend_on_the_order_of_keys_and_the_key_is_the_hash_of_it():
    import hashlib

    one, two = {"model": "m", "parameters": {"a": 1, "b": 2}}, {"parameters": {"b": 2, "a": 1}, "model": "m"}
    assert request_key(one) == request_key(two) == hashlib.sha256(canonical(one).encode()).hexdigest()
    assert request_key(one) != request_key({**one, "model": "n"})


@given(st.text(), st.floats(allow_nan=False, allow_infinity=False))
def test_any_text_has_a_key(text, number):
    request = {"model": "m", "prompt": text, "parameters": {"temperature": number}, "repeat": 0}
    assert json.loads(canonical(request)) == request
    assert len(request_key(request)) == 64


def test_a_failure_is_told_until_the_reply_is_there(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        assert store.failures() == {}
        store.note_failures({reply(0).key: "HTTP 500", reply(1).key: "超时"})
        store.add([reply(0)])
        assert store.failures() == {reply(1).key: "超时"}
    with Store(tmp_path / "s.sqlite") as store:
        store.add([reply(1, response=None)])
        assert store.failures() == {}


def test_json_lines_there_and_back(tmp_path):
    with Store(":memory:") as store:
        store.add(reply(n, f"é\n{n} 🧪") for n in range(5))
        for name in ("r.jsonl", "r.jsonl.gz"):
            assert store.write_jsonl(tmp_path / name) == 5
            with Store(":memory:") as other:
                assert other.read_jsonl(tmp_path / name) == 5
                assert other.read_jsonl(tmp_path / name) == 0
                assert list(other) == list(store)
    lines = gzip.decompress((tmp_path / "r.jsonl.gz").read_bytes()).splitlines()
    assert json.loads(lines[0])["response"].startswith("é")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"no json", "line 1 needs one stored reply"),
        (b'{"a": 1}', "line 1 needs one stored reply"),
        (b"[" * 100_000, "line 1 needs one stored reply as JSON; got RecursionError"),
        (json.dumps({"key": "0", "request": "{}", "response": "x"}).encode(), "the line was altered"),
    ],
)
def test_a_line_that_is_no_reply_is_refused(tmp_path, line, words):
    (tmp_path / "r.jsonl").write_bytes(line)
    with Store(":memory:") as store, pytest.raises(StoreError, match=words):
        store.read_jsonl(tmp_path / "r.jsonl")


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("my notes\n" * 200)
    with pytest.raises(StoreError, match="not a database.*choose another path"):
        Store(path)
    assert path.read_text().startswith("my notes")


def test_a_foreign_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE t (a)")
    with pytest.raises(StoreError, match="another SQLite database"):
        Store(path)
    assert sqlite3.connect(path).execute("SELECT name FROM sqlite_master").fetchall() == [("t",)]


def test_a_store_of_another_version_is_refused(tmp_path):
    path = tmp_path / "s.sqlite"
    Store(path).close()
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="version 1; got version 99"):
        Store(path)


def test_a_corrupt_store_says_so(tmp_path):
    path = tmp_path / "s.sqlite"
    with Store(path) as store:
        store.add(reply(n, "x" * 500) for n in range(200))
        store._execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(path.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(StoreError, match="malformed.*recover"), Store(path) as store:
        list(store)


def test_a_read_only_store_can_be_read_and_says_why_it_cannot_be_written(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        store.add([reply(0)])
        store._execute("PRAGMA query_only = ON")
        assert store.known([reply(0).key])
        with pytest.raises(StoreError, match="readonly.*make the file and its folder writable"):
            store.add([reply(1)])


def test_a_store_in_a_place_that_cannot_be_made_says_so(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="read and write"):
        Store(tmp_path / "file" / "s.sqlite")


def test_a_tilde_is_the_home_folder(tmp_path, monkeypatch):
    home, here = tmp_path / "home", tmp_path / "here"
    here.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(here)
    with Store("~/runs/s.sqlite") as store:
        store.add([reply(0)])
        assert store.path == str(home / "runs" / "s.sqlite")
        assert store.write_jsonl("~/runs/r.jsonl") == 1
        assert store.read_jsonl("~/runs/r.jsonl") == store.sync("~/runs/r.jsonl") == 0
    assert "1 replies" in describe("~/runs/s.sqlite")
    with open_ledger("~/runs/s.sqlite") as ledger:
        assert ledger.store.path == str(home / "runs" / "s.sqlite")
    assert list(here.iterdir()) == []


def test_a_full_disk_loses_nothing_that_was_stored(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        store.add([reply(0)])
        pages = store._execute("PRAGMA page_count")[0][0]
        store._execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(StoreError, match="disk is full.*what was received before is kept"):
            for n in range(1, 1000):
                store.add([reply(n, "x" * 3000)])
        assert store.get([reply(0).key])
    with Store(tmp_path / "s.sqlite") as again:
        assert reply(0).key in again.known([reply(0).key])


def test_threads_share_a_store(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        threads = [
            threading.Thread(target=lambda k=k: [store.add([reply(100 * k + n)]) for n in range(50)]) for k in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(store) == 200


WRITER = """
import sys
from ragnb.llm.batch_ledger import open_ledger
from ragnb.llm.store import Reply, Store, canonical, describe, request_key
store = Store(sys.argv[1])
for n in range(300):
    request = {"model": "m", "prompt": str(n), "parameters": {}, "repeat": 0}
    store.add([Reply(request_key(request), canonical(request), sys.argv[2])])
"""


def test_two_processes_write_at_once(tmp_path):
    path = str(tmp_path / "s.sqlite")
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, path, name]) for name in ("a", "b")]
    assert [writer.wait() for writer in writers] == [0, 0]
    with Store(path) as store:
        assert len(store) == 300


def test_a_store_waits_for_another_caller_who_is_making_it(tmp_path):
    """Turning the write-ahead log on is the one moment at which SQLite itself does not always wait."""
    other = sqlite3.connect(tmp_path / "s.sqlite", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor(1) as pool:
        made = pool.submit(lambda: len(Store(tmp_path / "s.sqlite")))
        with pytest.raises(TimeoutError):
            made.result(timeout=0.3)
        other.execute("ROLLBACK")
        assert made.result(timeout=30) == 0


def test_sync_makes_file_and_store_alike(tmp_path):
    with Store(":memory:") as one, Store(":memory:") as two:
        one.add([reply(1), reply(2)])
        two.add([reply(2), reply(3)])
        assert one.sync(tmp_path / "r.jsonl") == 0
        assert two.sync(tmp_path / "r.jsonl") == 1
        assert one.sync(tmp_path / "r.jsonl") == 1
        assert {r.key for r in one} == {r.key for r in two} == {reply(n).key for n in (1, 2, 3)}


def test_the_module_prints_what_is_in_a_store(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        store.add([reply(1, "olá"), reply(2, None)])
    command = [sys.executable, "-m", "ragnb.llm.store"]
    told = subprocess.run([*command, str(tmp_path / "s.sqlite")], capture_output=True, text=True)
    assert told.returncode == 0
    assert "2 replies" in told.stdout
    assert "m: 2 replies (1 without text), 3 prompt and 0 completion tokens" in told.stdout
    assert not told.stderr
    wrong = subprocess.run([*command, str(tmp_path / "none.sqlite")], capture_output=True, text=True)
    assert wrong.returncode == 1
    assert "needs a store that exists" in wrong.stderr
    assert not (tmp_path / "none.sqlite").exists()


def test_a_closed_store_can_still_be_shown(tmp_path):
    store = Store(tmp_path / "s.sqlite")
    store.close()
    assert repr(store) == f"Store({str(tmp_path / 's.sqlite')!r}, closed or unreadable)"


def test_a_request_is_claimed_by_one_run_at_a_time(tmp_path):
    with Store(tmp_path / "s.sqlite") as store, Store(tmp_path / "s.sqlite") as other:
        ours, theirs = Claims(store), Claims(other)
        assert [ours.take("k"), ours.take("k"), theirs.take("k"), theirs.take("l")] == ["ours", "ours", "theirs", "ours"]
        theirs.release("k")  # not theirs to give back
        assert theirs.take("k") == "theirs"
        ours.release("k")
        assert theirs.take("k") == "ours"
        store.add([reply(1)])
        assert theirs.take(reply(1).key) == ours.take(reply(1).key) == "stored"


def test_a_claim_ends_with_its_process_or_its_lease(tmp_path, monkeypatch):
    import socket
    import time

    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    here, now = socket.gethostname(), time.time()
    owners = {"dead": f"{here} {gone.pid} x", "alive": f"{here} {os.getpid()} x", "elsewhere": f"other {gone.pid} x"}
    with Store(tmp_path / "s.sqlite") as store:
        claims = Claims(store)
        for key, owner in owners.items():
            store._execute("INSERT INTO claims VALUES (?, ?, ?)", (key, owner, now + LEASE_SECONDS))
        assert [claims.take(key) for key in owners] == ["ours", "theirs", "theirs"]
        monkeypatch.setattr("time.time", lambda: now + LEASE_SECONDS + 1)
        claims.renew()
        other = Claims(store)
        assert [other.take(key) for key in owners] == ["theirs", "ours", "ours"], (
            "the first was renewed, the others have lapsed"
        )
