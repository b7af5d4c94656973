"""Ratio of means: duality with the paired t-test in all kinds of sets, equivariance, the ABC and jackknife by the book, edges."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from ragnb.results import Interval
from ragnb.stats.cost_effectiveness import (
    _fieller_limits,
    compare_ratios,
    fieller_interval,
    net_benefit,
    ratio_of_means_bca,
)
from ragnb.stats.intervals import mean_interval
from ragnb.stats.paired import paired_t_test

KINDS = ["bounded", "two rays", "whole line"]
values = st.integers(-9, 9)
columns = st.lists(st.tuples(values, values), min_size=3, max_size=15).map(
    lambda rows: np.array(rows, dtype=float).T
)
shifted = st.tuples(columns, st.integers(0, 20)).map(
    lambda drawn: drawn[0] + np.array([[0.0], [drawn[1]]])
)
"""Pairs whose denominator is mostly clear of 0, so that most sets have limits."""
RATIOS = [*np.linspace(-4, 4, 33), -1e3, -50.0, 50.0, 1e3]


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


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@given(pair=columns)
@settings(max_examples=120, deadline=None)
def test_fieller_contains_what_the_paired_t_test_keeps(level: float, pair) -> None:
    y, z = pair
    found = fieller_interval(y, z, confidence_level=level)
    if found.kind == "undefined":
        return
    assert np.isnan(found.estimate) or found.contains(found.estimate)
    for ratio in [*RATIOS, *(y[z != 0] / z[z != 0])]:
        p = paired_t_test(y - ratio * z).p_value  # nan where no spread is left at that ratio
        if abs(p - (1 - level)) > 1e-9:
            assert found.contains(ratio) == (p > 1 - level)


@given(pair=shifted)
@settings(max_examples=200, deadline=None)
def test_fieller_limits_are_where_the_t_test_has_p_alpha_and_the_net_benefit_touches_0(
    pair,
) -> None:
    y, z = pair
    found = fieller_interval(y, z)
    for limit in found.limits if found.kind in KINDS[:2] else ():
        net = y - limit * z
        if abs(limit) > 1e6 or np.ptp(net) < 1e-6:
            continue
        # p turns within a relative rounding error of the limit, times the slope of t there
        assert paired_t_test(net).p_value == pytest.approx(0.05, abs=1e-6)
        (band,) = net_benefit(y, z, [limit])
        assert min(abs(band.low), abs(band.high)) <= 1e-6 * (1 + abs(limit))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [3, 12, 100])
def test_kinds_are_told_by_the_tests_of_either_mean(kind: str, n: int) -> None:
    y, z = example(kind, n)
    assert (paired_t_test(z).p_value < 0.05) == (kind == "bounded")
    lowest = min(
        paired_t_test(y - ratio * z).p_value for ratio in np.tan(np.linspace(-1.57, 1.57, 2001))
    )
    assert (lowest >= 0.05) == (kind == "whole line")


@pytest.mark.parametrize("sign", [1, -1])
def test_a_denominator_at_the_verge_leaves_one_ray(sign: int) -> None:
    # z = |dz| exactly: (3 - r)^2 <= .25 + r^2, that is r >= 8.75 / 6
    kind, first, second = _fieller_limits(
        sign * 3.0, 1.0, np.array([0.0, 0.5]), np.array([1.0, 0.0])
    )
    assert kind == "two rays"
    assert sorted(sign * limit for limit in (first, second)) == [-np.inf, pytest.approx(8.75 / 6)]
    assert first < second


def test_fieller_is_an_interval_only_where_it_is_bounded() -> None:
    bounded, rays, line = (fieller_interval(*example(kind)) for kind in KINDS)
    assert isinstance(bounded, Interval)
    assert (bounded.low, bounded.high) == bounded.limits
    assert bounded.low < bounded.estimate < bounded.high
    assert (rays.low, rays.high) == (line.low, line.high) == (-np.inf, np.inf)
    assert rays.contains(rays.estimate)
    assert not rays.contains(sum(rays.limits) / 2)
    assert rays.contains(rays.limits[0])
    assert line.contains(0)
    assert line.contains(1e300)
    assert np.isnan(line.limits).all()
    assert (bounded.method, rays.method, line.method) == (
        "Fieller",
        "Fieller, two rays",
        "Fieller, whole line",
    )


def test_fieller_is_printed_as_the_set_it_is() -> None:
    assert (
        str(fieller_interval([5, 0, 2.5, 5, 4], [2, 1, 1, 3, 2]))
        == "1.833 [0.6778, 2.751] (95% Fieller, n = 5)"
    )
    assert "(-inf, -0.9571] or [0.195, inf)" in str(fieller_interval([2, 1, 2, 3], [-1, 3, 1, -2]))
    assert "0 [-inf, inf] (95% Fieller, whole line, n = 4)" in str(
        fieller_interval([2, -1, 2, -3], [-1, 3, 1, -2])
    )


@pytest.mark.parametrize("kind", KINDS)
def test_fieller_follows_scale_shear_and_order(kind: str) -> None:
    y, z = example(kind)
    found = fieller_interval(y, z)
    for other, expected in [
        (fieller_interval(3 * y, z / 7), [21 * limit for limit in found.limits]),
        (fieller_interval(-y, -z), found.limits),
        (fieller_interval(y + 5 * z, z), [limit + 5 for limit in found.limits]),
        (fieller_interval(-y, z), [-limit for limit in reversed(found.limits)]),
        (fieller_interval(y[::-1], z[::-1]), found.limits),
    ]:
        assert other.kind == kind
        assert other.limits == pytest.approx(expected, rel=1e-9, nan_ok=True)


@pytest.mark.parametrize("kind", KINDS)
def test_the_set_of_the_inverse_ratio_is_the_set_of_inverses(kind: str) -> None:
    y, z = example(kind)
    found, inverse = fieller_interval(y, z), fieller_interval(z, y)
    for ratio in (r for r in RATIOS if r):
        assert found.contains(ratio) == inverse.contains(1 / ratio)


def test_a_constant_denominator_is_a_unit() -> None:
    x = np.random.default_rng(3).normal(1, 1, 30)
    found, t = fieller_interval(x, np.full(30, 0.1)), mean_interval(x / 0.1)
    assert (found.estimate, found.low, found.high) == pytest.approx((t.estimate, t.low, t.high))
    flipped = fieller_interval(np.full(30, 0.1), x)
    assert flipped.limits == pytest.approx((1 / t.high, 1 / t.low))


def test_a_mean_denominator_of_0_has_a_set_but_no_estimate() -> None:
    found = fieller_interval([5, 6, 7, 6], [1, -1, 2, -2])
    assert np.isnan(found.estimate)
    assert found.kind == "two rays"
    assert not found.contains(0)
    assert found.contains(100)
    nearly = fieller_interval([5, 6, 7, 6], [0.1, 0.2, -0.3, 0.0])  # sums to 3e-17
    assert np.isnan(nearly.estimate)
    assert "the mean denominator is 0" in ratio_of_means_bca([5, 6, 7, 6], [1, -1, 2, -2]).problem


@pytest.mark.parametrize(
    ("numerator", "denominator", "estimate", "reason"),
    [
        ([], [], np.nan, "needs 2 items, got 0"),
        ([1], [2], 0.5, "needs 2 items, got 1"),
        ([1, 2, 3], [0, 0, 0], np.nan, "all denominators are 0"),
        ([0, 0, 0], [0, 0, 0], np.nan, "all denominators are 0"),
        ([0, 0, 0], [1, 2, 3], 0.0, "every item has the same ratio"),
        ([0.1, 0.1, 0.1], [0.3, 0.3, 0.3], 1 / 3, "every item has the same ratio"),
        ([0.1, 0.2, 0.7], [0.3, 0.6, 2.1], 1 / 3, "every item has the same ratio"),
        ([1, -1, 2, -2], [1, -1, 2, -2], np.nan, "every item has the same ratio"),
    ],
)
def test_ratio_without_spread_is_undefined_with_a_reason(
    numerator, denominator, estimate: float, reason: str
) -> None:
    for result in (
        fieller_interval(numerator, denominator),
        ratio_of_means_bca(numerator, denominator),
    ):
        assert result.estimate == pytest.approx(estimate, nan_ok=True)
        assert np.isnan([result.low, result.high]).all()
        assert reason in result.problem
    found = fieller_interval(numerator, denominator)
    assert found.kind == "undefined"
    assert not found.contains(0.5)


# ---- clusters ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("interval", [fieller_interval, ratio_of_means_bca])
def test_one_item_a_cluster_is_the_plain_interval(interval) -> None:
    y, z = example("bounded", 40)
    plain, grouped = interval(y, z), interval(y, z, clusters=[f"q{i}" for i in range(40)])
    assert (grouped.estimate, grouped.low, grouped.high) == pytest.approx(
        (plain.estimate, plain.low, plain.high)
    )
    assert grouped.method == f"{plain.method}, 40 clusters"


@pytest.mark.parametrize("interval", [fieller_interval, ratio_of_means_bca])
def test_repeating_items_within_clusters_does_not_narrow_the_interval(interval) -> None:
    y, z = example("bounded", 12)
    plain, grouped = (
        interval(y, z),
        interval(np.repeat(y, 3), np.repeat(z, 3), clusters=np.repeat(np.arange(12), 3)),
    )
    assert (grouped.low, grouped.high, grouped.n) == (
        pytest.approx(plain.low),
        pytest.approx(plain.high),
        12,
    )
    assert grouped.method == f"{plain.method}, 12 clusters (fewer than 30: too narrow)"


@pytest.mark.parametrize("kind", KINDS)
def test_clustered_fieller_and_the_cluster_t_test_are_duals(kind: str) -> None:
    y, z, clusters = clustered(kind)
    found = fieller_interval(y, z, clusters=clusters)
    assert found.kind == kind
    for ratio in RATIOS:
        assert found.contains(ratio) == (
            paired_t_test(y - ratio * z, clusters=clusters).p_value >= 0.05
        )
    for limit in found.limits if kind != "whole line" else ():
        assert paired_t_test(y - limit * z, clusters=clusters).p_value == pytest.approx(
            0.05, abs=1e-9
        )


@pytest.mark.parametrize(
    ("clusters", "reason"),
    [("aaaa", "needs 2 clusters, got 1"), ("aabb", "every cluster has the same ratio")],
)
def test_clusters_without_spread_are_undefined_with_a_reason(clusters: str, reason: str) -> None:
    for interval in (fieller_interval, ratio_of_means_bca):
        result = interval([1, 3, 2, 2], [1, 2, 2, 1], clusters=list(clusters))
        assert np.isnan([result.low, result.high]).all()
        assert reason in result.problem


# ---- ABC ---------------------------------------------------------------------------------------------------------------


def abc_by_differences(
    y: np.ndarray, z: np.ndarray, level: float
) -> tuple[list[float], float, float]:
    """ABC limits of any statistic of the weights, after DiCiccio & Efron, with every derivative a finite difference."""
    n, step = y.size, 1e-2 / y.size
    centre = np.full(n, 1 / n)

    def statistic(weights: np.ndarray) -> float:
        return (weights @ y) / (weights @ z)

    def derivatives(direction: np.ndarray) -> tuple[float, float]:
        up, at, down = (statistic(centre + s * direction) for s in (step, 0.0, -step))
        return (up - down) / (2 * step), (up - 2 * at + down) / step**2

    first, second = np.array([derivatives(row - centre) for row in np.eye(n)]).T
    sigma = np.sqrt(np.sum(first**2)) / n
    acceleration = np.sum(first**3) / (6 * n**3 * sigma**3)
    least_favourable = first / (n**2 * sigma)
    curvature = second.sum() / (2 * n**2 * sigma) - derivatives(least_favourable)[1] / (2 * sigma)
    z0 = norm.ppf(2 * norm.cdf(acceleration) * norm.cdf(-curvature))
    w = z0 + norm.ppf([(1 - level) / 2, (1 + level) / 2])
    return (
        [statistic(centre + k * least_favourable) for k in w / (1 - acceleration * w) ** 2],
        acceleration,
        z0,
    )


@pytest.mark.parametrize("n", [5, 20, 80])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_abc_equals_its_definition_by_finite_differences(n: int, level: float) -> None:
    rng = np.random.default_rng(n)
    z = rng.gamma(8, 3, n)
    y = rng.random(n) + 0.1 * z
    limits, acceleration, z0 = abc_by_differences(y, z, level)
    result = ratio_of_means_bca(y, z, confidence_level=level)
    assert (result.low, result.high) == pytest.approx(limits, rel=1e-5)
    assert z0 == pytest.approx(acceleration, abs=1e-5)  # the curvature vanishes


@pytest.mark.parametrize("n", [50, 300])
def test_abc_is_close_to_the_resampled_bca(n: int) -> None:
    from scipy.stats import bootstrap

    rng = np.random.default_rng(n)
    z = rng.gamma(3, 20, n)
    y = np.clip(rng.normal(0.2 + 0.002 * z, 0.4), -1, 1)
    result = ratio_of_means_bca(y, z)
    drawn = bootstrap(
        (y, z),
        lambda y, z, axis: y.mean(axis) / z.mean(axis),
        paired=True,
        n_resamples=20_000,
        batch=2000,
        rng=rng,
    ).confidence_interval
    # end quantiles of 20,000 resamples: sd sqrt(.025 * .975 / 20,000) / .0584 sd = .0189 sd = .0048 widths; z0 from them adds
    # Phi^-1(1/2 +- .0035) = .009 sd; 4.5 of both together, and the ABC's own error of order 1 / n
    width = result.high - result.low
    assert (result.low, result.high) == pytest.approx(
        (drawn.low, drawn.high), abs=(0.025 + 0.5 / n) * width
    )


@given(pair=columns)
@settings(max_examples=100, deadline=None)
def test_abc_holds_the_estimate_and_inverts(pair) -> None:
    y, z = pair[0] + 12, pair[1] + 12  # all positive
    result, inverse = ratio_of_means_bca(y, z), ratio_of_means_bca(z, y)
    if np.isnan(result.low):
        assert result.problem
        return
    assert result.low <= result.estimate <= result.high
    if np.isfinite(inverse.low):
        assert (1 / inverse.high, 1 / inverse.low) == pytest.approx(
            (result.low, result.high), rel=1e-9
        )
    turned = ratio_of_means_bca(-y, -z)
    assert (turned.low, turned.high) == pytest.approx((result.low, result.high))


def test_abc_says_when_the_denominator_may_be_0() -> None:
    doubt = "ABC (analytic BCa); the mean denominator may be 0: see Fieller's set"
    y, z = np.array([1.0, 3, 2, 2, 1, 4]), np.array([4.0, -1, 3, 2, -2, 1])
    assert fieller_interval(y, z).kind == "two rays"
    assert ratio_of_means_bca(y, z, confidence_level=0.5).method == "ABC (analytic BCa)"
    assert ratio_of_means_bca(y, z, confidence_level=0.8).method == doubt
    beyond = ratio_of_means_bca(y, z)
    assert np.isnan([beyond.low, beyond.high]).all()
    assert beyond.problem == "the denominator reaches 0 before a limit"


@pytest.mark.parametrize("sign", [1, -1])
def test_abc_has_both_limits_or_none(sign: int) -> None:
    both = one_sided = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        y, z = rng.normal(2, 1, 8), rng.normal(1, 2, 8)
        limits, *_ = abc_by_differences(y, z, 0.9)
        result = ratio_of_means_bca(sign * y, sign * z, confidence_level=0.9)
        both += np.isfinite(result.low) and np.isfinite(result.high)
        one_sided += np.isfinite(result.low) != np.isfinite(result.high)
        if np.isfinite(result.low):
            assert (result.low, result.high) == pytest.approx(limits, rel=1e-3)
            assert result.low < result.estimate < result.high
    assert 50 < both < 150
    assert one_sided == 0


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
    result = compare_ratios(*columns, clusters=None if size == 1 else keys)
    without = deleted(columns, keys)
    n = without.size
    error = np.sqrt((n - 1) ** 2 / n * without.var(ddof=1))
    assert result.test.statistic == pytest.approx((result.first - result.second) / error)
    assert (result.interval.n, result.test.n) == (n, n)
    assert result.first == pytest.approx(columns[0].mean() / columns[1].mean())
    assert result.interval.estimate == pytest.approx(result.first - result.second)


@pytest.mark.parametrize("clusters", [None, np.arange(40) // 2])
def test_comparison_interval_and_test_are_duals(clusters) -> None:
    columns = two_systems(40)
    p = compare_ratios(*columns, clusters=clusters).test.p_value
    touching = compare_ratios(*columns, clusters=clusters, confidence_level=1 - p).interval
    assert min(abs(touching.low), abs(touching.high)) <= 1e-9 * abs(touching.estimate)


def test_comparison_at_unit_cost_is_the_paired_t_test() -> None:
    x, _, y, _ = two_systems(30)
    one = np.ones(30)
    result, t, test = compare_ratios(x, one, y, one), mean_interval(x - y), paired_t_test(x, y)
    assert (result.interval.low, result.interval.high) == pytest.approx((t.low, t.high))
    assert (result.test.statistic, result.test.p_value) == pytest.approx(
        (test.statistic, test.p_value)
    )


def test_comparison_turns_and_follows_units() -> None:
    a, b, c, d = two_systems(50)
    result, turned, rescaled = (
        compare_ratios(a, b, c, d),
        compare_ratios(c, d, a, b),
        compare_ratios(a, b / 1e9, c, d / 1e9),
    )
    assert turned.interval.low == pytest.approx(-result.interval.high)
    assert (
        turned.test.p_value
        == pytest.approx(rescaled.test.p_value)
        == pytest.approx(result.test.p_value)
    )
    assert rescaled.interval.high == pytest.approx(1e9 * result.interval.high)


def test_comparison_says_when_a_denominator_may_be_0() -> None:
    a, b, c, d = two_systems(20)
    assert compare_ratios(a, b, c, d).test.warning == ""
    doubtful = compare_ratios(a, b, c, d - d.mean() + 1)
    assert doubtful.test.warning == "the mean denominator may be 0: see Fieller's set"
    assert (
        doubtful.interval.method == "jackknife t; the mean denominator may be 0: see Fieller's set"
    )
    few = compare_ratios(a, b, c, d, clusters=np.arange(20) // 2)
    assert few.interval.method == "jackknife t, 10 clusters (fewer than 30: too narrow)"


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        (([], [], [], []), "needs 2 items, got 0"),
        (([1], [1], [1], [2]), "needs 2 items, got 1"),
        (([1, 2], [1, 2], [1, 3], [0, 0]), "the mean denominator is 0"),
        (
            ([1, 2, 1], [1, 2, 2], [1, 3, 1], [0, 5, 0]),
            "the difference does not vary, or is undefined, without one item",
        ),
        (
            ([1, 2, 3], [2, 4, 6], [3, 6, 9], [1, 2, 3]),
            "the difference does not vary, or is undefined, without one item",
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


def test_importing_ratios_is_cheap() -> None:
    import subprocess
    import sys

    code = "import sys, ragnb.stats.cost_effectiveness; print([m for m in sys.modules if m in %r])"
    heavy = ("scipy.stats", "pandas", "statsmodels", "sklearn", "matplotlib")
    out = subprocess.run(
        [sys.executable, "-c", code % (heavy,)], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "[]"
