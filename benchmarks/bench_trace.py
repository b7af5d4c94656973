"""TRACe of whole columns, beside a loop over the records

Records of 25 sentences. One loop computes the seven scores that ragnb computes, the other the four of the benchmark alone.
Records are millions of small objects, and most of the time goes into reaching them, whoever counts. Read from Parquet with
Arrow-backed columns, ragnb need not make those objects: of the context only the number of sentences counts.
"""

import math
import random

import numpy as np
import pandas as pd
import pytest

from benchmarks.timing import ours, peer, task
from ragnb.metrics.trace_columns import trace_columns
from ragnb.metrics.trace_labels import FIELDS

N = 100_000
READ = [name for name in FIELDS if name != "sentence_support_information"]


def record(rng: random.Random, number: int) -> dict:
    documents = [[[f"{d}{s}", f"Sentence {s} of document {d}, record {number}."] for s in "abcde"] for d in range(5)]
    known = [key for document in documents for key, _ in document]
    relevant, utilized = (sorted(rng.sample(known, rng.randint(0, most))) for most in (10, 8))
    unsupported = [key for key in "abcd" if rng.random() < 0.1]
    labels = [
        {
            "response_sentence_key": key,
            "explanation": "because",
            "supporting_sentence_keys": [] if key in unsupported else relevant[:2] or ["general"],
            "fully_supported": key not in unsupported,
        }
        for key in "abcd"
    ]
    sentences = [[key, f"Response sentence {key}."] for key in "abcd"]
    return dict(zip(FIELDS, (documents, sentences, relevant, utilized, labels, unsupported), strict=True))


def four_scores(record: dict) -> tuple[float, float, float, float]:
    n = sum(len(document) for document in record["documents_sentences"])
    relevant, utilized = record["all_relevant_sentence_keys"], record["all_utilized_sentence_keys"]
    distinct = set(relevant)
    completeness = len(distinct & set(utilized)) / len(distinct) if distinct else 1.0
    adherence = 0.0 if len(record["unsupported_response_sentence_keys"]) else 1.0
    return len(relevant) / n, len(utilized) / n, completeness, adherence


def loop_of_four(records: list[dict]) -> list[tuple[float, ...]]:
    return [four_scores(record) for record in records]


def loop_of_seven(records: list[dict]) -> list[tuple[float, ...]]:
    scores = []
    for record in records:
        four = four_scores(record)
        n = len(record["response_sentences"])
        fraction = (n - min(n, len(set(record["unsupported_response_sentence_keys"])))) / n
        distance = math.sqrt(sum((1 - score) * (1 - score) for score in four) / 4)
        scores.append((*four, fraction, distance, 1 - distance))
    return scores


@pytest.fixture(scope="module")
def records() -> list[dict]:
    rng = random.Random(0)
    return [record(rng, number) for number in range(N)]


@pytest.fixture(scope="module")
def columns(records: list[dict]) -> dict[str, list]:
    return {name: [record[name] for record in records] for name in FIELDS}


@pytest.fixture(scope="module")
def parquet(columns: dict[str, list], tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("bench") / "records.parquet"
    pd.DataFrame(columns).to_parquet(path)
    return str(path)


def score_arrow(path: str) -> dict[str, np.ndarray]:
    """Read and score without making Python objects of 2,500,000 sentences: only their number counts."""
    frame = pd.read_parquet(path, columns=READ, dtype_backend="pyarrow")
    in_documents = frame["documents_sentences"].list.flatten().list.len()
    numbers = in_documents.groupby(level=0).sum().reindex(frame.index, fill_value=0)
    return trace_columns(frame.assign(documents_sentences=numbers))


@task("records in memory", N)
class TestScore:
    @ours("`trace_columns`, seven scores")
    def test_ragnb(self, few, records, columns) -> None:
        scores = few(trace_columns, columns, rounds=7)
        np.testing.assert_array_equal(np.column_stack(list(scores.values())), np.array(loop_of_seven(records)))

    @peer("loop, seven scores")
    def test_loop_of_seven(self, few, records) -> None:
        few(loop_of_seven, records, rounds=7)

    @peer("loop, four scores")
    def test_loop_of_four(self, few, records) -> None:
        few(loop_of_four, records, rounds=7)


@task("records in memory, the guide's variant", N)
@ours()
def test_guide(few, columns) -> None:
    few(lambda: trace_columns(columns, variant="guide"))


@task("records from Parquet, read and scored", N)
class TestParquet:
    @ours("`trace_columns`")
    def test_ragnb(self, few, parquet) -> None:
        few(lambda: trace_columns(pd.read_parquet(parquet, columns=READ)))

    @ours("`trace_columns`, Arrow-backed")
    def test_ragnb_arrow(self, few, parquet) -> None:
        few(score_arrow, parquet)

    @peer("loop, seven scores")
    def test_loop_of_seven(self, few, parquet) -> None:
        few(lambda: loop_of_seven(pd.read_parquet(parquet, columns=READ).to_dict("records")))
