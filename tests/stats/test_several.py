"""Several systems at once: omnibus tests, all pairs, groups; other libraries, invariants, edges, bad input."""

from functools import partial
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ragnb.errors import InputError
from ragnb.stats.binary import mcnemar_test, paired_table
from ragnb.stats.clusters import cluster_sign_flip_test
from ragnb.stats.multiplicity import holm
from ragnb.stats.paired import paired_t_test, sign_flip_test
from ragnb.stats.posthoc import conover, critical_difference, nemenyi, not_separated, pairwise_tests
from ragnb.stats.ranks import average_ranks, item_ranks
from ragnb.stats.several import cochran_q_test, friedman_from_ranks, friedman_test

FROM_SCORES = [friedman_test, partial(friedman_test, method="chi2"), cochran_q_test, conover, pairwise_tests]
sizes = st.tuples(st.integers(2, 12), st.integers(2, 6))
binary = sizes.flatmap(lambda size: arrays(np.int64, size, elements=st.integers(0, 1)))
graded = sizes.flatmap(lambda size: arrays(np.float64, size, elements=st.integers(0, 5).map(lambda x: x / 5)))


def scores(n: int, k: int, seed: int = 0) -> np.ndarray:
    """Graded scores with ties, later systems a little better."""
    rng = np.random.default_rng(seed)
    return np.round(rng.random((n, 1)) + rng.random((n, k)) + 0.1 * np.arange(k), 1)


# Other libraries


@pytest.mark.parametrize("k", [3, 4, 7])
@pytest.mark.parametrize("n", [2, 5, 40, 300])
def test_friedman_chi2_equals_scipy(n: int, k: int) -> None:
    from scipy.stats import friedmanchisquare

    x = scores(n, k, seed=n + k)
    expected = friedmanchisquare(*x.T)
    result = friedman_test(x, method="chi2")
    assert (result.statistic, result.p_value) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)


@pytest.mark.parametrize(("n", "k"), [(12, 3), (40, 6)])
def test_friedman_f_equals_pingouins_statistic_and_anova_on_ranks(n: int, k: int) -> None:
    pingouin, pandas = pytest.importorskip("pingouin"), pytest.importorskip("pandas")
    from scipy.stats import f

    x = scores(n, k, seed=3)
    result = friedman_test(x)
    assert result.statistic == pytest.approx(pingouin.friedman(pandas.DataFrame(x), method="f")["F"].iloc[0])
    ranks = item_ranks(x)
    between = n * ((ranks.mean(axis=0) - ranks.mean()) ** 2).sum() / (k - 1)
    within = ((ranks - ranks.mean(axis=0)) ** 2).sum() / ((n - 1) * (k - 1))
    assert result.statistic == pytest.approx(between / within)
    assert result.p_value == pytest.approx(f.sf(between / within, k - 1, (n - 1) * (k - 1)))


@given(binary)
@settings(max_examples=60, deadline=None)
def test_cochran_equals_statsmodels(x: np.ndarray) -> None:
    from statsmodels.stats.contingency_tables import cochrans_q

    result = cochran_q_test(x)
    if (x == x[:, :1]).all():
        assert (result.statistic, result.p_value, result.warning) == (0.0, 1.0, "no item tells the systems apart")
    else:
        expected = cochrans_q(x)
        assert (result.statistic, result.p_value) == pytest.approx((expected.statistic, expected.pvalue), abs=1e-12)


@given(binary)
@settings(max_examples=60, deadline=None)
def test_two_systems_are_mcnemar_without_correction(x: np.ndarray) -> None:
    pair = x[:, :2]
    expected = mcnemar_test(paired_table(pair[:, 0], pair[:, 1]), method="asymptotic")
    for result in (cochran_q_test(pair), friedman_test(pair, method="chi2")):
        assert (result.statistic, result.p_value) == pytest.approx((expected.statistic, expected.p_value), abs=1e-12)


def test_two_systems_are_the_paired_t_test_of_ranks() -> None:
    x = scores(30, 2)
    first, second = item_ranks(x).T
    expected = paired_t_test(first, second)
    assert conover(x).p_values[0][1] == pytest.approx(expected.p_value)
    assert friedman_test(x).p_value == pytest.approx(expected.p_value)
    assert friedman_test(x).statistic == pytest.approx(expected.statistic**2)


