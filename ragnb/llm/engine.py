"""Sending many requests at once: workers, retries and what an answer of the endpoint means. Knows no frame and no file."""

import asyncio
import json
import logging
import math
import random
import re
import time
import warnings
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from ragnb.errors import EndpointError
from ragnb.llm.budget import Bucket, Budget, completion_bound, prompt_bound, prompt_tokens
from ragnb.llm.store import LEASE_SECONDS, Claims, Reply, canonical
from ragnb.text import well_formed

RETRIED = frozenset({408, 409, 425, 429})  # and every 5xx
ALWAYS_FATAL = frozenset({401})
FATAL_AT_FIRST = frozenset(
    {403, 404, 405}
)  # before the first reply; later they concern one request
FIRST_WAIT, LONGEST_WAIT, LONGEST_ASKED = 0.5, 60.0, 600.0
LOOK_AGAIN = 0.2  # seconds between checks for the reply to a request that another run is sending
TIMEOUT = "timeout"
INSTEAD = {"max_tokens": "max_completion_tokens", "temperature": None}
"""Parameters that OpenAI's reasoning models refuse, and what is sent instead: another name, or nothing."""
ALL_BAD = 10  # so many refused requests and not one reply: the run itself is wrong

SHORTEST_SECRET = 16  # characters; shorter keys are placeholders such as EMPTY, which a reply may contain by chance
_PARTS = ("", ".connection", ".http11", ".http2", ".proxy", ".socks")
LOGGERS = [
    "openai._base_client",
    "httpx",
    "httpx2",
    *(name + part for name in ("httpcore", "httpcore2") for part in _PARTS),
]


class Key:
    """The key of an endpoint; it shows its text to nobody but the client that sends it.

    Tracebacks, notebooks and reprs show the variables of our functions, so these hold a `Key` and never its text. The client
    calls `reveal` (or awaits `areveal`) when it makes a request.

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
            except (ValueError, RecursionError):  # no JSON: whoever reads it will say so
                return content
            return plain.replace(secret, b"[key]") if secret in plain else content
        return content

    @contextmanager
    def out_of_logs(self) -> Iterator[None]:
        """Keep the key out of what the client's libraries log, such as headers in which an endpoint repeats it."""

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


@dataclass(slots=True)
class Job:
    """One request to be sent, under its key."""

    key: str
    request: Mapping[str, Any]


@dataclass(slots=True)
class Progress:
    """What has happened so far; read by the progress line while the run goes on."""

    total: int
    stored: int = 0  # replies that an earlier run received, so that the endpoint is known to work
    done: int = 0
    failed: int = 0
    retried: int = 0
    cost_usd: float | None = None  # None while or where it is unknown


