"""What an ensemble refuses, each in one sentence."""
# ruff: noqa: N803, N806 (X and y are the names of the field)

import pandas as pd
import pytest
from ensemble.ensemble_frames import METRICS, fitted, metrics_and_labels
from sklearn.naive_bayes import GaussianNB

from ragnb.ensemble import BatchJudicator, DataSplit, MetricEnsemble, XYData
from ragnb.errors import InputError

QUICK = GaussianNB()


@pytest.fixture(scope="module")
def made():
    return fitted(600, classifier=QUICK)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0}, "alpha needs a number strictly between 0 and 1; it got 0"),
        ({"alpha": 1}, "alpha needs a number strictly between 0 and 1; it got 1"),
        ({"delta": 1.5}, "delta needs a number strictly between 0 and 1"),
        ({"guarantee": "90%"}, "guarantee needs one of 'marginal', 'class', 'decided'; it got '90%'"),
        ({"empty": "drop"}, "empty needs one of 'keep', 'fill'"),
        ({"probability_calibration": "platt"}, "probability_calibration needs one of 'sigmoid', 'isotonic'"),
        ({"classifier": "svm"}, "classifier needs a scikit-learn classifier with predict_proba; it got 'svm'"),
        ({"classifier": GaussianNB}, "pass an instance"),
        ({"groups": ["en"]}, r"groups needs one value a row of X \(80\); it got 1"),
        ({"groups": ["en", None] * 40}, "groups needs a group for every row; it got none in 40 rows"),
        (
            {"groups": ["en"] * 80, "guarantee": "decided"},
            "needs all responses together; it got groups; fit an ensemble for each",
        ),
    ],
)
def test_options_that_are_none(options, message):
    with pytest.raises(InputError, match=message):
        fitted(400, **{"classifier": QUICK} | options)


def parts(n=40, **changes):
    X, y = metrics_and_labels(n)
    split = DataSplit(X, y, random_state=0)
    return {"training": split.train, "calibration": split.calibration} | changes


def only(label, name):
    part = parts()[name]
    return XYData(part.X[part.y == label], part.y[part.y == label])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"training": only(1, "training")}, "training needs labels of both classes; it got no 0 among"),
        ({"calibration": only(0, "calibration")}, "calibration needs labels of both classes; it got no 1 among"),
        (
            {"calibration": parts()["training"]},
            "calibration needs responses that training has not seen; it got 24 index labels",
        ),
        ({"training": (1, 2)}, r"training needs an XYData; it got tuple; pass XYData\(X, y\)"),
        (
            {"calibration": XYData(parts()["calibration"].X[METRICS[:2]], parts()["calibration"].y)},
            "calibration needs the columns .*; X has no flesch_reading_ease; score these metrics too",
        ),
        (
            {"calibration": XYData(pd.concat([parts()["calibration"].X] * 2), [*parts()["calibration"].y] * 2)},
            "calibration needs an index label of its own for each response",
        ),
    ],
)
def test_parts_that_do_not_fit(changes, message):
    with pytest.raises(InputError, match=message):
        MetricEnsemble(**parts(**changes), classifier=QUICK)


def test_a_question_in_both_parts_is_refused():
    split = parts()
    with_groups = {name: XYData(part.X, part.y, [f"q{row % 5}" for row in range(len(part))]) for name, part in split.items()}
    with pytest.raises(InputError, match="it got 5 groups of training, such as 'q0'; divide one frame with DataSplit"):
        MetricEnsemble(**with_groups)


def test_too_few_responses_to_cross_validate():
    X = pd.DataFrame({"f1": [0.0, 1.0, 2.0]})
    with pytest.raises(InputError, match="Cross-validation needs both labels in two groups of training data; it got 1"):
        MetricEnsemble(XYData(X, [0, 0, 1]), XYData(X.set_axis([7, 8, 9]), [0, 1, 1]))


def test_calibration_with_features_in_another_order(made):
    _, split = made
    mixed = XYData(split.calibration.X[METRICS[::-1]], split.calibration.y)
    with pytest.raises(InputError, match="calibration needs the columns in the order of training"):
        MetricEnsemble(split.train, mixed)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: X.drop(columns=METRICS[1]), "predict needs the columns .* X has no deberta_answer_entailment"),
        (
            lambda X: X[METRICS[::-1]],
            rf"predict needs the columns in the order of training, {METRICS[0]}, .*; it got {METRICS[-1]}, .*"
            r"pass X\[list\(ensemble.features\)\]",
        ),
        (lambda X: X.to_numpy(), "X needs a pandas DataFrame"),
        (lambda X: X.mask(X > 60), r"X needs finite numbers; it got nan or infinite ones in flesch_reading_ease"),
        (
            lambda X: X.set_axis([0] * len(X)),
            "predict needs an index label of its own for each response; it got 0 more than once",
        ),
    ],
)
def test_features_that_do_not_fit(made, change, message):
    ensemble, split = made
    with pytest.raises(InputError, match=message):
        ensemble.predict(change(split.test.X))


def test_groups_at_prediction_are_those_of_calibration(made):
    ensemble, split = made
    grouped, _ = fitted(600, classifier=QUICK, groups=["en", "zh"] * 60)
    assert len(grouped.predict(split.test.X, groups=["zh"] * 120)[0]) == 120
    with pytest.raises(InputError, match=r"groups needs names that calibration has seen; it got \['hi'\]"):
        grouped.predict(split.test.X, groups=["hi"] * 120)
    with pytest.raises(InputError, match="A predictor calibrated with groups needs the same here; it got none"):
        grouped.predict(split.test.X)
    with pytest.raises(InputError, match="A predictor calibrated with no groups"):
        ensemble.predict(split.test.X, groups=["en"] * 120)


def test_a_judicator_that_gives_no_verdict_is_refused(made):
    ensemble, split = made
    with pytest.raises(InputError, match="A judicator needs to return True or False"):
        ensemble.predict(split.test.X, lambda label: "yes")
    with pytest.raises(InputError, match="needs one verdict for each of"):
        ensemble.predict(split.test.X, BatchJudicator(lambda labels: [True]))
