"""Send a frame of requests to a model with `complete`, and store every reply before it is returned.

A frame of requests has the column ``messages`` (chat) or ``prompt`` (plain completion). It may have the
column ``parameters`` (mappings) and any other columns, which are kept. Requests whose reply is already
stored are not sent again.
"""

import asyncio
import json
import math
import os
import sys
import time
import warnings
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import Address, accepts, shown_address
from ragnb.errors import EndpointError, InputError
from ragnb.llm.bodies import (
    ENCODINGS,
    MAX_REPLY_BYTES,
    BoundedBody,
    DamagedBody,
    TooLarge,
    classify,
    read_reply,
)
from ragnb.llm.budget import Budget, Price, as_budget, cost_usd, dollars, highest_cost, price_of
from ragnb.llm.endpoint import (
    ERROR_AS_REPLY,
    LONGEST_WAIT,
    TIMEOUT,
    address_of,
    api_key,
    api_key_awaited,
    clean,
    clean_body,
    client_options,
    connection_problem,
    duration,
    endpoint_name,
    error_message,
    explain,
    header_wait,
    is_here,
    json_or_text,
    only_streams,
    stated_wait,
    wants_api_key_header,
)
from ragnb.llm.refusals import OTHER_NAMES, accepted, refused_parameters
from ragnb.llm.store import (
    LEASE_SECONDS,
    Reply,
    Request,
    Store,
    at_endpoint,
    canonical_requests,
    new_owner,
    request_key,
)
from ragnb.printing import inform
from ragnb.replies import LIMIT_REACHED, count_reasons, no_answer, warn_of_unfinished
from ragnb.text import read_reasoning

DEFAULT_STORE = "ragnb-replies.sqlite"
REPLY_COLUMNS = (
    "model request_key repeat response reasoning reason finish_reason prompt_tokens "
    "completion_tokens system_fingerprint seconds".split()
)
"""Columns that `complete` adds or replaces."""
# Statuses that end a run before its first reply; later they concern one request.
FATAL_AT_FIRST = frozenset({301, 302, 303, 307, 308, 403, 404, 405})
# Header that marks an error whose status was 200.
STATUS_WAS_200 = "x-ragnb-status-was-200"
# A prompt of at least so many characters, with more than so many per reported token, was cut by the
# server. Languages and code have 1 to 5 characters per token.
LONG_PROMPT, MOST_CHARACTERS_PER_TOKEN = 2000, 6
# Seconds between two looks for the reply to a request that another run is sending.
LOOK_AGAIN = 0.2


