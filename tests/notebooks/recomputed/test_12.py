"""Numbers of notebook 12, recomputed with scripts of a few lines."""

import gzip
import json
import re
import string
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp
from support.by_hand import best_f1, contains, mid_p, overlap, t_interval, tango, words
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
    assert f"{2 / 3:.2f}, are removed: {1:.2f}" in printed("12", "by-hand")
    assert squad_words("The Beatles") == squad_words("Beatles")


@pytest.mark.parametrize(
    ("definition", "f1"), [("token F1", best_f1), ("token F1 (squad)", squad_f1)]
)
def test_f1_of_english_answers(usable, definition, f1):
    means = []
    for key in ("chatgpt", "fid", "gpt35", "gpt4", "newbing"):  # the order of the table
        rows = usable[usable["system"] == key].dropna(subset="response")
        pairs = zip(rows["response"], rows["references"], strict=True)
        means.append(np.mean([f1(said, parts) for said, parts in pairs]))
    follow("12", "c05", f"{definition} ", means)


@pytest.fixture(scope="module")
def both(usable):
    """Exact match, containment, precision, F1, recall and verdict of ChatGPT and GPT-4, one row per question."""
    tables = {}
    for system in ("chatgpt", "gpt4"):
        rows = usable[usable["system"] == system].dropna(subset="response").set_index("example_id")
        pairs = list(zip(rows["response"], rows["references"], strict=True))
        best = [
            max((overlap(said, alias) for part in parts for alias in part), key=lambda one: one[2])
            for said, parts in pairs
        ]
        exact = [any(words(said) == words(alias) for alias in parts[0]) for said, parts in pairs]
        tables[system] = pd.DataFrame(
            {
                "answer.exact_match": exact,
                "answer.contains": [contains(said, parts) for said, parts in pairs],
                "answer.f1": [one[2] for one in best],
                "annotator.verdict": rows["verdict"].astype(bool).to_list(),
            },
            index=rows.index,
        ).astype(float)
    return pd.concat(tables, axis=1).dropna()


def test_one_pair_is_significant_in_both_directions(both):
    first, second = both["chatgpt"], both["gpt4"]
    for metric in ("answer.exact_match", "answer.contains", "annotator.verdict"):
        won = int((second[metric] > first[metric]).sum())
        lost = int((second[metric] < first[metric]).sum())
        low, high = tango(won, lost, len(both))
        follow("12", "opposite", f"{metric} ", [(won - lost) / len(both), low, high])
        # Holm's factor is at most 9.
        assert 9 * mid_p(won, lost) < 0.001
        assert (won > lost) == (metric != "answer.exact_match")
    gain = second["answer.f1"] - first["answer.f1"]
    follow("12", "opposite", "answer.f1 ", [gain.mean()])
    assert ttest_1samp(gain, 0).pvalue > 0.05


def test_the_contradiction_does_not_rest_on_rejected_answers_that_contain_the_reference(both):
    doubtful = {
        system: both[system, "answer.contains"].eq(1) & both[system, "annotator.verdict"].eq(0)
        for system in ("chatgpt", "gpt4")
    }
    shown = printed("12", "labels")
    assert f"ChatGPT {doubtful['chatgpt'].sum()} GPT-4 {doubtful['gpt4'].sum()}" in shown
    rest = both[~(doubtful["chatgpt"] | doubtful["gpt4"])]
    for name, rows in (("all questions", both), ("without these answers", rest)):
        gain = rows["gpt4", "annotator.verdict"] - rows["chatgpt", "annotator.verdict"]
        won, lost = int((gain > 0).sum()), int((gain < 0).sum())
        follow("12", "labels-without", f"{name} ", [gain.mean(), *tango(won, lost, len(rows))])
        assert f"{len(rows)}" in printed("12", "labels-without")


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


def test_hallucination_under_three_rules_and_the_echoes():
    rows = ragnb.load_study("nomiracl").query("language == 'en' and not answerable")
    said = rows["response"].str.lower()
    refuses = said.str.contains("i don't know")
    answers = said.str.contains("yes, answer is present")
    columns = {"anywhere": ~refuses, "start": ~said.str.startswith("i don't know")}
    for system in ("gpt-4-azure", "llama-2-13b-chat", "Mistral-7B-Instruct-v0.2"):
        of_system = rows["system"] == system
        shown = re.findall(r"[\d.]+", printed("12", "c14").partition(f"{system} ")[2])
        for place, column in ((0, "start"), (1, "anywhere")):
            assert f"{columns[column][of_system].mean():.2f}" == shown[place]
    # The prose says that Mistral's rate is twice as high under the first rule as under the last.
    mistral = rows["system"] == "Mistral-7B-Instruct-v0.2"
    first, last = (columns["start"] & mistral).sum(), (answers & ~refuses & mistral).sum()
    assert 1.75 <= first / last <= 2.25
    of_llama = rows["system"] == "llama-2-13b-chat"
    counts = [
        (of_llama & (refuses == first) & (answers == second)).sum()
        for first in (False, True)
        for second in (False, True)
    ]
    assert "False {} {} True {} {}".format(*counts) in printed("12", "echoes")
    assert counts[2:] == [2, 112]


def test_faithfulness_with_three_denominators_and_three_conventions():
    for system, rows in ragnb.load_study("factscore").groupby("system"):
        parts = [one or [] for one in rows["parts"]]
        denominators = {
            "all facts": parts,
            "facts labelled by people": [
                [part for part in one if part["source_label"] in ("S", "NS", "IR")] for one in parts
            ],
            "relevant facts": [
                [part for part in one if part["label"] != "irrelevant"] for one in parts
            ],
        }
        for name, counted in denominators.items():
            shares = [
                np.mean([part["label"] == "supported" for part in one]) for one in counted if one
            ]
            follow(
                "12",
                "faithfulness",
                f"{system} {name} ",
                [np.mean(shares), *t_interval(shares), len(shares)],
            )
        shares = [np.mean([part["label"] == "supported" for part in one]) for one in parts if one]
        silent = len(parts) - len(shares)
        as_one, as_zero = ((sum(shares) + k * silent) / len(parts) for k in (1, 0))
        follow("12", "c20", f"{system} ", [np.mean(shares), as_one, as_zero])


@pytest.mark.data
def test_which_facts_people_labelled_one_by_one(data_folder):
    """Counted in the published files."""
    for system in ("ChatGPT", "PerplexityAI"):
        of_people = of_model = 0
        with gzip.open(data_folder / "factscore" / f"{system}.jsonl.gz", "rt") as lines:
            for sentence in (
                one for line in lines for one in json.loads(line)["annotations"] or []
            ):
                if sentence["is-relevant"]:
                    labels = [fact["label"] for fact in sentence["human-atomic-facts"] or []]
                    of_people += labels.count("IR")
                else:
                    of_model += len(sentence["model-atomic-facts"])
        assert f"{system} {of_people} {of_model}" in printed("12", "facts")


def test_questions_that_both_systems_answered(usable):
    both = usable[usable["system"].isin(["chatgpt", "gpt4"])].dropna(subset="response")
    n = both.groupby("example_id")["system"].nunique().eq(2).sum()
    assert f"38 definitions, {n} questions" in printed("12", "c30")
