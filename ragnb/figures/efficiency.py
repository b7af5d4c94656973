"""Pictures of what a gain costs: the plane with Fieller's wedge, the set behind a wedge, and the acceptability curve."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgba
from numpy.typing import ArrayLike

from ragnb.errors import InputError
from ragnb.figures.style import MARKERS, WIDTHS, plain, style
from ragnb.records import require_columns
from ragnb.stats.cost_effectiveness import FiellerSet, fieller_interval
from ragnb.stats.paired import paired_t_test

_PLANE = (
    "system", "reading", "low", "high", "kind", "confidence_level", "gain", "gain_low", "gain_high", "cost", "cost_low",
    "cost_high", "n", "n_units",
)  # fmt: skip


def plot_cost_effectiveness_plane(
    table: pd.DataFrame, *, price: float | None = None, ax: Axes | None = None
) -> Axes:
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
        below; a set that is the whole line fills everything; a system that costs nothing has no ratio, hence no wedge. What
        is no wedge is named in the legend.

    Raises
    ------
    InputError
        Missing columns, no row under Fieller, or two for a system.
    """
    require_columns(table, _PLANE, "plot_cost_effectiveness_plane")
    rows = table[table["reading"].str.contains("Fieller")]
    if rows.empty or rows["system"].duplicated().any():
        raise InputError(
            f"plot_cost_effectiveness_plane needs one row a system under Fieller; got {len(rows)} for "
            f"{rows['system'].nunique()} systems; choose some rows"
        )
    reach = 1.15 * float(np.nanmax([*rows["cost_high"], *rows["cost"], 0.0])) or 1.0
    limits = _gain_limits(rows)
    steep = 1e3 * max(map(abs, limits)) / reach  # leaves the picture at once
    with style():
        ax = ax or plt.subplots(figsize=(WIDTHS["text"], 3.4))[1]
        for number, row in enumerate(rows.to_dict("records")):
            colour = to_hex(f"C{number}")
            _wedge(ax, row, reach, steep, colour)
            _point(ax, row, MARKERS[number % len(MARKERS)], colour)
        ax.axhline(0, color="0.5", lw=0.8)
        if price is not None:
            ax.plot(
                [0, reach], [0, price * reach], color="0.35", ls="--", label=f"{price:g} F1 a token"
            )
        ax.set(
            xlim=(-0.03 * reach, reach),
            ylim=limits,
            xlabel="mean cost, translated tokens a response",
        )
        ax.set_ylabel("mean gain in token F1")
        ax.set_title(_note(rows), loc="left", fontsize="small", color="0.35")
        ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    return ax


def _wedge(ax: Axes, row: dict[str, Any], reach: float, steep: float, colour: str) -> None:
    slopes = {
        "bounded": [(row["low"], row["high"])],
        "two rays": [(-steep, row["low"]), (row["high"], steep)],
        "whole line": [(-steep, steep)],
    }
    for low, high in np.clip(slopes.get(row["kind"], []), -steep, steep):
        edge = "none" if row["kind"] == "whole line" else to_rgba(colour, 0.5)
        filled: dict[str, Any] = {"facecolor": to_rgba(colour, 0.1), "edgecolor": edge, "lw": 0.7}
        ax.fill_between([0, reach], [0, low * reach], [0, high * reach], **filled)


def _point(ax: Axes, row: dict[str, Any], marker: Any, colour: str) -> None:
    bars: dict[str, Any] = {f"{axis}err": [[_or_0(row[name] - row[f"{name}_low"])], [_or_0(row[f"{name}_high"] - row[name])]]
            for axis, name in (("x", "cost"), ("y", "gain"))}  # fmt: skip
    ax.errorbar(
        [row["cost"]], [row["gain"]], **bars, fmt=marker, color=colour, capsize=2, label=_named(row)
    )


def _named(row: dict[str, Any]) -> str:
    """The system, with the kind of its set where that is no wedge."""
    odd = {"undefined": "no set", "two rays": "two rays", "whole line": "any ratio"}.get(
        row["kind"]
    )
    return plain(f"{row['system']} ({odd})" if odd else row["system"])


def _or_0(length: float) -> float:
    return length if np.isfinite(length) else 0.0


def _gain_limits(rows: pd.DataFrame) -> tuple[float, float]:
    values = [0.0, *rows["gain"], *rows["gain_low"], *rows["gain_high"]]
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    margin = 0.12 * ((high - low) or 1.0)
    return low - margin, high + margin


