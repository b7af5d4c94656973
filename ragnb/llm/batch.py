"""The Batch API: the same requests, cheaper and within a day; the replies land in the same store under the same keys.

`submit` sends what is neither stored nor pending, `status` asks how far it is, `collect` brings the replies home; each may
run in another process, days later. Afterwards ``complete(..., offline=True)`` gives the frame. (`complete` with a network
does not wait for pending batches: it asks, and pays, at once.)

A kill at any moment neither loses a batch nor pays for one twice, because of the order of steps:

1. *claim*: the requests are written down as pending under a ticket made here, in one transaction;
2. *upload*: the file of requests, which costs nothing and is done again when in doubt;
3. *announce*: the file's id and the time are written down, which only one process can do for a ticket;
4. *create*: the batch, with the ticket in its metadata, and never retried unless the provider said no;
5. *remember*: the batch's id is written down.

A ticket that was announced and has no batch is first looked for among the provider's batches, by ticket and by file. Only
if it is not there more than `SETTLE` seconds after it was announced, when no creation can still be under way, is it created
again.
"""

import json
import os
import sqlite3
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.errors import EndpointError, InputError, StoreError
from ragnb.llm.batch_provider import (
    Gone,
    Harvest,
    Provider,
    Refused,
    Seen,
    Unsure,
    address_of,
    endpoint_of,
    file_line,
    split_into_files,
)
from ragnb.llm.client import count_answers, say, why_no_text
from ragnb.llm.engine import refused_parameter, warn_of_refused
from ragnb.llm.store import Store, canonical, canonical_requests, request_key
from ragnb.version import __version__

MAX_REQUESTS, MAX_BYTES = 50_000, 200_000_000  # a file; OpenAI's limits
SETTLE = 300.0
LOOKS = (0.0, 1.0, 3.0)  # pauses before looking for a batch whose creation got no answer
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
FINAL = frozenset({"completed", "failed", "expired", "cancelled"})


# ---- what a user calls -------------------------------------------------------------------------------------------------


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
    """Batches that hold the requests: those sent now and those that were pending already.

    Sent are only requests that are neither stored nor pending in a batch. A call that was killed is finished by calling
    again with the same requests. If a collected batch shows that the model refuses ``max_tokens`` or ``temperature``, submit
    its requests again: they are then sent as `ragnb.complete` sends them to such a model.

    Parameters
    ----------
    requests, model, base_url, repeats
        As for `ragnb.complete`.
    store
        File (or open `Store`) of the replies; it remembers the batches too.
    max_requests, max_bytes
        The provider's limits for one file; more requests are split into several batches.
    timeout
        Seconds to wait for the provider's next byte.
    max_retries
        Further attempts after failures that may pass.

    Returns
    -------
    DataFrame
        One row a batch, as `status` gives it. State ``creating`` means that the provider has not confirmed the batch yet:
        `status`, `collect` or the next `submit` look for it.

    Raises
    ------
    InputError
        A frame without requests, or one request longer than ``max_bytes``.
    EndpointError
        The endpoint has no Batch API, refuses the key or cannot be reached. Batches that were made are kept; requests that
        were not sent can be submitted again.
    StoreError
        See `Store`.
    """
    if max_requests < 1 or max_bytes < 1:
        raise InputError(
            f"submit needs limits of at least 1; got {max_requests} requests, {max_bytes} bytes; raise them"
        )
    wanted = {
        request_key(request): request for request in canonical_requests(requests, model, repeats)
    }
    address = address_of(base_url)
    with _open_ledger(store, must_exist=False) as ledger:
        new = ledger.claim(wanted, model, address, max_requests, max_bytes)
        tickets = ledger.holding(wanted)
        try:
            asked = {name for request in wanted.values() for name in request["parameters"]}
            for name in sorted(asked & {name for ticket in new for name in ledger.refused(ticket)}):
                warn_of_refused(model, name)
            if ledger.unsent(tickets, address):
                with Provider(base_url, timeout, max_retries) as provider:
                    _send_all(ledger, provider, tickets)
        except BaseException:
            ledger.release(new)
            raise
        return ledger.table(tickets)


