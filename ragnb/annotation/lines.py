"""The lines of an annotation log: their text with a checksum, and what a header and an action may contain.

A line is a JSON object whose last key is ``checksum``, the CRC-32 of the text without this key::

    {"n": 7, "time": "2031-05-04T12:00:00.000+00:00", "action": "flag", "item": "q/1", "value": true, "checksum": "0b0a7d6c"}

Logs of earlier versions have no checksums. Either all lines of a log have one or none has. In a log with checksums, the
numbers of the actions are 1, 2, 3 and so on, so that an action that was removed is noticed, too.
"""

# Tested in tests/annotation/test_damage.py.

import json
import re
import zlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field as Constraint
from pydantic import PlainValidator

from ragnb.annotation.codebook import CHANGES_OF_CODEBOOK
from ragnb.annotation.items import plain_id
from ragnb.annotation.tasks import Field, Task, read_task
from ragnb.datasets.json_files import json_object
from ragnb.datasets.validation import Record, checked
from ragnb.errors import InputError, check_choice
from ragnb.text import well_formed

FORMAT = "ragnb_annotation"
VERSION = 1
Event = dict[str, Any]

# Actions that change an item or the codebook and can be undone, with the attribute of `ragnb.annotation.log.ItemLabels` that
# they set. It is empty for those that set no single attribute.
CHANGES = {"label": "", "note": "note", "flag": "flag", "skip": "skipped", "codebook": ""}

# The end of a line that has a checksum, with the spaces of Python's or of a browser's JSON.
SEAL = re.compile(rb',\s*"checksum":\s*"([0-9a-f]{8})"\s*\}\s*\Z')

ADVICE = "restore a copy of the file, or save its intact actions with ragnb.annotation.recover_log"


# ---- text and checksum ---------------------------------------------------------------------------


def line_text(record: Mapping[str, Any], *, sealed: bool = True) -> str:
    """One line as JSON, with its checksum if it is ``sealed``.

    UTF-8 cannot encode half of a surrogate pair, so this is written as an escape of JSON.

    >>> line_text({"n": 1, "action": "open"})
    '{"n": 1, "action": "open", "checksum": "333b341a"}'
    """
    content = json.dumps(record, ensure_ascii=False).encode("utf-8", "backslashreplace")
    if sealed:
        content = content[:-1] + b', "checksum": "%08x"}' % zlib.crc32(content)
    return content.decode("utf-8")


def read_line(line: bytes, where: str) -> tuple[Event, bool]:
    """The record of a line, and whether it has a checksum.

    Raises
    ------
    InputError
        The line does not match its checksum, or is not a JSON object.
    """
    # Some editors put a byte order mark at the start of a file.
    line = line.removeprefix(b"\xef\xbb\xbf").strip()
    seal = SEAL.search(line)
    content = line if seal is None else line[: seal.start()] + b"}"
    if seal is not None and zlib.crc32(content) != int(seal[1], 16):
        raise InputError(
            f"{where} does not match its checksum, so it was changed after it was written; {ADVICE}"
        )
    return json_object(content, where), seal is not None


def checked_lines(lines: Iterable[tuple[bytes, str]], name: str) -> list[Event]:
    """The header and the actions of a log, given each line and where it is; nothing if there are no lines.

    Raises
    ------
    InputError
        The file is not an annotation log of this version, a line is damaged, or an action is missing or not allowed.
    """
    # Of each line: its record, whether it has a checksum, and where it is.
    read = [(*read_line(line, where), where) for line, where in lines]
    if not read:
        return []
    header, is_sealed, where = read[0]
    if not is_header(header):
        raise InputError(f"{name} is not an annotation log of version {VERSION}")
    rules = ActionRules(check_header(header, where))
    for position, (action, has_checksum, place) in enumerate(read[1:], start=1):
        if has_checksum != is_sealed:
            state = "a checksum" if has_checksum else "no checksum"
            raise InputError(f"{place} has {state}, unlike the header; {ADVICE}")
        rules.check(action, place)
        if is_sealed and action["n"] != position:
            raise InputError(
                f"{place} must have the number {position}, got {action['n']}, so an action is missing "
                f"or out of order; {ADVICE}"
            )
    # Earlier versions wrote the ids of items as they were in the frame, such as 1.0.
    actions = ({**action, "item": plain_id(action["item"])} for action, _, _ in read[1:])
    return [header, *actions]


