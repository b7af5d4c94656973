"""Requests for a provider's Batch API, which often costs half the price, in three steps.

1. `write_batch` writes the requests that have no reply yet as JSON Lines.
2. You upload the file with the provider's own page or tool, and download the output when it is there.
3. `add_batch_output` adds the replies to the store. ``complete(..., offline=True)`` then returns them.

No request is paid for twice by these steps. The store remembers which requests are in a file, and
`write_batch` leaves them out until the provider reports an error for them.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.errors import InputError
from ragnb.llm.bodies import classify, read_reply
from ragnb.llm.endpoint import endpoint_name, error_message, safe_message, without_secrets
from ragnb.llm.store import (
    Reply,
    Request,
    Store,
    at_endpoint,
    canonical,
    canonical_requests,
    request_key,
)
from ragnb.printing import warn

# OpenAI's limits for one file: the number of requests, and the size in bytes.
MAX_REQUESTS, MAX_BYTES = 50_000, 200_000_000
# How the reason of a request begins that is in a file and has no reply or error yet.
WAITING = "in the batch file "


@accepts(aligned=False, repeats="size")
def write_batch(
    requests: pd.DataFrame,
    path: str | Path,
    *,
    model: str,
    store: Store | str | Path,
    base_url: str | None = None,
    repeats: int = 1,
    again: bool = False,
) -> list[Path]:
    """Write the requests that have no reply yet to a file for a provider's Batch API.

    Parameters
    ----------
    requests, model, base_url, repeats
        As for `ragnb.complete`. The file itself does not contain ``base_url``, but the store knows the
        replies by it. A parameter that the model refuses is not replaced.
    path
        The file, which must not exist yet. If there are more requests than the provider takes in one
        file, the others are in further files, such as ``batch.2.jsonl`` next to ``batch.jsonl``.
    store
        File (or open `Store`) of the replies. It remembers which requests are in a file.
    again
        Whether to include requests that are in an earlier file and have neither a reply nor an error.
        Use it only if that file was not uploaded, or if its batch was cancelled: they are paid for
        again.

    Returns
    -------
    list of Path
        The files, in the order of the requests. There is none if no request is left.

    Raises
    ------
    InputError
        A frame without requests, or a file that exists already.
    StoreError
        See `Store`.
    """
    canonical_forms = canonical_requests(requests, model, repeats)
    endpoint = endpoint_name(base_url)
    with Store.open(store) as opened:
        # Equal requests have one key and need one reply.
        addressed = opened.as_stored_for(canonical_forms, endpoint)
        requests_by_key = {request_key(request): request for request in addressed}
        if endpoint is not None:
            opened.note_endpoint(endpoint)
        # One transaction, so that no other process writes the same requests to another file.
        with opened.transaction() as db:
            excluded = opened.stored_keys(requests_by_key)
            if not again:
                excluded |= _waiting(opened)
            lines = {
                key: _line(key, request)
                for key, request in requests_by_key.items()
                if key not in excluded
            }
            keys_of_files = list(_files(lines))
            paths = _paths(Path(path).expanduser(), len(keys_of_files))
            for file, keys in zip(paths, keys_of_files, strict=True):
                # If this process is killed here, the next call finds the file and refuses to go on.
                # The mode "x" refuses a file that another process has made meanwhile.
                with file.open("xb") as stream:
                    stream.writelines(lines[key] for key in keys)
                _note_waiting(db, keys, file)
    return paths


@accepts(aligned=False, repeats="size")
def add_batch_output(
    output: str | Path | Sequence[str | Path],
    requests: pd.DataFrame,
    *,
    model: str,
    store: Store | str | Path,
    base_url: str | None = None,
    repeats: int = 1,
) -> int:
    """Add the replies in the output of a batch to the store, and return how many are new.

    A request for which the provider reports an error has this reason in
    ``complete(..., offline=True)``, and the next `write_batch` contains it again. Adding a file twice
    changes nothing. Lines that cannot be read, repeat another line or are about other requests are
    skipped, and a warning counts them.

    Parameters
    ----------
    output
        The file that the provider returned, or a list of files, such as the output and the errors.
    requests, model, store, base_url, repeats
        What was passed to `write_batch`.

    Raises
    ------
    InputError
        A file cannot be read, or has no line about any of the requests.
    StoreError
        See `Store`.
    """
    paths = [output] if isinstance(output, str | Path) else list(output)
    endpoint = endpoint_name(base_url)
    requests_by_key = {}
    for canonical_form in canonical_requests(requests, model, repeats):
        request = at_endpoint(canonical_form, endpoint)
        requests_by_key[request_key(request)] = request
    # The outcome of a request in an earlier file precedes that in a later one.
    replies: dict[str, Reply] = {}
    errors: dict[str, str] = {}
    for path in paths:
        outcomes = _outcomes(Path(path).expanduser(), requests_by_key)
        for key, outcome in outcomes.items():
            if isinstance(outcome, Reply):
                replies.setdefault(key, outcome)
            else:
                errors.setdefault(key, outcome)
    with Store.open(store) as opened:
        n_before = len(opened)
        # Replies are stored first, so that what was paid for is safe before anything else happens.
        opened.add(replies.values())
        # A request with a reply, perhaps from another file, has not failed.
        stored = opened.stored_keys(errors)
        opened.note_failures({key: errors[key] for key in errors if key not in stored})
        return len(opened) - n_before


# ---- writing -------------------------------------------------------------------------------------


def _waiting(store: Store) -> set[str]:
    """Keys of the requests in files whose output has not been added."""
    return {key for key, reason in store.failures().items() if reason.startswith(WAITING)}


def _note_waiting(db: sqlite3.Connection, keys: Sequence[str], file: Path) -> None:
    """Store that requests are in a file. A replay reports this as the reason why they have no reply.

    ``db`` is the connection of the transaction in which the file is written.
    """
    reason = f"{WAITING}{file.name}, whose output has not been added yet"
    rows = [(key, reason) for key in keys]
    db.executemany("INSERT OR REPLACE INTO failures VALUES (?, ?)", rows)


def _line(key: str, request: Request) -> bytes:
    """The line of a file that requests one reply, as the Batch API reads it."""
    is_chat = "messages" in request
    kind = "messages" if is_chat else "prompt"
    body = {"model": request["model"], kind: request[kind], **request["parameters"]}
    line = {
        "custom_id": key,
        "method": "POST",
        "url": "/v1/chat/completions" if is_chat else "/v1/completions",
        "body": body,
    }
    # ASCII only, so that no line separator of Unicode splits a line.
    return canonical(line).encode("ascii") + b"\n"


def _files(lines: Mapping[str, bytes]) -> Iterator[list[str]]:
    """Yield the keys of the requests in each file. No file exceeds the provider's limits."""
    keys: list[str] = []
    size = 0
    for key, line in lines.items():
        # The present file has no room for another request, or not for this line.
        is_full = len(keys) == MAX_REQUESTS or size + len(line) > MAX_BYTES
        # A single line above the limit has a file of its own, which the provider refuses.
        if keys and is_full:
            yield keys
            keys, size = [], 0
        keys.append(key)
        size += len(line)
    if keys:
        yield keys


