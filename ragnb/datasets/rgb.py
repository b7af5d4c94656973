"""The RGB benchmark (Chen et al., AAAI 2024, arXiv 2309.01431): its files as one validated frame."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import Field

from ragnb.datasets.files import (
    Identifier,
    Record,
    Text,
    checked,
    guess_language,
    json_records,
    locate,
    provenance,
    refuse_duplicates,
)
from ragnb.errors import InputError
from ragnb.records import RGB_EXAMPLE

SAMPLES = {
    "sample-en": "rgb_sample_en.jsonl",
    "sample-en-int": "rgb_sample_en_int.jsonl",
    "sample-en-fact": "rgb_sample_en_fact.jsonl",
    "sample-zh": "rgb_sample_zh.jsonl",
    "sample-zh-int": "rgb_sample_zh_int.jsonl",
    "sample-zh-fact": "rgb_sample_zh_fact.jsonl",
}
"""The embedded samples, name to file: base, integration and counterfactual, in English and Chinese."""

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
        Language code of the questions. By default it is identified from their text. If the language
        is neither English nor Chinese, a warning asks for confirmation.

    Returns
    -------
    DataFrame
        Columns ``example_id`` (file and id, such as ``"en_fact/17"``), ``benchmark``, ``task``,
        ``language``, ``question``, ``references``, ``positive``, ``negative``, ``positive_wrong``
        and ``false_answers``. ``references`` is a list of parts, all of which are needed. Each part
        is a list of aliases, any of which is enough. ``positive`` is a list of groups of passages:
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
    path, name = locate(source, benchmark="rgb", samples=SAMPLES)
    rows = [_example(record, where) for record, where in json_records(path)]
    tasks = Counter(row["task"] for row in rows)
    if len(tasks) > 1:
        raise InputError(
            f"{path.name}: all questions must be of one task, got {dict(tasks)}; split the file"
        )
    refuse_duplicates((row["example_id"] for row in rows), path.name)
    language = language or guess_language(row["question"] for row in rows)
    for row in rows:
        row.update(example_id=f"{name}/{row['example_id']}", benchmark="rgb", language=language)
    frame = pd.DataFrame(rows, columns=list(RGB_EXAMPLE))
    frame.attrs["source"] = provenance(path, name, benchmark="rgb", samples=SAMPLES)
    return frame


def _example(line: Mapping[str, Any], where: str) -> dict[str, Any]:
    fact = "positive_wrong" in line or "fakeanswer" in line
    record = checked(FactRecord if fact else RgbRecord, line, where)
    passages: list[Any] = record.positive
    grouped = bool(passages) and isinstance(passages[0], list)
    example = {
        "example_id": str(record.id),
        "task": "integration" if grouped else "noise",
        "question": record.query,
        "references": [_listed(part) for part in _listed(record.answer)],
        "positive": passages if grouped else [passages],
        "negative": record.negative,
        "positive_wrong": [],
        "false_answers": [],
    }
    if isinstance(record, FactRecord):
        if len(record.positive_wrong) != len(passages):
            raise InputError(
                f"{where}, key positive_wrong: must have one passage for each of the "
                f"{len(passages)} in positive, got {len(record.positive_wrong)}"
            )
        example["task"] = "counterfactual"
        example["positive_wrong"] = record.positive_wrong
        example["false_answers"] = _listed(record.fakeanswer)
    return example


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
