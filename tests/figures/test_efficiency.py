"""Gain against cost, the net benefit along prices, and effects that a study could detect."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from support.drawn import dots, names, small_print
from support.made_scores import scored, with_costs

from ragnb.errors import InputError
from ragnb.figures import plot
from ragnb.reports import efficiency
from ragnb.scoring import compare
from ragnb.stats import detectable_effects, fieller_interval, mcnemar_mde, net_benefit_curve

BOUNDED = [0.3, 0.5, 0.4], [10.0, 12, 11]
WORSE = [-0.3, -0.5, -0.4], [10.0, 12, 11]


def table_of(**systems):
    """The table of systems over a baseline of 0."""
    n = len(next(iter(systems.values()))[0])
    return efficiency(with_costs({"direct": ([0.0] * n, [0.0] * n)} | systems))


def fieller(table, system):
    return table[table["estimator"].str.contains("Fieller") & (table["system"] == system)].iloc[0]


def bars(ax):
    """The ends of the intervals: (low, high) of gain and of cost, in the order of the systems."""
    lines = [line for line in ax.collections if isinstance(line, mpl.collections.LineCollection)]
    ends = [line.get_segments()[0] for line in lines]
    upright, across = ends[::2], ends[1::2]
    return [tuple(end[:, 1]) for end in upright], [tuple(end[:, 0]) for end in across]


def wedges(ax):
    """The wedges as (lower slope, upper slope), in the order drawn."""
    slopes = []
    for area in ax.collections:
        if isinstance(area, mpl.collections.PolyCollection):
            corners = area.get_paths()[0].vertices
            reach = corners[:, 0].max()
            heights = corners[corners[:, 0] == reach, 1] / reach
            slopes.append((heights.min(), heights.max()))
    return slopes


def test_points_intervals_and_wedges_are_those_of_the_table():
    table = table_of(one=BOUNDED, two=WORSE)
    ax = plot(table, names={"one": "First"})
    assert {"First", "two"} <= set(names(ax))
    assert (ax.get_xlabel(), ax.get_ylabel()) == (
        "translated tokens per response",
        "gain in token F1 over direct",
    )
    assert dots(ax) == [[pytest.approx(11)], [pytest.approx(11)]]
    rows = [fieller(table, name) for name in ("one", "two")]
    gains, costs = bars(ax)
    assert gains == [pytest.approx((row["gain_low"], row["gain_high"])) for row in rows]
    assert costs == [pytest.approx((row["cost_low"], row["cost_high"])) for row in rows]
    assert wedges(ax) == [pytest.approx((row["low"], row["high"])) for row in rows]
    low, high = ax.get_ylim()
    assert low < min(table["gain_low"])
    assert high > max(table["gain_high"])
    assert small_print(ax) == (
        "95 % intervals of both means, n = 3 wedge: 95 % Fieller set of gain / cost"
    )


@pytest.mark.parametrize(
    ("values", "label"),
    [
        (([0.9, 0.6, 0.9], [0.0, 3, 9]), "x (two rays)"),
        (([0.1, 0.6, 0.0], [0.0, 0, 9]), "x (any ratio)"),
    ],
)
def test_sets_that_are_no_wedge_fill_everything_but_what_is_between_two_rays(values, label):
    table = table_of(x=values)
    ax = plot(table)
    drawn, row, reach = wedges(ax), fieller(table, "x"), ax.get_xlim()[1]
    assert drawn[0][0] * reach < 100 * ax.get_ylim()[0]
    assert drawn[-1][1] * reach > 100 * ax.get_ylim()[1]
    between = [drawn[0][1], drawn[-1][0]] if len(drawn) == 2 else []
    assert between == pytest.approx([row["low"], row["high"]] if "rays" in label else [])
    assert label in names(ax)


def test_what_has_no_set_has_a_point_and_no_wedge():
    ax = plot(table_of(free=([0.3, 0.5, 0.4], [0.0, 0, 0])))
    assert wedges(ax) == []
    assert dots(ax) == [[0]]
    assert small_print(ax).endswith("if there is one")
    one = plot(table_of(one=([0.5], [10.0])))
    assert wedges(one) == []
    # A mean of costs of one value has no interval, and an undefined interval has no length. A gain is
    # between -1 and 1, so its interval follows from Wilson's upper limit for 0 of 1: 3.8415 / 4.8415.
    (gain,), (cost,) = bars(one)
    assert cost == (10, 10)
    assert gain == pytest.approx((0.5 - 1.5 * 0.79345, 0.5 + 0.5 * 0.79345), abs=1e-4)


def test_a_price_is_a_dashed_line_from_the_origin():
    ax = plot(table_of(one=BOUNDED), reference=0.02)
    (line,) = [line for line in ax.lines if line.get_linestyle() == "--"]
    x, y = line.get_data()
    assert (x[0], y[0], y[1] / x[1]) == (0, 0, pytest.approx(0.02))
    assert "0.02 F1 per token" in names(ax)
    assert "our price" in names(plot(table_of(one=BOUNDED), reference={"our price": 0.02}))


def test_what_is_not_such_a_table_is_refused():
    table = table_of(one=BOUNDED)
    with pytest.raises(InputError, match="one row for each system and estimator, got . repeated"):
        plot(pd.concat([table, table]))
    with pytest.raises(InputError, match="needs rows of Fieller's estimator, got none"):
        plot(table[~table["estimator"].str.contains("Fieller")])


def test_the_net_benefit_is_a_line_with_the_prices_at_which_it_pays():
    rng = np.random.default_rng(1)
    cost = rng.integers(5, 40, 200).astype(float)
    gain = 0.02 * cost + rng.normal(0, 0.2, 200)
    prices = np.linspace(0, 0.05, 51)
    curve = net_benefit_curve(gain, cost, prices)
    ax = plot(curve, names={"price": "price of a word"}, reference={"ours": 0.03})
    assert ax.get_xlabel() == "price of a word"
    (line,) = [line for line in ax.lines if len(line.get_xdata()) == 51]
    means = [(gain - price * cost).mean() for price in prices]
    assert line.get_ydata() == pytest.approx(means)
    low, high = fieller_interval(gain, cost).limits
    dotted = [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == ":"]
    assert dotted == pytest.approx([low, high])
    # The band leaves 0 at these limits, which are close together here.
    assert {"worth it", "not worth it", "ours"} == set(names(ax))
    assert small_print(ax).startswith("band: 95 % t intervals, n = 200")


def test_a_narrow_piece_at_the_left_edge_has_a_name_too():
    """The name ends where the piece ends, and is not cut off by the edge of the figure."""
    rng = np.random.default_rng(1)
    cost = rng.integers(5, 40, 200).astype(float)
    gain = 0.005 * cost + rng.normal(0, 0.2, 200)
    low, _ = fieller_interval(gain, cost).limits
    # No price is the limit itself.
    prices = np.linspace(0, 19.5 * low, 201)
    ax = plot(net_benefit_curve(gain, cost, prices))
    (name,) = [text for text in ax.texts if text.get_text() == "worth it"]
    assert name.get_ha() == "right"
    assert low - prices[1] <= name.xy[0] <= low
    ax.figure.draw_without_rendering()
    boxes = {text.get_text(): text.get_window_extent() for text in ax.texts}
    assert boxes["worth it"].x0 >= ax.figure.bbox.x0
    others = [box for words, box in boxes.items() if words != "worth it"]
    assert others
    assert not any(boxes["worth it"].overlaps(box) for box in others)


def test_lines_of_power_are_the_effects_that_compare_reports():
    rng = np.random.default_rng(4)
    right = {name: (rng.random(60) < 0.5).astype(float) for name in ("one", "two")}
    (mde,) = compare(scored(right, "rgb.accuracy"))["mde"]
    here = float((right["one"] != right["two"]).mean())
    effects = detectable_effects([20, 60, 500], [0.1, here])
    ax = plot(effects, reference={"ours": 68}, names={0.1: "few"})
    few, same = [line for line in ax.lines if len(line.get_xdata()) == 3]
    assert same.get_ydata()[1] == mde
    assert few.get_ydata().tolist() == [mcnemar_mde(n, discordance=0.1) for n in (20, 60, 500)]
    assert {"few", f"{100 * here:.3g} % discordant", "ours"} == set(names(ax))
    assert few.get_linestyle() != same.get_linestyle()
    assert ax.get_xscale() == "log"
    assert small_print(ax) == "80 % power, McNemar mid-p, two-sided, level 0.05"
    with pytest.raises(InputError, match="needs effects with at least one row"):
        plot(effects.head(0))
