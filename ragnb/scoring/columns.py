"""Helper functions for the columns of data frames of scores."""

# Tested in tests/test_display.py.

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ragnb.cells import is_missing, present
from ragnb.errors import InputError
from ragnb.metrics.record import METRICS, Metric

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
        first = next((cell for cell in frame[column] if not _is_number(cell)), error)
        raise InputError(
            f"{what} needs numbers in {column} (got {first!r:.60}); use nan for a missing value"
        ) from error


def _is_number(cell: Any) -> bool:
    """Whether a cell is a number, is written as one, or is missing."""
    try:
        float(cell)
    except (TypeError, ValueError):
        return is_missing(cell)
    return True


def require_metric_names(scores: pd.DataFrame, what: str) -> None:
    """Raise InputError if a row of scores lacks the name of its metric. `what` is the function that needs it."""
    is_missing = scores["metric"].isna()
    if is_missing.any():
        raise InputError(
            f"{what} needs the name of the metric in each row of the scores, got {int(is_missing.sum())} of "
            f"{len(scores)} rows without; fill in the column metric, or drop these rows"
        )


def record_of(name: str, signature: str) -> Metric | None:
    """Return the record of a metric; None for your own metrics and those of other tools.

    The name may end in a cut-off, as in ``"retrieval.recall@5"``.

    >>> record_of("answer.f1", "foreign:a tool|answer.f1|definition unknown") is None
    True
    """
    # The signature may consist of several, joined by "&", so the mark can be within it.
    if FOREIGN in signature:
        return None
    name_without_cutoff = name.partition("@")[0]
    return METRICS.get(name_without_cutoff)


def bounds_of(name: str, signature: str, values: NDArray[np.float64]) -> tuple[float, float] | None:
    """Return the smallest and the largest possible value of a metric.

    The result is None if the metric has no bounds, such as a difference or a ratio, if the bounds are
    unknown, or if a value lies beyond them (see `Metric.beyond`). A metric that is not in `METRICS`
    has the bounds 0 and 1 if all of its values are 0 or 1.

    >>> bounds_of("answer.f1", "", np.array([0.2])), bounds_of("own.metric", "", np.array([0.2]))
    ((0.0, 1.0), None)
    """
    record = record_of(name, signature)
    if record is None:
        is_binary = values.size > 0 and np.isin(values, (0, 1)).all()
        return (0.0, 1.0) if is_binary else None
    low, high = record.bounds
    is_unbounded = np.isinf([low, high]).all()
    if is_unbounded:
        return None
    is_beyond = values.size > 0 and (values.min() < low or values.max() > high)
    return None if is_beyond else (low, high)


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
