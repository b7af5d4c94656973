"""The ensemble: what it predicts, what it promises, whom it asks, and what it refuses."""
# ruff: noqa: N806 (X and y are the names of the field)

import doctest
import math

import numpy as np
import pandas as pd
import pytest
from ensemble.ensemble_frames import METRICS, fitted, metrics_and_labels
from scipy.stats import beta
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from ragnb.conformal.predictor import undecided
from ragnb.ensemble import (
    BatchJudicator,
    DataSplit,
    EnsembleMetric,
    MetricEnsemble,
    XYData,
    escalation_curve,
    metric_ensemble,
)
from ragnb.ensemble.classifier import STRENGTHS
from ragnb.errors import InputError

QUICK = GaussianNB()


@pytest.fixture(scope="module")
def made():
    return fitted(600, classifier=QUICK, alpha=0.1)


def test_examples_in_docstrings():
    assert doctest.testmod(metric_ensemble).failed == 0


# ---- the original's example --------------------------------------------------------------------------------------------


def test_the_lines_of_the_original_example_run_unchanged(capsys, monkeypatch):
    from ragnb.ensemble import DataSplit, SplitRatios, eval_prediction

    one = np.random.default_rng(0)  # the example names none, and 3 splits of 40 reach no more than .8
    monkeypatch.setattr(
        np.random, "default_rng", lambda seed=None: one if seed is None else np.random.Generator(np.random.PCG64(seed))
    )
    X, y = metrics_and_labels(n=300)
    dataset = {"annotation": ["correct" if label else "incorrect" for label in y]}
    X = X.reset_index(drop=True).assign(deberta_answer_contradiction=0.5, unused="text")

    y = map(lambda x: 1 if x == "correct" else 0, dataset["annotation"])  # noqa: C417
    datasplit = DataSplit(
        X=X,
        y=y,
        split_ratios=SplitRatios(train=0.6, test=0.2, calibration=0.2),
        features=[
            "token_overlap_recall",
            "deberta_answer_entailment",
            "deberta_answer_contradiction",
            "flesch_reading_ease",
        ],
        oversample=True,
    )
    predictor = EnsembleMetric(training=datasplit.train, calibration=datasplit.calibration)
    print("Running predictor (without judicator)")
    y_hat, y_set = predictor.predict(datasplit.test.X)
    num_undecided = np.sum(np.all(y_set, axis=1))
    print(eval_prediction(datasplit.test.y, y_hat))
    print(f"Undecided: {num_undecided} ({num_undecided / len(y_set):.2%})")

    asked = []

    def judicator(idx):
        asked.append(idx)
        return dataset["annotation"][idx] == "correct"

    y_hat, _ = predictor.predict(datasplit.test.X, judicator=judicator)
    print(eval_prediction(datasplit.test.y, y_hat))

    assert "Undecided: " in capsys.readouterr().out
    assert y_set.shape == (60, 2)
    assert asked == datasplit.test.X.index[undecided(y_set)].tolist()
    assert eval_prediction(datasplit.test.y, y_hat)["accuracy"] > 0.8
    assert MetricEnsemble is EnsembleMetric


# ---- prediction --------------------------------------------------------------------------------------------------------


def test_sets_follow_the_rank_rule_on_the_calibration_part(made):
    ensemble, split = made
    inside = ensemble.classifier.predict_proba(split.calibration.X)
    strange = np.sort(1 - inside[np.arange(120), split.calibration.y])
    threshold = strange[math.ceil(121 * 9 / 10) - 1]
    _, y_set = ensemble.predict(split.test.X)
    assert (y_set == (1 - ensemble.classifier.predict_proba(split.test.X) <= threshold)).all()


def test_everything_said_of_a_response_agrees_with_itself(made):
    ensemble, split = made
    for found in (ensemble.decide(split.test.X), fitted(guarantee="class", classifier=QUICK)[0].decide(split.test.X)):
        assert found.index.equals(split.test.X.index)
        assert (found["in_set_1"] == (found["p_value_1"] > 0.1)).all()
        assert (found["undecided"] == (found["in_set_0"] == found["in_set_1"])).all()
        sure = found[~found["undecided"]]
        assert (sure["y_hat"] == sure["in_set_1"]).all()
        unsure = found[found["undecided"]]
        assert (unsure["y_hat"] == (unsure["probability"] > 0.5)).all()
        assert not found["escalated"].any()
        assert found["judged"].isna().all()
        assert (found["label"] == found["y_hat"]).all()


