import pytest
from annotation.annotation_frames import keyed_frame
from hypothesis import given
from hypothesis import strategies as st

from ragnb.annotation.items import build_items
from ragnb.annotation.tasks import Field, Option, read_task
from ragnb.annotation.values import check_value, known_keys
from ragnb.errors import InputError

TRACE = read_task("trace")
ITEM = build_items(keyed_frame(1), TRACE)[0]
KEYS = ["0a", "0b", "1a", "1b"]
SPECIAL = ["supported_without_sentence", "general", "well_known_fact", "numerical_reasoning"]
MIXED = Field(
    "mixed", "mixed", "choice", "b", (Option(True), Option(1), Option("1"), Option(""), Option(0))
)
FREE = Field("why", "why", "text", "w")
OF_RESPONSE = Field("claims", "claims", "sentences", "c", of="response")


def test_what_a_field_of_sentences_may_hold_stands_in_the_order_of_the_text():
    assert known_keys(TRACE.field("relevant"), ITEM) == KEYS
    assert known_keys(TRACE.field("supporting"), ITEM) == [*KEYS, *SPECIAL]
    assert known_keys(OF_RESPONSE, ITEM) == ["a", "b"]


@given(st.lists(st.sampled_from([*KEYS, *SPECIAL])))
def test_keys_come_once_each_and_in_order(keys):
    checked = check_value(TRACE.field("supporting"), ITEM, keys)
    assert checked == [key for key in [*KEYS, *SPECIAL] if key in set(keys)]
    assert checked == check_value(TRACE.field("supporting"), ITEM, tuple(reversed(keys)))


@pytest.mark.parametrize("value", [True, 1, "1", "", 0])
def test_a_choice_is_kept_with_its_kind(value):
    kept = check_value(MIXED, ITEM, value)
    assert kept == value
    assert type(kept) is type(value)


@pytest.mark.parametrize("value", [False, 2, 1.0, "2"])
def test_what_is_no_option_is_refused_with_the_options(value):
    with pytest.raises(
        InputError,
        match=r"'mixed' of item 'q/0' needs one of \[True, 1, '1', '', 0\]; got .*; choose one",
    ):
        check_value(MIXED, ITEM, value)


def test_an_empty_text_is_none():
    assert check_value(FREE, ITEM, "") is None


@pytest.mark.parametrize("stranger", ["a", "0A", "general"])
def test_a_key_of_no_sentence_is_refused_and_named(stranger):
    with pytest.raises(
        InputError,
        match=r"'relevant' of item 'q/0' needs keys among \['0a', '0b', '1a', '1b'\]; got",
    ):
        check_value(TRACE.field("relevant"), ITEM, ["0a", stranger])
