"""Ratios of means, beside scipy's bootstrap

Token-F1-like gains over token costs. `fieller_interval` resamples nothing; `ratio_of_means_bca` is the analytic
approximation (ABC) of the BCa interval that scipy finds with 10,000 resamples of the pairs.
"""

import numpy as np
import pytest

from benchmarks.timing import ours, peer, task
from ragnb.stats.cost_effectiveness import compare_ratios, fieller_interval, ratio_of_means_bca

SIZES = [300, 10_000]
RESAMPLES = 10_000


def pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    return np.round(np.clip(rng.normal(0.2, 0.4, n), -1, 1), 2), np.ceil(rng.gamma(2, 15, n))


def ratio(gains: np.ndarray, costs: np.ndarray, axis: int) -> np.ndarray:
    return gains.mean(axis=axis) / costs.mean(axis=axis)


@task("interval of a ratio of means")
@pytest.mark.parametrize("n", SIZES)
class TestRatioOfMeans:
    @ours("`fieller_interval`")
    def test_fieller(self, benchmark, n: int) -> None:
        benchmark(fieller_interval, *pairs(n))

    @ours("`ratio_of_means_bca`")
    def test_bca(self, benchmark, n: int) -> None:
        benchmark(ratio_of_means_bca, *pairs(n))

    @peer("scipy `bootstrap`", "scipy")
    def test_scipy(self, few, n: int) -> None:
        from scipy.stats import bootstrap

        rounds = {"rounds": 5} if n == 300 else {"rounds": 1, "warm": False}
        few(
            bootstrap,
            pairs(n),
            ratio,
            paired=True,
            n_resamples=RESAMPLES,
            rng=np.random.default_rng(0),
            **rounds,
        )


@task("two ratios compared")
@ours("`compare_ratios`")
@pytest.mark.parametrize("n", SIZES)
def test_comparison(benchmark, n: int) -> None:
    gains, costs = pairs(n)
    benchmark(compare_ratios, gains, costs, gains, costs[::-1])
