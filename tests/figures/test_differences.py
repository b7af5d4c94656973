import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

from ragnb.errors import InputError
from ragnb.figures import plot_differences, plot_power
from ragnb.scoring import compare
from ragnb.stats.power import minimum_detectable_effect


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture
def comparisons():
    rng = np.random.default_rng(4)
    parts = []
    for rate, chance in ((0.0, 0.95), (0.4, 0.5), (0.8, 0.5)):
        for system, right in (("one", chance), ("two", 0.5)):
            ids = [f"q{k}" for k in range(60)]
            values = (rng.random(60) < right).astype(float)
            cells = {"example_id": ids, "system": system, "noise_rate": rate, "metric": "rgb.accuracy", "signature": "s"}
            parts.append(pd.DataFrame(cells | {"value": values}))
    return compare(pd.concat(parts, ignore_index=True), baseline="two")


def test_points_and_bars_stand_at_the_numbers_of_the_frame(comparisons):
    ax = plot_differences(comparisons)
    spans = sorted(tuple(segment[:, 0]) for line in ax.collections for segment in line.get_segments())
    assert np.array(spans) == pytest.approx(np.array(sorted(zip(comparisons["low"], comparisons["high"], strict=True))))
    points = [line for line in ax.lines if line.get_marker() == "o"]
    assert [line.get_xdata()[0] for line in points] == pytest.approx(comparisons["difference"].tolist())
    assert [line.get_ydata()[0] for line in points] == [2, 1, 0]  # first row on top
    assert [label.get_text() for label in ax.get_yticklabels()] == ["noise_rate 0.8", "noise_rate 0.4", "noise_rate 0.0"]


def test_only_adjusted_significance_fills_a_point_and_the_band_is_the_detectable_effect(comparisons):
    assert (comparisons["p_adjusted"] < 0.05).tolist() == [True, False, False]
    ax = plot_differences(comparisons)
    filled = [to_rgb(line.get_markerfacecolor()) != (1, 1, 1) for line in ax.lines if line.get_marker() == "o"]
    assert filled == [True, False, False]
    assert [patch.get_width() / 2 for patch in ax.patches] == pytest.approx(comparisons["mde"].tolist())


def test_kind_of_interval_duality_correction_and_n_are_on_the_figure(comparisons):
    ax = plot_differences(comparisons)
    title = ax.get_title(loc="left")
    for told in ("one - two", "95% Tango (not dual)", "Holm over 3", "80% power"):
        assert told in title
    assert sum("n = 60" in text.get_text() for text in ax.texts) == 3


def test_several_pairs_are_named_in_their_rows(comparisons):
    both = pd.concat([comparisons, comparisons.assign(system="three")])
    labels = [label.get_text() for label in plot_differences(both).get_yticklabels()]
    assert "three - two, noise_rate 0.8" in labels


def test_an_undefined_comparison_keeps_its_row(comparisons):
    comparisons.loc[1, ["difference", "low", "high", "p_adjusted", "mde"]] = np.nan
    ax = plot_differences(comparisons)
    assert any("p undefined" in text.get_text() for text in ax.texts)
    assert len(ax.get_yticklabels()) == 3


def test_power_lines_are_the_formula(comparisons):
    sizes = [20, 100, 500]
    ax = plot_power(sizes, {"few discordant": 0.1, "many": 0.4}, observed={"ours": 68})
    lines = [line for line in ax.lines if len(line.get_xdata()) == 3]
    assert lines[1].get_ydata().tolist() == pytest.approx([minimum_detectable_effect(n, between_variance=0.4) for n in sizes])
    assert any("ours, n = 68" in text.get_text() for text in ax.texts)
    assert len({line.get_linestyle() for line in lines}) == 2


def test_bad_input_says_what_is_needed(comparisons):
    with pytest.raises(InputError, match="comparisons of one metric; got rgb.accuracy, other"):
        plot_differences(pd.concat([comparisons, comparisons.assign(metric="other")]))
    with pytest.raises(InputError, match="got none"):
        plot_differences(comparisons.iloc[:0])
    with pytest.raises(InputError, match="needs sizes and variances"):
        plot_power([], {"a": 1.0})
