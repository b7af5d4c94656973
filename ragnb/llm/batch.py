"""Send requests through a provider's Batch API, and store the replies as `complete` does.

`submit` sends what is neither stored nor pending, `status` asks how far the batches are, and `collect`
stores the replies. Each may run in another process, days later. Afterwards
``complete(..., offline=True)`` returns the frame. (`complete` with a network does not wait for pending
batches: it asks, and pays, at once.)

A kill at any moment neither loses a batch nor pays for one twice, because of the order of the steps:

1. *upload*: the file of requests is sent, which costs nothing and may be repeated;
2. *announce*: the id of the file and its requests, which are now pending, are noted in one transaction;
3. *create*: the batch is created from the file, by one attempt;
4. *remember*: the id of the batch is noted.

A batch that was announced and not remembered is looked up, by its file, in the provider's list of
batches. Only if it is not there `SETTLE` seconds after it was announced, when no creation can still be
under way, may its requests be sent again.
"""

import json
import os
import sqlite3
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.arguments import accepts, shown_address
from ragnb.errors import EndpointError, InputError, StoreError
from ragnb.llm.bodies import (
    ENCODINGS,
    BoundedBody,
    DamagedBody,
    TooLarge,
    classify,
    read_reply,
)
from ragnb.llm.endpoint import (
    OTHER_KIND,
    address_of,
    api_key,
    clean,
    clean_body,
    client_options,
    connection_problem,
    endpoint_name,
    error_message,
    explain,
    is_here,
    wants_api_key_header,
)
from ragnb.llm.store import Reply, Request, Store, canonical, canonical_requests, request_key
from ragnb.version import __version__

MAX_REQUESTS, MAX_BYTES = 50_000, 200_000_000  # OpenAI's limits for one file
MAX_FILE_BYTES = 2**30  # largest file of replies that is read, after decompression
SETTLE = 300.0
CREATE_TIMEOUT = 60.0  # far less than SETTLE
FINAL = frozenset({"completed", "failed", "expired", "cancelled"})

_SCHEMA = """
CREATE TABLE IF NOT EXISTS provider_batches (
    number INTEGER PRIMARY KEY,
    batch_id TEXT,                   -- the provider's; NULL until it is known
    state TEXT NOT NULL,             -- creating, then the provider's word
    n_requests INTEGER NOT NULL,
    completed INTEGER,               -- the provider's counts
    failed INTEGER,
    n_stored INTEGER,                -- replies in the store; NULL while the batch is open
    reason TEXT,
    model TEXT NOT NULL,
    base_url TEXT NOT NULL,
    created TEXT NOT NULL,           -- UTC, ISO 8601
    collected TEXT,                  -- NULL while the batch is open
    input_file_id TEXT NOT NULL,
    output_file_id TEXT,
    error_file_id TEXT
);
CREATE TABLE IF NOT EXISTS pending_requests (
    key TEXT PRIMARY KEY,
    request TEXT NOT NULL,           -- canonical JSON
    batch INTEGER NOT NULL           -- number of the batch
);
"""
_COUNTS = ["n_requests", "completed", "failed", "n_stored"]
_COLUMNS = [
    *["batch_id", "state", *_COUNTS, "reason", "model", "base_url", "created", "collected"],
    *["input_file_id", "output_file_id", "error_file_id"],
]


# ---- what a user calls ---------------------------------------------------------------------------


