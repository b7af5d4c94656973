"""Ratios in simulation: where Fieller and the jackknife hold their level and where not, and what the zero rule costs.

"Holds" means within .02 of .95, "near" .90 to .95, "short" below .93; a simulated share may miss its bound by `SD` binomial
standard errors (P below 1e-4 each when it is true). A twin with fewer trials runs unmarked.
"""

import numpy as np
import pytest
from support.simulation import MANY_AND_FEW, check, covers, in_few_trials_too, share, slack

from ragnb.stats import compare_ratios, fieller_interval, mean_of_ratios

Pair = tuple[np.ndarray, np.ndarray]


# ---- one ratio of means ------------------------------------------------------------------------------------------------


def token_f1(rng: np.random.Generator, n: int) -> np.ndarray:
    kind = rng.random(n)
    return np.where(kind < 0.15, 0.0, np.where(kind < 0.65, 1.0, rng.random(n)))


def bridged(rng: np.random.Generator, n: int) -> Pair:
    """Token F1 gained and tokens spent: 30 % of the items need no translation, and change nothing."""
    paid = rng.random(n) < 0.7
    gain = np.where(paid, token_f1(rng, n) - token_f1(rng, n) * rng.random(n), 0.0)
    return gain, np.where(paid, rng.gamma(2, 15, n), 0.0)


def rising(rng: np.random.Generator, n: int) -> Pair:
    """Dear items are worth more: E(gain | cost) = cost - 2 where anything is spent, cost Gamma(5), 30 % zeros."""
    paid, cost = rng.random(n) < 0.7, rng.gamma(5, 1, n)
    return np.where(paid, cost - 2 + rng.normal(0, 2, n), 0.0), np.where(paid, cost, 0.0)


def lognormal(rng: np.random.Generator, n: int) -> Pair:
    cost = rng.lognormal(0, 1, n)
    return cost * rng.exponential(1, n), cost


def normal(rng: np.random.Generator, n: int) -> Pair:
    cost = rng.normal(1, 1, n)
    return 0.5 * cost + rng.normal(0, 1, n), cost


def near_zero(rng: np.random.Generator, n: int) -> Pair:
    """The mean denominator is one standard error from 0."""
    cost = rng.normal(1 / np.sqrt(n), 1, n)
    return 0.5 + 0.5 * cost + rng.normal(0, 1, n), cost


# E F1 = .5 + .35 / 2 = .675; .675 - .675 / 2 over 30
TRUTH = {bridged: 0.3375 / 30, rising: 0.6, lognormal: 1.0, normal: 0.5}
RATIO_TABLE = [
    *[(draw, n, "holds") for draw in (bridged, rising, normal) for n in (20, 50, 100, 300)],
    *[(lognormal, n, "near") for n in (20, 50, 100, 300)],
]


@pytest.mark.parametrize(
    ("draw", "n", "expected", "trials"), in_few_trials_too(RATIO_TABLE, 4000, 200, 3)
)
def test_ratio_coverage(draw, n: int, expected: str, trials: int) -> None:
    def happens(rng: np.random.Generator) -> bool:
        return fieller_interval(*draw(rng, n)).contains(TRUTH[draw])

    check(share(trials, happens, seed=n), trials, expected)


@pytest.mark.parametrize(
    "trials",
    [pytest.param(20_000, marks=pytest.mark.slow, id="20000"), pytest.param(1000, id="1000")],
)
@pytest.mark.parametrize("n", [5, 20, 100])
def test_fieller_is_exact_for_normal_pairs_with_the_denominator_near_0(n: int, trials: int) -> None:
    truth, kinds = 0.5 + 0.5 * np.sqrt(n), set()

    def happens(rng: np.random.Generator) -> bool:
        found = fieller_interval(*near_zero(rng, n))
        kinds.add(found.kind)
        return found.contains(truth)

    assert share(trials, happens, n) == pytest.approx(0.95, abs=slack(0.95, trials))
    assert {"bounded", "two rays"} <= kinds  # no bounded interval can do that


# ---- clusters ----------------------------------------------------------------------------------------------------------


