"""The labels of several annotators next to each other."""

# Tested in tests/annotation/test_adjudication.py.

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ragnb.annotation.labels import id_columns, read_labels, task_of
from ragnb.annotation.log import same_fields
from ragnb.annotation.places import Place, flat, places
from ragnb.annotation.tasks import COLUMNS, Task
from ragnb.cells import present
from ragnb.datasets.files import several_files
from ragnb.errors import InputError
from ragnb.tags import tag_key


@dataclass(frozen=True)
class Comparison:
    """The labels of several annotators in one task.

    Attributes
    ----------
    task : Task
        The task of all annotators, with the guideline and the initial codebook of the first one.
    names : list of str
        The annotators, in the order of the logs.
    id : list of str
        The columns of the items' ids.
    labels : dict
        The labels of each annotator: item -> name -> place -> value.
    votes : dict
        The same in the order of the task: item -> place -> name -> value. A place that nobody labelled has no votes.
        In both, tags have the names in `tags`.
    sentences : dict
        Item -> the keys of its sentences.
    fingerprints : dict
        Item -> the fingerprint of the texts that were labelled, if it is known.
    rows : DataFrame
        The labels as `read_labels` returns them, of all annotators.
    tags : dict
        The definition of each tag that is in a codebook or among the labels, by its name. A tag has the name that the first
        annotator gave it; names that differ only in letter case or white space are those of one tag.
    """

    task: Task
    id: list[str]
    names: list[str]
    labels: dict[str, dict[str, dict[Place, Any]]]
    votes: dict[str, dict[Place, dict[str, Any]]]
    sentences: dict[str, dict[str, list[str]]]
    fingerprints: dict[str, str]
    rows: pd.DataFrame
    tags: dict[str, str]


def read_annotators(logs: Any) -> Comparison:
    """Read the labels of two or more annotators, who must have had the same task and the same texts of each item.

    `logs` are paths of logs, a pattern such as ``"*.verdict.jsonl"``, open sessions, or frames as `read_labels` and
    `ragnb.datasets.annotations.load_annotations` return them. A frame can contain several annotators.
    """
    sources = several_files(logs) or [logs]
    frames = [log if isinstance(log, pd.DataFrame) else read_labels(log) for log in sources]
    task = common_task(frames)
    rows = pd.concat([frame.astype(object) for frame in frames])
    # Frames that are not from `read_labels` may lack some of its columns, which are then empty.
    rows = rows.reindex(columns=list(dict.fromkeys([*COLUMNS, *rows])))
    names = rows["annotator"].unique().tolist()
    _require_two_annotators(rows, names)

    by_item = rows.groupby("item", sort=False)
    n_texts = by_item["fingerprint"].nunique()
    if (n_texts > 1).any():
        raise InputError(
            f"annotators must have seen the same texts, but those of {n_texts.idxmax()!r} differ"
        )
    # The first value of each item that is not missing, because labels of other tools may have neither.
    texts_of_items = by_item[["fingerprint", "sentences"]].first()
    sentences: dict[str, dict[str, list[str]]] = {
        item: present(keys) or {} for item, keys in texts_of_items["sentences"].items()
    }
    _require_sentences(task, sentences)

    tags = common_tags(frames, task)
    names_by_key = {tag_key(name): name for name in tags}
    labels: dict[str, dict[str, dict[Place, Any]]] = {item: {} for item in sentences}
    for row in rows.to_dict("records"):
        values = _values(row, task)
        for place, value in values.items():
            if place[0] in task.tag_fields:
                values[place] = [names_by_key[tag_key(tag)] for tag in value]
        labels[row["item"]][row["annotator"]] = values
    votes: dict[str, dict[Place, dict[str, Any]]] = {}
    for item, by_name in labels.items():
        votes[item] = {}
        for place in places(task, sentences[item]):
            votes[item][place] = {
                name: values[place] for name, values in by_name.items() if place in values
            }
    return Comparison(
        task=task,
        id=id_columns(frames[0].attrs.get("header", {})),
        names=names,
        labels=labels,
        votes=votes,
        sentences=sentences,
        fingerprints=texts_of_items["fingerprint"].dropna().to_dict(),
        rows=rows,
        tags=tags,
    )


def common_tags(frames: Sequence[pd.DataFrame], task: Task) -> dict[str, str]:
    """The definitions of the tags of several frames of labels, by the first name of each tag.

    A definition is the first that is not empty.
    """
    by_key: dict[str, tuple[str, str]] = {}
    for frame in frames:
        definitions = dict(frame.attrs.get("codebook", {}))
        # Frames that were not read from a log have no codebook.
        for field in task.tag_fields:
            for tags in frame[field]:
                for tag in present(tags) or ():
                    definitions.setdefault(tag, "")
        for name, definition in definitions.items():
            first_name, first_definition = by_key.setdefault(tag_key(name), (name, definition))
            by_key[tag_key(name)] = (first_name, first_definition or definition)
    return dict(by_key.values())


def common_task(frames: list[pd.DataFrame]) -> Task:
    """The task of all frames. Different tasks raise InputError."""
    tasks = [task_of(frame) for frame in frames]
    if any(not same_fields(task.schema(), tasks[0].schema()) for task in tasks):
        names = ", ".join(repr(task.name) for task in tasks)
        raise InputError(
            f"all annotators must have used the same task, got different versions of {names}"
        )
    return tasks[0]


def _require_two_annotators(rows: pd.DataFrame, names: list[str]) -> None:
    """Raise InputError unless there are at least two annotators, each with one row per item."""
    is_repeated = rows.duplicated(["item", "annotator"])
    if is_repeated.any():
        problem = f"two rows for {rows['item'][is_repeated].iloc[0]!r}"
    elif len(names) < 2:
        problem = ", ".join(names)
    else:
        return
    raise InputError(
        "agreement needs two or more annotators and one label per item and annotator, got "
        f"{problem}"
    )


def _require_sentences(task: Task, sentences: Mapping[str, Mapping[str, list[str]]]) -> None:
    """Raise InputError if the task is about sentences, and an item has no keys of sentences."""
    fields = [field.name for field in task.fields if field.each or field.kind == "sentences"]
    unknown = [item for item, keys in sentences.items() if not keys]
    if fields and unknown:
        raise InputError(
            f"labels of {fields[0]!r} need the sentence keys of item {unknown[0]!r}, but the column sentences has "
            "none; pass the log, or the result of read_labels with this column"
        )


def _values(row: Mapping[str, Any], task: Task) -> dict[Place, Any]:
    """The values in a row of a frame of labels. A choice that its field does not have raises InputError."""
    values = flat({field.name: row[field.name] for field in task.fields}, task)
    for place, value in values.items():
        field = task.field(place[0])
        if field.graded and isinstance(value, float) and value.is_integer():
            # In a column with gaps, pandas makes floats of whole numbers, and 2.0 is none of the options.
            values[place] = value = int(value)
        if field.kind == "choice":
            field.check_option(value, f"{field.name!r} of item {row['item']!r}")
    return values
