"""Paired 0/1 scores: tables, McNemar, difference intervals, odds ratio; duality, edges, bad input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from ragnb.errors import InputError
from ragnb.stats import (
    MCNEMAR_METHODS,
    PairedTable,
    discordant_odds_ratio,
    mcnemar_bounds,
    mcnemar_p_value,
    mcnemar_test,
    tango_interval,
    tango_test,
)

cell = st.integers(0, 40)
tables = st.builds(PairedTable, cell, cell, cell, cell).filter(
    lambda t: t.both + t.first_only + t.second_only + t.neither > 0
)


def mirror(table: PairedTable) -> PairedTable:
    return PairedTable(table.both, table.second_only, table.first_only, table.neither)


@given(table=tables)
def test_tango_interval_inverts_its_test(table: PairedTable) -> None:
    interval = tango_interval(table)
    for limit in (interval.low, interval.high):
        if abs(limit) < 0.9999:
            assert tango_test(table, null=limit).p_value == pytest.approx(0.05, abs=1e-7)


@given(table=tables, method=st.sampled_from(["exact", "mid-p"]))
def test_odds_ratio_limits_put_the_count_at_either_tail(table: PairedTable, method: str) -> None:
    b, c = table.first_only, table.second_only
    interval = discordant_odds_ratio(table, method=method)
    weight = 1 if method == "exact" else 0.5
    if b:
        rate = interval.low / (1 + interval.low)
        tail = binom.sf(b, b + c, rate) + weight * binom.pmf(b, b + c, rate)
        assert tail == pytest.approx(0.025, abs=1e-9)
    if c:
        rate = interval.high / (1 + interval.high)
        tail = binom.cdf(b - 1, b + c, rate) + weight * binom.pmf(b, b + c, rate)
        assert tail == pytest.approx(0.025, abs=1e-9)


@pytest.mark.parametrize("null", [-1.0, 1.0, 1.5])
def test_a_difference_of_all_items_is_no_null_hypothesis(null: float) -> None:
    with pytest.raises(InputError, match="null must be between -1 and 1, got"):
        tango_test(PairedTable(5, 2, 1, 5), null=null)


def test_without_items_or_discordant_ones() -> None:
    nothing = PairedTable(0, 0, 0, 0)
    interval = tango_interval(nothing)
    assert np.isnan([interval.estimate, interval.low, interval.high]).all()
    assert interval.problem == "no items"
    assert np.isnan(mcnemar_test(nothing).p_value)
    assert np.isnan(tango_test(nothing).p_value)
    for method in MCNEMAR_METHODS:
        result = mcnemar_test(PairedTable(5, 0, 0, 5), method=method)
        assert (result.p_value, result.warning) == (1.0, "no discordant items")
        assert mcnemar_p_value(np.array([0, 3]), 0, method, "greater")[0] == 1.0
    with pytest.raises(InputError, match="alternative must be one of"):
        mcnemar_p_value(3, 1, "exact", "larger")
    assert "no discordant item" in discordant_odds_ratio(PairedTable(3, 0, 0, 3)).problem


def test_extremes() -> None:
    one_way = PairedTable(0, 10, 0, 0)
    assert tango_interval(one_way).high == 1.0
    assert tango_interval(mirror(one_way)).low == -1.0
    assert discordant_odds_ratio(one_way).high == np.inf
    assert discordant_odds_ratio(mirror(one_way)).low == 0.0
    assert tango_interval(PairedTable(5, 0, 0, 5)).high > 0.2


@given(
    st.integers(1, 25).flatmap(
        lambda n: st.tuples(st.integers(0, n), st.integers(0, n), st.just(n))
    )
)
def test_bounds_are_those_of_all_tables_with_these_margins(margins) -> None:
    first, second, n = margins
    for method in ("exact", "mid-p"):
        p = [
            mcnemar_test(
                PairedTable(both, first - both, second - both, n - first - second + both),
                method=method,
            ).p_value
            for both in range(max(0, first + second - n), min(first, second) + 1)
        ]
        assert mcnemar_bounds(*margins, method=method) == (
            pytest.approx(min(p)),
            pytest.approx(max(p)),
            f"McNemar {method}",
        )