@accepts(
    aligned=False,
    max_concurrency="size",
    requests_per_minute="positive",
    budget_usd=as_budget,
    repeats="size",
    timeout="positive",
    max_retries="count",
)
def complete(
    requests: pd.DataFrame,
    *,
    model: str,
    base_url: str | None = None,
    store: Store | str | Path = DEFAULT_STORE,
    max_concurrency: int = 16,
    requests_per_minute: float | None = None,
    budget_usd: float | Budget | None = None,
    prices: Mapping[str, Price] | None = None,
    repeats: int = 1,
    timeout: float = 120.0,
    max_retries: int = 5,
    offline: bool = False,
    progress: bool = True,
    keep_empty: bool = False,
) -> pd.DataFrame:
    """Send requests to an OpenAI-compatible model, and return the replies in the same order.

    Prompts are sent to the given address only: redirects are not followed, and a proxy from the
    environment is used for other machines only. A reply of more than 32 MB is not read.

    Parameters
    ----------
    requests
        One row per request: ``messages`` (list of ``{"role", "content"}``) or ``prompt`` (text to
        continue), and ``parameters`` (mapping such as ``{"temperature": 0, "max_tokens": 64}``). If
        the model refuses ``max_tokens``, as OpenAI's reasoning models do, it is sent as
        ``max_completion_tokens`` for the rest of the run, and the other way round. Any other parameter
        that is refused, such as ``seed`` or ``temperature``, is not sent. A warning says so once. A
        wrong value of a parameter is an error of the request. The reply is stored under the request as
        you wrote it; its column ``extra`` in the store contains the parameters that were sent.
    model
        Name of the model, as the endpoint knows it.
    base_url
        Address of the endpoint, such as ``http://127.0.0.1:8080/v1``. The default is
        ``OPENAI_BASE_URL`` or OpenAI's own address. The key is read from ``OPENAI_API_KEY``; loopback
        addresses need none. The same request to another endpoint is another request. This holds for
        another port of this machine too, except for models that `ragnb.serve` started.
    store
        File (or open `Store`) that keeps the replies. After an interruption, call the function
        again: it sends only the requests without a reply. If another process with the same store is
        sending a request, its reply is awaited.
    max_concurrency
        Number of requests under way at once.
    requests_per_minute
        Largest number of requests per minute. The run waits so as not to exceed it.
    budget_usd
        Hard limit in US dollars: a number, or a `ragnb.llm.budget.Budget` that several calls share.
        A request is sent only if the rest of the budget covers its highest possible cost (one token
        per byte of the prompt, and ``max_tokens``). The remaining requests stay unscored with this
        reason. A budget needs a known price, and ``max_tokens`` in every request. Failed attempts
        are assumed to cost nothing. An endpoint that reports more tokens than are possible can
        exceed it.
    prices
        Your own prices by model name, as for `ragnb.estimate`.
    repeats
        Number of times that each request is sent; every reply is kept. This measures the model's own
        noise.
    timeout
        Seconds for one attempt, from sending the request to the last byte of the reply. If most
        attempts exceed it, the number of requests under way is halved for the rest of the run, and a
        warning says so once.
    max_retries
        Further attempts for one request after failures that may pass: lost connections, timeouts, the
        statuses 408, 409, 429 and 5xx, and replies that are not completions or in which the provider
        failed. A server may ask to wait up to two minutes before the next attempt; if it asks for
        more, the request fails at once.
    offline
        Use stored replies only and send nothing. Requests that an earlier run could not get answered
        keep their reason; others without a reply are an error. Without ``base_url``, the replies may
        come from any endpoint; if several answered the same request, state which is meant.
    progress
        Show a progress bar, and one line at the end that says how many requests were answered and why
        the others were not. The environment variable ``TQDM_DISABLE=1`` turns both off.
    keep_empty
        Count an empty or blank reply as the model's answer, which is then scored. By default it counts
        as missing, as an empty cell does in `ragnb.load_responses`. A reply without any text, reasoning
        alone, and a reply that was refused, withheld or ended by an error never count as an answer.

    Returns
    -------
    DataFrame
        The columns of the requests and ``model, request_key, repeat, response, reason, finish_reason,
        prompt_tokens, completion_tokens, system_fingerprint, seconds``. The latency ``seconds`` is the
        time from sending the request to the end of its reply. The repeats of a request are in
        consecutive rows. ``response`` is None if there is no answer, and ``reason`` says why. A reply
        that answers nothing (empty, reasoning only, cut off inside the reasoning, refused by the model,
        withheld by a content filter, or ended by an error) is therefore unscored and not wrong;
        `ragnb.replies.no_answer` decides this.

        If any reply contains reasoning, in marks such as ``<think>…</think>`` or in a field of its own,
        the column ``reasoning`` contains it and ``response`` the answer alone. The store keeps the
        reply as it came.

    Raises
    ------
    InputError
        A frame without requests, an offline run with replies missing, or a budget for a model without
        a price.
    EndpointError
        The endpoint cannot be used at all; what was received is kept.
    StoreError
        See `Store`.
    """
    plain = canonical_requests(requests, model, repeats)
    price = price_of(model, prices)
    budget = budget_usd if isinstance(budget_usd, Budget) else Budget()
    if budget_usd is not None:
        _require_bounds(plain, model, price)
    with one_report(progress) as tally, Store.open(store) as opened:
        name = _endpoint_name(base_url, offline)
        anywhere = offline and base_url is None
        if anywhere:
            _require_one_endpoint(opened, plain, name)
        asked = opened.anywhere(plain, name) if anywhere else opened.addressed(plain, name)
        keys = [request_key(request) for request in asked]
        known = opened.known(keys)
        missing = {key: each for key, each in zip(keys, asked, strict=True) if key not in known}
        failures: dict[str, str] = {}
        if offline:
            failures = opened.failures()
            unknown = missing.keys() - failures.keys()
            if unknown:
                others = _answered_elsewhere(opened, plain, name)
                raise InputError(
                    f"an offline run needs every reply in the store, and {len(unknown)} of "
                    f"{len(set(keys))} requests have none in {opened.path!r}{others}; run with "
                    "offline=False to ask the model"
                )
        elif missing:
            address = address_of(base_url)
            if name is not None:
                tally.elsewhere = _answered_elsewhere(opened, plain, name)
                opened.note_endpoint(name)
            run = _Run(
                address,
                opened,
                budget,
                price,
                timeout=timeout,
                max_retries=max_retries,
                at_once=max_concurrency,
                seconds_apart=60 / (requests_per_minute or math.inf),
                refused=tally.refused.setdefault(f"{model} at {name}", set()),
                said=tally.said,
                works=bool(known) or None in tally.reasons.values(),
            )
            failures = run.failures
            tally.sent.update(missing)
            try:
                _in_own_thread(run, missing, n_stored=len(known), show=progress)
            finally:
                tally.cost_usd += run.spent
                if price is None and run.done:
                    tally.unpriced = model
        replies = opened.get(keys)
        frame = requests.drop(columns=REPLY_COLUMNS, errors="ignore")
        if repeats > 1:
            frame = frame.iloc[np.arange(len(frame)).repeat(repeats)].reset_index(drop=True)
        frame = frame.assign(model=model, request_key=keys)
        frame["repeat"] = [request["repeat"] for request in asked]
        not_asked = f"not sent: the budget of ${budget.limit:g} is spent"
        lost = {key: failures.get(key, not_asked) for key in keys if key not in replies}
        frame = with_replies(frame, replies, lost, keep_empty)
        tally.reasons.update(zip(keys, frame["reason"], strict=True))
        is_cut = frame["finish_reason"].isin(LIMIT_REACHED) & frame["reason"].isna()
        tally.cut_off.update(frame.loc[is_cut, "request_key"])
    return frame


