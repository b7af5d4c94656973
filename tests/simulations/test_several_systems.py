"""The level of the Friedman test where all systems are alike.

A simulated share may miss its bound by `SD` binomial standard errors (P below 1e-4 each when the bound is true).
"""

from collections.abc import Callable

import numpy as np
import pytest
from support.simulation import slack

from ragnb.stats import friedman_test

N = 40
TRIALS = [pytest.param(4000, marks=pytest.mark.slow, id="4000"), pytest.param(300, id="300")]
Draw = Callable[[np.random.Generator], np.ndarray]


def smooth(rng: np.random.Generator) -> np.ndarray:
    return (rng.normal(size=(N, 1)) + rng.normal(size=(N, 4))).round(2)


def graded(rng: np.random.Generator) -> np.ndarray:
    """F1-like scores: many at 1, the rest multiples of .2."""
    return np.where(rng.random((N, 4)) < 0.5, 1.0, rng.integers(0, 6, (N, 4)) / 5)


def binary(rng: np.random.Generator) -> np.ndarray:
    return (rng.random((N, 4)) < rng.random((N, 1)) ** 0.5).astype(float)


# All systems alike: the share of p-values of at most .05 and .1


@pytest.mark.parametrize("trials", TRIALS)
@pytest.mark.parametrize("draw", [smooth, graded, binary])
def test_omnibus_level(draw: Draw, trials: int) -> None:
    rng = np.random.default_rng(trials)
    p = np.array([friedman_test(draw(rng)).p_value for _ in range(trials)])
    for level in (0.05, 0.1):
        assert (
            level - 0.01 - slack(level, trials)
            <= (p <= level).mean()
            <= level + 0.008 + slack(level, trials)
        )


@pytest.mark.slow
@pytest.mark.parametrize(("n", "k"), [(10, 3), (20, 5), (300, 5)])
def test_f_holds_its_level_from_ten_items_on(n: int, k: int) -> None:
    rng = np.random.default_rng(n)
    f = np.mean([friedman_test(rng.normal(size=(n, k))).p_value <= 0.05 for _ in range(4000)])
    assert abs(f - 0.05) < 0.005 + slack(0.05, 4000)
