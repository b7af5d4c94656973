"""Published means and standard deviations: published cases, enumeration of all samples, messages."""

from fractions import Fraction
from itertools import combinations_with_replacement
from statistics import pstdev, stdev

import numpy as np
import pytest

from ragnb.errors import InputError
from ragnb.stats import check_mean


@pytest.mark.parametrize(
    ("mean", "n", "possible"),
    [
        ("5.19", 28, False),  # the example of Brown & Heathers (2017): 5.18 or 5.21
        ("5.18", 28, True),
        ("5.21", 28, True),
        ("3.45", 20, True),
        ("3.47", 20, False),
    ],
)
def test_the_grim_test_of_its_authors(mean, n, possible):
    assert check_mean(mean, n, bounds=(1, 7)).mean_is_possible is possible


@pytest.mark.parametrize(("bounds", "step"), [((0, 1), 1), ((1, 5), 1), ((0, 1), 0.5)])
def test_means_and_sds_of_all_samples_are_possible_and_others_are_not(bounds, step):
    scores = np.arange(bounds[0], bounds[1] + step, step).tolist()
    for n in (2, 3, 7):
        samples = list(combinations_with_replacement(scores, n))
        exact = {Fraction(sum(sample)) / n for sample in samples}
        for hundredths in range(100 * bounds[0], 100 * bounds[1] + 1):
            mean = Fraction(hundredths, 100)
            text = f"{hundredths / 100:.2f}"
            near = [value for value in exact if abs(value - mean) <= Fraction(1, 200)]
            check = check_mean(text, n, sd="0.00", step=step, bounds=bounds)
            assert check.mean_is_possible == bool(near)
            if near:
                assert check.totals == (min(near) * n, max(near) * n)
                with_mean = [s for s in samples if Fraction(sum(s)) / n in near]
                sds, population = map(stdev, with_mean), map(pstdev, with_mean)
                sds, population = sorted(sds), sorted(population)
                assert check.sd_range == pytest.approx((sds[0], sds[-1]), abs=1e-12)
                assert check.population_sd_range == pytest.approx(
                    (population[0], population[-1]), abs=1e-12
                )


def test_an_sd_is_possible_with_either_divisor():
    # Half of 20 scores are 1: 0.513 with n - 1, 0.5 with n.
    assert check_mean("0.50", 20, sd="0.51").sd_is_possible
    assert "(0.513 to 0.513)" in str(check_mean("0.50", 20, sd="0.51"))
    assert "only with the divisor n (0.500 to 0.500)" in str(check_mean("0.50", 20, sd="0.50"))
    assert not check_mean("0.50", 20, sd="0.48").sd_is_possible
    assert "an sd of 0.48 is not possible" in str(check_mean("0.50", 20, sd="0.48"))


def test_a_mean_between_two_printed_values_may_be_rounded_either_way():
    for mean in ("0.12", "0.13"):  # 1 of 8 is 0.125
        assert check_mean(mean, 8).totals == (1.0, 1.0)
    for mean in ("12.5%", "12.5 %", ".125", "0.125"):
        assert check_mean(mean, 8).mean_is_possible


def test_the_nearest_totals_have_one_more_decimal():
    assert str(check_mean("87.2%", 300)) == (
        "87.2% is not a possible mean of 300 scores: the nearest totals are 261 (87.00%) and 262 (87.33%)"
    )


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((0.5, 20), {}, "as it is printed, such as '0.50' or '87.3%', got 0.5"),
        (("0,5", 20), {}, "got '0,5'"),
        (("1.2", 20), {}, "mean must be between the bounds 0 and 1, got 1.2"),
        (("3", 20), {"bounds": (1, 4), "step": 2}, "multiple of step = 2, got 1 and 4"),
        (("0.5", 1), {"sd": "0.1", "bounds": (0, 1), "step": 0.5}, "at least 2 scores"),
        (("0.5", 20), {"sd": "-0.1"}, "must not be negative, got -0.1"),
        (("0.5", 0), {}, "n must be a whole number of at least 1, got 0"),
    ],
)
def test_a_wrong_argument_is_named(arguments, options, message):
    with pytest.raises(InputError) as error:
        check_mean(*arguments, **options)
    assert message in str(error.value)
