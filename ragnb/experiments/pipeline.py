"""Run your own pipeline: a Python function that answers one question, for every row of a frame.

    examples -> run(examples, function) -> responses

Each answer is stored as soon as it arrives, in the same kind of store as the replies of models. To
continue an interrupted run, call `run` again.
"""

import asyncio
import hashlib
import inspect
import json
import os
import re
import sys
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ragnb.arguments import HIDDEN, accepts, without_keys
from ragnb.cells import is_missing
from ragnb.columns import require_columns
from ragnb.errors import InputError
from ragnb.llm.client import DEFAULT_STORE, REPLY_COLUMNS, with_replies
from ragnb.llm.endpoint import safe_message
from ragnb.llm.run import LOOK_AGAIN
from ragnb.llm.store import LEASE_SECONDS, Reply, Store, canonical, new_owner, request_key
from ragnb.passages import passage_texts
from ragnb.printing import inform, warn
from ragnb.replies import count_reasons
from ragnb.text import well_formed

# Entries of a result that are ignored. They identify or judge an answer, or describe its call, which `run` does itself.
PROTECTED = frozenset(
    "example_id question_id question references language system request_key repeat seconds "
    "finish_reason system_fingerprint".split()
)
# Names of a parameter that gets the whole row of the examples.
ROW_NAMES = ("example", "row")
# Fields of a result that become the columns of replies.
COUNTS = ("prompt_tokens", "completion_tokens")
# Names of environment variables whose values are hidden in messages.
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
# Length of the shortest value that is hidden. Shorter values are placeholders or flags, such as 1, which a message may
# contain by chance.
_SHORTEST_SECRET = 8


@accepts(aligned=False, max_concurrency="size")
def run(
    examples: pd.DataFrame,
    function: Callable[..., Any],
    *,
    system: str | None = None,
    version: str | int | None = None,
    store: Store | str | Path = DEFAULT_STORE,
    max_concurrency: int = 1,
    progress: bool = True,
    keep_empty: bool = False,
) -> pd.DataFrame:
    """Answer every question of a frame with your own function, and return the responses.

    Parameters
    ----------
    examples
        One row per question: ``question`` and any other columns, which are kept.
    function
        Function of one question, synchronous or asynchronous. Its parameters get the cells of the
        columns with their names: ``def answer(question, language)``. A parameter ``example`` or
        ``row`` gets the whole row as a mapping. The first parameter gets the question if no column
        has its name. The function returns the answer as a text, or a mapping with ``response`` and
        any of these: ``passages`` (the passages on which the answer is based), ``retrieved`` (the ids
        of the retrieved passages, best first), ``prompt_tokens`` and ``completion_tokens``. Other
        entries, such as ``tokens``, become columns with their names. Entries that describe the
        example, such as ``question``, are ignored.
    system
        Name of the system, by default the name of the function.
    version
        Version of the system. If you change the function, change the version as well: the answers
        of another version are not used. A warning says if stored answers come from another code of
        the function itself; changes of what the function calls are not noticed.
    store
        File (or open `Store`) that keeps the answers. After an interruption, call `run` again: it
        calls the function only for the examples without an answer. The key of an answer contains
        the name and the version of the system, the id of the example, and what the function gets.
    max_concurrency
        Maximum number of calls at the same time. With 1, a synchronous function runs in the thread
        of the caller. With more, it runs in several threads, so it must be thread-safe. Asynchronous
        functions share one event loop.
    progress
        Show a progress bar, and one line at the end that says how many questions were answered and
        why the others were not. The environment variable ``TQDM_DISABLE=1`` turns both off.
    keep_empty
        Count an empty answer as an answer, which is then scored. By default it counts as missing, as
        in `ragnb.complete`.

    Returns
    -------
    DataFrame
        The columns of the examples and ``system, request_key, repeat, response, reason,
        prompt_tokens, completion_tokens, seconds``, and further entries that the function returned.
        ``response`` is None if there is no answer, and ``reason`` says why. If the function raised an
        exception, the reason is its type and message. Such an example is unscored, and the next run
        calls the function for it again. Reasoning in an answer is in the column ``reasoning``.

    Raises
    ------
    InputError
        The frame has no questions, a parameter of the function has no column, or a cell cannot be
        part of the key.
    StoreError
        See `Store`.

    Examples
    --------
    >>> examples = pd.DataFrame({"example_id": ["q1"], "question": ["Capital of Norway?"]})
    >>> def retrieve_and_answer(question):
    ...     return {"response": "Oslo", "retrieved": ["p7"], "completion_tokens": 1}
    >>> responses = run(examples, retrieve_and_answer, store=":memory:", progress=False)
    >>> responses[["system", "response", "retrieved"]].iloc[0].to_list()
    ['retrieve_and_answer', 'Oslo', ['p7']]
    """
    require_columns(examples, ["question"], "run")
    name = _system_name(function) if system is None else system
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"system must be the name of your system, got {name!r:.80}")
    arguments = _arguments(examples, function)
    requests = _requests(examples, arguments, name, version)
    keys = [request_key(request) for request in requests]
    started = time.monotonic()
    with Store.open(store) as opened:
        stored = opened.stored_keys(keys)
        # Equal calls have one key, so that the function is called once for them.
        calls: dict[str, _Call] = {}
        for key, request, call_arguments in zip(keys, requests, arguments, strict=True):
            if key not in stored:
                calls[key] = _Call(key, canonical(request), call_arguments)
        code = _code_of(function)
        work = _Work(function, opened, deque(calls.values()), code=code)
        if calls:
            _carry_out(work, len(calls), len(stored), max_concurrency, progress)
        replies = opened.get(keys)
    frame = examples.drop(columns=REPLY_COLUMNS, errors="ignore")
    frame = frame.assign(system=name, request_key=keys, repeat=0)
    _warn_of_other_code([replies[key] for key in stored if key in replies], code, name, version)
    reasons_without_reply = {
        key: work.failures.get(key, "not called") for key in keys if key not in replies
    }
    frame = with_replies(frame, replies, reasons_without_reply, keep_empty)
    # Only models have these.
    frame = frame.drop(columns=["finish_reason", "system_fingerprint"])
    frame = _with_results(frame, replies)
    if progress and os.environ.get("TQDM_DISABLE", "0") in ("", "0"):
        reasons = dict(zip(keys, frame["reason"], strict=True))
        inform(_closing_line(reasons, calls, time.monotonic() - started))
    return frame


