"""The look of ragnb's figures, and how they are saved beside their numbers."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.rcsetup import cycler

from ragnb.errors import InputError, check_choice
from ragnb.markup import spelled

WIDTHS = {"column": 3.3, "text": 6.3}
"""Widths in inches of one column and of a full text block."""

_CM = 1 / 2.54
PAPERS = {
    "acl": (7.7 * _CM, 16 * _CM),
    "neurips": (5.5, 5.5),
    "two-column": (3.25, 6.875),
}
"""Widths in inches of one column and of the whole text, by the paper's style.

Source: acl-org/acl-style-files, formatting.md and latex/acl.sty (A4, margins 2.5 cm, gap 0.6 cm); the NeurIPS style's
instructions (5.5 inches, a single column); ``two-column`` is the author kit of CVPR (columns of 3 1/4 inches, 6 7/8 in all).
"""

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


_font_size = ContextVar("font size", default=8.0)


@contextmanager
def style(*, font_size: float | None = None) -> Iterator[None]:
    """The look of ragnb's figures inside a ``with`` block: TrueType fonts, colour-blind safe, nothing changed outside.

    Parameters
    ----------
    font_size
        Of labels, in points: at a figure's own size (see `paper_size`) as printed. By default 8, or that of the ``style``
        around, so that what is drawn by ragnb's functions inside it follows.
    """
    size = _font_size.set(_font_size.get() if font_size is None else font_size)
    look = {
        **_STYLE,
        "font.size": _font_size.get(),
        "axes.prop_cycle": cycler(color=sns.color_palette("colorblind")),
    }
    before = {name: mpl.rcParams[name] for name in look}
    mpl.rcParams.update(look)
    try:
        yield
    finally:  # only what was changed: rc_context would also put back "interactive", which a notebook's backend sets
        mpl.rcParams.update(before)
        _font_size.reset(size)


def paper_size(paper: str, *, columns: int = 1, aspect: float = 0.62) -> tuple[float, float]:
    """Width and height in inches of a figure that goes into a paper unscaled; for ``plt.subplots(figsize=...)``.

    Parameters
    ----------
    paper
        One of `PAPERS`.
    columns
        1, or 2: as wide as the text. A style of a single column has one width.
    aspect
        Height by width.

    Raises
    ------
    InputError
        Another paper or number of columns, or an aspect that is no positive number.

    >>> [round(side, 2) for side in paper_size("acl", aspect=0.5)], paper_size("neurips", columns=2, aspect=0.4)
    ([3.03, 1.52], (5.5, 2.2))
    """
    check_choice(paper, tuple(PAPERS), "paper_size")
    if columns not in (1, 2) or not 0 < aspect < inf:
        raise InputError(
            f"paper_size needs 1 or 2 columns and a positive aspect; got {columns!r} and {aspect!r}; a figure is as wide as "
            "a column or as the text"
        )
    width = PAPERS[paper][columns - 1]
    return width, width * aspect


def plain(text: Any) -> str:
    """Text as a label that matplotlib draws as it is.

    Two dollar signs begin no formula, and characters that hide are spelled out, some of which an SVG file cannot contain. A
    blank comes before an underscore, because a legend leaves out the labels that begin with one.

    >>> plain("$5 in, $15 out"), plain("_mine"), plain("a\\x00b")
    ('\\\\$5 in, \\\\$15 out', ' _mine', 'a⟨U+0000⟩b')
    """
    label = spelled(text).replace("$", r"\$")
    return f" {label}" if label.startswith("_") else label


def require_one_each(rates: pd.DataFrame, keys: list[str], what: str, remedy: str) -> None:
    """Raise InputError unless there is a rate, and one alone for each of some columns' values together."""
    if rates.empty or rates.duplicated(keys).any():
        got = "none" if rates.empty else "several"
        raise InputError(
            f"{what} needs one rate for each {' and '.join(keys)}; got {got}; {remedy}"
        )


def interval_note(summaries: pd.DataFrame) -> str:
    """What the error bars are and how many answers each estimate rests on: ``95% Wilson intervals, n = 64``."""
    sizes = sorted({int(n) for n in summaries["n_scored"]})
    n = str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]}-{sizes[-1]}"
    kinds = " / ".join(dict.fromkeys(summaries["interval"]))
    return f"{summaries['confidence_level'].iloc[0]:.0%} {kinds} intervals, n = {n}"


def save_figure(
    figure: Figure,
    name: str,
    numbers: pd.DataFrame,
    *,
    folder: str | Path = "figures",
    note: str = "",
    trim: bool = True,
) -> list[Path]:
    """Save a figure as PDF, SVG and PNG, and the numbers behind it as JSON; return the paths.

    The same figure gives the same bytes on the same machine. The JSON holds ``note``, the signatures and one record a row.

    Parameters
    ----------
    figure, name, numbers, folder, note
        What to save, under which name and where, and what to say of it.
    trim
        Cut the page to what is drawn. ``False`` keeps the figure's own size, so that one of `paper_size` goes into a paper
        unscaled and its text is printed in the size that was asked for.

    Raises
    ------
    InputError
        A name with a folder or an ending in it.
    """
    if Path(name).name != name or Path(name).suffix:
        raise InputError(
            f"save_figure needs a plain name such as '01_noise'; got {name!r}; give the folder apart"
        )
    target = Path(folder) / name
    target.parent.mkdir(parents=True, exist_ok=True)
    with style():
        for ending in FORMATS:
            blank = {
                "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
                "svg": {"Date": None},
                "png": {},
            }
            box: Any = (
                "tight" if trim else figure.bbox_inches
            )  # not None: a notebook's backend would trim
            figure.savefig(
                target.with_suffix(f".{ending}"), dpi=200, metadata=blank[ending], bbox_inches=box
            )
    _write_numbers(target.with_suffix(".json"), numbers, note)
    return [target.with_suffix(f".{ending}") for ending in (*FORMATS, "json")]


def _write_numbers(path: Path, numbers: pd.DataFrame, note: str) -> None:
    columns: Sequence[str] = [name for name in numbers.columns if name != "signature"]
    signatures = sorted(set(numbers["signature"])) if "signature" in numbers else []
    records = json.loads(numbers[columns].to_json(orient="records", double_precision=6))
    content = {"note": note, "signatures": signatures, "numbers": records}
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
