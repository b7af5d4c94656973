"""Labels as frames: read from logs, compared between annotators, joined to responses, or in RAGBench's format."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ragnb.annotation.items import (
    Item,
    build_items,
    check_value,
    claims_of,
    item_ids,
    refuse_changed_texts,
)
from ragnb.annotation.log import (
    LabelState,
    Place,
    flat,
    nested,
    places,
    read_log,
    same_fields,
)
from ragnb.annotation.tasks import COLUMNS, Task, plain, read_task
from ragnb.arguments import accepts
from ragnb.cells import flag_of, is_missing, present
from ragnb.columns import column_names, require_columns
from ragnb.datasets.files import several_files
from ragnb.datasets.tables import write_table
from ragnb.errors import InputError
from ragnb.metrics.trace_labels import SPECIAL_KEYS

if TYPE_CHECKING:
    from ragnb.annotation.session import AnnotationSession

KEYS = {"relevant": "all_relevant_sentence_keys", "utilized": "all_utilized_sentence_keys"}
# RAGBench's columns of labels.
TRACE_COLUMNS = (
    *KEYS.values(),
    "sentence_support_information",
    "unsupported_response_sentence_keys",
    "overall_supported",
)

# Columns that `write_ragbench` writes, with RAGBench's names.
PUBLISHED = {
    "id": "id",
    "dataset_name": "dataset_name",
    "question": "question",
    "passages": "documents",
    "response": "response",
    "system": "generation_model_name",
    "annotator": "annotating_model_name",
    "documents_sentences": "documents_sentences",
    "response_sentences": "response_sentences",
    **{name: name for name in TRACE_COLUMNS},
    "language": "language",
    "question_id": "question_id",
}

# Columns of labels that appear next to a response with the prefix ``label_``.
DETAILS = ("status", "source", "flag", "note")


def read_labels(log: "str | Path | AnnotationSession") -> pd.DataFrame:
    """Read the labels of a log, with one row per item that has any.

    Parameters
    ----------
    log
        Path of a log, or an open session. A log can be read while somebody writes to it.

    Returns
    -------
    DataFrame
        In the order in which items were first shown:

        - ``item``, and the columns of its id
        - ``annotator``, ``task``
        - ``status``: ``"labelled"``, ``"started"``, ``"skipped"`` or ``"untouched"`` (a note or a flag only)
        - one column per field, None where it is untouched; a mapping from the sentence if a field is asked of each
        - ``source``: ``"human"``, ``"suggestion accepted"``, ``"suggestion changed"``, ``"adjudicated"``, ``"agreed"``;
          ``"mixed"`` if fields differ; None if there is no label
        - ``flag``, ``note``, ``seconds`` spent, ``time`` of the last change (None if none was needed)
        - ``fingerprint`` of the texts that were labelled, and ``sentences``: the keys of the item's sentences

        ``attrs["header"]`` is the header of the log.

    Raises
    ------
    InputError
        There is no such log.
    """
    session = None if isinstance(log, str | Path) else log
    header, events = (session.log.header, session.log.events) if session else read_log(str(log))
    task = read_task(header["task"])
    rows = []
    for item, labels in LabelState(events).items.items():
        sources = {said.get("source", "human") for said in labels.said.values()}
        row = {
            "item": item,
            **labels.id,
            "annotator": header.get("annotator", ""),
            "task": task.name,
            "status": labels.status(task, labels.sentences),
            **nested(labels.values),
            "source": "mixed" if len(sources) > 1 else next(iter(sources), None),
            "flag": labels.flag,
            "note": labels.note,
            "seconds": labels.seconds,
            "time": labels.time or None,
            "fingerprint": labels.fingerprint or None,
            "sentences": labels.sentences,
        }
        if labels.touched:
            rows.append(row)
    fields = [asked.name for asked in task.fields]
    names = dict.fromkeys(["item", *id_columns(header), *COLUMNS[1:4], *fields, *COLUMNS[4:]])
    frame = pd.DataFrame({name: _column(row.get(name) for row in rows) for name in names})
    frame.attrs["header"] = dict(header)
    return frame


def _column(values: Iterable[Any]) -> pd.Series:
    """Truth values, numbers, or anything. Truth values with gaps stay truth values."""
    values = [present(plain(value)) for value in values]
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return pd.Series(values, dtype="boolean" if None in values else bool)
    return pd.Series(values, dtype="float64" if kinds == {float} else object)


def id_columns(header: Mapping[str, Any]) -> list[str]:
    """The columns of the items' ids, according to the header of a log."""
    return column_names(header.get("id") or "example_id")


