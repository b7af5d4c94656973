"""The annotation log: a file of JSON Lines to which every action is appended, one writer at a time, nothing ever taken out.

The first line says what the log is of: ``{"ragnb_annotation": 1, "task": {...}, "annotator": "ana", ...}``. Each further
line is one action with its number ``n``, its ``time`` and its ``item``. A line counts once it is on the disk; what a crash
left of a line that never was whole is put aside, and said.
"""

import json
import os
import signal
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from filelock import FileLock, Timeout

from ragnb.datasets.files import json_object
from ragnb.errors import InputError, StoreError

FORMAT = "ragnb_annotation"
VERSION = 1
Event = dict[str, Any]

_OPEN: WeakValueDictionary[str, "AnnotationLog"] = WeakValueDictionary()
"""Logs that this process writes to: a cell that is run again takes its log over from its earlier self."""


class AnnotationLog:
    """An annotation log that is open for writing; nobody else can write to it until it is closed.

    Parameters
    ----------
    path
        The file; it is made with its folder where it is not there.
    header
        ``task`` (its schema), ``annotator`` and whatever else the first line is to hold. A log that is there already has to
        agree on task and annotator.

    Attributes
    ----------
    header : dict
        The first line, as it is in the file.
    events : list of dict
        The actions, in order.
    mended : str
        What a crash left of a last line, now in a file beside the log; empty as a rule.
    lock : threading.RLock
        Held while an action is written. JupyterLab handles clicks in a different thread from the one that runs cells.

    Raises
    ------
    InputError
        A path that cannot be written, a log of another task, version or annotator, or one that is damaged.
    StoreError
        The log is open in another kernel or program.
    """

    def __init__(self, path: str | Path, header: Mapping[str, Any]) -> None:
        self.path, self.mended, self._descriptor, self.lock = _real(path), "", -1, threading.RLock()
        self._take_over(header)
        self._lock = _locked(self.path)
        try:
            self._open(header)
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                raise _unwritable(self.path, error) from error
            raise
        self._last = max((event["n"] for event in self.events), default=0)
        _OPEN[str(self.path)] = self

    @property
    def closed(self) -> bool:
        """Whether nothing can be written any more."""
        return self._descriptor < 0

    @property
    def removed(self) -> bool:
        """Whether the file was taken away, or another put in its place."""
        return not os.fstat(self._descriptor).st_nlink

    def append(self, event: Mapping[str, Any]) -> Event:
        """Write an action with its number and time; it is on the disk when this returns.

        Raises
        ------
        StoreError
            The log was closed, taken away, or the disk refuses; nothing of the action is in the file then.
        """
        with self.lock:
            if self.closed:
                raise StoreError(
                    f"{self.path.name} needs to be open; it was closed, or opened in another cell; go on there"
                )
            if self.removed:
                raise StoreError(
                    f"{self.path.name} needs to stay where it is; it was removed; run the cell again for a new log"
                )
            written = {"n": self._last + 1, "time": now(), **event}
            self._write(written)
            self.events.append(written)
            self._last = written["n"]
            return written

    def close(self) -> None:
        """Let others write; doing it twice does no harm."""
        with self.lock:
            if not self.closed:
                os.close(self._descriptor)
                self._descriptor = -1
            self._lock.release()

    def _open(self, header: Mapping[str, Any]) -> None:
        """Read the log that is there, if it may be gone on with, or begin one."""
        self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        if _begun(self.path):
            self.header, self.events = read_log(self.path)
            _check_same(self.header, header, self.path)
            self.mended = _mend(self.path, self._descriptor)
        else:
            self.mended = _mend(self.path, self._descriptor)
            self._write({FORMAT: VERSION, **header, "started": now()})
            _sync_folder(self.path.parent)
            self.header, self.events = read_log(self.path)

    def _write(self, line: Mapping[str, Any]) -> None:
        """A whole line, or none of it; half a surrogate pair is written as JSON's own escape, so that it comes back."""
        size = os.fstat(self._descriptor).st_size
        data = (json.dumps(line, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
        try:
            if os.write(self._descriptor, data) < len(data):
                raise OSError("the disk is full")
            os.fsync(self._descriptor)
        except BaseException as error:
            os.ftruncate(self._descriptor, size)
            if not isinstance(error, OSError):
                raise
            raise StoreError(
                f"{self.path.name} needs room on a disk that can be written; got {error}; make room"
            ) from error

    def _take_over(self, header: Mapping[str, Any]) -> None:
        """Close this process's earlier self, unless it is the log of other work."""
        earlier = _OPEN.get(str(self.path))
        if earlier is not None and not earlier.closed:
            if not earlier.removed:
                _check_same(earlier.header, header, self.path)
            earlier.close()


def read_log(path: str | Path) -> tuple[dict[str, Any], list[Event]]:
    """First line and actions of an annotation log, whoever writes to it.

    A last line that is not whole yet is left out. Earlier versions let two threads write at the same time, so that different
    actions could get the same number. All of them are read, in the order of the file, and a warning says so.

    Raises
    ------
    InputError
        No such file, no annotation log, one of another version, or a damaged line; the message names it.
    """
    path = Path(os.path.expanduser(path))
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except (OSError, ValueError) as error:  # ValueError: no name of a file at all
        why = getattr(error, "strerror", None) or error
        raise InputError(
            f"an annotation log needs to be a file; got {str(path)!r} ({why}); check it"
        ) from error
    read = {
        number: json_object(line, f"{path.name} line {number}", exact=True)
        for number, line in enumerate(lines, 1)
        if line.strip()
    }
    header = next(iter(read.values()), {})
    if header.get(FORMAT) != VERSION or not isinstance(header.get("task"), Mapping):
        raise InputError(
            f"{path.name} needs to be an annotation log of version {VERSION}; its first line has "
            f"{FORMAT}={header.get(FORMAT)!r}; choose another path, or the ragnb that wrote it"
        )
    return header, _numbered(read, path)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Keep Ctrl-C, or the stop button of a notebook, waiting: an action that is written has to be counted, too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[Any] = []
    before = signal.signal(signal.SIGINT, lambda *given: waiting.append(given))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)
        if waiting and callable(before):
            before(*waiting[0])


def log_file(path: str | Path, *names: str) -> Path:
    """The path of a log: the given one if it has an ending or is a file, else a file in that folder, named after these.

    >>> log_file("labels", "Ana B.", "trace").as_posix(), log_file("ana.jsonl", "ana", "trace").as_posix()
    ('labels/Ana_B_.trace.jsonl', 'ana.jsonl')
    """
    path = Path(os.path.expanduser(path))
    if os.path.isfile(path) or (path.suffix and not os.path.isdir(path)):
        return path
    safe = (
        "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in name)
        for name in names
    )
    return path / f"{'.'.join(safe)}.jsonl"


def now() -> str:
    """The time in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


# ---- the file ----------------------------------------------------------------------------------------------------------


def _real(path: str | Path) -> Path:
    """The file itself, whatever links lead to it: there is one lock a file."""
    try:
        return Path(os.path.expanduser(path)).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise _unwritable(path, error) from error


def _begun(path: Path) -> bool:
    """Whether the file holds more than nothing, or than what a crash left of a first line."""
    content, start = path.read_bytes(), f'{{"{FORMAT}": '.encode()
    return b"\n" in content or content[: len(start)] != start[: len(content)]


def _locked(path: Path) -> FileLock:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path.with_name(path.name + ".lock"), thread_local=False)
        lock.acquire(timeout=0)
    except Timeout as error:
        raise StoreError(
            f"{path.name} needs a single writer; another kernel or program has it open; close that one, or give each "
            "annotator a file"
        ) from error
    except OSError as error:
        raise _unwritable(path, error) from error
    return lock


def _mend(path: Path, descriptor: int) -> str:
    """Put aside what a crash left of a last line; return where and how much."""
    content = path.read_bytes()
    rest = content[content.rfind(b"\n") + 1 :]
    if not rest:
        return ""
    aside = path.with_name(path.name + ".torn")
    with aside.open("ab") as file:
        file.write(rest + b"\n")
    os.ftruncate(descriptor, len(content) - len(rest))
    os.fsync(descriptor)
    return f"{len(rest)} bytes of an action that never was whole are now in {aside.name}"


def _numbered(read: Mapping[int, Event], path: Path) -> list[Event]:
    """The actions in the order of the file. A number that goes back must be one that two threads gave at the same time."""
    given: dict[int, list[Event]] = {}
    events, last = [], 0
    for number, event in list(read.items())[1:]:
        n = event.get("n")
        if not isinstance(n, int) or (n <= last and n not in given):
            raise InputError(
                f"{path.name} line {number} needs a number n above {last}; got {n!r}; mend or remove the line"
            )
        if event not in given.setdefault(n, []):  # the same line twice is one action
            given[n].append(event)
            events.append(event)
        last = max(last, n)
    if len(given) < len(read) - 1:
        warnings.warn(
            f"{path.name} has several lines with one number, because two threads wrote at the same time; "
            "all of their actions are read, in the order of the file",
            stacklevel=3,
        )
    return events


def _check_same(header: Mapping[str, Any], wanted: Mapping[str, Any], path: Path) -> None:
    for what in ("task", "annotator"):
        if what in wanted and header.get(what) != wanted[what]:
            there, asked = (_short(of.get(what)) for of in (header, wanted))
            got = (
                f"it is of {there}, not of {asked}"
                if there != asked
                else f"it is of {there} in another wording"
            )
            raise InputError(
                f"{path.name} needs to be a log of the same {what}; {got}; choose another path"
            )


def _short(value: Any) -> str:
    return repr(value.get("name") if isinstance(value, Mapping) else value)


def _sync_folder(folder: Path) -> None:
    """Make the file's name as lasting as its content, where folders can be synchronised."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _unwritable(path: str | Path, error: Exception) -> InputError:
    return InputError(
        f"an annotation log needs a path that can be written; got {str(path)!r} ({error}); choose another"
    )
