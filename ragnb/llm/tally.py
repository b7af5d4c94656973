"""The report of a run in one line: how many requests were answered, and why the others were not."""

# Tested in tests/llm/test_lost_replies.py.

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from ragnb.llm.budget import dollars
from ragnb.printing import inform
from ragnb.replies import count_reasons


@dataclass
class Tally:
    """Counts of the requests of one run and their outcomes. A run can be several calls of `complete`.

    Attributes
    ----------
    is_reported : bool
        Whether the report is printed at the end.
    reasons : dict
        Why each request has no reply, by key; None if it has one.
    sent : set
        Keys of the requests that were sent.
    cut_off : set
        Keys of answered requests with an incomplete answer.
    unpriced : str
        A model whose price is unknown.
    refused : dict
        Refused parameters by model and endpoint.
    warned : set
        Kinds of warnings that were shown.
    elsewhere : str
        The end of a sentence, such as *" (the store has replies of other endpoints to them: 3 from …)"*, if the endpoint is
        on this machine and other endpoints answered the same requests; else empty.
    """

    is_reported: bool = False
    reasons: dict[str, str | None] = field(default_factory=dict)
    sent: set[str] = field(default_factory=set)
    cut_off: set[str] = field(default_factory=set)
    cost_usd: float = 0.0
    unpriced: str = ""
    refused: dict[str, set[str]] = field(default_factory=dict)
    warned: set[str] = field(default_factory=set)
    elsewhere: str = ""
    started: float = field(default_factory=time.monotonic)

    def has_answers(self) -> bool:
        """Whether a request has been answered."""
        return None in self.reasons.values()

    def line(self) -> str:
        """The report of the run, in one line."""
        n_requests = len(self.reasons)
        failures = [reason for reason in self.reasons.values() if reason is not None]
        n_stored = sum(
            key not in self.sent and reason is None for key, reason in self.reasons.items()
        )
        from_store = f" ({n_stored:,} from the store)" if n_stored else ""
        cut_off = f", {len(self.cut_off):,} of them cut off by max_tokens" if self.cut_off else ""
        failed = f", {len(failures):,} failed: {count_reasons(failures)}" if failures else ""
        cost = dollars(self.cost_usd)
        if self.unpriced:
            cost = f"Cost unknown (no price for {self.unpriced})"
        seconds = time.monotonic() - self.started
        return (
            f"{n_requests - len(failures):,} of {n_requests:,} requests answered{from_store}"
            f"{cut_off}{failed}. {cost}, {seconds:,.0f} s.{self._other_port()}"
        )

    def _other_port(self) -> str:
        """A sentence about replies of other ports of this machine; empty if there are none.

        A local server may have started again on another port, and then its replies are requested again.
        """
        # All names of this machine are 127.0.0.1 in the name of an endpoint.
        if "//127.0.0.1:" not in self.elsewhere:
            return ""
        return f" Another port counts as another endpoint{self.elsewhere}."


_tally: ContextVar[Tally | None] = ContextVar("_tally", default=None)


@contextmanager
def one_report(show: bool = False) -> Iterator[Tally]:
    """Count all requests inside, and report them in one line at the end, however many calls they take.

    Inside of another report, the requests are counted for that one.
    """
    outer = _tally.get()
    if outer is not None:
        outer.is_reported |= show
        yield outer
        return
    tally = Tally(show)
    token = _tally.set(tally)
    try:
        yield tally
    finally:
        _tally.reset(token)
    is_quiet = os.environ.get("TQDM_DISABLE", "0") not in ("", "0")
    if tally.is_reported and tally.reasons and not is_quiet:
        inform(tally.line())
