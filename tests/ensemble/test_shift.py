"""Tests of whether new responses are distributed like the calibration responses."""
# ruff: noqa: N806 (X and y are the names of the field)

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import binom, ks_2samp
from sklearn.linear_model import LogisticRegression
from support.ensemble_frames import METRICS, fitted, metrics_and_labels

from ragnb.ensemble import DataSplit, MetricEnsemble, XYData
from ragnb.ensemble.shift import LEVEL, SCORE, sample, shift_tests

QUICK = LogisticRegression()


@pytest.fixture(scope="module")
def made():
    return fitted(600, classifier=QUICK)


def by_test(table):
    return table.set_index("tested")


def drawn(rng, n_questions, per_question, share=0.6):
    """Responses of which those to one question have nearly the same metrics and mostly the same label."""
    y = (rng.random(n_questions) < share).astype(int)
    common = np.column_stack([y + rng.normal(size=n_questions) for _ in range(2)])
    X = common.repeat(per_question, axis=0) + 0.1 * rng.normal(size=(n_questions * per_question, 2))
    y = y.repeat(per_question) ^ (rng.random(len(X)) < 0.1)
    return XYData(
        pd.DataFrame(X, columns=["a", "b"]), y, np.arange(n_questions).repeat(per_question)
    )


def moved(data, by):
    """The same responses under other index labels and question names."""
    X = data.X.set_axis(data.X.index + by)
    return XYData(X, data.y.to_numpy(), (data.groups + by).to_numpy())


# ---- by other libraries ------------------------------------------------------------------------------------------------


def test_statistics_and_p_values_are_those_of_scipy(made):
    ensemble, split = made
    X = split.test.X + 0.3
    table = by_test(ensemble.check_shift(XYData(X, split.test.y)))
    assert table.index.tolist() == [*METRICS, "probability", SCORE]
    for name in METRICS:
        known = ks_2samp(split.calibration.X[name], X[name], method="asymp")
        assert table.loc[name, ["statistic", "p_value"]].tolist() == pytest.approx(
            [known.statistic, known.pvalue]
        )
    probability = {
        name: ensemble.decide(part)["probability"]
        for name, part in (("old", split.calibration.X), ("new", X))
    }
    known = ks_2samp(probability["old"], probability["new"])
    assert table.loc["probability", "statistic"] == pytest.approx(known.statistic)
    scores = [
        abs(label - p)
        for label, p in (
            (split.calibration.y, probability["old"]),
            (split.test.y, probability["new"]),
        )
    ]
    known = ks_2samp(*scores, alternative="greater", method="exact")
    assert table.loc[SCORE, "statistic"] == pytest.approx(known.statistic)
    assert table.loc[SCORE, "p_value"] == pytest.approx(
        known.pvalue, rel=0.3
    )  # of another approximation
    assert set(table["correction"]) == {"holm"}
    assert set(table["family_size"]) == {5}
    assert table[
        ["n_calibration", "n_new", "n_units_calibration", "n_units_new"]
    ].drop_duplicates().to_numpy().tolist() == [[120, 120, 120, 120]]


# ---- false alarms ------------------------------------------------------------------------------------------------------


def compared(data, named=True):
    """What an ensemble compares, with or without labels and questions; the probability is a function of the metrics."""
    probability = expit(data.X["a"] + data.X["b"] - 1).to_numpy()
    return sample(
        data.X, probability, *(data.y.to_numpy(), data.groups.to_numpy()) if named else ()
    )


@pytest.mark.parametrize(("per_question", "named"), [(1, True), (5, True), (5, False)])
def test_without_a_shift_false_alarms_are_no_more_often_than_stated(per_question, named):
    """The limits are the 99.9 % quantiles of the binomial distributions with the stated rates."""
    rng, trials, smallest = np.random.default_rng(0), 60, []
    for _ in range(trials):
        known, new = (
            compared(drawn(rng, 60, per_question)),
            compared(drawn(rng, 60, per_question), named),
        )
        table = shift_tests(known, new, by_class=False)
        assert table["family_size"].iloc[0] == 3 + named
        smallest.append(table["p_adjusted"].min())
    assert (np.array(smallest) <= 0.05).sum() <= binom.ppf(0.999, trials, 0.05)
    assert (np.array(smallest) < LEVEL).sum() <= binom.ppf(0.999, trials, LEVEL)


