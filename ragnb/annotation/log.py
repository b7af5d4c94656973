"""The annotation log, an SQLite file with every action of one annotator, and the labels that follow from these actions.

Only one session at a time can write to a log.

The table ``annotation_log`` contains one JSON text per row. The first row is the header, which describes the log:
``{"ragnb_annotation": 1, "task": {...}, "annotator": "ana", ...}``. Each further row is one action with its number ``n``,
its ``time`` and its ``item``. Each row has a checksum (`ragnb.annotation.lines`), which is verified when the log is read.
Rows are only ever added. `AnnotationLog.write_jsonl` exports the same texts as JSON Lines. Earlier versions wrote their logs
in this form and without checksums, and these are still read. `recover_log` saves what is intact in a damaged log.

SQLite's rollback journal keeps the file whole when a process is killed. There is no write-ahead log next to the file,
which somebody who copies the file could forget.
"""

import os
import re
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary, finalize

from ragnb.annotation.codebook import Codebook
from ragnb.annotation.lines import (
    ADVICE,
    CHANGES,
    FORMAT,
    VERSION,
    Event,
    checked_lines,
    is_numbered,
    line_text,
)
from ragnb.annotation.places import Place, places
from ragnb.annotation.tasks import Task, read_task
from ragnb.datasets.sheets import MOST_UNPACKED
from ragnb.errors import InputError, StoreError
from ragnb.printing import warn

# Logs that this process writes to. A cell that is run again closes the log that it opened
# before.
_OPEN: WeakValueDictionary[Path, "AnnotationLog"] = WeakValueDictionary()

# The statement is compared with that in the file, so it must stay as it is.
_TABLE = "CREATE TABLE annotation_log (number INTEGER PRIMARY KEY, line TEXT NOT NULL)"

# Name of an error of SQLite -> what happened and what to do.
_REASONS = {
    "SQLITE_BUSY": "is open in another kernel or program; close it there, or give each annotator a separate log",
    "SQLITE_FULL": "cannot be written because the disk is full; free some space",
    "SQLITE_CORRUPT": f"is damaged; {ADVICE}",
    "SQLITE_NOTADB": f"is not an annotation log, or is damaged; if it is damaged, {ADVICE}",
    "SQLITE_READONLY_DBMOVED": "was removed or replaced; run the cell again",
    "closed": "was closed, or opened in another cell; continue in that cell, or open it again",
}


