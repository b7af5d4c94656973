"""RAGBench (Friel et al. 2024, arXiv 2407.11005): its labelled responses as one validated frame."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import BeforeValidator, Field

from ragnb.datasets.catalogue import RAGBENCH_SPLITS
from ragnb.datasets.files import (
    Identifier,
    Record,
    Text,
    checked,
    json_records,
    locate,
    parsed,
    provenance,
)
from ragnb.datasets.separated import read_separated
from ragnb.datasets.tables import read_table
from ragnb.errors import InputError
from ragnb.records import RAGBENCH_RESPONSE, present

SAMPLES = {"sample-ragbench": "ragbench_sample.jsonl"}
_TRUTHS = {"true": True, "false": False, "1": True, "0": False, "1.0": True, "0.0": False}

Listed = BeforeValidator(parsed)
Keys = Annotated[list[str], Listed]
Pair = Annotated[list[str], Field(min_length=2, max_length=2)]
Sentences = Annotated[list[Pair], Listed]
Number = Annotated[float, Field(strict=False)]
Truth = Annotated[bool, BeforeValidator(lambda value: _TRUTHS.get(str(value).lower(), value))]


class SupportLabel(Record, extra="allow"):
    """Which sentences of the documents support one sentence of the response."""

    response_sentence_key: str
    supporting_sentence_keys: Keys
    fully_supported: Truth | None = None


class RagbenchRecord(Record, extra="allow"):
    """One labelled response, with the published columns in their order and `overall_supported`."""

    id: Identifier
    question: Text
    documents: Keys
    response: str
    generation_model_name: str | None = None
    annotating_model_name: str | None = None
    dataset_name: str | None = None
    documents_sentences: Annotated[list[Sentences], Listed]
    response_sentences: Sentences
    sentence_support_information: Annotated[list[SupportLabel], Listed]
    unsupported_response_sentence_keys: Keys | None = None
    adherence_score: Truth | None = None
    overall_supported_explanation: str | None = None
    relevance_explanation: str | None = None
    all_relevant_sentence_keys: Keys
    all_utilized_sentence_keys: Keys
    trulens_groundedness: Number | None = None
    trulens_context_relevance: Number | None = None
    ragas_faithfulness: Number | None = None
    ragas_context_relevance: Number | None = None
    gpt3_adherence: Number | None = None
    gpt3_context_relevance: Number | None = None
    gpt35_utilization: Number | None = None
    relevance_score: Number | None = None
    utilization_score: Number | None = None
    completeness_score: Number | None = None
    overall_supported: Truth | None = None


FIELDS = RagbenchRecord.model_fields
TEXTS = [name for name, field in FIELDS.items() if field.annotation in (str, str | None)]


def load_ragbench(source: str | Path, *, language: str | None = None) -> pd.DataFrame:
    """Load the labelled responses of one RAGBench file, one row per response.

    Parameters
    ----------
    source
        A path to a file in RAGBench's format, as JSON Lines, Parquet (``.parquet``) or CSV
        (``.csv``, with lists as JSON or as Python prints them), a catalogue name
        (``"covidqa_test"``, ..., see `ragnb.datasets.catalogue`), or ``"sample-ragbench"``: a small
        multilingual sample that the authors of ragnb wrote and labelled.
    language
        Language code of the questions. By default it is the record's own ``language``, or else
        ``"en"``.

    Returns
    -------
    DataFrame
        Columns ``example_id`` (``dataset_name`` and ``id``, such as ``"covidqa_test/778"``; the
        responses of two systems to a question share it), ``benchmark``, ``task`` (the corpus, such
        as ``"covidqa"``), ``language``, ``question``, ``passages`` (RAGBench's ``documents``),
        ``system`` (RAGBench's ``generation_model_name``), ``response`` and ``split``, then all
        columns of RAGBench under their own names. Published columns that a file lacks are None.
        Further columns are kept as they are. ``attrs["source"]`` states where the file came from.

    Raises
    ------
    InputError
        The name is unknown, the file is empty or binary, or a line is malformed or does not fit
        `RagbenchRecord`. The message names the file, the line (of CSV and Parquet: the row) and the
        key. Labels that contradict each other are not an error: see the ``issues`` of
        `ragnb.metrics.trace.trace_scores`.
    """
    path, name = locate(source, benchmark="ragbench", samples=SAMPLES)
    rows = [_response(item, where, name, language) for item, where in _records(path)]
    if not rows:
        raise InputError(f"{path.name} must contain at least one response, got none")
    columns = dict.fromkeys([*RAGBENCH_RESPONSE, *FIELDS, *(key for row in rows for key in row)])
    frame = pd.DataFrame({key: _column([row.get(key) for row in rows]) for key in columns})
    frame.attrs["source"] = provenance(path, name, benchmark="ragbench", samples=SAMPLES)
    return frame


def _response(
    item: Mapping[str, Any], where: str, name: str, language: str | None
) -> dict[str, Any]:
    fields = checked(RagbenchRecord, item, where).model_dump()
    dataset_name = fields["dataset_name"] or name
    corpus, split = _corpus(dataset_name)
    return {
        **fields,
        "id": str(fields["id"]),
        "example_id": f"{dataset_name}/{fields['id']}",
        "benchmark": "ragbench",
        "task": corpus,
        "language": language or fields.get("language") or "en",
        "passages": fields["documents"],
        "system": fields["generation_model_name"],
        "split": split,
    }


def _corpus(dataset_name: str) -> tuple[str, str | None]:
    corpus, _, split = dataset_name.rpartition("_")
    return (corpus, split) if split in RAGBENCH_SPLITS else (dataset_name, None)


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


def _records(path: Path) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Records of a JSON Lines, Parquet or CSV file, each with its place."""
    kind = path.suffix.lower()
    if kind not in (".csv", ".parquet"):
        yield from json_records(path)
        return
    frame = read_separated(path) if kind == ".csv" else read_table(path)
    if kind == ".csv":  # an empty cell of a column of texts is an empty text
        frame = frame.assign(**{name: frame[name].fillna("") for name in TEXTS if name in frame})
    for number, row in enumerate(frame.to_dict("records"), start=1):
        yield (
            {str(key): present(value) for key, value in row.items()},
            f"{path.name} row {number}",
        )
