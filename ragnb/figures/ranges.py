"""Ranges of what is possible, such as the p-values that published totals leave open."""

# Tested in tests/figures/test_choose.py.

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ragnb.figures.means import row_names
from ragnb.figures.page import look

# The axis is logarithmic if the largest value is this many times the smallest.
_WIDE = 100
# Characters of a row's name in one line.
ROW_NAME = 26


def draw_ranges(
    ax: Axes,
    table: pd.DataFrame,
    rows: Sequence[str],
    names: Mapping[Any, str],
    reference: Mapping[str, float],
) -> bool:
    """Draw a bar from the least to the most that is possible, row by row from the top.

    The result says whether some bars have a second colour, because a reference is inside them.
    """
    heights = np.arange(len(table))[::-1]
    # Whether both sides of a reference are possible. A level such as 0.05 belongs to the upper side: a
    # p-value is significant only below it.
    is_on_both_sides = pd.Series(False, index=table.index)
    for value in reference.values():
        is_on_both_sides |= (table["least"] < value) & (table["most"] >= value)
    for number, on_both_sides in enumerate((False, True)):
        bars = (is_on_both_sides == on_both_sides).to_numpy()
        colour = look(number)["color"]
        least, most = table.loc[bars, "least"], table.loc[bars, "most"]
        ax.hlines(heights[bars], least, most, lw=4, color=colour)
        # A range of one value is a dot.
        is_value = least == most
        heights_of_values = heights[bars][is_value.to_numpy()]
        ax.plot(most[is_value], heights_of_values, "o", color=colour, ms=4)
    values = table[["least", "most"]].to_numpy(float)
    if values.min() > 0 and values.max() > _WIDE * values.min():
        ax.set_xscale("log")
    ax.set_yticks(heights, row_names(table, rows, names, width=ROW_NAME))
    ax.set(ylim=(-0.6, len(table) - 0.4))
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", visible=False)
    return bool(is_on_both_sides.any())