def status(
    store: Store | str | Path,
    *,
    base_url: str | None = None,
    timeout: float = 120.0,
    max_retries: int = 5,
) -> pd.DataFrame:
    """One row a batch: its state and counts, as the provider gives them now.

    Returns
    -------
    DataFrame
        ``batch_id, state`` (``claimed`` and ``creating`` before the provider knows the batch, then the provider's word),
        ``n_requests, completed, failed`` (the provider's counts), ``n_pending, n_stored, n_failed`` (the store's),
        ``malformed, unknown`` (lines of the output that could not be read, or that belong to no request), ``reason, model,
        endpoint, base_url, created, collected, ticket``. Collected batches, and those of other addresses, are shown as last
        seen.

    Raises
    ------
    InputError
        All open batches were sent to another address.
    EndpointError
        The endpoint refuses the key or cannot be reached.
    """
    with _open_ledger(store) as ledger:
        if _any_at(base_url, ledger.open(), "status"):
            with Provider(base_url, timeout, max_retries) as provider:
                list(_look_up(ledger, provider, provider.retrieve))
        return ledger.table()


def collect(
    store: Store | str | Path,
    *,
    base_url: str | None = None,
    timeout: float = 120.0,
    max_retries: int = 5,
    progress: bool = True,
) -> pd.DataFrame:
    """Batches after their replies were added to the store; the frame is that of `status`.

    Finished batches are downloaded, with what expired and cancelled ones have answered. A request without a reply keeps its
    reason, which ``complete(..., offline=True)`` reports, and may be submitted again. Calling again changes nothing.

    Parameters
    ----------
    store, base_url, timeout, max_retries
        As for `submit`.
    progress
        Print one line that says how many requests of the batches that are finished now were answered, and why the others
        were not.

    Raises
    ------
    InputError
        All open batches were sent to another address.
    EndpointError
        The endpoint refuses the key or cannot be reached; what was downloaded before is kept.
    """
    with _open_ledger(store) as ledger:
        brought = set()
        if _any_at(base_url, ledger.open(), "collect"):
            with Provider(base_url, timeout, max_retries) as provider:
                for ticket, seen in _look_up(ledger, provider, provider.retrieve):
                    if seen.state in FINAL:
                        _bring_home(ledger, provider, ticket, seen)
                        brought.add(ticket)
        if progress and brought:
            outcomes = ledger.outcomes(brought)
            replies = ledger.store.get(outcomes)
            say(
                count_answers(
                    [
                        why_no_text(replies[key]) if key in replies else reason
                        for key, reason in outcomes.items()
                    ]
                )
            )
        return ledger.table()


def cancel(
    store: Store | str | Path,
    *,
    batches: Collection[str] | None = None,
    base_url: str | None = None,
    forget: bool = False,
    timeout: float = 120.0,
    max_retries: int = 5,
) -> pd.DataFrame:
    """Batches after the provider was told to stop them; what they have answered is there for `collect`.

    Parameters
    ----------
    batches
        Values of ``batch_id`` or ``ticket``; all open batches by default.
    forget
        Give the named batches up without asking the provider. Their requests may be submitted again, and are then paid for
        again. This is for batches that the provider does not know.

    Raises
    ------
    InputError
        A name that is no open batch, or ``forget`` without names.
    EndpointError
        The endpoint refuses the key or cannot be reached.
    """
    with _open_ledger(store) as ledger:
        rows = _named(ledger, batches, forget)
        tickets = {row["ticket"] for row in rows}
        if forget:
            for ticket in tickets:
                ledger.finish(ticket, Harvest({}), "the batch was given up")
        elif _any_at(base_url, rows, "cancel"):
            with Provider(base_url, timeout, max_retries) as provider:
                ledger.release(tickets)
                list(_look_up(ledger, provider, provider.cancel, tickets))
        return ledger.table(tickets)


# ---- the ledger ---------------------------------------------------------------------------------------------------

