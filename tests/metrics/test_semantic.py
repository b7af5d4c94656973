import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cosine

from ragnb.errors import InputError
from ragnb.metrics.judged import embedding_cosine, judged_correctness, judged_similarity
from ragnb.scoring import score, summarize

vectors = st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3).filter(
    lambda v: max(map(abs, v)) > 1e-6
)


@pytest.mark.parametrize(
    ("a", "b", "value"),
    [
        ([1, 0], [1, 0], 1),
        ([1, 0], [0, 1], 0),
        ([1, 0], [-2, 0], -1),
        ([1, 1], [1, 0], math.sqrt(0.5)),
        ([3, 4], [4, 3], 24 / 25),
        ([0, 0], [1, 0], math.nan),
        ([0.0], [0.0], math.nan),
    ],
)
def test_cosine_of_vectors_worked_by_hand(a, b, value):
    assert embedding_cosine(a, b) == pytest.approx(value, nan_ok=True)
    assert embedding_cosine(np.array(b), np.array(a)) == pytest.approx(value, nan_ok=True)


@given(vectors, vectors, st.floats(0.1, 10))
def test_cosine_is_scipys_symmetric_bounded_and_free_of_scale(a, b, scale):
    value = embedding_cosine(a, b)
    assert -1 <= value <= 1
    assert value == pytest.approx(1 - cosine(a, b), abs=1e-9)
    assert embedding_cosine(b, a) == value
    assert embedding_cosine(np.array(a) * scale, b) == pytest.approx(value, abs=1e-9)
    assert embedding_cosine(a, a) == pytest.approx(1)


@pytest.mark.parametrize(
    ("a", "b"),
    [([1], [1, 2]), ([math.nan, 1], [1, 1])],
)
def test_what_is_no_pair_of_vectors_is_refused(a, b):
    with pytest.raises(InputError, match="embeddings must be"):
        embedding_cosine(a, b)


# ---- judges ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("score", [0, 0.94, 1])
def test_a_score_in_range_is_taken_as_it_is(score):
    assert judged_similarity(score) == score
    assert type(judged_similarity(score)) is float


@pytest.mark.parametrize("metric", [judged_similarity, judged_correctness])
@pytest.mark.parametrize("missing", [None, math.nan])
def test_without_a_judgement_there_is_no_value(metric, missing):
    assert math.isnan(metric(missing))


@given(st.floats() | st.integers())
def test_a_number_is_a_score_in_range_or_none_at_all(number):
    if number != number:
        assert math.isnan(judged_similarity(number))
    elif 0 <= number <= 1:
        assert judged_similarity(number) == number
    else:
        with pytest.raises(InputError, match="a judge's score must be between 0 and 1, or None"):
            judged_similarity(number)


@pytest.mark.parametrize(
    ("verdict", "value"),
    [(1, 1.0), (0, 0.0), (True, 1.0), (1.0, 1.0)],
)
def test_a_verdict_is_one_or_zero(verdict, value):
    assert judged_correctness(verdict) == value
    assert type(judged_correctness(verdict)) is float


@pytest.mark.parametrize("verdict", [0.5, "correct"])
def test_a_verdict_of_another_kind_is_refused(verdict):
    with pytest.raises(InputError, match="a verdict must be 0, 1 or None, got"):
        judged_correctness(verdict)


# ---- as metrics of a frame ---------------------------------------------------------------------------------------------


def frame(**columns):
    n = len(next(iter(columns.values())))
    objects = {name: pd.Series(values, dtype=object) for name, values in columns.items()}
    return pd.DataFrame({"example_id": [f"e/{k}" for k in range(n)], "system": "tiny", **objects})


@pytest.mark.parametrize(
    ("metric", "column", "values", "mean", "worst", "interval"),
    [
        (
            "semantic.judged_similarity",
            "judged_similarity",
            [0.9, 0.6, 0.0, None],
            0.5,
            (0.375, 0.625),
            "t",
        ),
        (
            "semantic.judged_correctness",
            "judged_correct",
            [1, 0, True, None],
            2 / 3,
            (0.5, 0.75),
            "Wilson",
        ),
    ],
)
def test_judged_columns_are_scored_and_summarized(metric, column, values, mean, worst, interval):
    scores = score(frame(**{column: values}), metric)
    assert scores["reason"].isna().tolist() == [True, True, True, False]
    assert scores["reason"][3] == f"no {column}"
    row = summarize(scores).iloc[0]
    assert row["mean"] == pytest.approx(mean)
    assert (row["n"], row["n_scored"], row["interval"]) == (4, 3, interval)
    assert (row["worst_low"], row["worst_high"]) == pytest.approx(worst)


@pytest.mark.parametrize("kind", [list, np.array])
def test_the_cosine_of_a_frame_s_embeddings(kind):
    pairs = [([3, 4], [4, 3]), ([1, 0], [-1, 0]), ([0, 0], [1, 0])]
    embedded = frame(
        response_embedding=[*(kind(a) for a, _ in pairs), None],
        reference_embedding=[*(kind(b) for _, b in pairs), kind([1])],
    )
    scores = score(embedded, "semantic.embedding_cosine")
    assert scores["value"].tolist() == pytest.approx([0.96, -1, math.nan, math.nan], nan_ok=True)
    assert scores["reason"].tolist()[2:] == [
        "the metric is undefined here",
        "no response_embedding",
    ]
    assert "response_embedding" not in scores
    row = summarize(scores).iloc[0]
    assert row["mean"] == pytest.approx(-0.02)
    assert (row["worst_low"], row["worst_high"]) == pytest.approx((-0.51, 0.49))


def test_embeddings_of_different_models_are_named_with_their_row():
    with pytest.raises(
        InputError,
        match=r"semantic.embedding_cosine, row 0 \(e/0\): embeddings must be one-dimensional and of one length",
    ):
        score(
            frame(response_embedding=[[1, 2]], reference_embedding=[[1]]),
            "semantic.embedding_cosine",
        )