def _endpoint_name(base_url: str | None, offline: bool) -> str | None:
    """The name of the endpoint in the store. A replay needs no valid address in the environment."""
    try:
        return endpoint_name(base_url)
    except InputError:
        if offline and base_url is None:
            return None
        raise


def _require_one_endpoint(store: Store, requests: list[Request], usual: str | None) -> None:
    """Raise InputError if several endpoints answered one request, and the usual one is not among them."""
    answered: dict[str, list[str]] = {}
    for name in (usual, None, *store.endpoints()):
        named = {request_key(at_endpoint(each, name)): request_key(each) for each in requests}
        for key in store.known(named):
            answered.setdefault(named[key], []).append(name or "")
    for names in answered.values():
        if len(names) > 1 and not {usual, ""} & set(names):
            raise InputError(
                f"the store {store.path!r} has replies of several endpoints to the same request "
                f"({', '.join(names)}); pass base_url= to say which are meant"
            )


def _answered_elsewhere(store: Store, requests: list[Request], name: str | None) -> str:
    """Which other endpoints answered these requests, as the end of a sentence."""
    parts = []
    for other in store.endpoints():
        if other != name:
            n_replies = len(store.known(request_key(at_endpoint(each, other)) for each in requests))
            parts += [f"{n_replies:,} from {other}"] if n_replies else []
    return (
        f" (the store has replies of other endpoints to them: {', '.join(parts)})" if parts else ""
    )


def _require_bounds(asked: list[Request], model: str, price: Price | None) -> None:
    """Raise InputError unless the highest possible cost of every request is known."""
    if price is None:
        raise InputError(
            f"a budget needs the model's price, which is unknown for {model!r}; pass "
            f"prices={{{model!r}: (input, output)}} in US dollars per million tokens"
        )
    for place, request in enumerate(asked):
        if not {"max_tokens", "max_completion_tokens"} & set(request["parameters"]):
            raise InputError(
                f"a budget needs max_tokens in the parameters of every request; request {place} "
                "has none"
            )


