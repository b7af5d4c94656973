"""`complete`: a frame of requests in, the same frame with replies out; every reply is stored first.

A requests frame has ``messages`` (chat) or ``prompt`` (plain completion) and may have ``parameters`` (a mapping) beside any
columns of your own, which are carried along. Requests whose reply is already stored are not sent again.
"""

import asyncio
import itertools
import json
import math
import os
import sys
import threading
import time
from collections.abc import Collection, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict
from urllib.parse import urlsplit, urlunsplit

import pandas as pd

from ragnb.errors import EndpointError, InputError
from ragnb.llm.budget import Bucket, Budget, Price, dollars, price_of, require_price
from ragnb.llm.engine import Engine, Job, Key, Progress
from ragnb.llm.store import Claims, Reply, Request, Store, canonical_requests, request_key
from ragnb.records import count_reasons, reasoning_apart
from ragnb.text import well_formed

DEFAULT_STORE = "ragnb-replies.sqlite"
KEY_VARIABLE = "OPENAI_API_KEY"
ADDRESS_VARIABLE = "OPENAI_BASE_URL"
EMPTY = "empty reply"
REPLY_COLUMNS = (
    "model request_key repeat response reasoning reason finish_reason prompt_tokens completion_tokens "
    "system_fingerprint".split()
)
"""Columns that `complete` adds (or makes anew)."""


class Options(TypedDict, total=False):
    """The options of `complete`, see there."""

    base_url: str | None
    store: Store | str | Path
    max_concurrency: int
    requests_per_minute: float | None
    tokens_per_minute: float | None
    budget_usd: float | None
    prices: Mapping[str, Price] | None
    repeats: int
    timeout: float
    max_retries: int
    offline: bool
    progress: bool
    keep_empty: bool


