"""Numbers of notebook 17, recomputed with numpy, scipy, statsmodels and scikit-learn."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import accuracy_score, cohen_kappa_score, recall_score
from support.by_hand import cluster_interval
from support.judged import SEES, judged_answers, turns_of_models
from support.printed import printed

import ragnb

NAMES = {"newbing": "New Bing", "gpt4": "GPT-4", "chatgpt": "ChatGPT", "fid": "FiD"}
NAMES["gpt35"] = "GPT-3.5"


@pytest.fixture(scope="module")
def answers():
    return judged_answers()


@pytest.fixture(scope="module")
def turns():
    return turns_of_models()


def test_the_table_of_counts(answers):
    counts = np.histogram2d(answers["people"], answers["judge"], bins=2)[0].astype(int)
    assert counts.sum() == 15098
    numbers = [
        int(number) for number in re.findall(r"(?<![\d.])\d+(?![\d.])", printed("17", "table"))
    ]
    assert numbers == counts.ravel().tolist()


def test_agreement_kappa_and_error_rates_with_cluster_robust_intervals(answers):
    people, judge, shown = answers["people"], answers["judge"], printed("17", "kappa")
    kappa = cohen_kappa_score(people, judge)
    assert f"Cohen's kappa {kappa:.2f} [" in shown
    assert f"percent agreement {accuracy_score(people, judge):.4f} [" in shown
    right = (people == judge).astype(float)
    for name, digits, kept in (
        ("percent agreement", 4, people >= 0),
        ("sensitivity", 2, people == 1),
        ("specificity", 4, people == 0),
    ):
        found = cluster_interval(right[kept], answers["example_id"][kept])
        mean, low, high = (f"{number:.{digits}f}" for number in found)
        units = answers["example_id"][kept].nunique()
        assert f"{name} {mean} [{low}, {high}] {units} cluster-robust t" in shown
    assert f"{kappa:.2f}" in printed("17", "always")
    assert f"{people.mean():.1%}" in printed("17", "always")


def test_error_rates_of_each_system(answers):
    shown = printed("17", "errors")
    for system, rows in answers.groupby("system"):
        sensitivity = recall_score(rows["people"], rows["judge"])
        specificity = recall_score(rows["people"], rows["judge"], pos_label=0)
        share, accepted = rows["people"].mean(), rows["judge"].mean()
        numbers = [share, accepted, accepted - share, sensitivity, specificity]
        numbers.append(sensitivity + specificity - 1)
        line = " ".join(f"{number:.3f}" for number in numbers)
        assert f"{NAMES[system]} {line}" in shown


def test_correlation_of_judges_and_of_a_person_with_the_other_people(turns):
    grades = ragnb.load_study("mtrag", "labels").dropna(subset="faithfulness")
    pairs = []
    for _, given in grades.groupby(["example_id", "system"]):
        values = given["faithfulness"].to_numpy(float)
        others = [np.delete(values, k).mean() for k in range(len(values))]
        pairs.append(given.assign(person=values, others=others))
    rows = pd.concat(pairs).merge(turns, on=["example_id", "system"])
    shown = printed("17", "graded")
    judges = {column: column for column in SEES}
    for column, name in {"person": "another person", **judges}.items():
        rho = stats.spearmanr(rows[column], rows["others"]).statistic
        assert f"{name} {rho:.2f}" in shown
    assert f"{len(rows)} grades of 7 people" in printed("17", "others")
