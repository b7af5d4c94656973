"""What a person should look at next, and what the person said about it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ragnb.annotation.items import item_ids
from ragnb.annotation.labelled import Log, read_labelled
from ragnb.ensemble.ensemble import BatchJudicator
from ragnb.errors import InputError, as_real
from ragnb.metrics.judged import is_accepted
from ragnb.records import CONDITION, require_columns
from ragnb.reports.judge import JudgeReport
from ragnb.scoring.columns import numbers


def deferral_queue(responses: pd.DataFrame, decisions: pd.DataFrame) -> pd.DataFrame:
    """Responses on which an ensemble abstains, the least confident first (probability nearest to 1/2).

    Parameters
    ----------
    responses
        Rows with the index labels of `decisions`, and more if you like.
    decisions
        What `ragnb.MetricEnsemble.decide` returns: ``abstained`` and ``probability``.

    Returns
    -------
    DataFrame
        Rows of `responses` with their index labels and columns; empty if the ensemble never abstains.

    Raises
    ------
    InputError
        A missing column, index labels that are doubled, or decisions about other responses.

    >>> decisions = pd.DataFrame({"probability": [0.9, 0.3, 0.55], "abstained": [False, True, True]})
    >>> deferral_queue(pd.DataFrame({"example_id": ["a", "b", "c"]}), decisions)["example_id"].tolist()
    ['c', 'b']
    """
    require_columns(decisions, ["probability", "abstained"], "deferral_queue")
    parts = {
        name: numbers(decisions, name, "deferral_queue") for name in ("probability", "abstained")
    }
    decisions = decisions.assign(**parts)
    _check_index(responses, decisions.index.tolist())
    asked = decisions[decisions["abstained"].astype(bool)]
    distance = (asked["probability"] - 0.5).abs()
    return responses.loc[distance.sort_values(kind="stable").index]


def person_judicator(
    log: Log,
    responses: pd.DataFrame,
    *,
    field: str = "verdict",
    id: str | Sequence[str] | None = None,
) -> BatchJudicator:
    """A person's labels as the judicator of an ensemble: ``model.decide(X, person_judicator(log, responses))``.

    It reads the log at each call, so that the same judicator knows more once more is labelled. ``"correct"`` and True are
    accepted; ``"incorrect"``, ``"refuse"`` and False are not; None where the person has said nothing yet.

    Parameters
    ----------
    log
        Path of a log, or an open session.
    responses
        Rows with X's index labels and the columns of `id`.
    field
        The field of the log's task that holds the verdict.
    id
        Column or columns behind the items' ids; by default those that the log names.

    Raises
    ------
    InputError
        When it is asked: a field that the task has not or whose values are no verdicts, index labels that `responses` lacks,
        ids that are missing or doubled.
    """

    def verdicts(labels: list[Any]) -> list[bool | None]:
        labelled = read_labelled(log)
        labelled.task.field(field)
        _check_index(responses, labels)
        items = pd.Series(item_ids(responses, id or labelled.id), index=responses.index)
        known = {item: said.values.get((field, None)) for item, said in labelled.items.items()}
        return [_accepted(known.get(item)) for item in items.loc[labels]]

    return BatchJudicator(verdicts)


def review_queue(
    judged: JudgeReport | pd.DataFrame, *, judge: str = "judged_correct", threshold: float = 0.5
) -> pd.DataFrame:
    """The responses on which a person learns most about a judge, ready as examples of an annotation.

    Parameters
    ----------
    judged
        - a `ragnb.judge_report`, or its ``worst``: the responses on which judge and people differ, the widest gap first and,
          among equals, the more confident; a response that several judges got wrong comes once
        - responses with a judge's column and no label: those whose score is nearest to the threshold first, those without a
          score last
    judge, threshold
        Column of the judge's scores and where they become a yes; of responses without label only.

    Returns
    -------
    DataFrame
        Rows with all their columns, so that ``id`` works as it does for the responses.

    Raises
    ------
    InputError
        A missing column, or a threshold that is no score.
    """
    frame = judged.worst if isinstance(judged, JudgeReport) else judged
    if {"judge_verdict", "human_label", "disagreement"} <= set(getattr(frame, "columns", ())):
        keys = [name for name in ("example_id", *CONDITION, "repeat", "model") if name in frame]
        frame = frame.assign(disagreement=numbers(frame, "disagreement", "review_queue"))
        ordered = frame.sort_values("disagreement", ascending=False, kind="stable")
        return ordered[~ordered[keys].duplicated()] if keys else ordered
    require_columns(frame, [judge], "review_queue")
    if not 0 <= as_real(threshold) <= 1:
        raise InputError(
            f"review_queue(threshold=...) needs a score in [0, 1]; got {threshold!r}; 0.5 is usual"
        )
    distance = np.abs(numbers(frame, judge, "review_queue") - threshold)
    return frame.iloc[np.argsort(distance, kind="stable")]


def _accepted(value: Any) -> bool | None:
    return None if value is None else bool(is_accepted(value))


def _check_index(responses: pd.DataFrame, labels: list[Any]) -> None:
    require_columns(responses, (), "the queue of responses")
    doubled = responses.index[responses.index.duplicated()]
    if len(doubled):
        raise InputError(
            f"responses need index labels that tell them apart; got {doubled[0]!r} more than once; use "
            "reset_index(drop=True)"
        )
    missing = [label for label in labels if label not in responses.index]
    if missing:
        raise InputError(
            f"responses need a row for each index label that is asked about; got none for {len(missing)}, such as "
            f"{missing[0]!r}; pass the responses that X was made of"
        )
