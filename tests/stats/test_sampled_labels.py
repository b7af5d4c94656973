"""PPI++ with labels that were drawn with known probabilities, and with several judges."""

import numpy as np
import pytest
from scipy.stats import binom

from ragnb.errors import InputError
from ragnb.stats import inclusion_probabilities, ppi_mean, ppi_sampled_mean
from ragnb.stats.sampled_labels import systematic_sample


def sample(seed=0, n_items=600, n_labels=60, uniform_share=0.5):
    """Labels, verdicts and probabilities, where judges are least certain near 0.5."""
    rng = np.random.default_rng(seed)
    chance = rng.random(n_items)
    truth = (rng.random(n_items) < chance).astype(float)
    verdicts = np.clip(chance + rng.normal(0, 0.1, n_items), 0, 1)
    uncertainty = np.sqrt(verdicts * (1 - verdicts))
    probabilities = inclusion_probabilities(uncertainty, n_labels, uniform_share=uniform_share)
    is_drawn = systematic_sample(probabilities, seed)
    return np.where(is_drawn, truth, np.nan), verdicts, probabilities, truth


def test_the_estimate_and_its_error_by_hand():
    """Two of four items are labelled, with the probabilities 1/2 and 1/4, so the weights are 1/3 and 2/3."""
    labels = [1.0, np.nan, 0.0, np.nan]
    verdicts = np.array([1.0, 0.0, 1.0, 0.0])
    result = ppi_sampled_mean(labels, verdicts, [0.5, 0.5, 0.25, 0.75], lam=0.5, bounds=(-9, 9))
    bias = 1 / 3 * 0.5 + 2 / 3 * -0.5
    assert result.estimate == pytest.approx(0.25 + bias)
    of_items = 0.5 * (verdicts - 0.5) / 4
    of_items[0] += 1 / 3 * (0.5 - bias)
    of_items[2] += 2 / 3 * (-0.5 - bias)
    assert result.standard_error == pytest.approx(np.sqrt(2 * np.sum(of_items**2)))
    assert result.df == 1
    assert result.classical.estimate == pytest.approx(1 / 3)


@pytest.mark.parametrize("lam", [0.0, 0.4, 1.0])
def test_the_estimate_is_that_of_ppi_py_with_weights(lam):
    """ppi_py 0.2.3: ppi_mean_pointestimate(Y, Yhat, Yhat_all, lam=lam, w=1/probability)."""
    labels, verdicts, probabilities, _ = sample()
    is_drawn = ~np.isnan(labels)
    result = ppi_sampled_mean(labels, verdicts, probabilities, lam=lam)
    weights = 1 / probabilities[is_drawn]
    weights = weights / weights.sum() * is_drawn.sum()
    rest = labels[is_drawn] - lam * verdicts[is_drawn]
    assert result.estimate == pytest.approx(lam * verdicts.mean() + (weights * rest).mean())
    ppi_py = pytest.importorskip("ppi_py")
    expected = ppi_py.ppi_mean_pointestimate(
        labels[is_drawn], verdicts[is_drawn], verdicts, lam=lam, w=weights
    )
    assert result.estimate == pytest.approx(float(np.squeeze(expected)))


def test_equal_probabilities_give_the_plain_estimate():
    labels, verdicts, _, _ = sample(uniform_share=1)
    is_drawn = ~np.isnan(labels)
    result = ppi_sampled_mean(labels, verdicts, np.full(600, 0.1), lam=0.5, bounds=(-5, 5))
    n, n_others = is_drawn.sum(), (~is_drawn).sum()
    plain = ppi_mean(labels[is_drawn], verdicts[is_drawn], verdicts[~is_drawn], lam=0.5)
    # The plain estimate takes the mean of the verdicts over the other items only.
    shift = 0.5 * (verdicts.mean() - verdicts[~is_drawn].mean())
    assert result.estimate == pytest.approx(plain.estimate + shift)
    assert (n, n_others) == (result.n_labels, result.n_unlabelled)


def test_the_interval_covers_the_mean_although_items_were_drawn_unequally():
    n_samples, covers = 600, 0
    for seed in range(n_samples):
        labels, verdicts, probabilities, _ = sample(seed)
        result = ppi_sampled_mean(labels, verdicts, probabilities)
        covers += result.low <= 0.5 <= result.high
    # The true mean is 0.5. Bounds of a binomial number with the nominal coverage, at the 0.1 % level.
    low, high = binom.ppf([0.0005, 0.9995], n_samples, 0.95)
    assert low <= covers <= high


