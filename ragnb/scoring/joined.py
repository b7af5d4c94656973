"""Scores next to the responses that they belong to."""

# Tested in tests/test_dashboards.py.

import pandas as pd

from ragnb.arguments import accepts
from ragnb.columns import CONDITION, require_columns
from ragnb.errors import InputError

# Columns that identify a response. A frame may have only some of them.
_IDENTIFYING = ("example_id", *CONDITION, "repeat", "turn", "request_key")


@accepts()
def with_scores(responses: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Add one column per metric to the responses, so that they can be read and sorted with their scores.

    Parameters
    ----------
    responses
        One row per response.
    scores
        Scores of these responses, as `ragnb.score` returns them, in any order.

    Returns
    -------
    DataFrame
        The responses in their order, with a column for each metric, such as ``answer.f1``. A response
        without a value has NaN. ``attrs["signatures"]`` maps each metric to its signatures.

    Raises
    ------
    InputError
        The frames share no column that identifies a response, two responses cannot be distinguished, or
        a response has several values of one metric, such as under two protocols.

    Examples
    --------
    >>> responses = pd.DataFrame({"example_id": ["q1", "q2"], "response": ["Oslo", "Rome"]})
    >>> scores = pd.DataFrame({"example_id": ["q2", "q1"], "metric": "answer.f1", "value": [0.0, 1.0]})
    >>> with_scores(responses, scores.assign(signature="s"))
      example_id response  answer.f1
    0         q1     Oslo        1.0
    1         q2     Rome        0.0
    """
    require_columns(scores, ["metric", "value"], "with_scores")
    keys = [name for name in _IDENTIFYING if name in responses and name in scores]
    if not keys:
        raise InputError(
            "with_scores needs a column that identifies a response in both frames, such as "
            f"example_id; the responses have {', '.join(map(str, responses))}"
        )
    require_columns(responses, (), "with_scores", unique=keys)
    repeated = scores.duplicated([*keys, "metric"])
    if repeated.any():
        row = scores[repeated].iloc[0]
        raise InputError(
            f"with_scores needs one value of each metric for a response, got several of "
            f"{row['metric']} for {row[keys[0]]}; select one definition first, such as one protocol"
        )
    values = scores.pivot(index=keys, columns="metric", values="value")
    # `pivot` sorts the metrics; this restores their order.
    values = values.reindex(columns=scores["metric"].unique())
    values.columns.name = None
    # Columns of scores that were added before are replaced.
    without_scores = responses.drop(columns=values.columns, errors="ignore")
    with_new_scores = without_scores.join(values, on=keys)
    if "signature" in scores:
        signatures = scores.groupby("metric", sort=False)["signature"].unique().map(list)
        with_new_scores.attrs["signatures"] = signatures.to_dict()
    return with_new_scores
