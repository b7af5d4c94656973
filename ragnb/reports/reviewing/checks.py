"""What a check of a review is, and the list of all checks.

A check is a function that reads the `Evidence` and yields what it finds. It is registered by the
decorator `check`, in one of the modules of this folder. It raises `NotPossible` if the data do not
allow it.
"""

# Tested in tests/reports/test_review.py.

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragnb.reports.reviewing.evidence import Evidence

# Rate of false findings of a check that is a statistical test. There are fewer than ten such checks, so all together
# stay below one false finding in a hundred reviews.
ALPHA = 0.001

# What a finding can do to a conclusion, the worst first.
ORDER, SYSTEMS, ALL = (
    "could change which system is better",
    "affects systems differently",
    "affects all systems",
)
EFFECTS = (ORDER, SYSTEMS, ALL)


class NotPossible(Exception):
    """A check cannot be made; the message says what is missing."""


@dataclass(frozen=True)
class Finding:
    """What a check found.

    Attributes
    ----------
    sentence
        What was found, with its numbers.
    number
        The number that says how large it is, such as a count of responses.
    rows
        Positions of the responses that show it; empty if it concerns all.
    effect
        What it can do to a conclusion, one of `EFFECTS`.
    next_call
        The call that continues, as code.
    """

    sentence: str
    number: float
    rows: Sequence[int]
    effect: str
    next_call: str = ""


@dataclass(frozen=True)
class Check:
    """A check of a review.

    Attributes
    ----------
    name
        Short name.
    question
        What the check asks.
    is_test
        Whether it is a statistical test, which errs at the rate `ALPHA` if there is nothing to find.
        The other checks report what is in the data, and cannot err in this way.
    find
        Function that yields the findings.
    """

    name: str
    question: str
    is_test: bool
    find: Callable[["Evidence"], Iterable[Finding]]

    @property
    def false_findings(self) -> str:
        """The rate of false findings, in words."""
        if self.is_test:
            return f"at most {100 * ALPHA:g} % of the studies without this fault"
        return "none: it states what is in the data"


# All checks, in the order in which they are registered.
CHECKS: list[Check] = []


def check(
    name: str, question: str, *, is_test: bool = False
) -> Callable[
    [Callable[["Evidence"], Iterable[Finding]]], Callable[["Evidence"], Iterable[Finding]]
]:
    """Register the decorated function as a check."""

    def register(
        find: Callable[["Evidence"], Iterable[Finding]],
    ) -> Callable[["Evidence"], Iterable[Finding]]:
        """Add the function to the list of checks, and return it unchanged."""
        CHECKS.append(Check(name, question, is_test, find))
        return find

    return register
