"""Coverage over many splits and decisions of all responses, against numpy, scipy and scikit-learn."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupShuffleSplit

from ragnb.ensemble import (
    DataSplit,
    MetricEnsemble,
    XYData,
    coverage_over_splits,
    cross_decide,
)
from ragnb.errors import InputError


def responses(n_questions=240, seed=0):
    """Three responses to each question, of two systems; one metric predicts the label."""
    rng = np.random.default_rng(seed)
    question = np.repeat(np.arange(n_questions), 3)
    label = (rng.random(question.size) < 0.6).astype(int)
    f1 = label + rng.normal(0, 0.8, label.size)
    features = pd.DataFrame({"f1": f1}, [f"r{k}" for k in range(label.size)])
    system = pd.Series(np.where(np.arange(label.size) % 3 == 0, "one", "two"), features.index)
    return features, pd.Series(label, features.index), pd.Series(question, features.index), system


@pytest.fixture(scope="module")
def parts():
    features, label, question, system = responses()
    split = DataSplit(features, label, groups=question, random_state=0)
    ensemble = MetricEnsemble(split.train, split.calibration, 0.1, classifier=LogisticRegression())
    kept = ~features.index.isin(split.train.X.index)
    return ensemble, XYData(features[kept], label[kept], question[kept]), system


def threshold(scores, alpha=0.1):
    ordered = np.sort(scores)
    return ordered[math.ceil((len(scores) + 1) * (1 - Fraction(str(alpha)))) - 1]


def test_coverage_of_each_split_by_hand(parts):
    ensemble, data, system = parts
    table = coverage_over_splits(ensemble, data, by=system, n_splits=5, random_state=3)
    probability = ensemble.classifier.predict_proba(data.X)[:, 1]
    score = np.where(data.y == 1, 1 - probability, probability)
    own = coverage_over_splits(ensemble, data, groups=system, n_splits=5, random_state=3)
    systems = system[data.X.index].to_numpy()
    halves = GroupShuffleSplit(5, test_size=0.5, random_state=3).split(score, groups=data.groups)
    for number, (known, new) in enumerate(halves):
        assert not set(data.groups.iloc[known]) & set(data.groups.iloc[new])
        covered = score[new] <= threshold(score[known])
        kinds = {"all": covered, "label 1": covered[data.y.to_numpy()[new] == 1]}
        kinds["two"] = covered[systems[new] == "two"]
        found = table[table["split"] == number].set_index("group")
        for kind, values in kinds.items():
            assert found.loc[kind, "value"] == pytest.approx(values.mean())
            assert found.loc[kind, "n"] == values.size
        limits = {name: threshold(score[known][systems[known] == name]) for name in ("one", "two")}
        covered = score[new] <= np.array([limits[name] for name in systems[new]])
        row = own[(own["split"] == number) & (own["group"] == "all")].iloc[0]
        assert row["value"] == pytest.approx(covered.mean())


def test_what_is_expected_is_the_beta_binomial_distribution(parts):
    ensemble, data, _ = parts
    expected = coverage_over_splits(ensemble, data, n_splits=2, random_state=0).attrs["expected"]
    n, n_groups = len(data), data.groups.nunique()
    for unit, size in (("responses", n), ("groups", n_groups)):
        known = expected[unit]["n_calibration"]
        new = expected[unit]["n_test"]
        assert known + new == size
        rank = math.ceil((known + 1) * Fraction(9, 10))
        law = stats.betabinom(new, rank, known + 1 - rank)
        assert expected[unit]["std"] == pytest.approx(law.std() / new)
        limits = [expected[unit]["low"], expected[unit]["high"]]
        assert limits == pytest.approx(np.array(law.ppf([0.05, 0.95])) / new)


def test_coverage_keeps_its_promise_and_its_spread():
    """400 splits of independent responses: the mean and the spread are those of theory.

    Each split divides the same 4,000 responses, so a mean over splits can differ from the promise by chance.
    With four standard errors of a mean of 4,000 shares of .9 that is .019.
    """
    rng = np.random.default_rng(1)
    label = (rng.random(5000) < 0.5).astype(int)
    features = pd.DataFrame({"f1": label + rng.normal(0, 1, 5000)})
    split = DataSplit(features, label, random_state=0)
    ensemble = MetricEnsemble(split.train, split.calibration, 0.1, classifier=LogisticRegression())
    kept = ~features.index.isin(split.train.X.index)
    data = XYData(features[kept], label[kept])
    table = coverage_over_splits(ensemble, data, n_splits=400, random_state=0)
    values = table.query("group == 'all'")["value"]
    expected = table.attrs["expected"]
    assert values.mean() == pytest.approx(0.9, abs=0.019)
    # The standard error of a standard deviation of 400 values is 3.5 %.
    assert values.std() == pytest.approx(expected["responses"]["std"], rel=4 * 0.035)
    assert "groups" not in expected


def test_an_ensemble_of_accepted_labels_has_no_coverage(parts):
    _, data, _ = parts
    halves = DataSplit(data.X, data.y, groups=data.groups, random_state=0)
    ensemble = MetricEnsemble(halves.train, halves.calibration, guarantee="selective")
    with pytest.raises(InputError, match="got guarantee='selective'"):
        coverage_over_splits(ensemble, halves.test)


def test_a_group_must_not_have_the_name_of_another_row(parts):
    ensemble, data, _ = parts
    with pytest.raises(InputError, match=r"by must not have a group named all, .*, got 'all'"):
        coverage_over_splits(ensemble, data, by=["all"] * len(data.y), n_splits=1)


# ---- decisions of all responses -------------------------------------------------------------------


def test_each_response_is_decided_by_an_ensemble_that_has_not_seen_its_question():
    features, label, question, _ = responses(400)
    decisions = cross_decide(
        XYData(features, label, question), 0.1, 0, classifier=LogisticRegression()
    )
    assert decisions.index.equals(features.index)
    assert decisions.groupby(question)["fold"].nunique().max() == 1
    covered = np.where(label == 1, decisions["in_set_1"], decisions["in_set_0"])
    # Four standard errors of a share of .9 of 400 questions, as if answers were copies.
    assert covered.mean() == pytest.approx(0.9, abs=4 * np.sqrt(0.09 / 400))
    assert set(decisions["fold"]) == set(range(5))


def test_the_labels_of_a_fold_have_no_effect_on_its_decisions():
    """Without a relation of metric and label, accuracy is that of guessing."""
    rng = np.random.default_rng(0)
    features = pd.DataFrame({"noise": rng.random(2000)})
    label = pd.Series(rng.random(2000) < 0.5).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        decisions = cross_decide(XYData(features, label), 0.1, 0, classifier=LogisticRegression())
    right = (decisions["y_hat"] == label).mean()
    assert right == pytest.approx(0.5, abs=4 * np.sqrt(0.25 / 2000))


def test_selective_decisions_and_what_is_refused():
    features, label, question, _ = responses(400)
    data = XYData(features, label, question)
    decisions = cross_decide(data, 0.25, 0, guarantee="selective")
    kept = ~decisions["abstained"]
    assert 0 < kept.sum() < len(kept)
    assert (decisions["y_hat"][kept] != label[kept]).mean() < 0.25
    with pytest.raises(InputError, match="n_folds must be at least 2, got 1"):
        cross_decide(data, n_folds=1)
