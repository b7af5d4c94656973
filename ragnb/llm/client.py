"""`complete`: a frame of requests in, the same frame with replies out; every reply is stored first.

A requests frame has ``messages`` (chat) or ``prompt`` (plain completion) and may have ``parameters`` (a mapping) beside any
columns of your own, which are carried along. Requests whose reply is already stored are not sent again.
"""

import asyncio
import os
import sys
import threading
from collections.abc import Coroutine
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pandas as pd

from ragnb.errors import EndpointError, InputError
from ragnb.llm.engine import Engine, Job, Progress
from ragnb.llm.store import Reply, Store, request_key
from ragnb.records import require_columns

DEFAULT_STORE = "ragnb-replies.sqlite"
KEY_VARIABLE = "OPENAI_API_KEY"
ADDRESS_VARIABLE = "OPENAI_BASE_URL"


def complete(
    requests: pd.DataFrame,
    *,
    model: str,
    base_url: str | None = None,
    store: Store | str | Path = DEFAULT_STORE,
    max_concurrency: int = 16,
    timeout: float = 120.0,
    max_retries: int = 5,
    offline: bool = False,
    progress: bool = True,
) -> pd.DataFrame:
    """Replies of an OpenAI-compatible model, in the order of the requests.

    Parameters
    ----------
    requests
        One row a request: ``messages`` (list of ``{"role", "content"}``) or ``prompt`` (text to continue), and
        ``parameters`` (mapping such as ``{"temperature": 0, "max_tokens": 64}``).
    model
        Model name, as the endpoint knows it.
    base_url
        Address of the endpoint, such as ``http://127.0.0.1:8080/v1``; by default ``OPENAI_BASE_URL`` or OpenAI's own.
        The key is read from ``OPENAI_API_KEY``; loopback addresses need none.
    store
        File (or open `Store`) that keeps the replies. Run again after a kill: only what is missing is asked.
    max_concurrency
        Requests under way at once.
    timeout
        Seconds for one attempt.
    max_retries
        Further attempts for one request after failures that may pass.
    offline
        Use stored replies only and send nothing: missing ones are listed in an error.
    progress
        Show a progress line.

    Returns
    -------
    DataFrame
        The requests' columns and ``model, request_key, response, reason, finish_reason, prompt_tokens, completion_tokens,
        system_fingerprint``. ``response`` is None where no reply came, and ``reason`` says why.

    Raises
    ------
    InputError
        A frame without requests, or an offline run with replies missing.
    EndpointError
        The endpoint cannot be used at all; what was received is kept.
    StoreError
        See `Store`.
    """
    run = _Run(requests, model, base_url, max_concurrency, timeout, max_retries, offline)
    with _opened(store) as opened:
        if run.find_missing(opened):
            _in_own_loop(run.send(opened), run.progress, show=progress)
        return run.result(opened)


async def acomplete(
    requests: pd.DataFrame,
    *,
    model: str,
    base_url: str | None = None,
    store: Store | str | Path = DEFAULT_STORE,
    max_concurrency: int = 16,
    timeout: float = 120.0,
    max_retries: int = 5,
    offline: bool = False,
    progress: bool = True,
) -> pd.DataFrame:
    """`complete`, to be awaited by code that has an event loop of its own; the same arguments, result and errors."""
    run = _Run(requests, model, base_url, max_concurrency, timeout, max_retries, offline)
    with _opened(store) as opened:
        if run.find_missing(opened):
            await _watched(run.send(opened), run.progress, show=progress)
        return run.result(opened)


