"""The shape of a reference answer: a text, or a list of parts, each a text or a list of aliases."""

from typing import Any


def listed(value: object) -> list[Any]:
    """A text as a list of one, a list or tuple as a list; anything else is empty, for its reader to refuse.

    >>> listed("Oslo"), listed(("Oslo", "Bergen")), listed(7)
    (['Oslo'], ['Oslo', 'Bergen'], [])
    """
    if isinstance(value, str):
        return [value]
    return list(value) if isinstance(value, list | tuple) else []
