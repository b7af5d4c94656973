"""From long scores to features, and what the features tell."""
# ruff: noqa: N806 (X and y are the names of the field)

import math

import numpy as np
import pandas as pd
import pytest
from ensemble.ensemble_frames import METRICS, metrics_and_labels
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from ragnb.ensemble import feature_frame, feature_report
from ragnb.ensemble.report import best_threshold
from ragnb.errors import InputError
from ragnb.scoring import score

QUICK = GaussianNB()


def responses(**columns):
    basis = {
        "example_id": ["q/1", "q/1", "q/2", "q/2"],
        "system": ["big", "small"] * 2,
        "language": ["en", "en", "zh", "zh"],
        "references": [[["Oslo"]], [["Oslo"]], [["北京"]], [["北京"]]],
        "response": ["It is Oslo.", "Bergen", "北京", "不知道"],
    }
    return pd.DataFrame(basis | columns, index=["a", "b", "c", "d"])


# ---- feature_frame -----------------------------------------------------------------------------------------------------


def test_scores_become_one_row_a_response_and_one_column_a_metric():
    X = feature_frame(score(responses(), ["rgb.accuracy", "answer.f1"]))
    assert list(X) == ["rgb.accuracy", "answer.f1"]
    assert X["rgb.accuracy"].tolist() == [1, 0, 1, 0]
    assert X.index.tolist() == [0, 1, 2, 3]  # positions in the responses frame


def test_with_the_responses_their_index_labels_are_kept():
    X = feature_frame(score(responses(), ["rgb.accuracy", "answer.f1"]), responses=responses())
    assert X.index.tolist() == ["a", "b", "c", "d"]
    assert X.loc["c", "answer.f1"] == 1


@settings(max_examples=10)
@given(st.permutations(range(8)))
def test_the_order_of_the_scores_changes_nothing_but_the_order_of_columns(order):
    scores = score(responses(), ["rgb.accuracy", "answer.recall"])
    X = feature_frame(scores.iloc[list(order)], responses=responses())
    pd.testing.assert_frame_equal(X[["rgb.accuracy", "answer.recall"]], feature_frame(scores, responses=responses()))


def test_every_column_but_those_of_the_metric_tells_responses_apart():
    frame = pd.concat([responses(noise_rate=rate, repeat=k) for rate in (0.2, math.nan) for k in (0, 1)])
    X = feature_frame(score(frame, ["rgb.accuracy", "answer.f1"]))
    assert len(X) == 16
    assert X["rgb.accuracy"].tolist() == [1, 0, 1, 0] * 4


def test_columns_of_lists_tell_responses_apart_too():
    frame = responses(tags=[["x"], ["x"], ["y"], []])
    assert len(feature_frame(score(frame, "rgb.accuracy"))) == 4


def test_explained_scores_give_the_same_features():
    metrics = ["rgb.accuracy", "answer.f1"]
    pd.testing.assert_frame_equal(
        feature_frame(score(responses(), metrics, explain=True)), feature_frame(score(responses(), metrics))
    )


def test_variants_of_a_metric_get_names_of_their_own():
    both = [score(responses(), "rgb.accuracy", protocol=protocol) for protocol in ("paper", "flexible")]
    X = feature_frame(pd.concat([*both, score(responses(), "answer.f1")]))
    assert list(X) == ["rgb.accuracy|protocol:paper", "rgb.accuracy|protocol:flexible", "answer.f1"]
    assert X.notna().all(axis=None)  # two languages, yet one variant each


def test_variants_on_different_responses_are_missing_elsewhere():
    first, second = responses().iloc[:2], responses().iloc[2:]
    scores = pd.concat([score(first, "rgb.accuracy"), score(second, "rgb.accuracy", protocol="flexible")])
    with pytest.raises(InputError, match=r"rgb.accuracy\|protocol:paper: 2, rgb.accuracy\|protocol:flexible: 2 in 4 of 4"):
        feature_frame(scores)


def test_a_response_scored_twice_is_refused():
    scores = score(responses(), "rgb.accuracy")
    with pytest.raises(
        InputError, match=r"one value of each metric for a response; it got 4 more \(rgb.accuracy\); add a column"
    ):
        feature_frame(pd.concat([scores, scores]))
    repeated = pd.concat([responses(), responses()])
    with pytest.raises(InputError, match="it got 4 more"):
        feature_frame(score(repeated, "rgb.accuracy"))
    with pytest.raises(InputError, match="needs responses that example_id, system, language tell apart"):
        feature_frame(scores, responses=repeated)


def test_responses_that_were_not_scored_are_refused():
    scores = score(responses(), "rgb.accuracy")
    with pytest.raises(InputError, match="scores of the given responses alone; it got 2 of others"):
        feature_frame(scores, responses=responses().iloc[:2])
    with pytest.raises(InputError, match="not scored: 2"):
        feature_frame(scores.iloc[:2], responses=responses())


MISSING = responses(response=["It is Oslo.", None, "北京", None], reason=[None, "timed out", None, None])


