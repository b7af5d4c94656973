"""Verdicts of annotators and judges on a response, as values that statistics can use."""

import math
from typing import Any

from ragnb.errors import InputError, as_real
from ragnb.records import is_missing

ACCEPTED = {"correct": 1.0, "incorrect": 0.0, "refuse": 0.0}
"""Words for a verdict; a refusal is not accepted as an answer."""


def is_accepted(verdict: bool | float | str | None) -> float:
    """Whether an annotator accepted a response: 1.0 or 0.0.

    Higher is better; nan where there is no verdict (None or nan).

    Parameters
    ----------
    verdict
        True or False, 1 or 0, ``"correct"``, ``"incorrect"`` or ``"refuse"``.

    Raises
    ------
    InputError
        Anything else.

    Source: a person's judgement; there is nothing to compute.

    >>> is_accepted(True), is_accepted("incorrect")
    (1.0, 0.0)
    """
    if is_missing(verdict):
        return math.nan
    value: Any = ACCEPTED.get(verdict) if isinstance(verdict, str) else verdict
    if as_real(value) not in (0.0, 1.0):
        raise InputError(f"a verdict needs True, False or one of {', '.join(ACCEPTED)}; got {verdict!r}; map yours to these")
    return float(value)


def binary_verdict(verdict: float | None) -> float:
    """A judge's verdict as a value: 1.0 for yes, 0.0 for no, nan where there is none (None or nan).

    Raises
    ------
    InputError
        A verdict other than 0 and 1.

    >>> binary_verdict(True), binary_verdict(None)
    (1.0, nan)
    """
    if verdict is None or (isinstance(verdict, float) and math.isnan(verdict)):
        return math.nan
    if as_real(verdict) not in (0.0, 1.0):
        raise InputError(f"a judge's verdict needs to be 0, 1 or None; got {verdict!r}; map yours to these")
    return float(verdict)
