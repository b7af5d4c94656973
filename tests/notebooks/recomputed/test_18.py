"""Numbers of notebook 18, recomputed with numpy, pandas and scikit-learn."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.multitest import multipletests
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


@pytest.fixture(scope="module")
def topics(grades):
    study = ragnb.load_study("trec-rag-judges")
    return study.groupby("example_id")["question_id"].first()[grades.index].to_numpy()


def kappa(first, second):
    return cohen_kappa_score(first, second, weights="quadratic")


def mean_kappas(grades):
    """Mean quadratic kappa with NIST and between the judges, and its difference, from means and variances."""
    columns = grades[[*JUDGES, "NIST"]].to_numpy()
    means, variances = columns.mean(axis=0), columns.var(axis=0)
    observed = ((columns[:, :, None] - columns[:, None, :]) ** 2).mean(axis=0)
    by_chance = (means[:, None] - means) ** 2 + variances[:, None] + variances
    kappas = 1 - observed / by_chance
    with_people = kappas[-1, :-1].mean()
    between = kappas[:-1, :-1][np.triu_indices(len(JUDGES), 1)].mean()
    return np.array([with_people, between, between - with_people])


def jackknife(statistic, grades, topics):
    """Estimate, low and high of a statistic, without one topic at a time, and the p-value of 0."""
    units = np.unique(topics)
    whole = statistic(grades)
    left_out = np.array([statistic(grades[topics != unit]) for unit in units])
    n = len(units)
    error = stats.sem(n * whole - (n - 1) * left_out)
    half = stats.t.ppf(0.975, n - 1) * error
    return whole, whole - half, whole + half, 2 * stats.t.sf(np.abs(whole) / error, n - 1)


def test_the_difference_of_the_mean_agreements_by_a_jackknife_over_topics(grades, topics):
    whole, low, high, _ = jackknife(mean_kappas, grades, topics)
    rows = ("with NIST", "between the others", "difference")
    for place, (name, n_pairs) in enumerate(zip(rows, (7, 21, 28), strict=True)):
        follow("18", "means", f" {name} ", [whole[place], low[place], high[place], n_pairs, 86])
    # What the text says: the interval of the difference is far from 0.
    assert low[2] > 0.15
    pairs = {pair: kappa(grades[pair[0]], grades[pair[1]]) for pair in combinations(JUDGES, 2)}
    one_model = pairs["GPT-4o", "UMBRELA (GPT-4o)"]
    assert sum(value > one_model for value in pairs.values()) > len(pairs) / 2


def test_agreement_with_people_and_between_judges(grades):
    with_people = [kappa(grades[judge], grades["NIST"]) for judge in JUDGES]
    between = [kappa(grades[first], grades[second]) for first, second in combinations(JUDGES, 2)]
    assert mean_kappas(grades) == pytest.approx(
        [np.mean(with_people), np.mean(between), np.mean(between) - np.mean(with_people)]
    )
    table = printed("18", "agreement")
    for judge, value in zip(JUDGES, with_people, strict=True):
        assert f"NIST - {judge} {value:.2f} " in table


def test_what_the_panel_is_worth(grades):
    errors = [grades[judge] - grades["NIST"] for judge in JUDGES]
    r = np.mean([np.corrcoef(first, second)[0, 1] for first, second in combinations(errors, 2)])
    text = f"mean correlation of the errors {r:.2f}: 7 judges are worth {7 / (1 + 6 * r):.1f}"
    assert text in printed("18", "panel")


def test_the_panel_and_its_members_order_passages_as_people_do(grades, topics):
    panel = grades.assign(panel=grades[JUDGES].mean(axis=1)).rank()
    p_values, intervals = [], []
    for judge in JUDGES:

        def difference(rows, judge=judge):
            r = np.corrcoef(rows[[judge, "panel", "NIST"]].T)
            return r[0, 2] - r[1, 2]

        whole, low, high, p = jackknife(difference, panel, topics)
        both = [stats.spearmanr(panel[name], panel["NIST"])[0] for name in (judge, "panel")]
        follow("18", "panel-compared", f" {judge} ", [*both, whole, low, high])
        p_values.append(p)
        intervals.append((low, high))
    # What the text says: six are worse than the panel, and the interval of the best contains 0.
    adjusted = multipletests(p_values, method="holm")[1]
    assert [judge for judge, p in zip(JUDGES, adjusted, strict=True) if p > 0.05] == [JUDGES[0]]
    assert intervals[0][0] < 0 < intervals[0][1]
    assert max(high for _, high in intervals[1:]) < 0


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
