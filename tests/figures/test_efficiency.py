import math

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import scipy.stats
from made_scores import with_costs

from ragnb.errors import InputError
from ragnb.figures import plot_acceptability, plot_cost_effectiveness_plane, plot_fieller_set
from ragnb.reports.efficiency import benefits, efficiency
from ragnb.stats.cost_effectiveness import fieller_interval

PRICES = np.linspace(0, 0.05, 21)
BOUNDED = [0.3, 0.5, 0.4], [10.0, 12, 11]
WORSE = [-0.3, -0.5, -0.4], [10.0, 12, 11]


def over_direct(**columns):
    """Scores of systems over a baseline of 0, and other columns."""
    systems = {
        name: columns.pop(name) for name in list(columns) if isinstance(columns[name], tuple)
    }
    n = len(next(iter(systems.values()))[0])
    return with_costs({"direct": ([0.0] * n, [0.0] * n)} | systems, **columns)


def table_of(**systems):
    return efficiency(over_direct(**systems))


def fieller(table, system):
    return table[table["estimator"].str.contains("Fieller") & (table["system"] == system)].iloc[0]


def points(ax):
    """The mean of each system (cost, gain) by its label."""
    return {c.get_label(): tuple(float(data[0]) for data in c[0].get_data()) for c in ax.containers}


def bars(ax, label):
    """The ends of the bars of one system: (low, high) of cost and of gain."""
    (found,) = [c for c in ax.containers if c.get_label() == label]
    across, upright = (lines.get_segments()[0] for lines in found[2])
    return tuple(across[:, 0]), tuple(upright[:, 1])


def wedges(ax):
    """The wedges as (lower slope, upper slope), in the order drawn."""
    found = []
    for area in ax.collections:
        if isinstance(area, mpl.collections.PolyCollection):
            corners = area.get_paths()[0].vertices
            reach = corners[:, 0].max()
            heights = corners[corners[:, 0] == reach, 1] / reach
            found.append((heights.min(), heights.max()))
    return found


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_points_bars_and_wedges_are_those_of_the_table():
    table = table_of(one=BOUNDED, two=WORSE)
    ax = plot_cost_effectiveness_plane(table)
    means = {"one": (11, 0.4), "two": (11, -0.4)}
    assert points(ax) == {name: pytest.approx(mean) for name, mean in means.items()}
    rows = [fieller(table, name) for name in means]
    for row in rows:
        across, upright = bars(ax, row["system"])
        assert across == pytest.approx((row["cost_low"], row["cost_high"]))
        assert upright == pytest.approx((row["gain_low"], row["gain_high"]))
    assert wedges(ax) == [pytest.approx((row["low"], row["high"])) for row in rows]
    low, high = ax.get_ylim()
    assert low < min(table["gain_low"])
    assert high > max(table["gain_high"])


@pytest.mark.parametrize(
    ("values", "label"),
    [
        (([0.9, 0.6, 0.9], [0.0, 3, 9]), "x (two rays)"),
        (([0.1, 0.6, 0.0], [0.0, 0, 9]), "x (any ratio)"),
    ],
)
def test_sets_that_are_no_wedge_fill_everything_but_what_is_between_two_rays(values, label):
    table = table_of(x=values)
    ax = plot_cost_effectiveness_plane(table)
    drawn, row, reach = wedges(ax), fieller(table, "x"), ax.get_xlim()[1]
    assert drawn[0][0] * reach < 100 * ax.get_ylim()[0]
    assert drawn[-1][1] * reach > 100 * ax.get_ylim()[1]
    between = [drawn[0][1], drawn[-1][0]] if len(drawn) == 2 else []
    assert between == pytest.approx([row["low"], row["high"]] if "rays" in label else [])
    assert legend(ax) == [label]


def test_what_has_no_set_has_a_point_and_no_wedge():
    ax = plot_cost_effectiveness_plane(table_of(free=([0.3, 0.5, 0.4], [0.0, 0, 0])))
    assert wedges(ax) == []
    assert points(ax) == {"free (no set)": pytest.approx((0, 0.4))}
    one = plot_cost_effectiveness_plane(table_of(one=([0.5], [10.0])))
    assert wedges(one) == []
    # An undefined interval has no length.
    assert bars(one, "one (no set)") == ((10, 10), (0.5, 0.5))


def test_a_price_is_a_dashed_line_from_the_origin():
    ax = plot_cost_effectiveness_plane(table_of(one=BOUNDED), price=0.02)
    (line,) = [line for line in ax.lines if line.get_linestyle() == "--"]
    x, y = line.get_data()
    assert (x[0], y[0], y[1] / x[1]) == (0, 0, pytest.approx(0.02))
    assert "0.02 F1 a token" in legend(ax)


def test_what_is_not_such_a_table_is_refused():
    table = table_of(one=BOUNDED)
    with pytest.raises(
        InputError, match="one row per system for Fieller.s estimator, got 2 for 1 systems"
    ):
        plot_cost_effectiveness_plane(pd.concat([table, table]))
    with pytest.raises(InputError, match="two prices or more, got 1; pass"):
        plot_acceptability(benefits(over_direct(one=BOUNDED), [0.0]))


def test_curves_of_acceptability_are_those_of_the_frame_in_the_order_of_prices():
    frame = benefits(over_direct(one=BOUNDED, two=WORSE), PRICES)
    ax = plot_acceptability(frame.sample(frac=1, random_state=0))
    drawn = {line.get_label(): line.get_data() for line in ax.lines}
    for name, rows in frame.groupby("system"):
        assert drawn[name][0] == pytest.approx(rows["price"])
        assert drawn[name][1] == pytest.approx(rows["acceptability"])
    assert [line.get_ydata()[0] for line in ax.lines[2:]] == [0.025, 0.5, 0.975]
    assert ax.get_title(loc="left").endswith("n = 3")


# ---- Fieller's set -------------------------------------------------------------------------------

GAINS = np.array([2.0, 1.0, 2.0, 3.0])
DENOMINATORS = {
    "bounded": [1.0, 1.2, 0.9, 1.1],
    "two rays": [-1.0, 3.0, 1.0, -2.0],
    "undefined": [0.0] * 4,
}


@pytest.mark.parametrize("kind", DENOMINATORS)
def test_the_set_is_filled_between_or_beyond_its_limits(kind):
    ax = plot_fieller_set(GAINS, DENOMINATORS[kind])
    assert ax.get_title(loc="left") == f"{kind}, n = 4"
    ratios = [path.vertices[:, 0] for path in ax.collections[0].get_paths()]
    inside = np.concatenate([[], *ratios])
    low, high = fieller_interval(GAINS, DENOMINATORS[kind]).limits
    if kind == "bounded":
        assert (inside.min(), inside.max()) == pytest.approx((low, high))
    elif kind == "two rays":
        assert not ((inside > low + 1e-12) & (inside < high - 1e-12)).any()
        assert (inside.min(), inside.max()) == pytest.approx(ax.get_xlim())
    else:
        assert not inside.size
        assert math.isnan(low)


def test_the_curve_is_the_p_value_of_the_t_test():
    denominator = np.array(DENOMINATORS["bounded"])
    ratios, p_values = plot_fieller_set(GAINS, denominator).lines[0].get_data()
    for ratio, p in list(zip(ratios, p_values, strict=True))[::40]:
        expected = scipy.stats.ttest_1samp(GAINS - ratio * denominator, 0).pvalue
        assert p == pytest.approx(expected)
    limits = np.isin(ratios, fieller_interval(GAINS, denominator).limits)
    assert p_values[limits] == pytest.approx([0.05, 0.05])
