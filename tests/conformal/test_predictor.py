"""P-values and sets against MAPIE, crepes, brute force and hand-worked examples."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin

from ragnb.conformal.predictor import ConformalClassifier, SetCounts, count_sets, lac_scores, p_values, undecided
from ragnb.conformal.rank import coverage_law

N = 10_000
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
    """Probabilities of both classes and labels, seven in ten of class 1; rounded to `steps`, so that scores tie."""
    rng = np.random.default_rng(seed)
    labels = rng.random(n) < 0.7
    positive = np.clip(rng.normal(0.35 + 0.35 * labels, 0.22), 0, 1)
    positive = positive if steps is None else np.round(positive * steps) / steps
    return np.column_stack([1 - positive, positive]), labels.astype(int)


GRAINS = pytest.mark.parametrize("steps", [128, 16, None], ids=["ties", "many ties", "no ties"])


# ---- other libraries ---------------------------------------------------------------------------------------------------


@GRAINS
def test_sets_are_those_of_mapie(steps):
    mapie = pytest.importorskip("mapie.classification")
    known, labels = items(1, steps=steps)
    asked, _ = items(2, steps=steps)
    theirs = mapie.SplitConformalClassifier(Given().fit(None, None), confidence_level=LEVELS, prefit=True)
    sets = theirs.conformalize(known, labels).predict_set(asked)[1]
    ours = ConformalClassifier.calibrate(known, labels)
    for i, level in enumerate(LEVELS):
        assert np.array_equal(ours.sets(asked, 1 - Fraction(str(level))), sets[:, :, i])


@GRAINS
def test_p_values_are_those_of_crepes(steps):
    crepes = pytest.importorskip("crepes")
    known, labels = items(3, 2000, steps=steps)
    asked, _ = items(4, steps=steps)
    theirs = crepes.ConformalClassifier().fit(lac_scores(known, labels))
    wanted = theirs.predict_p(1 - asked, smoothing=False)
    assert np.array_equal(ConformalClassifier.calibrate(known, labels).p_values(asked), wanted)
    assert np.array_equal(p_values(lac_scores(known, labels), 1 - asked), wanted)


@GRAINS
def test_class_conditional_p_values_are_those_of_crepes(steps):
    crepes = pytest.importorskip("crepes")
    known, labels = items(5, 2000, steps=steps)
    asked, _ = items(6, steps=steps)
    theirs = crepes.WrapClassifier(Given().fit(None, None))
    theirs.calibrate(known, labels, class_cond=True)
    ours = ConformalClassifier.calibrate(known, labels, conditional="class")
    assert np.array_equal(ours.p_values(asked), theirs.predict_p(asked, smoothing=False))


def test_p_values_by_group_are_those_of_crepes():
    crepes = pytest.importorskip("crepes")
    known, labels = items(7, 2000)
    asked, _ = items(8, 3000)
    groups, asked_groups = np.arange(2000) % 3, np.arange(3000) % 3
    theirs = crepes.ConformalClassifier().fit(lac_scores(known, labels), bins=groups)
    ours = ConformalClassifier.calibrate(known, labels, groups=groups)
    assert np.array_equal(
        ours.p_values(asked, groups=asked_groups), theirs.predict_p(1 - asked, bins=asked_groups, smoothing=False)
    )


# ---- brute force -------------------------------------------------------------------------------------------------------

grains = st.integers(0, 8).map(lambda i: i / 8)
calibration = st.lists(st.tuples(grains, st.booleans(), st.sampled_from("ab")), min_size=1, max_size=30)
rates = st.fractions(Fraction(1, 40), Fraction(39, 40), max_denominator=60)


def exact_p_value(scores: list[float], score: float) -> Fraction:
    return Fraction(sum(known >= score for known in scores) + 1, len(scores) + 1)


@given(calibration, st.lists(grains, min_size=1), rates)
def test_a_label_is_in_the_set_exactly_when_its_p_value_is_above_alpha(drawn, asked, alpha):
    known, labels, _ = zip(*drawn, strict=True)
    predictor = ConformalClassifier.calibrate(known, labels)
    scores = [1 - p if label else p for p, label in zip(known, labels, strict=True)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        sets = predictor.sets(asked, alpha)
    wanted = [[exact_p_value(scores, p), exact_p_value(scores, 1 - p)] for p in asked]
    assert sets.tolist() == [[value > alpha for value in row] for row in wanted]
    assert predictor.p_values(asked).tolist() == [[float(value) for value in row] for row in wanted]


@given(calibration, st.lists(st.tuples(grains, st.sampled_from("ab")), min_size=1), rates)
def test_classes_within_groups_are_calibrated_each_by_itself(drawn, asked, alpha):
    drawn = [*drawn, *((0.5, label, group) for label in (False, True) for group in "ab")]
    known, labels, groups = zip(*drawn, strict=True)
    questions, names = zip(*asked, strict=True)
    predictor = ConformalClassifier.calibrate(known, labels, conditional="class", groups=groups)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        sets = predictor.sets(questions, alpha, groups=names)
    values = predictor.p_values(questions, groups=names)
    for row, (p, name) in enumerate(asked):
        for label, score in ((0, p), (1, 1 - p)):
            own = [1 - q if y else q for q, y, g in drawn if (g, y) == (name, bool(label))]
            assert values[row, label] == float(exact_p_value(own, score))
            assert sets[row, label] == (exact_p_value(own, score) > alpha)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40))
def test_p_values_are_valid_whatever_the_ties(scores):
    """Each of n exchangeable scores in turn as the last: a p-value of at most j / n for at most j of them."""
    n = len(scores)
    values = [p_values(scores[:i] + scores[i + 1 :], scores[i]) for i in range(n)]
    for j in range(n + 1):
        assert sum(float(value) <= j / n for value in values) <= j


@given(st.permutations(list(range(12))))
def test_without_ties_p_values_are_uniform(scores):
    values = [float(p_values(scores[:i] + scores[i + 1 :], scores[i])) for i in range(12)]
    assert sorted(values) == [j / 12 for j in range(1, 13)]


# ---- by hand -----------------------------------------------------------------------------------------------------------


def test_p_values_by_hand():
    assert p_values([0.1, 0.2, 0.2, 0.4], [[0.05, 0.2], [0.21, 0.9]]).tolist() == [[1, 0.8], [0.4, 0.2]]
    assert p_values([], [0.3]).tolist() == [1]
    assert p_values([0.3], []).shape == (0,)
    assert p_values([0.1, math.inf], math.inf) == 2 / 3


def test_scores_are_one_minus_the_probability():
    both = [[0.75, 0.25], [0.0, 1.0]]
    assert lac_scores(both).tolist() == [[0.25, 0.75], [1, 0]]
    assert lac_scores(both, [1, 1]).tolist() == [0.75, 0]


@pytest.mark.parametrize("conditional", [None, "class"])
def test_one_column_says_what_two_say(conditional):
    known, labels = items(9, 400, steps=None)
    asked, _ = items(10, 50, steps=None)
    two = ConformalClassifier.calibrate(known, labels, conditional=conditional)
    one = ConformalClassifier.calibrate(known[:, 1], labels.astype(bool), conditional=conditional)
    assert np.array_equal(one.sets(asked[:, 1], 0.1), two.sets(asked, 0.1))
    assert np.array_equal(one.p_values(asked[:, 1]), two.p_values(asked))


@pytest.mark.parametrize("n", [0, 1])
def test_few_items_keep_their_shape(n):
    predictor = ConformalClassifier.calibrate(*items(11, 100), groups=["a"] * 100)
    asked, groups = np.full((n, 2), 0.5), np.array(["a"] * n)
    for empty in ("keep", "fill"):
        sets = predictor.sets(asked, 0.1, groups=groups, empty=empty)
        assert (sets.shape, sets.dtype) == ((n, 2), bool)
    assert predictor.p_values(asked, groups=groups).shape == (n, 2)
    assert undecided(sets).shape == (n,)


def test_nothing_given_is_changed_and_the_predictor_is_frozen():
    known, labels = items(12, 100)
    asked = known.copy()
    predictor = ConformalClassifier.calibrate(known, labels)
    predictor.sets(asked, 0.3, empty="fill")
    assert np.array_equal(asked, known)
    with pytest.raises(AttributeError):
        predictor.conditional = "class"


# ---- empty sets --------------------------------------------------------------------------------------------------------

SURE = ConformalClassifier.calibrate([0.99] * 60 + [0.01] * 40 + [0.6], [1] * 60 + [0] * 40 + [1])


def test_empty_sets_are_kept_and_counted():
    sets = SURE.sets([0.995, 0.7, 0.5, 0.001], 0.1)
    assert sets.tolist() == [[False, True], [False, False], [False, False], [True, False]]
    assert count_sets(sets) == SetCounts(n=4, both=0, neither=2, only_0=1, only_1=1)
    assert undecided(sets).tolist() == [False, True, True, False]


def test_filled_sets_hold_the_label_of_the_larger_p_value():
    # Each empty set in turn: 2 / 102 against 1 / 102; equal p-values, so the more probable; equal in both, so 0; and mirrored.
    sets = SURE.sets([0.7, 0.55, 0.5, 0.45, 0.3], 0.1, empty="fill")
    assert sets[:, 1].tolist() == [True, True, False, False, False]
    assert not undecided(sets).any()


def test_filling_goes_by_the_p_value_of_each_class_not_by_the_probability():
    known = [0.01] * 50 + [0.5] * 6 + [0.99] * 50  # the six, of class 0, make scores up to 0.5 likelier there
    labels = [0] * 56 + [1] * 50
    predictor = ConformalClassifier.calibrate(known, labels, conditional="class")
    values = predictor.p_values([0.5 + 1e-9, 0.5 - 1e-9])
    assert not predictor.sets([0.5 - 1e-9], 0.2).any()
    assert values[1].tolist() == [7 / 57, 1 / 51]
    assert predictor.sets([0.5 - 1e-9], 0.2, empty="fill").tolist() == [[True, False]]
    skewed = ConformalClassifier.calibrate([0.01] * 50 + [0.99] * 50 + [0.4] * 8, [0] * 50 + [1] * 58, conditional="class")
    assert not skewed.sets([0.4], 0.2).any()
    assert skewed.sets([0.4], 0.2, empty="fill").tolist() == [[False, True]]  # though 0 is more probable


@given(calibration, st.lists(grains, min_size=1), rates)
def test_filling_adds_one_label_to_empty_sets_alone(drawn, asked, alpha):
    known, labels, groups = zip(*drawn, strict=True)
    predictor = ConformalClassifier.calibrate(known, labels, groups=groups)
    names = [groups[0]] * len(asked)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        kept, filled = (predictor.sets(asked, alpha, groups=names, empty=empty) for empty in ("keep", "fill"))
    hollow = ~kept.any(axis=1)
    assert np.array_equal(kept[~hollow], filled[~hollow])
    assert (filled[hollow].sum(axis=1) == 1).all()
    values = predictor.p_values(asked, groups=names)
    assert (values[hollow][filled[hollow]] == values[hollow].max(axis=1)).all()


@given(st.lists(st.tuples(st.booleans(), st.booleans())))
def test_counts_add_up(sets):
    array = np.array(sets, dtype=bool).reshape(-1, 2)
    counts = count_sets(array)
    assert counts.n == counts.both + counts.neither + counts.only_0 + counts.only_1 == len(sets)
    assert counts.both == sum(a and b for a, b in sets)
    assert counts.only_1 == sum(b and not a for a, b in sets)
    assert counts.both + counts.neither == undecided(array).sum()
    assert counts == count_sets(array.astype(int))
    if sets:
        assert counts.share_undecided == undecided(array).mean()


def test_no_sets_have_no_share():
    counts = count_sets(np.empty((0, 2)))
    assert counts.n == 0
    assert math.isnan(counts.share_undecided)


def test_counts_print_themselves():
    counts = SetCounts(n=235, both=30, neither=7, only_0=60, only_1=138)
    assert str(counts) == "235 sets: 60 hold 0 alone, 138 hold 1 alone, 30 both, 7 neither; 15.7% undecided"


# ---- coverage and groups -----------------------------------------------------------------------------------------------


def test_coverage_has_one_law_a_promise():
    known, labels = items(13, 300)
    groups = np.where(np.arange(300) < 100, "zh", "en")
    negative, zh = labels == 0, groups == "zh"

    def laws(**options):
        return ConformalClassifier.calibrate(known, labels, **options).coverage(0.1)

    assert laws() == {"all": coverage_law(300, 0.1)}
    assert laws(conditional="class") == {y: coverage_law(int((labels == y).sum()), 0.1) for y in (0, 1)}
    assert laws(groups=groups) == {"en": coverage_law(200, 0.1), "zh": coverage_law(100, 0.1)}
    both = laws(conditional="class", groups=groups)
    assert list(both) == [("en", 0), ("en", 1), ("zh", 0), ("zh", 1)]
    assert both["zh", 0] == coverage_law(int((negative & zh).sum()), 0.1)


@pytest.mark.parametrize(
    "names", [["नमस्ते", "العربية", "e\u0301", "👩‍👩‍👧", "中文", "日本語"], [3, 1, 2, 7, 5, 4], [0.5, 1.5, 2, 3, 4, 5]]
)
def test_groups_may_have_any_name_and_any_order(names):
    known, labels = items(14, 600)
    groups = [names[i % 6] for i in range(600)]
    asked, asked_groups = known[:120], groups[:120]
    predictor = ConformalClassifier.calibrate(known, labels, groups=groups)
    for i, name in enumerate(names):
        alone = ConformalClassifier.calibrate(known[i::6], labels[i::6])
        rows = np.arange(120) % 6 == i
        assert np.array_equal(predictor.sets(asked, 0.1, groups=asked_groups)[rows], alone.sets(asked[rows], 0.1))
        assert np.array_equal(predictor.sets(asked[rows], 0.1, groups=[name] * 20), alone.sets(asked[rows], 0.1))


def test_too_few_items_exclude_nothing_and_say_so():
    known, labels = items(15, 12)
    labels = np.array([0] * 3 + [1] * 9)
    predictor = ConformalClassifier.calibrate(known, labels, conditional="class")
    with pytest.warns(RuntimeWarning, match="0: alpha = 0.1 needs at least 9 calibration items; it got 3") as caught:
        sets = predictor.sets(known, 0.1)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert sets[:, 0].all()
    assert "at least 9" in predictor.coverage(0.1)[0].warning
    assert predictor.coverage(0.1)[1].warning == ""
