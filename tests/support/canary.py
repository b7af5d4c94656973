"""A key that must come out nowhere, and all that an error can show."""

import traceback
from pathlib import Path

import ragnb

CANARY = "sk-canary-0123456789abcdef"
PACKAGE = str(Path(ragnb.__file__).parent)


def shown(error: BaseException | None) -> str:
    """All that an error can show: the messages of its chain, its traceback, and the locals of every frame of ragnb."""
    parts, met = [], set()
    while error is not None and id(error) not in met:
        met.add(id(error))
        parts += [str(error), repr(error), repr(error.args), repr(vars(error))]
        parts += traceback.format_exception(error)
        for frame, _ in traceback.walk_tb(error.__traceback__):
            if frame.f_code.co_filename.startswith(PACKAGE):
                parts += [f"{name} = {value!r} = {value}" for name, value in frame.f_locals.items()]
        error = error.__cause__ or error.__context__
    return "\n".join(parts)
