"""Send requests through a provider's Batch API, and store the replies as `complete` does.

`submit` sends what is neither stored nor pending, `status` asks how far the batches are, and `collect`
stores the replies. Each may run in another process, days later. Afterwards
``complete(..., offline=True)`` returns the frame. (`complete` with a network does not wait for pending
batches: it asks, and pays, at once.)

A kill at any moment neither loses a batch nor pays for one twice, because of the order of the steps:

1. *claim*: the requests are noted as pending under a ticket, in one transaction;
2. *upload*: the file of requests is sent, which costs nothing and is repeated when in doubt;
3. *announce*: the id of the file and the time are noted, which only one process can do for a ticket;
4. *create*: the batch is created with the ticket in its metadata, by one attempt;
5. *remember*: the id of the batch is noted.

A ticket that was announced and has no batch is looked up in the provider's list of batches. Only if it
is not there `SETTLE` seconds after it was announced, when no creation can still be under way, is the
batch created again.
"""

import json
import os
import sqlite3
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from ragnb.arguments import accepts
from ragnb.errors import EndpointError, InputError, StoreError
from ragnb.llm.client import count_answers, say, why_no_text
from ragnb.llm.engine import (
    NO_COMPLETION,
    OTHER_KIND,
    address_of,
    api_key,
    error_message,
    explain,
    is_completion,
    is_here,
    read_reply,
    shown_address,
)
from ragnb.llm.store import Reply, Request, Store, canonical, canonical_requests, request_key
from ragnb.version import __version__

MAX_REQUESTS, MAX_BYTES = 50_000, 200_000_000  # OpenAI's limits for one file
SETTLE = 300.0
CREATE_TIMEOUT = 60.0  # far less than SETTLE
LOOKS = (0.0, 1.0, 3.0)  # pauses before looking for a batch whose creation got no clear answer
FINAL = frozenset({"completed", "failed", "expired", "cancelled"})
T = TypeVar("T")

