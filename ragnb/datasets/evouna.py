"""EVOUNA: responses of five systems that people judged.

Wang et al., NeurIPS 2023 Datasets and Benchmarks, arXiv 2305.12421.
"""

from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import create_model

from ragnb.datasets.files import Record, Text, checked, json_items, locate, provenance
from ragnb.errors import InputError

SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")


_FIELDS: dict[str, Any] = {
    "question": (Text, ...),
    "golden_answer": (Text | None, ...),
    **{f"answer_{system}": (str | None, ...) for system in SYSTEMS},
    **{f"judge_{system}": (bool | None, ...) for system in SYSTEMS},
    "improper": (bool, False),
}
EvounaRecord = create_model("EvounaRecord", __base__=Record, **_FIELDS)
"""One question with the response of each system and a person's verdict on it.

One improper question of NQ has no golden answer.
"""


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
        judgement of a person: True, False, or None if there is none. ``improper`` marks questions
        that the annotators found faulty. They stay in the frame. Score the frame with
        ``ragnb.score(frame, "annotator.verdict")``.

    Raises
    ------
    InputError
        The name is unknown, the file is not a JSON list of records, or a record does not fit
        `EvounaRecord`.
    """
    path, name = locate(source, benchmark="evouna", samples={})
    rows: list[dict[str, Any]] = []
    for number, (item, where) in enumerate(json_items(path)):
        record = checked(EvounaRecord, item, where).model_dump()
        question = {
            "example_id": f"evouna/{number}",
            "benchmark": "evouna",
            "task": "open",
            "language": "en",
            "question": record["question"],
            "references": _references(record["golden_answer"]),
        }
        for system in SYSTEMS:
            judged = {
                "system": system,
                "response": record[f"answer_{system}"],
                "verdict": record[f"judge_{system}"],
                "improper": record["improper"],
            }
            rows.append(question | judged)
    if not rows:
        raise InputError(f"{path.name} must contain at least one question, got an empty list")
    frame = pd.DataFrame(rows)
    frame.attrs["source"] = provenance(path, name, benchmark="evouna", samples={})
    return frame


def _references(gold: str | None) -> list[list[str]] | None:
    if gold is None:
        return None
    variants = [variant.strip() for variant in gold.split("/") if variant.strip()]
    return [variants or [gold]]
