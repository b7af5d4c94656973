"""Numbers of notebook 11, recomputed with numpy, scipy, statsmodels and scikit-learn."""

import re
import unicodedata

import numpy as np
import pandas as pd
import pytest
from notebooks.printed import printed
from scipy import stats
from sklearn.metrics import accuracy_score, cohen_kappa_score, recall_score
from statsmodels.api import OLS

import ragnb

NAMES = {"newbing": "New Bing", "gpt4": "GPT-4", "chatgpt": "ChatGPT", "fid": "FiD"}
NAMES["gpt35"] = "GPT-3.5"
SEES = {
    "mtrag.rl_f": "LLM, passages",
    "mtrag.Bert-KPrec": "similarity, passages",
    "mtrag.RougeL": "similarity, reference",
    "mtrag.rb_llm": "LLM, reference",
}


def words(text):
    """Letters, marks and numbers, in lower case; other characters are spaces."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    kept = [letter if unicodedata.category(letter)[0] in "LMN" else " " for letter in folded]
    return " ".join("".join(kept).split())


def contains(said, parts):
    """Whether a text contains an alias of each part; an alias without letters does not count."""
    aliases = [[words(alias) for alias in part if words(alias)] for part in parts]
    return all(any(alias in words(said) for alias in part) for part in aliases)


@pytest.fixture(scope="module")
def answers():
    study = ragnb.load_study("evouna-nq")
    rows = study[~study["improper"]].dropna(subset=["response", "verdict"]).copy()
    rows["people"] = rows["verdict"].astype(int)
    pairs = zip(rows["response"], rows["references"], strict=True)
    rows["judge"] = [int(contains(said, parts)) for said, parts in pairs]
    return rows


def cluster_interval(values, clusters):
    """Mean with a cluster-robust t interval."""
    codes = np.unique(clusters, return_inverse=True)[1]
    options = {"cov_type": "cluster", "cov_kwds": {"groups": codes, "df_correction": True}}
    fitted = OLS(np.asarray(values, float), np.ones(len(values))).fit(**options, use_t=True)
    return fitted.params[0], *fitted.conf_int()[0]


def test_the_table_of_counts(answers):
    counts = np.histogram2d(answers["people"], answers["judge"], bins=2)[0].astype(int)
    assert counts.sum() == 15098
    numbers = [
        int(number) for number in re.findall(r"(?<![\d.])\d+(?![\d.])", printed("11", "table"))
    ]
    assert numbers == counts.ravel().tolist()


def test_agreement_kappa_and_error_rates_with_cluster_robust_intervals(answers):
    people, judge, shown = answers["people"], answers["judge"], printed("11", "kappa")
    kappa = cohen_kappa_score(people, judge)
    assert f"Cohen's kappa {kappa:.3f}" in shown
    assert f"percent agreement {accuracy_score(people, judge):.3f}" in shown
    right = (people == judge).astype(float)
    for name, kept in {
        "percent agreement": people >= 0,
        "sensitivity": people == 1,
        "specificity": people == 0,
    }.items():
        found = cluster_interval(right[kept], answers["example_id"][kept])
        assert f"{name} {' '.join(f'{number:.3f}' for number in found)}" in shown
    assert f"{kappa:.2f}" in printed("11", "always")
    assert f"{people.mean():.1%}" in printed("11", "always")


def test_error_rates_of_each_system(answers):
    shown = printed("11", "errors")
    for system, rows in answers.groupby("system"):
        sensitivity = recall_score(rows["people"], rows["judge"])
        specificity = recall_score(rows["people"], rows["judge"], pos_label=0)
        share, accepted = rows["people"].mean(), rows["judge"].mean()
        numbers = [share, accepted, accepted - share, sensitivity, specificity]
        numbers.append(sensitivity + specificity - 1)
        line = " ".join(f"{number:.3f}" for number in numbers)
        assert f"{NAMES[system]} {line}" in shown


def test_differences_of_pairs(answers):
    means = answers.groupby("system")[["people", "judge"]].mean()
    gap = means.loc["chatgpt"] - means.loc["fid"]
    both = recall_score(answers["people"], answers["judge"], pos_label=None, average="macro")
    shrunk = (2 * both - 1) * gap["people"]
    line = f"ChatGPT − FiD {gap['people']:.3f} {shrunk:.3f} {gap['judge']:.3f}"
    assert line in printed("11", "pairs")


@pytest.fixture(scope="module")
def turns():
    rows = ragnb.load_study("mtrag")
    return rows[rows["system"] != "reference"]


def test_correlation_of_judges_and_of_a_person_with_the_other_people(turns):
    grades = ragnb.load_study("mtrag", "labels").dropna(subset="faithfulness")
    pairs = []
    for _, given in grades.groupby(["example_id", "system"]):
        values = given["faithfulness"].to_numpy(float)
        others = [np.delete(values, k).mean() for k in range(len(values))]
        pairs.append(given.assign(person=values, others=others))
    rows = pd.concat(pairs).merge(turns, on=["example_id", "system"])
    shown = printed("11", "graded")
    for column, name in {"person": "another person", **SEES}.items():
        rho = stats.spearmanr(rows[column], rows["others"]).statistic
        assert f"{name} {rho:.2f}" in shown
    assert f"{len(rows)} grades of 7 people" in printed("11", "others")


def test_what_labels_are_worth(answers, turns):
    shown = printed("11", "worth")
    judged = {name: turns[column] for column, name in SEES.items()}
    for name, scores in judged.items():
        r = stats.pearsonr(turns["human_faithfulness"], scores).statistic
        assert f"{name} {r:.2f} {100 / (1 - r * r):.2f}" in shown
    r = stats.pearsonr(answers["people"], answers["judge"]).statistic
    assert f"containment {r:.2f} {100 / (1 - r * r):.2f}" in shown


@pytest.fixture(scope="module")
def draws(answers):
    """Labels and verdicts of New Bing, and 500 samples of 100 of them."""
    rows = answers[answers["system"] == "newbing"]
    chosen = [
        np.random.default_rng(seed).choice(len(rows), 100, replace=False) for seed in range(500)
    ]
    return rows["people"].to_numpy(float), rows["judge"].to_numpy(float), chosen


def estimate(label, verdict, chosen):
    """The PPI++ estimate, and its weight."""
    rest = np.delete(verdict, chosen)
    y, f = label[chosen], verdict[chosen]
    weight = np.cov(y, f, bias=True)[0, 1] / (1 + len(y) / len(rest)) / np.var(verdict, ddof=1)
    weight = min(max(weight, 0), 1)
    return y.mean() + weight * (rest.mean() - f.mean()), weight


def test_the_first_estimate(draws):
    label, verdict, chosen = draws
    value, weight = estimate(label, verdict, chosen[0])
    shown = printed("11", "by-hand")
    assert f"labels: {label[chosen[0]].mean():.3f}, lambda: {weight:.2f}" in shown
    assert f"judge: {verdict[chosen[0]].mean():.3f} on the labelled answers" in shown
    assert f"estimate: {value:.3f}" in shown


def test_coverage_of_the_labels_alone_and_of_the_judge_alone(draws):
    label, verdict, chosen = draws
    truth, quantile = label.mean(), stats.t.ppf(0.975, 99)
    covered, widths = [], []
    for one in chosen:
        # A Wilson interval with the t quantile, for the number of labels that gives the variance
        # of 100 labels and one more, which is half a success.
        rate = label[one].mean()
        moved = (100 * rate + 0.5) / 101
        variance, wider = rate * (1 - rate), moved * (1 - moved)
        n = wider / (variance / 99 + max(wider - variance, 0) / 100)
        q = quantile**2 / n
        centre, half = (
            (rate + q / 2) / (1 + q),
            np.sqrt(rate * (1 - rate) * q + q * q / 4) / (1 + q),
        )
        covered.append(abs(truth - centre) <= half)
        widths.append(2 * half)
    half = stats.t.ppf(0.975, len(verdict) - 1) * stats.sem(verdict)
    assert abs(truth - verdict.mean()) > half
    shown = printed("11", "repeat")
    assert f"judge alone 0.000 {2 * half:.3f}" in shown
    assert f"labels alone {np.mean(covered):.3f} {np.mean(widths):.3f}" in shown


def test_labels_of_rejected_answers_alone(draws):
    label, verdict, _ = draws
    # The judge rejects all of them, so its weight is 0 and the estimate is the mean of the labels.
    rejected = np.flatnonzero(verdict == 0)
    means = [
        label[np.random.default_rng(seed).choice(rejected, 100, replace=False)].mean()
        for seed in range(200)
    ]
    assert f"only rejected answers {np.mean(means):.2f}" in printed("11", "wrong-rejected")
