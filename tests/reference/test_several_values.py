"""Published values of tests of several systems, each with its source beside it."""

from itertools import combinations

import numpy as np
import pytest

from ragnb.stats.posthoc import conover, critical_difference, nemenyi, not_separated
from ragnb.stats.ranks import average_ranks
from ragnb.stats.several import cochran_q_test, friedman_from_ranks, friedman_test

# Demsar 2006, JMLR 7, table 6: C4.5, C4.5+m, C4.5+cf, C4.5+m+cf on 14 data sets. The ranks are taken as printed: the
# rounded accuracies give 2.929 and 1.929 instead of 2.893 and 1.964.
DEMSAR = [3.143, 2.000, 2.893, 1.964]

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

# R package rstatix, examples of friedman_conover_test and friedman_nemenyi_test: 6 persons, 3 treatments
RSTATIX = [[4, 7, 6], [6, 8, 9], [3, 6, 7], [5, 7, 8], [4, 9, 8], [5, 6, 9]]

# scikit-posthocs, tests/test_posthocs.py: 3 blocks, 7 groups
POSTHOCS = [[4, 3, 4, 4, 5, 6, 3], [1, 2, 3, 5, 6, 7, 7], [1, 2, 6, 4, 1, 5, 1]]


def test_friedman_of_demsar() -> None:
    chi2, f = friedman_from_ranks(DEMSAR, 14, method="chi2"), friedman_from_ranks(DEMSAR, 14)
    assert chi2.statistic == pytest.approx(9.28, abs=0.005)
    assert f.statistic == pytest.approx(3.69, abs=0.005)
    assert f.method == "Friedman F(3, 39)"
    assert f.p_value < 0.05  # F(3, 39) is 2.85 at .05


def test_critical_value_of_demsar_is_the_five_percent_point() -> None:
    # ranks (n = 14, k = 4) that give F = 2.8451, the critical value printed as 2.85
    w = 2.8451 / (13 + 2.8451)
    spread = np.sqrt(w * 4 * 15 / 12 / 2)
    assert friedman_from_ranks([2.5 - spread, 2.5 + spread, 2.5, 2.5], 14).p_value == pytest.approx(0.05, abs=5e-6)


def test_nemenyi_of_demsar() -> None:
    # section 3.2.4: CD 1.25 at .05, where nothing differs, and 1.12 at .10, where C4.5 is worse than C4.5+m and C4.5+m+cf
    assert round(critical_difference(4, 14), 2) == 1.25
    assert round(critical_difference(4, 14, confidence_level=0.9), 2) == 1.12
    result = nemenyi(DEMSAR, 14)
    assert not_separated(DEMSAR, result.p_values) == ((3, 1, 2, 0),)
    assert not_separated(DEMSAR, result.p_values, confidence_level=0.9) == ((3, 1, 2), (2, 0))
    apart = np.triu(np.array(result.p_values) < 0.1).nonzero()
    assert list(zip(*(side.tolist() for side in apart), strict=True)) == [(0, 1), (0, 3)]


@pytest.mark.parametrize(
    ("level", "quantiles"),
    [  # Demsar 2006, table 5a: studentized range over sqrt 2, k = 2 .. 10; printed with errors of .001
        (0.95, [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]),
        (0.90, [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]),
    ],
)
def test_table_of_nemenyi_quantiles(level: float, quantiles: list[float]) -> None:
    for k, q in enumerate(quantiles, start=2):
        ours = critical_difference(k, 1, confidence_level=level) / np.sqrt(k * (k + 1) / 6)
        assert ours == pytest.approx(q, abs=0.0013)


def test_friedman_of_two_data_sets() -> None:
    # R package scmamp, nine algorithms on two data sets: chi-squared 11.733, p .1635; Iman-Davenport 2.75, p .08697
    scores = -np.array([[1, 8, 6, 4, 7, 2, 5, 3, 9], [1, 6, 3, 9, 7, 2, 8, 4, 5]])
    chi2, f = friedman_test(scores, method="chi2"), friedman_test(scores)
    assert (chi2.statistic, chi2.p_value) == pytest.approx((11.733, 0.1635), abs=5e-4)
    assert (f.statistic, f.p_value) == pytest.approx((2.75, 0.08697), abs=5e-6)


