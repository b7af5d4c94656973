"""Verdicts that people gave in other annotation tools: exports of Label Studio, Argilla and doccano as a frame of labels."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.datasets.files import existing_file, json_items
from ragnb.errors import InputError, check_choice
from ragnb.metrics.judged import ACCEPTED
from ragnb.records import is_missing

COLUMNS = ("annotator", "task", "status", "verdict", "source", "flag", "note", "seconds", "time")
NOTES = ("note", "notes", "comment", "comments")
"""Keys of a note, where a format has none of its own."""


@dataclass(frozen=True)
class _Answer:
    """What one person said of one record; ``left_out`` says why it does not count."""

    annotator: str
    labels: Sequence[Any]
    note: str = ""
    seconds: float = float("nan")
    time: str | None = None
    left_out: str | None = None
    unsure: bool = False


Record = Mapping[str, Any]
Reader = Callable[[Record, str, str, str], Iterator[_Answer]]
"""What a record, its place, the field and the file's annotator give."""


def load_annotations(
    path: str | Path,
    *,
    source: str | None = None,
    verdicts: Mapping[Any, str] | None = None,
    field: str = "verdict",
    annotator: str | None = None,
    id: str | Sequence[str] = "example_id",
) -> pd.DataFrame:
    """Verdicts from an export of another annotation tool, one row an item and annotator.

    Parameters
    ----------
    path
        A JSON or JSON Lines file.
    source
        ``"label_studio"`` (JSON), ``"label_studio_min"`` (JSON-MIN), ``"argilla"`` (records as JSON, of versions 1 and 2,
        nested or flat) or ``"doccano"`` (JSONL of a text classification, one annotator a file; older ones name users). By
        default what the records look like.
    verdicts
        Your words (of old files of doccano: numbers) for ``"correct"``, ``"incorrect"`` and ``"refuse"``:
        ``{"Richtig": "correct"}``.
    field
        Name of the control (Label Studio), the question (Argilla) or the key of your own that holds the verdict. Of doccano
        ``label`` and ``labels`` are read where there is no such key.
    annotator
        Name of the annotator where the file has none; by default the file's name, as doccano names its files.
    id
        Key or keys of the record's data (Argilla: of its metadata or fields) that tell items apart. Where a record has no
        ``example_id``, its own id takes the place.

    Returns
    -------
    DataFrame
        ``item``, the columns of `id`, ``annotator``, ``task`` (``"verdict"``), ``status`` (``"labelled"``), ``verdict``,
        ``source`` (``"human"``), ``flag``, ``note``, ``seconds`` (nan where unknown), ``time``: what
        `ragnb.annotation.export.read_labels` gives of a log.

        ``attrs["left_out"]`` counts what is no label: ``"drafts"``, ``"discarded"``, ``"skipped"``, ``"unlabelled"``;
        ``attrs["without_status"]`` those that count although the export does not say whether they were submitted (nested
        records of Argilla 2 do not).

    Raises
    ------
    InputError
        A file of no known format, no verdict at all, unknown words, several labels in one answer, two answers of one
        annotator to an item, or a missing id.
    """
    file = existing_file(path, "load_annotations")
    records = list(json_items(file))
    reader = READERS[_source(records, source, file.name)]
    columns, named = [id] if isinstance(id, str) else list(id), annotator or file.name.split(".")[0]
    found, left_out, unsure = [], Counter[str](), 0
    for record, where in records:
        answers = list(reader(record, where, field, named))
        counted = [answer for answer in answers if answer.left_out is None]
        left_out.update(answer.left_out for answer in answers if answer.left_out is not None)
        left_out.update([] if answers else ["unlabelled"])
        key = _id(record, columns, where) if counted else {}
        found += [(key, answer, where) for answer in counted]
        unsure += sum(answer.unsure for answer in counted)
    return _frame(
        found, columns, verdicts, file.name, {"left_out": dict(left_out), "without_status": unsure}
    )


# ---- formats -----------------------------------------------------------------------------------------------------------


def _label_studio(record: Record, where: str, field: str, annotator: str) -> Iterator[_Answer]:
    for said in _dicts(record.get("annotations")):
        results = _dicts(said.get("result"))
        chosen = [one for one in results if one.get("from_name") == field]
        skipped = "skipped" if said.get("was_cancelled") else None
        if results and not chosen and not skipped:
            raise _no_such_field(where, field, [one.get("from_name") for one in results])
        labels = [label for one in chosen for label in _choices(one.get("value"))]
        time = said.get("updated_at") or said.get("created_at")
        note = "\n".join(
            text for one in results for text in _texts(_mapping(one.get("value")).get("text"))
        )
        why = skipped or (None if labels else "unlabelled")
        yield _Answer(
            _user(said.get("completed_by"), annotator),
            labels,
            note,
            _number(said.get("lead_time")),
            time,
            why,
        )
    for draft in _dicts(record.get("drafts")):
        yield _Answer(_user(draft.get("user"), annotator), [], left_out="drafts")


