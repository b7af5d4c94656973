"""Labels, features, and their division into parts."""
# ruff: noqa: N803, N806 (X and y are the names of the field)

import doctest
import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from ensemble.ensemble_frames import metrics_and_labels
from hypothesis import given, settings
from hypothesis import strategies as st

from ragnb.ensemble import (
    DataSplit,
    SplitRatios,
    XYData,
    classifier,
    data,
    evaluation,
    features,
    judicator,
    report,
    splitting,
)
from ragnb.errors import InputError

PARTS = ("train", "test", "calibration")


def one_metric(n=20):
    return pd.DataFrame({"f1": np.linspace(0, 1, n)})


def labels_in(split):
    return {name: Counter(getattr(split, name).y) for name in PARTS}


@pytest.mark.parametrize("module", [data, evaluation, features, judicator, report], ids=lambda module: module.__name__)
def test_examples_in_docstrings(module):
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0


# ---- XYData ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [
        map(int, "0110"),
        [False, True, True, False],
        np.array([0.0, 1.0, 1.0, 0.0]),
        pd.Series([False, True, True, False], dtype=object),
        (number for number in (0, 1, 1, 0)),
        pd.array([0, 1, 1, 0], dtype="Int64"),
    ],
    ids=["map", "bool", "float", "object", "generator", "Int64"],
)
def test_labels_of_two_classes_in_any_iterable_become_0_and_1(labels):
    y = XYData(one_metric(4), labels).y
    assert y.tolist() == [0, 1, 1, 0]
    assert y.dtype == np.int64


def test_a_series_is_aligned_by_its_index_labels():
    X = one_metric(3).set_axis(["a", "b", "c"])
    assert XYData(X, pd.Series({"c": 1, "a": 0, "b": 0})).y.to_dict() == {"a": 0, "b": 0, "c": 1}


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (
            ["correct", "incorrect"],
            r"y needs labels 0 and 1 .*got 'correct', 'incorrect' in 2 rows; map them first, as in y.map",
        ),
        ([0, 2], "got 2 in 1 rows; leave out the responses without a label"),
        ([True, None], "got None in 1 rows"),
        ([1, math.nan], "got nan in 1 rows"),
        ([0.5, 1], "got 0.5 in 1 rows"),
        ([-1, 1], "got -1 in 1 rows"),
        ([0, 1, 1], r"y needs one value a row of X \(2\); it got 3; select them: y.loc"),
        ([], r"\(2\); it got 0"),
        ("01", "y needs one value a row of X; it got '01'"),
        (1, "y needs one value a row of X; it got 1"),
        (pd.Series([0, 1], index=[5, 6]), "y needs the index labels of X; it got a Series with others"),
    ],
)
def test_other_labels_are_refused(labels, message):
    with pytest.raises(InputError, match=message):
        XYData(one_metric(2), labels)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((2, 1)), "X needs a pandas DataFrame, one row a response; it got ndarray; use feature_frame"),
        (pd.DataFrame({"f1": [0.5, math.nan]}), r"X needs finite numbers; it got nan or infinite ones in f1 \(1 rows\)"),
        (pd.DataFrame({"f1": [0.5, math.inf]}), "nan or infinite ones in f1"),
        (pd.DataFrame({"f1": ["a", "b"]}), "X needs columns of numbers; it got f1 of others"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["f1", "f1"]), "columns of different names; it got f1 twice"),
        (pd.DataFrame(index=[0, 1]), "X needs at least one column, a metric; it got none"),
        (
            pd.DataFrame({"f1": [0.5, 0.6]}, index=["a", "a"]),
            "index label of its own for each response; it got a more than once",
        ),
    ],
)
def test_other_features_are_refused(X, message):
    with pytest.raises(InputError, match=message):
        XYData(X, [0, 1])


def test_copies_may_share_an_index_label_and_other_rows_may_not():
    twice = pd.DataFrame({"f1": [0.5, 0.5]}, index=["a", "a"])
    assert len(XYData(twice, [1, 1])) == 2
    with pytest.raises(InputError, match="more than once"):
        XYData(twice, [0, 1])


def test_a_group_must_not_be_missing():
    with pytest.raises(InputError, match="groups needs a group for every row; it got none in 1 rows"):
        XYData(one_metric(2), [0, 1], ["q1", None])


# ---- ratios ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shares", [(0.6, 0.2, 0.1), (1.2, -0.1, -0.1), (0.8, 0.2, 0.0), (60, 20, 20), (math.nan, 0.5, 0.5)])
def test_ratios_are_positive_and_sum_to_one(shares):
    with pytest.raises(InputError, match="SplitRatios needs three shares above 0 that sum to 1; it got"):
        SplitRatios(*shares)


def test_ratios_that_floats_sum_to_almost_one_will_do():
    assert SplitRatios(0.7, 0.2, 0.1).train + 0.2 + 0.1 != 1


# ---- the split ---------------------------------------------------------------------------------------------------------


def test_without_groups_parts_have_exact_sizes_and_shares_of_the_labels():
    X, y = one_metric(500), [1] * 300 + [0] * 200
    for seed in range(5):
        split = DataSplit(X, y, random_state=seed)
        assert labels_in(split) == {
            "train": {1: 180, 0: 120},
            "test": {1: 60, 0: 40},
            "calibration": {1: 60, 0: 40},
        }


def test_every_response_is_in_one_part_with_its_own_row():
    X, y = metrics_and_labels()
    split = DataSplit(X, y, random_state=1)
    together = pd.concat([getattr(split, name).X for name in PARTS])
    labels = pd.concat([getattr(split, name).y for name in PARTS])
    pd.testing.assert_frame_equal(together.loc[X.index], X)
    assert (labels.loc[y.index] == y).all()


