"""Columns of scores as numbers, or a word on why they are none."""

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from ragnb.errors import InputError
from ragnb.scoring.columns import numbers


@pytest.mark.parametrize(
    "values",
    [
        pd.to_datetime(["2026-01-01", None]),
        ["one"],
    ],
)
def test_what_is_no_number_is_refused(values):
    with pytest.raises(InputError, match="a mean needs numbers in value; got"):
        numbers(pd.DataFrame({"value": values}), "value", "a mean")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([True, None, 0.5], [1.0, math.nan, 0.5]),
        (pd.array([1, None], dtype="Int64"), [1.0, math.nan]),
        ([Decimal("0.25"), None], [0.25, math.nan]),
        ([np.float32(0.5), pd.NA], [0.5, math.nan]),
        ([], []),
    ],
)
def test_what_is_a_number_is_a_float_and_nothing_is_nan(values, expected):
    found = numbers(pd.DataFrame({"value": values}), "value", "a mean")
    assert found.dtype == float
    np.testing.assert_array_equal(found, expected)
