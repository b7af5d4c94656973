"""Pictures that replace an explorable where no script runs, as addresses for a page."""

from base64 import b64encode
from collections.abc import Callable, Sequence
from functools import wraps
from io import BytesIO
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from ragnb.figures.style import WIDTHS, caption, plain, style
from ragnb.stats.cost_effectiveness import fieller_interval
from ragnb.stats.paired import paired_t_test
from ragnb.stats.power import mcnemar_power


def _as_address(draw: Callable[..., None]) -> Callable[..., str]:
    """Let a function that draws on axes return an address that contains the picture as PNG."""

    @wraps(draw)
    def picture(*data: Any, **more: Any) -> str:
        with BytesIO() as file, style():
            figure, ax = plt.subplots(figsize=(WIDTHS["text"], 2.6))
            draw(ax, *data, **more)
            figure.savefig(file, format="png", dpi=110)
            plt.close(figure)
            return f"data:image/png;base64,{b64encode(file.getvalue()).decode()}"

    return picture


@_as_address
def draw_bars(
    ax: Axes, edges: ArrayLike, heights: ArrayLike, marked: ArrayLike, at: float, *labels: str
) -> None:
    """Draw bars between edges, the marked part of each in colour, and a vertical line."""
    ax.stairs(heights, edges, fill=True, color="0.75")
    ax.stairs(marked, edges, fill=True, color="C3")
    ax.axvline(at, color="C0")
    ax.set(xlabel=plain(labels[0]), ylabel=plain(labels[1]))


@_as_address
def draw_power(ax: Axes, n: int, share: float, mde: float) -> None:
    """Draw the power of McNemar's mid-p test against the true difference."""
    effects = np.linspace(0, min(1, 2.2 * mde), 31)[1:]
    psi = np.maximum(share, effects)
    pairs = zip((psi + effects) / 2, (psi - effects) / 2, strict=True)
    ax.axvspan(0, mde, color="0.9")
    ax.plot(effects, [mcnemar_power(n, *pair, "mid-p", 0.95) for pair in pairs], color="C0")
    ax.axhline(0.8, color="0.4", ls=":")
    ax.axvline(mde, color="C0")
    caption(ax, "grey: true differences that are missed more than one time in five")
    ax.set(xlim=(0, effects[-1]), ylim=(0, 1), xlabel="true difference", ylabel="power")


@_as_address
def draw_reported_shares(
    ax: Axes, sensitivity: float, specificity: float, groups: Sequence[Sequence[float]], by: str
) -> None:
    """Draw the share of correct answers that a judge reports at each true share."""
    ax.plot([0, 1], [0, 1], color="0.4", ls=":")
    ax.plot([0, 1], [1 - specificity, sensitivity], color="C0")
    if groups:
        ax.plot(*np.transpose(groups), "o", color="C3")
        caption(ax, f"dots: measured, by {by}")
    ax.set(xlim=(0, 1), ylim=(0, 1))
    ax.set(xlabel="true share of correct answers", ylabel="share that the judge reports")


@_as_address
def draw_mix(ax: Axes, systems: Sequence[dict[str, Any]]) -> None:
    """Draw the share of right decisions of each system against the share of unanswerable questions."""
    for system in systems:
        (line,) = ax.plot([0, 100], [system["answered"], system["refused"]])
        ax.annotate(plain(system["name"]), (100, system["refused"]), xytext=(4, 0), va="center",
                    textcoords="offset points", color=line.get_color())  # fmt: skip
    ax.set(xlim=(0, 100), ylim=(0, 1))
    ax.set(xlabel="unanswerable questions, in %", ylabel="share of right decisions")


@_as_address
def draw_fieller_set(
    ax: Axes, gain: ArrayLike, cost: ArrayLike, clusters: ArrayLike | None
) -> None:
    """Draw the p-value of each ratio of gain and cost, and Fieller's set: the ratios that a t-test does not reject."""
    found = fieller_interval(gain, cost, clusters=clusters)
    marked = [value for value in (*found.limits, found.estimate) if np.isfinite(value)]
    far = 3 * max(map(abs, marked), default=1.0) or 1.0
    ratios = np.union1d(np.linspace(-far, far, 241), marked)
    y, z = np.asarray(gain, dtype=float), np.asarray(cost, dtype=float)
    p_values = [paired_t_test(y - ratio * z, clusters=clusters).p_value for ratio in ratios]
    ax.plot(ratios, p_values, color="0.2", lw=1)
    inside = [found.contains(ratio) for ratio in ratios]
    ax.fill_between(ratios, p_values, where=inside, color="C0", alpha=0.4, lw=0)
    ax.axhline(0.05, color="0.5", lw=0.8, ls=":")
    ax.set(xlim=(-far, far), ylim=(0, 1.05), xlabel="ratio of gain and cost", ylabel="p")
    caption(ax, f"{found.kind}, n = {found.n}")
