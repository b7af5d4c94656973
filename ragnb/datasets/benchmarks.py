"""Benchmarks in one language, each file as one validated frame: RGB, RAGBench and EVOUNA.

- RGB: Chen et al., AAAI 2024, arXiv 2309.01431
- RAGBench: Friel et al. 2024, arXiv 2407.11005
- EVOUNA: Wang et al., NeurIPS 2023 Datasets and Benchmarks, arXiv 2305.12421
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import BeforeValidator, Field, create_model, model_validator

from ragnb.datasets.files import (
    Identifier,
    Record,
    Text,
    benchmark_frame,
    checked,
    json_records,
    kind_of,
    locate,
    parsed,
    read_records,
)
from ragnb.datasets.languages import common_language
from ragnb.errors import InputError
from ragnb.metrics.references import listed
from ragnb.prompts.parsing import parse_reply
from ragnb.prompts.template import Template
from ragnb.prompts.trace import with_response_key
from ragnb.records import (
    RAGBENCH_RESPONSE,
    RGB_EXAMPLE,
    flag_of,
    present,
    require_columns,
    truth_of,
)
from ragnb.text import keyed_response, keyed_sentences

RAGBENCH_SPLITS = ("train", "validation", "test")
# The systems of EVOUNA.
SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")


# ---- RGB -----------------------------------------------------------------------------------------

Aliases = Text | Annotated[list[Text], Field(min_length=1)]


class RgbRecord(Record):
    """One question of a base file, or of an integration file if ``positive`` contains lists."""

    id: Identifier
    query: Text
    answer: Text | Annotated[list[Aliases], Field(min_length=1)]
    positive: list[str] | list[Annotated[list[str], Field(min_length=1)]]
    negative: list[str]


class FactRecord(RgbRecord):
    """One question of a counterfactual file."""

    positive: list[str]
    fakeanswer: Aliases
    positive_wrong: list[str]


def load_rgb(source: str | Path, *, language: str | None = None) -> pd.DataFrame:
    """Load the examples of one RGB file, one row per question.

    Parameters
    ----------
    source
        A path to a file in RGB's format, a catalogue name (``"en_refine"``, ``"zh_int"``, ..., see
        `ragnb.datasets.catalogue`), or the name of a small sample that the authors of ragnb wrote:
        ``"sample-en"``, ``"sample-en-int"``, ``"sample-en-fact"``, or the same with ``zh`` for
        Chinese.
    language
        Language code of the questions. By default it is the language of most questions, identified
        from their text.

    Returns
    -------
    DataFrame
        Columns ``example_id`` (file and id, such as ``"en_fact/17"``), ``benchmark``, ``task``,
        ``language``, ``question``, ``references``, ``positive``, ``negative``, ``positive_wrong``
        and ``false_answers``. ``references`` is a list of parts, which are all needed. Each part
        is a list of aliases; any one of them is enough. ``positive`` is a list of groups of passages:
        a single group, or one group per part. ``task`` follows from the keys of the file:
        ``"noise"`` (base files), ``"integration"`` (``positive`` contains lists) or
        ``"counterfactual"`` (there is a ``fakeanswer``). ``attrs["source"]`` states where the file
        came from.

    Raises
    ------
    InputError
        The name is unknown, the file is empty or binary, a line is malformed or does not fit
        `RgbRecord` or `FactRecord`, or an id occurs twice. The message names file, line and key.
    """
    path, name = locate(source, benchmark="rgb")
    rows = [_example(record, where, name) for record, where in json_records(path)]
    tasks = sorted({row["task"] for row in rows})
    if len(tasks) > 1:
        raise InputError(
            f"{path.name}: all questions must be of one task, got {', '.join(tasks)}; split the file"
        )
    frame = benchmark_frame(rows, RGB_EXAMPLE, path, name, "rgb")
    require_columns(frame, (), path.name, unique=["example_id"])
    frame.loc[:, "language"] = language or common_language(frame["question"])
    return frame


def _example(line: Mapping[str, Any], where: str, name: str) -> dict[str, Any]:
    is_fact = "positive_wrong" in line or "fakeanswer" in line
    record: Any = checked(FactRecord if is_fact else RgbRecord, line, where)
    passages = record.positive
    is_grouped = bool(passages) and isinstance(passages[0], list)
    example = {
        "example_id": f"{name}/{record.id}",
        "benchmark": "rgb",
        "task": "integration" if is_grouped else "noise",
        "question": record.query,
        "references": [listed(part) for part in listed(record.answer)],
        "positive": passages if is_grouped else [passages],
        "negative": record.negative,
        "positive_wrong": [],
        "false_answers": [],
    }
    if is_fact:
        example["task"] = "counterfactual"
        example["positive_wrong"] = record.positive_wrong
        example["false_answers"] = listed(record.fakeanswer)
        if len(record.positive_wrong) != len(passages):
            raise InputError(
                f"{where}, key positive_wrong: must have one passage for each of the "
                f"{len(passages)} in positive, got {len(record.positive_wrong)}"
            )
    return example


# ---- RGB's own prompts ---------------------------------------------------------------------------

# Field of RGB's own prompts, with the braces doubled -> field of ragnb's templates.
_FIELDS = {"{{DOCS}}": "{passages}", "{{QUERY}}": "{question}"}


def load_rgb_instructions(source: str | Path = "rgb_instructions") -> dict[str, Template]:
    """Load RGB's own prompts as templates by language, for ``rgb_requests(prompt=...)``.

    Parameters
    ----------
    source
        A path to RGB's ``instruction.yaml``, or its catalogue name. The file belongs to the
        benchmark (CC BY-NC-SA 4.0) and is not a part of ragnb.

    Raises
    ------
    InputError
        The source is neither a path nor a known name, or a language lacks ``system`` or ``instruction``.

    >>> instructions = load_rgb_instructions("instruction.yaml")  # doctest: +SKIP
    >>> requests = rgb_requests(examples, prompt=instructions["en"])  # doctest: +SKIP
    """
    import yaml

    path, _ = locate(source, benchmark="rgb")
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
        prompts = {name: (texts["system"], texts["instruction"]) for name, texts in content.items()}
    # Deep nesting exceeds the recursion limit of the parser.
    except (
        *(yaml.YAMLError, ValueError, AttributeError, LookupError, TypeError),
        *(RecursionError, MemoryError),
    ) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise InputError(
            f"{path.name} must be YAML with system and instruction for each language ({reason})"
        ) from error
    templates = {}
    for language, texts in prompts.items():
        # All braces but those of RGB's fields belong to the text.
        system, user = (text.replace("{", "{{").replace("}", "}}") for text in texts)
        for theirs, ours in _FIELDS.items():
            if theirs not in user:
                raise InputError(
                    f"{path.name}, key {language}.instruction: must contain {theirs[1:-1]}, got "
                    f"{texts[1]!r:.60}"
                )
            user = user.replace(theirs, ours)
        templates[language] = Template(f"rgb.official.{language}", 1, system, user)
    return templates


# ---- RAGBench ------------------------------------------------------------------------------------


def _read_truth(value: Any) -> Any:
    """Return the truth value that a cell states, or the cell itself, which is then refused."""
    truth = flag_of(value)
    return value if truth is None else truth


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
_LABEL = "all_relevant_sentence_keys"


def load_ragbench(source: str | Path, *, language: str | None = None) -> pd.DataFrame:
    """Load the labelled responses of one RAGBench file, one row per response.

    Parameters
    ----------
    source
        A path to a file in RAGBench's format, as JSON Lines, Parquet (``.parquet``) or CSV
        (``.csv``, with lists as JSON or as Python prints them), a catalogue name
        (``"covidqa_test"``, ..., see `ragnb.datasets.catalogue`), or ``"sample-ragbench"``: a small
        multilingual sample that the authors of ragnb wrote and labelled.

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
        `RagbenchRecord`. The message names the file, the line (of CSV and Parquet: the row) and the
        key. Labels that contradict each other are not an error: see the ``issues`` of
        `ragnb.metrics.trace.trace_scores`.
    """
    path, name = locate(source, benchmark="ragbench")
    texts = {"response", *(name for name, kind in _OPTIONAL.items() if kind is str)}
    rows = []
    for number, (item, where) in enumerate(read_records(path), start=1):
        item = {"id": number, **_with_labels(item, where)}
        if kind_of(path) == "csv":  # an empty cell of a column of texts is an empty text
            item |= {key: "" for key in texts & item.keys() if item[key] is None}
        fields = checked(RagbenchRecord, item, where).model_dump()
        if fields["documents_sentences"] is None:
            fields["documents_sentences"] = keyed_sentences(fields["documents"])
        if fields["response_sentences"] is None:
            fields["response_sentences"] = keyed_response(fields["response"])
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


# ---- EVOUNA --------------------------------------------------------------------------------------


def _verdict(value: Any) -> Any:
    """A truth value that may be a word; the word nan and an empty text are no verdict."""
    word = str(present(value) or "").strip().lower()
    if value is None or isinstance(value, bool):
        return value
    if word in ("", "nan", "none", "null"):
        return None
    truth = truth_of(word)
    return value if truth is None else bool(truth)


# The published file of TQ has the word nan where there is no verdict.
Verdict = Annotated[bool | None, BeforeValidator(_verdict)]
Answer = Annotated[str | None, BeforeValidator(present)]
_JUDGED: dict[str, Any] = {
    "question": (Text, ...),
    "golden_answer": (Annotated[Text | None, BeforeValidator(present)], ...),
    **{f"answer_{system}": (Answer, ...) for system in SYSTEMS},
    **{f"judge_{system}": (Verdict, ...) for system in SYSTEMS},
    "improper": (bool, False),
}
# One question with the response of each system and a person's verdict on it. One improper question
# of NQ has no golden answer.
EvounaRecord = create_model("EvounaRecord", __base__=Record, **_JUDGED)


def load_evouna(source: str | Path) -> pd.DataFrame:
    """Load the judged responses of one EVOUNA file, one row per question and system.

    Parameters
    ----------
    source
        A path to a file in EVOUNA's format, or the catalogue name ``"evouna_nq"``.

    Returns
    -------
    DataFrame
        Columns ``example_id, benchmark, task, language, question, references, system, response,
        verdict, improper``. ``references`` is one part whose aliases are the gold variants, which
        the file separates by ``/``. It is None if the file has no answer. ``verdict`` is the
        judgement of a person: True, False, or None if there is none, for which the file may have
        the word ``nan``. ``improper`` marks questions
        that the annotators found faulty. They stay in the frame. Score the frame with
        ``ragnb.score(frame, "annotator.verdict")``.

    Raises
    ------
    InputError
        The name is unknown, the file is not a JSON list of records, or a record does not fit
        `EvounaRecord`.
    """
    path, name = locate(source, benchmark="evouna")
    rows: list[dict[str, Any]] = []
    for number, (item, where) in enumerate(json_records(path)):
        record = checked(EvounaRecord, item, where).model_dump()
        gold = record["golden_answer"]
        variants = [text.strip() for text in (gold or "").split("/") if text.strip()]
        for system in SYSTEMS:
            row = {
                "example_id": f"evouna/{number}",
                "benchmark": "evouna",
                "task": "open",
                "language": "en",
                "question": record["question"],
                "references": None if gold is None else [variants or [gold]],
                "system": system,
                "response": record[f"answer_{system}"],
                "verdict": record[f"judge_{system}"],
                "improper": record["improper"],
            }
            rows.append(row)
    return benchmark_frame(rows, (), path, name, "evouna")
