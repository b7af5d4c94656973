"""Numbers of notebook 19, recomputed with numpy and scipy."""

import numpy as np
import pytest
from scipy import stats
from support.judged import SEES, judged_answers, turns_of_models
from support.printed import printed


@pytest.fixture(scope="module")
def answers():
    return judged_answers()


@pytest.fixture(scope="module")
def turns():
    return turns_of_models()


def test_what_labels_are_worth(answers, turns):
    shown = printed("19", "worth")
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
