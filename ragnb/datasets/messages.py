"""Lines about what was read."""

# Tested in tests/datasets/test_formats_of_tools.py.

import os
from pathlib import Path

import pandas as pd

from ragnb.markup import spelled
from ragnb.printing import inform, information_stream


def tell(line: str) -> None:
    """Print a line about what was read, in place of a progress line."""
    # In a terminal, these characters erase the line in which a progress bar may be.
    start = "\r\x1b[K" if information_stream().isatty() else ""
    inform(f"{start}ragnb: {spelled(line)}")


def tell_size(line: str) -> None:
    """Print how much was read.

    The environment variable ``TQDM_DISABLE=1`` turns such lines off, as it does in `ragnb.complete`.
    """
    if os.environ.get("TQDM_DISABLE", "0") in ("", "0"):
        tell(line)


def called(path: Path | None) -> str:
    """Return how messages refer to the content: by the name of its file, or as "the frame"."""
    return path.name if path else "the frame"


def advice_on_means(content: pd.DataFrame) -> str:
    """Say how to load a ``metrics.json``, which has means of systems and not rows of answers or scores."""
    if list(content.columns) == ["metrics"]:
        return (
            " If it is the metrics.json of a run, which has means and no rows of answers, load it with "
            "ragnb.load_metrics_json"
        )
    return ""
