"""The Friedman test: other libraries, invariants, edges."""

from itertools import permutations, product

import numpy as np
import pytest

from ragnb.errors import InputError
from ragnb.stats.several import friedman_test, item_ranks


def scores(n: int, k: int, seed: int = 0) -> np.ndarray:
    """Graded scores with ties, later systems a little better."""
    rng = np.random.default_rng(seed)
    return np.round(rng.random((n, 1)) + rng.random((n, k)) + 0.1 * np.arange(k), 1)


# Other libraries


@pytest.mark.parametrize(("n", "k"), [(2, 3), (5, 7), (300, 4)])
def test_friedman_chi2_equals_scipy(n: int, k: int) -> None:
    from scipy.stats import friedmanchisquare

    x = scores(n, k, seed=n + k)
    expected = friedmanchisquare(*x.T)
    result = friedman_test(x, method="chi2")
    assert (result.statistic, result.p_value) == pytest.approx(
        (expected.statistic, expected.pvalue), rel=1e-9
    )


@pytest.mark.parametrize(("n", "k"), [(12, 3), (40, 6)])
def test_friedman_f_equals_pingouins_statistic_and_anova_on_ranks(n: int, k: int) -> None:
    pingouin, pandas = pytest.importorskip("pingouin"), pytest.importorskip("pandas")
    from scipy.stats import f

    x = scores(n, k, seed=3)
    result = friedman_test(x)
    assert result.statistic == pytest.approx(
        pingouin.friedman(pandas.DataFrame(x), method="f")["F"].iloc[0]
    )
    ranks = item_ranks(x)
    between = n * ((ranks.mean(axis=0) - ranks.mean()) ** 2).sum() / (k - 1)
    within = ((ranks - ranks.mean(axis=0)) ** 2).sum() / ((n - 1) * (k - 1))
    assert result.statistic == pytest.approx(between / within)
    assert result.p_value == pytest.approx(f.sf(between / within, k - 1, (n - 1) * (k - 1)))


# All items agree, all tie, few items


@pytest.mark.parametrize("row", [[0.1, 0.2, 0.3], [0.1, 0.1, 0.3]])
def test_p_of_full_agreement_is_the_share_of_arrangements(row: list[float]) -> None:
    result = friedman_test([row] * 3)
    arrangements = set(permutations(row))
    alike = sum(a == b == c for a, b, c in product(arrangements, repeat=3)) / len(arrangements) ** 3
    assert (result.statistic, result.p_value) == (np.inf, pytest.approx(alike))
    assert friedman_test([row] * 3, method="chi2").statistic == pytest.approx(6)


def test_p_of_full_agreement_is_never_0() -> None:
    x = np.tile([1.0, 2.0, 3.0, 4.0], (500, 1))
    for method in ("F", "chi2"):
        assert 0 < friedman_test(x, method=method).p_value < 1e-12


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("n", [2, 9])
def test_no_item_separates_the_systems(n: int, k: int) -> None:
    x = np.repeat(np.arange(n) % 2, k).reshape(n, k)
    for method in ("F", "chi2"):
        result = friedman_test(x, method=method)
        assert (result.statistic, result.p_value, result.warning) == (
            0.0,
            1.0,
            "all systems are tied on every item",
        )


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_items_are_undefined_with_a_reason(n: int) -> None:
    result = friedman_test(np.zeros((n, 3)))
    assert np.isnan([result.statistic, result.p_value]).all()
    assert result.warning == f"undefined: at least 2 items are needed, got {n}"


def test_fewer_than_ten_items_are_warned_of() -> None:
    assert friedman_test(scores(9, 3)).warning == "p is only approximate for 9 items, fewer than 10"
    assert friedman_test(scores(10, 3)).warning == ""


def test_rounding_error_breaks_no_tie() -> None:
    x = np.array([[0.1 + 0.2, 0.3, 0.9], [0.3, 0.1 + 0.2, 0.7], [0.7 + 0.1, 0.8, 0.9]])
    assert item_ranks(x).tolist() == [[2.5, 2.5, 1.0]] * 3


def test_what_is_no_table_of_systems_is_refused() -> None:
    with pytest.raises(
        InputError,
        match=r"scores must have one column per system, at least two, got shape \(2, 1\)",
    ):
        friedman_test([[1], [0]])
    with pytest.raises(
        InputError, match=r"scores must be finite numbers, got nan at position 0, 1"
    ):
        friedman_test([[1, np.nan], [0, 1]])
