"""PPI++ means and differences: numbers by hand, ppi_py as oracle, invariances, clusters, edges."""

import warnings
from math import sqrt

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student

from ragnb.errors import InputError
from ragnb.stats import ppi_mean

LABELS = np.array([0.9, 0.2, 0.5, 1.0, 0.7, 0.3, 0.8, 0.6])
JUDGED = np.array([0.7, 0.4, 0.5, 0.9, 0.9, 0.1, 0.6, 0.8])
REST = np.array([0.3, 0.6, 0.9, 0.2, 0.5, 0.8, 0.4, 0.7, 1.0, 0.1, 0.35, 0.65])


def graded(seed: int, n: int = 40, others: int = 200) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.beta(2, 2, n + others)
    verdicts = np.clip(0.8 * truth + rng.normal(0.2, 0.1, n + others), 0, 1)
    return truth[:n], verdicts[:n], verdicts[n:]


# ---- numbers -----------------------------------------------------------------------------------------------------------


def test_rates_by_hand() -> None:
    """Ten labels, one judge error each way; tuning given. The one more label is half a 1, half a 0."""
    labels, judged = [1] * 6 + [0] * 4, [1] * 5 + [0] + [1] + [0] * 3
    result = ppi_mean(labels, judged, [1] * 60 + [0] * 40, lam=0.5)
    p, covariance = 0.6, 0.5 - 0.36
    own = (0.24 - 2 * 0.5 * covariance + 0.25 * 0.24) * 10 / 9 / 10
    others = 0.25 * 0.24 * 100 / 99 / 100
    q = (6 + 0.5) / 11
    added = (q * (1 - q) - 0.24 + 2 * 0.5 * covariance / 11) / 10
    n = q * (1 - q) / (own + others + added)
    z = student.ppf(0.975, 9)
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * sqrt(p * (1 - p) / n + z**2 / (4 * n * n)) / (1 + z**2 / n)
    assert result.estimate == pytest.approx(0.6)
    assert (result.low, result.high) == pytest.approx((centre - half, centre + half))
    alone = result.classical
    assert result.effective_sample_size == pytest.approx(
        10 * (0.24 / 9 + (q * (1 - q) - 0.24) / 10) / (own + others + added)
    )
    assert alone.low < result.low < result.high < alone.high


# ---- ppi_py ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lam", "estimate", "interval"),
    [
        (None, 0.59546853100911, (0.4471877766858455, 0.7437492853323746)),
        (0.5, 0.5895833333333333, (0.44120075674721587, 0.7379659099194509)),
        (1, 0.5541666666666666, (0.35858896585069133, 0.7497443674826418)),
    ],
)
def test_recorded_values_of_ppi_py(lam, estimate, interval) -> None:
    """ppi_mean_pointestimate and ppi_mean_ci(alpha=.05) of ppi-python 0.2.3 on the same numbers."""
    result = ppi_mean(LABELS, JUDGED, REST, lam=lam)
    assert result.estimate == pytest.approx(estimate, abs=1e-12)
    # ppi_py has z and the divisors n and N, where ragnb has t, n - 1 (or n - 2) and N - 1.
    rest, others = (LABELS - result.lam * JUDGED).var(), result.lam**2 * REST.var()
    assert interval[1] - estimate == pytest.approx(norm.ppf(0.975) * sqrt(rest / 8 + others / 12))
    df = 7 - (lam is None)
    half = student.ppf(0.975, df) * sqrt(rest / df + others / 11)
    assert (result.low, result.high) == pytest.approx((estimate - half, estimate + half))


@pytest.mark.slow
def test_against_ppi_py() -> None:
    with warnings.catch_warnings():  # it silences all warnings at import
        from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    for seed in range(20):
        labels, judged, rest = graded(seed, n=200, others=3000)
        result = ppi_mean(labels, judged, rest)
        assert result.estimate == pytest.approx(ppi_mean_pointestimate(labels, judged, rest).item())
        low, high = (limit.item() for limit in ppi_mean_ci(labels, judged, rest, alpha=0.05))
        ratio = student.ppf(0.975, 198) / norm.ppf(0.975) * sqrt(200 / 198)
        assert (high - low) <= result.high - result.low <= ratio * (high - low)


# ---- what must not matter, and what must -------------------------------------------------------------------------------


def test_labels_that_are_all_alike() -> None:
    result = ppi_mean([1] * 20, [1] * 18 + [0] * 2, [1] * 70 + [0] * 30)
    assert result.estimate == 1.0
    assert result.lam == 0.0
    assert 0.7 < result.low < 0.9  # Wilson's is .839
    assert result.high == 1.0
    graded_alike = ppi_mean([3.0] * 20, [3.0] * 20, [3.0] * 10 + [4.0])
    assert np.isnan([graded_alike.low, graded_alike.high, graded_alike.effective_sample_size]).all()
    assert graded_alike.problem == "label - weight * verdict does not vary"


# ---- bounds ------------------------------------------------------------------------------------------------------------


