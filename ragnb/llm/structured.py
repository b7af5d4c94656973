"""`complete_structured`: replies of a model read as records of one form; what cannot be read says why.

Every step is a `ragnb.llm.client.complete` on the same store, so it can be stopped, resumed and replayed without a network.
"""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, Unpack

import pandas as pd

from ragnb.errors import EndpointError, InputError
from ragnb.llm.client import (
    DEFAULT_STORE,
    REPLY_COLUMNS,
    Options,
    Tally,
    complete,
    one_report,
)
from ragnb.llm.store import Store, canonical_requests, request_key
from ragnb.records import require_columns

if TYPE_CHECKING:
    from pydantic import BaseModel

Structured = bool | Literal["auto"]
_OF_REPAIR = ("response", "request_key", "prompt_tokens", "completion_tokens")
STRUCTURED_COLUMNS = (
    "record",
    "found",
    "repaired",
    "structured",
    *(f"repair_{name}" for name in _OF_REPAIR),
)
"""Columns that `complete_structured` adds to those of `complete`."""

_PROBES = 3  # requests asked one by one to learn whether the endpoint has structured outputs
_UNKNOWN_PARAMETER = re.compile(
    r"HTTP (?:400|422): .*(?:response_format|json_schema|structured.output)", re.I | re.S
)
_REFUSED_REQUESTS = re.compile(r"got HTTP 4(?:00|13|22)")


def complete_structured(
    requests: pd.DataFrame,
    schema: "type[BaseModel]",
    *,
    model: str,
    structured: Structured = "auto",
    repair: bool = True,
    **options: Unpack[Options],
) -> pd.DataFrame:
    """Records that a model's replies hold, in the order of the requests.

    Parameters
    ----------
    requests
        One row a chat request, as for `complete`.
    schema
        A pydantic model with the fields of a record; see `ragnb.prompts.parsing.parse_reply` for what is accepted.
    model
        Model name, as the endpoint knows it.
    structured
        True sends ``response_format`` with the JSON schema, so that the endpoint holds the model to it (in place of one in
        ``parameters``); False sends the requests as they are. "auto" sends it unless the endpoint refuses it (HTTP 400 or
        422 that names it) or the store shows that it was refused before; then all requests go without.
    repair
        Give a reply that cannot be read one more turn: its own messages, the reply, and what is wrong with it. The second
        reply is stored like any other, and what cannot be read then stays unscored.
    **options
        As for `complete`. ``budget_usd`` is for all steps together; ``repeats`` are for the requests: equal replies share
        one repair turn.

    Returns
    -------
    DataFrame
        What `complete` returns, ``parameters`` as sent, with ``record`` (dict or None), ``reason`` (why there is none),
        ``found`` (how, see `ragnb.prompts.parsing.Parsed`), ``repaired`` (the record comes from the repair turn),
        ``structured`` (``response_format`` was sent) and ``repair_response``, ``repair_request_key``,
        ``repair_prompt_tokens``, ``repair_completion_tokens`` of the repair turn (None where there was none).

    Raises
    ------
    InputError
        Completion requests (``prompt``), a schema without fields, or an offline run with replies missing.
    EndpointError, StoreError
        As for `complete`.
    """
    _check(requests, structured)
    formatted = _formatted(requests, schema)
    opened = Store.open(options.get("store", DEFAULT_STORE))
    with opened as store, one_report() as tally:
        ask = _Asker(model, store, tally, options)
        use = ask.takes_format(requests, formatted) if structured == "auto" else structured
        replies = ask(formatted if use else requests, repeats=options.get("repeats", 1))
        frame = _read(replies, schema, use)
        return _repaired(frame, schema, ask) if repair else frame


