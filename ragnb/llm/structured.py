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
from ragnb.errors import InputError
from ragnb.llm.budget import Budget, as_budget
from ragnb.llm.client import DEFAULT_STORE, REPLY_COLUMNS, complete, one_report
from ragnb.llm.store import Store
from ragnb.prompts.parsing import parse_reply, repair_message, strict_schema
from ragnb.records import require_columns, whole_replies

_OF_REPAIR = ("response", "request_key", "prompt_tokens", "completion_tokens")
STRUCTURED_COLUMNS = (
    "record",
    "found",
    "repaired",
    "structured",
    *(f"repair_{name}" for name in _OF_REPAIR),
)
"""Columns that `complete_structured` adds to those of `complete`."""


@accepts(budget_usd=as_budget)
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
    store, budget_usd, repeats, **options
        As for `complete`. The budget is for all steps together. Equal replies share one repair turn.

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
            "complete_structured needs chat requests, got completion requests with 'prompt'. A repair "
            "turn is a message, so put the text into 'messages', or use complete and parse_reply"
        )
    require_columns(requests, ["messages"], "complete_structured")
    if structured:
        requests = _formatted(requests, schema)
    with Store.open(store) as opened, one_report():
        options |= {"model": model, "store": opened, "budget_usd": budget_usd, "keep_empty": True}
        # Records are read from whole replies, because what looks like reasoning may be part of a text.
        replies = whole_replies(complete(requests, repeats=repeats, **options))
        frame = _read(replies, schema).assign(repaired=False)
        frame["structured"] = structured
        for name in _OF_REPAIR:
            kind = "Int64" if "tokens" in name else object
            frame[f"repair_{name}"] = pd.Series([None] * len(frame), frame.index, kind)
        unread = [
            text is not None and record is None
            for text, record in zip(frame["response"], frame["record"], strict=True)
        ]
        if repair and any(unread):
            turn = whole_replies(complete(_repair_turns(frame[unread], schema), **options))
            frame = _merged(frame, unread, _read(turn, schema))
    return frame


def _formatted(requests: pd.DataFrame, schema: type[BaseModel]) -> pd.DataFrame:
    """The requests with ``response_format`` among their parameters."""
    form = strict_schema(schema)
    name = re.sub(r"[^A-Za-z0-9_-]", "_", schema.__name__)[:64]
    json_schema = {"name": name, "strict": True, "schema": form}
    wanted = {"response_format": {"type": "json_schema", "json_schema": json_schema}}
    given = requests["parameters"] if "parameters" in requests else [None] * len(requests)
    sent = [{**(each if isinstance(each, dict) else {}), **wanted} for each in given]
    return requests.assign(parameters=pd.Series(sent, requests.index, dtype=object))


def _read(replies: pd.DataFrame, schema: type[BaseModel]) -> pd.DataFrame:
    """The replies with the records in them."""
    frame = replies.drop(columns=list(STRUCTURED_COLUMNS), errors="ignore")
    rows: list[tuple[Any, str | None, str | None]] = []
    for text, reason in zip(replies["response"], replies["reason"], strict=True):
        if text is None:
            rows.append((None, reason, None))
            continue
        parsed = parse_reply(text, schema)
        record = parsed.record and parsed.record.model_dump(mode="json")
        rows.append((record, parsed.reason, parsed.found))
    read = pd.DataFrame(rows, frame.index, ["record", "reason", "found"], dtype=object)
    return frame.assign(**read)


def _repair_turns(bad: pd.DataFrame, schema: type[BaseModel]) -> pd.DataFrame:
    """Requests that show a model its reply and what is wrong with it."""
    turns = bad.drop(columns=[*REPLY_COLUMNS, *STRUCTURED_COLUMNS], errors="ignore")
    turns["messages"] = [
        [
            *messages,
            {"role": "assistant", "content": reply},
            {"role": "user", "content": repair_message(reason, schema)},
        ]
        for messages, reply, reason in zip(
            bad["messages"], bad["response"], bad["reason"], strict=True
        )
    ]
    return turns


def _merged(frame: pd.DataFrame, unread: list[bool], turn: pd.DataFrame) -> pd.DataFrame:
    """The frame with records, and reasons for those that are still missing, from the repair turn."""
    reasons: list[str | None] = []
    for first, record, text, why in zip(
        frame.loc[unread, "reason"], turn["record"], turn["response"], turn["reason"], strict=True
    ):
        step = "the repair turn failed" if text is None else "after a repair turn"
        reasons.append(None if record is not None else f"{first}; {step}: {why}")
    turn = turn.assign(reason=pd.Series(reasons, turn.index, dtype=object))
    turn["repaired"] = [reason is None for reason in reasons]
    taken = {name: name for name in ("record", "found", "reason", "repaired")}
    for name, source in (taken | {f"repair_{name}": name for name in _OF_REPAIR}).items():
        values = frame[name].to_numpy(dtype=object, copy=True)
        values[unread] = turn[source].to_numpy(dtype=object)
        frame[name] = pd.Series(values, frame.index, dtype=frame[name].dtype)
    return frame
