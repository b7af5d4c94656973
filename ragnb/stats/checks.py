"""What the statistics accept: arrays of finite scores, 0/1 labels, counts, levels.

Each function returns the clean value or raises `InputError` with one sentence.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragnb.errors import InputError, as_real, check_choice
from ragnb.records import as_keys, is_missing
from ragnb.results import Interval, PairedTable, SignificanceResult

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

LARGEST = 1e50
"""Largest score, either way, and one over the least spread: powers of others would leave the floats."""
ALTERNATIVES = ("two-sided", "greater", "less")


def check_array(values: ArrayLike, what: str) -> Floats:
    """Return `values` as an array of floats of any shape.

    Raises
    ------
    InputError
        If they are not numbers, or lists of different lengths.
    """
    try:
        if np.asarray(values).dtype.kind in "cMm":
            raise TypeError("complex numbers or times")
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{what} needs numbers; it got something else ({error}); pass scores.") from error


def check_scores(values: ArrayLike, what: str = "values", *, largest: float = LARGEST) -> Floats:
    """Return `values` as a one-dimensional float array, all finite.

    Raises
    ------
    InputError
        If it has another shape, is not numeric, or holds nan, infinite values or any beyond `largest` either way.

    Examples
    --------
    >>> check_scores([True, False])
    array([1., 0.])
    """
    scores = check_array(values, what)
    if scores.ndim != 1:
        raise InputError(f"{what} needs a one-dimensional array; it got {scores.ndim} dimensions; pass one score each.")
    if scores.size and not np.isfinite(scores).all():
        bad = np.flatnonzero(~np.isfinite(scores))
        raise InputError(
            f"{what} needs finite scores; it got {bad.size} nan or infinite, the first at position {bad[0]}; "
            "drop those items and report how many."
        )
    top = np.abs(scores).max(initial=0.0)
    if top > largest:
        raise InputError(f"{what} needs scores up to {largest:g}; it got {top:g}; take another unit.")
    return scores


def check_aligned(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    """Return two finite arrays of the same length, one pair an item.

    Raises
    ------
    InputError
        If the lengths differ, or as `check_scores`.
    """
    left, right = check_scores(first, "first"), check_scores(second, "second")
    if left.size != right.size:
        raise InputError(
            f"A paired comparison needs one score of each system per item; it got {left.size} and {right.size}; "
            "align them by item id first."
        )
    return left, right


def check_differences(first: ArrayLike, second: ArrayLike | None) -> Floats:
    """Return the `paired_differences` of `first` and `second`, or `first` itself when `second` is None."""
    if second is None:
        return check_scores(first, "differences")
    return paired_differences(*check_aligned(first, second))


def paired_differences(first: Floats, second: Floats) -> Floats:
    """Return `first` - `second`, 0 where the two are apart by rounding error alone: at most 1e-12 of the larger one.

    Examples
    --------
    >>> paired_differences(np.array([0.1 + 0.2, 0.5]), np.array([0.3, 0.25]))
    array([0.  , 0.25])
    """
    differences = first - second
    return np.where(np.abs(differences) <= 1e-12 * np.maximum(np.abs(first), np.abs(second)), 0.0, differences)


def check_binary(values: ArrayLike, what: str = "labels") -> NDArray[np.bool_]:
    """Return `values` as booleans.

    Raises
    ------
    InputError
        If any value is neither 0 nor 1 (True, False), or as `check_scores`.
    """
    if isinstance(values, np.ndarray) and values.dtype == np.bool_ and values.ndim == 1:
        return values
    scores = check_scores(values, what)
    binary = scores != 0
    if not np.array_equal(binary, scores):
        odd = scores[(scores != 0) & (scores != 1)][0]
        raise InputError(f"{what} needs values 0 or 1; it got {odd:g}; use a test for graded scores.")
    return binary


def check_clusters(clusters: ArrayLike, n: int) -> tuple[Integers, int]:
    """Return cluster codes 0 .. G-1, one per item, and the number of clusters G.

    Raises
    ------
    InputError
        If there is not one cluster key per item, all of one kind.
    """
    keys = as_keys(clusters, "clusters")
    if keys.shape != (n,):
        raise InputError(f"clusters needs one key per item ({n}); it got shape {keys.shape}; pass the question id of each.")
    if any(map(is_missing, keys.tolist())) if keys.dtype == object else (keys != keys).any():
        raise InputError("clusters needs a key for every item; it got nan or None; give each item its question id.")
    try:
        names, codes = np.unique(keys, return_inverse=True)
    except TypeError as error:  # numbers beside texts
        raise InputError(
            f"clusters needs a key for every item, all of one kind; it got others ({error}); give each item its question id."
        ) from error
    return codes.astype(np.int64), names.size


def check_count(value: Any, what: str, minimum: int = 0) -> int:
    """Return `value` as an integer of at least `minimum`.

    Raises
    ------
    InputError
        If it is not a whole number or too small.
    """
    try:
        number = float(value) if np.ndim(value) == 0 else float("nan")
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not number.is_integer() or not minimum <= number < 2**63:
        raise InputError(f"{what} needs a whole number of at least {minimum}; it got {value!r}; pass a count.")
    return int(number)


def check_level(confidence_level: float) -> float:
    """Return `confidence_level` if it lies strictly between 0 and 1, else raise `InputError`."""
    if not 0 < as_real(confidence_level) < 1:
        raise InputError(
            f"confidence_level needs a number between 0 and 1; it got {confidence_level!r}; write 0.95 for 95 %."
        )
    return float(confidence_level)


def check_number(value: Any, what: str) -> float:
    """Return `value` as a float if it is a finite number, else raise `InputError`."""
    if not np.isfinite(as_real(value)):
        raise InputError(f"{what} needs a finite number; it got {value!r}; pass one.")
    if abs(value) > LARGEST:
        raise InputError(f"{what} needs a number up to {LARGEST:g}; it got {value!r}; take another unit.")
    return float(value)


def check_table(table: Any) -> PairedTable:
    """Return `table` if it is a table of paired counts, else raise `InputError`."""
    if not isinstance(table, PairedTable):
        raise InputError(f"A table needs to be a PairedTable; it got {type(table).__name__}; make one with paired_table.")
    return table


def check_alternative(alternative: str) -> str:
    """Return `alternative` if it names one, else raise `InputError`."""
    return check_choice(alternative, ALTERNATIVES, "alternative")


def check_generator(rng: Any, what: str) -> np.random.Generator:
    """Return `rng` if it is a numpy generator, else raise `InputError`."""
    if not isinstance(rng, np.random.Generator):
        raise InputError(
            f"{what} needs a random generator; it got {type(rng).__name__}; pass rng=numpy.random.default_rng(seed)."
        )
    return rng


def undefined_interval(estimate: float, confidence_level: float, method: str, n: int, reason: str) -> Interval:
    """Return an interval with limits ``nan`` whose method says why."""
    nan = float("nan")
    return Interval(estimate, nan, nan, confidence_level, f"{method}; undefined: {reason}", n)


def undefined_test(alternative: str, method: str, n: int, reason: str) -> SignificanceResult:
    """Return a test result that is ``nan`` and says why in its warning."""
    return SignificanceResult(float("nan"), float("nan"), alternative, method, n, f"undefined: {reason}")


def spread_problem(scores: Floats) -> str:
    """Return why the spread of `scores` is unknown: too few of them, or all equal; empty when it is known.

    Examples
    --------
    >>> spread_problem(np.array([0.5, 0.5, 0.5]))
    'all 3 values are equal'
    """
    if scores.size < 2:
        return f"needs 2 values, got {scores.size}"
    if np.ptp(scores) <= max(1e-12 * np.abs(scores).max(), 1 / LARGEST):
        return f"all {scores.size} values are equal"
    return ""
