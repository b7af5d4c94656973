"""Lines about what was read, which appear where warnings do."""

import os
import sys
from pathlib import Path

from ragnb.markup import spelled


def tell(line: str) -> None:
    """Print a line about what was read where warnings appear, in place of a progress line."""
    start = "\r\x1b[K" if sys.stderr.isatty() else ""
    print(f"{start}ragnb: {spelled(line)}", file=sys.stderr)


def tell_size(line: str) -> None:
    """Print how much was read, unless ``TQDM_DISABLE=1`` turns such lines off, as those of `ragnb.complete`."""
    if os.environ.get("TQDM_DISABLE", "0") in ("", "0"):
        tell(line)


def called(path: Path | None) -> str:
    """Return how messages refer to the content: by the name of its file, or as "the frame"."""
    return path.name if path else "the frame"
