"""Checks of the columns of a frame."""

import numpy as np
import pandas as pd
import pytest

from ragnb.columns import list_of_texts, require_columns
from ragnb.errors import InputError


@pytest.mark.parametrize(
    ("thing", "options", "words"),
    [
        (
            pd.DataFrame({"question": ["q"]}),
            {},
            "^it needs the columns question, response, got a frame without response; "
            r"its columns are question\. If they have other names, load the frame with "
            r"ragnb.load_responses\(frame, {'response': 'NAME'}\) first",
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
        ([], {}, "^it needs a pandas DataFrame, got an empty list; pass pandas.DataFrame"),
    ],
)
def test_a_frame_that_cannot_be_used_is_refused(thing, options, words):
    with pytest.raises(InputError, match=words):
        require_columns(thing, ["question", "response"], "it", **options)


@pytest.mark.parametrize("kind", [list, tuple, pd.Series, pd.Index, np.array])
def test_names_may_be_in_any_list(kind):
    assert list_of_texts(kind(["a", "b"])) == ["a", "b"]
    assert list_of_texts(kind([])) == []