def is_header(record: Mapping[str, Any]) -> bool:
    """Whether a record is the header of a log of this version."""
    version = record.get(FORMAT)
    # JSON's true equals 1 in Python, so the type is compared as well.
    return type(version) is int and version == VERSION


def is_numbered(lines: Iterable[Mapping[str, Any]]) -> bool:
    """Whether the actions after a header have the numbers 1, 2, 3 and so on."""
    # The header is line 0 and has no number.
    return all(line.get("n", 0) == position for position, line in enumerate(lines))


# ---- what a header and an action may contain -----------------------------------------------------

# Each of these functions returns a value as it is, or raises ValueError if it is not of the kind.


def _text(value: Any) -> str:
    # pydantic's own type for texts refuses half of a surrogate pair, which a note may contain.
    if not isinstance(value, str):
        raise ValueError(f"must be a text, got {value!r:.60}")
    return value


def _name(value: Any) -> str:
    if not _text(value).strip():
        raise ValueError(f"must be a text that is not blank, got {value!r:.60}")
    return value


def _number(value: Any) -> int:
    if type(value) is not int or value < 1:
        raise ValueError(f"must be a whole number of at least 1, got {value!r:.60}")
    return value


def _time(value: Any) -> str:
    try:
        has_offset = datetime.fromisoformat(_text(value)).tzinfo is not None
    except ValueError:
        has_offset = False
    if not has_offset:
        raise ValueError(
            f"must be a time with its offset from UTC, such as '2031-05-04T12:00:00+00:00', got {value!r:.60}"
        )
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, got {value!r:.60}")
    return value


def _change(value: Any) -> str:
    if value not in CHANGES_OF_CODEBOOK:
        raise ValueError(f"must be one of {', '.join(CHANGES_OF_CODEBOOK)}, got {value!r:.60}")
    return value


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"must be an object, got {value!r:.60}")
    return value


def _columns(value: Any) -> str | list[str]:
    names = value if isinstance(value, list) else [value]
    # pandas cannot have a column whose name contains half of a surrogate pair.
    are_names = all(isinstance(name, str) and name == well_formed(name) for name in names)
    if not names or not are_names:
        raise ValueError(f"must be the name of a column or a list of them, got {value!r:.60}")
    return value


def _sentence_keys(value: Any) -> dict[str, list[str]]:
    for keys in _mapping(value).values():
        if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
            raise ValueError(f"must have lists of keys as values, got {keys!r:.60}")
    return value


Words = Annotated[Any, PlainValidator(_text)]
Name = Annotated[Any, PlainValidator(_name)]
Number = Annotated[Any, PlainValidator(_number)]
Time = Annotated[Any, PlainValidator(_time)]
Flag = Annotated[Any, PlainValidator(_flag)]
Change = Annotated[Any, PlainValidator(_change)]
Columns = Annotated[Any, PlainValidator(_columns)]
Object = Annotated[Any, PlainValidator(_mapping)]
SentenceKeys = Annotated[Any, PlainValidator(_sentence_keys)]


class Labels(Record):
    """Annotator and hash of the labels on which a gold log is based."""

    annotator: Name
    labels: Words


class Header(Record):
    """The header of a log. It may have further keys."""

    task: Object
    annotator: Words
    id: Columns = "example_id"
    adjudicates: list[Labels] = Constraint(default_factory=list)


class FieldValue(Record):
    """The value of one field of an item or of a sentence. It may have further keys about its origin."""

    field: Words
    sentence: Words | None = None
    value: Any
    source: Words = "human"


class Action(Record):
    """What all actions have. Those that show an item also contain its id, its fingerprint and its sentence keys."""

    n: Number
    time: Time
    item: Words
    id: Object = Constraint(default_factory=dict)
    fingerprint: Words = ""
    sentences: SentenceKeys = Constraint(default_factory=dict)


class LabelAction(Action):
    """Gives places of an item a value."""

    set: list[FieldValue]


class NoteAction(Action):
    """Replaces the note on an item."""

    value: Words


class MarkAction(Action):
    """Flags or skips an item, or undoes that."""

    value: Flag


class CodebookAction(Action):
    """Changes the codebook while an item is on the screen."""

    change: Change
    tag: Name
    name: Name | None = None
    definition: Words | None = None
    into: Name | None = None


