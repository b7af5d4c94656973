"""Figures of several systems: the critical-difference diagram."""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib.axes import Axes

from ragnb.errors import InputError
from ragnb.figures.style import MARKERS, WIDTHS, caption, plain, style
from ragnb.stats.several import RankComparison, SystemRank, not_separated

STEP = 0.42
"""Height of a bar of the diagram, in rows."""


def plot_critical_difference(
    comparison: RankComparison,
    systems: Sequence[str],
    *,
    ranks: Sequence[SystemRank] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a critical-difference diagram: average ranks, and bars that join systems without a clear difference.

    Parameters
    ----------
    comparison
        The result of `ragnb.stats.several.pairwise_tests`.
    systems
        Names of the systems, in the order of the comparison.
    ranks
        The result of `ragnb.stats.several.rank_intervals`, in the same order. It adds the interval of each average rank and,
        at the right, the interval of the rank by mean score and the probability of being the best.
    ax
        Axes to draw on; a new figure of text width by default.

    Returns
    -------
    Axes
        The best system on top and at the left, a thin stem from the axis of average ranks to each. Bars as in
        `ragnb.stats.several.not_separated`.

    Raises
    ------
    InputError
        If names or ranks are not as many as the systems compared, or an average rank is undefined.

    Source: Demsar (2006), JMLR 7, figure 1, with the names in rows so that intervals have room.
    """
    k, average = len(systems), np.array(comparison.average_ranks)
    given = sorted({k, k if ranks is None else len(ranks)})
    if given != [average.size]:
        got = " and ".join(map(str, given))
        raise InputError(
            f"plot_critical_difference needs names (and ranks) of {average.size} systems; got {got}"
        )
    if not np.isfinite(average).all():
        raise InputError("plot_critical_difference needs average ranks; got undefined ones")
    level = comparison.confidence_level
    groups = not_separated(average, comparison.p_values, confidence_level=level)
    top = k + STEP * len(groups) - 0.3
    order = np.argsort(average, kind="stable").tolist()
    note = f"{comparison.method}, n = {comparison.n}; bars join systems that do not differ at the {1 - level:.2g} level"
    if ranks:
        first, by_mean = ranks[0].average_rank, ranks[0].rank
        kinds = f"{first.method}; {by_mean.method}"
        note += f"\n{first.confidence_level:.0%} intervals, {first.n} units: {kinds}"
    colour = sns.color_palette("colorblind")[0]
    with style():
        ax = ax or plt.subplots(figsize=(WIDTHS["text"], 0.75 + 0.24 * top))[1]
        for place, system in enumerate(order):
            height = k - 1 - place
            ax.vlines(average[system], height, top, color="0.75", lw=0.7, zorder=1)
            if ranks is not None:
                low, high = ranks[system].average_rank.low, ranks[system].average_rank.high
                if np.isfinite([low, high]).all():
                    ax.hlines(height, low, high, color=colour, lw=1.2, zorder=2)
                note_style: dict[str, Any] = {"fontsize": 6, "color": "0.3", "va": "center"}
                note_style |= {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
                note_style |= {"xytext": (4, 0), "annotation_clip": False}
                ax.annotate(_standing(ranks[system]), (1, height), **note_style)
            ax.plot(average[system], height, MARKERS[0], color=colour, zorder=3)
        overhang = 0.012 * (k - 1)
        for number, group in enumerate(reversed(groups)):
            members = average[list(group)]
            ends = [members.min() - overhang, members.max() + overhang]
            bar: dict[str, Any] = {"color": "0.15", "lw": 3, "solid_capstyle": "butt", "zorder": 4}
            ax.plot(ends, 2 * [k - 0.4 + number * STEP], **bar)
        ax.set_yticks(range(k), [plain(systems[system]) for system in reversed(order)])
        ax.set(xlim=(0.9, k + 0.1), ylim=(-0.6, top), xticks=range(1, k + 1))
        ax.set_xlabel("average rank (1 is best)")
        ax.xaxis.tick_top()
        ax.xaxis.set_label_position("top")
        ax.spines[["bottom", "left"]].set_visible(False)
        ax.spines["top"].set_visible(True)
        ax.tick_params(axis="y", length=0)
        ax.grid(visible=False)
        caption(ax, note)
    return ax


def _standing(rank: SystemRank) -> str:
    """Describe the rank of a system by mean score: ``rank 1-2, best in 83%``."""
    if not np.isfinite([rank.rank.low, rank.rank.high]).all():
        return "rank undefined"
    low, high = int(rank.rank.low), int(rank.rank.high)
    return f"rank {low}{f'-{high}' if high > low else ''}, best in {rank.probability_best:.0%}"
