import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

from ragnb.errors import InputError
from ragnb.figures import plot_judge_bias, plot_reliability
from ragnb.reports import judge_report


@pytest.fixture(scope="module")
def report():
    rng = np.random.default_rng(2)
    score = rng.random(300)
    label = (rng.random(300) < score).astype(float)
    frame = pd.DataFrame({
        "example_id": range(300), "language": ["en", "zh", "中文"] * 100, "label": label, "score": score,
        "verdict": np.where(rng.random(300) < 0.1, 1 - label, label), "response": ["x" * (k % 50) for k in range(300)],
    })  # fmt: skip
    frame.loc[frame["language"] == "zh", "verdict"] = 1.0
    return judge_report(frame, judge=["score", "verdict"])


def only(table, judge):
    return table[table["judge"] == judge]


def curves(ax):
    """Points and limits (x, y, low, high) of each judge."""
    found = []
    for container in ax.containers:
        line, _, (bars,) = container
        limits = np.array([[segment[0, 1], segment[1, 1]] for segment in bars.get_segments()])
        found.append(np.column_stack([line.get_xdata(), line.get_ydata(), limits]))
    return found


def test_points_and_bars_stand_at_the_numbers_of_the_curve(report):
    bins = only(report.curve, "score")
    ax = plot_reliability(bins)
    (points,) = curves(ax)
    assert points == pytest.approx(bins[["mean_predicted", "mean", "low", "high"]].to_numpy())
    diagonal = next(line for line in ax.lines if line.get_linestyle() == ":")
    assert (list(diagonal.get_xdata()), list(diagonal.get_ydata())) == ([0, 1], [0, 1])
    assert ax.get_legend() is None


def test_the_histogram_below_holds_the_responses_of_each_bin(report):
    bins = only(report.curve, "score")
    (below,) = plot_reliability(bins).child_axes
    assert [patch.get_height() for patch in below.patches] == bins["n"].tolist()
    assert [patch.get_x() for patch in below.patches] == pytest.approx(bins["bin_low"].tolist())
    assert below.get_xlabel() == "judge's score (score)"


def test_error_its_expectation_n_and_intervals_are_on_the_figure(report):
    row = report.calibration.set_index("judge").loc["score"]
    title = plot_reliability(only(report.curve, "score")).get_title(loc="left")
    assert (
        title
        == f"ECE {row['ece']:.3f} ({row['expected_if_calibrated']:.3f} if calibrated), n = 300\n95% Wilson intervals"
    )


def test_a_judge_of_verdicts_has_two_points_and_no_line(report):
    ax = plot_reliability(only(report.curve, "verdict"))
    (points,) = curves(ax)
    assert points[:, 0].tolist() == [0, 1]
    assert ax.containers[0][0].get_linestyle() == "None"
    assert ax.get_title(loc="left").startswith("verdicts of 0 and 1, n = 300")


def test_several_judges_differ_by_marker_and_place_and_stand_in_the_legend(report):
    ax = plot_reliability(report)
    lines = [container[0] for container in ax.containers]
    assert (
        len({line.get_marker() for line in lines}) == len({line.get_color() for line in lines}) == 2
    )
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["score", "verdict"]
    assert ax.get_title(loc="left").count("n = 300") == 2
    assert curves(ax)[0][:, 0] == pytest.approx(
        only(report.curve, "score")["mean_predicted"] - 0.006
    )


def test_bins_without_limits_keep_their_point_and_few_clusters_are_named(report):
    bins = only(report.curve, "score").assign(
        interval="cluster-robust t (fewer than 30: too narrow)"
    )
    bins.loc[bins.index[0], ["low", "high"]] = np.nan
    ax = plot_reliability(bins)
    assert curves(ax)[0][0, 2] == pytest.approx(bins["mean"].iloc[0])
    assert ax.get_title(loc="left").endswith("95% cluster-robust t intervals (some: < 30 clusters)")


def forest(ax):
    points = [line for line in ax.lines if line.get_marker() == "o"]
    return {line.get_ydata()[0]: line.get_xdata()[0] for line in points}, points


def test_the_forest_stands_at_the_differences_under_headings(report):
    rows = only(report.bias, "verdict")
    ax = plot_judge_bias(rows)
    labels = [label.get_text() for label in ax.get_yticklabels()][::-1]
    assert labels[:6] == ["overall", "all responses", "language", "en", "zh", "中文"]
    assert labels[6] == "response length"
    placed, points = forest(ax)
    heights = sorted(placed, reverse=True)
    assert [placed[height] for height in heights] == pytest.approx(rows["difference"].tolist())
    filled = sum(to_rgb(line.get_markerfacecolor()) != (1, 1, 1) for line in points)
    assert filled == (rows["p_adjusted"] < 0.05).sum() >= 2
    spans = sorted(
        tuple(segment[:, 0]) for line in ax.collections for segment in line.get_segments()
    )
    assert np.array(spans) == pytest.approx(
        rows[["low", "high"]].sort_values(["low", "high"]).to_numpy()
    )


@pytest.mark.filterwarnings("ignore:Glyph")
def test_direction_correction_and_intervals_are_on_the_forest(report):
    ax = plot_judge_bias(report.bias, judge="verdict")
    assert ax.get_xlabel() == "stricter  ←  verdict - label  →  more lenient"
    title = ax.get_title(loc="left")
    assert "95% Tango intervals" in title
    assert "Holm over the groups of each heading" in title
    assert "grey: true differences detected with < 80% power" in title
    ax.figure.draw_without_rendering()
    note = next(child for child in ax.get_children() if getattr(child, "get_text", str)() == title)
    assert note.get_window_extent().x1 < ax.figure.bbox.x1
    assert sum("n = 100" in text.get_text() for text in ax.texts) >= 3


def test_bad_input_says_what_is_needed(report):
    with pytest.raises(InputError, match="one judge; got None of score, verdict"):
        plot_judge_bias(report.bias)
    with pytest.raises(InputError, match="got 'mine' of score, verdict"):
        plot_judge_bias(report.bias, judge="mine")
    with pytest.raises(InputError, match="needs one judge; got None of none"):
        plot_judge_bias(report.bias.iloc[:0])
    with pytest.raises(InputError, match="without mean_predicted"):
        plot_reliability(report.curve.drop(columns="mean_predicted"))
    with pytest.raises(InputError, match="needs scores with labels; got none"):
        plot_reliability(report.curve.iloc[:0])
