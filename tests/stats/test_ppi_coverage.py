"""PPI++ in simulation and on people's verdicts: where it holds its level, where it is too wide and where too narrow.

"Holds" means within .02 of .95, "wide" .93 to 1, "short" .85 to .93; a simulated share may miss its bound by `SD` binomial
standard errors (P below 1e-4 each when it is true). A twin with fewer trials runs unmarked.
"""

from collections.abc import Callable
from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest
from support.simulation import covers, in_few_trials_too, slack

from ragnb.datasets import load_evouna
from ragnb.metrics import contains
from ragnb.stats import PpiInterval, mean_interval, ppi_mean, rogan_gladen

BANDS = {"holds": (0.93, 0.97), "wide": (0.93, 1.0), "short": (0.85, 0.93)}
TRIALS = [pytest.param(2000, marks=pytest.mark.slow, id="2000"), pytest.param(200, id="200")]
OTHERS = 1000
Draw = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]


def check(coverage: float, trials: int, expected: str) -> None:
    lowest, highest = BANDS[expected]
    assert lowest - slack(lowest, trials) <= coverage <= highest + slack(highest, trials)


def simulated(draw: Draw, n: int, trials: int, **options) -> list[PpiInterval]:
    rng = np.random.default_rng(n)
    results = []
    for _ in range(trials):
        truth, verdicts = draw(rng, n + OTHERS)
        results.append(ppi_mean(truth[:n], verdicts[:n], verdicts[n:], **options))
    return results


def rates(p: float, sensitivity: float, specificity: float) -> tuple[Draw, float]:
    def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        truth = rng.random(n) < p
        right = rng.random(n) < np.where(truth, sensitivity, specificity)
        return truth * 1.0, np.where(right, truth, ~truth) * 1.0

    return draw, p


def beta(a: float, b: float, noise: float) -> tuple[Draw, float]:
    def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        truth = rng.beta(a, b, n)
        return truth, np.clip(truth + rng.normal(0.1, noise, n), 0, 1)

    return draw, a / (a + b)


