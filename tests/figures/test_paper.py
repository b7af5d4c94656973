"""Sizes, fonts and colours of a figure that goes into a paper."""

import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import PathCollection

from ragnb.figures import paper_size, plot, save_figure
from ragnb.figures.styles import style


@pytest.fixture
def summaries(noise_summaries):
    return noise_summaries(one=0.9, two=0.85, three=0.8, four=0.75)


def page(pdf):
    """Width and height of a PDF's page in inches."""
    box = re.search(rb"/MediaBox \[\s*([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+)", pdf)
    left, bottom, right, top = map(float, box.groups())
    return (right - left) / 72, (top - bottom) / 72


def pixels(png):
    """Width and height of a PNG, out of its header."""
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")


# ---- sizes -------------------------------------------------------------------------------------------------------------


def test_widths_are_those_of_the_styles():
    a4, margin, gap = 21.0, 2.5, 0.6  # acl.sty, in cm
    text = a4 - 2 * margin
    assert paper_size("acl")[0] * 2.54 == pytest.approx((text - gap) / 2)
    assert paper_size("acl", columns=2)[0] * 2.54 == pytest.approx(text)
    assert paper_size("acl")[0] == pytest.approx(3.03, abs=0.005)
    assert paper_size("neurips")[0] * 6 == 33  # picas
    assert paper_size("two-column", columns=2)[0] == 2 * paper_size("two-column")[0] + 3 / 8


def test_an_untrimmed_figure_is_as_large_as_asked_for_whatever_it_holds(summaries, tmp_path):
    size = paper_size("acl")
    with style(font_size=9):
        ax = plt.subplots(figsize=size)[1]
        ax.plot(summaries["noise_rate"], summaries["mean"])
    pdf, _, png, _ = save_figure(ax.figure, "f", summaries, folder=tmp_path, trim=False)
    assert page(pdf.read_bytes()) == pytest.approx(size, abs=0.001)
    assert np.divide(pixels(png.read_bytes()), 200) == pytest.approx(size, abs=0.01)
    trimmed = save_figure(ax.figure, "g", summaries, folder=tmp_path)[0]
    assert page(trimmed.read_bytes()) != pytest.approx(size, abs=0.001)


# ---- text --------------------------------------------------------------------------------------------------------------


def test_the_font_size_around_holds_inside(summaries):
    with style(font_size=9):
        ax = plot(summaries, title="A finding")
        drawn = [text for text in ax.figure.findobj(mpl.text.Text) if text.get_text()]
        sizes = {text.get_fontsize() for text in drawn if text.get_visible()}
        # The names of curves and the small print are smaller, and the title is larger.
        assert sorted(sizes) == pytest.approx([9 / 1.2, 9 - 1.3, 9, 9.5], rel=1e-3)
        with style(font_size=6), style():
            assert mpl.rcParams["font.size"] == 6
        assert mpl.rcParams["font.size"] == 9
    with style():
        assert mpl.rcParams["font.size"] == 8


def test_fonts_are_embedded_as_truetype_where_the_default_is_type_3(summaries, tmp_path):
    ax = plot(summaries.replace({"system": {"one": "naïve α → 0.5"}}))
    ours = save_figure(ax.figure, "ours", summaries, folder=tmp_path, trim=False)[0].read_bytes()
    with mpl.rc_context({"pdf.fonttype": mpl.rcParamsDefault["pdf.fonttype"]}):
        ax.figure.savefig(tmp_path / "default.pdf")
    assert b"/Type3" in (tmp_path / "default.pdf").read_bytes()
    assert b"/Type3" not in ours
    assert b"/FontFile2" in ours  # the font itself
    assert b"DejaVuSans" in ours


# ---- series without colours --------------------------------------------------------------------------------------------


def test_series_differ_in_marker_and_dashes_beside_colour(summaries):
    ax = plot(summaries)
    dashes = {str(line._dash_pattern) for line in ax.lines if len(line.get_xdata()) > 1}
    dots = [artist for artist in ax.collections if isinstance(artist, PathCollection)]
    markers = {artist.get_paths()[0].vertices.tobytes() for artist in dots}
    assert len(dashes) == len(markers) == len(dots) == 4