@accepts(task=("trace", "verdict"))
def recorded_passes(task: str) -> tuple[Path, Path]:
    """Load two logs in which ragnb's authors labelled the same items independently of each other.

    The two passes agree more than independent annotators would. No other person took part. The times show when
    the labels were entered.

    Parameters
    ----------
    task
        - ``"trace"``: all responses of ``load_ragbench("sample-ragbench")``
        - ``"verdict"``: replies of ``ragnb.load_study("sample-labelled-en")`` on which an ensemble abstained (notebook 12)

    >>> [path.name for path in recorded_passes("trace")]
    ['trace.first.jsonl', 'trace.second.jsonl']
    """
    folder = Path(__file__).parent / "data"
    return folder / f"{task}.first.jsonl", folder / f"{task}.second.jsonl"


# ---- several annotators --------------------------------------------------------------------------


@dataclass(frozen=True)
class Compared:
    """The labels of several annotators in one task.

    Attributes
    ----------
    said : dict
        What each annotator said: item -> name -> place -> value.
    votes : dict
        The same in the order of the task: item -> place -> name -> value. A place that nobody labelled has no votes.
    sentences : dict
        Item -> the keys of its sentences.
    fingerprints : dict
        Item -> the fingerprint of the texts that were labelled, if it is known.
    rows : DataFrame
        The labels as `read_labels` returns them, of all annotators.
    """

    task: Task
    id: list[str]
    names: list[str]
    said: dict[str, dict[str, dict[Place, Any]]]
    votes: dict[str, dict[Place, dict[str, Any]]]
    sentences: dict[str, dict[str, list[str]]]
    fingerprints: dict[str, str]
    rows: pd.DataFrame


def read_everyone(logs: Any) -> Compared:
    """The labels of two or more annotators.

    Parameters
    ----------
    logs
        Paths of logs, a pattern such as ``"*.verdict.jsonl"``, open sessions, or frames as `read_labels` and
        `ragnb.datasets.annotations.load_annotations` return them. A frame can contain several annotators.

    Raises
    ------
    InputError
        There are fewer than two annotators, one of them labelled an item twice, a value is no option of its field, or
        the annotators had different tasks or different texts of an item.
    """
    given = several_files(logs) or [logs]
    frames = [log if isinstance(log, pd.DataFrame) else read_labels(log) for log in given]
    tasks = [_task(frame) for frame in frames]
    if any(not same_fields(task.schema(), tasks[0].schema()) for task in tasks):
        words = ", ".join(repr(task.name) for task in tasks)
        raise InputError(
            f"all annotators must have used the same task, got different versions of {words}"
        )
    task = tasks[0]
    rows = pd.concat([frame.astype(object) for frame in frames])
    rows = rows.reindex(columns=list(dict.fromkeys([*COLUMNS, *rows])))
    names, twice = rows["annotator"].unique().tolist(), rows.duplicated(["item", "annotator"])
    if len(names) < 2 or twice.any():
        got = f"two rows for {rows['item'][twice].iloc[0]!r}" if twice.any() else ", ".join(names)
        raise InputError(
            f"agreement needs two or more annotators and one label per item and annotator, got {got}"
        )
    groups = rows.groupby("item", sort=False)
    n_texts = groups["fingerprint"].nunique()
    if (n_texts > 1).any():
        raise InputError(
            f"annotators must have seen the same texts, but those of {n_texts.idxmax()!r} differ"
        )
    first = groups[["fingerprint", "sentences"]].first()
    sentences: dict[str, dict[str, list[str]]] = {
        item: present(keys) or {} for item, keys in first["sentences"].items()
    }
    about = [asked.name for asked in task.fields if asked.each or asked.kind == "sentences"]
    unknown = [item for item, keys in sentences.items() if about and not keys]
    if unknown:
        raise InputError(
            f"labels of {about[0]!r} need the sentence keys of item {unknown[0]!r}, but the column sentences has "
            "none; pass the log, or the result of read_labels with this column"
        )
    said: dict[str, dict[str, dict[Place, Any]]] = {item: {} for item in sentences}
    for row in rows.to_dict("records"):
        said[row["item"]][row["annotator"]] = _values(row, task)
    votes = {
        item: {
            place: {name: values[place] for name, values in by_name.items() if place in values}
            for place in places(task, sentences[item])
        }
        for item, by_name in said.items()
    }
    known = first["fingerprint"].dropna().to_dict()
    header = frames[0].attrs.get("header", {})
    return Compared(task, id_columns(header), names, said, votes, sentences, known, rows)


