"""What all live widgets use: the folder of scripts and styles, and the form where no kernel runs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

STATIC = Path(__file__).parent / "static"


def with_static(bundle: Any, static: Mapping[str, str]) -> Any:
    """Add the static form of a widget to its MIME bundle, for pages where no kernel runs.

    A bundle is a mapping, a tuple of a mapping and more, or None: widget libraries differ.

    >>> with_static(({"view": 1}, {}), {"text/plain": "text"})
    ({'view': 1, 'text/plain': 'text'}, {})
    """
    data, more = (bundle[0], bundle[1:]) if isinstance(bundle, tuple) else (bundle, ())
    data = {**(data or {}), **static}
    return (data, *more) if more else data
