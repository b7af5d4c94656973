"""Numbers of notebook 12, recomputed with scripts of a few lines."""

import re
import string
from collections import Counter

import numpy as np
import pytest
from support.by_hand import best_f1, t_interval, wilson, words
from support.printed import follow, printed

import ragnb
from ragnb.experiments import recorded_responses


@pytest.fixture(scope="module")
def usable():
    study = ragnb.load_study("evouna-nq")
    return study[~study["improper"]].dropna(subset="verdict")


def squad_words(text, mark=""):
    """As evaluate-v2.0.py; TriviaQA's script replaces punctuation by a space."""
    lower = text.lower()
    marks = string.punctuation if not mark else string.punctuation + "‘’´`"
    bare = "".join(mark if letter in marks else letter for letter in lower)
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()


def squad_f1(said, parts):
    best = 0.0
    for alias in (alias for part in parts for alias in part):
        one, two = squad_words(said), squad_words(alias)
        shared = sum((Counter(one) & Counter(two)).values())
        if not one or not two:
            best = max(best, float(one == two))
        elif shared:
            best = max(best, 2 * shared / (len(one) + len(two)))
    return best


def test_f1_of_the_beatles():
    assert f"{2 / 3:.2f} articles are removed: {1:.2f}" in printed("12", "c01")
    assert squad_words("The Beatles") == squad_words("Beatles")


@pytest.mark.parametrize(("definition", "f1"), [("unicode", best_f1), ("squad", squad_f1)])
def test_f1_of_english_answers(usable, definition, f1):
    for key, system in (("fid", "FiD"), ("newbing", "New Bing")):
        rows = usable[usable["system"] == key].dropna(subset="response")
        pairs = zip(rows["response"], rows["references"], strict=True)
        values = [f1(said, parts) for said, parts in pairs]
        low, high = t_interval(values)
        numbers = [np.mean(values), low, high, len(values)]
        follow("12", "c05", f"{system} {definition} ", numbers)


def test_the_answer_on_which_definitions_differ():
    said, alias = "1665–1666", "1665 to 1666"
    follow("12", "c08", f"{said} ", [best_f1(said, [[alias]]), squad_f1(said, [[alias]])])


def test_exact_match_by_language():
    rows = recorded_responses("multilingual")
    listed = [(0x30, 0x39), (0x61, 0x7A), (0xC0, 0x24F), (0x400, 0x4FF), (0x590, 0x5FF)]
    listed += [(0x600, 0x6FF), (0xFB50, 0xFDFF), (0xFE70, 0xFEFF), (0xE00, 0xE7F)]
    listed += [(0x1100, 0x11FF), (0xAC00, 0xD7AF), (0x3040, 0x30FF), (0x4E00, 0x9FFF)]

    def kept(text):
        letters = text.lower().strip()
        inside = (any(a <= ord(letter) <= b for a, b in listed) for letter in letters)
        pairs = zip(letters, inside, strict=True)
        return " ".join("".join(letter if good else " " for letter, good in pairs).split())

    for language, some in rows.groupby("language"):
        means = [
            np.mean(
                [
                    any(normal(said) == normal(alias) for alias in parts[0])
                    for said, parts in zip(some["response"], some["references"], strict=True)
                ]
            )
            for normal in (kept, words)
        ]
        assert f"{language} {means[0]:.3f} {means[1]:.3f}" in printed("12", "c10")


def test_hallucination_under_two_rules():
    rows = ragnb.load_study("nomiracl").query("language == 'en' and not answerable")
    said = rows["response"].str.lower()
    rules = {
        "phrase at the start": said.str.startswith("i don't know"),
        "phrase anywhere": said.str.contains("i don't know"),
    }
    for system in ("gpt-4-azure", "llama-2-13b-chat", "Mistral-7B-Instruct-v0.2"):
        for rule, refused in rules.items():
            answered = ~refused[rows["system"] == system]
            low, high = wilson(answered.sum(), len(answered))
            numbers = [answered.mean(), low, high, len(answered)]
            follow("12", "c14", f"{system} {rule} ", numbers)


def test_faithfulness_with_three_conventions():
    for system, rows in ragnb.load_study("factscore").groupby("system"):
        labels = [[part["label"] for part in parts or []] for parts in rows["parts"]]
        shares = [one.count("supported") / len(one) for one in labels if one]
        silent = len(labels) - len(shares)
        low, high = t_interval(shares)
        numbers = [np.mean(shares), low, high, len(shares)]
        follow("12", "c18", f"{system} irrelevant facts count ", numbers)
        as_one, as_zero = ((sum(shares) + k * silent) / len(labels) for k in (1, 0))
        follow("12", "c20", f"{system} ", [np.mean(shares), as_one, as_zero])


def test_ndcg_with_two_gains():
    discount = 1 / np.log2(np.arange(2, 6))
    orders = {"A": [1, 3, 1, 0], "B": [3, 0, 1, 1]}
    for system, grades in orders.items():
        cells = []
        for gain in (lambda g: 2.0**g - 1, lambda g: g):
            best = gain(np.array([3, 1, 1, 0])) @ discount
            cells.append(f"{gain(np.array(grades)) @ discount / best:.3f}")
        assert f"{system} {' '.join(cells)}" in printed("12", "c22")


def test_questions_that_both_systems_answered(usable):
    both = usable[usable["system"].isin(["chatgpt", "gpt4"])].dropna(subset="response")
    n = both.groupby("example_id")["system"].nunique().eq(2).sum()
    assert f"11 definitions, {n} questions" in printed("12", "c30")
