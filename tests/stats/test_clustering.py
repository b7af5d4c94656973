"""Intraclass correlation: against an analysis of variance, a published example and simulations."""

import numpy as np
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from statsmodels.stats.anova import anova_lm

import ragnb
from ragnb.errors import InputError
from ragnb.stats import intraclass_correlation


def simulated(icc, n_clusters=200, sizes=(5,), seed=0):
    rng = np.random.default_rng(seed)
    size_of_cluster = np.resize(sizes, n_clusters)
    clusters = np.repeat(np.arange(n_clusters), size_of_cluster)
    shared = rng.normal(0, np.sqrt(icc), n_clusters)[clusters]
    return shared + rng.normal(0, np.sqrt(1 - icc), clusters.size), clusters


@pytest.mark.parametrize("sizes", [(5,), (1, 2, 7)])
def test_mean_squares_are_those_of_an_analysis_of_variance(sizes):
    values, clusters = simulated(0.3, sizes=sizes)
    data = {"value": values, "cluster": clusters}
    table = anova_lm(smf.ols("value ~ C(cluster)", data).fit())
    between, within = table["mean_sq"]
    n = np.bincount(clusters)
    m = (n.sum() - (n**2).sum() / n.sum()) / (n.size - 1)
    found = intraclass_correlation(values, clusters)
    assert found.icc == pytest.approx((between - within) / (between + (m - 1) * within))
    assert found.design_effect == pytest.approx(1 + (m - 1) * found.icc)


def test_clusters_of_one_size_as_the_mixed_model_of_statsmodels():
    values, clusters = simulated(0.3, n_clusters=500)
    fitted = sm.MixedLM(values, np.ones_like(values), clusters).fit(reml=True)
    variance = float(np.asarray(fitted.cov_re)[0, 0])
    expected = variance / (variance + fitted.scale)
    assert intraclass_correlation(values, clusters).icc == pytest.approx(expected, abs=1e-4)


def test_ratings_of_shrout_and_fleiss():
    """Shrout & Fleiss (1979): six targets, four judges, ICC(1, 1) = .17."""
    ratings = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    found = intraclass_correlation(np.ravel(ratings), np.repeat(np.arange(6), 4))
    assert round(found.icc, 2) == 0.17
    assert found.cluster_size == 4


def test_the_design_effect_is_that_of_the_variance_of_means():
    """Means of 4,000 simulated data sets of 100 clusters; the standard error of a variance is 2.2 %."""
    means, effects = [], []
    for seed in range(4000):
        values, clusters = simulated(0.2, n_clusters=100, seed=seed)
        means.append(values.mean())
        effects.append(intraclass_correlation(values, clusters).design_effect)
    assert np.var(means) / (1 / 500) == pytest.approx(np.mean(effects), rel=4 * 0.022)
    assert np.mean(effects) == pytest.approx(1.8, rel=0.01)


def test_words_and_what_is_refused():
    assert "design effect 1.66 (" in ragnb.stats.Clustering(0.165, 5, 1.66, 10, 2).__repr__()
    assert np.isnan(intraclass_correlation([1.0] * 4, [0, 0, 1, 1]).icc)
    for clusters in ([0, 1, 2, 3], [0, 0, 0, 0]):
        with pytest.raises(InputError, match="two or more clusters, one of them with two"):
            intraclass_correlation([1, 0, 1, 0], clusters)
