"""How many items two annotators have to label, so that their agreement is known well enough."""

from math import ceil, nan, sqrt
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from ragnb.arguments import accepts
from ragnb.columns import require_columns
from ragnb.display import shown
from ragnb.errors import InputError

# Columns of `agreement` that the plan copies.
_KEYS = ("field", "pair", "metric", "mean")
# The largest number of units that is planned.
_MOST_UNITS = 10**6


@accepts(half_width="positive")
def double_labels_needed(agreement: pd.DataFrame, half_width: float = 0.1) -> pd.DataFrame:
    """Number of items to label twice so that an agreement has an interval of a given half-width.

    A pilot of some dozens of items that two people labelled is enough. The plan assumes that further
    items vary as those of the pilot do, and that the items of a cluster, such as a conversation, are
    labelled together.

    Parameters
    ----------
    agreement
        Rows of `ragnb.agreement`, in which `n_units` are the items or the clusters of the pilot.
    half_width
        Wanted distance of the limits from the agreement, in (0, 1].

    Returns
    -------
    DataFrame
        ``field, pair, metric, mean``; ``half_width`` of the pilot, which is the larger one of the two
        distances if they differ; ``n_units``; ``units_needed`` and ``items_needed``, which are missing if
        the pilot has no interval or if more than a million units are needed.

    Raises
    ------
    InputError
        A column of `ragnb.agreement` is missing, or the half-width is above 1.

    Notes
    -----
    The half-width with u units is about t(u - 1) s / √u, where t is the quantile of the t distribution and
    s follows from the pilot.

    Examples
    --------
    >>> rows = {"field": "grade", "pair": "a - b", "metric": "quadratic kappa", "mean": 0.5}
    >>> rows |= {"low": 0.3, "high": 0.7, "confidence_level": 0.95, "n_units": 20, "n": 40}
    >>> double_labels_needed(pd.DataFrame([rows]), 0.1)[["units_needed", "items_needed"]].values.tolist()
    [[73, 146]]
    """
    needed = [*_KEYS, "low", "high", "confidence_level", "n_units", "n"]
    require_columns(agreement, needed, "double_labels_needed")
    if half_width > 1:
        raise InputError(f"half_width must be at most 1, got {half_width:g}")
    rows = []
    for row in agreement.to_dict("records"):
        present_half_width = max(row["mean"] - row["low"], row["high"] - row["mean"])
        units = _units_needed(
            present_half_width, row["n_units"], half_width, row["confidence_level"]
        )
        items = ceil(units * row["n"] / row["n_units"]) if np.isfinite(units) else nan
        plan: dict[str, Any] = {key: row[key] for key in _KEYS}
        plan |= {"half_width": present_half_width, "n_units": row["n_units"]}
        rows.append(plan | {"units_needed": units, "items_needed": items})
    table = pd.DataFrame(
        rows, columns=[*_KEYS, "half_width", "n_units", "units_needed", "items_needed"]
    )
    return shown(table.astype({"units_needed": "Int64", "items_needed": "Int64"}))


def _units_needed(half_width: float, n_units: int, wanted_half_width: float, level: float) -> float:
    """The smallest number of units for which the wanted half-width is expected; NaN if there is none.

    `half_width` is that of the interval of `n_units` units.
    """
    if not np.isfinite(half_width) or n_units < 2:
        return nan
    probability = (1 + level) / 2
    spread = half_width * sqrt(n_units) / stdtrit(n_units - 1, probability)

    def is_enough(units: int) -> bool:
        """Whether the interval of so many units is expected to be as narrow as wanted."""
        return bool(stdtrit(units - 1, probability) * spread / sqrt(units) <= wanted_half_width)

    if not is_enough(_MOST_UNITS):
        return nan
    low, high = 1, _MOST_UNITS  # `low` is not enough, and `high` is.
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
