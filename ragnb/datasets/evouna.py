"""EVOUNA (Wang et al., NeurIPS 2023 Datasets and Benchmarks, arXiv 2305.12421): answers of five systems judged by people."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.datasets.files import json_items, locate, provenance, text
from ragnb.errors import InputError

SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")


def load_evouna(source: str | Path) -> pd.DataFrame:
    """Judged responses of one EVOUNA file, one row a question and system.

    Parameters
    ----------
    source
        A path to a file in EVOUNA's format, or the catalogue name ``"evouna_nq"``.

    Returns
    -------
    DataFrame
        ``example_id, benchmark, task, language, question, references, system, response, verdict, improper``.
        ``references`` is one part whose aliases are the gold variants, which the file separates by ``/``; None where the
        file has no answer. ``verdict`` is the person's (True or False, None where there is none). ``improper`` marks
        questions that the annotators found faulty; they stay in the frame. Score it with
        ``ragnb.score(frame, "annotator.verdict")``.

    Raises
    ------
    InputError
        Unknown name, a file that is no JSON list of records, or a record without a field.
    """
    path, name = locate(source, benchmark="evouna", samples={})
    records = [item for item, _ in json_items(path)]
    if not records:
        raise InputError(
            f"{path.name} needs a JSON list of records; got an empty one; download it again"
        )
    rows = [
        row
        for number, record in enumerate(records)
        for row in _responses(record, f"evouna/{number}", path.name)
    ]
    frame = pd.DataFrame(rows)
    frame.attrs["source"] = provenance(path, name, benchmark="evouna", samples={})
    return frame


def _responses(record: Mapping[str, Any], example_id: str, file: str) -> Iterator[dict[str, Any]]:
    needed = [
        "question",
        "golden_answer",
        *(f"{kind}_{system}" for system in SYSTEMS for kind in ("answer", "judge")),
    ]
    missing = [name for name in needed if name not in record]
    if missing:
        raise InputError(
            f"{file} needs {', '.join(needed)}; got {example_id} without {', '.join(missing)}; mend it"
        )
    where = f"{file} {example_id} key"
    references = _references(record["golden_answer"], f"{where} golden_answer")
    for system in SYSTEMS:
        verdict = record[f"judge_{system}"]
        yield {
            "example_id": example_id,
            "benchmark": "evouna",
            "task": "open",
            "language": "en",
            "question": text(record["question"], f"{where} question"),
            "references": references,
            "system": system,
            "response": _response(record[f"answer_{system}"], f"{where} answer_{system}"),
            "verdict": verdict if isinstance(verdict, bool) else None,
            "improper": bool(record.get("improper", False)),
        }


def _references(gold: Any, where: str) -> list[list[str]] | None:
    if gold is None:  # an improper question of NQ
        return None
    variants = [variant.strip() for variant in text(gold, where).split("/") if variant.strip()]
    return [variants or [gold]]


def _response(value: Any, where: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise InputError(
            f"{where} needs a text, or null where there is none; got {type(value).__name__}; download it again"
        )
    return value
