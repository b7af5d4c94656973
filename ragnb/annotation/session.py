"""A session of one annotator with a list of items. Every action is logged before it takes effect."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from numbers import Integral
from pathlib import Path
from statistics import median
from typing import Any, TypeVar, cast

import pandas as pd

from ragnb.annotation.codebook import Codebook
from ragnb.annotation.codebook_files import with_codebook
from ragnb.annotation.items import (
    Item,
    build_items,
    changed_items,
    check_value,
    refuse_changed_texts,
)
from ragnb.annotation.lines import Event
from ragnb.annotation.log import (
    AnnotationLog,
    ItemLabels,
    LabelState,
    log_file,
    log_lines,
)
from ragnb.annotation.places import Place
from ragnb.annotation.suggestions import suggested_values
from ragnb.annotation.tasks import Field, Task, read_task
from ragnb.arguments import accepts
from ragnb.errors import InputError
from ragnb.printing import warn
from ragnb.tags import definition_text, tag_name
from ragnb.version import __version__

Method = TypeVar("Method", bound=Callable[..., Any])
# Statuses of items that are still to be labelled.
UNFINISHED = ("untouched", "started")

# Values by item, annotator and place.
Votes = Mapping[str, Mapping[str, Mapping[Place, Any]]]


def _alone(method: Method) -> Method:
    """Let one thread act at a time. JupyterLab handles clicks in a different thread from the one that runs cells."""

    @wraps(method)
    def act(session: "AnnotationSession", *args: Any, **options: Any) -> Any:
        """Call the method while no other thread uses the log."""
        with session.log.lock:
            return method(session, *args, **options)

    return cast(Method, act)


class AnnotationSession:
    """The labelling of some examples by one annotator, with undo and progress but without a user interface.

    Parameters
    ----------
    examples
        One row per item; see `ragnb.annotation.items.build_items`.
    task
        A name in `ragnb.annotation.tasks.TASKS`, a `Task`, or a mapping that declares one.
    annotator
        Name of the person who labels.
    path
        The log (``"ana.sqlite"``), or a folder (``"labels"``) in which it becomes ``{annotator}.{task}.sqlite``. A log of
        an earlier version (``"ana.jsonl"``) is imported.
    suggestions
        Labels to begin with; see `suggested_values`.
    suggested_by
        Whose suggestions they are, such as the name of a judge.
    blind
        Do not show the suggestions. Labels do not mention them either.
    id
        Column or columns that identify a row.
    others
        Labels of the annotators whose labels are adjudicated, by item, name and place, with the names that the screen
        shows. Only `ragnb.annotation.adjudicate` passes them.
    named
        The same with the real names, for the log, if the names in `others` are letters.
    header
        Anything else to store in the header of a new log.
    codebook
        The tags to begin with, for a task with a field of tags, such as ``"error_analysis"``: a mapping from names to
        definitions, a list of names, a frame with the columns ``tag`` and ``definition``, or the log of another annotator.
        A log that exists keeps its codebook.

    Attributes
    ----------
    items : list of Item
        The items to be labelled. An example whose texts differ from those that were labelled is left out with a warning, and
        its labels stay in the log.
    notices : list of str
        What the annotator should know about the log: what was imported, which examples were left out, which labelled items
        are not among the examples.

    Raises
    ------
    InputError
        `build_items`, `read_task` or `AnnotationLog` refuses its input, or all examples have changed since they were
        labelled.
    StoreError
        The log is open in another kernel or program.
    """

    @accepts()
    def __init__(
        self,
        examples: pd.DataFrame,
        task: Task | str | Mapping[str, Any],
        annotator: str,
        path: str | Path,
        *,
        suggestions: Any = None,
        suggested_by: str = "suggestion",
        blind: bool = False,
        id: str | Sequence[str] = "example_id",
        others: Votes | None = None,
        named: Votes | None = None,
        header: Mapping[str, Any] | None = None,
        codebook: Any = None,
    ) -> None:
        self.task, self.annotator = with_codebook(task, codebook), str(annotator).strip()
        if not self.annotator:
            raise InputError("annotator must be the name of a person, got an empty text")
        self.items = build_items(examples, self.task, id=id)
        self.suggested = suggested_values(suggestions, self.items, self.task, id=id)
        self.suggested_by, self.blind = suggested_by, blind
        self.others = others or {}
        self._named = named or self.others
        # The header of a new log. A log that exists keeps its own.
        new_header = {
            "task": self.task.schema(),
            "annotator": self.annotator,
            "id": id if isinstance(id, str) else list(id),
        }
        self.log = AnnotationLog(
            log_file(path, self.annotator, self.task.name),
            {**new_header, **(header or {}), "ragnb": __version__},
        )
        self.notices = [self.log.imported] if self.log.imported else []
        logged_task = read_task(self.log.header["task"])
        guideline = logged_task.guideline
        # The log records changes of the codebook with which it began, so that one is used, and not the one of this call.
        self.task = replace(self.task, codebook=logged_task.codebook)
        if guideline != self.task.guideline:
            self.task = replace(self.task, guideline=guideline)
            self._warn(
                f"{self.log.path.name} was started with another guideline, which is still used"
            )
        self.state = LabelState(self.log.events, self.task)
        try:
            self._compare_with_log()
        except InputError:
            # Nobody can close the log of a session that was not created, so it would stay locked.
            self.log.close()
            raise
        self._numbers = {item.id: number for number, item in enumerate(self.items)}
        self._follow_log()
        # Begin with the item that was shown last. If it is done, begin with the first one that is not. Items that were
        # "agreed" got their label without being shown.
        items_of_actions = [
            event["item"] for event in self.log.events if event["action"] != "agreed"
        ]
        last = self._numbers.get(items_of_actions[-1], 0) if items_of_actions else 0
        unfinished = [n for n, status in enumerate(self.statuses) if status in UNFINISHED]
        self.number = last if last in unfinished else next(iter(unfinished), last)

    def _compare_with_log(self) -> None:
        """Leave out the items whose texts have changed, and report labelled items that are not among the examples."""
        # Both by the id of the item.
        touched = {item: labels for item, labels in self.state.items.items() if labels.touched}
        fingerprints = {
            item: labels.fingerprint for item, labels in touched.items() if labels.fingerprint
        }
        changed = changed_items(self.items, fingerprints)
        # A session needs at least one item, so it is an error if the texts of all have changed.
        if len(changed) == len(self.items):
            refuse_changed_texts(self.items, fingerprints)
        ids = {item.id for item in self.items}
        # A gold log also contains the items on which the annotators agree, which are not shown.
        missing = [item for item, labels in touched.items() if labels.time and item not in ids]
        if changed:
            self._warn(
                f"the texts of {_listed(changed)} differ from those that were labelled; these examples are left out, and "
                f"their labels stay in {self.log.path.name}; load the data that were labelled to continue with them"
            )
        if missing:
            self._warn(
                f"{self.log.path.name} has labels of {_listed(missing)}, which are not among the examples; check the column "
                "of ids if they should be"
            )
        left_out = set(changed)
        self.items = [item for item in self.items if item.id not in left_out]

    def _warn(self, notice: str) -> None:
        """Warn, and keep the notice for the screen."""
        self.notices.append(notice)
        warn(notice)

    # ---- the item on the screen ----------------------------------------------------------------

    @property
    def item(self) -> Item:
        """The item on the screen."""
        return self.items[self.number]

    @property
    def labels(self) -> ItemLabels:
        """The labels of the item on the screen."""
        return self.state.of(self.item.id)

    @property
    def values(self) -> dict[Place, Any]:
        """The values of the item on the screen by place, in which tags are ids of the present codebook."""
        return self.state.present(self.labels.values)

    @property
    def codebook(self) -> Codebook:
        """The present codebook, which is empty if the task has no field of tags."""
        return self.state.codebook

    def status(self, item: Item) -> str:
        """``"labelled"``, ``"started"``, ``"skipped"`` or ``"untouched"``."""
        return self.state.of(item.id).status(self.task, item.sentences)

    def missing(self) -> list[Place]:
        """What is still to be labelled in the item on the screen."""
        return self.labels.missing(self.task, self.item.sentences)

    def suggestion(self) -> dict[Place, Any]:
        """Suggested values of the places that are untouched; none if the annotator is blind to them."""
        if self.blind:
            return {}
        suggested = self.suggested.get(self.item.id, {})
        untouched = {
            place: value for place, value in suggested.items() if place not in self.labels.values
        }
        return self.state.present(untouched)

    def progress(self) -> dict[str, Any]:
        """The numbers of items, in total, by status and with a flag, and the seconds that are left at the median pace.

        Before the first item is labelled, there is no pace, and the seconds are None.
        """
        names = ("labelled", "started", "skipped", "untouched")
        counts = {status: self.statuses.count(status) for status in names}
        # The state also has labels of items that are not among the examples.
        labels_of_items = [self.state.of(item.id) for item in self.items]
        with_status = list(zip(labels_of_items, self.statuses, strict=True))
        seconds = [labels.seconds for labels, status in with_status if status == "labelled"]
        n_left = counts["untouched"] + counts["started"]
        return {
            "items": len(self.items),
            **counts,
            "flagged": sum(labels.flag for labels in labels_of_items),
            "seconds_left": round(median(seconds) * n_left) if seconds else None,
        }

    # ---- going about ---------------------------------------------------------------------------

    @_alone
    def go(self, target: int | str) -> None:
        """Show the item with that number (from 0) or id: its time begins, and its text is recorded."""
        number = self._numbers.get(target, -1) if isinstance(target, str) else target
        is_number = isinstance(number, Integral) and not isinstance(number, bool)
        if not is_number or not 0 <= number < len(self.items):
            raise InputError(
                f"go needs the id of an item or a number below {len(self.items)}, got {target!r}"
            )
        item = self.items[number]
        self.record({"action": "open", "item": item.id, **pinned(item)})
        self.number = number

    @contextmanager
    def at(self, number: int) -> Iterator[None]:
        """Act on the item with this number without showing it."""
        with self.log.lock:
            number_on_screen, self.number = self.number, number
            try:
                yield
            finally:
                self.number = number_on_screen

    @_alone
    def move(self, step: int) -> bool:
        """Move by a number of items, forward or back. Return False if there is no such item."""
        number = self.number + step
        is_there = 0 <= number < len(self.items)
        if is_there:
            self.go(number)
        return is_there

    @_alone
    def next_unlabelled(self) -> bool:
        """Go to the next item that is neither labelled nor skipped. After the last item, the first one follows.

        Return False if there is no such item.
        """
        order = [*range(self.number + 1, len(self.items)), *range(self.number + 1)]
        number = next((n for n in order if self.statuses[n] in UNFINISHED), None)
        if number is not None:
            self.go(number)
        return number is not None

    # ---- labels --------------------------------------------------------------------------------

    @_alone
    def label(self, field: str, value: Any, sentence: str | None = None) -> None:
        """Give a place of the item on the screen a value; None makes it untouched again. Tags are given by their names.

        Raises
        ------
        InputError
            The task or the item does not have the value, field or sentence.
        """
        place, task_field = self._place(field, sentence)
        checked = self._checked(task_field, value)
        self._label({place: checked, **self._implied(task_field, checked, sentence)})

    @_alone
    def toggle(
        self,
        field: str,
        keys: Sequence[str],
        sentence: str | None = None,
        *,
        on: bool | None = None,
    ) -> None:
        """Add keys to a field of sentences, or remove them if all of them are in it; `on` forces one of the two.

        An untouched field stays untouched if there are no keys. For a field of tags, the keys are names of tags.
        """
        place, task_field = self._place(field, sentence)
        keys = self._checked(task_field, keys)
        if task_field.kind not in ("sentences", "tags"):
            raise InputError(
                f"toggle needs a field of sentences or tags, but {field!r} is a {task_field.kind}; use label"
            )
        if not keys:
            return
        # A place without a label begins with its suggestion.
        keys_before = set(self.values.get(place, self.suggestion().get(place, [])))
        is_adding = not set(keys) <= keys_before if on is None else on
        keys_after = keys_before | set(keys) if is_adding else keys_before - set(keys)
        self._label({place: self._checked(task_field, keys_after)})

    @_alone
    def accept(self) -> bool:
        """Accept the suggestions for all places without a label. Return False if there are none."""
        suggestion = self.suggestion()
        if suggestion:
            self._label(suggestion)
        return bool(suggestion)

    @_alone
    def flag(self) -> None:
        """Flag the item, or remove the flag."""
        self._change("flag", value=not self.labels.flag)

    @_alone
    def skip(self) -> None:
        """Skip the item, or undo the skip."""
        self._change("skip", value=not self.labels.skipped)

    @_alone
    def note(self, text: str) -> None:
        """Write a note on the item; an empty text removes it."""
        if not isinstance(text, str):
            raise InputError(f"note must be a text, got {text!r:.60}")
        if text != self.labels.note:
            self._change("note", value=text)

    @_alone
    def undo(self) -> Event | None:
        """Undo the last action and show its item. Return None if there is nothing to undo."""
        return self._step_back("undo", self.state.done)

    @_alone
    def redo(self) -> Event | None:
        """Redo the action that was undone last, and show its item. Return None if there is none."""
        return self._step_back("redo", self.state.undone)

    # ---- tags ----------------------------------------------------------------------------------

    @_alone
    def tag(self, name: str, field: str = "") -> None:
        """Give the item on the screen a tag, which is added to the codebook if it is new.

        A name that differs from that of a tag only in letter case or white space means this tag, and so does an earlier
        name of it. If the item has the tag already, nothing changes. `field` is the name of the field of tags, by default
        the first of the task.
        """
        self._require_tags()
        id = self.codebook.find(tag_name(name))
        if id is None:
            id = self.add_tag(name)
        name_of_field = field or self.task.tag_fields[0]
        if id not in self.values.get((name_of_field, None), ()):
            self.toggle(name_of_field, [id], on=True)

    @_alone
    def add_tag(self, name: str, definition: str = "") -> str:
        """Add a tag to the codebook, and return its id.

        Raises
        ------
        InputError
            The name is blank or too long, or a tag has it already or had it earlier, apart from letter case and white space.
        """
        self._require_tags()
        new_name = self.codebook.new_name(name)
        content = {"name": new_name, "definition": definition_text(definition)}
        self._change_codebook("add", new_name, **content)
        return new_name

    @_alone
    def rename_tag(self, tag: str, name: str) -> None:
        """Give a tag another name, which it then has wherever it was used. InputError as in `add_tag`."""
        id = self.codebook.id_of(tag)
        new_name = self.codebook.new_name(name, of=id)
        if new_name != self.codebook.tags[id].name:
            self._change_codebook("rename", id, name=new_name)

    @_alone
    def define_tag(self, tag: str, definition: str) -> None:
        """Replace the definition of a tag."""
        id = self.codebook.id_of(tag)
        text = definition_text(definition)
        if text != self.codebook.tags[id].definition:
            self._change_codebook("define", id, definition=text)

    @_alone
    def merge_tags(self, tag: str, into: str) -> None:
        """Merge a tag into another one, which then replaces it wherever it was used."""
        id, target = self.codebook.id_of(tag), self.codebook.id_of(into)
        if id == target:
            raise InputError(f"a tag can only be merged into another one, got {tag!r} twice")
        self._change_codebook("merge", id, into=target)

    def close(self) -> None:
        """Close the log, so that other sessions can write to it."""
        self.log.close()

    # ---- inside --------------------------------------------------------------------------------

    @_alone
    def record(self, *events: Event) -> None:
        """Write actions to the log, then apply them to the labels."""
        try:
            for event in self.log.append(*events):
                self.state.apply(event)
                number = self._numbers.get(event["item"])
                if number is not None:
                    self.statuses[number] = self.status(self.items[number])
        except KeyboardInterrupt:  # The actions may be in the log already.
            self.log.events = log_lines(self.log.path)[1:]
            self._follow_log()
            raise

    def _follow_log(self) -> None:
        """Read labels and statuses from the actions in the log."""
        self.state = LabelState(self.log.events, self.task)
        self.statuses = [self.status(item) for item in self.items]

    def _change(self, action: str, **content: Any) -> None:
        """Record a change of the item on the screen. Before the first change of an item, its texts are recorded."""
        if self.labels.fingerprint != self.item.fingerprint:
            self.go(self.number)
        self.record({"action": action, "item": self.item.id, **content})

    def _change_codebook(self, change: str, id: str, **content: Any) -> None:
        """Record a change of the codebook. An undo shows the item that was on the screen."""
        self._change("codebook", change=change, tag=id, **content)

    def _require_tags(self) -> None:
        """Raise InputError if the task has no field of tags."""
        if not self.task.tag_fields:
            raise InputError(
                f"the task {self.task.name!r} has no field of tags; use a task such as 'error_analysis'"
            )

    def _checked(self, field: Field, value: Any) -> Any:
        """Check a value of the item on the screen; the names of tags become ids."""
        if field.kind == "tags" and value is not None:
            return self.codebook.ids(value)
        return check_value(field, self.item, value)

    def _label(self, values: Mapping[Place, Any]) -> None:
        """Record labels of the item on the screen, by place."""
        self._change("label", set=[self._entry(place, value) for place, value in values.items()])

    def _step_back(self, action: str, stack: list[Event]) -> Event | None:
        """Undo or redo the last action of a stack, and show its item.

        If this item is not among the examples, it cannot be shown, and nothing is done.
        """
        if not stack or stack[-1]["item"] not in self._numbers:
            return None
        target = stack[-1]
        self.record({"action": action, "item": target["item"], "of": target["n"]})
        # The item is shown without `go`, which would also record that it was opened.
        self.number = self._numbers[target["item"]]
        return target

    def _entry(self, place: Place, value: Any) -> dict[str, Any]:
        """One value as the log stores it, with its origin: a person, a suggestion, or the votes that were adjudicated."""
        # A blind annotator has not seen the suggestion, so the label does not mention it.
        suggested = None if self.blind else self.suggested.get(self.item.id, {}).get(place)
        origin: dict[str, Any] = {"source": "human"}
        # In an adjudication, a suggestion is what all annotators chose. Their labels contain it, so it is not recorded.
        if self.item.id in self.others:
            labels_by_name = self._named[self.item.id]
            vote_by_name = {
                name: by_place[place]
                for name, by_place in labels_by_name.items()
                if place in by_place
            }
            origin = {"source": "adjudicated", "of": vote_by_name}
        elif suggested is not None:
            source = "suggestion accepted" if suggested == value else "suggestion changed"
            origin = {"source": source, "suggested": suggested, "suggested_by": self.suggested_by}
        return {**set_value(place, value), **origin}

    def _implied(self, field: Field, value: Any, sentence: str | None) -> dict[Place, Any]:
        """Values of other fields that follow from an answer, for places that are untouched.

        If another field is asked of each sentence, the value is for the same sentence, or for all sentences if the answer is
        about the item.
        """
        implied: dict[Place, Any] = {}
        for name, implied_value in field.implied(value).items():
            other = self.task.field(name)
            checked = self._checked(other, implied_value)
            keys: list[Any] = [None]
            if other.each:
                keys = self.item.keys(self.task.unit) if sentence is None else [sentence]
            for key in keys:
                if (name, key) not in self.labels.values:
                    implied[name, key] = checked
        return implied

    def _place(self, name: str, sentence: str | None) -> tuple[Place, Field]:
        """The place of a field and a sentence, and the field. A sentence that the field does not have raises InputError."""
        field = self.task.field(name)
        keys = self.item.keys(self.task.unit) if field.each else [None]
        if sentence not in keys:
            wanted = f"one of {keys}" if field.each else "None, because it is asked once per item"
            raise InputError(f"the sentence of {name!r} must be {wanted}, got {sentence!r}")
        return (name, sentence), field


def pinned(item: Item) -> dict[str, Any]:
    """What an action records of an item: the columns of its id, the fingerprint of its texts, the keys of its sentences."""
    return {
        "id": dict(item.columns),
        "fingerprint": item.fingerprint,
        "sentences": item.sentences,
    }


def _listed(names: Sequence[str]) -> str:
    """The number of items and the first three ids, in words."""
    ids = ", ".join(repr(name) for name in names[:3]) + (", …" if len(names) > 3 else "")
    return f"{len(names)} {'item' if len(names) == 1 else 'items'} ({ids})"


def set_value(place: Place, value: Any) -> dict[str, Any]:
    """A place and its value as an action stores them."""
    field, sentence = place
    return {"field": field, **({} if sentence is None else {"sentence": sentence}), "value": value}
