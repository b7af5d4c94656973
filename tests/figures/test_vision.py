"""Colours as others see them: published values, an independent model, and ragnb's palette."""

import matplotlib as mpl
import numpy as np
import pytest
from vision import _lab, colour_distance

from ragnb.figures import MARKERS, style

DEFICIENT = ("protanopia", "deuteranopia")
BOUND = 10
"""What the palette keeps between any two of its colours, in CIELAB."""

VIENOT = {
    "protanopia": [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]],
    "deuteranopia": [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]],
}
"""Another model: Viénot, Brettel and Mollon (1999), for linear sRGB."""


def palette():
    with style():
        return mpl.rcParams["axes.prop_cycle"].by_key()["color"]


# ---- the models --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("colour", "lab"),
    [  # sRGB under D65, as commonly tabulated
        ((1, 0, 0), (53.24, 80.09, 67.20)),
        ((0, 1, 0), (87.73, -86.18, 83.18)),
        ((0, 0, 1), (32.30, 79.19, -107.86)),
        ((1, 1, 1), (100, 0, 0)),
        ((0, 0, 0), (0, 0, 0)),
    ],
)
def test_lab_is_that_of_the_tables(colour, lab):
    assert _lab(np.array([colour], float))[0] == pytest.approx(lab, abs=0.05)


@pytest.mark.parametrize("vision", DEFICIENT)
def test_red_and_green_come_near_each_other(vision):
    assert (
        colour_distance(["tab:red", "tab:green"], vision)
        < colour_distance(["tab:red", "tab:green"]) / 3
    )


# ---- distances ---------------------------------------------------------------------------------------------------------


def test_the_distance_is_that_of_the_nearest_two():
    assert colour_distance(["black", "white", "0.5"]) == pytest.approx(
        100 - colour_distance(["black", "0.5"]), abs=0.1
    )
    assert colour_distance(["red", "red"]) == 0
    assert np.isnan(colour_distance(["red"]))


def encoded(linear):
    return np.where(
        linear <= 0.0031308,
        12.92 * linear,
        1.055 * np.clip(linear, 0.0031308, 1) ** (1 / 2.4) - 0.055,
    )


@pytest.mark.parametrize("vision", DEFICIENT)
def test_the_palette_can_be_told_apart_under_two_models(vision):
    assert colour_distance(palette(), vision) > BOUND
    code = np.array([mpl.colors.to_rgb(colour) for colour in palette()])
    linear = np.where(code <= 0.04045, code / 12.92, ((code + 0.055) / 1.055) ** 2.4)
    assert (
        colour_distance(list(encoded(np.clip(linear @ np.transpose(VIENOT[vision]), 0, 1))))
        > BOUND / 2
    )
    assert (
        colour_distance(
            list(encoded(np.clip(linear[: len(MARKERS)] @ np.transpose(VIENOT[vision]), 0, 1)))
        )
        > BOUND
    )


def test_in_greyscale_two_series_differ_and_more_need_their_markers():
    first_two, all_of_them = (
        colour_distance(palette()[:2], "greyscale"),
        colour_distance(palette(), "greyscale"),
    )
    assert first_two > BOUND
    assert all_of_them < BOUND  # which is why every series has a marker and dashes of its own
