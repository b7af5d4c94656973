"""Load verdicts of people from Label Studio, Argilla, doccano or Prodigy as a frame of labels."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.cells import is_missing
from ragnb.columns import column_names, require_columns
from ragnb.datasets.files import existing_file, kind_of
from ragnb.datasets.json_files import json_records
from ragnb.datasets.literals import parsed
from ragnb.datasets.reading import read_records
from ragnb.datasets.records import first_value
from ragnb.errors import InputError, check_choice
from ragnb.metrics.judged import VERDICT_WORDS

# Keys of a note in JSON-MIN (a flat JSON export of Label Studio) and in doccano.
NOTES = ("note", "notes", "comment", "comments", "Comments")
# Keys of the person who gave an answer, in the order in which they are tried.
PEOPLE = (
    "completed_by.email completed_by.username completed_by.id completed_by annotator user_id "
    "_annotator_id _session_id"
)
# Keys of a record of Prodigy, and what its answers mean where the record has no label.
PRODIGY = ("_task_hash", "_input_hash", "_view_id", "_annotator_id", "_session_id")
PRODIGY_ANSWERS = {"accept": "correct", "reject": "incorrect"}
# A rejected label means the opposite verdict.
OPPOSITES = {"correct": "incorrect", "incorrect": "correct"}
# Status of an answer -> why it is left out.
STATUSES = {"draft": "drafts", "discarded": "discarded", "pending": "unlabelled"}

Values = Mapping[str, Any]


@accepts(path="path")
def load_annotations(
    path: str | Path,
    *,
    verdicts: Mapping[Any, str] | None = None,
    field: str = "verdict",
    annotator: str | None = None,
    id: str | Sequence[str] = "example_id",
) -> pd.DataFrame:
    """Load verdicts from an export of another annotation tool, one row per item and annotator.

    Parameters
    ----------
    path
        An export of Label Studio (JSON, JSON-MIN, CSV or TSV); records of Argilla as JSON, nested or flattened; JSONL of
        a text classification in doccano, with one annotator per file; or JSONL of Prodigy.
    verdicts
        Your words for ``"correct"``, ``"incorrect"`` and ``"refuse"``:
        ``{"Richtig": "correct"}``.
    field
        Name of the control (Label Studio) or of the question (Argilla), or the key that contains the verdict. In files of
        doccano, ``label`` and ``labels`` are read if there is no such key. In files of Prodigy, the verdict is the option
        that was chosen or the ``label``; an answer ``reject`` to the label ``correct`` means ``incorrect``, and without a
        label ``accept`` means ``correct``.
    annotator
        Name of the annotator if the file contains none. By default it is the file's name, as doccano names its files.
    id
        Key or keys of the record's data (Argilla: of its metadata or fields) that identify an item. A record without
        ``example_id`` is identified by its own id.

    Returns
    -------
    DataFrame
        ``item``, the columns of `id`, ``annotator``, ``task`` (``"verdict"``), ``status`` (``"labelled"``), ``verdict``,
        ``source`` (``"human"``), ``flag``, ``note``, ``seconds`` (nan where unknown), ``time``: what
        `ragnb.annotation.labels.read_labels` gives of a log.

        ``attrs["left_out"]`` counts what is no label: ``"drafts"``, ``"discarded"``, ``"skipped"``, ``"unlabelled"``.
        Records of Argilla that do not state the status of an answer count as submitted.

    Raises
    ------
    InputError
        No verdict at all, unknown words, several labels in one answer, two answers of one
        annotator to an item, or a missing id.
    """
    file = existing_file(path)
    columns = column_names(id)
    rows, left_out = [], Counter[str]()
    for record, where in _records(file):
        # A record that nobody has answered counts as one that is unlabelled.
        answers = list(_answers(record, field)) or [{"labels": None}]
        for answer in answers:
            labels = _listed(answer["labels"])
            is_skipped = answer.get("was_cancelled") or answer.get("answer") == "ignore"
            reason = "skipped" if is_skipped else STATUSES.get(str(answer.get("status")))
            if reason or not labels:
                left_out[reason or "unlabelled"] += 1
                continue
            if len(labels) > 1:
                raise InputError(
                    f"{where}: an answer must have one verdict, got {labels}; export the "
                    "labels of each annotator separately"
                )
            identifiers = _id(record, columns, where)
            texts = [text for text in _listed(answer.get("note")) if isinstance(text, str)]
            row = {
                "item": " | ".join(identifiers.values()),
                **identifiers,
                "annotator": str(
                    first_value(answer, PEOPLE) or annotator or file.name.split(".")[0]
                ),
                "task": "verdict",
                "status": "labelled",
                "verdict": labels[0],
                "source": "human",
                "flag": False,
                "note": "\n".join(texts),
                "seconds": first_value(answer, "lead_time"),
                "time": first_value(answer, "updated_at created_at _timestamp"),
            }
            rows.append(row)
    if not rows:
        raise InputError(
            f"{file.name} must be an export of Label Studio, Argilla, doccano or Prodigy with at least "
            f"one verdict, got none in {field!r}; name the field of the verdicts with field=..."
        )
    frame = pd.DataFrame(rows).astype({"seconds": float})
    frame["verdict"] = _verdicts(frame["verdict"].tolist(), dict(verdicts or {}), file.name)
    require_columns(frame, (), file.name, unique=["item", "annotator"])
    header = {"task": "verdict", "id": columns[0] if len(columns) == 1 else columns}
    frame.attrs |= {"left_out": dict(left_out), "header": header}
    return frame


def _answers(record: Values, field: str) -> Iterator[Values]:
    """The answer of each person to a record.

    Each is a mapping with ``labels``, in the form in which the tool writes them. It may have a
    ``note``, a ``status``, and the tool's own keys.
    """
    if "annotations" in record:  # Label Studio
        for answer in record["annotations"]:
            results = answer.get("result") or []
            values = {result.get("from_name"): result.get("value") or {} for result in results}
            texts = [value.get("text") for value in values.values()]
            yield {**answer, "labels": values.get(field), "note": texts}
        for _ in record.get("drafts") or []:
            yield {"labels": None, "status": "draft"}
    elif isinstance(record.get("responses"), Mapping):  # Argilla
        for answer in record["responses"].get(field) or []:
            yield {**answer, "labels": answer.get("value")}
    elif f"{field}.responses" in record:  # flattened records of Argilla
        yield from _flattened(record, field)
    elif _is_argilla_1(record.get(field)):
        yield from _of_argilla_1(record[field])
    elif _is_prodigy(record):
        yield _of_prodigy(record, field)
    else:  # doccano, and JSON-MIN of Label Studio
        keys = [key for key in (field, "label", "labels") if key in record]
        labels = record[keys[0]] if keys else None
        yield {**record, "labels": labels, "note": [record.get(key) for key in NOTES]}


def _is_prodigy(record: Values) -> bool:
    """Whether a record is a task of Prodigy."""
    if any(key in record for key in PRODIGY):
        return True
    return record.get("answer") in (*PRODIGY_ANSWERS, "ignore")


def _records(path: Path) -> Iterator[tuple[Mapping[str, Any], str]]:
    """The records of an export, each with its place for messages.

    A JSON file may contain a single object instead of a list of records: one list per column, or one
    record per id.
    """
    if not kind_of(path).startswith("json"):
        yield from read_records(path)
        return
    records = list(json_records(path))
    if len(records) == 1:
        (record, where), *_ = records
        lists = [value for value in record.values() if isinstance(value, list)]
        are_all_lists = len(lists) == len(record)
        have_one_length = len({*map(len, lists)}) == 1
        # ``to_dict(orient="names")`` of Argilla
        if are_all_lists and have_one_length and "id" in record:
            rows = zip(*lists, strict=True)
            yield from ((dict(zip(record, row, strict=True)), where) for row in rows)
            return
        if record and all(isinstance(value, Mapping) for value in record.values()):
            yield from (({"id": key, **value}, where) for key, value in record.items())
            return
    yield from records


def _flattened(record: Values, field: str) -> Iterator[Values]:
    """The answers in a flattened record of Argilla, which has one list for each of their parts."""
    key = f"{field}.responses"
    values = _cells(record[key])
    users = _cells(record.get(f"{key}.users")) or [None] * len(values)
    statuses = _cells(record.get(f"{key}.status")) or [None] * len(values)
    for value, user, status in zip(values, users, statuses, strict=True):
        yield {"labels": value, "user_id": user, "status": status}


def _cells(value: Any) -> list[Any]:
    """The items of a list, which CSV has as a text; none if the value is no list."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = parsed(value)
    return list(value) if isinstance(value, list | tuple) else []


