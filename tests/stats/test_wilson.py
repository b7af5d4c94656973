import math
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnb.stats.intervals import rate_interval

counts = st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
levels = st.floats(0.01, 0.9999)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_intervals_are_those_of_newcombe_1998_table_1_method_3(successes, n, low, high):
    interval = rate_interval(successes, n)
    assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)
    assert interval.estimate == successes / n
    assert (interval.n, interval.confidence_level, interval.method) == (n, 0.95, "Wilson")


@given(counts, levels)
def test_the_interval_inverts_the_score_test(count, level):
    successes, n = count
    interval = rate_interval(*count, confidence_level=level)
    z = NormalDist().inv_cdf((1 + level) / 2)
    for rate in (interval.low, interval.high):  # |p - rate| = z sqrt(rate (1 - rate) / n)
        distance = abs(successes / n - rate)
        assert distance == pytest.approx(
            z * math.sqrt(rate * (1 - rate) / n), abs=1e-7
        ) or rate in (0, 1)


@given(counts, levels)
def test_limits_stay_within_0_and_1_and_hold_the_rate(count, level):
    interval = rate_interval(*count, confidence_level=level)
    assert 0 <= interval.low <= interval.estimate + 1e-12
    assert interval.estimate - 1e-12 <= interval.high <= 1


@given(counts)
def test_failures_mirror_successes(count):
    successes, n = count
    one, other = rate_interval(successes, n), rate_interval(n - successes, n)
    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-12)


@given(counts)
def test_more_confidence_is_wider_and_more_data_narrower(count):
    successes, n = count
    width = [
        i.high - i.low
        for i in (rate_interval(successes, n, confidence_level=c) for c in (0.8, 0.95, 0.99))
    ]
    assert width == sorted(width)
    more = rate_interval(4 * successes, 4 * n)
    assert more.high - more.low < width[1]


@pytest.mark.parametrize(("successes", "low", "high"), [(0, 0.0, 0.793451), (1, 0.206549, 1.0)])
def test_a_single_response_has_an_interval(successes, low, high):
    interval = rate_interval(successes, 1)  # z² / (1 + z²) = 3.841459 / 4.841459
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-6)


def test_nothing_counted_is_undefined():
    interval = rate_interval(0, 0)
    assert all(math.isnan(x) for x in (interval.estimate, interval.low, interval.high))
    assert interval.n == 0
