"""Numbers of notebook 06, computed from its labels without the functions of ragnb that computed them there."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score
from support.by_hand import cluster_interval, wilson
from support.printed import printed

import ragnb

NAMES = ["relevance", "utilization", "completeness", "adherence"]


def supported(part):
    return part["label"] == "supported"


@pytest.fixture(scope="module")
def manual():
    study = ragnb.load_study("delucionqa").query("split != 'unanswerable'")
    study["share"] = [np.mean([*map(supported, parts)]) for parts in study["parts"]]
    study["full"] = study["share"] == 1
    return study


@pytest.fixture(scope="module")
def facts():
    study = ragnb.load_study("factscore").dropna(subset="parts").explode("parts")
    study["supported"] = study["parts"].map(supported)
    study["sentence"] = study["parts"].map(lambda part: part["sentence"])
    return study


@pytest.fixture(scope="module")
def sample():
    return ragnb.load_ragbench("sample-ragbench")


@pytest.fixture(scope="module")
def benchmark():
    return ragnb.load_study("ragbench-delucionqa")


def test_the_four_scores_of_a_record_of_ragbench(benchmark):
    """22 sentences in the passages, 6 relevant, 4 of them used, sentence c unsupported."""
    shown = printed("06", "c08-scores")
    for name, value in zip(NAMES, [6 / 22, 4 / 22, 4 / 6, 0], strict=True):
        assert float(benchmark[f"{name}_score"].iloc[1]) == pytest.approx(value)
        assert f"trace.{name} {value:.3f} {value:.3f}" in shown
    assert "gpt-3.5-turbo-0125 gpt-4-turbo-2024-04-09 6" in printed("06", "whose-labels")


def test_the_results_box():
    assert "[0d] When a door is open" in printed("06", "box-4")
    assert "It is supported by sentences 0f and 0g of Document 0." in printed("06", "box-6")
    box = printed("06", "box-8")
    for name, value in zip(NAMES[:3], [6 / 22, 4 / 22, 4 / 6], strict=True):
        assert re.search(rf"{name} .{{0,80}}{value:.3f}", box), name
    meaning = printed("06", "box-10")
    assert "Relevance 0.27: 6 of the 22 sentences" in meaning
    assert "Adherence 0: the passages do not support 1 of 3 sentences" in meaning


def test_gpt_4s_labels_are_replayed(benchmark):
    shown = printed("06", "box-14")
    assert "replayed labels of gpt-4-turbo-2024-04-09: 10 records" in shown
    for name in NAMES:
        mean = benchmark[f"{name}_score"].astype(float).mean()
        assert f"trace.{name} {mean:.3f} {mean:.3f}" in shown
    for example_id, keys in zip(
        benchmark["example_id"], benchmark["unsupported_response_sentence_keys"], strict=True
    ):
        for key in keys:
            assert f"{example_id} [{key}] " in printed("06", "box-16")


def test_judges_are_compared_with_the_labels(benchmark):
    """The RMSE and the AUROC of the benchmark's table 3, here of ten records."""
    shown = printed("06", "judges")
    truth = benchmark["relevance_score"].astype(float)
    adherent = benchmark["adherence_score"].astype(float)
    for judge in ("ragas", "trulens"):
        errors = benchmark[f"{judge}_context_relevance"].astype(float) - truth
        assert f"relevance_rmse {judge} {np.sqrt((errors**2).mean()):.2f} " in shown
    for column in ("ragas_faithfulness", "trulens_groundedness"):
        auroc = roc_auc_score(adherent, benchmark[column].astype(float))
        assert f"hallucination_auroc {column.split('_')[0]} {auroc:.2f} " in shown
    assert "trulens 0.55 0.64" in printed("06", "table-3")


def test_the_worked_example_under_two_definitions():
    benchmark, guide = [4 / 6, 3 / 6, 3 / 4, 0], [4 / 20, 3 / 4, 3 / 4, 0]
    shown = printed("06", "c10")
    for name, first, second in zip(NAMES, benchmark, guide, strict=True):
        assert f"trace.{name} {first:.3f} {second:.3f}" in shown
    assert f"trace.average {np.mean(benchmark):.3f} {np.mean(guide):.3f}" in shown
    shown = printed("06", "c12")
    assert f"average: printed 0.425, computed {np.mean(guide):.3f}" in shown
    distance = np.linalg.norm([0.8, 0.25, 0.25, 1]) / 2
    assert f"RMSE: printed 0.437, computed {distance:.3f}" in shown
    without = np.linalg.norm([0.8, 0.25, 0.25, 0]) / 2
    assert f"adherence were 1: {without:.3f}" in printed("06", "c12-without")
    box = printed("06", "c10-record")
    for name, value in zip(["relevance", "average"], [0.2, 0.425], strict=True):
        assert re.search(rf"{name} .{{0,80}}{value:.3f}", box), name
    assert f"{1 - distance:.3f}" in box
    assert "average of the four numbers is 0.425" in printed("06", "box-12")


