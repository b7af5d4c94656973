"""Costs of a run: prices, estimates, and a hard budget."""

import json
import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from numbers import Real
from pathlib import Path
from typing import Any

import pandas as pd
import regex

from ragnb.arguments import accepts
from ragnb.errors import InputError, as_real
from ragnb.llm.endpoint import endpoint_name
from ragnb.llm.store import Request, Store, canonical_requests, request_key
from ragnb.printing import described
from ragnb.results import Sentence

Price = tuple[float, float]
"""US dollars for a million prompt tokens and for a million completion tokens."""

# Completion tokens that we assume for a request without ``max_tokens``: about 750 words, longer than most answers.
ASSUMED_COMPLETION_TOKENS = 1000

# The date at the end of a model's name, such as ``-2024-07-18`` or ``-0613``.
_SNAPSHOT = regex.compile(r"-\d{4}-\d\d-\d\d$|-\d{4}$")

# Tokens that a chat format adds to each message, such as those that mark its beginning, its role and its end.
TOKENS_AROUND_MESSAGE = 4


def _as_limit(value: Any) -> float:
    """Check that a limit in dollars is a number of at least 0. It may be infinite."""
    # The condition is negated, because nan is not at least 0 either.
    if not isinstance(value, Real) or not float(value) >= 0:
        raise InputError(f"must be a number of US dollars of at least 0, got {described(value)}")
    return float(value)


class Budget:
    """A hard limit in US dollars, which one run or several may share.

    Pass it as ``budget_usd`` to every call that shares it. The highest possible cost of a request is
    set aside before the request is sent.

    >>> budget = Budget(1.0)
    >>> budget.reserve(0.8), budget.reserve(0.8)
    (True, False)
    >>> budget.settle(0.8, 0.5)
    >>> budget
    Budget($0.50 of $1.00 spent)
    """

    @accepts(limit=_as_limit)
    def __init__(self, limit: float = math.inf) -> None:
        self.limit = limit
        # The cost of the replies, and the highest cost of the requests under way.
        self.spent = self.set_aside = 0.0
        # Runs in several threads may share a budget.
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Budget({dollars(self.spent)} of {dollars(self.limit)} spent)"

    def reserve(self, most: float) -> bool:
        """Set aside the highest possible cost of a request; return False if the budget cannot cover it."""
        with self._lock:
            is_covered = self.spent + self.set_aside + most <= self.limit
            if is_covered:
                self.set_aside += most
            return is_covered

    def settle(self, most: float, real: float) -> None:
        """Release the amount that was set aside and count the real cost."""
        with self._lock:
            self.set_aside = max(0.0, self.set_aside - most)
            self.spent += real


def as_budget(value: Any) -> Budget:
    """Convert the argument ``budget_usd``: a number of at least 0, or a `Budget` that several calls share."""
    if isinstance(value, Budget):
        return value
    # Without a limit, the argument is None. An infinite limit is a mistake in a computation.
    if not 0 <= as_real(value) < math.inf:
        raise InputError(
            f"must be a finite number of US dollars of at least 0, or a Budget, got {value!r}"
        )
    return Budget(float(value))


@dataclass(frozen=True, slots=True, repr=False)
class Estimate(Sentence):
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


