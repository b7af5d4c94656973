"""Replies that answer nothing, with their reasons."""

import pytest

from ragnb.replies import count_reasons, no_answer


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
        (None, {"finish_reason": "SAFETY"}, "the provider blocked the reply (SAFETY)"),
        (
            "",
            {"finish_reason": "content_filter: PROHIBITED_CONTENT"},
            "the provider blocked the reply (content_filter: PROHIBITED_CONTENT)",
        ),
        ("Oslo", {"finish_reason": "RECITATION"}, None),
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
@pytest.mark.parametrize("end", ["length", "MAX_TOKENS"])
def test_reasoning_that_a_limit_cut_off_says_what_to_do(reply, end):
    reason = no_answer(reply, reasoning="Oslo or", finish_reason=end)
    assert reason.startswith("cut off inside the reasoning (")
    assert "max_tokens" in reason
    assert count_reasons([reason]) == "cut off inside the reasoning (1)"
