"""Numbers of notebook 03, recomputed from the replies of NoMIRACL and the labels of DelucionQA."""

import re

import pytest
from support.by_hand import cluster_interval, rate
from support.printed import follow, printed

import ragnb
from ragnb.metrics.recognition import REFUSALS


@pytest.fixture(scope="module")
def study():
    frame = ragnb.load_study("nomiracl")
    return frame.assign(answerable=frame["answerable"].astype(bool))


def short(system):
    """The name of a system as the notebook writes it."""
    return re.sub("-azure|-chat|-Instruct-v0..", "", system)


@pytest.fixture(scope="module")
def english(study):
    """The outcome as NoMIRACL's template.py reads a reply, and whether it begins with or has the phrase."""
    frame = study[study["language"].eq("en")]
    said = frame["response"].str.lower().str.replace("’", "'")
    yes, no = said.str.contains("yes, answer is present"), said.str.contains("i don't know")
    near_yes = said.str.contains("answer is present")
    near_no = said.str.contains("answer is not present") & ~near_yes
    answered = (yes | near_yes) & ~no
    refused = (no & ~yes) | (near_no & ~no)
    return frame.assign(
        answered=answered,
        refused=refused,
        invalid=~answered & ~refused,
        start=said.str.startswith("i don't know"),
        anywhere=no,
    )


OUTCOMES = ["answered", "refused", "invalid"]


def test_the_table_of_llama_2_13b(english):
    rows = english[english["system"] == "llama-2-13b-chat"]
    table = rows.groupby("answerable")[["answered", "invalid", "refused"]].sum()
    good, bad = table.loc[True], table.loc[False]
    words = "answerable {} {} {} unanswerable {} {} {}".format(*good, *bad)
    assert words in printed("03", "c08")
    for kind, counts in (("answerable", good), ("unanswerable", bad)):
        for name, count in counts.items():
            assert f"{kind}_{name} {count} {count} " in printed("03", "c11") + " "
    shown = printed("03", "c09-rates")
    assert f"hallucination rate: {rate(bad['answered'], bad.sum())}" in shown
    assert f"over-refusal: {rate(good['refused'], good.sum())}" in shown
    assert f"invalid: {rate(table['invalid'].sum(), len(rows))}" in shown
    # No reply of this model that the strict rule reads is a refusal.
    assert not rows["start"].any()
    share = bad["invalid"] / bad.sum()
    assert f"{bad.sum()} hallucinations of llama-2-13b" in printed("03", "c16")
    assert f"{bad['invalid']} of them ({share:.0%}) are" in printed("03", "c16")


def test_outcomes_and_alignment_of_every_system(english):
    for system, rows in english.groupby("system"):
        good, bad = rows[rows["answerable"]], rows[~rows["answerable"]]
        follow("03", "outcomes-shares", f" {short(system)} ", bad[OUTCOMES].sum().tolist())
        aligned = good["answered"].sum() + bad["refused"].sum()
        line = f" {short(system)} {rate(aligned, len(rows), digits=2)} "
        assert line in printed("03", "alignment")
        follow("03", "alignment", line, [rows["invalid"].mean()])


def test_hallucination_rates_under_three_rules(english):
    shown = printed("03", "c15")
    for system, rows in english[~english["answerable"]].groupby("system"):
        # An empty reply is neither an answer nor a refusal under the first two rules.
        filled = rows[rows["response"].str.strip().ne("")]
        cells = shown.split(f" {short(system)} ")[1].split()
        expected = [
            1 - filled["start"].mean(),
            1 - filled["anywhere"].mean(),
            rows["answered"].mean(),
        ]
        assert [float(cells[place]) for place in (0, 1, 3)] == pytest.approx(expected, abs=0.0051)


def test_a_rate_of_zero(english):
    rows = english[english["system"].eq("llama-2-70b-chat") & ~english["answerable"]]
    assert rows["refused"].sum() == 0
    assert f"llama-2-70b {rate(0, len(rows))}" in printed("03", "c34")
    assert f"up to {3 / len(rows):.3f}" in printed("03", "c34")


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
        n = rows["question"].nunique()
        text = f"list {share} {mean:.2f} [{low:.2f}, {high:.2f}] {n} "
        assert text in printed("03", "c20")