def test_at_one_half_the_label_is_that_of_scikit_learn_s_predict_here_and_in_the_curve():
    frame, y = pd.DataFrame({"f": np.arange(40.0)}), [0, 1] * 20
    parts = XYData(frame[:20], y[:20]), XYData(frame[20:], y[20:])
    ensemble = MetricEnsemble(*parts, classifier=DummyClassifier(strategy="prior"))
    found = ensemble.decide(frame)
    assert set(found["probability"]) == {0.5}
    assert found["y_hat"].tolist() == ensemble.classifier.predict(frame).tolist() == [0] * 40
    curve = escalation_curve([1] * 10 + [0] * 30, found["probability"].to_numpy(), [1] * 40)
    assert curve.loc[0, "accuracy"] == 30 / 40


def test_y_set_has_one_shape_for_any_number_of_rows_with_and_without_judicator(made):
    ensemble, split = made
    for n in (0, 1, 5):
        for judicator in (None, lambda label: True, BatchJudicator(lambda labels: [True] * len(labels))):
            y_hat, y_set = ensemble.predict(split.test.X.iloc[:n], judicator)
            assert y_hat.shape == (n,)
            assert y_set.shape == (n, 2)
            assert y_set.dtype == bool
            assert y_hat.dtype == np.int64
    assert ensemble.predict(pd.DataFrame(columns=METRICS))[1].shape == (0, 2)


def test_a_judicator_decides_what_is_undecided_and_the_sets_stay(made):
    ensemble, split = made
    plain = ensemble.decide(split.test.X)
    assert plain["undecided"].sum() > 3
    asked = []
    judged = ensemble.decide(split.test.X, lambda label: asked.append(label) or bool(split.test.y[label]))
    assert asked == plain.index[plain["undecided"]].tolist()
    pd.testing.assert_frame_equal(judged[plain.columns[:7]], plain[plain.columns[:7]])
    assert (judged["escalated"] == judged["undecided"]).all()
    assert (judged["label"] == judged["judged"].fillna(judged["y_hat"])).all()
    assert (judged["label"] == split.test.y)[judged["undecided"]].all()
    y_hat, y_set = ensemble.predict(split.test.X, lambda label: bool(split.test.y[label]))
    assert (y_hat == judged["label"]).all()
    assert (undecided(y_set) == plain["undecided"]).all()


def test_without_a_verdict_the_best_effort_stays_and_is_counted(made):
    ensemble, split = made
    found = ensemble.decide(split.test.X, BatchJudicator(lambda labels: [None, *[True] * (len(labels) - 1)]))
    first = found[found["undecided"]].iloc[0]
    assert first["escalated"]
    assert first["judged"] is pd.NA
    assert first["label"] == first["y_hat"]
    assert found["escalated"].sum() - found["judged"].notna().sum() == 1


def test_empty_sets_are_undecided_and_can_be_filled():
    options = {"classifier": QUICK, "alpha": 0.4}
    kept, split = fitted(600, **options)
    filled, _ = fitted(600, empty="fill", **options)
    found = kept.decide(split.test.X)
    neither = ~found["in_set_0"] & ~found["in_set_1"]
    assert neither.sum() > 3
    assert found["undecided"][neither].all()
    again = filled.decide(split.test.X)
    assert not again["undecided"].any()
    assert (again["label"] == found["y_hat"]).all()


def test_columns_that_are_no_features_are_left_alone(made):
    ensemble, split = made
    wider = split.test.X.copy()
    wider.insert(1, "other", "text")
    assert (ensemble.predict(wider)[0] == ensemble.predict(split.test.X)[0]).all()


def test_a_row_is_judged_by_itself(made):
    ensemble, split = made
    together = ensemble.decide(split.test.X)
    alone = pd.concat([ensemble.decide(split.test.X.iloc[[row]]) for row in range(10)])
    pd.testing.assert_frame_equal(alone, together.iloc[:10])


# ---- the classifier ----------------------------------------------------------------------------------------------------


