"""Sending many requests at once: workers, attempts, and the meaning of the endpoint's answers.

Nothing here knows frames. Retries belong to the client of openai: it repeats an attempt after lost
connections, timeouts and the statuses 408, 409, 429 and 5xx, and honours Retry-After. Each of its
attempts goes through `Engine._attempt`.
"""

import asyncio
import json
import logging
import os
import re
import sys
import time
import warnings
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from ragnb.errors import EndpointError, InputError
from ragnb.llm.budget import (
    Bucket,
    Budget,
    Price,
    completion_bound,
    cost_usd,
    prompt_bound,
    prompt_tokens,
)
from ragnb.llm.store import LEASE_SECONDS, Reply, Request, Store, canonical, new_owner
from ragnb.text import well_formed

KEY_VARIABLE = "OPENAI_API_KEY"
ADDRESS_VARIABLE = "OPENAI_BASE_URL"
DEFAULT_ADDRESS = "https://api.openai.com/v1"
TIMEOUT = "timeout"
NO_COMPLETION = "a reply that is not a completion"
OTHER_KIND = "an answer of another kind"
FATAL_AT_FIRST = frozenset({301, 302, 303, 307, 308, 403, 404, 405})
"""Statuses that end a run before its first reply; later they concern one request."""
MANY = 10
"""So many requests that were refused without a single reply mean that the run itself is wrong."""
LOOK_AGAIN = 0.2
"""Seconds between two looks for the reply to a request that another run is sending."""
INSTEAD = {"max_tokens": "max_completion_tokens", "temperature": None, "response_format": None}
"""Parameters that some models or servers refuse -> the name to use instead, or None."""

SHORTEST_SECRET = (
    16  # characters; shorter keys are placeholders, which a reply may contain by chance
)
_PARTS = ("", ".connection", ".http11", ".http2", ".proxy", ".socks")
LOGGERS = [
    "openai._base_client",
    "httpx",
    "httpx2",
    *(name + part for name in ("httpcore", "httpcore2") for part in _PARTS),
]


# ---- the endpoint: its key and its address -------------------------------------------------------


class Key:
    """The key of an endpoint, which shows its text only to the client that sends it.

    Tracebacks, notebooks and reprs show the variables of our functions. These therefore contain a
    `Key` and never its text. The client calls `reveal` (or awaits `areveal`) when it sends a request.

    >>> Key("sk-0123456789abcdef")
    Key(hidden)
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return "Key(hidden)"

    def reveal(self) -> str:
        """The text of the key."""
        return self._text

    async def areveal(self) -> str:
        """`reveal`, for a client that awaits it."""
        return self._text

    def clean(self, said: object) -> str:
        """Words of an endpoint on one line, without the key and cut to 300 characters."""
        return " ".join(str(said).replace(self._text, "[key]").split())[:300]

    def clean_body(self, content: bytes) -> bytes:
        """The body of a response without the key, also where JSON spells it with escapes."""
        secret = self._text.encode("ascii")
        if len(secret) < SHORTEST_SECRET:
            return content
        content = content.replace(secret, b"[key]")
        if b"\\" in content:
            try:
                plain = json.dumps(json.loads(content)).encode("ascii")
            except (
                ValueError,
                RecursionError,
            ):  # not JSON, which the reader of the body will report
                return content
            return plain.replace(secret, b"[key]") if secret in plain else content
        return content

    @contextmanager
    def out_of_logs(self) -> Iterator[None]:
        """Keep the key out of the logs of the client's libraries, such as headers that repeat it."""

        def clean(record: logging.LogRecord) -> bool:
            if self._text in (message := record.getMessage()):
                record.msg, record.args = message.replace(self._text, "[key]"), ()
            return True

        for name in LOGGERS:
            logging.getLogger(name).addFilter(clean)
        try:
            yield
        finally:
            for name in LOGGERS:
                logging.getLogger(name).removeFilter(clean)


