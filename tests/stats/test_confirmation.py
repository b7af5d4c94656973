"""How many labels show that an error rate is below a limit."""

import numpy as np
import pytest
from scipy.stats import binom, hypergeom
from statsmodels.stats.proportion import binom_test
from support.simulation import slack

from ragnb.errors import InputError
from ragnb.stats import confirmation_plan

# Sample sizes of Wilks for the limit 5 % with 95 % confidence, by the number of errors.
WILKS = {0: 59, 1: 93, 2: 124, 3: 153, 4: 181, 5: 208}


@pytest.mark.parametrize("error_rate", np.linspace(0, 0.018, 19))
def test_the_numbers_are_those_of_wilks(error_rate):
    plan = confirmation_plan(error_rate, 0.05)
    assert plan.n_labels == WILKS[plan.most_errors]


@pytest.mark.parametrize(
    ("error_rate", "limit"), [(0.0, 0.1), (0.05, 0.1), (0.1, 0.15), (0.2, 0.5)]
)
def test_a_plan_is_the_smallest_one_of_an_exact_test(error_rate, limit):
    plan = confirmation_plan(error_rate, limit)
    n, errors = plan.n_labels, plan.most_errors
    # statsmodels tests against the limit from below.
    assert binom_test(errors, n, limit, alternative="smaller") <= 0.05
    assert binom_test(errors, n - 1, limit, alternative="smaller") > 0.05
    assert binom_test(errors + 1, n, limit, alternative="smaller") > 0.05
    assert plan.power == pytest.approx(binom.cdf(errors, n, error_rate))
    assert plan.power >= 0.8
    for fewer in range(1, n):
        allowed = binom.ppf(0.05, fewer, limit) - 1
        allowed += binom.cdf(allowed + 1, fewer, limit) <= 0.05
        assert binom.cdf(allowed, fewer, error_rate) < 0.8


@pytest.mark.parametrize("n_answers", [1, 2, 7, 40, 300])
def test_of_few_answers_at_most_all_are_labelled(n_answers):
    plan = confirmation_plan(0.05, 0.12, n_answers=n_answers)
    assert plan.n_labels <= n_answers
    too_many = int(0.12 * n_answers) + 1
    assert hypergeom.cdf(plan.most_errors, n_answers, too_many, plan.n_labels) <= 0.05
    assert plan.power >= 0.8


def test_of_very_many_answers_the_number_is_that_of_unlimited_ones():
    few, unlimited = (confirmation_plan(0.02, 0.1, n_answers=n) for n in (10**6, None))
    assert few.n_labels == unlimited.n_labels
    assert few.power == pytest.approx(unlimited.power, abs=1e-4)


@pytest.mark.parametrize("n_answers", [None, 150])
def test_simulated_judges_are_trusted_as_often_as_promised(n_answers):
    rng = np.random.default_rng(11)
    plan = confirmation_plan(0.04, 0.12, n_answers=n_answers)
    trials = 20_000
    if n_answers is None:
        errors = {rate: rng.binomial(plan.n_labels, rate, trials) for rate in (0.04, 0.12)}
    else:
        numbers = {0.04: 6, 0.12: 19}  # of 150 answers: 4 %, and the first above 12 %
        errors = {
            rate: rng.hypergeometric(n, n_answers - n, plan.n_labels, trials)
            for rate, n in numbers.items()
        }
    trusted = {
        rate: float((of_rate <= plan.most_errors).mean()) for rate, of_rate in errors.items()
    }
    assert trusted[0.12] <= 0.05 + slack(0.05, trials)
    assert abs(trusted[0.04] - plan.power) <= slack(plan.power, trials)


def test_what_cannot_be_planned():
    with pytest.raises(InputError, match="error_rate must be below limit, got 0.1 and 0.1"):
        confirmation_plan(0.1, 0.1)
    with pytest.raises(InputError, match="more than 1,000,000 labels"):
        confirmation_plan(0.1, 0.1001)
