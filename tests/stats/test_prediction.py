"""ROC area, correlation, errors and calibration: definitions, other libraries, clusters, edges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import brier_score_loss, roc_auc_score, root_mean_squared_error

from ragnb.stats import (
    auroc,
    brier_score,
    compare_auroc,
    expected_calibration_error,
    pearson,
    reliability_curve,
    rmse,
)

# ---- ROC area ----------------------------------------------------------------------------------------------------------

scored = st.lists(st.tuples(st.booleans(), st.integers(0, 8)), min_size=4, max_size=30).filter(
    lambda rows: 1 < sum(label for label, _ in rows) < len(rows) - 1
)


@given(rows=scored)
@settings(max_examples=30)
def test_auroc_and_its_variance_equal_the_definition(rows) -> None:
    labels, scores = (
        np.array([label for label, _ in rows]),
        np.array([score / 8 for _, score in rows]),
    )
    wins = (np.sign(scores[labels][:, None] - scores[~labels]) + 1) / 2
    result = auroc(labels, scores)
    assert result.estimate == pytest.approx(wins.mean(), abs=1e-12)
    variance = (
        wins.mean(axis=1).var(ddof=1) / labels.sum()
        + wins.mean(axis=0).var(ddof=1) / (~labels).sum()
    )
    if variance > 1e-12 and result.low > 0 and result.high < 1:
        assert (result.high - result.low) / 2 == pytest.approx(
            1.959963984540054 * np.sqrt(variance), rel=1e-9
        )
    assert result.estimate == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)


def test_a_small_standard_error_is_one() -> None:
    """Many items, nearly all in the right order: DeLong's standard error is 0.002, and not 0."""
    rng = np.random.default_rng(8)
    labels = np.arange(800) % 2 == 1
    scores = 3.6 * labels + rng.normal(size=800)
    wins = scores[labels][:, None] > scores[~labels]
    variance = wins.mean(axis=1).var(ddof=1) / 400 + wins.mean(axis=0).var(ddof=1) / 400
    assert 0.001 < np.sqrt(variance) < 0.003
    interval = auroc(labels, scores)
    assert interval.low == pytest.approx(wins.mean() - stats.norm.ppf(0.975) * np.sqrt(variance))


def test_delong_significance_and_interval_agree_and_have_delongs_variance() -> None:
    """By definition: for each class, the variance of the differences of the placements."""
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 2, 80)
    first, second = labels + rng.normal(size=80), 0.5 * labels + rng.normal(size=80)
    yes = labels == 1
    wins = [(np.sign(x[yes][:, None] - x[~yes]) + 1) / 2 for x in (first, second)]
    difference = wins[0] - wins[1]
    parts = [difference.mean(axis=axis) for axis in (1, 0)]
    variance = sum(part.var(ddof=1) / part.size for part in parts)
    _, test = compare_auroc(labels, first, second)
    assert test.statistic == pytest.approx(difference.mean() / np.sqrt(variance))
    interval, _ = compare_auroc(labels, first, second, confidence_level=1 - test.p_value)
    assert min(abs(interval.low), abs(interval.high)) == pytest.approx(0.0, abs=1e-10)


def test_the_clustered_variance_is_that_of_obuchowski():
    """Sum over clusters of squared sums of the placements' deviations, each class over its size."""
    rng = np.random.default_rng(9)
    labels, clusters = rng.random(90) < 0.4, np.arange(90) % 35
    scores = rng.normal(size=90) + labels
    wins = (np.sign(scores[labels][:, None] - scores[~labels]) + 1) / 2
    deviations = np.empty(90)
    deviations[labels] = (wins.mean(axis=1) - wins.mean()) / labels.sum()
    deviations[~labels] = (wins.mean(axis=0) - wins.mean()) / (~labels).sum()
    sums = np.bincount(clusters, deviations)
    half = stats.t.ppf(0.975, 34) * np.sqrt(35 / 34 * (sums**2).sum())
    found = auroc(labels, scores, clusters)
    assert (found.low, found.high, found.n) == pytest.approx(
        (wins.mean() - half, wins.mean() + half, 35)
    )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("labels", "scores", "reason"),
    [
        ([1, 1], [0.1, 0.2], "both classes"),
        ([1, 0, 0], [0.5, 0.1, 0.7], "2 items of each class"),
        ([1, 1, 0, 0], [0.9, 0.8, 0.2, 0.1], "variance is 0"),
    ],
)
def test_auroc_at_the_edges_is_undefined(labels, scores, reason: str) -> None:
    result = auroc(labels, scores)
    assert np.isnan(result.low)
    assert reason in result.problem
    interval, test = compare_auroc(labels, scores, scores)
    assert np.isnan([interval.low, test.p_value]).all()
    if reason != "2 items of each class":  # of clusters, 2 are enough
        assert np.isnan(auroc(labels, scores, range(len(labels))).low)


# ---- correlation -------------------------------------------------------------------------------------------------------


