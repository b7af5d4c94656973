"""Metrics from the judgements of models and people, and the cosine similarity of embeddings.

`ragnb.experiments.judges.judge_responses` adds a model's judgements to the responses. All functions
raise InputError for a value that is not allowed.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ragnb.errors import InputError, as_real
from ragnb.metrics.record import metric
from ragnb.records import is_missing

ACCEPTED = {"correct": 1.0, "incorrect": 0.0, "refuse": 0.0}
"""Verdict -> value. A refusal is not accepted as an answer."""
NEVER_JUDGED = "Never if there is a verdict."


def binary_verdict(verdict: float | None) -> float:
    """Convert a verdict to a value: 1.0 for yes, 0.0 for no, NaN if missing.

    >>> binary_verdict(True), binary_verdict(None)
    (1.0, nan)
    """
    if is_missing(verdict):
        return math.nan
    if as_real(verdict) not in (0.0, 1.0):
        raise InputError(f"a verdict must be 0, 1 or None, got {verdict!r}")
    return float(verdict)  # type: ignore[arg-type]


@metric(
    "semantic.judged_similarity",
    {"score": "judged_similarity"},
    source="ours, after the judged score of kanoes/LBRAG-NEW experiments/scripts/experiment.py; "
    "responses that are empty or have an unreadable judgement are not scored",
    undefined="Never if there is a score.",
)
def judged_similarity(score: float | None) -> float:
    """Judge's score for the semantic similarity of a response and its reference.

    The value is in [0, 1]; higher is better. The score comes from
    ``ragnb.experiments.judges.judge_responses(..., "similarity")`` with the prompt
    `ragnb.prompts.judges.SIMILARITY`. The name of the judge model is recorded in the signature of
    the score.

    The value is NaN if there is no score, because the response is missing or empty, the reference
    is missing, or the judge's reply could not be parsed. The published code gives 0.0 in these
    cases, and includes these zeros in its mean.

    Notes
    -----
    Source: kanoes/LBRAG-NEW, experiments/scripts/experiment.py, except for the prompt and the
    treatment of missing scores.

    Examples
    --------
    >>> judged_similarity(0.75), judged_similarity(None)
    (0.75, nan)
    """
    if is_missing(score):
        return math.nan
    if not 0 <= as_real(score) <= 1:
        raise InputError(f"a judge's score must be between 0 and 1, or None, got {score!r}")
    return float(score)  # type: ignore[arg-type]


@metric(
    "semantic.judged_correctness",
    {"verdict": "judged_correct"},
    source="ours: the verdict of a judge who is given the references",
    binary=True,
    undefined=NEVER_JUDGED,
)
def judged_correctness(verdict: float | None) -> float:
    """1.0 if a judge who is given the references finds the response correct, else 0.0.

    Higher is better. The verdict comes from ``ragnb.experiments.judges.judge_responses(...,
    "correctness")`` with the prompt `ragnb.prompts.judges.CORRECTNESS`, or from
    ``"bare_correctness"`` with the prompt `ragnb.prompts.judges.BARE_CORRECTNESS`. The value is NaN
    if there is no verdict. The name of the judge model is recorded in the signature of the score.

    Notes
    -----
    Source: ours.

    Examples
    --------
    >>> judged_correctness(1), judged_correctness(False)
    (1.0, 0.0)
    """
    return binary_verdict(verdict)


@metric(
    "annotator.verdict",
    {"verdict": "verdict"},
    source="the annotator who filled the column `verdict`",
    binary=True,
    undefined=NEVER_JUDGED,
)
def is_accepted(verdict: bool | float | str | None) -> float:
    """1.0 if an annotator accepted the response, else 0.0.

    Higher is better. The value is NaN if there is no verdict (None or NaN).

    Parameters
    ----------
    verdict : bool, float, str or None
        True or False, 1 or 0, ``"correct"``, ``"incorrect"`` or ``"refuse"``.

    Notes
    -----
    Source: a human judgement; nothing is computed.

    Examples
    --------
    >>> is_accepted(True), is_accepted("incorrect")
    (1.0, 0.0)
    """
    value: Any = ACCEPTED.get(verdict, verdict) if isinstance(verdict, str) else verdict
    return binary_verdict(value)


@metric(
    "semantic.embedding_cosine",
    {"a": "response_embedding", "b": "reference_embedding"},
    bounds=(-1.0, 1.0),
    source="ours: the cosine similarity of two embeddings",
    undefined="If either embedding is zero.",
)
def embedding_cosine(a: ArrayLike, b: ArrayLike) -> float:
    """Cosine similarity between the embeddings of a response and its reference.

    The value is in [-1, 1], and higher means more similar. It is NaN if either embedding is zero.
    It is no measure of correctness: answers that differ only in a number or a name often have
    nearly identical embeddings. The name of the embedding model is recorded in the signature of the
    score.

    Parameters
    ----------
    a, b : 1-D array_like
        The two embeddings, of equal size.

    Notes
    -----
    The cosine similarity is a·b / (‖a‖ ‖b‖).

    Source: the definition of cosine similarity. To compare the whole response with the whole
    reference is our choice.

    Examples
    --------
    >>> round(embedding_cosine([1, 2, 2], [2, 1, 2]), 4), embedding_cosine([0, 0], [1, 0])
    (0.8889, nan)
    """
    first, second = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if first.ndim != 1 or first.shape != second.shape or not first.size:
        raise InputError(
            "embeddings must be one-dimensional and of one length, got shapes "
            f"{first.shape} and {second.shape}; use one model for both"
        )
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise InputError("embeddings must be finite numbers")
    lengths = np.linalg.norm(first) * np.linalg.norm(second)
    return float(np.clip(first @ second / lengths, -1, 1)) if lengths else math.nan
