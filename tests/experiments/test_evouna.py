"""The results on EVOUNA: what they say, that they can be had again, and that no text is in them."""

import json

import pytest
from recording.evouna import COMMAND, judged_answers
from sklearn.metrics import accuracy_score, cohen_kappa_score, recall_score

from ragnb.experiments.evouna import evouna_results
from ragnb.scoring import score


@pytest.fixture(scope="module")
def labels():
    return evouna_results("labels")


@pytest.fixture(scope="module")
def agreement():
    return evouna_results("agreement")


# ---- the results in the package ----------------------------------------------------------------------------------------


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


def test_the_results_name_their_source_and_hold_no_text(labels, agreement):
    provenance = labels.attrs["provenance"]
    assert (provenance["n_answers"], provenance["n_questions"], provenance["command"]) == (
        15099,
        3019,
        COMMAND,
    )
    assert provenance["licence"] == "Apache-2.0"
    assert provenance["verified"]
    assert {"python", "numpy", "pandas"} <= set(provenance["versions"])
    assert set(labels.select_dtypes(exclude="number")) == {"system"}
    assert set(agreement.select_dtypes(exclude="number")) == {"system", "metric", "interval"}
    assert json.dumps(provenance)


# ---- how they are made -------------------------------------------------------------------------------------------------


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
