"""Looking up a metric by its name."""

from collections.abc import Iterable
from difflib import get_close_matches

import pandas as pd

from ragnb.errors import InputError
from ragnb.metrics.record import METRICS, Metric


def lookup(metric: str | Metric) -> Metric:
    """The record of a named metric; a `Metric` of your own is returned as it is.

    Raises
    ------
    InputError
        Unknown name, with the nearest known one.
    """
    if isinstance(metric, Metric):
        return metric
    if not isinstance(metric, str) or metric not in METRICS:
        hint = suggestion(str(metric), METRICS, f"use one of {', '.join(METRICS)}")
        raise InputError(
            f"score needs the name of a metric or a Metric record; got {metric!r}; {hint}"
        )
    return METRICS[metric]


def suggestion(name: str, known: Iterable[str], otherwise: str) -> str:
    """What to do about an unknown name: write the nearest known one, if one is near."""
    near = get_close_matches(name, list(known), n=1)
    return f"did you mean {near[0]!r}?" if near else otherwise


def is_binary(name: str, values: pd.Series) -> bool:
    """Whether a metric has only the values 0 and 1: as `METRICS` says; of an unknown metric, as its values say."""
    if name in METRICS:
        return METRICS[name].binary
    return len(values) > 0 and bool(values.isin([0.0, 1.0]).all())