def _is_argilla_1(answers: Any) -> bool:
    """Whether a value has the answers of a record of Argilla 1, in either of its layouts."""
    if isinstance(answers, Mapping):
        return isinstance(answers.get("value"), list)
    is_list = isinstance(answers, list) and bool(answers)
    return is_list and all(isinstance(answer, Mapping) and "value" in answer for answer in answers)


def _of_argilla_1(answers: Any) -> Iterator[Values]:
    """The answers in a record of Argilla 1: a list of answers, or one list for each of their parts."""
    if isinstance(answers, Mapping):  # one list for each part, as Hugging Face datasets have it
        parts = {name: value for name, value in answers.items() if isinstance(value, list)}
        rows = zip(*parts.values(), strict=True)
        answers = [dict(zip(parts, row, strict=True)) for row in rows]
    for answer in answers:
        yield {**answer, "labels": answer["value"]}


def _of_prodigy(record: Values, field: str) -> Values:
    """The answer to a task of Prodigy: the chosen option or the label, and accept or reject."""
    answer = record.get("answer", "accept")
    chosen = first_value(record, f"{field} accept label")
    if answer == "reject" and isinstance(record.get("options"), list):
        # The person rejected the task, and none of its options.
        return {**record, "labels": None}
    labels = _listed(chosen)
    if not labels:
        labels = [PRODIGY_ANSWERS.get(answer)]
    elif answer == "reject":
        labels = [OPPOSITES.get(str(label), f"not {label}") for label in labels]
    times: dict[str, str | None] = {"_timestamp": None}
    stamp = record.get("_timestamp")
    if isinstance(stamp, int | float):
        times = {"_timestamp": datetime.fromtimestamp(stamp, UTC).isoformat()}
    note = [record.get(key) for key in (*NOTES, "user_input")]
    return {**record, **times, "labels": labels, "note": note}


