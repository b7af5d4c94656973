"""Likeness of meaning: a judge's score and verdict against the references, and the cosine of embeddings.

Judges' values come from `ragnb.experiments.judges`. They and the cosine are different metrics, each with a name of its own.
"""

import math
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragnb.errors import InputError
from ragnb.metrics.verdict import binary_verdict


def judged_similarity(score: float | None) -> float:
    """How far a response means what the references say, as a judge scores it (the judged semantic score).

    Higher is better; in [0, 1]; nan where there is no score: no response or an empty one, no reference, or a judge's reply
    that could not be read. The published code has 0.0 for empty texts and failed calls and for replies that it cannot
    read, and clips a score beyond the range; such zeros enter its mean.

    Parameters
    ----------
    score
        The judge's score; None or nan where there is none.

    Raises
    ------
    InputError
        A score that is no number in [0, 1].

    Source: the idea is that of kanoes/LBRAG-NEW, experiments/scripts/experiment.py; prompt and unscored cases are ours. The
    judge model belongs to the value's name.

    >>> judged_similarity(0.75), judged_similarity(None)
    (0.75, nan)
    """
    if score is None or (isinstance(score, float) and math.isnan(score)):
        return math.nan
    if isinstance(score, bool) or not isinstance(score, Real) or not 0 <= score <= 1:
        raise InputError(f"a judge's score needs to be a number in [0, 1] or None; got {score!r}; map yours to these")
    return float(score)


def judged_correctness(verdict: float | None) -> float:
    """Judged correctness of one response: 1.0 when a judge finds it correct by the references.

    Higher is better; 0.0 or 1.0; nan where there is no verdict, as in `judged_similarity`.

    Raises
    ------
    InputError
        A verdict other than 0 and 1.

    Source: ours; the prompt is `ragnb.prompts.answer_judges.CORRECTNESS`. The judge model belongs to the value's name.

    >>> judged_correctness(1), judged_correctness(False)
    (1.0, 0.0)
    """
    return binary_verdict(verdict)


def embedding_cosine(a: ArrayLike, b: ArrayLike) -> float:
    """Cosine of the angle between two embeddings.

    Higher is more alike; in [-1, 1]; nan when either vector is zero.

    An offline companion of the judged semantic score, not a stand-in: embeddings call a wrong number or name of the right
    kind alike. Which model made the vectors belongs to the value's name.

    Parameters
    ----------
    a, b
        One-dimensional vectors of the same length.

    Raises
    ------
    InputError
        Vectors of different or no length, of another shape, or with entries that are no finite numbers.

    a·b / (‖a‖ ‖b‖), each vector first divided by its largest absolute entry, so that nothing overflows.

    Source: the cosine's definition; embeddings of response and reference as its vectors are our choice.

    >>> round(embedding_cosine([1, 2, 2], [2, 1, 2]), 4), embedding_cosine([0, 0], [1, 0])
    (0.8889, nan)
    """
    first, second = _vector(a), _vector(b)
    if first.shape != second.shape:
        raise InputError(
            f"cosine needs vectors of the same length; got {first.size} and {second.size}; use one model for both"
        )
    if not (first.any() and second.any()):
        return math.nan
    first, second = first / np.abs(first).max(), second / np.abs(second).max()
    cosine = first @ second / math.sqrt((first @ first) * (second @ second))
    return float(min(1.0, max(-1.0, cosine)))


def _vector(values: ArrayLike) -> NDArray[np.float64]:
    try:
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"cosine needs vectors of numbers; got something else ({error}); pass embeddings") from error
    if vector.ndim != 1 or not vector.size or not np.isfinite(vector).all():
        raise InputError(
            f"cosine needs one-dimensional vectors of finite numbers; got shape {vector.shape}; pass one embedding each"
        )
    return vector
