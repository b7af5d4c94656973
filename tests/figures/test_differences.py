import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from support.drawn import row_labels, small_print
from support.made_scores import scored

from ragnb.figures import plot
from ragnb.scoring import compare


@pytest.fixture
def scores():
    """Of three noise rates, only the first has a difference."""
    rng = np.random.default_rng(4)
    parts = []
    for rate, chance in ((0.0, 0.95), (0.4, 0.5), (0.8, 0.5)):
        right = {name: rng.random(60) < share for name, share in (("one", chance), ("two", 0.5))}
        values = {name: hits.astype(float) for name, hits in right.items()}
        parts.append(scored(values, "rgb.accuracy", noise_rate=rate))
    return pd.concat(parts, ignore_index=True)


@pytest.fixture
def comparisons(scores):
    return compare(scores, baseline="two")


def points(ax):
    """Height, place and filling of each point, from the top."""
    lines = [line for line in ax.lines if line.get_marker() == "o"]
    places = [
        (height, place, to_rgb(line.get_markerfacecolor()) != (1, 1, 1))
        for line in lines
        for place, height in line.get_xydata()
    ]
    return sorted(places, key=lambda point: -point[0])


def spans(ax):
    return sorted(tuple(bar[:, 0]) for lines in ax.collections for bar in lines.get_segments())


def assert_drawn(ax, table, heights):
    """Points, their fillings and their bars are those of the rows of a table."""
    filled = table["p_adjusted"] < 0.05
    wanted = zip(heights, table["difference"], filled, strict=True)
    assert points(ax) == [pytest.approx(each) for each in wanted]
    limits = zip(table["low"], table["high"], strict=True)
    assert spans(ax) == [pytest.approx(each) for each in sorted(limits)]


def test_points_bars_fillings_and_bands_are_those_of_the_frame(comparisons):
    assert (comparisons["p_adjusted"] < 0.05).tolist() == [True, False, False]
    ax = plot(comparisons)
    assert_drawn(ax, comparisons, [2, 1, 0])
    assert row_labels(ax) == ["0", "0.4", "0.8"]
    bands = [patch.get_width() / 2 for patch in ax.patches]
    assert bands == pytest.approx(comparisons["mde"].tolist())
    assert ax.get_xlabel() == "accuracy (difference one − two)"
    for part in ("95 % Tango intervals, n = 60", "Holm over 3", "with 80 % power"):
        assert part in small_print(ax)


def test_several_pairs_are_named_and_an_undefined_comparison_keeps_its_row(comparisons):
    comparisons.loc[1, ["difference", "low", "high", "p_adjusted", "mde"]] = np.nan
    ax = plot(pd.concat([comparisons, comparisons.assign(system="three")]))
    assert len(row_labels(ax)) == 6
    assert "0.8, three" in row_labels(ax)
    assert sum(text.get_text() == "undefined" for text in ax.texts) == 2


def test_numbers_of_pairs_are_in_a_column_beside_the_p_values_if_they_differ(comparisons):
    assert "n" not in [text.get_text() for text in plot(comparisons).texts]
    comparisons["n_pairs"] = [60, 50, 40]
    ax = plot(comparisons)
    texts = [text.get_text() for text in ax.texts]
    assert texts[texts.index("60") :] == ["60", "50", "40", "n"]
    assert "n = 40–60" in small_print(ax)
    ax.figure.draw_without_rendering()
    ends = [text.get_window_extent().x1 for text in ax.texts if text.get_text() in ("60", "n")]
    assert ends[0] == pytest.approx(ends[1])
    assert ends[0] <= ax.figure.bbox.x1


def test_a_single_difference_has_room_for_its_dot(comparisons):
    ax = plot(comparisons.head(1))
    ax.figure.draw_without_rendering()
    assert ax.get_window_extent().height / ax.figure.dpi > 0.15
