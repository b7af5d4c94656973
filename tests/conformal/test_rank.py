"""The rank rule against exact integers, and the law of coverage against scipy, a simulation and published facts."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ragnb.conformal.rank import CoverageLaw, conformal_rank, conformal_threshold, coverage_law, minimum_calibration_size
from ragnb.errors import InputError

PERCENT = [1, 2, 5, 10, 20, 45]
SIZES = range(2001)
scores = st.lists(st.integers(0, 6).map(lambda i: i / 6), max_size=40)
alphas = st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=200)


def right_rank(n: int, percent: int) -> int:
    """The least k with k / (n + 1) >= 1 - percent / 100, in integers."""
    return -((n + 1) * (percent - 100) // 100)


# ---- the rank ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("percent", PERCENT)
def test_the_rank_is_exact_for_every_n_up_to_2000(percent):
    alpha = percent / 100
    wrong = [n for n in SIZES if conformal_rank(n, alpha) != right_rank(n, percent)]
    assert wrong == []


@pytest.mark.parametrize("percent", PERCENT)
def test_it_is_the_least_rank_that_covers_enough(percent):
    wanted = 1 - Fraction(percent, 100)
    for n in (*range(120), 999, 1999):
        rank = conformal_rank(n, percent / 100)
        assert Fraction(rank, n + 1) >= wanted > Fraction(rank - 1, n + 1)


def test_the_float_formula_gives_wrong_ranks():
    wrong = {
        percent: [n for n in SIZES if math.ceil((n + 1) * (1 - percent / 100)) != right_rank(n, percent)]
        for percent in PERCENT
    }
    assert sum(map(len, wrong.values())) > 0
    percent, n = next((percent, cases[0]) for percent, cases in wrong.items() if cases)
    assert conformal_rank(n, percent / 100) == right_rank(n, percent)


def test_the_quantile_recipe_is_one_rank_too_high_almost_always():
    excess = []
    for n in range(20, 400):
        rank = right_rank(n, 10)
        ranks = np.arange(1, n + 1)  # the j-th smallest score is j
        excess.append(int(np.quantile(ranks, min(math.ceil((n + 1) * 0.9) / n, 1), method="higher")) - rank)
    assert set(excess) <= {0, 1}
    assert np.mean(excess) > 0.9


@pytest.mark.parametrize(
    "alpha", [0.1, np.float64(0.1), np.float32(0.1), "0.1", "1/10", Decimal("0.1"), Fraction(1, 10)], ids=repr
)
def test_alpha_may_be_written_in_any_exact_way(alpha):
    assert [conformal_rank(n, alpha) for n in (9, 99, 999)] == [9, 90, 900]


def test_a_rounded_alpha_is_taken_at_its_word():
    assert (conformal_rank(9, 0.1), conformal_rank(9, 1 - 0.9)) == (9, 10)


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 2, math.nan, math.inf, "ten", "1/0", None, True, [0.1], ""], ids=repr)
@pytest.mark.parametrize("function", [conformal_rank, coverage_law])
def test_no_rate_is_refused(function, alpha):
    with pytest.raises(InputError, match=r"alpha needs a number strictly between 0 and 1; it got .*; write 0\.1"):
        function(50, alpha)
    with pytest.raises(InputError, match="alpha"):
        minimum_calibration_size(alpha)


@pytest.mark.parametrize("n", [-1, 2.5, "3", None, math.nan, True], ids=repr)
def test_no_count_is_refused(n):
    with pytest.raises(InputError, match=r"n needs a whole number"):
        conformal_rank(n, 0.1)


# ---- the fewest items --------------------------------------------------------------------------------------------------


@given(alphas)
def test_the_minimum_is_the_first_size_with_a_threshold(alpha):
    first = next(n for n in range(60) if conformal_rank(n, alpha) <= n)
    assert minimum_calibration_size(alpha) == first


def test_known_minima():
    assert [minimum_calibration_size(p / 100) for p in PERCENT] == [99, 49, 19, 9, 4, 2]
    assert minimum_calibration_size(0.999) == 1


# ---- the threshold -----------------------------------------------------------------------------------------------------


@given(scores, alphas)
def test_the_threshold_leaves_enough_scores_below_or_at_it(values, alpha):
    threshold = conformal_threshold(values, alpha)
    rank = conformal_rank(len(values), alpha)
    assert threshold == (sorted(values)[rank - 1] if rank <= len(values) else math.inf)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), alphas)
def test_every_draw_of_the_test_item_is_covered_often_enough(values, alpha):
    """Leave each score out in turn: as the last of exchangeable items, it is covered with probability >= 1 - alpha."""
    covered = sum(value <= conformal_threshold(values[:i] + values[i + 1 :], alpha) for i, value in enumerate(values))
    assert Fraction(covered, len(values)) >= 1 - alpha


def test_the_scores_are_left_as_they_were():
    values = np.array([0.3, 0.1, 0.2])
    assert conformal_threshold(values, 0.5) == 0.2
    assert values.tolist() == [0.3, 0.1, 0.2]


@pytest.mark.parametrize(
    ("values", "said"), [([0.1, math.nan], "nan"), ([[0.1]], "shape"), (["x"], "numbers"), (0.5, "shape")]
)
def test_scores_that_are_none_are_refused(values, said):
    with pytest.raises(InputError, match=f"scores needs .*{said}"):
        conformal_threshold(values, 0.1)


# ---- the law of coverage -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "percent"), [(9, 10), (19, 5), (50, 5), (50, 45), (240, 10), (5000, 1)])
def test_the_law_is_beta(n, percent):
    rank = right_rank(n, percent)
    law, beta = coverage_law(n, percent / 100), stats.beta(rank, n + 1 - rank)
    assert (law.mean, law.sd) == pytest.approx((beta.mean(), beta.std()))
    assert law.band(0.8) == pytest.approx(beta.ppf([0.1, 0.9]))
    assert [law.quantile(q) for q in (0, 0.05, 1)] == pytest.approx([0, beta.ppf(0.05), 1])


def test_the_law_of_240_items():
    law = coverage_law(240, 0.1)
    assert (round(law.sd, 3), round(law.quantile(0.05), 3)) == (0.019, 0.867)
    assert (law.n, law.alpha, law.rank, law.warning) == (240, 0.1, 217, "")


@pytest.mark.parametrize("trials", [400, pytest.param(20_000, marks=pytest.mark.slow)])
def test_the_coverage_of_uniform_scores_follows_the_law(trials):
    """The coverage of a threshold t on uniform scores is t itself."""
    rng = np.random.default_rng(5)
    thresholds = [conformal_threshold(rng.random(60), 0.1) for _ in range(trials)]
    law = coverage_law(60, 0.1)
    assert stats.kstest(thresholds, stats.beta(law.rank, law.n + 1 - law.rank).cdf).pvalue > 1e-3


def test_too_few_items_are_said_with_the_number_that_would_do():
    law = coverage_law(18, 0.05)
    assert (law.mean, law.sd, law.quantile(0.01), law.band()) == (1, 0, 1, (1, 1))
    assert "needs at least 19 calibration items; it got 18, so every label stays" in str(law)
    assert coverage_law(19, 0.05).warning == ""
    assert coverage_law(0, 0.5).mean == 1


def test_the_law_is_a_value():
    assert coverage_law(30, "1/10") == CoverageLaw(30, 0.1, 28)
    with pytest.raises(AttributeError):
        coverage_law(30, 0.1).rank = 3


@pytest.mark.parametrize("probability", [-0.1, 1.1, math.nan])
def test_no_probability_is_refused(probability):
    with pytest.raises(InputError, match="quantile needs a probability"):
        coverage_law(30, 0.1).quantile(probability)


@pytest.mark.parametrize("level", [0, 1, 90, math.nan])
def test_no_level_is_refused(level):
    with pytest.raises(InputError, match="level needs a number strictly between 0 and 1"):
        coverage_law(30, 0.1).band(level)
