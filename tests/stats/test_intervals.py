"""Intervals of rates and means: shapes, symmetries, edges."""

import numpy as np
import pytest

from ragnb.errors import InputError
from ragnb.stats import bca_interval, mean_interval, mean_interval_from_stats, rate_interval

RATES = ["wilson", "clopper-pearson", "jeffreys"]
MEANS = [mean_interval, bca_interval]


def test_wald_has_no_width_at_the_ends_and_says_what_it_is_for() -> None:
    result = rate_interval(19, 20, method="wald")
    assert (result.low, result.high) == pytest.approx(
        (0.95 - 1.959964 * np.sqrt(0.95 * 0.05 / 20), 1)
    )
    assert "comparison only" in result.method
    assert rate_interval(20, 20, method="wald").low == 1.0


@pytest.mark.parametrize("method", [*RATES, "wald"])
def test_rate_without_items_is_undefined_with_a_reason(method) -> None:
    result = rate_interval(0, 0, method=method)
    assert np.isnan([result.estimate, result.low, result.high]).all()
    assert result.problem == "no items"


def test_impossible_rates_are_refused() -> None:
    with pytest.raises(InputError, match=r"successes must be at most n, got 5 of 4"):
        rate_interval(5, 4)
    with pytest.raises(InputError, match=r"method must be one of 'wilson', .*, got 'normal'"):
        rate_interval(1, 4, method="normal")


@pytest.mark.parametrize("interval", MEANS)
@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([], "at least 2 values are needed, got 0"),
        ([0.5], "at least 2 values are needed, got 1"),
        ([0.1 + 0.2, 0.3, 0.3], "all 3 values are equal"),
    ],
)
def test_mean_without_spread_is_undefined_with_a_reason(interval, values, reason: str) -> None:
    result = interval(values)
    assert np.isnan([result.low, result.high]).all()
    assert reason in result.problem
    assert np.isnan(result.estimate) == (len(values) == 0)


def test_bca_needs_no_seed_on_a_lattice_and_says_how_it_was_computed() -> None:
    x = np.random.default_rng(0).integers(0, 2, 50)
    assert bca_interval(x) == bca_interval(x[::-1])
    assert bca_interval(x).method == "BCa, exact lattice bootstrap"
    smooth = bca_interval(np.random.default_rng(0).normal(size=50))
    assert smooth.method.startswith("BCa, lattice bootstrap, scores binned at 0.0")


def test_bca_of_smooth_scores_equals_scipy_in_the_limit() -> None:
    from scipy.stats import bootstrap

    x = np.random.default_rng(2).beta(0.5, 0.3, 30)
    drawn = bootstrap(
        (x,), np.mean, n_resamples=40_000, rng=np.random.default_rng(3)
    ).confidence_interval
    exact = bca_interval(x)
    # an end quantile of 40,000 resamples has sd sqrt(.025 * .975 / 40,000) / .0584 sd = .0134 sd = .0034 widths; 5 of it
    assert (drawn.low, drawn.high) == pytest.approx(
        (exact.low, exact.high), abs=0.017 * (exact.high - exact.low)
    )


def test_cluster_robust_equals_statsmodels() -> None:
    import statsmodels.api as sm
    from scipy.stats import t

    rng = np.random.default_rng(6)
    groups = rng.integers(0, 35, 200)
    x = rng.normal(size=35)[groups] + rng.normal(size=200)
    n_groups = len(np.unique(groups))
    fit = sm.OLS(x, np.ones(200)).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "df_correction": True}
    )
    # statsmodels multiplies by (n - 1) / (n - 1) * G / (G - 1) for one regressor
    result = mean_interval(x, groups)
    assert result.method == f"cluster-robust t, {n_groups} clusters"
    assert result.estimate == pytest.approx(x.mean(), rel=1e-12)
    assert (result.high - result.low) / 2 == pytest.approx(
        t.ppf(0.975, n_groups - 1) * fit.bse[0], rel=1e-10
    )


@pytest.mark.parametrize("bounds", [None, (0, 1), (-5, 0.9)])
@pytest.mark.parametrize("values", [[0.2, 0.9, 0.4, 0.8], [0.5], [0.25] * 6, [0.0, 0.9]])
def test_a_mean_and_its_sd_give_the_interval_of_the_values(values, bounds) -> None:
    sd = np.std(values, ddof=1) if len(values) > 1 else 0.0
    result = mean_interval_from_stats(
        np.mean(values), sd, len(values), bounds=bounds, confidence_level=0.9
    )
    expected = mean_interval(values, bounds=bounds, confidence_level=0.9)
    assert (result.low, result.high) == pytest.approx((expected.low, expected.high), nan_ok=True)
    assert (result.method, result.n, result.problem) == (
        expected.method,
        expected.n,
        expected.problem,
    )


def test_a_mean_beyond_the_bounds_and_a_negative_sd_are_refused() -> None:
    with pytest.raises(InputError, match=r"mean must be between the bounds 0 and 1, got 1.5"):
        mean_interval_from_stats(1.5, 0.1, 9, bounds=(0, 1))
    with pytest.raises(InputError, match=r"sd must not be negative, got -0.1"):
        mean_interval_from_stats(0.5, -0.1, 9)