def test_labels_alone_without_weights_would_be_biased():
    """Only items with high verdicts are likely to be drawn."""
    rng = np.random.default_rng(2)
    truth = (rng.random(4000) < 0.5).astype(float)
    verdicts = np.where(rng.random(4000) < 0.9, truth, 1 - truth)
    probabilities = inclusion_probabilities(verdicts, 400, uniform_share=0.2)
    labels = np.where(systematic_sample(probabilities, 3), truth, np.nan)
    result = ppi_sampled_mean(labels, verdicts, probabilities)
    assert np.nanmean(labels) > 0.75
    assert result.low < truth.mean() < result.high


def test_two_judges_are_better_than_each_alone_if_their_errors_differ():
    rng = np.random.default_rng(4)
    truth = (rng.random(2000) < 0.5).astype(float)
    first, second = (np.where(rng.random(2000) < 0.8, truth, 1 - truth) for _ in range(2))
    labels = np.where(np.arange(2000) % 10 == 0, truth, np.nan)
    probabilities = np.full(2000, 0.1)
    errors = {
        name: ppi_sampled_mean(labels, verdicts, probabilities).standard_error
        for name, verdicts in {
            "first": first,
            "second": second,
            "both": np.column_stack([first, second]),
        }.items()
    }
    assert errors["both"] < min(errors["first"], errors["second"])
    # The weights are the coefficients of the regression of the labels on both verdicts.
    both = np.column_stack([first, second])
    is_labelled = ~np.isnan(labels)
    design = np.column_stack([np.ones(200), both[is_labelled]])
    weights = np.linalg.lstsq(design, labels[is_labelled])[0][1:]
    expected = (both @ weights).mean() + (labels[is_labelled] - both[is_labelled] @ weights).mean()
    assert ppi_sampled_mean(labels, both, probabilities).estimate == pytest.approx(expected)


def test_clusters_widen_the_interval_of_items_that_are_alike():
    rng = np.random.default_rng(5)
    values = np.repeat(rng.random(100) < 0.5, 5).astype(float)
    labels = np.where(np.repeat(np.arange(100) % 2 == 0, 5), values, np.nan)
    options = {"lam": 0, "bounds": (-5, 5)}
    alone = ppi_sampled_mean(labels, np.zeros(500), np.full(500, 0.5), **options)
    clustered = ppi_sampled_mean(
        labels, np.zeros(500), np.full(500, 0.5), clusters=np.repeat(range(100), 5), **options
    )
    # Rows of a cluster are equal, so the standard error grows by the root of their number.
    assert clustered.standard_error / alone.standard_error == pytest.approx(np.sqrt(5), rel=0.02)
    assert clustered.n == 50


def test_items_are_drawn_with_their_probabilities():
    probabilities = inclusion_probabilities([0, 1, 2, 3, 4, 10], 3, uniform_share=0.2)
    assert probabilities.sum() == pytest.approx(3)
    assert probabilities[-1] == 1
    n_draws = 4000
    drawn = sum(systematic_sample(probabilities, seed) for seed in range(n_draws))
    for count, probability in zip(drawn, probabilities, strict=True):
        low, high = binom.ppf([0.0001, 0.9999], n_draws, probability)
        assert low <= count <= high


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, np.nan], [1], [0.5, 0.5]), "one entry per item, got 2, 1 and 2"),
        (([1, np.nan], [1, np.nan], [0.5, 0.5]), "a verdict for every item, got 1 missing"),
        (([1, 0], [1, 0], [0.5, 0.0]), "above 0 and at most 1, got 0"),
        (([1, np.nan], [1, 0], [0.5, 0.5]), "at least 2 labels, got 1"),
    ],
)
def test_what_cannot_be_estimated_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        ppi_sampled_mean(*arguments)


def test_more_items_than_there_are_cannot_be_drawn():
    with pytest.raises(InputError, match="at most the number of items, 2, got 3"):
        inclusion_probabilities([1, 1], 3)
    assert inclusion_probabilities([0, 0, 0], 3).tolist() == [1, 1, 1]