def api_key(base_url: str | None) -> Key:
    """The key for an address: the only place where ragnb reads one.

    A missing key for another machine raises EndpointError.
    """
    key = Key(os.environ.get(KEY_VARIABLE, "").strip())
    here = is_here(address_of(base_url))
    if not (key.reveal().isascii() and key.reveal().isprintable()):
        raise EndpointError(
            f"The key in the environment variable {KEY_VARIABLE} contains a line break or a letter "
            "outside ASCII, which no key has. Copy it again."
        )
    if not key.reveal() and not here:
        raise EndpointError(
            f"An endpoint on another machine needs a key, and the environment variable {KEY_VARIABLE} "
            "has none. Set it before you start Jupyter, or replay stored replies with offline=True, "
            "which needs no key."
        )
    return key if key.reveal() else Key("none-needed")


def address_of(base_url: str | None) -> str:
    """The address of the endpoint: the argument, else the environment's, else OpenAI's."""
    return base_url or os.environ.get(ADDRESS_VARIABLE) or DEFAULT_ADDRESS


def shown_address(address: str) -> str:
    """Remove user, password and query from an address, because they may be secret.

    >>> shown_address("http://user:password@127.0.0.1:80/v1?key=1")
    'http://127.0.0.1:80/v1'
    """
    parts = urlsplit(address)
    shown = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    return shown.rstrip("/")


def is_here(address: str) -> bool:
    """Whether an address is on this machine. Anything but an HTTP address raises InputError."""
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname or "", parts.port
        if parts.scheme not in ("http", "https") or not address.isprintable():
            raise ValueError("not an HTTP address")
    except ValueError as error:
        shown = address.rpartition("@")[2].partition("?")[0]  # the rest may be secret
        raise InputError(
            f"base_url must be an address such as http://127.0.0.1:8080/v1, got {shown!r} ({error})"
        ) from None
    return host in ("localhost", "::1") or host.startswith("127.")


# ---- sending -------------------------------------------------------------------------------------


class Failed(Exception):
    """A request got no reply: the reason, and what it means for the run.

    ``passing`` failures may not happen again; ``fatal`` is the message with which the run ends;
    ``parameter`` is the name of a parameter that the model refuses.
    """

    def __init__(
        self, reason: str, *, passing: bool = False, fatal: str = "", parameter: str | None = None
    ) -> None:
        super().__init__(reason)
        self.reason, self.passing, self.fatal, self.parameter = reason, passing, fatal, parameter


