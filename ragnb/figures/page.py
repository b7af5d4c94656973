"""The page of a figure: its width, its title and small print, and the colours that always mean the same."""

# Tested in tests/figures/test_choose.py.

import colorsys
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from ragnb.errors import InputError
from ragnb.figures.styles import COLOURS, MARKERS, PAPERS, plain

# Widths in inches by name: one column and the whole text of a paper in ACL's style, and those of other papers.
PAGE_WIDTHS = {
    "column": PAPERS["acl"][0],
    "text": PAPERS["acl"][1],
    **{paper: widths[0] for paper, widths in PAPERS.items()},
}
# Colours with one meaning in all figures.
REFERENCE = "0.35"  # a line with which the results are compared
PUBLISHED = "0.6"  # results that others published
PEOPLE = "#333333"  # judgements of people
RANGE = "0.75"  # a range of values that is expected or allowed
SMALL_PRINT = "0.35"
# WCAG 2.2, success criterion 1.4.3: the least contrast of text.
LEAST_CONTRAST = 4.5
# A word, or an equation with its two sides.
_WORD = re.compile(r"[^ ]+(?: [=<>] [^ ]+)*")
# Points between lines, as a multiple of the font size, and around a text.
_LINE, _GAP = 1.25, 3.0
# Smallest size of the small print, in points.
_LEAST_SIZE = 6.5


@dataclass(frozen=True)
class Page:
    """What a figure is asked for: the options of `ragnb.plot`."""

    title: str = ""
    names: Mapping[Any, str] = field(default_factory=dict)
    width: str | float = "column"
    reference: Mapping[str, float] = field(default_factory=dict)
    published: pd.DataFrame | None = None
    rows: Sequence[str] | None = None
    series: str | None = None
    along: str | None = None
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    others: Mapping[str, pd.DataFrame] = field(default_factory=dict)


def width_in_inches(width: str | float) -> float:
    """The width of a figure: ``"column"``, ``"text"``, a paper's name, or a number of inches.

    >>> round(width_in_inches("column"), 2), round(width_in_inches("text"), 2), width_in_inches(5)
    (3.03, 6.3, 5.0)
    """
    if isinstance(width, str):
        if width not in PAGE_WIDTHS:
            names = ", ".join(map(repr, PAGE_WIDTHS))
            raise InputError(f"width must be a number of inches or one of {names}, got {width!r}")
        return PAGE_WIDTHS[width]
    if not 1 <= width <= 40:
        raise InputError(f"width must be between 1 and 40 inches, got {width!r}")
    return float(width)


def new_page(width: str | float, height: float, **options: Any) -> tuple[Figure, Any]:
    """A figure of a width by name and a height in inches, with its axes."""
    return plt.subplots(figsize=(width_in_inches(width), height), **options)


def set_header(figure: Figure, title: str, small_print: str) -> None:
    """Write a title in bold and the small print below it, over the whole width; the page grows by their height.

    The figure needs constrained layout. Each line of the small print is wrapped separately.
    """
    width, height = figure.get_size_inches()
    size = plt.rcParams["font.size"]
    paragraphs: list[tuple[str, dict[str, Any]]] = []
    if title:
        paragraphs.append((title, {"fontsize": size + 0.5, "fontweight": "bold"}))
    small = {"fontsize": max(_LEAST_SIZE, size - 1.3), "color": SMALL_PRINT}
    paragraphs += [(line, small) for line in small_print.split("\n") if line]
    texts = []
    for text, look in paragraphs:
        font = FontProperties(size=look["fontsize"], weight=look.get("fontweight", "normal"))
        # A little room is left, so that no line touches the edge of the page.
        room = 0.98 * (72 * width - 2 * _GAP)
        lines = wrapped(plain(text), room, font)
        texts.append((lines, look, _LINE * look["fontsize"] * len(lines)))
    # In points, and the height of the page in inches.
    header = sum(points for _, _, points in texts) + 2 * _GAP
    total = height + header / 72
    figure.set_size_inches(width, total)
    top = 72 * total - _GAP
    for lines, look, points in texts:
        # From points to shares of the page.
        x, y = _GAP / (72 * width), top / (72 * total)
        figure.text(x, y, "\n".join(lines), va="top", ha="left", linespacing=_LINE, **look)
        top -= points
    engine: Any = figure.get_layout_engine()
    engine.set(rect=(0, 0, 1, 1 - header / (72 * total)))
    _wrap_axis_names(figure)


def _wrap_axis_names(figure: Figure) -> None:
    """Break the names of horizontal axes that the page would cut."""
    font = FontProperties(size=plt.rcParams["axes.labelsize"])
    # A name of up to half of the page has room below its axes, so that nothing needs to be measured.
    most = 0.5 * 72 * figure.get_figwidth()
    for ax in figure.axes:
        if text_width(ax.get_xlabel(), font) > most:
            _wrap_axis_name(ax)


