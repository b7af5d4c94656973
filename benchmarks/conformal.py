"""Conformal prediction, next to MAPIE and crepes, which give the same sets and p-values."""

import crepes
import numpy as np
from mapie.classification import SplitConformalClassifier
from sklearn.base import BaseEstimator, ClassifierMixin

from benchmarks.timing import measure
from ragnb.conformal import ConformalClassifier


class _Given(ClassifierMixin, BaseEstimator):
    """A fitted classifier that returns its features as probabilities, as MAPIE needs one."""

    classes_ = np.array([0, 1])

    def fit(self, x, y):
        return self

    def predict_proba(self, x):
        return x

    def predict(self, x):
        return np.argmax(x, axis=1)

    def __sklearn_is_fitted__(self):
        return True


def rows() -> list[dict]:
    """Time prediction sets and p-values, including the calibration, and check that they agree."""
    timings = []
    for n in (1_000, 10_000):
        rng = np.random.default_rng(n)
        known, new = (np.column_stack([1 - p, p]) for p in rng.random((2, n)))
        labels = (rng.random(n) < known[:, 1]).astype(int)

        def ours(known=known, labels=labels):
            return ConformalClassifier.calibrate(known[:, 1], labels)

        def mapie(known=known, labels=labels, new=new):
            model = SplitConformalClassifier(_Given(), confidence_level=0.9, prefit=True)
            return model.conformalize(known, labels).predict_set(new)[1][:, :, 0]

        def crepes_p(known=known, labels=labels, new=new):
            model = crepes.ConformalClassifier().fit(1 - known[np.arange(len(known)), labels])
            return model.predict_p(1 - new, smoothing=False)

        sets = {"ragnb": lambda new=new, ours=ours: ours().sets(new[:, 1], 0.1), "MAPIE": mapie}
        p_values = {"ragnb": lambda new=new, ours=ours: ours().p_values(new[:, 1])}
        p_values["crepes"] = crepes_p
        assert np.array_equal(sets["ragnb"](), mapie())
        assert np.array_equal(p_values["ragnb"](), crepes_p())
        timings += measure("conformal prediction sets", n, sets)
        timings += measure("conformal p-values", n, p_values)
    return timings