@dataclass(slots=True, repr=False)
class Engine:
    """Sends requests with bounded concurrency; every reply is stored before anything else happens.

    Redirects are not followed, because prompts would go to an address that the user has not given.
    A proxy of the environment is used for other machines only.
    """

    base_url: str | None
    store: Store
    budget: Budget
    price: Price | None
    refused: set[str]  # parameters that the model refuses
    total: int  # requests of the run, stored ones included
    stored: int
    works: bool  # whether the endpoint has answered in this run or an earlier one
    timeout: float
    max_retries: int
    at_once: int  # requests under way at once, lowered if the endpoint is too slow for them
    requests: Bucket
    tokens: Bucket
    failures: dict[str, str] = field(default_factory=dict)
    done: int = 0
    failed: int = 0
    retried: int = 0
    spent: float = 0.0
    _key: Key = field(init=False)
    _address: str = field(init=False)
    _owner: str = field(default_factory=new_owner)
    _client: Any = None
    _in_a_row: int = 0
    _spent_out: bool = False
    _hopeless: str = ""
    _under_way: int = 0
    _in_time: int = 0  # attempts since `at_once` was last lowered that were answered
    _timeouts: int = 0  # and those that ran into the timeout
    _warned: bool = False

    def __post_init__(self) -> None:
        self._key = api_key(self.base_url)
        self._address = shown_address(address_of(self.base_url))

    async def run(self, jobs: Mapping[str, Request]) -> None:
        """Send the requests; ``failures`` then has the reason for each key that got no reply.

        If going on is pointless (refused key, unknown model or address, endpoint out of reach), this
        raises EndpointError. What was received is kept.
        """
        queue = deque(jobs.items())
        with self._key.out_of_logs():
            async with self._opened() as self._client:
                renewal = asyncio.ensure_future(self._renew())
                workers = [
                    asyncio.ensure_future(self._work(queue))
                    for _ in range(min(self.at_once, len(jobs)))
                ]
                try:
                    await asyncio.gather(*workers)
                finally:  # Workers are left only if the run is interrupted or the store fails.
                    for task in (*workers, renewal):
                        task.cancel()
                    await asyncio.gather(*workers, renewal, return_exceptions=True)
                    self.store.release_claims(self._owner)
                    self.store.note_failures(self.failures)
        if self._hopeless:
            raise EndpointError(self._hopeless)

    def _opened(self) -> Any:
        import openai

        engine = self

        class Attempts(openai.DefaultAsyncHttpxClient):
            async def send(self, request: Any, **options: Any) -> Any:
                return await engine._attempt(request, lambda: sending(self, request, **options))

        sending = openai.DefaultAsyncHttpxClient.send
        address = address_of(self.base_url)
        return openai.AsyncOpenAI(
            api_key=self._key.areveal,
            base_url=address,
            timeout=self.timeout,
            max_retries=self.max_retries,
            http_client=Attempts(follow_redirects=False, trust_env=not is_here(address)),
        )

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(LEASE_SECONDS / 3)
            self.store.renew_claims(self._owner)

    async def _work(self, queue: deque[tuple[str, Request]]) -> None:
        # Requests under way are paid for, so each worker ends with its own.
        while queue and not self._hopeless and not self._spent_out:
            key, request = queue.popleft()
            claim = self.store.claim(key, self._owner)
            if claim == "stored":
                self.done += 1
            elif claim == "theirs":
                queue.append((key, request))
                await asyncio.sleep(LOOK_AGAIN)
            else:
                await self._answer(key, request)

    async def _answer(self, key: str, request: Request) -> None:
        """Request one reply and store it, or record why there is none."""
        sent, most = prompt_tokens(request), completion_bound(request)
        dearest = cost_usd(self.price, prompt_bound(request), most) or 0.0
        while not self.budget.reserve(dearest):
            # Requests under way may yet cost less than was set aside for them.
            if self.budget.set_aside < 1e-9 or self._spent_out:
                self._spent_out = True
                return
            await asyncio.sleep(0.02)
        cost = 0.0
        try:
            await self.tokens.take(sent + most)
            reply = await self._ask(key, request)
            self.store.add([reply])
            cost = self._count(reply, dearest, sent + most)
        except Failed as failure:
            self.failures[key] = failure.reason
            self._note(failure)
        finally:
            self.budget.settle(dearest, cost)
            self.spent += cost

    def _count(self, reply: Reply, dearest: float, expected_tokens: int) -> float:
        """Count a reply and return its cost; without usage, the cost is the highest possible."""
        self._in_a_row = 0
        self.works = True
        self.done += 1
        if reply.prompt_tokens is None or reply.completion_tokens is None:
            return dearest
        self.tokens.correct(reply.prompt_tokens + reply.completion_tokens - expected_tokens)
        return cost_usd(self.price, reply.prompt_tokens, reply.completion_tokens) or 0.0

    def _note(self, failure: Failed) -> None:
        """Count a failure, and stop the run after repeated refusals by the endpoint."""
        self.failed += 1
        self._in_a_row += 1
        self._hopeless = self._hopeless or failure.fatal
        if self._hopeless or (self.works and not failure.passing):
            return
        enough = 2 * MANY if self.works else 1 if failure.passing else MANY
        if self._in_a_row < enough:
            return
        advice = "check the address and that the server runs"
        if failure.reason == TIMEOUT:
            advice = (
                f"no reply came within {self.timeout:g} s, so set a higher timeout or a lower "
                "max_concurrency"
            )
        if failure.reason.startswith("HTTP 4") and not failure.passing:
            advice = (
                "the server runs but refuses these requests, so check the model name and the "
                "parameters"
            )
        self._hopeless = (
            f"The endpoint {self._address} cannot be used: {failure.reason} (failures in a row: "
            f"{self._in_a_row}, replies received: {self.done}, all kept); {advice}."
        )

    async def _ask(self, key: str, request: Request) -> Reply:
        """The reply to a request, without the parameters that turn out to be refused."""
        while True:
            sent = accepted(request["parameters"], self.refused)
            try:
                return await self._send(key, request, sent)
            except Failed as failure:
                name = failure.parameter
                if name is None or name not in sent:
                    raise
            if name not in self.refused:
                self.refused.add(name)
                warn_of_refused(request["model"], name)

    async def _send(self, key: str, request: Request, parameters: dict[str, Any]) -> Reply:
        import openai

        kind = "messages" if "messages" in request else "prompt"
        endpoint = self._client.chat.completions if kind == "messages" else self._client.completions
        content = {"model": request["model"], kind: request[kind], "extra_body": parameters}
        started = time.monotonic()
        try:
            raw = await endpoint.with_raw_response.create(**content)
            body = json.loads(self._key.clean_body(raw.http_response.content))
            return read_reply(key, request, parameters, body, time.monotonic() - started)
        except Failed as known:
            failure = known
        except openai.APITimeoutError:
            failure = Failed(TIMEOUT, passing=True)
        except openai.APIConnectionError as error:
            said = self._key.clean(error.__cause__ or error)
            reason = said if said.startswith(NO_COMPLETION) else f"no connection ({said})"
            failure = Failed(reason, passing=True)
        except openai.APIStatusError as error:
            failure = self._refusal(error)
        except Exception as error:
            failure = Failed(f"{type(error).__name__}: {self._key.clean(error)}")
        # Outside of the handlers, because an exception of the client contains the key.
        raise failure

    async def _attempt(self, request: Any, send: Callable[[], Awaitable[Any]]) -> Any:
        """One attempt, as soon as the limits allow it; the client decides whether to try again."""
        http: Any = sys.modules[type(request).__module__.partition(".")[0]]
        attempt = int(request.headers.get("x-stainless-retry-count", 0))
        await self.requests.take()
        while self._under_way >= self.at_once and not self._hopeless:
            await asyncio.sleep(0.02)
        if self._hopeless:
            raise Failed("not asked: the run was stopped")
        self.retried += attempt > 0
        self._under_way += 1
        at_once = self.at_once
        try:
            # The client's own timeout starts anew with every byte that comes.
            async with asyncio.timeout(self.timeout):
                response = await send()
        except (TimeoutError, http.TimeoutException):
            self._slow_down(at_once)
            raise http.ReadTimeout(TIMEOUT, request=request) from None
        except http.ConnectError as error:
            if attempt >= 2 and not self.works:  # a mistyped address should show soon
                reason = f"no connection ({self._key.clean(error)})"
                raise Failed(reason, passing=True) from None
            raise
        finally:
            self._under_way -= 1
        self._in_time += 1
        if response.status_code == 429 and b"insufficient_quota" in response.content:
            response.headers["x-should-retry"] = "false"
        if response.status_code == 200 and not is_completion(response.content):
            body = self._key.clean_body(response.content).decode("utf-8", "replace")
            start = self._key.clean(body)[:60]
            raise http.RemoteProtocolError(f"{NO_COMPLETION} ({start!r})", request=request)
        return response

    def _slow_down(self, at_once: int) -> None:
        """Halve the number of requests at once if most of them time out.

        A slow server still works on requests that were abandoned.
        """
        if at_once != self.at_once:  # An earlier attempt says nothing about the present number.
            return
        self._timeouts += 1
        if self._timeouts < max(2, at_once // 2) or self._timeouts <= self._in_time:
            return
        self.at_once = max(1, at_once // 2)
        if not self._warned:
            self._warned = True
            lowered = (
                f" This run now sends at most {self.at_once} at a time instead of {at_once}."
                if at_once > 1
                else ""
            )
            warnings.warn(
                f"{self._timeouts} requests to {self._address} got no reply within the timeout of "
                f"{self.timeout:g} s.{lowered} If the server is slow, set a higher timeout or a lower "
                "max_concurrency.",
                stacklevel=2,
            )
        self._timeouts = self._in_time = 0

    def _refusal(self, error: Any) -> Failed:
        """What an error of the endpoint means."""
        status, said = (
            error.status_code,
            self._key.clean(error_message(error.body or error.message)),
        )
        reason = f"HTTP {status}: {said}"
        at_first = status in FATAL_AT_FIRST and not self.works
        if status == 401 or at_first or "insufficient_quota" in said:
            return Failed(reason, fatal=explain(reason, self._address))
        passing = status in (408, 409, 429) or status >= 500
        parameter = refused_parameter(said) if status in (400, 422) else None
        return Failed(reason, passing=passing, parameter=parameter)


# ---- what came back ------------------------------------------------------------------------------


def is_completion(content: str | bytes) -> bool:
    """Whether the body of a response has a choice with a message or a text."""
    try:
        choice = json.loads(content)["choices"][0]
        return isinstance(choice.get("message"), dict) or "text" in choice
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return False


def read_reply(
    key: str, request: Request, sent: Mapping[str, Any], body: Any, seconds: float | None
) -> Reply:
    """The reply in the body of a completion; ``extra`` has the parameters if others were sent."""
    choice = body["choices"][0]
    message = choice.get("message") or {"content": choice.get("text")}
    usage = body.get("usage") or {}
    extra = {name: value for name, value in message.items() if value}
    content = extra.pop("content", message.get("content"))
    extra.pop("role", None)
    if choice.get("logprobs"):
        extra["logprobs"] = choice["logprobs"]
    if sent != request["parameters"]:
        extra["sent_parameters"] = dict(sent)
    if isinstance(content, list):  # Some endpoints send a text in parts.
        content = "".join(str(part.get("text") or "") for part in content)
    return Reply(
        key=key,
        request=canonical(request),
        response=_text(content),
        finish_reason=_text(choice.get("finish_reason")),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        served_model=_text(body.get("model")),
        system_fingerprint=_text(body.get("system_fingerprint")),
        extra=json.dumps(extra) if extra else None,
        seconds=None if seconds is None else round(seconds, 3),
        created=datetime.now(UTC).isoformat(timespec="milliseconds"),
    )


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value and well_formed(value)
    return json.dumps(value)


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 2**63 else None


def error_message(body: Any) -> str:
    """The message in the body of an endpoint's error, with its code."""
    error = body.get("error", body) if isinstance(body, Mapping) else body
    if isinstance(error, Mapping) and error.get("message"):
        return str(error["message"]) + (f" ({error['code']})" if error.get("code") else "")
    return str(error)


def refused_parameter(said: str) -> str | None:
    """The parameter that an endpoint refuses as such, if it is one of `INSTEAD`.

    OpenAI's reasoning models refuse max_tokens and temperature. Some servers refuse response_format.

    >>> refused_parameter("Unsupported parameter: 'max_tokens' is not supported with this model.")
    'max_tokens'
    >>> refused_parameter("max_tokens is too large: 100000") is None
    True
    """
    found = re.search(
        r"unsupported (?:parameter|value): ['\"]?(max_tokens|temperature)\b"
        r"|\b(max_tokens)\b.*use ['\"]?max_completion_tokens"
        r"|\b(temperature)\b.*only the default"
        r"|(response_format|json_schema|structured.output)",
        said,
        flags=re.IGNORECASE,
    )
    if found and found.group(4):
        return "response_format"
    return found and next(filter(None, found.groups()))


def accepted(parameters: Mapping[str, Any], refused: Collection[str]) -> dict[str, Any]:
    """The parameters to send to a model that refuses some: under another name, or without them.

    >>> accepted({"max_tokens": 8, "temperature": 0, "seed": 1}, {"max_tokens", "temperature"})
    {'max_completion_tokens': 8, 'seed': 1}
    """
    names = {name: INSTEAD[name] if name in refused else name for name in parameters}
    return {to: parameters[name] for name, to in names.items() if to is not None}


def warn_of_refused(model: str, name: str) -> None:
    """Warn that a model refuses a parameter, also if an earlier run of this process has warned of it."""
    done = "not sent, so that the model uses its default"
    if INSTEAD[name]:
        done = f"sent as {INSTEAD[name]}"
    text = f"{model} refuses the parameter {name}; in this run it is {done}"
    warnings.warn_explicit(text, UserWarning, "ragnb", 0, module=__name__, registry={})


def explain(reason: str, address: str) -> str:
    """The sentence about a refusal: which endpoint, what it reports, and what to do."""
    advice = "nothing is lost, so run again when the cause is gone"
    if reason.startswith(("HTTP 401", "HTTP 403")):
        advice = f"put a key that it accepts into the environment variable {KEY_VARIABLE}"
    elif reason.startswith(("HTTP 3", "HTTP 404", "HTTP 405", OTHER_KIND)):
        advice = (
            "check base_url (it usually ends in /v1), the model name, and that the endpoint offers "
            "what you ask for; redirects are not followed"
        )
    elif "insufficient_quota" in reason:
        advice = "top up the account and run again: what was received is kept"
    return f"The endpoint {address} cannot be used: {reason}; {advice}."
