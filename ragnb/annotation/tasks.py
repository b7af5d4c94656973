"""Annotation tasks: fields with options and keys, and a short guideline. `TASKS` has the predefined tasks."""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, replace
from importlib import resources
from typing import Annotated, Any, Literal

import pydantic
from pydantic import AfterValidator, BeforeValidator, ConfigDict, StrictBool, StrictInt, StrictStr
from pydantic.dataclasses import dataclass

from ragnb.arguments import accepts, accepts_fields
from ragnb.errors import InputError, check_choice
from ragnb.printing import described
from ragnb.tags import tag_key, tag_name

# Letters that can be the key of a field. The others do something else in the annotator.
FREE = "bcdhilqrstuvwy"

# Columns of every frame of labels, which cannot be names of fields.
COLUMNS = ("item", "annotator", "task", "status", "source", "flag", "note", "seconds", "time",
           "fingerprint", "sentences")  # fmt: skip

# Kinds of fields whose values are lists, which may be empty.
LISTS = ("sentences", "tags")

Value = StrictStr | StrictBool | StrictInt
Name = Annotated[str, pydantic.Field(min_length=1)]
# Unknown keys of a task are errors, so that a misspelled one is noticed.
CLOSED = ConfigDict(extra="forbid")


@accepts_fields
@dataclass(frozen=True, slots=True, config=CLOSED)
class Option:
    """One answer that a field allows.

    Parameters
    ----------
    value
        The answer as it is written to the log.
    label
        The answer as it appears on the screen; by default the value.
    implies
        Values of other fields that follow from this answer, by the field's name. They apply to fields that are untouched.
    sign
        What appears next to a sentence of the response that has this answer, such as ``"✓"``; by default ✓ for True, ✗ for
        False, and otherwise the value.
    """

    value: Value
    label: str = ""
    implies: dict[str, Any] | None = None
    sign: str = ""

    @property
    def badge(self) -> str:
        """The sign of the answer, or what replaces it by default."""
        if self.sign:
            return self.sign
        if isinstance(self.value, bool):
            return "✓" if self.value else "✗"
        return str(self.value)


# Options. An option can be given by its value alone.
Options = tuple[
    Annotated[
        Option,
        BeforeValidator(
            lambda option: option if isinstance(option, Option | Mapping) else {"value": option}
        ),
    ],
    ...,
]


def _free_key(key: str) -> str:
    """Return the key of a field; ValueError lists the letters if it is none of them."""
    if key and key not in list(FREE):
        raise ValueError(f"must be one of the letters {', '.join(FREE)}")
    return key


