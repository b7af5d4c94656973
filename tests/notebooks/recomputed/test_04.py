"""Numbers of notebook 04, computed from the study, the printed tables and the recorded replies by hand."""

import re

import pytest
from support.by_hand import mid_p, rate
from support.printed import printed

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
    shown, n = printed("04", "rules-table"), len(rows)
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
    shown = printed("04", "several")
    assert f"with a list: {entries['question'].nunique()}" in shown
    assert f"two things: {entries.loc[asks, 'question'].nunique()}" in shown


def test_a_question_that_the_search_misses(entries):
    """It asks for three things, without *and* and a question word."""
    asked = entries[entries["question"].str.startswith("name three large lakes")]
    assert asked["question"].nunique() == 1
    assert not asked["question"].str.contains(r"\band (?:what|when|who|how|why)\b").any()
    assert len(asked["references"].iloc[0][0]) == 3


def test_all_parts_alone_and_together():
    """Each single answer, and the combined answer, labelled by looking for the aliases."""
    right = {}
    for name in ("rgb_integration", "rgb_integration_parts"):
        run = ragnb.recorded(name).query("system == 'plain' and noise_rate == 0")
        reply = run["response"].str.lower()
        run["right"] = [
            all(any(alias.lower() in text for alias in part) for part in parts)
            for text, parts in zip(reply, run["references"], strict=True)
        ]
        right[name] = run.groupby("example_id")["right"].min().astype(int)
    together, alone = right["rgb_integration"], right["rgb_integration_parts"]
    assert len(together) == len(alone) == 30
    difference = (alone - together).mean()
    shown = printed("04", "control-table")
    assert f"each part asked alone {difference:+.2f} [" in shown
    won, lost = int((alone > together).sum()), int((alone < together).sum())
    p = float(re.search(r"\] (\S+) 30", shown)[1])
    assert p == pytest.approx(mid_p(won, lost), rel=0.06)
