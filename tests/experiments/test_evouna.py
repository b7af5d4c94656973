"""The results of the many divisions: what they say, that they can be had again, and that no text is in them."""

import json

import numpy as np
import pandas as pd
import pytest
from recording.evouna import (
    COMMAND,
    METRICS,
    _coverage,
    _decisions,
    judged_answers,
    label_draws,
    repeated_splits,
    summary,
    verdict_agreement,
)
from sklearn.metrics import accuracy_score, cohen_kappa_score, recall_score

from ragnb.errors import InputError
from ragnb.experiments.evouna import evouna_results
from ragnb.scoring import score


@pytest.fixture(scope="module")
def splits():
    return evouna_results("splits")


@pytest.fixture(scope="module")
def labels():
    return evouna_results("labels")


@pytest.fixture(scope="module")
def agreement():
    return evouna_results("agreement")


def value(splits, measure, guarantee="classifier", alpha=None, column="mean"):
    rows = splits[(splits["measure"] == measure) & (splits["guarantee"] == guarantee)]
    rows = rows if alpha is None else rows[rows["alpha"] == alpha]
    return rows[column].item()


def answers(n_questions, seed=0):
    """Answers of two systems that are right with a chance known, written so that overlap metrics see it nearly always."""
    rng = np.random.default_rng(seed)
    rows = []
    for question in range(n_questions):
        for system in ("a", "b"):
            right = rng.random() < 0.6
            seen = right if rng.random() < 0.9 else not right
            response = (
                f"It is Oslo number {question}."
                if seen
                else f"It is Bergen, {rng.integers(99)} or so."
            )
            rows.append((f"q{question}", system, response, [["Oslo"]], "en", int(right)))
    return pd.DataFrame(
        rows, columns=["question_id", "system", "response", "references", "language", "label"]
    ).assign(example_id=lambda frame: frame["question_id"])


# ---- the results in the package ----------------------------------------------------------------------------------------


def test_ensemble_and_best_metric_are_where_others_found_them(splits):
    assert value(splits, "auc") >= 0.94
    assert value(splits, "accuracy") >= 0.89
    assert value(splits, "auc, best metric") == pytest.approx(0.923, abs=0.015)
    assert value(splits, "accuracy, answer.contains") == pytest.approx(0.843, abs=0.01)
    assert value(splits, "accuracy, balanced weights") < value(splits, "accuracy")


@pytest.mark.parametrize("alpha", [0.1, 0.05])
def test_promises_are_kept_on_average_and_the_marginal_one_not_within_each_class(splits, alpha):
    for guarantee in ("marginal", "class"):
        mean, sd, n = (
            value(splits, "coverage", guarantee, alpha, column)
            for column in ("mean", "sd", "n_repeats")
        )
        assert mean > 1 - alpha - 3 * sd / n**0.5
    for label in (0, 1):
        mean, sd, n = (
            value(splits, f"coverage of {label}", "class", alpha, column)
            for column in ("mean", "sd", "n_repeats")
        )
        assert abs(mean - (1 - alpha)) < 3 * sd / n**0.5 + 0.002
    assert value(splits, "coverage of 0", "marginal", alpha, "high") < 1 - alpha
    assert value(splits, "selective risk", "selective", alpha) < alpha


@pytest.mark.parametrize("alpha", [0.1, 0.05])
def test_coverage_scatters_more_than_independent_answers_would(splits, alpha):
    beta_and_binomial = (alpha * (1 - alpha) * 2 / 3020) ** 0.5
    assert value(splits, "coverage", "marginal", alpha, "sd") > beta_and_binomial


def test_a_judge_alone_never_holds_the_truth_and_labels_do(labels):
    assert labels.groupby("n_labels").size().to_dict() == {20: 5, 50: 5, 100: 5, 300: 5}
    assert labels["coverage_judge_only"].max() < 0.05
    assert labels["coverage_ppi"].between(0.91, 0.99).all()
    assert (labels["width_ppi"] < labels["width_classical"]).all()


def test_containment_agrees_only_moderately_with_people(agreement):
    everyone = agreement[agreement["system"] == "all"].set_index("metric")
    assert everyone.loc["Cohen's kappa", "mean"] == pytest.approx(0.65, abs=0.005)
    assert everyone.loc["percent agreement", "mean"] == pytest.approx(0.84, abs=0.005)
    assert everyone.loc["percent agreement", ["n_scored", "n_units"]].tolist() == [15099, 3019]
    kappas = agreement[agreement["metric"] == "Cohen's kappa"]
    assert kappas["system"].tolist() == ["all", "fid", "gpt35", "chatgpt", "gpt4", "newbing"]
    assert ((kappas["low"] < kappas["mean"]) & (kappas["mean"] < kappas["high"])).all()


