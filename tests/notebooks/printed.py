"""What a committed notebook shows, as plain text, for tests that recompute its numbers by other code."""

import html
import re
from pathlib import Path

import nbformat

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def printed(notebook, cell):
    """The text that the cell ``cell`` (its id) of the notebook with the number ``notebook`` shows."""
    path = next(NOTEBOOKS.glob(f"{notebook}_*.ipynb"))
    outputs = next(
        each.outputs for each in nbformat.read(path, as_version=4).cells if each.id == cell
    )
    shown = []
    for output in outputs:
        data = output.get("data", {})
        rich = data.get("text/html") or data.get("text/markdown") or data.get("text/plain", "")
        shown.append(
            output.get("text", "")
            + html.unescape(re.sub(r"<style.*?</style>|<[^>]+>", " ", rich, flags=re.DOTALL))
        )
    return re.sub(r"\s+", " ", " ".join(shown))