def _task(frame: pd.DataFrame) -> Task:
    """The task of a frame of labels, after a check of its columns."""
    missing = [name for name in ("item", "annotator", "task") if name not in frame]
    if missing:
        raise InputError(
            "agreement needs labels, with one row per item and annotator and the columns item, "
            f"annotator and task, got a frame without {', '.join(missing)}; read them with "
            "ragnb.annotation.read_labels or ragnb.load_study(..., 'labels')"
        )
    names = frame["task"].unique().tolist()
    schema = frame.attrs.get("header", {}).get("task") or (names[0] if len(names) == 1 else names)
    task = read_task(schema)
    require_columns(frame, [asked.name for asked in task.fields], f"labels of task {task.name!r}")
    return task


def _values(row: Mapping[str, Any], task: Task) -> dict[Place, Any]:
    """The values in a row of a frame of labels."""
    values = flat({asked.name: row[asked.name] for asked in task.fields}, task)
    for place, value in values.items():
        asked = task.field(place[0])
        if asked.graded and isinstance(value, float) and value.is_integer():
            values[place] = value = int(value)  # from a column of numbers with gaps
        if asked.kind == "choice":
            asked.number(value, f"{asked.name!r} of item {row['item']!r}")
    return values


def alike(values: Iterable[Any]) -> bool:
    """Return whether all values are equal. The order of sentence keys does not matter, and True differs from 1.

    >>> alike([["0a", "0b"], ["0b", "0a"]]), alike([True, 1])
    (True, False)
    """
    comparable = {
        frozenset(value) if isinstance(value, list | tuple) else (type(value), value)
        for value in values
    }
    return len(comparable) <= 1


# ---- labels next to responses --------------------------------------------------------------------