def test_the_default_is_a_logistic_regression_out_of_the_grid():
    ensemble, split = fitted(200)
    model = ensemble.classifier["model"]
    assert model.C in STRENGTHS
    assert model.solver == "liblinear"
    assert model.class_weight == "balanced"
    again = MetricEnsemble(split.train, split.calibration, random_state=0)
    pd.testing.assert_frame_equal(again.decide(split.test.X), ensemble.decide(split.test.X))


def test_a_forest_without_a_seed_gets_ours():
    first, split = fitted(200, classifier=RandomForestClassifier(8))
    again, _ = fitted(200, classifier=RandomForestClassifier(8))
    pd.testing.assert_frame_equal(first.decide(split.test.X), again.decide(split.test.X))
    own, _ = fitted(200, classifier=RandomForestClassifier(8, random_state=9))
    assert own.classifier.random_state == 9


def test_the_given_classifier_is_left_unfitted():
    classifier = GaussianNB()
    fitted(200, classifier=classifier)
    assert not hasattr(classifier, "classes_")


def test_a_classifier_without_probabilities_needs_calibration():
    with pytest.raises(InputError, match="classifier needs a scikit-learn classifier with predict_proba; it got LinearSVC"):
        fitted(200, classifier=LinearSVC())
    ensemble, split = fitted(200, classifier=LinearSVC(), probability_calibration="sigmoid")
    assert ensemble.decide(split.test.X)["probability"].between(0, 1).all()


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibrated_probabilities_undo_what_balanced_weights_do(method):
    X, y = metrics_and_labels(1500, share=0.9)
    split = DataSplit(X, y, random_state=0)
    balanced = LogisticRegression(class_weight="balanced")
    raw, mended = (
        MetricEnsemble(split.train, split.calibration, classifier=balanced, random_state=0, probability_calibration=how)
        for how in (None, method)
    )
    before, after = (ensemble.decide(split.test.X)["probability"] for ensemble in (raw, mended))
    assert log_loss(split.test.y, after) < log_loss(split.test.y, before)
    assert abs(after.mean() - y.mean()) < 0.03 < abs(before.mean() - y.mean())


def test_what_oversampling_costs():
    """As with balanced weights probabilities and labels drift to the rarer label; the sets promise what they did."""
    X, y = metrics_and_labels(3000, share=0.85)
    found = {}
    for name, oversample, weight in (("plain", False, None), ("weights", False, "balanced"), ("copies", True, None)):
        split = DataSplit(X, y, random_state=0, oversample=oversample)
        classifier = LogisticRegression(class_weight=weight)
        decided = MetricEnsemble(split.train, split.calibration, classifier=classifier).decide(split.test.X)
        found[name] = decided.assign(y=split.test.y)
    share = {name: frame["probability"].mean() for name, frame in found.items()}
    accuracy = {name: (frame["y_hat"] == frame["y"]).mean() for name, frame in found.items()}
    covered = {name: frame["in_set_1"].where(frame["y"] == 1, frame["in_set_0"]).mean() for name, frame in found.items()}
    assert abs(share["plain"] - 0.85) < 0.02
    assert abs(share["copies"] - share["weights"]) < 0.02
    assert share["copies"] < 0.75
    assert accuracy["copies"] < accuracy["plain"] - 0.02
    assert all(0.87 < value < 0.93 for value in covered.values())


# ---- what is promised --------------------------------------------------------------------------------------------------


def covered(frame, y):
    return frame["in_set_1"].where(y == 1, frame["in_set_0"]).astype(float)