@accepts(aligned=False, repeats="size")
def submit(
    requests: pd.DataFrame,
    *,
    model: str,
    store: Store | str | Path,
    base_url: str | None = None,
    repeats: int = 1,
) -> pd.DataFrame:
    """Send the requests that are neither stored nor pending in a batch; return the batches.

    A call that was killed is finished by calling again with the same requests.

    Parameters
    ----------
    requests, model, base_url, repeats
        As for `ragnb.complete`. A parameter that the model refuses is not replaced. More requests than
        the provider takes in one file are split into several batches.
    store
        File (or open `Store`) of the replies, which also remembers the batches.

    Returns
    -------
    DataFrame
        One row per batch in which any of the requests is pending, as `status` returns it. The state
        ``creating`` means that the provider has not confirmed the batch yet. `status`, `collect` or
        the next `submit` look for it.

    Raises
    ------
    InputError
        A frame without requests.
    EndpointError
        The endpoint has no Batch API, refuses the key or cannot be reached. Batches that were made
        are kept; requests that were not sent can be submitted again.
    StoreError
        See `Store`.
    """
    plain = canonical_requests(requests, model, repeats)
    provider = Provider(base_url)
    with _opened(store, new=True) as opened:
        name = endpoint_name(base_url)
        wanted = {request_key(each): each for each in opened.addressed(plain, name)}
        if name is not None:
            opened.note_endpoint(name)
        _confirm(opened, provider)
        while lines := _next_file(opened, wanted):
            _send(opened, provider, wanted, lines)
        pending = opened.query("SELECT key, batch FROM pending_requests")
        return _table(opened, {row["batch"] for row in pending if row["key"] in wanted})


@accepts()
def status(store: Store | str | Path, *, base_url: str | None = None) -> pd.DataFrame:
    """Return the state of each batch and its counts of requests, as the provider reports them.

    Returns
    -------
    DataFrame
        ``batch_id, state`` (``creating`` before the provider has confirmed the batch, then the
        provider's word), ``n_requests, completed, failed`` (the provider's counts), ``n_stored``
        (replies in the store, None before they are collected), ``reason, model, base_url, created,
        collected`` and the ids of the provider's files. Collected batches, and those of other
        addresses, are shown as last seen.

    Raises
    ------
    InputError
        All open batches were sent to another address.
    EndpointError
        The endpoint refuses the key or cannot be reached.
    """
    with _opened(store) as opened:
        _look_up(opened, base_url)
        return _table(opened)


@accepts()
def collect(store: Store | str | Path, *, base_url: str | None = None) -> pd.DataFrame:
    """Store the replies of finished batches; return the frame of `status`.

    Expired and cancelled batches are collected as far as they were answered. A request without a
    reply has a reason, which ``complete(..., offline=True)`` reports, and may be submitted again.
    Calling again changes nothing. Errors are those of `status`; what was downloaded before is kept.
    """
    with _opened(store) as opened:
        _look_up(opened, base_url, replies=True)
        return _table(opened)


def forget(store: Store | str | Path, batches: Collection[str]) -> pd.DataFrame:
    """Forget open batches that the provider does not know, and return the frame of `status`.

    ``batches`` has values of ``batch_id`` or ``input_file_id``. Their requests may be submitted again,
    and are then paid for again. A name that is not an open batch raises InputError. To stop a batch,
    cancel it on the provider's own page; `collect` then stores what it has answered.
    """
    with _opened(store) as opened:
        ids = ("batch_id", "input_file_id")
        names = {row[name]: row["number"] for row in _open(opened) for name in ids}
        unknown = set(batches) - set(names)
        if unknown:
            raise InputError(
                "batches must contain the batch_id or the input_file_id of open batches, got "
                f"{sorted(unknown)!r:.200}"
            )
        for name in batches:
            _finish(opened, names[name], {}, "the batch was given up")
        return _table(opened)


# ---- the tables of batches -----------------------------------------------------------------------


@contextmanager
def _opened(store: Store | str | Path, *, new: bool = False) -> Iterator[Store]:
    """The store with the tables of batches; a store that was already open stays open afterwards."""
    path = store.path if isinstance(store, Store) else os.path.expanduser(store)
    if path == ":memory:" or not (new or os.path.exists(path)):
        raise StoreError(
            f"{path!r} is not the file of a store; pass the store that you passed to submit"
        )
    with Store.open(store) as opened:
        for statement in _SCHEMA.split(";\n"):
            opened.query(statement)
        yield opened


