"""Send a frame of requests to a model with `complete`, and store every reply before it is returned.

A frame of requests has the column ``messages`` (chat) or ``prompt`` (plain completion). It may have the
column ``parameters`` (mappings) and any other columns, which are kept. Requests whose reply is already
stored are not sent again.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import accepts, shown_address
from ragnb.errors import InputError
from ragnb.llm.budget import Budget, Price, as_budget, price_of
from ragnb.llm.endpoint import address_of, endpoint_name, is_here
from ragnb.llm.pace import Pace
from ragnb.llm.progress import send_in_thread
from ragnb.llm.run import Run
from ragnb.llm.store import (
    Reply,
    Request,
    Store,
    at_endpoint,
    canonical,
    canonical_requests,
    key_at_endpoint,
    request_key,
)
from ragnb.llm.tally import Tally, one_report
from ragnb.replies import no_answer, reached_limit, warn_of_unfinished
from ragnb.text import Reasoning, read_reasoning

DEFAULT_STORE = "ragnb-replies.sqlite"
# Columns that a stored reply has under the same name.
_STORED_COLUMNS = "finish_reason prompt_tokens completion_tokens system_fingerprint seconds".split()
# Columns that `complete` adds or replaces.
REPLY_COLUMNS = (
    *"model request_key repeat response reasoning reason".split(),
    *_STORED_COLUMNS,
)


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
    canonical_forms = canonical_requests(requests, model, repeats)
    price = price_of(model, prices)
    budget = budget_usd if isinstance(budget_usd, Budget) else Budget()
    if budget_usd is not None:
        _require_bounds(canonical_forms, model, price)
    with one_report(progress) as tally, Store.open(store) as opened:
        endpoint = _endpoint_name(base_url, offline)
        # The requests as they are stored, in the order of the rows, and the key of each. Equal requests have one key.
        from_any_endpoint = offline and base_url is None
        keyed = _keyed(opened, canonical_forms, endpoint, anywhere=from_any_endpoint)
        keys = [key for key, _ in keyed]
        requests_by_key = dict(keyed)
        stored = opened.stored_keys(keys)
        missing = {key: form for key, form in requests_by_key.items() if key not in stored}

        failures: Mapping[str, str] = {}
        if offline:
            # Nothing is sent. A request without a reply has the reason of an earlier run.
            failures = opened.failures()
            n_unknown = len(missing.keys() - failures.keys())
            if n_unknown:
                elsewhere = _answered_elsewhere(opened, canonical_forms, endpoint)
                n_requests = len(requests_by_key)
                raise InputError(_why_not_offline(opened, n_unknown, n_requests, elsewhere))
        elif missing:
            address = address_of(base_url)
            if endpoint is not None:
                _note_endpoint(opened, endpoint, canonical_forms, tally)
            # Without a limit, the next attempt may begin at once.
            seconds_apart = 60 / requests_per_minute if requests_per_minute else 0.0
            run = Run(
                address,
                opened,
                budget,
                price,
                Pace(shown_address(address), max_concurrency, seconds_apart, timeout),
                max_retries=max_retries,
                # The calls of one report share what a model refuses, and which warnings were shown.
                refused=tally.refused.setdefault(f"{model} at {endpoint}", set()),
                warned=tally.warned,
                # A stored reply, or a reply to an earlier call of the same report, shows that the endpoint works.
                works=bool(stored) or tally.has_answers(),
            )
            failures = _send(run, missing, tally, model=model, n_stored=len(stored), show=progress)

        replies = opened.get(keys)
        # A request with neither a reply nor a reason was not sent. Only a spent budget ends a run in good order before
        # all requests are sent.
        not_sent = f"not sent: the budget of ${budget.limit:g} is spent"
        reasons = {key: failures.get(key, not_sent) for key in keys if key not in replies}
        frame = _repeated(requests, repeats).assign(model=model, request_key=keys)
        frame["repeat"] = [request["repeat"] for _, request in keyed]
        frame = with_replies(frame, replies, reasons, keep_empty)
        _note_outcomes(tally, frame)
    return frame


# ---- before a run --------------------------------------------------------------------------------


def _endpoint_name(base_url: str | None, offline: bool) -> str | None:
    """The name of the endpoint in the store; see `ragnb.llm.endpoint.endpoint_name`.

    A replay (``offline``) needs no endpoint, so it has None if the address in the environment is not valid.
    """
    try:
        return endpoint_name(base_url)
    except InputError:
        if offline and base_url is None:
            return None
        raise


def _why_not_offline(store: Store, n_unknown: int, n_requests: int, elsewhere: str) -> str:
    """The message of an offline run with requests that have neither a reply nor a reason."""
    return (
        f"an offline run needs every reply in the store, and {n_unknown} of "
        f"{n_requests} requests have none in {store.path!r}{elsewhere}; run with "
        "offline=False to ask the model"
    )


def _keyed(
    store: Store, requests: Sequence[Request], endpoint: str | None, *, anywhere: bool
) -> list[tuple[str, Request]]:
    """The requests as they are stored for one endpoint, or ``anywhere``: for the endpoint that answered each of them.

    Each request has its key.
    """
    if not anywhere:
        return store.keyed_for(requests, endpoint)
    _require_one_endpoint(store, requests, endpoint)
    return store.keyed_anywhere(requests, endpoint)


def _require_one_endpoint(store: Store, requests: Sequence[Request], preferred: str | None) -> None:
    """Raise InputError if several endpoints answered one request, and it is unclear which reply is meant.

    It is clear if the preferred endpoint is among them, or if a reply is stored without an endpoint (None), because such
    replies count for every endpoint.
    """
    # Key of the request without an endpoint -> the endpoints whose replies are stored.
    endpoints_of_requests: dict[str, list[str | None]] = {}
    canonical_forms = [canonical(request) for request in requests]
    for endpoint in dict.fromkeys([preferred, None, *store.endpoints()]):
        request_of_key = {
            key_at_endpoint(form, endpoint): key_at_endpoint(form, None) for form in canonical_forms
        }
        for key in store.stored_keys(request_of_key):
            endpoints_of_requests.setdefault(request_of_key[key], []).append(endpoint)
    for endpoints in endpoints_of_requests.values():
        is_clear = len(endpoints) == 1 or preferred in endpoints or None in endpoints
        if not is_clear:
            raise InputError(
                f"the store {store.path!r} has replies of several endpoints to the same request "
                f"({', '.join(map(str, endpoints))}); pass base_url= to say which are meant"
            )


def _answered_elsewhere(store: Store, requests: Sequence[Request], endpoint: str | None) -> str:
    """Which other endpoints answered these requests, as the end of a sentence; empty if none did."""
    counts = []
    for other in store.endpoints():
        if other == endpoint:
            continue
        keys = [request_key(at_endpoint(request, other)) for request in requests]
        n_replies = len(store.stored_keys(keys))
        if n_replies:
            counts.append(f"{n_replies:,} from {other}")
    if not counts:
        return ""
    return f" (the store has replies of other endpoints to them: {', '.join(counts)})"


def _require_bounds(requests: Sequence[Request], model: str, price: Price | None) -> None:
    """Raise InputError unless the highest possible cost of every request is known."""
    if price is None:
        raise InputError(
            f"a budget needs the model's price, which is unknown for {model!r}; pass "
            f"prices={{{model!r}: (input, output)}} in US dollars per million tokens"
        )
    for place, request in enumerate(requests):
        if not {"max_tokens", "max_completion_tokens"} & set(request["parameters"]):
            raise InputError(
                f"a budget needs max_tokens in the parameters of every request; request {place} "
                "has none"
            )


# ---- the run -------------------------------------------------------------------------------------


def _note_endpoint(store: Store, endpoint: str, requests: Sequence[Request], tally: Tally) -> None:
    """Note in the store that requests are sent to an endpoint, and in the report which others answered them.

    Only a server on this machine is compared with others: it may have had another port when it answered the same requests.
    """
    if is_here(endpoint):
        elsewhere = _answered_elsewhere(store, requests, endpoint)
        # A later call of the same report, such as one with repair turns, may have no such answers. What an earlier call has
        # noted is then kept.
        tally.elsewhere = elsewhere or tally.elsewhere
    store.note_endpoint(endpoint)


def _send(
    run: Run,
    requests: Mapping[str, Request],
    tally: Tally,
    *,
    model: str,
    n_stored: int,
    show: bool,
) -> Mapping[str, str]:
    """Send the requests of a run and count them and their cost for the report.

    Return the reason for each key that got no reply.
    """
    tally.sent.update(requests)
    try:
        send_in_thread(run, requests, n_stored=n_stored, show=show)
    finally:
        # What was sent has to be paid for, even if the run is interrupted.
        tally.cost_usd += run.spent
        is_cost_unknown = run.price is None and run.n_done > 0
        if is_cost_unknown:
            tally.unpriced = model
    return run.failures


# ---- the frame of replies ------------------------------------------------------------------------


def _repeated(requests: pd.DataFrame, repeats: int) -> pd.DataFrame:
    """The frame without the columns of an earlier run, with each row as often as it is sent."""
    frame = requests.drop(columns=list(REPLY_COLUMNS), errors="ignore")
    if repeats == 1:
        return frame
    return frame.iloc[np.arange(len(frame)).repeat(repeats)].reset_index(drop=True)


def with_replies(
    frame: pd.DataFrame, replies: Mapping[str, Reply], reasons: Mapping[str, str], keep_empty: bool
) -> pd.DataFrame:
    """The frame with the columns of replies.

    ``reasons`` has the reason for each key without a reply. A reply that answers nothing has a reason instead of a response,
    but keeps its other columns.
    """
    outcomes = []
    replies_of_rows = [replies.get(key) for key in frame["request_key"]]
    for key, reply in zip(frame["request_key"], replies_of_rows, strict=True):
        if reply is None:
            outcomes.append(_Outcome(reason=reasons.get(key)))
        else:
            outcomes.append(_outcome(reply, keep_empty))
    warn_of_unfinished([outcome.parts for outcome in outcomes if outcome.parts is not None])

    columns: dict[str, list[Any]] = {
        "response": [outcome.response for outcome in outcomes],
        "reason": [outcome.reason for outcome in outcomes],
        "reasoning": [outcome.reasoning for outcome in outcomes],
    }
    # Most models send no reasoning, and their frames do not need the column.
    if not any(columns["reasoning"]):
        del columns["reasoning"]
    for name in _STORED_COLUMNS:
        # Without a reply, the cell is missing.
        columns[name] = [getattr(reply, name, None) for reply in replies_of_rows]
    # Missing numbers keep their columns numeric. All other columns are objects, in which None stays None.
    types = {"prompt_tokens": "Int64", "completion_tokens": "Int64", "seconds": float}
    series = {
        name: pd.Series(values, frame.index, dtype=types.get(name, object))
        for name, values in columns.items()
    }
    return frame.assign(**series)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What became of a request: a response or the reason why there is none, and the reasoning of the model.

    ``parts`` are the reasoning and the answer in the text of a reply; None if the reply contains no answer.
    """

    response: str | None = None
    reason: str | None = None
    reasoning: str | None = None
    parts: Reasoning | None = None


