import gzip
import json
import random
import shutil
import sqlite3
import subprocess
import sys
import time
import warnings
from dataclasses import astuple, fields

import pandas as pd
import pytest

from ragnb.errors import StoreError
from ragnb.llm import Reply, Store, request_key, write_batch
from ragnb.llm.store import LEASE_SECONDS, canonical, new_owner


def reply(number: int, response: str | None = "r") -> Reply:
    request = {"model": "m", "prompt": f"p{number} 語", "parameters": {}, "repeat": 0}
    return Reply(
        key=request_key(request),
        request=canonical(request),
        response=response,
        prompt_tokens=number,
    )


def test_the_first_reply_to_a_request_stands(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        store.add([reply(1, "first")])
        store.add([reply(1, "second"), reply(2)])
        assert store.get([reply(1).key])[reply(1).key].response == "first"
        assert len(store) == 2


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
        (b"no json", "r.jsonl' cannot be read as stored replies"),
        (b'{"key": "0", "request": "{}", "response": "x"}', "'0' is not the hash of its request"),
    ],
)
def test_a_line_that_is_no_reply_is_refused(tmp_path, line, words):
    (tmp_path / "r.jsonl").write_bytes(line)
    with Store(":memory:") as store, pytest.raises(StoreError, match=words):
        store.read_jsonl(tmp_path / "r.jsonl")


def test_a_file_that_is_no_store_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("my notes\n" * 200)
    with pytest.raises(StoreError, match="cannot be read or written: file is not a database"):
        Store(path)
    assert path.read_text().startswith("my notes")
    with sqlite3.connect(tmp_path / "other.sqlite") as db:
        db.execute("CREATE TABLE mine (x)")
    with pytest.raises(StoreError, match="is not a store of version 1"):
        Store(tmp_path / "other.sqlite")