def test_friedman_of_conovers_grasses() -> None:
    # rank sums 38, 23.5, 24.5, 34; T1 8.097, T2 3.19219790676, p .0362154746433
    assert (5 - average_ranks(GRASSES)) * 12 == pytest.approx([38, 23.5, 24.5, 34])
    assert friedman_test(GRASSES, method="chi2").statistic == pytest.approx(8.09734513274, abs=1e-10)
    f = friedman_test(GRASSES)
    assert (f.statistic, f.p_value) == pytest.approx((3.19219790676, 0.0362154746433), abs=1e-10)


def test_conovers_least_significant_difference_of_the_grasses() -> None:
    # t(.975, 33) = 2.0345, least significant difference 11.48 between rank sums: before adjustment p is .05 there. The
    # largest difference, 38 - 23.5, is the first of six by Holm.
    from scipy.stats import t

    p_of_first = 2 * t.sf(t.isf(0.025, 33) * 14.5 / 11.48168, 33)
    assert conover(GRASSES).p_values[0][1] == pytest.approx(6 * p_of_first, abs=1e-6)


def test_friedman_of_rounding_times() -> None:
    result = friedman_test(-ROUNDING_TIMES, method="chi2")
    assert (result.statistic, result.p_value) == pytest.approx((11.143, 0.003805), abs=5e-4)
    assert result.p_value == pytest.approx(0.003805, abs=5e-7)


def test_conover_of_rstatix() -> None:
    # before adjustment .00119 (t 4.47) and .000231 (t 5.59), 10 degrees of freedom; Holm .00239 and .000692
    p = conover(RSTATIX).p_values
    assert (p[0][1], p[0][2]) == pytest.approx((0.00239, 0.000692), rel=2e-3)


def test_nemenyi_of_rstatix() -> None:
    # studentized ranges 3.27, 4.08, .816
    p = nemenyi(average_ranks(RSTATIX), 6).p_values
    assert (p[0][1], p[0][2], p[1][2]) == pytest.approx((0.0545, 0.0109, 0.832), abs=5e-4)


def test_conover_of_scikit_posthocs() -> None:
    # its posthoc_durbin, Holm, agreeing with R: .381364 and .444549, all others 1. (Its posthoc_conover_friedman differs
    # from Conover's formula, and from the two values above.)
    p = np.array(conover(POSTHOCS).p_values)
    assert (p[0, 5], p[1, 5]) == pytest.approx((0.381364, 0.444549), abs=1e-6)
    assert sum(p[i, j] == 1.0 for i, j in combinations(range(7), 2)) == 19


def test_nemenyi_of_scikit_posthocs() -> None:
    # its posthoc_nemenyi_friedman, from a table of the studentized range good to three digits below .3
    p = nemenyi(average_ranks(POSTHOCS), 3).p_values
    assert (p[0][5], p[1][5]) == pytest.approx((0.21477876, 0.25967965), abs=2e-4)


@pytest.mark.parametrize(
    ("scores", "statistic", "p_value"),
    [
        # Conover, p. 253, and NIST Dataplot, in statsmodels test_cochransq
        ("111 111 010 110 000 111 111 110 001 010 111 111", 2.8, 0.246597),
        # statsmodels test_cochransq2
        ("0001 0001 0001 1111 1001 0101 1001 0001 0100 0000 1001 0011", 13.2857143, 0.00405776),
        # SAS, in statsmodels test_cochransq3
        (6 * "000 " + 2 * "100 " + 16 * "001 " + 4 * "101 " + 2 * "010 " + 6 * "110 " + 4 * "011 " + 6 * "111 ", 8.4706, 0.0145),
    ],
)  # fmt: skip
def test_cochran_q(scores: str, statistic: float, p_value: float) -> None:
    result = cochran_q_test([[int(digit) for digit in item] for item in scores.split()])
    assert (result.statistic, result.p_value) == pytest.approx((statistic, p_value), abs=5e-5)