class AnnotationLog:
    """An annotation log that is open for writing. No other session can write to it at the same time.

    Always open a log under the same path. If the file has several names (hard links) and a power cut interrupts an action,
    SQLite can undo this action only under the name that was used.

    Parameters
    ----------
    path
        The file, which ends in ``.sqlite``. It is created with its folder if it does not exist. For another
        name, such as ``ana.jsonl`` of an earlier version, the log is ``ana.sqlite`` in the same folder, and imports the
        actions in ``ana.jsonl`` that it lacks.
    header
        ``task`` (its schema), ``annotator`` and anything else to store in the header. If the log exists, its annotator and
        the fields of its task must be the same; its guideline stays.

    Attributes
    ----------
    path : Path
        The SQLite file.
    header : dict
        The header, as it is in the file.
    events : list of dict
        The actions, in order.
    before_reading : callable or None
        Called before the labels are read in the process that writes them. An annotator on the screen then waits for the
        actions that the browser has not sent yet.
    imported : str
        What was imported from a log of an earlier version; normally empty.
    lock : threading.RLock
        Held while an action is written. JupyterLab handles clicks in a different thread from the one that runs cells.

    Raises
    ------
    InputError
        The log is damaged, or belongs to another task, version or annotator.
    StoreError
        The log is open in another kernel or program, or the path cannot be written.
    """

    def __init__(self, path: str | Path, header: Mapping[str, Any]) -> None:
        self.path, self.lock = database_path(path), threading.RLock()
        self.before_reading: Callable[[], object] | None = None
        new_header = {FORMAT: VERSION, **header, "started": header.get("started", _now())}
        # The lines of the file, and those of a log of an earlier version next to it; a new log begins with the header.
        lines = log_lines(path) or [new_header]
        self.header = lines[0]
        task, annotator = self.header["task"], self.header["annotator"]
        if annotator != header["annotator"] or not same_fields(task, header["task"]):
            raise InputError(
                f"{self.path.name} is a log of the task {task['name']!r} by {annotator!r}; it "
                "cannot continue with another annotator or task; choose another path"
            )
        earlier = _OPEN.get(self.path)
        if earlier is not None:
            earlier.close()
        with reporting(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = sqlite3.connect(f"{self.path}-lock", timeout=0, check_same_thread=False)
            # If the session is forgotten without being closed, the log does not stay locked.
            finalize(self, self._lock.close)
            self._db = sqlite3.connect(
                self.path, timeout=0, check_same_thread=False, isolation_level=None
            )
            finalize(self, self._db.close)
            try:
                self._lock_file()
            except sqlite3.Error:
                self.close()
                raise
            n_stored = self._db.execute("SELECT count(*) FROM annotation_log").fetchone()[0]
        # A log with checksums must have the numbers 1, 2, 3 and so on. Logs of the first versions may contain a number
        # twice, and stay without checksums.
        self._sealed = is_numbered(lines)
        if self._sealed:
            self._seal(lines[:n_stored])
        # Lines that are not in the SQLite file. A new log has none there, and its header does not count as imported.
        n_imported = len(lines) - max(n_stored, 1)
        self.imported = ""
        if n_imported:
            self.imported = f"{n_imported} actions were imported from {Path(path).name}"
        self._write(lines[n_stored:])
        self.events = log_lines(self.path)[1:]
        _OPEN[self.path] = self

    def _lock_file(self) -> None:
        """Lock the log against other writers until it is closed or the process ends, and create its table."""
        # This transaction on a file of its own stays open, so that SQLite keeps that file locked.
        # It needs no journal, because nothing is written to it.
        self._lock.executescript("PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE")
        self._begin()
        # SQLite stores the statement without IF NOT EXISTS.
        self._db.execute(_TABLE.replace("TABLE", "TABLE IF NOT EXISTS", 1))
        self._db.execute("COMMIT")
        # This setting cannot be changed within a transaction. With it, a power cut loses no action either.
        self._db.execute("PRAGMA synchronous = EXTRA")
        self._begin()
        # Set last: a log that another program has locked is an error at once when it is opened, while a
        # later write waits for a program that is reading.
        self._db.execute("PRAGMA busy_timeout = 60000")

    def _begin(self) -> None:
        """Lock the log file itself against other writers, because the lock file next to it can be deleted.

        Others can still read the log. The transaction ends with each write, and a new one begins. Only in between does the
        lock file alone protect the log.
        """
        if not self._db.in_transaction:
            self._db.execute("BEGIN IMMEDIATE")

    def append(self, *events: Mapping[str, Any]) -> list[Event]:
        """Write all actions with their numbers and the time, or none of them. They are on disk on return.

        Raises
        ------
        StoreError
            The log was closed or removed, or the disk is full. Nothing was written.
        """
        with self.lock:
            last_number = max((event["n"] for event in self.events), default=0)
            time = _now()
            numbered = [
                {"n": number, "time": time, **event}
                for number, event in enumerate(events, start=last_number + 1)
            ]
            self._write(numbered)
            self.events += numbered
            return numbered

    def write_jsonl(self, path: str | Path) -> None:
        """Write the log as JSON Lines, for example for git."""
        records = (self.header, *self.events)
        lines = [f"{line_text(record, sealed=self._sealed)}\n" for record in records]
        target = resolved(path)
        with reporting(target):
            target.write_text("".join(lines), "utf-8")

    def close(self) -> None:
        """Close the log, so that other sessions can write to it."""
        with self.lock:
            self._db.close()
            self._lock.close()

    def _write(self, lines: Sequence[Event]) -> None:
        """Add lines in one transaction."""
        rows = [[line_text(line, sealed=self._sealed)] for line in lines]
        self._execute("INSERT INTO annotation_log (line) VALUES (?)", rows)

    def _seal(self, lines: Sequence[Event]) -> None:
        """Add checksums to the lines of a log that an earlier version wrote. Others stay as they are."""
        numbers = self._db.execute("SELECT number FROM annotation_log ORDER BY number").fetchall()
        stored = [line_text(line) for line in lines]
        # A new log has no rows yet.
        rows = [[line, number] for line, (number,) in zip(stored, numbers, strict=False)]
        # ?1 is the line again: rows that are the same already are not written.
        self._execute(
            "UPDATE annotation_log SET line = ? WHERE number = ? AND line IS NOT ?1", rows
        )

    def _execute(self, statement: str, rows: list[list[Any]]) -> None:
        """Execute a statement for all rows or for none, and lock the log again."""
        with reporting(self.path):
            try:
                self._begin()
                self._db.executemany(statement, rows)
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
            finally:
                self._begin()


def _now() -> str:
    """The present time in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def same_fields(task: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two tasks have the same answers, whatever their guidelines, signs, contradictions and codebooks are."""
    first, second = read_task(task).answers(), read_task(other).answers()
    return {**first, "guideline": ""} == {**second, "guideline": ""}


def wait_for_actions(log: str | Path | AnnotationLog) -> None:
    """Wait for the actions of an annotator of this process that are on their way to the log."""
    writer = log if isinstance(log, AnnotationLog) else _OPEN.get(database_path(log))
    if writer is not None and writer.before_reading is not None:
        writer.before_reading()


def read_log(path: str | Path) -> tuple[dict[str, Any], list[Event]]:
    """Read header and actions of an annotation log, even while another session writes to it.

    The log can be an SQLite file or JSON Lines. If ``ana.jsonl`` is named and ``ana.sqlite`` is next to it, the longer of
    the two is read. A warning reports an incomplete last line.

    Raises
    ------
    InputError
        There is no such log, it is one of another version, or a line is damaged.
    StoreError
        The SQLite file is damaged, or is not an annotation log.
    """
    lines = log_lines(path)
    if not lines:
        raise InputError(f"no annotation log at {str(path)!r}; check the path")
    return lines[0], lines[1:]


def log_lines(path: str | Path) -> list[Event]:
    """Header and actions of a log; empty if there is no log."""
    log_path, database = resolved(path), database_path(path)
    stored = checked_lines(_stored_lines(database), database.name)
    exported: list[Event] = []
    if log_path != database:
        exported = checked_lines(_exported_lines(log_path), log_path.name)
    # One of the two may have more actions, but the others must be the same.
    n_common = min(len(stored), len(exported))
    if stored[:n_common] != exported[:n_common]:
        raise InputError(
            f"{log_path.name} and {database.name} contain different actions; move one of them to another folder"
        )
    return max(stored, exported, key=len)


def _stored_lines(path: Path) -> list[tuple[bytes, str]]:
    """The rows of an SQLite file, each with its place, after a check of the file's structure."""
    if not is_log_file(path) or not path.stat().st_size:
        return []
    with reporting(path), closing(sqlite3.connect(path, timeout=60)) as db:
        # Texts are read as bytes, because a damaged file may contain texts that are not UTF-8.
        db.text_factory = bytes
        (problem,) = db.execute("PRAGMA integrity_check(1)").fetchone()
        if problem != b"ok":
            raise StoreError(f"{path.name} is damaged ({_readable(problem)}); {ADVICE}")
        tables = db.execute("SELECT sql FROM sqlite_master").fetchall()
        if tables and tables != [(_TABLE.encode(),)]:
            raise StoreError(
                f"{path.name} is not an annotation log: it must have the table annotation_log and nothing else"
            )
        query = "SELECT line FROM annotation_log ORDER BY number"
        lines = [line for (line,) in db.execute(query)] if tables else []
    if not all(isinstance(line, bytes) for line in lines):
        raise StoreError(f"{path.name} is damaged: a line is no text; {ADVICE}")
    return [(line, f"{path.name} row {n}") for n, line in enumerate(lines, start=1)]


def _readable(problem: Any) -> str:
    """What SQLite reports about a damaged file, on one line of at most 200 characters."""
    words = problem.decode("utf-8", "replace") if isinstance(problem, bytes) else str(problem)
    return " ".join(words.split())[:200]


def _exported_lines(path: Path) -> list[tuple[bytes, str]]:
    """The lines of a file of JSON Lines, each with its place.

    A repeated line is one action. An incomplete last line is left out with a warning.
    """
    if not is_log_file(path):
        return []
    with reporting(path):
        # Every complete line ends with a line break, so that nothing follows the last one.
        *complete, incomplete = path.read_bytes().split(b"\n")
    if incomplete.strip():
        warn(f"{path.name} ends with an incomplete action, which was left out")
    numbered = enumerate(dict.fromkeys(complete), start=1)
    return [(line, f"{path.name} line {n}") for n, line in numbered if line.strip()]


def is_log_file(path: Path) -> bool:
    """Whether there is such a file. One that is larger than a log can be raises InputError."""
    with reporting(path):
        size = path.stat().st_size if path.is_file() else None
    if size is not None and size > MOST_UNPACKED:
        raise InputError(
            f"{path.name} has {size:,} bytes; an annotation log may have at most {MOST_UNPACKED:,}"
        )
    return size is not None


def log_file(path: str | Path, *names: str) -> Path:
    """Path of a log: `path` itself if it is a file or has an ending, else a file in this folder, named after `names`.

    >>> log_file("labels", "Ana B.", "trace").as_posix(), log_file("ana.jsonl", "ana", "trace").as_posix()
    ('labels/Ana_B_.trace.jsonl', 'ana.jsonl')
    """
    path = Path(os.path.expanduser(path))
    with reporting(path):
        if path.is_file() or (path.suffix and not path.is_dir()):
            return path
    name = ".".join(re.sub(r"[^\w-]", "_", name) for name in names)
    # The log will be in SQLite. With this ending, a log of an earlier version is imported.
    return path / f"{name}.jsonl"


def resolved(path: str | Path) -> Path:
    """Absolute path of a log, with ``~`` as the home folder."""
    with reporting(Path(path)):
        return Path(os.path.expanduser(path)).resolve()


def database_path(path: str | Path) -> Path:
    """Return the SQLite file of a log, given any path that names it."""
    path = resolved(path)
    name = path.name.removesuffix(".sqlite").removesuffix(".jsonl")
    return path.with_name(f"{name}.sqlite")


@contextmanager
def reporting(path: Path) -> Iterator[None]:
    """Raise a StoreError that says what to do where SQLite or the file system raises an error."""
    try:
        yield
    except InputError:
        raise
    except (sqlite3.Error, OSError, ValueError) as error:
        # A path with a NUL character raises ValueError.
        is_closed = isinstance(error, sqlite3.ProgrammingError)
        name = "closed" if is_closed else getattr(error, "sqlite_errorname", "")
        cause = getattr(error, "strerror", None) or error
        reason = _REASONS.get(name, f"cannot be used as an annotation log: {cause}")
        short_name = path.name if len(path.name) <= 100 else f"{path.name[:100]}…"
        raise StoreError(f"{short_name} {reason}") from error


# ---- labels after some actions -------------------------------------------------------------------

# Longest time between two actions, in seconds, that counts as work.
IDLE = 120.0


@dataclass
class ItemLabels:
    """The labels of one item. A place that is not in ``values`` is untouched; ``[]`` is deliberately empty.

    Attributes
    ----------
    values : dict
        Place to value: the value of an option, a list of the keys of sentences, a list of the ids of tags, or a text.
    details : dict
        Place to what else the log knows about the label: ``source``; ``suggested`` and ``suggested_by`` if there was a
        suggestion; ``of``, the labels of the annotators by name, if it was adjudicated or agreed.
    flag, skipped, note
        Whether the item is flagged or skipped, and the note on it.
    seconds : float
        Time spent. Gaps count for at most two minutes.
    id : dict
        The columns of the item's id, with their values.
    fingerprint, sentences
        Of the texts that were labelled: their hash, and the keys of the sentences of each part, as in `Item`.
    time : str
        Time of the last change by this annotator; empty if there is none.
    """

    values: dict[Place, Any] = field(default_factory=dict)
    details: dict[Place, dict[str, Any]] = field(default_factory=dict)
    flag: bool = False
    skipped: bool = False
    note: str = ""
    seconds: float = 0.0
    id: dict[str, Any] = field(default_factory=dict)
    fingerprint: str = ""
    sentences: dict[str, list[str]] = field(default_factory=dict)
    time: str = ""

    @property
    def touched(self) -> bool:
        """Whether the item has a label, a flag, a note, or was skipped."""
        return bool(self.values or self.flag or self.skipped or self.note)

    def missing(self, task: Task, sentences: Mapping[str, list[str]]) -> list[Place]:
        """Required places that are untouched; ``sentences`` contains the keys of each part."""
        return [
            place for place in places(task, sentences, required=True) if place not in self.values
        ]

    def status(self, task: Task, sentences: Mapping[str, list[str]]) -> str:
        """``"labelled"`` if nothing is missing, else ``"skipped"``, ``"started"`` or ``"untouched"``."""
        if not self.missing(task, sentences):
            return "labelled"
        if self.skipped:
            return "skipped"
        return "started" if self.values else "untouched"


class LabelState:
    """The labels of all items after some actions, and the actions that can be undone and redone.

    Without a task, `present` returns tags as they are in the log.

    Attributes
    ----------
    items : dict
        Labels by item.
    done, undone : list of dict
        The actions that can be undone and those that can be redone, the next one last.
    """

    def __init__(self, events: Iterable[Event] = (), task: Task | None = None) -> None:
        self.task = task
        self._codebook: Codebook | None = None
        self.items: dict[str, ItemLabels] = {}
        self.done: list[Event] = []
        self.undone: list[Event] = []
        # Item and time of the last action.
        self._last: tuple[str, datetime] | None = None
        # The actions on each item that were not undone.
        self._history: dict[str, list[Event]] = {}
        for event in events:
            self.apply(event)

    def of(self, item: str) -> ItemLabels:
        """Labels of an item, which are empty at first."""
        return self.items.setdefault(item, ItemLabels())

    def apply(self, event: Event) -> None:
        """Apply one action of the log."""
        action, item = event["action"], event["item"]
        self._codebook = None
        self._count_time(event)
        history = self._history.setdefault(item, [])
        if action not in ("undo", "redo"):
            history.append(event)
            if action in CHANGES:
                # After a new change, those that were undone before cannot be redone.
                self.undone.clear()
                self.done.append(event)
            _follow(self.of(item), [event])
            return
        # An undo moves an action from `done` to `undone`, and a redo moves it back.
        source, target = self.done, self.undone
        if action == "redo":
            source, target = target, source
        matching = [earlier for earlier in source if earlier["n"] == event["of"]]
        if not matching:  # It was undone in two tabs of a hand-out.
            return
        # Logs of the first versions may contain a number twice.
        moved = matching[-1]
        source.remove(moved)
        target.append(moved)
        if action == "undo":
            history.remove(moved)
        else:
            history.append(moved)
        # The labels of the item follow from what is left of its history. The time that was spent stays.
        self.items[item] = ItemLabels(seconds=self.of(item).seconds)
        _follow(self.items[item], history)

    # ---- tags ----------------------------------------------------------------------------------

    @property
    def codebook(self) -> Codebook:
        """The present codebook: the task's, with the changes that were not undone."""
        if self._codebook is None:
            self._codebook = Codebook(self.task.codebook if self.task else None)
            for event in self.done:
                self._extend(self._codebook, event)
        return self._codebook

    def _extend(self, codebook: Codebook, event: Event) -> None:
        """Apply a change to the codebook, or add the tags of labels whose addition is lost."""
        if event["action"] == "codebook":
            codebook.apply(event)
        tag_fields = self.task.tag_fields if self.task else ()
        for entry in event.get("set", ()):
            if entry["field"] in tag_fields:
                for id in entry["value"] or ():
                    codebook.add(id)

    def present(self, values: Mapping[Place, Any], *, names: bool = False) -> dict[Place, Any]:
        """Values of an item, in which tags are those of the present codebook: their ids, or their ``names``."""
        if self.task is None or not self.task.tag_fields:
            return dict(values)
        convert = self.codebook.names if names else self.codebook.resolved
        return {
            place: convert(value) if place[0] in self.task.tag_fields else value
            for place, value in values.items()
        }

    def _count_time(self, event: Event) -> None:
        """Add the time since the last action to the item that was on the screen then."""
        # Agreed labels are written for items that nobody looks at.
        if event["action"] == "agreed":
            return
        time = datetime.fromisoformat(event["time"])
        if self._last is not None:
            item, before = self._last
            # A clock may have been set back.
            elapsed = max((time - before).total_seconds(), 0.0)
            self.of(item).seconds += min(elapsed, IDLE)
        self._last = (event["item"], time)


def _follow(labels: ItemLabels, events: Iterable[Event]) -> None:
    """Apply actions to the labels of an item."""
    for event in events:
        action = event["action"]
        labels.id = event.get("id", labels.id)
        labels.fingerprint = event.get("fingerprint", labels.fingerprint)
        labels.sentences = event.get("sentences", labels.sentences)
        if action in ("label", "agreed"):
            for entry in event["set"]:
                _set(labels, entry)
        # A change of the codebook belongs to all items, and labels on which annotators agree are no change by this one.
        if action in CHANGES and action != "codebook":
            labels.time = event["time"]
        if action == "label":
            labels.skipped = False  # An item that is labelled is no longer skipped.
        if action in ("note", "flag", "skip"):
            setattr(labels, CHANGES[action], event["value"])


def _set(labels: ItemLabels, entry: Mapping[str, Any]) -> None:
    """Give a place the value of an entry, or make it untouched if the value is None."""
    details = dict(entry)
    place = (details.pop("field"), details.pop("sentence", None))
    value = details.pop("value")
    if value is None:
        labels.values.pop(place, None)
        labels.details.pop(place, None)
    else:
        labels.values[place] = value
        labels.details[place] = details
