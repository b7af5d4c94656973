"""Numbers of notebook 22, recomputed from people's labels and from the printed totals."""

import json

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.multitest import multipletests
from support.by_hand import mid_p, wilson
from support.printed import follow, printed

import ragnb

DATA = f"{ragnb.__path__[0]}/datasets/data"


def labels(frame):
    """Labels of the parts of each response."""
    return [[part["label"] for part in parts or []] for parts in frame["parts"]]


def test_refchecker_with_and_without_abstentions():
    rows = ragnb.load_study("refchecker").query("system == 'gpt4'")
    found = labels(rows)
    n = sum(map(bool, found))
    sums = {
        label: sum(one.count(label) / len(one) for one in found if one)
        for label in ("contradicted", "supported")
    }
    for name, size in (("left out", n), ("as 0", len(rows))):
        numbers = [100 * total / size for total in sums.values()]
        follow("22", "refchecker", f"abstentions {name} ", numbers)
    assert f"{n} of {len(rows)} responses have claims" in printed("22", "c07")


def test_hallucination_of_gpt_4_over_languages_under_two_rules():
    """By a search for the two phrases, and for the one near form that occurs."""
    rows = ragnb.load_study("nomiracl").query("system == 'gpt-4-azure' and not answerable")
    said = rows["response"].str.lower()
    no, yes = said.str.contains("i don't know"), said.str.contains("yes, answer is present")
    near = said.str.contains("answer is not present")
    rates = {
        "start": ~said.str.startswith("i don't know"),
        "nomiracl": yes & ~no,
    }
    for rule, answered in rates.items():
        mean = 100 * answered.groupby(rows["language"]).mean().mean()
        follow("22", "c09", f"{rule} ", [mean])
    english = rows["language"] == "en"
    right = ((no & ~yes) | (near & ~no & ~yes))[english]
    assert f"recomputed {100 * right.mean():.1f} %" in printed("22", "accuracy")
    assert right.sum() - (no & ~yes)[english].sum() == 1
    assert f"it would be {100 * (no & ~yes)[english].mean():.1f}" == "it would be 56.8"
    assert rows["response"][english & near & ~no].item() in printed("22", "near-forms")


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
    assert f"harmonic mean: {same.sum()} of {len(turns)} values" in printed("22", "composite")


def test_hallucinated_responses_of_delucionqa():
    rows = ragnb.load_study("delucionqa").dropna(subset=["hallucinated"])
    shares = [np.mean([name != "supported" for name in one]) for one in labels(rows)]
    rows = rows.assign(share=shares, any=[share > 0 for share in shares])
    for split, some in rows.groupby("split"):
        numbers = [some["hallucinated"].astype(int).sum(), some["any"].sum(), some["share"].mean()]
        follow("22", "c15", f"{split} ", numbers)


def test_impossible_percentages():
    for name, cell in (("noise_robustness", "67.68"), ("negative_rejection", "3.37")):
        table = pd.read_csv(f"{DATA}/rgb_{name}.csv")
        k = (3 * table["printed"]).round()
        impossible = table["printed"][(100 * k / 300).round(2) != table["printed"]]
        assert impossible.tolist() == [float(cell)]
        below = int(np.floor(3 * float(cell)))
        text = f"{cell}% is not a possible mean of 300 scores: the nearest totals are {below} ("
        assert text in printed("22", "impossible")
        nearest = round(100 * k[impossible.index[0]] / 300, 2)
        assert f"{cell} {nearest} {cell} is no k/300" in printed("22", "c31")


def test_corrections_of_few_responses():
    table = pd.read_csv(f"{DATA}/rgb_counterfactual_robustness.csv")
    for row in table[table["metric"] == "error_correction"].itertuples():
        k = round(row.printed * row.n / 100)
        low, high = wilson(k, row.n)
        numbers = [row.printed, k, row.n, low, high]
        follow("22", "c20", f"{row.system} {row.language} ", numbers)


def test_the_distance_of_the_guide():
    for adherence in (0, 1):
        rms = np.sqrt(np.mean((1 - np.array([0.20, 0.75, 0.75, adherence])) ** 2))
        assert f"adherence {adherence}: {rms:.3f}" in printed("22", "c22")


def test_numbers_of_answers_that_fit_the_overview():
    """All standard deviations of k ones among n answers, with n - 1 and with n."""
    fits = []
    for n in range(2, 301):
        for k in range(n + 1):
            values = np.repeat([1, 0], [k, n - k])
            deviations = {round(float(values.std(ddof=ddof)), 3) for ddof in (0, 1)}
            if round(k / n, 3) == 0.1 and 0.302 in deviations:
                fits.append(n)
    listed = ", ".join(map(str, fits))
    assert f"0.100 ± 0.302 is possible for n = {listed}" in printed("22", "c24")
    assert f"LBRAG answers – {listed} each of these n fits" in printed("22", "c31")


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
        p_values.append(mid_p(b, c))
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
