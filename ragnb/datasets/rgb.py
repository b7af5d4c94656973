"""Load RGB (Chen et al., AAAI 2024, arXiv 2309.01431): questions with passages, and instructions."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import Field

from ragnb.arguments import accepts
from ragnb.columns import RGB_EXAMPLE, require_columns
from ragnb.datasets.files import benchmark_frame, locate
from ragnb.datasets.json_files import json_records
from ragnb.datasets.languages import as_language, common_language
from ragnb.datasets.validation import Identifier, Record, Text, checked
from ragnb.errors import InputError
from ragnb.metrics.references import listed
from ragnb.prompts.template import Template

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


@accepts(source="path", language=as_language)
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
    # The column exists already, because all columns of RGB do. `loc` keeps its type, which is object.
    frame.loc[:, "language"] = language or common_language(frame["question"])
    return frame


def _example(line: Mapping[str, Any], where: str, name: str) -> dict[str, Any]:
    """The row of one question, from one record of a file with this name."""
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


# Field of RGB's own prompts -> field of ragnb's templates. The braces of RGB are doubled, because those
# of the whole text are before the fields are replaced.
_FIELDS = {"{{DOCS}}": "{passages}", "{{QUERY}}": "{question}"}


@accepts()
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
