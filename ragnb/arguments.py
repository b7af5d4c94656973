"""Checks of the arguments of public statistical functions.

A public function of `ragnb.stats` or `ragnb.conformal` names the kind of each argument in `accepts`. The function then
receives clean values: arrays of floats or booleans, cluster codes, plain numbers. Everything below it trusts its caller.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import wraps
from inspect import signature
from math import isfinite
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragnb.errors import InputError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

R = TypeVar("R")


# ---- arrays ------------------------------------------------------------------------------------------------------------


def as_scores(values: ArrayLike) -> Floats:
    """Finite numbers, one per item."""
    return _finite(_array(values, 1))


def as_matrix(values: ArrayLike) -> Floats:
    """Finite numbers, one row per item and one column per system."""
    return _finite(_array(values, 2))


def as_labels(values: ArrayLike) -> Booleans:
    """0 or 1 (False or True), one per item."""
    labels = as_scores(values)
    odd = labels[(labels != 0) & (labels != 1)]
    if odd.size:
        raise InputError(f"must be 0 or 1, got {odd[0]:g}")
    return labels == 1


def as_probabilities(values: ArrayLike) -> Floats:
    """Numbers from 0 to 1, one per item."""
    probabilities = as_scores(values)
    odd = probabilities[(probabilities < 0) | (probabilities > 1)]
    if odd.size:
        raise InputError(f"must be between 0 and 1, got {odd[0]:g}")
    return probabilities


def as_clusters(keys: ArrayLike) -> Integers:
    """Codes 0, 1, ... of the clusters to which the items belong, in sorted order of the keys."""
    found = np.asarray(keys)
    if found.dtype.kind in "US" and found is not keys:
        found = np.asarray(keys, dtype=object)  # a missing key would become the text "nan"
    if found.ndim != 1:
        raise InputError(f"must be one key per item, got {found.ndim} dimensions")
    if (found != found).any() or any(key is None for key in found.tolist()):
        raise InputError("must be one key per item, got a missing one")
    try:
        return np.unique(found, return_inverse=True)[1].astype(np.int64)
    except TypeError as error:
        raise InputError(f"must be keys of one type ({error})") from error


def _array(values: ArrayLike, dimensions: int) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != dimensions:
        raise InputError(
            f"must have {dimensions} dimension{'s' if dimensions > 1 else ''}, got {array.ndim}"
        )
    return array


def _finite(array: Floats) -> Floats:
    bad = np.argwhere(~np.isfinite(array))
    if bad.size:
        where = ", ".join(map(str, bad[0]))
        raise InputError(
            f"must be finite numbers, got {array[tuple(bad[0])]} at position {where} ({len(bad)} such values); "
            "leave these items out and report how many"
        )
    return array


# ---- numbers and names -------------------------------------------------------------------------------------------------


def as_number(value: Any) -> float:
    """A finite number."""
    if not isinstance(value, Real) or not isfinite(value):
        raise InputError(f"must be a finite number, got {value!r}")
    return float(value)


def as_positive(value: Any) -> float:
    """A finite number above 0."""
    if as_number(value) <= 0:
        raise InputError(f"must be above 0, got {value!r}")
    return float(value)


def as_share(value: Any) -> float:
    """A number from 0 to 1."""
    if not 0 <= as_number(value) <= 1:
        raise InputError(f"must be between 0 and 1, got {value!r}")
    return float(value)


def as_level(value: Any) -> float:
    """A number strictly between 0 and 1, such as a confidence level."""
    if not 0 < as_number(value) < 1:
        raise InputError(f"must be strictly between 0 and 1, such as 0.95, got {value!r}")
    return float(value)


def as_rate(value: Any) -> Fraction:
    """A number strictly between 0 and 1, as the exact fraction that it prints as: 0.1 is 1/10."""
    exact = Fraction(str(value))
    if not 0 < exact < 1:
        raise InputError(f"must be strictly between 0 and 1, such as 0.1, got {value!r}")
    return exact


def as_count(value: Any) -> int:
    """A whole number of at least 0."""
    if as_number(value) < 0 or float(value) != int(value):
        raise InputError(f"must be a whole number of at least 0, got {value!r}")
    return int(value)


def as_size(value: Any) -> int:
    """A whole number of at least 1."""
    if as_count(value) < 1:
        raise InputError(f"must be a whole number of at least 1, got {value!r}")
    return int(value)


KINDS: dict[str, Callable[[Any], Any]] = {
    "scores": as_scores,
    "matrix": as_matrix,
    "labels": as_labels,
    "probabilities": as_probabilities,
    "clusters": as_clusters,
    "number": as_number,
    "positive": as_positive,
    "share": as_share,
    "level": as_level,
    "rate": as_rate,
    "count": as_count,
    "size": as_size,
}
"""Kind of argument -> the function that converts and checks it."""

ALTERNATIVES = ("two-sided", "greater", "less")


# ---- the decorator -----------------------------------------------------------------------------------------------------


def accepts(
    *, aligned: bool = True, **kinds: str | tuple[str, ...] | Callable[[Any], Any]
) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Convert and check the named arguments of a function.

    A kind is a name in `KINDS`, a tuple of the allowed values, or a function that converts and checks. None is passed on
    where it is the default. Arrays must have the same number of items, unless ``aligned`` is False.

    >>> @accepts(values="scores", clusters="clusters", method=("mean", "median"))
    ... def centre(values, clusters=None, *, method="mean"):
    ...     return getattr(np, method)(values)
    >>> float(centre([1, 2, 6], method="median"))
    2.0
    >>> centre([1, 2, None])
    Traceback (most recent call last):
    ragnb.errors.InputError: values must be finite numbers, got nan at position 2 (1 such values); leave these items out ...
    """

    def decorate(function: Callable[..., R]) -> Callable[..., R]:
        known = signature(function)

        @wraps(function)
        def checked(*args: Any, **kwargs: Any) -> R:
            bound = known.bind(*args, **kwargs)
            lengths = {}
            for name, kind in kinds.items():
                given = bound.arguments.get(name)
                if given is None and (
                    name not in bound.arguments or known.parameters[name].default is None
                ):
                    continue
                value = bound.arguments[name] = convert(given, kind, name)
                if isinstance(value, np.ndarray):
                    lengths[name] = len(value)
            if aligned and len(set(lengths.values())) > 1:
                said = ", ".join(f"{n} for {name}" for name, n in lengths.items())
                raise InputError(
                    f"{' and '.join(lengths)} must have one value per item, got {said}; align them by item id first"
                )
            return function(*bound.args, **bound.kwargs)

        return checked

    return decorate


def convert(given: Any, kind: str | tuple[str, ...] | Callable[[Any], Any], name: str) -> Any:
    """Return the clean value of one argument, or raise InputError that names the argument."""
    if isinstance(kind, tuple):
        if given not in kind:
            raise InputError(f"{name} must be one of {', '.join(map(repr, kind))}, got {given!r}")
        return given
    try:
        return KINDS[kind](given) if isinstance(kind, str) else kind(given)
    except InputError as error:
        raise InputError(f"{name} {error}") from None
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers ({error})") from error
