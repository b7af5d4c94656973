"""The provider of batches: its files, its batches and its errors as ragnb reports them."""

import json
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ragnb.errors import EndpointError, InputError
from ragnb.llm.client import api_key, given_address, is_here, shown_address
from ragnb.llm.engine import (
    AttemptFailed,
    Job,
    accepted,
    error_message,
    noted,
    read_reply,
    retry_after,
)
from ragnb.llm.store import Reply, Request, canonical
from ragnb.version import __version__

CREATE_TIMEOUT = 60.0  # far less than batch.SETTLE, after which no creation can still be under way
_TICKET = "ragnb_ticket"
_DEFAULT_ADDRESS = "https://api.openai.com/v1"
_T = TypeVar("_T")


# ---- the lines of its files ---------------------------------------------------------------------------------------


def endpoint_of(request: Request) -> str:
    """Path of the endpoint that answers a request."""
    return "/v1/chat/completions" if "messages" in request else "/v1/completions"


def file_line(key: str, request: Request, refused: Collection[str]) -> bytes:
    """Line of the input file for a model that refuses some parameters; ASCII only, so that no line separator splits it."""
    content = "messages" if "messages" in request else "prompt"
    parameters = accepted(request["parameters"], refused)
    body = {"model": request["model"], content: request[content], **parameters}
    line = {"custom_id": key, "method": "POST", "url": endpoint_of(request), "body": body}
    return canonical(line).encode("ascii") + b"\n"


def split_into_files(
    requests: Mapping[str, Request], refused: Collection[str], max_requests: int, max_bytes: int
) -> Iterator[dict[str, Request]]:
    """Split requests, in order, into files within the provider's limits; each file has one endpoint."""
    part: dict[str, Request] = {}
    size, endpoint = 0, ""
    for key, request in requests.items():
        length = len(file_line(key, request, refused))
        if length > max_bytes:
            raise InputError(
                f"a batch file needs requests of at most {max_bytes} bytes; got one of {length} bytes "
                f"({canonical(request)[:60]}...); shorten it, leave it out, or ask it with complete"
            )
        full = len(part) == max_requests or size + length > max_bytes
        if part and (full or endpoint_of(request) != endpoint):
            yield part
            part, size = {}, 0
        part[key], endpoint = request, endpoint_of(request)
        size += length
    if part:
        yield part


@dataclass(frozen=True, slots=True)
class Seen:
    """A batch as its provider shows it."""

    batch_id: str
    state: str
    completed: int | None
    failed: int | None
    output_file_id: str | None
    error_file_id: str | None
    reason: str | None


@dataclass
class Harvest:
    """What the files of a finished batch say about the requests ``asked`` (canonical JSON by key).

    The requests were sent without the parameters ``refused``, or with these under another name.
    """

    asked: dict[str, str]
    clean: Any = str
    refused: Collection[str] = ()
    failed: dict[str, str] = field(default_factory=dict)
    malformed: int = 0
    unknown: int = 0

    def read(self, content: bytes, block: int = 1000) -> Iterator[list[Reply]]:
        """Replies of a file, some at a time; errors, malformed lines and unknown requests are noted."""
        replies: list[Reply] = []
        for line in content.split(b"\n"):
            reply = self._read_line(line) if line.strip() else None
            if reply:
                replies.append(reply)
            if len(replies) == block:
                yield replies
                replies = []
        yield replies

    def _read_line(self, line: bytes) -> Reply | None:
        try:
            entry = json.loads(line)
            key = entry["custom_id"]
        except (ValueError, LookupError, TypeError, RecursionError):
            self.malformed += 1
            return None
        if not isinstance(key, str) or key not in self.asked:
            self.unknown += 1
            return None
        request = json.loads(self.asked[key])
        outcome = _outcome(Job(key, request), entry)
        if isinstance(outcome, Reply):
            return noted(
                outcome, request["parameters"], accepted(request["parameters"], self.refused)
            )
        self.failed[key] = self.clean(outcome)
        return None


