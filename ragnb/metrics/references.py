"""Reference answers: a string, or a list of parts that are all required in the answer.

A part is a string or a list of aliases; any one alias is sufficient. The functions raise InputError
for a reference without parts, a part without aliases, an alias that is not a string, and more than
`MOST_ALTERNATIVES` combinations of aliases.
"""

# Tested in tests/metrics/test_rgb.py.

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

from ragnb.errors import InputError

Reference = str | Sequence[str | Sequence[str]]

# Largest number of texts that `reference_texts` returns for one reference.
MOST_ALTERNATIVES = 10_000


def listed(value: object) -> list[Any]:
    """Convert a string, list or tuple to a new list, and anything else to an empty list.

    Examples
    --------
    >>> listed("Oslo"), listed(("Oslo", "Bergen")), listed(7)
    (['Oslo'], ['Oslo', 'Bergen'], [])
    """
    if isinstance(value, str):
        return [value]
    return list(value) if isinstance(value, list | tuple) else []


def reference_parts(reference: Reference | None, *, can_be_blank: bool = False) -> list[list[str]]:
    """Convert a reference to a list of parts, with each part as a list of aliases.

    A blank alias raises InputError unless `can_be_blank` is true.

    >>> reference_parts("Oslo"), reference_parts(["a", ["b", "c"]])
    ([['Oslo']], [['a'], ['b', 'c']])
    """
    parts = [listed(part) for part in listed(reference)]
    aliases = [alias for part in parts for alias in part]
    are_texts = all(isinstance(alias, str) for alias in aliases)
    are_allowed = are_texts and (can_be_blank or all(map(str.strip, aliases)))
    if not parts or not all(parts) or not are_allowed:
        raise InputError(
            "a reference must be a string, or a list of parts, each a string or a list of aliases"
            f"{'' if can_be_blank else ' that are not blank'}, got {reference!r:.200}; write "
            "[['a', 'b']] for a or b, and None if there is none"
        )
    return parts


def reference_texts(reference: Reference) -> list[str]:
    """Return the texts of a reference: one for each combination of the aliases of its parts.

    The aliases are joined by spaces in the order of the parts.

    >>> reference_texts([["Oslo", "Kristiania"], "1925"])
    ['Oslo 1925', 'Kristiania 1925']
    """
    if isinstance(reference, str):
        return [reference]
    # A blank alias is allowed, because [[""]] states that the right answer is no answer.
    parts = reference_parts(reference, can_be_blank=True)
    if len(parts) == 1 and len(parts[0]) <= MOST_ALTERNATIVES:
        return parts[0]
    count = math.prod(map(len, parts))
    if count > MOST_ALTERNATIVES:
        raise InputError(
            f"a reference can have at most {MOST_ALTERNATIVES} alternatives, got {count}"
        )
    return [" ".join(aliases) for aliases in product(*parts)]
