"""Load verdicts of people from Label Studio, Argilla or doccano as a frame of labels."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from math import nan
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import BaseModel, BeforeValidator

from ragnb.arguments import accepts
from ragnb.datasets.files import checked, existing_file, json_records
from ragnb.errors import InputError, check_choice
from ragnb.metrics.judged import ACCEPTED
from ragnb.records import is_missing

COLUMNS = ("annotator", "task", "status", "verdict", "source", "flag", "note", "seconds", "time")
NOTES = ("note", "notes", "comment", "comments", "Comments")
"""Keys of a note, if a format has none of its own."""
STATUSES = {"draft": "drafts", "discarded": "discarded", "pending": "unlabelled"}
"""Status of an answer in Argilla -> why it is left out."""

Values = Mapping[str, Any]


# ---- one answer of one person --------------------------------------------------------------------


def _name(user: Any) -> Any:
    """A user's name, address or number."""
    if isinstance(user, Mapping):
        user = user.get("email") or user.get("username") or user.get("id")
    return None if user in (None, "") else str(user)


def _listed(value: Any) -> list[Any]:
    """Labels as a flat list; Label Studio writes them as texts, lists or mappings with choices."""
    if isinstance(value, Mapping):
        value = value.get("choices")
    if isinstance(value, list):
        return [label for one in value for label in _listed(one)]
    return [] if is_missing(value) or value == "" else [value]


def _joined(texts: Any) -> str:
    listed = texts if isinstance(texts, list) else [texts]
    return "\n".join(text for text in listed if isinstance(text, str) and text)


def _number(value: Any) -> Any:
    return nan if value is None else value


class Answer(BaseModel):
    """The answer of one annotator to one record; ``left_out`` gives the reason why it does not count."""

    annotator: Annotated[str | None, BeforeValidator(_name)] = None
    labels: Annotated[list[str | int], BeforeValidator(_listed)]
    note: Annotated[str, BeforeValidator(_joined)] = ""
    seconds: Annotated[float, BeforeValidator(_number)] = nan
    time: str | None = None
    left_out: str | None = None
    unsure: bool = False


# ---- what the tools write ------------------------------------------------------------------------


def _label_studio(record: Values, field: str) -> Iterator[Values]:
    for said in record["annotations"]:
        values = {one.get("from_name"): one.get("value") or {} for one in said.get("result") or []}
        yield {
            "annotator": said.get("completed_by"),
            "labels": values.get(field),
            "note": [text for value in values.values() for text in _listed(value.get("text"))],
            "seconds": said.get("lead_time"),
            "time": said.get("updated_at") or said.get("created_at"),
            "left_out": "skipped" if said.get("was_cancelled") else None,
        }
    for _ in record.get("drafts") or []:
        yield {"labels": [], "left_out": "drafts"}


def _label_studio_min(record: Values, field: str) -> Iterator[Values]:
    yield {
        "annotator": record.get("annotator"),
        "labels": record.get(field),
        "note": [record.get(key) for key in NOTES],
        "seconds": record.get("lead_time"),
        "time": record.get("updated_at") or record.get("created_at"),
    }


def _argilla(record: Values, field: str) -> Iterator[Values]:
    responses = record.get("responses")
    if isinstance(responses, list):
        said = [_argilla_1(response, field) for response in responses]
    elif isinstance(responses, Mapping):
        said = responses.get(field) or []
    else:
        columns = (record.get(f"{field}.responses{part}") for part in ("", ".users", ".status"))
        rows = zip_longest(*(column or [] for column in columns))
        said = [dict(zip(("value", "user_id", "status"), row, strict=True)) for row in rows]
    for one in said:
        status = one.get("status")
        yield {
            "annotator": one.get("user_id"),
            "labels": one.get("value"),
            "note": one.get("note"),
            "left_out": STATUSES.get(str(status)),
            "unsure": status is None,
        }


def _argilla_1(response: Values, field: str) -> dict[str, Any]:
    values = {name: value.get("value") for name, value in (response.get("values") or {}).items()}
    note = [values.get(key) for key in NOTES]
    return {**response, "value": values.get(field), "note": note}


def _doccano(record: Values, field: str) -> Iterator[Values]:
    note = [text for key in NOTES for text in _listed(record.get(key))]
    by_user: dict[Any, list[Any]] = {}
    for one in record.get("annotations") or []:
        by_user.setdefault(one.get("user"), []).append(one.get("label"))
    key = next((key for key in (field, "label", "labels") if key in record), None)
    if key is not None and not by_user:
        by_user[None] = record[key]
    for user, labels in by_user.items():
        yield {"annotator": user, "labels": labels, "note": note}


READERS: dict[str, Callable[[Values, str], Iterator[Values]]] = {
    "label_studio": _label_studio,
    "label_studio_min": _label_studio_min,
    "argilla": _argilla,
    "doccano": _doccano,
}


