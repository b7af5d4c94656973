"""Guarantees hold over calibration sets, within bands of the exact distributions; what is not guaranteed does not hold.

For scores without ties, the number of m test items that n calibration items cover is beta-binomial with k and n + 1 - k.
Bands are four standard deviations of its mean wide: a correct method leaves them once in 16,000 runs.
"""

import numpy as np
import pytest
from scipy import stats
from support.simulation import slack
from support.two_normals import draw, of_labels

from ragnb.conformal import (
    ConformalClassifier,
    conformal_rank,
    coverage_distribution,
    labels_for_coverage,
)
from ragnb.errors import InputError

ALPHA, N, M = 0.1, 200, 200
TRIALS = pytest.mark.parametrize("trials", [60, pytest.param(2000, marks=pytest.mark.slow)])


def covered_distribution(n: int, m: int):
    rank = conformal_rank(n, ALPHA)
    return stats.betabinom(m, rank, n + 1 - rank)


def assert_follows(covered: np.ndarray, n: int, m: int) -> None:
    """Mean and tails of the numbers covered are those of the beta-binomial distribution."""
    wanted, trials = covered_distribution(n, m), covered.size
    assert abs(covered.mean() - wanted.mean()) < 4 * wanted.std() / trials**0.5
    for share in (0.1, 0.5, 0.9):
        least = wanted.ppf(share)
        below = wanted.cdf(least)
        assert abs((covered <= least).mean() - below) < 4 * (below * (1 - below) / trials) ** 0.5


def hits(sets: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return sets[np.arange(labels.size), labels.astype(int)]


@TRIALS
def test_marginal_coverage_is_beta_binomial(trials):
    rng = np.random.default_rng(trials)
    covered = []
    for _ in range(trials):
        classifier = ConformalClassifier.calibrate(*draw(rng, N))
        asked, labels = draw(rng, M)
        covered.append(hits(classifier.sets(asked, ALPHA), labels).sum())
    assert_follows(np.array(covered), N, M)


def covered_by_class(rng: np.random.Generator, trials: int, by_class: bool) -> np.ndarray:
    """Number covered of M items of class 0 and of class 1, calibrated on 150 of class 0 and 50 of class 1."""
    known, asked = np.arange(N) >= 150, np.arange(2 * M) >= M
    covered = []
    for _ in range(trials):
        classifier = ConformalClassifier.calibrate(
            of_labels(rng, known, apart=1.6, rate=0.25), known, by_class=by_class
        )
        sets = classifier.sets(of_labels(rng, asked, apart=1.6, rate=0.25), ALPHA)
        covered.append(hits(sets, asked).reshape(2, M).sum(axis=1))
    return np.array(covered).T


@TRIALS
def test_coverage_within_each_class_is_beta_binomial(trials):
    few, many = covered_by_class(np.random.default_rng(trials), trials, True)[::-1]
    assert_follows(many, 150, M)
    assert_follows(few, 50, M)


@TRIALS
def test_marginal_sets_do_not_cover_the_rare_class(trials):
    common, rare = covered_by_class(np.random.default_rng(trials), trials, False) / M
    assert rare.mean() < 0.85 < 1 - ALPHA < common.mean()
    assert rare.mean() + 4 * covered_distribution(N, M).std() / M / trials**0.5 < 1 - ALPHA


@TRIALS
def test_coverage_within_each_group_is_beta_binomial(trials):
    rng = np.random.default_rng(trials)
    groups = np.repeat(["easy", "hard"], [120, 80])
    covered = []
    for _ in range(trials):
        probabilities, labels = draw(rng, 200)
        probabilities[120:], labels[120:] = draw(rng, 80, apart=1.2)
        classifier = ConformalClassifier.calibrate(probabilities, labels, groups=groups)
        asked, truth = draw(rng, M, apart=1.2)
        covered.append(hits(classifier.sets(asked, ALPHA, groups=["hard"] * M), truth).sum())
    assert_follows(np.array(covered), 80, M)


@TRIALS
def test_the_error_among_accepted_labels_is_above_alpha(trials):
    """Marginal sets of a classifier with an accuracy below 1 - alpha: all errors are among the accepted labels."""
    rng = np.random.default_rng(trials)
    errors = []
    for _ in range(trials):
        classifier = ConformalClassifier.calibrate(*draw(rng, 400, apart=1.8))
        asked, labels = draw(rng, 2000, apart=1.8)
        sets = classifier.sets(asked, ALPHA)
        errors.append(1 - hits(sets, labels)[sets.sum(axis=1) == 1].mean())
    assert np.mean(errors) > 1.2 * ALPHA
    assert np.mean(np.array(errors) > ALPHA) > 0.8


# ---- how many labels -----------------------------------------------------------------------------

# Angelopoulos & Bates (2023), table 1: with these numbers, the coverage is within the tolerance of
# 90 % with a probability of 90 %.
PUBLISHED_NUMBERS = {0.1: 22, 0.05: 102, 0.01: 2491, 0.005: 9812}


@pytest.mark.parametrize(("tolerance", "n"), PUBLISHED_NUMBERS.items())
def test_published_numbers_of_labels_suffice(tolerance, n):
    coverage = coverage_distribution(n, 0.1)
    assert coverage.cdf(0.9 + tolerance) - coverage.cdf(0.9 - tolerance) >= 0.9
    # Only a coverage that is too low does harm, so that fewer labels are needed.
    assert labels_for_coverage(0.1, tolerance=tolerance) <= n


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("tolerance", [0.03, 0.1])
def test_every_larger_number_of_labels_suffices_and_the_one_before_does_not(alpha, tolerance):
    n = labels_for_coverage(alpha, tolerance=tolerance, delta=0.1)
    least = 1 - alpha - tolerance
    for larger in range(n, n + 300):
        assert coverage_distribution(larger, alpha).cdf(least) <= 0.1
    fewest = int(np.ceil(1 / alpha - 1e-9)) - 1
    assert n == fewest or coverage_distribution(n - 1, alpha).cdf(least) > 0.1


def test_simulated_calibrations_miss_the_coverage_as_seldom_as_promised():
    rng = np.random.default_rng(5)
    trials = 4000
    for n, misses_often in (
        (labels_for_coverage(0.1), False),
        (labels_for_coverage(0.1) - 1, True),
    ):
        # Uniform scores: the coverage of a threshold is the threshold itself.
        scores = np.sort(rng.random((trials, n)), axis=1)
        thresholds = scores[:, conformal_rank(n, 0.1) - 1]
        share = float((thresholds < 0.85).mean())
        exact = coverage_distribution(n, 0.1).cdf(0.85)
        assert abs(share - exact) <= slack(exact, trials)
        assert (exact > 0.1) == misses_often


def test_a_tolerance_without_a_number_is_refused():
    with pytest.raises(InputError, match="tolerance must be below 1 - alpha"):
        labels_for_coverage(0.9, tolerance=0.2)
    with pytest.raises(InputError, match="tolerance must be larger"):
        labels_for_coverage(0.1, tolerance=1e-5)
