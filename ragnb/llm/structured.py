"""Replies of a model as records of a pydantic model, or the reasons why they cannot be parsed.

Every step is a `ragnb.llm.client.complete` on the same store. A run can therefore be stopped, resumed
and replayed without a network.
"""

import re
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
        texts = replies["response"].notna().tolist()
        bad = [place for place, row in enumerate(rows) if row["record"] is None and texts[place]]
        if repair and bad:
            turns = replies.iloc[bad]
            conversations = []
            for place, turn in zip(bad, turns.to_dict("records"), strict=True):
                reply = {"role": "assistant", "content": turn["response"]}
                problem = repair_message(rows[place]["reason"], schema)
                repair_request = {"role": "user", "content": problem}
                conversations.append([*turn["messages"], reply, repair_request])
            turns = turns.assign(messages=conversations)
            turns = whole_replies(complete(turns, **options))
            seconds = zip(bad, _records(turns, schema), turns.to_dict("records"), strict=True)
            for place, second, reply in seconds:
                row = rows[place]
                row |= {f"repair_{name}": reply[name] for name in _OF_REPAIR}
                if second["record"] is not None:
                    row |= {**second, "repaired": True}
                    continue
                failed = reply["response"] is None
                step = "the repair turn failed" if failed else "after a repair turn"
                row["reason"] = f"{row['reason']}; {step}: {second['reason']}"
    columns = ["record", "reason", "found", *unrepaired]
    records = pd.DataFrame(rows, replies.index, columns, dtype=object)
    kinds = {"repaired": bool, "structured": bool}
    tokens = dict.fromkeys(["repair_prompt_tokens", "repair_completion_tokens"], "Int64")
    return replies.assign(**records.astype({**kinds, **tokens}))


def _records(replies: pd.DataFrame, schema: type[BaseModel]) -> list[dict[str, Any]]:
    """Of each reply: its record, or the reason why there is none, and how it was found."""
    rows = []
    columns = ("response", "reason", "messages")
    for text, reason, messages in zip(*(replies[name] for name in columns), strict=True):
        parsed = parse_reply(text, schema, quotable_texts(messages, schema))
        rows.append(
            {
                "record": parsed.record and parsed.record.model_dump(mode="json"),
                "reason": reason if text is None else parsed.reason,
                "found": parsed.found,
            }
        )
    return rows


def with_response_format(requests: pd.DataFrame, schema: type[BaseModel]) -> pd.DataFrame:
    """Add ``response_format`` with the JSON schema to the parameters of requests."""
    form = strict_schema(schema)
    name = re.sub(r"[^A-Za-z0-9_-]", "_", schema.__name__)[:64]
    json_schema = {"name": name, "strict": True, "schema": form}
    wanted = {"response_format": {"type": "json_schema", "json_schema": json_schema}}
    column = requests["parameters"] if "parameters" in requests else [None] * len(requests)
    completed = []
    for cell in column:
        parameters = cell if isinstance(cell, dict) else {}
        completed.append({**parameters, **wanted})
    return requests.assign(parameters=pd.Series(completed, requests.index, dtype=object))
