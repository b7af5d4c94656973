"""Numbers of notebook 20, recomputed with krippendorff, scikit-learn, statsmodels, scipy and numpy."""

import re
from itertools import combinations

import krippendorff
import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score
from support.by_hand import cluster_interval
from support.printed import follow, printed

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


def test_one_person_gives_most_of_the_lowest_grades_of_appropriateness(grades):
    fours = grades[FIELDS].eq(4).mean()
    assert fours["completeness"] == pytest.approx(fours["appropriateness"], abs=0.03)
    shown = printed("20", "person-shares")
    for number, (_, column) in enumerate(table(grades, "appropriateness").items(), start=1):
        given = column.dropna()
        shares = [f"{(given == grade).mean():.2f}" for grade in (1, 2, 3, 4)]
        assert f"person {number} {' '.join(shares)}" in shown
    lowest = grades.loc[grades["appropriateness"] == 1, "annotator"].value_counts()
    assert lowest.iloc[0] > 3 * lowest.iloc[1:].sum()


def alpha_with_half_width(wide, groups):
    """Ordinal alpha, and the half-width of its jackknife interval over groups."""
    alpha = krippendorff.alpha(wide.to_numpy().T, level_of_measurement="ordinal")
    left = [
        krippendorff.alpha(wide[groups != one].to_numpy().T, level_of_measurement="ordinal")
        for one in groups.unique()
    ]
    n = len(left)
    return alpha, stats.t.ppf(0.975, n - 1) * (n - 1) / np.sqrt(n) * np.std(left, ddof=1)


def test_more_people_narrow_the_interval_of_alpha(grades, two):
    """Over the same responses and conversations, and over all responses."""
    wide = table(grades, "faithfulness")
    groups = grades.drop_duplicates("item").set_index("item")["conversation_id"][wide.index]
    of_two, of_all = (
        alpha_with_half_width(some.astype(float), groups[some.index])
        for some in (two, wide.loc[two.index])
    )
    assert of_all[1] < 0.8 * of_two[1]
    assert f"ordinal alpha {of_two[1]:.3f} 20" in printed("20", "plan")
    alpha, half = alpha_with_half_width(wide, groups)
    limits = f"conversation_id {alpha:.2f} [{alpha - half:.2f}, {alpha + half:.2f}] 20"
    assert limits in printed("20", "units")


def test_conversations_to_label_twice(grades, two):
    """From the limits that the notebook prints, by trying every number of conversations."""
    for metric in ("ordinal alpha", "quadratic kappa", "Cohen's kappa"):
        numbers = re.search(rf"{metric} ([\d.]+) (\d+) (\d+) (\d+)", printed("20", "plan")).groups()
        half, (n, units, items) = float(numbers[0]), map(int, numbers[1:])
        spread = half * np.sqrt(n) / stats.t.ppf(0.975, n - 1)
        sizes = np.arange(2, 500)
        enough = stats.t.ppf(0.975, sizes - 1) * spread / np.sqrt(sizes) <= 0.1
        assert abs(units - sizes[enough][0]) <= 1  # the printed half-width is rounded
        assert items == int(np.ceil(units * len(two) / n))


def test_more_responses_or_more_labels(grades):
    """The standard deviations of the two plans, from the components of variance."""
    rows = grades[grades["system"] == "gpt-4o"].dropna(subset="faithfulness")
    labels = [list(one) for _, one in rows.groupby("item")["faithfulness"] if len(one) == 3]
    table = np.array(labels, float)
    n = len(table)
    # A finite population of n responses, without replacement.
    of_means = table.mean(axis=1).var(ddof=1)
    within = table.var(axis=1).mean()  # one of three labels at random
    once = np.sqrt(of_means / 60 * (1 - 60 / n) + within / 60)
    thrice = np.sqrt(of_means / 20 * (1 - 20 / n))
    shown = printed("20", "budget-draws")
    for plan, expected in (("60 responses, 1 label ", once), ("20 responses, 3 labels ", thrice)):
        drawn = float(re.search(plan + r"([\d.]+)", shown)[1])
        assert drawn == pytest.approx(
            expected, rel=0.08
        )  # 1,000 draws: 2.2 % is one standard error


@pytest.fixture(scope="module")
def same_questions(grades):
    """Grades on the questions of which one person graded all three systems, by the name in the notebook."""
    busy = grades["annotator"].value_counts().index
    names = {name: f"person {number}" for number, name in enumerate(busy, start=1)}
    wide = grades.assign(annotator=grades["annotator"].map(names)).pivot(
        index=["annotator", "example_id", "conversation_id"],
        columns="system",
        values="faithfulness",
    )
    counted = grades.groupby(["annotator", "example_id"])["system"].nunique()
    everything = {(names[person], item) for (person, item), n in counted.items() if n == 3}
    chosen = [(person, item) in everything for person, item, _ in wide.index]
    return wide[chosen]


def test_systems_under_each_person(same_questions):
    for person, rows in same_questions.groupby("annotator"):
        means = rows.mean()
        follow(
            "20",
            "by-person",
            f"{person} ",
            [
                means["gpt-4o"],
                means["llama-3.1-405b-instruct"],
                means["reference"],
                rows.count().max(),
            ],
        )
        assert means.idxmax() == "reference"
        both = rows.dropna(subset=["gpt-4o", "llama-3.1-405b-instruct"])
        gain = both["gpt-4o"] - both["llama-3.1-405b-instruct"]
        words = f"{person} gpt-4o llama-3.1-405b-instruct "
        follow("20", "models", words, [gain.mean()])
    ahead = same_questions.groupby("annotator").mean().eval("`gpt-4o` > `llama-3.1-405b-instruct`")
    assert ahead.sum() == 3


def test_nobody_sees_a_difference_between_the_models(same_questions):
    """By the sign-flip test over conversations, with statsmodels' robust t-test as its neighbour."""
    for _, rows in same_questions.groupby("annotator"):
        both = rows.dropna(subset=["gpt-4o", "llama-3.1-405b-instruct"])
        gain = (both["gpt-4o"] - both["llama-3.1-405b-instruct"]).to_numpy(float)
        low, high = cluster_interval(gain, both.index.get_level_values("conversation_id"))[1:]
        assert low < 0 < high


@pytest.fixture(scope="module")
def suggested():
    """The grades that the recorded judge suggests."""
    study = ragnb.load_study("mtrag")
    study["suggested"] = np.round(1 + 3 * study["mtrag.rb_llm"]).astype(int)
    return study


def test_kappa_of_somebody_who_accepts_all_suggestions(grades, suggested):
    hints = suggested.set_index(suggested["example_id"] + " | " + suggested["system"])["suggested"]
    wide = table(grades, "faithfulness")
    for number, person in enumerate(wide, start=1):
        own = wide[person].dropna().astype(int)
        kappa = cohen_kappa_score(own, hints[own.index], weights="quadratic")
        follow("20", "lazy-kappa", f"person {number} ", [kappa])


def test_agreement_of_two_people_who_let_suggestions_pass(two, suggested):
    hints = suggested.set_index(suggested["example_id"] + " | " + suggested["system"])["suggested"]
    hints = hints[two.index].to_numpy()
    for tolerance in (0, 1, 2):
        kept = [
            np.where(np.abs(grades - hints) <= tolerance, hints, grades)
            for grades in two.to_numpy().T
        ]
        kappa = cohen_kappa_score(*kept, weights="quadratic")
        row = f"{tolerance} {np.mean(kept[0] == kept[1]):.2f} {kappa:.2f}"
        assert row in printed("20", "anchor")