def complete(
    requests: pd.DataFrame,
    *,
    model: str,
    base_url: str | None = None,
    store: Store | str | Path = DEFAULT_STORE,
    max_concurrency: int = 16,
    requests_per_minute: float | None = None,
    tokens_per_minute: float | None = None,
    budget_usd: float | None = None,
    prices: Mapping[str, Price] | None = None,
    repeats: int = 1,
    timeout: float = 120.0,
    max_retries: int = 5,
    offline: bool = False,
    progress: bool = True,
    keep_empty: bool = False,
) -> pd.DataFrame:
    """Replies of an OpenAI-compatible model, in the order of the requests.

    Parameters
    ----------
    requests
        One row a request: ``messages`` (list of ``{"role", "content"}``) or ``prompt`` (text to continue), and
        ``parameters`` (mapping such as ``{"temperature": 0, "max_tokens": 64}``). If the model refuses ``max_tokens`` (as
        OpenAI's reasoning models do), it is sent as ``max_completion_tokens`` for the rest of the run, and a ``temperature``
        that the model refuses is not sent. A warning says so once. The reply is stored under the request as you wrote it;
        its column ``extra`` in the store contains the parameters that were sent.
    model
        Model name, as the endpoint knows it.
    base_url
        Address of the endpoint, such as ``http://127.0.0.1:8080/v1``; by default ``OPENAI_BASE_URL`` or OpenAI's own.
        The key is read from ``OPENAI_API_KEY``; loopback addresses need none.
    store
        File (or open `Store`) that keeps the replies. Run again after a kill: only what is missing is asked. A request that
        another process with the same store is asking just now is not asked again: its reply is waited for.
    max_concurrency
        Requests under way at once.
    requests_per_minute, tokens_per_minute
        The endpoint's limits, kept by waiting; tokens are estimated before and corrected after each reply.
    budget_usd
        Hard limit of this call in US dollars: nothing is sent that could go beyond it at its dearest (a token for each byte
        of the prompt, and ``max_tokens``); what was received is kept, the rest stays unscored with the reason. Needs a known
        price and ``max_tokens`` in every request; failed attempts are taken to cost nothing.
    prices
        Your own prices by model name, as for `ragnb.estimate`.
    repeats
        Ask every request so many times and keep every reply, to tell a model's own noise from that of the sample.
    timeout
        Seconds for one attempt, from sending the request to the last byte of the reply. If most attempts run into it, the
        number of requests under way is halved for the rest of the run, and a warning says so once.
    max_retries
        Further attempts for one request after failures that may pass; a Retry-After is honoured.
    offline
        Use stored replies only and send nothing. Requests that an earlier run could not get answered keep their reason;
        others without a reply are an error.
    progress
        Show a progress bar, and one line at the end that says how many requests were answered and why the others were not.
        The environment variable ``TQDM_DISABLE=1`` turns both off.
    keep_empty
        Take an empty reply as the model's answer, which is then scored. By default it counts as missing, as an empty cell
        does in `ragnb.load_responses`.

    Returns
    -------
    DataFrame
        The requests' columns and ``model, request_key, repeat, response, reason, finish_reason, prompt_tokens,
        completion_tokens, system_fingerprint``; each request's repeats stand one below the other. ``response`` is None where
        no reply came, and ``reason`` says why. A reply without any text (empty, refused by the model, or withheld by a
        content filter) counts as no reply, so it is unscored and not wrong.

        If any reply contains reasoning, in ``<think>…</think>`` or in a field of its own, the column ``reasoning`` contains
        it and ``response`` the answer alone. A reply that was cut off during its reasoning has an empty answer. The store
        keeps the reply as it came.

    Raises
    ------
    InputError
        A frame without requests, an offline run with replies missing, or a budget for a model without a price.
    EndpointError
        The endpoint cannot be used at all; what was received is kept.
    StoreError
        See `Store`.
    """
    options: Options = {
        "base_url": base_url,
        "max_concurrency": max_concurrency,
        "requests_per_minute": requests_per_minute,
        "tokens_per_minute": tokens_per_minute,
        "budget_usd": budget_usd,
        "prices": prices,
        "repeats": repeats,
        "timeout": timeout,
        "max_retries": max_retries,
        "offline": offline,
        "keep_empty": keep_empty,
    }
    run = _Run(requests, model, options)
    with one_report(progress) as tally, Store.open(store) as opened:
        if run.find_missing(opened):
            _in_own_loop(run.send(opened, tally), run.progress, show=progress)
        return run.result(opened, tally)


@dataclass
class Tally:
    """What became of the requests of one run, which may consist of several calls of `complete`."""

    reasons: dict[str, str | None] = field(
        default_factory=dict
    )  # of each request: why it has no reply, None if it has one
    sent: set[str] = field(default_factory=set)
    cost_usd: float = 0.0
    unpriced: str = ""  # a model whose price is unknown
    refused: dict[str, set[str]] = field(
        default_factory=dict
    )  # by model: parameters that it refuses
    shown: bool = False
    started: float = field(default_factory=time.monotonic)

    def line(self) -> str:
        """The run in one line."""
        answered = [key for key, reason in self.reasons.items() if reason is None]
        cost = (
            f"Cost unknown (no price for {self.unpriced})"
            if self.unpriced
            else dollars(self.cost_usd)
        )
        counts = count_answers(
            self.reasons.values(), stored=sum(key not in self.sent for key in answered)
        )
        return f"{counts} {cost}, {time.monotonic() - self.started:,.0f} s."


def count_answers(reasons: Collection[str | None], stored: int = 0) -> str:
    """Sentence that counts the requests with a reply and the reasons why others have none.

    >>> count_answers([None, None, "HTTP 400: too long"], stored=1)
    '2 of 3 requests answered (1 from the store), 1 failed: HTTP 400 (1).'
    """
    lost = [reason for reason in reasons if reason is not None]
    kept = f" ({stored:,} from the store)" if stored else ""
    failed = f", {len(lost):,} failed: {count_reasons(lost)}" if lost else ""
    return f"{len(reasons) - len(lost):,} of {len(reasons):,} requests answered{kept}{failed}."


_tally: ContextVar[Tally | None] = ContextVar("_tally", default=None)


