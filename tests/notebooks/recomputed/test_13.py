"""Numbers of notebook 13, computed from its answers by other libraries than ragnb."""

import csv
import gzip
import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import ttost_paired
from support.by_hand import mid_p, tango
from support.printed import printed

ROOT = Path(__file__).parents[3]
NAMES = {"fid": "FiD", "gpt35": "GPT-3.5", "chatgpt": "ChatGPT", "gpt4": "GPT-4"}
NAMES["newbing"] = "New Bing"


@pytest.fixture(scope="module")
def hundred():
    """Verdicts on both systems of the file, in the order of its questions."""
    with (ROOT / "docs" / "answers.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    ids = list(dict.fromkeys(row["example_id"] for row in rows))
    verdicts = {(row["system"], row["example_id"]): row["verdict"] == "True" for row in rows}
    columns = (np.array([verdicts[name, one] for one in ids]) for name in ("New Bing", "FiD"))
    return ids, *columns


@pytest.fixture(scope="module")
def study():
    """Verdicts by system and question of the study."""
    path = ROOT / "ragnb" / "datasets" / "data" / "studies" / "evouna-nq.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    verdicts = {}
    for row in rows:
        if not row["improper"] and row["verdict"] is not None:
            verdicts.setdefault(NAMES[row["system"]], {})[row["example_id"]] = row["verdict"]
    return verdicts


def counts(first, second):
    """Discordant pairs of two systems that share questions."""
    shared = [(first[one], second[one]) for one in first if one in second]
    b = sum(x and not y for x, y in shared)
    return b, sum(y and not x for x, y in shared), len(shared)


def power(n, psi, difference):
    """Exact power of the mid-p test, summed over all pairs of counts."""
    total = 0
    for m in range(n + 1):
        k = np.arange(m + 1)
        law = stats.binom(m, 0.5)
        fewer = np.minimum(k, m - k)
        p = 2 * law.cdf(fewer - 1) + law.pmf(fewer)
        chance = stats.binom.pmf(k, m, (psi + difference) / (2 * psi))
        total += stats.binom.pmf(m, n, psi) * chance[(p <= 0.05) & (m > 0)].sum()
    return total


def test_discordant_pairs_and_both_versions_of_mcnemars_test(hundred):
    _, bing, fid = hundred
    table = np.array([[sum(bing & fid), sum(bing & ~fid)], [sum(~bing & fid), sum(~bing & ~fid)]])
    exact = mcnemar(table, exact=True).pvalue
    (_, b), (c, _) = table
    expected = f"{b} to {c}: exact p = {exact:.4f}, mid-p = {mid_p(b, c):.4f}"
    assert expected in printed("13", "hand")
    for count in table.ravel():
        assert f" {count} " in printed("13", "table")


def test_tangos_interval(hundred):
    _, bing, fid = hundred
    b, c = sum(bing & ~fid), sum(fid & ~bing)
    low, high = tango(b, c, 100)
    assert f"[{low:+.2f}, {high:+.2f}]" in printed("13", "compare")
    assert f"Tango interval {low:.2f} to {high:.2f}, 100 questions" in printed("13", "sentence")
    assert f"{mid_p(b, c):.4f} {b / c:.3f}" in printed("13", "compare")


def test_minimum_detectable_effect(hundred):
    _, bing, fid = hundred
    psi = np.mean(bing != fid)
    mde = optimize.brentq(lambda d: power(100, psi, d) - 0.8, 0.01, psi - 1e-9)
    assert f"minimum detectable effect is {mde:.3f}" in printed("13", "mde")


def test_family_of_ten(hundred, study):
    ids, *_ = hundred
    few = {name: {one: verdicts[one] for one in ids} for name, verdicts in study.items()}
    pairs = list(combinations(["FiD", "GPT-3.5", "ChatGPT", "GPT-4", "New Bing"], 2))
    raw, all_questions = (
        [mid_p(*counts(data[two], data[one])[:2]) for one, two in pairs] for data in (few, study)
    )
    adjusted = multipletests(raw, method="holm")[1]
    shown = printed("13", "family")
    for (one, two), p, q in zip(pairs, raw, adjusted, strict=True):
        b, c, n = counts(few[two], few[one])
        assert f"{two} {one} {(b - c) / n:+.2f} [" in shown
        assert f"] {p:.4f} {q:.4f}" in shown
    found, after = sum(p < 0.05 for p in raw), sum(adjusted < 0.05)
    assert f"{found} of 10 p-values are below 0.05, and {after} after" in printed("13", "holm")
    true = sum(multipletests(all_questions, method="holm")[1] < 0.05)
    assert f"show {after} of the 10 differences" in printed("13", "missed")
    assert f"questions show {true} (" in printed("13", "missed")


def test_equivalence(study):
    bing, gpt4 = study["New Bing"], study["GPT-4"]
    pairs = np.array([(bing[one], gpt4[one]) for one in bing if one in gpt4], dtype=float)
    for margin in (0.01, 0.02, 0.03):
        p = ttost_paired(*pairs.T, -margin, margin)[0]
        assert f"{margin:.2f} {p:.4f} {p < 0.05}" in printed("13", "tost")
