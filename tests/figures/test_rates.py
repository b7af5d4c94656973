import numpy as np
import pandas as pd
import pytest

from ragnb.errors import InputError
from ragnb.figures import plot_rates, save_figure
from ragnb.stats.intervals import rate_interval


def rates(cells):
    """A frame of Wilson rates from (system, language, right, n)."""
    rows = []
    for system, language, right, n in cells:
        found = rate_interval(right, n)
        rows.append(
            {
                "system": system,
                "language": language,
                "mean": found.estimate,
                "low": found.low,
                "high": found.high,
            }
        )
    return pd.DataFrame(rows).assign(interval="Wilson", confidence_level=0.95)


@pytest.fixture
def two_languages():
    return rates(
        [
            ("closed", "en", 29, 40),
            ("true", "en", 39, 40),
            ("false", "en", 5, 40),
            ("true", "zh", 13, 15),
        ]
    )


def drawn(ax):
    """Points (x, y) and bars (low, high, y) of the picture, container by container."""
    points, bars = [], []
    for container in ax.containers:
        line, _, (bar,) = container
        points.append(np.column_stack([line.get_xdata(), line.get_ydata()]).astype(float))
        bars.append(np.array([[s[0, 0], s[1, 0], s[0, 1]] for s in bar.get_segments() if len(s)]))
    return points, bars


def test_points_and_bars_stand_at_the_numbers_of_the_frame_first_row_on_top():
    frame = rates([("one", "en", 1, 3), ("two", "en", 1, 4), ("three", "en", 4, 7)])
    ax = plot_rates(frame)
    points, bars = drawn(ax)
    assert points[0] == pytest.approx(np.column_stack([frame["mean"], [2, 1, 0]]))
    assert bars[0] == pytest.approx(np.column_stack([frame["low"], frame["high"], [2, 1, 0]]))
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["three", "two", "one"]
    assert ax.get_legend() is None


def test_series_share_a_row_without_covering_each_other(two_languages):
    ax = plot_rates(two_languages, series="language")
    (english, chinese), _ = drawn(ax)
    assert english[:, 0] == pytest.approx([0.725, 0.975, 0.125])
    assert np.round(english[:, 1]).tolist() == [2, 1, 0]
    assert np.round(chinese[0, 1]) == 1
    assert chinese[0, 1] < english[1, 1]  # the first series stands above the second
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["en", "zh"]


def test_marks_are_drawn_and_named(two_languages):
    ax = plot_rates(two_languages, series="language", marks={"gate": 0.7})
    assert [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == ":"] == [0.7]
    assert "gate" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_note_names_level_and_every_kind_of_interval(two_languages):
    both = pd.concat(
        [two_languages.head(1), two_languages.head(1).assign(interval="Clopper-Pearson")]
    )
    ax = plot_rates(both, series="interval", xlabel="accuracy")
    assert ax.get_title(loc="left") == "95% Wilson / Clopper-Pearson intervals"
    assert ax.get_xlabel() == "accuracy"


def test_an_undefined_rate_keeps_its_row(tmp_path):
    frame = rates([("a", "en", 1, 2), ("undefined", "en", 0, 0), ("b", "en", 2, 2)])
    ax = plot_rates(frame)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["b", "undefined", "a"]
    points, bars = drawn(ax)
    assert np.isnan(points[0][1, 0])
    assert bars[0][:, 2].tolist() == [2, 0]
    assert len(save_figure(ax.figure, "undefined", frame, folder=tmp_path)) == 4


def test_two_rates_in_one_place_are_refused(two_languages):
    with pytest.raises(
        InputError, match="one rate for each system; got several; choose rows, or name series="
    ):
        plot_rates(two_languages)


def test_n_stands_in_the_note_where_the_frame_holds_it():
    frame = pd.DataFrame(
        {"system": ["a", "b"], "mean": 0.5, "low": 0.4, "high": 0.6, "interval": "Wilson"}
    )
    frame = frame.assign(confidence_level=0.95)
    titles = [
        plot_rates(frame.assign(**extra)).get_title(loc="left")
        for extra in ({}, {"n": 68}, {"n_scored": [40, 15]})
    ]
    assert titles == [
        "95% Wilson intervals",
        "95% Wilson intervals, n = 68",
        "95% Wilson intervals, n = 15-40",
    ]
