"""Requests and the store of their replies: one append-only SQLite file, so that no reply is lost or paid for twice.

`canonical_requests` turns the rows of a frame into canonical requests: everything that can change a reply (model, messages
or prompt, parameters, number of the repeat), but not the endpoint's key and address. The hash of a canonical request is the
key of its reply. The first reply to a request is kept. Any SQLite tool can read a store::

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
import threading
import time
import uuid
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.errors import InputError, StoreError
from ragnb.records import is_missing, require_columns

Request = dict[str, Any]
"""``model``, ``messages`` or ``prompt``, ``parameters`` and ``repeat``: everything that can change a reply."""

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


_AMONG = "WHERE key IN (SELECT value FROM json_each(?))"


def canonical(request: Mapping[str, Any]) -> str:
    """One spelling of a request: JSON with sorted keys and no spaces, ASCII only.

    >>> canonical({"model": "m", "repeat": 0, "prompt": "é"})
    '{"model":"m","prompt":"\\\\u00e9","repeat":0}'
    """
    return json.dumps(request, sort_keys=True, separators=(",", ":"), allow_nan=False)


def request_key(request: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical request, in hex."""
    return hashlib.sha256(canonical(request).encode("ascii")).hexdigest()


def canonical_requests(requests: pd.DataFrame, model: str, repeats: int = 1) -> list[Request]:
    """Return the canonical requests of a frame row by row, each ``repeats`` times in a row.

    Raises
    ------
    InputError
        There is no column ``messages`` or ``prompt``, a request is empty or not JSON serialisable, the name of the model is
        missing, or ``repeats`` is less than one.
    """
    if not isinstance(model, str) or not model.strip():
        raise InputError(
            f"a run needs the name of a model; got {model!r:.80}; name one that the endpoint has"
        )
    if not isinstance(repeats, int) or repeats < 1:
        raise InputError(
            f"repeats needs a whole number from 1 up; got {repeats!r}; 1 asks every request once"
        )
    columns = getattr(requests, "columns", ())
    kind = "prompt" if "prompt" in columns and "messages" not in columns else "messages"
    require_columns(requests, [kind], "a run")
    options = requests["parameters"] if "parameters" in requests else [None] * len(requests)
    asked = []
    for place, (content, given) in enumerate(zip(requests[kind], options, strict=True)):
        parameters = _parameters(given, place)
        _check_request(kind, content, parameters, place)
        request = {"model": model, kind: content, "parameters": parameters}
        asked += [{**request, "repeat": repeat} for repeat in range(repeats)]
    return asked


def _parameters(given: Any, place: int) -> Mapping[str, Any]:
    """Parameters without those that are None, because frames contain None for what a row does not set."""
    if is_missing(given):
        return {}
    if not isinstance(given, Mapping):
        raise InputError(
            f"request {place} needs a mapping of parameters; got {given!r:.80}; write {{'temperature': 0}}"
        )
    return {
        name: value.item() if hasattr(value, "item") else value  # numpy's numbers as Python's
        for name, value in given.items()
        if value is not None
    }


def _check_request(kind: str, content: Any, parameters: Mapping[str, Any], place: int) -> None:
    right = (
        isinstance(content, str)
        if kind == "prompt"
        else isinstance(content, list) and all(isinstance(message, Mapping) for message in content)
    )
    if not right or not content:
        wanted = "a text" if kind == "prompt" else "a list of messages, each with role and content,"
        raise InputError(
            f"request {place} needs {wanted} in {kind!r}; got {content!r:.80}; render it again"
        )
    for name, part in ((kind, content), ("parameters", parameters)):
        try:
            canonical(part)
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(
                f"request {place} needs {name} that JSON knows; got {error}; change it"
            ) from error
    if parameters.get("n", 1) != 1:
        raise InputError(
            f"request {place} must ask for one reply, got n = {parameters['n']!r}; use repeats instead"
        )
    for name in ("max_tokens", "max_completion_tokens"):
        most = parameters.get(name, 1)
        if not isinstance(most, int) or most < 1:
            raise InputError(
                f"request {place} needs a whole number in {name}; got {most!r}; 64 is a short answer"
            )


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
        self._lock = threading.RLock()
        self._has_checksums = False  # unknown, or made by an earlier version
        with self._reporting():
            if self.path != ":memory:":
                Path(self.path).parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                self.path, timeout=_WAIT_SECONDS, check_same_thread=False, isolation_level=None
            )
        self._db.row_factory = sqlite3.Row
        try:
            self._prepare()
        except BaseException:
            self._db.close()
            raise

    @staticmethod
    def open(store: "Store | str | Path") -> "AbstractContextManager[Store]":
        """Open a file for a ``with`` block; a `Store` that is already open stays open afterwards."""
        return nullcontext(store) if isinstance(store, Store) else Store(store)

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
        with self._change() as db:
            if not self._look_for_checksums():
                db.execute("ALTER TABLE replies ADD COLUMN checksum INTEGER")
            db.executemany(_INSERT, ([*row, _checksum(row)] for row in rows))

    def get(self, keys: Iterable[str]) -> dict[str, Reply]:
        """Stored replies by key; keys that are not stored are left out."""
        return {reply.key: reply for reply in self._read(_AMONG, [json.dumps(list(keys))])}

    def known(self, keys: Iterable[str]) -> set[str]:
        """Those of the keys that are stored."""
        rows = self._execute(f"SELECT key FROM replies {_AMONG}", [json.dumps(list(keys))])
        return {row[0] for row in rows}

    def note_failures(self, reasons: Mapping[str, str]) -> None:
        """Store why requests got no reply, so that a replay can report it; the next run asks them again."""
        with self._change() as db:
            db.execute(
                "CREATE TABLE IF NOT EXISTS failures (key TEXT PRIMARY KEY, reason TEXT NOT NULL)"
            )
            db.executemany("INSERT OR REPLACE INTO failures VALUES (?, ?)", list(reasons.items()))

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
        """Whether the table has the column."""
        if not self._has_checksums:
            columns = self._execute("PRAGMA table_info(replies)")
            self._has_checksums = "checksum" in {column["name"] for column in columns}
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
        with self._reporting():
            self._switch_to_wal()
        with self._change() as db:
            db.execute(_SCHEMA.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS", 1))
            db.execute(f"PRAGMA application_id = {_APPLICATION}")
            db.execute(f"PRAGMA user_version = {VERSION}")

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

    def _execute(self, query: str, values: Iterable[Any] = ()) -> list[sqlite3.Row]:
        with self._lock, self._reporting():
            return self._db.execute(query, list(values)).fetchall()

    @contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        """One transaction, during which no other thread or process can write; a change within a change is part of it."""
        with self._lock, self._reporting():
            if self._db.in_transaction:
                yield self._db
                return
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Raise a `StoreError` that says what to do where SQLite raises an error."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            text = str(error)
            signs = (advice for sign, advice in _ADVICE.items() if sign in text)
            advice = next(signs, "check the path and the disk")
            raise StoreError(
                f"a store needs an SQLite file that it can read and write; got {text!r} for {self.path!r}; {advice}"
            ) from error


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


def _is_whole(row: sqlite3.Row) -> bool:
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
        with self._store._change() as db:
            owner, until, stored = db.execute(query, {"key": key}).fetchone()
            if stored:
                return "stored"
            if owner and owner != self._owner and until > time.time() and _may_be_alive(owner):
                return "theirs"
            db.execute(
                "INSERT OR REPLACE INTO claims VALUES (?, ?, ?)",
                (key, self._owner, time.time() + LEASE_SECONDS),
            )
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