def _open(store: Store, address: str | None = None) -> list[sqlite3.Row]:
    """Batches whose replies are still to come, oldest first; by default those of all addresses."""
    query = (
        "SELECT * FROM provider_batches WHERE collected IS NULL AND base_url = ifnull(?, base_url)"
    )
    return store.query(query, address)


def _table(store: Store, numbers: Collection[int] | None = None) -> pd.DataFrame:
    """One row per batch, oldest first."""
    rows = store.query("SELECT * FROM provider_batches ORDER BY number")
    kept = [dict(row) for row in rows if numbers is None or row["number"] in numbers]
    return pd.DataFrame(kept, columns=_COLUMNS).astype(dict.fromkeys(_COUNTS, "Int64"))


def _note(store: Store, number: int, **values: Any) -> None:
    """Note values of an open batch."""
    assignments = ", ".join(f"{name} = ?" for name in values)
    query = f"UPDATE provider_batches SET {assignments} WHERE number = ? AND collected IS NULL"
    store.query(query, *values.values(), number)


def _finish(store: Store, number: int, reasons: Mapping[str, str], otherwise: str) -> None:
    """Close a batch, and note why requests without a reply have none."""
    rows = store.query("SELECT key FROM pending_requests WHERE batch = ?", number)
    keys = [row["key"] for row in rows]
    stored = store.known(keys)
    store.note_failures({key: reasons.get(key, otherwise) for key in keys if key not in stored})
    with store.transaction() as db:
        db.execute("DELETE FROM pending_requests WHERE batch = ?", [number])
        _note(store, number, n_stored=len(stored), collected=datetime.now(UTC).isoformat())


def _taken(store: Store, keys: Collection[str]) -> set[str]:
    """Those of the keys whose reply is stored, and all that are pending."""
    pending = store.query("SELECT key FROM pending_requests")
    return store.known(keys) | {row["key"] for row in pending}


# ---- sending -------------------------------------------------------------------------------------


def _next_file(store: Store, wanted: Mapping[str, Request]) -> dict[str, bytes]:
    """Lines of the next input file, by key: requests that are neither stored nor pending."""
    taken = _taken(store, wanted)
    lines: dict[str, bytes] = {}
    size = 0
    for key, request in wanted.items():
        if key in taken:
            continue
        content = "messages" if "messages" in request else "prompt"
        body = {"model": request["model"], content: request[content], **request["parameters"]}
        line = {"custom_id": key, "method": "POST", "url": _endpoint(request), "body": body}
        # ASCII only, so that no line separator of Unicode splits a line
        written = canonical(line).encode("ascii") + b"\n"
        size += len(written)
        if lines and (len(lines) == MAX_REQUESTS or size > MAX_BYTES):
            break
        lines[key] = written
    return lines


def _endpoint(request: Request) -> Any:
    return "/v1/chat/completions" if "messages" in request else "/v1/completions"


def _send(
    store: Store, provider: "Provider", wanted: Mapping[str, Request], lines: Mapping[str, bytes]
) -> None:
    """Upload a file and create its batch, unless another process was faster."""
    file = ("ragnb.jsonl", b"".join(lines.values()), "application/jsonl")
    file_id = provider.ask(lambda client: _id(client.files.create(file=file, purpose="batch")))
    requests = {key: wanted[key] for key in lines}
    number = _announce(store, provider.address, file_id, requests)
    if number is None:
        return
    order = {
        "input_file_id": file_id,
        "endpoint": _endpoint(next(iter(requests.values()))),
        "completion_window": "24h",
        "metadata": {"ragnb_version": __version__},
    }
    # Tried once: a repeated attempt might create the batch twice.
    once = {"max_retries": 0, "timeout": CREATE_TIMEOUT}
    try:
        seen = provider.ask(
            lambda client: _seen(client.with_options(**once).batches.create(**order))
        )
    except EndpointError as error:
        if provider.status in range(300, 500) and provider.status not in (408, 409):
            _finish(store, number, {}, f"the provider refused the batch: {error}")
            raise
        _confirm(store, provider)
        if number in [row["number"] for row in _open(store) if not row["batch_id"]]:
            raise EndpointError(
                f"The provider did not confirm the new batch, and the batch is not in its list: {error} "
                f"Submit again in {SETTLE:.0f} seconds. ragnb then looks for the batch of the file "
                f"{file_id} before it creates another one."
            ) from None
    else:
        _note(store, number, **seen)


