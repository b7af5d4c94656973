"""Where ragnb prints information, such as what was read and how a run ended, and how it warns."""

# Tested in tests/test_mistakes.py.

import sys
import warnings
from pathlib import Path
from types import FrameType
from typing import Any, TextIO

PACKAGE = Path(__file__).parent


def information_stream() -> TextIO:
    """Return the stream for information: standard output in a notebook, standard error elsewhere.

    Jupyter shows standard error in red, as if something had failed. In a terminal, standard output
    contains only results, so that they can be passed on to another program.
    """
    return sys.stdout if in_kernel() else sys.stderr


def in_kernel() -> bool:
    """Return whether the code runs in the kernel of a notebook."""
    ipython: Any = sys.modules.get("IPython")
    return hasattr(ipython and ipython.get_ipython(), "kernel")


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that shows the line of the user's code, and not one of ragnb's own."""
    level = 1
    frame: FrameType | None = sys._getframe()
    while frame is not None and PACKAGE in Path(frame.f_code.co_filename).parents:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def described(value: Any) -> str:
    """Return what a value is, in a few words for a message: no value takes more than one line.

    >>> described("a.csv"), described([1]), described(5), described({})
    ("'a.csv'", 'a list', '5', 'an empty dict')
    """
    kind = type(value)
    if value is None or isinstance(value, str | int | float | Path):
        text = f"{value!r}"
        return text if len(text) <= 80 else f"{text[:79]}…"
    is_empty = isinstance(value, list | tuple | dict | set) and not value
    return f"an empty {kind.__name__}" if is_empty else with_article(kind.__name__)


# Words for classes whose names alone say little.
_CLASSES = {
    "DataFrame": "a pandas DataFrame",
    "Results": "a pandas DataFrame",
    "Series": "a pandas Series",
    "ndarray": "a numpy array",
    "function": "a function",
}


def with_article(name: str) -> str:
    """Return the name of a class with its article: ``a Template``, ``an RgbReport``."""
    if name in _CLASSES:
        return _CLASSES[name]
    is_spelled = name[0] in "AEIOaeio" or name.startswith("Rgb")
    return f"{'an' if is_spelled else 'a'} {name}"


def inform(line: str) -> None:
    """Print a line of information."""
    print(line, file=information_stream())
