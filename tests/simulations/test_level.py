"""Every test keeps its level: P(p <= a) <= a + tolerance under the null hypothesis.

Tests that promise an exact level are held to a itself, within the sampling error of the simulation;
asymptotic ones to a plus the excess stated in the table.
"""

from collections.abc import Callable

import numpy as np
import pytest
from support.simulation import slack

from ragnb.results import SignificanceResult
from ragnb.stats import (
    PairedTable,
    compare_auroc,
    mcnemar_test,
    paired_t_test,
    paired_table,
    sign_flip_test,
    tango_test,
    tost,
)

LEVELS = (0.01, 0.05, 0.1)
N = 40


def graded(rng: np.random.Generator) -> np.ndarray:
    """Differences of two F1-like scores: three in ten are 0, the others multiples of .05."""
    return np.where(rng.random(N) < 0.3, 0.0, rng.integers(-20, 21, N) / 20)


def binary(rng: np.random.Generator) -> PairedTable:
    cell = rng.choice(4, N, p=[0.4, 0.15, 0.15, 0.3])
    return paired_table(cell <= 1, (cell == 0) | (cell == 2))


def clustered(test, rng: np.random.Generator) -> SignificanceResult:
    clusters = np.repeat(np.arange(N), 3)
    values = rng.normal(size=N)[clusters] + rng.normal(size=3 * N)
    return test(values, clusters=clusters)


def ranked(rng: np.random.Generator) -> SignificanceResult:
    labels = np.arange(80) < 40
    shared = labels + rng.normal(size=80)
    first, second = shared + rng.normal(size=80), shared + rng.normal(size=80)
    return compare_auroc(labels, first, second)[1]


TESTS: dict[str, tuple[Callable[[np.random.Generator], SignificanceResult], float]] = {
    "sign-flip": (lambda rng: sign_flip_test(graded(rng)), 0.0),
    "paired t": (lambda rng: paired_t_test(graded(rng)), 0.004),
    "mcnemar exact": (lambda rng: mcnemar_test(binary(rng), method="exact"), 0.0),
    "mcnemar mid-p": (lambda rng: mcnemar_test(binary(rng)), 0.004),
    "mcnemar asymptotic": (lambda rng: tango_test(binary(rng)), 0.012),
    "cluster t": (lambda rng: clustered(paired_t_test, rng), 0.004),
    "cluster sign-flip": (lambda rng: clustered(sign_flip_test, rng), 0.0),
    "delong": (ranked, 0.015),
}
"""Each test, and the excess over the level that is allowed beside sampling error."""


@pytest.mark.parametrize("trials", [pytest.param(4000, marks=pytest.mark.slow), 100])
@pytest.mark.parametrize("name", TESTS)
def test_level(name: str, trials: int) -> None:
    draw, excess = TESTS[name]
    rng = np.random.default_rng(1)
    p = np.array([draw(rng).p_value for _ in range(trials)])
    for level in LEVELS:
        assert np.mean(p <= level) <= level + excess + slack(level, trials)


@pytest.mark.parametrize("trials", [pytest.param(4000, marks=pytest.mark.slow), 200])
def test_tost_keeps_its_level_at_the_margin_and_finds_equivalence(trials: int) -> None:
    rng = np.random.default_rng(4)
    at_margin = np.mean([tost(rng.normal(0.5, 1, N), margin=0.5).equivalent for _ in range(trials)])
    assert at_margin <= 0.05 + slack(0.05, trials)
    equal = np.mean([tost(rng.normal(0.0, 1, N), margin=0.7).equivalent for _ in range(trials)])
    assert equal >= 0.95 - slack(0.05, trials)
