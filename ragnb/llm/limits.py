"""Limits of a run: requests and tokens a minute, and dollars."""

import asyncio
import time
from dataclasses import dataclass, field


class Bucket:
    """A token bucket: lets ``per_minute`` units through in any minute, a second's worth of them at once."""

    def __init__(self, per_minute: float | None) -> None:
        self.seconds_a_unit = 60.0 / per_minute if per_minute else 0.0
        self._next = 0.0

    async def take(self, units: float = 1.0) -> None:
        """Wait until so many units may pass."""
        if self.seconds_a_unit:
            now = time.monotonic()
            start = max(self._next, now - 1.0)
            self._next = start + units * self.seconds_a_unit
            await asyncio.sleep(max(0.0, start - now))

    def correct(self, units: float) -> None:
        """Count so many units more (or fewer) than were taken: an estimate was wrong."""
        self._next += units * self.seconds_a_unit


@dataclass(slots=True)
class Budget:
    """A hard limit in dollars: what a request may cost at most is set aside before it is sent."""

    limit: float | None
    price: tuple[float, float] | None
    spent: float = 0.0
    set_aside: float = field(default=0.0)

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Dollars for so many tokens; 0 where the price is unknown (then there is no limit either)."""
        if self.price is None:
            return 0.0
        return (prompt_tokens * self.price[0] + completion_tokens * self.price[1]) / 1e6

    def reserve(self, most: float) -> bool:
        """Set aside what a request may cost at most; False when the budget does not have it."""
        if self.limit is not None and self.spent + self.set_aside + most > self.limit:
            return False
        self.set_aside += most
        return True

    def settle(self, most: float, real: float) -> None:
        """Give back what was set aside and count what was really spent."""
        self.set_aside -= most
        self.spent += real
