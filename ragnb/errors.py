"""The errors of ragnb.

Every message is one sentence in three parts: what needs what; what it got; what to do.
"""

from numbers import Real
from typing import Any


class RagnbError(Exception):
    """Base of every error that ragnb raises on purpose."""


class InputError(RagnbError, ValueError):
    """An argument, a file or a frame is not what the call needs."""


class EndpointError(RagnbError, RuntimeError):
    """A model endpoint cannot be used: unreachable, refused, unknown model, or not an OpenAI-compatible API."""


class StoreError(RagnbError, RuntimeError):
    """A store of replies cannot be read or written."""


class MissingPartError(RagnbError, ImportError):
    """An optional part (such as the packaged model) is not installed; the message names the one command to run."""


def check_choice(value: str, choices: tuple[str, ...], what: str) -> str:
    """Return `value` if it is one of `choices`, else raise `InputError` that lists them."""
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"{what} needs one of {', '.join(map(repr, choices))}; it got {value!r}; choose one of them.")
    return value


def as_real(value: Any) -> float:
    """A real number as a float, nan for anything else: what every check of a range refuses.

    >>> as_real(True), as_real("0.95"), as_real(None)
    (1.0, nan, nan)
    """
    try:
        return float(value) if isinstance(value, Real) else float("nan")
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