def test_conover_equals_the_formula_in_rank_sums() -> None:
    from scipy.stats import rankdata, t

    x = scores(25, 4, seed=5)
    n, k = x.shape
    ranks = rankdata(x, axis=1)
    sums, squares = ranks.sum(axis=0), (ranks**2).sum()
    error = np.sqrt(2 * (n * squares - (sums**2).sum()) / ((n - 1) * (k - 1)))
    pairs = list(combinations(range(k), 2))
    expected = holm([2 * t.sf(abs(sums[i] - sums[j]) / error, (n - 1) * (k - 1)) for i, j in pairs]).adjusted
    result = conover(x)
    assert [result.p_values[i][j] for i, j in pairs] == pytest.approx(expected, rel=1e-9)


def test_nemenyi_of_two_systems_is_the_normal_test() -> None:
    from scipy.stats import norm

    assert nemenyi([1.3, 1.7], 40).p_values[0][1] == pytest.approx(2 * norm.sf(0.4 / np.sqrt(1 / 40)), abs=1e-12)
    assert critical_difference(2, 25) == pytest.approx(norm.isf(0.025) / 5)


def test_nemenyi_quantile_is_that_of_simulated_ranges() -> None:
    ranges = np.ptp(np.random.default_rng(1).normal(size=(200_000, 5)), axis=1)
    expected = np.quantile(ranges, 0.95) / np.sqrt(2) * np.sqrt(5 * 6 / (6 * 30))
    assert critical_difference(5, 30) == pytest.approx(expected, rel=5e-3)  # 5 sd of the simulated quantile


# What must hold for any scores