def join_labels(
    responses: pd.DataFrame,
    log: "str | Path | AnnotationSession | pd.DataFrame | Sequence[Any]",
    *,
    id: str | Sequence[str] | None = None,
    replace: bool = False,
) -> pd.DataFrame:
    """Add the labels of one annotator to the responses, so that `ragnb.score` can use them.

    Parameters
    ----------
    responses
        All or some of the examples that were labelled, with any other rows and columns.
    log
        Path of a log, an open session, or a frame of labels of one annotator. A list of these, or a pattern such as
        ``"*.verdict.jsonl"``, joins them one after the other; each item may be labelled in only one of them. Logs of
        several annotators of the same items have to be adjudicated first.
    id
        Column or columns that identify a row; by default those that the log names.
    replace
        Whether to replace columns that `responses` has already, such as RAGBench's own labels.

    Returns
    -------
    DataFrame
        The rows and index of `responses` with one column per field (None, or a missing truth value, where untouched) and
        ``annotator``, ``label_status``, ``label_source``, ``label_flag``, ``label_note``. Some tasks have the columns that
        metrics use instead of their fields: ``"trace"`` has RAGBench's columns of labels (published scores are left
        unchanged), ``"claims"`` has ``parts``, and ``"spans"`` has ``reference_spans``. They are None until all of the
        labels that they need are there.

    Raises
    ------
    InputError
        An id is missing or not unique, a label has no row, a column exists already, a text has changed, or a frame has
        several annotators.
    """
    logs = several_files(log)
    frame = _labels_of_one(log) if logs is None else _labels_of_several(logs)
    task = _task(frame)
    columns = id or id_columns(frame.attrs.get("header", {}))
    ids = item_ids(responses, columns)
    labels = {str(row["item"]): row for row in frame.to_dict("records")}
    known_ids = set(ids)
    strangers = [repr(item) for item in labels if item not in known_ids]
    if strangers:
        raise InputError(
            f"{len(strangers)} labelled items are not in the frame: {', '.join(strangers[:10])}; add their rows, or "
            "load the labels with read_labels and drop these items"
        )
    known = {
        item: row["fingerprint"] for item, row in labels.items() if present(row.get("fingerprint"))
    }
    kept = responses[[name in known for name in ids]]
    if len(kept):
        refuse_changed_texts(build_items(kept, task, id=columns), known)
    blank = {"status": "untouched", "flag": False, "note": ""}
    rows = [labels.get(name, blank) for name in ids]
    names = tuple(asked.name for asked in task.fields)
    if task.name in CONVERTED:
        names, convert = CONVERTED[task.name]
        records = responses.to_dict("records")
        rows = [row | convert(row, of) for row, of in zip(rows, records, strict=True)]
    added = {
        f"label_{name}" if name in DETAILS else name: _column(row.get(name) for row in rows)
        for name in (*names, "annotator", *DETAILS)
    }
    taken = [name for name in added if name in responses]
    if taken and not replace:
        raise InputError(
            f"join_labels would replace the columns {', '.join(taken)}; drop or rename them, or pass replace=True"
        )
    return responses.assign(
        **{name: column.set_axis(responses.index) for name, column in added.items()}
    )


def _labels_of_one(log: Any) -> pd.DataFrame:
    """The labels of one annotator."""
    frame = log if isinstance(log, pd.DataFrame) else read_labels(log)
    who = frame["annotator"].unique() if "annotator" in frame else []
    if len(who) > 1:
        raise InputError(f"join_labels needs the labels of one annotator, got {', '.join(who)}")
    return frame


def _labels_of_several(logs: Sequence[Any]) -> pd.DataFrame:
    """The labels of several logs, in which no item has two different labels."""
    frames = [_labels_of_one(log) for log in logs]
    tasks = [_task(frame) for frame in frames]
    if any(not same_fields(task.schema(), tasks[0].schema()) for task in tasks):
        got = ", ".join(repr(task.name) for task in tasks)
        raise InputError(f"all logs must be of the same task, got different versions of {got}")
    rows = pd.concat([frame.astype(object) for frame in frames], ignore_index=True)
    names = [asked.name for asked in tasks[0].fields]
    for item, labels in rows[rows.duplicated("item", keep=False)].groupby("item", sort=False):
        if not all(alike(map(present, labels[name])) for name in names):
            who = ", ".join(dict.fromkeys(labels["annotator"]))
            raise InputError(
                f"join_labels needs one label for each item, but {item!r} has different labels in "
                f"{len(labels)} logs (annotators: {who}); adjudicate them, or join one log"
            )
    rows = rows.drop_duplicates("item", ignore_index=True)
    rows.attrs = dict(frames[0].attrs)
    return rows


# ---- RAGBench ------------------------------------------------------------------------------------


