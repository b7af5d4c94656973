"""Helper functions for the columns of data frames of scores."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ragnb.errors import InputError
from ragnb.metrics.record import METRICS, Metric
from ragnb.records import present

# Beginning of the signatures of scores that another tool computed, see `ragnb.load_scores`.
FOREIGN = "foreign:"


def numbers(frame: pd.DataFrame, column: str, what: str) -> NDArray[np.float64]:
    """Return a column as floats, with nan for a missing value.

    Raises
    ------
    InputError
        If a value is not a number. The message begins with ``what``, the name of the caller.

    >>> numbers(pd.DataFrame({"value": [1, None, True]}, dtype=object), "value", "a mean").tolist()
    [1.0, nan, 1.0]
    """
    try:
        return pd.to_numeric(frame[column]).to_numpy(float, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{what} needs numbers in {column} ({error!s:.60}); use nan for a missing value"
        ) from error


def record_of(name: str, signature: str) -> Metric | None:
    """Return the record of a metric; None for your own metrics and those of other tools.

    The name may end in a cut-off, as in ``"retrieval.recall@5"``.

    >>> record_of("answer.f1", "foreign:a tool|answer.f1|definition unknown") is None
    True
    """
    return None if FOREIGN in signature else METRICS.get(name.partition("@")[0])


def signatures(scores: pd.DataFrame) -> list[str]:
    """Return the distinct signatures of scores in sorted order, with 'None' for a missing one.

    >>> signatures(pd.DataFrame({"signature": ["v:1", None, "v:1", float("nan")]}))
    ['None', 'v:1']
    """
    return sorted({str(present(signature)) for signature in scores["signature"].unique()})


def conversations(scores: pd.DataFrame) -> str | None:
    """Return ``"conversation_id"`` if a conversation has several examples, its turns; else None.

    The turns of a conversation are not independent.

    >>> turns = pd.DataFrame({"example_id": ["a/1", "a/2", "b/1"], "conversation_id": ["a", "a", "b"]})
    >>> conversations(turns), conversations(turns.tail(2))
    ('conversation_id', None)
    """
    name = "conversation_id"
    if not {name, "example_id"} <= set(scores) or scores[name].isna().any():
        return None
    return name if scores.groupby(name)["example_id"].nunique().gt(1).any() else None
