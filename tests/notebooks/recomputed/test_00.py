"""Numbers of notebook 00, recomputed from the file of answers."""

import csv
from pathlib import Path

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests
from support.by_hand import best_f1, contains, mid_p, t_interval, tango, wilson, words
from support.printed import follow, printed

FILE = Path(__file__).parents[3] / "docs" / "answers.csv"


@pytest.fixture(scope="module")
def values():
    """Scores by metric and system, in the order of the questions."""
    found = {}
    with FILE.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            parts = [[row["references"]]]
            scored = {
                "answer.exact_match": words(row["response"]) == words(row["references"]),
                "answer.f1": best_f1(row["response"], parts),
                "answer.contains": contains(row["response"], parts),
                "annotator.verdict": row["verdict"] == "True",
            }
            for metric, value in scored.items():
                found.setdefault((metric, row["system"]), []).append(float(value))
    return {key: np.array(column) for key, column in found.items()}


def test_means_and_intervals(values):
    for (metric, system), column in values.items():
        binary = set(column) <= {0, 1}
        low, high = wilson(column.sum(), 100) if binary else t_interval(column)
        follow("00", "c08", f" {system} {metric} ", [column.mean(), max(low, 0), high])


def test_differences_of_metrics_of_zeros_and_ones(values):
    p_values, printed_limits = {}, {}
    for metric in ("answer.exact_match", "answer.contains", "annotator.verdict"):
        bing, fid = values[metric, "New Bing"], values[metric, "FiD"]
        b, c = int((bing > fid).sum()), int((fid > bing).sum())
        low, high = tango(b, c, 100)
        printed_limits[metric] = [(b - c) / 100, low, high]
        follow("00", "c12", f"{metric} ", printed_limits[metric])
        p_values[metric] = mid_p(b, c)
    gap = values["answer.f1", "New Bing"] - values["answer.f1", "FiD"]
    follow("00", "c12", "answer.f1 ", [gap.mean()])
    adjusted = multipletests([*p_values.values(), 1e-12], method="holm")[1]
    for metric, p in zip(p_values, adjusted, strict=False):
        if p > 1e-12:  # a smaller one is printed as such
            follow("00", "c12", f"{metric} ", [*printed_limits[metric], p])
    people = adjusted[list(p_values).index("annotator.verdict")]
    sentence = printed("00", "c13")
    assert "accepted by people: New Bing is 0.12 higher than FiD" in sentence
    assert "95 % Tango interval 0.02 to 0.22, 100 questions, McNemar mid-p" in sentence
    assert f"p = {people:.4f} after Holm's correction for 4 comparisons" in sentence


def test_agreement_with_people(values):
    pairs = [
        np.concatenate([values[metric, system] for system in ("FiD", "New Bing")]).astype(int)
        for metric in ("answer.contains", "annotator.verdict")
    ]
    counts = np.histogram2d(*pairs, bins=2)[0].astype(int)
    assert f"0.0 {counts[0, 0]} {counts[0, 1]} 1.0 {counts[1, 0]} {counts[1, 1]}" in printed(
        "00", "c15"
    )
