"""Checks of frames, missing cells, and the classes that all parts share."""

import numpy as np
import pandas as pd
import pytest

from ragnb.cells import is_missing, present
from ragnb.columns import require_columns
from ragnb.errors import InputError
from ragnb.replies import count_reasons, no_answer


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


@pytest.mark.parametrize(
    ("reply", "facts", "reason"),
    [
        ("Oslo", {}, None),
        ("<think>Bergen?</think>Oslo", {}, None),
        ("Oslo", {"finish_reason": "length"}, None),
        (
            None,
            {"finish_reason": "tool_calls"},
            "the model sent no text (finish_reason 'tool_calls')",
        ),
        ("", {}, "empty reply"),
        (" \n\u00a0", {}, "empty reply"),
        ("\u200b\ufeff", {}, "empty reply"),
        ("<think>Oslo?</think>", {}, "only reasoning and no answer"),
        ("[THINK]Oslo?[/THINK]\n", {"finish_reason": "stop"}, "only reasoning and no answer"),
        ("<think>Oslo or", {}, "cut off inside the reasoning"),
        (None, {"reasoning": "Oslo?"}, "only reasoning and no answer"),
        ("", {"refusal": "I cannot help."}, "the model refused: I cannot help."),
        (
            "",
            {"finish_reason": "content_filter"},
            "the provider blocked the reply (content_filter)",
        ),
        (
            "Oslo is the",
            {"finish_reason": "error"},
            "the endpoint reported an error in the middle of the reply",
        ),
    ],
)
def test_a_reply_that_answers_nothing_has_a_reason(reply, facts, reason):
    assert no_answer(reply, **facts) == reason
    kept = no_answer(reply, keep_empty=True, **facts)
    assert kept == (None if reason == "empty reply" else reason)


@pytest.mark.parametrize("reply", ["<think>Oslo or", None, ""])
def test_reasoning_that_a_limit_cut_off_says_what_to_do(reply):
    reason = no_answer(reply, reasoning="Oslo or", finish_reason="length")
    assert reason.startswith("cut off inside the reasoning (")
    assert "max_tokens" in reason
    assert count_reasons([reason]) == "cut off inside the reasoning (1)"
