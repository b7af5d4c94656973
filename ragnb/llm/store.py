"""Requests and the store of their replies, an SQLite file in which each reply is stored once.

`canonical_requests` turns the rows of a frame into canonical requests. They contain everything that
can change a reply: model, messages or prompt, parameters, number of the repeat, and the name of the
endpoint, which is its address without secrets. The hash of a canonical request is the key of its reply.
The first reply to a request is kept. Any SQLite tool can read a store::

    SELECT key, request, response, finish_reason, prompt_tokens, completion_tokens FROM replies;

A killed process loses nothing that was stored; a power cut may lose the last moments.

Requests without an endpoint are those of stores that were made before endpoints were recorded, those
of the packaged models and those of recordings. Their replies count for every endpoint, so nothing
that was paid for is asked again; see `Store.as_stored_for`.

Every reply has a checksum, which is verified when the reply is read. A damaged reply is an error. If
ragnb skipped it, it would ask and pay for the request again without notice.
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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.cells import is_missing
from ragnb.columns import require_columns
from ragnb.errors import InputError, StoreError
from ragnb.garbage import collection_paused
from ragnb.llm.log import lost_log
from ragnb.printing import warn

Request = dict[str, Any]
"""``model``, ``messages`` or ``prompt``, ``parameters``, ``repeat`` and, unless it counts for every
endpoint, ``endpoint``: everything that can change a reply."""

VERSION = 1
LEASE_SECONDS = 15.0
"""Seconds after which a claim that was not renewed is void."""

MAX_RECORDING_BYTES = 2**31
"""Largest file of recorded replies that is read, after decompression."""

# Number in the header of an SQLite file that says which program it belongs to: the letters "ragn".
_APPLICATION = 0x7261676E
# Seconds to wait while another process writes to the file.
_WAIT_SECONDS = 60.0
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY,            -- SHA-256 of the canonical request
    request TEXT NOT NULL,           -- canonical JSON: endpoint, model, messages or prompt, parameters, repeat
    response TEXT,                   -- the model's text; NULL if it sent none
    finish_reason TEXT,
    prompt_tokens INTEGER,
    completion_tokens INTEGER,
    served_model TEXT,               -- name of the model in the reply
    system_fingerprint TEXT,
    extra TEXT,                      -- JSON: reasoning, refusal, log probabilities, parameters as sent
    seconds REAL,                    -- from sending to receiving
    created TEXT,                    -- UTC, ISO 8601
    checksum INTEGER                 -- CRC-32 of the other columns
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS failures (key TEXT PRIMARY KEY, reason TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL);
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {VERSION};
"""
# Columns of the tables of a store besides ``replies``, in any order.
_TABLES = {
    "failures": {"key", "reason"},
    "claims": {"key", "owner", "until"},
}
# Stores of earlier versions have no such table. It is created with the first endpoint.
_ENDPOINTS = "CREATE TABLE IF NOT EXISTS endpoints (name TEXT PRIMARY KEY)"
# The keys are one value in JSON, because SQLite limits the number of values in a statement.
_AMONG = "WHERE key IN (SELECT value FROM json_each(?))"


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


_COLUMNS = ", ".join([*(field.name for field in fields(Reply)), "checksum"])


# ---- requests ------------------------------------------------------------------------------------

# One encoder for all requests, because `json.dumps` would create one for each.
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
# That of the values over which a checksum is computed.
_PLAIN = json.JSONEncoder(default=repr)


def canonical(request: Mapping[str, Any]) -> str:
    """The one spelling of a request: JSON with sorted keys and no spaces, ASCII only.

    >>> canonical({"model": "m", "repeat": 0, "prompt": "é"})
    '{"model":"m","prompt":"\\\\u00e9","repeat":0}'
    """
    return _CANONICAL.encode(request)