def _listed(value: Any) -> list[Any]:
    """Labels as a flat list; Label Studio writes them as texts, lists or mappings with choices."""
    if isinstance(value, str) and value.lstrip().startswith(('{"', '["', "[{")):
        value = parsed(value)  # Label Studio's CSV
    if isinstance(value, Mapping):
        value = value.get("choices")
    if isinstance(value, list):
        return [label for item in value for label in _listed(item)]
    return [] if is_missing(value) or value == "" else [value]


def _id(record: Values, columns: list[str], where: str) -> dict[str, str]:
    """The values that identify an item, by column. The tools keep them in different parts of a record."""
    parts = [record.get(part) for part in ("data", "metadata", "fields", "meta")]
    places = [record, *(part for part in parts if isinstance(part, Mapping))]
    identifiers: dict[str, str] = {}
    for name in columns:
        values = [place[name] for place in places if not is_missing(place.get(name))]
        if name == "example_id":
            # A record without an example_id is identified by its own id.
            own_ids = [record.get(key) for key in ("id", "_id", "_input_hash")]
            values += [own_id for own_id in own_ids if not is_missing(own_id)]
        if not values:
            raise InputError(
                f"{where}: must have the key{'s' if len(columns) > 1 else ''} {', '.join(columns)}, "
                f"but has no {name}; pass other keys as id="
            )
        identifiers[name] = str(values[0])
    return identifiers


def _verdicts(labels: list[Any], meanings: dict[Any, str], file: str) -> list[str]:
    """The verdicts that the labels of a file mean."""
    for verdict in meanings.values():
        check_choice(verdict, tuple(VERDICT_WORDS), "load_annotations(verdicts=...)")
    # ragnb's own words keep their meaning, unless the user gives them another one.
    words = {word: word for word in VERDICT_WORDS if word not in meanings} | meanings
    unknown = dict.fromkeys(repr(label) for label in labels if label not in words)
    if unknown:
        raise InputError(
            f"{file}: the verdicts must be among {', '.join(map(str, words))}, got "
            f"{', '.join(unknown)}; say what they mean with "
            f'verdicts={{{next(iter(unknown))}: "correct"}}'
        )
    return [words[label] for label in labels]
