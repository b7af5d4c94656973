"""Charts of explorables: drawn in the page by its script, and as a picture where no script runs."""

# Tested in tests/widgets/test_explorables.py.

from base64 import b64encode
from collections.abc import Sequence
from functools import lru_cache
from io import BytesIO
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from ragnb.figures.styles import WIDTHS, plain, style
from ragnb.markup import spelled

# Names of areas and of lines -> how matplotlib draws them; in the page, explore.css does.
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

# Low end, high end and label.
Axis = tuple[float, float, str]
# Name of an area or a line, and the x and y coordinates of its points.
Mark = tuple[str, Any, Any]
# Place, and text.
Note = tuple[float, float, str]


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
    notes: Sequence[Note] = ()

    def picture(self) -> str:
        """Return an address that contains the chart as PNG."""
        x_limits, y_limits = self.x[:2], self.y[:2]
        middle = sum(x_limits) / 2
        with BytesIO() as file, style():
            figure, ax = plt.subplots(figsize=(WIDTHS["text"], 2.6))
            for look, x, y in self.marks:
                if look in AREAS:
                    ax.fill(x, y, **AREAS[look])
                else:
                    ax.plot(x, y, **LINES[look])
            for x, y, text in self.notes:
                ax.text(x, y, plain(text), ha="right" if x > middle else "left")
            ax.set(xlim=x_limits, ylim=y_limits, xlabel=plain(self.x[2]), ylabel=self.y[2])
            figure.savefig(file, format="png", dpi=110)
            plt.close(figure)
            return f"data:image/png;base64,{b64encode(file.getvalue()).decode()}"

    def contents(self) -> dict[str, Any]:
        """Return what the script draws: SVG paths in a square of side 1, and texts at places in it."""
        paths = [[look, self._path(look, x, y)] for look, x, y in self.marks]
        texts = [["tick-x", share, 1, text] for share, text in _ticks(self.x)]
        texts += [["tick-y", 0, 1 - share, text] for share, text in _ticks(self.y)]
        for x, y, text in self.notes:
            from_left, from_top = float(_shares(x, self.x)), 1 - float(_shares(y, self.y))
            look = "note-end" if from_left > 0.5 else "note"
            texts.append([look, from_left, from_top, spelled(text)])
        return {"x": spelled(self.x[2]), "y": self.y[2], "paths": paths, "texts": texts}

    def _path(self, look: str, x: ArrayLike, y: ArrayLike) -> str:
        """The path of a mark in SVG's notation, in which y grows downwards."""
        from_left = _shares(x, self.x).tolist()
        from_top = (1 - _shares(y, self.y)).tolist()
        points = [f"{left:g} {top:g}" for left, top in zip(from_left, from_top, strict=True)]
        if look == "dot":
            # A line of no length, which has round ends.
            return "".join(f"M{point}h0" for point in points)
        return "M" + "L".join(points)


def histogram(
    edges: Any,
    heights: Any,
    marked_heights: Any,
    place: float,
    labels: tuple[str, str],
    note: str = "",
) -> Chart:
    """Return bars with the marked part of each in colour, and a line at a place with a note."""
    top = 1.15 * max(heights)
    marks = [
        _outline("bar", edges, heights),
        _outline("marked", edges, marked_heights),
        ("here", [place, place], [0, top]),
    ]
    x_label, y_label = labels
    notes = [(place, 0.94 * top, note)] if note else []
    return Chart((edges[0], edges[-1], x_label), (0, top, y_label), marks, notes)


def _outline(look: str, edges: ArrayLike, heights: ArrayLike) -> Mark:
    """The outline of a histogram."""
    return look, np.repeat(edges, 2), [0, *np.repeat(heights, 2), 0]


def _shares(values: ArrayLike, axis: Axis) -> Any:
    """Values as proportions of the length of an axis."""
    low, high, _ = axis
    return ((np.asarray(values, dtype=float) - low) / (high - low)).round(4)


@lru_cache
def _ticks(axis: Axis) -> list[tuple[float, str]]:
    """Proportion of the axis and text of each tick."""
    low, high, _ = axis
    values = MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(low, high)
    inside = [value for value in values if low <= value <= high]
    return [(float(_shares(value, axis)), f"{value:g}".replace("-", "−")) for value in inside]
