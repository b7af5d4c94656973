"""The ledger of batches: which requests were sent where, and what became of them, in the store's own file."""

import json
import os
import sqlite3
import uuid
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.errors import InputError, StoreError
from ragnb.llm.batch_lines import Harvest, Seen, file_line, line_of, parts
from ragnb.llm.engine import refused_parameter
from ragnb.llm.store import Store
from ragnb.version import __version__

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
    """What was sent where: two tables in the store's file, written through a connection of their own."""

    def __init__(self, store: Store) -> None:
        self.store = store
        with self._reporting():
            self._db = sqlite3.connect(store.path, timeout=60, isolation_level=None)
            self._db.row_factory = sqlite3.Row
            for statement in filter(str.strip, _SCHEMA.split(";\n")):
                self._db.execute(statement)

    def close(self) -> None:
        """Close the connection to the tables; the store stays open."""
        self._db.close()

    def claim(
        self, wanted: Mapping[str, Any], model: str, address: str, max_requests: int, max_bytes: int
    ) -> set[str]:
        """Tickets, all new, under which the requests that are neither stored nor pending are now pending."""
        tickets = set[str]()
        with self._change() as db:
            refused = self._refused(model, address, _now())
            pending = {
                row["key"]
                for row in db.execute("SELECT key FROM batch_requests WHERE state = 'pending'")
            }
            taken = pending | self.store.known(wanted)
            free = [
                line_of(key, request, refused)
                for key, request in wanted.items()
                if key not in taken
            ]
            for part in parts(free, max_requests, max_bytes):
                tickets.add(ticket := uuid.uuid4().hex)
                db.execute(
                    "INSERT INTO batches (ticket, state, model, endpoint, base_url, created, ragnb) "
                    "VALUES (?, 'claimed', ?, ?, ?, ?, ?)",
                    (ticket, model, part[0].endpoint, address, _now(), __version__),
                )
                rows = (
                    (ticket, place, line.key, line.request) for place, line in enumerate(part, 1)
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
        """When creation begins, written down; None if another process has announced or released the ticket."""
        moment = _now()
        query = "UPDATE batches SET state = 'creating', input_file_id = ?, announced = ? "
        query += "WHERE ticket = ? AND batch_id IS NULL AND announced IS ? AND collected IS NULL"
        with self._change() as db:
            return (
                moment
                if db.execute(query, (file_id, moment, ticket, before)).rowcount == 1
                else None
            )

    def withdraw(self, ticket: str, announced: str) -> None:
        """Take an announcement back: the provider said no."""
        query = "UPDATE batches SET state = 'claimed', announced = NULL WHERE ticket = ? AND announced = ?"
        with self._change() as db:
            db.execute(query + " AND batch_id IS NULL", (ticket, announced))

    def release(self, tickets: Collection[str]) -> None:
        """Drop those of the tickets that were never announced: their requests may be submitted again."""
        with self._change() as db:
            for ticket in tickets:
                db.execute("DELETE FROM batches WHERE ticket = ? AND announced IS NULL", (ticket,))
                orphans = "ticket = ? AND ticket NOT IN (SELECT ticket FROM batches)"
                db.execute(f"DELETE FROM batch_requests WHERE {orphans}", (ticket,))

    def remember(self, ticket: str, seen: Seen) -> None:
        """Write down a batch as the provider shows it."""
        query = "UPDATE batches SET batch_id = ?, state = ?, completed = ?, failed = ?, reason = ? "
        values = (seen.batch_id, seen.state, seen.completed, seen.failed, seen.reason, ticket)
        with self._change() as db:
            db.execute(query + "WHERE ticket = ? AND collected IS NULL", values)

    def note(self, ticket: str, reason: str) -> None:
        """Write down what stands in a batch's way."""
        with self._change() as db:
            db.execute("UPDATE batches SET reason = ? WHERE ticket = ?", (reason, ticket))

    def finish(self, ticket: str, harvest: Harvest, otherwise: str) -> None:
        """Close a batch: each pending request is stored, or failed with its reason."""
        pending = "WHERE ticket = ? AND state = 'pending'"
        failed = [(reason, ticket, key) for key, reason in harvest.failed.items()]
        with self._change() as db:
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

    def outcomes(self, tickets: Collection[str]) -> dict[str, str | None]:
        """Requests of batches that are closed: why each has no reply, None if it has one."""
        rows = self._query(
            "SELECT ticket, key, reason FROM batch_requests WHERE state != 'pending'"
        )
        return {row["key"]: row["reason"] for row in rows if row["ticket"] in tickets}

    def failures(self) -> list[tuple[Any, ...]]:
        """Requests that failed and are neither stored nor pending now, oldest batch first."""
        return [
            tuple(row)
            for row in self._query(
                "SELECT r.key, r.reason, b.batch_id, b.state FROM batch_requests r JOIN batches b USING (ticket) "
                "WHERE r.state = 'failed' AND r.key NOT IN (SELECT key FROM replies) "
                "AND r.key NOT IN (SELECT key FROM batch_requests WHERE state = 'pending') ORDER BY b.created, r.line"
            )
        ]

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
        with self._reporting():
            return self._db.execute(query, values).fetchall()

    @contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        """One transaction, which no other process can write into."""
        with self._reporting():
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
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(
                f"batches need a store file that can be read and written; got {str(error)!r} for {self.store.path!r}; check "
                "its permissions and the disk, and call again: nothing is lost"
            ) from error


@contextmanager
def open_ledger(store: Store | str | Path, *, must_exist: bool = True) -> Iterator[Ledger]:
    """The ledger in a store's file, closed afterwards; a store that was given open stays open."""
    path = store.path if isinstance(store, Store) else os.path.expanduser(str(store))
    if path == ":memory:":
        raise InputError(
            "batches need a store that outlives the process; got ':memory:'; pass the path of a file"
        )
    if must_exist and not os.path.exists(path):
        raise StoreError(
            f"batches need the store that they were submitted with; got no file {path!r}; check the path"
        )
    with (
        Store.open(store) as opened,
        closing(Ledger(opened)) as ledger,
    ):
        yield ledger


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
