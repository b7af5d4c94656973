"""What the verdicts of a judge are worth in labels of people, for each group of responses."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import accepts
from ragnb.columns import column_names, require_columns
from ragnb.errors import InputError
from ragnb.reports.frames import as_frame
from ragnb.reports.judge_columns import unit_numbers, verdict_numbers
from ragnb.stats.prediction import pearson


@accepts(judge=column_names, by=column_names, n_labels="size", confidence_level="level")
def judge_worth(
    frame: pd.DataFrame,
    *,
    judge: str | Sequence[str],
    label: str,
    by: str | Sequence[str] | None = None,
    clusters: str | None = "example_id",
    n_labels: int = 100,
    confidence_level: float = 0.95,
) -> pd.DataFrame:
    """How many labels alone are as precise as some labels with many verdicts of a judge (PPI++).

    With many verdicts, n labels are worth about n / (1 - r²), where r is the correlation of labels
    and verdicts. Responses of several systems also differ between the systems, which raises r. If you
    estimate the mean of one system, its own row counts: use ``by="system"``.

    Parameters
    ----------
    frame
        One row per response, with the columns of the judges and of the labels. Words such as
        ``"correct"`` are 1 or 0. Responses without a label or a verdict are left out.
    judge
        Columns with verdicts or scores of judges, 0/1 or graded.
    label
        Column with the labels of people.
    by
        Columns that divide the responses into groups, such as ``"system"``.
    clusters
        Column of the independent units, such as the question. None if responses are independent.
    n_labels
        Number of labels whose worth is stated.
    confidence_level
        Confidence level of the intervals, in (0, 1).

    Returns
    -------
    DataFrame
        One row for each group and judge: the columns of ``by``, ``judge, correlation,
        correlation_low, correlation_high, worth, low, high, interval, confidence_level, n_labels,
        n, n_units``. ``worth`` is the number of labels alone; ``low`` and ``high`` follow from the
        limits of the correlation. `ragnb.plot` draws it.

    Raises
    ------
    InputError
        A column is missing or contains other things than numbers or verdicts.

    See Also
    --------
    ragnb.stats.ppi_mean : The estimate itself.

    Examples
    --------
    >>> rows = {"person": [1, 1, 0, 0, 1, 0], "rule": [1, 0, 0, 0, 1, 1]}
    >>> table = judge_worth(pd.DataFrame(rows), judge="rule", label="person", clusters=None)
    >>> table[["correlation", "worth"]].round(2).values.tolist()  # 100 / (1 - 1/9)
    [[0.33, 112.5]]
    """
    judges, groups = list(judge), list(by or ())
    what = "judge_worth"
    needed = [*judges, label, *groups, *([clusters] if clusters else [])]
    require_columns(frame, needed, what)
    if frame.empty:
        raise InputError(f"{what} needs at least one response, got an empty frame")
    if label in judges:
        raise InputError(f"judge and label must be different columns, got {label!r} as both")
    numbers = {name: verdict_numbers(frame, name, what) for name in [*judges, label]}
    rows_of_group: dict[Any, Any] = {(): np.arange(len(frame))}
    if groups:
        cells = frame[groups].reset_index(drop=True)
        rows_of_group = cells.groupby(groups, sort=False, dropna=False).indices
    rows = []
    for group, places in rows_of_group.items():
        names = group if isinstance(group, tuple) else (group,)
        some = frame.iloc[places]
        for name in judges:
            both = np.column_stack([numbers[name][places], numbers[label][places]])
            is_complete = ~np.isnan(both).any(axis=1)
            of_judge = some[is_complete]
            units = unit_numbers(of_judge, clusters, what)
            if units is None and clusters is not None:
                # Fisher's interval assumes normal data; the jackknife does not, and labels are 0 or 1.
                units = np.arange(len(of_judge))
            r = pearson(
                both[is_complete, 1], both[is_complete, 0], units, confidence_level=confidence_level
            )
            n_units = len(of_judge) if units is None else np.unique(units).size
            row: dict[str, Any] = {**dict(zip(groups, names, strict=True)), "judge": name}
            row |= r.columns("correlation")
            row["correlation_low"], row["correlation_high"] = row.pop("low"), row.pop("high")
            row |= _worth(r.estimate, r.low, r.high, n_labels)
            row |= {"n_labels": n_labels, "n": len(of_judge), "n_units": n_units}
            rows.append(row)
    return as_frame(rows)


def _worth(estimate: float, low: float, high: float, n_labels: int) -> dict[str, float]:
    """The worth at a correlation and the range of the worth over its interval."""
    # An interval that contains 0 contains the judge that is worth nothing.
    squares = [low**2, high**2]
    least = 0.0 if low < 0 < high else min(squares)
    with np.errstate(divide="ignore"):
        worth, at_least, at_most = n_labels / (1 - np.array([estimate**2, least, max(squares)]))
    return {"worth": float(worth), "low": float(at_least), "high": float(at_most)}
