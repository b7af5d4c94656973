import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cosine

from ragnb.errors import InputError
from ragnb.metrics import (
    embedding_cosine,
    is_accepted,
    judged_answer_relevancy,
    judged_context_precision,
    judged_correctness,
    judged_faithfulness,
    judged_similarity,
)

vectors = st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3).filter(
    lambda v: max(map(abs, v)) > 1e-6
)


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


@pytest.mark.parametrize("missing", [None, math.nan])
def test_a_missing_verdict_on_a_statement_or_passage_leaves_no_value(missing):
    for variant in ("share", "all"):
        statements = [{"supported": 1, "relevant": 1}, {"supported": missing, "relevant": missing}]
        assert math.isnan(judged_faithfulness(statements, variant=variant))
        assert math.isnan(judged_answer_relevancy(statements, variant=variant))
    for variant in ("ranked", "share"):
        assert math.isnan(judged_context_precision([1, missing], variant=variant))
        assert math.isnan(judged_context_precision([missing], variant=variant))


def test_a_verdict_of_another_kind_is_refused():
    with pytest.raises(InputError, match="a judge's score must be between 0 and 1, or None"):
        judged_similarity(1.5)
    with pytest.raises(InputError, match="a verdict must be 0, 1 or None, got 'correct'"):
        judged_correctness("correct")
    with pytest.raises(InputError, match=r"'correct', 'incorrect', 'refuse', got 'vielleicht'"):
        is_accepted("vielleicht")


def test_statements_may_be_an_array():
    made = [{"statement": "a", "supported": True}, {"statement": "b", "supported": False}]
    assert judged_faithfulness(np.array(made, dtype=object)) == 0.5
