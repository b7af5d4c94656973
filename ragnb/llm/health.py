"""The health of a run: whether going on is worthwhile."""

# Tested in tests/llm/test_client.py.

import math

from ragnb.llm.endpoint import explain
from ragnb.llm.failure import Failed

# Number of failures in a row that ends a run, if they may pass (a timeout, a limit) and the endpoint has answered
# before. Each of them has already been repeated several times.
MOST_PASSING = 20
# The same if they do not pass and the endpoint has never answered. Fewer would end a run whose first prompts are too
# long.
MOST_REFUSED = 10


class Health:
    """Ends a run whose endpoint cannot be used.

    Attributes
    ----------
    works : bool
        Whether the endpoint has answered in this run or an earlier one.
    n_first : int
        Number of requests that are sent before any of them is answered.
    problem : str
        Why the run is over; empty while it goes on.
    """

    def __init__(self, endpoint: str, works: bool) -> None:
        self.endpoint = endpoint
        self.works = works
        self.n_first = 1
        self.problem = ""
        self._failures_in_a_row = 0

    def is_over(self) -> bool:
        """Whether nothing more is to be sent."""
        return bool(self.problem)

    def stop(self) -> None:
        """End the run because the user wants it."""
        self.problem = "the run was stopped"

    def note_reply(self) -> None:
        """Note that the endpoint has answered."""
        self._failures_in_a_row = 0
        self.works = True

    def note_failure(self, failure: Failed, n_replies: int) -> None:
        """Count a failure. End the run if it is fatal, or if the endpoint fails again and again.

        ``n_replies`` is the number of replies until now, for the message.
        """
        # A completion without a reply shows that the endpoint works, and another request may well get one.
        if failure.formed:
            self.note_reply()
            return
        self._failures_in_a_row += 1
        if self._failures_in_a_row >= self._most_failures(failure) and not self.problem:
            replies_note = f" Replies received: {n_replies}, all kept." if n_replies else ""
            self.problem = explain(failure.reason, self.endpoint) + replies_note

    def _most_failures(self, failure: Failed) -> float:
        """The number of failures in a row after which the run ends, if the last one is of this kind."""
        if failure.fatal:
            # The first one ends the run.
            return 1
        if failure.passing:
            # One of the first requests may meet a limit or a timeout while the others are answered.
            return MOST_PASSING if self.works else self.n_first
        # An endpoint that works refuses single requests, such as prompts that are too long.
        return math.inf if self.works else MOST_REFUSED
