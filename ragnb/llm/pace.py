"""The pace of a run: how many attempts are under way at once, and how many begin per minute."""

# Tested in tests/llm/test_client.py.

import asyncio
import time
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

# Seconds until an attempt that may not begin yet checks again.
LOOK_AGAIN = 0.02
# After a pause, the attempts that could have begun in its last seconds may begin at once, up to this number of seconds.
CATCH_UP = 1.0


class Pace:
    """Limits of the attempts of a run.

    Parameters
    ----------
    endpoint
        Address of the endpoint, for a warning.
    at_once
        Number of attempts under way at once. It is lowered if the endpoint is too slow for them.
    seconds_apart
        Seconds between the beginnings of two attempts.
    timeout
        Seconds for one attempt.
    """

    def __init__(self, endpoint: str, at_once: int, seconds_apart: float, timeout: float) -> None:
        self.endpoint = endpoint
        self.at_once = at_once
        self.seconds_apart = seconds_apart
        self.timeout = timeout
        self._next_start = 0.0
        self._under_way = 0
        # Timeouts, minus replies in time, since `at_once` was last lowered.
        self._surplus_timeouts = 0

    async def wait(self, is_over: Callable[[], bool]) -> None:
        """Return when the next attempt may begin, or when the run is over."""
        now = time.monotonic()
        # The place of this attempt in the sequence of beginnings, and that of the next one.
        start = max(self._next_start, now - CATCH_UP)
        self._next_start = start + self.seconds_apart
        # Without a wait there is no sleep, because sleep(0) would let idle connections pile up, which httpx then checks.
        if start > now:
            await asyncio.sleep(start - now)
        while self._under_way >= self.at_once and not is_over():
            await asyncio.sleep(LOOK_AGAIN)

    @asynccontextmanager
    async def attempt(self) -> AsyncIterator[None]:
        """Count an attempt as under way. After the timeout, it is cancelled and TimeoutError raised."""
        # The number may be lowered while this attempt is under way.
        at_once = self.at_once
        self._under_way += 1
        try:
            # The timeout of the HTTP client starts anew with every byte that comes, so it does not limit an attempt.
            async with asyncio.timeout(self.timeout):
                yield
        except TimeoutError:
            self._note_timeout(at_once)
            raise
        finally:
            self._under_way -= 1
        self._surplus_timeouts = max(0, self._surplus_timeouts - 1)

    def _note_timeout(self, at_once: int) -> None:
        """Halve the number of attempts at once if most of them time out.

        A slow server still works on requests that were abandoned. ``at_once`` is the number when the attempt
        began. If it was another one, the attempt says nothing about the present number.
        """
        if at_once == self.at_once:
            self._surplus_timeouts += 1
        # Half of the attempts at once, but at least two, because a single timeout may be an accident.
        most_tolerated = max(2, at_once // 2)
        if self._surplus_timeouts < most_tolerated:
            return
        self._surplus_timeouts = 0
        self.at_once = max(1, at_once // 2)
        warnings.warn(
            f"Many requests to {self.endpoint} got no reply within the timeout of "
            f"{self.timeout:g} s, so this run sends fewer at a time. If the server is slow, set a "
            "higher timeout or a lower max_concurrency.",
            stacklevel=2,
        )
