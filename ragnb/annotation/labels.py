"""Labels as frames: read from a log, joined to responses, or in RAGBench's format."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.annotation.conversions import Trace, conversion_of
from ragnb.annotation.items import build_items, item_ids, refuse_changed_texts
from ragnb.annotation.log import ItemLabels, LabelState, read_log, same_fields, wait_for_actions
from ragnb.annotation.places import nested
from ragnb.annotation.session import AnnotationSession
from ragnb.annotation.tasks import COLUMNS, Task, plain, read_task
from ragnb.arguments import accepts
from ragnb.cells import present
from ragnb.columns import column_names, require_columns
from ragnb.datasets.files import several_files
from ragnb.datasets.tables import write_table
from ragnb.errors import InputError

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
    **{name: name for name in Trace.published},
    "language": "language",
    "question_id": "question_id",
}

# Columns of labels that appear next to a response with the prefix ``label_``.
DETAILS = ("status", "source", "flag", "note")


@accepts()
def read_labels(log: str | Path | AnnotationSession) -> pd.DataFrame:
    """Read the labels of a log, with one row per item that has any.

    Parameters
    ----------
    log
        Path of a log, an open session, or an `ragnb.Annotator`. A log can be read while somebody writes to it. If that
        happens in the same notebook, the labels that are on their way from the browser are waited for.

    Returns
    -------
    DataFrame
        In the order in which items were first shown:

        - ``item``, and the columns of its id
        - ``annotator``, ``task``
        - ``status``: ``"labelled"``, ``"started"``, ``"skipped"`` or ``"untouched"`` (it has a note or a flag only)
        - one column per field, None where it is untouched; a mapping from the sentence if a field is asked of each; a list
          of the present names for a field of tags
        - ``source``: ``"human"``, ``"suggestion accepted"``, ``"suggestion changed"``, ``"adjudicated"``, ``"agreed"``;
          ``"mixed"`` if fields differ; None if there is no label
        - ``flag``, ``note``, ``seconds`` spent, ``time`` of the last change (None if none was needed)
        - ``fingerprint`` of the texts that were labelled, and ``sentences``: the keys of the item's sentences

        ``attrs["header"]`` is the header of the log, and ``attrs["codebook"]`` the codebook if the task has one.

    Raises
    ------
    InputError
        There is no such log.
    """
    # An annotator of `ragnb.Annotator` has its session.
    log = getattr(log, "session", log)
    if isinstance(log, AnnotationSession):
        wait_for_actions(log.log)
        header, events = log.log.header, log.log.events
    else:
        wait_for_actions(str(log))
        header, events = read_log(str(log))
    task = read_task(header["task"])
    state = LabelState(events, task)
    rows = [
        _row(item, labels, task, header, state)
        for item, labels in state.items.items()
        if labels.touched
    ]
    # The item, what its labels are about, and details. The columns of the id and the fields are between them.
    first, middle, last = COLUMNS[:1], COLUMNS[1:4], COLUMNS[4:]
    fields = [field.name for field in task.fields]
    # A column of the id may have the name of another column, which a dict contains only once.
    names = dict.fromkeys([*first, *id_columns(header), *middle, *fields, *last])
    frame = pd.DataFrame({name: _column(row.get(name) for row in rows) for name in names})
    frame.attrs["header"] = dict(header)
    if task.tag_fields:
        frame.attrs["codebook"] = state.codebook.definitions()
    return frame


def _row(
    item: str, labels: ItemLabels, task: Task, header: Mapping[str, Any], state: LabelState
) -> dict[str, Any]:
    """The row of an item in the frame of labels."""
    sources = {details.get("source", "human") for details in labels.details.values()}
    source = None
    if sources:
        source = "mixed" if len(sources) > 1 else sources.pop()
    return {
        "item": item,
        **labels.id,
        "annotator": header.get("annotator", ""),
        "task": task.name,
        "status": labels.status(task, labels.sentences),
        **nested(state.present(labels.values, names=True)),
        "source": source,
        "flag": labels.flag,
        "note": labels.note,
        "seconds": labels.seconds,
        "time": labels.time or None,
        "fingerprint": labels.fingerprint or None,
        "sentences": labels.sentences,
    }


def _column(values: Iterable[Any]) -> pd.Series:
    """A column of truth values or of floats if it has no others, else of objects.

    Truth values with gaps stay truth values, with pandas' type ``boolean``.
    """
    values = [present(plain(value)) for value in values]
    types = {type(value) for value in values if value is not None}
    if types == {bool}:
        return pd.Series(values, dtype="boolean" if None in values else bool)
    return pd.Series(values, dtype="float64" if types == {float} else object)


def id_columns(header: Mapping[str, Any]) -> list[str]:
    """The columns of the items' ids, according to the header of a log."""
    return column_names(header.get("id") or "example_id")


