"""Requests as data: rows of a frame become the canonical requests that are hashed, sent and stored."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ragnb.errors import InputError
from ragnb.llm.store import canonical
from ragnb.records import is_missing, require_columns

Request = dict[str, Any]
"""``model``, ``messages`` or ``prompt``, ``parameters`` and ``repeat``: all that can change a reply."""


def canonical_requests(requests: pd.DataFrame, model: str, repeats: int = 1) -> list[Request]:
    """The canonical requests of a frame, row by row, each ``repeats`` times in a row.

    Raises
    ------
    InputError
        No column ``messages`` or ``prompt``, a request that is empty or that JSON does not know, no name of a model, or
        fewer than one repeat.
    """
    if not isinstance(model, str) or not model.strip():
        raise InputError(
            f"a run needs the name of a model; got {model!r:.80}; name one that the endpoint has"
        )
    if not isinstance(repeats, int) or repeats < 1:
        raise InputError(
            f"repeats needs a whole number from 1 up; got {repeats!r}; 1 asks every request once"
        )
    kind = (
        "prompt"
        if "prompt" in getattr(requests, "columns", ()) and "messages" not in requests
        else "messages"
    )
    require_columns(requests, [kind], "a run")
    parameters = requests["parameters"] if "parameters" in requests else [None] * len(requests)
    asked = []
    for place, (content, options) in enumerate(zip(requests[kind], parameters, strict=True)):
        _check(content, kind, place)
        given = _given(options, place)
        asked += [
            {"model": model, kind: content, "parameters": given, "repeat": repeat}
            for repeat in range(repeats)
        ]
    return asked


def _check(content: Any, kind: str, place: int) -> None:
    right = isinstance(content, str) if kind == "prompt" else _are_messages(content)
    if not right or not content:
        wanted = "a text" if kind == "prompt" else "a list of messages, each with role and content,"
        raise InputError(
            f"request {place} needs {wanted} in {kind!r}; got {content!r:.80}; render it again"
        )
    _check_json(content, kind, place)


def _are_messages(content: Any) -> bool:
    return isinstance(content, list) and all(isinstance(message, Mapping) for message in content)


def _given(options: Any, place: int) -> Mapping[str, Any]:
    """Parameters without those that are None: frames fill in None for what a row does not set."""
    if is_missing(options):
        return {}
    if not isinstance(options, Mapping):
        raise InputError(
            f"request {place} needs a mapping of parameters; got {options!r:.80}; write {{'temperature': 0}}"
        )
    given = {name: _plain(value) for name, value in options.items() if value is not None}
    _check_parameters(given, place)
    return given


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value  # numpy's numbers as Python's


def _check_parameters(given: Mapping[str, Any], place: int) -> None:
    _check_json(given, "parameters", place)
    if given.get("n", 1) != 1:
        raise InputError(
            f"request {place} needs one reply a request; got n = {given['n']!r}; use repeats instead"
        )
    for name in ("max_tokens", "max_completion_tokens"):
        if name in given and (not isinstance(given[name], int) or given[name] < 1):
            raise InputError(
                f"request {place} needs a whole number in {name}; got {given[name]!r}; 64 is a short answer"
            )


def _check_json(part: Any, kind: str, place: int) -> None:
    try:
        canonical(part)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"request {place} needs {kind} that JSON knows; got {error}; change it"
        ) from error
