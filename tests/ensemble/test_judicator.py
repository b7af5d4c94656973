"""Who decides, and how well labels are predicted."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score, precision_score, recall_score

from ragnb.ensemble import BatchJudicator, eval_prediction
from ragnb.ensemble.judicator import ask
from ragnb.errors import InputError

# ---- verdicts ----------------------------------------------------------------------------------------------------------


def test_a_judicator_is_asked_once_for_each_label_in_order():
    asked = []
    verdicts = ask(lambda label: asked.append(label) or label == "答/2", ["答/1", "答/2"])
    assert asked == ["答/1", "答/2"]
    assert verdicts == [False, True]


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(True, True), (np.bool_(False), False), (1, True), (0.0, False), (np.int64(1), True), (None, None)],
)
def test_what_counts_as_a_verdict(value, verdict):
    assert ask(lambda label: value, ["a"]) == [verdict]
    assert ask(BatchJudicator(lambda labels: [value] * len(labels)), ["a"]) == [verdict]


@pytest.mark.parametrize("value", ["yes", 0.7, math.nan, 2, pd.NA, [True], np.array([True, False])], ids=repr)
def test_anything_else_is_refused_with_the_label(value):
    with pytest.raises(InputError, match="needs to return True or False, 1 or 0, or None; it returned .* for 'a'; compare"):
        ask(lambda label: value, ["a"])


def test_a_batch_is_asked_once_and_not_without_need():
    calls = []
    judicator = BatchJudicator(lambda labels: calls.append(labels) or [True] * len(labels))
    assert ask(judicator, ["a", "b"]) == [True, True]
    assert ask(judicator, []) == []
    assert calls == [["a", "b"]]


@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_batch_of_wrong_length_is_refused(n):
    with pytest.raises(InputError, match=f"one verdict for each of 2 labels; it returned {n}; return None where"):
        ask(BatchJudicator(lambda labels: [True] * n), ["a", "b"])


def test_a_judicator_is_a_function():
    with pytest.raises(InputError, match="judicator needs a function of an index label; it got 'gpt-4'"):
        ask("gpt-4", ["a"])


def test_an_error_of_the_judicator_is_not_swallowed():
    with pytest.raises(ZeroDivisionError):
        ask(lambda label: 1 / 0, ["a"])


# ---- evaluation --------------------------------------------------------------------------------------------------------


def labels_of(tn, fp, fn, tp):
    return [0] * (tn + fp) + [1] * (fn + tp), [0] * tn + [1] * fp + [0] * fn + [1] * tp


@pytest.mark.parametrize(
    ("table", "published"),
    [
        ((42, 10, 31, 152), (0.9382716049382716, 0.8306010928961749, 0.881159420289855, 0.825531914893617)),
        ((43, 9, 24, 159), (0.9464285714285714, 0.8688524590163934, 0.9059829059829059, 0.8595744680851064)),
    ],
)
def test_the_published_tables_give_the_published_figures(table, published):
    """Both runs of continuous-eval's documented example, 235 answers each."""
    found = eval_prediction(*labels_of(*table))
    assert [found[name] for name in ("precision", "recall", "f1", "accuracy")] == pytest.approx(published, abs=1e-15)
    assert found["confusion_matrix"].tolist() == [list(table[:2]), list(table[2:])]
    assert list(found) == ["precision", "recall", "f1", "accuracy", "confusion_matrix"]


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=30))
def test_scikit_learn_agrees(pairs):
    y, y_hat = zip(*pairs, strict=True)
    found = eval_prediction(y, y_hat)
    assert found["accuracy"] == pytest.approx(accuracy_score(y, y_hat))
    assert (found["confusion_matrix"] == confusion_matrix(y, y_hat, labels=[0, 1])).all()
    for name, function in (("precision", precision_score), ("recall", recall_score), ("f1", f1_score)):
        assert found[name] == pytest.approx(function(y, y_hat, zero_division=math.nan), nan_ok=True)


def test_what_is_undefined_is_nan():
    assert math.isnan(eval_prediction([1, 0], [0, 0])["precision"])
    assert eval_prediction([1, 0], [0, 0])["f1"] == 0
    assert math.isnan(eval_prediction([0], [1])["recall"])
    assert math.isnan(eval_prediction([0], [0])["f1"])
    assert all(math.isnan(value) for name, value in eval_prediction([], []).items() if name != "confusion_matrix")


def test_series_are_aligned_by_their_labels():
    y = pd.Series([1, 0], index=["a", "b"])
    assert eval_prediction(y, pd.Series({"b": 0, "a": 1}))["accuracy"] == 1
    assert eval_prediction(y, np.array([1, 0]))["accuracy"] == 1
    assert eval_prediction([1, 0], y)["accuracy"] == 1


@pytest.mark.parametrize(
    ("y", "y_hat", "message"),
    [
        ([1, 0], [1], "y_hat needs one value a row"),
        (["correct"], [1], "y needs labels 0 and 1"),
        ([1], [0.7], "y_hat needs labels 0 and 1"),
        (pd.Series([1], index=["a"]), pd.Series([1], index=["b"]), "y_hat needs the index labels"),
    ],
)
def test_other_labels_are_refused(y, y_hat, message):
    with pytest.raises(InputError, match=message):
        eval_prediction(y, y_hat)