@contextmanager
def one_report(show: bool = False) -> Iterator[Tally]:
    """Count all requests that are made inside, and report them in one line at the end, however many calls they take."""
    outer = _tally.get()
    tally = Tally() if outer is None else outer
    tally.shown |= show
    if outer is not None:
        yield tally
        return
    token = _tally.set(tally)
    try:
        yield tally
    finally:
        _tally.reset(token)
    if tally.shown and tally.reasons:
        say(tally.line())


def say(line: str) -> None:
    """Print a line where the progress bar is, unless bars are turned off."""
    if os.environ.get("TQDM_DISABLE", "0") in ("", "0"):
        print(line, file=sys.stderr)


class _Run:
    """One call of `complete`: what was asked for, what is missing, what came."""

    def __init__(self, requests: pd.DataFrame, model: str, options: Options) -> None:
        _check_limits(options)
        self.requests, self.model, self.options = requests, model, options
        self.repeats = options["repeats"]
        self.asked = canonical_requests(requests, model, self.repeats)
        limit, prices = options["budget_usd"], options["prices"]
        price = price_of(model, prices) if limit is None else require_price(model, prices)
        self.budget = Budget(limit, price)
        self.keys = [request_key(request) for request in self.asked]
        if limit is not None:
            _require_bounds(self.asked)
        self.failures: dict[str, str] = {}
        self.jobs: list[Job] = []
        self.progress = Progress(0)

    def find_missing(self, store: Store) -> bool:
        """Whether anything has to be sent."""
        known = store.known(self.keys)
        missing = {
            key: request
            for key, request in zip(self.keys, self.asked, strict=True)
            if key not in known
        }
        self.jobs = [Job(key, request) for key, request in missing.items()]
        self.progress.total, self.progress.stored = len(known) + len(self.jobs), len(known)
        if not self.options["offline"]:
            return bool(self.jobs)
        told = store.failures()
        self.failures = {job.key: told[job.key] for job in self.jobs if job.key in told}
        if len(self.failures) < len(self.jobs):
            raise InputError(
                f"an offline run needs every reply in the store; got {len(self.jobs)} of {len(set(self.keys))} requests "
                f"without one in {store.path!r}; run with offline=False to ask the model"
            )
        return False

    async def send(self, store: Store, tally: Tally) -> None:
        """Send what is missing; every reply is stored as it comes."""
        import openai

        base_url, timeout = self.options["base_url"], self.options["timeout"]
        key, address = api_key(base_url), given_address(base_url)
        own = (
            openai.DefaultAsyncHttpxClient(trust_env=False) if is_here(address) else None
        )  # no proxy to this machine
        client = openai.AsyncOpenAI(
            api_key=key.areveal,
            base_url=address,
            timeout=timeout,
            max_retries=0,
            http_client=own,
        )
        async with client:
            engine = Engine(
                client,
                Claims(store),
                keep=lambda reply: store.add([reply]),
                progress=self.progress,
                max_retries=self.options["max_retries"],
                timeout=timeout,
                key=key,
                address=shown_address(str(client.base_url)),
                requests=Bucket(self.options["requests_per_minute"]),
                tokens=Bucket(self.options["tokens_per_minute"]),
                budget=self.budget,
                refused=tally.refused.setdefault(self.model, set()),
            )
            self.failures = engine.failures
            tally.sent.update(job.key for job in self.jobs)
            try:
                with key.out_of_logs():
                    await engine.run(self.jobs, self.options["max_concurrency"])
            finally:
                tally.cost_usd += self.budget.spent
                tally.unpriced = (
                    tally.unpriced if self.budget.price or not self.progress.done else self.model
                )
                store.note_failures(self.failures)

    def result(self, store: Store, tally: Tally) -> pd.DataFrame:
        """The requests with their replies."""
        stored = store.get(self.keys)
        replies = [stored.get(key) for key in self.keys]
        own = [name for name in self.requests.columns if name not in REPLY_COLUMNS]
        frame = self.requests[own]
        if self.repeats > 1:
            frame = frame.iloc[
                [place for place in range(len(frame)) for _ in range(self.repeats)]
            ].reset_index(drop=True)
        frame = frame.assign(model=self.model, request_key=self.keys, repeat=self._numbers())
        reasons = list(map(self._reason, self.keys, replies))
        tally.reasons.update(zip(self.keys, reasons, strict=True))
        texts = [
            reply.response or "" if reply and reason is None else None
            for reply, reason in zip(replies, reasons, strict=True)
        ]
        frame["response"] = pd.Series(texts, index=frame.index, dtype=object)
        frame["reason"] = pd.Series(reasons, index=frame.index, dtype=object)
        for name in ("finish_reason", "prompt_tokens", "completion_tokens", "system_fingerprint"):
            frame[name] = [reply and getattr(reply, name) for reply in replies]
        sent_apart = [reply and _sent_apart(reply) for reply in replies]
        if any(sent_apart):
            frame["reasoning"] = pd.Series(sent_apart, index=frame.index, dtype=object)
        return reasoning_apart(
            frame.astype({"prompt_tokens": "Int64", "completion_tokens": "Int64"})
        )

    def _numbers(self) -> list[int]:
        return list(itertools.islice(itertools.cycle(range(self.repeats)), len(self.keys)))

    def _reason(self, key: str, reply: Reply | None) -> str | None:
        if reply is None:
            limit = self.budget.limit
            spent = (
                "not asked" if limit is None else f"not asked: the budget of ${limit:g} is spent"
            )
            return self.failures.get(key, spent)
        why = why_no_text(reply)
        return None if why == EMPTY and self.options["keep_empty"] else why


