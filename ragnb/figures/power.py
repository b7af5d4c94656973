"""The minimum detectable effect against the number of questions, before a study."""

# Tested in tests/figures/test_names.py.

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from ragnb.figures.page import look, text_colour
from ragnb.figures.words import words_for

_DASHES = ("-", (0, (4, 1.5)), (0, (5, 1.2, 1, 1.2)), (0, (1, 1)))
# Axes are logarithmic if the largest number is this many times the smallest.
_WIDE = 10


def draw_power(
    ax: Axes, effects: pd.DataFrame, names: Mapping[Any, str]
) -> list[tuple[float, str, str]]:
    """Draw one line for each share of discordant questions.

    The result has the last effect, the name and the colour of each line, for `name_lines`.
    """
    ends = []
    for place, (share, line) in enumerate(effects.groupby("discordance", sort=False)):
        defined = line.dropna(subset="mde").sort_values("n_pairs")
        if defined.empty:
            continue
        colour = look(place)["color"]
        dashes: Any = _DASHES[place % len(_DASHES)]
        ax.plot(defined["n_pairs"], defined["mde"], color=colour, ls=dashes, lw=1.3)
        name = words_for(share, names) if share in names else f"{100 * share:.3g} % discordant"
        ends.append((float(defined["mde"].iloc[-1]), name, text_colour(colour)))
    sizes = effects["n_pairs"]
    if sizes.max() > _WIDE * sizes.min():
        ax.set(xscale="log", yscale="log")
        # Ticks at 1, 3, 10, 30 and so on, as ordinary numbers.
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
            axis.set_minor_locator(NullLocator())
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.set_xlabel(words_for("number of questions", names))
    ax.set_ylabel(words_for("minimum detectable effect", names))
    return ends


def draw_half_widths(
    ax: Axes, widths: pd.DataFrame, names: Mapping[Any, str]
) -> list[tuple[float, str, str]]:
    """Draw one line with the judge and one for the labels alone.

    The result has the last half-width, the name and the colour of each line, for `name_lines`.
    """
    ends = []
    for place, (name, line) in enumerate(widths.groupby("labels", sort=False)):
        defined = line.dropna(subset="half_width").sort_values("n_labels")
        if defined.empty:
            continue
        colour = look(place)["color"]
        dashes: Any = _DASHES[place % len(_DASHES)]
        ax.plot(defined["n_labels"], defined["half_width"], color=colour, ls=dashes, lw=1.3)
        end = float(defined["half_width"].iloc[-1])
        ends.append((end, words_for(name, names), text_colour(colour)))
    ax.set_ylim(bottom=0)
    ax.set_xlabel(words_for("number of labels", names))
    ax.set_ylabel(words_for("half-width of the interval", names))
    return ends
