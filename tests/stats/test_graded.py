"""Graded ratings and rankings of systems, against other libraries and published data."""

from itertools import permutations

import krippendorff
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

import ragnb
from ragnb.reports import graded_report, scores_by_grade
from ragnb.stats import (
    agreement_interval,
    kendall_tau_b,
    ppi_mean,
    ranking_interval,
    tau_ap,
    tau_ap_b,
)


@pytest.fixture(scope="module")
def grades():
    labels = ragnb.load_study("mtrag", "labels")
    key = ["example_id", "system"]
    return labels.pivot(index=key, columns="annotator", values="faithfulness").astype(float)


def test_ordinal_alpha_equals_krippendorff_on_people_who_did_not_rate_everything(grades):
    found = agreement_interval("ordinal alpha", grades)
    expected = krippendorff.alpha(grades.to_numpy().T, level_of_measurement="ordinal")
    assert found.estimate == pytest.approx(expected)
    assert found.low < expected < found.high
    conversations = [example.split("/")[1] for example, _ in grades.index]
    clustered = agreement_interval("ordinal alpha", grades, conversations)
    assert clustered.n == 20
    assert clustered.estimate == pytest.approx(expected)


def yilmaz(reference, other):
    """The formula of the paper, for rankings without ties."""
    order = sorted(range(len(other)), key=lambda system: -other[system])
    shares = [
        sum(reference[above] > reference[system] for above in order[:place]) / place
        for place, system in enumerate(order)
        if place
    ]
    return 2 * sum(shares) / len(shares) - 1


def test_tau_ap_equals_the_published_formula():
    rng = np.random.default_rng(1)
    for n in (2, 5, 12):
        reference, other = rng.permutation(n), rng.permutation(n)
        assert tau_ap(reference, other) == pytest.approx(yilmaz(reference, other))


def mean_over_orders(reference, other):
    """Mean of the published formula over all orders of the tied systems, in both rankings."""
    values = []
    for order in permutations(range(len(other))):
        if sorted(other, reverse=True) != [other[system] for system in order]:
            continue
        shares = []
        for place, system in enumerate(order):
            right = [
                np.sign(reference[above] - reference[system]) / 2 + 0.5 for above in order[:place]
            ]
            shares += [np.mean(right)] if right else []
        values.append(2 * np.mean(shares) - 1)
    return np.mean(values)


def test_tau_ap_with_ties_is_the_mean_over_their_orders():
    assert tau_ap([4, 3, 2, 1], [2, 2, 1, 1]) == pytest.approx(5 / 9)
    assert tau_ap_b([4, 3, 2, 1], [2, 2, 1, 1]) == pytest.approx(5 / 9)
    rng = np.random.default_rng(0)
    for n in rng.integers(2, 7, 60):
        reference, other, distinct = *rng.integers(0, 4, (2, n)), rng.permutation(n)
        for true in (reference, distinct):
            if np.ptp(true) and np.ptp(other):
                assert tau_ap(true, other) == pytest.approx(mean_over_orders(true, other))


