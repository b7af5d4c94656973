"""Numbers of notebook 22, recomputed from people's labels and from the printed totals."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from support.by_hand import mid_p, t_interval, wilson
from support.printed import follow, printed

import ragnb

DATA = f"{ragnb.__path__[0]}/datasets/data"


def labels(frame):
    """Labels of the parts of each response."""
    return [[part["label"] for part in parts or []] for parts in frame["parts"]]


def test_factscore_under_both_denominators():
    study = ragnb.load_study("factscore")
    for system, rows in study.groupby("system"):
        for choice, skipped in (("counted", ()), ("left_out", ("irrelevant",))):
            kept = [[name for name in one if name not in skipped] for one in labels(rows)]
            shares = [one.count("supported") / len(one) for one in kept if one]
            low, high = t_interval(shares)
            numbers = [np.mean(shares), low, high, len(shares), len(rows)]
            follow("22", "c03", f"{system} {choice} ", numbers)
            assert f"{100 * np.mean(shares):.1f}" in printed("22", "c05")


def test_refchecker_with_and_without_abstentions():
    rows = ragnb.load_study("refchecker").query("system == 'gpt4'")
    named = {"parts.supported": "supported", "parts.contradicted": "contradicted"}
    shown = printed("22", "c07")
    found = labels(rows)
    for metric, label in named.items():
        shares = [one.count(label) / len(one) for one in found if one]
        assert f"'{metric}': {100 * np.mean(shares):.1f}" in shown
        assert f"'{metric}': {100 * sum(shares) / len(rows):.1f}" in shown.split("as 0:")[1]
    n = sum(map(bool, found))
    assert f"over {n} of {len(rows)} responses" in shown


def test_hallucination_of_gpt_4_over_languages():
    rows = ragnb.load_study("nomiracl").query("system == 'gpt-4-azure' and not answerable")
    said = rows.assign(start=~rows["response"].str.lower().str.startswith("i don't know"))
    rates = said.groupby("language")["start"].mean()
    assert f"start {100 * rates.mean():.1f} % over {len(rates)} languages" in printed("22", "c09")


def test_the_composite_of_mtrag():
    turns = ragnb.load_study("mtrag")
    parts = np.array(
        [
            turns["mtrag.RougeL"],
            (1 + turns["mtrag.Bert-Rec"]) / 2,
            (1 + turns["mtrag.Bert-KPrec"]) / 2,
        ]
    )
    same = np.isclose(3 / (1 / parts).sum(axis=0), turns["mtrag.rb_agg"])
    assert f"harmonic mean: {same.sum()} of {len(turns)} values" in printed("22", "c11")


def test_hallucinated_responses_of_delucionqa():
    rows = ragnb.load_study("delucionqa").dropna(subset=["hallucinated"])
    shares = [np.mean([name != "supported" for name in one]) for one in labels(rows)]
    rows = rows.assign(share=shares, any=[share > 0 for share in shares])
    for split, some in rows.groupby("split"):
        given = some["hallucinated"].astype(int)
        line = f"{split} {given.mean():.3f} {some['any'].mean():.3f} {some['share'].mean():.3f}"
        assert line in printed("22", "c14")
        assert f"{split} {given.sum()} {some['any'].sum()}" in printed("22", "c15")


def test_impossible_percentages():
    for name, cell in (("noise_robustness", "67.68"), ("negative_rejection", "3.37")):
        table = pd.read_csv(f"{DATA}/rgb_{name}.csv")
        k = (3 * table["printed"]).round()
        impossible = table["printed"][(100 * k / 300).round(2) != table["printed"]]
        assert impossible.tolist() == [float(cell)]
        assert f"{cell} is no k/300; {k[impossible.index[0]]:.0f}/300" in printed("22", "c18")


def test_corrections_of_few_responses():
    table = pd.read_csv(f"{DATA}/rgb_counterfactual_robustness.csv")
    for row in table[table["metric"] == "error_correction"].itertuples():
        k = round(row.printed * row.n / 100)
        low, high = wilson(k, row.n)
        numbers = [row.printed, k, row.n, low, high]
        follow("22", "c20", f"{row.system} {row.language} ", numbers)


def test_distances_and_ratios():
    for adherence in (0, 1):
        rms = np.sqrt(np.mean((1 - np.array([0.20, 0.75, 0.75, adherence])) ** 2))
        assert f"adherence {adherence}: {rms:.3f}" in printed("22", "c22")
    table = pd.read_csv(f"{DATA}/lbrag_overview.csv")
    wide = table.pivot(index="system", columns="metric", values="printed")
    gain = wide["answer.f1"] - wide["answer.f1"]["direct"]
    ratios = wide["cost.cnbe"]["lbrag"] / wide["cost.cnbe"]["cross"]
    shown = printed("22", "c24")
    assert f"CNBE: {ratios:.1f} times" in shown
    assert f"gain in F1: {gain['lbrag'] / gain['cross']:.2f} times" in shown
    tokens = wide["cost.translation_tokens"]
    assert f"fewer tokens: {tokens['cross'] / tokens['lbrag']:.1f} times" in shown


def test_what_the_totals_of_an_ensemble_allow():
    table = pd.read_csv(f"{DATA}/continuous_eval_ensemble.csv").set_index(["system", "metric"])
    shares = table["printed"] * table["n"]
    alone, judged = (round(shares[name, "accuracy"]) for name in ("ensemble", "ensemble and judge"))
    abstained = round(shares["ensemble", "abstained"])
    spoiled = range((abstained - (judged - alone)) // 2 + 1)
    p_values = [mid_p(k + judged - alone, k) for k in spoiled]
    shown = printed("22", "c29")
    assert f"{abstained} deferred answers; the judge made {judged - alone} more" in shown
    assert f"between {min(p_values):.3f} and {max(p_values):.3f}" in shown
    assert f"corrected {judged - alone} to {judged - alone + spoiled[-1]}" in shown
    for name, k in (("ensemble accuracy", alone), ("ensemble and judge accuracy", judged)):
        low, high = wilson(k, 235)
        follow("22", "c28", f"{name} ", [round(k / 235, 3), k, 235, low, high])
    assert (judged - alone) / 235 == pytest.approx(0.034, abs=5e-4)


def test_bounds_of_refusals_from_published_totals():
    path = ragnb.__path__[0] + "/datasets/data/rgb_negative_rejection.csv"
    table = pd.read_csv(path)
    counts = (table["printed"] * 3).round().astype(int)
    wide = table.assign(count=counts).pivot_table(
        index=["language", "system"], columns="metric", values="count"
    )
    phrase, judge = wide["rejection"].astype(int), wide["judged_rejection"].astype(int)
    p_values, lines, shown = [], [], printed("22", "rejection-table")
    for one, two in zip(phrase, judge, strict=True):
        overlap = max(one + two - 300, 0)  # as few as possible are counted by both
        b, c = one - overlap, two - overlap
        p_values.append(stats.binomtest(b, b + c).pvalue)
        lines.append(f"{one} {two} {abs(one - two)} {b + c}")
    adjusted = multipletests(p_values, method="holm")[1]
    for line, p, q in zip(lines, p_values, adjusted, strict=True):
        assert f"{line} {p:.2g} {q:.2g} " in shown


def test_possible_p_values_of_the_published_declines(pytestconfig):
    table = ragnb.published("rgb.information_integration")
    cells = table.pivot(index=["system", "language"], columns="noise_rate", values="printed")
    least, most = [], []
    for before, after in zip(cells[0.0].astype(int), cells[0.4].astype(int), strict=True):
        possible = [mid_p(won, won + before - after) for won in range(min(after, 100 - before) + 1)]
        least.append(min(possible))
        most.append(max(possible))
    p = {"least": least, "most": most}
    adjusted = {name: multipletests(values, method="holm")[1] for name, values in p.items()}
    shown = printed("22", "totals")
    for number, (_, language) in enumerate(cells.index):
        totals = [cells[noise].iloc[number] for noise in (0.0, 0.4)]
        text = f"{p['least'][number]:.2g} {p['most'][number]:.2g}"
        assert f"{language} {totals[0]:.0f} {totals[1]:.0f} {text}" in shown
    drawn = json.loads(
        (pytestconfig.rootpath / "figures/22_what_totals_leave_open.json").read_text()
    )
    drawn = pd.DataFrame(drawn["numbers"]).set_index(["system", "language"])
    for name in ("least", "most"):
        adjusted = pd.Series(multipletests(p[name], method="holm")[1], cells.index)
        assert drawn[name].astype(float).to_numpy() == pytest.approx(
            adjusted.loc[drawn.index], abs=1e-6
        )