def test_a_read_only_store_can_be_read_and_says_why_it_cannot_be_written(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        store.add([reply(0)])
        store.query("PRAGMA query_only = ON")
        assert store.stored_keys([reply(0).key])
        with pytest.raises(StoreError, match="readonly.*Check the path, the permissions"):
            store.add([reply(1)])


def test_a_tilde_is_the_home_folder(tmp_path, monkeypatch):
    home, here = tmp_path / "home", tmp_path / "here"
    here.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(here)
    with Store("~/runs/s.sqlite") as store:
        store.add([reply(0)])
        assert store.path == str(home / "runs" / "s.sqlite")
        assert store.write_jsonl("~/runs/r.jsonl") == 1
        assert store.read_jsonl("~/runs/r.jsonl") == 0
    requests = pd.DataFrame({"prompt": ["p"]})
    write_batch(requests, "~/runs/b.jsonl", model="m", store="~/runs/s.sqlite")
    assert (home / "runs" / "b.jsonl").exists()
    assert list(here.iterdir()) == []


def test_a_full_disk_loses_nothing_that_was_stored(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        store.add([reply(0)])
        pages = store.query("PRAGMA page_count")[0][0]
        store.query(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(StoreError, match="disk is full.*what was stored before is kept"):
            for n in range(1, 1000):
                store.add([reply(n, "x" * 3000)])
        assert store.get([reply(0).key])
    with Store(tmp_path / "s.sqlite") as again:
        assert reply(0).key in again.stored_keys([reply(0).key])


def test_a_request_is_claimed_by_one_run_at_a_time_until_its_reply_or_its_lease_ends(
    tmp_path, monkeypatch
):
    now, a, b = time.time(), new_owner(), new_owner()
    with Store(tmp_path / "s.sqlite") as store, Store(tmp_path / "s.sqlite") as other:
        claims = [store.claim("k", a), other.claim("k", b), other.claim("l", b)]
        assert claims == ["ours", "theirs", "ours"]
        other.release_claims(b)
        assert [store.claim("l", a), other.claim("k", b)] == ["ours", "theirs"]
        assert store.claim("k", a) == "theirs", "one worker of the run has claimed it already"
        store.claim(reply(1).key, a)
        store.add([reply(1)])
        assert other.claim(reply(1).key, b) == "stored"
        monkeypatch.setattr("time.time", lambda: now + LEASE_SECONDS + 1)
        assert other.claim("l", b) == "ours"
        store.renew_claims(a)
        assert other.claim("k", b) == "theirs", "it was renewed"


def test_no_flipped_bit_turns_a_reply_into_another(tmp_path):
    """300 random bits of a store, flipped one at a time; without checksums 166 of them are read as other replies."""
    made = {
        each.key: each for each in (reply(n, f"answer {n} " + "text " * 40) for n in range(100))
    }
    with Store(tmp_path / "s.sqlite") as store:
        store.add(made.values())
        store.query("PRAGMA wal_checkpoint(TRUNCATE)")
    content = (tmp_path / "s.sqlite").read_bytes()
    rng, refused = random.Random(1), 0
    for n in range(300):
        bit = rng.randrange(8 * len(content))
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        (path := tmp_path / f"{n}.sqlite").write_bytes(flipped)
        try:
            with Store(path) as store:
                assert store.get(made).items() <= made.items()
                assert {each.key: each for each in store} == made
        except StoreError:
            refused += 1
    assert 150 < refused < 290, "flips in the unused parts of pages do no harm"


def test_a_damaged_reply_is_refused_with_what_to_do_and_the_others_are_read(tmp_path):
    path, (one, two) = tmp_path / "s.sqlite", (reply(1, "Fleming"), reply(2, "Curie"))
    with Store(path) as store:
        store.add([one, two])
    with sqlite3.connect(path) as db:
        db.execute("UPDATE replies SET response = 'Flemins' WHERE key = ?", [one.key])
    with Store(path) as store:
        assert store.get([two.key]) == {two.key: two}
        words = f"key '{one.key}' in .* is damaged.*delete this row.*send the request again"
        for read in (lambda: store.get([one.key, two.key]), lambda: list(store)):
            with pytest.raises(StoreError, match=words):
                read()


def test_a_store_without_checksums_is_read_and_gets_them_for_what_is_added(tmp_path):
    path, old = tmp_path / "old.sqlite", [reply(1, "old"), reply(2, "old")]
    names = [field.name for field in fields(Reply)]
    with sqlite3.connect(path) as db:  # as version 0.1 made it
        db.execute(f"CREATE TABLE replies ({', '.join(names)}, PRIMARY KEY (key)) WITHOUT ROWID")
        db.execute(f"PRAGMA application_id = {0x7261676E}")
        db.execute("PRAGMA user_version = 1")
        marks = ", ".join("?" * len(names))
        db.executemany(f"INSERT INTO replies VALUES ({marks})", map(astuple, old))
    with Store(path) as store, Store(path) as other:
        assert list(store) == sorted(old, key=lambda each: each.key)
        other.add([reply(3, "new")])
        assert len(store.get(reply(n).key for n in (1, 2, 3))) == 3
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM replies WHERE checksum IS NULL").fetchone() == (2,)


# ---- files that were changed by others -----------------------------------------------------------

WRITER = """
import os, signal, sys
from ragnb.llm.store import Reply, Store, canonical, request_key
store = Store(sys.argv[1])
for n in range(30):
    request = {"model": "m", "prompt": f"p{n}", "parameters": {}, "repeat": 0}
    store.add([Reply(request_key(request), canonical(request), "x" * 300)])
os.kill(os.getpid(), signal.SIGKILL)
"""


def flipped(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


LOGS = [  # what became of the log of a killed process, and what is said about it
    (lambda content: content, None),
    (lambda content: content[: len(content) // 2], "was cut off"),
    (lambda content: content[: 32 + 4120 * 5], "was cut off"),
    (lambda content: b"", "is missing"),
    (lambda content: None, "is missing"),
    (lambda content: bytes(len(content)), "is damaged"),
    (flipped, "is damaged"),
]


@pytest.mark.parametrize(("change", "words"), LOGS, ids=lambda value: str(value)[:20])
def test_a_log_that_lost_replies_is_said_in_one_line(tmp_path, change, words):
    path, log = tmp_path / "s.sqlite", tmp_path / "s.sqlite-wal"
    subprocess.run([sys.executable, "-c", WRITER, str(path)], check=False)
    content = change(log.read_bytes())
    if content is None:
        log.unlink()
    else:
        log.write_bytes(content)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with Store(path) as store:
            n_replies = len(store)
        with Store(path) as again:
            assert len(again) == n_replies
    said = [str(each.message) for each in warned]
    if words is None:
        assert (n_replies, said) == (30, [])
        return
    assert n_replies < 30
    (sentence,) = said
    assert sentence.startswith(
        f"The log of the store '{path}' {words}, so replies of the last run may be missing."
    )
    assert "\n" not in sentence


def test_a_store_that_others_use_or_used_in_good_order_lost_nothing(tmp_path):
    path = tmp_path / "s.sqlite"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Store(path) as store:
            for n in range(20):
                store.add([reply(n)])
                with Store(path) as other:
                    assert len(other) == n + 1
        with Store(path) as store:
            assert len(store) == 20


CHANGES = [
    ("CREATE TRIGGER t AFTER INSERT ON replies BEGIN DELETE FROM replies; END", "the trigger 't'"),
    ("CREATE VIEW v AS SELECT * FROM replies", "the view 'v'"),
    ("CREATE UNIQUE INDEX u ON replies (response)", "the index 'u'"),
    ("ALTER TABLE replies ADD COLUMN verdict TEXT", "other columns in the table 'replies'"),
    ("ALTER TABLE claims RENAME COLUMN owner TO holder", "other columns in the table 'claims'"),
    (
        "ALTER TABLE replies RENAME TO r; CREATE VIEW replies AS SELECT * FROM r",
        "the view 'replies'",
    ),
    (
        "DROP TABLE claims; CREATE TABLE claims (key, owner, until)",
        "other columns in the table 'claims'",
    ),
]


@pytest.mark.parametrize(("change", "words"), CHANGES)
def test_a_store_whose_tables_were_changed_by_hand_is_refused(tmp_path, change, words):
    path = tmp_path / "s.sqlite"
    with Store(path) as store:
        store.add([reply(0)])
    with sqlite3.connect(path) as db:
        db.executescript(change)
    content = path.read_bytes()
    with pytest.raises(
        StoreError, match="is not a store as ragnb makes it, because it has"
    ) as error:
        Store(path)
    assert words in str(error.value)
    assert path.read_bytes() == content


def test_an_index_that_changes_nothing_is_accepted(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        store.add([reply(0)])
        store.query("CREATE INDEX made ON replies (created)")
    with Store(tmp_path / "s.sqlite") as store:
        assert len(store) == 1


@pytest.mark.parametrize("how", ["deleted", "replaced", "folder deleted"])
def test_a_store_that_vanishes_during_a_run_is_said_and_its_replies_are_saved(tmp_path, how):
    folder = tmp_path / "runs"
    path = folder / "s.sqlite"
    with Store(path) as store:
        store.add([reply(0)])
        if how == "folder deleted":
            shutil.rmtree(folder)
        else:
            for name in ("s.sqlite", "s.sqlite-wal", "s.sqlite-shm"):
                (folder / name).unlink(missing_ok=True)
        if how == "replaced":
            path.write_bytes(b"")
        with pytest.raises(
            StoreError, match="was deleted, moved or replaced while it was in use"
        ) as error:
            store.add([reply(1)])
    (rescued,) = folder.glob("s.sqlite.rescued-*.sqlite")
    assert str(rescued) in str(error.value)
    with Store(rescued) as saved:
        assert {each.key for each in saved} == {reply(0).key, reply(1).key}


def test_a_file_of_replies_that_is_nested_too_deeply_is_refused_in_one_sentence(tmp_path):
    (tmp_path / "r.jsonl").write_text('{"key": ' + "[" * 100_000 + "]" * 100_000 + "}")
    with (
        Store(":memory:") as store,
        pytest.raises(StoreError, match="its JSON is nested too deeply"),
    ):
        store.read_jsonl(tmp_path / "r.jsonl")