class _Asker:
    """Calls `complete` for one step after the other, within one budget."""

    def __init__(self, model: str, store: Store, tally: Tally, options: Options) -> None:
        self.model, self.store, self.tally, self.options = model, store, tally, options
        self.cost_before = tally.cost_usd

    def __call__(self, requests: pd.DataFrame, repeats: int = 1) -> pd.DataFrame:
        """Return the replies with their reasoning still in the text; an empty reply is kept."""
        step: Options = {
            **self.options,
            "store": self.store,
            "repeats": repeats,
            "keep_empty": True,
        }
        if (limit := self.options.get("budget_usd")) is not None:
            spent = self.tally.cost_usd - self.cost_before
            step["budget_usd"] = max(0.0, limit - spent)
        replies = complete(requests, model=self.model, **step)
        stored = self.store.get(replies["request_key"])
        pairs = zip(replies["request_key"], replies["response"], strict=True)
        came = [stored[key].response if text is not None else None for key, text in pairs]
        replies = replies.assign(response=_column(came, replies.index))
        return replies.drop(columns="reasoning", errors="ignore")

    def stored(self, requests: pd.DataFrame) -> list[bool]:
        """Return for each request whether its reply is in the store."""
        keys = [request_key(request) for request in canonical_requests(requests, self.model)]
        known = self.store.known(keys)
        return [key in known for key in keys]

    def takes_format(self, requests: pd.DataFrame, formatted: pd.DataFrame) -> bool:
        """Return whether to send ``response_format``.

        If the first reply is in the store, it decides. Otherwise up to three requests ask the endpoint.
        """
        for frame, use in ((formatted, True), (requests, False)):
            if any(self.stored(frame.head(1))):
                return use
        places = 0 if self.options.get("offline") else min(_PROBES, len(formatted))
        for place in range(places):
            row = self(formatted.iloc[[place]]).iloc[0]
            if row["response"] is not None:
                return True
            if _UNKNOWN_PARAMETER.match(row["reason"]):
                # The request is not lost, because it is asked again without the format.
                del self.tally.reasons[row["request_key"]]
                return False
        return True


def _repaired(frame: pd.DataFrame, schema: "type[BaseModel]", ask: _Asker) -> pd.DataFrame:
    """Give each reply without a record one more turn, and merge the results into the frame."""
    places = _unread(frame)
    if not places:
        return frame
    turns = _turns(frame.iloc[places], schema)
    try:
        replies = ask(turns)
    except EndpointError as error:
        if not _REFUSED_REQUESTS.search(str(error)):
            raise
        # The endpoint refused many turns in a row. Use those that it answered before.
        answered = ask.stored(turns)
        refused = [place for place, known in zip(places, answered, strict=True) if not known]
        reason = f"the repair turn failed: {error}"
        frame = _with_reasons(frame, refused, [reason] * len(refused))
        places = [place for place, known in zip(places, answered, strict=True) if known]
        replies = ask(turns[answered])
    return _merged(frame, places, _read(replies, schema, structured=False))


def _check(requests: pd.DataFrame, structured: object) -> None:
    if structured not in ("auto", True, False):
        raise InputError(f"structured needs 'auto', True or False; got {structured!r}; choose one")
    columns = getattr(requests, "columns", ())
    if "prompt" in columns and "messages" not in columns:
        raise InputError(
            "complete_structured needs chat requests, for a repair turn is a message; got completion requests with "
            "'prompt'; put the text into 'messages', or use complete and parse_reply"
        )
    require_columns(requests, ["messages"], "complete_structured")


def _formatted(requests: pd.DataFrame, schema: "type[BaseModel]") -> pd.DataFrame:
    """The requests with ``response_format`` among their parameters."""
    from ragnb.prompts.parsing import strict_schema

    name = re.sub(r"[^A-Za-z0-9_-]", "_", schema.__name__)[:64] if isinstance(schema, type) else ""
    form = {"name": name, "strict": True, "schema": strict_schema(schema)}
    wanted = {"response_format": {"type": "json_schema", "json_schema": form}}
    given = requests["parameters"] if "parameters" in requests else [None] * len(requests)
    sent = [{**(options if isinstance(options, dict) else {}), **wanted} for options in given]
    return requests.assign(parameters=_column(sent, requests.index))


