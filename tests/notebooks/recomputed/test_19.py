"""Numbers of notebook 19, recomputed with numpy, scipy and statsmodels."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.api import Logit, add_constant
from statsmodels.stats.proportion import proportion_confint
from support.by_hand import best_f1, overlap
from support.judged import judged_answers, turns_of_models
from support.printed import follow, printed

NAMES = {"fid": "FiD", "gpt35": "GPT-3.5", "chatgpt": "ChatGPT", "gpt4": "GPT-4"}
NAMES["newbing"] = "New Bing"


@pytest.fixture(scope="module")
def answers():
    return judged_answers()


@pytest.fixture(scope="module")
def turns():
    return turns_of_models()


@pytest.fixture(scope="module")
def rules(answers):
    """Verdicts of people, and containment, recall and F1 of words, computed by other code."""
    rows = answers.dropna(subset="response")
    best = [
        max(
            (overlap(said, alias) for part in parts for alias in part),
            key=lambda one: one[1],
            default=(0.0, 0.0, 0.0),
        )
        for said, parts in zip(rows["response"], rows["references"], strict=True)
    ]
    f1 = [
        best_f1(said, parts)
        for said, parts in zip(rows["response"], rows["references"], strict=True)
    ]
    return pd.DataFrame(
        {
            "system": rows["system"].replace(NAMES),
            "people": rows["people"].to_numpy(float),
            "containment": rows["judge"].to_numpy(float),
            "recall": [one[1] for one in best],
            "F1": f1,
        }
    )


def worth(frame, judge):
    r = stats.pearsonr(frame["people"], frame[judge]).statistic
    return 100 / (1 - r * r)


JUDGES = ("containment", "recall", "F1")


def test_what_labels_are_worth_for_each_system(rules):
    for system, rows in rules.groupby("system"):
        follow("19", "worth", f"{system} ", [round(worth(rows, judge)) for judge in JUDGES])
    follow("19", "worth", "all pooled ", [round(worth(rules, judge)) for judge in JUDGES])


def test_what_labels_are_worth_without_doubtful_labels(rules):
    doubtful = rules["containment"].eq(1) & rules["people"].eq(0)
    for system, rows in rules[~doubtful].groupby("system"):
        follow("19", "worth-clean", f"{system} ", [round(worth(rows, judge)) for judge in JUDGES])


def test_a_combination_that_was_trained_on_other_systems(rules):
    """The same model by Newton's method in statsmodels, without the small penalty of scikit-learn."""
    others, own = (rules[rules["system"].eq("New Bing") == is_own] for is_own in (False, True))
    columns = [*JUDGES]
    fitted = Logit(others["people"], add_constant(others[columns])).fit(disp=False)
    scores = fitted.predict(add_constant(own[columns]))
    r = stats.pearsonr(own["people"], scores).statistic
    assert f"combined {r:.2f} " in printed("19", "several")
    shown = float(re.search(r"combined [\d.]+ ([\d.]+)", printed("19", "several"))[1])
    assert shown == pytest.approx(100 / (1 - r * r), abs=1.5)


def test_what_labels_are_worth_with_language_models(turns):
    for system, rows in turns.groupby("system"):
        for judge in ("mtrag.rl_f", "mtrag.rb_llm"):
            r = stats.pearsonr(rows["human_faithfulness"], rows[judge]).statistic
            follow("19", "mtrag", f"{system} {judge} ", [r, 100 / (1 - r * r)])


def test_the_interval_of_statsmodels(draws):
    label, _, chosen = draws
    y = label[chosen[0]]
    low, high = proportion_confint(y.sum(), len(y), method="wilson")
    assert f"statsmodels, Wilson: [{low:.3f}, {high:.3f}]" in printed("19", "wilson")


@pytest.fixture(scope="module")
def draws(answers):
    """Labels and verdicts of New Bing, and 3,000 samples of 100 of them."""
    rows = answers[answers["system"] == "newbing"]
    chosen = [
        np.random.default_rng(seed).choice(len(rows), 100, replace=False) for seed in range(3_000)
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
    shown = printed("19", "by-hand")
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
    shown = printed("19", "repeat")
    assert f"judge alone 0.000 {2 * half:.3f}" in shown
    assert f"labels alone {np.mean(covered):.3f} {np.mean(widths):.3f}" in shown
