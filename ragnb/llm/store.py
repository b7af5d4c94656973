"""The store of replies: one append-only SQLite file, so that nothing paid for is lost or paid for twice.

A reply is kept under the hash of all that can change it (model, messages or prompt, parameters, number of the repeat), never
of the key or the address. The first reply to a request stands; a store is readable with any SQLite tool::

    SELECT key, request, response, finish_reason, prompt_tokens, completion_tokens FROM replies;

A killed process loses nothing that was stored (WAL, ``synchronous=NORMAL``); a power cut may lose the last moments.

Every reply has a checksum, which is verified when the reply is read. A damaged reply is an error: skipping it would ask, and
pay for, its request again without a word, and would lose what can still be read of it. Stores that an earlier version made
have no checksums; they are read as before and get checksums for the replies that are added.
"""

import gzip
import hashlib
import json
import os
import socket
import sqlite3
import sys
import threading
import time
import uuid
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from ragnb.errors import StoreError

VERSION = 1
_WAIT_SECONDS = 60.0
LEASE_SECONDS = 30.0  # a claim that nobody has renewed for so long is void
_APPLICATION = 0x7261676E  # 'ragn'
_SCHEMA = """
CREATE TABLE replies (
    key TEXT PRIMARY KEY,            -- SHA-256 of the canonical request
    request TEXT NOT NULL,           -- canonical JSON: model, messages or prompt, parameters, repeat
    response TEXT,                   -- the model's text; NULL when it sent none
    finish_reason TEXT,
    prompt_tokens INTEGER,
    completion_tokens INTEGER,
    served_model TEXT,               -- model name as the endpoint gave it
    system_fingerprint TEXT,
    extra TEXT,                      -- JSON of what else came: reasoning, refusal, log probabilities
    seconds REAL,                    -- from sending to receiving
    created TEXT,                    -- UTC, ISO 8601
    checksum INTEGER                 -- CRC-32 of the other columns, see _checksum; NULL in rows of earlier versions
) WITHOUT ROWID
"""


@dataclass(frozen=True, slots=True)
class Reply:
    """One stored reply; the fields are the columns of the table ``replies``."""

    key: str
    request: str
    response: str | None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    served_model: str | None = None
    system_fingerprint: str | None = None
    extra: str | None = None
    seconds: float | None = None
    created: str | None = None


_NAMES = [field.name for field in fields(Reply)]
_INSERT = f"INSERT OR IGNORE INTO replies ({', '.join(_NAMES)}, checksum) VALUES ({', '.join('?' * (len(_NAMES) + 1))})"


def canonical(request: Mapping[str, Any]) -> str:
    """One spelling of a request: JSON with sorted keys and no spaces, ASCII only.

    >>> canonical({"model": "m", "repeat": 0, "prompt": "é"})
    '{"model":"m","prompt":"\\\\u00e9","repeat":0}'
    """
    return json.dumps(request, sort_keys=True, separators=(",", ":"), allow_nan=False)


