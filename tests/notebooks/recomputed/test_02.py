"""Numbers of notebook 02, computed from the study, the printed table and the recorded replies by hand."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests
from support.by_hand import cluster_interval, mid_p, rate, tango
from support.printed import printed

import ragnb
from ragnb.datasets.files import PACKAGED_DATA
from ragnb.experiments import recorded_responses


def numbers(text):
    return [float(number) for number in re.findall(r"-?\d+\.?\d*", text)]


def correct(responses):
    """Whether each reply contains an alias of every part, and does not refuse."""
    found = [
        all(any(alias.casefold() in said.casefold() for alias in part) for part in parts)
        and "insufficient information" not in said.casefold()
        for said, parts in zip(responses["response"], responses["references"], strict=True)
    ]
    return np.array(found)


@pytest.fixture(scope="module")
def replies():
    responses = recorded_responses("rgb_noise")
    return responses.assign(right=correct(responses))


@pytest.mark.parametrize("metric", ["faithful", "complete"])
@pytest.mark.parametrize("system", ["gpt-4o", "llama-3.1-405b-instruct", "reference"])
@pytest.mark.parametrize(("available", "kinds"), [
    ("whole answer", ["answerable"]), ("part or nothing", ["partial", "unanswerable"]),
])  # fmt: skip
def test_grades_of_people_with_cluster_robust_intervals(metric, system, available, kinds):
    study = ragnb.load_study("mtrag")
    rows = study[(study["system"] == system) & study["answerability"].isin(kinds)]
    column = {"faithful": "human_faithfulness", "complete": "human_completeness"}[metric]
    mean, low, high = cluster_interval(rows[column], rows["conversation_id"])
    shown = f"{metric} {system} {available} {mean:.2f} [{low:.2f}, {high:.2f}] {len(rows)}"
    assert shown in printed("02", "mtrag-table")


def test_published_shares_and_losses():
    with (PACKAGED_DATA / "rgb_noise_robustness.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["language"] == "en"]
    table = printed("02", "published")
    lost = []
    for system in {row["system"] for row in rows}:
        of_system = [row for row in rows if row["system"] == system]
        shares = [float(row["printed"]) / 100 for row in of_system]
        assert [float(row["noise_rate"]) for row in of_system] == [0, 0.2, 0.4, 0.6, 0.8]
        lost.append(shares[0] - shares[-1])
        assert f"{system} " + " ".join(f"{x:.3f}" for x in [*shares, lost[-1]]) in table
    title = f"Accuracy falls by {min(lost):.2f} to {max(lost):.2f}"
    assert title in Path(
        PACKAGED_DATA.parents[2] / "figures" / "02_noise_robustness.svg"
    ).read_text("utf-8")


def test_accuracies_of_the_small_model_with_wilson_intervals(replies):
    shown = printed("02", "means")
    counted = 0
    for (system, passages, noise), rows in replies[replies["order"] == "per_item"].groupby(
        ["system", "passage_num", "noise_rate"]
    ):
        share = rate(rows["right"].sum(), len(rows), digits=2)
        assert f"{system} {passages} {noise} {share} {len(rows)}" in shown
        counted += 1
    assert counted == 11


def test_losses_of_the_small_model_question_by_question(replies):
    of = replies.query("system == 'answer'").pivot(
        index="example_id", columns="noise_rate", values="right"
    )
    shown, p_values = printed("02", "loss"), []
    for noise in (0.2, 0.4, 0.6, 0.8):
        b, c = (of[noise] & ~of[0]).sum(), (of[0] & ~of[noise]).sum()
        low, high = tango(b, c, len(of))
        row = re.search(rf"noise rate {noise} (.+?)\] (\S+) 68", shown)
        assert numbers(row[1]) == pytest.approx([(b - c) / len(of), low, high], abs=0.0051)
        p_values.append((mid_p(b, c), float(row[2])))
    p, adjusted = np.transpose(p_values)
    assert multipletests(p, method="holm")[1] == pytest.approx(adjusted, rel=0.06)
