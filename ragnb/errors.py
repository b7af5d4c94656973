"""Exceptions of ragnb, and small checks that raise them.

Each message states what is wrong, the offending value, and what is allowed.
"""

from numbers import Real
from typing import Any, TypeVar

Choice = TypeVar("Choice")


class RagnbError(Exception):
    """Base class of all exceptions that ragnb raises on purpose."""


class InputError(RagnbError, ValueError):
    """An argument, a file or a frame is invalid."""


class EndpointError(RagnbError, RuntimeError):
    """A model endpoint cannot be used.

    Examples: it is unreachable, it refuses the request, it does not know the model, or it is not
    compatible with the OpenAI API.
    """

    def _render_traceback_(self) -> list[str]:
        """Show only the message in Jupyter: the cause is outside of the code in the traceback."""
        return [f"{type(self).__name__}: {self}"]


class StoreError(RagnbError, RuntimeError):
    """A store of replies cannot be read or written."""


class MissingPartError(RagnbError, ImportError):
    """An optional dependency is not installed; the message contains the command to install it."""


def check_choice(value: Choice, choices: tuple[Choice, ...], what: str) -> Choice:
    """Return `value` if it is one of `choices`, else raise an `InputError` that lists them."""
    if value not in choices:
        raise InputError(f"{what} must be one of {', '.join(map(repr, choices))}, got {value!r}")
    return value


def as_real(value: Any) -> float:
    """Convert a real number to a float, and anything else to nan.

    A check of a range rejects nan, so it needs no separate check of the type.

    >>> as_real(True), as_real("0.95"), as_real(None)
    (1.0, nan, nan)
    """
    return float(value) if isinstance(value, Real) else float("nan")
