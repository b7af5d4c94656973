"""The style of figures, their small print, and how they are saved with their numbers."""

# Tested in tests/figures/test_paper.py.

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.rcsetup import cycler

from ragnb.arguments import accepts
from ragnb.columns import require_columns
from ragnb.errors import InputError
from ragnb.markup import spelled
from ragnb.numbers import interval_words

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

# The most kinds of intervals that the small print names.
_MOST_KINDS = 3
# The number of clusters at the end of the name of an interval.
_CLUSTERS = r", \d+ clusters.*"
MARKERS = "osD^vP"
COLOURS = sns.color_palette("colorblind")
FORMATS = ("pdf", "svg", "png")
_STYLE: dict[Any, Any] = {
    "axes.grid": True,
    "axes.prop_cycle": cycler(color=COLOURS),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    "figure.constrained_layout.use": True,
    "figure.dpi": 150,
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


@contextmanager
@accepts(font_size="positive")
def style(*, font_size: float | None = None) -> Iterator[None]:
    """Use the style of ragnb's figures inside a ``with`` block: TrueType fonts and colour-blind safe colours.

    Parameters
    ----------
    font_size
        Font size of labels, in points. It is the size in print if the figure is printed at its own size (see
        `paper_size`). By default 8, or that of an enclosing ``style``, which ragnb's functions therefore follow.
    """
    is_inside = mpl.rcParams["svg.hashsalt"] == _STYLE["svg.hashsalt"]
    default = mpl.rcParams["font.size"] if is_inside else 8.0
    look = {**_STYLE, "font.size": default if font_size is None else font_size}
    before = {name: mpl.rcParams[name] for name in look}
    mpl.rcParams.update(look)
    try:
        yield
    finally:  # only what was changed: rc_context would also put back "interactive", which a notebook's backend sets
        mpl.rcParams.update(before)


def look_of(number: int, name: Any) -> dict[str, Any]:
    """Colour, marker and name of a series of points with intervals."""
    return {
        "color": to_hex(COLOURS[number % len(COLOURS)]),
        "marker": MARKERS[number % len(MARKERS)],
        "label": plain(name),
        "capsize": 2,
    }


@accepts(paper=tuple(PAPERS), columns=(1, 2), aspect="positive")
def paper_size(paper: str, *, columns: int = 1, aspect: float = 0.62) -> tuple[float, float]:
    """Return width and height in inches of a figure that fits a paper unscaled, for ``figsize=``.

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
    width = PAPERS[paper][columns - 1]
    return width, width * aspect


def plain(text: Any) -> str:
    """Escape a text so that matplotlib draws it unchanged.

    Dollar signs are escaped, so that they start no formula. Hidden characters are spelled out, because an SVG file cannot
    contain some of them. A text that begins with an underscore gets a space in front, because a legend skips such labels.

    >>> plain("$5 in, $15 out"), plain("_mine"), plain("a\\x00b")
    ('\\\\$5 in, \\\\$15 out', ' _mine', 'a⟨U+0000⟩b')
    """
    label = spelled(text).replace("$", r"\$")
    return f" {label}" if label.startswith("_") else label


def require_rates(rates: pd.DataFrame, names: Sequence[str], keys: list[str], what: str) -> None:
    """Raise InputError unless a frame has intervals and other columns, and one row for each combination of keys."""
    needed = [*names, "low", "high", "interval", "confidence_level"]
    require_columns(rates, needed, what, unique=keys)
    if rates.empty:
        raise InputError(f"{what} needs at least one row, got none")


def caption(ax: Axes, note: str, **options: Any) -> None:
    """Set the small print above the axes: kind of interval, n, and what else a reader needs."""
    ax.set_title(plain(note), loc="left", fontsize="small", color="0.35", **options)


def reach(frame: pd.DataFrame) -> list[pd.Series]:
    """Lengths of the error bars of means: down to ``low`` and up to ``high``."""
    return [frame["mean"] - frame["low"], frame["high"] - frame["mean"]]


@accepts()
def interval_note(summaries: pd.DataFrame) -> str:
    """Level and kind of the intervals, and n if it is known: ``95 % Wilson intervals, n = 64``.

    Rows without an interval have no part in it, and rows without a value none in n, unless there are no
    others. Means without an interval beside others with one are counted.

    Parameters
    ----------
    summaries
        Result of `ragnb.summarize` or `ragnb.compare`.

    Examples
    --------
    >>> frame = pd.DataFrame({"low": [0.1, 0.2, None], "n": [64, 60, 0], "confidence_level": 0.95})
    >>> interval_note(frame.assign(interval=[f"cluster-robust t, {n} clusters" for n in (40, 38, 0)]))
    '95 % cluster-robust t intervals, 38–40 clusters, n = 60–64'
    """
    note = _intervals_of(summaries) + _without_interval(summaries)
    column = next((name for name in ("n_scored", "n") if name in summaries), None)
    if column is None:
        return note
    sizes = summaries[column]
    positive_sizes = sizes[sizes > 0]
    return f"{note}, n = {span(sizes if positive_sizes.empty else positive_sizes)}"


def _without_interval(summaries: pd.DataFrame) -> str:
    """How many means have no interval, if others have one; otherwise empty."""
    if not {"mean", "low"} <= {*summaries.columns}:
        return ""
    means = summaries[summaries["mean"].notna()]
    n_without = int(means["low"].isna().sum())
    some_have_none = 0 < n_without < len(means)
    return f" ({n_without} of {len(means)} means have none)" if some_have_none else ""


def _intervals_of(summaries: pd.DataFrame) -> str:
    """Level and kind of the intervals, as far as the frame states them."""
    if not {"interval", "confidence_level"} <= {*summaries.columns}:
        has_any = "low" in summaries and summaries["low"].notna().any()
        return "intervals" if has_any else "no intervals"
    limit_or_kind = "low" if "low" in summaries else "interval"
    rows_with_interval = summaries[summaries[limit_or_kind].notna()]
    rows = summaries if rows_with_interval.empty else rows_with_interval
    kinds = rows["interval"].astype(str).str.replace(_CLUSTERS, "", regex=True)
    if kinds.nunique() > _MOST_KINDS:
        # Their names would fill several lines. They are in the table.
        return f"{level_of(summaries)} intervals of {kinds.nunique()} kinds"
    return f"{level_of(summaries)} {interval_words(rows['interval'])}"


def level_of(rows: pd.DataFrame) -> str:
    """Confidence level of the intervals of a frame, as in the text of a paper: ``95 %``."""
    return f"{100 * rows['confidence_level'].iloc[0]:g} %"


def kinds_of(rows: pd.DataFrame) -> str:
    """Level and kinds of the intervals, and whether some are over few clusters."""
    kinds = interval_words(rows["interval"].str.split(r" \(fewer than", regex=True).str[0])
    few = " (some: < 30 clusters)" if rows["interval"].str.contains("fewer than").any() else ""
    return f"{level_of(rows)} {kinds}{few}"


def span(sizes: pd.Series) -> str:
    """Smallest and largest of some numbers, or the only one."""
    low, high = int(sizes.min()), int(sizes.max())
    return f"{low:,}–{high:,}" if low < high else f"{low:,}"


def _number_clip_paths(path: Path, name: str) -> None:
    """Give the clip paths of an SVG file ids that do not depend on the last digits of the layout."""
    ids: dict[str, str] = {}
    text = re.sub(
        r'(?<=[#"])p[0-9a-f]{10}(?=[)"])',
        lambda match: ids.setdefault(match[0], f"{name}-clip{len(ids)}"),
        path.read_text(encoding="utf-8"),
    )
    path.write_text(text, encoding="utf-8")


@accepts(name="file name")
def save_figure(
    figure: Figure,
    name: str,
    numbers: pd.DataFrame,
    *,
    folder: str | Path = "figures",
    note: str = "",
    trim: bool = True,
) -> list[Path]:
    """Save a figure as PDF, SVG and PNG, and its numbers as JSON; return the paths.

    The same figure gives the same bytes on the same machine. The JSON contains ``note``, the
    signatures and one record per row.

    Parameters
    ----------
    figure, name, numbers, folder, note
        What to save, under which name and where, and a note on it.
    trim
        Cut the page to what is drawn. ``False`` keeps the size of the figure, so that one of
        `paper_size` goes into a paper unscaled and its text is printed in the requested size.

    Raises
    ------
    InputError
        The name contains a slash or a dot.
    """
    target = Path(folder) / name
    target.parent.mkdir(parents=True, exist_ok=True)
    pdf = dict.fromkeys(("CreationDate", "Producer", "Creator"))
    metadata = {"pdf": pdf, "svg": {"Date": None}, "png": {}}
    # Not None: a notebook's backend would trim.
    box: Any = "tight" if trim else figure.bbox_inches
    with style():
        for ending in FORMATS:
            path = target.with_suffix(f".{ending}")
            figure.savefig(path, dpi=200, metadata=metadata[ending], bbox_inches=box)
            if ending == "svg":
                _number_clip_paths(path, name)
    signatures = sorted(set(numbers["signature"])) if "signature" in numbers else []
    records = numbers.drop(columns="signature", errors="ignore")
    rows = json.loads(records.to_json(orient="records", double_precision=6))
    content = {"note": note, "signatures": signatures, "numbers": rows}
    text = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
    target.with_suffix(".json").write_text(text, encoding="utf-8")
    return [target.with_suffix(f".{ending}") for ending in (*FORMATS, "json")]
