"""Paired tests on graded scores: exactness, duality with their intervals, edges, bad input."""

import numpy as np
import pytest

from ragnb.errors import InputError
from ragnb.stats import (
    cohen_d_z,
    mean_interval,
    paired_t_test,
    sign_flip_interval,
    sign_flip_test,
    tost,
)

TESTS = [sign_flip_test, paired_t_test]
ALTERNATIVES = ["two-sided", "greater", "less"]


GRADED_SEEDS = {5: 41, 8: 116, 11: 283, 14: 282}
"""Seeds of real-valued differences whose p-value changes when they are rounded to three digits, by number of items."""


@pytest.mark.parametrize(
    ("n", "alternative"), [(5, "less"), (8, "greater"), (11, "two-sided"), (14, "two-sided")]
)
def test_sign_flip_of_real_valued_differences_equals_scipy(n: int, alternative: str) -> None:
    from scipy.stats import permutation_test

    d = np.random.default_rng([n, GRADED_SEEDS[n]]).normal(0.3, 0.5, n)
    result = sign_flip_test(d, alternative=alternative)
    expected = permutation_test(
        (d, np.zeros(n)), lambda x, y, axis: (x - y).mean(axis=axis), permutation_type="samples", vectorized=True,
        n_resamples=np.inf, alternative=alternative,
    )  # fmt: skip
    assert result.p_value == pytest.approx(expected.pvalue, rel=1e-12)
    assert result.method == "exact sign-flip test"
    twice = sign_flip_test(
        np.repeat(d, 2), clusters=np.repeat(range(n), 2), alternative=alternative
    )
    assert twice.p_value == result.p_value


def test_rounding_is_reported_and_only_beyond_30_items_without_a_lattice() -> None:
    d = np.random.default_rng(3).normal(0.1, 0.2, 31)
    assert sign_flip_test(d[:30]).method == "exact sign-flip test"
    assert (
        sign_flip_test(d).method == "exact sign-flip test, scores rounded to 0.000765"
    )  # max / 1000
    assert (
        sign_flip_test(np.append(d[:30], 0.0)).p_value == sign_flip_test(d[:30]).p_value
    )  # zeros do not count
    assert sign_flip_test(d.round(2)).method == "exact sign-flip test"


def test_rounding_error_of_the_null_and_of_cluster_sums_is_no_difference() -> None:
    assert 0.3 < 0.1 * 3
    assert sign_flip_test([0.3] * 6, null=0.1 * 3).p_value == 1.0
    assert sum([0.1, 0.2, -0.3]) > 0
    assert sign_flip_test([0.1, 0.2, -0.3] * 6, clusters=np.repeat(range(6), 3)).p_value == 1.0


def test_paired_t_equals_scipy() -> None:
    from scipy.stats import ttest_rel

    x, y = np.random.default_rng(3).normal(size=(2, 30))
    for alternative in ALTERNATIVES:
        expected = ttest_rel(x, y, alternative=alternative)
        result = paired_t_test(x, y, alternative=alternative)
        assert (result.statistic, result.p_value) == pytest.approx(
            (expected.statistic, expected.pvalue), rel=1e-10
        )


@pytest.mark.parametrize("clusters", [None, np.repeat(np.arange(30), 3)])
def test_t_significance_and_interval_are_duals(clusters) -> None:
    d = np.random.default_rng(5).normal(0.1, 1, 90)
    interval = mean_interval(d, clusters)
    for limit in (interval.low, interval.high):
        result = paired_t_test(d, clusters=clusters, null=limit)
        assert result.p_value == pytest.approx(0.05, abs=1e-10)
        assert result.warning == ""


@pytest.mark.parametrize("decimals", [1, 16])
@pytest.mark.parametrize("n", [6, 20])
def test_sign_flip_interval_inverts_the_test_exactly_for_few_items(n: int, decimals: int) -> None:
    d = np.random.default_rng(n).normal(0.8, 2.0, n).round(decimals)
    interval = sign_flip_interval(d)
    for limit, outward in ((interval.low, -1), (interval.high, 1)):
        inside = sign_flip_test(d, null=limit - outward * 1e-6).p_value
        outside = sign_flip_test(d, null=limit + outward * 1e-6).p_value
        assert outside <= 0.05 < inside
    few = sign_flip_interval([1.0, 2.0, 3.0])
    assert (few.low, few.high) == (-np.inf, np.inf)


