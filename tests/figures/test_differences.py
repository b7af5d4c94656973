import numpy as np
import pandas as pd
import pytest
from made_scores import scored
from matplotlib.colors import to_rgb

from ragnb.errors import InputError
from ragnb.figures import plot_differences
from ragnb.scoring import compare, mixed_model


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


def labels(ax):
    """Names of the rows, from the top."""
    return [label.get_text() for label in ax.get_yticklabels()][::-1]


def points(ax):
    """Height, place and filling of each point, from the top."""
    lines = [line for line in ax.lines if line.get_marker() == "o"]
    return [
        (line.get_ydata()[0], line.get_xdata()[0], to_rgb(line.get_markerfacecolor()) != (1, 1, 1))
        for line in lines
    ]


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
    ax = plot_differences(comparisons)
    assert_drawn(ax, comparisons, [2, 1, 0])
    assert labels(ax) == ["noise_rate 0.0", "noise_rate 0.4", "noise_rate 0.8"]
    bands = [patch.get_width() / 2 for patch in ax.patches]
    assert bands == pytest.approx(comparisons["mde"].tolist())
    note = ax.get_title(loc="left")
    assert "intervals, n = 60\n" in note
    for part in ("one - two", "95 % Tango (not dual)", "Holm over 3"):
        assert part in note
    assert note.endswith("differences that this sample would\nmiss more than 1 time in 5")


def test_several_pairs_are_named_and_an_undefined_comparison_keeps_its_row(comparisons):
    comparisons.loc[1, ["difference", "low", "high", "p_adjusted", "mde"]] = np.nan
    ax = plot_differences(pd.concat([comparisons, comparisons.assign(system="three")]))
    assert len(labels(ax)) == 6
    assert "three - two, noise_rate 0.8" in labels(ax)
    assert sum("p undefined" in text.get_text() for text in ax.texts) == 2


def test_a_group_gathers_its_rows_under_a_heading():
    """Two systems gain in the first of three languages, which are not sorted."""
    rng = np.random.default_rng(5)
    drawn = {
        language: {system: rng.random(40) for system in ("direct", "cross", "lbrag")}
        for language in ("th", "de", "中文")
    }
    for system in ("cross", "lbrag"):
        drawn["th"][system] += 0.4
    parts = [scored(values, "answer.f1", language=name) for name, values in drawn.items()]
    table = compare(pd.concat(parts), baseline="direct", by="language")
    assert (table["p_adjusted"] < 0.05).tolist() == [True, True, False, False, False, False]
    ax = plot_differences(table, group="language")
    under = ["cross - direct", "lbrag - direct"]
    headings = ["language th", "language de", "language 中文"]
    assert labels(ax) == [headings[0], *under, headings[1], *under, headings[2], *under]
    bold = [label.get_text() for label in ax.get_yticklabels() if label.get_fontweight() == "bold"]
    assert bold[::-1] == headings
    assert_drawn(ax, table, [7, 6, 4, 3, 1, 0])
    assert ax.get_ylim() == pytest.approx((-0.7, 8.7))


def test_the_differences_of_a_mixed_model_are_drawn_alike():
    rng = np.random.default_rng(6)
    questions = rng.normal(0, 0.3, 12)
    parts = [
        scored({s: questions + rng.normal(0, 0.2, 12) for s in ("direct", "lbrag")}, language=name)
        for name in ("en", "de")
    ]
    frame = pd.concat(parts)
    effects = mixed_model(frame.assign(question_id=frame["example_id"])).effects
    ax = plot_differences(effects)
    assert_drawn(ax, effects, [0])
    assert "95 % t of the mixed model (dual)" in ax.get_title(loc="left")


def test_bad_input_says_what_is_needed(comparisons):
    with pytest.raises(InputError, match="comparisons of one metric, got rgb.accuracy, other"):
        plot_differences(pd.concat([comparisons, comparisons.assign(metric="other")]))
