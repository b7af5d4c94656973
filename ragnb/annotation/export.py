"""Labels out of logs: as a frame, beside the responses that they are of, and as RAGBench writes them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.annotation.items import Item, build_items, item_ids
from ragnb.annotation.label_state import ItemLabels
from ragnb.annotation.labelled import Labelled, Log, read_frame, read_labelled
from ragnb.annotation.ragbench import ragbench_labels
from ragnb.annotation.tasks import Field
from ragnb.datasets.tables import write_table
from ragnb.errors import InputError, check_choice
from ragnb.records import is_missing, present

TRACE_COLUMNS = tuple(ragbench_labels({}, Item("", "", (), ())))
TOLD = ("status", "source", "flag", "note")
"""What else of a label stands beside a response, each with ``label_`` before its name."""


def read_labels(log: Log) -> pd.DataFrame:
    """The labels of a log, one row an item that was touched.

    Parameters
    ----------
    log
        Path of a log, or an open session; whoever writes to it.

    Returns
    -------
    DataFrame
        In the order in which items were first shown:

        - ``item``, and the columns that its id is made of
        - ``annotator``, ``task``
        - ``status``: ``"labelled"``, ``"started"``, ``"skipped"`` or ``"untouched"`` (a note or a flag only)
        - one column a field, None where it is untouched; a mapping from the sentence's key where a field is asked of each
        - ``source``: ``"human"``, ``"suggestion accepted"``, ``"suggestion changed"``, ``"adjudicated"``, ``"agreed"``;
          ``"mixed"`` where fields differ; None where there is no label
        - ``flag``, ``note``, ``seconds`` spent, ``time`` of the last change (None where none was needed)
        - ``sentences``: the keys of the item's sentences, in tasks that ask about them

        ``attrs["header"]`` is the log's first line.

    Raises
    ------
    InputError
        No such file, or no annotation log.
    """
    labelled = read_labelled(log)
    rows = [_row(item, labels, labelled) for item, labels in labelled.items.items()]
    names = _column_names(labelled, rows)
    frame = pd.DataFrame(
        {name: _column([row.get(name) for row in rows]) for name in names}, columns=names
    )
    frame.attrs["header"] = dict(labelled.header)
    return frame


def join_labels(
    responses: pd.DataFrame,
    log: Log | pd.DataFrame,
    *,
    id: str | Sequence[str] | None = None,
    unmatched: str = "error",
    replace: bool = False,
    check_texts: bool = True,
) -> pd.DataFrame:
    """Responses with one annotator's labels beside them, ready for `ragnb.score`; what is not labelled has none.

    Parameters
    ----------
    responses
        The examples that were labelled, whole or in part, with more rows or columns as you like.
    log
        Path of a log, an open session, or a frame of labels of one annotator.
    id
        Column or columns that tell the rows apart; by default those that the log names.
    unmatched
        Labels of items that `responses` lacks: ``"error"`` or ``"drop"``.
    replace
        Whether columns that `responses` has already, such as RAGBench's own labels, give way.
    check_texts
        Whether a row has to show the very texts that its labels were given to, as far as these are known: a log knows them,
        a frame does not. Needs the columns that the task shows.

    Returns
    -------
    DataFrame
        The rows and index of `responses`, one column a field (None, in truth values missing, where untouched; of task
        ``"trace"`` RAGBench's own columns of labels instead, published scores left alone), and ``annotator``,
        ``label_status``, ``label_source``, ``label_flag``, ``label_note``.

    Raises
    ------
    InputError
        Ids that are missing or doubled, labels without a row, columns that are there already, texts that have changed, or a
        frame of several annotators.
    """
    check_choice(unmatched, ("error", "drop"), "unmatched")
    labelled = _one(log)
    ids = item_ids(responses, id or labelled.id)
    if unmatched == "error":
        _check_rows(ids, labelled)
    added = _beside(responses, ids, labelled, id or labelled.id, check_texts)
    taken = [name for name in added if name in responses]
    if taken and not replace:
        raise InputError(
            f"join_labels needs responses without the columns that it adds; got {', '.join(taken)}; drop or rename them, "
            "or pass replace=True"
        )
    return responses.assign(**added)


def write_ragbench(responses: pd.DataFrame, log: Log, path: str | Path) -> dict[str, int]:
    """Write responses and their TRACe labels as RAGBench's JSON Lines, which `ragnb.load_ragbench` reads.

    Only items that are fully labelled are written; the returned counts say how many, and how many of each other status were
    left out: ``{"written": 40, "started": 2, "skipped": 1, "untouched": 7}``. An ``example_id`` of two parts
    (``"covidqa_test/778"``) becomes ``dataset_name`` and ``id``. Published scores and explanations are not written, for they
    are of other labels.

    Raises
    ------
    InputError
        A log of another task, another ending than ``.jsonl`` or ``.jsonl.gz``, none that is fully labelled, or as
        `join_labels`.
    """
    labelled = read_labelled(log)
    if labelled.task.name != "trace":
        raise InputError(
            f"write_ragbench needs a log of task 'trace'; got {labelled.task.name!r}; use join_labels"
        )
    if not str(path).lower().endswith((".jsonl", ".jsonl.gz")):
        raise InputError(
            f"write_ragbench needs a name that ends in .jsonl or .jsonl.gz; got {str(path)!r}; rename it"
        )
    joined = join_labels(responses, log, replace=True)
    whole = joined["label_status"] == "labelled"
    if not whole.any():
        raise InputError(
            f"write_ragbench needs items that are fully labelled; got none of {len(joined)}; finish some"
        )
    records = [_record(row) for row in joined[whole].to_dict("records")]
    write_table(pd.DataFrame(records, dtype=object), path)
    counts = Counter(joined["label_status"])
    return {
        "written": counts["labelled"],
        **{name: counts[name] for name in ("started", "skipped", "untouched")},
    }


# ---- a frame of labels -------------------------------------------------------------------------------------------------


def _row(item: str, labels: ItemLabels, labelled: Labelled) -> dict[str, Any]:
    named = labels.id or ({labelled.id: item} if isinstance(labelled.id, str) else {})
    return {
        "item": item,
        **named,
        "annotator": labelled.annotator,
        "task": labelled.task.name,
        "status": _status(labels, labelled),
        **labels.nested(),
        "source": _source(labels),
        "flag": labels.flag,
        "note": labels.note,
        "seconds": labels.seconds,
        "time": labels.time or None,
        "sentences": labels.sentences,
    }


def _status(labels: ItemLabels, labelled: Labelled) -> str:
    return (
        labels.status(labelled.task, labels.sentences.get("response", ()))
        if labels.touched
        else "untouched"
    )


def _source(labels: ItemLabels) -> str | None:
    sources = {said.get("source", "human") for said in labels.said.values()}
    return "mixed" if len(sources) > 1 else next(iter(sources), None)


def _column_names(labelled: Labelled, rows: list[dict[str, Any]]) -> list[str]:
    """All columns, those of the id only where every item has them."""
    columns = [labelled.id] if isinstance(labelled.id, str) else labelled.id
    known = [name for name in columns if all(name in row for row in rows)]
    fields = [asked.name for asked in labelled.task.fields]
    keys = ["sentences"] if any(_about_sentences(asked) for asked in labelled.task.fields) else []
    first = dict.fromkeys(["item", *known, "annotator", "task", "status"])
    return [*first, *fields, "source", "flag", "note", "seconds", "time", *keys]


def _about_sentences(asked: Field) -> bool:
    return asked.each or asked.kind == "sentences"


def _column(values: list[Any]) -> pd.Series:
    """Truth values, numbers, or anything; truth values with gaps stay truth values."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return pd.Series(values, dtype="boolean" if None in values else bool)
    return pd.Series(values, dtype="float64" if kinds == {float} else object)


# ---- beside the responses ----------------------------------------------------------------------------------------------


def _one(log: Log | pd.DataFrame) -> Labelled:
    if not isinstance(log, pd.DataFrame):
        return read_labelled(log)
    people = read_frame(log)
    if len(people) != 1:
        names = ", ".join(one.annotator for one in people) or "none"
        raise InputError(
            f"join_labels needs the labels of one annotator; got {names}; select the rows of one"
        )
    return people[0]


def _check_rows(ids: list[str], labelled: Labelled) -> None:
    known = set(ids)
    strangers = [repr(item) for item in labelled.items if item not in known]
    if strangers:
        listed = ", ".join(strangers[:10]) + (", ..." if len(strangers) > 10 else "")
        raise InputError(
            f"join_labels needs a row for each label; got none for {len(strangers)}: {listed}; add the rows, or pass "
            'unmatched="drop"'
        )


def _beside(
    responses: pd.DataFrame,
    ids: list[str],
    labelled: Labelled,
    id: str | Sequence[str],
    check_texts: bool,
) -> dict[str, pd.Series]:
    trace, untouched = labelled.task.name == "trace", ItemLabels()
    pinned = check_texts and any(labels.fingerprint for labels in labelled.items.values())
    items = _items(responses, ids, labelled, id) if trace or pinned else {}
    if pinned:
        _check_texts(items, labelled)
    rows = [
        _beside_one(labelled.items.get(name, untouched), items.get(name), labelled) for name in ids
    ]
    names = list(_beside_one(untouched, None, labelled))
    return {name: _column([row[name] for row in rows]).set_axis(responses.index) for name in names}


def _beside_one(labels: ItemLabels, item: Item | None, labelled: Labelled) -> dict[str, Any]:
    told, fields = _row("", labels, labelled), labels.nested()
    trace = labelled.task.name == "trace"
    said = (
        _trace(item, labels)
        if trace
        else {asked.name: fields.get(asked.name) for asked in labelled.task.fields}
    )
    annotator = labelled.annotator if labels.touched else None
    return {**said, "annotator": annotator, **{f"label_{name}": told[name] for name in TOLD}}


def _items(
    responses: pd.DataFrame, ids: list[str], labelled: Labelled, id: str | Sequence[str]
) -> dict[str, Item]:
    """The labelled rows as the annotator saw them."""
    kept = responses[[name in labelled.items for name in ids]]
    return {item.id: item for item in build_items(kept, labelled.task, id=id)} if len(kept) else {}


def _check_texts(items: Mapping[str, Item], labelled: Labelled) -> None:
    known = {name: labelled.items[name].fingerprint for name in items}
    stale = [
        name for name, item in items.items() if known[name] and known[name] != item.fingerprint
    ]
    if stale:
        raise InputError(
            f"labels of {labelled.annotator!r} need the texts that they were given to; {len(stale)} rows show others, such "
            f"as {stale[0]!r}; load the responses that were labelled, or pass check_texts=False"
        )


def _trace(item: Item | None, labels: ItemLabels) -> dict[str, Any]:
    """RAGBench's columns; the support is missing until every sentence has it, for a gap there would read as no support."""
    if item is None:
        return dict.fromkeys(TRACE_COLUMNS)
    found = ragbench_labels(labels.values, item)
    given = {(name, key) for name, key in labels.values if name in ("support", "supporting")}
    whole = len(given) == 2 * len(item.keys("response"))
    return (
        found
        if whole
        else {
            **found,
            "sentence_support_information": None,
            "unsupported_response_sentence_keys": None,
        }
    )


# ---- RAGBench's file ---------------------------------------------------------------------------------------------------

KEPT = ("language", "question_id")
"""Columns that RAGBench has not, written where the responses have them."""


def _record(row: Mapping[str, Any]) -> dict[str, Any]:
    dataset, _, identifier = str(row["example_id"]).rpartition("/")
    return {
        "id": identifier,
        **({"dataset_name": dataset} if dataset else {}),
        "question": row["question"],
        "documents": _documents(row),
        "response": _response(row),
        "generation_model_name": present(row.get("system")),
        "annotating_model_name": row["annotator"],
        "documents_sentences": _lists(row["documents_sentences"]),
        "response_sentences": _lists(row["response_sentences"]),
        **{name: row[name] for name in TRACE_COLUMNS},
        **{name: row[name] for name in KEPT if not is_missing(row.get(name))},
    }


def _documents(row: Mapping[str, Any]) -> list[str]:
    passages = row.get("passages")
    if passages is None or is_missing(passages):
        return [" ".join(text for _, text in document) for document in row["documents_sentences"]]
    return list(passages)


def _response(row: Mapping[str, Any]) -> str:
    written = row.get("response")
    return (
        written
        if isinstance(written, str)
        else " ".join(text for _, text in row["response_sentences"])
    )


def _lists(value: Any) -> Any:
    """Arrays and tuples, as Parquet and Python give them, as lists."""
    return value if isinstance(value, str) else [_lists(one) for one in value]
