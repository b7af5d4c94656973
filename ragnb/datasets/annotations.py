"""Load verdicts of people from Label Studio, Argilla or doccano as a frame of labels."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.datasets.files import existing_file, json_records
from ragnb.datasets.formats import found
from ragnb.errors import InputError, check_choice
from ragnb.metrics.judged import ACCEPTED
from ragnb.records import column_names, is_missing, require_columns

# Keys of a note in JSON-MIN of Label Studio and in doccano.
NOTES = ("note", "notes", "comment", "comments", "Comments")
PEOPLE = "completed_by.email completed_by.username completed_by.id completed_by annotator user_id"
# Status of an answer -> why it is left out.
STATUSES = {"draft": "drafts", "discarded": "discarded", "pending": "unlabelled"}

Values = Mapping[str, Any]


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
        A JSON or JSON Lines file: an export of Label Studio (JSON or JSON-MIN), records of Argilla, or JSONL of a text
        classification in doccano, with one annotator per file.
    verdicts
        Your words for ``"correct"``, ``"incorrect"`` and ``"refuse"``:
        ``{"Richtig": "correct"}``.
    field
        Name of the control (Label Studio) or of the question (Argilla), or the key that contains the verdict. In files of
        doccano, ``label`` and ``labels`` are read if there is no such key.
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
    for record, where in json_records(file):
        for said in list(_answers(record, field)) or [{"labels": None}]:
            labels = _listed(said["labels"])
            reason = (
                "skipped" if said.get("was_cancelled") else STATUSES.get(str(said.get("status")))
            )
            if reason or not labels:
                left_out[reason or "unlabelled"] += 1
                continue
            if len(labels) > 1:
                raise InputError(
                    f"{where}: an answer must have one verdict, got {labels}; export the "
                    "labels of each annotator separately"
                )
            key = _id(record, columns, where)
            texts = [text for text in _listed(said.get("note")) if isinstance(text, str)]
            row = {
                "item": " | ".join(key.values()),
                **key,
                "annotator": str(found(said, PEOPLE) or annotator or file.name.split(".")[0]),
                "task": "verdict",
                "status": "labelled",
                "verdict": labels[0],
                "source": "human",
                "flag": False,
                "note": "\n".join(texts),
                "seconds": found(said, "lead_time"),
                "time": found(said, "updated_at created_at"),
            }
            rows.append(row)
    if not rows:
        raise InputError(
            f"{file.name} must be an export of Label Studio, Argilla or doccano with at least one "
            f"verdict, got none in {field!r}; name the field of the verdicts with field=..."
        )
    frame = pd.DataFrame(rows).astype({"seconds": float})
    frame["verdict"] = _verdicts(frame["verdict"].tolist(), dict(verdicts or {}), file.name)
    require_columns(frame, (), file.name, unique=["item", "annotator"])
    header = {"task": "verdict", "id": columns[0] if len(columns) == 1 else columns}
    frame.attrs |= {"left_out": dict(left_out), "header": header}
    return frame


def _answers(record: Values, field: str) -> Iterator[Values]:
    """The answer of each person to a record."""
    if "annotations" in record:  # Label Studio
        for said in record["annotations"]:
            results = said.get("result") or []
            values = {one.get("from_name"): one.get("value") or {} for one in results}
            texts = [value.get("text") for value in values.values()]
            yield {**said, "labels": values.get(field), "note": texts}
        for _ in record.get("drafts") or []:
            yield {"labels": None, "status": "draft"}
    elif isinstance(record.get("responses"), Mapping):  # Argilla
        for said in record["responses"].get(field) or []:
            yield {**said, "labels": said.get("value")}
    else:  # doccano, and JSON-MIN of Label Studio
        keys = [key for key in (field, "label", "labels") if key in record]
        labels = record[keys[0]] if keys else None
        yield {**record, "labels": labels, "note": [record.get(key) for key in NOTES]}


def _listed(value: Any) -> list[Any]:
    """Labels as a flat list; Label Studio writes them as texts, lists or mappings with choices."""
    if isinstance(value, Mapping):
        value = value.get("choices")
    if isinstance(value, list):
        return [label for one in value for label in _listed(one)]
    return [] if is_missing(value) or value == "" else [value]


def _id(record: Values, columns: list[str], where: str) -> dict[str, str]:
    parts = [record.get(part) for part in ("data", "metadata", "fields", "meta")]
    places = [record, *(part for part in parts if isinstance(part, Mapping))]
    key: dict[str, str] = {}
    for name in columns:
        values = [place[name] for place in places if not is_missing(place.get(name))]
        if name == "example_id" and "id" in record:
            values.append(record["id"])
        if not values:
            raise InputError(
                f"{where}: must have the key{'s' if len(columns) > 1 else ''} {', '.join(columns)}, "
                f"but has no {name}; pass other keys as id="
            )
        key[name] = str(values[0])
    return key


def _verdicts(labels: list[Any], given: dict[Any, str], file: str) -> list[str]:
    """The verdicts that the labels of a file mean."""
    for meant in given.values():
        check_choice(meant, tuple(ACCEPTED), "load_annotations(verdicts=...)")
    words = {word: word for word in ACCEPTED if word not in given} | given
    strangers = dict.fromkeys(repr(label) for label in labels if label not in words)
    if strangers:
        raise InputError(
            f"{file}: the verdicts must be among {', '.join(map(str, words))}, got "
            f"{', '.join(strangers)}; say what they mean with "
            f'verdicts={{{next(iter(strangers))}: "correct"}}'
        )
    return [words[label] for label in labels]
