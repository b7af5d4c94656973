"""Numbers of notebook 14, computed from its answers and translations by other libraries than ragnb's statistics."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats
from support.by_hand import contains, mid_p, t_interval, tango
from support.printed import follow, printed

import ragnb
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
    follow("14", "pairs", "New Bing − FiD: ", [gain.mean(), cost.mean(), 100])


def test_fiellers_limits(pair):
    estimate, low, high = fieller(*pair)
    shown = printed("14", "fieller")
    assert f"buy {100 * estimate:.2f} accepted answers" in shown
    assert f"limits {100 * low:.2f} and {100 * high:.2f}" in shown
    notebook = (ROOT / "notebooks" / "14_paired_cnbe_statistics.ipynb").read_text("utf-8")
    # The title of the figure of net benefit.
    assert f"New Bing is worth its words below a price of {100 * low:.2f}" in notebook


@pytest.fixture(scope="module")
def study():
    """Verdict, words and whether the answer contains the reference, one row per question that all answered."""
    frame = ragnb.load_study("evouna-nq", usable=True)
    frame["words"] = [len(text.split()) for text in frame["response"]]
    frame["verdict"] = frame["verdict"].astype(float)
    frame["contains"] = [
        contains(said, parts)
        for said, parts in zip(frame["response"], frame["references"], strict=True)
    ]
    return frame.pivot(
        index="example_id", columns="system", values=["verdict", "words", "contains"]
    )


def more(study, system, name):
    return (study[name][system] - study[name]["FiD"]).astype(float)


@pytest.mark.parametrize("system", ["GPT-3.5", "ChatGPT", "GPT-4", "New Bing"])
def test_gain_and_words_of_the_study(study, system):
    both = pd.DataFrame({name: more(study, system, name) for name in ("verdict", "words")}).dropna()
    gain, cost = both["verdict"].to_numpy(), both["words"].to_numpy()
    low, high = t_interval(gain)
    numbers = [gain.mean(), low, high, cost.mean(), *fieller(gain, cost)]
    follow("14", "study", f"{system} ", numbers)


def test_the_gains_of_the_two_systems_with_and_without_doubtful_labels(study):
    rejected = study["contains"].eq(True) & study["verdict"].eq(0)
    for cell, is_left_out in (("gains", rejected & False), ("clean-gains", rejected)):
        values = study["verdict"].astype(float).mask(is_left_out)[["GPT-4", "New Bing"]].dropna()
        gain = values["GPT-4"] - values["New Bing"]
        won, lost = int((gain > 0).sum()), int((gain < 0).sum())
        numbers = [gain.mean(), *tango(won, lost, len(gain)), mid_p(won, lost)]
        follow("14", cell, "GPT-4 New Bing ", numbers)


def jackknife(gains, costs):
    """Difference of two ratios of means with its jackknife t interval."""
    n = len(gains[0])
    without = [
        (gain.sum() - gain) / (cost.sum() - cost) for gain, cost in zip(gains, costs, strict=True)
    ]
    ratios = [gain.sum() / cost.sum() for gain, cost in zip(gains, costs, strict=True)]
    differences = without[0] - without[1]
    error = np.sqrt((n - 1) / n * ((differences - differences.mean()) ** 2).sum())
    half = stats.t.ppf(0.975, n - 1) * error
    difference = ratios[0] - ratios[1]
    return *ratios, difference - half, difference + half


def test_a_higher_ratio_with_equal_gains(study):
    complete = study.dropna()
    systems = ["GPT-4", "New Bing"]
    gains, costs = (
        [more(complete, system, name).to_numpy() for system in systems]
        for name in ("verdict", "words")
    )
    same = (gains[0] + gains[1]) / 2
    for name, chosen in (("observed", gains), ("made equal", [same, same])):
        numbers = 100 * np.array(jackknife(chosen, costs))
        follow("14", "alike-table", f"{name} ", numbers)
    for system, gain, cost in zip(systems, gains, costs, strict=True):
        averaged = np.where(cost > 0, gain / np.where(cost > 0, cost, 1), 0).mean()
        follow("14", "ratios", f"{system} ", [100 * averaged, 100 * gain.mean() / cost.mean()])
    gain, cost = gains[1][costs[1] > 0], costs[1][costs[1] > 0]
    cheap = cost <= np.quantile(cost, 0.25)
    ratio = gain / cost
    for name, values in (("gain", gain), ("words", cost), ("ratio", ratio)):
        follow("14", "cheapest", f"{name} ", [values[cheap].sum() / values.sum()])


def test_the_printed_efficiency_is_the_ratio_of_means():
    with (ROOT / "ragnb/datasets/data/lbrag_overview.csv").open(encoding="utf-8") as file:
        rows = {(row["system"], row["metric"]): row for row in csv.DictReader(file)}
    value = {key: float(row["printed"]) for key, row in rows.items()}
    gain = {
        system: value[system, "answer.f1"] - value["direct", "answer.f1"]
        for system in ("cross", "lbrag")
    }
    ratio = {
        system: gain[system] / value[system, "cost.translation_tokens"]
        for system in ("cross", "lbrag")
    }
    for system in ("cross", "lbrag"):
        # A gain is a difference of two numbers that are rounded to three decimals.
        tokens = value[system, "cost.translation_tokens"]
        assert abs(ratio[system] - value[system, "cost.cnbe"]) <= 0.001 / tokens + 5e-6
        numbers = [gain[system], tokens, ratio[system], value[system, "cost.cnbe"]]
        follow("14", "overview-table", f"{system} ", numbers)
        for n in (100, 70):
            mean, std = value[system, "answer.f1"], float(rows[system, "answer.f1"]["std"])
            half = stats.t.ppf(0.975, n - 1) * std / np.sqrt(n)
            follow("14", "half-widths", f"{system} {n} ", [mean, mean - half, mean + half])
    times = value["lbrag", "cost.cnbe"] / value["cross", "cost.cnbe"]
    assert f"CNBE: {times:.1f} times" in printed("14", "factors")
    assert f"gain: {gain['lbrag'] / gain['cross']:.2f} times" in printed("14", "factors")


def test_only_numbers_of_answers_that_fit_the_printed_standard_deviation_are_used():
    """A standard deviation of 0/1 values follows from their mean and number."""
    with (ROOT / "ragnb/datasets/data/lbrag_overview.csv").open(encoding="utf-8") as file:
        rows = {(row["system"], row["metric"]): row for row in csv.DictReader(file)}
    direct = rows["direct", "answer.exact_match"]
    mean, std = float(direct["printed"]), float(direct["std"])
    fitting = []
    for n in range(2, 301):
        shares = np.arange(n + 1) / n
        shares = shares[np.abs(shares - mean) <= 0.0005 + 1e-12]
        deviations = np.sqrt(shares * (1 - shares) * n / (n - 1))
        if (np.abs(deviations - std) <= 0.0005 + 1e-12).any():
            fitting.append(n)
    assert (min(fitting), max(fitting)) == (70, 100)
    shown = printed("14", "half-widths")
    used = {int(n) for n in re.findall(r"(?:cross|lbrag) (\d+) ", shown)}
    assert used == {70, 100}


def test_no_gain_of_translation_is_shown_for_any_cost(recorded):
    f1, _, question = recorded
    for system in ("cross", "lbrag"):
        gain = by_question(f1[system] - f1["multi"], question)
        low, high = t_interval(gain)
        assert low < 0 < high
        follow("14", "euros-table", f"seconds {system} ", [gain.mean(), low, high])


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