def test_support_of_answers_from_the_manual(manual):
    shown = printed("06", "c19")
    for column, metric in (("share", "parts.supported"), ("full", "parts.all_supported")):
        numbers = cluster_interval(manual[column], manual["question"])
        mean, low, high = (f"{number:.2f}" for number in numbers)
        assert f"{metric} {mean} [{low}, {high}] 887" in shown
    assert "cluster-robust t, 400 clusters" in shown


def test_support_by_length(manual, pytestconfig):
    path = pytestconfig.rootpath / "figures" / "06_length.json"
    drawn = pd.DataFrame(json.loads(path.read_text("utf-8"))["numbers"])
    drawn = drawn.pivot(index="length", columns="metric", values="mean")
    manual["length"] = manual["parts"].str.len().clip(upper=6)
    means = manual.groupby("length")[["share", "full"]].mean()
    assert drawn["parts.supported"].to_numpy() == pytest.approx(means["share"], abs=1e-6)
    assert drawn["parts.all_supported"].to_numpy() == pytest.approx(means["full"], abs=1e-6)


@pytest.mark.parametrize("outcome", ["share", "full"])
def test_support_by_length_within_questions(manual, outcome):
    """The slope of centred values, with its interval: each question's mean is taken out of both sides."""
    data = manual.assign(x=np.log2(manual["parts"].str.len()), y=manual[outcome].astype(float))
    centred = data[["x", "y"]] - data.groupby("question")[["x", "y"]].transform("mean")
    squares = (centred["x"] ** 2).sum()
    slope = (centred["x"] * centred["y"]).sum() / squares
    # The sandwich estimator with questions as clusters. The means that were taken out are no parameters of it.
    influence = centred["x"] * (centred["y"] - slope * centred["x"])
    of_questions = influence.groupby(data["question"]).sum()
    n_questions = len(of_questions)
    variance = n_questions / (n_questions - 1) * (of_questions**2).sum() / squares**2
    low, high = stats.norm(slope, np.sqrt(variance)).interval(0.95)
    assert f"{outcome}: {slope:+.2f} [{low:+.2f}, {high:+.2f}]" in printed("06", "within-fit")


def test_two_definitions_of_adherence_read_two_fields(benchmark):
    """No sentence may be listed as unsupported; every sentence must be labelled as fully supported."""
    listed = sum(not len(keys) for keys in benchmark["unsupported_response_sentence_keys"])
    labels = [
        [label.get("fully_supported") for label in info]
        for info in benchmark["sentence_support_information"]
    ]
    full = sum(all(label is True for label in record) for record in labels)
    shown = printed("06", "c26")
    assert f"adherent, of 10 records ragbench {listed} guide {full}" in shown
    table = printed("06", "c26-table")
    flat = [label for info in benchmark["sentence_support_information"] for label in info]
    counts = {}
    for label in flat:
        name = {True: "yes", False: "no"}.get(label.get("fully_supported"), "no label")
        has_keys = len(label["supporting_sentence_keys"]) > 0
        counts[name, has_keys] = counts.get((name, has_keys), 0) + 1
    for name in ("no", "no label"):
        row = f"{name} {counts.get((name, False), 0)} {counts.get((name, True), 0)} "
        assert row in f"{table} "


@pytest.mark.parametrize("system", ["ChatGPT", "PerplexityAI"])
def test_the_unit_of_support(facts, system):
    shown, rows = printed("06", "c32-table"), facts[facts["system"] == system]
    sentences = rows.groupby(["example_id", "sentence"])["supported"].min().reset_index()
    for unit, frame in (("claims", rows), ("sentences", sentences)):
        numbers = cluster_interval(frame["supported"], frame["example_id"])
        mean, low, high = (f"{number:.3f}" for number in numbers)
        assert f"{unit} {system} {mean} {low} {high}" in shown
    whole = rows.groupby("example_id")["supported"].min()
    low, high = wilson(whole.sum(), len(whole))
    numbers = f"{whole.mean():.3f} {low:.3f} {high:.3f} Wilson {len(whole)}"
    assert f"biographies {system} {numbers}" in shown


def test_completeness_if_nothing_is_relevant(sample):
    shown = printed("06", "c47")
    for system, rows in sample.groupby("system"):
        shares = []
        for row in rows.to_dict("records"):
            relevant = set(row["all_relevant_sentence_keys"])
            used = relevant & set(row["all_utilized_sentence_keys"])
            shares.append(len(used) / len(relevant) if relevant else np.nan)
        assert f"{np.nanmean(shares):.3f} 16" in shown, system
        assert f"{np.mean(np.nan_to_num(shares, nan=1)):.3f} 17" in shown
        assert f"{np.mean(np.nan_to_num(shares, nan=0)):.3f} 17" in shown