@accepts_fields
@dataclass(frozen=True, slots=True, config=CLOSED)
class Field:
    """One question about an item, or about each sentence of its response.

    Parameters
    ----------
    name
        Name of the column of labels.
    label
        What the screen shows; by default the name.
    kind
        - ``"choice"``: one of the `options`
        - ``"sentences"``: any number of the sentences, claims or words of the part `of`; `options` are further possible
          answers
        - ``"text"``: a free text
        - ``"tags"``: any number of the tags of the task's `Task.codebook`, to which the annotator can add
    key
        The letter that makes it the active field; by default the first free letter of the label.
    options
        Up to nine. A choice needs at least two.
    each
        Whether it is asked of each sentence of the response, or of each claim if the task shows claims, instead of once
        per item.
    of
        The part whose sentences are chosen: ``"documents"``, ``"response"``, ``"claims"`` or ``"words"``.
    required
        Whether an item is labelled only if this field is.
    """

    name: Name
    label: str = ""
    kind: Literal["choice", "sentences", "text", "tags"] = "choice"
    key: Annotated[str, AfterValidator(_free_key)] = ""
    options: Annotated[Options, pydantic.Field(max_length=9)] = ()
    each: bool = False
    of: Literal["documents", "response", "claims", "words"] = "documents"
    required: bool = True

    def __post_init__(self) -> None:
        # With their types, because True equals 1.
        values = [(type(option.value), option.value) for option in self.options]
        if len(set(values)) < len(values):
            raise InputError(f"an option of {self.name!r} is given twice")
        if self.kind == "choice" and len(values) < 2:
            raise InputError(f"{self.name!r} is a choice and needs at least two options")
        if self.kind == "tags" and (values or self.each):
            raise InputError(
                f"{self.name!r} is a field of tags, which has no options and is asked once per item; tags are in the "
                "codebook of the task"
            )
        if self.name in COLUMNS:
            raise InputError(
                f"{self.name!r} is the name of a column that all tables of labels have; rename the field"
            )

    @property
    def graded(self) -> bool:
        """Whether the options are grades, such as 1 to 4."""
        return bool(self.options) and all(type(option.value) is int for option in self.options)

    def check_option(self, value: Any, what: str) -> None:
        """Raise InputError unless a value is one of the options. ``what`` is for the message."""
        self.number(value, what)

    def check_type(self, value: Any, what: str) -> None:
        """Raise InputError unless a value is a text, or a list of tags or of sentences, as the kind needs.

        A choice has any type; `check_option` checks it. ``what`` is for the message.
        """
        if self.kind == "text" and not isinstance(value, str):
            raise InputError(f"{what} must be a text, got {value!r:.60}")
        if self.kind == "sentences" and not isinstance(value, list):
            raise InputError(f"{what} must be a list of sentences of the item, got {value!r:.60}")
        if self.kind == "tags":
            are_tags = isinstance(value, list) and all(isinstance(tag, str) for tag in value)
            if not are_tags:
                raise InputError(f"{what} must be a list of tags, got {value!r:.60}")

    def number(self, value: Any, what: str) -> int:
        """Position of the option with this value. True and 1 are different values. ``what`` is for the message."""
        values = [(type(option.value), option.value) for option in self.options]
        if (type(value), value) in values:
            return values.index((type(value), value))
        raise InputError(
            f"{what} must be one of {[option.value for option in self.options]}, got {value!r}"
        )

    def implied(self, value: Any) -> Mapping[str, Any]:
        """Values of other fields that follow from an answer."""
        if self.kind != "choice" or value is None:
            return {}
        return self.options[self.number(value, self.name)].implies or {}


# Labels that take part in a contradiction: options, or whether any sentence is chosen.
Labels = tuple[Value, ...] | Literal["some", "none"]


def _tags_once(codebook: dict[str, str]) -> dict[str, str]:
    """Return a codebook with clean names; ValueError if two tags differ only in letter case or white space."""
    tags = {tag_name(name): definition for name, definition in codebook.items()}
    if len({tag_key(name) for name in tags}) < len(codebook):
        raise ValueError("two tags have the same name, apart from letter case and white space")
    return tags


# Name of each tag -> its definition.
Definitions = Annotated[dict[str, str], AfterValidator(_tags_once)]


@accepts_fields
@dataclass(frozen=True, slots=True, config=CLOSED)
class Contradiction:
    """Labels of one item that cannot all be right. The annotator warns of them, and refuses nothing.

    A place without a label contradicts nothing. A contradiction needs either `labels`, with or without `some` and `every`,
    or `chosen` and `not_chosen`.

    Parameters
    ----------
    message
        What the annotator shows. ``{}`` stands for the key of the sentence.
    labels
        By the name of the field, the labels that cannot occur together: some of its options, or ``"some"`` or ``"none"`` for
        a field of sentences or tags. If a field is asked of each sentence of the response, each sentence is examined.
    some, every
        Likewise, for fields that are asked of each sentence of the response: some sentence has one of these labels, or every
        sentence has. Both are examined when all sentences are labelled.
    chosen, not_chosen
        Names of two fields of sentences: a sentence is chosen in the first and not in the second.
    """

    message: Name
    labels: dict[str, Labels] = pydantic.Field(default_factory=dict)
    some: dict[str, Labels] = pydantic.Field(default_factory=dict)
    every: dict[str, Labels] = pydantic.Field(default_factory=dict)
    chosen: str = ""
    not_chosen: str = ""

    def __post_init__(self) -> None:
        compares_labels = bool(self.labels)
        compares_sentences = bool(self.chosen and self.not_chosen)
        is_mixed = compares_labels and bool(self.chosen or self.not_chosen)
        if is_mixed or not (compares_labels or compares_sentences):
            raise InputError(
                f"the contradiction {self.message!r} needs either labels, or chosen and not_chosen"
            )

    def check(self, fields: Mapping[str, Field]) -> None:
        """Raise InputError unless the contradiction fits the fields of its task, by name.

        The fields must exist and have all of its labels. Those in ``some`` and ``every`` must be asked of each sentence.
        ``chosen`` and ``not_chosen`` must be fields of sentences of the same part, about the whole item.
        """
        where = f"the contradiction {self.message!r}"
        unknown = {*self.labels, *self.some, *self.every, self.chosen, self.not_chosen}
        unknown -= {*fields, ""}
        if unknown:
            raise InputError(f"{where} has unknown fields, {sorted(unknown)}")
        for name, labels in (*self.labels.items(), *self.some.items(), *self.every.items()):
            _check_labels(fields[name], labels, where)
        for name in (*self.some, *self.every):
            if not fields[name].each:
                raise InputError(
                    f"{where} needs a field that is asked of each sentence, got {name!r}"
                )
        if self.chosen:
            first, second = fields[self.chosen], fields[self.not_chosen]
            for field in (first, second):
                if field.kind != "sentences" or field.each:
                    raise InputError(
                        f"{where} needs two fields of sentences about the whole item, got {field.name!r}"
                    )
            if first.of != second.of:
                raise InputError(
                    f"{where} compares sentences of {first.of!r} with those of {second.of!r}"
                )


