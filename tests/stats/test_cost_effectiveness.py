"""Ratio of means: duality with the paired t-test in all kinds of sets, equivariance, the jackknife by the book, edges."""

import warnings

import numpy as np
import pytest
from scipy.stats import t

from ragnb.errors import InputError
from ragnb.metrics import bridging_efficiency
from ragnb.stats import (
    compare_ratios,
    fieller_interval,
    fieller_interval_from_stats,
    mean_interval,
    mean_of_ratios,
    net_benefit,
    paired_t_test,
)
from ragnb.stats.cost_effectiveness import _fieller_limits

KINDS = ["bounded", "two rays", "whole line"]
RATIOS = [*np.linspace(-4, 4, 17), -1e3, 50.0]


def example(kind: str, n: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Draw pairs until their set is of the wanted kind."""
    rng = np.random.default_rng(n)
    mean = {"bounded": (1, 2), "two rays": (2, 0), "whole line": (0, 0)}[kind]
    while True:
        y, z = rng.multivariate_normal(mean, [[1, 0.4], [0.4, 1]], n).T
        if fieller_interval(y, z).kind == kind:
            return y, z


def clustered(kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Clusters of one to three items each."""
    y, z = example(kind)
    rng = np.random.default_rng(5)
    clusters = np.repeat(np.arange(y.size), rng.integers(1, 4, y.size))
    noise = rng.normal(0, 0.3, (2, clusters.size))
    return y[clusters] + noise[0], z[clusters] + noise[1], clusters


# ---- Fieller's set -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", [1, -1])
def test_a_denominator_at_the_verge_leaves_one_ray(sign: int) -> None:
    # z = |dz| exactly: (3 - r)^2 <= .25 + r^2, that is r >= 8.75 / 6
    kind, first, second = _fieller_limits(
        sign * 3.0, 1.0, np.array([0.0, 0.5]), np.array([1.0, 0.0])
    )
    assert kind == "two rays"
    assert sorted(sign * limit for limit in (first, second)) == [-np.inf, pytest.approx(8.75 / 6)]
    assert first < second


def test_a_mean_denominator_of_0_has_a_set_but_no_estimate() -> None:
    found = fieller_interval([5, 6, 7, 6], [1, -1, 2, -2])
    assert np.isnan(found.estimate)
    assert found.kind == "two rays"
    assert not found.contains(0)
    assert found.contains(100)
    nearly = fieller_interval([5, 6, 7, 6], [0.1, 0.2, -0.3, 0.0])  # sums to 3e-17
    assert np.isnan(nearly.estimate)


@pytest.mark.parametrize(
    ("numerator", "denominator", "estimate", "reason"),
    [
        ([], [], np.nan, "at least 2 items are needed, got 0"),
        ([1, 2, 3], [0, 0, 0], np.nan, "all denominators are 0"),
        ([0, 0, 0], [1, 2, 3], 0.0, "every item has the same ratio"),
        ([0.1, 0.2, 0.7], [0.3, 0.6, 2.1], 1 / 3, "every item has the same ratio"),
    ],
)
def test_ratio_without_spread_is_undefined_with_a_reason(
    numerator, denominator, estimate: float, reason: str
) -> None:
    found = fieller_interval(numerator, denominator)
    assert found.estimate == pytest.approx(estimate, nan_ok=True)
    assert np.isnan([found.low, found.high]).all()
    assert reason in found.problem
    assert found.kind == "undefined"
    assert not found.contains(0.5)


# ---- clusters ----------------------------------------------------------------------------------------------------------


def test_repeating_items_within_clusters_does_not_narrow_the_interval() -> None:
    n = 12
    y, z = example("bounded", n)
    plain = fieller_interval(y, z)
    clusters = np.repeat(np.arange(n), 3)
    grouped = fieller_interval(np.repeat(y, 3), np.repeat(z, 3), clusters=clusters)
    assert (grouped.low, grouped.high) == pytest.approx((plain.low, plain.high))
    assert grouped.n == n
    assert grouped.method == f"{plain.method}, {n} clusters (fewer than 30: too narrow)"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("by_cluster", [False, True])
def test_limits_are_where_the_t_test_has_p_alpha(kind: str, by_cluster: bool) -> None:
    y, z, clusters = clustered(kind)
    if not by_cluster:
        (y, z), clusters = example(kind), None
    found = fieller_interval(y, z, clusters=clusters)
    assert found.kind == kind
    for ratio in RATIOS:
        p = paired_t_test(y - ratio * z, clusters=clusters).p_value
        assert found.contains(ratio) == (p >= 0.05)
    for limit in found.limits if kind != "whole line" else ():
        p = paired_t_test(y - limit * z, clusters=clusters).p_value
        assert p == pytest.approx(0.05, abs=1e-9)


# ---- mean of ratios ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("zero", "variant"), [("nan", "ratio"), ("zero", "lbrag")])
def test_mean_of_ratios_is_the_mean_of_the_metric(zero: str, variant: str) -> None:
    rng = np.random.default_rng(2)
    system, baseline = np.round(rng.random((2, 40)), 2)
    cost = np.where(rng.random(40) < 1 / 3, 0, rng.integers(5, 60, 40))
    items = zip(system, baseline, cost, strict=True)
    each = np.array([bridging_efficiency(*item, variant=variant) for item in items])
    result, expected = (
        mean_of_ratios(system - baseline, cost, zero=zero),
        mean_interval(each[~np.isnan(each)]),
    )
    assert (result.estimate, result.low, result.high, result.n) == pytest.approx(
        (expected.estimate, expected.low, expected.high, expected.n)
    )


# ---- net benefit -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by_cluster", [False, True])
def test_a_limit_of_the_net_benefit_is_0_at_the_limits_of_fieller(by_cluster: bool) -> None:
    y, z, clusters = clustered("bounded")
    options = {"clusters": clusters if by_cluster else None}
    limits = fieller_interval(y, z, **options).limits
    lower, upper = net_benefit(y, z, limits, **options)
    assert (lower.low, upper.high) == pytest.approx((0, 0), abs=1e-9)


# ---- two ratios --------------------------------------------------------------------------------------------------------


def two_systems(n: int, seed: int = 1) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    base = rng.normal(0, 0.3, n)
    first_cost, second_cost = rng.gamma(3, 60, n), rng.gamma(2, 20, n)
    return [
        0.3 + base + rng.normal(0, 0.2, n),
        first_cost,
        0.2 + base + rng.normal(0, 0.2, n),
        second_cost,
    ]


def deleted(columns: list[np.ndarray], keys: np.ndarray) -> np.ndarray:
    """The difference of the ratios without each key in turn."""
    kept = ([column[keys != key] for column in columns] for key in np.unique(keys))
    return np.array([a.sum() / b.sum() - c.sum() / d.sum() for a, b, c, d in kept])


@pytest.mark.parametrize("size", [1, 3])
def test_comparison_by_leaving_out_in_a_loop(size: int) -> None:
    columns, keys = two_systems(60), np.arange(60) // size
    result = compare_ratios(*columns, clusters=None if size == 1 else keys, confidence_level=0.9)
    without = deleted(columns, keys)
    n = without.size
    error = np.sqrt((n - 1) ** 2 / n * without.var(ddof=1))
    difference = result.first - result.second
    half = t.ppf(0.95, n - 1) * error
    assert result.first == pytest.approx(columns[0].mean() / columns[1].mean())
    assert result.test.statistic == pytest.approx(difference / error)
    assert result.test.p_value == pytest.approx(2 * t.sf(abs(difference / error), n - 1))
    interval = result.interval
    assert (interval.low, interval.high) == pytest.approx((difference - half, difference + half))
    assert (interval.n, result.test.n, interval.estimate) == (n, n, pytest.approx(difference))


def test_comparison_says_when_a_denominator_may_be_0() -> None:
    a, b, c, d = two_systems(20)
    assert compare_ratios(a, -b, c, -d).test.warning == ""
    doubtful = compare_ratios(a, b, c, d - d.mean() + 1)
    assert doubtful.test.warning == "the mean denominator may be 0: see Fieller's set"
    assert doubtful.interval.method.endswith("the mean denominator may be 0: see Fieller's set")
    few = compare_ratios(a, b, c, d, clusters=np.arange(20) // 2)
    assert few.interval.method == "jackknife t, 10 clusters (fewer than 30: too narrow)"


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        (([1, 2], [1, 2], [1, 3], [0, 0]), "the mean denominator is 0"),
        (
            ([1, 2, 3], [2, 4, 6], [3, 6, 9], [1, 2, 3]),
            "if one item is left out, the difference is undefined or always the same",
        ),
    ],
)
def test_comparison_without_an_answer_is_undefined_with_a_reason(columns, reason: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = compare_ratios(*columns)
    assert np.isnan([result.interval.low, result.interval.high, result.test.p_value]).all()
    assert result.test.warning == f"undefined: {reason}"
    assert reason in result.interval.problem


# ---- from means and standard deviations ----------------------------------------------------------


def stats_of(y, z):
    return (y.mean(), y.std(ddof=1), z.mean(), z.std(ddof=1), np.corrcoef(y, z)[0, 1], len(y))


@pytest.mark.parametrize("kind", KINDS)
def test_summary_numbers_give_the_set_of_the_values(kind) -> None:
    y, z = example(kind)
    of_values, of_stats = fieller_interval(y, z), fieller_interval_from_stats(*stats_of(y, z))
    assert (of_stats.kind, of_stats.method, of_stats.n) == (kind, of_values.method, 12)
    assert of_stats.estimate == pytest.approx(of_values.estimate, rel=1e-10)
    assert of_stats.limits == pytest.approx(of_values.limits, rel=1e-9, nan_ok=True)
    assert (of_stats.low, of_stats.high) == pytest.approx((of_values.low, of_values.high), rel=1e-9)


@pytest.mark.parametrize(
    ("stats", "problem"),
    [
        ((0.1, 0.2, 5, 1, 0.3, 1), "at least 2 items are needed, got 1"),
        ((0.1, 0.2, 0, 0, 0, 9), "all denominators are 0"),
        ((2, 0.5, 4, 1, 1, 9), "every item has the same ratio"),
        ((0, 0, 4, 1, 0, 9), "every item has the same ratio"),
        ((-2, 0.5, 4, 1, -1, 9), "every item has the same ratio"),
    ],
)
def test_summary_numbers_without_a_set(stats, problem) -> None:
    result = fieller_interval_from_stats(*stats)
    assert result.kind == "undefined"
    assert result.problem == problem


def test_a_ratio_of_zero_has_no_sign() -> None:
    assert str(fieller_interval_from_stats(0, 0.5, -4, 1, 0, 9)).startswith("0 [")


def test_summary_numbers_that_are_impossible_are_refused() -> None:
    with pytest.raises(InputError, match=r"correlation must be between -1 and 1, got 1.2"):
        fieller_interval_from_stats(1, 1, 1, 1, 1.2, 9)
    with pytest.raises(InputError, match=r"standard deviations must not be negative, got 1 and -2"):
        fieller_interval_from_stats(1, 1, 1, -2, 0, 9)