# ---- what the function gets ----------------------------------------------------------------------


def _system_name(function: Any) -> str:
    """The name of a function, also of a partial one, or of the class of a callable object."""
    if not callable(function):
        raise InputError(f"function must be a function of a question, got {function!r:.80}")
    if isinstance(function, partial):
        return _system_name(function.func)
    name = getattr(function, "__name__", None) or type(function).__name__
    if name == "<lambda>":
        raise InputError("a lambda has no name; name your system, such as system='bm25 + gpt'")
    return name


def _code_of(function: Any) -> str | None:
    """Digest of the source of a function, or of the class of a callable object; None if the source is unknown.

    It shows whether stored answers come from another code.
    """
    while isinstance(function, partial):
        function = function.func
    has_source = inspect.isroutine(function) or inspect.isclass(function)
    try:
        source = inspect.getsource(function if has_source else type(function))
    except (OSError, TypeError):
        return None
    # White space at the ends of lines and empty lines do not change what a function does.
    lines = [line.rstrip() for line in source.splitlines() if line.strip()]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _warn_of_other_code(
    stored: list[Reply], code: str | None, system: str, version: str | int | None
) -> None:
    """Warn if stored answers come from another code of the function, which the caller may not expect."""
    stored_codes = [json.loads(reply.extra or "{}").get("code") for reply in stored]
    # Answers of earlier versions of ragnb have no code.
    n_others = sum(stored_code not in (None, code) for stored_code in stored_codes)
    if code is None or not n_others:
        return
    next_version = version + 1 if isinstance(version, int) else 2
    warn(
        f"{n_others:,} of the stored answers of {system!r} are from another code of the function, which "
        "has changed since. To call the function for all questions again, change the version, such as "
        f"version={next_version}"
    )


def _arguments(examples: pd.DataFrame, function: Any) -> list[dict[str, Any]]:
    """The arguments of each call, by the names of the parameters."""
    sources = _sources(function, list(examples.columns))
    arguments = []
    for place, row in enumerate(examples.to_dict("records")):
        question = row["question"]
        if not isinstance(question, str) or not question.strip():
            raise InputError(f"row {place} must have a text in 'question', got {question!r:.80}")
        call_arguments = {}
        for name, column in sources.items():
            call_arguments[name] = dict(row) if column is None else row[column]
        arguments.append(call_arguments)
    return arguments


