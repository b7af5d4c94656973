"""Several systems at once: joint test, all pairs, groups; other libraries, invariants, edges."""

from functools import partial
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragnb.errors import InputError
from ragnb.stats.binary import mcnemar_test, paired_table
from ragnb.stats.multiplicity import holm
from ragnb.stats.paired import sign_flip_test
from ragnb.stats.several import (
    friedman_test,
    item_ranks,
    not_separated,
    pairwise_tests,
)


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


# What must hold for any scores


def test_pairwise_tests_are_the_paired_tests_adjusted() -> None:
    x, pairs = scores(20, 4), list(combinations(range(4), 2))
    expected = holm([sign_flip_test(x[:, i], x[:, j]).p_value for i, j in pairs]).adjusted
    result = pairwise_tests(x)
    assert [result.p_values[i][j] for i, j in pairs] == pytest.approx(expected)
    assert (result.method, result.n, result.confidence_level) == (
        "exact sign-flip test, Holm",
        20,
        0.95,
    )


def test_pairwise_tests_take_clusters_and_0_1_scores() -> None:
    x, questions = scores(30, 3), np.repeat(np.arange(10), 3)
    result = pairwise_tests(x, test=partial(sign_flip_test, clusters=questions))
    assert (result.method, result.n) == ("exact cluster sign-flip test, Holm", 10)
    right = (x > 1).astype(float)
    by_mcnemar = pairwise_tests(
        right, test=lambda a, b: mcnemar_test(paired_table(a, b), method="exact")
    )
    assert np.array(by_mcnemar.p_values) == pytest.approx(np.array(pairwise_tests(right).p_values))


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
    pairs = pairwise_tests(x)
    assert (np.array(pairs.p_values) == 1).all()
    assert not_separated(pairs.average_ranks, pairs.p_values) == (tuple(range(k)),)


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_items_are_undefined_with_a_reason(n: int) -> None:
    result = friedman_test(np.zeros((n, 3)))
    assert np.isnan([result.statistic, result.p_value]).all()
    assert result.warning == f"undefined: needs 2 items, got {n}"


def test_pairwise_tests_of_nothing_are_undefined() -> None:
    result = pairwise_tests(np.zeros((0, 3)))
    assert np.isnan(result.average_ranks).all()
    assert np.isnan(result.p_values[0][1])
    assert result.warning == "undefined: no items"


def test_fewer_than_ten_items_are_warned_of() -> None:
    assert friedman_test(scores(9, 3)).warning == "p is only approximate for 9 items, fewer than 10"
    assert friedman_test(scores(10, 3)).warning == ""


def test_rounding_error_breaks_no_tie() -> None:
    x = np.array([[0.1 + 0.2, 0.3, 0.9], [0.3, 0.1 + 0.2, 0.7], [0.7 + 0.1, 0.8, 0.9]])
    assert item_ranks(x).tolist() == [[2.5, 2.5, 1.0]] * 3


# Groups


def runs_by_hand(order: np.ndarray, p: np.ndarray, level: float) -> set[tuple[int, ...]]:
    """All runs of systems that do not differ, without those inside a longer run."""
    every = [order[a:b] for a in range(len(order)) for b in range(a + 2, len(order) + 1)]
    joined = [
        tuple(run.tolist())
        for run in every
        if not any(p[i, j] < 1 - level for i, j in combinations(run, 2))
    ]
    return {run for run in joined if not any(set(run) < set(other) for other in joined)}


@given(k=st.integers(2, 7), seed=st.integers(0, 10_000), level=st.sampled_from([0.5, 0.9]))
@settings(max_examples=150, deadline=None)
def test_groups_are_the_maximal_runs(k: int, seed: int, level: float) -> None:
    rng = np.random.default_rng(seed)
    average, p = rng.random(k), rng.random((k, k)) ** 2
    p = np.triu(p, 1) + np.triu(p, 1).T + np.eye(k)
    groups = not_separated(average, p, confidence_level=level)
    order = np.argsort(average)
    assert set(groups) == runs_by_hand(order, p, level)
    assert [average[group[0]] for group in groups] == sorted(average[group[0]] for group in groups)


def test_an_undefined_p_value_tells_nothing_apart() -> None:
    p = np.array([[1, np.nan, 0.01], [np.nan, 1, 0.01], [0.01, 0.01, 1]])
    assert not_separated([1, 2, 3], p) == ((0, 1),)


def test_what_is_no_table_of_systems_is_refused() -> None:
    with pytest.raises(
        InputError,
        match=r"scores must have one column per system, at least two, got shape \(2, 1\)",
    ):
        friedman_test([[1], [0]])
    with pytest.raises(
        InputError, match=r"scores must be finite numbers, got nan at position 0, 1"
    ):
        pairwise_tests([[1, np.nan], [0, 1]])
