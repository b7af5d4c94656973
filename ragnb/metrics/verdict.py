"""An annotator's verdict on a response, as a value that statistics can use."""

import math
from typing import Any

from ragnb.errors import InputError

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
    if verdict is None or (isinstance(verdict, float) and math.isnan(verdict)):
        return math.nan
    value: Any = ACCEPTED.get(verdict) if isinstance(verdict, str) else verdict
    if value is None or value not in (0, 1):
        raise InputError(f"a verdict needs True, False or one of {', '.join(ACCEPTED)}; got {verdict!r}; map yours to these")
    return float(value)
