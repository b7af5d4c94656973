"""Mean of ratios under both zero rules, net benefit against Fieller's set, and the frontier."""

import numpy as np
import pytest

from ragnb.metrics.cost import bridging_efficiency
from ragnb.stats.cost_effectiveness import (
    mean_of_ratios,
    net_benefit,
)
from ragnb.stats.intervals import mean_interval

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
    assert f"at least 2 values are needed, {reason}" in result.problem


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


def test_no_spread_leaves_net_benefit_undefined() -> None:
    (band,) = net_benefit([0.5, 0.5, 0.5], [0, 0, 0], [0.01])
    assert band.estimate == 0.5
    assert "all 3 values are equal" in band.problem