@accepts(repeats="size")
def estimate(
    requests: pd.DataFrame,
    *,
    model: str,
    base_url: str | None = None,
    store: Store | str | Path | None = None,
    repeats: int = 1,
    prices: Mapping[str, Price] | None = None,
) -> Estimate:
    """Estimate the tokens and the cost of a run without sending anything.

    Parameters
    ----------
    requests, model, repeats
        As for `ragnb.complete`.
    base_url
        Address of the endpoint. Stored replies of other endpoints are then not counted. By default, those
        of all endpoints are.
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
    canonical_forms = canonical_requests(requests, model, repeats)
    stored: set[str] = set()
    # Opening a file that does not exist would create it.
    if store is not None and (isinstance(store, Store) or Path(store).expanduser().exists()):
        with Store.open(store) as opened:
            # In the store, a request may have the name of an endpoint, which changes its key.
            if base_url is None:
                canonical_forms = opened.as_stored_anywhere(canonical_forms)
            else:
                canonical_forms = opened.as_stored_for(canonical_forms, endpoint_name(base_url))
            stored = opened.stored_keys(map(request_key, canonical_forms))
    # Equal requests have one key, and are sent once.
    requests_by_key = {request_key(request): request for request in canonical_forms}
    to_send = [request for key, request in requests_by_key.items() if key not in stored]
    prompt_tokens = sum(_prompt_tokens(request) for request in to_send)
    completion_tokens = sum(_completion_bound(request) for request in to_send)
    return Estimate(
        n_requests=len(to_send) + len(stored),
        n_stored=len(stored),
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        cost_usd=cost_usd(price_of(model, prices), prompt_tokens, completion_tokens),
        model=model,
    )


def _prompt_tokens(request: Request) -> int:
    """Estimated number of tokens in the messages or the prompt of a request."""
    n_tokens = count_tokens(request.get("prompt", ""))
    for message in request.get("messages", []):
        n_tokens += count_tokens(str(message.get("content") or ""))
        n_tokens += TOKENS_AROUND_MESSAGE
    return n_tokens


def dollars(cost: float) -> str:
    """Format a cost to the cent, or with four decimals if it is below ten cents.

    >>> dollars(1.234), dollars(0.0123), dollars(0.0)
    ('$1.23', '$0.0123', '$0.00')
    """
    # Below ten cents, two decimals would show at most one digit of the cost.
    is_small = 0 < cost < 0.1
    decimals = 4 if is_small else 2
    return f"${cost:.{decimals}f}"


def price_of(model: str, prices: Mapping[str, Price] | None = None) -> Price | None:
    """Price of a model, or None if it is unknown. A dated snapshot has the price of its model unless it has its own.

    >>> price_of("gpt-4o-mini-2024-07-18"), price_of("my-own"), price_of("my-own", {"my-own": (1, 2)})
    ((0.15, 0.6), None, (1, 2))
    """
    all_prices: dict[str, Price] = {}
    for row in price_table().to_dict("records"):
        all_prices[row["model"]] = (row["input_usd_per_million"], row["output_usd_per_million"])
    all_prices |= prices or {}
    return all_prices.get(model) or all_prices.get(_SNAPSHOT.sub("", model))


@accepts()
def price_table() -> pd.DataFrame:
    """Table of the prices that ragnb knows, with the month in which we read them.

    Pass your own prices to `estimate` and `complete`.
    """
    with (resources.files("ragnb.llm") / "data" / "prices.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file)


def count_tokens(text: str) -> int:
    """Estimate the number of tokens in a text: its UTF-8 bytes divided by four, rounded up.

    The rule needs no tokeniser and is meant for budgets. For English prose it is within about 20 % of what models count. For
    other scripts and for identifiers in code it can be wrong by a factor of up to three.

    >>> count_tokens("How many hearts?"), count_tokens("有几颗心？")
    (4, 4)
    """
    # A text may contain half of a surrogate pair, which UTF-8 cannot encode otherwise.
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / 4)


def cost_usd(price: Price | None, prompt_tokens: int, completion_tokens: int) -> float | None:
    """Cost of these tokens in US dollars, or None if the price is unknown."""
    if price is None:
        return None
    input_price, output_price = price
    return (prompt_tokens * input_price + completion_tokens * output_price) / 1e6


def highest_cost(price: Price | None, request: Request) -> float:
    """Highest possible cost of a request; 0 if the price is unknown.

    A token has at least one byte, so there are at most as many prompt tokens as bytes.
    """
    content = request.get("messages") or request.get("prompt")
    # The parameters may contain tools and a schema, which count as tokens of the prompt.
    n_bytes = len(json.dumps([content, request["parameters"]]))
    return cost_usd(price, n_bytes, _completion_bound(request)) or 0.0


def _completion_bound(request: Request) -> int:
    """The largest number of completion tokens of a request."""
    parameters = request["parameters"]
    return int(
        parameters.get("max_completion_tokens")
        or parameters.get("max_tokens")
        or ASSUMED_COMPLETION_TOKENS
    )