class StepAction(Action):
    """Undoes or redoes the action whose number is ``of``."""

    of: Number


ACTIONS: dict[str, type[Action]] = {
    "open": Action,
    "label": LabelAction,
    "agreed": LabelAction,
    "note": NoteAction,
    "flag": MarkAction,
    "skip": MarkAction,
    "codebook": CodebookAction,
    "undo": StepAction,
    "redo": StepAction,
}


# Change of the codebook -> the key that it needs besides the tag.
NEEDED_BY_CHANGE = {"add": "name", "rename": "name", "define": "definition", "merge": "into"}


def check_header(header: Mapping[str, Any], where: str) -> Task:
    """The task in a header, after a check of all its keys."""
    checked(Header, header, where)
    try:
        return read_task(header["task"])
    except InputError as error:
        raise InputError(f"{where}, key task: {error}") from error


class ActionRules:
    """What the actions of a log may contain, given its task.

    Check them in their order, because an action may refer to earlier ones.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        # Item -> part -> keys of its sentences.
        self._keys: dict[str, dict[str, frozenset[str]]] = {}
        # Number and item of each action that can be undone.
        self._changes: set[tuple[int, str]] = set()

    def check(self, action: Mapping[str, Any], where: str) -> None:
        """Raise InputError if an action has a wrong shape, or a value that its field does not allow."""
        kind: Any = action.get("action")
        check_choice(kind, tuple(ACTIONS), f"{where}, key action:")
        checked(ACTIONS[kind], action, where)
        # Actions that show an item have its sentence keys, and later ones refer to these.
        if "sentences" in action:
            self._keys[action["item"]] = {
                part: frozenset(keys) for part, keys in action["sentences"].items()
            }
        item = action["item"]
        if kind in ("undo", "redo") and (action["of"], item) not in self._changes:
            raise InputError(
                f"{where}, key of: must be the number of an earlier change of item {item!r}, "
                f"got {action['of']}"
            )
        if kind in ("label", "agreed"):
            sentence_keys = self._keys.get(item, {})
            for entry in action["set"]:
                self._check_value(entry, sentence_keys, f"{where}, item {item!r}:")
        if kind == "codebook":
            needed = NEEDED_BY_CHANGE[action["change"]]
            if action.get(needed) is None:
                raise InputError(f"{where}, key {needed}: is missing, but the change needs it")
        # Last, so that nothing can undo an action that was refused.
        if kind in CHANGES:
            self._changes.add((action["n"], item))

    def _check_value(
        self, entry: Mapping[str, Any], sentence_keys: Mapping[str, frozenset[str]], where: str
    ) -> None:
        """Raise InputError if a field of the task does not allow the value of an entry, or is not about its sentence."""
        names = tuple(field.name for field in self.task.fields)
        check_choice(entry["field"], names, f"{where} a field of task {self.task.name!r}")
        field = self.task.field(entry["field"])
        value, sentence = entry["value"], entry.get("sentence")
        what = f"{where} {field.name!r}"
        # The sentences about which a field with ``each`` is asked. Logs of earlier versions may not have them, and then any
        # sentence is allowed.
        sentences = sentence_keys.get(self.task.unit, frozenset())
        is_unknown = bool(sentences) and sentence not in sentences
        if field.each and (sentence is None or is_unknown):
            raise InputError(f"{what} must be about a sentence of the item, got {sentence!r:.60}")
        if not field.each and sentence is not None:
            raise InputError(f"{what} must be about no sentence, got {sentence!r:.60}")
        if value is None:
            return
        field.check_type(value, what)
        if field.kind == "choice":
            field.check_option(value, what)
        elif field.kind == "sentences":
            _check_keys(field, value, sentence_keys.get(field.of), what)


def _check_keys(
    field: Field, keys: list[Any], sentence_keys: frozenset[str] | None, what: str
) -> None:
    """Raise InputError unless a list contains only sentence keys and special answers.

    If the log does not have the sentence keys of the item (``None``), any text may be one.
    """
    special_answers = [option.value for option in field.options]
    for key in keys:
        is_sentence = isinstance(key, str) and (sentence_keys is None or key in sentence_keys)
        if not is_sentence and key not in special_answers:
            raise InputError(f"{what} must be a list of sentences of the item, got {key!r:.60}")
