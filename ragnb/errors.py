"""Exceptions of ragnb, and two helper functions for checking arguments."""

# Tested in tests/test_mistakes.py.

from collections.abc import Hashable
from numbers import Real
from typing import Any, TypeVar

from ragnb.printing import described
from ragnb.suggestions import did_you_mean
from ragnb.tracebacks import full_traceback, short_traceback

Choice = TypeVar("Choice")


class RagnbError(Exception):
    """Base class of the exceptions that ragnb defines.

    Jupyter displays the user's own line and the message; `full_tracebacks` switches to the whole
    traceback. Python scripts print the whole traceback, as for any exception.
    """

    def _render_traceback_(self) -> list[str]:
        """Return what Jupyter displays of the error."""
        return full_traceback(self) if _wants_full_tracebacks else short_traceback(self)


# Whether Jupyter displays whole tracebacks, see `full_tracebacks`.
_wants_full_tracebacks = False


def full_tracebacks(show: bool = True) -> None:
    """Choose whether Jupyter displays the whole traceback of errors that ragnb raises.

    By default, Jupyter displays the line of your own code and the message. The magic ``%debug``
    works in both cases. In a terminal, the option ``--debug`` of a command has the same effect.

    Parameters
    ----------
    show : bool, default=True
        True for whole tracebacks, False for short ones.
    """
    global _wants_full_tracebacks
    _wants_full_tracebacks = show


class InputError(RagnbError, ValueError):
    """Raised if an argument, a file or a data frame is invalid."""


class CallError(RagnbError, TypeError):
    """Raised if a function is called with an argument that it does not have, or without one."""


class UnknownNameError(RagnbError, AttributeError):
    """Raised if ragnb has no function, class or module of this name."""


class UnknownMetricError(RagnbError, KeyError):
    """Raised if `ragnb.METRICS` has no metric of this name."""

    # A KeyError would print its message in quotation marks.
    __str__ = Exception.__str__


class EndpointError(RagnbError, RuntimeError):
    """Raised if a model endpoint cannot be used.

    This happens, for example, if the endpoint is unreachable, rejects the API key, does not offer
    the model, refuses every request, or is not compatible with the OpenAI API.
    """

    def _render_traceback_(self) -> list[str]:
        """Return the message alone, because no line of the user is wrong."""
        return (
            full_traceback(self) if _wants_full_tracebacks else [f"{type(self).__name__}: {self}"]
        )


class StoreError(RagnbError, RuntimeError):
    """Raised if a database of model replies or annotations cannot be opened, read or written."""


class MissingPartError(RagnbError, ImportError):
    """Raised if an optional package for local language models or embeddings is not installed.

    The message states how to install the package.
    """


def check_choice(value: Choice, choices: tuple[Choice, ...], what: str) -> Choice:
    """Return `value` if it is one of `choices`, and raise InputError if not.

    The message lists the choices, suggests the most similar one, and calls the value by the name in
    `what`.

    Examples
    --------
    >>> check_choice("holm", ("holm", "bh"), "method")
    'holm'
    >>> check_choice("hom", ("holm", "bh"), "method")
    Traceback (most recent call last):
    ragnb.errors.InputError: method must be one of 'holm', 'bh', got 'hom'; did you mean 'holm'?
    """
    # A column or an array cannot be compared with a choice, and is none.
    is_choice = isinstance(value, Hashable) and value in choices
    if not is_choice:
        listed = ", ".join(map(repr, choices))
        raise InputError(
            f"{what} must be one of {listed}, got {described(value)}{did_you_mean(value, choices)}"
        )
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