_SCHEMA = """
CREATE TABLE IF NOT EXISTS batches (
    ticket TEXT PRIMARY KEY,         -- made here before anything is sent; in the batch's metadata at the provider
    batch_id TEXT,                   -- the provider's; NULL until it is known
    state TEXT NOT NULL,             -- claimed, creating, then the provider's word
    model TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    base_url TEXT NOT NULL,
    input_file_id TEXT,
    announced TEXT,                  -- when creation was last begun; NULL when never
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
_TABLE = f"batch_id state {' '.join(_COUNTS)} reason model endpoint base_url created collected ticket".split()


class Ledger:
    """Which requests were sent where, and what became of them: two tables in the store's own file."""

    def __init__(self, store: Store) -> None:
        self.store = store
        for statement in filter(str.strip, _SCHEMA.split(";\n")):
            store._execute(statement)

    def claim(
        self, wanted: Mapping[str, Any], model: str, address: str, max_requests: int, max_bytes: int
    ) -> set[str]:
        """Make the requests that are neither stored nor pending pending under new tickets, and return these."""
        tickets = set[str]()
        with self.store._change() as db:
            refused = self._refused(model, address, _now())
            pending = self._query("SELECT key FROM batch_requests WHERE state = 'pending'")
            taken = {row["key"] for row in pending} | self.store.known(wanted)
            free = {key: request for key, request in wanted.items() if key not in taken}
            for part in split_into_files(free, refused, max_requests, max_bytes):
                tickets.add(ticket := uuid.uuid4().hex)
                endpoint = endpoint_of(next(iter(part.values())))
                db.execute(
                    "INSERT INTO batches (ticket, state, model, endpoint, base_url, created, ragnb) "
                    "VALUES (?, 'claimed', ?, ?, ?, ?, ?)",
                    (ticket, model, endpoint, address, _now(), __version__),
                )
                rows = (
                    (ticket, place, key, canonical(request))
                    for place, (key, request) in enumerate(part.items(), 1)
                )
                db.executemany(
                    "INSERT INTO batch_requests VALUES (?, ?, ?, ?, 'pending', NULL)", rows
                )
        return tickets

    def holding(self, keys: Collection[str]) -> set[str]:
        """Tickets under which any of the keys is pending."""
        rows = self._query("SELECT ticket, key FROM batch_requests WHERE state = 'pending'")
        return {row["ticket"] for row in rows if row["key"] in keys}

    def open(self) -> list[sqlite3.Row]:
        """Batches whose replies are still to come, oldest first."""
        return self._query("SELECT * FROM batches WHERE collected IS NULL ORDER BY created, ticket")

    def unsent(self, tickets: set[str], address: str) -> list[sqlite3.Row]:
        """Those of the tickets that have no batch yet."""
        return [
            row
            for row in self.open()
            if row["ticket"] in tickets and not row["batch_id"] and row["base_url"] == address
        ]

    def content(self, ticket: str) -> bytes:
        """The input file of a batch."""
        rows = self._query(
            "SELECT key, request FROM batch_requests WHERE ticket = ? ORDER BY line", ticket
        )
        refused = self.refused(ticket)
        return b"".join(file_line(row["key"], json.loads(row["request"]), refused) for row in rows)

    def refused(self, ticket: str) -> set[str]:
        """Parameters that the model had refused when the batch was claimed, so that its file has them not or renamed."""
        rows = self._query("SELECT model, base_url, created FROM batches WHERE ticket = ?", ticket)
        return self._refused(*rows[0]) if rows else set()

    def _refused(self, model: str, address: str, before: str) -> set[str]:
        query = "SELECT DISTINCT r.reason FROM batch_requests r JOIN batches b USING (ticket) "
        query += "WHERE b.model = ? AND b.base_url = ? AND b.collected < ? AND r.reason LIKE 'HTTP 400: %'"
        found = {
            refused_parameter(row["reason"]) for row in self._query(query, model, address, before)
        }
        return {name for name in found if name}

    def pending(self, ticket: str) -> dict[str, str]:
        """Requests of a batch that wait for a reply, by key."""
        query = "SELECT key, request FROM batch_requests WHERE ticket = ? AND state = 'pending'"
        return {row["key"]: row["request"] for row in self._query(query, ticket)}

    def announce(self, ticket: str, file_id: str, before: str | None) -> str | None:
        """Store when creation begins, and return it; None if another process has announced or released the ticket."""
        moment = _now()
        query = "UPDATE batches SET state = 'creating', input_file_id = ?, announced = ? "
        query += "WHERE ticket = ? AND batch_id IS NULL AND announced IS ? AND collected IS NULL"
        with self.store._change() as db:
            done = db.execute(query, (file_id, moment, ticket, before)).rowcount == 1
        return moment if done else None

    def withdraw(self, ticket: str, announced: str) -> None:
        """Withdraw an announcement, because the provider refused to create the batch."""
        query = "UPDATE batches SET state = 'claimed', announced = NULL WHERE ticket = ? AND announced = ?"
        self._query(query + " AND batch_id IS NULL", ticket, announced)

    def release(self, tickets: Collection[str]) -> None:
        """Drop those of the tickets that were never announced: their requests may be submitted again."""
        with self.store._change() as db:
            for ticket in tickets:
                db.execute("DELETE FROM batches WHERE ticket = ? AND announced IS NULL", (ticket,))
                orphans = "ticket = ? AND ticket NOT IN (SELECT ticket FROM batches)"
                db.execute(f"DELETE FROM batch_requests WHERE {orphans}", (ticket,))

    def remember(self, ticket: str, seen: Seen) -> None:
        """Store a batch as the provider shows it."""
        query = "UPDATE batches SET batch_id = ?, state = ?, completed = ?, failed = ?, reason = ? "
        query += "WHERE ticket = ? AND collected IS NULL"
        shown = (seen.batch_id, seen.state, seen.completed, seen.failed, seen.reason)
        self._query(query, *shown, ticket)

    def note(self, ticket: str, reason: str) -> None:
        """Store the reason why a batch cannot be retrieved now."""
        self._query("UPDATE batches SET reason = ? WHERE ticket = ?", reason, ticket)

    def finish(self, ticket: str, harvest: Harvest, otherwise: str) -> None:
        """Close a batch: each pending request is stored, or has failed with a reason that a replay reports."""
        pending = "WHERE ticket = ? AND state = 'pending'"
        failed = [(reason, ticket, key) for key, reason in harvest.failed.items()]
        with self.store._change() as db:
            db.execute(
                f"UPDATE batch_requests SET state = 'stored', request = NULL {pending} AND key IN (SELECT key FROM replies)",
                (ticket,),
            )
            db.executemany(
                f"UPDATE batch_requests SET state = 'failed', reason = ? {pending} AND key = ?",
                failed,
            )
            db.execute(
                f"UPDATE batch_requests SET state = 'failed', reason = ? {pending}",
                (otherwise, ticket),
            )
            db.execute(
                "UPDATE batches SET collected = ?, malformed = ?, unknown = ? WHERE ticket = ? AND collected IS NULL",
                (_now(), harvest.malformed, harvest.unknown, ticket),
            )
            reasons = self.outcomes({ticket}).items()
            self.store.note_failures({key: why for key, why in reasons if why is not None})

    def outcomes(self, tickets: Collection[str]) -> dict[str, str | None]:
        """Requests of batches that are closed: why each has no reply, None if it has one."""
        rows = self._query(
            "SELECT ticket, key, reason FROM batch_requests WHERE state != 'pending'"
        )
        return {row["key"]: row["reason"] for row in rows if row["ticket"] in tickets}

    def table(self, tickets: Collection[str] | None = None) -> pd.DataFrame:
        """One row a batch, oldest first."""
        rows = self._query(
            "SELECT b.*, count(*) AS n_requests, sum(r.state = 'pending') AS n_pending, "
            "sum(r.state = 'stored') AS n_stored, sum(r.state = 'failed') AS n_failed "
            "FROM batches b JOIN batch_requests r USING (ticket) "
            "GROUP BY ticket ORDER BY b.created, ticket"
        )
        kept = [
            [row[name] for name in _TABLE]
            for row in rows
            if tickets is None or row["ticket"] in tickets
        ]
        return pd.DataFrame(kept, columns=_TABLE).astype(dict.fromkeys(_COUNTS, "Int64"))

    def _query(self, query: str, *values: Any) -> list[sqlite3.Row]:
        return self.store._execute(query, values)


