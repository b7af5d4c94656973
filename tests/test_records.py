"""Checks of frames, missing cells, and the classes that all parts share."""

import numpy as np
import pandas as pd
import pytest

from ragnb.errors import InputError
from ragnb.records import is_missing, present, require_columns


@pytest.mark.parametrize("value", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT])
def test_what_frames_have_for_nothing_is_missing(value):
    assert is_missing(value)
    assert present(value) is None


@pytest.mark.parametrize("value", [0, False, "", "nan", [], np.array([np.nan]), np.float32(1)])
def test_what_is_empty_or_zero_is_present(value):
    assert present(value) is value


@pytest.mark.parametrize(
    ("thing", "options", "words"),
    [
        (
            pd.DataFrame({"question": ["q"]}),
            {},
            "^it needs the columns question, response, got a frame without response; "
            r"add response \(the model's answer without its reasoning",
        ),
        (
            pd.DataFrame({"question": "q", "response": ["a", "b"]}),
            {"unique": ["question"]},
            "^it needs one row for each question, got 1 repeated, such as q; drop",
        ),
        (
            pd.DataFrame([["q", "a", "b"]], columns=["question", "response", "response"]),
            {},
            "^it needs each column once, got several columns 'response'",
        ),
        ([], {}, "^it needs a pandas DataFrame, got list; load"),
    ],
)
def test_a_frame_that_cannot_be_used_is_refused(thing, options, words):
    with pytest.raises(InputError, match=words):
        require_columns(thing, ["question", "response"], "it", **options)