def write_ragbench(
    responses: pd.DataFrame, log: "str | Path | AnnotationSession", path: str | Path
) -> dict[str, int]:
    """Write responses and their TRACe labels as RAGBench's JSON Lines, which `ragnb.load_ragbench` reads.

    Only items that are fully labelled are written. The returned counts are the number of written items, and the
    number of omitted items by status: ``{"written": 40, "started": 2, "skipped": 1, "untouched": 7}``. An
    ``example_id`` of two parts (``"covidqa_test/778"``) becomes ``dataset_name`` and ``id``. Published scores and
    explanations are not written, because they belong to other labels.

    Raises
    ------
    InputError
        The log is of another task or no item is fully labelled, or `join_labels` or `ragnb.write_table` refuses its input.
    """
    joined = join_labels(responses, log, replace=True)
    whole = joined[joined["label_status"] == "labelled"]
    if not set(TRACE_COLUMNS) <= set(joined) or whole.empty:
        raise InputError(
            "write_ragbench needs a log of the task 'trace' with at least one fully labelled item; "
            "for other tasks use join_labels"
        )
    parts = whole["example_id"].astype(str).str.rpartition("/")
    whole = whole.drop(columns=["id", "documents"], errors="ignore").assign(
        id=parts[2], dataset_name=parts[0]
    )
    columns = [name for name in PUBLISHED if name in whole]
    write_table(whole[columns].rename(columns=PUBLISHED), path)
    statuses = joined["label_status"].tolist()
    left_out = {name: statuses.count(name) for name in ("started", "skipped", "untouched")}
    return {"written": len(whole), **left_out}


def ragbench_labels(row: Mapping[str, Any], _response: Any = None) -> dict[str, Any]:
    """Convert a row of `read_labels` to RAGBench's columns; a missing label becomes None.

    A sentence that is not supported at all is in ``unsupported_response_sentence_keys``. The columns about support are None
    until every sentence has all of its labels, because a gap would count as no support.
    """
    keys = _cell(_cell(row, "sentences", {}), "response", [])
    support, supporting = (
        {key: value for key, value in _cell(row, name, {}).items() if value is not None}
        for name in ("support", "supporting")
    )
    whole = "sentences" in row and set(keys) <= support.keys() & supporting.keys()
    information = [
        {
            "response_sentence_key": key,
            "supporting_sentence_keys": supporting.get(key),
            "fully_supported": support.get(key) == "full",
            "explanation": "",
        }
        for key in keys
    ]
    return {
        **{column: present(row.get(field)) for field, column in KEYS.items()},
        "sentence_support_information": information if whole else None,
        "unsupported_response_sentence_keys": (
            [key for key in keys if support[key] == "none"] if whole else None
        ),
        "overall_supported": present(row.get("overall")),
    }


