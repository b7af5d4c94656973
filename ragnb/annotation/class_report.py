"""The labels of a class, or of any group of people, in one report: who, how many, how far they agree, and on what not."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ragnb.annotation.agreement_report import (
    agreement_rows,
    disputed_labels,
    overlap_of_votes,
    texts_of_items,
)
from ragnb.annotation.comparison import Comparison, read_annotators
from ragnb.annotation.labels import read_labels, task_of
from ragnb.annotation.log import read_log, same_fields
from ragnb.arguments import accepts
from ragnb.cells import present
from ragnb.datasets.files import several_files
from ragnb.display import LONGEST
from ragnb.errors import InputError, RagnbError
from ragnb.markup import Markup, join, tag
from ragnb.printing import described, warn
from ragnb.reports.frames import Report, TablesAndLines, as_frame, share

# Endings of the files with labels. Other files in a folder are ignored, such as the one that locks a log.
_ENDINGS = (".jsonl", ".sqlite")
# Largest number of people for whom the agreement of each pair is computed, too.
_FEW_PEOPLE = 2


@dataclass(frozen=True, slots=True, repr=False)
class AnnotationReport(Report):
    """Report on the labels of several people in one task.

    Attributes
    ----------
    task
        Name of the task.
    people
        One row per person: ``annotator``; numbers of items that are ``labelled, started, skipped, flagged``; ``minutes`` of
        work; ``mean, low, high, interval, confidence_level``: the mean agreement with the others, over the ``n`` items that
        somebody else labelled, too; ``file``.
    agreement
        The rows of `ragnb.agreement` for all people together.
    disputed
        The most disputed items, as in `ragnb.annotation.disagreements`; ``votes`` are texts.
    left_out
        One row per file that was not used: ``file, reason``.
    n_items, n_shared, n_single
        Number of items that anybody, everybody and only one person labelled.
    """

    task: str
    people: pd.DataFrame
    agreement: pd.DataFrame
    disputed: pd.DataFrame
    left_out: pd.DataFrame
    n_items: int
    n_shared: int
    n_single: int

    def __repr__(self) -> str:
        """Each disputed item is a paragraph below the tables, because a table would cut the texts off."""
        items = [
            "\n".join([item, *(f"  {line}" for line in lines)]) for item, lines in self._items()
        ]
        title = ["Most disputed items"] if items else []
        return "\n\n".join([Report.__repr__(self), *title, *items])

    def _repr_html_(self) -> Markup:
        items = []
        for item, lines in self._items():
            texts = [tag("div", line, dir="auto") for line in lines]
            items.append(tag("li", tag("b", item), *texts))
        disputed = [tag("p", tag("b", "Most disputed items")), tag("ol", *items)] if items else []
        return join([Report._repr_html_(self), *disputed])

    def _items(self) -> Iterator[tuple[str, list[str]]]:
        """The disputed items, each with lines of its texts and of who said what."""
        for item, rows in self.disputed.groupby("item", sort=False):
            first = rows.iloc[0]
            lines = [
                f"{name}: {textwrap.shorten(str(first[name]), LONGEST)}"
                for name in ("question", "references", "response")
                if name in rows and first[name]
            ]
            for row in rows.to_dict("records"):
                place = (
                    f"{row['field']}, {row['sentence']}" if row.get("sentence") else row["field"]
                )
                share_of_pairs = f"{row['disagreement']:.0%} of the pairs differ"
                lines.append(f"{place} ({share_of_pairs}): {row['votes']}")
            yield str(item), lines

    def _tables_and_lines(self) -> TablesAndLines:
        interval = ["mean", "low", "high", "interval", "confidence_level"]
        people = self.people.drop(columns="file")
        if people["mean"].isna().all():
            people = people.drop(columns=[*interval, "n"])
        agreement = self.agreement
        if len(agreement):
            agreement = agreement[["field", "metric", *interval, "n", "n_unlabelled"]]
        tables = {
            "People, and their mean agreement with the others": people,
            "Agreement of all": agreement,
            "Files that were left out": self.left_out,
        }
        n_people = len(self.people)
        line = (
            f"Task {self.task!r}: {n_people} {'person' if n_people == 1 else 'people'} labelled {self.n_items} "
            f"items. Everybody labelled {self.n_shared} of them, and only one person labelled {self.n_single}."
        )
        lines = [line]
        if n_people == 1:
            lines.append("Agreement needs the labels of two or more people.")
        elif self.n_items == self.n_single:
            lines.append(
                "No item was labelled by two people, so that there is no agreement. Did they get different items?"
            )
        return tables, lines


@dataclass(frozen=True)
class _Labels:
    """The labels of one person in one file.

    ``actions`` has the time, the kind and the item of each action in the file, and is empty for labels that are not from a
    log. It shows whether another file continues this one.
    """

    file: str
    frame: pd.DataFrame
    actions: frozenset[tuple[Any, ...]]


@accepts(n_disputed="count", confidence_level="level")
def annotation_report(
    labels: Any,
    examples: pd.DataFrame | None = None,
    *,
    id: str | Sequence[str] | None = None,
    n_disputed: int = 10,
    confidence_level: float = 0.95,
) -> AnnotationReport:
    """Gather the labels of a class: who labelled how much, how far people agree, and the most disputed items.

    ``ragnb.plot`` draws the result.

    Parameters
    ----------
    labels
        The files that came back from a hand-out (`ragnb.export_annotator`), or other logs: a folder, a pattern such as
        ``"labels/*.verdict.jsonl"``, or a list. Open sessions and frames of labels are allowed, too. A file that cannot be
        read is left out with a warning. If one file of a person continues another file of the same person, only the longer
        one counts.
    examples
        What people labelled, for the texts of the disputed items.
    id
        Column or columns that identify a row of `examples`; by default those that the logs name.
    n_disputed
        Number of disputed items to show.
    confidence_level
        Confidence level of the intervals, in (0, 1).

    Returns
    -------
    AnnotationReport
        It is displayed as tables. Its attributes are frames.

    Raises
    ------
    InputError
        There is no file with labels, the files are of different tasks, two files of one person contradict each other, or
        the texts of an item differ.
    """
    read, left_out = _read_all(_sources(labels))
    if not read:
        reasons = "; ".join(f"{row['file']}: {row['reason']}" for row in left_out[:3])
        raise InputError(
            f"annotation_report needs at least one file with labels, got none ({reasons})"
        )
    _require_one_task(read)
    by_person, repeated = _one_per_person(read)
    left_out += repeated
    frames = [file.frame for file in by_person.values()]
    task = task_of(frames[0])
    # The labels of one person cannot be compared. The agreement then has no rows, and `people` stays None.
    people: Comparison | None = None
    agreement = pd.DataFrame()
    disputed = pd.DataFrame(columns=["item", "field", "disagreement", "votes"])
    if len(by_person) > 1:
        people = read_annotators(frames)
        # Thirty people have 435 pairs, which nobody reads.
        pairs = [tuple(people.names)] if len(people.names) <= _FEW_PEOPLE else []
        agreement = agreement_rows(people, pairs, confidence_level=confidence_level)  # type: ignore[arg-type]
        texts = None if examples is None else texts_of_items(examples, people, id or people.id)
        disputed = _most_disputed(disputed_labels(people, texts), n_disputed)
    # Item -> number of people who labelled it, at least in part.
    counts = Counter(
        item
        for frame in frames
        for item in frame["item"][frame["status"].isin(["labelled", "started"])]
    )
    return AnnotationReport(
        task=task.name,
        people=as_frame(_people(by_person, people, confidence_level)),
        agreement=agreement,
        disputed=disputed,
        left_out=pd.DataFrame(left_out, columns=["file", "reason"]),
        n_items=len(counts),
        n_shared=sum(n == len(by_person) for n in counts.values()),
        n_single=sum(n == 1 for n in counts.values()),
    )


# ---- files ---------------------------------------------------------------------------------------


def _sources(labels: Any) -> list[Any]:
    """The files in a folder, of a pattern or in a list; sessions and frames as they are."""
    if isinstance(labels, str | Path) and Path(labels).expanduser().is_dir():
        folder = Path(labels).expanduser()
        files = sorted(path for path in folder.iterdir() if path.name.endswith(_ENDINGS))
        if not files:
            other_files = ", ".join(sorted(path.name for path in folder.iterdir())[:5])
            raise InputError(
                f"the folder {str(labels)!r} contains no file with labels, whose name ends in .jsonl or .sqlite; "
                f"it contains {other_files or 'nothing'}"
            )
        # An exported log next to its SQLite file is the same log. The path of the export, which comes first, is enough,
        # because `read_log` then reads the longer of the two.
        by_stem: dict[Path, Path] = {}
        for path in files:
            by_stem.setdefault(path.with_suffix(""), path)
        return list(by_stem.values())
    if isinstance(labels, list | tuple):
        if not labels:
            raise InputError(
                "annotation_report needs at least one file with labels, got an empty list"
            )
        return [source for member in labels for source in _sources(member)]
    return several_files(labels) or [labels]


def _read_all(sources: Sequence[Any]) -> tuple[list[_Labels], list[dict[str, str]]]:
    """The labels of all sources, and those that could not be read with the reason."""
    read: list[_Labels] = []
    left_out = []
    for source in sources:
        is_file = isinstance(source, str | Path)
        name = Path(source).name if is_file else described(source)
        try:
            frame = source if isinstance(source, pd.DataFrame) else read_labels(source)
            task_of(frame)
            # Only files can continue each other, so the actions of others are not needed.
            events = read_log(source)[1] if is_file else []
        except RagnbError as error:
            if not is_file:
                raise
            left_out.append({"file": name, "reason": str(error)})
            warn(f"{name} is left out: {error}")
            continue
        actions = frozenset((event["time"], event["action"], event["item"]) for event in events)
        for _, rows in frame.groupby("annotator", sort=False):
            rows.attrs = frame.attrs
            read.append(_Labels(name, rows, actions))
        if frame.empty:
            left_out.append({"file": name, "reason": "it contains no labels"})
    return read, left_out


def _require_one_task(read: Sequence[_Labels]) -> None:
    """Raise InputError if files are of different tasks. The message lists the files of each task."""
    tasks = [task_of(labels.frame) for labels in read]
    if all(same_fields(task.schema(), tasks[0].schema()) for task in tasks):
        return
    files: dict[str, list[str]] = {}
    for task, labels in zip(tasks, read, strict=True):
        files.setdefault(task.name, []).append(labels.file)
    listed = [f"{name!r}: {', '.join(dict.fromkeys(names))}" for name, names in files.items()]
    different = "" if len(files) > 1 else " (in different versions)"
    raise InputError(
        f"all files must be of the same task, got {'; '.join(listed)}{different}; pass the files of one task, "
        f'such as "*.{next(iter(files))}.jsonl"'
    )


def _one_per_person(
    read: Sequence[_Labels],
) -> tuple[dict[str, _Labels], list[dict[str, str]]]:
    """The labels of each person, and the files that another file of the same person continues, with this reason."""
    by_person: dict[str, _Labels] = {}
    left_out = []
    for labels in read:
        name = labels.frame["annotator"].iloc[0]
        earlier = by_person.setdefault(name, labels)
        if earlier is labels:
            continue
        # A file continues another one if it contains all of its actions.
        shorter, longer = sorted([earlier, labels], key=lambda file: len(file.actions))
        if not shorter.actions or not shorter.actions <= longer.actions:
            raise InputError(
                f"two files of {name!r} have different labels: {earlier.file} and {labels.file}; leave one out. If they "
                "are two people, give them different names with read_labels(file).assign(annotator=...). If one "
                "person used two computers, add one file in the page of the other, and download the labels again"
            )
        left_out.append({"file": shorter.file, "reason": f"{longer.file} continues it"})
        by_person[name] = longer
    return by_person, left_out


# ---- tables --------------------------------------------------------------------------------------


def _people(
    by_person: Mapping[str, _Labels], people: Comparison | None, level: float
) -> Iterator[dict[str, Any]]:
    """One row per person: counts, and the mean agreement with the others.

    `people` is None if there is only one person, who then has no such agreement.
    """
    for name, labels in by_person.items():
        frame = labels.frame
        statuses = frame["status"].tolist()
        agreements = [] if people is None else _agreements(name, people)
        interval = share(np.array(agreements, dtype=float), None, level)
        yield {
            "annotator": name,
            "labelled": statuses.count("labelled"),
            "started": statuses.count("started"),
            "skipped": statuses.count("skipped"),
            "flagged": int(frame["flag"].map(lambda flag: present(flag) is True).sum()),
            "minutes": round(float(pd.to_numeric(frame["seconds"]).sum()) / 60, 1),
            **interval.columns(),
            "n": len(agreements),
            "file": labels.file,
        }


def _agreements(name: str, people: Comparison) -> list[float]:
    """The mean agreement of one person with the others, for each item that others labelled, too."""
    means = []
    for votes_by_place in people.votes.values():
        overlaps = []
        for (field_name, _), vote_by_name in votes_by_place.items():
            field = people.task.field(field_name)
            # Free texts are hardly ever equal, even if they mean the same, so they are not compared.
            if name not in vote_by_name or field.kind == "text":
                continue
            for other, vote in vote_by_name.items():
                if other != name:
                    overlaps.append(overlap_of_votes(field, [vote_by_name[name], vote]))
        if overlaps:
            means.append(float(np.mean(overlaps)))
    return means


def _most_disputed(disputed: pd.DataFrame, n_items: int) -> pd.DataFrame:
    """The labels of the first items, with the votes in words."""
    items = disputed["item"].drop_duplicates().head(n_items)
    rows = disputed[disputed["item"].isin(items)]
    rows = rows.assign(votes=[_in_words(votes) for votes in rows["votes"]])
    return rows if rows["sentence"].notna().any() else rows.drop(columns="sentence")


def _in_words(votes: Mapping[str, Any]) -> str:
    """Who chose what: ``correct: Ana, Ben; refuse: Cy``.

    >>> _in_words({"Ana": "correct", "Ben": "refuse", "Cy": "correct"}), _in_words({"Ana": [], "Ben": ["0a", "1b"]})
    ('correct: Ana, Cy; refuse: Ben', 'none: Ana; 0a 1b: Ben')
    """
    names: dict[str, list[str]] = {}
    for name, value in votes.items():
        words = (
            " ".join(map(str, value)) or "none" if isinstance(value, list | tuple) else str(value)
        )
        names.setdefault(words, []).append(name)
    return "; ".join(f"{value}: {', '.join(people)}" for value, people in names.items())
