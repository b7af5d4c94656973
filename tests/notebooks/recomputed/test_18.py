"""Numbers of notebook 18, recomputed with numpy, pandas and scikit-learn."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score
from support.printed import follow, printed

import ragnb

JUDGES = [
    "Claude Opus 4.7",
    "Claude Sonnet 4.6",
    "GPT-4o",
    "GPT-5.5",
    "Gemma 4 26B",
    "Qwen 3.6 Plus",
    "UMBRELA (GPT-4o)",
]


@pytest.fixture(scope="module")
def grades():
    """One row for each pair of question and passage, one column for each judge, and NIST."""
    study = ragnb.load_study("trec-rag-judges")
    wide = study.pivot(index="example_id", columns="system", values="grade")[JUDGES].astype(float)
    return wide.assign(NIST=study.groupby("example_id")["human_grade"].first().astype(float))


def kappa(first, second):
    return cohen_kappa_score(first, second, weights="quadratic")


def test_agreement_with_people_and_between_judges(grades):
    with_people = [kappa(grades[judge], grades["NIST"]) for judge in JUDGES]
    between = [kappa(grades[first], grades[second]) for first, second in combinations(JUDGES, 2)]
    shown = printed("18", "means")
    assert f"{np.mean(between):.3f}" in shown
    assert f"{np.mean(with_people):.3f}" in shown
    table = printed("18", "agreement")
    for judge, value in zip(JUDGES, with_people, strict=True):
        assert f"NIST - {judge} {value:.2f} " in table


def test_what_the_panel_is_worth(grades):
    errors = [grades[judge] - grades["NIST"] for judge in JUDGES]
    r = np.mean([np.corrcoef(first, second)[0, 1] for first, second in combinations(errors, 2)])
    text = f"mean correlation of the errors {r:.2f}: 7 judges are worth {7 / (1 + 6 * r):.1f}"
    assert text in printed("18", "panel")
    distance = (np.median(grades[JUDGES], axis=1).round() - grades["NIST"]).abs().mean()
    assert f"panel {distance:.3f}" in printed("18", "median")


def test_how_often_judges_repeat_themselves():
    """Only passages with three grades count; two judges of Google have almost none."""
    repeats = ragnb.load_study("trec-rag-judges", "repeats").dropna(subset="grade")
    grades = repeats.groupby(["system", "example_id"])["grade"].agg(list)
    thrice = grades[grades.map(len) == 3]
    same = thrice.map(lambda given: len(set(given)) == 1).groupby("system")
    for judge, kept in same:
        follow("18", "repeats", f" {judge} ", [kept.mean(), len(kept)])
    sizes = same.size()
    assert (sizes == 50).sum() == 6
    assert sizes[["DeepSeek V4 Pro", "Gemini 2.5 Pro", "Gemini 3.1 Pro Preview"]].max() < 20


def test_each_judge_agrees_more_with_each_other_judge_than_with_people(grades):
    for judge in JUDGES:
        others = [kappa(grades[judge], grades[other]) for other in JUDGES if other != judge]
        assert min(others) > kappa(grades[judge], grades["NIST"])
