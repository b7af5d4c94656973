"""P-values and sets against MAPIE, crepes, brute force and examples worked by hand."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin

from ragnb.conformal import ConformalClassifier
from ragnb.errors import InputError

N = 2000
LEVELS = [0.8, 0.9, 0.95, 0.99]


class Given(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose features are its probabilities."""

    classes_ = np.array([0, 1])

    def fit(self, x, y):
        self.n_features_in_ = 2
        return self

    def predict_proba(self, x):
        return np.asarray(x)

    def predict(self, x):
        return np.argmax(x, axis=1)

    def __sklearn_is_fitted__(self):
        return True


def items(seed: int, n: int = N, *, steps: int | None = 128) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of class 1 and labels, seven in ten of class 1; rounded to `steps`, so that scores tie."""
    rng = np.random.default_rng(seed)
    labels = rng.random(n) < 0.7
    positive = np.clip(rng.normal(0.35 + 0.35 * labels, 0.22), 0, 1)
    return positive if steps is None else np.round(positive * steps) / steps, labels.astype(int)


def both(positive: np.ndarray) -> np.ndarray:
    """Probabilities of both classes."""
    return np.column_stack([1 - positive, positive])


def true_scores(positive: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """One minus the probability of the true label."""
    return 1 - both(positive)[np.arange(len(labels)), labels]


GRAINS = pytest.mark.parametrize("steps", [16, None], ids=["ties", "no ties"])


# ---- other libraries ---------------------------------------------------------------------------------------------------


@GRAINS
def test_sets_are_those_of_mapie(steps):
    mapie = pytest.importorskip("mapie.classification")
    known, labels = items(1, steps=steps)
    asked, _ = items(2, steps=steps)
    theirs = mapie.SplitConformalClassifier(
        Given().fit(None, None), confidence_level=LEVELS, prefit=True
    )
    sets = theirs.conformalize(both(known), labels).predict_set(both(asked))[1]
    ours = ConformalClassifier.calibrate(known, labels)
    for i, level in enumerate(LEVELS):
        assert np.array_equal(ours.sets(asked, 1 - Fraction(str(level))), sets[:, :, i])


@GRAINS
def test_p_values_are_those_of_crepes(steps):
    crepes = pytest.importorskip("crepes")
    known, labels = items(3, steps=steps)
    asked, _ = items(4, steps=steps)
    theirs = crepes.ConformalClassifier().fit(true_scores(known, labels))
    wanted = theirs.predict_p(1 - both(asked), smoothing=False)
    assert np.array_equal(ConformalClassifier.calibrate(known, labels).p_values(asked), wanted)


@GRAINS
def test_class_conditional_p_values_are_those_of_crepes(steps):
    crepes = pytest.importorskip("crepes")
    known, labels = items(5, steps=steps)
    asked, _ = items(6, steps=steps)
    theirs = crepes.WrapClassifier(Given().fit(None, None))
    theirs.calibrate(both(known), labels, class_cond=True)
    ours = ConformalClassifier.calibrate(known, labels, by_class=True)
    assert np.array_equal(ours.p_values(asked), theirs.predict_p(both(asked), smoothing=False))


def test_p_values_by_group_are_those_of_crepes():
    crepes = pytest.importorskip("crepes")
    known, labels = items(7)
    asked, _ = items(8, 3000)
    groups, asked_groups = np.arange(2000) % 3, np.arange(3000) % 3
    theirs = crepes.ConformalClassifier().fit(true_scores(known, labels), bins=groups)
    ours = ConformalClassifier.calibrate(known, labels, groups=groups)
    wanted = theirs.predict_p(1 - both(asked), bins=asked_groups, smoothing=False)
    assert np.array_equal(ours.p_values(asked, groups=asked_groups), wanted)


# ---- brute force -------------------------------------------------------------------------------------------------------

grains = st.integers(0, 8).map(lambda i: i / 8)
calibration = st.lists(st.tuples(grains, st.booleans()), min_size=1, max_size=30)
rates = st.fractions(Fraction(1, 40), Fraction(39, 40), max_denominator=60)


def exact_p_value(scores: list[float], score: float) -> Fraction:
    return Fraction(sum(known >= score for known in scores) + 1, len(scores) + 1)


def quietly(classifier, *args, **options):
    """Sets without the warning that there are too few calibration items."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return classifier.sets(*args, **options)


@given(calibration, st.lists(grains, min_size=1), rates)
def test_a_label_is_in_the_set_exactly_if_its_p_value_is_above_alpha(drawn, asked, alpha):
    known, labels = zip(*drawn, strict=True)
    classifier = ConformalClassifier.calibrate(known, labels)
    scores = [1 - p if label else p for p, label in zip(known, labels, strict=True)]
    wanted = [[exact_p_value(scores, p), exact_p_value(scores, 1 - p)] for p in asked]
    assert quietly(classifier, asked, alpha).tolist() == [
        [value > alpha for value in row] for row in wanted
    ]
    assert classifier.p_values(asked).tolist() == [
        [float(value) for value in row] for row in wanted
    ]


thousandths = st.integers(0, 1000).map(lambda i: Fraction(i, 1000))


@given(st.lists(st.tuples(thousandths, st.booleans()), min_size=1, max_size=30), rates)
def test_sets_and_p_values_are_those_of_exact_arithmetic(drawn, alpha):
    known, labels = zip(*drawn, strict=True)
    asked = [*known, *(1 - p for p in known)]
    classifier = ConformalClassifier.calibrate([float(p) for p in known], labels)
    scores = [1 - p if label else p for p, label in zip(known, labels, strict=True)]
    wanted = [[exact_p_value(scores, p), exact_p_value(scores, 1 - p)] for p in asked]
    for probabilities in ([float(p) for p in asked], [1 - float(1 - p) for p in asked]):
        assert quietly(classifier, probabilities, alpha).tolist() == [
            [value > alpha for value in row] for row in wanted
        ]
        assert classifier.p_values(probabilities).tolist() == [
            [float(value) for value in row] for row in wanted
        ]


@pytest.mark.parametrize("thousandths", range(1, 1000))
def test_the_mirror_image_of_49_calibration_items_has_a_label(thousandths):
    known, asked = thousandths / 1000, 1 - thousandths / 1000
    for label in (0, 1):
        classifier = ConformalClassifier.calibrate([known] * 49, [label] * 49)
        for probability in (asked, (1000 - thousandths) / 1000):
            assert classifier.sets([probability], 0.05)[0, 1 - label]
            assert classifier.p_values([probability])[0, 1 - label] == 1
            assert not classifier.sets([known - 1e-6 if label else known + 1e-6], 0.05)[0, label]


# ---- groups and few items ----------------------------------------------------------------------------------------------


def test_too_few_items_exclude_nothing_and_warn():
    known, _ = items(15, 12)
    classifier = ConformalClassifier.calibrate(known, [0] * 3 + [1] * 9, by_class=True)
    message = "group all, label 0: alpha = 0.1 needs at least 9 calibration items, got 3"
    with pytest.warns(RuntimeWarning, match=message) as caught:
        sets = classifier.sets(known, 0.1)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert sets[:, 0].all()


def test_mistakes_in_calibration():
    with pytest.raises(InputError, match="the calibration data have no item of group all, label 0"):
        ConformalClassifier.calibrate([0.2, 0.8], [1, 1], by_class=True)
    with pytest.raises(InputError, match="labels must be 0 or 1, got 2"):
        ConformalClassifier.calibrate([0.2, 0.8], [0, 2])