def _label_studio_min(record: Record, where: str, field: str, annotator: str) -> Iterator[_Answer]:
    labels, time = _choices(record.get(field)), record.get("updated_at") or record.get("created_at")
    why = None if labels else "unlabelled"
    who, seconds = _user(record.get("annotator"), annotator), _number(record.get("lead_time"))
    yield _Answer(who, labels, _note(record), seconds, time, why)


def _argilla(record: Record, where: str, field: str, annotator: str) -> Iterator[_Answer]:
    responses = record.get("responses")
    if isinstance(responses, list):
        said = [_argilla_1(one, where, field) for one in _dicts(responses)]
    elif isinstance(responses, Mapping):
        said = _dicts(responses.get(field))
        if any(responses.values()) and not responses.get(field):
            raise _no_such_field(where, field, list(responses))
    else:
        said = _argilla_flat(record, field)
    for one in said:
        status = one.get("status")
        why = {"draft": "drafts", "discarded": "discarded", "pending": "unlabelled"}.get(
            str(status)
        )
        labels = _labels(one.get("value"))
        note = "\n".join(_texts(one.get("note")))
        missing = None if labels else "unlabelled"
        yield _Answer(
            _user(one.get("user_id"), annotator),
            labels,
            note,
            left_out=why or missing,
            unsure=status is None,
        )


def _argilla_1(response: Record, where: str, field: str) -> Record:
    values = _mapping(response.get("values"))
    if values and field not in values and response.get("status", "submitted") == "submitted":
        raise _no_such_field(where, field, list(values))
    given = {name: _mapping(value).get("value") for name, value in values.items()}
    return {**response, "value": given.get(field), "note": _note(given)}


def _argilla_flat(record: Record, field: str) -> list[Record]:
    values, users, statuses = (
        _labels(record.get(f"{field}.responses{part}")) for part in ("", ".users", ".status")
    )
    return [
        {"value": value, "user_id": _at(users, place), "status": _at(statuses, place)}
        for place, value in enumerate(values)
    ]


def _doccano(record: Record, where: str, field: str, annotator: str) -> Iterator[_Answer]:
    note = "\n".join(
        _texts(next((record[key] for key in ("Comments", "comments") if record.get(key)), None))
    )
    by_user: dict[str, list[Any]] = {}
    for one in _dicts(record.get("annotations")):
        by_user.setdefault(_user(one.get("user"), annotator), []).append(one.get("label"))
    key = next((key for key in (field, "label", "labels") if key in record), None)
    if key is not None and not by_user:
        by_user = {annotator: _labels(record[key])}
    for user, labels in by_user.items():
        yield _Answer(user, labels, note, left_out=None if labels else "unlabelled")


READERS: dict[str, Reader] = {
    "label_studio": _label_studio,
    "label_studio_min": _label_studio_min,
    "argilla": _argilla,
    "doccano": _doccano,
}


def _source(records: list[tuple[Record, str]], source: str | None, name: str) -> str:
    if source is not None:
        return check_choice(source, tuple(READERS), "load_annotations(source=...)")
    found = next((kind for record, _ in records if (kind := _looks_like(record))), None)
    if found is None:
        raise InputError(
            f"{name} needs to be an export of Label Studio, Argilla or doccano; got records of another shape; name the "
            f"source ({', '.join(READERS)}), or load it with pandas"
        )
    return found


def _looks_like(record: Record) -> str | None:
    if "annotation_id" in record and "annotator" in record:
        return "label_studio_min"
    if "data" in record and isinstance(record.get("annotations"), list):
        return "label_studio"
    if isinstance(record.get("responses"), list | Mapping) or any(
        str(key).endswith(".responses") for key in record
    ):
        return "argilla"
    return "doccano" if {"label", "labels", "annotations"} & set(record) else None


# ---- one value ---------------------------------------------------------------------------------------------------------


def _choices(value: Any) -> list[Any]:
    """Label Studio's choices: a text, a list of them, or mappings that hold a list."""
    if isinstance(value, Mapping):
        return _labels(value.get("choices"))
    if isinstance(value, list):
        return [label for one in value for label in _choices(one)]
    return _labels(value)


def _labels(value: Any) -> list[Any]:
    return (
        list(value)
        if isinstance(value, list)
        else []
        if is_missing(value) or value == ""
        else [value]
    )


def _dicts(value: Any) -> list[Record]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _mapping(value: Any) -> Record:
    return value if isinstance(value, Mapping) else {}


