"""Numbers of notebook 09, computed from its rankings and recorded replies by hand."""

import numpy as np
import pandas as pd
import pytest
from notebooks.by_hand import cluster_interval, contains, rate
from notebooks.printed import follow, printed
from scipy import stats
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

import ragnb
from ragnb.experiments import recorded_ranking, recorded_responses

DISCOUNT = 1 / np.log2([2, 3, 4])


@pytest.fixture(scope="module")
def measures():
    """The four measures of both retrievers, one row per question and system."""
    examples = ragnb.load_multilingual("sample-multilingual")
    passages = examples["passages"].str[0]
    vectorizer = CountVectorizer(analyzer="char_wb", ngram_range=(2, 4))
    counts = vectorizer.fit_transform(passages)
    frequency = np.asarray((counts > 0).sum(axis=0)).ravel()
    weights = np.log((1 + len(passages)) / (1 + frequency)) + 1
    of_passages = normalize(counts.multiply(weights))
    of_questions = normalize(vectorizer.transform(examples["question"]).multiply(weights))
    similarity = (of_questions @ of_passages.T).toarray()
    np.fill_diagonal(similarity, -1)
    ids = examples["example_id"].to_numpy()
    best = np.argsort(-similarity, axis=1, kind="stable")[:, :3]
    lists = {"characters": dict(zip(ids, ids[best], strict=True))}
    ranking = recorded_ranking()
    ranking["found"] = ranking["passage_id"].str.removesuffix("#0")
    by_example = ranking.sort_values("rank").groupby("example_id")["found"]
    lists["embeddings"] = by_example.apply(list).to_dict()
    rows = []
    for system, found in lists.items():
        for row in examples.itertuples():
            pair = [one.rsplit("/", 1)[0] for one in found[row.example_id]]
            good = np.array([one == row.example_id.rsplit("/", 1)[0] for one in pair])
            first = np.flatnonzero(good)
            rows.append(
                {
                    "system": system,
                    "example_id": row.example_id,
                    "question_id": row.question_id,
                    "language": row.language,
                    "retrieval.success@3": float(good.any()),
                    "retrieval.recall@3": good.sum() / 5,
                    "retrieval.reciprocal_rank": 1 / (first[0] + 1) if len(first) else 0.0,
                    "retrieval.ndcg@3": good @ DISCOUNT / DISCOUNT.sum(),
                }
            )
    return pd.DataFrame(rows)


def metrics(frame):
    return [name for name in frame if name.startswith("retrieval.")]


def test_means_by_system(measures):
    for metric in metrics(measures):
        for system, rows in measures.groupby("system"):
            numbers = cluster_interval(rows[metric], rows["question_id"])
            follow("09", "c12", f"{metric} {system} ", numbers)


def test_differences_by_question(measures):
    wide = measures.pivot(index=["question_id", "example_id"], columns="system")
    for metric in metrics(measures):
        gap = wide[metric]["embeddings"] - wide[metric]["characters"]
        numbers = cluster_interval(gap, gap.index.get_level_values(0))
        follow("09", "c13", f"{metric} ", numbers)


def test_correct_answers_with_and_without_a_hit(measures):
    hit = measures[measures["system"] == "embeddings"].set_index("example_id")
    rows = recorded_responses("multilingual").query("system == 'multi'")
    pairs = zip(rows["response"], rows["references"], strict=True)
    correct = np.array([contains(said, parts) for said, parts in pairs], int)
    found = hit["retrieval.success@3"].reindex(rows["example_id"]).to_numpy().astype(int)
    table = np.histogram2d(found, correct, bins=2)[0].astype(int)
    shown = printed("09", "c19")
    assert f"no hit {table[0, 0]} {table[0, 1]} hit {table[1, 0]} {table[1, 1]}" in shown
    assert f"without a hit: {rate(table[0, 1], table[0].sum())}" in printed("09", "c20")
    clusters = hit["question_id"].reindex(rows["example_id"]).to_numpy()
    mean, low, high = cluster_interval(correct[found == 1], clusters[found == 1])
    line = f"with a hit: {mean:.3f} [{low:.3f}, {high:.3f}] (cluster-robust t, 40 clusters)"
    assert line in printed("09", "c20")
    chinese = (rows["language"].to_numpy() == "zh") & (found == 0)
    assert f"zh {chinese.sum()}" in printed("09", "c20b")
    asked = rows["language"].to_numpy() == "zh"
    cells = [[(asked & (found == a) & (correct == b)).sum() for b in (0, 1)] for a in (0, 1)]
    p = stats.fisher_exact(cells).pvalue
    assert (
        f"{cells[1][1]} of {sum(cells[1])} answers are correct with a hit, and {cells[0][1]} of "
        f"{sum(cells[0])} without (Fisher's exact test, p = {p:.2f})"
    ) in printed("09", "within-language")
