"""Graded ratings and rankings of systems, against other libraries and published data."""

import krippendorff
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

import ragnb
from ragnb.reports.judge import graded_report, scores_by_grade
from ragnb.stats.agreement import agreement_interval
from ragnb.stats.ppi import ppi_mean
from ragnb.stats.rankings import kendall_tau_b, ranking_interval, tau_ap


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