class AttemptFailed(Exception):
    """An attempt failed: why, whether another may help, how long the endpoint asks to wait, which parameter it refuses."""

    def __init__(
        self,
        reason: str,
        *,
        retry: bool,
        fatal: str | None = None,
        wait: float | None = None,
        parameter: str | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason, self.retry, self.fatal, self.wait, self.parameter = (
            reason,
            retry,
            fatal,
            wait,
            parameter,
        )


class _OverBudget(Exception):
    """What is left of the budget does not pay for the next request."""


@dataclass(slots=True)
class Engine:
    """Sends jobs with bounded concurrency; every reply goes to ``keep`` before anything else happens.

    Parameters
    ----------
    client
        An ``openai.AsyncOpenAI`` made with ``max_retries=0``.
    claims
        Which requests other runs are asking: their replies are waited for.
    keep
        Called with each reply; what it raises ends the run.
    progress
        Counted up as the run goes on.
    max_retries
        Further attempts after a failure that may pass: no connection, timeout, 408, 409, 425, 429, 5xx, a reply that is no
        completion.
    timeout
        Seconds after which an attempt is abandoned, even if part of the reply has arrived.
    key
        The endpoint's key, which is removed from everything that the endpoint says.
    address
        The endpoint as shown in messages.
    requests, tokens, budget
        Limits a minute, and in dollars.
    """

    client: Any
    claims: Claims
    keep: Callable[[Reply], None]
    progress: Progress
    max_retries: int = 5
    timeout: float | None = None
    key: Key = field(default_factory=lambda: Key("none-needed"))
    address: str = ""
    requests: Bucket = field(default_factory=lambda: Bucket(None))
    tokens: Bucket = field(default_factory=lambda: Bucket(None))
    budget: Budget = field(default_factory=lambda: Budget(None, None))
    failures: dict[str, str] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)  # parameters that the model refuses
    _not_before: float = 0.0
    _in_a_row: int = 0
    _spent_out: bool = False
    _hopeless: str = ""
    _at_once: int = 1  # requests under way at once, lowered when the endpoint is too slow for them
    _under_way: int = 0
    _in_time: int = 0  # attempts since `_at_once` was last lowered that brought a reply
    _timeouts: int = 0  # and those that ran into the timeout
    _told_of_timeouts: bool = False

    async def run(self, jobs: list[Job], max_concurrency: int) -> dict[str, str]:
        """Send all jobs; return the reason for each key that got no reply.

        Raises
        ------
        EndpointError
            Going on is pointless: refused key, unknown model or address, endpoint out of reach. What was received is kept.
        """
        queue = deque(jobs)
        self._at_once = max_concurrency
        renewal = asyncio.ensure_future(self._renew())
        workers = [
            asyncio.ensure_future(self._work(queue)) for _ in range(min(max_concurrency, len(jobs)))
        ]
        try:
            await asyncio.gather(*workers)
        except _OverBudget:
            await asyncio.gather(
                *workers, return_exceptions=True
            )  # what is under way is paid for: wait for it
        finally:  # reached with workers left only when the run is interrupted or the store fails
            for task in (*workers, renewal):
                task.cancel()
            await asyncio.gather(*workers, renewal, return_exceptions=True)
        if self._hopeless:
            raise EndpointError(self._hopeless)
        return self.failures

    @property
    def _works(self) -> bool:
        return self.progress.done + self.progress.stored > 0

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(LEASE_SECONDS / 3)
            self.claims.renew()

    async def _work(self, queue: deque[Job]) -> None:
        while (
            queue and not self._hopeless
        ):  # requests under way are paid for: each worker ends with its own
            job = queue.popleft()
            claim = self.claims.take(job.key)
            if claim == "stored":
                self.progress.done += 1
            elif claim == "theirs":
                queue.append(job)
                await asyncio.sleep(LOOK_AGAIN)
            else:
                try:
                    await self._answer(job)
                finally:
                    self.claims.release(job.key)

    async def _answer(self, job: Job) -> None:
        """Ask for one reply and keep it, or note why there is none."""
        sent, most = prompt_tokens(job.request), completion_bound(job.request)
        reserved = self.budget.cost(prompt_bound(job.request), most)
        await self._afford(reserved)
        try:
            reply = await self._ask(job, sent + most)
        except AttemptFailed as failure:
            self.budget.settle(reserved, 0.0)
            self._note(job, failure)
        else:
            self.keep(reply)
            self._count(reply, reserved, sent + most)

    async def _afford(self, most: float) -> None:
        """Set money aside for a request; wait while requests under way may yet cost less than was set aside for them."""
        while not self.budget.reserve(most):
            if self.budget.set_aside <= 1e-12 or self._spent_out:
                self._spent_out = True
                raise _OverBudget
            await asyncio.sleep(0.02)

    def _count(self, reply: Reply, reserved: float, expected_tokens: int) -> None:
        used = (reply.prompt_tokens or 0, reply.completion_tokens or 0)
        told = reply.prompt_tokens is not None and reply.completion_tokens is not None
        real = (
            self.budget.cost(*used) if told else reserved
        )  # an endpoint that tells no usage is taken at its dearest
        self.budget.settle(reserved, real)
        self.tokens.correct(sum(used) - expected_tokens if told else 0)
        self._in_a_row = 0
        self.progress.done += 1
        self.progress.cost_usd = self.budget.spent if self.budget.price else None

    def _note(self, job: Job, failure: AttemptFailed) -> None:
        self.failures[job.key] = failure.reason
        self.progress.failed += 1
        self._in_a_row += 1
        if failure.fatal:
            self._hopeless = failure.fatal
        elif (
            not self._hopeless
            and self._in_a_row >= (2 * ALL_BAD if self._works else 1 if failure.retry else ALL_BAD)
            and (failure.retry or not self._works)
        ):
            advice = "check the address and that the server runs"
            if failure.reason == TIMEOUT:
                advice = f"no reply came within {self.timeout:g} s, so set a higher timeout or a lower max_concurrency"
            if failure.reason.startswith("HTTP 4") and not failure.retry:
                advice = "the server runs but refuses these requests, so check the model name and the parameters"
            self._hopeless = (
                f"a run needs an endpoint that answers; got {failure.reason} from {self.address} {self._in_a_row} times "
                f"in a row; {advice} (replies received: {self.progress.done}, all kept)"
            )

    async def _ask(self, job: Job, expected_tokens: int) -> Reply:
        attempt = 0
        while True:
            await self.requests.take()
            await self.tokens.take(expected_tokens)
            await asyncio.sleep(max(0.0, self._not_before - time.monotonic()))
            try:
                return await self._attempt_in_turn(job)
            except AttemptFailed as failure:
                if (
                    failure.fatal
                    or not failure.retry
                    or self._hopeless
                    or attempt == self._attempts_left(failure)
                ):
                    raise
                self.progress.retried += 1
                await self._wait(attempt, failure.wait)
                attempt += 1

    def _attempts_left(self, failure: AttemptFailed) -> int:
        """A mistyped address shows at once: before the first reply, a refused connection is tried three times only."""
        unreachable = failure.reason.startswith("no connection") and not self._works
        return min(2, self.max_retries) if unreachable else self.max_retries

    async def _wait(self, attempt: int, asked: float | None) -> None:
        if asked is not None:  # the endpoint speaks for all workers
            self._not_before = max(self._not_before, time.monotonic() + asked)
            return
        await asyncio.sleep(min(LONGEST_WAIT, FIRST_WAIT * 2**attempt) * random.uniform(0.5, 1.0))

    async def _attempt_in_turn(self, job: Job) -> Reply:
        """One attempt, as soon as the number of requests under way allows it."""
        while self._under_way >= self._at_once and not self._hopeless:
            await asyncio.sleep(0.02)
        if self._hopeless:
            raise AttemptFailed("not asked: the run was given up", retry=False)
        self._under_way += 1
        at_once = self._at_once
        try:
            reply = await self._attempt(job)
        except AttemptFailed as failure:
            if (
                failure.reason == TIMEOUT and at_once == self._at_once
            ):  # earlier attempts say nothing about this number
                self._timeouts += 1
                self._slow_down()
            raise
        finally:
            self._under_way -= 1
        self._in_time += 1
        return reply

    def _slow_down(self) -> None:
        """Halve the number of requests at once if most of them time out: a slow server still works on abandoned ones."""
        if self._timeouts < max(2, self._at_once // 2) or self._timeouts <= self._in_time:
            return
        before, self._at_once = self._at_once, max(1, self._at_once // 2)
        if not self._told_of_timeouts:
            self._told_of_timeouts = True
            lowered = (
                f" This run now sends at most {self._at_once} at a time instead of {before}."
                if before > 1
                else ""
            )
            warnings.warn(
                f"{self._timeouts} requests to {self.address} got no reply within the timeout of {self.timeout:g} s."
                f"{lowered} If the server is slow, set a higher timeout or a lower max_concurrency.",
                stacklevel=2,
            )
        self._timeouts = self._in_time = 0

    async def _attempt(self, job: Job) -> Reply:
        """One attempt; it is repeated at once where the model refuses a parameter that can be left out or renamed."""
        sent = accepted(job.request["parameters"], self.refused)
        try:
            return await self._send(job, sent)
        except AttemptFailed as failure:
            if not failure.parameter or failure.parameter not in sent:
                raise
            if failure.parameter not in self.refused:
                self.refused.add(failure.parameter)
                warn_of_refused(job.request["model"], failure.parameter)
        return await self._attempt(job)

    async def _send(self, job: Job, parameters: dict[str, Any]) -> Reply:
        import openai

        request, started = job.request, time.monotonic()
        chat = "messages" in request
        create = (
            self.client.chat.completions if chat else self.client.completions
        ).with_raw_response.create
        content = {"messages": request["messages"]} if chat else {"prompt": request["prompt"]}
        try:
            async with asyncio.timeout(
                self.timeout
            ):  # the client's own timeout starts anew with every byte that comes
                raw = await create(model=request["model"], **content, extra_body=parameters)
        except (openai.APITimeoutError, TimeoutError):
            failure = AttemptFailed(TIMEOUT, retry=True)
        except openai.APIConnectionError as error:
            failure = AttemptFailed(
                f"no connection ({self.key.clean(error.__cause__ or error)})", retry=True
            )
        except openai.APIStatusError as error:
            failure = self._refused(error)
        except UnicodeEncodeError:
            failure = AttemptFailed(
                "the request holds half a character (a lone surrogate)", retry=False
            )
        except Exception as error:
            failure = AttemptFailed(f"{type(error).__name__}: {self.key.clean(error)}", retry=False)
        else:
            body = self.key.clean_body(raw.http_response.content)
            reply = read_reply(job, body, time.monotonic() - started, self.key.clean)
            return noted(reply, request["parameters"], parameters)
        raise failure  # outside the handlers: an exception of the client contains the key, so ours must not lead to it

    def _refused(self, error: Any) -> AttemptFailed:
        status, said = error.status_code, self.key.clean(error_message(error))
        reason = f"HTTP {status}: {said}"
        at_first = status in FATAL_AT_FIRST and not self._works
        if status in ALWAYS_FATAL or at_first or "insufficient_quota" in said:
            return AttemptFailed(reason, retry=False, fatal=_explain(status, said, self.address))
        wait = retry_after(error.response.headers)
        parameter = refused_parameter(said) if status == 400 else None
        return AttemptFailed(
            reason, retry=status in RETRIED or status >= 500, wait=wait, parameter=parameter
        )


# ---- what came back --------------------------------------------------------------------------------------------------


def read_reply(
    job: Job, content: bytes, seconds: float, clean: Callable[[str], str] = str
) -> Reply:
    """The reply in a response body; a body that is no completion may be tried again, quoted as ``clean`` leaves it."""
    try:
        body = json.loads(content)
        choice = body["choices"][0]
        message = choice["message"] if "messages" in job.request else {"content": choice["text"]}
        usage = body.get("usage") or {}
        extra = {
            name: value
            for name, value in message.items()
            if value and name not in ("content", "role")
        }
        extra |= {"logprobs": choice["logprobs"]} if choice.get("logprobs") else {}
        return Reply(
            key=job.key,
            request=canonical(job.request),
            response=_said(message.get("content")),
            finish_reason=_text(choice.get("finish_reason")),
            prompt_tokens=_count(usage.get("prompt_tokens")),
            completion_tokens=_count(usage.get("completion_tokens")),
            served_model=_text(body.get("model")),
            system_fingerprint=_text(body.get("system_fingerprint")),
            extra=json.dumps(extra) if extra else None,
            seconds=round(seconds, 3),
            created=datetime.now(UTC).isoformat(timespec="milliseconds"),
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        start = clean(content.decode("utf-8", "replace"))[:60]
        raise AttemptFailed(f"a reply that is no completion ({start!r})", retry=True) from error


def _said(content: Any) -> str | None:
    """The text of a message, which some endpoints send in parts."""
    if isinstance(content, list):
        return well_formed("".join(str(part.get("text") or "") for part in content))
    return _text(content)


def _text(value: Any) -> str | None:
    return (
        None
        if value is None
        else well_formed(value)
        if isinstance(value, str)
        else json.dumps(value)
    )


def _count(value: Any) -> int | None:
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63
        else None
    )


def error_message(error: Any) -> str:
    """What an endpoint says in an error, with its code."""
    body = error.body
    if isinstance(body, Mapping) and body.get("message"):
        return str(body["message"]) + (f" ({body['code']})" if body.get("code") else "")
    return error.response.text or error.message


def refused_parameter(said: str) -> str | None:
    """Which of max_tokens and temperature an endpoint refuses as such, as OpenAI's reasoning models do.

    >>> refused_parameter("Unsupported parameter: 'max_tokens' is not supported with this model.")
    'max_tokens'
    >>> refused_parameter("max_tokens is too large: 100000") is None
    True
    """
    found = re.search(
        r"unsupported (?:parameter|value): ['\"]?(max_tokens|temperature)\b"
        r"|\b(max_tokens)\b.*use ['\"]?max_completion_tokens"
        r"|\b(temperature)\b.*only the default",
        said,
        flags=re.IGNORECASE,
    )
    return found and next(filter(None, found.groups()))


def accepted(parameters: Mapping[str, Any], refused: Collection[str]) -> dict[str, Any]:
    """The parameters to send to a model that refuses some: under another name, or without those that have none.

    >>> accepted({"max_tokens": 8, "temperature": 0, "seed": 1}, {"max_tokens", "temperature"})
    {'max_completion_tokens': 8, 'seed': 1}
    """
    names = {name: INSTEAD[name] if name in refused else name for name in parameters}
    return {to: parameters[name] for name, to in names.items() if to is not None}


def warn_of_refused(model: str, name: str) -> None:
    """Warn that a model refuses a parameter, also where an earlier run of this process has warned of it."""
    done = (
        f"sent as {INSTEAD[name]}"
        if INSTEAD[name]
        else "not sent, so that the model uses its default"
    )
    text = f"{model} refuses the parameter {name}; in this run it is {done}"
    warnings.warn_explicit(text, UserWarning, "ragnb", 0, module=__name__, registry={})


def noted(reply: Reply, asked: Mapping[str, Any], sent: Mapping[str, Any]) -> Reply:
    """A reply; if it was made with other parameters than its request has, these are in ``extra``."""
    if sent == asked:
        return reply
    extra = json.loads(reply.extra or "{}") | {"sent_parameters": dict(sent)}
    return replace(reply, extra=json.dumps(extra))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that an endpoint asks to wait, ten minutes at most; None when it does not ask, or not in a readable way.

    >>> retry_after({"retry-after": "20"}), retry_after({"retry-after-ms": "1500"}), retry_after({"retry-after": "soon"})
    (20.0, 1.5, None)
    """
    asked, milliseconds = headers.get("retry-after", ""), headers.get("retry-after-ms", "")
    for seconds in (_number(milliseconds) / 1000, _number(asked), _until(asked)):
        if math.isfinite(seconds) and seconds >= 0:
            return min(LONGEST_ASKED, seconds)
    return None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _until(date: str) -> float:
    """Seconds until a date as HTTP writes it, 0 for one that has passed; nan when it is none."""
    try:
        return max(0.0, (parsedate_to_datetime(date) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _explain(status: int, said: str, address: str) -> str:
    if status in (401, 403):
        return (
            f"{address} needs a key that it accepts; got HTTP {status}: {said}; put the key into the environment variable "
            "OPENAI_API_KEY (replaying stored replies needs none)"
        )
    if status in (404, 405):
        return (
            f"{address} needs a path and a model name that it knows; got HTTP {status}: {said}; check base_url (it usually "
            "ends in /v1) and model"
        )
    return f"{address} needs quota; got HTTP {status}: {said}; top up the account and run again: what was received is kept"
