"""Pictures of what a gain costs: the cost-effectiveness plane with Fieller's wedge, and the acceptability curve."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

from ragnb.errors import InputError
from ragnb.figures.style import MARKERS, WIDTHS, style
from ragnb.records import require_columns

_MEANS = ("gain", "gain_low", "gain_high", "cost", "cost_low", "cost_high")


def plot_cost_effectiveness_plane(table: pd.DataFrame, *, price: float | None = None, ax: Axes | None = None) -> Axes:
    """Mean gain against mean cost of each system, with intervals, and as a wedge the ratios that Fieller's set holds.

    Parameters
    ----------
    table
        As `ragnb.reports.efficiency.efficiency` returns it; of its readings that under Fieller is drawn.
    price
        What one token is worth, in F1: a dashed line, above which a system pays.
    ax
        Axes to draw on; a new figure of text width by default.

    Returns
    -------
    Axes
        The baseline is the origin. A bounded set is a filled wedge between its two slopes; two rays are filled above and
        below; a set that is the whole line fills everything, lightly; a system that costs nothing has no ratio, hence no
        wedge.

    Raises
    ------
    InputError
        Missing columns, or no row under Fieller.
    """
    require_columns(table, ("system", "reading", "low", "high", "kind", *_MEANS), "plot_cost_effectiveness_plane")
    rows = table[table["reading"].str.contains("Fieller")]
    if rows.empty:
        raise InputError("plot_cost_effectiveness_plane needs rows of the reading under Fieller; got none; keep them")
    reach = 1.15 * float(np.nanmax([*rows["cost_high"], *rows["cost"], 1e-12]))
    with style():
        ax = ax or plt.subplots(figsize=(WIDTHS["text"], 3.4))[1]
        for number, row in enumerate(rows.to_dict("records")):
            colour = to_hex(f"C{number}")
            _wedge(ax, row, reach, colour)
            _point(ax, row, MARKERS[number % len(MARKERS)], colour)
        limits = _gain_limits(rows)
        ax.axhline(0, color="0.5", lw=0.8)
        if price is not None:
            ax.plot([0, reach], [0, price * reach], color="0.35", ls="--", label=f"{price:g} F1 a token")
        ax.set(xlim=(-0.03 * reach, reach), ylim=limits, xlabel="mean cost, translated tokens a question")
        ax.set_ylabel("mean gain in token F1")
        ax.set_title(_note(rows), loc="left", fontsize="small", color="0.35")
        ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    return ax


def _wedge(ax: Axes, row: dict[str, Any], reach: float, colour: str) -> None:
    far = 1e3  # beyond any picture
    slopes = {
        "bounded": [(row["low"], row["high"])],
        "two rays": [(-far, row["low"]), (row["high"], far)],
        "whole line": [(-far, far)],
    }
    for low, high in slopes.get(row["kind"], []):
        ax.fill_between([0, reach], [0, low * reach], [0, high * reach], color=colour, alpha=0.12, lw=0)


def _point(ax: Axes, row: dict[str, Any], marker: Any, colour: str) -> None:
    bars: dict[str, Any] = {f"{axis}err": [[_or_0(row[name] - row[f"{name}_low"])], [_or_0(row[f"{name}_high"] - row[name])]]
            for axis, name in (("x", "cost"), ("y", "gain"))}  # fmt: skip
    ax.errorbar([row["cost"]], [row["gain"]], **bars, fmt=marker, color=colour, capsize=2, label=str(row["system"]))


def _or_0(length: float) -> float:
    return length if np.isfinite(length) else 0.0


def _gain_limits(rows: pd.DataFrame) -> tuple[float, float]:
    values = [0.0, *rows["gain"], *rows["gain_low"], *rows["gain_high"]]
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    margin = 0.12 * ((high - low) or 1.0)
    return low - margin, high + margin


def _note(rows: pd.DataFrame) -> str:
    level = f"{rows['confidence_level'].iloc[0]:.0%}"
    kinds = ", ".join(dict.fromkeys(rows.loc[rows["kind"] != "undefined", "kind"])) or "none defined"
    numbers = sorted({*rows["n"]})
    n = f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}"
    units = int(rows["n_units"].max())
    questions = f", {units} questions as clusters" if units < numbers[-1] else ""
    return f"{level} intervals of both means; wedge: {level} Fieller set of the ratio ({kinds}); n = {n}{questions}"


def plot_acceptability(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Acceptability of each system over the price of a token: one minus the one-sided p of its net benefit.

    Parameters
    ----------
    table
        As `ragnb.reports.efficiency.benefits` returns it.
    ax
        Axes to draw on; a new figure of text width by default.

    Raises
    ------
    InputError
        Missing columns, or fewer than two prices.
    """
    require_columns(table, ("system", "price", "acceptability", "n"), "plot_acceptability")
    if table["price"].nunique() < 2:
        raise InputError(
            f"plot_acceptability needs two prices or more; got {table['price'].nunique()}; give benefits() a grid"
        )
    with style():
        ax = ax or plt.subplots(figsize=(WIDTHS["text"], 2.8))[1]
        for number, (system, rows) in enumerate(table.groupby("system", sort=False)):
            spaced: dict[str, Any] = {"marker": MARKERS[number % len(MARKERS)], "markevery": max(1, len(rows) // 8)}
            ax.plot(rows["price"], rows["acceptability"], color=to_hex(f"C{number}"), label=str(system), **spaced)
        for height in (0.025, 0.5, 0.975):
            ax.axhline(height, color="0.5", lw=0.8, ls=":")
        ax.set(ylim=(-0.03, 1.03), xlabel="price: F1 that one token has to buy", ylabel="1 - one-sided p")
        ax.set_yticks([0.025, 0.5, 0.975], ["0.025", "0.5", "0.975"])
        note = f"net benefit above 0; where a curve crosses .025 and .975: 95% Fieller limits; n = {table['n'].max()}"
        ax.set_title(note, loc="left", fontsize="small", color="0.35")
        ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    return ax
