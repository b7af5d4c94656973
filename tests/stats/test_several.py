"""The Friedman test and simultaneous intervals: other libraries, enumeration, invariants, edges."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import norm, t

from ragnb.stats import friedman_test, simultaneous_intervals


def scores(n: int, k: int, seed: int = 0) -> np.ndarray:
    """Graded scores with ties, later systems a little better."""
    rng = np.random.default_rng(seed)
    return np.round(rng.random((n, 1)) + rng.random((n, k)) + 0.1 * np.arange(k), 1)


# Other libraries


@pytest.mark.parametrize(("n", "k"), [(2, 3), (5, 7), (300, 4)])
def test_friedman_equals_scipy(n: int, k: int) -> None:
    from scipy.stats import friedmanchisquare

    x = scores(n, k, seed=n + k)
    f = friedman_test(x).statistic
    w = f / (n - 1 + f)
    assert n * (k - 1) * w == pytest.approx(friedmanchisquare(*x.T).statistic, rel=1e-9)


# All items agree, all tie, few items


@pytest.mark.parametrize("row", [[0.1, 0.2, 0.3], [0.1, 0.1, 0.3]])
def test_p_of_full_agreement_is_the_share_of_arrangements(row: list[float]) -> None:
    result = friedman_test([row] * 3)
    arrangements = set(permutations(row))
    alike = sum(a == b == c for a, b, c in product(arrangements, repeat=3)) / len(arrangements) ** 3
    assert (result.statistic, result.p_value) == (np.inf, pytest.approx(alike))


def test_no_item_separates_the_systems() -> None:
    x = np.repeat(np.arange(9) % 2, 5).reshape(9, 5)
    result = friedman_test(x)
    assert (result.statistic, result.p_value) == (0.0, 1.0)
    assert result.warning == "all systems are tied on every item"


def test_few_items_are_undefined_or_warned_of_with_a_reason() -> None:
    assert friedman_test(scores(9, 3)).warning == "p is only approximate for 9 items, fewer than 10"
    assert friedman_test(scores(10, 3)).warning == ""
    result = friedman_test(np.zeros((1, 3)))
    assert np.isnan([result.statistic, result.p_value]).all()
    assert result.warning == "undefined: at least 2 items are needed, got 1"


# ---- simultaneous intervals ----------------------------------------------------------------------

SKEWED = np.array([[0.1, 0.9], [0.4, 0.2], [-0.2, 0.3], [0.3, 0.1], [1.9, -0.4]])


def every_resample(values: np.ndarray) -> np.ndarray:
    """The largest standardised deviation of a mean, for each of the n ** n bootstrap resamples."""
    deviations = values - values.mean(axis=0)
    standardised = deviations / np.sqrt((deviations**2).sum(axis=0))
    picks = np.array([*product(range(len(values)), repeat=len(values))])
    return np.abs(standardised[picks].sum(axis=1)).max(axis=1)


def half_widths(values: np.ndarray, critical: float) -> np.ndarray:
    """Half-widths for a critical value: t quantile at its normal probability, times the standard error."""
    n = len(values)
    return t(n - 1).ppf(norm.cdf(critical)) * values.std(axis=0, ddof=1) / np.sqrt(n)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_simultaneous_intervals_are_those_of_all_resamples(level: float) -> None:
    n_resamples = 200_000
    intervals = simultaneous_intervals(
        SKEWED, rng=np.random.default_rng(3), confidence_level=level, n_resamples=n_resamples
    )
    # The quantile of a sample is within 3.8 standard errors of the quantile of all resamples.
    error = 3.8 * np.sqrt(level * (1 - level) / n_resamples)
    largest = every_resample(SKEWED)
    lowest, highest = np.quantile(largest, [level - error, level + error])
    halves = np.array([interval.high - interval.estimate for interval in intervals])
    assert (half_widths(SKEWED, lowest) <= halves + 1e-12).all()
    assert (halves - 1e-12 <= half_widths(SKEWED, highest)).all()
    assert [interval.estimate for interval in intervals] == pytest.approx(SKEWED.mean(axis=0))
    # The bounds are close enough to notice n instead of n - 1, which changes them by the factor 1.118.
    assert (half_widths(SKEWED, highest) / half_widths(SKEWED, lowest) < 1.06).all()
