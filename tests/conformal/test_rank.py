"""The rank of the threshold against integer arithmetic, and the distribution of the coverage."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ragnb.conformal.sets import (
    ConformalClassifier,
    conformal_rank,
    coverage_distribution,
    too_few_items,
)
from ragnb.errors import InputError

PERCENT = [1, 2, 5, 10, 20, 45]
SIZES = range(2001)
alphas = st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=200)


def right_rank(n: int, percent: int) -> int:
    """The smallest k with k / (n + 1) >= 1 - percent / 100, in integers."""
    return -((n + 1) * (percent - 100) // 100)


# ---- the rank ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("percent", PERCENT)
def test_the_rank_is_exact_for_every_n_up_to_2000(percent):
    wrong = [n for n in SIZES if conformal_rank(n, percent / 100) != right_rank(n, percent)]
    assert wrong == []


def test_the_float_formula_gives_wrong_ranks():
    wrong = [
        (n, percent)
        for percent in PERCENT
        for n in SIZES
        if math.ceil((n + 1) * (1 - percent / 100)) != right_rank(n, percent)
    ]
    assert wrong
    assert all(conformal_rank(n, percent / 100) == right_rank(n, percent) for n, percent in wrong)


def test_the_quantile_recipe_is_one_rank_too_high_almost_always():
    excess = []
    for n in range(20, 400):
        ranks = np.arange(1, n + 1)  # the j-th smallest score is j
        recipe = np.quantile(ranks, min(math.ceil((n + 1) * 0.9) / n, 1), method="higher")
        excess.append(int(recipe) - right_rank(n, 10))
    assert set(excess) <= {0, 1}
    assert np.mean(excess) > 0.9


@pytest.mark.parametrize(
    "alpha",
    [0.1, np.float32(0.1), "0.1", "1/10", Fraction(1, 10)],
    ids=repr,
)
def test_alpha_may_be_written_in_any_exact_way(alpha):
    assert [conformal_rank(n, alpha) for n in (9, 99, 999)] == [9, 90, 900]


def test_a_rounded_alpha_is_used_as_it_prints():
    assert (conformal_rank(9, 0.1), conformal_rank(9, 1 - 0.9)) == (9, 10)


@pytest.mark.parametrize("alpha", [0, 1, 10, "ten"])
def test_an_alpha_outside_0_and_1_is_refused(alpha):
    with pytest.raises(InputError, match="alpha must be"):
        conformal_rank(50, alpha)


# ---- the smallest calibration set --------------------------------------------------------------------------------------


@given(alphas)
def test_the_message_names_the_smallest_size_with_a_threshold(alpha):
    first = next(n for n in range(60) if conformal_rank(n, alpha) <= n)
    assert too_few_items(first, alpha) == ""
    assert f"needs at least {first} calibration items, got {first - 1}" in too_few_items(
        first - 1, alpha
    )


# ---- the distribution of the coverage ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "percent"), [(9, 10), (19, 5), (50, 5), (50, 45), (240, 10), (5000, 1)]
)
def test_coverage_has_a_beta_distribution(n, percent):
    rank = right_rank(n, percent)
    coverage, beta = coverage_distribution(n, percent / 100), stats.beta(rank, n + 1 - rank)
    assert coverage.mean() == pytest.approx(rank / (n + 1))
    assert coverage.interval(0.8) == pytest.approx(beta.ppf([0.1, 0.9]))


def test_the_coverage_of_240_items():
    coverage = coverage_distribution(240, 0.1)
    assert (round(coverage.std(), 3), round(coverage.ppf(0.05), 3)) == (0.019, 0.867)


def test_without_a_threshold_coverage_is_1():
    coverage = coverage_distribution(18, 0.05)
    assert (coverage.mean(), coverage.ppf(0.01), *coverage.interval(0.9)) == (1, 1, 1, 1)
    assert coverage_distribution(0, 0.5).mean() == 1


@pytest.mark.parametrize("trials", [400, pytest.param(20_000, marks=pytest.mark.slow)])
def test_the_coverage_of_uniform_scores_follows_the_distribution(trials):
    """The coverage of a threshold t on uniform scores is t itself."""
    rng, thresholds = np.random.default_rng(5), []
    for _ in range(trials):
        classifier = ConformalClassifier.calibrate(1 - rng.random(60), np.ones(60))
        thresholds.append(classifier.scores["all", "all"][conformal_rank(60, 0.1) - 1])
    assert stats.kstest(thresholds, coverage_distribution(60, 0.1).cdf).pvalue > 1e-3
