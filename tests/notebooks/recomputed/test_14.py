"""Numbers of notebook 14, computed from its answers and translations by other libraries than ragnb's statistics."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats
from support.printed import printed

from ragnb.experiments import recorded_responses
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
    shown = printed("14", "pairs")
    assert f"has {cost.mean():.1f} more words" in shown
    assert f"differs by {100 * gain.mean():+.1f} percentage points" in shown


def test_fiellers_limits(pair):
    estimate, low, high = fieller(*pair)
    shown = printed("14", "fieller")
    assert f"buy {100 * estimate:.2f} accepted answers" in shown
    assert f"limits {100 * low:.2f} and {100 * high:.2f} (n = 100)" in shown


@pytest.mark.parametrize("system", ["cross", "lbrag"])
def test_three_ways_to_compute_gain_per_token(recorded, system):
    f1, tokens, question = recorded
    gain, cost = f1[system] - f1["direct"], tokens[system]
    paid = cost > 0
    shown = printed("14", "readings")
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


def test_numbers_of_the_figure_of_net_benefit(pair):
    gain, cost = pair
    file = ROOT / "figures" / "14_net_benefit.json"
    rows = json.loads(file.read_text("utf-8"))["numbers"]
    assert len(rows) == 51
    for row in rows[::10]:
        values = gain - row["price"] / 100 * cost
        half = stats.t.ppf(0.975, 99) * stats.sem(values)
        limits = [values.mean(), values.mean() - half, values.mean() + half]
        shown = [row["net_benefit"], row["low"], row["high"]]
        assert shown == pytest.approx(limits, abs=2e-6)
