"""Send a frame of requests to a model with `complete`, and store every reply before it is returned.

A frame of requests has the column ``messages`` (chat) or ``prompt`` (plain completion). It may have the
column ``parameters`` (mappings) and any other columns, which are kept. Requests whose reply is already
stored are not sent again.
"""

import asyncio
import json
import os
import sys
import threading
import time
from collections.abc import Collection, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.errors import InputError
from ragnb.llm.budget import (
    Bucket,
    Budget,
    Price,
    as_budget,
    dollars,
    price_of,
    require_bounds,
)
from ragnb.llm.engine import Engine
from ragnb.llm.store import Reply, Store, canonical_requests, request_key
from ragnb.records import count_reasons, reasoning_apart
from ragnb.text import well_formed

DEFAULT_STORE = "ragnb-replies.sqlite"
EMPTY = "empty reply"
REPLY_COLUMNS = (
    "model request_key repeat response reasoning reason finish_reason prompt_tokens "
    "completion_tokens system_fingerprint".split()
)
"""Columns that `complete` adds or replaces."""


@accepts(
    aligned=False,
    max_concurrency="size",
    requests_per_minute="positive",
    tokens_per_minute="positive",
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
    tokens_per_minute: float | None = None,
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
    environment is used for other machines only. Replies are read into memory without a limit of their
    size, so use only endpoints that you trust.

    Parameters
    ----------
    requests
        One row per request: ``messages`` (list of ``{"role", "content"}``) or ``prompt`` (text to
        continue), and ``parameters`` (mapping such as ``{"temperature": 0, "max_tokens": 64}``). If
        the model refuses ``max_tokens``, as OpenAI's reasoning models do, it is sent as
        ``max_completion_tokens`` for the rest of the run. A ``temperature`` or ``response_format``
        that is refused is not sent. A warning says so once. The reply is stored under the request as
        you wrote it; its column ``extra`` in the store contains the parameters that were sent.
    model
        Name of the model, as the endpoint knows it.
    base_url
        Address of the endpoint, such as ``http://127.0.0.1:8080/v1``. The default is
        ``OPENAI_BASE_URL`` or OpenAI's own address. The key is read from ``OPENAI_API_KEY``; loopback
        addresses need none.
    store
        File (or open `Store`) that keeps the replies. After an interruption, call the function
        again: it sends only the requests without a reply. If another process with the same store is
        sending a request, its reply is awaited.
    max_concurrency
        Number of requests under way at once.
    requests_per_minute, tokens_per_minute
        Limits of the endpoint, which are kept by waiting. Tokens are estimated before each request
        and corrected after its reply.
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
        statuses 408, 409, 429 and 5xx, and replies that are not completions. A Retry-After of up to two
        minutes is honoured.
    offline
        Use stored replies only and send nothing. Requests that an earlier run could not get answered
        keep their reason; others without a reply are an error.
    progress
        Show a progress bar, and one line at the end that says how many requests were answered and why
        the others were not. The environment variable ``TQDM_DISABLE=1`` turns both off.
    keep_empty
        Count an empty reply as the model's answer, which is then scored. By default it counts as
        missing, as an empty cell does in `ragnb.load_responses`.

    Returns
    -------
    DataFrame
        The columns of the requests and ``model, request_key, repeat, response, reason, finish_reason,
        prompt_tokens, completion_tokens, system_fingerprint``. The repeats of a request are in
        consecutive rows. ``response`` is None if there is no reply, and ``reason`` says why. A reply
        without text (empty, refused by the model, or withheld by a content filter) counts as no
        reply, so it is unscored and not wrong.

        If any reply contains reasoning, in ``<think>…</think>`` or in a field of its own, the column
        ``reasoning`` contains it and ``response`` the answer alone. A reply that was cut off during
        its reasoning has an empty answer. The store keeps the reply as it came.

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
    asked = canonical_requests(requests, model, repeats)
    keys = [request_key(request) for request in asked]
    price = price_of(model, prices)
    if budget_usd is not None:
        require_bounds(asked, model, price)
    budget = as_budget(budget_usd) if budget_usd is not None else Budget()
    not_asked = f"not asked: the budget of ${budget.limit:g} is spent"
    with one_report(progress) as tally, Store.open(store) as opened:
        known = opened.known(keys)
        missing = {key: each for key, each in zip(keys, asked, strict=True) if key not in known}
        failures: dict[str, str] = {}
        if offline:
            failures = opened.failures()
            _require_known(missing, failures, keys, opened)
        elif missing:
            engine = Engine(
                base_url,
                opened,
                budget,
                price,
                refused=tally.refused.setdefault(model, set()),
                total=len(known) + len(missing),
                stored=len(known),
                works=bool(known) or None in tally.reasons.values(),
                timeout=timeout,
                max_retries=max_retries,
                at_once=max_concurrency,
                requests=Bucket(requests_per_minute),
                tokens=Bucket(tokens_per_minute),
            )
            failures = engine.failures
            tally.sent.update(missing)
            try:
                _in_own_loop(engine.run(missing), engine, show=progress)
            finally:
                tally.cost_usd += engine.spent
                if price is None and engine.done:
                    tally.unpriced = model
        replies = opened.get(keys)
        reasons = []
        for key in keys:
            why = failures.get(key, not_asked) if key not in replies else why_no_text(replies[key])
            reasons.append(None if why == EMPTY and keep_empty else why)
        tally.reasons.update(zip(keys, reasons, strict=True))
    frame = _own_columns(requests, repeats).assign(model=model, request_key=keys)
    frame["repeat"] = [request["repeat"] for request in asked]
    return _with_replies(frame, [replies.get(key) for key in keys], reasons)


def _require_known(
    missing: Collection[str], failures: Collection[str], keys: Collection[str], store: Store
) -> None:
    """Raise InputError unless a replay has a reply or a reason for every request."""
    unknown = [key for key in missing if key not in failures]
    if unknown:
        raise InputError(
            f"an offline run needs every reply in the store, and {len(unknown)} of "
            f"{len(set(keys))} requests have none in {store.path!r}; run with offline=False to ask "
            "the model"
        )


def _own_columns(requests: pd.DataFrame, repeats: int) -> pd.DataFrame:
    """Return the user's columns of a frame, with each row repeated once per request."""
    frame = requests[[name for name in requests.columns if name not in REPLY_COLUMNS]]
    if repeats == 1:
        return frame
    places = [place for place in range(len(frame)) for _ in range(repeats)]
    return frame.iloc[places].reset_index(drop=True)


def _with_replies(
    frame: pd.DataFrame, replies: list[Reply | None], reasons: list[str | None]
) -> pd.DataFrame:
    """The frame with the columns of replies; a reply that has a reason has no text."""
    pairs = list(zip(replies, reasons, strict=True))
    texts = [reply.response or "" if reply and why is None else None for reply, why in pairs]
    frame["response"] = pd.Series(texts, index=frame.index, dtype=object)
    frame["reason"] = pd.Series(reasons, index=frame.index, dtype=object)
    for name in ("finish_reason", "prompt_tokens", "completion_tokens", "system_fingerprint"):
        frame[name] = [reply and getattr(reply, name) for reply in replies]
    apart = [reply and _sent_apart(reply) for reply in replies]
    if any(apart):
        frame["reasoning"] = pd.Series(apart, index=frame.index, dtype=object)
    return reasoning_apart(frame.astype({"prompt_tokens": "Int64", "completion_tokens": "Int64"}))


def why_no_text(reply: Reply) -> str | None:
    """Why a reply has no text; None if it has some."""
    if reply.response and reply.response.strip():
        return None
    if refusal := json.loads(reply.extra or "{}").get("refusal"):
        return f"the model refused: {well_formed(str(refusal)):.300}"
    if reply.finish_reason == "content_filter":
        return "the provider blocked the reply (content_filter)"
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


# ---- the report of a run -------------------------------------------------------------------------


@dataclass
class Tally:
    """Counts of the requests of one run and their outcomes. A run can be several calls of `complete`."""

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


# ---- waiting -------------------------------------------------------------------------------------


def _in_own_loop(coroutine: Coroutine[Any, Any, None], engine: Engine, *, show: bool) -> None:
    """Run a coroutine in a loop and thread of its own, so that the loop of Jupyter is left alone."""
    from tqdm.auto import tqdm

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

    seen = show and (sys.stderr.isatty() or "ipykernel" in sys.modules)
    hidden: dict[str, bool] = {} if seen else {"disable": True}  # else TQDM_DISABLE decides
    threading.Thread(target=run, name="ragnb-complete", daemon=True).start()
    with tqdm(  # type: ignore[call-overload]
        total=engine.total, initial=engine.stored, unit="reply", leave=False, **hidden
    ) as bar:
        try:
            while not finished.wait(0.1):
                draw(bar, engine)
        except BaseException:  # Ctrl-C or the stop button: stop sending, keep what came
            loop.call_soon_threadsafe(task.cancel)
            finished.wait(5)
            raise
        draw(bar, engine)
    task.result()


def draw(bar: Any, engine: Engine) -> None:
    """Show in a bar of tqdm what has happened since the last call."""
    fresh = engine.stored + engine.done + engine.failed - bar.n
    if fresh and not bar.disable:
        cost = {} if engine.price is None else {"cost": dollars(engine.spent)}
        counts = {"failed": engine.failed, "retried": engine.retried}
        bar.set_postfix({**cost, **counts}, refresh=False)
        bar.update(fresh)
