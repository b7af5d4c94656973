"""Coefficients of agreement: definitions, other libraries, invariants, edges, and the jackknife interval."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragnb.errors import InputError
from ragnb.stats import (
    agreement_interval,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    percent_agreement,
)
from ragnb.stats.agreement import COEFFICIENTS, GRADED, OF_TWO, agreement_sums

ANY_NUMBER = [name for name in COEFFICIENTS if name not in OF_TWO]
ratings = st.lists(
    st.lists(st.sampled_from([0.0, 1.0, 2.0, np.nan]), min_size=3, max_size=3),
    min_size=2,
    max_size=12,
)


def total(codes, n_categories):
    return agreement_sums(np.asarray(codes), n_categories).sum(axis=0)


# ---- formulas ----------------------------------------------------------------------------------------------------------


def test_an_item_with_one_rating_counts_for_the_shares_of_fleiss_kappa_and_ac1_only():
    # agreement 1 and 0 on two items; three items with shares (1, 0), (1/2, 1/2) and (0, 1)
    sums = total([[0, 0], [0, 1], [1, -1]], 2)
    assert float(percent_agreement(sums)) == 0.5
    assert float(fleiss_kappa(sums)) == pytest.approx((0.5 - 0.5) / 0.5)
    assert float(gwet_ac1(sums)) == pytest.approx((0.5 - 0.5) / 0.5)
    pair = total([[0, 0], [0, 1]], 2)
    assert float(krippendorff_alpha(sums)) == float(krippendorff_alpha(pair))
    assert float(cohen_kappa(sums)) == float(cohen_kappa(pair))


# ---- ratings -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ANY_NUMBER)
@given(data=ratings)
@settings(max_examples=20)
def test_coefficients_do_not_depend_on_order_or_names(name, data) -> None:
    table = np.array(data)
    labels = [[None if x != x else "abc"[int(x)] for x in row] for row in table]
    result = agreement_interval(name, table)
    renamed = table * 2 + 1 if name in GRADED else labels
    for other in (table[::-1], table[:, ::-1], renamed):
        found = agreement_interval(name, other)
        assert (found.estimate, found.low, found.high) == pytest.approx(
            (result.estimate, result.low, result.high), abs=1e-9, nan_ok=True
        )
    assert np.isnan(result.estimate) or result.estimate <= 1 + 1e-12


def test_labels_may_be_missing_and_kappa_drops_the_pair() -> None:
    first, second = (
        ["ja", "nein", "ja", None, "ja", "nein"],
        ["ja", "nein", "nein", "ja", None, "nein"],
    )
    frame = pd.DataFrame({"a": first, "b": second}, dtype="string")
    for name in set(COEFFICIENTS) - set(GRADED):
        pairs = list(zip(first, second, strict=True))
        assert agreement_interval(name, frame) == agreement_interval(name, pairs)
    complete = frame.dropna()
    kappa = agreement_interval("Cohen's kappa", frame)
    assert kappa == agreement_interval("Cohen's kappa", complete)
    assert kappa.n == 4


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("Cohen's kappa", [[1, 2, 1]], "Cohen's kappa is for two raters, got 3"),
        ("Fleiss' kappa", [1, 2], r"ratings must have one row per item and .* got shape \(2,\)"),
        ("ordinal alpha", [[None, "low"], ["high", "low"]], "needs ratings .* numbers, got 'low'"),
        ("quadratic kappa", pd.DataFrame([["1", "10"]], dtype="category"), "numbers, got '1'"),
    ],
)
def test_bad_ratings_are_refused(name, data, message: str) -> None:
    with pytest.raises(InputError, match=message):
        agreement_interval(name, data)


# ---- the interval ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_intervals_at_the_edges(name) -> None:
    full = agreement_interval(name, [[1, 1], [2, 2], [1, 1], [2, 2]])
    assert full.estimate == pytest.approx(1.0)
    assert np.isnan(full.low)
    assert "leaving out a unit never changes the statistic" in full.problem
    one_category = agreement_interval(name, [[1, 1]] * 4).estimate
    defined = name in ("percent agreement", "Gwet's AC1")
    assert one_category == 1 if defined else np.isnan(one_category)
    for unpaired in ([[1, np.nan], [np.nan, 2]], np.empty((0, 2))):
        assert np.isnan(agreement_interval(name, unpaired).estimate)
    assert agreement_interval(name, [[1, 1]] * 5 + [[0, 0]] * 5 + [[1, 0]]).high == 1.0
