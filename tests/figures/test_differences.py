import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from statsmodels.stats.power import TTestPower

from ragnb.errors import InputError
from ragnb.figures import plot_differences, plot_power
from ragnb.scoring import compare
from ragnb.scoring.mixed import mixed_model
from ragnb.stats.power import mcnemar_mde


@pytest.fixture
def scores():
    rng = np.random.default_rng(4)
    parts = []
    for rate, chance in ((0.0, 0.95), (0.4, 0.5), (0.8, 0.5)):
        for system, right in (("one", chance), ("two", 0.5)):
            ids = [f"q{k}" for k in range(60)]
            values = (rng.random(60) < right).astype(float)
            cells = {
                "example_id": ids,
                "system": system,
                "noise_rate": rate,
                "metric": "rgb.accuracy",
                "signature": "s",
            }
            parts.append(pd.DataFrame(cells | {"value": values}))
    return pd.concat(parts, ignore_index=True)


@pytest.fixture
def comparisons(scores):
    return compare(scores, baseline="two")


def test_points_and_bars_stand_at_the_numbers_of_the_frame(comparisons):
    ax = plot_differences(comparisons)
    spans = sorted(
        tuple(segment[:, 0]) for line in ax.collections for segment in line.get_segments()
    )
    assert np.array(spans) == pytest.approx(
        np.array(sorted(zip(comparisons["low"], comparisons["high"], strict=True)))
    )
    points = [line for line in ax.lines if line.get_marker() == "o"]
    assert [line.get_xdata()[0] for line in points] == pytest.approx(
        comparisons["difference"].tolist()
    )
    assert [line.get_ydata()[0] for line in points] == [2, 1, 0]  # first row on top
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "noise_rate 0.8",
        "noise_rate 0.4",
        "noise_rate 0.0",
    ]


def test_only_adjusted_significance_fills_a_point_and_the_band_is_the_detectable_effect(
    comparisons,
):
    assert (comparisons["p_adjusted"] < 0.05).tolist() == [True, False, False]
    ax = plot_differences(comparisons)
    filled = [
        to_rgb(line.get_markerfacecolor()) != (1, 1, 1)
        for line in ax.lines
        if line.get_marker() == "o"
    ]
    assert filled == [True, False, False]
    assert [patch.get_width() / 2 for patch in ax.patches] == pytest.approx(
        comparisons["mde"].tolist()
    )


def test_kind_of_interval_duality_correction_and_n_are_on_the_figure(comparisons):
    ax = plot_differences(comparisons)
    title = ax.get_title(loc="left")
    for told in (
        "one - two",
        "95% Tango (not dual)",
        "Holm over 3",
        "grey: true differences detected with < 80% power",
    ):
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


@pytest.fixture
def by_language():
    """Three systems in three languages, of which two show a difference in one language; the languages are not sorted."""
    rng = np.random.default_rng(5)
    parts = [
        pd.DataFrame({
            "example_id": [f"q{k}" for k in range(40)], "system": system, "language": language, "metric": "answer.f1",
            "signature": "s", "value": np.round(rng.random(40) + 0.4 * (system != "direct" and language == "th"), 2),
        })
        for language in ("th", "de", "中文")
        for system in ("direct", "cross", "lbrag")
    ]  # fmt: skip
    return compare(pd.concat(parts, ignore_index=True), baseline="direct", by="language")


def test_a_group_gathers_its_rows_under_a_heading(by_language):
    ax = plot_differences(by_language, group="language")
    labels = [label.get_text() for label in ax.get_yticklabels()][::-1]
    under = ["cross - direct", "lbrag - direct"]
    assert labels == ["language th", *under, "language de", *under, "language 中文", *under]
    bold = [label.get_text() for label in ax.get_yticklabels() if label.get_fontweight() == "bold"]
    assert bold[::-1] == ["language th", "language de", "language 中文"]
    points = [line for line in ax.lines if line.get_marker() == "o"]
    heights = {line.get_ydata()[0]: line.get_xdata()[0] for line in points}
    wanted = dict(
        zip((7, 6, 4, 3, 1, 0), by_language["difference"], strict=True)
    )  # 8, 5 and 2 are headings
    assert heights == pytest.approx(wanted)
    filled = [to_rgb(line.get_markerfacecolor()) != (1, 1, 1) for line in points]
    assert sum(filled) == (by_language["p_adjusted"] < 0.05).sum() == 2
    assert ax.get_ylim() == pytest.approx((-0.7, 8.7))
    assert len([text for text in ax.texts if "n = 40" in text.get_text()]) == 6


def test_the_differences_of_a_mixed_model_are_drawn_alike(by_language):
    rng = np.random.default_rng(6)
    cells = [
        (q, language, system)
        for q in range(12)
        for language in ("en", "de")
        for system in ("direct", "lbrag")
    ]
    frame = pd.DataFrame(cells, columns=["question_id", "language", "system"])
    frame = frame.assign(
        metric="answer.f1",
        value=rng.normal(0, 0.3, 12)[frame["question_id"]] + rng.normal(0, 0.2, 48),
    )
    result = mixed_model(frame, interaction=True)
    ax = plot_differences(result.by_language, group="language")
    spans = sorted(
        tuple(segment[:, 0]) for line in ax.collections for segment in line.get_segments()
    )
    limits = result.by_language[["low", "high"]].to_numpy()
    assert np.array(spans) == pytest.approx(limits[np.lexsort(limits.T[::-1])])
    assert "95% t of the mixed model (dual)" in ax.get_title(loc="left")


def test_power_lines_are_the_effects_of_the_table(scores, comparisons):
    sizes = [20, 60, 500]
    row = comparisons.iloc[1]
    assert row["n_pairs"] == 60
    wide = scores[scores["noise_rate"] == row["noise_rate"]].pivot(
        index="example_id", columns="system", values="value"
    )
    discordance = float((wide["one"] != wide["two"]).mean())
    ax = plot_power(
        sizes, {"few": 0.1, "here": discordance}, variances={"graded": 0.16}, observed={"ours": 68}
    )
    lines = [line for line in ax.lines if len(line.get_xdata()) == 3]
    assert lines[1].get_ydata()[1] == row["mde"]
    assert lines[0].get_ydata().tolist() == [mcnemar_mde(n, discordance=0.1) for n in sizes]
    expected = [0.4 * TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8) for n in sizes]
    assert lines[2].get_ydata().tolist() == pytest.approx(expected)
    assert any("ours, n = 68" in text.get_text() for text in ax.texts)
    assert len({line.get_linestyle() for line in lines}) == 3


def test_bad_input_says_what_is_needed(comparisons):
    with pytest.raises(InputError, match="comparisons of one metric; got rgb.accuracy, other"):
        plot_differences(pd.concat([comparisons, comparisons.assign(metric="other")]))
    with pytest.raises(InputError, match="got none"):
        plot_differences(comparisons.iloc[:0])
    with pytest.raises(
        InputError, match="plot_differences\\(group=...\\) needs the columns language"
    ):
        plot_differences(comparisons, group="language")
    with pytest.raises(InputError, match="needs sizes, and discordance or variances"):
        plot_power([], {"a": 1.0})
    with pytest.raises(InputError, match="needs sizes, and discordance or variances"):
        plot_power([10])
