"""Numbers of notebook 17, recomputed with numpy, scipy, statsmodels and scikit-learn."""

import re
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import accuracy_score, cohen_kappa_score, recall_score
from statsmodels.stats.multitest import multipletests
from support.by_hand import cluster_interval, mid_p, wilson
from support.judged import SEES, judged_answers, turns_of_models
from support.printed import follow, printed

import ragnb

NAMES = {"fid": "FiD", "gpt35": "GPT-3.5", "chatgpt": "ChatGPT", "gpt4": "GPT-4"}
NAMES["newbing"] = "New Bing"


@pytest.fixture(scope="module")
def answers():
    rows = judged_answers()
    doubtful = (rows["judge"] == 1) & (rows["people"] == 0)
    return rows.replace({"system": NAMES}).assign(doubtful=doubtful)


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
    people, judge = answers["people"], answers["judge"]
    kappa = cohen_kappa_score(people, judge)
    follow("17", "kappa", "kappa ", [kappa])
    follow("17", "kappa", "sensitivity ", [recall_score(people, judge)])
    follow("17", "kappa", "specificity ", [recall_score(people, judge, pos_label=0)])
    follow("17", "agreement", "Cohen's kappa ", [kappa])
    right = (people == judge).astype(float)
    for name, kept in (
        ("percent agreement", people >= 0),
        ("sensitivity", people == 1),
        ("specificity", people == 0),
    ):
        found = cluster_interval(right[kept], answers["example_id"][kept])
        units = answers["example_id"][kept].nunique()
        follow("17", "agreement", f"{name} ", [*found, units])
    assert f"{accuracy_score(people, judge):.1%}" in printed("17", "always")
    assert f"{people.mean():.1%}" in printed("17", "always")


def test_error_rates_of_each_system(answers):
    for system, rows in answers.groupby("system"):
        right = (rows["people"] == rows["judge"]).astype(float)
        for metric, label in (("sensitivity", 1), ("specificity", 0)):
            kept = rows["people"] == label
            # Each system answers a question once, so its answers are independent.
            low, high = wilson(int(right[kept].sum()), int(kept.sum()))
            numbers = [right[kept].mean(), low, high, kept.sum()]
            follow("17", "errors", f"{system} {metric} ", numbers)
        sensitivity = recall_score(rows["people"], rows["judge"])
        specificity = recall_score(rows["people"], rows["judge"], pos_label=0)
        bias = rows["judge"].mean() - rows["people"].mean()
        numbers = [bias, sensitivity, specificity, sensitivity + specificity - 1]
        follow("17", "bias", f"{system} ", numbers)


# ---- the errors of the labels ----------------------------------------------------------------------


def test_answers_that_contain_the_reference_and_were_called_incorrect(answers):
    for system, count in answers.groupby("system")["doubtful"].sum().items():
        follow("17", "doubtful", f" {system} ", [count])
    containing = answers[answers["judge"] == 1]
    verdicts = containing.pivot(index="example_id", columns="system", values="people")
    both = verdicts[["ChatGPT", "GPT-4"]].dropna()
    first = (both["ChatGPT"] < both["GPT-4"]).sum()
    second = (both["GPT-4"] < both["ChatGPT"]).sum()
    assert f"{len(both)} questions" in printed("17", "same")
    follow("17", "same-counts", "only ChatGPT called incorrect: ", [first])
    follow("17", "same-counts", "only GPT-4: ", [second])
    assert f"mid-p {mid_p(first, second):.2g}" in printed("17", "same-counts")


def differences(rows):
    """Difference and adjusted p-value of each pair of systems, according to people and to the judge."""
    pairs = list(combinations(NAMES.values(), 2))
    table = {}
    for column in ("people", "judge"):
        wide = rows.pivot(index="example_id", columns="system", values=column)
        gaps, p_values = [], []
        for first, second in pairs:
            both = wide[[first, second]].dropna()
            b = (both[second] > both[first]).sum()
            c = (both[first] > both[second]).sum()
            gaps.append((b - c) / len(both))
            p_values.append(mid_p(b, c))
        table[column] = gaps
        table[f"p {column}"] = multipletests(p_values, method="holm")[1]
    index = [f"{second} − {first}" for first, second in pairs]
    return pd.DataFrame(table, index)[["people", "judge", "p people", "p judge"]]


def test_differences_with_and_without_the_doubtful_answers(answers):
    whole = differences(answers)
    for pair, row in whole.iterrows():
        known = f" {pair} " if f" {pair} " in printed("17", "all-labels") else None
        numbers = row.to_list()
        if known is None:
            first, second = pair.split(" − ")
            known, numbers = f" {second} − {first} ", [-numbers[0], -numbers[1], *numbers[2:]]
        follow("17", "all-labels", known, numbers)
    without = differences(answers[~answers["doubtful"]])
    p_values = ["p people", "p judge"]
    changed = ((whole[p_values] < 0.05) != (without[p_values] < 0.05)).any(axis=1)
    assert without.index[changed].tolist() == ["New Bing − GPT-4"]
    follow("17", "without", " New Bing − GPT-4 ", without[changed].iloc[0])
    # What the text says: people see nine of ten, and containment sees eight of these.
    by_people, by_judge = (whole[name] < 0.05 for name in p_values)
    assert (by_people.sum(), (by_people & by_judge).sum()) == (9, 8)
    assert whole.index[by_people & ~by_judge].tolist() == ["ChatGPT − FiD"]
    assert (without["p people"] < 0.05).all()


