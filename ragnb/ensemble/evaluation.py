"""How well labels were predicted."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from ragnb.ensemble.data import aligned, binary_labels
from ragnb.errors import InputError


def eval_prediction(y: Iterable[Any], y_hat: Iterable[Any]) -> dict[str, Any]:
    """Precision, recall and F1 of label 1, accuracy and the confusion matrix of predicted labels.

    Higher is better; each in [0, 1]; nan where undefined: precision without a predicted 1, recall without a true 1, F1
    without either, accuracy without rows.

    Parameters
    ----------
    y, y_hat
        True and predicted labels, 0 and 1, in any iterable; two Series are aligned by their index labels.

    Returns
    -------
    dict
        ``precision, recall, f1, accuracy`` and ``confusion_matrix``: a row a true, a column a predicted label, so
        ``[[true 0, false 1], [false 0, true 1]]``.

    Raises
    ------
    InputError
        Other labels, unequal lengths, Series with different index labels.

    Notes
    -----
    TP / (TP + FP), TP / (TP + FN), 2 TP / (2 TP + FP + FN), (TP + TN) / n.

    Examples
    --------
    >>> found = eval_prediction([1, 1, 1, 0], [1, 1, 0, 1])
    >>> found["precision"], found["accuracy"], found["confusion_matrix"].tolist()
    (0.6666666666666666, 0.5, [[0, 1], [1, 2]])
    """
    if isinstance(y, str) or not np.iterable(y):
        raise InputError(f"eval_prediction needs a label for every item; it got {y!r:.60}; pass a list or a Series.")
    true = list(y) if not isinstance(y, pd.Series) else y
    index = true.index if isinstance(true, pd.Series) else pd.RangeIndex(len(true))
    predicted = y_hat if isinstance(y, pd.Series) or not isinstance(y_hat, pd.Series) else y_hat.to_list()
    codes = 2 * binary_labels(true, index) + binary_labels(aligned(predicted, index, "y_hat"), index, "y_hat")
    tn, fp, fn, tp = np.bincount(codes, minlength=4).tolist()
    return {
        "precision": _share(tp, tp + fp),
        "recall": _share(tp, tp + fn),
        "f1": _share(2 * tp, 2 * tp + fp + fn),
        "accuracy": _share(tp + tn, len(true)),
        "confusion_matrix": np.array([[tn, fp], [fn, tp]]),
    }


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
