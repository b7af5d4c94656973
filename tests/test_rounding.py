"""Ties within rounding error, at every scale."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from ragnb.rounding import tied_levels
from ragnb.stats import (
    auroc,
    bca_interval,
    cohen_d_z,
    item_ranks,
    mean_interval,
    reliability_curve,
    sign_flip_interval,
    sign_flip_test,
)


def test_values_within_rounding_error_have_one_level():
    assert tied_levels([0.3, 0.1 + 0.2, 0.5, 0.1]).tolist() == [1, 1, 2, 0]
    assert tied_levels([1e-20, 2e-20, 0.0]).tolist() == [1, 2, 0]
    assert tied_levels([1e-20, 2e-20, 0.0], 1.0).tolist() == [0, 0, 0]
    assert tied_levels([[2, 1], [1, 1 + 1e-15]]).tolist() == [[1, 0], [0, 0]]
    assert tied_levels([]).tolist() == []
    assert tied_levels([-0.3, -0.1 - 0.2, 0.0, -0.0]).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("unit", [1, 1e9, 1e-9, 1 / 3])
def test_ranks_know_ties_within_rounding_error(unit):
    labels = [0, 1, 0, 1, 1]
    scores = [0.3, 0.1 + 0.2, 0.7, 1 - 0.3, 0.9]
    exact = roc_auc_score(labels, [3, 3, 7, 7, 9])
    assert auroc(labels, np.array(scores) * unit).estimate == pytest.approx(exact, rel=1e-12)
    assert item_ranks([[0.3 * unit, (0.1 + 0.2) * unit, 0.0]]).tolist() == [[1.5, 1.5, 3]]
    # Probabilities near 0 are no rounding error.
    assert auroc([0, 1], [1e-20, 1e-18]).estimate == 1


def test_a_probability_at_the_edge_of_a_bin_is_in_the_upper_bin():
    edges = np.arange(10) / 10
    computed = [1 - (10 - k) / 10 for k in range(10)]
    curve = reliability_curve([1] * 10, computed)
    assert curve["low"].tolist() == edges.tolist()
    assert curve["n"].tolist() == [1] * 10


INTERVALS = [sign_flip_interval, bca_interval, mean_interval]
KINDS = {
    "shares": lambda rng, n: rng.integers(-6, 7, n) / rng.integers(7, 13, n),
    "hundredths": lambda rng, n: rng.integers(-20, 21, n) / 100,
    "continuous": lambda rng, n: rng.normal(0.1, 0.3, n),
}


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [12, 25, 60])
def test_units_and_offsets_change_nothing_but_the_unit_and_the_offset(interval, kind, n):
    values = KINDS[kind](np.random.default_rng(1), n)
    plain = interval(values)
    width = plain.high - plain.low
    for unit in (1e9, 1e-9, 3.7, 1 / 3):
        found = interval(values * unit)
        assert (found.low / unit, found.high / unit) == pytest.approx(
            (plain.low, plain.high), abs=1e-8 * width
        )
    for offset in (1.0, -7.3, 1e3, 1e6):
        found = interval(values + offset)
        assert (found.low - offset, found.high - offset) == pytest.approx(
            (plain.low, plain.high), abs=1e-5 * width
        )
    p_values = [sign_flip_test(values * unit).p_value for unit in (1, 1e9, 1e-9, 3.7, -1)]
    assert p_values == pytest.approx([p_values[0]] * 5, rel=1e-9)
    effects = [cohen_d_z(values * unit).high for unit in (1, 1e9, 1e-9, 3.7)]
    assert effects == pytest.approx([effects[0]] * 4, rel=1e-9)
