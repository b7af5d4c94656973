"""Effect sizes of differences that hardly vary, against the chi distribution and scipy."""

import numpy as np
import pytest
from scipy.special import nctdtr
from scipy.stats import chi2

from ragnb.stats import cohen_d_z
from ragnb.stats.effects import noncentral_t_cdf


@pytest.mark.parametrize("n", [2, 3, 12, 50, 3000])
@pytest.mark.parametrize("unit", [1, 1e9, 1e-9])
def test_limits_of_a_large_effect_are_those_of_the_standard_deviation(n, unit):
    """If the differences hardly vary, only their standard deviation is uncertain."""
    differences = (1e6 + np.random.default_rng(0).random(n)) * unit
    found = cohen_d_z(differences)
    expected = found.estimate * np.sqrt(chi2.ppf([0.025, 0.975], n - 1) / (n - 1))
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-6)
    mirrored = cohen_d_z(-differences)
    assert (mirrored.low, mirrored.high) == (-found.high, -found.low)


@pytest.mark.parametrize("df", [1, 2, 11, 100, 1700])
@pytest.mark.parametrize("t", [301.0, 1000.0])
@pytest.mark.parametrize("ratio", [0.3, 0.9, 1.0, 1.05, 1.2, 2.2])
def test_the_quadrature_equals_scipy_where_both_are_quick(df, t, ratio):
    expected = nctdtr(df, ratio * t, t)
    if not np.isnan(expected):
        assert noncentral_t_cdf(t, df, ratio * t) == pytest.approx(expected, abs=1e-8)