@contextmanager
def _open_ledger(store: Store | str | Path, *, must_exist: bool = True) -> Iterator[Ledger]:
    """The ledger in a store's file; a store that was already open stays open afterwards."""
    path = store.path if isinstance(store, Store) else os.path.expanduser(str(store))
    if path == ":memory:":
        raise InputError(
            "batches need a store that outlives the process; got ':memory:'; pass the path of a file"
        )
    if must_exist and not os.path.exists(path):
        raise StoreError(
            f"batches need the store that they were submitted with; got no file {path!r}; check the path"
        )
    with Store.open(store) as opened:
        yield Ledger(opened)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


# ---- the steps ---------------------------------------------------------------------------------------------------------


def _send_all(ledger: Ledger, provider: Provider, tickets: set[str]) -> None:
    _find_lost(ledger, provider)
    for row in ledger.unsent(tickets, provider.address):
        if row["announced"] is None:
            file_id = provider.upload(row["ticket"], ledger.content(row["ticket"]))
            _create(ledger, provider, row, file_id)
        elif _age(row["announced"]) > SETTLE and not _found(ledger, provider, row["ticket"]):
            _create(ledger, provider, row, row["input_file_id"])


def _create(ledger: Ledger, provider: Provider, row: sqlite3.Row, file_id: str) -> None:
    ticket, announced = row["ticket"], row["announced"]
    for attempt in range(provider.max_retries + 1):
        announced = ledger.announce(ticket, file_id, announced)
        if announced is None:  # another process is at it
            return
        try:
            seen = provider.create(ticket, row["endpoint"], file_id)
        except Unsure as unsure:
            _look_for(ledger, provider, ticket, str(unsure))
        except Refused as refused:
            if not refused.retry or attempt == provider.max_retries:
                ledger.withdraw(ticket, announced)
                raise refused.error from None
            time.sleep(refused.wait or min(LONGEST_WAIT, FIRST_WAIT * 2**attempt))
            continue
        else:
            ledger.remember(ticket, seen)
        return