_TICKET = "ragnb_ticket"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS batches (
    ticket TEXT PRIMARY KEY,         -- made before anything is sent; also in the metadata of the batch
    batch_id TEXT,                   -- the provider's; NULL until it is known
    state TEXT NOT NULL,             -- claimed, creating, then the provider's word
    model TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    base_url TEXT NOT NULL,
    input_file_id TEXT,
    announced TEXT,                  -- when creation was last begun; NULL if never
    completed INTEGER,               -- the provider's counts
    failed INTEGER,
    malformed INTEGER,               -- lines of the output that could not be read
    unknown INTEGER,                 -- lines of the output that belong to no request of the batch
    reason TEXT,
    created TEXT NOT NULL,           -- UTC, ISO 8601
    collected TEXT,                  -- NULL while the batch is open
    ragnb TEXT NOT NULL              -- version that made it
);
CREATE TABLE IF NOT EXISTS batch_requests (
    ticket TEXT NOT NULL,
    line INTEGER NOT NULL,           -- in the input file, from 1
    key TEXT NOT NULL,
    request TEXT,                    -- canonical JSON; NULL once the reply is stored
    state TEXT NOT NULL,             -- pending, stored or failed
    reason TEXT,
    PRIMARY KEY (ticket, line)
) WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS pending_once ON batch_requests (key) WHERE state = 'pending';
"""
_COUNTS = "n_requests completed failed n_pending n_stored n_failed malformed unknown".split()
_TABLE = [
    *"batch_id state".split(),
    *_COUNTS,
    *"reason model endpoint base_url created collected ticket".split(),
]


# ---- what a user calls ---------------------------------------------------------------------------


@accepts(
    aligned=False,
    repeats="size",
    max_requests="size",
    max_bytes="size",
    timeout="positive",
    max_retries="count",
)
def submit(
    requests: pd.DataFrame,
    *,
    model: str,
    store: Store | str | Path,
    base_url: str | None = None,
    repeats: int = 1,
    max_requests: int = MAX_REQUESTS,
    max_bytes: int = MAX_BYTES,
    timeout: float = 120.0,
    max_retries: int = 5,
) -> pd.DataFrame:
    """Send the requests that are neither stored nor pending in a batch; return the batches.

    A call that was killed is finished by calling again with the same requests.

    Parameters
    ----------
    requests, model, base_url, repeats
        As for `ragnb.complete`. A parameter that the model refuses is not replaced.
    store
        File (or open `Store`) of the replies, which also remembers the batches.
    max_requests, max_bytes
        The provider's limits for one file. More requests are split into several batches.
    timeout
        Seconds to wait for the provider's next byte.
    max_retries
        Further attempts after failures that may pass. The creation of a batch is tried once.

    Returns
    -------
    DataFrame
        One row per batch that contains any of the requests, as `status` returns it. The state
        ``creating`` means that the provider has not confirmed the batch yet. `status`, `collect` or
        the next `submit` look for it.

    Raises
    ------
    InputError
        A frame without requests, or one request longer than ``max_bytes``.
    EndpointError
        The endpoint has no Batch API, refuses the key or cannot be reached. Batches that were made
        are kept; requests that were not sent can be submitted again.
    StoreError
        See `Store`.
    """
    wanted = {request_key(each): each for each in canonical_requests(requests, model, repeats)}
    provider = Provider(base_url, timeout, max_retries)
    with _opened(store, must_exist=False) as opened:
        new = _claim(opened, wanted, model, provider.address, max_requests, max_bytes)
        pending = opened.query("SELECT ticket, key FROM batch_requests WHERE state = 'pending'")
        tickets = {row["ticket"] for row in pending if row["key"] in wanted}
        try:
            if _unsent(opened, provider, tickets):
                _find_lost(opened, provider)
            for row in _unsent(opened, provider, tickets):
                _send(opened, provider, row)
        except BaseException:
            _release(opened, new)
            raise
        return _table(opened, tickets)


@accepts(timeout="positive", max_retries="count")
def status(
    store: Store | str | Path,
    *,
    base_url: str | None = None,
    timeout: float = 120.0,
    max_retries: int = 5,
) -> pd.DataFrame:
    """Return the state of each batch and its counts of requests, as the provider reports them.

    Returns
    -------
    DataFrame
        ``batch_id, state`` (``claimed`` and ``creating`` before the provider knows the batch, then
        the provider's word), ``n_requests, completed, failed`` (the provider's counts), ``n_pending,
        n_stored, n_failed`` (the store's), ``malformed, unknown`` (lines of the output that could not
        be read, or that belong to no request), ``reason, model, endpoint, base_url, created,
        collected, ticket``. Collected batches, and those of other addresses, are shown as last seen.

    Raises
    ------
    InputError
        All open batches were sent to another address.
    EndpointError
        The endpoint refuses the key or cannot be reached.
    """
    provider = Provider(base_url, timeout, max_retries)
    with _opened(store) as opened:
        list(_look_up(opened, provider))
        return _table(opened)


@accepts(timeout="positive", max_retries="count")
def collect(
    store: Store | str | Path,
    *,
    base_url: str | None = None,
    timeout: float = 120.0,
    max_retries: int = 5,
    progress: bool = True,
) -> pd.DataFrame:
    """Store the replies of finished batches; return the frame of `status`.

    Expired and cancelled batches are collected as far as they were answered. A request without a
    reply keeps its reason, which ``complete(..., offline=True)`` reports, and may be submitted again.
    Calling again changes nothing.

    Parameters
    ----------
    store, base_url, timeout, max_retries
        As for `submit`.
    progress
        Print one line that says how many requests of the newly finished batches were answered, and
        why the others were not.

    Raises
    ------
    InputError
        All open batches were sent to another address.
    EndpointError
        The endpoint refuses the key or cannot be reached; what was downloaded before is kept.
    """
    provider = Provider(base_url, timeout, max_retries)
    reasons: list[str | None] = []
    with _opened(store) as opened:
        for ticket, seen in _look_up(opened, provider):
            if seen["state"] in FINAL:
                reasons += _bring_home(opened, provider, ticket, seen)
        if progress and reasons:
            say(count_answers(reasons))
        return _table(opened)


def forget(store: Store | str | Path, batches: Collection[str]) -> pd.DataFrame:
    """Forget open batches that the provider does not know, and return the frame of `status`.

    ``batches`` has values of ``batch_id`` or ``ticket``. Their requests may be submitted again, and
    are then paid for again. A name that is not an open batch raises InputError. To stop a batch, cancel
    it on the provider's own page; `collect` then stores what it has answered.
    """
    with _opened(store) as opened:
        names = {
            row[name]: row["ticket"] for row in _open(opened) for name in ("batch_id", "ticket")
        }
        unknown = set(batches) - set(names)
        if unknown:
            raise InputError(
                "batches must contain the batch_id or the ticket of open batches, got "
                f"{sorted(unknown)!r:.200}"
            )
        for name in batches:
            _finish(opened, names[name], {}, "the batch was given up")
        return _table(opened)


# ---- the tables of batches -----------------------------------------------------------------------


@contextmanager
def _opened(store: Store | str | Path, *, must_exist: bool = True) -> Iterator[Store]:
    """The store with the tables of batches; a store that was already open stays open afterwards."""
    path = store.path if isinstance(store, Store) else os.path.expanduser(store)
    if path == ":memory:":
        raise InputError(
            "batches need a store that outlives the process, got ':memory:'; pass the path of a file"
        )
    if must_exist and not os.path.exists(path):
        raise StoreError(
            f"there is no store {path!r}; pass the one that the batches were sent with"
        )
    with Store.open(store) as opened:
        for statement in _SCHEMA.split(";\n"):
            opened.query(statement)
        yield opened


def _claim(
    store: Store,
    wanted: Mapping[str, Request],
    model: str,
    address: str,
    max_requests: int,
    max_bytes: int,
) -> set[str]:
    """Make the requests that are neither stored nor pending pending under new tickets."""
    tickets = set[str]()
    with store.transaction() as db:
        pending = db.execute("SELECT key FROM batch_requests WHERE state = 'pending'")
        taken = store.known(wanted) | {row["key"] for row in pending}
        free = {key: request for key, request in wanted.items() if key not in taken}
        for part in _files(free, max_requests, max_bytes):
            tickets.add(ticket := uuid.uuid4().hex)
            endpoint = _endpoint(next(iter(part.values())))
            db.execute(
                "INSERT INTO batches (ticket, state, model, endpoint, base_url, created, ragnb) "
                "VALUES (?, 'claimed', ?, ?, ?, ?, ?)",
                [ticket, model, endpoint, address, _now(), __version__],
            )
            db.executemany(
                "INSERT INTO batch_requests VALUES (?, ?, ?, ?, 'pending', NULL)",
                [
                    (ticket, place, key, canonical(request))
                    for place, (key, request) in enumerate(part.items(), 1)
                ],
            )
    return tickets


def _files(
    requests: Mapping[str, Request], max_requests: int, max_bytes: int
) -> Iterator[dict[str, Request]]:
    """Split requests, in order, into files within the provider's limits."""
    part: dict[str, Request] = {}
    size = 0
    for key, request in requests.items():
        length = len(_line(key, request))
        if length > max_bytes:
            raise InputError(
                f"a request must have at most {max_bytes} bytes, got one of {length} bytes "
                f"({canonical(request)[:60]}...); leave it out, or send it with complete"
            )
        if part and (len(part) == max_requests or size + length > max_bytes):
            yield part
            part, size = {}, 0
        part[key] = request
        size += length
    if part:
        yield part


