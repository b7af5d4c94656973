"""The distribution of scores, also by grade, and how far predicted probabilities can be relied on."""

# Tested in tests/figures/test_choose.py.

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from ragnb.figures.page import REFERENCE, look
from ragnb.figures.styles import kinds_of, plain, reach
from ragnb.figures.words import words_for
from ragnb.reports.grades import QUANTILES
from ragnb.stats.intervals import rate_interval

# A logarithmic axis is used if the largest class has this many times the share of the median class.
_LOG_FROM = 25.0
# Number of classes of a distribution.
_N_CLASSES = 20


def is_skewed(groups: Sequence[pd.Series], bounds: tuple[float, float] | None) -> bool:
    """Whether most classes of a distribution would be invisible beside the largest one."""
    for values in groups:
        shares = shares_of_classes(values, bounds)["share"]
        if shares.max() >= _LOG_FROM * shares[shares > 0].median():
            return True
    return False


def shares_of_classes(values: pd.Series, bounds: tuple[float, float] | None) -> pd.DataFrame:
    """The limits of 20 classes, the share of the values in each, and the number of all values."""
    counts, edges = np.histogram(values.to_numpy(float), bins=_N_CLASSES, range=bounds)
    shares = {"from": edges[:-1], "to": edges[1:], "share": counts / len(values), "n": len(values)}
    return pd.DataFrame(shares)


def name_values(ax: Axes, references: Mapping[str, float]) -> None:
    """Write the names of marked values next to their lines, inside the axes."""
    left, right = ax.get_xlim()
    for name, value in references.items():
        # A name in the right half is left of its line, so that it does not leave the axes.
        is_left = value > (left + right) / 2
        ax.annotate(
            plain(name),
            (value, 1),
            (-3 if is_left else 3, -2),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="right" if is_left else "left",
            va="top",
            fontsize="small",
            color=REFERENCE,
        )


def draw_distribution(
    ax: Axes, values: pd.Series, colour: str, bounds: tuple[float, float] | None
) -> None:
    """Draw the share of the values in each of 20 classes, and their mean as a line."""
    options: dict[str, Any] = {"binrange": bounds} if bounds else {}
    sns.histplot(
        x=values.to_numpy(float),
        bins=_N_CLASSES,
        stat="proportion",
        color=colour,
        edgecolor="white",
        linewidth=0.4,
        alpha=0.85,
        ax=ax,
        **options,
    )
    ax.axvline(values.mean(), color=REFERENCE, lw=1)
    ax.set(xlabel="", ylabel="share")
    if bounds:
        ax.set_xlim(bounds[0] - 0.02, bounds[1] + 0.02)


def draw_reliability(ax: Axes, curve: pd.DataFrame, names: Mapping[Any, str] | None = None) -> None:
    """Draw the observed share against the mean prediction of each bin, with Wilson intervals."""
    rows = curve[curve["n"] > 0]
    ax.plot([0, 1], [0, 1], color=REFERENCE, ls="--", lw=0.9)
    ax.annotate("ideal", (0.97, 0.97), (-2, -8), textcoords="offset points", ha="right", va="top",
                fontsize="small", color=REFERENCE)  # fmt: skip
    limits = [rate_interval(round(row.observed * row.n), int(row.n)) for row in rows.itertuples()]
    below = rows["observed"].to_numpy() - [interval.low for interval in limits]
    above = [interval.high for interval in limits] - rows["observed"].to_numpy()
    appearance = look(0)
    ax.errorbar(
        rows["mean_predicted"],
        rows["observed"],
        [below, above],
        fmt=appearance["marker"],
        color=appearance["color"],
        lw=1,
    )
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.set_xlabel(words_for("predicted probability", names))
    ax.set_ylabel(words_for("observed share", names))
    ax.set_aspect("equal")


def draw_grades(ax: Axes, grades: pd.DataFrame, names: Mapping[Any, str] | None = None) -> str:
    """Draw the distribution of a judge's scores for each grade of people, and return the small print.

    Each grade has a grey box from the first to the third quartile with the median, lines to the
    quantiles of 5 and 95 %, and in colour the mean with its interval.
    """
    rows = grades.sort_values("grade")
    first = rows.iloc[0]
    places = range(len(rows))
    # The keys by which `Axes.bxp` finds the quantiles of a box, from the lowest to the highest.
    keys = dict(zip(QUANTILES, ("whislo", "q1", "med", "q3", "whishi"), strict=True))
    boxes = rows[list(QUANTILES)].rename(columns=keys).to_dict("records")
    grey: Any = {"color": "0.55", "lw": 0.9}
    ax.bxp(
        boxes,
        positions=places,
        widths=0.5,
        showfliers=False,
        showcaps=False,
        patch_artist=True,
        boxprops={"facecolor": "0.9", "edgecolor": "0.7"},
        medianprops=grey,
        whiskerprops=grey,
    )
    appearance = look(0)
    ax.errorbar(places, rows["mean"], yerr=reach(rows), ls="none", zorder=3, lw=1.1, **appearance)
    ax.set_xticks(places, [f"{row.grade}\nn = {row.n:,}" for row in rows.itertuples()])
    ax.grid(axis="x", visible=False)
    label = first["label"]
    has_own_name = label in (names or {})
    ax.set_xlabel(words_for(label, names) if has_own_name else plain(f"people's grade ({label})"))
    ax.set_ylabel(words_for(first["judge"], names, column="judge"))
    value, low, high = first[["spearman", "spearman_low", "spearman_high"]]
    note = f"means with {kinds_of(rows)}; boxes: quartiles; lines: 5 and 95 % quantiles"
    return f"{note}\nSpearman {value:z.2f} [{low:z.2f}, {high:z.2f}]"
