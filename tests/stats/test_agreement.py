"""Agreement, AUROC, correlation and calibration: definitions, invariants, edges, bad input."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragnb.errors import InputError
from ragnb.stats.agreement import cohen_kappa, fleiss_kappa, gwet_ac, krippendorff_alpha, percent_agreement
from ragnb.stats.auroc import auroc, auroc_difference_interval, delong_test
from ragnb.stats.calibration import brier_score, expected_calibration_error, reliability_curve, rmse
from ragnb.stats.correlation import kendall, pearson, spearman

COEFFICIENTS = [percent_agreement, fleiss_kappa, gwet_ac, krippendorff_alpha]
CORRELATIONS = [pearson, spearman, kendall]
ratings = st.lists(st.lists(st.sampled_from([0.0, 1.0, 2.0, np.nan]), min_size=3, max_size=3), min_size=2, max_size=12)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@given(data=ratings)
@settings(max_examples=50, deadline=None)
def test_coefficients_do_not_depend_on_order_or_names(coefficient, data) -> None:
    table = np.array(data)
    labels = [[None if x != x else "abc"[int(x)] for x in row] for row in table]
    result = coefficient(table)
    for other in (coefficient(table[::-1]), coefficient(table[:, ::-1]), coefficient(labels)):
        assert (other.estimate, other.low, other.high) == pytest.approx(
            (result.estimate, result.low, result.high), abs=1e-9, nan_ok=True
        )
    assert np.isnan(result.estimate) or result.estimate <= 1 + 1e-12


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_full_agreement_is_one_without_interval(coefficient) -> None:
    result = coefficient([[1, 1], [2, 2], [1, 1], [2, 2]])
    assert result.estimate == pytest.approx(1.0)
    assert np.isnan(result.low)
    assert "every item agrees equally" in result.method


@pytest.mark.parametrize("coefficient", [fleiss_kappa, gwet_ac, krippendorff_alpha])
def test_a_single_category_is_undefined(coefficient) -> None:
    result = coefficient([[1, 1], [1, 1]])
    assert np.isnan(result.estimate)
    assert "undefined" in result.method


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("data", [[[1, np.nan], [np.nan, 2]], np.empty((0, 2)), [[np.nan, np.nan]]])
def test_no_pair_of_ratings_is_undefined(coefficient, data) -> None:
    assert np.isnan(coefficient(data).estimate)


@pytest.mark.parametrize("coefficient", [fleiss_kappa, gwet_ac])
@pytest.mark.parametrize("weights", ["identity", "linear", "quadratic"])
def test_linearised_interval_equals_the_jackknife_nearly(coefficient, weights: str) -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 4, 150)
    data = np.clip(truth[:, None] + rng.integers(-1, 2, (150, 3)) * (rng.random((150, 3)) < 0.5), 0, 3).astype(float)
    data[rng.random(150) < 0.3, 2] = np.nan
    result = coefficient(data, weights=weights)
    without = np.array([coefficient(np.delete(data, i, axis=0), weights=weights).estimate for i in range(150)])
    error = np.sqrt(149 / 150 * ((without - without.mean()) ** 2).sum())
    assert (result.high - result.low) / 2 == pytest.approx(1.976 * error, rel=0.02)


def test_alpha_jackknife_equals_a_plain_loop() -> None:
    rng = np.random.default_rng(2)
    data = np.where(rng.random((25, 3)) < 0.15, np.nan, rng.integers(0, 4, (25, 3)) + 0.0)
    data = data[(~np.isnan(data)).sum(axis=1) >= 2]
    n = len(data)
    result = krippendorff_alpha(data, level="ordinal")
    without = [krippendorff_alpha(np.delete(data, i, axis=0), level="ordinal").estimate for i in range(n)]
    from scipy.stats import t

    error = np.std(n * result.estimate - (n - 1) * np.array(without), ddof=1) / np.sqrt(n)
    assert result.estimate - result.low == pytest.approx(t.ppf(0.975, n - 1) * error, rel=1e-9)


def test_weights_need_ordered_categories() -> None:
    first, second = ["low", "high", "mid", "low"], ["high", "high", "mid", "low"]
    ordered = cohen_kappa(first, second, weights="linear", categories=["low", "mid", "high"])
    alphabetical = cohen_kappa(first, second, weights="linear")
    assert ordered.estimate < alphabetical.estimate


@pytest.mark.parametrize(("kind", "values"), [("boolean", (True, False)), ("Int64", (1, 0)), ("string", ("ja", "nein"))])
def test_labels_of_a_frame_may_be_missing_in_any_of_pandas_types(kind: str, values) -> None:
    yes, no = values
    first, second = [yes, no, yes, None, yes, no], [yes, no, no, yes, None, no]
    frame = pd.DataFrame({"a": pd.array(first, dtype=kind), "b": pd.array(second, dtype=kind)})
    assert cohen_kappa(frame["a"], frame["b"]) == cohen_kappa(first, second)
    for coefficient in (percent_agreement, fleiss_kappa, gwet_ac, krippendorff_alpha):
        assert coefficient(frame) == coefficient(list(zip(first, second, strict=True)))


def test_kappa_drops_what_either_rater_left_out() -> None:
    full = cohen_kappa([1, 0, 1, 0], [1, 0, 0, 0])
    assert cohen_kappa([1, 0, 1, 0, None, 1], [1, 0, 0, 0, 1, np.nan]) == full
    assert full.n == 4


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [([], [], "no item rated by both"), ([1, 1], [1, 1], "a single category"), ([1, 0], [1, 0], "variance is 0")],
)
def test_kappa_at_the_edges_is_undefined(first, second, reason: str) -> None:
    result = cohen_kappa(first, second)
    assert np.isnan(result.low)
    assert reason in result.method


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cohen_kappa([1], [1, 2]), r"Cohen's kappa needs one label of each rater per item"),
        (
            lambda: cohen_kappa([1, 2], [1, 2], weights="cubic"),
            r"weights needs one of 'identity', 'linear', 'quadratic'",
        ),
        (lambda: fleiss_kappa([1, 2]), r"ratings of shape items x raters with 2 raters or more; it got shape \(2,\)"),
        (lambda: gwet_ac([["a"], ["b"]]), r"it got shape \(2, 1\); put one rater a column"),
        (lambda: gwet_ac([["a", "b"]], categories=["a"]), r"among the categories; they got 'b'; add it to them"),
        (lambda: fleiss_kappa([["a", 1]]), r"Ratings need one type; they got numbers and text mixed"),
        (lambda: krippendorff_alpha([[1, 2]], level="cardinal"), r"level needs one of 'nominal', 'ordinal'"),
        (lambda: krippendorff_alpha([["a", "b"]], level="interval"), r'level="interval" needs numbers; it got labels'),
        (lambda: krippendorff_alpha([[1, -2]], level="ratio"), r'level="ratio" needs ratings of at least 0; it got -2'),
    ],
)
def test_bad_ratings_are_refused(call, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


scored = st.lists(st.tuples(st.booleans(), st.integers(0, 8)), min_size=4, max_size=30).filter(
    lambda rows: 1 < sum(label for label, _ in rows) < len(rows) - 1
)


@given(rows=scored)
@settings(max_examples=50, deadline=None)
def test_auroc_and_its_variance_equal_the_definition(rows) -> None:
    labels, scores = np.array([label for label, _ in rows]), np.array([score / 8 for _, score in rows])
    wins = (np.sign(scores[labels][:, None] - scores[~labels]) + 1) / 2
    result = auroc(labels, scores)
    assert result.estimate == pytest.approx(wins.mean(), abs=1e-12)
    variance = wins.mean(axis=1).var(ddof=1) / labels.sum() + wins.mean(axis=0).var(ddof=1) / (~labels).sum()
    if variance > 1e-12 and result.low > 0 and result.high < 1:
        assert (result.high - result.low) / 2 == pytest.approx(1.959963984540054 * np.sqrt(variance), rel=1e-9)
    assert auroc(~labels, -scores).estimate == pytest.approx(result.estimate)


def test_auroc_equals_sklearn() -> None:
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(3)
    labels, scores = rng.integers(0, 2, 200), rng.integers(0, 20, 200)
    assert auroc(labels, scores).estimate == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)


def test_delong_test_and_interval_are_duals() -> None:
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 2, 80)
    first, second = labels + rng.normal(size=80), 0.5 * labels + rng.normal(size=80)
    p = delong_test(labels, first, second).p_value
    interval = auroc_difference_interval(labels, first, second, confidence_level=1 - p)
    assert min(abs(interval.low), abs(interval.high)) == pytest.approx(0.0, abs=1e-10)
    assert delong_test(labels, second, first, alternative="less").p_value == pytest.approx(p / 2)


@pytest.mark.parametrize(
    ("labels", "scores", "reason"),
    [
        ([], [], "both classes"),
        ([1, 1], [0.1, 0.2], "both classes"),
        ([1, 0, 0], [0.5, 0.1, 0.7], "2 items of each class"),
        ([1, 1, 0, 0], [0.9, 0.8, 0.2, 0.1], "do not vary"),
    ],
)
def test_auroc_at_the_edges_is_undefined(labels, scores, reason: str) -> None:
    result = auroc(labels, scores)
    assert np.isnan(result.low)
    assert reason in result.method
    assert np.isnan(delong_test(labels, scores, scores).p_value)
    assert np.isnan(auroc_difference_interval(labels, scores, scores).low)


@pytest.mark.parametrize(
    ("labels", "scores", "message"),
    [
        ([0, 2], [1, 2], r"labels needs values 0 or 1; it got 2"),
        ([0, 1], [1, 2, 3], r"one score per label; it got 3 scores and 2 labels"),
        ([0, 1], [1, np.inf], r"scores needs finite scores"),
    ],
)
def test_bad_roc_input_is_refused(labels, scores, message: str) -> None:
    with pytest.raises(InputError, match=message):
        auroc(labels, scores)


def test_correlations_equal_scipy() -> None:
    from scipy import stats

    x, y = np.random.default_rng(5).integers(0, 9, (2, 60)) / 8
    expected = stats.pearsonr(x, y)
    limits = expected.confidence_interval()
    result = pearson(x, y)
    assert (result.estimate, result.low, result.high) == pytest.approx((expected.statistic, limits.low, limits.high))
    assert spearman(x, y).estimate == pytest.approx(stats.spearmanr(x, y).statistic)
    assert kendall(x, y).estimate == pytest.approx(stats.kendalltau(x, y).statistic)


@pytest.mark.parametrize("correlation", CORRELATIONS)
@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([], [], "needs 2 values"),
        ([1], [1], "needs 2 values"),
        ([1, 1, 1], [1, 2, 3], "all 3 values are equal"),
        ([1, 2, 3], [1, 3, 2], "items, got 3"),
        ([1, 2, 3, 4, 5], [2, 4, 6, 8, 10], "perfect"),
    ],
)
def test_correlations_at_the_edges_are_undefined(correlation, x, y, reason: str) -> None:
    result = correlation(x, y)
    assert np.isnan([result.low, result.high]).all()
    assert reason in result.method


@pytest.mark.parametrize("correlation", CORRELATIONS)
def test_bad_correlation_input_is_refused(correlation) -> None:
    with pytest.raises(InputError, match=r"it got 2 and 3; align them by item id first"):
        correlation([1, 2], [1, 2, 3])


def test_rmse_and_brier() -> None:
    rng = np.random.default_rng(6)
    p = rng.random(100)
    y = rng.random(100) < p
    brier, error = brier_score(y, p), rmse(p, y)
    assert brier.estimate == pytest.approx(((p - y) ** 2).mean())
    assert (error.low**2, error.high**2) == pytest.approx((brier.low, brier.high))
    assert error.method.startswith("RMSE, BCa")
    assert "all 2 values are equal" in rmse([1, 2], [1, 2]).method
    assert np.isnan(brier_score([1], [0.5]).low)
    assert np.isnan(rmse([], []).estimate)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 20)), min_size=1, max_size=60),
    st.integers(1, 12),
)
@settings(max_examples=40, deadline=None)
def test_reliability_curve_holds_every_prediction_once(strategy: str, rows, n_bins: int) -> None:
    y, p = [label for label, _ in rows], [value / 20 for _, value in rows]
    curve = reliability_curve(y, p, n_bins=n_bins, strategy=strategy)
    assert sum(b.observed.n for b in curve) == len(rows)
    assert all(b.low - 1e-12 <= b.mean_predicted <= b.high + 1e-12 for b in curve)
    error = expected_calibration_error(y, p, n_bins=n_bins, strategy=strategy)
    gaps = sum(abs(b.observed.estimate - b.mean_predicted) * b.observed.n for b in curve) / len(rows)
    assert error.estimate == pytest.approx(gaps, abs=1e-12)
    assert (error.n_bins, error.n) == (len(curve), len(rows))


def test_calibration_error_of_a_calibrated_model_is_its_noise() -> None:
    rng = np.random.default_rng(7)
    errors = []
    for _ in range(300):
        p = rng.random(500)
        errors.append(expected_calibration_error(rng.random(500) < p, p))
    seen = np.array([e.estimate for e in errors])
    expected = np.mean([e.expected_if_calibrated for e in errors])
    assert expected > 0.03
    assert seen.mean() == pytest.approx(expected, abs=4 * seen.std() / np.sqrt(300) + 0.02 * expected)


def test_calibration_without_items_or_with_bad_ones() -> None:
    assert np.isnan(expected_calibration_error([], []).estimate)
    assert reliability_curve([], []) == ()
    with pytest.raises(InputError, match=r"Calibration needs probabilities in \[0, 1\]; it got 0 to 80; pass"):
        brier_score([0, 1], [0, 80])
    with pytest.raises(InputError, match=r"one probability per label; it got 1 and 2"):
        reliability_curve([0, 1], [0.5])
    with pytest.raises(InputError, match=r"strategy needs one of 'uniform', 'quantile'; it got 'equal'"):
        expected_calibration_error([0, 1], [0.1, 0.2], strategy="equal")
    with pytest.raises(InputError, match=r"n_bins needs a whole number of at least 1; it got 0"):
        expected_calibration_error([0, 1], [0.1, 0.2], n_bins=0)
