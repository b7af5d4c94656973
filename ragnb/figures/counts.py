"""How many responses of each kind there are, as bars."""

# Tested in tests/figures/test_choose.py.

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties

from ragnb.figures.means import row_names
from ragnb.figures.page import LEAST_CONTRAST, contrast, text_width


def draw_counts(
    ax: Axes, counts: pd.DataFrame, looks: Mapping[Any, Mapping[str, Any]], names: Mapping[Any, str]
) -> None:
    """Draw one bar per row from the top, with one piece per column, and the numbers that have room."""
    heights = range(len(counts) - 1, -1, -1)
    left = pd.Series(0.0, index=counts.index)
    for group in counts.columns:
        ax.barh(heights, counts[group], left=left, height=0.7, color=looks[group]["color"])
        left += counts[group]
    # Without any response, the axis still needs a length.
    ax.set_xlim(0, 1.02 * left.max() or 1.0)
    ax.set_yticks(heights, row_names(counts.index.to_frame(), [counts.index.name], names))
    ax.set_ylim(-0.55, len(counts) - 0.45)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", visible=False)


def write_counts(ax: Axes, counts: pd.DataFrame, looks: Mapping[Any, Mapping[str, Any]]) -> None:
    """Write the number of each piece into it. The page must be complete, because room is measured on it."""
    figure: Any = ax.figure
    figure.draw_without_rendering()
    font = FontProperties(size="small")
    # Pixels.
    per_point = figure.dpi / 72
    for height, (_, row) in zip(range(len(counts) - 1, -1, -1), counts.iterrows(), strict=True):
        left = 0.0
        for group, count in row.items():
            start, end = ax.transData.transform([(left, height), (left + count, height)])[:, 0]
            colour = looks[group]["color"]
            ink = "white" if contrast(colour) >= LEAST_CONTRAST else "black"
            # Two points are free on each side of the number.
            if text_width(str(count), font) + 4 <= (end - start) / per_point:
                ax.text(left + count / 2, height, str(count), ha="center", va="center_baseline",
                        fontsize="small", color=ink)  # fmt: skip
            left += count
