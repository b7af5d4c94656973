import gzip
import json
import random
import sqlite3
import time
from dataclasses import astuple, fields

import pytest

from ragnb.errors import StoreError
from ragnb.llm.batch import status
from ragnb.llm.store import LEASE_SECONDS, Reply, Store, canonical, new_owner, request_key


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
        assert store.known([reply(0).key])
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
    assert status("~/runs/s.sqlite").empty
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
        assert reply(0).key in again.known([reply(0).key])


def test_a_request_is_claimed_by_one_run_at_a_time_until_its_reply_or_its_lease_ends(
    tmp_path, monkeypatch
):
    now, a, b = time.time(), new_owner(), new_owner()
    with Store(tmp_path / "s.sqlite") as store, Store(tmp_path / "s.sqlite") as other:
        claims = [store.claim("k", a), other.claim("k", b), other.claim("l", b)]
        assert claims == ["ours", "theirs", "ours"]
        other.release_claims(b)
        assert [store.claim("l", a), other.claim("k", b)] == ["ours", "theirs"]
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
