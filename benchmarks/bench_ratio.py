"""Speed of the ratio of means against scipy's BCa bootstrap of the same ratio, on the same numbers in one run.

    pytest benchmarks/bench_ratio.py --benchmark-only --benchmark-group-by=group --benchmark-columns=min,median,rounds

Token-F1-like gains and token costs; scipy draws 10,000 resamples of the pairs.
"""

import numpy as np
import pytest

from ragnb.stats.ratio import compare_ratios, fieller_interval, ratio_of_means_bca

SIZES = [300, 10_000]
RESAMPLES = 10_000


def pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    return np.round(np.clip(rng.normal(0.2, 0.4, n), -1, 1), 2), np.ceil(rng.gamma(2, 15, n))


def ratio(gains: np.ndarray, costs: np.ndarray, axis: int) -> np.ndarray:
    return gains.mean(axis=axis) / costs.mean(axis=axis)


@pytest.mark.parametrize("n", SIZES)
class TestRatioOfMeans:
    @pytest.fixture(autouse=True)
    def group(self, benchmark, n: int) -> None:
        benchmark.group = f"ratio of means, n = {n}"

    @pytest.mark.parametrize("interval", [fieller_interval, ratio_of_means_bca])
    def test_ragnb(self, benchmark, n: int, interval) -> None:
        gains, costs = pairs(n)
        interval(gains, costs)
        benchmark(interval, gains, costs)

    def test_ragnb_comparison(self, benchmark, n: int) -> None:
        gains, costs = pairs(n)
        compare_ratios(gains, costs, gains, costs[::-1])
        benchmark(compare_ratios, gains, costs, gains, costs[::-1])

    def test_scipy(self, benchmark, n: int) -> None:
        from scipy.stats import bootstrap

        rounds = {"rounds": 5, "warmup_rounds": 1} if n == 300 else {"rounds": 1}
        options = {"paired": True, "n_resamples": RESAMPLES, "rng": np.random.default_rng(0)}
        benchmark.pedantic(bootstrap, args=(pairs(n), ratio), kwargs=options, iterations=1, **rounds)
