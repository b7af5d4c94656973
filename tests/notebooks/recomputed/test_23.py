"""Numbers of notebook 23, and of the files that it writes, recomputed from people's verdicts."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats
from statsmodels.stats.multitest import multipletests
from support.by_hand import contains, mid_p, tango, wilson
from support.printed import follow, printed

import ragnb

FIGURES = Path(__file__).parents[3] / "figures"
NAMES = {"fid": "FiD", "gpt35": "GPT-3.5", "chatgpt": "ChatGPT", "newbing": "New Bing"}
BASELINE = "GPT-4"


@pytest.fixture(scope="module")
def values():
    """Verdicts and containment: one row per question that all systems answered, one column each."""
    study = ragnb.load_study("evouna-nq")
    rows = study[~study["improper"]].dropna(subset=["response", "verdict"]).copy()
    pairs = zip(rows["response"], rows["references"], strict=True)
    rows["answer.contains"] = [float(contains(said, parts)) for said, parts in pairs]
    rows["annotator.verdict"] = rows["verdict"].astype(float)
    rows["system"] = rows["system"].replace(NAMES | {"gpt4": BASELINE})
    wide = rows.pivot(
        index="example_id", columns="system", values=["annotator.verdict", "answer.contains"]
    )
    return wide.dropna()


@pytest.fixture(scope="module")
def tests(values):
    """Discordant pairs with GPT-4 by metric and system, and their p-values after Holm."""
    counts = {}
    for metric in ("annotator.verdict", "answer.contains"):
        for system in NAMES.values():
            gap = values[metric, system] - values[metric, BASELINE]
            counts[metric, system] = int((gap > 0).sum()), int((gap < 0).sum())
    p_values = [mid_p(*pair) for pair in counts.values()]
    return counts, dict(zip(counts, multipletests(p_values, method="holm")[1], strict=True))


def test_means_with_wilson_intervals(values):
    n = len(values)
    for (metric, system), column in values.items():
        low, high = wilson(column.sum(), n)
        follow("23", "frames", f"{metric} {system} ", [column.mean(), low, high, n])
        assert f"{system} {n}" in printed("23", "complete")


def test_the_table_and_its_asterisks(values, tests):
    shown = printed("23", "table")
    latex = (FIGURES / "23_table.tex").read_text(encoding="utf-8")
    for (metric, system), p in tests[1].items():
        column = values[metric, system]
        low, high = wilson(column.sum(), len(column))
        star = " *" if p < 0.05 else ""
        assert f"{column.mean():.2f}{star} [{low:.2f}, {high:.2f}]" in shown
        star = r"\textsuperscript{*}" if p < 0.05 else ""
        line = next(line for line in latex.splitlines() if line.startswith(system))
        mean = rf"(\\textbf{{)?{column.mean():.2f}}}?{re.escape(star)} {{\\scriptsize"
        assert re.search(mean, line)
    assert sum(p < 0.05 for p in tests[1].values()) == latex.count("textsuperscript") == 7


def test_the_sentence_of_results(values, tests):
    (b, c), n = tests[0]["annotator.verdict", "New Bing"], len(values)
    low, high = tango(b, c, n)
    p = tests[1]["annotator.verdict", "New Bing"]
    line = f"the difference is {(b - c) / n:.3f} (95 % Tango interval −{-low:.3f} to {high:.3f}"
    shown = printed("23", "results")
    assert f"{line}, {n:,} questions, McNemar mid-p, p = {p:.4f}" in shown
    main = (FIGURES / "23_main.tex").read_text(encoding="utf-8")
    sentence = " ".join(main.replace("~", " ").split())
    assert rf"the difference is {(b - c) / n:.3f} (95 \% Tango interval" in sentence


def test_the_caption(values):
    means = values.mean().unstack()
    gap = 100 * (means.loc["answer.contains"] - means.loc["annotator.verdict"])
    shown = printed("23", "caption")
    assert f"between −{-gap.min():.1f} and −{-gap.max():.1f} percentage points in all" in shown
    assert "Bars are 95% Wilson" in shown
    assert f"n = {len(values):,}" in shown


def test_the_paragraph(values, tests):
    shown, n = printed("23", "paragraph").replace("\\", ""), len(values)
    assert f"on {n:,} questions of EVOUNA-NQ" in shown
    assert f"consist of {5 * n:,} responses" in shown
    assert f"Holm (1979) over {len(tests[0])} comparisons" in shown
    for metric in ("annotator.verdict", "answer.contains"):
        name = {"annotator.verdict": "acceptance by people", "answer.contains": "containment"}
        low, high = map(
            float, re.search(rf"([\d.]+) to ([\d.]+) in {name[metric]}", shown).groups()
        )
        found = [detectable(*pair, n) for (one, _), pair in tests[0].items() if one == metric]
        assert [low, high] == pytest.approx([min(found), max(found)], rel=0.03)


def detectable(b, c, n):
    """The difference that a test of discordant pairs detects with 80 % power, by the normal formula."""
    psi = (b + c) / n
    upper, power = stats.norm.ppf([0.975, 0.8])

    def lacking(d):
        return upper * np.sqrt(psi) + power * np.sqrt(psi - d**2) - d * np.sqrt(n)

    return optimize.brentq(lacking, 1e-6, psi)


def test_sizes_of_text_and_false_alarms():
    column = 7.7 / 2.54
    shown = printed("23", "size")
    assert (
        f"column: {column:.2f} in; text of 10 points prints with {10 * column / 6.4:.1f}" in shown
    )
    assert f"{100 * (1 - 0.95**8):.0f} %" in printed("23", "family")


def test_the_result_without_doubtful_labels(values):
    """Without the questions on which an answer of one of the two contains the reference and was rejected."""
    systems = ["New Bing", BASELINE]
    rejected = [
        values["answer.contains", system].eq(1) & values["annotator.verdict", system].eq(0)
        for system in systems
    ]
    rest = values[~(rejected[0] | rejected[1])]
    gap = rest["annotator.verdict", "New Bing"] - rest["annotator.verdict", BASELINE]
    b, c, n = int((gap > 0).sum()), int((gap < 0).sum()), len(rest)
    low, high = tango(b, c, n)
    shown = printed("23", "robustness")
    assert f"without the {len(values) - n} questions" in shown
    line = f"New Bing is {(b - c) / n:.3f} higher than GPT-4 (95 % Tango interval {low:.3f} to {high:.3f}"
    assert f"{line}, {n:,} questions, McNemar mid-p, p = {mid_p(b, c):.4f}" in shown
    main = " ".join((FIGURES / "23_main.tex").read_text(encoding="utf-8").replace("~", " ").split())
    assert f"New Bing is {(b - c) / n:.3f} higher than GPT-4" in main
