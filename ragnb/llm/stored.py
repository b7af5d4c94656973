"""All replies of a store as one frame, with the requests that led to them."""

# Tested in tests/experiments/test_before_after.py.

import json
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.errors import StoreError
from ragnb.llm.client import with_replies
from ragnb.llm.store import Reply, Store

# How an SQLite file begins. A store is one.
_SQLITE_HEADER = b"SQLite format 3\x00"
# Parts of a request that become columns, if any request of the store has them.
_OF_REQUESTS = "model endpoint messages prompt parameters version example_id".split()


def is_store(source: Any) -> bool:
    """Whether this is a `Store` or the name of an SQLite file, which is not created if it is missing."""
    if isinstance(source, Store):
        return True
    if not isinstance(source, str | Path):
        return False
    path = Path(source).expanduser()
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_SQLITE_HEADER)) == _SQLITE_HEADER


@accepts()
def stored_replies(store: Store | str | Path, *, keep_empty: bool = False) -> pd.DataFrame:
    """Read all replies of a store, one row per reply, without the frame of their requests.

    Parameters
    ----------
    store
        File, or open `Store`, of `ragnb.complete` or `ragnb.run`. It is not changed.
    keep_empty
        Whether an empty reply counts as an answer, as in `ragnb.complete`.

    Returns
    -------
    DataFrame
        In the order in which the replies arrived: ``system`` (the model, or the system of `ragnb.run`),
        ``response``, ``reason`` (why there is no answer), ``repeat, request_key``, and of the requests,
        as far as they have them: ``model, endpoint, messages, prompt, parameters``, or ``version,
        example_id, question`` of `ragnb.run`. ``served_model, system_fingerprint, created`` and the
        other columns of replies follow. ``attrs["failures"]`` has the reasons of the requests that
        got no reply. The store does not know which questions these were.

    Raises
    ------
    StoreError
        There is no such file, or it is not a store.

    Examples
    --------
    >>> import ragnb
    >>> store = ragnb.Store(":memory:")
    >>> examples = pd.DataFrame({"example_id": ["q1"], "question": ["Capital of Norway?"]})
    >>> _ = ragnb.run(examples, lambda question: "Oslo", system="mine", store=store, progress=False)
    >>> stored_replies(store)[["example_id", "system", "question", "response"]].iloc[0].to_list()
    ['q1', 'mine', 'Capital of Norway?', 'Oslo']
    """
    if not isinstance(store, Store) and not Path(store).expanduser().is_file():
        raise StoreError(f"there is no store {str(store)!r}; check the path")
    with Store.open(store) as opened:
        replies = list(opened)
        failures = list(opened.failures().values())
    frame = pd.DataFrame([_of_request(reply) for reply in replies])
    for name in _OF_REQUESTS:
        if name in frame and frame[name].isna().all():
            del frame[name]
    frame = frame.reindex(columns=list(dict.fromkeys(["system", *frame, "request_key", "repeat"])))
    by_key = {reply.key: reply for reply in replies}
    frame = with_replies(frame, by_key, {}, keep_empty)
    # Only models have these.
    for name in ("served_model", "created"):
        frame[name] = pd.Series(
            [getattr(reply, name) for reply in replies], frame.index, dtype=object
        )
    frame.attrs["failures"] = failures
    return frame


def _of_request(reply: Reply) -> dict[str, Any]:
    """The cells of a request: what identifies it, and what was asked."""
    request = json.loads(reply.request)
    cells = {name: request.get(name) for name in _OF_REQUESTS}
    # The system of `ragnb.run` is under another key, and its question is an argument of the function.
    cells["system"] = request.get("pipeline") or request.get("model")
    arguments = request.get("arguments")
    if isinstance(arguments, dict):
        cells["question"] = arguments.get("question", arguments.get(""))
    return cells | {"request_key": reply.key, "repeat": request.get("repeat", 0)}
