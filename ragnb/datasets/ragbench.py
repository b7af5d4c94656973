"""Load RAGBench (Friel et al. 2024, arXiv 2407.11005): responses with labels of sentences."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import BeforeValidator, Field, create_model, model_validator

from ragnb.arguments import accepts
from ragnb.cells import flag_of
from ragnb.columns import RAGBENCH_RESPONSE
from ragnb.datasets.files import CELLS, benchmark_frame, kind_of, locate
from ragnb.datasets.languages import as_language
from ragnb.datasets.literals import parsed
from ragnb.datasets.reading import read_records
from ragnb.datasets.validation import Identifier, Record, Text, checked
from ragnb.errors import InputError
from ragnb.prompts.parsing import parse_reply
from ragnb.prompts.trace import with_response_key
from ragnb.text import keyed_response, keyed_sentences

# Splits of the published files, with which the name of a data set ends.
RAGBENCH_SPLITS = ("train", "validation", "test")


def _read_truth(value: Any) -> Any:
    """Return the truth value that a cell states, or the cell itself, which the model then refuses."""
    truth = flag_of(value)
    return value if truth is None else truth


# A list may be written as a text.
Listed = BeforeValidator(parsed)
Keys = Annotated[list[str], Listed]
Pair = Annotated[list[str], Field(min_length=2, max_length=2)]
Sentences = Annotated[list[Pair], Listed]
Number = Annotated[float, Field(strict=False)]
Truth = Annotated[bool, BeforeValidator(_read_truth)]


class SupportLabel(Record, extra="allow"):
    """Which sentences of the documents support one sentence of the response."""

    response_sentence_key: str
    supporting_sentence_keys: Keys | None = None
    fully_supported: Truth | None = None

    _key_of_the_guide = model_validator(mode="before")(with_response_key)


# Columns of RAGBench that a file may lack, and `overall_supported`, which is not published.
_OPTIONAL: dict[str, Any] = {
    "generation_model_name": str,
    "annotating_model_name": str,
    "dataset_name": str,
    "unsupported_response_sentence_keys": Keys,
    "adherence_score": Truth,
    "overall_supported_explanation": str,
    "relevance_explanation": str,
    "trulens_groundedness": Number,
    "trulens_context_relevance": Number,
    "ragas_faithfulness": Number,
    "ragas_context_relevance": Number,
    "gpt3_adherence": Number,
    "gpt3_context_relevance": Number,
    "gpt35_utilization": Number,
    "relevance_score": Number,
    "utilization_score": Number,
    "completeness_score": Number,
    "overall_supported": Truth,
}


class LabellingReply(Record, extra="allow"):
    """The labels of one response, as RAGBench publishes them or as a judge's reply contains them."""

    sentence_support_information: Annotated[list[SupportLabel], Listed]
    all_relevant_sentence_keys: Keys
    all_utilized_sentence_keys: Keys


class _Labelled(LabellingReply):
    """One response with its labels, without the columns that a file may lack."""

    id: Identifier
    question: Text
    documents: Keys
    response: str
    documents_sentences: Annotated[list[Sentences], Listed] | None = None
    response_sentences: Sentences | None = None


_DEFAULTS: dict[str, Any] = {name: (kind | None, None) for name, kind in _OPTIONAL.items()}
# One labelled response.
RagbenchRecord = create_model("RagbenchRecord", __base__=_Labelled, **_DEFAULTS)
FIELDS = tuple(RagbenchRecord.model_fields)
# A column that all records with labels have.
_LABEL = "all_relevant_sentence_keys"


@accepts(source="path", language=as_language)
def load_ragbench(source: str | Path, *, language: str | None = None) -> pd.DataFrame:
    """Load the labelled responses of one RAGBench file, one row per response.

    Parameters
    ----------
    source
        A path to a file in RAGBench's format, as JSON, JSON Lines, Parquet, Arrow (also a folder that
        ``save_to_disk`` of Hugging Face datasets wrote), CSV or Excel (with lists as JSON or as
        Python prints them); a catalogue name (``"covidqa_test"``, ..., see
        `ragnb.datasets.catalogue`); or ``"sample-ragbench"``: a small multilingual sample that the
        authors of ragnb wrote and labelled.

        Your own file needs only ``question``, ``documents``, ``response`` and the labels
        ``all_relevant_sentence_keys``, ``all_utilized_sentence_keys`` and
        ``sentence_support_information``. The labels may also be in one column that contains a
        judge's reply, as JSON or as a text with JSON in it. Sentences that the file does not give
        are split and keyed as for the judge (`ragnb.text.keyed_sentences`). Without an ``id``, the
        number of the record is its id.
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
        `RagbenchRecord`. The message names the file, the line (or the row, if the file is not
        JSON) and the key. Labels that contradict each other are not an error: see the ``issues`` of
        `ragnb.metrics.trace.trace_scores`.
    """
    path, name = locate(source, benchmark="ragbench")
    columns_of_texts = {"response", *(name for name, kind in _OPTIONAL.items() if kind is str)}
    rows = []
    for number, (item, where) in enumerate(read_records(path), start=1):
        item = {"id": number, **_with_labels(item, where)}
        if kind_of(path) in CELLS:
            # CSV and Excel write an empty text as an empty cell. In a column of texts, it is not a missing value.
            item |= {key: "" for key in columns_of_texts & item.keys() if item[key] is None}
        fields = checked(RagbenchRecord, item, where).model_dump()
        if fields["documents_sentences"] is None:
            fields["documents_sentences"] = keyed_sentences(fields["documents"])
        if fields["response_sentences"] is None:
            fields["response_sentences"] = keyed_response(fields["response"])
        # In the published files, the name consists of the corpus and the split, as in "covidqa_test".
        dataset_name = fields["dataset_name"] or name
        corpus, _, split = dataset_name.rpartition("_")
        is_published = split in RAGBENCH_SPLITS
        row = {
            **fields,
            "id": str(fields["id"]),
            "example_id": f"{dataset_name}/{fields['id']}",
            "benchmark": "ragbench",
            "task": corpus if is_published else dataset_name,
            "language": language or fields.get("language") or "en",
            "passages": fields["documents"],
            "system": fields["generation_model_name"] or fields.get("system") or name,
            "split": split if is_published else None,
        }
        rows.append(row)
    return benchmark_frame(rows, [*RAGBENCH_RESPONSE, *FIELDS], path, name, "ragbench")


def _with_labels(item: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """Return a record with its labels, which may be in one column that contains a judge's reply."""
    if _LABEL in item:
        return item
    for name, value in item.items():
        if isinstance(value, Mapping) and _LABEL in value:
            return {**item, **value}
        if isinstance(value, str) and _LABEL in value:
            reply = parse_reply(value, LabellingReply)
            if reply.record is None:
                raise InputError(f"{where}, key {name}: {reply.reason}")
            return {**item, **reply.record.model_dump()}
    return item