def _look_for(ledger: Ledger, provider: Provider, ticket: str, said: str) -> None:
    """Find the batch whose creation got no clear answer; never create it again at once."""
    for pause in LOOKS:
        time.sleep(pause)
        if _found(ledger, provider, ticket):
            return
    raise EndpointError(
        f"a batch needs an answer to its creation; got {said} from {provider.address} and no such batch in its list; submit "
        f"again in {SETTLE:.0f} seconds: it is looked for once more before it is created again (ticket {ticket})"
    )


def _found(ledger: Ledger, provider: Provider, ticket: str) -> bool:
    """Whether the provider has the ticket's batch now."""
    _find_lost(ledger, provider)
    return not ledger.unsent({ticket}, provider.address)


def _find_lost(ledger: Ledger, provider: Provider) -> None:
    """Remember the batches that were announced here and turn out to exist at the provider."""
    lost = [
        row
        for row in ledger.open()
        if row["announced"] and not row["batch_id"] and row["base_url"] == provider.address
    ]
    for ticket, seen in provider.find(lost) if lost else ():
        ledger.remember(ticket, seen)


def _look_up(
    ledger: Ledger,
    provider: Provider,
    ask: Callable[[str], Seen],
    tickets: Collection[str] | None = None,
) -> Iterator[tuple[str, Seen]]:
    """Open batches as the provider shows them when we retrieve or cancel them.

    A batch that the provider does not know gets a reason and is passed over.
    """
    _find_lost(ledger, provider)
    for row in ledger.open():
        if tickets is not None and row["ticket"] not in tickets:
            continue
        if row["batch_id"] and row["base_url"] == provider.address:
            try:
                seen = ask(row["batch_id"])
            except Gone as gone:
                ledger.note(
                    row["ticket"],
                    f"the provider does not know it with this key ({gone}): see cancel(forget=True)",
                )
                continue
            ledger.remember(row["ticket"], seen)
            yield row["ticket"], seen


def _bring_home(ledger: Ledger, provider: Provider, ticket: str, seen: Seen) -> None:
    """Replies into the store first; then, in one transaction, what became of each request."""
    harvest = Harvest(ledger.pending(ticket), provider.clean, ledger.refused(ticket))
    try:
        if seen.completed and not seen.output_file_id:
            raise Gone(f"{seen.completed} requests completed, but no output file is named")
        for file_id in filter(None, (seen.output_file_id, seen.error_file_id)):
            for replies in harvest.read(provider.content(file_id)):
                ledger.store.add(replies)
    except Gone as gone:
        ledger.note(
            ticket,
            f"its output cannot be fetched ({gone}): collect again later, or see cancel(forget=True)",
        )
    else:
        ledger.finish(ticket, harvest, _why_none(seen, harvest.malformed))


def _why_none(seen: Seen, malformed: int) -> str:
    """Reason of a request about which a finished batch says nothing."""
    said = f": {seen.reason}" if seen.reason else " without a line about this request"
    unread = f" ({malformed} lines of its output could not be read)" if malformed else ""
    return f"the batch {'was ' if seen.state == 'cancelled' else ''}{seen.state}{said}{unread}"


def _named(ledger: Ledger, batches: Collection[str] | None, forget: bool) -> list[sqlite3.Row]:
    rows = ledger.open()
    known = {name for row in rows for name in (row["ticket"], row["batch_id"])}
    if isinstance(batches, str) or not known.issuperset(batches or ()) or (forget and not batches):
        raise InputError(
            f"cancel needs a list of open batches of this store; got {batches!r:.200}; take them from the columns "
            "batch_id and ticket of status(store)"
        )
    return [
        row
        for row in rows
        if batches is None or row["ticket"] in batches or row["batch_id"] in batches
    ]


def _any_at(base_url: str | None, rows: list[sqlite3.Row], caller: str) -> bool:
    """Whether any of the open batches is at the address; an error when all of them are somewhere else."""
    here, addresses = address_of(base_url), sorted({row["base_url"] for row in rows})
    if addresses and here not in addresses:
        raise InputError(
            f"{caller} needs the address that the batches were sent to; got {here}, while this store's open batches are at "
            f"{', '.join(addresses)}; pass base_url={addresses[0]!r}"
        )
    return bool(addresses)


def _age(moment: str) -> float:
    return (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds()
