"""Numbers of notebook 16, recomputed with numpy, scipy, statsmodels and scikit-learn; only the splits are ragnb's."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score
from support.by_hand import cluster_interval, contains, mid_p, overlap, wilson
from support.printed import follow, printed

import ragnb
from ragnb.ensemble import SplitRatios, XYData
from ragnb.ensemble.data import random_folds

CHEAP = ["GPT-4o", "Qwen 3.6 Plus", "Gemma 4 26B"]
STRONG = ["Claude Sonnet 4.6", "Claude Opus 4.7", "GPT-5.5"]


@pytest.fixture(scope="module")
def answers():
    study = ragnb.load_study("evouna-nq")
    rows = study[~study["improper"]].dropna(subset=["response", "verdict"])
    return rows.reset_index(drop=True)


@pytest.fixture(scope="module")
def features(answers):
    """Containment, recall, precision and F1 of each answer, with the best reference."""
    rows = []
    for said, parts in zip(answers["response"], answers["references"], strict=True):
        best = np.max([overlap(said, alias) for part in parts for alias in part], axis=0)
        rows.append([float(contains(said, parts)), best[1], best[0], best[2]])
    names = ["answer.contains", "answer.recall", "answer.precision", "answer.f1"]
    return pd.DataFrame(rows, columns=names)


@pytest.fixture(scope="module")
def split(answers, features):
    ratios = SplitRatios(train=0.5, test=0.1, calibration=0.4)
    label = answers["verdict"].astype(int)
    return ragnb.DataSplit(features, label, ratios, groups=answers["question"], random_state=0)


@pytest.fixture(scope="module")
def probability(split):
    """Predicted probability of a correct answer in the calibration and the test set."""
    model = LogisticRegression().fit(split.train.X, split.train.y)
    return [model.predict_proba(part.X)[:, 1] for part in (split.calibration, split.test)]


def threshold(scores, alpha):
    """The score of rank ceil((n + 1)(1 - alpha))."""
    return np.sort(scores)[math.ceil((len(scores) + 1) * (1 - Fraction(str(alpha)))) - 1]


@pytest.fixture(scope="module")
def decided(split, probability):
    """Guess, whether it is right, and whether the set has both labels, for each answer of the test set."""
    known, new = probability
    q = threshold(np.where(split.calibration.y == 1, 1 - known, known), "0.05")
    guess = (new > 0.5).astype(int)
    table = pd.DataFrame({"guess": guess, "open": (new <= q) == (1 - new <= q)}, split.test.X.index)
    return table.assign(y=split.test.y, question=split.test.groups, right=guess == split.test.y)


@pytest.fixture(scope="module")
def judged(answers, decided):
    """The recorded verdicts on the open answers."""
    recorded = ragnb.recorded("judged_evouna").drop_duplicates(["example_id", "system"])
    keys = ["example_id", "system"]
    merged = answers.loc[decided.index, keys].merge(
        recorded[[*keys, "judged_correct"]], on=keys, how="left"
    )
    verdicts = merged.set_index(decided.index)["judged_correct"]
    return verdicts.where(decided["open"])


def test_open_answers_and_a_person_as_the_judicator(decided):
    n = decided["open"].sum()
    line = f"{n} of {len(decided)} answers are left open ({decided['open'].mean():.1%})"
    assert line in printed("16", "model")
    helped = decided["guess"].where(~decided["open"], decided["y"])
    scores = (precision_score, recall_score, f1_score, accuracy_score)
    for row, label in (("ensemble alone", decided["guess"]), ("with a person", helped)):
        follow("16", "with-person", f"{row} ", [score(decided["y"], label) for score in scores])


def test_what_the_recorded_judge_corrects_and_spoils(decided, judged):
    assert judged.notna().sum() == decided["open"].sum()
    label = decided["guess"].where(judged.isna(), judged)
    right, rows = label == decided["y"], decided["open"]
    corrected = (right & ~decided["right"]).sum()
    spoiled = (decided["right"] & ~right).sum()
    numbers = [rows.sum(), right[rows].mean(), corrected, spoiled]
    follow("16", "report", "recorded judge ", numbers)
    follow("16", "report", "nobody ", [rows.sum(), decided["right"][rows].mean(), 0, 0])
    whole = cluster_interval(right.astype(float), decided["question"])
    gain = cluster_interval(right.astype(float) - decided["right"], decided["question"])
    follow("16", "report-all", "recorded judge ", [*whole, *gain])
    people = decided["right"] | rows
    whole = cluster_interval(people.astype(float), decided["question"])
    gain = cluster_interval(people.astype(float) - decided["right"], decided["question"])
    follow("16", "report-all", "people ", [*whole, *gain])
    break_even = decided["right"][rows].mean()
    assert f"more than {break_even:.1%} of the open" in printed("16", "break-even")


def test_verdicts_on_random_answers():
    recorded = ragnb.recorded("judged_evouna").query("chosen == 'random'")
    correct = recorded["verdict"].astype(int)
    agrees = (recorded["judged_correct"] == correct).sum()
    follow("16", "hard", "the judge agrees:", [agrees / 100, *wilson(agrees, 100)])
    k = correct.sum()
    follow("16", "hard", "always saying correct:", [k / 100, *wilson(k, 100)])


def test_without_the_doubtful_labels(decided, judged, features):
    doubtful = (features.loc[decided.index, "answer.contains"] == 1) & (decided["y"] == 0)
    clear, judged = decided[~doubtful], judged[~doubtful]
    label = clear["guess"].where(judged.isna(), judged)
    right, rows = label == clear["y"], clear["open"]
    numbers = [rows.sum(), right[rows].mean(), (right & ~clear["right"]).sum()]
    numbers += [(clear["right"] & ~right).sum(), right.mean()]
    follow("16", "doubtful", "recorded judge ", numbers)
    for words, table in (("all labels: ", decided), ("without: ", clear)):
        kept = table[~table["open"]]
        numbers = [(~kept["right"]).sum(), len(kept)]
        follow("16", "doubtful-accepted", words, numbers)
        assert f"({(~kept['right']).mean():.1%})" in printed("16", "doubtful-accepted")


# ---- modern judges ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trec():
    study = ragnb.load_study("trec-rag-judges")
    wide = study.pivot(index="example_id", columns="system", values="grade").astype(float)
    first = study.groupby("example_id")[["question_id", "human_grade"]].first()
    return wide.assign(relevant=(first["human_grade"] >= 2).astype(int), topic=first["question_id"])


def cross(trec, seed):
    """Guess and whether the set is undecided, for each pair, by models of the other folds."""
    data = XYData(trec[CHEAP], trec["relevant"], trec["topic"])
    rng = np.random.default_rng(seed)
    fold = random_folds(data, 5, rng)
    guess, is_open = np.zeros(len(trec), int), np.zeros(len(trec), bool)
    for k in range(5):
        others = data.take(fold != k)
        half = random_folds(others, 2, rng)
        train, known = others.take(half == 0), others.take(half == 1)
        model = LogisticRegression().fit(train.X, train.y)
        p = model.predict_proba(known.X)[:, 1]
        q = threshold(np.where(known.y == 1, 1 - p, p), "0.2") + 1e-12
        new = model.predict_proba(data.X[fold == k])[:, 1]
        guess[fold == k] = new > 0.5
        is_open[fold == k] = (new <= q) == (1 - new <= q)
    return guess, is_open


def test_agreement_of_single_judges_with_nist(trec):
    for judge in CHEAP + STRONG:
        share = ((trec[judge] >= 2) == trec["relevant"]).mean()
        follow("16", "trec-judges", f" {judge} ", [share])


def test_strong_judges_and_people_decide_what_cheap_judges_leave_open(trec):
    guess, is_open = cross(trec, 0)
    y, topic = trec["relevant"].to_numpy(), trec["topic"]
    alone = guess == y
    for who in [*STRONG, "people"]:
        verdict = y if who == "people" else (trec[who] >= 2).to_numpy().astype(int)
        right = np.where(is_open, verdict, guess) == y
        numbers = [is_open.sum(), right[is_open].mean(), (right & ~alone).sum()]
        follow("16", "cross", f" {who} ", [*numbers, (alone & ~right).sum()])
        whole = cluster_interval(right.astype(float), topic)
        gain = cluster_interval(right.astype(float) - alone, topic)
        follow("16", "cross-all", f" {who} ", [*whole, *gain])
        price = {"people": 1.0, STRONG[1]: 0.02}.get(who, 0.01)
        net = (right & ~alone).sum() - (alone & ~right).sum()
        costs = [is_open.sum() * price, *([is_open.sum() * price / net] if net > 0 else [])]
        corrected = [is_open.sum(), (right & ~alone).sum(), (alone & ~right).sum()]
        follow("16", "cost", f" {who} ", [*corrected, *costs])
    strong = (trec[STRONG[0]] >= 2).to_numpy().astype(int)
    everything = (strong == y).astype(float)
    cascade = np.where(is_open, strong, guess) == y
    difference = cluster_interval(cascade - everything, topic)
    follow("16", "policies", "judge everything ", difference)
    both = (is_open & ~alone & (strong != y)).sum()
    chance = (~alone[is_open]).sum() * (strong != y)[is_open].sum() / is_open.sum()
    follow("16", "together", "both wrong: ", [both])
    follow("16", "together", "if independent: ", [chance])


@pytest.mark.parametrize("seed", range(5))
def test_other_divisions_into_folds(trec, seed):
    guess, is_open = cross(trec, seed)
    y = trec["relevant"].to_numpy()
    verdict = (trec[STRONG[0]] >= 2).to_numpy().astype(int)
    gain = (np.where(is_open, verdict, guess) == y).astype(float) - (guess == y)
    found = cluster_interval(gain, trec["topic"])
    follow("16", "seeds", f" {seed} ", [is_open.mean(), *found])
    assert found[1] < 0 < found[2]


# ---- a promise for the accepted labels, and the published gain --------------------------------------


def test_errors_above_a_threshold_and_their_p_value(split, probability):
    confidence = np.maximum(probability[0], 1 - probability[0])
    wrong = (probability[0] > 0.5) != split.calibration.y
    for t in (0.95, 0.86, 0.84, 0.73, 0.5):
        m, e = (confidence >= t).sum(), wrong[confidence >= t].sum()
        line = f"t = {t:.2f}: {e} of {m} wrong ({e / m:.1%}), p = {binom.cdf(e, m, 0.05):.3f}"
        assert line in printed("16", "by-hand")
    # The answers without a word of the reference make the difference between .86 and .84.
    between = (confidence >= 0.84) & (confidence < 0.86)
    no_word = (split.calibration.X["answer.recall"] == 0).to_numpy()
    assert (between & no_word).sum() / between.sum() > 0.95
    assert wrong[confidence >= confidence[no_word].min()].mean() > 0.05


def learn_then_test(confidence, wrong, alpha, delta):
    """The lowest threshold that is accepted; delta is divided among five starts, and passed on downwards."""
    grid = 1 / (1 + np.exp(-np.arange(41) / 10))
    level, chosen = 0.0, np.inf
    for place in range(40, -1, -1):
        level += delta / 5 if place % 10 == 0 else 0.0
        rows = confidence >= grid[place] - 1e-12
        if binom.cdf(wrong[rows].sum(), rows.sum(), alpha) <= level:
            chosen = grid[place]
        else:
            level = 0.0
    return chosen


def test_marginal_and_selective_sets(split, probability, decided):
    known, new = probability
    wrong = (known > 0.5) != split.calibration.y
    chosen = learn_then_test(np.maximum(known, 1 - known), wrong.to_numpy(), 0.05, 0.1)
    kept = np.maximum(new, 1 - new) >= chosen - 1e-12
    right = decided["right"].to_numpy()
    line = f"selective: accepts {kept.mean():.1%}, {1 - right[kept].mean():.1%} of them wrong"
    assert line in printed("16", "selective-compared")
    kept = ~decided["open"].to_numpy()
    line = f"marginal: accepts {kept.mean():.1%}, {1 - right[kept].mean():.1%} of them wrong"
    assert line in printed("16", "selective-compared")


def stage(rows, judges, alpha, seed):
    """Whether each pair is accepted, and whether the guess is wrong."""
    data = XYData(rows[judges], rows["relevant"], rows["topic"])
    rng = np.random.default_rng(seed)
    fold = random_folds(data, 5, rng)
    accepted, wrong = np.zeros(len(rows), bool), np.zeros(len(rows), bool)
    for k in range(5):
        others = data.take(fold != k)
        half = random_folds(others, 2, rng)
        train, known = others.take(half == 0), others.take(half == 1)
        model = LogisticRegression().fit(train.X, train.y)
        p = model.predict_proba(known.X)[:, 1]
        errors = ((p > 0.5) != known.y).to_numpy()
        chosen = learn_then_test(np.maximum(p, 1 - p), errors, alpha, 0.05)
        new = model.predict_proba(data.X[fold == k])[:, 1]
        accepted[fold == k] = np.maximum(new, 1 - new) >= chosen - 1e-12
        wrong[fold == k] = (new > 0.5) != data.y[fold == k]
    return accepted, wrong


def test_the_cascade_of_three_stages(trec):
    shown = printed("16", "escalate-table").split("0.2 ")[1]
    numbers = [float(number) for number in shown.replace("0.3 ", " ").split()]
    table = np.array(numbers).reshape(4, 5)
    for row, (alpha, seed) in zip(table, [(0.2, 0), (0.3, 0), (0.3, 1), (0.3, 2)], strict=True):
        first, wrong_first = stage(trec, CHEAP, alpha, seed)
        rest = trec[~first]
        second, wrong_second = stage(rest, STRONG, alpha, seed)
        wrong = wrong_first[first].sum() + wrong_second[second].sum()
        share = wrong / (first.sum() + second.sum())
        expected = [seed, first.sum(), second.sum(), (~second).sum(), share]
        assert row.tolist() == pytest.approx(expected, abs=0.0005)
    # What the text says: judges decide 42 to 71 % at 0.3, and the promise is kept.
    shares = table[1:, 1:3].sum(axis=1) / 537
    assert (round(100 * shares.min()), round(100 * shares.max())) == (42, 71)
    assert (table[1:, 4] < 0.3).all()
    assert table[0, 3] / 537 > 0.95


def test_published_shares_and_what_they_allow():
    counts = {"precision": (152, 162), "recall": (152, 183), "accuracy": (194, 235)}
    for name, (k, n) in counts.items():
        low, high = wilson(k, n)
        follow("16", "published", f"ensemble {name} ", [k, n, k / n, low, high])
    p_values = [mid_p(k + 8, k) for k in range(15)]
    assert f"p between {min(p_values):.3f} and {max(p_values):.3f}" in printed("16", "bounds")
