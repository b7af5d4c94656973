"""Metrics from the judgements of models and people, and the cosine of embeddings.

`ragnb.experiments.judges.judge_responses` adds a model's judgements to the responses. All functions
raise InputError for a value that is not among the allowed ones.
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
NEVER_JUDGED = "Never where there is a verdict."


def binary_verdict(verdict: float | None) -> float:
    """Convert a verdict to a value: 1.0 for yes, 0.0 for no, nan if missing.

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
    "unreadable replies and empty responses are unscored",
    undefined="Never where there is a score.",
)
def judged_similarity(score: float | None) -> float:
    """Judge's score for the semantic similarity of response and reference.

    The value is in [0, 1]; higher is better. The score comes from
    ``ragnb.experiments.judges.judge_responses(..., "similarity")`` with the prompt
    `ragnb.prompts.judges.SIMILARITY`. The name of the judge model is part of the signature.

    The value is nan if there is no score, because the response is missing or empty, the reference
    is missing, or the judge's reply could not be parsed. The published code gives 0.0 in these
    cases, and these zeros are part of its mean.

    Source: kanoes/LBRAG-NEW, experiments/scripts/experiment.py, except for the prompt and the
    treatment of missing scores.

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
    source="ours: a judge's verdict by the references",
    binary=True,
    undefined=NEVER_JUDGED,
)
def judged_correctness(verdict: float | None) -> float:
    """1.0 if a judge finds the response correct given the references, else 0.0.

    Higher is better. The judgement comes from
    ``ragnb.experiments.judges.judge_responses(..., "correctness")`` with the prompt
    `ragnb.prompts.judges.CORRECTNESS`, or from ``"bare_correctness"`` with the prompt
    `ragnb.prompts.judges.BARE_CORRECTNESS`. The value is nan if there is no judgement. The
    name of the judge model is part of the signature.

    Source: ours.

    >>> judged_correctness(1), judged_correctness(False)
    (1.0, 0.0)
    """
    return binary_verdict(verdict)


@metric(
    "annotator.verdict",
    {"verdict": "verdict"},
    source="the annotator whose column `verdict` it is",
    binary=True,
    undefined=NEVER_JUDGED,
)
def is_accepted(verdict: bool | float | str | None) -> float:
    """1.0 if an annotator accepted the response, else 0.0.

    Higher is better. The value is nan if there is no verdict (None or nan).

    Parameters
    ----------
    verdict
        True or False, 1 or 0, ``"correct"``, ``"incorrect"`` or ``"refuse"``.

    Source: a human judgement; nothing is computed.

    >>> is_accepted(True), is_accepted("incorrect")
    (1.0, 0.0)
    """
    value: Any = ACCEPTED.get(verdict, verdict) if isinstance(verdict, str) else verdict
    return binary_verdict(value)


@metric(
    "semantic.embedding_cosine",
    {"a": "response_embedding", "b": "reference_embedding"},
    bounds=(-1.0, 1.0),
    source="ours: the cosine of two embeddings",
    undefined="Where either embedding is zero.",
)
def embedding_cosine(a: ArrayLike, b: ArrayLike) -> float:
    """Cosine of the embeddings of a response and its reference.

    The value is in [-1, 1], and higher means more similar. It is nan if either vector is zero. It
    cannot replace a measure of correctness: the embedding of a wrong number or name is close to
    that of the correct one. The name of the embedding model is part of the signature.

    cosine = a·b / (‖a‖ ‖b‖) for one-dimensional vectors of the same length.

    Source: the definition of the cosine; the choice of vectors is ours.

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
