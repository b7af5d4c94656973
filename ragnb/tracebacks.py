"""What Jupyter displays of an error: the user's own lines and the message."""

# Tested in tests/test_mistakes.py.

import linecache
import sys
import sysconfig
from pathlib import Path
from traceback import format_exception, walk_tb
from typing import Any

PACKAGE = Path(__file__).parent
# Folders of Python and of installed packages, whose lines a user did not write.
_LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})


def short_traceback(error: BaseException) -> list[str]:
    """Return the lines of the user that led to an error, and its message.

    The lines end where ragnb was called. What happened inside ragnb is left out.
    """
    lines = []
    for frame, number in walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if PACKAGE in Path(file).parents:
            break
        if not _is_library(file):
            code = linecache.getline(file, number, frame.f_globals).strip()
            lines += [f"{_place(file)}, line {number}", f"----> {code}"]
    return [*lines, *[""] * bool(lines), f"{type(error).__name__}: {error}"]


def full_traceback(error: BaseException) -> list[str]:
    """Return the traceback of an error as IPython, or else Python, formats it."""
    shell = _shell()
    if shell is None:
        return format_exception(error)
    formatted: list[str] = shell.InteractiveTB.structured_traceback(
        type(error), error, error.__traceback__
    )
    return formatted


def _is_library(file: str) -> bool:
    """Whether a file belongs to Python or to an installed package."""
    return file.startswith(_LIBRARIES) or bool(
        {"site-packages", "dist-packages"} & {*Path(file).parts}
    )


def _place(file: str) -> str:
    """The cell or the file with a line of code, as IPython names it."""
    naming = getattr(getattr(_shell(), "compile", None), "format_code_name", None)
    named: Any = naming(file) if naming else None
    kind, name = named or ("File", _short_path(file))
    return f"{kind} {name}"


def _short_path(file: str) -> str:
    folder = Path.cwd()
    return str(Path(file).relative_to(folder)) if folder in Path(file).parents else file


def _shell() -> Any:
    """The shell of IPython, if the code runs in one."""
    ipython: Any = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None