def _paths(first: Path, n: int) -> list[Path]:
    """The paths of ``n`` files: the first one, and numbered ones next to it. A file that exists raises InputError."""
    numbered = [first.with_suffix(f".{number}{first.suffix}") for number in range(2, n + 1)]
    # There may be nothing to write, and then there is no file.
    paths = [first, *numbered][:n]
    existing = [str(path) for path in paths if path.exists()]
    if existing:
        raise InputError(
            f"{existing[0]} exists already; add its output with add_batch_output first, or delete it "
            "if it was never uploaded"
        )
    return paths


# ---- reading -------------------------------------------------------------------------------------


def _outcomes(path: Path, requests: Mapping[str, Request]) -> dict[str, Reply | str]:
    """The reply to each request in an output file, or the reason why there is none, by key.

    A warning counts the lines that are skipped.
    """
    outcomes: dict[str, Reply | str] = {}
    skipped: Counter[str] = Counter()
    lines = _lines(path)
    for line in lines:
        try:
            entry = json.loads(without_secrets(line))
            key = entry["custom_id"]
            if key not in requests:
                skipped["about other requests"] += 1
            elif key in outcomes:
                skipped["about a request of an earlier line"] += 1
            else:
                outcomes[key] = _outcome(key, requests[key], entry)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            # It is not JSON, is nested too deeply, or has another form than the lines of an output.
            skipped["unreadable"] += 1
    if not outcomes:
        raise InputError(
            f"none of the {len(lines)} lines of {path.name} is about these requests; pass the "
            "requests, model, base_url and repeats that you passed to write_batch"
        )
    if skipped:
        counts = ", ".join(f"{count} {kind}" for kind, count in skipped.items())
        warn(f"{path.name} has lines that were skipped: {counts}")
    return outcomes


def _lines(path: Path) -> list[bytes]:
    """The lines of an output file that are not blank."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise InputError(f"the output of a batch cannot be read: {error}") from None
    lines = [line for line in lines if line.strip()]
    if not lines:
        raise InputError(f"{path.name} is empty; pass the output file that the provider returned")
    # The lines that `write_batch` writes end with the address of the request.
    if lines[0].rstrip().endswith((b'"url":"/v1/chat/completions"}', b'"url":"/v1/completions"}')):
        raise InputError(
            f"{path.name} contains the requests; pass the output file that the provider returned"
        )
    return lines


def _outcome(key: str, request: Request, entry: Mapping[str, Any]) -> Reply | str:
    """The reply in a line of the output, or the reason why it has none."""
    response = entry.get("response")
    if not response:
        return safe_message(error_message(entry.get("error") or "neither a response nor an error"))
    status, body = response.get("status_code", 200), response["body"]
    if status != 200:
        return safe_message(f"HTTP {status}: {error_message(body)}")
    # An answer with status 200 may be an error, as in a run without the Batch API.
    answer = classify(json.dumps(body).encode("utf-8"))
    if answer.body and answer.status == 200:
        completion = json.loads(answer.body)
        # Nobody knows how long the reply took.
        return read_reply(key, request, request["parameters"], completion, seconds=None)
    return safe_message(answer.failure)
