"""What two systems have right and wrong on the same questions, as areas."""

# Tested in tests/figures/test_choose.py.

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Rectangle

from ragnb.errors import InputError
from ragnb.figures.page import LEAST_CONTRAST, contrast, look, text_colour, text_width
from ragnb.figures.words import words_for

BOTH_RIGHT, BOTH_WRONG = "0.85", "0.94"


def paired_outcomes(scores: pd.DataFrame) -> pd.DataFrame:
    """One row per question that both of two systems have scored with 0 or 1; the systems are the columns."""
    systems = list(dict.fromkeys(scores["system"]))
    metrics = list(dict.fromkeys(scores["metric"]))
    if len(systems) != 2 or len(metrics) != 1:
        raise InputError(
            "a figure of outcomes needs the scores of 2 systems under 1 metric, got systems: "
            f"{len(systems)}, metrics: {len(metrics)}; select the rows of two systems and one metric"
        )
    if scores.duplicated(["example_id", "system"]).any():
        raise InputError(
            "a figure of outcomes needs one score per question and system; choose one condition"
        )
    wide = scores.pivot(index="example_id", columns="system", values="value")[systems].dropna()
    if wide.empty or not wide.isin([0, 1]).all(axis=None):
        raise InputError("a figure of outcomes needs scores of 0 and 1 on the same questions")
    return wide


def draw_outcomes(ax: Axes, outcomes: pd.DataFrame, names: Mapping[Any, str] | None = None) -> None:
    """Draw the four outcomes of two systems as areas in proportion to their numbers of questions.

    The width of the left column is the share of questions that the first system has right; within
    a column, the lower part is the share that the second system has right.
    """
    first, second = outcomes.columns
    first_name, second_name = (
        words_for(system, names, column="system") for system in (first, second)
    )
    n = len(outcomes)
    left = 0.0
    # Scores of the first and of the second system -> name and colour of the area.
    parts = {
        (1, 1): ("both right", BOTH_RIGHT),
        (1, 0): (f"only {first_name}", look(0)["color"]),
        (0, 1): (f"only {second_name}", look(1)["color"]),
        (0, 0): ("both wrong", BOTH_WRONG),
    }
    for of_first in (1, 0):
        column = outcomes[outcomes[first] == of_first]
        width = len(column) / n
        bottom = 0.0
        for of_second in (1, 0):
            count = int((column[second] == of_second).sum())
            height = count / len(column) if len(column) else 0.0
            words, colour = parts[of_first, of_second]
            ax.add_patch(
                Rectangle(
                    (left, bottom), width, height, facecolor=colour, edgecolor="white", lw=1.5
                )
            )
            if count:
                _name_area(ax, (left, bottom, width, height), f"{words}\n{count:,}", colour)
            bottom += height
        left += width
    ax.set(xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[])
    ax.set_xlabel(f"{first_name}: {outcomes[first].mean() * 100:.0f} % right")
    ax.set_ylabel(f"{second_name}: {outcomes[second].mean() * 100:.0f} % right")
    ax.spines[:].set_visible(False)
    ax.grid(visible=False)
    ax.set_aspect("equal")


def _name_area(ax: Axes, area: tuple[float, float, float, float], words: str, colour: str) -> None:
    """Write a name into an area, or beside all areas with a line if it is too large for it."""
    x, y, width, height = area
    middle = (x + width / 2, y + height / 2)
    is_grey = colour in (BOTH_RIGHT, BOTH_WRONG)
    font = FontProperties(size="small")
    points = ax.get_window_extent().width / ax.figure.dpi * 72
    # Two points are free on each side of the name. It has two lines, with the distance between lines.
    name_width = max(text_width(line, font) for line in words.split("\n")) + 4
    name_height = 2.6 * font.get_size_in_points()
    if name_width <= width * points and name_height <= height * points:
        ink = "white" if not is_grey and contrast(colour) >= LEAST_CONTRAST else "black"
        ax.text(*middle, words, ha="center", va="center", color=ink, fontsize="small")
        return
    ax.annotate(
        words.replace("\n", ":\n"),
        (x + width - 0.02, middle[1]),
        (1.04, middle[1]),
        va="center",
        color="0.3" if is_grey else text_colour(colour),
        fontsize="small",
        arrowprops={"arrowstyle": "-", "color": "0.4", "lw": 0.6},
        annotation_clip=False,
    )
