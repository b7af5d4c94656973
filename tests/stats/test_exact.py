"""The exact distributions, compared with direct enumeration in whole numbers."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from ragnb.stats import bca_interval, sign_flip_test
from ragnb.stats.exact import (
    bootstrap_distribution,
    find_lattice,
    sign_flip_tail,
)

numbers = st.lists(st.integers(-40, 40), min_size=1, max_size=30).filter(any)


def enumerated_tail(steps) -> float:
    """Convolve the distribution of the sum with random signs in Python integers: slow and exact."""
    distribution = Counter({0: 1})
    for step in steps.tolist():
        flipped: Counter[int] = Counter()
        for total, ways in distribution.items():
            flipped[total + step] += ways
            flipped[total - step] += ways
        distribution = flipped
    reached = sum(ways for total, ways in distribution.items() if total >= steps.sum())
    return float(Fraction(reached, sum(distribution.values())))


@given(steps=numbers)
@settings(max_examples=40)
def test_sign_flip_tail_is_exact_in_relative_terms(steps) -> None:
    steps = np.array(steps)
    largest = np.abs(steps)
    second_largest = np.where(np.arange(steps.size) == largest.argmin(), -largest, largest)
    for signed in (steps, -steps, largest, -largest, second_largest):
        assert sign_flip_tail(signed) == pytest.approx(enumerated_tail(signed), rel=1e-10)


def test_sign_flip_tail_stays_positive_far_out() -> None:
    assert sign_flip_tail(np.repeat([1, 2, 3], [150, 150, 100])) == pytest.approx(
        2.0**-400, rel=1e-8
    )
    assert sign_flip_tail(np.ones(5000, dtype=int)) >= 2.0**-1022
    assert sign_flip_tail(-np.ones(3, dtype=int)) == 1.0
    assert sign_flip_tail(np.zeros(3, dtype=int)) == 1.0


@given(st.lists(st.integers(0, 12), min_size=2, max_size=6).filter(lambda v: len(set(v)) > 1))
@settings(max_examples=30)
def test_bootstrap_distribution_equals_enumeration_of_all_resamples(values) -> None:
    scores = np.array(values) / 4
    start, width, cdf, below, binned_at = bootstrap_distribution(scores)
    grid = start + width * np.arange(cdf.size)
    means = np.array([sum(draw) / len(values) for draw in product(values, repeat=len(values))]) / 4
    for point, cumulated in zip(grid[::7], cdf[::7], strict=True):
        assert cumulated == pytest.approx(np.mean(means <= point + 1e-9), abs=1e-9)
    mean = scores.mean()
    assert below == pytest.approx(
        np.mean(means < mean - 1e-9) + np.mean(abs(means - mean) < 1e-9) / 2, abs=1e-9
    )
    assert binned_at == 0.0


@pytest.mark.parametrize(("n", "rate"), [(100, 0.4), (100, 0.97), (100_000, 0.01)])
def test_bootstrap_distribution_of_labels_is_binomial(n: int, rate: float) -> None:
    labels = np.arange(n) < rate * n
    start, width, cdf, below, binned_at = bootstrap_distribution(labels * 1.0)
    means = start + width * np.arange(cdf.size)
    k = np.rint(means * n)
    assert means == pytest.approx(k / n, abs=1e-12)
    assert cdf == pytest.approx(binom.cdf(k, n, labels.mean()), abs=1e-9)
    assert below == pytest.approx(
        binom.cdf(rate * n, n, rate) - binom.pmf(rate * n, n, rate) / 2, abs=1e-6
    )
    assert binned_at == 0.0


@pytest.mark.parametrize("unit", [1e-9, 1 / 3, 1e9])
@pytest.mark.parametrize("decimals", [1, 16])
def test_units_change_nothing_but_the_unit(decimals: int, unit: float) -> None:
    scores = np.round(np.random.default_rng(1).normal(0.5, 1, 20), decimals)
    multiples = np.rint(scores * 10)
    lattice = find_lattice(scores * unit)
    assert (lattice is None) == (decimals == 16)
    if lattice is not None:
        assert lattice[0].tolist() == multiples.tolist()
        assert lattice[1] == pytest.approx(0.1 * unit, rel=1e-12)
    assert sign_flip_test(scores * unit).p_value == pytest.approx(
        sign_flip_test(scores).p_value, rel=1e-12
    )
    small, plain = bca_interval(scores * unit), bca_interval(scores)
    assert (small.low / unit, small.high / unit) == pytest.approx((plain.low, plain.high), rel=1e-9)
