"""Coverage of nominal 95 % intervals: a table that says where each holds and where it falls short, asserted both ways.

"Holds" means within .02 of .95; "at least" .93 or more; "near" .90 to .95; "short" below .93. Rates are computed exactly from the binomial law; the others are
simulated, and a simulated share may miss its bound by `SD` binomial standard errors (P below 1e-4 each when it is true).
A twin with fewer trials runs unmarked.
"""

import numpy as np
import pytest
from support.simulation import BAND, MANY_AND_FEW, NOMINAL, check, covers, in_few_trials_too, share

from ragnb.stats import (
    PairedTable,
    agreement_interval,
    auroc,
    bca_interval,
    mean_interval,
    pearson,
    rate_interval,
    sign_flip_interval,
    tango_interval,
)

SIZES = (20, 50, 100, 300)


# Rates: exact, over p = .5, .7, .8, .9 (mean coverage) and the worst of them


def exact_coverage(method: str, n: int, p: float) -> float:
    from scipy.stats import binom

    limits = [rate_interval(x, n, method=method) for x in range(n + 1)]
    inside = [x for x, limit in enumerate(limits) if limit.low <= p <= limit.high]
    return float(binom.pmf(inside, n, p).sum())


RATE_TABLE = [
    *[(method, n, "holds") for method in ("wilson", "jeffreys") for n in SIZES],
    *[("clopper-pearson", n, "at least") for n in SIZES],
    *[("wald", n, "short") for n in (20, 50)],
    *[("wald", n, "holds") for n in (100, 300)],
]


@pytest.mark.parametrize(("method", "n", "expected"), RATE_TABLE)
def test_rate_coverage(method: str, n: int, expected: str) -> None:
    coverages = [exact_coverage(method, n, p) for p in (0.5, 0.7, 0.8, 0.9)]
    if expected == "holds":
        assert min(coverages) >= NOMINAL - BAND
        assert abs(np.mean(coverages) - NOMINAL) <= BAND
    elif expected == "at least":
        assert min(coverages) >= NOMINAL
    else:
        assert min(coverages) < NOMINAL - BAND


# Means: of token-F1-like scores (mass at 0 and 1), and of skewed ones such as costs and latencies: exponential, log-normal


def f1_scores(rng: np.random.Generator, n: int) -> np.ndarray:
    kind = rng.random(n)
    return np.where(kind < 0.15, 0.0, np.where(kind < 0.65, 1.0, np.round(rng.random(n), 2)))


