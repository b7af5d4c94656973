"""Reports on how well metrics predict a label and how accurate predicted labels are."""
# ruff: noqa: N803 (X and y are the names of the field)

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import accepts
from ragnb.ensemble.data import (
    XYData,
    aligned,
    binary,
    cross_validation_folds,
    require_both_labels,
)
from ragnb.ensemble.ensemble import fit_classifier
from ragnb.stats.prediction import auroc

COLUMNS = ("auc", "auc_low", "auc_high", "accuracy", "correlation", "importance", "note")


@accepts()
def eval_prediction(y: Iterable[Any], y_hat: Iterable[Any]) -> dict[str, Any]:
    """Compute precision, recall, F1, accuracy and the confusion matrix of predicted labels.

    Label 1 is the positive class. The four scores are in [0, 1]; higher is better. Precision is NaN
    if label 1 is never predicted, recall is NaN if it never occurs in `y`, and F1 is NaN if both
    are true.

    Parameters
    ----------
    y, y_hat : iterable
        True and predicted labels, 0 or 1. Two Series are aligned by their index.

    Returns
    -------
    dict
        ``precision``, ``recall``, ``f1`` and ``accuracy`` as floats, and ``confusion_matrix`` as an
        array of counts: ``[[true negatives, false positives], [false negatives, true positives]]``.

    Examples
    --------
    >>> report = eval_prediction([1, 1, 1, 0], [1, 1, 0, 1])
    >>> round(report["precision"], 3), report["accuracy"], report["confusion_matrix"].tolist()
    (0.667, 0.5, [[0, 1], [1, 2]])
    """
    from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

    true = y if isinstance(y, pd.Series) else pd.Series(list(y), dtype=object)
    # A Series of predictions is aligned only with a Series of true labels.
    values = y_hat if isinstance(y, pd.Series) else list(y_hat)
    true = binary(true, "y")
    predicted = binary(aligned(values, true.index, "y_hat"), "y_hat")
    precision, recall, f1, _ = precision_recall_fscore_support(
        true, predicted, average="binary", zero_division=np.nan
    )
    return {
        "precision": float(precision),
        "recall": float(recall),
        "f1": float(f1),
        "accuracy": float((true == predicted).mean()),
        "confusion_matrix": confusion_matrix(true, predicted, labels=[0, 1]),
    }


@accepts()
def feature_report(
    X: pd.DataFrame,
    y: Iterable[Any],
    groups: Iterable[Any] | None = None,
    *,
    classifier: Any = None,
    random_state: int | None = None,
) -> pd.DataFrame:
    """Evaluate how well each metric, and the ensemble of all metrics, predicts the label.

    Held-out values come from stratified cross-validation with five folds, or fewer if the rarer
    label occurs in fewer than five groups.

    Parameters
    ----------
    X : DataFrame
        One row per response and one column per metric, with finite numbers. The index identifies
        the responses.
    y : iterable
        Label of each response, 0 or 1, or booleans. A Series is aligned with X by its index.
    groups : iterable or None, default=None
        Group of each response, such as its question. Cross-validation keeps the responses of a
        group in the same fold. A Series is aligned with X by its index.
    classifier : scikit-learn classifier or None, default=None
        Classifier of the ensemble; None means the default of `MetricEnsemble`.
    random_state : int or None, default=None
        Seed for all random steps; None gives a different result each time.

    Returns
    -------
    DataFrame
        One row per metric, followed by the rows ``"ensemble"`` and ``"more frequent label"``. The
        last row is a baseline that predicts the more frequent label for all responses. The columns
        are

        - ``auc, auc_low, auc_high``: area under the ROC curve with a 95 % interval (DeLong's [1]_
          or, if responses share a group, cluster-robust). The area is below 0.5 if the values tend
          to be lower for label 1. For the ensemble, it is computed from the held-out probabilities
          of all folds, and the interval does not include the variability of the training data;
        - ``accuracy``: mean held-out accuracy of a decision tree with a single split. For the
          ensemble, it is the held-out accuracy of the more probable label;
        - ``correlation``: Pearson correlation with the label;
        - ``importance``: mean decrease of the ensemble's held-out AUROC when the metric is permuted
          [2]_, over five permutations in each fold. If metrics are correlated, their importance can
          be low even though each of them predicts the label;
        - ``note``: a remark. For example, if a metric is constant, its area, accuracy and
          correlation are missing.

    References
    ----------
    .. [1] DeLong, E. R., DeLong, D. M. & Clarke-Pearson, D. L. (1988). Comparing the areas under
       two or more correlated receiver operating characteristic curves. Biometrics 44, 837-845.
    .. [2] Breiman, L. (2001). Random forests. Machine Learning 45, 5-32.
    """
    from sklearn.inspection import permutation_importance
    from sklearn.model_selection import cross_val_score
    from sklearn.tree import DecisionTreeClassifier

    data = XYData(X, y, groups)
    require_both_labels(data.y, "feature_report")
    folds = cross_validation_folds(data, random_state)
    # Probabilities of the ensemble for responses of other folds, and importances per fold.
    probabilities = data.y * np.nan
    importances = []
    for training_rows, held_out_rows in folds:
        training, held_out = data.take(training_rows), data.take(held_out_rows)
        model = fit_classifier(training, classifier, random_state=random_state)
        probabilities.iloc[held_out_rows] = model.predict_proba(held_out.X)[:, 1]
        permuted = permutation_importance(
            model, held_out.X, held_out.y, scoring="roc_auc", random_state=random_state
        )  # 5 permutations
        importances.append(permuted.importances_mean)

    rows: dict[str, dict[str, Any]] = {}
    for name, importance in zip(data.X, np.mean(importances, axis=0), strict=True):
        values = data.X[name]
        rows[name] = {"importance": importance}
        if values.nunique() == 1:
            rows[name]["note"] = f"constant: always {values.iloc[0]:g}"
            continue
        stump = DecisionTreeClassifier(max_depth=1, random_state=random_state)
        accuracy = cross_val_score(stump, data.X[[name]], data.y, cv=folds).mean()
        rows[name] |= {"accuracy": accuracy, **_area(data, values)}
    is_correct = (probabilities > 0.5) == data.y
    accuracy = is_correct[probabilities.notna()].mean()
    rows["ensemble"] = {"accuracy": accuracy, **_area(data, probabilities)}
    frequency = max(data.y.mean(), 1 - data.y.mean())
    rows["more frequent label"] = {
        "auc": 0.5,
        "accuracy": frequency,
        "note": "predicted for all",
    }
    index = pd.Index(list(rows), name="metric")
    report = pd.DataFrame(list(rows.values()), index, list(COLUMNS))
    return report.assign(note=report["note"].fillna(""))


def _area(data: XYData, values: pd.Series) -> dict[str, float]:
    """AUROC with its interval, and correlation, over the responses whose value is not missing."""
    is_present = values.notna().to_numpy()
    y, scores = data.y[is_present], values[is_present]
    units = data.units()
    clusters = None if units.is_unique else pd.factorize(units)[0][is_present]
    area = auroc(y, scores, clusters)
    return {
        "auc": area.estimate,
        "auc_low": area.low,
        "auc_high": area.high,
        "correlation": scores.corr(y),
    }
