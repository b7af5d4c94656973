import numpy as np
import pandas as pd
import pytest

from ragnb.ensemble.deferral import deferral_curve, deferral_point
from ragnb.errors import InputError
from ragnb.figures import plot, save_figure
from ragnb.figures.trust import plot_deferral
from ragnb.reports import risk_coverage_report


@pytest.fixture(scope="module")
def items():
    """Labels, probabilities, a judge that is right on nine of ten, questions; 120 items."""
    rng = np.random.default_rng(3)
    probability = rng.random(120)
    y = rng.random(120) < probability
    return y, probability, np.where(rng.random(120) < 0.9, y, ~y), np.arange(120) // 3


@pytest.fixture(scope="module")
def curve(items):
    return deferral_curve(*items[:3])


def unconfident(items, width, **options):
    y, probability, judged, _ = items
    return deferral_point(y, probability >= 0.5, abs(probability - 0.5) < width, judged, **options)


def line(ax, label):
    (found,) = [each for each in ax.lines if each.get_label() == label]
    return np.column_stack([found.get_xdata(), found.get_ydata()]).astype(float)


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_line_band_and_ends_are_those_of_the_frame(curve):
    ax = plot_deferral(curve.sample(frac=1, random_state=0))  # whatever the order of the rows
    points = curve[["share", "accuracy"]].to_numpy()
    assert line(ax, "least certain first") == pytest.approx(points)
    (band,) = ax.collections
    outline = {tuple(point) for point in band.get_paths()[0].vertices.round(9)}
    for name in ("low", "high"):
        assert {tuple(point) for point in curve[["share", name]].to_numpy().round(9)} <= outline
    assert line(ax, "as many at random") == pytest.approx(points[[0, -1]])
    (marked,) = [each for each in ax.lines if each.get_marker() == "o"]
    assert np.column_stack(marked.get_data()) == pytest.approx(points[[0, -1]])
    first, last = points[[0, -1], 1]
    assert texts(ax) == [f"no deferral\n{first:.3f}", f"judge everything\n{last:.3f}"]
    assert ax.get_title(loc="left") == "95 % pointwise Wilson intervals, n = 120"


def test_points_are_those_of_their_rows_and_say_them(items, curve):
    found = [unconfident(items, width, name=f"set, α = {width}") for width in (0.1, 0.2)]
    points = pd.concat(found)
    drawn = plot_deferral(curve, points=points).containers
    for container, row in zip(drawn, points.itertuples(), strict=True):
        marker, _, (bar,) = container
        place = marker.get_xdata()[0], marker.get_ydata()[0]
        assert place == pytest.approx((row.share, row.accuracy))
        assert bar.get_segments()[0][:, 1] == pytest.approx([row.low, row.high])
        said = f"{row.point}: {100 * row.share:.1f} % judged, accuracy {row.accuracy:.3f}"
        assert container.get_label() == said
    assert len({(each[0].get_marker(), each[0].get_color()) for each in drawn}) == 2


def test_level_kind_and_clusters_are_in_the_note(items):
    y, probability, judged, question = items
    grouped = deferral_curve(y, probability, judged, groups=question, confidence_level=0.9)
    note = plot_deferral(grouped).get_title(loc="left")
    assert note == "90 % pointwise cluster-robust t intervals,\nn = 120 in 40 clusters"


def test_a_curve_without_intervals_is_drawn_all_the_same(items, tmp_path):
    y, probability, judged, _ = items
    alone = deferral_curve(y, probability, judged, groups=["one"] * 120)
    ax = plot_deferral(alone, points=unconfident(items, 0.1, groups=["one"] * 120))
    assert line(ax, "least certain first") == pytest.approx(alone[["share", "accuracy"]].to_numpy())
    assert len(texts(ax)) == 2
    assert len(save_figure(ax.figure, "undefined", alone, folder=tmp_path)) == 4


def test_two_curves_or_a_part_of_one_are_refused(curve):
    for rows in (pd.concat([curve, curve]), curve.iloc[1:]):
        with pytest.raises(InputError, match=f"plot_deferral needs one .* got {len(rows)} rows"):
            plot_deferral(rows)


def test_risk_is_drawn_against_coverage_with_its_control(items):
    y, probability, judged, _ = items
    frame = pd.DataFrame({"system": "ours", "sure": probability.round(1), "verdict": judged == y})
    report = risk_coverage_report(frame, confidence="sure")
    ax = plot(report)
    rows = report.curve.sort_values("coverage")
    assert line(ax, "ours") == pytest.approx(rows[["coverage", "risk"]].to_numpy())
    assert len(ax.collections) == 2
    assert "95 % pointwise Wilson intervals" in ax.get_title(loc="left")
    two = risk_coverage_report(pd.concat([frame, frame.assign(system="b")]), confidence="sure")
    ax = plot(two)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["ours", "b"]
    assert not ax.collections