def with_replies(
    frame: pd.DataFrame, replies: Mapping[str, Reply], lost: Mapping[str, str], keep_empty: bool
) -> pd.DataFrame:
    """The frame with the columns of replies; a reply that has a reason has no text."""
    names = "finish_reason prompt_tokens completion_tokens system_fingerprint seconds".split()
    columns: dict[str, list[Any]] = {
        name: [] for name in ("response", "reason", "reasoning", *names)
    }
    answered = []
    for key in frame["request_key"]:
        reply = replies.get(key)
        text, reason, reasoning = None, lost.get(key), None
        if reply is not None:
            parts = read_reasoning(reply.response or "")
            apart = _reasoning_apart(reply)
            reason = _reason_without_answer(reply, apart, keep_empty)
            reasoning = f"{apart or ''}{parts.reasoning}" or None
            text = None if reason else parts.answer
            if reason is None:
                answered.append(parts)
        columns["response"].append(text)
        columns["reason"].append(reason)
        columns["reasoning"].append(reasoning)
        for name in names:
            columns[name].append(getattr(reply, name, None))
    warn_of_unfinished(answered)
    if not any(columns["reasoning"]):
        del columns["reasoning"]
    kinds = {"prompt_tokens": "Int64", "completion_tokens": "Int64", "seconds": float}
    found = {
        name: pd.Series(values, frame.index, dtype=kinds.get(name, object))
        for name, values in columns.items()
    }
    return frame.assign(**found)


def _reasoning_apart(reply: Reply) -> str | None:
    """The reasoning that the endpoint sent in a field of its own, as DeepSeek, vLLM and OpenRouter do."""
    extra = json.loads(reply.extra or "{}")
    reasoning = extra.get("reasoning_content") or extra.get("reasoning")
    return reasoning if isinstance(reasoning, str) else None


def _reason_without_answer(reply: Reply, reasoning: str | None, keep_empty: bool) -> str | None:
    """Why a stored reply answers nothing; None if it contains an answer."""
    return no_answer(
        reply.response,
        reasoning=reasoning,
        finish_reason=reply.finish_reason,
        refusal=json.loads(reply.extra or "{}").get("refusal"),
        keep_empty=keep_empty,
    )


# ---- the report of a run -------------------------------------------------------------------------


@dataclass
class Tally:
    """Counts of the requests of one run and their outcomes. A run can be several calls of `complete`."""

    shown: bool = False
    # of each request: why it has no reply, None if it has one
    reasons: dict[str, str | None] = field(default_factory=dict)
    sent: set[str] = field(default_factory=set)
    cut_off: set[str] = field(default_factory=set)  # answered requests with an incomplete answer
    cost_usd: float = 0.0
    unpriced: str = ""  # a model whose price is unknown
    # by model and endpoint: refused parameters
    refused: dict[str, set[str]] = field(default_factory=dict)
    said: set[str] = field(default_factory=set)  # kinds of warnings that were shown
    elsewhere: str = ""  # which other endpoints answered the same requests
    started: float = field(default_factory=time.monotonic)

    def line(self) -> str:
        """The run in one line."""
        lost = [reason for reason in self.reasons.values() if reason is not None]
        stored = [key for key in self.reasons.keys() - self.sent if self.reasons[key] is None]
        kept = f" ({len(stored):,} from the store)" if stored else ""
        cut = f", {len(self.cut_off):,} of them cut off by max_tokens" if self.cut_off else ""
        failed = f", {len(lost):,} failed: {count_reasons(lost)}" if lost else ""
        cost = dollars(self.cost_usd)
        if self.unpriced:
            cost = f"Cost unknown (no price for {self.unpriced})"
        return (
            f"{len(self.reasons) - len(lost):,} of {len(self.reasons):,} requests answered{kept}"
            f"{cut}{failed}. {cost}, {time.monotonic() - self.started:,.0f} s.{self._other_port()}"
        )

    def _other_port(self) -> str:
        """A sentence for a server of this machine that may have come back on another port."""
        if "//127.0.0.1:" not in self.elsewhere:
            return ""
        return f" Another port counts as another endpoint{self.elsewhere}."


_tally: ContextVar[Tally | None] = ContextVar("_tally", default=None)


@contextmanager
def one_report(show: bool = False) -> Iterator[Tally]:
    """Count all requests that are made inside, and report them in one line at the end, however many calls they take."""
    outer = _tally.get()
    if outer is not None:
        outer.shown |= show
        yield outer
        return
    tally = Tally(show)
    token = _tally.set(tally)
    try:
        yield tally
    finally:
        _tally.reset(token)
    if tally.shown and tally.reasons and os.environ.get("TQDM_DISABLE", "0") in ("", "0"):
        inform(tally.line())


# ---- sending -------------------------------------------------------------------------------------


