"""What a gain costs: mean gain against mean cost, and the net benefit along the price of a unit of cost."""

# Tested in tests/figures/test_names.py.

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import seaborn.objects as so
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from ragnb.errors import InputError
from ragnb.figures.means import draw_on
from ragnb.figures.page import REFERENCE, look
from ragnb.figures.plane import draw_plane, point_colours
from ragnb.figures.styles import level_of, plain, require_rates, span

# Words for the shapes of Fieller's set that are no wedge.
_SHAPES = {"two rays": " (two rays)", "whole line": " (any ratio)"}
_WHAT = "a figure of gain and cost"
# What the net benefit shows in the direction of its interval.
_VERDICTS = {1: "worth it", 0: "inconclusive", -1: "not worth it"}
# The least part of the axis that has room for the name of a verdict.
_ROOM = {"worth it": 0.16, "inconclusive": 0.22, "not worth it": 0.22}


def fieller_rows(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of an efficiency table with Fieller's set, one per system."""
    gain_and_cost = [f"{name}{end}" for name in ("gain", "cost") for end in ("", "_low", "_high")]
    needed = ["estimator", "kind", *gain_and_cost, "n", "n_units"]
    require_rates(table, needed, ["system", "estimator"], _WHAT)
    rows = table[table["estimator"].str.contains("Fieller")]
    if rows.empty:
        raise InputError(f"{_WHAT} needs rows of Fieller's estimator, got none")
    return rows.reset_index(drop=True)


def as_points(rows: pd.DataFrame) -> pd.DataFrame:
    """One point per system: cost is x, gain is y. An undefined interval has no length."""
    points = {"system": rows["system"]}
    for axis, name in (("x", "cost"), ("y", "gain")):
        points[axis] = rows[name]
        for end in ("_low", "_high"):
            points[f"{axis}{end}"] = rows[f"{name}{end}"].fillna(rows[name])
    return pd.DataFrame(points)


def names_of_shapes(rows: pd.DataFrame, names: Mapping[Any, str]) -> dict[Any, str]:
    """The name of each system, with the shape of its set if that is no wedge."""
    return {
        row["system"]: f"{names.get(row['system'], row['system'])}{_SHAPES.get(row['kind'], '')}"
        for row in rows.to_dict("records")
    }


def draw_gain_and_cost(ax: Axes, rows: pd.DataFrame, prices: Mapping[str, float]) -> None:
    """Draw the mean gain and cost of each system, and the ratios in Fieller's set as a wedge.

    The baseline is the origin. Two rays are filled above and below, and a set that is the whole line
    fills everything. Prices are dashed lines: a gain above the line is worth its cost.
    """
    points = as_points(rows)
    # The axes contain 0, all intervals, and some room. If nothing has a cost, or all gains are 0, they have
    # the length 1.
    far = 1.15 * float(np.nanmax([*points["x_high"], *points["x"], 0.0])) or 1.0
    heights = np.append(points[["y", "y_low", "y_high"]], 0.0)
    lowest, highest = float(np.nanmin(heights)), float(np.nanmax(heights))
    margin = 0.15 * ((highest - lowest) or 1.0)
    bottom, top = lowest - margin, highest + margin
    # A slope that leaves the picture at once.
    steep = 1e3 * max(abs(bottom), abs(top)) / far
    colours = point_colours(points, "system")
    for row in rows.to_dict("records"):
        slopes = {
            "bounded": [(row["low"], row["high"])],
            "two rays": [(-steep, row["low"]), (row["high"], steep)],
            "whole line": [(-steep, steep)],
        }
        colour = colours[row["system"]]
        # A set that is the whole line has no edges.
        edge = "none" if row["kind"] == "whole line" else to_rgba(colour, 0.5)
        # An undefined set has no slopes.
        slopes_of_set = slopes.get(row["kind"], [])
        for low, high in np.clip(slopes_of_set, -steep, steep):
            lower, upper = [0, low * far], [0, high * far]
            face = to_rgba(colour, 0.1)
            ax.fill_between([0, far], lower, upper, facecolor=face, edgecolor=edge, lw=0.7)
    draw_plane(ax, points, "system", (False, True))
    ax.axhline(0, color="0.5", lw=0.8)
    ax.set(xlim=(-0.03 * far, far), ylim=(bottom, top))
    for name, price in prices.items():
        ax.plot([0, far], [0, price * far], color=REFERENCE, ls="--", lw=0.9)
        # A price that the user gave without a name is called by its number.
        is_number = name == f"{price:g}"
        words = f"{name} F1 per token" if is_number else name
        # The line ends at the right edge or, if it is steep, at the upper one.
        end = far if price * far <= top else top / price
        ax.annotate(plain(words), (end, price * end), (-3, -3), textcoords="offset points",
                    ha="right", va="top", fontsize="small", color=REFERENCE)  # fmt: skip


def note_on_gain_and_cost(rows: pd.DataFrame) -> str:
    """Level of the intervals, what the wedge is, and n."""
    is_clustered = (rows["n_units"] < rows["n"]).any()
    questions = f" in {span(rows['n_units'])} questions" if is_clustered else ""
    level = level_of(rows)
    some_have_none = rows["kind"].eq("undefined").any()
    condition = ", if there is one" if some_have_none else ""
    return (
        f"{level} intervals of both means, n = {span(rows['n'])}{questions}\n"
        f"wedge: {level} Fieller set of gain / cost{condition}"
    )


def draw_net_benefit(ax: Axes, curve: pd.DataFrame) -> None:
    """Draw the net benefit with its intervals along the price, and say at which prices the gain is worth it."""
    colour = look(0)["color"]
    rows = curve.sort_values("price")
    plot = so.Plot(rows, x="price", y="net_benefit", ymin="low", ymax="high")
    plot = plot.add(so.Band(color=colour, alpha=0.2)).add(so.Line(color=colour, linewidth=1.3))
    draw_on(ax, plot, rows)
    ax.axhline(0, color="0.3", lw=0.8, zorder=0.8)
    lowest, highest = rows["price"].min(), rows["price"].max()
    ax.set(xlim=(lowest, highest), xlabel="", ylabel="")
    # The limits of the ratio are the same in all rows. At these prices, the verdict changes.
    limits = rows[["ratio_low", "ratio_high"]].iloc[0]
    for limit in limits[np.isfinite(limits)]:
        if lowest < limit < highest:
            ax.axvline(limit, color=REFERENCE, ls=":", lw=1.1)
    # 1 if the interval is above 0, -1 if it is below, and 0 if it contains 0.
    direction = (rows["low"] > 0).astype(int) - (rows["high"] < 0).astype(int)
    # Prices in a row with the same verdict are one piece of the axis.
    number_of_piece = (direction != direction.shift()).cumsum()
    for _, piece in rows.groupby(number_of_piece):
        verdict = _VERDICTS[direction[piece.index[0]]]
        first, last = piece["price"].iloc[0], piece["price"].iloc[-1]
        has_room = (last - first) / ((highest - lowest) or 1.0) >= _ROOM[verdict]
        is_defined = piece[["low", "high"]].notna().all(axis=None)
        # The name of a narrow piece at the left edge reaches over the labels of the vertical axis.
        is_narrow_at_left = first == lowest and last > first and not has_room
        place, side = (last, "right") if is_narrow_at_left else ((first + last) / 2, "center")
        if is_defined and (has_room or is_narrow_at_left):
            ax.annotate(verdict, (place, 1), (0, 1), xycoords=("data", "axes fraction"),
                        textcoords="offset points", ha=side, va="bottom", fontsize="small",
                        color=REFERENCE)  # fmt: skip
