"""Numbers of notebook 09, computed from its answers and translations by other libraries than ragnb's statistics."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from notebooks.printed import printed
from scipy import optimize, stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

from ragnb.experiments.recorded import recorded_responses
from ragnb.scoring import score

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def pair():
    """Gain and additional words of New Bing over FiD, question by question."""
    with (ROOT / "docs" / "answers.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = {row["system"]: {} for row in rows}
    for row in rows:
        found[row["system"]][row["example_id"]] = (
            row["verdict"] == "True",
            len(row["response"].split()),
        )
    bing, fid = found["New Bing"], found["FiD"]
    return np.array([np.subtract(bing[one], fid[one], dtype=float) for one in bing]).T


@pytest.fixture(scope="module")
def recorded():
    """F1 and tokens of each system in wide tables: a row per answer, with its question."""
    responses = recorded_responses("multilingual")
    f1 = score(responses, "answer.f1").pivot(index="example_id", columns="system", values="value")
    tokens = score(responses, "cost.translation_tokens").pivot(
        index="example_id", columns="system", values="value"
    )
    question = responses.drop_duplicates("example_id").set_index("example_id")["question_id"]
    return f1, tokens.loc[f1.index], question.loc[f1.index]


def by_question(values, question):
    return values.groupby(question.to_numpy()).mean().to_numpy()


def fieller(gain, cost):
    """The ratios at which a paired t-test has p = 0.05, searched on both sides of the estimate."""
    estimate = gain.mean() / cost.mean()

    def excess(r):
        return stats.ttest_1samp(gain - r * cost, 0).pvalue - 0.05

    reach = abs(estimate) * 5
    low = optimize.brentq(excess, estimate - reach, estimate, xtol=1e-12)
    return estimate, low, optimize.brentq(excess, estimate, estimate + reach, xtol=1e-12)


def test_means_of_the_file(pair):
    gain, cost = pair
    shown = printed("09", "pairs")
    assert f"has {cost.mean():.1f} more words" in shown
    assert f"differs by {100 * gain.mean():+.1f} percentage points" in shown


def test_fiellers_limits(pair):
    estimate, low, high = fieller(*pair)
    shown = printed("09", "fieller")
    assert f"buy {100 * estimate:.2f} accepted answers" in shown
    assert f"limits {100 * low:.2f} and {100 * high:.2f} (n = 100)" in shown


@pytest.mark.parametrize("system", ["cross", "lbrag"])
def test_three_ways_to_compute_gain_per_token(recorded, system):
    f1, tokens, question = recorded
    gain, cost = f1[system] - f1["direct"], tokens[system]
    paid = cost > 0
    shown = printed("09", "readings")
    free = f"{1 - paid.mean():.3f}"
    assert f"{system} mean of ratios {(gain / cost)[paid].mean():.4f}" in shown
    counted = (gain / cost).where(paid, 0)
    mean = by_question(counted, question)
    half = stats.t.ppf(0.975, 39) * mean.std(ddof=1) / np.sqrt(40)
    limits = f"{mean.mean():.4f} [{mean.mean() - half:.4f}, {mean.mean() + half:.4f}] {free}"
    assert f"{system} mean of ratios, zeros counted {limits}" in shown
    estimate, low, high = fieller(by_question(gain, question), by_question(cost, question))
    ratio = f"{estimate:.4f} [{low:.4f}, {high:.4f}]"
    assert f"{system} ratio of means, Fieller {ratio} {free}" in shown


def test_differences_in_f1_over_questions(recorded):
    f1, _, question = recorded
    pairs = [("cross", "multi"), ("lbrag", "multi"), ("lbrag", "cross")]
    found = [by_question(f1[one] - f1[other], question) for one, other in pairs]
    p = [stats.ttest_1samp(each, 0).pvalue for each in found]
    adjusted = multipletests(p, method="holm")[1]
    shown = printed("09", "gains")
    for each, q in zip(found, adjusted, strict=True):
        sd = each.std(ddof=1)
        half = stats.t.ppf(0.975, 39) * sd / np.sqrt(40)
        mde = sd * TTestPower().solve_power(nobs=40, alpha=0.05, power=0.8)
        mean = each.mean()
        limits = f"[{mean - half:+.2f}, {mean + half:+.2f}]"
        assert f"{limits} {q:.4f} {mde:.2f}" in shown


def test_published_overview():
    """The printed values are those of the overview that the document shows."""
    direct, multi, cross, lbrag = 0.218, 0.263, 0.271, 0.289
    shown = printed("09", "overview")
    assert f"is {0.00237 / 0.00017:.1f} times that of cross" in shown
    assert f"Cross costs {306.3 / 29.8:.1f} times as much" in shown
    assert f"lbrag gains {(lbrag - direct) / (cross - direct):.2f} times as much" in shown
    assert f"multi gains {multi - direct:.3f}" in shown
    fitting = [
        n
        for n in range(2, 301)
        for k in range(n + 1)
        if f"{k / n:.3f}" == "0.100" and f"{np.std([1] * k + [0] * (n - k), ddof=1):.3f}" == "0.302"
    ]
    assert f"n = {fitting}" in shown


def test_numbers_of_the_figure_of_net_benefit(pair):
    gain, cost = pair
    file = ROOT / "figures" / "09_net_benefit.json"
    rows = json.loads(file.read_text("utf-8"))["numbers"]
    assert len(rows) == 51
    for row in rows[::10]:
        values = gain - row["price"] / 100 * cost
        half = stats.t.ppf(0.975, 99) * stats.sem(values)
        limits = [values.mean(), values.mean() - half, values.mean() + half]
        shown = [row["net_benefit"], row["low"], row["high"]]
        assert shown == pytest.approx(limits, abs=2e-6)