def labelled_claims(row: Mapping[str, Any], response: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a row of labels of the task CLAIMS to ``parts``: the claims of the response with their labels."""
    labels = _cell(row, "claim", {})
    claims = [one | {"label": labels.get(f"c{n}")} for n, one in enumerate(claims_of(response), 1)]
    return {"parts": claims if labels and all(one["label"] for one in claims) else None}


def marked_spans(row: Mapping[str, Any], _response: Any = None) -> dict[str, Any]:
    """Convert a row of labels of the task SPANS to ``reference_spans``: runs of marked words as start and end."""
    given = [present(row.get(name)) for name in ("unsupported", "contradicted")]
    spans: list[list[int]] = []
    for marked in given if None not in given else []:
        chosen, before = set(marked), ""
        for word in _cell(row, "sentences", {}).get("words", []):
            start, end = map(int, word.split("-"))
            if word in chosen and before in chosen:
                spans[-1][1] = end
            elif word in chosen:
                spans.append([start, end])
            before = word
    return {"reference_spans": sorted(spans) if None not in given else None}


# Tasks whose labels become the columns that metrics use, with these columns and the conversion.
CONVERTED: dict[str, tuple[tuple[str, ...], Callable[..., dict[str, Any]]]] = {
    "trace": (TRACE_COLUMNS, ragbench_labels),
    "claims": (("parts",), labelled_claims),
    "spans": (("reference_spans",), marked_spans),
}


def trace_values(record: Mapping[str, Any], item: Item) -> dict[Place, Any]:
    """Values of the task TRACE from a record of RAGBench, without keys that name no sentence."""
    known = set(item.keys("documents"))
    values: dict[Place, Any] = {
        (field, None): [key for key in dict.fromkeys(record[column]) if key in known]
        for field, column in KEYS.items()
        if present(record.get(column)) is not None
    }
    unsupported = _cell(record, "unsupported_response_sentence_keys", [])
    for one in _cell(record, "sentence_support_information", []):
        key, supporting = one["response_sentence_key"], present(one.get("supporting_sentence_keys"))
        none, fully = key in unsupported, flag_of(one.get("fully_supported"))
        if supporting is not None:
            allowed = known | set(SPECIAL_KEYS)
            values["supporting", key] = [
                name for name in dict.fromkeys(supporting) if name in allowed
            ]
            none = not len(supporting)
        if none or fully is not None:
            values["support", key] = "none" if none else "full" if fully else "partial"
    keys = [None, *item.keys("response")]
    values = {place: value for place, value in values.items() if place[1] in keys}
    overall = [flag_of(record.get(name)) for name in ("overall_supported", "adherence_score")]
    if overall != [None, None]:  # published files have the second
        values["overall", None] = overall[1] if overall[0] is None else overall[0]
    return values


def _cell(record: Mapping[str, Any], name: str, default: Any) -> Any:
    value = record.get(name)
    return default if is_missing(value) else value


# ---- suggestions ---------------------------------------------------------------------------------


def read_suggestions(
    suggestions: Any, items: Sequence[Item], task: Task, *, id: str | Sequence[str] = "example_id"
) -> dict[str, dict[Place, Any]]:
    """Suggested values of each item, from a judge or another annotator.

    Parameters
    ----------
    suggestions
        - a mapping from the id of an item to its values by field, ``{"q/1": {"verdict": "correct"}}``; for a field that is
          asked of each sentence, a mapping from the sentence: ``{"q/1": {"support": {"a": "full"}}}``
        - a frame with the columns of `id` and one column per field; for the task ``"trace"`` also RAGBench's own columns,
          and for the task ``"verdict"`` also the ``judged_correct`` of a judge, 0 or 1
        - None
    items
        The items. Suggestions for others are left out.

    Raises
    ------
    InputError
        The suggestions are no frame or mapping, the task has no such field, or a field does not allow a value.
    """
    if isinstance(suggestions, pd.DataFrame):
        ids, judged = item_ids(suggestions, id), suggestions.get("judged_correct")
        if task.name == "verdict" and "verdict" not in suggestions and judged is not None:
            suggestions = suggestions.assign(verdict=judged.map({1: "correct", 0: "incorrect"}))
        fields = [*(asked.name for asked in task.fields), *TRACE_COLUMNS, "adherence_score"]
        rows = suggestions[[name for name in fields if name in suggestions]].to_dict("records")
        suggestions = dict(zip(ids, rows, strict=True))
    elif not isinstance(suggestions, Mapping | None):
        kind = type(suggestions).__name__
        raise InputError(f"suggestions must be a frame or a mapping from item ids, got a {kind}")
    found: dict[str, dict[Place, Any]] = {}
    for item in items:
        given = (suggestions or {}).get(item.id)
        if given is None:
            continue
        published = task.name == "trace" and not set(TRACE_COLUMNS).isdisjoint(given)
        values = trace_values(given, item) if published else flat(given, task)
        for name, sentence in values.keys() - {*places(task, item.sentences)}:
            raise InputError(
                f"{name!r} is suggested for {sentence!r}, which is not a sentence that this field labels in {item.id!r}"
            )
        found[item.id] = {
            place: check_value(task.field(place[0]), item, value) for place, value in values.items()
        }
    return found