def by_question(
    rng: np.random.Generator, n_clusters: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three languages a question; ratio 1/2."""
    questions = np.repeat(np.arange(n_clusters), 3)
    cost = 10 + rng.normal(0, 2, n_clusters)[questions] + rng.normal(0, 2, questions.size)
    gain = 0.5 * cost + rng.normal(0, 2, n_clusters)[questions] + rng.normal(0, 1, questions.size)
    return gain, cost, questions


@pytest.mark.parametrize("trials", MANY_AND_FEW)
@pytest.mark.parametrize(("keyed", "expected"), [(True, "holds"), (False, "short")])
def test_clustered_coverage(keyed: bool, expected: str, trials: int) -> None:
    def happens(rng: np.random.Generator) -> bool:
        gain, cost, questions = by_question(rng, 50)
        return covers(fieller_interval(gain, cost, clusters=questions if keyed else None), 0.5)

    check(share(trials, happens, 50), trials, expected)


# ---- two ratios --------------------------------------------------------------------------------------------------------


def two_bridges(rng: np.random.Generator, n: int) -> tuple[Pair, Pair]:
    """Two systems over one baseline, the second cheaper: their ratios .00875 and .0125 of F1 a token."""
    baseline, hard = 0.5 * token_f1(rng, n), rng.random(n) < 0.7
    first = (token_f1(rng, n) - baseline + 0.1875, rng.gamma(3, 20, n))
    second = (
        np.where(hard, token_f1(rng, n) - baseline, 0.0),
        np.where(hard, rng.gamma(2, 13.5, n), 0.0),
    )
    return first, second


def two_lognormal(rng: np.random.Generator, n: int) -> tuple[Pair, Pair]:
    return lognormal(rng, n), lognormal(rng, n)


def one_weak(rng: np.random.Generator, n: int) -> tuple[Pair, Pair]:
    """The first mean cost is sqrt(n) / 4 standard errors from 0."""
    shared = rng.normal(0, 1, n)
    return (1 + shared + rng.normal(0, 1, n), rng.normal(1, 4, n)), (
        1 + shared,
        rng.normal(3, 1, n),
    )


COMPARISONS = {
    two_bridges: (0.525 / 60, 0.3375 / 27),
    two_lognormal: (1.0, 1.0),
    one_weak: (1.0, 1 / 3),
}
COMPARISON_TABLE = [
    *[(draw, n, "holds") for draw in (two_bridges, two_lognormal) for n in (20, 50, 100, 300)],
    (one_weak, 50, "short"),
    *[(one_weak, n, "near") for n in (100, 300)],
]


@pytest.mark.parametrize(
    ("draw", "n", "expected", "trials"), in_few_trials_too(COMPARISON_TABLE, 4000, 200, 3)
)
def test_comparison_coverage(draw, n: int, expected: str, trials: int) -> None:
    truth = np.subtract(*COMPARISONS[draw])

    def happens(rng: np.random.Generator) -> bool:
        first, second = draw(rng, n)
        interval = compare_ratios(*first, *second).interval
        return covers(interval, truth)

    check(share(trials, happens, n), trials, expected)


# ---- the rule for items that cost nothing ------------------------------------------------------------------------------


def test_the_zero_rule_in_numbers() -> None:
    """Of `rising`: ratio of means .7 * 3 / (.7 * 5) = .6; mean of ratios 1 - 2 E(1 / cost) = 1 - 2 / 4 = .5, with zeros .35."""
    gain, cost = rising(np.random.default_rng(0), 400_000)
    of_means = fieller_interval(gain, cost, confidence_level=0.9999)
    left_out, counted = (
        mean_of_ratios(gain, cost, zero=zero, confidence_level=0.9999) for zero in ("nan", "zero")
    )
    assert of_means.contains(0.6)
    assert left_out.low <= 0.5 <= left_out.high
    assert counted.low <= 0.35 <= counted.high
    assert counted.estimate / of_means.estimate == pytest.approx(
        7 / 12, abs=0.01
    )  # .58 of what was bought
    assert counted.estimate / left_out.estimate == pytest.approx(np.mean(cost > 0))
