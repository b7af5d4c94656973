"""Where all values or all differences are equal: an exact test, and limits that are defined."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from ragnb.reports.frames import share
from ragnb.scoring import compare, summarize
from ragnb.scoring.procedures import PROCEDURES
from ragnb.stats import (
    bca_interval,
    mean_interval,
    paired_table,
    rate_interval,
    sign_flip_interval,
    tango_interval,
)

Z2 = 1.959963984540054**2


def scored(systems, metric="answer.f1", **columns):
    """Scores of systems by name; columns have one value per question."""
    parts = []
    for system, values in systems.items():
        ids = [f"q{number}" for number in range(len(values))]
        part = pd.DataFrame({"example_id": ids, "system": system, "value": values})
        parts.append(part.assign(metric=metric, signature=f"metric:{metric}", **columns))
    return pd.concat(parts, ignore_index=True)


def limits(row):
    return row["low"], row["high"]


# ---- one mean ----------------------------------------------------------------------------------


def test_equal_values_in_clusters_have_one_interval_everywhere():
    """0 of 50 in 10 clusters: Wilson's interval for 0 of 10."""
    frame = scored({"a": [0.0] * 50}, "rgb.accuracy", topic=np.arange(50) // 5)
    row = summarize(frame, cluster="topic").iloc[0]
    expected = (0, Z2 / (10 + Z2))
    assert expected[1] == pytest.approx(0.2775, abs=1e-4)
    assert limits(row) == pytest.approx(expected)
    found = share(np.zeros(50), np.arange(50) // 5, 0.95)
    assert (found.low, found.high) == pytest.approx(expected)
    assert found.method == row["interval"] == "Wilson over clusters"
    ones = summarize(frame.assign(value=1.0), cluster="topic").iloc[0]
    assert limits(ones) == pytest.approx((1 - expected[1], 1))


@pytest.mark.parametrize("value", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("n", [1, 2, 10])
def test_equal_scores_exclude_what_the_share_of_other_scores_excludes(value, n):
    width = Z2 / (n + Z2)
    expected = (value - width * value, value + width * (1 - value))
    for interval in ("auto", "t", "bca"):
        row = summarize(scored({"a": [value] * n}), interval=interval).iloc[0]
        assert limits(row) == pytest.approx(expected)
        assert "problem" not in row
    if value in (0, 1):
        wilson = rate_interval(int(value * n), n)
        assert limits(row) == pytest.approx((wilson.low, wilson.high))
    clustered = summarize(
        scored({"a": [value] * 2 * n}, topic=np.arange(2 * n) // 2), cluster="topic"
    ).iloc[0]
    assert limits(clustered) == pytest.approx(expected)


def test_clusters_with_the_same_mean_have_an_interval():
    """Every question is answered once right and once wrong."""
    frame = scored({"a": [0.0, 1.0] * 20}, "rgb.accuracy", topic=np.arange(40) // 2)
    row = summarize(frame, cluster="topic").iloc[0]
    width = Z2 / (20 + Z2)
    assert limits(row) == pytest.approx((0.5 - width / 2, 0.5 + width / 2))


def test_a_metric_without_bounds_has_no_interval_but_a_reason():
    row = summarize(scored({"a": [7.0] * 9}, "own.points")).iloc[0]
    assert np.isnan(limits(row)).all()
    assert row["problem"] == "all 9 values are equal"
    row = summarize(scored({"a": [7.0] * 9}, "cost.translation_tokens")).iloc[0]
    assert row["problem"] == "all 9 values are equal"


@pytest.mark.parametrize("n", [10, 20, 50])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_a_mean_beyond_the_limit_rarely_gives_equal_scores(n, level):
    """Items have the score 0.5 with probability 1 - w, and else 1, which is the worst case."""
    found = mean_interval([0.5] * n, bounds=(0, 1), confidence_level=level)
    share_of_others = (found.high - 0.5) / 0.5
    all_equal = binom.pmf(0, n, share_of_others)
    # Wilson's limit approximates the exact one, at which the probability is (1 - level) / 2.
    assert all_equal < 1 - level


# ---- differences -------------------------------------------------------------------------------


def test_a_total_collapse_is_found_although_all_differences_are_equal():
    """Every F1 falls from 1 to 0.5 on 40 questions."""
    row = compare(scored({"good": [1.0] * 40, "bad": [0.5] * 40}), baseline="good").iloc[0]
    assert row["p_value"] == pytest.approx(2 * 2.0**-40, rel=1e-9)
    width = Z2 / (40 + Z2)
    assert limits(row) == pytest.approx((-0.5 - width * 0.5, -0.5 + width * 1.5))
    assert row["high"] < 0
    assert row["duality"] == "not dual"
    assert "all 40 differences are equal" in row["warning"]


@pytest.mark.parametrize("n", [2, 6, 29, 30, 40, 300])
@pytest.mark.parametrize("method", ["auto", "cluster-t", "cluster-sign-flip"])
def test_conversations_that_are_all_wrong_are_flipped_whole_at_every_number(n, method):
    frame = scored(
        {"a": [1.0] * 2 * n, "b": [0.0] * 2 * n},
        "rgb.accuracy",
        conversation_id=[f"c{turn // 2}" for turn in range(2 * n)],
    )
    row = compare(frame, baseline="a", method=method).iloc[0]
    assert row["p_value"] == pytest.approx(2 * 2.0**-n, rel=1e-9)
    assert row["family_size"] == 1
    assert limits(row) == pytest.approx((-1, -1 + 2 * Z2 / (n + Z2)))


@pytest.mark.parametrize(
    ("first", "second"), [*itertools.product([0.0, 1.0], repeat=2)], ids=lambda value: f"{value:g}"
)
@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_every_method_gives_the_limits_of_tango_to_equal_differences_of_rates(first, second, n):
    expected = tango_interval(paired_table([first] * n, [second] * n))
    frame = scored({"a": [first] * n, "b": [second] * n}, "rgb.accuracy")
    for method in PROCEDURES:
        options = {"cluster": "example_id"} if method.startswith("cluster") else {}
        row = compare(frame, baseline="b", method=method, **options).iloc[0]
        assert limits(row) == pytest.approx((expected.low, expected.high), abs=1e-9)
        if n == 1 and method in ("t", "cluster-t"):
            assert "undefined: at least 2" in row["warning"]
        else:
            assert 0 < row["p_value"] <= 1
        assert row["mean"] - row["baseline_mean"] == row["difference"] == first - second


def test_a_difference_of_rates_is_never_beyond_1():
    rng = np.random.default_rng(3)
    for n in [2, 3, 4, 5, 8] * 8:
        values = {name: rng.integers(0, 2, 2 * n).astype(float) for name in "ab"}
        frame = scored(values, "rgb.accuracy", topic=np.arange(2 * n) // 2)
        for method in PROCEDURES:
            options = {"cluster": "topic"} if method.startswith("cluster") else {}
            row = compare(frame, method=method, **options).iloc[0]
            assert -1 <= row["low"] <= row["difference"] <= row["high"] <= 1
            assert 0 < row["p_value"] <= 1


def test_a_metric_without_bounds_has_an_exact_test_but_no_interval():
    frame = scored({"a": [7.0] * 9, "b": [3.0] * 9}, "own.points")
    for method in ("auto", "t", "bca"):
        row = compare(frame, baseline="b", method=method).iloc[0]
        assert row["p_value"] == pytest.approx(2 * 2.0**-9)
        assert np.isnan(limits(row)).all()
        assert row["problem"] == "all 9 values are equal"


def test_too_few_items_exclude_nothing_and_say_so():
    frame = scored({"a": [0.5, 0.75, 1.0], "b": [0.0, 0.5, 0.5]})
    row = compare(frame, baseline="b").iloc[0]
    assert limits(row) == (-1, 1)
    assert "with 3 items, no difference can be excluded at the 95% level" in row["warning"]
    unbounded = sign_flip_interval([0.5, 0.25, 0.5])
    assert (unbounded.low, unbounded.high) == (-np.inf, np.inf)


def test_a_cell_without_values_of_either_system_has_a_row_without_pairs():
    parts = [scored({"a": [1.0, 0.5], "b": [0.5, 1.0], "c": [1.0, 1.0]}, language="en")]
    parts.append(scored({"c": [1.0, 0.5]}, language="de"))
    table = compare(pd.concat(parts), by="language", unpaired="drop")
    row = table.set_index(["language", "system", "baseline"]).loc[("de", "b", "a")]
    assert row["n_pairs"] == 0
    assert np.isnan([row["difference"], row["low"], row["p_value"]]).all()


def test_a_system_without_any_value_leaves_everything_undefined_with_a_reason():
    frame = scored({"a": [1.0] * 9, "b": [np.nan] * 9})
    row = compare(frame, unpaired="drop").iloc[0]
    assert (row["n_pairs"], row["n_dropped"]) == (0, 9)
    assert row["problem"] == "no items"
    assert "no items" in row["warning"]


@pytest.mark.parametrize("interval", [mean_interval, bca_interval, sign_flip_interval])
def test_bounds_cut_the_limits_and_no_bounds_leave_them_as_they_were(interval):
    values = [0.0, 1.0, 1.0, 1.0, 0.5, 1.0, 0.0, 1.0]
    free, bounded = interval(values), interval(values, bounds=(0.4, 0.9))
    assert (bounded.low, bounded.high) == (max(free.low, 0.4), min(free.high, 0.9)) or (
        interval is bca_interval
    )
    assert np.isnan(interval([0.5] * 4).low)
