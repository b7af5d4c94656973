"""Charts of explorables: drawn in the page by its script, and as a picture where no script runs."""

from base64 import b64encode
from collections.abc import Sequence
from functools import lru_cache
from io import BytesIO
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from ragnb.figures.style import WIDTHS, plain, style
from ragnb.markup import spelled

AREAS: dict[str, dict[str, Any]] = {
    "bar": {"color": "0.75", "lw": 0},
    "marked": {"color": "C3", "lw": 0},
    "area": {"color": "C0", "alpha": 0.16, "lw": 0},
}
LINES: dict[str, dict[str, Any]] = {
    "here": {"color": "C0"},
    "result": {"color": "C0"},
    "axis": {"color": "0.6", "lw": 0.8},
    "truth": {"color": "0.4", "ls": ":"},
    "dot": {"color": "C3", "ls": "", "marker": "o"},
}
"""Names of areas and of lines -> how matplotlib draws them; in the page, explore.css does."""

Axis = tuple[float, float, str]
Mark = tuple[str, Any, Any]


class Chart(NamedTuple):
    """A chart with linear axes.

    Attributes
    ----------
    x, y
        Low end, high end and label of each axis.
    marks
        Name of an area or a line, and the coordinates of its points.
    notes
        Place and text of each note. A note in the right half of the chart ends at its place.
    """

    x: Axis
    y: Axis
    marks: Sequence[Mark]
    notes: Sequence[tuple[float, float, str]] = ()

    def picture(self) -> str:
        """Return an address that contains the chart as PNG."""
        with BytesIO() as file, style():
            figure, ax = plt.subplots(figsize=(WIDTHS["text"], 2.6))
            for look, x, y in self.marks:
                if look in AREAS:
                    ax.fill(x, y, **AREAS[look])
                else:
                    ax.plot(x, y, **LINES[look])
            for x, y, text in self.notes:
                ax.text(x, y, plain(text), ha="right" if x > sum(self.x[:2]) / 2 else "left")
            ax.set(xlim=self.x[:2], ylim=self.y[:2], xlabel=plain(self.x[2]), ylabel=self.y[2])
            figure.savefig(file, format="png", dpi=110)
            plt.close(figure)
            return f"data:image/png;base64,{b64encode(file.getvalue()).decode()}"

    def drawing(self) -> dict[str, Any]:
        """Return what the script draws: SVG paths in a square of side 1, and texts at places in it."""
        paths = []
        for look, x, y in self.marks:
            across, down = _shares(x, self.x).tolist(), (1 - _shares(y, self.y)).tolist()
            points = [f"{one:g} {other:g}" for one, other in zip(across, down, strict=True)]
            paths.append(
                [
                    look,
                    "".join(f"M{p}h0" for p in points) if look == "dot" else "M" + "L".join(points),
                ]
            )
        texts = [["tick-x", share, 1, text] for share, text in _ticks(self.x)]
        texts += [["tick-y", 0, 1 - share, text] for share, text in _ticks(self.y)]
        for x, y, text in self.notes:
            left = float(_shares(x, self.x))
            side = "note-end" if left > 0.5 else "note"
            texts.append([side, left, 1 - float(_shares(y, self.y)), spelled(text)])
        return {"x": spelled(self.x[2]), "y": self.y[2], "paths": paths, "texts": texts}


def bars(look: str, edges: ArrayLike, heights: ArrayLike) -> Mark:
    """Return the outline of a histogram."""
    return look, np.repeat(edges, 2), [0, *np.repeat(heights, 2), 0]


def _shares(values: ArrayLike, axis: Axis) -> Any:
    low, high, _ = axis
    return ((np.asarray(values, dtype=float) - low) / (high - low)).round(4)


@lru_cache
def _ticks(axis: Axis) -> list[tuple[float, str]]:
    low, high, _ = axis
    values = MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(low, high)
    return [
        (float(_shares(value, axis)), f"{value:g}".replace("-", "−"))
        for value in values
        if low <= value <= high
    ]
