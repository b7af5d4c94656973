"""Missing cells of frames."""

import numpy as np
import pandas as pd
import pytest

from ragnb.cells import is_missing, present


@pytest.mark.parametrize("value", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT])
def test_what_frames_have_for_nothing_is_missing(value):
    assert is_missing(value)
    assert present(value) is None


@pytest.mark.parametrize("value", [0, False, "", "nan", [], np.array([np.nan]), np.float32(1)])
def test_what_is_empty_or_zero_is_present(value):
    assert present(value) is value
