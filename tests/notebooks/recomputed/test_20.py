"""Numbers of notebook 20, recomputed with krippendorff, scikit-learn, statsmodels, scipy and numpy."""

from itertools import combinations

import krippendorff
import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from support.printed import printed

import ragnb

FIELDS = ["faithfulness", "completeness", "appropriateness", "naturalness"]


@pytest.fixture(scope="module")
def grades():
    return ragnb.load_study("mtrag", "labels").astype(dict.fromkeys(FIELDS, float))


def table(grades, field):
    """One row per response, one column per person, from the one with most responses on."""
    wide = grades.pivot(index="item", columns="annotator", values=field)
    return wide[grades["annotator"].value_counts().index]


@pytest.fixture(scope="module")
def two(grades):
    """The faithfulness grades of the two people who share most responses."""
    wide = table(grades, "faithfulness")
    pairs = combinations(wide, 2)
    best = max(pairs, key=lambda pair: wide[list(pair)].notna().all(axis=1).sum())
    assert best == tuple(wide.columns[:2])  # person 1 and person 2
    return wide[list(best)].dropna().astype(int)


def test_the_table_of_two_people(two):
    counts = np.histogram2d(two.iloc[:, 0], two.iloc[:, 1], bins=np.arange(0.5, 5))[0].astype(int)
    lines = [f"{grade} {' '.join(map(str, row))}" for grade, row in enumerate(counts, start=1)]
    assert " ".join(lines) in printed("20", "two")


def test_kappas_of_two_people(two):
    first, second = two.to_numpy().T
    plain = cohen_kappa_score(first, second)
    quadratic = cohen_kappa_score(first, second, weights="quadratic")
    shown = printed("20", "by-hand")
    assert f"{len(two)} responses, same grade: {np.mean(first == second):.3f}" in shown
    assert f"Cohen's kappa {plain:.3f}, quadratic kappa {quadratic:.3f}" in shown
    alpha = krippendorff.alpha(two.to_numpy().T, level_of_measurement="ordinal")
    assert f"ordinal alpha {alpha:.2f} [" in printed("20", "agreement")


def test_interval_of_the_quadratic_kappa(two, grades):
    """The jackknife over conversations."""
    groups = grades.drop_duplicates("item").set_index("item")["conversation_id"][two.index]
    whole = cohen_kappa_score(two.iloc[:, 0], two.iloc[:, 1], weights="quadratic")
    left = []
    for one in groups.unique():
        rest = two[(groups != one).to_numpy()]
        left.append(cohen_kappa_score(rest.iloc[:, 0], rest.iloc[:, 1], weights="quadratic"))
    n = len(left)
    half = stats.t.ppf(0.975, n - 1) * (n - 1) / np.sqrt(n) * np.std(left, ddof=1)
    limits = f"[{whole - half:.2f}, {whole + half:.2f}]"
    assert f"quadratic kappa {whole:.2f} {limits} {n} {len(two)}" in printed("20", "agreement")


def test_alpha_and_percent_agreement_of_all_people(grades):
    shown = printed("20", "all")
    for field in FIELDS:
        wide = table(grades, field)
        alpha = krippendorff.alpha(wide.to_numpy().T, level_of_measurement="ordinal")
        same = [
            np.mean([one == other for one, other in combinations(row[~np.isnan(row)], 2)])
            for row in wide.to_numpy()
        ]
        assert f"{field} {alpha:.2f} {np.nanmean(same):.2f}" in shown
