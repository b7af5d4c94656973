import json

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection
from support.drawn import small_print

import ragnb
from ragnb.errors import InputError
from ragnb.figures import plot, save_figure
from ragnb.figures.styles import style
from ragnb.reports import risk_coverage_report


@pytest.fixture
def summaries(noise_summaries):
    return noise_summaries(a=0.9, b=0.7)


def intervals(ax):
    """The ends of the intervals of each line, from left to right."""
    lines = [artist for artist in ax.collections if isinstance(artist, LineCollection)]
    return [[tuple(bar[:, 1]) for bar in line.get_segments()] for line in lines]


def heights(ax):
    """The means of each line, from left to right."""
    return [list(line.get_ydata()) for line in ax.lines if len(line.get_xdata()) > 1]


def test_every_estimate_has_its_interval_and_points_are_sorted(summaries):
    ax = plot(summaries)
    assert small_print(ax) == "95 % Wilson intervals, n = 60"
    assert heights(ax)[0] == pytest.approx([0.9, 0.7, 0.5])
    first, second = intervals(ax)
    assert first[0] == pytest.approx((0.8, 0.95))
    assert len(first) == len(second) == 3


def test_published_curves_are_behind_the_others_with_their_names(summaries):
    columns = {"system": "P", "noise_rate": [0.0, 0.8], "mean": [0.9, 0.6], "n": 300}
    published = pd.DataFrame(columns).assign(low=0.5, high=0.95)
    ax = plot(summaries, published=published)
    assert "P" in [text.get_text() for text in ax.texts]
    assert small_print(ax).endswith("grey: published results, n = 300")
    assert [0.9, 0.6] in heights(ax)


def test_curves_of_one_printed_table_are_all_published():
    table = ragnb.published("rgb.noise_robustness").query("language == 'en'")
    is_coloured = table["system"] == "ChatGPT"
    ax = plot(table[is_coloured], published=table[~is_coloured])
    assert small_print(ax).endswith("grey: other published results, n = 300")


def test_names_of_a_crowd_have_the_middle_of_its_last_means(noise_summaries):
    """Each name is at most half of the crowd away from its line, above or below."""
    means = {"a": 0.92, "b": 0.91, "c": 0.9, "d": 0.89, "e": 0.88}
    ax = plot(noise_summaries(**means))
    lasts = np.array([line[-1] for line in heights(ax)])
    to_data = ax.transAxes + ax.transData.inverted()
    places = [to_data.transform((1, text.xy[1]))[1] for text in ax.texts]
    assert np.mean(places) == pytest.approx(lasts.mean(), abs=1e-6)
    assert sorted(places) == pytest.approx(sorted(lasts), abs=0.2)


def test_a_name_stands_at_the_last_scored_mean_of_its_curve(summaries):
    unscored = (summaries["system"] == "a") & (summaries["noise_rate"] == 0.8)
    empty = summaries[summaries["system"] == "b"].assign(system="c", mean=float("nan"))
    gaps = summaries.assign(mean=summaries["mean"].mask(unscored))
    ax = plot(pd.concat([gaps, empty]))
    to_data = ax.transAxes + ax.transData.inverted()
    places = {text.get_text(): to_data.transform((1, text.xy[1]))[1] for text in ax.texts}
    assert places == pytest.approx({"a": 0.7, "b": 0.3}, abs=1e-6)


def test_saving_gives_four_files_the_same_twice(summaries, tmp_path):
    contents = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        figure = plot(summaries).figure
        paths = save_figure(figure, "f", summaries, folder=folder, note="é")
        assert [path.suffix for path in paths] == [".pdf", ".svg", ".png", ".json"]
        contents.append([path.read_bytes() for path in paths])
    assert contents[0] == contents[1]
    numbers = json.loads(contents[0][3])
    assert (numbers["note"], numbers["signatures"]) == ("é", ["ragnb:0|metric:m"])
    assert len(numbers["numbers"]) == len(summaries)


def test_several_estimates_are_not_drawn_as_one_line(summaries):
    other = summaries.assign(metric="two", mean=0.3, low=0.2, high=0.4)
    both = pd.concat([summaries.assign(metric="one"), other])
    with pytest.raises(InputError, match="one mean for each system and noise_rate, got several"):
        plot(both, kind="curves", series="system")
    ax = plot(both[both["system"] == "a"], kind="curves", series="metric")
    assert heights(ax) == [pytest.approx([0.9, 0.7, 0.5]), [0.3] * 3]
    with pytest.raises(InputError, match="with at least one row, got a frame with 0 rows"):
        plot(both.iloc[:0])


def test_a_backend_may_become_interactive_while_a_figure_is_drawn():
    """A notebook's backend does so at the first figure; otherwise only that one would be shown."""
    before = dict(mpl.rcParams)
    with style():
        mpl.rcParams["interactive"] = True
    assert dict(mpl.rcParams) == before | {"interactive": True}
    mpl.rcParams["interactive"] = before["interactive"]


def test_risk_is_drawn_against_coverage_with_its_control():
    rng = np.random.default_rng(3)
    sure = rng.random(120)
    verdict = rng.random(120) < sure
    frame = pd.DataFrame({"system": "ours", "sure": sure.round(1), "verdict": verdict})
    report = risk_coverage_report(frame, confidence="sure")
    ax = plot(report)
    (line,) = [line for line in ax.lines if line.get_label() == "ours"]
    rows = report.curve.sort_values("coverage")
    assert line.get_xydata() == pytest.approx(rows[["coverage", "risk"]].to_numpy())
    assert len(ax.collections) == 2
    assert "95 % pointwise Wilson intervals" in small_print(ax)
    two = risk_coverage_report(pd.concat([frame, frame.assign(system="b")]), confidence="sure")
    ax = plot(two)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["ours", "b"]
    assert not ax.collections


def test_names_that_are_too_long_to_be_next_to_a_curve_are_in_a_legend_below(summaries):
    long = summaries.assign(
        system=summaries["system"] + ", five passages, shuffled, counterfactual"
    )
    ax = plot(long)
    (legend,) = ax.figure.legends
    texts = {text.get_text().replace("\n", " ") for text in legend.get_texts()}
    assert texts == set(long["system"])
    assert not ax.texts
    ax.figure.canvas.draw()
    assert ax.get_window_extent().height > 100
