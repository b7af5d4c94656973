"""The Friedman test: other libraries, invariants, edges."""

from itertools import permutations, product

import numpy as np
import pytest

from ragnb.stats import friedman_test


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
