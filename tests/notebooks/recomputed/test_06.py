"""Numbers of notebook 06, computed from its labels without the functions of ragnb that computed them there."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from notebooks.by_hand import cluster_interval, wilson
from notebooks.printed import printed

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
    assert f"adherence were 1: {np.linalg.norm([0.8, 0.25, 0.25, 0]) / 2:.3f}" in shown


def test_the_results_box():
    """The record has the labels of the guide's example: 4 relevant, 3 used, sentence c unsupported."""
    assert "0a A heat pump is one kind" in printed("06", "box-2")
    assert re.search(r"\bc Before long", printed("06", "box-2"))
    box = printed("06", "box-8")
    for name, value in zip([*NAMES, "average"], [0.2, 0.75, 0.75, 0, 0.425], strict=True):
        shown = f"{value:.0f}" if name == "adherence" else f"{value:.3f}"
        assert re.search(rf"{name} .{{0,80}}{shown}", box), name
    distance = np.linalg.norm([0.8, 0.25, 0.25, 1]) / 2
    assert f"{distance:.3f}" in box
    assert f"{1 - distance:.3f}" in box
    meaning = printed("06", "box-10")
    assert "Relevance 0.20: 4 sentences are relevant" in meaning
    assert "Adherence 0: the passages do not support 1 of 3 sentences" in meaning
    assert "correct or remove sentence [c] “Before long" in meaning
    assert "average of the four numbers is 0.425" in printed("06", "box-12")


def test_gpt_4s_labels_are_replayed():
    published = ragnb.load_study("ragbench-delucionqa")
    assert len(published) == 10
    assert (published["passages"].str.join("").str.len() > 0).all()
    shown = printed("06", "box-14")
    assert "replayed labels of gpt-4-turbo-2024-04-09: 10 of 10 records" in shown
    for name in NAMES:
        mean = published[f"{name}_score"].astype(float).mean()
        assert f"trace.{name} {mean:.3f} {mean:.3f}" in shown
    keys = [len(pairs) for pairs in published["unsupported_response_sentence_keys"]]
    assert printed("06", "box-16").count("gpt-4-turbo-2024-04-09:") == sum(keys)
    assert "It is supported by sentences 0f and 0g of Document 0." in printed("06", "box-16")


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


@pytest.mark.parametrize("system", ["ChatGPT", "PerplexityAI"])
def test_the_unit_of_support(facts, system):
    shown, rows = printed("06", "c32"), facts[facts["system"] == system]
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
