"""Columns of judges and labels, as numbers, for the reports that compare the two."""

# Tested in tests/reports/test_judge.py.

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ragnb.arguments import Floats, Integers
from ragnb.errors import InputError
from ragnb.metrics.judged import VERDICT_WORDS
from ragnb.printing import warn
from ragnb.scoring.columns import numbers


def verdict_numbers(frame: pd.DataFrame, column: str, caller: str) -> Floats:
    """Return a column as floats, with nan for missing values; words such as "correct" become 1 or 0.

    >>> verdict_numbers(pd.DataFrame({"judge": ["correct", "incorrect", None]}), "judge", "").tolist()
    [1.0, 0.0, nan]
    """
    # Lists in a cell cannot be looked up. They are refused below.
    cells = []
    for cell in frame[column]:
        cells.append(VERDICT_WORDS.get(cell, cell) if isinstance(cell, str) else cell)
    return numbers(pd.DataFrame({column: cells}, dtype=object), column, caller)


def unit_numbers(frame: pd.DataFrame, clusters: str | None, caller: str) -> Integers | None:
    """The number of the cluster of each response; None if no two responses share a cluster."""
    if clusters is None:
        return None
    # A missing cluster has the code -1.
    codes = pd.factorize(frame[clusters])[0]
    if (codes < 0).any():
        raise InputError(
            f"{caller}(clusters={clusters!r}) needs a cluster for each response; "
            f"{int((codes < 0).sum())} have none; pass clusters=None if responses are independent"
        )
    return shared_units(codes.astype(np.int64))


def shared_units(units: Integers | None) -> Integers | None:
    """The numbers of the independent units; None if no two responses share a unit.

    >>> shared_units(np.array([0, 1, 2])) is None, shared_units(np.array([0, 1, 1])).tolist()
    (True, [0, 1, 1])
    """
    if units is None or np.unique(units).size == units.size:
        return None
    return units


def warn_of_different_items(scores: Mapping[str, Floats], labels: Floats, advice: str) -> None:
    """Warn if not all judges scored the same of the labelled responses.

    `scores` has the scores of each judge, with nan for responses that it did not score. `advice` is the end
    of the warning.
    """
    is_labelled = ~np.isnan(labels)
    is_scored = {judge: ~np.isnan(values) & is_labelled for judge, values in scores.items()}
    counts = [f"{judge} {int(rows.sum())}" for judge, rows in is_scored.items()]
    first, *others = is_scored.values()
    if any((rows != first).any() for rows in others):
        warn(
            f"the judges did not judge the same responses: of {int(is_labelled.sum())} with a label, "
            f"{', '.join(counts)}; a judge that leaves out difficult ones looks better, so {advice}"
        )
