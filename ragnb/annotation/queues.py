"""Queues of responses for human labels, and the use of these labels as verdicts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ragnb.annotation.items import item_ids
from ragnb.annotation.labels import id_columns, read_labels
from ragnb.annotation.session import AnnotationSession
from ragnb.annotation.tasks import read_task
from ragnb.arguments import accepts
from ragnb.cells import is_missing
from ragnb.columns import CONDITION, require_columns
from ragnb.ensemble.ensemble import BatchJudicator
from ragnb.errors import InputError
from ragnb.metrics.judged import is_accepted
from ragnb.reports.judge import JudgeReport


@accepts()
def deferral_queue(responses: pd.DataFrame, decisions: pd.DataFrame) -> pd.DataFrame:
    """Select the responses on which an ensemble abstains, with the least confident ones first.

    Parameters
    ----------
    responses
        Rows with the index labels of `decisions`; other rows are ignored.
    decisions
        The result of `ragnb.MetricEnsemble.decide`: ``abstained`` and ``probability``.

    Returns
    -------
    DataFrame
        Rows of `responses` with their index labels and columns; empty if the ensemble never abstains.

    Raises
    ------
    InputError
        A column is missing, an index label is not unique, or a decision is about another response.

    >>> decisions = pd.DataFrame({"probability": [0.9, 0.3, 0.55], "abstained": [False, True, True]})
    >>> deferral_queue(pd.DataFrame({"example_id": ["a", "b", "c"]}), decisions)["example_id"].tolist()
    ['c', 'b']
    """
    require_columns(decisions, ["probability", "abstained"], "deferral_queue")
    _rows(responses, decisions.index)  # for its checks
    abstained = decisions[decisions["abstained"].astype(bool)]
    # A probability near one half is the least confident. A stable sort keeps the order of equal ones.
    distance = (abstained["probability"] - 0.5).abs()
    return responses.loc[distance.sort_values(kind="stable").index]


@accepts()
def person_judicator(
    log: str | Path | AnnotationSession,
    responses: pd.DataFrame,
    *,
    field: str = "verdict",
    id: str | Sequence[str] | None = None,
) -> BatchJudicator:
    """Use a person's labels as the judicator of an ensemble: ``model.decide(X, person_judicator(log, responses))``.

    It reads the log at each call, so that labels which were added since the last call count. ``"correct"`` and True are
    accepted, and ``"incorrect"``, ``"refuse"`` and False are not. The verdict is None if the person has not labelled the
    response.

    Parameters
    ----------
    log
        Path of a log, or an open session.
    responses
        Rows with the index labels of X and the columns of `id`.
    field
        The field of the log's task that contains the verdict.
    id
        Column or columns of the items' ids; by default those that the log names.

    Raises
    ------
    InputError
        At a call: the task has no such field or its values are no verdicts, `responses` lacks an index label, or an id is
        missing or not unique.
    """

    def verdicts(labels: list[Any]) -> list[bool | None]:
        """Return the verdict on each row, None if the log has no label of it."""
        frame = read_labels(log)
        header = frame.attrs["header"]
        read_task(header["task"]).field(field)  # An unknown field raises InputError.
        rows = _rows(responses, labels)
        verdict_of = dict(zip(frame["item"], frame[field], strict=True))
        values = [verdict_of.get(item) for item in item_ids(rows, id or id_columns(header))]
        return [None if is_missing(value) else bool(is_accepted(value)) for value in values]

    return BatchJudicator(verdicts)


@accepts()
def review_queue(judged: JudgeReport) -> pd.DataFrame:
    """Select the responses on which a judge and people differ, with the largest differences first.

    Parameters
    ----------
    judged
        The result of `ragnb.judge_report`.

    Returns
    -------
    DataFrame
        The rows of ``judged.worst`` with all their columns. Each response is there once, because the ids of an annotator's
        items must be unique.
    """
    # Columns that identify a response.
    keys = [name for name in ("example_id", *CONDITION, "repeat", "model") if name in judged.worst]
    if not keys:
        return judged.worst
    return judged.worst[~judged.worst.duplicated(keys)]


def _rows(responses: pd.DataFrame, labels: Sequence[Any] | pd.Index) -> pd.DataFrame:
    """The responses with these index labels. A label that is missing or repeated raises InputError."""
    missing = [label for label in labels if label not in responses.index]
    problem = ""
    if missing:
        problem = f"none for {missing[0]!r}"
    elif not responses.index.is_unique:
        problem = "an index label twice"
    if problem:
        raise InputError(
            "responses must have unique index labels, and a row for each requested index label, got "
            f"{problem}; pass the responses from which X was computed"
        )
    return responses.loc[labels]
