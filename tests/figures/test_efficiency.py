import matplotlib as mpl
import pandas as pd
import pytest
from made_scores import with_costs

from ragnb.errors import InputError
from ragnb.figures import plot_cost_effectiveness_plane
from ragnb.reports import efficiency

BOUNDED = [0.3, 0.5, 0.4], [10.0, 12, 11]
WORSE = [-0.3, -0.5, -0.4], [10.0, 12, 11]


def table_of(**systems):
    """The table of systems over a baseline of 0."""
    n = len(next(iter(systems.values()))[0])
    return efficiency(with_costs({"direct": ([0.0] * n, [0.0] * n)} | systems))


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
    # A mean of costs of one value has no interval, and an undefined interval has no length. A gain is
    # between -1 and 1, so its interval follows from Wilson's upper limit for 0 of 1: 3.8415 / 4.8415.
    cost, gain = bars(one, "one (no set)")
    assert cost == (10, 10)
    assert gain == pytest.approx((0.5 - 1.5 * 0.79345, 0.5 + 0.5 * 0.79345), abs=1e-4)


def test_a_price_is_a_dashed_line_from_the_origin():
    ax = plot_cost_effectiveness_plane(table_of(one=BOUNDED), price=0.02)
    (line,) = [line for line in ax.lines if line.get_linestyle() == "--"]
    x, y = line.get_data()
    assert (x[0], y[0], y[1] / x[1]) == (0, 0, pytest.approx(0.02))
    assert "0.02 F1 per token" in legend(ax)


def test_what_is_not_such_a_table_is_refused():
    table = table_of(one=BOUNDED)
    with pytest.raises(InputError, match="one row for each system and estimator, got . repeated"):
        plot_cost_effectiveness_plane(pd.concat([table, table]))
    with pytest.raises(InputError, match="needs rows of Fieller's estimator, got none"):
        plot_cost_effectiveness_plane(table[~table["estimator"].str.contains("Fieller")])