def _in_own_thread(run: "_Run", jobs: Mapping[str, Request], *, n_stored: int, show: bool) -> None:
    """Send requests in a thread with a loop of its own, so that the loop of Jupyter is left alone."""
    seen = show and (sys.stderr.isatty() or "ipykernel" in sys.modules)
    hidden: dict[str, bool] = {} if seen else {"disable": True}  # else TQDM_DISABLE decides
    progress = _progress_bar(
        total=n_stored + len(jobs), initial=n_stored, unit="reply", leave=False, **hidden
    )
    with progress as bar, ThreadPoolExecutor(1, "ragnb-complete") as thread:
        try:
            finished = thread.submit(asyncio.run, run.send(jobs))
            while not finished.done():
                wait([finished], 0.1)
                n_failed = len(run.failures)
                cost = {} if run.price is None else {"cost": dollars(run.spent)}
                bar.set_postfix({**cost, "failed": n_failed, "retried": run.retried}, refresh=False)
                bar.update(n_stored + run.done + n_failed - bar.n)
        except BaseException:  # Ctrl-C or the stop button: stop sending, keep what came
            run.stop()
            raise
    finished.result()


@contextmanager
def _progress_bar(**options: Any) -> Iterator[Any]:
    """Yield a progress bar that leaves nothing behind. A notebook that is read without its kernel would show it at 0 %."""
    from tqdm.auto import tqdm

    is_widget = any(base.__name__ == "tqdm_notebook" for base in tqdm.__mro__)
    bar: Any = tqdm(**options, display=False) if is_widget else tqdm(**options)
    if not is_widget or bar.disable:
        with bar:
            yield bar
        return
    from tqdm.notebook import display  # type: ignore[attr-defined]

    shown = display(bar.container, display_id=True)
    try:
        with bar:
            yield bar
    finally:
        shown.update({"text/plain": ""}, raw=True)


