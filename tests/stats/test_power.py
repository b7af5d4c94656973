"""Numbers of items that an effect needs: statsmodels, the inverse function, enumeration, simulation."""

from math import sqrt

import numpy as np
import pytest
from scipy.stats import binom
from statsmodels.stats.power import TTestPower

from ragnb.errors import InputError
from ragnb.stats import mcnemar_mde, mcnemar_power, mcnemar_size, mean_interval, t_mde, t_size


@pytest.mark.parametrize("effect", [0.05, 0.21, 0.5, 1.3])
@pytest.mark.parametrize(("level", "power"), [(0.95, 0.8), (0.99, 0.9), (0.9, 0.5)])
def test_the_number_of_pairs_is_that_of_statsmodels(effect, level, power):
    theirs = TTestPower()
    plan = t_size(effect, sd=1, confidence_level=level, power=power)
    # Their solver takes numbers of pairs that are not whole.
    assert theirs.power(effect, plan.n_items, 1 - level) >= power
    assert theirs.power(effect, plan.n_items - 1, 1 - level) < power or plan.n_items == 2
    assert plan.power == pytest.approx(theirs.power(effect, plan.n_items, 1 - level), abs=1e-9)


def test_the_size_inverts_the_minimum_detectable_effect():
    plan = t_size(0.03, sd=0.4)
    assert t_mde(0.4 / sqrt(plan.n_items), df=plan.n_items - 1) <= 0.03
    assert t_mde(0.4 / sqrt(plan.n_items - 1), df=plan.n_items - 2) > 0.03


def test_clusters_have_the_power_that_was_planned():
    plan = t_size(0.2, sd=1, cluster_size=5, icc=0.4, power=0.8)
    assert plan.n_items == 5 * plan.n_units
    rng, trials, rejected = np.random.default_rng(1), 2000, 0
    clusters = np.repeat(np.arange(plan.n_units), 5)
    for _ in range(trials):
        shared = rng.normal(0, sqrt(0.4), plan.n_units)[clusters]
        differences = 0.2 + shared + rng.normal(0, sqrt(0.6), clusters.size)
        rejected += mean_interval(differences, clusters).low > 0
    low, high = binom.ppf([0.0005, 0.9995], trials, plan.power) / trials
    assert low <= rejected / trials <= high


def test_clusters_of_one_and_clusters_without_correlation():
    assert t_size(0.1, sd=1).n_items == t_size(0.1, sd=1, cluster_size=1, icc=0.7).n_items
    # Items that are equal within a cluster add nothing.
    assert t_size(0.1, sd=1, cluster_size=6, icc=1).n_units == t_size(0.1, sd=1).n_items


@pytest.mark.parametrize("method", ["mid-p", "exact", "asymptotic"])
@pytest.mark.parametrize(
    ("effect", "discordance"), [(0.1, 0.2), (0.3, 0.3), (0.25, 1.0), (0.6, 0.0), (0.12, 0.5)]
)
def test_no_smaller_number_of_items_has_enough_power(method, effect, discordance):
    plan = mcnemar_size(effect, discordance=discordance, method=method)
    psi = max(effect, discordance)
    shares = (psi + effect) / 2, (psi - effect) / 2
    powers = [mcnemar_power(n, *shares, method, 0.95) for n in range(1, plan.n_items + 1)]
    assert max(powers[:-1]) < 0.8 <= powers[-1]
    assert plan.power == pytest.approx(powers[-1], abs=1e-12)


def test_the_power_by_enumeration():
    n, first_only, second_only = 12, 0.5, 0.1
    plan = mcnemar_size(0.4, discordance=0.6, power=0.3)
    total = 0.0
    for m in range(plan.n_items + 1):
        for b in range(m + 1):
            tail = binom.cdf(min(b, m - b), m, 0.5) - binom.pmf(min(b, m - b), m, 0.5) / 2
            if m and min(1, 2 * tail) <= 0.05:
                total += binom.pmf(m, plan.n_items, 0.6) * binom.pmf(b, m, first_only / 0.6)
    assert plan.power == pytest.approx(total, abs=1e-12)
    assert mcnemar_power(n, first_only, second_only, "mid-p", 0.95) > 0.3


def test_the_size_of_mcnemar_inverts_its_minimum_detectable_effect():
    n = mcnemar_size(0.08, discordance=0.15).n_items
    assert mcnemar_mde(n, discordance=0.15) <= 0.08 < mcnemar_mde(n - 1, discordance=0.15)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: t_size(0, sd=1), "effect must be above 0, got 0"),
        (lambda: t_size(1e-6, sd=1), "more than 1,000,000 items are needed"),
        (lambda: mcnemar_size(1.5, discordance=0.2), "effect must be at most 1, got 1.5"),
        (lambda: mcnemar_size(1e-4, discordance=0.5), "more than 100,000 items are needed"),
        (lambda: mcnemar_size(0.1, discordance=2), "discordance must be between 0 and 1, got 2"),
    ],
)
def test_a_wrong_argument_is_named(call, message):
    with pytest.raises(InputError) as error:
        call()
    assert message in str(error.value)