def _wrap_axis_name(ax: Axes) -> None:
    """Break the name of a horizontal axis into lines if the page would cut it; the page grows by their height.

    The page must have its header, because room is measured on it.
    """
    figure: Any = ax.figure
    figure.draw_without_rendering()
    box, page = ax.get_window_extent(), figure.bbox
    middle = (box.x0 + box.x1) / 2
    room = 2 * min(middle - page.x0, page.x1 - middle) * 72 / figure.dpi - 2 * _GAP
    label = ax.xaxis.label
    lines = wrapped(label.get_text(), room, label.get_fontproperties())
    if len(lines) > 1:
        label.set_text("\n".join(lines))
        added = (len(lines) - 1) * _LINE * label.get_fontproperties().get_size_in_points() / 72
        _grow(figure, added)


def _grow(figure: Figure, inches: float) -> None:
    """Make the page higher below its header."""
    width, height = figure.get_size_inches()
    # Positions are shares of the page. The header keeps its distance from the top in inches.
    texts_and_distances = [(text, height * (1 - text.get_position()[1])) for text in figure.texts]
    engine: Any = figure.get_layout_engine()
    header = height * (1 - engine.get()["rect"][3])
    figure.set_size_inches(width, height + inches)
    for text, from_top in texts_and_distances:
        text.set_y(1 - from_top / (height + inches))
    engine.set(rect=(0, 0, 1, 1 - header / (height + inches)))


def wrapped(text: str, width: float, font: FontProperties) -> list[str]:
    """Break a text into lines that are at most some points wide, between words.

    An equation such as ``n = 64`` stays in one line.
    """
    lines: list[str] = []
    for word in _WORD.findall(text):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, font) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def spread(heights: Sequence[float], distance: float, lowest: float, highest: float) -> list[float]:
    """Move heights in ascending order so far apart that names at them do not overlap.

    The names are moved as little as possible, so that a crowd of them has the middle of its heights. If there is
    no room for all between the limits, those at the lower end leave it.

    >>> spread([0.0, 0.1, 5.0, 5.0], 1.0, 0.0, 5.0)
    [0.0, 1.0, 4.0, 5.0]
    >>> spread([2.0, 2.0, 2.0], 1.0, 0.0, 5.0)
    [1.0, 2.0, 3.0]
    """
    if not len(heights):
        return []
    from scipy.optimize import isotonic_regression

    # Names with their distances subtracted only have to be in ascending order.
    distances = distance * np.arange(len(heights))
    moved = isotonic_regression(np.asarray(heights, dtype=float) - distances).x
    moved = np.minimum(np.maximum(moved, lowest), highest - distances[-1])
    return [float(height) for height in moved + distances]


def text_width(text: str, font: FontProperties) -> float:
    """Width of a line of text in points."""
    # The text is escaped by `plain`, and matplotlib draws an escaped dollar sign without its backslash.
    unescaped = text.replace(r"\$", "$")
    width, _, _ = text_to_path.get_text_width_height_descent(unescaped, font, ismath=False)
    return float(width)


def look(number: int) -> dict[str, Any]:
    """Colour and marker of the series with a number, from 0."""
    return {
        "color": to_hex(COLOURS[number % len(COLOURS)]),
        "marker": MARKERS[number % len(MARKERS)],
    }


def text_colour(colour: Any) -> str:
    """A colour of the same hue that is dark enough for text on white.

    >>> round(contrast("#de8f05"), 1), round(contrast(text_colour("#de8f05")), 1)
    (2.6, 4.6)
    """
    # Steps of 3 % end close to the least contrast.
    hue, lightness, saturation = colorsys.rgb_to_hls(*to_rgb(colour))
    while contrast(colour) < LEAST_CONTRAST:
        lightness *= 0.97
        colour = to_hex(colorsys.hls_to_rgb(hue, lightness, saturation))
    return to_hex(colour)


def contrast(colour: Any) -> float:
    """Contrast of a colour with white, from 1 to 21, as the WCAG define it."""
    # The constants are those of "relative luminance" in WCAG 2.2.
    channels = np.array(to_rgb(colour))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    luminance = float(linear @ [0.2126, 0.7152, 0.0722])
    return 1.05 / (luminance + 0.05)


def looks_of(values: list[Any], column: str) -> dict[Any, dict[str, Any]]:
    """Colour and marker of each series; people's judgements look the same in all figures.

    >>> looks_of(["answer.f1", "annotator.verdict"], "metric")["annotator.verdict"]["color"] == PEOPLE
    True
    """
    machines = [value for value in values if not _is_of_people(value, column)]
    looks = {value: look(number) for number, value in enumerate(machines)}
    of_people = {"color": PEOPLE, "marker": "D"}
    return {value: looks.get(value, of_people) for value in values}


def _is_of_people(value: Any, column: str) -> bool:
    """Whether a series has judgements of people."""
    return column == "metric" and str(value).startswith("annotator.")
