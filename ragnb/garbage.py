"""Garbage collection that waits while a large file is read."""

# Tested in tests/datasets/test_responses.py.

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pause Python's search for unused objects that refer to each other.

    While a file is read, the number of objects grows, and Python would look through all of them again
    and again. None of them is unused, and this search takes up to a third of the time.

    >>> with collection_paused():
    ...     gc.isenabled()
    False
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def without_collection(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function so that garbage collection waits while it runs.

    A warning of the function then names the line of the user. With `collection_paused` as the decorator,
    it would name a line of Python's contextlib, which is outside the package.
    """

    @wraps(function)
    def paused(*args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function while garbage collection waits."""
        with collection_paused():
            return function(*args, **kwargs)

    return paused
