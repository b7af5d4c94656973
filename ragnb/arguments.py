"""Checks of the arguments of public statistical functions.

A public function declares the kind of each argument with the decorator `accepts`. The function then
receives converted values: arrays of floats, Booleans or integer cluster codes, and plain numbers.

If an argument is invalid, `convert` and functions decorated with `accepts` raise InputError. The
other functions raise ValueError, in most cases its subclass InputError.
"""

# Tested in tests/test_mistakes.py.

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial, wraps
from inspect import signature
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast
from urllib.parse import urlsplit, urlunsplit

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ragnb.calls import column_advice, explained, is_truth_value, name_of, problem_of_call
from ragnb.errors import CallError, InputError, check_choice
from ragnb.printing import described

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Bounds = tuple[float, float]
Rate = float | str | Fraction | Decimal

# Parameters and result of a decorated function, so that editors and type checkers see its signature.
P = ParamSpec("P")
R = TypeVar("R")


# ---- arrays --------------------------------------------------------------------------------------


def as_scores(values: ArrayLike, dimensions: int = 1) -> Floats:
    """Convert scores to an array of floats, and check that they are finite."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != dimensions:
        raise InputError(
            f"must have {dimensions} dimension{'s' if dimensions > 1 else ''}, got {array.ndim}"
        )
    bad = np.argwhere(~np.isfinite(array))
    if bad.size:
        where = ", ".join(map(str, bad[0]))
        raise InputError(
            f"must be finite numbers, got {array[tuple(bad[0])]} at position {where} "
            f"({len(bad)} such values); leave these items out and report how many"
        )
    return array


def _as_values(values: ArrayLike) -> Floats:
    """Convert numbers to an array of floats. Some of them may be missing."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise InputError(f"must be a list of numbers, got {array.ndim} dimensions")
    return array


def as_probabilities(values: ArrayLike) -> Floats:
    """Convert one probability per item to an array of floats, and check that all are in [0, 1]."""
    probabilities = as_scores(values)
    odd = probabilities[(probabilities < 0) | (probabilities > 1)]
    if odd.size:
        raise InputError(f"must be between 0 and 1, got {odd[0]:g}")
    return probabilities


def as_labels(values: ArrayLike) -> Booleans:
    """Convert one label per item, 0 or 1, to a Boolean array."""
    labels = as_scores(values)
    odd = labels[~np.isin(labels, (0, 1))]
    if odd.size:
        raise InputError(f"must be 0 or 1, got {odd[0]:g}")
    return labels == 1


def as_clusters(keys: ArrayLike) -> Integers:
    """Convert the key of each item's cluster to its index among the sorted distinct keys.

    It must be possible to sort the keys, and none may be missing.

    >>> as_clusters(["q2", "q1", "q2"])
    array([1, 0, 1])
    """
    array = np.asarray(keys)
    if array.dtype.kind in "US" and array is not keys:
        array = np.asarray(keys, dtype=object)  # a missing key would become the text "nan"
    if array.ndim != 1:
        raise InputError(f"must be one key per item, got {array.ndim} dimensions")
    if (array != array).any() or any(key is None for key in array.tolist()):
        raise InputError("must be one key per item, got a missing one")
    try:
        return np.unique(array, return_inverse=True)[1].astype(np.int64)
    except TypeError as error:
        raise InputError(f"must be keys that can be compared with each other ({error})") from error


# ---- numbers and names ---------------------------------------------------------------------------


def _number_kind(
    sentence: str, allows: Callable[[float], bool], kept_as: type = float
) -> Callable[[Any], Any]:
    """Return a function that checks that a number is finite and in the stated range."""

    def check(value: Any) -> Any:
        """Return a number as `kept_as`; InputError if it is not one that is allowed."""
        if not (isinstance(value, Real) and isfinite(value) and allows(float(value))):
            raise InputError(f"must be {sentence}, got {described(value)}")
        return kept_as(value)

    return check


def as_rate(value: Any) -> Fraction:
    """Convert a number strictly between 0 and 1 to an exact fraction.

    A float is interpreted as the decimal number that Python prints for it.

    Examples
    --------
    >>> as_rate(0.1)
    Fraction(1, 10)
    """
    exact = Fraction(str(value))
    if not 0 < exact < 1:
        raise InputError(f"must be strictly between 0 and 1, such as 0.1, got {value!r}")
    return exact


def as_path(value: Any) -> Any:
    """Check that a value is the path of a file, and not a frame or a list, for example."""
    if not isinstance(value, str | Path):
        raise InputError(
            f"must be the path of one file, such as 'data.jsonl', got {type(value).__name__}"
        )
    return value


def as_file_name(value: Any) -> str:
    """Check that a file name contains no slashes and no dots.

    The directory and the extension are added when the file is saved.
    """
    if not isinstance(value, str) or not value or Path(value).name != value or "." in value:
        raise InputError(
            f"must be a plain name such as '02_noise', without slashes and dots, got {value!r}"
        )
    return value


