"""Answers that people judged: EVOUNA's Natural Questions, five systems, divided by question."""
# ruff: noqa: N806 (X and y are the names of the field)

import pytest

from ragnb.datasets.evouna import load_evouna
from ragnb.ensemble import DataSplit, MetricEnsemble, eval_prediction, feature_frame
from ragnb.scoring import score
from ragnb.stats.auroc import auroc

FEATURES = [
    "answer.contains",
    "answer.f1",
    "answer.precision",
    "answer.recall",
    "answer.rouge_l",
    "answer.exact_match",
    "rgb.accuracy",
]


@pytest.fixture(scope="module")
def split(data_folder):
    responses = load_evouna(data_folder / "evouna" / "NQ.json")
    responses = responses[~responses["improper"] & responses["verdict"].notna()]
    X = feature_frame(score(responses, FEATURES), responses=responses, missing="drop")
    assert len(responses) - len(X) == 1  # one response is missing
    kept = responses.loc[X.index]
    return DataSplit(X, kept["verdict"], groups=kept["question"].str.lower(), random_state=0)


@pytest.mark.data
def test_the_ensemble_is_better_than_any_metric(split):
    single = {name: auroc(split.test.y, split.test.X[name]).estimate for name in FEATURES}
    assert max(single, key=single.get) == "answer.recall"
    assert max(single.values()) == pytest.approx(0.93, abs=0.01)
    contains = eval_prediction(split.test.y, split.test.X["answer.contains"])["accuracy"]
    assert contains == pytest.approx(0.84, abs=0.01)

    ensemble = MetricEnsemble(split.train, split.calibration, random_state=0, class_weight=None)
    found = ensemble.decide(split.test.X)
    assert auroc(split.test.y, found["probability"]).estimate >= 0.94
    assert eval_prediction(split.test.y, found["label"])["accuracy"] >= 0.89
    covered = found["in_set_1"].where(split.test.y == 1, found["in_set_0"])
    assert covered.mean() == pytest.approx(0.9, abs=0.025)


@pytest.mark.data
def test_balanced_weights_rank_as_well_but_label_worse_and_class_sets_are_fair(split):
    ensemble = MetricEnsemble(split.train, split.calibration, random_state=0, guarantee="class")
    found = ensemble.decide(split.test.X)
    assert auroc(split.test.y, found["probability"]).estimate >= 0.94
    assert found["undecided"].mean() < 0.2
    covered = found["in_set_1"].where(split.test.y == 1, found["in_set_0"])
    for label in (0, 1):
        assert covered[split.test.y == label].mean() == pytest.approx(0.9, abs=0.04)