class _Run:
    """One call of `complete`: what was asked for, what is missing, what came."""

    def __init__(
        self,
        requests: pd.DataFrame,
        model: str,
        base_url: str | None,
        max_concurrency: int,
        timeout: float,
        max_retries: int,
        offline: bool,
    ) -> None:
        if max_concurrency < 1 or timeout <= 0 or max_retries < 0:
            raise InputError(
                "complete needs max_concurrency >= 1, timeout > 0 and max_retries >= 0; got "
                f"{max_concurrency}, {timeout} and {max_retries}; change them"
            )
        self.requests = requests
        self.model = model
        self.base_url, self.max_concurrency = base_url, max_concurrency
        self.timeout, self.max_retries, self.offline = timeout, max_retries, offline
        self.asked = _asked(requests, model)
        self.keys = [request_key(request) for request in self.asked]
        self.failures: dict[str, str] = {}
        self.progress = Progress(0)

    def find_missing(self, store: Store) -> bool:
        """Whether anything has to be sent."""
        known = store.known(self.keys)
        places = {key: place for place, key in reversed(list(enumerate(self.keys))) if key not in known}
        self.jobs = [Job(key, self.asked[place]) for key, place in sorted(places.items(), key=lambda pair: pair[1])]
        self.progress.total = len(self.jobs)
        if self.jobs and self.offline:
            raise InputError(
                f"an offline run needs every reply in the store; got {len(self.jobs)} of {len(set(self.keys))} requests "
                f"without one in {store.path!r}; run with offline=False to ask the model"
            )
        return bool(self.jobs)

    async def send(self, store: Store) -> None:
        import openai

        key = api_key(self.base_url)
        async with openai.AsyncOpenAI(api_key=key, base_url=self.base_url, max_retries=0, timeout=self.timeout) as client:
            engine = Engine(client, lambda reply: store.add([reply]), self.progress, self.max_retries, secret=key)
            self.failures = await engine.run(self.jobs, self.max_concurrency)

    def result(self, store: Store) -> pd.DataFrame:
        """The requests with their replies."""
        stored = store.get(self.keys)
        replies = [stored.get(key) for key in self.keys]
        frame = self.requests.drop(columns=[name for name in REPLY_COLUMNS if name in self.requests])
        frame = frame.assign(model=self.model, request_key=self.keys)
        frame["response"] = pd.Series([reply and reply.response for reply in replies], index=frame.index, dtype=object)
        frame["reason"] = [_reason(reply, self.failures.get(key)) for key, reply in zip(self.keys, replies, strict=True)]
        for name in ("finish_reason", "prompt_tokens", "completion_tokens", "system_fingerprint"):
            frame[name] = [reply and getattr(reply, name) for reply in replies]
        return frame.astype({"prompt_tokens": "Int64", "completion_tokens": "Int64"})


REPLY_COLUMNS = "response reason finish_reason prompt_tokens completion_tokens system_fingerprint request_key model".split()


def api_key(base_url: str | None) -> str:
    """The key for an address: the only place where ragnb reads one.

    Raises
    ------
    EndpointError
        There is none and the address is not on this machine.
    """
    key = os.environ.get(KEY_VARIABLE, "").strip()
    host = urlsplit(base_url or os.environ.get(ADDRESS_VARIABLE, "")).hostname or ""
    if key or host in ("localhost", "::1") or host.startswith("127."):
        return key or "none-needed"
    raise EndpointError(
        f"an endpoint on another machine needs a key; got none in the environment variable {KEY_VARIABLE}; set it before "
        "starting Jupyter, or replay stored replies with offline=True, which needs no key"
    )


def _asked(requests: pd.DataFrame, model: str) -> list[dict[str, Any]]:
    kind = "prompt" if "prompt" in getattr(requests, "columns", ()) and "messages" not in requests else "messages"
    require_columns(requests, [kind], "complete")
    parameters = requests["parameters"] if "parameters" in requests else [None] * len(requests)
    asked = []
    for place, (content, options) in enumerate(zip(requests[kind], parameters, strict=True)):
        if not isinstance(content, str if kind == "prompt" else list) or not content:
            wanted = "a text" if kind == "prompt" else "a list of messages"
            raise InputError(f"request {place} needs {wanted} in {kind!r}; got {content!r:.80}; render it again")
        asked.append({"model": model, kind: content, "parameters": _given(options), "repeat": 0})
    return asked


def _given(options: Any) -> dict[str, Any]:
    """Parameters without those that are None: frames fill in None for what a row does not set."""
    return {name: value for name, value in options.items() if value is not None} if isinstance(options, dict) else {}


def _reason(reply: Reply | None, failure: str | None) -> str | None:
    if reply is None:
        return failure or "not asked"
    return None if reply.response is not None else f"the model sent no text (finish_reason {reply.finish_reason!r})"


def _opened(store: Store | str | Path) -> Any:
    return nullcontext(store) if isinstance(store, Store) else Store(store)


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


async def _watched(coroutine: Coroutine[Any, Any, None], progress: Progress, *, show: bool) -> None:
    task = asyncio.ensure_future(coroutine)
    with _Bar(progress, show) as bar:
        try:
            while not task.done():
                await asyncio.wait([task], timeout=0.1)
                bar.draw()
        except BaseException:
            task.cancel()
            raise
    task.result()


class _Bar:
    """The progress line; tqdm draws it well in a terminal and in Jupyter, and not at all under TQDM_DISABLE."""

    def __init__(self, progress: Progress, show: bool) -> None:
        from tqdm.auto import tqdm

        self.progress = progress
        seen = show and (sys.stderr.isatty() or "ipykernel" in sys.modules)
        hidden: dict[str, bool] = {} if seen else {"disable": True}
        self.line: Any = tqdm(total=progress.total, unit="reply", leave=False, **hidden)  # type: ignore[call-overload]

    def __enter__(self) -> "_Bar":
        return self

    def __exit__(self, *_: object) -> None:
        self.draw()
        self.line.close()

    def draw(self) -> None:
        fresh = self.progress.done + self.progress.failed - self.line.n
        if fresh and not self.line.disable:
            self.line.set_postfix(failed=self.progress.failed, retried=self.progress.retried, refresh=False)
            self.line.update(fresh)