def test_new_responses_count_as_their_questions():
    rng = np.random.default_rng(2)
    training, calibration, new = (moved(drawn(rng, 60, 5), k * 10**6) for k in range(3))
    ensemble = MetricEnsemble(training, calibration, classifier=QUICK)
    units = ["n_units_calibration", "n_units_new"]
    assert ensemble.check_shift(new)[units].drop_duplicates().to_numpy().tolist() == [[60, 60]]
    assert ensemble.check_shift(new.X)[units].drop_duplicates().to_numpy().tolist() == [[60, 60]]
    once = XYData(new.X[::5], new.y[::5], new.groups[::5])  # one response to each question
    assert ensemble.check_shift(once)[units].drop_duplicates().to_numpy().tolist() == [[60, 60]]
    assert ensemble.check_shift(once.X)[units].drop_duplicates().to_numpy().tolist() == [[60, 12]]
    uneven = XYData(new.X[:100], new.y[:100], [0] * 50 + list(range(1, 51)))
    assert ensemble.check_shift(uneven)[units].to_numpy()[0].tolist() == [60, 100**2 / (50**2 + 50)]


# ---- what is found -----------------------------------------------------------------------------------------------------


def test_a_shift_is_found_and_predict_warns_once(made):
    ensemble, split = made
    X = split.test.X.assign(**{METRICS[0]: split.test.X[METRICS[0]] + 2})
    table = by_test(ensemble.check_shift(X))
    assert (table["p_adjusted"] < 0.001).to_dict() == dict(
        zip(table.index, [True, False, False, True], strict=True)
    )
    assert (
        table.loc[METRICS[0], "note"]
        == "The new responses are distributed differently from the calibration responses."
    )
    assert table.loc[METRICS[1], "note"] == "No difference at the level 0.001."
    for predict in (ensemble.predict, ensemble.decide):
        with pytest.warns(UserWarning, match="differ") as told:
            predict(X)
        assert len(told) == 1
        assert re.fullmatch(
            "The 120 new responses differ from the calibration responses in token_overlap_recall, probability "
            r"\(smallest adjusted p [<=] [^;]+; 4 Kolmogorov-Smirnov tests with Holm's correction\)\. "
            "The guarantee holds only for responses like those in the calibration set. "
            "Calibrate the ensemble on labelled responses of the new kind. check_shift shows the tests.",
            str(told[0].message),
        )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ensemble.predict(split.test.X)


def test_other_labels_of_like_features_are_found_only_with_the_labels(made):
    ensemble, split = made
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ensemble.predict(split.test.X)
    table = by_test(ensemble.check_shift(XYData(split.test.X, 1 - split.test.y)))
    assert table.index[table["p_adjusted"] < 0.001].tolist() == [SCORE]
    assert table.loc[SCORE, "test"] == "one-sided two-sample Kolmogorov-Smirnov"
    assert table.loc[SCORE, "note"] == (
        "The ensemble gives the true labels of the new responses lower probabilities than in calibration."
    )


def test_within_classes_another_share_of_labels_is_no_shift_of_the_true_labels():
    """The guarantee within classes allows it. The features differ, because correct answers have other ones."""
    by_class, _ = fitted(1500, classifier=QUICK, guarantee="class")
    X, y = metrics_and_labels(1500, seed=9, share=0.15)
    table = by_class.check_shift(XYData(X, y))
    scores = table[table["tested"] == SCORE]
    assert scores["label"].tolist() == [0, 1]
    assert (scores["p_value"] > 0.01).all()
    assert table.loc[0, "p_adjusted"] < 0.001


def test_groups_are_compared_each_with_itself():
    X, y = metrics_and_labels(2000)
    language = pd.Series(np.where(X[METRICS[2]] > 50, "en", "zh"), index=X.index)
    split = DataSplit(X, y, random_state=0)
    ensemble = MetricEnsemble(
        split.train, split.calibration, classifier=QUICK, groups=language[split.calibration.X.index]
    )
    more_english = split.test.X[language[split.test.X.index].eq("en") | (np.arange(400) < 120)]
    table = ensemble.check_shift(more_english, groups=language[more_english.index])
    assert set(table["group"]) == {"en", "zh"}
    assert (table["p_adjusted"] > 0.001).all()
    ungrouped = MetricEnsemble(split.train, split.calibration, classifier=QUICK)
    assert (ungrouped.check_shift(more_english)["p_adjusted"] < 0.001).any()
    longer = more_english.assign(
        **{METRICS[0]: more_english[METRICS[0]] + language[more_english.index].eq("zh") * 2}
    )
    with pytest.warns(UserWarning, match="differ from the calibration responses in"):
        ensemble.predict(longer, groups=language[more_english.index])
    table = ensemble.check_shift(longer, groups=language[more_english.index])
    assert set(table.loc[table["p_adjusted"] < 0.001, "group"]) == {"zh"}
    assert ensemble.check_shift(longer, groups=["ja"] * len(longer))["p_value"].isna().all()


# ---- few responses, and mistakes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 19])
def test_fewer_than_twenty_responses_are_not_tested(made, n):
    ensemble, split = made
    X = split.test.X[:n] + 1000
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ensemble.predict(X)
    table = ensemble.check_shift(X)
    assert table[["statistic", "p_value", "p_adjusted"]].isna().all(axis=None)
    assert set(table["note"]) == {
        "Not tested, because the test needs 20 independent responses on each side."
    }
