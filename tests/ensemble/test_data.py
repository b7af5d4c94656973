"""Labels, features from scores, and the split into sets."""
# ruff: noqa: N806 (X and y are the names of the field)

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.ensemble_frames import metrics_and_labels

from ragnb.ensemble import DataSplit, SplitRatios, XYData, feature_frame
from ragnb.ensemble.data import cross_validation_folds
from ragnb.errors import InputError
from ragnb.scoring import score

PARTS = ("train", "test", "calibration")


def one_metric(n=20):
    return pd.DataFrame({"f1": np.linspace(0, 1, n)})


def labels_in(split):
    return {name: Counter(getattr(split, name).y) for name in PARTS}


# ---- XYData ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [
        map(int, "0110"),
        pd.Series([False, True, True, False], dtype=object),
        pd.array([0, 1, 1, 0], dtype="Int64"),
    ],
    ids=["map", "object", "Int64"],
)
def test_labels_in_any_iterable_become_0_and_1(labels):
    y = XYData(one_metric(4), labels).y
    assert y.tolist() == [0, 1, 1, 0]
    assert y.dtype == np.int64


def test_a_series_is_aligned_by_its_index_labels():
    X = one_metric(3).set_axis(["a", "b", "c"])
    assert XYData(X, pd.Series({"c": 1, "a": 0, "b": 0})).y.to_dict() == {"a": 0, "b": 0, "c": 1}


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (
            ["correct", "incorrect"],
            r"y must be 0 or 1 .*got 'correct' \(in 2 rows\); map other labels first",
        ),
        ([True, None], "y must have a value for every row of X, got none in 1 rows"),
        ([0, 1, 1], r"y must have one value per row of X \(2\), got 3"),
        (pd.Series([0, 1], index=[5, 6]), "y must have a value for every row of X"),
    ],
)
def test_mistakes_in_the_labels(y, message):
    with pytest.raises(InputError, match=message):
        XYData(one_metric(2), y)


# ---- the split ---------------------------------------------------------------------------------------------------------


def test_ratios_sum_to_1():
    for shares in ((0.6, 0.2, 0.1), (0.8, 0.2, 0.0), (60, 20, 20), (math.nan, 0.5, 0.5)):
        with pytest.raises(InputError, match="split ratios must be above 0 and sum to 1"):
            SplitRatios(*shares)
    assert SplitRatios(0.7, 0.2, 0.1).train + 0.2 + 0.1 != 1  # a rounding error is no mistake


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
    first, again, other = (
        DataSplit(X, y, random_state=seed, oversample=True) for seed in (3, 3, 4)
    )
    pd.testing.assert_frame_equal(first.train.X, again.train.X)
    assert set(first.test.X.index) != set(other.test.X.index)


@settings(max_examples=25)
@given(sizes=st.lists(st.integers(1, 12), min_size=12, max_size=60), seed=st.integers(0, 1000))
def test_groups_are_whole_and_sizes_are_off_by_about_a_group(sizes, seed):
    groups = np.repeat(np.arange(len(sizes)), sizes)
    labels = np.random.default_rng(seed).permutation(np.arange(len(groups)) % 2)
    split = DataSplit(one_metric(len(groups)), labels, groups=groups, random_state=seed)
    found = [set(getattr(split, name).groups) for name in PARTS]
    assert sum(map(len, found)) == len(set.union(*found)) == len(sizes)
    counted = np.array([len(getattr(split, name)) for name in PARTS])
    assert np.abs(counted - len(groups) * np.array([0.6, 0.2, 0.2])).max() <= 2 * max(sizes)


def test_each_group_is_equally_likely_to_be_in_each_part():
    """Four standard deviations of a binomial share; test and calibration sets are exchangeable."""
    groups, n = np.repeat(np.arange(30), 3), 60
    labels, often = np.tile([0, 1, 1], 30), np.zeros((30, 3))
    for seed in range(n):
        split = DataSplit(one_metric(90), labels, groups=groups, random_state=seed)
        for k, name in enumerate(PARTS):
            often[list(set(getattr(split, name).groups)), k] += 1 / n
    assert np.abs(often - [0.6, 0.2, 0.2]).max() < 4 * math.sqrt(0.25 / n)