def test_a_seed_gives_the_same_split_and_another_seed_another():
    X, y = metrics_and_labels()
    first, again, other = (DataSplit(X, y, random_state=seed, oversample=True) for seed in (3, 3, 4))
    pd.testing.assert_frame_equal(first.train.X, again.train.X)
    assert set(first.test.X.index) != set(other.test.X.index)
    assert repr(first) == f"DataSplit(train {len(first.train)}, test 80, calibration 80)"


def test_the_whole_order_of_the_random_state_is_left_alone():
    np.random.seed(7)
    expected = np.random.RandomState(7).random()
    DataSplit(*metrics_and_labels(), oversample=True)
    assert np.random.random() == expected


@settings(max_examples=25)
@given(sizes=st.lists(st.integers(1, 12), min_size=12, max_size=60), seed=st.integers(0, 1000))
def test_no_group_is_in_two_parts_and_sizes_are_off_by_a_group_at_most(sizes, seed):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    labels = rng.integers(0, 2, len(groups))
    shares = (0.6, 0.2, 0.2)
    parts = splitting.split_groups(labels, groups, shares, rng)
    for group in range(len(sizes)):
        assert len(set(parts[groups == group])) == 1
    counted = np.bincount(parts, minlength=3)
    assert (np.abs(counted - len(groups) * np.array(shares)) <= max(sizes) + 1).all()


def test_seven_equal_groups_are_divided_as_nearly_as_they_can_be():
    groups = np.repeat(np.arange(7), 10)
    labels = np.tile([0, 1], 35)
    for seed in range(20):
        parts = splitting.split_groups(labels, groups, (0.6, 0.2, 0.2), np.random.default_rng(seed))
        assert sorted(np.bincount(parts, minlength=3)) == [10, 20, 40]  # 42, 14, 14 wanted
        assert np.bincount(parts)[0] == 40


def test_which_of_many_like_groups_goes_where_is_left_to_chance():
    sizes = [9] + [3] * 30
    groups = np.repeat(np.arange(31), sizes)
    labels = np.concatenate([np.arange(size) % 2 for size in sizes])
    rng = np.random.default_rng(0)
    n, often = 200, np.zeros((31, 3))
    for _ in range(n):
        parts = splitting.split_groups(labels, groups, (0.6, 0.2, 0.2), rng)
        often[groups, parts] += 1
    for part in range(3):
        share = often[1:, part] / n
        assert np.abs(share - share.mean()).max() < 4.5 * math.sqrt(0.25 / n)
    assert abs(often[:, 1].mean() - often[:, 2].mean()) < 0.02 * n


def test_groups_keep_labels_near_the_whole_where_they_are_mixed():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(300), 5)
    labels = (rng.random(1500) < np.repeat(rng.random(300), 5)).astype(int)
    split = DataSplit(one_metric(1500), labels, groups=groups, random_state=0)
    for name in PARTS:
        part = getattr(split, name)
        assert abs(part.y.mean() - labels.mean()) < 0.005
        assert part.groups is not None
    assert not set(split.train.groups) & set(split.test.groups)
    assert not set(split.calibration.groups) & set(split.test.groups)


def test_groups_may_be_a_column_which_then_is_no_feature():
    X = one_metric(60).assign(question=[f"问题{row // 3}" for row in range(60)])
    split = DataSplit(X, [0, 1, 1] * 20, groups="question", random_state=0)
    assert list(split.train.X) == ["f1"]
    assert split.train.groups.nunique() == 12


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": [0] * 10 + [1] * 10}, "DataSplit needs a group for each of three parts; it got 2"),
        ({"groups": [0, 1]}, r"groups needs one value a row of X \(20\); it got 2"),
        ({"groups": "question"}, "X has no question"),
        ({"features": ["f1", "recall"]}, "DataSplit needs the columns f1, recall; X has no recall; score these metrics too"),
        ({"y": [0] * 19 + [1]}, "part needs labels of both classes; it got no 1 among"),
        ({"y": [0] * 20}, "The train part needs labels of both classes; it got no 1 among 12"),
        ({"X": one_metric().set_axis([0] * 20)}, "an index label of its own for each response; it got 0 more than once"),
    ],
)
def test_a_split_that_cannot_be_says_why(options, message):
    with pytest.raises(InputError, match=message):
        DataSplit(**{"X": one_metric(), "y": [0, 1] * 10, "random_state": 0} | options)


# ---- oversampling ------------------------------------------------------------------------------------------------------


def test_oversampling_repeats_rows_of_the_rarer_label_in_the_training_part_only():
    X, y = metrics_and_labels(share=0.8)
    plain, more = DataSplit(X, y, random_state=0), DataSplit(X, y, random_state=0, oversample=True)
    assert more.train.y.value_counts().nunique() == 1
    assert set(more.train.X.index) == set(plain.train.X.index)
    pd.testing.assert_frame_equal(more.train.X.drop_duplicates(), plain.train.X)
    for name in ("test", "calibration"):
        pd.testing.assert_frame_equal(getattr(more, name).X, getattr(plain, name).X)


def test_copies_stay_in_one_fold_together():
    split = DataSplit(*metrics_and_labels(share=0.8), random_state=0, oversample=True)
    for known, held_out in classifier.grouped_folds(split.train, 0):
        assert not set(split.train.X.index[known]) & set(split.train.X.index[held_out])


def test_systematic_rounding_is_right_on_average():
    rng = np.random.default_rng(0)
    counts = np.array([3.6, 1.2, 1.2])
    drawn = np.array([splitting._whole_numbers(counts, rng) for _ in range(4000)])
    assert (drawn.sum(axis=1) == 6).all()
    assert (np.abs(drawn - counts) < 1).all()
    assert np.abs(drawn.mean(axis=0) - counts).max() < 0.03
