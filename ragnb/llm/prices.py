"""What a run would cost before it is sent: tokens counted, prices as data, and an unknown price is None, never 0."""

import csv
import json
import math
import os
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import pandas as pd
import regex

from ragnb.errors import InputError
from ragnb.llm.requests import Request, canonical_requests
from ragnb.llm.store import Store, request_key

Price = tuple[float, float]
"""US dollars for a million prompt tokens and for a million completion tokens."""

UNSAID_COMPLETION = 1000
"""Completion tokens that a request without ``max_tokens`` is taken to need."""

_BYTES_A_TOKEN = 4.0
_OVERHEAD = 4  # tokens around one message
_SNAPSHOT = regex.compile(r"-\d{4}-\d\d-\d\d$|-\d{4}$")


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run would send and cost; see `estimate`."""

    n_requests: int
    n_stored: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    """When every reply is as long as it may be; None when the model's price is unknown."""
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
    """Tokens and cost of a run, before a cent is spent.

    Parameters
    ----------
    requests, model, repeats
        As for `ragnb.complete`.
    store
        Replies that need not be paid again; a file that does not exist has none, and is not made.
    prices
        Prices of your own, by model name: US dollars for a million prompt and a million completion tokens.

    Returns
    -------
    Estimate
        Prompt tokens are estimated by `count_tokens`; every reply is taken to be as long as it may be (``max_tokens``, or
        1,000 tokens where none is set).
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
    with nullcontext(store) if isinstance(store, Store) else Store(store) as opened:
        return opened.known(map(request_key, asked))


def dollars(cost: float) -> str:
    """A sum as text: to the cent, or with four decimals if it is below ten cents.

    >>> dollars(1.234), dollars(0.0123), dollars(0.0)
    ('$1.23', '$0.0123', '$0.00')
    """
    return f"${cost:.{2 if cost >= 0.1 or not cost else 4}f}"


def price_of(model: str, prices: Mapping[str, Price] | None = None) -> Price | None:
    """Price of a model, None when it is unknown; a dated snapshot has the price of its model.

    >>> price_of("gpt-4o-mini-2024-07-18"), price_of("my-own"), price_of("my-own", {"my-own": (1, 2)})
    ((0.15, 0.6), None, (1, 2))
    """
    known = {**_table(), **(prices or {})}
    return known.get(model) or known.get(_SNAPSHOT.sub("", model))


def price_table() -> pd.DataFrame:
    """The prices that ragnb knows, with the month they were read; give your own to `estimate` and `complete`."""
    with (resources.files("ragnb.llm") / "data" / "prices.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file)


def count_tokens(text: str) -> int:
    """About how many tokens a text has: its UTF-8 bytes divided by four, rounded up.

    The rule needs no tokeniser and is meant for budgets: for English within about a fifth of what models count, for other
    scripts within a factor of two.

    >>> count_tokens("How many hearts?"), count_tokens("有几颗心？")
    (4, 4)
    """
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / _BYTES_A_TOKEN)


def prompt_tokens(request: Mapping[str, Any]) -> int:
    """Estimated prompt tokens of one canonical request."""
    if "prompt" in request:
        return count_tokens(request["prompt"])
    return sum(
        count_tokens(str(message.get("content") or "")) + _OVERHEAD
        for message in request["messages"]
    )


def prompt_bound(request: Mapping[str, Any]) -> int:
    """Most prompt tokens that one canonical request can have: a token is at least a byte, of text, tools or schema."""
    return len(
        json.dumps([request.get("messages") or request.get("prompt"), request["parameters"]])
    )


def completion_bound(request: Mapping[str, Any]) -> int:
    """Most completion tokens that one canonical request may bring."""
    parameters = request["parameters"]
    return int(
        parameters.get("max_completion_tokens") or parameters.get("max_tokens") or UNSAID_COMPLETION
    )


def require_price(model: str, prices: Mapping[str, Price] | None) -> Price:
    """Price of a model.

    Raises
    ------
    InputError
        It is unknown, so a budget could not be kept.
    """
    price = price_of(model, prices)
    if price is None:
        raise InputError(
            f"a budget needs the model's price; got none for {model!r}; give prices={{{model!r}: (input, output)}} in US "
            "dollars for a million tokens"
        )
    return price


@cache
def _table() -> dict[str, Price]:
    text = (resources.files("ragnb.llm") / "data" / "prices.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return {
        row["model"]: (float(row["input_usd_per_million"]), float(row["output_usd_per_million"]))
        for row in rows
    }
