import numpy as np
import pandas as pd
import pytest
from drawn import small_print

import ragnb
from ragnb.errors import InputError
from ragnb.figures import plot, plot_judge_bias
from ragnb.reports import judge_report, scores_by_grade


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


@pytest.mark.filterwarnings("ignore:Glyph")
def test_the_forest_has_the_differences_under_headings_and_a_note_that_fits(report):
    rows = only(report.bias, "verdict")
    ax = plot_judge_bias(rows)
    labels = [label.get_text() for label in ax.get_yticklabels()][::-1]
    assert labels[:7] == [
        "overall",
        "all responses",
        "language",
        "en",
        "zh",
        "中文",
        "response length",
    ]
    points = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    assert points == pytest.approx(rows["difference"].tolist())
    assert ax.get_xlabel() == "stricter  ←  verdict - label  →  more lenient"
    title = ax.get_title(loc="left")
    for part in (
        "95 % Tango intervals",
        "Holm over the groups of each heading",
        "miss more than 1 time in 5",
    ):
        assert part in title
    ax.figure.draw_without_rendering()
    note = next(child for child in ax.get_children() if getattr(child, "get_text", str)() == title)
    assert note.get_window_extent().x1 < ax.figure.bbox.x1


def test_each_judge_of_a_report_has_a_panel(report):
    panels = plot(report)
    assert len(panels) == 2
    for ax, judge in zip(panels, ("score", "verdict"), strict=True):
        assert ax.get_xlabel() == f"stricter  ←  {judge} - label  →  more lenient"
    with pytest.raises(InputError, match="the rows of one judge, got score, verdict"):
        plot_judge_bias(report.bias)


@pytest.mark.parametrize(
    ("sign", "finding"), [(1, "rise with"), (-1, "fall with"), (0, "do not follow")]
)
def test_scores_by_grade_have_boxes_means_and_a_title_that_states_the_finding(sign, finding):
    turns = ragnb.load_study("mtrag")
    rng = np.random.default_rng(0)
    noise = rng.normal(size=len(turns))
    turns = turns.assign(judge=sign * turns["human_faithfulness"] + noise)
    grades = scores_by_grade(turns, judge="judge", label="human_faithfulness")
    ax = plot(grades)
    assert small_print(ax).startswith(f"The judge's scores {finding} the grades means with 95 %")
    means = ax.containers[0].lines[0].get_ydata()
    assert means.tolist() == grades["mean"].tolist()
    names = [tick.get_text() for tick in ax.get_xticklabels()]
    assert names == [f"{row.grade}\nn = {row.n}" for row in grades.itertuples()]
    assert "95 % cluster-robust t intervals (some: < 30 clusters)" in small_print(ax)
    assert f"Spearman {grades['spearman'][0]:.2f} [" in small_print(ax)
    assert len(ax.patches) == len(grades)
    words = {"human_faithfulness": "grade", "judge": "score"}
    ax = plot(grades, title="Mine", names=words)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("grade", "score")
    assert small_print(ax).startswith("Mine means")