def _column(values: Iterable[Any], index: pd.Index) -> pd.Series:
    return pd.Series(list(values), index=index, dtype=object)


def _read(replies: pd.DataFrame, schema: "type[BaseModel]", structured: bool) -> pd.DataFrame:
    """The replies with the records in them, before any repair turn."""
    from ragnb.prompts.parsing import parse_reply

    parsed = [
        parse_reply(text, schema) if isinstance(text, str) else None for text in replies["response"]
    ]
    records = [one.record.model_dump(mode="json") if one and one.record else None for one in parsed]
    reasons = [
        one.reason if one else reason for one, reason in zip(parsed, replies["reason"], strict=True)
    ]
    frame = replies.drop(columns=[name for name in STRUCTURED_COLUMNS if name in replies])
    frame["record"], frame["reason"] = _column(records, frame.index), _column(reasons, frame.index)
    frame["found"] = _column([one and one.found for one in parsed], frame.index)
    frame = frame.assign(repaired=False, structured=structured)
    for name in _OF_REPAIR:
        frame[f"repair_{name}"] = pd.Series(
            [None] * len(frame), frame.index, "Int64" if "tokens" in name else object
        )
    return frame


def _unread(frame: pd.DataFrame) -> list[int]:
    """Places of the replies without a record."""
    pairs = zip(frame["response"], frame["record"], strict=True)
    return [
        place
        for place, (text, record) in enumerate(pairs)
        if isinstance(text, str) and record is None
    ]


def _turns(bad: pd.DataFrame, schema: "type[BaseModel]") -> pd.DataFrame:
    """Requests that show a model its reply and what is wrong with it."""
    from ragnb.prompts.parsing import repair_message

    asked = bad.drop(columns=[*REPLY_COLUMNS, *STRUCTURED_COLUMNS], errors="ignore")
    messages = [
        [
            *before,
            {"role": "assistant", "content": reply},
            {"role": "user", "content": repair_message(reason, schema)},
        ]
        for before, reply, reason in zip(
            bad["messages"], bad["response"], bad["reason"], strict=True
        )
    ]
    return asked.assign(messages=_column(messages, asked.index)).reset_index(drop=True)


def _merged(frame: pd.DataFrame, places: list[int], turn: pd.DataFrame) -> pd.DataFrame:
    """The frame with records, and reasons for those that are still missing, from the repair turn."""
    reasons = [
        None
        if record is not None
        else f"after a repair turn: {reason}"
        if text is not None
        else f"the repair turn failed: {reason}"
        for record, text, reason in zip(
            turn["record"], turn["response"], turn["reason"], strict=True
        )
    ]
    for name in ("record", "found"):
        frame[name] = _put(frame[name], places, turn[name])
    for name in _OF_REPAIR:
        frame[f"repair_{name}"] = _put(frame[f"repair_{name}"], places, turn[name])
    frame["repaired"] = _put(
        frame["repaired"], places, [reason is None for reason in reasons]
    ).astype(bool)
    return _with_reasons(frame, places, reasons)


def _with_reasons(frame: pd.DataFrame, places: list[int], reasons: list[Any]) -> pd.DataFrame:
    """The frame with reasons, each behind the first reply's own where the turn brought no record."""
    first = frame["reason"].iloc[places]
    both = [reason and f"{old}; {reason}" for old, reason in zip(first, reasons, strict=True)]
    return frame.assign(reason=_put(frame["reason"], places, both))


def _put(column: pd.Series, places: list[int], values: Iterable[Any]) -> pd.Series:
    """A column with other values at some places."""
    changed = list(column)
    for place, value in zip(places, values, strict=True):
        changed[place] = value
    return pd.Series(changed, index=column.index, dtype=column.dtype)
