"""Figures of random splits, of deferral, and of nonconformity scores."""

import json

import numpy as np
import pandas as pd
import pytest
from support.drawn import dots, names, row_labels, small_print

from ragnb import plot
from ragnb.ensemble import deferral_curve, deferral_point, deferral_report
from ragnb.errors import InputError


def coverages():
    """The coverage of two systems with two calibrations in each of three splits."""
    rows = [
        {"split": split, "calibrated": kind, "system": system, "value": 0.9 + split / 100 + shift}
        for split in range(3)
        for kind, shift in (("jointly", 0.0), ("for each system", 0.05))
        for system in ("plain", "ours")
    ]
    return pd.DataFrame(rows).assign(metric="coverage", n=50)


def test_each_split_has_a_dot_and_each_row_its_mean():
    table = coverages()
    ax = plot(table, rows="system", series="calibrated", reference={"promised": 0.95})
    assert row_labels(ax) == ["plain", "ours"]
    assert set(names(ax)) == {"promised", "jointly", "for each system"}
    assert ax.get_xlabel() == "coverage"
    drawn = dots(ax)
    means = [place for places in drawn if len(places) == 2 for place in places]
    assert means == pytest.approx([0.91, 0.91, 0.96, 0.96])
    splits = sorted(place for places in drawn if len(places) == 3 for place in places)
    assert splits == pytest.approx(sorted(table["value"]))
    assert small_print(ax) == "3 splits, n = 50; large dots: means; no intervals"
    with pytest.raises(InputError, match="needs one value for each split and system, got several"):
        plot(table, rows="system")
    with pytest.raises(InputError, match="needs at least one value, got none"):
        plot(table.assign(value=np.nan))


def test_many_splits_do_not_hide_their_mean():
    value = np.linspace(0.94, 0.96, 101)
    table = pd.DataFrame({"split": range(101), "value": value, "metric": "coverage", "n": 50})
    ax = plot(table.assign(group="all"), rows="group")
    drawn = {len(dots.get_offsets()): dots for dots in ax.collections}
    assert drawn[1].get_zorder() > drawn[101].get_zorder()
    # Dots of the same colour lie below the mean.
    assert drawn[1].get_edgecolor().tolist() == [[1, 1, 1, 1]]


def test_expected_ranges_are_grey_bars_below_the_splits():
    one = coverages().query("system == 'ours' and calibrated == 'jointly'")
    ranges = {"expected": (0.88, 0.94), "if questions count": (0.86, 0.96)}
    ax = plot(one, reference={"promised": 0.9, **ranges})
    assert row_labels(ax) == ["ours", *ranges]
    bars = [tuple(line.get_xdata()) for line in ax.lines if line.get_linewidth() == 5]
    assert bars == [*ranges.values()]
    assert small_print(ax).endswith("grey: expected ranges")
    with pytest.raises(InputError, match="the figure of this result has no ranges in reference="):
        plot(pd.DataFrame({"system": ["a"], "mean": [0.5]}), reference=ranges)


def answers():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    probability = np.clip(0.5 * y + rng.random(200) / 2, 0, 1)
    return y, probability, np.where(rng.random(200) < 0.9, y, 1 - y)


def test_a_deferral_curve_is_the_accuracy_along_the_share_deferred():
    y, probability, judged = answers()
    curve = deferral_curve(y, probability, judged, shares=[0, 0.25, 0.5, 0.75, 1])
    ax = plot(curve, names={"share": "share deferred"})
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("share deferred", "accuracy (mean)")
    (line,) = [line for line in ax.lines if len(line.get_xdata()) == 5]
    assert line.get_ydata() == pytest.approx(curve["accuracy"].to_numpy())
    assert small_print(ax) == "95 % Wilson intervals, n = 200"


def test_deferral_curves_of_several_judges_have_names():
    y, probability, judged = answers()
    judges = {"judge": judged, "people": y}
    curves = {
        name: deferral_curve(y, probability, verdicts, shares=[0, 0.5, 1])
        for name, verdicts in judges.items()
    }
    table = pd.concat(curves, names=["decider"]).reset_index("decider")
    ax = plot(table, series="decider")
    lines = [line.get_ydata() for line in ax.lines if len(line.get_xdata()) == 3]
    expected = [curve["accuracy"].tolist() for curve in curves.values()]
    assert [list(line) for line in lines] == [pytest.approx(values) for values in expected]
    assert {*judges} <= {*names(ax)}


