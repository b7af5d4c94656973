"""What conformal prediction accepts: a miscoverage rate, probabilities of two classes, 0/1 labels, group names, sets.

Each function returns the clean value or raises `InputError` with one sentence.
"""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragnb.errors import InputError
from ragnb.records import as_array, as_keys, is_missing

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]
Booleans = NDArray[np.bool_]
Rate = float | Fraction | str | Any  # Decimal and numpy scalars, too: whatever prints as a number


def check_rate(rate: Rate, what: str = "alpha") -> Fraction:
    """Return `rate` as the exact fraction that it prints as, strictly between 0 and 1.

    Raises
    ------
    InputError
        If it is no number, or not strictly between 0 and 1.

    Examples
    --------
    >>> check_rate(0.1), check_rate("1/3")
    (Fraction(1, 10), Fraction(1, 3))
    """
    try:
        exact = Fraction(str(rate))
    except (ValueError, ZeroDivisionError):
        exact = Fraction(0)
    if not 0 < exact < 1:
        raise InputError(f"{what} needs a number strictly between 0 and 1; it got {rate!r}; write 0.1 for 10 %.")
    return exact


def check_scores(scores: ArrayLike, what: str) -> Floats:
    """Return `scores` as floats of any shape, without nan.

    Raises
    ------
    InputError
        If a score is nan or no number.
    """
    values = _floats(scores, what)
    if np.isnan(values).any():
        raise InputError(f"{what} needs a number for every item; it got nan; drop those items and report how many.")
    return values


def check_probabilities(probabilities: ArrayLike, what: str = "probabilities") -> Floats:
    """Return the probabilities of both classes, shape (n, 2), given those or the ones of class 1, shape (n,).

    Raises
    ------
    InputError
        If the shape is another, a value is nan or outside [0, 1], or a row does not sum to one within 1e-6.

    Examples
    --------
    >>> check_probabilities([0.25])
    array([[0.75, 0.25]])
    """
    values = _floats(probabilities, what)
    if values.ndim not in (1, 2) or (values.ndim == 2 and values.shape[1] != 2):
        raise InputError(
            f"{what} needs shape (n, 2), or (n,) for those of class 1; it got {values.shape}; pass predict_proba."
        )
    if values.size and not (values.min() >= 0 and values.max() <= 1):
        raise InputError(
            f"{what} needs values from 0 to 1; it got {_first_outside(values)}; pass probabilities, not scores."
        )
    if values.ndim == 1:
        return np.column_stack([1 - values, values])
    if values.size and np.abs(values[:, 0] + values[:, 1] - 1).max() > 1e-6:
        raise InputError(f"{what} needs rows that sum to one; it got one that does not; normalise each row first.")
    return values


def check_labels(labels: ArrayLike, n: int) -> Booleans:
    """Return `labels` as booleans, one for each of `n` items.

    Raises
    ------
    InputError
        If a label is neither 0 nor 1 (False, True), or there is not one for every item.
    """
    given = as_array(labels, "labels")
    if given.shape != (n,):
        raise InputError(
            f"labels needs one label per row of the probabilities ({n}); it got shape {given.shape}; align them."
        )
    values = _floats(given, "labels")
    positive = values == 1
    if not np.array_equal(positive, values):
        odd = values[(values != 0) & (values != 1)][0]
        raise InputError(f"labels needs values 0 or 1; it got {odd:g}; map the two classes to 0 and 1.")
    return positive


def check_groups(groups: ArrayLike, n: int) -> tuple[list[Any], Integers]:
    """Return the sorted names in `groups` and, for each of `n` items, the position of its name.

    Raises
    ------
    InputError
        If there is not one name for every item, a name is missing, or names cannot be compared.
    """
    given = as_keys(groups, "groups")
    if given.shape != (n,):
        raise InputError(
            f"groups needs one name per row of the probabilities ({n}); it got shape {given.shape}; align them."
        )
    try:
        found, codes = np.unique(given, return_inverse=True)
    except (TypeError, ValueError) as error:
        raise InputError(f"groups needs names of one type, none missing; it got a mixture ({error}); use texts.") from error
    names = found.tolist()
    if any(map(is_missing, names)):
        raise InputError("groups needs a name for every item; it got a missing one; name the group of each item.")
    return names, codes


def check_sets(sets: ArrayLike) -> Booleans:
    """Return `sets` as booleans of shape (n, 2): column y says whether label y is in the set.

    Raises
    ------
    InputError
        If the shape is another or a value is neither 0 nor 1.
    """
    given = as_array(sets, "sets")
    if given.ndim != 2 or given.shape[1] != 2:
        raise InputError(f"sets needs shape (n, 2), a column per label; it got {given.shape}; pass what `sets` returned.")
    inside = given.astype(np.bool_)
    if given.dtype != np.bool_ and not np.array_equal(inside, given):
        raise InputError("sets needs values 0 or 1; it got others; pass what `sets` returned.")
    return inside


def _floats(values: ArrayLike, what: str) -> Floats:
    try:
        given = as_array(values, what)
        if given.dtype.kind in "cMm":
            raise TypeError("complex numbers or times")
        if given.dtype.kind in "USO" and any(isinstance(value, str | bytes) for value in given.flat):
            raise TypeError("text")
        return given.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} needs numbers; it got something else ({error}); pass numbers.") from error


def _first_outside(values: Floats) -> float:
    return float(values[~((values >= 0) & (values <= 1))][0])
