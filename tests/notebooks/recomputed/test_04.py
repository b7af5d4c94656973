"""Numbers of notebook 04, computed from the study, the printed tables and the recorded replies by hand."""

import re

import numpy as np
import pytest
from notebooks.by_hand import mid_p, rate
from notebooks.printed import printed
from statsmodels.stats.multitest import multipletests

import ragnb

NAMES = {"fid": "FiD", "gpt35": "GPT-3.5", "chatgpt": "ChatGPT", "gpt4": "GPT-4", "newbing": "New Bing"}  # fmt: skip


def folded(text):
    for hyphen in "\u2010\u2011\u2012\u2013\u2014\u2212":
        text = text.replace(hyphen, "-")
    for quote in "\u2018\u2019":
        text = text.replace(quote, "'")
    for quote in "\u201c\u201d":
        text = text.replace(quote, '"')
    return text.lower().replace("\u00a0", " ")


@pytest.fixture(scope="module")
def entries():
    study = ragnb.load_study("evouna-nq")
    usable = study[~study["improper"].astype(bool)].dropna(subset=["response", "verdict"])
    return usable[[len(known[0]) > 1 for known in usable["references"]]]


@pytest.mark.parametrize("system", NAMES)
def test_shares_of_answers_with_all_and_any_of_the_known_answers(entries, system):
    rows = entries[entries["system"] == system]
    found = [
        [
            folded(alias) in folded(said) and "insufficient information" not in folded(said)
            for alias in known[0]
        ]
        for said, known in zip(rows["response"], rows["references"], strict=True)
    ]
    shown, n = printed("04", "rules"), len(rows)
    assert f"{NAMES[system]} all {rate(sum(map(all, found)), n, digits=2)} {n}" in shown
    assert f"{NAMES[system]} any {rate(sum(map(any, found)), n, digits=2)} {n}" in shown
    people = int(rows["verdict"].astype(float).sum())
    assert f"{NAMES[system]} accepted by people {rate(people, n, digits=2)} {n}" in shown


def test_a_reader_accepted_half_an_answer(entries):
    """What the text says of the question about the printing press."""
    asked = entries[entries["question"].str.contains("printing press and what year")]
    reply = asked.query("system == 'fid'").iloc[0]
    assert "14" in reply["response"]
    assert "Gutenberg" not in reply["response"]
    assert reply["verdict"]
    assert f"{reply['question']} " in printed("04", "real")


def test_questions_that_ask_for_two_things(entries):
    asks = entries["question"].str.contains(r"\band (?:what|when|who|how|why)\b")
    rows = entries[asks]
    some = [
        0 < sum(folded(alias) in folded(said) for alias in known[0]) < len(known[0])
        for said, known in zip(rows["response"], rows["references"], strict=True)
    ]
    accepted = int(rows["verdict"].astype(float)[some].sum())
    assert (
        f"{rows['question'].nunique()} of the {entries['question'].nunique()} questions ask for two "
        f"things by this pattern. Of the {len(rows)} answers to them, {sum(some)} contain some of the "
        f"known answers but not all. People accept {accepted} of these {sum(some)}."
    ) in printed("04", "two-things")


def test_possible_p_values_of_the_published_declines():
    table = ragnb.published("rgb.information_integration")
    cells = table.pivot(index=["system", "language"], columns="noise_rate", values="printed")
    least, most = [], []
    for before, after in zip(cells[0.0].astype(int), cells[0.4].astype(int), strict=True):
        possible = [mid_p(won, won + before - after) for won in range(min(after, 100 - before) + 1)]
        least.append(min(possible))
        most.append(max(possible))
    p = {"least": least, "most": most}
    adjusted = {name: multipletests(values, method="holm")[1] for name, values in p.items()}
    shown = printed("04", "bounds")
    for number, (_, language) in enumerate(cells.index):
        values = [p["least"], p["most"], adjusted["least"], adjusted["most"]]
        totals = [cells[noise].iloc[number] for noise in (0.0, 0.4)]
        text = " ".join(f"{value[number]:.2g}" for value in values)
        assert f"{language} {totals[0]:.0f} {totals[1]:.0f} {text}" in shown
    said = printed("04", "bounds-said")
    settled = (np.array(most) < 0.05).sum()
    assert f"Of 12 declines, {settled} have a p-value below 0.05 in every possible case" in said
    worst, best = ((adjusted[name] < 0.05).sum() for name in ("most", "least"))
    assert re.search(rf"12 tests, {worst} have .+ and {best} in the most favourable case", said)
    by_hand = printed("04", "bounds-by-hand")
    assert f"{mid_p(0, 21):.7f}" in by_hand
    assert f"{mid_p(34, 55):.3f}" in by_hand
