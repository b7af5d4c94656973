"""Ranks of several systems and their intervals: worked examples, agreement with other intervals, edges."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ragnb.stats.exact import bootstrap_distribution
from ragnb.stats.intervals import bca_interval
from ragnb.stats.several import average_ranks, item_ranks, rank_intervals, simultaneous_intervals

sizes = st.tuples(st.integers(2, 10), st.integers(2, 5))
graded = sizes.flatmap(
    lambda size: arrays(np.float64, size, elements=st.integers(0, 4).map(lambda x: x / 4))
)


def intervals(x, *, seed: int = 0, **options):
    return rank_intervals(x, rng=np.random.default_rng(seed), **options)


def scores(n: int, k: int, step: float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.round(rng.random((n, 1)) + rng.random((n, k)) + step * np.arange(k), 2)


@given(x=graded)
@settings(max_examples=60, deadline=None)
def test_ranks_count_the_better_and_half_of_the_tied(x: np.ndarray) -> None:
    better = (x[:, None, :] > x[:, :, None]).sum(axis=2)
    tied = (x[:, None, :] == x[:, :, None]).sum(axis=2) - 1
    assert (item_ranks(x) == 1 + better + tied / 2).all()
    assert average_ranks(x).sum() == pytest.approx(x.shape[1] * (x.shape[1] + 1) / 2)


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1.0, 1e12])
def test_ranks_know_no_unit(scale: float) -> None:
    x = scores(40, 4, 0.1)
    assert (item_ranks(scale * x) == item_ranks(x)).all()
    assert (item_ranks(-x) == 5 - item_ranks(x)).all()


def test_no_items_have_no_ranks() -> None:
    assert item_ranks(np.zeros((0, 3))).shape == (0, 3)
    assert np.isnan(average_ranks(np.zeros((0, 3)))).all()


# Probability of being best: by listing all resamples


@pytest.mark.parametrize(
    "x",
    [
        [[1, 0], [1, 0], [0, 1]],  # best with 2 or 3 of 3 draws from the first two: 20 / 27
        [[1, 0, 1], [0, 1, 1], [0.5, 0.5, 0], [1, 1, 0.2]],
        [[0.3, 0.3], [0.7, 0.7], [0.1, 0.1]],
        [[0.1, 0.3, 0.2], [0.3, 0.1, 0.2], [0.2, 0.2, 0.2]],
    ],
)
def test_probability_of_being_best_is_that_over_all_resamples(x) -> None:
    x = np.array(x)
    means = np.array([x[list(draw)].mean(axis=0) for draw in product(range(len(x)), repeat=len(x))])
    best = np.abs(means - means.max(axis=1, keepdims=True)) < 1e-12
    expected = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
    found = [system.probability_best for system in intervals(x, n_resamples=40_000)]
    assert found == pytest.approx(expected, abs=0.0125)  # 5 sd of a share
    assert sum(found) == pytest.approx(1)


def test_equal_systems_share_in_being_best() -> None:
    x = scores(50, 3, 0.0)
    first, second, third = intervals(np.column_stack([x[:, 0], x[:, 0], x[:, 0] - 0.5]))
    assert (first.probability_best, second.probability_best, third.probability_best) == (
        0.5,
        0.5,
        0.0,
    )
    assert (first.rank.estimate, first.rank.low, first.rank.high) == (1.5, 1.0, 2.0)
    assert (third.rank.estimate, third.rank.low, third.rank.high) == (3.0, 3.0, 3.0)


# Intervals


def test_average_ranks_have_the_bca_interval_of_their_items() -> None:
    rng = np.random.default_rng(2)  # skewed ranks, of which percentiles have another interval
    x = np.column_stack([np.where(rng.random(30) < 0.8, 3.0, rng.random(30)), rng.random((30, 8))])
    ranks, found = item_ranks(x)[:, 0], intervals(x, n_resamples=40_000)[0].average_rank
    start, width, cdf, _, _ = bootstrap_distribution(ranks)
    exact, percentile = bca_interval(ranks), start + width * np.searchsorted(cdf, 0.975)
    assert exact.high - percentile > 0.15
    assert found.estimate == exact.estimate
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=0.05)
    assert (found.method, found.n, found.confidence_level) == ("average rank, BCa", 30, 0.95)


def test_average_ranks_of_clusters_have_the_cluster_bootstrap_interval_of_scipy() -> None:
    from scipy.stats import bootstrap

    x, questions = scores(90, 3, 0.1), np.repeat(np.arange(30), [1, 3, 5] * 10)
    for ranks, system in zip(
        item_ranks(x).T, intervals(x, clusters=questions, n_resamples=40_000), strict=True
    ):
        totals = np.bincount(questions, ranks), np.bincount(questions)
        mean = lambda sums, sizes, axis: sums.sum(axis=axis) / sizes.sum(axis=axis)  # noqa: E731
        drawn = bootstrap(
            totals,
            mean,
            paired=True,
            n_resamples=40_000,
            rng=np.random.default_rng(1),
            vectorized=True,
        )
        expected = drawn.confidence_interval
        found = system.average_rank
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.02)
        assert (found.estimate, found.n) == (ranks.mean(), 30)


def test_ranks_by_mean_count_the_systems_shown_better_and_worse() -> None:
    x = scores(60, 4, 0.1, seed=3)
    differences = simultaneous_intervals(
        (x[:, :, None] - x[:, None, :]).reshape(60, 16), rng=np.random.default_rng(2)
    )
    shown = np.array([[d.low > 0 for d in differences[4 * i : 4 * i + 4]] for i in range(4)])
    systems = intervals(x)
    assert [s.rank.low for s in systems] == (1 + shown.sum(axis=0)).tolist()
    assert [s.rank.high for s in systems] == (4 - shown.sum(axis=1)).tolist()
    assert [s.rank.estimate for s in systems] == [4.0, 3.0, 2.0, 1.0]
    assert systems[0].rank.method == "rank by mean score, max-T over pairs"


def test_repeated_items_in_their_clusters_change_nothing() -> None:
    x = scores(40, 3, 0.05)
    names = np.array([f"問{i:02d}" for i in range(40)])
    thrice = intervals(np.repeat(x, 3, axis=0), clusters=np.repeat(names, 3))
    for once, repeated in zip(intervals(x), thrice, strict=True):
        assert repeated.rank == once.rank
        assert repeated.probability_best == once.probability_best
        ours, theirs = repeated.average_rank, once.average_rank
        assert (ours.low, ours.high, ours.n) == pytest.approx((theirs.low, theirs.high, 40))


# Edges


@pytest.mark.parametrize(("n", "shown"), [(2, False), (6, False), (7, True), (50, True)])
def test_a_constant_difference_counts_where_the_sign_test_shows_it(n: int, shown: bool) -> None:
    # three pairs: 3 * 2^(1-n) is .094 for 6 items, .047 for 7
    base = np.random.default_rng(0).integers(0, 8, n) / 8
    best, _, worst = intervals(np.column_stack([base + 2, base + 1, base]))
    assert (best.rank.low, best.rank.high) == ((1, 1) if shown else (1, 3))
    assert (worst.rank.low, worst.rank.high) == ((3, 3) if shown else (1, 3))
    assert (best.probability_best, worst.probability_best) == (1.0, 0.0)
    assert best.average_rank.estimate == 1.0
    assert "the ranks do not vary between units" in best.average_rank.problem


@pytest.mark.parametrize("offset", [0.0, -0.45])
def test_rounding_error_makes_nobody_better(offset: float) -> None:
    x = np.full((40, 3), 0.3 + offset)
    x[:, 0] = (0.1 + 0.2) + offset  # 5.6e-17 more, or 0 on no item
    x[::2] += 0.15 - offset
    for system in intervals(x):
        assert (system.rank.estimate, system.rank.low, system.rank.high) == (2.0, 1.0, 3.0)
        assert system.probability_best == pytest.approx(1 / 3)


def test_clusters_without_spread_have_no_interval() -> None:
    x = np.array([[0.1, 0.9], [0.8, 0.2]] * 10)
    for system in intervals(x, clusters=np.repeat(np.arange(10), 2)):
        assert system.average_rank.estimate == 1.5
        assert system.average_rank.problem == "the ranks do not vary between units"


def test_all_ties_leave_every_rank_open() -> None:
    for system in intervals(np.full((30, 4), 0.5)):
        assert (system.rank.estimate, system.rank.low, system.rank.high) == (2.5, 1.0, 4.0)
        assert system.probability_best == 0.25
        assert np.isnan(system.average_rank.low)


@pytest.mark.parametrize(
    ("x", "clusters", "reason", "averages"),
    [
        ([[1, 2, 3]], None, "needs 2 items, got 1", [3, 2, 1]),
        (np.zeros((0, 3)), None, "needs 2 items, got 0", [np.nan] * 3),
        ([[1, 2, 3], [3, 2, 1]], ["a", "a"], "needs 2 clusters, got 1", [2, 2, 2]),
    ],
)
def test_too_few_units_are_undefined_with_a_reason(
    x, clusters, reason: str, averages: list[float]
) -> None:
    systems = intervals(x, clusters=clusters)
    assert [s.average_rank.estimate for s in systems] == pytest.approx(averages, nan_ok=True)
    for system in systems:
        assert reason in system.average_rank.problem
        assert reason in system.rank.problem
        assert np.isnan([system.rank.low, system.rank.high, system.probability_best]).all()
