"""Every test keeps its level, P(p <= a) <= a + tolerance under the null, and finds planted effects.

The tolerance is `SD` binomial standard errors of the simulated share (P below 1e-4 each). Tests that promise an exact level
are held to a itself; asymptotic ones to a plus the excess stated in the table.
"""

from collections.abc import Callable

import numpy as np
import pytest

from ragnb.results import SignificanceResult
from ragnb.stats.binary import PairedTable, mcnemar_test, paired_table, tango_test
from ragnb.stats.multiplicity import benjamini_hochberg, holm
from ragnb.stats.paired import paired_t_test, sign_flip_test, tost, wilcoxon_test
from ragnb.stats.power import mcnemar_mde
from ragnb.stats.prediction import delong_test

SD = 3.8
LEVELS = (0.01, 0.05, 0.1)
N = 40
Draw = Callable[[np.random.Generator, float], SignificanceResult]


def graded(rng: np.random.Generator, effect: float) -> np.ndarray:
    """Differences of two F1-like scores: three in ten are 0, the others multiples of .05, symmetric about `effect`."""
    d = np.where(rng.random(N) < 0.3, 0.0, rng.integers(-20, 21, N) / 20)
    return d + effect


def binary(rng: np.random.Generator, effect: float) -> tuple[np.ndarray, np.ndarray]:
    cell = rng.choice(4, N, p=[0.4, 0.15 + effect / 2, 0.15 - effect / 2, 0.3])
    return cell <= 1, (cell == 0) | (cell == 2)


def clustered(rng: np.random.Generator, effect: float) -> tuple[np.ndarray, np.ndarray]:
    clusters = np.repeat(np.arange(N), 3)
    return effect + rng.normal(size=N)[clusters] + rng.normal(size=3 * N), clusters


def ranked(rng: np.random.Generator, effect: float) -> SignificanceResult:
    labels = np.arange(80) < 40
    shared = rng.normal(size=80)
    first, second = labels * (1 + effect) + shared, labels + 0.0 + shared
    return delong_test(labels, first + rng.normal(size=80), second + rng.normal(size=80))


#: test, excess over the level that is allowed beside sampling error, planted effect
TESTS: dict[str, tuple[Draw, float, float]] = {
    "sign-flip": (lambda rng, e: sign_flip_test(graded(rng, e)), 0.0, 0.35),
    "wilcoxon": (lambda rng, e: wilcoxon_test(graded(rng, e)), 0.0, 0.35),
    "paired t": (lambda rng, e: paired_t_test(graded(rng, e)), 0.004, 0.35),
    "mcnemar exact": (
        lambda rng, e: mcnemar_test(paired_table(*binary(rng, e)), method="exact"),
        0.0,
        0.3,
    ),
    "mcnemar mid-p": (lambda rng, e: mcnemar_test(paired_table(*binary(rng, e))), 0.004, 0.3),
    "mcnemar asymptotic": (lambda rng, e: tango_test(paired_table(*binary(rng, e))), 0.012, 0.3),
    "mcnemar cc": (
        lambda rng, e: mcnemar_test(paired_table(*binary(rng, e)), method="asymptotic-cc"),
        0.0,
        0.3,
    ),
    "cluster t": (lambda rng, e: _cluster(paired_t_test, rng, e), 0.004, 0.65),
    "cluster sign-flip": (lambda rng, e: _cluster(sign_flip_test, rng, e), 0.0, 0.65),
    "delong": (ranked, 0.015, 2.0),
}


def _cluster(test, rng: np.random.Generator, effect: float) -> SignificanceResult:
    values, clusters = clustered(rng, effect)
    return test(values, clusters=clusters)


def simulate(draw: Draw, effect: float, trials: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.array([draw(rng, effect).p_value for _ in range(trials)])


@pytest.mark.parametrize("trials", [pytest.param(4000, marks=pytest.mark.slow), 300])
@pytest.mark.parametrize("name", TESTS)
def test_level(name: str, trials: int) -> None:
    draw, excess, _effect = TESTS[name]
    p = simulate(draw, 0.0, trials, seed=1)
    for level in LEVELS:
        assert np.mean(p <= level) <= level + excess + SD * np.sqrt(level * (1 - level) / trials)


@pytest.mark.parametrize("trials", [pytest.param(1000, marks=pytest.mark.slow), 100])
@pytest.mark.parametrize("name", TESTS)
def test_power(name: str, trials: int) -> None:
    draw, _excess, effect = TESTS[name]
    p = simulate(draw, effect, trials, seed=2)
    # every planted effect is found with a true power of .8 or more
    assert np.mean(p <= 0.05) >= 0.8 - SD * np.sqrt(0.8 * 0.2 / trials)


@pytest.mark.parametrize("trials", [pytest.param(4000, marks=pytest.mark.slow), 400])
def test_ignoring_clusters_breaks_the_level(trials: int) -> None:
    p = simulate(lambda rng, e: paired_t_test(clustered(rng, e)[0]), 0.0, trials, seed=3)
    assert np.mean(p <= 0.05) > 0.1 + SD * np.sqrt(0.1 * 0.9 / trials) * (trials >= 4000)


@pytest.mark.parametrize("trials", [pytest.param(4000, marks=pytest.mark.slow), 400])
def test_tost_keeps_its_level_at_the_margin_and_finds_equivalence(trials: int) -> None:
    rng = np.random.default_rng(4)
    at_margin = np.mean([tost(rng.normal(0.5, 1, N), margin=0.5).equivalent for _ in range(trials)])
    assert at_margin <= 0.05 + SD * np.sqrt(0.05 * 0.95 / trials)
    equal = np.mean([tost(rng.normal(0.0, 1, N), margin=0.7).equivalent for _ in range(trials)])
    assert equal >= 0.95 - SD * np.sqrt(0.05 * 0.95 / trials)


@pytest.mark.parametrize("trials", [pytest.param(4000, marks=pytest.mark.slow), 1000])
def test_corrections_keep_their_error_rates(trials: int) -> None:
    rng = np.random.default_rng(5)
    null = rng.random((trials, 8))
    false = np.mean([min(holm(row).adjusted) <= 0.05 for row in null])
    assert false <= 0.05 + SD * np.sqrt(0.05 * 0.95 / trials)
    null[:, :4] **= 20  # four real effects
    shares = []
    for row in null:
        found = np.array(benjamini_hochberg(row).adjusted) <= 0.05
        shares.append(found[4:].sum() / max(found.sum(), 1))
    # independent p-values: the false discovery rate is 4/8 of .05
    assert np.mean(shares) == pytest.approx(0.025, abs=SD * np.std(shares) / np.sqrt(trials))


@pytest.mark.parametrize("trials", [pytest.param(4000, marks=pytest.mark.slow), 400])
def test_planned_power_is_reached(trials: int) -> None:
    from statsmodels.stats.power import TTestPower

    rng = np.random.default_rng(6)
    planned = TTestPower().power(0.45, N, 0.05)
    reached = np.mean(
        [paired_t_test(rng.normal(0.45, 1, N)).p_value <= 0.05 for _ in range(trials)]
    )
    assert reached == pytest.approx(planned, abs=SD * np.sqrt(planned * (1 - planned) / trials))
    effect = mcnemar_mde(117, discordance=0.35, method="asymptotic")
    draws = rng.multinomial(117, (0.4, (0.35 + effect) / 2, (0.35 - effect) / 2, 0.25), trials)
    found = np.mean([tango_test(PairedTable(*map(int, row))).p_value <= 0.05 for row in draws])
    assert found == pytest.approx(0.8, abs=SD * np.sqrt(0.8 * 0.2 / trials))
