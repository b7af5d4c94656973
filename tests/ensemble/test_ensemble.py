"""The ensemble: what it predicts, what it guarantees, whom it asks, and common mistakes."""
# ruff: noqa: N806 (X and y are the names of the field)

import inspect
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from support.ensemble_frames import METRICS, fitted, metrics_and_labels

from ragnb.ensemble import (
    BatchJudicator,
    DataSplit,
    EnsembleMetric,
    MetricEnsemble,
    XYData,
    eval_prediction,
)
from ragnb.ensemble.ensemble import STRENGTHS, verdicts_of
from ragnb.errors import InputError

QUICK = GaussianNB()


@pytest.fixture(scope="module")
def made():
    return fitted(600, classifier=QUICK, alpha=0.1)


def abstentions(y_set):
    return y_set.sum(axis=1) != 1


# ---- the example of continuous-eval ------------------------------------------------------------------------------------


def test_the_lines_of_the_original_example_run_unchanged(capsys, monkeypatch):
    from ragnb.ensemble import DataSplit, SplitRatios, eval_prediction

    seeded = np.random.default_rng(0)  # the example names no seed
    monkeypatch.setattr(
        np.random,
        "default_rng",
        lambda seed=None: seeded if seed is None else np.random.Generator(np.random.PCG64(seed)),
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
    assert asked == datasplit.test.X.index[abstentions(y_set)].tolist()
    assert eval_prediction(datasplit.test.y, y_hat)["accuracy"] > 0.8
    assert MetricEnsemble is EnsembleMetric


def test_the_original_parameters_come_first():
    first = list(inspect.signature(EnsembleMetric).parameters.values())[:4]
    names = ["training", "calibration", "alpha", "random_state"]
    assert [parameter.name for parameter in first] == names
    assert first[2].default == 0.1


# ---- prediction --------------------------------------------------------------------------------------------------------


def test_the_columns_of_decide_agree_with_each_other(made):
    ensemble, split = made
    by_class = fitted(guarantee="class", classifier=QUICK)[0]
    for found in (ensemble.decide(split.test.X), by_class.decide(split.test.X)):
        assert found.index.equals(split.test.X.index)
        assert (found["in_set_1"] == (found["p_value_1"] > 0.1)).all()
        assert (found["abstained"] == (found["in_set_0"] == found["in_set_1"])).all()
        accepted = found[~found["abstained"]]
        assert (accepted["y_hat"] == accepted["in_set_1"]).all()
        others = found[found["abstained"]]
        assert (others["y_hat"] == (others["probability"] > 0.5)).all()
        assert not found["deferred"].any()
        assert found["judged"].isna().all()
        assert (found["label"] == found["y_hat"]).all()


def test_an_empty_set_is_an_abstention():
    ensemble, split = fitted(600, classifier=QUICK, alpha=0.5)
    found = ensemble.decide(split.test.X)
    empty = ~found["in_set_0"] & ~found["in_set_1"]
    assert empty.any()
    assert found["abstained"][empty].all()


def test_a_judicator_decides_abstentions_and_the_sets_stay(made):
    ensemble, split = made
    plain = ensemble.decide(split.test.X)
    assert plain["abstained"].sum() > 3
    asked = []
    judged = ensemble.decide(
        split.test.X, lambda label: asked.append(label) or bool(split.test.y[label])
    )
    assert asked == plain.index[plain["abstained"]].tolist()
    pd.testing.assert_frame_equal(judged[plain.columns[:7]], plain[plain.columns[:7]])
    assert (judged["deferred"] == judged["abstained"]).all()
    assert (judged["label"] == judged["judged"].fillna(judged["y_hat"])).all()
    assert (judged["label"] == split.test.y)[judged["abstained"]].all()
    y_hat, y_set = ensemble.predict(split.test.X, lambda label: bool(split.test.y[label]))
    assert (y_hat == judged["label"]).all()
    assert (abstentions(y_set) == plain["abstained"]).all()


def test_without_a_verdict_the_label_of_the_ensemble_stays(made):
    ensemble, split = made
    found = ensemble.decide(
        split.test.X, BatchJudicator(lambda labels: [None, *[True] * (len(labels) - 1)])
    )
    first = found[found["abstained"]].iloc[0]
    assert first["deferred"]
    assert first["judged"] is pd.NA
    assert first["label"] == first["y_hat"]
    assert found["deferred"].sum() - found["judged"].notna().sum() == 1


# ---- judicators --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "verdict"), [(np.bool_(False), False), (1, True), (None, None)])
def test_verdicts(value, verdict):
    assert verdicts_of(lambda label: value, ["a"]) == [verdict]
    assert verdicts_of(BatchJudicator(lambda labels: [value] * len(labels)), ["a"]) == [verdict]


@pytest.mark.parametrize("given", [["yes"], [0.7], [True, True]])
def test_other_verdicts_and_other_numbers_of_them_are_refused(given):
    with pytest.raises(InputError, match="True, False or None for each response"):
        verdicts_of(BatchJudicator(lambda labels: given), ["a"])


# ---- the classifier ----------------------------------------------------------------------------------------------------


def test_the_default_is_a_logistic_regression_from_the_grid():
    ensemble, split = fitted(200)
    model = ensemble.classifier["model"]
    assert model.C in STRENGTHS
    assert model.solver == "liblinear"
    assert model.class_weight == "balanced"
    again = MetricEnsemble(split.train, split.calibration, random_state=0)
    pd.testing.assert_frame_equal(again.decide(split.test.X), ensemble.decide(split.test.X))


# ---- guarantees --------------------------------------------------------------------------------------------------------


def covered(frame, y):
    return frame["in_set_1"].where(y == 1, frame["in_set_0"]).astype(float)


def test_each_guarantee_holds_where_it_should():
    X, y = metrics_and_labels(6000, seed=1, share=0.8)
    language = pd.Series(np.where(X[METRICS[2]] > 50, "en", "zh"), index=X.index)
    X = X.assign(**{METRICS[0]: X[METRICS[0]].where(language == "en", -X[METRICS[0]])})
    split = DataSplit(X, y, random_state=0)
    parts, test = (split.train, split.calibration), split.test
    tongue = language.loc[test.X.index]

    marginal = covered(MetricEnsemble(*parts, classifier=QUICK).decide(test.X), test.y)
    assert abs(marginal.mean() - 0.9) < 0.03
    assert marginal[test.y == 0].mean() < 0.75  # at the expense of the rarer class
    by_class = covered(
        MetricEnsemble(*parts, classifier=QUICK, guarantee="class").decide(test.X), test.y
    )
    for label in (0, 1):
        assert abs(by_class[test.y == label].mean() - 0.9) < 0.08
    known = language.loc[split.calibration.X.index]
    by_both = MetricEnsemble(*parts, classifier=QUICK, guarantee="class", groups=known)
    grouped = covered(by_both.decide(test.X, groups=tongue), test.y)
    for _, shares in grouped.groupby([tongue, test.y]):
        assert abs(shares.mean() - 0.9) < 0.12  # 4 standard deviations of the rarest
    assert by_both.coverage()[["group", "label"]].values.tolist() == [
        ["en", 0],
        ["en", 1],
        ["zh", 0],
        ["zh", 1],
    ]


@pytest.mark.slow
@pytest.mark.parametrize("guarantee", ["marginal", "class"])
def test_mean_coverage_over_calibrations_is_that_of_the_distribution(guarantee):
    excess = []
    for seed in range(600):
        X, y = metrics_and_labels(500, seed=seed, share=0.75)
        split = DataSplit(X, y, random_state=seed)
        ensemble = MetricEnsemble(
            split.train, split.calibration, classifier=QUICK, guarantee=guarantee
        )
        found = covered(ensemble.decide(split.test.X), split.test.y)
        concerned = found if guarantee == "marginal" else found[split.test.y == 0]
        excess.append(concerned.mean() - ensemble.coverage()["mean"].iloc[0])
    assert abs(np.mean(excess)) < 4 * np.std(excess) / math.sqrt(600)


def test_the_selective_risk_is_controlled():
    ensemble, split = fitted(4000, classifier=QUICK, guarantee="selective", alpha=0.1, delta=0.1)
    found = ensemble.decide(split.test.X)
    accepted = ~found["abstained"]
    assert 0.2 < accepted.mean() < 0.95
    assert (found["label"] != split.test.y)[accepted].mean() < 0.1
    assert (found["in_set_0"] & found["in_set_1"])[~accepted].all()
    assert (
        "at most 0.1 of the labels that the ensemble accepts for new responses like these are wrong"
        in repr(ensemble)
    )


def test_if_no_confidence_suffices_no_label_is_accepted_and_the_summary_says_so():
    ensemble, split = fitted(100, classifier=QUICK, guarantee="selective", alpha=0.01)
    assert "No label is accepted, because no confidence threshold" in ensemble.summary()
    with pytest.warns(RuntimeWarning, match="No label is accepted"):
        assert ensemble.decide(split.test.X)["abstained"].all()


def test_the_summary_names_the_guarantee(made):
    assert repr(made[0]) == (
        "MetricEnsemble of 3 metrics, calibrated on 120 responses: averaged over many calibrations, the prediction sets "
        "of at least 0.9 of new responses contain the correct label, provided that new responses are like these. This is "
        "no guarantee for a single response, nor for the accepted labels alone."
    )
    grouped = fitted(600, classifier=QUICK, guarantee="class", groups=["en", "zh"] * 60)[0]
    assert "new responses of each class in each group contain" in grouped.summary()


def test_too_few_calibration_responses_are_reported_with_the_minimum():
    split = DataSplit(*metrics_and_labels(40), random_state=0)
    ensemble = MetricEnsemble(split.train, split.calibration, classifier=QUICK, guarantee="class")
    assert (
        ensemble.coverage()["warning"].str.contains("needs at least 9 calibration items, got").all()
    )
    assert "(all, 0: alpha = 0.1 needs at least 9 calibration items, got" in ensemble.summary()
    with pytest.warns(RuntimeWarning, match="needs at least 9 calibration items"):
        assert ensemble.predict(split.test.X)[1].all()


# ---- mistakes ----------------------------------------------------------------------------------------------------------


def test_mistakes(made):
    ensemble, split = made
    one_label = split.calibration.take((split.calibration.y == 0).to_numpy())
    with pytest.raises(InputError, match=r"set needs labels of both classes, got only \[0\]"):
        MetricEnsemble(split.train, one_label)
    with pytest.raises(InputError, match="must not have a response or group in common, got .* in"):
        MetricEnsemble(split.train, split.train)
    asked = [
        XYData(part.X, part.y, [f"q{row % 5}" for row in range(len(part))])
        for part in (split.train, split.calibration)
    ]
    with pytest.raises(InputError, match="in common, got 'q0' in both"):
        MetricEnsemble(*asked)
    with pytest.raises(InputError, match="does not accept groups; fit one ensemble for each"):
        fitted(400, classifier=QUICK, groups=["en"] * 80, guarantee="selective")
    with pytest.raises(InputError, match="without deberta_answer_entailment"):
        ensemble.predict(split.test.X.drop(columns=METRICS[1]))
    with pytest.raises(InputError, match="got NaN or infinite values in flesch_reading_ease"):
        ensemble.predict(split.test.X.mask(split.test.X > 60))
    with pytest.raises(InputError, match="predict needs unique index labels, got 0 twice"):
        ensemble.predict(split.test.X.set_axis([0] * len(split.test)))


def test_groups_at_prediction_are_those_of_the_calibration(made):
    ensemble, split = made
    grouped, _ = fitted(600, classifier=QUICK, groups=["en", "zh"] * 60)
    assert len(grouped.predict(split.test.X, groups=["zh"] * 120)[0]) == 120
    for each, groups in ((grouped, ["hi"] * 120), (grouped, None), (ensemble, ["en"] * 120)):
        with pytest.raises(InputError, match="groups must be among those of the calibration data"):
            each.predict(split.test.X, groups=groups)


# ---- evaluation --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "published"),
    [
        (
            (42, 10, 31, 152),
            (0.9382716049382716, 0.8306010928961749, 0.881159420289855, 0.825531914893617),
        ),
        (
            (43, 9, 24, 159),
            (0.9464285714285714, 0.8688524590163934, 0.9059829059829059, 0.8595744680851064),
        ),
    ],
)
def test_the_published_tables_give_the_published_figures(table, published):
    """Both runs of continuous-eval's documented example, 235 answers each."""
    tn, fp, fn, tp = table
    found = eval_prediction(
        [0] * (tn + fp) + [1] * (fn + tp), [0] * tn + [1] * fp + [0] * fn + [1] * tp
    )
    assert [found[name] for name in ("precision", "recall", "f1", "accuracy")] == pytest.approx(
        published, abs=1e-15
    )
    assert found["confusion_matrix"].tolist() == [list(table[:2]), list(table[2:])]
    assert list(found) == ["precision", "recall", "f1", "accuracy", "confusion_matrix"]


def test_shares_of_nothing_are_undefined():
    found = eval_prediction([0, 0], [0, 0])
    assert np.isnan([found[name] for name in ("precision", "recall", "f1")]).all()
    assert found["confusion_matrix"].tolist() == [[2, 0], [0, 0]]


def test_series_are_aligned_by_their_index_labels():
    y = pd.Series([1, 0], index=["a", "b"])
    assert eval_prediction(y, pd.Series({"b": 0, "a": 1}))["accuracy"] == 1
    assert eval_prediction(y, np.array([1, 0]))["accuracy"] == 1
    assert eval_prediction([1, 0], y)["accuracy"] == 1
    with pytest.raises(InputError, match="y_hat must have one value per row"):
        eval_prediction(y, [1])
