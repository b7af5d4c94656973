"""Likeness of meaning, from embeddings. The judged semantic score is another metric, with a name of its own."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragnb.errors import InputError


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