def _endpoint(request: Request) -> str:
    return "/v1/chat/completions" if "messages" in request else "/v1/completions"


def _line(key: str, request: Request) -> bytes:
    """Line of the input file; ASCII only, so that no line separator of Unicode splits it."""
    content = "messages" if "messages" in request else "prompt"
    body = {"model": request["model"], content: request[content], **request["parameters"]}
    line = {"custom_id": key, "method": "POST", "url": _endpoint(request), "body": body}
    return canonical(line).encode("ascii") + b"\n"


def _open(store: Store) -> list[sqlite3.Row]:
    """Batches whose replies are still to come, oldest first."""
    return store.query("SELECT * FROM batches WHERE collected IS NULL ORDER BY created, ticket")


def _unsent(store: Store, provider: "Provider", tickets: Collection[str]) -> list[sqlite3.Row]:
    """Those of the tickets that have no batch yet."""
    return [
        row
        for row in _open(store)
        if row["ticket"] in tickets and not row["batch_id"] and row["base_url"] == provider.address
    ]


def _release(store: Store, tickets: Collection[str]) -> None:
    """Drop the tickets that were never announced: their requests may be submitted again."""
    with store.transaction() as db:
        for ticket in tickets:
            db.execute("DELETE FROM batches WHERE ticket = ? AND announced IS NULL", [ticket])
            orphans = "ticket = ? AND ticket NOT IN (SELECT ticket FROM batches)"
            db.execute(f"DELETE FROM batch_requests WHERE {orphans}", [ticket])


