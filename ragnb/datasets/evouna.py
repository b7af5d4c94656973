"""Load EVOUNA (Wang et al., NeurIPS 2023 Datasets and Benchmarks, arXiv 2305.12421): responses with verdicts."""

from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import BeforeValidator, create_model

from ragnb.arguments import accepts
from ragnb.cells import is_missing, present, truth_of
from ragnb.datasets.files import benchmark_frame, locate
from ragnb.datasets.json_files import json_records
from ragnb.datasets.validation import Record, Text, checked

# The systems of EVOUNA.
SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")


def _verdict(value: Any) -> Any:
    """A truth value that may be written as a word or as 0 or 1; None for the word nan and an empty text.

    Any other value is returned as it is, and the model of the record then refuses it.
    """
    if value is None or isinstance(value, bool):
        return value
    word = "" if is_missing(value) else str(value).strip().lower()
    if word in ("", "nan", "none", "null"):
        return None
    truth = truth_of(word)
    return value if truth is None else bool(truth)


# The published file of TQ has the word nan where there is no verdict.
Verdict = Annotated[bool | None, BeforeValidator(_verdict)]


Answer = Annotated[str | None, BeforeValidator(present)]


# Field of a record -> its type and its default; ``...`` means that the field is required.
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


@accepts(source="path")
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
        the word ``nan``. ``improper`` marks questions that the annotators found faulty. They stay
        in the frame. Score the frame with ``ragnb.score(frame, "annotator.verdict")``.

    Raises
    ------
    InputError
        The name is unknown, the file is not JSON or JSON Lines, or a record does not fit
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
                # A gold answer that consists of slashes is a text like any other.
                "references": None if gold is None else [variants or [gold]],
                "system": system,
                "response": record[f"answer_{system}"],
                "verdict": record[f"judge_{system}"],
                "improper": record["improper"],
            }
            rows.append(row)
    return benchmark_frame(rows, (), path, name, "evouna")