def test_a_missing_value_is_an_error_with_metrics_rows_and_reasons():
    message = (
        r"it got none of rgb.accuracy: 2, answer.f1: 2 in 2 of 4 rows \((timed out: 2, no response: 2|no response: 2, timed out: 2)\);"
        " leave these metrics out, or choose missing='drop' or 'indicator'"
    )
    with pytest.raises(InputError, match=message):
        feature_frame(score(MISSING, ["rgb.accuracy", "answer.f1"]))


def test_rows_without_a_value_can_be_dropped():
    X = feature_frame(score(MISSING, ["rgb.accuracy", "answer.f1"]), responses=MISSING, missing="drop")
    assert X.index.tolist() == ["a", "c"]
    assert feature_frame(score(MISSING, "rgb.accuracy"), missing="drop").index.tolist() == [0, 2]
    with pytest.raises(InputError, match="needs responses with all values; it got none"):
        feature_frame(score(MISSING.iloc[[1, 3]], "rgb.accuracy"), missing="drop")


def test_a_missing_value_can_be_marked():
    X = feature_frame(score(MISSING, ["answer.f1"]), missing="indicator")
    assert X.to_dict("list") == {"answer.f1": [0.5, 0, 1, 0], "answer.f1|missing": [0, 1, 0, 1]}


def test_half_a_surrogate_pair_in_a_name_becomes_the_replacement_character():
    scores = pd.DataFrame({"metric": ["f\ud800"], "value": [0.5], "signature": ["s"]}, dtype=object)
    assert list(feature_frame(scores)) == ["f\ufffd"]


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        (pd.DataFrame({"metric": ["f1"]}), {}, "feature_frame needs the columns metric, value, signature"),
        (pd.DataFrame({"metric": [], "value": [], "signature": []}), {}, "needs scores; it got an empty frame"),
        (None, {"missing": "mean"}, "missing needs one of 'raise', 'drop', 'indicator'; it got 'mean'"),
        (None, {"responses": 3}, "needs a pandas DataFrame; got int"),
    ],
)
def test_other_input_is_refused(scores, options, message):
    with pytest.raises(InputError, match=message):
        feature_frame(score(responses(), "rgb.accuracy") if scores is None else scores, **options)


# ---- feature_report ----------------------------------------------------------------------------------------------------


def test_the_report_has_a_row_a_metric_beside_the_ensemble():
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


def test_the_interval_of_the_area_knows_rows_that_share_a_group():
    X, y = metrics_and_labels(n=120)
    copies, question = [*range(120)] * 3, [*range(120)] * 3
    X3, y3 = X.iloc[copies].reset_index(drop=True), y.iloc[copies].reset_index(drop=True)
    once = feature_report(X, y, range(120), random_state=0, classifier=QUICK).loc[METRICS]
    thrice = feature_report(X3, y3, question, random_state=0, classifier=QUICK).loc[METRICS]
    assert thrice["auc"].tolist() == pytest.approx(once["auc"].tolist())
    for end in ("auc_low", "auc_high"):
        assert thrice[end].tolist() == pytest.approx(once[end].tolist(), abs=0.01)


def test_the_report_is_the_same_for_the_same_seed():
    X, y = metrics_and_labels(n=120)
    first, again = (feature_report(X, y, random_state=5, classifier=QUICK) for _ in range(2))
    pd.testing.assert_frame_equal(first, again)


def test_a_metric_that_is_lower_for_label_1_predicts_as_well():
    X, y = metrics_and_labels(n=200)
    both = feature_report(pd.DataFrame({"up": X[METRICS[0]], "down": -X[METRICS[0]]}), y, random_state=0, classifier=QUICK)
    assert both.loc["down", "auc"] == pytest.approx(1 - both.loc["up", "auc"])
    assert both.loc["down", "accuracy"] == pytest.approx(both.loc["up", "accuracy"], abs=0.02)


def test_held_out_groups_give_away_what_a_group_memorised():
    """A value of its own for each question predicts its answers within the question, and nothing beyond."""
    rng = np.random.default_rng(0)
    question = np.repeat(np.arange(60), 5)
    X = pd.DataFrame({"length": question * 1.0, "noise": rng.normal(size=300)})
    y = np.repeat(rng.permutation([0, 1] * 30), 5)
    nearest = KNeighborsClassifier(1)
    X_near = X.assign(noise=0.0)
    assert feature_report(X_near, y, classifier=nearest, random_state=0).loc["ensemble", "auc"] > 0.95
    assert feature_report(X_near, y, question, classifier=nearest, random_state=0).loc["ensemble", "auc"] < 0.7


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 1)), min_size=1, max_size=25))
def test_the_best_threshold_is_that_of_a_search_through_all(pairs):
    values, labels = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    threshold, upward = best_threshold(values, labels)
    found = (((values >= threshold) == upward) == (labels == 1)).mean()
    every = [
        (((values >= cut) == up) == (labels == 1)).mean() for cut in [*np.unique(values), math.inf] for up in (True, False)
    ]
    assert found == max(every)