def why_no_text(reply: Reply) -> str | None:
    """Why a reply has no text; None if it has some."""
    if reply.response and reply.response.strip():
        return None
    if refusal := json.loads(reply.extra or "{}").get("refusal"):
        return f"the model refused: {well_formed(str(refusal)):.300}"
    if reply.finish_reason == "content_filter":
        return "content_filter"
    if _sent_apart(reply):
        return None  # cut off during its reasoning: an empty answer, as if the reasoning were in the text
    if reply.response is None:
        return f"the model sent no text (finish_reason {reply.finish_reason!r})"
    return EMPTY


def _sent_apart(reply: Reply) -> str | None:
    """The reasoning that the endpoint sent in a field of its own, as DeepSeek, vLLM and OpenRouter do; None without one."""
    extra = json.loads(reply.extra) if reply.extra and "reasoning" in reply.extra else {}
    found = extra.get("reasoning_content") or extra.get("reasoning")
    return found if isinstance(found, str) else None


def api_key(base_url: str | None) -> Key:
    """The key for an address: the only place where ragnb reads one.

    Raises
    ------
    EndpointError
        There is none and the address is not on this machine.
    InputError
        ``base_url`` is no address.
    """
    key = Key(os.environ.get(KEY_VARIABLE, "").strip())
    if not (key.reveal().isascii() and key.reveal().isprintable()):
        raise EndpointError(
            f"The key in the environment variable {KEY_VARIABLE} contains a line break or a letter outside ASCII, which no "
            "key has. Copy it again."
        )
    here = is_here(given_address(base_url))
    if key.reveal():
        return key
    if here:
        return Key("none-needed")
    raise EndpointError(
        f"an endpoint on another machine needs a key; got none in the environment variable {KEY_VARIABLE}; set it before "
        "starting Jupyter, or replay stored replies with offline=True, which needs no key"
    )


def given_address(base_url: str | None) -> str | None:
    """The address of the endpoint as it was given, None for the client's own default."""
    return base_url or os.environ.get(ADDRESS_VARIABLE) or None


