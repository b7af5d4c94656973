"""Ranks of systems across definitions and metrics."""

import math
from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties

from ragnb.errors import InputError
from ragnb.figures.page import look, text_colour, text_width, wrapped
from ragnb.figures.styles import plain
from ragnb.figures.words import words_for

# Systems in colour: those whose ranks vary most.
N_COLOURED = 2
GREY = "0.75"
# Least distance between the names of two systems, in ranks.
_BETWEEN_NAMES = 0.42
# The part of the page that the axes have, because the names of the systems are next to them.
_AXES = 0.75


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
    height_above = -math.inf
    for system, last_rank in ranks.iloc[:, -1].dropna().sort_values().items():
        # Names of tied systems are below each other. Rank 1 is at the top, so heights increase downwards.
        height = max(last_rank, height_above + _BETWEEN_NAMES)
        height_above = height
        colour = look(coloured.index(system))["color"] if system in coloured else "0.4"
        ax.annotate(
            words_for(system, names, column="system"),
            (places[-1], height),
            (6, 0),
            textcoords="offset points",
            va="center",
            color=text_colour(colour),
            annotation_clip=False,
        )
    labels = [words_for(definition, names, column=across) for definition in ranks.columns]
    _name_places(ax, labels)
    ax.set_yticks(range(1, len(ranks) + 1))
    ax.set(
        xlim=(-0.4, len(places) - 0.6),
        ylim=(len(ranks) + 0.5, 0.5),
        ylabel=plain("rank"),
        xlabel="",
    )
    ax.grid(axis="x", visible=False)


def _name_places(ax: Axes, labels: list[str]) -> None:
    """Name the places of the horizontal axis, in upright lines if each word has room, else aslant."""
    figure: Any = ax.figure
    # In points.
    room = _AXES * 72 * figure.get_figwidth() / len(labels)
    font = FontProperties(size=plt.rcParams["xtick.labelsize"])
    # Four points are left between two names.
    upright = ["\n".join(wrapped(label, room - 4, font)) for label in labels]
    lines = [line for label in upright for line in label.split("\n")]
    places = range(len(labels))
    if max(text_width(line, font) for line in lines) <= room:
        ax.set_xticks(places, upright)
    else:
        ax.set_xticks(places, labels, rotation=50, ha="right", rotation_mode="anchor")
