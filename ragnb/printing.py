"""Where ragnb prints information: what was read, and how a run ended."""

import sys
from typing import Any, TextIO


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


def inform(line: str) -> None:
    """Print a line of information."""
    print(line, file=information_stream())
