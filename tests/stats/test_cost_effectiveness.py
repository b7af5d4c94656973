"""Mean of ratios under both zero rules, net benefit against Fieller's set, acceptability, and the frontier."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragnb.errors import InputError
from ragnb.metrics.cost import bridging_efficiency
from ragnb.stats.cost_effectiveness import (
    acceptability_curve,
    fieller_interval,
    incremental_table,
    mean_of_ratios,
    net_benefit,
)
from ragnb.stats.intervals import mean_interval
from ragnb.stats.paired import paired_t_test

PRICES = np.linspace(-0.02, 0.04, 25)


def bridged(n: int = 40, seed: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Token F1 of a system and of its baseline, tokens spent (0 for a third of the items), and question ids."""
    rng = np.random.default_rng(seed)
    system, baseline = np.round(rng.random((2, n)), 2)
    return (
        system,
        baseline,
        np.where(rng.random(n) < 1 / 3, 0, rng.integers(5, 60, n)),
        np.arange(n) // 2,
    )


def limits(interval) -> tuple:
    return interval.estimate, interval.low, interval.high, interval.n, interval.method


# ---- mean of ratios ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("zero", "variant"), [("nan", "ratio"), ("zero", "lbrag")])
def test_mean_of_ratios_is_the_mean_of_the_metric(zero: str, variant: str) -> None:
    system, baseline, cost, _ = bridged()
    items = zip(system, baseline, cost, strict=True)
    each = np.array(
        [bridging_efficiency(f1, direct, spent, variant=variant) for f1, direct, spent in items]
    )
    result = mean_of_ratios(system - baseline, cost, zero=zero)
    expected = mean_interval(each[~np.isnan(each)])
    assert result.estimate == pytest.approx(expected.estimate)
    assert (result.low, result.high) == pytest.approx((expected.low, expected.high))
    assert result.n == expected.n


def test_the_zero_rule_shrinks_the_mean_by_the_share_of_zeros() -> None:
    system, baseline, cost, _ = bridged()
    left_out, counted = (
        mean_of_ratios(system - baseline, cost, zero=zero) for zero in ("nan", "zero")
    )
    share = np.mean(cost == 0)
    assert counted.estimate == pytest.approx((1 - share) * left_out.estimate)


def test_mean_of_ratios_with_clusters() -> None:
    system, baseline, cost, questions = bridged()
    paid = cost > 0
    gains = system - baseline
    result = mean_of_ratios(gains, cost, clusters=questions)
    assert limits(result) == limits(mean_interval(gains[paid] / cost[paid], questions[paid]))
    counted = mean_of_ratios(gains, cost, zero="zero", clusters=questions)
    assert (counted.n, counted.method) == (
        20,
        "cluster-robust t, 20 clusters (fewer than 30: too narrow)",
    )


@pytest.mark.parametrize(
    ("gains", "costs", "reason"),
    [
        ([], [], "got 0"),
        ([0.5, 0.2], [0, 0], "got 0"),
        ([0.5, 0.2], [0, 4], "got 1"),
    ],
)
def test_without_items_to_average_there_is_no_mean(gains, costs, reason: str) -> None:
    result = mean_of_ratios(gains, costs)
    assert np.isnan([result.low, result.high]).all()
    assert f"needs 2 values, {reason}" in result.problem


def test_a_system_that_never_spends_scores_0_under_the_published_rule() -> None:
    assert mean_of_ratios([0.5, 0.9, 0.7], [0, 0, 0], zero="zero").estimate == 0.0


# ---- net benefit -------------------------------------------------------------------------------------------------------


def test_net_benefit_is_a_t_interval_at_every_price() -> None:
    system, baseline, cost, questions = bridged()
    gain = system - baseline
    assert net_benefit(gain, cost, PRICES) == tuple(
        mean_interval(gain - price * cost) for price in PRICES
    )
    clustered = net_benefit(gain, cost, PRICES, clusters=questions, confidence_level=0.9)
    assert clustered[3] == mean_interval(gain - PRICES[3] * cost, questions, confidence_level=0.9)
    assert net_benefit(gain, cost, []) == ()


items = st.tuples(st.integers(-20, 20), st.integers(0, 30))


@given(rows=st.lists(items, min_size=3, max_size=20))
@settings(max_examples=150, deadline=None)
def test_the_net_benefit_band_holds_0_exactly_in_fiellers_set(rows) -> None:
    gain, cost = np.array(rows, dtype=float).T
    found = fieller_interval(gain, cost)
    for price, band in zip(PRICES * 100, net_benefit(gain, cost, PRICES * 100), strict=True):
        if (
            found.kind == "undefined"
            or np.isnan(band.low)
            or min(abs(band.low), abs(band.high)) < 1e-9
        ):
            continue
        assert found.contains(price) == (band.low <= 0 <= band.high)


