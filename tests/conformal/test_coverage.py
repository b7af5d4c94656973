"""What is promised holds over calibration sets, within bands of the exact laws; what is not promised does not.

For scores without ties, the number of m test items that n calibration items cover is beta-binomial with k and n + 1 - k.
Bands are four standard deviations of that law's mean wide: a right method leaves them once in 16,000 runs.
"""

import numpy as np
import pytest
from scipy import stats
from two_normals import draw, of_labels

from ragnb.conformal.predictor import ConformalClassifier, count_sets, undecided
from ragnb.conformal.rank import conformal_rank

ALPHA, N, M = 0.1, 200, 200
TRIALS = pytest.mark.parametrize("trials", [60, pytest.param(2000, marks=pytest.mark.slow)])


def law(n: int, m: int):
    rank = conformal_rank(n, ALPHA)
    return stats.betabinom(m, rank, n + 1 - rank)


def assert_follows(covered: np.ndarray, n: int, m: int) -> None:
    """Mean and tails of the numbers covered are those of the law."""
    wanted, trials = law(n, m), covered.size
    assert abs(covered.mean() - wanted.mean()) < 4 * wanted.std() / trials**0.5
    for share in (0.1, 0.5, 0.9):
        least = wanted.ppf(share)
        below = wanted.cdf(least)
        assert abs((covered <= least).mean() - below) < 4 * (below * (1 - below) / trials) ** 0.5


def hits(sets: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return sets[np.arange(labels.size), labels.astype(int)]


@TRIALS
def test_marginal_coverage_follows_the_beta_binomial_law(trials):
    rng = np.random.default_rng(trials)
    covered = []
    for _ in range(trials):
        predictor = ConformalClassifier.calibrate(*draw(rng, N))
        asked, labels = draw(rng, M)
        covered.append(hits(predictor.sets(asked, ALPHA), labels).sum())
    assert_follows(np.array(covered), N, M)


def covered_by_class(rng: np.random.Generator, trials: int, conditional: str | None) -> np.ndarray:
    """Number covered of M items of class 0 and of class 1, calibrated on 150 of class 0 and 50 of class 1."""
    known, asked = np.arange(N) >= 150, np.arange(2 * M) >= M
    covered = []
    for _ in range(trials):
        predictor = ConformalClassifier.calibrate(
            of_labels(rng, known, apart=1.6, rate=0.25), known, conditional=conditional
        )
        sets = predictor.sets(of_labels(rng, asked, apart=1.6, rate=0.25), ALPHA)
        covered.append(hits(sets, asked).reshape(2, M).sum(axis=1))
    return np.array(covered).T


@TRIALS
def test_coverage_within_each_class_follows_the_law_of_that_class(trials):
    few, many = covered_by_class(np.random.default_rng(trials), trials, "class")[::-1]
    assert_follows(many, 150, M)
    assert_follows(few, 50, M)


@TRIALS
def test_marginal_sets_do_not_cover_the_rare_class(trials):
    common, rare = covered_by_class(np.random.default_rng(trials), trials, None) / M
    assert rare.mean() < 0.85 < 1 - ALPHA < common.mean()
    assert rare.mean() + 4 * law(N, M).std() / M / trials**0.5 < 1 - ALPHA


@TRIALS
def test_coverage_within_each_group_follows_the_law_of_that_group(trials):
    rng = np.random.default_rng(trials)
    groups = np.repeat(["easy", "hard"], [120, 80])
    covered = []
    for _ in range(trials):
        probabilities, labels = draw(rng, 200)
        probabilities[120:], labels[120:] = draw(rng, 80, apart=1.2)
        predictor = ConformalClassifier.calibrate(probabilities, labels, groups=groups)
        asked, truth = draw(rng, M, apart=1.2)
        covered.append(hits(predictor.sets(asked, ALPHA, groups=["hard"] * M), truth).sum())
    assert_follows(np.array(covered), 80, M)


@TRIALS
def test_the_error_among_the_decided_is_above_alpha(trials):
    """Marginal sets of a classifier that is right less often than 1 - alpha: all errors lie among the decided."""
    rng = np.random.default_rng(trials)
    errors = []
    for _ in range(trials):
        predictor = ConformalClassifier.calibrate(*draw(rng, 400, apart=1.8))
        asked, labels = draw(rng, 2000, apart=1.8)
        sets = predictor.sets(asked, ALPHA)
        errors.append(1 - hits(sets, labels)[~undecided(sets)].mean())
    assert np.mean(errors) > 1.2 * ALPHA
    assert np.mean(np.array(errors) > ALPHA) > 0.8


@TRIALS
def test_the_coverage_is_no_probability_of_the_single_answer(trials):
    """Given the item, a set is right with the probabilities of its labels, which here are known: 0.9 on average alone."""
    rng = np.random.default_rng(trials)
    means, short, least = [], [], []
    for _ in range(trials):
        predictor = ConformalClassifier.calibrate(*draw(rng, N, apart=1.8))
        asked, _ = draw(rng, M, apart=1.8)
        right = (predictor.sets(asked, ALPHA) * np.column_stack([1 - asked, asked])).sum(axis=1)
        means.append(right.mean()), short.append((right < 1 - ALPHA).mean()), least.append(right.min())
    assert abs(np.mean(means) - law(N, M).mean() / M) < 4 * law(N, M).std() / M / trials**0.5
    assert np.mean(short) > 0.2
    assert np.mean(least) < 0.75


@TRIALS
def test_a_classifier_better_than_the_promise_leaves_empty_sets_and_filling_them_covers_more(trials):
    rng = np.random.default_rng(trials)
    covered, filled, neither = [], [], 0
    for _ in range(trials):
        predictor = ConformalClassifier.calibrate(*draw(rng, N, apart=3.5))
        asked, labels = draw(rng, M, apart=3.5)
        sets = predictor.sets(asked, ALPHA)
        neither += count_sets(sets).neither
        covered.append(hits(sets, labels).sum())
        filled.append(hits(predictor.sets(asked, ALPHA, empty="fill"), labels).sum())
    assert_follows(np.array(covered), N, M)
    assert neither > 0.02 * M * trials
    assert (np.array(filled) >= covered).all()
    assert np.mean(filled) > np.mean(covered)


@TRIALS
def test_p_values_of_the_truth_are_super_uniform_with_ties(trials):
    rng = np.random.default_rng(trials)
    values = []
    for _ in range(trials):
        known, labels = draw(rng, 39, apart=1.2)
        asked, truth = draw(rng, 1, apart=1.2)
        predictor = ConformalClassifier.calibrate(np.round(known, 1), labels)
        values.append(hits(predictor.p_values(np.round(asked, 1)), truth)[0])
    for u in (0.05, 0.1, 0.25, 0.5):
        assert np.mean(np.array(values) <= u) <= u + 4 * (u * (1 - u) / trials) ** 0.5
