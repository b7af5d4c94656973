"""The exact laws, held against direct enumeration in whole numbers."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragnb.stats import lattice as lattice_module
from ragnb.stats.intervals import bca_interval
from ragnb.stats.lattice import MAX_STEPS, bootstrap_law, find_lattice, listed_tail, sign_flip_lattice, sign_flip_tail
from ragnb.stats.paired import sign_flip_test

steps = st.lists(st.integers(-40, 40), min_size=1, max_size=30).filter(any)


def enumerated_tail(magnitudes, counts, observed: int) -> float:
    """Convolve the sign-flip law in Python integers: slow and exact."""
    law = Counter({0: 1})
    for magnitude in np.repeat(magnitudes, counts).tolist():
        flipped: Counter[int] = Counter()
        for total, ways in law.items():
            flipped[total + magnitude] += ways
            flipped[total - magnitude] += ways
        law = flipped
    return float(Fraction(sum(ways for total, ways in law.items() if total >= observed), sum(law.values())))


@pytest.fixture(params=["convolved", "tilted"])
def route(request):
    """Force one of the two ways to the sign-flip tail."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "tilted":
            patch.setattr(lattice_module, "MAX_ADDITIONS", 0)
        yield request.param


@given(differences=steps)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_sign_flip_tail_is_exact_in_relative_terms(route, differences) -> None:
    lattice = sign_flip_lattice(np.array(differences, dtype=float))
    total = int(lattice.counts @ lattice.magnitudes)
    for observed in {lattice.observed, -lattice.observed, total, -total, total - 2 * int(lattice.magnitudes[0])}:
        exact = enumerated_tail(lattice.magnitudes, lattice.counts, observed)
        tail = sign_flip_tail(lattice.magnitudes, lattice.counts, observed)
        assert tail == pytest.approx(exact, rel=1e-10)


@given(differences=steps)
@settings(max_examples=100, deadline=None)
def test_listed_tail_counts_ties_as_whole_numbers_do(differences) -> None:
    lattice = sign_flip_lattice(np.array(differences, dtype=float))
    magnitudes = np.repeat(lattice.magnitudes, lattice.counts)
    for observed in {lattice.observed, -lattice.observed, int(magnitudes.sum())}:
        exact = enumerated_tail(lattice.magnitudes, lattice.counts, observed)
        assert listed_tail(magnitudes / 7, observed / 7) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("n", [40, 300])
def test_sign_flip_tail_of_binary_differences_is_binomial(route, n: int) -> None:
    from scipy.stats import binom

    for wins in range(0, n + 1, n // 20):
        tail = sign_flip_tail(np.array([1]), np.array([n]), 2 * wins - n)
        assert tail == pytest.approx(binom.sf(wins - 1, n, 0.5), rel=1e-9)


def test_sign_flip_tail_stays_positive_far_out(route) -> None:
    magnitudes, counts = np.array([1, 2, 3]), np.array([150, 150, 100])
    assert sign_flip_tail(magnitudes, counts, int(magnitudes @ counts)) == pytest.approx(2.0**-400, rel=1e-8)
    assert sign_flip_tail(np.array([1]), np.array([5000]), 5000) >= 2.0**-1022
    assert sign_flip_tail(np.array([1]), np.array([3]), 5) == 0.0
    assert sign_flip_tail(np.array([1]), np.array([3]), -5) == 1.0


@pytest.mark.parametrize("spread", [1.0, 300.0])
def test_sign_flip_tail_with_one_large_magnitude(route, spread: float) -> None:
    magnitudes, counts = np.array([1, 2, int(97 * spread)]), np.array([30, 10, 1])
    for observed in (int(97 * spread) + 10, int(97 * spread) - 10, 12):
        observed += (observed + int(magnitudes @ counts)) % 2
        exact = enumerated_tail(magnitudes, counts, observed)
        assert sign_flip_tail(magnitudes, counts, observed) == pytest.approx(exact, rel=1e-10)


@given(st.lists(st.integers(0, 12), min_size=2, max_size=6).filter(lambda v: len(set(v)) > 1))
@settings(max_examples=60, deadline=None)
def test_bootstrap_law_equals_enumeration_of_all_resamples(values) -> None:
    scores = np.array(values) / 4
    law = bootstrap_law(scores)
    means = np.array([sum(draw) / len(values) for draw in product(values, repeat=len(values))]) / 4
    grid = law.start + law.step * np.arange(law.cdf.size)
    for point, cumulated in zip(grid[::7], law.cdf[::7], strict=True):
        assert cumulated == pytest.approx(np.mean(means <= point + 1e-9), abs=1e-9)
    mean = scores.mean()
    assert law.below == pytest.approx(np.mean(means < mean - 1e-9) + np.mean(abs(means - mean) < 1e-9) / 2, abs=1e-9)
    assert law.binned_at == 0.0


def test_bootstrap_law_with_binned_scores_keeps_mean_and_spread() -> None:
    scores = np.random.default_rng(1).exponential(size=200)
    law = bootstrap_law(scores)
    grid = law.start + law.step * np.arange(law.cdf.size)
    pmf = np.diff(law.cdf, prepend=0.0)
    mean = pmf @ grid
    assert law.binned_at == pytest.approx(scores.std() / 64)
    assert mean == pytest.approx(scores.mean(), rel=1e-9)
    assert np.sqrt(pmf @ (grid - mean) ** 2) == pytest.approx(scores.std() / np.sqrt(200), rel=4e-5)


@pytest.mark.parametrize(
    ("values", "denominator"), [([0.0, 1.0], 100), ([1 / 3, -2 / 7], 2520), ([0.1234], 10_000), ([0.1 + 0.2], 100)]
)
def test_find_lattice(values, denominator: int) -> None:
    found = find_lattice(np.array(values))
    assert found is not None
    assert found[1] == denominator
    assert found[0] / denominator == pytest.approx(values)


@pytest.mark.parametrize("values", [[np.pi], [float(MAX_STEPS)], [1e300]])
def test_no_lattice(values) -> None:
    assert find_lattice(np.array(values)) is None


@pytest.mark.parametrize("unit", [1e-9, 1e-12, 1e-40])
@pytest.mark.parametrize("decimals", [1, 16])
def test_a_small_unit_is_no_lattice_of_zeros(unit: float, decimals: int) -> None:
    scores = np.round(np.random.default_rng(1).normal(0.5, 1, 20), decimals)
    assert find_lattice(scores * unit) is None
    assert sign_flip_test(scores * unit).p_value == pytest.approx(sign_flip_test(scores).p_value, rel=1e-12)
    small, plain = bca_interval(scores * unit), bca_interval(scores)
    assert (small.low / unit, small.high / unit) == pytest.approx((plain.low, plain.high), abs=0.01)


def test_scores_that_are_apart_by_less_than_a_step_are_binned() -> None:
    found = bca_interval([1.0, 1.0 + 1e-9, 1.0])
    assert 1.0 <= found.low < found.high <= 1.0 + 1.01e-9  # to within one bin


def test_scores_without_a_lattice_are_rounded_to_a_thousandth() -> None:
    assert sign_flip_lattice(np.array([np.sqrt(0.5), -0.1234567])).rounded_to == 0.001
    assert sign_flip_lattice(np.array([1234.5678901, -3.0])).rounded_to == 10.0
    assert sign_flip_lattice(np.array([0.5, 0.25])).rounded_to == 0.0
