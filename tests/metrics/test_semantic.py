import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cosine

from ragnb.errors import InputError
from ragnb.metrics.semantic import embedding_cosine

vectors = st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3).filter(lambda v: max(map(abs, v)) > 1e-6)


@pytest.mark.parametrize(
    ("a", "b", "value"),
    [
        ([1, 0], [1, 0], 1),
        ([1, 0], [0, 1], 0),
        ([1, 0], [-2, 0], -1),
        ([1, 1], [1, 0], math.sqrt(0.5)),
        ([3, 4], [4, 3], 24 / 25),
        ([1e200, 0], [1e200, 1e200], math.sqrt(0.5)),  # no overflow
        ([1e-200, 0], [1e-200, 1e-200], math.sqrt(0.5)),  # no underflow
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
    [
        ([1], [1, 2]),
        ([], []),
        ([[1, 2]], [[1, 2]]),
        ([math.nan, 1], [1, 1]),
        ([math.inf, 1], [1, 1]),
        ("ab", [1, 2]),
        (3, 3),
        ([None, 1], [1, 1]),
    ],
)
def test_what_is_no_pair_of_vectors_is_refused(a, b):
    with pytest.raises(InputError, match="cosine needs"):
        embedding_cosine(a, b)
