"""Rogan-Gladen: the estimate and its interval by hand, the undefined cases, coverage."""

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.simulation import slack

from ragnb.errors import InputError
from ragnb.stats import rate_interval, rogan_gladen, rogan_gladen_from_counts, youden_index

Z = NormalDist().inv_cdf(0.975)


def labelled(hits: int, positives: int, passes: int, negatives: int) -> tuple[list[int], list[int]]:
    truth = [1] * positives + [0] * negatives
    return truth, [1] * hits + [0] * (positives - hits) + [0] * passes + [1] * (negatives - passes)


def verdicts(called: int, n: int) -> list[int]:
    return [1] * called + [0] * (n - called)


def lang_reiczigel(
    called: int, n: int, hits: int, positives: int, passes: int, negatives: int
) -> tuple[float, float]:
    """Written a second time, from the gradient of (q + Sp - 1) / (Se + Sp - 1)."""
    q, se, sp = (
        (called + Z * Z / 2) / (n + Z * Z),
        (hits + 1) / (positives + 2),
        (passes + 1) / (negatives + 2),
    )
    youden = se + sp - 1
    p = (q + sp - 1) / youden
    gradient = np.array([1 / youden, -p / youden, (1 - p) / youden])
    variances = np.array(
        [
            q * (1 - q) / (n + Z * Z),
            se * (1 - se) / (positives + 2),
            sp * (1 - sp) / (negatives + 2),
        ]
    )
    error = np.sqrt((gradient**2 * variances).sum())
    shift = 2 * Z * Z * (p * variances[1] - (1 - p) * variances[2])
    return np.clip(p + shift - Z * error, 0, 1), np.clip(p + shift + Z * error, 0, 1)


@given(
    st.tuples(st.integers(5, 60), st.integers(5, 60), st.integers(20, 500)),
    st.tuples(st.floats(0.6, 1), st.floats(0.6, 1), st.floats(0, 1)),
)
@settings(max_examples=30)
def test_the_interval_written_a_second_time(sizes, shares) -> None:
    (positives, negatives, n), (se, sp, q) = sizes, shares
    hits, passes, called = (
        int(np.ceil(a * b)) for a, b in ((positives, se), (negatives, sp), (n, q))
    )
    result = rogan_gladen(*labelled(hits, positives, passes, negatives), verdicts(called, n))
    assert (result.low, result.high) == pytest.approx(
        lang_reiczigel(called, n, hits, positives, passes, negatives)
    )
    assert 0 <= result.low <= result.high <= 1
    assert 0 <= result.estimate <= 1


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ((5, 10, 5, 10), "the judge is no better than chance"),
        ((0, 0, 5, 10), "no label is a success"),
        ((5, 10, 0, 0), "no label is a failure"),
        (
            (35, 100, 2, 3),
            "the judge is no better than chance",
        ),  # Youden .017, but 36/102 + 3/5 - 1 with one more of each
    ],
)
def test_undefined_with_a_reason(table, reason: str) -> None:
    result = rogan_gladen(*labelled(*table), verdicts(50, 100))
    assert np.isnan([result.estimate, result.low, result.high]).all()
    assert result.problem == reason


def test_an_empty_selection_of_unlabelled_items_is_named() -> None:
    with pytest.raises(InputError, match="needs at least 1 unlabelled item, got 0"):
        rogan_gladen(*labelled(5, 10, 1, 10), [])


@pytest.mark.parametrize("trials", [pytest.param(4000, marks=pytest.mark.slow), 300])
@pytest.mark.parametrize(
    ("n", "p", "se", "sp"), [(50, 0.8, 0.8, 0.9), (100, 0.8, 0.75, 0.8), (300, 0.9, 0.9, 0.7)]
)
def test_coverage(n: int, p: float, se: float, sp: float, trials: int) -> None:
    rng, covered = np.random.default_rng(n), 0
    for _ in range(trials):
        truth = rng.random(n + 1000) < p
        said = np.where(rng.random(n + 1000) < np.where(truth, se, sp), truth, ~truth)
        result = rogan_gladen(truth[:n], said[:n], said[n:])
        covered += result.low <= p <= result.high
    assert covered / trials == pytest.approx(0.95, abs=0.03 + slack(0.05, trials))


# ---- counts --------------------------------------------------------------------------------------


def test_counts_give_what_the_lists_give():
    lists = rogan_gladen(*labelled(45, 50, 28, 40), verdicts(61, 130), confidence_level=0.9)
    counts = rogan_gladen_from_counts(
        61, 130, true_positives=45, positives=50, true_negatives=28, negatives=40, confidence_level=0.9
    )  # fmt: skip
    assert counts == lists


@pytest.mark.parametrize(
    "table", [(45, 50, 40, 50), (3, 3, 0, 7), (0, 4, 9, 9), (18, 20, 200, 201)]
)
def test_youden_is_newcombes_difference_of_two_shares(table):
    hits, positives, rejections, negatives = table
    result = youden_index(*table, confidence_level=0.9)
    assert result.estimate == pytest.approx(hits / positives + rejections / negatives - 1)
    # Newcombe (1998), method 10, from two Wilson intervals.
    p, q = hits / positives, 1 - rejections / negatives
    accepts = rate_interval(hits, positives, confidence_level=0.9)
    errs = rate_interval(negatives - rejections, negatives, confidence_level=0.9)
    low = p - q - np.hypot(p - accepts.low, errs.high - q)
    high = p - q + np.hypot(accepts.high - p, q - errs.low)
    assert (result.low, result.high) == pytest.approx((low, high), abs=1e-12)


def test_newcombes_published_interval():
    # Newcombe (1998), table II: 56/70 - 48/80, method 10.
    result = youden_index(56, 70, 80 - 48, 80)
    assert (round(result.low, 4), round(result.high, 4)) == (0.0524, 0.3339)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: youden_index(5, 4, 1, 2), "true_positives must be at most positives, got 5 of 4"),
        (lambda: youden_index(1, 4, 3, 2), "true_negatives must be at most negatives, got 3 of 2"),
        (lambda: rogan_gladen_from_counts(5, 4, true_positives=1, positives=1, true_negatives=1, negatives=1), "accepted must be at most n, got 5 of 4"),
    ],
)  # fmt: skip
def test_a_part_that_is_larger_than_its_whole_is_named(call, message):
    with pytest.raises(InputError) as error:
        call()
    assert message in str(error.value)


def test_without_one_of_the_labels_there_is_no_index():
    result = youden_index(0, 0, 3, 4)
    assert str(result).startswith("nan [nan, nan] (95% Newcombe; undefined: no label is a success")
