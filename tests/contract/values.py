"""Values that nobody asked for: what stands in a cell or an argument by mistake, by chance, or on purpose."""

import math

import numpy as np
import pandas as pd
from hypothesis import strategies as st

TEXTS = [
    "",
    " ",
    "\x00",
    "a\x00b",
    "\ud800",
    "\udfff x",
    "\u202e",
    "か\u3099",
    "नमस्ते",
    "שָׁלוֹם",
    "ที่",
    "🇳🇴👩‍🔬",
    "=1+1",
    "nan",
    "x" * 20_000,
]
NUMBERS = [0, 1, -1, 2, 7, 2**31, 2**70, 0.5, -0.0, 1.5, 1e308, 5e-324, math.nan, math.inf, -math.inf]
ARRAYS = [
    np.array([]), np.array([1.0, np.nan]), np.zeros((2, 2)), np.array(["x", None], dtype=object), np.array([[["a"]]]), np.array(3),
    np.array([True, False]), pd.Series([1, None], dtype="Int64"), pd.Series(["a", "b"], dtype="category"),
    pd.Series([1.0, 2.0], index=[5, 5]), pd.Index(["a"]), pd.DataFrame(), pd.DataFrame({"a": [1]}),
]  # fmt: skip
LISTS = [
    [],
    (),
    {},
    [None],
    [[]],
    [[1], [2, 3]],
    ["a", 1, None],
    {"a": 1},
    {1: {}},
    [{}],
    {1},
    [math.nan],
    [True, False],
    [[["0a", "b"]]],
]
OTHERS = [
    None,
    True,
    False,
    b"b",
    1j,
    pd.NA,
    pd.NaT,
    np.float64("nan"),
    np.int64(3),
    np.bool_(True),
    np.datetime64("2020-01-01"),
    len,
    object(),
]
EVERYTHING = [*TEXTS, *NUMBERS, *ARRAYS, *LISTS, *OTHERS]
NO_COUNTS = [value for value in EVERYTHING if not isinstance(value, int) or abs(value) < 100]

anything = (
    st.sampled_from(EVERYTHING) | st.text(max_size=8) | st.floats() | st.lists(st.floats() | st.text(max_size=3), max_size=4)
)
"""Anything."""

no_count = st.sampled_from(NO_COUNTS)
"""Anything but numbers so large that so much work is just what they ask for."""

cells = st.sampled_from([*TEXTS, *NUMBERS, *LISTS, *OTHERS, *ARRAYS[:7]]) | st.text(max_size=8)
"""What may stand in a cell of a frame."""


@st.composite
def damaged(draw, frame):
    """A frame of the same columns with a few cells, types, labels or rows that nobody asked for."""
    kind = draw(st.sampled_from(["cell", "cell", "cell", "column", "rows", "labels", "type"]))
    name = draw(st.sampled_from(list(frame.columns)))
    if kind == "cell":
        return with_cells(frame, name, draw(st.dictionaries(st.integers(0, len(frame) - 1), cells, min_size=1)))
    if kind == "column":
        return with_cells(frame, name, dict.fromkeys(range(len(frame)), draw(cells)))
    if kind == "rows":
        places = draw(st.lists(st.integers(0, len(frame) - 1), max_size=len(frame)))
        return frame.iloc[places]
    if kind == "labels":
        labels = draw(
            st.lists(st.sampled_from([0, 0, "a", None, math.nan, (1, 2)]), min_size=len(frame), max_size=len(frame))
        )
        return frame.set_axis(pd.Index(labels, dtype=object, tupleize_cols=False))
    return retyped(
        frame, name, draw(st.sampled_from(["category", "string", "Int64", "Float64", "boolean", object, "float64"]))
    )


def with_cells(frame, name, cells):
    values = [cells.get(place, value) for place, value in enumerate(frame[name])]
    column = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        column[place] = value
    return frame.assign(**{name: pd.Series(column, index=frame.index, dtype=object)})


def retyped(frame, name, kind):
    try:
        return frame.assign(**{name: frame[name].astype(kind)})
    except (TypeError, ValueError):
        return frame