def test_each_guarantee_holds_where_it_is_promised():
    X, y = metrics_and_labels(6000, seed=1, share=0.8)
    language = pd.Series(np.where(X[METRICS[2]] > 50, "en", "zh"), index=X.index)
    X = X.assign(**{METRICS[0]: X[METRICS[0]].where(language == "en", -X[METRICS[0]])})
    split = DataSplit(X, y, random_state=0)
    parts, test = (split.train, split.calibration), split.test
    tongue = language.loc[test.X.index]

    marginal = covered(MetricEnsemble(*parts, classifier=QUICK).decide(test.X), test.y)
    assert abs(marginal.mean() - 0.9) < 0.03
    assert marginal[test.y == 0].mean() < 0.75  # the rarer class pays
    by_class = covered(MetricEnsemble(*parts, classifier=QUICK, guarantee="class").decide(test.X), test.y)
    for label in (0, 1):
        assert abs(by_class[test.y == label].mean() - 0.9) < 0.08
    known = language.loc[split.calibration.X.index]
    by_both = MetricEnsemble(*parts, classifier=QUICK, guarantee="class", groups=known)
    grouped = covered(by_both.decide(test.X, groups=tongue), test.y)
    for _, shares in grouped.groupby([tongue, test.y]):
        assert abs(shares.mean() - 0.9) < 0.12  # 4 standard deviations of the rarest
    assert by_both.coverage()[["group", "label"]].values.tolist() == [["en", 0], ["en", 1], ["zh", 0], ["zh", 1]]


@pytest.mark.slow
@pytest.mark.parametrize("guarantee", ["marginal", "class"])
def test_coverage_over_calibrations_is_that_of_the_law(guarantee):
    excess = []
    for seed in range(600):
        X, y = metrics_and_labels(500, seed=seed, share=0.75)
        split = DataSplit(X, y, random_state=seed)
        ensemble = MetricEnsemble(split.train, split.calibration, classifier=QUICK, guarantee=guarantee)
        found = covered(ensemble.decide(split.test.X), split.test.y)
        concerned = found if guarantee == "marginal" else found[split.test.y == 0]
        excess.append(concerned.mean() - ensemble.coverage()["mean"].iloc[0])
    assert abs(np.mean(excess)) < 4 * np.std(excess) / math.sqrt(600)


def test_the_error_among_the_decided_is_controlled():
    ensemble, split = fitted(4000, classifier=QUICK, guarantee="decided", alpha=0.1, delta=0.1)
    found = ensemble.decide(split.test.X)
    decided = ~found["undecided"]
    assert 0.2 < decided.mean() < 0.95
    assert (found["label"] != split.test.y)[decided].mean() < 0.1
    assert (found["in_set_0"] & found["in_set_1"])[~decided].all()
    assert (
        "with probability at least 0.9 over calibrations, at most 0.1 of the labels that it decides itself are wrong"
        in repr(ensemble)
    )


def test_where_no_confidence_will_do_nothing_is_decided_and_that_is_said():
    ensemble, split = fitted(100, classifier=QUICK, guarantee="decided", alpha=0.01)
    assert "Nothing is decided: no confidence keeps the error to alpha = 0.01" in ensemble.summary()
    with pytest.warns(RuntimeWarning, match="Nothing is decided"):
        assert ensemble.decide(split.test.X)["undecided"].all()


def test_coverage_is_the_beta_law(made):
    ensemble, _ = made
    row = ensemble.coverage().iloc[0].to_dict()
    law = beta(109, 12)
    assert row == pytest.approx(
        {
            "group": "all",
            "label": "all",
            "n": 120,
            "rank": 109,
            "mean": 109 / 121,
            "low": law.ppf(0.05),
            "high": law.ppf(0.95),
        }
        | {"warning": ""}
    )


def test_the_sentence_says_what_is_promised_and_what_is_not(made):
    assert repr(made[0]) == (
        "MetricEnsemble of 3 metrics, calibrated on 120 responses: the sets of at least 0.9 of new responses like these hold "
        "their label, on average over calibrations; this is no promise about a single answer, nor about the decided ones alone"
    )
    names = ["en", "zh"] * 60
    grouped = fitted(600, classifier=QUICK, guarantee="class", groups=names)[0]
    assert "new responses like these of each class in each group hold" in grouped.summary()


def test_too_few_calibration_responses_are_said_with_the_minimum():
    X, y = metrics_and_labels(40)
    split = DataSplit(X, y, random_state=0)
    ensemble = MetricEnsemble(split.train, split.calibration, classifier=QUICK, guarantee="class")
    few = ensemble.coverage()
    assert few["warning"].str.contains("needs at least 9 calibration items; it got").all()
    assert "(all, 0: alpha = 0.1 needs at least 9 calibration items; it got" in ensemble.summary()
    with pytest.warns(RuntimeWarning, match="needs at least 9 calibration items"):
        assert ensemble.predict(split.test.X)[1].all()