def _check_labels(field: Field, labels: Labels, where: str) -> None:
    """Raise InputError unless a field has the labels of a contradiction."""
    if field.kind in LISTS:
        check_choice(labels, ("some", "none"), f"{where}: labels of {field.name!r}")
    elif field.kind == "choice" and not isinstance(labels, str):
        for label in labels:
            field.check_option(label, f"{where}: a label of {field.name!r}")
    else:
        raise InputError(f"{where} needs options of a choice, got {labels!r} for {field.name!r}")


def _complete(fields: Any) -> Any:
    """Give each field a label and a key if it has none."""
    if not isinstance(fields, list | tuple):
        return fields
    wrong = [field for field in fields if not isinstance(field, Field | Mapping)]
    if wrong:
        raise ValueError(f"a field must be a mapping, got {wrong[0]!r:.60}")
    completed = [asdict(field) if isinstance(field, Field) else dict(field) for field in fields]
    used = {field["key"] for field in completed if isinstance(field.get("key"), str)}
    for field in completed:
        field["label"] = field.get("label") or field.get("name", "")
        if not field.get("key"):
            # The first free letter of the label, else any free letter.
            letters = str(field["label"]).lower() + FREE
            free = [letter for letter in letters if letter in FREE and letter not in used]
            field["key"] = free[0] if free else ""
            used.add(field["key"])
    return completed


