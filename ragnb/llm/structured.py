"""`complete_structured`: replies of a model read as records of one form; what cannot be read says why.

Every step is a `ragnb.llm.client.complete` on the same store, so it can be stopped, resumed and replayed without a network.
"""

import json
import re
from collections.abc import Generator, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

import pandas as pd

from ragnb.errors import EndpointError, InputError
from ragnb.llm.client import (
    DEFAULT_STORE,
    REPLY_COLUMNS,
    Options,
    Tally,
    acomplete,
    complete,
    one_report,
)
from ragnb.llm.limits import Budget
from ragnb.llm.prices import completion_bound, price_of, prompt_bound
from ragnb.llm.requests import canonical_requests
from ragnb.llm.store import Reply, Store, request_key
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


class _Changed(TypedDict, total=False):
    """Options of one step that differ from those of the run."""

    repeats: int


_Steps = Generator[tuple[pd.DataFrame, _Changed], pd.DataFrame, pd.DataFrame]


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
    with _opened(options) as store, one_report() as tally:
        run = _Run(requests, schema, model, structured, repair, store, tally, options)
        while run.frame is None:
            try:
                run.take(complete(run.asked, model=model, **run.options))
            except EndpointError as error:
                run.refuse(error)
        return run.frame


async def acomplete_structured(
    requests: pd.DataFrame,
    schema: "type[BaseModel]",
    *,
    model: str,
    structured: Structured = "auto",
    repair: bool = True,
    **options: Unpack[Options],
) -> pd.DataFrame:
    """`complete_structured`, to be awaited by code that has an event loop of its own; the same arguments and result."""
    with _opened(options) as store, one_report() as tally:
        run = _Run(requests, schema, model, structured, repair, store, tally, options)
        while run.frame is None:
            try:
                run.take(await acomplete(run.asked, model=model, **run.options))
            except EndpointError as error:
                run.refuse(error)
        return run.frame


def _opened(options: Options) -> AbstractContextManager[Store]:
    store = options.get("store", DEFAULT_STORE)
    return nullcontext(store) if isinstance(store, Store) else Store(store)


class _Run:
    """One call: the steps, what is asked next (``asked``, ``options``), and at the end the ``frame``."""

    def __init__(
        self,
        requests: pd.DataFrame,
        schema: "type[BaseModel]",
        model: str,
        structured: Structured,
        repair: bool,
        store: Store,
        tally: Tally,
        options: Options,
    ) -> None:
        _check(requests, structured)
        self.model, self.store, self.tally = model, store, tally
        self.given: Options = {**options, "store": store}
        self.budget = Budget(options.get("budget_usd"), price_of(model, options.get("prices")))
        self.frame: pd.DataFrame | None = None
        self.steps = self._all_steps(requests, schema, structured, repair)
        self._ask(*next(self.steps))

    def take(self, replies: pd.DataFrame) -> None:
        """Go on with the replies of a step; records are looked for in the replies as they came, with their reasoning."""
        stored = self.store.get(replies["request_key"])
        pairs = zip(replies["request_key"], replies["response"], strict=True)
        came = [stored[key].response if text is not None else None for key, text in pairs]
        replies = replies.assign(response=_column(came, replies.index)).drop(
            columns="reasoning", errors="ignore"
        )
        self.budget.spent += sum(
            _cost(reply, self.budget) for reply in self.store.get(self.unknown).values()
        )
        try:
            self._ask(*self.steps.send(replies))
        except StopIteration as end:
            self.frame = end.value

    def refuse(self, error: EndpointError) -> None:
        """Go on after a step that the endpoint refused, where that can be; raise the error where it cannot."""
        try:
            self._ask(*self.steps.throw(error))
        except StopIteration as end:
            self.frame = end.value

    def _ask(self, asked: pd.DataFrame, changed: _Changed) -> None:
        self.asked = asked
        self.options: Options = {
            **self.given,
            **changed,
            "keep_empty": True,
        }  # an empty reply gets its repair turn
        self.unknown: set[str] = set()
        if self.budget.limit is not None:
            self.options["budget_usd"] = max(0.0, self.budget.limit - self.budget.spent)
            keys = _keys(asked, self.model, self.options.get("repeats", 1))
            self.unknown = set(keys) - self.store.known(keys)

    def _all_steps(
        self,
        requests: pd.DataFrame,
        schema: "type[BaseModel]",
        structured: Structured,
        repair: bool,
    ) -> _Steps:
        formatted = _formatted(requests, schema)
        use = (yield from self._probe(requests, formatted)) if structured == "auto" else structured
        frame = _read((yield (formatted if use else requests), {}), schema, use)
        return (yield from self._repair(frame, schema)) if repair else frame

    def _probe(
        self, requests: pd.DataFrame, formatted: pd.DataFrame
    ) -> Generator[tuple[pd.DataFrame, _Changed], pd.DataFrame, bool]:
        """Whether to send ``response_format``: the way whose first reply is stored, else what the endpoint takes."""
        for frame, use in ((formatted, True), (requests, False)):
            if self.store.known(_keys(frame.head(1), self.model)):
                return use
        places = 0 if self.given.get("offline") else min(_PROBES, len(formatted))
        for place in range(places):
            row = (yield formatted.iloc[[place]], {"repeats": 1}).iloc[0]
            if row["response"] is not None:
                return True
            if _UNKNOWN_PARAMETER.match(row["reason"]):
                del self.tally.reasons[
                    row["request_key"]
                ]  # not lost: it is asked again without the format
                return False
        return True

    def _repair(self, frame: pd.DataFrame, schema: "type[BaseModel]") -> _Steps:
        """One more turn for each reply without a record; the frame with what came of it."""
        places = _unread(frame)
        turns = _turns(frame.iloc[places], schema)
        if not places:
            return frame
        try:
            replies = yield turns, {"repeats": 1}
        except EndpointError as error:
            if not _REFUSED_REQUESTS.search(str(error)):
                raise
            return (
                yield from self._repair_stored(
                    frame, schema, places, turns, f"the repair turn failed: {error}"
                )
            )
        return _merged(frame, places, _read(replies, schema, structured=False))

    def _repair_stored(
        self,
        frame: pd.DataFrame,
        schema: "type[BaseModel]",
        places: list[int],
        turns: pd.DataFrame,
        reason: str,
    ) -> _Steps:
        """The frame with those repair turns that were answered before too many were refused."""
        keys = _keys(turns, self.model)
        known = self.store.known(keys)
        answered = [n for n, key in enumerate(keys) if key in known]
        refused = [place for place, key in zip(places, keys, strict=True) if key not in known]
        frame = _with_reasons(frame, refused, [reason] * len(refused))
        if not answered:
            return frame
        replies = yield turns.iloc[answered], {"repeats": 1}
        return _merged(
            frame, [places[n] for n in answered], _read(replies, schema, structured=False)
        )


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


def _keys(requests: pd.DataFrame, model: str, repeats: int = 1) -> list[str]:
    return [request_key(request) for request in canonical_requests(requests, model, repeats)]


def _cost(reply: Reply, budget: Budget) -> float:
    """Dollars that a reply cost; where the endpoint tells no usage, its dearest."""
    if reply.prompt_tokens is not None and reply.completion_tokens is not None:
        return budget.cost(reply.prompt_tokens, reply.completion_tokens)
    request = json.loads(reply.request)
    return budget.cost(prompt_bound(request), completion_bound(request))


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