def _remember(store: Store, ticket: str, seen: Mapping[str, Any]) -> None:
    """Note a batch as the provider shows it."""
    names = ("batch_id", "state", "completed", "failed", "reason")
    assignments = ", ".join(f"{name} = ?" for name in names)
    store.query(
        f"UPDATE batches SET {assignments} WHERE ticket = ? AND collected IS NULL",
        *(seen[name] for name in names),
        ticket,
    )


def _finish(
    store: Store,
    ticket: str,
    failed: Mapping[str, str],
    otherwise: str,
    malformed: int = 0,
    unknown: int = 0,
) -> list[str | None]:
    """Close a batch, and return for each request that was pending why it has no reply, if it has none."""
    pending = "ticket = ? AND state = 'pending'"
    rows = store.query(f"SELECT key FROM batch_requests WHERE {pending}", ticket)
    replies = store.get(row["key"] for row in rows)
    reasons = {
        row["key"]: failed.get(row["key"], otherwise) for row in rows if row["key"] not in replies
    }
    store.note_failures(reasons)
    with store.transaction() as db:
        db.executemany(
            f"UPDATE batch_requests SET state = 'failed', reason = ? WHERE {pending} AND key = ?",
            [(reason, ticket, key) for key, reason in reasons.items()],
        )
        db.execute(
            f"UPDATE batch_requests SET state = 'stored', request = NULL WHERE {pending}", [ticket]
        )
        db.execute(
            "UPDATE batches SET collected = ?, malformed = ?, unknown = ? "
            "WHERE ticket = ? AND collected IS NULL",
            [_now(), malformed, unknown, ticket],
        )
    return [*reasons.values(), *map(why_no_text, replies.values())]


def _table(store: Store, tickets: Collection[str] | None = None) -> pd.DataFrame:
    """One row per batch, oldest first."""
    rows = store.query(
        "SELECT b.*, count(*) AS n_requests, sum(r.state = 'pending') AS n_pending, "
        "sum(r.state = 'stored') AS n_stored, sum(r.state = 'failed') AS n_failed "
        "FROM batches b JOIN batch_requests r USING (ticket) GROUP BY ticket ORDER BY b.created, ticket"
    )
    kept = [row for row in rows if tickets is None or row["ticket"] in tickets]
    frame = pd.DataFrame([[row[name] for name in _TABLE] for row in kept], columns=_TABLE)
    return frame.astype(dict.fromkeys(_COUNTS, "Int64"))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


# ---- the steps -----------------------------------------------------------------------------------


def _send(store: Store, provider: "Provider", row: sqlite3.Row) -> None:
    """Create the batch of a ticket, unless its creation may still be under way."""
    ticket, file_id = row["ticket"], row["input_file_id"]
    if row["announced"] is None:
        query = "SELECT key, request FROM batch_requests WHERE ticket = ? ORDER BY line"
        lines = [
            _line(each["key"], json.loads(each["request"])) for each in store.query(query, ticket)
        ]
        file_id = provider.upload(ticket, b"".join(lines))
    elif datetime.now(UTC) - datetime.fromisoformat(row["announced"]) < pd.Timedelta(
        seconds=SETTLE
    ):
        return
    if not _announce(store, row, file_id):  # Another process is at it.
        return
    try:
        _remember(store, ticket, provider.create(ticket, row["endpoint"], file_id))
    except EndpointError as error:
        if provider.refused:
            query = "UPDATE batches SET state = 'claimed', announced = NULL WHERE ticket = ?"
            store.query(query + " AND batch_id IS NULL", ticket)
            raise
        for pause in LOOKS:
            time.sleep(pause)
            _find_lost(store, provider)
            if not _unsent(store, provider, [ticket]):
                return
        raise EndpointError(
            f"The provider did not confirm the new batch, and the batch is not in its list: {error} "
            f"Submit again in {SETTLE:.0f} seconds. ragnb then looks for the batch with the ticket "
            f"{ticket} before it creates another one."
        ) from None


def _announce(store: Store, row: sqlite3.Row, file_id: str) -> bool:
    """Note when creation begins; return False if another process has announced or released the ticket."""
    with store.transaction() as db:
        announced = db.execute(
            "UPDATE batches SET state = 'creating', input_file_id = ?, announced = ? "
            "WHERE ticket = ? AND batch_id IS NULL AND announced IS ? AND collected IS NULL",
            [file_id, _now(), row["ticket"], row["announced"]],
        )
        return announced.rowcount == 1


