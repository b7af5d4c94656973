"""The rows of a frame as a list: found as a slow, separate reading of the frame finds them."""

import datetime
import math

import numpy as np
import pandas as pd
import pytest
from hostile import any_text
from hypothesis import given
from hypothesis import strategies as st

from ragnb.errors import InputError
from ragnb.text import fold
from ragnb.widgets.rows import LINE, Rows, short

FRAME = pd.DataFrame(
    {
        "example_id": ["e/1", "e/2", "e/3", "e/4", "e/1", "e/2"],
        "question": [
            "Who found 北京?",
            "Where is Ōsaka?",
            "ＷＨＡＴ is ½?",
            "שָׁלוֹם",
            "Who found 北京?",
            None,
        ],
        "system": ["plain", "plain", "plain", "plain", "rag", "rag"],
        "noise_rate": [0.4, 0.0, 0.2, 0.4, 0.0, 0.2],
        "passages": [["It rains.", "Straße 5"], [], ["the Cat"], None, ["rain cat"], [np.nan]],
        "response": ["Ann", None, "a half", "peace", "Ann Lee", "no"],
        "label": [1, 0, 1, 0, 1, None],
        "similarity": [0.1234, 0.5678, 0.2345, math.nan, 0.9999, 0.4321],
    }
)


def places(search="", filters=None, sort="", frame=FRAME):
    rows = Rows(frame)
    return rows.found(
        search, {name: rows.code(name, value) for name, value in (filters or {}).items()}, sort
    ).tolist()


# ---- search ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        ("", [0, 1, 2, 3, 4, 5]),
        ("who", [0, 4]),
        ("ann who lee", [4]),
        ("rain", [0, 4]),
        ("rain cat", [4]),
        ("strasse", [0]),
        ("STRASSE ５", [0]),
        ("what", [2]),
        ("1⁄2", [2]),
        ("北京", [0, 4]),
        ("ōsaka", [1]),
        ("O\u0304saka", [1]),
        ("osaka", []),
        ("שָׁלוֹם", [3]),
        ("e/2", [1, 5]),
        (".*", []),
    ],
)
def test_a_search_finds_the_rows_that_hold_all_its_words(search, expected):
    assert places(search) == expected


@given(st.lists(st.tuples(any_text, any_text), min_size=1, max_size=5), any_text)
def test_a_search_finds_what_a_plain_reading_of_every_text_finds(cells, search):
    frame = pd.DataFrame(
        {"question": [a for a, _ in cells], "passages": [[b, {"text": b}] for _, b in cells]},
        dtype=object,
    )
    expected = [
        at
        for at, pair in enumerate(cells)
        if all(any(word in fold(text) for text in pair) for word in fold(search).split())
    ]
    assert places(search, frame=frame) == expected


# ---- filters -----------------------------------------------------------------------------------------------------------


def test_columns_of_few_values_can_be_filtered_by():
    choices = Rows(FRAME).choices
    assert {name: found.values for name, found in choices.items()} == {
        "system": ["plain", "rag"], "noise_rate": [0.0, 0.2, 0.4], "label": [0.0, 1.0, None],
    }  # fmt: skip
    assert choices["label"].names == ["0", "1", "–"]
    assert choices["noise_rate"].names == ["0", "0.2", "0.4"]


def test_every_choice_of_every_filter_holds_exactly_its_rows():
    for name, found in Rows(FRAME).choices.items():
        for value in found.values:
            column = FRAME[name]
            same = column.isna() if value is None else column == value
            assert places(filters={name: value}) == np.flatnonzero(same).tolist()


def test_filters_search_and_sort_go_together():
    assert places(filters={"system": "plain", "noise_rate": 0.4}) == [0, 3]
    assert places("who", {"system": "rag"}) == [4]
    assert places(filters={"system": "plain"}, sort="-noise_rate") == [0, 3, 2, 1]
    assert places(filters={"label": math.nan}) == places(filters={"label": None}) == [5]


def test_what_cannot_be_filtered_by_is_left_out():
    many = pd.DataFrame(
        {
            "id": [f"id {k}" for k in range(100)],
            "score": np.linspace(0, 1, 10).repeat(10),
            "rate": np.array([0.0, 0.25, 0.5, 1.0]).repeat(25),
            "long": ["x" * 61, "y" * 61] * 50,
            "same": ["one"] * 100,
            "thirty": [k % 30 for k in range(100)],
            "more": [k % 31 for k in range(100)],
            "lists": [["a"], ["b"]] * 50,
            "pairs": [("a", 1), ("b", 2)] * 50,
            "response": ["yes", "no"] * 50,
            "reason": [None, "timeout"] * 50,
            "kind": pd.Categorical(["b", "a"] * 50, categories=["b", "a", "never"]),
            "alias of reason": [None, "too late"] * 50,
            "day": [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)] * 50,
            "on": [True, False] * 50,
        }
    )
    assert list(Rows(many).choices) == ["rate", "thirty", "reason", "day", "on"]
    assert Rows(many[["kind", "on"]]).choices["kind"].values == ["a", "b"]


# ---- sort --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("", [0, 1, 2, 3, 4, 5]),
        ("noise_rate", [1, 4, 2, 5, 0, 3]),
        ("-noise_rate", [0, 3, 2, 5, 1, 4]),
        ("similarity", [0, 2, 5, 1, 4, 3]),
        ("-similarity", [4, 1, 5, 2, 0, 3]),
        ("question", [2, 1, 0, 4, 3, 5]),
        ("-question", [3, 0, 4, 1, 2, 5]),
        ("label", [1, 3, 0, 2, 4, 5]),
    ],
)
def test_rows_are_sorted_stably_and_what_is_missing_comes_last(sort, expected):
    assert places(sort=sort) == expected


