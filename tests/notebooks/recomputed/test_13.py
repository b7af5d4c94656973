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
from support.by_hand import best_f1, contains, mid_p, tango, words
from support.printed import follow, printed

import ragnb

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
    counted = f"{found} of 10 p-values are below 0.05, and {after} after"
    assert counted in printed("13", "holm-counts")
    true = sum(multipletests(all_questions, method="holm")[1] < 0.05)
    expected = f"100 questions show {after} of 10 differences all 3,020 questions show {true}"
    assert expected in printed("13", "missed")


def test_one_difference_in_three_families(hundred, study):
    """The p-value of the verdicts alone, among four metrics, and among ten pairs."""
    ids, bing, fid = hundred
    with (ROOT / "docs" / "answers.csv").open(encoding="utf-8") as file:
        rows = {(row["system"], row["example_id"]): row for row in csv.DictReader(file)}
    exact, inside, f1 = ({}, {}, {})
    for name in ("New Bing", "FiD"):
        parts = [(rows[name, one]["response"], [[rows[name, one]["references"]]]) for one in ids]
        exact[name] = np.array([words(said) == words(alias[0][0]) for said, alias in parts])
        inside[name] = np.array([contains(said, alias) for said, alias in parts])
        f1[name] = np.array([best_f1(said, alias) for said, alias in parts])
    of_people = mid_p(sum(bing & ~fid), sum(fid & ~bing))
    p_values = [of_people]
    for values in (exact, inside):
        one, two = values["New Bing"], values["FiD"]
        p_values.append(mid_p(sum(one & ~two), sum(two & ~one)))
    # The notebook's test of F1 is another one; both p-values are far below that of the verdicts.
    p_values.append(stats.ttest_rel(f1["New Bing"], f1["FiD"]).pvalue)
    of_metrics = multipletests(p_values, method="holm")[1][0]
    few = {name: {one: verdicts[one] for one in ids} for name, verdicts in study.items()}
    pairs = list(combinations(["FiD", "New Bing", "GPT-3.5", "ChatGPT", "GPT-4"], 2))
    of_pairs = [mid_p(*counts(few[one], few[two])[:2]) for one, two in pairs]
    of_pairs = multipletests(of_pairs, method="holm")[1][0]
    shown = printed("13", "three-table")
    assert f"0.12 {of_people:.4f} {of_people:.4f} 1 " in shown
    assert f"0.12 {of_people:.4f} {of_metrics:.4f} 4 " in shown
    assert f"0.12 {of_people:.4f} {of_pairs:.4f} 10" in shown


def paired(first, second, rows):
    return np.array([(first[one], second[one]) for one in rows if one in first and one in second])


def test_equivalence_of_a_pair_that_was_chosen_on_other_questions(hundred, study):
    ids, *_ = hundred
    gaps = {}
    for one, two in combinations(study, 2):
        b, c, n = counts(*({key: study[name][key] for key in ids} for name in (one, two)))
        gaps[one, two] = abs(b - c) / n
    closest = min(gaps, key=gaps.get)
    assert set(closest) == {"GPT-4", "ChatGPT"}
    others = [key for key in study["GPT-4"] if key not in ids]
    pairs = paired(study["GPT-4"], study["ChatGPT"], others).astype(float)
    assert f"tested on {len(pairs):,} other questions" in printed("13", "closest")
    p = ttost_paired(*pairs.T, -0.03, 0.03)[0]
    assert f"ragnb: p = {p:.4f} statsmodels: p = {p:.4f}" in printed("13", "tost")


def test_equivalence_after_looking_and_without_doubtful_labels(study):
    bing, gpt4 = study["New Bing"], study["GPT-4"]
    pairs = paired(bing, gpt4, bing).astype(float)
    p = ttost_paired(*pairs.T, -0.03, 0.03)[0]
    assert f"New Bing and GPT-4: p = {p:.4f}; times the 10 pairs: p = {10 * p:.3f}" in printed(
        "13", "tost-after"
    )
    frame = ragnb.load_study("evouna-nq", usable=True)
    doubtful = {
        (row["example_id"], row["system"])
        for row in frame.to_dict("records")
        if not row["verdict"] and contains(row["response"], row["references"])
    }
    rest = [
        one for one in bing if (one, "New Bing") not in doubtful and (one, "GPT-4") not in doubtful
    ]
    clean = paired(bing, gpt4, rest).astype(float)
    gain = clean[:, 0] - clean[:, 1]
    follow(
        "13",
        "tost-without",
        "without them ",
        [
            gain.mean(),
            ttost_paired(*clean.T, -0.03, 0.03)[0],
            mid_p(int((gain > 0).sum()), int((gain < 0).sum())),
            len(clean),
        ],
    )
