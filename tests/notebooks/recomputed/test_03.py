"""Numbers of notebook 03, recomputed from the replies of NoMIRACL and the labels of DelucionQA."""

import numpy as np
import pandas as pd
import pytest
from notebooks.by_hand import cluster_interval, rate
from notebooks.printed import printed
from scipy import stats
from statsmodels.stats.multitest import multipletests

import ragnb
from ragnb.metrics.recognition import REFUSALS


@pytest.fixture(scope="module")
def study():
    frame = ragnb.load_study("nomiracl")
    return frame.assign(answerable=frame["answerable"].astype(bool))


@pytest.fixture(scope="module")
def english(study):
    # An empty reply is neither an answer nor a refusal.
    frame = study[study["language"].eq("en") & study["response"].str.strip().ne("")]
    said = frame["response"].str.lower()
    return frame.assign(
        start=said.str.startswith("i don't know"), anywhere=said.str.contains("i don't know")
    )


def test_the_table_of_gpt_4(english):
    rows = english[english["system"] == "gpt-4-azure"]
    table = rows.groupby(["answerable", "start"]).size().unstack()
    for answerable in (False, True):
        line = f"{answerable} {table.loc[answerable, False]} {table.loc[answerable, True]}"
        assert line in printed("03", "c08")
    shown = printed("03", "c09")
    assert f"hallucination rate: {rate(table.loc[False, False], table.loc[False].sum())}" in shown
    assert f"over-refusal: {rate(table.loc[True, True], table.loc[True].sum())}" in shown


def test_rates_of_every_system_under_two_rules(english):
    shown, by_rule = printed("03", "c11"), printed("03", "c15")
    for system, rows in english.groupby("system"):
        good, bad = rows[rows["answerable"]], rows[~rows["answerable"]]
        lies, refusals = (
            [column.mean() for column in pair]
            for pair in ((1 - bad["start"], 1 - bad["anywhere"]), (good["start"], good["anywhere"]))
        )
        aligned = np.concatenate([bad["start"], ~good["start"]])
        columns = 1 - bad["start"], good["start"], aligned
        rates = (rate(column.sum(), len(column), digits=2) for column in columns)
        assert f"{system} {' '.join(rates)}" in shown
        cells = by_rule.split(f" {system} ")[1].split()
        assert cells[:2] == [f"{value:.2f}" for value in lies]
        assert cells[3:5] == [f"{value:.2f}" for value in refusals]


def test_three_outcomes_of_replies_to_unanswerable_questions(study):
    """As NoMIRACL's template.py reads a reply, with the invalid ones in the denominator."""
    rows = study[study["language"].eq("en") & ~study["answerable"]]
    shown = printed("03", "outcomes-shares")
    for system, some in rows.groupby("system"):
        said = some["response"].str.lower().str.replace("’", "'")
        yes, no = said.str.contains("yes, answer is present"), said.str.contains("i don't know")
        near_yes = said.str.contains("answer is present")
        near_no = said.str.contains("answer is not present") & ~near_yes
        answered = ((yes | near_yes) & ~no).mean()
        refused = ((no & ~yes) | (near_no & ~no)).mean()
        shares = [answered, refused, 1 - answered - refused]
        cells = shown.split(f" {system} ")[1].split()[:3]
        assert [float(cell) for cell in cells] == pytest.approx(shares, abs=0.0051)


@pytest.fixture(scope="module")
def manual():
    frame = ragnb.load_study("delucionqa")
    said = frame["response"].str.lower().str.replace("’", "'").str.split().str.join(" ")
    return frame.assign(
        said=said, listed=[any(phrase in text for phrase in REFUSALS["en"]) for text in said]
    )


def test_sensitivity_and_specificity_of_the_list_with_questions_as_clusters(manual):
    people = manual["refusal"].astype(bool)
    for share, rows in (("sensitivity", manual[people]), ("specificity", manual[~people])):
        agrees = rows["listed"] == rows["refusal"].astype(bool)
        mean, low, high = cluster_interval(agrees, rows["question"])
        text = f"list {share} {mean:.2f} [{low:.2f}, {high:.2f}] {len(rows)} "
        assert text in printed("03", "c20")
        assert f"{rows['question'].nunique()} clusters" in printed("03", "c20")


def test_bounds_from_published_totals():
    path = ragnb.__path__[0] + "/datasets/data/rgb_negative_rejection.csv"
    table = pd.read_csv(path)
    counts = (table["printed"] * 3).round().astype(int)
    wide = table.assign(count=counts).pivot_table(
        index=["language", "system"], columns="metric", values="count"
    )
    phrase, judge = wide["rejection"].astype(int), wide["judged_rejection"].astype(int)
    p_values, lines, shown = [], [], printed("03", "c40")
    for one, two in zip(phrase, judge, strict=True):
        overlap = max(one + two - 300, 0)  # as few as possible are counted by both
        b, c = one - overlap, two - overlap
        p_values.append(stats.binomtest(b, b + c).pvalue)
        lines.append(f"{one} {two} 300 {abs(one - two)} {b + c}")
    adjusted = multipletests(p_values, method="holm")[1]
    for line, p, q in zip(lines, p_values, adjusted, strict=True):
        assert f"{line} {p:.2g} {q:.2g} " in shown
