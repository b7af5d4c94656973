"""Numbers of notebook 07, computed from its replies without the functions of ragnb that computed them there."""

import re
import unicodedata
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from support.by_hand import cluster_interval
from support.printed import NOTEBOOKS, printed

import ragnb
from ragnb.experiments import recorded_responses

SCRIPTS = {
    "en": ["LATIN"],
    "de": ["LATIN"],
    "es": ["LATIN"],
    "ru": ["CYRILLIC"],
    "zh": ["CJK"],
    "ja": ["CJK", "HIRAGANA", "KATAKANA"],
    "ar": ["ARABIC"],
    "hi": ["DEVANAGARI"],
}


# A date such as 10.10.1957 is three numbers.
NUMBER = re.compile(r"(?<![\d.])\d+(?:[.,]\d+)?(?!\d|[.]\d)")


def words(text):
    """Words, symbols and numbers in small letters, numbers without separators of thousands; each Chinese character is a word."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = re.sub(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])", lambda n: n[0].replace(",", ""), text)
    inside = {place for number in NUMBER.finditer(text) for place in range(*number.span())}
    kept = "".join(
        c
        if place in inside or unicodedata.category(c)[0] in "LMN"
        else f" {c} " * (unicodedata.category(c)[0] == "S") or " "
        for place, c in enumerate(text)
    )
    return re.sub("([\u4e00-\u9fff])", r" \1 ", kept).split()


def plain(text):
    return " ".join(words(text))


def f1(response, aliases):
    best = 0.0
    for alias in aliases:
        said, wanted = words(response), words(alias)
        shared = (Counter(said) & Counter(wanted)).total()
        best = max(best, 2 * shared / (len(said) + len(wanted)))
    return best


def share_of_letters(text, language):
    letters = [unicodedata.name(c) for c in text if unicodedata.category(c)[0] == "L"]
    if not letters:
        return np.nan
    return np.mean([name.startswith(tuple(SCRIPTS[language])) for name in letters])


@pytest.fixture(scope="module")
def labelled():
    frame = ragnb.load_study("sample-labelled-multilingual")
    aliases = [parts[0] for parts in frame["references"]]
    rows = list(zip(frame["response"], aliases, frame["language"], strict=True))
    frame["em"] = [any(plain(said) == plain(text) for text in these) for said, these, _ in rows]
    frame["f1"] = [f1(said, these) for said, these, _ in rows]
    frame["rlc"] = [share_of_letters(said, language) for said, _, language in rows]
    return frame


@pytest.fixture(scope="module")
def scored():
    frame = recorded_responses("multilingual")
    frame["f1"] = [
        f1(said, parts[0])
        for said, parts in zip(frame["response"], frame["references"], strict=True)
    ]
    rows = zip(frame["response"], frame["language"], strict=True)
    frame["rlc"] = [share_of_letters(said, language) for said, language in rows]
    return frame


def test_what_exact_match_and_f1_make_of_the_labels(labelled):
    right, wrong = labelled[labelled["label"] == 1], labelled[labelled["label"] == 0]
    shown = printed("07", "c13")
    for name, rows in (("incorrect", wrong), ("correct", right)):
        assert re.search(rf" {name} {rows['em'].sum()} \d+ {len(rows)} ", shown), name
    of_wrong = wrong.groupby("language")["f1"].mean()
    for language, mean in of_wrong.items():
        assert f" {language} {mean:.2f} " in printed("07", "c13-f1")
    table = printed("07", "c12")
    for language, rows in labelled.groupby("language"):
        label, em = np.round([rows["label"].mean(), rows["em"].mean()], 2)
        assert f" {language} {label:.2f} {em:.2f} " in table


def test_right_answers_by_language(labelled):
    right = labelled[labelled["label"] == 1]
    kinds = np.select([right["rlc"].isna(), right["rlc"] >= 0.6], ["number", "same"], "other")
    counts = pd.crosstab(right["system"], kinds)
    table = printed("08", "c38-table")
    for system, row in counts.reindex(columns=["same", "number", "other"]).iterrows():
        assert f"{system} {row['same']} {row['number']} {row['other']} " in table
    elsewhere = right[kinds == "other"]
    shown = printed("08", "c39")
    row = re.search(r"other language (\d+) \d+ (\d+)", shown)
    assert [int(count) for count in row.groups()] == [elsewhere["em"].sum(), len(elsewhere)]
    title = f"{len(elsewhere)} of {len(right)} right answers are in another language"
    assert title in (NOTEBOOKS / "08_in_the_right_language.ipynb").read_text("utf-8")


@pytest.mark.parametrize(("column", "name"), [("f1", "answer.f1"), ("rlc", "language.rlc_ok")])
@pytest.mark.parametrize("system", ["direct", "multi", "cross", "lbrag"])
def test_means_with_cluster_robust_intervals(scored, system, column, name):
    rows = scored[scored["system"] == system].dropna(subset=column)
    y = rows[column] if column == "f1" else (rows[column] >= 0.6).astype(float)
    mean, low, high = cluster_interval(y, rows["question_id"])
    row = f"{name} {system} {mean:.2f} [{low:.2f}, {min(1, high):.2f}] {len(y)} of 240"
    assert row in printed("07", "c42")


def test_the_sentences_count_pairs_and_not_questions(scored):
    """40 questions in six languages."""
    assert scored["question_id"].nunique() == 40
    shown = printed("07", "c46")
    assert shown.count("40 clusters, 240 pairs, cluster-robust t-test") >= 6
    assert "240 questions" not in shown


# ---- seven metrics in one report -------------------------------------------------------------------


def mean_and_deviation(values):
    return f"{np.nanmean(values):.3f}±{np.nanstd(values, ddof=1):.3f}"


@pytest.mark.parametrize("system", ["direct", "multi", "cross", "lbrag"])
def test_the_summary_lines_of_the_seven_metrics(scored, system):
    """Means, deviations and CNBE of the F1 and EM of single responses."""
    rows = scored[scored["system"] == system]
    em = ragnb.score(rows, "answer.exact_match")["value"]
    f1 = ragnb.score(rows, "answer.f1")["value"].to_numpy()
    cost = pd.Series([sum(one["token_count"] for one in texts) for texts in rows["translations"]])
    direct = ragnb.score(scored[scored["system"] == "direct"], "answer.f1")["value"].to_numpy()
    cnbe = ((f1 - direct) / cost.where(cost > 0)).dropna()
    efficiency = f"{cnbe.mean():.5f}±{cnbe.std(ddof=1):.5f}" if len(cnbe) else "–"
    line = (
        f"{system} | EM={mean_and_deviation(em)} | F1={mean_and_deviation(f1)} "
        f"| RLC={mean_and_deviation(rows['rlc'])} | Cost={cost.mean():.1f}±{cost.std(ddof=1):.1f} "
        f"| CNBE={efficiency} | Sem=–"
    )
    assert line in printed("07", "seven-lines")
    spaced = line.split("EM=")[1].split(" |")[0].replace("±", " ± ")
    assert f"{system} {spaced}" in printed("07", "seven-overview")


def test_ranks_follow_the_means(scored):
    details = printed("07", "seven-ranking")
    ranks = scored.groupby("system")["f1"].mean().rank(ascending=False).astype(int)
    letters = scored.groupby("system")["rlc"].mean().rank(ascending=False).astype(int)
    for system in ranks.index:
        shown = re.search(rf" {system} (\d)(?: \(\d–\d\))? (\d)", details)
        assert [int(rank) for rank in shown.groups()] == [ranks[system], letters[system]]
    assert re.search(r" direct 4 1 ", details)  # alone at both ends


def test_what_the_small_judge_makes_of_labelled_replies(labelled):
    judged = recorded_responses("multilingual_judged")
    both = judged.merge(labelled[["example_id", "system", "label"]], on=["example_id", "system"])
    readable = both[both["judged_similarity"].notna()]
    right, wrong = (
        readable.loc[readable["label"] == label, "judged_similarity"] for label in (1, 0)
    )
    shown = printed("07", "semantic-text")
    for name, label, values in (("correct", 1, right), ("incorrect", 0, wrong)):
        n = (both["label"] == label).sum()
        row = f" {name} {n} {len(values)} {values.min():.1f} {values.mean():.2f} "
        assert row in shown
    for system, rows in judged.groupby("system"):
        scores = rows["judged_similarity"].dropna()
        assert f"{len(scores)} of {len(rows)}" in printed("07", "semantic"), system
