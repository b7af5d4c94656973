"""Which questions to label next, drawn with probabilities that estimates can use."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ragnb.arguments import accepts
from ragnb.columns import column_names, require_columns
from ragnb.display import shown
from ragnb.errors import InputError
from ragnb.printing import inform
from ragnb.stats.sampled_labels import inclusion_probabilities, systematic_sample

# Columns with verdicts of judges, as shares or as 0 and 1.
JUDGES = ("judged_correct", "judge_verdict", "judge_score", "judged_similarity")


@accepts(n="size", judges=column_names, uniform_share="share")
def next_to_label(
    responses: pd.DataFrame,
    n: int,
    *,
    judges: str | Sequence[str] | None = None,
    label: str = "label",
    seed: int = 0,
    uniform_share: float = 0.5,
) -> pd.DataFrame:
    """Draw the questions to label next, more often those about which judges are uncertain.

    Parameters
    ----------
    responses
        One row per response, with ``example_id``. If it is the result of an earlier draw, with its
        columns and labels, questions that are labelled already are not drawn again.
    n
        Number of questions to draw. Each is labelled for all systems, so that they stay paired.
    judges
        Columns with the verdicts of judges, in [0, 1]. With several, the uncertainty is their
        disagreement; with one, it is how close its score is to 0.5. By default, those of
        ``judged_correct, judge_verdict, judge_score, judged_similarity`` that are there. Without any,
        all questions have the same probability.
    label
        Column of the labels, if there are some already.
    seed
        Of the draw. The same seed draws the same questions.
    uniform_share
        Share of the probability that all questions have alike. It bounds the weight of a label.

    Returns
    -------
    DataFrame
        All responses, with ``probability`` (with which their question is drawn, in this or an earlier
        draw) and ``to_label`` (whether it is drawn now). Pass the whole frame, with the labels, to
        ``ragnb.compare(scores, labels=...)``: the estimate needs the probabilities of all questions.

    Raises
    ------
    InputError
        A column is missing, a verdict is outside [0, 1], or there are fewer questions than `n`.

    Notes
    -----
    The questions are drawn by systematic sampling in a random order, so exactly `n` are drawn. After
    several draws, the probability of a question is that of being drawn in any of them.

    Examples
    --------
    >>> frame = pd.DataFrame({"example_id": ["a", "b", "c", "d"], "judged_correct": [0.5, 0.5, 0.0, 1.0]})
    >>> plan = next_to_label(frame, 2)
    >>> plan["probability"].tolist(), int(plan["to_label"].sum())
    ([0.75, 0.75, 0.25, 0.25], 2)
    """
    require_columns(responses, ["example_id"], "next_to_label")
    columns = column_names(judges) or [name for name in JUDGES if name in responses]
    require_columns(responses, columns, "next_to_label")
    questions = responses["example_id"]
    if questions.isna().any():
        raise InputError("next_to_label needs an example_id in every row")
    uncertainty = _uncertainty(responses[columns]).groupby(questions, sort=False).sum()
    is_labelled = pd.Series(False, uncertainty.index)
    if label in responses:
        is_labelled = responses[label].notna().groupby(questions, sort=False).any()
        if is_labelled.any() and "probability" not in responses:
            raise InputError(
                "next_to_label needs the column probability beside the labels, which says how the "
                "labelled questions were drawn; an earlier result of next_to_label has it"
            )
    open_questions = uncertainty.index[~is_labelled]
    if n > len(open_questions):
        raise InputError(
            f"n must be at most the number of questions without labels, {len(open_questions)}, got {n}"
        )
    now = inclusion_probabilities(uncertainty[open_questions], n, uniform_share=uniform_share)
    probability = pd.Series(now, open_questions).reindex(uncertainty.index)
    if is_labelled.any():
        probability = _overall(responses, probability, uncertainty, is_labelled, uniform_share)
    drawn = pd.Series(systematic_sample(now, seed), open_questions)
    drawn = drawn.reindex(uncertainty.index, fill_value=False)
    is_drawn = questions.map(drawn).astype(bool)
    inform(
        f"{n:,} of {len(open_questions):,} questions were drawn, {is_drawn.sum():,} rows to label: those "
        "where the column to_label is True"
    )
    return shown(
        responses.assign(
            probability=questions.map(probability).astype(float),
            to_label=is_drawn,
        )
    )


def _uncertainty(verdicts: pd.DataFrame) -> pd.Series:
    """Uncertainty of the judges about each response, from 0 to 0.5; 1 for all responses if there are no verdicts."""
    values = verdicts.apply(pd.to_numeric, errors="coerce").to_numpy(float)
    # Comparisons with nan, a missing verdict, are False.
    outside = values[(values < 0) | (values > 1)]
    if len(outside):
        raise InputError(f"verdicts of judges must be between 0 and 1, got {outside[0]:g}")
    # Missing verdicts say nothing, so they count as 0.5.
    values = np.where(np.isnan(values), 0.5, values)
    if values.shape[1] == 0:
        return pd.Series(1.0, verdicts.index)
    mean = values.mean(axis=1)
    # The standard deviation of a label that is 1 with the mean of the judges' verdicts.
    return pd.Series(np.sqrt(mean * (1 - mean)), verdicts.index)


def _overall(
    responses: pd.DataFrame,
    now: pd.Series,
    uncertainty: pd.Series,
    is_labelled: pd.Series,
    uniform_share: float,
) -> pd.Series:
    """Probability of being drawn in the earlier draws or in this one."""
    earlier = responses.groupby("example_id", sort=False)["probability"].first()
    # Had a labelled question still been open, its probability would have been that of an open one of
    # the same uncertainty.
    is_open = ~is_labelled
    mean = uncertainty[is_open].mean()
    times_mean = uncertainty / mean if mean > 0 else pd.Series(1.0, uncertainty.index)
    # As in `inclusion_probabilities`, a probability is proportional to this, up to 1. The open questions give the factor.
    relative = uniform_share + (1 - uniform_share) * times_mean
    scale = now[is_open].sum() / relative[is_open].sum()
    if_open = now.fillna((scale * relative).clip(upper=1.0))
    # Drawn earlier, or not earlier but now.
    return earlier + (1 - earlier) * if_open