def _sources(function: Any, columns: list[Any]) -> dict[str, str | None]:
    """Name of each parameter -> column that it gets, or None if it gets the whole row.

    An argument that can only be passed by position has the empty name.
    """
    if not callable(function):
        raise InputError(f"function must be a function of a question, got {function!r:.80}")
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        # Some functions in C have no signature.
        return {"": "question"}
    # *args and **kwargs get nothing.
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = [parameter for parameter in parameters if parameter.kind not in variadic]
    names = [parameter.name for parameter in parameters]
    sources: dict[str, str | None] = {}
    for place, parameter in enumerate(parameters):
        if parameter.name in columns:
            source: str | None = parameter.name
        elif parameter.name in ROW_NAMES:
            source = None
        elif place == 0 and "question" not in names:
            source = "question"
        elif parameter.default is not parameter.empty:
            # It keeps its default.
            continue
        else:
            raise InputError(
                f"the parameter {parameter.name!r} of the function has no column of this name in the "
                f"examples, which have {', '.join(map(str, columns))}; a parameter 'example' gets the "
                "whole row"
            )
        is_positional = place == 0 and parameter.kind is parameter.POSITIONAL_ONLY
        sources["" if is_positional else parameter.name] = source
    return sources or {"": "question"}


def _requests(
    examples: pd.DataFrame, arguments: list[dict[str, Any]], system: str, version: Any
) -> list[dict[str, Any]]:
    """What identifies each call, as JSON can contain it: the system, its version, the example's id, and the arguments."""
    ids = examples["example_id"] if "example_id" in examples else [None] * len(examples)
    requests = []
    for place, (example_id, call_arguments) in enumerate(zip(ids, arguments, strict=True)):
        try:
            content = _plain({"example_id": example_id, "arguments": call_arguments})
        except TypeError as error:
            raise InputError(
                f"row {place} contains a value that cannot be part of a key: {error}. Leave its "
                "column out, or write it as a text"
            ) from error
        requests.append({"pipeline": system, "version": _plain(version), **content})
    return requests


def _plain(value: Any, *, text_of_others: bool = False) -> Any:
    """Convert a value to what JSON can contain; a missing value becomes None.

    A value that JSON cannot contain raises TypeError. With ``text_of_others``, it becomes a text.
    """
    plain = partial(_plain, text_of_others=text_of_others)
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, set | frozenset):
        # The order of a set differs from one process to another, and would change the key.
        return [plain(item) for item in sorted(value, key=str)]
    if isinstance(value, list | tuple | np.ndarray | pd.Series):
        return [plain(item) for item in value]
    if is_missing(value):
        return None
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        # JSON has no infinity.
        return str(value)
    if isinstance(value, bool | int | float):
        return value
    is_date_or_time = hasattr(value, "isoformat")
    if is_date_or_time:
        return value.isoformat()
    if text_of_others:
        return well_formed(str(value))
    raise TypeError(f"got {value!r:.60} of type {type(value).__name__}")


# ---- calling the function ------------------------------------------------------------------------


@dataclass(frozen=True)
class _Call:
    """One call of the function: the key of its answer, the canonical request and the arguments."""

    key: str
    request: str
    arguments: Mapping[str, Any]