def test_deferral_curves_that_lie_close_together_have_a_closer_axis():
    y, probability, judged = answers()
    curve = deferral_curve(y, probability, judged, shares=[0, 0.5, 1])
    ends = curve["low"].min(), curve["high"].max()
    low, high = plot(curve).get_ylim()
    assert 0.5 < low < ends[0] < ends[1] < high <= 1.02
    never_right = deferral_curve(y, probability, 1 - y, shares=[0, 0.5, 1])
    assert plot(never_right).get_ylim() == (-0.02, 1.02)


def test_a_report_on_judges_has_a_row_for_each_of_them():
    y, probability, judged = answers()
    decisions = pd.DataFrame({"y_hat": (probability > 0.5).astype(int)})
    decisions["abstained"] = np.abs(probability - 0.5) < 0.1
    report = deferral_report(y, decisions, {"judge": judged, "people": y})
    ax = plot(report)
    assert row_labels(ax) == ["nobody", "judge", "people"]
    assert dots(ax) == [report["accuracy"].tolist()]


def test_selections_of_deferred_items_are_rows_or_points_of_a_plane():
    y, probability, judged = answers()
    y_hat, deferred = probability > 0.5, np.abs(probability - 0.5) < 0.1
    verdicts = {"nobody": np.full(200, np.nan), "judge": judged, "people": y}
    rows = []
    for who, verdict in verdicts.items():
        for metric, chosen in (("on all", y >= 0), ("on the deferred", deferred)):
            items = y[chosen], y_hat[chosen], deferred[chosen], verdict[chosen]
            rows.append(deferral_point(*items, name=who).assign(metric=metric))
    table = pd.concat(rows)
    on_all = table.query("metric == 'on all'")
    ax = plot(on_all)
    assert row_labels(ax) == [*verdicts]
    assert dots(ax) == [on_all["accuracy"].tolist()]
    ax = plot(table, kind="plane")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("on all", "on the deferred")
    assert {*verdicts} < {*names(ax)}


def test_a_distribution_by_any_column_with_a_marked_value():
    value = np.linspace(0, 1, 101)
    scores = pd.DataFrame({"label": ["correct"] * 51 + ["incorrect"] * 50, "value": value})
    axes = plot(scores, kind="distribution", series="label", reference={"threshold": 0.9})
    titles = [ax.get_title(loc="left") for ax in axes]
    assert titles == ["correct", "incorrect"]
    numbers = [ax.get_title(loc="right") for ax in axes]
    assert numbers == ["mean 0.25, n = 51", "mean 0.755, n = 50"]
    assert names(axes[0]) == ["threshold"]
    assert [ax.get_yscale() for ax in axes] == ["linear", "linear"]
    for ax in axes:
        assert 0.9 in [line.get_xdata()[0] for line in ax.lines]


def test_the_numbers_of_a_distribution_are_the_shares_that_it_shows(tmp_path):
    value = np.r_[np.zeros(5), np.ones(15)]
    scores = pd.DataFrame({"system": ["a"] * 10 + ["b"] * 10, "value": value})
    axes = plot(scores, kind="distribution", save=tmp_path / "mine")
    numbers = pd.DataFrame(json.loads((tmp_path / "mine.json").read_text())["numbers"])
    for ax, (system, rows) in zip(axes, numbers.groupby("system"), strict=True):
        assert [bar.get_height() for bar in ax.patches] == pytest.approx(rows["share"].tolist())
        assert rows["share"].iloc[0] == {"a": 0.5, "b": 0}[system]
        assert set(rows["n"]) == {10}


def test_a_skewed_distribution_has_a_logarithmic_scale():
    value = np.r_[np.zeros(2000), np.linspace(0, 1, 101)]
    ax = plot(pd.DataFrame({"metric": "m", "value": value}), kind="distribution")
    assert ax.get_yscale() == "log"
    assert "logarithmic scale" in small_print(ax)
    heights = [bar.get_height() for bar in ax.patches]
    assert ax.get_ylim()[0] < min(height for height in heights if height)
