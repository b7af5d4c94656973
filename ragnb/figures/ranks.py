"""Pictures of several systems at once: the critical-difference diagram."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib.axes import Axes

from ragnb.errors import InputError
from ragnb.figures.style import MARKERS, WIDTHS, plain, style
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
    """Critical-difference diagram: average ranks, and bars that join systems that are not separated.

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
    _check(comparison, systems, ranks)
    average = np.array(comparison.average_ranks)
    groups = not_separated(
        average, comparison.p_values, confidence_level=comparison.confidence_level
    )
    top = len(systems) + STEP * len(groups) - 0.3
    with style():
        ax = ax or plt.subplots(figsize=(WIDTHS["text"], 0.75 + 0.24 * top))[1]
        for place, system in enumerate(np.argsort(average, kind="stable").tolist()):
            height = len(systems) - 1 - place
            _draw_system(ax, height, top, average[system], None if ranks is None else ranks[system])
        _draw_bars(
            ax,
            len(systems) - 0.4,
            [average[list(group)] for group in groups],
            0.012 * (len(systems) - 1),
        )
        _finish(ax, average, systems, top)
        ax.set_title(plain(_note(comparison, ranks)), loc="left", fontsize="small", color="0.35")
    return ax


def _check(
    comparison: RankComparison, systems: Sequence[str], ranks: Sequence[SystemRank] | None
) -> None:
    k = len(comparison.average_ranks)
    given = {len(systems)} if ranks is None else {len(systems), len(ranks)}
    if given != {k}:
        got = " and ".join(map(str, sorted(given)))
        raise InputError(
            f"plot_critical_difference needs names (and ranks) of {k} systems; got {got}; give one a system"
        )
    if not np.isfinite(comparison.average_ranks).all():
        raise InputError(
            "plot_critical_difference needs average ranks; got undefined ones; compare at least one item"
        )


def _draw_system(
    ax: Axes, height: int, top: float, average: float, rank: SystemRank | None
) -> None:
    colour = sns.color_palette("colorblind")[0]
    ax.vlines(average, height, top, color="0.75", lw=0.7, zorder=1)
    if rank is not None:
        low, high = rank.average_rank.low, rank.average_rank.high
        if np.isfinite([low, high]).all():
            ax.hlines(height, low, high, color=colour, lw=1.2, zorder=2)
        ax.annotate(_standing(rank), (1, height), xycoords=("axes fraction", "data"), xytext=(4, 0), va="center",
                    textcoords="offset points", fontsize=6, color="0.3", annotation_clip=False)  # fmt: skip
    ax.plot(average, height, MARKERS[0], color=colour, zorder=3)


def _draw_bars(ax: Axes, base: float, groups: list[np.ndarray], overhang: float) -> None:
    for number, members in enumerate(reversed(groups)):
        reach = [members.min() - overhang, members.max() + overhang]
        ax.plot(
            reach, 2 * [base + number * STEP], color="0.15", lw=3, solid_capstyle="butt", zorder=4
        )


def _finish(ax: Axes, average: np.ndarray, systems: Sequence[str], top: float) -> None:
    k = len(systems)
    order = np.argsort(average, kind="stable")[::-1].tolist()
    ax.set_yticks(range(k), [plain(systems[system]) for system in order])
    ax.set(
        xlim=(0.9, k + 0.1),
        ylim=(-0.6, top),
        xticks=range(1, k + 1),
        xlabel="average rank (1 is best)",
    )
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    ax.spines[["bottom", "left"]].set_visible(False)
    ax.spines["top"].set_visible(True)
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False)


def _standing(rank: SystemRank) -> str:
    """Where a system stands by mean score, in words: ``rank 1-2, best in 83%``."""
    if not np.isfinite([rank.rank.low, rank.rank.high]).all():
        return "rank undefined"
    low, high = int(rank.rank.low), int(rank.rank.high)
    return f"rank {low}{f'-{high}' if high > low else ''}, best in {rank.probability_best:.0%}"


def _note(comparison: RankComparison, ranks: Sequence[SystemRank] | None) -> str:
    level = f"{1 - comparison.confidence_level:.2g}"
    said = f"{comparison.method}, n = {comparison.n}; bars join systems not told apart at {level}"
    if not ranks:
        return said
    average, by_mean = ranks[0].average_rank, ranks[0].rank
    kinds = f"{average.method}; {by_mean.method}"
    return f"{said}\n{average.confidence_level:.0%} intervals, {average.n} units: {kinds}"
