"""Requests of an experiment: one rendered prompt per row, after the earlier turns of its conversation."""

# Tested in tests/experiments/test_rgb.py.

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.cells import as_lists, present
from ragnb.columns import require_columns
from ragnb.errors import InputError
from ragnb.llm.budget import as_budget
from ragnb.passages import passage_column
from ragnb.prompts.questions import template_for
from ragnb.prompts.template import Template, turns

PARAMETERS = {"temperature": 0.0, "max_tokens": 512, "seed": 0}


@accepts()
def question_requests(
    examples: pd.DataFrame,
    *,
    prompt: str | Template = "answer",
    parameters: Mapping[str, Any] = PARAMETERS,
) -> pd.DataFrame:
    """Build requests that ask your own questions, one row per question. Nothing is sent.

    Parameters
    ----------
    examples
        ``question``, and as far as there are any: ``passages``, which the model is shown (see
        `ragnb.passages.passage_texts` for what a cell may contain); ``language``, by default
        English; and ``history``, the earlier turns of the conversation (``{"role", "content"}``),
        which are sent as messages before the question.
    prompt
        ``"answer"``, ``"plain"``, ``"closed_book"`` (without passages) or a `Template` with the
        fields ``{question}`` and ``{passages}``.
    parameters
        Sampling parameters, sent as they are.

    Returns
    -------
    DataFrame
        The examples with ``messages, template, parameters``, ready for `ragnb.complete`.

    Raises
    ------
    InputError
        There is no column ``question``, a passage has no text, or the prompt is unknown in a
        language.

    Examples
    --------
    >>> from ragnb import load_study
    >>> turns = load_study("mtrag").query("system == 'reference' and turn == 2")
    >>> messages = question_requests(turns, prompt="closed_book")["messages"].iloc[0]
    >>> [message["role"] for message in messages]
    ['user', 'assistant', 'user']
    """
    require_columns(examples, ["question"], "question_requests")
    prompts = []
    rows = examples.reindex(columns=["question", "language"]).to_dict("records")
    for row, passages in zip(rows, passage_column(examples, "examples"), strict=True):
        template = template_for(prompt, present(row["language"]) or "en")
        texts = {"question": row["question"], "passages": "\n".join(passages or [])}
        prompts.append((template, template.render(texts)))
    return with_requests(examples, prompts, parameters)


def with_requests(
    frame: pd.DataFrame, prompts: Sequence[tuple[Template, Any]], parameters: Mapping[str, Any]
) -> pd.DataFrame:
    """Add one request to each row: ``messages`` or ``prompt``, ``template, parameters``.

    Each prompt is a pair: the template, and the template with its fields filled in, which is a list of
    messages or, for a completion, a text. If the frame has a ``history``, its turns come directly before the
    question. ``parameters`` are the same for all rows.
    """
    # The prompts of a frame are of one kind: messages, or a text that the model continues.
    is_completion = any(template.kind == "completion" for template, _ in prompts)
    rendered = [text for _, text in prompts]
    # After its answer, a base model would continue with another question.
    stop = {"stop": ["\n"]} if is_completion else {}
    if "history" in frame:
        histories = [turns(as_lists(present(cell)) or []) for cell in frame["history"]]
        if is_completion and any(histories):
            raise InputError("a completion prompt has no place for the earlier turns in history")
        if not is_completion:
            conversations = []
            for messages, history in zip(rendered, histories, strict=True):
                # The last message is the question.
                *instructions, question = messages
                conversations.append([*instructions, *history, question])
            rendered = conversations
    column = "prompt" if is_completion else "messages"
    cells: dict[str, Any] = {
        column: pd.Series(rendered, frame.index, dtype=object),
        "template": [template.id for template, _ in prompts],
        # A stop in the parameters of the user replaces this one.
        "parameters": [{**stop, **parameters} for _ in prompts],
    }
    return frame.drop(columns=["messages", "prompt"], errors="ignore").assign(**cells)


def one_budget(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of `ragnb.complete`, in which a limit is one `Budget` that all calls with these options share."""
    limit = options.get("budget_usd")
    if limit is None:
        return dict(options)
    return {**options, "budget_usd": as_budget(limit)}
