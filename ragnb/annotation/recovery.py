"""Save the intact actions of a damaged annotation log."""

# Tested in tests/annotation/test_damage.py.

import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from ragnb.annotation.lines import (
    FORMAT,
    ActionRules,
    Event,
    check_header,
    is_header,
    read_line,
)
from ragnb.annotation.log import AnnotationLog, database_path, is_log_file, reporting, resolved
from ragnb.annotation.tasks import Task, read_task
from ragnb.arguments import accepts
from ragnb.errors import InputError

# How the text of a header or an action begins, and how it ends.
START = re.compile(rb'\{"(?:n|%s)": ?\d' % FORMAT.encode())
END = re.compile(rb'"checksum": ?"[0-9a-f]{8}"\}')


@accepts()
def recover_log(
    path: str | Path,
    target: str | Path,
    *,
    task: Task | str | Mapping[str, Any] | None = None,
    annotator: str | None = None,
) -> dict[str, Any]:
    """Copy the intact actions of a damaged annotation log to a new log. The damaged file stays as it is.

    An action is intact if it matches its checksum. In a log of an earlier version, which has no checksums, it is intact if
    the task allows its values. An undo of an action that is lost is lost, too. The actions are numbered again.

    Parameters
    ----------
    path
        The damaged log, in SQLite or JSON Lines.
    target
        The new log, which must not exist.
    task, annotator
        What to write to the header if the header of the log is damaged, too.

    Returns
    -------
    dict
        ``recovered``, the number of actions in the new log, and ``lost``, the numbers of actions that are known to be
        missing. Actions at the end of a log that left no trace are not among them.

    Raises
    ------
    InputError
        There is no such log, the target exists, nothing is intact, or the header is damaged and `task` or `annotator` is
        not given.
    """
    source = resolved(path) if is_log_file(resolved(path)) else database_path(path)
    if not is_log_file(source):
        raise InputError(f"no annotation log at {str(path)!r}; check the path")
    if is_log_file(database_path(target)) or is_log_file(resolved(target)):
        raise InputError(f"the target {str(target)!r} exists; choose the path of a new file")
    records = list(_intact_records(source))
    header = next(filter(is_header, records), None)
    if header is None:
        if task is None or annotator is None:
            raise InputError(
                f"the header of {source.name} is damaged; pass task= and annotator= to recover_log"
            )
        header = {"task": read_task(task).schema(), "annotator": annotator}
    actions = _allowed(records, read_task(header["task"]))
    if not actions:
        raise InputError(f"{source.name} has no intact actions")
    if "id" not in header:
        # The columns that identify an item are also in the actions that show one.
        ids = [action["id"] for action in actions.values() if action.get("id")]
        if ids:
            header["id"] = list(ids[0])
    numbered = _renumbered(actions)
    log = AnnotationLog(target, header)
    log.append(*numbered)
    log.close()
    lost = set(range(1, max(actions) + 1)) - set(actions)
    return {"recovered": len(numbered), "lost": sorted(lost)}


def _intact_records(path: Path) -> Iterator[Event]:
    """Yield each header and action that can be read, first those that SQLite reads, then those in the file's bytes.

    An action may come several times.
    """
    read = []
    for line in [*_rows(path), *_texts(path)]:
        with suppress(InputError):
            record, is_sealed = read_line(line, path.name)
            if is_header(record):
                check_header(record, path.name)
            read.append((record, is_sealed))
    # In a log with checksums, a line without one is damaged.
    has_checksums = any(is_sealed for _, is_sealed in read)
    yield from (record for record, is_sealed in read if is_sealed or not has_checksums)


def _rows(path: Path) -> Iterator[bytes]:
    """Yield the rows of the table, as far as SQLite can read it.

    SQLite stops at the first damaged page. Reading from both ends also returns the rows behind it.
    """
    for direction in ("ASC", "DESC"):
        with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as db:
            db.text_factory = bytes
            rows = db.execute(f"SELECT line FROM annotation_log ORDER BY number {direction}")
            yield from (line for (line,) in rows if isinstance(line, bytes))


def _texts(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file, and each text in it that looks like a line with a checksum.

    Such texts are also in the pages of an SQLite file that SQLite cannot open.
    """
    with reporting(path):
        content = path.read_bytes()
    yield from content.split(b"\n")
    for start in START.finditer(content):
        end = END.search(content, start.end())
        if end is not None:
            yield content[start.start() : end.end()]


def _allowed(records: list[Event], task: Task) -> dict[int, Event]:
    """Return the actions that the task allows, by number and in the order of their numbers."""
    by_number: dict[int, Event] = {}
    for record in records:
        number = record.get("n")
        is_header_of_any_version = FORMAT in record
        # JSON's true would count as 1.
        if is_header_of_any_version or type(number) is not int:
            continue
        by_number.setdefault(number, record)
    rules = ActionRules(task)
    allowed = {}
    for number in sorted(by_number):
        with suppress(InputError):
            rules.check(by_number[number], "the log")
            allowed[number] = by_number[number]
    return allowed


def _renumbered(actions: Mapping[int, Event]) -> list[Event]:
    """Return actions with the numbers 1, 2, 3 and so on, also where they refer to each other.

    The actions must be as `_allowed` returns them: in the order of their numbers, which is that of the new numbers, and
    without those that undo or redo a lost one, which would refer to nothing.
    """
    new_numbers = {number: position for position, number in enumerate(actions, start=1)}
    renumbered: list[Event] = []
    for number, action in actions.items():
        changed: Event = {"n": new_numbers[number]}
        if action["action"] in ("undo", "redo"):
            changed["of"] = new_numbers[action["of"]]
        renumbered.append({**action, **changed})
    return renumbered
