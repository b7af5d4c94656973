"""Simulation of colour-vision deficiency and greyscale printing, to test the palette."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.colors import to_rgb
from numpy.typing import ArrayLike, NDArray

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
"""All colours, no red cones (protanopia), no green cones (deuteranopia), luminance alone."""

_XYZ = [
    [0.4124, 0.3576, 0.1805],
    [0.2126, 0.7152, 0.0722],
    [0.0193, 0.1192, 0.9505],
]  # of linear sRGB, IEC 61966-2-1
_WHITE = np.sum(_XYZ, axis=1)


def seen(colours: ArrayLike, vision: str) -> Floats:
    """Colours as seen with one of `VISIONS`: sRGB in [0, 1], red, green and blue last.

    Source: Machado, Oliveira and Fernandes (2009), doi:10.1109/TVCG.2009.113, matrices of severity
    1 (complete deficiency) applied to linear sRGB; greyscale is relative luminance.
    """
    linear = _linear(np.asarray(colours, float)) @ np.transpose(_SEEN[vision])
    return _encoded(np.clip(linear, 0, 1))


def colour_distance(colours: Sequence[Any], vision: str = "normal") -> float:
    """Smallest distance between any two colours as seen, in CIELAB (CIE 1976 ΔE).

    It is 0 if two look the same, and ``nan`` for fewer than two colours. About 2.3 is just
    noticeable if two patches touch. Lines and markers are small and apart, so they need several
    times as much. In greyscale it is the difference in lightness, 100 between black and white.
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
    """CIELAB of sRGB colours, one per row, under D65."""
    ratio = _linear(colours) @ np.transpose(_XYZ) / _WHITE
    x, y, z = np.where(
        ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29
    ).T
    return np.column_stack([116 * y - 16, 500 * (x - y), 200 * (y - z)])
