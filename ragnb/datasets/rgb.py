"""The RGB benchmark (Chen et al., AAAI 2024, arXiv 2309.01431): its files as one validated frame."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.datasets.files import (
    guess_language,
    identifier,
    json_records,
    locate,
    provenance,
    refuse_duplicates,
    text,
    texts,
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
"""The embedded samples, name to file: base, integration (``int``) and counterfactual (``fact``), in English and Chinese."""


def load_rgb(source: str | Path, *, language: str | None = None) -> pd.DataFrame:
    """Examples of one RGB file, one row a question.

    Parameters
    ----------
    source
        A path to a file in RGB's format, a catalogue name (``"en_refine"``, ``"zh_int"``, ... see
        `ragnb.datasets.catalogue`), or the name of a small sample that ragnb's authors wrote themselves:
        ``"sample-en"``, ``"sample-en-int"``, ``"sample-en-fact"``, or the same with ``zh`` for Chinese.
    language
        Language code of the questions. By default it is identified from their text, with a warning unless it is English or
        Chinese.

    Returns
    -------
    DataFrame
        Columns ``example_id`` (``"en_fact/17"``: file and id), ``benchmark``, ``task``, ``language``, ``question``,
        ``references`` (list of parts, all needed; each a list of aliases, any will do), ``positive`` (list of groups of
        passages: one group, or one a part), ``negative``, ``positive_wrong``, ``false_answers``.
        ``task`` is told by the shape: ``"noise"`` (base files), ``"integration"`` (``positive`` holds lists) or
        ``"counterfactual"`` (there is a ``fakeanswer``). ``attrs["source"]`` says where the file came from.

    Raises
    ------
    InputError
        Unknown name, empty or binary file, malformed line, missing key, wrong type, duplicate id; the message names
        file, line and key.
    """
    path, name = locate(source, benchmark="rgb", samples=SAMPLES)
    rows = [_example(record, where) for record, where in json_records(path)]
    shapes = Counter(row["task"] for row in rows)
    if len(shapes) > 1:
        raise InputError(
            f"{path.name} needs questions of one shape; got {dict(shapes)}; keep one shape a file"
        )
    refuse_duplicates((row["example_id"] for row in rows), path.name)
    language = language or guess_language(row["question"] for row in rows)
    for row in rows:
        row.update(example_id=f"{name}/{row['example_id']}", benchmark="rgb", language=language)
    frame = pd.DataFrame(rows, columns=list(RGB_EXAMPLE))
    frame.attrs["source"] = provenance(path, name, benchmark="rgb", samples=SAMPLES)
    return frame


# ---- one line ----------------------------------------------------------------------------------------------------------


def _example(record: Mapping[str, Any], where: str) -> dict[str, Any]:
    fact = "positive_wrong" in record or "fakeanswer" in record
    wanted = [
        "id",
        "query",
        "answer",
        "positive",
        "negative",
        *(["fakeanswer", "positive_wrong"] if fact else []),
    ]
    missing = [key for key in wanted if key not in record]
    if missing:
        raise InputError(
            f"{where} needs the keys {', '.join(wanted)}; got none named {', '.join(missing)}; add them"
        )
    positive, grouped = _groups(record["positive"], where)
    wrong = texts(record["positive_wrong"], f"{where} key positive_wrong") if fact else []
    if fact and (grouped or len(wrong) != len(positive[0])):
        raise InputError(
            f"{where} key positive_wrong needs one passage for each of the {sum(map(len, positive))} in positive; "
            f"got {len(wrong)}; make both lists equally long"
        )
    return {
        "example_id": identifier(record["id"], f"{where} key id"),
        "task": "counterfactual" if fact else "integration" if grouped else "noise",
        "question": text(record["query"], f"{where} key query"),
        "references": _parts(record["answer"], f"{where} key answer"),
        "positive": positive,
        "negative": texts(record["negative"], f"{where} key negative"),
        "positive_wrong": wrong,
        "false_answers": _aliases(record["fakeanswer"], f"{where} key fakeanswer") if fact else [],
    }


def _groups(value: Any, where: str) -> tuple[list[list[str]], bool]:
    """Passages as groups, and whether the file grouped them (information integration)."""
    key = f"{where} key positive"
    if isinstance(value, list) and value and all(isinstance(group, list) for group in value):
        groups = [texts(group, f"{key}[{number}]") for number, group in enumerate(value)]
        if not all(groups):
            raise InputError(
                f"{key} needs at least one passage a group; got an empty group; remove or fill it"
            )
        return groups, True
    return [texts(value, key)], False


def _parts(value: Any, where: str) -> list[list[str]]:
    parts = value if isinstance(value, list) else [value]
    if not parts:
        raise InputError(
            f"{where} needs at least one answer part; got an empty list; add the answer"
        )
    return [_aliases(part, where) for part in parts]


def _aliases(value: Any, where: str) -> list[str]:
    aliases = value if isinstance(value, list) else [value]
    if not aliases:
        raise InputError(
            f"{where} needs at least one alias a part; got an empty list; add the answer"
        )
    return [text(alias, where) for alias in aliases]
