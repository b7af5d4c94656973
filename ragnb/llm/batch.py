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

import sqlite3
import time
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from ragnb.errors import EndpointError, InputError
from ragnb.llm.batch_ledger import Ledger, open_ledger
from ragnb.llm.batch_lines import Harvest, Seen
from ragnb.llm.batch_provider import Gone, Provider, Refused, Unsure, address_of
from ragnb.llm.client import count_answers, say, why_no_text
from ragnb.llm.engine import warn_of_refused
from ragnb.llm.store import Store, canonical_requests, request_key

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
    with open_ledger(store, must_exist=False) as ledger:
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
    with open_ledger(store) as ledger:
        if _any_at(base_url, ledger.open(), "status"):
            with Provider(base_url, timeout, max_retries) as provider:
                for _ in _look_up(ledger, provider):
                    pass
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
    reason (see `failures`) and may be submitted again. Calling again changes nothing.

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
    with open_ledger(store) as ledger:
        brought = set()
        if _any_at(base_url, ledger.open(), "collect"):
            with Provider(base_url, timeout, max_retries) as provider:
                for ticket, seen in _look_up(ledger, provider):
                    if seen.state in FINAL:
                        _bring_home(ledger, provider, ticket, seen)
                        brought.add(ticket)
        if outcomes := ledger.outcomes(brought):
            ledger.store.note_failures(
                {key: reason for key, reason in outcomes.items() if reason is not None}
            )
            replies = ledger.store.get(outcomes)
            if progress:
                say(
                    count_answers(
                        [
                            why_no_text(replies[key]) if key in replies else outcomes[key]
                            for key in outcomes
                        ]
                    )
                )
        return ledger.table()


def failures(store: Store | str | Path) -> pd.DataFrame:
    """Requests that a batch left without a reply, and why: ``request_key, reason, batch_id, state``, the latest of each.

    Requests that have a reply by now, or are pending again, are left out.
    """
    with open_ledger(store) as ledger:
        frame = pd.DataFrame(
            ledger.failures(), columns=["request_key", "reason", "batch_id", "state"]
        )
    return frame.drop_duplicates("request_key", keep="last", ignore_index=True)


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
        Ask nobody and give the named batches up: their requests may be submitted, and are then paid for, again. For batches
        that the provider does not know.

    Raises
    ------
    InputError
        A name that is no open batch, or ``forget`` without names.
    EndpointError
        The endpoint refuses the key or cannot be reached.
    """
    with open_ledger(store) as ledger:
        rows = _named(ledger, batches, forget)
        tickets = {row["ticket"] for row in rows}
        if forget:
            for ticket in tickets:
                ledger.finish(ticket, Harvest({}), "the batch was given up")
        elif _any_at(base_url, rows, "cancel"):
            with Provider(base_url, timeout, max_retries) as provider:
                _cancel_all(ledger, provider, tickets)
        return ledger.table(tickets)


# ---- the steps ---------------------------------------------------------------------------------------------------------


def _send_all(ledger: Ledger, provider: Provider, tickets: set[str]) -> None:
    _find_lost(ledger, provider)
    for row in ledger.unsent(tickets, provider.address):
        if row["announced"] is None:
            _create(
                ledger, provider, row, provider.upload(row["ticket"], ledger.content(row["ticket"]))
            )
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


def _look_up(ledger: Ledger, provider: Provider) -> Iterator[tuple[str, Seen]]:
    """Open batches of this provider as they are now; one that it does not know gets a reason and is passed over."""
    _find_lost(ledger, provider)
    for row in ledger.open():
        if row["batch_id"] and row["base_url"] == provider.address:
            try:
                seen = provider.retrieve(row["batch_id"])
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


def _cancel_all(ledger: Ledger, provider: Provider, tickets: set[str]) -> None:
    _find_lost(ledger, provider)
    ledger.release(tickets)
    for row in ledger.open():
        if row["ticket"] in tickets and row["batch_id"] and row["base_url"] == provider.address:
            try:
                ledger.remember(row["ticket"], provider.cancel(row["batch_id"]))
            except Gone as gone:
                ledger.note(
                    row["ticket"],
                    f"the provider does not know it with this key ({gone}): see cancel(forget=True)",
                )


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