def task_of(frame: pd.DataFrame) -> Task:
    """The task of a frame of labels. A frame without the columns of labels raises InputError."""
    missing = [name for name in ("item", "annotator", "task") if name not in frame]
    if missing:
        raise InputError(
            "agreement needs labels, with one row per item and annotator and the columns item, "
            f"annotator and task, got a frame without {', '.join(missing)}; read them with "
            "ragnb.annotation.read_labels or ragnb.load_study(..., 'labels')"
        )
    names = frame["task"].unique().tolist()
    # Frames that were not read from a log have no header, and name a predefined task. If they name several, `read_task`
    # refuses the list.
    named_task = names[0] if len(names) == 1 else names
    task = read_task(frame.attrs.get("header", {}).get("task") or named_task)
    require_columns(frame, [field.name for field in task.fields], f"labels of task {task.name!r}")
    return task


@accepts(task=("trace", "verdict", "error_analysis"))
def recorded_passes(task: str) -> tuple[Path, ...]:
    """Return the paths of the logs in which ragnb's authors labelled some items: two people, or one for error analysis.

    The two did not see each other's labels. But they also wrote the guideline, so they probably agree more than independent
    annotators would. No other person took part. The times show when the labels were entered.

    Parameters
    ----------
    task
        - ``"trace"``: all responses of ``load_ragbench("sample-ragbench")``
        - ``"verdict"``: replies of ``ragnb.load_study("sample-labelled-en")`` on which an ensemble abstained (notebook 20)
        - ``"error_analysis"``: 52 rejected answers of ``ragnb.load_study("evouna-nq")`` (notebook 21). One person read them,
          and entered notes and tags afterwards, so that the times in this log mean nothing.

    >>> [path.name for path in recorded_passes("trace")]
    ['trace.first.jsonl', 'trace.second.jsonl']
    """
    folder = Path(__file__).parent / "data"
    passes = ["first"] if task == "error_analysis" else ["first", "second"]
    return tuple(folder / f"{task}.{name}.jsonl" for name in passes)


# ---- labels next to responses --------------------------------------------------------------------