def shown_address(address: str) -> str:
    """An address without what may be secret in it: user, password and query.

    >>> shown_address("http://user:password@127.0.0.1:80/v1?key=1")
    'http://127.0.0.1:80/v1'
    """
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def is_here(address: str | None) -> bool:
    """Whether an address is on this machine.

    Raises
    ------
    InputError
        It is no address.
    """
    try:
        parts = urlsplit(address or "")
        host, _ = parts.hostname or "", parts.port
        if not (address or "").isprintable():
            raise ValueError("a line break or another control character")
    except ValueError as error:
        raise InputError(
            f"base_url needs an address such as http://127.0.0.1:8080/v1; got one with {error}; mend it"
        ) from error
    if address and parts.scheme not in ("http", "https"):
        shown = address.rpartition("@")[2].partition("?")[0]  # the rest may be secret
        raise InputError(f"base_url must start with http:// or https://, got {shown!r}")
    return host in ("localhost", "::1") or host.startswith("127.")


def _check_limits(options: Options) -> None:
    for name in ("max_concurrency", "max_retries"):
        value = options.get(name, 1)
        if (
            isinstance(value, bool)
            or not isinstance(value, int)
            or value < (name == "max_concurrency")
        ):
            raise InputError(
                f"complete needs a whole number in {name}; got {value!r}; 16 and 5 are usual"
            )
    for name in ("timeout", "requests_per_minute", "tokens_per_minute", "budget_usd"):
        value = options.get(name)
        lowest = 0.0 if name == "budget_usd" else 1e-9  # a budget of 0 is one: nothing may be spent
        if value is not None and not (
            isinstance(value, int | float) and lowest <= value < math.inf
        ):
            raise InputError(
                f"complete needs a number above 0 in {name}; got {value!r}; leave it out for no limit"
            )


def _require_bounds(asked: list[Request]) -> None:
    open_ended = [
        n
        for n, each in enumerate(asked)
        if not {"max_tokens", "max_completion_tokens"} & set(each["parameters"])
    ]
    if open_ended:
        raise InputError(
            f"a budget needs max_tokens in the parameters of every request; got {len(open_ended)} without (the first is "
            f"request {open_ended[0]}); add it"
        )


# ---- waiting -----------------------------------------------------------------------------------------------------------


def _in_own_loop(coroutine: Coroutine[Any, Any, None], progress: Progress, *, show: bool) -> None:
    """Run to the end in a loop and thread of its own, so that a running loop (Jupyter, IPython) is left alone."""
    loop = asyncio.new_event_loop()
    task = loop.create_task(coroutine)
    finished = threading.Event()

    def run() -> None:
        try:
            loop.run_until_complete(asyncio.wait([task]))
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            loop.close()
            finished.set()

    threading.Thread(target=run, name="ragnb-complete", daemon=True).start()
    with _Bar(progress, show) as bar:
        try:
            while not finished.wait(0.1):
                bar.draw()
        except BaseException:  # Ctrl-C, kernel interrupt: stop sending, keep what came
            loop.call_soon_threadsafe(task.cancel)
            finished.wait(5)
            raise
    task.result()


class _Bar:
    """The progress line; tqdm draws it well in a terminal and in Jupyter, and not at all under TQDM_DISABLE."""

    def __init__(self, progress: Progress, show: bool) -> None:
        from tqdm.auto import tqdm

        self.progress = progress
        seen = show and (sys.stderr.isatty() or "ipykernel" in sys.modules)
        hidden: dict[str, bool] = {} if seen else {"disable": True}
        self.line: Any = tqdm(  # type: ignore[call-overload]
            total=progress.total, initial=progress.stored, unit="reply", leave=False, **hidden
        )

    def __enter__(self) -> "_Bar":
        return self

    def __exit__(self, *_: object) -> None:
        self.draw()
        self.line.close()

    def draw(self) -> None:
        fresh = self.progress.stored + self.progress.done + self.progress.failed - self.line.n
        if fresh and not self.line.disable:
            cost = self.progress.cost_usd
            shown = {} if cost is None else {"cost": dollars(cost)}
            self.line.set_postfix(
                shown, failed=self.progress.failed, retried=self.progress.retried, refresh=False
            )
            self.line.update(fresh)