@accepts()
def request_key(request: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical request, in hexadecimal digits.

    Parameters
    ----------
    request
        The request as the store has it: the model, the messages or the prompt, and the parameters.
    """
    return _sha256(canonical(request))


def at_endpoint(request: Request, endpoint: str | None) -> Request:
    """The request as it is sent to an endpoint with this name; None is a request without one."""
    if endpoint is None:
        return request
    return {**request, "endpoint": endpoint}


def key_at_endpoint(canonical_form: str, endpoint: str | None) -> str:
    """The key of a request as it is sent to an endpoint, from the canonical form without the endpoint.

    None is a request without an endpoint.
    """
    if endpoint is None:
        return _sha256(canonical_form)
    # In a canonical form, "endpoint" comes first, because the keys are sorted.
    return _sha256(f'{{"endpoint":{_CANONICAL.encode(endpoint)},{canonical_form[1:]}')


def canonical_requests(requests: pd.DataFrame, model: str, repeats: int = 1) -> list[Request]:
    """Return the canonical requests of a frame row by row, each ``repeats`` times in a row.

    They have no endpoint yet; see `Store.as_stored_for`. A frame without requests, a request that is empty
    or not JSON serialisable, and a missing name of the model raise InputError.
    """
    if not isinstance(model, str) or not model.strip():
        raise InputError(f"model must be the name of a model of the endpoint, got {model!r:.80}")
    kind = "prompt" if "prompt" in requests and "messages" not in requests else "messages"
    require_columns(requests, [kind], "a run")
    parameters = requests["parameters"] if "parameters" in requests else [None] * len(requests)
    canonical_forms = []
    for place, (content, options) in enumerate(zip(requests[kind], parameters, strict=True)):
        expected_type = str if kind == "prompt" else list
        if not isinstance(content, expected_type) or not content:
            needed = "a text" if kind == "prompt" else "a list of messages with role and content"
            raise InputError(f"request {place} must have {needed} in {kind!r}, got {content!r:.80}")
        request = {"model": model, kind: content, "parameters": _parameters(options, place)}
        try:
            canonical(request)
        except (TypeError, ValueError) as error:
            raise InputError(f"request {place} is not JSON serialisable: {error}") from error
        canonical_forms += [{**request, "repeat": repeat} for repeat in range(repeats)]
    return canonical_forms


def _parameters(options: Any, place: int) -> dict[str, Any]:
    """Parameters without those that are None: frames contain None for what a row does not set.

    ``options`` is the cell of the column ``parameters``, and ``place`` the number of the row, for messages.
    """
    if is_missing(options):
        return {}
    if not isinstance(options, Mapping):
        raise InputError(
            f"request {place} must have a mapping in 'parameters', such as {{'temperature': 0}}, "
            f"got {options!r:.80}"
        )
    parameters = {}
    for name, value in options.items():
        if value is not None:
            # A number of NumPy, which JSON does not know, becomes one of Python.
            parameters[name] = value.item() if hasattr(value, "item") else value
    if parameters.get("n", 1) != 1:
        raise InputError(
            f"request {place} must ask for one reply, got n={parameters['n']!r}; use repeats"
        )
    return parameters


# ---- the store -----------------------------------------------------------------------------------


class Store:
    """Store of replies in one SQLite file, which several processes can use at once.

    `ragnb.complete` records which requests it is currently sending. Another process with the same
    store does not send them too, but takes their replies from the store.

    The folder must be writable even if the replies are only read, because SQLite keeps its log next
    to the file. Copy a store to read it from a medium that is not writable.

    Parameters
    ----------
    path
        The file, which is created if it does not exist. ``":memory:"`` keeps the replies only as long
        as the object exists.

    Raises
    ------
    StoreError
        The file is not a store of this version, it is damaged, or it cannot be read or written.
    """

    @accepts()
    def __init__(self, path: str | Path) -> None:
        if not str(path).strip():
            raise StoreError("the path of a store must not be empty")
        self.path = os.path.expanduser(path)
        self._lock = threading.RLock()
        # Device and number of the file, by which it is recognised if it is replaced.
        self._file: tuple[int, int] | None = None
        # Endpoints that are in the table already. The empty name is that of requests without an endpoint.
        self._noted = {""}
        problem = "" if self.path == ":memory:" else lost_log(self.path)
        if problem:
            warn(problem)
        with self._reporting():
            if self.path != ":memory:":
                Path(self.path).parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                self.path, timeout=_WAIT_SECONDS, check_same_thread=False, isolation_level=None
            )
        self._db.row_factory = sqlite3.Row
        try:
            self._prepare()
            self._file = self._present_file()
        except BaseException:
            self.close()
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
        return int(self.query("SELECT count(*) FROM replies")[0][0])

    def __iter__(self) -> Iterator[Reply]:
        return iter(self._read("ORDER BY created, key"))

    def __repr__(self) -> str:
        try:
            return f"Store({self.path!r}, {len(self)} replies)"
        except StoreError:  # A traceback that shows a closed store must not fail in turn.
            return f"Store({self.path!r}, closed or unreadable)"

    def close(self) -> None:
        """Close the file; the object cannot be used afterwards."""
        self._db.close()

    def add(self, replies: Iterable[Reply]) -> None:
        """Add replies in one transaction; a key that is already stored keeps its first reply."""
        new_replies = list(replies)
        rows = []
        for reply in new_replies:
            values = astuple(reply)
            rows.append((*values, _checksum(values)))
        placeholders = ", ".join("?" * len(_COLUMNS.split()))
        with self.transaction() as db:
            db.executemany(
                f"INSERT OR IGNORE INTO replies ({_COLUMNS}) VALUES ({placeholders})", rows
            )
            # A request with a reply is no longer under way.
            keys = [(reply.key,) for reply in new_replies]
            db.executemany("DELETE FROM claims WHERE key = ?", keys)
        endpoints = {_endpoint_of(reply.request) for reply in new_replies}
        for endpoint in endpoints - self._noted:
            self.note_endpoint(endpoint)
        self._require_file()

    def get(self, keys: Iterable[str]) -> dict[str, Reply]:
        """Stored replies by key; keys that are not stored are left out."""
        return {reply.key: reply for reply in self._read(_AMONG, json.dumps(list(keys)))}

    def stored_keys(self, keys: Iterable[str]) -> set[str]:
        """Those of the keys that have a stored reply."""
        rows = self.query(f"SELECT key FROM replies {_AMONG}", json.dumps(list(keys)))
        return {row["key"] for row in rows}

    def note_failures(self, reasons: Mapping[str, str]) -> None:
        """Store why requests got no reply, so that a replay can report it; the next run sends them again."""
        with self.transaction() as db:
            db.executemany("INSERT OR REPLACE INTO failures VALUES (?, ?)", reasons.items())

    def failures(self) -> dict[str, str]:
        """Reasons of the requests that have no reply, by key, as their latest run reported them."""
        query = "SELECT key, reason FROM failures WHERE key NOT IN (SELECT key FROM replies)"
        return {row["key"]: row["reason"] for row in self.query(query)}

    # ---- endpoints -------------------------------------------------------------------------------

    def note_endpoint(self, name: str) -> None:
        """Remember that requests were sent to an endpoint with this name."""
        if name not in self.endpoints():
            with self.transaction() as db:
                db.execute(_ENDPOINTS)
                db.execute("INSERT OR IGNORE INTO endpoints VALUES (?)", [name])
        self._noted.add(name)

    def endpoints(self) -> list[str]:
        """Names of the endpoints to which requests were sent, in alphabetical order."""
        if not self.query("SELECT 1 FROM sqlite_master WHERE name = 'endpoints'"):
            return []
        return [row["name"] for row in self.query("SELECT name FROM endpoints ORDER BY name")]

    def as_stored_for(self, requests: Sequence[Request], endpoint: str | None) -> list[Request]:
        """The requests as they are stored for one endpoint.

        A request whose reply is stored without an endpoint is returned as it is, because such replies
        count for every endpoint. All others are those of this endpoint.
        """
        return [request for _, request in self.keyed_for(requests, endpoint)]

    def keyed_for(
        self, requests: Sequence[Request], endpoint: str | None
    ) -> list[tuple[str, Request]]:
        """What `as_stored_for` returns, each request with its key."""
        canonical_forms = [canonical(request) for request in requests]
        keys = [_sha256(form) for form in canonical_forms]
        if endpoint is None:
            return list(zip(keys, requests, strict=True))
        own_keys = [key_at_endpoint(form, endpoint) for form in canonical_forms]
        stored = self.stored_keys([*keys, *own_keys])
        keyed = []
        for key, own_key, request in zip(keys, own_keys, requests, strict=True):
            # A reply of this endpoint precedes one without an endpoint.
            counts_for_all = key in stored and own_key not in stored
            if counts_for_all:
                keyed.append((key, request))
            else:
                keyed.append((own_key, at_endpoint(request, endpoint)))
        return keyed

    def as_stored_anywhere(
        self, requests: Sequence[Request], first: str | None = None
    ) -> list[Request]:
        """The requests as they are stored for whichever endpoint answered them; see `keyed_anywhere`."""
        return [request for _, request in self.keyed_anywhere(requests, first)]

    def keyed_anywhere(
        self, requests: Sequence[Request], first: str | None = None
    ) -> list[tuple[str, Request]]:
        """The requests as they are stored for whichever endpoint answered them, each with its key.

        Of several replies, that of the endpoint ``first`` counts, then the one without an endpoint (None), then those of
        others in alphabetical order. A request without any reply is looked for among those that failed.
        """
        order = dict.fromkeys([first, None, *self.endpoints()])
        # For each request, the forms that it has at all endpoints, by key.
        forms_of_requests = []
        for request in requests:
            canonical_form = canonical(request)
            forms = {}
            for name in order:
                key = key_at_endpoint(canonical_form, name)
                forms[key] = at_endpoint(request, name)
            forms_of_requests.append(forms)
        replied = self.stored_keys(key for forms in forms_of_requests for key in forms)
        failed = self.failures().keys()
        keyed = []
        for forms in forms_of_requests:
            with_reply = [key for key in forms if key in replied]
            with_reason = [key for key in forms if key in failed]
            without_either = list(forms)
            first_key, *_ = [*with_reply, *with_reason, *without_either]
            keyed.append((first_key, forms[first_key]))
        return keyed

    # ---- requests under way, which other processes must not send too -----------------------------

    def claim(self, key: str, owner: str) -> str:
        """Claim a request, so that no other run sends it.

        Returns ``"ours"`` if the claim is granted, ``"theirs"`` if the request has a valid claim already, or
        ``"stored"`` if its reply is there. ``owner`` is a name of `new_owner`. A claim of the same owner counts
        like that of another one, because a run has several workers, and only one of them may send a request.
        """
        now = time.time()
        with self.transaction() as db:
            if db.execute("SELECT 1 FROM replies WHERE key = ?", [key]).fetchone():
                return "stored"
            claim = db.execute("SELECT owner, until FROM claims WHERE key = ?", [key]).fetchone()
            # A claim is void if it was not renewed in time, or if its process has ended.
            if claim and claim["until"] >= now and not _is_over(claim["owner"]):
                return "theirs"
            values = [key, owner, now + LEASE_SECONDS]
            db.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?)", values)
            return "ours"

    def renew_claims(self, owner: str) -> None:
        """Keep the claims of a run for another `LEASE_SECONDS`."""
        until = time.time() + LEASE_SECONDS
        self.query("UPDATE claims SET until = ? WHERE owner = ?", until, owner)

    def release_claims(self, owner: str) -> None:
        """Give up the claims of a run."""
        self.query("DELETE FROM claims WHERE owner = ?", owner)

    # ---- files of replies ------------------------------------------------------------------------

    def write_jsonl(self, path: str | Path, keys: Iterable[str] | None = None) -> int:
        """Write replies as sorted JSON Lines, compressed if the name ends in ``.gz``; return their number.

        All replies are written by default, else those of ``keys``.
        """
        unsorted = self if keys is None else self.get(keys).values()
        # Similar requests follow each other, which compresses better.
        replies = sorted(unsorted, key=lambda reply: reply.request)
        lines = [json.dumps(asdict(reply), ensure_ascii=False) + "\n" for reply in replies]
        content = "".join(lines).encode("utf-8")
        if str(path).endswith(".gz"):
            # Without the time, the same replies give the same file.
            content = gzip.compress(content, 9, mtime=0)
        Path(path).expanduser().write_bytes(content)
        return len(lines)

    def read_jsonl(self, path: str | Path) -> int:
        """Add the replies of a JSON Lines file, compressed or not; return how many were new.

        A file that cannot be read, and a line that is not a stored reply, raise StoreError.
        """
        n_before = len(self)
        try:
            content = _bounded_bytes(Path(path).expanduser())
            # Lines of bytes end at line feeds and carriage returns only, so a U+2028 in a reply splits none.
            replies = [Reply(**json.loads(line)) for line in content.splitlines()]
            for reply in replies:
                if reply.key != _sha256(reply.request):
                    raise ValueError(f"the key {reply.key!r} is not the hash of its request")
                json.loads(reply.request)
        except RecursionError:
            raise StoreError(
                f"{str(path)!r} cannot be read as stored replies: its JSON is nested too deeply"
            ) from None
        except (OSError, EOFError, zlib.error, ValueError, TypeError, AttributeError) as error:
            raise StoreError(f"{str(path)!r} cannot be read as stored replies: {error}") from error
        self.add(replies)
        return len(self) - n_before

    # ---- SQLite ----------------------------------------------------------------------------------

    def query(self, query: str, *values: Any) -> list[sqlite3.Row]:
        """Execute one statement and return its rows."""
        with self._lock, self._reporting():
            return self._db.execute(query, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """One transaction, during which no other thread or process can write."""
        with self._lock, self._reporting(), self._db as db:
            db.execute("BEGIN IMMEDIATE")
            yield db

    def _prepare(self) -> None:
        """Check the file, and create the tables, or those that a store of an earlier ragnb lacks.

        Such a store has the same `VERSION`; a file of another version is refused.
        """
        tables = {row["name"] for row in self.query("SELECT name FROM sqlite_master")}
        application, version = self.query(
            "SELECT * FROM pragma_application_id, pragma_user_version"
        )[0]
        if tables and (application, version) != (_APPLICATION, VERSION):
            raise StoreError(
                f"{self.path!r} is not a store of version {VERSION} but another SQLite database "
                f"(application {application}, version {version}); choose another path"
            )
        self._require_own_tables()
        # A store that is complete is not written to when it is opened.
        is_complete = {"replies", "claims"} <= tables and self._has_checksums()
        if not is_complete:
            # With write-ahead logging, other processes can read while one writes. This fails if another process is
            # doing the same; the mode stays with the file.
            with suppress(StoreError):
                self.query("PRAGMA journal_mode = WAL")
            with self.transaction() as db:
                for statement in _SCHEMA.split(";\n"):
                    db.execute(statement)
                if not self._has_checksums():
                    db.execute("ALTER TABLE replies ADD COLUMN checksum INTEGER")
        else:
            problem = self.query("PRAGMA quick_check(1)")[0][0]
            if problem != "ok":
                raise StoreError(
                    f"{self.path!r} is damaged ({' '.join(problem.split())}); restore it from a copy"
                )
        # A power cut may lose the last moments, but cannot damage the file.
        self.query("PRAGMA synchronous = NORMAL")

    def _require_own_tables(self) -> None:
        """Refuse a store whose tables were changed by hand.

        A trigger or a view can delete, change or invent replies, and no checksum would show it.
        """
        changed = []
        for row in self.query("SELECT type, name, tbl_name, sql FROM sqlite_master"):
            kind = row["type"]
            statement = (row["sql"] or "").upper()
            acts_by_itself = kind in ("trigger", "view")
            # With a unique index, a new reply could replace another one.
            is_unique_index = kind == "index" and "UNIQUE" in statement
            # What a virtual table contains is decided by a module outside the file.
            is_virtual_table = kind == "table" and "VIRTUAL" in statement.split()[:2]
            if acts_by_itself or is_unique_index or is_virtual_table:
                changed.append(f"the {kind} {row['name']!r}")
        columns_by_table = {"replies": set(_COLUMNS.split(", ")), **_TABLES}
        for table, columns in columns_by_table.items():
            # Unlike `table_info`, this also lists columns that SQLite computes.
            rows = self.query("SELECT name, pk FROM pragma_table_xinfo(?)", table)
            if not rows:
                # The table is created when the store is opened.
                continue
            present = {row["name"] for row in rows}
            if table == "replies":
                # Stores of earlier versions get this column when they are opened.
                present.add("checksum")
            primary_key = [row["name"] for row in rows if row["pk"]]
            if present != columns or primary_key != ["key"]:
                changed.append(f"other columns in the table {table!r}")
        if changed:
            raise StoreError(
                f"{self.path!r} is not a store as ragnb makes it, because it has {', '.join(changed)}, "
                "which can change or delete replies. Undo this change, or restore the file from a copy."
            )

    def _present_file(self) -> tuple[int, int] | None:
        """Device and number of the file at the path, None if there is none."""
        if self.path == ":memory:":
            return None
        with suppress(OSError):
            status = os.stat(self.path)
            return status.st_dev, status.st_ino
        return None

    def _require_file(self) -> None:
        """Raise StoreError if the file was deleted or replaced; its content is saved next to it."""
        if self._file is None or self._present_file() == self._file:
            return
        # It is reported once, because closing the store must not fail.
        self._file = None
        rescue = f"{self.path}.rescued-{uuid.uuid4().hex[:8]}.sqlite"
        try:
            Path(rescue).parent.mkdir(parents=True, exist_ok=True)
            with self._lock:
                self._db.execute("VACUUM INTO ?", [rescue])
            saved = (
                f"All replies until now were saved as {rescue!r}; move this file to the old place."
            )
        except (sqlite3.Error, OSError) as error:
            saved = f"The replies that were received since then are lost ({error})."
        raise StoreError(
            f"The store {self.path!r} was deleted, moved or replaced while it was in use. {saved}"
        )

    def _has_checksums(self) -> bool:
        """Whether the replies have a column for checksums, which early versions did not have."""
        columns = self.query("PRAGMA table_info(replies)")
        return "checksum" in [row["name"] for row in columns]

    @collection_paused()
    def _read(self, clause: str, *values: Any) -> list[Reply]:
        """Replies whose checksums were verified. The ``clause`` of SQL selects or sorts them."""
        replies = []
        for *columns, checksum in self.query(f"SELECT {_COLUMNS} FROM replies {clause}", *values):
            reply = Reply(*columns)
            if checksum is None:
                # It was stored by an early version. At least the request can be checked, whose hash is the key.
                is_intact = _sha256(reply.request) == reply.key
            else:
                is_intact = _checksum(columns) == checksum
            if not is_intact:
                raise StoreError(
                    f"The reply with the key {reply.key!r} in {self.path!r} is damaged: it does not "
                    "match its checksum. Restore the file from a copy, or delete this row from the "
                    "table replies to send the request again."
                )
            replies.append(reply)
        return replies

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Raise StoreError, which says what to do, in place of errors of SQLite and of the file system."""
        try:
            yield
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:  # in a damaged file
            raise StoreError(
                f"the store {self.path!r} cannot be read or written: {error}. Check the path, the "
                "permissions and the free space; what was stored before is kept."
            ) from error


def new_owner() -> str:
    """A name for the claims of one run, with its machine and process."""
    return f"{uuid.uuid4().hex} {os.getpid()} {socket.gethostname()}"


def _endpoint_of(request: str) -> str:
    """The endpoint in a canonical request, empty if it has none."""
    # The keys of a canonical request are sorted, and this one is the first. Requests without it need not be parsed.
    if not request.startswith('{"endpoint":'):
        return ""
    name = json.loads(request).get("endpoint")
    return name if isinstance(name, str) else ""


def _bounded_bytes(path: Path) -> bytes:
    """The content of a file, decompressed if its name ends in ``.gz``, up to a limit."""
    with gzip.open(path) if path.name.endswith(".gz") else path.open("rb") as file:
        # One byte more than is allowed shows that the file is too large.
        content: bytes = file.read(MAX_RECORDING_BYTES + 1)
    if len(content) > MAX_RECORDING_BYTES:
        raise ValueError(f"it is larger than {MAX_RECORDING_BYTES // 2**30} GB")
    return content


def _is_over(owner: str) -> bool:
    """Whether the process of an owner has ended. This is only known on the owner's machine."""
    _, pid, host = owner.split(" ", 2)
    is_elsewhere = host != socket.gethostname()
    # On Windows, `os.kill` would end the process.
    is_windows = os.name == "nt"
    if is_elsewhere or is_windows:
        return False
    try:
        # The signal 0 does nothing, but fails if there is no such process.
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        # The process exists and belongs to another user.
        return False
    return False


def _checksum(values: Iterable[Any]) -> int:
    """CRC-32 of a row; numbers count as floats, because SQLite may return 1.0 as 1 or 1 as 1.0."""
    plain = [float(value) if isinstance(value, int | float) else value for value in values]
    return zlib.crc32(_PLAIN.encode(plain).encode("ascii"))


def _sha256(request: Any) -> str:
    """SHA-256 of a canonical request, in hexadecimal digits."""
    return hashlib.sha256(str(request).encode("utf-8")).hexdigest()