def _format(record: Values) -> str | None:
    """The tool whose export a record looks like."""
    if {"annotation_id", "annotator"} <= record.keys():
        return "label_studio_min"
    if {"data", "annotations"} <= record.keys():
        return "label_studio"
    if "responses" in record or any(str(key).endswith(".responses") for key in record):
        return "argilla"
    return "doccano" if {"label", "labels", "annotations"} & record.keys() else None


# ---- loading -------------------------------------------------------------------------------------


@accepts(source=tuple(READERS))
def load_annotations(
    path: str | Path,
    *,
    source: str | None = None,
    verdicts: Mapping[Any, str] | None = None,
    field: str = "verdict",
    annotator: str | None = None,
    id: str | Sequence[str] = "example_id",
) -> pd.DataFrame:
    """Load verdicts from an export of another annotation tool, one row per item and annotator.

    Parameters
    ----------
    path
        A JSON or JSON Lines file.
    source
        ``"label_studio"`` (JSON), ``"label_studio_min"`` (JSON-MIN), ``"argilla"`` (records as JSON, of versions 1 and 2,
        nested or flat) or ``"doccano"`` (JSONL of a text classification, one annotator per file; older files name users). By
        default the format is recognised from the records.
    verdicts
        Your words (of old files of doccano: numbers) for ``"correct"``, ``"incorrect"`` and ``"refuse"``:
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

        ``attrs["left_out"]`` counts what is no label: ``"drafts"``, ``"discarded"``, ``"skipped"``, ``"unlabelled"``;
        ``attrs["without_status"]`` those that count although the export does not say whether they were submitted (nested
        records of Argilla 2 do not).

    Raises
    ------
    InputError
        A file of no known format, no verdict at all, unknown words, several labels in one answer, two answers of one
        annotator to an item, or a missing id.
    """
    file = existing_file(path)
    records = list(json_records(file))
    formats = (_format(record) for record, _ in records)
    found = source or next(filter(None, formats), None)
    if found is None:
        raise InputError(
            f"{file.name} must be an export of Label Studio, Argilla or doccano; name the source "
            f"({', '.join(READERS)}), or load it with pandas"
        )
    columns = [id] if isinstance(id, str) else list(id)
    rows, left_out, unsure = [], Counter[str](), 0
    for record, where in records:
        answers = [checked(Answer, raw, where) for raw in READERS[found](record, field)]
        left_out.update([] if answers else ["unlabelled"])
        for answer in answers:
            reason = answer.left_out or (None if answer.labels else "unlabelled")
            if reason:
                left_out[reason] += 1
                continue
            if len(answer.labels) > 1:
                raise InputError(
                    f"{where}: an answer must have one verdict, got {answer.labels}; export the "
                    "labels of each annotator separately"
                )
            key = _id(record, columns, where)
            rows.append(_row(key, answer, annotator or file.name.split(".")[0]))
            unsure += answer.unsure
    if not rows:
        raise InputError(
            f"{file.name} must contain at least one verdict, got none in {field!r}; name the field "
            "that holds it with field=..."
        )
    frame = pd.DataFrame(rows, columns=[*dict.fromkeys(["item", *columns]), *COLUMNS])
    frame["verdict"] = _verdicts(frame["verdict"].tolist(), dict(verdicts or {}), file.name)
    doubled = frame[frame.duplicated(["item", "annotator"])]
    if len(doubled):
        first = doubled.iloc[0]
        raise InputError(
            f"{file.name} must have one answer per annotator and item, got {len(doubled)} repeated "
            f"answers, such as that of {first['annotator']!r} to {first['item']!r}; delete the "
            "older ones, or pass the keys that distinguish items as id="
        )
    header = {"task": "verdict", "id": columns[0] if len(columns) == 1 else columns}
    frame.attrs |= {"left_out": dict(left_out), "without_status": unsure, "header": header}
    return frame


def _id(record: Values, columns: list[str], where: str) -> dict[str, str]:
    parts = [record.get(part) for part in ("data", "metadata", "fields", "meta")]
    known: dict[str, Any] = {"example_id": record.get("external_id", record.get("id"))}
    for place in (*reversed(parts), record):
        known |= {
            name: place[name]
            for name in columns
            if isinstance(place, Mapping) and not is_missing(place.get(name))
        }
    missing = [name for name in columns if known.get(name) is None]
    if missing:
        raise InputError(
            f"{where}: must have the keys {', '.join(columns)}, but has no "
            f"{' and no '.join(missing)}; pass other keys as id="
        )
    return {name: str(known[name]) for name in columns}


def _row(key: Values, answer: Answer, annotator: str) -> dict[str, Any]:
    return {
        "item": " | ".join(key.values()),
        **key,
        "annotator": answer.annotator or annotator,
        "task": "verdict",
        "status": "labelled",
        "verdict": answer.labels[0],
        "source": "human",
        "flag": False,
        "note": answer.note,
        "seconds": answer.seconds,
        "time": answer.time,
    }


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