@dataclass(repr=False)
class _Work:
    """The calls that are still to be made, and what became of the others. Several threads may share it.

    Attributes
    ----------
    function
        The function of the user.
    store
        Where each answer is stored as soon as the function returns it.
    waiting
        The calls that are still to be made.
    code
        Digest of the source of the function; None if it is unknown.
    failures
        Key of a call -> why it has no answer.
    done
        Number of calls that have an answer.
    problem
        An exception of the store, which ends the run; None if there is none.
    owner
        Name of this run in the store, for its claims.
    stopped
        Set when no further call is to be made.
    """

    function: Callable[..., Any]
    store: Store
    waiting: deque[_Call]
    code: str | None = None
    failures: dict[str, str] = field(default_factory=dict)
    done: int = 0
    problem: BaseException | None = None
    owner: str = field(default_factory=new_owner)
    stopped: threading.Event = field(default_factory=threading.Event)

    def carry_out(self, advance: Callable[[], None] = lambda: None) -> None:
        """Make calls until none is left. Other threads may do the same at the same time. Call ``advance`` after each."""
        while not self.stopped.is_set():
            try:
                call = self.waiting.popleft()
            except IndexError:
                return
            claim = self.store.claim(call.key, self.owner)
            if claim == "stored":
                self.done += 1
            elif claim == "theirs":
                # Another process is making this call. Its answer will be in the store.
                self.waiting.append(call)
                time.sleep(LOOK_AGAIN)
            else:
                self._make(call)
            advance()

    def in_thread(self) -> None:
        """Make calls in a separate thread. An exception of the store ends the run, and is kept for the caller."""
        try:
            self.carry_out()
        except BaseException as error:
            self.problem = error
            self.stopped.set()

    def renew(self) -> None:
        """Renew the claims of this run until it ends, well before they become void."""
        while not self.stopped.wait(LEASE_SECONDS / 3):
            self.store.renew_claims(self.owner)

    def _make(self, call: _Call) -> None:
        """Call the function and store its answer, or record why there is none."""
        started = time.monotonic()
        try:
            result = self._result(call.arguments)
            seconds = time.monotonic() - started
            reply = _reply(call, result, seconds, self.code)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            # Whatever the function raises, also SystemExit and CancelledError, is the reason of this call.
            self.failures[call.key] = _reason(error)
            self.store.note_failures({call.key: self.failures[call.key]})
            return
        self.store.add([reply])
        self.done += 1

    def _result(self, arguments: Mapping[str, Any]) -> Any:
        """What the function returns. If it is asynchronous, this waits for its result."""
        # An argument that can only be passed by position has the empty name, see `_sources`.
        named = {name: value for name, value in arguments.items() if name}
        positional = [value for name, value in arguments.items() if not name]
        result = self.function(*positional, **named)
        if inspect.isawaitable(result):
            future = asyncio.run_coroutine_threadsafe(_awaited(result), _event_loop(os.getpid()))
            try:
                return future.result()
            except KeyboardInterrupt:
                future.cancel()
                raise
        return result


async def _awaited(result: Awaitable[Any]) -> Any:
    """An awaitable as a coroutine, which the event loop requires."""
    return await result


@cache
def _event_loop(process: int) -> asyncio.AbstractEventLoop:
    """The event loop of asynchronous functions in a process.

    It lasts as long as the process, because clients of a function keep connections of the loop in
    which they were made. A process that was forked has a loop of its own, because threads are not
    copied.
    """
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="ragnb-pipeline-loop", daemon=True).start()
    return loop


def _carry_out(work: _Work, n_calls: int, n_stored: int, at_once: int, show: bool) -> None:
    """Make all calls, in the present thread or in several, with a progress bar."""
    from tqdm.auto import tqdm

    has_viewer = show and (sys.stderr.isatty() or "ipykernel" in sys.modules)
    # Without the argument `disable`, the environment variable TQDM_DISABLE decides.
    options: dict[str, bool] = {} if has_viewer else {"disable": True}
    bar = tqdm(  # type: ignore[call-overload]
        total=n_stored + n_calls, initial=n_stored, unit="answer", leave=False, **options
    )

    def advance() -> None:
        """Show in the bar how many calls are done and how many failed."""
        bar.set_postfix({"failed": len(work.failures)}, refresh=False)
        n_finished = n_stored + work.done + len(work.failures)
        # The bar takes the difference from the last count.
        bar.update(n_finished - bar.n)

    renewal = threading.Thread(target=work.renew, daemon=True)
    renewal.start()
    # A daemon thread does not keep the process alive if the function never returns.
    threads = []
    for _ in range(min(at_once, n_calls)):
        threads.append(threading.Thread(target=work.in_thread, name="ragnb-pipeline", daemon=True))
    with bar:
        try:
            if at_once == 1:
                work.carry_out(advance)
            else:
                for thread in threads:
                    thread.start()
                while any(thread.is_alive() for thread in threads):
                    # Ctrl-C takes effect between two short waits. The first thread may end before the others.
                    if threads[0].is_alive():
                        threads[0].join(0.1)
                    else:
                        time.sleep(0.05)
                    advance()
        finally:
            # This also happens after Ctrl-C or the stop button. What was received is stored already.
            work.stopped.set()
            renewal.join()
            work.store.release_claims(work.owner)
    if work.problem is not None:
        raise work.problem


