"""The errors of ragnb.

Every message is one sentence in three parts: what needs what; what it got; what to do.
"""

from numbers import Real
from typing import Any, TypeVar

Choice = TypeVar("Choice", bound=str | None)


class RagnbError(Exception):
    """Base of every error that ragnb raises on purpose."""


class InputError(RagnbError, ValueError):
    """An argument, a file or a frame is not what the call needs."""


class EndpointError(RagnbError, RuntimeError):
    """A model endpoint cannot be used: unreachable, refused, unknown model, or not an OpenAI-compatible API."""

    def _render_traceback_(self) -> list[str]:
        """What IPython and Jupyter display: the message alone, because the mistake is in no line of any traceback."""
        return [f"{type(self).__name__}: {self}"]


class StoreError(RagnbError, RuntimeError):
    """A store of replies cannot be read or written."""


class MissingPartError(RagnbError, ImportError):
    """An optional part (such as the packaged model) is not installed; the message names the one command to run."""


def check_choice(value: Choice, choices: tuple[Choice, ...], what: str) -> Choice:
    """Return `value` if it is one of `choices`, else raise `InputError` that lists them."""
    if not isinstance(value, str | None) or value not in choices:
        raise InputError(
            f"{what} needs one of {', '.join(map(repr, choices))}; it got {value!r}; choose one of them."
        )
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