def test_numbers_of_any_type_sort_as_numbers():
    frame = pd.DataFrame({"a": pd.Series([10, None, 9], dtype=object), "b": pd.array([2, None, 1], dtype="Int64"),
                          "c": pd.Series([2**70, 1, 0], dtype=object), "-a": [3, 2, 1], "text": ["10", "9", "8"]})  # fmt: skip
    assert Rows(frame).sortable == ["a", "b", "c", "-a"]
    assert places(sort="a", frame=frame) == [2, 0, 1]
    assert places(sort="b", frame=frame) == [2, 0, 1]
    assert places(sort="-c", frame=frame) == [0, 1, 2]
    assert places(sort="-a", frame=frame) == [2, 1, 0]
    assert places(sort="--a", frame=frame) == [0, 1, 2]


# ---- titles ------------------------------------------------------------------------------------------------------------


def test_a_title_says_the_verdict_the_question_and_what_differs():
    rows = Rows(FRAME)
    assert rows.title(0) == ("✓", "Who found 北京?", ["plain", "noise rate 0.4", "e/1"])
    assert rows.title(1) == ("✗", "Where is Ōsaka?", ["plain", "noise rate 0", "e/2"])
    assert rows.title(5) == ("–", "–", ["rag", "noise rate 0.2", "e/2"])
    assert rows.sign_meaning == "✓ ✗ = label"


def test_what_never_differs_is_no_part_of_a_title():
    assert Rows(FRAME[FRAME["system"] == "plain"]).title(0).about == ["noise rate 0.4", "e/1"]


@pytest.mark.parametrize(
    ("column", "values", "signs"),
    [
        ("verdict", ["correct", "incorrect", "refuse", None], ["✓", "✗", "", "–"]),
        ("adherence_score", [True, False], ["✓", "✗"]),
        ("judged_correct", [1.0, 0.0, math.nan, 0.5], ["✓", "✗", "–", ""]),
        ("label", pd.array([1, 0, None], dtype="Int64"), ["✓", "✗", "–"]),
        ("value", [[1], {"a": 1}], ["", ""]),
        ("other", [1, 0], ["", ""]),
    ],
)
def test_the_sign_of_a_title(column, values, signs):
    rows = Rows(pd.DataFrame({column: values}))
    assert [rows.title(place).sign for place in range(len(rows))] == signs


def test_a_frame_without_questions_has_titles_too():
    assert (
        Rows(pd.DataFrame({"n": [1, 2], "said": ["one\n two", "three"]})).title(0).text == "one two"
    )
    assert Rows(pd.DataFrame({"n": [1.5, 2]})).title(0).text == "1.5"
    assert Rows(pd.DataFrame(index=range(2))).title(1).text == "row 2"
    assert Rows(pd.DataFrame({"question": ["", "x"]})).title(0).text == "row 1"


def test_long_titles_end():
    assert short("word " * 1000).endswith("word…")
    assert short("x" * 10**6) == "x" * LINE + "…"
    assert short(["a", ["b"]]) == "a · b"
    assert short(np.array([1, 2])) == "[1 2]"
    assert short(pd.NaT) == short(pd.NA) == short(None) == "–"


# ---- frames ------------------------------------------------------------------------------------------------------------


def test_levels_of_the_index_and_of_names_are_columns():
    frame = pd.DataFrame([[1, 2.5], [3, 4.0]], columns=pd.MultiIndex.from_tuples([("f1", "mean"), ("n", "")]),
                         index=pd.MultiIndex.from_tuples([("plain", 0), ("rag", 0)], names=["system", None]))  # fmt: skip
    rows = Rows(frame)
    assert rows.row(1) == {"system": "rag", "f1 / mean": 3, "n": 4.0}
    assert rows.title(1).about == ["rag"]


def test_names_need_not_be_text():
    rows = Rows(
        pd.DataFrame([[3, "a"], [1, "b"], [2, "a"]], columns=pd.Index([0, None], dtype=object))
    )
    assert rows.found("", {}, "0").tolist() == [1, 2, 0]
    assert rows.choices["None"].values == ["a", "b"]


def test_a_frame_is_left_as_it_was():
    before = FRAME.copy(deep=True)
    places("who", {"system": "rag"}, "question")
    Rows(FRAME).row(0)["passages"].append("x")
    pd.testing.assert_frame_equal(FRAME.drop(columns="passages"), before.drop(columns="passages"))
    assert FRAME["passages"][0] == ["It rains.", "Straße 5"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: Rows(pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"])),
            "names of their own; got a twice",
        ),
        (
            lambda: places(filters={"colour": 1}),
            "one of 'system', 'noise_rate', 'label'; got 'colour'",
        ),
        (
            lambda: places(filters={"system": "other"}),
            "by 'system' needs one of 'plain', 'rag'; got 'other'",
        ),
        (
            lambda: places(sort="system"),
            "one of '', 'question', 'noise_rate', 'label', 'similarity', with - before it",
        ),
    ],
)
def test_bad_input_says_what_is_needed(call, message):
    with pytest.raises(InputError, match=message):
        call()
