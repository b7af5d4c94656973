"""The two files of a run of LBRAG (kanoes/LBRAG-NEW): its answers, which `load_responses` reads, and its metrics."""

from collections.abc import Mapping
from math import nan
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.datasets.files import as_number, existing_file, is_blank, json_items
from ragnb.datasets.tables import renamed
from ragnb.errors import InputError
from ragnb.records import is_missing

ANSWERS = {
    "example_id": "sample_id",
    "language": "sample_lang",
    "references": "gold_answer",
    "response": "pred_answer",
}
"""ragnb's name and LBRAG's name of what tells a file of answers."""
RELEASED = ("em", "f1", "rlc", "rlc_ok", "translate_tokens", "semantic_score", "evidence")
"""What a run says of each answer; kept as ``released_em`` and so on."""
MEASURED = ("em", "f1", "rlc", "rlc_ok", "cost", "cnbe", "semantic_score")
FIELDS = (*(field for name in MEASURED for field in (name, f"{name}_std")), "n")
"""What a run says of each system: means, their standard deviations, number of questions."""


def is_answers(frame: pd.DataFrame) -> bool:
    """Whether a frame holds the answers of a run of LBRAG."""
    return set(ANSWERS.values()) <= set(frame.columns)


def named_answers(frame: pd.DataFrame) -> pd.DataFrame:
    """The answers of a run of LBRAG under ragnb's names: an empty gold answer is none, tokens are those of translations."""
    names = {theirs: ours for ours, theirs in ANSWERS.items()} | {
        name: f"released_{name}" for name in RELEASED
    }
    named = renamed(frame, names)
    named["references"] = [None if is_blank(gold) else gold for gold in frame["gold_answer"]]
    if "translate_tokens" in frame:
        named["translations"] = [
            _translations(count, row) for row, count in enumerate(frame["translate_tokens"])
        ]
    return named


def _translations(tokens: Any, row: int) -> list[dict[str, Any]]:
    count = 0 if is_missing(tokens) else as_number(tokens, f"row {row} key translate_tokens")
    return [{"token_count": count}] if count else []


def load_lbrag_metrics(source: str | Path) -> pd.DataFrame:
    """The metrics that a run of LBRAG wrote, one row a system.

    Parameters
    ----------
    source
        Path to a ``metrics.json``: ``{"metrics": {system: {"em": …, "em_std": …, …, "n": …}}}``.

    Returns
    -------
    DataFrame
        ``system`` and `FIELDS`, nan where the run did not write one (the first runs have no ``_std``); then whatever else a
        system has. ``attrs["run"]`` holds the rest of the document. The standard deviations are those of a sample (n - 1),
        and CNBE counts a question without translation as 0.

    Raises
    ------
    InputError
        A file that does not exist or is no such document, or a published field that is no number; the message names it.
    """
    path = existing_file(source, "load_lbrag_metrics")
    document = next((item for item, _ in json_items(path)), {})
    systems = _mapping(document.get("metrics"), f"{path.name} key metrics")
    named = {
        name: _mapping(values, f"{path.name} system {name}") for name, values in systems.items()
    }
    frame = pd.DataFrame(
        [
            {"system": name, **_fields(values, f"{path.name} system {name}")}
            for name, values in named.items()
        ]
    )
    frame.attrs["run"] = {key: value for key, value in document.items() if key != "metrics"}
    return frame


def _mapping(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict) or not value:
        got = "an empty object" if value == {} else type(value).__name__
        raise InputError(
            f"{where} needs an object of metrics by name; got {got}; is this the metrics.json of a run?"
        )
    return value


def _fields(values: Mapping[str, Any], where: str) -> dict[str, Any]:
    published = {field: _number(values.get(field), f"{where} key {field}") for field in FIELDS}
    return published | {key: value for key, value in values.items() if key not in FIELDS}


def _number(value: Any, where: str) -> float:
    if value is None:
        return nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(
            f"{where} needs a number; got {value!r}; write one, or null where there is none"
        )
    return as_number(value, where)