@pytest.mark.parametrize("scores", ["graded", "binary", "few smooth", "skewed"])
def test_sign_flip_interval_inverts_the_test_for_many_items(scores: str) -> None:
    rng = np.random.default_rng(11)
    d = {
        "graded": rng.integers(-100, 120, 120) / 100,
        "binary": rng.integers(-1, 2, 120) + 0.0,
        "few smooth": rng.normal(0.1, 0.4, 24),
        "skewed": np.random.default_rng(3).exponential(1, 60) ** 3,
    }[scores]
    interval = sign_flip_interval(d)
    for limit in (interval.low, interval.high):
        p = sign_flip_test(d, null=limit).p_value
        # one lattice step is 1/32 of the half-width, over which p moves by about 2 * .0584 * 1.96 / 32 = .007
        assert p == pytest.approx(0.05, abs=0.007)
    wide = mean_interval(d)
    assert (interval.low, interval.high) == pytest.approx(
        (wide.low, wide.high), abs=0.05 * (wide.high - wide.low)
    )


def test_tost_and_its_interval_are_duals() -> None:
    d = np.random.default_rng(9).normal(0, 0.2, 60)
    interval = tost(d, margin=1.0).interval
    margin = max(-interval.low, interval.high)
    assert interval.confidence_level == pytest.approx(0.9)
    assert tost(d, margin=margin * 1.001).equivalent
    assert not tost(d, margin=margin * 0.999).equivalent
    assert tost(d, margin=margin).p_value == pytest.approx(0.05, abs=1e-10)


def test_tost_equals_statsmodels() -> None:
    from statsmodels.stats.weightstats import ttost_paired

    x, y = np.random.default_rng(10).normal(size=(2, 40))
    assert tost(x, y, margin=0.4).p_value == pytest.approx(ttost_paired(x, y, -0.4, 0.4)[0])


@pytest.mark.parametrize("test", TESTS)
def test_without_items_a_test_is_undefined_with_a_reason(test) -> None:
    result = test([])
    assert np.isnan(result.p_value)
    assert "undefined" in result.warning
    assert "p undefined" in str(result)
    assert test is paired_t_test or test([0.5], [0.5]).p_value == 1.0


@pytest.mark.parametrize("values", [[], [1.0, 1.0]])
def test_t_without_spread_is_undefined(values) -> None:
    assert np.isnan(paired_t_test(values).p_value)
    equivalence = tost(values, margin=0.1)
    assert np.isnan(equivalence.p_value)
    assert not equivalence.equivalent
    assert np.isnan(cohen_d_z(values).estimate)


def test_mistakes_are_named() -> None:
    with pytest.raises(InputError, match="must have one value per item, got 3 for first, 2 for"):
        sign_flip_test([1, 2, 3], [1, 2])
    with pytest.raises(InputError, match="second must be finite numbers, got nan at position 1"):
        paired_t_test([1, 2], [1, np.nan])
    with pytest.raises(InputError, match="confidence_level must be above 0.5, got 0.4"):
        tost([1, 2], margin=1, confidence_level=0.4)


@pytest.mark.parametrize(("n", "effect"), [(2, 0.0), (12, -3.0), (300, 8.0)])
def test_d_z_limits_put_the_observed_t_at_either_tail(n: int, effect: float) -> None:
    from scipy.stats import nct

    d = np.random.default_rng(n).normal(effect, 1, n)
    interval = cohen_d_z(d)
    t = interval.estimate * np.sqrt(n)
    assert nct.sf(t, n - 1, interval.low * np.sqrt(n)) == pytest.approx(0.025, abs=1e-6)
    assert nct.cdf(t, n - 1, interval.high * np.sqrt(n)) == pytest.approx(0.025, abs=1e-6)
    mirrored = cohen_d_z(-d)
    assert (-mirrored.high, -mirrored.low) == pytest.approx(
        (interval.low, interval.high), rel=1e-6, abs=1e-9
    )