def skewed_scores(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.lognormal(0, 1, n)


def exponential_scores(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.exponential(1, n)


MEAN_INTERVALS = (mean_interval, bca_interval)
# .5 + .35 / 2; the mean of a rounded uniform is 1/2 exactly by symmetry
MEANS = {f1_scores: 0.675, skewed_scores: float(np.exp(0.5)), exponential_scores: 1.0}
MEAN_TABLE = [
    *[(f1_scores, mean_interval, n, "holds") for n in SIZES],
    *[(f1_scores, bca_interval, n, "holds") for n in SIZES],
    *[(skewed_scores, mean_interval, n, "short") for n in (20, 50)],
    *[(skewed_scores, bca_interval, n, "short") for n in (20, 50)],
    *[(skewed_scores, interval, n, "near") for interval in MEAN_INTERVALS for n in (100, 300)],
    *[(exponential_scores, interval, 20, "near") for interval in MEAN_INTERVALS],
    (exponential_scores, mean_interval, 50, "holds"),
    *[
        (exponential_scores, interval, n, "holds")
        for interval in MEAN_INTERVALS
        for n in (100, 300)
    ],
]


@pytest.mark.parametrize(
    ("scores", "interval", "n", "expected", "trials"), in_few_trials_too(MEAN_TABLE, 4000, 200, 3)
)
def test_mean_coverage(scores, interval, n: int, expected: str, trials: int) -> None:
    coverage = share(trials, lambda rng: covers(interval(scores(rng, n)), MEANS[scores]), seed=n)
    check(coverage, trials, expected)


@pytest.mark.parametrize(
    ("n", "trials"),
    [
        (20, 40),
        (50, 20),
        pytest.param(20, 1500, marks=pytest.mark.slow),
        pytest.param(50, 1500, marks=pytest.mark.slow),
    ],
)
def test_sign_flip_interval_coverage(n: int, trials: int) -> None:
    coverage = share(
        trials,
        lambda rng: covers(sign_flip_interval(f1_scores(rng, n), f1_scores(rng, n)), 0.0),
        seed=n,
    )
    check(coverage, trials, "holds")


# Differences of paired rates

CELLS = (0.55, 0.18, 0.08, 0.19)


@pytest.mark.parametrize("trials", [pytest.param(20_000, marks=pytest.mark.slow), 400])
@pytest.mark.parametrize("n", SIZES)
def test_difference_coverage(n: int, trials: int) -> None:
    check(_difference_coverage(tango_interval, n, CELLS, trials), trials, "holds")


@pytest.mark.parametrize("trials", [pytest.param(20_000, marks=pytest.mark.slow), 400])
def test_tango_holds_with_few_discordant_items(trials: int) -> None:
    cells = (0.7, 0.08, 0.02, 0.2)
    check(_difference_coverage(tango_interval, 20, cells, trials), trials, "at least")


def _difference_coverage(interval, n: int, cells, trials: int) -> float:
    draws = np.random.default_rng(n).multinomial(n, cells, trials)
    tables, counts = np.unique(draws, axis=0, return_counts=True)
    truth = cells[1] - cells[2]
    covered = [covers(interval(PairedTable(*map(int, table))), truth) for table in tables]
    return float(np.dot(covered, counts)) / trials


# Clusters: three items a question, half of the variance between questions


def _clustered(rng: np.random.Generator, n_clusters: int) -> tuple[np.ndarray, np.ndarray]:
    clusters = np.repeat(np.arange(n_clusters), 3)
    return rng.normal(size=n_clusters)[clusters] + rng.normal(size=clusters.size), clusters


@pytest.mark.parametrize("trials", MANY_AND_FEW)
@pytest.mark.parametrize("n_clusters", [20, 50, 100])
def test_cluster_robust_coverage(n_clusters: int, trials: int) -> None:
    coverage = share(
        trials, lambda rng: covers(mean_interval(*_clustered(rng, n_clusters)), 0.0), n_clusters
    )
    check(coverage, trials, "holds")


@pytest.mark.parametrize("trials", MANY_AND_FEW)
def test_ignoring_clusters_falls_short(trials: int) -> None:
    coverage = share(trials, lambda rng: covers(mean_interval(_clustered(rng, 50)[0]), 0.0), 50)
    check(coverage, trials, "short")


# Agreement: two raters of yes and no, and three raters of three categories who leave some items out


def _two_raters(rng: np.random.Generator, n: int) -> np.ndarray:
    truth = rng.random(n) < 0.6
    return np.column_stack([np.where(rng.random(n) < 0.85, truth, ~truth) for _ in range(2)])


def _three_raters(rng: np.random.Generator, n: int) -> np.ndarray:
    truth = rng.choice(3, n, p=SHARES)
    codes = [np.where(rng.random(n) < 0.7, truth, rng.integers(0, 3, n)) for _ in range(3)]
    return np.where(rng.random((n, 3)) < 0.15, np.nan, np.column_stack(codes))


SHARES = np.array([0.2, 0.3, 0.5])
# each of two raters says yes with .85 * .6 + .15 * .4 = .57; they agree with .85^2 + .15^2 = .745
TWO_KAPPA = (0.745 - (0.57**2 + 0.43**2)) / (1 - (0.57**2 + 0.43**2))
TWO_AC1 = (0.745 - 2 * 0.57 * 0.43) / (1 - 2 * 0.57 * 0.43)
# each of three raters says the truth with .7 + .1 and each other category with .1
THREE_PI = 0.7 * SHARES + 0.1
THREE_KAPPA = (0.8**2 + 2 * 0.1**2 - (THREE_PI**2).sum()) / (1 - (THREE_PI**2).sum())
THREE_CHANCE = (THREE_PI * (1 - THREE_PI)).sum() / 2
THREE_AC1 = (0.8**2 + 2 * 0.1**2 - THREE_CHANCE) / (1 - THREE_CHANCE)

COEFFICIENTS = [
    (_two_raters, "Cohen's kappa", TWO_KAPPA),
    (_two_raters, "Fleiss' kappa", TWO_KAPPA),
    (_two_raters, "Gwet's AC1", TWO_AC1),
    (_two_raters, "Krippendorff's alpha", TWO_KAPPA),
    (_three_raters, "percent agreement", 0.66),
    (_three_raters, "Fleiss' kappa", THREE_KAPPA),
    (_three_raters, "Gwet's AC1", THREE_AC1),
    (_three_raters, "Krippendorff's alpha", THREE_KAPPA),
]
AGREEMENT_TABLE = [(*row, n) for row in COEFFICIENTS for n in (40, 100)]


@pytest.mark.parametrize(
    ("draw", "name", "truth", "n", "trials"), in_few_trials_too(AGREEMENT_TABLE, 4000, 200, 3)
)
def test_agreement_coverage(draw, name: str, truth: float, n: int, trials: int) -> None:
    coverage = share(
        trials, lambda rng: covers(agreement_interval(name, draw(rng, n)), truth), seed=n
    )
    check(coverage, trials, "holds")


# Ranking, correlation: n = 100


def _normal_pair(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    x, noise = rng.normal(size=(2, 100))
    return x, 0.6 * x + 0.8 * noise


def _ranked(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    labels = np.arange(100) < 40
    return labels, labels + rng.normal(size=100)


OTHER_TABLE = [
    (_ranked, auroc, 0.7602499389065233),  # Phi(1 / sqrt 2)
    (_normal_pair, pearson, 0.6),
]


@pytest.mark.parametrize("trials", MANY_AND_FEW)
@pytest.mark.parametrize(("draw", "interval", "truth"), OTHER_TABLE)
def test_other_coverage(draw, interval, truth: float, trials: int) -> None:
    check(share(trials, lambda rng: covers(interval(*draw(rng)), truth), seed=7), trials, "holds")
