"""Replies of models: why a reply answers nothing, and its reasoning apart from its answer."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from ragnb.cells import present
from ragnb.printing import warn
from ragnb.text import (
    Reasoning,
    is_blank,
    join_reasoning,
    places_of_reasoning,
    read_reasoning,
    well_formed,
)


def count_reasons(reasons: Iterable[Any]) -> str:
    """Count how often each reason occurs, and list the most frequent reasons first.

    Text after the first colon or opening parenthesis is ignored, so that reasons with different details
    are counted together. An empty or missing reason counts as ``"no reason given"``.

    >>> count_reasons(["HTTP 400: prompt too long", "no connection (refused)", "HTTP 400: flagged"])
    'HTTP 400 (2), no connection (1)'
    """
    short = (str(present(reason) or "no reason given") for reason in reasons)
    counts = Counter(re.split(r"[:(]", reason)[0].strip() or reason for reason in short)
    return ", ".join(f"{reason:.80} ({n:,})" for reason, n in counts.most_common())


# Why a reply answers nothing, in the words of the column ``reason``.
EMPTY_REPLY = "empty reply"


ONLY_REASONING = "only reasoning and no answer"


CUT_OFF = "cut off inside the reasoning"


BLOCKED = "the provider blocked the reply"


# Values of ``finish_reason`` of a reply that the provider blocked. All but the first are Gemini's,
# whose endpoint writes them in capitals, in some cases behind "content_filter: ".
_BLOCKING = re.compile(
    r"(?:content_filter|safety|recitation|blocklist|prohibited_content|spii)\b", re.IGNORECASE
)


# Values of ``finish_reason`` of a reply that reached its largest number of tokens, in lower case.
_LIMIT_REACHED = ("length", "max_tokens", "max_output_tokens", "model_length")


ERROR_IN_THE_MIDDLE = "the endpoint reported an error in the middle of the reply"


def reached_limit(finish_reason: Any) -> bool:
    """Whether a reply ended because it reached its largest number of tokens.

    >>> reached_limit("length"), reached_limit("MAX_TOKENS"), reached_limit("stop"), reached_limit(None)
    (True, True, False, False)
    """
    return isinstance(finish_reason, str) and finish_reason.lower() in _LIMIT_REACHED


def no_answer(
    reply: str | None,
    *,
    reasoning: str | None = None,
    finish_reason: str | None = None,
    refusal: str | None = None,
    keep_empty: bool = False,
) -> str | None:
    """Return why a reply answers nothing, or None if it contains an answer.

    The reason begins with its kind, so that `count_reasons` can count by kind. `reasoning` and `refusal` are
    what the endpoint returned separately from the text. With `keep_empty`, an empty or blank text is an
    answer. A missing text, reasoning alone, a refusal of the endpoint and an error never are.

    >>> no_answer("Oslo."), no_answer(" "), no_answer(" ", keep_empty=True)
    (None, 'empty reply', None)
    >>> no_answer("<think>Oslo?</think>")
    'only reasoning and no answer'
    >>> no_answer("<think>Oslo or", finish_reason="length")
    "cut off inside the reasoning (finish_reason 'length'; a higher max_tokens leaves room for the answer)"
    """
    if finish_reason == "error":
        return ERROR_IN_THE_MIDDLE
    parts = read_reasoning(reply or "")
    if not is_blank(parts.answer):
        return None
    if refusal:
        return f"the model refused: {well_formed(str(refusal)):.300}"
    if finish_reason and _BLOCKING.match(finish_reason):
        return f"{BLOCKED} ({finish_reason})"
    if reasoning or parts.reasoning:
        if reached_limit(finish_reason):
            advice = "a higher max_tokens leaves room for the answer"
            return f"{CUT_OFF} (finish_reason {finish_reason!r}; {advice})"
        return CUT_OFF if parts.is_unfinished else ONLY_REASONING
    if reply is None:
        return f"the model sent no text (finish_reason {finish_reason!r})"
    return None if keep_empty else EMPTY_REPLY


def reasoning_apart(frame: Any) -> Any:
    """Move the reasoning of each response from the column ``response`` to the column ``reasoning``.

    A response that contains nothing but reasoning becomes None, and the column ``reason`` says why,
    unless it already contains a reason. If the reasoning of a response has no closing mark, a warning
    says so. If no response contains reasoning, the result is `frame` itself.
    """
    if "response" not in frame:
        return frame
    responses = frame["response"].tolist()
    texts = [text if isinstance(text, str) else None for text in responses]
    read_parts = {place: read_reasoning(texts[place] or "") for place in places_of_reasoning(texts)}
    if not any(part.reasoning for part in read_parts.values()):
        return frame
    parts = [read_parts.get(place) or Reasoning("", text) for place, text in enumerate(responses)]
    warn_of_unfinished(parts)
    nothing = [None] * len(parts)
    reasoning, answers, reasons = [], [], []
    for part, text, before, reason, finish_reason in zip(
        parts,
        responses,
        frame.get("reasoning", nothing),
        frame.get("reason", nothing),
        frame.get("finish_reason", nothing),
        strict=True,
    ):
        # Reasoning that the endpoint returned separately comes first.
        reasoning.append(f"{present(before) or ''}{part.reasoning}" or None)
        why = None
        if part.reasoning and is_blank(part.answer):
            why = no_answer(text, finish_reason=present(finish_reason))
        answers.append(None if why else part.answer)
        reasons.append(present(reason) or why)
    columns = {"response": answers, "reasoning": reasoning}
    if "reason" in frame or any(reasons):
        columns["reason"] = reasons
    return frame.assign(**{name: _objects(frame, cells) for name, cells in columns.items()})


def warn_of_unfinished(parts: Sequence[Reasoning]) -> None:
    """Warn if replies contain reasoning that no mark closes."""
    unfinished = [part.reasoning for part in parts if part.is_unfinished]
    if unfinished:
        warn(
            f"{len(unfinished)} of {len(parts)} responses contain reasoning without a closing mark, "
            f"such as {unfinished[0]!r:.60}. They were probably cut off, so everything after the opening "
            "mark counts as reasoning and not as an answer.",
        )


def whole_replies(frame: Any) -> Any:
    """Move the reasoning of each response back into ``response``, and drop the column ``reasoning``.

    This reverses `reasoning_apart`, except for white space around the answer and marks behind it.
    Reasoning without marks is dropped. If either column is absent, the result is `frame` itself.
    """
    if not {"response", "reasoning"} <= set(frame):
        return frame
    texts = []
    for reasoning, answer in zip(frame["reasoning"], frame["response"], strict=True):
        text = present(answer)
        if isinstance(reasoning, str):
            # A reply that contains nothing but reasoning has no answer.
            text = join_reasoning(reasoning, text or "") or text
        texts.append(text)
    return frame.assign(response=_objects(frame, texts)).drop(columns="reasoning")


def _objects(frame: Any, values: list[Any]) -> Any:
    """Return a column of objects; otherwise, pandas would convert None to NaN."""
    return type(frame["response"])(values, frame.index, dtype=object)
