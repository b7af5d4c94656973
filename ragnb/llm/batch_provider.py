"""The provider of batches: one endpoint's files and batches, and its errors said in our words."""

import sqlite3
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import urlsplit

from ragnb.errors import EndpointError, InputError
from ragnb.llm.batch_lines import Seen
from ragnb.llm.client import api_key, given_address, is_here
from ragnb.llm.engine import error_message, retry_after
from ragnb.version import __version__

CREATE_TIMEOUT = 60.0  # far less than batch.SETTLE, after which no creation can still be under way
_TICKET = "ragnb_ticket"
_DEFAULT_ADDRESS = "https://api.openai.com/v1"
_T = TypeVar("_T")


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
        return self._ask("finding a batch again", lambda: self._find(wanted))

    def _find(self, wanted: dict[str, str]) -> list[tuple[str, Seen]]:
        found, met = dict[str, Seen](), set[str]()
        for batch in self._client.batches.list(limit=100):
            if batch.id in met:  # a provider without pages shows the first one for ever
                break
            met.add(batch.id)
            ticket = wanted.get(batch.input_file_id) or (batch.metadata or {}).get(_TICKET, "")
            if ticket in wanted.values() and ticket not in found:
                found[ticket] = self._seen(batch)
        return list(found.items())

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
        """The batch after it was told to stop; one that has ended already is left as it is."""
        return self._ask("cancel", lambda: self._cancel(batch_id), may_be_gone=True)

    def _cancel(self, batch_id: str) -> Seen:
        import openai

        try:
            return self._seen(self._client.batches.cancel(batch_id))
        except (openai.BadRequestError, openai.ConflictError):
            return self._seen(self._client.batches.retrieve(batch_id))

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
    """The address as remembered: without user, password and query, any of which may hold a key."""
    address = (
        given_address(base_url) or _DEFAULT_ADDRESS
    )  # a line of its own: a traceback may show all names in one
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")