def test_the_results_name_their_source_and_hold_no_text(splits, labels, agreement):
    provenance = splits.attrs["provenance"]
    assert (provenance["n_answers"], provenance["n_questions"], provenance["command"]) == (
        15099,
        3019,
        COMMAND,
    )
    assert provenance["licence"] == "Apache-2.0"
    assert provenance["verified"]
    assert {"python", "numpy", "scikit-learn"} <= set(provenance["versions"])
    assert set(splits.select_dtypes(exclude="number")) == {"guarantee", "measure"}
    assert set(labels.select_dtypes(exclude="number")) == {"system"}
    assert set(agreement.select_dtypes(exclude="number")) == {"system", "metric", "interval"}
    assert json.dumps(provenance)


# ---- how they are made -------------------------------------------------------------------------------------------------


def test_many_divisions_of_a_made_up_file():
    rows = repeated_splits(
        answers(300), n_repeats=2, alphas=(0.25,), metrics=["answer.contains", "answer.f1"]
    )
    table = summary(rows)
    assert set(rows["repeat"]) == {0, 1}
    assert table["n_repeats"].eq(2).all()
    assert value(table, "accuracy") == pytest.approx(0.9, abs=0.1)
    assert value(table, "accuracy, answer.contains") == pytest.approx(0.9, abs=0.1)
    first = rows[(rows["measure"] == "auc")]["value"]
    assert table.loc[table["measure"] == "auc", "sd"].item() == pytest.approx(first.std())


def test_coverage_and_decisions_by_hand():
    sets, y = (
        np.array([[1, 0], [0, 1], [1, 1], [0, 0], [0, 1]], dtype=bool),
        np.array([0, 0, 1, 1, 1]),
    )
    assert _coverage(sets, y) == {
        "coverage": 0.6,
        "coverage of 0": 0.5,
        "coverage of 1": pytest.approx(2 / 3),
    }
    expected = {
        "abstained": 0.4,
        "empty": 0.2,
        "selective risk": 1 / 3,
        "accepted and wrong, share of all": 0.2,
    }
    assert _decisions(sets, y) == pytest.approx(expected)
    assert np.isnan(_decisions(sets[2:4], y[2:4])["selective risk"])


def test_few_labels_drawn_from_a_made_up_file():
    table = label_draws(answers(500), n_draws=60)
    assert table["truth"].between(0.5, 0.7).all()
    assert table["coverage_ppi"].min() > 0.85
    again = label_draws(answers(500), n_draws=60)
    pd.testing.assert_frame_equal(table, again)


def test_agreement_in_a_made_up_file_by_hand():
    made_up = answers(4000)
    table = verdict_agreement(made_up).set_index(["system", "metric"])["mean"]
    seen, right = made_up["response"].str.contains("Oslo"), made_up["label"] == 1
    assert table["all", "percent agreement"] == pytest.approx((seen == right).mean())
    chance = seen.mean() * right.mean() + (1 - seen.mean()) * (1 - right.mean())
    assert table["all", "Cohen's kappa"] == pytest.approx(
        ((seen == right).mean() - chance) / (1 - chance)
    )
    only_a = made_up["system"] == "a"
    assert table["a", "sensitivity"] == pytest.approx(seen[only_a & right].mean())
    assert table["a", "specificity"] == pytest.approx(1 - seen[only_a & ~right].mean())


def test_answers_without_labels():
    with pytest.raises(InputError, match="label"):
        repeated_splits(answers(10).drop(columns="label"))


@pytest.mark.data
def test_one_division_of_the_real_file_is_one_of_those_recorded(data_folder, splits):
    file = data_folder / "evouna" / "NQ.json"
    if not file.exists():
        pytest.skip("evouna/NQ.json not at hand")
    real = judged_answers(file)
    assert len(real) == 15099
    assert real["response"].notna().all()
    kept = real[real["system"].isin(["newbing", "fid"])]
    again = repeated_splits(
        kept, n_repeats=1, alphas=(0.1,), metrics=["answer.contains", "answer.recall", "answer.f1"]
    )
    table = summary(again)
    assert value(table, "auc") == pytest.approx(value(splits, "auc"), abs=0.03)
    assert value(table, "coverage", "class", 0.1) == pytest.approx(0.9, abs=0.04)
    assert set(METRICS) >= {"answer.contains", "answer.recall", "answer.f1"}


@pytest.mark.data
def test_the_recorded_agreement_is_that_of_the_real_file(data_folder, agreement):
    file = data_folder / "evouna" / "NQ.json"
    if not file.exists():
        pytest.skip("evouna/NQ.json not at hand")
    real = judged_answers(file)
    real["judge"] = score(real, "answer.contains")["value"].astype(int).to_numpy()
    for system, rows in agreement.groupby("system"):
        part = real if system == "all" else real[real["system"] == system]
        told = rows.set_index("metric")["mean"]
        expected = {
            "percent agreement": accuracy_score(part["label"], part["judge"]),
            "Cohen's kappa": cohen_kappa_score(part["label"], part["judge"]),
            "sensitivity": recall_score(part["label"], part["judge"]),
            "specificity": recall_score(part["label"], part["judge"], pos_label=0),
        }
        assert told.to_dict() == pytest.approx(expected, abs=1e-6)
        assert set(rows["n_scored"]) == {len(part)}
