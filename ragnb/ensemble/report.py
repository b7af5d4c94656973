"""What each metric tells of a person's label, alone and within the ensemble."""
# ruff: noqa: N803, N806 (X and y are the names of the field)

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from ragnb.ensemble.classifier import Folds, fit_classifier, grouped_folds, probability_of_1
from ragnb.ensemble.data import XYData, check_both_labels, check_unique, group_codes, take_rows
from ragnb.stats.prediction import auroc, pearson

COLUMNS = ("auc", "auc_low", "auc_high", "accuracy", "correlation", "importance", "note")


def feature_report(
    X: pd.DataFrame,
    y: Iterable[Any],
    groups: Iterable[Any] | None = None,
    *,
    classifier: Any = None,
    random_state: int | None = None,
    n_folds: int = 5,
    n_repeats: int = 5,
) -> pd.DataFrame:
    """How well each metric predicts the label by itself, what the ensemble makes of all, and what it needs of each.

    Parameters
    ----------
    X, y
        Metrics and labels, as `XYData` takes them.
    groups
        What belongs together, one value a row, such as the question; folds keep it whole.
    classifier
        As in `MetricEnsemble`.
    random_state
        Seed of folds, classifier and permutations; None draws anew each time.
    n_folds, n_repeats
        Folds of the cross-validation, and permutations of each metric in each fold.

    Returns
    -------
    DataFrame
        Indexed by metric, then rows ``"ensemble"`` and ``"more frequent label"``:

        - ``auc, auc_low, auc_high``: area under the ROC curve with a 95 % interval, DeLong's or, where rows share a group,
          the cluster-robust one; below 0.5 for metrics that are lower for label 1; of the ensemble that of its held-out
          probabilities.
        - ``accuracy``: of the one threshold, and its direction, that is best on the training folds, on the held-out ones.
        - ``correlation``: Pearson's, with the label.
        - ``importance``: mean fall of the ensemble's area on held-out folds when the metric is shuffled; metrics that say
          the same share theirs.
        - ``note``: why there are no numbers. A metric that does not vary has none.

    Raises
    ------
    InputError
        As `XYData`; repeated index labels, one label only, too few groups to cross-validate.
    """
    data = XYData(X, y, groups)
    check_unique(data.X.index, "feature_report")
    check_both_labels(data.y, "feature_report", "label more responses")
    folds = grouped_folds(data, random_state, n_folds)
    inside, importance = _ensemble(data, folds, classifier, random_state, n_repeats)
    rows = {name: _alone(data, name, folds) | {"importance": importance[name]} for name in data.X}
    rows["ensemble"] = inside
    rows["more frequent label"] = {
        "auc": 0.5,
        "accuracy": max(data.y.mean(), 1 - data.y.mean()),
        "note": "predicted for all",
    }
    report = pd.DataFrame([*rows.values()], index=pd.Index([*rows], name="metric"), columns=list(COLUMNS))
    return report.assign(note=report["note"].fillna(""))


def _alone(data: XYData, name: Any, folds: Folds) -> dict[str, Any]:
    values, y = data.X[name].to_numpy(), data.y.to_numpy()
    if np.ptp(values) == 0:
        return {"note": f"constant: always {values[0]:g}"}
    correct = [_threshold_accuracy(values[train], y[train], values[test], y[test]) for train, test in folds]
    area = _area(y, values, group_codes(data))
    return area | {"accuracy": _pooled(correct, folds), "correlation": pearson(values, y).estimate}


def _ensemble(
    data: XYData, folds: Folds, classifier: Any, random_state: int | None, n_repeats: int
) -> tuple[dict[str, Any], dict[Any, float]]:
    """The ensemble's row, and the importance of each metric within it."""
    from sklearn.inspection import permutation_importance

    y, held_out = data.y.to_numpy(), np.full(len(data), np.nan)
    correct, falls = [], []
    for train, test in folds:
        known, X = take_rows(data, train), data.X.iloc[test]
        fitted = fit_classifier(known, classifier, random_state=random_state)
        held_out[test] = probability_of_1(fitted, X)
        own = probability_of_1(fitted, known.X)
        correct.append(_threshold_accuracy(own, known.y.to_numpy(), held_out[test], y[test]))
        found = permutation_importance(fitted, X, y[test], scoring="roc_auc", n_repeats=n_repeats, random_state=random_state)
        falls.append(found.importances_mean)
    seen = ~np.isnan(held_out)
    row = _area(y[seen], held_out[seen], group_codes(data)[seen]) | {
        "accuracy": _pooled(correct, folds),
        "correlation": pearson(held_out[seen], y[seen]).estimate,
    }
    return row, dict(zip(data.X.columns, np.mean(falls, axis=0), strict=True))


def _area(y: np.ndarray, values: np.ndarray, groups: np.ndarray) -> dict[str, float]:
    shared = len(np.unique(groups)) < len(groups)
    found = auroc(y, values, groups if shared else None)
    return {"auc": found.estimate, "auc_low": found.low, "auc_high": found.high}


def _threshold_accuracy(known: np.ndarray, labels: np.ndarray, values: np.ndarray, y: np.ndarray) -> float:
    """Accuracy on new values of the threshold and direction that are best on known ones."""
    threshold, upward = best_threshold(known, labels)
    return float((((values >= threshold) == upward) == (y == 1)).mean())


def best_threshold(values: np.ndarray, labels: np.ndarray) -> tuple[float, bool]:
    """Threshold with the most correct labels, and whether values from it on mean 1; the lowest such one, upward first.

    >>> best_threshold(np.array([0.1, 0.4, 0.6, 0.9]), np.array([0, 0, 1, 1]))
    (0.6, True)
    """
    levels, place = np.unique(values, return_inverse=True)
    ones, zeros = (np.bincount(place, weights=labels == label, minlength=len(levels)) for label in (1, 0))
    # Right when 1 is said from level k on: zeros below it and ones from it on; k = number of levels says 0 to all.
    right = np.append(0, zeros.cumsum()) + ones.sum() - np.append(0, ones.cumsum())
    upward = bool(right.max() >= (len(values) - right).max())
    best = int((right if upward else len(values) - right).argmax())
    return float(np.append(levels, np.inf)[best]), upward


def _pooled(shares: list[float], folds: Folds) -> float:
    """Share over all held-out rows."""
    return float(np.average(shares, weights=[len(test) for _, test in folds]))
