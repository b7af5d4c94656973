"""Repeated runs: components of variance, intervals over fixed questions, pass^k and pass@k."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, ttest_ind

from ragnb.errors import InputError
from ragnb.stats import mean_interval, pass_at_k, pass_k, repeats_interval, variance_components


def runs(seed, n_questions=60, n_runs=4, sd_question=1.0, sd_run=0.5):
    rng = np.random.default_rng(seed)
    questions = np.repeat(np.arange(n_questions), n_runs)
    values = rng.normal(0, sd_question, n_questions)[questions]
    return values + rng.normal(0, sd_run, questions.size), questions


def test_components_of_a_balanced_design_are_those_of_statsmodels_reml():
    """In balanced data, the estimates of REML are those of the analysis of variance if they are positive."""
    from statsmodels.regression.mixed_linear_model import MixedLM

    values, questions = runs(1)
    fit = MixedLM(values, np.ones((values.size, 1)), groups=questions).fit(reml=True)
    components = variance_components(values, questions)
    assert components["question"] == pytest.approx(float(fit.cov_re[0, 0]), rel=1e-4)
    assert components["run"] == pytest.approx(fit.scale, rel=1e-4)


def test_components_of_questions_and_judges_are_those_of_an_analysis_of_variance():
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        [(q, j, r) for q in range(12) for j in range(4) for r in range(3)], columns=["q", "j", "r"]
    )
    of_question, of_judge, both = rng.normal(size=12), rng.normal(size=4), rng.normal(size=(12, 4))
    frame["y"] = of_question[frame["q"]] + of_judge[frame["j"]] + both[frame["q"], frame["j"]]
    frame["y"] += rng.normal(0, 0.7, len(frame))
    table = anova_lm(ols("y ~ C(q) * C(j)", frame).fit())["mean_sq"]
    components = variance_components(frame["y"], frame["q"], frame["j"])
    within, interaction = table["Residual"], table["C(q):C(j)"]
    assert components == pytest.approx(
        {
            "question": (table["C(q)"] - interaction) / (4 * 3),
            "judge": (table["C(j)"] - interaction) / (12 * 3),
            "question × judge": (interaction - within) / 3,
            "run": within,
        }
    )
    once = frame[frame["r"] == 0]
    table = anova_lm(ols("y ~ C(q) + C(j)", once).fit())["mean_sq"]
    components = variance_components(once["y"], once["q"], once["j"])
    assert components["run"] == pytest.approx(table["Residual"])
    assert components["judge"] == pytest.approx((table["C(j)"] - table["Residual"]) / 12)


def test_an_estimate_below_0_is_0_and_unbalanced_runs_are_used():
    # The questions have the same mean, so the mean square between them is 0.
    assert variance_components([1.0, 3.0, 3.0, 1.0], [1, 1, 2, 2]) == {"question": 0.0, "run": 2.0}
    values, questions = runs(3)
    keep = np.random.default_rng(3).random(values.size) < 0.8
    components = variance_components(values[keep], questions[keep])
    assert components["question"] == pytest.approx(1.0, abs=0.5)
    assert components["run"] == pytest.approx(0.25, abs=0.08)


def test_the_interval_of_two_questions_by_hand():
    """Questions with the runs (1, 3) and (5, 9): variances 2 and 8, each mean of two of four values."""
    interval = repeats_interval([1, 3, 5, 9], ["a", "a", "b", "b"])
    variance = (2 / 4) ** 2 * 2 / 2 + (2 / 4) ** 2 * 8 / 2
    parts = np.array([0.25 * 2 / 2, 0.25 * 8 / 2])
    df = variance**2 / np.sum(parts**2)
    from scipy.stats import t

    assert interval.estimate == 4.5
    assert interval.high - 4.5 == pytest.approx(t.ppf(0.975, df) * np.sqrt(variance))


def test_two_questions_with_many_runs_are_two_independent_samples():
    """Welch's test of the runs of one question in two systems has the same degrees of freedom."""
    from ragnb.stats.repeats import fixed_questions, repeats_test

    rng = np.random.default_rng(4)
    first, second = rng.normal(0, 1, 8), rng.normal(0.5, 2, 12)
    sides = [fixed_questions(side, np.zeros(side.size, int)) for side in (first, second)]
    interval, test = repeats_test(*sides, None, 0.95)
    expected = ttest_ind(first, second, equal_var=False)
    assert test.p_value == pytest.approx(expected.pvalue)
    limits = expected.confidence_interval(0.95)
    assert (interval.low, interval.high) == pytest.approx((limits.low, limits.high))


def test_the_two_intervals_cover_what_they_are_about():
    """Over these questions: their true mean. Over such questions: the mean of all, which is 0."""
    n_samples, covers = 600, {"these": 0, "such": 0, "these, of such": 0}
    for seed in range(n_samples):
        rng = np.random.default_rng(seed)
        truth = rng.normal(0, 1.0, 40)
        questions = np.repeat(np.arange(40), 5)
        values = truth[questions] + rng.normal(0, 1.0, 200)
        these = repeats_interval(values, questions)
        such = mean_interval(values, questions)
        covers["these"] += these.low <= truth.mean() <= these.high
        covers["such"] += such.low <= 0 <= such.high
        covers["these, of such"] += these.low <= 0 <= these.high
    low, high = binom.ppf([0.0005, 0.9995], n_samples, 0.95)
    assert low <= covers["these"] <= high
    assert low <= covers["such"] <= high
    # The narrow interval is no interval for other questions.
    assert covers["these, of such"] < 0.75 * n_samples


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_pass_k_counts_the_sets_of_runs(k):
    results = np.array([1, 1, 0, 1, 0])
    sets = list(combinations(results, k))
    assert pass_k([3], [5], k)[0] == pytest.approx(np.mean([all(one) for one in sets]))
    assert pass_at_k([3], [5], k)[0] == pytest.approx(np.mean([any(one) for one in sets]))


def test_what_cannot_be_estimated_is_refused_or_has_a_reason():
    with pytest.raises(InputError, match="two questions or more, and one of them several times"):
        variance_components([1, 2, 3], [1, 2, 3])
    with pytest.raises(InputError, match="the same number of values from each of two judges"):
        variance_components([1, 2, 3], [1, 1, 2], ["a", "b", "a"])
    with pytest.raises(InputError, match="k must be at most the smallest number of runs, 2, got 3"):
        pass_k([1, 1], [2, 4], 3)
    with pytest.raises(InputError, match="n_right must be from 0 to n_runs"):
        pass_at_k([3], [2], 1)
    assert (
        repeats_interval([1, 1, 0], ["a", "a", "b"]).problem == "1 of 2 questions have only one run"
    )
    assert (
        repeats_interval([1, 1, 0, 0], [1, 1, 2, 2]).problem
        == "all runs of each question are equal"
    )
