"""Speed of `ragnb.stats` against scipy, statsmodels, pingouin, mlxtend and ranx, on the same numbers in one run.

    pytest benchmarks/bench_stats.py --benchmark-only --benchmark-group-by=group --benchmark-columns=min,median,rounds

Paired differences of two token-F1-like scores with two decimals; 10,000 resamples wherever a peer resamples.
"""

import numpy as np
import pytest

from ragnb.stats.auroc import auroc
from ragnb.stats.binary import mcnemar_test, paired_table
from ragnb.stats.bootstrap import bca_interval
from ragnb.stats.clusters import cluster_robust_interval
from ragnb.stats.paired import sign_flip_test, wilcoxon_test

SIZES = [300, 10_000]
RESAMPLES = 10_000


def scores(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    first, second = (np.round(np.clip(rng.normal(m, 0.35, n), 0, 1), 2) for m in (0.62, 0.60))
    return first, second


def labels(n: int) -> tuple[np.ndarray, np.ndarray]:
    first, second = scores(n)
    return first > 0.5, second > 0.5


def few(benchmark, n: int, function, *arguments, **options):
    """Time a slow peer: five warm rounds at n = 300, a single one (of seconds) at n = 10,000."""
    rounds = {"rounds": 5, "warmup_rounds": 1} if n == 300 else {"rounds": 1}
    return benchmark.pedantic(function, args=arguments, kwargs=options, iterations=1, **rounds)


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    """Import what the first call of each function imports."""
    first, second = scores(300)
    bca_interval(first - second), sign_flip_test(first, second), wilcoxon_test(first, second)
    mcnemar_test(paired_table(first > 0.5, second > 0.5), method="exact")
    cluster_robust_interval(first, np.arange(300) // 3), auroc(first > 0.5, second)


@pytest.mark.parametrize("n", SIZES)
class TestMeanInterval:
    @pytest.fixture(autouse=True)
    def group(self, benchmark, n: int) -> None:
        benchmark.group = f"paired mean interval (BCa), n = {n}"

    def test_ragnb(self, benchmark, n: int) -> None:
        first, second = scores(n)
        benchmark(lambda: bca_interval(first - second))

    def test_scipy_on_differences(self, benchmark, n: int) -> None:
        from scipy.stats import bootstrap

        first, second = scores(n)
        few(benchmark, n, bootstrap, (first - second,), np.mean, n_resamples=RESAMPLES, rng=np.random.default_rng(0))

    def test_scipy_on_two_arrays(self, benchmark, n: int) -> None:
        from scipy.stats import bootstrap

        few(
            benchmark,
            n,
            bootstrap,
            scores(n),
            lambda x, y, axis: np.mean(x - y, axis=axis),
            paired=True,
            n_resamples=RESAMPLES,
            rng=np.random.default_rng(0),
        )

    def test_pingouin(self, benchmark, n: int) -> None:
        pingouin = pytest.importorskip("pingouin")
        first, second = scores(n)
        few(benchmark, n, pingouin.compute_bootci, first - second, func="mean", method="bca", n_boot=RESAMPLES, seed=0)


@pytest.mark.parametrize("n", SIZES)
class TestPermutation:
    @pytest.fixture(autouse=True)
    def group(self, benchmark, n: int) -> None:
        benchmark.group = f"sign-flip permutation test, n = {n}"

    def test_ragnb(self, benchmark, n: int) -> None:
        first, second = scores(n)
        benchmark(lambda: sign_flip_test(first, second))

    def test_ragnb_binary(self, benchmark, n: int) -> None:
        first, second = labels(n)
        benchmark(lambda: sign_flip_test(first, second))

    def test_scipy(self, benchmark, n: int) -> None:
        from scipy.stats import permutation_test

        first, second = scores(n)
        few(
            benchmark,
            n,
            permutation_test,
            (first - second,),
            np.mean,
            permutation_type="samples",
            vectorized=True,
            n_resamples=RESAMPLES,
            rng=np.random.default_rng(0),
        )

    def test_mlxtend(self, benchmark, n: int) -> None:
        evaluate = pytest.importorskip("mlxtend.evaluate")
        first, second = scores(n)
        few(
            benchmark,
            n,
            evaluate.permutation_test,
            first,
            second,
            paired=True,
            method="approximate",
            num_rounds=RESAMPLES,
            seed=0,
        )

    def test_ranx(self, benchmark, n: int) -> None:
        ranx = pytest.importorskip("ranx.statistical_tests.fisher_randomization_test")
        first, second = scores(n)
        ranx.fisher_randomization_test(first[:20], second[:20], 10, 0.01, 0)  # compile
        few(benchmark, n, ranx.fisher_randomization_test, first, second, RESAMPLES, 0.01, 0)


@pytest.mark.parametrize("n", SIZES)
class TestOthers:
    def test_mcnemar_ragnb(self, benchmark, n: int) -> None:
        benchmark.group = f"exact McNemar test from two arrays, n = {n}"
        first, second = labels(n)
        benchmark(lambda: mcnemar_test(paired_table(first, second), method="exact"))

    def test_mcnemar_statsmodels(self, benchmark, n: int) -> None:
        from statsmodels.stats.contingency_tables import mcnemar

        benchmark.group = f"exact McNemar test from two arrays, n = {n}"
        first, second = labels(n)
        benchmark(lambda: mcnemar(np.histogram2d(first, second, 2)[0], exact=True))

    def test_cluster_ragnb(self, benchmark, n: int) -> None:
        benchmark.group = f"cluster-robust mean, n = {n}"
        first, clusters = scores(n)[0], np.arange(n) // 3
        benchmark(lambda: cluster_robust_interval(first, clusters))

    def test_cluster_statsmodels(self, benchmark, n: int) -> None:
        from statsmodels.api import OLS

        benchmark.group = f"cluster-robust mean, n = {n}"
        first, clusters, ones = scores(n)[0], np.arange(n) // 3, np.ones(n)
        benchmark(lambda: OLS(first, ones).fit(cov_type="cluster", cov_kwds={"groups": clusters}).bse)

    def test_wilcoxon_ragnb(self, benchmark, n: int) -> None:
        benchmark.group = f"Wilcoxon test (ragnb exact at 300, with ties), n = {n}"
        first, second = scores(n)
        benchmark(lambda: wilcoxon_test(first, second))

    def test_wilcoxon_scipy(self, benchmark, n: int) -> None:
        from scipy.stats import wilcoxon

        benchmark.group = f"Wilcoxon test (ragnb exact at 300, with ties), n = {n}"
        first, second = scores(n)
        benchmark(lambda: wilcoxon(first, second, method="asymptotic"))

    def test_auroc_ragnb(self, benchmark, n: int) -> None:
        benchmark.group = f"AUROC (ragnb with DeLong interval), n = {n}"
        truth, score = labels(n)[0], scores(n)[1]
        benchmark(lambda: auroc(truth, score))

    def test_auroc_sklearn(self, benchmark, n: int) -> None:
        from sklearn.metrics import roc_auc_score

        benchmark.group = f"AUROC (ragnb with DeLong interval), n = {n}"
        truth, score = labels(n)[0], scores(n)[1]
        benchmark(lambda: roc_auc_score(truth, score))