class _Failed(Exception):
    """A request got no reply: the reason, and what it means for the run.

    ``passing`` failures may not happen again, and ``fatal`` ones end the run. ``formed`` is whether the
    endpoint answered in the form of a completion, so that its address is right. ``refused`` has the
    names of parameters that the model refuses.
    """

    def __init__(
        self,
        reason: str,
        *,
        passing: bool = False,
        fatal: bool = False,
        formed: bool = False,
        refused: frozenset[str] = frozenset(),
        only_streams: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason, self.passing, self.fatal = reason, passing, fatal
        self.formed, self.refused, self.only_streams = formed, refused, only_streams


@dataclass(repr=False)
class _Run:
    """Sends requests with bounded concurrency; every reply is stored before anything else happens.

    Redirects are not followed, because prompts would go to an address that the user has not given.
    A proxy of the environment is used for other machines only. Retries belong to the client of openai:
    it repeats an attempt after lost connections, timeouts and the statuses 408, 409, 429 and 5xx, and
    honours Retry-After. Each of its attempts goes through `_attempt`.
    """

    address: Address
    store: Store
    budget: Budget
    price: Price | None
    timeout: float
    max_retries: int
    at_once: int  # requests under way at once, lowered if the endpoint is too slow for them
    seconds_apart: float
    refused: set[str]  # parameters that the model refuses
    said: set[str]  # kinds of warnings that were shown
    works: bool  # whether the endpoint has answered in this run or an earlier one
    failures: dict[str, str] = field(default_factory=dict)  # reasons by key
    done: int = 0
    retried: int = 0
    spent: float = 0.0
    _owner: str = field(default_factory=new_owner)
    _loop: Any = None
    _task: Any = None
    _client: Any = None
    _next: float = 0.0  # when the next attempt may begin
    _under_way: int = 0
    _late: int = 0  # timeouts, minus replies in time, since `at_once` was last lowered
    _first_requests: int = 1  # requests that are sent before any of them is answered
    _in_a_row: int = 0  # failures since the last reply
    _streams: bool = False  # whether the model must be asked to stream
    _spent_out: bool = False
    _hopeless: str = ""

    async def send(self, jobs: Mapping[str, Request]) -> None:
        """Send the requests; ``failures`` then has the reason for each key that got no reply.

        If going on is pointless (refused key, unknown model or address, endpoint out of reach), this
        raises EndpointError. What was received is kept.
        """
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        import openai

        run = self

        class Attempts(openai.DefaultAsyncHttpxClient):
            async def send(self, request: Any, **options: Any) -> Any:
                # The body is read by `_attempt`, which limits its size.
                options["stream"] = True
                return await run._attempt(request, partial(super().send, request, **options))

        queue = deque(jobs.items())
        async with openai.AsyncOpenAI(
            api_key=api_key_awaited,
            **client_options(self.address),
            timeout=self.timeout,
            max_retries=self.max_retries,
            http_client=Attempts(follow_redirects=False, trust_env=not is_here(self.address)),
        ) as self._client:
            renewal = asyncio.ensure_future(self._renew())
            self._first_requests = min(self.at_once, len(jobs))
            workers = [
                asyncio.ensure_future(self._work(queue)) for _ in range(self._first_requests)
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

    def stop(self) -> None:
        """Stop sending, from another thread; a run that has not begun then sends nothing."""
        self._hopeless = "the run was stopped"
        if self._task is not None:
            with suppress(RuntimeError):  # the loop has just ended
                self._loop.call_soon_threadsafe(self._task.cancel)

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
        dearest = highest_cost(self.price, request)
        while not self.budget.reserve(dearest):
            # Requests under way may yet cost less than was set aside for them.
            if self.budget.set_aside < 1e-9 or self._spent_out:
                self._spent_out = True
                return
            await asyncio.sleep(0.02)
        cost = 0.0
        try:
            reply = await self._ask(key, request)
            self.store.add([reply])
            cost = dearest  # without usage
            if reply.prompt_tokens is not None and reply.completion_tokens is not None:
                cost = cost_usd(self.price, reply.prompt_tokens, reply.completion_tokens) or 0.0
            self._in_a_row = 0
            self.works = True
            self.done += 1
            self._warn_of_cuts(request, reply)
        except _Failed as failure:
            self.failures[key] = failure.reason
            self._note(failure)
        finally:
            self.budget.settle(dearest, cost)
            self.spent += cost

    def _note(self, failure: _Failed) -> None:
        """Stop the run after a fatal failure, or if the endpoint refuses again and again."""
        if failure.formed:  # the endpoint works, and another request may well get a reply
            self._in_a_row = 0
            self.works = True
            return
        self._in_a_row += 1
        if failure.fatal:
            enough = 1.0
        elif failure.passing:
            # One of the first requests may meet a limit or a timeout while the others are answered.
            enough = 20 if self.works else self._first_requests
        else:
            enough = math.inf if self.works else 10
        if self._in_a_row >= enough and not self._hopeless:
            kept = f" Replies received: {self.done}, all kept." if self.done else ""
            self._hopeless = explain(failure.reason, shown_address(self.address)) + kept

    async def _ask(self, key: str, request: Request) -> Reply:
        """The reply to a request, without the parameters that turn out to be refused."""
        import openai

        kind = "messages" if "messages" in request else "prompt"
        endpoint = self._client.chat.completions if kind == "messages" else self._client.completions
        content = {"model": request["model"], kind: request[kind]}
        left_out: set[str] = set()
        stream: dict[str, bool] = {}
        while True:
            sent = accepted(request["parameters"], self.refused | left_out)
            self._require_bound(request, sent)
            started = time.monotonic()
            try:
                # A stream is read like any other body; `classify` joins its events.
                stream = {"stream": True} if self._streams else {}
                raw = await endpoint.with_raw_response.create(**content, extra_body=sent | stream)
                body = json.loads(clean_body(raw.http_response.content))
                reply = read_reply(key, request, sent, body, time.monotonic() - started)
            except _Failed as known:
                failure = known
            except openai.APIConnectionError as error:  # also a timeout
                failure = getattr(error.__cause__, "failure", None) or _Failed(
                    connection_problem(error.__cause__ or error), passing=True
                )
            except openai.APIStatusError as error:
                failure = self._refusal(error, sent)
            except Exception as error:
                failure = _Failed(
                    f"the reply could not be read ({clean(error) or 'no reason given'})"
                )
            else:
                self._note_refused(request["model"], left_out)
                return reply
            # Outside of the handlers, because an exception of the client contains the key.
            if failure.only_streams and not stream:
                self._streams = True
                continue
            refused = failure.refused & sent.keys()
            if not refused:
                raise failure
            left_out |= refused

    def _require_bound(self, request: Request, sent: Mapping[str, Any]) -> None:
        """Raise _Failed if a run with a budget would send a request whose cost has no bound."""
        bounds = OTHER_NAMES.keys()
        if (
            math.isfinite(self.budget.limit)
            and bounds & request["parameters"].keys()
            and not bounds & sent.keys()
        ):
            raise _Failed(
                "not sent: the model refuses max_tokens, without which a budget cannot be kept"
            )

    def _note_refused(self, model: str, names: set[str]) -> None:
        """Leave parameters out for the rest of the run, once a request was answered without them.

        Only the answer shows that the endpoint refused these parameters and nothing else.
        """
        new = names - self.refused
        self.refused |= new
        for name in sorted(new):
            other = OTHER_NAMES.get(name)
            instead = "not sent" if other is None or other in self.refused else f"sent as {other}"
            warnings.warn(
                f"{model} refuses the parameter {name}; in this run it is {instead}", stacklevel=2
            )

    async def _attempt(self, request: Any, send: Callable[[], Awaitable[Any]]) -> Any:
        """One attempt, as soon as the limits allow it; the client decides whether to try again."""
        http: Any = sys.modules[type(request).__module__.partition(".")[0]]
        attempt = int(request.headers.get("x-stainless-retry-count", 0))
        now = time.monotonic()
        start = max(self._next, now - 1.0)  # at most one second's worth at once
        self._next = start + self.seconds_apart
        if start > now:  # sleep(0) would let idle connections pile up, which httpx then checks
            await asyncio.sleep(start - now)
        while self._under_way >= self.at_once and not self._hopeless:
            await asyncio.sleep(0.02)
        if self._hopeless:
            raise _Failed("not sent: the run was stopped")
        self.retried += attempt > 0
        self._under_way += 1
        at_once = self.at_once
        request.headers["accept-encoding"] = ENCODINGS
        if wants_api_key_header(self.address):
            request.headers["api-key"] = api_key()
        try:
            # The client's own timeout starts anew with every byte that comes.
            async with asyncio.timeout(self.timeout):
                response = await _received(http, request, await send())
        except (TimeoutError, http.TimeoutException):
            self._slow_down(at_once)
            raise _retried(http, request, _Failed(TIMEOUT, passing=True)) from None
        except http.ConnectError as error:
            if attempt >= 2 and not self.works:  # a mistyped address should show soon
                raise _Failed(connection_problem(error), passing=True) from None
            raise
        finally:
            self._under_way -= 1
        self._late = max(0, self._late - 1)
        if response.is_success:
            response = _completion(http, request, response)
        if not response.is_success:
            self._advise_client(request, response)
        return response

    def _advise_client(self, request: Any, response: Any) -> None:
        """Tell the client, which retries, what only the body of an error says."""
        body = json_or_text(response.content)
        sent = json.loads(request.content).keys() - {"model", "messages", "prompt"}
        said = error_message(body)
        final = b"insufficient_quota" in response.content or only_streams(said)
        if final or refused_parameters(body, sent, _status_for_refusal(response)):
            response.headers["x-should-retry"] = "false"
        if response.status_code in (429, 503) and not response.headers.get("retry-after"):
            wait = stated_wait(said) or stated_wait(response.text)
            if wait is not None:
                response.headers["retry-after"] = f"{wait:g}"

    def _slow_down(self, at_once: int) -> None:
        """Halve the number of requests at once if most of them time out.

        A slow server still works on requests that were abandoned. An attempt that began with another
        number says nothing about the present one.
        """
        self._late += at_once == self.at_once
        if self._late >= max(2, at_once // 2):
            self._late = 0
            self.at_once = max(1, at_once // 2)
            warnings.warn(
                f"Many requests to {shown_address(self.address)} got no reply within the timeout of "
                f"{self.timeout:g} s, so this run sends fewer at a time. If the server is slow, set a "
                "higher timeout or a lower max_concurrency.",
                stacklevel=2,
            )

    def _warn_of_cuts(self, request: Request, reply: Reply) -> None:
        """Warn once per run if a reply ended before its answer, or if the server cut a prompt."""
        answer = read_reasoning(reply.response or "").answer
        if reply.finish_reason in LIMIT_REACHED and not answer.strip():
            parameters = request["parameters"]
            limit = parameters.get("max_tokens") or parameters.get("max_completion_tokens")
            stated = f"max_tokens={limit}" if limit else "its largest number of tokens"
            self._warn_once(
                "cut off",
                f"{request['model']} reached {stated} before it answered, so such replies have no answer. "
                "The limit also counts reasoning, for which a model may need 2,000 tokens and more. Set "
                "a larger max_tokens in the parameters, or turn the reasoning of the model off.",
            )
        length = _prompt_length(request)
        if (
            reply.prompt_tokens
            and length >= LONG_PROMPT
            and length > MOST_CHARACTERS_PER_TOKEN * reply.prompt_tokens
        ):
            self._warn_once(
                "cut prompt",
                f"{shown_address(self.address)} reports {reply.prompt_tokens:,} tokens for a prompt of "
                f"{length:,} characters, so it has probably cut the prompt. Give the server a larger "
                "context (in Ollama: num_ctx or OLLAMA_CONTEXT_LENGTH), or send shorter prompts.",
            )

    def _warn_once(self, kind: str, sentence: str) -> None:
        if kind not in self.said:
            self.said.add(kind)
            warnings.warn(sentence, stacklevel=2)

    def _refusal(self, error: Any, sent: Mapping[str, Any]) -> _Failed:
        """What an error of the endpoint means."""
        response, status = error.response, error.status_code
        body = json_or_text(response.content)
        said = clean(error_message(body)) or "no message"
        was_200 = STATUS_WAS_200 in response.headers
        reason = f"{ERROR_AS_REPLY}: {said}" if was_200 else f"HTTP {status}: {said}"
        wait = header_wait(response.headers)
        if status == 429 and wait is not None and wait > LONGEST_WAIT:
            reason = f"HTTP 429: the server asks to wait {duration(wait)} ({said})"
        at_first = status in FATAL_AT_FIRST and not self.works
        no_money = status == 402 or "insufficient_quota" in said
        return _Failed(
            reason,
            passing=status in (408, 409, 429) or status >= 500,
            fatal=status == 401 or at_first or no_money,
            refused=frozenset(refused_parameters(body, sent.keys(), _status_for_refusal(response))),
            only_streams=status in (400, 405, 422, 500, 501) and only_streams(said),
        )


# ---- one answer ----------------------------------------------------------------------------------


async def _received(http: Any, request: Any, response: Any) -> Any:
    """The answer with its whole body, which is limited in size."""
    try:
        body = BoundedBody(response.headers.get("content-encoding", ""), MAX_REPLY_BYTES)
        async for piece in response.aiter_raw():
            body.add(piece)
    except TooLarge as error:
        raise _Failed(str(error)) from None
    except DamagedBody as error:
        raise _retried(http, request, _Failed(str(error), passing=True)) from None
    finally:
        await response.aclose()
    return _response(http, request, response, response.status_code, bytes(body.content))


def _response(http: Any, request: Any, response: Any, status: int, content: bytes) -> Any:
    """An answer with another status or body."""
    headers = response.headers.copy()
    for name in ("content-encoding", "content-length", "transfer-encoding"):
        headers.pop(name, None)
    return http.Response(status, headers=headers, content=content, request=request)


def _completion(http: Any, request: Any, response: Any) -> Any:
    """The completion in an answer, or the answer with the status that its error should have had."""
    answer = classify(response.content)
    if answer.body:
        made = _response(http, request, response, answer.status, answer.body)
        if answer.status != 200:
            made.headers[STATUS_WAS_200] = "yes"
        return made
    failure = _Failed(clean(answer.failure), passing=True, formed=answer.formed)
    raise _retried(http, request, failure)


def _retried(http: Any, request: Any, failure: _Failed) -> Exception:
    """An exception after which the client tries again, and which then says why there is no reply."""
    error: Exception = http.RemoteProtocolError(failure.reason, request=request)
    error.failure = failure  # type: ignore[attr-defined]
    return error


def _status_for_refusal(response: Any) -> int:
    """The status by which a refusal is judged; errors with status 200 are those of a request."""
    return 400 if STATUS_WAS_200 in response.headers else int(response.status_code)


def _prompt_length(request: Request) -> int:
    """Number of characters in the messages or the prompt of a request."""
    if "prompt" in request:
        return len(request["prompt"])
    length = 0
    for message in request["messages"]:
        content = message.get("content") if isinstance(message, Mapping) else None
        parts = content if isinstance(content, list) else [content]
        texts = [part.get("text") if isinstance(part, Mapping) else part for part in parts]
        length += sum(len(text) for text in texts if isinstance(text, str))
    return length
