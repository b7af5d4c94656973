"""How far a judge and people agree, and whether people agree more among themselves."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, product
from math import inf
from typing import Any

import numpy as np
import pandas as pd

from ragnb.reports.judge_data import Judged, interval_columns
from ragnb.results import Interval
from ragnb.stats.agreement import cohen_kappa, gwet_ac, krippendorff_alpha
from ragnb.stats.auroc import auroc, clustered_auroc
from ragnb.stats.checks import Floats, Integers, undefined_interval
from ragnb.stats.intervals import jackknife_interval, mean_interval, rate_interval
from ragnb.stats.verdicts import AGAINST, COEFFICIENTS, verdict_counts

AUROC = "AUROC"
BOUNDS = dict.fromkeys(COEFFICIENTS, (-1.0, 1.0)) | {
    "percent agreement": (0.0, 1.0),
    "Krippendorff's alpha": (-inf, 1.0),
}
"""Where the interval of a coefficient is clipped; that of a difference is not."""

_CATEGORIES = (0.0, 1.0)
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
            told = {"pair": f"{judge} - {name}", "rater": judge, "against": name, "signature": judged.signature(judge)}
            rows += [told | row for row in _against(judged, judge, truth)]
    for (one, first), (two, second) in combinations(judged.annotators.items(), 2):
        told = {"pair": f"{one} - {two}", "rater": one, "against": two, "signature": ""}
        rows += [told | row for row in _between(judged, first, second)]
    return pd.DataFrame(rows)[list(_AGREEMENT)]


def ceiling(judged: Judged) -> pd.DataFrame:
    """A judge's mean agreement with the annotators, theirs among themselves, and the difference, all on the same responses.

    The settled label is left out: it was made of the annotators' labels. Empty with fewer than two annotators.
    """
    if len(judged.annotators) < 2:
        return pd.DataFrame(columns=list(_CEILING))
    return pd.DataFrame([row for judge in judged.scores for row in _ceiling_rows(judged, judge)])[list(_CEILING)]


def share(values: Floats, units: Integers | None, level: float) -> Interval:
    """Interval of a share: Wilson; with clusters cluster-robust, or Wilson over the clusters where all values are alike."""
    if units is None:
        return rate_interval(int(values.sum()), values.size, confidence_level=level)
    n = np.unique(units).size
    if values.size and np.ptp(values) == 0:
        found = rate_interval(int(values[0]) * n, n, confidence_level=level)
        return replace(found, method="Wilson over clusters")
    found = mean_interval(values, units, confidence_level=level)
    return replace(found, low=max(found.low, 0.0), high=min(found.high, 1.0))  # nan stays nan: it comes first


# ---- two raters --------------------------------------------------------------------------------------------------------


def _against(judged: Judged, judge: str, truth: Floats) -> list[dict[str, Any]]:
    """A judge against labels taken for the truth; what it left out is counted, and bounded."""
    scores, verdicts, known = judged.scores[judge], judged.verdicts(judge), ~np.isnan(truth)
    told = known & ~np.isnan(verdicts)
    found = _intervals(verdicts[told], truth[told], judged.units_of(told), judged.level)
    found |= _shares(verdicts[told], truth[told], judged.units_of(told), judged.level)
    bounds = _bounds(verdicts[known], truth[known])
    if judged.gives_scores(judge):
        found[AUROC] = _auroc(truth[told], scores[told], judged.units_of(told), judged.level)
        bounds[AUROC] = tuple(auroc(truth[known], filled).estimate for filled in _filled(scores[known], truth[known]))
    counted = {"n": int(known.sum()), "n_scored": int(told.sum())}
    return [_row(name, interval) | counted | _worst(bounds[name]) for name, interval in found.items()]


def _between(judged: Judged, first: Floats, second: Floats) -> list[dict[str, Any]]:
    """Two annotators on the responses that both labelled."""
    both = ~np.isnan(first) & ~np.isnan(second)
    n = int(both.sum())
    intervals = _intervals(first[both], second[both], judged.units_of(both), judged.level).items()
    return [_row(name, found) | {"n": n, "n_scored": n} | _worst([found.estimate] * 2) for name, found in intervals]


def _row(name: str, found: Interval) -> dict[str, Any]:
    return {"metric": name} | interval_columns(found)


def _worst(bounds: Sequence[float]) -> dict[str, float]:
    return {"worst_low": float(bounds[0]), "worst_high": float(bounds[1])}


def _bounds(verdicts: Floats, truth: Floats) -> dict[str, tuple[float, ...]]:
    """Each measure if all that is unscored were wrong, and if it were right."""
    tables = [verdict_counts(filled, truth).sum(axis=0) for filled in _filled(verdicts, truth)]
    return {name: tuple(float(of(table)) for table in tables) for name, of in (COEFFICIENTS | AGAINST).items()}


def _filled(values: Floats, truth: Floats) -> tuple[Floats, Floats]:
    unscored = np.isnan(values)
    return np.where(unscored, 1 - truth, values), np.where(unscored, truth, values)


def _auroc(truth: Floats, scores: Floats, units: Integers | None, level: float) -> Interval:
    if units is None:
        return auroc(truth, scores, confidence_level=level)
    return clustered_auroc(truth, scores, units, confidence_level=level)


def _shares(verdicts: Floats, truth: Floats, units: Integers | None, level: float) -> dict[str, Interval]:
    """Sensitivity, specificity and precision: shares of some of the responses."""
    right = (verdicts == truth).astype(np.float64)
    among = {"sensitivity": truth == 1, "specificity": truth == 0, "precision": verdicts == 1}
    return {name: share(right[kept], None if units is None else units[kept], level) for name, kept in among.items()}


def _intervals(first: Floats, second: Floats, units: Integers | None, level: float) -> dict[str, Interval]:
    """The coefficients that treat both raters alike."""
    found = {"percent agreement": share((first == second).astype(np.float64), units, level)}
    for name, coefficient in _INDEPENDENT.items():
        if not first.size:
            found[name] = undefined_interval(float("nan"), level, name, 0, "no response with both")
        elif units is None:
            found[name] = coefficient(first, second, level)
        else:
            totals = verdict_counts(first, second, units)
            found[name] = _jackknifed(name, COEFFICIENTS[name], totals, BOUNDS[name], level)
    return found


def _jackknifed(
    name: str, statistic: Callable[..., Floats], totals: Floats, limits: tuple[float, float], level: float
) -> Interval:
    found = jackknife_interval(statistic, totals, bounds=limits, confidence_level=level)
    return replace(found, method=f"{name}, {found.method}")


_INDEPENDENT: dict[str, Callable[[Floats, Floats, float], Interval]] = {
    "Cohen's kappa": lambda one, two, level: cohen_kappa(one, two, categories=_CATEGORIES, confidence_level=level),
    "Gwet's AC1": lambda one, two, level: gwet_ac(
        np.column_stack([one, two]), categories=_CATEGORIES, confidence_level=level
    ),
    "Krippendorff's alpha": lambda one, two, level: krippendorff_alpha(
        np.column_stack([one, two]), categories=_CATEGORIES, confidence_level=level
    ),
}


# ---- the ceiling -------------------------------------------------------------------------------------------------------


def _ceiling_rows(judged: Judged, judge: str) -> list[dict[str, Any]]:
    verdicts, labels = judged.verdicts(judge), list(judged.annotators.values())
    kept = ~np.isnan(np.stack([verdicts, *labels]).sum(axis=0))
    units = judged.units_of(kept)
    own = np.stack([verdict_counts(verdicts[kept], one[kept], units) for one in labels], axis=1)
    theirs = np.stack([verdict_counts(one[kept], two[kept], units) for one, two in combinations(labels, 2)], axis=1)
    totals = np.concatenate([own, theirs], axis=1)  # units x pairs x counts
    n, cut = int(kept.sum()), len(labels)
    told = {"judge": judge, "signature": judged.signature(judge), "n": n, "n_scored": n}
    rows = []
    for name, part in product(COEFFICIENTS, (WITH, AMONG, DIFFERENCE)):
        limits = (-inf, inf) if part == DIFFERENCE else BOUNDS[name]
        found = _jackknifed(name, partial(_mean_over, COEFFICIENTS[name], part, cut), totals, limits, judged.level)
        rows.append(told | {"of": part} | _row(name, found))
    return rows


def _mean_over(of: Callable[..., Floats], part: str, cut: int, totals: Floats) -> Floats:
    """Mean coefficient of the judge's pairs (the first of them), of the annotators' pairs, or the difference."""
    values = of(totals)
    own, theirs = values[..., :cut].mean(axis=-1), values[..., cut:].mean(axis=-1)
    parts: dict[str, Floats] = {WITH: own, AMONG: theirs, DIFFERENCE: own - theirs}
    return parts[part]