def _outcome(reply: Reply, keep_empty: bool) -> _Outcome:
    """What a stored reply contains: an answer, or the reason why it contains none."""
    parts = read_reasoning(reply.response or "")
    extra = json.loads(reply.extra or "{}")
    separate_reasoning = _separate_reasoning(extra)
    # A reply may contain reasoning in a field of its own and between marks in its text.
    reasoning = f"{separate_reasoning or ''}{parts.reasoning}" or None
    # `no_answer` itself reads the reasoning between the marks in the text.
    reason = no_answer(
        reply.response,
        reasoning=separate_reasoning,
        finish_reason=reply.finish_reason,
        refusal=extra.get("refusal"),
        keep_empty=keep_empty,
    )
    if reason is not None:
        return _Outcome(reason=reason, reasoning=reasoning)
    return _Outcome(response=parts.answer, reasoning=reasoning, parts=parts)


def _separate_reasoning(extra: Mapping[str, Any]) -> str | None:
    """The reasoning that the endpoint sent in a field of its own, as DeepSeek, vLLM and OpenRouter do."""
    reasoning = extra.get("reasoning_content") or extra.get("reasoning")
    return reasoning if isinstance(reasoning, str) else None


def _note_outcomes(tally: Tally, frame: pd.DataFrame) -> None:
    """Count the outcomes of requests for the report of a run."""
    # The reason is None if there is an answer.
    tally.reasons.update(zip(frame["request_key"], frame["reason"], strict=True))
    is_cut_off = frame["finish_reason"].map(reached_limit) & frame["reason"].isna()
    tally.cut_off.update(frame.loc[is_cut_off, "request_key"])