@pytest.mark.parametrize("test", [friedman_test, conover, pairwise_tests])
@given(x=graded, seed=st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_order_of_items_and_systems_does_not_matter(test, x: np.ndarray, seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = rng.permutation(x.shape[1])
    shuffled = test(rng.permutation(x, axis=0)[:, columns])
    result = test(x)
    if test is friedman_test:
        assert (shuffled.statistic, shuffled.p_value) == pytest.approx((result.statistic, result.p_value))
    else:
        assert np.array(shuffled.p_values) == pytest.approx(np.array(result.p_values)[np.ix_(columns, columns)])


@pytest.mark.parametrize("test", [friedman_test, conover])
@given(x=graded)
@settings(max_examples=25, deadline=None)
def test_only_ranks_within_items_count(test, x: np.ndarray) -> None:
    scaled = np.exp(3 * x) * np.linspace(1, 1e6, len(x))[:, None] + np.arange(len(x))[:, None]
    assert test(scaled) == test(x)


@pytest.mark.parametrize("method", ["F", "chi2"])
@given(x=graded)
@settings(max_examples=40, deadline=None)
def test_published_ranks_give_the_test_without_ties(method: str, x: np.ndarray) -> None:
    untied = np.argsort(np.argsort(x + np.linspace(0, 0.1, x.size).reshape(x.shape), axis=1), axis=1)
    expected = friedman_test(untied, method=method)
    result = friedman_from_ranks(average_ranks(untied), len(x), method=method)
    assert (result.statistic, result.p_value) == pytest.approx((expected.statistic, expected.p_value), rel=1e-9)
    tied = friedman_from_ranks(average_ranks(x), len(x), method=method)
    assert tied.statistic <= friedman_test(x, method=method).statistic + 1e-9


@given(x=graded)
@settings(max_examples=30, deadline=None)
def test_tables_of_p_values_are_symmetric_with_ones_on_the_diagonal(x: np.ndarray) -> None:
    for result in (conover(x), pairwise_tests(x), nemenyi(average_ranks(x), len(x))):
        p = np.array(result.p_values)
        assert (p == p.T).all()
        assert (np.diag(p) == 1).all()
        assert ((p > 0) & (p <= 1)).all()
        assert result.average_ranks == pytest.approx(average_ranks(x))


@given(k=st.integers(2, 8), n=st.integers(2, 200), share=st.floats(0.01, 0.999), level=st.floats(0.5, 0.99))
@settings(max_examples=40, deadline=None)
def test_nemenyi_p_is_small_exactly_beyond_the_critical_difference(k: int, n: int, share: float, level: float) -> None:
    spread = share * (k - 1) / 2
    average = np.full(k, (k + 1) / 2)
    average[:2] += [-spread, spread]
    result = nemenyi(average, n, confidence_level=level)
    assert result.critical_difference == critical_difference(k, n, confidence_level=level)
    if abs(2 * spread - result.critical_difference) > 1e-6:
        assert (result.p_values[0][1] < 1 - level) == (2 * spread > result.critical_difference)


def test_pairwise_tests_are_the_paired_tests_adjusted() -> None:
    x, pairs = scores(20, 4), list(combinations(range(4), 2))
    expected = holm([sign_flip_test(x[:, i], x[:, j]).p_value for i, j in pairs]).adjusted
    result = pairwise_tests(x)
    assert [result.p_values[i][j] for i, j in pairs] == pytest.approx(expected)
    assert (result.method, result.n, result.confidence_level) == ("exact sign-flip test, Holm", 20, 0.95)
    assert np.isnan(result.critical_difference)


def test_pairwise_tests_take_clusters_and_0_1_scores() -> None:
    x, questions = scores(30, 3), np.repeat(np.arange(10), 3)
    result = pairwise_tests(x, test=partial(cluster_sign_flip_test, clusters=questions))
    assert (result.method, result.n) == ("exact cluster sign-flip test, Holm", 10)
    right = (x > 1).astype(float)
    by_mcnemar = pairwise_tests(right, test=lambda a, b: mcnemar_test(paired_table(a, b), method="exact"))
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
    for result in (friedman_test(x), friedman_from_ranks([4, 3, 2, 1], 500), friedman_test(x, method="chi2")):
        assert 0 < result.p_value < 1e-12
    assert 0 < nemenyi(average_ranks(x), 500).p_values[0][3] < 1e-12
    assert 0 < conover(np.tile([1.0, 2.0], (2000, 1))).p_values[0][1] < 1e-12


def test_systems_in_the_same_order_on_all_items_are_told_apart() -> None:
    result = conover([[5.2, 6.0, 2.1, 1.7, 6.4]] * 10)
    assert result.warning == "all items rank the systems alike: p of the sign test of each pair"
    assert result.p_values[0][1] == pytest.approx(10 * 2.0**-9)
    assert not_separated(result.average_ranks, result.p_values) == ()
    few = conover([[5.2, 6.0, 2.1, 1.7, 6.4]] * 5)
    assert not_separated(few.average_ranks, few.p_values) == ((4, 1, 0, 2, 3),)


def test_equal_systems_among_ordered_ones_have_p_1() -> None:
    p = conover([[1.0, 1.0, 2.0]] * 12).p_values
    assert (p[0][1], p[0][2]) == (1.0, pytest.approx(3 * 2.0**-11))


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("n", [2, 9])
def test_no_item_tells_the_systems_apart(n: int, k: int) -> None:
    x = np.repeat(np.arange(n) % 2, k).reshape(n, k)
    for test in FROM_SCORES[:3]:
        result = test(x)
        assert (result.statistic, result.p_value, result.warning) == (0.0, 1.0, "no item tells the systems apart")
    assert conover(x).warning == "no item tells the systems apart"
    for result in (conover(x), pairwise_tests(x), nemenyi(average_ranks(x), n)):
        assert (np.array(result.p_values) == 1).all()
        assert not_separated(result.average_ranks, result.p_values) == (tuple(range(k)),)


def test_a_system_that_always_scores_the_same_is_no_obstacle() -> None:
    x = scores(30, 4)
    x[:, 2] = 0.7
    assert 0 < friedman_test(x).p_value < 1
    assert 0 < conover(x).p_values[0][2] < 1


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_items_are_undefined_with_a_reason(n: int) -> None:
    x = np.zeros((n, 3))
    for test in FROM_SCORES[:3]:
        result = test(x)
        assert np.isnan([result.statistic, result.p_value]).all()
        assert result.warning == f"undefined: needs 2 items, got {n}"
    assert np.isnan(friedman_from_ranks([1, 2, 3], n).p_value)
    result = conover(x)
    assert np.isnan(np.array(result.p_values)[np.triu_indices(3, 1)]).all()
    assert result.warning == f"undefined: needs 2 items, got {n}"


def test_pairwise_tests_of_nothing_are_undefined() -> None:
    result = pairwise_tests(np.zeros((0, 3)))
    assert np.isnan(result.average_ranks).all()
    assert np.isnan(result.p_values[0][1])
    assert result.warning == "undefined: no items"


def test_fewer_than_ten_items_are_warned_of() -> None:
    assert friedman_test(scores(9, 3)).warning == "9 items, fewer than 10: p is a rough one"
    assert friedman_test(scores(10, 3)).warning == ""


def test_rounding_error_breaks_no_tie() -> None:
    x = np.array([[0.1 + 0.2, 0.3, 0.9], [0.3, 0.1 + 0.2, 0.7], [0.7 + 0.1, 0.8, 0.9]])
    assert item_ranks(x).tolist() == [[2.5, 2.5, 1.0]] * 3


# Groups


def runs_by_hand(order: np.ndarray, p: np.ndarray, level: float) -> set[tuple[int, ...]]:
    """All runs without a pair told apart, less those inside a longer one."""
    every = [order[a:b] for a in range(len(order)) for b in range(a + 2, len(order) + 1)]
    joined = [tuple(run.tolist()) for run in every if not any(p[i, j] < 1 - level for i, j in combinations(run, 2))]
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


def test_a_pair_told_apart_inside_cuts_a_run_even_if_its_ends_are_not() -> None:
    p = np.ones((3, 3))
    p[0, 1] = p[1, 0] = 0.001
    assert not_separated([1, 2, 3], p) == ((1, 2),)


# Bad input


@pytest.mark.parametrize("test", FROM_SCORES)
@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([[1, 0, np.nan], [1, 1, 0], [np.inf, np.nan, 0]], r"got 3 nan or infinite in 2 of 3 items, the first in item 0"),
        ([1, 0, 1], r"one row an item and one column a system, two at least; they got shape \(3,\)"),
        ([[1], [0]], r"got shape \(2, 1\); stack the systems' scores as columns"),
        ([["a", "b"]], r"an array of scores; they got something else"),
        ([[1, 0], [1]], r"an array of scores; they got something else"),
    ],
)
def test_bad_scores_are_refused(test, x, message: str) -> None:
    with pytest.raises(InputError, match=message):
        test(x)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: friedman_test([[1, 2]], method="exact"), r"method needs one of 'F', 'chi2'; it got 'exact'"),
        (lambda: cochran_q_test([[1, 0.5]]), r"Cochran's Q needs values 0 or 1; it got 0\.5; use a test for graded scores"),
        (lambda: friedman_from_ranks([1, 2, 4], 10), r"adding up to k \(k \+ 1\) / 2; it got 3 that add up to 7"),
        (lambda: friedman_from_ranks([1], 10), r"needs mean ranks of two systems or more, from 1 to k"),
        (lambda: friedman_from_ranks([0.2, 2.8], 10), r"from 1 to k"),
        (lambda: friedman_from_ranks([1, np.nan], 10), r"average_ranks needs finite scores"),
        (lambda: friedman_from_ranks([1, 2], 2.5), r"n needs a whole number of at least 0; it got 2\.5"),
        (lambda: nemenyi([0.9, 0.1], 10), r"average_ranks needs mean ranks of two systems or more"),
        (lambda: nemenyi([1, 2], 0), r"n needs a whole number of at least 1; it got 0"),
        (lambda: nemenyi([1, 2], 9, confidence_level=95), r"confidence_level needs a number between 0 and 1; it got 95"),
        (lambda: critical_difference(1, 10), r"k needs a whole number of at least 2; it got 1"),
        (lambda: conover([[1, 2]], confidence_level=0), r"confidence_level needs a number between 0 and 1; it got 0"),
        (lambda: pairwise_tests([[1, 2]], confidence_level=1), r"confidence_level needs a number between 0 and 1; it got 1"),
        (lambda: not_separated([1, 2], [1.0]), r"a p-value for each pair of 2 systems; it got shape \(1,\); pass a square"),
    ],
)  # fmt: skip
def test_bad_options_are_refused(call, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
