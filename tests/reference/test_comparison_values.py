"""Published values of intervals and paired tests, each with its source beside it."""

import numpy as np
import pytest

from ragnb.stats import (
    PairedTable,
    bca_interval,
    mcnemar_test,
    paired_t_test,
    rate_interval,
    sign_flip_test,
    tango_interval,
    tango_test,
)

# Cavo et al. 2012 in Fagerland, Lydersen & Laake 2014 (counts inferred there; every published value below matches them)
CAVO = PairedTable(59, 6, 16, 80)
# Bentur et al. 2009 in the same
BENTUR = PairedTable(1, 1, 7, 12)
# Approval of a prime minister, Agresti, Categorical Data Analysis, table 10.1
APPROVAL = PairedTable(794, 150, 86, 570)
# statsmodels stats/tests/test_contingency_tables / test_nonparametric (McNemar against SAS)
STATSMODELS = PairedTable(101, 121, 59, 33)
# mlxtend user guide, mcnemar, example 1
MLXTEND = PairedTable(9945, 25, 15, 15)


@pytest.mark.parametrize(
    ("table", "method", "p_value"),
    [
        (CAVO, "asymptotic", 0.033006),  # Fagerland et al. 2014, table of the Cavo data
        (CAVO, "exact", 0.052479),
        (CAVO, "mid-p", 0.034690),
        (BENTUR, "exact", 0.0703125),  # Fagerland et al. 2013, Bentur data
        (BENTUR, "mid-p", 0.0390625),
        (BENTUR, "asymptotic", 0.033895),
        (APPROVAL, "asymptotic", 3.099e-5),  # Agresti
        (STATSMODELS, "exact", 4e-6),  # statsmodels prints one digit
        (MLXTEND, "exact", 0.153860),
    ],
)
def test_mcnemar_p_value(table: PairedTable, method: str, p_value: float) -> None:
    tolerance = 0.15 if p_value == 4e-6 else 5e-4 if p_value < 1e-3 else 2e-5
    assert mcnemar_test(table, method=method).p_value == pytest.approx(p_value, rel=tolerance)


@pytest.mark.parametrize(
    ("table", "method", "statistic"),
    [
        (APPROVAL, "asymptotic", 17.3559),  # Agresti: z^2
        (STATSMODELS, "asymptotic", 21.35556),
    ],
)
def test_mcnemar_statistic(table: PairedTable, method: str, statistic: float) -> None:
    assert mcnemar_test(table, method=method).statistic == pytest.approx(statistic, abs=6e-5)


def test_tango_test_of_statpsych() -> None:
    # statpsych test.prop.ps(156, 96, 68, 80): z 2.108346, p .03500109
    table = PairedTable(156, 96, 68, 80)
    result = tango_test(table)
    # Its z is the Wald-type statistic with a pooled variance and a continuity correction of 1; ours has none:
    assert (96 - 68 - 1) / np.sqrt(96 + 68) == pytest.approx(2.108346, abs=1e-6)
    assert result.statistic == pytest.approx(28 / np.sqrt(164), abs=1e-12)


@pytest.mark.parametrize(
    ("interval", "table", "low", "high"),
    [
        (tango_interval, CAVO, -0.1240, -0.0054),  # contingencytables, tests/testthat/test-ch8.R
        (tango_interval, BENTUR, -0.5172, -0.0260),  # contingencytables (R), chapter 8, Bentur data
        (
            tango_interval,
            PairedTable(100, 40, 20, 0),
            0.03086,
            0.21806,
        ),  # PropCIs::scoreci.mp(40, 20, 160), computed
    ],
)
def test_difference_interval(interval, table: PairedTable, low: float, high: float) -> None:
    result = interval(table)
    assert (result.low, result.high) == pytest.approx((low, high), abs=5.1e-5)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    # Newcombe 1998, Stat. Med. 17, 857-872, table I, method 3
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_interval(successes: int, n: int, low: float, high: float) -> None:
    result = rate_interval(successes, n)
    assert (result.low, result.high) == pytest.approx((low, high), abs=5.1e-5)


# Darwin's Zea mays pairs, Fisher 1935, The Design of Experiments, section 21
MAIZE = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]


def test_sign_flip_of_darwins_maize() -> None:
    assert sum(MAIZE) == 314
    # Fisher: 863 of 32,768 in one tail; two-sided 1726 / 32768
    assert sign_flip_test(MAIZE, alternative="greater").p_value * 32768 == pytest.approx(
        863, abs=1e-8
    )
    assert sign_flip_test(MAIZE).p_value == pytest.approx(1726 / 32768, rel=1e-12)


def test_t_test_of_darwins_maize() -> None:
    # Fisher 1935, section 17: t = 2.148, just beyond the 5 % point
    result = paired_t_test(MAIZE)
    assert result.statistic == pytest.approx(2.14799, abs=5e-6)
    assert result.p_value == pytest.approx(0.0497, abs=5e-5)


@pytest.mark.parametrize("n", [20, 100])
def test_exact_bootstrap_equals_scipy_in_the_limit(n: int) -> None:
    # scipy.stats.bootstrap with 100,000 resamples: sd of an endpoint about .0004 of the scores' sd here
    from scipy.stats import bootstrap

    values = np.random.default_rng(n).integers(0, 101, n) / 100
    theirs = bootstrap(
        (values,), np.mean, method="BCa", n_resamples=100_000, rng=np.random.default_rng(3)
    )
    limits = theirs.confidence_interval
    result = bca_interval(values)
    assert (result.low, result.high) == pytest.approx((limits.low, limits.high), abs=2.5e-3)
