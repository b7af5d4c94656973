"""Figures of cost-effectiveness: the plane with Fieller's wedges, Fieller's set, and acceptability curves."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgba
from numpy.typing import ArrayLike

from ragnb.arguments import accepts
from ragnb.errors import InputError
from ragnb.figures.style import MARKERS, WIDTHS, caption, level_of, plain, span, style
from ragnb.records import require_columns
from ragnb.stats.cost_effectiveness import fieller_interval
from ragnb.stats.paired import paired_t_test

_PLANE = (
    "system", "estimator", "low", "high", "kind", "confidence_level", "gain", "gain_low", "gain_high", "cost", "cost_low",
    "cost_high", "n", "n_units",
)  # fmt: skip


def plot_cost_effectiveness_plane(
    table: pd.DataFrame, *, price: float | None = None, ax: Axes | None = None
) -> Axes:
    """Draw mean gain against mean cost of each system with intervals; a wedge shows the ratios in Fieller's set.

    Parameters
    ----------
    table
        As `ragnb.reports.efficiency.efficiency` returns it; of its estimators, the one under Fieller is drawn.
    price
        What one token is worth, in F1: a dashed line, above which a system pays.
    ax
        Axes to draw on; a new figure of text width by default.

    Returns
    -------
    Axes
        The baseline is the origin. A bounded set is a filled wedge between its two slopes; two rays are filled above and
        below; a set that is the whole line fills everything; a system that costs nothing has no ratio, hence no wedge. What
        is no wedge is named in the legend.

    Raises
    ------
    InputError
        Missing columns, no row under Fieller, or two for a system.
    """
    require_columns(table, _PLANE, "plot_cost_effectiveness_plane")
    rows = table[table["estimator"].str.contains("Fieller")]
    if rows.empty or rows["system"].duplicated().any():
        raise InputError(
            "plot_cost_effectiveness_plane needs one row per system for Fieller's estimator, got "
            f"{len(rows)} for {rows['system'].nunique()} systems; select one row per system"
        )
    far = 1.15 * float(np.nanmax([*rows["cost_high"], *rows["cost"], 0.0])) or 1.0
    gains = [0.0, *rows["gain"], *rows["gain_low"], *rows["gain_high"]]
    low, high = float(np.nanmin(gains)), float(np.nanmax(gains))
    margin = 0.12 * ((high - low) or 1.0)
    edges = low - margin, high + margin
    steep = 1e3 * max(map(abs, edges)) / far  # leaves the picture at once
    with style():
        ax = ax or plt.subplots(figsize=(WIDTHS["text"], 3.4))[1]
        for number, row in enumerate(rows.to_dict("records")):
            colour = to_hex(f"C{number}")
            _draw_wedge(ax, row, far, steep, colour)
            x, y = _lengths(row, "cost"), _lengths(row, "gain")
            odd = {"undefined": "no set", "two rays": "two rays", "whole line": "any ratio"}
            kind = f" ({odd[row['kind']]})" if row["kind"] in odd else ""
            look: dict[str, Any] = {"color": colour, "label": plain(f"{row['system']}{kind}")}
            look |= {"fmt": MARKERS[number % len(MARKERS)], "capsize": 2}
            ax.errorbar([row["cost"]], [row["gain"]], xerr=x, yerr=y, **look)
        ax.axhline(0, color="0.5", lw=0.8)
        if price is not None:
            ends = [0, far], [0, price * far]
            ax.plot(*ends, color="0.35", ls="--", label=f"{price:g} F1 a token")
        ax.set(xlim=(-0.03 * far, far), ylim=edges, ylabel="mean gain in token F1")
        ax.set_xlabel("mean cost, translated tokens per response")
        wedge = f"wedge: {level_of(rows)} Fieller set of the ratio"
        caption(ax, f"{level_of(rows)} intervals of both means; {wedge}; {_sizes(rows)}")
        ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    return ax


def _draw_wedge(ax: Axes, row: dict[str, Any], far: float, steep: float, colour: str) -> None:
    slopes = {
        "bounded": [(row["low"], row["high"])],
        "two rays": [(-steep, row["low"]), (row["high"], steep)],
        "whole line": [(-steep, steep)],
    }
    for low, high in np.clip(slopes.get(row["kind"], []), -steep, steep):
        edge = "none" if row["kind"] == "whole line" else to_rgba(colour, 0.5)
        filled: dict[str, Any] = {"facecolor": to_rgba(colour, 0.1), "edgecolor": edge, "lw": 0.7}
        ax.fill_between([0, far], [0, low * far], [0, high * far], **filled)


def _lengths(row: dict[str, Any], name: str) -> list[list[float]]:
    """Lengths of the error bars of a mean, 0 if its interval is undefined."""
    lengths = [row[name] - row[f"{name}_low"], row[f"{name}_high"] - row[name]]
    return [[length if np.isfinite(length) else 0.0] for length in lengths]


def _sizes(rows: pd.DataFrame) -> str:
    """Number of responses per system, and of questions if they are clusters."""
    n = f"n = {span(rows['n'])}"
    clustered = (rows["n_units"] < rows["n"]).any()
    return f"{n} in {span(rows['n_units'])} questions" if clustered else n


def plot_acceptability(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the acceptability of each system (1 - one-sided p of its net benefit) against the price of a token.

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
    require_columns(
        table, ("system", "price", "acceptability", "n", "n_units"), "plot_acceptability"
    )
    if table["price"].nunique() < 2:
        raise InputError(
            f"plot_acceptability needs two prices or more, got {table['price'].nunique()}; pass several prices to benefits()"
        )
    with style():
        ax = ax or plt.subplots(figsize=(WIDTHS["text"], 2.8))[1]
        ordered = table.sort_values("price", kind="stable").groupby("system", sort=False)
        for number, (system, rows) in enumerate(ordered):
            look: dict[str, Any] = {"color": to_hex(f"C{number}"), "label": plain(system)}
            look |= {"marker": MARKERS[number % len(MARKERS)], "markevery": max(1, len(rows) // 8)}
            ax.plot(rows["price"], rows["acceptability"], **look)
        for height in (0.025, 0.5, 0.975):
            ax.axhline(height, color="0.5", lw=0.8, ls=":")
        ax.set(
            ylim=(-0.03, 1.03),
            xlabel="price: F1 that one token has to buy",
            ylabel="1 - one-sided p",
        )
        ax.set_yticks([0.025, 0.5, 0.975], ["0.025", "0.5", "0.975"])
        note = f"net benefit above 0; where a curve crosses .025 and .975: 95 % Fieller limits; {_sizes(table)}"
        caption(ax, note)
        ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    return ax


@accepts(reach="positive")
def plot_fieller_set(
    numerator: ArrayLike,
    denominator: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    reach: float | None = None,
    confidence_level: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Draw the p-value of every ratio and Fieller's confidence set: the ratios that a t-test does not reject.

    Parameters
    ----------
    numerator, denominator, clusters
        As for `ragnb.stats.cost_effectiveness.fieller_interval`.
    reach
        Ratios from -reach to reach are drawn; by default as far as three times the larger limit, or the estimate.
    confidence_level
        Of the set, in (0, 1); the dotted line is at 1 - confidence_level.
    ax
        Axes to draw on; a new figure of column width by default.

    Returns
    -------
    Axes
        The set is filled under the curve, and the title names its kind: ``bounded``, ``two rays`` or ``whole line``.

    Raises
    ------
    InputError
        What `ragnb.stats.cost_effectiveness.fieller_interval` refuses, or a reach that is no finite number above 0.

    Source: Fieller (1954), J. R. Stat. Soc. B 16; its kinds: von Luxburg and Franz (2009), Stat. Sin. 19.
    """
    found = fieller_interval(
        numerator, denominator, clusters=clusters, confidence_level=confidence_level
    )
    ends = [abs(value) for value in (*found.limits, found.estimate) if np.isfinite(value)]
    far = reach or 3 * max(ends, default=1.0) or 1.0
    marked = [value for value in (*found.limits, found.estimate) if abs(value) <= far]
    ratios = np.union1d(np.linspace(-far, far, 241), marked)
    y, z = np.asarray(numerator, dtype=float), np.asarray(denominator, dtype=float)
    tests = (paired_t_test(y - ratio * z, clusters=clusters) for ratio in ratios)
    p_values = np.array([test.p_value for test in tests])
    with style():
        ax = ax or plt.subplots(figsize=(WIDTHS["column"], 2.2))[1]
        ax.plot(ratios, p_values, color="0.2", lw=1)
        inside = np.array([found.contains(ratio) for ratio in ratios], dtype=bool)
        ax.fill_between(ratios, p_values, where=inside, color=to_hex("C0"), alpha=0.4, lw=0)
        ax.axhline(1 - confidence_level, color="0.5", lw=0.8, ls=":")
        ax.set(xlim=(-far, far), ylim=(0, 1.05), xlabel="ratio", ylabel="p")
        caption(ax, f"{found.kind}, n = {found.n}")
    return ax
