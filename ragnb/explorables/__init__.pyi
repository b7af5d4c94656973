"""What `ragnb.explorables` contains. Written by ``python -m tools.stubs``."""

from typing import Any, Literal

from ragnb.explorables.page import EXPLORABLES
from ragnb.widgets.pages import Page

def explore(
    name: Literal[
        "conformal",
        "correction",
        "f1",
        "fieller",
        "judge",
        "mcnemar",
        "mix",
        "noise",
        "permutation",
        "power",
        "ranking",
        "resume",
        "slider",
        "threshold",
        "trace",
    ],
    *data: Any,
    variant: Literal["ragbench", "guide"] = "ragbench",
) -> Page: ...

__all__ = ["EXPLORABLES", "explore"]
