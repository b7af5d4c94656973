"""How a picture looks to readers who see fewer colours than its author, and to those who print it without any."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from ragnb.errors import check_choice

Floats = NDArray[np.float64]

_LUMINANCE = [0.2126, 0.7152, 0.0722]
_SEEN: dict[str, Any] = {
    "normal": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "greyscale": [_LUMINANCE] * 3,
}
VISIONS = tuple(_SEEN)
"""Ways of seeing: all colours, no red (protanopia), no green (deuteranopia), luminance alone."""

_XYZ = [
    [0.4124, 0.3576, 0.1805],
    [0.2126, 0.7152, 0.0722],
    [0.0193, 0.1192, 0.9505],
]  # of linear sRGB, IEC 61966-2-1
_WHITE = np.sum(_XYZ, axis=1)


def seen(colours: ArrayLike, vision: str) -> Floats:
    """Colours as seen with a kind of vision: sRGB in [0, 1], of the shape given, red, green and blue last.

    Parameters
    ----------
    colours
        sRGB in [0, 1]: one colour, a list of them, or an image.
    vision
        One of `VISIONS`; both deficiencies are the whole ones, which are harder than the partial.

    Raises
    ------
    InputError
        Another vision.

    Source: Machado, Oliveira and Fernandes (2009), doi:10.1109/TVCG.2009.113, their matrices of severity 1 applied to
    linear sRGB; greyscale is relative luminance.

    >>> seen([1.0, 1.0, 1.0], "deuteranopia").round(3).tolist()
    [1.0, 1.0, 1.0]
    """
    check_choice(vision, VISIONS, "vision")
    linear = _linear(np.asarray(colours, float)) @ np.transpose(_SEEN[vision])
    return _encoded(np.clip(linear, 0, 1))


def figure_seen(figure: Figure, vision: str, *, dpi: float = 150) -> Floats:
    """A figure drawn, and seen with a kind of vision (see `seen`): an image for ``imshow``."""
    dpi_before, canvas_before = figure.dpi, figure.canvas
    try:
        figure.set_dpi(dpi)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        pixels = np.asarray(canvas.buffer_rgba())[..., :3] / 255
    finally:
        figure.set_dpi(dpi_before)
        figure.set_canvas(canvas_before)
    return seen(pixels, vision)


def colour_distance(colours: Sequence[Any], vision: str = "normal") -> float:
    """The smallest distance between any two of some colours as seen, in CIELAB (CIE 1976 ΔE).

    Larger is better, from 0: two look the same; ``nan`` of fewer than two colours. About 2.3 is just noticeable where two
    patches touch; lines and markers, which are small and apart, need several times as much: ragnb's palette keeps 10 under
    both deficiencies, but not in greyscale, where markers and dashes tell series apart.

    Parameters
    ----------
    colours
        Anything that matplotlib takes for a colour.
    vision
        One of `VISIONS`; in greyscale it is the difference in lightness, 100 between black and white.

    >>> round(colour_distance(["black", "white"], "greyscale"))
    100
    """
    lab = _lab(seen([to_rgb(colour) for colour in colours], vision).reshape(-1, 3))
    return min(
        (float(np.linalg.norm(one - other)) for one, other in combinations(lab, 2)),
        default=float("nan"),
    )


def _linear(encoded: Floats) -> Floats:
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)


def _encoded(linear: Floats) -> Floats:
    return np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)


def _lab(colours: Floats) -> Floats:
    """CIELAB of sRGB colours, one a row, under D65."""
    ratio = _linear(colours) @ np.transpose(_XYZ) / _WHITE
    x, y, z = np.where(
        ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29
    ).T
    return np.column_stack([116 * y - 16, 500 * (x - y), 200 * (y - z)])