# ---- what the function returns -------------------------------------------------------------------


def _reply(call: _Call, result: Any, seconds: float, code: str | None) -> Reply:
    """The answer of one call, as it is stored."""
    is_response = result is None or isinstance(result, str)
    fields = {"response": result} if is_response else result
    if not isinstance(fields, Mapping) or "response" not in fields:
        raise TypeError(
            "the function must return a text, or a mapping with 'response', got "
            f"{type(result).__name__} {result!r:.60}"
        )
    response = fields["response"]
    if not (response is None or isinstance(response, str)):
        raise TypeError(
            f"'response' must be a text, got {type(response).__name__} {response!r:.60}"
        )
    # All other entries become columns of their own.
    left_out = {"response", *COUNTS, *PROTECTED}
    columns: dict[str, Any] = {}
    for name, value in fields.items():
        if name not in left_out and not is_missing(value):
            columns[str(name)] = value
    if response and response.strip():
        # A reason says why there is no answer, and here is one.
        columns.pop("reason", None)
    if "passages" in columns:
        columns["passages"] = passage_texts(columns["passages"])
    extra: dict[str, Any] = {}
    if columns:
        extra["result"] = _plain(columns, text_of_others=True)
    if code is not None:
        extra["code"] = code
    return Reply(
        key=call.key,
        request=call.request,
        response=None if response is None else well_formed(response),
        prompt_tokens=_count("prompt_tokens", fields.get("prompt_tokens")),
        completion_tokens=_count("completion_tokens", fields.get("completion_tokens")),
        extra=json.dumps(extra) if extra else None,
        seconds=round(seconds, 3),
        created=datetime.now(UTC).isoformat(timespec="milliseconds"),
    )


def _count(name: str, value: Any) -> int | None:
    """A number of tokens, None if it is missing. Anything else raises TypeError."""
    if is_missing(value):
        return None
    number = value.item() if isinstance(value, np.generic) else value
    # True is an int of Python. SQLite stores numbers below 2 to the power of 63.
    is_number = isinstance(number, int | float) and not isinstance(number, bool)
    if not is_number or not 0 <= number < 2**63:
        raise TypeError(f"{name!r} must be a number of tokens of at least 0, got {value!r:.60}")
    return int(number)


def _reason(error: BaseException) -> str:
    """Type and message of an exception on one line, without keys."""
    message = str(error)
    for name, value in os.environ.items():
        if _SECRET_NAME.search(name) and len(value) >= _SHORTEST_SECRET:
            message = message.replace(value, HIDDEN)
    message = safe_message(without_keys(well_formed(message)))
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def _with_results(frame: pd.DataFrame, replies: Mapping[str, Reply]) -> pd.DataFrame:
    """The frame with the further entries that the function returned, one column for each."""
    results = []
    for key in frame["request_key"]:
        extra = replies[key].extra if key in replies else None
        results.append(json.loads(extra).get("result", {}) if extra else {})
    names = dict.fromkeys(name for result in results for name in result)
    for name in names:
        # A row without this entry keeps the cell of the example.
        cells_before = frame[name] if name in frame else [None] * len(frame)
        cells = []
        for result, cell_before in zip(results, cells_before, strict=True):
            cells.append(result.get(name, cell_before))
        frame[name] = pd.Series(cells, frame.index, dtype=object).infer_objects()
    return frame


def _closing_line(reasons: Mapping[str, Any], calls: Mapping[str, _Call], seconds: float) -> str:
    """The report of the run in one line.

    ``reasons`` has None for a question that was answered, by key. ``calls`` are those that were made in this run.
    """
    failures = [reason for reason in reasons.values() if reason is not None]
    stored = [key for key in reasons if key not in calls and reasons[key] is None]
    from_store = f" ({len(stored):,} from the store)" if stored else ""
    failed = f", {len(failures):,} failed: {count_reasons(failures)}" if failures else ""
    n_answered = len(reasons) - len(failures)
    return (
        f"{n_answered:,} of {len(reasons):,} questions answered{from_store}{failed}. "
        f"{seconds:,.0f} s."
    )
