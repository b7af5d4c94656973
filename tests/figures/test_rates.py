import numpy as np
import pandas as pd
import pytest

from ragnb.figures import WIDTHS, headline, plot_rates, save_figure
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


def labels(ax):
    return [tick.get_text() for tick in ax.get_yticklabels()]


def drawn(ax):
    """Points (x, y) and bars (low, high, y) of the picture, container by container."""
    points, bars = [], []
    for container in ax.containers:
        line, _, (bar,) = container
        points.append(np.column_stack([line.get_xdata(), line.get_ydata()]).astype(float))
        bars.append(np.array([[s[0, 0], s[1, 0], s[0, 1]] for s in bar.get_segments() if len(s)]))
    return points, bars


def test_points_and_bars_are_those_of_the_frame_first_row_on_top(tmp_path):
    frame = rates([("one", "en", 1, 3), ("none", "en", 0, 0), ("three", "en", 4, 7)])
    ax = plot_rates(frame)
    (points,), (bars,) = drawn(ax)
    assert points == pytest.approx(np.column_stack([frame["mean"], [2, 1, 0]]), nan_ok=True)
    assert bars == pytest.approx(frame[["low", "high"]].assign(y=[2, 1, 0]).dropna().to_numpy())
    assert labels(ax) == ["three", "none", "one"]  # an undefined rate keeps its row
    assert ax.get_legend() is None
    assert len(save_figure(ax.figure, "undefined", frame, folder=tmp_path)) == 4


def test_series_share_a_row_without_covering_each_other_and_marks_have_names(two_languages):
    ax = plot_rates(two_languages, series="language", marks={"gate": 0.7}, xlabel="accuracy")
    (english, chinese), _ = drawn(ax)
    assert english[:, 0] == pytest.approx([0.725, 0.975, 0.125])
    assert np.round(english[:, 1]).tolist() == [2, 1, 0]
    assert np.round(chinese[0, 1]) == 1
    assert chinese[0, 1] < english[1, 1]  # the first series is above the second
    assert [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == ":"] == [0.7]
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"en", "zh", "gate"}
    assert ax.get_xlabel() == "accuracy"


def test_a_figure_of_one_column_names_series_and_marks_in_the_picture(two_languages):
    options = {"series": "language", "marks": {"gate": 0.7}, "width": "column"}
    ax = plot_rates(two_languages, **options)
    headline(ax, "Accuracy falls if the passages are false, and by far more than half", whole=True)
    assert ax.figure.get_figwidth() == WIDTHS["column"]
    assert ax.get_legend() is None
    named = {text.get_text(): text for text in ax.texts}
    assert set(named) == {"en", "zh", "gate"}
    (english, chinese), _ = drawn(ax)
    # The first interval with enough room, and the only one of the other language.
    assert named["en"].xy == pytest.approx((two_languages["low"][0], english[0, 1]))
    assert named["zh"].xy == pytest.approx((two_languages["low"][3], chinese[0, 1]))
    assert named["gate"].xy[0] == 0.7
    ax.figure.draw_without_rendering()
    whole = ax.figure.bbox
    texts = [*named.values(), ax.figure._suptitle, *ax.get_yticklabels()]
    for box in [text.get_window_extent() for text in texts]:
        assert whole.x0 <= box.x0 <= box.x1 <= whole.x1
