"""Tests and rank intervals of several systems: level where all are alike, where only some are, and coverage near ties.

A simulated share may miss its bound by `SD` binomial standard errors (P below 1e-4 each when the bound is true).
"""

from collections.abc import Callable
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from simulation import slack

from ragnb.stats.several import (
    RankComparison,
    friedman_test,
    pairwise_tests,
    rank_intervals,
)

N = 40
TRIALS = [pytest.param(4000, marks=pytest.mark.slow, id="4000"), pytest.param(300, id="300")]
Draw = Callable[[np.random.Generator], np.ndarray]


def smooth(rng: np.random.Generator) -> np.ndarray:
    return (rng.normal(size=(N, 1)) + rng.normal(size=(N, 4))).round(2)


def graded(rng: np.random.Generator) -> np.ndarray:
    """F1-like scores: many at 1, the rest multiples of .2."""
    return np.where(rng.random((N, 4)) < 0.5, 1.0, rng.integers(0, 6, (N, 4)) / 5)


def binary(rng: np.random.Generator) -> np.ndarray:
    return (rng.random((N, 4)) < rng.random((N, 1)) ** 0.5).astype(float)


def two_alike_two_far(rng: np.random.Generator) -> np.ndarray:
    return rng.normal([10, 10, 5, 0], size=(N, 4)).round(2)


def two_alike_two_near(rng: np.random.Generator) -> np.ndarray:
    return rng.normal([3, 3, 1.5, 0], size=(N, 4)).round(2)


# All systems alike: the share of p-values of at most .05 and .1


@pytest.mark.parametrize("trials", TRIALS)
@pytest.mark.parametrize(
    ("test", "draw"),
    [
        (friedman_test, smooth),
        (friedman_test, graded),
        (friedman_test, binary),
        (partial(friedman_test, method="chi2"), binary),
    ],
)
def test_omnibus_level(test, draw: Draw, trials: int) -> None:
    rng = np.random.default_rng(trials)
    p = np.array([test(draw(rng)).p_value for _ in range(trials)])
    for level in (0.05, 0.1):
        assert (
            level - 0.01 - slack(level, trials)
            <= (p <= level).mean()
            <= level + 0.008 + slack(level, trials)
        )


@pytest.mark.slow
@pytest.mark.parametrize(("n", "k"), [(10, 3), (20, 5), (300, 5)])
def test_f_holds_its_level_from_ten_items_on_and_chi2_stays_below(n: int, k: int) -> None:
    rng = np.random.default_rng(n)
    draws = [rng.normal(size=(n, k)) for _ in range(4000)]
    f = np.mean([friedman_test(x).p_value <= 0.05 for x in draws])
    chi2 = np.mean([friedman_test(x, method="chi2").p_value <= 0.05 for x in draws])
    assert abs(f - 0.05) < 0.005 + slack(0.05, 4000)
    assert chi2 <= f


def errs(comparison: RankComparison, pairs) -> bool:
    return min(comparison.p_values[i][j] for i, j in pairs) < 0.05


def error_rate(test, draw: Draw, pairs, trials: int) -> float:
    rng = np.random.default_rng(trials)
    return float(np.mean([errs(test(draw(rng)), pairs) for _ in range(trials)]))


ALL = list(combinations(range(4), 2))


@pytest.mark.parametrize("trials", [pytest.param(2000, marks=pytest.mark.slow), 60])
@pytest.mark.parametrize("draw", [smooth, graded, binary])
def test_no_pair_is_told_apart_too_often_where_all_are_alike(draw: Draw, trials: int) -> None:
    assert error_rate(pairwise_tests, draw, ALL, trials) <= 0.055 + slack(0.05, trials)


# Two systems alike, the others not: where tests that pool over systems go wrong


@pytest.mark.parametrize(
    ("draw", "trials"),
    [
        pytest.param(two_alike_two_far, 2000, marks=pytest.mark.slow),
        pytest.param(two_alike_two_near, 2000, marks=pytest.mark.slow),
        (two_alike_two_near, 60),
    ],
)
def test_two_alike_are_not_told_apart_beside_others(draw: Draw, trials: int) -> None:
    assert error_rate(pairwise_tests, draw, [(0, 1)], trials) <= 0.055 + slack(0.05, trials)


# Coverage


NEAR_TIES, SPREAD = 0.001 * np.arange(5)[::-1], np.array([0.6, 0.5, 0.4, 0.2, 0.0])
PLACES = np.arange(1, 6)


def five(rng: np.random.Generator, means: np.ndarray) -> np.ndarray:
    return means + 0.7 * rng.normal(size=(50, 1)) + 0.7 * rng.normal(size=(50, 5))


@pytest.mark.parametrize("trials", [pytest.param(1000, marks=pytest.mark.slow), 100])
@pytest.mark.parametrize("means", [NEAR_TIES, SPREAD])
def test_ranks_by_mean_are_covered_all_at_once(means: np.ndarray, trials: int) -> None:
    rng = np.random.default_rng(trials)
    covered = 0
    for _ in range(trials):
        ranks = [s.rank for s in rank_intervals(five(rng, means), rng=rng, n_resamples=500)]
        covered += all(r.low <= place <= r.high for r, place in zip(ranks, PLACES, strict=True))
    assert covered / trials >= 0.95 - slack(0.05, trials)


@pytest.mark.parametrize("trials", [pytest.param(2000, marks=pytest.mark.slow), 150])
def test_average_ranks_are_covered(trials: int) -> None:
    from scipy.stats import norm

    rng = np.random.default_rng(trials)
    # a system is better on an item with probability Phi(difference of means / standard deviation of a difference)
    truth = 1 + norm.cdf((SPREAD - SPREAD[:, None]) / (0.7 * np.sqrt(2))).sum(axis=1) - 0.5
    covered = np.zeros(5)
    for _ in range(trials):
        averages = [
            s.average_rank for s in rank_intervals(five(rng, SPREAD), rng=rng, n_resamples=500)
        ]
        covered += [a.low <= t <= a.high for a, t in zip(averages, truth, strict=True)]
    assert (np.abs(covered / trials - 0.95) <= 0.02 + slack(0.05, trials)).all()
