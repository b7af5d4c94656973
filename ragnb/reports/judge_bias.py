"""Where a judge is more lenient or stricter than the label: overall, by group, by length of the response."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import Floats
from ragnb.reports.frames import as_frame
from ragnb.reports.judge_data import Judged, interval_columns, kind_of
from ragnb.scoring.comparisons import compare
from ragnb.stats.prediction import pearson
from ragnb.text import graphemes

OVERALL, LENGTH, OWN = "overall", "response length", "own model"
"""What stands in ``by`` beside the columns asked for."""

THIRDS = ("shortest third", "middle third", "longest third")
DEFAULT_BY = ("language", "system")
_LENGTH = (
    "judge",
    "metric",
    "mean",
    "low",
    "high",
    "interval",
    "confidence_level",
    "n_units",
    "n",
    "n_scored",
    "signature",
)


def bias(judged: Judged, by: Sequence[str] | None) -> pd.DataFrame:
    """Mean of each judge minus mean of the label, one row a judge and group, see `ragnb.compare` for the columns."""
    cuts = _groups(judged.frame, by)
    parts = [
        _differences(judged, judge, *cut) for judge, cut in product(judged.scores, cuts.items())
    ]
    return pd.concat([part for part in parts if len(part)], ignore_index=True)


def length_correlations(judged: Judged) -> pd.DataFrame:
    """Correlation of each judge's error (score - label) with the length of the response and with its logarithm."""
    if "response" not in judged.frame:
        return pd.DataFrame(columns=list(_LENGTH))
    sizes = lengths(judged.frame)
    rows = [row for judge in judged.scores for row in _correlations(judged, judge, sizes)]
    return as_frame(rows, _LENGTH)


def lengths(frame: pd.DataFrame) -> Floats:
    """Length of each response in characters as a reader counts them (grapheme clusters), nan where there is no response."""
    return np.array(
        [len(graphemes(text)) if isinstance(text, str) else np.nan for text in frame["response"]],
        dtype=float,
    )


# ---- groups ------------------------------------------------------------------------------------------------------------


def _groups(frame: pd.DataFrame, by: Sequence[str] | None) -> dict[str, list[Any]]:
    """The group of each response, None where it belongs to none, by what cuts them into groups."""
    varying = [
        name for name in DEFAULT_BY if name in frame and frame[name].nunique(dropna=False) > 1
    ]
    groups: dict[str, list[Any]] = {OVERALL: ["all responses"] * len(frame)}
    for name in varying if by is None else by:
        values = frame[name].astype(object)
        groups[name] = values.where(values.notna(), "(none)").tolist()
    if {"judge_model", "model"} <= set(frame):
        own = frame["judge_model"].astype(object) == frame["model"].astype(object)
        groups[OWN] = np.where(own, "the judge's own", "others").tolist()
    if "response" in frame:
        groups[LENGTH] = _thirds(lengths(frame))
    return groups


def _thirds(sizes: Floats) -> list[str | None]:
    """The third of each response by length, with the lengths that it holds; equal lengths stay together."""
    known = ~np.isnan(sizes)
    if not known.any():
        return [None] * sizes.size
    place = np.searchsorted(np.quantile(sizes[known], [1 / 3, 2 / 3]), sizes, side="left")
    reach = {third: sizes[known & (place == third)] for third in np.unique(place[known]).tolist()}
    names = {
        third: f"{THIRDS[third]} ({held.min():.0f}-{held.max():.0f})"
        for third, held in reach.items()
    }
    return [
        names[third] if there else None for third, there in zip(place.tolist(), known, strict=True)
    ]


def _place_of_third(names: pd.Series) -> pd.Series:
    return names.map(
        lambda name: next(place for place, third in enumerate(THIRDS) if name.startswith(third))
    )


# ---- differences -------------------------------------------------------------------------------------------------------


def _differences(judged: Judged, judge: str, name: str, groups: list[Any]) -> pd.DataFrame:
    """Judge against label in each group, Holm's correction over them."""
    scores = _as_scores(judged, judge, groups)
    if scores.empty:
        return pd.DataFrame()
    clustered = judged.units is not None
    table = compare(
        scores,
        baseline=judged.label,
        by="group",
        cluster="unit" if clustered else None,
        unpaired="drop",
        method="t" if judged.gives_scores(judge) and not clustered else "auto",
        confidence_level=judged.level,
    )
    table["interval"] = table["interval"].map(kind_of)  # the clusters are counted beside it
    table.insert(0, "judge", judge)
    table.insert(1, "by", name)
    return table.sort_values("group", key=_place_of_third) if name == LENGTH else table


def _as_scores(judged: Judged, judge: str, groups: list[Any]) -> pd.DataFrame:
    """Judge and label as two systems that answered the same items: the labelled responses that have a group."""
    shared = pd.DataFrame({
        "example_id": range(len(groups)),
        "unit": range(len(groups)) if judged.units is None else judged.units,
        "group": pd.Series(groups, dtype=object),
        "metric": judged.label,
        "signature": judged.signature(judge),
    })  # fmt: skip
    both = [
        shared.assign(system=judge, value=judged.scores[judge]),
        shared.assign(system=judged.label, value=judged.labels),
    ]
    kept = ~np.isnan(judged.labels) & shared["group"].notna()
    return pd.concat([side[kept] for side in both], ignore_index=True)


# ---- length ------------------------------------------------------------------------------------------------------------


def _correlations(judged: Judged, judge: str, sizes: Floats) -> list[dict[str, Any]]:
    errors = judged.scores[judge] - judged.labels
    could = ~np.isnan(judged.labels) & ~np.isnan(sizes)
    kept = could & ~np.isnan(errors)
    told = {
        "judge": judge,
        "n": int(could.sum()),
        "n_scored": int(kept.sum()),
        "signature": judged.signature(judge),
    }
    scales = {"error with length": sizes[kept], "error with log length": np.log1p(sizes[kept])}
    found = {
        name: pearson(errors[kept], scale, judged.units_of(kept), confidence_level=judged.level)
        for name, scale in scales.items()
    }
    return [
        told | {"metric": name} | interval_columns(interval) for name, interval in found.items()
    ]
