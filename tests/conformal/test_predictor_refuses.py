"""What the predictor refuses, each with one sentence: what needs what; what it got; what to do."""

import math

import numpy as np
import pytest

from ragnb.conformal.predictor import ConformalClassifier, count_sets, lac_scores, p_values, undecided
from ragnb.errors import InputError


def items(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    positive = rng.random(n)
    return positive, rng.random(n) < positive


PREDICTOR = ConformalClassifier.calibrate(*items(50))
MESSAGE = r"needs .*; it got .*; "


@pytest.mark.parametrize("alpha", [0, 1, math.nan, -0.1, "x", None])
def test_an_alpha_that_is_none_is_refused(alpha):
    for call in (lambda: PREDICTOR.sets([0.5], alpha), lambda: PREDICTOR.coverage(alpha)):
        with pytest.raises(InputError, match="alpha " + MESSAGE):
            call()


@pytest.mark.parametrize(
    ("probabilities", "said"),
    [
        ([1.2], r"it got 1\.2"),
        ([-0.1], r"it got -0\.1"),
        ([[0.5, 0.6]], "sum to one"),
        ([[0.2, 0.2], [0.5, 0.5]], "sum to one"),
        ([math.nan], "it got nan"),
        ([[math.nan, 1.0]], "it got nan"),
        ([0.5, math.inf], "it got inf"),
        ([[0.2, 0.3, 0.5]], r"got \(1, 3\)"),
        ([[[0.5, 0.5]]], r"got \(1, 1, 2\)"),
        ([[0.5]], r"got \(1, 1\)"),
        (0.5, r"got \(\)"),
        (["half"], "numbers"),
        (["0.5"], "numbers"),
        (np.array(["0.5"], object), "numbers"),
        ([None], "nan"),
        ([[0.5, 0.5], [1.0]], "numbers"),
    ],
)
def test_probabilities_that_are_none_are_refused(probabilities, said):
    calls = [
        PREDICTOR.p_values,
        lac_scores,
        lambda p: PREDICTOR.sets(p, 0.1),
        lambda p: ConformalClassifier.calibrate(p, [1]),
    ]
    for call in calls:
        with pytest.raises(InputError, match=f"probabilities {MESSAGE}") as caught:
            call(probabilities)
        assert caught.match(said)


@pytest.mark.parametrize(
    "labels", [[0, 2], [-1, 1], [0.5, 1], [math.nan, 1], ["0", "yes"], ["0", "1"], [1], [[0], [1]], [None, 1], 1], ids=repr
)
def test_labels_other_than_0_and_1_are_refused(labels):
    with pytest.raises(InputError, match="labels " + MESSAGE):
        ConformalClassifier.calibrate([0.2, 0.8], labels)
    with pytest.raises(InputError, match="labels"):
        lac_scores([0.2, 0.8], labels)


@pytest.mark.parametrize("labels", [[0, 1], [False, True], [0.0, 1.0], np.array([0, 1], object), np.array([0, 1], np.uint8)])
def test_labels_may_be_of_any_numeric_type(labels):
    assert lac_scores([0.25, 0.25], labels).tolist() == [0.25, 0.75]


def test_a_class_without_items_is_refused():
    with pytest.raises(InputError, match="both classes, in every group; it got 2 of class 1 alone"):
        ConformalClassifier.calibrate([0.2, 0.8], [1, 1], conditional="class")
    with pytest.raises(InputError, match="it got 1 of class 0 alone"):
        ConformalClassifier.calibrate([0.2, 0.8, 0.5], [1, 0, 0], conditional="class", groups=["a", "a", "b"])
    assert ConformalClassifier.calibrate([0.2, 0.8], [1, 1]).coverage(0.5)["all"].n == 2


def test_no_items_are_refused():
    for empty in ([], np.empty((0, 2))):
        with pytest.raises(InputError, match="calibrate needs labelled items; it got none"):
            ConformalClassifier.calibrate(empty, [])


def test_groups_that_calibration_has_not_seen_are_refused():
    predictor = ConformalClassifier.calibrate(*items(60), groups=["a", "b"] * 30)
    for call in (lambda **o: predictor.sets([0.5, 0.5], 0.1, **o), lambda **o: predictor.p_values([0.5, 0.5], **o)):
        with pytest.raises(InputError, match=r"names that calibration has seen; it got \['c'\]"):
            call(groups=["a", "c"])
        with pytest.raises(InputError, match="calibrated with groups needs the same here; it got none"):
            call()
        with pytest.raises(InputError, match="one name per row"):
            call(groups=["a"])
    with pytest.raises(InputError, match="calibrated with no groups needs the same here; it got some"):
        PREDICTOR.sets([0.5], 0.1, groups=["a"])
    numbered = ConformalClassifier.calibrate(*items(60), groups=[1, 2] * 30)
    with pytest.raises(InputError, match=r"it got \['1'\]"):
        numbered.p_values([0.5], groups=["1"])


@pytest.mark.parametrize(
    "groups",
    [
        ["a", None],
        [math.nan, 1.0],
        np.array(["a", math.nan], object),
        [["a"], ["b"]],
        [["a"], ["b", "c"]],
        "ab",
        ["a", math.nan],
        ["a", 1],
    ],
    ids=repr,
)
def test_groups_without_a_name_are_refused(groups):
    with pytest.raises(InputError, match="groups " + MESSAGE):
        ConformalClassifier.calibrate([0.2, 0.8], [0, 1], groups=groups)


@pytest.mark.parametrize("option", [{"conditional": "label"}, {"conditional": ""}])
def test_unknown_options_are_refused(option):
    with pytest.raises(InputError, match="conditional needs one of"):
        ConformalClassifier.calibrate([0.2, 0.8], [0, 1], **option)
    with pytest.raises(InputError, match="empty needs one of 'keep', 'fill'"):
        PREDICTOR.sets([0.5], 0.1, empty="drop")


@pytest.mark.parametrize("sets", [[[0, 2]], [[math.nan, 1]], [0, 1], [[1, 0, 1]], [["yes", "no"]], [[0.5, 0.5]]], ids=repr)
def test_sets_that_are_none_are_refused(sets):
    for function in (undecided, count_sets):
        with pytest.raises(InputError, match="sets " + MESSAGE):
            function(sets)


@pytest.mark.parametrize(
    "pair", [([math.nan], [0.1]), ([0.1], [math.nan]), ([[0.1]], [0.1]), (["x"], [0.1]), ([0.1], ["x"])]
)
def test_scores_that_are_none_are_refused(pair):
    with pytest.raises(InputError, match="scores " + MESSAGE):
        p_values(*pair)