def token_f1(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A quarter 0, half 1, the rest between; mean .625."""
    kind = rng.random(n)
    truth = np.where(kind < 0.25, 0.0, np.where(kind < 0.75, 1.0, rng.random(n)))
    return truth, np.clip(0.7 * truth + 0.2 + rng.normal(0, 0.15, n), 0, 1)


def normal(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    truth = rng.normal(0, 1, n)
    return truth, 0.7 * truth + rng.normal(0.5, 0.7, n)


def graded_judge(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    truth = rng.random(n) < 0.8
    return truth * 1.0, np.clip(0.3 + 0.4 * truth + rng.normal(0, 0.2, n), 0, 1)


EVERY = (20, 50, 100, 300)
TABLE = [
    *[(rates(0.5, 0.6, 0.6), n, "holds") for n in EVERY],
    *[(rates(0.5, 0.8, 0.8), n, "holds" if n > 20 else "wide") for n in EVERY],
    *[(rates(0.8, 0.95, 0.6), n, "holds" if n > 20 else "wide") for n in EVERY],
    *[(rates(0.9, 0.8, 0.8), n, "holds") for n in EVERY],
    *[(rates(0.9, 0.9, 0.9), n, "holds") for n in EVERY],
    *[(rates(0.95, 0.9, 0.9), n, "holds") for n in EVERY],
    *[(rates(0.1, 0.8, 0.95), n, "holds" if n > 20 else "wide") for n in EVERY],
    *[(rates(0.5, 0.95, 0.95), n, "holds" if n > 50 else "wide") for n in EVERY],
    *[(rates(0.9, 0.95, 0.95), n, "holds" if n > 20 else "wide") for n in EVERY],
    *[
        ((draw, truth), n, "holds")
        for draw, truth in ((graded_judge, 0.8), (normal, 0.0), (token_f1, 0.625))
        for n in EVERY
    ],
    *[(beta(2, 2, 0.1), n, "holds") for n in EVERY],
    *[(beta(5, 1, 0.1), n, "holds" if n > 20 else "short") for n in EVERY],
    *[(beta(9, 0.5, 0.05), n, "holds" if n > 100 else "short") for n in EVERY],
]


@pytest.mark.parametrize(
    ("population", "n", "expected", "trials"), in_few_trials_too(TABLE, 2000, 200, 7)
)
def test_coverage(population: tuple[Draw, float], n: int, expected: str, trials: int) -> None:
    draw, truth = population
    results = simulated(draw, n, trials)
    check(np.mean([covers(result, truth) for result in results]), trials, expected)


@pytest.mark.parametrize("trials", TRIALS)
def test_a_biased_judge_alone_is_never_right_however_many_it_judges(trials: int) -> None:
    draw, truth = rates(0.9, 0.9, 0.9)  # it says .82
    results = simulated(draw, 50, trials)
    assert sum(covers(result.judge_only, truth) for result in results) == 0
    check(np.mean([covers(result, truth) for result in results]), trials, "holds")
    assert np.mean([result.effective_sample_size for result in results]) > 65


@pytest.mark.slow
def test_a_fitted_tuning_costs_one_degree_of_freedom_and_no_more() -> None:
    """Normal scores, 20 labels: lambda fitted to the same labels needs no cross-fitting, n - 2 makes up for it."""
    rng, right, naive = np.random.default_rng(0), 0, 0
    for _ in range(10_000):
        truth, verdicts = normal(rng, 320)
        result = ppi_mean(truth[:20], verdicts[:20], verdicts[20:])
        right += covers(result, 0.0)
        naive += covers(ppi_mean(truth[:20], verdicts[:20], verdicts[20:], lam=result.lam), 0.0)
    assert right / 10_000 == pytest.approx(0.945, abs=0.01)
    assert 0.92 < naive / 10_000 < right / 10_000


# ---- clusters ----------------------------------------------------------------------------------------------------------


def responses(
    rng: np.random.Generator, n_questions: int, each: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Several responses a question, alike in truth and in what the judge makes of them; true mean 0."""
    questions = np.repeat(np.arange(n_questions), each)
    shared, taste = rng.normal(0, 1, (2, n_questions))
    truth = shared[questions] + rng.normal(0, 1, questions.size)
    return (
        questions,
        truth,
        0.7 * truth + 0.5 * taste[questions] + rng.normal(0.4, 0.5, questions.size),
    )


@pytest.mark.parametrize("trials", TRIALS)
@pytest.mark.parametrize("by_question", [True, False], ids=["by question", "by response"])
@pytest.mark.parametrize("kind", ["scores", "rates"])
def test_clustered_coverage(kind: str, by_question: bool, trials: int) -> None:
    rng, right, unkeyed = np.random.default_rng(1), 0, 0
    truth = 0.0 if kind == "scores" else NormalDist().cdf(1 / sqrt(2))
    for _ in range(trials):
        questions, labels, verdicts = responses(rng, 300, 3)
        if kind == "rates":
            labels, verdicts = labels > -1, verdicts > -0.5
        drawn = rng.permutation(300 if by_question else 900)[: 50 if by_question else 150]
        has = np.isin(questions if by_question else np.arange(900), drawn)
        lists = labels[has], verdicts[has], verdicts[~has]
        right += covers(
            ppi_mean(*lists, clusters=questions[has], clusters_unlabelled=questions[~has]), truth
        )
        unkeyed += covers(ppi_mean(*lists), truth)
    check(right / trials, trials, "holds" if kind == "scores" else "wide")
    assert unkeyed < right
    assert not by_question or unkeyed / trials < 0.93


# ---- two systems -------------------------------------------------------------------------------------------------------


def pair(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    """Two systems with rates .6 and .5; the judge is right on 70 %, and calls 30 % of the second's answers right unread."""
    shared, z = rng.random(n) < 0.2, rng.random(n)
    first, second = (np.where(shared, z, rng.random(n)) < p for p in (0.6, 0.5))
    said = [np.where(rng.random(n) < 0.7, labels, ~labels) for labels in (first, second)]
    return first, second, said[0], said[1] | (rng.random(n) < 0.3)


@pytest.mark.parametrize("trials", TRIALS)
@pytest.mark.parametrize("n", [20, 100])
def test_difference_coverage(n: int, trials: int) -> None:
    rng, right, judge = np.random.default_rng(n), 0, 0
    for _ in range(trials):
        first, second, first_said, second_said = pair(rng, n + OTHERS)
        labels, said = first * 1.0 - second, first_said * 1.0 - second_said
        result = ppi_mean(labels[:n], said[:n], said[n:], bounds=(-1, 1))
        right += covers(result, 0.1)
        judge += covers(result.judge_only, 0.1)
    check(right / trials, trials, "holds")
    assert judge / trials < 0.2


# ---- people's verdicts: EVOUNA, Natural Questions, New Bing -------------------------------------------------------------


@pytest.fixture(scope="module")
def people(data_folder) -> tuple[np.ndarray, np.ndarray]:
    frame = load_evouna(data_folder / "evouna" / "NQ.json")
    frame = frame[(frame.system == "newbing") & ~frame.improper & frame.verdict.notna()]
    verdicts = [
        contains(response, refs)
        for response, refs in zip(frame.response, frame.references, strict=True)
    ]
    return frame.verdict.to_numpy(dtype=float), np.array(verdicts)


@pytest.mark.data
@pytest.mark.parametrize("trials", TRIALS)
@pytest.mark.parametrize("n", [*EVERY, 200])
def test_people_can_be_asked_about_n_answers_only(people, n: int, trials: int) -> None:
    """All people's verdicts are the truth; n of them, drawn at random, are shown."""
    labels, verdicts = people
    rng, results = np.random.default_rng(n), []
    for _ in range(trials):
        order = rng.permutation(labels.size)
        results.append(ppi_mean(labels[order[:n]], verdicts[order[:n]], verdicts[order[n:]]))
    truth = labels.mean()
    check(np.mean([covers(result, truth) for result in results]), trials, "holds")
    assert not any(covers(result.judge_only, truth) for result in results)
    width, alone = (
        np.mean([x.high - x.low for x in group])
        for group in (results, [r.classical for r in results])
    )
    assert width / alone < 0.87  # a fifth narrower from 50 labels on
    if n == 200:
        assert (width, alone) == pytest.approx((0.090, 0.112), abs=0.003)


@pytest.mark.data
def test_rogan_gladen_is_wider_on_the_same_labels(people) -> None:
    labels, verdicts = people
    rng, widths = np.random.default_rng(0), []
    for _ in range(50):
        order = rng.permutation(labels.size)
        lists = labels[order[:200]], verdicts[order[:200]], verdicts[order[200:]]
        pairs = ppi_mean(*lists), rogan_gladen(*lists), mean_interval(lists[0])
        widths.append([x.high - x.low for x in pairs])
    ppi, corrected, alone = np.mean(widths, axis=0)
    assert ppi < alone < corrected
    assert corrected == pytest.approx(0.156, abs=0.01)