def _texts(value: Any) -> list[str]:
    return [
        one
        for one in (value if isinstance(value, list) else [value])
        if isinstance(one, str) and one
    ]


def _note(values: Record) -> str:
    return "\n".join(text for key in NOTES for text in _texts(values.get(key)))


def _user(value: Any, annotator: str) -> str:
    """A user's name: as it stands, or the address or number in a mapping."""
    if isinstance(value, Mapping):
        value = value.get("email") or value.get("username") or value.get("id")
    return annotator if value is None or value == "" else str(value)


def _number(value: Any) -> float:
    known = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**63
    return float(value) if known else float("nan")


def _at(values: Sequence[Any], place: int) -> Any:
    return values[place] if place < len(values) else None


def _no_such_field(where: str, field: str, names: Sequence[Any]) -> InputError:
    there = ", ".join(dict.fromkeys(map(repr, names)))
    return InputError(
        f"{where} needs a verdict in {field!r}; got {there}; name the one that holds it with field=..."
    )


# ---- the frame ---------------------------------------------------------------------------------------------------------


def _id(record: Record, columns: list[str], where: str) -> dict[str, str]:
    places = [
        record,
        *(_mapping(record.get(part)) for part in ("data", "metadata", "fields", "meta")),
    ]
    found = {
        name: next((place[name] for place in places if not is_missing(place.get(name))), None)
        for name in columns
    }
    if found.get("example_id", "") is None:
        found["example_id"] = next(
            (record[key] for key in ("external_id", "id") if record.get(key) is not None), None
        )
    missing = [name for name, value in found.items() if value is None]
    if missing:
        raise InputError(
            f"{where} needs the keys {', '.join(columns)}; got none named {', '.join(missing)}; name others in id"
        )
    return {name: str(value) for name, value in found.items()}


def _frame(
    found: list[tuple[dict[str, str], _Answer, str]],
    columns: list[str],
    verdicts: Mapping[Any, str] | None,
    name: str,
    counts: dict[str, Any],
) -> pd.DataFrame:
    _check_several(found, name)
    words = _words(verdicts)
    _check_words([answer.labels[0] for _, answer, _ in found], words, name)
    rows = [_row(key, answer, words) for key, answer, _ in found]
    doubled = [
        pair
        for pair, n in Counter((row["item"], row["annotator"]) for row in rows).items()
        if n > 1
    ]
    if doubled:
        item, who = doubled[0]
        raise InputError(
            f"{name} needs one answer of each annotator to an item; got {len(doubled)} that are doubled, such as that of "
            f"{who!r} to {item!r}; delete the older ones, or name the keys that tell items apart in id"
        )
    frame = pd.DataFrame(rows, columns=[*dict.fromkeys(["item", *columns]), *COLUMNS])
    frame.attrs.update(
        counts, header={"task": "verdict", "id": columns[0] if len(columns) == 1 else columns}
    )
    return frame


def _row(key: Mapping[str, str], answer: _Answer, words: Mapping[Any, str]) -> dict[str, Any]:
    return {
        "item": " | ".join(key.values()),
        **key,
        "annotator": answer.annotator,
        "task": "verdict",
        "status": "labelled",
        "verdict": words[answer.labels[0]],
        "source": "human",
        "flag": False,
        "note": answer.note,
        "seconds": answer.seconds,
        "time": answer.time,
    }


def _words(verdicts: Mapping[Any, str] | None) -> dict[Any, str]:
    given = dict(verdicts or {})
    for meant in given.values():
        check_choice(meant, tuple(ACCEPTED), "load_annotations(verdicts=...)")
    return {**{word: word for word in ACCEPTED if word not in given}, **given}


def _check_several(found: list[tuple[dict[str, str], _Answer, str]], name: str) -> None:
    several = [where for _, answer, where in found if len(answer.labels) > 1]
    if several:
        raise InputError(
            f"{name} needs one verdict an answer; got several in {len(several)}, such as {several[0]}; export each "
            "annotator's own labels, or mend the record"
        )


def _is_word(label: Any, words: Mapping[Any, str]) -> bool:
    return isinstance(label, str | int) and not isinstance(label, bool) and label in words


def _check_words(labels: list[Any], words: Mapping[Any, str], name: str) -> None:
    if not labels:
        raise InputError(
            f"{name} needs one verdict at least; got none; check the export and field=..."
        )
    strangers = dict.fromkeys(repr(label) for label in labels if not _is_word(label, words))
    if strangers:
        raise InputError(
            f"{name} needs verdicts among {', '.join(map(str, words))}; got {', '.join(strangers)}; say what they mean "
            f'with verdicts={{{next(iter(strangers))}: "correct"}}'
        )