def _announce(
    store: Store, address: str, file_id: str, requests: Mapping[str, Request]
) -> int | None:
    """Note the batch that will be created, and its requests as pending.

    Returns the batch's number, or None if another process has sent any of the requests meanwhile.
    """
    with store.transaction() as db:
        if set(requests) & _taken(store, requests):
            return None
        model = next(iter(requests.values()))["model"]
        inserted = db.execute(
            "INSERT INTO provider_batches (state, n_requests, model, base_url, created, input_file_id) "
            "VALUES ('creating', ?, ?, ?, ?, ?)",
            [len(requests), model, address, datetime.now(UTC).isoformat(), file_id],
        )
        db.executemany(
            "INSERT INTO pending_requests VALUES (?, ?, ?)",
            [(key, canonical(request), inserted.lastrowid) for key, request in requests.items()],
        )
        return inserted.lastrowid


def _confirm(store: Store, provider: "Provider") -> None:
    """Look for announced batches in the provider's list; close those that were never created."""
    lost = [row for row in _open(store, provider.address) if not row["batch_id"]]
    found = {}
    if lost:
        files = [row["input_file_id"] for row in lost]
        found = provider.ask(
            lambda client: {
                batch.input_file_id: _seen(batch)
                for batch in islice(client.batches.list(limit=100), 10_000)
                if batch.input_file_id in files
            }
        )
    for row in lost:
        if row["input_file_id"] in found:
            _note(store, row["number"], **found[row["input_file_id"]])
        elif datetime.now(UTC) - datetime.fromisoformat(row["created"]) > timedelta(seconds=SETTLE):
            _finish(store, row["number"], {}, "the provider did not create the batch")


# ---- looking and collecting ----------------------------------------------------------------------


def _look_up(store: Store, base_url: str | None, *, replies: bool = False) -> None:
    """Note the present state of all open batches, and store the replies of finished ones."""
    addresses = sorted({row["base_url"] for row in _open(store)})
    if not addresses:
        return
    provider = Provider(base_url)
    if provider.address not in addresses:
        raise InputError(
            f"the open batches of this store were sent to {', '.join(addresses)}, got "
            f"{provider.address}; pass base_url={addresses[0]!r}"
        )
    _confirm(store, provider)
    for row in _open(store, provider.address):
        if not row["batch_id"]:
            continue
        try:
            seen = provider.ask(
                lambda client, name: _seen(client.batches.retrieve(name)), row["batch_id"]
            )
            _note(store, row["number"], **seen)
            if replies and seen["state"] in FINAL:
                _collect(store, provider, row["number"], seen)
        except EndpointError as error:
            if provider.status != 404:
                raise
            reason = f"the provider does not know this batch; collect again later, or see forget: {error}"
            _note(store, row["number"], reason=reason)


def _collect(store: Store, provider: "Provider", number: int, seen: Mapping[str, Any]) -> None:
    """Store the replies of a finished batch first, then what became of its other requests."""
    if seen["completed"] and not seen["output_file_id"]:
        _note(store, number, reason="completed without an output file; collect again later")
        return
    files = [file_id for file_id in (seen["output_file_id"], seen["error_file_id"]) if file_id]
    lines = provider.ask(_lines, files)
    rows = store.query("SELECT key, request FROM pending_requests WHERE batch = ?", number)
    requests = {row["key"]: row["request"] for row in rows}
    found, reasons, unread = [], {}, 0
    for line in lines:
        try:
            entry = json.loads(line)
            key = entry["custom_id"]
            outcome = _outcome(key, json.loads(requests[key]), entry)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            unread += 1
            continue
        if isinstance(outcome, Reply):
            found.append(outcome)
        else:
            reasons[key] = clean(outcome)
    store.add(found)
    said = f": {seen['reason']}" if seen["reason"] else " without a line about this request"
    lost = f" ({unread} lines of its output could not be read)" if unread else ""
    _finish(store, number, reasons, f"the batch is {seen['state']}{said}{lost}")