def request_key(request: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical request, in hex."""
    return hashlib.sha256(canonical(request).encode("ascii")).hexdigest()


class Store:
    """Replies in one SQLite file; several processes may use it at once.

    `ragnb.complete` records which requests it is currently sending, so that another process with the same store does
    not ask them too but takes their replies from the store.

    Parameters
    ----------
    path
        The file, made when it does not exist, ``~`` being the home folder; ``":memory:"`` keeps replies for the life of the
        object only.

    Raises
    ------
    StoreError
        The file is no SQLite database, is of another version, corrupt, or cannot be opened or written, or a reply in it is
        damaged.
    """

    def __init__(self, path: str | Path) -> None:
        if not str(path).strip():
            raise StoreError(
                "a store needs a path; got an empty one, which would keep nothing; name a file"
            )
        self.path = os.path.expanduser(str(path))
        self._lock = threading.Lock()
        self._has_checksums = False  # unknown, or made by an earlier version
        try:
            if self.path != ":memory:":
                Path(self.path).parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                self.path, timeout=_WAIT_SECONDS, check_same_thread=False, isolation_level=None
            )
        except (sqlite3.Error, OSError) as error:
            raise self._error(error) from error
        try:
            self._prepare()
        except BaseException:
            self._db.close()
            raise

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return int(self._execute("SELECT count(*) FROM replies")[0][0])

    def __iter__(self) -> Iterator[Reply]:
        return iter(self._read("ORDER BY created, key"))

    def __repr__(self) -> str:
        try:
            return f"Store({self.path!r}, {len(self)} replies)"
        except StoreError:  # closed: a traceback that shows it must not fail in turn
            return f"Store({self.path!r}, closed or unreadable)"

    def close(self) -> None:
        """Close the file; the object cannot be used afterwards."""
        self._db.close()

    def add(self, replies: Iterable[Reply]) -> None:
        """Append replies in one transaction; a key that is already stored keeps its first reply."""
        rows = [[getattr(reply, name) for name in _NAMES] for reply in replies]
        try:
            with self._lock, _transaction(self._db) as db:
                if not self._look_for_checksums():
                    db.execute("ALTER TABLE replies ADD COLUMN checksum INTEGER")
                db.executemany(_INSERT, ([*row, _checksum(row)] for row in rows))
        except sqlite3.Error as error:
            raise self._error(error) from error

    def get(self, keys: Iterable[str]) -> dict[str, Reply]:
        """Stored replies by key; keys that are not stored are left out."""
        wanted, found = list(dict.fromkeys(keys)), {}
        for start in range(0, len(wanted), 500):
            some = wanted[start : start + 500]
            replies = self._read(f"WHERE key IN ({', '.join('?' * len(some))})", some)
            found.update({reply.key: reply for reply in replies})
        return found

    def known(self, keys: Iterable[str]) -> set[str]:
        """Those of the keys that are stored."""
        wanted, found = list(dict.fromkeys(keys)), set[str]()
        for start in range(0, len(wanted), 500):
            some = wanted[start : start + 500]
            query = f"SELECT key FROM replies WHERE key IN ({', '.join('?' * len(some))})"
            found.update(row[0] for row in self._execute(query, some))
        return found

    def note_failures(self, reasons: Mapping[str, str]) -> None:
        """Remember why requests got no reply, so that a replay can say it; they are asked again by the next run."""
        try:
            with self._lock, _transaction(self._db):
                self._db.execute(
                    "CREATE TABLE IF NOT EXISTS failures (key TEXT PRIMARY KEY, reason TEXT NOT NULL)"
                )
                self._db.executemany(
                    "INSERT OR REPLACE INTO failures VALUES (?, ?)", list(reasons.items())
                )
        except sqlite3.Error as error:
            raise self._error(error) from error

    def failures(self) -> dict[str, str]:
        """Reasons of requests that have no reply, as their latest run gave them, by key."""
        if not self._execute("SELECT 1 FROM sqlite_master WHERE name = 'failures'"):
            return {}
        query = "SELECT key, reason FROM failures WHERE key NOT IN (SELECT key FROM replies)"
        return {row[0]: row[1] for row in self._execute(query)}

    def write_jsonl(self, path: str | Path, keys: Iterable[str] | None = None) -> int:
        """Write replies as JSON Lines (compressed when the name ends in ``.gz``), sorted; return their number.

        All replies by default, else those of ``keys``.
        """
        replies = sorted(
            self if keys is None else self.get(keys).values(), key=lambda reply: reply.request
        )  # like beside like: smaller, and the same every time
        lines = [json.dumps(asdict(reply), ensure_ascii=False) + "\n" for reply in replies]
        content = "".join(lines).encode("utf-8")
        _file(path).write_bytes(
            gzip.compress(content, 9, mtime=0) if str(path).endswith(".gz") else content
        )
        return len(lines)

    def read_jsonl(self, path: str | Path) -> int:
        """Append the replies of a JSON Lines file (compressed or not); return how many were new.

        Raises
        ------
        StoreError
            A line that is no stored reply, or whose key does not belong to its request.
        """
        try:
            content = _file(path).read_bytes()
            content = gzip.decompress(content) if str(path).endswith(".gz") else content
        except (OSError, EOFError, zlib.error) as error:
            raise StoreError(
                f"read_jsonl needs a whole file; got {error} for {str(path)!r}; check the path"
            ) from error
        before = len(self)
        self.add(
            _read_line(line, f"{Path(path).name} line {n}")
            for n, line in enumerate(content.splitlines(), 1)
            if line
        )
        return len(self) - before

    def sync(self, path: str | Path) -> int:
        """Make a JSON Lines file and this store hold the same replies; return how many were new to the store."""
        new = self.read_jsonl(path) if os.path.exists(_file(path)) else 0
        self.write_jsonl(path)  # a reply that both hold is the store's: the first one stands
        return new

    def _read(self, which: str, values: Iterable[Any] = ()) -> list[Reply]:
        """Replies after their checksums were verified."""
        with self._lock:
            checksum = "checksum" if self._look_for_checksums() else "NULL"
        rows = self._execute(f"SELECT {', '.join(_NAMES)}, {checksum} FROM replies {which}", values)
        damaged = next((row for row in rows if not _is_whole(row)), None)
        if damaged is not None:
            raise StoreError(
                f"The reply with the key {damaged[0]!r} in {self.path!r} is damaged: it does not match its checksum. "
                "Restore the file from a copy, or delete this row from the table replies to have the request asked again."
            )
        return [Reply(*row[:-1]) for row in rows]

    def _look_for_checksums(self) -> bool:
        """Whether the table has the column; called with the lock held."""
        if not self._has_checksums:
            try:
                columns = self._db.execute("PRAGMA table_info(replies)").fetchall()
            except sqlite3.Error as error:
                raise self._error(error) from error
            self._has_checksums = "checksum" in {column[1] for column in columns}
        return self._has_checksums

    def _prepare(self) -> None:
        empty = not self._execute(
            "SELECT 1 FROM sqlite_master LIMIT 1"
        )  # first: another caller may be making it just now
        ours = self._execute("PRAGMA application_id")[0][0] == _APPLICATION
        version = self._execute("PRAGMA user_version")[0][0]
        if not empty and not ours:
            raise StoreError(f"a store needs a file made by ragnb; got another SQLite database, {self.path!r}; "
                             "choose another path")  # fmt: skip
        if not empty and version != VERSION:
            raise StoreError(f"this ragnb needs a store of version {VERSION}; got version {version} in {self.path!r}; "
                             "use the ragnb that made it, or another path")  # fmt: skip
        if empty:
            self._create()
        self._execute("PRAGMA synchronous = NORMAL")

    def _create(self) -> None:
        try:
            self._switch_to_wal()
            with _transaction(self._db):
                self._db.execute(_SCHEMA.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS", 1))
                self._db.execute(f"PRAGMA application_id = {_APPLICATION}")
                self._db.execute(f"PRAGMA user_version = {VERSION}")
        except sqlite3.Error as error:
            raise self._error(error) from error

    def _switch_to_wal(self) -> None:
        """Turn the write-ahead log on; here SQLite does not wait for another caller who is doing the same, so this does."""
        deadline = time.monotonic() + _WAIT_SECONDS
        while True:
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def _execute(self, query: str, values: Iterable[Any] = ()) -> list[tuple[Any, ...]]:
        try:
            with self._lock:
                return self._db.execute(query, list(values)).fetchall()
        except sqlite3.Error as error:
            raise self._error(error) from error

    def _error(self, error: Exception) -> StoreError:
        text = str(error)
        advice = next(
            (advice for sign, advice in _ADVICE.items() if sign in text),
            "check the path and the disk",
        )
        return StoreError(
            f"a store needs an SQLite file that it can read and write; got {text!r} for {self.path!r}; {advice}"
        )


_ADVICE = {
    "not a database": "the file is something else or damaged, so choose another path",
    "malformed": "the file is corrupt, so copy what `sqlite3 FILE .recover` saves into a new store",
    "readonly": "make the file and its folder writable, or copy it",
    "disk is full": "free some space and run again: what was received before is kept",
    "unable to open": "check that the folder exists and is writable",
}


def _checksum(values: Iterable[Any]) -> int:
    """CRC-32 of a row; numbers count as floats, because SQLite returns 1.0 as 1 or 1 as 1.0 according to the column."""
    plain = [float(value) if isinstance(value, int | float) else value for value in values]
    return zlib.crc32(json.dumps(plain, default=repr).encode("ascii"))


def _is_whole(row: tuple[Any, ...]) -> bool:
    """Whether a row matches its checksum, or, where it has none, its key matches its request."""
    *values, checksum = row
    if checksum is None:
        return hashlib.sha256(str(row[1]).encode("utf-8")).hexdigest() == row[0]
    return bool(_checksum(values) == checksum)


class Claims:
    """The requests that one run is asking at this moment, in the store's file, where other runs see them.

    Two runs with one store therefore do not pay for the same request twice. A claim ends with `release`, when its process is
    no longer alive (seen from the same machine), or `LEASE_SECONDS` after the last `renew`.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._owner = f"{socket.gethostname()} {os.getpid()} {uuid.uuid4().hex}"
        self._change(
            "CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL)"
        )

    def take(self, key: str) -> str:
        """Claim a request: ``"ours"`` if that worked, ``"theirs"`` if another run asks it, ``"stored"`` if it is done."""
        query = "SELECT owner, until, EXISTS (SELECT 1 FROM replies WHERE key = :key) FROM (SELECT :key AS key) "
        query += "LEFT JOIN claims USING (key)"
        store = self._store
        try:
            with store._lock, _transaction(store._db) as db:
                owner, until, stored = db.execute(query, {"key": key}).fetchone()
                if stored:
                    return "stored"
                if owner and owner != self._owner and until > time.time() and _may_be_alive(owner):
                    return "theirs"
                db.execute(
                    "INSERT OR REPLACE INTO claims VALUES (?, ?, ?)",
                    (key, self._owner, time.time() + LEASE_SECONDS),
                )
        except sqlite3.Error as error:
            raise store._error(error) from error
        return "ours"

    def renew(self) -> None:
        """Keep all claims of this run for another `LEASE_SECONDS`."""
        self._change(
            "UPDATE claims SET until = ? WHERE owner = ?", time.time() + LEASE_SECONDS, self._owner
        )

    def release(self, key: str) -> None:
        """Give a claim back, with or without a reply."""
        self._change("DELETE FROM claims WHERE key = ? AND owner = ?", key, self._owner)

    def _change(self, statement: str, *values: Any) -> None:
        self._store._execute(statement, values)


def _may_be_alive(owner: str) -> bool:
    """Whether the process that made a claim may still run; only on its own machine can this be denied."""
    host, pid, _ = owner.rsplit(" ", 2)
    if host != socket.gethostname() or os.name == "nt":  # on Windows, os.kill would send a signal
        return True
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


class _transaction:  # noqa: N801  (used as a statement)
    """BEGIN IMMEDIATE ... COMMIT, or ROLLBACK."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db

    def __enter__(self) -> sqlite3.Connection:
        self.db.execute("BEGIN IMMEDIATE")
        return self.db

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.db.execute("COMMIT")
        elif self.db.in_transaction:
            self.db.execute("ROLLBACK")


def _file(path: str | Path) -> Path:
    """The file that a path names; ``~`` is the home folder."""
    return Path(os.path.expanduser(path))


def _read_line(line: bytes, where: str) -> Reply:
    try:
        reply = Reply(**json.loads(line))
        right = reply.key == hashlib.sha256(reply.request.encode("ascii")).hexdigest()
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise StoreError(
            f"{where} needs one stored reply as JSON; got {type(error).__name__}; remove the line"
        ) from error
    if not right:
        raise StoreError(
            f"{where} needs a key that is the hash of its request; got another; the line was altered"
        )
    return reply


def describe(path: str | Path) -> str:
    """What is in a store, in a few lines: replies by model, tokens, first and last day, and the newest reply.

    Raises
    ------
    StoreError
        There is no such file, or it is no store.
    """
    if not os.path.isfile(_file(path)):
        raise StoreError(
            f"describe needs a store that exists; got {str(path)!r}, which does not; check the path"
        )
    with Store(path) as store:
        rows = store._execute(
            "SELECT json_extract(request, '$.model'), count(*), sum(prompt_tokens), sum(completion_tokens), "
            "sum(response IS NULL), min(created), max(created) FROM replies GROUP BY 1 ORDER BY 1"
        )
        lines = [f"{path}: {len(list(store))} replies"]  # read, not counted, so that damage shows
        for model, n, sent, received, empty, first, last in rows:
            tokens = f"{sent or 0:,} prompt and {received or 0:,} completion tokens"
            lines.append(
                f"  {model}: {n} replies ({empty} without text), {tokens}, {str(first)[:10]} to {str(last)[:10]}"
            )
        newest = store._execute(
            "SELECT request, response FROM replies ORDER BY created DESC LIMIT 1"
        )
        lines += (
            [f"newest request: {newest[0][0][:300]}", f"newest reply:   {newest[0][1]!r:.300}"]
            if newest
            else []
        )
    return "\n".join(lines)


if __name__ == "__main__":
    try:
        print(
            describe(sys.argv[1]) if len(sys.argv) == 2 else "usage: python -m ragnb.llm.store FILE"
        )
    except StoreError as problem:
        sys.exit(str(problem))