def test_pearson_equals_scipy() -> None:
    x, y = np.random.default_rng(5).integers(0, 9, (2, 60)) / 8
    expected = stats.pearsonr(x, y)
    limits = expected.confidence_interval()
    result = pearson(x, y)
    assert (result.estimate, result.low, result.high) == pytest.approx(
        (expected.statistic, limits.low, limits.high)
    )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([], [], "at least 2 values are needed"),
        ([1, 1, 1], [1, 2, 3], "all 3 values are equal"),
        ([1, 2, 3], [1, 3, 2], "at least 4 items are needed, got 3"),
        ([1, 2, 3, 4, 5], [2, 4, 6, 8, 10], "perfect"),
    ],
)
def test_pearson_at_the_edges_is_undefined(x, y, reason: str) -> None:
    result = pearson(x, y)
    assert np.isnan([result.low, result.high]).all()
    assert reason in result.problem
    assert np.isnan(pearson(x, y, range(len(x))).low)


def test_the_clustered_correlation_has_the_jackknife_of_fishers_z():
    rng = np.random.default_rng(3)
    x, clusters = rng.normal(1e4, 1, 60), np.arange(60) % 20
    y = 0.5 * x + rng.exponential(1, 60)
    z = np.arctanh(np.corrcoef(x, y)[0, 1])
    kept = [clusters != one for one in range(20)]
    without = np.array([np.arctanh(np.corrcoef(x[rows], y[rows])[0, 1]) for rows in kept])
    half = stats.t.ppf(0.975, 19) * 19 * without.std(ddof=1) / np.sqrt(20)
    found = pearson(x, y, clusters)
    expected = np.tanh([z, z - half, z + half])
    assert (found.estimate, found.low, found.high) == pytest.approx(expected)


# ---- errors and calibration --------------------------------------------------------------------------------------------


def test_rmse_and_brier_equal_sklearn() -> None:
    rng = np.random.default_rng(6)
    p = rng.random(100)
    y = rng.random(100) < p
    brier, error = brier_score(y, p), rmse(p, y)
    assert brier.estimate == pytest.approx(brier_score_loss(y, p))
    assert error.estimate == pytest.approx(root_mean_squared_error(y, p))
    assert (error.low**2, error.high**2) == pytest.approx((brier.low, brier.high))
    assert error.method.startswith("RMSE, BCa")
    assert "all 2 values are equal" in rmse([1, 2], [1, 2]).problem
    alone = brier_score([1], [0.5])
    assert 0 < alone.low < alone.estimate == 0.25 < alone.high < 1
    assert np.isnan(rmse([], []).estimate)


def test_errors_in_clusters_are_those_of_whole_clusters() -> None:
    rng = np.random.default_rng(7)
    p, clusters = rng.random(120), np.repeat(np.arange(40), 3)
    y = rng.random(120) < p
    for measure in (lambda y, p, c: brier_score(y, p, c), lambda y, p, c: rmse(p, y, c)):
        found = measure(y, p, clusters)
        doubled = measure(np.tile(y, 2), np.tile(p, 2), np.tile(clusters, 2))
        assert (doubled.low, doubled.high, doubled.n) == pytest.approx((found.low, found.high, 40))
    without = [root_mean_squared_error(y[clusters != one], p[clusters != one]) for one in range(40)]
    found = rmse(p, y, clusters)
    half = stats.t.ppf(0.975, 39) * 39 * np.std(without, ddof=1) / np.sqrt(40)
    assert (found.low, found.high) == pytest.approx((found.estimate - half, found.estimate + half))


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 20)), min_size=1, max_size=60),
    st.integers(1, 12),
)
@settings(max_examples=20)
def test_reliability_curve_has_every_prediction_once(rows, n_bins: int) -> None:
    y, p = [label for label, _ in rows], [value / 20 for _, value in rows]
    curve = reliability_curve(y, p, n_bins=n_bins)
    assert curve["n"].sum() == len(rows)
    assert (curve["observed"] * curve["n"]).sum() == pytest.approx(sum(y))
    inside = curve["mean_predicted"].between(curve["low"] - 1e-12, curve["high"] + 1e-12)
    assert inside.all()


@pytest.mark.parametrize("n_bins", [5, 10, 20])
def test_a_prediction_at_an_edge_is_in_the_upper_bin(n_bins: int) -> None:
    p = [float(f"{k / n_bins:.2f}") for k in range(n_bins)]  # as people and models write them
    assert reliability_curve([1] * n_bins, p, n_bins=n_bins)["low"].tolist() == p


def test_calibration_error_of_a_calibrated_model_is_its_noise() -> None:
    rng = np.random.default_rng(7)
    errors = []
    for _ in range(300):
        p = rng.random(500)
        errors.append(expected_calibration_error(reliability_curve(rng.random(500) < p, p)))
    seen, expected = np.array(errors)[:, 0], np.mean(errors, axis=0)[1]
    assert expected > 0.03
    assert seen.mean() == pytest.approx(
        expected, abs=4 * seen.std() / np.sqrt(300) + 0.02 * expected
    )
