"""The jackknife interval: against brute force with another library, over clusters, at the edges, and its coverage."""

import math

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from ragnb.stats import cohen_kappa, jackknife_interval
from ragnb.stats.agreement import agreement_sums


def two_raters(n=200, seed=0, n_clusters=40):
    """Two raters who share a doubt about a cluster, so that their agreement is clustered."""
    rng = np.random.default_rng(seed)
    clusters = np.arange(n) % n_clusters
    doubt = rng.beta(0.6, 1.5, n_clusters)[clusters] / 2
    first = (rng.random(n) < 0.6).astype(int)
    return np.column_stack([first, np.where(rng.random(n) < doubt, 1 - first, first)]), clusters


def kappa_sums(tables):
    """Sums of units, each given as how often two raters say yes and yes, yes and no, no and yes, no and no."""
    cells = np.array([[1, 1], [1, 0], [0, 1], [0, 0]])
    units = [agreement_sums(np.repeat(cells, table, axis=0), 2).sum(axis=0) for table in tables]
    return np.array(units)


def test_over_clusters_it_is_the_brute_force_with_another_library():
    codes, clusters = two_raters()
    without = [cohen_kappa_score(*codes[clusters != one].T) for one in range(40)]
    whole = cohen_kappa_score(*codes.T)
    pseudo = 40 * whole - 39 * np.array(without)
    half = 2.0226909 * pseudo.std(ddof=1) / math.sqrt(40)  # t(39) at 0.975
    found = jackknife_interval(cohen_kappa, agreement_sums(codes, 2, clusters))
    assert (found.estimate, found.low, found.high) == pytest.approx(
        (whole, whole - half, whole + half)
    )
    assert (found.method, found.n) == ("jackknife t", 40)


@pytest.mark.parametrize(
    ("tables", "reason"),
    [
        ([[3, 1, 0, 2]], "at least 2 units are needed, got 1"),
        ([[3, 0, 0, 0], [2, 0, 0, 0]], "the statistic is undefined"),
        ([[3, 0, 0, 0], [2, 1, 1, 1]], "the statistic is undefined without one of the units"),
        ([[2, 1, 1, 2]] * 5, "leaving out a unit never changes the statistic"),
    ],
)
def test_an_undefined_interval_says_why(tables, reason):
    found = jackknife_interval(cohen_kappa, kappa_sums(tables))
    assert math.isnan(found.low)
    assert found.problem == reason


@pytest.mark.parametrize("trials", [100, pytest.param(2000, marks=pytest.mark.slow)])
def test_clustered_intervals_contain_the_truth_about_as_often_as_they_say(trials):
    truth = float(cohen_kappa(agreement_sums(two_raters(400_000, 1, 100_000)[0], 2).sum(axis=0)))
    hits = np.zeros(2)
    for trial in range(trials):
        codes, clusters = two_raters(240, 1000 + trial, 60)
        for place, units in enumerate((clusters, None)):
            found = jackknife_interval(cohen_kappa, agreement_sums(codes, 2, units))
            hits[place] += found.low <= truth <= found.high
    with_clusters, without = hits / trials
    lowest, highest = (0.93, 0.97) if trials >= 2000 else (0.85, 1.0)
    assert lowest <= with_clusters <= highest
    assert without < with_clusters