def _outcome(job: Job, entry: Mapping[str, Any]) -> Reply | str:
    """The reply in an output line, or the reason why it has none."""
    response = entry.get("response")
    if not isinstance(response, Mapping):
        return _complaint(entry.get("error"))
    if response.get("status_code", 200) != 200:
        body = response.get("body")
        said = body.get("error", body) if isinstance(body, Mapping) else body
        return f"HTTP {response.get('status_code')}: {_complaint(said)}"
    try:
        return replace(
            read_reply(job, json.dumps(response.get("body")).encode("ascii"), 0.0), seconds=None
        )
    except AttemptFailed as failure:
        return failure.reason


def _complaint(error: Any) -> str:
    if not isinstance(error, Mapping):
        return str(error) if error else "neither a response nor an error"
    code = f" ({error['code']})" if error.get("code") else ""
    return f"{error.get('message') or 'an error without a message'}{code}"


# ---- its files and batches ----------------------------------------------------------------------------------------


class Gone(Exception):
    """The provider does not know the batch or file (HTTP 404)."""


class Unsure(Exception):
    """The answer to a creation is lost: the batch may exist or not."""


class Refused(Exception):
    """The provider did not create the batch: why, whether it may do so later, and how long it asks to wait."""

    def __init__(self, error: EndpointError, *, retry: bool, wait: float | None) -> None:
        super().__init__(str(error))
        self.error, self.retry, self.wait = error, retry, wait


