"""Replies of a model as records of a pydantic model, or the reasons why they cannot be parsed.

Every step is a `ragnb.llm.client.complete` on the same store. A run can therefore be stopped, resumed
and replayed without a network.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import BaseModel

from ragnb.arguments import accepts
from ragnb.columns import require_columns
from ragnb.errors import InputError
from ragnb.forwarding import passes_options_to
from ragnb.llm.budget import Budget, as_budget
from ragnb.llm.client import DEFAULT_STORE, complete
from ragnb.llm.store import Store
from ragnb.llm.tally import one_report
from ragnb.prompts.parsing import parse_reply, quotable_texts, repair_message, strict_schema
from ragnb.replies import whole_replies

# Columns of the repair turn that the frame has with the prefix ``repair_``.
_OF_REPAIR = ("response", "request_key", "prompt_tokens", "completion_tokens")


@accepts(budget_usd=as_budget)
@passes_options_to(complete)
def complete_structured(
    requests: pd.DataFrame,
    schema: type[BaseModel],
    *,
    model: str,
    structured: bool = True,
    repair: bool = True,
    store: Store | str | Path = DEFAULT_STORE,
    budget_usd: float | Budget | None = None,
    repeats: int = 1,
    **options: Any,
) -> pd.DataFrame:
    """Send requests to a model, and parse each reply as a record of a pydantic model.

    Parameters
    ----------
    requests
        One row per chat request, as for `complete`.
    schema
        A pydantic model with the fields of a record; see `ragnb.prompts.parsing.parse_reply` for
        what is accepted.
    model
        Model name, as the endpoint knows it.
    structured
        Send ``response_format`` with the JSON schema in the ``parameters``, so that the endpoint
        forces the model to keep to it. If the endpoint refuses it (HTTP 400 or 422 that names it),
        the requests are sent without it, and a warning says so. False sends the requests as they are.
    repair
        Give a reply that cannot be read one more turn, which contains the reply and what is wrong
        with it. The second reply is stored like any other. What cannot be read then stays unscored.
    store, budget_usd, repeats
        As for `complete`. The budget is for all steps together. Equal replies share one repair turn.
    **options
        As for `complete`.

    Returns
    -------
    DataFrame
        The columns of `complete`, with ``parameters`` as sent, and ``record`` (dict or None),
        ``reason`` (why there is none), ``found`` (see `ragnb.prompts.parsing.Parsed`), ``repaired``
        (the record comes from the repair turn), ``structured`` (``response_format`` was requested), and
        ``repair_response``, ``repair_request_key``, ``repair_prompt_tokens`` and
        ``repair_completion_tokens`` of the repair turn (None if there was none).

    Raises
    ------
    InputError
        Completion requests (``prompt``), a schema without fields, or an offline run with replies
        missing.
    EndpointError, StoreError
        As for `complete`.
    """
    if "prompt" in requests and "messages" not in requests:
        raise InputError(
            "complete_structured needs chat requests, got completion requests with 'prompt'. To "
            "have an invalid reply corrected, ragnb adds a message; put the text into 'messages', or use "
            "complete and parse_reply"
        )
    require_columns(requests, ["messages"], "complete_structured")
    if structured:
        requests = with_response_format(requests, schema)
    # What a row has without a repair turn.
    unrepaired = {
        "repaired": False,
        "structured": structured,
        **dict.fromkeys(f"repair_{name}" for name in _OF_REPAIR),
    }
    with Store.open(store) as opened, one_report():
        options |= {"model": model, "store": opened, "budget_usd": budget_usd, "keep_empty": True}
        # Records are read from whole replies, because what looks like reasoning may be part of a text.
        replies = whole_replies(complete(requests, repeats=repeats, **options))
        rows = [record | unrepaired for record in _records(replies, schema)]
        has_text = replies["response"].notna().tolist()
        # Positions of the replies that cannot be read. Without a text, there is nothing to repair.
        unreadable = [
            place for place, row in enumerate(rows) if row["record"] is None and has_text[place]
        ]
        if repair and unreadable:
            reasons = [rows[place]["reason"] for place in unreadable]
            repair_requests = _repair_requests(replies.iloc[unreadable], reasons, schema)
            repair_replies = whole_replies(complete(repair_requests, **options))
            repair_records = _records(repair_replies, schema)
            repair_turns = zip(repair_replies.to_dict("records"), repair_records, strict=True)
            for place, (reply, parsed) in zip(unreadable, repair_turns, strict=True):
                _add_repair_turn(rows[place], reply, parsed)
    columns = ["record", "reason", "found", *unrepaired]
    records = pd.DataFrame(rows, replies.index, columns, dtype=object)
    types = {
        "repaired": bool,
        "structured": bool,
        "repair_prompt_tokens": "Int64",
        "repair_completion_tokens": "Int64",
    }
    return replies.assign(**records.astype(types))


def _repair_requests(
    replies: pd.DataFrame, reasons: list[str], schema: type[BaseModel]
) -> pd.DataFrame:
    """The requests of the repair turns: each conversation with the reply, and with what is wrong with it."""
    conversations = []
    for row, reason in zip(replies.to_dict("records"), reasons, strict=True):
        reply = {"role": "assistant", "content": row["response"]}
        request = {"role": "user", "content": repair_message(reason, schema)}
        conversations.append([*row["messages"], reply, request])
    return replies.assign(messages=conversations)


def _add_repair_turn(
    row: dict[str, Any], reply: Mapping[str, Any], parsed: Mapping[str, Any]
) -> None:
    """Add to a row the reply of its repair turn, and the record or the reason why there is none.

    ``reply`` is the reply as `complete` returns it, and ``parsed`` what `_records` found in it. ``row`` is changed.
    """
    for name in _OF_REPAIR:
        row[f"repair_{name}"] = reply[name]
    if parsed["record"] is not None:
        row |= {**parsed, "repaired": True}
        return
    has_no_reply = reply["response"] is None
    step = "the repair turn failed" if has_no_reply else "after a repair turn"
    row["reason"] = f"{row['reason']}; {step}: {parsed['reason']}"


def _records(replies: pd.DataFrame, schema: type[BaseModel]) -> list[dict[str, Any]]:
    """For each reply its ``record``, the ``reason`` why there is none, and how it was ``found``.

    ``found`` says whether the reply was a record alone, or contained one; see `ragnb.prompts.parsing.Parsed`.
    """
    rows = []
    for reply in replies[["response", "reason", "messages"]].to_dict("records"):
        text = reply["response"]
        # Fields that quote must quote these texts.
        quotable = quotable_texts(reply["messages"], schema)
        parsed = parse_reply(text, schema, quotable)
        record = None if parsed.record is None else parsed.record.model_dump(mode="json")
        # Without a text, the reason of the reply says more than that nothing can be parsed.
        reason = reply["reason"] if text is None else parsed.reason
        rows.append({"record": record, "reason": reason, "found": parsed.found})
    return rows


def with_response_format(requests: pd.DataFrame, schema: type[BaseModel]) -> pd.DataFrame:
    """Add ``response_format`` with the JSON schema to the parameters of requests."""
    # The API allows these characters in a name, and at most 64 of them.
    name = re.sub(r"[^A-Za-z0-9_-]", "_", schema.__name__)[:64]
    json_schema = {"name": name, "strict": True, "schema": strict_schema(schema)}
    response_format = {"type": "json_schema", "json_schema": json_schema}
    cells = requests["parameters"] if "parameters" in requests else [None] * len(requests)
    parameters_of_rows = []
    for cell in cells:
        parameters = cell if isinstance(cell, dict) else {}
        parameters_of_rows.append({**parameters, "response_format": response_format})
    return requests.assign(parameters=pd.Series(parameters_of_rows, requests.index, dtype=object))
