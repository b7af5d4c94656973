"""What the report says about metrics and the ensemble."""
# ruff: noqa: N806 (X and y are the names of the field)

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from support.ensemble_frames import METRICS, metrics_and_labels

from ragnb.ensemble import feature_report

QUICK = GaussianNB()


def test_the_report_has_a_row_per_metric_and_one_for_the_ensemble():
    X, y = metrics_and_labels(n=300)
    report = feature_report(X.assign(constant=1.0), y, random_state=0, classifier=QUICK)
    assert report.index.tolist() == [*METRICS, "constant", "ensemble", "more frequent label"]
    for name in METRICS:
        assert report.loc[name, "auc"] == pytest.approx(roc_auc_score(y, X[name]))
        assert report.loc[name, "auc_low"] < report.loc[name, "auc"] < report.loc[name, "auc_high"]
        assert report.loc[name, "correlation"] == pytest.approx(np.corrcoef(X[name], y)[0, 1])
    assert report.loc["constant", "note"] == "constant: always 1"
    assert report.loc["constant", ["auc", "accuracy", "correlation"]].isna().all()
    assert report.loc["ensemble", "auc"] > report.loc[METRICS, "auc"].max() - 0.02
    assert report.loc["more frequent label", "accuracy"] == pytest.approx(y.mean())
    assert report.loc[METRICS[0], "importance"] > report.loc[METRICS[1], "importance"] > 0.01
    assert abs(report.loc[METRICS[2], "importance"]) < 0.02


def test_the_accuracy_of_a_metric_is_that_of_one_threshold():
    """By simulation: with normal metrics 1.5 units apart and shares .6 and .4, the best threshold is right for .782."""
    X, y = metrics_and_labels(n=3000)
    report = feature_report(X[METRICS[:1]], y, random_state=0, classifier=QUICK)
    cuts = np.linspace(-2, 4, 601)
    best = max(((X[METRICS[0]] >= cut) == y).mean() for cut in cuts)
    assert report.loc[METRICS[0], "accuracy"] == pytest.approx(best, abs=0.02)
    assert report.loc["ensemble", "accuracy"] == pytest.approx(best, abs=0.02)


def test_the_interval_of_the_auroc_counts_groups():
    X, y = metrics_and_labels(n=120)
    copies, question = [*range(120)] * 3, [*range(120)] * 3
    X3, y3 = X.iloc[copies].reset_index(drop=True), y.iloc[copies].reset_index(drop=True)
    once = feature_report(X, y, range(120), random_state=0, classifier=QUICK).loc[METRICS]
    thrice = feature_report(X3, y3, question, random_state=0, classifier=QUICK).loc[METRICS]
    assert thrice["auc"].tolist() == pytest.approx(once["auc"].tolist())
    for end in ("auc_low", "auc_high"):
        assert thrice[end].tolist() == pytest.approx(once[end].tolist(), abs=0.01)


def test_held_out_groups_reveal_what_a_model_memorised_about_a_group():
    """A value that identifies the question predicts its answers within the question, and nothing beyond."""
    rng = np.random.default_rng(0)
    question = np.repeat(np.arange(60), 5)
    X = pd.DataFrame({"length": question * 1.0, "noise": 0.0})
    y = np.repeat(rng.permutation([0, 1] * 30), 5)
    nearest = KNeighborsClassifier(1)
    assert feature_report(X, y, classifier=nearest, random_state=0).loc["ensemble", "auc"] > 0.95
    assert (
        feature_report(X, y, question, classifier=nearest, random_state=0).loc["ensemble", "auc"]
        < 0.7
    )
