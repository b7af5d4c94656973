"""Explorables: small figures with controls that show one idea each, and need no kernel.

The page contains a frame for each position of the controls and the script that shows them, so an
explorable also works in exported HTML. Where no script runs, as on code-hosting pages and on paper,
the first frame takes its place.

Each module in the folder ``scenes`` declares one explorable.
"""

from typing import TYPE_CHECKING

from ragnb.faces import face

if TYPE_CHECKING:
    from ragnb.explorables.page import EXPLORABLES, explore
else:
    __getattr__, __dir__ = face(__name__)

__all__ = [
    "EXPLORABLES",
    "explore",
]