def test_limits_are_cut_at_the_bounds_and_the_method_says_so() -> None:
    labels, judged, rest = [0.9, 1.0, 0.8, 1.0], [0.2, 0.4, 0.1, 0.3], [0.4, 0.3, 0.2, 0.5]
    free, cut = ppi_mean(labels, judged, rest), ppi_mean(labels, judged, rest, bounds=(0, 1))
    assert free.high > 1
    assert (cut.low, cut.high) == (free.low, 1.0)
    assert cut.method == "PPI++, t, clipped to [0, 1]"
    assert "clipped" not in ppi_mean(labels, judged, rest, bounds=(-10, 10)).method
    assert ppi_mean([1, 0, 1], [1, 0, 0], [1, 0]).method == "PPI++, Wilson with a t quantile"
    assert ppi_mean([1, 0, 1], [1, 0, 0], [1, 0], bounds=(0, 5)).method.startswith("PPI++, t")


# ---- two systems -------------------------------------------------------------------------------------------------------


def test_a_difference_of_rates_lies_in_minus_1_to_1_and_has_its_one_more_label() -> None:
    first, second = np.array([1] * 19 + [0]), np.array([1] * 18 + [0] * 2)
    difference, others = first - second, np.array([1] * 30) - np.array([1] * 29 + [0])
    result, free = (
        ppi_mean(difference, difference, others, bounds=(-1, 1)),
        ppi_mean(difference + 5, difference, others),
    )
    assert result.estimate == pytest.approx(free.estimate - 5)
    assert result.high - result.low > free.high - free.low
    alike = ppi_mean(first - first, difference, difference, bounds=(-1, 1))
    assert alike.classical.estimate == 0
    assert (
        alike.classical.low == -alike.classical.high < -0.05
    )  # .22: half a 1 and half a -1 among 21
    swapped = ppi_mean(-difference, -difference, -others, bounds=(-1, 1))
    assert (swapped.low, swapped.high) == pytest.approx((-result.high, -result.low))
    assert "clipped to [-1, 1]" in ppi_mean([1, 1, -1], [1, 1, -1], [1, -1], bounds=(-1, 1)).method


# ---- clusters ----------------------------------------------------------------------------------------------------------


def test_a_question_in_both_lists_is_one_unit() -> None:
    """By hand, tuning 1: contributions of the questions a, b, c, summed over both lists, and of d, which has no label."""
    labels, judged, rest = [1.0, 2.0, 6.0], [1.0, 1.0, 4.0], [2.0, 0.0, 4.0, 2.0]
    result = ppi_mean(
        labels, judged, rest, clusters=list("abc"), clusters_unlabelled=list("aabd"), lam=1
    )
    a, b, c, d = (
        -1 / 3 + 0 / 4 - 2 / 4,
        0 / 3 + 2 / 4,
        1 / 3,
        0.0,
    )  # Y - F = 0, 1, 2; F' - 2 = 0, -2, 2, 0
    error = sqrt(3 / 2 * (a * a + b * b + c * c) + d * d)
    assert result.estimate == 3.0  # 1 + 2
    assert result.high - 3 == pytest.approx(student.ppf(0.975, 2) * error)


def test_too_few_units_are_undefined_with_a_reason() -> None:
    assert ppi_mean([0.1, 0.2], [0.3, 0.1], REST).problem == "at least 3 labels are needed, got 2"
    assert ppi_mean([0.1, 0.2], [0.3, 0.1], REST, lam=0.5).low < 0.2
    labels, judged, rest = [0.1, 0.5, 0.3, 0.9], [0.2, 0.5, 0.1, 0.8], [0.3, 0.2]
    few = ppi_mean(labels, judged, rest, clusters=list("aabb"), clusters_unlabelled=list("cd"))
    assert few.problem == "at least 3 clusters are needed, got 2"
    assert np.isnan([few.low, few.high, few.effective_sample_size]).all()
    assert few.estimate == pytest.approx(ppi_mean(labels, judged, rest).estimate)


# ---- mistakes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1], [1], [1, 0]), {}, r"2 labels and 2 unlabelled items or clusters, got 1 and 2"),
        (([1, 0, 1], [1, 0], [1, 0]), {}, r"one value per item, got 3 for labels, 2 for judged; align them by item id"),
        (([1, 0], [None, 0], [1, 0]), {}, r"judged must have a verdict for every item, got 1 missing; replace missing"),
        ((LABELS, JUDGED, REST), {"bounds": (0, 0.5)}, r"labels must be within bounds \(0, 0\.5\), got 0\.2 to 1"),
        ((LABELS, JUDGED, REST), {"clusters": range(8)}, r"clusters and clusters_unlabelled must be given together"),
        ((LABELS, JUDGED, REST), {"clusters": range(8), "clusters_unlabelled": [9] * 12}, r"2 unlabelled items or clusters, got 8 and 1"),
    ],
)  # fmt: skip
def test_mistakes_are_named(arguments, options, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ppi_mean(*arguments, **options)
