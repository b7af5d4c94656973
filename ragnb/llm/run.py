"""A run: it sends requests with bounded concurrency, and stores every reply before anything else happens."""

# Tested in tests/llm/test_client.py.

import asyncio
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ragnb.arguments import Address, shown_address
from ragnb.errors import EndpointError
from ragnb.llm.budget import Budget, Price, cost_usd, highest_cost
from ragnb.llm.endpoint import api_key_awaited, client_options
from ragnb.llm.failure import Failed
from ragnb.llm.health import Health
from ragnb.llm.pace import Pace
from ragnb.llm.requester import Requester
from ragnb.llm.store import LEASE_SECONDS, Reply, Request, Store, new_owner
from ragnb.llm.transport import Transport

# Seconds between two looks for the reply to a request that another run is sending.
LOOK_AGAIN = 0.2
# Seconds between two looks whether the budget has room.
BUDGET_LOOK_AGAIN = 0.02
# Amounts below this count as nothing, because sums of floats have rounding errors.
ROUNDING_ERROR = 1e-9


class Run:
    """The requests of one call of `complete`.

    Parameters
    ----------
    address
        Address of the endpoint.
    store
        Where each reply is stored as soon as it is received.
    budget
        The limit in US dollars, which other runs may share.
    price
        US dollars for a million prompt tokens and a million completion tokens; None if unknown, and then the
        requests cost nothing.
    pace
        Limits of the attempts.
    max_retries
        Further attempts for one request.
    refused, warned
        See `Requester`.
    works
        Whether the endpoint has answered before.

    Attributes
    ----------
    failures : dict
        Reason for each key that got no reply.
    n_done : int
        Number of replies.
    spent : float
        Cost in US dollars.
    """

    def __init__(
        self,
        address: Address,
        store: Store,
        budget: Budget,
        price: Price | None,
        pace: Pace,
        *,
        max_retries: int,
        refused: set[str],
        warned: set[str],
        works: bool,
    ) -> None:
        self.address = address
        self.store = store
        self.budget = budget
        self.price = price
        self.pace = pace
        self.max_retries = max_retries
        self.failures: dict[str, str] = {}
        self.n_done = 0
        self.spent = 0.0
        self._refused = refused
        self._warned = warned
        self._owner = new_owner()
        self._health = Health(shown_address(address), works)
        self._transport = Transport(address, pace, self._health)
        self._requester: Any = None
        self._is_spent_out = False
        self._loop: Any = None
        self._task: Any = None

    @property
    def n_retried(self) -> int:
        """Number of attempts that repeated an earlier one."""
        return self._transport.n_retried

    async def send(self, jobs: Mapping[str, Request]) -> None:
        """Send the requests; ``failures`` then has the reason for each key that got no reply.

        If going on is pointless (refused key, unknown model or address, endpoint out of reach), this
        raises EndpointError. What was received is kept.
        """
        import openai

        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        # Each worker sends one request at a time. The first ones are all sent before any is answered.
        n_workers = min(self.pace.at_once, len(jobs))
        self._health.n_first = n_workers
        queue = deque(jobs.items())
        async with openai.AsyncOpenAI(
            api_key=api_key_awaited,
            **client_options(self.address),
            timeout=self.pace.timeout,
            max_retries=self.max_retries,
            http_client=self._transport.http_client(),
        ) as client:
            self._requester = Requester(
                client,
                shown_address(self.address),
                self.budget,
                self._health,
                self._refused,
                self._warned,
            )
            renewal = asyncio.ensure_future(self._renew_claims())
            workers = [asyncio.ensure_future(self._work(queue)) for _ in range(n_workers)]
            try:
                await asyncio.gather(*workers)
            finally:
                # Workers still run only if the run was interrupted or the store has failed.
                for task in (*workers, renewal):
                    task.cancel()
                await asyncio.gather(*workers, renewal, return_exceptions=True)
                self.store.release_claims(self._owner)
                self.store.note_failures(self.failures)
        if self._health.problem:
            raise EndpointError(self._health.problem)

    def stop(self) -> None:
        """Stop sending, from another thread; a run that has not begun then sends nothing."""
        self._health.stop()
        if self._task is not None:
            with suppress(RuntimeError):  # the loop has just ended
                self._loop.call_soon_threadsafe(self._task.cancel)

    async def _renew_claims(self) -> None:
        """Renew the claims of this run until it ends, well before they become void.

        A claim in the store says that this run is sending a request, so that no other run sends it too.
        """
        while True:
            await asyncio.sleep(LEASE_SECONDS / 3)
            self.store.renew_claims(self._owner)

    async def _work(self, queue: deque[tuple[str, Request]]) -> None:
        """Take requests from the queue until it is empty or the run is over."""
        # The worker checks this between two requests only, because a request under way is paid for.
        while queue and not self._health.is_over() and not self._is_spent_out:
            key, request = queue.popleft()
            claim = self.store.claim(key, self._owner)
            if claim == "stored":
                self.n_done += 1
            elif claim == "theirs":
                # Its reply will be in the store. Meanwhile, other requests come first.
                queue.append((key, request))
                await asyncio.sleep(LOOK_AGAIN)
            else:
                await self._request(key, request)

    async def _request(self, key: str, request: Request) -> None:
        """Request one reply and store it, or record why there is none.

        The counts of the run, its health and the budget are updated.
        """
        highest = highest_cost(self.price, request)
        if not await self._reserve(highest):
            return
        # A request without a reply costs nothing.
        cost = 0.0
        try:
            reply = await self._requester.reply(key, request)
            self.store.add([reply])
            cost = self._cost_of(reply, highest)
            self._health.note_reply()
            self.n_done += 1
            self._requester.warn_of_cuts(request, reply)
        except Failed as failure:
            self.failures[key] = failure.reason
            self._health.note_failure(failure, self.n_done)
        finally:
            self.budget.settle(highest, cost)
            self.spent += cost

    async def _reserve(self, highest: float) -> bool:
        """Set the highest cost of a request aside, if need be after a wait; return whether the budget has room for it."""
        while not self.budget.reserve(highest):
            # Requests under way may cost less than was set aside for them. Without any, the budget stays as it is.
            is_any_under_way = self.budget.set_aside >= ROUNDING_ERROR
            if self._is_spent_out or not is_any_under_way:
                self._is_spent_out = True
                return False
            await asyncio.sleep(BUDGET_LOOK_AGAIN)
        return True

    def _cost_of(self, reply: Reply, highest: float) -> float:
        """The cost of a reply; the highest one if the endpoint reports no tokens."""
        if reply.prompt_tokens is None or reply.completion_tokens is None:
            return highest
        return cost_usd(self.price, reply.prompt_tokens, reply.completion_tokens) or 0.0
