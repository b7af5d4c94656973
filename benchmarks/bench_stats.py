"""Statistics on arrays, beside scipy, statsmodels, pingouin, mlxtend, ranx and scikit-learn

Scores are token-F1-like with two decimals. Peers that resample draw 10,000 resamples, while ragnb computes the law of
infinitely many; scipy's BCa of the differences is spared the second array, which `paired=True` takes. The Wilcoxon test of
ragnb is exact at n = 300, with ties, and stands beside a normal approximation: scipy has no exact law with ties. The AUROC
of ragnb has DeLong's interval, that of scikit-learn none. ranx is compiled before it is timed.
"""

import numpy as np
import pytest

from benchmarks.timing import ours, peer, task
from ragnb.stats.binary import mcnemar_test, paired_table
from ragnb.stats.intervals import bca_interval, mean_interval
from ragnb.stats.paired import sign_flip_test, wilcoxon_test
from ragnb.stats.prediction import auroc

SIZES = [300, 10_000]
RESAMPLES = 10_000


def scores(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    first, second = (np.round(np.clip(rng.normal(m, 0.35, n), 0, 1), 2) for m in (0.62, 0.60))
    return first, second


def labels(n: int) -> tuple[np.ndarray, np.ndarray]:
    first, second = scores(n)
    return first > 0.5, second > 0.5


def rounds(n: int) -> dict:
    """Five warm rounds of a slow peer at n = 300, a single one (of seconds) at n = 10,000."""
    return {"rounds": 5} if n == 300 else {"rounds": 1, "warm": False}


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    """Import what the first call of each function imports."""
    first, second = scores(300)
    bca_interval(first - second), sign_flip_test(first, second), wilcoxon_test(first, second)
    mcnemar_test(paired_table(first > 0.5, second > 0.5), method="exact")
    mean_interval(first, np.arange(300) // 3), auroc(first > 0.5, second)


@task("paired mean interval (BCa)")
@pytest.mark.parametrize("n", SIZES)
class TestMeanInterval:
    @ours()
    def test_ragnb(self, benchmark, n: int) -> None:
        first, second = scores(n)
        benchmark(lambda: bca_interval(first - second))

    @peer("scipy `bootstrap` of the differences", "scipy")
    def test_scipy_on_differences(self, few, n: int) -> None:
        from scipy.stats import bootstrap

        first, second = scores(n)
        few(
            bootstrap,
            (first - second,),
            np.mean,
            n_resamples=RESAMPLES,
            rng=np.random.default_rng(0),
            **rounds(n),
        )

    @peer("scipy `bootstrap(paired=True)`", "scipy")
    def test_scipy_on_two_arrays(self, few, n: int) -> None:
        from scipy.stats import bootstrap

        difference = lambda x, y, axis: np.mean(x - y, axis=axis)  # noqa: E731
        options = {"paired": True, "n_resamples": RESAMPLES, "rng": np.random.default_rng(0)}
        few(bootstrap, scores(n), difference, **options, **rounds(n))

    @peer("pingouin `compute_bootci`", "pingouin")
    def test_pingouin(self, few, n: int) -> None:
        import pingouin

        first, second = scores(n)
        options = {"func": "mean", "method": "bca", "n_boot": RESAMPLES, "seed": 0}
        few(pingouin.compute_bootci, first - second, **options, **rounds(n))


@task("sign-flip permutation test")
@pytest.mark.parametrize("n", SIZES)
class TestPermutation:
    @ours()
    def test_ragnb(self, benchmark, n: int) -> None:
        first, second = scores(n)
        benchmark(lambda: sign_flip_test(first, second))

    @peer("scipy `permutation_test`", "scipy")
    def test_scipy(self, few, n: int) -> None:
        from scipy.stats import permutation_test

        first, second = scores(n)
        options = {"permutation_type": "samples", "vectorized": True, "n_resamples": RESAMPLES}
        few(
            permutation_test,
            (first - second,),
            np.mean,
            rng=np.random.default_rng(0),
            **options,
            **rounds(n),
        )

    @peer("mlxtend `permutation_test`", "mlxtend")
    def test_mlxtend(self, few, n: int) -> None:
        from mlxtend.evaluate import permutation_test

        first, second = scores(n)
        options = {"paired": True, "method": "approximate", "num_rounds": RESAMPLES, "seed": 0}
        few(permutation_test, first, second, **options, **rounds(n))

    @peer("ranx `fisher_randomization_test` (numba)", "ranx")
    def test_ranx(self, few, n: int) -> None:
        from ranx.statistical_tests.fisher_randomization_test import fisher_randomization_test

        first, second = scores(n)
        fisher_randomization_test(first[:20], second[:20], 10, 0.01, 0)  # compile
        few(fisher_randomization_test, first, second, RESAMPLES, 0.01, 0, **rounds(n))


@task("sign-flip permutation test, scores of 0 and 1")
@ours()
@pytest.mark.parametrize("n", SIZES)
def test_permutation_of_labels(benchmark, n: int) -> None:
    first, second = labels(n)
    benchmark(lambda: sign_flip_test(first, second))


@task("exact McNemar test of two arrays")
@pytest.mark.parametrize("n", SIZES)
class TestMcNemar:
    @ours()
    def test_ragnb(self, benchmark, n: int) -> None:
        first, second = labels(n)
        benchmark(lambda: mcnemar_test(paired_table(first, second), method="exact"))

    @peer("statsmodels `mcnemar`", "statsmodels")
    def test_statsmodels(self, benchmark, n: int) -> None:
        from statsmodels.stats.contingency_tables import mcnemar

        first, second = labels(n)
        benchmark(lambda: mcnemar(np.histogram2d(first, second, 2)[0], exact=True))


@task("cluster-robust mean")
@pytest.mark.parametrize("n", SIZES)
class TestClusters:
    @ours()
    def test_ragnb(self, benchmark, n: int) -> None:
        first, clusters = scores(n)[0], np.arange(n) // 3
        benchmark(lambda: mean_interval(first, clusters))

    @peer("statsmodels `OLS`, clustered", "statsmodels")
    def test_statsmodels(self, benchmark, n: int) -> None:
        from statsmodels.api import OLS

        first, clusters, ones = scores(n)[0], np.arange(n) // 3, np.ones(n)
        benchmark(
            lambda: OLS(first, ones).fit(cov_type="cluster", cov_kwds={"groups": clusters}).bse
        )


@task("Wilcoxon signed-rank test")
@pytest.mark.parametrize("n", SIZES)
class TestWilcoxon:
    @ours()
    def test_ragnb(self, benchmark, n: int) -> None:
        first, second = scores(n)
        benchmark(lambda: wilcoxon_test(first, second))

    @peer("scipy `wilcoxon`, asymptotic", "scipy")
    def test_scipy(self, benchmark, n: int) -> None:
        from scipy.stats import wilcoxon

        first, second = scores(n)
        benchmark(lambda: wilcoxon(first, second, method="asymptotic"))


@task("AUROC")
@pytest.mark.parametrize("n", SIZES)
class TestAuroc:
    @ours()
    def test_ragnb(self, benchmark, n: int) -> None:
        truth, score = labels(n)[0], scores(n)[1]
        benchmark(lambda: auroc(truth, score))

    @peer("scikit-learn `roc_auc_score`", "scikit-learn")
    def test_sklearn(self, benchmark, n: int) -> None:
        from sklearn.metrics import roc_auc_score

        truth, score = labels(n)[0], scores(n)[1]
        benchmark(lambda: roc_auc_score(truth, score))
