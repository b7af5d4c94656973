"""Coefficients as functions of sums against those of ragnb.stats.agreement and of other libraries."""

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.metrics import cohen_kappa_score

from ragnb.errors import InputError
from ragnb.stats import agreement, verdicts
from ragnb.stats.rater_sums import (
    RATER_COEFFICIENTS,
    ac1_of,
    alpha_of,
    fleiss_of,
    kappa_of,
    percent_of,
    rater_sums,
    rater_tables,
)

OURS = {
    "percent agreement": lambda ratings, q: agreement.percent_agreement(ratings),
    "Fleiss' kappa": lambda ratings, q: agreement.fleiss_kappa(ratings, categories=range(q)),
    "Gwet's AC1": lambda ratings, q: agreement.gwet_ac(ratings, categories=range(q)),
    "Krippendorff's alpha": lambda ratings, q: agreement.krippendorff_alpha(ratings, categories=range(q)),
}


def gaps(codes):
    return np.where(codes < 0, np.nan, codes.astype(float))


@settings(max_examples=60)
@given(arrays.arrays(np.int64, st.tuples(st.integers(2, 12), st.integers(2, 4)), elements=st.integers(-1, 2)))
def test_whole_sums_give_the_coefficients_of_items(codes):
    kept = codes[(codes >= 0).sum(axis=1) >= 2]
    if not len(kept):
        return
    total = rater_sums(codes, 3).sum(axis=0)
    for name, of in RATER_COEFFICIENTS.items():
        expected = OURS[name](gaps(kept), 3).estimate
        assert float(of(total)) == pytest.approx(expected, abs=1e-9, nan_ok=True), name


def test_alpha_is_that_of_the_krippendorff_package():
    rng = np.random.default_rng(5)
    codes = rng.integers(-1, 4, size=(60, 3))
    codes[:30, 1] = codes[:30, 0]
    theirs = krippendorff.alpha(gaps(codes).T, level_of_measurement="nominal", value_domain=range(4))
    assert float(alpha_of(rater_sums(codes, 4).sum(axis=0))) == pytest.approx(theirs)


def test_kappa_is_that_of_scikit_learn():
    rng = np.random.default_rng(6)
    first = rng.integers(0, 4, 80)
    second = np.where(rng.random(80) < 0.6, first, rng.integers(0, 4, 80))
    tables = rater_tables(first, second, 4, np.arange(80) // 4)
    assert tables.shape == (20, 4, 4)
    assert float(kappa_of(tables.sum(axis=0))) == pytest.approx(cohen_kappa_score(first, second))


def test_two_yes_no_raters_are_those_of_verdicts():
    rng = np.random.default_rng(7)
    codes = rng.integers(0, 2, (40, 2))
    counts = verdicts.verdict_counts(codes[:, 0], codes[:, 1]).sum(axis=0)
    total = rater_sums(codes, 2).sum(axis=0)
    assert float(percent_of(total)) == pytest.approx(float(verdicts.agreement_of(counts)))
    assert float(ac1_of(total)) == pytest.approx(float(verdicts.ac1_of(counts)))
    assert float(alpha_of(total)) == pytest.approx(float(verdicts.alpha_of(counts)))
    table = rater_tables(codes[:, 0], codes[:, 1], 2).sum(axis=0)
    assert float(kappa_of(table)) == pytest.approx(float(verdicts.kappa_of(counts)))


def test_fleiss_worked_by_hand():
    # Items rated (2, 1), (3, 0), (0, 3): agreement 1/3, 1, 1; shares 5/9 and 4/9.
    total = rater_sums([[0, 0, 1], [0, 0, 0], [1, 1, 1]], 2).sum(axis=0)
    observed, expected = 7 / 9, (5 / 9) ** 2 + (4 / 9) ** 2
    assert float(fleiss_of(total)) == pytest.approx((observed - expected) / (1 - expected))


def test_sums_of_clusters_add_up():
    rng = np.random.default_rng(8)
    codes, clusters = rng.integers(-1, 3, (30, 3)), rng.integers(0, 5, 30)
    whole = rater_sums(codes, 3, clusters)
    assert whole.shape == (5, 9)
    np.testing.assert_allclose(whole.sum(axis=0), rater_sums(codes, 3).sum(axis=0))
    np.testing.assert_allclose(whole[2], rater_sums(codes[clusters == 2], 3).sum(axis=0))


def test_one_category_is_undefined_but_for_percent_and_ac1():
    total = rater_sums([[1, 1]] * 4, 3).sum(axis=0)
    assert float(percent_of(total)) == 1
    assert float(ac1_of(total)) == 1
    assert np.isnan([fleiss_of(total), alpha_of(total), kappa_of(rater_tables([1] * 4, [1] * 4, 3).sum(axis=0))]).all()


def test_nothing_rated_twice_is_undefined():
    total = rater_sums([[1, -1], [-1, -1]], 2).sum(axis=0)
    assert not total.any()
    assert np.isnan([of(total) for of in RATER_COEFFICIENTS.values()]).all()


def test_codes_that_are_none_are_refused():
    for codes in ([[0, 3]], [[-2, 0]], [0, 1]):
        with pytest.raises(InputError, match="rater sums need items x raters"):
            rater_sums(codes, 3)
    with pytest.raises(InputError, match="one key per item"):
        rater_sums([[0, 1]], 2, [1, 2])