@accepts_fields
@dataclass(frozen=True, slots=True, config=CLOSED)
class Task:
    """An annotation task: the fields that are labelled for each item, and a guideline.

    Parameters
    ----------
    name
        Name of the task. A log belongs to one task.
    fields
        Fields in the order in which they are asked, up to fourteen.
    guideline
        A few short lines that stay visible.
    shows
        Columns that an item shows, in order: ``question`` (after the earlier turns of the conversation in ``history``, if
        there are any), ``references``, ``documents`` (``documents_sentences``, or ``passages`` as one sentence each),
        ``response`` (``response_sentences``, or ``response`` as one sentence), ``words`` (the response in words, to mark
        spans), ``claims`` (``claims`` or ``parts``, as texts or mappings with a ``text``), or any other column
        with a text.
    contradictions
        Labels that cannot all be right. The annotator warns of them; see `Contradiction`.
    codebook
        The tags to begin with, each with its definition, if the task has a field of tags.

    Raises
    ------
    InputError
        A name, key or option is missing, not allowed or given twice.
    """

    name: Name
    fields: Annotated[
        tuple[Field, ...], pydantic.Field(min_length=1, max_length=14), BeforeValidator(_complete)
    ]
    guideline: str = ""
    shows: tuple[str, ...] = ("question", "references", "documents", "response")
    contradictions: tuple[Contradiction, ...] = ()
    codebook: Definitions = pydantic.Field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.codebook and not self.tag_fields:
            raise InputError(f"task {self.name!r} has a codebook, but no field of tags")
        names = [field.name for field in self.fields]
        keys = [field.key for field in self.fields]
        for what, values in (("name", names), ("key", keys)):
            if len(set(values)) < len(values):
                raise InputError(f"each field needs its own {what}, got {', '.join(values)}")
        for field in self.fields:
            implied = {name for option in field.options for name in option.implies or ()}
            if not implied <= set(names):
                raise InputError(f"{field.name!r} implies unknown fields, {sorted(implied)}")
            needed: list[str] = []
            if field.kind == "sentences":
                needed.append(field.of)
            if field.each:
                needed.append(self.unit)
            if not set(needed) <= set(self.shows):
                columns = " and ".join(needed)
                raise InputError(
                    f'{field.name!r} needs {columns}; list this in "shows" of the task'
                )
        for contradiction in self.contradictions:
            contradiction.check({field.name: field for field in self.fields})

    @property
    def tag_fields(self) -> tuple[str, ...]:
        """Names of the fields whose values are tags of the codebook."""
        return tuple(field.name for field in self.fields if field.kind == "tags")

    @property
    def unit(self) -> str:
        """The part whose sentences a field with ``each`` is asked of: ``"claims"`` if they are shown, or ``"response"``."""
        return "claims" if "claims" in self.shows else "response"

    def field(self, name: str) -> Field:
        """The field with this name. If there is none, InputError lists the names."""
        by_name = {field.name: field for field in self.fields}
        check_choice(name, tuple(by_name), f"a field of task {self.name!r}")
        return by_name[name]

    def schema(self) -> dict[str, Any]:
        """Convert the task to lists and mappings, as in the header of a log. `read_task` is the inverse.

        What earlier versions did not have is left out where it is empty, so that they can read the task.
        """
        schema = json.loads(json.dumps(asdict(self)))
        for name in ("contradictions", "codebook"):
            if not schema[name]:
                del schema[name]
        for field in schema["fields"]:
            for option in field["options"]:
                if not option["sign"]:
                    del option["sign"]
        return schema

    def answers(self) -> dict[str, Any]:
        """The schema without contradictions and signs, which do not change what a label means, and without the codebook.

        Every annotator has a codebook, and its tags are compared by name.
        """
        fields = []
        for field in self.fields:
            options = tuple(replace(option, sign="") for option in field.options)
            fields.append(replace(field, options=options))
        return replace(self, fields=tuple(fields), contradictions=(), codebook={}).schema()


def plain(value: Any) -> Any:
    """The value of a cell, in which NumPy's numbers and arrays become Python's numbers and lists."""
    return value.tolist() if hasattr(value, "tolist") else value


def hashed(value: Any) -> str:
    """Hash of a JSON value: sixteen hexadecimal digits, which change with any part of the value."""
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


@accepts()
def read_task(schema: "Task | str | Mapping[str, Any]") -> Task:
    """Return a task from its name in `TASKS` or from a mapping. A `Task` is returned unchanged.

    A mapping has ``name``, ``fields`` (each a mapping with the arguments of `Field`; options are values, or mappings with
    the arguments of `Option`) and, if you like, ``guideline`` and ``shows``.

    Parameters
    ----------
    schema
        The name, the mapping or the task.

    Raises
    ------
    InputError
        An unknown name, or a mapping that is no task; the message names the place.

    >>> read_task({"name": "tone", "fields": [{"name": "tone", "options": ["kind", "curt"]}]}).fields[0].key
    't'
    """
    if isinstance(schema, Task):
        return schema
    if isinstance(schema, str):
        check_choice(schema, tuple(TASKS), "an annotation task")
        return TASKS[schema]
    try:
        return pydantic.TypeAdapter(Task).validate_python(schema)
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        reason = first["msg"].removeprefix("Value error, ")
        raise InputError(
            f"invalid annotation task: {f'{place}: ' if place else ''}{reason}, got {described(first['input'])}"
        ) from None


_FILE = resources.files("ragnb") / "annotation/data/tasks.toml"
# The tasks that have a name. Comments in the file say what each of them asks.
TASKS = {
    task["name"]: read_task(task)
    for task in tomllib.loads(_FILE.read_text(encoding="utf-8"))["tasks"]
}
