"""The look of ragnb's figures, and how they are saved beside their numbers."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
import seaborn as sns
from cycler import cycler
from matplotlib.figure import Figure

from ragnb.errors import InputError

WIDTHS = {"column": 3.3, "text": 6.3}
"""Widths in inches of one column and of a full text block."""

MARKERS = "osD^vP"
FORMATS = ("pdf", "svg", "png")
_STYLE: dict[Any, Any] = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    "figure.constrained_layout.use": True,
    "figure.dpi": 100,
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "grid.alpha": 0.35,
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "ragnb",
}


@contextmanager
def style() -> Iterator[None]:
    """The look of ragnb's figures inside a ``with`` block: TrueType fonts, colour-blind safe, nothing changed outside."""
    look = {**_STYLE, "axes.prop_cycle": cycler(color=sns.color_palette("colorblind"))}
    before = {name: mpl.rcParams[name] for name in look}
    mpl.rcParams.update(look)
    try:
        yield
    finally:  # only what was changed: rc_context would also put back "interactive", which a notebook's backend sets
        mpl.rcParams.update(before)


def interval_note(summaries: pd.DataFrame) -> str:
    """What the error bars are and how many answers each estimate rests on: ``95% Wilson intervals, n = 64``."""
    sizes = sorted({int(n) for n in summaries["n_scored"]})
    n = str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]}-{sizes[-1]}"
    kinds = " / ".join(dict.fromkeys(summaries["interval"]))
    return f"{summaries['confidence_level'].iloc[0]:.0%} {kinds} intervals, n = {n}"


def save_figure(
    figure: Figure, name: str, numbers: pd.DataFrame, *, folder: str | Path = "figures", note: str = ""
) -> list[Path]:
    """Save a figure as PDF, SVG and PNG, and the numbers behind it as JSON; return the paths.

    The same figure gives the same bytes on the same machine. The JSON holds ``note``, the signatures and one record a row.

    Raises
    ------
    InputError
        A name with a folder or an ending in it.
    """
    if Path(name).name != name or Path(name).suffix:
        raise InputError(f"save_figure needs a plain name such as '01_noise'; got {name!r}; give the folder apart")
    target = Path(folder) / name
    target.parent.mkdir(parents=True, exist_ok=True)
    with style():
        for ending in FORMATS:
            blank = {"pdf": {"CreationDate": None, "Producer": None, "Creator": None}, "svg": {"Date": None}, "png": {}}
            figure.savefig(target.with_suffix(f".{ending}"), dpi=200, metadata=blank[ending], bbox_inches="tight")
    _write_numbers(target.with_suffix(".json"), numbers, note)
    return [target.with_suffix(f".{ending}") for ending in (*FORMATS, "json")]


def _write_numbers(path: Path, numbers: pd.DataFrame, note: str) -> None:
    columns: Sequence[str] = [name for name in numbers.columns if name != "signature"]
    signatures = sorted(set(numbers["signature"])) if "signature" in numbers else []
    records = json.loads(numbers[columns].to_json(orient="records", double_precision=6))
    content = {"note": note, "signatures": signatures, "numbers": records}
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