def _note(rows: pd.DataFrame) -> str:
    level = f"{rows['confidence_level'].iloc[0]:.0%}"
    return (
        f"{level} intervals of both means; wedge: {level} Fieller set of the ratio; {_sizes(rows)}"
    )


def _sizes(rows: pd.DataFrame) -> str:
    """How many responses a system has, and in how many questions where these are clusters: ``n = 240 in 40 questions``."""
    n, units = (f"{least}-{most}" if least < most else str(most) for least, most in
                ((rows[name].min(), rows[name].max()) for name in ("n", "n_units")))  # fmt: skip
    return f"n = {n}" + (f" in {units} questions" if (rows["n_units"] < rows["n"]).any() else "")


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
    require_columns(
        table, ("system", "price", "acceptability", "n", "n_units"), "plot_acceptability"
    )
    if table["price"].nunique() < 2:
        raise InputError(
            f"plot_acceptability needs two prices or more; got {table['price'].nunique()}; give benefits() a grid"
        )
    with style():
        ax = ax or plt.subplots(figsize=(WIDTHS["text"], 2.8))[1]
        for number, (system, rows) in enumerate(
            table.sort_values("price", kind="stable").groupby("system", sort=False)
        ):
            spaced: dict[str, Any] = {
                "marker": MARKERS[number % len(MARKERS)],
                "markevery": max(1, len(rows) // 8),
            }
            ax.plot(
                rows["price"],
                rows["acceptability"],
                color=to_hex(f"C{number}"),
                label=plain(system),
                **spaced,
            )
        for height in (0.025, 0.5, 0.975):
            ax.axhline(height, color="0.5", lw=0.8, ls=":")
        ax.set(
            ylim=(-0.03, 1.03),
            xlabel="price: F1 that one token has to buy",
            ylabel="1 - one-sided p",
        )
        ax.set_yticks([0.025, 0.5, 0.975], ["0.025", "0.5", "0.975"])
        note = f"net benefit above 0; where a curve crosses .025 and .975: 95% Fieller limits; {_sizes(table)}"
        ax.set_title(note, loc="left", fontsize="small", color="0.35")
        ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    return ax


def plot_fieller_set(
    numerator: ArrayLike,
    denominator: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    reach: float | None = None,
    confidence_level: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """The p-value of every ratio, and Fieller's set: the ratios that a t-test of numerator - ratio x denominator keeps.

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
        The set is filled under the curve, and its kind stands in the title: ``bounded``, ``two rays`` or ``whole line``.

    Raises
    ------
    InputError
        What `ragnb.stats.cost_effectiveness.fieller_interval` refuses, or a reach that is no finite number above 0.

    Source: Fieller (1954), J. R. Stat. Soc. B 16; its kinds: von Luxburg and Franz (2009), Stat. Sin. 19.
    """
    found = fieller_interval(
        numerator, denominator, clusters=clusters, confidence_level=confidence_level
    )
    far = _reach(found) if reach is None else reach
    if not 0 < far < np.inf:
        raise InputError(
            f"plot_fieller_set needs a finite reach above 0; got {reach!r}; leave it out"
        )
    marked = [value for value in (*found.limits, found.estimate) if abs(value) <= far]
    ratios = np.union1d(np.linspace(-far, far, 241), marked)
    y, z = np.asarray(numerator, dtype=float), np.asarray(denominator, dtype=float)
    p_values = np.array([_p_value(y - ratio * z, clusters) for ratio in ratios])
    with style():
        ax = ax or plt.subplots(figsize=(WIDTHS["column"], 2.2))[1]
        ax.plot(ratios, p_values, color="0.2", lw=1)
        inside = np.array([found.contains(ratio) for ratio in ratios], dtype=bool)
        ax.fill_between(ratios, p_values, where=inside, color=to_hex("C0"), alpha=0.4, lw=0)
        ax.axhline(1 - confidence_level, color="0.5", lw=0.8, ls=":")
        ax.set(xlim=(-far, far), ylim=(0, 1.05), xlabel="ratio", ylabel="p")
        ax.set_title(f"{found.kind}, n = {found.n}", loc="left", fontsize="small", color="0.35")
    return ax


def _reach(found: FiellerSet) -> float:
    values = [abs(value) for value in (*found.limits, found.estimate) if np.isfinite(value)]
    return 3 * max(values, default=1.0) or 1.0


def _p_value(differences: Any, clusters: ArrayLike | None) -> float:
    if clusters is None:
        return paired_t_test(differences).p_value
    return paired_t_test(differences, clusters=clusters).p_value