def _find_lost(store: Store, provider: "Provider") -> None:
    """Remember the batches that were announced here and turn out to exist at the provider."""
    files = {
        row["input_file_id"]: row["ticket"]
        for row in _open(store)
        if row["announced"] and not row["batch_id"] and row["base_url"] == provider.address
    }
    if files:
        for ticket, seen in provider.find(files).items():
            _remember(store, ticket, seen)


def _look_up(store: Store, provider: "Provider") -> Iterator[tuple[str, dict[str, Any]]]:
    """Open batches as the provider shows them now.

    A batch that the provider does not know gets a reason and is passed over. If all open batches
    were sent to another address, this raises InputError.
    """
    addresses = sorted({row["base_url"] for row in _open(store)})
    if addresses and provider.address not in addresses:
        raise InputError(
            f"the open batches of this store were sent to {', '.join(addresses)}, got "
            f"{provider.address}; pass base_url={addresses[0]!r}"
        )
    _find_lost(store, provider)
    for row in _open(store):
        if row["base_url"] != provider.address or not row["batch_id"]:
            continue
        try:
            seen = provider.retrieve(row["batch_id"])
        except EndpointError as error:
            if provider.status != 404:
                raise
            seen = {**row, "reason": f"unknown to the provider, see forget: {error}"}
            _remember(store, row["ticket"], seen)
            continue
        _remember(store, row["ticket"], seen)
        yield row["ticket"], seen


def _bring_home(
    store: Store, provider: "Provider", ticket: str, seen: dict[str, Any]
) -> list[str | None]:
    """Store the replies of a finished batch first, then what became of each request."""
    query = "SELECT key, request FROM batch_requests WHERE ticket = ? AND state = 'pending'"
    asked = {row["key"]: row["request"] for row in store.query(query, ticket)}
    files = [file_id for file_id in (seen["output_file_id"], seen["error_file_id"]) if file_id]
    problem = ""
    if seen["completed"] and not seen["output_file_id"]:
        problem = f"{seen['completed']} requests completed without an output file"
    try:
        content = b"\n".join(map(provider.content, files))
    except EndpointError as error:
        if provider.status != 404:
            raise
        problem = str(error)
    if problem:
        reason = f"collect again later, or see forget: {problem}"
        _remember(store, ticket, seen | {"reason": reason})
        return []
    replies, failed, malformed, unknown = [], {}, 0, 0
    for line in filter(bytes.strip, content.split(b"\n")):
        try:
            entry = json.loads(line)
            key = str(entry["custom_id"])
        except (ValueError, LookupError, TypeError, RecursionError):
            malformed += 1
            continue
        if key not in asked:
            unknown += 1
            continue
        outcome = _outcome(key, json.loads(asked[key]), entry)
        if isinstance(outcome, Reply):
            replies.append(outcome)
        else:
            failed[key] = provider.clean(outcome)
    store.add(replies)
    said = f": {seen['reason']}" if seen["reason"] else " without a line about this request"
    unread = f" ({malformed} lines of its output could not be read)" if malformed else ""
    otherwise = f"the batch is {seen['state']}{said}{unread}"
    return _finish(store, ticket, failed, otherwise, malformed, unknown)


def _outcome(key: str, request: Request, entry: Mapping[str, Any]) -> Reply | str:
    """The reply in a line of the output, or the reason why it has none."""
    response = entry.get("response")
    said, prefix = entry.get("error"), ""
    if isinstance(response, Mapping):
        body = response.get("body")
        if response.get("status_code", 200) == 200:
            if is_completion(json.dumps(body).encode()):
                return read_reply(key, request, request["parameters"], body, None)
            return f"{NO_COMPLETION} ({str(body)[:60]!r})"
        said = body.get("error", body) if isinstance(body, Mapping) else body
        prefix = f"HTTP {response['status_code']}: "
    if isinstance(said, Mapping):
        code = f" ({said['code']})" if said.get("code") else ""
        said = f"{said.get('message') or 'an error without a message'}{code}"
    return prefix + str(said or "neither a response nor an error")


# ---- the provider --------------------------------------------------------------------------------


