"""Numbers of notebook 09, computed from its rankings and recorded replies by hand."""

import json
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import regex
from scipy import stats
from support.by_hand import cluster_interval, contains, rate
from support.printed import follow, printed

import ragnb
from ragnb.experiments import recorded_embedding, recorded_responses

FIGURES = Path(__file__).parents[3] / "figures"

DISCOUNT = 1 / np.log2([2, 3, 4])


def bm25(questions, passages, k1=1.2, b=0.75):
    """The equation of the notebook, for words of letters, marks and digits, and single Chinese characters."""
    split = [
        regex.findall(r"\p{Han}|[\p{L}\p{M}\p{N}--\p{Han}]+", text.casefold(), regex.V1)
        for text in passages
    ]
    counts = [Counter(words) for words in split]
    lengths = np.array([len(words) for words in split])
    scores = np.zeros((len(questions), len(passages)))
    for row, question in enumerate(questions):
        for word in regex.findall(
            r"\p{Han}|[\p{L}\p{M}\p{N}--\p{Han}]+", question.casefold(), regex.V1
        ):
            frequency = np.array([count[word] for count in counts])
            with_word = (frequency > 0).sum()
            idf = np.log(1 + (len(passages) - with_word + 0.5) / (with_word + 0.5))
            scores[row] += (
                idf * frequency / (frequency + k1 * (1 - b + b * lengths / lengths.mean()))
            )
    return scores


@pytest.fixture(scope="module")
def measures():
    """The measures of the three retrievers, one row per question and system."""
    examples = ragnb.load_multilingual("sample-multilingual")
    passages = examples["passages"].str[0]
    questions = examples["question"]
    languages = examples["language"].to_numpy()
    asked = recorded_embedding(list(questions), kind="query").astype(float)
    vectors = recorded_embedding(list(passages), kind="passage").astype(float)
    means = {name: vectors[languages == name].mean(axis=0) for name in set(languages)}
    centred = vectors - np.array([means[name] for name in languages])
    similarity = {
        "BM25": bm25(questions, passages),
        "embeddings": asked @ vectors.T,
        "centred": asked @ centred.T,
    }
    of_question = examples["question_id"].to_numpy()
    rows = []
    for system, matrix in similarity.items():
        np.fill_diagonal(matrix, -np.inf)
        best = np.argsort(-matrix, axis=1, kind="stable")[:, :10]
        good = of_question[best] == of_question[:, None]
        reciprocal = np.where(good.any(axis=1), 1 / (good.argmax(axis=1) + 1), 0.0)
        values = {
            "retrieval.success@3": good[:, :3].any(axis=1),
            "retrieval.recall@3": good[:, :3].sum(axis=1) / 5,
            "retrieval.reciprocal_rank": reciprocal,
            "retrieval.ndcg@3": good[:, :3] @ DISCOUNT / DISCOUNT.sum(),
        }
        values |= {f"k{k}": good[:, :k].any(axis=1) for k in range(1, 11)}
        ids = examples[["example_id", "question_id", "language"]]
        rows.append(
            pd.concat([ids.assign(system=system), pd.DataFrame(values).astype(float)], axis=1)
        )
    return pd.concat(rows, ignore_index=True)


def metrics(frame):
    return [name for name in frame if name.startswith("retrieval.")]


def test_means_by_system(measures):
    for metric in metrics(measures):
        for system, rows in measures.groupby("system"):
            if system == "centred":
                continue
            numbers = cluster_interval(rows[metric], rows["question_id"])
            follow("09", "c12", f"{metric} {system} ", numbers)


def test_differences_by_question(measures):
    wide = measures.pivot(index=["question_id", "example_id"], columns="system")
    for metric in metrics(measures):
        gap = wide[metric]["embeddings"] - wide[metric]["BM25"]
        numbers = cluster_interval(gap, gap.index.get_level_values(0))
        follow("09", "c13", f"{metric} ", numbers)


def test_hit_rates_by_k(measures):
    saved = json.loads((FIGURES / "09_by_k.json").read_text("utf-8"))
    for row in saved["numbers"]:
        rows = measures[measures["system"] == row["system"]]
        mean, low, high = cluster_interval(rows[f"k{row['k']}"], rows["question_id"])
        assert [row["mean"], row["low"], row["high"]] == pytest.approx([mean, low, high], abs=1e-6)
    # The title of the figure.
    by_system = measures.groupby("system")
    gains = by_system["k10"].mean() - by_system["k3"].mean()
    assert gains[["BM25", "embeddings"]].between(0, 0.1, inclusive="neither").all()


def test_the_choice_and_its_confirmation(measures):
    questions = measures["question_id"].drop_duplicates()
    is_development = measures["question_id"].isin(questions.sample(frac=0.5, random_state=0))
    for metric in ("retrieval.success@3", "retrieval.recall@3"):
        for system, rows in measures[is_development].groupby("system"):
            numbers = cluster_interval(rows[metric], rows["question_id"])
            follow("09", "choice", f"{metric} {system} ", numbers[:1])
        wide = measures[~is_development].pivot(
            index=["question_id", "example_id"], columns="system"
        )
        gap = wide[metric]["centred"] - wide[metric]["embeddings"]
        numbers = cluster_interval(gap, gap.index.get_level_values(0))
        means = wide[metric][["centred", "embeddings"]].mean()
        # Exact sign flips of the sums by question.
        sums = gap.groupby(level=0).sum()
        flips = np.array(list(product([-1, 1], repeat=int((sums != 0).sum()))))
        extreme = np.abs(flips @ sums[sums != 0].to_numpy()) >= abs(sums.sum()) - 1e-9
        follow("09", "confirm", f"{metric} ", [*means, *numbers])
        assert f"{extreme.mean():.2g}" in printed("09", "confirm")


def test_correct_answers_with_and_without_a_hit(measures):
    hit = measures[measures["system"] == "embeddings"].set_index("example_id")
    rows = recorded_responses("multilingual").query("system == 'multi'")
    pairs = zip(rows["response"], rows["references"], strict=True)
    correct = np.array([contains(said, parts) for said, parts in pairs], int)
    found = hit["retrieval.success@3"].reindex(rows["example_id"]).to_numpy().astype(int)
    table = np.histogram2d(found, correct, bins=2)[0].astype(int)
    shown = printed("09", "c19-table")
    assert f"hit {table[1, 1]} {table[1, 0]} no hit {table[0, 1]} {table[0, 0]}" in shown
    assert rate(table[0, 1], table[0].sum()) in printed("09", "c20c").replace("\\", "")
    clusters = hit["question_id"].reindex(rows["example_id"]).to_numpy()
    follow(
        "09", "c20", "mean interval ", cluster_interval(correct[found == 1], clusters[found == 1])
    )
    chinese = (rows["language"].to_numpy() == "zh") & (found == 0)
    assert f"zh {chinese.sum()}" in printed("09", "c20b")
    asked = rows["language"].to_numpy() == "zh"
    cells = [[(asked & (found == a) & (correct == b)).sum() for b in (1, 0)] for a in (1, 0)]
    words = "hit {} {} no hit {} {}".format(*cells[0], *cells[1])
    assert words in printed("09", "within-language")
    assert f"within zh: p = {stats.fisher_exact(cells).pvalue:.3f}" in printed("09", "within-test")
