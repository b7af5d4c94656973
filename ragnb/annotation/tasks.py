"""What an annotator is asked: fields, their options and keys, a short guideline; five tasks, and any that you declare."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ragnb.errors import InputError, check_choice
from ragnb.metrics.trace_labels import SPECIAL_KEYS

KINDS = ("choice", "sentences", "text")
TAKEN = frozenset("jkxenpfmgaoz")
"""Letters that do something else in the annotator and can be no field's key."""

COLUMNS = (
    "item",
    "annotator",
    "task",
    "status",
    "source",
    "flag",
    "note",
    "seconds",
    "time",
    "sentences",
)
"""Columns that stand beside the fields in a frame of labels; no field has such a name."""

Value = str | bool | int


@dataclass(frozen=True, slots=True)
class Option:
    """One answer that a field allows.

    Parameters
    ----------
    value
        As it is written to the log.
    label
        As it stands on the screen; the value by default.
    implies
        Other fields that this answer settles as long as they are untouched: field name to value.
    """

    value: Value
    label: str = ""
    implies: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """One thing that is asked of an item, or of each sentence of its response.

    Parameters
    ----------
    name
        Name of the column that it becomes.
    label
        What stands before it on the screen.
    kind
        - ``"choice"``: one of the `options`
        - ``"sentences"``: any number of the sentences of the part `of`; `options` are answers that are no sentence
        - ``"text"``: a free text
    key
        The letter that makes it the active field.
    each
        Asked of each sentence of the response, not of the item once.
    of
        The part whose sentences are chosen: ``"documents"`` or ``"response"``.
    required
        Whether an item is labelled only when this is.
    """

    name: str
    label: str
    kind: str = "choice"
    key: str = ""
    options: tuple[Option, ...] = ()
    each: bool = False
    of: str = "documents"
    required: bool = True


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked of every item.

    Parameters
    ----------
    name
        Of the task; a log is of one task.
    fields
        In the order in which they are asked.
    guideline
        Some short lines that stay in sight.
    shows
        Columns that an item shows, in order: ``question``, ``references``, ``documents`` (``documents_sentences``, or
        ``passages`` as one sentence each), ``response`` (``response_sentences``, or ``response`` as one), or any other
        column with a text.

    Raises
    ------
    InputError
        Names, letters or options that are doubled or missing.
    """

    name: str
    fields: tuple[Field, ...]
    guideline: str = ""
    shows: tuple[str, ...] = ("question", "references", "documents", "response")

    def __post_init__(self) -> None:
        _check_task(self)

    def field(self, name: str) -> Field:
        """The field of that name; InputError lists them."""
        check_choice(
            name, tuple(field.name for field in self.fields), f"a field of task {self.name!r}"
        )
        return next(field for field in self.fields if field.name == name)

    def schema(self) -> dict[str, Any]:
        """The task as plain lists and mappings, as a log's first line holds it; `read_task` reads it."""
        return json.loads(json.dumps(asdict(self)))

    @property
    def fingerprint(self) -> str:
        """Hash of all that can change what a label means."""
        return hashed(self.schema())


def hashed(value: Any) -> str:
    """Sixteen hexadecimal digits that change with any part of a JSON value."""
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


def read_task(schema: "Task | str | Mapping[str, Any]") -> Task:
    """A task from one of the names in `TASKS`, from a mapping, or as it is.

    A mapping has ``name``, ``fields`` (each a mapping with the arguments of `Field`; options are values, or mappings with
    the arguments of `Option`), and, where wanted, ``guideline`` and ``shows``.

    Raises
    ------
    InputError
        An unknown name, or a mapping of another shape.

    >>> read_task({"name": "tone", "fields": [{"name": "tone", "label": "tone", "options": ["kind", "curt"]}]}).fields[0].key
    't'
    """
    if isinstance(schema, Task):
        return schema
    if isinstance(schema, str):
        check_choice(schema, tuple(TASKS), "an annotation task")
        return TASKS[schema]
    if not isinstance(schema, Mapping):
        raise InputError(
            f"a task needs a name, a mapping or a Task; got {type(schema).__name__}; see ragnb.annotation.tasks"
        )
    given = {**schema, "fields": _read_fields(schema.get("fields"))}
    if isinstance(given.get("shows"), list):
        given["shows"] = tuple(given["shows"])
    return _built(Task, given, "a task")


