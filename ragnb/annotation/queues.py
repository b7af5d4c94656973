"""Queues of responses for human labels, and the use of these labels as verdicts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ragnb.annotation.items import item_ids
from ragnb.annotation.labels import id_columns, read_labels
from ragnb.annotation.session import AnnotationSession
from ragnb.annotation.tasks import read_task
from ragnb.arguments import accepts
from ragnb.ensemble.ensemble import BatchJudicator
from ragnb.errors import InputError
from ragnb.metrics.judged import is_accepted
from ragnb.records import CONDITION, is_missing, require_columns
from ragnb.reports.judge import JudgeReport
from ragnb.scoring.columns import numbers


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
    _rows(responses, decisions.index)
    asked = decisions[decisions["abstained"].astype(bool)]
    distance = (asked["probability"] - 0.5).abs()
    return responses.loc[distance.sort_values(kind="stable").index]


def person_judicator(
    log: str | Path | AnnotationSession,
    responses: pd.DataFrame,
    *,
    field: str = "verdict",
    id: str | Sequence[str] | None = None,
) -> BatchJudicator:
    """Use a person's labels as the judicator of an ensemble: ``model.decide(X, person_judicator(log, responses))``.

    It reads the log at each call, so that it knows more once more is labelled. ``"correct"`` and True are accepted;
    ``"incorrect"``, ``"refuse"`` and False are not; the verdict is None if the person has not labelled the response.

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
        said = read_labels(log)
        read_task(said.attrs["header"]["task"]).field(field)
        rows = _rows(responses, labels)
        verdict = dict(zip(said["item"], said[field], strict=True))
        given = [verdict.get(item) for item in item_ids(rows, id or id_columns(said))]
        return [None if is_missing(value) else bool(is_accepted(value)) for value in given]

    return BatchJudicator(verdicts)


@accepts(threshold="share")
def review_queue(
    judged: JudgeReport | pd.DataFrame, *, judge: str = "judged_correct", threshold: float = 0.5
) -> pd.DataFrame:
    """Select the responses whose labels are most informative about a judge.

    Parameters
    ----------
    judged
        - a `ragnb.judge_report`, or its ``worst``: selects the responses on which judge and people differ, sorted by the
          size of the difference, then by the judge's confidence. Each response appears once
        - responses with a judge's column and no label: those with a score nearest to the threshold come first, those
          without a score last
    judge, threshold
        Column of the judge's scores, and the lowest score that means yes. They apply to responses without labels.

    Returns
    -------
    DataFrame
        The selected rows with all their columns, so that you can pass the same ``id`` to an annotator.

    Raises
    ------
    InputError
        A column is missing, or the threshold is not in [0, 1].
    """
    frame = judged.worst if isinstance(judged, JudgeReport) else judged
    if {"judge_verdict", "human_label", "disagreement"} <= set(frame.columns):
        keys = [name for name in ("example_id", *CONDITION, "repeat", "model") if name in frame]
        ordered = frame.sort_values("disagreement", ascending=False, kind="stable")
        return ordered[~ordered[keys].duplicated()] if keys else ordered
    require_columns(frame, [judge], "review_queue")
    distance = np.abs(numbers(frame, judge, "review_queue") - threshold)
    return frame.iloc[np.argsort(distance, kind="stable")]


def _rows(responses: pd.DataFrame, labels: Sequence[Any] | pd.Index) -> pd.DataFrame:
    """The responses with these index labels."""
    missing = [label for label in labels if label not in responses.index]
    if missing or not responses.index.is_unique:
        raise InputError(
            "responses must have unique index labels, and a row for each requested index label, got "
            f"{f'none for {missing[0]!r}' if missing else 'an index label twice'}; "
            "pass the responses from which X was computed"
        )
    return responses.loc[labels]