@accepts()
def join_labels(
    responses: pd.DataFrame,
    log: str | Path | AnnotationSession | pd.DataFrame | Sequence[Any],
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
    frame = _labels_in(log)
    task = task_of(frame)
    columns = id or id_columns(frame.attrs.get("header", {}))
    ids = item_ids(responses, columns)
    labels = {str(row["item"]): row for row in frame.to_dict("records")}
    _require_rows(labels, ids)
    _require_same_texts(responses, ids, labels, task, columns)

    conversion = conversion_of(task)
    # What a response without labels has.
    untouched = {"status": "untouched", "flag": False, "note": ""}
    rows = []
    for item, response in zip(ids, responses.to_dict("records"), strict=True):
        row = labels.get(item, untouched)
        rows.append(row | conversion.to_columns(row, response))
    added = {}
    for name in (*conversion.columns(task), "annotator", *DETAILS):
        column = f"label_{name}" if name in DETAILS else name
        added[column] = _column(row.get(name) for row in rows).set_axis(responses.index)
    existing = [name for name in added if name in responses]
    if existing and not replace:
        raise InputError(
            f"join_labels would replace the columns {', '.join(existing)}; drop or rename them, or pass replace=True"
        )
    return responses.assign(**added)


def _require_rows(labels: Mapping[str, Any], ids: Sequence[str]) -> None:
    """Raise InputError if a labelled item has no response."""
    ids_of_responses = set(ids)
    missing = [repr(item) for item in labels if item not in ids_of_responses]
    if missing:
        raise InputError(
            f"{len(missing)} labelled items are not in the frame: {', '.join(missing[:10])}; add their rows, or "
            "load the labels with read_labels and drop these items"
        )


def _require_same_texts(
    responses: pd.DataFrame,
    ids: Sequence[str],
    labels: Mapping[str, Mapping[str, Any]],
    task: Task,
    columns: str | Sequence[str],
) -> None:
    """Raise InputError if the text of a response differs from the one that was labelled.

    Labels without a fingerprint, such as those of other tools, cannot be compared.
    """
    fingerprints = {
        item: row["fingerprint"] for item, row in labels.items() if present(row.get("fingerprint"))
    }
    # Only these rows become items, because others may lack the columns that the task shows.
    comparable = responses[[item in fingerprints for item in ids]]
    if len(comparable):
        refuse_changed_texts(build_items(comparable, task, id=columns), fingerprints)


def _labels_in(log: Any) -> pd.DataFrame:
    """The frame of labels of the argument ``log`` of `join_labels`."""
    # None if the argument is neither a list nor a pattern.
    logs = several_files(log)
    return _labels_of_one(log) if logs is None else _labels_of_several(logs)


def _labels_of_one(log: Any) -> pd.DataFrame:
    """The labels in one log or frame. Labels of several annotators raise InputError."""
    frame = log if isinstance(log, pd.DataFrame) else read_labels(log)
    names = frame["annotator"].unique() if "annotator" in frame else []
    if len(names) > 1:
        raise InputError(f"join_labels needs the labels of one annotator, got {', '.join(names)}")
    return frame


def _labels_of_several(logs: Sequence[Any]) -> pd.DataFrame:
    """The labels of several logs one after the other, with one row per item.

    Different labels of one item raise InputError.
    """
    frames = [_labels_of_one(log) for log in logs]
    tasks = [task_of(frame) for frame in frames]
    if any(not same_fields(task.schema(), tasks[0].schema()) for task in tasks):
        names = ", ".join(repr(task.name) for task in tasks)
        raise InputError(f"all logs must be of the same task, got different versions of {names}")
    rows = pd.concat([frame.astype(object) for frame in frames], ignore_index=True)
    fields = [field.name for field in tasks[0].fields]
    repeated = rows[rows.duplicated("item", keep=False)]
    for item, labels in repeated.groupby("item", sort=False):
        if not all(all_equal(map(present, labels[name])) for name in fields):
            names = ", ".join(dict.fromkeys(labels["annotator"]))
            raise InputError(
                f"join_labels needs one label for each item, but {item!r} has different labels in "
                f"{len(labels)} logs (annotators: {names}); adjudicate them, or join one log"
            )
    rows = rows.drop_duplicates("item", ignore_index=True)
    rows.attrs = dict(frames[0].attrs)
    return rows


def all_equal(values: Iterable[Any]) -> bool:
    """Return whether all values are equal. The order of sentence keys does not matter, and True differs from 1.

    >>> all_equal([["0a", "0b"], ["0b", "0a"]]), all_equal([True, 1])
    (True, False)
    """
    # A set of values would not distinguish True from 1, so each value has its type next to it.
    comparable = {
        frozenset(value) if isinstance(value, list | tuple) else (type(value), value)
        for value in values
    }
    return len(comparable) <= 1


# ---- RAGBench ------------------------------------------------------------------------------------


@accepts()
def write_ragbench(
    responses: pd.DataFrame, log: str | Path | AnnotationSession, path: str | Path
) -> dict[str, int]:
    """Write responses and their TRACe labels as RAGBench's JSON Lines, which `ragnb.load_ragbench` reads.

    Only items that are fully labelled are written. The returned counts are the number of written items, and the
    number of omitted items by status: ``{"written": 40, "started": 2, "skipped": 1, "untouched": 7}``. An
    ``example_id`` of two parts (``"covidqa_test/778"``) becomes ``dataset_name`` and ``id``. Published scores and
    explanations are not written, because they belong to other labels.

    Parameters
    ----------
    responses
        The responses that were labelled.
    log
        The log of the labels, or the session that wrote it.
    path
        The file to write.

    Raises
    ------
    InputError
        The log is of another task or no item is fully labelled, or `join_labels` or `ragnb.write_table` refuses its input.
    """
    labels = _labels_in(log)
    # The responses may have RAGBench's columns of labels already, so the columns do not show the task of the log.
    is_trace = isinstance(conversion_of(task_of(labels)), Trace)
    joined = join_labels(responses, labels, replace=True)
    complete = joined[joined["label_status"] == "labelled"]
    if not is_trace or complete.empty:
        raise InputError(
            "write_ragbench needs a log of the task 'trace' with at least one fully labelled item; "
            "for other tasks use join_labels"
        )
    parts = complete["example_id"].astype(str).str.rpartition("/")
    parts.columns = ["dataset_name", "slash", "id"]
    # An id of one part does not name the dataset, which may be in a column of its own.
    names = parts["dataset_name"].where(parts["slash"] == "/", complete.get("dataset_name"))
    complete = complete.assign(id=parts["id"], dataset_name=names)
    columns = [name for name in PUBLISHED if name in complete]
    write_table(complete[columns].rename(columns=PUBLISHED), path)
    statuses = joined["label_status"].tolist()
    omitted = {name: statuses.count(name) for name in ("started", "skipped", "untouched")}
    return {"written": len(complete), **omitted}
