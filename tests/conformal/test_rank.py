"""The rank of the threshold against integer arithmetic, and the distribution of the coverage."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ragnb.conformal import conformal_rank, coverage_distribution
from ragnb.conformal.sets import too_few_items
from ragnb.errors import InputError

PERCENT = [1, 2, 5, 10, 20, 45]
SIZES = range(501)
alphas = st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=200)


def right_rank(n: int, percent: int) -> int:
    """The smallest k with k / (n + 1) >= 1 - percent / 100, in integers."""
    return -((n + 1) * (percent - 100) // 100)


# ---- the rank ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("percent", PERCENT)
def test_the_rank_is_exact_for_every_n_up_to_500(percent):
    wrong = [n for n in SIZES if conformal_rank(n, percent / 100) != right_rank(n, percent)]
    assert wrong == []


@pytest.mark.parametrize(
    "alpha",
    [0.1, np.float32(0.1), "0.1", "1/10", Fraction(1, 10)],
    ids=repr,
)
def test_alpha_may_be_written_in_any_exact_way(alpha):
    assert [conformal_rank(n, alpha) for n in (9, 99, 999)] == [9, 90, 900]


@pytest.mark.parametrize("alpha", [10, "ten"])
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


def test_without_a_threshold_coverage_is_1():
    coverage = coverage_distribution(18, 0.05)
    assert (coverage.mean(), coverage.ppf(0.01), *coverage.interval(0.9)) == (1, 1, 1, 1)
    assert coverage_distribution(0, 0.5).mean() == 1