@pytest.mark.parametrize("clusters", [None, np.arange(40) // 2])
def test_acceptability_is_one_minus_p(clusters) -> None:
    system, baseline, cost, _ = bridged()
    gain = system - baseline
    curve = acceptability_curve(gain, cost, PRICES, clusters=clusters)
    for price, share in zip(PRICES, curve, strict=True):
        net = gain - price * cost
        test = paired_t_test(net, alternative="greater") if clusters is None else None
        p = (
            test.p_value
            if test
            else paired_t_test(net, clusters=clusters, alternative="greater").p_value
        )
        assert share == pytest.approx(1 - p)


def test_acceptability_falls_through_one_half_at_the_ratio_and_the_tails_at_fiellers_limits() -> (
    None
):
    gain, cost = (
        np.random.default_rng(4).multivariate_normal([0.3, 20], [[0.1, 0.5], [0.5, 30]], 50).T
    )
    found = fieller_interval(gain, cost)
    prices = [found.low, found.estimate, found.high]
    assert acceptability_curve(gain, cost, prices) == pytest.approx((0.975, 0.5, 0.025))
    curve = acceptability_curve(gain, cost, np.linspace(found.low, found.high, 30))
    assert list(curve) == sorted(curve, reverse=True)


def test_no_spread_leaves_net_benefit_and_acceptability_undefined() -> None:
    (band,) = net_benefit([0.5, 0.5, 0.5], [0, 0, 0], [0.01])
    assert band.estimate == 0.5
    assert "all 3 values are equal" in band.problem
    assert np.isnan(acceptability_curve([0.5, 0.5, 0.5], [0, 0, 0], [0.01])).all()


# ---- the frontier ------------------------------------------------------------------------------------------------------

options = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=8)


def status_by_definition(point: tuple[int, int], others: list[tuple[int, int]]) -> str:
    """Dominated by one other, else by a mixture of two others, else on the frontier."""
    cost, gain = point
    if any(c <= cost and g >= gain and (c, g) != point for c, g in others):
        return "dominated"
    for (c1, g1), (c2, g2) in combinations(sorted(set(others)), 2):
        if c1 < cost < c2 and g1 + (g2 - g1) * (cost - c1) / (c2 - c1) > gain + 1e-9:
            return "extendedly dominated"
    return "frontier"


@given(points=options)
@settings(max_examples=300, deadline=None)
def test_statuses_by_their_definition(points) -> None:
    costs, gains = zip(*points, strict=True)
    table = incremental_table(gains, costs, [f"system {i}" for i in range(len(points))])
    assert len(table) == len(points)
    assert [option.cost for option in table] == sorted(costs)
    for option in table:
        assert option.status == status_by_definition((option.cost, option.gain), points)


@given(points=options)
@settings(max_examples=200, deadline=None)
def test_rows_say_against_whom(points) -> None:
    costs, gains = zip(*points, strict=True)
    table = incremental_table(gains, costs, [f"système {i} 系统" for i in range(len(points))])
    by_name = {option.name: option for option in table}
    steps = []
    for option in table:
        against = [by_name[name] for name in option.against]
        if option.status == "frontier" and against:
            (previous,) = against
            assert previous.status == "frontier"
            assert option.incremental_cost == option.cost - previous.cost > 0
            assert option.incremental_gain == option.gain - previous.gain > 0
            steps.append(option.icer)
            assert option.icer == option.incremental_cost / option.incremental_gain
        else:
            assert np.isnan([option.icer, option.incremental_cost, option.incremental_gain]).all()
        if option.status == "dominated":
            (better,) = against
            assert better.status != "dominated"
            assert better.cost <= option.cost
            assert better.gain >= option.gain
            assert (better.cost, better.gain) != (option.cost, option.gain)
        if option.status == "extendedly dominated":
            below, above = against
            assert below.cost < option.cost < above.cost
            assert below.status == above.status == "frontier"
            share = (option.cost - below.cost) / (above.cost - below.cost)
            assert below.gain + share * (above.gain - below.gain) > option.gain
    assert all(later >= earlier * (1 - 1e-8) for earlier, later in pairwise(steps))


@given(points=options, price=st.floats(1e-3, 1e3))
@settings(max_examples=200, deadline=None)
def test_the_best_net_benefit_at_any_price_is_on_the_frontier(points, price: float) -> None:
    costs, gains = map(np.array, zip(*points, strict=True))
    table = incremental_table(gains, costs, [str(i) for i in range(len(points))])
    best = max(option.gain - price * option.cost for option in table if option.status == "frontier")
    assert best == pytest.approx(np.max(gains - price * costs))


def test_rounding_error_breaks_no_line() -> None:
    table = incremental_table([0.1, 0.2, 0.3, 0.7], [10, 20, 30, 70], ["a", "b", "c", "d"])
    assert [option.status for option in table] == ["frontier"] * 4
    assert [option.icer for option in table[1:]] == pytest.approx([100, 100, 100])


def test_twins_share_their_row() -> None:
    names = ["direct", "lbrag", "twin", "worse", "dear"]
    table = incremental_table([0.2, 0.5, 0.5, 0.1, 0.6], [5, 20, 20, 9, 90], names)
    assert [(option.name, option.status, option.against) for option in table] == [
        ("direct", "frontier", ()),
        ("worse", "dominated", ("direct",)),
        ("lbrag", "frontier", ("direct",)),
        ("twin", "frontier", ("direct",)),
        ("dear", "frontier", ("lbrag",)),
    ]


def test_mistakes_are_named() -> None:
    with pytest.raises(
        InputError, match=r'costs must not be negative, got -3; zero="zero" counts such items as 0'
    ):
        mean_of_ratios([1, 2], [4, -3])
    assert mean_of_ratios([1, 2], [4, -3], zero="zero").estimate == 0.125
    with pytest.raises(InputError, match=r"prices must have 1 dimension, got 0"):
        net_benefit([1, 2], [1, 2], 0.01)
    for names in (["a"], ["a", "a"]):
        with pytest.raises(
            InputError, match=r"names must be 2 different names, one per system, got \['a'"
        ):
            incremental_table([1, 2], [1, 2], names)
