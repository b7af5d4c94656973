"""The classifier inside an ensemble: fitted on the training part, its choices cross-validated with whole groups."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ragnb.ensemble.data import XYData, group_codes
from ragnb.ensemble.splitting import split_groups
from ragnb.errors import InputError, check_choice

Folds = list[tuple[np.ndarray, np.ndarray]]

METHODS = ("sigmoid", "isotonic")
STRENGTHS = (0.1, 1.0, 10.0)


def fit_classifier(
    training: XYData,
    classifier: Any = None,
    *,
    class_weight: str | Mapping[int, float] | None = "balanced",
    probability_calibration: str | None = None,
    random_state: int | None = None,
) -> Any:
    """A scikit-learn classifier fitted to the training data; see `ragnb.ensemble.MetricEnsemble` for its parameters."""
    from sklearn.base import clone

    if probability_calibration is not None:
        check_choice(probability_calibration, METHODS, "probability_calibration")
    if classifier is None:
        chosen = _best_logistic_regression(training, class_weight, random_state)
    else:
        chosen = _seeded(clone(_checked(classifier, probability_calibration)), random_state)
    if probability_calibration is not None:
        chosen = _calibrated(chosen, probability_calibration, grouped_folds(training, random_state))
    return chosen.fit(training.X, training.y.to_numpy())


def probability_of_1(classifier: Any, X: pd.DataFrame) -> np.ndarray:  # noqa: N803
    """Probability of label 1 for each row; empty without rows."""
    if not len(X):
        return np.empty(0)
    return classifier.predict_proba(X)[:, list(classifier.classes_).index(1)]


def likelier_label(probability: ArrayLike) -> NDArray[np.bool_]:
    """Whether label 1 is likelier than label 0: its probability is above one half; at one half the label is 0.

    >>> likelier_label([0.4, 0.5, 0.6])
    array([False, False,  True])
    """
    return np.asarray(probability) > 0.5


def grouped_folds(data: XYData, random_state: int | None, n_folds: int = 5) -> Folds:
    """Training and held-out rows of each fold: whole groups, both labels on each side; fewer folds where groups are few.

    Raises
    ------
    InputError
        Fewer than two groups with one of the labels.
    """
    y, groups = data.y.to_numpy(), group_codes(data)
    rarer = min(len(np.unique(groups[y == label])) for label in (0, 1))
    n = min(n_folds, rarer)
    parts = split_groups(y, groups, (1 / n,) * n, np.random.default_rng(random_state)) if n > 1 else np.zeros(len(y))
    folds = [(np.flatnonzero(parts != part), np.flatnonzero(parts == part)) for part in range(n)]
    usable = [fold for fold in folds if all(set(y[rows]) == {0, 1} for rows in fold)]
    if not usable:
        raise InputError(
            f"Cross-validation needs both labels in two groups of training data; it got {rarer} with the rarer label; "
            "label more responses."
        )
    return usable


def _best_logistic_regression(training: XYData, class_weight: Any, random_state: int | None) -> Any:
    """Logistic regression whose penalty and its strength have the best cross-validated area under the ROC curve."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    model = LogisticRegression(solver="liblinear", class_weight=class_weight, max_iter=1000, random_state=random_state)
    # scikit-learn 1.8 replaced penalty="l2" and "l1" by l1_ratio=0 and 1.
    penalties = {"l1_ratio": (0.0, 1.0)} if model.penalty == "deprecated" else {"penalty": ("l2", "l1")}
    grid = {f"model__{name}": values for name, values in {"C": STRENGTHS, **penalties}.items()}
    folds = grouped_folds(training, random_state)
    pipeline = Pipeline([("scaler", StandardScaler()), ("model", model)])
    search = GridSearchCV(pipeline, grid, scoring="roc_auc", cv=folds, refit=False).fit(training.X, training.y.to_numpy())
    return pipeline.set_params(**search.best_params_)


def _checked(classifier: Any, probability_calibration: str | None) -> Any:
    wanted = "predict_proba" if probability_calibration is None else "fit"
    if isinstance(classifier, type) or not (hasattr(classifier, "get_params") and hasattr(classifier, wanted)):
        raise InputError(
            f"classifier needs a scikit-learn classifier with predict_proba; it got {classifier!r}; pass an instance, "
            'or add probability_calibration="sigmoid" to one that has none.'
        )
    return classifier


def _seeded(classifier: Any, random_state: int | None) -> Any:
    """The classifier with our seed wherever it has none of its own."""
    unset = [
        name for name, value in classifier.get_params().items() if name.split("__")[-1] == "random_state" and value is None
    ]
    return classifier.set_params(**dict.fromkeys(unset, random_state))


def _calibrated(classifier: Any, method: str, folds: Folds) -> Any:
    from sklearn.calibration import CalibratedClassifierCV

    return CalibratedClassifierCV(classifier, method=method, cv=folds)