class Provider:
    """Files and batches of one endpoint; its errors are `EndpointError` and name no key."""

    def __init__(self, base_url: str | None, timeout: float, max_retries: int) -> None:
        import openai

        if timeout <= 0 or max_retries < 0:
            raise InputError(
                f"a batch needs timeout > 0 and max_retries >= 0; got {timeout} and {max_retries}; change them"
            )
        self._key, self.address = api_key(base_url), address_of(base_url)
        self.max_retries, self.timeout = max_retries, timeout
        own = (
            openai.DefaultHttpxClient(trust_env=False) if is_here(given_address(base_url)) else None
        )  # no proxy
        self._client = openai.OpenAI(
            api_key=self._key.reveal,
            base_url=base_url,
            max_retries=max_retries,
            timeout=timeout,
            http_client=own,
        )

    def __enter__(self) -> "Provider":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def upload(self, ticket: str, content: bytes) -> str:
        """The id of a file of requests, sent now."""
        file = (f"ragnb-{ticket}.jsonl", content, "application/jsonl")
        return self._ask(
            "submit", lambda: _id(self._client.files.create(file=file, purpose="batch"))
        )

    def create(self, ticket: str, endpoint: Any, file_id: str) -> Seen:
        """One attempt to create a batch, which fails as `Refused` (there is none) or `Unsure` (there may be one)."""
        import openai

        batches = self._client.with_options(
            max_retries=0, timeout=min(CREATE_TIMEOUT, self.timeout)
        ).batches
        about = {_TICKET: ticket, "ragnb_version": __version__}
        order: dict[str, Any] = {
            "input_file_id": file_id,
            "completion_window": "24h",
            "metadata": about,
        }
        problem: Exception
        try:
            with self._key.out_of_logs():
                return self._seen(batches.create(endpoint=endpoint, **order))
        except openai.APIStatusError as error:
            unsure = error.status_code in (408, 409) or error.status_code >= 500
            problem = Unsure(self._said(error)) if unsure else self._not_created(error)
        except (openai.APIConnectionError, AttributeError, TypeError, ValueError) as error:
            problem = Unsure(self._said(error))
        raise problem  # outside the handlers, see _ask

    def _not_created(self, error: Any) -> Refused:
        said = self._said(error)
        retry = error.status_code == 429 and "insufficient_quota" not in said
        return Refused(
            self._refused("submit", error.status_code, said),
            retry=retry,
            wait=retry_after(error.response.headers),
        )

    def find(self, rows: list[sqlite3.Row]) -> list[tuple[str, Seen]]:
        """Those of the announced batches that the provider has, by ticket."""
        wanted: dict[str, str] = {row["input_file_id"]: row["ticket"] for row in rows}

        def search() -> list[tuple[str, Seen]]:
            found, met = dict[str, Seen](), set[str]()
            for batch in self._client.batches.list(limit=100):
                if batch.id in met:  # a provider without pages sends the first page again and again
                    break
                met.add(batch.id)
                ticket = wanted.get(batch.input_file_id) or (batch.metadata or {}).get(_TICKET, "")
                if ticket in wanted.values() and ticket not in found:
                    found[ticket] = self._seen(batch)
            return list(found.items())

        return self._ask("finding a batch again", search)

    def retrieve(self, batch_id: str) -> Seen:
        """The batch as it is now."""
        return self._ask(
            "status", lambda: self._seen(self._client.batches.retrieve(batch_id)), may_be_gone=True
        )

    def content(self, file_id: str) -> bytes:
        """All bytes of a file, without the key."""
        content = self._ask(
            "collect", lambda: self._client.files.content(file_id).content, may_be_gone=True
        )
        return b"\n".join(map(self._key.clean_body, content.split(b"\n")))

    def cancel(self, batch_id: str) -> Seen:
        """The batch after a request to stop it; one that has ended already stays as it is."""
        import openai

        def stop() -> Seen:
            try:
                return self._seen(self._client.batches.cancel(batch_id))
            except (openai.BadRequestError, openai.ConflictError):
                return self._seen(self._client.batches.retrieve(batch_id))

        return self._ask("cancel", stop, may_be_gone=True)

    def clean(self, said: object) -> str:
        """Words of the provider, short and without the key."""
        return self._key.clean(said)

    def _seen(self, batch: Any) -> Seen:
        counts, errors = batch.request_counts, (batch.errors and batch.errors.data) or []
        said = [
            (f"line {error.line}: " if error.line else "") + (error.message or error.code or "?")
            for error in errors
        ]
        return Seen(
            batch_id=_id(batch),
            state=str(batch.status).lower(),
            completed=counts and counts.completed,
            failed=counts and counts.failed,
            output_file_id=batch.output_file_id,
            error_file_id=batch.error_file_id,
            reason=self.clean("; ".join(said)) or None,
        )

    def _ask(self, what: str, call: Callable[[], _T], *, may_be_gone: bool = False) -> _T:
        """What a call of the client returns; its errors in our words."""
        import openai

        problem: Exception
        try:
            with self._key.out_of_logs():
                return call()
        except openai.APIStatusError as error:
            gone = may_be_gone and isinstance(error, openai.NotFoundError)
            problem = (
                Gone(self._said(error))
                if gone
                else self._refused(what, error.status_code, self._said(error))
            )
        except openai.APIConnectionError as error:
            problem = EndpointError(
                f"{what} needs an endpoint that answers; got {self._said(error)} from {self.address}; check the address and "
                "the network and call again: nothing is lost"
            )
        except (AttributeError, TypeError, ValueError) as error:
            problem = EndpointError(
                f"{what} needs an endpoint with the Batch API; got an answer of another kind from {self.address} "
                f"({self._said(error)}); check base_url (it usually ends in /v1)"
            )
        raise problem  # outside the handlers: an exception of the client contains the key, so ours must not lead to it

    def _refused(self, what: str, status: int, said: str) -> EndpointError:
        if status in (404, 405):
            return EndpointError(
                f"{what} needs an endpoint with the Batch API (files and batches); got {said} from {self.address}; check "
                "base_url (it usually ends in /v1), or use complete, which needs none"
            )
        if status in (401, 403):
            return EndpointError(
                f"{what} needs a key that {self.address} accepts; got {said}; put the key into the environment variable "
                "OPENAI_API_KEY"
            )
        return EndpointError(f"{what} needs an endpoint that accepts the request; got {said} from {self.address}; call "
                             "again when the cause is gone: what was sent before is kept")  # fmt: skip

    def _said(self, error: Any) -> str:
        import openai

        if isinstance(error, openai.APIStatusError):
            return self.clean(f"HTTP {error.status_code}: {error_message(error)}")
        return self.clean(f"{type(error).__name__}: {error.__cause__ or error}")


def _id(answer: Any) -> str:
    if not isinstance(answer.id, str) or not answer.id:
        raise ValueError(f"no id in it: {answer!r}")
    return answer.id


def address_of(base_url: str | None) -> str:
    """Address as the ledger stores it: without user, password and query, any of which may contain a key."""
    return shown_address(given_address(base_url) or _DEFAULT_ADDRESS).rstrip("/")
