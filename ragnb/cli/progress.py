"""What is being done, while it is being done."""

import sys

from ragnb.markup import spelled


def progress(stage: str = "") -> None:
    """What is being done, in a line that the next one replaces; on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{spelled(stage)[:70]}", end="", file=sys.stderr, flush=True)
