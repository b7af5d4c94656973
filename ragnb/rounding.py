"""Equality within rounding error: the one rule by which numbers count as tied.

The same number can be computed in several ways, such as 0.3 and 0.1 + 0.2, or 0.05 and 1 - 0.95.
The results differ in the last digits. Functions that compare, rank or threshold numbers therefore
treat numbers as equal if they differ by at most `ROUNDING` times their magnitude.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Relative difference up to which two numbers are equal. It is several thousand times the rounding
# error of one operation, so that sums of many numbers are covered as well.
ROUNDING = 1e-12


def tied_levels(values: ArrayLike, scale: ArrayLike | None = None) -> NDArray[np.int64]:
    """Number the values along the last axis from 0 in ascending order, with equal numbers for tied values.

    Values are tied if they differ by at most `ROUNDING` times the scale. The scale is the magnitude of the
    numbers from which the values were computed, such as the largest term of a sum. If it is None, it is
    the larger of the two values that are compared, in absolute value.

    >>> tied_levels([0.3, 0.1 + 0.2, 0.5, 0.1])
    array([1, 1, 2, 0])
    """
    numbers = np.asarray(values, dtype=np.float64)
    if not numbers.size:
        return np.zeros(numbers.shape, dtype=np.int64)
    order = np.argsort(numbers, axis=-1, kind="stable")
    ascending = np.take_along_axis(numbers, order, axis=-1)
    lower, upper = ascending[..., :-1], ascending[..., 1:]
    magnitude = np.maximum(np.abs(lower), np.abs(upper)) if scale is None else np.asarray(scale)
    is_higher = upper - lower > ROUNDING * magnitude
    levels = np.zeros(numbers.shape, dtype=np.int64)
    levels[..., 1:] = np.cumsum(is_higher, axis=-1)
    # `levels` is in ascending order of the values; return to the order of the input.
    levels_of_values = np.empty_like(levels)
    np.put_along_axis(levels_of_values, order, levels, axis=-1)
    return levels_of_values


def largest_magnitude(values: ArrayLike) -> NDArray[np.float64]:
    """Largest absolute value along the last axis, which remains with length 1.

    Examples
    --------
    >>> largest_magnitude([[1.0, -3.0], [0.5, 0.0]]).tolist()
    [[3.0], [0.5]]
    """
    return np.abs(np.asarray(values, dtype=np.float64)).max(axis=-1, keepdims=True)
