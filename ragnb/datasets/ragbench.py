"""RAGBench (Friel et al. 2024, arXiv 2407.11005): its labelled responses as one validated frame."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.datasets.catalogue import RAGBENCH_SPLITS
from ragnb.datasets.files import (
    as_number,
    identifier,
    json_records,
    locate,
    parsed,
    provenance,
    text,
    texts,
)
from ragnb.datasets.tables import read_table
from ragnb.errors import InputError
from ragnb.records import RAGBENCH_RESPONSE, present

SAMPLES = {"sample-ragbench": "ragbench_sample.jsonl"}
Where = str
"""File, line and key of a value, for messages."""


def load_ragbench(source: str | Path, *, language: str | None = None) -> pd.DataFrame:
    """Labelled responses of one RAGBench file, one row a response.

    Parameters
    ----------
    source
        A path to a file in RAGBench's format, as JSON Lines, Parquet (``.parquet``) or CSV (``.csv``, lists written as JSON
        or as Python prints them); a catalogue name (``"covidqa_test"``, ... see `ragnb.datasets.catalogue`); or
        ``"sample-ragbench"``: the small multilingual sample that ragnb's authors wrote and labelled themselves.
    language
        Language code of the questions. By default the record's own ``language``, else ``"en"``.

    Returns
    -------
    DataFrame
        Columns ``example_id`` (``"covidqa_test/778"``: ``dataset_name`` and ``id``; the same for two systems' responses to
        a question), ``benchmark``, ``task`` (the corpus: ``"covidqa"``), ``language``, ``question``, ``passages`` (its
        ``documents``), ``system`` (its ``generation_model_name``), ``response``, ``split``, then all of RAGBench's columns
        under their own names. Published columns that a file lacks are None; further ones are kept as they are.
        ``attrs["source"]`` says where the file came from.

    Raises
    ------
    InputError
        Unknown name, empty or binary file, malformed line, missing key, wrong type; the message names file, line (of CSV and
        Parquet: row) and key. What labels merely contradict is no error: see the ``issues`` of
        `ragnb.metrics.trace.trace_scores`.
    """
    path, name = locate(source, benchmark="ragbench", samples=SAMPLES)
    rows = [_response(record, where, name, language) for record, where in _records(path)]
    if not rows:
        raise InputError(f"{path.name} needs at least one response; got none; check the download")
    columns = dict.fromkeys([*RAGBENCH_RESPONSE, *FIELDS, *(key for row in rows for key in row)])
    frame = pd.DataFrame({key: _column([row.get(key) for row in rows]) for key in columns})
    frame.attrs["source"] = provenance(path, name, benchmark="ragbench", samples=SAMPLES)
    return frame


def _response(
    record: Mapping[str, Any], where: Where, name: str, language: str | None
) -> dict[str, Any]:
    missing = [key for key in REQUIRED if key not in record]
    if missing:
        raise InputError(
            f"{where} needs the keys {', '.join(REQUIRED)}; got none named {', '.join(missing)}; add them"
        )
    fields = {key: _field(key, value, f"{where} key {key}") for key, value in record.items()}
    corpus, split = _corpus(fields.get("dataset_name") or name)
    return {
        **fields,
        "example_id": f"{fields.get('dataset_name') or name}/{fields['id']}",
        "benchmark": "ragbench",
        "task": corpus,
        "language": language or fields.get("language") or "en",
        "passages": fields["documents"],
        "system": fields.get("generation_model_name"),
        "split": split,
    }


def _corpus(dataset_name: str) -> tuple[str, str | None]:
    corpus, _, split = dataset_name.rpartition("_")
    return (corpus, split) if split in RAGBENCH_SPLITS else (dataset_name, None)


def _field(key: str, value: Any, where: Where) -> Any:
    if value is None and key not in REQUIRED:
        return None
    return FIELDS[key](value, where) if key in FIELDS else value


def _column(values: list[Any]) -> pd.Series:
    kinds = {type(value) for value in values}
    dtype = (
        bool
        if kinds == {bool}
        else float
        if float in kinds and kinds <= {float, type(None)}
        else object
    )
    return pd.Series(values, dtype=dtype)


# ---- the three kinds of file -------------------------------------------------------------------------------------------


def _records(path: Path) -> Iterator[tuple[Mapping[str, Any], Where]]:
    kind = path.suffix.lower()
    return (
        _csv_records(path)
        if kind == ".csv"
        else _parquet_records(path)
        if kind == ".parquet"
        else json_records(path)
    )


def _parquet_records(path: Path) -> Iterator[tuple[Mapping[str, Any], Where]]:
    columns = {name: values.tolist() for name, values in read_table(path).items()}
    for number, values in enumerate(zip(*columns.values(), strict=True), start=1):
        yield (
            dict(zip(map(str, columns), map(present, values), strict=True)),
            f"{path.name} row {number}",
        )


def _csv_records(path: Path) -> Iterator[tuple[Mapping[str, Any], Where]]:
    """Rows of a CSV file; an empty field is None unless it is a text."""
    try:
        content = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path.name} needs UTF-8 text; got {error.reason} at byte {error.start}; save it as UTF-8"
        ) from error
    limit = csv.field_size_limit(max(len(content), 1))
    try:
        rows = list(csv.reader(io.StringIO(content, newline=""), strict=True))
    except csv.Error as error:
        raise InputError(
            f"{path.name} needs comma-separated values; got {error}; write it again"
        ) from error
    finally:
        csv.field_size_limit(limit)
    for number, row in enumerate(rows[1:], start=1):
        where = f"{path.name} row {number}"
        if len(row) not in (0, len(rows[0])):
            raise InputError(
                f"{where} needs {len(rows[0])} fields, as the header; got {len(row)}; mend or remove the row"
            )
        if row:
            yield (
                {
                    key: value if value or key in MAY_BE_EMPTY else None
                    for key, value in zip(rows[0], row, strict=True)
                },
                where,
            )


# ---- one field ---------------------------------------------------------------------------------------------------------


def _any_text(value: Any, where: Where) -> str:
    if not isinstance(value, str):
        raise InputError(f"{where} needs a text; got {type(value).__name__}; write a JSON string")
    return value


def _keys(value: Any, where: Where) -> list[str]:
    return texts(parsed(value, where), where)


def _documents(value: Any, where: Where) -> list[list[list[str]]]:
    return [
        _sentences(document, f"{where}[{number}]")
        for number, document in enumerate(_list(value, where))
    ]


def _sentences(value: Any, where: Where) -> list[list[str]]:
    pairs = [texts(pair, f"{where}[{number}]") for number, pair in enumerate(_list(value, where))]
    for number, pair in enumerate(pairs):
        if len(pair) != 2:
            raise InputError(
                f"{where}[{number}] needs a [key, text] pair; got {len(pair)} texts; key each sentence"
            )
    return pairs


def _support(value: Any, where: Where) -> list[dict[str, Any]]:
    return [
        _sentence_support(label, f"{where}[{number}]")
        for number, label in enumerate(_list(value, where))
    ]


def _sentence_support(label: Any, where: Where) -> dict[str, Any]:
    if not isinstance(label, dict):
        raise InputError(
            f"{where} needs a mapping; got {type(label).__name__}; write one a response sentence"
        )
    absent = [
        key
        for key in ("response_sentence_key", "supporting_sentence_keys")
        if label.get(key) is None
    ]
    if absent:
        raise InputError(
            f"{where} needs {' and '.join(absent)}; got {', '.join(map(repr, label)) or 'nothing'}; add it"
        )
    fully = label.get("fully_supported")
    return {
        **label,
        "response_sentence_key": _any_text(
            label["response_sentence_key"], f"{where}.response_sentence_key"
        ),
        "supporting_sentence_keys": _keys(
            label["supporting_sentence_keys"], f"{where}.supporting_sentence_keys"
        ),
        "fully_supported": None if fully is None else _truth(fully, f"{where}.fully_supported"),
    }


def _truth(value: Any, where: Where) -> bool:
    known = {"true": True, "false": False, "1": True, "0": False, "1.0": True, "0.0": False}
    if str(value).lower() not in known:
        raise InputError(f"{where} needs true or false; got {value!r}; write a JSON boolean")
    return known[str(value).lower()]


def _list(value: Any, where: Where) -> list[Any]:
    items = parsed(value, where)
    if not isinstance(items, list):
        raise InputError(f"{where} needs a list; got {type(items).__name__}; write a JSON list")
    return items


FIELDS: dict[str, Callable[[Any, Where], Any]] = {
    "id": identifier,
    "question": text,
    "documents": _keys,
    "response": _any_text,
    "generation_model_name": _any_text,
    "annotating_model_name": _any_text,
    "dataset_name": _any_text,
    "documents_sentences": _documents,
    "response_sentences": _sentences,
    "sentence_support_information": _support,
    "unsupported_response_sentence_keys": _keys,
    "adherence_score": _truth,
    "overall_supported_explanation": _any_text,
    "relevance_explanation": _any_text,
    "all_relevant_sentence_keys": _keys,
    "all_utilized_sentence_keys": _keys,
    "trulens_groundedness": as_number,
    "trulens_context_relevance": as_number,
    "ragas_faithfulness": as_number,
    "ragas_context_relevance": as_number,
    "gpt3_adherence": as_number,
    "gpt3_context_relevance": as_number,
    "gpt35_utilization": as_number,
    "relevance_score": as_number,
    "utilization_score": as_number,
    "completeness_score": as_number,
    "overall_supported": _truth,
}
"""The published columns in their order, and `overall_supported`, each with what reads it."""

REQUIRED = (
    "id", "question", "documents", "response", "documents_sentences", "response_sentences", "all_relevant_sentence_keys",
    "all_utilized_sentence_keys", "sentence_support_information",
)  # fmt: skip
MAY_BE_EMPTY = frozenset(name for name, reader in FIELDS.items() if reader in (_any_text, text))
