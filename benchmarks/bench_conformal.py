"""Conformal sets and p-values, beside MAPIE and crepes

Calibration included, with as many calibration as test items. Sets at alpha = 0.1 beside MAPIE's `SplitConformalClassifier`
(LAC, fitted before); p-values of both labels beside crepes', not smoothed. Before anything is timed all must give the same
sets and p-values.
"""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from benchmarks.timing import installed, ours, peer, task
from ragnb.conformal.control import calibrate_selective_risk
from ragnb.conformal.sets import ConformalClassifier

SIZES = [1000, 10_000, 100_000]


class Given(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose features are its probabilities: MAPIE wants one."""

    classes_ = np.array([0, 1])

    def fit(self, x, y):
        return self

    def predict_proba(self, x):
        return x

    def predict(self, x):
        return np.argmax(x, axis=1)

    def __sklearn_is_fitted__(self):
        return True


def items(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Calibration probabilities with labels, and the probabilities in question."""
    rng = np.random.default_rng(n)
    known, asked = (np.column_stack([1 - p, p]) for p in rng.random((2, n)))
    return known, (rng.random(n) < known[:, 1]).astype(int), asked


def mapie_sets(known: np.ndarray, labels: np.ndarray, asked: np.ndarray) -> np.ndarray:
    from mapie.classification import SplitConformalClassifier

    predictor = SplitConformalClassifier(Given(), confidence_level=0.9, prefit=True)
    return predictor.conformalize(known, labels).predict_set(asked)[1][:, :, 0]


def crepes_p_values(known: np.ndarray, labels: np.ndarray, asked: np.ndarray) -> np.ndarray:
    import crepes

    return (
        crepes.ConformalClassifier()
        .fit(1 - known[np.arange(len(known)), labels])
        .predict_p(1 - asked, smoothing=False)
    )


def our_sets(known: np.ndarray, labels: np.ndarray, asked: np.ndarray, **options) -> np.ndarray:
    return ConformalClassifier.calibrate(known[:, 1], labels, **options).sets(asked[:, 1], 0.1)


def our_p_values(known: np.ndarray, labels: np.ndarray, asked: np.ndarray) -> np.ndarray:
    return ConformalClassifier.calibrate(known[:, 1], labels).p_values(asked[:, 1])


@pytest.fixture(scope="module", autouse=True)
def warm_and_alike() -> None:
    """Import what the first calls import, and see that all give the same."""
    case = items(1000)
    assert not installed("mapie") or np.array_equal(our_sets(*case), mapie_sets(*case))
    assert not installed("crepes") or np.array_equal(our_p_values(*case), crepes_p_values(*case))


@task("prediction sets")
@pytest.mark.parametrize("n", SIZES)
class TestSets:
    @ours()
    def test_ragnb(self, benchmark, n: int) -> None:
        benchmark(our_sets, *items(n))

    @ours("by class")
    def test_ragnb_by_class(self, benchmark, n: int) -> None:
        benchmark(our_sets, *items(n), by_class=True)

    @peer("MAPIE", "mapie")
    def test_mapie(self, benchmark, n: int) -> None:
        benchmark(mapie_sets, *items(n))


@task("p-values")
@pytest.mark.parametrize("n", SIZES)
class TestPValues:
    @ours()
    def test_ragnb(self, benchmark, n: int) -> None:
        benchmark(our_p_values, *items(n))

    @peer("crepes", "crepes")
    def test_crepes(self, few, n: int) -> None:
        few(crepes_p_values, *items(n), rounds=1 if n == SIZES[-1] else 3, warm=False)


@task("control of the selective risk", 100_000)
@ours()
def test_control_of_the_selective_risk(benchmark) -> None:
    known, labels, _ = items(100_000)
    benchmark(calibrate_selective_risk, known[:, 1], labels, 0.1, 0.1)
