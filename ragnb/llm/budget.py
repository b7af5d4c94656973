"""Limits and costs of a run: requests and tokens per minute, tokens counted before sending, prices, and a hard budget."""

import asyncio
import json
import math
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import pandas as pd
import regex

from ragnb.errors import InputError
from ragnb.llm.store import Request, Store, canonical_requests, request_key

Price = tuple[float, float]
"""US dollars for a million prompt tokens and for a million completion tokens."""

UNSAID_COMPLETION = 1000
"""Completion tokens that we assume for a request without ``max_tokens``."""

_BYTES_PER_TOKEN = 4.0
_OVERHEAD = 4  # tokens around one message
_SNAPSHOT = regex.compile(r"-\d{4}-\d\d-\d\d$|-\d{4}$")


class Bucket:
    """A token bucket, which lets ``per_minute`` units pass in any minute and at most one second's worth at once."""

    def __init__(self, per_minute: float | None) -> None:
        self.seconds_per_unit = 60.0 / per_minute if per_minute else 0.0
        self._next = 0.0

    async def take(self, units: float = 1.0) -> None:
        """Wait until this number of units may pass."""
        if self.seconds_per_unit:
            now = time.monotonic()
            start = max(self._next, now - 1.0)
            self._next = start + units * self.seconds_per_unit
            await asyncio.sleep(max(0.0, start - now))

    def correct(self, units: float) -> None:
        """Correct an estimate: count this number of units in addition to those taken (negative for fewer)."""
        self._next += units * self.seconds_per_unit


@dataclass(slots=True)
class Budget:
    """A hard limit in dollars: the highest possible cost of a request is set aside before the request is sent."""

    limit: float | None
    price: Price | None
    spent: float = 0.0
    set_aside: float = 0.0

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Cost of these tokens in dollars; 0 if the price is unknown, in which case there is no limit either."""
        if self.price is None:
            return 0.0
        return (prompt_tokens * self.price[0] + completion_tokens * self.price[1]) / 1e6

    def reserve(self, most: float) -> bool:
        """Set aside the highest possible cost of a request; return False if the budget cannot cover it."""
        if self.limit is not None and self.spent + self.set_aside + most > self.limit:
            return False
        self.set_aside += most
        return True

    def settle(self, most: float, real: float) -> None:
        """Release the amount that was set aside and count the real cost."""
        self.set_aside -= most
        self.spent += real


@dataclass(frozen=True, slots=True)
class Estimate:
    """The size and cost of a run; see `estimate`."""

    n_requests: int
    n_stored: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    """Cost if every reply has its maximum length; None if the model's price is unknown."""
    model: str

    def __str__(self) -> str:
        cost = "price unknown" if self.cost_usd is None else f"about {dollars(self.cost_usd)}"
        return (
            f"{self.n_requests - self.n_stored:,} requests to send ({self.n_stored:,} stored) to {self.model}: about "
            f"{self.prompt_tokens:,} prompt tokens, at most {self.completion_tokens:,} completion tokens, {cost}"
        )


def estimate(
    requests: pd.DataFrame,
    *,
    model: str,
    store: Store | str | Path | None = None,
    repeats: int = 1,
    prices: Mapping[str, Price] | None = None,
) -> Estimate:
    """Estimate the tokens and the cost of a run without sending anything.

    Parameters
    ----------
    requests, model, repeats
        As for `ragnb.complete`.
    store
        Replies that are already stored and cost nothing. A file that does not exist is not created.
    prices
        Your own prices by model name: US dollars for a million prompt and a million completion tokens.

    Returns
    -------
    Estimate
        Prompt tokens are estimated by `count_tokens`. We assume that every reply has its maximum length: ``max_tokens``,
        or 1,000 tokens if this parameter is not set.
    """
    asked = canonical_requests(requests, model, repeats)
    known = _stored(store, asked)
    unique = {key: request for request in asked if (key := request_key(request)) not in known}
    sent, received = (
        sum(map(prompt_tokens, unique.values())),
        sum(map(completion_bound, unique.values())),
    )
    price = price_of(model, prices)
    cost = None if price is None else (sent * price[0] + received * price[1]) / 1e6
    return Estimate(len(unique) + len(known), len(known), sent, received, cost, model)


def _stored(store: Store | str | Path | None, asked: list[Request]) -> set[str]:
    if store is None or not (
        isinstance(store, Store) or os.path.exists(os.path.expanduser(str(store)))
    ):
        return set()
    with Store.open(store) as opened:
        return opened.known(map(request_key, asked))


def dollars(cost: float) -> str:
    """Format a cost to the cent, or with four decimals if it is below ten cents.

    >>> dollars(1.234), dollars(0.0123), dollars(0.0)
    ('$1.23', '$0.0123', '$0.00')
    """
    return f"${cost:.{2 if cost >= 0.1 or not cost else 4}f}"


def price_of(model: str, prices: Mapping[str, Price] | None = None) -> Price | None:
    """Price of a model, or None if it is unknown; a dated snapshot has the price of its model.

    >>> price_of("gpt-4o-mini-2024-07-18"), price_of("my-own"), price_of("my-own", {"my-own": (1, 2)})
    ((0.15, 0.6), None, (1, 2))
    """
    known = {**_table(), **(prices or {})}
    return known.get(model) or known.get(_SNAPSHOT.sub("", model))


def price_table() -> pd.DataFrame:
    """Table of the prices that ragnb knows, with the month in which we read them.

    Pass your own prices to `estimate` and `complete`.
    """
    with (resources.files("ragnb.llm") / "data" / "prices.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file)


def count_tokens(text: str) -> int:
    """Estimate the number of tokens in a text: its UTF-8 bytes divided by four, rounded up.

    The rule needs no tokeniser and is meant for budgets. For English it is within about 20 % of what models count, for
    other scripts within a factor of two.

    >>> count_tokens("How many hearts?"), count_tokens("有几颗心？")
    (4, 4)
    """
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / _BYTES_PER_TOKEN)


def prompt_tokens(request: Mapping[str, Any]) -> int:
    """Estimated prompt tokens of one canonical request."""
    if "prompt" in request:
        return count_tokens(request["prompt"])
    return sum(
        count_tokens(str(message.get("content") or "")) + _OVERHEAD
        for message in request["messages"]
    )


def prompt_bound(request: Mapping[str, Any]) -> int:
    """Upper bound of the prompt tokens of one canonical request: a token of text, tools or schema has at least one byte."""
    return len(
        json.dumps([request.get("messages") or request.get("prompt"), request["parameters"]])
    )


def completion_bound(request: Mapping[str, Any]) -> int:
    """Upper bound of the completion tokens of one canonical request."""
    parameters = request["parameters"]
    return int(
        parameters.get("max_completion_tokens") or parameters.get("max_tokens") or UNSAID_COMPLETION
    )


def require_price(model: str, prices: Mapping[str, Price] | None) -> Price:
    """Price of a model; an unknown price is an InputError, because a budget could not be kept."""
    price = price_of(model, prices)
    if price is None:
        raise InputError(
            f"a budget needs the model's price; got none for {model!r}; give prices={{{model!r}: (input, output)}} in US "
            "dollars for a million tokens"
        )
    return price


@cache
def _table() -> dict[str, Price]:
    columns = ["model", "input_usd_per_million", "output_usd_per_million"]
    return {model: (sent, received) for model, sent, received in price_table()[columns].to_numpy()}
