"""Speed of the prediction-powered mean against ppi_py, on the same numbers in one run.

    pytest benchmarks/bench_ppi.py --benchmark-only --benchmark-group-by=group --benchmark-columns=min,median,rounds

Graded labels and verdicts, lambda fitted. ppi_py returns two limits; ragnb also the estimate, the labels alone, the judge
alone and the effective sample size.
"""

import warnings

import numpy as np
import pytest

from ragnb.stats.ppi import ppi_difference, ppi_mean
from ragnb.stats.ppi_planning import labels_needed

SIZES = [(100, 1_000), (200, 3_000), (1_000, 1_000_000)]


def scores(n: int, others: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    truth = rng.beta(2, 2, n + others)
    verdicts = np.clip(truth + rng.normal(0.1, 0.2, n + others), 0, 1)
    return truth[:n], verdicts[:n], verdicts[n:]


@pytest.mark.parametrize("size", SIZES)
class TestPpiMean:
    @pytest.fixture(autouse=True)
    def group(self, benchmark, size) -> None:
        benchmark.group = f"PPI++ mean, {size[0]} labels, {size[1]} verdicts"

    def test_ragnb(self, benchmark, size) -> None:
        lists = scores(*size)
        ppi_mean(*lists)
        benchmark(ppi_mean, *lists)

    def test_ragnb_rates(self, benchmark, size) -> None:
        labels, judged, rest = scores(*size)
        benchmark(ppi_mean, labels > 0.3, judged > 0.3, rest > 0.3)

    def test_ragnb_clusters(self, benchmark, size) -> None:
        keys = {"clusters": np.arange(size[0]) // 3, "clusters_unlabelled": size[0] + np.arange(size[1]) // 3}
        lists = scores(*size)
        benchmark(lambda: ppi_mean(*lists, **keys))

    def test_ragnb_difference(self, benchmark, size) -> None:
        lists = [scores_ for scores_ in scores(*size) for _ in range(2)]
        benchmark(ppi_difference, lists[0], lists[1] ** 2, lists[2], lists[3] ** 2, lists[4], lists[5] ** 2)

    def test_ppi_py(self, benchmark, size) -> None:
        with warnings.catch_warnings():  # it silences all warnings at import
            from ppi_py import ppi_mean_ci

        lists = scores(*size)
        ppi_mean_ci(*lists, alpha=0.05)
        benchmark(lambda: ppi_mean_ci(*lists, alpha=0.05))


def test_labels_needed(benchmark) -> None:
    labels, judged, _ = scores(100, 10)
    benchmark(labels_needed, labels, judged, 1_000_000, 0.01)