def _read_fields(fields: Any) -> tuple[Field, ...]:
    if not isinstance(fields, list | tuple):
        raise InputError(
            f"the fields of a task need a list of mappings; got {fields!r}; list one at least"
        )
    read: list[Field] = []
    for field in fields:
        if not isinstance(field, Mapping):
            raise InputError(
                f"a field of a task needs a mapping; got {field!r}; give its name and label"
            )
        options = field.get("options", ())
        if not isinstance(options, list | tuple):
            raise InputError(f"the options of a field need a list; got {options!r}; list them")
        given = {**field, "options": tuple(map(_read_option, options))}
        given["label"] = str(given.get("label") or given.get("name", ""))
        given["key"] = given.get("key") or _free_key(given["label"], (other.key for other in read))
        read.append(_built(Field, given, "a field of a task"))
    return tuple(read)


def _read_option(option: Any) -> Option:
    return _built(Option, option, "an option") if isinstance(option, Mapping) else Option(option)


def _built(kind: Any, given: Mapping[str, Any], what: str) -> Any:
    unknown = sorted(map(str, set(given) - set(kind.__dataclass_fields__)))
    if unknown:
        raise InputError(
            f"{what} needs none but {', '.join(kind.__dataclass_fields__)}; got {', '.join(unknown)}; remove or rename them"
        )
    try:
        return kind(**given)
    except TypeError as error:
        raise InputError(
            f"{what} needs more than it was given; got {error}; add what is missing"
        ) from error


def _free_key(label: str, used: Iterable[str]) -> str:
    """The first letter of a label, or else of the alphabet, that nothing else has."""
    taken = TAKEN | set(used)
    letters = [
        letter
        for letter in label.lower() + "abcdefghijklmnopqrstuvwxyz"
        if letter in "abcdefghijklmnopqrstuvwxyz"
    ]
    return next((letter for letter in letters if letter not in taken), "")


def _check_task(task: Task) -> None:
    what = f"task {task.name!r}"
    if not task.name or not isinstance(task.name, str) or not task.fields:
        raise InputError(
            f"a task needs a name and a field at least; got {task.name!r} with {len(task.fields)}; add them"
        )
    if (
        not isinstance(task.shows, tuple)
        or not all(isinstance(name, str) for name in task.shows)
        or _doubled(task.shows)
    ):
        raise InputError(
            f"shows of {what} needs a list of different columns; got {task.shows!r}; list each once"
        )
    for word, given in (
        ("name", [field.name for field in task.fields]),
        ("key", [field.key for field in task.fields]),
    ):
        odd = [value for value in given if not isinstance(value, str) or not value] or _doubled(
            given
        )
        if odd:
            raise InputError(
                f"each field of {what} needs a {word} of its own; got {odd[0]!r}; change it"
            )
    if not any(field.required for field in task.fields):
        raise InputError(
            f"{what} needs a required field, or nothing would be left to label; got none; require one"
        )
    for field in task.fields:
        _check_field(field, task, what)
    taken = [field.name for field in task.fields if field.name in COLUMNS]
    if taken:
        raise InputError(
            f"no field of {what} can be named {taken[0]!r}, a column of all labels; got one; rename it"
        )


def _check_field(field: Field, task: Task, what: str) -> None:
    check_choice(field.kind, KINDS, f"the kind of field {field.name!r} of {what}")
    check_choice(field.of, ("documents", "response"), f"'of' in field {field.name!r} of {what}")
    if (
        len(field.key) != 1
        or not field.key.isascii()
        or not field.key.islower()
        or field.key in TAKEN
    ):
        free = "".join(sorted(set("abcdefghijklmnopqrstuvwxyz") - TAKEN))
        raise InputError(
            f"the key of field {field.name!r} of {what} needs to be one of {free}; got {field.key!r}; change it"
        )
    needed = {"response"} if field.each else set()
    needed |= {field.of} if field.kind == "sentences" else set()
    if needed - set(task.shows):
        raise InputError(
            f"field {field.name!r} of {what} needs {sorted(needed)} to be shown; got {list(task.shows)}; add it to shows"
        )
    _check_options(field, task, f"field {field.name!r} of {what}")


