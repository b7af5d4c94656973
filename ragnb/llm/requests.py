"""Requests as data: rows of a frame become the canonical requests that are hashed, sent and stored."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ragnb.errors import InputError
from ragnb.records import require_columns

Request = dict[str, Any]
"""``model``, ``messages`` or ``prompt``, ``parameters`` and ``repeat``: all that can change a reply."""


def canonical_requests(requests: pd.DataFrame, model: str, repeats: int = 1) -> list[Request]:
    """The canonical requests of a frame, row by row, each ``repeats`` times in a row.

    Raises
    ------
    InputError
        No column ``messages`` or ``prompt``, an empty request, or fewer than one repeat.
    """
    if repeats < 1:
        raise InputError(f"repeats needs a whole number from 1 up; got {repeats!r}; 1 asks every request once")
    kind = "prompt" if "prompt" in getattr(requests, "columns", ()) and "messages" not in requests else "messages"
    require_columns(requests, [kind], "a run")
    parameters = requests["parameters"] if "parameters" in requests else [None] * len(requests)
    asked = []
    for place, (content, options) in enumerate(zip(requests[kind], parameters, strict=True)):
        _check(content, kind, place)
        given = _given(options)
        asked += [{"model": model, kind: content, "parameters": given, "repeat": repeat} for repeat in range(repeats)]
    return asked


def _check(content: Any, kind: str, place: int) -> None:
    if not isinstance(content, str if kind == "prompt" else list) or not content:
        wanted = "a text" if kind == "prompt" else "a list of messages"
        raise InputError(f"request {place} needs {wanted} in {kind!r}; got {content!r:.80}; render it again")


def _given(options: Any) -> Mapping[str, Any]:
    """Parameters without those that are None: frames fill in None for what a row does not set."""
    return {name: value for name, value in options.items() if value is not None} if isinstance(options, dict) else {}