def test_parts_have_like_shares_of_labels_if_groups_differ():
    """If groups were drawn at random, the share in a part of 60 groups would have a standard deviation of 0.04."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(300), 5)
    labels = (rng.random(1500) < np.repeat(rng.random(300), 5)).astype(int)
    assert np.std(labels.reshape(300, 5).mean(axis=1)) / math.sqrt(60) > 0.04
    for seed in range(5):
        split = DataSplit(one_metric(1500), labels, groups=groups, random_state=seed)
        for name in PARTS:
            assert abs(getattr(split, name).y.mean() - labels.mean()) < 0.01


def test_groups_may_be_a_column_which_then_is_no_feature():
    X = one_metric(60).assign(question=[f"问题{row // 3}" for row in range(60)])
    split = DataSplit(X, [0, 1, 1] * 20, groups="question", random_state=0)
    assert list(split.train.X) == ["f1"]
    assert split.train.groups.nunique() == 12


@pytest.mark.filterwarnings("ignore:The least populated class")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": "question"}, "without question"),
        (
            {"features": ["f1", "recall"]},
            "DataSplit needs the columns f1, recall, got a frame without recall",
        ),
        ({"y": [0] * 19 + [1]}, r"set needs labels of both classes, got only \[0\]"),
        (
            {"X": one_metric().set_axis([0] * 20)},
            "DataSplit needs unique index labels, got 0 twice",
        ),
    ],
)
def test_mistakes_in_a_split(options, message):
    with pytest.raises(InputError, match=message):
        DataSplit(**{"X": one_metric(), "y": [0, 1] * 10, "random_state": 0} | options)


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
    for known, held_out in cross_validation_folds(split.train, 0):
        assert not set(split.train.X.index[known]) & set(split.train.X.index[held_out])


# ---- feature_frame -----------------------------------------------------------------------------------------------------


def responses(**columns):
    basis = {
        "example_id": ["q/1", "q/1", "q/2", "q/2"],
        "system": ["big", "small"] * 2,
        "language": ["en", "en", "zh", "zh"],
        "references": [[["Oslo"]], [["Oslo"]], [["北京"]], [["北京"]]],
        "response": ["It is Oslo.", "Bergen", "北京", "不知道"],
    }
    return pd.DataFrame(basis | columns, index=["a", "b", "c", "d"])


def test_scores_become_one_row_per_response_and_one_column_per_metric():
    scores = score(responses(), ["rgb.accuracy", "answer.f1"])
    X = feature_frame(scores.sample(frac=1, random_state=0), responses=responses())
    assert sorted(X) == ["answer.f1", "rgb.accuracy"]
    assert X["rgb.accuracy"].to_dict() == {"a": 1, "b": 0, "c": 1, "d": 0}
    assert X.loc["c", "answer.f1"] == 1


def test_all_columns_except_those_of_the_score_identify_the_response():
    frame = pd.concat(
        [responses(noise_rate=rate, repeat=k) for rate in (0.2, math.nan) for k in (0, 1)]
    )
    X = feature_frame(score(frame, ["rgb.accuracy", "answer.f1"]), responses=frame)
    assert X["rgb.accuracy"].tolist() == [1, 0, 1, 0] * 4
    lists = responses(tags=[["x"], ["x"], ["y"], []])
    assert len(feature_frame(score(lists, "rgb.accuracy"), responses=lists)) == 4


def test_each_variant_of_a_metric_has_its_own_column():
    variants = [
        score(responses(), "rgb.accuracy", protocol=protocol) for protocol in ("paper", "flexible")
    ]
    scores = pd.concat([*variants, score(responses(), "answer.f1")])
    X = feature_frame(scores, responses=responses())
    assert list(X) == ["rgb.accuracy|protocol:paper", "rgb.accuracy|protocol:flexible", "answer.f1"]
    assert X.notna().all(axis=None)  # the languages differ, but they are not variants


MISSING = responses(
    response=["It is Oslo.", None, "北京", None], reason=[None, "timed out", None, None]
)


def test_a_missing_value_is_an_error_that_names_metrics_and_reasons():
    with pytest.raises(InputError, match="are missing in 2 of 4 responses") as caught:
        feature_frame(score(MISSING, ["rgb.accuracy", "answer.f1"]), responses=MISSING)
    assert caught.match("'rgb.accuracy': 2, 'answer.f1': 2")
    assert caught.match("'timed out': 2")
    with pytest.raises(InputError, match="'rgb.accuracy': 2"):
        feature_frame(score(responses(), "rgb.accuracy").iloc[:2], responses=responses())


def test_mistakes_in_the_scores():
    scores = score(responses(), "rgb.accuracy")
    with pytest.raises(
        InputError,
        match="one value per response and metric, got several of rgb.accuracy; add a column",
    ):
        feature_frame(pd.concat([scores, scores]), responses=responses())
    with pytest.raises(InputError, match="a different combination of example_id, system, language"):
        feature_frame(scores, responses=pd.concat([responses(), responses()]))
    with pytest.raises(InputError, match="got scores of 2 responses that"):
        feature_frame(scores, responses=responses().iloc[:2])
