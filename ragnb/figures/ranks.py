"""Ranks of systems across definitions and metrics."""

# Tested in tests/figures/test_choose.py.

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties

from ragnb.errors import InputError
from ragnb.figures.page import look, spread, text_colour, text_width, width_in_inches, wrapped
from ragnb.figures.styles import plain
from ragnb.figures.words import words_for

# Systems in colour: those whose ranks vary most.
N_COLOURED = 2
GREY = "0.75"
# Least distance between the names of two systems, in ranks, if each has one line.
_BETWEEN_NAMES = 0.42
# Inches of a rank if all names have one line, and of a line of a name and the room around it.
_RANK, _LINE, _GAP = 0.26, 0.16, 0.08
# The largest part of the page that the names of the systems have, and the part of the vertical axis.
_NAMES, _AXIS = 0.35, 0.08


def mean_ranks(
    means: pd.DataFrame, across: str, higher_is_better: Mapping[Any, bool]
) -> pd.DataFrame:
    """Rank of each system (rows) by its mean under each definition (columns); 1 is best, ties share a rank."""
    wide = means.pivot(index="system", columns=across, values="mean")
    wide = wide[list(dict.fromkeys(means[across]))]
    ranks = {
        definition: values.rank(ascending=not higher_is_better.get(definition, True))
        for definition, values in wide.items()
    }
    return pd.DataFrame(ranks, index=wide.index)


def height_of_rank(
    ranks: pd.DataFrame, names: Mapping[Any, str] | None, width: str | float
) -> float:
    """Inches between two ranks at which the names of the systems do not overlap."""
    labels = _system_names(ranks, names, 72 * width_in_inches(width))
    n_lines = max(label.count("\n") + 1 for label in labels.values())
    return _RANK if n_lines == 1 else n_lines * _LINE + _GAP


def draw_ranks(
    ax: Axes, ranks: pd.DataFrame, across: str, names: Mapping[Any, str] | None = None
) -> None:
    """Draw the rank of each system along the definitions, with its name at the end."""
    if len(ranks) < 2 or ranks.shape[1] < 2:
        raise InputError(
            "a figure of ranks needs at least 2 systems and 2 metrics or definitions, got "
            f"{len(ranks)} and {ranks.shape[1]}"
        )
    variance = ranks.var(axis=1).sort_values(ascending=False, kind="stable")
    coloured = list(variance[variance > 0].index[:N_COLOURED])
    places = range(ranks.shape[1])
    for system, row in ranks.iterrows():
        is_coloured = system in coloured
        colour = look(coloured.index(system))["color"] if is_coloured else GREY
        width, size, order = (2.0, 5, 3) if is_coloured else (1.0, 3, 2)
        ax.plot(places, row, "-o", color=colour, lw=width, ms=size, zorder=order)
    figure: Any = ax.figure
    width = 72 * figure.get_figwidth()
    system_names = _system_names(ranks, names, width)
    has_long_names = any("\n" in name for name in system_names.values())
    distance = 1.0 if has_long_names else _BETWEEN_NAMES
    # Names of tied systems are below each other.
    last_ranks = ranks.iloc[:, -1].dropna().sort_values()
    heights = spread(last_ranks.tolist(), distance, 1, len(ranks))
    for system, height in zip(last_ranks.index, heights, strict=True):
        colour = look(coloured.index(system))["color"] if system in coloured else "0.4"
        ax.annotate(
            system_names[system],
            (places[-1], height),
            (6, 0),
            textcoords="offset points",
            va="center",
            color=text_colour(colour),
            annotation_clip=False,
        )
    labels = [words_for(definition, names, column=across) for definition in ranks.columns]
    font = FontProperties(size=plt.rcParams["font.size"])
    lines = [line for name in system_names.values() for line in name.split("\n")]
    width_of_names = max(text_width(line, font) for line in lines)
    _name_places(ax, labels, (1 - _AXIS) * width - width_of_names)
    ax.set_yticks(range(1, len(ranks) + 1))
    ax.set(
        xlim=(-0.4, len(places) - 0.6),
        ylim=(len(ranks) + 0.5, 0.5),
        ylabel=plain("rank"),
        xlabel="",
    )
    ax.grid(axis="x", visible=False)


def _system_names(
    ranks: pd.DataFrame, names: Mapping[Any, str] | None, width: float
) -> dict[Any, str]:
    """The words for each system, in lines that leave room for the axes on a page of some points."""
    font = FontProperties(size=plt.rcParams["font.size"])
    system_names = {}
    for system in ranks.index:
        words = words_for(system, names, column="system")
        system_names[system] = "\n".join(wrapped(words, _NAMES * width, font))
    return system_names


def _name_places(ax: Axes, labels: list[str], width: float) -> None:
    """Name the places of a horizontal axis of some points, in upright lines if each word has room, else aslant."""
    room = width / len(labels)
    font = FontProperties(size=plt.rcParams["xtick.labelsize"])
    # Four points are left between two names.
    upright = ["\n".join(wrapped(label, room - 4, font)) for label in labels]
    lines = [line for label in upright for line in label.split("\n")]
    places = range(len(labels))
    if max(text_width(line, font) for line in lines) <= room:
        ax.set_xticks(places, upright)
    else:
        ax.set_xticks(places, labels, rotation=50, ha="right", rotation_mode="anchor")
