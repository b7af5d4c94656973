"""Shares in simulations: a share may miss its bound by `SD` binomial standard errors.

P is then below 1e-4 for each test if the bound is true.
"""

from collections.abc import Callable

import numpy as np
import pytest

from ragnb.results import Interval

SD = 3.8
NOMINAL, BAND = 0.95, 0.02
# What is expected of an interval of 95 % -> the bounds of its coverage.
BOUNDS = {
    "holds": (NOMINAL - BAND, NOMINAL + BAND),
    "at least": (NOMINAL - BAND, 1.0),
    "near": (0.90, NOMINAL),
}
MANY_AND_FEW = [pytest.param(4000, marks=pytest.mark.slow, id="4000"), pytest.param(200, id="200")]


def in_few_trials_too(rows: list, many: int, few: int, every: int) -> list:
    """Every row with many trials, marked slow, and some of the rows with few trials."""
    slow = [pytest.param(*row, many, marks=pytest.mark.slow) for row in rows]
    return slow + [(*row, few) for row in rows[::every]]


def slack(share: float, trials: int) -> float:
    """How far a simulated share may be from the true one."""
    return SD * float(np.sqrt(share * (1 - share) / trials))


def check(coverage: float, trials: int, expected: str) -> None:
    """Assert that a simulated coverage is compatible with its bounds, or ("short") incompatible with holding."""
    allowed = slack(NOMINAL - BAND, trials)
    if expected == "short":
        assert coverage < NOMINAL - BAND - (allowed if trials >= 4000 else 0)
    else:
        low, high = BOUNDS[expected]
        assert low - allowed <= coverage <= high + slack(high, trials)


def share(trials: int, happens: Callable[[np.random.Generator], bool], seed: int) -> float:
    """Share of the trials in which it happens."""
    rng = np.random.default_rng(seed)
    return sum(happens(rng) for _ in range(trials)) / trials


def covers(interval: Interval, truth: float) -> bool:
    return interval.low <= truth <= interval.high
