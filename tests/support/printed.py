"""What a committed notebook shows, as plain text, for tests that recompute its numbers by other code."""

import html
import re
from functools import cache
from pathlib import Path

import nbformat

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


@cache
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


NUMBER = re.compile(r"(?<![\w.])[-−+]?\d[\d,]*(?:\.\d+)?(?:e[-+]\d+)?(?![\w.]*[a-zA-Z])")


def follow(notebook, cell, words, numbers):
    """Check that these numbers follow some words in what a cell shows, as far as they are printed.

    Other words may stand between them, so that the layout of a table does not matter.
    """
    text = printed(notebook, cell)
    assert words in text, f"{words!r} is not in {text[:500]!r}"
    shown = NUMBER.findall(text[text.index(words) + len(words) :])[: len(numbers)]
    assert len(shown) == len(numbers)
    for one, number in zip(shown, numbers, strict=True):
        plain = one.replace(",", "").replace("−", "-")
        decimals = len(plain.partition(".")[2])
        message = f"{words}: {shown} are not {list(numbers)}"
        assert abs(float(plain) - number) <= 0.5 * 10**-decimals + 1e-9, message
