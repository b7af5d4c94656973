import numpy as np
import pandas as pd
import pytest
from support.drawn import small_print

import ragnb
from ragnb.figures import plot
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
    ax = plot(rows)
    ticks = sorted(
        zip(ax.get_yticks(), ax.get_yticklabels(), strict=True), key=lambda tick: -tick[0]
    )
    labels = [label.get_text().replace("\n", " ") for _, label in ticks]
    assert labels[:7] == [
        "overall",
        "all responses",
        "language",
        "en",
        "zh",
        "中文",
        "response length",
    ]
    bold = [label.get_text() for _, label in ticks if label.get_fontweight() == "bold"]
    assert bold == ["overall", "language", "response length"]
    points = {
        height: place
        for line in ax.lines
        if line.get_marker() == "o"
        for place, height in line.get_xydata()
    }
    from_top = [points[height] for height in sorted(points, reverse=True)]
    assert from_top == pytest.approx(rows["difference"].tolist())
    assert ax.get_xlabel().replace("\n", " ") == "← strict verdict − label lenient →"
    for part in ("95 % Tango intervals", "Holm over 1–3 of each heading", "with 80 % power"):
        assert part in small_print(ax)
    assert ax.figure.get_tightbbox().x1 <= ax.figure.get_figwidth() + 0.02


def test_each_judge_of_a_report_has_a_panel(report):
    for panels in (plot(report), plot(report.bias)):
        assert len(panels) == 2
        for ax, judge in zip(panels, ("score", "verdict"), strict=True):
            assert f"{judge} − label" in ax.get_xlabel().replace("\n", " ")


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
    assert f"Spearman {grades['spearman'][0]:z.2f} [" in small_print(ax)
    assert len(ax.patches) == len(grades)
    words = {"human_faithfulness": "grade", "judge": "score"}
    ax = plot(grades, title="Mine", names=words)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("grade", "score")
    assert small_print(ax).startswith("Mine means")