class Provider:
    """Files and batches of one endpoint.

    Its errors are `EndpointError` and do not contain the key. ``status`` is the HTTP status of the
    last error, None if there was no clear answer.
    """

    def __init__(self, base_url: str | None, timeout: float, max_retries: int) -> None:
        self.base_url, self.timeout, self.max_retries = base_url, timeout, max_retries
        self.address = shown_address(address_of(base_url))
        self.status: int | None = None

    @property
    def refused(self) -> bool:
        """Whether the last error says that nothing was done."""
        return self.status is not None and self.status < 500 and self.status not in (408, 409)

    @cached_property
    def _key(self) -> Any:
        return api_key(self.base_url)

    @cached_property
    def _client(self) -> Any:
        import openai

        address = address_of(self.base_url)
        return openai.OpenAI(
            api_key=self._key.reveal,
            base_url=address,
            max_retries=self.max_retries,
            timeout=self.timeout,
            http_client=openai.DefaultHttpxClient(
                follow_redirects=False, trust_env=not is_here(address)
            ),
        )

    def upload(self, ticket: str, content: bytes) -> str:
        """Send a file of requests, and return its id."""
        file = (f"ragnb-{ticket}.jsonl", content, "application/jsonl")
        return self._ask(lambda: _id(self._client.files.create(file=file, purpose="batch")))

    def create(self, ticket: str, endpoint: Any, file_id: str) -> dict[str, Any]:
        """Try once to create a batch: a repeated attempt might create it twice."""
        once = self._client.with_options(
            max_retries=0, timeout=min(CREATE_TIMEOUT, self.timeout)
        ).batches
        metadata = {_TICKET: ticket, "ragnb_version": __version__}
        return self._ask(
            lambda: self._seen(
                once.create(
                    input_file_id=file_id,
                    endpoint=endpoint,
                    completion_window="24h",
                    metadata=metadata,
                )
            )
        )

    def find(self, files: Mapping[str, str]) -> dict[str, dict[str, Any]]:
        """Those of the tickets, given by input file, that the provider has a batch for."""

        def search() -> dict[str, dict[str, Any]]:
            found, met = dict[str, dict[str, Any]](), set[str]()
            for batch in self._client.batches.list(limit=100):
                if (
                    batch.id in met
                ):  # A provider without pages sends the first page again and again.
                    break
                met.add(batch.id)
                ticket = files.get(batch.input_file_id) or (batch.metadata or {}).get(_TICKET, "")
                if ticket in files.values():
                    found.setdefault(ticket, self._seen(batch))
            return found

        return self._ask(search)

    def retrieve(self, batch_id: str) -> dict[str, Any]:
        """The batch as it is now."""
        return self._ask(lambda: self._seen(self._client.batches.retrieve(batch_id)))

    def content(self, file_id: str) -> bytes:
        """All bytes of a file, without the key."""
        content = self._ask(lambda: self._client.files.content(file_id).content)
        return b"\n".join(map(self._key.clean_body, content.split(b"\n")))

    def clean(self, said: object) -> str:
        """Words of the provider, short and without the key."""
        return str(self._key.clean(said))

    def _seen(self, batch: Any) -> dict[str, Any]:
        """What we note of a batch."""
        counts, errors = batch.request_counts, (batch.errors and batch.errors.data) or []
        said = [
            (f"line {error.line}: " if error.line else "") + (error.message or error.code or "?")
            for error in errors
        ]
        return {
            "batch_id": _id(batch),
            "state": str(batch.status).lower(),
            "completed": counts and int(counts.completed),
            "failed": counts and int(counts.failed),
            "output_file_id": batch.output_file_id,
            "error_file_id": batch.error_file_id,
            "reason": self.clean("; ".join(said)) or None,
        }

    def _ask(self, call: Callable[[], T]) -> T:
        """The result of a call of the client; its errors in our words."""
        import openai

        self.status = None
        try:
            with self._key.out_of_logs():
                return call()
        except openai.APIStatusError as error:
            self.status = error.status_code
            said = self.clean(f"HTTP {self.status}: {error_message(error)}")
        except openai.APIConnectionError as error:
            said = self.clean(f"{type(error).__name__}: {error.__cause__ or error}")
        except (AttributeError, TypeError, ValueError) as error:
            said = self.clean(f"{OTHER_KIND}: {type(error).__name__}: {error}")
        # Outside of the handlers, because an exception of the client contains the key.
        raise EndpointError(explain(said, self.address))


def _id(answer: Any) -> str:
    if not isinstance(answer.id, str) or not answer.id:
        raise ValueError(f"the answer has no id: {answer!r}")
    return answer.id
