"""Published values of tests of several systems, each with its source beside it."""

import numpy as np
import pytest

from ragnb.stats import friedman_test, item_ranks

# Demsar 2006, JMLR 7, table 6: C4.5, C4.5+m, C4.5+cf, C4.5+m+cf on 14 data sets. In "voting", the rounded accuracies of
# C4.5+cf and C4.5+m+cf are equal; the printed average ranks are those of 0.9752 and 0.975.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798], [0.599, 0.591, 0.590, 0.569], [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657], [0.882, 0.888, 0.886, 0.898], [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685], [0.583, 0.583, 0.563, 0.625], [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000], [0.940, 0.962, 0.965, 0.962], [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9752, 0.975], [0.957, 0.978, 0.946, 0.970],
    ]
)  # fmt: skip

# Conover 1999, section 5.8, example 1: ranks that 12 homeowners gave to 4 grasses (higher is better); with ties
GRASSES = np.array(
    [
        [4, 3, 2, 1], [4, 2, 3, 1], [3, 1.5, 1.5, 4], [3, 1, 2, 4], [4, 2, 1, 3], [2, 2, 2, 4],
        [1, 3, 2, 4], [2, 4, 1, 3], [3.5, 1, 2, 3.5], [4, 1, 3, 2], [4, 2, 3, 1], [3.5, 1, 2, 3.5],
    ]
)  # fmt: skip

# Hollander & Wolfe 1973, p. 140 ff., R ?friedman.test: seconds of 22 players for 3 ways to round first base
ROUNDING_TIMES = np.array(
    """5.40 5.50 5.55 5.85 5.70 5.75 5.20 5.60 5.50 5.55 5.50 5.40 5.90 5.85 5.70 5.45 5.55 5.60 5.40 5.40 5.35 5.45
    5.50 5.35 5.25 5.15 5.00 5.85 5.80 5.70 5.25 5.20 5.10 5.65 5.55 5.45 5.60 5.35 5.45 5.05 5.00 4.95 5.50 5.50 5.40
    5.45 5.55 5.50 5.55 5.55 5.35 5.45 5.50 5.55 5.50 5.45 5.25 5.65 5.60 5.40 5.70 5.65 5.55 6.30 6.30 6.25""".split(),
    dtype=float,
).reshape(22, 3)


def chi2(scores) -> float:
    """Friedman's original statistic n (k - 1) W, where F = (n - 1) W / (1 - W)."""
    n, k = np.shape(scores)
    f = friedman_test(scores).statistic
    return n * (k - 1) * f / (n - 1 + f)


def test_friedman_of_demsar() -> None:
    assert item_ranks(DEMSAR).mean(axis=0) == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    # Demsar does not correct for ties: the total variance of his ranks is that of untied ones, 14 * 5 = 70
    uncorrected = chi2(DEMSAR) * ((item_ranks(DEMSAR) - 2.5) ** 2).sum() / 70
    assert uncorrected == pytest.approx(9.28, abs=0.005)
    assert 13 * uncorrected / (14 * 3 - uncorrected) == pytest.approx(3.69, abs=0.005)


def test_friedman_of_two_data_sets() -> None:
    # R package scmamp, nine algorithms on two data sets: chi-squared 11.733, p .1635; Iman-Davenport 2.75, p .08697
    scores = -np.array([[1, 8, 6, 4, 7, 2, 5, 3, 9], [1, 6, 3, 9, 7, 2, 8, 4, 5]])
    assert chi2(scores) == pytest.approx(11.733, abs=5e-4)
    f = friedman_test(scores)
    assert (f.statistic, f.p_value) == pytest.approx((2.75, 0.08697), abs=5e-6)


def test_friedman_of_conovers_grasses() -> None:
    # rank sums 38, 23.5, 24.5, 34; T1 8.097, T2 3.19219790676, p .0362154746433
    assert (5 - item_ranks(GRASSES).mean(axis=0)) * 12 == pytest.approx([38, 23.5, 24.5, 34])
    assert chi2(GRASSES) == pytest.approx(8.09734513274, abs=1e-10)
    f = friedman_test(GRASSES)
    assert (f.statistic, f.p_value) == pytest.approx((3.19219790676, 0.0362154746433), abs=1e-10)


def test_friedman_of_rounding_times() -> None:
    assert chi2(-ROUNDING_TIMES) == pytest.approx(11.143, abs=5e-4)


@pytest.mark.parametrize(
    ("scores", "statistic"),
    [
        # Conover, p. 253, and NIST Dataplot, in statsmodels test_cochransq
        ("111 111 010 110 000 111 111 110 001 010 111 111", 2.8),
        # statsmodels test_cochransq2
        ("0001 0001 0001 1111 1001 0101 1001 0001 0100 0000 1001 0011", 13.2857143),
        # SAS, in statsmodels test_cochransq3
        (6 * "000 " + 2 * "100 " + 16 * "001 " + 4 * "101 " + 2 * "010 " + 6 * "110 " + 4 * "011 " + 6 * "111 ", 8.4706),
    ],
)  # fmt: skip
def test_cochran_q(scores: str, statistic: float) -> None:
    items = [[int(digit) for digit in item] for item in scores.split()]
    assert chi2(items) == pytest.approx(statistic, abs=5e-5)
