"""Whether a judge's score can be read as the probability that the label is 1."""

from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import Floats, Integers
from ragnb.reports.frames import as_frame
from ragnb.reports.judge_agreement import share
from ragnb.reports.judge_data import Judged, interval_columns, kind_of
from ragnb.stats.prediction import brier_score, expected_calibration_error, reliability_curve

TWO_POINTS = (
    "verdicts of 0 and 1: the curve has two points, share of 1 among its 0 and its 1 (precision)"
)
"""Said of a judge that gives no scores."""


def calibration(judged: Judged) -> pd.DataFrame:
    """Expected calibration error beside its value under calibration, and Brier score; one row a judge."""
    return pd.DataFrame([_errors(judged, judge) for judge in judged.scores])


def curve(judged: Judged) -> pd.DataFrame:
    """Reliability curve: one row a judge and bin of its scores."""
    columns = ["judge", "bin_low", "bin_high", "mean_predicted", "mean", "low", "high", "interval", "confidence_level",
               "n_units", "n", "n_scored", "ece", "expected_if_calibrated", "signature"]  # fmt: skip
    return as_frame([row for judge in judged.scores for row in _bins(judged, judge)], columns)


def _scored(judged: Judged, judge: str) -> tuple[Floats, Floats, Integers | None]:
    """Labels, scores and units of the responses that have both."""
    scores = judged.scores[judge]
    kept = ~np.isnan(judged.labels) & ~np.isnan(scores)
    return judged.labels[kept], scores[kept], judged.units_of(kept)


def _errors(judged: Judged, judge: str) -> dict[str, Any]:
    labels, scores, units = _scored(judged, judge)
    error = expected_calibration_error(labels, scores)
    brier = brier_score(labels, scores, units, confidence_level=judged.level)
    return {
        "judge": judge,
        "ece": error.estimate,
        "expected_if_calibrated": error.expected_if_calibrated,
        "n_bins": error.n_bins,
        "brier": brier.estimate,
        "brier_low": brier.low,
        "brier_high": brier.high,
        **({"problem": brier.problem} if brier.problem else {}),
        "interval": kind_of(brier.method),
        "confidence_level": judged.level,
        "n": int((~np.isnan(judged.labels)).sum()),
        "n_scored": error.n,
        "note": "" if judged.gives_scores(judge) else TWO_POINTS,
        "signature": judged.signature(judge),
    }


def _bins(judged: Judged, judge: str) -> list[dict[str, Any]]:
    labels, scores, units = _scored(judged, judge)
    error = expected_calibration_error(labels, scores)
    told = {
        "judge": judge,
        "ece": error.estimate,
        "expected_if_calibrated": error.expected_if_calibrated,
    }
    rows = []
    for found in reliability_curve(labels, scores, confidence_level=judged.level):
        inside = (scores >= found.low) & ((scores < found.high) | (found.high == 1))
        n = int(inside.sum())
        observed = share(labels[inside], None if units is None else units[inside], judged.level)
        place = {
            "bin_low": found.low,
            "bin_high": found.high,
            "mean_predicted": found.mean_predicted,
        }
        counted = {"n": n, "n_scored": n, "signature": judged.signature(judge)}
        rows.append(told | place | interval_columns(observed) | counted)
    return rows
