"""Numbers of notebook 15, recomputed with numpy, scipy and scikit-learn; only the split into three sets is ragnb's."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import GroupShuffleSplit
from support.by_hand import cluster_interval, contains, mid_p, overlap, wilson
from support.printed import follow, printed

import ragnb
from ragnb.ensemble import SplitRatios

NAMES = {"fid": "FiD", "gpt35": "GPT-3.5", "chatgpt": "ChatGPT", "gpt4": "GPT-4"}
NAMES |= {"newbing": "New Bing"}
LAYOUTS = (3, " ", " "), (2, " [", ", ")
"""Decimals of a mean and its limits, and what stands between them."""


@pytest.fixture(scope="module")
def answers():
    study = ragnb.load_study("evouna-nq")
    rows = study[~study["improper"]].dropna(subset=["response", "verdict"])
    return rows.reset_index(drop=True).replace({"system": NAMES})


@pytest.fixture(scope="module")
def features(answers):
    """Containment, recall, precision and F1 of each answer, with the best reference."""
    pairs = list(zip(answers["response"], answers["references"], strict=True))
    best = np.array(
        [
            np.max([overlap(said, alias) for part in parts for alias in part], axis=0)
            for said, parts in pairs
        ]
    )
    return pd.DataFrame(
        {
            "answer.contains": [float(contains(said, parts)) for said, parts in pairs],
            "answer.recall": best[:, 1],
            "answer.precision": best[:, 0],
            "answer.f1": best[:, 2],
        }
    )


@pytest.fixture(scope="module")
def split(answers, features):
    ratios = SplitRatios(train=0.5, test=0.1, calibration=0.4)
    label = answers["verdict"].astype(int)
    return ragnb.DataSplit(features, label, ratios, groups=answers["question"], random_state=0)


@pytest.fixture(scope="module")
def model(split):
    return LogisticRegression().fit(split.train.X, split.train.y)


@pytest.fixture(scope="module")
def probability(split, model):
    """Predicted probability of a correct answer in the calibration and the test set."""
    return [model.predict_proba(part.X)[:, 1] for part in (split.calibration, split.test)]


@pytest.fixture(scope="module")
def scores(split, probability):
    return np.sort(np.where(split.calibration.y == 1, 1 - probability[0], probability[0]))


def threshold(scores, alpha):
    """The score of rank ceil((n + 1)(1 - alpha))."""
    return scores[math.ceil((len(scores) + 1) * (1 - Fraction(str(alpha)))) - 1]


def sets(scores, probability, alpha):
    """Whether each prediction set contains incorrect, and correct."""
    q = threshold(scores, alpha)
    return np.array([probability[1] <= q, 1 - probability[1] <= q])


def test_verdicts_by_system(answers):
    assert f"{len(answers)} answers to {answers['question'].nunique()} questions" in printed(
        "15", "load"
    )
    for system, verdicts in answers.groupby("system")["verdict"]:
        numbers = [len(verdicts), verdicts.astype(float).mean()]
        follow("15", "load", f" {system} ", numbers)


def test_auroc_of_each_metric(answers, features):
    for metric, values in features.items():
        auc = roc_auc_score(answers["verdict"].astype(int), values)
        follow("15", "alone", f"{metric} ", [auc])


def test_threshold_and_sets(split, scores, probability):
    n = len(scores)
    rank = math.ceil((n + 1) * Fraction(95, 100))
    shown = printed("15", "hand")
    assert f"{n} calibration answers, rank {rank}, threshold q = {scores[rank - 1]:.3f}" in shown
    zero, one = sets(scores, probability, 0.05)
    shown = printed("15", "kinds")
    assert f"{len(one)} answers in the test set" in shown
    assert f"as incorrect: {(zero & ~one).sum()}" in shown
    assert f"as correct: {(one & ~zero).sum()}" in shown
    assert f"abstained: {(zero == one).sum()} ({(zero == one).mean():.1%})" in shown


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.1, 0.2])
def test_sets_at_other_coverages(scores, probability, alpha):
    size = sets(scores, probability, alpha).sum(axis=0)
    one, both, none = ((size == k).sum() for k in (1, 2, 0))
    q = threshold(scores, alpha)
    line = f"α = {alpha:.2f}: q = {q:.2f}; one label {one}, both {both}, none {none}"
    assert line in printed("15", "alpha")


def test_coverage_and_what_is_expected(split, scores, probability):
    zero, one = sets(scores, probability, 0.05)
    covered = np.where(split.test.y == 1, one, zero).mean()
    n = len(scores)
    k = math.ceil((n + 1) * Fraction(95, 100))
    law = stats.beta(k, n + 1 - k)
    shown = printed("15", "guarantee")
    assert f"test set: {covered:.3f}" in shown
    low, high = law.ppf([0.05, 0.95])
    assert f"expected: {law.mean():.3f}, 90 % range {low:.3f} to {high:.3f}" in shown


@pytest.fixture(scope="module")
def twenty(answers, features, split, model):
    """Whether each answer is covered in 20 halves of the answers outside the training set.

    One row per answer and half: with one threshold for all answers, and with one for each system.
    """
    rest = answers.drop(split.train.X.index)
    probability = model.predict_proba(features.loc[rest.index])[:, 1]
    score = np.where(rest["verdict"].astype(bool), 1 - probability, probability)
    rest = rest.assign(score=score)[["question", "system", "verdict", "score"]]
    halves = GroupShuffleSplit(20, test_size=0.5, random_state=0)
    found = []
    for known, new in halves.split(rest, groups=rest["question"]):
        known, new = rest.iloc[known], rest.iloc[new]
        own = {
            name: threshold(np.sort(each), 0.05) for name, each in known.groupby("system")["score"]
        }
        covered = {
            "all answers": new["score"] <= threshold(np.sort(known["score"]), 0.05),
            "each system": new["score"] <= new["system"].map(own),
        }
        found.append(new.assign(**covered))
    return pd.concat(found, keys=range(20))


def test_twenty_splits(twenty):
    each = twenty["all answers"].groupby(level=0).mean()
    follow("15", "splits", "mean ", [each.mean(), each.std()])
    last = twenty.loc[19]
    for size, unit in ((len(last), "answers"), (last["question"].nunique(), "questions")):
        k = math.ceil((size + 1) * Fraction(95, 100))
        deviation = stats.betabinom(size, k, size + 1 - k).std() / size
        line = f"if {size} {unit} are independent: standard deviation {deviation:.4f}"
        assert line in printed("15", "expected")


def test_coverage_of_each_kind_in_twenty_splits(twenty):
    verdicts = twenty["verdict"].map({True: "correct", False: "incorrect"})
    kinds = pd.concat([twenty["system"], verdicts, verdicts.replace(".+", "all", regex=True)])
    covered = pd.concat([twenty[["all answers", "each system"]]] * 3)
    shares = covered.groupby([covered.index.get_level_values(0), kinds.to_numpy()]).mean()
    for kind, numbers in shares.groupby(level=1).mean().iterrows():
        follow("15", "kinds-table", f" {kind} ", numbers)


def test_errors_among_accepted_labels(split, scores, probability):
    zero, one = sets(scores, probability, 0.05)
    accepted = zero != one
    wrong = (one[accepted] != (split.test.y[accepted] == 1)).mean()
    line = f"marginal: accepts {accepted.mean():.1%}, of these {wrong:.1%} wrong"
    assert line in printed("15", "selective")


def test_deferral_to_people_and_break_even(split, scores, probability):
    zero, one = sets(scores, probability, 0.05)
    deferred, guess = zero == one, probability[1] >= 0.5
    y = split.test.y.to_numpy() == 1
    right = guess == y
    shown = printed("15", "people")
    assert f"{deferred.sum()} of {len(y)} answers deferred" in shown
    alone, helped = accuracy_score(y, guess), (right | deferred).mean()
    assert f"accuracy alone {alone:.3f}, with people {helped:.3f}" in shown
    assert f"more than {right[deferred].mean():.1%} of the" in printed("15", "break-even")
    units = split.test.groups.to_numpy()
    for kept, values in (
        (deferred, right),
        (deferred | True, right),
        (deferred | True, right | deferred),
    ):
        mean, low, high = cluster_interval(values[kept], units[kept])
        rounded = [f"{mean:.{k}f}{a}{low:.{k}f}{b}{high:.{k}f}" for k, a, b in LAYOUTS]
        assert any(numbers in printed("15", "compare") for numbers in rounded)


def test_published_shares_and_what_they_allow():
    counts = {"precision": (152, 162), "recall": (152, 183), "accuracy": (194, 235)}
    for name, (k, n) in counts.items():
        low, high = wilson(k, n)
        follow("15", "published", f"ensemble {name} ", [k, n, k / n, low, high])
    p_values = [mid_p(k + 8, k) for k in range(15)]
    assert f"p between {min(p_values):.3f} and {max(p_values):.3f}" in printed("15", "bounds")
