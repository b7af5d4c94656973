"""Frames of intervals."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd


def as_frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    """Return rows as a frame with some columns, and with ``problem`` if any row has a problem.

    >>> rows = [{"mean": 0.5}, {"mean": float("nan"), "problem": "no items"}]
    >>> as_frame(rows, ["mean"]).columns.tolist(), as_frame(rows[:1], ["mean"]).columns.tolist()
    (['mean', 'problem'], ['mean'])
    """
    problem = ["problem"] if any("problem" in row for row in rows) else []
    return pd.DataFrame(rows, columns=[*columns, *problem])
