"""Who decides where an ensemble is undecided: a language model, a person, any function."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ragnb.errors import InputError

Judicator = Callable[[Any], Any]
"""A function of one response's index label that gives True or False, 1 or 0, or None for no verdict."""


@dataclass(frozen=True, slots=True)
class BatchJudicator:
    """A judicator that is asked about all undecided responses at once.

    Parameters
    ----------
    function
        Takes the list of their index labels and gives a verdict for each, in that order: True or False, 1 or 0, or None
        for no verdict. It is not called when there is nothing to decide.

    >>> BatchJudicator(lambda labels: [label == "a" for label in labels])(["b", "a"])
    [False, True]
    """

    function: Callable[[list[Any]], Sequence[Any]]

    def __call__(self, labels: Sequence[Hashable]) -> list[bool | None]:
        """Verdicts on the responses with these index labels.

        Raises
        ------
        InputError
            Another number of verdicts than labels, or a verdict that is none of True, False, 1, 0, None.
        """
        asked = list(labels)
        verdicts = list(self.function(asked)) if asked else []
        if len(verdicts) != len(asked):
            raise InputError(
                f"A BatchJudicator needs one verdict for each of {len(asked)} labels; it returned {len(verdicts)}; "
                "return None where there is no verdict."
            )
        return [_verdict(value, label) for value, label in zip(verdicts, asked, strict=True)]


def ask(judicator: Judicator, labels: Sequence[Hashable]) -> list[bool | None]:
    """Verdicts of a judicator on the responses with these index labels, None where it has none.

    >>> ask(lambda label: label > 1, [1, 2])
    [False, True]
    """
    if isinstance(judicator, BatchJudicator):
        return judicator(labels)
    if not callable(judicator):
        raise InputError(
            f"judicator needs a function of an index label; it got {judicator!r}; pass one, or a BatchJudicator."
        )
    return [_verdict(judicator(label), label) for label in labels]


def _verdict(value: Any, label: Hashable) -> bool | None:
    if value is None:
        return None
    if isinstance(value, bool | np.bool_ | int | float | np.number) and value in (0, 1):
        return bool(value)
    raise InputError(
        f"A judicator needs to return True or False, 1 or 0, or None; it returned {value!r} for {label!r}; "
        "compare a score with its threshold, as in score >= 0.5."
    )
