"""Responses as files that other tools read."""

# Tested in tests/datasets/test_formats_of_tools.py.

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.arguments import accepts
from ragnb.cells import present
from ragnb.columns import require_columns
from ragnb.errors import InputError
from ragnb.passages import passage_texts
from ragnb.text import well_formed

Writes = Callable[[pd.DataFrame, pd.DataFrame | None], str]


def _ragas(responses: pd.DataFrame, scores: pd.DataFrame | None) -> str:
    """Lines for ``ragas.EvaluationDataset.from_jsonl``, a format without systems and scores."""
    if responses["system"].nunique() > 1 or scores is not None:
        raise InputError(
            "files of ragas contain one system and no scores; export the responses of each system "
            "to a separate file, without scores="
        )
    lines = []
    for row in responses.to_dict("records"):
        sample = {
            "user_input": row["question"],
            "retrieved_contexts": passage_texts(row.get("passages")),
            "response": present(row["response"]),
            # ragas has one text as the reference: the first alias of each part.
            "reference": "; ".join(_targets(row)) or None,
        }
        sample = {name: value for name, value in sample.items() if value is not None}
        lines.append(json.dumps(sample, ensure_ascii=False) + "\n")
    return "".join(lines)


def _inspectorraget(responses: pd.DataFrame, scores: pd.DataFrame | None) -> str:
    """A document of InspectorRAGet, with the scores as metrics."""
    # Example and system -> metric -> score, as InspectorRAGet has it.
    scores_of_response: dict[Any, dict[str, Any]] = {}
    metrics = []
    if scores is not None:
        metrics = [*scores["metric"].unique()]
        for row in scores.dropna(subset=["value"]).to_dict("records"):
            annotations = scores_of_response.setdefault((row["example_id"], row["system"]), {})
            annotations[row["metric"]] = {"system": {"value": float(row["value"])}}
    # Each distinct passage is one document, whose id is a number.
    ids_of_passages: dict[str, str] = {}
    tasks: dict[Any, dict[str, Any]] = {}
    evaluations = []
    for row in responses.to_dict("records"):
        key, system = row["example_id"], row["system"]
        contexts = []
        for passage in passage_texts(row.get("passages")) or []:
            document_id = ids_of_passages.setdefault(passage, str(len(ids_of_passages)))
            contexts.append({"document_id": document_id})
        task = {
            "task_id": str(key),
            "task_type": "rag",
            "input": [{"speaker": "user", "text": row["question"]}],
            "contexts": contexts,
            "targets": [{"text": text} for text in _targets(row)],
        }
        # The question and its references are those of the first system that answered it.
        tasks.setdefault(key, task)
        evaluation = {
            "task_id": str(key),
            "model_id": system,
            "model_response": present(row["response"]) or "",
            "contexts": contexts,
            "annotations": scores_of_response.get((key, system), {}),
        }
        evaluations.append(evaluation)
    document = {
        "name": "responses",
        "models": [
            {"model_id": name, "name": name, "owner": ""} for name in responses["system"].unique()
        ],
        "metrics": [
            {
                "name": name,
                "display_name": name,
                "author": "algorithm",
                "type": "numerical",
                "aggregator": "average",
            }
            for name in metrics
        ],
        "documents": [
            {"document_id": number, "text": text} for text, number in ids_of_passages.items()
        ],
        "tasks": [*tasks.values()],
        "evaluations": evaluations,
    }
    return json.dumps(document, ensure_ascii=False)


def _targets(row: dict[str, Any]) -> list[str]:
    """The first alias of each part of the reference."""
    parts = present(row.get("references"))
    # The parts may be a NumPy array, as a Parquet file has them, which cannot be tested for truth.
    return [] if parts is None else [aliases[0] for aliases in parts]


# Name of a format -> the text of its file, made of responses and, if it has any, scores.
EXPORTS: dict[str, Writes] = {"ragas": _ragas, "inspectorraget": _inspectorraget}


@accepts(format=tuple(EXPORTS))
def export_responses(
    responses: pd.DataFrame,
    path: str | Path,
    *,
    format: str,
    scores: pd.DataFrame | None = None,
) -> Path:
    """Write responses as a file that another tool reads.

    Parameters
    ----------
    responses
        As `ragnb.load_responses` returns them, one row per question and system.
    path
        The file; an existing one is replaced.
    format
        ``"ragas"``: JSON Lines for ``EvaluationDataset.from_jsonl``, with one system only.
        ``"inspectorraget"``: a JSON file that InspectorRAGet opens, with all systems. A reference
        of several parts becomes one text for ragas, and several targets for InspectorRAGet. Both
        use the first alias of each part.
    scores
        For InspectorRAGet: scores of these responses, which become its metrics. Responses that have
        no score under a metric are left out of it.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        The format is unknown, a column is missing, a system has a question twice, or the format
        is ``"ragas"`` and there are several systems.

    Examples
    --------
    >>> import tempfile
    >>> row = {"example_id": ["q"], "system": "a", "question": "Who?", "response": "Ann"}
    >>> path = f"{tempfile.mkdtemp()}/responses.jsonl"
    >>> file = export_responses(pd.DataFrame(row), path, format="ragas")
    >>> file.read_text()
    '{"user_input": "Who?", "response": "Ann"}\\n'
    """
    needed = ("example_id", "system", "question", "response")
    require_columns(responses, needed, "export_responses", unique=("example_id", "system"))
    if scores is not None:
        require_columns(scores, ("example_id", "system", "metric", "value"), "export_responses")
    file = Path(os.path.expanduser(path))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(well_formed(EXPORTS[format](responses, scores)), encoding="utf-8")
    return file
