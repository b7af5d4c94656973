import numpy as np
import pandas as pd
import pytest

from ragnb import errors
from ragnb.errors import InputError
from ragnb.records import (
    COLUMNS,
    CONDITION,
    EXAMPLE,
    PAYLOAD,
    RAGBENCH_RESPONSE,
    RGB_EXAMPLE,
    is_missing,
    present,
    require_columns,
)
from ragnb.results import Interval


@pytest.mark.parametrize("names", [EXAMPLE, RGB_EXAMPLE, RAGBENCH_RESPONSE, CONDITION, PAYLOAD])
def test_every_column_that_the_code_names_is_documented(names):
    assert set(names) <= set(COLUMNS)


def test_no_column_name_or_meaning_is_given_twice():
    assert len(set(COLUMNS.values())) == len(COLUMNS)
    assert all(name.isidentifier() and meaning.strip() for name, meaning in COLUMNS.items())


def test_columns_that_tell_cells_apart_stay_beside_scores():
    assert not PAYLOAD & set(CONDITION)
    assert "example_id" not in PAYLOAD


@pytest.mark.parametrize("value", [None, float("nan"), np.nan, np.float32("nan"), pd.NA, pd.NaT])
def test_what_frames_write_for_nothing_is_missing(value):
    assert is_missing(value)
    assert present(value) is None


@pytest.mark.parametrize(
    "value",
    [0, 0.0, False, "", " ", "nan", [], {}, np.array([np.nan]), pd.Timestamp(0), np.float32(1)],
)
def test_what_is_empty_or_zero_is_there(value):
    assert not is_missing(value)
    assert present(value) is value


def test_a_frame_with_all_columns_passes():
    require_columns(pd.DataFrame(columns=["b", "a", "c"]), ["a", "b"], "it")
    require_columns(pd.DataFrame(), [], "it")


def test_a_missing_column_is_named_with_its_meaning_and_who_needs_it():
    frame = pd.DataFrame({"question": ["q"]})
    with pytest.raises(
        InputError,
        match=r"^this step needs the columns question, response, odd; got .* without response, odd;",
    ) as e:
        require_columns(frame, ["question", "response", "odd"], "this step")
    assert COLUMNS["response"] in str(e.value)


@pytest.mark.parametrize("thing", [None, [], {"question": 1}, "frame", 3])
def test_what_is_no_frame_is_named_by_its_type(thing):
    with pytest.raises(InputError, match=rf"this step.*DataFrame.*{type(thing).__name__}"):
        require_columns(thing, ["question"], "this step")


@pytest.mark.parametrize(
    ("name", "builtin"),
    [
        ("InputError", ValueError),
        ("EndpointError", RuntimeError),
        ("StoreError", RuntimeError),
        ("MissingPartError", ImportError),
    ],
)
def test_every_error_has_one_base_and_a_builtin_one(name, builtin):
    kind = getattr(errors, name)
    assert issubclass(kind, errors.RagnbError)
    assert issubclass(kind, builtin)


def test_an_interval_prints_its_method_and_is_frozen():
    interval = Interval(0.5, 0.0941, 0.9052, 0.95, "Wilson", 2)
    assert str(interval) == "0.500 [0.094, 0.905] (95% Wilson, n = 2)"
    with pytest.raises(AttributeError):
        interval.low = 0.0
