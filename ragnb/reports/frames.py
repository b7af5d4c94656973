"""Frames of intervals, and reports that are displayed as several tables."""

# Tested in tests/reports/test_judge.py.

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import Floats, Integers
from ragnb.display import framed, html_parts, shown, text_table
from ragnb.markup import Markup, tag
from ragnb.results import Interval
from ragnb.stats.agreement import agreement_interval, agreement_sums, as_codes, percent_agreement
from ragnb.stats.intervals import mean_interval, rate_interval

# The tables of a report by title, and lines below them.
TablesAndLines = tuple[dict[str, pd.DataFrame], list[str]]


class Report:
    """Base class of the reports, which are dataclasses. A report is displayed as its tables."""

    __slots__ = ()

    def __post_init__(self) -> None:
        """Make all frames of the report tables for reading."""
        for name in self.__dataclass_fields__:  # type: ignore[attr-defined]
            value = getattr(self, name)
            if isinstance(value, pd.DataFrame):
                # Reports are frozen, so the ordinary assignment is not possible.
                object.__setattr__(self, name, shown(value))

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables that are not empty, by name."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}  # type: ignore[attr-defined]
        frames = {name: value for name, value in fields.items() if isinstance(value, pd.DataFrame)}
        return {name: table for name, table in frames.items() if len(table)}

    def _tables_and_lines(self) -> TablesAndLines:
        """The tables and lines to display. Each report defines its own."""
        raise NotImplementedError

    def __repr__(self) -> str:
        tables, lines = self._tables_and_lines()
        width = pd.get_option("display.width")
        texts = []
        for title, table in tables.items():
            if len(table):
                texts.append(f"{title}\n{text_table(table, width)}\n")
        return "\n".join([*texts, *lines])

    def _repr_html_(self) -> Markup:
        tables, lines = self._tables_and_lines()
        parts = []
        for title, table in tables.items():
            if len(table):
                parts += [tag("p", tag("b", title)), *html_parts(table)]
        parts += [tag("p", line) for line in lines]
        return framed(*parts)


def as_frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return rows as a frame, with ``problem`` as the last column if any row has a problem.

    >>> as_frame([{"problem": "no items", "n": 0}, {"n": 2}]).columns.tolist()
    ['n', 'problem']
    """
    frame = pd.DataFrame(rows)
    if "problem" in frame:
        # This moves the column to the end.
        frame["problem"] = frame.pop("problem")
    return shown(frame)


def with_counts(rates: pd.DataFrame) -> pd.DataFrame:
    """Add the column `count` before `mean`: the number of responses with the value 1.

    `rates` are summaries of a metric of 0 and 1, with the columns `mean` and `n_scored`. They are changed.

    >>> with_counts(pd.DataFrame({"mean": [0.75, float("nan")], "n_scored": [4, 0]}))["count"].tolist()
    [3, 0]
    """
    # The product is a whole number except for the error of floats. If nothing was scored, the mean is nan.
    counts = (rates["mean"] * rates["n_scored"]).round().fillna(0).astype(int)
    rates.insert(rates.columns.get_loc("mean"), "count", counts)
    return rates


def responses_of_judged_systems(responses: pd.DataFrame, verdict: str) -> pd.DataFrame:
    """Return the responses of the systems that a judge was requested to judge.

    `verdict` is the column of the verdicts. A system was judged if any of its responses has a verdict,
    or a ``judge_reason``, which says why there is none.
    """
    if verdict not in responses:
        return responses.iloc[:0]
    was_judged = responses[verdict].notna()
    if "judge_reason" in responses:
        was_judged |= responses["judge_reason"].notna()
    # A system keeps all of its responses if one of them was judged.
    system_was_judged = was_judged.groupby(responses["system"]).transform("any").astype(bool)
    return responses[system_was_judged]


def interval_columns(interval: Interval) -> dict[str, Any]:
    """The columns ``mean, low, high, interval, confidence_level`` of an interval, and ``n_units``.

    ``n_units`` is the number of independent units: of clusters, or else of values. The name of the interval
    then need not contain the number of clusters.
    """
    return interval.columns() | {
        "interval": without_clusters(interval.method),
        "n_units": interval.n,
    }


def without_clusters(method: str) -> str:
    """Name of an interval without its number of clusters.

    >>> without_clusters("cluster-robust t, 40 clusters")
    'cluster-robust t'
    """
    return re.sub(r", \d+ clusters", "", method)


def share(values: Floats, units: Integers | None, level: float) -> Interval:
    """Mean of values in [0, 1] with its interval.

    `units` has the number of the cluster of each value; None if the values are independent. `level` is the
    confidence level.

    If all values are 0 or 1, this is the Wilson interval. Otherwise, and with clusters, it is the
    t interval, cluster-robust with clusters.
    """
    if units is None and np.isin(values, (0, 1)).all():
        return rate_interval(int(values.sum()), values.size, confidence_level=level)
    return mean_interval(values, units, bounds=(0.0, 1.0), confidence_level=level)


def agreement_intervals(
    ratings: Floats, units: Integers | None, level: float
) -> dict[str, Interval]:
    """Percent agreement and the chance-corrected coefficients of two or more raters, by name.

    `ratings` has one row per item and one column per rater, with nan for a missing rating. Each item
    must have two or more ratings. `units` has the number of the cluster of each item; None if the items
    are independent. `level` is the confidence level. Two raters have Cohen's kappa, and more raters have Fleiss' kappa.
    """
    kappa = "Cohen's kappa" if ratings.shape[1] == 2 else "Fleiss' kappa"
    corrected = {}
    for name in (kappa, "Gwet's AC1", "Krippendorff's alpha"):
        corrected[name] = agreement_interval(name, ratings, units, confidence_level=level)
    # Percent agreement is a mean of shares, which has an interval for shares, not a jackknife.
    codes = as_codes(ratings)
    # The codes begin at 0. `initial` is for ratings without any item, which have no largest code.
    n_categories = codes.max(initial=0) + 1
    agreement_of_items = percent_agreement(agreement_sums(codes, n_categories))
    return {"percent agreement": share(agreement_of_items, units, level), **corrected}
