"""How far a judge and people agree, and whether people agree more among themselves."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import combinations, product
from math import inf
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import Booleans, Floats, Integers
from ragnb.reports.frames import as_frame
from ragnb.reports.judge_data import Judged, interval_columns
from ragnb.results import Interval
from ragnb.stats.agreement import (
    BOUNDS,
    COEFFICIENTS,
    agreement_interval,
    agreement_sums,
    as_codes,
    percent_agreement,
)
from ragnb.stats.intervals import jackknife_interval, mean_interval, rate_interval
from ragnb.stats.prediction import auroc

AUROC = "AUROC"
SYMMETRIC = ("percent agreement", "Cohen's kappa", "Gwet's AC1", "Krippendorff's alpha")
"""Coefficients of agreement in which the two raters have the same role."""

AGAINST = ("sensitivity", "specificity", "precision")
"""Shares of right verdicts, where the labels are taken as true."""

_AGREEMENT = ("pair", "rater", "against", "metric", "mean", "low", "high", "interval", "confidence_level", "n_units", "n",
              "n_scored", "worst_low", "worst_high", "signature")  # fmt: skip
_CEILING = ("judge", "of", "metric", "mean", "low", "high", "interval", "confidence_level", "n_units", "n", "n_scored",
            "signature")  # fmt: skip
WITH, AMONG, DIFFERENCE = "judge with annotators", "annotators among themselves", "difference"
"""The rows of the ceiling."""


def agreement(judged: Judged) -> pd.DataFrame:
    """Each judge against the label and each annotator, and each pair of annotators, one row a pair and measure."""
    rows: list[dict[str, Any]] = []
    truths = {judged.label: judged.labels} | judged.annotators
    for judge in judged.scores:
        for name, truth in truths.items():
            told = {
                "pair": f"{judge} - {name}",
                "rater": judge,
                "against": name,
                "signature": judged.signature(judge),
            }
            rows += [told | row for row in _against(judged, judge, truth)]
    for (one, first), (two, second) in combinations(judged.annotators.items(), 2):
        told = {"pair": f"{one} - {two}", "rater": one, "against": two, "signature": ""}
        rows += [told | row for row in _between(judged, first, second)]
    return as_frame(rows, _AGREEMENT)


def ceiling(judged: Judged) -> pd.DataFrame:
    """A judge's mean agreement with the annotators, theirs among themselves, and the difference, all on the same responses.

    The settled label is left out: it was made of the annotators' labels. Empty with fewer than two annotators.
    """
    if len(judged.annotators) < 2:
        return pd.DataFrame(columns=list(_CEILING))
    rows = [row for judge in judged.scores for row in _ceiling_rows(judged, judge)]
    return as_frame(rows, _CEILING)


def share(values: Floats, units: Integers | None, level: float) -> Interval:
    """Mean of values in [0, 1] with its interval.

    If all values are 0 or 1, this is the Wilson interval. Otherwise, and with clusters, it is the t interval, cluster-robust
    with clusters. If all values in clusters are equal, it is the Wilson interval for the number of clusters.
    """
    binary = np.isin(values, (0, 1)).all()
    if units is None and binary:
        return rate_interval(int(values.sum()), values.size, confidence_level=level)
    if units is not None and binary and values.size and np.ptp(values) == 0:
        n = np.unique(units).size
        found = rate_interval(int(values[0]) * n, n, confidence_level=level)
        return replace(found, method="Wilson over clusters")
    found = mean_interval(values, units, confidence_level=level)
    return replace(
        found, low=max(found.low, 0.0), high=min(found.high, 1.0)
    )  # nan stays nan: it comes first


def coefficients(ratings: Floats, units: Integers | None, level: float) -> dict[str, Interval]:
    """Percent agreement and the chance-corrected coefficients of two or more raters, each with its interval.

    `ratings` has one row per item and one column per rater, with nan for a missing rating. Two raters have Cohen's kappa,
    and more raters have Fleiss' kappa.
    """
    kappa = "Cohen's kappa" if ratings.shape[1] == 2 else "Fleiss' kappa"
    found = {
        name: agreement_interval(name, ratings, units, confidence_level=level)
        for name in ("percent agreement", kappa, "Gwet's AC1", "Krippendorff's alpha")
    }
    codes = as_codes(ratings)
    agreeing = percent_agreement(agreement_sums(codes, codes.max(initial=0) + 1))
    return found | {"percent agreement": share(agreeing, units, level)}


# ---- two raters --------------------------------------------------------------------------------------------------------


def _against(judged: Judged, judge: str, truth: Floats) -> list[dict[str, Any]]:
    """A judge against labels that are taken as true, with bounds for the responses that the judge left out."""
    scores, verdicts, known = judged.scores[judge], judged.verdicts(judge), ~np.isnan(truth)
    told = known & ~np.isnan(verdicts)
    given = verdicts[told], truth[told], judged.units_of(told), judged.level
    found = _intervals(*given) | _shares(*given)
    bounds = [_estimates(filled, truth[known]) for filled in _filled(verdicts[known], truth[known])]
    if judged.gives_scores(judge):
        found[AUROC] = auroc(
            truth[told], scores[told], judged.units_of(told), confidence_level=judged.level
        )
        for bound, filled in zip(bounds, _filled(scores[known], truth[known]), strict=True):
            bound[AUROC] = auroc(truth[known], filled).estimate
    counted = {"n": int(known.sum()), "n_scored": int(told.sum())}
    return [
        _row(name, interval) | counted | _worst(*(bound[name] for bound in bounds))
        for name, interval in found.items()
    ]


def _between(judged: Judged, first: Floats, second: Floats) -> list[dict[str, Any]]:
    """Two annotators on the responses that both labelled."""
    both = ~np.isnan(first) & ~np.isnan(second)
    n = int(both.sum())
    intervals = _intervals(first[both], second[both], judged.units_of(both), judged.level).items()
    return [
        _row(name, found) | {"n": n, "n_scored": n} | _worst(found.estimate, found.estimate)
        for name, found in intervals
    ]


def _row(name: str, found: Interval) -> dict[str, Any]:
    return {"metric": name} | interval_columns(found)


def _worst(low: float, high: float) -> dict[str, float]:
    return {"worst_low": low, "worst_high": high}


def _filled(values: Floats, truth: Floats) -> tuple[Floats, Floats]:
    """The values with those that are missing taken as wrong, and as right."""
    unscored = np.isnan(values)
    return np.where(unscored, 1 - truth, values), np.where(unscored, truth, values)


def _intervals(
    first: Floats, second: Floats, units: Integers | None, level: float
) -> dict[str, Interval]:
    return coefficients(np.column_stack([first, second]), units, level)


def _shares(
    verdicts: Floats, truth: Floats, units: Integers | None, level: float
) -> dict[str, Interval]:
    right = (verdicts == truth).astype(np.float64)
    among = _among(verdicts, truth)
    return {
        name: share(right[kept], None if units is None else units[kept], level)
        for name, kept in among.items()
    }


def _estimates(verdicts: Floats, truth: Floats) -> dict[str, float]:
    """Each measure without its interval."""
    sums, right = _sums(verdicts, truth).sum(axis=0), verdicts == truth
    found = {name: float(COEFFICIENTS[name](sums)) for name in SYMMETRIC}
    among = _among(verdicts, truth)
    return found | {
        name: float(right[kept].mean()) if kept.any() else np.nan for name, kept in among.items()
    }


def _among(verdicts: Floats, truth: Floats) -> dict[str, Booleans]:
    """The responses among which the right verdicts are counted."""
    return dict(zip(AGAINST, (truth == 1, truth == 0, verdicts == 1), strict=True))


def _sums(first: Floats, second: Floats, units: Integers | None = None) -> Floats:
    return agreement_sums(np.column_stack([first, second]).astype(np.int64), 2, units)


# ---- the ceiling -------------------------------------------------------------------------------------------------------


def _ceiling_rows(judged: Judged, judge: str) -> list[dict[str, Any]]:
    verdicts, labels = judged.verdicts(judge), list(judged.annotators.values())
    kept = ~np.isnan(np.stack([verdicts, *labels]).sum(axis=0))
    units = judged.units_of(kept)
    own = np.stack([_sums(verdicts[kept], one[kept], units) for one in labels], axis=1)
    theirs = np.stack(
        [_sums(one[kept], two[kept], units) for one, two in combinations(labels, 2)], axis=1
    )
    totals = np.concatenate([own, theirs], axis=1)  # units x pairs x sums
    n, cut = int(kept.sum()), len(labels)
    told = {"judge": judge, "signature": judged.signature(judge), "n": n, "n_scored": n}
    rows = []
    for name, part in product(SYMMETRIC, (WITH, AMONG, DIFFERENCE)):
        limits = (-inf, inf) if part == DIFFERENCE else BOUNDS[name]
        statistic = partial(_mean_over, COEFFICIENTS[name], part, cut)
        found = jackknife_interval(statistic, totals, bounds=limits, confidence_level=judged.level)
        rows.append(
            told | {"of": part} | _row(name, replace(found, method=f"{name}, {found.method}"))
        )
    return rows


def _mean_over(of: Callable[..., Floats], part: str, cut: int, totals: Floats) -> Floats:
    """Mean coefficient of the judge's pairs (the first of them), of the annotators' pairs, or the difference."""
    values = of(totals)
    own, theirs = values[..., :cut].mean(axis=-1), values[..., cut:].mean(axis=-1)
    parts: dict[str, Floats] = {WITH: own, AMONG: theirs, DIFFERENCE: own - theirs}
    return parts[part]
