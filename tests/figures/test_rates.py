import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PathCollection
from support.drawn import dots, row_labels
from support.drawn import names as drawn_names

from ragnb.figures import plot
from ragnb.stats import rate_interval


def rates(cells):
    """A frame of Wilson rates from (system, language, right, n)."""
    rows = []
    for system, language, right, n in cells:
        found = rate_interval(right, n).columns("mean")
        rows.append({"system": system, "language": language, **found})
    return pd.DataFrame(rows)


@pytest.fixture
def two_languages():
    english = [("closed", "en", 29, 40), ("true", "en", 39, 40), ("false", "en", 5, 40)]
    return rates([*english, ("true", "zh", 13, 15)])


def test_dots_and_intervals_are_those_of_the_frame_first_row_on_top(tmp_path):
    frame = rates([("one", "en", 1, 3), ("none", "en", 0, 0), ("three", "en", 4, 7)])
    ax = plot(frame, save=tmp_path / "undefined")
    assert row_labels(ax) == ["one", "none", "three"]  # an undefined rate keeps its row
    (places,) = dots(ax)
    assert places == pytest.approx(frame["mean"].dropna().tolist())
    bars = [artist for artist in ax.collections if isinstance(artist, LineCollection)]
    ends = [tuple(bar[:, 0]) for lines in bars for bar in lines.get_segments()]
    assert sorted(ends) == [
        pytest.approx(row) for row in frame[["low", "high"]].dropna().to_numpy()
    ]
    assert ax.get_legend() is None
    assert len([*tmp_path.iterdir()]) == 4


def test_series_share_a_row_without_covering_each_other_and_marks_have_names(two_languages):
    names = {"mean": "accuracy"}
    options = {"rows": "system", "series": "language", "reference": {"gate": 0.7}}
    ax = plot(two_languages, **options, names=names)
    series = [artist for artist in ax.collections if isinstance(artist, PathCollection)]
    english, chinese = (artist.get_offsets() for artist in series)
    assert english[:, 0] == pytest.approx([0.725, 0.975, 0.125])
    assert np.round(english[:, 1]).tolist() == [2, 1, 0]
    assert np.round(chinese[0, 1]) == 1
    assert chinese[0, 1] < english[1, 1]  # the first series is above the second
    assert [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == "--"] == [0.7]
    assert {*drawn_names(ax)} == {"English", "Chinese", "gate"}
    assert ax.get_xlabel() == "accuracy"
    ax.figure.draw_without_rendering()
    whole = ax.figure.bbox
    for text in [*ax.texts, *ax.figure.texts, *ax.get_yticklabels()]:
        box = text.get_window_extent()
        assert whole.x0 <= box.x0 <= box.x1 <= whole.x1