def _check_options(field: Field, task: Task, what: str) -> None:
    values = [option.value for option in field.options]
    if any(not isinstance(value, str | bool | int) for value in values):
        raise InputError(
            f"options of {what} need texts, whole numbers or truth values; got {values!r}; write them so"
        )
    if _doubled([(type(value), value) for value in values]) or len(values) > 9:
        raise InputError(f"{what} needs up to nine different options; got {values!r}; change them")
    if field.kind == "choice" and len(values) < 2:
        raise InputError(f"{what}, a choice, needs two options at least; got {values!r}; add some")
    strangers = {name for option in field.options for name in option.implies or ()} - {
        other.name for other in task.fields
    }
    if strangers:
        raise InputError(
            f"options of {what} imply fields that the task has not: {sorted(strangers)}; name its own"
        )


def _doubled(values: Iterable[Any]) -> list[Any]:
    return [value for value, n in Counter(values).items() if n > 1]


def _choice(name: str, label: str, key: str, *options: Option | Value, **more: Any) -> Field:
    given = tuple(option if isinstance(option, Option) else Option(option) for option in options)
    return Field(name, label, "choice", key, given, **more)


YES, NO = Option(True, "yes"), Option(False, "no")

TRACE = Task(
    "trace",
    (
        Field("relevant", "relevant", "sentences", "r"),
        Field("utilized", "utilized", "sentences", "u"),
        Field(
            "supporting",
            "supports the sentence",
            "sentences",
            "s",
            tuple(Option(key, key.replace("_", " ")) for key in SPECIAL_KEYS),
            each=True,
        ),
        _choice(
            "support",
            "the sentence is supported",
            "v",
            Option("full", "fully"),
            Option("partial", "in part"),
            Option("none", "not at all", {"supporting": []}),
            each=True,
        ),
        _choice("overall", "the whole response is supported", "w", YES, NO),
    ),
    "relevant: a sentence of the documents that helps to answer the question, whether the response uses it or not.\n"
    "utilized: a sentence of the documents whose information stands in the response.\n"
    "supports: what of the documents the chosen sentence of the response rests on; none is an answer, too.\n"
    "supported: fully when all that the sentence says is there, in part when some is, not at all when nothing is.\n"
    "the whole response is supported: yes when each of its sentences is.",
)
"""RAGBench's sentence labels, from which TRACe is counted."""

VERDICT = Task(
    "verdict",
    (_choice("verdict", "verdict", "v", "correct", "incorrect", "refuse"),),
    "correct: says what the references say, in whatever words or language; more than they say is no fault unless it is "
    "false.\n"
    "incorrect: says something else, contradicts itself, or leaves out a part that was asked for.\n"
    "refuse: gives no answer and says so, or says that the passages do not hold one.",
)
"""Whether a response answers its question."""

RGB = Task(
    "rgb",
    (
        _choice("answer_present", "the answer is in the response", "c", YES, NO),
        _choice("refusal", "the response refuses to answer", "r", YES, NO),
        _choice("error_detected", "the response finds errors in the documents", "d", YES, NO),
    ),
    "answer: every part of the references is there, under any of its names.\n"
    "refuses: says that the documents do not hold enough to answer.\n"
    "finds errors: says that something in the documents is false.",
)
"""RGB's three readings of a response."""

LANGUAGE = Task(
    "language",
    (
        _choice(
            "right_language",
            "in the language that was asked for",
            "l",
            "yes",
            "no",
            "mixed",
            Option("none", "no words"),
        ),
    ),
    "yes: names, numbers and quotations aside, all of it is in the language of the question.\n"
    "mixed: some sentences or words are, others are not.\n"
    "no words: nothing but numbers, names or signs.",
    shows=("language", "question", "response"),
)
"""Whether a response speaks the language of its question."""

PREFERENCE = Task(
    "preference",
    (
        _choice(
            "preferred",
            "better",
            "b",
            Option("a"),
            Option("b"),
            Option("tie", "both as good"),
            Option("neither", "neither"),
        ),
    ),
    "better: the one you would rather be given as the answer; right before well put, short before long.\n"
    "neither: both fail to answer.",
    shows=("question", "references", "documents", "response_a", "response_b"),
)
"""Which of two responses is better; which of them stands first is drawn for each item."""

TASKS = {task.name: task for task in (TRACE, VERDICT, RGB, LANGUAGE, PREFERENCE)}
"""The tasks that have a name."""