def test_what_equal_error_rates_would_make_of_the_differences(answers):
    sensitivity = recall_score(answers["people"], answers["judge"])
    specificity = recall_score(answers["people"], answers["judge"], pos_label=0)
    factor = sensitivity + specificity - 1
    wide = answers.groupby("system")[["people", "judge"]].mean()
    gap = wide.loc["GPT-4"] - wide.loc["GPT-3.5"]
    numbers = [gap["people"], factor * gap["people"], gap["judge"]]
    follow("17", "pairs", " GPT-4 − GPT-3.5 ", numbers)


# ---- length ----------------------------------------------------------------------------------------


def test_error_rates_by_length_within_each_system(answers):
    """Boundaries are quantiles of each system; a length on a boundary belongs to the lower third."""
    columns = ("shortest", "middle", "longest")
    for system, rows in answers.groupby("system"):
        lengths = rows["response"].str.len()
        bounds = np.quantile(lengths, [1 / 3, 2 / 3])
        third = np.searchsorted(bounds, lengths)
        right = rows["people"] == rows["judge"]
        numbers = []
        for label in (1, 0):
            for number in range(len(columns)):
                kept = (third == number) & (rows["people"] == label)
                numbers.append(right[kept].mean())
        # Characters of several code points make a difference of at most one answer in a third.
        shown = printed("17", "length-within")
        text = shown[shown.index(f" {system} ") + len(system) + 2 :].split()[:6]
        assert [float(value) for value in text] == pytest.approx(numbers, abs=0.002)
        sensitivities = numbers[:3]
        assert np.argmin(sensitivities) == 2  # the longest third is lowest in each system
        if system not in ("ChatGPT", "New Bing"):
            assert min(numbers[3:]) > 0.98


def test_systems_in_each_third(answers):
    thirds = pd.qcut(answers["response"].str.len().rank(method="first"), 3, labels=False)
    counts = pd.crosstab(answers["system"], thirds)
    for system, row in counts.iterrows():
        follow("17", "length-systems", f" {system} ", row)


# ---- judges compared -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def people_and_judges(turns):
    grades = ragnb.load_study("mtrag", "labels").dropna(subset="faithfulness")
    pairs = []
    for _, given in grades.groupby(["example_id", "system"]):
        values = given["faithfulness"].to_numpy(float)
        others = [np.delete(values, k).mean() for k in range(len(values))]
        pairs.append(given.assign(person=values, others=others))
    columns = ["example_id", "system", *SEES]
    return pd.concat(pairs).merge(turns[columns], on=["example_id", "system"])


def test_correlation_of_judges_and_of_a_person_with_the_other_people(people_and_judges):
    rows = people_and_judges
    judges = {column: column for column in SEES}
    for column, name in {"person": "another person", **judges}.items():
        rho = stats.spearmanr(rows[column], rows["others"]).statistic
        follow("17", "graded", f"{name} ", [rho])
    assert f"{len(rows)} grades of 7 people" in printed("17", "mtrag-grades")


def test_differences_of_correlations_by_a_jackknife_over_conversations(people_and_judges):
    rows = people_and_judges
    units = rows["conversation_id"].unique()
    ranks = rows[["person", *SEES, "others"]].rank()
    p_values = []
    for column in SEES:

        def difference(kept, column=column):
            r = np.corrcoef(ranks.loc[kept, [column, "person", "others"]].T)
            return r[0, 2] - r[1, 2]

        whole = difference(rows.index)
        left_out = [difference(rows.index[rows["conversation_id"] != unit]) for unit in units]
        n = len(units)
        se = stats.sem(n * whole - (n - 1) * np.array(left_out))
        half = stats.t.ppf(0.975, n - 1) * se
        p_values.append(2 * stats.t.sf(abs(whole) / se, n - 1))
        numbers = [whole, whole - half, whole + half, p_values[-1]]
        follow("17", "paired", f"{column} ", numbers)
    adjusted = multipletests(p_values, method="holm")[1]
    # What the text says: only the last of the four differs after the correction.
    assert (adjusted < 0.05).tolist() == [False, False, False, True]


def test_prompts_and_versions_of_a_model():
    study = ragnb.load_study("trec-rag-judges")
    wide = study.pivot(index="example_id", columns="system", values="grade").astype(float)
    people = study.groupby("example_id")["human_grade"].first()
    for other in ("UMBRELA (GPT-4o)", "GPT-5.5"):
        same = (wide["GPT-4o"] == wide[other]).mean()
        assert f"GPT-4o and {other}: same grade for {same:.0%}" in printed("17", "trec")
        kappas = [
            cohen_kappa_score(wide[name], people, weights="quadratic") for name in (other, "GPT-4o")
        ]
        follow("17", "versions", f"{other} ", [*kappas, kappas[0] - kappas[1]])
    both = wide[["Gemini 2.5 Pro", "Gemini 3.1 Pro Preview"]].dropna()
    follow("17", "different", "Gemini 2.5 Pro ", [wide["Gemini 2.5 Pro"].count()])
    assert f" {len(both)} " in printed("17", "different").partition("quadratic kappa")[2]