# Data and values of the tests of ircor, by the authors of the coefficients with ties:
# github.com/julian-urbano/ircor. Scores, the same scores with ties, and tau_AP, tau_AP,a with ties
# in the second list, tau_AP,b, and tau_AP,b with ties in both lists.
IRCOR = [
    (
        [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
        [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988],
        [0.9, 0.4, 0.9, 0.9, 0.7, 0.1, 0.2, 0.4, 0.5, 1],
        [0.8, 0.4, 0.8, 1, 0.7, 0.1, 0.4, 0.5, 0.6, 1],
        (0.8519, 0.7454, 0.8333, 0.7321),
    ),
    (
        [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38],
        [0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644],
        [0.3, 0.6, 0.2, 0.9, 0.6, 0.2, 0.7, 0.8, 0.7, 0.4],
        [0.3, 0.8, 0.7, 0.9, 0.1, 0.1, 0.5, 0.6, 1, 0.6],
        (0.2504, 0.2692, 0.2880, 0.2970),
    ),
    (
        [0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445],
        [0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25],
        [0.2, 0.6, 0.9, 0.1, 0.5, 0.6, 0.8, 0.4, 1, 0.4],
        [0.8, 0.3, 0.3, 0.9, 0.6, 0.3, 0.2, 0.9, 0, 0.2],
        (-0.6971, -0.5558, -0.6680, -0.7047),
    ),
]


@pytest.mark.parametrize(("x", "y", "x_ties", "y_ties", "expected"), IRCOR)
def test_ap_correlations_are_those_of_the_authors(x, y, x_ties, y_ties, expected):
    found = tau_ap(x, y), tau_ap(x, y_ties), tau_ap_b(x, y), tau_ap_b(x_ties, y_ties)
    assert found == pytest.approx(expected, abs=5e-5)
    assert tau_ap_b(y_ties, x_ties) == tau_ap_b(x_ties, y_ties)


@pytest.mark.parametrize("unit", [1, 10, 100, 1 / 3, 1e-9, 1e9])
def test_means_that_are_equal_except_for_rounding_error_are_tied(unit):
    """Means .2, .2, 0 of tenths in other orders, and of the same numbers."""
    people = np.array([[0.1, 0.2, 0], [0.2, 0.3, 0], [0.3, 0.1, 0]]) * unit
    judge = np.array([[0.3, 0.1, 0], [0.3, 0.2, 0], [0.3, 0.3, 0]]) * unit
    found = ranking_interval("tau-b", people, people[:, [1, 0, 2]])
    assert found.estimate == pytest.approx(1)
    assert ranking_interval("tau-b", people, judge).estimate == pytest.approx(2 / 6**0.5)  # .816
    assert kendall_tau_b([0.2, 0.1 + 0.1, 0], [3, 2, 1]) == pytest.approx(2 / 6**0.5)
    assert kendall_tau_b([unit * 0.3, unit * (0.1 + 0.2), 0], [3, 2, 1]) == pytest.approx(
        2 / 6**0.5
    )
    assert tau_ap([3, 2, 1], [unit * 0.3, unit * (0.1 + 0.2), 0]) == pytest.approx(0.5)
    assert np.isnan(tau_ap([0.3, 0.1 + 0.2], [2, 1]))


def test_a_report_on_judges_of_mtrag_agrees_with_scipy():
    from scipy.stats import spearmanr

    turns = ragnb.load_study("mtrag")
    report = graded_report(
        turns, judge=["mtrag.rb_llm", "mtrag.rl_f"], label="human_faithfulness"
    ).set_index(["judge", "metric"])
    assert "ordinal alpha" not in report.index.levels[1], "0 to 1 is another scale than 1 to 4"
    for judge in ("mtrag.rb_llm", "mtrag.rl_f"):
        expected = spearmanr(turns[judge], turns["human_faithfulness"]).statistic
        assert report.loc[(judge, "Spearman"), "mean"] == pytest.approx(expected)
        by_system = turns.groupby("system")[[judge, "human_faithfulness"]].mean()
        tau = kendall_tau_b(by_system["human_faithfulness"], by_system[judge])
        assert report.loc[(judge, "tau-b"), "mean"] == pytest.approx(tau)
        assert report.loc[(judge, "tau-b"), "interval"].endswith("bootstrap over conversations")


def test_two_people_on_one_scale_have_the_coefficients_of_grades(grades):
    two = grades[["46542882", "47200615"]].dropna().reset_index()
    two["conversation_id"] = two["example_id"].str.split("/").str[1]
    report = graded_report(two.assign(turn=1), judge="46542882", label="47200615")
    found = report.set_index("metric")["mean"]
    ratings = two[["46542882", "47200615"]].to_numpy()
    alpha = krippendorff.alpha(ratings.T, level_of_measurement="ordinal")
    assert found["ordinal alpha"] == pytest.approx(alpha)
    kappa = cohen_kappa_score(*ratings.T, weights="quadratic")
    assert found["quadratic kappa"] == pytest.approx(kappa)


def test_scores_by_grade_are_those_of_a_group_by():
    turns = ragnb.load_study("mtrag")
    judge, label = "mtrag.rb_llm", "human_faithfulness"
    found = scores_by_grade(turns, judge=judge, label=label).set_index("grade")
    grade = (turns[label] + 0.5).astype(int)
    groups = turns[judge].groupby(grade)
    assert found["n"].to_dict() == groups.size().to_dict()
    assert found["mean"].to_dict() == pytest.approx(groups.mean().to_dict())
    assert found["p75"].to_dict() == pytest.approx(groups.quantile(0.75).to_dict())
    assert found["n_units"].to_dict() == turns["conversation_id"].groupby(grade).nunique().to_dict()


@pytest.fixture(scope="module")
def judged_turns():
    """People's mean grades of faithfulness from 1 to 4, and a judge's scores on the same scale."""
    turns = ragnb.load_study("mtrag")
    return turns["human_faithfulness"].to_numpy(), 1 + 3 * turns["mtrag.rl_f"].to_numpy()


def test_intervals_of_a_mean_grade_hold_and_are_as_narrow_as_the_correlation_allows(judged_turns):
    """The 477 responses are the population, from which responses are drawn with replacement."""
    people, judge = judged_turns
    truth, trials, n, others = people.mean(), 400, 120, 1000
    rng = np.random.default_rng(5)
    results = []
    for _ in range(trials):
        drawn = rng.integers(len(people), size=n + others)
        labelled, rest = drawn[:n], drawn[n:]
        results.append(ppi_mean(people[labelled], judge[labelled], judge[rest], bounds=(1, 4)))
    holds = np.mean([result.low <= truth <= result.high for result in results])
    assert abs(holds - 0.95) < 4 * np.sqrt(0.95 * 0.05 / trials)
    estimates = np.array([result.estimate for result in results])
    assert abs(estimates.mean() - truth) < 4 * estimates.std() / np.sqrt(trials)
    widths = np.mean([result.high - result.low for result in results])
    alone = np.mean([result.classical.high - result.classical.low for result in results])
    r = np.corrcoef(people, judge)[0, 1]
    assert widths / alone == pytest.approx(np.sqrt(1 - r**2 * others / (n + others)), abs=0.02)
    assert widths / alone < 0.9


def test_undefined_rankings_say_why():
    same = pd.DataFrame(np.ones((5, 3)))
    found = ranking_interval("tau-b", same, same)
    assert np.isnan(found.estimate)
    assert found.problem == "all systems have the same mean"
    found = ranking_interval("tau-b", [[1, 0]], [[1, 0]])
    assert found.problem == "at least 2 questions are needed, got 1"


def test_equal_accuracies_are_tied_in_every_resample():
    first = (np.random.default_rng(1).random((20, 3)) < 0.5) * 1.0
    found = ranking_interval("tau-b", first, first + 1)
    assert (found.low, found.high) == pytest.approx((1, 1))


# ---- grades that nobody chose ------------------------------------------------------------------


def weighted_kappa(first, second, grades):
    """Quadratic kappa with scikit-learn, over all grades of the scale."""
    return cohen_kappa_score(first, second, weights="quadratic", labels=grades)


def test_quadratic_kappa_keeps_the_distance_of_grades_around_one_that_nobody_chose():
    first, second = [1, 1, 2, 4, 4, 2, 1, 4], [1, 2, 2, 4, 2, 4, 1, 4]
    expected = weighted_kappa(first, second, [1, 2, 3, 4])
    assert expected != pytest.approx(weighted_kappa(first, second, [1, 2, 4]), abs=0.01)
    ratings = np.column_stack([first, second])
    found = agreement_interval("quadratic kappa", ratings)
    assert found.estimate == pytest.approx(expected)
    assert agreement_interval("quadratic kappa", ratings * 2 - 1).estimate == pytest.approx(
        expected
    )
    assert agreement_interval("quadratic kappa", ratings / 2).estimate == pytest.approx(expected)
    missing = np.vstack([ratings, [[3, np.nan]]])
    assert agreement_interval("quadratic kappa", missing).estimate == pytest.approx(expected)
    leave_one_out = [
        weighted_kappa(np.delete(first, k), np.delete(second, k), [1, 2, 3, 4]) for k in range(8)
    ]
    pseudo = 8 * expected - 7 * np.array(leave_one_out)
    assert found.estimate - found.low == pytest.approx(
        2.3646 * pseudo.std(ddof=1) / 8**0.5, rel=1e-4
    )


@pytest.mark.parametrize("seed", range(20))
def test_quadratic_kappa_of_random_grades_equals_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    scale = np.arange(1, 8)
    ratings = rng.choice(rng.choice(scale, 3, replace=False), (30, 2))
    expected = weighted_kappa(*ratings.T, scale)
    assert agreement_interval("quadratic kappa", ratings).estimate == pytest.approx(expected)


def graded_frame(judge, people, systems=("a", "b")):
    n = len(judge)
    return pd.DataFrame(
        {
            "example_id": [f"q{k // len(systems)}" for k in range(n)],
            "system": [systems[k % len(systems)] for k in range(n)],
            "judge": judge,
            "people": people,
        }
    )


def test_a_grade_that_no_person_gave_leaves_both_coefficients():
    people = [1, 2, 3, 4, 4, 3, 2, 1, 4, 4, 3, 2]
    judge = [1, 2, 3, 5, 4, 3, 1, 1, 4, 3, 3, 2]
    report = graded_report(graded_frame(judge, people), judge="judge", label="people")
    found = report.set_index("metric")["mean"]
    expected = weighted_kappa(judge, people, [1, 2, 3, 4, 5])
    assert found["quadratic kappa"] == pytest.approx(expected)
    ordinal = krippendorff.alpha([judge, people], level_of_measurement="ordinal")
    assert found["ordinal alpha"] == pytest.approx(ordinal)
    assert "not_reported" not in report


@pytest.mark.parametrize(
    ("judge", "sentence"),
    [
        ([0.9] + [0.5] * 11, "the scores are not all whole numbers, such as 0.9"),
        ([1, 2, 3, 4.5] * 3, "the scores are not all whole numbers, such as 4.5"),
        ([10, 95, 60, 1] * 3, "from 1 to 95 and the grades from 1 to 4 are on different scales"),
        ([1, 1, 1, 0] * 3, "from 0 to 1 and the grades from 1 to 4 are on different scales"),
    ],
)
def test_coefficients_that_cannot_be_reported_are_named_with_the_reason(judge, sentence):
    frame = graded_frame(judge, [1, 2, 3, 4] * 3)
    report = graded_report(frame, judge="judge", label="people")
    assert "quadratic kappa" not in set(report["metric"])
    assert sentence in report["not_reported"].iloc[0]
    assert "Not reported: ordinal alpha and quadratic kappa of judge and people" in repr(report)


def test_one_system_has_no_ranking_and_says_so():
    frame = graded_frame([1, 2, 3, 4] * 3, [1, 2, 3, 4] * 3, systems=("a",))
    report = graded_report(frame, judge="judge", label="people")
    assert set(report["metric"]) == {"Spearman", "ordinal alpha", "quadratic kappa"}
    assert "because there is only one system" in report["not_reported"].iloc[0]