# ---- addresses -----------------------------------------------------------------------------------

HIDDEN = "[key]"
# Prefixes of the keys of providers, and the beginnings of keys of Google and of JSON web tokens.
_PREFIXES = "sk|pk|rk|gsk|hf|xai|nvapi|r8|fw|tgp|csk|pplx|ghp|github_pat"
_TOKENS = r"AIza[\w-]{20,}|ya29\.[\w.-]+|eyJ[\w.-]{20,}"
# Parts of a path that look like keys: a known beginning, or a long mixture of letters and digits.
_KEY_LIKE = re.compile(
    rf"(?:{_PREFIXES}|key|token|bearer)[-_][\w-]{{12,}}|{_TOKENS}"
    r"|(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{24,}",
    re.IGNORECASE,
)
# Words of a message that are keys. A key contains a digit, unlike a name such as hf_hub_download.
_KEY_IN_TEXT = re.compile(
    rf"\b(?:{_PREFIXES})[-_](?=[\w-]*\d)[\w-]{{12,}}|\b(?:{_TOKENS})|(?<=Bearer )[\w.~+/-]+=*"
)


class Address(str):
    """The address of a model endpoint, which is printed without its secrets.

    Tracebacks and notebooks print the arguments of functions. User, password, query and the parts of
    the path that look like keys are therefore left out of ``str`` and ``repr``. Operations on the
    characters, such as slices and `urllib.parse.urlsplit`, see the whole address.

    Examples
    --------
    >>> Address("http://user:password@127.0.0.1:80/v1?key=1")
    'http://127.0.0.1:80/v1'
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(shown_address(self))

    def __str__(self) -> str:
        return shown_address(self)


def shown_address(address: str) -> str:
    """Remove from an address what may be secret: user, password, query, and parts that look like keys.

    Examples
    --------
    >>> shown_address("http://user:password@127.0.0.1:80/v1?key=1")
    'http://127.0.0.1:80/v1'
    >>> shown_address("https://example.org/sk-0123456789abcdef/v1")
    'https://example.org/[key]/v1'
    """
    try:
        parts = urlsplit(address[:])
    except ValueError:  # not an address, so only what cannot be secret is left
        return _KEY_LIKE.sub(HIDDEN, address[:].rpartition("@")[2].partition("?")[0])
    if parts.scheme not in ("http", "https"):
        plain = address[:].partition("#")[0].partition("?")[0].rpartition("@")[2]
        return _KEY_LIKE.sub(HIDDEN, plain)
    host = _KEY_LIKE.sub("hidden", parts.netloc.rpartition("@")[2])  # brackets are those of IPv6
    path = _KEY_LIKE.sub(HIDDEN, parts.path)
    return urlunsplit((parts.scheme, host, path, "", "")).rstrip("/")


def without_keys(text: str) -> str:
    """Replace the words of a message that are keys of known providers or bearer tokens.

    Examples
    --------
    >>> without_keys("HTTP 401: Bearer abc.def, sk-proj-0123456789 in hf_hub_download_file")
    'HTTP 401: Bearer [key], [key] in hf_hub_download_file'
    """
    return _KEY_IN_TEXT.sub(HIDDEN, text)


# Kind of argument -> function that checks and converts it.
KINDS: dict[str, Callable[[Any], Any]] = {
    "scores": as_scores,
    "matrix": partial(as_scores, dimensions=2),
    "values": _as_values,
    "labels": as_labels,
    "probabilities": as_probabilities,
    "clusters": as_clusters,
    "rate": as_rate,
    "path": as_path,
    "file name": as_file_name,
    "number": _number_kind("a finite number", isfinite),
    "positive": _number_kind("above 0", lambda x: x > 0),
    "share": _number_kind("between 0 and 1", lambda x: 0 <= x <= 1),
    "level": _number_kind("strictly between 0 and 1, such as 0.95", lambda x: 0 < x < 1),
    "count": _number_kind("a whole number of at least 0", lambda x: x >= 0 and x.is_integer(), int),
    "size": _number_kind("a whole number of at least 1", lambda x: x >= 1 and x.is_integer(), int),
}

ALTERNATIVES = ("two-sided", "greater", "less")


# ---- the decorator -------------------------------------------------------------------------------


def accepts(
    *, aligned: bool = True, **kinds: str | tuple[Any, ...] | Callable[[Any], Any]
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Create a decorator that checks and converts the named arguments of a function.

    Parameters
    ----------
    aligned : bool, default=True
        Whether all converted arrays must have the same length.
    **kinds : str, tuple or callable
        Kind of each argument: one of the names in the Notes, a tuple of allowed values, or a
        function that checks and converts the argument. Omitted arguments are not checked, and None
        is not checked if it is the default.

    Returns
    -------
    callable
        The decorator. The decorated function raises InputError for an invalid argument, and the
        message names the argument.

    Notes
    -----
    The kinds of arrays are

    - ``'scores'`` and ``'matrix'``: finite numbers in one or two dimensions;
    - ``'values'``: numbers that may be missing;
    - ``'probabilities'``: numbers in [0, 1];
    - ``'labels'``: 0 or 1;
    - ``'clusters'``: cluster keys (see `as_clusters`).

    The kinds of numbers are

    - ``'number'``: any finite number;
    - ``'positive'``: a number above 0;
    - ``'share'``: a number in [0, 1];
    - ``'level'``: a number in (0, 1);
    - ``'rate'``: a number in (0, 1), which is converted to a fraction (see `as_rate`);
    - ``'count'`` and ``'size'``: a whole number of at least 0 or at least 1.

    The kind ``'path'`` is a text or a path, and ``'file name'`` is described in `as_file_name`.

    Examples
    --------
    >>> @accepts(values="scores", clusters="clusters", method=("mean", "median"))
    ... def centre(values, clusters=None, *, method="mean"):
    ...     return getattr(np, method)(values)
    >>> float(centre([1, 2, 6], method="median"))
    2.0
    >>> centre([1, 2, None])
    Traceback (most recent call last):
    ragnb.errors.InputError: values must be finite numbers, got nan at position 2 (1 such ...
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        """Return the function with checks of its arguments."""
        function_signature = signature(function)
        # A text such as "no" would count as True without any error.
        switches = [
            name
            for name, parameter in function_signature.parameters.items()
            if parameter.annotation in (bool, "bool") and name not in kinds
        ]

        # Without anything to convert, Python itself notices a wrong call, at no cost for the right ones.
        is_plain = not kinds and not switches and not hasattr(function, "__signature__")

        @wraps(function)
        def checked(*args: Any, **kwargs: Any) -> R:
            """Check and convert the arguments, and call the function."""
            if is_plain:
                return _called(function, args, kwargs)
            # A traceback prints the arguments of every function that it went through.
            if isinstance(kwargs.get("base_url"), str):
                kwargs["base_url"] = Address(kwargs["base_url"])
            try:
                bound = function_signature.bind(*args, **kwargs)
            except TypeError as error:
                name = name_of(function)
                problem = problem_of_call(name, function_signature, args, kwargs, kinds)
                raise CallError(problem or f"{name}: {error}") from None
            lengths = {}
            for name, kind in kinds.items():
                argument = bound.arguments.get(name)
                if argument is None and (
                    name not in bound.arguments
                    or function_signature.parameters[name].default is None
                ):
                    continue
                value = bound.arguments[name] = convert(argument, kind, name)
                if isinstance(value, np.ndarray):
                    lengths[name] = len(value)
            if aligned and len(set(lengths.values())) > 1:
                given_lengths = ", ".join(f"{n} for {name}" for name, n in lengths.items())
                raise InputError(
                    f"{' and '.join(lengths)} must have one value per item, got {given_lengths}; "
                    "align them by item id first"
                )
            for name in switches:
                if name in bound.arguments and not is_truth_value(bound.arguments[name]):
                    value = described(bound.arguments[name])
                    raise InputError(f"{name} must be True or False, got {value}")
            return _called(function, bound.args, bound.kwargs)

        # Read by the test that no public function lacks these checks.
        checked.checks_arguments = True  # type: ignore[attr-defined]
        # Read by the script that writes the stubs: what a caller may pass differs from what the function gets.
        checked.kinds = kinds  # type: ignore[attr-defined]
        return cast(Callable[P, R], checked)

    return decorate


def _called(function: Callable[..., R], values: Sequence[Any], keywords: Mapping[str, Any]) -> R:
    """Call a function; an error of Python becomes one of ragnb if the arguments explain it."""
    try:
        return function(*values, **keywords)
    except Exception as error:
        explanation = explained(error, function, values, keywords)
        if explanation is error:
            raise
        raise explanation from error


Class = TypeVar("Class", bound=type)


def accepts_fields(record: Class) -> Class:
    """Check the call of a dataclass as `accepts` checks that of a function.

    >>> from dataclasses import dataclass
    >>> @accepts_fields
    ... @dataclass
    ... class Price:
    ...     per_token: float
    >>> Price(per_tokn=1)
    Traceback (most recent call last):
    ragnb.errors.CallError: Price has no argument 'per_tokn'; did you mean 'per_token'?
    """
    initialise: Any = accepts()(record.__init__)  # type: ignore[misc]
    record.__init__ = initialise  # type: ignore[misc]
    return record


def convert(value: Any, kind: str | tuple[Any, ...] | Callable[[Any], Any], name: str) -> Any:
    """Check an argument and convert it to its kind (see `accepts`); an error message begins with its name."""
    if isinstance(kind, tuple):
        return check_choice(value, kind, name)
    try:
        return KINDS[kind](value) if isinstance(kind, str) else kind(value)
    except InputError as error:
        raise InputError(f"{name} {error}") from None
    except (TypeError, ValueError) as error:
        if not isinstance(kind, str):
            raise InputError(f"{name} cannot be {described(value)} ({error})") from error
        advice = column_advice(value)
        raise InputError(f"{name} must be numeric ({advice or error})") from error
