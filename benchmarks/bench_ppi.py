"""Prediction-powered means, beside ppi-python

Graded labels and verdicts, lambda fitted; n is the number of verdicts without a label. ppi-python returns two limits; ragnb
also the estimate, the labels alone, the judge alone and the effective sample size.
"""

import warnings

import numpy as np
import pytest

from benchmarks.timing import ours, peer, task
from ragnb.stats.ppi import labels_needed, ppi_mean

SIZES = [(100, 1_000), (200, 3_000), (1_000, 1_000_000)]


def scores(labels: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(labels)
    truth = rng.beta(2, 2, labels + n)
    verdicts = np.clip(truth + rng.normal(0.1, 0.2, labels + n), 0, 1)
    return truth[:labels], verdicts[:labels], verdicts[labels:]


@task("PPI++ mean of {labels:,} labels")
@pytest.mark.parametrize(("labels", "n"), SIZES)
class TestPpiMean:
    @ours()
    def test_ragnb(self, benchmark, labels: int, n: int) -> None:
        benchmark(ppi_mean, *scores(labels, n))

    @peer("ppi-python `ppi_mean_ci`", "ppi-python")
    def test_ppi_py(self, benchmark, labels: int, n: int) -> None:
        with warnings.catch_warnings():  # it silences all warnings at import
            from ppi_py import ppi_mean_ci

        lists = scores(labels, n)
        benchmark(lambda: ppi_mean_ci(*lists, alpha=0.05))


@ours()
@pytest.mark.parametrize(("labels", "n"), SIZES)
class TestWithoutPeer:
    @task("PPI++ rate of {labels:,} labels")
    def test_rates(self, benchmark, labels: int, n: int) -> None:
        true, judged, rest = scores(labels, n)
        benchmark(ppi_mean, true > 0.3, judged > 0.3, rest > 0.3)

    @task("PPI++ mean of {labels:,} labels in clusters")
    def test_clusters(self, benchmark, labels: int, n: int) -> None:
        keys = {
            "clusters": np.arange(labels) // 3,
            "clusters_unlabelled": labels + np.arange(n) // 3,
        }
        lists = scores(labels, n)
        benchmark(lambda: ppi_mean(*lists, **keys))


@task("labels needed for a margin", 100)
@ours()
def test_labels_needed(benchmark) -> None:
    labels, judged, _ = scores(100, 10)
    benchmark(labels_needed, labels, judged, 1_000_000, 0.01)
