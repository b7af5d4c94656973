"""Exceptions of ragnb, and two helper functions for checking arguments."""

from numbers import Real
from typing import Any, TypeVar

Choice = TypeVar("Choice")


class RagnbError(Exception):
    """Base class of the exceptions that ragnb defines."""


class InputError(RagnbError, ValueError):
    """Raised if an argument, a file or a data frame is invalid."""


class EndpointError(RagnbError, RuntimeError):
    """Raised if a model endpoint cannot be used.

    This happens, for example, if the endpoint is unreachable, rejects the API key, does not offer
    the model, refuses every request, or is not compatible with the OpenAI API.
    """

    def _render_traceback_(self) -> list[str]:
        """Return the message without a traceback, as Jupyter displays it."""
        return [f"{type(self).__name__}: {self}"]


class StoreError(RagnbError, RuntimeError):
    """Raised if a database of model replies or annotations cannot be opened, read or written."""


class MissingPartError(RagnbError, ImportError):
    """Raised if an optional package for local language models or embeddings is not installed.

    The message states how to install the package.
    """


def check_choice(value: Choice, choices: tuple[Choice, ...], what: str) -> Choice:
    """Return `value` if it is one of `choices`, and raise InputError if not.

    The message lists the choices, and calls the value by the name in `what`.

    Examples
    --------
    >>> check_choice("holm", ("holm", "bh"), "method")
    'holm'
    """
    if value not in choices:
        raise InputError(f"{what} must be one of {', '.join(map(repr, choices))}, got {value!r}")
    return value


def as_real(value: Any) -> float:
    """Convert an instance of `numbers.Real` to a float, and any other object to NaN.

    A range check such as ``0 <= as_real(value) <= 1`` is false for NaN, so it also rejects objects
    that are not numbers.

    Examples
    --------
    >>> as_real(True), as_real("0.95"), as_real(None)
    (1.0, nan, nan)
    """
    return float(value) if isinstance(value, Real) else float("nan")