def _lines(client: Any, files: Collection[str]) -> list[bytes]:
    """The lines of the provider's files, without the key."""
    content = b"\n".join(client.files.content(file_id).content for file_id in files)
    return [clean_body(line) for line in content.split(b"\n") if line.strip()]


def _outcome(key: str, request: Request, entry: Mapping[str, Any]) -> Reply | str:
    """The reply in a line of the output, or the reason why it has none."""
    response = entry.get("response")
    if not response:
        return error_message(entry.get("error") or "neither a response nor an error")
    status, body = response.get("status_code", 200), response["body"]
    if status != 200:
        return f"HTTP {status}: {error_message(body)}"
    answer = classify(json.dumps(body).encode("utf-8"))
    if answer.body and answer.status == 200:
        return read_reply(key, request, request["parameters"], json.loads(answer.body), None)
    return answer.failure


class Provider:
    """The client of one endpoint.

    ``ask`` calls it. Errors are then `EndpointError` and do not contain the key. ``status`` is the HTTP
    status of the last error, None if there was no clear answer.
    """

    def __init__(self, base_url: str | None) -> None:
        import openai

        address = address_of(base_url)
        self.address = shown_address(address)
        self.status: int | None = None

        class Bounded(openai.DefaultHttpxClient):
            def send(self, request: Any, **options: Any) -> Any:
                request.headers["accept-encoding"] = ENCODINGS
                if wants_api_key_header(address):
                    request.headers["api-key"] = api_key()
                options["stream"] = True
                return _received(request, super().send(request, **options))

        http = Bounded(follow_redirects=False, trust_env=not is_here(address))
        self._client = openai.OpenAI(
            api_key=api_key,
            **client_options(address),
            max_retries=5,
            timeout=120,
            http_client=http,
        )

    def ask(self, call: Callable[..., Any], *values: Any) -> Any:
        """The result of a function of the client and other values."""
        import openai

        self.status = None
        try:
            return call(self._client, *values)
        except openai.APIStatusError as error:
            self.status = error.status_code
            said = clean(f"HTTP {self.status}: {error_message(error.body or error.message)}")
        except openai.APIConnectionError as error:
            said = connection_problem(error.__cause__ or error)
        except (AttributeError, TypeError, ValueError) as error:
            said = clean(f"{OTHER_KIND} ({error})")
        # Outside of the handlers, because an exception of the client contains the key.
        raise EndpointError(explain(said, self.address))


def _received(request: Any, response: Any) -> Any:
    """The answer with its whole body, which is limited in size."""
    http: Any = sys.modules[type(request).__module__.partition(".")[0]]
    try:
        body = BoundedBody(response.headers.get("content-encoding", ""), MAX_FILE_BYTES)
        for piece in response.iter_raw():
            body.add(piece)
    except (TooLarge, DamagedBody) as error:
        raise http.RemoteProtocolError(str(error), request=request) from None
    finally:
        response.close()
    headers = response.headers.copy()
    for name in ("content-encoding", "content-length", "transfer-encoding"):
        headers.pop(name, None)
    status = response.status_code
    return http.Response(status, headers=headers, content=bytes(body.content), request=request)


def _seen(batch: Any) -> dict[str, Any]:
    """What we note of a batch, as the provider shows it."""
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
        "reason": clean("; ".join(said)) or None,
    }


def _id(answer: Any) -> str:
    if not answer.id:
        raise ValueError(f"the answer has no id: {answer!r}")
    return answer.id
